//! The rules of conversations: who may talk to whom and when, and whose turn it is. Pure.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::conversation::{Conversation, ConversationKind, Utterance};
use super::mind_messages::ActivityId;
use super::provenance::Provenance;
use super::settings::ConversationSettings;
use crate::base::{AgentKey, ConversationKey, ElementKey, Seq};
use crate::schedule::ticks;

/// The ticks in an hour.
fn hour() -> u64 {
    ticks(3600.0)
}

/// A proposed conversation.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Proposal {
    /// An id that is unique in the room.
    pub id: u32,
    /// Why they would talk.
    pub kind: ConversationKind,
    /// The participants; the others come to the first.
    pub participants: Vec<AgentKey>,
    /// The topic.
    pub topic: String,
    /// The news to tell, if any: the element and its version.
    pub news: Option<(ElementKey, u32)>,
    /// The tick at which participants stop waiting, once they have begun to come together.
    pub deadline: Option<u64>,
    /// The log record that caused it.
    pub cause: Seq,
    /// The origin of the topic, which is passed on by talking about it.
    #[serde(default)]
    pub origin: Provenance,
    /// The conversation that it continues, if a model could not be called in that one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub continues: Option<ConversationKey>,
    /// What a person said there and since then, to which nobody has answered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unanswered: Vec<Utterance>,
}

/// Queues a proposal: by precedence of its kind, then first come. Returns it if too many are waiting.
pub fn enqueue(waiting: &mut Vec<Proposal>, proposal: Proposal, at_most: usize) -> Result<(), Box<Proposal>> {
    if waiting.len() >= at_most {
        return Err(Box::new(proposal));
    }
    let index = waiting.partition_point(|other| other.kind <= proposal.kind);
    waiting.insert(index, proposal);
    Ok(())
}

/// The state of the rules of conversations.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct TalkLedger {
    /// When the next unprompted conversation would begin if they were evenly spaced, in ticks. After a pause, several
    /// may begin sooner (`max_banter_saved_up`).
    #[serde(default)]
    next_banter: u64,
    /// When pairs (smaller key first) last talked, and the newest news that either had received by then.
    #[serde(default)]
    pairs: BTreeMap<AgentKey, BTreeMap<AgentKey, LastTalk>>,
}

/// The last time that two talked.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct LastTalk {
    tick: u64,
    newest: Seq,
}

/// The interval in ticks between two unprompted conversations, such that no hour exceeds its limit even with those
/// saved up during a pause.
fn banter_every(settings: &ConversationSettings) -> Option<u64> {
    let (most, saved) = (settings.banter_per_hour, settings.max_banter_saved_up.max(1));
    (most > 0).then(|| hour().div_ceil((most + 1).saturating_sub(saved).max(1) as u64))
}

impl TalkLedger {
    /// Whether another unprompted conversation may begin.
    pub fn may_banter(&self, now: u64, settings: &ConversationSettings) -> bool {
        let saved = settings.max_banter_saved_up.clamp(1, settings.banter_per_hour.max(1)) as u64;
        banter_every(settings).is_some_and(|every| self.next_banter <= now + every * (saved - 1))
    }

    fn last_talk(&self, one: AgentKey, other: AgentKey) -> Option<LastTalk> {
        self.pairs.get(&one.min(other))?.get(&one.max(other)).copied()
    }

    /// When these two last talked.
    pub fn last(&self, one: AgentKey, other: AgentKey) -> Option<u64> {
        self.last_talk(one, other).map(|last| last.tick)
    }

    /// Whether these two may begin an unprompted conversation: one of them has recent news from outside, and they never
    /// talked before, or the news is newer than anything that either knew when they last did. News from conversations
    /// does not count, so a room in which nothing changes costs nothing. `heard` is the newest origin that either has
    /// heard of.
    pub fn may_pair_talk(
        &self,
        pair: (AgentKey, AgentKey),
        heard: Provenance,
        now: u64,
        settings: &ConversationSettings,
    ) -> bool {
        let is_news = now <= heard.tick + ticks(settings.news_secs);
        is_news
            && self
                .last_talk(pair.0, pair.1)
                .is_none_or(|last| now >= last.tick + ticks(settings.pair_secs) && heard.root > last.newest)
    }

    /// Records that a conversation began.
    pub fn record_start(&mut self, kind: ConversationKind, now: u64, settings: &ConversationSettings) {
        if kind >= ConversationKind::Relationship {
            self.next_banter = self.next_banter.max(now) + banter_every(settings).unwrap_or(0);
        }
    }

    /// Records that these agents have talked, and the newest origin that one of them had heard of.
    pub fn record_conversation(&mut self, participants: &[AgentKey], newest: Seq, now: u64) {
        for (index, one) in participants.iter().enumerate() {
            for other in &participants[index + 1..] {
                let with = self.pairs.entry(*one.min(other)).or_default();
                let before = with.get(one.max(other)).map_or(Seq(0), |last| last.newest);
                with.insert(*one.max(other), LastTalk { tick: now, newest: newest.max(before) });
            }
        }
    }

