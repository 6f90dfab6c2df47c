//! Tests of what the code of a command loads, and of the limits within which it is followed.

use std::fs;
use std::path::Path;

use crate::gateway::programs::code::code_gaps::CodeLimits;
use crate::gateway::programs::code::loaded_code::*;

fn write(folder: &Path, files: &[(&str, &str)]) {
    for (path, text) in files {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().expect("it is in a folder")).expect("folders can be made");
        fs::write(path, text).expect("files can be written");
    }
}

fn folder_with(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    write(folder.path(), files);
    folder
}

/// The files that a command which names these files loads, and why there may be more.
fn search(
    root: &Path,
    limits: CodeLimits,
    (named, running_in): (&[&str], &str),
    sources: &[(&str, SourceKind)],
) -> (Vec<String>, String) {
    let folder = CodeFolder::within(root, limits);
    let named: BTreeSet<String> = named.iter().map(|path| (*path).to_owned()).collect();
    let texts =
        named.iter().filter_map(|path| Some((path.clone(), look(root, path, &folder.limits).ok()?.1))).collect();
    let sources = sources.iter().map(|(folder, kind)| SourceFolder { folder: (*folder).to_owned(), kind: *kind });
    let loaded = loaded_by(&folder, &texts, &named, running_in, Some(&sources.collect()));
    (loaded.into_keys().collect(), folder.gaps.described().unwrap_or_default())
}

/// The files that a command which names these files loads, of a folder with these files. All of it can be followed.
fn loaded(files: &[(&str, &str)], named: &[&str], running_in: &str) -> Vec<String> {
    with_sources(files, named, running_in, &[])
}

fn with_sources(
    files: &[(&str, &str)],
    named: &[&str],
    running_in: &str,
    sources: &[(&str, SourceKind)],
) -> Vec<String> {
    let (loaded, gaps) = search(folder_with(files).path(), CodeLimits::default(), (named, running_in), sources);
    assert_eq!(gaps, "", "{named:?}");
    loaded
}

#[test]
fn what_scripts_load_is_found_through_each_other() {
    let files = [
        ("build.sh", ". parts/lib.sh\ncat notes.md > made\n"),
        ("parts/lib.sh", "python3 \"$HERE/../tools/tool.py\"\n"),
        ("tools/tool.py", "import helper\nfrom pkg import thing\nopen('runs', 'a')\n"),
        ("tools/helper.py", "import json\n"),
        ("tools/pkg/__init__.py", ""),
        ("tools/pkg/thing.py", ""),
        ("notes.md", "tools/other.py"),
        ("tools/other.py", ""),
        ("runs", "x"),
        ("made", "x"),
    ];
    let expected = ["parts/lib.sh", "tools/helper.py", "tools/pkg/__init__.py", "tools/pkg/thing.py", "tools/tool.py"];
    assert_eq!(loaded(&files, &["build.sh"], ""), expected);
}

#[test]
fn a_module_that_hides_one_of_the_system_is_found() {
    let tool = ("tools/tool.py", "import json\n");
    assert_eq!(loaded(&[tool], &["tools/tool.py"], ""), [] as [&str; 0]);
    assert_eq!(loaded(&[tool, ("tools/json.py", "")], &["tools/tool.py"], ""), ["tools/json.py"]);
}

#[test]
fn what_build_tools_load_is_found() {
    let files = [
        ("web/package.json", "{ \"scripts\": { \"test\": \"node scripts/test\" } }"),
        ("web/scripts/test.js", "require('../src/app')"),
        ("web/src/app.js", "module.exports = 1"),
    ];
    assert_eq!(loaded(&files, &["web/package.json"], "web"), ["web/scripts/test.js", "web/src/app.js"]);
    let files = [
        ("Makefile", "include mk/*.mk\ntest:\n\t./run x.csv\n"),
        ("mk/rules.mk", "all:\n\tsh tools/go\n"),
        ("run", "#!/bin/sh\n"),
        ("tools/go", "echo go\n"),
        ("x.csv", "1,2"),
    ];
    assert_eq!(loaded(&files, &["Makefile"], ""), ["mk/rules.mk", "run", "tools/go"]);
    let files = [("conftest.py", ""), ("tests/a/conftest.py", "from shared import x"), ("tests/a/shared.py", "")];
    let expected = ["tests/a/conftest.py", "tests/a/shared.py"];
    assert_eq!(loaded(&files, &["conftest.py"], ""), expected);
    let files = [
        ("Cargo.toml", "[workspace]\nmembers = [\"crates/*\"]\n"),
        ("build.rs", "fn main() {}"),
        ("crates/one/Cargo.toml", "[package]\n"),
        ("crates/one/build.rs", "fn main() {}"),
        ("crates/one/src/lib.rs", ""),
    ];
    let expected = ["build.rs", "crates/one/Cargo.toml", "crates/one/build.rs"];
    assert_eq!(loaded(&files, &["Cargo.toml"], ""), expected);
}

