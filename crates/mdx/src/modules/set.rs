//! The modules of an agent, which are loaded independently and ended in reverse order.

use super::folder::ModuleFolder;
use crate::engine::{
    EngineLimits, HostAnswer, HostCall, LogLine, ModuleCommand, ModuleDescription, ModuleFiles, ModuleMessage,
    RunningModule, ToolFailure,
};

/// The options of modules.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ModuleOptions {
    /// The value of `ctx.agentDir`.
    pub agent_dir: String,
    /// The seed of `Math.random`.
    pub seed: u64,
    /// The initial value of `Date.now`, in milliseconds since 1970.
    pub now_unix_ms: i64,
    /// The limits of each order of each module.
    pub limits: EngineLimits,
}

/// The state of a module.
#[derive(Clone, PartialEq, Debug)]
pub enum ModuleState {
    /// It is being loaded and initialized.
    Loading,
    /// It is loaded.
    Ready(ModuleDescription),
    /// It failed and is ignored, with the reason.
    LeftOut(ToolFailure),
}

/// An event of a module.
#[derive(Clone, PartialEq, Debug)]
pub struct ModuleEvent {
    /// The path of the module.
    pub module: String,
    /// The message.
    pub news: ModuleMessage,
}

struct Member {
    file: String,
    running: RunningModule,
    state: ModuleState,
}

/// The modules of an agent. Dropping the set ends them.
#[derive(Default)]
pub struct ModuleSet {
    members: Vec<Member>,
    /// While the modules are being ended: the index of the current one, and the number of its order.
    ending: Option<(usize, Option<u64>)>,
}

impl ModuleSet {
    /// Loads every module of the folder.
    pub fn load(folder: &ModuleFolder, options: &ModuleOptions) -> Self {
        let member = |(number, file): (usize, &String)| {
            let files = ModuleFiles {
                programs: folder.programs.clone(),
                entry: file.clone(),
                agent_dir: options.agent_dir.clone(),
                seed: options.seed.wrapping_add(number as u64),
                now_unix_ms: options.now_unix_ms,
                limits: options.limits,
            };
            Member { file: file.clone(), running: files.start(), state: ModuleState::Loading }
        };
        Self { members: folder.entries.iter().enumerate().map(member).collect(), ending: None }
    }

    /// Iterates over the states of the modules by their paths, in order.
    pub fn states(&self) -> impl Iterator<Item = (&str, &ModuleState)> {
        self.members.iter().map(|member| (&*member.file, &member.state))
    }

    /// Sends an order to a loaded module. `None` if it is not loaded, or has too many orders.
    pub fn order(&mut self, module: &str, order: ModuleCommand) -> Option<u64> {
        let member = self.members.iter_mut().find(|member| member.file == module)?;
        if !matches!(member.state, ModuleState::Ready(_)) {
            return None;
        }
        member.running.order(order)
    }

    /// Answers a request of a module.
    pub fn answer(&self, module: &str, asked: &HostCall, answer: HostAnswer) {
        if let Some(member) = self.members.iter().find(|member| member.file == module) {
            member.running.answer(asked.id, answer);
        }
    }

    /// Ends the modules, the last one first; [`Self::has_ended`] says when all have ended.
    pub fn end(&mut self) {
        if self.ending.is_none() {
            self.ending = Some((self.members.len(), None));
        }
    }

    /// Whether all modules have ended.
    pub fn has_ended(&self) -> bool {
        self.ending.is_some_and(|(left, waits_for)| left == 0 && waits_for.is_none())
    }

    /// Returns the new events, without waiting.
    pub fn poll(&mut self) -> Vec<ModuleEvent> {
        let mut events = Vec::new();
        for member in &mut self.members {
            while let Some(news) = member.running.poll() {
                match &news {
                    ModuleMessage::Loaded(Ok(description)) => member.state = ModuleState::Ready(description.clone()),
                    ModuleMessage::Loaded(Err(failure)) => member.state = ModuleState::LeftOut(failure.clone()),
                    ModuleMessage::Ended(failure) => member.state = ModuleState::LeftOut(failure.clone()),
                    ModuleMessage::Done { .. } | ModuleMessage::Asks(_) | ModuleMessage::Logged { .. } => {}
                }
                events.push(ModuleEvent { module: member.file.clone(), news });
            }
        }
        self.end_next(&events);
        events
    }

    /// Ends the next module once the previous one has ended.
    fn end_next(&mut self, events: &[ModuleEvent]) {
        let Some((mut left, mut waits_for)) = self.ending else { return };
        let is_done = |order: u64, file: &str| {
            let is_it =
                |event: &ModuleEvent| matches!(event.news, ModuleMessage::Done { order: done, .. } if done == order);
            events.iter().any(|event| event.module == file && is_it(event))
        };
        if let Some(order) = waits_for
            && is_done(order, &self.members[left].file)
        {
            waits_for = None;
        }
        while waits_for.is_none() && left > 0 {
            left -= 1;
            let file = self.members[left].file.clone();
            waits_for = self.order(&file, ModuleCommand::Stop);
        }
        self.ending = Some((left, waits_for));
    }
}

/// Convenience access to log lines.
impl ModuleEvent {
    /// Returns the log line, if the event is one.
    pub fn logged(&self) -> Option<&LogLine> {
        match &self.news {
            ModuleMessage::Logged { line, .. } => Some(line),
            _ => None,
        }
    }
}
