//! A chat with one agent: the agent's room is opened, all other agents rest, and each message is added to the agent's
//! session with the whole history.
//!
//! The history is authoritative: with each message, all of it enters the room as a session file (an input), so that a
//! chat continues where it ended. While the person types the next message, the room runs in real time, by the person's
//! clock: the agent wakes up when its heartbeat is due.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bevy::ecs::prelude::*;
use bevy::math::Vec2;

use super::super::approval_prompts::{ApprovalPrompts, LineReader, OnAsk};
use super::super::command_hints::CommandHints;
use super::super::problem_reporter::ProblemReporter;
use super::super::report::{CallOutcomes, SIMULATED, Verdict};
use super::super::run::not_opened;
use super::super::stop_condition::StopCondition;
use super::super::task_goal::{Task, WORK_PAUSED, is_paused};
use super::super::{CliError, ExitStatus, output, shared_arguments, trust};
use super::agent_folder::{AgentPlace, DataFolders};
use super::events::AgentEvent;
use super::history::{Entry, History, Speaker};
use super::journal::Journal;
use super::progress::Progress;
use super::skills;
use super::terminal::{LineResult, TypedLine};
use super::wakes::{WakeOutput, Wakes};
use crate::agent::agent_file::folder_of_agent;
use crate::agent::formats::format_of;
use crate::agent::{Agent, AgentCommand, AgentProfile, KnownSkills, Profiles};
use crate::app::clock_driver::{Driver, EventTap, Step};
use crate::app::room::{OpenOptions, Room};
use crate::base::{ActivationKey, Id, Severity};
use crate::desk::Heartbeats;
use crate::desk::heartbeats::heartbeat_path;
use crate::desk::modules::{ModulesLoading, module_files};
use crate::kernel::{Activation, ApprovalId, Kernel, KernelCommand};
use crate::log::EventRecord;
use crate::schedule::{InputQueue, SimClock, Speed};
use crate::simulation::SetRestMode;
use crate::skills::SkillIndex;
use crate::tools::Tools;
use crate::workspace::files::FileContent;
use crate::workspace::session_files::{parse, path_of};
use crate::workspace::vfs::RecordChanged;
use crate::workspace::{KnownFiles, Problems};

/// Sending a message fails if the room has not accepted it after this many ticks (30 s of simulated time).
const ACCEPT_TIMEOUT_TICKS: u64 = 900;
/// An added agent has the tools of its modules after this many ticks in which no module is loading.
const MODULE_TICKS: u32 = 4;
/// The maximum number of records of the last answer that are kept for `/why`.
const MAX_RECORDS: usize = 400;

/// The options of a chat.
#[derive(Clone, Debug)]
pub(super) struct ChatOptions {
    pub(super) place: AgentPlace,
    /// The agent's path as given, for use in hints.
    pub(super) named: PathBuf,
    pub(super) session: String,
    pub(super) provider: Option<String>,
    pub(super) model: Option<String>,
    pub(super) on_ask: Option<OnAsk>,
    /// Whether there is only one prompt (`--prompt`): the chat then also waits until the agent has reflected on its
    /// work, and does not show wake-ups.
    pub(super) is_single_prompt: bool,
}

/// A running chat.
pub(super) struct Chat {
    pub(super) options: ChatOptions,
    room: Room,
    /// The id of the agent's profile.
    agent: Id,
    /// The agent in the room that runs the profile, as far as known.
    runner: Id,
    history: History,
    folders: DataFolders,
    journal: Journal,
    prompts: ApprovalPrompts,
    reporter: ProblemReporter,
    interrupted: Arc<AtomicBool>,
    records: VecDeque<EventRecord>,
    wakes: Wakes,
    /// The approval that was announced at the prompt.
    announced_question: Option<ApprovalId>,
    /// Whether the person pressed Ctrl-C again while an answer was being stopped.
    has_left: bool,
}

