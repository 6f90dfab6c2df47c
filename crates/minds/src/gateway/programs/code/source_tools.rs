//! The build tools and test runners that find their sources by themselves: in a command, and in the text of a script or a
//! build file that starts one. Pure.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use super::source_kinds::SourceKind;
use crate::base::paths::file_name;

/// The number of words of a command within a text in which the name of a tool is looked for: other programs may stand
/// before it (`timeout 60 cargo test`).
const MAX_WORDS_BEFORE: usize = 5;
/// What ends a command within a text.
const SEPARATORS: [char; 17] =
    [';', '&', '|', '(', ')', '{', '}', '[', ']', '`', '"', '\'', ',', '\n', '\r', '=', '\\'];

/// Files that name tools as packages and not as commands.
const SETTINGS: [&str; 4] = [".json", ".toml", ".lock", ".cfg"];
/// Tools whose name and subcommand may be words of a list.
const LISTED: [&str; 4] = ["cargo", "dotnet", "go", "npm"];

/// Tools with the sources that they compile or run, and their subcommands that run none.
struct SourceTools {
    names: &'static [&'static str],
    kind: SourceKind,
    harmless: &'static [&'static str],
}

#[rustfmt::skip]
const TOOLS: &[SourceTools] = &[
    SourceTools {
        names: &[
            "cargo", "cargo-clippy", "cargo-nextest", "clippy-driver", "cross", "maturin", "rustc", "rustdoc", "trunk",
            "wasm-pack",
        ],
        kind: SourceKind::Rust,
        harmless: &[
            "add", "clean", "fetch", "fmt", "generate-lockfile", "help", "init", "locate-project", "login", "logout",
            "metadata", "new", "owner", "pkgid", "remove", "rm", "search", "tree", "update", "vendor", "version", "yank",
        ],
    },
    SourceTools {
        names: &["ginkgo", "go", "gotestsum", "tinygo"],
        kind: SourceKind::Go,
        harmless: &["clean", "doc", "env", "fmt", "get", "help", "list", "mod", "version", "work"],
    },
    SourceTools {
        names: &[
            "b2", "bazel", "bazelisk", "bmake", "buck", "buck2", "cmake", "ctest", "gmake", "make", "meson", "ninja",
            "samu", "scons", "waf", "xmake",
        ],
        kind: SourceKind::Native,
        harmless: &["help", "version"],
    },
    SourceTools {
        names: &["ant", "gradle", "gradlew", "gradlew.bat", "lein", "mill", "mvn", "mvnd", "mvnw", "mvnw.cmd", "sbt"],
        kind: SourceKind::Jvm,
        harmless: &["help"],
    },
    SourceTools {
        names: &["dotnet", "msbuild", "xbuild"],
        kind: SourceKind::Dotnet,
        harmless: &["add", "clean", "format", "help", "list", "new", "nuget", "remove", "restore", "sln", "workload"],
    },
    SourceTools {
        names: &[
            "ava", "bun", "cypress", "deno", "jasmine", "jest", "karma", "lerna", "mocha", "npm", "nx", "playwright",
            "pnpm", "tap", "turbo", "vitest", "yarn",
        ],
        kind: SourceKind::JavaScript,
        harmless: &[
            "add", "audit", "cache", "ci", "config", "explain", "help", "i", "info", "init", "install", "list", "login",
            "ls", "outdated", "ping", "remove", "rm", "search", "uninstall", "update", "version", "view", "whoami",
            "why",
        ],
    },
    SourceTools {
        names: &["behave", "hatch", "nose2", "nox", "py.test", "pytest", "robot", "stestr", "tox", "trial", "unittest"],
        kind: SourceKind::Python,
        harmless: &[],
    },
    SourceTools {
        names: &["cucumber", "minitest", "rails", "rake", "rspec"],
        kind: SourceKind::Ruby,
        harmless: &[],
    },
    SourceTools { names: &["artisan", "pest", "phpunit"], kind: SourceKind::Php, harmless: &[] },
    SourceTools { names: &["mix"], kind: SourceKind::Elixir, harmless: &["deps.get", "format", "help", "new"] },
    SourceTools { names: &["swift", "xcodebuild"], kind: SourceKind::Swift, harmless: &["format"] },
    SourceTools { names: &["zig"], kind: SourceKind::Zig, harmless: &["env", "fetch", "fmt", "version"] },
    SourceTools { names: &["cabal", "runghc", "stack"], kind: SourceKind::Haskell, harmless: &["update"] },
    SourceTools { names: &["dart", "flutter"], kind: SourceKind::Dart, harmless: &["format", "pub"] },
];

/// The tools by their names.
static BY_NAME: LazyLock<BTreeMap<&str, &SourceTools>> =
    LazyLock::new(|| TOOLS.iter().flat_map(|tools| tools.names.iter().map(move |name| (*name, tools))).collect());

