//! Loads the vocabulary and the lines of the offline brain from its YAML files, each parsed once. The files explain
//! their entries.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::text::yaml;

/// Declares a section of a file: fields of one type, plus optional other fields.
macro_rules! section {
    ($(#[$doc:meta])* $name:ident of $kind:ty { $($field:ident)* } $(and { $($other:ident: $other_kind:ident)* })?) => {
        $(#[$doc])*
        #[derive(Deserialize, Debug)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            $(pub(super) $field: $kind,)*
            $($(
                #[allow(dead_code, reason = "only tests read the names in the files")]
                pub(super) $other: $other_kind,
            )*)?
        }

        impl $name {
            /// Returns the name and the value of each field.
            #[allow(dead_code, reason = "most sections are only iterated by tests")]
            pub(super) fn all(&self) -> impl Iterator<Item = (&'static str, &$kind)> {
                [$((stringify!($field), &self.$field)),*].into_iter()
            }
        }
    };
}

section! {
    /// Alternative lines for each occasion; one is chosen at random.
    Lines of Vec<String> {
        called called_by empty rules_read rules_fit rules_else vote_against vote_for only_mine mail_answered mail_from
        idea_pinned idea_added follow_up fact_in_mail fact_in_rules fact_in_notes fact_on_board more_in_mail more_in_notes
        more_there more_elsewhere offer_taken offer_doubted question_leads settled_in_doubt settled again_before rule_asks
        rule_bans rule_says next_duty next_deed recall_note recall_board recall_past task_question task_order
    }
}

section! {
    /// Sentences without alternatives.
    Sentences of String {
        no_task my_task will would_rather first_will alone_to_person alone shared hears_of_it passed_on pass_on
    }
}

section! {
    /// Sentences for work on a task with tools.
    WorkSentences of String {
        subscribes listens hands_over handed_over publishes place notes gives given asked asked_in_words calls_in called_in
        waits missing sums_up summed_up done writes written unwritten tells told first_point in_short alone reads refused
        toolless
    }
}

section! {
    /// Word lists by purpose.
    WordLists of WordList {
        stop order_verbs determiners not_in_phrases no_nouns gerund_nouns numbers hours days before_hours no_things writings
        plain asking naming wants_pin mistakes procedures preferences selves states leaning
    }
}

section! {
    /// Parts of sentences to search for, by purpose.
    Fragments of Vec<String> { leading telling plans vague_offers deeds records no_duties }
}

section! {
    /// Replacements for pronouns when a sentence is retold by, to or about someone else.
    Persons of BTreeMap<String, String> { first given second third addressed }
}

section! {
    /// A way of speaking.
    Tone of Vec<String> { remarks greetings agreeing doubting closing } and { name: String words: WordList }
}

section! {
    /// The opinions, commitments, questions, objections and pins of a role.
    Role of Vec<String> { views deeds questions objections pins } and { name: String words: WordList }
}

/// A set of lower-case words.
#[derive(Deserialize, Debug)]
#[serde(from = "String")]
pub struct WordList(BTreeSet<String>);

impl From<String> for WordList {
    fn from(words: String) -> Self {
        Self(words.split_whitespace().map(str::to_owned).collect())
    }
}

impl WordList {
    /// Whether the list contains a lower-case word.
    pub(super) fn has(&self, word: &str) -> bool {
        self.0.contains(word)
    }

    /// Returns the words in alphabetical order.
    pub(super) fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }
}

#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
struct File {
    lines: Lines,
    sentences: Sentences,
    at_work: WorkSentences,
    words: WordLists,
    phrases: Fragments,
    persons: Persons,
}

static FILE: LazyLock<File> = LazyLock::new(|| read(include_str!("lines.yaml")));
static TONES: LazyLock<Vec<Tone>> = LazyLock::new(|| read(include_str!("tones.yaml")));
static ROLES: LazyLock<Vec<Role>> = LazyLock::new(|| read(include_str!("roles.yaml")));

/// Parses a compiled-in YAML file.
///
/// # Panics
///
/// If the file does not match `T`; tests load every file.
pub(super) fn read<T: DeserializeOwned>(file: &str) -> T {
    yaml::from_str(file).expect("the file is compiled in, and tests parse it")
}

/// Returns the lines with alternatives.
pub(super) fn lines() -> &'static Lines {
    &FILE.lines
}

/// Returns the sentences without alternatives.
pub(super) fn sentences() -> &'static Sentences {
    &FILE.sentences
}

/// Returns the sentences for work on a task with tools.
pub(super) fn at_work() -> &'static WorkSentences {
    &FILE.at_work
}

/// Returns the word lists.
pub(super) fn word_lists() -> &'static WordLists {
    &FILE.words
}

/// Returns the parts of sentences to search for.
pub(super) fn fragments() -> &'static Fragments {
    &FILE.phrases
}

/// Returns the pronoun replacements.
pub(super) fn persons() -> &'static Persons {
    &FILE.persons
}

/// Returns all tones; the first is the default.
pub(super) fn tones() -> &'static [Tone] {
    &TONES
}

/// Returns all roles; the last is the default.
pub(super) fn roles() -> &'static [Role] {
    &ROLES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_occasion_has_distinct_lines() {
        for (name, lines) in lines().all() {
            let distinct: BTreeSet<&String> = lines.iter().filter(|line| !line.is_empty()).collect();
            let count = lines.iter().filter(|line| !line.is_empty()).count();
            assert!(count > 0 && distinct.len() == count, "{name}: {lines:?}");
        }
        let mut sentences = sentences().all().chain(at_work().all());
        assert!(sentences.all(|(_, sentence)| sentence.ends_with('.') || sentence.ends_with('?')));
    }

    #[test]
    fn word_lists_are_lower_case() {
        for (name, list) in word_lists().all() {
            assert!(list.iter().count() >= 5, "{name}");
            assert!(list.iter().all(|word| *word == word.to_lowercase()), "{name}");
        }
        assert!(fragments().all().all(|(_, list)| list.len() >= 3 && list.iter().all(|phrase| !phrase.is_empty())));
    }

    #[test]
    fn placeholders_are_in_braces() {
        let sentences = sentences().all().chain(at_work().all()).map(|(_, sentence)| sentence);
        for line in lines().all().flat_map(|(_, lines)| lines).chain(sentences) {
            let slots = line.matches('{').count();
            assert_eq!(slots, line.matches('}').count(), "{line}");
            assert!(line.split('{').skip(1).all(|rest| rest.split('}').next().is_some_and(|slot| !slot.contains(' '))));
        }
    }

    #[test]
    fn every_role_has_lines_for_any_topic() {
        assert_eq!(roles().len(), 11);
        for role in roles() {
            for lines in [&role.views, &role.deeds, &role.questions, &role.objections] {
                assert!(lines.iter().filter(|line| !line.contains('{')).count() >= 2, "{lines:?}");
            }
            for slot in ["{n}", "{d}", "{t}"] {
                for lines in [&role.views, &role.deeds, &role.questions] {
                    assert!(lines.iter().any(|line| line.contains(slot)), "{slot} is missing in {lines:?}");
                }
            }
            assert!(role.pins.iter().all(|pin| pin.contains('{')), "{:?}", role.pins);
        }
    }
}
