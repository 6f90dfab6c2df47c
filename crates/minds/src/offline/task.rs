//! Drafts the answer to a task without tools: the task restated, numbered steps, and a conclusion.

use super::data::{self, fragments, lines};
use super::draft::{Draft, fill};
use super::markers::{can_reach, pin_idea};
use super::speaker::{MAX_QUOTED_WORDS, Speaker, with_pronouns};
use super::text::{clause, imperative, is_imperative_verb, lowercase_first, quoted, sentences, unpunctuated, words};

/// Drafts the answer to a task.
pub fn answer(speaker: &mut Speaker, task: &str) -> Draft {
    let context = [speaker.prompt.board_sentences().join("\n"), speaker.prompt.notes.join("\n")].join("\n");
    let fallback = speaker.analyze(&context, "this task").topic;
    let analysis = speaker.analyze(task, &fallback);
    let mut draft = Draft::default();
    draft.line(restate_task(speaker, task));
    let recalled = speaker.recall(&analysis.stems);
    let rule = speaker.relevant_rule(&analysis.stems);
    let duty = speaker.relevant_duty(&analysis.stems).map(|duty| format!("I {duty}."));
    let step = fill(&data::sentences().will, &[("x", &speaker.commitment(&analysis))]);
    let steps = [recalled, rule, duty, Some(step)].into_iter().flatten().filter(|step| !step.is_empty());
    for (index, step) in steps.enumerate() {
        draft.line(format!("{}. {step}", index + 1));
    }
    let answer = speaker.opinion(&analysis);
    let answer = if answer.starts_with("I ") { answer } else { lowercase_first(&answer) };
    draft.line(format!("In short: {answer}"));
    draft.say(speaker.line(&speaker.tone.closing, &[]));
    send_message(speaker, task, &mut draft);
    let wants_pin = words(task).any(|word| data::word_lists().wants_pin.has(&word.to_ascii_lowercase()));
    pin_idea(speaker, &analysis, if wants_pin { 1.0 } else { 0.15 }, &mut draft);
    let note = format!("Worked on the task “{}” about {}.", clause(task, 14), analysis.topic);
    if !speaker.prompt.remembers(&note) {
        draft.push_marker("REMEMBER", &note);
    }
    draft
}

/// Returns a sentence that restates the first sentence of a task.
fn restate_task(speaker: &mut Speaker, task: &str) -> String {
    let first = sentences(task).into_iter().next().unwrap_or_default();
    let q = quoted(&first, MAX_QUOTED_WORDS + 5);
    if first.ends_with('?') {
        return speaker.line(&lines().task_question, &[("q", &q)]);
    }
    let instruction = imperative(&first)
        .filter(|instruction| instruction.split(' ').count() <= MAX_QUOTED_WORDS + 5)
        .unwrap_or_default();
    let instruction = with_pronouns(&instruction, &data::persons().given);
    let restated = speaker.line(&lines().task_order, &[("a", &instruction)]);
    match (restated.as_str(), first.as_str()) {
        ("", "") => data::sentences().no_task.clone(),
        ("", _) => fill(&data::sentences().my_task, &[("q", &q)]),
        (sentence, _) => sentence.to_owned(),
    }
}

/// Adds a `SEND` marker if the task asks to tell something to a reachable agent.
fn send_message(speaker: &mut Speaker, task: &str, draft: &mut Draft) {
    for sentence in sentences(task) {
        let lowered = sentence.to_lowercase();
        let nearby = speaker.prompt.nearby.iter().map(|(name, _)| name);
        let names = nearby.chain(&speaker.prompt.addressees).cloned();
        let found = names.filter_map(|name| Some((sentence.find(&name)?, name))).min();
        let Some((at, name)) = found else { continue };
        let before = lowered.get(..at).unwrap_or_default().trim_end();
        let telling = fragments().telling.iter().find(|verb| before.ends_with(*verb));
        let (Some(verb), true) = (telling, can_reach(speaker, &name)) else { continue };
        let rest = sentence.get(at + name.len()..).unwrap_or_default().trim_start_matches([' ', ',', ':']);
        draft.say(fill(&data::sentences().hears_of_it, &[("n", &name)]));
        draft.push_marker(&format!("SEND to {name}"), &message(verb, rest));
        return;
    }
}

fn message(verb: &str, rest: &str) -> String {
    let content = clause(rest, 40);
    match rest.split(' ').next().unwrap_or_default() {
        "to" if words(&content).nth(1).is_some_and(is_imperative_verb) => {
            format!("Could you {}?", content.trim_start_matches("to "))
        }
        "for" if verb == "ask" => format!("Could you help with {}?", content.trim_start_matches("for ")),
        "about" => format!("A word {content}: what is your view?"),
        _ => format!("{}.", unpunctuated(content.trim_start_matches("that "))),
    }
}
