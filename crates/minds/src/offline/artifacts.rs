//! What an offline agent writes for a task: its own piece, a summary of others' pieces, and the files of the
//! specialists that it starts. Every sentence comes from the task, the profile, the role or what was read.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::json;

use super::data::{WordList, at_work, known, read};
use super::draft::fill;
use super::phrases::{noun_phrases, ranked};
use super::speaker::{QUOTED_WORDS, Speaker, Subject};
use super::text::{clause, is_order_verb, is_stop_word, order, quoted, sentences, stem, tidy, upper_first, words};
use crate::base::text::{slug, truncate};

/// Throws of the dice until there are enough different lines.
const THROWS: usize = 24;
/// Sentences that are taken from each piece.
const FROM_EACH: usize = 3;
/// Words of a task in a name made of it.
const NAME_WORDS: usize = 3;
/// So many words without an order among them are no work.
const FEW_WORDS: usize = 3;
/// Characters of a name.
const NAME_CHARS: usize = 48;

/// A kind of specialist, and its task.
#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
pub struct Specialist {
    /// Its role in the form used in file names.
    pub role: String,
    description: String,
    duties: Vec<String>,
    style: String,
    asked: String,
}

/// Who is called in, as `specialists.yaml` has it.
#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
struct Specialists {
    file: String,
    task: String,
    specialists: Vec<Specialist>,
    teams: Vec<Team>,
}

/// Verbs of a task, and who does such things.
#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
struct Team {
    verbs: WordList,
    roles: [String; 2],
}

static SPECIALISTS: LazyLock<Specialists> = LazyLock::new(|| read(include_str!("specialists.yaml")));

/// Who is called in for a task. What fits no verb is found out and written down.
pub fn team(task: &str) -> Vec<&'static Specialist> {
    let teams = &SPECIALISTS.teams;
    let mut verbs = words(task).map(str::to_lowercase);
    let team = verbs.find_map(|verb| teams.iter().find(|team| team.verbs.has(&verb))).or(teams.last());
    let roles = team.into_iter().flat_map(|team| &team.roles);
    roles.filter_map(|role| SPECIALISTS.specialists.iter().find(|one| one.role == *role)).collect()
}

/// What a task is about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Thing {
    /// In a few words, without article: “launch party”.
    pub name: String,
    /// Its form inside a sentence: “the launch party”.
    pub thing: String,
}

impl Thing {
    /// The topic of a task: the first thing in it that is not merely what is to be written.
    pub fn of(speaker: &Speaker, task: &str) -> Self {
        let about = [" about ", " on "].iter().find_map(|word| Some(task.split_once(word)?.1)).unwrap_or_default();
        let phrases = [about, task].map(|text| noun_phrases(&sentences(text), &speaker.reading.interests));
        let names_more = |phrase: &String| {
            words(phrase).any(|word| !known().writings.has(&word.to_lowercase()) && !known().plain.has(word))
        };
        if let Some(phrase) = phrases.into_iter().flatten().find(names_more) {
            let bare = ["the ", "our "].iter().find_map(|article| phrase.strip_prefix(article));
            let name = truncate(bare.unwrap_or(&phrase), NAME_CHARS);
            return Self { thing: format!("the {name}"), name };
        }
        let name = truncate(&main_words(task), NAME_CHARS);
        let name = if name.is_empty() { "task".to_owned() } else { name };
        Self { thing: format!("“{name}”"), name }
    }

    /// Its form in file names: plain letters, digits and dashes.
    pub fn slug(&self) -> String {
        let plain: String = self.name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { ' ' }).collect();
        let slug = slug(&plain);
        if slug.is_empty() { "task".to_owned() } else { slug }
    }
}

