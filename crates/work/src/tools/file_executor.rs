//! The executor for files: converts tool orders into file orders of the workspace.

use bevy::ecs::prelude::*;

use super::order::{OrderKey, OrderOutcome, OrderReport, PendingToolOrders, ToolOrder, ToolOutput};
use super::plan::{FILES, Work};
use super::result_text;
use crate::base::Author;
use crate::element::ElementRefused;
use crate::workspace::vfs::{FileAnswer, FileOrder, FileOutcome, FileResult};

/// Forwards orders to the file service, under the same key.
pub(super) fn order(mut orders: MessageReader<ToolOrder>, mut files: MessageWriter<FileOrder>) {
    for order in orders.read().filter(|order| *order.plan.executor == *FILES) {
        let Work::File { operation, .. } = &order.plan.work else { continue };
        files.write(FileOrder {
            key: order.key.id(),
            author: Author::agent(&order.agent),
            activation: Some(order.key.activation.id()),
            operation: operation.clone(),
            rights: order.rights.clone(),
            cause: order.cause,
            worktree: order.worktree.clone(),
        });
    }
}

/// Converts the file service's results to tool outcomes.
pub(super) fn answer(
    mut outcomes: MessageReader<FileOutcome>,
    mut refused: MessageReader<ElementRefused>,
    under_way: Res<PendingToolOrders>,
    mut answers: MessageWriter<OrderOutcome>,
) {
    let refused: Vec<&ElementRefused> = refused.read().filter(|refused| refused.file.is_some()).collect();
    for outcome in outcomes.read() {
        let Ok(key) = outcome.key.parse::<OrderKey>() else { continue };
        let news = match &outcome.result {
            Err(failure) => OrderReport::Failed { why: failure.what.clone() },
            Ok(answer) => {
                let work = under_way.get(key).map(|order| &order.plan.work);
                let kept_out = kept_out(outcome, &refused);
                let text = result_text::files(work, &outcome.result) + &result_text::refused_part(&kept_out);
                let (changed, is_otherwise) = (changed(answer), !kept_out.is_empty());
                let output = ToolOutput { text, changed, is_otherwise, ..ToolOutput::default() };
                match answer {
                    FileAnswer::Merged { done, crossed, .. } if !crossed.is_empty() => {
                        let changed = done.iter().map(path_of).collect();
                        let unmerged = crossed.clone();
                        OrderReport::Refused { output: ToolOutput { changed, unmerged, ..output } }
                    }
                    _ => OrderReport::Done { output },
                }
            }
        };
        answers.write(OrderOutcome { key, news });
    }
}

fn changed(answer: &FileAnswer) -> Vec<String> {
    let FileAnswer::Changed { done, .. } = answer else { return Vec::new() };
    vec![path_of(done)]
}

fn path_of(done: &FileResult) -> String {
    let (FileResult::Written { path, .. } | FileResult::Deleted { path, .. } | FileResult::Renamed { to: path, .. }) =
        done;
    path.clone()
}

/// The parts of a changed file that its element refused, with reasons.
fn kept_out(outcome: &FileOutcome, refused: &[&ElementRefused]) -> Vec<String> {
    let Ok(FileAnswer::Changed { done, .. }) = &outcome.result else { return Vec::new() };
    let is_changed = |path: &str| match done {
        FileResult::Written { path: changed, .. } | FileResult::Deleted { path: changed, .. } => changed == path,
        FileResult::Renamed { from, to, .. } => from == path || to == path,
    };
    let its = refused.iter().filter(|refused| refused.by == outcome.author);
    its.filter(|refused| refused.file.as_deref().is_some_and(is_changed)).map(|refused| refused.why.clone()).collect()
}
