//! A real model, a tiny one, behind a real server: llama.cpp.

use std::time::Duration;

use agent_workshop::base::RequestId;
use agent_workshop::gateway::settings::GatewaySettings;
use agent_workshop::gateway::worker::{GatewayCommand, GatewayEvent};
use agent_workshop::mind::{FailureKind, Finish};
use libtest_mimic::Trial;

use crate::asking;
use crate::peers;

/// The machine may be busy with other things.
fn patient() -> GatewaySettings {
    GatewaySettings { stall_timeout_secs: 50.0, ..GatewaySettings::default() }
}

/// Words come while they are made, and in the end with what they cost; in both formats that it speaks.
fn streamed() {
    let peer = peers::start_llama().expect("the server starts");
    for vendor in ["openai", "anthropic"] {
        let asked = asking::ask(vendor, &peer.url, "Say hello to the workshop.", &patient());
        assert!(asked.pieces > 1, "{vendor}: {} pieces", asked.pieces);
        let live = asked.live.clone();
        let reply = asked.reply();
        assert!(!reply.text.trim().is_empty() && reply.text.starts_with(&live), "{vendor}: {reply:?}");
        assert!(matches!(reply.finish, Finish::Stop | Finish::Length));
        assert!(reply.usage.input_tokens > 5 && (1..=64).contains(&reply.usage.output_tokens), "{:?}", reply.usage);
    }
}

/// Withdrawn in the middle, and the server, which has one slot, is free for the next.
fn aborted() {
    let peer = peers::start_llama().expect("the server starts");
    let worker = asking::worker();
    worker.send(asking::command(1, "openai", &peer.url, "Count to a thousand.", &patient())).expect("there is room");
    while !matches!(worker.next(Duration::from_secs(60)), Some(GatewayEvent::Delta { .. })) {}
    worker.send(GatewayCommand::Cancel { id: RequestId(1) }).expect("there is room");
    assert_eq!(asking::hear(&worker).failure().kind, FailureKind::Cancelled);
    worker.send(asking::command(2, "openai", &peer.url, "Say hello.", &patient())).expect("there is room");
    assert!(!asking::hear(&worker).reply().text.is_empty());
}

/// Tried out from the window: a few words from a real model, counted.
fn tried_out() {
    let peer = peers::start_llama().expect("the server starts");
    let workshop = asking::room_of("openai", &peer.url);
    let tried = asking::try_out(&workshop, "openai:tiny");
    let reply = tried.outcome.expect("a real model answers");
    assert!(!reply.text.trim().is_empty() && tried.used.tokens > 5, "{reply:?} {:?}", tried.used);
}

/// Every test of this file.
pub fn trials() -> Vec<Trial> {
    let ignored = peers::is_ignored("llama::*", peers::llama().err());
    let tests: [(&str, fn()); 3] = [("streamed", streamed), ("aborted", aborted), ("tried_out", tried_out)];
    let named = |(name, test): (&str, fn())| {
        let trial = Trial::test(format!("llama::{name}"), move || {
            test();
            Ok(())
        });
        trial.with_ignored_flag(ignored)
    };
    tests.into_iter().map(named).collect()
}
