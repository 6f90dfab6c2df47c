//! Recent events, taken from the log as it grows: bubbles, highlights on elements, ended conversations and the newest
//! log rows. Bounded and only for display: nothing in the simulation depends on it.

use std::collections::{BTreeMap, VecDeque};

use bevy::platform::collections::HashMap;

use super::bubble::{Bubble, Lifetime};
use super::event_list::{EventList, EventRow};
use crate::base::Id;
use crate::base::ids::USER;
use crate::gateway::acp::log_events::OwnCommands;
use crate::log::events::{
    Budget, Complete, ConversationEnd, ConversationStart, ElementChangeKind, ElementChanged, FileChange, Knowledge,
    Message, Publish, Read, TaskResultReturned, Warning, WorkflowStep,
};
use crate::log::{EventKind, EventRecord, Narration, Narrator};
use crate::mind::OwnCommand;

/// How long an element is highlighted after it was changed or read, in seconds.
pub const PULSE_SECS: f64 = 1.6;
/// Maximum number of ended conversations that are kept.
const TALKS_KEPT: usize = 50;
/// Maximum number of refusals that wait to be shown.
const REFUSED_KEPT: usize = 100;
/// Maximum number of file orders whose outcome is remembered.
const ORDERS_KEPT: usize = 200;

/// Why an element is highlighted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PulseKind {
    /// Its content changed.
    Changed,
    /// An agent read it.
    Read,
}

/// A conversation that is running or can still be read.
#[derive(Clone, Debug)]
pub struct PastTalk {
    /// The session in the log: `conversation-3`.
    pub session: Id,
    /// The ids of the participants.
    pub participants: Vec<Id>,
    /// The topic; may be empty.
    pub topic: String,
    /// The utterances, each with the speaker's id.
    pub said: Vec<(Id, String)>,
    /// The reason it ended; `None` while it continues.
    pub ended: Option<String>,
    /// The tick it began in.
    pub began_tick: u64,
}

/// A request of a person or an agent that was refused, or that a cap blocked.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Refused {
    /// What was refused, as a sentence without a full stop.
    pub what: String,
    /// What to do about it; may be empty.
    pub remedy: String,
    /// The agent concerned.
    pub agent: Option<Id>,
    /// The element concerned.
    pub element: Option<Id>,
    /// The field of `budget` that sets the cap.
    pub cap: Option<String>,
}

impl Refused {
    fn of(told: Narration) -> Self {
        Self { what: told.what, remedy: told.remedy, ..Self::default() }
    }
}

/// Duration of the animation of a written file flying to the shelf, in seconds.
pub const SHEET_SECS: f64 = 3.0;
/// Maximum number of such sheets at once.
const SHEETS_SHOWN: usize = 24;

/// A file that an agent has just written.
#[derive(Clone, PartialEq, Debug)]
pub struct WrittenFile {
    /// The writer's id.
    pub agent: Id,
    /// The file name, without folders.
    pub name: String,
    /// When it was written, in seconds of real time.
    pub since_secs: f64,
}

/// Duration of a letter's flight, in seconds.
pub const LETTER_SECS: f64 = 1.8;
/// Maximum number of letters in flight.
const LETTERS_SHOWN: usize = 32;

/// A message from one agent to another during work.
#[derive(Clone, PartialEq, Debug)]
pub struct WorkMessage {
    /// The sender's id.
    pub from: Id,
    /// The recipient's id.
    pub to: Id,
    /// When it was sent, in seconds of real time.
    pub since_secs: f64,
}

/// How long a thought is shown above a head, in seconds.
pub const THOUGHT_SECS: f64 = 4.0;

/// A memory that an agent has just recalled.
#[derive(Clone, PartialEq, Debug)]
pub struct RecentRecall {
    /// The ids of the agents it came from: who shared it, or took part in the conversation.
    pub from: Vec<Id>,
    /// When it was recalled, in seconds of real time.
    pub since_secs: f64,
}

