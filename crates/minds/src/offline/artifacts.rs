//! Writes the texts of a task: the agent's own document, a summary of others' documents, and the agent files of the
//! specialists that it starts. Every sentence comes from the task, the profile, the role or a source document.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::json;

use super::data::{WordList, at_work, read, word_lists};
use super::draft::fill;
use super::phrases::{noun_phrases, rank_sentences};
use super::speaker::{MAX_QUOTED_WORDS, Speaker, TextAnalysis};
use super::text::{clause, imperative, is_imperative_verb, is_stop_word, quoted, sentences, stem, tidy, words};
use crate::base::text::{capitalised, slug, truncate};

/// Number of random draws to collect distinct lines.
const MAX_DRAWS: usize = 24;
/// Number of sentences quoted from each source document.
const MAX_KEY_SENTENCES: usize = 3;
/// Maximum number of words in a topic name made from the words of a task.
const NAME_WORDS: usize = 3;
/// A text of at most this many words without an imperative is a greeting and not a task.
const GREETING_WORDS: usize = 3;
/// Maximum length of a topic name in characters.
const NAME_CHARS: usize = 48;

/// A kind of specialist that a lead can start.
#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
pub struct Specialist {
    /// The role as used in file names.
    pub role: String,
    description: String,
    duties: Vec<String>,
    style: String,
    asked: String,
}

/// The content of `specialists.yaml`.
#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
struct Specialists {
    file: String,
    task: String,
    specialists: Vec<Specialist>,
    teams: Vec<Team>,
}

/// The two specialists for tasks with certain verbs.
#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
struct Team {
    verbs: WordList,
    roles: [String; 2],
}

static SPECIALISTS: LazyLock<Specialists> = LazyLock::new(|| read(include_str!("specialists.yaml")));

/// Returns the specialists for a task by its first verb that has a team; the last team if there is none.
pub fn team(task: &str) -> Vec<&'static Specialist> {
    let teams = &SPECIALISTS.teams;
    let mut verbs = words(task).map(str::to_lowercase);
    let team = verbs.find_map(|verb| teams.iter().find(|team| team.verbs.has(&verb))).or(teams.last());
    let roles = team.into_iter().flat_map(|team| &team.roles);
    roles.filter_map(|role| SPECIALISTS.specialists.iter().find(|one| one.role == *role)).collect()
}

/// The topic of a task.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TaskTopic {
    /// The topic without an article: “launch party”.
    pub name: String,
    /// The topic as used inside a sentence: “the launch party”.
    pub phrase: String,
}

impl TaskTopic {
    /// Returns the first noun phrase of a task that is more than the kind of text to write, or else its main words.
    pub fn of(speaker: &Speaker, task: &str) -> Self {
        let about = [" about ", " on "].iter().find_map(|word| Some(task.split_once(word)?.1)).unwrap_or_default();
        let phrases = [about, task].map(|text| noun_phrases(&sentences(text), &speaker.prompt.interests));
        let names_more = |phrase: &String| {
            words(phrase).any(|word| !word_lists().writings.has(&word.to_lowercase()) && !word_lists().plain.has(word))
        };
        if let Some(phrase) = phrases.into_iter().flatten().find(names_more) {
            let without_article = ["the ", "our "].iter().find_map(|article| phrase.strip_prefix(article));
            let name = truncate(without_article.unwrap_or(&phrase), NAME_CHARS);
            return Self { phrase: format!("the {name}"), name };
        }
        let name = truncate(&main_words(task), NAME_CHARS);
        let name = if name.is_empty() { "task".to_owned() } else { name };
        Self { phrase: format!("“{name}”"), name }
    }

    /// Returns the topic as used in file names: ASCII letters, digits and dashes.
    pub fn slug(&self) -> String {
        let plain: String = self.name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { ' ' }).collect();
        let slug = slug(&plain);
        if slug.is_empty() { "task".to_owned() } else { slug }
    }
}

/// Returns the first distinct words of a task that are neither stop words nor verbs nor numbers.
fn main_words(task: &str) -> String {
    let mut seen = BTreeSet::new();
    let names_something = |word: &&str| {
        let lowered = word.to_lowercase();
        let is_verb = is_imperative_verb(word) || SPECIALISTS.teams.iter().any(|team| team.verbs.has(&lowered));
        let is_number = word_lists().numbers.has(&lowered) || lowered.chars().all(|c| c.is_ascii_digit());
        !is_stop_word(word) && !is_verb && !is_number
    };
    let named = words(task).filter(names_something).filter(|word| seen.insert(stem(word)));
    named.take(NAME_WORDS).collect::<Vec<_>>().join(" ")
}

impl Specialist {
    /// Returns the content of the specialist's agent file.
    pub fn file(&self, topic: &TaskTopic, target: &str) -> String {
        // JSON is valid YAML, so that any title can be written this way.
        let title = json!(capitalised(&format!("{} {}", topic.name, self.role))).to_string();
        let duties = self.duties.join("\n- ");
        fill(
            &SPECIALISTS.file,
            &[
                ("title", &title),
                ("description", &self.description),
                ("thing", &topic.phrase),
                ("duties", &duties),
                ("target", target),
                ("style", &self.style),
            ],
        )
    }

    /// Returns the task for the specialist.
    pub fn task(&self, task: &str, target: &str) -> String {
        fill(&SPECIALISTS.task, &[("asked", &self.asked), ("task", &clause(task, 40)), ("target", target)])
    }
}

