//! The result of a call of an MCP server: text, data and images, bounded.

use rmcp::model::{ContentBlock, PromptMessage, ResourceContents, Role};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::super::peers::plain;

/// The maximum number of images of one result.
const MAX_IMAGES: usize = 8;
/// The maximum size of an image in characters of base64.
const MAX_IMAGE_CHARS: usize = 6 * 1024 * 1024;

/// Whether an image is kept in addition to this many others: it must name its type, and must not be too large.
pub(in crate::gateway) fn is_kept(media_type: &str, base64: &str, others: usize) -> bool {
    let is_image = media_type.starts_with("image/") && media_type.len() <= 64 && media_type.is_ascii();
    is_image && base64.len() <= MAX_IMAGE_CHARS && others < MAX_IMAGES
}

/// The result of a call.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct McpAnswer {
    /// The text.
    pub text: String,
    /// The structured data, if the server sent any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
    /// The images: media type, and bytes in base64.
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
    /// Creates a collector for at most this many characters.
    pub fn new(chars_at_most: usize) -> Self {
        Self { answer: McpAnswer::default(), chars: 0, chars_at_most, cut: 0 }
    }

    /// Adds a text as a paragraph of its own.
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
            return self.text("[an image was left out: it cannot be shown]");
        }
        self.answer.images.push((media_type.to_owned(), base64.to_owned()));
    }

    /// Adds data.
    pub fn data(&mut self, data: Value) {
        if data.to_string().len() > self.chars_at_most.saturating_mul(4) {
            return self.text("[data was left out: it is too long]");
        }
        self.answer.data = Some(data);
    }

    /// Adds a part of a result.
    pub(super) fn block(&mut self, block: &ContentBlock) {
        match block {
            ContentBlock::Text(text) => self.text(&text.text),
            ContentBlock::Image(image) => self.image(&image.mime_type, &image.data),
            ContentBlock::Resource(resource) => self.contents(&resource.resource),
            ContentBlock::ResourceLink(link) => self.text(&format!("[a resource: {}]", plain(&link.uri, 400))),
            ContentBlock::Audio(_) => self.text("[audio, which is not kept]"),
            _ => self.text("[content of an unsupported kind]"),
        }
    }

    /// Adds the contents of a resource.
    pub(super) fn contents(&mut self, contents: &ResourceContents) {
        match contents {
            ResourceContents::TextResourceContents { text, .. } => self.text(text),
            ResourceContents::BlobResourceContents { blob, mime_type, .. } => match mime_type.as_deref() {
                Some(kind) if kind.starts_with("image/") => self.image(kind, blob),
                _ => self.text("[binary data, which is not shown]"),
            },
            _ => self.text("[content of an unsupported kind]"),
        }
    }

    /// Adds a message of a prompt, with its role.
    pub(super) fn message(&mut self, message: &PromptMessage) {
        let role = match message.role {
            Role::User => "user",
            Role::Assistant => "assistant",
        };
        match &message.content {
            ContentBlock::Text(text) => self.text(&format!("{role}: {}", text.text)),
            other => {
                self.text(&format!("{role}:"));
                self.block(other);
            }
        }
    }

    /// Returns the result, with a note on how much was left out.
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
    fn a_result_is_kept_up_to_its_limit() {
        let mut collector = Collector::new(10);
        collector.text("ünïcode");
        collector.text("and more");
        collector.text("and no end");
        let answer = collector.done();
        assert_eq!(answer.text, "ünïcode\nand\n[… cut, 15 more characters]");
    }

    #[test]
    fn a_prompt_has_its_text_images_and_resources() {
        let bytes = "aGk=".repeat(1_000);
        let messages = json!([
            { "role": "user", "content": { "type": "text", "text": "Look:" } },
            { "role": "user", "content": { "type": "image", "mimeType": "image/png", "data": bytes } },
            { "role": "assistant", "content": { "type": "resource", "resource": { "uri": "a:b", "text": "a note" } } },
            { "role": "user", "content": { "type": "resource", "resource": { "uri": "a:c", "blob": bytes } } },
        ]);
        let messages: Vec<PromptMessage> = serde_json::from_value(messages).expect("they are messages");
        let mut collector = Collector::new(10_000);
        messages.iter().for_each(|message| collector.message(message));
        let answer = collector.done();
        assert_eq!(answer.text, "user: Look:\nuser:\nassistant:\na note\nuser:\n[binary data, which is not shown]");
        assert_eq!(answer.images, [("image/png".to_owned(), bytes)]);
    }

    #[test]
    fn images_and_data_are_kept_and_invalid_ones_are_not() {
        let mut collector = Collector::new(1_000);
        collector.image("image/png", "aGk=");
        collector.image("text/html", "aGk=");
        collector.image("image/png", &"x".repeat(MAX_IMAGE_CHARS + 1));
        collector.data(json!({ "celsius": 7 }));
        let answer = collector.done();
        assert_eq!(answer.images, [("image/png".to_owned(), "aGk=".to_owned())]);
        assert_eq!(answer.data, Some(json!({ "celsius": 7 })));
        assert_eq!(answer.text.matches("left out").count(), 2);
    }
}
