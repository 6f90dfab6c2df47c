//! The headings of a prompt, in one place: the builder writes them, and readers of a prompt find its parts by them.

/// Opens the rulebooks: the first line of every prompt that has any.
pub const STANDING_OPEN: &str = "=== Standing Instructions ===";
/// Closes the rulebooks.
pub const STANDING_CLOSE: &str = "=== End Standing Instructions ===";
/// What in a prompt is to be followed and what is information.
pub const GUIDE: &str = "## How to read this";
/// The profile: `You are NAME.`, description, instructions.
pub const WHO: &str = "## Who you are";
/// The place and who is near.
pub const WHERE: &str = "## Where you are";
/// Markers and tools.
pub const ABILITIES: &str = "## What you can do";
/// What was said in a channel, in a session at work.
pub const NEWS: &str = "News of channel";
/// The context summary.
pub const SUMMARY: &str = "## What you know";
/// Workspace notes.
pub const NOTES: &str = "## Your notes";
/// What it remembers of what is asked now.
pub const REMEMBERED: &str = "## What you remember about this";
/// Recent interactions.
pub const INTERACTIONS: &str = "## Recent interactions";
/// What it knows of elements.
pub const SEEN: &str = "## What you have seen";
/// Kept pins.
pub const PINS: &str = "## Pins you keep";
/// A message board; its label follows.
pub const BOARD: &str = "## Message board:";
/// The agent's own open mail.
pub const MAIL: &str = "## Your mail";
/// What was refused or unknown in its last reply.
pub const FEEDBACK: &str = "## About your last reply";
/// What one at work has at hand.
pub const HERE: &str = "## What is here";
/// The skills that one at work may choose from.
pub const SKILLS: &str = "## Your skills";
/// What the modules of one at work add.
pub const MODULES: &str = "## From your modules";
/// What is asked: the last part of a prompt.
pub const NOW: &str = "## What is asked of you now";

/// The label before the subject of a piece of mail.
pub const SUBJECT: &str = "Subject: ";

/// How a reading moment begins; label and kind follow.
pub const READING: &str = "You are reading";
/// How a conversation moment begins; names and topic follow.
pub const TALKING: &str = "You are talking with";
/// How the moment of an agent that was woken for a reason begins; the reason and a full stop follow.
pub const WOKEN: &str = "You were called:";
/// How a compaction begins.
pub const COMPACTION: &str = "Summarise your recent activity";
/// How a task begins.
pub const TASK: &str = "Your task:";
/// Begins the paragraph after a task that names its file.
pub const TASK_PLACE: &str = "This is task ";
/// Begins a paragraph behind a task that says what was done before it.
pub const TASK_BEFORE: &str = "Done before this:";

/// Begins the paragraph behind a task that an agent handed over: it comes from the room, and from no person.
pub const HANDED_OVER: &str = "System message: this task was handed over to you by ";

/// The label before the list of the outputs of a workflow step.
pub const OUTPUTS: &str = "Outputs of this step:";

/// How what an agent tells the one that started it begins; its id, a colon and the fenced words follow.
pub const SIGNAL: &str = "Signal from ";

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
    fn the_texts_begin_with_the_headings_by_which_their_readers_find_them() {
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