impl Chat {
    /// Opens the agent's room. `read` reads answers to questions, if there is an interactive terminal.
    pub(super) fn open(
        options: ChatOptions,
        read: Option<LineReader>,
        interrupted: Arc<AtomicBool>,
    ) -> Result<Self, CliError> {
        let AgentPlace { workspace, .. } = &options.place;
        let provider =
            shared_arguments::provider_override(options.provider.as_deref(), options.model.as_deref(), workspace)?;
        trust::offer(workspace)?;
        let writes = own_files(&options);
        let room_options = OpenOptions {
            folder: workspace.clone(),
            scene: options.place.scene(),
            provider: provider.clone(),
            watch: true,
            writes,
            ..OpenOptions::default()
        };
        let (mut room, problems) = Room::open(&room_options).map_err(|error| {
            let what = match error.is_in_use() {
                true => format!("the session {} is in use: {error}", options.session),
                false => error.to_string(),
            };
            CliError { what: Some(what), ..not_opened(&error) }
        })?;
        let mut reporter = ProblemReporter::new(!output::stderr_is_terminal());
        reporter.report_problems(&problems);
        let world = room.app.world_mut();
        world.resource_mut::<SimClock>().speed = Speed::Max;
        world.insert_resource(EventTap::default());
        world.resource_mut::<InputQueue<SetRestMode>>().push(SetRestMode { on: true });
        let named = options.named.display().to_string();
        let mut words = vec!["agent".to_owned(), named];
        words.extend(["--session".to_owned(), options.session.clone()]);
        for (flag, value) in [("--provider", &options.provider), ("--model", &options.model)] {
            words.extend(value.iter().flat_map(|value| [flag.to_owned(), value.clone()]));
        }
        words.extend(["--prompt".to_owned(), "Go on.".to_owned()]);
        let hints = CommandHints {
            workspace: Some(workspace.display().to_string()),
            scene: None,
            provider,
            continue_command: Some(words),
        };
        let prompts = match read {
            Some(read) => ApprovalPrompts::in_chat(options.on_ask, read, hints, workspace.clone()),
            None => ApprovalPrompts::new((options.on_ask, true), true, hints, workspace.clone()),
        };
        let opened = Opening { options, room, prompts, reporter, interrupted };
        opened.begin()
    }

    /// The agent's name.
    pub(super) fn name(&self) -> String {
        self.profile().map_or_else(|| self.agent.to_string(), |profile| profile.name.clone())
    }

    /// The id of the agent's profile.
    pub(super) fn agent(&self) -> &Id {
        &self.agent
    }

    /// The id of the agent in the room that runs the profile.
    pub(super) fn runner(&self) -> &Id {
        &self.runner
    }

    pub(super) fn world(&self) -> &World {
        self.room.app.world()
    }

    /// The agent's profile; `None` if its file is gone.
    pub(super) fn profile(&self) -> Option<&AgentProfile> {
        self.world().resource::<Profiles>().get(&self.agent)
    }

    /// The agent's current skills.
    pub(super) fn skills(&self) -> SkillIndex {
        let (world, profiles) = (self.world(), self.world().resource::<Profiles>());
        let found = profiles.path(&self.agent).zip(profiles.get(&self.agent));
        let skills = found.map(|(path, profile)| {
            let (authority, _) = world.resource::<Tools>().authority(path, profile);
            let skills = world.resource::<KnownSkills>().of_agent(path, profile);
            skills.seen_from(authority.folder_for("vfs_read"))
        });
        skills.unwrap_or_default()
    }

    /// The folder of the agent's sessions.
    pub(super) fn sessions(&self) -> &std::path::Path {
        &self.folders.sessions
    }

    /// The number of messages in the session.
    pub(super) fn messages(&self) -> usize {
        self.history.entries.len()
    }

    /// Whether the person wants to leave instead of waiting for an answer to stop.
    pub(super) fn has_left(&self) -> bool {
        self.has_left
    }

    /// The event records since the last message, oldest first.
    pub(super) fn records(&self) -> impl Iterator<Item = &EventRecord> {
        self.records.iter()
    }

    /// Deletes the history of this session.
    pub(super) fn clear(&mut self) -> Result<(), CliError> {
        self.history.entries.clear();
        self.journal.line("cleared");
        self.history.write()
    }

    /// The name of the session in the room.
    fn session_name(&self) -> String {
        format!("{}.{}", self.agent, self.options.session)
    }

    fn is_live(&self, thread: ActivationKey) -> bool {
        self.world().resource::<Kernel>().thread(thread).is_some_and(|thread| thread.live.is_some())
    }

