//! The texts of results are those of the design, and stay within their limits.

use super::*;

fn file(operation: FileOperation) -> Work {
    Work::File { operation, excerpt: None }
}

fn write() -> Work {
    file(FileOperation::Write { path: "a".into(), content: String::new() })
}

fn reading(content: &str, excerpt: Option<(usize, Option<usize>)>) -> String {
    let excerpt = excerpt.map(|(first_line, lines)| Excerpt { first_line, lines, as_data: false });
    let work = Work::File { operation: FileOperation::Read { path: "a".into() }, excerpt };
    let answer = FileAnswer::Text { path: "a".into(), content: content.into(), version: 1 };
    files(Some(&work), &Ok(answer))
}

fn paths(paths: &[&str]) -> Vec<String> {
    paths.iter().map(ToString::to_string).collect()
}

#[test]
fn the_agent_with_the_most_similar_name_is_suggested_first() {
    let all: Vec<Id> = (0..40).map(|number| format!("agent-{number}").into()).chain(["writer".into()]).collect();
    let found = suggested_agents("writr", &all, Some("agent-0"));
    assert_eq!(found[..3], ["writer", "agent-1", "agent-2"]);
    assert_eq!(found.len(), 1 + MAX_AGENTS_SUGGESTED);
    assert_eq!(suggested_agents("writr", &all[38..], Some("writer")), ["writer", "agent-38", "agent-39"]);
    assert_eq!(suggested_agents("zzz", &all[39..], None), ["agent-39", "writer"]);
}

#[test]
fn results_are_the_texts_of_the_design() {
    let path = "artifacts/spec.md".to_owned();
    let done = FileResult::Written { path: path.clone(), version: 1, chars: 1247, is_new: true, content: None };
    let changed = FileAnswer::Changed { done, conflict_with: Vec::new() };
    assert_eq!(files(Some(&write()), &Ok(changed.clone())), "Written to 'artifacts/spec.md' (1247 chars)");
    let edit = FileOperation::Edit { path: path.clone(), old: "a".into(), new: "b".into() };
    assert_eq!(files(Some(&file(edit)), &Ok(changed)), "Edited 'artifacts/spec.md' (1247 chars)");
    let done = FileResult::Deleted { path: "memory/old-notes.md".into(), version: 1 };
    let deleted = Ok(FileAnswer::Changed { done, conflict_with: Vec::new() });
    assert_eq!(files(Some(&file(FileOperation::Delete { path })), &deleted), "Deleted 'memory/old-notes.md'");
    let list = |prefix: &str, listed: &[&str], prefixes: &[&str]| {
        let answer = FileAnswer::Listing { paths: paths(listed), more: 0, prefixes: paths(prefixes) };
        files(Some(&file(FileOperation::List { prefix: prefix.into() })), &Ok(answer))
    };
    let both = list("agents/", &["agents/writer.md", "agents/critic.md"], &[]);
    assert_eq!(both, "['agents/writer.md', 'agents/critic.md']");
    assert_eq!(
        list("tests/", &[], &["agents/", "artifacts", "memory/"]),
        "No files match prefix 'tests/'. Existing prefixes: ['agents/', 'artifacts/', 'memory/']"
    );
    let what = "'notes/plan.md' not found. Similar: 'artifacts/plan.md'. Available: ['artifacts/plan.md']";
    let failure = FileFailure { what: what.into(), is_refusal: false };
    assert_eq!(files(Some(&write()), &Err(failure)), format!("Error: {what}"));
}

#[test]
fn starting_and_signalling_say_how_they_went() {
    let path = "agents/researcher.md";
    for (outcome, words) in [
        (
            Spawned::Activated { depth: 3, depth_limit: 5, is_new: true },
            "Created and activated 'researcher.md' (depth 3/5). It reports to you automatically when its work is \
             done; you can end your turn, and you will be activated again with its report.",
        ),
        (
            Spawned::Deferred { why: "token budget reached".into() },
            "Created 'researcher.md', but its activation is deferred: token budget reached.",
        ),
        (Spawned::TooDeep { depth_limit: 5 }, "Error: depth limit 5/5. Do this part yourself."),
        (Spawned::Again, "Error: loop: 'researcher.md' was already given this task in this run."),
    ] {
        let is_done = !words.starts_with("Error");
        let told = spawned(path, &outcome);
        assert_eq!((told.words.as_str(), told.end == CallEnd::Done), (words, is_done));
    }
    let sent = signalled("agents/orchestrator.md", &SignalOutcome::Sent).words;
    assert_eq!(sent, "Message sent to parent 'orchestrator.md'. Re-activating.");
    assert!(signalled("", &SignalOutcome::NoParent).words.starts_with("Error: "));
    let kept = signalled("boss.md", &SignalOutcome::Kept).words;
    assert!(kept.contains("A person stopped 'boss.md'"), "{kept}");
    let full = spawned(path, &Spawned::TooMany { fan_out_limit: 5 }).words;
    assert!(full.starts_with("Error: fan-out limit 5/5: ") && full.contains("yourself"), "{full}");
}

