//! What of a prompt says what an agent can do and where it is: in the room, and at work.

use std::fmt::Write;

use super::context::MindContext;
use super::headings;
use super::prompt::{LINE_CHARS, part, push_list, section};
use super::prompts::{TEXTS, filled, push};
use super::question::{PromptOrigin, PromptPart};
use super::wording::{line, name, push_cut};

/// Where an agent is, who is near and what time it is.
pub(super) fn surroundings(context: &MindContext, max_chars: usize) -> PromptPart {
    let place = &context.place;
    let mut body = match &place.at {
        Some(label) => filled(TEXTS.place_at, &[("label", &name(label))]),
        None => TEXTS.place.to_owned(),
    };
    push_time(&mut body, &place.time);
    if !place.things.is_empty() {
        let mut labels = String::new();
        push_list(&mut labels, &place.things);
        body.push(' ');
        push(&mut body, TEXTS.things, &[("labels", &labels)]);
    }
    body.push(' ');
    if place.people.is_empty() {
        body.push_str(TEXTS.nobody);
    } else {
        body.push_str(TEXTS.near);
        for person in &place.people {
            let _ = write!(body, "\n- {} ({})", name(&person.name), name(&person.profile));
            if !person.doing.is_empty() {
                let _ = write!(body, ": {}", person.doing);
            }
        }
    }
    section(PromptOrigin::Surroundings, headings::WHERE, &body, max_chars)
}

fn push_time(body: &mut String, time: &str) {
    if !time.is_empty() {
        if !body.ends_with('\n') {
            body.push(' ');
        }
        push(body, TEXTS.time, &[("time", time)]);
    }
}

/// How an agent speaks and acts in the room.
pub(super) fn abilities(context: &MindContext, max_chars: usize) -> PromptPart {
    let abilities = &context.abilities;
    let mut body = String::with_capacity(TEXTS.manners.len() + 1_024);
    body.push_str(TEXTS.manners);
    if !abilities.pinboards.is_empty() {
        body.push('\n');
        push(&mut body, TEXTS.markers_pins, &[("board", &board(context))]);
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
    cut(PromptOrigin::Abilities, &body, max_chars)
}

/// How an agent works.
pub(super) fn work(context: &MindContext, max_chars: usize) -> PromptPart {
    let has = |tool: &str| has_tool(context, tool);
    let mut lines = vec![TEXTS.work];
    lines.push(if context.desk.tools.is_empty() { TEXTS.work_no_tools } else { TEXTS.work_files });
    if has("spawn_agent") {
        lines.push(TEXTS.work_spawn);
    }
    if has("signal_parent") {
        lines.push(TEXTS.work_parent);
    }
    let mut markers = "[REMEMBER: text] keeps a note".to_owned();
    if !context.abilities.pinboards.is_empty() {
        let _ = write!(markers, ", [PIN: text] pins a text to {}", board(context));
    }
    if !context.abilities.addressees.is_empty() {
        let _ = write!(markers, ", [SEND to Name: text] puts mail into the inbox of {}", names(context));
    }
    let markers = filled(TEXTS.work_markers, &[("markers", &markers)]);
    lines.extend([markers.as_str(), TEXTS.work_finish]);
    cut(PromptOrigin::Abilities, &lines.join("\n"), max_chars)
}

/// What one at work has at hand.
pub(super) fn desk(context: &MindContext, max_chars: usize) -> PromptPart {
    let mut body = String::with_capacity(512);
    body.push_str(TEXTS.here);
    body.push('\n');
    push_time(&mut body, &context.place.time);
    if has_tool(context, "vfs_list") {
        if !body.ends_with('\n') {
            body.push(' ');
        }
        body.push_str(TEXTS.folders);
    }
    if !body.ends_with('\n') {
        body.push('\n');
    }
    body.push_str(if context.desk.people.is_empty() { TEXTS.alone } else { TEXTS.people });
    for person in &context.desk.people {
        let _ = write!(body, "\n- {} ({})", name(&person.name), name(&person.profile));
        if !person.description.trim().is_empty() {
            let _ = write!(body, ": {}", line(&person.description, LINE_CHARS / 4));
        }
    }
    cut(PromptOrigin::Desk, &body, max_chars)
}

fn has_tool(context: &MindContext, tool: &str) -> bool {
    context.desk.tools.iter().any(|own| own == tool)
}

/// A part that brings its heading along.
fn cut(origin: PromptOrigin, body: &str, max_chars: usize) -> PromptPart {
    let mut text = String::with_capacity(body.len());
    push_cut(&mut text, body, max_chars);
    part(origin, text)
}

/// Where a new pin goes.
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
