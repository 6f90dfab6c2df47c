//! The files of a folder that scripts, modules and build files load, directly or through each other: what their texts
//! name is looked up on disk. Sources that a tool finds by itself are all files of their kind in its project.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::code_folder::{CodeFolder, joined, joined_name};
use super::code_references::{CodeReference, Language, included, is_code_name, is_data_name, references};
use super::installed_packages::{self, PACKAGE_FILE, is_installed, scripts_of};
use super::seen_file::{CodeText, SeenFile, TextGap, Unseen, look};
use super::source_kinds::{SourceFolder, SourceKind};
use super::source_tools::sources_started_in;
use crate::base::paths::{file_name, folder_of};

/// Files that a program loads wherever they are.
const LOADED_EVERYWHERE: [&str; 1] = ["conftest.py"];
/// Folders that never hold sources of a project.
const NO_SOURCES: [&str; 3] = [".git", ".workshop", "__pycache__"];

/// The search for what the code of one command loads.
struct LoadedCode<'a> {
    files: &'a CodeFolder,
    /// The folder in which the command runs.
    running_in: &'a str,
    /// The files that the command names, and those that were found.
    visited: BTreeSet<String>,
    loaded: BTreeMap<String, SeenFile>,
    /// Whether there are more files than may be loaded.
    is_full: bool,
    /// The texts in which names are still to be looked for.
    due: VecDeque<DueText>,
    /// The names that were looked up, with the folders and the languages of the files that have them.
    looked_up: BTreeSet<(String, Language, CodeReference)>,
    /// The folders with packages for Python.
    python_folders: Vec<String>,
    runs_python: bool,
    /// Where sources are found that are compiled or run; `None` if they do not matter.
    sources: Option<BTreeSet<SourceFolder>>,
}

/// A text in which names are still to be looked for.
struct DueText {
    path: String,
    text: CodeText,
    /// Whether it is only known as data, so that what is not found in it needs no reason.
    is_data: bool,
}

/// What the files with these texts load, directly or through each other, without the files that the command names; and
/// the sources in these folders and those of tools that these files start, unless sources do not matter. What could not be
/// followed is noted in the folder.
pub(in crate::gateway) fn loaded_by(
    files: &CodeFolder,
    roots: &BTreeMap<String, CodeText>,
    named: &BTreeSet<String>,
    running_in: &str,
    sources: Option<&BTreeSet<SourceFolder>>,
) -> BTreeMap<String, SeenFile> {
    let mut search = LoadedCode {
        files,
        running_in,
        visited: named.clone(),
        loaded: BTreeMap::new(),
        is_full: false,
        due: VecDeque::new(),
        looked_up: BTreeSet::new(),
        python_folders: installed_packages::python_folders(files, running_in),
        runs_python: named.iter().any(|path| is_installed(path)),
        sources: sources.cloned(),
    };
    let everywhere = LOADED_EVERYWHERE.iter().filter(|name| named.iter().any(|path| file_name(path) == **name));
    for path in everywhere.flat_map(|name| files.named(name)) {
        search.add(&path, Found::Loaded);
    }
    for (path, text) in roots {
        // What a compiled program starts is unknown anyway.
        let is_data = text.is_binary || is_data_name(path) && !text.is_script();
        search.note_gap(path, text, is_data);
        search.due.push_back(DueText { path: path.clone(), text: text.clone(), is_data });
    }
    search.add_modules(named);
    search.follow();
    search.add_sources(named);
    if search.runs_python {
        for path in installed_packages::starting_with_python(files, &search.python_folders) {
            search.add(&path, Found::Loaded);
        }
    }
    search.loaded
}

/// How a file was found.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Found {
    /// A text names it.
    Named,
    /// A text loads it, or it is loaded without being named.
    Loaded,
    /// It is a source of a kind.
    Source(SourceKind),
}

