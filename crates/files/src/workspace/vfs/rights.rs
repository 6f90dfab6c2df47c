//! The permissions of an order: globs are parsed once and cached, since agents send many orders with the same
//! permissions.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::super::layout::KEPT_BLACKBOARD;
use super::order::FileRights;
use super::records::RECORDS;
use crate::base::globs;
use crate::base::text_normalization::folded;
use crate::knowledge::Owner;
use crate::knowledge::file::KNOWLEDGE_FOLDER;

/// The maximum number of compiled permissions in the cache.
const CACHE_CAPACITY: usize = 128;
/// The maximum number of globs in one list; more are treated as an attack.
const MAX_GLOBS: usize = 1000;

/// Compiled permissions. Without lists, everything is allowed; otherwise each list must allow the path.
#[derive(Debug, Default)]
pub(super) struct Rights {
    reads: Vec<Vec<String>>,
    writes: Vec<Vec<String>>,
    unreadable: BTreeSet<String>,
    unwritable: BTreeSet<String>,
    records_of: Option<String>,
    knowledge_of: Option<String>,
}

impl FileRights {
    /// Whether a file may be read with these permissions.
    pub fn may_read(&self, path: &str) -> bool {
        Rights::new(self).is_ok_and(|rights| rights.may_read(path))
    }
}

impl Rights {
    pub(super) fn new(rights: &FileRights) -> Result<Self, String> {
        let ready = |lists: &[Vec<String>]| lists.iter().map(|globs| plain(globs)).collect::<Result<Vec<_>, _>>();
        let (unreadable, unwritable) = (rights.unreadable.clone(), rights.unwritable.clone());
        let (records_of, knowledge_of) = (rights.records_of.clone(), rights.knowledge_of.clone());
        let (reads, writes) = (ready(&rights.reads)?, ready(&rights.writes)?);
        Ok(Self { reads, writes, unreadable, unwritable, records_of, knowledge_of })
    }

    pub(super) fn may_read(&self, path: &str) -> bool {
        !self.is_private(path) && self.reads.iter().all(|globs| globs::any_matches(globs, path))
    }

    /// Whether a file is private to someone else.
    pub(super) fn is_private(&self, path: &str) -> bool {
        self.unreadable.contains(path) || self.is_record_of_another(path) || self.is_knowledge_of_another(path)
    }

    /// Whether a file contains the memories of another agent: all in the folder except the agent's own file and the
    /// shared one.
    pub(super) fn is_knowledge_of_another(&self, path: &str) -> bool {
        let Some(own) = &self.knowledge_of else { return false };
        let is_shared = path == KEPT_BLACKBOARD || path == Owner::Shared.place();
        is_knowledge(path) && path != own && !is_shared
    }

    /// Whether a file contains memories, which are never written by a file order.
    pub(super) fn is_closed_knowledge(&self, path: &str) -> bool {
        self.knowledge_of.is_some() && is_knowledge(path)
    }

    /// Whether a file contains another agent's requests, reads and actions.
    pub(super) fn is_record_of_another(&self, path: &str) -> bool {
        let is_own = |own: &String| path.starts_with(own.as_str());
        path.starts_with(RECORDS) && self.records_of.as_ref().is_some_and(|own| !is_own(own))
    }

    /// Whether a file belongs to an element whose rules are not available for checking changes.
    pub(super) fn is_held_elsewhere(&self, path: &str) -> bool {
        self.unwritable.contains(path) && !self.unreadable.contains(path)
    }

    pub(super) fn may_write(&self, path: &str) -> bool {
        let is_closed = self.unwritable.contains(path) || self.is_closed_knowledge(path);
        !is_closed && self.writes.iter().all(|globs| globs::any_matches(globs, path))
    }
}

/// Whether a path is in the folder of memories, however it is spelled.
fn is_knowledge(path: &str) -> bool {
    folded(path).strip_prefix(KNOWLEDGE_FOLDER).is_some_and(|rest| rest.starts_with('/'))
}

/// A cache of compiled permissions.
#[derive(Default)]
pub(super) struct RightsCache(BTreeMap<String, Arc<Rights>>);

