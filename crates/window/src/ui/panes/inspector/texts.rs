//! All texts of the inspector.

use crate::base::Seq;
use crate::ui::widgets::text_format;
use crate::view::chat::grouped;

pub(super) const LOADING: &str = "Loading…";
pub(super) const NAME: &str = "Name";
pub(super) const FILE: &str = "File";
pub(super) const TASK: &str = "Task";
pub(super) const MEMORY: &str = "Memory";
pub(super) const OPEN_ITS_FILE: &str = "Open its file";

pub(super) fn and_more(count: usize) -> String {
    format!("and {count} more")
}

pub(super) fn ago(duration: &str) -> String {
    format!("{duration} ago")
}

/// `1 character`, `12 345 characters`.
fn characters(count: usize) -> String {
    format!("{} {}", grouped(count), if count == 1 { "character" } else { "characters" })
}

// No selection, a missing item, and several items

pub(super) const NOTHING_IS_SELECTED: &str = "Nothing is selected";
pub(super) const SELECT_SOMETHING: &str = "Select an agent, an element or a file to see it here.";
pub(super) const SELECT_SOMETHING_ELSE: &str = "Select something else.";
pub(super) const DUPLICATE: &str = "Duplicate";
pub(super) const DELETE: &str = "Delete";

pub(super) fn has_left(id: &str) -> String {
    format!("{id} has left the room")
}

pub(super) fn things(count: usize) -> String {
    text_format::count(count, "thing", "things")
}

/// The number of agents and elements; zero counts are omitted.
pub(super) fn agents_and_elements(agents: usize, elements: usize) -> String {
    let agents = (agents > 0).then(|| text_format::count(agents, "agent", "agents"));
    let elements = (elements > 0).then(|| text_format::count(elements, "element", "elements"));
    agents.into_iter().chain(elements).collect::<Vec<String>>().join(", ")
}

// An agent: header, tabs, and the field for the next task

pub(super) const RESUME_AGENT: &str = "Resume agent";
pub(super) const PAUSE_AGENT: &str = "Pause agent";
pub(super) const CHAT: &str = "Chat";
pub(super) const ABOUT: &str = "About";
pub(super) const PROMPTS: &str = "Prompts";
pub(super) const GIVE_TASK: &str = "Give task";
pub(super) const STARTS_NOW: &str = "Starts now";
pub(super) const STARTS_LATER: &str = "Starts after its current tasks";
pub(super) const STOP_ITS_WORK: &str = "Stop its work";
pub(super) const STOP_ITS_WORK_TIP: &str = "Stops its work and everything queued";
pub(super) const HOW_TO_COMMAND: &str = "Type / for its own commands";
pub(super) const THINKING: &str = "thinking";

pub(super) fn tab_name(tab: &str) -> String {
    format!("{tab} of the agent")
}

pub(super) fn spent_in_this_piece(tally: &str) -> String {
    format!("This task: {tally}")
}

pub(super) fn spent_in_this_run(tally: &str) -> String {
    format!("{IN_THIS_RUN}: {tally}")
}

pub(super) fn task_question(agent: &str) -> String {
    format!("What should {agent} do?")
}

// An agent's plan

pub(super) const ITS_PLAN: &str = "Its plan";
pub(super) const STEP_DONE: &str = "done";
pub(super) const STEP_IN_PROGRESS: &str = "in progress";
pub(super) const STEP_TO_DO: &str = "to do";

/// The number of completed steps and the one in progress.
pub(super) fn plan_in_a_line(done: usize, all: usize, under_way: Option<&str>) -> String {
    let under_way = under_way.map_or(String::new(), |step| format!(", in progress: {step}"));
    format!("Plan: {done} of {all} done{under_way}")
}

// An agent's chat

pub(super) const SIMULATED: &str = "Simulated (offline): no model answers";
pub(super) const NO_MESSAGES_YET: &str = "No messages yet";
pub(super) const HOW_MESSAGES_COME: &str = "Give it a task below. Its conversation with the model appears here.";
pub(super) const EARLIER_MESSAGES: &str = "Earlier messages";
pub(super) const THE_ROOM: &str = "The room";
pub(super) const ASKED_FOR: &str = "Asked for";
pub(super) const RESULT: &str = "Result";
pub(super) const ASKS_BECAUSE: &str = "Why it needs approval";

/// The activation, turn and stage of an agent's work.
pub(super) fn works_at(agent: &str, activation: &str, turn: usize, stage: &str) -> String {
    format!("{agent} is working on {activation}, {}, {stage}", text_format::count(turn, "turn", "turns"))
}

pub(super) fn show_earlier(count: usize) -> String {
    format!("Show {count} earlier")
}

