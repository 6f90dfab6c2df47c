//! The files of a run: one with its progress, from which it can be resumed, and one with its result.

use std::fmt::Write;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::definition::{Assignee, Output, Step};
use super::run_key::RunKey;
use super::run_state::{Run, RunStatus, StepState, StepStatus};
use crate::base::text::{capitalised, slug};
use crate::schedule::TICKS_PER_SEC;
use crate::workspace::yaml;

/// The folder of the progress files.
pub const RECORDS: &str = "sessions/workflows/";
/// The maximum length of an output in the list of steps, in characters.
const SHOWN_CHARS: usize = 400;
/// The approximate size of a step in the file without its outputs, or with an output that is not text.
const BYTES_OF_STEP: usize = 500;
const BYTES_OF_VALUE: usize = 20;

/// The content of a progress file that is read back.
#[derive(Clone, PartialEq, Debug, Deserialize)]
pub struct RunRecord {
    /// The file of the scene in whose room it runs.
    #[serde(default)]
    pub scene: String,
    /// The run.
    pub state: Run,
}

#[derive(Serialize)]
struct Line<'a> {
    step: &'a str,
    status: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    why: &'a str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    by: Vec<&'a str>,
    #[serde(skip_serializing_if = "is_first")]
    round: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    secs: Option<f64>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    outputs: Map<String, Value>,
}

fn is_first(round: &u32) -> bool {
    *round <= 1
}

fn name_of(run: &Run) -> String {
    let name = slug(&run.name);
    if name.is_empty() { "workflow".to_owned() } else { name }
}

/// The path of a run's progress file.
pub fn path(run: &Run) -> String {
    format!("{RECORDS}{}.{}.yaml", name_of(run), run.key)
}

/// The run whose progress file has this path.
pub fn run_of_path(path: &str) -> Option<RunKey> {
    let name = path.rsplit('/').next()?.strip_suffix(".yaml")?;
    RunKey::parse(name.rsplit_once('.')?.1)
}

/// The path of a run's result file.
pub fn result_path(run: &Run) -> String {
    format!("artifacts/{}-{}.md", name_of(run), run.key)
}

fn secs(ticks: u64) -> f64 {
    (ticks as f64 / TICKS_PER_SEC as f64 * 10.0).round() / 10.0
}

fn lines(run: &Run) -> Vec<Line<'_>> {
    let shown = |value: &Value| match value {
        Value::String(text) if text.chars().count() > SHOWN_CHARS => {
            let cut: String = text.chars().take(SHOWN_CHARS).collect();
            Value::String(format!("{cut}…"))
        }
        other => other.clone(),
    };
    let steps = run.plan.steps.iter().zip(&run.steps);
    let line = |(step, state)| -> Line<'_> {
        let (step, state): (&Step, &StepState) = (step, state);
        let by = state.parts.iter().filter_map(|part| part.work.as_ref()).map(|work| &*work.agent);
        let given = |output: &Output| Some((output.name.clone(), shown(state.outputs.get(&output.name)?)));
        Line {
            step: &step.id,
            status: state.status.as_str(),
            why: &state.why,
            by: by.collect(),
            round: state.round,
            secs: state.began_tick.zip(state.ended_tick).map(|(began, ended)| secs(ended.saturating_sub(began))),
            outputs: step.outputs.iter().filter_map(given).collect(),
        }
    };
    steps.map(line).collect()
}

/// Renders the progress of a run: a readable part, and the state from which it can be resumed.
pub fn to_yaml(run: &Run, scene: &str, now: u64) -> String {
    let over = run.ended_tick.unwrap_or(now);
    let mut told = json!({
        "run": run.key,
        "workflow": run.name,
        "file": run.file,
        "scene": scene,
        "status": run.status.as_str(),
    });
    if !run.why.is_empty() {
        told["why"] = run.why.as_str().into();
    }
    if let Some(result) = &run.result {
        told["result"] = result.as_str().into();
    }
    told["started_by"] = json!(run.by);
    told["secs"] = json!(secs(over.saturating_sub(run.began_tick)));
    told["variables"] = json!(run.variables);
    told["steps"] = json!(lines(run));
    told["state"] = json!(run);
    yaml::document(&told)
}

/// The approximate size of a run's progress file, from the lengths of its outputs and the number of steps.
pub fn estimated_bytes(run: &Run) -> u64 {
    let given = |state: &StepState| -> usize {
        let text = |value: &Value| value.as_str().map_or(BYTES_OF_VALUE, str::len);
        state.outputs.values().map(text).sum()
    };
    run.steps.iter().map(|state| (BYTES_OF_STEP + given(state)) as u64).sum()
}

/// Parses a progress file. The error says why it cannot be used.
pub fn from_yaml(text: &str) -> Result<RunRecord, String> {
    let value = yaml::parse(text).map_err(|error| error.what)?;
    let record: RunRecord = serde_json::from_value(value).map_err(|error| error.to_string())?;
    if record.state.is_consistent() { Ok(record) } else { Err("its steps are not those of its plan".to_owned()) }
}

