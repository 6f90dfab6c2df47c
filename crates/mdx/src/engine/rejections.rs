//! Unhandled rejected promises: their errors are logged, like those of timers.

use std::hash::{DefaultHasher, Hash, Hasher};

use rquickjs::{Object, Value};

/// The maximum number of rejections that are remembered until the code waits, in case code rejects promises in a loop.
const MAX_KEPT: usize = 16;

/// The maximum size of a message and of a stack, in bytes of UTF-8.
const MAX_BYTES: usize = 4000;

/// The rejected promises without a handler, since the code began to run.
#[derive(Default)]
pub(super) struct Rejections {
    kept: Vec<Rejection>,
}

struct Rejection {
    promise: u64,
    message: String,
    stack: String,
}

impl Rejections {
    /// Records that a promise was rejected without a handler (`description`), or got a handler later.
    pub(super) fn note(&mut self, promise: &Value<'_>, description: Option<(String, String)>) {
        let promise = identity(promise);
        match description {
            None => self.kept.retain(|kept| kept.promise != promise),
            Some((message, stack)) if self.has_room() => self.kept.push(Rejection { promise, message, stack }),
            Some(_) => {}
        }
    }

    /// Whether another one can be remembered.
    pub(super) fn has_room(&self) -> bool {
        self.kept.len() < MAX_KEPT
    }

    /// Removes a promise whose error is reported to the caller.
    pub(super) fn forget(&mut self, promise: &Value<'_>) {
        self.note(promise, None);
    }

    /// Removes and returns the messages and stacks of the rejections that still have no handler.
    pub(super) fn take(&mut self) -> Vec<(String, String)> {
        std::mem::take(&mut self.kept).into_iter().map(|kept| (kept.message, kept.stack)).collect()
    }
}

/// Returns the identity of an object, valid as long as it exists.
fn identity(promise: &Value<'_>) -> u64 {
    let mut hasher = DefaultHasher::new();
    promise.hash(&mut hasher);
    hasher.finish()
}

/// Returns the message and the stack of the reason for a rejection.
pub(super) fn described(reason: &Value<'_>) -> (String, String) {
    let text = |object: &Object<'_>, name: &str| {
        let text = object.get::<_, String>(name);
        // The error's own code may throw when its properties are read.
        clipped(text.unwrap_or_else(|_| {
            drop(reason.ctx().catch());
            String::new()
        }))
    };
    if let Some(error) = reason.as_object().filter(|object| object.is_error()) {
        let (name, message) = (text(error, "name"), text(error, "message"));
        let name = if name.is_empty() { "Error".to_owned() } else { name };
        let message = if message.is_empty() { name } else { format!("{name}: {message}") };
        return (message, text(error, "stack"));
    }
    let shown = match reason.as_string() {
        Some(text) => text.to_string(),
        None => reason
            .ctx()
            .json_stringify(reason.clone())
            .and_then(|json| json.map_or(Ok(String::new()), |json| json.to_string())),
    };
    let shown = shown.unwrap_or_else(|_| {
        drop(reason.ctx().catch());
        String::new()
    });
    (if shown.is_empty() { reason.type_name().to_owned() } else { clipped(shown) }, String::new())
}

fn clipped(mut text: String) -> String {
    if text.len() > MAX_BYTES {
        let end = (0..=MAX_BYTES).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
        text.truncate(end);
    }
    text
}
