//! The settings: who answers, what may be spent, who may talk, and how the window looks. What belongs to the
//! workspace is written into its `settings.yaml`; how the window looks is the person's own.

use egui::{Align2, RichText, ScrollArea, Ui, Window};
use serde_json::{Value, json};

use crate::gateway::BudgetSettings;
use crate::simulation::ConversationCommand;
use crate::ui::commands::RoomAct;
use crate::ui::shell::provider::provider_ui;
use crate::ui::state::Light;
use crate::ui::widgets;
use crate::ui::widgets::icons::Icon;
use crate::ui::widgets::words;
use crate::ui::{Command, UiState};
use crate::view::dates::DateLanguage;
use crate::view::model::{RoomModel, SettingsView};
use crate::view::theme::{SPACE, TYPE, Theme};
use crate::workspace::SettingsEdit;

/// What a cap counts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unit {
    Dollars,
    Count,
}

/// One cap as it is shown.
struct CapRow {
    key: &'static str,
    label: &'static str,
    about: &'static str,
    unit: Unit,
}

const fn cap(key: &'static str, label: &'static str, about: &'static str, unit: Unit) -> CapRow {
    CapRow { key, label, about, unit }
}

/// Every cap, in groups. A test compares it with what the gateway reads.
const CAPS: [(&str, &[CapRow]); 5] = [
    (
        "Everyone together, until the workshop is closed",
        &[
            cap("cost_per_run_usd", "Money", "What answers may cost in all.", Unit::Dollars),
            cap("tokens_per_run", "Tokens", "Words in and out, of every provider.", Unit::Count),
            cap(
                "outside_tokens_per_run",
                "Tokens outside",
                "The same without the offline brain and scripts.",
                Unit::Count,
            ),
            cap(
                "unpriced_tokens_per_run",
                "Tokens without a price",
                "Of models whose price nobody named; caps on money cannot see them.",
                Unit::Count,
            ),
            cap("calls_per_run", "Questions", "How often a model may be asked.", Unit::Count),
        ],
    ),
    (
        "Everyone together, in an hour",
        &[
            cap("cost_per_hour_usd", "Money an hour", "What answers may cost in any 60 minutes.", Unit::Dollars),
            cap("tokens_per_hour", "Tokens an hour", "Words in and out in any 60 minutes.", Unit::Count),
            cap(
                "calls_per_hour",
                "Questions an hour",
                "How often a model may be asked in any 60 minutes.",
                Unit::Count,
            ),
        ],
    ),
    (
        "Each agent, until the workshop is closed",
        &[
            cap("cost_per_agent_per_run_usd", "Money for each", "What one agent's answers may cost.", Unit::Dollars),
            cap("tokens_per_agent_per_run", "Tokens for each", "Words in and out of one agent.", Unit::Count),
            cap("calls_per_agent_per_run", "Questions of each", "How often one agent may ask.", Unit::Count),
        ],
    ),
    (
        "Each agent, in an hour",
        &[
            cap("cost_per_agent_per_hour_usd", "Money for each an hour", "The same in any 60 minutes.", Unit::Dollars),
            cap("tokens_per_agent_per_hour", "Tokens for each an hour", "The same in any 60 minutes.", Unit::Count),
            cap("calls_per_agent_per_hour", "Questions of each an hour", "The same in any 60 minutes.", Unit::Count),
        ],
    ),
    (
        "Each piece of work, from its beginning to its end",
        &[
            cap("cost_per_activation_usd", "Money for a task", "What the answers to one task may cost.", Unit::Dollars),
            cap("tokens_per_activation", "Tokens for a task", "Words in and out for one task.", Unit::Count),
            cap("calls_per_activation", "Questions for a task", "How often a model may be asked for it.", Unit::Count),
        ],
    ),
];

/// A whole number of `settings.yaml` other than a cap, as it is shown.
struct NumberRow {
    section: &'static str,
    key: &'static str,
    label: &'static str,
    about: &'static str,
    /// What holds where nothing is typed.
    hint: &'static str,
    /// The least and the most that it can be.
    range: (u64, u64),
}

const QUESTIONS_AT_ONCE: NumberRow = NumberRow {
    section: "gateway",
    key: "max_concurrent",
    label: "Questions at once",
    about: "How many questions may be under way at a provider at once. Fewer are gentler to small servers.",
    hint: "4",
    range: (1, 512),
};
const CONVERSATIONS_AT_ONCE: NumberRow = NumberRow {
    section: "conversations",
    key: "max_concurrent_conversations",
    label: "Conversations at once",
    about: "More than that wait until one is over.",
    hint: "3",
    range: (0, 1_000),
};

