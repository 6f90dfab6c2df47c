//! Checks a workflow for consistency, and against the existing agents and other workflows, so that all problems are
//! found before it runs, each with its line and a remedy.

use std::collections::{BTreeMap, BTreeSet};

use super::definition::{AnswerKind, Assignee, MAX_DEPTH, RESULT, Step, Workflow};
use super::format::{MAX_PROBLEMS, WorkflowFile, limit_problems};
use super::graph::{self, Graph, Loop, LoopFault, Waiting};
use super::template::{Template, Token};
use crate::base::text::{nearest, slug};
use crate::base::{Id, Problem};

/// How many steps of a cycle are named in a problem.
const PATH_NAMED: usize = 20;

/// How many problems search all steps for a similar name.
const MAX_SUGGESTED: usize = 20;

/// The surroundings of a workflow: the existing agents and other workflows.
#[derive(Clone, Copy)]
pub struct WorkflowContext<'a> {
    /// The ids of agents and profiles; `None` if unknown.
    pub agents: Option<&'a BTreeSet<Id>>,
    /// The workflows, by file.
    pub workflows: &'a BTreeMap<String, WorkflowFile>,
}

impl<'a> WorkflowContext<'a> {
    /// The workflow with this path, file name or name.
    pub fn workflow(&self, word: &str) -> Option<&'a WorkflowFile> {
        let word = word.trim();
        let paths = [word.to_owned(), format!("workflows/{word}"), format!("workflows/{word}.md")];
        let by_path = paths.iter().find_map(|path| self.workflows.get(path));
        let is_named = |file: &&WorkflowFile| {
            super::format::stem(&file.workflow.path) == word || file.workflow.name.eq_ignore_ascii_case(word)
        };
        by_path.or_else(|| self.workflows.values().find(is_named))
    }

    fn knows_agent(&self, name: &str) -> bool {
        let Some(agents) = self.agents else { return true };
        let bare = name.strip_prefix("agents/").unwrap_or(name);
        let bare = bare.strip_suffix(".md").unwrap_or(bare);
        [name, bare, &slug(bare)].iter().any(|id| agents.contains(*id))
    }
}

/// Returns all problems of a workflow that parsing did not find.
pub fn check(workflow: &Workflow, there: WorkflowContext<'_>) -> Vec<Problem> {
    let graph = Graph::of(&workflow.steps);
    let places = graph::places(&workflow.steps);
    let (waiting, loops) = (graph.waiting(), Vec::new());
    let mut checker = Checker { workflow, there, graph, places, waiting, loops, errors: 0, problems: Vec::new() };
    checker.dependencies();
    // Other checks are meaningless while steps form a cycle.
    if checker.cycle() {
        checker.loops();
        checker.uses();
    }
    checker.doers();
    checker.within_itself();
    checker.unused();
    limit_problems(checker.problems)
}

struct Checker<'a> {
    workflow: &'a Workflow,
    there: WorkflowContext<'a>,
    graph: Graph,
    places: BTreeMap<&'a str, usize>,
    /// The transitive dependencies of each step.
    waiting: Waiting,
    /// The loops, once they are known.
    loops: Vec<Loop>,
    /// How many of the problems are errors.
    errors: usize,
    problems: Vec<Problem>,
}

impl<'a> Checker<'a> {
    /// Whether the limit of errors is reached.
    fn is_enough(&self) -> bool {
        self.errors >= MAX_PROBLEMS
    }

    fn error(&mut self, line: Option<usize>, what: impl Into<String>, remedy: impl Into<String>) {
        self.errors += 1;
        self.problems.push(Problem::error(self.workflow.path.as_str(), what, remedy).at_line(line));
    }

    fn warning(&mut self, line: Option<usize>, what: impl Into<String>, remedy: impl Into<String>) {
        self.problems.push(Problem::warning(self.workflow.path.as_str(), what, remedy).at_line(line));
    }

