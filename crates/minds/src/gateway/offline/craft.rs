//! What people of a trade do, ask and promise: found by the words of a profile, so that any profile has one.

use super::text::{contains_word, words};
use super::trades::{CHECKING, DESIGN, EDITING, RESEARCH, WRITING};
use super::trades_more::{ARCHIVE, BUILDING, CRITIQUE, GENERAL, INTERVIEWS, PLANNING};

/// A trade. In its lines `{t}` is the thing spoken about (“the harbour map”), `{n}` a number of things in what was
/// read (“the eleven lamps”), `{d}` a day or an hour in it (“Friday”); “this” stands for what was just quoted.
pub struct Craft {
    /// The words of a profile that tell of the trade.
    pub(super) trade_words: &'static str,
    /// What one thinks of what was read.
    pub views: &'static [&'static str],
    /// What one promises: what follows “I will”.
    pub deeds: &'static [&'static str],
    /// What one asks others.
    pub questions: &'static [&'static str],
    /// Why one does not agree, with a reason.
    pub objections: &'static [&'static str],
    /// Ideas for a pinboard, which have to make sense on their own.
    pub pins: &'static [&'static str],
}

/// The trade whose words a profile uses most; words at its start weigh more.
pub fn craft_of(profile: &str) -> &'static Craft {
    let lowered = profile.to_lowercase();
    let score = |craft: &Craft| -> f32 {
        let uses = words(&lowered).enumerate().filter(|(_, word)| contains_word(craft.trade_words, word));
        uses.map(|(at, _)| if at < 25 { 3.0 } else { 1.0 }).sum()
    };
    let mut best = (&GENERAL, 0.0);
    for craft in CRAFTS {
        if score(craft) > best.1 {
            best = (craft, score(craft));
        }
    }
    best.0
}

/// All trades, the one of those who have none included.
pub fn crafts() -> impl Iterator<Item = &'static Craft> {
    CRAFTS.iter().copied().chain([&GENERAL])
}

static CRAFTS: &[&Craft] =
    &[&RESEARCH, &WRITING, &EDITING, &CHECKING, &DESIGN, &BUILDING, &PLANNING, &ARCHIVE, &INTERVIEWS, &CRITIQUE];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_finds_its_trade() {
        assert!(std::ptr::eq(craft_of("You are Ada. Researcher who looks for sources."), &RESEARCH));
        assert!(std::ptr::eq(craft_of("You are Finn. An engineer who builds tools."), &BUILDING));
        assert!(std::ptr::eq(craft_of("You are somebody."), &GENERAL));
    }

    #[test]
    fn every_trade_can_speak_of_anything_and_pins_only_what_has_a_name() {
        for craft in CRAFTS.iter().chain([&&GENERAL]) {
            for lines in [craft.views, craft.deeds, craft.questions, craft.objections] {
                assert!(lines.iter().filter(|line| !line.contains('{')).count() >= 2, "{lines:?}");
            }
            for slot in ["{n}", "{d}", "{t}"] {
                for lines in [craft.views, craft.deeds, craft.questions] {
                    assert!(lines.iter().any(|line| line.contains(slot)), "{slot} is missing in {lines:?}");
                }
            }
            assert!(craft.pins.iter().all(|pin| pin.contains('{')), "{:?}", craft.pins);
        }
    }
}
