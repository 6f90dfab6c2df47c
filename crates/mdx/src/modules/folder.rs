//! The files in a folder of modules, with their types removed.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::engine::{EngineLimits, Program, ProgramCache};
use crate::source::{Position, SourceProblem};

/// The files of a folder, ready to run.
#[derive(Clone, Debug, Default)]
pub struct ModuleFolder {
    /// Every file that can be read, by its path in the folder.
    pub programs: Arc<BTreeMap<String, Arc<Program>>>,
    /// The files that are modules, in order.
    pub entries: Vec<String>,
    /// What is wrong with the others.
    pub problems: Vec<ModuleProblem>,
}

/// A problem of a file of the folder.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ModuleProblem {
    /// The path of the file in the folder.
    pub path: String,
    /// What is wrong.
    pub problem: SourceProblem,
}

impl ModuleFolder {
    /// Reads the files, each by its path in the folder with `/` between its parts. Those that are no TypeScript are
    /// none of ours, and neither are declarations of types.
    pub fn read<'a>(
        files: impl IntoIterator<Item = (&'a str, &'a str)>,
        cache: &ProgramCache,
        limits: &EngineLimits,
    ) -> Self {
        let mut programs = BTreeMap::new();
        let mut problems = Vec::new();
        for (path, text) in files.into_iter().filter(|(path, _)| is_code(path)) {
            match cache.program(text, limits.code_bytes) {
                Ok(program) => drop(programs.insert(path.to_owned(), program)),
                Err(error) => {
                    let at = Position { line: error.line.unwrap_or(1), column: 1 };
                    let problem = SourceProblem::error(at, error.what, "fix the TypeScript");
                    problems.push(ModuleProblem { path: path.to_owned(), problem });
                }
            }
        }
        let entries = programs.keys().filter(|path| !path.contains('/')).cloned().collect();
        Self { programs: Arc::new(programs), entries, problems }
    }
}

fn is_code(path: &str) -> bool {
    path.ends_with(".ts") && !path.ends_with(".d.ts") && !path.ends_with(".test.ts")
}
