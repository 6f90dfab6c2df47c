//! The appearance of the window: its theme, the text size, and the format of dates.

use serde::{Deserialize, Serialize};

use crate::view::dates::{DateLanguage, Dates};

/// The theme of the window.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ThemeChoice {
    /// The theme of the operating system.
    #[default]
    System,
    /// The light theme.
    Day,
    /// The dark theme.
    Evening,
}

/// The person's preferences for the appearance of the window.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct AppearancePreferences {
    /// The theme.
    pub light: ThemeChoice,
    /// The scale of text and everything else; 1.0 is the default.
    pub text_size: f32,
    /// Whether motion is reduced.
    pub calm: bool,
    /// The language of dates.
    pub dates: DateLanguage,
}

impl Default for AppearancePreferences {
    fn default() -> Self {
        Self { light: ThemeChoice::System, text_size: 1.0, calm: false, dates: DateLanguage::English }
    }
}

impl AppearancePreferences {
    /// The range of text sizes.
    pub const TEXT_SIZES: std::ops::RangeInclusive<f32> = 0.8..=2.0;

    /// Changes the text size by steps of 0.1.
    pub fn step_text_size(&mut self, steps: i32) {
        self.set_text_size(self.text_size + steps as f32 * 0.1);
    }

    /// Sets the text size, rounded to 0.1 and clamped to [`Self::TEXT_SIZES`].
    pub fn set_text_size(&mut self, size: f32) {
        let size = if size.is_finite() { (size * 10.0).round() / 10.0 } else { 1.0 };
        self.text_size = size.clamp(*Self::TEXT_SIZES.start(), *Self::TEXT_SIZES.end());
    }
}

/// The current appearance of the window.
#[derive(Clone, Debug, Default)]
pub struct Appearance {
    /// The person's preferences.
    pub look: AppearancePreferences,
    /// The format of dates, in the language of `look`.
    pub dates: Dates,
    is_dark: bool,
}

impl Appearance {
    /// Returns the default look; `is_dark` applies until the theme of the system is known.
    pub fn of(is_dark: bool) -> Self {
        Self { is_dark, ..Self::default() }
    }

    /// Whether the window is currently dark.
    pub fn is_dark(&self) -> bool {
        self.is_dark
    }

    /// Sets the theme.
    pub fn set_light(&mut self, light: ThemeChoice) {
        self.look.light = light;
        self.follow_light(None);
    }

    /// Switches between light and dark.
    pub fn toggle_light(&mut self) {
        self.set_light(if self.is_dark { ThemeChoice::Day } else { ThemeChoice::Evening });
    }

    /// Follows the theme of the operating system if the preference is [`ThemeChoice::System`].
    pub fn follow_light(&mut self, system_is_dark: Option<bool>) {
        self.is_dark = match self.look.light {
            ThemeChoice::Day => false,
            ThemeChoice::Evening => true,
            ThemeChoice::System => system_is_dark.unwrap_or(self.is_dark),
        };
    }
}
