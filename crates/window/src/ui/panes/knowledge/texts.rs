//! All texts of the knowledge pane.

use crate::ui::widgets::text_format;

// The pane

pub(super) const KNOWLEDGE: &str = "Knowledge";
pub(super) const SHOW_KNOWLEDGE: &str = "Show knowledge";
pub(super) const LOADING: &str = "Loading memories…";
pub(super) const NO_MEMORIES: &str = "No memories yet";
pub(super) const HOW_MEMORIES_COME: &str = "Agents learn from work and conversations, or add memories with \
    knowledge_contribute. A line in memory/knowledge/shared.md is known to everyone.";
pub(super) const OPEN_FILE: &str = "Open file";
pub(super) const CANCEL: &str = "Cancel";

pub(super) fn memories(count: usize) -> String {
    text_format::count(count, "memory", "memories")
}

pub(super) fn more_unreadable_lines(count: usize) -> String {
    format!("and {}", text_format::count(count, "more unreadable line", "more unreadable lines"))
}

// Which memories are shown

pub(super) const SEARCH_MEMORIES: &str = "Search memories";
pub(super) const HOW_SEARCH_WORKS: &str = "Search by meaning and by word";
pub(super) const WHOSE_MEMORIES: &str = "Whose memories";
pub(super) const ALL_MEMORIES: &str = "All memories";
pub(super) const SHARED: &str = "Shared";
pub(super) const KINDS_OF_MEMORIES: &str = "Kinds of memories";
pub(super) const ALL_KINDS: &str = "All kinds";
pub(super) const TAGS_OF_MEMORIES: &str = "Tags of memories";
pub(super) const ALL_TAGS: &str = "All tags";
pub(super) const TIME_RANGE: &str = "Time range";
pub(super) const ANY_TIME: &str = "Any time";
pub(super) const LAST_DAY: &str = "Last day";
pub(super) const LAST_7_DAYS: &str = "Last 7 days";
pub(super) const LAST_30_DAYS: &str = "Last 30 days";
pub(super) const LIST: &str = "List";
pub(super) const SHOW_AS_LIST: &str = "Show memories as a list";
pub(super) const GRAPH: &str = "Graph";
pub(super) const SHOW_AS_GRAPH: &str = "Show memories with their relations";

pub(super) fn as_known_by(agent: &str) -> String {
    format!("As {agent} knows it")
}

// Search results

pub(super) const SEARCHING: &str = "Searching…";
pub(super) const NO_RESULTS: &str = "No results";
pub(super) const NO_WORKSPACE: &str = "open the workspace to search its memories";
pub(super) const NOT_NEAR: &str = "not similar in meaning";

pub(super) fn searching_for(words: &str) -> String {
    format!("Searching memories for “{words}”")
}

pub(super) fn search_failed(why: &str) -> String {
    format!("Search failed: {why}")
}

pub(super) fn show_more(count: usize, left: usize) -> String {
    format!("Show {count} more of {}", memories(left))
}

pub(super) fn meaning(share: &str) -> String {
    format!("meaning {share}")
}

/// The parts of a score, each a percentage.
pub(super) fn score(score: f32, meaning: &str, words: &str, freshness: &str, importance: &str) -> String {
    format!("Score {score:.2}: {meaning}, words {words}, recency {freshness}, importance {importance}")
}

// A memory: its owner and commands

pub(super) const EVERYONE: &str = "everyone";
pub(super) const PINNED: &str = "pinned";
pub(super) const TEXT_OF_THE_MEMORY: &str = "Text of the memory";
pub(super) const WHAT_TO_REMEMBER: &str = "What to remember";
pub(super) const SAVE: &str = "Save";
pub(super) const EDIT: &str = "Edit";
pub(super) const PIN: &str = "Pin";
pub(super) const UNPIN: &str = "Unpin";
pub(super) const SHARE: &str = "Share";
pub(super) const FORGET: &str = "Forget";
pub(super) const SHOW_CONVERSATION: &str = "Show conversation";
pub(super) const SHOW_SESSION: &str = "Show session";

/// The accessible name of a button: its command and memory.
pub(super) fn button_name(act: &str, memory: &str) -> String {
    format!("{act}: {memory}")
}

pub(super) fn only(agent: &str) -> String {
    format!("only {agent}")
}

pub(super) fn everyone_from(agent: &str) -> String {
    format!("everyone, from {agent}")
}

pub(super) fn from_run(run: &str) -> String {
    format!("from {run}")
}

// Relations between memories

pub(super) const REMOVE: &str = "Remove";
pub(super) const RELATE: &str = "Relate…";
pub(super) const RELATION: &str = "Relation";
pub(super) const TO_THIS_ONE: &str = "To this one";
pub(super) const CHOOSE_THE_OTHER: &str = "the one that you choose below";

pub(super) fn related(relation: &str, memory: &str) -> String {
    format!("{relation}: {memory}")
}

pub(super) fn contradicts(memory: &str) -> String {
    format!("Contradicts: {memory}")
}

pub(super) fn remove_relation(from: &str, relation: &str, to: &str) -> String {
    format!("{REMOVE}: {from} {relation}: {to}")
}

pub(super) fn relate_memory(memory: &str) -> String {
    format!("Relate to another memory: {memory}")
}

pub(super) fn relate_to_this(relation: &str, memory: &str) -> String {
    format!("{relation} this one: {memory}")
}

// The graph of memories

pub(super) const NO_RELATIONS: &str = "No relations among these memories";
pub(super) const HOW_RELATIONS_COME: &str =
    "Agents link what they learn to what is known: what supports it, what contradicts it.";
pub(super) const LAYING_OUT: &str = "Laying out the graph…";
pub(super) const MEMORIES_AND_RELATIONS: &str = "Memories and their relations";

pub(super) fn without_relation(count: usize) -> String {
    format!("{} without a relation: see the list", memories(count))
}

pub(super) fn memory(content: &str) -> String {
    format!("Memory: {content}")
}

// Who knows it

pub(super) const WHO_KNOWS_THIS: &str = "Who knows this?";
pub(super) const STOP_SHOWING_WHO_KNOWS: &str = "Stop showing who knows";
pub(super) const WHO_KNOWS_ABOUT_THIS: &str = "Who knows about this?";
pub(super) const DONE: &str = "Done";
pub(super) const NO_ONE_RECALLED_IT: &str = "Everyone may know it. The log shows no one recalling it.";
pub(super) const REMEMBERS_IT: &str = "remembers it";
pub(super) const SHARED_IT: &str = "shared it";
pub(super) const WAS_REMINDED_OF_IT: &str = "recalled it";

pub(super) fn who_knows(what: &str) -> String {
    format!("Who knows: {what}")
}

pub(super) fn and_others(count: usize) -> String {
    format!("and {}", text_format::count(count, "other", "others"))
}

pub(super) fn talked_with(whom: &str) -> String {
    format!("talked with {whom}")
}

pub(super) fn read(what: &str) -> String {
    format!("read {what}")
}

pub(super) fn from(whom: &str) -> String {
    format!("from {whom}")
}
