//! Drafts an agent's turn in a conversation. It opens with a known fact, responds to a statement or an offer, adds
//! another fact, sometimes disagrees with a reason, and concludes with who does what.

use super::data::{fragments, lines, persons, roles, sentences};
use super::draft::{Draft, fill};
use super::facts::Details;
use super::filler::{is_filler, offers};
use super::markers::{is_offered, is_person, pin_idea};
use super::phrases::rank_sentences;
use super::speaker::{MAX_QUOTED_WORDS, Speaker, TextAnalysis, with_pronouns};
use super::text::{self, normalized, quoted, unpunctuated, words};
use super::topic::{Fact, Topic, resolve_topic, unmentioned_fact};
use crate::base::Id;
use crate::mind::context::Line;

/// Drafts the next turn of a conversation with `with`.
pub fn turn(speaker: &mut Speaker, with: &[Id], topic: Option<&str>, conversation: &[Line], concluding: bool) -> Draft {
    let me = speaker.prompt.name.as_str();
    let last = conversation.iter().rev().find(|line| *line.by != *me);
    let named = with.iter().find(|name| ***name != *me);
    let other = last.map(|line| &line.by).or(named).map_or("you", |name| if is_person(name) { "you" } else { &**name });
    let topic = resolve_topic(speaker, topic, conversation);
    if concluding {
        return conclusion(speaker, other, &topic.analysis, conversation);
    }
    match last {
        Some(last) => reaction(speaker, other, &topic, &last.text, conversation.len()),
        None => opening(speaker, other, &topic),
    }
}

fn opening(speaker: &mut Speaker, other: &str, topic: &Topic) -> Draft {
    let mut draft = Draft::default();
    let follow_up = follow_up(speaker, other);
    if follow_up.is_empty() {
        draft.say(speaker.line(&speaker.tone.greetings, &[("o", other), ("t", &topic.analysis.topic)]));
    } else {
        draft.say(follow_up);
    }
    if let Some(fact) = &topic.fact {
        draft.say(fact_sentence(speaker, fact));
    }
    if speaker.rng.chance(0.7) {
        draft.say(speaker.opinion(&topic.analysis));
    }
    draft.say(question(speaker, &topic.analysis));
    draft.say(speaker.catchphrase(0.1));
    draft
}

/// Returns a question about the last agreement with `other`; empty if there is none or it was asked before.
fn follow_up(speaker: &mut Speaker, other: &str) -> String {
    let start = format!("Agreed with {other} about ");
    let note = speaker.prompt.notes.iter().rev().find_map(|note| note.strip_prefix(&start)).unwrap_or_default();
    let Some((theirs, mine)) = note.split_once(&format!(": {other} will ")).and_then(|(_, parts)| {
        let (theirs, mine) = parts.split_once(", and I will ")?;
        Some((with_pronouns(theirs, &persons().addressed), unpunctuated(mine.split(". ").next()?).to_owned()))
    }) else {
        return String::new();
    };
    let was_asked = speaker.prompt.own_replies.iter().any(|reply| normalized(reply).contains(&normalized(&theirs)));
    if was_asked || !speaker.rng.chance(0.6) {
        return String::new();
    }
    speaker.line(&lines().follow_up, &[("o", other), ("x", &theirs), ("y", &mine)])
}

/// Returns a sentence that quotes a fact and names its source.
fn fact_sentence(speaker: &mut Speaker, fact: &Fact) -> String {
    let q = quoted(&fact.text, MAX_QUOTED_WORDS);
    let is_rule = speaker.prompt.rules.iter().any(|rule| normalized(rule) == normalized(&fact.text));
    let alternatives = match fact.label.as_str() {
        "my mail" => &lines().fact_in_mail,
        "" if is_rule => &lines().fact_in_rules,
        "" => &lines().fact_in_notes,
        _ => &lines().fact_on_board,
    };
    speaker.line(alternatives, &[("q", &q), ("l", &fact.label)])
}

fn reaction(speaker: &mut Speaker, other: &str, topic: &Topic, text: &str, turns: usize) -> Draft {
    let mut draft = Draft::default();
    let statements = text::sentences(text);
    let offer = offers(&statements).into_iter().next().map(|offer| with_pronouns(&offer, &persons().second));
    let offer = offer.unwrap_or_default();
    let content = substantive_sentence(speaker, &statements, other == "you");
    let analysis = match content.is_empty() {
        true => &topic.analysis,
        false => &TextAnalysis {
            details: Details::of(&content, &speaker.prompt.interests),
            ..speaker.analyze(&content, &topic.analysis.topic)
        },
    };
    let agrees = speaker.rng.chance(0.7);
    let commitment = speaker.commitment(analysis);
    if !content.is_empty() {
        let q = quoted(&content, MAX_QUOTED_WORDS);
        let alternatives = if agrees { &speaker.tone.agreeing } else { &speaker.tone.doubting };
        draft.say(speaker.line(alternatives, &[("q", &q), ("o", other)]));
        draft.say(speaker.opinion(analysis));
        draft.say(fill(&sentences().will, &[("x", &commitment)]));
    } else if !offer.is_empty() && agrees {
        draft.say(speaker.line(&lines().offer_taken, &[("x", &offer), ("y", &commitment), ("o", other)]));
    } else if !offer.is_empty() {
        let objection = speaker.role_line(&speaker.role.objections, analysis);
        draft.say(speaker.line(&lines().offer_doubted, &[("x", &offer), ("w", &objection), ("o", other)]));
        draft.say(fill(&sentences().would_rather, &[("y", &commitment)]));
    } else if agrees {
        draft.say(speaker.opinion(analysis));
        draft.say(fill(&sentences().will, &[("x", &commitment)]));
    } else {
        draft.say(speaker.role_line(&speaker.role.objections, analysis));
        draft.say(fill(&sentences().first_will, &[("y", &commitment)]));
    }
    if speaker.rng.chance(0.55) {
        draft.say(another_fact(speaker, topic));
    }
    let asks_back = turns >= 2 || content.is_empty() && speaker.rng.chance(0.3);
    if asks_back {
        draft.say(question(speaker, analysis));
    }
    draft.say(speaker.catchphrase(0.12));
    draft
}

