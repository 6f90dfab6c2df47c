//! The running coding agents: one process for each agent of the room, with one session for each activation, and one
//! additional session for all other requests.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::Mutex as AsyncMutex;
use tokio::time::timeout;

use super::connection::{AgentPlace, Connection, allowed};
use super::conversation::Conversation;
use super::settings::AcpTerms;
use crate::agent::McpServer;
use crate::base::Id;
use crate::gateway::peers::consent;
use crate::gateway::programs::sandbox::attribute_reports::PutBackListener;
use crate::gateway::providers::provider::ProviderError;

/// How long all agents together may take to exit at shutdown.
const EXIT: Duration = Duration::from_millis(1_200);
/// The interval at which it is checked whether a process is still needed and allowed.
const LOOK: Duration = Duration::from_millis(250);

/// The pool of coding agents.
#[derive(Clone, Default)]
pub(in crate::gateway) struct AgentPool(Arc<Shared>);

#[derive(Default)]
struct Shared {
    processes: Mutex<HashMap<(String, Id), Slot<Arc<Connection>>>>,
    works: Mutex<HashMap<(String, Id), Slot<Conversation>>>,
    put_back: PutBackListener,
}

/// A resource that is used by one caller at a time.
pub(super) type Slot<T> = Arc<AsyncMutex<Option<T>>>;

fn slot<T>(slots: &Mutex<HashMap<(String, Id), Slot<T>>>, key: (String, Id)) -> Slot<T> {
    slots.lock().unwrap_or_else(PoisonError::into_inner).entry(key).or_default().clone()
}

impl AgentPool {
    /// Creates a pool that reports what its agents change of guarded files.
    pub(in crate::gateway) fn telling(put_back: PutBackListener) -> Self {
        Self(Arc::new(Shared { put_back, ..Shared::default() }))
    }

    /// Returns what receives these reports.
    pub(super) fn put_back(&self) -> PutBackListener {
        self.0.put_back.clone()
    }

    /// Closes the session of a finished activation, and stops a running turn.
    pub(in crate::gateway) fn end_work(&self, handle: &Handle, work: &Id) {
        let ended: Vec<Slot<Conversation>> = {
            let mut works = self.0.works.lock().unwrap_or_else(PoisonError::into_inner);
            let keys: Vec<_> = works.keys().filter(|(_, of)| of == work).cloned().collect();
            keys.iter().filter_map(|key| works.remove(key)).collect()
        };
        for slot in ended {
            handle.spawn(async move {
                if let Some(conversation) = slot.lock().await.take() {
                    conversation.close(Duration::from_secs(5)).await;
                }
            });
        }
    }

    /// Ends all agents and waits for that, for a bounded time, after which they are killed.
    pub(in crate::gateway) fn shut_down(&self, handle: &Handle) {
        let slots: Vec<Slot<Arc<Connection>>> = {
            let mut processes = self.0.processes.lock().unwrap_or_else(PoisonError::into_inner);
            processes.drain().map(|(_, slot)| slot).collect()
        };
        self.0.works.lock().unwrap_or_else(PoisonError::into_inner).clear();
        handle.block_on(async {
            let end = slots.iter().map(|slot| async {
                if let Some(connection) = slot.lock().await.take() {
                    connection.shut().await;
                }
            });
            let _ = timeout(EXIT, futures_util::future::join_all(end)).await;
        });
    }

    /// Returns the session of an agent of the room for an activation, if there is one.
    pub(super) fn conversation(&self, agent: &str, work: Id) -> Slot<Conversation> {
        slot(&self.0.works, (agent.to_owned(), work))
    }

    /// Returns the process of an agent of the room, and starts it if necessary.
    pub(super) async fn connection(
        &self,
        agent: &str,
        program: &McpServer,
        terms: &AcpTerms,
        place: &AgentPlace,
    ) -> Result<Arc<Connection>, ProviderError> {
        let key = (agent.to_owned(), program.key());
        let slot = slot(&self.0.processes, key);
        let mut kept = slot.lock().await;
        if let Err(refused) = allowed(program, place).await {
            if let Some(connection) = kept.take() {
                connection.shut().await;
            }
            return Err(refused);
        }
        if let Some(connection) = kept.as_ref().filter(|connection| !connection.is_gone()) {
            return Ok(connection.clone());
        }
        let connection = Connection::open(program, terms, place).await?;
        *kept = Some(connection.clone());
        let watched = Watched { slot: slot.clone(), program: program.clone(), place: place.clone(), idle: terms.idle };
        tokio::spawn(watched.watch_until_ended(connection.clone()));
        Ok(connection)
    }
}

/// A running process that is watched.
struct Watched {
    slot: Slot<Arc<Connection>>,
    program: McpServer,
    place: AgentPlace,
    idle: Duration,
}

impl Watched {
    /// Ends the process when it has been idle for too long, or when the person no longer allows it.
    async fn watch_until_ended(self, connection: Arc<Connection>) {
        let config = self.place.config.as_deref();
        let mut stamp = consent::stamp(config);
        loop {
            tokio::select! {
                () = tokio::time::sleep(LOOK) => {}
                () = connection.gone() => return,
            }
            let now = consent::stamp(config);
            if std::mem::replace(&mut stamp, now) != now && allowed(&self.program, &self.place).await.is_err() {
                connection.shut().await;
                return;
            }
            if !connection.is_idle(self.idle) {
                continue;
            }
            let mut kept = self.slot.lock().await;
            if connection.is_idle(self.idle) {
                *kept = None;
                drop(kept);
                connection.shut().await;
                return;
            }
        }
    }
}
