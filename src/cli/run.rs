//! `workshop run`: runs a room without a window, until a time, a tick, the end of a task, or until there is nothing
//! left to do.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use bevy::ecs::prelude::*;

use super::approval_prompts::{ApprovalPrompts, OnAsk};
use super::command_hints::CommandHints;
use super::event_feed::Feed;
use super::output::{self, Sink};
use super::passive_step::{self, HandOver, Overview};
use super::problem_reporter::ProblemReporter;
use super::report::{CallOutcomes, FailedWork, FilesChanged, Report, SIMULATED, Verdict, describe_unfinished};
use super::step_report::ActionLog;
use super::stop_condition::StopCondition;
use super::task_goal::{Task, Unfinished, failed_work, is_over};
use super::workspace_argument::{self, IfMissing};
use super::{CliError, CliResult, ExitStatus, resume_arguments, shared_arguments, status, trust};
use crate::app::clock_driver::{EventTap, Step};
use crate::app::opening::OpenError;
use crate::app::room::{OpenOptions, Room};
use crate::app::status::unfinished_tasks;
use crate::app::trust::{TrustChoice, page_of};
use crate::base::Problem;
use crate::desk::person_tasks;
use crate::gateway::settings::GatewaySettings;
use crate::gateway::{Environment, ProviderHealth, RequestQueue};
use crate::kernel::{Kernel, KernelCommand};
use crate::log::EventRecord;
use crate::orchestration::workflow::WorkflowRuns;
use crate::schedule::{InputQueue, SimClock, Speed, TICKS_PER_SEC};
use crate::simulation::SetRestMode;
use crate::workspace::trust::TRUST_REMEDY;
use crate::workspace::{KnownFiles, Problems, RoomStart, SceneState, WorkspaceTrust};

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// The workspace; defaults to the current folder if it is one, else ./my-workshop, created from the starter kit on
    /// first use
    pub(super) workspace: Option<PathBuf>,
    /// The scene: its file name without .yaml
    #[arg(long)]
    pub(super) scene: Option<String>,
    /// Who gets the task: an agent in the scene, or a profile to add to it
    #[arg(long, requires = "task", value_name = "ID")]
    pub(super) agent: Option<String>,
    /// Like --agent, but all other agents rest: they read, talk and call models only for this task
    #[arg(long, requires = "task", conflicts_with = "agent", value_name = "ID")]
    pub(super) only: Option<String>,
    /// The task; - reads standard input, @FILE a file; the run ends when the task does
    #[arg(long, value_name = "TEXT", value_parser = parse_task)]
    pub(super) task: Option<String>,
    /// Resume unfinished work by its id from `workshop status`; the run ends when the work does
    #[arg(long, value_name = "ID", conflicts_with_all = ["task", "fresh"])]
    pub(super) resume: Option<String>,
    /// Write the result to a file instead of printing it
    #[arg(long, value_name = "FILE")]
    pub(super) out: Option<PathBuf>,
    /// How to handle approvals; by default asks on the terminal, or stops if there is none
    #[arg(long, value_name = "ACTION")]
    pub(super) on_ask: Option<OnAsk>,
    /// Continue work that was paused before the room was closed
    #[arg(long)]
    pub(super) unpause: bool,
    /// Run for this much simulated time: 90s, 10m, 1h 30m
    #[arg(long = "for", value_name = "TIME", value_parser = humantime::parse_duration, conflicts_with_all = ["ticks", "until"])]
    pub(super) for_time: Option<Duration>,
    /// Run for this many ticks of 1/30 s
    #[arg(long, conflicts_with = "until")]
    pub(super) ticks: Option<u64>,
    /// Run until nothing is queued, waiting for a model or in progress
    #[arg(long, value_parser = ["idle"])]
    pub(super) until: Option<String>,
    /// Override the scene's seed
    #[arg(long)]
    pub(super) seed: Option<u64>,
    /// 1, 4, 16, or max
    #[arg(long, default_value = "1", value_parser = parse_speed)]
    pub(super) speed: Speed,
    /// Override every agent's provider: offline, scripted:FILE, gemini, openai, anthropic, ollama
    #[arg(long)]
    pub(super) provider: Option<String>,
    /// Override every agent's model: a model of the provider, or PROVIDER:MODEL
    #[arg(long)]
    pub(super) model: Option<String>,
    /// Write events as they happen, as JSON Lines: to a file, or - for standard output
    #[arg(long, value_name = "FILE")]
    pub(super) events: Option<PathBuf>,
    /// Write the final scene to this file
    #[arg(long, value_name = "FILE")]
    pub(super) scene_out: Option<PathBuf>,
    /// Start over from the scene file: forget where agents were and what they remember
    #[arg(long)]
    pub(super) fresh: bool,
    /// Trust the workspace for this run: what it allows applies, and what it starts by itself starts
    #[arg(long)]
    pub(super) trust: bool,
    /// Print one JSON object on standard output: how it ended, why, the result, files, cost, problems, approvals
    #[arg(long)]
    pub(super) json: bool,
    /// On standard error, print only why the run failed, if it did
    #[arg(long, short)]
    pub(super) quiet: bool,
    /// Whether each piece of work gets one turn, after which the run ends.
    #[arg(skip)]
    pub(super) one_turn_each: bool,
    /// Whether this is `workshop daemon`: it asks nothing on the terminal, and if another process has the room open, it
    /// hands over or waits.
    #[arg(skip)]
    pub(super) is_daemon: bool,
}

