//! Numbers, times and states as a person says them. Pure text; no drawing.

use crate::base::Behaviour;
use crate::gateway::ledger::{Cost, Tally};
use crate::schedule::Speed;
use crate::simulation::State;
use crate::ui::widgets::provider_health;
use crate::view::model::{AgentView, RoomModel};

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

/// How long an agent has been in its state: `for 12 s`, in simulated time.
pub fn state_duration(agent: &AgentView) -> String {
    format!("for {}", duration(f64::from(agent.in_state_secs)))
}

/// What something cost, as far as that is known: `$0.04`, `cost unknown`.
pub fn cost(tally: &Tally) -> String {
    match tally.cost() {
        Cost::Known(usd) => money(usd),
        Cost::AtLeast { usd, .. } if usd <= 0.0 => "cost unknown".to_owned(),
        Cost::AtLeast { usd, .. } => format!("{} and more", money(usd)),
    }
}

/// Use in a few words: `12 calls, 3.1 k tokens, $0.04`.
pub fn tally(tally: &Tally) -> String {
    let calls = count(usize::try_from(tally.calls).unwrap_or(usize::MAX), "call", "calls");
    format!("{calls}, {} tokens, {}", compact(tally.tokens), cost(tally))
}

/// Why nobody does anything.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Quiet {
    /// In a few words, for the status.
    pub short: String,
    /// In a sentence, with what to do.
    pub long: String,
    /// Whether something is broken: that is never called quiet.
    pub is_fault: bool,
}

/// Why nobody does anything, where nobody does; or what keeps questions from being answered.
pub fn why_quiet(room: &RoomModel) -> Option<Quiet> {
    let quiet = |short: &str, long: String| Some(Quiet { short: short.to_owned(), long, is_fault: false });
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
    if let Some(fault) = provider_health::foremost(room) {
        let (short, long) = (provider_health::short(fault), provider_health::long(fault, room));
        return Some(Quiet { short, long, is_fault: true });
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
pub fn status(room: &RoomModel) -> String {
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
    let why = why_quiet(room).filter(|_| !room.paused);
    parts.push(match (working, &why) {
        (0, Some(why)) if queued == 0 && !why.is_fault => format!("all is quiet: {}", why.short),
        (0, None) if queued == 0 => "all is quiet".to_owned(),
        _ => format!("{working} busy"),
    });
    if queued > 0 {
        parts.push(format!("{queued} queued"));
    }
    // Something keeps answers from coming, though somebody works.
    if let Some(why) = why.filter(|why| why.is_fault || ((working > 0 || queued > 0) && why.short != "nothing is new"))
    {
        parts.push(why.short);
    }
    parts.push(format!("{} tokens", compact(room.spent.tokens)));
    parts.push(cost(&room.spent));
    crate::ui::panes::shelf::capitalised(&parts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::testing::{agent, sample_room};

    #[test]
    fn the_status_is_one_sentence() {
        let mut room = RoomModel {
            spent: Tally { calls: 9, tokens: 147_210, cost_micro_usd: 123_000, ..Tally::default() },
            ..RoomModel::default()
        };
        assert_eq!(status(&room), "Nobody is here yet");
        for index in 0..4 {
            room.agents.push(agent(index, &format!("ada-{index}"), "Ada"));
        }
        assert_eq!(status(&room), "All is quiet: nothing is new, 147 k tokens, $0.12");
        for (agent, state) in room.agents.iter_mut().zip([State::Working, State::Reading, State::Conversing]) {
            agent.state = state;
        }
        room.agents[3].queued = 2;
        assert_eq!(status(&room), "3 busy, 2 queued, 147 k tokens, $0.12");
        room.speed = Some(Speed::Max);
        assert_eq!(status(&room), "As fast as possible, 3 busy, 2 queued, 147 k tokens, $0.12");
        room.paused = true;
        room.agents[3].state = State::Waiting;
        assert_eq!(status(&room), "Paused, 1 needs you, 3 busy, 2 queued, 147 k tokens, $0.12");
    }

    #[test]
    fn why_nothing_happens_is_answered() {
        let mut room = RoomModel { agents: vec![agent(0, "ada-0", "Ada")], ..RoomModel::default() };
        let why = |room: &RoomModel| why_quiet(room).unwrap().short;
        assert_eq!(why(&room), "nothing is new");
        room.questions = (3, 0);
        assert_eq!(why(&room), "questions wait for a free slot");
        room.questions = (3, 2);
        assert_eq!(why(&room), "an answer is awaited");
        room.cap_reached = Some("the cap of 9 calls a run is reached".into());
        assert_eq!(why(&room), "a cap is reached");
        room.paused = true;
        assert_eq!(why(&room), "time stands still");
        room = RoomModel { agents: vec![agent(0, "ada-0", "Ada")], ..RoomModel::default() };
        room.agents[0].thinking = true;
        assert_eq!(why_quiet(&room), None);
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
    fn how_long_a_state_lasts_does_not_depend_on_the_time_of_day() {
        let mut ada = agent(0, "ada-0", "Ada");
        ada.in_state_secs = 7.9;
        assert_eq!(state_duration(&ada), "for 7 s");
    }

    #[test]
    fn every_state_says_something_of_its_own() {
        let words: std::collections::BTreeSet<&str> = State::ALL.into_iter().map(state).collect();
        assert_eq!(words.len(), State::ALL.len());
        assert!(!status(&sample_room()).is_empty());
    }
}
