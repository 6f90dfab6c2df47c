//! Speech bubbles: how long they stay, how they fade in and out, and how much text fits. The refusal sign above an
//! agent fades in the same way but stays longer.

use crate::base::text;

/// Maximum length of a bubble's text, in characters.
const MAX_CHARS: usize = 120;
/// Durations of the fade-in and the fade-out, in seconds.
const APPEARS_SECS: f64 = 0.16;
const FADES_SECS: f64 = 0.9;
/// How long the speaker's mouth moves, in seconds.
const SPEAKS_SECS: f64 = 2.6;
/// Scale of a bubble at the start of its fade-in.
const GROWS_FROM: f64 = 0.9;

/// How long something is shown, in seconds of real time.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Lifetime(f64);

impl Lifetime {
    /// The lifetime of a speech bubble.
    pub const BUBBLE: Self = Self(5.0);
    /// The lifetime of the sign above an agent whose request was refused.
    pub const REFUSAL: Self = Self(2.0 * Self::BUBBLE.0);

    /// Whether something that appeared at `born_secs` is no longer shown.
    pub fn has_expired(self, born_secs: f64, now_secs: f64) -> bool {
        now_secs - born_secs >= self.0
    }

    /// Opacity, from 0 to 1, of something that appeared at `born_secs`.
    pub fn opacity(self, born_secs: f64, now_secs: f64) -> f32 {
        let age_secs = now_secs - born_secs;
        let fades = ((self.0 - age_secs) / FADES_SECS).clamp(0.0, 1.0);
        (appeared(age_secs) * fades) as f32
    }
}

fn appeared(age_secs: f64) -> f64 {
    (age_secs / APPEARS_SECS).clamp(0.0, 1.0)
}

/// Text shown above the agent that said it.
#[derive(Clone, PartialEq, Debug)]
pub struct Bubble {
    /// Plain text, already truncated by [`truncated`].
    pub text: String,
    /// When the bubble appeared, in seconds of real time.
    pub born_secs: f64,
    /// Whether it was said to another agent, rather than being a remark without an addressee.
    pub aloud: bool,
}

impl Bubble {
    /// Whether the bubble is no longer shown.
    pub fn has_expired(&self, now_secs: f64) -> bool {
        Lifetime::BUBBLE.has_expired(self.born_secs, now_secs)
    }

    /// Opacity, from 0 to 1.
    pub fn strength(&self, now_secs: f64) -> f32 {
        Lifetime::BUBBLE.opacity(self.born_secs, now_secs)
    }

    /// Scale, growing to 1 while the bubble appears.
    pub fn size(&self, now_secs: f64) -> f32 {
        (GROWS_FROM + (1.0 - GROWS_FROM) * appeared(now_secs - self.born_secs)) as f32
    }

    /// Whether the speaker's mouth moves at this moment.
    pub fn is_mouth_moving(&self, now_secs: f64) -> bool {
        self.aloud && now_secs - self.born_secs < SPEAKS_SECS
    }
}

/// Truncates plain text to the length of a bubble.
pub fn truncated(plain: &str) -> String {
    text::truncate(plain, MAX_CHARS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bubble(aloud: bool) -> Bubble {
        Bubble { text: "Tea?".into(), born_secs: 10.0, aloud }
    }

    #[test]
    fn a_bubble_fades_in_and_is_gone_after_five_seconds() {
        let at = |age_secs: f64| (bubble(true).strength(10.0 + age_secs), bubble(true).has_expired(10.0 + age_secs));
        assert!(at(0.0).0 < 0.01);
        assert_eq!(at(1.0), (1.0, false));
        assert!((0.01..1.0).contains(&at(4.6).0));
        assert_eq!(at(5.0), (0.0, true), "it is forgotten when nothing of it is seen any more");
        assert!(bubble(true).size(10.0) < bubble(true).size(10.1));
        assert_eq!(bubble(true).size(11.0), 1.0);
    }

    #[test]
    fn a_refusal_sign_stays_twice_as_long_as_a_bubble() {
        assert_eq!(Lifetime::REFUSAL.opacity(0.0, 5.0), 1.0);
        assert!(!Lifetime::REFUSAL.has_expired(0.0, 9.9) && Lifetime::REFUSAL.has_expired(0.0, 10.0));
        assert_eq!(Lifetime::REFUSAL.opacity(0.0, 10.0), 0.0);
    }

    #[test]
    fn the_mouth_moves_only_for_speech_and_stops_before_the_bubble_disappears() {
        assert!(bubble(true).is_mouth_moving(12.0) && !bubble(true).is_mouth_moving(13.0));
        assert!(!bubble(false).is_mouth_moving(12.0));
    }

    #[test]
    fn a_long_text_is_truncated() {
        assert_eq!(truncated(&"word ".repeat(99)).chars().count(), MAX_CHARS);
        assert_eq!(truncated("short"), "short");
    }
}
