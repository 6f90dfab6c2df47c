//! Messages between agents, and planners' view of the sessions of other agents.

use bevy::ecs::prelude::*;
use bevy::ecs::system::SystemParam;

use super::message_answers::{AwaitedAnswer, Hops, ReaderSession};
use super::settings::TaskSettings;
use crate::agent::{Agent, Profiles, Roster};
use crate::base::text::{nearest, one_line, truncate};
use crate::base::{ActivationKey, Id};
use crate::kernel::{Activation, Kernel, KernelSettings, RunNode, WorkNotice, WorkOrder, WorkTerms, WorkWanted};
use crate::mind::headings::MESSAGE;
use crate::mind::untrusted_text::name;
use crate::mind::{PromptMessage, Role};
use crate::tools::ToolOrder;

/// The maximum number of sessions in a list.
const MAX_LISTED: usize = 100;
/// The maximum number of characters of a task in a list.
const TASK_CHARS: usize = 120;
/// The maximum number of characters shown of a session, from its end.
const SESSION_CHARS: usize = 16_000;
/// The maximum number of characters shown of a message.
const MESSAGE_CHARS: usize = 3_000;

/// The system parameters for sessions.
#[derive(SystemParam)]
pub(super) struct SessionsAccess<'w, 's> {
    pub(super) kernel: Res<'w, Kernel>,
    pub(super) kernel_settings: Res<'w, KernelSettings>,
    roster: Res<'w, Roster>,
    profiles: Res<'w, Profiles>,
    agents: Query<'w, 's, &'static Agent>,
    hops: ResMut<'w, Hops>,
    notices: MessageWriter<'w, WorkNotice>,
    orders: MessageWriter<'w, WorkOrder>,
}

/// The agent in the default name of a session, in its spelling in file names.
pub(super) fn agent_in(session: &str) -> Option<&str> {
    let session = session.trim();
    let session = session.strip_prefix("sessions/").unwrap_or(session);
    let session = session.strip_suffix(".session.yaml").unwrap_or(session);
    let (agent, thread) = session.rsplit_once('.')?;
    ActivationKey::parse(thread).map(|_| agent)
}

impl SessionsAccess<'_, '_> {
    /// The id of the session in which a call was made.
    pub(super) fn session_of(&self, order: &ToolOrder) -> Option<String> {
        let thread = self.kernel.activation(order.key.activation)?.thread;
        self.kernel.session_id(thread)
    }

    fn all(&self) -> impl Iterator<Item = &Agent> {
        self.roster.agents(&self.agents)
    }

    /// The agent in the room with this id, name or profile.
    fn agent(&self, name: &str) -> Option<&Agent> {
        let by_id = self.all().find(|agent| agent.id.eq_ignore_ascii_case(name));
        by_id
            .or_else(|| self.all().find(|agent| agent.name.eq_ignore_ascii_case(name)))
            .or_else(|| self.all().find(|agent| agent.profile.eq_ignore_ascii_case(name)))
    }

    /// Sends a message to an agent: in its running session if there is one, otherwise in its newest one or in a new
    /// one.
    pub(super) fn send(
        &mut self,
        order: &ToolOrder,
        to: &str,
        message: &str,
        settings: &TaskSettings,
    ) -> Result<String, String> {
        let Some(agent) = self.agent(to) else { return Err(self.unknown_agent(to)) };
        let (id, receiver) = (agent.id.clone(), agent.name.clone());
        if id == order.agent {
            return Err("that is you; choose another recipient".to_owned());
        }
        let own = self.kernel.activation(order.key.activation).map(|one| one.thread);
        let hops = own.and_then(|own| self.hops.sessions.get(&own)).copied().unwrap_or(0);
        if hops >= settings.max_message_hops {
            return Err(format!(
                "you and others have answered each other {hops} times in a row (tasks.max_message_hops); conclude \
                 now"
            ));
        }
        let by = self.agent(&order.agent).map_or_else(|| order.agent.to_string(), |agent| agent.name.to_string());
        let text = format!("{MESSAGE}{} ({}):\n{message}", name(&by), order.agent);
        // An answer to a message is not answered by itself, so that agents do not thank each other forever.
        let is_answer = own.is_some_and(|own| self.hops.answers.has_answered(own, &id));
        let live = self.kernel.next_work_of(&id).map(|one| one.thread);
        let thread = live.or_else(|| self.kernel.may_be_woken(&id, None, &self.kernel_settings));
        let how = match (live, thread) {
            (Some(_), _) => "reads it on its next turn",
            _ => "is activated for it",
        };
        match thread {
            Some(thread) => {
                self.hops.sessions.insert(thread, hops + 1);
                self.await_answer(own, &order.agent, ReaderSession::Known(thread), is_answer);
                let (from, from_work) = (order.agent.clone(), Some(order.key.activation));
                self.notices.write(WorkNotice { thread, text, from, from_work, cause: order.cause });
            }
            None => {
                let named: Id = format!("message/{}", order.key).into();
                self.hops.ordered.insert(named.clone(), hops + 1);
                self.await_answer(own, &order.agent, ReaderSession::Ordered(named.clone()), is_answer);
                let wanted = WorkWanted {
                    order: named,
                    agent: id,
                    task: text,
                    by: order.agent.clone(),
                    terms: WorkTerms { from: Some(order.agent.clone()), ..WorkTerms::default() },
                    cause: order.cause,
                };
                self.orders.write(WorkOrder::Begin(Box::new(wanted)));
            }
        }
        // Finished sessions are not counted any more.
        let kernel = &self.kernel;
        self.hops.sessions.retain(|thread, _| kernel.thread(*thread).is_some());
        Ok(format!("Sent. {receiver} {how}."))
    }