/// Draws the settings, if they are shown.
pub fn settings_ui(ui: &mut Ui, room: &RoomModel, theme: &Theme, state: &mut UiState) -> Vec<Command> {
    let Some(mut shown) = state.settings.clone() else { return Vec::new() };
    let mut commands = Vec::new();
    let mut closed = false;
    let height = (ui.ctx().content_rect().height() - 120.0).clamp(160.0, 720.0);
    Window::new("Settings")
        .title_bar(false)
        .resizable(false)
        .collapsible(false)
        .anchor(Align2::CENTER_CENTER, [0.0, 0.0])
        .frame(widgets::window(theme))
        .show(ui.ctx(), |ui| {
            widgets::dress(ui.style_mut(), theme);
            ui.set_width(560.0_f32.min(ui.ctx().content_rect().width() - 60.0));
            widgets::line(
                ui,
                |ui| {
                    ui.label(RichText::new("Settings").size(TYPE[3]));
                },
                |ui| closed = widgets::icon_button(ui, Icon::Cross, "Close settings", false, theme).clicked(),
            );
            ui.separator();
            let area = ScrollArea::vertical().max_height(height).min_scrolled_height(height);
            area.auto_shrink([false, true]).show(ui, |ui| {
                // The bar stands beside the fields, not on them.
                ui.set_max_width(ui.available_width() - SPACE[2]);
                group(ui, "Who answers", "Unless an agent's own file says otherwise. Kept in settings.yaml.", theme);
                provider_ui(ui, room, theme, state, &mut commands);
                of_scene(ui, room, &["gateway.provider", "gateway.model"], theme);
                ui.add_space(SPACE[1]);
                let now = room.settings.max_concurrent.to_string();
                let asked = number_row(ui, room, &QUESTIONS_AT_ONCE, now, theme, state, &mut shown.lead_to);
                commands.extend(asked);
                talking(ui, room, theme, state, &mut shown.lead_to, &mut commands);
                caps(ui, room, theme, state, &mut shown.lead_to, &mut commands);
                looks(ui, theme, state);
                ui.add_space(SPACE[2]);
            });
        });
    state.settings = (!closed).then_some(shown);
    commands
}

fn group(ui: &mut Ui, title: &str, about: &str, theme: &Theme) {
    ui.add_space(SPACE[2]);
    ui.label(RichText::new(title).size(TYPE[2]).color(theme.accent));
    ui.add(egui::Label::new(widgets::small(about, theme)).wrap());
    ui.add_space(SPACE[0]);
}

/// Says where the open scene has the last word.
fn of_scene(ui: &mut Ui, room: &RoomModel, settings: &[&str], theme: &Theme) {
    let is_made = |setting: &&&str| {
        let bare = setting.rsplit('.').next().unwrap_or(setting);
        room.settings.of_scene.iter().any(|made| made == **setting || made == bare)
    };
    if settings.iter().any(|setting| is_made(&setting)) {
        let text = format!("scenes/{}.yaml sets this itself, and goes before what is chosen here.", room.scene);
        ui.add(egui::Label::new(RichText::new(text).size(TYPE[0]).color(theme.warn)).wrap());
    }
}

/// A row: what it is and why on the left, how much on the right.
fn row(ui: &mut Ui, label: &str, about: &str, theme: &Theme, right: impl FnOnce(&mut Ui)) {
    ui.horizontal(|ui| {
        ui.vertical(|ui| {
            ui.set_width((ui.available_width() - 190.0).max(120.0));
            ui.spacing_mut().item_spacing.y = 0.0;
            ui.label(label);
            ui.add(egui::Label::new(widgets::small(about, theme)).wrap());
        });
        ui.vertical(|ui| right(ui));
    });
}

/// A field for a number of `settings.yaml`. What is typed counts when it is left, or with Enter.
struct NumberField<'a> {
    section: &'static str,
    key: &'static str,
    label: &'a str,
    hint: &'a str,
    /// What holds now.
    current: String,
}

