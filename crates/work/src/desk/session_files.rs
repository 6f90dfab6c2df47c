//! Session files that a person edits or creates: reads saved files, identifies their sessions, and passes them to the
//! kernel. An unreadable file is left as it is and reported with its line.

use std::collections::BTreeMap;

use bevy::ecs::prelude::*;
use bevy::ecs::system::SystemParam;
use serde::{Deserialize, Serialize};

use crate::agent::{Agent, Profiles, Roster};
use crate::base::hash::content_hash;
use crate::base::text::{nearest, slug};
use crate::base::{ActivationKey, Author, Id, Problem, Seq};
use crate::kernel::{EditedSession, Kernel, KernelSettings, SessionEditTiming, WorkOrder};
use crate::log::events::FileChange;
use crate::log::{EventDraft, EventLog};
use crate::schedule::SimClock;
use crate::workspace::files::FileContent;
use crate::workspace::session_files::{SessionText, copy_of, parse, session_id_of};
use crate::workspace::trust::StartsHeld;
use crate::workspace::vfs::records::records_of;
use crate::workspace::vfs::{OUTSIDE, RecordChanged};
use crate::workspace::{ProblemReport, RoomStart};

/// The number of ticks after which a text that waits for the end of a turn or for an agent is tried again.
const RETRY_TICKS: u64 = 6;
/// The maximum number of waiting texts.
const MAX_WAITING: usize = 1_000;
/// The source name of the reported problems.
const SOURCE: &str = "session files";

/// Session texts that a person saved and that are not applied yet. Part of the saved world. Written by this module
/// only.
#[derive(Resource, Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct SessionEdits {
    waiting: BTreeMap<String, Waiting>,
    /// The problems of session files, by path.
    #[serde(skip)]
    problems: BTreeMap<String, Problem>,
}

/// A text that is not applied yet.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
struct Waiting {
    text: String,
    /// The text that the room last wrote to the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ours: Option<String>,
    /// The text is not applied before this tick.
    not_before: u64,
    /// Whether the agent of the session is unknown.
    is_lost: bool,
    /// The session that is kept for this text, because its work may end before the text is applied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    kept: Option<ActivationKey>,
}

impl SessionEdits {
    /// Whether a text will be applied without any other event. `now` is the current tick.
    pub fn has_pending_edit(&self, now: u64) -> bool {
        self.waiting.values().any(|waiting| waiting.not_before <= now && !waiting.is_lost)
    }
}

/// Whether a session file found when a room is opened must be handled, because the room does not know its content and
/// it requires an action.
pub fn is_news(kernel: &Kernel, change: &RecordChanged) -> bool {
    let FileContent::Text(text) = &change.content else { return true };
    let known = session_id_of(&change.path).and_then(|id| kernel.thread(kernel.session_named(id)?));
    match known {
        Some(thread) => thread.file.over != Some(content_hash(text.as_bytes())),
        None => parse(text).map_or(true, |session| session.begins()),
    }
}

/// The system parameters for session files.
#[derive(SystemParam)]
pub(super) struct SessionFiles<'w, 's> {
    kernel: Res<'w, Kernel>,
    settings: Res<'w, KernelSettings>,
    roster: Res<'w, Roster>,
    profiles: Res<'w, Profiles>,
    agents: Query<'w, 's, &'static Agent>,
    start: Option<Res<'w, RoomStart>>,
    clock: Res<'w, SimClock>,
    log: ResMut<'w, EventLog>,
    edited: MessageWriter<'w, EditedSession>,
    orders: MessageWriter<'w, WorkOrder>,
    reports: MessageWriter<'w, ProblemReport>,
}

/// Applies session files that a person saved.
pub(super) fn apply_saved_files(
    mut edits: ResMut<SessionEdits>,
    mut files: SessionFiles,
    mut changes: MessageReader<RecordChanged>,
    held: StartsHeld,
) {
    if changes.is_empty() && edits.waiting.is_empty() {
        return;
    }
    let edits = edits.bypass_change_detection();
    let before = edits.problems.clone();
    for RecordChanged { path, content, ours } in changes.read() {
        let kept = edits.waiting.get(path).and_then(|waiting| waiting.kept);
        edits.problems.remove(path);
        edits.waiting.remove(path);
        match content {
            FileContent::Text(text) if edits.waiting.len() < MAX_WAITING => {
                let waiting = Waiting { text: text.clone(), ours: ours.clone(), not_before: 0, is_lost: false, kept };
                edits.waiting.insert(path.clone(), waiting);
            }
            FileContent::Text(_) => {
                let what = "too many session files were changed at once, so this one was not read";
                edits.problems.insert(path.clone(), Problem::error(&**path, what, "save it again in a moment"));
            }
            FileContent::Removed => {
                if let Some(thread) = kept {
                    files.orders.write(WorkOrder::Release { thread });
                }
            }
            FileContent::Unusable { what, remedy } => {
                edits.problems.insert(path.clone(), Problem::error(&**path, &**what, &**remedy));
            }
        }
    }
    if !held.holds() {
        let now = files.clock.tick();
        let due = edits.waiting.iter().filter(|(_, waiting)| waiting.not_before <= now);
        for path in due.map(|(path, _)| path.clone()).collect::<Vec<_>>() {
            files.apply(edits, &path, now);
        }
    }
    if edits.problems != before {
        let problems = edits.problems.values().cloned().collect();
        files.reports.write(ProblemReport { source: SOURCE.to_owned(), problems });
    }
}

