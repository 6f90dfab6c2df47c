//! Tests of the files and sources that commands run.

use super::*;
use crate::gateway::SourceKind;

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
        ("sh -c 'env A=b make test'", "Makefile"),
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

#[test]
fn the_sources_of_a_command_are_those_of_its_tools() {
    for (line, folder, kind) in [
        ("cargo test", "", SourceKind::Rust),
        ("cargo test --manifest-path web/Cargo.toml", "web", SourceKind::Rust),
        ("env A=b cargo test", "", SourceKind::Rust),
        ("sh -c 'cd web && npm test'", "web", SourceKind::JavaScript),
        ("npm --prefix web test", "web", SourceKind::JavaScript),
        ("npx jest", "", SourceKind::JavaScript),
        ("make -C sub", "sub", SourceKind::Native),
        ("python3 -m pytest tests", "", SourceKind::Python),
        ("uv run pytest", "", SourceKind::Python),
        ("bundle exec rspec", "", SourceKind::Ruby),
        ("go build && ./app", "", SourceKind::Go),
    ] {
        let sources = CommandCode::of_line(line, "").sources;
        let expected = SourceFolder { folder: folder.to_owned(), kind };
        assert!(sources.contains(&expected), "{line}: {sources:?}");
    }
    let in_web = CommandCode::of_line("cargo test", "web").sources;
    assert_eq!(in_web, [SourceFolder { folder: "web".to_owned(), kind: SourceKind::Rust }].into());
    for line in ["cargo fmt", "npm ci", "git status", "sh run.sh", "ls src", "python3 tools/check.py"] {
        assert_eq!(CommandCode::of_line(line, "").sources, BTreeSet::new(), "{line}");
    }
    assert!(names("sh -c 'cd web && ./go.sh'", "web/go.sh"));
    assert!(names("npx jest", "node_modules/.bin/jest"));
}

#[test]
fn what_a_command_names_beyond_a_limit_is_said() {
    let gaps = |line: &str| CommandCode::of_line(line, "").gaps;
    for line in ["cargo test", "sh -c 'sh -c ./x.sh'", "env A=b make test", "cd a && cd b && ./x.sh"] {
        assert_eq!(gaps(line), BTreeSet::new(), "{line}");
    }
    let many: Vec<String> = (0..=MAX_FILES).map(|number| format!("{number}.sh")).collect();
    assert_eq!(gaps(&format!("own {}", many.join(" "))), ["it names too many files"].into());
    let folders: Vec<String> = (0..20).map(|number| format!("cd {number}")).collect();
    assert!(gaps(&folders.join("; ")).contains("it changes its folder too often"));
}
