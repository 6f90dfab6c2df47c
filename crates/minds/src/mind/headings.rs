//! The headings of a prompt. The builder writes them, and readers of a prompt find its parts by them.

/// Opens the rulebooks: the first line of every prompt that has some.
pub const STANDING_OPEN: &str = "=== Standing Instructions ===";
/// Closes the rulebooks.
pub const STANDING_CLOSE: &str = "=== End Standing Instructions ===";
/// Which text is to be followed and which is information.
pub const GUIDE: &str = "## How to read this";
/// The profile: `You are NAME.`, description, instructions.
pub const WHO: &str = "## Who you are";
/// The place, and the agents and elements nearby.
pub const WHERE: &str = "## Where you are";
/// Markers and tools.
pub const ABILITIES: &str = "## What you can do";
/// The prefix of a channel message in a work session.
pub const NEWS: &str = "News of channel";
/// The context summary.
pub const SUMMARY: &str = "## What you know";
/// Workspace notes.
pub const NOTES: &str = "## Your notes";
/// The recalled memories related to the request.
pub const REMEMBERED: &str = "## What you remember about this";
/// Recent interactions.
pub const INTERACTIONS: &str = "## Recent interactions";
/// The summaries of elements the agent has read.
pub const SEEN: &str = "## What you have seen";
/// Kept pins.
pub const PINS: &str = "## Pins you keep";
/// A message board; its label follows.
pub const BOARD: &str = "## Message board:";
/// The agent's own open mail.
pub const MAIL: &str = "## Your mail";
/// Remarks on refused or unknown parts of the agent's last reply.
pub const FEEDBACK: &str = "## About your last reply";
/// The environment of a working agent.
pub const HERE: &str = "## What is here";
/// The skills of a working agent.
pub const SKILLS: &str = "## Your skills";
/// The text added by the modules of a working agent.
pub const MODULES: &str = "## From your modules";
/// The current request: the last part of a prompt.
pub const NOW: &str = "## What is asked of you now";

/// The label before the subject of mail.
pub const SUBJECT: &str = "Subject: ";

/// The prefix of a request to read; label and kind follow.
pub const READING: &str = "You are reading";
/// The prefix of a request to talk; names and topic follow.
pub const TALKING: &str = "You are talking with";
/// The prefix of a wake-up; the reason and a full stop follow.
pub const WOKEN: &str = "You were called:";
/// The prefix of a request to summarise.
pub const COMPACTION: &str = "Summarise your recent activity";
/// The prefix of a task.
pub const TASK: &str = "Your task:";
/// The prefix of the paragraph after a task that names its file.
pub const TASK_PLACE: &str = "This is task ";
/// The prefix of a paragraph after a task with the result of an earlier one.
pub const TASK_BEFORE: &str = "Done before this:";

/// The prefix of the paragraph after a delegated task, which is written by the room and not by a person.
pub const HANDED_OVER: &str = "System message: this task was handed over to you by ";

/// The prefix of the paragraph, after a task, in which its workflow step is named.
pub const STEP: &str = "This is the step ";
/// The texts before and after the number of the round of a repeated step; the maximum and a full stop follow.
pub const ROUND: (&str, &str) = ("round ", " of at most ");
/// The label before the list of the outputs of a workflow step.
pub const OUTPUTS: &str = "Outputs of this step:";

/// The prefix of a signal to the agent that started the sender; the sender's id, a colon and the fenced text follow.
pub const SIGNAL: &str = "Signal from ";

/// The prefix of a message that another agent sent; the sender's name and id, a colon and the fenced text follow.
pub const MESSAGE: &str = "Message from ";
/// The prefix of an answer to a message of the agent; the same follows.
pub const ANSWER: &str = "Answer from ";
/// The prefix of the result of a task that the agent requested; its id, its quoted title, a colon and the fenced text
/// follow.
pub const TASK_RESULT: &str = "Your task ";

/// The headings of the parts, in the order of the prompt.
pub const ALL: [&str; 17] = [
    GUIDE,
    ABILITIES,
    WHO,
    SKILLS,
    MODULES,
    HERE,
    BOARD,
    SUMMARY,
    NOTES,
    REMEMBERED,
    INTERACTIONS,
    SEEN,
    PINS,
    MAIL,
    WHERE,
    FEEDBACK,
    NOW,
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mind::prompts::TEXTS;

    #[test]
    fn texts_start_with_the_headings_that_readers_search_for() {
        for (text, heading) in [
            (TEXTS.guide, GUIDE),
            (TEXTS.compaction_system, GUIDE),
            (TEXTS.manners, ABILITIES),
            (TEXTS.work, ABILITIES),
            (TEXTS.here, HERE),
            (TEXTS.read, READING),
            (TEXTS.talk, TALKING),
            (TEXTS.talk_about, TALKING),
            (TEXTS.wake, WOKEN),
            (TEXTS.compaction, COMPACTION),
            (TEXTS.compaction_again, COMPACTION),
        ] {
            assert!(text.starts_with(heading), "{text}");
        }
    }
}
