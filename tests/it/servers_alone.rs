//! A pool of MCP servers without a room, for tests of what servers do with calls.

use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use agent_workshop::gateway::mcp::{McpCommand, McpEvent, Pool};
use agent_workshop::gateway::{Environment, NetworkRuntime, PutBackListener};

/// A pool of servers without a room.
pub struct ServersAlone {
    pool: Mutex<Option<Pool>>,
    events: Receiver<McpEvent>,
    /// Outlives the pool.
    _threads: NetworkRuntime,
}

impl ServersAlone {
    pub fn new(environment: &Environment) -> Self {
        let threads = NetworkRuntime::default();
        let (sender, events) = std::sync::mpsc::channel();
        let handle = threads.handle().expect("threads can be started");
        // The test may have ended.
        let emit = Arc::new(move |event| drop(sender.send(event)));
        let pool = Pool::new(handle, environment, emit, PutBackListener::default());
        Self { pool: Mutex::new(Some(pool)), events, _threads: threads }
    }

    pub fn send(&self, command: McpCommand) {
        self.pool.lock().expect("no test panics while it sends").as_mut().expect("it is there").execute(command);
    }

    /// The next event within this time.
    pub fn next(&self, timeout: Duration) -> Option<McpEvent> {
        self.events.recv_timeout(timeout).ok()
    }
}

impl Drop for ServersAlone {
    fn drop(&mut self) {
        if let Ok(pool) = self.pool.get_mut()
            && let Some(pool) = pool.take()
        {
            pool.shut_down();
        }
    }
}
