//! A small room and a harness for tests of panes: they are drawn without a screen and clicked by label.

use crate::element::MailStatus;
use std::sync::{Arc, OnceLock};

use bevy::math::Vec2;
use egui::{Rect, Shape, TextureId};
use egui_kittest::Harness;

use crate::base::{ActivationKey, AgentKey, ConversationKey, ElementKey, Id};
use crate::kernel::{Approval, ApprovalId};
use crate::schedule::Speed;
use crate::simulation::{ConversationKind, State};
use crate::tools::Preview;
use crate::ui::commands::file_targets::FileTargets;
use crate::ui::commands::keys::{self, ShortcutScope};
use crate::ui::commands::table::{CommandContext, CommandInfo, CommandTable};
use crate::ui::panes::inspector::{Inspector, inspector_ui};
use crate::ui::panes::pane::Pane;
use crate::ui::shell::parts::WindowParts;
use crate::ui::shell::window_commands;
use crate::ui::state::dock::Tab;
use crate::ui::state::furniture_editing::FurnitureEditing;
use crate::ui::{Command, UiState, ViewerContext};
use crate::view::art::Art;
use crate::view::model::{
    AgentDetail, AgentView, ContentView, DecorView, ElementView, MailView, PinView, ProfileView, RoomModel, TalkView,
};
use crate::view::pick::RoomObject;
use crate::view::recent_events::{PastTalk, Recent};
use crate::view::theme::LIGHT;
use crate::view::work::{PieceView, QuestionView};
use crate::view::workflows::{WorkflowView, WorkflowsView};

/// The input of a pane and the commands it returned.
pub struct PaneHarness {
    /// The room.
    pub room: RoomModel,
    /// The recent events.
    pub recent: Recent,
    /// The state of the window.
    pub state: UiState,
    /// The panes, and what is around them.
    pub parts: WindowParts,
    /// The commands that were not the window's own; the window's own have been run.
    pub commands: Vec<Command>,
    /// Every command that was returned.
    pub asked: Vec<Command>,
    /// The artwork, for tests that need it.
    pub art: Option<Art>,
}

impl WindowParts {
    /// Returns the pane of this type.
    pub fn pane<T: Pane>(&self) -> &T {
        self.panes.get().expect("every window has this pane")
    }

    /// Returns the pane of this type, to change it.
    pub fn pane_mut<T: Pane>(&mut self) -> &mut T {
        self.panes.get_mut().expect("every window has this pane")
    }
}

/// Draws the inspector, which shows the log in short if nothing is selected.
pub fn draw_inspector(ui: &mut egui::Ui, cx: &ViewerContext<'_>, parts: &mut WindowParts) -> Vec<Command> {
    let drawn = parts.panes.with_others(|inspector: &mut Inspector, others| inspector_ui(ui, cx, inspector, others));
    drawn.expect("every window has an inspector")
}

impl PaneHarness {
    /// A new stage.
    pub fn new(room: RoomModel, state: UiState) -> Self {
        let (parts, commands, asked) = Default::default();
        Self { room, recent: sample_recent(), state, parts, commands, asked, art: None }
    }

    /// Calls `look` with the context of a pane and all parts of the window.
    pub fn with_context<T>(&mut self, look: impl FnOnce(&ViewerContext<'_>, &mut WindowParts) -> T) -> T {
        let unsaved = self.parts.unsaved();
        self.state.notices.update(&self.room, self.state.time.now_secs);
        self.state.questions.update(&self.room, self.state.time.now_secs);
        let (room, recent, ui) = (&self.room, &self.recent, &self.state);
        let cx = ViewerContext {
            room,
            recent,
            theme: &LIGHT,
            art: self.art.as_ref().unwrap_or_else(|| art()),
            ui,
            unsaved: &unsaved,
            files: &FileTargets::default(),
            table: CommandTable::standard(),
        };
        look(&cx, &mut self.parts)
    }

    /// Runs the window's own commands and keeps the rest.
    pub fn run(&mut self, commands: Vec<Command>) {
        for command in commands {
            self.asked.push(command.clone());
            match command {
                Command::Window(command) => {
                    let (state, parts) = (&mut self.state, &mut self.parts);
                    self.commands.extend(window_commands::apply(command, &self.room, state, parts));
                }
                // Jobs run synchronously: nothing else happens here.
                Command::Run(job) => drop(job.run()),
                command => self.commands.push(command),
            }
        }
    }
}

/// Returns empty artwork: loading the real one takes a while.
fn art() -> &'static Art {
    static ART: OnceLock<Art> = OnceLock::new();
    ART.get_or_init(Art::default)
}

/// Returns the rectangles of all portraits and other artwork in the last frame.
pub fn drawings(window: &Harness<'static, PaneHarness>) -> Vec<Rect> {
    fn collect(shape: &Shape, into: &mut Vec<Rect>) {
        match shape {
            // Everything else is drawn with the font texture.
            Shape::Mesh(mesh) if mesh.texture_id != TextureId::default() => into.push(mesh.calc_bounds()),
            Shape::Vec(shapes) => shapes.iter().for_each(|shape| collect(shape, into)),
            _ => {}
        }
    }
    let mut drawings = Vec::new();
    window.output().shapes.iter().for_each(|shape| collect(&shape.shape, &mut drawings));
    drawings
}

