//! Numbers, times and states as a person says them. Pure text; no drawing.

use crate::base::Behaviour;
use crate::gateway::ledger::Tally;
use crate::schedule::Speed;
use crate::schedule::clock::TICKS_PER_SEC;
use crate::simulation::State;
use crate::view::model::{AgentView, RoomModel};
use crate::view::recent::Recent;

/// A count without needless digits: `940`, `147 k`, `2.3 M`.
pub fn compact(count: u64) -> String {
    match count {
        0..1_000 => count.to_string(),
        1_000..9_950 => format!("{:.1} k", count as f64 / 1e3).replace(".0 k", " k"),
        9_950..999_500 => format!("{:.0} k", count as f64 / 1e3),
        _ => format!("{:.1} M", count as f64 / 1e6).replace(".0 M", " M"),
    }
}

/// An amount of money in US dollars.
pub fn money(usd: f64) -> String {
    if usd > 0.0 && usd < 0.005 { "under $0.01".to_owned() } else { format!("${usd:.2}") }
}

/// A length of time: `4 s`, `3 min`, `2 h 5 min`.
pub fn duration(secs: f64) -> String {
    let secs = secs.max(0.0) as u64;
    match secs {
        0..60 => format!("{secs} s"),
        60..3_600 => format!("{} min", secs / 60),
        _ if (secs / 60).is_multiple_of(60) => format!("{} h", secs / 3_600),
        _ => format!("{} h {} min", secs / 3_600, secs / 60 % 60),
    }
}

/// `1 pin`, `3 pins`.
pub fn count(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// A state, for a badge.
pub fn state(state: State) -> &'static str {
    match state {
        State::Idle => "Idle",
        State::Wandering => "Strolling",
        State::Patrolling => "On its round",
        State::Conversing => "Talking",
        State::Cooldown => "Pausing after talk",
        State::Dragged => "Carried",
        State::Heartbeat => "Looking around",
        State::Reading => "Reading",
        State::Working => "Working",
        State::Waiting => "Waiting for you",
        State::Paused => "Paused",
        State::Error => "Stuck",
    }
}

/// A behaviour, for a choice.
pub fn behaviour(behaviour: Behaviour) -> &'static str {
    match behaviour {
        Behaviour::Stationary => "Stay",
        Behaviour::Wander => "Stroll",
        Behaviour::Patrol => "Patrol",
    }
}

/// A speed, for a segment.
pub fn speed(speed: Speed) -> String {
    match speed {
        Speed::Times(times) => format!("{times}×"),
        Speed::Max => "Max".to_owned(),
    }
}

/// How long an agent has been in its state, in seconds of simulated time.
pub fn state_secs(room: &RoomModel, agent: &AgentView) -> f64 {
    (room.tick as f64 / TICKS_PER_SEC as f64 - f64::from(agent.since_secs)).max(0.0)
}

/// Use in a few words: `12 calls, 3.1 k tokens, $0.04`.
pub fn tally(tally: &Tally) -> String {
    let calls = count(usize::try_from(tally.calls).unwrap_or(usize::MAX), "call", "calls");
    format!("{calls}, {} tokens, {}", compact(tally.tokens), money(tally.cost_usd()))
}

/// Why nobody does anything.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Quiet {
    /// In a few words, for the status.
    pub short: String,
    /// In a sentence, with what to do.
    pub long: String,
}

/// Why nobody does anything, where nobody does; or what keeps questions from being answered.
pub fn why_quiet(room: &RoomModel, recent: &Recent) -> Option<Quiet> {
    let quiet = |short: &str, long: String| Some(Quiet { short: short.to_owned(), long });
    if room.paused {
        return quiet(
            "time stands still",
            "Time stands still. Space, or the button on the left, lets it go on.".into(),
        );
    }
    if let Some(cap) = &room.cap_reached {
        let long = format!("No model is asked any more: {cap}. Raise the cap in the settings.");
        return quiet("a cap is reached", long);
    }
    let (waiting, under_way) = room.questions;
    let asks = waiting + under_way > 0 || room.agents.iter().any(|agent| agent.state == State::Error);
    if let Some(trouble) = recent.troubles.values().next().filter(|_| asks) {
        let short = format!("{} does not answer", trouble.provider);
        let long = format!("{}. To do: {}.", super::shelf::capitalised(&trouble.what), trouble.remedy);
        return quiet(&short, long);
    }
    if works(room) > 0 {
        return None;
    }
    if under_way > 0 {
        return quiet("an answer is awaited", "A model was asked and has not answered yet.".into());
    }
    if waiting > 0 {
        return quiet("questions wait for a free slot", "As many questions are under way as are allowed.".into());
    }
    quiet("nothing is new", "Nobody has anything new to read, and nobody was given anything to do.".into())
}

fn works(room: &RoomModel) -> usize {
    let works = |agent: &&AgentView| {
        agent.thinking || matches!(agent.state, State::Reading | State::Working | State::Conversing)
    };
    room.agents.iter().filter(works).count()
}

