//! The kernel's access to the room: agents, permissions and the log.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::rc::Rc;

use bevy::ecs::prelude::*;
use bevy::ecs::system::SystemParam;

use super::activation::{Activation, Call, RunNode};
use super::core::Kernel;
use super::settings::KernelSettings;
use super::work_orders::WorkAnswer;
use crate::agent::{Agent, KnownSkills, Profiles, Roster};
use crate::base::{ActivationKey, AgentKey, Id, RunTag, Seq};
use crate::element::{Privacy, PrivatePlaces};
use crate::gate::commands::ALLOWLIST_FILE;
use crate::gate::{Authority, Bounds, CommandRules, GatePolicy, PROPOSE_CHANGES, RoomGateContext};
use crate::gateway::acp::{OPEN_TERMINAL, OWN_TOOL, READ_TEXT};
use crate::gateway::{
    ExchangeAccepted, ExchangeKind, GatewaySettings, HasSandbox, McpServers, McpWanted, RequestQueue,
};
use crate::log::{EventData, EventDraft, EventLog, events};
use crate::memory::MemoryCounts;
use crate::mind::{PromptAdditions, SideRequestDue, SideRequestWithdrawn, WorkDue, WorkEnded};
use crate::schedule::{RoomDate, SimClock};
use crate::simulation::{Explain, Position, ThinkDone, WorkRequestWithdrawn, WorkRequested};
use crate::tools::{
    CallAnswered, Caller, OrderAnswered, Preview, ToolOrder, ToolOrdersWithdrawn, Tools, UnseenAgents, agent_file_name,
};
use crate::workspace::trust::TrustAdded;
use crate::workspace::vfs::FileOrder;
use crate::workspace::{
    KnownFiles, ProblemReport, RoomStart, SceneWrite, SettingsEdit, WorkspaceTrust, WorktreesKnown,
};

/// The maximum number of characters of results and endings in the log.
pub(crate) const LOGGED_CHARS: usize = 2_000;

/// A preview of the call of this work that waits for approval, given the current state of the room.
pub fn preview(world: &World, activation: ActivationKey) -> Option<Preview> {
    let (files, profiles) = (world.get_resource::<KnownFiles>()?, world.get_resource::<Profiles>()?);
    let memories = world.get_resource::<MemoryCounts>()?;
    let keeps_programs_in = world.get_resource::<HasSandbox>().is_some_and(|sandbox| sandbox.0);
    world.get_resource::<Kernel>()?.activation(activation)?.preview(&RoomGateContext {
        files,
        profiles,
        memories,
        inboxes: world.get_resource::<PrivatePlaces>()?,
        trust: world.get_resource::<WorkspaceTrust>()?,
        keeps_programs_in,
    })
}

/// The parts of the room that the kernel reads and writes.
#[derive(SystemParam)]
pub(super) struct RoomAccess<'w, 's> {
    pub(super) clock: Res<'w, SimClock>,
    date: Res<'w, RoomDate>,
    pub(super) settings: Res<'w, KernelSettings>,
    pub(super) gateway: Res<'w, GatewaySettings>,
    pub(super) policy: Res<'w, GatePolicy>,
    pub(super) roster: Res<'w, Roster>,
    pub(super) profiles: Res<'w, Profiles>,
    skills: Option<Res<'w, KnownSkills>>,
    additions: Option<Res<'w, PromptAdditions>>,
    pub(super) log: ResMut<'w, EventLog>,
    files: Res<'w, KnownFiles>,
    memories: Res<'w, MemoryCounts>,
    trust: Res<'w, WorkspaceTrust>,
    unseen: Option<Res<'w, UnseenAgents>>,
    /// Rules that a person allowed, which are trusted.
    pub(super) trusted: MessageWriter<'w, TrustAdded>,
    pub(super) worktrees: Res<'w, WorktreesKnown>,
    sandbox: Res<'w, HasSandbox>,
    pub(super) request_queue: Res<'w, RequestQueue>,
    pub(super) start: Option<Res<'w, RoomStart>>,
    pub(super) privacy: Privacy<'w, 's>,
    pub(super) agents: Query<'w, 's, (&'static Agent, Option<&'static Position>)>,
    pub(super) tools: Res<'w, Tools>,
    pub(super) orders: MessageWriter<'w, ToolOrder>,
    pub(super) withdrawn: MessageWriter<'w, ToolOrdersWithdrawn>,
    pub(super) order_answers: MessageWriter<'w, OrderAnswered>,
    pub(super) call_answers: MessageWriter<'w, CallAnswered>,
    pub(super) side_requests: MessageWriter<'w, SideRequestDue>,
    pub(super) side_requests_withdrawn: MessageWriter<'w, SideRequestWithdrawn>,
    pub(super) sessions: MessageWriter<'w, FileOrder>,
    pub(super) work_requests: MessageWriter<'w, WorkRequested>,
    pub(super) work_requests_withdrawn: MessageWriter<'w, WorkRequestWithdrawn>,
    pub(super) due: MessageWriter<'w, WorkDue>,
    pub(super) work_over: MessageWriter<'w, WorkEnded>,
    pub(super) think_done: MessageWriter<'w, ThinkDone>,
    pub(super) settings_edits: MessageWriter<'w, SettingsEdit>,
    pub(super) file_writes: MessageWriter<'w, SceneWrite>,
    pub(super) problems: MessageWriter<'w, ProblemReport>,
    pub(super) work_answers: MessageWriter<'w, WorkAnswer>,
    exchanged: MessageWriter<'w, ExchangeAccepted>,
    pub(super) servers: Res<'w, McpServers>,
    pub(super) servers_wanted: MessageWriter<'w, McpWanted>,
    explain: MessageWriter<'w, Explain>,
}