/// Renders the result of a run, with a section for each step.
pub fn result(run: &Run) -> String {
    let mut text = format!("# {}\n\n", run.name);
    let word = match run.status {
        RunStatus::Done => "Done".to_owned(),
        RunStatus::Failed => format!("Failed: {}", run.why),
        RunStatus::Stopped => format!("Stopped: {}", run.why),
        RunStatus::Running => "Running".to_owned(),
    };
    let _ = writeln!(text, "{word}. Run {} of {}.", run.key, run.file);
    if !run.variables.is_empty() {
        text.push('\n');
    }
    for (name, value) in &run.variables {
        let _ = writeln!(text, "- {name}: {}", value.replace('\n', "\n  "));
    }
    for (at, (step, state)) in run.plan.steps.iter().zip(&run.steps).enumerate() {
        if run.is_join(at) {
            continue;
        }
        let _ = write!(text, "\n## {}\n\n", step.id);
        let by = match &step.doer {
            Assignee::Agent { agent } => format!("By {agent}"),
            Assignee::Person { .. } => "By a person".to_owned(),
            Assignee::Workflow { .. } | Assignee::Join => String::new(),
        };
        let rounds = if state.round > 1 { format!(", round {}", state.round) } else { String::new() };
        let why = if state.why.is_empty() { String::new() } else { format!(": {}", state.why) };
        match state.status {
            StepStatus::Done => {
                let _ = writeln!(text, "*{by}{rounds}{why}*\n\n{}", run.output_text(at).trim());
            }
            status => {
                let _ = writeln!(text, "*{by}{rounds}. {}{why}*", capitalised(status.as_str()));
            }
        }
    }
    text
}

/// A short summary of a run for a terminal.
pub fn summary(run: &Run) -> String {
    let why = if run.why.is_empty() { String::new() } else { format!(": {}", run.why) };
    let mut lines = vec![format!("{}  {} ({}), {}{why}", run.key, run.name, run.file, run.status.as_str())];
    for (at, (step, state)) in run.plan.steps.iter().zip(&run.steps).enumerate() {
        if run.is_join(at) {
            continue;
        }
        let why = if state.why.is_empty() { String::new() } else { format!(": {}", state.why) };
        lines.push(format!("  {:<8} {}{why}", state.status.as_str(), step.id));
    }
    lines.extend(run.result.iter().map(|result| format!("  result: {result}")));
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Arc;

    use super::super::format;
    use super::super::limits::Limits;
    use super::super::plan::Plan;
    use super::*;
    use crate::base::{RunTag, Seq};

    fn run() -> Run {
        let text = "---\nname: Tea time\nsteps:\n  - { id: a, agent: x, prompt: \"Look at {topic}\", outputs: [found] }\n  - { id: b, agent: y, prompt: \"{a.found}\", depends_on: [a] }\n---\n";
        let file = format::read("workflows/tea.md", text);
        let plan = Plan::of(&file.workflow, &BTreeMap::new()).expect("it is in order");
        let variables = BTreeMap::from([("topic".to_owned(), "tea".to_owned())]);
        let key = RunKey::new(3, RunTag::of("r-1"));
        Run::begin((key, "workflows/tea.md", "Tea time"), Arc::new(plan), variables, ("user".into(), 0, Seq(1)))
    }

    #[test]
    fn a_run_continues_from_its_file() {
        let mut run = run();
        run.step(1, &Limits { parallel: 1, for_each: 1, output_chars: 100 });
        run.take_changes();
        let text = to_yaml(&run, "scenes/a.yaml", 60);
        assert!(text.starts_with("run: wf-3-"), "{text}");
        assert!(text.contains("\nstatus: running\n") && text.contains("{ step: a, status: running"), "{text}");
        let record = from_yaml(&text).expect("it is read as it was written");
        assert_eq!((record.scene.as_str(), record.state), ("scenes/a.yaml", run.clone()));
        assert_eq!(run_of_path(&path(&run)), Some(run.key));
        let (estimated, bytes) = (estimated_bytes(&run), text.len() as u64);
        assert!((bytes / 3..=bytes * 3).contains(&estimated), "{estimated} of {bytes}");
        run.steps[0].outputs.insert("found".to_owned(), json!("x".repeat(10_000)));
        assert_eq!(estimated_bytes(&run), estimated + 10_000, "what a step gave counts");
        for odd in ["", "run: x", "state: { }", "- a"] {
            assert!(from_yaml(odd).is_err(), "{odd}");
        }
    }

    #[test]
    fn the_result_has_a_section_a_step() {
        let run = run();
        let text = result(&run);
        assert!(text.starts_with("# Tea time\n") && text.contains("- topic: tea\n"), "{text}");
        assert!(text.contains("\n## a\n\n*By x. Waiting*\n") && text.contains("\n## b\n"), "{text}");
        assert!(result_path(&run).starts_with("artifacts/tea-time-wf-3-"));
        assert!(summary(&run).contains("waiting  a"), "{}", summary(&run));
    }
}
