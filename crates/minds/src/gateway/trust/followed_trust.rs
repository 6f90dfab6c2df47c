//! The person's file about a workspace, as the worker follows it, and the messages about it to and from the worker.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use super::trusted_workspaces::TrustFile;
use crate::workspace::WorkspaceTrust;

/// A command to the worker about the person's file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TrustCommand {
    /// Report what the file trusts whenever it changes.
    Follow(TrustFile),
    /// Add these widenings, by hash, to the file that is followed.
    Add(BTreeSet<String>),
}

/// The messages to and from the worker about the person's file.
#[derive(Default, Debug)]
pub(in crate::gateway) struct TrustTraffic {
    /// Whether the worker was told which file to follow.
    pub(in crate::gateway) is_followed: bool,
    /// What the file trusts, if that was read and is not in the world yet.
    read: Option<WorkspaceTrust>,
    /// The hashes of what the file trusted when it was last read, or when the room began to follow it.
    known: Option<BTreeSet<String>>,
    /// What the person allowed in the room and was not yet read from the file.
    added: BTreeSet<String>,
    /// Whether some of that was not sent yet.
    has_unsent: bool,
}

impl TrustTraffic {
    /// Begins to follow a file.
    pub(in crate::gateway) fn begin(&mut self) {
        *self = Self::default();
    }

    /// Finds what the person allowed in the room: it is trusted there, and the file does not have it. A restricted
    /// workspace stays so, whatever is allowed in it.
    pub(in crate::gateway) fn note(&mut self, room: &WorkspaceTrust) {
        let WorkspaceTrust::Parts { parts } = room else { return };
        let Some(known) = &self.known else {
            self.known = Some(parts.clone());
            return;
        };
        for part in parts.difference(known) {
            self.has_unsent |= self.added.insert(part.clone());
        }
    }

    /// Receives what the file trusts.
    pub(in crate::gateway) fn receive(&mut self, trust: WorkspaceTrust) {
        self.read = Some(trust);
    }

    /// Returns what is trusted now, if the room does not know that yet.
    pub(in crate::gateway) fn take(&mut self, room: &WorkspaceTrust) -> Option<WorkspaceTrust> {
        let mut now = self.read.take()?;
        self.known = Some(match &now {
            WorkspaceTrust::Parts { parts } => parts.clone(),
            WorkspaceTrust::Nothing | WorkspaceTrust::Everything => BTreeSet::new(),
        });
        match &mut now {
            // It may have been read before that was added.
            WorkspaceTrust::Parts { parts } if !self.added.is_subset(parts) => parts.extend(self.added.iter().cloned()),
            _ => {
                self.added.clear();
                self.has_unsent = false;
            }
        }
        (now != *room).then_some(now)
    }

    /// The commands that the worker did not get yet, in their order.
    pub(in crate::gateway) fn unsent(&self, file: &TrustFile) -> Vec<TrustCommand> {
        let follow = (!self.is_followed).then(|| TrustCommand::Follow(file.clone()));
        let add = self.has_unsent.then(|| TrustCommand::Add(self.added.clone()));
        follow.into_iter().chain(add).collect()
    }

    /// The worker has a command.
    pub(in crate::gateway) fn sent(&mut self, command: &TrustCommand) {
        match command {
            TrustCommand::Follow(_) => self.is_followed = true,
            TrustCommand::Add(_) => self.has_unsent = false,
        }
    }

    /// The worker and what was sent to it are lost.
    pub(in crate::gateway) fn lost(&mut self) {
        self.is_followed = false;
        self.has_unsent = !self.added.is_empty();
    }
}

/// The person's file, as the worker follows it.
pub(in crate::gateway) struct FollowedTrust {
    file: TrustFile,
    looked_at: Option<Instant>,
}

impl FollowedTrust {
    /// Follows a file from now on.
    pub(in crate::gateway) fn new(file: TrustFile) -> Self {
        Self { file, looked_at: None }
    }

    /// How long until the file is looked at again, if that happens this often.
    pub(in crate::gateway) fn due_in(&self, every: Duration) -> Duration {
        self.looked_at.map_or(Duration::ZERO, |at| every.saturating_sub(at.elapsed()))
    }

    /// Puts the look off until it is due the next time.
    pub(in crate::gateway) fn put_off(&mut self) {
        self.looked_at = Some(Instant::now());
    }

    /// Returns what is trusted, if the file has changed.
    pub(in crate::gateway) fn look(&mut self) -> Option<WorkspaceTrust> {
        self.put_off();
        self.file.look()
    }

    /// Adds widenings to the file. Returns what is trusted now; nothing if that is unknown.
    pub(in crate::gateway) fn add(&mut self, added: &BTreeSet<String>) -> Option<WorkspaceTrust> {
        self.file.add(added)
    }
}

#[cfg(test)]
#[path = "followed_trust_tests.rs"]
mod tests;
