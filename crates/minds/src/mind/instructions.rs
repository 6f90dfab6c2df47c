//! Writes the text of a prompt that is to be followed: rulebooks, the agent file, the task. It is unchanged, except for
//! lines that could pose as a part of the prompt. Rulebooks and instructions take precedence over information, and are
//! complete as long as they fit into [`room_for_orders`].
//!
//! Headings are found line by line, without a Markdown parser, so that all other text stays as written. Only lines
//! without indentation can pose as a part of the prompt.

use std::borrow::Cow;
use std::fmt::Write;
use std::ops::Range;

use super::context::{AgentIdentity, MindContext};
use super::heading_guard::{escape_all, escape_rules};
use super::headings;
use super::prompts::{TEXTS, filled, push};
use super::untrusted_text::PERSON;
use super::untrusted_text::{clean, name, push_cut};
use crate::base::text::one_line;
use crate::text::fence::CodeLines;

/// The rules and the agent's identity, within their share of a prompt.
pub(super) struct Instructions {
    /// All rulebooks with their frame, and the range of their content; `None` if all are empty.
    pub(super) rules: Option<(String, Range<usize>)>,
    /// The agent's identity, and its range below the heading.
    pub(super) who: (String, Range<usize>),
}

/// Writes rules and identity into at most `max_chars` characters.
pub(super) fn orders(context: &MindContext, max_chars: usize) -> Instructions {
    let books: Vec<Cow<str>> = rulebook_texts(context.rulebooks.iter().map(|book| book.text.as_str())).collect();
    let who = who_text(&context.who);
    let lengths: Vec<usize> = books.iter().map(|book| &**book).chain([&*who]).map(order_chars).collect();
    let shares = fair_shares(&lengths, max_chars);
    let rules = (!books.is_empty()).then(|| {
        let mut text = String::with_capacity(1_024);
        text.push_str(headings::STANDING_OPEN);
        for (index, (book, share)) in books.iter().zip(&shares).enumerate() {
            text.push_str(if index == 0 { "\n" } else { "\n\n" });
            push_cut(&mut text, book, seen_of_order(*share));
        }
        let body = headings::STANDING_OPEN.len() + 1..text.len();
        text.push('\n');
        text.push_str(headings::STANDING_CLOSE);
        (text, body)
    });
    let mut text = format!("{}\n", headings::WHO);
    push_cut(&mut text, &who, seen_of_order(shares.last().copied().unwrap_or_default()));
    let body = headings::WHO.len() + 1..text.len();
    Instructions { rules, who: (text, body) }
}

/// Returns the rulebooks that are not empty, as used in a prompt.
pub(super) fn rulebook_texts<'a>(texts: impl Iterator<Item = &'a str>) -> impl Iterator<Item = Cow<'a, str>> {
    texts.map(str::trim).filter(|text| !text.is_empty()).map(rules_text)
}

fn rules_text(text: &str) -> Cow<'_, str> {
    match clean(text) {
        Cow::Borrowed(text) => escape_rules(text),
        Cow::Owned(text) => escape_rules(&text).into_owned().into(),
    }
}

/// Returns instructions or a task as used in a prompt.
pub(super) fn order_text(text: &str) -> Cow<'_, str> {
    match clean(text.trim()) {
        Cow::Borrowed(text) => escape_all(text),
        Cow::Owned(text) => escape_all(&text).into_owned().into(),
    }
}

/// Characters that headings and blank lines add to an instruction text.
const AROUND_ORDER: usize = 40;

/// Returns the number of characters that a text to be followed needs.
pub(super) fn order_chars(text: &str) -> usize {
    text.chars().count() + AROUND_ORDER
}

/// Returns how many characters of a text to be followed fit into a share of the prompt.
pub(super) fn seen_of_order(share: usize) -> usize {
    share.saturating_sub(AROUND_ORDER)
}

/// Returns an agent's identity as used in a prompt; its instructions come last.
pub(super) fn who_text(who: &AgentIdentity) -> String {
    let mut body = filled(TEXTS.who, &[("name", &name(&who.name))]);
    if !who.description.trim().is_empty() {
        let _ = write!(body, " {}", order_text(&one_line(&who.description)));
    }
    if who.share_user_info && !who.person.trim().is_empty() {
        body.push('\n');
        push(&mut body, TEXTS.person, &[("person", &order_text(&one_line(&who.person)))]);
    }
    if !who.instructions.trim().is_empty() {
        let _ = write!(body, "\n\n{}", instructions_text(&who.instructions));
    }
    body
}

/// Returns the instructions of an agent file as used in a prompt: their headings are nested below the room's.
pub(super) fn instructions_text(text: &str) -> Cow<'_, str> {
    match below_headings(text.trim()) {
        Cow::Borrowed(text) => order_text(text),
        Cow::Owned(text) => order_text(&text).into_owned().into(),
    }
}

/// The level of the headings of a prompt.
const OWN_LEVEL: usize = 2;
/// The deepest heading level of Markdown.
const DEEPEST_LEVEL: usize = 6;

