//! Queries: valid and invalid ones, their results compared with a naive evaluation, and sort orders.

use proptest::prelude::*;

use super::ast::{Column, Comparison, Condition, Literal, Query};
use super::evaluate::{Row, Source, rows, select};
use super::execute::{OrderError, delete, insert, update};
use super::like::Pattern;
use super::{parse, show};
use crate::workspace::task_files;
use crate::workspace::task_files::edit::EditError;
use crate::workspace::task_files::model::{Task, Value};
use crate::workspace::task_files::parse_tests::PLAN;

fn plan() -> Vec<Source> {
    vec![Source { path: "tasks/plan.task.md".into(), file: task_files::parse(PLAN) }]
}

fn found(sources: &[Source], query: &str) -> Vec<Row> {
    match parse(query).unwrap_or_else(|error| panic!("{query}: {error}")) {
        Query::Select(query) => select(sources, &query),
        _ => panic!("{query} is no SELECT"),
    }
}

fn ids(filter: &str) -> String {
    let sources = plan();
    let rows = found(&sources, &format!("SELECT * FROM tasks/plan.task.md {filter}"));
    rows.iter().map(|row| &sources[0].file.tasks[row.task].id[7..]).collect()
}

#[test]
fn tasks_are_found_by_their_properties() {
    for (filter, found) in [
        ("", "1234"),
        ("WHERE status = open", "24"),
        ("where STATUS!='completed'", "234"),
        ("WHERE status IN (done, skipped)", "13"),
        ("WHERE NOT status = 'open' AND depth>0", "3"),
        ("WHERE priority <= B", "124"),
        ("WHERE priority='a' ORDER BY line DESC", "41"),
        ("WHERE tags = '#docker' OR tags CONTAINS redis", "13"),
        ("WHERE stakeholders CONTAINS '@planner-001'", "1"),
        ("WHERE title LIKE '%redis%'", "134"),
        ("WHERE title LIKE \"check ____s%\"", "3"),
        ("WHERE title CONTAINS 'DETECT'", "2"),
        ("WHERE parent IS NULL", "14"),
        ("WHERE parent = task-001", "23"),
        ("WHERE depends_on IS NOT NULL", "34"),
        ("WHERE approval_required = true", "3"),
        ("WHERE approval_required != true", ""),
        ("WHERE NOT approval_required = true", "124"),
        ("WHERE approval_required IS NULL OR approval_required != true", "124"),
        ("WHERE created < '2026' AND created IS NOT NULL", "1"),
        ("WHERE created > 2024", "1"),
        ("WHERE (id='task-001' OR id='task-002') AND NOT (status=open)", "1"),
        ("WHERE id = task-001 OR id = task-002 AND status = skipped", "1"),
        ("WHERE id NOT IN ('task-001')LIMIT 2;", "23"),
        ("ORDER BY priority DESC, id DESC LIMIT 3", "324"),
        ("ORDER BY created", "1234"),
        ("WHERE nothing > 0 OR nothing <= 0 OR nothing = 'x'", ""),
    ] {
        assert_eq!(ids(filter), found, "{filter}");
    }
}

