//! The gateway: the only module that uses tokio, HTTP and vendors' APIs. It sends requests to the outside and receives
//! the answers.
//!
//! A request ([`crate::mind::ModelRequest`]) waits in [`RequestQueue`] until its provider has a free slot and no limit
//! forbids it, goes over the [`WorkerBridge`] to the [`worker`], and its answer enters as an input. Answers of
//! simulated providers are admitted at the tick given by their latency, so the driver of the world waits for them
//! before it continues: see [`wait_before_tick`].
//!
//! The folders, each of which uses only those before it: [`vendors`], [`web`], what a person allowed ([`trust`]) and
//! their [`keys`]; [`providers`] of models; [`programs`] and what programs that talk have in common ([`peers`]), the two
//! protocols of such programs ([`mcp`], [`acp`]) and [`slack`]; the [`limits`] of usage; the [`worker`] on its thread; the
//! [`requests`] to models in the world, the [`services`] besides models, [`embedding`], and what is known of [`models`].
#![expect(clippy::disallowed_methods, reason = "programs, servers and coding agents are started here")]

pub mod acp;
pub mod embedding;
pub mod keys;
pub mod limits;
pub mod mcp;
pub mod models;
pub mod peers;
pub mod programs;
pub mod providers;
pub mod requests;
pub mod services;
pub mod settings;
pub mod slack;
pub mod trust;
pub mod vendors;
pub mod web;
pub mod worker;

use std::sync::Arc;
use std::time::Duration;

use bevy::app::App;
use bevy::ecs::prelude::*;

// The names under which the other layers know parts of the folders.
pub use acp::turns::mcp_forwarder;
pub use keys::{key_storage, private_variables};
pub use limits::ledger;
pub use models::aliases;
pub use programs::code::command_code;
pub use programs::sandbox::{self, supervisor, unconfined};
pub use providers::provider;
pub use requests::{health, provider_trial};
pub use services::server_status_text;
pub use trust::{consent, trusted_workspaces};
pub use web::http_client;
pub use worker::messages;

pub use keys::{Environment, key_problems};
pub use limits::budget::BudgetSettings;
pub use limits::exchanges::{ExchangeAccepted, ExchangeCounts, ExchangeKind};
pub use limits::prices::{PriceSettings, price_source};
pub use private_variables::USUAL_VARIABLES;
pub use programs::code::command_code::{CodeCheck, SeenCode};
pub use programs::code::seen_file::{CodeConcern, MAX_TEXT_BYTES, SeenFile};
pub use programs::code::source_kinds::{SourceFolder, SourceKind};
pub use programs::code::source_tools::sources_found_by;
pub use programs::process::{end_group, find_program as found_program};
pub use programs::sandbox::attribute_reports::{AttributeChange, AttributesPutBack, PutBackListener};
pub use programs::sandbox::sandbox_detection::{HasSandbox, SandboxDetected};
pub use programs::{ProgramEnd, ProgramEnded, ProgramOrder, ProgramSettings};
pub use providers::scripted::ScriptedProvider;
pub use requests::bridge::WorkerBridge;
pub use requests::dispatch::{AddressesConfigured, GatewayEnvironment, MinutePassed, SimulatedProviders};
pub use requests::health::{HealthState, ProviderFault, ProviderHealth};
pub use requests::health_monitor::AccessChanged;
pub use requests::provider_trial::ProviderTrial;
pub use requests::request_queue::RequestQueue;
pub use requests::user_overrides::{ProviderOverride, TrialUsed};
pub use services::external_calls::{ExternalCalls, RunningCall};
pub use services::server_pool::ServerPool;
pub use services::servers::{
    McpServerStatus, McpServers, McpStatusChanged, McpTry, McpWanted, SeenToolDescriptions, ServerMessagesReceived,
};
pub use services::slack_systems::SlackNews;
pub use settings::{GatewaySettings, ProviderStatus, provider_status};
pub use web::{METHODS, WebAnswer, WebAnswered, WebQuestion, check_header_name, web_address};
pub use worker::live_replies::{LiveCall, LiveText};
pub use worker::{Network, NetworkRuntime};

