//! The files that a script, a module or a build file may load, as far as its text names them: sourced scripts, imported
//! and required modules, included parts, and scripts that it starts. Pure.
//!
//! Errs on the side of too many, since a name only counts where such a file exists. What a text composes of variables
//! alone is unknown here.

use std::collections::BTreeSet;

use crate::base::paths::file_name;

/// The maximum length of a name in bytes: no system opens a longer one.
const MAX_NAME_BYTES: usize = 4_096;

/// Extensions of files that are never code or configuration.
const DATA_EXTENSIONS: &[&str] = &[
    "bmp", "csv", "db", "db3", "duckdb", "gif", "jpeg", "jpg", "jsonl", "ldb", "lock", "log", "markdown", "md",
    "ndjson", "parquet", "pdf", "pid", "png", "sock", "sqlite", "sqlite3", "tsv", "txt", "webp",
];
/// Extensions of files that are code for an interpreter or a build tool, without the languages that are compiled.
#[rustfmt::skip]
const CODE_EXTENSIONS: &[&str] = &[
    "ash", "awk", "bash", "bat", "cgi", "cjs", "cmake", "cmd", "coffee", "cts", "fish", "gradle", "groovy", "jl",
    "js", "jsx", "ksh", "kts", "lua", "mak", "mjs", "mk", "mts", "nix", "php", "phtml", "pl", "pm", "ps1", "psm1",
    "pth", "py", "pyw", "rake", "rb", "sed", "sh", "tcl", "ts", "tsx", "zsh",
];
/// Names of files from which programs take what they run.
#[rustfmt::skip]
const CODE_NAMES: &[&str] = &[
    ".babelrc", ".bashrc", ".eslintrc.json", ".mocharc.json", ".mocharc.yml", ".profile", "BUILD", "BUILD.bazel",
    "CMakeLists.txt", "Cargo.toml", "Dockerfile", "GNUmakefile", "Gemfile", "Jenkinsfile", "Justfile", "Makefile",
    "Procfile", "Rakefile", "Taskfile.yml", "Vagrantfile", "WORKSPACE", "build.ninja", "build.rs", "build.xml",
    "deno.json", "justfile", "makefile", "meson.build", "mix.exs", "package.json", "pom.xml", "pyproject.toml",
    "pytest.ini", "setup.cfg", "tox.ini", "tsconfig.json",
];
/// Words after which a name is loaded or started, whatever it looks like.
#[rustfmt::skip]
const LOADERS: &[&str] = &[
    ".", "-include", "__import__", "add_subdirectory", "apply", "ash", "autoload", "bash", "build", "bun", "chmod",
    "dash", "deno", "do", "dofile", "eval", "exec", "execFile", "execFileSync", "execSync", "extends", "fork", "from",
    "import", "import_module", "importlib", "include", "include_once", "jest", "ksh", "load", "load_source",
    "loadfile", "loadstring", "lua", "mocha", "node", "nodejs", "perl", "php", "preset", "pypy3", "python", "python2",
    "python3", "register", "require", "require_once", "require_relative", "resolve", "ruby", "run", "run_module",
    "run_path", "runpy", "setupFiles", "sh", "sinclude", "source", "spawn", "spawnSync", "subdir", "subprocess",
    "system", "ts-node", "tsx", "use", "vitest", "zsh",
];
/// Words that run what a command in their argument prints.
const RUNNING_PRINTED: &[&str] = &[".", "-c", "-e", "bash", "eval", "sh", "source", "zsh"];
/// Programs that run their input if they have no other argument.
#[rustfmt::skip]
const INTERPRETERS: &[&str] = &[
    "ash", "bash", "dash", "fish", "ksh", "lua", "node", "perl", "php", "python", "python2", "python3", "ruby", "sh",
    "zsh",
];
/// Words between a loader and the name that it loads: `source "$(dirname "$0")/lib"`, `require(path.join('lib'))`.
#[rustfmt::skip]
const TRANSPARENT: &[&str] = &[
    "BASH_SOURCE", "HERE", "Path", "__DIR__", "__dirname", "__file__", "abspath", "cd", "dirname", "file", "join",
    "meta", "open", "parent", "path", "pwd", "readlink", "realpath", "url",
];
/// What a name may lack at its end where it is loaded.
#[rustfmt::skip]
const ENDINGS: &[&str] = &[
    ".sh", ".bash", ".py", "/__init__.py", "/__main__.py", ".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".jsx",
    ".tsx", "/index.js", "/index.mjs", "/index.cjs", "/index.ts", "/package.json", ".rb", ".pm", ".pl", ".lua",
    "/init.lua", ".php", ".mk", "/Makefile", "/makefile", "/GNUmakefile", ".cmake", "/CMakeLists.txt", "/meson.build",
    ".gradle", "/Cargo.toml", "/build.rs",
];
/// Options whose value is loaded.
#[rustfmt::skip]
const LOADING_OPTIONS: &[&str] = &[
    "--config", "--directory", "--file", "--import", "--init-file", "--loader", "--makefile", "--preload", "--prefix",
    "--project", "--rcfile", "--require", "-C", "-I", "-c", "-f", "-m", "-r",
];

