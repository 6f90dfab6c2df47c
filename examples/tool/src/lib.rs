//! A tool that is defined only in this crate: what the weather is like, carried out over many ticks by its own executor.
//! [`add`] is all that a program calls, when a room is created or while it runs.

use std::collections::BTreeMap;

use agent_workshop::gate::{DeclaredTouch, TouchKind};
use agent_workshop::schedule::{InPhase, InputJournal, InputQueue, Layer, SimClock, Tick, WorkshopSystems};
use agent_workshop::tools::{
    Arguments, OrderKey, OrderOutcome, OrderReport, PendingToolOrders, Planned, Planning, Tool, ToolOutput,
    ToolRefusal, Tools,
};
use bevy::app::App;
use bevy::ecs::prelude::*;
use serde_json::json;

/// The name of the tool, and of its executor.
pub const WEATHER: &str = "weather";
/// The number of ticks after which the executor reports progress.
pub const HALF_WAY_TICKS: u64 = 10;
/// The number of ticks after which the executor is done.
pub const DONE_TICKS: u64 = 20;

/// Adds the tool and its executor to a room.
pub fn add(app: &mut App) -> Result<(), ToolRefusal> {
    let mut tools = app.world_mut().resource_mut::<Tools>();
    tools.register(weather())?;
    tools.add_executor(WEATHER);
    app.add_systems(Tick, execute_orders.in_set(InPhase(WorkshopSystems::Dispatch, Layer::Tools)));
    Ok(())
}

/// Returns the tool.
pub fn weather() -> Tool {
    let arguments = json!({
        "type": "object",
        "properties": { "city": { "type": "string", "minLength": 1, "description": "Where." } },
        "required": ["city"],
    });
    Tool::new(WEATHER, "Says what the weather is like.", arguments, plan)
}

fn plan(arguments: &Arguments, _: &Planning<'_>) -> Result<Planned, String> {
    let city = arguments.text("city");
    let touches = vec![DeclaredTouch::new(TouchKind::NET_FETCH, format!("weather.example/{city}"))];
    Ok(Planned::order(WEATHER, arguments.to_value(), touches, ("asking for the weather in", &city)))
}

/// The tool's executor; its progress is not saved.
fn execute_orders(
    orders: Res<PendingToolOrders>,
    clock: Res<SimClock>,
    journal: Res<InputJournal>,
    mut started: Local<BTreeMap<OrderKey, u64>>,
    mut outcomes: ResMut<InputQueue<OrderOutcome>>,
) {
    if journal.is_replaying() {
        return;
    }
    started.retain(|key, _| orders.get(*key).is_some());
    for order in orders.of(WEATHER) {
        let since = *started.entry(order.key).or_insert(clock.tick());
        let report = match clock.tick() - since {
            HALF_WAY_TICKS => OrderReport::Progress { text: "half way".into() },
            DONE_TICKS => {
                let data = Some(json!({ "celsius": 7 }));
                OrderReport::Done { output: ToolOutput { data, ..ToolOutput::default() } }
            }
            _ => continue,
        };
        outcomes.push(OrderOutcome { key: order.key, news: report });
    }
}
