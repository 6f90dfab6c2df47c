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

/// Explains markers and tools. Its items are the offered markers, with one `SEND` item per addressee.
pub(super) fn part() -> PartProvider {
    PartProvider::new(("abilities", "What it can do", headings::ABILITIES), Slot::System, |context, out| {
        let is_work = matches!(context.moment, CurrentRequest::Work);
        let body = if is_work { work(context) } else { room(context) };
        let mut text = String::with_capacity(body.len());
        push_cut(&mut text, &body, out.room());
        out.text(text, 0..0, offered(context, is_work));
    })
    .ranked(300)
    .with_privacy(Privacy::Open)
}

/// Returns the offered markers as items.
fn offered(context: &MindContext, is_work: bool) -> Vec<PartItem> {
    let abilities = &context.abilities;
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

/// Returns the text for an agent in the room.
fn room(context: &MindContext) -> String {
    let abilities = &context.abilities;
    let mut body = String::with_capacity(TEXTS.manners.len() + 1_024);
    body.push_str(TEXTS.manners);
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
    let mut markers = "[REMEMBER: text] keeps a note".to_owned();
    if !context.abilities.pinboards.is_empty() {
        let _ = write!(markers, ", [PIN: text] pins a text to {}", board(context));
    }
    for MarkerLine { word, purpose } in &context.abilities.markers {
        let _ = write!(markers, ", [{word}: text] {purpose}");
    }
    if !context.abilities.addressees.is_empty() {
        let _ = write!(markers, ", [SEND to Name: text] sends mail to {}", names(context));
    }
    let markers = filled(TEXTS.work_markers, &[("markers", &markers)]);
    lines.extend([markers.as_str(), TEXTS.work_finish]);
    lines.join("\n")
}

/// Returns the label of the pinboard for new pins.
fn board(context: &MindContext) -> String {
    let mut boards = String::new();
    push_list(&mut boards, &context.abilities.pinboards);
    if context.abilities.pinboards.len() > 1 { filled(TEXTS.nearest, &[("boards", &boards)]) } else { boards }
}

fn names(context: &MindContext) -> String {
    let mut names = String::new();
    push_list(&mut names, &context.abilities.addressees);
    names
}
