//! Session files that both the room and a person write: nothing that either wrote is lost.

use std::collections::BTreeMap;
use std::time::Duration;

use super::super::executor::tests::{FileWorkspace, put_outside, restore};
use super::super::order::FileOperation;
use super::super::room_files::RoomFiles;
use super::*;
use crate::workspace::session_files::own_checksum::sealed;

const PATH: &str = "sessions/ada.act-1.session.yaml";
const COPY: &str = "sessions/ada.act-1.room-copy.yaml";

fn session(words: &[&str]) -> String {
    let role = |at: usize| if at.is_multiple_of(2) { "user" } else { "assistant" };
    let list = words.iter().enumerate().map(|(at, words)| format!("  - role: {}\n    content: {words}\n", role(at)));
    sealed(format!(
        "session_id: ada.act-1\nagent_id: ada\nstatus: active\nmetadata:\n  work: running\n  messages: {}\n  checksum: \
         h0000000000000000\nmessages:\n{}",
        words.len(),
        list.collect::<String>()
    ))
}

fn fixture() -> FileWorkspace {
    let mut fixture = FileWorkspace::new(&[]);
    fixture.files.room = Some(RoomFiles::new(fixture.folder.path(), &BTreeMap::new(), true));
    fixture
}

fn record(fixture: &mut FileWorkspace, content: &str, over: Option<u64>) -> String {
    let operation = FileOperation::Record { path: PATH.into(), content: content.into(), over };
    match fixture.run("ada", operation) {
        Ok(FileAnswer::Changed { done: FileResult::Written { path, .. }, .. }) => path,
        other => panic!("it was not written: {other:?}"),
    }
}

/// Returns the reports to the room about session files: their texts, and the room's last texts.
fn reported_records(fixture: &FileWorkspace) -> Vec<(FileContent, Option<String>)> {
    let news = fixture.files.news.take(usize::MAX).into_iter();
    let records = news.filter_map(|news| match news {
        ServiceEvent::Record(RecordChanged { path, content, ours }) => {
            assert_eq!(path, PATH);
            Some((content, ours))
        }
        _ => None,
    });
    records.collect()
}

/// Polls until the result has been the same for long enough.
fn look(fixture: &mut FileWorkspace) {
    let start = Instant::now();
    fixture.files.examine(PATH);
    while start.elapsed() < SETTLE + Duration::from_millis(50) {
        fixture.files.recheck_unsettled();
        std::thread::yield_now();
    }
}

#[test]
fn the_rooms_writes_are_not_reported_and_a_persons_once() {
    let mut fixture = fixture();
    let first = session(&["Look"]);
    assert_eq!(record(&mut fixture, &first, None), PATH);
    look(&mut fixture);
    assert_eq!(reported_records(&fixture), []);
    let theirs = first.clone() + "  - role: user\n    content: And?\n";
    put_outside(&fixture.folder, PATH, &theirs);
    // Half a second may pass between two parts of a save: it is not reported before the file has been stable for a
    // moment.
    fixture.files.examine(PATH);
    assert_eq!(reported_records(&fixture), []);
    look(&mut fixture);
    assert_eq!(reported_records(&fixture), [(FileContent::Text(theirs.clone()), Some(first))]);
    look(&mut fixture);
    assert_eq!(reported_records(&fixture), []);
}

#[test]
fn unreported_texts_are_not_overwritten() {
    let mut fixture = fixture();
    let first = session(&["Look"]);
    record(&mut fixture, &first, None);
    let theirs = first.clone() + "  - role: user # mine\n    content: And?\n";
    put_outside(&fixture.folder, PATH, &theirs);
    let second = session(&["Look", "I look"]);
    assert_eq!(record(&mut fixture, &second, None), COPY);
    assert_eq!((fixture.on_disk(PATH).as_ref(), fixture.on_disk(COPY).as_ref()), (Some(&theirs), Some(&second)));
    assert_eq!(reported_records(&fixture).len(), 1, "it is reported at once");
    // The room has read it, and continues writing in it.
    let third = session(&["Look", "I look", "And?"]);
    assert_eq!(record(&mut fixture, &third, Some(content_hash(theirs.as_bytes()))), PATH);
    let text = fixture.on_disk(PATH).expect("it should exist");
    assert!(
        text.contains("  - role: user # mine\n    content: And?\n") && text.contains("content: I look\n"),
        "{text}"
    );
    assert!(is_own(&text) && fixture.on_disk(COPY).is_none(), "the copy is not needed any more");
    let fourth = session(&["Look", "I look", "And?", "Well"]);
    assert_eq!(record(&mut fixture, &fourth, None), PATH);
    assert!(fixture.on_disk(PATH).is_some_and(|text| text.contains("# mine") && text.ends_with("content: Well\n")));
    // A file that is not text is left alone, too.
    std::fs::write(fixture.folder.path().join(PATH), [0xff, 0xfe]).expect("it can be written");
    assert_eq!(record(&mut fixture, &fourth, None), COPY);
    assert!(matches!(reported_records(&fixture).as_slice(), [(FileContent::Unusable { .. }, _)]));
}

#[test]
fn the_rooms_own_text_is_recognised_after_a_restart() {
    let mut fixture = fixture();
    let older = "activation: act-1\nagent: ada\nstatus: running\nmessages:\n- by: room\n  text: x\n";
    for (there, place) in
        [(session(&["Look"]), PATH), (session(&["Look"]) + "# mine\n", COPY), (older.to_owned(), PATH)]
    {
        put_outside(&fixture.folder, PATH, &there);
        fixture = fixture.reopen();
        fixture.files.room = Some(RoomFiles::new(fixture.folder.path(), &BTreeMap::new(), true));
        assert_eq!(record(&mut fixture, &session(&["Look", "I look"]), None), place, "{there}");
    }
}

#[test]
fn a_replaced_text_is_a_version_that_a_person_can_restore() {
    let mut fixture = fixture();
    let first = session(&["Look", "I look"]);
    record(&mut fixture, &first, None);
    let keep = || FileOperation::KeepRecord { path: PATH.into() };
    let kept = Ok(FileAnswer::Unchanged { path: PATH.into(), version: 1 });
    assert_eq!(fixture.run("room", keep()), kept);
    assert_eq!(fixture.run("room", keep()), kept, "the same text is kept once");
    let second = session(&["Begin anew"]);
    record(&mut fixture, &second, None);
    assert!(fixture.run("ada", restore(PATH, 1)).is_err_and(|refused| refused.is_refusal), "only a person does");
    fixture.run("user", restore(PATH, 1)).expect("it should be kept");
    assert_eq!(fixture.on_disk(PATH), Some(first.clone()));
    assert_eq!(reported_records(&fixture), [(FileContent::Text(first.clone()), None)]);
    let save = |base: &str, content: &str| FileOperation::Save {
        path: PATH.into(),
        base: Some(content_hash(base.as_bytes())),
        content: content.into(),
    };
    let added = first.clone() + "  - role: user\n    content: And?\n";
    assert!(fixture.run("ada", save(&first, &added)).is_err_and(|refused| refused.is_refusal));
    assert!(
        fixture
            .run("user", save(&second, &added))
            .is_err_and(|failure| failure.what.contains("changed in the meantime"))
    );
    fixture.run("user", save(&first, &added)).expect("it is as it was");
    assert_eq!(reported_records(&fixture), [(FileContent::Text(added), None)]);
    let texts: Vec<String> = fixture.history(PATH).into_iter().map(|(_, _, text)| text).collect();
    assert_eq!(texts, [first, second]);
}
