//! All texts of the graph pane: the agent graph and the workflow layer.

use crate::ui::widgets::text_format::{compact, count};

// The pane
pub(super) const GRAPH: &str = "The graph";
pub(super) const MINIMAP: &str = "Minimap of the graph";
pub(super) const LAYING_OUT: &str = "Laying out the graph";
pub(super) const NO_WORK_YET: &str = "No work in this run yet";
pub(super) const NO_WORK_HINT: &str = "Choose an agent in the bar below the room, enter a task and press Run.";
pub(super) const LOADING_HISTORY: &str = "Loading history…";
pub(super) const LOADING_HINT: &str = "The graph appears when it is ready.";

// The layer menu
pub(super) const LAYER: &str = "Layer";
pub(super) const AGENTS: &str = "Agents";
pub(super) const WORKFLOWS: &str = "Workflows";
pub(super) const NEW_WORKFLOW: &str = "New workflow";

// The toolbar of the agent graph
pub(super) const STOP_ALL: &str = "Stop all";
pub(super) const STOP_ALL_HINT: &str = "Stops all work now; nothing starts until work is resumed";
pub(super) const NOTHING_RUNS: &str = "Nothing is running";
pub(super) const PAUSE_WORK: &str = "Pause work";
pub(super) const RESUME_WORK: &str = "Resume work";
pub(super) const IN_PARALLEL: &str = "In parallel";
pub(super) const IN_PARALLEL_HINT: &str = "How many agents work at the same time; applies to new work";
pub(super) const LEVELS: &str = "Levels";
pub(super) const LEVELS_HINT: &str = "How many levels deep agents may start other agents; applies to new work only";
pub(super) const COLLAPSE_FINISHED: &str = "Collapse finished agents";
pub(super) const SHOW_FLOWS: &str = "Show who read and wrote what";
pub(super) const SHOW_EARLIER_RUNS: &str = "Show earlier runs too";
pub(super) const FIT_TO_VIEW: &str = "Fit to view";

// Agent statuses
pub(super) const QUEUED: &str = "queued";
pub(super) const THINKING: &str = "thinking";
pub(super) const USING_A_TOOL: &str = "using a tool";
pub(super) const ASKS_YOU: &str = "asks you";
pub(super) const DONE: &str = "done";
pub(super) const FAILED: &str = "failed";
pub(super) const ABORTED: &str = "aborted";
pub(super) const INTERRUPTED: &str = "interrupted";

// Cards of agents
pub(super) const NO_LONGER_IN_ROOM: &str = "No longer in the room";

pub(super) fn tasks(number: usize) -> String {
    count(number, "task", "tasks")
}

pub(super) fn tokens(number: u64) -> String {
    format!("{} tokens", compact(number))
}

pub(super) fn tasks_given(tasks: &str) -> String {
    format!("gave {tasks}")
}

pub(super) fn status_and_depth(status: &str, depth: impl std::fmt::Display) -> String {
    format!("{status} · depth {depth}")
}

pub(super) fn finished_below(number: usize) -> String {
    format!("+{number} finished")
}

pub(super) fn user_label(tasks: &str) -> String {
    format!("You, gave {tasks}")
}

pub(super) fn agent_label(name: &str, status: &str, tokens: u64) -> String {
    format!("Agent {name}, {status}, {} tokens", compact(tokens))
}

pub(super) fn with_finished_count(agent: &str, finished: usize) -> String {
    format!("{agent}, {finished} finished")
}

pub(super) fn starter_and_tasks(starter: Option<&str>, depth: impl std::fmt::Display, pieces: u32) -> String {
    let given = count(pieces as usize, "task", "tasks");
    match starter {
        Some(starter) => format!("Started by {starter}, depth {depth}, {given}"),
        None => format!("Depth {depth}, {given}"),
    }
}

pub(super) fn read_and_wrote(read: usize, written: usize) -> String {
    format!("Read {}, wrote {written}", count(read, "file", "files"))
}

pub(super) fn reported(number: u32) -> String {
    format!("Reported back {}", times(number))
}

fn times(number: u32) -> String {
    if number == 1 { "once".to_owned() } else { format!("{number} times") }
}

