//! The appearance of the window: its theme, the size of its text, and the format of dates.

use serde::{Deserialize, Serialize};

use crate::view::dates::{DateLanguage, Dates};

/// By what light the window is seen.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Light {
    /// As the system has it.
    #[default]
    System,
    /// Light.
    Day,
    /// Dark.
    Evening,
}

/// How a person wants the window to look.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct Look {
    /// Day or evening.
    pub light: Light,
    /// How large text and everything else is, against the usual.
    pub text_size: f32,
    /// Whether the interface moves as little as it can.
    pub calm: bool,
    /// The language of dates.
    pub dates: DateLanguage,
}

impl Default for Look {
    fn default() -> Self {
        Self { light: Light::System, text_size: 1.0, calm: false, dates: DateLanguage::English }
    }
}

impl Look {
    /// The smallest and the largest text.
    pub const TEXT_SIZES: std::ops::RangeInclusive<f32> = 0.8..=2.0;

    /// Makes text larger or smaller by steps of a tenth.
    pub fn step_text_size(&mut self, steps: i32) {
        self.set_text_size(self.text_size + steps as f32 * 0.1);
    }

    /// Sets the size of text, within what can be read, to a tenth.
    pub fn set_text_size(&mut self, size: f32) {
        let size = if size.is_finite() { (size * 10.0).round() / 10.0 } else { 1.0 };
        self.text_size = size.clamp(*Self::TEXT_SIZES.start(), *Self::TEXT_SIZES.end());
    }
}

/// How the window looks.
#[derive(Clone, Debug, Default)]
pub struct Appearance {
    /// How the person wants it to look.
    pub look: Look,
    /// How dates are written: the language is that of `look`.
    pub dates: Dates,
    is_dark: bool,
}

impl Appearance {
    /// The usual look, by this light until it is known what the system has.
    pub fn of(is_dark: bool) -> Self {
        Self { is_dark, ..Self::default() }
    }

    /// Whether the window is dark at this moment.
    pub fn is_dark(&self) -> bool {
        self.is_dark
    }

    /// The person chose a light.
    pub fn set_light(&mut self, light: Light) {
        self.look.light = light;
        self.follow_light(None);
    }

    /// The person wants the other light.
    pub fn toggle_light(&mut self) {
        self.set_light(if self.is_dark { Light::Day } else { Light::Evening });
    }

    /// Takes over what the system has, where the person leaves it to the system.
    pub fn follow_light(&mut self, system_is_dark: Option<bool>) {
        self.is_dark = match self.look.light {
            Light::Day => false,
            Light::Evening => true,
            Light::System => system_is_dark.unwrap_or(self.is_dark),
        };
    }
}
