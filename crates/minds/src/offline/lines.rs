//! The lines of the offline brain besides its tones and roles, and its vocabulary: `lines.yaml`, read once.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use serde::Deserialize;

/// The fields of a section of the file, all of one kind. What each is for stands in the file.
macro_rules! section {
    ($(#[$doc:meta])* $name:ident of $kind:ty { $($field:ident)* }) => {
        $(#[$doc])*
        #[derive(Deserialize, Debug)]
        #[serde(deny_unknown_fields)]
        pub(super) struct $name { $(pub(super) $field: $kind),* }

        impl $name {
            /// Everything in it, by its name.
            #[cfg(test)]
            fn all(&self) -> impl Iterator<Item = (&'static str, &$kind)> {
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

/// A list of words in lower case.
#[derive(Deserialize, Debug)]
#[serde(from = "String")]
pub(super) struct WordList(BTreeSet<String>);

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
}

static FILE: LazyLock<File> = LazyLock::new(|| {
    serde_yaml::from_str(include_str!("lines.yaml")).expect("the file is compiled in, and the tests read it")
});

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
}
