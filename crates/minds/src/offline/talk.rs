//! What an agent says in a conversation: it opens with a fact that it read, responds to what the other said or offered,
//! brings another fact, sometimes disagrees with a reason, and closes with who does what.

use super::data::{lines, persons, phrases, roles, sentences};
use super::draft::{Draft, fill};
use super::facts::Particulars;
use super::filler::{is_filler, offers};
use super::markers::{idea_on, is_person, may};
use super::phrases::ranked;
use super::speaker::{QUOTED_WORDS, Speaker, Subject, in_person};
use super::text::{self, bare, quoted, unpunctuated, words};
use super::topic::{Fact, Topic, topic_of, unsaid};
use crate::base::Id;
use crate::mind::context::Line;

/// A turn in a conversation.
pub fn turn(speaker: &mut Speaker, with: &[Id], topic: Option<&str>, said: &[Line], concluding: bool) -> Draft {
    let me = speaker.reading.name.as_str();
    let last = said.iter().rev().find(|line| *line.by != *me);
    let named = with.iter().find(|name| ***name != *me);
    let other = last.map(|line| &line.by).or(named).map_or("you", |name| if is_person(name) { "you" } else { &**name });
    let topic = topic_of(speaker, topic, said);
    if concluding {
        return conclusion(speaker, other, &topic.subject, said);
    }
    match last {
        Some(last) => reaction(speaker, other, &topic, &last.text, said.len()),
        None => opening(speaker, other, &topic),
    }
}

fn opening(speaker: &mut Speaker, other: &str, topic: &Topic) -> Draft {
    let mut draft = Draft::default();
    let follow_up = follow_up(speaker, other);
    if follow_up.is_empty() {
        draft.say(speaker.line(&speaker.tone.greetings, &[("o", other), ("t", &topic.subject.topic)]));
    } else {
        draft.say(follow_up);
    }
    if let Some(fact) = &topic.fact {
        draft.say(told(speaker, fact));
    }
    if speaker.dice.chance(0.7) {
        draft.say(speaker.view(&topic.subject));
    }
    draft.say(question(speaker, &topic.subject));
    draft.say(speaker.phrase(0.1));
    draft
}

/// What came of the last agreement with somebody, asked once.
fn follow_up(speaker: &mut Speaker, other: &str) -> String {
    let start = format!("Agreed with {other} about ");
    let note = speaker.reading.notes.iter().rev().find_map(|note| note.strip_prefix(&start)).unwrap_or_default();
    let Some((theirs, mine)) = note.split_once(&format!(": {other} will ")).and_then(|(_, parts)| {
        let (theirs, mine) = parts.split_once(", and I will ")?;
        Some((in_person(theirs, &persons().addressed), unpunctuated(mine.split(". ").next()?).to_owned()))
    }) else {
        return String::new();
    };
    let was_asked = speaker.reading.said.iter().any(|said| bare(said).contains(&bare(&theirs)));
    if was_asked || !speaker.dice.chance(0.6) {
        return String::new();
    }
    speaker.line(&lines().follow_up, &[("o", other), ("x", &theirs), ("y", &mine)])
}

/// A fact with the place where it stands.
fn told(speaker: &mut Speaker, fact: &Fact) -> String {
    let q = quoted(&fact.text, QUOTED_WORDS);
    let is_rule = speaker.reading.rules.iter().any(|rule| bare(rule) == bare(&fact.text));
    let told = match fact.place.as_str() {
        "my mail" => &lines().fact_in_mail,
        "" if is_rule => &lines().fact_in_rules,
        "" => &lines().fact_in_notes,
        _ => &lines().fact_on_board,
    };
    speaker.line(told, &[("q", &q), ("l", &fact.place)])
}

fn reaction(speaker: &mut Speaker, other: &str, topic: &Topic, text: &str, turns: usize) -> Draft {
    let mut draft = Draft::default();
    let spoken = text::sentences(text);
    let offer = offers(&spoken).into_iter().next().map(|offer| in_person(&offer, &persons().second));
    let offer = offer.unwrap_or_default();
    let content = content_of(speaker, &spoken, other == "you");
    let subject = match content.is_empty() {
        true => &topic.subject,
        false => &Subject {
            particulars: Particulars::of(&content, &speaker.reading.interests),
            ..speaker.subject(&content, &topic.subject.topic)
        },
    };
    let agrees = speaker.dice.chance(0.7);
    let deed = speaker.deed(subject);
    if !content.is_empty() {
        let q = quoted(&content, QUOTED_WORDS);
        let said = if agrees { &speaker.tone.agreeing } else { &speaker.tone.doubting };
        draft.say(speaker.line(said, &[("q", &q), ("o", other)]));
        draft.say(speaker.view(subject));
        draft.say(fill(&sentences().will, &[("x", &deed)]));
    } else if !offer.is_empty() && agrees {
        draft.say(speaker.line(&lines().offer_taken, &[("x", &offer), ("y", &deed), ("o", other)]));
    } else if !offer.is_empty() {
        let objection = speaker.of_role(&speaker.role.objections, subject);
        draft.say(speaker.line(&lines().offer_doubted, &[("x", &offer), ("w", &objection), ("o", other)]));
        draft.say(fill(&sentences().would_rather, &[("y", &deed)]));
    } else if agrees {
        draft.say(speaker.view(subject));
        draft.say(fill(&sentences().will, &[("x", &deed)]));
    } else {
        draft.say(speaker.of_role(&speaker.role.objections, subject));
        draft.say(fill(&sentences().first_will, &[("y", &deed)]));
    }
    if speaker.dice.chance(0.55) {
        draft.say(another_fact(speaker, topic));
    }
    let asks_back = turns >= 2 || content.is_empty() && speaker.dice.chance(0.3);
    if asks_back {
        draft.say(question(speaker, subject));
    }
    draft.say(speaker.phrase(0.12));
    draft
}

