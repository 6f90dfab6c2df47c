//! A chat with one agent: the agent's room is opened, all other agents rest, and each message is added to the agent's
//! session with the whole history.
//!
//! The history is authoritative: with each message, all of it passes through the door as a session file, so that a chat
//! continues wherever it ended. While a person is asked for the next message, the room lives at its own pace, by the
//! person's clock: an agent wakes up there when its heartbeat is due.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bevy::ecs::prelude::*;
use bevy::math::Vec2;

use super::super::approval_prompts::{Asking, LineReader, OnAsk};
use super::super::command_hints::Commands;
use super::super::problem_reporter::Reporter;
use super::super::report::Verdict;
use super::super::stop_condition::Stop;
use super::super::task_goal::{Task, WORK_PAUSED, is_paused};
use super::super::{Complaint, Ending, output, shared_arguments};
use super::agent_folder::{AgentPlace, Kept};
use super::events::AgentEvent;
use super::history::{Entry, History, Speaker};
use super::journal::Journal;
use super::progress::Progress;
use super::skills;
use super::terminal::{LineResult, TypedLine};
use super::wakes::{Shown, Wakes};
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

/// A message that the room has not admitted after this many ticks (30 s of the room's time) fails.
const TAKEN_WITHIN_TICKS: u64 = 900;
/// This many ticks after an agent was added, and while no module is loading, it has the tools of its modules.
const TICKS_UNTIL_MODULES: u32 = 4;
/// How many records of the last answer are kept for explaining it.
const RECORDS_KEPT: usize = 400;

/// With whom a person talks, and how.
#[derive(Clone, Debug)]
pub(super) struct TalkOptions {
    pub(super) place: AgentPlace,
    /// The agent's path as given, for use in hints.
    pub(super) named: PathBuf,
    pub(super) session: String,
    pub(super) provider: Option<String>,
    pub(super) model: Option<String>,
    pub(super) on_ask: Option<OnAsk>,
    /// Whether what was done is looked back at before an answer counts as over.
    pub(super) looks_back: bool,
}

/// A running chat.
pub(super) struct Talk {
    pub(super) options: TalkOptions,
    room: Room,
    /// The agent's profile.
    agent: Id,
    /// The agent of the room that runs it, as far as that is known.
    runner: Id,
    history: History,
    kept: Kept,
    journal: Journal,
    asking: Asking,
    reporter: Reporter,
    interrupted: Arc<AtomicBool>,
    records: VecDeque<EventRecord>,
    wakes: Wakes,
    /// The question of such work that the person was told of at the prompt.
    question_told: Option<ApprovalId>,
    /// Whether the person wanted to stop once more while an answer was being stopped.
    is_left: bool,
}

