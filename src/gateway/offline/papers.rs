//! What an agent puts on paper for a task: its own piece, a summary of others' pieces, and the files of the
//! specialists whom it calls in. Every sentence comes from the task, the profile, the trade or what was read.

use std::fmt::Write;

use super::phrases::ranked;
use super::speaker::{QUOTED_WORDS, Speaker, Subject};
use super::text::{clause, contains_word, order, quoted, sentences, stems, tidy, words};
use crate::base::text::slug;

/// Throws of the dice until there are enough different lines.
const THROWS: usize = 24;
/// Sentences that are taken from each piece.
const FROM_EACH: usize = 3;
/// Words of a task in a name made of it.
const NAME_WORDS: usize = 3;

/// A kind of specialist, and what it is asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Specialist {
    /// Its trade, as it stands in file names.
    pub trade: &'static str,
    description: &'static str,
    duties: &'static [&'static str],
    style: &'static str,
    asked: &'static str,
}

const RESEARCHER: Specialist = Specialist {
    trade: "researcher",
    description: "Researcher who finds out what is known before anyone decides.",
    duties: &["Find sources for every claim.", "Say what is known, what is assumed and what is open."],
    style: "Curious and precise, in short sentences.",
    asked: "Find out what is known and what is still open",
};
const PLANNER: Specialist = Specialist {
    trade: "planner",
    description: "Planner who turns wishes into steps with a date and a name.",
    duties: &["Put the steps in order.", "Give each step a deadline and somebody who answers for it."],
    style: "Brisk and practical.",
    asked: "Draw up the steps in order, with what each of them needs",
};
const WRITER: Specialist = Specialist {
    trade: "writer",
    description: "Writer who turns what is known into stories and drafts that people read to the end.",
    duties: &["Write the first draft before the day is over.", "Look for the person in every story."],
    style: "Warm and patient.",
    asked: "Write a first draft",
};
const DESIGNER: Specialist = Specialist {
    trade: "designer",
    description: "Designer who makes things clear by drawing them.",
    duties: &["Sketch the whole on one sheet.", "Remove what is only decoration."],
    style: "Calm and thoughtful.",
    asked: "Sketch how the whole is laid out",
};
const ENGINEER: Specialist = Specialist {
    trade: "engineer",
    description: "Engineer who builds the smallest version that works.",
    duties: &["Build the smallest thing that can be tried.", "Test what could break first."],
    style: "Cheerful and direct.",
    asked: "Say how to build it, smallest part first",
};
const CHECKER: Specialist = Specialist {
    trade: "checker",
    description: "Fact checker who verifies every figure and every name.",
    duties: &["Check every figure against its source.", "Mark what cannot be verified."],
    style: "Precise and dry.",
    asked: "Check what can be verified, and say what cannot",
};
const CRITIC: Specialist = Specialist {
    trade: "critic",
    description: "Critic who finds the weak joint in an idea before the public does.",
    duties: &["Name the weakest part, with a reason.", "Say so when something is good."],
    style: "Frank and direct.",
    asked: "Name the strongest and the weakest part, with reasons",
};

/// Verbs of a task, and who does such things. What fits none is found out and written down.
const TEAMS: [(&str, [Specialist; 2]); 4] = [
    (" plan organise organize prepare schedule launch host arrange run set throw celebrate ", [RESEARCHER, PLANNER]),
    (" build make design implement develop fix repair improve create draw ", [DESIGNER, ENGINEER]),
    (" check review compare evaluate judge test verify analyse analyze audit weigh ", [CHECKER, CRITIC]),
    (" write draft report tell describe explain summarise summarize edit publish ", [RESEARCHER, WRITER]),
];

/// Who is called in for a task.
pub fn team(task: &str) -> [Specialist; 2] {
    let mut verbs = words(task).map(str::to_lowercase);
    let of = |verb: String| TEAMS.iter().find(|(known, _)| contains_word(known, &verb)).map(|(_, team)| *team);
    verbs.find_map(of).unwrap_or([RESEARCHER, WRITER])
}

/// What a task is called: its topic in a few words, without article.
pub fn name_of(speaker: &mut Speaker, task: &str) -> String {
    let topic = speaker.subject(task, "").topic;
    let topic =
        ["the ", "a ", "an ", "our ", "this "].iter().find_map(|article| topic.strip_prefix(article)).unwrap_or(&topic);
    let from_words = || {
        let meaning = words(task).filter(|word| !super::text::is_stop_word(word) && !super::text::is_order_verb(word));
        meaning.take(NAME_WORDS).collect::<Vec<_>>().join(" ")
    };
    let name = if topic.is_empty() { from_words() } else { topic.to_owned() };
    let name: String = name.chars().take(48).collect();
    if slug(&name).is_empty() { "task".to_owned() } else { name }
}

impl Specialist {
    /// The agent file: a profile as a person would write one.
    pub fn file(&self, name: &str, target: &str) -> String {
        let title = upper_first(&format!("{name} {}", self.trade));
        let mut text = format!("---\nname: {title}\ndescription: {}\n---\n\n", self.description);
        let _ = write!(text, "You are called in for one thing: {name}. {}\n\n## What you do\n\n", self.description);
        for duty in self.duties {
            let _ = writeln!(text, "- {duty}");
        }
        let _ =
            writeln!(text, "- Write the result to {target}.\n- Tell your parent with signal_parent when it is there.");
        let _ = write!(text, "\n## How you speak\n\n{}\n", self.style);
        text
    }

