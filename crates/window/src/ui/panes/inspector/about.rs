//! What an agent is and has before it: behaviour, profile, queue, tasks, memory, and what it costs.

use egui::{CollapsingHeader, Label, RichText, Ui};

use super::fact;
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
/// Tasks that wait are shown up to so many.
const TASKS_SHOWN: usize = 20;

/// Draws it.
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
    use_of_models(ui, agent, detail, theme);
}

fn behaviour(ui: &mut Ui, agent: &AgentView, detail: &AgentDetail, theme: &Theme, commands: &mut Vec<Command>) {
    widgets::section(ui, "When idle", theme);
    let choices = BEHAVIOURS.map(|behaviour| {
        let word = text_format::behaviour(behaviour);
        (word.to_owned(), format!("Behaviour {}", word.to_lowercase()))
    });
    let chosen = BEHAVIOURS.iter().position(|behaviour| *behaviour == detail.behaviour);
    if let Some(index) = widgets::segments(ui, &choices, chosen, theme) {
        let set = |behaviour| RoomAct::Agent(AgentCommand::SetBehaviour { agent: agent.id.clone(), behaviour });
        commands.push(Command::Act(set(BEHAVIOURS[index]), Some(set(detail.behaviour))));
    }
}

fn queue(ui: &mut Ui, detail: &AgentDetail, theme: &Theme) {
    widgets::section(ui, "Next, in order", theme);
    if detail.queue.is_empty() {
        ui.label(widgets::soft("Nothing is queued", theme));
    }
    for (index, action) in detail.queue.iter().enumerate() {
        ui.label(format!("{}. {action}", index + 1));
    }
}

fn tasks(ui: &mut Ui, detail: &AgentDetail, theme: &Theme) {
    if detail.tasks.is_empty() {
        return;
    }
    widgets::section(ui, "Waiting tasks", theme);
    for task in detail.tasks.iter().take(TASKS_SHOWN) {
        widgets::in_card(ui, theme, |ui| ui.add(Label::new(crate::base::text::truncate(task, 600)).wrap()));
    }
    if detail.tasks.len() > TASKS_SHOWN {
        ui.label(widgets::small(format!("and {} more", detail.tasks.len() - TASKS_SHOWN), theme));
    }
}

fn memory(ui: &mut Ui, room: &RoomModel, memory: &Memory, theme: &Theme) {
    widgets::section(ui, "Memory", theme);
    if *memory == Memory::default() {
        ui.label(widgets::soft("No memories yet. What it reads and says appears here.", theme));
        return;
    }
    let slot = |ui: &mut Ui, title: &str, lines: Vec<String>| {
        if lines.is_empty() {
            return;
        }
        let text = RichText::new(format!("{title}, {}", lines.len())).color(theme.text);
        CollapsingHeader::new(text).id_salt(title).show(ui, |ui| {
            for line in lines {
                ui.add(Label::new(widgets::soft(line, theme)).wrap());
            }
        });
    };
    if !memory.context_summary.is_empty() {
        widgets::in_card(ui, theme, |ui| {
            ui.label(widgets::small("Summary of earlier sessions", theme));
            ui.add(Label::new(memory.context_summary.as_str()).wrap());
        });
    }
    slot(ui, "Notes", memory.workspace_notes.clone());
    slot(ui, "Talked to", memory.recent_interactions.clone());
    let label = |key| room.element_of(key).map_or("a deleted element", |element| &*element.label);
    let seen = memory.environment_state.iter().map(|(key, seen)| format!("{}: {}", label(*key), seen.summary));
    let seen: Vec<String> = seen.collect();
    slot(ui, "Elements it has read", seen);
    let pins = memory.kept_pins.iter().map(|(key, pin)| format!("{pin} on {}", label(*key)));
    let pins: Vec<String> = pins.collect();
    slot(ui, "Pins it keeps", pins);
}

/// What its file says of it and lets it do.
fn profile(ui: &mut Ui, room: &RoomModel, agent: &AgentView, detail: &AgentDetail, theme: &Theme) {
    widgets::section(ui, "Profile", theme);
    let name = room.profiles.iter().find(|profile| profile.id == agent.profile);
    fact(ui, "Name", name.map_or(&*agent.profile, |profile| &profile.name), theme);
    fact(ui, "Id", &agent.id, theme);
    let Some(profile) = &detail.profile else {
        ui.label(widgets::soft("Unknown file.", theme));
        return;
    };
    let ProfileFacts { file, description, model, tools, safety, reads, writes } = &**profile;
    if !description.is_empty() {
        fact(ui, "Role", description, theme);
    }
    fact(ui, "File", file, theme);
    fact(ui, "Model", if model.is_empty() { "from settings" } else { model }, theme);
    fact(ui, "Tools", &if tools.is_empty() { "none".to_owned() } else { tools.join(", ") }, theme);
    fact(ui, "Safety", safety, theme);
    fact(ui, "May read", &globs(reads.as_deref()), theme);
    fact(ui, "May write", &globs(writes.as_deref()), theme);
}

/// Rights in words.
fn globs(globs: Option<&[String]>) -> String {
    match globs {
        None => "everything allowed here".to_owned(),
        Some([]) => "nothing".to_owned(),
        Some(globs) => globs.join(", "),
    }
}

fn use_of_models(ui: &mut Ui, agent: &AgentView, detail: &AgentDetail, theme: &Theme) {
    widgets::section(ui, "Models", theme);
    fact(ui, "Answered by", &detail.answered_by, theme);
    fact(ui, "In this run", &text_format::tally(&detail.spent), theme);
    let (turns, tokens) = detail.session;
    let session =
        format!("{}, about {} tokens", text_format::count(turns, "turn", "turns"), text_format::compact(tokens.into()));
    fact(ui, "Session", &session, theme);
    fact(ui, "Home", &format!("{:.0}, {:.0}", detail.home.x, detail.home.y), theme);
    if agent.queued > detail.queue.len() {
        fact(ui, "Queued", &agent.queued.to_string(), theme);
    }
    ui.add_space(SPACE[1]);
}
