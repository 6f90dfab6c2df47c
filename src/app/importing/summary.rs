//! The summary of an import before it happens.

use std::collections::BTreeMap;

use super::{Item, Kind, MAX_NAMED, Plan};
use crate::base::Problem;

impl Plan {
    /// Whether nothing new would be imported.
    pub fn is_empty(&self) -> bool {
        self.items.iter().all(|item| item.is_there)
    }

    /// The first few files that are left out, and the number of the others.
    pub fn left_out_problems(&self) -> Vec<Problem> {
        let mut named: Vec<Problem> = self.left_out.iter().take(MAX_NAMED).cloned().collect();
        let more = self.left_out.len() - named.len();
        if more > 0 {
            let what = format!("{more} more files were left out");
            named.push(Problem::warning("files", what, "import them separately to see why"));
        }
        named
    }

    /// What would be imported and what not, one line each.
    pub fn summary(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for kind in [Kind::Agent, Kind::Skill, Kind::Rules, Kind::Scene, Kind::File] {
            let items: Vec<&Item> = self.items.iter().filter(|item| item.kind == kind).collect();
            if !items.is_empty() {
                lines.push(incoming_words(kind, &items));
            }
        }
        if lines.is_empty() {
            lines.push("nothing here can be imported".to_owned());
        }
        lines.extend(self.notes.iter().map(|note| format!("note: {note}")));
        if self.items.iter().any(|item| item.kind == Kind::Rules) {
            let example = self.items.iter().find(|item| item.kind == Kind::Rules).map_or("", |item| item.to.as_str());
            lines.push(format!("note: rules apply once a rulebook in a scene shows them: file: {example}"));
        }
        if self.beside > 0 {
            let files = if self.beside == 1 { "1 other file" } else { &*format!("{} other files", self.beside) };
            lines.push(format!("left out: {files}, which define no agent, skill or rule"));
        }
        lines.extend(self.left_out_problems().iter().map(|problem| format!("left out: {problem}")));
        lines
    }
}

fn incoming_words(kind: Kind, items: &[&Item]) -> String {
    let (one, many) = match kind {
        Kind::Agent => ("agent", "agents"),
        Kind::Skill => ("skill", "skills"),
        Kind::Rules => ("rule file", "rule files"),
        Kind::Scene => ("scene", "scenes"),
        Kind::File => ("file", "files"),
    };
    let count = match kind {
        // A skill is a folder of files.
        Kind::Skill => {
            let mut skills: Vec<&str> = items.iter().filter_map(|item| item.to.split('/').nth(1)).collect();
            skills.dedup();
            skills.len()
        }
        _ => items.len(),
    };
    let mut folders: BTreeMap<&str, usize> = BTreeMap::new();
    for item in items {
        let parts = if kind == Kind::Agent { 2 } else { 1 };
        let end = item.to.match_indices('/').map(|(at, _)| at + 1).take(parts).last().unwrap_or(0);
        *folders.entry(&item.to[..end]).or_default() += 1;
    }
    let mut into: Vec<&str> = folders.keys().take(MAX_NAMED).copied().collect();
    if folders.len() > MAX_NAMED {
        into.push("…");
    }
    let there = items.iter().filter(|item| item.is_there).count();
    let there = match there {
        0 => String::new(),
        all if all == items.len() => " (already there)".to_owned(),
        some => format!(" ({some} of the files are there already)"),
    };
    format!("{count} {} into {}{there}", if count == 1 { one } else { many }, into.join(", "))
}
