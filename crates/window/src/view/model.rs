//! Snapshot of the room as plain data for the UI, read from the world once per frame.

use crate::element::MailStatus;
use std::collections::BTreeMap;
use std::sync::Arc;

use bevy::math::Vec2;

use super::chat::ChatView;
use super::collaboration::CollaborationView;
use super::work::WorkView;
use super::workflows::WorkflowsView;
use crate::agent::AgentProfile;
use crate::base::text::slug;
use crate::base::{AgentKey, Behaviour, ConversationKey, ElementKey, Id, Problem};
use crate::gateway::ledger::Tally;
use crate::gateway::mcp::configured_servers::ConfiguredServer;
use crate::gateway::{BudgetSettings, McpServerStatus, ProviderFault};
use crate::log::AddedEvents;
use crate::memory::Memory;
use crate::mind::Prompt;
use crate::schedule::Speed;
use crate::simulation::{ConversationKind, Held, Posture, Seated, State};
use crate::tools::document_runtime::DocumentRunner;
pub use crate::workspace::Decor as DecorView;
use crate::workspace::Relationship;
use crate::workspace::task_files::{Column, TaskFile};

/// Everything the UI shows. Agents and elements are sorted by key.
#[derive(Clone, Debug, Default)]
pub struct RoomModel {
    /// The last tick that ran.
    pub tick: u64,
    /// The simulation speed.
    pub speed: Option<Speed>,
    /// Whether the simulation is paused.
    pub paused: bool,
    /// The agents, sorted by key.
    pub agents: Vec<AgentView>,
    /// The elements, sorted by key.
    pub elements: Vec<ElementView>,
    /// The furniture, which is decoration only.
    pub decor: Arc<Vec<DecorView>>,
    /// Running conversations, sorted by key.
    pub conversations: Vec<TalkView>,
    /// Relationships, drawn as labelled ropes.
    pub relationships: Vec<RelationshipView>,
    /// Minimum height above the topmost element at which new agents are placed, in world units; `None` if they stay
    /// where they are dropped.
    pub spawn_above: Option<f32>,
    /// Whether agents may talk to each other.
    pub talk_on: bool,
    /// The profiles that agents can be created from, sorted by id.
    pub profiles: Arc<Vec<ProfileView>>,
    /// The workspace's scenes, by file stem.
    pub scenes: Arc<Vec<String>>,
    /// The file stem of the open scene.
    pub scene: String,
    /// The workspace folder, for display.
    pub workspace: String,
    /// Usage in this run.
    pub spent: Tally,
    /// Numbers of model requests that are queued and under way.
    pub model_requests: (usize, usize),
    /// Whether the workspace is restricted, because the person does not trust it.
    pub is_restricted: bool,
    /// The default provider and model.
    pub provider: String,
    /// The sentence about the cap that last blocked a request.
    pub cap_reached: Option<String>,
    /// The field of `budget` that sets this cap.
    pub cap_name: Option<String>,
    /// The failing providers, one entry per kind of failure, with counts.
    pub provider_faults: Arc<Vec<ProviderFault>>,
    /// The agents whose provider and model fail, with an index into `provider_faults`.
    pub failing_agents: BTreeMap<AgentKey, usize>,
    /// The current problems of the room and its files.
    pub problems: Arc<Vec<Problem>>,
    /// Messages of the window itself.
    pub notices: Vec<Problem>,
    /// The paths of all workspace files.
    pub files: Arc<Vec<String>>,
    /// The settings that the window shows.
    pub settings: SettingsView,
    /// The configured MCP servers, those of the workspace first.
    pub servers: Arc<Vec<ServerView>>,
    /// The work of all agents.
    pub work: WorkView,
    /// Channels and blackboards.
    pub collaboration: Arc<CollaborationView>,
    /// Workflow files and runs.
    pub workflows: Arc<WorkflowsView>,
    /// Wording of events that extensions added to the log.
    pub added_events: AddedEvents,
    /// Who has read the selected or hovered elements, by element id.
    pub known: BTreeMap<Id, Arc<ElementReaders>>,
}

