//! The room at one moment as plain data for the screen, read from the world once per frame.

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

/// Everything that can be seen. Agents and elements in order of key.
#[derive(Clone, Debug, Default)]
pub struct RoomModel {
    /// The tick that ran last.
    pub tick: u64,
    /// How time passes.
    pub speed: Option<Speed>,
    /// Whether time stands still.
    pub paused: bool,
    /// Who is in the room.
    pub agents: Vec<AgentView>,
    /// What stands in it.
    pub elements: Vec<ElementView>,
    /// What is drawn only.
    pub decor: Arc<Vec<DecorView>>,
    /// Conversations that go on, in order of key.
    pub talks: Vec<TalkView>,
    /// Labelled ropes.
    pub ties: Vec<TieView>,
    /// How far above the topmost element an agent comes to stand that is dropped among them, in world units;
    /// nothing where it stays where it is dropped.
    pub spawn_above: Option<f32>,
    /// Whether agents may talk to each other.
    pub talk_on: bool,
    /// Who could come in, by id.
    pub profiles: Arc<Vec<ProfileView>>,
    /// The scenes of the workspace, by the stem of their files, and which of them is open.
    pub scenes: Arc<Vec<String>>,
    /// The open scene's stem.
    pub scene: String,
    /// The workspace's folder, for people.
    pub workspace: String,
    /// What was used in this run.
    pub spent: Tally,
    /// Questions that wait for a slot, and those under way.
    pub questions: (usize, usize),
    /// Who answers unless an agent says otherwise: provider and model.
    pub provider: String,
    /// The cap that stopped a question last, in words.
    pub cap_reached: Option<String>,
    /// The field of `budget` that sets that cap.
    pub cap_name: Option<String>,
    /// The providers that fail, each way of failing once, with how often.
    pub provider_faults: Arc<Vec<ProviderFault>>,
    /// The agents whose own provider and model fail, with the place of the fault in `provider_faults`.
    pub failing_agents: BTreeMap<AgentKey, usize>,
    /// What is wrong in the room and its files now.
    pub problems: Arc<Vec<Problem>>,
    /// What the window has to say beside that.
    pub notices: Vec<Problem>,
    /// The files of the workspace that the room knows, by path.
    pub files: Arc<Vec<String>>,
    /// What the settings say.
    pub settings: SettingsView,
    /// The MCP servers that are written down, the workspace's own first.
    pub servers: Arc<Vec<ServerView>>,
    /// What agents do in earnest.
    pub work: WorkView,
    /// What those who work together have in common.
    pub together: Arc<CollaborationView>,
    /// Workflows and their runs.
    pub workflows: Arc<WorkflowsView>,
    /// The events that floors of the room added, in words.
    pub added_events: AddedEvents,
    /// Who has read what of the elements that were asked for, by element.
    pub known: BTreeMap<Id, Arc<KnownBy>>,
}

/// What the settings say, as far as the window shows and changes them.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct SettingsView {
    /// Who answers unless an agent says otherwise.
    pub provider: String,
    /// Which model of it, if the settings name one.
    pub model: Option<String>,
    /// Who answers in place of everyone's own choice in this run.
    pub provider_override: Option<String>,
    /// The caps.
    pub budget: BudgetSettings,
    /// Questions under way at each provider at once.
    pub max_concurrent: u32,
    /// Conversations that go on at once.
    pub conversations_at_once: usize,
    /// What runs the tools that agents' documents define.
    pub document_runner: DocumentRunner,
    /// What providers outside of the room used in this run.
    pub outside: Tally,
    /// Settings that the open scene makes itself, so that the workspace's do not count: `budget.calls_per_run`.
    pub of_scene: Vec<String>,
}

/// An MCP server that is written down, and how it stands.
#[derive(Clone, PartialEq, Debug)]
pub struct ServerView {
    /// It, with where it is written down.
    pub written: ConfiguredServer,
    /// How it stands.
    pub standing: McpServerStatus,
}

impl RoomModel {
    /// The agent of this id.
    pub fn agent(&self, id: &str) -> Option<&AgentView> {
        self.agents.iter().find(|agent| &*agent.id == id)
    }

    /// The agent that a name in a task file means: its id, its name, or the profile that it runs, in any case.
    pub fn agent_named(&self, name: &str) -> Option<&AgentView> {
        let by = |is_it: &dyn Fn(&AgentView) -> bool| self.agents.iter().find(|agent| is_it(agent));
        by(&|agent| agent.id.eq_ignore_ascii_case(name))
            .or_else(|| by(&|agent| agent.profile.eq_ignore_ascii_case(name)))
            .or_else(|| by(&|agent| slug(&agent.name) == name.to_lowercase()))
    }

    /// What the face of the agent is drawn from that a name in a task file means.
    pub fn look_of(&self, name: &str) -> Option<Id> {
        self.agent_named(name).map(|agent| agent.look.clone())
    }

