//! The settings: provider and model, limits, conversations, MCP servers, and the appearance of the window. Workspace
//! settings are saved in its `settings.yaml`, the appearance in the person's own configuration.

use std::collections::BTreeMap;

use egui::{RichText, Ui};
use serde_json::{Value, json};

use crate::base::settings::{DescribedSettings, SettingKey};
use crate::gateway::{BudgetSettings, GatewaySettings};
use crate::simulation::ConversationCommand;
use crate::simulation::settings::ConversationSettings;
use crate::ui::commands::{RoomAct, WindowCommand};
use crate::ui::shell::provider::{ProviderChoice, provider_ui};
use crate::ui::shell::server_settings::servers_ui;
use crate::ui::shell::texts::settings as texts;
use crate::ui::state::{FrontPanel, ThemeChoice};
use crate::ui::widgets::dialog::{DialogFrame, scrolled};
use crate::ui::widgets::{self, group, menu, text_format};
use crate::ui::{Command, ViewerContext};
use crate::view::dates::DateLanguage;
use crate::view::model::{RoomModel, SettingsView};
use crate::view::theme::{DIALOG, MENU, SPACE, TYPE, Theme};
use crate::workspace::SettingsEdit;

/// The unit of a cap.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unit {
    Dollars,
    Count,
}

/// A cap in the list.
struct CapRow {
    key: &'static str,
    label: &'static str,
    about: &'static str,
    unit: Unit,
}

const fn cap(key: &'static str, label: &'static str, about: &'static str, unit: Unit) -> CapRow {
    CapRow { key, label, about, unit }
}

/// All caps, in groups. A test compares them with the fields of the gateway's settings.
const CAPS: [(&str, &[CapRow]); 5] = [
    (
        texts::ALL_AGENTS,
        &[
            cap("cost_per_run_usd", texts::COST, texts::COST_ABOUT, Unit::Dollars),
            cap("tokens_per_run", texts::TOKENS, texts::TOKENS_ABOUT, Unit::Count),
            cap("outside_tokens_per_run", texts::PAID_TOKENS, texts::PAID_TOKENS_ABOUT, Unit::Count),
            cap("unpriced_tokens_per_run", texts::UNPRICED_TOKENS, texts::UNPRICED_TOKENS_ABOUT, Unit::Count),
            cap("calls_per_run", texts::CALLS, texts::CALLS_ABOUT, Unit::Count),
        ],
    ),
    (
        texts::ALL_AGENTS_PER_HOUR,
        &[
            cap("cost_per_hour_usd", texts::COST_PER_HOUR, texts::COST_PER_HOUR_ABOUT, Unit::Dollars),
            cap("tokens_per_hour", texts::TOKENS_PER_HOUR, texts::TOKENS_PER_HOUR_ABOUT, Unit::Count),
            cap("calls_per_hour", texts::CALLS_PER_HOUR, texts::CALLS_PER_HOUR_ABOUT, Unit::Count),
        ],
    ),
    (
        texts::EACH_AGENT,
        &[
            cap("cost_per_agent_per_run_usd", texts::COST_PER_AGENT, texts::COST_PER_AGENT_ABOUT, Unit::Dollars),
            cap("tokens_per_agent_per_run", texts::TOKENS_PER_AGENT, texts::TOKENS_PER_AGENT_ABOUT, Unit::Count),
            cap("calls_per_agent_per_run", texts::CALLS_PER_AGENT, texts::CALLS_PER_AGENT_ABOUT, Unit::Count),
        ],
    ),
    (
        texts::EACH_AGENT_PER_HOUR,
        &[
            cap("cost_per_agent_per_hour_usd", texts::COST_PER_AGENT_PER_HOUR, texts::SAME_PER_HOUR, Unit::Dollars),
            cap("tokens_per_agent_per_hour", texts::TOKENS_PER_AGENT_PER_HOUR, texts::SAME_PER_HOUR, Unit::Count),
            cap("calls_per_agent_per_hour", texts::CALLS_PER_AGENT_PER_HOUR, texts::SAME_PER_HOUR, Unit::Count),
        ],
    ),
    (
        texts::EACH_TASK,
        &[
            cap("cost_per_activation_usd", texts::COST_PER_TASK, texts::COST_PER_TASK_ABOUT, Unit::Dollars),
            cap("tokens_per_activation", texts::TOKENS_PER_TASK, texts::TOKENS_PER_TASK_ABOUT, Unit::Count),
            cap("calls_per_activation", texts::CALLS_PER_TASK, texts::CALLS_PER_TASK_ABOUT, Unit::Count),
        ],
    ),
];

/// A whole number of `settings.yaml` other than a cap.
struct NumberRow {
    section: &'static str,
    key: &'static str,
    label: &'static str,
    about: &'static str,
    /// The default, shown while the field is empty.
    hint: &'static str,
    /// What is known of the settings of the section.
    keys: &'static [SettingKey],
}

