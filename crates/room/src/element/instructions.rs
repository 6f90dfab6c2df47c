//! Offers to add a rulebook for instruction files of the workspace that no rulebook of the room shows.

use bevy::ecs::prelude::*;

use super::content::Element;
use super::directory::Elements;
use crate::base::Problem;
use crate::workspace::layout::INSTRUCTIONS;
use crate::workspace::{FileChanged, KnownFiles, ProblemReport};

/// The source of these problems.
const SOURCE: &str = "instructions";

/// Reports instruction files that agents do not see, whenever elements or files change.
pub(super) fn report_unshown(
    directory: Res<Elements>,
    elements: Query<&Element>,
    files: Option<Res<KnownFiles>>,
    mut changed: MessageReader<FileChanged>,
    mut reports: MessageWriter<ProblemReport>,
    mut told: Local<Option<&'static str>>,
) {
    let concerns_them = changed.read().any(|change| INSTRUCTIONS.contains(&change.path.as_str()));
    if !(directory.is_changed() || concerns_them) {
        return;
    }
    let is_there = |name: &&str| files.as_ref().is_some_and(|files| files.text(name).is_some());
    let is_shown =
        elements.iter().any(|element| element.file.as_deref().is_some_and(|file| INSTRUCTIONS.contains(&file)));
    let unshown = INSTRUCTIONS.into_iter().find(is_there).filter(|_| !is_shown);
    if *told != unshown {
        *told = unshown;
        reports
            .write(ProblemReport { source: SOURCE.to_owned(), problems: unshown.map(problem).into_iter().collect() });
    }
}

fn problem(name: &str) -> Problem {
    let remedy = format!(
        "to make agents follow it, choose \"Add to the room as a rulebook\" for it in the files, or add to the elements \
         of the scene: - {{ id: instructions, kind: rulebook, position: [0, 260], file: {name} }}"
    );
    Problem::warning(name, "no rulebook of this room shows it, so agents do not know it", remedy)
}
