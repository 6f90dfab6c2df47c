//! The files of the workspace whose content a command runs: its program, the script or module that it names, and the
//! file from which a build tool takes what it runs. Pure.
//!
//! Files that such a file loads are found once its content is known (`loaded_code` of the gateway). Files that are only
//! data for a program are not among them.

use std::collections::BTreeSet;

use super::known_programs::name_of;
use super::words::{Command, parts};
use super::wrapper_programs::{holds_everywhere, is_data_console, is_known_reader, starts_others};
use crate::workspace::vfs::WorkspacePath;

/// The files from which a program takes what it runs, by program, relative to the folder in which it runs.
const IMPLIED: &[(&[&str], &[&str])] = &[
    (&["make", "gmake"], &["GNUmakefile", "makefile", "Makefile"]),
    (
        &["npm", "pnpm", "yarn", "bun", "npx", "pnpx", "bunx"],
        &["package.json", ".npmrc", ".yarnrc", ".yarnrc.yml", ".pnpmfile.cjs", "pnpm-workspace.yaml", "bunfig.toml"],
    ),
    (
        &["cargo", "rustc", "clippy-driver"],
        &[
            "Cargo.toml",
            "build.rs",
            ".cargo/config.toml",
            ".cargo/config",
            "rust-toolchain.toml",
            "rust-toolchain",
            "clippy.toml",
        ],
    ),
    (&["pytest", "py.test"], &["conftest.py", "pytest.ini", ".pytest.ini", "pyproject.toml", "setup.cfg", "tox.ini"]),
    (&["pip", "pip3", "uv", "uvx", "poetry", "pdm", "hatch", "rye", "pipenv"], PYTHON_PROJECT),
    (&["mypy", "pylint", "flake8", "coverage"], PYTHON_TOOLS),
    (&["go"], &["go.mod", "go.work"]),
    (&["cmake", "ctest"], &["CMakeLists.txt", "CMakePresets.json", "CTestTestfile.cmake", "build/CTestTestfile.cmake"]),
    (&["tsc", "ts-node", "tsx"], &["tsconfig.json"]),
    (&["webpack"], &["webpack.config.js", "webpack.config.cjs", "webpack.config.mjs", "webpack.config.ts"]),
    (&["rollup"], &["rollup.config.js", "rollup.config.mjs", "rollup.config.ts"]),
    (&["babel"], &["babel.config.js", "babel.config.json", ".babelrc", ".babelrc.js", "package.json"]),
    (&["playwright"], &["playwright.config.ts", "playwright.config.js"]),
    (&["cypress"], &["cypress.config.js", "cypress.config.ts"]),
    (&["gulp"], &["gulpfile.js", "gulpfile.mjs", "gulpfile.ts"]),
    (&["grunt"], &["Gruntfile.js"]),
    (&["stylelint"], &["stylelint.config.js", ".stylelintrc.js", ".stylelintrc.json", "package.json"]),
    (&["rspec"], &[".rspec", "spec/spec_helper.rb", "spec/rails_helper.rb"]),
    (&["bundle", "rails"], &["Gemfile", ".bundle/config"]),
    (&["composer", "phpunit"], &["composer.json", "phpunit.xml", "phpunit.xml.dist"]),
    (&["pre-commit"], &[".pre-commit-config.yaml"]),
    (&["ansible-playbook", "ansible"], &["ansible.cfg"]),
    (&["terraform"], &["main.tf"]),
    (&["doit"], &["dodo.py"]),
    (&["just"], &["justfile", "Justfile", ".justfile"]),
    (&["rake"], &["Rakefile", "rakefile", "Rakefile.rb"]),
    (&["task"], &["Taskfile.yml", "Taskfile.yaml"]),
    (&["ninja"], &["build.ninja"]),
    (&["mvn"], &["pom.xml"]),
    (&["gradle", "gradlew"], &["build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"]),
    (&["tox"], &["tox.ini"]),
    (&["nox"], &["noxfile.py"]),
    (&["invoke", "fab"], &["tasks.py", "fabfile.py"]),
    (&["deno"], &["deno.json", "deno.jsonc"]),
    (
        &["jest"],
        &[
            "package.json",
            "jest.config.js",
            "jest.config.ts",
            "jest.config.json",
            "jest.config.mjs",
            "jest.config.cjs",
            "babel.config.js",
            ".babelrc",
        ],
    ),
    (
        &["vitest", "vite"],
        &[
            "package.json",
            "vitest.config.ts",
            "vitest.config.js",
            "vitest.config.mjs",
            "vitest.config.mts",
            "vite.config.ts",
            "vite.config.js",
            "vite.config.mjs",
            "vite.config.mts",
            "vitest.workspace.ts",
        ],
    ),
    (&["mocha"], &["package.json", ".mocharc.js", ".mocharc.cjs", ".mocharc.json", ".mocharc.yml", ".mocharc.yaml"]),
    (
        &["eslint"],
        &[
            "eslint.config.js",
            "eslint.config.mjs",
            "eslint.config.cjs",
            "eslint.config.ts",
            ".eslintrc.js",
            ".eslintrc.cjs",
            ".eslintrc.json",
            ".eslintrc.yml",
            ".eslintrc.yaml",
            ".eslintrc",
            "package.json",
        ],
    ),
    (
        &["prettier"],
        &[
            "prettier.config.js",
            "prettier.config.mjs",
            "prettier.config.cjs",
            ".prettierrc.js",
            ".prettierrc.mjs",
            ".prettierrc",
            ".prettierrc.json",
            "package.json",
        ],
    ),
    (&["docker-compose"], &["compose.yaml", "compose.yml", "docker-compose.yml", "docker-compose.yaml"]),
    (&["meson"], &["meson.build"]),
    (&["mix"], &["mix.exs"]),
    (&["sbt"], &["build.sbt"]),
    (&["bazel"], &["WORKSPACE", "MODULE.bazel", "BUILD", "BUILD.bazel"]),
];

