//! Tests of the graph's data, built from records in order and out of order.

use super::*;
use crate::log::events::{ApprovalDecided, ApprovalRequested, Error, RequestFailed, Signal, UnknownEvent, Warning};
use crate::ui::panes::graph::test_log::TestLog;

fn model_of(log: &TestLog) -> Model {
    let mut model = Model::default();
    assert!(model.apply_events(&log.book, false, u64::MAX));
    model
}

fn agent_named<'a>(model: &'a Model, id: &str) -> &'a AgentNode {
    &model.agents[model.agent(id).unwrap()]
}

/// Returns who started whom, as text.
fn arrows(model: &Model) -> Vec<String> {
    let id = |agent: usize| &model.agents[agent].id;
    model.started.keys().map(|&(from, to)| format!("{}>{}", id(from), id(to))).collect()
}

/// Returns who read and wrote what, as text.
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
fn agents_are_started_by_the_user_and_by_other_agents() {
    let mut log = TestLog::new();
    let lead = ("lead", log.task("lead"));
    let helper = ("helper", log.spawn(lead, "helper", 1));
    log.spawn(helper, "reader", 2);
    let model = model_of(&log);
    assert_eq!(arrows(&model), ["user>lead", "lead>helper", "helper>reader"]);
    let depths: Vec<_> = model.agents.iter().map(|agent| (agent.id.as_str(), agent.depth)).collect();
    assert_eq!(depths, [("user", 0), ("lead", 0), ("helper", 1), ("reader", 2)]);
    assert_eq!(agent_named(&model, "helper").path.as_deref(), Some("agents/helper.md"));
    assert!(model.files.is_empty(), "the arrow to a started agent stands for its file");
}

#[test]
fn an_agent_started_twice_keeps_its_first_parent() {
    let mut log = TestLog::new();
    let lead = ("lead", log.task("lead"));
    let helper = ("helper", log.spawn(lead, "helper", 1));
    log.spawn(lead, "helper", 1);
    log.spawn(helper, "lead", 2);
    log.spawn(helper, "helper", 2);
    let model = model_of(&log);
    assert_eq!(model.agents.len(), 3);
    assert_eq!(model.started[&(1, 2)], 2);
    assert_eq!((agent_named(&model, "lead").parent, agent_named(&model, "helper").parent), (Some(YOU), Some(1)));
    assert_eq!(arrows(&model), ["user>lead", "lead>helper", "helper>lead", "helper>helper"]);
    assert_eq!(agent_named(&model, "helper").pieces, 3);
}

#[test]
fn a_signal_wakes_an_agent_without_starting_it() {
    let mut log = TestLog::new();
    let lead = ("lead", log.task("lead"));
    let helper = ("helper", log.spawn(lead, "helper", 1));
    log.end_work(lead, WorkOutcome::Completed, 0);
    log.work("lead", Activation { by: "helper".into(), signal_of: Some("act-9".into()), ..Activation::default() });
    log.push(Some(helper), None, Signal { to: "lead".into(), ..Signal::default() });
    let model = model_of(&log);
    assert_eq!(arrows(&model), ["user>lead", "lead>helper"]);
    assert_eq!(agent_named(&model, "helper").reports, 1);
    assert_eq!((agent_named(&model, "lead").pieces, agent_named(&model, "lead").status), (2, Status::Queued));
    assert!(!agent_named(&model, "lead").is_finished());
}

