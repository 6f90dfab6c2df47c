//! Carries out `edit_session`: the old text of the session is saved as a version first, then the session is changed as
//! the planner requested. Even if the process stops in between, the old text is kept.

use std::collections::BTreeSet;

use bevy::ecs::prelude::*;
use serde::{Deserialize, Serialize};

use super::sessions::SessionsAccess;
use crate::base::ids::ROOM;
use crate::base::{ActivationKey, Author};
use crate::kernel::session::path;
use crate::kernel::{EditedSession, SessionEditTiming, file_message};
use crate::log::narration::counted;
use crate::mind::PromptMessage;
use crate::tools::{DESK, DeskOrder, OrderKey, OrderOutcome, OrderReport, PendingToolOrders, ToolOrder, ToolOutput};
use crate::workspace::session_files::{MessageRole, SessionMessage, SessionText, parse};
use crate::workspace::vfs::{
    FileAnswer, FileOperation, FileOrder, FileOutcome, FileRights, OwnedOrders, PendingFileOrders,
};

/// The beginning of the keys of its file orders.
const ORDERS: &str = "edit-session/";

/// The calls whose session is being saved as a version before it is edited. Part of the saved world. Written by this
/// module only.
#[derive(Resource, Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct SessionVersions(OwnedOrders<OrderKey>);

impl SessionVersions {
    /// Whether no session is being saved as a version.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Finds the calls in a room that was saved without them.
    pub(super) fn adopt(&mut self, under_way: &PendingFileOrders) {
        self.0.adopt(under_way, |key| key.strip_prefix(ORDERS)?.parse().ok());
    }
}

/// Saves the old text of each session that is to be edited, and edits the session once that is done.
pub(super) fn advance_session_edits(
    sessions: SessionsAccess,
    orders: Res<PendingToolOrders>,
    mut outcomes: MessageReader<FileOutcome>,
    mut files: MessageWriter<FileOrder>,
    mut edits: MessageWriter<EditedSession>,
    mut answers: MessageWriter<OrderOutcome>,
    mut versions: ResMut<SessionVersions>,
) {
    let SessionVersions(versions) = versions.bypass_change_detection();
    // The orders of these calls are closed later in this tick.
    let mut answered = BTreeSet::new();
    for outcome in outcomes.read() {
        let Some(key) = versions.take(outcome) else { continue };
        let Some(order) = orders.get(key) else { continue };
        let kept = match &outcome.result {
            Ok(FileAnswer::Unchanged { version, .. }) => Ok(*version),
            Ok(_) => Err("it was not edited: its old text could not be saved".to_owned()),
            Err(failure) => Err(format!(
                "it was not edited, because its old text could not be saved: \
                {}",
                failure.what
            )),
        };
        let news = match kept.and_then(|version| edit(&sessions, order, version)) {
            Ok((edited, text)) => {
                let changed = vec![place(&sessions, &edited)];
                edits.write(edited);
                OrderReport::Done { output: ToolOutput { text, changed, ..ToolOutput::default() } }
            }
            Err(why) => OrderReport::Failed { why },
        };
        answered.insert(key);
        answers.write(OrderOutcome { key, news });
    }
    versions.retain(|key| orders.get(*key).is_some());
    for order in orders.of(DESK) {
        let is_started = answered.contains(&order.key) || versions.owners().any(|key| *key == order.key);
        if is_started || !matches!(DeskOrder::of(order), Ok(DeskOrder::EditSession { .. })) {
            continue;
        }
        // An edit that is refused now needs no version.
        match edit(&sessions, order, 0) {
            Err(why) => drop(answers.write(OrderOutcome { key: order.key, news: OrderReport::Failed { why } })),
            Ok((edited, _)) => {
                let keep = FileOrder {
                    key: format!("{ORDERS}{}", order.key).into(),
                    author: Author(ROOM.into()),
                    activation: Some(order.key.activation.id()),
                    operation: FileOperation::KeepRecord { path: place(&sessions, &edited) },
                    rights: FileRights::default(),
                    cause: order.cause,
                    worktree: None,
                };
                versions.add(&keep, order.key);
                files.write(keep);
            }
        }
    }
}

fn place(sessions: &SessionsAccess, edited: &EditedSession) -> String {
    let key = edited.thread.unwrap_or(ActivationKey::numbered(0));
    path(&edited.agent, key, sessions.kernel.thread(key))
}

/// The edit of the session in its current state, and the result text. The error says why the edit is refused.
fn edit(sessions: &SessionsAccess, order: &ToolOrder, version: u64) -> Result<(EditedSession, String), String> {
    let DeskOrder::EditSession { session, content, guidance } = DeskOrder::of(order)? else {
        return Err("this does not edit a session".to_owned());
    };
    let (key, thread) = sessions.find(&session)?;
    let id = sessions.kernel.session_id(key).unwrap_or_default();
    if thread.agent == order.agent {
        return Err("that is your own session; edit_session is for the sessions of others".to_owned());
    }
    if let Some(why) = sessions.kernel.running_turn(key) {
        return Err(format!(
            "a turn of {id} is running ({why}); try again when it is over, or use send_message for what it needs to \
             know now"
        ));
    }
    let new = match (&content, &guidance) {
        (Some(content), None) => parse(content).map_err(|fault| match fault.line {
            Some(line) => format!("'content' is not a valid session: line {line}: {fault}"),
            None => format!("'content' is not a valid session: {fault}"),
        })?,
        (None, Some(guidance)) => with_guidance(thread, sessions.kernel.activations(), guidance),
        _ => return Err("give either content, the whole session, or guidance".to_owned()),
    };
    if content.is_some() && !new.agent_id.eq_ignore_ascii_case(&thread.agent) {
        return Err(format!("'content' is a session of {:?}, and {id} is one of {}", new.agent_id, thread.agent));
    }
    let count = new.messages.len();
    let edited = EditedSession {
        thread: Some(key),
        path: None,
        agent: thread.agent.clone(),
        profile: thread.profile.clone(),
        session: new,
        ours: None,
        replaces: content.is_some(),
        over: thread.file.over.unwrap_or(0),
        by: order.agent.clone(),
        cause: order.cause,
    };
    if sessions.kernel.check_session_edit(&edited, &sessions.kernel_settings) == SessionEditTiming::Later {
        return Err(format!("{id} cannot be edited now, because too much work is waiting; try again later"));
    }
    let messages = counted(count as u64, "message", "messages");
    let text = format!("Edited: {id} now has {messages}. The old text is kept as version {version} of its file.");
    Ok((edited, text))
}

/// The session with a guidance message added.
fn with_guidance<'a>(
    thread: &crate::kernel::RunNode,
    mut live: impl Iterator<Item = &'a crate::kernel::Activation>,
    guidance: &str,
) -> SessionText {
    let one = live.find(|one| Some(one.key) == thread.live);
    let said: Vec<PromptMessage> = one.map_or_else(|| thread.messages.clone(), |one| one.messages_so_far());
    let mut messages: Vec<SessionMessage> = said.iter().map(file_message).collect();
    let written = Some(messages.len());
    messages.push(SessionMessage::from_text(MessageRole::User, guidance));
    SessionText { agent_id: thread.agent.to_string(), written, messages, ..SessionText::default() }
}
