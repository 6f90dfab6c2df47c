//! Tests of the graph's data, built from records in order and out of order.

use super::*;
use crate::log::events::{ApprovalDecided, ApprovalRequested, Error, RequestFailed, Signal, UnknownEvent, Warning};
use crate::ui::panes::graph::test_log::TestLog;

fn taken_in(tale: &TestLog) -> Model {
    let mut model = Model::default();
    assert!(model.apply_events(&tale.book, false, u64::MAX));
    model
}

fn named<'a>(model: &'a Model, id: &str) -> &'a AgentNode {
    &model.agents[model.agent(id).unwrap()]
}

/// Who started whom, in words.
fn arrows(model: &Model) -> Vec<String> {
    let id = |agent: usize| &model.agents[agent].id;
    model.started.keys().map(|&(from, to)| format!("{}>{}", id(from), id(to))).collect()
}

/// Who read and wrote what, in words.
fn flows(model: &Model) -> Vec<String> {
    let of = |node: &AgentNode| {
        let name = |files: &BTreeSet<usize>, sign: &str| -> Vec<String> {
            files.iter().map(|&file| format!("{}{sign}{}", node.id, model.files[file].path)).collect()
        };
        [name(&node.reads, "<"), name(&node.writes, ">")].concat()
    };
    model.agents.iter().flat_map(of).collect()
}

#[test]
fn the_person_starts_agents_and_agents_start_agents() {
    let mut tale = TestLog::new();
    let lead = ("lead", tale.task("lead"));
    let helper = ("helper", tale.spawn(lead, "helper", 1));
    tale.spawn(helper, "reader", 2);
    let model = taken_in(&tale);
    assert_eq!(arrows(&model), ["user>lead", "lead>helper", "helper>reader"]);
    let depths: Vec<_> = model.agents.iter().map(|agent| (agent.id.as_str(), agent.depth)).collect();
    assert_eq!(depths, [("user", 0), ("lead", 0), ("helper", 1), ("reader", 2)]);
    assert_eq!(named(&model, "helper").path.as_deref(), Some("agents/helper.md"));
    assert!(model.files.is_empty(), "the file of a started agent is told by the arrow");
}

#[test]
fn an_agent_that_is_started_twice_is_one_agent_below_whoever_was_first() {
    let mut tale = TestLog::new();
    let lead = ("lead", tale.task("lead"));
    let helper = ("helper", tale.spawn(lead, "helper", 1));
    tale.spawn(lead, "helper", 1);
    tale.spawn(helper, "lead", 2);
    tale.spawn(helper, "helper", 2);
    let model = taken_in(&tale);
    assert_eq!(model.agents.len(), 3);
    assert_eq!(model.started[&(1, 2)], 2);
    assert_eq!((named(&model, "lead").parent, named(&model, "helper").parent), (Some(YOU), Some(1)));
    assert_eq!(arrows(&model), ["user>lead", "lead>helper", "helper>lead", "helper>helper"]);
    assert_eq!(named(&model, "helper").pieces, 3);
}

#[test]
fn whoever_is_woken_by_a_signal_was_not_started_by_who_told() {
    let mut tale = TestLog::new();
    let lead = ("lead", tale.task("lead"));
    let helper = ("helper", tale.spawn(lead, "helper", 1));
    tale.ends(lead, WorkOutcome::Completed, 0);
    tale.work("lead", Activation { by: "helper".into(), signal_of: Some("act-9".into()), ..Activation::default() });
    tale.put(Some(helper), None, Signal { to: "lead".into(), ..Signal::default() });
    let model = taken_in(&tale);
    assert_eq!(arrows(&model), ["user>lead", "lead>helper"]);
    assert_eq!(named(&model, "helper").told, 1);
    assert_eq!((named(&model, "lead").pieces, named(&model, "lead").status), (2, Status::Queued));
    assert!(!named(&model, "lead").is_finished());
}

