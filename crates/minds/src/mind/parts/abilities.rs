//! The part of a prompt about the agent's abilities: markers in the room, tools at work.

use std::fmt::Write;

use super::{PartProvider, Privacy, Slot};
use crate::mind::context::{CurrentRequest, MarkerLine, MindContext};
use crate::mind::headings;
use crate::mind::prompt::PartItem;
use crate::mind::prompts::{TEXTS, filled, push};
use crate::mind::untrusted_text::push_cut;
use crate::mind::untrusted_text::push_list;

/// The markers for pinboards.
const OF_PINBOARDS: [&str; 6] = ["PIN", "VOTE_UP", "VOTE_DOWN", "REMOVE_PIN", "KEEP_PIN", "RELEASE_PIN"];

/// Explains markers, functions and tools. Its items are the offered acts by the words of their markers, with one `SEND`
/// item per addressee.
pub(super) fn part() -> PartProvider {
    PartProvider::new(("abilities", "What it can do", headings::ABILITIES), Slot::System, |context, out| {
        let is_work = matches!(context.moment, CurrentRequest::Work);
        let body = if is_work { work(context) } else { room(context) };
        let mut text = String::with_capacity(body.len());
        push_cut(&mut text, &body, out.room());
        out.text(text, 0..0, offered(context));
    })
    .ranked(300)
    .with_privacy(Privacy::Open)
}

/// Returns the offered acts as items, with the words of their markers.
fn offered(context: &MindContext) -> Vec<PartItem> {
    let abilities = &context.abilities;
    let is_work = matches!(context.moment, CurrentRequest::Work);
    let marker = |word: &str| PartItem { id: word.to_owned(), ..PartItem::default() };
    let mut items = vec![marker("REMEMBER")];
    if !abilities.pinboards.is_empty() {
        // A working agent is only offered to pin.
        items.extend(OF_PINBOARDS.iter().take(if is_work { 1 } else { OF_PINBOARDS.len() }).map(|word| marker(word)));
    }
    items.extend(abilities.markers.iter().map(|line| marker(&line.word)));
    items.extend(abilities.addressees.iter().map(|name| PartItem { name: name.to_string(), ..marker("SEND") }));
    if !is_work {
        items.extend(abilities.has_inbox.then(|| marker("DONE")));
        items.push(marker("BYE"));
    }
    items
}

/// Returns the words of the offered acts that are functions, in the order of the prompt; none if the agent writes
/// markers. An act whose name is that of a tool stays a marker.
pub(in crate::mind) fn called(context: &MindContext) -> Vec<String> {
    let mut called: Vec<String> = Vec::new();
    for PartItem { id: word, .. } in offered(context).into_iter().filter(|_| context.calls_acts) {
        let is_tool = context.desk.tools.iter().any(|tool| tool.eq_ignore_ascii_case(&word));
        if !is_tool && !called.contains(&word) {
            called.push(word);
        }
    }
    called
}

/// Returns the words of the offered acts that stay markers.
pub(in crate::mind) fn written(context: &MindContext) -> Vec<String> {
    let called = called(context);
    let mut written: Vec<String> = offered(context).into_iter().map(|item| item.id).collect();
    written.retain(|word| !called.contains(word));
    written.dedup();
    written
}

/// Returns the name of the function for an act.
pub(in crate::mind) fn function_name(word: &str) -> String {
    word.to_lowercase()
}

/// Returns the text for an agent in the room.
fn room(context: &MindContext) -> String {
    let abilities = &context.abilities;
    let mut body = String::with_capacity(TEXTS.manners.len() + 1_024);
    body.push_str(TEXTS.manners);
    body.push('\n');
    if context.calls_acts {
        body.push_str(TEXTS.functions);
        body.push('\n');
        body.push_str(TEXTS.functions_once);
        return body;
    }
    body.push_str(TEXTS.markers);
    if !abilities.pinboards.is_empty() {
        body.push('\n');
        push(&mut body, TEXTS.markers_pins, &[("board", &board(context))]);
    }
    for MarkerLine { word, purpose } in &abilities.markers {
        let _ = write!(body, "\n- [{word}: text] {purpose}");
    }
    if !abilities.addressees.is_empty() {
        body.push('\n');
        push(&mut body, TEXTS.markers_mail, &[("names", &names(context))]);
    }
    for (is_there, block) in [(abilities.has_inbox, TEXTS.markers_inbox), (true, TEXTS.markers_talk)] {
        if is_there {
            body.push('\n');
            body.push_str(block);
        }
    }
    body.push('\n');
    body.push_str(TEXTS.markers_once);
    body
}

/// Returns the text for a working agent.
fn work(context: &MindContext) -> String {
    let mut lines = vec![TEXTS.work];
    lines.push(match () {
        () if context.desk.has_own_tools => TEXTS.work_own_tools,
        () if context.desk.tools.is_empty() => TEXTS.work_no_tools,
        () => TEXTS.work_files,
    });
    if context.has_tool("spawn_agent") {
        lines.push(TEXTS.work_spawn);
    }
    if context.has_tool("signal_parent") {
        lines.push(TEXTS.work_parent);
    }
    let called = called(context);
    let functions = called.iter().map(|word| function_name(word)).collect::<Vec<_>>().join(", ");
    let functions = filled(TEXTS.functions_work, &[("functions", &functions)]);
    let markers = work_markers(context);
    let has_markers = !markers.is_empty();
    let markers = filled(TEXTS.work_markers, &[("markers", &markers.join(", "))]);
    lines.extend((!called.is_empty()).then_some(functions.as_str()));
    lines.extend(has_markers.then_some(markers.as_str()));
    lines.push(TEXTS.work_finish);
    lines.join("\n")
}

/// Returns the markers that a working agent can use, with their effects.
fn work_markers(context: &MindContext) -> Vec<String> {
    let (abilities, written) = (&context.abilities, written(context));
    let mut markers = vec![("REMEMBER", "[REMEMBER: text] keeps a note".to_owned())];
    if !abilities.pinboards.is_empty() {
        markers.push(("PIN", format!("[PIN: text] pins a text to {}", board(context))));
    }
    markers.extend(
        abilities.markers.iter().map(|MarkerLine { word, purpose }| (&**word, format!("[{word}: text] {purpose}"))),
    );
    if !abilities.addressees.is_empty() {
        markers.push(("SEND", format!("[SEND to Name: text] sends mail to {}", names(context))));
    }
    markers.into_iter().filter(|(word, _)| written.iter().any(|one| one == word)).map(|(_, text)| text).collect()
}

/// Returns the label of the pinboard for new pins.
pub(in crate::mind) fn board(context: &MindContext) -> String {
    let mut boards = String::new();
    push_list(&mut boards, &context.abilities.pinboards);
    if context.abilities.pinboards.len() > 1 { filled(TEXTS.nearest, &[("boards", &boards)]) } else { boards }
}

/// Returns the names of those that it can send mail to.
pub(in crate::mind) fn names(context: &MindContext) -> String {
    let mut names = String::new();
    push_list(&mut names, &context.abilities.addressees);
    names
}
