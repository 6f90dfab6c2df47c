//! `workshop status`: shows unfinished work, its cost so far, what it waits for and how to continue it, tasks that
//! agents handed over, and channels with their subscribers.

use std::path::PathBuf;

use clap::Args;
use serde_json::{Value, json};

use super::command_hints::CommandHints;
use super::stop_condition::person_task_message;
use super::workspace_argument::{self, IfMissing};
use super::{CliError, CliResult, ExitStatus, output};
use crate::app::status::{
    self, AllowedUntil, ChannelStatus, FaultStatus, HandOverStatus, UnfinishedTask, WaitingReads,
};
use crate::app::trust::page_of;
use crate::app::workflows::{RunHead, runs};
use crate::base::text::{first_paragraph, truncate};
use crate::gateway::Environment;
use crate::gateway::health::ProviderFault;
use crate::workspace::trust::TRUST_REMEDY;

/// The maximum length of a shown task, in characters.
const TASK_CHARS: usize = 100;

#[derive(Args)]
pub(super) struct Arguments {
    /// The workspace; defaults to the current folder
    workspace: Option<PathBuf>,
    /// Print the work as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn status(arguments: &Arguments) -> CliResult {
    let named = arguments.workspace.as_deref();
    let folder = workspace_argument::workspace(named, IfMissing::Fail)?;
    let (tasks, together) = status::status(&folder).map_err(|error| CliError::failed(&error).hint(error.remedy()))?;
    let hints = |task: &UnfinishedTask| CommandHints {
        workspace: named.map(|named| named.display().to_string()),
        scene: Some(stem(&task.scene).to_owned()),
        provider: None,
        continue_command: None,
    };
    let workflows: Vec<RunHead> = runs(&folder).into_iter().filter(|run| run.status != "done").collect();
    let page = page_of(&folder.canonicalize().unwrap_or(folder), &Environment::of_process());
    let page = page.map_err(|problem| CliError::failed(problem.to_string()).hint(problem.remedy))?;
    if arguments.json {
        let tasks: Vec<Value> = tasks.iter().map(|task| to_json(task, &hints(task))).collect();
        let workflows = workflows.iter().map(|run| {
            let resume = resume_workflow(run);
            json!({ "run": run.key, "workflow": run.name, "status": run.status, "resume": resume })
        });
        output::json(&json!({
            "unfinished": tasks,
            "workflows": workflows.collect::<Vec<_>>(),
            "handed_over": together.hand_overs,
            "channels": together.channels,
            "reading": together.reading,
            "allowed_until": together.allowed,
            "provider_faults": together.faults,
            "tasks_for_people": together.person_tasks,
            "trust": page,
        }))?;
    } else {
        if !page.is_settled() {
            output::note(&format!("{}: {TRUST_REMEDY}", page.summary()));
        }
        if tasks.is_empty() && workflows.is_empty() {
            output::note("no unfinished work");
        }
        let workflows = workflows.iter().map(|run| {
            let RunHead { key, name, status, .. } = run;
            format!("{key}  workflow {name}: {status}\n  continue with: {}", resume_workflow(run))
        });
        let tasks = tasks.iter().map(|task| task_details(task, &hints(task)));
        let handed = list("handed over:", together.hand_overs.iter().map(hand_over_line));
        let channels = list("channels:", together.channels.iter().map(channel_line));
        let reading = list("waiting until a model can be called:", together.reading.iter().map(reading_line));
        let allowed = list("allowed until a time:", together.allowed.iter().map(allowed_line));
        let failing = list("providers that fail:", together.faults.iter().map(fault_line));
        let people =
            together.person_tasks.iter().map(|task| format!("  {}\n    {}", person_task_message(task), task.remedy));
        let people = list("work that waits for you:", people);
        let parts = failing.into_iter().chain(people).chain(workflows).chain(tasks).chain(reading).chain(handed);
        let parts: Vec<String> = parts.chain(channels).chain(allowed).collect();
        if !parts.is_empty() {
            output::result(&parts.join("\n\n"))?;
        }
    }
    Ok(ExitStatus::Done)
}

/// A title with lines below it; `None` if there are no lines.
fn list(title: &str, lines: impl Iterator<Item = String>) -> Option<String> {
    let lines: Vec<String> = lines.collect();
    (!lines.is_empty()).then(|| format!("{title}\n{}", lines.join("\n")))
}

fn reading_line(WaitingReads { scene, agent, count, why }: &WaitingReads) -> String {
    let what = if *count == 1 { "1 thing to read or answer" } else { "things to read or answer" };
    let count = if *count == 1 { String::new() } else { format!("{count} ") };
    format!("  {agent} ({}): {count}{what}: {why}", stem(scene))
}

