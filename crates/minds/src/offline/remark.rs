//! Drafts replies to reading an element, reading mail, and being woken.

use super::data::lines;
use super::draft::{Draft, fill};
use super::facts::Details;
use super::markers;
use super::speaker::{MAX_QUOTED_WORDS, Speaker, TextAnalysis, joined_texts};
use super::text::{is_imperative_verb, is_stop_word, normalized, quoted, sentences, unpunctuated, words};
use crate::mind::context::{Line, MailItem, PinView};

/// Drafts a reply to reading an element; `kind` is its kind as one lower-case word.
pub fn on_element(speaker: &mut Speaker, label: &str, kind: &str, content: &str, pins: &[PinView]) -> Draft {
    let label = display_label(label);
    match kind {
        _ if sentences(content).is_empty() => single_line(speaker, &lines().empty, label),
        "rulebook" => on_rules(speaker, label, content),
        "pinboard" => on_pins(speaker, label, content, pins),
        _ => on_text(speaker, label, content),
    }
}

/// Returns the label of an element, or “this” if it has none.
fn display_label(label: &str) -> &str {
    if label.is_empty() { "this" } else { label }
}

/// Drafts a reply to a wake-up call: its reason, and the lines quoted with it.
pub fn on_wake(speaker: &mut Speaker, why: &str, quotes: &[Line]) -> Draft {
    let mut draft = Draft::default();
    let why = quoted(why, MAX_QUOTED_WORDS);
    draft.say(speaker.line(&lines().called, &[("w", &why)]));
    let analysis = match quotes.last() {
        Some(last) => {
            let (name, q) = (display_name(&last.by, "somebody"), quoted(&last.text, MAX_QUOTED_WORDS));
            draft.say(speaker.line(&lines().called_by, &[("n", name), ("q", &q)]));
            speaker.analyze(&joined_texts(quotes), &why)
        }
        None => speaker.analyze(&why, &why),
    };
    draft.say(speaker.opinion(&analysis));
    draft.say(speaker.next_action(&analysis));
    draft
}

/// Drafts a reply of a single line.
fn single_line(speaker: &mut Speaker, about: &[String], label: &str) -> Draft {
    let mut draft = Draft::default();
    draft.say(speaker.line(about, &[("l", label)]));
    draft
}

fn on_text(speaker: &mut Speaker, label: &str, content: &str) -> Draft {
    let analysis = speaker.analyze(content, label);
    let mut draft = Draft::default();
    let (words, analysis) = quote_and_remark(speaker, analysis, label);
    draft.say(words);
    draft.say(speaker.opinion(&analysis));
    let rule = if speaker.rng.chance(0.4) { speaker.relevant_rule(&analysis.stems) } else { None };
    draft.say(rule.unwrap_or_default());
    draft.say(speaker.next_action(&analysis));
    draft.say(speaker.catchphrase(0.25));
    markers::remember_text(speaker, label, &analysis, &mut draft);
    markers::pin_idea(speaker, &analysis, 0.45, &mut draft);
    draft
}

fn on_rules(speaker: &mut Speaker, label: &str, content: &str) -> Draft {
    let analysis = speaker.analyze(content, label);
    let mut draft = Draft::default();
    // Agents pick different rules, with a preference for the most relevant one.
    let index = [0, 0, 1, 2][speaker.rng.below(4)].min(analysis.ranked_sentences.len().saturating_sub(1));
    let Some(rule) = analysis.ranked_sentences.get(index).cloned() else { return on_text(speaker, label, content) };
    let whole = quoted(&rule, MAX_QUOTED_WORDS);
    draft.say(speaker.line(&lines().rules_read, &[("l", label), ("q", &whole)]));
    match speaker.relevant_duty(&analysis.stems) {
        Some(duty) if speaker.rng.chance(0.7) => {
            draft.say(speaker.line(&lines().rules_fit, &[("d", &duty)]));
        }
        _ => draft.say(speaker.line(&lines().rules_else, &[])),
    }
    draft.say(speaker.catchphrase(0.35));
    if !speaker.prompt.remembers(unpunctuated(&rule)) {
        draft.push_marker("REMEMBER", &format!("{label}: {rule}"));
    }
    draft
}

fn on_pins(speaker: &mut Speaker, label: &str, content: &str, pins: &[PinView]) -> Draft {
    let choice = markers::choose_pin(speaker, pins);
    let Some((pin, is_against)) = choice else { return on_pins_without_vote(speaker, label, content, pins) };
    let analysis = speaker.analyze(&pin.text, &quoted(&pin.text, 6));
    let q = quoted(&pin.text, MAX_QUOTED_WORDS);
    let values = [("l", label), ("q", q.as_str()), ("a", display_name(&pin.author, "somebody")), ("p", &*pin.id)];
    let mut draft = Draft::default();
    let (alternatives, marker) =
        if is_against { (&lines().vote_against, "VOTE_DOWN") } else { (&lines().vote_for, "VOTE_UP") };
    draft.say(speaker.line(alternatives, &values));
    if !is_against {
        let rule = if speaker.rng.chance(0.4) { speaker.relevant_rule(&analysis.stems) } else { None };
        let reason = speaker.opinion(&analysis);
        draft.say(rule.unwrap_or(reason));
        if speaker.rng.chance(0.5) {
            draft.say(speaker.next_action(&analysis));
        }
    }
    draft.say(speaker.catchphrase(0.25));
    draft.push_id_marker(marker, &pin.id);
    markers::keep_pin(speaker, pin, is_against, &mut draft);
    markers::add_idea_to_board(speaker, &analysis, pins, &mut draft);
    draft
}