    /// The agent of this key.
    pub fn agent_of(&self, key: AgentKey) -> Option<&AgentView> {
        self.agents.binary_search_by_key(&key, |agent| agent.key).ok().map(|index| &self.agents[index])
    }

    /// What is wrong with the provider that answers this agent, if it fails.
    pub fn fault_of(&self, agent: AgentKey) -> Option<&ProviderFault> {
        self.provider_faults.get(*self.failing_agents.get(&agent)?)
    }

    /// The element of this id.
    pub fn element(&self, id: &str) -> Option<&ElementView> {
        self.elements.iter().find(|element| &*element.id == id)
    }

    /// The element of this key.
    pub fn element_of(&self, key: ElementKey) -> Option<&ElementView> {
        self.elements.binary_search_by_key(&key, |element| element.key).ok().map(|index| &self.elements[index])
    }

    /// Who is what to whom, by ids, in the order of the scene.
    pub fn relationships(&self) -> impl Iterator<Item = Relationship> {
        self.ties.iter().filter_map(|tie| self.relationship(tie))
    }

    /// A rope's relationship, by ids.
    pub fn relationship(&self, tie: &TieView) -> Option<Relationship> {
        let (from, to) = (self.agent_of(tie.from)?, self.agent_of(tie.to)?);
        Some(Relationship { from: from.id.clone(), to: to.id.clone(), label: tie.label.clone() })
    }

    /// What an author is called: the name of an agent, “you” for the person, else the word itself.
    pub fn called<'a>(&'a self, author: &'a str) -> &'a str {
        match self.agent(author) {
            Some(agent) => &agent.name,
            None if author == "user" => "you",
            None => author,
        }
    }
}

/// An agent as it stands there.
#[derive(Clone, Debug)]
pub struct AgentView {
    /// Its key.
    pub key: AgentKey,
    /// Its id.
    pub id: Id,
    /// Its name on screen.
    pub name: Id,
    /// The profile it runs.
    pub profile: Id,
    /// What its figure is drawn from: the profile's `avatar`, else its id.
    pub look: Id,
    /// Where it is drawn, in world units: between two ticks.
    pub position: Vec2,
    /// Where it looks or walks to; zero where nowhere in particular.
    pub heading: Vec2,
    /// Whether it is on its feet.
    pub walks: bool,
    /// How it holds itself.
    pub posture: Posture,
    /// What it has in its hands.
    pub holds: Option<Held>,
    /// What it sits on, if it sits.
    pub seated: Option<Seated>,
    /// What it does.
    pub state: State,
    /// How long it has been in that state, in seconds of simulated time.
    pub in_state_secs: f32,
    /// Whether a model is being asked for it.
    pub thinking: bool,
    /// Actions in its queue.
    pub queued: usize,
    /// The element that it reads or goes to read.
    pub reads: Option<ElementKey>,
    /// The rest, for those who were asked for: selected, hovered, or seen while the overlay is on.
    pub detail: Option<Arc<AgentDetail>>,
}

/// What there is to know about an agent beside how it looks.
#[derive(Clone, Debug, Default)]
pub struct AgentDetail {
    /// Why it is in its state, in words.
    pub why: String,
    /// What it does when it has nothing to do.
    pub behaviour: Behaviour,
    /// Its home.
    pub home: Vec2,
    /// What it has set itself to do, in order, in words: “read House rules (high)”.
    pub queue: Vec<String>,
    /// Tasks that wait.
    pub tasks: Vec<String>,
    /// Its memory.
    pub memory: Memory,
    /// Turns with a model in its session, and the estimated tokens of them.
    pub session: (usize, u32),
    /// What it used in this run.
    pub spent: Tally,
    /// Its last prompt, each part with its origin.
    pub last_prompt: Option<Prompt>,
    /// What a model says to it at this moment.
    pub live_text: Option<String>,
    /// Who answers it: provider and model.
    pub answered_by: String,
    /// What it and its model say to each other; only for those who are selected or under the pointer.
    pub chat: Option<ChatView>,
    /// What its profile says; only for those who are selected or under the pointer.
    pub profile: Option<Arc<ProfileFacts>>,
}

/// What a profile says of what an agent may do, in words.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ProfileFacts {
    /// Its file.
    pub file: String,
    /// What it is for.
    pub description: String,
    /// Which model it asks for; empty where it leaves that to the settings.
    pub model: String,
    /// The tools that it may use.
    pub tools: Vec<String>,
    /// How much it may do without a person: `safe`, `balanced` or `auto`.
    pub safety: String,
    /// What it may read, as globs; `None` is everything that the workspace allows.
    pub reads: Option<Vec<String>>,
    /// What it may write, as globs.
    pub writes: Option<Vec<String>>,
}

/// Who has read what of an element: those who know the newest first.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct KnownBy {
    /// The version that stands there now.
    pub version: u32,
    /// Everyone who may read it.
    pub readers: Vec<ReaderView>,
}

