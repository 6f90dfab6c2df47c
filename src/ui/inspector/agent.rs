//! An agent in the inspector: state and why, what it will do, what it remembers, what it costs.

use egui::{CollapsingHeader, RichText, Sense, Ui, vec2};

use super::{fact, prompt};
use crate::agent::AgentCommand;
use crate::base::Behaviour;
use crate::memory::Memory;
use crate::simulation::{State, TaskCommand};
use crate::ui::command::RoomAct;
use crate::ui::{Command, UiState, kit, words};
use crate::view::art::Art;
use crate::view::model::{AgentDetail, AgentView, RoomModel};
use crate::view::paint;
use crate::view::theme::{SPACE, TYPE, Theme, state_colour};

const BEHAVIOURS: [Behaviour; 3] = [Behaviour::Stationary, Behaviour::Wander, Behaviour::Patrol];

pub(super) fn agent_card(
    ui: &mut Ui,
    room: &RoomModel,
    agent: &AgentView,
    art: &Art,
    theme: &Theme,
    state: &mut UiState,
    commands: &mut Vec<Command>,
) {
    head(ui, room, agent, art, theme, commands);
    let Some(detail) = &agent.detail else {
        ui.label(kit::soft("Looking…", theme));
        return;
    };
    at_work(ui, agent, detail, theme);
    behaviour(ui, agent, detail, theme, commands);
    queue(ui, detail, theme);
    tasks(ui, agent, detail, theme, state, commands);
    memory(ui, room, &detail.memory, theme);
    use_of_models(ui, agent, detail, theme);
    if let Some(last) = &detail.last_prompt {
        let title = format!("Last prompt, about {} tokens", words::compact(prompt::tokens(last)));
        CollapsingHeader::new(RichText::new(title).color(theme.accent)).id_salt("last prompt").show_unindented(
            ui,
            |ui| {
                prompt::prompt_parts(ui, room, last, theme);
            },
        );
    }
}

fn head(ui: &mut Ui, room: &RoomModel, agent: &AgentView, art: &Art, theme: &Theme, commands: &mut Vec<Command>) {
    ui.horizontal(|ui| {
        let (rect, _) = ui.allocate_exact_size(vec2(52.0, 64.0), Sense::hover());
        kit::plinth(ui.painter(), rect, theme);
        paint::portrait(ui.painter(), rect.shrink(4.0), &agent.look, art);
        ui.vertical(|ui| {
            ui.spacing_mut().item_spacing.y = 2.0;
            ui.add_space(SPACE[1]);
            ui.add(egui::Label::new(RichText::new(&*agent.name).heading().size(TYPE[3])).truncate());
            let profile = room.profiles.iter().find(|profile| profile.id == agent.profile);
            let profile = profile.map_or(&*agent.profile, |profile| &profile.name);
            ui.label(kit::small(format!("{profile}, {}", agent.id), theme));
        });
    });
    kit::in_card(ui, theme, |ui| {
        ui.horizontal(|ui| {
            kit::badge(ui, words::state(agent.state), state_colour(agent.state), theme);
            ui.label(kit::small(format!("for {}", words::duration(words::state_secs(room, agent))), theme));
        });
        if let Some(why) = agent.detail.as_ref().map(|detail| &detail.why).filter(|why| !why.is_empty()) {
            ui.add(egui::Label::new(RichText::new(why)).wrap());
        }
        ui.horizontal(|ui| {
            let id = agent.id.clone();
            let (label, act) = if agent.state == State::Paused {
                ("Let it go on", AgentCommand::Resume { agent: id })
            } else {
                ("Pause agent", AgentCommand::Pause { agent: id })
            };
            if ui.button(label).clicked() {
                commands.push(Command::Act(RoomAct::Agent(act), None));
            }
            let path = format!("agents/{}.md", agent.profile);
            if ui.button("Open its file").on_hover_text(&path).clicked() {
                commands.push(Command::OpenFile(path, None));
            }
        });
    });
}

/// What a model says to it right now.
fn at_work(ui: &mut Ui, agent: &AgentView, detail: &AgentDetail, theme: &Theme) {
    if !agent.thinking && detail.live_text.is_none() {
        return;
    }
    kit::section(ui, "Thinking now", theme);
    kit::in_card(ui, theme, |ui| {
        let text = detail.live_text.as_deref().unwrap_or_default();
        if text.is_empty() {
            ui.label(kit::soft(format!("Waiting for {}", detail.answered_by), theme));
        } else {
            egui::ScrollArea::vertical().id_salt("live").max_height(160.0).stick_to_bottom(true).show(ui, |ui| {
                ui.add(egui::Label::new(text).wrap());
            });
        }
    });
}

