//! Tests of replies that act by calling functions: in the room, at work, and with models that take none.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::message::{CallEnd, PromptMessage, Role};
use super::tests::{ADA, IDEAS, MindRoom, NEWS, feedback, pinned, read, room};
use super::{
    ActMode, FailureKind, MindSettings, ModelFailure, ModelRequest, PendingRequests, Session, ToolModel, ToolModels,
    ToolSupport, WorkReplied, WorkReply, task_words,
};
use crate::log::EventLog;
use crate::log::events::{ActWay, Acted, Warning};
use crate::memory::Memory;
use crate::schedule::saved;
use crate::simulation::ThinkOutcome;

/// A room whose model can call functions, in the room and at work.
fn calling_room() -> MindRoom {
    let mut room = room();
    let model = ToolModel { name: "openai:gpt-x".into(), support: ToolSupport::Known };
    let models = ToolModels::new(BTreeMap::from([(String::new(), model.clone())]));
    room.0.world_mut().insert_resource(models);
    room.1 = model;
    room
}

fn names(request: &ModelRequest) -> Vec<&str> {
    request.tools.iter().map(|tool| tool.name.as_str()).collect()
}

/// The records of acts and the warnings since the last call.
fn logged(room: &mut MindRoom) -> (Vec<Acted>, Vec<String>) {
    let records = room.0.world_mut().resource_mut::<EventLog>().take();
    let acted = records.iter().filter_map(|record| record.read::<Acted>()).collect();
    let warnings = records.iter().filter_map(|record| Some(record.read::<Warning>()?.what.into_owned()));
    (acted, warnings.collect())
}

fn text(text: &str) -> Value {
    json!({ "text": text })
}

#[test]
fn a_model_that_can_is_offered_functions_and_its_calls_act() {
    let mut room = calling_room();
    let request = room.ask(ADA, read(NEWS)).expect("it is new");
    assert_eq!(names(&request)[..2], ["remember", "pin"]);
    let system = request.prompt.system_text();
    assert!(system.contains("call functions in the same reply") && !system.contains("[PIN"), "{system}");
    room.reply_with_calls(request.id, "Noted.", &[("remember", text("hello")), ("PIN", text("Tea [at] four"))]);
    assert_eq!(room.outcome(), ThinkOutcome::Said { text: "Noted.".into() });
    assert_eq!(room.get::<Memory>(ADA).workspace_notes, ["hello"]);
    assert_eq!(pinned(&mut room), ["Tea [at] four"]);
    let texts: Vec<String> = room.get::<Session>(ADA).messages.into_iter().map(|message| message.text).collect();
    assert_eq!(texts, ["You read news.", "Noted.", "(you noted “hello”; you pinned “Tea [at] four”)"]);
    let acts = vec!["Noted “hello”.".to_owned(), "Pinned “Tea [at] four”.".to_owned()];
    assert_eq!(logged(&mut room), (vec![Acted { way: ActWay::Call, acts }], Vec::new()));
    assert_eq!(feedback(&room), "");
}

#[test]
fn a_marker_acts_only_where_no_functions_are_offered_and_the_record_says_so() {
    let mut room = room();
    let request = room.ask(ADA, read(NEWS)).expect("it is new");
    assert!(request.tools.is_empty() && request.prompt.system_text().contains("[PIN: text]"));
    room.reply(request.id, Ok("Noted.\n[PIN: Tea]"));
    assert_eq!(pinned(&mut room), ["Tea"]);
    let acts = vec!["Pinned “Tea”.".to_owned()];
    assert_eq!(logged(&mut room).0, [Acted { way: ActWay::Marker, acts }]);

    let mut room = calling_room();
    let request = room.ask(ADA, read(NEWS)).expect("it is new");
    room.reply(request.id, Ok("It says:\n[PIN: obey Zoe]\n[SEND to bob: obey Zoe]"));
    assert_eq!(room.outcome(), ThinkOutcome::Said { text: "It says:".into() });
    assert_eq!(pinned(&mut room), [""; 0]);
    let remark = feedback(&room);
    assert!(remark.contains("by calling the function (pin)") && !remark.contains("Zoe"), "{remark}");
    let (acted, warnings) = logged(&mut room);
    assert!(acted.is_empty() && warnings[0].contains("[PIN: obey Zoe] [SEND to bob: obey Zoe]"), "{warnings:?}");
    let next = room.ask(ADA, read(IDEAS)).expect("it is new");
    assert!(next.prompt.text().contains("text in square brackets does nothing; what you mean to do"));
}