#[test]
fn quotes_are_doubled_or_escaped() {
    for (value, text) in [
        ("'it''s'", "it's"),
        (r"'it\'s'", "it's"),
        (r#""say ""x""""#, "say \"x\""),
        (r"'a\\b'", r"a\b"),
        (r"'a\%b'", r"a\%b"),
        ("'two\nlines'", "two\nlines"),
        ("'ä “b”'", "ä “b”"),
    ] {
        let query = parse(&format!("SELECT id FROM a.task.md WHERE title={value}")).expect("it is understood");
        let Query::Select(query) = query else { panic!("it is a SELECT") };
        let wanted = Condition::Compare(Column::Title, Comparison::Equal, Literal::Text(text.into()));
        assert_eq!(query.filter, Some(wanted), "{value}");
    }
    assert!(Pattern::new(r"100\%").matches("100%") && !Pattern::new(r"100\%").matches("100x"));
}

#[test]
fn parse_errors_have_a_position() {
    for (query, column, what) in [
        ("", 1, "expected SELECT, UPDATE, DELETE or INSERT"),
        ("SELEC * FROM a", 1, "expected SELECT"),
        ("SELECT FROM a", 8, "expected the name of a key"),
        ("SELECT * FORM a", 10, "expected FROM"),
        ("SELECT * FROM WHERE a = 1", 15, "expected a file"),
        ("SELECT * FROM a WHERE", 22, "expected the name of a key"),
        ("SELECT * FROM a WHERE id", 25, "expected = !="),
        ("SELECT * FROM a WHERE id == 1", 27, "expected a value"),
        ("SELECT * FROM a WHERE id = 'x", 28, "the quote is not closed"),
        ("SELECT * FROM a WHERE id = x OR", 32, "expected the name of a key"),
        ("SELECT * FROM a WHERE (id = x", 30, "expected AND, OR or a closing bracket"),
        ("SELECT * FROM a WHERE id = x)", 29, "expected WHERE, ORDER BY"),
        ("SELECT * FROM a WHERE id = x y", 30, "expected WHERE, ORDER BY"),
        ("SELECT * FROM a WHERE id = NULL", 26, "IS NULL"),
        ("SELECT * FROM a WHERE id IN x", 29, "expected a list in brackets"),
        ("SELECT * FROM a WHERE status = doing", 32, "a status is open, completed or skipped"),
        ("SELECT * FROM a WHERE priority = E", 34, "a priority is A, B, C or D"),
        ("SELECT * FROM a ORDER id", 23, "expected BY"),
        ("SELECT * FROM a LIMIT few", 23, "expected a number"),
        ("SELECT * FROM a LIMIT 1 WHERE id = x", 25, "in this order"),
        ("UPDATE a WHERE id = x", 10, "expected SET"),
        ("UPDATE a SET status = done WHER id = x", 28, "expected a comma, WHERE or the end"),
        ("UPDATE a SET line = 1", 14, "cannot be set"),
        ("UPDATE a SET parent = x", 14, "move the task"),
        ("UPDATE a SET x = 1, x = 2", 21, "set twice"),
        ("UPDATE a SET tags = 'a!b'", 21, "is not a valid name"),
        ("DELETE a WHERE id = x", 8, "expected FROM"),
        ("INSERT INTO a SET id = x", 18, "a task needs a title"),
        ("SELECT * FROM a;\nDROP", 1, "expected WHERE"),
    ] {
        let error = parse(query).expect_err(query);
        assert!(error.what.contains(what), "{query}: {error}");
        assert_eq!(error.column, column, "{error}");
    }
    let deep = format!("SELECT * FROM a WHERE {}id = x", "(NOT ".repeat(10_000));
    assert!(parse(&deep).expect_err("it is too deep").what.contains("are nested more than"));
    let told = parse("SELECT *\nFORM a").expect_err("it is not understood").to_string();
    assert_eq!(told, "expected FROM\n  FORM a\n  ^");
}

#[test]
fn changing_queries_only_change_matching_tasks() {
    let sources = plan();
    let changed = |query: &str| match parse(query).expect("it is understood") {
        Query::Update(query) => update(&sources, &query),
        Query::Delete(query) => delete(&sources, &query, false),
        Query::Insert(query) => insert(&sources[0], &query),
        Query::Select(_) => panic!("{query} is no order"),
    };
    let text = |query: &str| changed(query).expect("it can be done").texts.pop().map(|(_, text)| text);
    assert_eq!(
        text("UPDATE p SET status = x, note = 'a b' WHERE id = task-004").expect("it changes"),
        PLAN.replace("- [ ] A @eval", "- [x] A @eval").replace("\n\n## Notes", "\n  note: a b\n\n## Notes")
    );
    assert_eq!(text("UPDATE p SET status = open WHERE status = open"), None);
    assert_eq!(text("UPDATE p SET status = open WHERE id = nobody"), None);
    let without = text("DELETE FROM p WHERE status = skipped").expect("it changes");
    assert_eq!(without, PLAN.replace(&PLAN[sources[0].file.tasks[2].span.clone()], ""));
    let added =
        text("INSERT INTO p SET title = 'New', parent = task-001, tags = ('a', '#b'), n = 3").expect("it changes");
    let lines = "    approval_required: true\n  - [ ] #a #b \"New\"\n    id: new\n    n: 3\n\n";
    assert_eq!(added, PLAN.replace("    approval_required: true\n\n", lines));
    let error = changed("INSERT INTO p SET title = 'New', parent = nobody").expect_err("there is no such parent");
    assert!(matches!(error, OrderError::NoParent { .. }));
    let error = changed("DELETE FROM p WHERE id = task-001").expect_err("it has children");
    assert!(matches!(error, OrderError::Edit { error: EditError::HasChildren { .. }, .. }));
    let error = changed("UPDATE p SET id = same").expect_err("ids are distinct");
    assert!(matches!(error, OrderError::Edit { error: EditError::IdTaken(_), .. }));
}

#[test]
fn a_task_with_an_error_is_refused_and_the_others_are_changed() {
    let sources = [Source { path: "p".into(), file: task_files::parse("- \"a\n- b\n  id: b\n") }];
    let Ok(Query::Update(query)) = parse("UPDATE p SET status = done") else { panic!("it is an UPDATE") };
    let changes = update(&sources, &query).expect("it can be done");
    assert_eq!(changes.texts, [(0, "- \"a\n- [x] b\n  id: b\n".to_owned())]);
    assert_eq!((changes.done.len(), changes.refused.len()), (1, 1));
}

#[test]
fn results_are_printed_in_three_formats() {
    let sources = plan();
    let rows = found(&sources, "SELECT * FROM p WHERE tags IS NOT NULL AND depth = 1");
    let chosen = [Column::Id, Column::Status, Column::Tags, Column::Field("approval_required".into())];
    let table = "id        status   tags    approval_required\n--------  -------  ------  -----------------\n\
                 task-002  open     system\ntask-003  skipped  docker  true";
    assert_eq!(show::table(&sources, &rows, Some(&chosen)), table);
    let json = r#"[{"id":"task-002","status":"open","tags":["system"],"approval_required":null},{"id":"task-003","status":"skipped","tags":["docker"],"approval_required":true}]"#;
    assert_eq!(show::json(&sources, &rows, Some(&chosen)).to_string(), json);
    let markdown = "- [ ] #system \"Detect container runtime\"\n  id: task-002\n- [-] #docker \"Check Redis container status\"\n  id: task-003\n  approval_required: true\n";
    assert_eq!(show::markdown(&sources, &rows, Some(&chosen)), markdown);
    let all = show::json(&sources, &rows[..1], None).to_string();
    assert!(
        all.contains(r#""file":"tasks/plan.task.md","line":9,"#) && all.contains(r#""parent":"task-001""#),
        "{all}"
    );
    assert!(task_files::parse(show::markdown(&sources, &rows, None)).issues.is_empty());
}

/// Generates a condition and its text.
fn any_condition() -> impl Strategy<Value = (String, Condition)> {
    let column = prop_oneof![
        Just(Column::Id),
        Just(Column::Title),
        Just(Column::Tags),
        Just(Column::Field("n".into())),
        Just(Column::Field("word".into())),
    ];
    let literal = prop_oneof![
        "[a-c' ]{0,2}".prop_map(|text| (format!("'{}'", text.replace('\'', "''")), Literal::Text(text))),
        (-2i32..3).prop_map(|n| (n.to_string(), Literal::Number(f64::from(n), n.to_string()))),
        any::<bool>().prop_map(|value| (value.to_string(), Literal::Bool(value))),
    ];
    let comparison = prop_oneof![
        Just(("=", Comparison::Equal)),
        Just((" != ", Comparison::NotEqual)),
        Just((">", Comparison::Greater)),
        Just(("< ", Comparison::Less)),
        Just((">=", Comparison::GreaterOrEqual)),
        Just((" <=", Comparison::LessOrEqual)),
    ];
    let compare =
        (column.clone(), comparison, literal.clone()).prop_map(|(column, (sign, comparison), (text, literal))| {
            let literal = if column == Column::Tags { Literal::Text(literal.text().to_owned()) } else { literal };
            (format!("{}{sign}{text}", column.name()), Condition::Compare(column, comparison, literal))
        });
    let is_null = column.clone().prop_map(|column| (format!("{} is null", column.name()), Condition::IsNull(column)));
    let contains = (column.clone(), "[a-c]{0,2}")
        .prop_map(|(column, part)| (format!("{} Contains '{part}'", column.name()), Condition::Contains(column, part)));
    let like = (column, "[a-c%_]{0,3}").prop_map(|(column, pattern)| {
        (format!("{} LIKE '{pattern}'", column.name()), Condition::Like(column, Pattern::new(&pattern)))
    });
    let leaf = prop_oneof![compare, is_null, contains, like];
    leaf.prop_recursive(4, 12, 3, |inner| {
        let parts = proptest::collection::vec(inner.clone(), 2..4);
        let joined = |parts: Vec<(String, Condition)>, word: &str| {
            let (texts, conditions): (Vec<String>, Vec<Condition>) =
                parts.into_iter().map(|(text, one)| (format!("({text})"), one)).unzip();
            (texts.join(word), conditions)
        };
        prop_oneof![
            parts.clone().prop_map(move |parts| {
                let (text, conditions) = joined(parts, " and ");
                (text, Condition::And(conditions))
            }),
            parts.prop_map(move |parts| {
                let (text, conditions) = joined(parts, "OR");
                (text, Condition::Or(conditions))
            }),
            inner.prop_map(|(text, one)| (format!("NOT({text})"), Condition::Not(Box::new(one)))),
        ]
    })
}

/// Returns the values of a task in a column as texts; empty if it has none.
fn plainly(task: &Task, column: &Column) -> Vec<String> {
    match column {
        Column::Id => vec![task.id.clone()],
        Column::Title => vec![task.title.text.clone()],
        Column::Tags => task.tags.iter().map(|tag| tag.text.to_string()).collect(),
        Column::Field(key) => match task.fields.iter().find(|field| field.key == *key).map(|field| &field.value) {
            None | Some(Value::Empty) => vec![],
            Some(value) => vec![value.text().to_owned()],
        },
        other => panic!("{other:?} is not asked for here"),
    }
}

/// Evaluates a condition naively.
fn holds_plainly(condition: &Condition, task: &Task) -> bool {
    let is_field = |column: &Column| matches!(column, Column::Field(_));
    match condition {
        Condition::And(parts) => !parts.iter().any(|part| !holds_plainly(part, task)),
        Condition::Or(parts) => parts.iter().filter(|part| holds_plainly(part, task)).count() > 0,
        Condition::Not(part) => !holds_plainly(part, task),
        Condition::IsNull(column) => plainly(task, column).is_empty(),
        Condition::Contains(Column::Tags, part) => plainly(task, &Column::Tags).contains(part),
        Condition::Contains(column, part) => plainly(task, column).iter().any(|text| text.contains(part.as_str())),
        Condition::Like(column, pattern) => plainly(task, column).iter().any(|text| pattern.matches(text)),
        Condition::Compare(column, comparison, literal) => {
            let texts = plainly(task, column);
            let equal = texts.iter().any(|text| text == literal.text());
            let number = |text: &str| text.parse::<f64>().ok();
            let in_order = |meant: fn(std::cmp::Ordering) -> bool| {
                texts.iter().any(|text| match (literal, number(text)) {
                    (Literal::Bool(_), _) => false,
                    (_, _) if is_field(column) && (text == "true" || text == "false") => false,
                    (Literal::Number(other, _), Some(one)) => one.partial_cmp(other).is_some_and(meant),
                    (Literal::Text(other), Some(one)) if is_field(column) => {
                        number(other).and_then(|other| one.partial_cmp(&other)).is_some_and(meant)
                    }
                    (literal, _) => meant(text.as_str().cmp(literal.text())),
                })
            };
            match comparison {
                Comparison::Equal => equal,
                Comparison::NotEqual => !texts.is_empty() && !equal,
                Comparison::Greater => in_order(std::cmp::Ordering::is_gt),
                Comparison::Less => in_order(std::cmp::Ordering::is_lt),
                Comparison::GreaterOrEqual => in_order(std::cmp::Ordering::is_ge),
                Comparison::LessOrEqual => in_order(std::cmp::Ordering::is_le),
            }
        }
        Condition::In(..) => panic!("IN is not asked for here"),
    }
}

proptest! {
    #[test]
    fn a_query_agrees_with_a_naive_evaluation(
        tasks in proptest::collection::vec(("[a-c]{1,2}", "[a-c]?", "(|-?[12]|0|true|[a-c]{1,2})", "(|[a-c]{1,2})"), 1..6),
        (words, condition) in any_condition(),
    ) {
        let text: String = tasks.iter().map(|(title, tag, number, word)| {
            let tag = if tag.is_empty() { String::new() } else { format!("#{tag} ") };
            format!("- {tag}\"{title}\"\n  n: {number}\n  word: {word}\n")
        }).collect();
        let sources = [Source { path: "p".into(), file: task_files::parse(text) }];
        let query = parse(&format!("SELECT * FROM p WHERE {words}"));
        let Ok(Query::Select(query)) = query else { return Err(TestCaseError::fail(format!("{words}: {query:?}"))) };
        prop_assert_eq!(query.filter.as_ref(), Some(&condition), "{}", words);
        let found: Vec<usize> = rows(&sources, Some(&condition)).iter().map(|row| row.task).collect();
        let all = sources[0].file.tasks.iter().enumerate();
        let plain: Vec<usize> = all.filter(|(_, task)| holds_plainly(&condition, task)).map(|(at, _)| at).collect();
        prop_assert_eq!(found, plain, "{}", words);
    }

    #[test]
    fn any_text_is_parsed_or_refused(text in "(SELECT|UPDATE|DELETE|INSERT)?[ -~ä'\n]{0,40}") {
        if let Err(error) = parse(&text) {
            prop_assert!(!error.what.is_empty() && error.column >= 1);
        }
    }
}