#[test]
fn files_are_read_and_written_by_whoever_did_so_and_stand_with_their_maker() {
    let mut tale = TestLog::sample();
    let checker = ("checker", tale.task("checker"));
    tale.writes(checker, "artifacts/text.md", false);
    tale.reads(checker, "memory/old.md");
    // A failed read is not a read, and neither is one that was never answered.
    let failed = tale.call(checker, "vfs_read", &[("file.read", "gone.md")]);
    tale.result(checker, "vfs_read", failed, false);
    tale.call(checker, "vfs_read", &[("file.read", "slow.md")]);
    let model = taken_in(&tale);
    let wanted = [
        "finder>artifacts/found.md",
        "writer<artifacts/found.md",
        "writer>artifacts/text.md",
        "checker<artifacts/text.md",
        "checker<memory/old.md",
        "checker>artifacts/text.md",
    ];
    assert_eq!(flows(&model), wanted);
    let home = |path: &str| {
        let file = &model.files[model.file(path).unwrap()];
        (file.creator.as_deref(), file.home.map(|agent| model.agents[agent].id.as_str()))
    };
    assert_eq!(home("artifacts/text.md"), (Some("writer"), Some("writer")));
    assert_eq!(home("memory/old.md"), (None, Some("checker")));
}

#[test]
fn files_are_renamed_deleted_and_changed_by_the_person() {
    let mut tale = TestLog::new();
    let ada = ("ada", tale.task("ada"));
    tale.writes(ada, "a.md", true);
    tale.writes(ada, "b.md", true);
    let yours = |path: &str| FileChange::new(path, "user");
    tale.put(None, None, FileChange { from: Some("a.md".into()), ..yours("c.md") });
    tale.put(None, None, FileChange { gone: true, ..yours("b.md") });
    tale.put(None, None, FileChange { new: Some(true), ..yours("yours.md") });
    tale.put(None, None, FileChange { from: Some("never seen".into()), ..yours("x.md") });
    let model = taken_in(&tale);
    let files: Vec<_> = model.files.iter().map(|file| (&*file.path, file.is_gone, file.home)).collect();
    let wanted = [("c.md", false, Some(1)), ("b.md", true, Some(1)), ("yours.md", false, None), ("x.md", false, None)];
    assert_eq!(files, wanted);
    assert_eq!(model.files[2].creator.as_deref(), Some("user"));
    assert_eq!((model.file("a.md"), model.file("c.md")), (None, Some(0)));
}

#[test]
fn a_file_is_read_whatever_the_tool_is_called_and_however_long_its_path_is() {
    let mut tale = TestLog::new();
    let ada = ("ada", tale.task("ada"));
    let long = format!("artifacts/{}.md", "é".repeat(90));
    tale.writes(ada, &long, true);
    let bram = ("bram", tale.task("bram"));
    let read = tale.call(bram, "docs_open", &[("file.read", &long)]);
    tale.result(bram, "docs_open", read, true);
    let edit = tale.call(bram, "vfs_edit", &[("file.read", "b.md"), ("file.write", "b.md")]);
    tale.result(bram, "vfs_edit", edit, true);
    assert_eq!(flows(&taken_in(&tale)), [format!("ada>{long}"), format!("bram<{long}")], "an edit is no reading");
}

#[test]
fn status_and_tokens_follow_the_records() {
    let mut tale = TestLog::new();
    let ada = ("ada", tale.task("ada"));
    let status = |tale: &TestLog| taken_in(tale).agents[1].status;
    assert_eq!(status(&tale), Status::Queued);
    tale.asks(ada, (100, 20));
    assert_eq!(status(&tale), Status::Thinking);
    let call = tale.call(ada, "vfs_delete", &[("file.delete", "a.md")]);
    assert_eq!(status(&tale), Status::UsingTool);
    tale.put(Some(ada), Some(call), ApprovalRequested::default());
    assert_eq!(status(&tale), Status::AsksYou);
    tale.put(Some(ada), Some(call), ApprovalDecided::default());
    tale.result(ada, "vfs_delete", call, true);
    assert_eq!(status(&tale), Status::Thinking);
    tale.put(Some(ada), None, Error::Request(RequestFailed { what: "no such model".into(), ..Default::default() }));
    tale.put(Some(ada), None, Error::Problem(Warning::new("no YAML").into()));
    assert_eq!(status(&tale), Status::Thinking, "a request that is refused is not the end of the work");
    for (outcome, wanted) in [
        (WorkOutcome::Completed, Status::Done),
        (WorkOutcome::Failed, Status::Failed),
        (WorkOutcome::Aborted, Status::Aborted),
    ] {
        let again = ("ada", tale.task("ada"));
        tale.asks(again, (5, 5));
        tale.ends(again, outcome, 30);
        assert_eq!(status(&tale), wanted);
    }
    tale.ends(ada, WorkOutcome::Completed, 120);
    let model = taken_in(&tale);
    assert_eq!(model.agents[1].tokens, 120 + 3 * 30);
    assert!(model.agents[1].is_finished());
    // An answer that comes after the end was paid for nevertheless, and begins nothing.
    tale.asks(ada, (1, 1));
    let model = taken_in(&tale);
    assert_eq!((model.agents[1].tokens, model.agents[1].status), (212, Status::Done));
}

