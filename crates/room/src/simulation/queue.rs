//! The action queue of an agent: short, ordered, and never truncated silently.

use serde::{Deserialize, Serialize};

use super::interest::PendingInterest;
use crate::base::{AgentKey, ElementKey, Id, Seq};
use crate::log::events::Word;

/// An action of an agent. Called `compactContext`, `readElement`, `seekInfo` and `approachAgent` in the design.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "action", rename_all = "snake_case")]
pub enum Action {
    /// Compacts the session.
    CompactContext,
    /// Walks to an element and reads it.
    ReadElement {
        /// The element.
        element: ElementKey,
        /// Whether it precedes all actions with normal urgency.
        high: bool,
    },
    /// Looks at an element because there is nothing else to do.
    SeekInfo {
        /// The element.
        element: ElementKey,
    },
    /// Goes to an agent and tells it the news.
    ApproachAgent {
        /// The agent.
        agent: AgentKey,
    },
    /// Turns to an interest.
    Attend(Box<PendingInterest>),
}

impl Action {
    /// Whether it counts toward the number of actions that a queue may hold.
    fn is_counted(&self) -> bool {
        !matches!(self, Self::CompactContext | Self::ReadElement { high: true, .. })
    }

    /// Whether a model is called for it, at once or at its end.
    pub(super) fn needs_model(&self) -> bool {
        !matches!(self, Self::ApproachAgent { .. })
    }

    /// Whether it compacts the session.
    pub(super) fn is_compaction(&self) -> bool {
        matches!(self, Self::CompactContext)
    }

    /// Whether it must not be dropped for lack of space while it waits for a model.
    pub(super) fn is_kept_while_waiting(&self) -> bool {
        matches!(self, Self::ReadElement { .. } | Self::Attend(_))
    }

    /// The rank in the queue: smaller goes first.
    pub(super) fn rank(&self) -> u8 {
        match self {
            Self::CompactContext => 0,
            Self::ReadElement { .. } | Self::Attend(_) if self.is_urgent() => 1,
            Self::SeekInfo { .. } => 3,
            Self::Attend(pending) if pending.interest.urgency.is_low() => 3,
            Self::ReadElement { .. } | Self::Attend(_) => 2,
            Self::ApproachAgent { .. } => 4,
        }
    }

    /// Whether both have the same type and target.
    fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::ReadElement { element, .. }, Self::ReadElement { element: other, .. }) => element == other,
            (Self::Attend(pending), Self::Attend(other)) => pending.can_merge(other),
            _ => self == other,
        }
    }

    /// Merges two such actions: the higher urgency, with the newer information.
    fn merged(self, newer: &Self) -> Self {
        match (self, newer) {
            (Self::Attend(pending), Self::Attend(newer)) => Self::Attend(Box::new(pending.merged(newer))),
            (old, newer) if newer.rank() < old.rank() => newer.clone(),
            (old, _) => old,
        }
    }

    /// Whether it precedes all other reading and telling.
    pub fn is_urgent(&self) -> bool {
        match self {
            Self::ReadElement { high, .. } => *high,
            Self::Attend(pending) => pending.interest.urgency.is_high(),
            _ => false,
        }
    }

    /// The word in the log.
    pub fn as_str(&self) -> Word {
        match self {
            Self::CompactContext => "compactContext".into(),
            Self::ReadElement { .. } => "readElement".into(),
            Self::SeekInfo { .. } => "seekInfo".into(),
            Self::ApproachAgent { .. } => "approachAgent".into(),
            Self::Attend(pending) => pending.interest.why.word.to_string().into(),
        }
    }

    /// The reason for people, if the word does not give it.
    pub fn why(&self) -> Option<&str> {
        match self {
            Self::Attend(pending) => Some(&pending.interest.why.sentence),
            _ => None,
        }
    }

    /// The priority, if it varies among actions of its type.
    pub fn priority(&self) -> Option<&'static str> {
        match self {
            Self::ReadElement { .. } | Self::Attend(_) => Some(if self.is_urgent() { "high" } else { "normal" }),
            _ => None,
        }
    }

    /// The element that it is about, if any.
    pub fn element(&self) -> Option<ElementKey> {
        match self {
            Self::ReadElement { element, .. } | Self::SeekInfo { element } => Some(*element),
            Self::CompactContext | Self::ApproachAgent { .. } | Self::Attend(_) => None,
        }
    }

    /// The id of the element or agent that it leads to, if it names one by id.
    pub fn place(&self) -> Option<&Id> {
        match self {
            Self::Attend(pending) => pending.interest.moment.place.as_ref()?.id(),
            _ => None,
        }
    }
}