pub(super) fn not_shown(count: usize) -> String {
    format!("{count} {} not shown", if count == 1 { "is" } else { "are" })
}

pub(super) fn all_characters(count: usize) -> String {
    format!("All {}", characters(count))
}

pub(super) fn thoughts(count: usize) -> String {
    format!("Thoughts, {}", characters(count))
}

pub(super) fn thinks(agent: &str) -> String {
    format!("{agent} thinks")
}

pub(super) fn says_now(agent: &str) -> String {
    format!("{agent}, now")
}

pub(super) fn waiting_for(model: &str) -> String {
    format!("Waiting for {model}")
}

// An agent's past work

pub(super) const BACK_TO_NOW: &str = "Back to now";
pub(super) const EARLIER_WORK: &str = "Earlier work";
pub(super) const LOADING_SESSION: &str = "Loading session…";
pub(super) const SESSION_NOT_LOADED: &str = "Session could not be loaded";
pub(super) const NO_SESSION: &str = "No session";
pub(super) const WHY_NO_SESSION: &str = "Its file was deleted or never written.";
pub(super) const NO_MESSAGES: &str = "No messages";
pub(super) const OPEN_SESSION_FILE: &str = "Open the session's file";
pub(super) const ENDED_DONE: &str = "done";
pub(super) const ENDED_FAILED: &str = "failed";
pub(super) const ENDED_STOPPED: &str = "stopped";
pub(super) const NOT_OVER: &str = "unfinished";

pub(super) fn earlier_works(count: usize) -> String {
    format!("{EARLIER_WORK}, {count}")
}

pub(super) fn work_ended(how: &str, turns: usize, tokens: &str) -> String {
    format!("{how}, {}, {tokens} tokens", text_format::count(turns, "turn", "turns"))
}

pub(super) fn about_session(status: &str, turns: usize, by: &str) -> String {
    format!("{status}, {}, started by {by}", text_format::count(turns, "turn", "turns"))
}

// The tab About

pub(super) const WHEN_IDLE: &str = "When idle";
pub(super) const NEXT_IN_ORDER: &str = "Next, in order";
pub(super) const NOTHING_IS_QUEUED: &str = "Nothing is queued";
pub(super) const WAITING_TASKS: &str = "Waiting tasks";
pub(super) const NO_MEMORIES_YET: &str = "No memories yet. What it reads and says appears here.";
pub(super) const SUMMARY_OF_EARLIER_SESSIONS: &str = "Summary of earlier sessions";
pub(super) const NOTES: &str = "Notes";
pub(super) const TALKED_TO: &str = "Talked to";
pub(super) const ELEMENTS_READ: &str = "Elements it has read";
pub(super) const PINS_KEPT: &str = "Pins it keeps";
pub(super) const A_DELETED_ELEMENT: &str = "a deleted element";
pub(super) const PROFILE: &str = "Profile";
pub(super) const ID: &str = "Id";
pub(super) const UNKNOWN_FILE: &str = "Unknown file";
pub(super) const ROLE: &str = "Role";
pub(super) const MODEL: &str = "Model";
pub(super) const MODEL_FROM_SETTINGS: &str = "from settings";
pub(super) const TOOLS: &str = "Tools";
pub(super) const NO_TOOLS: &str = "none";
pub(super) const SAFETY: &str = "Safety";
pub(super) const MAY_READ: &str = "May read";
pub(super) const MAY_WRITE: &str = "May write";
pub(super) const EVERYTHING_ALLOWED: &str = "everything allowed here";
pub(super) const NOTHING_ALLOWED: &str = "nothing";
pub(super) const MODELS: &str = "Models";
pub(super) const ANSWERED_BY: &str = "Answered by";
pub(super) const IN_THIS_RUN: &str = "In this run";
pub(super) const SESSION: &str = "Session";
pub(super) const HOME: &str = "Home";
pub(super) const QUEUED: &str = "Queued";

pub(super) fn behaviour_name(behaviour: &str) -> String {
    format!("Behaviour {}", behaviour.to_lowercase())
}

pub(super) fn pin_on(pin: &str, element: &str) -> String {
    format!("{pin} on {element}")
}

pub(super) fn session_size(turns: usize, tokens: &str) -> String {
    format!("{}, about {tokens} tokens", text_format::count(turns, "turn", "turns"))
}

// The tab Memory

pub(super) const ITS_OWN: &str = "Its own";
pub(super) const SHARED: &str = "Shared";
pub(super) const OPEN_KNOWLEDGE: &str = "Open Knowledge";
pub(super) const OPEN_KNOWLEDGE_PANE: &str = "Open the Knowledge pane";
pub(super) const LAST_REMINDED_OF: &str = "Last recalled";
pub(super) const NOT_REMINDED_YET: &str = "Nothing yet. Memories are recalled when something similar comes up.";
pub(super) const ITS_OWN_MEMORIES: &str = "Its own memories";
pub(super) const LOADING_MEMORIES: &str = "Loading memories…";
pub(super) const NO_OWN_MEMORIES: &str = "None yet. It learns when a task or conversation ends.";

