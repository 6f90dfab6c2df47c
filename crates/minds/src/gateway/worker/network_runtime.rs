//! The threads on which everything that goes over the network or starts a program runs. They are started when something
//! first needs them, and end with the room.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::runtime::{Builder, Handle, Runtime};
use tokio_util::sync::CancellationToken;

/// How long what is running may take to end when the room is closed.
const SHUTDOWN: Duration = Duration::from_millis(1_500);

/// The threads for network and programs. Clones share them; the last one ends them, and everything that runs on them.
/// What runs on them must not hold a clone: it would wait for itself.
#[derive(Clone, Default)]
pub struct NetworkRuntime(Arc<Shared>);

#[derive(Default)]
struct Shared {
    runtime: Mutex<Option<Runtime>>,
    cancel_all: CancellationToken,
}

impl NetworkRuntime {
    /// Returns a handle of the threads, which are started if there are none.
    pub fn handle(&self) -> std::io::Result<Handle> {
        let mut runtime = self.0.runtime.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(runtime) = &*runtime {
            return Ok(runtime.handle().clone());
        }
        let started = Builder::new_multi_thread().worker_threads(2).thread_name("gateway-net").enable_all().build()?;
        let handle = started.handle().clone();
        *runtime = Some(started);
        Ok(handle)
    }

    /// Returns a token that is cancelled when the room is closed.
    pub(in crate::gateway) fn until_closed(&self) -> CancellationToken {
        self.0.cancel_all.child_token()
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.cancel_all.cancel();
        if let Some(runtime) = self.runtime.get_mut().unwrap_or_else(PoisonError::into_inner).take() {
            runtime.shutdown_timeout(SHUTDOWN);
        }
    }
}