#[test]
fn no_program_that_a_build_made_is_loaded_but_what_it_is_made_of() {
    let made = [("Makefile", "test:\n\tcc -o app app.c && sh app\n"), ("app", "\0elf"), ("app.c", "")];
    assert_eq!(loaded(&made, &["Makefile"], ""), [""; 0]);
    let folder = folder_with(&made);
    let native = [("", SourceKind::Native)];
    let (found, _) = search(folder.path(), CodeLimits::default(), (&["Makefile"], ""), &native);
    assert_eq!(found, ["app.c"]);
}

#[test]
fn the_sources_that_a_tool_finds_by_itself_are_loaded() {
    type Case = (SourceKind, &'static str, &'static [(&'static str, &'static str)], &'static [&'static str]);
    let cases: [Case; 9] = [
        (
            SourceKind::Rust,
            "",
            &[
                ("Cargo.toml", "[dependencies]\nown = { path = \"../own\" }\n"),
                ("src/lib.rs", "include!(\"../gen/a.in\");\n"),
                ("gen/a.in", ""),
                ("src/target/mod.rs", ""),
                ("tests/it.rs", "use notes::md;"),
                ("notes.md", ""),
                ("target/debug/made.rs", ""),
            ],
            &["gen/a.in", "src/lib.rs", "src/target/mod.rs", "tests/it.rs"],
        ),
        (
            SourceKind::Rust,
            "app",
            &[
                ("app/Cargo.toml", "[dependencies]\nown = { path = \"../own\" }\n"),
                ("app/src/main.rs", ""),
                ("own/Cargo.toml", "[package]"),
                ("own/src/lib.rs", ""),
                ("other/src/lib.rs", ""),
            ],
            &["app/src/main.rs", "own/Cargo.toml", "own/src/lib.rs"],
        ),
        (
            SourceKind::Go,
            "pkg/a",
            &[("go.mod", "module x\n"), ("pkg/a/a_test.go", ""), ("pkg/b/b.go", ""), ("a.txt", "")],
            &["go.mod", "pkg/a/a_test.go", "pkg/b/b.go"],
        ),
        (
            SourceKind::Native,
            "",
            &[("Makefile", "%.o: %.c\n\t$(CC) -c $<\n"), ("src/a.c", "#include \"a.h\""), ("src/a.h", "")],
            &["src/a.c", "src/a.h"],
        ),
        (
            SourceKind::Jvm,
            "core",
            &[("pom.xml", ""), ("core/pom.xml", ""), ("util/src/main/java/A.java", ""), ("target/B.java", "")],
            &["core/pom.xml", "pom.xml", "target/B.java", "util/src/main/java/A.java"],
        ),
        (
            SourceKind::Dotnet,
            "",
            &[("App.csproj", ""), ("Program.cs", ""), ("obj/Made.cs", "")],
            &["App.csproj", "Program.cs", "obj/Made.cs"],
        ),
        (
            SourceKind::JavaScript,
            "web",
            &[
                ("web/package.json", "{ \"scripts\": { \"test\": \"jest\" } }"),
                ("web/src/app.test.js", "require('../../tools/x')"),
                ("tools/x.js", ""),
                ("other/src/b.js", ""),
                ("web/dist/made.js", ""),
                ("web/node_modules/.bin/jest", "#!/usr/bin/env node\nrequire('./deep')"),
                ("web/node_modules/.bin/deep.js", ""),
            ],
            &["tools/x.js", "web/dist/made.js", "web/node_modules/.bin/jest", "web/src/app.test.js"],
        ),
        (
            SourceKind::Python,
            "tests",
            &[
                ("pyproject.toml", ""),
                ("tests/test_a.py", "import subprocess\nsubprocess.run(['sh', 'tools/run'])"),
                ("tools/run", "echo one"),
                ("pkg/a.py", ""),
                (".venv/lib/python3.12/site-packages/own.pth", "import own"),
                (".venv/lib/python3.12/site-packages/unused.py", ""),
            ],
            &[
                ".venv/lib/python3.12/site-packages/own.pth",
                "pkg/a.py",
                "pyproject.toml",
                "tests/test_a.py",
                "tools/run",
            ],
        ),
        (SourceKind::Ruby, "", &[("Gemfile", ""), ("spec/a_spec.rb", "")], &["Gemfile", "spec/a_spec.rb"]),
    ];
    for (kind, folder, files, expected) in cases {
        // As for a command that names the file of its project.
        let named: Vec<&str> =
            files.iter().map(|(path, _)| *path).take(1).filter(|path| is_named(path, folder)).collect();
        let expected: Vec<&str> = expected.iter().copied().filter(|path| !named.contains(path)).collect();
        assert_eq!(with_sources(files, &named, folder, &[(folder, kind)]), expected, "{kind:?} in {folder:?}");
    }
}

