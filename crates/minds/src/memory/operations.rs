//! Operations on a memory. Pure. Slots are limited: the oldest entry is dropped.

use serde::{Deserialize, Serialize};

use super::settings::MemorySettings;
use super::slots::{Memory, MemoryAct, SeenElement};
use crate::base::text::{one_line, truncate};
use crate::base::{ElementKey, Id};

/// Characters that count as one token (the rule of [`crate::base::text::estimate_tokens`]).
const CHARS_PER_TOKEN: usize = 4;

/// A change of a memory: the data of a `memory` event.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(tag = "change", rename_all = "snake_case")]
#[expect(missing_docs, reason = "the fields say what they are")]
pub enum MemoryChange {
    /// A note was added; `dropped` was removed to make room.
    Noted { note: String, dropped: Option<String> },
    /// An interaction was added; `dropped` was removed to make room.
    Met { interaction: String, dropped: Option<String> },
    /// A version of an element was read.
    Saw { element: ElementKey, version: u32, summary: String },
    /// A pin is kept; `dropped` was released to make room.
    PinKept { element: ElementKey, pin: Id, dropped: Option<Id> },
    /// A kept pin was released.
    PinReleased { pin: Id },
    /// The summary was replaced.
    Summed { summary: String },
    /// The summary was cleared.
    SummaryCleared,
    /// A removed element and its kept pins were forgotten.
    Forgot { element: ElementKey, pins: Vec<Id> },
    /// An element that returned is remembered again, with its kept pins.
    Recalled { element: ElementKey, pins: Vec<Id> },
    /// All slots were cleared.
    Cleared,
}

/// Applies an act to a memory. Returns the change, or `None` if there is nothing to log: looking at an element again,
/// or noting the same twice.
pub fn apply(memory: &mut Memory, act: &MemoryAct, limits: &MemorySettings, now_ticks: u64) -> Option<MemoryChange> {
    match act {
        MemoryAct::Note { text } => {
            let note = truncate(&one_line(text), limits.max_note_chars);
            let dropped = append(&mut memory.workspace_notes, note.clone(), limits.max_notes, Duplicates::Skipped)?;
            Some(MemoryChange::Noted { note, dropped })
        }
        MemoryAct::Interaction { text } => {
            let line = truncate(&one_line(text), limits.max_note_chars);
            let slot = &mut memory.recent_interactions;
            let dropped = append(slot, line.clone(), limits.max_interactions, Duplicates::Allowed)?;
            Some(MemoryChange::Met { interaction: line, dropped })
        }
        MemoryAct::Saw { element, version, summary } => {
            let summary = truncate(&one_line(summary), limits.max_environment_chars);
            let seen = SeenElement { summary: summary.clone(), last_read: now_ticks, version: *version };
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
            let dropped = append(&mut memory.kept_pins, kept, limits.max_kept_pins, Duplicates::Skipped)?;
            Some(MemoryChange::PinKept { element: *element, pin: pin.clone(), dropped: dropped.map(|(_, pin)| pin) })
        }
        MemoryAct::ReleasePin { pin } => {
            let before = memory.kept_pins.len();
            memory.kept_pins.retain(|(_, kept)| kept != pin);
            (memory.kept_pins.len() < before).then(|| MemoryChange::PinReleased { pin: pin.clone() })
        }
        MemoryAct::Summary { text } => {
            let max_chars = limits.max_summary_tokens as usize * CHARS_PER_TOKEN;
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

/// Clears the summary, because the rules under which it was written have changed.
pub fn clear_summary(memory: &mut Memory) -> Option<MemoryChange> {
    if memory.context_summary.is_empty() {
        return None;
    }
    memory.context_summary.clear();
    Some(MemoryChange::SummaryCleared)
}

/// Forgets a removed element and its kept pins.
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

/// An agent's knowledge of one element, with its kept pins.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ElementKnowledge {
    seen: Option<SeenElement>,
    pins: Vec<Id>,
}

/// Returns what a memory contains about an element, if anything.
pub fn element_knowledge(memory: &Memory, element: ElementKey) -> Option<ElementKnowledge> {
    let seen = memory.environment_state.get(&element).cloned();
    let pins: Vec<Id> =
        memory.kept_pins.iter().filter(|(holder, _)| *holder == element).map(|(_, pin)| pin.clone()).collect();
    (seen.is_some() || !pins.is_empty()).then_some(ElementKnowledge { seen, pins })
}

/// Restores the knowledge about an element that returned, with as many kept pins as there is room for.
pub fn restore_element(
    memory: &mut Memory,
    element: ElementKey,
    knowledge: ElementKnowledge,
    pins_at_most: usize,
) -> Option<MemoryChange> {
    if let Some(seen) = knowledge.seen {
        memory.environment_state.insert(element, seen);
    }
    let room = pins_at_most.saturating_sub(memory.kept_pins.len());
    let pins: Vec<Id> = knowledge.pins.into_iter().take(room).collect();
    memory.kept_pins.extend(pins.iter().map(|pin| (element, pin.clone())));
    Some(MemoryChange::Recalled { element, pins })
}

/// Releases a kept pin that was removed from its board.
pub fn forget_pin(memory: &mut Memory, element: ElementKey, pin: &str) -> Option<MemoryChange> {
    let index = memory.kept_pins.iter().position(|(holder, kept)| *holder == element && &**kept == pin)?;
    let (_, pin) = memory.kept_pins.remove(index);
    Some(MemoryChange::PinReleased { pin })
}

/// Whether a slot may contain an entry twice.
#[derive(PartialEq)]
enum Duplicates {
    Allowed,
    Skipped,
}

/// Appends to a limited slot. Returns `None` if nothing was appended, otherwise the entry that was dropped, if any.
fn append<T: PartialEq>(slot: &mut Vec<T>, new: T, at_most: usize, duplicates: Duplicates) -> Option<Option<T>> {
    if at_most == 0 || (duplicates == Duplicates::Skipped && slot.contains(&new)) {
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
    fn the_oldest_note_is_dropped_and_duplicates_are_skipped() {
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
    fn a_second_look_only_changes_its_time() {
        let (mut memory, limits) = (Memory::default(), MemorySettings::default());
        apply(&mut memory, &MemoryAct::Saw { element: ElementKey(1), version: 4, summary: "s".into() }, &limits, 10);
        assert_eq!(apply(&mut memory, &MemoryAct::Looked { element: ElementKey(1) }, &limits, 20), None);
        let seen = &memory.environment_state[&ElementKey(1)];
        assert_eq!((seen.version, seen.last_read), (4, 20));
    }

    #[test]
    fn only_the_removed_element_is_forgotten() {
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
