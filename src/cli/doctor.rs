//! `workshop doctor`: what is set up, what is missing, and how to fix it.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::{Ending, Outcome};
use crate::app::{self, room::state_folder};
use crate::base::{Problem, Seq, Severity};
use crate::gateway::{Environment, GatewaySettings, provider_status};
use crate::schedule;
use crate::store::Reader;
use crate::workspace::layout::{is_workspace, read_folder};
use crate::workspace::{Problems, RoomStart};

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// The workspace, if not the current folder
    workspace: Option<PathBuf>,
    /// Print the findings as JSON
    #[arg(long)]
    json: bool,
}

/// One thing that was looked at.
#[derive(Serialize)]
struct Finding {
    what: String,
    ok: bool,
    detail: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    remedy: Option<String>,
}

impl Finding {
    fn good(what: &str, detail: impl Into<String>) -> Self {
        Self { what: what.into(), ok: true, detail: detail.into(), remedy: None }
    }

    fn bad(what: &str, detail: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { what: what.into(), ok: false, detail: detail.into(), remedy: Some(remedy.into()) }
    }
}

pub(super) fn doctor(arguments: &Arguments) -> Outcome {
    let mut findings = vec![Finding::good("program", format!("workshop {}", env!("CARGO_PKG_VERSION")))];
    let mut broken = false;
    let mut settings = GatewaySettings::default();
    let folder = super::meant_folder(arguments.workspace.as_deref())?;
    if is_workspace(&folder) {
        findings.push(Finding::good("workspace", folder.display().to_string()));
        let problems = examine(&folder, &mut findings, &mut settings);
        broken |= problems.iter().any(|problem| problem.severity == Severity::Error);
        findings.extend(problems.into_iter().map(|problem| {
            let place = match problem.line {
                Some(line) => format!("{}:{line}", problem.place),
                None => problem.place.clone(),
            };
            Finding::bad(&place, problem.what, problem.remedy)
        }));
    } else {
        findings.push(Finding::bad(
            "workspace",
            format!("{} is not one yet", folder.display()),
            "run `workshop init DIR`, or `workshop run`, which makes ./my-workshop",
        ));
    }
    let status = provider_status(&settings, &Environment::of_process());
    findings.extend(status.into_iter().map(|status| Finding {
        what: format!("provider {}", status.name),
        ok: status.ready,
        detail: status.detail,
        remedy: (!status.ready).then_some(status.remedy),
    }));
    print(arguments, &findings);
    Ok(if broken { Ending::Failed } else { Ending::Done })
}

/// Opens the workspace's scenes one after the other in a world that touches nothing, and collects what is wrong.
fn examine(folder: &Path, findings: &mut Vec<Finding>, settings: &mut GatewaySettings) -> Vec<Problem> {
    let (files, mut problems) = read_folder(folder);
    let count = |prefix: &str| files.keys().filter(|path| path.starts_with(prefix)).count();
    findings.push(Finding::good("files", format!("{} agents, {} scenes", count("agents/"), count("scenes/"))));
    for scene in files.keys().filter(|path| path.starts_with("scenes/")) {
        let start = RoomStart { scene: scene.clone(), files: files.clone(), seed: None, provider: None, carried: None };
        match app::begin(start, "r-doctor".into(), Seq(1)) {
            Ok(mut app) => {
                schedule::advance(app.world_mut());
                *settings = app.world().resource::<GatewaySettings>().clone();
                let found = app.world().resource::<Problems>().iter().cloned().collect::<Vec<_>>();
                problems.extend(found.into_iter().filter(|problem| !problems.contains(problem)).collect::<Vec<_>>());
            }
            Err(error) => problems.push(Problem::error(scene, error.to_string(), "mend the scene file")),
        }
    }
    if let Ok(reader) = Reader::open(&state_folder(folder)) {
        let runs = reader.runs().map(|runs| runs.len()).unwrap_or_default();
        findings.push(Finding::good("history", format!("{runs} runs")));
    }
    problems
}

fn print(arguments: &Arguments, findings: &[Finding]) {
    if arguments.json {
        println!("{}", serde_json::json!({ "findings": findings }));
        return;
    }
    for finding in findings {
        println!("{}  {}: {}", if finding.ok { "ok     " } else { "missing" }, finding.what, finding.detail);
        if let Some(remedy) = &finding.remedy {
            println!("         to do: {remedy}");
        }
    }
}