impl RoomAccess<'_, '_> {
    /// The agent with this id, if it is in the room.
    pub(super) fn agent(&self, id: &str) -> Option<&Agent> {
        let entity = self.roster.entity(self.roster.key(id)?)?;
        self.agents.get(entity).ok().map(|(agent, _)| agent)
    }

    /// The agents in the room with their keys, in order of key.
    pub(super) fn all_agents(&self) -> impl Iterator<Item = (AgentKey, &Agent)> {
        self.roster.iter().filter_map(|(key, entity)| Some((key, self.agents.get(entity).ok()?.0)))
    }

    /// The agents whose work waits until their prompt additions are up to date.
    pub(super) fn agents_with_old_additions(&self, kernel: &Kernel) -> BTreeSet<AgentKey> {
        let awaited = self.additions.iter().flat_map(|additions| additions.awaited());
        awaited.filter_map(|(work, _)| kernel.activation(work)?.agent_key).collect()
    }

    /// The file name of a profile as it appears in results.
    pub(super) fn file_name(&self, profile: &str) -> String {
        self.profiles.path(profile).map_or_else(|| format!("{profile}.md"), |path| agent_file_name(path).to_owned())
    }

    /// Expands a slash command in a person's message to the agent's skill of that name. The error says what is wrong
    /// with the command.
    pub(super) fn expand_skill(&self, profile: &str, said: &str) -> Result<String, String> {
        let found = self.skills.as_deref().zip(self.profiles.path(profile)).zip(self.profiles.get(profile));
        let expanded = found.and_then(|((skills, path), profile)| {
            let (authority, _) = self.tools.authority(path, profile);
            skills.expand(path, profile, (said, authority.folder_for("vfs_read")))
        });
        expanded.map_or_else(|| Ok(said.to_owned()), |text| text.map_err(|error| error.to_string()))
    }

    /// The tag of the current run of the program.
    pub(super) fn run(&self) -> RunTag {
        RunTag::of(self.log.run())
    }

    /// Records queued work in the log.
    pub(super) fn record_queued(
        &mut self,
        key: ActivationKey,
        agent: &Id,
        work: &events::Activation,
        cause: Option<Seq>,
    ) -> Seq {
        self.log.write(EventDraft::of(work).agent(agent).activation(&key.id()).cause(cause))
    }

    pub(super) fn record(
        &mut self,
        activation: &Activation,
        cause: impl Into<Option<Seq>>,
        event: &impl EventData,
    ) -> Seq {
        let draft = EventDraft::of(event).agent(&activation.agent).activation(&activation.key.id());
        self.log.write(draft.cause(cause))
    }

    /// Counts an exchange of this work with another agent.
    pub(super) fn count_exchange(&mut self, kernel: &Kernel, one: &Activation, kind: ExchangeKind) {
        let run = kernel.run_of(one.thread).map(|run| run.id());
        self.exchanged.write(ExchangeAccepted { run, kind });
    }