/// Returns a text with its headings moved below the level of the room's, relative levels kept.
fn below_headings(text: &str) -> Cow<'_, str> {
    let highest = headings_of(text).filter_map(|(_, level)| level).min();
    let Some(deeper) = highest.and_then(|highest| (OWN_LEVEL + 1).checked_sub(highest)).filter(|by| *by > 0) else {
        return text.into();
    };
    let mut shifted = String::with_capacity(text.len() + 32);
    for (line, level) in headings_of(text) {
        let more = level.map_or(0, |level| deeper.min(DEEPEST_LEVEL.saturating_sub(level)));
        shifted.extend(std::iter::repeat_n('#', more));
        shifted.push_str(line);
    }
    shifted.into()
}

/// Returns the lines of a text, each with its level if it is a heading outside of code.
fn headings_of(text: &str) -> impl Iterator<Item = (&str, Option<usize>)> {
    let mut code = CodeLines::default();
    text.split_inclusive('\n').map(move |line| {
        let is_code = code.is_code(line);
        let level = line.bytes().take_while(|byte| *byte == b'#').count();
        let is_heading = !is_code && (1..=DEEPEST_LEVEL).contains(&level) && line[level..].starts_with([' ', '\t']);
        (line, is_heading.then_some(level))
    })
}

/// Returns how an agent's prompts refer to the person: by name if that is shared and short.
pub(super) fn person_name(who: &AgentIdentity) -> Cow<'_, str> {
    const NAME_CHARS: usize = 40;
    let called = who.person.split([',', '.', ';', ':', '(', '\n']).next().unwrap_or_default().trim();
    if who.share_user_info && !called.is_empty() && called.chars().count() <= NAME_CHARS {
        // No agent can have this suffix in its name, so that none can be taken for the person.
        return format!("{} ({PERSON})", name(called)).into();
    }
    PERSON.into()
}

/// Characters of the fixed texts of a prompt, such as how to read it.
const FIXED_CHARS: usize = 800;

/// Returns how many characters of a prompt rulebooks and instructions may take.
pub(super) fn room_for_orders(max_chars: usize) -> usize {
    max_chars.saturating_sub(FIXED_CHARS) / 12 * 7
}

/// Returns the prompt length needed for a number of characters of rulebooks and instructions.
pub(super) fn prompt_for_orders(chars: usize) -> usize {
    chars.div_ceil(7) * 12 + FIXED_CHARS
}

/// Divides `room` characters among texts of these lengths: short texts are complete, long ones share the rest evenly.
pub(super) fn fair_shares(lengths: &[usize], room: usize) -> Vec<usize> {
    if lengths.iter().sum::<usize>() <= room {
        return lengths.to_vec();
    }
    let mut shares = vec![0; lengths.len()];
    let mut by_length: Vec<usize> = (0..lengths.len()).collect();
    by_length.sort_by_key(|index| lengths[*index]);
    let mut left = room;
    for (done, index) in by_length.into_iter().enumerate() {
        shares[index] = lengths[index].min(left / (lengths.len() - done));
        left -= shares[index];
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_of_an_agent_file_are_nested_below_those_of_the_prompt() {
        let text = "# Ada\nIntro\n## What you do\n```sh\n# count\n```\n###### deep\n#tag";
        let shifted = "### Ada\nIntro\n#### What you do\n```sh\n# count\n```\n###### deep\n#tag";
        assert_eq!(instructions_text(text), shifted);
        assert_eq!(instructions_text("## A\n### B"), "### A\n#### B");
        assert!(matches!(below_headings("### A\nno #heading\n#### B"), Cow::Borrowed(_)));
        let nested = "# Ada\n````md\n```\n# inside\n```\n# inside, too\n````\n# Below";
        let shifted = "### Ada\n````md\n```\n# inside\n```\n# inside, too\n````\n### Below";
        assert_eq!(instructions_text(nested), shifted);
        assert_eq!(instructions_text("# Your notes\nx"), "\\### Your notes\nx", "and cannot pose as one");
    }

    #[test]
    fn the_person_is_named_only_if_that_is_shared() {
        let who = |person: &str, share_user_info| AgentIdentity {
            person: person.into(),
            share_user_info,
            ..AgentIdentity::default()
        };
        assert_eq!(person_name(&who("Grace, an editor", true)), "Grace (the person)");
        assert_eq!(person_name(&who("Grace, an editor", false)), "the person");
        assert_eq!(person_name(&who("", true)), "the person");
        assert_eq!(person_name(&who(&"x".repeat(50), true)), "the person");
    }

    #[test]
    fn short_texts_are_complete_and_long_ones_share_the_rest() {
        assert_eq!(fair_shares(&[10, 20, 30], 60), [10, 20, 30]);
        assert_eq!(fair_shares(&[10, 90, 80], 100), [10, 45, 45]);
        assert_eq!(fair_shares(&[500, 500], 0), [0, 0]);
        assert_eq!(fair_shares(&[], 100), [0; 0]);
        for needed in [1, 6, 7, 12, 55_999, 80_000] {
            assert!(room_for_orders(prompt_for_orders(needed)) >= needed, "{needed}");
        }
    }
}