impl Arguments {
    /// The arguments of `workshop run` without any options.
    pub(super) fn empty() -> Self {
        Self {
            workspace: None,
            scene: None,
            agent: None,
            only: None,
            task: None,
            resume: None,
            out: None,
            on_ask: None,
            unpause: false,
            for_time: None,
            ticks: None,
            until: None,
            seed: None,
            speed: Speed::Times(1),
            provider: None,
            model: None,
            events: None,
            scene_out: None,
            fresh: false,
            trust: false,
            json: false,
            quiet: false,
            one_turn_each: false,
            is_daemon: false,
        }
    }

    /// The stop condition of a run that starts at `tick`.
    fn stop(&self, tick: u64, has_task: bool) -> StopCondition {
        if let Some(time) = self.for_time {
            StopCondition::AtTick(tick + (time.as_secs_f64() * TICKS_PER_SEC as f64).round() as u64)
        } else if let Some(ticks) = self.ticks {
            StopCondition::AtTick(tick + ticks)
        } else if self.one_turn_each {
            StopCondition::AfterOneTurnEach
        } else if self.until.is_some() {
            StopCondition::WhenIdle
        } else if has_task {
            StopCondition::AfterTask
        } else {
            StopCondition::Never
        }
    }
}

fn parse_task(text: &str) -> Result<String, String> {
    if text.trim().is_empty() { Err("the task is empty".to_owned()) } else { Ok(text.to_owned()) }
}

/// Parses a speed: `1`, `4`, `16` or `max`.
pub(super) fn parse_speed(word: &str) -> Result<Speed, String> {
    match word {
        "max" => Ok(Speed::Max),
        "1" | "4" | "16" => Ok(Speed::Times(word.parse().map_err(|_| "not a number".to_owned())?)),
        _ => Err("expected 1, 4, 16 or max".to_owned()),
    }
}

pub(super) fn run(arguments: &Arguments) -> CliResult {
    run_for(arguments, None, arguments.only.is_some())
}

/// Runs the room for `task`, or for the task in `arguments` if it is `None`. With `alone`, all other agents rest.
pub(super) fn run_for(arguments: &Arguments, task: Option<Task>, alone: bool) -> CliResult {
    let reported = open(arguments, task, alone).and_then(|opened| match opened {
        Opened::Room(run) => run.run_to_end(),
        Opened::HandedOver(report) => Ok(*report),
    });
    let report = match reported {
        Ok(report) => report,
        Err(error) => {
            if arguments.json && error.exit != ExitStatus::ReaderGone {
                output::json(&Report::of_error(&error).to_json())?;
            }
            return Err(error);
        }
    };
    let result_in_events =
        arguments.out.is_some() || arguments.events.as_deref().is_some_and(output::is_standard_output);
    report.print(arguments.json, arguments.quiet, result_in_events)?;
    Ok(report.verdict.exit)
}