/// The files that say what tools for projects in Python run.
const PYTHON_PROJECT: &[&str] = &["pyproject.toml", "setup.py", "setup.cfg", "tox.ini", "Pipfile"];
/// The files that say which plugins tools for Python load.
const PYTHON_TOOLS: &[&str] =
    &["pyproject.toml", "setup.cfg", "tox.ini", "mypy.ini", ".mypy.ini", ".pylintrc", ".flake8", ".coveragerc"];
/// Programs one of whose words is the name of a program that they run: `npx jest`, `python3 -m pytest`.
const RUNNERS: &[&str] = &[
    "npx", "pnpx", "bunx", "npm", "pnpm", "yarn", "bun", "uv", "uvx", "poetry", "pipenv", "pdm", "hatch", "rye",
    "bundle", "coverage",
];
/// Options whose value is a folder or a file from which a program takes what it runs.
const PLACE_OPTIONS: &[&str] = &[
    "-C",
    "-f",
    "-c",
    "--directory",
    "--file",
    "--makefile",
    "--config",
    "--prefix",
    "--cwd",
    "--dir",
    "--project",
    "--manifest-path",
    "--rootdir",
    "--git-dir",
    "--work-tree",
    "--chdir",
];
/// What names a repository of git among the files of a command: its settings can name programs.
const REPOSITORY: &str = ".git";

/// The maximum depth of commands within the words of a command.
const MAX_DEPTH: usize = 3;

/// The files that a command with these words may run in this folder of the workspace, whether or not they exist.
pub fn code_files(words: &[String], folder: &str) -> BTreeSet<String> {
    let mut files = BTreeSet::new();
    add_files(words, folder, 0, &mut files);
    files
}

/// The files that a command line may run, also if it needs a shell.
pub fn code_files_of_line(line: &str, folder: &str) -> BTreeSet<String> {
    match Command::parse(line) {
        Command::Plain(words) => code_files(&words, folder),
        Command::NeedsShell(_) => parts(line).iter().flat_map(|words| code_files(words, folder)).collect(),
    }
}

fn add_files(words: &[String], folder: &str, depth: usize, files: &mut BTreeSet<String>) {
    let Some(program) = words.first() else { return };
    let name = name_of(program);
    let mut add = |named: &str| {
        let named = named.trim_start_matches("./");
        let below = if folder.is_empty() { named.to_owned() } else { format!("{folder}/{named}") };
        // A path that leaves the workspace, or is none, cannot be written by an agent.
        files.extend(WorkspacePath::new(&below).ok().map(|path| path.as_str().to_owned()));
    };
    if program.contains('/') && !program.starts_with('/') {
        add(program);
    }
    let is_runner = RUNNERS.contains(&name) || name.starts_with("python") || name.starts_with("pypy");
    let run = words.iter().skip(1).filter(|_| is_runner).map(|word| name_of(word));
    let mut implied: Vec<&str> = std::iter::once(name).chain(run).flat_map(implied_files).collect();
    if holds_everywhere(words) {
        // It only reads.
        implied.clear();
    }
    if name == "git" {
        implied.push(REPOSITORY);
    }
    implied.iter().for_each(|file| add(file));
    if !implied.is_empty() {
        for place in places(words) {
            add(place);
            implied.iter().for_each(|file| add(&format!("{}/{file}", place.trim_end_matches('/'))));
        }
    }
    if is_known_reader(words) || is_data_console(program) {
        return;
    }
    let starts_others = starts_others(program);
    for (at, word) in words.iter().enumerate().skip(1) {
        let value = word.split_once('=').map(|(_, value)| value);
        for named in value.into_iter().chain((!word.starts_with('-')).then_some(word.as_str())) {
            add(named);
        }
        if words[at - 1] == "-m" {
            let module = word.replace('.', "/");
            [format!("{module}.py"), format!("{module}/__main__.py"), format!("{module}/__init__.py")]
                .iter()
                .for_each(|file| add(file));
        }
    }
    if depth >= MAX_DEPTH {
        return;
    }
    for at in 1..words.len() {
        // The word of `sh -c` is a command line itself.
        if starts_others && words[at].contains(char::is_whitespace) {
            parts(&words[at]).iter().for_each(|words| add_files(words, folder, depth + 1, files));
        } else if starts_others && depth == 0 {
            add_files(&words[at..], folder, MAX_DEPTH, files);
        }
    }
}

