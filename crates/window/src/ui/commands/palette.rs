//! The command palette: every command, agent, element, profile, file and scene, found by a few letters.

use std::collections::BTreeSet;
use std::io::Write as _;

use egui::{Align2, Key, Modifiers, RichText, ScrollArea, Ui, Window};

use crate::base::Id;
use crate::base::hash::HashWriter;
use crate::element::kinds::kinds;
use crate::simulation::ConversationCommand;
use crate::ui::commands::RoomAct;
use crate::ui::commands::keys::{self, KEYS, KeyAct};
use crate::ui::panes::canvas;
use crate::ui::panes::shelf;
use crate::ui::shell::file_dialogs::Purpose;
use crate::ui::state::Dialog;
use crate::ui::state::dock::Tab;
use crate::ui::widgets;
use crate::ui::{Command, UiState};
use crate::view::model::RoomModel;
use crate::view::pick::Thing;
use crate::view::theme::{SPACE, TYPE, Theme};
use crate::workspace::vfs::FileInfo;

/// So many lines are shown; more letters show others.
const SHOWN: usize = 12;

/// What a line of the palette does.
#[derive(Clone, PartialEq, Debug)]
enum Does {
    Key(KeyAct),
    Ask(Dialog),
    Scene(String),
    Select(Thing),
    Open(Id),
    NewAgent(Id),
    NewElement(&'static str),
    File(String),
    Theme,
    Notices,
    Provider,
    Caps,
    Talk,
    Picture,
    Show(Tab),
    Choose(Purpose),
    Panes,
    Quit,
}

/// One line of the palette.
#[derive(Clone, PartialEq, Debug)]
struct Line {
    words: String,
    about: String,
    does: Does,
}

/// What the palette found last, so that thousands of lines are looked through only when something changed.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// What the lines were made from.
    made_from: Option<MadeFrom>,
    lines: Vec<Line>,
    /// The letters that were looked for, and the lines that fit, best first.
    fitting: Option<(String, Vec<usize>)>,
}

/// What changes when there are other lines: counted, and the names of what can be renamed.
type MadeFrom = (String, u64);