/// Recent events, for display.
#[derive(Clone, Debug, Default)]
pub struct Recent {
    /// The last utterance of each agent, by agent id.
    pub bubbles: HashMap<Id, Bubble>,
    /// Elements that were changed or read, by element id, and when in real time.
    pub pulses: BTreeMap<Id, (PulseKind, f64)>,
    /// The last content change of each element, by element id.
    pub changes: BTreeMap<Id, EventRow>,
    /// Reaction signs over agents that passed or noticed another agent, by agent id, and since when in real time.
    pub reactions: HashMap<Id, (&'static str, f64)>,
    /// The last refusal of each agent, by agent id, and when in real time.
    pub refusals: HashMap<Id, (String, f64)>,
    /// Memories that agents have just recalled, by agent id.
    pub thoughts: BTreeMap<Id, RecentRecall>,
    /// Files that agents have just written, oldest first.
    pub sheets: Vec<WrittenFile>,
    /// Messages in flight between agents, oldest first.
    pub letters: Vec<WorkMessage>,
    /// The slash commands that coding agents last reported, by agent id.
    pub own_commands: BTreeMap<Id, Vec<OwnCommand>>,
    /// Refusals to show to the person, oldest first; the code that shows one removes it.
    pub refused: VecDeque<Refused>,
    /// Conversations, oldest first.
    pub talks: VecDeque<PastTalk>,
    /// The log rows, newest last.
    pub book: EventList,
    /// Outcomes of the person's file orders, by order key; newest last, bounded.
    pub orders: VecDeque<(Id, Result<(), String>)>,
}

impl Recent {
    /// Applies new records, using the narrator to word refusals. `now_secs` is real time from any origin.
    pub fn apply_events(&mut self, events: Vec<EventRecord>, narrator: &Narrator<'_>, now_secs: f64) {
        for event in events {
            self.note(&event, narrator, now_secs);
            self.book.push(&event);
        }
        let surplus = self.talks.len().saturating_sub(TALKS_KEPT);
        self.talks.drain(..surplus);
        let surplus = self.refused.len().saturating_sub(REFUSED_KEPT);
        self.refused.drain(..surplus);
    }

    /// Records the outcomes of file orders.
    pub fn record_file_outcomes(&mut self, told: impl IntoIterator<Item = (Id, Result<(), String>)>) {
        self.orders.extend(told);
        let surplus = self.orders.len().saturating_sub(ORDERS_KEPT);
        self.orders.drain(..surplus);
    }

    /// Records the reaction signs that agents showed.
    pub fn record_reactions(&mut self, shown: BTreeMap<Id, &'static str>, now_secs: f64) {
        self.reactions.extend(shown.into_iter().map(|(agent, sign)| (agent, (sign, now_secs))));
    }

    /// The outcome of a file order, once it is known.
    pub fn order(&self, key: &str) -> Option<&Result<(), String>> {
        self.orders.iter().rev().find(|(name, _)| &**name == key).map(|(_, result)| result)
    }

    /// Removes items that have faded. Returns whether something is still fading.
    pub fn fade(&mut self, now_secs: f64) -> bool {
        self.bubbles.retain(|_, bubble| !bubble.has_expired(now_secs));
        self.pulses.retain(|_, (_, since)| now_secs - *since < PULSE_SECS);
        self.reactions.retain(|_, (_, since)| now_secs - *since < PULSE_SECS);
        self.refusals.retain(|_, (_, since)| !Lifetime::REFUSAL.has_expired(*since, now_secs));
        self.sheets.retain(|sheet| now_secs - sheet.since_secs < SHEET_SECS);
        self.letters.retain(|letter| now_secs - letter.since_secs < LETTER_SECS);
        self.thoughts.retain(|_, thought| now_secs - thought.since_secs < THOUGHT_SECS);
        !(self.sheets.is_empty()
            && self.letters.is_empty()
            && self.thoughts.is_empty()
            && self.bubbles.is_empty()
            && self.pulses.is_empty()
            && self.reactions.is_empty()
            && self.refusals.is_empty())
    }

