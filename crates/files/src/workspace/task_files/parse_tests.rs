//! Parsing task files: each rule of the format with a short file, and no part of a file is lost.

use proptest::prelude::*;

use super::issue::Code;
use super::lint::{LintContext, lint, problems_by_file};
use super::model::{Priority, Status, Task, TaskFile, Value};
use super::parse;
use super::spacing::normalise;

/// The example of the specification, with text that people write between tasks.
pub(super) const PLAN: &str = "# Redis\n\n## TODO\n\n- [x] A @planner-001 #redis \"Plan Redis check workflow\"\n  id: task-001\n  created: 2025-10-04T10:00:00Z\n  \n  - [ ] B @retriever-001 #system \"Detect container runtime\"\n    id: task-002\n    parent: task-001\n    <!-- odd -->\n\n  - [-] C @executor-001 #docker \"Check Redis container status\"\n    id: task-003\n    depends_on: task-002\n    approval_required: true\n\n- [ ] A @evaluator-001 \"Validate Redis check result\"\n  id: task-004\n  depends_on: task-003\n  description: |\n    Details:\n      Command: docker ps\n\n    - [ ] no task\n\n## Notes\n\n- no task\n";

fn one(line: &str) -> Task {
    let file = parse(line);
    assert_eq!(file.tasks.len(), 1, "{line}");
    file.tasks[0].clone()
}

fn field(task: &Task, key: &str) -> Value {
    task.field(key).map_or(Value::Empty, |field| field.value.clone())
}

fn text(text: &str) -> Value {
    Value::Text(text.into())
}

fn codes(text: &str) -> Vec<Code> {
    lint(&parse(text), &LintContext::default()).into_iter().map(|issue| issue.code).collect()
}

#[test]
fn the_example_of_the_specification_is_parsed() {
    let file = parse(PLAN);
    assert_eq!(codes(PLAN), []);
    let told: Vec<_> = file.tasks.iter().map(|task| (task.id.as_str(), task.status, task.depth, task.parent)).collect();
    assert_eq!(
        told,
        [
            ("task-001", Status::Completed, 0, None),
            ("task-002", Status::Open, 1, Some(0)),
            ("task-003", Status::Skipped, 1, Some(0)),
            ("task-004", Status::Open, 0, None),
        ]
    );
    assert_eq!(file.tasks[0].next, 3);
    assert_eq!(field(&file.tasks[2], "approval_required"), Value::Bool(true));
    assert_eq!(field(&file.tasks[3], "description"), text("Details:\n  Command: docker ps\n\n- [ ] no task"));
    assert!(file.tasks[3].dependencies().eq(["task-003"]));
}

#[test]
fn marks_before_the_title_can_be_in_any_order() {
    for line in [
        "- [x] A @ada @bob #one #two \"Do it\"",
        "- @ada x #one A @bob #two \"Do it\"",
        "-   #one #two [x]  @ada @bob A   “Do it”  ",
        "- A @ada @bob #one #two [X] `Do it`",
        "- x A @ada @bob #one #two Do it",
    ] {
        let task = one(line);
        assert_eq!((task.status, task.title.text.as_str()), (Status::Completed, "Do it"), "{line}");
        assert_eq!(task.priority.map(|(priority, _)| priority), Some(Priority::A));
        assert_eq!(task.stakeholders.iter().map(|name| &*name.text).collect::<Vec<_>>(), ["ada", "bob"]);
        assert_eq!(task.tags.iter().map(|name| &*name.text).collect::<Vec<_>>(), ["one", "two"]);
    }
    for (line, status) in [("- [_] a", Status::Open), ("- [ ] a", Status::Open), ("- a", Status::Open)] {
        assert_eq!(one(line).status, status, "{line}");
    }
    for line in ["- [-] a", "- - a"] {
        assert_eq!(one(line).status, Status::Skipped, "{line}");
    }
}