/// Returns a harness that draws a pane with the sample room.
pub fn stage_pane(
    state: UiState,
    draw: impl Fn(&mut egui::Ui, &ViewerContext<'_>, &mut WindowParts) -> Vec<Command> + 'static,
) -> Harness<'static, PaneHarness> {
    pane_of(PaneHarness::new(sample_room(), state), draw)
}

/// Returns a harness that draws a pane with this stage.
pub fn pane_of(
    stage: PaneHarness,
    draw: impl Fn(&mut egui::Ui, &ViewerContext<'_>, &mut WindowParts) -> Vec<Command> + 'static,
) -> Harness<'static, PaneHarness> {
    let app = move |ui: &mut egui::Ui, stage: &mut PaneHarness| {
        let commands = stage.with_context(|cx, panes| draw(ui, cx, panes));
        stage.run(commands);
    };
    Harness::builder().with_size(egui::vec2(1200.0, 1600.0)).with_max_steps(64).build_ui_state(app, stage)
}

/// Returns a harness that handles keyboard shortcuts and then calls `draw`.
pub fn stage_keys(
    state: UiState,
    draw: impl Fn(&mut egui::Ui, &mut PaneHarness) + 'static,
) -> Harness<'static, PaneHarness> {
    let app = move |ui: &mut egui::Ui, stage: &mut PaneHarness| {
        let pressed = {
            let PaneHarness { state, parts, .. } = stage;
            let is_taken = |focused, id: &str| parts.panes.iter().any(|pane| pane.takes_key(focused, id));
            let reach = ShortcutScope::of(&state.dock);
            keys::pressed(ui.ctx(), CommandTable::standard(), reach, &mut state.view.space_bar, is_taken)
        };
        for command in pressed {
            let commands = command.run(&CommandContext {
                room: &stage.room,
                ui: &stage.state,
                at: None,
                files: &FileTargets::default(),
            });
            stage.run(commands);
        }
        draw(ui, stage);
    };
    let stage = PaneHarness::new(sample_room(), state);
    Harness::builder().with_size(egui::vec2(1200.0, 1600.0)).with_max_steps(64).build_ui_state(app, stage)
}

/// An approval that an agent needs for a tool call of this activation.
pub fn question(activation: u64, agent: &str, wants: &str) -> QuestionView {
    let key = ActivationKey::numbered(activation);
    let approval = Approval {
        id: ApprovalId::parse(&format!("{activation}-2-1-0000abcd")).expect("it has the shape"),
        activation: key,
        turn: 2,
        call: 1,
        agent: agent.into(),
        profile: "ada".into(),
        task: "count".to_owned(),
        tool: "vfs_write".to_owned(),
        arguments: serde_json::Value::Null,
        what: format!("{wants}, because its safety mode is safe"),
        wants: wants.to_owned(),
        because: "its safety mode is safe".to_owned(),
        for_task: Some("change files".to_owned()),
        always: vec!["vfs_write(notes.md)".to_owned()],
        pattern: None,
        edited: None,
        risk: Default::default(),
        asked_before: 0,
        changed_files: Vec::new(),
        of_server: None,
    };
    QuestionView { approval, preview: Preview::Addition { path: "notes.md".into(), text: "one\ntwo".into() } }
}

/// An activation that waits for an approval.
pub fn asking_piece(activation: u64, agent: &str, wants: &str) -> PieceView {
    PieceView {
        activation: ActivationKey::numbered(activation),
        agent: agent.into(),
        task: "count".to_owned(),
        stage: "needs you",
        turn: 2,
        depth: 0,
        tokens: 0,
        question: Some(question(activation, agent, wants)),
    }
}

/// Returns a room in which this command applies, with waiting approvals, furniture or workflows where it needs them.
pub fn room_for(command: &CommandInfo) -> RoomModel {
    let mut room = sample_room();
    if command.id.starts_with("question.") {
        room.work.pieces = vec![asking_piece(7, "ada-1", "write a.md"), asking_piece(8, "bram-1", "write b.md")];
    }
    if command.id.starts_with("furniture.") {
        room.decor = vec![rug()].into();
    }
    if command.id.starts_with("workflows.") {
        let file = WorkflowView { path: "workflows/tea.md".into(), name: "Tea time".into(), ..WorkflowView::default() };
        room.workflows = WorkflowsView { files: vec![file].into(), ..WorkflowsView::default() }.into();
    }
    room
}

