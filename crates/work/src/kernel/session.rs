//! Renders the session of a piece of work as a YAML file that people and agents read: agent, model, prompt, status and
//! messages. Everything else is below `metadata`.

use std::borrow::Cow;
use std::time::{Duration, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::activation::{Activation, RunNode};
use super::core::Kernel;
use super::message_notes::{MessageNote, ReplyNote};
use super::thread_file::EndedWork;
use crate::base::ActivationKey;
use crate::base::calendar;
use crate::mind::{Ending, PromptMessage, Role};
use crate::schedule::TICKS_PER_SEC;
use crate::text::yaml;
use crate::tools::ToolImage;
use crate::workspace::session_files::own_checksum::{UNSEALED, sealed};
use crate::workspace::session_files::segments::moved;
use crate::workspace::session_files::update::with_status;
use crate::workspace::session_files::{path_of, session_id_of};
use crate::workspace::vfs::records::records_of;

/// The information about the agent and the room in a session file.
#[derive(Clone, Copy, Default)]
pub struct SessionAbout<'a> {
    /// The name of the scene.
    pub scene: &'a str,
    /// The type of the agent.
    pub role: Option<&'a str>,
    /// The model named in the agent's profile.
    pub model: Option<&'a str>,
    /// The agent's instructions.
    pub system_prompt: &'a str,
    /// The simulated date, in seconds.
    pub now_secs: Option<i64>,
}

/// A snapshot of a session's work.
pub struct SessionWork<'a> {
    activation: ActivationKey,
    thread: ActivationKey,
    agent: &'a str,
    profile: &'a str,
    task: &'a str,
    turns: u32,
    status: &'static str,
    work: &'a str,
    why: Option<&'a str>,
    started_by: &'a str,
    messages: Cow<'a, [PromptMessage]>,
}

impl<'a> SessionWork<'a> {
    /// Creates the snapshot of work that is queued, running or has just ended. `sleeps` says whether the agent can
    /// still be woken.
    pub fn of(one: &'a Activation, parent: Option<&'a RunNode>, ending: Option<&'a Ending>, sleeps: bool) -> Self {
        let (work, why) = match ending {
            None if one.question().is_some() => ("waiting", one.question().map(|(_, _, why)| why)),
            None if one.has_begun() => ("running", one.cap_hold.as_ref().map(|hold| hold.why.as_str())),
            None => ("queued", None),
            Some(ending) => (ending.as_str(), ending.why()),
        };
        let status = match ending {
            None => "active",
            Some(Ending::Completed { .. }) if sleeps => "sleeping",
            Some(Ending::Completed { .. }) => "completed",
            // A message from a person wakes it again.
            Some(Ending::Aborted { by_person: true, .. }) => "sleeping",
            Some(Ending::Failed { .. } | Ending::Aborted { .. }) => "error",
        };
        Self {
            activation: one.key,
            thread: one.thread,
            agent: &one.agent,
            profile: &one.profile,
            task: &one.input,
            turns: one.turn,
            status,
            work,
            why,
            started_by: parent.map_or("user", |parent| &parent.agent),
            messages: one.messages_so_far().into(),
        }
    }

    /// Creates the snapshot of a thread whose work has ended. `sleeps` says whether the agent can still be woken.
    pub fn of_thread(key: ActivationKey, thread: &'a RunNode, sleeps: bool) -> Option<Self> {
        let last = thread.file.last.as_ref()?;
        Some(Self {
            activation: last.activation,
            thread: key,
            agent: &thread.agent,
            profile: &thread.profile,
            task: &last.task,
            turns: last.turns,
            status: if sleeps { "sleeping" } else { "completed" },
            work: &last.work,
            why: last.why.as_deref(),
            started_by: &last.started_by,
            messages: Cow::Borrowed(&thread.messages),
        })
    }

    /// The summary that is kept after the work has ended.
    pub(super) fn ended(&self) -> EndedWork {
        EndedWork {
            activation: self.activation,
            task: self.task.to_owned(),
            turns: self.turns,
            work: self.work.to_owned(),
            why: self.why.map(str::to_owned),
            started_by: self.started_by.to_owned(),
        }
    }
}

#[derive(Serialize)]
struct Head<'a> {
    session_id: String,
    agent_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent_type: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<&'a str>,
    system_prompt: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    created: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    updated: Option<String>,
    status: &'a str,
    metadata: Metadata<'a>,
}

#[derive(Serialize)]
struct Metadata<'a> {
    work: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<&'a str>,
    activation: String,
    thread: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    earlier: Vec<String>,
    profile: &'a str,
    scene: &'a str,
    task: &'a str,
    started_by: &'a str,
    depth: u32,
    run: String,
    turns: u32,
    #[serde(skip_serializing_if = "is_zero")]
    tokens: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    cost_usd: Option<f64>,
    messages: usize,
    checksum: &'a str,
}

#[derive(Serialize)]
struct Line<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    timestamp: Option<String>,
    role: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    content: &'a str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<CallLine<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<&'a str>,
    #[serde(skip_serializing_if = "LineMetadata::is_empty")]
    metadata: LineMetadata<'a>,
}