#[test]
fn titles_can_be_quoted_or_unquoted() {
    for (line, title) in [
        (r#"- "a \"b\" \\ c""#, r#"a "b" \ c"#),
        ("- “a “ b \\” c”", "a “ b ” c"),
        ("- `a \\` b`", "a ` b"),
        (r#"- "C:\dir""#, r"C:\dir"),
        ("- Buy milk: and bread", "Buy milk: and bread"),
        ("- Read https://example.org/a at 10:30", "Read https://example.org/a at 10:30"),
        ("- A B side", "B side"),
    ] {
        let title_is = |read: &str| assert_eq!(read, title, "{line}");
        // In an unquoted title, a key with a value ends the title.
        let task = one(line);
        if line.contains("milk") {
            assert_eq!((task.title.text.as_str(), field(&task, "milk")), ("Buy", text("and bread")));
        } else {
            title_is(&task.title.text);
        }
    }
}

#[test]
fn keys_have_typed_values_inline_and_indented() {
    let task = one(
        "- [ ] \"a\" id: 7 due: 2026-01-02 n: -1.5 done: true by: \"two words\" word: 007\n  big: 1234567890123456789\n  said: \"x\" and y\n  quoted: \"12\"\n  path: C:\\new\n",
    );
    for (key, value) in [
        ("id", text("7")),
        ("due", text("2026-01-02")),
        ("n", Value::Number(-1.5, "-1.5".into())),
        ("done", Value::Bool(true)),
        ("by", text("two words")),
        ("word", text("007")),
        ("big", text("1234567890123456789")),
        ("said", text("\"x\" and y")),
        ("quoted", text("12")),
        ("path", text("C:\\new")),
    ] {
        assert_eq!(field(&task, key), value, "{key}");
    }
    assert_eq!(task.id, "7");
    for (line, several) in [("a, b", vec!["a", "b"]), ("[a, \"b\"]", vec!["a", "b"]), ("7", vec!["7"])] {
        let task = one(&format!("- x\n  id: y\n  depends_on: {line}\n"));
        assert!(task.dependencies().eq(several), "{line}");
    }
}

#[test]
fn tasks_are_below_a_todo_heading_or_in_the_whole_file() {
    let ids = |text: &str| parse(text).tasks.iter().map(|task| task.id.clone()).collect::<Vec<_>>();
    assert_eq!(ids("- a\n# Other\n- b\n"), ["a", "b"]);
    assert_eq!(ids("- a\n## todo ##\n- b\n### Sub\n- c\n#tag\n- d\n## Other\n- e\n# To do\n- f\n"), ["b", "c", "d"]);
    assert_eq!(ids("# TODO\n- a\n## Done\n- b\n# Other\n- c\n## TODO\n- d"), ["a", "b", "d"]);
    assert_eq!(ids("- a\n<!--\n- b\n-->\n- c\n```\n- d\n```\n- e\n<!-- open\n- f\n"), ["a", "c", "e", "f"]);
    assert_eq!(ids(""), Vec::<String>::new());
}

#[test]
fn closed_fences_of_any_length_and_indentation_hold_text() {
    let ids = |text: &str| parse(text).tasks.iter().map(|task| task.id.clone()).collect::<Vec<_>>();
    for fenced in [
        "````\n```\n- b\n```\n````",
        "~~~~~ text\n~~~\n- b\n```\n~~~~~~",
        "```js\n- b\n````",
        "   ```\n- b\n```",
        "      ```\n      - b\n      ```",
        "\t```\n\t- b\n\t```",
        "```\n~~~\n- b\n```",
        "```\n\n<!--\n- b\n```",
    ] {
        assert_eq!(ids(&format!("- a\n\nText.\n{fenced}\n- c\n")), ["a", "c"], "{fenced}");
    }
    // Inside of a task, it is part of the task's text.
    for fenced in [
        "  ```\n  - b\n    - d\n  ```",
        "  ~~~~\n  ~~~\n  - b\n  ~~~\n  ~~~~",
        "  note: |\n    ```\n    - b\n    ```",
        "  - ```\n    - b\n    ```\n    id: e",
        "    ````\n    ```\n    - b\n    ````",
    ] {
        let text = format!("- [ ] a\n{fenced}\n  due: 1\n- [ ] c\n");
        let file = parse(text.as_str());
        let outer: Vec<_> = file.tasks.iter().filter(|task| task.depth == 0).map(|task| task.id.as_str()).collect();
        assert_eq!(outer, ["a", "c"], "{fenced}");
        assert!(file.tasks.iter().all(|task| !["b", "d"].contains(&task.id.as_str())), "{fenced}: {:?}", file.tasks);
        assert!(text[file.tasks[0].span.clone()].ends_with("  due: 1\n"), "{fenced}");
    }
    let noted = one("- a\n  note: |\n    ```\n    - b\n    ```\n");
    assert_eq!(field(&noted, "note"), Value::Text("```\n- b\n```".into()));
    // One that is not closed hides nothing, and neither does code within a sentence.
    for open in ["````\n- b\n```", "```\n- b\n~~~", "```one``` two\n- b\n```", "``\n- b\n``", "- a2\n  ```\n- b\n```"] {
        assert!(ids(&format!("- a\n{open}\n- c\n")).contains(&"b".to_owned()), "{open}");
    }
    let nested = parse("- a\n  note: |\n    ```\n  other: |\n    ```\n- c\n");
    assert_eq!(nested.tasks[0].fields.len(), 2, "a block of another key does not close it: {:?}", nested.tasks);
}

#[test]
fn ids_are_derived_from_titles_and_unique() {
    let file = parse("- Fix it\n- fix it!\n- x\n  id: fix-it-2\n- ???\n- ???\n");
    let ids: Vec<&str> = file.tasks.iter().map(|task| task.id.as_str()).collect();
    assert_eq!(ids, ["fix-it", "fix-it-3", "fix-it-2", "task", "task-2"]);
}

#[test]
fn every_mistake_is_reported_with_its_position() {
    for (text, code, line, column) in [
        ("- \"open\n", Code::UnclosedQuote, 1, 3),
        ("- \"a\"\n  by: \"open\n", Code::UnclosedQuote, 2, 7),
        ("- \"a\" by: “open", Code::UnclosedQuote, 1, 11),
        ("- \"ä\" @late\n", Code::MisplacedToken, 1, 7),
        ("- [x] [ ] a\n", Code::MisplacedToken, 1, 7),
        ("- do it #late\n", Code::MisplacedToken, 1, 9),
        ("- [x] A\n", Code::MissingTitle, 1, 8),
        ("- \" \"\n", Code::MissingTitle, 1, 3),
        ("- a\n  due:\n", Code::MissingValue, 2, 3),
        ("- \"a\" due: id: b\n", Code::MissingValue, 1, 12),
        ("- a\n  text: |\n- b\n", Code::MissingValue, 2, 3),
        ("- a\n  due: 1\n  Due: 2\n", Code::DuplicateField, 3, 3),
        ("- a\n   due: 1\n", Code::BadIndentation, 2, 4),
        ("- a\n\tdue: 1\n", Code::BadIndentation, 2, 2),
        ("- a\n    - b\n", Code::BadIndentation, 2, 5),
        ("  - a\n", Code::OrphanChild, 1, 3),
        ("- a\n\ntext\n  - b\n", Code::OrphanChild, 4, 3),
        ("- a\n  id: b\n- b\n  depends_on: c\n", Code::UnknownDependency, 4, 3),
        ("- a\n  depends_on: a\n", Code::DependencyCycle, 2, 3),
        ("- a\n  parent: b\n", Code::ParentMismatch, 2, 3),
        ("- a\n  - b\n    parent: c\n", Code::ParentMismatch, 3, 5),
        ("- a\n<<<<<<< HEAD\n", Code::ConflictMarker, 2, 1),
    ] {
        let file = parse(text);
        let known = LintContext { other_ids: Some(Default::default()), ..LintContext::default() };
        let issues = lint(&file, &known);
        let found: Vec<_> = issues.iter().map(|issue| (issue.code, file.position(issue.at))).collect();
        assert_eq!(found, [(code, (line, column))], "{text}");
    }
    assert_eq!(codes("- a\n  id: s\n- b\n  id: s\n"), [Code::DuplicateId, Code::DuplicateId]);
    assert_eq!(
        codes("- a\n  depends_on: b\n- b\n  depends_on: c\n- c\n  depends_on: a\n- d\n  depends_on: a\n").len(),
        3
    );
    assert_eq!(codes("<<<<<<< a\n- a\n=======\n- b\n>>>>>>> b\n- c\n"), [Code::ConflictMarker; 3]);
}

#[test]
fn what_looks_like_a_task_but_is_not_read_as_meant_is_reported_once() {
    for (text, code, line) in [
        ("- [y] a\n", Code::MistypedStatus, 1),
        ("- [ x ] a\n", Code::MistypedStatus, 1),
        ("- [] a\n", Code::MistypedStatus, 1),
        ("- @human [✓] a\n", Code::MistypedStatus, 1),
        ("- [x] a\n* [ ] b\n", Code::NotRead, 2),
        ("- [x] a\n\n1. [ ] b\n", Code::NotRead, 3),
        ("- [x] a\n\n12) [X] b\n", Code::NotRead, 3),
        ("+ [y] b\n", Code::NotRead, 1),
        ("- [ ]a\n", Code::MistypedStatus, 1),
        ("- [x]done\n", Code::MistypedStatus, 1),
        ("- [✓]done\n", Code::MistypedStatus, 1),
        ("- [X ] a\n", Code::MistypedStatus, 1),
        ("- ［ ］ a\n", Code::MistypedStatus, 1),
        ("- 【x】 a\n", Code::MistypedStatus, 1),
        ("-[ ] a\n", Code::NotRead, 1),
        ("-[x]a\n", Code::NotRead, 1),
        ("-\u{a0}[ ] a\n", Code::NotRead, 1),
        ("*[ ] a\n", Code::NotRead, 1),
        ("* [X ] a\n", Code::NotRead, 1),
        ("* ［x］ a\n", Code::NotRead, 1),
        ("1.[ ] a\n", Code::NotRead, 1),
        ("– [ ] a\n", Code::NotRead, 1),
        ("• [] a\n", Code::NotRead, 1),
        ("[ ] a\n", Code::NotRead, 1),
        ("- a\n\t* [ ] b\n", Code::NotRead, 2),
        ("- a\n-\n", Code::NotRead, 2),
        ("- a\u{0}b\n", Code::ControlCharacter, 1),
        ("- a\n  due: tomorrowish\n", Code::UnreadableDate, 2),
        ("- a\n  due: 2026-13-45\n", Code::UnreadableDate, 2),
        ("- a\n  start: 2026-02-29\n", Code::UnreadableDate, 2),
        ("- \"a\" note: b @lead\n", Code::MisplacedToken, 1),
        ("## TODO\n# --- one ---\n- a\n# --- two ---\n- b\n", Code::NotRead, 3),
        ("# Plan\n## TODO\n\n## Later\n- [ ] b\n", Code::NotRead, 5),
    ] {
        let file = parse(text);
        let issues = lint(&file, &LintContext::default());
        let found: Vec<_> = issues.iter().map(|issue| (issue.code, file.position(issue.at).0)).collect();
        assert_eq!(found, [(code, line)], "{text}");
        assert!(file.tasks.iter().all(|task| !task.has_errors), "{text}: it can still be changed");
    }
    let fixture = format!("# Plan\n## TODO\n# --- a ---\n{}", "- task\n".repeat(18));
    let told = lint(&parse(fixture), &LintContext::default());
    assert!(told[0].what.starts_with("18 bullets below \"# --- a ---\" are not read"), "{told:?}");
    for sound in [
        "- [a link](b) c\n",
        "- [see] a\n",
        "- [x](b) c\n",
        "- [x][1] c\n",
        "* [x](b)\n- a\n",
        "[x]: https://example.com\n- a\n",
        "> See [x] of it.\n- a\n",
        "- a\n\n> ```\n> - [ ] b\n> ```\n",
        "- a\n\n> - [ ] b\n> * [x] c\n",
        "- \"[y] a\"\n",
        "* no task\n1. none either\n- a\n",
        "- a\n  due: 2026-01-31\n",
        "- a\n  due: 2026-01-31T18:00\n  start: 2026-01-31T18:00:09.25Z\n  deadline: 2026-01-31 24:00\n",
        "- a\n  due: 3\n",
        "## TODO\n- a\n## Notes\n- b\n- [ ] c\n€ d\n",
        "---\n- a\n",
    ] {
        assert_eq!(codes(sound), [], "{sound}");
    }
}

#[test]
fn stakeholders_are_checked_if_the_agents_are_known() {
    let known = LintContext {
        stakeholders: Some(["ada".to_owned(), "human".to_owned()].into()),
        other_ids: Some(["far".to_owned()].into()),
    };
    let file = parse("- @Ada @bob @human a\n  depends_on: far, near\n");
    let issues = lint(&file, &known);
    let told: Vec<_> = issues.iter().map(|issue| issue.code).collect();
    assert_eq!(told, [Code::UnknownStakeholder, Code::UnknownDependency]);
    assert!(!file.tasks[0].has_errors);
}

#[test]
fn problems_of_each_file_have_a_position_a_code_and_a_remedy() {
    let texts = [
        ("tasks/approvals.task.md", "- @nobody a\n"),
        ("tasks/far.task.md", "- far\n"),
        ("tasks/plan.task.md", "- @ada a\n  depends_on: far, near\n- \"open\n"),
    ];
    let files = texts.into_iter().map(|(path, text)| (path.to_owned(), parse(text))).collect();
    let found = problems_by_file(&files, ["Ada".to_owned()]);
    let told: Vec<String> = found.values().flatten().map(ToString::to_string).collect();
    assert_eq!(
        told,
        [
            "tasks/plan.task.md:2: it depends on \"near\", but no task has this id (column 3, unknown-dependency) \
             (use the id of an existing task)",
            "tasks/plan.task.md:3: the quote of the title is not closed (column 3, unclosed-quote) (close the quote on \
                the same line, or escape a literal quote with \\)",
        ]
    );
}

#[test]
fn deep_and_long_files_are_parsed() {
    let deep: String = (0..3_000).map(|depth| format!("{}- t{depth}\n", "  ".repeat(depth))).collect();
    assert_eq!(parse(deep).tasks.len(), 3_000);
    let chain: String =
        (0..20_000).map(|n| format!("- t\n  id: t{n}\n  depends_on: t{}\n", (n + 1) % 20_000)).collect();
    assert_eq!(codes(&chain).len(), 20_000);
    let open: String = "<!-- a\n```x\n".repeat(5_000);
    assert_eq!(parse(open).tasks.len(), 0);
}

#[test]
fn only_spacing_is_normalised() {
    let text = "##  TODO\n\n-   [x]   A  @ada\t#t  \"a  b\"   id:   one  \n  due:    1  \n  text: |  \n     kept  \n  note  kept  \n-  \"open";
    let spaced = normalise(&parse(text));
    assert_eq!(
        spaced.text,
        "##  TODO\n\n- [x] A @ada #t \"a  b\" id: one\n  due: 1\n  text: |\n     kept  \n  note  kept  \n-  \"open\n"
    );
    assert_eq!(spaced.lines, [3, 4, 5, 8]);
    assert_eq!(normalise(&parse(spaced.text)).lines, Vec::<usize>::new());
}

/// First lines of tasks, valid and invalid.
const TASK_LINE: &str = "( {0,5})- (\\[x\\] |\\[ \\] |x |- )?(A |B )?(@[a-c]{1,2} )?(#[a-c] )?(\"[a-c\\\\ ]{0,4}\"|[a-c ]{0,5}|`a|“ä”)( [a-c]: ?[a-c\"0-9]{0,2})?\r?\n";

/// Generates task files from pieces in any order, mostly meaningful ones.
pub(super) fn any_file() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        5 => TASK_LINE,
        3 => " {0,5}[a-c]{1,2}: ?[a-z\"`| 0-9ä-]{0,5}(\r?\n)?",
        2 => "[ -~\n\r\tä”]{0,8}",
        1 => Just("## TODO\n".to_owned()),
        1 => Just("\r\n".to_owned()),
        1 => Just("\n".to_owned()),
        1 => Just("# Other\n".to_owned()),
        1 => Just("<!-- x\n".to_owned()),
        1 => Just("-->\n".to_owned()),
        1 => " {0,4}(`{3,4}|~{3,4})\n",
        1 => Just("  key: |\n    text\n".to_owned()),
        1 => Just("  depends_on: a, b\n".to_owned()),
    ];
    proptest::collection::vec(piece, 0..14).prop_map(|pieces| pieces.concat())
}