impl NumberField<'_> {
    fn show(
        self,
        ui: &mut Ui,
        theme: &Theme,
        state: &mut UiState,
        lead_to: &mut Option<String>,
        read: impl Fn(&str) -> Result<Option<Value>, String>,
    ) -> Option<Command> {
        let setting = format!("{}.{}", self.section, self.key);
        let draft = format!("setting {setting}");
        if state.draft_bases.get(&draft).is_some_and(|base| *base != self.current) {
            // It is in the settings by now, or somebody else changed it.
            state.draft_bases.remove(&draft);
            state.drafts.remove(&draft);
        }
        let mut text = state.drafts.get(&draft).unwrap_or(&self.current).clone();
        let field = widgets::field(ui, &mut text, &format!("Set {}", self.label), self.hint);
        if lead_to.as_deref() == Some(setting.as_str()) {
            *lead_to = None;
            field.request_focus();
            field.scroll_to_me(Some(egui::Align::Center));
        }
        if field.changed() {
            state.drafts.insert(draft.clone(), text.clone());
            state.draft_bases.remove(&draft);
        }
        let typed = state.drafts.get(&draft)?;
        let value = match read(typed.trim()) {
            Ok(value) => value,
            Err(why) => {
                ui.label(RichText::new(why).size(TYPE[0]).color(theme.bad));
                return None;
            }
        };
        // What was sent already is not sent again while it is under way.
        if !field.lost_focus() || state.draft_bases.contains_key(&draft) {
            return None;
        }
        if typed.trim() == self.current {
            state.drafts.remove(&draft);
            return None;
        }
        state.draft_bases.insert(draft, self.current);
        Some(Command::SetSettings(match value {
            Some(value) => SettingsEdit::set(self.section, self.key, value),
            None => SettingsEdit::reset(self.section, self.key),
        }))
    }
}

/// A whole number within bounds; nothing typed means the default.
fn whole(text: &str, least: u64, most: u64) -> Result<Option<Value>, String> {
    if text.is_empty() {
        return Ok(None);
    }
    let number = text.replace(['_', ' ', ','], "").parse::<u64>().ok().filter(|number| (least..=most).contains(number));
    number.map(|number| Some(json!(number))).ok_or_else(|| format!("A whole number, {least} to {most}."))
}

/// A cap: nothing typed means that there is none.
fn cap_value(text: &str, unit: Unit, key: &str) -> Result<Option<Value>, String> {
    if text.is_empty() {
        // Taking a key out would bring its default back, where it has one.
        return Ok((!default_of(key).is_null()).then_some(Value::Null));
    }
    match unit {
        Unit::Dollars => {
            let number = text.trim_start_matches('$').parse::<f64>().ok();
            let number = number.filter(|number| (0.0..=1_000_000.0).contains(number));
            number.map(|number| Some(json!(number))).ok_or_else(|| "An amount in dollars, like 2.50.".to_owned())
        }
        Unit::Count => whole(text, 0, u64::MAX).map_err(|_| "A whole number, or nothing for no cap.".to_owned()),
    }
}

fn default_of(key: &str) -> Value {
    serde_json::to_value(BudgetSettings::default()).map(|caps| caps[key].clone()).unwrap_or_default()
}

fn number_row(
    ui: &mut Ui,
    room: &RoomModel,
    number: &NumberRow,
    current: String,
    theme: &Theme,
    state: &mut UiState,
    lead_to: &mut Option<String>,
) -> Option<Command> {
    let NumberRow { section, key, label, about, hint, range: (least, most) } = *number;
    let mut command = None;
    row(ui, label, about, theme, |ui| {
        let field = NumberField { section, key, label, hint, current };
        command = field.show(ui, theme, state, lead_to, |text| whole(text, least, most));
        of_scene(ui, room, &[&format!("{section}.{key}")], theme);
    });
    command
}

fn talking(
    ui: &mut Ui,
    room: &RoomModel,
    theme: &Theme,
    state: &mut UiState,
    lead_to: &mut Option<String>,
    commands: &mut Vec<Command>,
) {
    group(ui, "Talk", "Whether agents talk to each other, and how many conversations go on.", theme);
    row(ui, "Among agents", "Off ends all conversations; tasks and reading go on.", theme, |ui| {
        if widgets::switch(ui, room.talk_on, "Agents may talk", theme).clicked() {
            let act = RoomAct::Talk(ConversationCommand::Switch { on: !room.talk_on });
            commands.push(Command::Act(act, None));
        }
    });
    let now = room.settings.conversations_at_once.to_string();
    commands.extend(number_row(ui, room, &CONVERSATIONS_AT_ONCE, now, theme, state, lead_to));
}

