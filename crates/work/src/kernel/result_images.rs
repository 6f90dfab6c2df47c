//! Selects the images of tool results for a model request. A session keeps all images; a request contains the newest
//! ones if the model accepts images, and notes that the others are not shown.

use super::activation::Activation;
use super::core::Kernel;
use super::message_notes::MessageNote;
use crate::base::ActivationKey;
use crate::mind::{AgentImage, PromptMessage, ResultImages, Role};
use crate::tools::{ToolImage, result_text};

/// The maximum number of images in one request.
const MAX_SENT: usize = 4;
/// The note on an image that the model does not accept.
const NOT_TAKEN: &str = "not shown to this model";
/// The note on an image for which there is no room.
const OLDER: &str = "no longer shown";

fn of_tool(image: &ToolImage) -> AgentImage {
    AgentImage { media_type: image.media_type.clone(), base64: image.base64.clone() }
}

fn images(note: &MessageNote) -> &[ToolImage] {
    note.attached.as_ref().map_or(&[], |attached| &attached.images)
}

impl Kernel {
    /// The images of the latest results of a session. This is for coding agents, which remember earlier messages.
    pub(super) fn result_images(&self, one: &Activation) -> ResultImages {
        let Some(thread) = self.thread(one.thread) else { return ResultImages::default() };
        let of_message = |(message, note): (&PromptMessage, &MessageNote)| {
            let images: Vec<AgentImage> = images(note).iter().map(of_tool).collect();
            Some((message.answers.clone()?, images)).filter(|(_, images)| !images.is_empty())
        };
        let new = one.messages.iter().rposition(|message| message.role == Role::Assistant).map_or(0, |at| at + 1);
        let of_calls = one.messages.iter().zip(&thread.notes).skip(new).filter_map(of_message).collect();
        ResultImages { of_calls, kept_in: self.session_path(one) }
    }

    /// The session's messages as they are sent to the model, with images if it accepts them.
    pub(super) fn sent_messages(&self, one: &Activation, takes_images: bool) -> Vec<PromptMessage> {
        let notes = self.thread(one.thread).map_or(&[][..], |thread| &thread.notes);
        with_images(&one.messages, notes, takes_images && !one.is_without_images)
    }

    /// Records whether the current request contains images.
    pub(super) fn note_images_sent(&mut self, key: ActivationKey, sends_images: bool) {
        if let Some(activation) = self.activations.get_mut(&key) {
            activation.sends_images = sends_images;
        }
    }
}

/// Adds the newest images to their results if the model accepts images, and marks the others as not shown.
fn with_images(messages: &[PromptMessage], notes: &[MessageNote], takes_images: bool) -> Vec<PromptMessage> {
    let mut sent = messages.to_vec();
    let mut left = MAX_SENT;
    for (message, note) in sent.iter_mut().zip(notes).rev().filter(|(message, _)| message.role == Role::Tool) {
        for image in images(note).iter().rev() {
            let is_taken = takes_images && AgentImage::is_common(&image.media_type, &image.base64);
            if is_taken && left > 0 {
                left -= 1;
                message.images.insert(0, of_tool(image));
                continue;
            }
            let why = if is_taken { OLDER } else { NOT_TAKEN };
            let (named, unshown) = (result_text::image(image, ""), result_text::image(image, why));
            message.text = message.text.replacen(&named, &unshown, 1);
        }
    }
    sent
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::kernel::message_notes::Attached;
    use crate::mind::ToolCall;
    use crate::tools::ToolOutput;

    const PNG: &str = "iVBORw0KGgo=";

    fn image(media_type: &str) -> ToolImage {
        ToolImage { media_type: media_type.into(), base64: PNG.into() }
    }

    /// Creates a session with one result per list of images.
    fn session(results: &[Vec<ToolImage>]) -> (Vec<PromptMessage>, Vec<MessageNote>) {
        let mut messages = vec![PromptMessage::plain(Role::User, "Look.")];
        let mut notes = vec![MessageNote::default()];
        for images in results {
            // Some providers give every call the same id.
            let call = ToolCall::new("call#picture#0", "picture", json!({}));
            let output = ToolOutput { images: images.clone(), ..ToolOutput::default() };
            let attached = Attached::of(&output, usize::MAX);
            messages.push(PromptMessage::calls("", vec![call.clone()]));
            messages.push(PromptMessage::result(&call, result_text::output(&output, images)));
            notes.extend([MessageNote::default(), MessageNote { attached, ..MessageNote::default() }]);
        }
        (messages, notes)
    }

    fn results_of(sent: &[PromptMessage]) -> Vec<(usize, &str)> {
        let results = sent.iter().filter(|message| message.role == Role::Tool);
        results.map(|message| (message.images.len(), message.text.as_str())).collect()
    }

    #[test]
    fn the_newest_images_are_sent_and_older_ones_are_marked_as_not_shown() {
        let (messages, notes) = session(&[vec![image("image/png")], vec![image("image/png"); 4]]);
        let sent = with_images(&messages, &notes, true);
        let line = "[image: image/png, 1 KB]";
        let lines = [line; 4].join("\n");
        assert_eq!(results_of(&sent), [(0, "[image: image/png, 1 KB, no longer shown]"), (4, lines.as_str())]);
        assert_eq!(messages[2].text, line, "the session itself stays as it is");
    }

    #[test]
    fn images_that_a_model_does_not_accept_are_marked_as_not_shown() {
        let (messages, notes) = session(&[vec![image("image/png")]]);
        assert_eq!(
            results_of(&with_images(&messages, &notes, false)),
            [(0, "[image: image/png, 1 KB, not shown to this model]")]
        );
        let (messages, notes) = session(&[vec![image("image/svg+xml"), image("image/png")]]);
        let sent = with_images(&messages, &notes, true);
        let text = "[image: image/svg+xml, 1 KB, not shown to this model]\n[image: image/png, 1 KB]";
        assert_eq!(results_of(&sent), [(1, text)]);
    }

    #[test]
    fn messages_without_notes_have_no_images() {
        let (messages, _) = session(&[vec![image("image/png")]]);
        assert_eq!(with_images(&messages, &[], true), messages);
    }
}