    /// The authority of an activation: that of its agent, limited by that of all agents above it.
    fn bounds(&self, one: &Activation, thread: Option<&RunNode>) -> Bounds {
        let work_model = thread.and_then(|thread| thread.terms.model.as_deref());
        let profile = &one.profile;
        let mut own = match (self.profiles.path(profile), self.profiles.get(profile)) {
            (Some(path), Some(profile)) => self.tools.authority(path, profile).0,
            _ => Authority::minimal(),
        };
        // Session tools and lent tools are granted although the profile does not list them, but not to an agent without
        // any rights.
        if !own.is_minimal() {
            own.tools.extend(self.tools.names().of_session(one.thread).map(str::to_owned));
            own.tools.extend(thread.into_iter().flat_map(|thread| thread.terms.tools.iter().cloned()));
        }
        if !own.is_minimal() && self.is_coding_agent(profile, work_model) {
            own.tools.extend([OWN_TOOL, OPEN_TERMINAL].map(str::to_owned));
            if own.tools.contains("vfs_read") {
                own.tools.insert(READ_TEXT.to_owned());
            }
        }
        if !own.is_minimal() {
            let unseen = self.unseen.as_deref().zip(self.profiles.path(profile));
            own.is_unseen = unseen.is_some_and(|(unseen, path)| unseen.contains(path));
        }
        let starters = thread.into_iter().flat_map(|thread| thread.starters.iter().cloned());
        let has_worktree = own.has_worktree || starters.clone().any(|starter| starter.has_worktree);
        if has_worktree && !own.is_minimal() {
            own.tools.insert(PROPOSE_CHANGES.to_owned());
        }
        Authority::chain(own, starters).allowing(self.policy.allowed_to(profile))
    }

    /// Whether this profile, with the model lent to it for this work, is run by a coding agent.
    pub(super) fn is_coding_agent(&self, profile: &str, work_model: Option<&str>) -> bool {
        let wanted = work_model.or_else(|| self.profiles.get(profile).and_then(|profile| profile.model.as_deref()));
        self.request_queue.asks_coding_agent(&self.gateway, wanted)
    }

    pub(super) fn bounds_of(&self, kernel: &Kernel, activation: &Activation) -> Bounds {
        self.bounds(activation, kernel.thread(activation.thread)).guarding(kernel.command_files())
    }

    /// The authority of a call. Nested calls have the authority of a tool's own code.
    pub(super) fn bounds_for(&self, kernel: &Kernel, activation: &Activation, call: &Call) -> Bounds {
        let bounds = self.bounds_of(kernel, activation);
        if call.within.is_some() { bounds.for_own_code() } else { bounds }
    }

    /// The caller of the tools of an activation.
    pub(super) fn caller<'a>(&self, activation: &'a Activation) -> Caller<'a> {
        Caller { profile: &activation.profile, session: activation.thread }
    }

    /// The simulated date in seconds since 1970, by which temporary permissions expire.
    pub(super) fn now_secs(&self) -> Option<i64> {
        self.date.secs(&self.clock)
    }

    /// The text of a workspace file.
    pub(super) fn text(&self, path: &str) -> Option<&str> {
        self.files.text(path)
    }

    /// The rules for commands, as far as the person trusts them.
    pub(super) fn command_rules(&self) -> Rc<CommandRules> {
        let rules = CommandRules::of(self.text(ALLOWLIST_FILE).unwrap_or_default());
        if self.trust.is_everything() { rules } else { Rc::new(CommandRules::clone(&rules).trusted(&self.trust)) }
    }

    /// The context for gate decisions.
    pub(super) fn gate_context(&self) -> RoomGateContext<'_> {
        RoomGateContext {
            files: &self.files,
            profiles: &self.profiles,
            memories: &self.memories,
            inboxes: self.privacy.places(),
            trust: &self.trust,
            keeps_programs_in: self.sandbox.0,
        }
    }

    /// Reports what an agent is doing, or why its work does not continue.
    pub(super) fn explain(&mut self, activation: &Activation, why: String, for_person: bool, cause: Seq) {
        if let (Some(agent), Some(activity)) = (activation.agent_key, activation.activity) {
            self.explain.write(Explain { agent, activity, why: Cow::Owned(why), for_person, cause: Some(cause) });
        }
    }

    /// Reports why waiting work does not continue.
    pub(super) fn explain_waits(&mut self, kernel: &mut Kernel) {
        for (key, why) in kernel.take_wait_reasons() {
            if let Some(one) = kernel.activation(key) {
                self.explain(one, why, false, one.cause);
            }
        }
    }
}
