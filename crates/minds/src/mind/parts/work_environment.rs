//! The part of a prompt about the environment of a working agent: folders, and who else is in the room.

use std::fmt::Write;

use super::surroundings::push_time;
use super::{PartProvider, Privacy, Slot};
use crate::mind::context::{Colleague, CurrentRequest};
use crate::mind::headings;
use crate::mind::prompt::PartItem;
use crate::mind::prompts::TEXTS;
use crate::mind::untrusted_text::LINE_CHARS;
use crate::mind::untrusted_text::{name, push_cut, quoted};

/// The environment of a working agent.
pub(super) fn part() -> PartProvider {
    PartProvider::new(("desk", "What it can use for its work", headings::HERE), Slot::Known, |context, out| {
        let mut body = String::with_capacity(512);
        body.push_str(TEXTS.here);
        body.push('\n');
        push_time(&mut body, &context.place.time);
        if context.has_tool("vfs_list") {
            if !body.ends_with('\n') {
                body.push(' ');
            }
            body.push_str(TEXTS.folders);
        }
        if !body.ends_with('\n') {
            body.push('\n');
        }
        let people = &context.desk.people;
        body.push_str(if people.is_empty() { TEXTS.alone } else { TEXTS.people });
        for person in people {
            let _ = write!(body, "\n- {} ({})", name(&person.name), name(&person.profile));
            if !person.description.trim().is_empty() {
                let _ = write!(body, ": {}", quoted(&person.description, LINE_CHARS / 4));
            }
        }
        let mut text = String::with_capacity(body.len());
        push_cut(&mut text, &body, out.room());
        out.text(text, 0..0, people.iter().map(item).collect());
    })
    .ranked(100)
    .with_privacy(Privacy::Open)
    .at(|moment| matches!(moment, CurrentRequest::Work))
}

fn item(person: &Colleague) -> PartItem {
    let (name, by) = (person.name.to_string(), person.profile.to_string());
    PartItem { name, by, text: person.description.clone(), ..PartItem::default() }
}
