//! The session of a piece of work as a file that a person reads.

use std::time::{Duration, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use super::activation::{Activation, Thread};
use super::notes::{MessageNote, ReplyNote};
use crate::base::ActivationKey;
use crate::mind::{Ending, PromptMessage, Role};
use crate::schedule::TICKS_PER_SEC;
use crate::tools::ToolImage;
use crate::workspace::vfs::records::records_of;

/// What stands in `sessions/<agent>.<thread>.session.yaml`: everything that one agent did in a run, in however many
/// pieces of work.
#[derive(Serialize)]
struct SessionFile<'a> {
    activation: String,
    thread: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    earlier: Vec<String>,
    agent: &'a str,
    profile: &'a str,
    scene: &'a str,
    status: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<&'a str>,
    task: &'a str,
    started_by: &'a str,
    depth: u32,
    run: String,
    turns: u32,
    #[serde(skip_serializing_if = "is_zero")]
    tokens: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    cost_usd: Option<f64>,
    messages: Vec<Line<'a>>,
}

#[derive(Serialize)]
struct Line<'a> {
    by: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    secs: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    time: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tokens_in: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cached_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tokens_out: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cost_usd: Option<f64>,
    #[serde(skip_serializing_if = "str::is_empty")]
    text: &'a str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    calls: Vec<CallLine<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    answers: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<&'a serde_json::Value>,
    #[serde(skip_serializing_if = "<[ToolImage]>::is_empty")]
    images: &'a [ToolImage],
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    left_out: &'a [String],
}

#[derive(Serialize)]
struct CallLine<'a> {
    id: &'a str,
    tool: &'a str,
    arguments: &'a serde_json::Value,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// Where the session of a thread is kept.
pub fn path(activation: &Activation) -> String {
    format!("{}{}.session.yaml", records_of(&activation.agent), activation.thread.id())
}

/// The session as a person reads it, of work in this scene.
pub fn to_yaml(
    scene: &str,
    activation: &Activation,
    thread: Option<&Thread>,
    parent: Option<&Thread>,
    ending: Option<&Ending>,
) -> String {
    let (status, why) = match ending {
        None if activation.question().is_some() => ("waiting", activation.question().map(|(_, _, why)| why)),
        None if activation.has_begun() => ("running", activation.cap_hold.as_ref().map(|hold| hold.why.as_str())),
        None => ("queued", None),
        Some(ending) => (ending.word(), ending.why()),
    };
    let messages = activation.messages_so_far();
    let notes: &[MessageNote] = thread.map_or(&[], |thread| &thread.notes);
    let used = notes.iter().filter_map(|note| note.reply.as_ref());
    let used = used.fold(ReplyNote::default(), |sum, reply| sum.plus(reply));
    let file = SessionFile {
        activation: activation.key.id().to_string(),
        thread: activation.thread.id().to_string(),
        earlier: thread
            .map_or(&[][..], |thread| &thread.earlier)
            .iter()
            .filter(|key| **key != activation.key)
            .map(|key| key.id().to_string())
            .collect(),
        agent: &activation.agent,
        profile: &activation.profile,
        scene,
        status,
        why,
        task: &activation.input,
        started_by: parent.map_or("user", |parent| &parent.agent),
        depth: thread.map_or(0, |thread| thread.depth),
        run: thread.map_or(activation.key, |thread| thread.root).id().to_string(),
        turns: activation.turn,
        tokens: used.tokens_in + used.tokens_out,
        cost_usd: used.cost_usd().filter(|_| notes.iter().any(|note| note.reply.is_some())),
        messages: messages.iter().enumerate().map(|(at, message)| line(message, notes.get(at))).collect(),
    };
    serde_yaml::to_string(&file).unwrap_or_else(|error| format!("# this session could not be written: {error}\n"))
}

fn line<'a>(message: &'a PromptMessage, note: Option<&'a MessageNote>) -> Line<'a> {
    let reply = note.and_then(|note| note.reply.as_ref());
    let time = reply.and_then(|reply| reply.at_ms).map(|ms| UNIX_EPOCH + Duration::from_millis(ms));
    let calls = message.tool_calls.iter();
    let attached = note.and_then(|note| note.attached.as_deref());
    Line {
        by: match message.role {
            Role::User => "room",
            Role::Assistant => "agent",
            Role::Tool => "tool",
        },
        secs: note.map(|note| (note.tick as f64 / TICKS_PER_SEC as f64 * 10.0).round() / 10.0),
        time: time.map(|time| humantime::format_rfc3339_millis(time).to_string()),
        model: reply.map(|reply| reply.model.as_str()),
        tokens_in: reply.map(|reply| reply.tokens_in),
        cached_tokens: reply.map(|reply| reply.cached_tokens).filter(|tokens| *tokens > 0),
        tokens_out: reply.map(|reply| reply.tokens_out),
        cost_usd: reply.and_then(ReplyNote::cost_usd),
        text: &message.text,
        calls: calls.map(|call| CallLine { id: &call.id, tool: &call.name, arguments: &call.arguments }).collect(),
        answers: message.answers.as_deref(),
        data: attached.and_then(|attached| attached.data.as_ref()),
        images: attached.map_or(&[], |attached| &attached.images),
        left_out: attached.map_or(&[], |attached| &attached.left_out),
    }
}