pub(super) fn memories(count: usize) -> String {
    text_format::count(count, "memory", "memories")
}

pub(super) fn shared_memories(count: usize) -> String {
    format!("{}, known to everyone", memories(count))
}

pub(super) fn reminded_by(ago: &str, about: &str) -> String {
    format!("{ago}, by “{about}”")
}

pub(super) fn shared_by(who: &str) -> String {
    format!("Shared by {who}")
}

pub(super) fn and_more_in_knowledge(count: usize) -> String {
    format!("and {count} more in Knowledge")
}

// Model calls and their prompts

pub(super) const BACK_TO_ALL_CALLS: &str = "Back to all calls";
pub(super) const NO_CALLS: &str = "No model calls yet";
pub(super) const WHEN_CALLS_APPEAR: &str = "Calls to models appear here once answered, with the model and the prompt.";
pub(super) const LOADING_PROMPT: &str = "Loading prompt…";
pub(super) const PROMPT_NOT_LOADED: &str = "Prompt could not be loaded";
pub(super) const PROMPT_NOT_KEPT: &str = "This prompt is no longer kept";
pub(super) const WHY_PROMPT_NOT_KEPT: &str =
    "Prompts are kept for a while only; the log still says what the call cost.";
pub(super) const CALL: &str = "call";
pub(super) const CALL_FAILED: &str = "failed";
pub(super) const CALL_ENDED: &str = "ended";

pub(super) const BY_CALLS: &str = "By calling functions";
pub(super) const BY_MARKERS: &str = "By markers in its text";

/// What a reply did in the room, and how its model asked for it.
pub(super) fn acted(way: &str, acts: &str) -> String {
    format!("{way}: {acts}")
}

pub(super) fn calls(count: usize) -> String {
    text_format::count(count, "call, newest first", "calls, newest first")
}

pub(super) fn call_name(number: Seq) -> String {
    format!("Call {number}")
}

/// Tokens sent and received, duration, and result.
pub(super) fn about_call(sent: &str, came: &str, took: &str, ended: &str) -> String {
    format!("{sent} in, {came} out, {took}, {ended}")
}

pub(super) fn call_error(what: &str, remedy: &str) -> String {
    format!("{what}. What to do: {remedy}.")
}

pub(super) fn last_prompt(tokens: &str) -> String {
    format!("Last prompt, about {tokens} tokens")
}

pub(super) fn session_so_far(messages: usize) -> String {
    format!("The session so far, {}", text_format::count(messages, "message", "messages"))
}

pub(super) fn left_out(origin: &str, why: &str) -> String {
    format!("Left out: {origin}, {why}")
}

pub(super) fn part_size(origin: &str, tokens: &str) -> String {
    format!("{origin}, {tokens} tokens")
}

// An element

pub(super) const NOBODY: &str = "Nobody";
pub(super) const NO_CHANNEL: &str = "No channel";
pub(super) const HOLDS: &str = "Contents";
pub(super) const KEPT_IN_SCENE: &str = "Saved in the scene file";
pub(super) const OPEN: &str = "Open";
pub(super) const LABEL: &str = "Label";
pub(super) const BELONGS_TO: &str = "Belongs to";
pub(super) const OWNER: &str = "Owner";
pub(super) const SHOWS: &str = "Shows";
pub(super) const CHANNEL: &str = "Channel";
pub(super) const CHANNEL_REPLACES_TEXT: &str = "Messages in this channel replace this text.";
pub(super) const NO_CHANNELS: &str = "No channels yet. Agents create one by publishing to it.";

pub(super) fn every(profile: &str) -> String {
    format!("every {profile}")
}

// The content of an element

pub(super) const EMPTY: &str = "Empty";
pub(super) const NO_TASKS: &str = "No tasks yet";

pub(super) fn text_size(characters: usize, lines: usize) -> String {
    let characters = text_format::count(characters, "character", "characters");
    format!("{characters} in {}", text_format::count(lines, "line", "lines"))
}

pub(super) fn pins(pins: usize, votes: usize, comments: usize) -> String {
    let parts = [
        text_format::count(pins, "pin", "pins"),
        text_format::count(votes, "vote", "votes"),
        text_format::count(comments, "comment", "comments"),
    ];
    parts.join(", ")
}

