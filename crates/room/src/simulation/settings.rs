//! The settings sections of the simulation (`movement`, `attention`, `conversations`), with their defaults.

use bevy::ecs::prelude::*;
use serde::{Deserialize, Serialize};

use crate::workspace::{Range, SettingsSection};

macro_rules! section {
    ($(#[$doc:meta])* $name:ident in $section:literal, within $ranges:expr, { $($(#[$field_doc:meta])* $field:ident: $kind:ty = $value:expr,)* }) => {
        $(#[$doc])*
        #[derive(Resource, Clone, PartialEq, Debug, Serialize, Deserialize)]
        #[serde(default)]
        pub struct $name { $($(#[$field_doc])* pub $field: $kind,)* }

        impl Default for $name {
            fn default() -> Self {
                Self { $($field: $value,)* }
            }
        }

        impl SettingsSection for $name {
            const NAME: &'static str = $section;
            const RANGES: &'static [Range] = &$ranges;
        }
    };
}

section! {
    /// How agents walk.
    MovementSettings in "movement", within [
        Range::of("speed_units", 1.0, 2_000.0),
        Range::of("toward_others", 0.0, 1.0),
        Range::of("arrive_units", 0.1, 1_000.0),
        Range::of("stroll_secs", 0.1, 86_400.0),
        Range::of("patrol_lap_secs", 0.1, 86_400.0),
        Range::of("visit_on_stroll", 0.0, 1.0),
        Range::of("visit_on_heartbeat", 0.0, 1.0),
        Range::of("visit_least_secs", 1.0, 86_400.0),
        Range::of("visit_most_secs", 1.0, 86_400.0),
    ], {
        /// How fast agents walk, in units per second.
        speed_units: f32 = 80.0,
        /// How often a wandering agent picks a new target.
        stroll_secs: f32 = 3.0,
        /// How close to a target counts as arrived.
        arrive_units: f32 = 3.0,
        /// The probability that a wandering agent walks toward someone or something near.
        toward_others: f32 = 0.6,
        /// How far a wandering agent looks for someone or something to walk toward.
        sight_units: f32 = 300.0,
        /// How far beside that person or thing the target may lie, along each axis.
        beside_units: f32 = 30.0,
        /// The minimum distance from home of a target that is not near anyone or anything.
        stroll_least_units: f32 = 30.0,
        /// The maximum distance from home of a target that is not near anyone or anything.
        stroll_most_units: f32 = 150.0,
        /// The radius of a patrol around home.
        patrol_units: f32 = 100.0,
        /// How long one lap of a patrol takes.
        patrol_lap_secs: f32 = 10.5,
        /// The radius of an agent.
        body_units: f32 = 30.0,
        /// The maximum speed at which overlapping agents are pushed apart. Less than `speed_units`, so that a crowd
        /// never keeps anyone from arriving.
        push_units: f32 = 40.0,
        /// Agents closer to each other than this move apart.
        standing_units: f32 = 44.0,
        /// How close agents come to an element to look at it.
        reading_reach_units: f32 = 70.0,
        /// The probability that a wandering agent goes to a bench, a coffee machine, a window or a shelf instead of its
        /// next target.
        visit_on_stroll: f32 = 0.04,
        /// The probability that a stationary agent makes such a visit when it looks around.
        visit_on_heartbeat: f32 = 0.12,
        /// How far an agent goes for such a visit, and to a desk to work.
        visit_units: f32 = 450.0,
        /// The minimum duration of such a visit.
        visit_least_secs: f32 = 12.0,
        /// The maximum duration of such a visit.
        visit_most_secs: f32 = 35.0,
        /// The distance at which an agent that approaches another stops.
        approach_units: f32 = 60.0,
    }
}

section! {
    /// When agents notice something, and how they react.
    AttentionSettings in "attention", within [
        Range::of("heartbeat_least_secs", 0.1, 604_800.0),
        Range::of("heartbeat_most_secs", 0.1, 604_800.0),
        Range::of("seek_secs", 0.1, 604_800.0),
        Range::of("queue_at_most", 1.0, 1_000.0),
        Range::of("collect_secs", 0.0, 604_800.0),
        Range::of("hops_at_most", 0.0, 100.0),
    ], {
        /// The minimum time after which an idle agent looks around.
        heartbeat_least_secs: f32 = 10.0,
        /// The maximum time after which an idle agent looks around.
        heartbeat_most_secs: f32 = 15.0,
        /// How long it looks around.
        heartbeat_lasts_secs: f32 = 2.0,
        /// How far it sees when it looks around.
        heartbeat_units: f32 = 280.0,
        /// How often an agent seeks information.
        seek_secs: f32 = 90.0,
        /// How far an agent goes to seek information.
        seek_units: f32 = 400.0,
        /// How long a seeking agent ignores an element that it has read.
        seek_again_secs: f32 = 300.0,
        /// How long a reader waits before it rereads a board that an agent changed, so that changes collect. Changes by
        /// a person, and those that concern the reader, are read at once.
        collect_secs: f32 = 600.0,
        /// How many times agents pass on news from outside; after that, it no longer wakes other agents.
        hops_at_most: u32 = 3,
        /// How many actions an agent can queue, not counting a compaction, urgent reads, and reads that wait for a model
        /// that cannot be called.
        queue_at_most: usize = 5,
        /// How close agents must pass to react to someone or something.
        reaction_units: f32 = 70.0,
        /// The minimum time between reactions of the same two agents.
        reaction_secs: f32 = 30.0,
        /// The minimum time between any reactions of one agent; at least a quarter of `reaction_secs`.
        reaction_pause_secs: f32 = 8.0,
        /// How far an agent with something to tell goes to tell it.
        tell_units: f32 = 400.0,
        /// How long an agent with something to tell tries to reach a listener.
        tell_patience_secs: f32 = 60.0,
        /// How long an agent waits for a place at an element before it reads it from where it is.
        place_patience_secs: f32 = 30.0,
        /// How long an agent shows that something failed.
        error_secs: f32 = 5.0,
        /// The first delay before a retry after a temporary failure; doubles with each retry.
        retry_least_secs: f32 = 10.0,
        /// The maximum delay before a retry.
        retry_most_secs: f32 = 300.0,
        /// How many retries double the delay; later ones wait as long as the last of these.
        retries_at_most: u32 = 4,
    }
}

section! {
    /// When and how agents talk to each other.
    ConversationSettings in "conversations", within [
        Range::of("check_secs", 0.1, 604_800.0),
        Range::of("banter_saved_up", 1.0, 1_000.0),
    ], {
        /// Whether agents may talk to each other when the room is first opened.
        enabled: bool = true,
        /// How many conversations can run at once.
        max_concurrent_conversations: usize = 3,
        /// How many conversations can wait to start.
        waiting_at_most: usize = 20,
        /// Turns in a conversation that a person started.
        task_turns: u32 = 6,
        /// Turns in any other conversation.
        other_turns: u32 = 4,
        /// How many unprompted conversations start per hour, spread over the hour.
        banter_per_hour: usize = 12,
        /// How many unprompted conversations may start in a row after a pause.
        banter_saved_up: usize = 3,
        /// How long news from outside is a topic for conversations.
        news_secs: f32 = 3_600.0,
        /// The minimum time between conversations of the same two agents.
        pair_secs: f32 = 120.0,
        /// How often the room looks for two agents to start a conversation.
        check_secs: f32 = 28.0,
        /// An agent that is farther than this from all other participants leaves a conversation.
        reach_units: f32 = 200.0,
        /// How long agents cool down after a conversation.
        cooldown_secs: f32 = 4.0,
        /// How long participants have to come together.
        gather_secs: f32 = 60.0,
        /// How long a participant that a person has paused or is carrying stays in the conversation.
        held_secs: f32 = 10.0,
        /// How many messages of earlier conversations two agents remember.
        history_utterances: usize = 12,
        /// The number of pairs for which these messages are kept; pairs that talked longest ago are forgotten first.
        history_pairs: usize = 1000,
    }
}