    /// The unfinished work of this session.
    fn live_activation(&self) -> Option<(ActivationKey, &Activation)> {
        let kernel = self.world().resource::<Kernel>();
        let thread = kernel.session_named(&self.session_name())?;
        Some((thread, kernel.activation(kernel.thread(thread)?.live?)?))
    }

    /// Finishes the work that the last chat in this session left unfinished; `None` if there is none.
    pub(super) fn finish(&mut self, show: &mut dyn FnMut(&AgentEvent)) -> Result<Option<Verdict>, CliError> {
        let Some((thread, one)) = self.live_activation() else { return Ok(None) };
        let seen = self.history.entries.len().min(one.messages.len());
        let progress = Progress::new(thread, &one.messages[..seen]);
        let text = one.input.clone();
        self.follow(thread, text, progress, show).map(Some)
    }

    /// Sends a message to the agent and waits for the answer.
    pub(super) fn send(&mut self, input: &str, show: &mut dyn FnMut(&AgentEvent)) -> Result<Verdict, CliError> {
        if let Some(why) = self.paused() {
            return Ok(Verdict::new(ExitStatus::Waiting, why));
        }
        let text = skills::expand_skill(&self.skills(), input)?;
        if let Some(verdict) = self.finish(show)? {
            if verdict.exit == ExitStatus::Interrupted || self.live_activation().is_some() {
                return Ok(verdict);
            }
            if verdict.exit != ExitStatus::Done {
                output::note(&format!("note: earlier unfinished work has ended: {}", verdict.reason));
            }
        }
        self.records.clear();
        self.history.entries.push(Entry::text(Speaker::User, text.clone()));
        let path = path_of(&self.session_name());
        let file = self.history.to_session_file(&self.agent, &self.session_name())?;
        if let Err(fault) = parse(&file) {
            self.history.entries.pop();
            let what = format!(
                "the history of the session {} cannot be continued: \
                {}",
                self.options.session, fault.what
            );
            return Err(CliError::failed(what).hint("fix its history.json, or start over with /clear"));
        }
        self.journal.line(&format!("user: {input}"));
        self.write_history();
        let change = RecordChanged::new(path.clone(), FileContent::Text(file));
        self.room.app.world_mut().resource_mut::<InputQueue<RecordChanged>>().push(change);
        let Some(thread) = self.wait_until_accepted(&path, show)? else {
            return Ok(Verdict::new(ExitStatus::Interrupted, "interrupted"));
        };
        let progress = Progress::new(thread, self.live_activation().map_or(&[][..], |(_, live)| &live.messages[..]));
        self.follow(thread, text, progress, show)
    }

    /// Runs the room in real time until the person has entered a line. Work that the agent starts on its own is shown
    /// above the line; its approvals are announced there, and asked after the line.
    pub(super) fn run_until_typed(
        &mut self,
        line: &mut TypedLine,
        show: &mut dyn FnMut(&AgentEvent),
    ) -> Result<LineResult, CliError> {
        let world = self.room.app.world_mut();
        let speed = std::mem::replace(&mut world.resource_mut::<SimClock>().speed, Speed::Times(1));
        self.room.driver.follow_persons_clock(world);
        let typed = loop {
            if let Some(typed) = line.poll() {
                break typed;
            }
            let events = self.step();
            self.show_wakes(&events, show);
            self.announce_question();
        };
        self.room.app.world_mut().resource_mut::<SimClock>().speed = speed;
        typed
    }

    /// Announces the next approval of work that the agent started on its own, once.
    fn announce_question(&mut self) {
        let question = self.prompts.next_question(self.world());
        if let Some((id, asked)) = question
            && self.announced_question.as_ref() != Some(&id)
        {
            output::note(&format!("{asked}\n  press Enter to answer"));
            self.announced_question = Some(id);
        }
    }

    /// Asks for the open approvals of work that the agent started on its own.
    pub(super) fn ask_questions(&mut self) {
        while self.prompts.next_question(self.world()).is_some() {
            self.prompts.ask(self.room.app.world_mut(), &self.interrupted);
            if self.interrupted.swap(false, Ordering::Relaxed) {
                break;
            }
            // An answer from another terminal arrives with the next tick.
            self.step();
        }
    }

    /// Aborts the work that the agent started on its own. Returns whether there was any.
    pub(super) fn abort_wakes(&mut self) -> bool {
        let threads: Vec<ActivationKey> = self.wakes.threads().collect();
        threads.iter().for_each(|thread| self.abort(*thread));
        self.wakes.any()
    }

