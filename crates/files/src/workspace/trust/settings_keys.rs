//! Which settings widen what a workspace may do: the one table. Every setting is in it, which a test checks; a setting
//! that is missing counts as one that widens.

/// How a setting widens.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Widens {
    /// Not at all: it changes how much the room does or how it looks, within what is allowed anyway.
    Never,
    /// With any value.
    Always,
    /// If it is true.
    WhenTrue,
    /// If the word allows something, or if a scene replaces what `settings.yaml` says.
    WhenAllowing,
    /// Each entry whose word allows something.
    AllowingEntries,
    /// Each entry.
    Entries,
    /// If a scene replaces what `settings.yaml` says: a list that restricts.
    WhenReplacing,
    /// If it is higher than the default, or than `settings.yaml` in a scene; or unlimited instead of that.
    WhenHigher,
    /// Not before the person has allowed exactly this with a command of its own; it is only shown.
    AskedElsewhere,
}

/// The settings of a section, with how they widen and what that means for a person.
type Section = (&'static str, &'static [(&'static [&'static str], Widens, &'static str)]);

/// Every setting by section. A section with `*` has any names.
pub const SETTINGS: &[Section] = &[
    (
        "acp",
        &[
            (&["agents"], Widens::AskedElsewhere, "starts this coding agent, once you have allowed it"),
            (&["options"], Widens::Entries, "sets options of a coding agent, such as how much it asks"),
            (&["confined"], Widens::Never, ""),
            (&["start_timeout_secs", "silence_timeout_secs", "turn_timeout_secs"], Widens::Never, ""),
            (&["cancel_timeout_secs", "idle_secs"], Widens::Never, ""),
        ],
    ),
    (
        "agents",
        &[(
            &["spawn_above_elements", "spawn_margin_units", "side_by_side_units", "rename_window_secs"],
            Widens::Never,
            "",
        )],
    ),
    (
        "attention",
        &[
            (&["heartbeat_least_secs", "heartbeat_most_secs", "heartbeat_lasts_secs"], Widens::Never, ""),
            (&["heartbeat_units", "seek_secs", "seek_units", "seek_again_secs", "collect_secs"], Widens::Never, ""),
            (&["hops_at_most", "queue_at_most", "reaction_units", "reaction_secs"], Widens::Never, ""),
            (&["reaction_pause_secs", "tell_units", "tell_patience_secs", "place_patience_secs"], Widens::Never, ""),
            (&["error_secs", "retry_least_secs", "retry_most_secs", "retries_at_most"], Widens::Never, ""),
        ],
    ),
    ("blackboard", &[(&["entries_at_most", "history_at_most", "ended_at_most", "kept_at_most"], Widens::Never, "")]),
    (
        "budget",
        &[
            (&["calls_per_run", "calls_per_hour"], Widens::WhenHigher, HIGHER),
            (&["calls_per_agent_per_run", "calls_per_agent_per_hour"], Widens::WhenHigher, HIGHER),
            (&["tokens_per_run", "tokens_per_hour"], Widens::WhenHigher, HIGHER),
            (&["tokens_per_agent_per_run", "tokens_per_agent_per_hour"], Widens::WhenHigher, HIGHER),
            (&["calls_per_activation", "tokens_per_activation"], Widens::WhenHigher, HIGHER),
            (&["outside_tokens_per_run", "unpriced_tokens_per_run"], Widens::WhenHigher, HIGHER),
            (&["cost_per_run_usd", "cost_per_hour_usd", "cost_per_activation_usd"], Widens::WhenHigher, HIGHER),
            (&["cost_per_agent_per_run_usd", "cost_per_agent_per_hour_usd"], Widens::WhenHigher, HIGHER),
        ],
    ),
    (
        "channels",
        &[
            (&["channels_at_most", "subscribers_at_most", "messages_at_most", "chars_at_most"], Widens::Never, ""),
            (&["history_at_most", "told_per_turn", "hops_at_most", "shown_on_board", "board_secs"], Widens::Never, ""),
        ],
    ),
    (
        "commands",
        &[
            (&["network"], Widens::WhenTrue, "gives commands the network"),
            (&["timeout_secs", "timeout_secs_at_most", "memory_mb"], Widens::WhenHigher, HIGHER),
            (&["file_mb_at_most", "processes_at_most"], Widens::WhenHigher, HIGHER),
            (&["output_chars_at_most"], Widens::Never, ""),
        ],
    ),
    (
        "conversations",
        &[
            (&["enabled", "max_concurrent_conversations", "waiting_at_most", "task_turns"], Widens::Never, ""),
            (&["other_turns", "banter_per_hour", "banter_saved_up", "news_secs", "pair_secs"], Widens::Never, ""),
            (&["check_secs", "reach_units", "cooldown_secs", "gather_secs", "held_secs"], Widens::Never, ""),
            (&["history_utterances", "history_pairs"], Widens::Never, ""),
        ],
    ),
    ("documents", &[(&["runtime"], Widens::Always, "runs the code of agents' documents in this program of yours")]),
    (
        "elements",
        &[
            (&["pins_per_board", "pins_per_author", "pin_removed_at_net", "pin_flagged_at_net"], Widens::Never, ""),
            (&["pin_chars", "comments_per_pin", "mail_per_box", "closed_mail_per_box"], Widens::Never, ""),
            (&["sent_per_box", "mail_chars", "text_chars"], Widens::Never, ""),
        ],
    ),
    (
        "files",
        &[
            (&["file_kib_at_most", "count_at_most", "total_mib_at_most", "sessions_at_most"], Widens::Never, ""),
            (&["versions_kept", "save_version_secs", "listed_at_most", "matches_at_most"], Widens::Never, ""),
            (&["line_chars_at_most", "memory_mib_at_most"], Widens::Never, ""),
        ],
    ),
    (
        "gate",
        &[
            (&["file_read", "file_write", "file_delete", "file_rename"], Widens::WhenAllowing, UNASKED),
            (&["profile_write", "spawn", "signal"], Widens::WhenAllowing, UNASKED),
            (&["ask", "deny"], Widens::WhenReplacing, "replaces the protected paths of settings.yaml"),
            (&["allow"], Widens::Entries, "gives this agent a permanent permission"),
            (&["mcp", "touches"], Widens::AllowingEntries, UNASKED),
        ],
    ),
    (
        "gateway",
        &[
            (&["provider", "model"], Widens::Always, "names the model that is called, with your key where it has one"),
            (&["models"], Widens::Entries, "names a model that is called, with your key where it has one"),
            (&["base_urls"], Widens::Entries, "sends what agents read and write to this address"),
            (&["context_tokens", "images", "max_concurrent", "connect_timeout_secs"], Widens::Never, ""),
            (&["stall_timeout_secs", "total_timeout_secs", "attempts"], Widens::Never, ""),
            (&["retry_first_delay_secs", "retry_longest_delay_secs", "retry_total_delay_secs"], Widens::Never, ""),
        ],
    ),
    (
        "history",
        &[
            (&["events_kept", "inputs_kept", "replayable_runs", "hashes_kept", "versions_kept"], Widens::Never, ""),
            (&["snapshot_secs", "snapshots_kept", "snapshots_mb_at_most"], Widens::Never, ""),
        ],
    ),
    ("inbox", &[(&["to", "at_once"], Widens::Never, "")]),
    (
        "kernel",
        &[
            (&["concurrency", "depth_at_most", "fan_out_at_most", "turns_at_most"], Widens::Never, ""),
            (&["strikes_at_most", "cut_replies_at_most", "activations_at_most"], Widens::Never, ""),
            (&["retries_at_most", "retry_secs", "rate_limit_secs"], Widens::Never, ""),
            (&["session_chars_at_most", "session_write_secs"], Widens::Never, ""),
        ],
    ),
    (
        "knowledge",
        &[
            (&["embedder"], Widens::Always, "sends every memory and every search to this embedding model"),
            (&["recalled_at_most", "similarity_at_least", "coverage_at_least"], Widens::Never, ""),
            (&["learns_from_work", "learns_from_conversations", "conversation_chars_at_least"], Widens::Never, ""),
        ],
    ),
    (
        "mcp",
        &[
            (&["connect_timeout_secs", "call_timeout_secs", "call_total_timeout_secs"], Widens::Never, ""),
            (&["idle_secs", "tools_at_most", "result_chars_at_most", "samples_at_most"], Widens::Never, ""),
            (&["confined"], Widens::Never, ""),
        ],
    ),
    ("mcp_servers", &[(&["*"], Widens::AskedElsewhere, "starts this MCP server, once you have allowed it")]),
    (
        "memory",
        &[
            (&["notes_at_most", "note_chars_at_most", "interactions_at_most"], Widens::Never, ""),
            (&["summary_tokens_at_most", "environment_chars_at_most", "kept_pins_at_most"], Widens::Never, ""),
            (&["archived_agents_at_most"], Widens::Never, ""),
        ],
    ),
    (
        "mind",
        &[
            (&["max_prompt_chars", "max_output_tokens", "max_work_output_tokens", "person"], Widens::Never, ""),
            (&["compact_after_turns", "compact_above_tokens", "compaction_keeps_messages"], Widens::Never, ""),
            (&["compaction_retry_secs", "compaction_retry_at_most_secs"], Widens::Never, ""),
            (&["compaction_retries_at_most", "session_messages_at_most"], Widens::Never, ""),
            (&["session_message_chars_at_most", "feedback_at_most", "intents_at_most"], Widens::Never, ""),
            (&["pending_per_agent_at_most", "gather_secs", "near_units", "at_units"], Widens::Never, ""),
            (&["near_at_most", "acts"], Widens::Never, ""),
        ],
    ),
    (
        "movement",
        &[
            (&["speed_units", "stroll_secs", "arrive_units", "toward_others", "sight_units"], Widens::Never, ""),
            (&["beside_units", "stroll_least_units", "stroll_most_units", "patrol_units"], Widens::Never, ""),
            (&["patrol_lap_secs", "body_units", "push_units", "standing_units"], Widens::Never, ""),
            (&["reading_reach_units", "visit_on_stroll", "visit_on_heartbeat", "visit_units"], Widens::Never, ""),
            (&["visit_least_secs", "visit_most_secs", "approach_units"], Widens::Never, ""),
        ],
    ),
    ("prices", &[(&["*"], Widens::Always, "says what a model costs, on which your limits in dollars depend")]),
    (
        "slack",
        &[
            (&["channels"], Widens::Always, "reads these channels with your key"),
            (&["webhook_channel"], Widens::Always, "posts messages to this channel with your webhook"),
            (&["interval_secs", "first_look_back_secs", "timeout_secs"], Widens::Never, ""),
        ],
    ),
    ("tasks", &[(&["begin", "at_once", "message_hops_at_most", "planner_checkins"], Widens::Never, "")]),
    (
        "workflow",
        &[
            (&["max_parallel_steps", "for_each_at_most", "output_chars_at_most", "runs_at_most"], Widens::Never, ""),
            (&["triggered_per_hour", "finished_known", "state_write_secs"], Widens::Never, ""),
        ],
    ),
];

/// The meaning of a rule that allows something.
const UNASKED: &str = "lets agents do this without asking you";
/// The meaning of a limit above the default.
const HIGHER: &str = "raises this limit above the usual one";
/// The meaning of a setting that is not in the table.
const UNKNOWN: &str = "is a setting that this program does not know";

/// How a setting widens, and what that means for a person.
pub fn widens(section: &str, key: &str) -> (Widens, &'static str) {
    let rows = SETTINGS.iter().find(|(name, _)| *name == section).map_or(&[][..], |(_, rows)| rows);
    let row = rows.iter().find(|(keys, ..)| keys.contains(&key) || *keys == ["*"]);
    row.map_or((Widens::Always, UNKNOWN), |(_, widens, sentence)| (*widens, sentence))
}