use crate::agent::{AgentRemoved, ProfileChanged, Profiles, Roster};
use crate::base::Problem;
use crate::log::AddedEvents;
use crate::mind::spoken::SpokenSentences;
use crate::mind::{CancelRequest, ModelReply, ModelRequest, PutOffRequest, ToolModels, WorkEnded};
use crate::schedule::inputs::{CollectInputs, InputExt};
use crate::schedule::outside::{self, NoticesExt, OutsideExt, Outsides, Wakeup};
use crate::schedule::{
    InPhase, InputJournal, InputQueue, Layer, SimClock, Speed, Tick, TickMessageExt, WorkshopSystems,
};
use crate::simulation::{AttentionSettings, Explain, ModelAvailability, ModelsChanged, TryModel};
use crate::workspace::trust::TrustChanged;
use crate::workspace::vfs::OutsideChange;
use crate::workspace::{KnownFiles, ProblemReport, RoomStart, SettingsExt};
use acp::agent_file_changes;
use models::tool_models;
use programs::sandbox::sandbox_detection;
use provider::SimulatedProvider;
use requests::{dispatch, health_monitor, model_holds, saved, user_overrides, worker_events};
use services::server_connections::ServerConnections;
use services::{attribute_notices, servers, slack_systems, trust_following};

/// Log targets that a subscriber must leave out: genai logs servers' responses verbatim, and some servers repeat the
/// key that they were sent.
pub const UNSAFE_LOG_TARGETS: [&str; 1] = ["genai"];

