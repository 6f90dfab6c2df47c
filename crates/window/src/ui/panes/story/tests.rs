//! Tests of the story strip.

use std::sync::Arc;

use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT, Queryable};

use super::*;
use crate::log::events::{
    ActionQueued, AgentAdded, AgentRemoved, ConversationStart, ElementChangeKind, ElementChanged, FileChange, Memory,
    Message, Read, RunStart, State as StateEvent, Warning,
};
use crate::log::{Event, EventDraft, EventRecord};
use crate::ui::UiState;
use crate::ui::panes::event_log::EventLogPane;
use crate::ui::panes::room::RoomPane;
use crate::ui::state::dock::Tab;
use crate::ui::testing::{PaneHarness, agent, stage_pane};
use crate::view::event_list::{EventList, EventRow};

/// Number, agent, cause and event of a record.
type Line = (u64, Option<&'static str>, Option<u64>, Event);

fn row((seq, agent, cause, event): Line) -> Arc<EventRow> {
    let mut draft = EventDraft::from(event);
    (draft.agent, draft.cause) = (agent.map(Into::into), cause.map(Seq));
    Arc::new(EventRow::of(&EventRecord { seq: Seq(seq), tick: seq * 30, time_ms: 0, run: "r-1".into(), draft }))
}

fn book_of(lines: impl IntoIterator<Item = Line>) -> EventList {
    let mut book = EventList::default();
    lines.into_iter().for_each(|line| book.push_row(row(line)));
    book
}

fn rules_changed() -> Event {
    let (element, by, change) = ("rules".into(), "user".into(), ElementChangeKind::TextSet);
    ElementChanged { element, kind: "rulebook".into(), by, change, ..ElementChanged::default() }.into()
}

fn sets_out() -> Event {
    let target = Some("rules".into());
    ActionQueued { action: "readElement".into(), target, priority: Some("high".into()), ..ActionQueued::default() }
        .into()
}

fn state() -> Event {
    StateEvent { from: "idle".into(), to: "reading".into(), why: "reading rules".into() }.into()
}

fn reads(said: &str) -> Event {
    Read { element: Some("rules".into()), version: Some(2), said: Some(said.into()), ..Read::default() }.into()
}

fn notes(note: &str) -> Event {
    Memory::Noted { note: note.into(), dropped: None }.into()
}

fn said(text: &str) -> Event {
    Message { by: None, text: text.into(), id: None }.into()
}

fn came(name: &str) -> Event {
    AgentAdded { name: name.into(), profile: name.into(), ..AgentAdded::default() }.into()
}

/// The user changes the rules; two agents read them; one makes a note and talks to the other.
fn rules() -> Vec<Line> {
    let (ada, bram) = (Some("ada-1"), Some("bram-1"));
    let participants = vec!["ada-1".into(), "bram-1".into()];
    let talk = ConversationStart { participants, topic: "rules".into(), ..ConversationStart::default() };
    vec![
        (1, None, None, rules_changed()),
        (2, ada, Some(1), sets_out()),
        (3, bram, Some(1), sets_out()),
        (4, ada, Some(2), state()),
        (5, bram, Some(3), state()),
        (6, ada, Some(4), reads("Kind it is.")),
        (7, bram, Some(5), reads("All right.")),
        (8, bram, Some(7), notes("be kind")),
        (9, None, Some(8), talk.into()),
    ]
}

/// Returns the storylines of a log as the texts of their steps.
fn storylines(lines: impl IntoIterator<Item = Line>) -> Vec<Vec<String>> {
    let mut story = Story::default();
    story.names.learn_agent(&"ada-1".into(), &"Ada".into());
    story.names.learn_agent(&"bram-1".into(), &"Bram".into());
    let (rules, label) = ("rules".into(), "House rules".into());
    story.names.learn_elements(std::iter::once((&rules, &label)));
    let book = book_of(lines);
    while !story.is_done(&book) {
        story.update(&book);
    }
    let describe =
        |storyline: &story_model::Storyline| storyline.steps.iter().map(|step| step.describe(&story.names)).collect();
    story.storylines().map(describe).collect()
}

#[test]
fn a_cause_and_its_effects_form_a_storyline_and_equal_actions_one_step() {
    let expected = [
        "You wrote House rules",
        "Ada and Bram decided to read House rules",
        "Ada and Bram read House rules",
        "Bram noted: be kind",
        "Ada and Bram started talking about rules",
    ];
    assert_eq!(storylines(rules()), [expected]);
}

#[test]
fn routine_records_are_hidden_but_their_effects_are_not() {
    let look = ActionQueued { action: "seekInfo".into(), target: Some("rules".into()), ..ActionQueued::default() };
    let ada = Some("ada-1");
    let lines: Vec<Line> = vec![
        (1, ada, None, state()),
        (2, ada, Some(1), look.into()),
        (3, ada, Some(2), state()),
        (4, ada, Some(3), notes("tea is out")),
    ];
    assert_eq!(storylines(lines), [["Ada noted: tea is out"]]);
}

#[test]
fn a_step_of_several_agents_says_only_what_holds_for_all() {
    let several = |event: fn() -> Event| -> Vec<Line> {
        ["ada-1", "bram-1", "cleo-1"]
            .into_iter()
            .zip(2..)
            .map(|(who, seq)| (seq, Some(who), Some(1), event()))
            .collect()
    };
    let of = |event: fn() -> Event| {
        let storyline_texts = storylines(std::iter::once((1, None, None, rules_changed())).chain(several(event)));
        storyline_texts[0].last().cloned().unwrap_or_default()
    };
    assert_eq!(of(sets_out), "3 agents decided to read House rules");
    assert_eq!(of(|| reads("each says something else")), "3 agents read House rules");
    assert_eq!(of(|| notes("each notes something else")), "cleo-1 noted: each notes something else, and 2 more");
}

#[test]
fn agents_that_arrive_together_form_a_storyline() {
    let lines = (1..=8).map(|seq| (seq, Some("ada-1"), None, came("Ada")));
    let later = std::iter::once((90, Some("bram-1"), None, came("Bram")));
    let storyline_texts = storylines(lines.chain(later));
    assert_eq!(storyline_texts.len(), 2, "{storyline_texts:?}");
    assert_eq!(storyline_texts[1], ["Bram joined the room (profile Bram)"]);
}

#[test]
fn storylines_are_ordered_by_their_newest_record_and_keep_their_first_step() {
    let warning = |text: &str| Event::from(Warning::new(text.to_owned()));
    let mut lines: Vec<Line> = vec![(1, None, None, rules_changed()), (2, None, None, said("Hello"))];
    lines.extend((3..30).map(|seq| (seq, Some("ada-1"), Some(1), warning(&format!("number {seq}")))));
    let storyline_texts = storylines(lines);
    assert_eq!(storyline_texts[0], ["Somebody said: Hello"]);
    assert_eq!(storyline_texts[1].len(), story_model::MAX_STEPS);
    assert_eq!(storyline_texts[1].first().map(String::as_str), Some("You wrote House rules"));
    assert!(storyline_texts[1].last().is_some_and(|last| last.contains("number 29")), "{:?}", storyline_texts[1]);
}

#[test]
fn a_storyline_ends_after_a_quiet_time() {
    let lines = vec![(1, None, None, rules_changed()), (500, Some("ada-1"), Some(1), notes("at last"))];
    assert_eq!(storylines(lines), [["You wrote House rules"], ["Ada noted: at last"]]);
}

#[test]
fn restorations_are_recognised_within_a_run() {
    let gone = || Event::from(AgentRemoved { profile: "Ada".into() });
    let board = |change| {
        let (element, by, kind) = ("rules".into(), "user".into(), "rulebook".into());
        Event::from(ElementChanged { element, kind, by, change, ..ElementChanged::default() })
    };
    let ada = Some("ada-1");
    let lines: Vec<Line> = vec![
        (1, ada, None, came("Ada")),
        (2, None, None, board(ElementChangeKind::Added)),
        (101, ada, None, gone()),
        (201, ada, None, came("Ada")),
        (301, None, None, board(ElementChangeKind::Removed)),
        (401, None, None, board(ElementChangeKind::Added)),
        (501, ada, None, gone()),
        (502, None, None, RunStart::default().into()),
        (601, ada, None, came("Ada")),
        (701, ada, None, gone()),
        (801, ada, None, came("Another")),
    ];
    let expected = [
        "Ada joined the room (profile Ada)",
        "Ada left the room (profile Ada)",
        "Ada was restored",
        "House rules was removed from the room",
        "House rules was restored",
        "Ada left the room (profile Ada)",
        "Ada joined the room (profile Ada)",
        "Ada left the room (profile Ada)",
        "Ada joined the room (profile Another)",
    ];
    assert_eq!(storylines(lines), expected.map(|words| [words]));
}

#[test]
fn a_deleted_file_that_is_put_back_is_restored() {
    let change = FileChange { chars: Some(12), ..FileChange::new("artifacts/plan.md", "user") };
    let lines: Vec<Line> = vec![
        (1, None, None, FileChange { gone: true, ..change.clone() }.into()),
        (101, None, None, FileChange { new: Some(true), version: Some(3), restored: true, ..change.clone() }.into()),
        (201, None, None, FileChange { new: Some(true), version: Some(4), ..change }.into()),
    ];
    let expected = [
        "You deleted artifacts/plan.md",
        "You restored artifacts/plan.md (version 3, 12 characters)",
        "You created artifacts/plan.md (version 4, 12 characters)",
    ];
    assert_eq!(storylines(lines), expected.map(|words| [words]));
}

#[test]
fn every_record_is_read_once_within_the_budget() {
    let mut book = book_of((1..=6_000).map(|seq| (seq, Some("ada-1"), Some(1).filter(|_| seq > 1), state())));
    let mut story = Story::default();
    assert_eq!(story.update(&book), story_model::BUDGET);
    assert_eq!(story.update(&book), 6_000 - story_model::BUDGET);
    assert_eq!(story.update(&book), 0, "nothing is new");
    book.push_row(row((6_001, Some("ada-1"), None, notes("tea"))));
    assert_eq!(story.update(&book), 1);
    assert_eq!(story.storylines().len(), 1);
    book.clear();
    story.update(&book);
    assert_eq!(story.storylines().len(), 0, "another log starts another story");
}

fn strip(lines: Vec<Line>) -> Harness<'static, PaneHarness> {
    let mut window =
        stage_pane(UiState::default(), |ui, cx, panes| story_ui(ui, cx, &mut panes.pane_mut::<RoomPane>().story));
    window.set_size(egui::vec2(1400.0, 500.0));
    window.state_mut().recent.book = book_of(lines);
    window.run_steps(4);
    window
}

