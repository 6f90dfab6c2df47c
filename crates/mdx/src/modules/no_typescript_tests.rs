//! Tests of modules in a program without TypeScript.

use super::ModuleFolder;
use crate::engine::{EngineLimits, ProgramCache};

#[test]
fn modules_in_a_program_without_typescript_are_problems_of_their_files() {
    let files = [("modules/clock.ts", "export default { setup() {} };"), ("modules/notes.md", "")];
    let folder = ModuleFolder::read(files, |_| None, &ProgramCache::default(), &EngineLimits::default());
    let problems: Vec<_> = folder.problems.iter().map(|found| (&*found.path, found.problem.what.as_str())).collect();
    assert!(folder.entries.is_empty(), "{:?}", folder.entries);
    assert!(
        matches!(problems[..], [("modules/clock.ts", what)] if what.contains("without TypeScript")),
        "{problems:?}"
    );
}