fn hand_over_line(HandOverStatus { scene, work }: &HandOverStatus) -> String {
    let turns = match work.deadline_turns {
        Some(deadline) => format!(", {} of {deadline} turns", work.turns),
        None => String::new(),
    };
    let task = truncate(&first_paragraph(&work.task), TASK_CHARS);
    format!("  {}, {} → {}: {task} ({}{turns})", stem(scene), work.from, work.to, work.state)
}

fn fault_line(FaultStatus { scene, for_secs, fault }: &FaultStatus) -> String {
    let ProviderFault { provider, models, what, remedy, failures, .. } = fault;
    let models = models.iter().filter(|model| !model.is_empty()).map(String::as_str).collect::<Vec<_>>().join(", ");
    let models = if models.is_empty() { String::new() } else { format!(" ({models})") };
    let remedy = if remedy.is_empty() { String::new() } else { format!("\n    {remedy}") };
    let calls = if *failures == 1 { "1 call".to_owned() } else { format!("{failures} calls in a row") };
    format!("  {}, {provider}{models}: {what}; {calls} failed, for {for_secs} simulated seconds{remedy}", stem(scene))
}

fn allowed_line(AllowedUntil { scene, agent, may, until }: &AllowedUntil) -> String {
    format!("  {}, {agent} may {may} until {until}", stem(scene))
}

fn channel_line(channel: &ChannelStatus) -> String {
    let ChannelStatus { scene, name, messages, refused, subscribers } = channel;
    let who = subscribers.iter().map(|one| match one.waiting {
        0 => one.agent.to_string(),
        waiting => format!("{} ({waiting} behind)", one.agent),
    });
    let who = who.collect::<Vec<_>>().join(", ");
    let who = if who.is_empty() { "no listeners".to_owned() } else { format!("{who} listening") };
    let refused = if *refused > 0 { format!(", {refused} refused") } else { String::new() };
    let plural = if *messages == 1 { "" } else { "s" };
    format!("  {}, #{name}: {messages} message{plural}{refused}; {who}", stem(scene))
}

fn resume_workflow(run: &RunHead) -> String {
    format!("workshop workflow resume {}", run.key)
}

/// The name of a scene as on the command line: its file name without the extension.
pub(super) fn stem(scene: &str) -> &str {
    let file = scene.strip_prefix("scenes/").unwrap_or(scene);
    file.strip_suffix(".yaml").or_else(|| file.strip_suffix(".yml")).unwrap_or(file)
}

fn task_details(task: &UnfinishedTask, hints: &CommandHints) -> String {
    let mut lines = vec![
        format!(
            "{}  {} ({}), {}: {}",
            task.root.id(),
            task.name,
            task.agent,
            stem(&task.scene),
            truncate(&first_paragraph(&task.task), TASK_CHARS)
        ),
        format!("  so far: {} model calls, {} tokens, {}", task.used.calls, task.used.tokens, task.used.cost()),
    ];
    lines.extend((!task.exchanged.is_empty()).then(|| format!("  between agents: {}", task.exchanged)));
    lines.extend(task.pieces.iter().map(|piece| {
        let answer = piece.approval.as_ref().map(|id| format!("; answer with: workshop approvals allow {id}"));
        format!("  {}: {}{}", piece.agent, piece.state, answer.unwrap_or_default())
    }));
    lines.extend(task.granted.iter().map(|(agent, what)| format!("  {agent} may, until this is over: {what}")));
    lines.push(format!("  continue with: {}", hints.resume(&task.root.id())));
    lines.join("\n")
}

fn to_json(task: &UnfinishedTask, hints: &CommandHints) -> Value {
    let allowed: Vec<Value> = task.granted.iter().map(|(agent, what)| json!({ "agent": agent, "may": what })).collect();
    json!({
        "id": task.root.id(),
        "scene": task.scene,
        "agent": task.agent,
        "name": task.name,
        "task": task.task,
        "pieces": task.pieces,
        "allowed_for_task": allowed,
        "calls": task.used.calls,
        "tokens": task.used.tokens,
        "cost_usd": task.used.cost().known(),
        "cost_known_usd": task.used.cost_usd(),
        "unpriced_tokens": task.used.unpriced_tokens,
        "exchanged": task.exchanged,
        "resume": hints.resume(&task.root.id()),
    })
}

