//! A session with a coding agent for one activation: composes the prompt of each request, and converts the answer to
//! the form that the agent loop expects.

use std::path::Path;
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

use agent_client_protocol::v1::schema::PromptResponse;

use super::prompt::{news, results, rules_of};
use super::session::Session;
use super::stop_reason::{finish, micro_usd, usage_of};
use super::turns::answer_context::AnswerContext;
use super::turns::requests::OpenRequest;
use super::turns::terminals::TerminalEnvironment;
use crate::agent::McpServer;
use crate::base::{Id, text};
use crate::gateway::providers::provider::{ProviderError, ProviderRequest};
use crate::mind::{AgentOptionValue, Completion, Finish, ToolCall, Usage};

/// The parts of a request that a session needs.
pub(super) struct SessionRequest<'a> {
    pub(super) request: &'a ProviderRequest,
    /// The command that starts the agent.
    pub(super) program: &'a McpServer,
    pub(super) workspace: &'a Path,
    /// Creates the environment in which a program is started.
    pub(super) terminal_environment: &'a (dyn Fn() -> TerminalEnvironment + Sync),
}

/// The answer of the agent.
#[derive(Default)]
pub(super) struct Answered {
    pub(super) words: String,
    pub(super) asked: Vec<OpenRequest>,
    pub(super) end: Option<PromptResponse>,
}

/// The session of one activation.
pub(super) struct Conversation {
    pub(super) session: Session,
    pub(super) agent: Id,
    /// The hash of the rules that were last sent.
    rules: u64,
    /// The agent's requests that became tool calls, by the ids of the calls.
    pub(super) wanted: Vec<(String, OpenRequest)>,
    /// The number of tool calls so far.
    pub(super) calls: u64,
    /// Messages that arrived while nothing could be sent to the agent.
    unsent: Vec<String>,
    /// The estimated usage of the turn so far, until the agent reports the actual one.
    reckoned: Usage,
    /// The cost that the agent has reported, in dollars.
    pub(super) paid_usd: f64,
    /// The kind of its first prompt, until that is sent.
    pub(super) first: Option<First>,
    /// The call by which a person is asked about this mode of the agent, before its first prompt.
    pub(super) asks_mode: Option<(String, AgentOptionValue)>,
    /// Why an earlier session could not be continued, as a message that the person has not received yet.
    pub(super) lost: Option<String>,
}

/// The content of the first prompt of a session.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum First {
    /// The whole conversation.
    Whole,
    /// Only what the agent has not answered yet, because it stored the rest.
    Resumed,
}

impl Conversation {
    /// Creates the conversation of a session before its first prompt.
    pub(super) fn new(
        session: Session,
        (program, request): (&McpServer, &ProviderRequest),
        first: First,
        lost: Option<String>,
        paid_usd: f64,
    ) -> Self {
        Self {
            session,
            agent: program.key(),
            rules: rules_of(&request.prompt),
            wanted: Vec::new(),
            calls: 0,
            unsent: Vec::new(),
            reckoned: Usage::default(),
            paid_usd,
            first: Some(first),
            asks_mode: None,
            lost,
        }
    }

    /// Returns the prompt to send for this request; `None` if the agent is only waiting for the results of its
    /// requests.
    pub(super) fn next_prompt(&mut self, question: &SessionRequest<'_>) -> Option<Vec<String>> {
        let request = question.request;
        if !self.wanted.is_empty() {
            let (results, others) = results(&request.prompt);
            let turn = self.session.turn.clone();
            let context = AnswerContext {
                workspace: question.workspace,
                terminals: &turn.terminals,
                terminal_environment: question.terminal_environment,
                images: &request.result_images,
                takes_images: self.session.connection.takes_images,
            };
            for (id, asked) in self.wanted.drain(..) {
                let result = results.iter().find(|result| result.answers.as_deref() == Some(&id));
                match result {
                    Some(result) => self.unsent.extend(asked.answer(result, &context)),
                    None => asked.refuse("the room can no longer answer this"),
                }
            }
            self.unsent.extend(others);
            if self.session.turn.is_open() {
                return None;
            }
        }
        let rules = rules_of(&request.prompt);
        let has_changed = std::mem::replace(&mut self.rules, rules) != rules;
        Some(news(&request.prompt, has_changed, std::mem::take(&mut self.unsent)))
    }

    /// Waits until the agent has stopped after a cancellation. Returns whether it can be prompted again.
    pub(super) async fn has_stopped(&mut self, patience: Duration) -> bool {
        let until = Instant::now() + patience + Duration::from_secs(1);
        while self.wanted.is_empty() && self.session.turn.is_open() {
            tokio::select! {
                () = self.session.turn.changed.notified() => {}
                () = self.session.connection.gone() => return false,
                () = sleep_until(until) => return false,
            }
        }
        !self.session.connection.is_gone()
    }

    /// Converts the agent's answer to a completion: finished, or with tool calls.
    pub(super) fn completion(
        &mut self,
        answered: Answered,
        sent_chars: usize,
        question: &SessionRequest<'_>,
    ) -> Result<Completion, ProviderError> {
        let Answered { words, asked, end } = answered;
        let (mut told, paid) = self.session.turn.take_report(end.is_some());
        told.sent_chars = sent_chars;
        told.cost_micro_usd = paid.map(|paid| {
            let before = std::mem::replace(&mut self.paid_usd, paid);
            // An agent that was restarted may count from zero again.
            micro_usd(if paid < before { paid } else { paid - before })
        });
        (told.session, told.lost) = (Some(self.kept()), self.lost.take());
        let said = text::tokens_of_chars(words.chars().count());
        let Some(response) = end else {
            let calls: Vec<ToolCall> = asked.into_iter().map(|asked| self.given(asked, question)).collect();
            self.reckoned.input_tokens =
                self.reckoned.input_tokens.saturating_add(text::tokens_of_chars(told.sent_chars));
            self.reckoned.output_tokens = self.reckoned.output_tokens.saturating_add(said);
            return Ok(Completion {
                text: words,
                tool_calls: calls,
                usage: Usage::default(),
                finish: Finish::ToolCalls,
                told: Some(Box::new(told)),
            });
        };
        // The agent ended its turn without waiting for the answers to its requests.
        asked.into_iter().for_each(OpenRequest::withdraw);
        self.session.turn.go_idle();
        let reckoned = std::mem::take(&mut self.reckoned);
        let mut usage = usage_of(&response);
        usage.input_tokens = usage.input_tokens.saturating_sub(reckoned.input_tokens);
        usage.output_tokens = usage.output_tokens.saturating_sub(reckoned.output_tokens);
        usage.cached_tokens = usage.cached_tokens.min(usage.input_tokens);
        let finish = finish(&response, question.program)?;
        Ok(Completion { text: words, tool_calls: Vec::new(), usage, finish, told: Some(Box::new(told)) })
    }

    /// Converts a request of the agent to a call of the room's tools.
    fn given(&mut self, asked: OpenRequest, question: &SessionRequest<'_>) -> ToolCall {
        self.calls += 1;
        let id = format!("acp-{}", self.calls);
        let call = asked.call(id.clone(), question.workspace);
        self.wanted.push((id, asked));
        call
    }

    /// Cancels the turn, because its answer is no longer needed.
    pub(super) fn give_up(&mut self, patience: Duration) {
        self.wanted.drain(..).for_each(|(_, asked)| asked.withdraw());
        self.reckoned = Usage::default();
        self.session.stop(patience);
    }

    /// Closes the session at the end of the work.
    pub(super) async fn close(mut self, patience: Duration) {
        self.give_up(patience);
        self.session.close().await;
    }
}
