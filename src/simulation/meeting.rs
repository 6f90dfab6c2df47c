//! Who may talk to whom and when, and whose turn it is: the rules of conversations, without a world.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::activity::ActivityId;
use super::conversation::{Conversation, ConversationKind};
use super::settings::ConversationSettings;
use crate::base::{AgentKey, ElementKey, Seq};
use crate::schedule::ticks;

/// Ticks in an hour.
fn hour() -> u64 {
    ticks(3600.0)
}

/// A conversation that someone wants, before it begins.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Proposal {
    /// Names it among the proposals of a room.
    pub id: u32,
    /// Why.
    pub kind: ConversationKind,
    /// Who; the others come to the first.
    pub participants: Vec<AgentKey>,
    /// About what.
    pub topic: String,
    /// What is told, where something is: the element and its version.
    pub news: Option<(ElementKey, u32)>,
    /// When patience ends, once they have begun to come together.
    pub deadline: Option<u64>,
    /// The record that it comes from.
    pub cause: Seq,
}

/// Puts a proposal among those that wait: by precedence of its kind, then first come. Hands it back if too many wait.
pub fn enqueue(waiting: &mut Vec<Proposal>, proposal: Proposal, at_most: usize) -> Result<(), Proposal> {
    if waiting.len() >= at_most {
        return Err(proposal);
    }
    let index = waiting.partition_point(|other| other.kind <= proposal.kind);
    waiting.insert(index, proposal);
    Ok(())
}

/// What the rules about talk remember.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct TalkLedger {
    /// When banter began, within the last hour.
    banter: Vec<u64>,
    /// When pairs (smaller key first) last talked.
    talked: BTreeMap<AgentKey, BTreeMap<AgentKey, u64>>,
}

impl TalkLedger {
    /// Whether another conversation that nobody asked for may begin.
    pub fn may_banter(&self, now: u64, settings: &ConversationSettings) -> bool {
        self.banter.iter().filter(|began| **began + hour() > now).count() < settings.banter_per_hour
    }

    /// When these two last talked.
    pub fn last(&self, one: AgentKey, other: AgentKey) -> Option<u64> {
        self.talked.get(&one.min(other))?.get(&one.max(other)).copied()
    }

    /// Whether these two may begin to banter: if they never met, or if long enough has passed and one has learned
    /// something since, so that a room in which nothing changes costs nothing. `learned` is the later of
    /// the ticks at which either learned something.
    pub fn fits(&self, pair: (AgentKey, AgentKey), learned: u64, now: u64, settings: &ConversationSettings) -> bool {
        self.last(pair.0, pair.1).is_none_or(|last| now >= last + ticks(settings.pair_secs) && learned > last)
    }

    /// Notes that a conversation began.
    pub fn began(&mut self, kind: ConversationKind, now: u64) {
        if kind >= ConversationKind::Relationship {
            self.banter.retain(|began| *began + hour() > now);
            self.banter.push(now);
        }
    }

    /// Notes that these have talked.
    pub fn talked(&mut self, participants: &[AgentKey], now: u64) {
        for (index, one) in participants.iter().enumerate() {
            for other in &participants[index + 1..] {
                self.talked.entry(*one.min(other)).or_default().insert(*one.max(other), now);
            }
        }
    }

    /// Forgets an agent that has left the room.
    pub fn forget(&mut self, agent: AgentKey) {
        self.talked.remove(&agent);
        for with in self.talked.values_mut() {
            with.remove(&agent);
        }
        self.talked.retain(|_, with| !with.is_empty());
    }

    /// Of the pairs that fit, the one that talked least recently; of equal ones the smallest keys. Ends early at a
    /// pair that never met, so `pairs` is to be in order of keys.
    pub fn choose(&self, pairs: impl Iterator<Item = (AgentKey, AgentKey)>) -> Option<(AgentKey, AgentKey)> {
        let mut best: Option<(u64, (AgentKey, AgentKey))> = None;
        for pair in pairs {
            match self.last(pair.0, pair.1) {
                None => return Some(pair),
                Some(last) if best.is_none_or(|(least, held)| (last, pair) < (least, held)) => {
                    best = Some((last, pair));
                }
                Some(_) => {}
            }
        }
        best.map(|(_, pair)| pair)
    }
}

/// Where a conversation stands between turns.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct TurnState {
    /// Who thinks about what to say, where somebody does.
    pub awaited: Option<(AgentKey, ActivityId)>,
    /// Turns that failed one after another.
    pub failures: u32,
    /// The record that the next turn comes from.
    pub cause: Seq,
}

/// Takes the turn of whoever's it is: goes on to the next, or says why the conversation is over.
pub fn turn_taken(conversation: &mut Conversation, turn: &mut TurnState, failed: bool) -> Option<&'static str> {
    turn.awaited = None;
    turn.failures = if failed { turn.failures + 1 } else { 0 };
    conversation.turns_taken += 1;
    if !conversation.participants.is_empty() {
        conversation.speaker = (conversation.speaker + 1) % conversation.participants.len();
    }
    if turn.failures >= 2 {
        Some("two turns failed one after another")
    } else if conversation.turns_taken >= conversation.turns_at_most {
        Some("all was said")
    } else {
        None
    }
}