impl SessionFiles<'_, '_> {
    fn apply(&mut self, edits: &mut SessionEdits, path: &str, now: u64) {
        let Some(mut waiting) = edits.waiting.remove(path) else { return };
        let edited = match parse(&waiting.text) {
            Ok(session) => {
                let ours = waiting.ours.as_deref().and_then(|ours| parse(ours).ok());
                self.resolve(path, session, ours, content_hash(waiting.text.as_bytes()))
            }
            Err(fault) => {
                self.let_go(&waiting);
                let remedy = format!(
                    "{}; until then the file is left as it is, and new messages are written to {}",
                    fault.remedy,
                    copy_of(path)
                );
                edits.problems.insert(path.to_owned(), Problem::error(path, fault.what, remedy).at_line(fault.line));
                return;
            }
        };
        let mut edited = match edited {
            Ok(Some(edited)) => edited,
            Ok(None) => return,
            Err((what, remedy)) => {
                // The agent may still join the room.
                (waiting.not_before, waiting.is_lost) = (now + RETRY_TICKS, true);
                edits.waiting.insert(path.to_owned(), waiting);
                edits.problems.insert(path.to_owned(), Problem::error(path, what, remedy));
                return;
            }
        };
        edits.problems.remove(path);
        match self.kernel.check_session_edit(&edited, &self.settings) {
            SessionEditTiming::Nothing => self.let_go(&waiting),
            SessionEditTiming::Later => {
                let goes_on = edited.thread.filter(|key| self.kernel.terms(*key).is_some_and(|terms| !terms.is_kept));
                if let Some(thread) = goes_on.filter(|_| waiting.kept.is_none()) {
                    waiting.kept = Some(thread);
                    self.orders.write(WorkOrder::Keep { thread });
                }
                (waiting.not_before, waiting.is_lost) = (now + RETRY_TICKS, false);
                edits.waiting.insert(path.to_owned(), waiting);
            }
            SessionEditTiming::Now => {
                self.let_go(&waiting);
                edited.cause = self.log.write(EventDraft::of(&FileChange::new(path, OUTSIDE)));
                self.edited.write(edited);
            }
        }
    }

    /// Identifies the session and the agent of a text. Returns `None` if the text has no effect. The error consists of
    /// the problem and its remedy.
    fn resolve(
        &self,
        path: &str,
        session: SessionText,
        ours: Option<SessionText>,
        over: u64,
    ) -> Result<Option<EditedSession>, (String, String)> {
        let thread = session_id_of(path).and_then(|id| self.kernel.session_named(id));
        let is_unknown = thread.is_none();
        let edited = |thread: Option<ActivationKey>,
                      chosen: Option<&str>,
                      agent: Id,
                      profile: Id,
                      session,
                      ours: Option<SessionText>| EditedSession {
            thread,
            path: chosen.map(str::to_owned),
            agent,
            profile,
            session,
            ours: ours.filter(|_| is_unknown),
            replaces: false,
            over,
            by: Author::user().0,
            cause: Seq(0),
        };
        if let Some((key, known)) = thread.and_then(|key| Some((key, self.kernel.thread(key)?))) {
            if !self.means(&session.agent_id, &known.agent, &known.profile) {
                let what = format!("it is a session of {}, but agent_id is {:?}", known.agent, session.agent_id);
                return Err((
                    what,
                    format!("write agent_id: {}, or create a separate file for another agent", known.agent),
                ));
            }
            let (agent, profile) = (known.agent.clone(), known.profile.clone());
            return Ok(Some(edited(Some(key), None, agent, profile, session, None)));
        }
        // Messages from another scene are applied when that scene is opened.
        let here = self.start.as_ref().map(|start| start.scene.as_str());
        let is_elsewhere = session.scene.as_deref().is_some_and(|scene| Some(scene) != here);
        let begins = session.begins() || ours.is_some();
        if !begins || is_elsewhere {
            return Ok(None);
        }
        let (agent, profile) = self.agent(&session.agent_id)?;
        let usual = session.thread.map(|thread| format!("{}{}.session.yaml", records_of(&agent), thread.id()));
        let chosen = (usual.as_deref() != Some(path)).then_some(path);
        Ok(Some(edited(None, chosen, agent, profile, session, ours)))
    }

    /// Releases the session that was kept for this text.
    fn let_go(&mut self, waiting: &Waiting) {
        if let Some(thread) = waiting.kept {
            self.orders.write(WorkOrder::Release { thread });
        }
    }

    fn all(&self) -> impl Iterator<Item = &Agent> {
        self.roster.agents(&self.agents)
    }

    /// Whether a name stands for this agent.
    fn means(&self, name: &str, agent: &str, profile: &str) -> bool {
        let is = |word: &str| word.eq_ignore_ascii_case(name);
        is(agent) || is(profile) || self.all().any(|one| *one.id == *agent && is(&one.name))
    }

    /// The agent with this name and its profile: one in the room, or a profile that will be added to it.
    fn agent(&self, name: &str) -> Result<(Id, Id), (String, String)> {
        let is = |word: &str| word.eq_ignore_ascii_case(name);
        let here = || self.all();
        let found = here().find(|one| is(&one.id)).or_else(|| here().find(|one| is(&one.profile)));
        let found = found.or_else(|| here().find(|one| is(&one.name) || is(&slug(&one.name))));
        if let Some(one) = found {
            return Ok((one.id.clone(), one.profile.clone()));
        }
        if let Some(profile) = self.profiles.ids().find(|id| is(id) && self.profiles.is_defined(id)) {
            return Ok((profile.clone(), profile.clone()));
        }
        let there: Vec<&str> = here().map(|one| &*one.id).collect();
        let near =
            nearest(name, there.iter().copied()).map(|near| format!(" Did you mean {near}?")).unwrap_or_default();
        let what = format!("there is no agent {name:?} for this session.{near}");
        Err((what, "fix agent_id, or create an agent file with this name".to_owned()))
    }
}
