//! Computes which agents know something and how it reached them, from memories and from log rows about conversations,
//! reading and recalling. Pure functions.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::event_list::{EventList, EventRow};
use crate::base::Id;
use crate::base::ids::USER;
use crate::knowledge::{Memory, Owner};
use crate::log::EventKind;
use crate::log::events::{ConversationStart, Knowledge, ToolCall};

/// Maximum number of log rows processed per frame.
const ROWS_A_FRAME: usize = 20_000;
/// Maximum number of memories, conversations and pieces of work that are tracked; the oldest are dropped.
const KEPT: usize = 20_000;

/// How an agent knows something.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum KnowledgeSource {
    /// It is in its own memory.
    Remembers,
    /// The agent shared it with all agents.
    Shared,
    /// The agent recalled it from shared knowledge.
    Reminded,
}

/// How knowledge travelled.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Travel {
    /// Told in a conversation, and remembered.
    Told,
    /// Read from a file during work, and remembered afterwards.
    Read,
    /// Recalled from knowledge that another agent had shared.
    Recalled,
}

/// Who knows something.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct WhoKnows {
    /// The knowledge, in a few words.
    pub what: String,
    /// Every agent that knows it, and how.
    pub knowers: BTreeMap<Id, BTreeSet<KnowledgeSource>>,
    /// Its routes: from an agent id or file path, to an agent id.
    pub ways: BTreeSet<(Id, Id, Travel)>,
}

/// How knowledge travels, according to the log.
#[derive(Clone, Debug, Default)]
pub struct KnowledgeTrail {
    /// The generation of the log that is being followed.
    generation: u64,
    /// The number of the next row to process.
    next: u64,
    /// Which agents recalled a memory, by memory id.
    reminded: BTreeMap<Id, BTreeSet<Id>>,
    /// The participants of conversations, by run and session.
    talks: BTreeMap<(Id, Id), Vec<Id>>,
    /// The files that were read during activations, by run and activation id.
    reads: BTreeMap<(Id, Id), BTreeSet<Id>>,
}

impl KnowledgeTrail {
    /// Processes new log rows. Returns whether there are more.
    pub fn follow(&mut self, book: &EventList) -> bool {
        if self.generation != book.generation() || self.next > book.count() {
            *self = Self { generation: book.generation(), ..Self::default() };
        }
        let mut taken = 0;
        for (number, row) in book.since(self.next).take(ROWS_A_FRAME) {
            self.next = number + 1;
            taken += 1;
            self.note(row);
        }
        taken == ROWS_A_FRAME
    }

    fn note(&mut self, row: &Arc<EventRow>) {
        match row.kind {
            EventKind::Knowledge => {
                let (Some(agent), Some(Knowledge::Recalled { memories, .. })) = (&row.agent, row.read()) else {
                    return;
                };
                for memory in memories {
                    self.reminded.entry(memory.id).or_default().insert(agent.clone());
                }
                bound(&mut self.reminded);
            }
            EventKind::ConversationStart => {
                let (Some(session), Some(start)) = (&row.session, row.read::<ConversationStart>()) else { return };
                self.talks.insert((row.run.clone(), session.clone()), start.participants);
                bound(&mut self.talks);
            }
            EventKind::ToolCall => {
                let Some(work) = &row.activation else { return };
                let Some(path) = row.read::<ToolCall>().and_then(|call| call.file_read()) else { return };
                self.reads.entry((row.run.clone(), work.clone())).or_default().insert(path);
                bound(&mut self.reads);
            }
            _ => {}
        }
    }

    /// The agents that recalled a memory.
    pub fn reminded(&self, memory: &str) -> impl Iterator<Item = &Id> {
        self.reminded.get(memory).into_iter().flatten()
    }

    /// Who knows these memories, and how it reached them.
    pub fn who_knows<'a>(&self, what: String, memories: impl IntoIterator<Item = (&'a Memory, &'a Owner)>) -> WhoKnows {
        let mut known = WhoKnows { what, ..WhoKnows::default() };
        for (memory, owner) in memories {
            match owner {
                Owner::Agent(agent) => self.note_own(&mut known, memory, agent),
                Owner::Shared => self.note_shared(&mut known, memory),
            }
        }
        known
    }

    fn note_own(&self, known: &mut WhoKnows, memory: &Memory, agent: &Id) {
        known.knowers.entry(agent.clone()).or_default().insert(KnowledgeSource::Remembers);
        self.note_origin(known, memory, agent);
    }

    fn note_shared(&self, known: &mut WhoKnows, memory: &Memory) {
        let author = Some(&memory.agent).filter(|author| ***author != *USER);
        if let Some(author) = author {
            known.knowers.entry(author.clone()).or_default().insert(KnowledgeSource::Shared);
            self.note_origin(known, memory, author);
        }
        for agent in self.reminded(&memory.id).filter(|agent| Some(*agent) != author) {
            known.knowers.entry(agent.clone()).or_default().insert(KnowledgeSource::Reminded);
            known.ways.extend(author.map(|author| (author.clone(), agent.clone(), Travel::Recalled)));
        }
    }

    /// Adds the sources from which an agent has a memory.
    fn note_origin(&self, known: &mut WhoKnows, memory: &Memory, agent: &Id) {
        let (Some(run), Some(session)) = (&memory.source.run, &memory.source.session) else { return };
        let key = (run.clone(), session.clone());
        let others = self.talks.get(&key).into_iter().flatten().filter(|other| *other != agent);
        known.ways.extend(others.map(|other| (other.clone(), agent.clone(), Travel::Told)));
        let read = self.reads.get(&key).into_iter().flatten();
        known.ways.extend(read.map(|path| (path.clone(), agent.clone(), Travel::Read)));
    }
}