fn entries(window: &Harness<'static, PaneHarness>) -> Vec<String> {
    let labels = window.query_all_by_label_contains("Story: ").filter_map(|node| node.accesskit_node().label());
    labels.map(|label| label.trim_start_matches("Story: ").to_owned()).collect()
}

#[test]
fn an_entry_links_to_its_place_and_cause() {
    let mut window = strip(rules());
    assert_eq!(entries(&window).len(), 5);
    window.get_by_label("Story: Ada and Bram decided to read rules").click();
    window.run_steps(3);
    assert_eq!(*window.state().state.selection.things(), [RoomObject::Element("rules".into())].into());
    window.get_by_label("Caused by record 1: You wrote rules").click();
    window.run_steps(3);
    assert_eq!(window.state().parts.pane::<EventLogPane>().chosen, Some(Seq(1)));
    assert_eq!(window.state().commands, [Command::Show(Tab::LOG)]);
}

#[test]
fn the_strip_can_be_collapsed_and_expanded() {
    let mut window = strip(rules());
    window.get_by_label("Story strip").click();
    window.run_steps(3);
    assert!(window.state().state.view.is_story_folded && entries(&window).is_empty());
    window.get_by_label("Story strip").click();
    window.run_steps(3);
    assert_eq!(entries(&window).len(), 5);
}

