//! Requests of agents to models, in the world: they wait in `request_queue`, `dispatch` sends them over the `bridge` to
//! the worker and applies the answers, which `worker_events` collects.
//!
//! While a provider fails or a limit is reached, agents wait (`model_holds`), and a person is told ([`health`],
//! `health_monitor`); they can test providers ([`provider_trial`]) and intervene ([`user_overrides`]).

pub(super) mod bridge;
pub(super) mod dispatch;
#[cfg(test)]
mod dispatch_tests;
pub mod health;
pub(super) mod health_monitor;
pub(super) mod model_holds;
#[cfg(test)]
mod model_holds_tests;
pub mod provider_trial;
pub(super) mod request_queue;
pub(super) mod saved;
pub mod user_overrides;
#[cfg(test)]
mod user_overrides_tests;
pub(super) mod worker_events;