/// A run, from opening the room to the report.
struct Run<'a> {
    arguments: &'a Arguments,
    room: Room,
    task: Option<Task>,
    stop: StopCondition,
    prompts: ApprovalPrompts,
    hints: CommandHints,
    folder: PathBuf,
    unfinished: Unfinished,
    out: Output,
    began: Instant,
    first_tick: u64,
    /// The Ctrl-C flag, if a handler is already installed.
    interrupted: Option<Arc<AtomicBool>>,
}

/// The result of opening a room.
enum Opened<'a> {
    /// This process has the room open.
    Room(Box<Run<'a>>),
    /// Another process has the room open and has loaded the current files.
    HandedOver(Box<Report>),
}

/// Installs a Ctrl-C handler and returns the flag that it sets. Call this once per process.
pub(super) fn watch_interrupts() -> Result<Arc<AtomicBool>, CliError> {
    let interrupted = Arc::new(AtomicBool::new(false));
    let flag = interrupted.clone();
    ctrlc::set_handler(move || flag.store(true, Ordering::Relaxed)).map_err(CliError::failed)?;
    Ok(interrupted)
}

/// How long a daemon waits before it tries again to open a room that another process has open.
const RETRY_INTERVAL: Duration = Duration::from_millis(300);

fn open(arguments: &Arguments, task: Option<Task>, alone: bool) -> Result<Opened<'_>, CliError> {
    if arguments.json && arguments.events.as_deref().is_some_and(output::is_standard_output) {
        return Err(CliError::usage("--json and --events - both write to standard output")
            .hint("write the events to a file with: --events FILE"));
    }
    // An unknown provider is reported before a workspace is created.
    arguments.provider.as_deref().map(shared_arguments::resolve_provider).transpose()?;
    let named = arguments.workspace.as_deref();
    let folder = workspace_argument::workspace(named, IfMissing::CreateDefault)?;
    if !arguments.trust && !arguments.is_daemon && !arguments.json {
        trust::offer(&folder)?;
    }
    let provider =
        shared_arguments::provider_override(arguments.provider.as_deref(), arguments.model.as_deref(), &folder)?;
    let given = match task {
        Some(task) => TaskArgument { task: Some(task), scene: arguments.scene.clone() },
        None => task_argument(arguments, &folder)?,
    };
    let out_file = arguments.out.as_deref().map(ResultFile::new).transpose()?;
    let options = OpenOptions {
        folder,
        scene: given.scene.clone().or_else(|| arguments.scene.clone()),
        seed: arguments.seed,
        provider: provider.clone(),
        fresh: arguments.fresh,
        watch: true,
        writes: arguments.events.iter().chain(&arguments.scene_out).chain(&arguments.out).cloned().collect(),
        trust: if arguments.trust { TrustChoice::Everything } else { TrustChoice::Person },
    };
    let mut out = Output::open(arguments, out_file)?;
    let began = Instant::now();
    let mut interrupted = None;
    let (mut room, problems) = loop {
        match Room::open(&options) {
            Ok(opened) => break opened,
            Err(error) if arguments.is_daemon && error.is_in_use() => {
                let is_first = interrupted.is_none();
                let flag = match &interrupted {
                    Some(flag) => Arc::clone(flag),
                    None => interrupted.insert(watch_interrupts()?).clone(),
                };
                if let Some(report) = run_beside_owner(arguments, &options.folder, (&flag, is_first), began, &mut out)?
                {
                    return Ok(Opened::HandedOver(Box::new(report)));
                }
            }
            Err(error) => return Err(not_opened(&error)),
        }
    };
    if interrupted.is_some() {
        out.reporter.note("note: the workspace is free; taking over".to_owned());
    }
    out.reporter.report_problems(&problems);
    let world = room.app.world_mut();
    world.resource_mut::<SimClock>().speed = arguments.speed;
    world.insert_resource(EventTap::default());
    if alone {
        world.resource_mut::<InputQueue<SetRestMode>>().push(SetRestMode { on: true });
    }
    let first_tick = world.resource::<SimClock>().tick();
    let stop = arguments.stop(first_tick, given.task.is_some());
    let hints = CommandHints {
        workspace: named.map(|named| named.display().to_string()),
        scene: options.scene.clone().map(|scene| status::stem(&scene).to_owned()),
        provider: arguments.provider.as_ref().or(arguments.model.as_ref()).and(provider),
        continue_command: None,
    };
    let mut run = Run {
        task: given.task,
        prompts: ApprovalPrompts::new(
            (arguments.on_ask, !arguments.is_daemon),
            stop.ends_when_held(),
            hints.clone(),
            options.folder.clone(),
        ),
        hints,
        folder: options.folder.clone(),
        unfinished: Unfinished::of(world.resource::<Kernel>()),
        arguments,
        room,
        stop,
        out,
        began,
        first_tick,
        interrupted,
    };
    run.print_unfinished();
    if !alone {
        run.print_active_agents();
    }
    Ok(Opened::Room(Box::new(run)))
}

