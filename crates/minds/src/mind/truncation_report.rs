//! Reports rulebooks and agent files that are too long for a prompt, at their source.

use std::collections::BTreeMap;

use bevy::ecs::prelude::*;
use serde::{Deserialize, Serialize};

use super::context::AgentIdentity;
use super::context_builder::{RoomParams, is_rulebook};
use super::instructions::{
    fair_shares, instructions_text, order_chars, prompt_for_orders, room_for_orders, rulebook_texts, seen_of_order,
    who_text,
};
use super::untrusted_text::seen_bytes;
use crate::agent::front_matter::normalise;
use crate::agent::{AgentProfile, ProfileChanged};
use crate::base::{Id, Problem};
use crate::element::{ElementChange, ElementChanged, Reader};
use crate::workspace::{KnownFiles, ProblemReport, RoomStart};

/// The current reports about rulebooks and agent files, by source. Written by this module only.
#[derive(Resource, Clone, Default, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct TruncationReports(BTreeMap<String, Vec<Problem>>);

/// A rulebook as shown in prompts.
struct ShownRulebook {
    source: String,
    place: String,
    has_file: bool,
    text: String,
    /// The number of leading blank lines, which prompts omit.
    lines_before: usize,
}

/// The part of a text that prompts omit.
#[derive(PartialEq, Debug)]
struct OmittedText {
    /// The number of lines before the first one that is cut.
    lines_before: usize,
    /// The number of omitted characters.
    chars: usize,
}

/// Returns the part of a text that does not fit into `seen_chars` characters; `None` if all of it fits.
fn omitted_text(text: &str, seen_chars: usize) -> Option<OmittedText> {
    let seen = seen_bytes(text, seen_chars);
    let lines_before = text[..seen].matches('\n').count();
    (seen < text.len()).then(|| OmittedText { lines_before, chars: text[seen..].chars().count() })
}

/// Updates the reports when rules, agent files or settings change.
pub(super) fn report(
    mut elements: MessageReader<ElementChanged>,
    mut changed: MessageReader<ProfileChanged>,
    room: RoomParams,
    (files, start): (Option<Res<KnownFiles>>, Option<Res<RoomStart>>),
    mut reported: ResMut<TruncationReports>,
    mut reports: MessageWriter<ProblemReport>,
) {
    let words = [ElementChange::ADDED, ElementChange::REMOVED, ElementChange::REARRANGED, ElementChange::TEXT_SET];
    let texts = elements.read().filter(|one| words.contains(&one.change.as_str())).count();
    if texts + changed.read().count() == 0 && !room.settings.is_changed() {
        return;
    }
    let found = current_problems(&room, files.as_deref(), start.as_deref());
    for source in reported.0.keys().filter(|source| !found.contains_key(*source)) {
        reports.write(ProblemReport { source: source.clone(), problems: Vec::new() });
    }
    for (source, problems) in found.iter().filter(|(source, problems)| reported.0.get(*source) != Some(problems)) {
        reports.write(ProblemReport { source: source.clone(), problems: problems.clone() });
    }
    if reported.0 != found {
        reported.0 = found;
    }
}

/// Returns all current problems by source.
fn current_problems(
    room: &RoomParams,
    files: Option<&KnownFiles>,
    start: Option<&RoomStart>,
) -> BTreeMap<String, Vec<Problem>> {
    let scene = start.map_or("the scene", |start| start.scene.as_str());
    let books = books(room, scene);
    let max_chars = room.settings.max_prompt_chars;
    let space = room_for_orders(max_chars);
    let lengths: Vec<usize> = books.iter().map(|book| order_chars(&book.text)).collect();
    let rulebook_chars: usize = lengths.iter().sum();
    let mut found = BTreeMap::new();
    // For each rulebook: the smallest share that any prompt has for it, the profile with that prompt, and the
    // characters that the prompt would need.
    let mut smallest_shares: Vec<(usize, Option<Id>, usize)> =
        fair_shares(&lengths, space).into_iter().map(|share| (share, None, rulebook_chars)).collect();
    for (id, profile) in room.profiles() {
        if rulebook_chars + bytes_at_most(profile, &room.settings.person) <= space {
            continue;
        }
        let who = who_text(&who_of(profile, &room.settings.person));
        let mut all = lengths.clone();
        all.push(order_chars(&who));
        let mut shares = fair_shares(&all, space);
        let needed = all.iter().sum();
        let own = shares.pop().unwrap_or_default();
        for (smallest, share) in smallest_shares.iter_mut().zip(shares) {
            if share < smallest.0 {
                *smallest = (share, Some(id.clone()), needed);
            }
        }
        if let Some((source, problem)) = profile_problem(room, files, (id, profile), &who, (own, needed)) {
            found.insert(source, vec![problem]);
        }
    }
    for (book, (share, profile, needed)) in books.iter().zip(smallest_shares) {
        if let Some(omitted) = omitted_text(&book.text, seen_of_order(share)) {
            found.insert(book.source.clone(), vec![rulebook_problem(book, &omitted, profile.as_ref(), needed)]);
        }
    }
    found
}

