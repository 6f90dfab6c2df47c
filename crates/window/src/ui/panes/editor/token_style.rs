//! The kinds of tokens in a text, and the colour of each on a card.

use egui::Color32;

use crate::ui::widgets::mix;
use crate::view::theme::Theme;

/// What something in a text is.
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
    Text,
    Number,
    Word,
    Type,
    Name,
    Remark,
    Mark,
    Wrong,
}

impl TokenStyle {
    /// Every ink.
    #[cfg(test)]
    pub const ALL: [Self; 15] = [
        Self::Plain,
        Self::Heading,
        Self::Strong,
        Self::Emphasis,
        Self::Code,
        Self::Link,
        Self::Key,
        Self::Text,
        Self::Number,
        Self::Word,
        Self::Type,
        Self::Name,
        Self::Remark,
        Self::Mark,
        Self::Wrong,
    ];

    /// Its colour on a card.
    pub fn colour(self, theme: &Theme) -> Color32 {
        let Theme { text, text_soft, accent, good, warn, bad, .. } = *theme;
        match self {
            Self::Plain => text,
            Self::Heading | Self::Key => accent,
            Self::Strong => mix(text, accent, 0.55),
            Self::Emphasis => mix(text, accent, 0.35),
            Self::Code | Self::Text => good,
            Self::Link => mix(good, accent, 0.45),
            Self::Number => warn,
            Self::Word => mix(bad, accent, 0.35),
            Self::Type => mix(good, warn, 0.5),
            Self::Name => mix(text, warn, 0.6),
            Self::Remark => text_soft,
            Self::Mark => mix(text_soft, accent, 0.5),
            Self::Wrong => bad,
        }
    }
}