/// The error of a room that cannot be opened. One that the person has to decide about waits for them.
pub(super) fn not_opened(error: &OpenError) -> CliError {
    let exit = match error {
        OpenError::NotTrusted { .. } => ExitStatus::Waiting,
        _ => ExitStatus::Failed,
    };
    CliError { exit, ..CliError::failed(error).hint(error.remedy()) }
}

/// Handles a room that another process has open: a `--pump` step hands over to that process and reports the state of
/// the room; a `--watch` daemon waits until the room is free. Returns `None` if the caller should try again to open it.
fn run_beside_owner(
    arguments: &Arguments,
    folder: &Path,
    (interrupted, is_first): (&AtomicBool, bool),
    began: Instant,
    out: &mut Output,
) -> Result<Option<Report>, CliError> {
    let owner = passive_step::describe_owner(folder);
    let over = |verdict: Verdict| Report {
        verdict,
        took: began.elapsed(),
        ..Report::of_error(&CliError { exit: ExitStatus::Done, what: None, hint: None })
    };
    if !arguments.one_turn_each {
        if is_first {
            out.reporter.note(format!("note: {owner} has this workspace open; waiting to take over"));
        }
        if interrupted.load(Ordering::Relaxed) {
            return Ok(Some(over(Verdict::new(ExitStatus::Interrupted, "interrupted"))));
        }
        std::thread::sleep(RETRY_INTERVAL);
        return Ok(None);
    }
    if is_first {
        out.reporter.note(format!("note: {owner} has this workspace open and loads the files itself"));
    }
    match passive_step::hand_over(folder, interrupted)? {
        HandOver::Free => {
            std::thread::sleep(RETRY_INTERVAL);
            Ok(None)
        }
        HandOver::HandedOver(overview) => {
            for note in &overview.notes {
                out.reporter.note(format!("note: {note}"));
            }
            if overview.verdict.exit == ExitStatus::Done && !overview.verdict.reason.is_empty() {
                out.reporter.note(format!("note: {}", overview.verdict.reason));
            }
            let Overview { verdict, approvals, steps, unfinished, .. } = *overview;
            let actions = Some(ActionLog::default());
            Ok(Some(Report { approvals, steps, unfinished, actions, owner: Some(owner), ..over(verdict) }))
        }
    }
}

/// The task that the command line gives or resumes, and its scene, if known.
struct TaskArgument {
    task: Option<Task>,
    scene: Option<String>,
}

