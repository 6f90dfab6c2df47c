//! The settings sections of the simulation (`movement`, `attention`, `conversations`), with their defaults.

use crate::workspace::SettingsSection;

settings! {
    /// How agents walk.
    pub struct MovementSettings {
        /// How fast agents walk, in units per second.
        pub speed_units: f32 = 80.0, in 1.0..=2_000.0;
        /// How often a wandering agent picks a new target.
        pub stroll_secs: f32 = 3.0, in 0.1..=86_400.0;
        /// How close to a target counts as arrived.
        pub arrive_units: f32 = 3.0, in 0.1..=1_000.0;
        /// The probability that a wandering agent walks toward someone or something near.
        pub toward_others: f32 = 0.6, in 0.0..=1.0;
        /// How far a wandering agent looks for someone or something to walk toward.
        pub sight_units: f32 = 300.0, in 0.0..=100_000.0;
        /// How far beside that person or thing the target may lie, along each axis.
        pub beside_units: f32 = 30.0, in 0.0..=100_000.0;
        /// The minimum distance from home of a target that is not near anyone or anything.
        pub min_stroll_units: f32 = 30.0, in 0.0..=100_000.0, once "stroll_least_units";
        /// The maximum distance from home of a target that is not near anyone or anything.
        pub max_stroll_units: f32 = 150.0, in 0.0..=100_000.0, once "stroll_most_units";
        /// The radius of a patrol around home.
        pub patrol_units: f32 = 100.0, in 0.0..=100_000.0;
        /// How long one lap of a patrol takes.
        pub patrol_lap_secs: f32 = 10.5, in 0.1..=86_400.0;
        /// The radius of an agent.
        pub body_units: f32 = 30.0, in 0.0..=100_000.0;
        /// The maximum speed at which overlapping agents are pushed apart. Less than `speed_units`, so that a crowd
        /// never keeps anyone from arriving.
        pub push_units: f32 = 40.0, in 0.0..=100_000.0;
        /// Agents closer to each other than this move apart.
        pub standing_units: f32 = 44.0, in 0.0..=100_000.0;
        /// How close agents come to an element to look at it.
        pub reading_reach_units: f32 = 70.0, in 0.0..=100_000.0;
        /// The probability that a wandering agent goes to a bench, a coffee machine, a window or a shelf instead of its
        /// next target.
        pub visit_on_stroll: f32 = 0.04, in 0.0..=1.0;
        /// The probability that a stationary agent makes such a visit when it looks around.
        pub visit_on_heartbeat: f32 = 0.12, in 0.0..=1.0;
        /// How far an agent goes for such a visit, and to a desk to work.
        pub visit_units: f32 = 450.0, in 0.0..=100_000.0;
        /// The minimum duration of such a visit.
        pub min_visit_secs: f32 = 12.0, in 1.0..=86_400.0, once "visit_least_secs";
        /// The maximum duration of such a visit.
        pub max_visit_secs: f32 = 35.0, in 1.0..=86_400.0, once "visit_most_secs";
        /// The distance at which an agent that approaches another stops.
        pub approach_units: f32 = 60.0, in 0.0..=100_000.0;
    }
}

impl SettingsSection for MovementSettings {
    const NAME: &'static str = "movement";
}

