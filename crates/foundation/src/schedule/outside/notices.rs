//! What the outside says without having been asked: a person changed a file of keys, a guarded file was put back. A
//! notice enters the world as an input like an answer; in a replay it is dropped, because the journal has it.

use bevy::app::App;
use bevy::ecs::prelude::*;
use crossbeam_channel::{Receiver, Sender, bounded};

use super::NoticeSystems;
use super::reporter::Wakeup;
use crate::schedule::inputs::{Input, InputExt};
use crate::schedule::{InputJournal, InputQueue, Tick};

/// The maximum number of notices of one kind that wait for the world; whoever gives more waits.
const MAX_NOTICES: usize = 256;

/// The notices of one kind that no tick has received yet.
#[derive(Resource)]
pub struct Notices<T: Input> {
    sender: Sender<T>,
    receiver: Receiver<T>,
    wakeup: Wakeup,
}

/// Gives notices of one kind to the world, from any thread but its own.
pub struct NoticeSender<T: Input> {
    sender: Sender<T>,
    wakeup: Wakeup,
}

impl<T: Input> Clone for NoticeSender<T> {
    fn clone(&self) -> Self {
        Self { sender: self.sender.clone(), wakeup: self.wakeup.clone() }
    }
}

impl<T: Input> NoticeSender<T> {
    /// Gives a notice. Waits while very many are waiting.
    pub fn give(&self, notice: T) {
        // The world may have ended.
        let _ = self.sender.send(notice);
        self.wakeup.wake();
    }

    /// Gives a notice unless very many are waiting; returns whether it was given. Never waits.
    pub fn try_give(&self, notice: T) -> bool {
        // The world may have ended, and then there is nobody to keep it for.
        let is_given = !self.sender.try_send(notice).is_err_and(|error| error.is_full());
        self.wakeup.wake();
        is_given
    }
}

impl<T: Input> Notices<T> {
    /// Returns what threads give their notices to.
    pub fn sender(&self) -> NoticeSender<T> {
        NoticeSender { sender: self.sender.clone(), wakeup: self.wakeup.clone() }
    }

    /// Whether a notice waits.
    pub(super) fn has_any(&self) -> bool {
        !self.receiver.is_empty()
    }
}

/// Registers kinds of notices.
pub trait NoticesExt {
    /// Adds a kind of notices, which enter as inputs. Adding a kind again changes nothing.
    fn add_notices<T: Input>(&mut self) -> &mut Self;
}

impl NoticesExt for App {
    fn add_notices<T: Input>(&mut self) -> &mut Self {
        if self.world().contains_resource::<Notices<T>>() {
            return self;
        }
        let (sender, receiver) = bounded(MAX_NOTICES);
        let wakeup = self.world().resource::<Wakeup>().clone();
        self.add_input::<T>().insert_resource(Notices::<T> { sender, receiver, wakeup });
        self.world_mut().resource_mut::<super::Outsides>().register_notices::<T>();
        self.add_systems(Tick, admit::<T>.in_set(NoticeSystems));
        self
    }
}

fn admit<T: Input>(notices: Res<Notices<T>>, mut queue: ResMut<InputQueue<T>>, journal: Res<InputJournal>) {
    for notice in notices.receiver.try_iter().take(notices.receiver.len()) {
        if !journal.is_replaying() {
            queue.push(notice);
        }
    }
}