#[test]
fn an_empty_story_explains_itself() {
    let window = strip(Vec::new());
    assert!(window.query_by_label("Key events appear here as they happen.").is_some());
}

#[test]
fn unchanged_steps_reuse_their_text() {
    let mut window = strip(rules());
    let words = |window: &Harness<'static, PaneHarness>| {
        window
            .state()
            .parts
            .pane::<RoomPane>()
            .story
            .cached_words
            .values()
            .map(|storyline_texts| Arc::as_ptr(&storyline_texts.words))
            .collect::<Vec<_>>()
    };
    let before = words(&window);
    window.run_steps(5);
    assert_eq!(words(&window), before);
    window.state_mut().room.agents.push(agent(2, "cleo-1", "Cleo"));
    window.run_steps(2);
    assert_ne!(words(&window), before, "an agent was renamed");
}

#[test]
fn the_strip_stays_bounded_with_ten_thousand_agents() {
    /// The number of records per frame.
    const SLICE: usize = 3_000;
    let id = |key: u64| format!("agent-{key}");
    let mut window = strip(vec![(1, None, None, rules_changed())]);
    let agents = (0..10_000).map(|key| agent(key, &id(u64::from(key)), &format!("Agent {key}")));
    window.state_mut().room.agents = agents.collect();
    // Each agent sets out because of the change, reads the rules, and makes its pane note.
    let of = |number: u64| {
        let (key, what) = (number / 3, number % 3);
        let seq = number + 2;
        let (cause, event) = match what {
            0 => (1, sets_out()),
            1 => (seq - 1, reads("All right.")),
            _ => (seq - 1, notes(&format!("number {key}"))),
        };
        let mut draft = EventDraft::from(event);
        (draft.agent, draft.cause) = (Some(id(key).into()), Some(Seq(cause)));
        Arc::new(EventRow::of(&EventRecord { seq: Seq(seq), tick: seq / 100, time_ms: 0, run: "r-1".into(), draft }))
    };
    let records: Vec<Arc<EventRow>> = (0..30_000).map(of).collect();
    for slice in records.chunks(SLICE) {
        slice.iter().for_each(|row| window.state_mut().recent.book.push_row(row.clone()));
        window.step();
        let StoryPane { story, cached_words, faces } = &window.state().parts.pane::<RoomPane>().story;
        assert!(story.storylines().len() <= story_model::MAX_STORYLINES);
        let steps: Vec<&Step> = story.storylines().flat_map(|storyline| &storyline.steps).collect();
        assert!(steps.iter().all(|step| step.actors.len() <= story_model::MAX_ACTORS));
        assert!(story.storylines().all(|storyline| storyline.steps.len() <= story_model::MAX_STEPS));
        assert!(story.indexed_records() <= story_model::MAX_INDEXED_RECORDS);
        assert!(
            cached_words.len() <= MAX_STORYLINES_SHOWN * story_model::MAX_STEPS && faces.cache.len() <= Faces::CAPACITY
        );
        let entries = entries(&window);
        assert!(entries.len() <= MAX_STORYLINES_SHOWN * story_model::MAX_STEPS, "{}", entries.len());
        assert!(entries.iter().all(|words| words.chars().count() < 200), "{entries:?}");
    }
    window.run_steps(3);
    let entries = entries(&window);
    assert!(entries.contains(&"At least 256 agents decided to read rules".to_owned()), "{entries:?}");
    assert!(entries.iter().any(|words| words.ends_with("and at least 255 more")), "{entries:?}");
}

#[test]
fn portraits_are_cached_until_the_room_changes() {
    let mut room =
        RoomModel { agents: (0..5).map(|key| agent(key, &format!("a-{key}"), "A")).collect(), ..RoomModel::default() };
    let mut faces = Faces::default();
    let key = |found: Option<&AgentView>| found.map(|agent| agent.key.0);
    assert_eq!(key(faces.agent(&room, &"a-3".into())), Some(3));
    assert_eq!(key(faces.agent(&room, &"b".into())), None);
    room.agents.remove(0);
    assert_eq!(key(faces.agent(&room, &"a-3".into())), Some(3), "its position in the list has changed");
    room.agents.push(agent(9, "b", "B"));
    assert_eq!(key(faces.agent(&room, &"b".into())), Some(9));
    room.agents.clear();
    assert_eq!(key(faces.agent(&room, &"a-3".into())), None);
}
