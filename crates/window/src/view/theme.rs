//! Colours, spacing, radii and font sizes: the only place that defines them.

use egui::{Color32, Stroke, Style, Visuals};

use crate::simulation::State;

/// Spacing in points, small to large.
pub const SPACE: [f32; 5] = [4.0, 8.0, 12.0, 16.0, 24.0];
/// Corner radii of rows and fields, of cards, and of bubbles.
pub const RADIUS: [u8; 3] = [5, 10, 14];
/// Corner radius of buttons.
pub const BUTTON_RADIUS: u8 = 7;
/// Corner radius of marks: strips, bars and small squares.
pub const MARK_RADIUS: u8 = 2;
/// Line widths in points: of edges, of highlights, and of focus or drag outlines.
pub const LINE: [f32; 3] = [1.0, 1.5, 2.0];
/// Font sizes in points: small, body, heading, title.
pub const TYPE: [f32; 4] = [11.0, 13.0, 16.0, 21.0];

/// Menu widths in points: for short words, for commands with shortcuts, for texts.
pub const MENU: [f32; 3] = [150.0, 240.0, 340.0];
/// Dialog widths in points: for a question, a form, a list, a long text.
pub const DIALOG: [f32; 4] = [400.0, 560.0, 640.0, 960.0];

/// Sizes of the approval card, in points.
pub struct ApprovalSizes {
    /// Width beside the asking agent.
    pub width: f32,
    /// Height of the scope selection.
    pub scope: f32,
    /// Width of each answer button.
    pub button: f32,
    /// Height of each answer button.
    pub row: f32,
}

/// The sizes of the approval card.
pub const APPROVAL: ApprovalSizes = ApprovalSizes { width: 380.0, scope: 30.0, button: 84.0, row: 28.0 };

/// The colours of one theme. Text has a contrast of at least 4.5 : 1 on its background, which a test checks.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Theme {
    /// Whether this is the dark theme.
    pub dark: bool,
    /// Background of panels.
    pub panel: Color32,
    /// Background of cards and fields.
    pub card: Color32,
    /// Separators.
    pub line: Color32,
    /// Text.
    pub text: Color32,
    /// Secondary text.
    pub text_soft: Color32,
    /// Selection and call to action.
    pub accent: Color32,
    /// Text on the accent colour.
    pub on_accent: Color32,
    /// Success.
    pub good: Color32,
    /// Warning.
    pub warn: Color32,
    /// Failure.
    pub bad: Color32,
    /// The floor.
    pub floor: Color32,
    /// Joints of the floor.
    pub floor_seam: Color32,
    /// Shadows on the floor.
    pub shadow: Color32,
    /// Background of bubbles.
    pub bubble: Color32,
    /// Text in bubbles and labels in the room.
    pub bubble_text: Color32,
}

/// A colour from its hexadecimal digits.
pub const fn rgb(hex: u32) -> Color32 {
    Color32::from_rgb((hex >> 16) as u8, (hex >> 8) as u8, hex as u8)
}

/// The light theme: warm paper and light wood.
pub const LIGHT: Theme = Theme {
    dark: false,
    panel: rgb(0xfb_f8f3),
    card: rgb(0xff_ffff),
    line: rgb(0xe2_d9cc),
    text: rgb(0x2b_2521),
    text_soft: rgb(0x6b_6056),
    accent: rgb(0x8a_4b1f),
    on_accent: rgb(0xff_ffff),
    good: rgb(0x1f_7a4a),
    warn: rgb(0x8a_5a00),
    bad: rgb(0xb3_2d26),
    floor: rgb(0xe6_d3b8),
    floor_seam: rgb(0xd8_c2a3),
    shadow: Color32::from_black_alpha(46),
    bubble: rgb(0xff_fdf9),
    bubble_text: rgb(0x2b_2521),
};