/// What goes on, in one sentence: `3 busy, 2 queued, 147 k tokens, $0.12`.
pub fn status(room: &RoomModel, recent: &Recent) -> String {
    if room.agents.is_empty() {
        return "Nobody is here yet".to_owned();
    }
    let in_state = |state| room.agents.iter().filter(|agent| agent.state == state).count();
    let working = works(room);
    let queued: usize = room.agents.iter().map(|agent| agent.queued).sum();
    let mut parts = Vec::new();
    if room.paused {
        parts.push("Paused".to_owned());
    } else if room.speed == Some(Speed::Max) {
        parts.push("As fast as possible".to_owned());
    }
    match in_state(State::Waiting) {
        0 => {}
        1 => parts.push("1 needs you".to_owned()),
        many => parts.push(format!("{many} need you")),
    }
    match in_state(State::Error) {
        0 => {}
        stuck => parts.push(format!("{stuck} stuck")),
    }
    let why = why_quiet(room, recent).filter(|_| !room.paused);
    parts.push(match (working, &why) {
        (0, Some(why)) if queued == 0 => format!("all is quiet: {}", why.short),
        (0, None) if queued == 0 => "all is quiet".to_owned(),
        _ => format!("{working} busy"),
    });
    if queued > 0 {
        parts.push(format!("{queued} queued"));
    }
    // Something keeps answers from coming, though somebody works.
    if let Some(why) = why.filter(|why| (working > 0 || queued > 0) && why.short != "nothing is new") {
        parts.push(why.short);
    }
    parts.push(format!("{} tokens", compact(room.spent.tokens)));
    parts.push(money(room.spent.cost_usd()));
    super::shelf::capitalised(&parts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::testing::{agent, sample_room};
    use crate::view::recent::Trouble;

    fn calm() -> Recent {
        Recent::default()
    }

    #[test]
    fn the_status_is_one_sentence() {
        let mut room =
            RoomModel { spent: Tally { calls: 9, tokens: 147_210, cost_micro_usd: 123_000 }, ..RoomModel::default() };
        assert_eq!(status(&room, &calm()), "Nobody is here yet");
        for index in 0..4 {
            room.agents.push(agent(index, &format!("ada-{index}"), "Ada"));
        }
        assert_eq!(status(&room, &calm()), "All is quiet: nothing is new, 147 k tokens, $0.12");
        for (agent, state) in room.agents.iter_mut().zip([State::Working, State::Reading, State::Conversing]) {
            agent.state = state;
        }
        room.agents[3].queued = 2;
        assert_eq!(status(&room, &calm()), "3 busy, 2 queued, 147 k tokens, $0.12");
        room.speed = Some(Speed::Max);
        assert_eq!(status(&room, &calm()), "As fast as possible, 3 busy, 2 queued, 147 k tokens, $0.12");
        room.paused = true;
        room.agents[3].state = State::Waiting;
        assert_eq!(status(&room, &calm()), "Paused, 1 needs you, 3 busy, 2 queued, 147 k tokens, $0.12");
    }

    #[test]
    fn why_nothing_happens_is_answered() {
        let mut room = RoomModel { agents: vec![agent(0, "ada-0", "Ada")], ..RoomModel::default() };
        let mut recent = calm();
        let why = |room: &RoomModel, recent: &Recent| why_quiet(room, recent).unwrap().short;
        assert_eq!(why(&room, &recent), "nothing is new");
        room.questions = (3, 0);
        assert_eq!(why(&room, &recent), "questions wait for a free slot");
        room.questions = (3, 2);
        assert_eq!(why(&room, &recent), "an answer is awaited");
        let trouble =
            Trouble { provider: "openai".into(), what: "openai answered 429".into(), remedy: "wait a while".into() };
        recent.troubles.insert("openai".into(), trouble);
        assert_eq!(why(&room, &recent), "openai does not answer");
        room.agents[0].queued = 1;
        assert_eq!(status(&room, &recent), "0 busy, 1 queued, openai does not answer, 0 tokens, $0.00");
        room.cap_reached = Some("the cap of 9 calls a run is reached".into());
        assert_eq!(why(&room, &recent), "a cap is reached");
        room.paused = true;
        assert_eq!(why(&room, &recent), "time stands still");
        room = RoomModel { agents: vec![agent(0, "ada-0", "Ada")], ..RoomModel::default() };
        room.agents[0].thinking = true;
        assert_eq!(why_quiet(&room, &calm()), None);
    }

    #[test]
    fn numbers_are_short() {
        let said: Vec<String> =
            [0, 999, 1_000, 1_234, 9_949, 9_950, 147_210, 999_499, 999_500, 2_340_000].map(compact).into();
        assert_eq!(said, ["0", "999", "1 k", "1.2 k", "9.9 k", "10 k", "147 k", "999 k", "1 M", "2.3 M"]);
        assert_eq!([0.0, 0.001, 0.123, 12.0].map(money), ["$0.00", "under $0.01", "$0.12", "$12.00"]);
        assert_eq!([-1.0, 59.9, 60.0, 7_500.0, 7_200.0].map(duration), ["0 s", "59 s", "1 min", "2 h 5 min", "2 h"]);
    }

    #[test]
    fn every_state_says_something_of_its_own() {
        let words: std::collections::BTreeSet<&str> = State::ALL.into_iter().map(state).collect();
        assert_eq!(words.len(), State::ALL.len());
        assert!(!status(&sample_room(), &calm()).is_empty());
    }
}
