//! The files of the workspace whose content a command runs: its program, the script or module that it names, and the
//! file from which a build tool takes what it runs. Pure.
//!
//! Files that such a file loads, and files that are only data for a program, are not among them.

use std::collections::BTreeSet;

use super::known_programs::name_of;
use super::words::{Command, parts};
use super::wrapper_programs::{is_data_console, is_known_reader, starts_others};
use crate::workspace::vfs::WorkspacePath;

/// The files from which a program takes what it runs, by program, relative to the folder in which it runs.
const IMPLIED: &[(&[&str], &[&str])] = &[
    (&["make", "gmake"], &["GNUmakefile", "makefile", "Makefile"]),
    (&["npm", "pnpm", "yarn", "bun", "npx", "pnpx", "bunx"], &["package.json"]),
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
    (&["jest"], &["package.json", "jest.config.js", "jest.config.ts", "jest.config.json"]),
    (&["vitest"], &["vitest.config.ts", "vitest.config.js", "vite.config.ts", "vite.config.js"]),
    (&["mocha"], &["package.json"]),
    (&["eslint"], &["eslint.config.js", "eslint.config.mjs", "eslint.config.cjs", "package.json"]),
    (&["prettier"], &["prettier.config.js", "prettier.config.mjs", "package.json"]),
    (&["docker-compose"], &["compose.yaml", "compose.yml", "docker-compose.yml", "docker-compose.yaml"]),
    (&["meson"], &["meson.build"]),
    (&["mix"], &["mix.exs"]),
    (&["sbt"], &["build.sbt"]),
    (&["bazel"], &["WORKSPACE", "MODULE.bazel", "BUILD", "BUILD.bazel"]),
];

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
    for (programs, implied) in IMPLIED {
        if programs.contains(&name) {
            implied.iter().for_each(|file| add(file));
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
            ("ls; sh x.sh", "x.sh"),
        ] {
            assert!(names(line, file), "{line}: {:?}", of(line, ""));
        }
        assert!(of("make test", "web").contains(&"web/Makefile".to_owned()));
        assert!(of("./run.sh", "web").contains(&"web/run.sh".to_owned()));
    }

    #[test]
    fn data_is_not_code() {
        for line in ["cat a.md", "ls src", "git add a.md", "grep x a.md", "sqlite3 data.db", "less a.md", "jq . a.json"]
        {
            assert_eq!(of(line, ""), Vec::<String>::new(), "{line}");
        }
        assert!(!names("sed s/a/b/ a.md", "a.md"));
        assert!(of("sh ../x.sh", "").iter().all(|path| !path.contains("..")));
    }
}