/// A name that a text gives to a file which it may load.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(in crate::gateway) struct CodeReference {
    /// The paths that it may mean, with `/` between parts, relative to an unknown folder. They may be patterns.
    pub(in crate::gateway) paths: Vec<String>,
    /// Whether the file is loaded or started, so that it is code whatever it looks like.
    pub(super) is_loaded: bool,
    /// Whether the name says enough to look for such a file in every folder.
    pub(super) is_distinct: bool,
}

/// The language of a text, as far as it matters to names.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Language {
    Python,
    JavaScript,
    Perl,
    Make,
    Cargo,
    Go,
    Other,
}

impl Language {
    /// The language of the file at this path.
    pub(in crate::gateway) fn of(path: &str, text: &str) -> Self {
        let name = file_name(path);
        let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension).to_ascii_lowercase();
        let shebang = text.lines().next().filter(|line| line.starts_with("#!")).unwrap_or_default();
        let is = |extensions: &[&str], program: &str| extensions.contains(&&*extension) || shebang.contains(program);
        match () {
            () if is(&["py", "pyw", "pth"], "python") => Self::Python,
            () if is(&["js", "mjs", "cjs", "ts", "mts", "cts", "jsx", "tsx", "json", "coffee"], "node") => {
                Self::JavaScript
            }
            () if is(&["pl", "pm"], "perl") => Self::Perl,
            () if is(&["mk", "mak"], "make -") || name.to_ascii_lowercase().ends_with("makefile") => Self::Make,
            () if name == "Cargo.toml" => Self::Cargo,
            () if matches!(name, "go.mod" | "go.work") => Self::Go,
            () => Self::Other,
        }
    }

    /// What a name may lack at its end where it is not known to be loaded.
    fn endings(self) -> &'static [&'static str] {
        match self {
            Self::Python => &[".py", "/__init__.py", "/__main__.py"],
            Self::JavaScript => &[".js", ".ts", "/index.js", "/index.ts", "/package.json"],
            Self::Cargo => &["/Cargo.toml", "/build.rs"],
            Self::Make => &["/Makefile"],
            Self::Go => &["/go.mod"],
            Self::Perl | Self::Other => &[],
        }
    }
}

/// What a text may load.
#[derive(Debug, Default)]
pub(super) struct CodeReferences {
    pub(in crate::gateway) found: BTreeSet<CodeReference>,
    /// Whether there are more than may be found.
    pub(in crate::gateway) is_cut: bool,
}

/// Returns what the text of the file at this path may load, at most so many names.
pub(super) fn references(path: &str, text: &str, most: usize) -> CodeReferences {
    // One more tells whether there are more.
    let mut found = names_in(path, text, most.saturating_add(1));
    let is_cut = found.len() > most;
    while found.len() > most {
        found.pop_last();
    }
    CodeReferences { found, is_cut }
}

