//! Where a script finds packages that are installed in the workspace (`node_modules`, `.venv`): the files with which such
//! a package begins. What these load further is not followed.

use std::collections::BTreeSet;

use serde_json::Value;

use super::code_folder::{CodeFolder, joined, joined_name};
use super::code_references::CodeReference;
use super::seen_file::look;
use crate::base::paths::{file_name, folder_of};

/// The folder with packages for Node.
const NODE_MODULES: &str = "node_modules";
/// The file that says with which file a package for Node begins, and what its scripts are.
pub(in crate::gateway) const PACKAGE_FILE: &str = "package.json";
/// The keys of that file with paths, also below other keys.
const ENTRY_KEYS: [&str; 5] = ["bin", "browser", "exports", "main", "module"];
/// Folders with an environment of Python.
const ENVIRONMENTS: [&str; 2] = [".venv", "venv"];
/// Modules that Python runs when it starts, and the extension of files whose lines it runs.
const STARTING_MODULES: [&str; 2] = ["sitecustomize.py", "usercustomize.py"];
const STARTING_EXTENSION: &str = ".pth";

/// Whether a file is in a folder of installed packages.
pub(in crate::gateway) fn is_installed(path: &str) -> bool {
    let mut folders = folder_of(path).split('/');
    folders.any(|folder| folder == NODE_MODULES || folder == "site-packages" || ENVIRONMENTS.contains(&folder))
}

/// The folders above a path, the nearest first, and the top.
fn folders_above(folder: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(folder), |folder| (!folder.is_empty()).then(|| folder_of(folder)))
}

/// The files with which the packages for Node begin that a reference in a file of `folder` can mean.
pub(super) fn of_node(files: &CodeFolder, reference: &CodeReference, folder: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let is_bare = |path: &&String| !path.starts_with('.') && !path.contains(['*', '?']);
    for path in reference.paths.iter().filter(is_bare) {
        for above in folders_above(folder) {
            let packages = joined_name(above, NODE_MODULES);
            if files.listing(&packages).is_none() {
                continue;
            }
            // The names of packages with an owner begin with a sign that references lack.
            for path in [format!("{packages}/{path}"), format!("{packages}/@{path}")] {
                if files.has(&path) {
                    if file_name(&path) == PACKAGE_FILE {
                        found.extend(entries_of(files, &path));
                    }
                    found.insert(path);
                }
            }
        }
    }
    found
}

/// The files that the `package.json` of an installed package names as its beginnings.
fn entries_of(files: &CodeFolder, path: &str) -> BTreeSet<String> {
    let text = look(&files.root, path, &files.limits).map(|(_, text)| text);
    if let Some(gap) = text.as_ref().ok().and_then(|text| text.gap) {
        files.gaps.add(format!("{path}: {}", gap.described(&files.limits)));
    }
    let package: Value = text.map_or(Value::Null, |text| serde_json::from_str(&text.text).unwrap_or_default());
    let mut named = vec!["index".to_owned()];
    for key in ENTRY_KEYS {
        add_texts(&package[key], &mut named);
    }
    let endings = ["", ".js", ".mjs", ".cjs", "/index.js"];
    let paths = named.iter().filter_map(|named| joined(folder_of(path), named));
    let all = paths.flat_map(|path| endings.map(|ending| format!("{path}{ending}")));
    all.filter(|path| files.has(path)).collect()
}

/// Adds the texts in a value, whose depth its reader limits.
fn add_texts(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::String(text) => texts.push(text.clone()),
        Value::Array(values) => values.iter().for_each(|value| add_texts(value, texts)),
        Value::Object(values) => values.values().for_each(|value| add_texts(value, texts)),
        _ => {}
    }
}

/// The scripts of a `package.json` with this text.
pub(super) fn scripts_of(text: &str) -> Vec<String> {
    let package: Value = serde_json::from_str(text).unwrap_or_default();
    let mut scripts = Vec::new();
    add_texts(&package["scripts"], &mut scripts);
    scripts
}

/// The programs of installed packages that the scripts of a `package.json` start.
pub(super) fn started_by(files: &CodeFolder, path: &str, scripts: &[String]) -> BTreeSet<String> {
    let is_part = |c: char| c.is_alphanumeric() || "_-.".contains(c);
    let words: BTreeSet<&str> = scripts.iter().flat_map(|script| script.split(|c: char| !is_part(c))).collect();
    let words = words.into_iter().filter(|word| word.chars().any(char::is_alphanumeric));
    let mut found = BTreeSet::new();
    for word in words {
        let places = folders_above(folder_of(path)).map(|above| joined_name(above, NODE_MODULES));
        found.extend(places.map(|packages| format!("{packages}/.bin/{word}")).find(|path| files.has(path)));
    }
    found
}

/// The folders with packages for Python that a command in a folder can use.
pub(super) fn python_folders(files: &CodeFolder, running_in: &str) -> Vec<String> {
    let mut found = Vec::new();
    for base in BTreeSet::from(["", running_in]) {
        for environment in ENVIRONMENTS.map(|name| joined_name(base, name)) {
            let windows = format!("{environment}/Lib/site-packages");
            let versions = files.listing(&format!("{environment}/lib"));
            let versions = versions.iter().flat_map(|listing| &listing.folders);
            let places = versions.map(|version| format!("{environment}/lib/{version}/site-packages"));
            found.extend(places.chain([windows]).filter(|place| files.listing(place).is_some()));
        }
    }
    found
}

/// The files of packages for Python that an import, or the module that a command names, can mean.
pub(super) fn of_python(files: &CodeFolder, packages: &[String], paths: &[String]) -> BTreeSet<String> {
    let is_bare = |path: &&String| !path.starts_with('.') && !path.contains(['*', '?']);
    let all = packages.iter().flat_map(|folder| {
        let paths = paths.iter().filter(is_bare);
        paths.map(move |path| format!("{folder}/{path}"))
    });
    all.filter(|path| files.has(path)).collect()
}

/// What Python runs of its packages whenever it starts.
pub(super) fn starting_with_python(files: &CodeFolder, packages: &[String]) -> BTreeSet<String> {
    let starts = |name: &&String| STARTING_MODULES.contains(&name.as_str()) || name.ends_with(STARTING_EXTENSION);
    let mut found = BTreeSet::new();
    for folder in packages {
        let Some(listing) = files.listing(folder) else { continue };
        found.extend(listing.files.iter().filter(starts).map(|name| joined_name(folder, name)));
    }
    found
}