fn bound<K: Ord, V>(kept: &mut BTreeMap<K, V>) {
    if kept.len() > KEPT {
        kept.pop_first();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Seq;
    use crate::knowledge::Source;
    use crate::log::events::{RecalledScore, Touch};
    use crate::log::{EventData, EventDraft, EventRecord};

    fn row<E: EventData>(book: &mut EventList, event: &E, agent: Option<&str>, session: Option<&str>) {
        let mut draft = EventDraft::of(event);
        draft.agent = agent.map(Id::from);
        draft.session = session.map(Id::from);
        draft.activation = session.filter(|session| session.starts_with("act-")).map(Id::from);
        let seq = Seq(book.count() + 1);
        book.push(&EventRecord { seq, tick: 1, time_ms: 0, run: "r-1".into(), draft });
    }

    fn memory(id: &str, agent: &str, session: Option<&str>) -> Memory {
        let source = Source { run: Some("r-1".into()), session: session.map(Id::from), record: None };
        Memory { id: id.into(), source, ..Memory::new(&agent.into(), "Port 8080 is taken.", None) }
    }

    fn recalled(id: &str) -> Knowledge {
        let memories = vec![RecalledScore { id: id.into(), ..RecalledScore::default() }];
        Knowledge::Recalled { about: "ports".to_owned(), memories }
    }

    #[test]
    fn all_knowers_are_found_with_the_routes_of_knowledge() {
        let mut book = EventList::default();
        let talk = ConversationStart { participants: vec!["ada".into(), "bob".into()], ..Default::default() };
        row(&mut book, &talk, None, Some("conversation-1"));
        let touches = vec![Touch::new("file.read", "boards/ports.md")];
        let read = ToolCall { tool: "read_file".into(), touches, ..ToolCall::default() };
        row(&mut book, &read, Some("cy"), Some("act-7"));
        row(&mut book, &recalled("k-shared"), Some("dana"), None);
        row(&mut book, &recalled("k-shared"), Some("cy"), None);
        let mut trail = KnowledgeTrail::default();
        assert!(!trail.follow(&book));
        let conversation_memory = memory("k-1", "ada", Some("conversation-1"));
        let shared = Memory { shared: true, ..memory("k-shared", "cy", Some("act-7")) };
        let (ada, all) = (Owner::Agent("ada".into()), Owner::Shared);
        let known = trail.who_knows("ports".to_owned(), [(&conversation_memory, &ada), (&shared, &all)]);
        let knowers: Vec<(&str, Vec<KnowledgeSource>)> =
            known.knowers.iter().map(|(agent, how)| (&**agent, how.iter().copied().collect())).collect();
        assert_eq!(
            knowers,
            [
                ("ada", vec![KnowledgeSource::Remembers]),
                ("cy", vec![KnowledgeSource::Shared]),
                ("dana", vec![KnowledgeSource::Reminded]),
            ]
        );
        let ways: Vec<(&str, &str, Travel)> = known.ways.iter().map(|(from, to, how)| (&**from, &**to, *how)).collect();
        assert_eq!(
            ways,
            [("boards/ports.md", "cy", Travel::Read), ("bob", "ada", Travel::Told), ("cy", "dana", Travel::Recalled)]
        );
    }

    #[test]
    fn a_person_s_note_is_known_by_agents_that_recalled_it() {
        let mut book = EventList::default();
        row(&mut book, &recalled("k-9"), Some("ada"), None);
        let mut trail = KnowledgeTrail::default();
        trail.follow(&book);
        let shared = Memory { shared: true, ..memory("k-9", USER, None) };
        let known = trail.who_knows(String::new(), [(&shared, &Owner::Shared)]);
        assert_eq!(known.knowers.keys().map(|agent| &**agent).collect::<Vec<_>>(), ["ada"]);
        assert!(known.ways.is_empty());
    }
}
