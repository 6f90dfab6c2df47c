//! Metadata of a session's messages besides their text.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::base::text::truncate;
use crate::tools::{ToolImage, ToolOutput};

/// The maximum size in bytes of one result's data that is kept with the session.
const MAX_DATA_BYTES: usize = 64 * 1024;
/// The maximum size in bytes of one result's attachments. It is limited because a session is always written whole.
const MAX_RESULT_BYTES: usize = 1024 * 1024;
/// The maximum number of characters of thoughts kept for one message.
const MAX_THOUGHT_CHARS: usize = 20_100;
/// The maximum size in bytes of all attachments of a session.
pub(super) const MAX_ATTACHED_BYTES: usize = 4 * 1024 * 1024;

/// Metadata of a message: its time and usage.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct MessageNote {
    /// The tick at which the message arrived.
    pub tick: u64,
    /// The simulated date of its arrival in seconds, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_secs: Option<i64>,
    /// The model and usage, for a model's reply.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reply: Option<ReplyNote>,
    /// The content of a tool result other than text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attached: Option<Box<Attached>>,
}

/// The data and images of a tool result, as far as they are kept with the session.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Attached {
    /// The result's structured data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
    /// The result's images.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<ToolImage>,
    /// Descriptions of the content that was too large to keep.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
}

impl Attached {
    /// The attachments of a result; `None` if it has only text. `room_bytes` is the remaining attachment capacity of
    /// the session.
    pub fn of(output: &ToolOutput, room_bytes: usize) -> Option<Box<Self>> {
        let mut attached = Self::default();
        let mut room = room_bytes.min(MAX_RESULT_BYTES);
        if let Some(data) = &output.data {
            let bytes = data.to_string().len();
            if bytes <= room.min(MAX_DATA_BYTES) {
                room -= bytes;
                attached.data = Some(data.clone());
            } else {
                attached.left_out.push(format!("data of {bytes} bytes"));
            }
        }
        for image in &output.images {
            let bytes = image.base64.len();
            if bytes <= room {
                room -= bytes;
                attached.images.push(image.clone());
            } else {
                attached.left_out.push(format!("an image ({}) of {bytes} bytes in base64", image.media_type));
            }
        }
        (attached != Self::default()).then(|| Box::new(attached))
    }

    /// Merges the attachments of one message.
    fn together(one: Option<Box<Self>>, other: Option<Box<Self>>) -> Option<Box<Self>> {
        match (one, other) {
            (Some(mut one), Some(other)) => {
                let Self { data, images, left_out } = *other;
                one.data = data.or(one.data);
                one.images.extend(images);
                one.left_out.extend(left_out);
                Some(one)
            }
            (one, other) => one.or(other),
        }
    }

    /// The size of the attachments in bytes.
    pub fn bytes(&self) -> usize {
        let data = self.data.as_ref().map_or(0, |data| data.to_string().len());
        data + self.images.iter().map(|image| image.base64.len()).sum::<usize>()
    }
}

/// Joins the thoughts of one message, up to the maximum length.
fn joined(earlier: &str, later: &str) -> String {
    let both = [earlier, later].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n");
    truncate(&both, MAX_THOUGHT_CHARS)
}

/// The model and usage of a reply.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ReplyNote {
    /// The provider and model that replied, such as `openai:gpt-x`.
    pub model: String,
    /// The wall clock time of the reply in milliseconds since 1970; `None` for replies in simulated time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_ms: Option<u64>,
    /// The number of input tokens.
    pub tokens_in: u64,
    /// The number of input tokens that were read from the provider's cache.
    pub cached_tokens: u64,
    /// The number of output tokens.
    pub tokens_out: u64,
    /// The cost of all attempts in millionths of a dollar.
    pub cost_micro_usd: u64,
    /// The number of tokens whose price is unknown.
    pub unpriced_tokens: u64,
    /// The thoughts reported by a coding agent, which are shown to people but not sent to models.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub thought: String,
    /// The images of the reply, until the note of its message is created.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attached: Option<Box<Attached>>,
}

impl ReplyNote {
    /// Adds the usage of two replies. The model and time are those of the later one.
    pub(super) fn plus(&self, later: &Self) -> Self {
        Self {
            model: later.model.clone(),
            at_ms: later.at_ms,
            tokens_in: self.tokens_in.saturating_add(later.tokens_in),
            cached_tokens: self.cached_tokens.saturating_add(later.cached_tokens),
            tokens_out: self.tokens_out.saturating_add(later.tokens_out),
            cost_micro_usd: self.cost_micro_usd.saturating_add(later.cost_micro_usd),
            unpriced_tokens: self.unpriced_tokens.saturating_add(later.unpriced_tokens),
            thought: joined(&self.thought, &later.thought),
            attached: Attached::together(self.attached.clone(), later.attached.clone()),
        }
    }

    /// The cost in dollars, if all of it is known.
    pub(super) fn cost_usd(&self) -> Option<f64> {
        (self.unpriced_tokens == 0).then(|| self.cost_micro_usd as f64 / 1e6)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn image(bytes: usize) -> ToolImage {
        ToolImage { media_type: "image/png".into(), base64: "x".repeat(bytes) }
    }

    #[test]
    fn attachments_are_kept_as_far_as_they_fit_and_the_rest_is_described() {
        assert_eq!(Attached::of(&ToolOutput { text: "words".into(), ..ToolOutput::default() }, 1_000), None);
        let output = ToolOutput {
            data: Some(json!({ "sum": 5 })),
            images: vec![image(100), image(2_000), image(100)],
            ..ToolOutput::default()
        };
        let kept = Attached::of(&output, 1_000).expect("there is something");
        assert_eq!((kept.data.as_ref(), kept.images.len()), (output.data.as_ref(), 2));
        assert_eq!(kept.left_out, ["an image (image/png) of 2000 bytes in base64"]);
        assert_eq!(kept.bytes(), 200 + "{\"sum\":5}".len());
        let long = ToolOutput { data: Some("x".repeat(MAX_DATA_BYTES).into()), ..ToolOutput::default() };
        assert!(Attached::of(&long, usize::MAX).is_some_and(|kept| kept.data.is_none() && kept.left_out.len() == 1));
    }
}