    /// What it is asked to do.
    pub fn task(&self, task: &str, target: &str) -> String {
        format!(
            "{} for this: “{}”. Write it to {target}, and tell your parent with signal_parent when it is there.",
            self.asked,
            clause(task, 40)
        )
    }
}

/// A piece on a task: what the speaker thinks, what it will do, and what it asks.
pub fn piece(speaker: &mut Speaker, task: &str, read: &[(String, String)]) -> String {
    let about = inner(task);
    let name = name_of(speaker, about);
    let subject = subject_of(speaker, about, &name);
    let mut text = head(speaker, &name, about);
    quote_all(speaker, read, &mut text);
    let mut seen = different(speaker, 3, |speaker| speaker.view(&subject));
    seen.extend(speaker.recall(&subject.stems));
    seen.extend(speaker.rule_on(&subject.stems));
    list(&mut text, "What I see", "- ", &seen);
    let mut steps: Vec<String> = speaker.duty_on(&subject.stems).into_iter().collect();
    steps.extend(different(speaker, 4, |speaker| speaker.deed(&subject)));
    list(&mut text, "What to do", "1. ", &steps);
    list(
        &mut text,
        "What is still open",
        "- ",
        &different(speaker, 3, |speaker| speaker.of_trade(speaker.craft.questions, &subject)),
    );
    text
}

/// A summary of what others wrote: what matters most in each, and what comes next.
pub fn summary(speaker: &mut Speaker, task: &str, read: &[(String, String)]) -> String {
    let name = name_of(speaker, task);
    let subject = subject_of(speaker, task, &name);
    let mut text = head(speaker, &format!("{name}: summary"), task);
    quote_all(speaker, read, &mut text);
    list(&mut text, "What comes next", "1. ", &different(speaker, 3, |speaker| speaker.deed(&subject)));
    list(&mut text, "In short", "", &different(speaker, 1, |speaker| speaker.view(&subject)));
    text
}

/// The sentences of a piece that say most to the speaker, without its headings.
pub fn gist(speaker: &Speaker, piece: &str) -> Vec<String> {
    let body: Vec<&str> =
        piece.lines().filter(|line| !line.starts_with('#') && !line.starts_with("For the task")).collect();
    let all = sentences(&body.join("\n"));
    let best = ranked(&all, &speaker.reading.interests, &speaker.reading.name);
    best.into_iter().filter(|sentence| sentence.split(' ').count() > 3).take(FROM_EACH).collect()
}

/// What a specialist was asked about, within the words it was asked with.
fn inner(task: &str) -> &str {
    let quoted = task.split_once('“').and_then(|(_, rest)| rest.split_once('”')).map(|(inner, _)| inner);
    quoted.filter(|inner| !inner.trim().is_empty()).unwrap_or(task)
}

fn subject_of(speaker: &mut Speaker, task: &str, name: &str) -> Subject {
    let mut subject = speaker.subject(task, name);
    subject.stems = stems(task);
    if subject.particulars.thing.is_empty() {
        subject.particulars.thing = format!("the {name}");
    }
    subject
}

fn head(speaker: &Speaker, title: &str, task: &str) -> String {
    let by = &speaker.reading.name;
    format!("# {}\n\nFor the task “{}”, by {by}.\n", upper_first(title), clause(task, 40))
}

fn quote_all(speaker: &Speaker, read: &[(String, String)], text: &mut String) {
    for (path, piece) in read {
        let sentences: Vec<String> =
            gist(speaker, piece).iter().map(|sentence| quoted(sentence, QUOTED_WORDS * 2)).collect();
        list(text, &format!("From {path}"), "- ", &sentences);
    }
}

/// At most so many lines that differ.
fn different(speaker: &mut Speaker, most: usize, mut throw: impl FnMut(&mut Speaker) -> String) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for _ in 0..THROWS {
        let line = throw(speaker);
        if lines.len() < most && !line.is_empty() && !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines
}

fn list(text: &mut String, heading: &str, mark: &str, lines: &[String]) {
    if lines.is_empty() {
        return;
    }
    let _ = write!(text, "\n## {heading}\n\n");
    for (index, line) in lines.iter().enumerate() {
        let mark = if mark == "1. " { format!("{}. ", index + 1) } else { mark.to_owned() };
        let _ = writeln!(text, "{mark}{}", tidy(line));
    }
}

/// What is asked, as the speaker says it of itself.
pub fn asked(task: &str) -> String {
    let first = sentences(task).into_iter().next().unwrap_or_default();
    order(&first).map_or_else(|| quoted(&first, QUOTED_WORDS), |asked| clause(&asked, QUOTED_WORDS))
}

fn upper_first(text: &str) -> String {
    let mut rest = text.chars();
    rest.next().map(|first| first.to_uppercase().chain(rest).collect()).unwrap_or_default()
}