/// The sources that a command finds by itself, if its first word is the name of a tool that does.
pub fn sources_found_by<Word: AsRef<str>>(words: &[Word]) -> Option<SourceKind> {
    let mut words = words.iter().map(AsRef::as_ref);
    let name = file_name(words.next()?);
    let name = name.strip_suffix(".exe").unwrap_or(name);
    if matches!(name, "node" | "nodejs") {
        return words.any(|word| word == "--test").then_some(SourceKind::JavaScript);
    }
    let tools = BY_NAME.get(name)?;
    let subcommand = words.find(|word| !word.starts_with(['-', '+']));
    let is_harmless = subcommand.is_some_and(|subcommand| tools.harmless.contains(&subcommand));
    (!is_harmless).then_some(tools.kind)
}

/// The sources of the tools that the script or the build file at this path starts.
pub(super) fn sources_started_in(path: &str, text: &str) -> BTreeSet<SourceKind> {
    let mut found = BTreeSet::new();
    if SETTINGS.iter().any(|ending| path.ends_with(ending)) {
        return found;
    }
    let lines = || text.lines().filter(|line| !line.trim_start().starts_with('#'));
    for command in lines().flat_map(|line| line.split(SEPARATORS)) {
        let command = command.trim_start_matches(|c: char| c.is_whitespace() || "@-+:".contains(c));
        let words: Vec<&str> = command.split_whitespace().collect();
        let starts = 0..words.len().min(MAX_WORDS_BEFORE);
        found.extend(starts.filter_map(|at| sources_found_by(&words[at..])));
    }
    // A list of words, such as that of a program that starts another one.
    let is_end = |c: char| c.is_whitespace() || SEPARATORS.contains(&c);
    let parts: Vec<&str> = lines().flat_map(|line| line.split(is_end)).filter(|part| !part.is_empty()).collect();
    let starts = (0..parts.len()).filter(|at| LISTED.contains(&parts[*at]) && has_run_word(&parts[at + 1..]));
    found.extend(starts.filter_map(|at| sources_found_by(&parts[at..])));
    found
}

/// Whether the next word is that of a command that runs sources.
fn has_run_word(rest: &[&str]) -> bool {
    rest.first().is_some_and(|word| matches!(*word, "bench" | "build" | "check" | "run" | "test" | "tool"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_that_find_their_sources_are_known_and_others_run_none() {
        for (command, kind) in [
            ("cargo test --all", SourceKind::Rust),
            ("cargo +nightly xtask", SourceKind::Rust),
            ("go test ./...", SourceKind::Go),
            ("make", SourceKind::Native),
            ("cmake --build build", SourceKind::Native),
            ("./mvnw verify", SourceKind::Jvm),
            ("gradle test", SourceKind::Jvm),
            ("dotnet test", SourceKind::Dotnet),
            ("npm test", SourceKind::JavaScript),
            ("npm run build", SourceKind::JavaScript),
            ("node --test", SourceKind::JavaScript),
            (".venv/bin/pytest -q", SourceKind::Python),
            ("rspec", SourceKind::Ruby),
            ("vendor/bin/phpunit", SourceKind::Php),
            ("mix test", SourceKind::Elixir),
            ("swift test", SourceKind::Swift),
            ("zig build", SourceKind::Zig),
            ("cabal test", SourceKind::Haskell),
            ("flutter test", SourceKind::Dart),
        ] {
            assert_eq!(sources_found_by(&command.split(' ').collect::<Vec<_>>()), Some(kind), "{command}");
        }
        for command in ["cargo fmt", "go mod tidy", "npm ci", "node a.js", "ls", "dotnet restore", "sh run.sh"] {
            assert_eq!(sources_found_by(&command.split(' ').collect::<Vec<_>>()), None, "{command}");
        }
    }

    #[test]
    fn tools_that_a_script_starts_are_found_in_every_form() {
        for (text, kind) in [
            ("set -e\ncargo test\n", SourceKind::Rust),
            ("cd x && timeout 60 cargo test", SourceKind::Rust),
            ("RUST_LOG=info cargo run", SourceKind::Rust),
            ("test:\n\t@pytest -q\n", SourceKind::Python),
            ("test:\n\t-python3 -m pytest\n", SourceKind::Python),
            ("test:\n\tnode --test\n", SourceKind::JavaScript),
            ("subprocess.run([\"go\", \"test\", \"./...\"])", SourceKind::Go),
            ("x=$(make all)", SourceKind::Native),
        ] {
            assert!(sources_started_in("run", text).contains(&kind), "{text:?}: {:?}", sources_started_in("run", text));
        }
        for text in ["# cargo test\n", "echo one two three four five make\n", "cargo fmt\n", "import helper\n"] {
            assert_eq!(sources_started_in("run", text), BTreeSet::new(), "{text:?}");
        }
        let dependency = "[dependencies]\npytest = \"8\"\n";
        assert_eq!(sources_started_in("pyproject.toml", dependency), BTreeSet::new(), "it is only installed");
    }
}