#[test]
fn refusals_say_who_refused_and_why() {
    assert_eq!(
        denied("writing 'x' is not allowed, only a/**."),
        "Error: not allowed: writing 'x' is not allowed, only a/**."
    );
    assert!(refused(None).starts_with("Error: a person refused this."));
    assert!(refused(Some("not\ntoday.")).contains("a person refused this, with this comment: not today. Follow"));
    assert!(denied(&"x".repeat(100_000)).len() < 10_000);
}

#[test]
fn a_file_is_shown_unchanged_and_cut_where_it_is_long() {
    assert_eq!(reading("one\r\ntwo", None), "one\r\ntwo");
    assert_eq!(reading("", None), "[the file is empty]");
    let lines: String = (1..=10_000).map(|number| format!("line {number}\n")).collect();
    let first = reading(&lines, None);
    let next: usize = first.rsplit("from_line ").next().unwrap().trim_end_matches(']').parse().unwrap();
    assert!(first.chars().count() <= MAX_READ_CHARS + 100);
    // Reading from that position shows the rest, without repetition.
    let mut whole = String::new();
    let mut offset = Some(1);
    while let Some(from) = offset {
        let shown = reading(&lines, Some((from, None)));
        let (text, note) = shown.split_once("[… cut").map_or((shown.as_str(), None), |(text, note)| (text, Some(note)));
        whole += text;
        offset = note.map(|note| note.rsplit("from_line ").next().unwrap().trim_end_matches(']').parse().unwrap());
    }
    assert_eq!(whole, lines);
    assert!(first.contains(&format!("line {}\n[… cut, ", next - 1)));
}

#[test]
fn a_range_of_lines_can_be_requested() {
    let text = "a\nb\nc\nd";
    assert_eq!(reading(text, Some((3, None))), "c\nd");
    assert_eq!(reading(text, Some((2, Some(2)))), "b\nc\n[… cut, 1 more characters; continue with from_line 4]");
    assert_eq!(reading(text, Some((4, Some(9)))), "d");
    assert_eq!(reading(text, Some((5, None))), "[the file has 4 lines; there is no line 5]");
    assert_eq!(
        reading(text, Some((usize::MAX, Some(usize::MAX)))),
        format!("[the file has 4 lines; there is no line {}]", usize::MAX)
    );
}

#[test]
fn a_very_long_line_is_truncated_and_the_rest_can_still_be_read() {
    let text = format!("{}\nlast", "ä".repeat(MAX_READ_CHARS + 7));
    let shown = reading(&text, None);
    assert!(shown.contains("[… cut, 8 more characters in this line]"), "{}", &shown[shown.len() - 200..]);
    assert!(shown.ends_with("[… cut, 4 more characters; continue with from_line 2]"));
    assert_eq!(reading(&text, Some((2, None))), "last");
}

#[test]
fn lists_and_matches_are_limited_and_names_stay_on_one_line() {
    let many: Vec<String> = (0..5_000).map(|number| format!("artifacts/file-{number}.md")).collect();
    let answer = FileAnswer::Listing { paths: many, more: 10, prefixes: Vec::new() };
    let listed = files(Some(&file(FileOperation::List { prefix: String::new() })), &Ok(answer));
    let count = listed.matches("artifacts/").count();
    assert!(listed.ends_with(&format!("[… cut, {} more files; list with a longer prefix]", 5_010 - count)));
    assert!(listed.chars().count() < MAX_LIST_CHARS + 100);

    let search = file(FileOperation::Search { text: Some("it's".into()), glob: None });
    let none = FileAnswer::Matches { matches: Vec::new(), more: 0, unsearched: Unsearched::default() };
    assert_eq!(files(Some(&search), &Ok(none)), "Nothing found for 'it\\'s'");
    let found = |line, text: &str| TextMatch { path: "a\nb.md".into(), line, text: text.into() };
    let unsearched = Unsearched::default;
    let matches = vec![found(3, "x\u{2028}y"), found(0, "")];
    let answer = FileAnswer::Matches { matches, more: 2, unsearched: unsearched() };
    assert_eq!(
        files(Some(&search), &Ok(answer)),
        "a b.md:3: x y\na b.md\n[… cut, 2 more; search for something narrower]"
    );
    let long: Vec<_> = (1..2_000).map(|line| found(line, "some text that was found")).collect();
    let answer = files(Some(&search), &Ok(FileAnswer::Matches { matches: long, more: 1, unsearched: unsearched() }));
    let shown = answer.lines().count() - 1;
    assert!(answer.ends_with(&format!("[… cut, {} more; search for something narrower]", 2_000 - shown)));
}

