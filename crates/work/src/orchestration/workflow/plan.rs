//! The plan of a run: the steps of a workflow, including those of nested workflows, in one list. Created once when a
//! run starts, and unaffected by later changes of the files.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::condition::Condition;
use super::definition::{APPROVED, AnswerKind, Assignee, MAX_DEPTH, Output, Step, Workflow};
use super::format::{MAX_STEPS, WorkflowFile};
use super::graph::{self, Graph, Loop, LoopFault, Waiting};
use super::template::{Template, Token};
use super::value::OutputKind;
use crate::base::Problem;

/// The steps of a run, and data derived from them.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(try_from = "Vec<Step>", into = "Vec<Step>")]
pub struct Plan {
    /// The steps; those of a nested workflow come before its end.
    pub steps: Vec<Step>,
    /// The dependencies.
    pub graph: Graph,
    /// The loops, inner ones first.
    pub loops: Vec<Loop>,
    /// The loops that contain each step, inner ones first.
    pub loops_of: Vec<Vec<usize>>,
    /// The index of each step, by id.
    pub places: BTreeMap<String, usize>,
    /// Approvals whose outcome the workflow itself uses, so that a refusal is not a failure.
    pub is_asked: BTreeSet<usize>,
}

impl Plan {
    /// Creates the plan of a workflow; the error is the problem that prevents it.
    pub fn of(workflow: &Workflow, workflows: &BTreeMap<String, WorkflowFile>) -> Result<Self, Problem> {
        let mut expansion = Expansion { workflows, steps: Vec::new(), top: workflow };
        let outer = Outer { prefix: String::new(), with: None, depends_on: Vec::new(), when: None };
        expansion.expand(workflow, &outer, 0)?;
        let wrong = |what: String| Problem::error(workflow.path.as_str(), what, "see: workshop workflow check");
        Self::new(expansion.steps).map_err(wrong)
    }

    /// Creates a plan from these steps. The error says what is wrong.
    pub fn new(mut steps: Vec<Step>) -> Result<Self, String> {
        let graph = Graph::of(&steps);
        if graph.cycle().is_some() {
            return Err("steps wait for each other in a circle".to_owned());
        }
        let has_loops = steps.iter().any(|step| step.repeat_until.is_some());
        let waiting = if has_loops { graph.waiting() } else { Waiting::default() };
        let loops = graph::loops(&steps, &graph, &waiting).map_err(|fault| match fault {
            LoopFault::Overlap(..) => "loops overlap".to_owned(),
            LoopFault::TooMany(_) => "too many steps are repeated".to_owned(),
        })?;
        let mut loops_of = vec![Vec::new(); steps.len()];
        for (index, one) in loops.iter().enumerate() {
            for at in &one.body {
                loops_of[*at].push(index);
            }
        }
        find_kinds(&mut steps);
        // Lines are meaningless for a run, which does not use the file any more.
        steps.iter_mut().for_each(|step| step.lines.clear());
        let places: BTreeMap<String, usize> =
            steps.iter().enumerate().map(|(at, step)| (step.id.clone(), at)).collect();
        if places.len() < steps.len() {
            return Err("two steps have one id".to_owned());
        }
        let asked = |(_, token): (&str, &Token)| match token {
            Token::Output { step, output } if output == APPROVED => places.get(step).copied(),
            _ => None,
        };
        let is_asked = steps.iter().flat_map(Step::placeholders).filter_map(asked).collect();
        Ok(Self { steps, graph, loops, loops_of, places, is_asked })
    }

    /// The step and the output that a token names.
    pub fn output<'a>(&self, token: &'a Token) -> Option<(usize, &'a str)> {
        match token {
            Token::Output { step, output } => Some((*self.places.get(step)?, output.as_str())),
            _ => None,
        }
    }
}

impl TryFrom<Vec<Step>> for Plan {
    type Error = String;

    fn try_from(steps: Vec<Step>) -> Result<Self, String> {
        Self::new(steps)
    }
}

impl From<Plan> for Vec<Step> {
    fn from(plan: Plan) -> Self {
        plan.steps
    }
}

/// Infers the kind of each output from how it is used.
fn find_kinds(steps: &mut [Step]) {
    let mut kinds: BTreeMap<(String, String), OutputKind> = BTreeMap::new();
    let mut note = |token: &Token, kind: OutputKind| {
        if let Token::Output { step, output } = token {
            let known = kinds.entry((step.clone(), output.clone())).or_insert(kind);
            if kind == OutputKind::List {
                *known = kind;
            }
        }
    };
    for step in steps.iter() {
        step.for_each.iter().filter_map(|each| each.token()).for_each(|token| note(token, OutputKind::List));
        let conditions = step.when.iter().chain(step.repeat_until.iter().map(|repeat| &repeat.until));
        conditions.flat_map(Condition::boolean_tokens).for_each(|token| note(token, OutputKind::YesNo));
    }
    // Backwards, so that the kind of a nested workflow's output reaches the inner step, which comes before it.
    for step in steps.iter_mut().rev() {
        for output in &mut step.outputs {
            if let Some(kind) = kinds.get(&(step.id.clone(), output.name.clone())) {
                output.kind = *kind;
            }
            if let (Some(Token::Output { step, output: name }), true) =
                (output.from.as_ref().and_then(|from| from.tokens().next()), output.kind != OutputKind::Text)
            {
                kinds.entry((step.clone(), name.clone())).or_insert(output.kind);
            }
        }
        if matches!(step.doer, Assignee::Person { wants: AnswerKind::Approval }) {
            step.outputs.iter_mut().filter(|one| one.name == APPROVED).for_each(|one| one.kind = OutputKind::YesNo);
        }
    }
}

