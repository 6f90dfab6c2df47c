//! Metadata of a session's messages besides their text.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::base::text::truncate;
use crate::tools::{ToolImage, ToolOutput};

/// Data of one result that is kept with its session, in bytes.
const DATA_BYTES_AT_MOST: usize = 64 * 1024;
/// What is kept of one result beside its words, in bytes: a session is written whole each time.
const RESULT_BYTES_AT_MOST: usize = 1024 * 1024;
/// Characters of thoughts that are kept of one message.
const THOUGHT_CHARS_AT_MOST: usize = 20_100;
/// What is kept of all results of a session beside their words, in bytes.
pub(super) const ATTACHED_BYTES_AT_MOST: usize = 4 * 1024 * 1024;

/// Metadata of a message: its time and usage.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct MessageNote {
    /// The tick in which it came.
    pub tick: u64,
    /// The date in the room then, in seconds, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_secs: Option<i64>,
    /// What the model took for it, where it is a model's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reply: Option<ReplyNote>,
    /// What a tool gave beside its words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attached: Option<Box<Attached>>,
}

/// The data and images of a tool result, as far as they are kept with the session.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Attached {
    /// The result as data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
    /// Images.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<ToolImage>,
    /// What is not kept, in words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
}

impl Attached {
    /// What is kept of a result with its session; nothing where there is nothing beside words. `room_bytes` is how much
    /// more the session may hold.
    pub fn of(output: &ToolOutput, room_bytes: usize) -> Option<Box<Self>> {
        let mut attached = Self::default();
        let mut room = room_bytes.min(RESULT_BYTES_AT_MOST);
        if let Some(data) = &output.data {
            let bytes = data.to_string().len();
            if bytes <= room.min(DATA_BYTES_AT_MOST) {
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

    /// Both, of one message.
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

    /// How much of a session it takes.
    pub fn bytes(&self) -> usize {
        let data = self.data.as_ref().map_or(0, |data| data.to_string().len());
        data + self.images.iter().map(|image| image.base64.len()).sum::<usize>()
    }
}

/// Thoughts one after the other, as far as they are kept for one message.
fn joined(earlier: &str, later: &str) -> String {
    let both = [earlier, later].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n");
    truncate(&both, THOUGHT_CHARS_AT_MOST)
}

/// The model and usage of a reply.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ReplyNote {
    /// Provider and model that answered: `openai:gpt-x`.
    pub model: String,
    /// When the answer came, in milliseconds of the wall clock since 1970; none where it came in simulated time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_ms: Option<u64>,
    /// Tokens of the question.
    pub tokens_in: u64,
    /// Those of them that the provider had kept.
    pub cached_tokens: u64,
    /// Tokens of the answer.
    pub tokens_out: u64,
    /// What it cost, with every try, in millionths of a dollar.
    pub cost_micro_usd: u64,
    /// Tokens of which nobody knows what they cost.
    pub unpriced_tokens: u64,
    /// What a coding agent told of its thoughts, for people: nobody is asked with it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub thought: String,
    /// Images of the answer, until the message is noted that they belong to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attached: Option<Box<Attached>>,
}

impl ReplyNote {
    /// Both together; the later one says who answered and when.
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

    /// The money, where all of it is known.
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
    fn what_is_beside_the_words_is_kept_as_far_as_there_is_room_and_the_rest_is_named() {
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
        let long = ToolOutput { data: Some("x".repeat(DATA_BYTES_AT_MOST).into()), ..ToolOutput::default() };
        assert!(Attached::of(&long, usize::MAX).is_some_and(|kept| kept.data.is_none() && kept.left_out.len() == 1));
    }
}