/// The files from which a program takes what it runs, unless it is told others.
fn implied_files(program: &str) -> impl Iterator<Item = &'static str> {
    let of_program = IMPLIED.iter().filter(move |(programs, _)| programs.contains(&program));
    of_program.flat_map(|(_, files)| files.iter().copied())
}

/// The folders and files that options name as the place from which a program takes what it runs.
fn places(words: &[String]) -> impl Iterator<Item = &str> {
    words.iter().enumerate().skip(1).filter_map(|(at, word)| {
        let value = word.split_once('=').filter(|(option, _)| PLACE_OPTIONS.contains(option)).map(|(_, value)| value);
        let joined = word.strip_prefix("-C").filter(|value| !value.is_empty());
        let follows = PLACE_OPTIONS.contains(&words[at - 1].as_str()).then_some(word.as_str());
        value.or(joined).or(follows)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str, folder: &str) -> Vec<String> {
        code_files_of_line(line, folder).into_iter().collect()
    }

    fn names(line: &str, file: &str) -> bool {
        code_files_of_line(line, "").contains(file)
    }

    #[test]
    fn the_code_of_a_command_is_found() {
        for (line, file) in [
            ("sh tools/run.sh", "tools/run.sh"),
            ("sh ./tools/run.sh x", "tools/run.sh"),
            ("./tools/run.sh a", "tools/run.sh"),
            ("python3 -u tools/check.py", "tools/check.py"),
            ("python3 -m tools.check", "tools/check.py"),
            ("python3 -m tools", "tools/__main__.py"),
            ("node --require=./a.js b.js", "a.js"),
            ("sh -c 'python3 srv.py'", "srv.py"),
            ("bash -lc 'cd x && ./go.sh'", "go.sh"),
            ("env A=b python3 srv.py", "srv.py"),
            ("env make test", "Makefile"),
            ("timeout 5 ./x.sh", "x.sh"),
            ("make test", "Makefile"),
            ("npm run build", "package.json"),
            ("mytool check rules.cfg", "rules.cfg"),
            ("cargo test", "build.rs"),
            ("cargo test", ".cargo/config.toml"),
            ("pytest -q", "conftest.py"),
            ("python3 -m pytest", "conftest.py"),
            ("npx jest", "jest.config.js"),
            ("uv run pytest", "conftest.py"),
            ("npm exec eslint .", ".eslintrc.js"),
            ("eslint src", "eslint.config.js"),
            ("make -C sub test", "sub/Makefile"),
            ("make -Csub test", "sub/Makefile"),
            ("make --file=rules.mk", "rules.mk"),
            ("npm --prefix web test", "web/package.json"),
            ("git diff", ".git"),
            ("git -C sub log", "sub/.git"),
            ("git --git-dir=artifacts/r log", "artifacts/r"),
            ("sh -c 'git status'", ".git"),
            ("ls; sh x.sh", "x.sh"),
        ] {
            assert!(names(line, file), "{line}: {:?}", of(line, ""));
        }
        assert!(of("make test", "web").contains(&"web/Makefile".to_owned()));
        assert!(of("./run.sh", "web").contains(&"web/run.sh".to_owned()));
    }

    #[test]
    fn data_is_not_code() {
        for line in ["cat a.md", "ls src", "grep x a.md", "sqlite3 data.db", "less a.md", "jq . a.json"] {
            assert_eq!(of(line, ""), Vec::<String>::new(), "{line}");
        }
        assert_eq!(of("git add a.md", ""), [".git"], "only its settings can be code");
        assert!(!names("sed s/a/b/ a.md", "a.md"));
        assert!(of("sh ../x.sh", "").iter().all(|path| !path.contains("..")));
    }
}