fn behaviour(ui: &mut Ui, agent: &AgentView, detail: &AgentDetail, theme: &Theme, commands: &mut Vec<Command>) {
    kit::section(ui, "When nothing calls", theme);
    let choices = BEHAVIOURS.map(|behaviour| {
        let word = words::behaviour(behaviour);
        (word.to_owned(), format!("Behaviour {}", word.to_lowercase()))
    });
    let chosen = BEHAVIOURS.iter().position(|behaviour| *behaviour == detail.behaviour);
    if let Some(index) = kit::segments(ui, &choices, chosen, theme) {
        let set = |behaviour| RoomAct::Agent(AgentCommand::SetBehaviour { agent: agent.id.clone(), behaviour });
        commands.push(Command::Act(set(BEHAVIOURS[index]), Some(set(detail.behaviour))));
    }
}

fn queue(ui: &mut Ui, detail: &AgentDetail, theme: &Theme) {
    kit::section(ui, "Next, in order", theme);
    if detail.queue.is_empty() {
        ui.label(kit::soft("Nothing is queued", theme));
    }
    for (index, action) in detail.queue.iter().enumerate() {
        ui.label(format!("{}. {action}", index + 1));
    }
}

fn tasks(
    ui: &mut Ui,
    agent: &AgentView,
    detail: &AgentDetail,
    theme: &Theme,
    state: &mut UiState,
    commands: &mut Vec<Command>,
) {
    kit::section(ui, "Tasks", theme);
    for task in &detail.tasks {
        kit::in_card(ui, theme, |ui| ui.add(egui::Label::new(task).wrap()));
    }
    let draft = state.drafts.entry(format!("task of {}", agent.id)).or_default();
    kit::area(ui, draft, "Task", &format!("What should {} do?", agent.name), 2);
    let text = draft.trim().to_owned();
    if kit::primary(ui, !text.is_empty(), "Give task", theme).clicked() {
        commands.push(Command::Act(RoomAct::Task(TaskCommand { agent: agent.id.clone(), text }), None));
        draft.clear();
    }
}

fn memory(ui: &mut Ui, room: &RoomModel, memory: &Memory, theme: &Theme) {
    kit::section(ui, "Memory", theme);
    if *memory == Memory::default() {
        ui.label(kit::soft("It remembers nothing yet. What it reads and says fills this.", theme));
        return;
    }
    let slot = |ui: &mut Ui, title: &str, lines: Vec<String>| {
        if lines.is_empty() {
            return;
        }
        let text = RichText::new(format!("{title}, {}", lines.len())).color(theme.text);
        CollapsingHeader::new(text).id_salt(title).show(ui, |ui| {
            for line in lines {
                ui.add(egui::Label::new(kit::soft(line, theme)).wrap());
            }
        });
    };
    if !memory.context_summary.is_empty() {
        kit::in_card(ui, theme, |ui| {
            ui.label(kit::small("Summary of earlier sessions", theme));
            ui.add(egui::Label::new(memory.context_summary.as_str()).wrap());
        });
    }
    slot(ui, "Notes", memory.workspace_notes.clone());
    slot(ui, "Talked to", memory.recent_interactions.clone());
    let label = |key| room.element_of(key).map_or("an element that is gone", |element| &*element.label);
    let seen = memory.environment_state.iter().map(|(key, seen)| format!("{}: {}", label(*key), seen.summary));
    let seen: Vec<String> = seen.collect();
    slot(ui, "Elements it has read", seen);
    let pins = memory.kept_pins.iter().map(|(key, pin)| format!("{pin} on {}", label(*key)));
    let pins: Vec<String> = pins.collect();
    slot(ui, "Pins it keeps", pins);
}

fn use_of_models(ui: &mut Ui, agent: &AgentView, detail: &AgentDetail, theme: &Theme) {
    kit::section(ui, "Models", theme);
    fact(ui, "Answered by", &detail.answered_by, theme);
    fact(ui, "In this run", &words::tally(&detail.spent), theme);
    let (turns, tokens) = detail.session;
    let session = format!("{}, about {} tokens", words::count(turns, "turn", "turns"), words::compact(tokens.into()));
    fact(ui, "Session", &session, theme);
    fact(ui, "Home", &format!("{:.0}, {:.0}", detail.home.x, detail.home.y), theme);
    if agent.queued > detail.queue.len() {
        fact(ui, "Queued", &agent.queued.to_string(), theme);
    }
    ui.add_space(SPACE[1]);
}
