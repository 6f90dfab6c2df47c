//! An agent's answer to a task: what is asked, the steps, and a concluding line.

use super::data::{self, lines, phrases};
use super::draft::{Draft, fill};
use super::markers::{can_reach, idea_on};
use super::speaker::{QUOTED_WORDS, Speaker, in_person};
use super::text::{clause, is_order_verb, order, quoted, sentences, small_first, unpunctuated, words};

/// A worked answer to a task.
pub fn work_on(speaker: &mut Speaker, task: &str) -> Draft {
    let known = [speaker.reading.board_sentences().join("\n"), speaker.reading.notes.join("\n")].join("\n");
    let nearest = speaker.subject(&known, "this task").topic;
    let subject = speaker.subject(task, &nearest);
    let mut draft = Draft::default();
    draft.line(what_is_asked(speaker, task));
    let known = speaker.recall(&subject.stems);
    let rule = speaker.rule_on(&subject.stems);
    let duty = speaker.duty_on(&subject.stems).map(|duty| format!("I {duty}."));
    let step = fill(&data::sentences().will, &[("x", &speaker.deed(&subject))]);
    let steps = [known, rule, duty, Some(step)].into_iter().flatten().filter(|step| !step.is_empty());
    for (at, step) in steps.enumerate() {
        draft.line(format!("{}. {step}", at + 1));
    }
    let answer = speaker.view(&subject);
    let answer = if answer.starts_with("I ") { answer } else { small_first(&answer) };
    draft.line(format!("In short: {answer}"));
    draft.say(speaker.line(&speaker.tone.closing, &[]));
    tell(speaker, task, &mut draft);
    let wants_pin = words(task).any(|word| data::known().wants_pin.has(&word.to_ascii_lowercase()));
    idea_on(speaker, &subject, if wants_pin { 1.0 } else { 0.15 }, &mut draft);
    let note = format!("Worked on the task “{}” about {}.", clause(task, 14), subject.topic);
    if !speaker.reading.remembers(&note) {
        draft.mark("REMEMBER", &note);
    }
    draft
}

fn what_is_asked(speaker: &mut Speaker, task: &str) -> String {
    let first = sentences(task).into_iter().next().unwrap_or_default();
    let q = quoted(&first, QUOTED_WORDS + 5);
    if first.ends_with('?') {
        return speaker.line(&lines().task_question, &[("q", &q)]);
    }
    let asked = order(&first).filter(|asked| asked.split(' ').count() <= QUOTED_WORDS + 5).unwrap_or_default();
    let asked = in_person(&asked, &data::persons().given);
    let in_words = speaker.line(&lines().task_order, &[("a", &asked)]);
    match (in_words.as_str(), first.as_str()) {
        ("", "") => data::sentences().no_task.clone(),
        ("", _) => fill(&data::sentences().my_task, &[("q", &q)]),
        (words, _) => words.to_owned(),
    }
}

/// Sends what the task asks to be told to somebody who is near.
fn tell(speaker: &mut Speaker, task: &str, draft: &mut Draft) {
    for sentence in sentences(task) {
        let lowered = sentence.to_lowercase();
        let near = speaker.reading.near.iter().map(|(name, _)| name);
        let names = near.chain(&speaker.reading.addressees).cloned();
        let found = names.filter_map(|name| Some((sentence.find(&name)?, name))).min();
        let Some((at, name)) = found else { continue };
        let before = lowered.get(..at).unwrap_or_default().trim_end();
        let telling = phrases().telling.iter().find(|verb| before.ends_with(*verb));
        let (Some(verb), true) = (telling, can_reach(speaker, &name)) else { continue };
        let rest = sentence.get(at + name.len()..).unwrap_or_default().trim_start_matches([' ', ',', ':']);
        draft.say(fill(&data::sentences().hears_of_it, &[("n", &name)]));
        draft.mark(&format!("SEND to {name}"), &message(verb, rest));
        return;
    }
}

fn message(verb: &str, rest: &str) -> String {
    let content = clause(rest, 40);
    match rest.split(' ').next().unwrap_or_default() {
        "to" if words(&content).nth(1).is_some_and(is_order_verb) => {
            format!("Could you {}?", content.trim_start_matches("to "))
        }
        "for" if verb == "ask" => format!("Could you help with {}?", content.trim_start_matches("for ")),
        "about" => format!("A word {content}: what is your view?"),
        _ => format!("{}.", unpunctuated(content.trim_start_matches("that "))),
    }
}
