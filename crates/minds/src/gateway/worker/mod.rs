//! The worker: the thread on which everything outside is called (`thread`), its [`messages`] to and from the world, a
//! request to a vendor (`vendor_call`) with its streamed answer (`delta_stream`, [`live_replies`]) and its
//! [`failure`], and the threads on which the network and programs run (`network`, `network_runtime`).

mod delta_stream;
pub mod failure;
pub mod live_replies;
pub mod messages;
mod network;
mod network_runtime;
mod thread;
pub(super) mod vendor_call;

pub use network::Network;
pub use network_runtime::NetworkRuntime;
pub use thread::{MakeSimulated, SendError, SimulatedFactories, Worker};
