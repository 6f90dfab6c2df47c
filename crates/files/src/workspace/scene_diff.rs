//! Computes the edits that lead from one scene to another, for changes that a person made in a scene file.

use std::collections::HashMap;

use super::decor::Decor;
use super::scene::{AgentEntry, ElementEntry, SceneEdit};
use super::scene_file::SceneDoc;
use crate::base::{Author, Id};

/// Returns the differences in a stable order: elements in file order, removed elements, agents likewise, relationships,
/// decor. Without a previous scene, everything is new. The edits are attributed to the person.
pub fn diff(before: Option<&SceneDoc>, now: &SceneDoc) -> Vec<SceneEdit> {
    let nothing = SceneDoc::default();
    let before = before.unwrap_or(&nothing);
    let mut edits = Vec::new();
    let changes = changes(&before.elements, &now.elements, |entry| &entry.id, |entry| &entry.keys);
    for (now, before) in changes.changed {
        let before = before.map(|entry| ElementEntry { line: None, ..entry.clone() });
        edits.push(SceneEdit::Element { now: now.clone(), before, by: Author::user(), cause: None });
    }
    edits.extend(changes.gone.into_iter().map(|id| SceneEdit::ElementGone { id, by: Author::user(), cause: None }));
    let changes = self::changes(&before.agents, &now.agents, |entry| &entry.id, |entry| &entry.keys);
    for (now, before) in changes.changed {
        let before = before.map(|entry| AgentEntry { line: None, ..entry.clone() });
        edits.push(SceneEdit::Agent { now: now.clone(), before });
    }
    edits.extend(changes.gone.into_iter().map(|id| SceneEdit::AgentGone { id }));
    if before.relationships != now.relationships {
        edits.push(SceneEdit::Relationships(now.relationships.clone()));
    }
    let decor = Decor::all_of(&now.root);
    if decor != Decor::all_of(&before.root) {
        edits.push(SceneEdit::Decor(decor));
    }
    edits
}

struct Changes<'a, T> {
    changed: Vec<(&'a T, Option<&'a T>)>,
    gone: Vec<Id>,
}

/// Compares entries by their keys; the order of entries and keys, comments and style do not matter.
fn changes<'a, T, K: PartialEq>(
    before: &'a [T],
    now: &'a [T],
    id: fn(&T) -> &Id,
    keys: fn(&T) -> &K,
) -> Changes<'a, T> {
    let mut old: HashMap<&Id, &T> = before.iter().map(|entry| (id(entry), entry)).collect();
    let mut changed = Vec::new();
    for entry in now {
        match old.remove(id(entry)) {
            Some(old) if keys(old) == keys(entry) => {}
            old => changed.push((entry, old)),
        }
    }
    let gone = before.iter().map(id).filter(|id| old.contains_key(id)).cloned().collect();
    Changes { changed, gone }
}

#[cfg(test)]
mod tests {
    use super::super::scene_file::parse;
    use super::*;

    fn doc(text: &str) -> SceneDoc {
        parse("s", text).0.expect("it is a scene")
    }

    fn words(edits: &[SceneEdit]) -> Vec<String> {
        let word = |edit: &SceneEdit| match edit {
            SceneEdit::Element { now, before, .. } => format!("element {} {}", now.id, before.is_some()),
            SceneEdit::ElementGone { id, .. } => format!("element {id} gone"),
            SceneEdit::Agent { now, before } => format!("agent {} {}", now.id, before.is_some()),
            SceneEdit::AgentGone { id } => format!("agent {id} gone"),
            SceneEdit::Relationships(list) => format!("{} relationships", list.len()),
            SceneEdit::Decor(list) => format!("{} decor", list.len()),
        };
        edits.iter().map(word).collect()
    }

    const BEFORE: &str =
        "elements: [{id: a, kind: k, text: x}, {id: b, kind: k}]\nagents: [{id: r, profile: p}, {id: q, profile: p}]\n";

    #[test]
    fn everything_is_new_in_a_new_room() {
        assert_eq!(
            words(&diff(None, &doc(BEFORE))),
            ["element a false", "element b false", "agent r false", "agent q false"]
        );
    }

    #[test]
    fn only_what_changed_is_reported() {
        let after = "# note\nagents: [{id: n, profile: p}, {id: q, profile: p}]\nelements:\n- kind: k\n  id: b\n- {id: a, kind: k, text: y}\n\
                     relationships: [{from: n, to: q, label: l}]\ndecor: [{kind: rug, position: [0, 0]}]\n";
        let edits = diff(Some(&doc(BEFORE)), &doc(after));
        assert_eq!(words(&edits), ["element a true", "agent n false", "agent r gone", "1 relationships", "1 decor"]);
        assert_eq!(diff(Some(&doc(after)), &doc(after)), []);
    }
}