fn books(room: &RoomParams, scene: &str) -> Vec<ShownRulebook> {
    let rulebooks = room.all_elements().filter(|(element, _)| is_rulebook(&element.kind));
    let books = rulebooks.filter_map(|(element, held)| {
        let text = held.0.prompt_text(&Reader::of_id(""));
        let start = text.len() - text.trim_start().len();
        let lines_before = text[..start].matches('\n').count();
        let shown = rulebook_texts([text.as_str()].into_iter()).next()?.into_owned();
        let place = element.file.clone().unwrap_or_else(|| format!("{scene}, element {}", element.id));
        let source = format!("length of the rulebook {}", element.id);
        Some(ShownRulebook { source, place, has_file: element.file.is_some(), text: shown, lines_before })
    });
    books.collect()
}

fn rulebook_problem(book: &ShownRulebook, omitted: &OmittedText, profile: Option<&Id>, needed: usize) -> Problem {
    let line = book.lines_before + omitted.lines_before + 1;
    let whom = match profile {
        Some(profile) => format!("agents of the profile {profile} do not see it"),
        None => "no agent sees it".to_owned(),
    };
    let what = format!(
        "the rulebook is too long for a prompt: from line {line} of its text on, {whom} ({} characters)",
        omitted.chars
    );
    Problem::warning(&book.place, what, remedy(needed)).at_line(book.has_file.then_some(line))
}

fn profile_problem(
    room: &RoomParams,
    files: Option<&KnownFiles>,
    (id, profile): (&Id, &AgentProfile),
    who: &str,
    (share, needed): (usize, usize),
) -> Option<(String, Problem)> {
    let seen = seen_bytes(who, seen_of_order(share));
    let shown = instructions_text(&profile.instructions);
    let (instructions, before) = (&*shown, who.len() - shown.len());
    let seen = seen.saturating_sub(before).min(instructions.len());
    if seen >= instructions.len() {
        return None;
    }
    let path = room.profile_path(id)?;
    let text = files.and_then(|files| files.text(path)).map(normalise);
    // The instructions end the file.
    let start =
        text.as_ref().and_then(|text| Some(text[..text.rfind(profile.instructions.trim())?].matches('\n').count()));
    let line = start.map(|start| start + instructions[..seen].matches('\n').count() + 1);
    let from = line.map_or("the end of the instructions is".to_owned(), |line| {
        format!("the instructions from line {line} on are")
    });
    let what = format!(
        "{from} too long for a prompt, and the agent does not see them ({} characters)",
        instructions[seen..].chars().count()
    );
    Some((format!("length of {path}"), Problem::warning(path, what, remedy(needed)).at_line(line)))
}

fn remedy(needed: usize) -> String {
    let chars = prompt_for_orders(needed).div_ceil(1_000) * 1_000;
    format!(
        "shorten it, or set mind.max_prompt_chars in settings.yaml to {chars} or more, if your model takes prompts that long"
    )
}

/// Returns the identity of agents with a profile, as used in prompts.
fn who_of(profile: &AgentProfile, person: &str) -> AgentIdentity {
    AgentIdentity {
        name: profile.name.as_str().into(),
        description: profile.description.clone(),
        instructions: profile.instructions.clone(),
        share_workspace_info: profile.share_workspace_info,
        share_user_info: profile.share_user_info,
        person: person.to_owned(),
    }
}

/// Returns an upper bound, in bytes, of an agent's identity in a prompt.
fn bytes_at_most(profile: &AgentProfile, person: &str) -> usize {
    const AROUND: usize = 400;
    // Nested headings and escaped lines take additional bytes.
    let lines = profile.instructions.len();
    profile.name.len() + profile.description.len() + profile.instructions.len() + lines + person.len() + AROUND
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn omitted_text_starts_in_the_line_that_is_cut() {
        let text = "one\ntwo\nthree\n".repeat(100);
        assert_eq!(omitted_text(&text, 1_400), None);
        let cut = omitted_text(&text, 54).expect("it is cut");
        assert_eq!((cut.lines_before, cut.chars), (3, 1_400 - 14));
    }
}