struct Expansion<'a> {
    workflows: &'a BTreeMap<String, WorkflowFile>,
    steps: Vec<Step>,
    top: &'a Workflow,
}

/// The position of a workflow within another.
struct Outer {
    /// The prefix of its step ids.
    prefix: String,
    /// The values of its variables; `None` for those of the run.
    with: Option<BTreeMap<String, Template>>,
    /// The dependencies of its first steps.
    depends_on: Vec<String>,
    /// The condition of its first steps.
    when: Option<Condition>,
}

impl Outer {
    fn token(&self, token: &Token) -> Option<Template> {
        match token {
            Token::Output { step, output } if !self.prefix.is_empty() => {
                Some(Token::output(&format!("{}{step}", self.prefix), output).into())
            }
            Token::Variable(name) => self.with.as_ref()?.get(name).cloned(),
            _ => None,
        }
    }

    fn template(&self, template: &Template) -> Template {
        template.with(|token| self.token(token))
    }

    fn condition(&self, condition: &Condition) -> Condition {
        condition.with(|token| match self.token(token) {
            None => Ok(token.clone()),
            Some(template) => {
                let mut tokens = template.tokens();
                match (tokens.next(), tokens.next()) {
                    (Some(only), None) if only.to_string() == template.to_string() => Ok(only.clone()),
                    _ => Err(template.to_string()),
                }
            }
        })
    }
}

impl Expansion<'_> {
    fn expand(&mut self, workflow: &Workflow, outer: &Outer, depth: usize) -> Result<(), Problem> {
        let wrong = |step: &Step, what: String, remedy: &str| {
            Err(Problem::error(workflow.path.as_str(), what, remedy).at_line(step.line("workflow")))
        };
        for step in &workflow.steps {
            if self.steps.len() >= MAX_STEPS {
                let what = format!("with the workflows in it, {} has more than {MAX_STEPS} steps", self.top.path);
                return wrong(step, what, "split it");
            }
            let own = outer.step(step);
            let Assignee::Workflow { workflow: word, with } = &step.doer else {
                self.steps.push(own);
                continue;
            };
            if depth >= MAX_DEPTH {
                let what = format!("workflows are nested more than {MAX_DEPTH} deep");
                return wrong(step, what, "nest fewer of them");
            }
            let there = super::check::WorkflowContext { agents: None, workflows: self.workflows };
            let Some(inner) = there.workflow(word).filter(|inner| inner.is_usable()) else {
                return wrong(step, format!("there is no usable workflow {word:?}"), "use a file in workflows/");
            };
            let inner = &inner.workflow;
            let mut given: BTreeMap<String, Template> =
                with.iter().map(|(name, template)| (name.clone(), outer.template(template))).collect();
            for variable in &inner.variables {
                let default = variable.default.as_ref().map(|text| Template::parse(text));
                given.entry(variable.name.clone()).or_insert_with(|| default.unwrap_or_default());
            }
            let inside = Outer {
                prefix: format!("{}/", own.id),
                with: Some(given),
                depends_on: own.depends_on.clone(),
                when: own.when.clone(),
            };
            self.expand(inner, &inside, depth + 1)?;
            self.steps.push(end_of(own, inner));
        }
        Ok(())
    }
}

impl Outer {
    /// Converts a step of the workflow to a step of the plan.
    fn step(&self, step: &Step) -> Step {
        let is_first = step.depends_on.is_empty();
        let depends_on: Vec<String> = match is_first {
            true => self.depends_on.clone(),
            false => step.depends_on.iter().map(|id| format!("{}{id}", self.prefix)).collect(),
        };
        let when = step.when.as_ref().map(|when| self.condition(when));
        let when = match (self.when.clone().filter(|_| is_first), when) {
            (Some(outer), Some(own)) => Some(outer.and(own)),
            (outer, own) => outer.or(own),
        };
        let mut repeat_until = step.repeat_until.clone();
        if let Some(repeat) = &mut repeat_until {
            repeat.until = self.condition(&repeat.until);
        }
        let mut for_each = step.for_each.clone();
        if let Some(each) = &mut for_each {
            each.list = self.template(&each.list);
        }
        let mut outputs = step.outputs.clone();
        for output in &mut outputs {
            output.file = output.file.as_ref().map(|file| self.template(file));
        }
        Step {
            id: format!("{}{}", self.prefix, step.id),
            prompt: self.template(&step.prompt),
            depends_on,
            when,
            repeat_until,
            for_each,
            outputs,
            ..step.clone()
        }
    }
}

