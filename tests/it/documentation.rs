//! Checks that the pages about the program lead somewhere: their links, the headings and files that they name, and the
//! names of the code in the pages for those who change it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

use libtest_mimic::Trial;

use crate::cases;

/// Folders whose files the pages name by their whole path.
const SOURCE_FOLDERS: [&str; 5] = ["crates/", "src/", "tests/it/", "benches/", "examples/"];

/// Pages in which each name in code is a name of the code; other pages also show what people and agents write.
const PAGES_ABOUT_CODE: [&str; 3] = ["docs/architecture.md", "docs/extending.md", "docs/testing.md"];

pub fn trials() -> Vec<Trial> {
    cases![
        every_link_leads_to_a_file_and_a_heading,
        every_source_file_that_is_named_exists,
        every_name_of_the_code_exists,
        every_package_has_a_page_that_is_linked,
        every_example_is_linked_and_tested_and_uses_only_what_is_public,
        every_package_of_the_table_is_used_or_said_not_to_be,
        wrong_links_and_names_are_found,
    ]
}

/// A page: its path from the root of the repository, and its text.
struct Page {
    path: String,
    text: String,
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns the names of the entries of a folder, sorted.
fn entries(folder: &str) -> Vec<String> {
    let entries = fs::read_dir(root().join(folder)).unwrap();
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn packages() -> Vec<String> {
    entries("crates").into_iter().map(|name| format!("crates/{name}")).collect()
}

fn pages() -> Vec<Page> {
    let is_page = |name: &String| name.ends_with(".md");
    let top = entries("").into_iter().filter(is_page).filter(|name| name != "CHANGELOG.md");
    let docs = entries("docs").into_iter().filter(is_page).map(|name| format!("docs/{name}"));
    let packages = packages().into_iter().map(|package| format!("{package}/README.md"));
    let paths = top.chain(docs).chain(packages);
    paths.map(|path| Page { text: fs::read_to_string(root().join(&path)).unwrap(), path }).collect()
}

/// Returns the paths of all Rust files, from the root of the repository.
fn rust_files() -> Vec<String> {
    let mut files = vec!["build.rs".to_owned()];
    let tops = ["src", "tests", "benches", "examples"].map(str::to_owned);
    let inside = packages().into_iter().flat_map(|package| {
        ["src", "examples"]
            .map(|folder| format!("{package}/{folder}"))
            .into_iter()
            .filter(|path| root().join(path).is_dir())
    });
    let mut folders: Vec<String> = tops.into_iter().chain(inside).collect();
    while let Some(folder) = folders.pop() {
        for name in entries(&folder) {
            let path = format!("{folder}/{name}");
            if root().join(&path).is_dir() {
                folders.push(path);
            } else if name.ends_with(".rs") {
                files.push(path);
            }
        }
    }
    files
}

/// Returns the lines outside of code blocks.
fn prose(text: &str) -> Vec<&str> {
    let mut fence: Option<&str> = None;
    let mut lines = Vec::new();
    for line in text.lines() {
        let trimmed = line.trim_start();
        let marks = trimmed.len() - trimmed.trim_start_matches('`').len();
        match fence {
            Some(open) if trimmed.starts_with(open) => fence = None,
            Some(_) => {}
            None if marks >= 3 => fence = Some(&trimmed[..marks]),
            None => lines.push(line),
        }
    }
    lines
}

/// Returns the texts in code, and the rest of the text. Code ends with as many backticks as it begins with.
fn code_and_rest(text: &str) -> (Vec<String>, String) {
    let prose = prose(text).join(" ");
    let (mut code, mut rest) = (Vec::new(), String::new());
    let mut left = prose.as_str();
    while let Some((before, after)) = left.split_once('`') {
        rest.push_str(before);
        let body = after.trim_start_matches('`');
        let marks = 1 + after.len() - body.len();
        match end_of_code(body, marks) {
            Some(end) => {
                code.push(body[..end].trim().to_owned());
                left = &body[end + marks..];
            }
            None => left = body,
        }
    }
    rest.push_str(left);
    (code, rest)
}

/// Returns where the next run of exactly this many backticks begins.
fn end_of_code(body: &str, marks: usize) -> Option<usize> {
    let mut at = 0;
    while let Some(found) = body[at..].find('`') {
        let begin = at + found;
        let run = body[begin..].len() - body[begin..].trim_start_matches('`').len();
        if run == marks {
            return Some(begin);
        }
        at = begin + run;
    }
    None
}

/// Returns the targets of the links that are not addresses.
fn links(text: &str) -> Vec<String> {
    let (_, rest) = code_and_rest(text);
    let targets = rest.split("](").skip(1).filter_map(|after| after.split_once(')')).map(|(target, _)| target.trim());
    targets.filter(|target| !target.contains("://") && !target.starts_with("mailto:")).map(str::to_owned).collect()
}

/// Returns the anchors of the headings, as code hosts make them.
fn anchors(text: &str) -> BTreeSet<String> {
    let headings = prose(text).into_iter().filter(|line| line.starts_with('#'));
    let anchor = |line: &str| -> String {
        let heading = line.trim_start_matches('#').trim().to_lowercase();
        let kept = heading.chars().filter(|letter| letter.is_alphanumeric() || [' ', '-', '_'].contains(letter));
        kept.map(|letter| if letter == ' ' { '-' } else { letter }).collect()
    };
    headings.map(anchor).collect()
}

/// Returns the path of a link's target, from the root; `None` if it leads out of the repository.
fn target_path(page: &str, link: &str) -> Option<PathBuf> {
    let mut path = PathBuf::from(page).parent()?.to_owned();
    for part in Path::new(link).components() {
        match part {
            Component::ParentDir if path.pop() => {}
            Component::Normal(name) => path.push(name),
            Component::CurDir => {}
            _ => return None,
        }
    }
    Some(path)
}

fn dead_links(page: &Page) -> Vec<String> {
    let is_dead = |link: &String| {
        let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
        let text = match file {
            "" => Some(page.text.clone()),
            file => {
                let Some(path) = target_path(&page.path, file).map(|path| root().join(path)) else { return true };
                if !path.exists() {
                    return true;
                }
                fs::read_to_string(path).ok()
            }
        };
        !anchor.is_empty() && !text.is_some_and(|text| anchors(&text).contains(anchor))
    };
    links(&page.text).into_iter().filter(is_dead).collect()
}

fn missing_files(page: &Page, files: &[String]) -> Vec<String> {
    let is_path = |code: &str| code.chars().all(|letter| letter.is_ascii_alphanumeric() || "_-./*".contains(letter));
    let is_missing = |code: &String| {
        if !is_path(code) {
            return false;
        }
        // A path that stands for several files is checked up to the folder that they are in.
        let (fixed, stands_for_several) = code.split_once('*').map_or((&**code, false), |(before, _)| (before, true));
        if SOURCE_FOLDERS.iter().any(|folder| code.starts_with(folder)) {
            return !root().join(fixed).exists();
        }
        let ends_like_it =
            |file: &String| file.strip_suffix(&**code).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'));
        code.ends_with(".rs") && !stands_for_several && !files.iter().any(ends_like_it)
    };
    code_and_rest(&page.text).0.into_iter().filter(is_missing).collect()
}

fn unknown_names(page: &Page, known: &BTreeSet<String>) -> Vec<String> {
    let is_name = |code: &str| {
        let mut letters = code.chars();
        letters.next().is_some_and(|first| first.is_ascii_alphabetic())
            && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == '_' || letter == ':')
    };
    let is_unknown = |code: &String| is_name(code) && code.split("::").any(|part| !known.contains(part));
    code_and_rest(&page.text).0.into_iter().filter(is_unknown).collect()
}

/// Returns every word of the code, without comments.
fn words_of_the_code(files: &[String]) -> BTreeSet<String> {
    let texts = files.iter().map(|file| fs::read_to_string(root().join(file)).unwrap());
    let words = |text: String| -> BTreeSet<String> {
        let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        let words = code.flat_map(|line| line.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_'));
        words.map(str::to_owned).collect()
    };
    // Names of packages and features are in the manifest.
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    texts.chain([manifest]).flat_map(words).collect()
}

/// Checks each page, and fails with everything that is wrong.
fn assert_none(what: &str, find: impl Fn(&Page) -> Vec<String>) {
    let pages = pages();
    assert!(pages.len() > 20, "the pages were not found");
    let wrong: Vec<String> =
        pages.iter().flat_map(|page| find(page).into_iter().map(|found| format!("{}: {found}", page.path))).collect();
    assert!(wrong.is_empty(), "{what}:\n{}", wrong.join("\n"));
}

fn every_link_leads_to_a_file_and_a_heading() {
    assert_none("dead links", dead_links);
}

fn every_source_file_that_is_named_exists() {
    let files = rust_files();
    assert_none("files that do not exist", |page| missing_files(page, &files));
}

fn every_name_of_the_code_exists() {
    let known = words_of_the_code(&rust_files());
    assert_none("names that the code does not have", |page| {
        let is_about_code = PAGES_ABOUT_CODE.contains(&&*page.path) || page.path.starts_with("crates/");
        if is_about_code { unknown_names(page, &known) } else { Vec::new() }
    });
}

fn every_package_has_a_page_that_is_linked() {
    let architecture = fs::read_to_string(root().join("docs/architecture.md")).unwrap();
    let linked = links(&architecture);
    for package in packages() {
        assert!(linked.contains(&format!("../{package}/README.md")), "docs/architecture.md does not link {package}");
    }
}

/// An example is what a crate elsewhere would be: it depends on the program as a whole, and no test of the program's own
/// stands for its tests.
fn every_example_is_linked_and_tested_and_uses_only_what_is_public() {
    let extending = fs::read_to_string(root().join("docs/extending.md")).unwrap();
    let linked = links(&extending);
    let together = fs::read_to_string(root().join("examples/tests/main.rs")).unwrap();
    let is_folder = |name: &String| root().join("examples").join(name).is_dir();
    let examples: Vec<String> = entries("examples").into_iter().filter(is_folder).collect();
    assert!(examples.len() > 6, "the examples were not found");
    for example in examples {
        let is_linked = linked.iter().any(|link| link.starts_with(&format!("../examples/{example}/")));
        assert!(is_linked, "docs/extending.md does not link examples/{example}");
        let folder = root().join("examples").join(&example);
        let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
        assert!(manifest.contains("agent-workshop = {"), "examples/{example} does not use the program");
        let inner = manifest.lines().find(|line| line.starts_with("workshop-"));
        assert_eq!(inner, None, "examples/{example} uses a package of the program that is not public");
        let is_tested = together.contains(&format!("\"../{example}/tests.rs\"")) || folder.join("tests").is_dir();
        assert!(is_tested || example == "tests", "examples/{example} has no tests that are run");
    }
}

fn every_package_of_the_table_is_used_or_said_not_to_be() {
    let page = fs::read_to_string(root().join("docs/architecture.md")).unwrap();
    let (_, table) = page.split_once("## Packages that carry the program").expect("the page has the table");
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let rows: Vec<(&str, &str)> =
        table.lines().filter_map(|line| line.strip_prefix("| `")?.split_once("` | ")).collect();
    assert!(rows.len() >= 10, "the table was not found");
    for (package, row) in rows {
        let is_used = manifest.lines().any(|line| line.starts_with(&format!("{package} = ")));
        assert_ne!(is_used, row.starts_with("not used"), "docs/architecture.md is wrong about {package}");
    }
}

/// The checks find what they are for.
fn wrong_links_and_names_are_found() {
    let text = "# One heading, two\n\n[a](#one-heading-two) [b](#two) [c](../README.md) [d](nowhere.md) \
                [e](../../outside.md) [f](https://example.org/x) `[g](gone.md)`\n\n```md\n[h](gone.md)\n# Two\n```\n\n\
                `src/lib.rs` `src/gone.rs` `crates/*/src/` `schedule/inputs.rs` `other/inputs.rs` `gone.rs` `notes.md` \
                `crates/none/x.yaml` ``a ` in `` ` ```md `\n\n`InputQueue::push` `InputQueue::gone_at_once` `NoSuchName` `two words`\n";
    let page = Page { path: "docs/page.md".to_owned(), text: text.to_owned() };
    assert_eq!(dead_links(&page), ["#two", "nowhere.md", "../../outside.md"]);
    let files = rust_files();
    assert_eq!(missing_files(&page, &files), ["src/gone.rs", "other/inputs.rs", "gone.rs", "crates/none/x.yaml"]);
    let known: BTreeSet<String> = ["InputQueue", "push"].map(str::to_owned).into();
    assert_eq!(unknown_names(&page, &known), ["InputQueue::gone_at_once", "NoSuchName"]);
}