/// Adds the gateway to the room's app.
pub fn plugin(app: &mut App) {
    app.add_settings::<GatewaySettings>().add_settings::<BudgetSettings>().add_settings::<PriceSettings>();
    app.add_settings::<programs::ProgramSettings>().add_settings::<slack::SlackSettings>();
    app.init_resource::<slack::SlackAccess>().add_input::<SlackNews>();
    // Owned by the layer below; registered here as well, so that this layer runs without its systems.
    app.init_resource::<SpokenSentences>().init_resource::<ToolModels>();
    app.init_resource::<Network>();
    app.init_resource::<HasSandbox>().add_input::<SandboxDetected>();
    app.add_settings::<acp::AcpSettings>().add_tick_message::<WorkEnded>();
    app.init_resource::<AddedEvents>();
    let mut added = app.world_mut().resource_mut::<AddedEvents>();
    added.add::<acp::log_events::AgentToolUsed>();
    added.add::<acp::log_events::AgentPlanReported>();
    added.add::<acp::log_events::TerminalRan>();
    added.add::<acp::log_events::AgentOptionsReported>();
    added.add::<acp::log_events::OwnCommands>();
    added.add::<agent_file_changes::DirectFileChange>();
    app.add_settings::<mcp::McpSettings>().add_settings::<mcp::McpServersWritten>();
    // Owned by layers below; registered here as well, so that this layer runs without their systems.
    app.init_resource::<Profiles>().init_resource::<KnownFiles>();
    app.init_resource::<Roster>().init_resource::<AttentionSettings>();
    app.add_tick_message::<ModelAvailability>().add_tick_message::<TryModel>().add_tick_message::<ModelsChanged>();
    app.init_resource::<McpServers>().init_resource::<SeenToolDescriptions>().init_resource::<ServerPool>();
    app.add_outside(ServerConnections::default());
    app.add_input::<McpStatusChanged>().add_input::<McpTry>().add_tick_message::<McpWanted>();
    app.add_notices::<AttributesPutBack>();
    let bridge = WorkerBridge::on(app.world().resource::<Network>().clone());
    app.insert_resource(bridge);
    app.init_resource::<RequestQueue>()
        .init_resource::<LiveText>()
        .init_resource::<ProviderHealth>()
        .init_resource::<model_holds::ModelHolds>()
        .init_resource::<SimulatedProviders>()
        .init_resource::<InputQueue<ModelReply>>();
    if !app.world().contains_resource::<GatewayEnvironment>() {
        app.insert_resource(GatewayEnvironment(Environment::of_process()));
    }
    // Owned by a layer below; registered here as well, so that this layer runs without its systems.
    app.init_resource::<InputQueue<TrustChanged>>();
    app.add_input::<MinutePassed>()
        .add_input::<ProviderOverride>()
        .add_input::<TrialUsed>()
        .add_input::<embedding::EmbeddingUsed>()
        .add_input::<AccessChanged>()
        .add_input::<AddressesConfigured>()
        .add_tick_message::<ModelReply>()
        .add_tick_message::<ModelRequest>()
        .add_tick_message::<CancelRequest>()
        .add_tick_message::<PutOffRequest>()
        .add_tick_message::<ExchangeAccepted>()
        .add_tick_message::<AgentRemoved>()
        .add_tick_message::<ProfileChanged>()
        .add_tick_message::<ProblemReport>()
        .add_tick_message::<OutsideChange>()
        .add_tick_message::<Explain>();
    app.add_systems(
        Tick,
        (
            dispatch::pass_on_decisions,
            dispatch::receive,
            worker_events::collect::<dispatch::ModelReplies>,
            dispatch::report_surroundings.run_if(worker_events::is_live),
            trust_following::collect,
            (worker_events::collect::<AttributesPutBack>, slack_systems::report_access.run_if(worker_events::is_live))
                .chain()
                .in_set(ServerMessagesReceived),
        )
            .chain()
            .in_set(CollectInputs),
    );
    app.add_systems(
        Tick,
        (
            dispatch::record_own_changes,
            dispatch::book_replies,
            user_overrides::apply_user_overrides,
            embedding::book,
            health_monitor::judge,
            model_holds::update,
            servers::read,
            servers::apply_server_events,
            attribute_notices::report,
            sandbox_detection::apply_sandbox_detection,
            slack_systems::apply_slack_access,
            tool_models::note_tool_models,
        )
            .chain()
            .in_set(InPhase(WorkshopSystems::Ingest, Layer::Gateway)),
    );
    app.add_systems(
        Tick,
        (
            aliases::warn_of_missing_key,
            dispatch::enqueue_requests,
            dispatch::admit,
            dispatch::send,
            servers::note_needed,
            user_overrides::check_budget,
            user_overrides::check_sandboxes,
            trust_following::follow,
            dispatch::count_exchanges,
        )
            .chain()
            .in_set(InPhase(WorkshopSystems::Dispatch, Layer::Gateway)),
    );
    crate::schedule::saved::register::<saved::GatewaySaved>(app);
    crate::schedule::saved::register::<health::HealthSaved>(app);
    crate::schedule::saved::register::<model_holds::ModelHoldsSaved>(app);
    crate::schedule::saved::register::<SeenToolDescriptions>(app);
    crate::schedule::saved::register::<slack::SlackAccess>(app);
}

/// Adds a simulated provider. `make` gets the text after its name (`scripted:FILE`), or the name itself.
pub fn add_simulated_provider(
    app: &mut App,
    name: &str,
    make: impl Fn(&str) -> Result<Box<dyn SimulatedProvider>, Problem> + Send + Sync + 'static,
) {
    app.init_resource::<SimulatedProviders>();
    app.world_mut().resource_mut::<SimulatedProviders>().0.insert(name.to_owned(), Arc::new(make));
}

/// Starts a new run of the workspace: counts for limits per run start at zero. Called once after a saved world was
/// loaded to continue it, by live runs and replays alike.
pub fn start_run(world: &mut World) {
    let provider_override = world.get_resource::<RoomStart>().and_then(|start| start.provider.clone());
    let mut questions = world.resource_mut::<RequestQueue>();
    questions.ledger.start_run();
    questions.run_cap_reached = None;
    questions.reached = None;
    questions.provider_override = provider_override;
    world.resource_mut::<ProviderHealth>().start_run();
    world.resource_mut::<model_holds::ModelHolds>().start_run();
}