    /// Ignores most records, which are about state changes.
    fn note(&mut self, event: &EventRecord, narrator: &Narrator<'_>, now_secs: f64) {
        match event.draft.kind {
            EventKind::Message => event.read().map(|message| self.note_message(event, message, now_secs)),
            EventKind::Read => event.read().map(|read| self.note_read(event, read, now_secs)),
            EventKind::Complete => event.read().map(|end: Complete| self.remark(event, end.text, now_secs)),
            EventKind::ElementChanged => event.read().map(|change| self.note_element(event, change, now_secs)),
            EventKind::ConversationStart => event.read().map(|start| self.note_start(event, start)),
            EventKind::ConversationEnd => event.read().map(|end: ConversationEnd| {
                if let Some(talk) = self.talk(event.draft.session.as_ref()) {
                    talk.ended = Some(end.why);
                }
            }),
            EventKind::Publish => {
                event.read().map(|said: Publish| self.send(event, said.by.as_ref(), &said.to, now_secs))
            }
            EventKind::TaskResultReturned => {
                event.read().map(|given: TaskResultReturned| self.send(event, None, &[given.to], now_secs))
            }
            EventKind::WorkflowStep => event.read().map(|step: WorkflowStep| self.receive(event, &step.from, now_secs)),
            EventKind::Knowledge => event.read().map(|knowledge| self.note_knowledge(event, knowledge, now_secs)),
            EventKind::FileChange => event.read().map(|change| self.note_file(event, &change, now_secs)),
            EventKind::Budget => event.read().map(|budget| self.note_budget(event, budget, narrator)),
            EventKind::Warning => event.read().map(|warning| self.note_warning(event, warning, narrator, now_secs)),
            EventKind::Other(_) => event.read().map(|OwnCommands { commands }| {
                if let Some(agent) = &event.draft.agent {
                    self.own_commands.insert(agent.clone(), commands);
                }
            }),
            _ => None,
        };
    }

    fn note_message(&mut self, event: &EventRecord, message: Message, now_secs: f64) {
        let speaker = event.draft.agent.clone().unwrap_or_else(|| USER.into());
        if let Some(talk) = self.talk(event.draft.session.as_ref()) {
            talk.said.push((speaker.clone(), message.text.clone()));
        }
        self.bubbles.insert(speaker, Bubble { text: message.text, born_secs: now_secs, aloud: true });
    }

    fn note_read(&mut self, event: &EventRecord, read: Read, now_secs: f64) {
        if let Some(element) = read.element {
            self.pulses.insert(element, (PulseKind::Read, now_secs));
        }
        if let Some(said) = read.said.filter(|said| !said.is_empty()) {
            self.remark(event, said, now_secs);
        }
    }

    /// Shows a remark without an addressee.
    fn remark(&mut self, event: &EventRecord, text: String, now_secs: f64) {
        if let Some(agent) = &event.draft.agent {
            self.bubbles.insert(agent.clone(), Bubble { text, born_secs: now_secs, aloud: false });
        }
    }

    fn note_element(&mut self, event: &EventRecord, change: ElementChanged, now_secs: f64) {
        // Elements that are loaded with the scene are not news.
        if change.change != ElementChangeKind::Added {
            self.changes.insert(change.element.clone(), EventRow::of(event));
            self.pulses.insert(change.element, (PulseKind::Changed, now_secs));
        }
    }

    fn note_start(&mut self, event: &EventRecord, start: ConversationStart) {
        self.talks.push_back(PastTalk {
            session: event.draft.session.clone().unwrap_or_else(|| "".into()),
            participants: start.participants,
            topic: start.topic,
            said: Vec::new(),
            ended: None,
            began_tick: event.tick,
        });
    }

    fn note_knowledge(&mut self, event: &EventRecord, knowledge: Knowledge, now_secs: f64) {
        let (Some(agent), Knowledge::Recalled { memories, .. }) = (&event.draft.agent, knowledge) else { return };
        let mut from: Vec<Id> = Vec::new();
        for memory in memories {
            from.extend(memory.shared_by);
            // Conversations of earlier runs can have the same session id.
            let session = memory.session.filter(|_| memory.run.as_ref() == Some(&event.run));
            let talk = session.and_then(|session| self.talks.iter().find(|talk| talk.session == session));
            from.extend(talk.into_iter().flat_map(|talk| talk.participants.iter().cloned()));
        }
        from.sort_unstable();
        from.dedup();
        from.retain(|other| other != agent);
        self.thoughts.insert(agent.clone(), RecentRecall { from, since_secs: now_secs });
    }

