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
            (&["min_heartbeat_secs", "max_heartbeat_secs", "heartbeat_lasts_secs"], Widens::Never, ""),
            (&["heartbeat_units", "seek_secs", "seek_units", "seek_again_secs", "collect_secs"], Widens::Never, ""),
            (&["max_hops", "max_queued_actions", "reaction_units", "reaction_secs"], Widens::Never, ""),
            (&["reaction_pause_secs", "tell_units", "tell_patience_secs", "place_patience_secs"], Widens::Never, ""),
            (&["error_secs", "min_retry_delay_secs", "max_retry_delay_secs", "max_retries"], Widens::Never, ""),
        ],
    ),
    ("blackboard", &[(&["max_entries", "max_history", "max_ended", "max_kept"], Widens::Never, "")]),
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
            (&["max_channels", "max_subscribers", "max_messages", "max_chars"], Widens::Never, ""),
            (
                &["max_history", "max_messages_per_turn", "max_hops", "max_shown_on_board", "board_secs"],
                Widens::Never,
                "",
            ),
        ],
    ),
    (
        "commands",
        &[
            (&["network"], Widens::WhenTrue, "gives commands the network"),
            (&["timeout_secs", "max_timeout_secs", "max_memory_mib"], Widens::WhenHigher, HIGHER),
            (&["max_file_mib", "max_processes"], Widens::WhenHigher, HIGHER),
            (&["max_output_chars"], Widens::Never, ""),
        ],
    ),
    (
        "conversations",
        &[
            (
                &["enabled", "max_concurrent_conversations", "max_waiting_conversations", "task_turns"],
                Widens::Never,
                "",
            ),
            (&["other_turns", "banter_per_hour", "max_banter_saved_up", "news_secs", "pair_secs"], Widens::Never, ""),
            (&["check_secs", "reach_units", "cooldown_secs", "gather_secs", "held_secs"], Widens::Never, ""),
            (&["history_utterances", "history_pairs"], Widens::Never, ""),
        ],
    ),
    ("documents", &[(&["runtime"], Widens::Always, "runs the code of agents' documents in this program of yours")]),
    (
        "elements",
        &[
            (
                &["max_pins_per_board", "max_pins_per_author", "pin_removed_at_net", "pin_flagged_at_net"],
                Widens::Never,
                "",
            ),
            (
                &["max_pin_chars", "max_comments_per_pin", "max_mail_per_box", "max_closed_mail_per_box"],
                Widens::Never,
                "",
            ),
            (&["max_sent_per_box", "max_mail_chars", "max_text_chars"], Widens::Never, ""),
        ],
    ),
    (
        "files",
        &[
            (&["max_file_mib", "max_files", "max_total_mib", "max_sessions"], Widens::Never, ""),
            (&["max_versions", "save_version_secs", "max_listed_files", "max_matches"], Widens::Never, ""),
            (&["max_line_chars", "max_memory_mib"], Widens::Never, ""),
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
            (&["context_tokens", "images", "max_concurrent_requests", "connect_timeout_secs"], Widens::Never, ""),
            (&["stall_timeout_secs", "total_timeout_secs", "max_attempts"], Widens::Never, ""),
            (&["min_retry_delay_secs", "max_retry_delay_secs", "max_total_retry_delay_secs"], Widens::Never, ""),
        ],
    ),
    (
        "history",
        &[
            (&["max_events", "max_inputs", "max_replayable_runs", "max_hashes", "max_versions"], Widens::Never, ""),
            (&["snapshot_secs", "max_snapshots", "max_snapshots_mib"], Widens::Never, ""),
        ],
    ),
    ("inbox", &[(&["to", "max_concurrent_messages"], Widens::Never, "")]),
    (
        "kernel",
        &[
            (&["max_concurrent_activations", "max_depth", "max_fan_out", "max_turns"], Widens::Never, ""),
            (&["max_strikes", "max_cut_replies", "max_activations"], Widens::Never, ""),
            (&["max_retries", "min_retry_delay_secs", "rate_limit_secs"], Widens::Never, ""),
            (&["max_session_chars", "session_write_secs"], Widens::Never, ""),
        ],
    ),
    (
        "knowledge",
        &[
            (&["embedder"], Widens::Always, "sends every memory and every search to this embedding model"),
            (&["max_recalled_memories", "min_similarity", "min_coverage"], Widens::Never, ""),
            (&["learns_from_work", "learns_from_conversations", "min_conversation_chars"], Widens::Never, ""),
        ],
    ),
    (
        "mcp",
        &[
            (&["connect_timeout_secs", "call_timeout_secs", "call_total_timeout_secs"], Widens::Never, ""),
            (&["idle_secs", "max_tools", "max_result_chars", "max_samples"], Widens::Never, ""),
            (&["confined"], Widens::Never, ""),
        ],
    ),
    ("mcp_servers", &[(&["*"], Widens::AskedElsewhere, "starts this MCP server, once you have allowed it")]),
    (
        "memory",
        &[
            (&["max_notes", "max_note_chars", "max_interactions"], Widens::Never, ""),
            (&["max_summary_tokens", "max_environment_chars", "max_kept_pins"], Widens::Never, ""),
            (&["max_archived_agents"], Widens::Never, ""),
        ],
    ),
    (
        "mind",
        &[
            (&["max_prompt_chars", "max_output_tokens", "max_work_output_tokens", "person"], Widens::Never, ""),
            (&["compact_after_turns", "compact_above_tokens", "compaction_keeps_messages"], Widens::Never, ""),
            (&["min_compaction_retry_delay_secs", "max_compaction_retry_delay_secs"], Widens::Never, ""),
            (&["max_compaction_retries", "max_session_messages"], Widens::Never, ""),
            (&["max_session_message_chars", "max_feedback", "max_intents"], Widens::Never, ""),
            (&["max_pending_per_agent", "gather_secs", "near_units", "at_units"], Widens::Never, ""),
            (&["max_near", "acts"], Widens::Never, ""),
        ],
    ),
    (
        "movement",
        &[
            (&["speed_units", "stroll_secs", "arrive_units", "toward_others", "sight_units"], Widens::Never, ""),
            (&["beside_units", "min_stroll_units", "max_stroll_units", "patrol_units"], Widens::Never, ""),
            (&["patrol_lap_secs", "body_units", "push_units", "standing_units"], Widens::Never, ""),
            (&["reading_reach_units", "visit_on_stroll", "visit_on_heartbeat", "visit_units"], Widens::Never, ""),
            (&["min_visit_secs", "max_visit_secs", "approach_units"], Widens::Never, ""),
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
    ("tasks", &[(&["begin", "max_concurrent_tasks", "max_message_hops", "planner_checkins"], Widens::Never, "")]),
    (
        "workflow",
        &[
            (&["max_parallel_steps", "max_for_each", "max_output_chars", "max_runs"], Widens::Never, ""),
            (&["max_triggered_per_hour", "max_finished", "state_write_secs"], Widens::Never, ""),
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
