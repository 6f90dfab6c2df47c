//! MCP servers without a room: for the command line, which tests a server and waits for it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, bounded};
use tokio::runtime::Runtime;

use super::answer::McpAnswer;
use super::elicitation::{McpElicitation, McpReply};
use super::failure::{McpFailure, McpFault};
use super::messages::{McpCommand, McpEvent, McpRequest, McpStatus};
use super::offer::McpOffer;
use super::pool::Pool;
use super::settings::McpTerms;
use crate::agent::McpServer;
use crate::gateway::keys::Environment;
use crate::gateway::programs::sandbox::attribute_reports::{AttributesPutBack, PutBackListener};

/// The maximum number of waiting events.
const EVENTS: usize = 1024;

/// A client of one server. Dropping it ends the server.
pub struct McpClient {
    pool: Option<Pool>,
    events: Receiver<McpEvent>,
    /// What the server changed of guarded files.
    put_back: Receiver<AttributesPutBack>,
    server: McpServer,
    terms: McpTerms,
    // Dropped last, because the pool ends its servers on it.
    _runtime: Runtime,
}

impl McpClient {
    /// Connects to a server and waits until it is ready.
    pub fn connect(
        server: McpServer,
        terms: McpTerms,
        environment: &Environment,
    ) -> Result<(Self, McpOffer), McpFailure> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .thread_name("mcp")
            .enable_all()
            .build()
            .map_err(|error| {
                let what = format!("nothing can be started: {error}");
                McpFailure::new(McpFault::Setup, what, "free some memory or threads and try again")
            })?;
        let (sender, events) = bounded(EVENTS);
        let says = Arc::new(move |event| {
            // Nobody receives events any more when the client is gone.
            let _ = sender.try_send(event);
        });
        let (sender, put_back) = bounded(EVENTS);
        let listener = PutBackListener::new(move |report| {
            // It was logged already.
            let _ = sender.try_send(report);
        });
        let mut pool = Pool::new(runtime.handle().clone(), environment, says, listener);
        let connect = McpCommand::Connect { server: Box::new(server.clone()), terms: Box::new(terms.clone()) };
        pool.execute(connect);
        let client = Self { pool: Some(pool), events, put_back, server, terms, _runtime: runtime };
        let patience = client.terms.connect * 2 + Duration::from_secs(5);
        let offer = client.wait(patience, |event| match event {
            McpEvent::Standing { news: McpStatus::Ready { offer }, .. } => Some(Ok(*offer)),
            McpEvent::Standing { news: McpStatus::Failed { failure, .. }, .. } => Some(Err(failure)),
            _ => None,
        })?;
        Ok((client, offer))
    }

    /// Sends a request to the server and waits for the result. `progress` receives progress messages, and what was put
    /// back of guarded files. Questions of the server during the call are declined.
    pub fn call(&mut self, request: McpRequest, progress: impl FnMut(&str)) -> Result<McpAnswer, McpFailure> {
        self.call_answering(request, progress, |_| McpReply::Declined)
    }

    /// Like [`Self::call`], but `answer` returns the answers to the server's questions.
    pub fn call_answering(
        &mut self,
        request: McpRequest,
        mut progress: impl FnMut(&str),
        mut answer: impl FnMut(&McpElicitation) -> McpReply,
    ) -> Result<McpAnswer, McpFailure> {
        let id: crate::base::Id = "call".into();
        let command = McpCommand::Call { id, key: self.server.key(), request: Box::new(request), observer: None };
        if let Some(pool) = &mut self.pool {
            pool.execute(command);
        }
        let until = Instant::now() + self.terms.call_total + Duration::from_secs(5);
        while let Ok(event) = self.events.recv_deadline(until) {
            match event {
                McpEvent::Done { outcome, .. } => {
                    self.put_back.try_iter().for_each(|report| progress(&report.sentence()));
                    return outcome;
                }
                McpEvent::Progress { text, .. } => progress(&text),
                McpEvent::Asks { id, question } => {
                    let (key, number, reply) = (self.server.key(), question.number, answer(&question));
                    if reply == McpReply::Declined {
                        progress(&format!("the server's question to you was declined: {}", question.message));
                    }
                    if let Some(pool) = &mut self.pool {
                        pool.execute(McpCommand::Answer { id, key, number, reply });
                    }
                }
                McpEvent::Samples { id, question } => {
                    let (key, number) = (self.server.key(), question.number);
                    let why = "no agent is working here whose model could be asked";
                    progress(&format!("the server's question to a model was refused: {why}"));
                    let reply = McpReply::Refused { why: why.to_owned() };
                    if let Some(pool) = &mut self.pool {
                        pool.execute(McpCommand::Answer { id, key, number, reply });
                    }
                }
                McpEvent::Standing { .. } => {}
            }
        }
        Err(too_silent())
    }

    fn wait<T>(
        &self,
        patience: Duration,
        mut is_it: impl FnMut(McpEvent) -> Option<Result<T, McpFailure>>,
    ) -> Result<T, McpFailure> {
        let until = Instant::now() + patience;
        while let Ok(event) = self.events.recv_deadline(until) {
            if let Some(found) = is_it(event) {
                return found;
            }
        }
        Err(too_silent())
    }
}

fn too_silent() -> McpFailure {
    McpFailure::new(McpFault::Timeout, "it did not respond in time", "")
}

impl Drop for McpClient {
    fn drop(&mut self) {
        if let Some(pool) = self.pool.take() {
            pool.shut_down();
        }
    }
}