/// The step that represents the end of a nested workflow.
fn end_of(step: Step, inner: &Workflow) -> Step {
    let prefix = format!("{}/", step.id);
    let graph = Graph::of(&inner.steps);
    let named = |at: usize| format!("{prefix}{}", inner.steps[at].id);
    let outputs = step.outputs.into_iter().map(|output| {
        let giver = inner.steps.iter().rfind(|inner| inner.outputs.iter().any(|one| one.name == output.name));
        let from = giver.map(|giver| Token::output(&format!("{prefix}{}", giver.id), &output.name).into());
        Output { from, file: None, ..output }
    });
    Step {
        outputs: outputs.collect(),
        depends_on: graph.last().map(named).collect(),
        // Its first steps have the condition, and it is skipped with them.
        when: None,
        repeat_until: None,
        lines: step.lines,
        ..Step::new(&step.id, Assignee::Join)
    }
}

#[cfg(test)]
mod tests {
    use super::super::format;
    use super::*;

    fn files(texts: &[(&str, &str)]) -> BTreeMap<String, WorkflowFile> {
        let read = |(path, text): &(&str, &str)| ((*path).to_owned(), format::read(path, text));
        texts.iter().map(read).collect()
    }

    #[test]
    fn steps_of_a_nested_workflow_are_in_the_same_list() {
        let outer = "---\nsteps:\n  - { id: plan, agent: a, prompt: \"Plan {topic}\", outputs: [points] }\n  - id: check\n    workflow: review\n    with: { text: \"About {topic}: {plan.points}\" }\n    outputs: [verdict]\n    depends_on: [plan]\n    when: \"{plan.points}\"\n  - { id: end, agent: a, prompt: \"{check.verdict}\", depends_on: [check] }\n---\n";
        let inner = "---\nsteps:\n  - { id: look, agent: b, prompt: \"Look at {text}\", outputs: [notes] }\n  - { id: judge, agent: c, prompt: \"{look.notes}\", depends_on: [look], outputs: [verdict] }\n---\n";
        let files = files(&[("workflows/outer.md", outer), ("workflows/review.md", inner)]);
        let plan = Plan::of(&files["workflows/outer.md"].workflow, &files).expect("it is in order");
        let told: Vec<(&str, Vec<&str>)> = plan
            .steps
            .iter()
            .map(|step| (step.id.as_str(), step.depends_on.iter().map(String::as_str).collect()))
            .collect();
        assert_eq!(
            told,
            [
                ("plan", vec![]),
                ("check/look", vec!["plan"]),
                ("check/judge", vec!["check/look"]),
                ("check", vec!["check/judge"]),
                ("end", vec!["check"]),
            ]
        );
        assert_eq!(plan.steps[1].prompt.to_string(), "Look at About {topic}: {plan.points}");
        assert_eq!(plan.steps[1].when.as_ref().map(ToString::to_string).as_deref(), Some("{plan.points}"));
        assert_eq!(plan.steps[2].prompt.to_string(), "{check/look.notes}");
        let from = plan.steps[3].outputs[0].from.as_ref().map(ToString::to_string);
        assert_eq!(from.as_deref(), Some("{check/judge.verdict}"));
        assert_eq!(plan.steps[0].outputs[0].kind, OutputKind::YesNo, "a condition asks");
        let text = serde_json::to_string(&plan).expect("it can be saved");
        let again: Plan = serde_json::from_str(&text).expect("it should be readable again");
        assert_eq!(again.graph, plan.graph);
    }

    #[test]
    fn workflows_within_each_other_have_no_more_steps_than_one() {
        let many = |step: &str| {
            let steps: String = (0..150).map(|at| format!("  - {{ id: s{at}, {step} }}\n")).collect();
            format!("---\nsteps:\n{steps}---\n")
        };
        let (outer, inner) = (many("workflow: inner"), many("agent: a, prompt: go"));
        let files = files(&[("workflows/outer.md", &outer), ("workflows/inner.md", &inner)]);
        let problem = Plan::of(&files["workflows/outer.md"].workflow, &files).expect_err("they are too many");
        assert!(problem.what.contains("workflows/outer.md has more than 10000 steps"), "{}", problem.what);
    }

    #[test]
    fn an_output_used_by_for_each_is_a_list() {
        let text = "---\nsteps:\n  - { id: plan, agent: a, prompt: x, outputs: [topics] }\n  - { id: dig, agent: a, prompt: \"{item}\", for_each: \"{plan.topics} at most 5\", depends_on: [plan], outputs: [found] }\n---\n";
        let files = files(&[("workflows/a.md", text)]);
        let plan = Plan::of(&files["workflows/a.md"].workflow, &files).expect("it is in order");
        assert_eq!(plan.steps[0].outputs[0].kind, OutputKind::List);
        assert_eq!(plan.steps[1].outputs[0].kind, OutputKind::Text);
    }
}
