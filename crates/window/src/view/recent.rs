//! What happened lately, taken from the log as it grows: bubbles, glimmers on elements, finished conversations and
//! the tail of the log. Only for the eye; bounded, and nothing in the room decides by it.

use std::collections::{BTreeMap, VecDeque};

use serde_json::Value;

use super::book::EventBook;
use crate::base::Id;
use crate::log::{EventKind, EventRecord};

/// A bubble stays so many seconds of real time.
pub const BUBBLE_SECS: f64 = 5.0;
/// An element glimmers so long after it changed or was read.
pub const PULSE_SECS: f64 = 1.6;
/// A sign over an agent that was refused something stays so long.
pub const REFUSAL_SECS: f64 = 2.0 * BUBBLE_SECS;
/// Conversations that are over and can still be read.
const TALKS_KEPT: usize = 50;
/// Refusals that wait to be told.
const REFUSED_KEPT: usize = 100;
/// Orders of a person about files whose outcome is remembered.
const ORDERS_KEPT: usize = 200;

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

/// Something that a person or an agent asked for and did not get, or that a cap forbade.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Refused {
    /// What, as one sentence without a full stop.
    pub what: String,
    /// What to do; empty where nothing can be done.
    pub remedy: String,
    /// The agent that it is about.
    pub agent: Option<Id>,
    /// The element that it is about.
    pub element: Option<Id>,
    /// The field of `budget` that sets the cap.
    pub cap: Option<String>,
}

/// A sheet that an agent has just written lies in its hands, goes to the shelf and is gone after so long.
pub const SHEET_SECS: f64 = 3.0;
/// More sheets than this are not in the air at once.
const SHEETS_SHOWN: usize = 24;

/// A file that an agent has just written.
#[derive(Clone, PartialEq, Debug)]
pub struct Sheet {
    /// Who wrote it, by id.
    pub agent: Id,
    /// The file's name, without its folders.
    pub name: String,
    /// Since when, in real time.
    pub since_secs: f64,
}

/// What happened lately.
#[derive(Clone, Debug, Default)]
pub struct Recent {
    /// The last thing that each agent said, by id.
    pub bubbles: BTreeMap<Id, Bubble>,
    /// Elements that changed or were read, by id, and when in real time.
    pub pulses: BTreeMap<Id, (PulseKind, f64)>,
    /// A sign over an agent that passed or looked at somebody, by agent id: what, and since when in real time.
    pub reactions: BTreeMap<Id, (&'static str, f64)>,
    /// What an agent was refused last, by id, and since when in real time.
    pub refusals: BTreeMap<Id, (String, f64)>,
    /// Files that agents have just written, oldest first.
    pub sheets: Vec<Sheet>,
    /// What a person is still to be told, oldest first; taken away by whoever tells it.
    pub refused: VecDeque<Refused>,
    /// Conversations, oldest first.
    pub talks: VecDeque<PastTalk>,
    /// The log, newest last.
    pub book: EventBook,
    /// How files went that a person changed in the window, by the name of the order: newest last, bounded.
    pub orders: VecDeque<(Id, Result<(), String>)>,
}

impl Recent {
    /// Takes in what happened. `now_secs` is real time, of any beginning.
    pub fn take_in(&mut self, events: Vec<EventRecord>, now_secs: f64) {
        for event in events {
            self.note(&event, now_secs);
            self.book.push(&event);
        }
        let surplus = self.talks.len().saturating_sub(TALKS_KEPT);
        self.talks.drain(..surplus);
        let surplus = self.refused.len().saturating_sub(REFUSED_KEPT);
        self.refused.drain(..surplus);
    }

    /// Takes in how orders of a person about files went.
    pub fn take_in_orders(&mut self, told: impl IntoIterator<Item = (Id, Result<(), String>)>) {
        self.orders.extend(told);
        let surplus = self.orders.len().saturating_sub(ORDERS_KEPT);
        self.orders.drain(..surplus);
    }

    /// Takes in the signs that agents showed.
    pub fn take_in_reactions(&mut self, shown: BTreeMap<Id, &'static str>, now_secs: f64) {
        self.reactions.extend(shown.into_iter().map(|(agent, sign)| (agent, (sign, now_secs))));
    }

    /// How an order of a person about files went, once it is known.
    pub fn order(&self, key: &str) -> Option<&Result<(), String>> {
        self.orders.iter().rev().find(|(name, _)| &**name == key).map(|(_, result)| result)
    }