/// An action and the record that caused it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct QueuedAction {
    /// The action.
    pub action: Action,
    /// The log record that caused it.
    pub cause: Seq,
    /// The earliest tick at which it can start. It does not hold up other actions until then.
    #[serde(default)]
    pub not_before: u64,
    /// The number of temporary failures.
    #[serde(default)]
    pub failures: u32,
    /// Whether it waits only because it failed when an agent tried whether its model answers again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub tried: bool,
}

impl QueuedAction {
    /// Creates an action that can start at once.
    pub fn new(action: Action, cause: Seq) -> Self {
        Self { action, cause, not_before: 0, failures: 0, tried: false }
    }

    /// Sets the earliest tick.
    pub fn not_before(self, tick: u64) -> Self {
        Self { not_before: tick, ..self }
    }
}

/// The result of queueing an action.
#[derive(Clone, PartialEq, Debug)]
pub enum Queued {
    /// It was added to the queue.
    Added,
    /// An equal action with the same or a higher urgency was already in the queue.
    AlreadyThere,
    /// An equal action was in the queue; it got the newer information and keeps its place.
    Merged,
    /// An equal action was in the queue; it is now more urgent or earlier.
    Raised,
    /// It was added to the queue, and this action was removed.
    Displaced(QueuedAction),
    /// The queue is full of more important actions.
    Refused,
}

/// The action queue of one agent, in the order in which actions are taken. Empty queues own no memory.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ActionQueue(Vec<QueuedAction>);

impl ActionQueue {
    /// Inserts an action at its place. At most `cap` actions are kept, not counting the compaction and urgent reads:
    /// the compaction occurs once, and an urgent read, which is never refused, once for each element.
    pub fn enqueue(&mut self, new: QueuedAction, cap: usize) -> Queued {
        if let Some(index) = self.0.iter().position(|queued| queued.action.is_like(&new.action)) {
            // An agent queues the same action only once; the more urgent or earlier request counts.
            rule!("equal-actions-are-queued-once");
            return self.join(index, new);
        }
        if new.action == Action::CompactContext {
            // The compaction of an agent's session bypasses its queue: it is never refused for lack of space.
            rule!("compaction-bypasses-the-queue");
            self.insert(new);
            return Queued::Added;
        }
        let counted = self.0.iter().filter(|queued| queued.action.is_counted()).count();
        if counted < cap {
            self.insert(new);
            return Queued::Added;
        }
        match self.0.pop_if(|last| last.action.rank() > new.action.rank()) {
            Some(last) => {
                // When an agent's queue of five actions is full, a more important action replaces the least important.
                rule!("a-full-queue-drops-the-least-important");
                self.insert(new);
                Queued::Displaced(last)
            }
            None if !new.action.is_counted() => {
                self.insert(new);
                Queued::Added
            }
            None => Queued::Refused,
        }
    }

    /// Merges with an equal entry: the more urgent or earlier one counts, but a failed one waits as before.
    fn join(&mut self, index: usize, new: QueuedAction) -> Queued {
        let old = &self.0[index];
        let not_before = if old.failures > 0 { old.not_before } else { old.not_before.min(new.not_before) };
        let is_raised = new.action.rank() < old.action.rank();
        let is_sooner = not_before < old.not_before;
        if !is_raised && !is_sooner {
            if let Action::Attend(_) = new.action {
                let old = &mut self.0[index];
                old.action = old.action.clone().merged(&new.action);
                return Queued::Merged;
            }
            return Queued::AlreadyThere;
        }
        let old = self.0.remove(index);
        let action = old.action.clone().merged(&new.action);
        self.insert(QueuedAction { action, cause: new.cause, not_before, ..old });
        Queued::Raised
    }

    /// Makes the actions due that waited only because they failed as tries.
    pub fn release_tried(&mut self) {
        for queued in self.0.iter_mut().filter(|queued| queued.tried) {
            (queued.tried, queued.not_before) = (false, 0);
        }
    }

    /// Sets the log record that caused an action in the queue.
    pub fn set_cause(&mut self, action: &Action, cause: Seq) {
        if let Some(queued) = self.0.iter_mut().find(|queued| queued.action.is_like(action)) {
            queued.cause = cause;
        }
    }

    fn insert(&mut self, queued: QueuedAction) {
        let rank = queued.action.rank();
        let index = self.0.partition_point(|other| other.action.rank() <= rank);
        self.0.insert(index, queued);
    }

    /// The record of the queued action of this type and target.
    pub fn cause_of(&self, action: &Action) -> Option<Seq> {
        self.0.iter().find(|queued| queued.action.is_like(action)).map(|queued| queued.cause)
    }

    /// Removes and returns the next action that can start; see [`Self::next`].
    pub fn pop(&mut self, now: u64, is_try: bool) -> Option<QueuedAction> {
        let index = self.next_index(now, is_try)?;
        Some(self.0.remove(index))
    }

