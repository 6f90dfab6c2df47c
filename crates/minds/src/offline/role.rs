//! What agents of a role do, ask and promise: the role is found by the words of a profile, so that any profile has one.
//! The lines are data.

use std::sync::LazyLock;

use serde::Deserialize;

use super::text::{contains_word, words};

/// A role, as defined in `roles.yaml`.
#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
pub struct Role {
    /// What it is called in the file.
    pub name: String,
    /// The words of a profile that tell of the role.
    words: String,
    /// What one thinks of what was read.
    pub views: Vec<String>,
    /// What one promises: what follows “I will”.
    pub deeds: Vec<String>,
    /// What one asks others.
    pub questions: Vec<String>,
    /// Why one does not agree, with a reason.
    pub objections: Vec<String>,
    /// Ideas for a pinboard, which have to make sense on their own.
    pub pins: Vec<String>,
}

static ROLES: LazyLock<Vec<Role>> = LazyLock::new(|| {
    serde_yaml::from_str(include_str!("roles.yaml")).expect("the file is compiled in, and the tests read it")
});

/// All roles; the last is of those who have none.
pub fn roles() -> &'static [Role] {
    &ROLES
}

/// The role whose words a profile uses most; words at its start weigh more.
pub fn role_of(profile: &str) -> &'static Role {
    let lowered = profile.to_lowercase();
    let score = |role: &Role| -> f32 {
        let uses = words(&lowered).enumerate().filter(|(_, word)| contains_word(&role.words, word));
        uses.map(|(at, _)| if at < 25 { 3.0 } else { 1.0 }).sum()
    };
    let mut best = (&ROLES[ROLES.len() - 1], 0.0);
    for role in &ROLES[..ROLES.len() - 1] {
        if score(role) > best.1 {
            best = (role, score(role));
        }
    }
    best.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_finds_its_role() {
        assert_eq!(role_of("You are Ada. Researcher who looks for sources.").name, "research");
        assert_eq!(role_of("You are Finn. An engineer who builds tools.").name, "building");
        assert_eq!(role_of("You are somebody.").name, "general");
    }

    #[test]
    fn every_role_can_speak_of_anything_and_pins_only_what_has_a_name() {
        assert_eq!(roles().len(), 11);
        for role in roles() {
            for lines in [&role.views, &role.deeds, &role.questions, &role.objections] {
                assert!(lines.iter().filter(|line| !line.contains('{')).count() >= 2, "{lines:?}");
            }
            for slot in ["{n}", "{d}", "{t}"] {
                for lines in [&role.views, &role.deeds, &role.questions] {
                    assert!(lines.iter().any(|line| line.contains(slot)), "{slot} is missing in {lines:?}");
                }
            }
            assert!(role.pins.iter().all(|pin| pin.contains('{')), "{:?}", role.pins);
        }
    }
}