impl NumberRow {
    /// The minimum and the maximum.
    fn range(&self) -> (u64, u64) {
        let range = self.keys.iter().find(|key| key.name == self.key).and_then(|key| key.range);
        range.map_or((0, u64::MAX), |range| (range.min as u64, range.max as u64))
    }
}

const CALLS_IN_PARALLEL: NumberRow = NumberRow {
    section: "gateway",
    key: "max_concurrent_requests",
    label: texts::CALLS_IN_PARALLEL,
    about: texts::CALLS_IN_PARALLEL_ABOUT,
    hint: "4",
    keys: GatewaySettings::KEYS,
};
const CONVERSATIONS_IN_PARALLEL: NumberRow = NumberRow {
    section: "conversations",
    key: "max_concurrent_conversations",
    label: texts::CONVERSATIONS_IN_PARALLEL,
    about: texts::CONVERSATIONS_IN_PARALLEL_ABOUT,
    hint: "3",
    keys: ConversationSettings::KEYS,
};

/// The state of the settings while they are open.
#[derive(Clone, Debug, Default)]
pub struct SettingsPanel {
    /// The setting to scroll to, by section and key; cleared once it was scrolled to.
    scroll_to: Option<String>,
    /// The typed numbers that are not applied yet, by setting.
    typed: BTreeMap<String, UnsentNumber>,
}

/// A typed number that is not applied yet.
#[derive(Clone, Debug, Default)]
struct UnsentNumber {
    text: String,
    /// The previous value, once the new one was sent.
    sent_from: Option<String>,
}

impl SettingsPanel {
    /// Scrolls to this setting when the settings are drawn next.
    pub fn scroll_to(&mut self, setting: Option<String>) {
        self.scroll_to = setting;
    }

    /// Returns the setting that is still to be scrolled to.
    pub fn scroll_target(&self) -> Option<&str> {
        self.scroll_to.as_deref()
    }

    /// Forgets the typed numbers, because another room is open.
    pub fn forget_room(&mut self) {
        self.typed.clear();
    }
}

/// Draws the settings, if they are open.
pub fn settings_ui(
    ui: &mut Ui,
    cx: &ViewerContext<'_>,
    own: &mut SettingsPanel,
    choice: &mut ProviderChoice,
) -> Vec<Command> {
    if !cx.ui.front.is_open(FrontPanel::Settings) {
        return Vec::new();
    }
    let mut commands = Vec::new();
    let frame = DialogFrame { title: texts::SETTINGS, closes: texts::CLOSES_SETTINGS, width: DIALOG[1] };
    let shown = frame.show(ui.ctx(), cx.theme, |ui| {
        scrolled(ui, |ui| {
            group(ui, texts::PROVIDER_AND_MODEL, texts::PROVIDER_AND_MODEL_ABOUT, cx.theme);
            provider_ui(ui, cx, choice, &mut commands);
            scene_override_ui(ui, cx, &["gateway.provider", "gateway.model"]);
            ui.add_space(SPACE[1]);
            let now = cx.room.settings.max_concurrent_requests.to_string();
            commands.extend(number_row(ui, cx, &CALLS_IN_PARALLEL, now, own));
            conversations_ui(ui, cx, own, &mut commands);
            caps_ui(ui, cx, own, &mut commands);
            servers_ui(ui, cx, &mut commands);
            appearance_ui(ui, cx, &mut commands);
            ui.add_space(SPACE[2]);
        });
    });
    if shown.is_closed {
        commands.push(WindowCommand::Close(FrontPanel::Settings).into());
    }
    commands
}

/// Says that the open scene overrides these settings, if it does.
fn scene_override_ui(ui: &mut Ui, cx: &ViewerContext<'_>, settings: &[&str]) {
    let ViewerContext { room, theme, .. } = *cx;
    let is_overridden = |setting: &&&str| {
        let key = setting.rsplit('.').next().unwrap_or(setting);
        room.settings.of_scene.iter().any(|overridden| overridden == **setting || overridden == key)
    };
    if settings.iter().any(|setting| is_overridden(&setting)) {
        let text = texts::overridden_by_scene(&room.scene);
        ui.add(egui::Label::new(RichText::new(text).size(TYPE[0]).color(theme.warn)).wrap());
    }
}

/// Draws a row: label and description at the left, the control at the right.
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

/// A field for a number of `settings.yaml`. The number is applied when the field loses the focus or with Enter.
struct NumberField<'a> {
    section: &'static str,
    key: &'static str,
    label: &'a str,
    hint: &'a str,
    /// The current value.
    current: String,
}

