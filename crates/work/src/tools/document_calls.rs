//! A running tool of a document: requests of its code become calls of its agent, and their results are returned to the
//! code.

use std::collections::BTreeMap;
use std::io;

use serde_json::{Map, Value, json};

use super::files::path_from;
use super::order::{CallAnswer, OrderReport};
use super::web::ReadAnswer;
use crate::engine::{CallEvent, CallHandle, CodeOutcome, FailureKind, HostAnswer, HostCall, HostRequest, RunningCall};
use crate::gate::WEB_FETCH;
use crate::gateway::acp::READ_TEXT;
use crate::mind::ToolCall;

/// How many logged lines of a call are reported as progress.
pub(crate) const MAX_LINES_TOLD: usize = 20;

/// A running call. Dropping it stops it.
pub(super) struct OpenCall {
    /// The folder of the document, to which its paths are relative.
    folder: String,
    /// The requests that its code waits for, by number.
    asked: BTreeMap<u64, HostRequest>,
    engine: CallHandle,
}

/// What the thread that follows a call reports.
pub(super) enum CallReport {
    /// The code sends a request and waits for the answer.
    Asks(HostCall),
    /// The code logged a line.
    Logged(String),
    /// The code has ended.
    Ended(OrderReport),
}

impl OpenCall {
    /// Follows a call on a thread of its own, which passes what happens to `report`. The folder is that of the document.
    pub(super) fn follow(
        folder: String,
        engine: RunningCall,
        report: impl Fn(CallReport) + Send + 'static,
    ) -> io::Result<Self> {
        let handle = engine.handle();
        let follow = move || report_events(engine, report);
        std::thread::Builder::new().name("tool events".to_owned()).spawn(follow)?;
        Ok(Self { folder, asked: BTreeMap::new(), engine: handle })
    }

    /// Turns what its thread reported into a report for the room, if the room has to know.
    pub(super) fn receive(&mut self, report: CallReport) -> Option<OrderReport> {
        match report {
            CallReport::Asks(asked) => match call_for(&self.folder, &asked.request) {
                Ok((tool, arguments)) => {
                    let call = Box::new(ToolCall::new("", tool, arguments));
                    self.asked.insert(asked.id, asked.request);
                    Some(OrderReport::Calls { number: asked.id, call })
                }
                Err(reason) => {
                    self.engine.answer(asked.id, HostAnswer::Refused { reason });
                    None
                }
            },
            CallReport::Logged(text) => Some(OrderReport::Progress { text }),
            CallReport::Ended(report) => Some(report),
        }
    }

    /// Whether its code waits for the result of a request.
    pub(super) fn waits_for_room(&self) -> bool {
        !self.asked.is_empty()
    }

    /// Sends the result of a request to the code.
    pub(super) fn send_answer(&mut self, number: u64, answer: &CallAnswer) {
        let Some(request) = self.asked.remove(&number) else { return };
        self.engine.answer(number, host_answer(&request, answer));
    }
}

/// Reports the events of a call until its end.
fn report_events(mut engine: RunningCall, report: impl Fn(CallReport)) {
    let mut lines_seen = 0;
    while let Some(event) = engine.next_event() {
        match event {
            CallEvent::Asks(asked) => report(CallReport::Asks(asked)),
            CallEvent::Logged(line) => {
                lines_seen += 1;
                if lines_seen <= MAX_LINES_TOLD {
                    report(CallReport::Logged(line.text));
                }
            }
            CallEvent::Finished(CodeOutcome { result, log, .. }) => {
                // The lines that were logged faster than they were read.
                for line in log.into_iter().take(MAX_LINES_TOLD).skip(lines_seen) {
                    report(CallReport::Logged(line.text));
                }
                report(CallReport::Ended(match result {
                    Err(failure) if failure.kind == FailureKind::Cancelled => {
                        OrderReport::Aborted { why: failure.text }
                    }
                    result => OrderReport::ended(result.map_err(|failure| failure.text)),
                }));
            }
        }
    }
}

/// The content of a file in the result of the tool that reads it.
#[derive(serde::Deserialize)]
struct TextRead {
    content: String,
}

