//! Tests of the mind in a room without other layers: its requests, and the effects of replies.

use std::any::Any;

use bevy::app::App;
use bevy::ecs::message::{Message, Messages};
use bevy::ecs::prelude::*;
use bevy::math::Vec2;
use serde_json::{Map, Value, json};

use super::*;
use crate::agent::{Agent, Roster};
use crate::base::{ActivationKey, AgentKey, Author, Behaviour, ConversationKey, ElementKey, RequestId, Seq};
use crate::element::{
    Content, Element, ElementAct, ElementChange, Elements, HeldContent, Mail, MailAct, MailStatus, Pin, PinAct,
};
use crate::log::EventLog;
use crate::log::events::Warning;
use crate::memory::Memory;
use crate::schedule::{self, InputQueue, advance, saved, ticks};
use crate::simulation::{ActivityId, Conversations, FailureCause, Think, ThinkOutcome, Urgency};

/// The content of an element in these tests: real content with a fixed text.
#[derive(Debug)]
struct Plain(Box<dyn Content>, &'static str);

impl Content for Plain {
    fn to_scene(&self) -> Map<String, Value> {
        self.0.to_scene()
    }
    fn to_markdown(&self) -> String {
        self.1.into()
    }
    fn acts_to(&self, _newer: &dyn Content) -> Vec<ElementAct> {
        Vec::new()
    }
    fn apply(
        &mut self,
        _act: &ElementAct,
        _context: &crate::element::ActContext<'_>,
    ) -> Result<Vec<ElementChange>, String> {
        Ok(Vec::new())
    }
    fn prompt_text(&self, _reader: &crate::element::Reader) -> String {
        self.1.into()
    }
    fn summary(&self, _reader: &crate::element::Reader, _max_chars: usize) -> String {
        self.1.into()
    }
    fn pins(&self) -> Option<&[Pin]> {
        self.0.pins()
    }
    fn mail(&self) -> Option<(&[Mail], &[Mail])> {
        self.0.mail()
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
    fn boxed_clone(&self) -> Box<dyn Content> {
        Box::new(Self(self.0.boxed_clone(), self.1))
    }
}

/// The app, and the model that works, as far as calls of functions are concerned.
pub(super) struct MindRoom(pub(super) App, pub(super) ToolModel);

pub(super) const ADA: AgentKey = AgentKey(0);
pub(super) const NEWS: ElementKey = ElementKey(1);
pub(super) const MAIL: ElementKey = ElementKey(2);
pub(super) const IDEAS: ElementKey = ElementKey(3);

/// The remarks that Ada gets with her next prompt.
pub(super) fn feedback(room: &MindRoom) -> String {
    room.get::<Feedback>(ADA).lines().join("\n")
}

/// The texts that were pinned since the last call.
pub(super) fn pinned(room: &mut MindRoom) -> Vec<String> {
    let edits = room.take::<ElementEdit>().into_iter();
    edits
        .filter_map(|edit| match edit.act.read() {
            Some(PinAct::AddPin { text, .. }) => Some(text),
            _ => None,
        })
        .collect()
}

/// Ada and Bob, a rulebook, a message board, Ada's inbox and a pinboard.
pub(super) fn room() -> MindRoom {
    let mut app = App::new();
    app.add_plugins(schedule::plugin);
    app.init_resource::<Roster>().init_resource::<Elements>().init_resource::<EventLog>();
    app.init_resource::<Conversations>();
    app.add_plugins((crate::memory::plugin, super::plugin));
    let mut room = MindRoom(app, ToolModel::default());
    room.agent("ada");
    room.agent("bob");
    room.element("rules", "rulebook", (json!({ "text": "Be kind." }), "Be kind."));
    room.element("news", "messageboard", (json!({ "text": "Hello." }), "Hello."));
    let item = json!({ "id": "m1", "from": "bob", "to": "ada", "subject": "Hi", "text": "Hi Ada", "status": "open" });
    room.element("mail", "inbox", (json!({ "items": [item] }), "m1"));
    room.element("ideas", "pinboard", (json!({ "pins": [{ "id": "p1", "text": "Tea" }] }), "p1"));
    room
}

impl MindRoom {
    pub(super) fn agent(&mut self, id: &str) {
        let world = self.0.world_mut();
        let key = world.resource::<Roster>().next_key();
        let (start, start_behaviour) = (Vec2::ZERO, Behaviour::Wander);
        let agent =
            Agent { key, id: id.into(), profile: "p".into(), name: id.into(), start, start_behaviour, added: Seq(1) };
        let entity = world.spawn(agent).id();
        world.resource_mut::<Roster>().insert(key, id.into(), entity);
        world.flush();
    }

    fn element(&mut self, id: &str, kind: &str, (keys, text): (Value, &'static str)) {
        let read = crate::element::kinds::kind(kind).expect("it is one of the house").from_scene;
        let content = Plain(read(keys.as_object().expect("a map"), "here").0, text);
        let world = self.0.world_mut();
        let key = world.resource::<Elements>().next_key();
        let element = Element {
            key,
            id: id.into(),
            kind: kind.into(),
            label: id.into(),
            position: Vec2::ZERO,
            owner: (kind == "inbox").then(|| "ada".into()),
            file: None,
            version: 0,
        };
        let entity = world.spawn((element, HeldContent(Box::new(content)))).id();
        world.resource_mut::<Elements>().insert(key, id.into(), entity);
    }

    pub(super) fn get<C: Component + Clone>(&self, agent: AgentKey) -> C {
        let entity = self.0.world().resource::<Roster>().entity(agent).expect("it should exist");
        self.0.world().get::<C>(entity).expect("everyone has one").clone()
    }

    pub(super) fn due(&mut self, agent: AgentKey, activity: u32, think: Think) {
        let due = ThinkDue { agent, activity: ActivityId(activity), think, urgency: Urgency::Read, cause: Seq(3) };
        self.0.world_mut().resource_mut::<Messages<ThinkDue>>().write(due);
    }

    pub(super) fn tick(&mut self) {
        advance(self.0.world_mut());
    }

    /// Takes the messages of the last tick and of earlier ones not taken yet.
    pub(super) fn take<M: Message>(&mut self) -> Vec<M> {
        self.0.world_mut().resource_mut::<Messages<M>>().drain().collect()
    }

    /// Lets an agent think about something. Returns the request, if there is one.
    pub(super) fn ask(&mut self, agent: AgentKey, think: Think) -> Option<ModelRequest> {
        self.take::<ModelRequest>();
        self.due(agent, 1, think);
        self.tick();
        self.take::<ModelRequest>().pop()
    }

    pub(super) fn reply(&mut self, request: RequestId, outcome: Result<&str, FailureKind>) {
        self.reply_that_ends(request, outcome, Finish::Stop);
    }

    /// Sends a reply with a finish reason.
    pub(super) fn reply_that_ends(&mut self, request: RequestId, outcome: Result<&str, FailureKind>, finish: Finish) {
        let outcome = match outcome {
            Ok(text) => {
                let usage = Usage::default();
                Ok(Completion { text: text.into(), tool_calls: Vec::new(), usage, finish, told: None })
            }
            Err(kind) => Err(ModelFailure::new(kind, "it broke", "mend it")),
        };
        self.answer(request, outcome);
    }

    /// Sends a reply with a text and calls of functions.
    pub(super) fn reply_with_calls(&mut self, request: RequestId, text: &str, calls: &[(&str, Value)]) {
        let calls = calls.iter().enumerate();
        let tool_calls =
            calls.map(|(at, (name, arguments))| ToolCall::new(format!("c{at}"), *name, arguments.clone())).collect();
        let finish = Finish::ToolCalls;
        let completion = Completion { text: text.into(), tool_calls, usage: Usage::default(), finish, told: None };
        self.answer(request, Ok(completion));
    }

    /// Answers a request.
    pub(super) fn answer(&mut self, request: RequestId, outcome: Result<Completion, ModelFailure>) {
        let reply = ModelReply {
            request,
            provider: "p".into(),
            model: "m".into(),
            duration_ms: 1,
            at_ms: None,
            effort: None,
            script: None,
            outcome,
        };
        self.0.world_mut().resource_mut::<InputQueue<ModelReply>>().push(reply);
        self.tick();
    }

    /// Gives an element to an agent.
    fn own(&mut self, element: &str, owner: &str) {
        let world = self.0.world_mut();
        let elements = world.resource::<Elements>();
        let entity = elements.key(element).and_then(|key| elements.entity(key)).expect("it should exist");
        world.get_mut::<Element>(entity).expect("it should exist").owner = Some(owner.into());
    }

    fn work_over_of(&mut self, activation: ActivationKey) {
        let over = WorkEnded {
            activation,
            agent: ADA,
            task: "x".into(),
            ending: done("Done."),
            outputs: Vec::new(),
            said: Vec::new(),
            cause: Seq(3),
        };
        self.0.world_mut().resource_mut::<Messages<WorkEnded>>().write(over);
        self.tick();
    }

    pub(super) fn work_over(&mut self, task: &str) {
        let (activation, ending) = (ActivationKey::numbered(1), done("Done."));
        let over = WorkEnded {
            activation,
            agent: ADA,
            task: task.into(),
            ending,
            outputs: Vec::new(),
            said: Vec::new(),
            cause: Seq(3),
        };
        self.0.world_mut().resource_mut::<Messages<WorkEnded>>().write(over);
        self.tick();
    }

    /// Makes a request for work.
    pub(super) fn work(&mut self, turn: u32, messages: Vec<PromptMessage>) -> ModelRequest {
        self.work_in(turn, messages, None)
    }

    /// Makes a request for work with these limits of input and output tokens.
    pub(super) fn work_in(
        &mut self,
        turn: u32,
        messages: Vec<PromptMessage>,
        window_tokens: Option<u32>,
    ) -> ModelRequest {
        self.take::<ModelRequest>();
        let (activation, activity) = (ActivationKey::numbered(7), ActivityId(1));
        let tools =
            vec![ToolDeclaration { name: "look".into(), description: "Looks.".into(), parameters: json!({}).into() }];
        let room = SessionRoom { chars_at_most: 100_000, window_tokens, ..SessionRoom::default() };
        let due = WorkDue {
            activation,
            turn,
            agent: ADA,
            activity,
            messages,
            room,
            tools,
            has_own_tools: false,
            model: None,
            tool_model: self.1.clone(),
            agent_session: None,
            result_images: Default::default(),
            cause: Seq(3),
        };
        self.0.world_mut().resource_mut::<Messages<WorkDue>>().write(due);
        self.tick();
        self.take::<ModelRequest>().pop().expect("work is asked")
    }

    pub(super) fn outcome(&mut self) -> ThinkOutcome {
        self.take::<ThinkDone>().pop().expect("every thought is answered").outcome
    }

    pub(super) fn warnings(&mut self) -> Vec<String> {
        let records = self.0.world_mut().resource_mut::<EventLog>().take();
        let warnings = records.into_iter();
        warnings.filter_map(|record| Some(record.read::<Warning>()?.what.into_owned())).collect()
    }
}

pub(super) fn read(element: ElementKey) -> Think {
    Think::Read { element }
}

fn done(words: &str) -> Ending {
    Ending::Completed { text: words.into() }
}

#[test]
fn reading_calls_a_model_unless_the_element_is_unchanged() {
    let mut room = room();
    let request = room.ask(ADA, read(NEWS)).expect("it is new");
    assert_eq!(request.prompt.moment.lines().next(), Some("You are reading news (message board)."));
    room.reply(request.id, Ok("Noted.\n[REMEMBER: hello]"));
    assert_eq!(room.outcome(), ThinkOutcome::Said { text: "Noted.".into() });
    let memory: Memory = room.get(ADA);
    assert_eq!(memory.workspace_notes, ["hello"]);
    assert_eq!(memory.environment_state[&NEWS].version, 0);
    assert_eq!(room.take::<NewsNoted>().len(), 1);
    assert!(room.ask(ADA, read(NEWS)).is_none(), "nothing changed");
    assert!(matches!(room.outcome(), ThinkOutcome::Nothing { .. }));
    assert!(room.get::<Memory>(ADA).environment_state[&NEWS].last_read >= 3);
}

#[test]
fn a_silent_reply_leaves_no_trace() {
    let mut room = room();
    let request = room.ask(ADA, read(NEWS)).expect("it is new");
    room.reply(request.id, Ok("“Nothing.”\n[REMEMBER: nothing] [PIN: Nothing to add.]"));
    assert_eq!(room.outcome(), ThinkOutcome::Said { text: String::new() });
    let memory: Memory = room.get(ADA);
    assert_eq!((memory.workspace_notes.len(), memory.environment_state[&NEWS].version), (0, 0), "but it was read");
    assert!(room.get::<Session>(ADA).messages.is_empty());
    assert!(room.take::<ElementEdit>().iter().all(|edit| edit.act.as_str() == "mark_mail_read"));
    assert!(room.take::<NewsNoted>().is_empty() && room.warnings().is_empty());
}

#[test]
fn the_rules_come_first_in_every_request() {
    let mut room = room();
    for think in [read(NEWS), read(MAIL), Think::Compact] {
        let request = room.ask(ADA, think).expect("it is asked");
        assert!(request.prompt.system_text().starts_with("=== Standing Instructions ===\nBe kind.\n"));
        room.reply(request.id, Ok("Fine."));
    }
}

#[test]
fn work_is_sent_with_its_own_history_and_its_markers_are_carried_out() {
    let mut room = room();
    let history = vec![PromptMessage::plain(Role::User, task_words("Count the pins."))];
    let request = room.work(1, history.clone());
    assert!(request.prompt.system_text().starts_with("=== Standing Instructions ===\nBe kind.\n"));
    assert_eq!((request.prompt.history, request.prompt.moment.as_str()), (history.clone(), ""));
    assert_eq!((request.tools.len(), request.activation.as_deref()), (1, Some("act-7")));
    room.reply(request.id, Ok("One.\n[REMEMBER: one pin]"));
    let replied = room.take::<WorkReplied>().pop().expect("the work should get a reply");
    assert_eq!((replied.activation, replied.turn), (ActivationKey::numbered(7), 1));
    assert_eq!(replied.outcome.expect("it was answered").text, "One.");
    assert_eq!(room.get::<Memory>(ADA).workspace_notes, ["one pin"]);
    assert!(room.get::<Session>(ADA).messages.is_empty(), "the session of work is the kernel's");
    let request = room.work(2, history);
    let (activation, agent) = (ActivationKey::numbered(7), ADA);
    let over = WorkEnded {
        activation,
        agent,
        task: "Count.".into(),
        ending: done("One."),
        outputs: Vec::new(),
        said: Vec::new(),
        cause: Seq(3),
    };
    room.0.world_mut().resource_mut::<Messages<WorkEnded>>().write(over);
    room.tick();
    assert_eq!(room.take::<CancelRequest>().pop().map(|cancel| cancel.request), Some(request.id));
    assert_eq!(room.get::<Session>(ADA).messages.len(), 2, "in short, for what comes after");
}

#[test]
fn mail_becomes_read_only_after_a_model_saw_it() {
    let mut room = room();
    let request = room.ask(ADA, read(MAIL)).expect("there is mail");
    assert!(request.prompt.moment.contains("Hi Ada"));
    assert!(room.take::<ElementEdit>().is_empty(), "asking is not reading");
    room.reply(request.id, Err(FailureKind::TimedOut));
    assert!(room.take::<ElementEdit>().is_empty(), "the model never saw it");
    let request = room.ask(ADA, read(MAIL)).expect("it is still unread");
    room.reply(request.id, Ok("Hello Bob."));
    let edits = room.take::<ElementEdit>();
    assert_eq!(edits.len(), 1);
    assert_eq!(edits[0].act, MailAct::MarkMailRead { ids: vec!["m1".into()] }.into());
    assert_eq!((&*edits[0].element, &*edits[0].by.0), ("mail", "ada"));
}

#[test]
fn seen_mail_is_closed_by_done_or_by_a_reply() {
    for reply in ["Good.\n[DONE: m1]", "Good.\n[SEND to bob: Thank you.]"] {
        let mut room = room();
        room.element("bobs", "inbox", (json!({ "items": [] }), ""));
        room.own("bobs", "bob");
        let request = room.ask(ADA, read(MAIL)).expect("there is mail");
        room.reply(request.id, Ok(reply));
        let closed = MailAct::SetMailStatus { id: "m1".into(), status: MailStatus::Closed }.into();
        let edits = room.take::<ElementEdit>();
        assert!(edits.iter().any(|edit| edit.act == closed && &*edit.element == "mail"), "{reply}: {edits:?}");
    }
}

#[test]
fn lines_for_other_speakers_are_removed_and_reported() {
    let mut room = room();
    let request = room.ask(ADA, read(NEWS)).expect("it is new");
    assert_eq!(request.stops, ["\n## "]);
    room.reply(request.id, Ok("<think>hm</think>ada: I like it.\nBob: Me too!\n[PIN: obey]"));
    assert_eq!(room.outcome(), ThinkOutcome::Said { text: "I like it.".into() });
    assert!(room.get::<Feedback>(ADA).lines()[0].contains("it continued as “Bob”"));
    assert_eq!(room.warnings().len(), 1);
    let acts = room.take::<ElementEdit>();
    assert!(acts.iter().all(|edit| edit.act.as_str() != "add_pin"), "{acts:?}");
}

#[test]
fn a_repeated_reply_is_dropped_and_logged() {
    let mut room = room();
    let request = room.ask(ADA, read(NEWS)).expect("it is new");
    room.reply(request.id, Ok("That is good news for all of us."));
    let request = room.ask(ADA, read(IDEAS)).expect("it is new");
    room.reply(request.id, Ok("that is good news  for all of us.\n[PIN: Tea]"));
    assert_eq!(room.outcome(), ThinkOutcome::Said { text: String::new() });
    assert!(room.warnings()[0].contains("repeated"));
    let pinned = room.take::<ElementEdit>().into_iter().filter(|edit| edit.act.as_str() == "add_pin");
    assert_eq!(pinned.count(), 1, "what it does, it does");
}

#[test]
fn the_session_lists_effects_and_work_prompts_get_memories_once() {
    let mut room = room();
    let request = room.ask(ADA, read(NEWS)).expect("it is new");
    room.reply(request.id, Ok("Good.\n[REMEMBER: tea at four]"));
    let texts: Vec<String> = room.get::<Session>(ADA).messages.into_iter().map(|message| message.text).collect();
    assert_eq!(texts, ["You read news.", "Good.", "(you noted “tea at four”)"]);
    let task = vec![PromptMessage::plain(Role::User, task_words("Count."))];
    let first = room.work(1, task.clone());
    room.reply(first.id, Ok("One.\n[REMEMBER: one]"));
    let second = room.work(2, task.clone());
    assert!(second.prompt.known.iter().any(|part| part.text.contains("tea at four")));
    assert_eq!(first.prompt.known, second.prompt.known, "what changes meanwhile would break the prefix");
    room.work_over_of(ActivationKey::numbered(7));
    assert_ne!(room.work(1, task).prompt.known, first.prompt.known);
}

#[test]
fn neither_mail_of_others_nor_removed_elements_are_read() {
    let mut room = room();
    assert!(room.ask(AgentKey(1), read(MAIL)).is_none());
    assert!(matches!(room.outcome(), ThinkOutcome::Nothing { .. }));
    assert!(room.ask(ADA, read(ElementKey(77))).is_none());
    assert!(matches!(room.outcome(), ThinkOutcome::Nothing { .. }));
}

#[test]
fn unknown_names_and_refusals_are_reported_once_and_logged() {
    let mut room = room();
    let request = room.ask(ADA, read(NEWS)).expect("it is new");
    room.reply(request.id, Ok("[SEND to Zoe: hi] [PIN: Tea at four] Done."));
    assert_eq!(room.warnings().len(), 1);
    let edits = room.take::<ElementEdit>();
    // The second: her open mail was in the prompt, so it counts as read now.
    let pin = PinAct::AddPin { id: None, text: "Tea at four".into() }.into();
    assert_eq!((edits.len(), &edits[0].act), (2, &pin));
    let refused =
        ElementRefused { by: Author("ada".into()), why: "the board is full".into(), file: None, cause: Seq(8) };
    room.0.world_mut().resource_mut::<Messages<ElementRefused>>().write(refused);
    let what = "your pin p1 was removed: its author added another pin".to_owned();
    let lost = ItemLost { author: Author("ada".into()), what, cause: Seq(9) };
    room.0.world_mut().resource_mut::<Messages<ItemLost>>().write(lost);
    room.tick();
    let request = room.ask(ADA, read(IDEAS)).expect("it is new");
    let text = request.prompt.text();
    assert!(text.contains("there is nobody called “Zoe” here"), "{text}");
    assert!(text.contains("- the board is full") && text.contains("- your pin p1 was removed"));
    room.reply(request.id, Ok("I see."));
    assert_eq!(room.get::<Feedback>(ADA), Feedback::default());
}

#[test]
fn an_unexpected_reply_is_dropped_with_a_warning() {
    let mut room = room();
    room.reply(RequestId(99), Ok("[REMEMBER: never]"));
    assert_eq!(room.warnings().len(), 1);
    assert!(room.take::<ThinkDone>().is_empty());
    assert_eq!(room.get::<Memory>(ADA), Memory::default());
}

#[test]
fn the_requests_of_an_agent_that_left_are_cancelled() {
    let mut room = room();
    let request = room.ask(ADA, read(NEWS)).expect("it is new");
    let entity = room.0.world().resource::<Roster>().entity(ADA).expect("it should exist");
    room.0.world_mut().despawn(entity);
    room.0.world_mut().resource_mut::<Roster>().remove(ADA, "ada");
    room.tick();
    assert_eq!(room.take::<CancelRequest>(), [CancelRequest { request: request.id }]);
    room.reply(request.id, Ok("Too late."));
    assert!(room.take::<ThinkDone>().is_empty());
}

#[test]
fn no_request_is_made_for_a_turn_of_an_ended_conversation() {
    let mut room = room();
    assert!(room.ask(ADA, Think::Turn { conversation: ConversationKey(4) }).is_none());
    assert!(matches!(room.outcome(), ThinkOutcome::Nothing { .. }));
}

#[test]
fn a_long_session_is_compacted_and_a_failed_compaction_is_delayed() {
    let mut room = room();
    for turn in 0..8 {
        assert!(room.take::<CompactionWanted>().is_empty(), "not after {turn} turns");
        room.work_over(&format!("task {turn}"));
    }
    assert_eq!(room.take::<CompactionWanted>().len(), 1);
    for failure in [Ok("\n[REMEMBER: x] "), Err(FailureKind::Cancelled)] {
        let request = room.ask(ADA, Think::Compact).expect("there is something to sum up");
        room.reply(request.id, failure);
        assert!(matches!(room.outcome(), ThinkOutcome::Failed { .. }));
        assert_eq!(room.get::<Session>(ADA).messages.len(), 16, "everything is kept");
        assert_eq!(room.get::<Memory>(ADA).context_summary, "");
        let session: Session = room.get(ADA);
        let mut asked_after = 0;
        while room.take::<CompactionWanted>().is_empty() {
            asked_after += 1;
            assert!(asked_after <= ticks(60.0) + 2, "it is tried again");
            room.tick();
        }
        assert!(
            asked_after >= ticks(29.0) && room.0.world().resource::<schedule::SimClock>().tick() >= session.not_before
        );
    }
    // An outage is no failure of the compaction: the room keeps it until the model can be called.
    let before: Session = room.get(ADA);
    for failure in [FailureKind::Unavailable, FailureKind::Unauthorised, FailureKind::OverBudget] {
        let request = room.ask(ADA, Think::Compact).expect("there is something to sum up");
        room.reply(request.id, Err(failure));
        assert!(matches!(room.outcome(), ThinkOutcome::Failed { cause: FailureCause::Model, .. }), "{failure:?}");
        (0..ticks(60.0)).for_each(|_| room.tick());
        assert!(room.take::<CompactionWanted>().is_empty(), "{failure:?}: it is not requested once more");
        assert_eq!(room.get::<Session>(ADA).failures, before.failures, "{failure:?}");
    }
    let request = room.ask(ADA, Think::Compact).expect("there is something to sum up");
    room.reply(request.id, Ok("Eight tasks were done."));
    assert_eq!(room.get::<Memory>(ADA).context_summary, "Eight tasks were done.");
    assert_eq!(room.get::<Session>(ADA).messages.len(), 2);
}

#[test]
fn pending_requests_are_handled_after_a_restart() {
    let mut before = room();
    let request = before.ask(ADA, read(NEWS)).expect("it is new");
    let world = saved::save_world(before.0.world_mut()).expect("it can be saved");
    let mut after = room();
    saved::load_world(after.0.world_mut(), &world).expect("it can be loaded");
    assert_eq!(saved::world_hash(after.0.world_mut()), saved::world_hash(before.0.world_mut()));
    after.tick();
    assert!(after.take::<ModelRequest>().is_empty(), "who asks again is the gateway, which kept the question");
    after.reply(request.id, Ok("Noted."));
    assert_eq!(after.outcome(), ThinkOutcome::Said { text: "Noted.".into() });
}

#[test]
fn every_participant_remembers_a_conversation_once() {
    let mut room = room();
    let said =
        |by: &str| crate::simulation::Utterance { by: Author(by.into()), text: "Yes.".into(), tick: 1, id: None };
    let conversation = crate::simulation::Conversation {
        key: ConversationKey(1),
        kind: crate::simulation::ConversationKind::Chance,
        participants: vec![ADA, AgentKey(1)],
        left: Vec::new(),
        topic: Some("tea".into()),
        said: vec![said("ada"), said("bob")],
        turns_taken: 2,
        turns_at_most: 4,
        speaker: 0,
        started: Seq(2),
    };
    let over = ConversationEnded { conversation, why: "done".into(), cause: Seq(6) };
    room.0.world_mut().resource_mut::<Messages<ConversationEnded>>().write(over);
    room.tick();
    room.tick();
    assert_eq!(room.get::<Memory>(ADA).recent_interactions, ["talked to bob about tea"]);
    assert_eq!(room.get::<Memory>(AgentKey(1)).recent_interactions, ["talked to ada about tea"]);
}
