//! The status of the room in one sentence; if nothing happens, with the reason.

use super::{provider_health, text_format, texts};
use crate::schedule::Speed;
use crate::simulation::State;
use crate::ui::state::room_view;
use crate::view::counts::{active, need_you};
use crate::view::model::RoomModel;

/// The reason why no agent is active.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct QuietReason {
    /// A few words, for the status.
    pub short: String,
    /// A sentence with what to do.
    pub long: String,
    /// Whether something is broken, which the status never calls quiet.
    pub is_fault: bool,
}

/// Returns the reason why no agent is active, or a fault that prevents answers.
pub fn quiet_reason(room: &RoomModel) -> Option<QuietReason> {
    let quiet = |short: &str, long: String| Some(QuietReason { short: short.to_owned(), long, is_fault: false });
    if room.paused {
        return quiet(texts::PAUSED, texts::ROOM_IS_PAUSED.into());
    }
    if let Some(cap) = &room.cap_reached {
        return quiet(texts::LIMIT_REACHED, texts::no_more_calls(cap));
    }
    let (waiting, in_flight) = room.model_requests;
    if let Some(fault) = provider_health::most_important(room) {
        let (short, long) = (provider_health::summary(fault), provider_health::long(fault, room));
        return Some(QuietReason { short, long, is_fault: true });
    }
    if room_view::active(room).next().is_some() {
        return None;
    }
    if in_flight > 0 {
        return quiet(texts::WAITING_FOR_ANSWER, texts::WAITING_FOR_MODEL.into());
    }
    if waiting > 0 {
        return quiet(texts::WAITING_FOR_SLOT, texts::ALL_CALLS_RUNNING.into());
    }
    quiet(texts::NOTHING_NEW, texts::NOTHING_TO_DO.into())
}

/// Returns the status in one sentence: `3 active, 2 things to do, 147 k tokens, $0.12`.
pub fn status(room: &RoomModel) -> String {
    if room.agents.is_empty() {
        return texts::NO_AGENTS.to_owned();
    }
    let in_state = |state| room.agents.iter().filter(|agent| agent.state == state).count();
    let working = room_view::active(room).count();
    let queued: usize = room.agents.iter().map(|agent| agent.queued).sum();
    let mut parts = Vec::new();
    if room.paused {
        parts.push(texts::IS_PAUSED.to_owned());
    } else if room.speed == Some(Speed::Max) {
        parts.push(texts::AS_FAST_AS_POSSIBLE.to_owned());
    }
    match in_state(State::Waiting) + room.workflows.asked().count() {
        0 => {}
        in_need => parts.push(need_you(in_need)),
    }
    match in_state(State::Error) {
        0 => {}
        stuck => parts.push(texts::stuck(stuck)),
    }
    let why = quiet_reason(room).filter(|_| !room.paused);
    parts.push(match (working, &why) {
        (0, Some(why)) if queued == 0 && !why.is_fault => texts::quiet_because(&why.short),
        (0, None) if queued == 0 => texts::QUIET.to_owned(),
        _ => active(working),
    });
    if queued > 0 {
        parts.push(texts::things_to_do(queued));
    }
    // Something prevents answers although agents are active.
    if let Some(why) =
        why.filter(|why| why.is_fault || ((working > 0 || queued > 0) && why.short != texts::NOTHING_NEW))
    {
        parts.push(why.short);
    }
    parts.push(texts::tokens(&text_format::compact(room.spent.tokens)));
    parts.push(text_format::cost(&room.spent));
    text_format::capitalised(&parts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gateway::ledger::Tally;
    use crate::ui::testing::agent;

    #[test]
    fn the_status_is_one_sentence() {
        let mut room = RoomModel {
            spent: Tally { calls: 9, tokens: 147_210, cost_micro_usd: 123_000, ..Tally::default() },
            ..RoomModel::default()
        };
        assert_eq!(status(&room), "No agents yet");
        for index in 0..4 {
            room.agents.push(agent(index, &format!("ada-{index}"), "Ada"));
        }
        assert_eq!(status(&room), "Quiet – nothing new to read, 147 k tokens, $0.12");
        for (agent, state) in room.agents.iter_mut().zip([State::Working, State::Reading, State::Conversing]) {
            agent.state = state;
        }
        room.agents[3].queued = 2;
        assert_eq!(status(&room), "3 active, 2 things to do, 147 k tokens, $0.12");
        room.speed = Some(Speed::Max);
        assert_eq!(status(&room), "As fast as possible, 3 active, 2 things to do, 147 k tokens, $0.12");
        room.paused = true;
        room.agents[3].state = State::Waiting;
        assert_eq!(status(&room), "Paused, 1 needs you, 3 active, 2 things to do, 147 k tokens, $0.12");
    }

    #[test]
    fn the_reason_for_quiet_is_found() {
        let mut room = RoomModel { agents: vec![agent(0, "ada-0", "Ada")], ..RoomModel::default() };
        let why = |room: &RoomModel| quiet_reason(room).unwrap().short;
        assert_eq!(why(&room), texts::NOTHING_NEW);
        room.model_requests = (3, 0);
        assert_eq!(why(&room), "waiting for a free slot");
        room.model_requests = (3, 2);
        assert_eq!(why(&room), "waiting for an answer");
        room.cap_reached = Some("the cap of 9 calls a run is reached".into());
        assert_eq!(why(&room), "a limit is reached");
        room.paused = true;
        assert_eq!(why(&room), "the room is paused");
        room = RoomModel { agents: vec![agent(0, "ada-0", "Ada")], ..RoomModel::default() };
        room.agents[0].thinking = true;
        assert_eq!(quiet_reason(&room), None);
    }
}
