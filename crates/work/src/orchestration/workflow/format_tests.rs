//! Parsing workflow files, and the problems of invalid ones.

use proptest::prelude::*;

use super::*;

const REFERENCE: &str = include_str!("fixtures/research-pipeline.md");

fn steps(text: &str) -> WorkflowFile {
    read("workflows/a.md", &format!("---\nsteps:\n{text}---\n"))
}

fn problems_of_steps(text: &str) -> Vec<String> {
    steps(text).problems.iter().map(ToString::to_string).collect()
}

#[test]
fn the_reference_workflow_is_parsed_unchanged() {
    let file = read("workflows/research-pipeline.md", REFERENCE);
    assert_eq!(file.problems, []);
    let workflow = file.workflow;
    assert_eq!((workflow.name.as_str(), workflow.trigger.clone()), ("Research Pipeline", Trigger::Manual));
    assert_eq!(workflow.description, "Multi-stage research with review");
    let variables: Vec<&str> = workflow.variables.iter().map(|variable| variable.name.as_str()).collect();
    assert_eq!(variables, ["topic"]);
    let ids: Vec<&str> = workflow.steps.iter().map(|step| step.id.as_str()).collect();
    assert_eq!(ids, ["research", "review", "synthesize"]);
    assert_eq!(workflow.steps[2].depends_on, ["research", "review"]);
    assert_eq!(workflow.steps[0].doer, Assignee::Agent { agent: "researcher".into() });
    assert_eq!(workflow.steps[1].outputs[0].name, "review_report");
    assert_eq!((workflow.steps[0].line("id"), workflow.steps[1].line("depends_on")), (Some(6), Some(13)));
    assert!(workflow.body.starts_with("# Research Pipeline") && workflow.body.ends_with("process..."));
}