/// Returns the most relevant sentence with content: not a filler, question, quotation or plan. Empty if there is none.
fn substantive_sentence(speaker: &Speaker, statements: &[String], is_from_person: bool) -> String {
    let prompt = speaker.prompt;
    let is_substantive = |sentence: &&String| {
        let is_plain = !sentence.ends_with('?') && !sentence.contains(['“', '\'']) && words(sentence).count() > 3;
        let is_plan = fragments().plans.iter().any(|part| sentence.contains(part));
        let greets = sentence.starts_with(&prompt.name);
        // A statement of an agent needs a number or a date to count as content.
        let details = Details::of(sentence, &prompt.interests);
        let has_content = is_from_person || !details.number.is_empty() || !details.date.is_empty();
        let was_shown = prompt.earlier_requests.iter().any(|request| request.contains(sentence.as_str()));
        is_plain && has_content && !greets && !is_plan && !was_shown && !is_filler(sentence)
    };
    let substantive: Vec<String> = statements.iter().filter(is_substantive).cloned().collect();
    rank_sentences(&substantive, &prompt.interests, "").into_iter().next().unwrap_or_default()
}

/// Returns a sentence with another fact on the topic that was not mentioned yet; empty if there is none.
fn another_fact(speaker: &mut Speaker, topic: &Topic) -> String {
    let Some(fact) = unmentioned_fact(speaker, topic) else { return String::new() };
    let q = quoted(&fact.text, MAX_QUOTED_WORDS);
    let alternatives = match fact.label.as_str() {
        "my mail" => &lines().more_in_mail,
        "" => &lines().more_in_notes,
        label if normalized(label) == normalized(&topic.label) => &lines().more_there,
        _ => &lines().more_elsewhere,
    };
    speaker.line(alternatives, &[("q", &q), ("l", &fact.label)])
}

fn question(speaker: &mut Speaker, analysis: &TextAnalysis) -> String {
    let question = speaker.role_line(&speaker.role.questions, analysis);
    if question.is_empty() { question } else { format!("{}{question}", speaker.rng.choose(&lines().question_leads)) }
}

fn conclusion(speaker: &mut Speaker, other: &str, analysis: &TextAnalysis, conversation: &[Line]) -> Draft {
    let me = speaker.prompt.name.as_str();
    let mut draft = Draft::default();
    let offer_of = |name: &str| {
        let texts: Vec<&str> =
            conversation.iter().filter(|line| *line.by == *name).map(|line| line.text.as_str()).collect();
        offers(&text::sentences(&texts.join("\n"))).into_iter().next()
    };
    let mine = offer_of(me).unwrap_or_else(|| speaker.commitment(analysis));
    let parts_by_others: Vec<String> = others_in(conversation, me, other)
        .iter()
        .filter_map(|name| Some(format!("{name} will {}", with_pronouns(&offer_of(name)?, &persons().third))))
        .collect();
    let parts = match parts_by_others.join(", ").as_str() {
        "" if other == "you" => fill(&sentences().alone_to_person, &[("p", &mine)]),
        "" => fill(&sentences().alone, &[("p", &mine), ("o", other)]),
        others => fill(&sentences().shared, &[("part", others), ("p", &mine)]),
    };
    let conversation_text = normalized(&speaker.conversation_text());
    let disagreed =
        roles().iter().flat_map(|role| &role.objections).any(|line| conversation_text.contains(&normalized(line)));
    let values = [("t", analysis.topic.as_str()), ("o", other), ("p", parts.as_str())];
    let alternatives = if disagreed { &lines().settled_in_doubt } else { &lines().settled };
    draft.say(speaker.line(alternatives, &values));
    let date = analysis.details.date.as_str();
    if speaker.rng.chance(0.6) {
        draft.say(speaker.line(&lines().again_before, &[("d", date)]));
    }
    draft.say(speaker.catchphrase(0.2));
    let note = format!("Agreed with {other} about {}: {parts}", analysis.topic);
    if is_offered(speaker, "REMEMBER") && !speaker.prompt.remembers(unpunctuated(&parts)) {
        draft.push_marker("REMEMBER", &note.replace(" you ", " the person "));
    }
    pin_idea(speaker, analysis, 0.12, &mut draft);
    draft
}

/// Returns the other agents who spoke, at most four; none if the other side is the person, who is given no work.
fn others_in<'a>(conversation: &'a [Line], me: &str, other: &str) -> Vec<&'a str> {
    let mut names: Vec<&str> = Vec::new();
    for name in conversation.iter().map(|line| &*line.by) {
        if name != me && !is_person(name) && other != "you" && !names.contains(&name) && names.len() < 4 {
            names.push(name);
        }
    }
    names
}
