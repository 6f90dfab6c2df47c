//! The undo and redo history. Every act of the person is a step. A step that cannot be undone stops the undo; it is never
//! passed over in silence for an older one.

use std::collections::BTreeSet;

use crate::base::Id;
use crate::ui::commands::RoomAct;
use crate::workspace::vfs::{FileAnswer, FileCommand, FileOperation, FileResult, NewFile};

/// The maximum number of changes that can be undone.
const MAX_STEPS: usize = 200;
/// The maximum number of reversals whose file operations have not been answered.
const MAX_RUNNING: usize = 50;
/// After an undo was stopped, a further press within this many seconds is one of the same, and says the same again.
pub const SAME_PRESS_SECS: f64 = 1.0;

/// An action and how it is undone.
#[derive(Clone, PartialEq, Debug)]
pub struct StepAct {
    /// The action.
    pub act: RoomAct,
    /// The inverse actions, in order.
    pub back: Vec<RoomAct>,
    /// Why the action cannot be undone; absent if it can.
    pub cannot: Option<String>,
    /// The version of the file after the action, if undoing it would replace the text without comparing it.
    pub version: Option<u64>,
}

impl StepAct {
    /// An action with its inverse.
    pub fn new(act: RoomAct, back: Vec<RoomAct>) -> Self {
        Self { act, back, cannot: None, version: None }
    }

    /// An action that cannot be undone, and why.
    pub fn irreversible(act: RoomAct, why: impl Into<String>) -> Self {
        Self { cannot: Some(why.into()), ..Self::new(act, Vec::new()) }
    }
}

/// One change, which is undone as one.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Step {
    /// What was done, as on a button: "Delete notes.md".
    pub label: String,
    /// The actions, in order.
    pub acts: Vec<StepAct>,
    /// The elements of a nudge: the next nudge of the same elements is merged into this step.
    pub nudged: Vec<Id>,
    /// The files that the change added to the workspace; undoing it removes them.
    pub files: Vec<NewFile>,
    /// The number of the record if an agent's work was undone by this change.
    pub undone: Option<u64>,
    /// The number of the step, by which the answers to its file operations find it; the history sets it.
    pub number: u64,
}

impl Step {
    /// An empty step with this label.
    pub fn of(label: impl Into<String>) -> Self {
        Self { label: label.into(), ..Self::default() }
    }

    fn is_empty(&self) -> bool {
        self.acts.is_empty() && self.files.is_empty() && self.undone.is_none()
    }

    /// Whether the step only sends something and changes nothing that a redo could replace.
    fn only_sends(&self) -> bool {
        let sends = |done: &StepAct| done.cannot.is_some() && file_command(&done.act).is_none();
        !self.acts.is_empty() && self.acts.iter().all(sends)
    }

    /// Returns why the step cannot be undone, if it cannot.
    fn cannot(&self) -> Option<String> {
        self.acts.iter().find_map(|done| done.cannot.clone())
    }
}

/// The actions and file changes that undo or redo a step.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Reversal {
    /// What is undone or redone, as on a button.
    pub label: String,
    /// The actions in the room, in order.
    pub acts: Vec<RoomAct>,
    /// The files to remove from the workspace, or to restore.
    pub files: Vec<NewFile>,
    /// The record of undone work to be redone, or to be undone again.
    pub undone: Option<u64>,
    /// The number of the step.
    pub number: u64,
}

/// Why nothing was undone.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Stop {
    /// There is no step.
    Nothing,
    /// The last step cannot be undone.
    Cannot {
        /// What was done.
        label: String,
        /// Why it cannot be undone.
        why: String,
        /// The label of the step before it that can be undone, if there is one.
        before: Option<String>,
    },
}

/// The result of undoing or redoing a step, once all its file operations have been answered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reversed {
    /// What was undone or redone.
    pub label: String,
    /// Whether it was undone rather than redone.
    pub is_undo: bool,
    /// Why it failed, at least partly.
    pub failure: Option<String>,
}

/// A reversal whose file operations are running.
#[derive(Clone, Debug)]
struct Running {
    number: u64,
    keys: BTreeSet<Id>,
    reversed: Reversed,
}