    /// The next action that can start. With `is_try`, the agent finds out with it whether its model answers again: a
    /// compaction, which nobody waits for, is then the last that it tries with.
    pub fn next(&self, now: u64, is_try: bool) -> Option<&QueuedAction> {
        self.0.get(self.next_index(now, is_try)?)
    }

    fn next_index(&self, now: u64, is_try: bool) -> Option<usize> {
        let is_due = |queued: &QueuedAction| queued.not_before <= now;
        let to_try_with =
            |queued: &QueuedAction| is_due(queued) && queued.action.needs_model() && !queued.action.is_compaction();
        let to_try = if is_try { self.0.iter().position(to_try_with) } else { None };
        to_try.or_else(|| self.0.iter().position(is_due))
    }

    /// The first action whose time has come.
    pub fn first_due(&self, now: u64) -> Option<&QueuedAction> {
        self.next(now, false)
    }

    /// The tick at which the first delayed action can start.
    pub fn next_due(&self, now: u64) -> Option<u64> {
        self.0.iter().map(|queued| queued.not_before).filter(|due| *due > now).min()
    }

    /// Whether a read of this element is queued.
    pub fn holds_read_of(&self, element: ElementKey) -> bool {
        self.0
            .iter()
            .any(|queued| matches!(queued.action, Action::ReadElement { element: wanted, .. } if wanted == element))
    }

    /// All actions, next one first.
    pub fn iter(&self) -> impl Iterator<Item = &QueuedAction> {
        self.0.iter()
    }