/// What somebody said that has content: no phrase that anyone could say, no question, no quotation, no offer.
fn content_of(speaker: &Speaker, spoken: &[String], is_from_person: bool) -> String {
    let reading = speaker.reading;
    let is_telling = |sentence: &&String| {
        let is_plain = !sentence.ends_with('?') && !sentence.contains(['“', '\'']) && words(sentence).count() > 3;
        let is_plan = phrases().plans.iter().any(|part| sentence.contains(part));
        let greets = sentence.starts_with(&reading.name);
        // What agents say to each other counts only if it tells something that can be checked or done.
        let told = Particulars::of(sentence, &reading.interests);
        let tells = is_from_person || !told.number.is_empty() || !told.date.is_empty();
        let was_said = reading.asked.iter().any(|asked| asked.contains(sentence.as_str()));
        is_plain && tells && !greets && !is_plan && !was_said && !is_filler(sentence)
    };
    let telling: Vec<String> = spoken.iter().filter(is_telling).cloned().collect();
    ranked(&telling, &reading.interests, "").into_iter().next().unwrap_or_default()
}

/// Something else that the agent knows and that bears on the topic, not yet said here.
fn another_fact(speaker: &mut Speaker, topic: &Topic) -> String {
    let Some(fact) = unsaid(speaker, topic) else { return String::new() };
    let q = quoted(&fact.text, QUOTED_WORDS);
    let told = match fact.place.as_str() {
        "my mail" => &lines().more_in_mail,
        "" => &lines().more_in_notes,
        place if bare(place) == bare(&topic.place) => &lines().more_there,
        _ => &lines().more_elsewhere,
    };
    speaker.line(told, &[("q", &q), ("l", &fact.place)])
}

fn question(speaker: &mut Speaker, subject: &Subject) -> String {
    let asked = speaker.of_role(&speaker.role.questions, subject);
    if asked.is_empty() { asked } else { format!("{}{asked}", speaker.dice.line(&lines().question_leads)) }
}

fn conclusion(speaker: &mut Speaker, other: &str, subject: &Subject, said: &[Line]) -> Draft {
    let me = speaker.reading.name.as_str();
    let mut draft = Draft::default();
    let offer_of = |name: &str| {
        let texts: Vec<&str> = said.iter().filter(|line| *line.by == *name).map(|line| line.text.as_str()).collect();
        offers(&text::sentences(&texts.join("\n"))).into_iter().next()
    };
    let mine = offer_of(me).unwrap_or_else(|| speaker.deed(subject));
    let parts_of_others: Vec<String> = others_in(said, me, other)
        .iter()
        .filter_map(|name| Some(format!("{name} will {}", in_person(&offer_of(name)?, &persons().third))))
        .collect();
    let parts = match parts_of_others.join(", ").as_str() {
        "" if other == "you" => fill(&sentences().alone_to_person, &[("p", &mine)]),
        "" => fill(&sentences().alone, &[("p", &mine), ("o", other)]),
        others => fill(&sentences().shared, &[("part", others), ("p", &mine)]),
    };
    let spoken = bare(&speaker.spoken());
    let disagreed = roles().iter().flat_map(|role| &role.objections).any(|line| spoken.contains(&bare(line)));
    let values = [("t", subject.topic.as_str()), ("o", other), ("p", parts.as_str())];
    let said = if disagreed { &lines().settled_in_doubt } else { &lines().settled };
    draft.say(speaker.line(said, &values));
    let date = subject.particulars.date.as_str();
    if speaker.dice.chance(0.6) {
        draft.say(speaker.line(&lines().again_before, &[("d", date)]));
    }
    draft.say(speaker.phrase(0.2));
    let note = format!("Agreed with {other} about {}: {parts}", subject.topic);
    if may(speaker, "REMEMBER") && !speaker.reading.remembers(unpunctuated(&parts)) {
        draft.mark("REMEMBER", &note.replace(" you ", " the person "));
    }
    idea_on(speaker, subject, 0.12, &mut draft);
    draft
}

/// The agents who spoke, beside the speaker; the person is not given work.
fn others_in<'a>(said: &'a [Line], me: &str, other: &str) -> Vec<&'a str> {
    let mut names: Vec<&str> = Vec::new();
    for name in said.iter().map(|line| &*line.by) {
        if name != me && !is_person(name) && other != "you" && !names.contains(&name) && names.len() < 4 {
            names.push(name);
        }
    }
    names
}