    fn note_file(&mut self, event: &EventRecord, change: &FileChange, now_secs: f64) {
        let Some(agent) = event.draft.agent.clone().filter(|_| !change.gone) else { return };
        let name = change.path.rsplit('/').next().unwrap_or_default().to_owned();
        self.sheets.push(WrittenFile { agent, name, since_secs: now_secs });
        let surplus = self.sheets.len().saturating_sub(SHEETS_SHOWN);
        self.sheets.drain(..surplus);
    }

    /// Shows letters to these agents, from `by` or else the record's agent.
    fn send(&mut self, event: &EventRecord, by: Option<&Id>, to: &[Id], now_secs: f64) {
        let Some(from) = event.draft.agent.as_ref().or(by) else { return };
        self.post(to.iter().map(|to| (from, to)), now_secs);
    }

    /// Shows letters from these agents to the record's agent, which continues with their results.
    fn receive(&mut self, event: &EventRecord, from: &[Id], now_secs: f64) {
        let Some(to) = event.draft.agent.as_ref() else { return };
        self.post(from.iter().map(|from| (from, to)), now_secs);
    }

    fn post<'a>(&mut self, ways: impl Iterator<Item = (&'a Id, &'a Id)>, now_secs: f64) {
        self.letters.extend(ways.map(|(from, to)| WorkMessage {
            from: from.clone(),
            to: to.clone(),
            since_secs: now_secs,
        }));
        let surplus = self.letters.len().saturating_sub(LETTERS_SHOWN);
        self.letters.drain(..surplus);
    }

    fn note_budget(&mut self, event: &EventRecord, budget: Budget, narrator: &Narrator<'_>) {
        if budget.is_refusal() {
            let (agent, cap) = (event.draft.agent.clone(), Some(budget.cap.into_owned()));
            self.push_refused(Refused { agent, cap, ..Refused::of(narrator.narrate(event)) });
        }
    }

    fn note_warning(&mut self, event: &EventRecord, warning: Warning, narrator: &Narrator<'_>, now_secs: f64) {
        match &event.draft.agent {
            Some(agent) => {
                // A conflicting change concerns the readers as much as the writer.
                for reader in warning.readers.iter().flatten() {
                    let path = warning.path.as_deref().unwrap_or_default();
                    self.refusals.insert(reader.clone(), (format!("{path}: {}", warning.what), now_secs));
                }
                self.refusals.insert(agent.clone(), (warning.what.into_owned(), now_secs));
            }
            // Problems in files are listed in the problems pane as long as they exist.
            None if warning.is_problem() => {}
            // The readers learn of a person's change and read the file again; for the person it is no failure.
            None if warning.writer.as_deref() == Some(USER) && warning.readers.is_some() => {}
            None => self.push_refused(Refused { element: warning.element, ..Refused::of(narrator.narrate(event)) }),
        }
    }

    fn push_refused(&mut self, refused: Refused) {
        if self.refused.back() != Some(&refused) {
            self.refused.push_back(refused);
        }
    }

