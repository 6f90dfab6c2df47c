//! The worker's part: sends and reads on the runtime, and always reports a result.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use tokio_util::sync::CancellationToken;

use super::api_client::{Api, trouble_of};
use super::messages::{SlackCommand, SlackEvent, SlackPoll, SlackPost, SlackTrouble};
use super::names::Names;
use super::polling::look;
use super::sending::Sending;
use crate::gateway::keys::{Environment, Keys};
use crate::gateway::providers::cooldowns::Cooldowns;

/// The state of Slack while the worker runs. Clones share it.
#[derive(Clone, Default)]
pub(in crate::gateway) struct SlackWork {
    rests: Cooldowns,
    names: Names,
    looked_at: Arc<Mutex<Option<Instant>>>,
    /// The keys with which the names were read.
    keys: Arc<Mutex<Option<Arc<Keys>>>>,
}

impl SlackWork {
    /// Executes a command to its end.
    pub(in crate::gateway) async fn carry_out(
        self,
        command: SlackCommand,
        environment: Environment,
        keys: Arc<Keys>,
        cancel: CancellationToken,
    ) -> SlackEvent {
        self.note_keys(&keys);
        let redact = |text: &mut String| *text = keys.redact(text);
        match command {
            SlackCommand::Send { id, message, terms } => {
                let total = terms.total;
                let (rests, names) = (self.rests, self.names);
                let sending = Sending { environment: &environment, keys: &keys, terms: *terms, rests, names };
                let mut post = tokio::select! {
                    () = cancel.cancelled() => unknown("the workshop was stopped"),
                    post = tokio::time::timeout(total, sending.send(&id, &message)) =>
                        post.unwrap_or_else(|_| unknown("it took too long")),
                };
                match &mut post {
                    SlackPost::Sent { .. } => {}
                    SlackPost::NotSent { what, remedy } => {
                        redact(what);
                        redact(remedy);
                    }
                    SlackPost::Unknown { what } => redact(what),
                }
                SlackEvent::Posted { id, post }
            }
            SlackCommand::Look { channels, terms } => {
                let due = self.looked().map(|at| at + terms.settings.interval());
                if let Some(due) = due {
                    tokio::select! {
                        () = cancel.cancelled() => return SlackEvent::Looked(Box::default()),
                        () = tokio::time::sleep_until(due.into()) => {}
                    }
                }
                let total = terms.total;
                let place = Api::place(&environment);
                let looking = async {
                    match Api::open(&environment, &keys, *terms, self.rests.clone()) {
                        Ok(api) => look(&api, &self.names, &place, &channels).await,
                        Err(fault) => of_trouble(trouble_of(&fault, &place, "")),
                    }
                };
                let mut found = tokio::select! {
                    () = cancel.cancelled() => SlackPoll::default(),
                    found = tokio::time::timeout(total, looking) => found.unwrap_or_else(|_| of_trouble(SlackTrouble {
                        what: format!("{place} did not finish within {} s", total.as_secs()),
                        remedy: "it is retried later".to_owned(),
                    })),
                };
                *self.looked_at.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
                for arrival in &mut found.arrived {
                    redact(&mut arrival.text);
                    redact(&mut arrival.from);
                }
                for trouble in &mut found.troubles {
                    redact(&mut trouble.what);
                    redact(&mut trouble.remedy);
                }
                SlackEvent::Looked(Box::new(found))
            }
        }
    }

    fn looked(&self) -> Option<Instant> {
        *self.looked_at.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Clears the names if the keys changed, because another team may have other ids.
    fn note_keys(&self, keys: &Arc<Keys>) {
        let mut known = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        if known.as_ref().is_none_or(|known| !Arc::ptr_eq(known, keys)) {
            *known = Some(keys.clone());
            self.names.forget();
        }
    }
}

fn unknown(what: &str) -> SlackPost {
    SlackPost::Unknown { what: what.to_owned() }
}

fn of_trouble(trouble: SlackTrouble) -> SlackPoll {
    SlackPoll { troubles: vec![trouble], ..SlackPoll::default() }
}