/// The first words of a task that name something: no verb of an order, no number, and none twice.
fn main_words(task: &str) -> String {
    let mut seen = BTreeSet::new();
    let names_something = |word: &&str| {
        let lowered = word.to_lowercase();
        let is_verb = is_order_verb(word) || SPECIALISTS.teams.iter().any(|team| team.verbs.has(&lowered));
        let is_number = known().numbers.has(&lowered) || lowered.chars().all(|c| c.is_ascii_digit());
        !is_stop_word(word) && !is_verb && !is_number
    };
    let named = words(task).filter(names_something).filter(|word| seen.insert(stem(word)));
    named.take(NAME_WORDS).collect::<Vec<_>>().join(" ")
}

impl Specialist {
    /// The agent file: a profile as a person would write one.
    pub fn file(&self, topic: &Thing, target: &str) -> String {
        // A JSON text is a YAML text, whatever stands in it.
        let title = json!(upper_first(&format!("{} {}", topic.name, self.role))).to_string();
        let duties = self.duties.join("\n- ");
        fill(
            &SPECIALISTS.file,
            &[
                ("title", &title),
                ("description", &self.description),
                ("thing", &topic.thing),
                ("duties", &duties),
                ("target", target),
                ("style", &self.style),
            ],
        )
    }

    /// What it is asked to do.
    pub fn task(&self, task: &str, target: &str) -> String {
        fill(&SPECIALISTS.task, &[("asked", &self.asked), ("task", &clause(task, 40)), ("target", target)])
    }
}

/// A piece on a task: what the speaker thinks, what it will do, and what it asks.
pub fn piece(speaker: &mut Speaker, task: &str, read: &[(String, String)]) -> String {
    let about = inner(task);
    let topic = Thing::of(speaker, about);
    let subject = subject_of(speaker, about, &topic);
    let mut text = head(speaker, &topic.name, about);
    quote_all(speaker, read, &mut text);
    let mut seen = different(speaker, 3, |speaker| speaker.view(&subject));
    seen.extend(speaker.recall(&subject.stems));
    seen.extend(speaker.rule_on(&subject.stems));
    list(&mut text, "What I see", "- ", &seen);
    let mut steps: Vec<String> = speaker.duty_on(&subject.stems).into_iter().collect();
    steps.extend(different(speaker, 4, |speaker| speaker.deed(&subject)));
    list(&mut text, "What to do", "1. ", &steps);
    let open = different(speaker, 3, |speaker| speaker.of_role(&speaker.role.questions, &subject));
    list(&mut text, "What is still open", "- ", &open);
    text
}

/// A summary of what others wrote: what matters most in each, and what comes next.
pub fn summary(speaker: &mut Speaker, task: &str, read: &[(String, String)]) -> String {
    let topic = Thing::of(speaker, task);
    let subject = subject_of(speaker, task, &topic);
    let mut text = head(speaker, &format!("{}: summary", topic.name), task);
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

/// The task itself: for a delegated task, the text inside the quotation marks.
pub fn inner(task: &str) -> &str {
    let quoted = task.split_once('“').and_then(|(_, rest)| rest.split_once('”')).map(|(inner, _)| inner);
    quoted.filter(|inner| !inner.trim().is_empty()).unwrap_or(task)
}

fn subject_of(speaker: &mut Speaker, task: &str, topic: &Thing) -> Subject {
    let mut subject = speaker.subject(task, &topic.thing);
    subject.particulars.thing.clone_from(&topic.thing);
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
    match order(&first) {
        Some(asked) => fill(&at_work().asked, &[("a", &clause(&asked, QUOTED_WORDS))]),
        None => fill(&at_work().asked_in_words, &[("q", &quoted(&first, QUOTED_WORDS))]),
    }
}

/// Whether a task is worth paper: a greeting is not.
pub fn is_work(task: &str) -> bool {
    words(task).count() > FEW_WORDS || words(task).any(is_order_verb)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_without_a_noun_phrase_is_named_by_words_that_name_something() {
        for (task, name) in [
            ("Divide tea into three to five parts.", "tea parts"),
            ("Research tea: two people wait for tea.", "tea"),
            ("Write 3 lines.", "lines"),
            ("Do it!", ""),
        ] {
            assert_eq!(main_words(task), name, "{task}");
        }
    }
}
