//! What happened lately, taken from the log as it grows: bubbles, glimmers on elements, finished conversations and
//! the tail of the log. Only for the eye; bounded, and nothing in the room decides by it.

use std::collections::{BTreeMap, VecDeque};

use serde_json::Value;

use crate::base::Id;
use crate::store::{EventKind, EventRecord};

/// A bubble stays so many seconds of real time.
pub const BUBBLE_SECS: f64 = 5.0;
/// An element glimmers so long after it changed or was read.
pub const PULSE_SECS: f64 = 1.6;
/// Conversations that are over and can still be read.
const TALKS_KEPT: usize = 50;
/// Records of the log that are at hand.
const EVENTS_KEPT: usize = 2_000;

/// Something said, shown above whoever said it.
#[derive(Clone, PartialEq, Debug)]
pub struct Bubble {
    /// What.
    pub text: String,
    /// When it appeared, in seconds of real time.
    pub born_secs: f64,
    /// Whether it was said to somebody; a remark of one's own otherwise.
    pub aloud: bool,
}

/// Why an element glimmers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PulseKind {
    /// What it holds changed.
    Changed,
    /// It was read.
    Read,
}

/// A conversation, as long as it can be read.
#[derive(Clone, Debug)]
pub struct PastTalk {
    /// Its session in the log: `conversation-3`.
    pub session: Id,
    /// Who took part, by id.
    pub participants: Vec<Id>,
    /// About what; may be empty.
    pub topic: String,
    /// Who said what.
    pub said: Vec<(Id, String)>,
    /// Why it ended; absent while it goes on.
    pub ended: Option<String>,
    /// The tick it began in.
    pub began_tick: u64,
}

/// What happened lately.
#[derive(Clone, Debug, Default)]
pub struct Recent {
    /// The last thing that each agent said, by id.
    pub bubbles: BTreeMap<Id, Bubble>,
    /// Elements that changed or were read, by id, and when in real time.
    pub pulses: BTreeMap<Id, (PulseKind, f64)>,
    /// A sign over an agent that passed somebody, by agent id: what, and since when in real time.
    pub reactions: BTreeMap<Id, (&'static str, f64)>,
    /// What an agent was refused last, by id, and since when in real time.
    pub refusals: BTreeMap<Id, (String, f64)>,
    /// Conversations, oldest first.
    pub talks: VecDeque<PastTalk>,
    /// The tail of the log, oldest first.
    pub events: VecDeque<EventRecord>,
}

impl Recent {
    /// Takes in what happened. `now_secs` is real time, of any beginning.
    pub fn take_in(&mut self, events: Vec<EventRecord>, now_secs: f64) {
        for event in events {
            self.note(&event, now_secs);
            self.events.push_back(event);
        }
        let surplus = self.events.len().saturating_sub(EVENTS_KEPT);
        self.events.drain(..surplus);
        let surplus = self.talks.len().saturating_sub(TALKS_KEPT);
        self.talks.drain(..surplus);
    }

    /// Forgets what has faded. Whether something is still fading.
    pub fn fade(&mut self, now_secs: f64) -> bool {
        self.bubbles.retain(|_, bubble| now_secs - bubble.born_secs < BUBBLE_SECS);
        self.pulses.retain(|_, (_, since)| now_secs - *since < PULSE_SECS);
        self.reactions.retain(|_, (_, since)| now_secs - *since < PULSE_SECS);
        self.refusals.retain(|_, (_, since)| now_secs - *since < 2.0 * BUBBLE_SECS);
        !(self.bubbles.is_empty() && self.pulses.is_empty() && self.reactions.is_empty() && self.refusals.is_empty())
    }