    fn show_wakes(&mut self, events: &[EventRecord], show: &mut dyn FnMut(&AgentEvent)) {
        // With a single prompt, only its answer is shown.
        if self.options.is_single_prompt {
            return;
        }
        let (world, name) = (self.room.app.world(), self.name());
        for shown in self.wakes.update(world, (&self.runner, &name), events) {
            match shown {
                WakeOutput::Note(note) => {
                    self.journal.line(&note);
                    output::note(&note);
                }
                WakeOutput::Event(event) => {
                    self.journal.event(&event);
                    show(&event);
                }
            }
        }
    }

    /// Writes the history. An error is reported, and the write is repeated with the next message.
    fn write_history(&mut self) {
        if let Err(error) = self.history.write() {
            let what = error.what.unwrap_or_default();
            output::note(&format!("problem: {what}; it is tried again with the next message and at the end"));
        }
    }

    /// Why no message can be sent now: the work or the agent was paused when the room was saved.
    fn paused(&self) -> Option<String> {
        let world = self.world();
        if world.resource::<Kernel>().is_paused() {
            let what = WORK_PAUSED.split("; ").next().unwrap_or(WORK_PAUSED);
            return Some(format!("{what}; choose Continue work in the window"));
        }
        is_paused(world, &self.runner).then(|| format!("{} is paused; resume it in the window", self.agent))
    }

    /// Runs the room until the message is part of a session. Returns `None` if the person interrupts the wait.
    fn wait_until_accepted(
        &mut self,
        path: &str,
        show: &mut dyn FnMut(&AgentEvent),
    ) -> Result<Option<ActivationKey>, CliError> {
        let first = self.world().resource::<SimClock>().tick();
        loop {
            if self.interrupted.swap(false, Ordering::Relaxed) {
                return Ok(None);
            }
            if let Some(problem) = self.room.lost() {
                return Err(CliError::failed(problem.to_string()));
            }
            let events = self.step();
            self.show_wakes(&events, show);
            if let Some((thread, _)) = self.live_activation() {
                return Ok(Some(thread));
            }
            let world = self.world();
            if let Some(problem) = world.resource::<Problems>().iter().find(|problem| problem.place == path) {
                return Err(CliError::failed(problem.to_string()));
            }
            if world.resource::<SimClock>().tick() > first + ACCEPT_TIMEOUT_TICKS {
                let error = CliError::failed(
                    "the room did not accept the message: too much other work is \
                    waiting",
                );
                return Err(error.hint("see what is waiting with: workshop status"));
            }
        }
    }

    /// Runs one step of the room and returns its events.
    fn step(&mut self) -> Vec<EventRecord> {
        let world = self.room.app.world_mut();
        if self.room.driver.step(world) != Step::Ticked {
            return Vec::new();
        }
        let events = world.resource_mut::<EventTap>().take();
        self.reporter.report_new(world, &events);
        self.prompts.handle_new(world, &events, &mut self.reporter);
        self.records.extend(events.iter().cloned());
        let surplus = self.records.len().saturating_sub(MAX_RECORDS);
        self.records.drain(..surplus);
        events
    }

    /// Runs the room until the session's work has ended or cannot continue. Shows the events and stores the new history
    /// entries.
    fn follow(
        &mut self,
        thread: ActivationKey,
        text: String,
        mut progress: Progress,
        show: &mut dyn FnMut(&AgentEvent),
    ) -> Result<Verdict, CliError> {
        let known = self.world().resource::<Kernel>().thread(thread);
        let (runner, root) = known.map_or((self.agent.clone(), thread), |one| (one.agent.clone(), one.root));
        let task = Task::resumed(&runner, text, root);
        self.runner = runner;
        let (agent, session) = (self.agent.to_string(), self.options.session.clone());
        show(&AgentEvent::AgentStart { agent, session });
        let verdict = self.wait_for(&task, root, &mut progress, show);
        // Work that waits for a person or a budget continues later.
        if !self.is_live(thread) {
            progress.finish(verdict.result.as_deref());
        }
        self.emit_progress(&mut progress, show);
        let entries = progress.take_entries();
        self.history.entries.extend(entries);
        self.write_history();
        self.journal.task_over(&self.agent, verdict.exit, &verdict.reason, progress.turns());
        let (ended, reason, result) = (verdict.exit.word(), verdict.reason.clone(), verdict.result.clone());
        show(&AgentEvent::AgentEnd { ended, reason, result });
        Ok(verdict)
    }

