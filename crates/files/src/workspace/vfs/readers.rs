//! Tracks which agents read a file and do not know that another agent has written it since.

use std::collections::BTreeMap;

use crate::base::{Author, Id};

/// The maximum number of files whose readers are remembered; the least recently read are forgotten first.
const MAX_FILES: usize = 20_000;

/// When each agent last read or wrote each file in this run, counted in orders.
#[derive(Default)]
pub(super) struct Readers {
    now: u64,
    files: BTreeMap<String, BTreeMap<Id, u64>>,
}

impl Readers {
    /// Records that an agent knows the current text.
    pub(super) fn note(&mut self, path: &str, author: &Author) {
        // Each change of a task file concerns one task and is based on the present file, never on an older text.
        if !is_agent(author) || path.ends_with(".task.md") {
            return;
        }
        self.now += 1;
        if self.files.len() >= MAX_FILES && !self.files.contains_key(path) {
            let oldest = self.files.iter().min_by_key(|(_, readers)| readers.values().max().copied());
            if let Some(oldest) = oldest.map(|(path, _)| path.clone()) {
                self.files.remove(&oldest);
            }
        }
        self.files.entry(path.to_owned()).or_default().insert(author.0.clone(), self.now);
    }

    /// Returns the agents that have read the file since `writer`, who is about to change it, last did.
    pub(super) fn others(&self, path: &str, writer: &Author) -> Vec<Id> {
        let Some(readers) = self.files.get(path) else { return Vec::new() };
        // An agent that writes a file which another agent has read since then is told of the conflict.
        rule!("conflicts-name-the-readers");
        let since = readers.get(&writer.0).copied().unwrap_or(0);
        readers.iter().filter(|(id, read)| **id != writer.0 && **read > since).map(|(id, _)| id.clone()).collect()
    }

    /// Moves the readers of a file to its new path.
    pub(super) fn renamed(&mut self, from: &str, to: &str) {
        if let Some(readers) = self.files.remove(from) {
            self.files.insert(to.to_owned(), readers);
        }
    }

    /// Forgets the readers of a deleted file.
    pub(super) fn forget(&mut self, path: &str) {
        self.files.remove(path);
    }
}

/// Whether the author is an agent. A person sees that a file has changed; only an agent may continue to work from an
/// older text.
pub(in crate::workspace) fn is_agent(author: &Author) -> bool {
    !author.is_user() && !matches!(&*author.0, super::OUTSIDE | super::ROOM)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_writer_is_told_who_read_the_file_since() {
        checks_rule!("conflicts-name-the-readers");
        let (ada, bob, cy) = (Author("ada".into()), Author("bob".into()), Author("cy".into()));
        let mut readers = Readers::default();
        assert!(readers.others("a", &ada).is_empty());
        readers.note("a", &bob);
        readers.note("a", &ada);
        assert!(readers.others("a", &ada).is_empty(), "bob read before ada did");
        readers.note("a", &cy);
        readers.note("a", &Author::user());
        assert_eq!(readers.others("a", &ada), std::slice::from_ref(&cy.0), "a person is not told");
        assert_eq!(readers.others("a", &bob), [ada.0.clone(), cy.0.clone()]);
        assert_eq!(readers.others("a", &Author::user()), [ada.0.clone(), bob.0.clone(), cy.0.clone()]);
        readers.note("a", &ada);
        assert!(readers.others("a", &ada).is_empty(), "it is reported once");
        readers.renamed("a", "b");
        assert!(readers.others("a", &bob).is_empty());
        assert_eq!(readers.others("b", &cy), std::slice::from_ref(&ada.0));
        readers.forget("b");
        assert!(readers.others("b", &cy).is_empty());
    }
}