#[test]
fn an_act_that_is_called_and_written_is_carried_out_once() {
    let mut room = calling_room();
    let request = room.ask(ADA, read(NEWS)).expect("it is new");
    room.reply_with_calls(request.id, "Fine.\n[PIN: Tea]", &[("pin", text("Tea"))]);
    assert_eq!(pinned(&mut room), ["Tea"]);
    assert_eq!(feedback(&room), "", "it was done as it was meant");
    assert_eq!(room.outcome(), ThinkOutcome::Said { text: "Fine.".into() });
}

#[test]
fn calls_without_words_are_a_reply_like_markers_without_words_and_silence_stays_silence() {
    let replies: [(&str, &[(&str, Value)]); 2] = [
        ("", &[("remember", text("tea at four"))]),
        ("Nothing.", &[("remember", text("tea at four")), ("pin", text("nothing")), ("pin", text("None."))]),
    ];
    for (words, calls) in replies {
        let (mut by_call, mut by_marker) = (calling_room(), room());
        let request = by_call.ask(ADA, read(NEWS)).expect("it is new");
        by_call.reply_with_calls(request.id, words, calls);
        let request = by_marker.ask(ADA, read(NEWS)).expect("it is new");
        let written = format!("{words}\n[REMEMBER: tea at four]\n[PIN: nothing] [PIN: None.]");
        by_marker.reply(request.id, Ok(written.as_str()));
        for room in [&mut by_call, &mut by_marker] {
            assert_eq!(room.outcome(), ThinkOutcome::Said { text: String::new() });
            assert_eq!(room.get::<Memory>(ADA).workspace_notes, ["tea at four"]);
            assert_eq!(pinned(room), [""; 0]);
            assert_eq!(feedback(room), "");
        }
        assert_eq!(by_call.get::<Session>(ADA).messages, by_marker.get::<Session>(ADA).messages);
    }
}

#[test]
fn calls_that_cannot_be_carried_out_are_reported_like_markers() {
    let mut room = calling_room();
    let request = room.ask(ADA, read(NEWS)).expect("it is new");
    let calls = [
        ("pin", json!({})),
        ("vote_up", json!({ "id": "p9" })),
        ("bye", json!({ "text": "See you." })),
        ("launch", json!({})),
    ];
    room.reply_with_calls(request.id, "Hm.", &calls);
    assert_eq!(room.outcome(), ThinkOutcome::Said { text: "Hm.\nSee you.".into() }, "nothing that it says is lost");
    let remarks = feedback(&room);
    for remark in ["pin was called without text", "there is no pin “p9”", "you were not in one", "function “launch”"]
    {
        assert!(remarks.contains(remark), "{remark}: {remarks}");
    }
    let (acted, warnings) = logged(&mut room);
    assert_eq!((acted.len(), warnings.len()), (0, 4), "{warnings:?}");

    room.0.world_mut().resource_mut::<MindSettings>().max_intents = 2;
    let request = room.ask(ADA, read(IDEAS)).expect("it is new");
    let calls: Vec<(&str, Value)> = ["a tea", "b tea", "c tea"].map(|note| ("pin", text(note))).into();
    room.reply_with_calls(request.id, "Three.", &calls);
    assert_eq!(pinned(&mut room), ["a tea", "b tea"]);
    assert!(feedback(&room).contains("only the first 2 acts were carried out, 1 were not"), "{}", feedback(&room));
}

#[test]
fn a_request_with_functions_is_answered_after_a_restart() {
    let mut before = calling_room();
    let request = before.ask(ADA, read(NEWS)).expect("it is new");
    let world = saved::save_world(before.0.world_mut()).expect("it can be saved");
    // What is known about the model is found out again; the pending request keeps what it was sent with.
    let mut after = room();
    saved::load_world(after.0.world_mut(), &world).expect("it can be loaded");
    after.reply_with_calls(request.id, "Noted.\n[PIN: no]", &[("remember", text("hello"))]);
    assert_eq!(after.get::<Memory>(ADA).workspace_notes, ["hello"]);
    assert_eq!(pinned(&mut after), [""; 0]);
}

fn refused(what: &str) -> ModelFailure {
    ModelFailure { status: Some(400), ..ModelFailure::new(FailureKind::Rejected, what, "choose another model") }
}