    fn near_step(&self, id: &str) -> String {
        let steps = self.places.keys().copied().filter(|_| self.errors < MAX_SUGGESTED);
        match nearest(id, steps) {
            Some(near) => format!("did you mean {near:?}?"),
            None => "use a step of this workflow".to_owned(),
        }
    }

    fn dependencies(&mut self) {
        for step in &self.workflow.steps {
            for before in step.depends_on.iter().filter(|id| !self.places.contains_key(id.as_str())).collect::<Vec<_>>()
            {
                if self.is_enough() {
                    return;
                }
                let remedy = self.near_step(before);
                let what = format!("step {:?} depends on {before:?}, which is not a step", step.id);
                self.error(step.line("depends_on"), what, remedy);
            }
        }
    }

    /// Reports a cycle; returns whether there is none.
    fn cycle(&mut self) -> bool {
        let Some(cycle) = self.graph.cycle() else { return true };
        // A workflow whose steps wait for each other in a circle is reported with the circle, and does not start.
        rule!("workflows-have-no-circles");
        let steps = &self.workflow.steps;
        let mut named: Vec<&str> = cycle.iter().rev().map(|at| steps[*at].id.as_str()).collect();
        named.extend(named.first().copied());
        if named.len() > PATH_NAMED {
            named.splice(PATH_NAMED / 2..named.len() - PATH_NAMED / 2, ["…"]);
        }
        let line = cycle.iter().filter_map(|at| steps[*at].line("depends_on")).min();
        let what = format!("these steps wait for each other in a circle: {}", named.join(" → "));
        self.error(line, what, "remove one of them from depends_on:; to repeat steps, use repeat_until:");
        false
    }

    fn loops(&mut self) {
        let steps = &self.workflow.steps;
        for (head, step) in steps.iter().enumerate() {
            let Some(repeat) = &step.repeat_until else { continue };
            let asked = graph::asked(repeat.until.tokens(), &self.places);
            let line = step.line("repeat_until");
            if asked.is_empty() {
                let what =
                    format!("repeat_until: of step {:?} does not depend on a step, so it would never end", step.id);
                self.error(line, what, format!("use an output, such as {{{}.done}}", step.id));
            } else if let Err(other) = self.graph.repeated(&self.waiting, head, &asked) {
                let other = steps[other].id.as_str();
                let what = format!("repeat_until: of step {:?} uses {other:?}, which does not come after it", step.id);
                self.error(line, what, format!("use {:?} or a step that depends on it", step.id));
            }
            if matches!(step.doer, Assignee::Workflow { .. }) {
                let what = format!("step {:?} is another workflow, which cannot be repeated from here", step.id);
                self.error(line, what, "put repeat_until: on a step of that workflow");
            }
        }
        match graph::loops(steps, &self.graph, &self.waiting) {
            Ok(loops) => self.loops = loops,
            Err(LoopFault::TooMany(head)) => {
                let what = format!("more than {} steps are repeated, counted once for each loop", graph::MAX_REPEATED);
                self.error(steps[head].line("repeat_until"), what, "repeat fewer steps, or split the workflow");
            }
            Err(LoopFault::Overlap(one, other)) => {
                let (one, other) = (&steps[one], &steps[other]);
                let what = format!("the loops of steps {:?} and {:?} overlap", one.id, other.id);
                self.error(other.line("repeat_until"), what, "nest one completely inside the other, or separate them");
            }
        }
    }

    /// Whether two steps are in the same loop.
    fn are_repeated(&self, one: usize, other: usize) -> bool {
        self.loops.iter().any(|a_loop| a_loop.body.contains(&one) && a_loop.body.contains(&other))
    }

    fn uses(&mut self) {
        let workflow = self.workflow;
        for (at, step) in workflow.steps.iter().enumerate() {
            if self.is_enough() {
                return;
            }
            for (key, token) in step.placeholders() {
                let line = step.line(key);
                match token {
                    Token::Item | Token::Index if step.for_each.is_none() => {
                        let what = format!("step {:?} uses {token}, but has no for_each:", step.id);
                        self.error(line, what, "add for_each:, or remove it");
                    }
                    Token::Output { step: other, output } => self.output(at, (key, line), other, output),
                    _ => {}
                }
            }
        }
    }