#[derive(Serialize, Default, PartialEq)]
struct LineMetadata<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    secs: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    received: Option<String>,
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
    #[serde(skip_serializing_if = "Option::is_none")]
    thoughts: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<&'a Value>,
    #[serde(skip_serializing_if = "<[ToolImage]>::is_empty")]
    images: &'a [ToolImage],
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    left_out: &'a [String],
}

impl LineMetadata<'_> {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

#[derive(Serialize)]
struct CallLine<'a> {
    id: &'a str,
    r#type: &'a str,
    function: FunctionLine<'a>,
}

#[derive(Serialize)]
struct FunctionLine<'a> {
    name: &'a str,
    arguments: &'a Value,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// The path of a thread's session file.
pub fn path(agent: &str, key: ActivationKey, thread: Option<&RunNode>) -> String {
    let chosen = thread.and_then(|thread| thread.file.path.clone());
    chosen.unwrap_or_else(|| format!("{}{}.session.yaml", records_of(agent), key.id()))
}

impl Kernel {
    /// The path of an activation's session file.
    pub fn session_path(&self, one: &Activation) -> String {
        path(&one.agent, one.thread, self.thread(one.thread))
    }

    /// The id of a session: its file name without the extension.
    pub fn session_id(&self, key: ActivationKey) -> Option<String> {
        let thread = self.thread(key)?;
        session_id_of(&path(&thread.agent, key, Some(thread))).map(str::to_owned)
    }

    /// The session with this id, if it is running or can be woken.
    pub fn session_named(&self, name: &str) -> Option<ActivationKey> {
        let name = name.trim();
        let name = session_id_of(name).unwrap_or(name);
        let name = name.strip_suffix(".session.yaml").unwrap_or(name);
        let usual = name.rsplit_once('.').and_then(|(_, thread)| ActivationKey::parse(thread));
        let usual = usual.filter(|key| self.session_id(*key).as_deref() == Some(name));
        let chosen = || {
            let path = path_of(name);
            self.threads().find(|(_, thread)| thread.file.path.as_deref() == Some(path.as_str())).map(|(key, _)| key)
        };
        usual.or_else(chosen)
    }
}

/// Renders a session file.
pub fn to_yaml(about: &SessionAbout<'_>, work: &SessionWork<'_>, thread: Option<&RunNode>) -> String {
    let notes: &[MessageNote] = thread.map_or(&[], |thread| &thread.notes);
    let used = notes.iter().filter_map(|note| note.reply.as_ref());
    let used = used.fold(ReplyNote::default(), |sum, reply| sum.plus(reply));
    let place = path(work.agent, work.thread, thread);
    let earlier = thread.map_or(&[][..], |thread| &thread.earlier).iter().filter(|key| **key != work.activation);
    let head = Head {
        session_id: session_id_of(&place).unwrap_or_default().to_owned(),
        agent_id: work.agent,
        agent_type: about.role,
        model: about.model,
        system_prompt: about.system_prompt,
        created: notes.first().and_then(|note| note.at_secs).or(about.now_secs).map(calendar::stamp),
        // The time of the last message, so that saving an unchanged session does not change the file.
        updated: notes.last().and_then(|note| note.at_secs).or(about.now_secs).map(calendar::stamp),
        status: work.status,
        metadata: Metadata {
            work: work.work,
            why: work.why,
            activation: work.activation.id().to_string(),
            thread: work.thread.id().to_string(),
            earlier: earlier.map(|key| key.id().to_string()).collect(),
            profile: work.profile,
            scene: about.scene,
            task: work.task,
            started_by: work.started_by,
            depth: thread.map_or(0, |thread| thread.depth),
            run: thread.map_or(work.activation, |thread| thread.root).id().to_string(),
            turns: work.turns,
            tokens: used.tokens_in + used.tokens_out,
            cost_usd: used.cost_usd().filter(|_| notes.iter().any(|note| note.reply.is_some())),
            messages: work.messages.len(),
            checksum: UNSEALED,
        },
    };
    let mut text = match serde_yaml::to_string(&head) {
        Ok(text) => text,
        Err(error) => return format!("# this session could not be written: {error}\n"),
    };
    text += if work.messages.is_empty() { "messages: []\n" } else { "messages:\n" };
    for (at, message) in work.messages.iter().enumerate() {
        let line = [line(message, notes.get(at), &work.messages[..at])];
        text += &match serde_yaml::to_string(&line) {
            Ok(line) => moved(&line, 0, 2),
            Err(error) => format!("  # this message could not be written: {error}\n"),
        };
    }
    sealed(text)
}

