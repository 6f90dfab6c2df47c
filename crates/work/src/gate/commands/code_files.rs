//! The files of the workspace whose content a command runs: its program, the script or module that it names, and the
//! file from which a build tool takes what it runs. Pure.
//!
//! Files that such a file loads, and the sources of a build tool, are found once there is a disk to look at (`loaded_code`
//! of the gateway). Files that are only data for a program are not among them.

use std::collections::BTreeSet;

use super::known_programs::name_of;
use super::words::{Command, parts};
use super::wrapper_programs::{holds_everywhere, is_data_console, is_known_reader, starts_others};
use crate::base::paths::folder_of;
use crate::gateway::{SourceFolder, sources_found_by};
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
            ".clippy.toml",
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

/// Programs that start a program of an installed package by its name alone.
const PACKAGE_RUNNERS: &[&str] = &["npx", "pnpx", "bunx"];
/// Where such programs are.
const PACKAGE_PROGRAMS: &str = "node_modules/.bin";

/// The maximum number of files that one command names, and of folders into which it changes.
const MAX_FILES: usize = 256;
const MAX_FOLDERS: usize = 16;

/// The code that a command runs.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CommandCode {
    /// The files that it may run, whether or not they exist.
    pub files: BTreeSet<String>,
    /// The sources that its tools find by themselves.
    pub sources: BTreeSet<SourceFolder>,
    /// Why it may run more than these.
    pub gaps: BTreeSet<&'static str>,
}

impl CommandCode {
    /// The code of a command line that runs in this folder of the workspace, also if it needs a shell, within the limits.
    pub fn of_line(line: &str, folder: &str) -> Self {
        let mut code = Self::of_whole_line(line, folder);
        if code.files.len() > MAX_FILES {
            code.gaps.insert("it names too many files");
            code.files = code.files.into_iter().take(MAX_FILES).collect();
        }
        code
    }

    fn of_whole_line(line: &str, folder: &str) -> Self {
        let mut code = Self::default();
        match Command::parse(line) {
            Command::Plain(words) => code.add(&words, folder, false),
            Command::NeedsShell(_) => code.add_line(line, folder),
        }
        code
    }

    /// Adds a command line. What follows `cd web` may run in this folder.
    fn add_line(&mut self, line: &str, folder: &str) {
        let mut folders = vec![folder.to_owned()];
        let mut seen: BTreeSet<Vec<String>> = BTreeSet::new();
        for words in parts(line).into_iter().filter(|words| seen.insert(words.clone())) {
            for folder in &folders {
                self.add(&words, folder, false);
            }
            let changes_folder = matches!(words[0].as_str(), "cd" | "pushd");
            let Some(named) = words.get(1).filter(|_| changes_folder) else { continue };
            let mut below: Vec<String> = folders.iter().filter_map(|folder| path_in(folder, named)).collect();
            below.retain(|folder| !folders.contains(folder));
            if folders.len() + below.len() > MAX_FOLDERS {
                self.gaps.insert("it changes its folder too often");
                continue;
            }
            folders.extend(below);
        }
    }

    /// Adds a command, or the rest of one that may be a command itself.
    fn add(&mut self, words: &[String], folder: &str, is_rest: bool) {
        let Some(program) = words.first() else { return };
        let name = name_of(program);
        if program.contains('/') && !program.starts_with('/') {
            self.add_file(folder, program);
        }
        let is_runner = RUNNERS.contains(&name) || name.starts_with("python") || name.starts_with("pypy");
        self.add_implied(words, folder, is_runner);
        self.add_sources(words, folder, is_runner);
        if is_known_reader(words) || is_data_console(program) {
            return;
        }
        for (at, word) in words.iter().enumerate().skip(1) {
            let value = word.split_once('=').map(|(_, value)| value);
            for named in value.into_iter().chain((!word.starts_with('-')).then_some(word.as_str())) {
                self.add_file(folder, named);
            }
            if words[at - 1] == "-m" {
                let module = word.replace('.', "/");
                [format!("{module}.py"), format!("{module}/__main__.py"), format!("{module}/__init__.py")]
                    .iter()
                    .for_each(|file| self.add_file(folder, file));
            }
        }
        if is_rest || !starts_others(program) {
            return;
        }
        for at in 1..words.len() {
            // The word of `sh -c` is a command line itself.
            if words[at].contains(char::is_whitespace) {
                self.add_line(&words[at], folder);
            } else {
                self.add(&words[at..], folder, true);
            }
        }
    }

    /// Adds the files from which the program, and programs that it starts by their names, take what they run.
    fn add_implied(&mut self, words: &[String], folder: &str, is_runner: bool) {
        // Some only read.
        if holds_everywhere(words) {
            return;
        }
        let name = name_of(&words[0]);
        let run = words.iter().skip(1).filter(|_| is_runner).map(|word| name_of(word));
        let mut implied: Vec<&str> = std::iter::once(name).chain(run).flat_map(implied_files).collect();
        if name == "git" {
            implied.push(REPOSITORY);
        }
        implied.iter().for_each(|file| self.add_file(folder, file));
        if PACKAGE_RUNNERS.contains(&name) {
            let started = words.iter().skip(1).filter(|word| !word.starts_with('-') && !word.contains('/'));
            started.for_each(|word| self.add_file(folder, &format!("{PACKAGE_PROGRAMS}/{word}")));
        }
        if !implied.is_empty() {
            for place in places(words) {
                self.add_file(folder, place);
                implied.iter().for_each(|file| {
                    self.add_file(folder, &format!("{}/{file}", place.trim_end_matches('/')));
                });
            }
        }
    }

    /// Adds the sources of the program, and of programs that it starts by their names.
    fn add_sources(&mut self, words: &[String], folder: &str, is_runner: bool) {
        if holds_everywhere(words) {
            return;
        }
        let starts = 0..if is_runner { words.len() } else { 1 };
        for kind in starts.filter_map(|at| sources_found_by(&words[at..])) {
            // An option may name another project, or a file of it.
            let named = places(words).filter_map(|place| path_in(folder, place));
            let named = named.flat_map(|place| [folder_of(&place).to_owned(), place]);
            let folders = named.chain([folder.to_owned()]);
            self.sources.extend(folders.map(|folder| SourceFolder { folder, kind }));
        }
    }

    /// Adds a file that a command in this folder names.
    fn add_file(&mut self, folder: &str, named: &str) {
        self.files.extend(path_in(folder, named));
    }
}

/// The path in the workspace of what a command in this folder names. A path that leaves the workspace, or is none, cannot
/// be written by an agent.
fn path_in(folder: &str, named: &str) -> Option<String> {
    let named = named.trim_start_matches("./");
    let below = if folder.is_empty() { named.to_owned() } else { format!("{folder}/{named}") };
    WorkspacePath::new(&below).ok().map(|path| path.as_str().to_owned())
}

/// The files that a command with these words may run in this folder of the workspace, whether or not they exist.
pub fn code_files(words: &[String], folder: &str) -> BTreeSet<String> {
    let mut code = CommandCode::default();
    code.add(words, folder, false);
    code.files
}

/// The files that a command line may run, also if it needs a shell.
pub fn code_files_of_line(line: &str, folder: &str) -> BTreeSet<String> {
    CommandCode::of_whole_line(line, folder).files
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
#[path = "code_files_tests.rs"]
mod tests;
