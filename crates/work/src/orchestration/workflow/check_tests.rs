//! Problems that depend on the other files of the workspace.

use super::super::format::read;
use super::*;

fn problems_among(path: &str, texts: &[(&str, &str)]) -> Vec<String> {
    let agents: BTreeSet<Id> = ["a", "b", "writer"].into_iter().map(Id::from).collect();
    let read = |(path, text): &(&str, &str)| ((*path).to_owned(), read(path, text));
    let workflows: BTreeMap<String, WorkflowFile> = texts.iter().map(read).collect();
    let there = WorkflowContext { agents: Some(&agents), workflows: &workflows };
    let problems = check(&workflows[path].workflow, there);
    let is_whole = |problem: &Problem| problem.place == path && problem.line.is_some() && !problem.remedy.is_empty();
    assert!(problems.iter().all(is_whole), "each with file, line and remedy: {problems:?}");
    problems.iter().map(ToString::to_string).collect()
}

fn problems_of_steps(steps: &str) -> Vec<String> {
    let text = format!("---\nsteps:\n{steps}---\n");
    problems_among("workflows/a.md", &[("workflows/a.md", &text)])
}

#[test]
fn a_valid_workflow_has_no_problems() {
    let steps = "  - { id: x, agent: a, prompt: go, outputs: [out] }\n  - { id: y, agent: agents/writer.md, prompt: \"{x.out}\", depends_on: [x] }\n";
    assert_eq!(problems_of_steps(steps), [] as [&str; 0]);
    let repeated = "  - { id: x, agent: a, prompt: \"{y.notes} {round}\", outputs: [out], repeat_until: \"{y.ok} at most 2\" }\n  - { id: y, agent: b, prompt: \"{x.out}\", depends_on: [x], outputs: [ok, notes] }\n";
    assert_eq!(problems_of_steps(repeated), [] as [&str; 0]);
}

#[test]
fn every_mistake_is_reported_with_its_line_and_what_to_do() {
    for (steps, line, part) in [
        ("  - { id: x, agent: c, prompt: go }\n", 3, "there is no agent \"c\""),
        ("  - { id: x, agent: writr, prompt: go }\n", 3, "did you mean \"writer\"?"),
        ("  - { id: x, agent: a, prompt: go, depends_on: [y] }\n", 3, "\"y\", which is not a step"),
        ("  - { id: x, agent: a, prompt: \"{y.out}\" }\n", 3, "there is no step \"y\""),
        (
            "  - { id: x, agent: a, prompt: go, outputs: [find] }\n  - { id: y, agent: a, prompt: \"{x.finds}\", depends_on: [x] }\n",
            4,
            "did you mean {x.find}?",
        ),
        (
            "  - { id: x, agent: a, prompt: go, outputs: [out] }\n  - { id: y, agent: a, prompt: \"{x.out}\" }\n",
            4,
            "add x to its depends_on:",
        ),
        (
            "  - { id: x, agent: a, prompt: go, depends_on: [z] }\n  - { id: y, agent: a, prompt: go, depends_on: [x] }\n  - { id: z, agent: a, prompt: go, depends_on: [y] }\n",
            3,
            "in a circle: ",
        ),
        ("  - { id: x, agent: a, prompt: \"{item}\" }\n", 3, "but has no for_each:"),
        ("  - { id: x, person: form, prompt: go }\n", 3, "a form without fields"),
        ("  - { id: x, person: approval, prompt: go, outputs: [colour] }\n", 3, "which an approval does not have"),
        (
            "  - { id: x, agent: a, prompt: go, outputs: [out], repeat_until: \"{y.out} at most 2\" }\n  - { id: y, agent: a, prompt: go, outputs: [out] }\n",
            3,
            "which does not come after it",
        ),
        ("  - { id: x, agent: a, prompt: go, repeat_until: \"yes at most 2\" }\n", 3, "does not depend on a step"),
        (
            "  - { id: x, agent: a, prompt: go, outputs: [out, more] }\n  - { id: y, agent: a, prompt: \"{x.out}\", depends_on: [x] }\n",
            3,
            "has the output \"more\", which no step uses",
        ),
        ("  - { id: x, workflow: nowhere }\n", 3, "there is no workflow \"nowhere\""),
    ] {
        let problems = problems_of_steps(steps);
        let place = format!("workflows/a.md:{line}: ");
        assert!(
            problems.iter().any(|problem| problem.starts_with(&place) && problem.contains(part)),
            "{steps}: {problems:?}"
        );
    }
}