/// Finds a task by its id (`act-7-3kq9x2mf`), or by its number (`act-7` or `7`) if only one task has it.
pub(super) fn choose<'a>(tasks: &'a [UnfinishedTask], word: &str) -> Result<&'a UnfinishedTask, CliError> {
    let word = word.trim();
    let number = word.strip_prefix("act-").unwrap_or(word);
    let mut numbered = tasks.iter().filter(|task| task.root.number().to_string() == number);
    let only = numbered.next().filter(|_| numbered.next().is_none());
    tasks.iter().find(|task| *task.root.id() == *word).or(only).ok_or_else(|| {
        let there: Vec<String> = tasks.iter().map(|task| task.root.id().to_string()).collect();
        let hint = match there.as_slice() {
            [] => "no unfinished work".to_owned(),
            there => format!("unfinished work: {}; see it with: workshop status", there.join(", ")),
        };
        CliError::usage(format!("no unfinished work matches {word:?}")).hint(hint)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::status::SubscriberStatus;
    use crate::base::{ActivationKey, RunTag};
    use crate::gateway::ExchangeCounts;
    use crate::gateway::ledger::Tally;
    use crate::kernel::{UnfinishedActivation, UnfinishedHandOver};

    fn task(root: u64) -> UnfinishedTask {
        task_of(ActivationKey::numbered(root))
    }

    fn task_of(root: ActivationKey) -> UnfinishedTask {
        UnfinishedTask {
            scene: "scenes/studio.yaml".into(),
            root,
            agent: "lead".into(),
            name: "Lead".into(),
            task: "Plan\na party".into(),
            pieces: vec![UnfinishedActivation {
                activation: "act-7".into(),
                agent: "kid".into(),
                state: "waits for a person: writing a.md".into(),
                approval: Some("7-1-0-abcd".into()),
            }],
            granted: vec![("kid".into(), "change files with vfs_edit".into())],
            used: Tally { calls: 3, tokens: 1_234, ..Tally::default() },
            exchanged: ExchangeCounts { hand_overs: 2, entries: 1, ..ExchangeCounts::default() },
        }
    }

    #[test]
    fn unfinished_work_is_shown_with_its_cost_state_and_resume_command() {
        let hints = CommandHints {
            workspace: Some("room".into()),
            scene: Some("studio".into()),
            provider: None,
            continue_command: None,
        };
        let text = task_details(&task(7), &hints);
        for part in [
            "act-7  Lead (lead), studio: Plan a party",
            "3 model calls, 1234 tokens",
            "between agents: 2 tasks handed over, 1 blackboard change",
            "kid: waits for a person: writing a.md; answer with: workshop approvals allow 7-1-0-abcd",
            "continue with: workshop run room --scene studio --resume act-7",
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
    }

    #[test]
    fn channels_and_handed_over_tasks_are_one_line_each() {
        let mut channel = ChannelStatus {
            scene: "scenes/studio.yaml".into(),
            name: "findings".into(),
            messages: 3,
            refused: 0,
            subscribers: Vec::new(),
        };
        assert_eq!(channel_line(&channel), "  studio, #findings: 3 messages; no listeners");
        let of = |agent: &str, waiting| SubscriberStatus { agent: agent.into(), waiting };
        channel.subscribers = vec![of("ada", 0), of("bea", 2)];
        (channel.messages, channel.refused) = (1, 4);
        assert_eq!(channel_line(&channel), "  studio, #findings: 1 message, 4 refused; ada, bea (2 behind) listening");
        let work = UnfinishedHandOver {
            run: "act-7".into(),
            from: "lead".into(),
            to: "ada".into(),
            task: "Count\nchairs".into(),
            state: "queued".into(),
            turns: 1,
            deadline_turns: Some(4),
        };
        let text = hand_over_line(&HandOverStatus { scene: "scenes/studio.yaml".into(), work });
        assert_eq!(text, "  studio, lead → ada: Count chairs (queued, 1 of 4 turns)");
    }

    #[test]
    fn work_is_found_by_its_id_or_number() {
        let [one, other] = ["r-1", "r-2"].map(|run| ActivationKey::new(8, RunTag::of(run)));
        let tasks = [task(7), task(70), task_of(one), task_of(other)];
        for (word, number) in [("act-7", Some(7)), ("70", Some(70)), ("act-8", None), ("", None)] {
            assert_eq!(choose(&tasks, word).map(|task| task.root.number()).ok(), number, "{word:?}");
        }
        for key in [one, other] {
            assert_eq!(choose(&tasks, &key.id()).map(|task| task.root).ok(), Some(key));
        }
    }
}
