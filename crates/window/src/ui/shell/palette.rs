//! The command palette: fuzzy search for commands, agents, elements, profiles, workflows, files and scenes.

use std::collections::BTreeSet;
use std::io::Write as _;

use egui::{Align2, Key, Modifiers, Painter, RichText, ScrollArea, Ui, Window};

use crate::base::Id;
use crate::base::hash::HashWriter;
use crate::element::kinds::kinds;
use crate::ui::commands::table::{CommandContext, CommandInfo, CommandTable};
use crate::ui::commands::{CanvasCommand, GraphCommand, WindowCommand, create, keys};
use crate::ui::shell::texts::palette as texts;
use crate::ui::slash_commands;
use crate::ui::state::FrontPanel;
use crate::ui::state::dock::Tab;
use crate::ui::widgets::{self, fuzzy_search, menu, text_format};
use crate::ui::{Command, ViewerContext};
use crate::view::paint;
use crate::view::pick::RoomObject;
use crate::view::theme::{DIALOG, SPACE, TYPE};
use crate::workspace::vfs::FileInfo;

/// The maximum number of entries that are shown.
const SHOWN: usize = 12;
/// The distance from the top of the window, in points.
const TOP_POINTS: f32 = 96.0;
/// The maximum height of the list, in points.
const LIST_POINTS: f32 = 480.0;

/// The state of the palette while it is open.
#[derive(Clone, Debug, Default)]
pub struct Palette {
    typed: String,
    /// The index of the selected entry.
    selected: usize,
    cache: SearchCache,
}

impl Palette {
    /// Clears the search text and the selection.
    pub fn clear(&mut self) {
        (self.typed, self.selected) = Default::default();
    }

    /// Returns the search text.
    #[cfg(test)]
    pub fn query(&self) -> &str {
        &self.typed
    }
}