fn task_argument(arguments: &Arguments, folder: &Path) -> Result<TaskArgument, CliError> {
    if let Some(id) = arguments.resume.as_ref().filter(|id| id.trim().starts_with("wf-")) {
        let (goal, scene) = resume_arguments::resumed(folder, id, &[])?;
        return Ok(TaskArgument { task: Some(Task::workflow(goal)), scene: Some(scene) });
    }
    if let Some(id) = &arguments.resume {
        let tasks = unfinished_tasks(folder).map_err(|error| CliError::failed(&error).hint(error.remedy()))?;
        let chosen = status::choose(&tasks, id)?;
        let task = Task::resumed(&chosen.agent, chosen.task.clone(), chosen.root);
        return Ok(TaskArgument { task: Some(task), scene: Some(chosen.scene.clone()) });
    }
    let Some(given) = &arguments.task else { return Ok(TaskArgument { task: None, scene: None }) };
    let Some(agent) = arguments.agent.as_ref().or(arguments.only.as_ref()) else {
        let error = CliError::usage("no agent given for the task");
        return Err(error.hint("use --agent ID, or --only ID to let all other agents rest"));
    };
    Ok(TaskArgument { task: Some(Task::new(agent, shared_arguments::task_text(given)?)), scene: None })
}

impl Run<'_> {
    /// Prints which earlier work continues, so that nobody submits it twice.
    fn print_unfinished(&mut self) {
        let kernel = self.room.app.world().resource::<Kernel>();
        if let Some(words) = describe_unfinished(kernel) {
            self.out.reporter.note(format!("note: continuing unfinished work: {words}"));
        }
    }

    /// If the run has a task and model calls cost money, notes that other agents may call models, too.
    fn print_active_agents(&mut self) {
        let Some(task) = &self.task else { return };
        let world = self.room.app.world();
        let choice =
            world.resource::<GatewaySettings>().choose(world.resource::<RequestQueue>().provider_override(), None);
        let scene = &world.resource::<SceneState>().doc;
        let others = scene.agents.iter().filter(|other| *other.id != *task.agent()).count();
        if others == 0 || choice.is_ok_and(|choice| choice.is_simulated()) {
            return;
        }
        let active = if others == 1 {
            "1 other agent stays active".to_owned()
        } else {
            format!(
                "{others} other agents \
            stay active"
            )
        };
        let rest = match task.agent() {
            "" => "let them rest with --only".to_owned(),
            agent => format!("let them rest with --only {agent}"),
        };
        self.out.reporter.note(format!("note: {active} and may call models, too; {rest}"));
    }

    /// Runs the room until the stop condition holds, closes it and returns the report. The room is closed even after an
    /// error.
    fn run_to_end(mut self) -> Result<Report, CliError> {
        let verdict = self.run_loop().unwrap_or_else(Verdict::from);
        output::hide_status();
        self.close(verdict)
    }

    fn run_loop(&mut self) -> Result<Verdict, CliError> {
        let interrupted = match &self.interrupted {
            Some(interrupted) => interrupted.clone(),
            None => watch_interrupts()?,
        };
        if self.arguments.unpause {
            self.room.app.world_mut().resource_mut::<InputQueue<KernelCommand>>().push(KernelCommand::Resume);
        }
        if self.arguments.one_turn_each {
            self.room.app.world_mut().resource_mut::<InputQueue<KernelCommand>>().push(KernelCommand::OneTurnEach);
        }
        loop {
            if interrupted.load(Ordering::Relaxed) {
                return Ok(Verdict::new(ExitStatus::Interrupted, "interrupted"));
            }
            if let Some(problem) = self.room.lost() {
                // The room is paused until a person acts, and there is nobody to ask.
                return Ok(Verdict::new(ExitStatus::Failed, problem.to_string()));
            }
            let world = self.room.app.world_mut();
            if let Some(verdict) = self.stop.verdict(world, self.task.as_ref(), &self.prompts) {
                return Ok(verdict);
            }
            if let Some(task) = &mut self.task
                && let Some(verdict) = task.submit(world, self.arguments.unpause, &self.hints)?
            {
                return Ok(verdict);
            }
            self.prompts.ask(world, &interrupted);
            if self.room.driver.step(world) == Step::Ticked {
                let events = world.resource_mut::<EventTap>().take();
                if let Some(task) = &mut self.task {
                    task.watch(&events);
                }
                self.out.show(world, &events)?;
                self.prompts.handle_new(world, &events, &mut self.out.reporter);
            }
        }
    }

    /// Closes the room. All events are on disk when this returns.
    fn close(mut self, mut verdict: Verdict) -> Result<Report, CliError> {
        let continue_command = self.continue_hint();
        let world = self.room.app.world_mut();
        let kernel = world.resource::<Kernel>();
        if verdict.exit == ExitStatus::Done && self.task.is_none() && !self.arguments.one_turn_each {
            verdict = self.unfinished.verdict(kernel);
        }
        let failed_work = self.judge_helpers(&mut verdict);
        if verdict.exit == ExitStatus::Done
            && let Some(failed) = self.out.calls.verdict()
        {
            verdict = Verdict { result: verdict.result, ..failed };
        }
        let world = self.room.app.world_mut();
        let is_restricted = world.resource::<WorkspaceTrust>().is_restricted();
        if is_restricted && verdict.exit == ExitStatus::Done && self.task.is_none() {
            verdict = waits_for_trust(&self.folder).unwrap_or(verdict);
        }
        let kernel = world.resource::<Kernel>();
        if verdict.exit == ExitStatus::Interrupted {
            verdict = verdict.hint(continue_command);
        }
        if self.arguments.one_turn_each && verdict.exit == ExitStatus::Done && !verdict.reason.is_empty() {
            self.out.reporter.note(format!("note: {}", verdict.reason));
        }
        let is_simulated = self.out.calls.are_simulated();
        if is_simulated && verdict.result.is_some() {
            self.out.reporter.note(SIMULATED.to_owned());
        }
        let (approvals, unfinished) = (kernel.approvals().collect(), describe_unfinished(kernel));
        let steps = world.resource::<WorkflowRuns>().questions().collect();
        let ticks = world.resource::<SimClock>().tick() - self.first_tick;
        let ledger = world.resource::<RequestQueue>().ledger();
        let (spent, exchanged, traffic) = (ledger.run(), ledger.exchanges(), ledger.providers().clone());
        let mut problems: Vec<Problem> = world.resource::<Problems>().iter().cloned().collect();
        problems.extend(failed_work.iter().map(FailedWork::problem));
        let person_tasks = person_tasks::behind_all(world).of_person.into_iter().collect();
        let provider_faults = world.resource::<ProviderHealth>().faults();
        let scene = world.resource::<RoomStart>().scene.clone();
        let scene = world.resource::<KnownFiles>().text(&scene).unwrap_or_default().to_owned();
        let run = self.room.run.clone();
        let reason = if verdict.reason.is_empty() { verdict.exit.word() } else { &verdict.reason };
        let out = &mut self.out;
        let mut last_events = Ok(());
        let unsaved = self.room.close(reason, |events| last_events = out.write(events)).map_err(CliError::failed)?;
        self.out.reporter.report_problems(&unsaved);
        if verdict.exit != ExitStatus::ReaderGone {
            let written = last_events.and_then(|()| write_scene(self.arguments, &scene));
            if let Err(error) = written {
                verdict = Verdict { result: verdict.result, ..Verdict::from(error) };
            }
        }
        if let (Some(file), Some(result)) = (&self.out.result_file, &verdict.result)
            && let Err(error) = file.write(result)
        {
            verdict = Verdict { result: verdict.result, ..Verdict::from(error) };
        }
        Ok(Report {
            run: Some(run),
            is_restricted,
            verdict,
            ticks,
            took: self.began.elapsed(),
            spent,
            exchanged,
            traffic,
            files: self.out.files,
            actions: self.arguments.one_turn_each.then_some(self.out.actions),
            owner: None,
            problems,
            failed_work,
            person_tasks,
            is_simulated,
            provider_faults,
            approvals,
            steps,
            unfinished,
        })
    }
}