#[test]
fn a_cycle_is_shown_as_a_path() {
    checks_rule!("workflows-have-no-circles");
    let steps = "  - { id: x, agent: a, prompt: go, depends_on: [z] }\n  - { id: y, agent: a, prompt: go, depends_on: [x] }\n  - { id: z, agent: a, prompt: go, depends_on: [y] }\n";
    let problems = problems_of_steps(steps);
    let paths = ["x → y → z → x", "y → z → x → y", "z → x → y → z"];
    assert!(paths.iter().any(|path| problems[0].contains(path)), "{problems:?}");
}

#[test]
fn a_workflow_within_itself_is_reported_as_a_path() {
    let with = |other: &str| format!("---\nsteps:\n  - {{ id: x, workflow: {other} }}\n---\n");
    let (a, b, c) = (with("b"), with("c"), with("a"));
    let files = [("workflows/a.md", a.as_str()), ("workflows/b.md", &b), ("workflows/c.md", &c)];
    let problems = problems_among("workflows/a.md", &files);
    let path = "includes itself: workflows/a.md → workflows/b.md → workflows/c.md → workflows/a.md";
    assert!(
        problems.iter().any(|problem| problem.starts_with("workflows/a.md:3: ") && problem.contains(path)),
        "{problems:?}"
    );
    let itself = with("a");
    let problems = problems_among("workflows/a.md", &[("workflows/a.md", &itself)]);
    assert!(problems.iter().any(|problem| problem.contains("workflows/a.md → workflows/a.md")), "{problems:?}");
}

#[test]
fn variables_of_a_nested_workflow_need_values() {
    let inner = "---\nsteps:\n  - { id: x, agent: a, prompt: \"{topic}\", outputs: [verdict] }\n---\n";
    let outer = "---\nsteps:\n  - { id: y, workflow: inner, with: { colour: red }, outputs: [verdict, more] }\n---\n";
    let problems = problems_among("workflows/o.md", &[("workflows/o.md", outer), ("workflows/inner.md", inner)]);
    for part in
        ["has no value for {topic}", "sets {colour}, which", "\"more\", which no step of workflows/inner.md has"]
    {
        assert!(problems.iter().any(|problem| problem.contains(part)), "{part} in {problems:?}");
    }
}

/// A chain of `count` steps, each with the keys that `of` returns.
fn chain(count: usize, of: impl Fn(usize) -> String) -> String {
    let step = |at: usize| {
        let before = if at == 0 { String::new() } else { format!(", depends_on: [s{}]", at - 1) };
        format!("  - {{ id: s{at}, agent: a{before}, {} }}\n", of(at))
    };
    (0..count).map(step).collect()
}

#[test]
fn ten_thousand_steps_that_use_the_first_are_fast() {
    let steps = chain(10_000, |at| match at {
        0 => "prompt: go, outputs: [out]".to_owned(),
        _ => "prompt: \"{s0.out}\"".to_owned(),
    });
    assert_eq!(problems_of_steps(&steps), [] as [&str; 0]);
}

#[test]
fn reported_problems_are_limited_and_errors_come_before_warnings() {
    let steps = chain(10_000, |at| format!("prompt: \"{{s{at}x.out}} {{item}}\", depends_on: [nobody]"));
    let steps = steps.replace(", depends_on: [s", ", after: [s");
    let problems = problems_of_steps(&steps);
    assert_eq!(problems.len(), super::super::format::MAX_PROBLEMS);
    assert!(problems[0].starts_with("workflows/a.md:3: "), "{}", problems[0]);
    // Hundreds of unused outputs, and after them an unknown agent.
    let last = "  - { id: last, agent: nobody, prompt: go }\n";
    let steps = chain(400, |_| "prompt: go, outputs: [out]".to_owned()) + last;
    let problems = problems_of_steps(&steps);
    assert!(problems.iter().any(|problem| problem.contains("there is no agent \"nobody\"")), "{:?}", problems.last());
    assert_eq!(problems.len(), super::super::format::MAX_PROBLEMS);
}
