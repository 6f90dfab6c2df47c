//! Formatting of numbers, times and states as text, without drawing.

use super::texts;
use crate::base::Behaviour;
pub use crate::base::text::capitalised;
use crate::gateway::ledger::{Cost, Tally};
use crate::schedule::{Speed, TICKS_PER_SEC};
use crate::ui::texts::YOU;
pub use crate::view::activity_text::state;
use crate::view::model::{AgentView, RoomModel};
use crate::workspace::task_files::columns::is_person;

/// Returns a count with two or three digits: `940`, `147 k`, `2.3 M`.
pub fn compact(count: u64) -> String {
    match count {
        0..1_000 => count.to_string(),
        1_000..9_950 => format!("{:.1} k", count as f64 / 1e3).replace(".0 k", " k"),
        9_950..999_500 => format!("{:.0} k", count as f64 / 1e3),
        _ => format!("{:.1} M", count as f64 / 1e6).replace(".0 M", " M"),
    }
}

/// Returns an amount of money in US dollars.
pub fn money(usd: f64) -> String {
    if usd > 0.0 && usd < 0.005 { texts::UNDER_A_CENT.to_owned() } else { format!("${usd:.2}") }
}

/// Returns a duration: `4 s`, `3 min`, `2 h 5 min`.
pub fn duration(secs: f64) -> String {
    let secs = secs.max(0.0) as u64;
    match secs {
        0..60 => texts::seconds(secs),
        60..3_600 => texts::minutes(secs / 60),
        _ if (secs / 60).is_multiple_of(60) => texts::hours(secs / 3_600),
        _ => texts::hours_and_minutes(secs / 3_600, secs / 60 % 60),
    }
}

/// Returns a text as a sentence, with a capital letter and a full stop.
pub fn sentence(text: &str) -> String {
    let mut sentence = capitalised(text.trim());
    if !sentence.is_empty() && !sentence.ends_with(['.', '!', '?', '…']) {
        sentence.push('.');
    }
    sentence
}

/// A number of bytes: `999 bytes`, `12.1 KiB`, `4.8 MiB`.
pub fn size(bytes: u64) -> String {
    match bytes {
        0..1_024 => count(bytes as usize, "byte", "bytes"),
        1_024..1_048_576 => format!("{:.1} KiB", bytes as f64 / 1_024.0),
        _ => format!("{:.1} MiB", bytes as f64 / 1_048_576.0),
    }
}

/// Returns a count with its noun: `1 pin`, `3 pins`.
pub fn count(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// Returns the label of a behaviour.
pub fn behaviour(behaviour: Behaviour) -> &'static str {
    match behaviour {
        Behaviour::Stationary => texts::STAY,
        Behaviour::Wander => texts::WANDER,
        Behaviour::Patrol => texts::PATROL,
    }
}

/// Returns the label of a speed.
pub fn speed(speed: Speed) -> String {
    match speed {
        Speed::Times(times) => format!("{times}×"),
        Speed::Max => texts::MAX_SPEED.to_owned(),
    }
}

/// Formats the simulated time since a tick, such as `12 s`.
pub fn since(room: &RoomModel, tick: u64) -> String {
    duration(room.tick.saturating_sub(tick) as f64 / TICKS_PER_SEC as f64)
}

/// Returns how long an agent has been in its state, in simulated time: `for 12 s`.
pub fn state_duration(agent: &AgentView) -> String {
    texts::lasting(&duration(f64::from(agent.in_state_secs)))
}

/// Returns the display name of an assignee in a task file: the agent's, `You`, or the name as written.
pub fn assignee<'a>(room: &'a RoomModel, name: &'a str) -> &'a str {
    match room.agent_named(name) {
        Some(agent) => &agent.name,
        None if is_person(name) => YOU,
        None => name,
    }
}

/// Returns the known cost: `$0.04`, `at least $0.04`, `cost unknown`.
pub fn cost(tally: &Tally) -> String {
    match tally.cost() {
        Cost::Known(usd) => money(usd),
        Cost::AtLeast { usd, .. } if usd <= 0.0 => texts::COST_UNKNOWN.to_owned(),
        Cost::AtLeast { usd, .. } => texts::at_least(&money(usd)),
    }
}

/// Returns the usage of models in a few words: `12 calls, 3.1 k tokens, $0.04`.
pub fn tally(tally: &Tally) -> String {
    texts::tally(tally.calls, &compact(tally.tokens), &cost(tally))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulation::State;
    use crate::ui::testing::agent;

    #[test]
    fn sizes_are_short() {
        let text = [0, 1, 1_023, 1_024, 12_345, 5_000_000].map(size);
        assert_eq!(text, ["0 bytes", "1 byte", "1023 bytes", "1.0 KiB", "12.1 KiB", "4.8 MiB"]);
    }

    #[test]
    fn numbers_have_few_digits() {
        let shown: Vec<String> =
            [0, 999, 1_000, 1_234, 9_949, 9_950, 147_210, 999_499, 999_500, 2_340_000].map(compact).into();
        assert_eq!(shown, ["0", "999", "1 k", "1.2 k", "9.9 k", "10 k", "147 k", "999 k", "1 M", "2.3 M"]);
        assert_eq!([0.0, 0.001, 0.123, 12.0].map(money), ["$0.00", "under $0.01", "$0.12", "$12.00"]);
        assert_eq!([-1.0, 59.9, 60.0, 7_500.0, 7_200.0].map(duration), ["0 s", "59 s", "1 min", "2 h 5 min", "2 h"]);
    }

    #[test]
    fn the_duration_of_a_state_is_simulated_time() {
        let mut ada = agent(0, "ada-0", "Ada");
        ada.in_state_secs = 7.9;
        assert_eq!(state_duration(&ada), "for 7 s");
    }

    #[test]
    fn assignees_have_the_name_of_their_agent_in_any_spelling() {
        let room = RoomModel { agents: vec![agent(0, "ada-0", "Ada Lovelace")], ..RoomModel::default() };
        for (written, shown) in [
            ("ada-0", "Ada Lovelace"),
            ("ADA-0", "Ada Lovelace"),
            ("ada-lovelace", "Ada Lovelace"),
            ("user", "You"),
            ("User", "You"),
            ("bo", "bo"),
        ] {
            assert_eq!(assignee(&room, written), shown, "{written}");
        }
    }

    #[test]
    fn every_state_has_a_unique_label() {
        let words: std::collections::BTreeSet<&str> = State::ALL.into_iter().map(state).collect();
        assert_eq!(words.len(), State::ALL.len());
    }
}