/// Takes an agent out: the one whose turn it is stays the same, or becomes the next. Whether it was in it.
pub fn leave(conversation: &mut Conversation, turn: &mut TurnState, agent: AgentKey) -> bool {
    let Some(index) = conversation.participants.iter().position(|one| *one == agent) else { return false };
    conversation.participants.remove(index);
    if index < conversation.speaker {
        conversation.speaker -= 1;
    }
    if conversation.speaker >= conversation.participants.len() {
        conversation.speaker = 0;
    }
    if turn.awaited.is_some_and(|(awaited, _)| awaited == agent) {
        turn.awaited = None;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::ConversationKey;

    fn conversation(participants: u32, turns: u32) -> Conversation {
        Conversation {
            key: ConversationKey(0),
            kind: ConversationKind::Task,
            participants: (0..participants).map(AgentKey).collect(),
            left: Vec::new(),
            topic: None,
            said: Vec::new(),
            turns_taken: 0,
            turns_at_most: turns,
            speaker: 0,
            started: Seq(1),
        }
    }

    fn proposal(id: u32, kind: ConversationKind) -> Proposal {
        Proposal {
            id,
            kind,
            participants: vec![AgentKey(0), AgentKey(1)],
            topic: String::new(),
            news: None,
            deadline: None,
            cause: Seq(1),
        }
    }

    #[test]
    fn proposals_wait_by_kind_and_then_first_come() {
        let mut waiting = Vec::new();
        let kinds = [ConversationKind::Chance, ConversationKind::Tell, ConversationKind::Task, ConversationKind::Tell];
        for (id, kind) in (0..).zip(kinds) {
            assert_eq!(enqueue(&mut waiting, proposal(id, kind), 4), Ok(()));
        }
        assert_eq!(waiting.iter().map(|proposal| proposal.id).collect::<Vec<_>>(), [2, 1, 3, 0]);
        assert!(enqueue(&mut waiting, proposal(9, ConversationKind::Task), 4).is_err());
    }

    #[test]
    fn turns_go_round_and_the_last_is_known() {
        let (mut conversation, mut turn) = (conversation(3, 4), TurnState::default());
        let mut speakers = Vec::new();
        let mut lasts = Vec::new();
        let over = loop {
            speakers.push(conversation.speaker);
            lasts.push(conversation.is_last_turn());
            if let Some(over) = turn_taken(&mut conversation, &mut turn, false) {
                break over;
            }
        };
        assert_eq!((speakers, lasts, over), (vec![0, 1, 2, 0], vec![false, false, false, true], "all was said"));
    }

    #[test]
    fn one_failure_skips_and_two_in_a_row_end_it() {
        let (mut conversation, mut turn) = (conversation(2, 6), TurnState::default());
        assert_eq!(turn_taken(&mut conversation, &mut turn, true), None);
        assert_eq!(conversation.speaker, 1);
        assert_eq!(turn_taken(&mut conversation, &mut turn, false), None);
        assert_eq!(turn_taken(&mut conversation, &mut turn, true), None);
        assert!(turn_taken(&mut conversation, &mut turn, true).is_some());
    }

    #[test]
    fn leaving_keeps_the_right_speaker() {
        for (speaker, leaver, expected) in [(2, 0, 2), (1, 1, 2), (2, 2, 0), (0, 2, 0)] {
            let (mut conversation, mut turn) = (conversation(3, 6), TurnState::default());
            conversation.speaker = speaker;
            turn.awaited = Some((AgentKey(speaker as u32), ActivityId(1)));
            assert!(leave(&mut conversation, &mut turn, AgentKey(leaver)));
            assert_eq!(conversation.participants[conversation.speaker], AgentKey(expected), "{speaker} {leaver}");
            assert_eq!(turn.awaited.is_none(), leaver == speaker as u32);
            assert!(!leave(&mut conversation, &mut turn, AgentKey(leaver)));
        }
    }

    #[test]
    fn banter_is_rare_fair_and_needs_news() {
        let settings = ConversationSettings::default();
        let mut ledger = TalkLedger::default();
        let (a, b, c) = (AgentKey(0), AgentKey(1), AgentKey(2));
        assert!(ledger.fits((a, b), 0, 10, &settings));
        ledger.talked(&[b, a], 100);
        let later = 100 + ticks(settings.pair_secs);
        assert!(!ledger.fits((a, b), 50, later, &settings), "nothing learned");
        assert!(!ledger.fits((a, b), 150, later - 1, &settings), "too soon");
        assert!(ledger.fits((a, b), 150, later, &settings));
        ledger.talked(&[a, c], 90);
        assert_eq!(ledger.choose([(a, b), (a, c)].into_iter()), Some((a, c)));
        assert_eq!(ledger.choose([(a, b), (a, c), (b, c)].into_iter()), Some((b, c)));
        for start in 0..20 {
            assert!(ledger.may_banter(1000, &settings));
            ledger.began(ConversationKind::Chance, start);
            ledger.began(ConversationKind::Task, start);
        }
        assert!(!ledger.may_banter(1000, &settings));
        assert!(ledger.may_banter(hour(), &settings));
        ledger.forget(a);
        assert_eq!(ledger.last(a, b), None);
    }
}