impl NumberField<'_> {
    fn show(
        self,
        ui: &mut Ui,
        theme: &Theme,
        own: &mut SettingsPanel,
        read: impl Fn(&str) -> Result<Option<Value>, String>,
    ) -> Option<Command> {
        let setting = format!("{}.{}", self.section, self.key);
        let sent_from = own.typed.get(&setting).and_then(|typed| typed.sent_from.as_ref());
        if sent_from.is_some_and(|before| *before != self.current) {
            // The value was applied, or changed elsewhere.
            own.typed.remove(&setting);
        }
        let mut text = own.typed.get(&setting).map_or(&self.current, |typed| &typed.text).clone();
        let field = widgets::field(ui, &mut text, &texts::field_name(self.label), self.hint);
        if own.scroll_to.as_deref() == Some(setting.as_str()) {
            own.scroll_to = None;
            field.request_focus();
            field.scroll_to_me(Some(egui::Align::Center));
        }
        if field.changed() {
            own.typed.insert(setting.clone(), UnsentNumber { text, sent_from: None });
        }
        let typed = own.typed.get_mut(&setting)?;
        let value = match read(typed.text.trim()) {
            Ok(value) => value,
            Err(why) => {
                ui.label(RichText::new(why).size(TYPE[0]).color(theme.bad));
                return None;
            }
        };
        // A value that is being applied is not sent again.
        if !widgets::committed(ui, &field) || typed.sent_from.is_some() {
            return None;
        }
        if typed.text.trim() == self.current {
            own.typed.remove(&setting);
            return None;
        }
        typed.sent_from = Some(self.current);
        Some(Command::SetSettings(match value {
            Some(value) => SettingsEdit::set(self.section, self.key, value),
            None => SettingsEdit::reset(self.section, self.key),
        }))
    }
}

/// Parses a whole number within bounds; an empty text means the default.
fn whole_number(text: &str, least: u64, most: u64) -> Result<Option<Value>, String> {
    if text.is_empty() {
        return Ok(None);
    }
    let number = text.replace(['_', ' ', ','], "").parse::<u64>().ok().filter(|number| (least..=most).contains(number));
    number.map(|number| Some(json!(number))).ok_or_else(|| texts::not_within(least, most))
}

/// Parses a cap; an empty text means that there is none.
fn cap_value(text: &str, unit: Unit, key: &str) -> Result<Option<Value>, String> {
    if text.is_empty() {
        // Removing a key would restore its default, if it has one.
        return Ok((!default_of(key).is_null()).then_some(Value::Null));
    }
    match unit {
        Unit::Dollars => {
            let number = text.trim_start_matches('$').parse::<f64>().ok();
            let number = number.filter(|number| (0.0..=1_000_000.0).contains(number));
            number.map(|number| Some(json!(number))).ok_or_else(|| texts::NOT_AN_AMOUNT.to_owned())
        }
        Unit::Count => whole_number(text, 0, u64::MAX).map_err(|_| texts::NOT_A_LIMIT.to_owned()),
    }
}

fn default_of(key: &str) -> Value {
    serde_json::to_value(BudgetSettings::default()).map(|caps| caps[key].clone()).unwrap_or_default()
}

fn number_row(
    ui: &mut Ui,
    cx: &ViewerContext<'_>,
    number: &NumberRow,
    current: String,
    own: &mut SettingsPanel,
) -> Option<Command> {
    let NumberRow { section, key, label, about, hint, .. } = *number;
    let (least, most) = number.range();
    let mut command = None;
    row(ui, label, about, cx.theme, |ui| {
        let field = NumberField { section, key, label, hint, current };
        command = field.show(ui, cx.theme, own, |text| whole_number(text, least, most));
        scene_override_ui(ui, cx, &[&format!("{section}.{key}")]);
    });
    command
}

fn conversations_ui(ui: &mut Ui, cx: &ViewerContext<'_>, own: &mut SettingsPanel, commands: &mut Vec<Command>) {
    let ViewerContext { room, theme, .. } = *cx;
    group(ui, texts::CONVERSATIONS, texts::CONVERSATIONS_ABOUT, theme);
    row(ui, texts::BETWEEN_AGENTS, texts::BETWEEN_AGENTS_ABOUT, theme, |ui| {
        if widgets::switch(ui, room.talk_on, texts::ALLOW_CONVERSATIONS, theme).clicked() {
            let act = RoomAct::Talk(ConversationCommand::Switch { on: !room.talk_on });
            commands.push(Command::Act(act, None));
        }
    });
    let now = room.settings.conversations_at_once.to_string();
    commands.extend(number_row(ui, cx, &CONVERSATIONS_IN_PARALLEL, now, own));
}