/// The settings that the window shows and changes.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct SettingsView {
    /// The default provider.
    pub provider: String,
    /// The default model, if the settings name one.
    pub model: Option<String>,
    /// The provider that replaces all others in this run.
    pub provider_override: Option<String>,
    /// The budget caps.
    pub budget: BudgetSettings,
    /// Maximum number of concurrent requests per provider.
    pub max_concurrent_requests: u32,
    /// Maximum number of concurrent conversations.
    pub conversations_at_once: usize,
    /// The program that runs the tools that agents define in documents.
    pub document_runner: DocumentRunner,
    /// Usage at providers that are not local, in this run.
    pub outside: Tally,
    /// The settings that the open scene overrides, such as `budget.calls_per_run`.
    pub of_scene: Vec<String>,
}

/// A configured MCP server and its status.
#[derive(Clone, PartialEq, Debug)]
pub struct ServerView {
    /// The configuration, and the file that contains it.
    pub written: ConfiguredServer,
    /// The connection status.
    pub standing: McpServerStatus,
}

impl RoomModel {
    /// Finds an agent by id.
    pub fn agent(&self, id: &str) -> Option<&AgentView> {
        self.agents.iter().find(|agent| &*agent.id == id)
    }

    /// Finds the agent that a name in a task file refers to, by id, profile or display name, ignoring case.
    pub fn agent_named(&self, name: &str) -> Option<&AgentView> {
        let by = |is_it: &dyn Fn(&AgentView) -> bool| self.agents.iter().find(|agent| is_it(agent));
        by(&|agent| agent.id.eq_ignore_ascii_case(name))
            .or_else(|| by(&|agent| agent.profile.eq_ignore_ascii_case(name)))
            .or_else(|| by(&|agent| slug(&agent.name) == name.to_lowercase()))
    }

    /// The look of the agent that a name in a task file refers to.
    pub fn look_of(&self, name: &str) -> Option<Id> {
        self.agent_named(name).map(|agent| agent.look.clone())
    }

    /// Finds an agent by key.
    pub fn agent_of(&self, key: AgentKey) -> Option<&AgentView> {
        self.agents.binary_search_by_key(&key, |agent| agent.key).ok().map(|index| &self.agents[index])
    }

    /// The current failure of this agent's provider.
    pub fn fault_of(&self, agent: AgentKey) -> Option<&ProviderFault> {
        self.provider_faults.get(*self.failing_agents.get(&agent)?)
    }

    /// Finds an element by id.
    pub fn element(&self, id: &str) -> Option<&ElementView> {
        self.elements.iter().find(|element| &*element.id == id)
    }

    /// Finds an element by key.
    pub fn element_of(&self, key: ElementKey) -> Option<&ElementView> {
        self.elements.binary_search_by_key(&key, |element| element.key).ok().map(|index| &self.elements[index])
    }

    /// The relationships by agent id, in scene order.
    pub fn relationships(&self) -> impl Iterator<Item = Relationship> {
        self.relationships.iter().filter_map(|tie| self.relationship(tie))
    }

    /// The relationship behind a tie, by agent id; `None` if an agent has left.
    pub fn relationship(&self, tie: &RelationshipView) -> Option<Relationship> {
        let (from, to) = (self.agent_of(tie.from)?, self.agent_of(tie.to)?);
        Some(Relationship { from: from.id.clone(), to: to.id.clone(), label: tie.label.clone() })
    }

    /// The display name of an author: an agent's name, “you” for the person, otherwise the id itself.
    pub fn called<'a>(&'a self, author: &'a str) -> &'a str {
        match self.agent(author) {
            Some(agent) => &agent.name,
            None if author == "user" => "you",
            None => author,
        }
    }
}