#[test]
fn a_project_among_what_a_tool_made_is_searched_where_a_command_names_it() {
    let files = [("Cargo.toml", ""), ("target/x/Cargo.toml", ""), ("target/x/src/lib.rs", "")];
    let sources = [("", SourceKind::Rust), ("target/x", SourceKind::Rust)];
    assert_eq!(with_sources(&files, &["Cargo.toml"], "", &sources[..1]), [] as [&str; 0]);
    let named = ["Cargo.toml", "target/x/Cargo.toml"];
    assert_eq!(with_sources(&files, &named, "", &sources), ["target/x/src/lib.rs"]);
}

#[test]
fn the_sources_of_a_tool_that_a_script_starts_are_loaded_unless_they_do_not_matter() {
    let files = [
        ("run.sh", "cargo test\n"),
        ("Cargo.toml", ""),
        ("src/lib.rs", ""),
        ("web/package.json", "{ \"scripts\": { \"test\": \"jest\" } }"),
        ("web/a.test.js", ""),
    ];
    assert_eq!(loaded(&files, &["run.sh"], ""), ["Cargo.toml", "src/lib.rs"]);
    assert_eq!(loaded(&files, &["web/package.json"], "web"), ["web/a.test.js"]);
    let folder = folder_with(&files);
    let named = BTreeSet::from(["run.sh".to_owned()]);
    let files = CodeFolder::of(folder.path());
    let (_, text) = look(folder.path(), "run.sh", &files.limits).expect("it can be read");
    let texts = BTreeMap::from([("run.sh".to_owned(), text)]);
    assert!(loaded_by(&files, &texts, &named, "", None).is_empty());
}

/// Whether a file is the one from which a tool in this folder takes what it runs.
fn is_named(path: &str, folder: &str) -> bool {
    folder_of(path) == folder
}

#[test]
fn the_beginnings_of_installed_packages_are_loaded() {
    let files = [
        ("tool.js", "const a = require('one')\nimport b from '@own/two'\nrequire('three/lib/part')\n"),
        ("node_modules/one/package.json", "{ \"main\": \"lib/start\" }"),
        ("node_modules/one/lib/start.js", "require('./more')"),
        ("node_modules/one/lib/more.js", ""),
        ("node_modules/@own/two/package.json", "{ \"exports\": { \".\": { \"import\": \"./b.mjs\" } } }"),
        ("node_modules/@own/two/b.mjs", ""),
        ("node_modules/three/lib/part.js", ""),
        ("node_modules/four/index.js", ""),
    ];
    let expected = [
        "node_modules/@own/two/b.mjs",
        "node_modules/@own/two/package.json",
        "node_modules/one/lib/start.js",
        "node_modules/one/package.json",
        "node_modules/three/lib/part.js",
    ];
    assert_eq!(loaded(&files, &["tool.js"], ""), expected);
    let files = [
        (".venv/lib/python3.12/site-packages/pkg/__init__.py", "import deeper"),
        (".venv/lib/python3.12/site-packages/pkg/__main__.py", ""),
        (".venv/lib/python3.12/site-packages/lib.py", ""),
        (".venv/lib/python3.12/site-packages/sitecustomize.py", ""),
        (".venv/lib/python3.12/site-packages/deeper.py", ""),
        ("tools/a.py", "import lib"),
    ];
    let packages = |names: &[&str]| -> Vec<String> {
        names.iter().map(|name| format!(".venv/lib/python3.12/site-packages/{name}")).collect()
    };
    let started = ["pkg/__init__.py", "pkg/__main__.py", "sitecustomize.py"];
    assert_eq!(loaded(&files, &["pkg.py", "pkg/__main__.py", "pkg/__init__.py"], ""), packages(&started));
    assert_eq!(loaded(&files, &["tools/a.py"], ""), packages(&["lib.py", "sitecustomize.py"]));
    let started = loaded(&files, &["tools/pkg/__main__.py"], "tools");
    assert_eq!(started, packages(&["pkg/__main__.py", "sitecustomize.py"]), "in the folder of the command");
}