/// Ends a run of the workspace: if no work is left, scripts start from the beginning in the next run; otherwise they
/// continue.
pub fn end_run(world: &mut World) {
    world.resource_mut::<RequestQueue>().scripts.clear();
}

/// Whether the next tick must wait: a simulated answer is still being computed, or the room runs at maximum speed while
/// an answer from outside is pending or a cooldown has not ended. Until then, the room runs no faster than real time, so
/// that other requests can be made meanwhile. On replay, nothing waits.
pub fn must_wait(world: &mut World) -> bool {
    if world.resource::<InputJournal>().is_replaying() {
        return false;
    }
    send_leftovers(world);
    let at_full_speed = world.resource::<SimClock>().speed == Speed::Max;
    let rests = at_full_speed && {
        let bridge = world.resource::<WorkerBridge>();
        let asked = world.resource::<RequestQueue>().in_flight.values();
        asked
            .into_iter()
            .any(|question| bridge.is_cooling_down(&question.choice.provider) && !bridge.has_sent(question.request.id))
    };
    let others_wait = outside::awaits_real_time(world);
    let is_early = !world.resource::<Outsides>().until_next_tick().is_zero() && !outside::has_arrived(world);
    on_bridge(world, |bridge, live| {
        bridge.receive_events(live);
        let waits = is_early && bridge.is_quiet() && (rests || others_wait || bridge.awaits_real_time());
        bridge.owes_simulated() || (at_full_speed && waits)
    })
}

/// Returns the longest remaining cooldown of any provider, by the wall clock; zero if all may be called.
pub fn longest_cooldown(world: &World) -> Duration {
    world.get_resource::<WorkerBridge>().map_or(Duration::ZERO, WorkerBridge::longest_cooldown)
}

/// Sends running requests that the worker does not know: those from before a restart, or for which the queue was full.
/// Runs before the tick, because the answer may be due in it.
fn send_leftovers(world: &mut World) {
    let questions = world.resource::<RequestQueue>();
    let bridge = world.resource::<WorkerBridge>();
    if questions.in_flight.keys().any(|id| !bridge.has_sent(*id))
        && let Err(error) = world.run_system_cached(dispatch::send)
    {
        tracing::error!("waiting requests could not be sent: {error}");
    }
}

/// Receives the worker's events without waiting, so that streamed text is also shown between two ticks.
pub fn poll_worker(world: &mut World) {
    on_bridge(world, |bridge, live| bridge.receive_events(live));
}

/// Waits for an event of the worker or another outside, at most `timeout`; `false` if there was none.
pub fn wait_for_reply(world: &mut World, timeout: Duration) -> bool {
    let (wakeup, until_tick) = (world.resource::<Wakeup>().clone(), world.resource::<Outsides>().until_next_tick());
    on_bridge(world, |bridge, live| bridge.wait(timeout, until_tick, &wakeup, live))
}

/// Waits until the next tick may run, at most `timeout`; `false` if it still may not. The caller then tries again, so
/// that a person can interrupt.
pub fn wait_before_tick(world: &mut World, timeout: Duration) -> bool {
    let until = std::time::Instant::now() + timeout;
    while must_wait(world) {
        let left = until.saturating_duration_since(std::time::Instant::now());
        if left.is_zero() {
            return false;
        }
        wait_for_reply(world, left);
    }
    true
}

fn on_bridge<T>(world: &mut World, act: impl FnOnce(&mut WorkerBridge, &mut LiveText) -> T) -> T {
    world.resource_scope(|world, mut bridge: Mut<WorkerBridge>| {
        let mut live = world.resource_mut::<LiveText>();
        act(&mut bridge, &mut live)
    })
}