/// What the head of a session's file says of its work.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
pub struct SessionHead {
    /// The piece of work that the agent is at, or was at last: `act-7`.
    pub activation: String,
    /// Those before it in the same thread; older versions gave each a file of its own.
    #[serde(default)]
    pub earlier: Vec<String>,
    /// Whose.
    pub agent: String,
    /// In which scene; empty where an older version wrote it.
    #[serde(default)]
    pub scene: String,
    /// How far it is.
    pub status: String,
    /// What it is.
    #[serde(default)]
    pub task: String,
}

impl SessionHead {
    /// The piece of work that the agent is at, or was at last.
    pub fn key(&self) -> Option<ActivationKey> {
        ActivationKey::parse(&self.activation)
    }

    /// Whether the file holds this piece of work.
    pub fn holds(&self, activation: &str) -> bool {
        self.activation == activation || self.earlier.iter().any(|one| one == activation)
    }

    /// Reads the beginning of a session's file; `None` where that is something else.
    pub fn read(text: &str) -> Option<Self> {
        let head = text.find("\nmessages:").map_or(text, |end| &text[..end]);
        serde_yaml::from_str(head).ok()
    }
}

/// The text of a session's file whose work was dropped, for this reason.
pub fn dropped(text: &str, why: &str) -> String {
    with_status(text, DROPPED, why)
}

/// The text of a session's file that an older version began, and that goes on in another.
pub fn continued(text: &str, place: &str) -> String {
    with_status(text, "continued", &format!("it goes on in {place}"))
}

fn with_status(text: &str, status: &str, why: &str) -> String {
    let end = text.find("\nmessages:").unwrap_or(text.len());
    let why = serde_yaml::to_string(&why).unwrap_or_default();
    let mut is_reason = false;
    let mut head = Vec::new();
    for line in text[..end].lines() {
        // A reason may run over several lines; those after the first are indented.
        is_reason = line.starts_with("why:") || (is_reason && line.starts_with(' '));
        if line.starts_with("status: ") {
            head.push(format!("status: {status}\nwhy: {}", why.trim_end()));
        } else if !is_reason {
            head.push(line.to_owned());
        }
    }
    head.join("\n") + &text[end..]
}

/// The word for work that was given up because nothing of it was known any more.
pub const DROPPED: &str = "dropped";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_an_older_version_is_read_and_may_go_on_in_another() {
        let text =
            "activation: act-12\nagent: ada\nscene: scenes/a.yaml\nstatus: running\ntask: Write it.\nmessages: []\n";
        let head = SessionHead::read(text).expect("it is one");
        assert_eq!(head.key(), Some(ActivationKey::numbered(12)));
        assert!(head.holds("act-12") && !head.holds("act-1"));
        let continued = continued(text, "sessions/ada.act-7.session.yaml");
        let head = SessionHead::read(&continued).expect("it still is one");
        assert_eq!(head.status, "continued");
        assert!(continued.contains("why: it goes on in sessions/ada.act-7.session.yaml\n"), "{continued}");
        let newer = SessionHead::read("activation: act-12\nearlier: [act-7]\nagent: ada\nstatus: running\n");
        assert!(newer.is_some_and(|head| head.holds("act-7") && head.holds("act-12")));
    }

    #[test]
    fn the_head_of_a_session_is_read_and_marked_as_dropped() {
        let text = "activation: act-7\nagent: ada\nprofile: ada\nscene: scenes/a.yaml\nstatus: waiting\nwhy: 'a: b'\n\
                    task: |-\n  Write it.\n  status: running\nstarted_by: user\nmessages:\n- by: room\n  text: 'status: x'\n";
        let head = SessionHead::read(text).expect("it is one");
        assert_eq!((head.activation.as_str(), head.scene.as_str()), ("act-7", "scenes/a.yaml"));
        assert_eq!((head.status.as_str(), head.task.as_str()), ("waiting", "Write it.\nstatus: running"));
        let marked = dropped(text, "it: is gone");
        let head = SessionHead::read(&marked).expect("it still is one");
        assert_eq!((head.status.as_str(), head.task.as_str()), (DROPPED, "Write it.\nstatus: running"));
        assert!(marked.contains("why: 'it: is gone'\n") && !marked.contains("a: b"), "{marked}");
        assert!(marked.ends_with("messages:\n- by: room\n  text: 'status: x'\n"), "{marked}");
        assert_eq!(SessionHead::read("notes of mine"), None);
    }
}