/// The number of messages, and of sent ones if there are any.
pub(super) fn letters(all: usize, unread: usize, open: usize, sent: usize) -> String {
    let letters = text_format::count(all, "message", "messages");
    let unread = if unread == 0 { "none unread".to_owned() } else { format!("{unread} unread") };
    let sent = if sent == 0 { String::new() } else { format!(", {sent} sent") };
    format!("{letters}, {unread}, {open} open{sent}")
}

/// The number of tasks in total and per column.
pub(super) fn tasks(count: usize, columns: &str) -> String {
    format!("{}: {columns}", text_format::count(count, "task", "tasks"))
}

// The content of an element, and its readers

pub(super) const NO_ONE_HAS_IT: &str = "Unassigned";
pub(super) const NO_READERS: &str = "No agent here may read it.";

pub(super) fn letter_to(whom: &str) -> String {
    format!("To {whom}")
}

pub(super) fn letter_from(whom: &str, is_unread: bool) -> String {
    format!("From {whom}{}", if is_unread { ", unread" } else { "" })
}

/// The verb for reading an element; mailboxes are opened.
fn seen(is_box: bool) -> &'static str {
    if is_box { "opened it" } else { "read it" }
}

pub(super) fn who_has_seen(is_box: bool) -> String {
    format!("Who has {}", seen(is_box))
}

pub(super) fn up_to_date(is_box: bool, ago: &str) -> String {
    format!("up to date, {} {ago}", seen(is_box))
}

pub(super) fn read_version(version: u32, newest: u32, ago: &str) -> String {
    format!("read version {version} of {newest} {ago}")
}

pub(super) fn has_not_seen(is_box: bool) -> String {
    format!("has not {}", seen(is_box))
}

pub(super) fn readers_up_to_date(count: usize, all: usize) -> String {
    format!("{count} of {all} {} up to date", if count == 1 { "is" } else { "are" })
}

// A file

pub(super) const OPEN_IN_A_TAB: &str = "Open in a tab";
pub(super) const FILE_NEVER_KEPT: &str = "This file no longer exists, and no version was kept.";
pub(super) const DELETED: &str = "Deleted. Restore any version below.";
pub(super) const KIND: &str = "Kind";
pub(super) const SIZE: &str = "Size";
pub(super) const WRITTEN: &str = "Written";
pub(super) const MADE_BY: &str = "Created by";
pub(super) const OLDEST_BY: &str = "Oldest version by";
pub(super) const FIRST_KEPT: &str = "First version kept";
pub(super) const READ_BY: &str = "Read by";
pub(super) const READERS_UNKNOWN: &str = "unknown (not in the log)";

pub(super) fn bytes(count: usize) -> String {
    format!("{} {}", grouped(count), if count == 1 { "byte" } else { "bytes" })
}

// Versions of a file

pub(super) const VERSIONS: &str = "Versions";
pub(super) const NO_VERSIONS: &str = "No versions";
pub(super) const WHEN_VERSIONS_ARE_KEPT: &str = "A version is kept here each time it is written in the room.";
pub(super) const LOADING_VERSIONS: &str = "Loading versions…";
pub(super) const CLICK_A_VERSION: &str = "Click a version to see its changes or restore it.";
pub(super) const FROM: &str = "From";
pub(super) const TO: &str = "to";
pub(super) const COMPARE_FROM: &str = "Compare from";
pub(super) const COMPARE_TO: &str = "Compare to";
pub(super) const BELOW: &str = "Below";
pub(super) const BESIDE: &str = "Beside";
pub(super) const RESTORE_TIP: &str = "Saves it again as the newest version; nothing is lost";
pub(super) const RESTORING: &str = "Restoring…";
pub(super) const CURRENT_TEXT: &str = "Current text";
pub(super) const RESTORED: &str = "Restored as a new version.";

pub(super) fn version(number: u64) -> String {
    format!("Version {number}")
}

pub(super) fn version_by(number: u64, author: &str) -> String {
    format!("Version {number} · {author}")
}

/// The time, length and activation of a version.
pub(super) fn about_version(when: &str, length: usize, activation: Option<&str>) -> String {
    let of = activation.map_or(String::new(), |activation| format!(" · {activation}"));
    format!("{when} · {}{of}", characters(length))
}

/// A version to compare; 0 is the empty file.
pub(super) fn compared_version(number: u64) -> String {
    if number == 0 { "nothing".to_owned() } else { format!("version {number}") }
}

pub(super) fn show_what_changed(how: &str) -> String {
    format!("Show what changed {}", how.to_lowercase())
}

pub(super) fn restore_version(number: u64) -> String {
    format!("Restore version {number}")
}

pub(super) fn restore_failed(why: &str) -> String {
    format!("Restore failed: {why}")
}

pub(super) fn version_not_kept(number: u64) -> String {
    format!("The text of version {number} is no longer kept.")
}