impl KnownBy {
    /// How many know the newest, how many something older, how many nothing.
    pub fn counts(&self) -> [usize; 3] {
        let mut counts = [0; 3];
        for reader in &self.readers {
            let index = match reader.knows {
                Knows::Newest { .. } => 0,
                Knows::Older { .. } => 1,
                Knows::Nothing => 2,
            };
            counts[index] += 1;
        }
        counts
    }
}

/// An agent, and what it knows of an element.
#[derive(Clone, PartialEq, Debug)]
pub struct ReaderView {
    /// Who, by id.
    pub agent: Id,
    /// Its name on screen.
    pub name: Id,
    /// What it knows.
    pub knows: Knows,
}

/// What an agent knows of an element.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Knows {
    /// What stands there now.
    Newest {
        /// When it looked last, in ticks.
        read_tick: u64,
    },
    /// What stood there when it looked last.
    Older {
        /// Which version that was.
        version: u32,
        /// When that was, in ticks.
        read_tick: u64,
    },
    /// Nothing.
    Nothing,
}

/// An element as it stands there.
#[derive(Clone, Debug)]
pub struct ElementView {
    /// Its key.
    pub key: ElementKey,
    /// Its id.
    pub id: Id,
    /// `pinboard`, `messageboard`, `inbox`, `rulebook`, or another kind's word.
    pub kind: Id,
    /// Its label.
    pub label: Id,
    /// Its middle.
    pub position: Vec2,
    /// Whose it is.
    pub owner: Option<Id>,
    /// The file that holds its content, if one does.
    pub file: Option<String>,
    /// What it holds.
    pub content: Arc<ContentView>,
}

/// What an element holds.
#[derive(Clone, PartialEq, Debug)]
pub enum ContentView {
    /// A text: message boards and rulebooks.
    Text(String),
    /// Pins, oldest first.
    Pins(Vec<PinView>),
    /// Mail that came and copies of mail that went, oldest first.
    Mail {
        /// Came in.
        items: Vec<MailView>,
        /// Went out.
        outbox: Vec<MailView>,
    },
    /// The tasks of a file.
    Tasks(TasksView),
    /// What an element of another kind holds, as the text of its file: it is changed by the kind's own acts.
    Other(String),
}

/// A task file as a board shows it.
#[derive(Clone, PartialEq, Debug)]
pub struct TasksView {
    /// The file.
    pub file: Arc<TaskFile>,
    /// The tasks of each column that is shown ([`Column::SHOWN`]), in the order of the file, by their places in it.
    pub columns: [Vec<usize>; 4],
}

impl TasksView {
    /// What a board shows of this file.
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

/// A pin.
#[derive(Clone, PartialEq, Debug)]
pub struct PinView {
    /// Its id.
    pub id: Id,
    /// Its text.
    pub text: String,
    /// Who pinned it up: an agent's id or `user`.
    pub author: Id,
    /// When, in seconds of simulated time.
    pub time_secs: f64,
    /// Who voted for it.
    pub up: Vec<Id>,
    /// Who voted against it.
    pub down: Vec<Id>,
    /// Who said what about it.
    pub comments: Vec<(Id, String)>,
}

/// A piece of mail.
#[derive(Clone, PartialEq, Debug)]
pub struct MailView {
    /// Its id.
    pub id: Id,
    /// Who sent it.
    pub from: Id,
    /// To whom.
    pub to: Id,
    /// Its subject.
    pub subject: String,
    /// Its text.
    pub text: String,
    /// Where it stands.
    pub status: MailStatus,
    /// Whether its owner's model saw it.
    pub read: bool,
    /// When it was sent, in seconds of simulated time.
    pub sent_secs: f64,
}

/// A conversation.
#[derive(Clone, Debug)]
pub struct TalkView {
    /// Its key.
    pub key: ConversationKey,
    /// Why they talk.
    pub kind: ConversationKind,
    /// Who takes part, in speaking order.
    pub participants: Vec<AgentKey>,
    /// Whose turn it is: an index into `participants`.
    pub speaker: usize,
    /// About what.
    pub topic: Option<String>,
    /// What was said: by whom (an agent's id or `user`), and what.
    pub said: Vec<(Id, String)>,
    /// Turns taken, and after how many it ends.
    pub turns: (u32, u32),
}

/// A labelled rope between two agents.
#[derive(Clone, PartialEq, Debug)]
pub struct TieView {
    /// Who.
    pub from: AgentKey,
    /// To whom.
    pub to: AgentKey,
    /// What `from` is to `to`.
    pub label: String,
}

/// A profile that agents can be made of.
#[derive(Clone, PartialEq, Debug)]
pub struct ProfileView {
    /// Its id.
    pub id: Id,
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// The file that defines it.
    pub file: String,
    /// What its figure is drawn from.
    pub look: Id,
    /// Agents of it in the room.
    pub agents: usize,
}

/// What a figure of this profile is drawn from.
pub fn look_of(profile: &AgentProfile) -> Id {
    profile.avatar.as_deref().map_or_else(|| profile.id.clone(), Id::from)
}
