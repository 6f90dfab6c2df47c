//! Checks that each rule of the product has one home and a test that names it, and that `docs/rules.md` lists them.
//! `WORKSHOP_WRITE_DOCS=1 cargo test --test it rules_reference` writes it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::Path;

use libtest_mimic::Trial;

use crate::cases;
use crate::settings_reference::source_files;

const HEAD: &str = "# Rules

What the program promises, the file that carries out each promise, and the test that keeps it. To find the branch,
search the source for the rule's name: `rule!` stands in it, and `checks_rule!` at the start of the test.
";

const FOOT: &str = "
This page is generated from the code: `WORKSHOP_WRITE_DOCS=1 cargo test --test it rules_reference`.
";

/// The sections of the page: the beginning of the paths of their files, and the heading. The first that fits applies.
const AREAS: [(&str, &str); 13] = [
    ("crates/room/src/simulation/", "What agents do in the room"),
    ("crates/room/", "Agents and elements"),
    ("crates/minds/src/gateway/", "Models, keys, costs and programs"),
    ("crates/minds/", "What agents say and remember"),
    ("crates/knowledge/", "Knowledge"),
    ("crates/work/src/gate/", "What needs approval"),
    ("crates/work/", "Work and working together"),
    ("crates/mdx/", "Heartbeats and agents in folders"),
    ("crates/files/", "Files and trust"),
    ("crates/foundation/src/schedule/", "What leaves the room"),
    ("crates/foundation/", "Names and texts"),
    ("crates/window/", "The window"),
    ("src/", "The program"),
];

/// The file that defines the marks.
const MARKS: &str = "crates/foundation/src/base/rule_marks.rs";

const MARK: &str = "rule!(\"";
const CHECK: &str = "checks_rule!(\"";

pub fn trials() -> Vec<Trial> {
    cases![each_rule_has_one_home_and_a_test, the_rules_reference_matches_the_code]
}

/// A branch that carries out a rule.
struct Home {
    path: String,
    sentence: String,
}

/// A test that checks a rule.
struct Check {
    path: String,
    function: String,
}

/// All marks in the source, by the name of the rule.
#[derive(Default)]
struct Marks {
    homes: BTreeMap<String, Vec<Home>>,
    checks: BTreeMap<String, Vec<Check>>,
    problems: Vec<String>,
}

fn each_rule_has_one_home_and_a_test() {
    let Marks { homes, checks, mut problems } = marks();
    assert!(homes.len() >= 40, "only {} rules were found", homes.len());
    for (rule, homes) in &homes {
        if homes.len() > 1 {
            let paths: Vec<&str> = homes.iter().map(|home| home.path.as_str()).collect();
            problems.push(format!("{rule} has several homes: {}", paths.join(", ")));
        }
        if !checks.contains_key(rule) {
            problems.push(format!("no test checks {rule}"));
        }
        let is_kebab_case = rule.split('-').all(|word| {
            !word.is_empty() && word.chars().all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit())
        });
        if !is_kebab_case {
            problems.push(format!("{rule} is not in kebab-case"));
        }
        for Home { path, sentence } in homes {
            let is_sentence = sentence.starts_with(|first: char| !first.is_lowercase()) && sentence.ends_with('.');
            if !is_sentence || sentence.contains('|') {
                problems.push(format!("{path}: the comment directly above {rule} is not a sentence: {sentence:?}"));
            }
        }
    }
    let unknown = checks.iter().filter(|(rule, _)| !homes.contains_key(*rule));
    problems.extend(unknown.map(|(rule, checks)| format!("{}: there is no rule {rule}", checks[0].path)));
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

fn the_rules_reference_matches_the_code() {
    let generated = reference(&marks());
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/rules.md");
    if std::env::var_os("WORKSHOP_WRITE_DOCS").is_some() {
        fs::write(&path, &generated).expect("the docs folder is writable");
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == generated,
        "docs/rules.md is outdated; run WORKSHOP_WRITE_DOCS=1 cargo test --test it rules_reference"
    );
}

/// The page: a table for each area, in which the rules are sorted by file and name.
fn reference(marks: &Marks) -> String {
    let mut page = HEAD.to_owned();
    for (area, (_, title)) in AREAS.iter().enumerate() {
        let all = marks.homes.iter().flat_map(|(rule, homes)| homes.iter().map(move |home| (&home.path, rule, home)));
        let rows: BTreeSet<(&String, &String, &String)> = all
            .filter(|(path, ..)| AREAS.iter().position(|(start, _)| path.starts_with(start)) == Some(area))
            .map(|(path, rule, home)| (path, rule, &home.sentence))
            .collect();
        if rows.is_empty() {
            continue;
        }
        let _ = write!(page, "\n## {title}\n\n| rule | file | test |\n|---|---|---|\n");
        for (path, rule, sentence) in rows {
            let checks = marks.checks.get(rule).into_iter().flatten();
            let checks: Vec<String> = checks.map(|check| format!("[{}](../{})", check.function, check.path)).collect();
            let _ = writeln!(page, "| {sentence} `{rule}` | [{path}](../{path}) | {} |", checks.join(", "));
        }
    }
    page + FOOT
}

/// Reads all marks in the source.
fn marks() -> Marks {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut marks = Marks::default();
    for file in source_files() {
        let inside = file.strip_prefix(root).expect("the file is in the repository");
        let path = inside.to_string_lossy().replace('\\', "/");
        if path != MARKS {
            read_marks(&path, &fs::read_to_string(&file).expect("the source can be read"), &mut marks);
        }
    }
    marks
}

fn read_marks(path: &str, text: &str, marks: &mut Marks) {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let first_test = lines.windows(2).position(|pair| pair == ["#[cfg(test)]", "mod tests {"]);
    let first_test = if path.ends_with("tests.rs") || path.contains("/tests/") { Some(0) } else { first_test };
    for (at, line) in lines.iter().enumerate().filter(|(_, line)| !line.starts_with("//")) {
        let is_in_test = first_test.is_some_and(|first| at >= first);
        let named = |mark: &str| line.strip_prefix(mark)?.strip_suffix("\");");
        if let Some(rule) = named(MARK).filter(|_| !is_in_test) {
            let home = Home { path: path.to_owned(), sentence: comment_above(&lines[..at]) };
            marks.homes.entry(rule.to_owned()).or_default().push(home);
        } else if let (Some(rule), Some(function)) = (named(CHECK), test_above(&lines[..at])) {
            let check = Check { path: path.to_owned(), function: function.to_owned() };
            marks.checks.entry(rule.to_owned()).or_default().push(check);
        } else if line.contains("rule!(") {
            let what = "rule! stands alone below its sentence and not in a test, checks_rule! at the start of a test";
            marks.problems.push(format!("{path}:{}: {what}", at + 1));
        }
    }
}

/// The comment directly above a mark, as one line.
fn comment_above(lines: &[&str]) -> String {
    let comment: Vec<&str> = lines.iter().rev().map_while(|line| line.strip_prefix("// ")).collect();
    comment.into_iter().rev().collect::<Vec<_>>().join(" ")
}

/// The name of the test at whose start a line is, below other checks at most.
fn test_above<'a>(lines: &[&'a str]) -> Option<&'a str> {
    let first = lines.iter().rposition(|line| !line.starts_with(CHECK))?;
    let name = lines[first].strip_prefix("fn ")?.split('(').next()?;
    (first > 0 && lines[first - 1] == "#[test]").then_some(name)
}