    /// Forgets an agent that has left the room.
    pub fn forget(&mut self, agent: AgentKey) {
        self.pairs.remove(&agent);
        for with in self.pairs.values_mut() {
            with.remove(&agent);
        }
        self.pairs.retain(|_, with| !with.is_empty());
    }

    /// Returns the suitable pair that talked least recently; of equal pairs the one with the smallest keys. Stops at
    /// the first pair that never talked, so `pairs` must be in order of keys.
    pub fn least_recent_pair(&self, pairs: impl Iterator<Item = (AgentKey, AgentKey)>) -> Option<(AgentKey, AgentKey)> {
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

/// The state of a conversation between turns.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct TurnState {
    /// The agent that is thinking about its turn, if any.
    pub awaited: Option<(AgentKey, ActivityId)>,
    /// The number of consecutive failed turns.
    pub failures: u32,
    /// The number of consecutive turns in which nothing was said.
    #[serde(default)]
    pub silences: u32,
    /// The log record that causes the next turn.
    pub cause: Seq,
    /// The origin of the topic.
    #[serde(default)]
    pub origin: Provenance,
    /// The agent that spoke last; `None` if nobody did, or if a person spoke since.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_speaker: Option<AgentKey>,
    /// The number of consecutive times that the speaker's model could not be called.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub waits: u32,
    /// The tick before which the speaker's model is not called again.
    #[serde(default, skip_serializing_if = "is_tick_zero")]
    pub not_before: u64,
}

fn is_zero(count: &u32) -> bool {
    *count == 0
}

fn is_tick_zero(tick: &u64) -> bool {
    *tick == 0
}

impl TurnState {
    /// Lets the turn wait until this tick, because the speaker's model cannot be called. It stays the speaker's turn.
    pub fn wait_until(&mut self, tick: u64) {
        self.awaited = None;
        self.waits = self.waits.saturating_add(1);
        self.not_before = tick;
    }
}

/// The result of a turn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TurnResult {
    /// Something was said.
    Said,
    /// Nothing was said.
    Silent,
    /// No answer came.
    Failed,
}

/// Applies the result of a turn: passes the turn to the next participant, or returns why the conversation ended.
///
/// A silence ends it if the next speaker would answer itself. Agents that talk because they met or to tell something
/// end it at the first silence; if a person asked for it, the others are asked, too.
pub fn turn_taken(conversation: &mut Conversation, turn: &mut TurnState, taken: TurnResult) -> Option<&'static str> {
    turn.awaited = None;
    let counted = |is_so: bool, before: u32| if is_so { before + 1 } else { 0 };
    turn.failures = counted(taken == TurnResult::Failed, turn.failures);
    turn.silences = counted(taken == TurnResult::Silent, turn.silences);
    (turn.waits, turn.not_before) = (0, 0);
    conversation.turns_taken += 1;
    if taken == TurnResult::Said {
        turn.last_speaker = conversation.current_speaker();
    }
    if !conversation.participants.is_empty() {
        conversation.speaker = (conversation.speaker + 1) % conversation.participants.len();
    }
    let would_answer_itself = turn.last_speaker.is_some() && turn.last_speaker == conversation.current_speaker();
    if turn.failures >= 2 {
        Some("two turns failed one after another")
    } else if taken == TurnResult::Silent && would_answer_itself {
        Some("there was nothing more to say")
    } else if turn.silences >= 2 || (turn.silences == 1 && !conversation.is_of_person()) {
        Some("nobody had anything to say")
    } else if conversation.turns_taken >= conversation.turns_at_most {
        Some("everything was said")
    } else {
        None
    }
}

