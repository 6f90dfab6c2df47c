//! Relationships between agents that a person creates: used in conversations and written to the scene.

use bevy::ecs::message::Message;
use bevy::ecs::prelude::*;
use serde::{Deserialize, Serialize};

use super::conversation_state::ConversationState;
use crate::agent::{AgentCommand, Roster};
use crate::base::text;
use crate::log::events::{self, RelationshipData, RelationshipInput};
use crate::log::{EventDraft, EventLog};
use crate::schedule::Input;
use crate::workspace::{Relationship, SceneWrite};

/// The maximum length of a label, in characters.
pub const MAX_LABEL_CHARS: usize = 60;
/// The maximum number of relationships that can be added by command. A file may contain more.
pub const MAX_RELATIONSHIPS: usize = 2_000;

/// A person's command about relationships. As an input it is recorded.
#[derive(Message, Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "act", rename_all = "snake_case")]
pub enum RelationshipCommand {
    /// Adds a relationship.
    Add {
        /// The relationship.
        relationship: Relationship,
        /// The index in the list; `None` for its end.
        at: Option<usize>,
    },
    /// Removes a relationship.
    Remove {
        /// The relationship.
        relationship: Relationship,
    },
    /// Changes the label of a relationship.
    Relabel {
        /// The relationship.
        relationship: Relationship,
        /// The new label; may be empty.
        label: String,
    },
}

/// Converts a command to its form in the log.
impl From<&RelationshipCommand> for RelationshipInput {
    fn from(command: &RelationshipCommand) -> Self {
        let tie = |Relationship { from, to, label }| RelationshipData { from, to, label };
        match command.clone() {
            RelationshipCommand::Add { relationship, at } => Self::Add { relationship: tie(relationship), at },
            RelationshipCommand::Remove { relationship } => Self::Remove { relationship: tie(relationship) },
            RelationshipCommand::Relabel { relationship, label } => {
                Self::Relabel { relationship: tie(relationship), label }
            }
        }
    }
}

impl Input for RelationshipCommand {
    const KIND: &'static str = "relationship";
}

/// The relationships of the room, in the order of the scene.
pub fn relationships(world: &World) -> &[Relationship] {
    world.get_resource::<ConversationState>().map_or(&[], |talks| &talks.ties)
}

/// A label as it is stored: on one line, trimmed.
pub fn label_of(written: &str) -> String {
    text::one_line(written).trim().to_owned()
}

/// Applies a person's changes of relationships, and removes those of agents that a person removes from the room.
pub(super) fn apply_relationship_commands(
    roster: Res<Roster>,
    mut talks: ResMut<ConversationState>,
    mut log: ResMut<EventLog>,
    mut commands: MessageReader<RelationshipCommand>,
    mut removals: MessageReader<AgentCommand>,
    mut writes: MessageWriter<SceneWrite>,
) {
    let mut ties = talks.ties.clone();
    for command in commands.read() {
        let cause = log.write(EventDraft::of(&events::Input::Relationship(command.into())));
        if let Err((what, remedy)) = change(&mut ties, command, |id| roster.key(id).is_some()) {
            log.write(EventDraft::of(&events::Warning::new(what).with_remedy(remedy)).cause(cause));
        }
    }
    for command in removals.read() {
        // If an agent with that id exists again already, it was not removed.
        if let AgentCommand::Remove { agent } = command
            && roster.key(agent).is_none()
        {
            ties.retain(|tie| tie.from != *agent && tie.to != *agent);
        }
    }
    if ties != talks.ties {
        talks.ties.clone_from(&ties);
        writes.write(SceneWrite::Relationships(ties));
    }
}