/// Returns the files that a source of a compiled language includes as its own text: `#include "a.h"`, `include!("a.rs")`,
/// `#[path = "a.rs"]`.
pub(in crate::gateway) fn included(text: &str) -> BTreeSet<CodeReference> {
    let mut found = BTreeSet::new();
    for line in text.lines() {
        let plain: String = line.chars().filter(|c| !c.is_whitespace()).collect();
        let starts = ["#include\"", "include!(\"", "#[path=\"", "#import\""];
        let Some(start) = starts.iter().find_map(|start| plain.find(start).map(|at| at + start.len())) else {
            continue;
        };
        let name = plain[start..].split('"').next().unwrap_or_default();
        if !name.is_empty() && name.len() <= MAX_NAME_BYTES && !name.starts_with('/') {
            found.insert(CodeReference { paths: vec![name.to_owned()], is_loaded: true, is_distinct: false });
        }
    }
    found
}

/// Returns the names in the text of the file at this path, not many more than `most`.
fn names_in(path: &str, text: &str, most: usize) -> BTreeSet<CodeReference> {
    let language = Language::of(path, text);
    let mut found = BTreeSet::new();
    if language == Language::Cargo {
        found.insert(CodeReference { paths: vec!["build.rs".to_owned()], is_loaded: true, is_distinct: false });
    }
    if language == Language::Python {
        python_imports(text, most, &mut found);
    }
    for line in text.lines() {
        let mut before = "";
        // The rest of such a line is loaded.
        let first = line.split_whitespace().next().unwrap_or_default();
        let loads_all = matches!(first, "include" | "-include" | "sinclude") && language == Language::Make
            || feeds_interpreter(line);
        for token in tokens(line) {
            if found.len() >= most {
                return found;
            }
            let is_loaded = loads_all || is_loader(before);
            let is_option = token.word.starts_with('-');
            // `eval "$(cat steps)"` runs what is printed.
            let is_printed = token.word == "cat" && RUNNING_PRINTED.contains(&before);
            let is_between =
                is_printed || matches!(token.before, Some('$' | '{')) || TRANSPARENT.contains(&last_part(token.word));
            if is_option && (token.is_tested || before == "test") {
                // `[ -f made ]` asks whether there is such a file.
                before = "";
            } else if token.word != "--" && (is_option || !is_between) {
                before = token.word;
            }
            let Some(name) = plain_name(token, language) else { continue };
            let is_distinct = name.contains('/') || is_code_name(&name);
            if is_loaded || is_distinct || token.word.contains("./") {
                found.insert(CodeReference { paths: meanings(&name, language, is_loaded), is_loaded, is_distinct });
            }
        }
    }
    found
}

/// Whether the name of a file says that it is code.
pub(super) fn is_code_name(path: &str) -> bool {
    let name = file_name(path);
    let extension = name.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase());
    CODE_NAMES.contains(&name) || extension.is_some_and(|extension| CODE_EXTENSIONS.contains(&&*extension))
}

/// Whether the name of a file says that it is only data.
pub(in crate::gateway) fn is_data_name(path: &str) -> bool {
    let extension = file_name(path).rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase());
    extension.is_some_and(|extension| DATA_EXTENSIONS.contains(&&*extension))
}

/// Whether what follows a word is loaded or started.
fn is_loader(word: &str) -> bool {
    // A program of the workspace gets its words as it likes: `./run data.csv`.
    if word.starts_with("./") {
        return false;
    }
    LOADING_OPTIONS.contains(&word) || LOADERS.contains(&word) || LOADERS.contains(&last_part(word))
}

/// Whether a line of the shell pipes text into a program that runs it: `cat steps | sh -e`.
fn feeds_interpreter(line: &str) -> bool {
    line.split('|').skip(1).any(|part| {
        let mut words = part.split([';', '&', ')', '`']).next().unwrap_or_default().split_whitespace();
        let runs_input = words.next().is_some_and(|word| INTERPRETERS.contains(&last_part(word)));
        // With another argument, or with an option that takes the code, the input is data.
        runs_input && words.all(|word| word.starts_with("--") || word.starts_with('-') && !word.contains(['c', 'm']))
    })
}