/// The dark theme: dark wood and lamplight.
pub const DARK: Theme = Theme {
    dark: true,
    panel: rgb(0x22_1e1b),
    card: rgb(0x2d_2824),
    line: rgb(0x45_3d36),
    text: rgb(0xf3_ebe0),
    text_soft: rgb(0xbe_b0a0),
    accent: rgb(0xf2_a65a),
    on_accent: rgb(0x2b_1a0c),
    good: rgb(0x6f_cf97),
    warn: rgb(0xf2_c94c),
    bad: rgb(0xff_8a80),
    floor: rgb(0x47_3b32),
    floor_seam: rgb(0x3b_3129),
    shadow: Color32::from_black_alpha(110),
    bubble: rgb(0x38_312c),
    bubble_text: rgb(0xf7_f0e6),
};

impl Theme {
    /// The dark or the light theme.
    pub fn of(dark: bool) -> Self {
        if dark { DARK } else { LIGHT }
    }

    /// Applies the theme to the widgets of a context.
    pub fn apply(&self, context: &egui::Context) {
        let mut visuals = if self.dark { Visuals::dark() } else { Visuals::light() };
        visuals.panel_fill = self.panel;
        visuals.window_fill = self.panel;
        visuals.extreme_bg_color = self.card;
        visuals.faint_bg_color = self.card;
        visuals.override_text_color = Some(self.text);
        visuals.hyperlink_color = self.accent;
        // Hint text: the default of `egui` is too faint to be legible.
        visuals.weak_text_color = Some(self.text_soft);
        visuals.selection.bg_fill = self.accent.gamma_multiply(0.35);
        visuals.selection.stroke = Stroke::new(LINE[0], self.accent);
        visuals.widgets.noninteractive.bg_stroke = Stroke::new(LINE[0], self.line);
        visuals.widgets.inactive.weak_bg_fill = self.card;
        visuals.widgets.inactive.bg_fill = self.card;
        visuals.widgets.inactive.bg_stroke = Stroke::new(LINE[0], self.field_line());
        visuals.window_stroke = Stroke::new(LINE[0], self.line);
        visuals.window_corner_radius = RADIUS[1].into();
        let widgets = &mut visuals.widgets;
        for widget in [&mut widgets.inactive, &mut widgets.hovered, &mut widgets.active, &mut widgets.open] {
            widget.corner_radius = BUTTON_RADIUS.into();
        }
        let theme = if self.dark { egui::Theme::Dark } else { egui::Theme::Light };
        let mut style = Style { visuals, ..(*context.style_of(theme)).clone() };
        style.spacing.item_spacing = egui::vec2(SPACE[1], 6.0);
        style.spacing.button_padding = egui::vec2(SPACE[1], SPACE[0]);
        for (text_style, size) in [
            (egui::TextStyle::Small, TYPE[0]),
            (egui::TextStyle::Body, TYPE[1]),
            (egui::TextStyle::Button, TYPE[1]),
            (egui::TextStyle::Monospace, TYPE[1] - 1.0),
            (egui::TextStyle::Heading, TYPE[2]),
        ] {
            if let Some(font) = style.text_styles.get_mut(&text_style) {
                font.size = size;
            }
        }
        if let Some(font) = style.text_styles.get_mut(&egui::TextStyle::Heading) {
            font.family = super::text::fonts::strong_family(context);
        }
        context.set_style_of(theme, style);
        context.set_theme(theme);
    }
}

/// Background of the person's own notes.
pub const OWN_NOTE: Color32 = rgb(0xf4_c93c);
/// Top of a wall, its side, and the edge between them.
pub const WALL: [Color32; 3] = [rgb(0xb9_a58c), rgb(0x8f_7b64), rgb(0x7a_6855)];
/// Flag of an inbox.
pub const FLAG: Color32 = rgb(0xd0_4a3c);
/// Shadow of a card on a task board.
pub const CARD_SHADOW: Color32 = Color32::from_black_alpha(36);
/// Chalk strokes that stand for text on a message board.
pub const CHALK: Color32 = rgb(0xdf_e8ee);
/// Chalk text.
pub const CHALK_TEXT: Color32 = rgb(0xf2_f5f0);
/// Lines of writing in a rulebook.
pub const BOOK_INK: Color32 = rgb(0x7a_6855);
/// The grey that paused agents fade to.
pub const FADED: Color32 = rgb(0x96_98a5);