    fn wait_for(
        &mut self,
        task: &Task,
        root: ActivationKey,
        progress: &mut Progress,
        show: &mut dyn FnMut(&AgentEvent),
    ) -> Verdict {
        let stop = if self.options.is_single_prompt { StopCondition::AfterTask } else { StopCondition::AfterAnswer };
        let mut is_aborted = false;
        let mut calls = CallOutcomes::default();
        loop {
            if self.interrupted.swap(false, Ordering::Relaxed) {
                if is_aborted {
                    self.has_left = true;
                    return Verdict::new(ExitStatus::Interrupted, "interrupted");
                }
                is_aborted = true;
                self.abort(root);
            }
            if let Some(problem) = self.room.lost() {
                return Verdict::new(ExitStatus::Failed, problem.to_string());
            }
            let interrupted = Arc::clone(&self.interrupted);
            let world = self.room.app.world_mut();
            if let Some(verdict) = stop.verdict(world, Some(task), &self.prompts) {
                match calls.are_simulated() {
                    true if self.options.is_single_prompt => output::note(SIMULATED),
                    // Said once in a chat.
                    true => self.reporter.note(SIMULATED.to_owned()),
                    false => {}
                }
                return if is_aborted { Verdict::new(ExitStatus::Interrupted, "interrupted") } else { verdict };
            }
            if !is_aborted {
                self.prompts.ask(world, &interrupted);
            }
            let events = self.step();
            calls.watch(&events);
            self.show_wakes(&events, show);
            progress.apply_records(self.world(), &events);
            progress.update(self.world());
            self.emit_progress(progress, show);
        }
    }

    /// Aborts all work of a run.
    fn abort(&mut self, root: ActivationKey) {
        let world = self.room.app.world_mut();
        let kernel = world.resource::<Kernel>();
        let is_its = |thread: ActivationKey| kernel.thread(thread).is_some_and(|thread| thread.root == root);
        let all = kernel.activations().filter(|one| is_its(one.thread)).map(|one| one.key).collect::<Vec<_>>();
        let mut queue = world.resource_mut::<InputQueue<KernelCommand>>();
        all.into_iter().for_each(|activation| queue.push(KernelCommand::Kill { activation }));
    }

    fn emit_progress(&self, progress: &mut Progress, show: &mut dyn FnMut(&AgentEvent)) {
        for event in progress.take_events() {
            self.journal.event(&event);
            show(&event);
        }
    }

    /// Closes the room: everything is on disk when this returns. Returns the reader of answers.
    pub(super) fn close(self, reason: &str) -> Result<Option<LineReader>, CliError> {
        let Self { room, mut reporter, prompts, mut history, journal, .. } = self;
        let written = history.write_rest();
        if let Some(lost) = journal.close() {
            output::note(&format!("problem: {lost}"));
        }
        let unsaved = room.close(reason, |_| ()).map_err(CliError::failed)?;
        reporter.report_problems(&unsaved);
        // If the history could not be saved, the command fails.
        written?;
        Ok(prompts.into_reader())
    }
}

/// The files that the chat writes while the room is open; changes to them are not edits by a person. Creates their
/// folders, because paths in missing folders cannot be resolved.
fn own_files(options: &ChatOptions) -> Vec<PathBuf> {
    let AgentPlace { workspace, file } = &options.place;
    let text = std::fs::read_to_string(workspace.join(file)).unwrap_or_default();
    let agent = format_of(file).map(|format| (format.read)(file, &text).profile.id).unwrap_or_default();
    let folders = options.place.data_folders(&agent);
    let journal = Journal::new(&folders, &options.session);
    let files = [History::path(&folders.sessions, &options.session)].into_iter().chain(journal.files());
    let files: Vec<PathBuf> = files.collect();
    for folder in files.iter().filter_map(|file| file.parent()) {
        if let Err(error) = std::fs::create_dir_all(folder) {
            tracing::warn!("{} could not be created: {error}", folder.display());
        }
    }
    files
}

