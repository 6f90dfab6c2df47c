//! The command palette: every command, agent, element, profile, workflow, file and scene, found by a few letters.

use std::collections::BTreeSet;
use std::io::Write as _;

use egui::{Align2, Key, Modifiers, Painter, RichText, ScrollArea, Ui, Window};

use crate::base::Id;
use crate::base::hash::HashWriter;
use crate::element::kinds::kinds;
use crate::ui::commands::table::{CommandContext, CommandInfo, CommandTable};
use crate::ui::commands::{WindowCommand, create, keys};
use crate::ui::shell::texts::palette as texts;
use crate::ui::slash_commands;
use crate::ui::state::FrontPanel;
use crate::ui::state::dock::Tab;
use crate::ui::widgets::{self, fuzzy_search, menu, text_format};
use crate::ui::{Command, ViewerContext};
use crate::view::paint;
use crate::view::pick::Thing;
use crate::view::theme::{DIALOG, SPACE, TYPE};
use crate::workspace::vfs::FileInfo;

/// How many entries are shown; more letters show others.
const SHOWN: usize = 12;
/// The distance from the top of the window, and the height from which its list is scrolled.
const TOP_POINTS: f32 = 96.0;
const LIST_POINTS: f32 = 480.0;

/// What the palette keeps while it is open.
#[derive(Clone, Debug, Default)]
pub struct Palette {
    typed: String,
    /// Which line is chosen.
    line: usize,
    found: Found,
}

impl Palette {
    /// Forgets what was typed.
    pub fn clear(&mut self) {
        (self.typed, self.line) = Default::default();
    }

    /// What is typed.
    #[cfg(test)]
    pub fn typed(&self) -> &str {
        &self.typed
    }
}

