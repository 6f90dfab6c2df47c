//! The parts of a prompt, coloured by source.

use egui::{Color32, CornerRadius, Frame, Margin, RichText, Sense, Ui, vec2};

use super::texts;
use crate::base::hash::content_hash;
use crate::base::text;
use crate::mind::parts::{CURRENT_REQUEST, label as label_of};
use crate::mind::{Prompt, PromptOrigin};
use crate::ui::widgets;
use crate::ui::widgets::text_format;
use crate::view::model::RoomModel;
use crate::view::theme::{MARK_RADIUS, RADIUS, SPACE, TYPE, Theme};

/// The maximum number of characters of a part on screen; the log has the whole text.
const SHOWN_CHARS: usize = 3_000;

/// Returns the display name of the source of a part.
pub fn origin_label(room: &RoomModel, origin: &PromptOrigin) -> String {
    match &origin.element {
        Some(element) => {
            let label = room.element(element).map_or(&**element, |element| &element.label);
            format!("{} {label}", label_of(origin))
        }
        None => label_of(origin).to_owned(),
    }
}

/// Estimates the number of tokens of a prompt.
pub fn tokens(prompt: &Prompt) -> u64 {
    prompt.chars().div_ceil(4) as u64
}

/// A part of a prompt, ready to be drawn.
struct Part<'a> {
    origin: String,
    colour: Color32,
    text: &'a str,
}

/// Returns the parts of a prompt with their sources and colours.
fn parts<'a>(room: &RoomModel, prompt: &'a Prompt, history: &'a str, theme: &Theme) -> Vec<Part<'a>> {
    let moment = PromptOrigin::of(CURRENT_REQUEST);
    let part = |origin: &PromptOrigin, text: &'a str| Part {
        origin: origin_label(room, origin),
        colour: colour(hue(origin), theme),
        text,
    };
    let mut parts: Vec<Part> =
        prompt.system.iter().chain(&prompt.known).map(|one| part(&one.origin, &one.text)).collect();
    if !history.is_empty() {
        let origin = texts::session_so_far(prompt.history.len());
        parts.push(Part { origin, colour: colour(HISTORY_HUE, theme), text: history });
    }
    parts.extend(prompt.now.iter().map(|one| part(&one.origin, &one.text)));
    // The current request is empty if the session ends with the message to be answered.
    if !prompt.moment.is_empty() || parts.is_empty() {
        parts.push(part(&moment, &prompt.moment));
    }
    parts
}

fn history(prompt: &Prompt) -> String {
    prompt.history.iter().map(|message| message.text.as_str()).collect::<Vec<_>>().join("\n\n")
}

/// Draws a prompt: a bar with the shares of its parts, then each part.
pub fn prompt_parts(ui: &mut Ui, room: &RoomModel, prompt: &Prompt, theme: &Theme) {
    let history = history(prompt);
    let parts = parts(room, prompt, &history, theme);
    share_bar(ui, &parts);
    for one in &parts {
        part(ui, one, theme);
    }
    for left in &prompt.left_out {
        let words = texts::left_out(label_of(&left.origin), &left.why);
        ui.label(RichText::new(words).size(TYPE[0]).color(theme.text_soft));
    }
}

/// Draws the legend of sources with their shares of the prompt.
pub fn legend(ui: &mut Ui, room: &RoomModel, prompt: &Prompt, theme: &Theme) {
    let history = history(prompt);
    let parts = parts(room, prompt, &history, theme);
    let total: usize = parts.iter().map(|part| part.text.len()).sum::<usize>().max(1);
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = vec2(SPACE[0], 3.0);
        ui.spacing_mut().interact_size.y = 18.0;
        for part in &parts {
            let share = (part.text.len() * 100).div_ceil(total);
            widgets::badge(ui, &format!("{}, {share} %", part.origin), part.colour, theme);
        }
    });
}

/// The number of hues on the colour circle.
const HUES: u32 = 16;
/// The hue of the session history.
const HISTORY_HUE: u32 = 13;