impl Talk {
    /// Opens the room of the agent. `read` reads a person's answer to a question, if there is an interactive terminal.
    pub(super) fn open(
        options: TalkOptions,
        read: Option<LineReader>,
        interrupted: Arc<AtomicBool>,
    ) -> Result<Self, Complaint> {
        let AgentPlace { workspace, .. } = &options.place;
        let provider =
            shared_arguments::provider_override(options.provider.as_deref(), options.model.as_deref(), workspace)?;
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
            Complaint::failed(what).hint(error.remedy())
        })?;
        let mut reporter = Reporter::new(!output::is_watched());
        reporter.problems(&problems);
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
        let commands =
            Commands { workspace: Some(workspace.display().to_string()), scene: None, provider, go_on: Some(words) };
        let asking = match read {
            Some(read) => Asking::in_talk(options.on_ask, read, commands, workspace.clone()),
            None => Asking::new((options.on_ask, true), true, commands, workspace.clone()),
        };
        let opened = Opening { options, room, asking, reporter, interrupted };
        opened.begin()
    }

    /// What the agent is called.
    pub(super) fn name(&self) -> String {
        self.profile().map_or_else(|| self.agent.to_string(), |profile| profile.name.clone())
    }

    /// The agent's profile.
    pub(super) fn agent(&self) -> &Id {
        &self.agent
    }

    /// The agent of the room that runs it.
    pub(super) fn runner(&self) -> &Id {
        &self.runner
    }

    pub(super) fn world(&self) -> &World {
        self.room.app.world()
    }

    /// What the agent is.
    pub(super) fn profile(&self) -> Option<&AgentProfile> {
        self.world().resource::<Profiles>().get(&self.agent)
    }

    /// The skills that it has now.
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

    /// Where its sessions lie.
    pub(super) fn sessions(&self) -> &std::path::Path {
        &self.kept.sessions
    }

    /// How many messages the session has.
    pub(super) fn messages(&self) -> usize {
        self.history.entries.len()
    }

    /// Whether the person wants to leave rather than wait.
    pub(super) fn is_left(&self) -> bool {
        self.is_left
    }

    /// What happened while the last answer was made.
    pub(super) fn records(&self) -> impl Iterator<Item = &EventRecord> {
        self.records.iter()
    }

    /// Forgets what was said in this session.
    pub(super) fn clear(&mut self) -> Result<(), Complaint> {
        self.history.entries.clear();
        self.journal.line("cleared");
        self.history.write()
    }

    /// The session as the room calls it.
    fn session_name(&self) -> String {
        format!("{}.{}", self.agent, self.options.session)
    }

    fn is_live(&self, thread: ActivationKey) -> bool {
        self.world().resource::<Kernel>().thread(thread).is_some_and(|thread| thread.live.is_some())
    }

    /// The unfinished piece of work of this session.
    fn live(&self) -> Option<(ActivationKey, &Activation)> {
        let kernel = self.world().resource::<Kernel>();
        let thread = kernel.session_named(&self.session_name())?;
        Some((thread, kernel.activation(kernel.thread(thread)?.live?)?))
    }

    /// Continues what the last conversation in this session left unfinished; `None` if that is nothing.
    pub(super) fn finish(&mut self, show: &mut dyn FnMut(&AgentEvent)) -> Result<Option<Verdict>, Complaint> {
        let Some((thread, one)) = self.live() else { return Ok(None) };
        let seen = self.history.entries.len().min(one.messages.len());
        let progress = Progress::new(thread, &one.messages[..seen]);
        let text = one.input.clone();
        self.follow(thread, text, progress, show).map(Some)
    }

    /// Says something to the agent and waits for the answer.
    pub(super) fn send(&mut self, said: &str, show: &mut dyn FnMut(&AgentEvent)) -> Result<Verdict, Complaint> {
        if let Some(why) = self.paused() {
            return Ok(Verdict::new(Ending::Waiting, why));
        }
        let text = skills::asked(&self.skills(), said)?;
        if let Some(verdict) = self.finish(show)? {
            if verdict.ending == Ending::Interrupted || self.live().is_some() {
                return Ok(verdict);
            }
            if verdict.ending != Ending::Done {
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
            return Err(Complaint::failed(what).hint("fix its history.json, or start over with /clear"));
        }
        self.journal.line(&format!("user: {said}"));
        self.write_history();
        let change = RecordChanged::new(path.clone(), FileContent::Text(file));
        self.room.app.world_mut().resource_mut::<InputQueue<RecordChanged>>().push(change);
        let Some(thread) = self.wait_until_taken(&path, show)? else {
            return Ok(Verdict::new(Ending::Interrupted, "interrupted"));
        };
        let progress = Progress::new(thread, self.live().map_or(&[][..], |(_, live)| &live.messages[..]));
        self.follow(thread, text, progress, show)
    }

    /// Lets the room live at its own pace until the person has typed a line. Work that the agent begins by itself is
    /// shown above it; what it asks is told there, and asked behind the line.
    pub(super) fn live_until_typed(
        &mut self,
        line: &mut TypedLine,
        show: &mut dyn FnMut(&AgentEvent),
    ) -> Result<LineResult, Complaint> {
        let world = self.room.app.world_mut();
        let speed = std::mem::replace(&mut world.resource_mut::<SimClock>().speed, Speed::Times(1));
        self.room.driver.follow_persons_clock(world);
        let typed = loop {
            if let Some(typed) = line.poll() {
                break typed;
            }
            let events = self.step();
            self.show_wakes(&events, show);
            self.tell_question();
        };
        self.room.app.world_mut().resource_mut::<SimClock>().speed = speed;
        typed
    }

    /// Says once what work that began by itself asks the person.
    fn tell_question(&mut self) {
        let question = self.asking.next_question(self.world());
        if let Some((id, asked)) = question
            && self.question_told.as_ref() != Some(&id)
        {
            output::note(&format!("{asked}\n  press Enter to answer"));
            self.question_told = Some(id);
        }
    }

    /// Asks what work that began by itself asks, now that nobody types.
    pub(super) fn ask_questions(&mut self) {
        while self.asking.next_question(self.world()).is_some() {
            self.asking.ask(self.room.app.world_mut(), &self.interrupted);
            if self.interrupted.swap(false, Ordering::Relaxed) {
                break;
            }
            // An answer from elsewhere comes in with the next tick.
            self.step();
        }
    }

    /// Stops what the agent began by itself. Whether there was something.
    pub(super) fn stop_wakes(&mut self) -> bool {
        let threads: Vec<ActivationKey> = self.wakes.threads().collect();
        threads.iter().for_each(|thread| self.abort(*thread));
        self.wakes.any()
    }

    fn show_wakes(&mut self, events: &[EventRecord], show: &mut dyn FnMut(&AgentEvent)) {
        // Whoever says one thing gets the answer to that alone.
        if self.options.looks_back {
            return;
        }
        let (world, name) = (self.room.app.world(), self.name());
        for shown in self.wakes.look(world, (&self.runner, &name), events) {
            match shown {
                Shown::Note(note) => {
                    self.journal.line(&note);
                    output::note(&note);
                }
                Shown::Event(event) => {
                    self.journal.event(&event);
                    show(&event);
                }
            }
        }
    }

    /// Writes the history. If that is not possible, the person is told; it is kept, and written with the next message.
    fn write_history(&mut self) {
        if let Err(complaint) = self.history.write() {
            let what = complaint.what.unwrap_or_default();
            output::note(&format!("problem: {what}; it is tried again with the next message and at the end"));
        }
    }

    /// Why nothing can be said now: a pause that was saved with the room.
    fn paused(&self) -> Option<String> {
        let world = self.world();
        if world.resource::<Kernel>().is_paused() {
            let what = WORK_PAUSED.split("; ").next().unwrap_or(WORK_PAUSED);
            return Some(format!("{what}; choose Continue work in the window"));
        }
        is_paused(world, &self.runner).then(|| format!("{} is paused; resume it in the window", self.agent))
    }

    /// Lets the room live until a message is part of a session; nothing where a person does not want to wait.
    fn wait_until_taken(
        &mut self,
        path: &str,
        show: &mut dyn FnMut(&AgentEvent),
    ) -> Result<Option<ActivationKey>, Complaint> {
        let first = self.world().resource::<SimClock>().tick();
        loop {
            if self.interrupted.swap(false, Ordering::Relaxed) {
                return Ok(None);
            }
            if let Some(problem) = self.room.lost() {
                return Err(Complaint::failed(problem.to_string()));
            }
            let events = self.step();
            self.show_wakes(&events, show);
            if let Some((thread, _)) = self.live() {
                return Ok(Some(thread));
            }
            let world = self.world();
            if let Some(problem) = world.resource::<Problems>().iter().find(|problem| problem.place == path) {
                return Err(Complaint::failed(problem.to_string()));
            }
            if world.resource::<SimClock>().tick() > first + TAKEN_WITHIN_TICKS {
                let complaint = Complaint::failed(
                    "the room did not accept the message: too much other work is \
                    waiting",
                );
                return Err(complaint.hint("see what is waiting with: workshop status"));
            }
        }
    }

    /// Runs one step of the room. Returns its events.
    fn step(&mut self) -> Vec<EventRecord> {
        let world = self.room.app.world_mut();
        if self.room.driver.step(world) != Step::Ticked {
            return Vec::new();
        }
        let events = world.resource_mut::<EventTap>().take();
        self.reporter.look(world, &events);
        self.asking.look(world, &events, &mut self.reporter);
        self.records.extend(events.iter().cloned());
        let surplus = self.records.len().saturating_sub(RECORDS_KEPT);
        self.records.drain(..surplus);
        events
    }

    /// Runs the room until a session's work has ended or cannot continue. Reports the events, and stores them.
    fn follow(
        &mut self,
        thread: ActivationKey,
        text: String,
        mut progress: Progress,
        show: &mut dyn FnMut(&AgentEvent),
    ) -> Result<Verdict, Complaint> {
        let known = self.world().resource::<Kernel>().thread(thread);
        let (runner, root) = known.map_or((self.agent.clone(), thread), |one| (one.agent.clone(), one.root));
        let task = Task::resumed(&runner, text, root);
        self.runner = runner;
        let (agent, session) = (self.agent.to_string(), self.options.session.clone());
        show(&AgentEvent::AgentStart { agent, session });
        let verdict = self.wait_for(&task, root, &mut progress, show);
        // Work that waits for a person or a budget continues another time.
        if !self.is_live(thread) {
            progress.finish(verdict.result.as_deref());
        }
        self.emit_progress(&mut progress, show);
        let entries = progress.take_entries();
        self.history.entries.extend(entries);
        self.write_history();
        self.journal.task_over(&self.agent, verdict.ending, &verdict.reason, progress.turns());
        let (ended, reason, result) = (verdict.ending.as_str(), verdict.reason.clone(), verdict.result.clone());
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
        let stop = if self.options.looks_back { Stop::AfterTask } else { Stop::AfterAnswer };
        let mut is_aborted = false;
        loop {
            if self.interrupted.swap(false, Ordering::Relaxed) {
                if is_aborted {
                    self.is_left = true;
                    return Verdict::new(Ending::Interrupted, "interrupted");
                }
                is_aborted = true;
                self.abort(root);
            }
            if let Some(problem) = self.room.lost() {
                return Verdict::new(Ending::Failed, problem.to_string());
            }
            let interrupted = Arc::clone(&self.interrupted);
            let world = self.room.app.world_mut();
            if let Some(verdict) = stop.verdict(world, Some(task), &self.asking) {
                return if is_aborted { Verdict::new(Ending::Interrupted, "interrupted") } else { verdict };
            }
            if !is_aborted {
                self.asking.ask(world, &interrupted);
            }
            let events = self.step();
            self.show_wakes(&events, show);
            progress.apply_records(self.world(), &events);
            progress.look(self.world());
            self.emit_progress(progress, show);
        }
    }

    /// Ends all work of a run.
    fn abort(&mut self, root: ActivationKey) {
        let world = self.room.app.world_mut();
        let kernel = world.resource::<Kernel>();
        let is_its = |thread: ActivationKey| kernel.thread(thread).is_some_and(|thread| thread.root == root);
        let all = kernel.activations().filter(|one| is_its(one.thread)).map(|one| one.key).collect::<Vec<_>>();
        let mut door = world.resource_mut::<InputQueue<KernelCommand>>();
        all.into_iter().for_each(|activation| door.push(KernelCommand::Kill { activation }));
    }

    fn emit_progress(&self, progress: &mut Progress, show: &mut dyn FnMut(&AgentEvent)) {
        for event in progress.take_events() {
            self.journal.event(&event);
            show(&event);
        }
    }

    /// Closes the room: everything that happened is on disk when this returns. Gives back who reads answers.
    pub(super) fn close(self, reason: &str) -> Result<Option<LineReader>, Complaint> {
        let Self { room, mut reporter, asking, mut history, journal, .. } = self;
        let written = history.write_rest();
        if let Some(lost) = journal.close() {
            output::note(&format!("problem: {lost}"));
        }
        let unsaved = room.close(reason, |_| ()).map_err(Complaint::failed)?;
        reporter.problems(&unsaved);
        // What was said is not kept: that is no success.
        written?;
        Ok(asking.into_reader())
    }
}