#[test]
fn all_keys_of_a_step_are_parsed() {
    let file = read(
        "workflows/all.md",
        "---
trigger: every 10m
variables:
  topic: { description: what it is about, default: tea }
  words: how many
colour: green
steps:
  - id: plan
    agent: lead
    prompt: Plan {topic} in {words}
    outputs:
      - { name: topics, kind: list, description: the parts }
      - { name: paper, file: \"artifacts/{topic}.md\" }
    retry: 2
    max_turns: 5
    model: openai:x
    shape: round
  - id: dig
    agent: digger
    prompt: Dig {item} ({index})
    for_each: {plan.topics} at most 4
    depends_on: plan
    when: {plan.topics}
  - id: ask
    person: form
    prompt: What now?
    outputs: { budget: \"in euros\" }
  - id: ok
    person: approval
    prompt: Is it good? {dig.result}
    depends_on: [dig]
  - id: more
    workflow: other
    with: { text: \"{dig.result}\" }
    depends_on: [dig]
  - id: again
    agent: lead
    prompt: once more
    outputs: [good]
    repeat_until: {again.good} at most 3
---
",
    );
    assert_eq!(file.problems.iter().map(ToString::to_string).collect::<Vec<_>>(), [] as [&str; 0]);
    let workflow = file.workflow;
    assert_eq!((workflow.name.as_str(), workflow.trigger.clone()), ("All", Trigger::Every { secs: 600 }));
    assert_eq!(workflow.variables[0].default.as_deref(), Some("tea"));
    assert_eq!(workflow.extra["colour"], "green");
    let step = |id: &str| workflow.step(id).expect("it should exist");
    let plan = step("plan");
    assert_eq!((plan.retry, plan.max_turns, plan.model.as_deref()), (2, Some(5), Some("openai:x")));
    assert_eq!(plan.extra["shape"], "round");
    assert_eq!((plan.outputs[0].kind, plan.outputs[0].description.as_str()), (OutputKind::List, "the parts"));
    assert_eq!(plan.outputs[1].file.as_ref().map(ToString::to_string).as_deref(), Some("artifacts/{topic}.md"));
    let dig = step("dig").for_each.as_ref().expect("it is for each");
    assert_eq!((dig.list.to_string(), dig.at_most), ("{plan.topics}".into(), Some(4)));
    assert_eq!(step("dig").when.as_ref().map(ToString::to_string).as_deref(), Some("{plan.topics}"));
    assert_eq!(step("ask").doer, Assignee::Person { wants: AnswerKind::Form });
    assert_eq!(step("ok").doer, Assignee::Person { wants: AnswerKind::Approval });
    assert!(
        matches!(&step("more").doer, Assignee::Workflow { workflow, with } if workflow == "other" && with.len() == 1)
    );
    let again = step("again").repeat_until.as_ref().expect("it is repeated");
    assert_eq!((again.until.to_string(), again.at_most), ("{again.good}".into(), 3));
}

#[test]
fn every_mistake_is_reported_with_its_line_and_what_to_do() {
    for (text, line, part) in [
        ("  - agent: a\n    prompt: x\n", 3, "step 1 has no id"),
        ("  - id: a\n    prompt: x\n", 3, "does not say who does it"),
        (
            "  - id: a\n    agent: x\n    person: form\n    prompt: y\n",
            3,
            "more than one of agent, person and workflow",
        ),
        ("  - id: a\n    agent: x\n", 3, "has no prompt"),
        (
            "  - { id: a, agent: x, prompt: y }\n  - { id: a, agent: x, prompt: z }\n",
            4,
            "two steps have the id \"a\" (line 3)",
        ),
        ("  - id: a\n    agent: x\n    prompt: y\n    when: \"{b.c\"\n", 6, "invalid when:"),
        ("  - id: a\n    agent: x\n    prompt: y\n    repeat_until: \"{a.b}\"\n", 6, "has no limit"),
        ("  - id: a\n    agent: x\n    prompt: y\n    repeat_until: \"{a.b} at most 0\"\n", 6, "not a number from 1"),
        ("  - id: a\n    agent: x\n    prompt: y\n    for_each: topics\n", 6, "has no list"),
        ("  - id: a\n    agent: x\n    prompt: y\n    retry: many\n", 6, "not a number from 0 to 100"),
        ("  - id: a\n    agent: x\n    prompt: y\n    promt: z\n", 6, "did you mean \"prompt\"?"),
        ("  - id: a\n    person: dance\n    prompt: y\n", 4, "unknown person step"),
        ("  - id: a b\n    agent: x\n    prompt: y\n", 3, "is not a valid step id"),
        ("  - id: a\n    agent: x\n    prompt: y\n    outputs: [b, b]\n", 6, "twice"),
        ("  - id: a\n    agent: x\n    prompt: y\n    outputs: [result]\n", 6, "is not a valid output name"),
        ("  - id: 007\n    agent: x\n    prompt: y\n", 3, "is not a valid step id"),
        ("  - id: 007\n    agent: x\n    prompt: y\n", 3, "begin with a letter"),
        ("  - id: a\n    agent: x\n    prompt: y\n    outputs: [1e3]\n", 6, "is not a valid output name"),
        ("  - id: a\n    agent: x\n    prompt: y\n    outputs: [12]\n", 6, "begin with a letter"),
        ("  - just words\n", 3, "is not a mapping of keys"),
    ] {
        let problems = problems_of_steps(text);
        let place = format!("workflows/a.md:{line}: ");
        assert!(
            problems.iter().any(|problem| problem.starts_with(&place) && problem.contains(part)),
            "{text}: {problems:?}"
        );
    }
}

#[test]
fn undeclared_variables_are_reported_if_any_is_declared() {
    let text = "---\nvariables: [topic]\nsteps:\n  - id: a\n    agent: x\n    prompt: \"{topc} and {{this}}\"\n---\n";
    let file = read("workflows/a.md", text);
    let problems: Vec<String> = file.problems.iter().map(ToString::to_string).collect();
    assert!(
        problems[1].contains(":6: step \"a\" uses {topc}, which is not declared (did you mean {topic}?"),
        "{problems:?}"
    );
    assert!(problems[0].contains(":2: the variable \"topic\" is declared but never used"), "{problems:?}");
    assert!(!file.is_usable());
}

#[test]
fn files_that_are_not_workflows_are_reported_with_a_reason() {
    for (text, part) in [
        ("# Just words\n", "no front matter"),
        ("---\nsteps: []\n", "is not closed"),
        ("---\nsteps: [\n---\n", "not valid YAML"),
        ("---\nname: x\n---\n", "has no steps"),
        ("---\n- a\n---\n", "not a mapping of keys"),
        ("---\ntrigger: sometimes\nsteps: [{ id: a, agent: b, prompt: c }]\n---\n", "invalid trigger"),
        ("---\ntrigger: every 0s\nsteps: [{ id: a, agent: b, prompt: c }]\n---\n", "all the time"),
    ] {
        let problems = read("workflows/a.md", text).problems;
        assert!(problems.iter().any(|problem| problem.what.contains(part)), "{text}: {problems:?}");
    }
    assert!(is_workflow("workflows/a.md") && is_workflow("workflows/team/b.md"));
    for other in ["workflows/a.yaml", "workflows/README.md", "agents/a.md", "workflows/.md", "workflows/.a.md"] {
        assert!(!is_workflow(other), "{other}");
    }
}

#[test]
fn triggers_are_read() {
    for (word, meant) in [
        ("manual", Trigger::Manual),
        ("Auto", Trigger::Auto),
        ("on change of boards/*.md", Trigger::Change { glob: "boards/*.md".into() }),
        ("every 1h 30m", Trigger::Every { secs: 5_400 }),
    ] {
        assert_eq!(trigger(word), Ok(meant.clone()), "{word}");
        assert_eq!(trigger(&meant.to_string()), Ok(meant));
    }
}

proptest! {
    #[test]
    fn any_text_can_be_parsed(text in "(---\n)?[a-z{}\\[\\]:,\" \n.-]{0,200}(---\n)?") {
        let _ = read("workflows/a.md", &text);
        let _ = read("workflows/a.md", &format!("---\nsteps:\n{text}\n---\n"));
    }
}
