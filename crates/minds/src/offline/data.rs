//! The words of the offline brain: its YAML files, each read once. What each line and each list is for stands in the file.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::text::words;

/// So many words at the start of a profile say what somebody is.
const START_WORDS: usize = 25;
/// So much more each of them says of a role than one behind them.
const START_WEIGHT: usize = 3;

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
    /// Words, by what they are.
    Words of WordList {
        stop order_verbs determiners not_in_phrases no_nouns gerund_nouns numbers hours days before_hours no_things writings
        plain asking naming wants_pin mistakes procedures preferences selves states leaning
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

/// The tone whose words the profile uses most; the first where it uses none.
pub(super) fn tone_of(profile: &str) -> &'static Tone {
    most_named(tones(), |tone| &tone.words, 1, profile).unwrap_or(&TONES[0])
}

/// The role whose words the profile uses most; words at its start weigh more. The last where it uses none.
pub(super) fn role_of(profile: &str) -> &'static Role {
    most_named(roles(), |role| &role.words, START_WEIGHT, profile).unwrap_or(&ROLES[ROLES.len() - 1])
}

/// That of which a profile uses most words, the first among equals.
fn most_named<T>(all: &'static [T], of: fn(&T) -> &WordList, start_weight: usize, profile: &str) -> Option<&'static T> {
    let lowered = profile.to_lowercase();
    let weight = |at: usize| if at < START_WORDS { start_weight } else { 1 };
    let score = |one: &T| -> usize {
        let used = words(&lowered).enumerate().filter(|(_, word)| of(one).has(word));
        used.map(|(at, _)| weight(at)).sum()
    };
    // Of equals the last is the greatest, so they are gone through from the end.
    let (score, best) = all.iter().rev().map(|one| (score(one), one)).max_by_key(|(score, _)| *score)?;
    (score > 0).then_some(best)
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
        assert!(sentences().all().all(|(_, sentence)| sentence.ends_with('.') || sentence.ends_with('?')));
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
        let all = lines().all().flat_map(|(_, lines)| lines).chain(sentences().all().map(|(_, sentence)| sentence));
        for line in all {
            let slots = line.matches('{').count();
            assert_eq!(slots, line.matches('}').count(), "{line}");
            assert!(line.split('{').skip(1).all(|rest| rest.split('}').next().is_some_and(|slot| !slot.contains(' '))));
        }
    }

    #[test]
    fn style_words_choose_the_tone() {
        assert_eq!(tone_of("You speak in a dry, wry way.").name, "dry");
        assert_eq!(tone_of("Warm and patient.").name, "warm");
        assert_eq!(tone_of("").name, "precise", "without such words an agent is matter-of-fact");
    }

    #[test]
    fn a_profile_finds_its_role() {
        assert_eq!(role_of("You are Ada. Researcher who looks for sources.").name, "research");
        assert_eq!(role_of("You are Finn. An engineer who builds tools.").name, "building");
        assert_eq!(role_of("You are somebody.").name, "general");
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
