//! The last prompt of an agent, each part coloured by where its words came from.

use egui::{Color32, CornerRadius, Frame, Margin, RichText, Sense, Ui, vec2};

use crate::base::text;
use crate::mind::Prompt;
use crate::mind::question::PromptOrigin;
use crate::ui::{kit, words};
use crate::view::model::RoomModel;
use crate::view::theme::{RADIUS, SPACE, TYPE, Theme, word_colour};

/// Longer parts are cut on screen; the log has them whole.
const SHOWN_CHARS: usize = 3_000;

/// Where the words of a part came from, for people.
pub fn origin_words(room: &RoomModel, origin: &PromptOrigin) -> String {
    match origin {
        PromptOrigin::StandingInstructions => "Rulebooks".into(),
        PromptOrigin::Profile => "Its file".into(),
        PromptOrigin::Surroundings => "Where it is and who is near".into(),
        PromptOrigin::Abilities => "What it can do".into(),
        PromptOrigin::Summary => "Its summary of earlier sessions".into(),
        PromptOrigin::Notes => "Its notes".into(),
        PromptOrigin::Interactions => "Whom it talked to".into(),
        PromptOrigin::Environment => "What it knows of elements".into(),
        PromptOrigin::KeptPins => "Pins it keeps".into(),
        PromptOrigin::Board { element } => {
            let label = room.element(element).map_or(&**element, |element| &element.label);
            format!("Message board {label}")
        }
        PromptOrigin::Mail => "Its mail".into(),
        PromptOrigin::Feedback => "What was refused last".into(),
        PromptOrigin::Moment => "What it is asked now".into(),
    }
}

/// Estimated tokens of everything that was sent.
pub fn tokens(prompt: &Prompt) -> u64 {
    prompt.chars().div_ceil(4) as u64
}

/// Where the words of each part came from, and the words.
fn parts<'a>(room: &RoomModel, prompt: &'a Prompt, history: &'a str) -> Vec<(String, &'a str)> {
    let system = prompt.system.iter().map(|part| (origin_words(room, &part.origin), part.text.as_str()));
    let mut parts: Vec<(String, &str)> = system.collect();
    if !history.is_empty() {
        let turns = words::count(prompt.history.len(), "message", "messages");
        parts.push((format!("The session so far, {turns}"), history));
    }
    // The moment is empty where the session so far ends with what is to be answered.
    if !prompt.moment.is_empty() || parts.is_empty() {
        parts.push((origin_words(room, &PromptOrigin::Moment), &prompt.moment));
    }
    parts
}

fn history(prompt: &Prompt) -> String {
    prompt.history.iter().map(|message| message.text.as_str()).collect::<Vec<_>>().join("\n\n")
}

/// Draws the prompt: the shares of its parts as a bar, then each part.
pub fn prompt_parts(ui: &mut Ui, room: &RoomModel, prompt: &Prompt, theme: &Theme) {
    let history = history(prompt);
    let parts = parts(room, prompt, &history);
    shares(ui, &parts, theme);
    for (origin, words_of_it) in &parts {
        part(ui, origin, words_of_it, theme);
    }
}

/// Which colour stands for which origin, and how much of the prompt came from there.
pub fn legend(ui: &mut Ui, room: &RoomModel, prompt: &Prompt, theme: &Theme) {
    let history = history(prompt);
    let parts = parts(room, prompt, &history);
    let total: usize = parts.iter().map(|(_, text)| text.len()).sum::<usize>().max(1);
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = vec2(SPACE[1], 2.0);
        for (origin, text) in &parts {
            let share = (text.len() * 100).div_ceil(total);
            kit::badge(ui, &format!("{origin}, {share} %"), colour(origin, theme), theme);
        }
    });
}

/// A colour for an origin that stays the same for all agents.
fn colour(origin: &str, theme: &Theme) -> Color32 {
    kit::mix(word_colour(origin), theme.text, 0.12)
}

fn shares(ui: &mut Ui, parts: &[(String, &str)], theme: &Theme) {
    let (bar, _) = ui.allocate_exact_size(vec2(ui.available_width(), 8.0), Sense::hover());
    let total: usize = parts.iter().map(|(_, text)| text.len()).sum::<usize>().max(1);
    let mut left = bar.left();
    for (origin, text) in parts {
        let width = bar.width() * text.len() as f32 / total as f32;
        let share = egui::Rect::from_min_size(egui::pos2(left, bar.top()), vec2((width - 1.0).max(0.5), bar.height()));
        ui.painter().rect_filled(share, CornerRadius::same(2), colour(origin, theme));
        left += width;
    }
}

fn part(ui: &mut Ui, origin: &str, words_of_it: &str, theme: &Theme) {
    let colour = colour(origin, theme);
    let frame = Frame::new()
        .fill(kit::mix(theme.card, colour, 0.10))
        .corner_radius(CornerRadius::same(RADIUS[0]))
        .inner_margin(Margin { left: SPACE[2] as i8, right: SPACE[1] as i8, top: 6, bottom: 6 });
    let shown = frame.show(ui, |ui| {
        ui.set_min_width(ui.available_width());
        ui.spacing_mut().item_spacing.y = 2.0;
        let size = words::compact(u64::from(text::estimate_tokens(words_of_it)));
        ui.label(RichText::new(format!("{origin}, {size} tokens")).size(TYPE[0]).color(theme.text_soft));
        let shown = text::truncate(words_of_it, SHOWN_CHARS);
        ui.add(egui::Label::new(RichText::new(shown).size(TYPE[0]).color(theme.text)).wrap());
    });
    let rect = shown.response.rect;
    let strip = egui::Rect::from_min_size(rect.min, vec2(4.0, rect.height()));
    ui.painter().rect_filled(strip, CornerRadius { nw: RADIUS[0], sw: RADIUS[0], ne: 0, se: 0 }, colour);
}