fn caps(
    ui: &mut Ui,
    room: &RoomModel,
    theme: &Theme,
    state: &mut UiState,
    lead_to: &mut Option<String>,
    commands: &mut Vec<Command>,
) {
    group(ui, "Caps", "What models may use at most; an empty field is no cap. Kept in settings.yaml.", theme);
    if let Some(cap) = &room.cap_reached {
        let text = format!("{}.", words::capitalised(cap));
        ui.add(egui::Label::new(RichText::new(text).color(theme.warn)).wrap());
    }
    let now = serde_json::to_value(&room.settings.budget).unwrap_or_default();
    for (title, rows) in CAPS {
        ui.add_space(SPACE[1]);
        ui.label(widgets::soft(title, theme).strong());
        for cap in rows {
            let used = used_of(cap, room);
            let about = used.map_or_else(|| cap.about.to_owned(), |used| format!("{} Used: {used}.", cap.about));
            row(ui, cap.label, &about, theme, |ui| {
                let hint = if cap.unit == Unit::Dollars { "no cap, in dollars" } else { "no cap" };
                let current = shown_number(&now[cap.key], cap.unit);
                let field = NumberField { section: "budget", key: cap.key, label: cap.label, hint, current };
                let read = |text: &str| cap_value(text, cap.unit, cap.key);
                commands.extend(field.show(ui, theme, state, lead_to, read));
                of_scene(ui, room, &[&format!("budget.{}", cap.key)], theme);
            });
        }
    }
}

fn shown_number(value: &Value, unit: Unit) -> String {
    match (value.as_f64(), unit) {
        (None, _) => String::new(),
        (Some(usd), Unit::Dollars) if (usd * 100.0).fract() == 0.0 => format!("{usd:.2}"),
        _ => value.to_string(),
    }
}

/// What counts for a cap of the run was used so far.
fn used_of(cap: &CapRow, room: &RoomModel) -> Option<String> {
    let SettingsView { outside, .. } = &room.settings;
    match cap.key {
        "cost_per_run_usd" => Some(words::cost(&room.spent)),
        "tokens_per_run" => Some(words::compact(room.spent.tokens)),
        "outside_tokens_per_run" => Some(words::compact(outside.tokens)),
        "unpriced_tokens_per_run" => Some(words::compact(room.spent.unpriced_tokens)),
        "calls_per_run" => Some(room.spent.calls.to_string()),
        _ => None,
    }
}

fn looks(ui: &mut Ui, theme: &Theme, state: &mut UiState) {
    group(ui, "Look", "Your own; kept beside your other personal files, not in the workspace.", theme);
    row(ui, "Light", "Day is light, evening is dark.", theme, |ui| {
        let lights = [Light::System, Light::Day, Light::Evening];
        let choices = [("System", "As the system has it"), ("Day", "Always day"), ("Evening", "Always evening")]
            .map(|(shown, whole)| (shown.to_owned(), whole.to_owned()));
        let chosen = lights.iter().position(|light| *light == state.look.light);
        if let Some(index) = widgets::segments(ui, &choices, chosen, theme) {
            state.look.light = lights[index];
        }
    });
    row(ui, "Text size", "Everything grows with it. Ctrl and plus, minus or 0 do the same.", theme, |ui| {
        ui.horizontal(|ui| {
            for (shown, label, steps) in [("−", "Smaller text", -1), ("+", "Larger text", 1)] {
                let button = ui.button(shown);
                widgets::name(&button, label);
                if button.clicked() {
                    state.look.step_text_size(steps);
                }
            }
            ui.label(format!("{:.0} %", state.look.text_size * 100.0));
            if state.look.text_size != 1.0 && ui.button("Usual").clicked() {
                state.look.set_text_size(1.0);
            }
        });
    });
    row(ui, "Dates", "The language of dates; times are those of this computer.", theme, |ui| {
        let choices = DateLanguage::ALL.map(|(_, name)| (name.to_owned(), format!("Dates as in {name}")));
        let chosen = DateLanguage::ALL.iter().position(|(language, _)| *language == state.look.dates);
        if let Some(index) = widgets::segments(ui, &choices, chosen, theme) {
            state.look.dates = DateLanguage::ALL[index].0;
        }
    });
    row(ui, "Movement", "Calm: panels and switches change at once instead of gliding.", theme, |ui| {
        state.look.calm ^= widgets::switch(ui, state.look.calm, "Calm", theme).clicked();
    });
}

#[cfg(test)]
#[path = "settings_tests.rs"]
mod tests;
