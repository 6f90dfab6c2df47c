//! Which files operations may reach: protected and secret files, the rights of each starter, records, and private files.

use super::*;

#[test]
fn protected_files_are_refused_to_file_tools() {
    let mut fixture =
        FileWorkspace::new(&[("settings.yaml", "a: 1\n"), ("sessions/ada/1.yaml", "x"), (".git/config", "x")]);
    for operation in [
        write("settings.yaml", "x"),
        write("tasks/approvals.task.md", "x"),
        write("storage/a", "x"),
        write("sessions/ada/1.yaml", "y"),
        write(".gitignore", "x"),
        write(".git/config", "x"),
        write("a/.git/hooks/x", "x"),
        write(".workshop/workshop.db", "x"),
        write("../evil.md", "x"),
        write("/etc/evil", "x"),
        read(".git/config"),
        read(".workshop/workshop.db"),
        read(".env"),
        delete("settings.yaml"),
        delete("sessions/ada/1.yaml"),
        rename("settings.yaml", "notes/s.yaml"),
        rename("sessions/ada/1.yaml", "notes/s.yaml"),
        edit("settings.yaml", "1", "2"),
        append("settings.yaml", "b: 2\n"),
        append("sessions/ada/1.yaml", "x"),
        FileOperation::Record { path: "artifacts/a.md".into(), content: "x".into(), over: None },
        FileOperation::Record { path: "sessions/../a.md".into(), content: "x".into(), over: None },
    ] {
        let refused = fixture.run("ada", operation.clone()).expect_err("it is refused");
        assert!(refused.is_refusal, "{operation:?}: {refused:?}");
    }
    assert_eq!(fixture.on_disk("settings.yaml").as_deref(), Some("a: 1\n"));
    for readable in ["settings.yaml", "sessions/ada/1.yaml"] {
        assert!(fixture.run("ada", read(readable)).is_ok(), "{readable}");
    }
    let record = FileOperation::Record { path: "sessions/ada/2.yaml".into(), content: "kept".into(), over: None };
    assert!(matches!(
        fixture.run("ada", record),
        Ok(FileAnswer::Changed { done: FileResult::Written { version: 0, .. }, .. })
    ));
    assert_eq!(fixture.on_disk("sessions/ada/2.yaml").as_deref(), Some("kept"));
    assert_eq!(fixture.history("sessions/ada/2.yaml"), []);
}

/// Returns operations of a curious agent on files that it is not permitted to know about.
fn curious() -> Vec<FileOperation> {
    let mut orders = vec![
        list(""),
        list("secret"),
        list("secret/"),
        list("none/"),
        search(Some("password"), None),
        search(None, None),
        search(None, Some("secret/**")),
        search(Some("password"), Some("**")),
        read("secret/plan.md"),
        read("secret/plam.md"),
        read("artifacts/plan.md"),
        read("notes/plan.md"),
    ];
    for path in ["secret/plan.md", "drop/box.md", "secret/other.md"] {
        orders.extend([
            read(path),
            edit(path, "password", "x"),
            delete(path),
            rename(path, "artifacts/mine.md"),
            rename("artifacts/own.md", path),
            restore(path, 1),
            write(path, "over it"),
            write(path, "over it"),
            write(path, "the password is x\n"),
        ]);
    }
    orders
}

#[test]
fn secret_files_do_not_affect_any_answer() {
    // The agent may write into `drop`, but not read it.
    let rights = rights(&["artifacts/**", "notes/**"], &["artifacts/**", "drop/**"]);
    let without = [("artifacts/own.md", "mine")];
    let secrets = [
        ("secret/plan.md", "the password is x\n"),
        ("secret/plan2.md", "password"),
        ("drop/box.md", "the password is x\n"),
        ("plan.md", "password"),
    ];
    let with: Vec<(&str, &str)> = without.iter().chain(&secrets).copied().collect();
    let (mut without, mut with) = (FileWorkspace::new(&without), FileWorkspace::new(&with));
    // Histories are secret as well.
    with.run("user", write("secret/plan.md", "the password is y\n")).expect("a person may");
    with.run("bob", read("drop/box.md")).expect("bob may");
    for operation in curious() {
        let (one, other) = (without.bounded(&rights, operation.clone()), with.bounded(&rights, operation.clone()));
        assert_eq!(one, other, "{operation:?}");
        let said = format!("{other:?}");
        assert!(!said.contains("plan2") && !said.contains("password is"), "{operation:?}: {said}");
    }
    assert_eq!(with.on_disk("drop/box.md").as_deref(), Some("the password is x\n"), "what may be written was");
    assert_eq!(with.on_disk("secret/plan.md").as_deref(), Some("the password is y\n"));
}

