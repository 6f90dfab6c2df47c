//! The pool of MCP servers as the room's outsides use it: what a server reports goes to whoever asked for it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use bevy::ecs::prelude::*;

use crate::agent::McpServer;
use crate::base::Id;
use crate::gateway::keys::Environment;
use crate::gateway::mcp::{
    EmitEvent, McpCommand, McpEvent, McpFailure, McpFault, McpReply, McpRequest, McpStatus, McpTerms, Pool,
};
use crate::gateway::programs::sandbox::attribute_reports::PutBackListener;
use crate::gateway::worker::NetworkRuntime;
use crate::workspace::vfs::ProgramObserver;

/// Receives the status of a server.
pub(in crate::gateway) type StatusListener = Arc<dyn Fn(McpStatus) + Send + Sync>;
/// Receives the events of a call.
type CallListener = Arc<dyn Fn(McpEvent) + Send + Sync>;

/// The MCP servers in use. Nothing is started before a server is needed.
#[derive(Resource, Clone, Default)]
pub struct ServerPool(Arc<Mutex<RunningPool>>);

#[derive(Default)]
struct RunningPool {
    pool: Option<Pool>,
    listeners: Listeners,
    /// The threads on which the servers are served: they have to outlive the pool.
    runtime: NetworkRuntime,
}

impl Drop for RunningPool {
    fn drop(&mut self) {
        if let Some(pool) = self.pool.take() {
            pool.shut_down();
        }
    }
}

/// Who gets the events of which server and call.
#[derive(Clone, Default)]
struct Listeners(Arc<Mutex<ListenersByName>>);

#[derive(Default)]
struct ListenersByName {
    servers: BTreeMap<Id, StatusListener>,
    calls: BTreeMap<Id, CallListener>,
}

impl Listeners {
    fn with<T>(&self, act: impl FnOnce(&mut ListenersByName) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Passes an event on. The listener is called without the lock, because it may wait.
    fn pass_on(&self, event: McpEvent) {
        match event {
            McpEvent::Standing { key, news } => {
                if let Some(listener) = self.with(|all| all.servers.get(&key).cloned()) {
                    listener(news);
                }
            }
            McpEvent::Done { id, outcome } => {
                if let Some(listener) = self.with(|all| all.calls.remove(&id)) {
                    listener(McpEvent::Done { id, outcome });
                }
            }
            McpEvent::Progress { ref id, .. } | McpEvent::Asks { ref id, .. } | McpEvent::Samples { ref id, .. } => {
                if let Some(listener) = self.with(|all| all.calls.get(id).cloned()) {
                    listener(event);
                }
            }
        }
    }
}

impl ServerPool {
    fn with<T>(&self, act: impl FnOnce(&mut RunningPool) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Connects a server, or tries again to, and reports its status to `listener`. The error says why nothing can be
    /// started.
    pub(in crate::gateway) fn connect(
        &self,
        (runtime, environment, put_back): (&NetworkRuntime, &Environment, PutBackListener),
        (server, terms): (McpServer, McpTerms),
        listener: StatusListener,
    ) -> Result<(), McpFailure> {
        self.with(|running| {
            if running.pool.is_none() {
                let handle = runtime.handle().map_err(|error| {
                    let what = format!("nothing can be started: {error}");
                    McpFailure::new(McpFault::Setup, what, "free some memory or threads and try again")
                })?;
                let listeners = running.listeners.clone();
                let emit: EmitEvent = Arc::new(move |event| listeners.pass_on(event));
                running.runtime = runtime.clone();
                running.pool = Some(Pool::new(handle, environment, emit, put_back));
            }
            running.listeners.with(|all| all.servers.insert(server.key(), listener));
            running.execute(McpCommand::Connect { server: Box::new(server), terms: Box::new(terms) });
            Ok(())
        })
    }

    /// Tries again to connect a server, or asks a connected one again what it offers.
    pub(in crate::gateway) fn connect_again(&self, server: McpServer, terms: McpTerms) {
        self.with(|running| {
            running.execute(McpCommand::Connect { server: Box::new(server), terms: Box::new(terms) });
        });
    }

    /// Ends a server that is no longer needed.
    pub(in crate::gateway) fn release(&self, key: &Id) {
        self.with(|running| {
            running.listeners.with(|all| all.servers.remove(key));
            running.execute(McpCommand::Release { key: key.clone() });
        });
    }

    /// Makes a request to a server, and reports what becomes of it to `listener` on other threads: at the end a
    /// [`McpEvent::Done`]. The error says why the request cannot be made.
    pub fn call(
        &self,
        (id, key): (Id, &Id),
        request: McpRequest,
        observer: Option<Box<ProgramObserver>>,
        listener: impl Fn(McpEvent) + Send + Sync + 'static,
    ) -> Result<(), McpFailure> {
        self.with(|running| {
            let Some(pool) = &mut running.pool else {
                return Err(McpFailure::new(McpFault::Gone, "the server is not connected", ""));
            };
            running.listeners.with(|all| all.calls.insert(id.clone(), Arc::new(listener)));
            let called = pool.call(id.clone(), key, request, observer);
            if called.is_err() {
                running.listeners.with(|all| all.calls.remove(&id));
            }
            called
        })
    }

    /// Answers a question that a server asked during a call.
    pub fn answer(&self, (id, key): (Id, Id), number: u64, reply: McpReply) {
        self.with(|running| running.execute(McpCommand::Answer { id, key, number, reply }));
    }

    /// Cancels a call. Nothing more is reported about it.
    pub fn cancel(&self, id: Id) {
        self.with(|running| {
            running.listeners.with(|all| all.calls.remove(&id));
            running.execute(McpCommand::Cancel { id });
        });
    }
}

impl RunningPool {
    fn execute(&mut self, command: McpCommand) {
        if let Some(pool) = &mut self.pool {
            pool.execute(command);
        }
    }
}