impl Run<'_> {
    /// The work of other agents that failed for the task. If all of it failed, so did the run, whatever its agent says.
    fn judge_helpers(&mut self, verdict: &mut Verdict) -> Vec<FailedWork> {
        let Some((task, run)) = self.task.as_ref().and_then(|task| Some((task, task.run()?))) else {
            return Vec::new();
        };
        let (failed, are_all) = failed_work(self.room.app.world().resource::<Kernel>(), run, task.agent());
        for one in &failed {
            self.out.reporter.note(format!("problem: {}", one.problem()));
        }
        if are_all && verdict.exit == ExitStatus::Done {
            let who: Vec<&str> = failed.iter().map(|one| &*one.agent).collect();
            let what = format!(
                "{} finished, but the work of all agents that it asked for help failed: {}",
                task.agent(),
                who.join(", ")
            );
            *verdict = Verdict { result: verdict.result.take(), ..Verdict::new(ExitStatus::Failed, what) };
        }
        failed
    }

    /// The hint on how to continue interrupted work; empty if nothing is unfinished.
    fn continue_hint(&self) -> String {
        let kernel = self.room.app.world().resource::<Kernel>();
        let run = self.task.as_ref().and_then(Task::run).filter(|run| !is_over(kernel, *run));
        let workflow = self.task.as_ref().and_then(|task| task.workflow_run(self.room.app.world()));
        if let Some(run) = workflow.filter(|run| run.is_running()) {
            return format!("continue with: workshop workflow resume {}", run.key);
        }
        match run {
            Some(run) => format!("continue with: {}", self.hints.resume(&run.id())),
            None if kernel.is_idle() => String::new(),
            None => format!("continue with: {}", self.hints.continue_work()),
        }
    }
}