#[test]
fn operations_are_limited_by_the_rights_of_every_starter() {
    let mut fixture = FileWorkspace::new(&[("artifacts/a.md", "x"), ("memory/b.md", "x")]);
    let own = rights(&["**"], &["artifacts/**", "memory/**"]);
    let both = FileRights {
        reads: own.reads.clone(),
        writes: [own.writes, vec![vec!["memory/**".into()]]].concat(),
        ..FileRights::default()
    };
    assert!(fixture.bounded(&both, write("memory/b.md", "y")).is_ok());
    let refused = fixture.bounded(&both, write("artifacts/a.md", "y")).expect_err("its starter may not");
    assert!(refused.is_refusal && refused.what.contains("outside what you may write"), "{}", refused.what);
    let broken = FileRights { reads: vec![vec!["a[".into()]], ..FileRights::default() };
    assert!(fixture.bounded(&broken, read("memory/b.md")).expect_err("they are no globs").is_refusal);
}

#[test]
fn records_do_not_count_toward_limits_and_only_finished_ones_are_deleted() {
    let mut fixture = FileWorkspace::new(&[]);
    fixture.files.set_limits(FileLimits { max_files: 3, max_sessions: 2, ..FileLimits::default() });
    let mut record = |number: u64, status: &str| {
        let path = format!("sessions/ada.act-{number}.session.yaml");
        let operation = FileOperation::Record {
            path,
            content: format!("status: {status}\ntask: x\nmessages: []\n").into(),
            over: None,
        };
        fixture.run("ada", operation).expect("it should be kept");
    };
    record(3, "running");
    record(4, "completed");
    record(10, "failed");
    record(11, "waiting");
    record(12, "queued");
    let there = |fixture: &FileWorkspace| -> Vec<u64> {
        let there = [3, 4, 10, 11, 12].into_iter();
        there.filter(|number| fixture.on_disk(&format!("sessions/ada.act-{number}.session.yaml")).is_some()).collect()
    };
    assert_eq!(there(&fixture), [3, 11, 12], "the oldest that is over goes first, and work never");
    for path in ["artifacts/a.md", "artifacts/b.md", "artifacts/c.md"] {
        fixture.run("ada", write(path, "x")).expect("sessions do not count");
    }
    let full = fixture.run("ada", write("artifacts/d.md", "x")).expect_err("there are three");
    assert!(full.what.contains("the workspace already has 3 files"), "{}", full.what);
    let operation = FileOperation::Record {
        path: "sessions/ada.act-13.session.yaml".into(),
        content: format!("status: running\nmessages:\n- text: {}\n", "x".repeat(2 << 20)).into(),
        over: None,
    };
    fixture.run("ada", operation).expect("a long session is kept whole");
}

#[test]
fn records_of_other_agents_are_neither_read_nor_named() {
    let mut fixture = FileWorkspace::new(&[
        ("sessions/ada.act-1.session.yaml", "a secret of hers\n"),
        ("sessions/ada-b.act-2.session.yaml", "a secret of another\n"),
    ]);
    let rights = FileRights { records_of: Some(records_of("ada")), ..FileRights::default() };
    assert!(fixture.bounded(&rights, read("sessions/ada.act-1.session.yaml")).is_ok());
    let failure = fixture.bounded(&rights, read("sessions/ada-b.act-2.session.yaml")).expect_err("it is another's");
    assert!(failure.is_refusal && failure.what.contains("not yours"), "{failure:?}");
    let found = fixture.bounded(&rights, FileOperation::Search { text: Some("secret".into()), glob: None });
    let Ok(FileAnswer::Matches { matches, .. }) = found else { panic!("{found:?}") };
    assert_eq!(matches.len(), 1, "{matches:?}");
}

#[test]
fn private_files_of_others_are_neither_read_nor_named_nor_changed() {
    let mut fixture = FileWorkspace::new(&[
        ("boards/mail.md", "a secret\n"),
        ("boards/open.md", "news\n"),
        ("scenes/s.yaml", "a secret\n"),
    ]);
    let paths = |paths: &[&str]| paths.iter().map(|path| (*path).to_owned()).collect();
    let rights = FileRights {
        unreadable: paths(&["boards/mail.md", "scenes/s.yaml"]),
        unwritable: paths(&["boards/mail.md"]),
        ..FileRights::default()
    };
    let path = || "boards/mail.md".to_owned();
    for operation in [
        read("boards/mail.md"),
        read("scenes/s.yaml"),
        write("boards/mail.md", "x"),
        FileOperation::Edit { path: path(), old: "secret".into(), new: "x".into() },
        FileOperation::Edit { path: "scenes/s.yaml".into(), old: "secret".into(), new: "x".into() },
        FileOperation::ReadLines { path: path(), from_line: 1, lines: None },
        FileOperation::Append { path: path(), text: "x".into() },
        FileOperation::Delete { path: path() },
        FileOperation::Rename { from: path(), to: "boards/mine.md".into() },
        FileOperation::Restore { path: path(), version: 1 },
    ] {
        let failure = fixture.bounded(&rights, operation.clone()).expect_err("it is somebody else's");
        assert!(failure.is_refusal && failure.what.contains("not yours"), "{operation:?}: {failure:?}");
    }
    let found = fixture.bounded(&rights, FileOperation::Search { text: Some("secret".into()), glob: None });
    let nothing = FileAnswer::Matches { matches: Vec::new(), more: 0, unsearched: Unsearched::default() };
    assert_eq!(found, Ok(nothing), "it is not even said that it was not searched");
    let listed = fixture.bounded(&rights, FileOperation::List { prefix: "boards/".into() });
    let Ok(FileAnswer::Listing { paths, .. }) = listed else { panic!("{listed:?}") };
    assert_eq!(paths, ["boards/open.md"]);
    let missing = fixture.bounded(&rights, read("boards/mial.md")).expect_err("there is none");
    assert!(!missing.what.contains("boards/mail.md"), "{missing:?}");
    let blind = fixture.bounded(&rights, write("scenes/s.yaml", "another\n"));
    assert!(blind.is_ok(), "whose scene it is, the room says: {blind:?}");
    assert_eq!(fixture.on_disk("boards/mail.md").as_deref(), Some("a secret\n"));
}