    fn note(&mut self, event: &EventRecord, now_secs: f64) {
        let kind = event.draft.kind;
        let matters = matches!(
            kind,
            EventKind::Message
                | EventKind::Read
                | EventKind::Complete
                | EventKind::ElementChanged
                | EventKind::ConversationStart
                | EventKind::ConversationEnd
                | EventKind::Warning
        );
        if !matters {
            return;
        }
        let Ok(data) = serde_json::from_str::<Value>(event.draft.data.get()) else { return };
        let text = |key: &str| data[key].as_str().unwrap_or_default().to_owned();
        let agent = event.draft.agent.clone();
        match kind {
            EventKind::Message => {
                let speaker = agent.unwrap_or_else(|| "user".into());
                if let Some(talk) = self.talk(event.draft.session.as_ref()) {
                    talk.said.push((speaker.clone(), text("text")));
                }
                let bubble = Bubble { text: text("text"), born_secs: now_secs, aloud: true };
                self.bubbles.insert(speaker, bubble);
            }
            EventKind::Read => {
                self.pulses.insert(text("element").into(), (PulseKind::Read, now_secs));
                if let (Some(agent), Some(said)) = (agent, data["said"].as_str().filter(|said| !said.is_empty())) {
                    self.bubbles.insert(agent, Bubble { text: said.to_owned(), born_secs: now_secs, aloud: false });
                }
            }
            EventKind::Complete => {
                if let Some(agent) = agent {
                    self.bubbles.insert(agent, Bubble { text: text("text"), born_secs: now_secs, aloud: false });
                }
            }
            // What comes with the scene is no news.
            EventKind::ElementChanged if data["change"] == "added" => {}
            EventKind::ElementChanged => {
                self.pulses.insert(text("element").into(), (PulseKind::Changed, now_secs));
            }
            EventKind::ConversationStart => {
                let names = data["participants"].as_array();
                let participants = names.map(|names| names.iter().filter_map(Value::as_str).map(Id::from).collect());
                self.talks.push_back(PastTalk {
                    session: event.draft.session.clone().unwrap_or_else(|| "".into()),
                    participants: participants.unwrap_or_default(),
                    topic: text("topic"),
                    said: Vec::new(),
                    ended: None,
                    began_tick: event.tick,
                });
            }
            EventKind::ConversationEnd => {
                if let Some(talk) = self.talk(event.draft.session.as_ref()) {
                    talk.ended = Some(text("why"));
                }
            }
            _ => {
                if let Some(agent) = agent {
                    self.refusals.insert(agent, (text("what"), now_secs));
                }
            }
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
    use crate::store::EventDraft;
    use serde_json::json;

    fn record(kind: EventKind, data: Value) -> EventRecord {
        let draft = EventDraft::new(kind, data).agent(&"ada-1".into()).session("conversation-0");
        EventRecord { seq: Seq(1), tick: 3, time_ms: 0, run: "r".into(), draft }
    }

    #[test]
    fn what_is_said_shows_for_five_seconds_and_stays_in_the_conversation() {
        let mut recent = Recent::default();
        let start =
            record(EventKind::ConversationStart, json!({ "participants": ["ada-1", "bram-1"], "topic": "tea" }));
        recent.take_in(vec![start, record(EventKind::Message, json!({ "text": "Hello." }))], 10.0);
        assert_eq!(recent.bubbles["ada-1"].text, "Hello.");
        assert!(recent.fade(14.9));
        assert!(!recent.fade(15.1));
        assert_eq!(recent.talks[0].said, [("ada-1".into(), "Hello.".to_owned())]);
        recent.take_in(vec![record(EventKind::ConversationEnd, json!({ "why": "all was said" }))], 16.0);
        assert_eq!(recent.talks[0].ended.as_deref(), Some("all was said"));
    }

    #[test]
    fn the_tail_of_the_log_is_bounded() {
        let mut recent = Recent::default();
        let many = (0..EVENTS_KEPT + 10).map(|_| record(EventKind::State, json!({}))).collect();
        recent.take_in(many, 0.0);
        assert_eq!(recent.events.len(), EVENTS_KEPT);
    }
}