    fn await_answer(&mut self, own: Option<ActivationKey>, asker: &Id, reader: ReaderSession, is_answer: bool) {
        if let Some(session) = own.filter(|_| !is_answer) {
            self.hops.answers.add(AwaitedAnswer::new(reader, asker.clone(), session));
        }
    }

    fn unknown_agent(&self, name: &str) -> String {
        let mut there: Vec<String> = self.all().map(|agent| agent.id.to_string()).collect();
        let near = nearest(name, there.iter().map(String::as_str)).map(str::to_owned);
        there.truncate(20);
        let near = near.map(|near| format!(" Did you mean {near}?")).unwrap_or_default();
        format!("there is no agent {name:?} in the room.{near} There are: {}", there.join(", "))
    }

    fn role(&self, profile: &Id) -> String {
        let role = self.profiles.get(profile).and_then(|profile| profile.role.clone());
        role.map(|role| format!(", {role}")).unwrap_or_default()
    }

    /// Lists the sessions of other agents, running ones first.
    pub(super) fn list(&self, caller: &Id) -> String {
        let mut threads: Vec<(ActivationKey, &RunNode)> =
            self.kernel.threads().filter(|(_, thread)| thread.agent != *caller).collect();
        threads.sort_by_key(|(key, thread)| (thread.live.is_none(), *key));
        if threads.is_empty() {
            return "No other agent has an active session.".to_owned();
        }
        let more = threads.len().saturating_sub(MAX_LISTED);
        let lines = threads.into_iter().take(MAX_LISTED).map(|(key, thread)| {
            let live = thread.live.and_then(|live| self.kernel.activation(live));
            let (status, at) = live.map_or_else(
                || ("sleeping".to_owned(), first_words(&thread.messages)),
                |live| (status(live), live.input.clone()),
            );
            let (id, role) = (self.kernel.session_id(key).unwrap_or_default(), self.role(&thread.profile));
            format!("{id} ({}{role}): {status}: {}", thread.agent, truncate(&one_line(&at), TASK_CHARS))
        });
        let mut text = lines.collect::<Vec<_>>().join("\n");
        if more > 0 {
            text += &format!("\nand {more} more");
        }
        text
    }

    /// The session with this id, or the newest session of the agent with this name.
    pub(super) fn find(&self, session: &str) -> Result<(ActivationKey, &RunNode), String> {
        let of_agent = || {
            let its = self.kernel.threads().filter(|(_, thread)| thread.agent.eq_ignore_ascii_case(session.trim()));
            its.max_by_key(|(key, thread)| (thread.live.is_some(), *key)).map(|(key, _)| key)
        };
        let found = self.kernel.session_named(session).or_else(of_agent);
        found
            .and_then(|key| Some((key, self.kernel.thread(key)?)))
            .ok_or_else(|| format!("there is no active session {session:?}; list_active_sessions lists them"))
    }

    /// The latest messages of a session.
    pub(super) fn read(&self, session: &str) -> Result<String, String> {
        let (key, thread) = self.find(session)?;
        let live = thread.live.and_then(|live| self.kernel.activation(live));
        let messages = live.map_or_else(|| thread.messages.clone(), Activation::messages_so_far);
        let status = live.map_or_else(|| "sleeping".to_owned(), status);
        let mut shown = Vec::new();
        let mut chars = 0;
        for message in messages.iter().rev() {
            let text = message_text(message);
            chars += text.chars().count();
            if chars > SESSION_CHARS {
                shown.push(format!("… {} earlier messages are left out.", messages.len() - shown.len()));
                break;
            }
            shown.push(text);
        }
        shown.reverse();
        let id = self.kernel.session_id(key).unwrap_or_default();
        Ok(format!("{id} ({status})\n\n{}", shown.join("\n\n")))
    }
}

fn first_words(messages: &[PromptMessage]) -> String {
    messages.first().map(|message| message.text.clone()).unwrap_or_default()
}

/// A short description of the state of a piece of work.
fn status(one: &Activation) -> String {
    match one.question() {
        Some((_, call, _)) => format!("waits for a person ({})", call.name),
        None if one.has_begun() => format!("active, turn {}", one.turn),
        None => "queued".to_owned(),
    }
}

/// A message as text.
fn message_text(message: &PromptMessage) -> String {
    let by = match message.role {
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => "tool",
    };
    let calls: Vec<String> = message
        .tool_calls
        .iter()
        .map(|call| format!("\n  calls {}({})", call.name, truncate(&call.arguments.to_string(), 300)))
        .collect();
    format!("{by}: {}{}", truncate(&message.text, MESSAGE_CHARS), calls.concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_agent_is_parsed_from_the_name_of_a_session() {
        for given in ["planner-001.act-7", " sessions/planner-001.act-7.session.yaml "] {
            assert_eq!(agent_in(given), Some("planner-001"), "{given}");
        }
        for odd in ["", "planner-001", "planner-001.abc", "act-7"] {
            assert_eq!(agent_in(odd), None, "{odd}");
        }
    }
}