    fn output(&mut self, at: usize, (key, line): (&str, Option<usize>), other: &str, output: &str) {
        let step = &self.workflow.steps[at];
        let Some(from) = self.places.get(other).copied() else {
            let remedy = self.near_step(other);
            let what = format!("step {:?} uses {{{other}.{output}}}, but there is no step {other:?}", step.id);
            return self.error(line, what, remedy);
        };
        let giver = &self.workflow.steps[from];
        if !giver.gives(output) {
            let names = giver.outputs.iter().map(|output| output.name.as_str());
            let remedy = match nearest(output, names) {
                Some(near) => format!("did you mean {{{other}.{near}}}? it gives: {}", giver.given()),
                None => format!("it gives: {}; add {output} to its outputs:", giver.given()),
            };
            let what = format!(
                "step {:?} uses {{{other}.{output}}}, which is not an output of step \
                {other:?}",
                step.id
            );
            return self.error(line, what, remedy);
        }
        let is_known = from == at && key == "repeat_until" || self.waiting.waits(at, from);
        if !is_known && key != "repeat_until" && !self.are_repeated(at, from) {
            let what = format!("step {:?} uses {{{other}.{output}}}, but does not wait for step {other:?}", step.id);
            self.error(line, what, format!("add {other} to its depends_on:"));
        }
    }

    fn doers(&mut self) {
        let workflow = self.workflow;
        for step in &workflow.steps {
            if self.is_enough() {
                return;
            }
            match &step.doer {
                Assignee::Agent { agent } if agent.is_empty() => {}
                Assignee::Agent { agent } if !self.there.knows_agent(agent) => {
                    let agents = self.there.agents.into_iter().flatten();
                    let remedy = match nearest(agent, agents.map(|id| &**id)) {
                        Some(near) => format!("did you mean {near:?}?"),
                        None => "use an agent in the scene, or a file in agents/ without its .md".to_owned(),
                    };
                    let what = format!("step {:?}: there is no agent {:?}", step.id, &**agent);
                    self.error(step.line("agent"), what, remedy);
                }
                Assignee::Agent { .. } | Assignee::Join => {}
                Assignee::Person { wants } => self.person(step, *wants),
                Assignee::Workflow { workflow, with } => self.inner(step, workflow, with),
            }
        }
    }

    fn person(&mut self, step: &Step, wants: AnswerKind) {
        match wants {
            AnswerKind::Form if step.outputs.is_empty() => {
                let what = format!("step {:?} is a form without fields", step.id);
                self.error(step.line("person"), what, "list its fields under outputs:");
            }
            AnswerKind::Approval => {
                let own = [super::definition::APPROVED, super::definition::COMMENT];
                for output in step.outputs.iter().filter(|output| !own.contains(&output.name.as_str())) {
                    let what = format!(
                        "step {:?} declares the output {:?}, which an approval does not have",
                        step.id, output.name
                    );
                    self.error(
                        step.line("outputs"),
                        what,
                        "an approval has approved and comment; for more, use person: form",
                    );
                }
            }
            AnswerKind::Form => {}
        }
    }