    /// Forgets what has faded. Whether something is still fading.
    pub fn fade(&mut self, now_secs: f64) -> bool {
        self.bubbles.retain(|_, bubble| now_secs - bubble.born_secs < BUBBLE_SECS);
        self.pulses.retain(|_, (_, since)| now_secs - *since < PULSE_SECS);
        self.reactions.retain(|_, (_, since)| now_secs - *since < PULSE_SECS);
        self.refusals.retain(|_, (_, since)| now_secs - *since < REFUSAL_SECS);
        self.sheets.retain(|sheet| now_secs - sheet.since_secs < SHEET_SECS);
        !(self.sheets.is_empty()
            && self.bubbles.is_empty()
            && self.pulses.is_empty()
            && self.reactions.is_empty()
            && self.refusals.is_empty())
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
                | EventKind::Budget
                | EventKind::FileChange
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
            EventKind::FileChange => {
                if let Some(agent) = agent.filter(|_| data.get("gone").is_none()) {
                    let path = text("path");
                    let name = path.rsplit('/').next().unwrap_or_default().to_owned();
                    self.sheets.push(Sheet { agent, name, since_secs: now_secs });
                    let surplus = self.sheets.len().saturating_sub(SHEETS_SHOWN);
                    self.sheets.drain(..surplus);
                }
            }
            EventKind::Budget => {
                let cap = Some(text("cap")).filter(|cap| data["act"] == "refused" && !cap.is_empty());
                if cap.is_some() {
                    self.tell(Refused { what: text("what"), remedy: text("remedy"), agent, element: None, cap });
                }
            }
            _ => match agent {
                Some(agent) => {
                    // A file that changed under those who had read it concerns them as much as its writer.
                    for reader in data["readers"].as_array().into_iter().flatten().filter_map(Value::as_str) {
                        let what = format!("{}: {}", text("path"), text("what"));
                        self.refusals.insert(reader.into(), (what, now_secs));
                    }
                    self.refusals.insert(agent, (text("what"), now_secs));
                }
                // What is wrong in a file is a problem, and told as one for as long as it is wrong.
                None if data.get("place").is_some() || data.get("subject").is_some() => {}
                None => {
                    let element = data["element"].as_str().map(Id::from);
                    let why = text("why");
                    let what = if why.is_empty() { text("what") } else { format!("{}: {why}", text("what")) };
                    self.tell(Refused { what, remedy: text("remedy"), agent: None, element, cap: None });
                }
            },
        }
    }

    fn tell(&mut self, refused: Refused) {
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
    use crate::log::EventDraft;
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
    fn refusals_of_a_person_s_wishes_wait_to_be_told_and_an_agent_s_do_not() {
        let of_nobody = |kind, data| {
            let mut record = record(kind, data);
            record.draft.agent = None;
            record
        };
        let mut recent = Recent::default();
        let gone = json!({ "element": "ideas", "what": "there is no such pin", "by": "user" });
        let broken = json!({ "place": "agents/ada.md", "line": 4, "what": "unknown key", "remedy": "mend it" });
        let cap = json!({ "act": "refused", "cap": "calls_per_run", "what": "the cap is reached", "remedy": "wait" });
        recent.take_in(
            vec![
                of_nobody(EventKind::Warning, gone.clone()),
                of_nobody(EventKind::Warning, gone),
                of_nobody(EventKind::Warning, broken),
                record(EventKind::Warning, json!({ "what": "the board is full" })),
                record(EventKind::Budget, cap),
            ],
            0.0,
        );
        let told: Vec<_> =
            recent.refused.iter().map(|refused| (refused.what.as_str(), refused.cap.as_deref())).collect();
        assert_eq!(told, [("there is no such pin", None), ("the cap is reached", Some("calls_per_run"))]);
        assert_eq!(recent.refused[0].element.as_deref(), Some("ideas"));
        let many =
            (0..500).map(|number| of_nobody(EventKind::Warning, json!({ "what": format!("no {number}") }))).collect();
        recent.take_in(many, 0.0);
        assert_eq!(recent.refused.len(), REFUSED_KEPT);
    }

    #[test]
    fn what_an_agent_was_refused_is_known_for_ten_seconds() {
        let mut recent = Recent::default();
        let refused = |what: &str| record(EventKind::Warning, json!({ "what": what }));
        recent.take_in(vec![refused("there is no pin p9")], 1.0);
        recent.take_in(vec![refused("the board is full")], 4.0);
        assert!(recent.fade(13.9));
        assert_eq!(recent.refusals["ada-1"], ("the board is full".to_owned(), 4.0));
        assert!(!recent.fade(14.1));
    }
}