#[test]
fn a_folder_is_created_once_with_its_parents_and_never_outside() {
    let mut fixture = FileWorkspace::new(&[]);
    let make = |path: &str| FileOperation::CreateFolder { path: path.into() };
    for is_new in [true, false] {
        let made = fixture.run("ada", make("artifacts/deep/er"));
        assert_eq!(made, Ok(FileAnswer::Folder { path: "artifacts/deep/er".into(), is_new }));
        assert!(fixture.folder.path().join("artifacts/deep/er").is_dir());
    }
    put_outside(&fixture.folder, "artifacts/a.md", "text");
    assert!(fixture.says(make("artifacts/a.md")).contains("a part of it is a file"));
    assert!(fixture.says(make("artifacts/a.md/b")).contains("a part of it is a file"));
    assert!(fixture.says(make("storage/new")).contains("cannot be changed by file tools"));
    assert!(fixture.says(make(".git/hooks")).contains("closed"));
    assert!(fixture.says(make("../out")).contains("must not use '..'"));
    let rights = FileRights { writes: vec![vec!["artifacts/**".into()]], ..FileRights::default() };
    assert!(fixture.bounded(&rights, make("notes/mine")).is_err());
    assert!(!fixture.folder.path().join("notes").exists());
    #[cfg(unix)]
    {
        let outside = tempfile::tempdir().expect("there is room");
        std::os::unix::fs::symlink(outside.path(), fixture.folder.path().join("artifacts/link"))
            .expect("links can be made");
        assert!(fixture.says(make("artifacts/link/in")).contains("links are not followed"));
        assert_eq!(fs::read_dir(outside.path()).expect("it can be read").count(), 0);
    }
}

#[test]
fn no_operation_lets_an_agent_approve_a_waiting_task() {
    let waiting = "- [ ] @ada \"Dig\"\n  id: dig\n  approval_required: true\n";
    let allowed = format!("{waiting}  approved: true\n");
    let mut fixture = FileWorkspace::new(&[
        ("tasks/a.task.md", waiting),
        ("tasks/b.task.md", &allowed),
        ("artifacts/a.md", &allowed),
    ]);
    fixture.run("user", read("tasks/a.task.md")).expect("it should exist");
    let path = || "tasks/a.task.md".to_owned();
    let base = Some(content_hash(waiting.as_bytes()));
    for operation in [
        write("tasks/a.task.md", &allowed),
        write("tasks/a.task.md", "- [ ] @ada \"Dig\"\n  id: dig\n"),
        write("tasks/new.task.md", &allowed),
        edit("tasks/a.task.md", "approval_required: true", "approval_required: false"),
        edit("tasks/b.task.md", "\"Dig\"", "\"Delete\""),
        FileOperation::Append { path: path(), text: "  approved: true\n".into() },
        FileOperation::Save { path: path(), base, content: allowed.clone() },
        FileOperation::Delete { path: path() },
        rename("artifacts/a.md", "tasks/c.task.md"),
        rename("tasks/a.task.md", "artifacts/b.md"),
    ] {
        let refused = fixture.run("ada", operation.clone()).expect_err("only a person allows it");
        assert!(refused.is_refusal, "{operation:?}: {refused:?}");
    }
    assert_eq!(fixture.on_disk("tasks/a.task.md").as_deref(), Some(waiting));
    let skipped = edit("tasks/a.task.md", "[ ]", "[-]");
    assert!(fixture.run("ada", skipped).is_ok(), "it may be given up");
    assert!(fixture.run("user", write("tasks/a.task.md", &allowed)).is_ok());
    let restored = FileOperation::Restore { path: "tasks/a.task.md".into(), version: 1 };
    assert!(fixture.run("ada", restored).is_ok(), "what takes a permission away is no permission");
}