fn caps_ui(ui: &mut Ui, cx: &ViewerContext<'_>, own: &mut SettingsPanel, commands: &mut Vec<Command>) {
    let ViewerContext { room, theme, .. } = *cx;
    group(ui, texts::LIMITS, texts::LIMITS_ABOUT, theme);
    if let Some(cap) = &room.cap_reached {
        let text = format!("{}.", text_format::capitalised(cap));
        ui.add(egui::Label::new(RichText::new(text).color(theme.warn)).wrap());
    }
    let now = serde_json::to_value(&room.settings.budget).unwrap_or_default();
    for (title, rows) in CAPS {
        ui.add_space(SPACE[1]);
        ui.label(widgets::secondary_text(title, theme).strong());
        for cap in rows {
            let used = usage_of(cap, room);
            let about = used.map_or_else(|| cap.about.to_owned(), |used| texts::with_used(cap.about, &used));
            row(ui, cap.label, &about, theme, |ui| {
                let hint = if cap.unit == Unit::Dollars { texts::NO_LIMIT_IN_DOLLARS } else { texts::NO_LIMIT };
                let current = format_number(&now[cap.key], cap.unit);
                let field = NumberField { section: "budget", key: cap.key, label: cap.label, hint, current };
                let read = |text: &str| cap_value(text, cap.unit, cap.key);
                commands.extend(field.show(ui, theme, own, read));
                scene_override_ui(ui, cx, &[&format!("budget.{}", cap.key)]);
            });
        }
    }
}

fn format_number(value: &Value, unit: Unit) -> String {
    match (value.as_f64(), unit) {
        (None, _) => String::new(),
        (Some(usd), Unit::Dollars) if (usd * 100.0).fract() == 0.0 => format!("{usd:.2}"),
        _ => value.to_string(),
    }
}

/// Returns the usage that counts towards a cap of the run.
fn usage_of(cap: &CapRow, room: &RoomModel) -> Option<String> {
    let SettingsView { outside, .. } = &room.settings;
    match cap.key {
        "cost_per_run_usd" => Some(text_format::cost(&room.spent)),
        "tokens_per_run" => Some(text_format::compact(room.spent.tokens)),
        "outside_tokens_per_run" => Some(text_format::compact(outside.tokens)),
        "unpriced_tokens_per_run" => Some(text_format::compact(room.spent.unpriced_tokens)),
        "calls_per_run" => Some(room.spent.calls.to_string()),
        _ => None,
    }
}

fn appearance_ui(ui: &mut Ui, cx: &ViewerContext<'_>, commands: &mut Vec<Command>) {
    let (theme, look) = (cx.theme, cx.ui.appearance.look);
    let mut send = |command: WindowCommand| commands.push(command.into());
    group(ui, texts::APPEARANCE, texts::APPEARANCE_ABOUT, theme);
    row(ui, texts::THEME, texts::THEME_ABOUT, theme, |ui| {
        let lights = [ThemeChoice::System, ThemeChoice::Day, ThemeChoice::Evening];
        let choices =
            [(texts::SYSTEM, texts::SYSTEM_NAME), (texts::LIGHT, texts::LIGHT_NAME), (texts::DARK, texts::DARK_NAME)]
                .map(|(shown, name)| (shown.to_owned(), name.to_owned()));
        let chosen = lights.iter().position(|light| *light == look.light);
        if let Some(index) = widgets::segments(ui, &choices, chosen, theme) {
            send(WindowCommand::SetLight(lights[index]));
        }
    });
    row(ui, texts::TEXT_SIZE, texts::TEXT_SIZE_ABOUT, theme, |ui| {
        ui.horizontal(|ui| {
            for (shown, label, steps) in [("−", texts::SMALLER_TEXT, -1), ("+", texts::LARGER_TEXT, 1)] {
                let button = ui.button(shown);
                widgets::name(&button, label);
                if button.clicked() {
                    send(WindowCommand::StepTextSize(steps));
                }
            }
            ui.label(texts::percent(look.text_size));
            if look.text_size != 1.0 && ui.button(texts::RESET).clicked() {
                send(WindowCommand::ResetTextSize);
            }
        });
    });
    row(ui, texts::DATES, texts::DATES_ABOUT, theme, |ui| {
        let now = DateLanguage::ALL.into_iter().find(|(language, _)| *language == look.dates);
        let shown = now.map_or("", |(_, name)| name);
        menu::drop_down(ui, texts::LANGUAGE_OF_DATES, shown, MENU[0], theme, |ui| {
            for (language, name) in DateLanguage::ALL {
                if menu::choice(ui, language == look.dates, name).clicked() {
                    send(WindowCommand::SetDates(language));
                }
            }
        });
    });
    row(ui, texts::MOVEMENT, texts::MOVEMENT_ABOUT, theme, |ui| {
        if widgets::switch(ui, look.calm, texts::REDUCE_MOTION, theme).clicked() {
            send(WindowCommand::SetCalm(!look.calm));
        }
    });
}

#[cfg(test)]
#[path = "settings_tests.rs"]
mod tests;