/// The last part of a path or a dotted name: `sh` of `@/bin/sh`.
fn last_part(word: &str) -> &str {
    word.trim_start_matches(['@', '-', '+']).rsplit(['.', '/']).next().unwrap_or_default()
}

/// The paths that a name may mean.
fn meanings(name: &str, language: Language, is_loaded: bool) -> Vec<String> {
    let mut names = vec![name.to_owned()];
    // Modules have dots in their names in some languages.
    if is_loaded && !name.contains('/') && name.contains('.') {
        names.push(name.replace('.', "/").trim_start_matches('/').to_owned());
    }
    let is_pattern = name.contains(['*', '?']);
    let endings = if is_loaded && !is_pattern { ENDINGS } else { language.endings() };
    let mut longer = Vec::new();
    for name in &names {
        longer.extend(endings.iter().map(|ending| format!("{name}{ending}")));
    }
    names.append(&mut longer);
    names
}

/// A run of characters that may be a path.
#[derive(Clone, Copy)]
struct Token<'a> {
    word: &'a str,
    /// The character before it.
    before: Option<char>,
    /// Whether a bracket or an exclamation mark stands before it, as in tests of the shell.
    is_tested: bool,
}

/// The runs of characters in a line that may be paths.
fn tokens(line: &str) -> impl Iterator<Item = Token<'_>> {
    let is_part = |c: char| c.is_alphanumeric() || "_-./@+*?~:".contains(c);
    let mut rest = line;
    let mut before = None;
    std::iter::from_fn(move || {
        let start = rest.find(is_part)?;
        before = rest[..start].chars().next_back().or(before);
        let length = rest[start..].find(|c| !is_part(c)).unwrap_or(rest.len() - start);
        let is_tested = rest[..start].trim_end().ends_with(['[', '!']);
        let token = Token { word: &rest[start..start + length], before, is_tested };
        before = token.word.chars().next_back();
        rest = &rest[start + length..];
        Some(token)
    })
}

/// The name in a token, without what cannot be part of a path of the workspace; `None` if there is none.
fn plain_name(token: Token<'_>, language: Language) -> Option<String> {
    let mut word = token.word;
    if language == Language::Perl && word.contains("::") {
        let path = word.replace("::", "/");
        return Some(path.trim_matches([':', '/', '.']).to_owned()).filter(|path| !path.is_empty());
    }
    // `key:value`, and addresses.
    if let Some(at) = word.find("://") {
        word = &word[..at];
    }
    word = word.rsplit(':').find(|part| !part.is_empty())?;
    if token.before == Some('$') {
        // The value of a variable is unknown: `$DIR/lib.sh`.
        word = word.split_once('/')?.1;
    }
    word = word.trim_start_matches(['@', '~', '+']).trim_end_matches(['/', '.', ':', '@']);
    while let Some(rest) = word.strip_prefix("./").or_else(|| word.strip_prefix('/')) {
        word = rest;
    }
    let is_name = word.len() <= MAX_NAME_BYTES && word.chars().any(char::is_alphanumeric) && !word.starts_with('-');
    is_name.then(|| word.to_owned())
}

/// Adds the modules that Python text imports: `import a.b, c`, `from .a import b`, also over several lines.
fn python_imports(text: &str, most: usize, found: &mut BTreeSet<CodeReference>) {
    let joined = text.replace("\\\n", " ");
    // Also statements after a semicolon, and in text that another program writes.
    let mut statements = joined.split(['\n', ';']);
    while let Some(statement) = statements.next() {
        let statement = statement.trim().trim_start_matches(|c: char| !c.is_alphanumeric());
        let (from, names) = if let Some(rest) = statement.strip_prefix("from ") {
            let Some((from, names)) = rest.split_once(" import") else { continue };
            (from.trim(), names)
        } else if let Some(names) = statement.strip_prefix("import ") {
            ("", names)
        } else {
            continue;
        };
        let mut names = names.split('#').next().unwrap_or_default().to_owned();
        if names.contains('(') && !names.contains(')') {
            for line in statements.by_ref().take(1_000) {
                names.push(',');
                names.push_str(line.split('#').next().unwrap_or_default());
                if line.contains(')') {
                    break;
                }
            }
        }
        add_imports(from, &names, most, found);
    }
}