/// Removes a participant. The current speaker stays the same, unless it is the one that leaves. Returns whether the
/// agent was a participant.
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
    use proptest::prelude::*;

    use super::*;

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
            origin: Provenance::default(),
            continues: None,
            unanswered: Vec::new(),
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
            if let Some(over) = turn_taken(&mut conversation, &mut turn, TurnResult::Said) {
                break over;
            }
        };
        assert_eq!((speakers, lasts, over), (vec![0, 1, 2, 0], vec![false, false, false, true], "everything was said"));
    }

    #[test]
    fn one_failure_skips_and_two_in_a_row_end_it() {
        let (mut conversation, mut turn) = (conversation(2, 6), TurnState::default());
        assert_eq!(turn_taken(&mut conversation, &mut turn, TurnResult::Failed), None);
        assert_eq!(conversation.speaker, 1);
        assert_eq!(turn_taken(&mut conversation, &mut turn, TurnResult::Said), None);
        assert_eq!(turn_taken(&mut conversation, &mut turn, TurnResult::Failed), None);
        assert!(turn_taken(&mut conversation, &mut turn, TurnResult::Failed).is_some());
    }

    #[test]
    fn a_silence_ends_it_so_that_nobody_answers_itself() {
        for said in 1..5 {
            let (mut conversation, mut turn) = (conversation(2, 10), TurnState::default());
            for _ in 0..said {
                assert_eq!(turn_taken(&mut conversation, &mut turn, TurnResult::Said), None);
            }
            let over = turn_taken(&mut conversation, &mut turn, TurnResult::Silent);
            assert_eq!(over, Some("there was nothing more to say"), "after {said}");
        }
    }

    #[test]
    fn if_a_person_asked_the_other_is_asked_after_the_first_silence_and_otherwise_not() {
        for kind in [ConversationKind::Tell, ConversationKind::Relationship, ConversationKind::Chance] {
            let (mut conversation, mut turn) = (Conversation { kind, ..conversation(2, 10) }, TurnState::default());
            let over = turn_taken(&mut conversation, &mut turn, TurnResult::Silent);
            assert_eq!(over, Some("nobody had anything to say"), "{kind:?}");
        }
        let (mut conversation, mut turn) = (conversation(2, 10), TurnState::default());
        assert_eq!(turn_taken(&mut conversation, &mut turn, TurnResult::Silent), None);
        let over = turn_taken(&mut conversation, &mut turn, TurnResult::Silent);
        assert_eq!(over, Some("nobody had anything to say"));
    }

    fn any_result() -> impl Strategy<Value = TurnResult> {
        prop::sample::select(&[TurnResult::Said, TurnResult::Said, TurnResult::Silent, TurnResult::Failed][..])
    }

    proptest! {
        #[test]
        fn nobody_speaks_twice_in_a_row_after_a_silence(
            participants in 2_u32..5,
            kind in prop::sample::select(&[ConversationKind::Task, ConversationKind::Tell, ConversationKind::Chance][..]),
            results in prop::collection::vec(any_result(), 1..30),
        ) {
            let (mut conversation, mut turn) =
                (Conversation { kind, ..conversation(participants, 40) }, TurnState::default());
            let (mut last, mut was_silent) = (None, false);
            for taken in results {
                let speaker = conversation.current_speaker();
                prop_assert!(!(was_silent && speaker == last), "{speaker:?} would answer itself");
                if taken == TurnResult::Said {
                    last = speaker;
                }
                was_silent = taken == TurnResult::Silent && last.is_some();
                if turn_taken(&mut conversation, &mut turn, taken).is_some() {
                    break;
                }
            }
        }
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

    fn heard(root: u64, tick: u64) -> Provenance {
        Provenance::outside(Seq(root), tick)
    }

    #[test]
    fn a_pair_talks_again_when_one_has_heard_something_newer_from_elsewhere() {
        let settings = ConversationSettings::default();
        let mut ledger = TalkLedger::default();
        let (a, b, c) = (AgentKey(0), AgentKey(1), AgentKey(2));
        let long_after = ticks(settings.news_secs) + 101;
        assert!(ledger.may_pair_talk((a, b), heard(0, 0), 10, &settings), "they never met");
        assert!(!ledger.may_pair_talk((a, b), heard(0, 100), long_after, &settings), "who came in long ago is no news");
        ledger.record_conversation(&[b, a], Seq(5), 100);
        let later = 100 + ticks(settings.pair_secs);
        assert!(!ledger.may_pair_talk((a, b), heard(5, 150), later, &settings), "both knew it when they talked");
        assert!(!ledger.may_pair_talk((a, b), heard(6, 150), later - 1, &settings), "too soon");
        assert!(!ledger.may_pair_talk((a, b), heard(6, 150), 51 + long_after, &settings), "it is no news any more");
        assert!(ledger.may_pair_talk((a, b), heard(6, 150), later, &settings));
        ledger.record_conversation(&[a, c], Seq(5), 90);
        assert_eq!(ledger.least_recent_pair([(a, b), (a, c)].into_iter()), Some((a, c)));
        assert_eq!(ledger.least_recent_pair([(a, b), (a, c), (b, c)].into_iter()), Some((b, c)));
        ledger.forget(a);
        assert_eq!(ledger.last(a, b), None);
    }

    #[test]
    fn unprompted_conversations_are_spread_over_the_hour_and_a_few_are_saved_up() {
        let settings = ConversationSettings::default();
        let mut ledger = TalkLedger::default();
        let mut began = Vec::new();
        for now in (0..4 * hour()).filter(|now| !(hour()..2 * hour()).contains(now)) {
            if ledger.may_banter(now, &settings) {
                ledger.record_start(ConversationKind::Chance, now, &settings);
                ledger.record_start(ConversationKind::Task, now, &settings);
                began.push(now);
            }
        }
        let within = |from: u64, span: u64| began.iter().filter(|now| (from..from + span).contains(now)).count();
        assert!(began.iter().all(|from| within(*from, hour()) <= settings.banter_per_hour), "no hour holds more");
        let all = settings.banter_per_hour;
        assert!((all - 2..=all).contains(&within(0, hour())), "none is kept back");
        assert!(within(hour() / 2, hour() / 2) >= all / 2 - 1, "none is burnt at once");
        assert_eq!(within(2 * hour(), ticks(60.0)), settings.max_banter_saved_up, "after a quiet hour");
        let off = ConversationSettings { banter_per_hour: 0, ..settings };
        assert!(!ledger.may_banter(9 * hour(), &off));
    }
}