    fn inner(&mut self, step: &Step, word: &str, with: &BTreeMap<String, Template>) {
        let line = step.line("workflow");
        let Some(inner) = self.there.workflow(word) else {
            let names: Vec<&str> = self.there.workflows.keys().map(|path| super::format::stem(path)).collect();
            let remedy = match nearest(word, names.iter().copied()) {
                Some(near) => format!("did you mean {near:?}?"),
                None => "use a file in workflows/".to_owned(),
            };
            return self.error(line, format!("step {:?}: there is no workflow {word:?}", step.id), remedy);
        };
        if !inner.is_usable() {
            let what = format!("step {:?}: {} cannot be used", step.id, inner.workflow.path);
            self.error(line, what, format!("see: workshop workflow check {}", inner.workflow.path));
        }
        let inner = &inner.workflow;
        for variable in inner.variables.iter().filter(|one| one.default.is_none() && !with.contains_key(&one.name)) {
            let what = format!("step {:?} has no value for {{{}}} of {}", step.id, variable.name, inner.path);
            self.error(step.line("with").or(line), what, format!("add with: {{ {}: \"…\" }}", variable.name));
        }
        for name in with.keys().filter(|name| !inner.variables.iter().any(|one| one.name == **name)) {
            let what = format!("step {:?} sets {{{name}}}, which {} does not use", step.id, inner.path);
            self.warning(step.line("with"), what, "remove it");
        }
        for output in &step.outputs {
            if !inner.steps.iter().any(|inner| inner.outputs.iter().any(|one| one.name == output.name)) {
                let what = format!(
                    "step {:?} declares the output {:?}, which no step of {} has",
                    step.id, output.name, inner.path
                );
                self.error(step.line("outputs"), what, "use an output of a step of that workflow");
            }
        }
    }

    /// Reports if the workflow includes itself, directly or through others.
    fn within_itself(&mut self) {
        let mut path: Vec<&'a Workflow> = vec![self.workflow];
        let mut seen: BTreeSet<&'a str> = BTreeSet::new();
        if let Some(path) = inclusion_path(self.there, &mut path, &mut seen) {
            let first = self.workflow.steps.iter().find(|step| {
                matches!(&step.doer, Assignee::Workflow { workflow, .. }
                    if self.there.workflow(workflow).is_some_and(|file| file.workflow.path == path[1]))
            });
            let line = first.and_then(|step| step.line("workflow"));
            let what = format!("this workflow includes itself: {}", path.join(" → "));
            self.error(line, what, "remove that step; to repeat steps, use repeat_until:");
        }
    }

    fn unused(&mut self) {
        let workflow = self.workflow;
        let used: BTreeSet<(&str, &str)> = workflow
            .steps
            .iter()
            .flat_map(Step::placeholders)
            .filter_map(|(_, token)| match token {
                Token::Output { step, output } => Some((step.as_str(), output.as_str())),
                _ => None,
            })
            .collect();
        for (at, step) in workflow.steps.iter().enumerate() {
            let is_used_whole = used.contains(&(step.id.as_str(), RESULT));
            if self.graph.after[at].is_empty() || is_used_whole {
                continue;
            }
            for output in step.outputs.iter().filter(|output| !used.contains(&(step.id.as_str(), output.name.as_str())))
            {
                let what = format!("step {:?} has the output {:?}, which no step uses", step.id, output.name);
                self.warning(
                    step.line("outputs"),
                    what,
                    format!("use it as {{{}.{}}}, or remove it", step.id, output.name),
                );
            }
        }
    }
}

/// The files on a path through which the first workflow of `path` includes itself.
fn inclusion_path<'a>(
    there: WorkflowContext<'a>,
    path: &mut Vec<&'a Workflow>,
    seen: &mut BTreeSet<&'a str>,
) -> Option<Vec<String>> {
    let first = path.first()?.path.as_str();
    let at = *path.last()?;
    // Deeper nesting is refused when the workflow runs.
    if path.len() > MAX_DEPTH {
        return None;
    }
    for step in &at.steps {
        let Assignee::Workflow { workflow, .. } = &step.doer else { continue };
        let Some(file) = there.workflow(workflow) else { continue };
        let inner = &file.workflow;
        if inner.path == first {
            return Some(path.iter().map(|one| one.path.clone()).chain([inner.path.clone()]).collect());
        }
        if seen.insert(inner.path.as_str()) {
            path.push(inner);
            if let Some(found) = inclusion_path(there, path, seen) {
                return Some(found);
            }
            path.pop();
        }
    }
    None
}

#[cfg(test)]
#[path = "check_tests.rs"]
mod tests;