/// What an entry does.
#[derive(Clone, PartialEq, Debug)]
enum EntryAction {
    /// Runs a command of the table, by its id.
    Command(&'static str),
    /// Results in these commands.
    Commands(Vec<Command>),
    /// Adds an agent of this profile in the middle of the view.
    NewAgent(Id),
    /// Adds an element of this kind in the middle of the view.
    NewElement(&'static str),
}

/// An entry of the palette.
#[derive(Clone, PartialEq, Debug)]
struct PaletteEntry {
    label: String,
    about: String,
    action: EntryAction,
    /// The look of the agent that the entry is about, if it is about one.
    face: Option<Id>,
}

/// The cached search results, so that thousands of entries are searched only when something changed.
#[derive(Clone, Debug, Default)]
struct SearchCache {
    /// The key of the entries.
    cache_key: Option<CacheKey>,
    entries: Vec<PaletteEntry>,
    /// The search text, and the indices of the matching entries, best first.
    matches: Option<(String, Vec<usize>)>,
}

/// Identifies the entries: the open scene and a hash of all names.
type CacheKey = (String, u64);

impl SearchCache {
    /// Returns the matching entries, best first, at most [`SHOWN`].
    fn search(&mut self, ui: &Ui, cx: &ViewerContext<'_>, typed: &str) -> Vec<PaletteEntry> {
        let files = cx.ui.texts.files();
        let cache_key = cache_key(cx, &files);
        if self.cache_key.as_ref() != Some(&cache_key) {
            self.entries = entries(ui, cx, &files);
            self.cache_key = Some(cache_key);
            self.matches = None;
        }
        if self.matches.as_ref().is_none_or(|(searched, _)| searched != typed) {
            self.matches = Some((typed.to_owned(), matches(&self.entries, typed)));
        }
        let matches = self.matches.as_ref().map(|(_, matches)| matches.as_slice()).unwrap_or_default();
        matches.iter().map(|index| self.entries[*index].clone()).collect()
    }
}

fn cache_key(cx: &ViewerContext<'_>, files: &[FileInfo]) -> CacheKey {
    let room = cx.room;
    let mut names = HashWriter::default();
    let mut put = |text: &str| {
        // Hashing into memory cannot fail.
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

fn entries(ui: &Ui, cx: &ViewerContext<'_>, files: &[FileInfo]) -> Vec<PaletteEntry> {
    let ViewerContext { room, table, .. } = *cx;
    let entry =
        |label: String, about: &str, action| PaletteEntry { label, about: about.to_owned(), action, face: None };
    let with_face = |look: &Id, entry: PaletteEntry| PaletteEntry { face: Some(look.clone()), ..entry };
    let window =
        |commands: Vec<WindowCommand>| EntryAction::Commands(commands.into_iter().map(Command::Window).collect());
    // The shortcut, or the group of the command.
    let note = |command: &CommandInfo| {
        let keys = keys::first_shown(ui.ctx(), command);
        let group = command.id.split('.').next().unwrap_or_default();
        if keys.is_empty() { text_format::capitalised(group) } else { keys }
    };
    let commands = table.all().iter().filter(|command| command.is_in_palette);
    let mut entries: Vec<PaletteEntry> = commands
        .map(|command| entry(command.name.to_owned(), &note(command), EntryAction::Command(command.id)))
        .collect();
    for kind in kinds() {
        entries.push(entry(texts::new_element(kind.name), texts::ELEMENT, EntryAction::NewElement(kind.word)));
    }
    for scene in room.scenes.iter().filter(|scene| **scene != room.scene) {
        entries.push(entry(
            texts::open_scene(scene),
            texts::SCENE,
            EntryAction::Commands(vec![Command::OpenScene(scene.clone())]),
        ));
    }
    for workflow in room.workflows.files.iter().filter(|workflow| workflow.problems.is_empty()) {
        let runs = GraphCommand::ShowWorkflow { path: Some(workflow.path.clone()), runs: true };
        entries.push(entry(
            texts::run_workflow(&workflow.name),
            texts::WORKFLOW,
            EntryAction::Commands(vec![Command::Show(Tab::GRAPH), runs.into()]),
        ));
    }
    for element in &room.elements {
        let kind = text_format::capitalised(&element.kind);
        entries.push(entry(
            texts::open_element(&element.label),
            &kind,
            window(vec![WindowCommand::OpenElement(element.id.clone())]),
        ));
    }
    for agent in &room.agents {
        let action =
            window(vec![WindowCommand::Select(vec![RoomObject::Agent(agent.id.clone())]), CanvasCommand::Frame.into()]);
        entries.push(with_face(&agent.look, entry(agent.name.to_string(), texts::AGENT, action)));
    }
    for agent in &room.agents {
        for command in slash_commands::known(cx, &agent.id) {
            let begin_task =
                WindowCommand::BeginTask { agent: agent.id.clone(), text: slash_commands::task_prefix(command) };
            let label = texts::own_command(&agent.name, &command.name);
            entries.push(with_face(&agent.look, entry(label, &command.about, window(vec![begin_task]))));
        }
    }
    for element in &room.elements {
        let action = window(vec![
            WindowCommand::Select(vec![RoomObject::Element(element.id.clone())]),
            CanvasCommand::Frame.into(),
        ]);
        entries.push(entry(element.label.to_string(), &text_format::capitalised(&element.kind), action));
    }
    for profile in room.profiles.iter() {
        let action = EntryAction::NewAgent(profile.id.clone());
        entries.push(with_face(&profile.look, entry(texts::new_agent(&profile.name), texts::AGENT, action)));
    }
    // The room's own list is available before the list of all files is read.
    let read = files.iter().filter(|file| file.is_there).map(|file| &file.path);
    let all: BTreeSet<&String> = room.files.iter().chain(read).collect();
    for file in all {
        entries.push(entry(
            texts::open_file(file),
            texts::FILE,
            EntryAction::Commands(vec![Command::OpenFile(file.clone(), None)]),
        ));
    }
    entries
}

/// Returns the indices of the matching entries, best first, at most [`SHOWN`].
fn matches(entries: &[PaletteEntry], typed: &str) -> Vec<usize> {
    if typed.trim().is_empty() {
        return (0..entries.len().min(SHOWN)).collect();
    }
    let mut found = fuzzy_search::best_first(typed, entries.iter().map(|entry| entry.label.as_str()));
    found.truncate(SHOWN);
    found
}

/// Draws the palette, if it is open.
pub fn palette_ui(ui: &mut Ui, cx: &ViewerContext<'_>, own: &mut Palette) -> Vec<Command> {
    if !cx.ui.front.is_open(FrontPanel::Palette) {
        return Vec::new();
    }
    let theme = cx.theme;
    let consume = |key| ui.input_mut(|input| input.consume_key(Modifiers::NONE, key));
    let (up, down, enter, escape) =
        (consume(Key::ArrowUp), consume(Key::ArrowDown), consume(Key::Enter), consume(Key::Escape));
    let entries = own.cache.search(ui, cx, &own.typed);
    let last = entries.len().saturating_sub(1);
    let mut chosen = own.selected.min(last);
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
            widgets::apply_style(ui.style_mut(), theme);
            ui.set_width(DIALOG[1].min(ui.ctx().content_rect().width() - 2.0 * SPACE[4]));
            let field = widgets::field(ui, &mut own.typed, texts::PALETTE, texts::SEARCH_HINT);
            field.request_focus();
            if field.changed() {
                chosen = 0;
            }
            ui.add_space(SPACE[0]);
            if entries.is_empty() {
                ui.label(widgets::secondary_text(texts::NO_RESULTS, theme));
            }
            ScrollArea::vertical().max_height(LIST_POINTS).show(ui, |ui| {
                ui.spacing_mut().item_spacing.y = 2.0;
                for (index, entry) in entries.iter().enumerate() {
                    let label = match &entry.face {
                        Some(_) => menu::with_room_for_picture(&entry.label),
                        None => entry.label.clone(),
                    };
                    let text = RichText::new(label).size(TYPE[1]);
                    let button = egui::Button::selectable(index == chosen, text)
                        .right_text(widgets::small(entry.about.as_str(), theme))
                        .min_size(egui::vec2(ui.available_width(), ui.spacing().interact_size.y));
                    let row = ui.add(button);
                    widgets::name(&row, texts::entry_name(&entry.label));
                    if let Some(look) = &entry.face {
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
    own.selected = chosen;
    let is_clicked_elsewhere = window.is_some_and(|window| window.response.clicked_elsewhere());
    let picked = picked.and_then(|index| entries.get(index));
    let mut commands = Vec::new();
    if picked.is_some() || escape || is_clicked_elsewhere {
        commands.push(WindowCommand::Close(FrontPanel::Palette).into());
    }
    if let Some(entry) = picked {
        commands.extend(commands_of(&entry.action, &cx.commands(), cx.table));
    }
    commands
}

fn commands_of(action: &EntryAction, cx: &CommandContext<'_>, table: &CommandTable) -> Vec<Command> {
    let place = cx.ui.view.camera.middle;
    match action {
        EntryAction::Command(id) => match table.find(id).map(|command| (command, (command.applies)(cx))) {
            Some((command, Ok(()))) => (command.make)(cx),
            Some((command, Err(why))) => {
                vec![WindowCommand::Hint(texts::does_not_apply(command.name, why)).into()]
            }
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
    use crate::ui::testing::{PaneHarness, drawings, pane_of, sample_room};
    use crate::view::art::Art;
    use crate::view::model::RoomModel;
    use crate::view::workflows::{WorkflowView, WorkflowsView};
    use egui_kittest::Harness;
    use egui_kittest::kittest::Queryable;

    fn palette_in(room: RoomModel, typed: &str) -> Harness<'static, PaneHarness> {
        let mut stage = PaneHarness::new(room, UiState::default());
        stage.state.front.open(FrontPanel::Palette);
        typed.clone_into(&mut stage.parts.palette.typed);
        let mut window = pane_of(stage, |ui, cx, panes| palette_ui(ui, cx, &mut panes.palette));
        window.run_steps(4);
        window
    }

    fn palette(typed: &str) -> Harness<'static, PaneHarness> {
        palette_in(sample_room(), typed)
    }

    fn is_open(window: &Harness<'static, PaneHarness>) -> bool {
        window.state().state.front.is_open(FrontPanel::Palette)
    }

    #[test]
    fn enter_runs_the_first_entry_and_closes() {
        let mut window = palette("evening");
        window.key_press(Key::Enter);
        window.run_steps(3);
        assert_eq!(window.state().commands, [Command::OpenScene("evening".into())]);
        assert!(!is_open(&window));
    }

    #[test]
    fn the_page_about_trust_is_found() {
        let mut window = palette("trust or restrict");
        window.key_press(Key::Enter);
        window.run_steps(3);
        assert_eq!(window.state().commands, [Command::ShowTrust(None)]);
    }

    #[test]
    fn an_agent_is_found_selected_and_shown() {
        let mut window = palette("bram");
        window.get_by_label("Do: Bram").click();
        window.run_steps(3);
        let state = &window.state().state;
        assert_eq!(*state.selection.things(), [RoomObject::Agent("bram-1".into())].into());
        assert_eq!(state.view.camera.middle, window.state().room.agents[1].position);
    }

    #[test]
    fn only_entries_about_agents_have_a_portrait() {
        for (typed, entry, is_of_agent) in [("bram", "Bram", true), ("evening", "Open scene evening", false)] {
            let mut window = palette(typed);
            let art = Art::load(&window.ctx, 1.0).0;
            window.state_mut().art = Some(art);
            window.run_steps(2);
            let row = window.get_by_label(&texts::entry_name(entry)).rect();
            let has_face = drawings(&window).iter().any(|drawing| row.contains(drawing.center()));
            assert_eq!(has_face, is_of_agent, "{entry}");
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
        let runs = GraphCommand::ShowWorkflow { path: Some("workflows/Tea time.md".into()), runs: true };
        let asked = &window.state().asked;
        assert!(asked.contains(&runs.into()) && asked.contains(&Command::Show(Tab::GRAPH)), "{asked:?}");
    }

    #[test]
    fn a_slash_command_begins_a_task_in_the_run_bar() {
        let mut stage = PaneHarness::new(sample_room(), UiState::default());
        let agent = stage.room.agents[1].id.clone();
        let review = OwnCommand { name: "review".into(), about: "Looks at what changed".into() };
        stage.recent.own_commands.insert(agent.clone(), vec![review]);
        stage.state.front.open(FrontPanel::Palette);
        "review".clone_into(&mut stage.parts.palette.typed);
        let mut window = pane_of(stage, |ui, cx, panes| palette_ui(ui, cx, &mut panes.palette));
        window.run_steps(4);
        window.get_by_label("Do: Bram: /review").click();
        window.run_steps(3);
        let begin_task = WindowCommand::BeginTask { agent, text: "/review ".into() };
        assert!(window.state().asked.contains(&begin_task.into()), "{:?}", window.state().asked);
        assert!(!is_open(&window));
    }

    #[test]
    fn every_kind_of_entry_is_found() {
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
    fn ten_thousand_entries_are_searched_within_a_frame() {
        let entry = |number: usize| PaletteEntry {
            label: format!("Open file agents/of/some/folder/agent-{number}.md"),
            about: String::new(),
            action: EntryAction::Command("view.theme"),
            face: None,
        };
        let many: Vec<PaletteEntry> = (0..10_000).map(entry).collect();
        let began = std::time::Instant::now();
        for typed in ["o", "agent", "agnt 9999", "folder 77"] {
            assert!(matches(&many, typed).len() <= SHOWN);
        }
        assert_eq!(many[matches(&many, "agent-9999")[0]].label, "Open file agents/of/some/folder/agent-9999.md");
        // Five searches; the bound is wide because tests run beside each other.
        assert!(began.elapsed() < std::time::Duration::from_secs(2), "{:?}", began.elapsed());
    }

    #[test]
    fn arrows_select_and_escape_closes() {
        let mut window = palette("");
        window.key_press(Key::ArrowDown);
        window.run_steps(2);
        assert_eq!(window.state().parts.palette.selected, 1);
        window.key_press(Key::Escape);
        window.run_steps(2);
        assert!(!is_open(&window));
        assert!(window.state().commands.is_empty());
    }
}
