//! The tab **About** of an agent: behaviour, profile, queue, tasks, memory, and cost.

use egui::{CollapsingHeader, Label, RichText, Ui};

use super::{fact, texts};
use crate::agent::AgentCommand;
use crate::base::Behaviour;
use crate::memory::Memory;
use crate::ui::Command;
use crate::ui::commands::RoomAct;
use crate::ui::context::ViewerContext;
use crate::ui::widgets;
use crate::ui::widgets::text_format;
use crate::view::model::{AgentDetail, AgentView, ProfileFacts, RoomModel};
use crate::view::theme::{SPACE, Theme};

const BEHAVIOURS: [Behaviour; 3] = [Behaviour::Stationary, Behaviour::Wander, Behaviour::Patrol];
/// The maximum number of waiting tasks shown.
const MAX_TASKS: usize = 20;
/// The number of characters of a task that are shown at first.
const TASK_CHARS: usize = 600;

/// Draws the tab.
pub(super) fn about_ui(
    ui: &mut Ui,
    cx: &ViewerContext<'_>,
    agent: &AgentView,
    detail: &AgentDetail,
    commands: &mut Vec<Command>,
) {
    let ViewerContext { room, theme, .. } = *cx;
    behaviour(ui, agent, detail, theme, commands);
    queue(ui, detail, theme);
    tasks(ui, detail, theme);
    memory(ui, room, &detail.memory, theme);
    profile(ui, room, agent, detail, theme);
    model_usage(ui, agent, detail, theme);
}

fn behaviour(ui: &mut Ui, agent: &AgentView, detail: &AgentDetail, theme: &Theme, commands: &mut Vec<Command>) {
    widgets::section(ui, texts::WHEN_IDLE, theme);
    let choices = BEHAVIOURS.map(|behaviour| {
        let word = text_format::behaviour(behaviour);
        (word.to_owned(), texts::behaviour_name(word))
    });
    let chosen = BEHAVIOURS.iter().position(|behaviour| *behaviour == detail.behaviour);
    if let Some(index) = widgets::segments(ui, &choices, chosen, theme) {
        let set = |behaviour| RoomAct::Agent(AgentCommand::SetBehaviour { agent: agent.id.clone(), behaviour });
        commands.push(Command::Act(set(BEHAVIOURS[index]), Some(set(detail.behaviour))));
    }
}

fn queue(ui: &mut Ui, detail: &AgentDetail, theme: &Theme) {
    widgets::section(ui, texts::NEXT_IN_ORDER, theme);
    if detail.queue.is_empty() {
        ui.label(widgets::secondary_text(texts::NOTHING_IS_QUEUED, theme));
    }
    for (index, action) in detail.queue.iter().enumerate() {
        ui.label(format!("{}. {action}", index + 1));
    }
}

fn tasks(ui: &mut Ui, detail: &AgentDetail, theme: &Theme) {
    if detail.tasks.is_empty() {
        return;
    }
    widgets::section(ui, texts::WAITING_TASKS, theme);
    for task in detail.tasks.iter().take(MAX_TASKS) {
        widgets::in_card(ui, theme, |ui| {
            widgets::long_text(ui, task, task, TASK_CHARS, |ui, task| drop(ui.add(Label::new(task).wrap())));
        });
    }
    if detail.tasks.len() > MAX_TASKS {
        ui.label(widgets::small(texts::and_more(detail.tasks.len() - MAX_TASKS), theme));
    }
}

fn memory(ui: &mut Ui, room: &RoomModel, memory: &Memory, theme: &Theme) {
    widgets::section(ui, texts::MEMORY, theme);
    if *memory == Memory::default() {
        ui.label(widgets::secondary_text(texts::NO_MEMORIES_YET, theme));
        return;
    }
    let slot = |ui: &mut Ui, title: &str, lines: Vec<String>| {
        if lines.is_empty() {
            return;
        }
        let text = RichText::new(format!("{title}, {}", lines.len())).color(theme.text);
        CollapsingHeader::new(text).id_salt(title).show(ui, |ui| {
            for line in lines {
                ui.add(Label::new(widgets::secondary_text(line, theme)).wrap());
            }
        });
    };
    if !memory.context_summary.is_empty() {
        widgets::in_card(ui, theme, |ui| {
            ui.label(widgets::small(texts::SUMMARY_OF_EARLIER_SESSIONS, theme));
            ui.add(Label::new(memory.context_summary.as_str()).wrap());
        });
    }
    slot(ui, texts::NOTES, memory.workspace_notes.clone());
    slot(ui, texts::TALKED_TO, memory.recent_interactions.clone());
    let label = |key| room.element_of(key).map_or(texts::A_DELETED_ELEMENT, |element| &*element.label);
    let seen = memory.environment_state.iter().map(|(key, seen)| format!("{}: {}", label(*key), seen.summary));
    let seen: Vec<String> = seen.collect();
    slot(ui, texts::ELEMENTS_READ, seen);
    let pins = memory.kept_pins.iter().map(|(key, pin)| texts::pin_on(pin, label(*key)));
    let pins: Vec<String> = pins.collect();
    slot(ui, texts::PINS_KEPT, pins);
}

/// Draws the profile and permissions from the agent's file.
fn profile(ui: &mut Ui, room: &RoomModel, agent: &AgentView, detail: &AgentDetail, theme: &Theme) {
    widgets::section(ui, texts::PROFILE, theme);
    let name = room.profiles.iter().find(|profile| profile.id == agent.profile);
    fact(ui, texts::NAME, name.map_or(&*agent.profile, |profile| &profile.name), theme);
    fact(ui, texts::ID, &agent.id, theme);
    let Some(profile) = &detail.profile else {
        ui.label(widgets::secondary_text(texts::UNKNOWN_FILE, theme));
        return;
    };
    let ProfileFacts { file, description, model, tools, safety, reads, writes } = &**profile;
    if !description.is_empty() {
        fact(ui, texts::ROLE, description, theme);
    }
    fact(ui, texts::FILE, file, theme);
    fact(ui, texts::MODEL, if model.is_empty() { texts::MODEL_FROM_SETTINGS } else { model }, theme);
    fact(ui, texts::TOOLS, &if tools.is_empty() { texts::NO_TOOLS.to_owned() } else { tools.join(", ") }, theme);
    fact(ui, texts::SAFETY, safety, theme);
    fact(ui, texts::MAY_READ, &globs(reads.as_deref()), theme);
    fact(ui, texts::MAY_WRITE, &globs(writes.as_deref()), theme);
}

/// Returns file permissions in words.
fn globs(globs: Option<&[String]>) -> String {
    match globs {
        None => texts::EVERYTHING_ALLOWED.to_owned(),
        Some([]) => texts::NOTHING_ALLOWED.to_owned(),
        Some(globs) => globs.join(", "),
    }
}

fn model_usage(ui: &mut Ui, agent: &AgentView, detail: &AgentDetail, theme: &Theme) {
    widgets::section(ui, texts::MODELS, theme);
    fact(ui, texts::ANSWERED_BY, &detail.answered_by, theme);
    fact(ui, texts::IN_THIS_RUN, &text_format::tally(&detail.spent), theme);
    let (turns, tokens) = detail.session;
    let session = texts::session_size(turns, &text_format::compact(tokens.into()));
    fact(ui, texts::SESSION, &session, theme);
    fact(ui, texts::HOME, &format!("{:.0}, {:.0}", detail.home.x, detail.home.y), theme);
    if agent.queued > detail.queue.len() {
        fact(ui, texts::QUEUED, &agent.queued.to_string(), theme);
    }
    ui.add_space(SPACE[1]);
}