/// An agent at one moment.
#[derive(Clone, Debug)]
pub struct AgentView {
    /// Key within the room.
    pub key: AgentKey,
    /// Id, as used in files.
    pub id: Id,
    /// Display name.
    pub name: Id,
    /// The id of its profile.
    pub profile: Id,
    /// The word its figure is derived from: the profile's `avatar`, otherwise the profile's id.
    pub look: Id,
    /// Position in world units, interpolated between two ticks.
    pub position: Vec2,
    /// The direction it faces or walks; zero if none.
    pub heading: Vec2,
    /// Whether it is walking.
    pub walks: bool,
    /// Body posture.
    pub posture: Posture,
    /// The object in its hands.
    pub holds: Option<Held>,
    /// The seat, if it sits.
    pub seated: Option<Seated>,
    /// The state of its state machine.
    pub state: State,
    /// Time in this state, in seconds of simulated time.
    pub in_state_secs: f32,
    /// Whether a model request for it is pending.
    pub thinking: bool,
    /// Number of queued actions.
    pub queued: usize,
    /// The element that it reads or is going to read.
    pub reads: Option<ElementKey>,
    /// Details; only for agents that are selected, hovered, or visible while the overlay is on.
    pub detail: Option<Arc<AgentDetail>>,
}

/// The parts of an agent that are only read when they are shown.
#[derive(Clone, Debug, Default)]
pub struct AgentDetail {
    /// The reason for its state, in words.
    pub why: String,
    /// Its behaviour when idle.
    pub behaviour: Behaviour,
    /// The position of its home, in world units.
    pub home: Vec2,
    /// Its queued actions in words, in order: “read House rules (soon)”.
    pub queue: Vec<String>,
    /// Its waiting tasks.
    pub tasks: Vec<String>,
    /// A copy of its memory.
    pub memory: Memory,
    /// Turns and estimated tokens of its session.
    pub session: (usize, u32),
    /// Usage in this run.
    pub spent: Tally,
    /// Its last prompt, each part with its origin.
    pub last_prompt: Option<Prompt>,
    /// The answer that is being streamed.
    pub live_text: Option<String>,
    /// Its provider and model.
    pub answered_by: String,
    /// Its chat with the model; only if it is selected or hovered.
    pub chat: Option<ChatView>,
    /// The content of its profile; only if it is selected or hovered.
    pub profile: Option<Arc<ProfileFacts>>,
}

/// The content of a profile, as text for people.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ProfileFacts {
    /// The path of the profile.
    pub file: String,
    /// The description.
    pub description: String,
    /// The requested model; empty for the default.
    pub model: String,
    /// The tools it may use.
    pub tools: Vec<String>,
    /// The safety mode: `safe`, `balanced` or `auto`.
    pub safety: String,
    /// Globs of readable files; `None` means everything that the workspace allows.
    pub reads: Option<Vec<String>>,
    /// Globs of writable files; `None` means everything that the workspace allows.
    pub writes: Option<Vec<String>>,
}

/// Which agents have read an element, those with the newest version first.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ElementReaders {
    /// The current version of the element.
    pub version: u32,
    /// All agents that may read it.
    pub readers: Vec<ReaderView>,
}

impl ElementReaders {
    /// Numbers of agents that know the newest version, an older one, and none.
    pub fn counts(&self) -> [usize; 3] {
        let mut counts = [0; 3];
        for reader in &self.readers {
            let index = match reader.knows {
                KnownElement::Newest { .. } => 0,
                KnownElement::Older { .. } => 1,
                KnownElement::Nothing => 2,
            };
            counts[index] += 1;
        }
        counts
    }
}

/// An agent and the version of an element that it knows.
#[derive(Clone, PartialEq, Debug)]
pub struct ReaderView {
    /// The agent's id.
    pub agent: Id,
    /// The agent's display name.
    pub name: Id,
    /// The version it knows.
    pub knows: KnownElement,
}

/// The version of an element that an agent knows.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum KnownElement {
    /// The current version.
    Newest {
        /// The tick of the last reading.
        read_tick: u64,
    },
    /// An earlier version.
    Older {
        /// The version it read.
        version: u32,
        /// The tick of the last reading.
        read_tick: u64,
    },
    /// It never read the element.
    Nothing,
}

/// An element at one moment.
#[derive(Clone, Debug)]
pub struct ElementView {
    /// Key within the room.
    pub key: ElementKey,
    /// Id, as used in files.
    pub id: Id,
    /// The kind: `pinboard`, `messageboard`, `inbox`, `rulebook` or another registered kind.
    pub kind: Id,
    /// Display name.
    pub label: Id,
    /// Position of its centre, in world units.
    pub position: Vec2,
    /// The id of its owner.
    pub owner: Option<Id>,
    /// The path of the file with its content.
    pub file: Option<String>,
    /// Its content.
    pub content: Arc<ContentView>,
}