/// Converts a request of code to a tool call of an agent whose document is in this folder. The error is returned to the
/// code.
pub(crate) fn call_for(folder: &str, request: &HostRequest) -> Result<(&'static str, Value), String> {
    Ok(match request {
        HostRequest::ReadFile { path } => (READ_TEXT, json!({ "path": path_from(folder, path)? })),
        HostRequest::WriteFile { path, content } => {
            ("vfs_write", json!({ "path": path_from(folder, path)?, "content": content }))
        }
        HostRequest::Fetch { method, url, headers, body } => {
            let mut arguments = Map::from_iter([("url".to_owned(), json!(url)), ("method".to_owned(), json!(method))]);
            if !headers.is_empty() {
                let headers: Map<String, Value> =
                    headers.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
                arguments.insert("headers".to_owned(), headers.into());
            }
            arguments.extend(body.as_ref().map(|body| ("body".to_owned(), json!(body))));
            (WEB_FETCH, Value::Object(arguments))
        }
        HostRequest::Prompt { .. } => {
            return Err("a tool may not prompt its agent; return what the agent should know".to_owned());
        }
    })
}

/// The answer to a request of code, from the result of the call that was made for it.
pub(crate) fn host_answer(request: &HostRequest, answer: &CallAnswer) -> HostAnswer {
    match answer {
        CallAnswer::NotDone(why) => HostAnswer::Refused { reason: why.trim_start_matches("Error: ").to_owned() },
        CallAnswer::Done(text) => answer_for(request, text),
    }
}

/// Converts the result of an executed request to an answer for the code.
fn answer_for(request: &HostRequest, text: &str) -> HostAnswer {
    match request {
        HostRequest::WriteFile { .. } => HostAnswer::Done,
        HostRequest::Fetch { .. } => match ReadAnswer::of(text) {
            Some(ReadAnswer { status, url, headers, body }) => {
                HostAnswer::Response { status, url, headers, body: body.into_bytes() }
            }
            None => HostAnswer::Refused { reason: "the server's answer cannot be read".to_owned() },
        },
        HostRequest::ReadFile { .. } => match serde_json::from_str::<TextRead>(text) {
            Ok(TextRead { content }) => HostAnswer::Text { text: content },
            Err(_) => HostAnswer::Refused { reason: "the text of the file cannot be read".to_owned() },
        },
        HostRequest::Prompt { .. } => HostAnswer::Text { text: text.to_owned() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_relative_to_the_folder_of_the_document_and_stay_in_the_workspace() {
        for (written, read) in [
            ("state/x.json", "agents/ada/state/x.json"),
            ("./notes.md", "agents/ada/notes.md"),
            ("agents/ada/state/x.json", "agents/ada/state/x.json"),
            ("../../artifacts/a.md", "artifacts/a.md"),
            ("agents/adam/x", "agents/ada/agents/adam/x"),
        ] {
            assert_eq!(path_from("agents/ada", written).as_deref(), Ok(read));
        }
        assert_eq!(path_from("", "state/x").as_deref(), Ok("state/x"));
        for out in ["/etc/passwd", "../../../x", "..\\x"] {
            assert!(path_from("agents/ada", out).is_err(), "{out}");
        }
    }

    #[test]
    fn requests_of_code_become_calls_of_its_agent() {
        let fetch = HostRequest::Fetch {
            method: "POST".into(),
            url: "https://a.org/".into(),
            headers: vec![("x-a".into(), "1".into())],
            body: Some("b".into()),
        };
        let (tool, arguments) = call_for("agents/ada", &fetch).expect("it should be valid");
        assert_eq!(tool, "web_fetch");
        let wanted = json!({ "url": "https://a.org/", "method": "POST", "headers": { "x-a": "1" }, "body": "b" });
        assert_eq!(arguments, wanted);
        let answer = answer_for(&fetch, "201 https://a.org/\nx-b: 2\n\nmade");
        let HostAnswer::Response { status, headers, body, .. } = answer else { panic!("{answer:?}") };
        assert_eq!((status, headers, body), (201, vec![("x-b".into(), "2".into())], b"made".to_vec()));
        assert!(call_for("", &HostRequest::Prompt { message: "a".into() }).is_err());
        let read = HostRequest::ReadFile { path: "x".into() };
        let HostAnswer::Text { text } = answer_for(&read, "{\"content\":\"a\\n\"}") else { panic!("it was read") };
        assert_eq!(text, "a\n");
    }
}
