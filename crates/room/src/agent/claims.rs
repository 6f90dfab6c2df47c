//! Assigns ids to agent files. Pure: the input is the ids that the files ask for.
//!
//! A file that states its id, or is directly in `agents/`, gets exactly that id or none. A file in a subfolder asks for
//! the id of its name and yields: if another file has that id, its folder's name is added (`team-two`). An assigned id
//! does not change.

use std::collections::BTreeMap;

use super::agent_file::longer_ids_of_path;
use crate::base::{Id, is_reserved, unique_names};

/// The id that a file asks for.
pub(super) struct Claim<'a> {
    pub(super) path: &'a str,
    pub(super) wanted: &'a Id,
    /// Whether the file states its id.
    pub(super) is_own: bool,
    /// The id that it had before.
    pub(super) held: Option<&'a Id>,
}

impl Claim<'_> {
    fn depth(&self) -> usize {
        self.path.matches('/').count()
    }

    fn yields(&self) -> bool {
        !self.is_own && self.depth() > 1
    }
}

/// The assigned ids.
#[derive(Debug, PartialEq)]
pub(super) struct Claimed {
    /// The file of each id.
    pub(super) by_id: BTreeMap<Id, String>,
    /// Longer ids that also refer to a file, with the id that it has.
    pub(super) longer: BTreeMap<Id, Id>,
}

/// Assigns an id to each file, if there is one for it: files nearest to the root first, then by name.
pub(super) fn assign(mut claims: Vec<Claim<'_>>) -> Claimed {
    claims.sort_by_key(|claim| (claim.yields(), claim.held.is_none(), claim.depth(), claim.path));
    // Among files that cannot yield, earlier ownership makes no difference: only their folders decide which of them
    // gets the id.
    let firm = claims.iter().take_while(|claim| !claim.yields()).count();
    claims[..firm].sort_by_key(|claim| (claim.depth(), claim.path));
    let mut claimed = Claimed { by_id: BTreeMap::new(), longer: BTreeMap::new() };
    for claim in &claims {
        let longer: Vec<Id> = if claim.yields() {
            longer_ids_of_path(claim.path).into_iter().map(Id::from).filter(|id| !is_reserved(id)).collect()
        } else {
            Vec::new()
        };
        let wishes = claim.held.filter(|_| claim.yields()).into_iter().chain([claim.wanted]).chain(&longer);
        let free = wishes.into_iter().find(|id| !claimed.by_id.contains_key(*id)).cloned();
        let numbered =
            |id: &Id| unique_names::first_free(unique_names::numbered(id, "", 2), |id| claimed.by_id.contains_key(id));
        let id = free.or_else(|| longer.last().map(|id| numbered(id).into()));
        let Some(id) = id else { continue };
        claimed.longer.extend(longer.into_iter().filter(|longer| *longer != id).map(|longer| (longer, id.clone())));
        claimed.by_id.insert(id, claim.path.to_owned());
    }
    claimed
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the resulting ids of files; some of the files state an id.
    fn ids(files: &[(&str, Option<&str>)], held: &[(&str, &str)]) -> Vec<(String, String)> {
        let wanted: Vec<Id> = files
            .iter()
            .map(|(path, own)| own.map_or_else(|| super::super::agent_file::id_of_path(path).into(), Id::from))
            .collect();
        let held: BTreeMap<&str, Id> = held.iter().map(|(path, id)| (*path, Id::from(*id))).collect();
        let claims = files.iter().zip(&wanted).map(|((path, own), wanted)| Claim {
            path,
            wanted,
            is_own: own.is_some(),
            held: held.get(path),
        });
        assign(claims.collect()).by_id.into_iter().map(|(id, path)| (id.to_string(), path)).collect()
    }

    fn check(files: &[(&str, Option<&str>)], held: &[(&str, &str)], expected: &[(&str, &str)]) {
        let expected: Vec<(String, String)> =
            expected.iter().map(|(id, path)| ((*id).to_owned(), (*path).to_owned())).collect();
        assert_eq!(ids(files, held), expected);
    }

    const TWO: &str = "agents/two.md";
    const TEAM: &str = "agents/team/two.md";

    #[test]
    fn a_file_in_a_subfolder_has_its_name_or_a_longer_id() {
        check(&[(TEAM, None)], &[], &[("two", TEAM)]);
        check(&[(TEAM, None), (TWO, None)], &[], &[("team-two", TEAM), ("two", TWO)]);
        check(&[(TEAM, None), ("agents/x.md", Some("two"))], &[], &[("team-two", TEAM), ("two", "agents/x.md")]);
        check(
            &[(TEAM, None), ("agents/all/x.md", Some("two"))],
            &[],
            &[("team-two", TEAM), ("two", "agents/all/x.md")],
        );
        check(
            &[("agents/b/two.md", None), ("agents/a/two.md", None)],
            &[],
            &[("b-two", "agents/b/two.md"), ("two", "agents/a/two.md")],
        );
        check(
            &[("agents/a/b/two.md", None), ("agents/b/two.md", None), ("agents/c/b/two.md", None), (TWO, None)],
            &[],
            &[
                ("a-b-two", "agents/a/b/two.md"),
                ("b-two", "agents/b/two.md"),
                ("c-b-two", "agents/c/b/two.md"),
                ("two", TWO),
            ],
        );
    }

    #[test]
    fn an_assigned_id_stays_unless_a_file_that_cannot_yield_asks_for_it() {
        let (a, b) = ("agents/a/two.md", "agents/b/two.md");
        check(&[(a, None), (b, None)], &[(b, "two")], &[("a-two", a), ("two", b)]);
        check(&[(b, None)], &[(b, "b-two")], &[("b-two", b)]);
        check(&[(a, None), (TWO, None)], &[(a, "two")], &[("a-two", a), ("two", TWO)]);
    }

    #[test]
    fn a_longer_id_always_refers_to_its_file() {
        let wanted: Id = "two".into();
        let claim = Claim { path: TEAM, wanted: &wanted, is_own: false, held: None };
        assert_eq!(assign(vec![claim]).longer, BTreeMap::from([("team-two".into(), "two".into())]));
    }

    #[test]
    fn files_without_a_folder_or_with_an_id_of_their_own_do_not_share_it() {
        check(&[("agents/ada.md", None), ("agents/zoe.md", Some("ada"))], &[], &[("ada", "agents/ada.md")]);
    }

    #[test]
    fn when_all_longer_ids_are_taken_they_are_counted() {
        check(
            &[("agents/a/two.md", None), ("agents/x.md", Some("two")), ("agents/y.md", Some("a-two"))],
            &[],
            &[("a-two", "agents/y.md"), ("a-two-2", "agents/a/two.md"), ("two", "agents/x.md")],
        );
    }
}