#[test]
fn nothing_ends_silently_at_a_limit() {
    let limits = CodeLimits::default;
    let many = [("a.sh", ". ./b.sh\n. ./c.sh\n"), ("b.sh", ""), ("c.sh", "")];
    let parts = [("a.sh", "for part in parts/*.sh; do . $part; done\n"), ("parts/1.sh", ""), ("parts/2.sh", "")];
    let long = [("a.sh", "echo one\n. ./b.sh\n"), ("b.sh", "")];
    let deep = [("a.py", "import helper\n"), ("1/2/3/helper.py", "")];
    type Case<'a> = (&'a [(&'a str, &'a str)], CodeLimits, &'a str);
    let cases: [Case; 9] = [
        (&many, CodeLimits { loaded: 1, ..limits() }, "more than 1 files are loaded"),
        (&many, CodeLimits { references: 1, ..limits() }, "more than 1 names would have to be looked up"),
        (&many, CodeLimits { references_of_file: 1, ..limits() }, "a.sh has more than 1 names that may be files"),
        (&many, CodeLimits { entries: 0, ..limits() }, "more than 0 files and folders would have to be listed"),
        (&parts, CodeLimits { meant: 1, ..limits() }, "means more than 1 files"),
        (&long, CodeLimits { script_bytes: 12, ..limits() }, "a.sh: only the first 1 KiB are read"),
        (&long, CodeLimits { hashed_bytes: 12, ..limits() }, "a.sh: only the first 1 MiB are compared"),
        (&deep, CodeLimits { files: 1, ..limits() }, "a file is looked for by its name among more than 1"),
        (&deep, CodeLimits { depth: 1, ..limits() }, "folders are more than 1 deep"),
    ];
    for (files, within, reason) in cases {
        let folder = folder_with(files);
        let named = [files[0].0];
        let (_, gaps) = search(folder.path(), within.clone(), (&named, ""), &[]);
        assert!(gaps.contains(reason), "{reason} in {gaps:?}");
        let (_, gaps) = search(folder.path(), limits(), (&named, ""), &[]);
        assert_eq!(gaps, "", "the usual limits are wide enough for {files:?}");
    }
    let sources = [("Cargo.toml", ""), ("src/a.rs", ""), ("src/b/c.rs", "")];
    let cases = [
        (CodeLimits { loaded: 1, ..limits() }, "more than 1 files are loaded"),
        (CodeLimits { depth: 1, ..limits() }, "folders of sources are more than 1 deep"),
    ];
    for (within, reason) in cases {
        let rust = [("", SourceKind::Rust)];
        let (_, gaps) = search(folder_with(&sources).path(), within, (&["Cargo.toml"], ""), &rust);
        assert!(gaps.contains(reason), "{reason} in {gaps:?}");
    }
}

#[test]
fn data_may_be_as_long_as_it_likes() {
    let files = [("a.py", "open('b.csv')\n"), ("b.csv", "x,y\n1/2,3/4\n5/6,7/8\n"), ("app", "\0elf and more of it")];
    let short = CodeLimits { script_bytes: 16, references_of_file: 1, ..CodeLimits::default() };
    let (_, gaps) = search(folder_with(&files).path(), short, (&["a.py", "b.csv", "app"], ""), &[]);
    assert_eq!(gaps, "");
}

