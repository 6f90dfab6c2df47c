//! Operations on a memory. Pure: slots are limited, the oldest entry is dropped, nothing is stored twice.

use serde::{Deserialize, Serialize};

use super::settings::MemorySettings;
use super::slots::{Memory, MemoryAct, Seen};
use crate::base::text::{one_line, truncate};
use crate::base::{ElementKey, Id};

/// Characters that count as one token (the rule of [`crate::base::text::estimate_tokens`]).
const CHARS_PER_TOKEN: usize = 4;

/// A change of a memory: the data of a `memory` event.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(tag = "change", rename_all = "snake_case")]
#[expect(missing_docs, reason = "the fields say what they are")]
pub enum MemoryChange {
    /// A note was added; `dropped` had to make room.
    Noted { note: String, dropped: Option<String> },
    /// An interaction was added; `dropped` had to make room.
    Met { interaction: String, dropped: Option<String> },
    /// A version of an element was read.
    Saw { element: ElementKey, version: u32, summary: String },
    /// A pin is kept at hand; `dropped` had to make room.
    PinKept { element: ElementKey, pin: Id, dropped: Option<Id> },
    /// A kept pin was released.
    PinReleased { pin: Id },
    /// The summary was replaced.
    Summed { summary: String },
    /// The summary was emptied.
    SummaryCleared,
    /// An element is gone from the room, and what was known of it.
    Forgot { element: ElementKey, pins: Vec<Id> },
    /// An element is back in the room, and what was known of it.
    Recalled { element: ElementKey, pins: Vec<Id> },
    /// Every slot was emptied.
    Cleared,
}

/// Does `act` to `memory`. Returns what changed, if it is worth a record: looking at an element again or
/// noting the same twice is not.
pub fn apply(memory: &mut Memory, act: &MemoryAct, limits: &MemorySettings, now_ticks: u64) -> Option<MemoryChange> {
    match act {
        MemoryAct::Note { text } => {
            let note = truncate(&one_line(text), limits.note_chars_at_most);
            let dropped = append(&mut memory.workspace_notes, note.clone(), limits.notes_at_most, Repeats::Skipped)?;
            Some(MemoryChange::Noted { note, dropped })
        }
        MemoryAct::Interaction { text } => {
            let line = truncate(&one_line(text), limits.note_chars_at_most);
            let slot = &mut memory.recent_interactions;
            let dropped = append(slot, line.clone(), limits.interactions_at_most, Repeats::Kept)?;
            Some(MemoryChange::Met { interaction: line, dropped })
        }
        MemoryAct::Saw { element, version, summary } => {
            let summary = truncate(&one_line(summary), limits.environment_chars_at_most);
            let seen = Seen { summary: summary.clone(), last_read: now_ticks, version: *version };
            memory.environment_state.insert(*element, seen);
            Some(MemoryChange::Saw { element: *element, version: *version, summary })
        }
        MemoryAct::Looked { element } => {
            if let Some(seen) = memory.environment_state.get_mut(element) {
                seen.last_read = now_ticks;
            }
            None
        }
        MemoryAct::KeepPin { element, pin } => {
            let kept = (*element, pin.clone());
            let dropped = append(&mut memory.kept_pins, kept, limits.kept_pins_at_most, Repeats::Skipped)?;
            Some(MemoryChange::PinKept { element: *element, pin: pin.clone(), dropped: dropped.map(|(_, pin)| pin) })
        }
        MemoryAct::ReleasePin { pin } => {
            let before = memory.kept_pins.len();
            memory.kept_pins.retain(|(_, kept)| kept != pin);
            (memory.kept_pins.len() < before).then(|| MemoryChange::PinReleased { pin: pin.clone() })
        }
        MemoryAct::Summary { text } => {
            let max_chars = limits.summary_tokens_at_most as usize * CHARS_PER_TOKEN;
            memory.context_summary = truncate(text.trim(), max_chars);
            Some(MemoryChange::Summed { summary: memory.context_summary.clone() })
        }
        MemoryAct::Clear => {
            let had_something = *memory != Memory::default();
            *memory = Memory::default();
            had_something.then_some(MemoryChange::Cleared)
        }
    }
}

/// Empties the summary, because the rules under which it was written are others now.
pub fn clear_summary(memory: &mut Memory) -> Option<MemoryChange> {
    if memory.context_summary.is_empty() {
        return None;
    }
    memory.context_summary.clear();
    Some(MemoryChange::SummaryCleared)
}

/// Forgets an element that left the room, with the pins kept from it.
pub fn forget_element(memory: &mut Memory, element: ElementKey) -> Option<MemoryChange> {
    let knew = memory.environment_state.remove(&element).is_some();
    let mut pins = Vec::new();
    memory.kept_pins.retain(|(holder, pin)| {
        if *holder == element {
            pins.push(pin.clone());
        }
        *holder != element
    });
    (knew || !pins.is_empty()).then_some(MemoryChange::Forgot { element, pins })
}

/// What an agent knows about one element.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Knowledge {
    seen: Option<Seen>,
    pins: Vec<Id>,
}