// Cards of files
pub(super) const ALREADY_THERE: &str = "already there";
pub(super) const BY_YOU: &str = "by you";
pub(super) const FILE_DELETED: &str = "deleted";
pub(super) const DELETED: &str = "Deleted";
pub(super) const READ_BY: &str = "Read by";
pub(super) const WRITTEN_BY: &str = "Written by";
pub(super) const MORE_FILES_HINT: &str = "Shows or hides this agent's files";
pub(super) const SHOW_FEWER_FILES: &str = "show fewer";

pub(super) fn made_by(name: &str) -> String {
    format!("by {name}")
}

pub(super) fn file_label(name: &str, made_by: &str, is_deleted: bool) -> String {
    let gone = if is_deleted { ", deleted" } else { "" };
    format!("File {name}, {made_by}{gone}")
}

pub(super) fn and_more_names(names: &str, more: usize) -> String {
    format!("{names} and {more} more")
}

pub(super) fn verb_and_names(verb: &str, names: &str) -> String {
    format!("{verb} {names}")
}

pub(super) fn and_more_files(more: usize) -> String {
    format!("and {}", count(more, "more file", "more files"))
}

pub(super) fn more_files_of(more: usize, agent: &str) -> String {
    format!("{} of {agent}", count(more, "more file", "more files"))
}

pub(super) fn fewer_files_of(agent: &str) -> String {
    format!("Show fewer files of {agent}")
}

// Workflows: empty states
pub(super) const WORKFLOW_NOT_FOUND: &str = "Workflow not found";
pub(super) const WORKFLOW_NOT_FOUND_HINT: &str = "It is still loading, or its file was deleted.";
pub(super) const NO_WORKFLOWS_YET: &str = "There are no workflows yet";
pub(super) const NO_WORKFLOWS_HINT: &str = "Start with an empty one, or choose a template above.";
pub(super) const DRAW_A_NEW_WORKFLOW: &str = "Draw a new workflow";

// Workflows: the toolbar
pub(super) const RUN_WORKFLOW: &str = "Run workflow";
pub(super) const STOP_WORKFLOW: &str = "Stop workflow";
pub(super) const RESUME_WORKFLOW: &str = "Resume workflow";
pub(super) const RESUME_WORKFLOW_HINT: &str = "Continues with the remaining steps; finished steps are not repeated";
pub(super) const DETAILS: &str = "Details";
pub(super) const DETAILS_HINT: &str = "Name, purpose and trigger";
pub(super) const OPEN_FILE: &str = "Open file";
pub(super) const OPEN_RESULT: &str = "Open result";
pub(super) const ADD_A_STEP: &str = "Add a step";

pub(super) fn add_a_step_after(step: &str) -> String {
    format!("Add a step after {step}")
}

pub(super) fn workflow_named(name: &str) -> String {
    format!("Workflow {name}")
}

// Workflows: runs and their questions
pub(super) const RUN_WITH_THESE_VALUES: &str = "Run with these values";
pub(super) const CANCEL: &str = "Cancel";
pub(super) const APPROVE: &str = "Approve";
pub(super) const DO_NOT_APPROVE: &str = "Do not approve";
pub(super) const COMMENT: &str = "Comment (optional)";
pub(super) const SEND_ANSWER: &str = "Send answer";
pub(super) const DECLINE: &str = "Decline";
pub(super) const DECLINE_HINT: &str = "The step fails, and so do the steps that need its answer";
pub(super) const YES: &str = "Yes";
pub(super) const NO: &str = "No";
pub(super) const ONE_ENTRY_PER_LINE: &str = "One entry per line";

pub(super) fn run_status(number: u64, status: &str, why: &str) -> String {
    format!("Run {number} is {}", with_reason(status, why))
}

pub(super) fn with_reason(status: &str, why: &str) -> String {
    if why.is_empty() { status.to_owned() } else { format!("{status}: {why}") }
}

pub(super) fn variable(name: &str, about: &str) -> String {
    if about.is_empty() { format!("{name}:") } else { format!("{name}: {about}") }
}

