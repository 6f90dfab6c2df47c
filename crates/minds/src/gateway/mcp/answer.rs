//! The result of a call of an MCP server: text, data and images, bounded.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// How many images of one result are kept.
const IMAGES_AT_MOST: usize = 8;
/// No image is larger, in characters of base64.
const IMAGE_CHARS_AT_MOST: usize = 6 * 1024 * 1024;

/// Whether an image is kept in addition to this many others: it must name its type, and must not be too large.
pub(in crate::gateway) fn is_kept(media_type: &str, base64: &str, others: usize) -> bool {
    let is_image = media_type.starts_with("image/") && media_type.len() <= 64 && media_type.is_ascii();
    is_image && base64.len() <= IMAGE_CHARS_AT_MOST && others < IMAGES_AT_MOST
}

/// The result of a call.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct McpAnswer {
    /// In words.
    pub text: String,
    /// The same as data, where the server gave any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
    /// Images: what kind of image, and its bytes in base64.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<(String, String)>,
}

/// Collects a result within its limits.
#[derive(Debug)]
pub struct Collector {
    answer: McpAnswer,
    chars: usize,
    chars_at_most: usize,
    cut: usize,
}

impl Collector {
    /// One with room for so many characters.
    pub fn new(chars_at_most: usize) -> Self {
        Self { answer: McpAnswer::default(), chars: 0, chars_at_most, cut: 0 }
    }

    /// Adds words, as a paragraph of their own.
    pub fn text(&mut self, text: &str) {
        let room = self.chars_at_most.saturating_sub(self.chars);
        let kept = text.char_indices().nth(room).map_or(text, |(end, _)| &text[..end]);
        if !kept.is_empty() && !self.answer.text.is_empty() {
            self.answer.text.push('\n');
        }
        self.answer.text.push_str(kept);
        let all = text.chars().count();
        self.cut += all.saturating_sub(room);
        self.chars += all.min(room);
    }

    /// Adds an image.
    pub fn image(&mut self, media_type: &str, base64: &str) {
        if !is_kept(media_type, base64, self.answer.images.len()) {
            return self.text("[an image that cannot be shown is left out]");
        }
        self.answer.images.push((media_type.to_owned(), base64.to_owned()));
    }

    /// Adds data.
    pub fn data(&mut self, data: Value) {
        if data.to_string().len() > self.chars_at_most.saturating_mul(4) {
            return self.text("[data that is too long is left out]");
        }
        self.answer.data = Some(data);
    }

    /// What was collected, with how much was left out.
    pub fn done(mut self) -> McpAnswer {
        if self.cut > 0 {
            self.answer.text.push_str(&format!("\n[… cut, {} more characters]", self.cut));
        }
        self.answer
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_result_is_kept_as_far_as_there_is_room() {
        let mut collector = Collector::new(10);
        collector.text("ünïcode");
        collector.text("and more");
        collector.text("and no end");
        let answer = collector.done();
        assert_eq!(answer.text, "ünïcode\nand\n[… cut, 15 more characters]");
    }

    #[test]
    fn images_and_data_survive_and_what_is_none_does_not() {
        let mut collector = Collector::new(1_000);
        collector.image("image/png", "aGk=");
        collector.image("text/html", "aGk=");
        collector.image("image/png", &"x".repeat(IMAGE_CHARS_AT_MOST + 1));
        collector.data(json!({ "celsius": 7 }));
        let answer = collector.done();
        assert_eq!(answer.images, [("image/png".to_owned(), "aGk=".to_owned())]);
        assert_eq!(answer.data, Some(json!({ "celsius": 7 })));
        assert_eq!(answer.text.matches("left out").count(), 2);
    }
}
