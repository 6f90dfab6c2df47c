//! The worker: the thread on which everything outside is called (`thread`), its [`messages`] to and from the world, a
//! request to a vendor (`vendor_call`) with its streamed answer (`delta_stream`, [`live_replies`]) and its
//! [`failure`], and the calls that it makes for tools (`worker_call`).

mod delta_stream;
pub mod failure;
pub mod live_replies;
pub mod messages;
mod thread;
pub(super) mod vendor_call;
pub(super) mod worker_call;

pub use thread::{MakeSimulated, SendError, SimulatedFactories, Worker};