/// Returns a document on a task: quotations from `read` (source and text), opinions, steps and open questions.
pub fn document(speaker: &mut Speaker, task: &str, read: &[(String, String)]) -> String {
    let about = quoted_task(task);
    let topic = TaskTopic::of(speaker, about);
    let analysis = task_analysis(speaker, about, &topic);
    let mut text = title_lines(speaker, &topic.name, about);
    push_quotations(speaker, read, &mut text);
    let mut observations = distinct_lines(speaker, 3, |speaker| speaker.opinion(&analysis));
    observations.extend(speaker.recall(&analysis.stems));
    observations.extend(speaker.relevant_rule(&analysis.stems));
    push_list(&mut text, "What I see", "- ", &observations);
    let mut steps: Vec<String> = speaker.relevant_duty(&analysis.stems).into_iter().collect();
    steps.extend(distinct_lines(speaker, 4, |speaker| speaker.commitment(&analysis)));
    push_list(&mut text, "What to do", "1. ", &steps);
    let questions = distinct_lines(speaker, 3, |speaker| speaker.role_line(&speaker.role.questions, &analysis));
    push_list(&mut text, "What is still open", "- ", &questions);
    text
}

/// Returns a summary of the documents in `read` (path and text), with next steps and a concluding opinion.
pub fn summary_document(speaker: &mut Speaker, task: &str, read: &[(String, String)]) -> String {
    let topic = TaskTopic::of(speaker, task);
    let analysis = task_analysis(speaker, task, &topic);
    let mut text = title_lines(speaker, &format!("{}: summary", topic.name), task);
    push_quotations(speaker, read, &mut text);
    push_list(
        &mut text,
        "What comes next",
        "1. ",
        &distinct_lines(speaker, 3, |speaker| speaker.commitment(&analysis)),
    );
    push_list(&mut text, "In short", "", &distinct_lines(speaker, 1, |speaker| speaker.opinion(&analysis)));
    text
}

/// Returns the sentences of a document that are most relevant to the speaker, without headings.
pub fn key_sentences(speaker: &Speaker, document: &str) -> Vec<String> {
    let body: Vec<&str> =
        document.lines().filter(|line| !line.starts_with('#') && !line.starts_with("For the task")).collect();
    let sentences = sentences(&body.join("\n"));
    let ranked = rank_sentences(&sentences, &speaker.prompt.interests, &speaker.prompt.name);
    ranked.into_iter().filter(|sentence| sentence.split(' ').count() > 3).take(MAX_KEY_SENTENCES).collect()
}

/// Returns the task inside the quotation marks of a delegated task, or the whole text.
pub fn quoted_task(task: &str) -> &str {
    let quoted = task.split_once('“').and_then(|(_, rest)| rest.split_once('”')).map(|(quotation, _)| quotation);
    quoted.filter(|quotation| !quotation.trim().is_empty()).unwrap_or(task)
}

fn task_analysis(speaker: &mut Speaker, task: &str, topic: &TaskTopic) -> TextAnalysis {
    let mut analysis = speaker.analyze(task, &topic.phrase);
    analysis.details.thing.clone_from(&topic.phrase);
    analysis
}

fn title_lines(speaker: &Speaker, title: &str, task: &str) -> String {
    let by = &speaker.prompt.name;
    format!("# {}\n\nFor the task “{}”, by {by}.\n", capitalised(title), clause(task, 40))
}

fn push_quotations(speaker: &Speaker, read: &[(String, String)], text: &mut String) {
    for (source, document) in read {
        let sentences: Vec<String> =
            key_sentences(speaker, document).iter().map(|sentence| quoted(sentence, MAX_QUOTED_WORDS * 2)).collect();
        push_list(text, &format!("From {source}"), "- ", &sentences);
    }
}

/// Draws lines until there are `max` distinct ones or the draws are used up.
fn distinct_lines(speaker: &mut Speaker, max: usize, mut draw: impl FnMut(&mut Speaker) -> String) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for _ in 0..MAX_DRAWS {
        let line = draw(speaker);
        if lines.len() < max && !line.is_empty() && !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines
}

fn push_list(text: &mut String, heading: &str, mark: &str, lines: &[String]) {
    if lines.is_empty() {
        return;
    }
    let _ = write!(text, "\n## {heading}\n\n");
    for (index, line) in lines.iter().enumerate() {
        let mark = if mark == "1. " { format!("{}. ", index + 1) } else { mark.to_owned() };
        let _ = writeln!(text, "{mark}{}", tidy(line));
    }
}

/// Returns the first sentence of a task as the speaker would say it.
pub fn restate_task(task: &str) -> String {
    let first = sentences(task).into_iter().next().unwrap_or_default();
    match imperative(&first) {
        Some(asked) => fill(&at_work().asked, &[("a", &clause(&asked, MAX_QUOTED_WORDS))]),
        None => fill(&at_work().asked_in_words, &[("q", &quoted(&first, MAX_QUOTED_WORDS))]),
    }
}

/// Whether a task is worth a document; a greeting is not.
pub fn needs_document(task: &str) -> bool {
    words(task).count() > GREETING_WORDS || words(task).any(is_imperative_verb)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn main_words_skip_verbs_numbers_and_repetitions() {
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
