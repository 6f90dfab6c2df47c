//! The word lists and lines of the offline brain: its YAML files, each parsed once. The files explain what each entry
//! is for.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use serde::Deserialize;
use serde::de::DeserializeOwned;

/// A section of a file: fields that are all of one kind, and others beside them.
macro_rules! section {
    ($(#[$doc:meta])* $name:ident of $kind:ty { $($field:ident)* } $(and { $($other:ident: $other_kind:ident)* })?) => {
        $(#[$doc])*
        #[derive(Deserialize, Debug)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            $(pub(super) $field: $kind,)*
            $($(
                #[allow(dead_code, reason = "what it is called in the file is only asked by tests")]
                pub(super) $other: $other_kind,
            )*)?
        }

        impl $name {
            /// Everything in it, by its name.
            #[allow(dead_code, reason = "most sections are only looked through by tests")]
            pub(super) fn all(&self) -> impl Iterator<Item = (&'static str, &$kind)> {
                [$((stringify!($field), &self.$field)),*].into_iter()
            }
        }
    };
}

section! {
    /// Lines, of which one is said each time.
    Lines of Vec<String> {
        called called_by empty rules_read rules_fit rules_else vote_against vote_for only_mine mail_answered mail_from
        idea_pinned idea_added follow_up fact_in_mail fact_in_rules fact_in_notes fact_on_board more_in_mail more_in_notes
        more_there more_elsewhere offer_taken offer_doubted question_leads settled_in_doubt settled again_before rule_asks
        rule_bans rule_says next_duty next_deed recall_note recall_board recall_past task_question task_order
    }
}

section! {
    /// Sentences that are said as they are.
    Sentences of String {
        no_task my_task will would_rather first_will alone_to_person alone shared hears_of_it passed_on pass_on
    }
}

section! {
    /// Sentences that are said at work.
    AtWork of String {
        subscribes listens hands_over handed_over publishes place notes gives given asked asked_in_words calls_in called_in
        waits missing sums_up summed_up done writes written unwritten tells told first_point in_short alone reads refused
        toolless
    }
}

section! {
    /// Words, by what they are.
    Words of WordList {
        stop order_verbs determiners not_in_phrases no_nouns gerund_nouns numbers hours days before_hours no_things writings
        plain asking naming wants_pin mistakes procedures preferences selves states leaning pointing
    }
}

section! {
    /// Parts of sentences, by what they tell.
    Phrases of Vec<String> { leading telling plans vague_offers deeds records no_duties }
}

section! {
    /// The words of a sentence that change with who says it of whom, and what they become.
    Persons of BTreeMap<String, String> { first given second third addressed }
}

section! {
    /// A way of speaking.
    Tone of Vec<String> { remarks greetings agreeing doubting closing } and { name: String words: WordList }
}

section! {
    /// What agents of a role think, promise, ask, doubt and pin up.
    Role of Vec<String> { views deeds questions objections pins } and { name: String words: WordList }
}

/// A list of words in lower case.
#[derive(Deserialize, Debug)]
#[serde(from = "String")]
pub struct WordList(BTreeSet<String>);

impl From<String> for WordList {
    fn from(words: String) -> Self {
        Self(words.split_whitespace().map(str::to_owned).collect())
    }
}

impl WordList {
    /// Whether a word in small letters is among them.
    pub(super) fn has(&self, word: &str) -> bool {
        self.0.contains(word)
    }

    /// All of them.
    pub(super) fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }
}

#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
struct File {
    lines: Lines,
    sentences: Sentences,
    at_work: AtWork,
    words: Words,
    phrases: Phrases,
    persons: Persons,
}

static FILE: LazyLock<File> = LazyLock::new(|| read(include_str!("lines.yaml")));
static TONES: LazyLock<Vec<Tone>> = LazyLock::new(|| read(include_str!("tones.yaml")));
static ROLES: LazyLock<Vec<Role>> = LazyLock::new(|| read(include_str!("roles.yaml")));

/// Reads one of the files.
pub(super) fn read<T: DeserializeOwned>(file: &str) -> T {
    serde_yaml::from_str(file).expect("the file is compiled in, and the tests read it")
}

/// The lines.
pub(super) fn lines() -> &'static Lines {
    &FILE.lines
}

/// The sentences.
pub(super) fn sentences() -> &'static Sentences {
    &FILE.sentences
}

/// The sentences of those at work.
pub(super) fn at_work() -> &'static AtWork {
    &FILE.at_work
}

/// The words.
pub(super) fn known() -> &'static Words {
    &FILE.words
}

/// The parts of sentences.
pub(super) fn phrases() -> &'static Phrases {
    &FILE.phrases
}

/// The words that change with the person.
pub(super) fn persons() -> &'static Persons {
    &FILE.persons
}

/// All tones.
pub(super) fn tones() -> &'static [Tone] {
    &TONES
}

/// All roles; the last is of those who have none.
pub(super) fn roles() -> &'static [Role] {
    &ROLES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_something_to_say_and_nothing_twice() {
        for (name, lines) in lines().all() {
            let different: BTreeSet<&String> = lines.iter().filter(|line| !line.is_empty()).collect();
            let said = lines.iter().filter(|line| !line.is_empty()).count();
            assert!(said > 0 && different.len() == said, "{name}: {lines:?}");
        }
        let mut sentences = sentences().all().chain(at_work().all());
        assert!(sentences.all(|(_, sentence)| sentence.ends_with('.') || sentence.ends_with('?')));
    }

    #[test]
    fn every_list_holds_words_in_small_letters() {
        for (name, list) in known().all() {
            assert!(list.iter().count() >= 5, "{name}");
            assert!(list.iter().all(|word| *word == word.to_lowercase()), "{name}");
        }
        assert!(phrases().all().all(|(_, list)| list.len() >= 3 && list.iter().all(|phrase| !phrase.is_empty())));
    }

    #[test]
    fn what_is_filled_in_stands_between_braces() {
        let sentences = sentences().all().chain(at_work().all()).map(|(_, sentence)| sentence);
        for line in lines().all().flat_map(|(_, lines)| lines).chain(sentences) {
            let slots = line.matches('{').count();
            assert_eq!(slots, line.matches('}').count(), "{line}");
            assert!(line.split('{').skip(1).all(|rest| rest.split('}').next().is_some_and(|slot| !slot.contains(' '))));
        }
    }

    #[test]
    fn every_role_can_speak_of_anything_and_pins_only_what_has_a_name() {
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