impl Theme {
    /// The focus ring, visible on every background of the window (3 : 1, WCAG 1.4.11).
    pub fn focus_ring(&self) -> Stroke {
        Stroke::new(LINE[2], self.accent)
    }

    /// The ambient light on furniture and figures.
    pub fn room_light(&self) -> Color32 {
        if self.dark { rgb(0xe4_d1c0) } else { Color32::WHITE }
    }

    /// Edge of the rings under figures, visible on every floor whatever the ring's colour (3 : 1, WCAG 1.4.11).
    pub fn ring_edge(&self) -> Color32 {
        if self.dark { self.text } else { Color32::BLACK }
    }

    /// Edge of fields and buttons, with a contrast of at least 3 : 1 to the adjacent colour (WCAG 2.2, 1.4.11).
    pub fn field_line(&self) -> Color32 {
        self.card.lerp_to_gamma(self.text_soft, if self.dark { 0.68 } else { 0.75 })
    }

    /// Resting agents in a crowd, when zoomed out.
    pub fn at_rest(&self) -> Color32 {
        if self.dark { rgb(0x94_8d86) } else { rgb(0xa9_a198) }
    }

    /// The ambient light on rugs, which lie lower.
    pub fn rug_light(&self) -> Color32 {
        if self.dark { rgb(0xc8_b2a0) } else { Color32::WHITE }
    }

    /// The wood of frames.
    pub fn wood(&self) -> Color32 {
        if self.dark { rgb(0x5a_4330) } else { rgb(0xa8_7b4f) }
    }

    /// The colours of chalk on slate.
    pub fn slate(&self) -> Self {
        Self {
            panel: rgb(0x2b_3a38),
            card: rgb(0x24_3230),
            line: rgb(0x54_6663),
            text: CHALK_TEXT,
            text_soft: rgb(0xb9_c9c4),
            accent: rgb(0xf6_d58a),
            on_accent: rgb(0x1c_2625),
            ..DARK
        }
    }

    /// The colours of a book page.
    pub fn page(&self) -> Self {
        if self.dark {
            return Self { panel: rgb(0x3b_332a), card: rgb(0x41_382e), line: rgb(0x5e_5242), ..DARK };
        }
        Self {
            panel: rgb(0xf6_ecd6),
            card: rgb(0xfb_f4e4),
            line: rgb(0xcf_bc97),
            text: rgb(0x33_2a1f),
            text_soft: rgb(0x5f_513f),
            good: rgb(0x1b_6b41),
            warn: rgb(0x7a_5000),
            ..LIGHT
        }
    }

    /// The colours of a pinboard.
    pub fn cork(&self) -> Self {
        if self.dark {
            return Self { panel: rgb(0x4a_3826), card: rgb(0x3a_2d20), line: rgb(0x6e_543a), ..DARK };
        }
        Self {
            panel: rgb(0xe3_c190),
            card: rgb(0xf7_ead2),
            line: rgb(0xb8_8f5a),
            text: rgb(0x2b_2118),
            text_soft: rgb(0x4d_3e2c),
            accent: rgb(0x72_3a12),
            good: rgb(0x14_5a33),
            warn: rgb(0x66_4200),
            bad: rgb(0x8f_1d17),
            ..LIGHT
        }
    }

    /// The colours of a task board.
    pub fn board(&self) -> Self {
        if self.dark {
            return Self { panel: rgb(0x2a_322e), card: rgb(0x36_403b), line: rgb(0x4c_5852), ..DARK };
        }
        Self {
            panel: rgb(0xe7_ede4),
            card: rgb(0xfd_fefb),
            line: rgb(0xc3_cec2),
            text_soft: rgb(0x53_5d55),
            good: rgb(0x1b_6b41),
            warn: rgb(0x7a_5000),
            bad: rgb(0xa5_2620),
            ..LIGHT
        }
    }

    /// Background and text colour of a note, from its author's colour.
    pub fn note(&self, author: Color32) -> [Color32; 2] {
        let paper = if self.dark { rgb(0xc9_bca6) } else { rgb(0xff_fbf0) };
        [paper.lerp_to_gamma(author, 0.3), LIGHT.text]
    }