/// Why a change is refused, and how to fix it.
pub type Refusal = (String, &'static str);

/// Applies one change to a list of relationships, or returns why it is refused and what to do about it.
pub fn change(
    ties: &mut Vec<Relationship>,
    command: &RelationshipCommand,
    is_here: impl Fn(&str) -> bool,
) -> Result<(), Refusal> {
    let found = |ties: &[Relationship], relationship: &Relationship| {
        let place = ties.iter().position(|tie| tie == relationship);
        place.ok_or_else(|| {
            let what = format!("{} and {} do not have this relationship", relationship.from, relationship.to);
            (what, "check the lines in the room, or relationships: in the scene")
        })
    };
    match command {
        RelationshipCommand::Add { relationship, at } => {
            let new = Relationship { label: checked(&relationship.label)?, ..relationship.clone() };
            if let Some(missing) = [&new.from, &new.to].into_iter().find(|id| !is_here(id)) {
                return Err((format!("there is no agent {missing}"), "use the id of an agent in the room"));
            }
            if new.from == new.to {
                return Err((format!("{} cannot be related to itself", new.from), "choose two agents"));
            }
            if ties.contains(&new) {
                return Err((format!("{} and {} already have this relationship", new.from, new.to), "choose a label"));
            }
            if ties.len() >= MAX_RELATIONSHIPS {
                let what = format!("the room already has {MAX_RELATIONSHIPS} relationships, which is the limit");
                return Err((what, "remove some first"));
            }
            let place = at.unwrap_or(ties.len()).min(ties.len());
            ties.insert(place, new);
        }
        RelationshipCommand::Remove { relationship } => {
            ties.remove(found(ties, relationship)?);
        }
        RelationshipCommand::Relabel { relationship, label } => {
            let new = Relationship { label: checked(label)?, ..relationship.clone() };
            let place = found(ties, relationship)?;
            if new != *relationship && ties.contains(&new) {
                return Err((format!("{} and {} already have this relationship", new.from, new.to), "choose a label"));
            }
            ties[place] = new;
        }
    }
    Ok(())
}

fn checked(label: &str) -> Result<String, Refusal> {
    let label = label_of(label);
    let length = label.chars().count();
    if length > MAX_LABEL_CHARS {
        let what = format!("the label of a relationship has {length} characters; the limit is {MAX_LABEL_CHARS}");
        return Err((what, "make it shorter"));
    }
    Ok(label)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tie(from: &str, to: &str, label: &str) -> Relationship {
        Relationship { from: from.into(), to: to.into(), label: label.into() }
    }

    fn add(relationship: Relationship, at: Option<usize>) -> RelationshipCommand {
        RelationshipCommand::Add { relationship, at }
    }

    fn done(ties: &mut Vec<Relationship>, command: &RelationshipCommand) -> Result<(), String> {
        change(ties, command, |id| ["ada", "ben", "cy"].contains(&id)).map_err(|(what, _)| what)
    }

    #[test]
    fn relationships_are_added_at_an_index_relabelled_and_removed() {
        let mut ties = vec![tie("ada", "ben", "mentors")];
        done(&mut ties, &add(tie("ben", "cy", "  likes\nmuch "), Some(0))).expect("both are here");
        assert_eq!(ties, [tie("ben", "cy", "likes much"), tie("ada", "ben", "mentors")]);
        let relabel = RelationshipCommand::Relabel { relationship: ties[1].clone(), label: String::new() };
        done(&mut ties, &relabel).expect("no label is a label");
        done(&mut ties, &RelationshipCommand::Remove { relationship: tie("ben", "cy", "likes much") })
            .expect("it should be");
        assert_eq!(ties, [tie("ada", "ben", "")]);
    }

    #[test]
    fn invalid_commands_are_refused_without_changes() {
        let before = vec![tie("ada", "ben", "mentors"), tie("ada", "ben", "likes")];
        let mut ties = before.clone();
        for (command, why) in [
            (add(tie("ada", "dee", "x"), None), "there is no agent dee"),
            (add(tie("ada", "ada", "x"), None), "to itself"),
            (add(tie("ada", "ben", "likes"), None), "already"),
            (add(tie("ada", "cy", &"x".repeat(61)), None), "61 characters"),
            (RelationshipCommand::Remove { relationship: tie("ben", "ada", "likes") }, "do not have this relationship"),
            (RelationshipCommand::Relabel { relationship: before[0].clone(), label: "likes".into() }, "already"),
        ] {
            let refusal = done(&mut ties, &command).expect_err(why);
            assert!(refusal.contains(why), "{refusal}");
        }
        assert_eq!(ties, before);
        ties = (0..MAX_RELATIONSHIPS).map(|number| tie("ada", "ben", &number.to_string())).collect();
        assert!(done(&mut ties, &add(tie("ada", "cy", ""), None)).is_err(), "the list is bounded");
    }
}