    /// Whether the queue is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The number of actions, including the compaction.
    pub fn len(&self) -> usize {
        self.0.len()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const CAP: usize = 5;

    fn read(element: u32, high: bool) -> Action {
        Action::ReadElement { element: ElementKey(element), high }
    }

    fn seek(element: u32) -> Action {
        Action::SeekInfo { element: ElementKey(element) }
    }

    fn approach(agent: u32) -> Action {
        Action::ApproachAgent { agent: AgentKey(agent) }
    }

    fn queue_of(actions: &[Action]) -> (ActionQueue, Vec<Queued>) {
        let mut queue = ActionQueue::default();
        let results = (1..)
            .zip(actions)
            .map(|(seq, action)| queue.enqueue(QueuedAction::new(action.clone(), Seq(seq)), CAP))
            .collect();
        (queue, results)
    }

    fn order(queue: &ActionQueue) -> Vec<Action> {
        queue.iter().map(|queued| queued.action.clone()).collect()
    }

    #[test]
    fn drains_by_rank_and_then_first_come() {
        let (mut queue, _) =
            queue_of(&[approach(1), seek(2), read(3, false), read(4, true), Action::CompactContext, read(5, true)]);
        let expected = [Action::CompactContext, read(4, true), read(5, true), read(3, false), seek(2), approach(1)];
        assert_eq!(order(&queue), expected);
        let mut trying = queue.clone();
        let tried: Vec<_> = std::iter::from_fn(|| trying.pop(0, true)).map(|next| next.action).collect();
        let order = [read(4, true), read(5, true), read(3, false), seek(2), Action::CompactContext, approach(1)];
        assert_eq!(tried, order, "nobody waits for a compaction");
        assert_eq!(
            queue.pop(0, false).map(|queued| (queued.action, queued.cause)),
            Some((Action::CompactContext, Seq(5)))
        );
    }

    #[test]
    fn equal_actions_are_queued_once_and_may_be_raised() {
        checks_rule!("equal-actions-are-queued-once");
        let (queue, results) = queue_of(&[read(1, false), read(2, true), read(1, true), read(1, false), seek(1)]);
        assert_eq!(results, [Queued::Added, Queued::Added, Queued::Raised, Queued::AlreadyThere, Queued::Added]);
        assert_eq!(order(&queue), [read(2, true), read(1, true), seek(1)]);
    }

    #[test]
    fn when_full_the_lowest_ranked_goes_even_if_it_is_the_newcomer() {
        checks_rule!("compaction-bypasses-the-queue");
        checks_rule!("a-full-queue-drops-the-least-important");
        let full = [read(1, false), read(2, false), read(3, false), seek(4), approach(5)];
        let (mut queue, _) = queue_of(&full);
        let mut enqueue = |action, seq| queue.enqueue(QueuedAction::new(action, Seq(seq)), CAP);
        assert_eq!(enqueue(approach(6), 9), Queued::Refused);
        let displaced = QueuedAction::new(approach(5), Seq(5));
        assert_eq!(enqueue(read(7, true), 10), Queued::Displaced(displaced));
        assert_eq!(enqueue(Action::CompactContext, 11), Queued::Added);
        assert_eq!(enqueue(Action::CompactContext, 12), Queued::AlreadyThere);
        assert_eq!(queue.len(), CAP + 1);
    }

    #[test]
    fn no_urgent_read_is_refused_however_many_there_are() {
        let many: Vec<Action> = (0..20).map(|element| read(element, true)).collect();
        let (mut queue, results) = queue_of(&many);
        assert_eq!((queue.len(), results.contains(&Queued::Refused)), (20, false));
        for element in 30..35 {
            let new = QueuedAction::new(read(element, false), Seq(element.into()));
            assert_eq!(queue.enqueue(new, CAP), Queued::Added, "urgent reads take no one's place");
        }
        assert_eq!(queue.enqueue(QueuedAction::new(read(35, false), Seq(35)), CAP), Queued::Refused);
        assert_eq!(queue.enqueue(QueuedAction::new(read(7, true), Seq(36)), CAP), Queued::AlreadyThere);
    }

    #[test]
    fn delayed_actions_hold_up_nothing_and_equal_undelayed_ones_make_them_due() {
        let mut queue = ActionQueue::default();
        let waiting = |action| QueuedAction::new(action, Seq(1)).not_before(100);
        assert_eq!(queue.enqueue(waiting(read(1, false)), CAP), Queued::Added);
        assert_eq!(queue.enqueue(QueuedAction::new(seek(2), Seq(2)), CAP), Queued::Added);
        assert_eq!((queue.first_due(50).map(|next| &next.action), queue.next_due(50)), (Some(&seek(2)), Some(100)));
        assert_eq!(queue.pop(50, false).map(|next| next.action), Some(seek(2)));
        assert_eq!((queue.pop(50, false), queue.len()), (None, 1));
        assert_eq!(queue.enqueue(waiting(read(1, false)), CAP), Queued::AlreadyThere);
        assert_eq!(queue.enqueue(QueuedAction::new(read(1, false), Seq(7)), CAP), Queued::Raised);
        assert_eq!(queue.pop(50, false), Some(QueuedAction::new(read(1, false), Seq(7))));
        // A failed action is retried at its time, however often it is requested.
        let failed = QueuedAction { failures: 1, ..waiting(read(1, false)) };
        assert_eq!(queue.enqueue(failed, CAP), Queued::Added);
        assert_eq!(queue.enqueue(QueuedAction::new(read(1, true), Seq(8)), CAP), Queued::Raised);
        assert_eq!((queue.pop(99, false), queue.pop(100, false).map(|next| next.action)), (None, Some(read(1, true))));
    }

    fn any_action() -> impl Strategy<Value = Action> {
        prop_oneof![
            Just(Action::CompactContext),
            (0_u32..12, any::<bool>()).prop_map(|(element, high)| read(element, high)),
            (0_u32..8).prop_map(seek),
            (0_u32..8).prop_map(approach),
        ]
    }

    proptest! {
        #[test]
        fn order_cap_and_uniqueness_always_hold(actions in prop::collection::vec((any_action(), 0_u64..3), 0..60)) {
            let mut queue = ActionQueue::default();
            for (seq, (action, not_before)) in (1_u64..).zip(actions) {
                let before = queue.clone();
                let result = queue.enqueue(QueuedAction::new(action.clone(), Seq(seq)).not_before(not_before), CAP);
                let now = order(&queue);
                prop_assert!(now.windows(2).all(|pair| pair[0].rank() <= pair[1].rank()));
                for (index, one) in now.iter().enumerate() {
                    prop_assert!(now[index + 1..].iter().all(|other| !one.is_like(other)));
                }
                let is_urgent = |one: &&Action| matches!(one, Action::ReadElement { high: true, .. });
                let counted = now.iter().filter(|one| **one != Action::CompactContext && !is_urgent(one)).count();
                prop_assert!(counted <= CAP);
                let is_urgent = matches!(action, Action::ReadElement { high: true, .. });
                prop_assert!(result != Queued::Refused || !is_urgent);
                let stands = now.iter().any(|one| one.is_like(&action) && one.rank() <= action.rank());
                prop_assert_eq!(stands, result != Queued::Refused);
                if action == Action::CompactContext {
                    prop_assert!(now.contains(&Action::CompactContext));
                }
                for rank in 0..5 {
                    // First come, first served: entries of equal rank keep their order.
                    let seqs: Vec<_> = queue.iter().filter(|one| one.action.rank() == rank).map(|one| one.cause).collect();
                    prop_assert!(seqs.windows(2).all(|pair| pair[0] < pair[1]));
                }
                if matches!(result, Queued::AlreadyThere | Queued::Refused) {
                    prop_assert_eq!(&queue, &before);
                }
            }
        }
    }
}
