//! The text of one of the program's own records, which can be rendered only when it is written: rendering a long one
//! within a tick would visibly stop the room.

use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, LazyLock};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

type Render = Box<dyn FnOnce() -> String + Send>;

/// A text that is rendered once, when it is first read, on the reader's thread. Clones share it.
#[derive(Clone)]
pub struct RecordText(Arc<LazyLock<String, Render>>);

impl RecordText {
    /// Creates a text that is rendered when it is first read. `render` must depend only on what it captures, so that
    /// the result is the same whenever it runs.
    pub fn deferred(render: impl FnOnce() -> String + Send + 'static) -> Self {
        Self(Arc::new(LazyLock::new(Box::new(render))))
    }
}

impl From<String> for RecordText {
    fn from(text: String) -> Self {
        Self::deferred(move || text)
    }
}

impl From<&str> for RecordText {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl Deref for RecordText {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for RecordText {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, formatter)
    }
}

impl PartialEq for RecordText {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || **self == **other
    }
}

impl Eq for RecordText {}

impl Serialize for RecordText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self)
    }
}

impl<'de> Deserialize<'de> for RecordText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::from)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[test]
    fn a_text_is_rendered_once_when_it_is_first_read() {
        let made = Arc::new(AtomicU32::new(0));
        let counted = made.clone();
        let text = RecordText::deferred(move || {
            counted.fetch_add(1, Ordering::Relaxed);
            "status: done\n".to_owned()
        });
        let shared = text.clone();
        assert_eq!((text == shared, made.load(Ordering::Relaxed)), (true, 0));
        let saved = serde_json::to_string(&text).expect("a text can be saved");
        assert_eq!((saved.as_str(), shared.len(), made.load(Ordering::Relaxed)), ("\"status: done\\n\"", 13, 1));
        let read: RecordText = serde_json::from_str(&saved).expect("it should be readable again");
        assert_eq!(read, text);
        assert_ne!(read, RecordText::from("status: failed\n"));
    }
}
