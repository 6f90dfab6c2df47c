//! The styles of tokens in a text, and their colours.

use egui::Color32;

use crate::ui::widgets::mix;
use crate::view::theme::Theme;

/// The style of a token.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum TokenStyle {
    #[default]
    Plain,
    Heading,
    Strong,
    Emphasis,
    Code,
    Link,
    Key,
    String,
    Number,
    Keyword,
    Type,
    Name,
    Comment,
    Markup,
    Invalid,
}

impl TokenStyle {
    #[cfg(test)]
    pub const ALL: [Self; 15] = [
        Self::Plain,
        Self::Heading,
        Self::Strong,
        Self::Emphasis,
        Self::Code,
        Self::Link,
        Self::Key,
        Self::String,
        Self::Number,
        Self::Keyword,
        Self::Type,
        Self::Name,
        Self::Comment,
        Self::Markup,
        Self::Invalid,
    ];

    /// Returns the colour, for a text on a card.
    pub fn colour(self, theme: &Theme) -> Color32 {
        let Theme { text, text_soft, accent, good, warn, bad, .. } = *theme;
        match self {
            Self::Plain => text,
            Self::Heading | Self::Key => accent,
            Self::Strong => mix(text, accent, 0.55),
            Self::Emphasis => mix(text, accent, 0.35),
            Self::Code | Self::String => good,
            Self::Link => mix(good, accent, 0.45),
            Self::Number => warn,
            Self::Keyword => mix(bad, accent, 0.35),
            Self::Type => mix(good, warn, 0.5),
            Self::Name => mix(text, warn, 0.6),
            Self::Comment => text_soft,
            Self::Markup => mix(text_soft, accent, 0.5),
            Self::Invalid => bad,
        }
    }
}