impl LoadedCode<'_> {
    /// Looks for names in the texts that are due, until there are no more.
    fn follow(&mut self) {
        while let Some(DueText { path, text, is_data }) = self.due.pop_front() {
            let language = Language::of(&path, &text.text);
            self.runs_python |= language == Language::Python;
            let limits = &self.files.limits;
            let names = references(&path, &text.text, limits.references_of_file);
            if names.is_cut && !is_data {
                let most = limits.references_of_file;
                self.files.gaps.add(format!("{path} has more than {most} names that may be files"));
            }
            for reference in names.found {
                self.look_up(&path, reference, language);
            }
            let is_package = file_name(&path) == PACKAGE_FILE;
            let scripts = if is_package { scripts_of(&text.text) } else { Vec::new() };
            for started in installed_packages::started_by(self.files, &path, &scripts) {
                self.add(&started, Found::Loaded);
            }
            let kinds = match is_package {
                true => sources_started_in("", &scripts.join("\n")),
                false => sources_started_in(&path, &text.text),
            };
            let folders = [folder_of(&path), self.running_in];
            if let Some(sources) = self.sources.as_mut().filter(|_| !text.is_binary) {
                let all = kinds.into_iter().flat_map(|kind| folders.map(|folder| (folder.to_owned(), kind)));
                sources.extend(all.map(|(folder, kind)| SourceFolder { folder, kind }));
            }
        }
    }

    /// Adds the files that a name in the file at this path can mean.
    fn look_up(&mut self, path: &str, reference: CodeReference, language: Language) {
        let folder = folder_of(path);
        let entry = (folder.to_owned(), language, reference);
        if self.looked_up.contains(&entry) {
            return;
        }
        if self.looked_up.len() >= self.files.limits.references {
            self.files.gaps.add(format!("more than {} names would have to be looked up", self.files.limits.references));
            return;
        }
        let reference = &entry.2;
        let how = if reference.is_loaded { Found::Loaded } else { Found::Named };
        for meant in self.meant(reference, folder) {
            self.add(&meant, how);
        }
        let installed = match language {
            Language::JavaScript if reference.is_loaded => installed_packages::of_node(self.files, reference, folder),
            Language::Python if reference.is_loaded => {
                installed_packages::of_python(self.files, &self.python_folders, &reference.paths)
            }
            _ => BTreeSet::new(),
        };
        for path in installed {
            self.add(&path, Found::Loaded);
        }
        self.looked_up.insert(entry);
    }

    /// The files that a name can mean in a file of `folder`.
    fn meant(&self, reference: &CodeReference, folder: &str) -> BTreeSet<String> {
        let bases = BTreeSet::from([folder, self.running_in, ""]);
        let mut found = BTreeSet::new();
        for path in &reference.paths {
            for path in bases.iter().filter_map(|base| joined(base, path)) {
                if path.contains(['*', '?']) {
                    self.extend(&mut found, self.files.matching(&path), reference);
                } else if self.files.has(&path) {
                    found.insert(path);
                }
            }
        }
        if !found.is_empty() || !reference.is_distinct {
            return found;
        }
        // It may be composed of parts, or be searched for in other folders.
        let plain = || reference.paths.iter().filter(|path| !path.contains(['*', '?']));
        for path in plain() {
            let end = format!("/{}", path.trim_start_matches("../"));
            let named = self.files.named(file_name(path)).into_iter().filter(|file| file.ends_with(&end));
            self.extend(&mut found, named.collect(), reference);
        }
        if found.is_empty() {
            for path in plain() {
                self.extend(&mut found, self.files.named(file_name(path)), reference);
            }
        }
        found
    }

    /// Adds the files that one name means, as many as are allowed. More are noted if they can be code.
    fn extend(&self, found: &mut BTreeSet<String>, files: Vec<String>, reference: &CodeReference) {
        let most = self.files.limits.meant;
        let can_be_code = |path: &String| reference.is_loaded || !is_data_name(path);
        if files.iter().skip(most).any(can_be_code) {
            let name = reference.paths.first().map_or("", String::as_str);
            self.files.gaps.add(format!("the name {name:?} means more than {most} files"));
        }
        found.extend(files.into_iter().take(most));
    }

    /// Adds the modules of installed packages that a command names: `python3 -m pkg`.
    fn add_modules(&mut self, named: &BTreeSet<String>) {
        let base = joined_name(self.running_in, "");
        let relative = named.iter().filter(|path| path.ends_with(".py"));
        let relative: Vec<String> =
            relative.filter_map(|path| Some(path.strip_prefix(base.as_str())?.to_owned())).collect();
        for path in installed_packages::of_python(self.files, &self.python_folders, &relative) {
            self.runs_python = true;
            self.add(&path, Found::Loaded);
        }
    }

    /// Adds the sources of the projects in which tools compile or run them, and of those that these projects name.
    fn add_sources(&mut self, named: &BTreeSet<String>) {
        let mut done: BTreeSet<SourceFolder> = BTreeSet::new();
        while let Some(sources) = &self.sources {
            let kinds: BTreeSet<SourceKind> = sources.iter().map(|source| source.kind).collect();
            let mut due: BTreeSet<SourceFolder> = sources
                .iter()
                .map(|source| SourceFolder { folder: self.project_of(source), kind: source.kind })
                .collect();
            for kind in kinds {
                let there = named.iter().filter(|path| self.files.has(path)).chain(self.loaded.keys());
                let projects = there.filter(|path| kind.is_marker(file_name(path)) && !is_installed(path));
                due.extend(projects.map(|path| SourceFolder { folder: folder_of(path).to_owned(), kind }));
            }
            // A folder within another one may be among those that are skipped there, so it is searched itself.
            due.retain(|source| !done.contains(source));
            let Some(source) = due.pop_first() else { return };
            self.add_sources_below(&source);
            done.insert(source);
            self.follow();
        }
    }

    /// The folder of the project that a tool finds from a folder.
    fn project_of(&self, source: &SourceFolder) -> String {
        let folders = std::iter::successors(Some(source.folder.as_str()), |folder| {
            (!folder.is_empty()).then(|| folder_of(folder))
        });
        let is_project = |folder: &&str| {
            let listing = self.files.listing(folder);
            listing.is_some_and(|listing| listing.files.iter().any(|name| source.kind.is_marker(name)))
        };
        let mut projects = folders.filter(is_project);
        let project = if source.kind.is_nearest() { projects.next() } else { projects.last() };
        project.unwrap_or(&source.folder).to_owned()
    }

    fn add_sources_below(&mut self, source: &SourceFolder) {
        let mut due = VecDeque::from([(source.folder.clone(), 0)]);
        let mut visited = BTreeSet::new();
        while let Some((folder, depth)) = due.pop_front() {
            let Some(listing) = self.files.listing(&folder) else { continue };
            let is_project = listing.files.iter().any(|name| source.kind.is_marker(name));
            let paths = listing.files.iter().map(|name| joined_name(&folder, name));
            for path in paths.filter(|path| source.kind.is_source(path)) {
                self.add(&path, Found::Source(source.kind));
            }
            let skipped = |name: &str| NO_SOURCES.contains(&name) || is_project && source.kind.is_output(name);
            let below = listing.folders.iter().map(|name| joined_name(&folder, name));
            let linked = listing.links.iter().filter_map(|name| self.real_path(&joined_name(&folder, name)));
            let below: Vec<String> = below
                .chain(linked)
                .filter(|folder| !skipped(file_name(folder)) && visited.insert(folder.clone()))
                .collect();
            if depth >= self.files.limits.depth && !below.is_empty() {
                self.files.gaps.add(format!("folders of sources are more than {} deep", self.files.limits.depth));
                continue;
            }
            due.extend(below.into_iter().map(|folder| (folder, depth + 1)));
        }
    }

    /// The path in the workspace to which a link leads. A link that leads out of it is noted.
    fn real_path(&self, link: &str) -> Option<String> {
        let root = self.files.root.canonicalize().ok()?;
        let target = self.files.root.join(link).canonicalize().ok()?;
        match target.strip_prefix(&root) {
            Ok(inside) => inside.to_str().filter(|inside| !inside.is_empty()).map(|inside| inside.replace('\\', "/")),
            Err(_) => {
                self.files.gaps.add(format!("{link}: it is a link out of the workspace"));
                None
            }
        }
    }

    fn add(&mut self, path: &str, how: Found) {
        // A file that is only data where one text names it may be loaded by another.
        if self.is_full || self.visited.contains(path) {
            return;
        }
        // A package may be a link to a project of the workspace.
        if is_installed(path)
            && let Some(real) = self.real_path(path).filter(|real| !is_installed(real))
        {
            return self.add(&real, how);
        }
        let (file, text) = match look(&self.files.root, path, &self.files.limits) {
            Ok(seen) => seen,
            Err(Unseen::Missing) => return,
            Err(Unseen::Unreadable(why)) => {
                if how != Found::Named || !is_data_name(path) {
                    self.files.gaps.add(format!("{path}: {why}"));
                }
                return;
            }
        };
        let is_source = self.sources.is_some() && is_compiled(path);
        let is_code = how != Found::Named || is_code_name(path) || is_source || text.is_script();
        if text.is_binary || !is_code {
            return;
        }
        if self.loaded.len() >= self.files.limits.loaded {
            self.files.gaps.add(format!("more than {} files are loaded", self.files.limits.loaded));
            self.is_full = true;
            return;
        }
        self.visited.insert(path.to_owned());
        self.loaded.insert(path.to_owned(), SeenFile { is_loaded: true, ..file });
        if is_installed(path) {
            return;
        }
        self.note_gap(path, &text, false);
        let only_includes = match how {
            Found::Source(kind) => !kind.is_followed() && !kind.is_marker(file_name(path)),
            Found::Named | Found::Loaded => is_compiled(path) && !is_code_name(path),
        };
        if only_includes {
            self.add_included(path, &text);
        } else {
            self.due.push_back(DueText { path: path.to_owned(), text, is_data: false });
        }
    }

    /// Adds what a source of a compiled language includes from elsewhere.
    fn add_included(&mut self, path: &str, text: &CodeText) {
        for reference in included(&text.text) {
            for included in self.meant(&reference, folder_of(path)) {
                self.add(&included, Found::Source(SourceKind::Native));
            }
        }
    }

    /// Notes that a text is not all that its file may load.
    fn note_gap(&self, path: &str, text: &CodeText, is_data: bool) {
        let Some(gap) = text.gap else { return };
        if gap == TextGap::TooLarge || !is_data {
            self.files.gaps.add(format!("{path}: {}", gap.described(&self.files.limits)));
        }
    }
}

/// Whether a name says that the file is a source of a language that build tools compile.
fn is_compiled(path: &str) -> bool {
    SourceKind::Native.is_source(path)
}

#[cfg(test)]
#[path = "loaded_code_tests.rs"]
mod tests;
