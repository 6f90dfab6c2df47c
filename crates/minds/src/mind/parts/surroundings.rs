//! The part of a prompt about where the agent is, who is near and what time it is.

use std::fmt::Write;

use super::{PartProvider, Privacy, Slot};
use crate::mind::context::{CurrentRequest, NearbyAgent};
use crate::mind::headings;
use crate::mind::prompt::PartItem;
use crate::mind::prompts::{TEXTS, filled, push};
use crate::mind::untrusted_text::name;
use crate::mind::untrusted_text::push_list;

/// The agent's surroundings. A working agent gets its work environment instead.
pub(super) fn part() -> PartProvider {
    PartProvider::new(("surroundings", "Where it is and who is near", headings::WHERE), Slot::Now, |context, out| {
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
        out.own_text(&body, place.people.iter().map(item).collect());
    })
    .ranked(100)
    .with_privacy(Privacy::Open)
    .at(|moment| !(moment.is_retrospective() || matches!(moment, CurrentRequest::Work)))
}

fn item(person: &NearbyAgent) -> PartItem {
    let (name, by) = (person.name.to_string(), person.profile.to_string());
    PartItem { name, by, text: person.doing.clone(), ..PartItem::default() }
}

/// Appends the time as a sentence.
pub(super) fn push_time(body: &mut String, time: &str) {
    if !time.is_empty() {
        if !body.ends_with('\n') {
            body.push(' ');
        }
        push(body, TEXTS.time, &[("time", time)]);
    }
}