/// What this memory holds of an element, if anything.
pub fn knowledge(memory: &Memory, element: ElementKey) -> Option<Knowledge> {
    let seen = memory.environment_state.get(&element).cloned();
    let pins: Vec<Id> =
        memory.kept_pins.iter().filter(|(holder, _)| *holder == element).map(|(_, pin)| pin.clone()).collect();
    (seen.is_some() || !pins.is_empty()).then_some(Knowledge { seen, pins })
}

/// Remembers an element that is back in the room; pins as far as there is room for them.
pub fn recall(memory: &mut Memory, element: ElementKey, knows: Knowledge, pins_at_most: usize) -> Option<MemoryChange> {
    if let Some(seen) = knows.seen {
        memory.environment_state.insert(element, seen);
    }
    let room = pins_at_most.saturating_sub(memory.kept_pins.len());
    let pins: Vec<Id> = knows.pins.into_iter().take(room).collect();
    memory.kept_pins.extend(pins.iter().map(|pin| (element, pin.clone())));
    Some(MemoryChange::Recalled { element, pins })
}

/// Lets go of a kept pin that was taken down.
pub fn forget_pin(memory: &mut Memory, element: ElementKey, pin: &str) -> Option<MemoryChange> {
    let index = memory.kept_pins.iter().position(|(holder, kept)| *holder == element && &**kept == pin)?;
    let (_, pin) = memory.kept_pins.remove(index);
    Some(MemoryChange::PinReleased { pin })
}

/// Whether a slot holds the same thing twice.
#[derive(PartialEq)]
enum Repeats {
    Kept,
    Skipped,
}

/// Appends to a capped slot. `None`: nothing was appended. `Some(dropped)`: it was, and this had to go.
fn append<T: PartialEq>(slot: &mut Vec<T>, new: T, at_most: usize, repeats: Repeats) -> Option<Option<T>> {
    if at_most == 0 || (repeats == Repeats::Skipped && slot.contains(&new)) {
        return None;
    }
    let mut dropped = None;
    while slot.len() >= at_most {
        dropped = Some(slot.remove(0));
    }
    slot.push(new);
    Some(dropped)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(memory: &mut Memory, text: &str) -> Option<MemoryChange> {
        apply(memory, &MemoryAct::Note { text: text.into() }, &MemorySettings::default(), 7)
    }

    #[test]
    fn the_oldest_note_goes_and_the_same_is_not_noted_twice() {
        let mut memory = Memory::default();
        for number in 0..10 {
            assert!(note(&mut memory, &format!("note {number}")).is_some());
        }
        assert_eq!(note(&mut memory, "note  3"), None, "white space does not make it another note");
        let change = note(&mut memory, "note 10");
        assert_eq!(change, Some(MemoryChange::Noted { note: "note 10".into(), dropped: Some("note 0".into()) }));
        assert_eq!(memory.workspace_notes.len(), 10);
    }

    #[test]
    fn every_slot_is_capped() {
        let (mut memory, limits) = (Memory::default(), MemorySettings::default());
        for number in 0..20_u32 {
            for act in [
                MemoryAct::Interaction { text: "talked to Ada".into() },
                MemoryAct::KeepPin { element: ElementKey(1), pin: format!("p{number}").into() },
                MemoryAct::Saw { element: ElementKey(1), version: number, summary: "x".repeat(900) },
                MemoryAct::Summary { text: "y".repeat(9_000) },
            ] {
                assert!(apply(&mut memory, &act, &limits, 1).is_some());
            }
        }
        assert_eq!(memory.recent_interactions.len(), 5);
        assert_eq!(memory.kept_pins.len(), 5);
        assert_eq!(&*memory.kept_pins[4].1, "p19");
        assert_eq!(memory.environment_state[&ElementKey(1)].summary.chars().count(), 200);
        assert_eq!(memory.context_summary.chars().count(), 1_600);
    }

    #[test]
    fn a_second_look_changes_only_when() {
        let (mut memory, limits) = (Memory::default(), MemorySettings::default());
        apply(&mut memory, &MemoryAct::Saw { element: ElementKey(1), version: 4, summary: "s".into() }, &limits, 10);
        assert_eq!(apply(&mut memory, &MemoryAct::Looked { element: ElementKey(1) }, &limits, 20), None);
        let seen = &memory.environment_state[&ElementKey(1)];
        assert_eq!((seen.version, seen.last_read), (4, 20));
    }

    #[test]
    fn what_is_gone_is_forgotten_and_only_that() {
        let (mut memory, limits) = (Memory::default(), MemorySettings::default());
        for element in [ElementKey(1), ElementKey(2)] {
            apply(&mut memory, &MemoryAct::Saw { element, version: 1, summary: "s".into() }, &limits, 1);
            apply(&mut memory, &MemoryAct::KeepPin { element, pin: "p1".into() }, &limits, 1);
        }
        let change = forget_element(&mut memory, ElementKey(1));
        assert_eq!(change, Some(MemoryChange::Forgot { element: ElementKey(1), pins: vec!["p1".into()] }));
        assert_eq!(forget_element(&mut memory, ElementKey(1)), None);
        assert_eq!(memory.kept_pins, [(ElementKey(2), "p1".into())]);
        assert!(forget_pin(&mut memory, ElementKey(2), "p1").is_some());
        assert_eq!(forget_pin(&mut memory, ElementKey(2), "p1"), None);
        apply(&mut memory, &MemoryAct::Clear, &limits, 1);
        assert_eq!(memory, Memory::default());
    }
}