/// Returns a window state in which this command applies, and the commands that it results in.
pub fn run_where_it_applies(command: &CommandInfo) -> (UiState, Vec<Command>) {
    let mut state = UiState::default();
    state.transfer.copied = vec![RoomObject::Element("news".into())];
    state.selection.select([RoomObject::Element("rules".into())]);
    if command.id.starts_with("file.") {
        state.dock.show(&Tab::file("agents/ada.md"), |_| false);
    }
    if command.id.starts_with("furniture.") {
        state.view.arranging = Some(FurnitureEditing { chosen: Some(rug()) });
    }
    let room = room_for(command);
    // An approval takes no answer until it has been visible for a moment.
    state.questions.update(&room, 0.0);
    state.questions.update(&room, 1.0);
    let result = command.run(&CommandContext { room: &room, ui: &state, at: None, files: &FileTargets::default() });
    (state, result)
}

fn rug() -> DecorView {
    DecorView { kind: "rug".into(), position: Vec2::ZERO, size: Vec2::new(100.0, 60.0), turned: false }
}

/// An idle agent.
pub fn agent(key: u32, id: &str, name: &str) -> AgentView {
    AgentView {
        key: AgentKey(key),
        id: id.into(),
        name: name.into(),
        profile: "ada".into(),
        look: "ada".into(),
        position: bevy::math::Vec2::new(key as f32 * 80.0, 0.0),
        heading: bevy::math::Vec2::ZERO,
        walks: false,
        posture: crate::simulation::Posture::Standing,
        holds: None,
        seated: None,
        state: State::Idle,
        in_state_secs: 4.0,
        thinking: false,
        queued: 0,
        reads: None,
        detail: None,
    }
}

/// An element with this content.
pub fn element(key: u32, id: &str, kind: &str, content: ContentView) -> ElementView {
    ElementView {
        key: ElementKey(key),
        id: id.into(),
        kind: kind.into(),
        label: id.into(),
        position: bevy::math::Vec2::new(0.0, 200.0),
        owner: None,
        file: None,
        content: Arc::new(content),
    }
}

/// A pin.
pub fn pin(id: &str, author: &str, text: &str) -> PinView {
    PinView {
        id: id.into(),
        text: text.to_owned(),
        author: author.into(),
        time_secs: 0.0,
        up: Vec::new(),
        down: Vec::new(),
        comments: Vec::new(),
    }
}

/// Two agents in a conversation, and one element of each kind.
pub fn sample_room() -> RoomModel {
    let mut ada = agent(0, "ada-1", "Ada");
    ada.detail = Some(Arc::new(AgentDetail {
        why: "nothing calls".into(),
        queue: vec!["read House rules (high)".into(), "go and tell Bram".into()],
        answered_by: "offline".into(),
        ..AgentDetail::default()
    }));
    let mail = MailView {
        id: "m1".into(),
        from: "bram-1".into(),
        to: "ada-1".into(),
        subject: "Tea".into(),
        text: "At four?".into(),
        status: MailStatus::Open,
        read: false,
        sent_secs: 30.0,
    };
    let profile = |id: &str, name: &str| ProfileView {
        id: id.into(),
        name: name.into(),
        description: format!("{name} looks after things"),
        file: format!("agents/{id}.md"),
        look: id.into(),
        agents: 1,
    };
    RoomModel {
        tick: 1_800,
        speed: Some(Speed::Times(1)),
        agents: vec![ada, agent(1, "bram-1", "Bram")],
        elements: vec![
            element(0, "rules", "rulebook", ContentView::Text("# Be kind".into())),
            element(1, "news", "messageboard", ContentView::Text("All is well".into())),
            element(2, "ideas", "pinboard", ContentView::Pins(vec![pin("p1", "ada-1", "Buy tea")])),
            element(3, "post", "inbox", ContentView::Mail { items: vec![mail], outbox: Vec::new() }),
        ],
        conversations: vec![TalkView {
            key: ConversationKey(4),
            kind: ConversationKind::Chance,
            participants: vec![AgentKey(0), AgentKey(1)],
            speaker: 0,
            topic: Some("tea".into()),
            said: vec![("ada-1".into(), "Shall we have **tea**?".into())],
            turns: (1, 6),
        }],
        talk_on: true,
        spawn_above: Some(120.0),
        profiles: vec![profile("ada", "Ada"), profile("bram", "Bram")].into(),
        scenes: vec!["evening".into(), "morning".into()].into(),
        scene: "morning".into(),
        workspace: "my-workshop".into(),
        provider: "offline".into(),
        ..RoomModel::default()
    }
}

/// One conversation that has ended, and one that is still running.
pub fn sample_recent() -> Recent {
    let talk = |session: &str, topic: &str, ended: Option<&str>| PastTalk {
        session: session.into(),
        participants: vec![Id::from("ada-1"), Id::from("bram-1")],
        topic: topic.into(),
        said: vec![("bram-1".into(), "Done.".into())],
        ended: ended.map(str::to_owned),
        began_tick: 30,
    };
    let mut recent = Recent::default();
    recent.talks.push_back(talk("conversation-4", "tea", None));
    recent.talks.push_back(talk("conversation-3", "rain", Some("all was said")));
    recent
}
