//! The names of MCP servers' tools for providers: people write `mcp:SERVER:TOOL`, providers accept 64 letters, digits,
//! `_` and `-`. Pure.

use std::collections::BTreeSet;

use crate::base::hash::content_hash;

/// The maximum length of a name at providers.
const MAX_CHARS: usize = 64;

/// The name of a tool for providers: in the usual form of other products if possible, otherwise with a number appended.
/// It depends only on the server and the tool, unless it is already taken.
pub(super) fn on_the_wire(server: &str, tool: &str, key: &str, taken: &BTreeSet<String>) -> String {
    let plain: String = format!("mcp__{server}__{tool}").chars().map(plain).collect();
    let is_exact = plain.len() <= MAX_CHARS && plain == format!("mcp__{server}__{tool}");
    let numbered = |of: &str| {
        let number = format!("_{:08x}", content_hash(of.as_bytes()) as u32);
        let start: String = plain.chars().take(MAX_CHARS - number.len()).collect();
        start + &number
    };
    let exact = is_exact.then_some(plain.clone());
    let names = exact
        .into_iter()
        .chain([numbered(&format!("{server}\n{tool}")), numbered(&format!("{key}\n{tool}"))])
        .chain((0..).map(|again: u32| numbered(&format!("{key}\n{tool}\n{again}"))));
    // Names that differ only in case or in a dash count as equal.
    let folded = |name: &str| name.replace('-', "_").to_ascii_lowercase();
    let is_free = |name: &String| !taken.contains(&folded(name));
    names.into_iter().find(is_free).unwrap_or(plain)
}

/// The form in which taken names are passed to [`on_the_wire`].
pub(super) fn taken(name: &str) -> String {
    name.replace('-', "_").to_ascii_lowercase()
}

fn plain(c: char) -> char {
    if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '_' }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_plain_name_stays_as_other_products_write_it() {
        let none = BTreeSet::new();
        assert_eq!(on_the_wire("git", "status", "git#1", &none), "mcp__git__status");
        let odd = on_the_wire("git", "log.show", "git#1", &none);
        assert!(
            odd.starts_with("mcp__git__log_show_") && odd != on_the_wire("git", "log/show", "git#1", &none),
            "{odd}"
        );
    }

    proptest! {
        #[test]
        fn names_are_valid_and_unique(
            tools in proptest::collection::btree_set(("[a-z.@-]{1,40}", ".{1,60}"), 1..30)
        ) {
            let mut known = BTreeSet::new();
            let mut names = BTreeSet::new();
            for (server, tool) in &tools {
                let name = on_the_wire(server, tool, &format!("{server}#1"), &known);
                prop_assert!(name.len() <= 64 && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte)));
                prop_assert!(known.insert(taken(&name)), "{name} twice");
                names.insert(name);
            }
            prop_assert_eq!(names.len(), tools.len());
        }
    }
}
