//! Executes calls of MCP servers: an order is sent to its server once its tick is in the log, and the result enters as
//! an input.

use bevy::ecs::prelude::*;
use bevy::ecs::system::SystemParam;

use super::declarations::{CallOrder, SERVERS};
use crate::gateway::mcp::{McpAnswer, McpCommand, McpEvent, McpFailure, McpFault};
use crate::gateway::{McpCalls, McpServerStatus, McpServers};
use crate::schedule::{InputJournal, InputQueue};
use crate::tools::commands::observer;
use crate::tools::order::{
    OrderAnswered, OrderKey, OrderOutcome, OrderReport, PendingToolOrders, ToolImage, ToolOrder, ToolOutput,
};
use crate::tools::plan::Work;
use crate::tools::started_orders::StartedOrders;
use crate::workspace::vfs::FileBridge;

/// The system parameters for messages to and from servers.
#[derive(SystemParam)]
pub(in crate::tools) struct ServerMessages<'w> {
    calls: ResMut<'w, McpCalls>,
    outcomes: ResMut<'w, InputQueue<OrderOutcome>>,
    servers: Res<'w, McpServers>,
    journal: Res<'w, InputJournal>,
    files: Option<Res<'w, FileBridge>>,
}

/// Applies the answers of servers, sends calls ordered in an earlier tick, and stops cancelled ones.
pub(in crate::tools) fn execute_orders(
    mut outside: ServerMessages,
    mut answered: MessageReader<OrderAnswered>,
    under_way: Res<PendingToolOrders>,
    mut begun: Local<StartedOrders>,
) {
    if outside.journal.is_replaying() {
        answered.clear();
        return;
    }
    for OrderAnswered { key, number, reply } in answered.read() {
        let Some(call) = under_way.get(*key).and_then(call_of).filter(|_| begun.contains(*key)) else { continue };
        let (id, number, reply) = (key.id(), *number, reply.clone());
        outside.calls.send(McpCommand::Answer { id, key: call.key, number, reply });
    }
    let heard: Vec<McpEvent> = outside.calls.take().collect();
    for event in heard {
        let (id, news, is_end) = match event {
            McpEvent::Progress { id, text } => (id, OrderReport::Progress { text }, false),
            McpEvent::Asks { id, question } => (id, OrderReport::Asks { question }, false),
            McpEvent::Samples { id, question } => (id, OrderReport::Samples { question }, false),
            McpEvent::Done { id, outcome } => (id, news_of(outcome), true),
            McpEvent::Standing { .. } => continue,
        };
        let Ok(key) = id.parse::<OrderKey>() else { continue };
        if begun.contains(key) {
            outside.outcomes.push(OrderOutcome { key, news });
        }
        if is_end {
            begun.end(key);
        }
    }
    for key in begun.take_cancelled(&under_way) {
        outside.calls.send(McpCommand::Cancel { id: key.id() });
    }
    let is_first_look = begun.look();
    for order in under_way.of(SERVERS) {
        if !begun.is_due(order, &outside.outcomes) {
            continue;
        }
        match due(order, is_first_look, &outside.servers) {
            NextStep::Wait => {}
            NextStep::Answer(news) => outside.outcomes.push(OrderOutcome { key: order.key, news }),
            NextStep::Call(call) => {
                begun.begin(order.key);
                let CallOrder { key, request, hints, .. } = *call;
                let (id, request) = (order.key.id(), Box::new(request));
                let files = outside.files.as_deref().filter(|_| !hints.read_only);
                let observer = files.and_then(|files| observer(files, order)).map(Box::new);
                outside.calls.send(McpCommand::Call { id, key, request, observer });
            }
        }
    }
}

/// The next step for an order that was not started here.
enum NextStep {
    Call(Box<CallOrder>),
    Answer(OrderReport),
    Wait,
}

/// An order that existed when this process began may have been executed before: it is repeated only if the server
/// declares the tool read-only.
fn due(order: &ToolOrder, is_first_look: bool, servers: &McpServers) -> NextStep {
    let Some(call) = call_of(order) else {
        return NextStep::Answer(OrderReport::unparseable());
    };
    if is_first_look && !call.hints.read_only {
        let why = "the workshop was stopped during the call; its outcome is unknown".into();
        return NextStep::Answer(OrderReport::Aborted { why });
    }
    match servers.status(&call.key) {
        _ if servers.get(&call.key).is_none() => {
            NextStep::Answer(OrderReport::Failed { why: "this server is no longer available".into() })
        }
        McpServerStatus::Off | McpServerStatus::Connecting => NextStep::Wait,
        McpServerStatus::Ready(_) | McpServerStatus::Failed(_) => NextStep::Call(Box::new(call)),
    }
}

/// The call that an order represents.
fn call_of(order: &ToolOrder) -> Option<CallOrder> {
    match &order.plan.work {
        Work::Order { order } => serde_json::from_value(order.clone()).ok(),
        _ => None,
    }
}

fn news_of(outcome: Result<McpAnswer, McpFailure>) -> OrderReport {
    match outcome {
        Ok(answer) => OrderReport::Done { output: output_of(answer) },
        Err(McpFailure { given: Some(answer), .. }) => OrderReport::Refused { output: output_of(*answer) },
        Err(failure) if failure.fault == McpFault::Stopped => OrderReport::Aborted { why: failure.what },
        Err(failure) => OrderReport::Failed { why: failure.sentence() },
    }
}

fn output_of(McpAnswer { text, data, images }: McpAnswer) -> ToolOutput {
    let images = images.into_iter().map(|(media_type, base64)| ToolImage { media_type, base64 }).collect();
    ToolOutput { text, data, images, ..ToolOutput::default() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_output_of_a_refused_call_is_kept() {
        let given = McpAnswer {
            text: "no".into(),
            data: Some(json!({ "code": 7 })),
            images: vec![("image/png".into(), "aGk=".into())],
        };
        let failure = McpFailure { given: Some(Box::new(given)), ..McpFailure::new(McpFault::Refused, "no", "") };
        let OrderReport::Refused { output } = news_of(Err(failure)) else { panic!("it says that it did not work") };
        assert_eq!((output.data, output.images.len()), (Some(json!({ "code": 7 })), 1));
        let bare = news_of(Err(McpFailure::new(McpFault::Refused, "no", "")));
        assert_eq!(bare, OrderReport::Failed { why: "no".into() });
    }
}
