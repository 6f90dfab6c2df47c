//! How an agent sounds: a tone chosen by its profile's style words, its own phrases, and random variation.

use std::sync::LazyLock;

use serde::Deserialize;

use super::text::{contains_word, words};

/// Deterministic random numbers that only depend on their seed.
pub struct Dice(u64);

impl Dice {
    /// The same seed throws the same.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number (SplitMix64).
    pub fn throw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// One of these; nothing from nothing.
    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> Option<&'a T> {
        let index = self.throw() % from.len().max(1) as u64;
        from.get(usize::try_from(index).unwrap_or(0))
    }

    /// One of these lines, or no words.
    pub fn line<'a, T: AsRef<str>>(&mut self, from: &'a [T]) -> &'a str {
        self.pick(from).map(AsRef::as_ref).unwrap_or_default()
    }

    /// Whether something with this chance (0 to 1) happens.
    pub fn chance(&mut self, chance: f32) -> bool {
        (self.throw() % 10_000) as f32 / 10_000.0 < chance
    }
}

/// A way of speaking, as defined in `tones.yaml`.
#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
pub struct Tone {
    /// What it is called in the file.
    pub name: String,
    /// The words of a profile that tell of it.
    words: String,
    /// About something that was read.
    pub remarks: Vec<String>,
    /// To greet someone at the start of a conversation.
    pub greetings: Vec<String>,
    /// To agree with an utterance.
    pub agreeing: Vec<String>,
    /// To doubt an utterance.
    pub doubting: Vec<String>,
    /// At the end of a task.
    pub closing: Vec<String>,
}

static TONES: LazyLock<Vec<Tone>> = LazyLock::new(|| {
    serde_yaml::from_str(include_str!("tones.yaml")).expect("the file is compiled in, and the tests read it")
});

/// The tone whose words the profile uses most, the first of them among equals.
pub fn tone_of(profile: &str) -> &'static Tone {
    let lowered = profile.to_lowercase();
    let uses = |tone: &Tone| words(&lowered).filter(|word| contains_word(&tone.words, word)).count();
    let mut best = &TONES[0];
    for tone in &*TONES {
        if uses(tone) > uses(best) {
            best = tone;
        }
    }
    best
}

/// All tones.
pub fn tones() -> &'static [Tone] {
    &TONES
}

impl Tone {
    /// All its lines.
    pub fn lines(&self) -> impl Iterator<Item = &String> {
        [&self.remarks, &self.greetings, &self.agreeing, &self.doubting, &self.closing].into_iter().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn style_words_choose_the_tone() {
        assert_eq!(tone_of("You speak in a dry, wry way.").name, "dry");
        assert_eq!(tone_of("Warm and patient.").name, "warm");
        assert_eq!(tone_of("").name, "precise", "without such words an agent is matter-of-fact");
    }

    #[test]
    fn dice_throw_the_same_for_the_same_seed() {
        let throws = |seed| (0..8).scan(Dice::new(seed), |dice, _| Some(dice.throw())).collect::<Vec<_>>();
        assert_eq!(throws(7), throws(7));
        assert_ne!(throws(7), throws(8));
        assert_eq!(Dice::new(1).line::<&str>(&[]), "");
    }
}
