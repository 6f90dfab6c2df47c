//! Tests that requests cancelled while their prompts are gathered are answered exactly once.

use serde_json::json;

use super::tests::{ADA, MindRoom, NEWS, room};
use super::*;
use crate::simulation::{ActivityId, FailureCause, Think, ThinkOutcome};

/// A room in which every prompt waits for a part.
fn gathering() -> MindRoom {
    let mut room = room();
    let part = PartProvider::looked_up(("recall", "What it recalls", "## Recall"), Slot::Now, |_| Some(json!({})));
    room.0.world_mut().resource_mut::<PromptParts>().register(part).expect("the word should be free");
    room
}

fn read() -> Think {
    Think::Read { element: NEWS }
}

fn outcomes(room: &mut MindRoom) -> Vec<(ActivityId, ThinkOutcome)> {
    room.take::<ThinkDone>().into_iter().map(|done| (done.activity, done.outcome)).collect()
}

#[test]
fn a_request_put_off_while_gathering_is_answered_at_once() {
    let mut room = gathering();
    assert!(room.ask(ADA, read()).is_none(), "nobody is asked before it is there");
    let put_off = |activity| ThinkPutOff { agent: ADA, activity: ActivityId(activity) };
    room.0.world_mut().write_message(put_off(9));
    room.tick();
    assert_eq!(outcomes(&mut room), [], "another activity does not give way");
    room.0.world_mut().write_message(put_off(1));
    room.tick();
    assert_eq!(outcomes(&mut room), [(ActivityId(1), ThinkOutcome::PutOff)]);
    room.0.world_mut().write_message(put_off(1));
    room.tick();
    assert_eq!(outcomes(&mut room), []);
    assert!(room.0.world().resource::<PendingRequests>().is_empty());
}

#[test]
fn the_oldest_gathering_request_is_given_up_for_a_newer_one() {
    let mut room = gathering();
    for activity in 1..=5 {
        room.due(ADA, activity, read());
        room.tick();
    }
    let given_up = outcomes(&mut room);
    assert!(
        given_up
            .iter()
            .all(|(_, outcome)| matches!(outcome, ThinkOutcome::Failed { cause: FailureCause::Passing, .. }))
    );
    assert_eq!(given_up.iter().map(|(activity, _)| activity.0).collect::<Vec<_>>(), [1, 2]);
    assert!(room.take::<CancelRequest>().is_empty(), "no model was asked, so none is told");
    let keys: Vec<GatherKey> =
        room.0.world().resource::<PendingRequests>().orders_of("recall").map(|order| order.key).collect();
    assert_eq!(keys.len(), 3);
    for key in keys {
        room.0.world_mut().write_message(PartGathered { key, outcome: Ok("It was Tuesday.".into()) });
    }
    room.tick();
    let asked: Vec<ModelRequest> = room.take();
    assert_eq!(asked.iter().map(|request| request.activity.0).collect::<Vec<_>>(), [3, 4, 5]);
    assert!(asked.iter().all(|request| request.prompt.text().contains("## Recall\n```text\nIt was Tuesday.")));
}