/// The hues of built-in parts: parts that often occur together are far apart.
const HUE_OF_PART: [(&str, u32); 15] = [
    ("standing_instructions", 0),
    ("guide", 14),
    ("profile", 5),
    ("surroundings", 10),
    ("abilities", 2),
    ("summary", 7),
    ("notes", 12),
    ("interactions", 4),
    ("environment", 9),
    ("kept_pins", 1),
    ("board", 6),
    ("mail", 11),
    ("feedback", 3),
    ("desk", 15),
    (CURRENT_REQUEST, 8),
];

/// Returns the hue of a source. Other parts get a hue by the hash of their name.
fn hue(origin: &PromptOrigin) -> u32 {
    let own = HUE_OF_PART.iter().find(|(word, _)| *word == &*origin.from);
    own.map_or_else(|| (content_hash(origin.from.as_bytes()) % u64::from(HUES)) as u32, |(_, hue)| *hue)
}

/// Returns the colour of a hue.
fn colour(hue: u32, theme: &Theme) -> Color32 {
    let hue = hue as f32 / HUES as f32;
    widgets::mix(egui::epaint::Hsva::new(hue, 0.55, 0.85, 1.0).into(), theme.text, 0.12)
}

fn share_bar(ui: &mut Ui, parts: &[Part]) {
    let (bar, _) = ui.allocate_exact_size(vec2(ui.available_width(), 8.0), Sense::hover());
    let total: usize = parts.iter().map(|part| part.text.len()).sum::<usize>().max(1);
    let mut left = bar.left();
    for part in parts {
        let width = bar.width() * part.text.len() as f32 / total as f32;
        let share = egui::Rect::from_min_size(egui::pos2(left, bar.top()), vec2((width - 1.0).max(0.5), bar.height()));
        ui.painter().rect_filled(share, CornerRadius::same(MARK_RADIUS), part.colour);
        left += width;
    }
}

fn part(ui: &mut Ui, part: &Part, theme: &Theme) {
    let Part { origin, colour, text: words } = part;
    let colour = *colour;
    let frame = Frame::new()
        .fill(widgets::mix(theme.card, colour, 0.10))
        .corner_radius(CornerRadius::same(RADIUS[0]))
        .inner_margin(Margin { left: SPACE[2] as i8, right: SPACE[1] as i8, top: 6, bottom: 6 });
    let shown = frame.show(ui, |ui| {
        ui.set_min_width(ui.available_width());
        ui.spacing_mut().item_spacing.y = 2.0;
        let size = text_format::compact(u64::from(text::estimate_tokens(words)));
        ui.label(RichText::new(texts::part_size(origin, &size)).size(TYPE[0]).color(theme.text_soft));
        widgets::long_text(ui, origin, words, SHOWN_CHARS, |ui, words| {
            ui.add(egui::Label::new(RichText::new(words).size(TYPE[0]).color(theme.text)).wrap());
        });
    });
    let rect = shown.response.rect;
    let strip = egui::Rect::from_min_size(rect.min, vec2(4.0, rect.height()));
    ui.painter().rect_filled(strip, CornerRadius { nw: RADIUS[0], sw: RADIUS[0], ne: 0, se: 0 }, colour);
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::view::theme::{DARK, LIGHT, contrast};

    #[test]
    fn every_source_has_its_own_legible_colour() {
        let own = HUE_OF_PART.map(|(word, _)| PromptOrigin::of(word));
        let hues: BTreeSet<u32> = own.iter().map(hue).chain([HISTORY_HUE]).collect();
        assert_eq!(hues.len() as u32, HUES);
        for (theme, hue) in [LIGHT, DARK].into_iter().flat_map(|theme| (0..HUES).map(move |hue| (theme, hue))) {
            let background = widgets::mix(theme.card, colour(hue, &theme), 0.10);
            assert!(contrast(theme.text_soft, background) >= 4.5, "hue {hue}, dark={}", theme.dark);
        }
    }
}