    /// How much darker the edges of the view are than its centre.
    pub fn edge(&self) -> Color32 {
        Color32::from_black_alpha(if self.dark { 58 } else { 22 })
    }
}

/// The colour of a state: on rings, badges and in the overlay.
pub fn state_colour(state: State) -> Color32 {
    match state {
        State::Idle => rgb(0x63_66f1),
        State::Wandering => rgb(0x3b_82f6),
        State::Patrolling => rgb(0x8b_5cf6),
        State::Conversing => rgb(0x22_c55e),
        State::Cooldown => rgb(0xf9_7316),
        State::Dragged => rgb(0xfb_bf24),
        State::Heartbeat => rgb(0x67_e8f9),
        State::Reading => rgb(0xf5_9e0b),
        State::Working => rgb(0x14_b8a6),
        State::Waiting => rgb(0xec_4899),
        State::Paused => rgb(0x94_a3b8),
        State::Error => rgb(0xef_4444),
    }
}

/// The colour of a kind of element.
pub fn element_colour(kind: &str) -> Color32 {
    let [red, green, blue] = crate::element::kinds::kind(kind).map_or([0x6b, 0x60, 0x56], |kind| kind.colour);
    Color32::from_rgb(red, green, blue)
}

/// A colour derived from a word, always the same: ropes by label, pins by author.
pub fn word_colour(word: &str) -> Color32 {
    let hash = crate::base::hash::content_hash(word.as_bytes());
    let hue = (hash % 360) as f32 / 360.0;
    egui::epaint::Hsva::new(hue, 0.55, 0.85, 1.0).into()
}

/// Contrast ratio of two colours, from 1 to 21.
#[cfg(test)]
pub fn contrast(one: Color32, other: Color32) -> f32 {
    let luminance = |colour: Color32| {
        let linear = egui::Rgba::from(colour);
        0.2126 * linear.r() + 0.7152 * linear.g() + 0.0722 * linear.b()
    };
    let (one, other) = (luminance(one), luminance(other));
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_legible() {
        let objects = [LIGHT, DARK].map(|theme| [theme, theme.slate(), theme.page(), theme.cork(), theme.board()]);
        for theme in objects.into_iter().flatten() {
            for (what, text, ground) in [
                ("text", theme.text, theme.panel),
                ("text on cards", theme.text, theme.card),
                ("soft text", theme.text_soft, theme.panel),
                ("soft text on cards", theme.text_soft, theme.card),
                ("accent", theme.accent, theme.panel),
                ("on accent", theme.on_accent, theme.accent),
                ("good", theme.good, theme.panel),
                ("warn", theme.warn, theme.panel),
                ("bad", theme.bad, theme.panel),
                ("bubbles", theme.bubble_text, theme.bubble),
            ] {
                let contrast = contrast(text, ground);
                assert!(contrast >= 4.5, "{what} of dark={}: {contrast:.2}", theme.dark);
            }
        }
    }

    #[test]
    fn field_edges_are_visible() {
        let objects = [LIGHT, DARK].map(|theme| [theme, theme.slate(), theme.page(), theme.cork()]);
        for theme in objects.into_iter().flatten() {
            for ground in [theme.panel, theme.card] {
                let contrast = contrast(theme.field_line(), ground);
                assert!(contrast >= 3.0, "on {ground:?} of dark={}: {contrast:.2}", theme.dark);
            }
        }
    }

    #[test]
    fn notes_are_legible_for_every_author() {
        for theme in [LIGHT, DARK] {
            for author in ["ada-1", "bram-1", "cleo-1", "user", "x", "yes", "zoo"] {
                let [paper, ink] = theme.note(word_colour(author));
                assert!(contrast(ink, paper) >= 4.5, "{author}, dark={}", theme.dark);
            }
        }
    }

    #[test]
    fn every_state_has_its_own_colour() {
        let colours: std::collections::BTreeSet<[u8; 4]> =
            State::ALL.into_iter().map(|state| state_colour(state).to_array()).collect();
        assert_eq!(colours.len(), State::ALL.len());
    }
}