#[test]
fn file_reads_and_writes_are_recorded_and_files_belong_to_their_creator() {
    let mut log = TestLog::sample();
    let checker = ("checker", log.task("checker"));
    log.writes(checker, "artifacts/text.md", false);
    log.reads(checker, "memory/old.md");
    // Neither a failed read nor an unanswered one counts.
    let failed = log.call(checker, "vfs_read", &[("file.read", "gone.md")]);
    log.result(checker, "vfs_read", failed, false);
    log.call(checker, "vfs_read", &[("file.read", "slow.md")]);
    let model = model_of(&log);
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
fn the_user_can_rename_delete_and_create_files() {
    let mut log = TestLog::new();
    let ada = ("ada", log.task("ada"));
    log.writes(ada, "a.md", true);
    log.writes(ada, "b.md", true);
    let yours = |path: &str| FileChange::new(path, "user");
    log.push(None, None, FileChange { from: Some("a.md".into()), ..yours("c.md") });
    log.push(None, None, FileChange { gone: true, ..yours("b.md") });
    log.push(None, None, FileChange { new: Some(true), ..yours("yours.md") });
    log.push(None, None, FileChange { from: Some("never seen".into()), ..yours("x.md") });
    let model = model_of(&log);
    let files: Vec<_> = model.files.iter().map(|file| (&*file.path, file.is_deleted, file.home)).collect();
    let wanted = [("c.md", false, Some(1)), ("b.md", true, Some(1)), ("yours.md", false, None), ("x.md", false, None)];
    assert_eq!(files, wanted);
    assert_eq!(model.files[2].creator.as_deref(), Some("user"));
    assert_eq!((model.file("a.md"), model.file("c.md")), (None, Some(0)));
}

#[test]
fn file_reads_are_recognised_for_any_tool_name_and_path_length() {
    let mut log = TestLog::new();
    let ada = ("ada", log.task("ada"));
    let long = format!("artifacts/{}.md", "é".repeat(90));
    log.writes(ada, &long, true);
    let bram = ("bram", log.task("bram"));
    let read = log.call(bram, "docs_open", &[("file.read", &long)]);
    log.result(bram, "docs_open", read, true);
    let edit = log.call(bram, "vfs_edit", &[("file.read", "b.md"), ("file.write", "b.md")]);
    log.result(bram, "vfs_edit", edit, true);
    assert_eq!(flows(&model_of(&log)), [format!("ada>{long}"), format!("bram<{long}")], "an edit is not a read");
}

#[test]
fn status_and_tokens_follow_the_records() {
    let mut log = TestLog::new();
    let ada = ("ada", log.task("ada"));
    let status = |log: &TestLog| model_of(log).agents[1].status;
    assert_eq!(status(&log), Status::Queued);
    log.model_call(ada, (100, 20));
    assert_eq!(status(&log), Status::Thinking);
    let call = log.call(ada, "vfs_delete", &[("file.delete", "a.md")]);
    assert_eq!(status(&log), Status::UsingTool);
    log.push(Some(ada), Some(call), ApprovalRequested::default());
    assert_eq!(status(&log), Status::AsksYou);
    log.push(Some(ada), Some(call), ApprovalDecided::default());
    log.result(ada, "vfs_delete", call, true);
    assert_eq!(status(&log), Status::Thinking);
    log.push(Some(ada), None, Error::Request(RequestFailed { what: "no such model".into(), ..Default::default() }));
    log.push(Some(ada), None, Error::Problem(Warning::new("no YAML").into()));
    assert_eq!(status(&log), Status::Thinking, "a refused request does not end the work");
    for (outcome, wanted) in [
        (WorkOutcome::Completed, Status::Done),
        (WorkOutcome::Failed, Status::Failed),
        (WorkOutcome::Aborted, Status::Aborted),
    ] {
        let again = ("ada", log.task("ada"));
        log.model_call(again, (5, 5));
        log.end_work(again, outcome, 30);
        assert_eq!(status(&log), wanted);
    }
    log.end_work(ada, WorkOutcome::Completed, 120);
    let model = model_of(&log);
    assert_eq!(model.agents[1].tokens, 120 + 3 * 30);
    assert!(model.agents[1].is_finished());
    // A response after the end still counts its tokens, but does not restart the work.
    log.model_call(ada, (1, 1));
    let model = model_of(&log);
    assert_eq!((model.agents[1].tokens, model.agents[1].status), (212, Status::Done));
}

#[test]
fn malformed_unknown_and_missing_records_are_tolerated() {
    let mut log = TestLog::new();
    let deep = ("ada", 7);
    let odd: [fn(EventKind) -> UnknownEvent; 4] = [
        |kind| UnknownEvent::new(kind, None::<u8>),
        |kind| UnknownEvent::new(kind, [1, 2]),
        |kind| UnknownEvent::new(kind, BTreeMap::from([("by", 5)])),
        |kind| UnknownEvent::new(kind, BTreeMap::<u8, u8>::new()),
    ];
    for kind in EventKind::ALL {
        for of in odd {
            log.push(Some(deep), Some(9_999), Event::Unknown(of(kind.clone())));
            log.push(None, None, Event::Unknown(of(kind.clone())));
        }
    }
    // The activation was dropped, and the records that follow from it come in any order.
    let late = Spawn { child: "late".into(), depth: 3, ..Spawn::default() };
    log.push(Some(("lead", 50)), Some(51), late);
    log.result(("late", 51), "vfs_read", 40, true);
    log.push(Some(("odd", 1)), None, Activation::default());
    let model = model_of(&log);
    assert!(arrows(&model).contains(&"lead>late".to_owned()));
    assert_eq!(agent_named(&model, "late").depth, 3);
    assert!(model.files.is_empty());
    assert!(model.agents.iter().all(|agent| agent.parent.is_none_or(|parent| parent < model.agents.len())));
}

#[test]
fn only_the_newest_run_is_shown_unless_all_are_requested() {
    let mut log = TestLog::new();
    log.task("ada");
    log.run = "run-2".into();
    log.task("bram");
    let mut model = Model::default();
    assert!(model.apply_events(&log.book, false, u64::MAX));
    let rebuilds = model.rebuilds();
    assert_eq!((model.agent("ada"), model.agent("bram")), (None, Some(1)));
    assert!(model.apply_events(&log.book, true, u64::MAX));
    assert_eq!((model.agent("ada"), model.agent("bram")), (Some(1), Some(2)));
    assert!(model.rebuilds() > rebuilds);
    log.run = "run-3".into();
    log.task("cleo");
    assert!(model.apply_events(&log.book, false, u64::MAX));
    assert_eq!(model.agents.len(), 2);
    assert!(model.agent("cleo").is_some());
}

#[test]
fn rows_are_processed_once_and_in_batches() {
    let mut log = TestLog::sample();
    let (mut slowly, at_once) = (Model::default(), model_of(&log));
    let mut steps = 0;
    while !slowly.apply_events(&log.book, false, 3) {
        steps += 1;
    }
    assert!(steps > 5);
    assert_eq!(format!("{:?}", slowly.agents), format!("{:?}", at_once.agents));
    let revision = slowly.revision();
    assert!(slowly.apply_events(&log.book, false, 3));
    assert_eq!(slowly.revision(), revision, "nothing is new");
    log.task("cleo");
    assert!(slowly.apply_events(&log.book, false, 3));
    assert!(slowly.revision() > revision && slowly.agent("cleo").is_some());
    let rebuilds = slowly.rebuilds();
    log.book.clear();
    assert!(slowly.apply_events(&log.book, false, 3));
    assert!(slowly.is_empty() && slowly.rebuilds() > rebuilds);
}