impl Found {
    /// The lines that fit what was typed, best first, and few enough to be shown.
    fn look(&mut self, ui: &Ui, room: &RoomModel, files: &[FileInfo], typed: &str) -> Vec<Line> {
        let made_from = made_from(room, files);
        if self.made_from.as_ref() != Some(&made_from) {
            self.lines = lines(ui, room, files);
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

fn made_from(room: &RoomModel, files: &[FileInfo]) -> MadeFrom {
    let mut names = HashWriter::default();
    let mut put = |text: &str| {
        // Hashing into memory does not fail.
        let _ = names.write_all(text.as_bytes()).and_then(|()| names.write_all(b"\0"));
    };
    room.agents.iter().for_each(|agent| put(&agent.name));
    room.elements.iter().for_each(|element| put(&element.label));
    room.profiles.iter().for_each(|profile| put(&profile.name));
    room.scenes.iter().for_each(|scene| put(scene));
    room.files.iter().for_each(|file| put(file));
    files.iter().filter(|file| file.is_there).for_each(|file| put(&file.path));
    (room.scene.clone(), names.digest())
}

/// How well letters that were typed fit a text; none where they do not occur in this order. Letters in a row and
/// letters that begin a word count more, and of two texts that fit alike the shorter one is meant.
pub fn fuzzy(typed: &str, text: &str) -> Option<i32> {
    let typed = letters_of(typed);
    let letters: Vec<char> = text.chars().flat_map(char::to_lowercase).collect();
    // The best score of the letters typed so far, by where in the text the last of them stands.
    let mut best: Vec<Option<i32>> = Vec::new();
    for (index, wanted) in typed.iter().enumerate() {
        let mut next = vec![None; letters.len()];
        let mut before: Option<i32> = None;
        for (place, letter) in letters.iter().enumerate() {
            let begins_word = place == 0 || !letters[place - 1].is_alphanumeric();
            if letter == wanted {
                let own = if begins_word { 8 } else { 1 };
                let in_a_row = place.checked_sub(1).and_then(|last| *best.get(last)?).map(|score| score + own + 8);
                let apart = if index == 0 { Some(own) } else { before.map(|score| score + own) };
                next[place] = in_a_row.max(apart);
            }
            before = before.max(best.get(place).copied().flatten());
        }
        best = next;
    }
    let score = if typed.is_empty() { Some(0) } else { best.into_iter().flatten().max() };
    score.map(|score| score * 4 - i32::try_from(letters.len()).unwrap_or(i32::MAX / 8).min(200) / 4)
}

fn letters_of(typed: &str) -> Vec<char> {
    typed.chars().filter(|letter| !letter.is_whitespace()).flat_map(char::to_lowercase).collect()
}

fn lines(ui: &Ui, room: &RoomModel, files: &[FileInfo]) -> Vec<Line> {
    let line = |words: String, about: &str, does| Line { words, about: about.to_owned(), does };
    let mut lines: Vec<Line> = KEYS
        .iter()
        .filter(|binding| !matches!(binding.act, KeyAct::Palette | KeyAct::Escape))
        .map(|binding| line(binding.what.to_owned(), &keys::shown(ui.ctx(), binding.act), Does::Key(binding.act)))
        .collect();
    lines.push(line("New scene".into(), "Scene", Does::Ask(Dialog::NewScene)));
    lines.push(line("Save scene as".into(), "Scene", Does::Ask(Dialog::SaveSceneAs)));
    lines.push(line("Begin scene again".into(), "Scene", Does::Ask(Dialog::ResetScene)));
    lines.push(line("Light or dark theme".into(), "Look", Does::Theme));
    lines.push(line("Show notices".into(), "Window", Does::Notices));
    lines.push(line("Choose provider and model".into(), "Settings", Does::Provider));
    lines.push(line("Change caps".into(), "Settings", Does::Caps));
    lines.push(line("Let agents talk, or not".into(), "Settings", Does::Talk));
    lines.push(line("Save a picture".into(), "Window", Does::Picture));
    lines.push(line("Close the workshop".into(), "Window", Does::Quit));
    for tab in Tab::FIXED {
        lines.push(line(format!("Show {}", tab.title().to_lowercase()), "Window", Does::Show(tab)));
    }
    lines.push(line("Put all panes back where they were at first".into(), "Window", Does::Panes));
    for (words, purpose) in [
        ("Open another workspace", Purpose::OpenWorkspace),
        ("Import files", Purpose::ImportFiles(None)),
        ("Import a folder", Purpose::ImportFolder(None)),
        ("Export the workspace as a zip", Purpose::ExportZip(format!("{}.zip", room.workspace))),
        ("Export the event log", Purpose::ExportLog(format!("{}.events.jsonl", room.scene))),
    ] {
        lines.push(line(words.to_owned(), "Workspace", Does::Choose(purpose)));
    }
    for kind in kinds() {
        lines.push(line(format!("New {}", kind.name), "Element", Does::NewElement(kind.word)));
    }
    for scene in room.scenes.iter().filter(|scene| **scene != room.scene) {
        lines.push(line(format!("Open scene {scene}"), "Scene", Does::Scene(scene.clone())));
    }
    for element in &room.elements {
        let kind = shelf::capitalised(&element.kind);
        lines.push(line(format!("Open {}", element.label), &kind, Does::Open(element.id.clone())));
    }
    for agent in &room.agents {
        lines.push(line(agent.name.to_string(), "Agent", Does::Select(Thing::Agent(agent.id.clone()))));
    }
    for element in &room.elements {
        let does = Does::Select(Thing::Element(element.id.clone()));
        lines.push(line(element.label.to_string(), &shelf::capitalised(&element.kind), does));
    }
    for profile in room.profiles.iter() {
        lines.push(line(format!("New agent {}", profile.name), "Agent", Does::NewAgent(profile.id.clone())));
    }
    // What the room knows is there before the list of all files is read.
    let read = files.iter().filter(|file| file.is_there).map(|file| &file.path);
    let all: BTreeSet<&String> = room.files.iter().chain(read).collect();
    for file in all {
        lines.push(line(format!("Open file {file}"), "File", Does::File(file.clone())));
    }
    lines
}

/// The lines that fit, best first, and few enough to be shown.
fn fitting(lines: &[Line], typed: &str) -> Vec<usize> {
    if typed.trim().is_empty() {
        return (0..lines.len().min(SHOWN)).collect();
    }
    let wanted: Vec<char> = letters_of(typed);
    let may_fit = |line: &Line| {
        let mut rest = line.words.chars().flat_map(char::to_lowercase);
        wanted.iter().all(|letter| rest.any(|other| other == *letter))
    };
    let mut scored: Vec<(i32, usize)> = lines
        .iter()
        .enumerate()
        .filter(|(_, line)| may_fit(line))
        .filter_map(|(index, line)| Some((-fuzzy(typed, &line.words)?, index)))
        .collect();
    scored.sort_unstable();
    scored.into_iter().map(|(_, index)| index).take(SHOWN).collect()
}

/// Draws the palette, if it is open.
pub fn palette_ui(ui: &mut Ui, room: &RoomModel, theme: &Theme, state: &mut UiState) -> Vec<Command> {
    let Some(mut typed) = state.palette.clone() else { return Vec::new() };
    let take = |key| ui.input_mut(|input| input.consume_key(Modifiers::NONE, key));
    let (up, down, enter, escape) = (take(Key::ArrowUp), take(Key::ArrowDown), take(Key::Enter), take(Key::Escape));
    let files = state.studio.library.files();
    let found = state.found.look(ui, room, &files, &typed);
    let last = found.len().saturating_sub(1);
    let mut chosen = state.palette_line.min(last);
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
        .anchor(Align2::CENTER_TOP, [0.0, 96.0])
        .frame(widgets::window(theme))
        .show(ui.ctx(), |ui| {
            widgets::dress(ui.style_mut(), theme);
            ui.set_width(520.0);
            let field = widgets::field(ui, &mut typed, "Palette", "What would you like to do, see or open?");
            field.request_focus();
            if field.changed() {
                chosen = 0;
            }
            ui.add_space(SPACE[0]);
            if found.is_empty() {
                ui.label(widgets::soft("Nothing is called that. Fewer letters find more.", theme));
            }
            ScrollArea::vertical().max_height(480.0).show(ui, |ui| {
                ui.spacing_mut().item_spacing.y = 2.0;
                for (index, line) in found.iter().enumerate() {
                    let text = RichText::new(&line.words).size(TYPE[1]);
                    let button = egui::Button::selectable(index == chosen, text)
                        .right_text(widgets::small(line.about.as_str(), theme))
                        .min_size(egui::vec2(ui.available_width(), 28.0));
                    let row = ui.add(button);
                    widgets::name(&row, format!("Do: {}", line.words));
                    if row.clicked() {
                        picked = Some(index);
                    }
                }
            });
        });
    state.palette = Some(typed);
    state.palette_line = chosen;
    let elsewhere = window.is_some_and(|window| window.response.clicked_elsewhere());
    if let Some(line) = picked.and_then(|index| found.get(index)) {
        state.palette = None;
        return act(&line.does, room, state);
    }
    if escape || elsewhere {
        state.palette = None;
    }
    Vec::new()
}

fn act(does: &Does, room: &RoomModel, state: &mut UiState) -> Vec<Command> {
    match does {
        Does::Key(act) => return keys::apply(*act, room, state),
        Does::Ask(dialog) => state.dialog = Some(dialog.clone()),
        Does::Scene(scene) => return vec![Command::OpenScene(scene.clone())],
        Does::NewElement(kind) => return vec![shelf::element_at(room, kind, state.camera.middle)],
        Does::Select(thing) => {
            state.selected = [thing.clone()].into();
            keys::frame(room, state);
        }
        Does::Open(element) => state.open_element = Some(element.clone()),
        Does::NewAgent(profile) => {
            let place = canvas::spawn_place(room, state.camera.middle, false);
            return vec![canvas::add_agent(room, profile, place)];
        }
        Does::File(file) => return vec![Command::OpenFile(file.clone(), None)],
        Does::Theme => state.set_dark(!state.dark),
        Does::Notices => state.notices_open = true,
        Does::Provider => state.show_settings(None),
        Does::Caps => state.show_settings(Some("budget.cost_per_run_usd")),
        Does::Talk => {
            let act = RoomAct::Talk(ConversationCommand::Switch { on: !room.talk_on });
            return vec![Command::Act(act, None)];
        }
        Does::Picture => return vec![Command::Screenshot(None)],
        Does::Show(tab) => return vec![Command::Show(tab.clone())],
        Does::Choose(purpose) => state.asks_file = Some(purpose.clone()),
        Does::Panes => state.dock.reset(),
        Does::Quit => return vec![Command::Quit],
    }
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::testing::{Stage, stage};
    use egui_kittest::Harness;
    use egui_kittest::kittest::Queryable;

    fn palette(typed: &str) -> Harness<'static, Stage> {
        let state = UiState { palette: Some(typed.to_owned()), ..UiState::default() };
        let mut window = stage(state, |ui, room, _, theme, state| palette_ui(ui, room, theme, state));
        window.run_steps(4);
        window
    }

    #[test]
    fn letters_must_occur_in_order_and_word_beginnings_win() {
        assert_eq!(fuzzy("xyz", "Open scene evening"), None);
        assert_eq!(fuzzy("neo", "one"), None);
        assert!(fuzzy("", "anything").is_some());
        let best = |typed: &str, texts: &[&'static str]| {
            texts.iter().copied().max_by_key(|text| fuzzy(typed, text).unwrap_or(i32::MIN)).unwrap()
        };
        assert_eq!(best("ns", &["Undo last", "New scene", "Once upon a sun"]), "New scene");
        assert_eq!(best("ada", &["Ada 12", "A day at sea", "Ada"]), "Ada");
        assert_eq!(best("osev", &["Open scene evening", "Close every scene"]), "Open scene evening");
        assert!(fuzzy("PAUSE", "Pause or continue") > fuzzy("pause", "Put a use to it"));
    }

    #[test]
    fn enter_does_the_first_line_and_closes() {
        let mut window = palette("evening");
        window.key_press(Key::Enter);
        window.run_steps(3);
        assert_eq!(window.state().commands, [Command::OpenScene("evening".into())]);
        assert_eq!(window.state().state.palette, None);
    }

    #[test]
    fn an_agent_is_found_selected_and_shown() {
        let mut window = palette("bram");
        window.get_by_label("Do: Bram").click();
        window.run_steps(3);
        let state = &window.state().state;
        assert_eq!(state.selected, [Thing::Agent("bram-1".into())].into());
        assert_eq!(state.camera.middle, window.state().room.agents[1].position);
    }

    #[test]
    fn every_kind_of_thing_is_found() {
        for (typed, wanted) in [
            ("new agent ada", "New agent Ada"),
            ("settings", "Settings"),
            ("save picture", "Save a picture"),
            ("agents/bram", "Open file agents/bram.md"),
            ("change caps", "Change caps"),
            ("larger text", "Larger text"),
        ] {
            let state = UiState { palette: Some(typed.to_owned()), ..UiState::default() };
            let room = crate::view::model::RoomModel {
                files: std::sync::Arc::new(vec!["agents/ada.md".into(), "agents/bram.md".into()]),
                ..crate::ui::testing::sample_room()
            };
            let mut window = crate::ui::testing::stage_in(room, state, |ui, room, _, theme, state| {
                palette_ui(ui, room, theme, state)
            });
            window.run_steps(3);
            assert!(window.query_by_label(&format!("Do: {wanted}")).is_some(), "{typed}");
        }
    }

    #[test]
    fn ten_thousand_lines_are_looked_through_within_a_frame() {
        let line = |number: usize| Line {
            words: format!("Open file agents/of/some/folder/agent-{number}.md"),
            about: String::new(),
            does: Does::Theme,
        };
        let many: Vec<Line> = (0..10_000).map(line).collect();
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
        assert_eq!(window.state().state.palette_line, 1);
        window.key_press(Key::Escape);
        window.run_steps(2);
        assert_eq!(window.state().state.palette, None);
        assert!(window.state().commands.is_empty());
    }
}
