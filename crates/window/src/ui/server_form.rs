//! The form for an elicitation of an MCP server during a call: the fields that the server describes, in columns where
//! there is space.

use std::collections::BTreeMap;

use egui::{Label, Ui};
use serde_json::{Map, Value};

use super::texts;
use crate::gateway::mcp::{FieldKind, FormField};
use crate::ui::widgets::{self, field, menu, small};
use crate::view::theme::{MENU, SPACE, Theme};

/// The values that the person has entered so far, by field name.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct FormValues(BTreeMap<String, String>);

impl FormValues {
    /// Returns the values as they are sent to the server, without empty ones.
    pub fn values(&self) -> Map<String, Value> {
        let entered = self.0.iter().filter(|(_, text)| !text.trim().is_empty());
        entered.map(|(name, text)| (name.clone(), Value::from(text.as_str()))).collect()
    }
}

/// The minimum width of a column, in points.
const FIELD_POINTS: f32 = 320.0;
/// The maximum number of columns.
const MAX_COLUMNS: usize = 3;

/// Draws the form.
pub fn form_ui(ui: &mut Ui, fields: &[FormField], values: &mut FormValues, theme: &Theme) {
    let columns = ((ui.available_width() / FIELD_POINTS) as usize).clamp(1, MAX_COLUMNS).min(fields.len().max(1));
    for row in fields.chunks(columns) {
        ui.columns(columns, |columns| {
            for (ui, one) in columns.iter_mut().zip(row) {
                field_ui(ui, one, values, theme);
            }
        });
    }
}

fn field_ui(ui: &mut Ui, one: &FormField, values: &mut FormValues, theme: &Theme) {
    let default = one.usual.as_ref().map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned));
    let text = values.0.entry(one.name.clone()).or_insert_with(|| default.unwrap_or_default());
    ui.label(texts::title_of_field(&one.title, one.required));
    if !one.about.is_empty() {
        ui.add(Label::new(small(&one.about, theme)).wrap());
    }
    match &one.kind {
        FieldKind::Flag => {
            let on = text == "true";
            if widgets::switch(ui, on, &one.title, theme).clicked() {
                *text = (!on).to_string();
            }
        }
        FieldKind::Choice { choices } => {
            let shown = choices.iter().find(|(value, _)| *value == *text).map_or(texts::CHOOSE, |(_, shown)| shown);
            menu::drop_down(ui, &texts::choose_for(&one.title), shown, MENU[0], theme, |ui| {
                for (value, shown) in choices {
                    if menu::choice(ui, *value == *text, shown).clicked() {
                        value.clone_into(text);
                    }
                }
            });
        }
        FieldKind::Text { .. } | FieldKind::Number { .. } => {
            field(ui, text, &texts::fill_in(&one.title), "");
        }
    }
    if let Err(why) = one.value(Some(&Value::from(text.as_str())))
        && !text.trim().is_empty()
    {
        ui.label(egui::RichText::new(format!("{}.", widgets::text_format::capitalised(&why))).color(theme.bad));
    }
    ui.add_space(SPACE[0]);
}