/// The changes made in this window, oldest first. Each step is undone as one.
#[derive(Clone, Debug, Default)]
pub struct History {
    done: Vec<Step>,
    undone: Vec<Step>,
    running: Vec<Running>,
    /// The step at which the undo was stopped, and when.
    stopped: Option<(u64, f64)>,
    steps: u64,
}

impl History {
    /// Records a change. Undone changes can no longer be redone then, except after what only sends something, such as a
    /// task or a message.
    pub fn note(&mut self, mut step: Step) {
        if step.is_empty() {
            return;
        }
        if !step.only_sends() {
            self.undone.clear();
        }
        self.stopped = None;
        self.steps += 1;
        step.number = self.steps;
        match self.done.last_mut() {
            // Repeated nudges of the same elements are one step.
            Some(last) if !step.nudged.is_empty() && last.nudged == step.nudged => {
                for (done, again) in last.acts.iter_mut().zip(step.acts) {
                    done.act = again.act;
                }
            }
            _ => self.done.push(step),
        }
        let surplus = self.done.len().saturating_sub(MAX_STEPS);
        self.done.drain(..surplus);
    }

    /// Undoes the last step. `renew` gives an action another key; `obstacle` tells why a file is not as the step left
    /// it. Returns the actions to perform, or why there are none: then a further press, later than
    /// [`SAME_PRESS_SECS`], goes on with the step before.
    pub fn undo(
        &mut self,
        now_secs: f64,
        mut renew: impl FnMut(RoomAct) -> RoomAct,
        obstacle: impl Fn(&StepAct) -> Option<String>,
    ) -> Result<Reversal, Stop> {
        let cannot = |step: &Step| step.cannot().or_else(|| step.acts.iter().find_map(&obstacle));
        while let Some(step) = self.done.last() {
            let Some(why) = cannot(step) else { break };
            match self.stopped {
                Some((number, at_secs)) if number == step.number && now_secs - at_secs >= SAME_PRESS_SECS => {
                    self.done.pop();
                    // Those directly before it were not announced as what would be undone.
                    while self.done.last().is_some_and(|step| cannot(step).is_some()) {
                        self.done.pop();
                    }
                    self.stopped = None;
                }
                _ => {
                    // A step that cannot be undone stops the undo and says why; no older step is undone in its place.
                    rule!("undo-stops-at-what-cannot-be-undone");
                    self.stopped = Some((step.number, now_secs));
                    let before = self.done.iter().rev().skip(1).find(|step| cannot(step).is_none());
                    let before = before.map(|step| step.label.clone());
                    return Err(Stop::Cannot { label: step.label.clone(), why, before });
                }
            }
        }
        self.stopped = None;
        let Some(mut step) = self.done.pop() else { return Err(Stop::Nothing) };
        // A nudge after a redo is a new step.
        step.nudged.clear();
        for done in &mut step.acts {
            done.version = None;
        }
        let back = step.acts.iter().rev().flat_map(|done| done.back.iter().cloned());
        let reversal = self.reversal(&step, back.map(&mut renew).collect(), true);
        self.undone.push(step);
        Ok(reversal)
    }

    /// Redoes the last undone step. Returns the actions to perform; `None` if no step was undone.
    pub fn redo(&mut self, mut renew: impl FnMut(RoomAct) -> RoomAct) -> Option<Reversal> {
        let mut step = self.undone.pop()?;
        self.stopped = None;
        // It is the newest step again.
        self.steps += 1;
        step.number = self.steps;
        for done in &mut step.acts {
            done.act = renew(done.act.clone());
        }
        let forth = step.acts.iter().map(|done| done.act.clone()).collect();
        let reversal = self.reversal(&step, forth, false);
        self.done.push(step);
        Some(reversal)
    }

    fn reversal(&mut self, step: &Step, acts: Vec<RoomAct>, is_undo: bool) -> Reversal {
        let keys: BTreeSet<Id> = acts.iter().filter_map(file_command).map(|command| command.key.clone()).collect();
        if !keys.is_empty() {
            let reversed = Reversed { label: step.label.clone(), is_undo, failure: None };
            self.running.push(Running { number: step.number, keys, reversed });
            let surplus = self.running.len().saturating_sub(MAX_RUNNING);
            self.running.drain(..surplus);
        }
        let Step { label, files, undone, number, .. } = step.clone();
        Reversal { label, acts, files, undone, number }
    }