settings! {
    /// When agents notice something, and how they react.
    pub struct AttentionSettings {
        /// The minimum time after which an idle agent looks around.
        pub min_heartbeat_secs: f32 = 10.0, in 0.1..=604_800.0, once "heartbeat_least_secs";
        /// The maximum time after which an idle agent looks around.
        pub max_heartbeat_secs: f32 = 15.0, in 0.1..=604_800.0, once "heartbeat_most_secs";
        /// How long it looks around.
        pub heartbeat_lasts_secs: f32 = 2.0, in 0.0..=604_800.0;
        /// How far it sees when it looks around.
        pub heartbeat_units: f32 = 280.0, in 0.0..=100_000.0;
        /// How often an agent seeks information.
        pub seek_secs: f32 = 90.0, in 0.1..=604_800.0;
        /// How far an agent goes to seek information.
        pub seek_units: f32 = 400.0, in 0.0..=100_000.0;
        /// How long a seeking agent ignores an element that it has read.
        pub seek_again_secs: f32 = 300.0, in 0.0..=604_800.0;
        /// How long a reader waits before it rereads a board that an agent changed, so that changes collect. Changes by
        /// a person, and those that concern the reader, are read at once.
        pub collect_secs: f32 = 600.0, in 0.0..=604_800.0;
        /// How many times agents pass on news from outside; after that, it no longer wakes other agents.
        pub max_hops: u32 = 3, in 0.0..=100.0, once "hops_at_most";
        /// How many actions an agent can queue, not counting a compaction, urgent reads, and reads that wait for a
        /// model that cannot be called.
        pub max_queued_actions: usize = 5, in 1.0..=1_000.0, once "queue_at_most";
        /// How close agents must pass to react to someone or something.
        pub reaction_units: f32 = 70.0, in 0.0..=100_000.0;
        /// The minimum time between reactions of the same two agents.
        pub reaction_secs: f32 = 30.0, in 0.0..=604_800.0;
        /// The minimum time between any reactions of one agent; at least a quarter of `reaction_secs`.
        pub reaction_pause_secs: f32 = 8.0, in 0.0..=604_800.0;
        /// How far an agent with something to tell goes to tell it.
        pub tell_units: f32 = 400.0, in 0.0..=100_000.0;
        /// How long an agent with something to tell tries to reach a listener.
        pub tell_patience_secs: f32 = 60.0, in 0.0..=604_800.0;
        /// How long an agent waits for a place at an element before it reads it from where it is.
        pub place_patience_secs: f32 = 30.0, in 0.0..=604_800.0;
        /// How long an agent shows that something failed.
        pub error_secs: f32 = 5.0, in 0.0..=604_800.0;
        /// The first delay before a retry after a temporary failure; doubles with each retry.
        pub min_retry_delay_secs: f32 = 10.0, in 0.0..=604_800.0, once "retry_least_secs";
        /// The maximum delay before a retry.
        pub max_retry_delay_secs: f32 = 300.0, in 0.0..=604_800.0, once "retry_most_secs";
        /// How many retries double the delay; later ones wait as long as the last of these.
        pub max_retries: u32 = 4, in 0.0..=1_000_000.0, once "retries_at_most";
    }
}

impl SettingsSection for AttentionSettings {
    const NAME: &'static str = "attention";
}

settings! {
    /// When and how agents talk to each other.
    pub struct ConversationSettings {
        /// Whether agents may talk to each other when the room is first opened.
        pub enabled: bool = true;
        /// How many conversations can run at once.
        pub max_concurrent_conversations: usize = 3, in 0.0..=1_000_000.0;
        /// How many conversations can wait to start.
        pub max_waiting_conversations: usize = 20, in 0.0..=1_000_000.0, once "waiting_at_most";
        /// Turns in a conversation that a person started.
        pub task_turns: u32 = 6, in 0.0..=1_000_000.0;
        /// Turns in any other conversation.
        pub other_turns: u32 = 4, in 0.0..=1_000_000.0;
        /// How many unprompted conversations start per hour, spread over the hour.
        pub banter_per_hour: usize = 12, in 0.0..=1_000_000.0;
        /// How many unprompted conversations may start in a row after a pause.
        pub max_banter_saved_up: usize = 3, in 1.0..=1_000.0, once "banter_saved_up";
        /// How long news from outside is a topic for conversations.
        pub news_secs: f32 = 3_600.0, in 0.0..=604_800.0;
        /// The minimum time between conversations of the same two agents.
        pub pair_secs: f32 = 120.0, in 0.0..=604_800.0;
        /// How often the room looks for two agents to start a conversation.
        pub check_secs: f32 = 28.0, in 0.1..=604_800.0;
        /// An agent that is farther than this from all other participants leaves a conversation.
        pub reach_units: f32 = 200.0, in 0.0..=100_000.0;
        /// How long agents cool down after a conversation.
        pub cooldown_secs: f32 = 4.0, in 0.0..=604_800.0;
        /// How long participants have to come together.
        pub gather_secs: f32 = 60.0, in 0.0..=604_800.0;
        /// How long a participant that a person has paused or is carrying stays in the conversation.
        pub held_secs: f32 = 10.0, in 0.0..=604_800.0;
        /// How many messages of earlier conversations two agents remember.
        pub history_utterances: usize = 12, in 0.0..=1_000_000.0;
        /// The number of pairs for which these messages are kept; pairs that talked longest ago are forgotten first.
        pub history_pairs: usize = 1000, in 0.0..=1_000_000.0;
    }
}

impl SettingsSection for ConversationSettings {
    const NAME: &'static str = "conversations";
}
