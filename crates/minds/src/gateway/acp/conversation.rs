//! A session with a coding agent for one piece of work: what is sent with each request, and its answer in the form that
//! the room's work expects.

use std::path::Path;
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

use agent_client_protocol::v1::schema::PromptResponse;

use super::super::provider::{ProviderError, ProviderRequest};
use super::answer_context::AnswerContext;
use super::prompt::{news, results, rules_of};
use super::requests::OpenRequest;
use super::session::Session;
use super::stop_reason::{finish, micro_usd, usage_of};
use super::terminals::Ground;
use crate::agent::McpServer;
use crate::base::{Id, text};
use crate::mind::{Completion, Finish, OwnValue, ToolCall, Usage};

/// A request, as far as a session needs it.
pub(super) struct SessionRequest<'a> {
    pub(super) request: &'a ProviderRequest,
    /// The agent's command line.
    pub(super) program: &'a McpServer,
    pub(super) workspace: &'a Path,
    /// What a program is started with.
    pub(super) ground: &'a (dyn Fn() -> Ground + Sync),
}

/// The agent's answer.
#[derive(Default)]
pub(super) struct Answered {
    pub(super) words: String,
    pub(super) asked: Vec<OpenRequest>,
    pub(super) end: Option<PromptResponse>,
}

/// The session of one piece of work.
pub(super) struct Conversation {
    pub(super) session: Session,
    pub(super) agent: Id,
    /// The hash of the rules that it was told last.
    rules: u64,
    /// What the agent wants and has been given to the room's work, by the ids of the calls.
    pub(super) wanted: Vec<(String, OpenRequest)>,
    /// Calls that were given to the room's work.
    pub(super) calls: u64,
    /// What arrived while the agent could not be told.
    untold: Vec<String>,
    /// Estimated tokens of its turn so far, until it reports what it used.
    reckoned: Usage,
    /// The cost that it has reported, in dollars.
    pub(super) paid_usd: f64,
    /// What its first prompt is, as long as it had none.
    pub(super) first: Option<First>,
    /// The call by which a person is asked about this mode of the agent, before its first prompt.
    pub(super) asks_mode: Option<(String, OwnValue)>,
    /// Why something could not be continued, in words for a person who was not told yet.
    pub(super) lost: Option<String>,
}

/// What the first prompt of a session contains.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum First {
    /// Everything.
    Whole,
    /// What the agent has not answered yet: it has kept the rest.
    Resumed,
}

impl Conversation {
    /// A session before its first prompt.
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
            untold: Vec::new(),
            reckoned: Usage::default(),
            paid_usd,
            first: Some(first),
            asks_mode: None,
            lost,
        }
    }

    /// The prompt to send for this question; `None` if the agent is only waiting for the results of its requests.
    pub(super) fn next_prompt(&mut self, question: &SessionRequest<'_>) -> Option<Vec<String>> {
        let request = question.request;
        if !self.wanted.is_empty() {
            let (results, others) = results(&request.prompt);
            let turn = self.session.turn.clone();
            let context = AnswerContext {
                workspace: question.workspace,
                terminals: &turn.terminals,
                ground: question.ground,
                images: &request.result_images,
                takes_images: self.session.connection.takes_images,
            };
            for (id, asked) in self.wanted.drain(..) {
                let result = results.iter().find(|result| result.answers.as_deref() == Some(&id));
                match result {
                    Some(result) => self.untold.extend(asked.answer(result, &context)),
                    None => asked.refuse("the room can no longer answer this"),
                }
            }
            self.untold.extend(others);
            if self.session.turn.is_open() {
                return None;
            }
        }
        let rules = rules_of(&request.prompt);
        let has_changed = std::mem::replace(&mut self.rules, rules) != rules;
        Some(news(&request.prompt, has_changed, std::mem::take(&mut self.untold)))
    }

    /// Waits until the agent has stopped after a cancellation. Returns whether it can be asked again.
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

    /// The agent's answer as the room's work takes it: done, or with calls of tools.
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
        // It ended without waiting for what it wanted.
        asked.into_iter().for_each(OpenRequest::withdraw);
        self.session.turn.rest();
        let reckoned = std::mem::take(&mut self.reckoned);
        let mut usage = usage_of(&response);
        usage.input_tokens = usage.input_tokens.saturating_sub(reckoned.input_tokens);
        usage.output_tokens = usage.output_tokens.saturating_sub(reckoned.output_tokens);
        usage.cached_tokens = usage.cached_tokens.min(usage.input_tokens);
        let finish = finish(&response, question.program)?;
        Ok(Completion { text: words, tool_calls: Vec::new(), usage, finish, told: Some(Box::new(told)) })
    }

    /// Something that the agent wants, as a call of the room's tools.
    fn given(&mut self, asked: OpenRequest, question: &SessionRequest<'_>) -> ToolCall {
        self.calls += 1;
        let id = format!("acp-{}", self.calls);
        let call = asked.call(id.clone(), question.workspace);
        self.wanted.push((id, asked));
        call
    }

    /// Nobody waits for this answer any more.
    pub(super) fn give_up(&mut self, patience: Duration) {
        self.wanted.drain(..).for_each(|(_, asked)| asked.withdraw());
        self.reckoned = Usage::default();
        self.session.stop(patience);
    }

    /// The work is over.
    pub(super) async fn close(mut self, patience: Duration) {
        self.give_up(patience);
        self.session.close().await;
    }
}