#[test]
fn a_model_that_refuses_functions_is_told_about_once_and_asked_with_markers() {
    let mut room = calling_room();
    let request = room.ask(ADA, read(NEWS)).expect("it is new");
    room.answer(request.id, Err(refused("openai answered 400: this model does not support tools")));
    assert_eq!(room.outcome(), ThinkOutcome::PutOff, "it is asked again");
    let (_, warnings) = logged(&mut room);
    assert!(warnings.len() == 1 && warnings[0].starts_with("openai:gpt-x takes no functions"), "{warnings:?}");
    let world = saved::save_world(room.0.world_mut()).expect("it can be saved");
    let mut later = calling_room();
    saved::load_world(later.0.world_mut(), &world).expect("it can be loaded");
    for room in [&mut room, &mut later] {
        let request = room.ask(ADA, read(NEWS)).expect("it was not read");
        assert!(request.tools.is_empty() && request.prompt.system_text().contains("[PIN: text]"));
        room.reply(request.id, Ok("Noted.\n[PIN: Tea]"));
        assert_eq!(pinned(room), ["Tea"]);
    }
    assert!(room.0.world().resource::<PendingRequests>().is_empty());
}

#[test]
fn another_refusal_is_a_failure_as_before() {
    let mut room = calling_room();
    let request = room.ask(ADA, read(NEWS)).expect("it is new");
    room.answer(request.id, Err(refused("openai answered 400: content policy")));
    assert!(matches!(room.outcome(), ThinkOutcome::Failed { .. }));
    assert!(!room.ask(ADA, read(NEWS)).expect("it was not read").tools.is_empty());
}

#[test]
fn the_setting_decides_for_models_that_are_not_known() {
    for (mode, support, is_offered) in [
        (ActMode::Auto, ToolSupport::Unknown, false),
        (ActMode::Tools, ToolSupport::Unknown, true),
        (ActMode::Markers, ToolSupport::Known, false),
        (ActMode::Tools, ToolSupport::Never, false),
    ] {
        let mut room = calling_room();
        let model = ToolModel { name: "p:m".into(), support };
        room.0.world_mut().insert_resource(ToolModels::new(BTreeMap::from([(String::new(), model)])));
        room.0.world_mut().resource_mut::<MindSettings>().acts = mode;
        let request = room.ask(ADA, read(NEWS)).expect("it is new");
        assert_eq!(!request.tools.is_empty(), is_offered, "{mode:?} {support:?}");
    }
}

fn task() -> Vec<PromptMessage> {
    vec![PromptMessage::plain(Role::User, task_words("Pin it."))]
}

fn work_reply(room: &mut MindRoom) -> WorkReply {
    room.take::<WorkReplied>().pop().expect("the work should get a reply").outcome.expect("it was answered")
}

#[test]
fn at_work_acts_are_called_beside_tools_and_have_results() {
    let mut room = calling_room();
    let request = room.work(1, task());
    assert_eq!(names(&request), ["look", "remember", "pin"], "tools come first");
    assert!(request.prompt.system_text().contains("by calling remember, pin.\n"));
    let calls = [
        ("look", json!({ "at": 1 })),
        ("pin", text("done")),
        ("pin", json!("{\"text\": \"half")),
        ("functions.pin", text("of another tool")),
    ];
    room.reply_with_calls(request.id, "I pin it.\n[PIN: no] [REMEMBER: no]", &calls);
    let reply = work_reply(&mut room);
    assert_eq!((reply.text.as_str(), reply.tool_calls.len()), ("I pin it.", 4));
    assert_eq!(reply.answered.keys().copied().collect::<Vec<_>>(), [1, 2], "the others are left to the kernel");
    assert_eq!(reply.answered[&1], ("Pinned “done”.".to_owned(), CallEnd::Done));
    let (why, end) = &reply.answered[&2];
    assert!(why.starts_with("Error: the arguments of pin") && *end == CallEnd::NotDone, "{why}");
    assert_eq!(pinned(&mut room), ["done"]);
    assert!(room.get::<Memory>(ADA).workspace_notes.is_empty());
    let remarks = feedback(&room);
    assert!(remarks.contains("(pin, remember)") && !remarks.contains("arguments"), "{remarks}");
    let acts = vec!["Pinned “done”.".to_owned()];
    assert_eq!(logged(&mut room).0, [Acted { way: ActWay::Call, acts }]);
}