/// Returns a name as used in a reply; `person` replaces that of the person at the keyboard.
fn display_name<'a>(name: &'a str, person: &'a str) -> &'a str {
    if markers::is_person(name) { person } else { name }
}

/// Drafts a reply to reading a pinboard without a pin to vote on.
fn on_pins_without_vote(speaker: &mut Speaker, label: &str, content: &str, pins: &[PinView]) -> Draft {
    let others = pins.iter().filter(|pin| !markers::is_own_pin(speaker, pin));
    let texts: Vec<&str> = others.map(|pin| pin.text.as_str()).collect();
    if pins.is_empty() {
        return on_text(speaker, label, content);
    }
    if texts.is_empty() {
        return single_line(speaker, &lines().only_mine, label);
    }
    let mut draft = Draft::default();
    let analysis = speaker.analyze(&texts.join("\n"), label);
    let (words, analysis) = quote_and_remark(speaker, analysis, label);
    draft.say(words);
    draft.say(if speaker.rng.chance(0.5) { speaker.opinion(&analysis) } else { String::new() });
    draft.say(speaker.role_line(&speaker.role.questions, &analysis));
    markers::add_idea_to_board(speaker, &analysis, pins, &mut draft);
    draft
}

/// Drafts a reply to reading the agent's inbox: the first unanswered mail is answered.
pub fn on_mail(speaker: &mut Speaker, label: &str, mail: &[MailItem]) -> Draft {
    let label = display_label(label);
    if mail.is_empty() {
        return single_line(speaker, &lines().empty, label);
    }
    let is_open = |item: &&MailItem| {
        let subject = markers::mail_topic(item);
        !speaker.prompt.remembers(&markers::answered_mail_note(&item.from, &subject))
    };
    let Some(item) = mail.iter().find(is_open).cloned() else {
        return single_line(speaker, &lines().mail_answered, label);
    };
    let item = MailItem { text: strip_reply_prefix(&item.text).to_owned(), ..item };
    let title = item.subject.trim_start_matches("Re '").split('\'').next().unwrap_or_default().to_owned();
    let whole = format!("{title}\n{}", item.text);
    let named = if item.subject.is_empty() { label.to_owned() } else { quoted(&item.subject, 8) };
    let mut analysis = speaker.analyze(&whole, &named);
    if let Some(topic) = subject_phrase(&title) {
        analysis.details.thing.clone_from(&topic);
        analysis.topic = topic;
    }
    let from = display_name(&item.from, "Somebody");
    let main_sentence = analysis
        .ranked_sentences
        .iter()
        .find(|line| normalized(line) != normalized(&item.subject))
        .map_or(item.subject.as_str(), |line| line);
    let q = quoted(main_sentence, MAX_QUOTED_WORDS);
    let mut draft = Draft::default();
    draft.say(speaker.line(&lines().mail_from, &[("a", from), ("q", &q)]));
    draft.say(speaker.opinion(&analysis));
    draft.say(speaker.next_action(&analysis));
    draft.say(speaker.catchphrase(0.2));
    markers::answer_mail(speaker, &item, &analysis, &mut draft);
    draft
}

/// Returns the text of a reply without its reference: “I have forty” for “Re 'Chairs': I have forty”.
fn strip_reply_prefix(text: &str) -> &str {
    let start = text.trim_start();
    match start.strip_prefix("Re ").and_then(|rest| rest.split_once(": ")) {
        Some((_, answer)) => answer,
        None => text,
    }
}

/// Returns the noun phrase that a short subject line stands for: “the lamp order” for “Lamp order”.
fn subject_phrase(subject: &str) -> Option<String> {
    let count = words(subject).count();
    let is_phrase =
        words(subject).all(|word| !is_stop_word(word)) && !words(subject).next().is_some_and(is_imperative_verb);
    let is_plain = subject.chars().all(|c| c.is_alphanumeric() || c == ' ' || c == '-');
    let is_title = subject.chars().filter(|c| c.is_uppercase()).count() > 1;
    ((1..=3).contains(&count) && is_phrase && is_plain && !is_title).then(|| format!("the {}", subject.to_lowercase()))
}

/// Returns a remark that quotes a relevant sentence, and the analysis with the topic and details of that sentence, so
/// that the rest of the reply refers to it.
fn quote_and_remark(speaker: &mut Speaker, mut analysis: TextAnalysis, label: &str) -> (String, TextAnalysis) {
    let me = &speaker.prompt.name;
    let names_me = |sentence: &&String| words(sentence).any(|word| word == me);
    let top: Vec<String> = analysis.ranked_sentences.iter().take(4).cloned().collect();
    // A sentence that names the speaker comes first; otherwise readers quote different sentences.
    let index = speaker.rng.below(top.len());
    let takes_first = speaker.rng.chance(0.5);
    let first = top.first().filter(|line| names_me(line) || takes_first);
    let sentence = first.or(top.get(index)).cloned().unwrap_or_else(|| analysis.topic.clone());
    let q = quoted(&sentence, MAX_QUOTED_WORDS);
    analysis.details = Details::of(&sentence, &speaker.prompt.interests);
    if !analysis.details.thing.is_empty() {
        analysis.topic.clone_from(&analysis.details.thing);
    }
    let values = [("q", q.as_str()), ("t", analysis.topic.as_str()), ("l", label)];
    let template = speaker.rng.choose(&speaker.tone.remarks);
    (fill(template, &values), analysis)
}
