//! Tests of session files and their heads in this and older versions.

use super::*;

#[test]
fn files_of_older_versions_can_be_read_and_continued_in_another_file() {
    let text = "activation: act-12\nagent: ada\nscene: scenes/a.yaml\nstatus: running\ntask: Write it.\nmessages: []\n";
    let head = SessionHead::read(text).expect("it should be valid");
    assert_eq!(head.key(), Some(ActivationKey::numbered(12)));
    assert!(head.holds("act-12") && !head.holds("act-1"));
    let continued = continued(text, "sessions/ada.act-7.session.yaml");
    let head = SessionHead::read(&continued).expect("it still is one");
    assert_eq!(head.status, "continued");
    assert!(continued.contains("why: it continues in sessions/ada.act-7.session.yaml\n"), "{continued}");
    let newer = SessionHead::read("activation: act-12\nearlier: [act-7]\nagent: ada\nstatus: running\n");
    assert!(newer.is_some_and(|head| head.holds("act-7") && head.holds("act-12")));
}

#[test]
fn the_head_of_a_session_is_parsed_and_can_be_marked_as_dropped() {
    let text = "activation: act-7\nagent: ada\nprofile: ada\nscene: scenes/a.yaml\nstatus: waiting\nwhy: 'a: b'\n\
                task: |-\n  Write it.\n  status: running\nstarted_by: user\nmessages:\n- by: room\n  text: 'status: x'\n";
    let head = SessionHead::read(text).expect("it should be valid");
    assert_eq!((head.activation.as_str(), head.scene.as_str()), ("act-7", "scenes/a.yaml"));
    assert_eq!((head.status.as_str(), head.task.as_str()), ("waiting", "Write it.\nstatus: running"));
    let marked = dropped(text, "it: is gone");
    let head = SessionHead::read(&marked).expect("it still is one");
    assert_eq!((head.status.as_str(), head.task.as_str()), (DROPPED, "Write it.\nstatus: running"));
    assert!(marked.contains("why: 'it: is gone'\n") && !marked.contains("a: b"), "{marked}");
    assert!(marked.ends_with("messages:\n- by: room\n  text: 'status: x'\n"), "{marked}");
    assert_eq!(SessionHead::read("notes of mine"), None);
}

#[test]
fn a_session_is_written_for_people_and_its_head_can_be_parsed_again() {
    use super::super::activation::Origin;
    use super::super::tests::Bench;
    use crate::workspace::session_files::own_checksum::is_own;

    let mut bench = Bench::new();
    let key = bench.start("ada", "Write it.\nstatus: no");
    bench.kernel.note_messages(30, Some(1_795_356_309));
    let about = SessionAbout {
        scene: "scenes/a.yaml",
        role: Some("planner"),
        model: Some("fast"),
        system_prompt: "You plan.\n\nAnd: more.\n",
        now_secs: Some(1_795_356_310),
    };
    let one = bench.kernel.activation(key).expect("it should continue").clone();
    assert_eq!(one.origin, Origin::Person);
    let text = to_yaml(&about, &SessionWork::of(&one, None, None, false), bench.kernel.thread(key));
    let wanted = "session_id: ada.act-2\nagent_id: ada\nagent_type: planner\nmodel: fast\nsystem_prompt: |\n  You plan.\n\n  \
                  And: more.\ncreated: 2026-11-22T14:05:09\nupdated: 2026-11-22T14:05:09\nstatus: active\nmetadata:\n  \
                  work: running\n  activation: act-2\n  thread: act-2\n";
    assert!(text.starts_with(wanted) && is_own(&text), "{text}");
    assert!(
        text.contains("messages:\n  - timestamp: 2026-11-22T14:05:09\n    role: user\n    content: |-\n      "),
        "{text}"
    );
    let head = SessionHead::read(&text).expect("it should be valid");
    assert_eq!((head.agent.as_str(), head.status.as_str(), head.key()), ("ada", "running", Some(key)));
    assert_eq!((head.scene.as_str(), head.task.as_str()), ("scenes/a.yaml", "Write it.\nstatus: no"));
    let marked = dropped(&text, "it: is gone");
    let head = SessionHead::read(&marked).expect("it still is one");
    assert_eq!((head.status.as_str(), is_own(&marked)), (DROPPED, true), "{marked}");
    assert!(marked.contains("\nstatus: error\n"), "{marked}");
    let person = Ending::Aborted { why: "a person stopped it".into(), by_person: true };
    let words = [
        (Ending::Completed { text: "x".into() }, false, "completed"),
        (Ending::Completed { text: "x".into() }, true, "sleeping"),
        (Ending::Failed { why: "x".into() }, true, "error"),
        (Ending::Aborted { why: "x".into(), by_person: false }, false, "error"),
        (person, false, "sleeping"),
    ];
    for (ending, sleeps, status) in words {
        let text = to_yaml(&about, &SessionWork::of(&one, None, Some(&ending), sleeps), None);
        assert!(text.contains(&format!("\nstatus: {status}\n")), "{ending:?}: {text}");
    }
}
