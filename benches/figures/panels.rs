//! What each pane costs per frame on the main thread, with a thousand agents, ten thousand files and a hundred thousand
//! records; and operations that take longer than a frame, on other threads.

use std::collections::BTreeSet;
use std::sync::Arc;

use agent_workshop::base::{AgentKey, Id, RunTag, Seq};
use agent_workshop::log::events::{Activation, FileChange, Spawn, ToolCall, Touch, Warning};
use agent_workshop::log::{EventDraft, EventRecord};
use agent_workshop::orchestration::workflow::edit::StepAssignee;
use agent_workshop::orchestration::workflow::{RunKey, RunStatus, StepStatus};
use agent_workshop::simulation::State;
use agent_workshop::ui::commands::file_targets::FileTargets;
use agent_workshop::ui::commands::table::CommandTable;
use agent_workshop::ui::panes::conversations;
use agent_workshop::ui::panes::editor;
use agent_workshop::ui::panes::event_log;
use agent_workshop::ui::panes::explorer;
use agent_workshop::ui::panes::graph;
use agent_workshop::ui::panes::graph::layout::{LayoutRequest, lay_out};
use agent_workshop::ui::panes::inspector;
use agent_workshop::ui::panes::pane::{Pane, Panes};
use agent_workshop::ui::panes::shelf;
use agent_workshop::ui::shell::parts::WindowParts;
use agent_workshop::ui::shell::run_bar;
use agent_workshop::ui::shell::top_bar;
use agent_workshop::ui::state::file_texts::TextRead;
use agent_workshop::ui::{Command, UiState, ViewerContext};
use agent_workshop::view::art::Art;
use agent_workshop::view::model::{AgentDetail, AgentView, ProfileView, RoomModel};
use agent_workshop::view::pick::RoomObject;
use agent_workshop::view::recent_events::Recent;
use agent_workshop::view::theme::LIGHT;
use agent_workshop::view::workflows::{RunView, StepView, WorkflowView, WorkflowsView};
use agent_workshop::workspace::vfs::FileInfo;
use agent_workshop::workspace::vfs::path::FileKind;
use bevy::math::Vec2;
use egui::{Context, Event, Pos2, RawInput, Rect, Ui, vec2};

use super::measure::{Figure, Times, timed};

const AGENTS: u32 = 1_000;
const FILES: usize = 10_000;
const RECORDS: u64 = 100_000;
const WARM_UP: usize = 60;
const FRAMES: usize = 200;
/// Records that are added with every frame.
const RECORDS_PER_FRAME: u64 = 3;
/// The target for every pane, in milliseconds.
const PANE_MS: f64 = 4.0;
/// The size of the file that is opened and edited, in bytes.
const LARGE_BYTES: usize = 1_000_000;