impl RightsCache {
    pub(super) fn get_or_compile(&mut self, rights: &FileRights) -> Result<Arc<Rights>, String> {
        if *rights == FileRights::default() {
            return Ok(Arc::default());
        }
        let key = format!("{rights:?}");
        if let Some(ready) = self.0.get(&key) {
            return Ok(ready.clone());
        }
        let ready = Arc::new(Rights::new(rights)?);
        if self.0.len() >= CACHE_CAPACITY {
            self.0.clear();
        }
        self.0.insert(key, ready.clone());
        Ok(ready)
    }
}

/// Converts all globs of a list to their plain form.
fn plain(list: &[String]) -> Result<Vec<String>, String> {
    if list.len() > MAX_GLOBS {
        return Err(format!("rights have {} globs; at most {MAX_GLOBS}", list.len()));
    }
    let globs = list.iter().map(|text| globs::plain(text).map_err(|error| format!("{text:?}: {error}")));
    Ok(globs.collect::<Result<Vec<_>, _>>()?.concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rights(reads: &[&[&str]], writes: &[&[&str]]) -> FileRights {
        let lists = |lists: &[&[&str]]| {
            lists.iter().map(|globs| globs.iter().map(|glob| (*glob).to_owned()).collect()).collect()
        };
        FileRights { reads: lists(reads), writes: lists(writes), ..FileRights::default() }
    }

    #[test]
    fn every_list_must_allow_and_no_list_allows_everything() {
        let none = Rights::default();
        assert!(none.may_read("a.md") && none.may_write("a.md"));
        let both =
            Rights::new(&rights(&[&["artifacts/**", "notes/*.md"], &["**/*.md"]], &[&[]])).expect("they are globs");
        for (path, may) in [
            ("artifacts/a.md", true),
            ("artifacts/deep/a.md", true),
            ("artifacts", false),
            ("artifacts/a.txt", false),
            ("notes/a.md", true),
            ("notes/deep/a.md", false),
            ("Artifacts/a.md", false),
            ("other/a.md", false),
            ("notes/jos\u{e9}.md", true),
        ] {
            assert_eq!(both.may_read(path), may, "{path}");
        }
        assert!(!both.may_write("artifacts/a.md"), "an empty list allows nothing");
    }

    #[test]
    fn a_glob_matches_a_path_in_any_unicode_form() {
        let decomposed = Rights::new(&rights(&[&["gehe\u{301}im/**"]], &[])).expect("it is a glob");
        assert!(decomposed.may_read("geh\u{e9}im/a.md"));
    }

    #[test]
    fn agents_read_their_own_and_shared_memories_and_write_none() {
        let own = Owner::Agent("ada".into()).place();
        let ada = FileRights { knowledge_of: Some(own), ..rights(&[&["**"]], &[&["**"]]) };
        let ada = Rights::new(&ada).expect("they are globs");
        for (path, may_read) in [
            ("memory/knowledge/ada.md", true),
            ("memory/knowledge/shared.md", true),
            ("memory/knowledge/blackboard.yaml", true),
            ("memory/knowledge/bob.md", false),
            ("Memory/Knowledge/Bob.md", false),
            ("memory/knowledge/graph.json", false),
            ("memory/knowledge/old/bob.md", false),
        ] {
            assert_eq!((ada.may_read(path), ada.may_write(path)), (may_read, false), "{path}");
        }
        assert!(ada.may_read("memory/knowledge.md") && ada.may_write("memory/ada.md"));
        let person = Rights::default();
        assert!(person.may_read("memory/knowledge/bob.md") && person.may_write("memory/knowledge/bob.md"));
    }

    #[test]
    fn an_invalid_glob_is_an_error_and_allows_nothing() {
        assert!(RightsCache::default().get_or_compile(&rights(&[&["a[", "**"]], &[])).is_err());
        assert!(RightsCache::default().get_or_compile(&rights(&[&[&"a".repeat(2000)]], &[])).is_err());
    }

    #[test]
    fn the_same_rights_are_compiled_once() {
        let mut kept = RightsCache::default();
        let first = kept.get_or_compile(&rights(&[&["a"]], &[])).expect("it is a glob");
        let again = kept.get_or_compile(&rights(&[&["a"]], &[])).expect("it is a glob");
        let other = kept.get_or_compile(&rights(&[], &[&["a"]])).expect("it is a glob");
        assert!(Arc::ptr_eq(&first, &again) && !Arc::ptr_eq(&first, &other));
    }
}
