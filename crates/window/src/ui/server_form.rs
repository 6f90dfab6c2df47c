//! The form of what an MCP server asks in the middle of a call: one field a line, as the server describes them.

use std::collections::BTreeMap;

use egui::{Label, Ui};
use serde_json::{Map, Value};

use crate::gateway::mcp::{FieldKind, FormField};
use crate::ui::widgets::{self, field, menu, small};
use crate::view::theme::{MENU, SPACE, Theme};

/// What a person has filled in so far, by field.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Filled(BTreeMap<String, String>);

impl Filled {
    /// As it is answered: what is empty is left out.
    pub fn values(&self) -> Map<String, Value> {
        let given = self.0.iter().filter(|(_, text)| !text.trim().is_empty());
        given.map(|(name, text)| (name.clone(), Value::from(text.as_str()))).collect()
    }
}

/// Draws the form.
pub fn form_ui(ui: &mut Ui, fields: &[FormField], filled: &mut Filled, theme: &Theme) {
    for one in fields {
        let usual = one.usual.as_ref().map(|usual| usual.as_str().map_or_else(|| usual.to_string(), str::to_owned));
        let text = filled.0.entry(one.name.clone()).or_insert_with(|| usual.unwrap_or_default());
        let mark = if one.required { "" } else { " (optional)" };
        ui.label(format!("{}{mark}", one.title));
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
                let shown = choices.iter().find(|(value, _)| *value == *text).map_or("Choose", |(_, shown)| shown);
                menu::drop_down(ui, &format!("Choose {}", one.title), shown, MENU[0], theme, |ui| {
                    for (value, shown) in choices {
                        if menu::choice(ui, *value == *text, shown).clicked() {
                            value.clone_into(text);
                        }
                    }
                });
            }
            FieldKind::Text { .. } | FieldKind::Number { .. } => {
                field(ui, text, &format!("Fill in {}", one.title), "");
            }
        }
        if let Err(why) = one.value(Some(&Value::from(text.as_str())))
            && !text.trim().is_empty()
        {
            ui.label(egui::RichText::new(format!("{}.", widgets::words::capitalised(&why))).color(theme.bad));
        }
        ui.add_space(SPACE[0]);
    }
}