/// The content of an element.
#[derive(Clone, PartialEq, Debug)]
pub enum ContentView {
    /// The text of a message board or rulebook.
    Text(String),
    /// The pins of a pinboard, oldest first.
    Pins(Vec<PinView>),
    /// The mail of an inbox, oldest first.
    Mail {
        /// Received mail.
        items: Vec<MailView>,
        /// Copies of sent mail.
        outbox: Vec<MailView>,
    },
    /// The tasks of a task board.
    Tasks(TasksView),
    /// The content of another kind, as the text of its file.
    Other(String),
}

/// A task file as a board shows it.
#[derive(Clone, PartialEq, Debug)]
pub struct TasksView {
    /// The parsed file.
    pub file: Arc<TaskFile>,
    /// For each column in [`Column::SHOWN`], the indices of its tasks, in file order.
    pub columns: [Vec<usize>; 4],
}

impl TasksView {
    /// Sorts the tasks of a file into columns.
    pub fn of(file: Arc<TaskFile>) -> Self {
        let mut columns: [Vec<usize>; 4] = Default::default();
        for (index, task) in file.tasks.iter().enumerate() {
            let shown = Column::of(task).shown();
            if let Some(column) = Column::SHOWN.iter().position(|column| *column == shown) {
                columns[column].push(index);
            }
        }
        Self { file, columns }
    }
}

/// A pin on a pinboard.
#[derive(Clone, PartialEq, Debug)]
pub struct PinView {
    /// The pin's id.
    pub id: Id,
    /// The note.
    pub text: String,
    /// The author: an agent's id or `user`.
    pub author: Id,
    /// When it was pinned, in seconds of simulated time.
    pub time_secs: f64,
    /// The ids of the agents that voted for it.
    pub up: Vec<Id>,
    /// The ids of the agents that voted against it.
    pub down: Vec<Id>,
    /// Comments, each with its author.
    pub comments: Vec<(Id, String)>,
}

/// A piece of mail.
#[derive(Clone, PartialEq, Debug)]
pub struct MailView {
    /// The mail's id.
    pub id: Id,
    /// The sender's id.
    pub from: Id,
    /// The recipient's id.
    pub to: Id,
    /// The subject line.
    pub subject: String,
    /// The body.
    pub text: String,
    /// The delivery status.
    pub status: MailStatus,
    /// Whether the owner's model has seen it.
    pub read: bool,
    /// When it was sent, in seconds of simulated time.
    pub sent_secs: f64,
}

/// A running conversation.
#[derive(Clone, Debug)]
pub struct TalkView {
    /// Key of the conversation.
    pub key: ConversationKey,
    /// The kind, which says how it was started.
    pub kind: ConversationKind,
    /// The participants, in speaking order.
    pub participants: Vec<AgentKey>,
    /// The index into `participants` of the current speaker.
    pub speaker: usize,
    /// The topic, if it has one.
    pub topic: Option<String>,
    /// The utterances, each with the speaker's id (or `user`).
    pub said: Vec<(Id, String)>,
    /// Number of turns taken, and the maximum.
    pub turns: (u32, u32),
}

/// A relationship between two agents, drawn as a labelled rope.
#[derive(Clone, PartialEq, Debug)]
pub struct RelationshipView {
    /// The agent the relationship starts at.
    pub from: AgentKey,
    /// The agent it points to.
    pub to: AgentKey,
    /// The role of `from` towards `to`, such as “mentor”.
    pub label: String,
}

/// A profile that agents can be created from.
#[derive(Clone, PartialEq, Debug)]
pub struct ProfileView {
    /// The profile's id.
    pub id: Id,
    /// Display name.
    pub name: String,
    /// The description.
    pub description: String,
    /// The path of its file.
    pub file: String,
    /// The word its figure is derived from.
    pub look: Id,
    /// Number of its agents in the room.
    pub agents: usize,
}

/// The word that figures of this profile are derived from.
pub fn look_of(profile: &AgentProfile) -> Id {
    profile.avatar.as_deref().map_or_else(|| profile.id.clone(), Id::from)
}