/// An agent's files that are written while its room is open and do not count as a person's edits. Their folders are
/// created first, because their paths are unknown otherwise.
fn own_files(options: &TalkOptions) -> Vec<PathBuf> {
    let AgentPlace { workspace, file } = &options.place;
    let text = std::fs::read_to_string(workspace.join(file)).unwrap_or_default();
    let agent = format_of(file).map(|format| (format.read)(file, &text).profile.id).unwrap_or_default();
    let kept = options.place.kept(&agent);
    let journal = Journal::new(&kept, &options.session);
    let files = [History::path(&kept.sessions, &options.session)].into_iter().chain(journal.files());
    let files: Vec<PathBuf> = files.collect();
    for folder in files.iter().filter_map(|file| file.parent()) {
        if let Err(error) = std::fs::create_dir_all(folder) {
            tracing::warn!("{} could not be created: {error}", folder.display());
        }
    }
    files
}

/// A room that is open, whose agent is not found yet.
struct Opening {
    options: TalkOptions,
    room: Room,
    asking: Asking,
    reporter: Reporter,
    interrupted: Arc<AtomicBool>,
}

impl Opening {
    /// Waits for the files, and finds the agent among them. If the conversation cannot begin, the room is closed.
    fn begin(mut self) -> Result<Talk, Complaint> {
        match self.found() {
            Ok((agent, history)) => {
                let kept = self.options.place.kept(&agent);
                let journal = Journal::new(&kept, &self.options.session);
                let Self { options, room, asking, reporter, interrupted } = self;
                let (records, mut wakes) = (VecDeque::new(), Wakes::default());
                let world = room.app.world();
                wakes.resume(world, &agent, world.resource::<Heartbeats>().works());
                Ok(Talk {
                    options,
                    room,
                    runner: agent.clone(),
                    agent,
                    history,
                    kept,
                    journal,
                    asking,
                    reporter,
                    interrupted,
                    records,
                    wakes,
                    question_told: None,
                    is_left: false,
                })
            }
            Err(complaint) => {
                self.room.close("the agent could not be started", |_| ()).map_err(Complaint::failed)?;
                Err(complaint)
            }
        }
    }