/// Describes everything in a task, without positions.
pub(super) fn said(file: &TaskFile, task: &Task) -> String {
    let fields: Vec<_> = task.fields.iter().map(|field| (&field.key, &field.value)).collect();
    let names: Vec<_> = task.stakeholders.iter().chain(&task.tags).map(|name| &name.text).collect();
    let priority = task.priority.as_ref().map(|(priority, _)| priority);
    let parent = task.parent.map(|parent| &file.tasks[parent].id);
    format!("{:?}", (&task.id, task.status, priority, names, &task.title.text, fields, parent, task.depth))
}

proptest! {
    #[test]
    fn any_text_is_parsed_and_preserved(text in any_file()) {
        let file = parse(text.as_str());
        prop_assert_eq!(&file.text, &text);
        for task in &file.tasks {
            // Every part is at its recorded position.
            prop_assert!(text.get(task.span.clone()).is_some() && text.get(task.head.clone()).is_some());
            prop_assert!(task.span.start == task.head.start && task.own_end <= task.span.end);
            for field in &task.fields {
                prop_assert!(text[field.span.clone()].contains(field.key.as_str()));
                prop_assert!(field.span.start < field.value_span.start && field.value_span.end <= field.span.end);
            }
        }
        let mut ids: Vec<&str> = file.tasks.iter().filter(|task| !task.has_errors).map(|task| task.id.as_str()).collect();
        ids.sort_unstable();
        prop_assert!(ids.windows(2).all(|pair| pair[0] != pair[1]));
    }

    #[test]
    fn normalising_spacing_keeps_the_meaning_and_is_idempotent(text in any_file()) {
        let file = parse(text.as_str());
        let spaced = normalise(&file);
        let again = parse(spaced.text.as_str());
        prop_assert_eq!(file.tasks.len(), again.tasks.len());
        for (before, after) in file.tasks.iter().zip(&again.tasks).filter(|(before, _)| !before.has_errors) {
            prop_assert_eq!(said(&file, before), said(&again, after));
        }
        prop_assert_eq!(&normalise(&again).text, &spaced.text);
    }
}
