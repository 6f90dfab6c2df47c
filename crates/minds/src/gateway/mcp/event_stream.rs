//! Parses a stream of server-sent events (`text/event-stream`) into complete events, with a size limit. Pure.

/// A server-sent event.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Event {
    /// The type of the event; `message` if it has none.
    pub(super) kind: String,
    /// The data.
    pub(super) data: String,
}

/// The error for an event that is too long.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct TooLong;

/// Parses incoming bytes into complete events.
#[derive(Debug)]
pub(super) struct EventParser {
    bytes_at_most: usize,
    /// The number of bytes of the current event.
    size: usize,
    line: Vec<u8>,
    /// Whether the last line ended with a carriage return, so that a following line feed is not another line.
    after_return: bool,
    kind: String,
    data: Option<String>,
}

impl EventParser {
    /// Creates a parser for events of at most this many bytes.
    pub(super) fn new(bytes_at_most: usize) -> Self {
        let (line, kind) = (Vec::new(), String::new());
        Self { bytes_at_most, size: 0, line, after_return: false, kind, data: None }
    }

    /// Adds bytes, and returns the events that they complete.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Result<Vec<Event>, TooLong> {
        let mut events = Vec::new();
        let mut rest = bytes;
        while let Some((&first, behind)) = rest.split_first() {
            if std::mem::take(&mut self.after_return) && first == b'\n' {
                rest = behind;
                continue;
            }
            let end = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            let part = &rest[..end.unwrap_or(rest.len())];
            self.size += part.len();
            if self.size > self.bytes_at_most {
                return Err(TooLong);
            }
            self.line.extend_from_slice(part);
            let Some(end) = end else { break };
            self.after_return = rest[end] == b'\r';
            rest = &rest[end + 1..];
            let line = std::mem::take(&mut self.line);
            events.extend(self.take_line(&String::from_utf8_lossy(&line)));
        }
        Ok(events)
    }

    /// Processes a complete line; an empty one ends the event.
    fn take_line(&mut self, line: &str) -> Option<Event> {
        if line.is_empty() {
            self.size = 0;
            let kind = std::mem::take(&mut self.kind);
            let kind = if kind.is_empty() { "message".to_owned() } else { kind };
            return self.data.take().map(|data| Event { kind, data });
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.clone_into(&mut self.kind),
            "data" => match &mut self.data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
                None => self.data = Some(value.to_owned()),
            },
            // Other fields are not needed. A comment has no field name, and only keeps the connection open.
            _ => {}
        }
        if self.data.is_none() && self.kind.is_empty() {
            self.size = 0;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn event(kind: &str, data: &str) -> Event {
        Event { kind: kind.into(), data: data.into() }
    }

    const STREAM: &str = "\u{3a} hello\r\nevent: endpoint\r\ndata: /message?x=1\r\n\r\ndata: one\ndata:two\n\n: still there\n\nid: 7\nretry: 3\ndata\n\nevent: x\n\n";

    #[test]
    fn events_are_parsed() {
        let events = EventParser::new(100).push(STREAM.as_bytes()).expect("all are short");
        assert_eq!(events, [event("endpoint", "/message?x=1"), event("message", "one\ntwo"), event("message", "")]);
    }

    #[test]
    fn endless_events_are_refused_and_many_comments_accepted() {
        let mut parser = EventParser::new(100);
        assert_eq!(parser.push(": still there\n".repeat(1_000).as_bytes()), Ok(Vec::new()));
        assert_eq!(parser.push(b"data: "), Ok(Vec::new()));
        assert_eq!(parser.push(&[b'x'; 200]), Err(TooLong));
        let many = "data: x\n".repeat(100);
        assert_eq!(EventParser::new(100).push(many.as_bytes()), Err(TooLong));
    }

    proptest! {
        #[test]
        fn events_are_independent_of_chunk_boundaries(cuts in proptest::collection::vec(1_usize..9, 1..60)) {
            let whole = EventParser::new(100).push(STREAM.as_bytes());
            let (mut parser, mut rest, mut events) = (EventParser::new(100), STREAM.as_bytes(), Vec::new());
            for cut in cuts.iter().cycle() {
                if rest.is_empty() {
                    break;
                }
                let (piece, behind) = rest.split_at((*cut).min(rest.len()));
                events.extend(parser.push(piece).expect("all are short"));
                rest = behind;
            }
            prop_assert_eq!(Ok(events), whole);
        }
    }
}
