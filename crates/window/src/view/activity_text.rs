//! Describes each agent's activity in one line of text, and ranks how important it is to a person. All such
//! descriptions come from here.

use bevy::platform::collections::HashMap;

use super::model::{AgentView, RoomModel, TalkView};
use super::work::PieceView;
use crate::base::AgentKey;
use crate::base::text::{first_paragraph, one_line, truncate};
use crate::simulation::State;

/// Maximum length of a task in an activity line, in characters.
const TASK_CHARS: usize = 30;
/// Maximum length of another agent's name in an activity line, in characters.
const NAME_CHARS: usize = 20;

/// How much an agent's activity matters to a person, most important first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Importance {
    /// It waits for a person, or is stuck.
    NeedsYou,
    /// It is selected, hovered or being dragged.
    Selected,
    /// It works on a task, or thinks.
    Working,
    /// It talks.
    Talking,
    /// It reads, or is going to read.
    Reading,
    /// It is idle.
    Rest,
}

impl Importance {
    /// The importance of an agent's activity.
    pub fn of(agent: &AgentView) -> Self {
        match agent.state {
            State::Waiting | State::Error => Self::NeedsYou,
            State::Dragged => Self::Selected,
            State::Working => Self::Working,
            State::Conversing => Self::Talking,
            State::Reading => Self::Reading,
            State::Paused => Self::Rest,
            _ if agent.thinking => Self::Working,
            _ => Self::Rest,
        }
    }

    /// Whether its label is always shown, however crowded the room is.
    pub fn is_always_shown(self) -> bool {
        self <= Self::Talking
    }

    /// Whether the agent counts as active: in the status of the room, and for the key that shows all who are.
    pub fn is_active(self) -> bool {
        matches!(self, Self::Working | Self::Talking | Self::Reading)
    }

    /// Whether it stands out among resting agents when zoomed out.
    pub fn stands_out(self) -> bool {
        self.is_always_shown() && self != Self::Selected
    }
}

/// The state whose colour the label has: thinking counts as working.
pub fn label_state(agent: &AgentView) -> State {
    if Importance::of(agent) == Importance::Working { State::Working } else { agent.state }
}

/// The display name of a state.
pub fn state(state: State) -> &'static str {
    match state {
        State::Idle => "Idle",
        State::Wandering => "Wandering",
        State::Patrolling => "Patrolling",
        State::Conversing => "Talking",
        State::Cooldown => "Cooling down",
        State::Dragged => "Carried",
        State::Heartbeat => "Looking around",
        State::Reading => "Reading",
        State::Working => "Working",
        State::Waiting => "Waiting for you",
        State::Paused => "Paused",
        State::Error => "Stuck",
    }
}

/// Index for wording the activities of many agents; build it once per frame.
#[derive(Default)]
pub struct ActivityTexts<'a> {
    room: Option<&'a RoomModel>,
    pieces: HashMap<&'a str, &'a PieceView>,
    talks: HashMap<AgentKey, &'a TalkView>,
}

impl<'a> ActivityTexts<'a> {
    /// Indexes the work and conversations of a room.
    pub fn of(room: &'a RoomModel) -> Self {
        let mut pieces: HashMap<&str, &PieceView> = HashMap::new();
        for piece in &room.work.pieces {
            let known = pieces.entry(&*piece.agent).or_insert(piece);
            // A piece of work that awaits approval takes precedence.
            if known.question.is_none() && piece.question.is_some() {
                *known = piece;
            }
        }
        let talks = room.conversations.iter().flat_map(|talk| talk.participants.iter().map(move |key| (*key, talk)));
        Self { room: Some(room), pieces, talks: talks.collect() }
    }

    /// An agent's activity: “Reading House rules”, “Working: Write a summary…”.
    pub fn line(&self, agent: &AgentView) -> String {
        let task = || self.pieces.get(&*agent.id).map(|piece| truncate(&first_paragraph(&piece.task), TASK_CHARS));
        let of_task = |word: &str| task().map_or_else(|| word.to_owned(), |task| format!("{word}: {task}"));
        match agent.state {
            State::Waiting => of_task("Needs you"),
            State::Working => of_task(if agent.thinking { "Thinking" } else { "Working" }),
            State::Conversing => self.talking(agent),
            State::Reading => {
                let element = self.room.zip(agent.reads).and_then(|(room, key)| room.element_of(key));
                let label = element.map(|element| truncate(&one_line(&element.label), NAME_CHARS + 8));
                match (label, agent.walks) {
                    (None, _) => state(agent.state).to_owned(),
                    (Some(label), false) => format!("Reading {label}"),
                    (Some(label), true) => format!("Going to read {label}"),
                }
            }
            State::Paused | State::Error | State::Dragged => state(agent.state).to_owned(),
            _ if agent.thinking => "Thinking".to_owned(),
            calm => state(calm).to_owned(),
        }
    }