fn add_imports(from: &str, names: &str, most: usize, found: &mut BTreeSet<CodeReference>) {
    let climbed = from.chars().take_while(|c| *c == '.').count();
    let base = "../".repeat(climbed.saturating_sub(1));
    let package = from.trim_start_matches('.').replace('.', "/");
    let mut modules: Vec<String> = Vec::new();
    for part in names.split([',', '(', ')']) {
        let Some(name) = part.split_whitespace().next().filter(|name| *name != "*") else { continue };
        let name = name.replace('.', "/");
        modules.push(if package.is_empty() { name } else { format!("{package}/{name}") });
    }
    modules.push(package);
    for module in modules.iter().filter(|module| !module.is_empty() && !module.starts_with('/')) {
        // The packages around a module run, too.
        let ends = module.match_indices('/').map(|(at, _)| at).chain([module.len()]);
        for end in ends {
            let name = format!("{base}{}", &module[..end]);
            let paths = Language::Python.endings().iter().take(2).map(|ending| format!("{name}{ending}")).collect();
            if found.len() < most {
                found.insert(CodeReference { paths, is_loaded: true, is_distinct: true });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOST: usize = 2_000;

    fn names(path: &str, text: &str) -> Vec<String> {
        references(path, text, MOST).found.into_iter().flat_map(|reference| reference.paths).collect()
    }

    #[test]
    fn what_a_text_loads_is_found_in_every_form() {
        for (path, text, named) in [
            ("build.sh", ". lib.sh", "lib.sh"),
            ("build.sh", ". ./lib.sh", "lib.sh"),
            ("build.sh", "source \"$(dirname \"$0\")/lib.sh\"", "lib.sh"),
            ("build.sh", "source \"$DIR/parts/lib\"", "parts/lib"),
            ("build.sh", "source ${DIR}/parts/lib", "parts/lib.sh"),
            ("build.sh", "for part in parts/*.sh; do . $part; done", "parts/*.sh"),
            ("build.sh", "[ -f env ] && . env", "env"),
            ("build.sh", "python3 -m tools.check", "tools/check.py"),
            ("build.sh", "exec ./next --all", "next"),
            ("build.sh", "eval \"$(cat env)\"", "env"),
            ("build.sh", ". <(cat env)", "env"),
            ("build.sh", "cat steps | sh -e", "steps"),
            ("build.sh", "sed s/a/b/ < steps | tee log | /bin/bash; true", "steps"),
            ("tool.py", "import helper", "helper.py"),
            ("tool.py", "import os, helper as h", "helper.py"),
            ("tool.py", "x = 1; from pkg.sub import thing", "pkg/sub/thing.py"),
            ("tool.py", "from pkg.sub import thing", "pkg/__init__.py"),
            ("tool.py", "from pkg import (\n    one,\n    two,  # both\n)", "pkg/two.py"),
            ("pkg/tool.py", "from . import helper", "helper.py"),
            ("pkg/a/tool.py", "from ..b import helper", "../b/helper.py"),
            ("tool.py", "importlib.import_module('helper')", "helper.py"),
            ("tool.py", "importlib.import_module(\"a.helper\")", "a/helper.py"),
            ("tool.py", "exec(open('part.py').read())", "part.py"),
            ("tool.py", "subprocess.run(['sh', 'run.sh'])", "run.sh"),
            ("tool.py", "runpy.run_path(os.path.join(HERE, 'lib', 'part.py'))", "part.py"),
            ("tool", "#!/usr/bin/env python3\nimport helper\n", "helper.py"),
            ("a.js", "require('./b')", "b.js"),
            ("a.js", "require(\"./b.js\")", "b.js"),
            ("a.js", "import x from '../lib/b'", "../lib/b.js"),
            ("a.mjs", "import './b.mjs'", "b.mjs"),
            ("a.js", "const b = await import(`./b`)", "b.ts"),
            ("a.js", "require('./lib')", "lib/index.js"),
            ("a.js", "require(path.join(__dirname, 'b.js'))", "b.js"),
            ("package.json", "{ \"scripts\": { \"test\": \"node scripts/test.js\" } }", "scripts/test.js"),
            ("package.json", "{ \"scripts\": { \"test\": \"node scripts/test\" } }", "scripts/test.js"),
            ("package.json", "{ \"workspaces\": [\"packages/*\"] }", "packages/*/package.json"),
            ("Makefile", "include rules.mk", "rules.mk"),
            ("Makefile", "-include one config", "config"),
            ("Makefile", "test:\n\t@sh scripts/test", "scripts/test"),
            ("Makefile", "test:\n\t./scripts/test.sh", "scripts/test.sh"),
            ("Makefile", "all:\n\t$(MAKE) -C sub", "sub/Makefile"),
            ("a.rb", "require_relative 'b'", "b.rb"),
            ("a.pl", "use Own::Part;", "Own/Part.pm"),
            ("a.lua", "require \"own.part\"", "own/part.lua"),
            ("a.php", "require __DIR__ . '/b.php';", "b.php"),
            ("Cargo.toml", "[package]", "build.rs"),
            ("Cargo.toml", "members = [\"crates/*\"]", "crates/*/build.rs"),
            ("Cargo.toml", "own = { path = \"../own\" }", "../own/Cargo.toml"),
            ("go.mod", "replace example.org/own => ../own", "../own/go.mod"),
            ("jest.config.js", "module.exports = { setupFiles: ['<rootDir>/test/setup.js'] }", "test/setup.js"),
        ] {
            assert!(names(path, text).iter().any(|name| name == named), "{named} in {:?}", names(path, text));
        }
    }

    #[test]
    fn words_and_addresses_are_no_names() {
        for (path, text) in [
            ("a.sh", "echo one two >> result"),
            ("a.sh", "if [ ! -f made ]; then touch made; fi; test -f made"),
            ("a.py", "with open('runs', 'a') as runs:\n    runs.write('x')"),
            ("a.js", "const answer = 1 * 2;"),
            ("a.sh", "cat data | wc -l || true"),
        ] {
            assert_eq!(names(path, text), Vec::<String>::new(), "{path}");
        }
        assert!(!names("a.sh", "for one in 1 2; do cat data; done").contains(&"data".to_owned()));
        assert!(!names("a.sh", "cat data | python3 -c 'print()'").contains(&"data".to_owned()));
        assert!(!names("a.sh", "curl https://a.example/b.sh").iter().any(|name| name.contains("example")));
    }

    #[test]
    fn what_a_compiled_source_includes_is_found() {
        let text =
            "#include <stdio.h>\n# include \"own.h\"\n  include!(\"gen/a.rs\");\n#[path = \"../b.rs\"]\nmod b;\n";
        let named: Vec<String> = included(text).into_iter().flat_map(|reference| reference.paths).collect();
        assert_eq!(named, ["../b.rs", "gen/a.rs", "own.h"]);
    }

    #[test]
    fn it_is_known_whether_a_text_has_more_names_than_are_looked_up() {
        for (path, line) in [("a.sh", ". ./lib@.sh\n"), ("a.py", "import lib@\n")] {
            let text: String = (0..5).map(|number| line.replace('@', &number.to_string())).collect();
            let all = references(path, &text, MOST);
            assert!(!all.is_cut && all.found.len() >= 5, "{path}: {all:?}");
            let some = references(path, &text, 4);
            assert!(some.is_cut && some.found.len() == 4, "{path}: {some:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read_within_limits(
            text in "\\PC{0,400}",
            path in "[a-z]{1,4}\\.(py|js|sh|rb|mk)",
            most in 0..40usize,
        ) {
            let found = references(&path, &text, most).found;
            proptest::prop_assert!(found.len() <= most);
            let named = found.iter().flat_map(|reference| &reference.paths);
            proptest::prop_assert!(named.into_iter().all(|name| !name.starts_with('/')));
        }
    }
}