#[test]
fn unchanged_files_are_reported_as_such() {
    let same = FileAnswer::Unchanged { path: "a.md".into(), version: 3 };
    assert_eq!(files(Some(&write()), &Ok(same)), "Unchanged: 'a.md' already has exactly this content");
}

#[test]
fn a_search_reports_what_it_skipped_even_without_matches() {
    let search = file(FileOperation::Search { text: Some("x".into()), glob: None });
    let unsearched = Unsearched {
        too_large: 1,
        not_text: 7,
        unreadable: 0,
        named: paths(&["data/log.txt", "a.png"]),
        has_unknown_folders: true,
    };
    let answer = FileAnswer::Matches { matches: Vec::new(), more: 0, unsearched };
    assert_eq!(
        files(Some(&search), &Ok(answer)),
        "Nothing found for 'x'\n[not searched: 8 files (1 too large; read in parts with from_line, 7 not text): \
         ['data/log.txt', 'a.png'] and 6 more]\n[not searched: folders beyond those that the workspace tracks]"
    );
}

#[test]
fn a_part_of_a_large_file_says_how_to_read_on() {
    let lines = |content: &str, next_line, count, first_line| {
        let operation = FileOperation::ReadLines { path: "a".into(), from_line: first_line, lines: None };
        let excerpt = Some(Excerpt { first_line, lines: None, as_data: false });
        let work = Work::File { operation, excerpt };
        files(Some(&work), &Ok(FileAnswer::Lines { path: "a".into(), content: content.into(), next_line, count }))
    };
    assert_eq!(lines("x\n", Some(8), None, 7), "x\n[… a large file; continue with from_line 8]");
    assert_eq!(lines("x", None, Some(7), 7), "x");
    assert_eq!(lines("", None, Some(7), 9), "[the file has 7 lines; there is no line 9]");
}

#[test]
fn starting_an_unknown_agent_names_similar_ones() {
    let told = spawned("reseacher", &Spawned::Unknown { there: paths(&["researcher", "writer"]) }).words;
    let words = "Error: there is no agent 'reseacher'. Available agents: ['researcher', 'writer']. To create a new one, set 'content'.";
    assert_eq!(told, words);
    assert!(
        spawned("x", &Spawned::Unknown { there: Vec::new() })
            .words
            .starts_with("Error: there is no agent 'x'. To create")
    );
}

#[test]
fn a_failed_external_tool_is_quoted_with_all_its_output() {
    let image = ToolImage { media_type: "image/png".into(), base64: "aGk=".into() };
    let output = ToolOutput {
        text: "no such branch\nthere are two".into(),
        images: vec![image.clone()],
        ..ToolOutput::default()
    };
    let said = error_output(&output, std::slice::from_ref(&image));
    assert!(said.starts_with("Error: no such branch\nthere are two\n[image"), "{said}");
    let data = ToolOutput { data: Some(serde_json::json!({ "code": 7 })), ..ToolOutput::default() };
    assert_eq!(error_output(&data, &[]), r#"Error: {"code":7}"#);
    assert_eq!(error_output(&ToolOutput::default(), &[]), "Error: it failed without giving a reason.");
}

#[test]
fn binary_content_is_replaced_by_its_size() {
    let of = |text: &str| output(&ToolOutput { text: text.into(), ..ToolOutput::default() }, &[]);
    let lossy = String::from_utf8_lossy(&[0x89, 0xff, 0xfe, 0x1a, 1, 2, 3, 0xd8, 0xee, 0xa0]).into_owned();
    for bytes in ["\u{89}PNG\0\0", &lossy] {
        assert_eq!(of(bytes), format!("[{} bytes that are not text]", bytes.len()));
        let answer = format!("200 https://a.org/x\ntype: image/png\n\n{bytes}");
        let size = bytes.len();
        assert_eq!(of(&answer), format!("200 https://a.org/x\ntype: image/png\n\n[{size} bytes that are not text]"));
        assert_eq!(error(bytes), format!("Error: [{size} bytes that are not text]"));
    }
    for text in ["", "rain\tin\r\nUlm", "\u{1b}[1mbold\u{1b}[0m", "one \u{fffd} in a name", "漢字 é 👩\u{200d}🚀"]
    {
        assert_eq!(readable(text), text);
    }
    let huge = of(&"x".repeat(MAX_READ_CHARS + 7));
    assert!(huge.ends_with("\n[… cut, 7 more characters]"), "{}", huge.len());
}