/// The verdict of a run in a restricted workspace in which something waits to start by itself; `None` if nothing does.
fn waits_for_trust(folder: &Path) -> Option<Verdict> {
    let page = page_of(folder, &Environment::of_process()).ok()?;
    let first = page.starts.first()?;
    let more = page.starts.len() - 1;
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let reason =
        format!("you have not trusted this workspace, so it did not start {} of {}{more}", first.what, first.place);
    Some(Verdict::new(ExitStatus::Waiting, reason).hint(TRUST_REMEDY))
}

fn write_scene(arguments: &Arguments, text: &str) -> Result<(), CliError> {
    let Some(file) = &arguments.scene_out else { return Ok(()) };
    std::fs::write(file, text).map_err(|error| CliError::failed(format!("{}: {error}", file.display())))
}

/// The outputs of a run: event file, feed, problems, and the data for the report.
struct Output {
    events: Option<Sink>,
    feed: Feed,
    reporter: ProblemReporter,
    files: FilesChanged,
    actions: ActionLog,
    calls: CallOutcomes,
    result_file: Option<ResultFile>,
}

/// The file of `--out`, to which the result is written instead of standard output.
struct ResultFile(PathBuf);

impl ResultFile {
    /// Checks early that `path` is a file name in an existing folder.
    fn new(path: &Path) -> Result<Self, CliError> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        if path.is_dir() || folder.is_some_and(|folder| !folder.is_dir()) {
            let error = CliError::usage(format!("--out {}: cannot write a file there", path.display()));
            return Err(error.hint("choose a file in an existing folder"));
        }
        Ok(Self(path.to_owned()))
    }

    fn write(&self, result: &str) -> Result<(), CliError> {
        let text = if result.ends_with('\n') { result.to_owned() } else { format!("{result}\n") };
        std::fs::write(&self.0, text).map_err(|error| CliError::failed(format!("{}: {error}", self.0.display())))
    }
}

impl Output {
    fn open(arguments: &Arguments, result_file: Option<ResultFile>) -> Result<Self, CliError> {
        let events = arguments.events.as_deref().map(Sink::open).transpose()?;
        let feed = if arguments.quiet { Feed::silent() } else { Feed::for_terminal() };
        let (reporter, files) = (ProblemReporter::new(arguments.quiet), FilesChanged::default());
        let (actions, calls) = (ActionLog::default(), CallOutcomes::default());
        Ok(Self { events, feed, reporter, files, actions, calls, result_file })
    }

    fn show(&mut self, world: &mut World, events: &[EventRecord]) -> Result<(), CliError> {
        self.write(events)?;
        self.files.watch(events);
        self.actions.watch(events);
        self.calls.watch(events);
        self.feed.show(world, events);
        self.reporter.report_new(world, events);
        self.feed.status(world);
        Ok(())
    }

    fn write(&mut self, events: &[EventRecord]) -> Result<(), CliError> {
        self.events.as_mut().map_or(Ok(()), |events_out| events_out.write(events))
    }
}