#[test]
fn broken_strange_and_missing_records_are_no_trouble() {
    let mut tale = TestLog::new();
    let deep = ("ada", 7);
    let odd: [fn(EventKind) -> UnknownEvent; 4] = [
        |kind| UnknownEvent::new(kind, None::<u8>),
        |kind| UnknownEvent::new(kind, [1, 2]),
        |kind| UnknownEvent::new(kind, BTreeMap::from([("by", 5)])),
        |kind| UnknownEvent::new(kind, BTreeMap::<u8, u8>::new()),
    ];
    for kind in EventKind::ALL {
        for of in odd {
            tale.put(Some(deep), Some(9_999), Event::Unknown(of(kind.clone())));
            tale.put(None, None, Event::Unknown(of(kind.clone())));
        }
    }
    // The work itself was dropped, and what follows from it comes in any order.
    let late = Spawn { child: "late".into(), depth: 3, ..Spawn::default() };
    tale.put(Some(("lead", 50)), Some(51), late);
    tale.result(("late", 51), "vfs_read", 40, true);
    tale.put(Some(("odd", 1)), None, Activation::default());
    let model = taken_in(&tale);
    assert!(arrows(&model).contains(&"lead>late".to_owned()));
    assert_eq!(named(&model, "late").depth, 3);
    assert!(model.files.is_empty());
    assert!(model.agents.iter().all(|agent| agent.parent.is_none_or(|parent| parent < model.agents.len())));
}

#[test]
fn only_the_newest_run_is_shown_unless_everything_is_wanted() {
    let mut tale = TestLog::new();
    tale.task("ada");
    tale.run = "run-2".into();
    tale.task("bram");
    let mut model = Model::default();
    assert!(model.apply_events(&tale.book, false, u64::MAX));
    let beginnings = model.beginnings();
    assert_eq!((model.agent("ada"), model.agent("bram")), (None, Some(1)));
    assert!(model.apply_events(&tale.book, true, u64::MAX));
    assert_eq!((model.agent("ada"), model.agent("bram")), (Some(1), Some(2)));
    assert!(model.beginnings() > beginnings);
    tale.run = "run-3".into();
    tale.task("cleo");
    assert!(model.apply_events(&tale.book, false, u64::MAX));
    assert_eq!(model.agents.len(), 2);
    assert!(model.agent("cleo").is_some());
}

#[test]
fn rows_are_taken_in_once_and_a_few_at_a_time() {
    let mut tale = TestLog::sample();
    let (mut slowly, at_once) = (Model::default(), taken_in(&tale));
    let mut steps = 0;
    while !slowly.apply_events(&tale.book, false, 3) {
        steps += 1;
    }
    assert!(steps > 5);
    assert_eq!(format!("{:?}", slowly.agents), format!("{:?}", at_once.agents));
    let revision = slowly.revision();
    assert!(slowly.apply_events(&tale.book, false, 3));
    assert_eq!(slowly.revision(), revision, "nothing is new");
    tale.task("cleo");
    assert!(slowly.apply_events(&tale.book, false, 3));
    assert!(slowly.revision() > revision && slowly.agent("cleo").is_some());
    let beginnings = slowly.beginnings();
    tale.book.clear();
    assert!(slowly.apply_events(&tale.book, false, 3));
    assert!(slowly.is_empty() && slowly.beginnings() > beginnings);
}