pub(super) fn question_of_step(step: &str) -> String {
    format!("Step {step} asks you:")
}

pub(super) fn field_of_step(field: &str, step: &str) -> String {
    format!("{field} of {step}")
}

// Workflows: the drawing
pub(super) const WORKFLOW_DRAWING: &str = "The workflow";
pub(super) const NO_STEPS_YET: &str = "No steps yet";
pub(super) const NO_STEPS_HINT: &str = "Choose Add a step above, or drag an agent here from the shelf or the files.";
pub(super) const NOT_RUN_YET: &str = "not run yet";
pub(super) const ARROW_HINT: &str = "Drag to a step that comes after this one";

pub(super) fn step_label(step: &str, who: &str, status: &str) -> String {
    format!("Step {step}, {who}, {status}")
}

pub(super) fn arrow_from(step: &str) -> String {
    format!("Arrow from {step}")
}

pub(super) fn step_for(profile: &str) -> String {
    format!("A step for {profile}")
}

// Workflows: the details form
pub(super) const WORKFLOW_DETAILS: &str = "Workflow details";
pub(super) const NAME: &str = "Name";
pub(super) const WORKFLOW_NAME_HINT: &str = "The name of its file";
pub(super) const PURPOSE: &str = "Purpose";
pub(super) const PURPOSE_HINT: &str = "In one sentence";
pub(super) const TRIGGER: &str = "Trigger";
pub(super) const TRIGGER_HINT: &str = "manual, auto, every 10m, or on change of boards/*.md";
pub(super) const SAVE_DETAILS: &str = "Save details";
pub(super) const CLOSE_DETAILS: &str = "Close details";

// Workflows: the step form
pub(super) const STEP_NAME_HINT: &str = "Letters, digits, - and _";
pub(super) const DONE_BY: &str = "Done by";
pub(super) const BY_AN_AGENT: &str = "An agent";
pub(super) const YOU_APPROVE: &str = "You approve";
pub(super) const YOU_FILL_IN_A_FORM: &str = "You fill in a form";
pub(super) const BY_ANOTHER_WORKFLOW: &str = "Another workflow";
pub(super) const AGENT: &str = "Agent";
pub(super) const AGENT_HINT: &str = "The id of an agent or a profile";
pub(super) const WORKFLOW: &str = "Workflow";
pub(super) const CHOOSE_A_WORKFLOW: &str = "Choose one";
pub(super) const UNUSED_VARIABLE: &str = "That workflow does not use this value";
pub(super) const QUESTION: &str = "Question";
pub(super) const PROMPT: &str = "Prompt";
pub(super) const PROMPT_HINT: &str = "What to do; the run asks for {topic}";
pub(super) const OUTPUTS: &str = "Outputs";
pub(super) const OUTPUTS_HINT: &str = "Required results, separated by commas";
pub(super) const ONLY_WHEN: &str = "Only when";
pub(super) const ONLY_WHEN_HINT: &str = "A condition, such as {review.approved}";
pub(super) const MORE: &str = "More";
pub(super) const FOR_EACH: &str = "For each entry of a list";
pub(super) const FOR_EACH_HINT: &str = "Such as {plan.parts} at most 8";
pub(super) const REPEAT_UNTIL: &str = "Repeat until";
pub(super) const REPEAT_UNTIL_HINT: &str = "Such as {review.approved} at most 3";
pub(super) const RETRIES: &str = "Retries after a failure";
pub(super) const RETRIES_HINT: &str = "None";
pub(super) const MAX_TURNS: &str = "Max turns";
pub(super) const MAX_TURNS_HINT: &str = "Agent's limit";
pub(super) const MODEL: &str = "Model";
pub(super) const MODEL_HINT: &str = "Agent's default";
pub(super) const SAVE_STEP: &str = "Save step";
pub(super) const CLOSE_STEP: &str = "Close step";
pub(super) const REMOVE_STEP: &str = "Remove step";
pub(super) const COMES_AFTER: &str = "Comes after";
pub(super) const FIND_A_STEP: &str = "Find a step";
pub(super) const FIND_A_STEP_HINT: &str = "Part of its name";
