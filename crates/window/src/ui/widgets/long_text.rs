//! Long texts: their beginning, which ends with "…", and a button that shows the whole.

use std::borrow::Cow;

use egui::{AsIdSalt, Ui};

use super::{name, texts};
use crate::base::text::truncate;

/// Draws a text with `draw`. If it has more than `max_chars` characters, draws its beginning at first, with a button that
/// shows the whole. `salt` distinguishes the text from others of the same parent.
pub fn long_text(ui: &mut Ui, salt: impl AsIdSalt, text: &str, max_chars: usize, draw: impl FnOnce(&mut Ui, &str)) {
    // A text has no more characters than bytes, so that most texts need no counting.
    let chars = if text.len() <= max_chars { 0 } else { text.chars().count() };
    if chars <= max_chars {
        return draw(ui, text);
    }
    let id = ui.id().with(("whole text", salt));
    let is_whole = ui.data(|data| data.get_temp::<bool>(id)).unwrap_or_default();
    let shown = if is_whole { Cow::Borrowed(text) } else { Cow::Owned(truncate(text, max_chars)) };
    draw(ui, &shown);
    let label = if is_whole { texts::SHOW_LESS.to_owned() } else { texts::show_all_characters(chars) };
    let button = ui.button(&label);
    name(&button, &label);
    if button.clicked() {
        ui.data_mut(|data| data.insert_temp(id, !is_whole));
    }
}

#[cfg(test)]
mod tests {
    use egui_kittest::Harness;
    use egui_kittest::kittest::Queryable;

    use super::*;

    #[test]
    fn a_long_text_is_shown_whole_on_request_and_a_short_one_at_once() {
        let mut window = Harness::new_ui(|ui| {
            long_text(ui, 1, "short", 6, |ui, text| drop(ui.label(text)));
            long_text(ui, 2, "one two three four", 8, |ui, text| drop(ui.label(text)));
        });
        window.get_by_label("short");
        window.get_by_label("one two…");
        window.get_by_label("Show all 18 characters").click();
        window.run();
        window.get_by_label("one two three four");
        window.get_by_label("Show less").click();
        window.run();
        window.get_by_label("one two…");
    }
}