/// What a line of the palette does.
#[derive(Clone, PartialEq, Debug)]
enum EntryAction {
    /// A command of the table, by its id.
    Command(&'static str),
    /// These, whatever else is so.
    Commands(Vec<Command>),
    /// Puts an agent of this profile into the middle of what is seen.
    NewAgent(Id),
    /// The same with an element.
    NewElement(&'static str),
}

/// One line of the palette.
#[derive(Clone, PartialEq, Debug)]
struct PaletteEntry {
    words: String,
    about: String,
    does: EntryAction,
    /// What the agent looks like that it is about, if it is about one.
    face: Option<Id>,
}

/// What the palette found last, so that thousands of lines are looked through only when something changed.
#[derive(Clone, Debug, Default)]
struct Found {
    /// What the lines were made from.
    made_from: Option<MadeFrom>,
    lines: Vec<PaletteEntry>,
    /// The letters that were looked for, and the lines that fit, best first.
    fitting: Option<(String, Vec<usize>)>,
}

/// What changes when there are other lines: counted, and the names of what can be renamed.
type MadeFrom = (String, u64);

impl Found {
    /// The lines that fit what was typed, best first, and few enough to be shown.
    fn look(&mut self, ui: &Ui, cx: &ViewerContext<'_>, typed: &str) -> Vec<PaletteEntry> {
        let files = cx.ui.texts.files();
        let made_from = made_from(cx, &files);
        if self.made_from.as_ref() != Some(&made_from) {
            self.lines = lines(ui, cx, &files);
            self.made_from = Some(made_from);
            self.fitting = None;
        }
        if self.fitting.as_ref().is_none_or(|(known, _)| known != typed) {
            self.fitting = Some((typed.to_owned(), fitting(&self.lines, typed)));
        }
        let fitting = self.fitting.as_ref().map(|(_, fitting)| fitting.as_slice()).unwrap_or_default();
        fitting.iter().map(|index| self.lines[*index].clone()).collect()
    }
}

fn made_from(cx: &ViewerContext<'_>, files: &[FileInfo]) -> MadeFrom {
    let room = cx.room;
    let mut names = HashWriter::default();
    let mut put = |text: &str| {
        // Hashing into memory does not fail.
        let _ = names.write_all(text.as_bytes()).and_then(|()| names.write_all(b"\0"));
    };
    for agent in &room.agents {
        put(&agent.name);
        put(&agent.look);
    }
    cx.recent.own_commands.values().flatten().for_each(|command| put(&command.name));
    room.elements.iter().for_each(|element| put(&element.label));
    room.profiles.iter().for_each(|profile| put(&profile.name));
    room.scenes.iter().for_each(|scene| put(scene));
    room.workflows.files.iter().filter(|file| file.problems.is_empty()).for_each(|file| put(&file.name));
    room.files.iter().for_each(|file| put(file));
    files.iter().filter(|file| file.is_there).for_each(|file| put(&file.path));
    (room.scene.clone(), names.digest())
}

fn lines(ui: &Ui, cx: &ViewerContext<'_>, files: &[FileInfo]) -> Vec<PaletteEntry> {
    let ViewerContext { room, table, .. } = *cx;
    let line = |words: String, about: &str, does| PaletteEntry { words, about: about.to_owned(), does, face: None };
    let with_face = |look: &Id, line: PaletteEntry| PaletteEntry { face: Some(look.clone()), ..line };
    let window =
        |commands: Vec<WindowCommand>| EntryAction::Commands(commands.into_iter().map(Command::Window).collect());
    // What is to be pressed, or what the command is about.
    let aside = |command: &CommandInfo| {
        let keys = keys::first_shown(ui.ctx(), command);
        let group = command.id.split('.').next().unwrap_or_default();
        if keys.is_empty() { text_format::capitalised(group) } else { keys }
    };
    let listed = table.all().iter().filter(|command| command.is_in_palette);
    let mut lines: Vec<PaletteEntry> = listed
        .map(|command| line(command.name.to_owned(), &aside(command), EntryAction::Command(command.id)))
        .collect();
    for kind in kinds() {
        lines.push(line(texts::new_element(kind.name), texts::ELEMENT, EntryAction::NewElement(kind.word)));
    }
    for scene in room.scenes.iter().filter(|scene| **scene != room.scene) {
        lines.push(line(
            texts::open_scene(scene),
            texts::SCENE,
            EntryAction::Commands(vec![Command::OpenScene(scene.clone())]),
        ));
    }
    for workflow in room.workflows.files.iter().filter(|workflow| workflow.problems.is_empty()) {
        let runs = WindowCommand::ShowWorkflow { path: Some(workflow.path.clone()), runs: true };
        lines.push(line(
            texts::run_workflow(&workflow.name),
            texts::WORKFLOW,
            EntryAction::Commands(vec![Command::Show(Tab::Graph), runs.into()]),
        ));
    }
    for element in &room.elements {
        let kind = text_format::capitalised(&element.kind);
        lines.push(line(
            texts::open_element(&element.label),
            &kind,
            window(vec![WindowCommand::OpenElement(element.id.clone())]),
        ));
    }
    for agent in &room.agents {
        let does = window(vec![WindowCommand::Select(vec![Thing::Agent(agent.id.clone())]), WindowCommand::Frame]);
        lines.push(with_face(&agent.look, line(agent.name.to_string(), texts::AGENT, does)));
    }
    for agent in &room.agents {
        for command in slash_commands::known(cx, &agent.id) {
            let begins =
                WindowCommand::BeginTask { agent: agent.id.clone(), text: slash_commands::task_prefix(command) };
            let words = texts::own_command(&agent.name, &command.name);
            lines.push(with_face(&agent.look, line(words, &command.about, window(vec![begins]))));
        }
    }
    for element in &room.elements {
        let does = window(vec![WindowCommand::Select(vec![Thing::Element(element.id.clone())]), WindowCommand::Frame]);
        lines.push(line(element.label.to_string(), &text_format::capitalised(&element.kind), does));
    }
    for profile in room.profiles.iter() {
        let does = EntryAction::NewAgent(profile.id.clone());
        lines.push(with_face(&profile.look, line(texts::new_agent(&profile.name), texts::AGENT, does)));
    }
    // What the room knows is there before the list of all files is read.
    let read = files.iter().filter(|file| file.is_there).map(|file| &file.path);
    let all: BTreeSet<&String> = room.files.iter().chain(read).collect();
    for file in all {
        lines.push(line(
            texts::open_file(file),
            texts::FILE,
            EntryAction::Commands(vec![Command::OpenFile(file.clone(), None)]),
        ));
    }
    lines
}

/// The lines that fit, best first, and few enough to be shown.
fn fitting(lines: &[PaletteEntry], typed: &str) -> Vec<usize> {
    if typed.trim().is_empty() {
        return (0..lines.len().min(SHOWN)).collect();
    }
    let mut found = fuzzy_search::best_first(typed, lines.iter().map(|line| line.words.as_str()));
    found.truncate(SHOWN);
    found
}

/// Draws the palette, if it is open.
pub fn palette_ui(ui: &mut Ui, cx: &ViewerContext<'_>, own: &mut Palette) -> Vec<Command> {
    if !cx.ui.front.is_open(FrontPanel::Palette) {
        return Vec::new();
    }
    let theme = cx.theme;
    let take = |key| ui.input_mut(|input| input.consume_key(Modifiers::NONE, key));
    let (up, down, enter, escape) = (take(Key::ArrowUp), take(Key::ArrowDown), take(Key::Enter), take(Key::Escape));
    let found = own.found.look(ui, cx, &own.typed);
    let last = found.len().saturating_sub(1);
    let mut chosen = own.line.min(last);
    if down {
        chosen = if chosen == last { 0 } else { chosen + 1 };
    }
    if up {
        chosen = chosen.checked_sub(1).unwrap_or(last);
    }
    let mut picked = enter.then_some(chosen);
    let window = Window::new("Command palette")
        .title_bar(false)
        .auto_sized()
        .collapsible(false)
        .anchor(Align2::CENTER_TOP, [0.0, TOP_POINTS])
        .frame(widgets::window(theme))
        .show(ui.ctx(), |ui| {
            widgets::dress(ui.style_mut(), theme);
            ui.set_width(DIALOG[1].min(ui.ctx().content_rect().width() - 2.0 * SPACE[4]));
            let field = widgets::field(ui, &mut own.typed, texts::PALETTE, texts::SEARCH_HINT);
            field.request_focus();
            if field.changed() {
                chosen = 0;
            }
            ui.add_space(SPACE[0]);
            if found.is_empty() {
                ui.label(widgets::soft(texts::NO_RESULTS, theme));
            }
            ScrollArea::vertical().max_height(LIST_POINTS).show(ui, |ui| {
                ui.spacing_mut().item_spacing.y = 2.0;
                for (index, line) in found.iter().enumerate() {
                    let words = match &line.face {
                        Some(_) => menu::with_room_for_picture(&line.words),
                        None => line.words.clone(),
                    };
                    let text = RichText::new(words).size(TYPE[1]);
                    let button = egui::Button::selectable(index == chosen, text)
                        .right_text(widgets::small(line.about.as_str(), theme))
                        .min_size(egui::vec2(ui.available_width(), ui.spacing().interact_size.y));
                    let row = ui.add(button);
                    widgets::name(&row, texts::line_name(&line.words));
                    if let Some(look) = &line.face {
                        menu::picture(ui, &row, |painter: &Painter, place| {
                            paint::portrait(painter, place, look, cx.art);
                        });
                    }
                    if row.clicked() {
                        picked = Some(index);
                    }
                }
            });
        });
    own.line = chosen;
    let elsewhere = window.is_some_and(|window| window.response.clicked_elsewhere());
    let picked = picked.and_then(|index| found.get(index));
    let mut commands = Vec::new();
    if picked.is_some() || escape || elsewhere {
        commands.push(WindowCommand::Close(FrontPanel::Palette).into());
    }
    if let Some(line) = picked {
        commands.extend(commands_of(&line.does, &cx.commands(), cx.table));
    }
    commands
}

fn commands_of(does: &EntryAction, cx: &CommandContext<'_>, table: &CommandTable) -> Vec<Command> {
    let place = cx.ui.view.camera.middle;
    match does {
        EntryAction::Command(id) => match table.find(id).map(|command| (command, (command.applies)(cx))) {
            Some((command, Ok(()))) => (command.make)(cx),
            Some((command, Err(why))) => vec![WindowCommand::Tell(texts::why_not(command.name, why), false).into()],
            None => Vec::new(),
        },
        EntryAction::Commands(commands) => commands.clone(),
        EntryAction::NewElement(kind) => vec![create::element_at(cx.room, kind, place)],
        EntryAction::NewAgent(profile) => create::add_agent(cx.room, profile, place, false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mind::OwnCommand;
    use crate::ui::UiState;
    use crate::ui::testing::{Stage, drawings, pane_of, sample_room};
    use crate::view::art::Art;
    use crate::view::model::RoomModel;
    use crate::view::workflows::{WorkflowView, WorkflowsView};
    use egui_kittest::Harness;
    use egui_kittest::kittest::Queryable;

    fn palette_in(room: RoomModel, typed: &str) -> Harness<'static, Stage> {
        let mut stage = Stage::new(room, UiState::default());
        stage.state.front.open(FrontPanel::Palette);
        typed.clone_into(&mut stage.panes.palette.typed);
        let mut window = pane_of(stage, |ui, cx, panes| palette_ui(ui, cx, &mut panes.palette));
        window.run_steps(4);
        window
    }

    fn palette(typed: &str) -> Harness<'static, Stage> {
        palette_in(sample_room(), typed)
    }

    fn is_open(window: &Harness<'static, Stage>) -> bool {
        window.state().state.front.is_open(FrontPanel::Palette)
    }

    #[test]
    fn enter_does_the_first_line_and_closes() {
        let mut window = palette("evening");
        window.key_press(Key::Enter);
        window.run_steps(3);
        assert_eq!(window.state().commands, [Command::OpenScene("evening".into())]);
        assert!(!is_open(&window));
    }

    #[test]
    fn an_agent_is_found_selected_and_shown() {
        let mut window = palette("bram");
        window.get_by_label("Do: Bram").click();
        window.run_steps(3);
        let state = &window.state().state;
        assert_eq!(*state.selection.things(), [Thing::Agent("bram-1".into())].into());
        assert_eq!(state.view.camera.middle, window.state().room.agents[1].position);
    }

    #[test]
    fn lines_about_agents_have_their_faces_and_no_others_have() {
        for (typed, line, is_of_agent) in [("bram", "Bram", true), ("evening", "Open scene evening", false)] {
            let mut window = palette(typed);
            let art = Art::load(&window.ctx, 1.0).0;
            window.state_mut().art = Some(art);
            window.run_steps(2);
            let row = window.get_by_label(&texts::line_name(line)).rect();
            let has_face = drawings(&window).iter().any(|drawing| row.contains(drawing.center()));
            assert_eq!(has_face, is_of_agent, "{line}");
        }
    }

    #[test]
    fn a_workflow_is_run_by_its_name() {
        let mut room = sample_room();
        let named = |name: &str, problems: &[&str]| WorkflowView {
            path: format!("workflows/{name}.md"),
            name: name.to_owned(),
            problems: problems.iter().map(|&problem| problem.to_owned()).collect(),
            ..WorkflowView::default()
        };
        let files = vec![named("Tea time", &[]), named("Tea break", &["there are no steps"])].into();
        room.workflows = WorkflowsView { files, ..WorkflowsView::default() }.into();
        let mut window = palette_in(room, "tea");
        assert!(window.query_by_label("Do: Run workflow Tea break").is_none(), "it cannot run");
        window.get_by_label("Do: Run workflow Tea time").click();
        window.run_steps(3);
        let runs = WindowCommand::ShowWorkflow { path: Some("workflows/Tea time.md".into()), runs: true };
        let asked = &window.state().asked;
        assert!(asked.contains(&runs.into()) && asked.contains(&Command::Show(Tab::Graph)), "{asked:?}");
    }

    #[test]
    fn a_command_of_a_coding_agent_begins_a_task_for_it_in_the_bar() {
        let mut stage = Stage::new(sample_room(), UiState::default());
        let agent = stage.room.agents[1].id.clone();
        let review = OwnCommand { name: "review".into(), about: "Looks at what changed".into() };
        stage.recent.own_commands.insert(agent.clone(), vec![review]);
        stage.state.front.open(FrontPanel::Palette);
        "review".clone_into(&mut stage.panes.palette.typed);
        let mut window = pane_of(stage, |ui, cx, panes| palette_ui(ui, cx, &mut panes.palette));
        window.run_steps(4);
        window.get_by_label("Do: Bram: /review").click();
        window.run_steps(3);
        let begins = WindowCommand::BeginTask { agent, text: "/review ".into() };
        assert!(window.state().asked.contains(&begins.into()), "{:?}", window.state().asked);
        assert!(!is_open(&window));
    }

    #[test]
    fn every_kind_of_thing_is_found() {
        for (typed, wanted) in [
            ("new agent ada", "New agent Ada"),
            ("settings", "Settings"),
            ("save picture", "Save a picture"),
            ("agents/bram", "Open file agents/bram.md"),
            ("change limits", "Change limits"),
            ("larger text", "Larger text"),
        ] {
            let files = std::sync::Arc::new(vec!["agents/ada.md".into(), "agents/bram.md".into()]);
            let window = palette_in(RoomModel { files, ..sample_room() }, typed);
            assert!(window.query_by_label(&format!("Do: {wanted}")).is_some(), "{typed}");
        }
    }

    #[test]
    fn ten_thousand_lines_are_looked_through_within_a_frame() {
        let line = |number: usize| PaletteEntry {
            words: format!("Open file agents/of/some/folder/agent-{number}.md"),
            about: String::new(),
            does: EntryAction::Command("view.theme"),
            face: None,
        };
        let many: Vec<PaletteEntry> = (0..10_000).map(line).collect();
        let began = std::time::Instant::now();
        for typed in ["o", "agent", "agnt 9999", "folder 77"] {
            assert!(fitting(&many, typed).len() <= SHOWN);
        }
        assert_eq!(many[fitting(&many, "agent-9999")[0]].words, "Open file agents/of/some/folder/agent-9999.md");
        // Five searches; the bound is wide because tests run beside each other.
        assert!(began.elapsed() < std::time::Duration::from_secs(2), "{:?}", began.elapsed());
    }

    #[test]
    fn arrows_choose_and_escape_closes() {
        let mut window = palette("");
        window.key_press(Key::ArrowDown);
        window.run_steps(2);
        assert_eq!(window.state().panes.palette.line, 1);
        window.key_press(Key::Escape);
        window.run_steps(2);
        assert!(!is_open(&window));
        assert!(window.state().commands.is_empty());
    }
}