/// An open room whose agent has not been found yet.
struct Opening {
    options: ChatOptions,
    room: Room,
    prompts: ApprovalPrompts,
    reporter: ProblemReporter,
    interrupted: Arc<AtomicBool>,
}

impl Opening {
    /// Waits until the files are loaded, and finds the agent. Closes the room if the chat cannot begin.
    fn begin(mut self) -> Result<Chat, CliError> {
        match self.find_agent() {
            Ok((agent, history)) => {
                let folders = self.options.place.data_folders(&agent);
                let journal = Journal::new(&folders, &self.options.session);
                let Self { options, room, prompts, reporter, interrupted } = self;
                let (records, mut wakes) = (VecDeque::new(), Wakes::default());
                let world = room.app.world();
                wakes.resume(world, &agent, world.resource::<Heartbeats>().works());
                Ok(Chat {
                    options,
                    room,
                    runner: agent.clone(),
                    agent,
                    history,
                    folders,
                    journal,
                    prompts,
                    reporter,
                    interrupted,
                    records,
                    wakes,
                    announced_question: None,
                    has_left: false,
                })
            }
            Err(error) => {
                self.room.close("the agent could not be started", |_| ()).map_err(CliError::failed)?;
                Err(error)
            }
        }
    }

    fn find_agent(&mut self) -> Result<(Id, History), CliError> {
        let world = self.room.app.world_mut();
        let step = |driver: &mut Driver, world: &mut World| match self.interrupted.load(Ordering::Relaxed) {
            true => Err(CliError { exit: ExitStatus::Interrupted, what: None, hint: None }),
            false => Ok(driver.step(world)),
        };
        while !world.resource::<EventTap>().has_ticked {
            step(&mut self.room.driver, world)?;
        }
        if add_to_room(world, &self.options.place.file, !self.options.is_single_prompt) {
            // The agent has modules: run in real time until their tools are loaded.
            let speed = std::mem::replace(&mut world.resource_mut::<SimClock>().speed, Speed::Times(1));
            let mut ticks_left = MODULE_TICKS;
            while ticks_left > 0 {
                if step(&mut self.room.driver, world)? == Step::Ticked && !world.resource::<ModulesLoading>().0 {
                    ticks_left -= 1;
                }
            }
            world.resource_mut::<SimClock>().speed = speed;
        }
        let events = world.resource_mut::<EventTap>().take();
        self.reporter.report_new(world, &events);
        self.prompts.handle_new(world, &events, &mut self.reporter);
        let file = &self.options.place.file;
        let problems = world.resource::<Problems>().iter().filter(|problem| problem.place == *file);
        let problems: Vec<String> =
            problems.filter(|one| one.severity == Severity::Error).map(ToString::to_string).collect();
        let Some(agent) = world.resource::<Profiles>().id_at(file).cloned() else {
            let error = CliError::failed(format!("{file} does not define a valid agent"));
            return Err(match problems.first() {
                Some(problem) => error.hint(problem),
                None => error.hint("find out why with: workshop doctor"),
            });
        };
        for problem in problems {
            // Printed in a pipe, too, because the agent differs from what its file says.
            output::note(&format!("problem: {problem}"));
        }
        let history = History::read(&self.options.place.data_folders(&agent).sessions, &self.options.session)?;
        Ok((agent, history))
    }
}

/// Adds the agent to the room before the first message if it has modules, which run while it is there, or if it has a
/// heartbeat and `wakes` is set. Other agents are added with the first message. Returns whether it has modules.
fn add_to_room(world: &mut World, file: &str, wakes: bool) -> bool {
    let Some(profile) = world.resource::<Profiles>().id_at(file).cloned() else { return false };
    let Some(folder) = folder_of_agent(file) else { return false };
    let known = world.resource::<KnownFiles>();
    let has_modules = module_files(known, folder).next().is_some();
    let wakes_up = wakes && known.all().contains_key(&heartbeat_path(folder));
    if !has_modules && !wakes_up {
        return false;
    }
    if !world.query::<&Agent>().iter(world).any(|agent| agent.profile == profile) {
        let add = AgentCommand::Add {
            id: Some(profile.clone()),
            profile,
            position: Vec2::ZERO,
            behaviour: None,
            exactly: false,
        };
        world.resource_mut::<InputQueue<AgentCommand>>().push(add);
    }
    has_modules
}