/// Everything that a measured frame needs: what the panes are drawn from, and their state.
type Draw = fn(&mut Ui, &ViewerContext<'_>, &mut WindowParts) -> Vec<Command>;

/// The pane of this type.
fn own<T: Pane>(parts: &mut WindowParts) -> &mut T {
    parts.panes.get_mut().expect("every window has this pane")
}

fn inspector_ui(ui: &mut Ui, cx: &ViewerContext<'_>, parts: &mut WindowParts) -> Vec<Command> {
    let draw = |own: &mut inspector::Inspector, others: &mut Panes| inspector::inspector_ui(ui, cx, own, others);
    parts.panes.with_others(draw).expect("every window has an inspector")
}

/// Measures every pane in turn.
pub fn panes() -> Vec<Figure> {
    let panes: [(&str, egui::Vec2, Draw); 12] = [
        ("top bar", vec2(1920.0, 80.0), |ui, cx, panes| top_bar::top_bar_ui(ui, cx, &mut panes.provider)),
        ("run bar", vec2(1920.0, 80.0), |ui, cx, panes| run_bar::run_bar_ui(ui, cx, &mut panes.run_bar)),
        ("shelf", vec2(260.0, 1000.0), |ui, cx, panes| shelf::shelf_ui(ui, cx, own::<shelf::ShelfPane>(panes))),
        ("explorer", vec2(300.0, 1000.0), |ui, cx, panes| {
            explorer::explorer_ui(ui, cx, own::<explorer::Explorer>(panes))
        }),
        ("explorer, filtered", vec2(300.0, 1000.0), |ui, cx, panes| {
            explorer::explorer_ui(ui, cx, own::<explorer::Explorer>(panes))
        }),
        ("graph", vec2(1200.0, 900.0), |ui, cx, panes| graph::graph_ui(ui, cx, own::<graph::GraphPane>(panes))),
        ("event log", vec2(1200.0, 500.0), |ui, cx, panes| {
            event_log::event_log_ui(ui, cx, own::<event_log::EventLogPane>(panes))
        }),
        ("inspector, an agent", vec2(360.0, 1000.0), |ui, cx, panes| inspector_ui(ui, cx, panes)),
        ("inspector, nothing", vec2(360.0, 1000.0), |ui, cx, panes| inspector_ui(ui, cx, panes)),
        ("conversations", vec2(360.0, 1000.0), |ui, cx, panes| {
            conversations::sidebar_ui(ui, cx, own::<conversations::ConversationsPane>(panes))
        }),
        ("workflow of 10,000 steps", vec2(1200.0, 1000.0), |ui, cx, panes| {
            graph::graph_ui(ui, cx, own::<graph::GraphPane>(panes))
        }),
        ("workflow of 10,000 steps, zoomed out", vec2(1200.0, 1000.0), |ui, cx, panes| {
            graph::graph_ui(ui, cx, own::<graph::GraphPane>(panes))
        }),
    ];
    panes.into_iter().map(|(name, size, draw)| pane(name, size, draw)).collect()
}

fn pane(name: &str, size: egui::Vec2, draw: Draw) -> Figure {
    let (mut room, mut recent, mut state) = (room(), log(), UiState::default());
    state.texts.files = Some(Ok(files()));
    if name == "inspector, an agent" {
        state.selection.select([RoomObject::Agent("agent-7".into())]);
    }
    let (mut panes, art, unsaved) = (WindowParts::default(), Art::default(), BTreeSet::new());
    let is_workflow = name.starts_with("workflow");
    if is_workflow {
        room.workflows = workflow();
        own::<graph::GraphPane>(&mut panes).show_workflow(None, false);
    }
    let context = Context::default();
    agent_workshop::view::text::fonts::install(&context);
    let mut seq = RECORDS;
    let mut frame = |number: usize| {
        for _ in 0..RECORDS_PER_FRAME {
            seq += 1;
            recent.book.push(&record(seq));
        }
        let mut events = vec![Event::PointerMoved(Pos2::new(size.x / 2.0, 200.0 + (number % 50) as f32))];
        if name.ends_with("filtered") {
            events = typing(number);
        }
        if name.ends_with("zoomed out") {
            let delta = vec2(0.0, -60.0);
            events.push(Event::MouseWheel {
                unit: egui::MouseWheelUnit::Point,
                delta,
                phase: egui::TouchPhase::Move,
                modifiers: egui::Modifiers::NONE,
            });
        }
        let input = RawInput {
            screen_rect: Some(Rect::from_min_size(Pos2::ZERO, size)),
            time: Some(number as f64 / 60.0),
            events,
            ..RawInput::default()
        };
        timed(|| {
            let mut output = context.run_ui(input, |ui| {
                egui::CentralPanel::default().show(ui, |ui| {
                    let (room, recent, ui_state) = (&room, &recent, &state);
                    let cx = ViewerContext {
                        room,
                        recent,
                        theme: &LIGHT,
                        art: &art,
                        ui: ui_state,
                        unsaved: &unsaved,
                        files: &FileTargets::default(),
                        table: CommandTable::standard(),
                    };
                    drop(draw(ui, &cx, &mut panes));
                });
            });
            output.textures_delta.clear();
            let _ = context.tessellate(output.shapes, output.pixels_per_point);
        })
    };
    for number in 0..WARM_UP {
        frame(number);
    }
    let times = Times::from_each((WARM_UP..WARM_UP + FRAMES).map(&mut frame));
    let rows = match own::<explorer::Explorer>(&mut panes).rows_drawn() {
        (0, _) => String::new(),
        (rows, _) => format!("{rows} rows drawn"),
    };
    Figure::at_most_ms(format!("a frame of the {name}, including tessellation"), PANE_MS, &times).against(rows)
}

/// Clicks into the explorer's search field and types a search, frame by frame.
fn typing(number: usize) -> Vec<Event> {
    let pos = Pos2::new(120.0, 25.0);
    let (button, modifiers) = (egui::PointerButton::Primary, egui::Modifiers::NONE);
    let letter = |number: usize| "note-0042".chars().nth(number).map(|letter| Event::Text(letter.to_string()));
    match number {
        10 => vec![Event::PointerMoved(pos)],
        11 | 12 => vec![Event::PointerButton { pos, button, pressed: number == 11, modifiers }],
        20.. => letter(number - 20).into_iter().collect(),
        _ => Vec::new(),
    }
}

/// Measures the layout of the graph of a thousand agents, each of which has started a few others.
pub fn graph_layout() -> Vec<Figure> {
    let count = AGENTS as usize;
    let request = LayoutRequest {
        beginning: 0,
        agents: (0..count).collect(),
        sizes: vec![vec2(180.0, 44.0); count],
        links: (1..count).map(|child| ((child - 1) / 3, child)).collect(),
    };
    let times = Times::of(1, 5, || {
        let places = lay_out(&request);
        assert_eq!(places.len(), count);
    });
    vec![
        Figure::at_most_ms(format!("laying out a graph of {count} agents, on its own thread"), 1_000.0, &times)
            .against("each has started three"),
    ]
}

/// Measures a large file in the editor: the time until it is shown, and from a keystroke to the drawn frame.
pub fn large_file() -> Vec<Figure> {
    let line = "Some words of a long note that somebody wrote, with `code` and **weight**.\n";
    let text: String = line.repeat(LARGE_BYTES / line.len() + 1);
    let (room, recent, mut state) = (room(), Recent::default(), UiState::default());
    let (mut editors, art, unsaved) = (editor::Editors::default(), Art::default(), BTreeSet::new());
    let context = Context::default();
    agent_workshop::view::text::fonts::install(&context);
    let size = vec2(1000.0, 900.0);
    let mut number = 0;
    let mut frame = |state: &UiState, editors: &mut editor::Editors, events: Vec<Event>| {
        number += 1;
        let input = RawInput {
            screen_rect: Some(Rect::from_min_size(Pos2::ZERO, size)),
            time: Some(f64::from(number) / 60.0),
            events,
            ..RawInput::default()
        };
        timed(|| {
            let mut output = context.run_ui(input, |ui| {
                egui::CentralPanel::default().show(ui, |ui| {
                    let (room, recent, art) = (&room, &recent, &art);
                    let cx = ViewerContext {
                        room,
                        recent,
                        theme: &LIGHT,
                        art,
                        ui: state,
                        unsaved: &unsaved,
                        files: &FileTargets::default(),
                        table: CommandTable::standard(),
                    };
                    drop(editor::editor_ui(ui, "notes/long.md", &cx, editors));
                });
            });
            output.textures_delta.clear();
            let _ = context.tessellate(output.shapes, output.pixels_per_point);
        })
    };
    frame(&state, &mut editors, Vec::new());
    let read = Ok(Some(TextRead::new(text)));
    state.texts.texts.insert("notes/long.md".into(), read);
    let opening = Times::from_each([frame(&state, &mut editors, Vec::new())]);
    for _ in 0..30 {
        frame(&state, &mut editors, Vec::new());
    }
    let click = |pressed| Event::PointerButton {
        pos: Pos2::new(400.0, 400.0),
        button: egui::PointerButton::Primary,
        pressed,
        modifiers: egui::Modifiers::NONE,
    };
    frame(&state, &mut editors, vec![Event::PointerMoved(Pos2::new(400.0, 400.0)), click(true)]);
    frame(&state, &mut editors, vec![click(false)]);
    frame(&state, &mut editors, Vec::new());
    let typing = Times::from_each((0..60).map(|_| frame(&state, &mut editors, vec![Event::Text("x".into())])));
    let is_written = editors.is_unsaved("notes/long.md");
    vec![
        Figure::at_most_ms("a file of 1 MB in the editor, until it is seen", 200.0, &opening),
        Figure::at_most_ms("a key in a file of 1 MB, to the triangles", 16.0, &typing).against(if is_written {
            "60 messages"
        } else {
            "no letter arrived"
        }),
    ]
}

fn room() -> RoomModel {
    let agents = (0..AGENTS).map(|key| AgentView {
        key: AgentKey(key),
        id: format!("agent-{key}").into(),
        name: format!("Agent {key}").into(),
        profile: "writer".into(),
        look: "writer".into(),
        position: Vec2::new(key as f32, 0.0),
        heading: Vec2::ZERO,
        walks: false,
        posture: agent_workshop::simulation::Posture::Standing,
        holds: None,
        seated: None,
        state: State::Idle,
        in_state_secs: 1.0,
        thinking: false,
        queued: 0,
        reads: None,
        detail: (key == 7).then(|| Arc::new(AgentDetail { why: "nothing to do".into(), ..AgentDetail::default() })),
    });
    let profile = ProfileView {
        id: "writer".into(),
        name: "Writer".into(),
        description: "Writes".into(),
        file: "agents/writer.md".into(),
        look: "writer".into(),
        agents: AGENTS as usize,
    };
    RoomModel { agents: agents.collect(), profiles: vec![profile].into(), talk_on: true, ..RoomModel::default() }
}

fn files() -> Arc<Vec<FileInfo>> {
    let file = |number: usize| FileInfo {
        path: format!("artifacts/part-{:02}/note-{number:05}.md", number / 100),
        kind: FileKind::Artifact,
        size: 1_000,
        modified_ms: 1_700_000_000_000,
        version: 1,
        is_there: true,
    };
    Arc::new((0..FILES).map(file).collect())
}

fn log() -> Recent {
    let mut recent = Recent::default();
    for seq in 1..=RECORDS {
        recent.book.push(&record(seq));
    }
    recent
}

/// A record of the work of a thousand agents: starts, calls, file changes and ends.
fn record(seq: u64) -> EventRecord {
    let number = seq % u64::from(AGENTS);
    let agent: Id = format!("agent-{number}").into();
    let activation: Id = format!("act-{number}").into();
    let draft = match seq {
        1..=1_000 => {
            let parent = format!("agent-{}", number / 4);
            let spawn = Spawn { child: agent, depth: 3, activation: activation.clone(), ..Spawn::default() };
            EventDraft::of(&spawn).agent(&parent.as_str().into())
        }
        1_001..=2_000 => {
            let (task, by, profile) = ("write".into(), "user".into(), Some("writer".into()));
            EventDraft::of(&Activation { task, by, profile, ..Activation::default() }).agent(&agent)
        }
        _ if seq.is_multiple_of(5) => {
            let path = format!("artifacts/part-00/note-{:05}.md", number % 400);
            let change = FileChange { version: Some(1), chars: Some(900), ..FileChange::new(path, agent.clone()) };
            EventDraft::of(&change).agent(&agent)
        }
        _ if seq.is_multiple_of(7) => EventDraft::of(&Warning::new("the board is full")).agent(&agent),
        _ => {
            let touches = vec![Touch::new("file.read", "artifacts/plan.md")];
            let target = Some("artifacts/plan.md".into());
            EventDraft::of(&ToolCall { tool: "vfs_read".into(), target, touches, ..ToolCall::default() }).agent(&agent)
        }
    };
    let draft = draft.activation(&activation);
    EventRecord { seq: Seq(seq), tick: seq, time_ms: 1_700_000_000_000 + seq, run: "r-1".into(), draft }
}

/// A workflow of ten thousand steps, ten in parallel, in the middle of a run.
fn workflow() -> Arc<WorkflowsView> {
    const STEPS: usize = 10_000;
    let id = |at: usize| format!("s{at}");
    let step = |at: usize| StepView {
        id: id(at),
        who: "agent-7".into(),
        doer: StepAssignee::Agent("agent-7".into()),
        before: at.checked_sub(10).into_iter().collect(),
        ..StepView::default()
    };
    let path = "workflows/many.md".to_owned();
    let steps = (0..STEPS).map(step).collect();
    let file = WorkflowView { path: path.clone(), name: "Many".into(), steps, ..WorkflowView::default() };
    let state = |at: usize| (id(at), if at < 30 { StepStatus::Done } else { StepStatus::Waiting }, String::new(), None);
    let run = RunView {
        key: RunKey::new(1, RunTag::of("r-1")),
        file: path,
        status: RunStatus::Running,
        why: String::new(),
        result: None,
        steps: (0..STEPS).map(state).collect(),
        asked: Vec::new(),
    };
    Arc::new(WorkflowsView { files: Arc::new(vec![file]), runs: vec![Arc::new(run)] })
}
