//! Executes calls of MCP servers: an order is sent to its server once its tick is in the log, and the result enters as
//! an input.

use std::collections::BTreeSet;

use bevy::ecs::prelude::*;

use super::declarations::{CallOrder, SERVERS};
use crate::gateway::mcp::{McpAnswer, McpEvent, McpFailure, McpFault};
use crate::gateway::{McpServerStatus, McpServers, ServerPool};
use crate::schedule::outside::{Received, Start};
use crate::tools::commands::observer;
use crate::tools::executor::{ExecutorWorld, ToolExecutor, ToolReporter, content_of};
use crate::tools::order::{OrderAnswered, OrderKey, OrderReport, PendingToolOrders, ToolImage, ToolOrder, ToolOutput};
use crate::workspace::vfs::FileBridge;

/// Makes calls of MCP servers.
#[derive(Default)]
pub(in crate::tools) struct ServerCalls {
    /// The calls that wait for a person or a model.
    asking: BTreeSet<OrderKey>,
}

impl ToolExecutor for ServerCalls {
    const NAME: &'static str = SERVERS;
    const MAX_RUNNING: usize = usize::MAX;

    type Order = CallOrder;
    type Report = McpEvent;
    type World = (
        Res<'static, ServerPool>,
        Res<'static, McpServers>,
        Option<Res<'static, FileBridge>>,
        MessageReader<'static, 'static, OrderAnswered>,
    );

    fn interrupted(&mut self, _: OrderKey, call: &CallOrder) -> Option<String> {
        // It is repeated only if the server declares the tool read-only.
        (!call.hints.read_only).then(|| "the workshop was stopped during the call; its outcome is unknown".to_owned())
    }

    fn start(
        &mut self,
        order: &ToolOrder,
        call: CallOrder,
        (pool, servers, files, _): &mut ExecutorWorld<'_, '_, Self>,
        reporter: ToolReporter<Self>,
    ) -> Start<OrderReport> {
        if servers.get(&call.key).is_none() {
            return Start::Ended(OrderReport::Failed { why: "this server is no longer available".into() });
        }
        match servers.status(&call.key) {
            McpServerStatus::Off | McpServerStatus::Connecting => return Start::NotYet,
            McpServerStatus::Ready(_) | McpServerStatus::Failed(_) => {}
        }
        let CallOrder { key, request, hints, .. } = call;
        let files = files.as_deref().filter(|_| !hints.read_only);
        let observer = files.and_then(|files| observer(files, order)).map(Box::new);
        let listener = move |event| match event {
            McpEvent::Progress { .. } => reporter.report_if_room(event),
            _ => reporter.report(event),
        };
        match pool.call((order.key.id(), &key), request, observer, listener) {
            Ok(()) => Start::Started,
            Err(failure) => Start::Ended(report_of(Err(failure))),
        }
    }

    fn cancel(&mut self, key: OrderKey, (pool, ..): &mut ExecutorWorld<'_, '_, Self>) {
        self.asking.remove(&key);
        pool.cancel(key.id());
    }

    fn receive(
        &mut self,
        key: OrderKey,
        event: McpEvent,
        _: &mut ExecutorWorld<'_, '_, Self>,
    ) -> Received<OrderReport> {
        Received::Answer(match event {
            McpEvent::Progress { text, .. } => OrderReport::Progress { text },
            McpEvent::Asks { question, .. } => {
                self.asking.insert(key);
                OrderReport::Asks { question }
            }
            McpEvent::Samples { question, .. } => {
                self.asking.insert(key);
                OrderReport::Samples { question }
            }
            McpEvent::Done { outcome, .. } => {
                self.asking.remove(&key);
                report_of(outcome)
            }
            McpEvent::Standing { .. } => return Received::Nothing,
        })
    }

    fn is_awaited(&self, key: &OrderKey) -> bool {
        !self.asking.contains(key)
    }

    fn attend(
        &mut self,
        orders: &PendingToolOrders,
        running: &dyn Fn(&OrderKey) -> bool,
        (pool, _, _, answered): &mut ExecutorWorld<'_, '_, Self>,
    ) {
        for OrderAnswered { key, number, reply } in answered.read().filter(|answered| running(&answered.key)) {
            let Some(call) = orders.get(*key).and_then(content_of::<CallOrder>) else { continue };
            self.asking.remove(key);
            pool.answer((key.id(), call.key), *number, reply.clone());
        }
    }
}

fn report_of(outcome: Result<McpAnswer, McpFailure>) -> OrderReport {
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
        let OrderReport::Refused { output } = report_of(Err(failure)) else { panic!("it says that it did not work") };
        assert_eq!((output.data, output.images.len()), (Some(json!({ "code": 7 })), 1));
        let bare = report_of(Err(McpFailure::new(McpFault::Refused, "no", "")));
        assert_eq!(bare, OrderReport::Failed { why: "no".into() });
    }
}
