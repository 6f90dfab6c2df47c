//! Programs, web requests and Slack: how outsides start them, and stop them again.

use std::sync::Arc;

use bevy::ecs::prelude::*;
use bevy::ecs::system::SystemParam;
use tokio::runtime::Handle;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::gateway::AttributesPutBack;
use crate::gateway::keys::key_reader::CurrentKeys;
use crate::gateway::keys::{Environment, Keys};
use crate::gateway::programs::sandbox::attribute_reports::PutBackListener;
use crate::gateway::programs::{ProgramEnded, ProgramOrder, ProgramPlace, run};
use crate::gateway::requests::dispatch::GatewayEnvironment;
use crate::gateway::slack::{SlackCommand, SlackEvent};
use crate::gateway::web::{WebAnswered, WebQuestion};
use crate::gateway::worker::{Network, NetworkRuntime};
use crate::schedule::outside::Notices;

/// Starts programs, web requests, and requests to Slack.
#[derive(SystemParam)]
pub struct ExternalCalls<'w> {
    network: Res<'w, Network>,
    environment: Option<Res<'w, GatewayEnvironment>>,
    put_back: Option<Res<'w, Notices<AttributesPutBack>>>,
}

/// A running program or request. It is stopped when this is dropped.
pub struct RunningCall {
    _stop: DropGuard,
}

impl ExternalCalls<'_> {
    /// Runs a program, and passes how it ended to `done` on another thread. The error says why nothing can be started.
    pub fn run_program(
        &self,
        program: ProgramOrder,
        done: impl FnOnce(ProgramEnded) + Send + 'static,
    ) -> Result<RunningCall, String> {
        let (threads, stop) = self.begin().map_err(|error| format!("nothing can be started: {error}"))?;
        let (environment, keys) = (self.environment(), self.network.keys.clone());
        let place = ProgramPlace::of(&environment).telling(self.put_back_listener());
        let cancel = stop.clone();
        threads.spawn(async move {
            let Some((before, _)) = read_keys(keys.clone(), environment.clone()).await else { return };
            let mut ended = run(program, place, cancel).await;
            if let Some((after, _)) = read_keys(keys, environment).await {
                // A person may have replaced a key meanwhile.
                ended.redact(|text| after.redact(&before.redact(text)));
                done(ended);
            }
        });
        Ok(RunningCall { _stop: stop.drop_guard() })
    }

    /// Sends a web request once, and passes its answer to `done` on another thread. The error says why nothing can be
    /// sent.
    pub fn fetch(
        &self,
        question: WebQuestion,
        done: impl FnOnce(WebAnswered) + Send + 'static,
    ) -> Result<RunningCall, String> {
        let (threads, stop) = self.begin().map_err(|error| format!("the network is not available: {error}"))?;
        let (environment, keys, cancel) = (self.environment(), self.network.keys.clone(), stop.clone());
        threads.spawn(async move {
            let Some((before, _)) = read_keys(keys.clone(), environment.clone()).await else { return };
            let answered = question.ask(cancel).await;
            if let Some((after, _)) = read_keys(keys, environment).await {
                done(WebQuestion::redacted(answered, |text| after.redact(&before.redact(text))));
            }
        });
        Ok(RunningCall { _stop: stop.drop_guard() })
    }

    /// Sends a message to Slack, or reads its channels, and passes the result to `done` on another thread. The error says
    /// why nothing can be sent.
    pub fn ask_slack(
        &self,
        command: SlackCommand,
        done: impl FnOnce(SlackEvent) + Send + 'static,
    ) -> Result<RunningCall, String> {
        let (threads, stop) = self.begin().map_err(|error| format!("the network is not available: {error}"))?;
        let (environment, keys, cancel) = (self.environment(), self.network.keys.clone(), stop.clone());
        let slack = self.network.slack.clone();
        threads.spawn(async move {
            if let Some((keys, environment)) = read_keys(keys, environment).await {
                done(slack.carry_out(command, environment, keys, cancel).await);
            }
        });
        Ok(RunningCall { _stop: stop.drop_guard() })
    }

    /// Returns what MCP servers need: the threads, the environment, and who hears what they change of guarded files.
    pub(in crate::gateway) fn of_servers(&self) -> (&NetworkRuntime, Environment, PutBackListener) {
        (&self.network.runtime, self.environment(), self.put_back_listener())
    }

    fn begin(&self) -> std::io::Result<(Handle, CancellationToken)> {
        Ok((self.network.runtime.handle()?, self.network.runtime.until_closed()))
    }

    fn environment(&self) -> Environment {
        self.environment.as_ref().map(|environment| environment.0.clone()).unwrap_or_default()
    }

    /// Passes what programs change of guarded files on to the world.
    fn put_back_listener(&self) -> PutBackListener {
        let Some(notices) = &self.put_back else { return PutBackListener::default() };
        let sender = notices.sender();
        PutBackListener::new(move |report| sender.give(report))
    }
}

/// Reads the keys without blocking the thread that serves other calls. Without them, nothing that may contain one is
/// passed on.
async fn read_keys(keys: CurrentKeys, environment: Environment) -> Option<(Arc<Keys>, Environment)> {
    tokio::task::spawn_blocking(move || keys.read(&environment)).await.ok()
}