    fn talk(&mut self, session: Option<&Id>) -> Option<&mut PastTalk> {
        self.talks.iter_mut().rev().find(|talk| Some(&talk.session) == session)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Seq;
    use crate::log::{EventData, EventDraft, Names};

    fn record(event: &impl EventData) -> EventRecord {
        let draft = EventDraft::of(event).agent(&"ada-1".into()).session("conversation-0");
        EventRecord { seq: Seq(1), tick: 3, time_ms: 0, run: "r".into(), draft }
    }

    fn add_events(recent: &mut Recent, events: Vec<EventRecord>, now_secs: f64) {
        let names = Names::default();
        recent.apply_events(events, &names.narrator(), now_secs);
    }

    #[test]
    fn speech_is_shown_for_five_seconds_and_kept_in_the_conversation() {
        let mut recent = Recent::default();
        let participants = vec!["ada-1".into(), "bram-1".into()];
        let start = ConversationStart { participants, topic: "tea".into(), ..ConversationStart::default() };
        let message = Message { by: None, text: "Hello.".into(), id: None };
        add_events(&mut recent, vec![record(&start), record(&message)], 10.0);
        assert_eq!(recent.bubbles["ada-1"].text, "Hello.");
        assert!(recent.fade(14.9));
        assert!(!recent.fade(15.1));
        assert_eq!(recent.talks[0].said, [("ada-1".into(), "Hello.".to_owned())]);
        let end = ConversationEnd { why: "all was said".into(), turns: None };
        add_events(&mut recent, vec![record(&end)], 16.0);
        assert_eq!(recent.talks[0].ended.as_deref(), Some("all was said"));
    }

    #[test]
    fn refusals_of_the_person_are_queued_for_display_and_those_of_agents_are_not() {
        let of_nobody = |warning: Warning| {
            let mut record = record(&warning);
            record.draft.agent = None;
            record
        };
        let mut recent = Recent::default();
        let gone =
            Warning { element: Some("ideas".into()), by: Some("user".into()), ..Warning::new("there is no such pin") };
        let broken = Warning { place: Some("agents/ada.md".into()), ..Warning::new("unknown key") };
        let cap = Budget {
            act: "refused".into(),
            cap: "calls_per_run".into(),
            what: "the cap is reached".into(),
            remedy: "wait".into(),
            ..Budget::default()
        };
        let refused = vec![
            of_nobody(gone.clone()),
            of_nobody(gone),
            of_nobody(broken),
            record(&Warning::new("the board is full")),
            record(&cap),
        ];
        add_events(&mut recent, refused, 0.0);
        let told: Vec<_> =
            recent.refused.iter().map(|refused| (refused.what.as_str(), refused.cap.as_deref())).collect();
        let wanted =
            [("you could not change ideas: there is no such pin", None), ("the cap is reached", Some("calls_per_run"))];
        assert_eq!(told, wanted);
        assert_eq!((recent.refused[0].element.as_deref(), &*recent.refused[1].remedy), (Some("ideas"), "wait"));
        let many = (0..500).map(|number| of_nobody(Warning::new(format!("no {number}")))).collect();
        add_events(&mut recent, many, 0.0);
        assert_eq!(recent.refused.len(), REFUSED_KEPT);
    }

    #[test]
    fn a_channel_message_shows_a_letter_to_each_listener() {
        let mut recent = Recent::default();
        let said = Publish { to: vec!["bram-1".into(), "cleo-1".into()], ..Publish::default() };
        add_events(&mut recent, vec![record(&said)], 1.0);
        let ways: Vec<(&str, &str)> = recent.letters.iter().map(|letter| (&*letter.from, &*letter.to)).collect();
        assert_eq!(ways, [("ada-1", "bram-1"), ("ada-1", "cleo-1")]);
        assert!(recent.fade(1.0 + LETTER_SECS / 2.0));
        assert!(!recent.fade(1.1 + LETTER_SECS));
        add_events(&mut recent, (0..500).map(|_| record(&said)).collect(), 4.0);
        assert_eq!(recent.letters.len(), LETTERS_SHOWN);
    }

    #[test]
    fn a_result_shows_a_letter_from_each_contributor() {
        let mut recent = Recent::default();
        let step = WorkflowStep {
            to: "running".into(),
            from: vec!["bram-1".into(), "cleo-1".into()],
            ..WorkflowStep::default()
        };
        add_events(&mut recent, vec![record(&step)], 1.0);
        let ways: Vec<(&str, &str)> = recent.letters.iter().map(|letter| (&*letter.from, &*letter.to)).collect();
        assert_eq!(ways, [("bram-1", "ada-1"), ("cleo-1", "ada-1")]);
    }

    #[test]
    fn an_agent_s_refusal_is_shown_for_ten_seconds() {
        let mut recent = Recent::default();
        add_events(&mut recent, vec![record(&Warning::new("there is no pin p9"))], 1.0);
        add_events(&mut recent, vec![record(&Warning::new("the board is full"))], 4.0);
        assert!(recent.fade(13.9));
        assert_eq!(recent.refusals["ada-1"], ("the board is full".to_owned(), 4.0));
        assert!(!recent.fade(14.1));
    }
}
