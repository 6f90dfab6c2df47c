//! Streams of messages from outside, `inbox/*.jsonl`: each line appended by others reaches an agent once, as mail in
//! its inbox, or as work if it has none. Sent messages are in `outbox/`.

pub mod delivery;
pub mod settings;
pub mod slack;
pub mod slack_import;
pub mod slack_outbox;
pub mod stream_reader;

/// Where streams come in.
pub const INBOX: &str = "inbox/";
/// What the names of streams end in.
pub const ENDING: &str = ".jsonl";

/// Whether a file is a stream that comes in.
pub fn is_stream(path: &str) -> bool {
    path.strip_prefix(INBOX).is_some_and(|name| name.ends_with(ENDING) && !name.contains('/'))
}

/// What a stream is called: its file without folder and ending.
pub fn name_of(path: &str) -> &str {
    let name = path.strip_prefix(INBOX).unwrap_or(path);
    name.strip_suffix(ENDING).unwrap_or(name)
}
