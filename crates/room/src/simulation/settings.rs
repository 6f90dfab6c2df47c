//! The numbers of the room, as `settings.yaml` may set them; the defaults are those of the design.

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
        /// How often a strolling agent picks a new target.
        stroll_secs: f32 = 3.0,
        /// How close to a target counts as arrived.
        arrive_units: f32 = 3.0,
        /// The probability that a strolling agent walks toward someone or something near.
        toward_others: f32 = 0.6,
        /// How far it looks for someone or something to stroll toward.
        sight_units: f32 = 300.0,
        /// How far beside it the target may lie, along each axis.
        beside_units: f32 = 30.0,
        /// Otherwise the target is at least this far from home,
        stroll_least_units: f32 = 30.0,
        /// and at most so far.
        stroll_most_units: f32 = 150.0,
        /// The radius of a patrol around home.
        patrol_units: f32 = 100.0,
        /// How long one lap of a patrol takes.
        patrol_lap_secs: f32 = 10.5,
        /// The radius of an agent.
        body_units: f32 = 30.0,
        /// How fast agents that overlap are pushed apart at most. Less than `speed_units`, so that a crowd
        /// never keeps anyone from arriving.
        push_units: f32 = 40.0,
        /// Agents closer to each other than this move apart.
        standing_units: f32 = 44.0,
        /// How close agents come to an element to look at it.
        reading_reach_units: f32 = 70.0,
        /// The probability that a strolling agent goes to a bench, a coffee, a window or a shelf instead of its next
        /// target,
        visit_on_stroll: f32 = 0.04,
        /// and that a stationary one does when it looks around.
        visit_on_heartbeat: f32 = 0.12,
        /// How far it goes for that, and how far an agent goes to a desk to work.
        visit_units: f32 = 450.0,
        /// It stays at least this long,
        visit_least_secs: f32 = 12.0,
        /// and at most so long.
        visit_most_secs: f32 = 35.0,
        /// An agent that approaches another stops within this distance.
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
        /// An idle agent looks around after at least this long,
        heartbeat_least_secs: f32 = 10.0,
        /// and at most so long,
        heartbeat_most_secs: f32 = 15.0,
        /// for so long,
        heartbeat_lasts_secs: f32 = 2.0,
        /// and so far.
        heartbeat_units: f32 = 280.0,
        /// How often an agent seeks information.
        seek_secs: f32 = 90.0,
        /// How far it goes for that.
        seek_units: f32 = 400.0,
        /// How long a seeking agent ignores an element that it has read.
        seek_again_secs: f32 = 300.0,
        /// How long a reader waits before it rereads a board that an agent changed, so that changes collect. Changes by
        /// a person, and those that concern the reader, are read at once.
        collect_secs: f32 = 600.0,
        /// How many times agents pass on what came from outside; after that it wakes nobody.
        hops_at_most: u32 = 3,
        /// How many actions an agent can queue, not counting a compaction.
        queue_at_most: usize = 5,
        /// How close agents must pass to react to someone or something.
        reaction_units: f32 = 70.0,
        /// The minimum time between reactions of the same two.
        reaction_secs: f32 = 30.0,
        /// The minimum time between any reactions of one agent; at least a quarter of `reaction_secs`.
        reaction_pause_secs: f32 = 8.0,
        /// How far an agent with something to tell goes to tell it.
        tell_units: f32 = 400.0,
        /// How long it tries.
        tell_patience_secs: f32 = 60.0,
        /// How long an agent waits for a place at an element before it reads it from where it is.
        place_patience_secs: f32 = 30.0,
        /// How long an agent shows that something failed.
        error_secs: f32 = 5.0,
        /// The first delay before a retry after a temporary failure, doubled each time,
        retry_least_secs: f32 = 10.0,
        /// up to this maximum,
        retry_most_secs: f32 = 300.0,
        /// and with at most this many retries.
        retries_at_most: u32 = 4,
    }
}

section! {
    /// Agents talking to each other.
    ConversationSettings in "conversations", within [
        Range::of("check_secs", 0.1, 604_800.0),
        Range::of("banter_saved_up", 1.0, 1_000.0),
    ], {
        /// Whether they may talk when the room is first opened.
        enabled: bool = true,
        /// How many conversations can run at once.
        max_concurrent_conversations: usize = 3,
        /// How many can wait to start.
        waiting_at_most: usize = 20,
        /// Turns of a conversation that a person started.
        task_turns: u32 = 6,
        /// Turns of any other.
        other_turns: u32 = 4,
        /// How many unprompted conversations start per hour, spread over the hour.
        banter_per_hour: usize = 12,
        /// How many of these may start in a row after a pause.
        banter_saved_up: usize = 3,
        /// How long news from outside is a topic for conversations.
        news_secs: f32 = 3_600.0,
        /// The minimum time between conversations of the same two.
        pair_secs: f32 = 120.0,
        /// How often the room looks for a pair.
        check_secs: f32 = 28.0,
        /// The distance from all others at which an agent leaves a conversation.
        reach_units: f32 = 200.0,
        /// How long agents cool down.
        cooldown_secs: f32 = 4.0,
        /// How long participants have to come together.
        gather_secs: f32 = 60.0,
        /// How long until a participant that a person has paused or is carrying leaves.
        held_secs: f32 = 10.0,
        /// How many messages two agents remember of what they said to each other.
        history_utterances: usize = 12,
        /// How many pairs this is kept for; those that talked longest ago are forgotten first.
        history_pairs: usize = 1000,
    }
}