    /// Applies the answer to a file operation: completes the inverse of the action that ordered it, or forgets the
    /// action if nothing was done. Returns the result of an undo or redo that is complete with it.
    pub fn note_answer(&mut self, key: &Id, answer: &Result<FileAnswer, String>) -> Option<Reversed> {
        let is_own = |done: &StepAct| file_command(&done.act).is_some_and(|command| command.key == *key);
        for steps in [&mut self.done, &mut self.undone] {
            for step in steps.iter_mut() {
                step.acts.retain_mut(|done| !is_own(done) || complete(done, answer));
            }
            steps.retain(|step| !step.is_empty());
        }
        let at = self.running.iter().position(|running| running.keys.contains(key))?;
        let running = &mut self.running[at];
        running.keys.remove(key);
        if let Err(why) = answer {
            running.reversed.failure.get_or_insert_with(|| why.clone());
        }
        if !running.keys.is_empty() {
            return None;
        }
        let Running { number, reversed, .. } = self.running.remove(at);
        if let (true, Some(why)) = (reversed.is_undo, &reversed.failure) {
            self.note_failed_undo(number, why);
        }
        Some(reversed)
    }

    /// Puts a step back that could not be undone, so that the next undo stops at it.
    pub fn note_failed_undo(&mut self, number: u64, why: &str) {
        let Some(at) = self.undone.iter().position(|step| step.number == number) else { return };
        let mut step = self.undone.remove(at);
        if let Some(done) = step.acts.first_mut() {
            done.cannot = Some(why.to_owned());
        }
        let place = self.done.iter().take_while(|other| other.number < number).count();
        self.done.insert(place, step);
    }

    /// Whether undoing or redoing this step waits for file operations.
    pub fn is_running(&self, number: u64) -> bool {
        self.running.iter().any(|running| running.number == number)
    }

    /// Whether no undo or redo waits for file operations.
    pub fn is_idle(&self) -> bool {
        self.running.is_empty()
    }

    /// Returns how many steps can be undone and redone.
    pub fn len(&self) -> (usize, usize) {
        (self.done.len(), self.undone.len())
    }

    /// Forgets all steps, because another room is open.
    pub fn clear(&mut self) {
        *self = Self::default();
    }
}

fn file_command(act: &RoomAct) -> Option<&FileCommand> {
    match act {
        RoomAct::File(command) => Some(command),
        _ => None,
    }
}

/// Completes the inverse of a file operation from its answer. Returns whether the operation changed anything.
fn complete(done: &mut StepAct, answer: &Result<FileAnswer, String>) -> bool {
    let Ok(FileAnswer::Changed { done: result, .. }) = answer else {
        return matches!(answer, Ok(FileAnswer::Folder { is_new: true, .. }));
    };
    let Some(key) = file_command(&done.act).map(|command| command.key.clone()) else { return true };
    // The history gives every inverse a key of its own when it is performed.
    let back = |operation| vec![RoomAct::File(FileCommand { key: key.clone(), operation })];
    match result {
        FileResult::Deleted { path, version } if *version > 0 => {
            done.back = back(FileOperation::Restore { path: path.clone(), version: *version });
            done.cannot = None;
        }
        FileResult::Deleted { .. } => done.cannot = Some("its text was not kept as a version".to_owned()),
        // An inverse that compares the text is better than one that replaces it.
        _ if !done.back.is_empty() => {}
        FileResult::Written { path, is_new: true, .. } => {
            done.back = back(FileOperation::Delete { path: path.clone() });
            done.cannot = None;
        }
        FileResult::Written { path, version, .. } if *version > 1 => {
            done.back = back(FileOperation::Restore { path: path.clone(), version: version - 1 });
            (done.cannot, done.version) = (None, Some(*version));
        }
        FileResult::Written { .. } => done.cannot = Some("the text before it was not kept as a version".to_owned()),
        FileResult::Renamed { from, to, .. } => {
            done.back = back(FileOperation::Rename { from: to.clone(), to: from.clone() });
            done.cannot = None;
        }
    }
    true
}

#[cfg(test)]
#[path = "undo_tests.rs"]
mod tests;