    fn found(&mut self) -> Result<(Id, History), Complaint> {
        let world = self.room.app.world_mut();
        let step = |driver: &mut Driver, world: &mut World| match self.interrupted.load(Ordering::Relaxed) {
            true => Err(Complaint { ending: Ending::Interrupted, what: None, hint: None }),
            false => Ok(driver.step(world)),
        };
        while !world.resource::<EventTap>().has_ticked {
            step(&mut self.room.driver, world)?;
        }
        if bring_in(world, &self.options.place.file, !self.options.looks_back) {
            // It has the tools of its modules; the room lives at its own pace until they are there.
            let speed = std::mem::replace(&mut world.resource_mut::<SimClock>().speed, Speed::Times(1));
            let mut ticks_left = TICKS_UNTIL_MODULES;
            while ticks_left > 0 {
                if step(&mut self.room.driver, world)? == Step::Ticked && !world.resource::<ModulesLoading>().0 {
                    ticks_left -= 1;
                }
            }
            world.resource_mut::<SimClock>().speed = speed;
        }
        let events = world.resource_mut::<EventTap>().take();
        self.reporter.look(world, &events);
        self.asking.look(world, &events, &mut self.reporter);
        let file = &self.options.place.file;
        let problems = world.resource::<Problems>().iter().filter(|problem| problem.place == *file);
        let problems: Vec<String> =
            problems.filter(|one| one.severity == Severity::Error).map(ToString::to_string).collect();
        let Some(agent) = world.resource::<Profiles>().id_at(file).cloned() else {
            let complaint = Complaint::failed(format!("{file} does not define a valid agent"));
            return Err(match problems.first() {
                Some(problem) => complaint.hint(problem),
                None => complaint.hint("find out why with: workshop doctor"),
            });
        };
        for problem in problems {
            // Told in a pipe, too: the agent is not what its file was to make it.
            output::note(&format!("problem: {problem}"));
        }
        let history = History::read(&self.options.place.kept(&agent).sessions, &self.options.session)?;
        Ok((agent, history))
    }
}

/// Brings an agent with modules into the room before it is talked to, for they run while it is there, and one with a
/// heartbeat where it is to wake up; any other comes with the first message. Whether it has modules.
fn bring_in(world: &mut World, file: &str, wakes: bool) -> bool {
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