#[test]
fn code_in_another_encoding_is_not_taken_for_followed() {
    let utf_16: Vec<u8> = [0xff, 0xfe].into_iter().chain(". ./b.sh\n".bytes().flat_map(|byte| [byte, 0])).collect();
    for (bytes, is_followed) in
        [(utf_16, false), (b". ./b\xe4.sh\n".to_vec(), false), ("echo \u{e4}\n".as_bytes().to_vec(), true)]
    {
        let folder = folder_with(&[("a.sh", ". ./lib.sh\n")]);
        fs::write(folder.path().join("lib.sh"), bytes).expect("files can be written");
        for named in ["a.sh", "lib.sh"] {
            let (_, gaps) = search(folder.path(), CodeLimits::default(), (&[named], ""), &[]);
            assert_eq!(gaps, if is_followed { "" } else { "lib.sh: its encoding is not UTF-8" });
        }
    }
    // A letter that is cut at the end of what is read is none.
    let folder = folder_with(&[("a.sh", "echo \u{e4}\n")]);
    let short = CodeLimits { script_bytes: 6, ..CodeLimits::default() };
    let (_, gaps) = search(folder.path(), short, (&["a.sh"], ""), &[]);
    assert_eq!(gaps, "a.sh: only the first 1 KiB are read");
}

#[cfg(unix)]
#[test]
fn links_out_of_the_workspace_loops_and_what_cannot_be_read_are_not_taken_for_followed() {
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

    let outside = folder_with(&[("lib.sh", ". ./more.sh"), ("src/lib.rs", "")]);
    let gaps = |folder: &Path, sources: &[(&str, SourceKind)]| {
        search(folder, CodeLimits::default(), (&["a.sh", "Cargo.toml"], ""), sources).1
    };
    let folder = || folder_with(&[("a.sh", ". ./lib.sh\n"), ("Cargo.toml", "")]);
    let linked = folder();
    symlink(outside.path().join("lib.sh"), linked.path().join("lib.sh")).expect("links can be made");
    assert_eq!(gaps(linked.path(), &[]), "lib.sh: it is a link out of the workspace");
    let looped = folder();
    symlink("lib.sh", looped.path().join("lib.sh")).expect("links can be made");
    let reasons = gaps(looped.path(), &[]);
    assert!(reasons.starts_with("lib.sh: it cannot be read"), "{reasons}");
    let broken = folder();
    symlink("none.sh", broken.path().join("lib.sh")).expect("links can be made");
    assert_eq!(gaps(broken.path(), &[]), "", "nothing is there to be run");
    let socket = folder();
    let _socket = UnixListener::bind(socket.path().join("lib.sh")).expect("sockets can be made");
    assert_eq!(gaps(socket.path(), &[]), "lib.sh: it is no ordinary file");
    let sources = folder();
    symlink(outside.path().join("src"), sources.path().join("src")).expect("links can be made");
    symlink(".", sources.path().join("loop")).expect("links can be made");
    let reasons = gaps(sources.path(), &[("", SourceKind::Rust)]);
    assert!(reasons.split("; ").any(|reason| reason == "src: it is a link out of the workspace"), "{reasons}");
    let package = folder();
    write(package.path(), &[("a.js", "require('own')"), ("libs/own/package.json", "{}"), ("libs/own/index.js", "")]);
    fs::create_dir(package.path().join("node_modules")).expect("folders can be made");
    symlink("../libs/own", package.path().join("node_modules/own")).expect("links can be made");
    let found = search(package.path(), CodeLimits::default(), (&["a.js"], ""), &[]);
    assert_eq!(found, (vec!["libs/own/index.js".to_owned(), "libs/own/package.json".to_owned()], String::new()));
    let inside = folder();
    write(inside.path(), &[("real/lib.rs", "")]);
    symlink("real", inside.path().join("src")).expect("links can be made");
    assert_eq!(gaps(inside.path(), &[("", SourceKind::Rust)]), "");
}

proptest::proptest! {
    /// Whatever the limits are, either all is found that is there, or it is said that there may be more.
    #[test]
    fn all_is_found_or_it_is_said_that_there_may_be_more(
        loaded in 0..6usize, references in 0..6usize, entries in 0..12usize, script_bytes in 1..60usize,
    ) {
        let files = [("a.sh", ". ./b.sh\n. ./x/c.sh\n"), ("b.sh", ". ./x/d.sh\n"), ("x/c.sh", ""), ("x/d.sh", "")];
        let limits = CodeLimits { loaded, references, entries, script_bytes, ..CodeLimits::default() };
        let (found, gaps) = search(folder_with(&files).path(), limits, (&["a.sh"], ""), &[]);
        proptest::prop_assert!(found == ["b.sh", "x/c.sh", "x/d.sh"] || !gaps.is_empty(), "{found:?}");
    }
}
