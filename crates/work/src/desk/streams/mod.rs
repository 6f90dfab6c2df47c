//! Streams of messages from outside, `inbox/*.jsonl`: each line appended by others is delivered to an agent once, as
//! mail in its inbox, or as work if it has none. Sent messages are in `outbox/`.

pub mod delivery;
pub mod settings;
pub mod slack;
pub mod slack_import;
pub mod slack_outbox;
pub mod stream_reader;

/// The folder with incoming streams.
pub const INBOX: &str = "inbox/";
/// The file extension of streams.
pub const ENDING: &str = ".jsonl";

/// Whether a file is an incoming stream.
pub fn is_stream(path: &str) -> bool {
    path.strip_prefix(INBOX).is_some_and(|name| name.ends_with(ENDING) && !name.contains('/'))
}

/// The name of a stream: its file name without the extension.
pub fn name_of(path: &str) -> &str {
    let name = path.strip_prefix(INBOX).unwrap_or(path);
    name.strip_suffix(ENDING).unwrap_or(name)
}
