//! The modules in an agent's folder, and the files that they import, with their types removed.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use crate::engine::{EngineLimits, Program, ProgramCache, import_candidates, links_of};
use crate::source::{Position, SourceProblem};

/// The folder of modules.
const MODULES: &str = "modules/";

/// Folders whose files are never imported: an agent keeps its own files there, and changes them without approval.
const KEPT_BY_THE_AGENT: [&str; 3] = ["state", "sessions", "logs"];

/// The maximum number of files that are imported from outside of the modules' folder.
const MAX_IMPORTED: usize = 256;

/// The files of a folder, ready to run.
#[derive(Clone, Debug, Default)]
pub struct ModuleFolder {
    /// Every file that can be parsed, by its path in the agent's folder.
    pub programs: Arc<BTreeMap<String, Arc<Program>>>,
    /// The paths of the files that are modules, sorted.
    pub entries: Vec<String>,
    /// The problems of the other files.
    pub problems: Vec<ModuleProblem>,
}

/// A problem of a file of the folder.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ModuleProblem {
    /// The path of the file in the agent's folder.
    pub path: String,
    /// The problem.
    pub problem: SourceProblem,
}

/// Whether modules may import a file, by its path in the agent's folder, with `/` between components.
pub fn may_be_imported(path: &str) -> bool {
    let is_odd = |part: &str| part.is_empty() || part.starts_with('.') || part == "node_modules";
    let (first, _) = path.split_once('/').unwrap_or(("", path));
    is_code(path) && !path.split('/').any(is_odd) && !KEPT_BY_THE_AGENT.contains(&first)
}

impl ModuleFolder {
    /// Parses the files of `modules/`, each by its path in the agent's folder with `/` between components, and the
    /// files that they import from elsewhere in that folder, which `other` reads. Files that are not TypeScript, and
    /// type declarations, are ignored.
    ///
    /// Every file directly in `modules/` is a module, except those without a default export that another file imports:
    /// these are shared by modules.
    pub fn read<'a>(
        files: impl IntoIterator<Item = (&'a str, &'a str)>,
        other: impl Fn(&str) -> Option<String>,
        cache: &ProgramCache,
        limits: &EngineLimits,
    ) -> Self {
        let files = files.into_iter().filter(|(path, _)| is_code(path) && path.starts_with(MODULES));
        let texts: BTreeMap<String, String> = files.map(|(path, text)| (path.to_owned(), text.to_owned())).collect();
        let mut reading = Reading { cache, limits, texts, read: Vec::new(), others: 0 };
        reading.read_all(other);
        let mut folder = Self::default();
        let (mut programs, mut imported, mut shared) = (BTreeMap::new(), BTreeSet::new(), BTreeSet::new());
        for ReadFile { path, program, imports, has_default } in reading.read {
            match program {
                Ok(program) => drop(programs.insert(path.clone(), program)),
                Err(problem) => folder.problems.push(ModuleProblem { path: path.clone(), problem }),
            }
            imported.extend(imports.into_iter().filter(|imported| *imported != path));
            if !has_default {
                shared.insert(path);
            }
        }
        let is_module = |path: &&String| {
            let name = path.strip_prefix(MODULES);
            name.is_some_and(|name| !name.contains('/')) && !(shared.contains(*path) && imported.contains(*path))
        };
        folder.entries = programs.keys().filter(is_module).cloned().collect();
        folder.programs = Arc::new(programs);
        folder.problems.sort_by(|a, b| a.path.cmp(&b.path));
        folder
    }
}

/// A parsed file.
struct ReadFile {
    path: String,
    program: Result<Arc<Program>, SourceProblem>,
    /// The paths of the files that it imports, in the agent's folder.
    imports: Vec<String>,
    has_default: bool,
}

struct Reading<'a> {
    cache: &'a ProgramCache,
    limits: &'a EngineLimits,
    texts: BTreeMap<String, String>,
    read: Vec<ReadFile>,
    others: usize,
}

impl Reading<'_> {
    /// Parses every text, and resolves its imports.
    fn read_all(&mut self, other: impl Fn(&str) -> Option<String>) {
        let mut left: VecDeque<String> = self.texts.keys().cloned().collect();
        while let Some(path) = left.pop_front() {
            let Some(text) = self.texts.get(&path).cloned() else { continue };
            let program = self.cache.program(&text, self.limits.code_bytes).map_err(|error| {
                let at = Position { line: error.line.unwrap_or(1), column: 1 };
                let remedy = error.remedy();
                SourceProblem::error(at, error.what, remedy)
            });
            let links = if program.is_ok() { links_of(&text) } else { Default::default() };
            let mut imports = Vec::new();
            for name in &links.imports {
                let candidates = import_candidates(&path, name);
                let known = candidates.iter().find(|candidate| self.texts.contains_key(*candidate)).cloned();
                let found = known.or_else(|| {
                    let (found, text) = candidates.into_iter().find_map(|candidate| self.other(candidate, &other))?;
                    self.texts.insert(found.clone(), text);
                    left.push_back(found.clone());
                    Some(found)
                });
                imports.extend(found);
            }
            self.read.push(ReadFile { path, program, imports, has_default: links.has_default });
        }
    }

    /// Reads a file elsewhere in the agent's folder.
    fn other(&mut self, path: String, read: impl Fn(&str) -> Option<String>) -> Option<(String, String)> {
        if path.starts_with(MODULES) || !may_be_imported(&path) || self.others >= MAX_IMPORTED {
            return None;
        }
        let text = read(&path)?;
        self.others += 1;
        Some((path, text))
    }
}

/// Whether a file is code that can run: TypeScript other than type declarations and tests.
pub fn is_code(path: &str) -> bool {
    path.ends_with(".ts") && !path.ends_with(".d.ts") && !path.ends_with(".test.ts")
}