    fn talking(&self, agent: &AgentView) -> String {
        let talk = self.talks.get(&agent.key);
        let others: Vec<&AgentView> = talk
            .into_iter()
            .flat_map(|talk| &talk.participants)
            .filter(|key| **key != agent.key)
            .filter_map(|key| self.room?.agent_of(*key))
            .collect();
        let name = |other: &AgentView| truncate(&one_line(&other.name), NAME_CHARS);
        match others.as_slice() {
            [] => state(agent.state).to_owned(),
            [one] => format!("Talking with {}", name(one)),
            [first, more @ ..] => format!("Talking with {} and {} more", name(first), more.len()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::{ActivationKey, ConversationKey, ElementKey};
    use crate::simulation::ConversationKind;
    use crate::view::model::ContentView;
    use crate::view::paint::tests::{agent, element};
    use bevy::math::Vec2;

    /// A room with two talking agents and a rulebook.
    fn room() -> RoomModel {
        let talk = TalkView {
            key: ConversationKey(0),
            kind: ConversationKind::Chance,
            participants: vec![AgentKey(0), AgentKey(1)],
            speaker: 0,
            topic: None,
            said: Vec::new(),
            turns: (1, 6),
        };
        RoomModel {
            agents: vec![agent(0, "Ada", State::Idle), agent(1, "Bram", State::Idle)],
            elements: vec![element(0, "rulebook", "House rules", Vec2::ZERO, ContentView::Text(String::new()))],
            conversations: vec![talk],
            ..RoomModel::default()
        }
    }

    fn piece(agent: &str, task: &str) -> PieceView {
        PieceView {
            activation: ActivationKey::numbered(1),
            agent: agent.into(),
            task: task.into(),
            stage: "thinking",
            turn: 1,
            depth: 0,
            tokens: 0,
            question: None,
        }
    }

    #[test]
    fn activity_lines_describe_the_current_state() {
        let mut room = room();
        room.work.pieces = vec![piece("ada-0", "Write a summary of what\nwas decided on Monday")];
        let line = |room: &RoomModel| ActivityTexts::of(room).line(&room.agents[0]);
        for (state, thinking, walks, expected) in [
            (State::Idle, false, false, "Idle"),
            (State::Idle, true, false, "Thinking"),
            (State::Working, false, false, "Working: Write a summary of what was d…"),
            (State::Working, true, false, "Thinking: Write a summary of what was d…"),
            (State::Waiting, false, false, "Needs you: Write a summary of what was d…"),
            (State::Conversing, false, false, "Talking with Bram"),
            (State::Reading, false, false, "Reading House rules"),
            (State::Reading, false, true, "Going to read House rules"),
            (State::Error, false, false, "Stuck"),
        ] {
            let ada = &mut room.agents[0];
            (ada.state, ada.thinking, ada.walks, ada.reads) = (state, thinking, walks, Some(ElementKey(0)));
            assert_eq!(line(&room), expected);
        }
        room.agents[0].state = State::Conversing;
        room.conversations.clear();
        assert_eq!(line(&room), "Talking");
    }

    #[test]
    fn agents_that_need_a_person_rank_first_and_idle_ones_last() {
        let mut ada = agent(0, "Ada", State::Idle);
        let mut of = |state| {
            ada.state = state;
            Importance::of(&ada)
        };
        let all = [State::Waiting, State::Working, State::Conversing, State::Reading, State::Idle].map(&mut of);
        assert!(all.is_sorted(), "{all:?}");
        assert_eq!(of(State::Error), Importance::NeedsYou);
        let thinks = AgentView { thinking: true, ..agent(0, "Ada", State::Idle) };
        assert_eq!((Importance::of(&thinks), label_state(&thinks)), (Importance::Working, State::Working));
        assert_eq!(all.map(Importance::is_always_shown), [true, true, true, false, false]);
    }
}