fn line<'a>(message: &'a PromptMessage, note: Option<&'a MessageNote>, before: &'a [PromptMessage]) -> Line<'a> {
    let reply = note.and_then(|note| note.reply.as_ref());
    let received = reply.and_then(|reply| reply.at_ms).map(|ms| UNIX_EPOCH + Duration::from_millis(ms));
    let calls = message.tool_calls.iter();
    let attached = note.and_then(|note| note.attached.as_deref());
    let called = |id: &str| before.iter().rev().flat_map(|one| &one.tool_calls).find(|call| call.id == id);
    Line {
        timestamp: note.and_then(|note| note.at_secs).map(calendar::stamp),
        role: match message.role {
            Role::User => "user",
            Role::Assistant => "assistant",
            Role::Tool => "tool",
        },
        name: message.answers.as_deref().and_then(called).map(|call| call.name.as_str()),
        content: &message.text,
        tool_calls: calls
            .map(|call| CallLine {
                id: &call.id,
                r#type: "function",
                function: FunctionLine { name: &call.name, arguments: &call.arguments },
            })
            .collect(),
        tool_call_id: message.answers.as_deref(),
        metadata: LineMetadata {
            secs: note.map(|note| (note.tick as f64 / TICKS_PER_SEC as f64 * 10.0).round() / 10.0),
            received: received.map(|time| humantime::format_rfc3339_millis(time).to_string()),
            model: reply.map(|reply| reply.model.as_str()),
            tokens_in: reply.map(|reply| reply.tokens_in),
            cached_tokens: reply.map(|reply| reply.cached_tokens).filter(|tokens| *tokens > 0),
            tokens_out: reply.map(|reply| reply.tokens_out),
            cost_usd: reply.and_then(ReplyNote::cost_usd),
            thoughts: reply.map(|reply| reply.thought.as_str()).filter(|thought| !thought.is_empty()),
            data: attached.and_then(|attached| attached.data.as_ref()),
            images: attached.map_or(&[], |attached| &attached.images),
            left_out: attached.map_or(&[], |attached| &attached.left_out),
        },
    }
}

/// The head of a session file, with the state of the work.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
pub struct SessionHead {
    /// The current or the last activation, such as `act-7`.
    pub activation: String,
    /// The earlier activations of the same thread. Older versions wrote one file per activation.
    #[serde(default)]
    pub earlier: Vec<String>,
    /// The id of the agent.
    pub agent: String,
    /// The name of the scene; empty in files of older versions.
    #[serde(default)]
    pub scene: String,
    /// The precise state of the work: `queued`, `running`, `waiting`, `completed`, …
    pub status: String,
    /// The task text.
    #[serde(default)]
    pub task: String,
}

/// The head of a session file in the current format.
#[derive(Deserialize)]
struct NewHead {
    agent_id: String,
    metadata: NewMetadata,
}

#[derive(Deserialize)]
struct NewMetadata {
    work: String,
    activation: String,
    #[serde(default)]
    earlier: Vec<String>,
    #[serde(default)]
    scene: String,
    #[serde(default)]
    task: String,
}

impl SessionHead {
    /// The key of the current or the last activation.
    pub fn key(&self) -> Option<ActivationKey> {
        ActivationKey::parse(&self.activation)
    }

    /// Whether the file contains this activation.
    pub fn holds(&self, activation: &str) -> bool {
        self.activation == activation || self.earlier.iter().any(|one| one == activation)
    }

    /// Parses the head of a session file of this or an older version. Returns `None` for other files.
    pub fn read(text: &str) -> Option<Self> {
        let head = text.find("\nmessages:").map_or(text, |end| &text[..end]);
        if let Ok(NewHead { agent_id, metadata }) = yaml::from_str(head) {
            let NewMetadata { work, activation, earlier, scene, task } = metadata;
            return Some(Self { activation, earlier, agent: agent_id, scene, status: work, task });
        }
        yaml::from_str(head).ok()
    }
}

/// Marks the work of a session file as dropped, with the reason.
pub fn dropped(text: &str, why: &str) -> String {
    marked(text, DROPPED, why)
}

/// Marks a session file of an older version as continued in another file.
pub fn continued(text: &str, place: &str) -> String {
    marked(text, "continued", &format!("it continues in {place}"))
}

fn marked(text: &str, work: &str, why: &str) -> String {
    match crate::workspace::session_files::is_older(text) {
        true => older_with_status(text, work, why),
        false => with_status(text, "error", work, why),
    }
}

fn older_with_status(text: &str, status: &str, why: &str) -> String {
    let end = text.find("\nmessages:").unwrap_or(text.len());
    let why = serde_yaml::to_string(&why).unwrap_or_default();
    let mut is_reason = false;
    let mut head = Vec::new();
    for line in text[..end].lines() {
        // The reason may span several lines; all but the first are indented.
        is_reason = line.starts_with("why:") || (is_reason && line.starts_with(' '));
        if line.starts_with("status: ") {
            head.push(format!("status: {status}\nwhy: {}", why.trim_end()));
        } else if !is_reason {
            head.push(line.to_owned());
        }
    }
    head.join("\n") + &text[end..]
}

/// The work state of sessions that were given up because the room no longer knows them.
pub const DROPPED: &str = "dropped";

#[cfg(test)]
#[path = "session_tests.rs"]
mod tests;
