//! How an agent sounds: a tone that its profile's style words choose, its own phrases, and chance to vary both.

use super::text::{contains_word, words};

/// Chance that depends on nothing but what it is made from.
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
    pub fn pick<'a, T: ?Sized>(&mut self, from: &'a [&'a T]) -> Option<&'a T> {
        let index = self.throw() % from.len().max(1) as u64;
        from.get(usize::try_from(index).unwrap_or(0)).copied()
    }

    /// One of these lines, or no words.
    pub fn line<'a>(&mut self, from: &'a [&'a str]) -> &'a str {
        self.pick(from).unwrap_or_default()
    }

    /// Whether something with this chance (0 to 1) happens.
    pub fn chance(&mut self, chance: f32) -> bool {
        (self.throw() % 10_000) as f32 / 10_000.0 < chance
    }
}

/// A way of speaking. In its lines `{q}` is a quotation, `{t}` what the text is about, `{l}` where it stands,
/// `{o}` whom the agent speaks to.
pub struct Tone {
    style_words: &'static str,
    /// About something that was read.
    pub remarks: &'static [&'static str],
    /// On reading the same again.
    pub nothing_new: &'static [&'static str],
    /// To somebody, at the start of a conversation.
    pub greetings: &'static [&'static str],
    /// To what somebody said, in agreement.
    pub agreeing: &'static [&'static str],
    /// To what somebody said, in doubt.
    pub doubting: &'static [&'static str],
    /// At the end of a task.
    pub closing: &'static [&'static str],
}

/// The tone whose style words the profile uses most, the first of them among equals.
pub fn tone_of(profile: &str) -> &'static Tone {
    let lowered = profile.to_lowercase();
    let uses = |tone: &Tone| words(&lowered).filter(|word| contains_word(tone.style_words, word)).count();
    let mut best = &TONES[0];
    for tone in TONES {
        if uses(tone) > uses(best) {
            best = tone;
        }
    }
    best
}

/// All tones.
pub fn tones() -> &'static [&'static Tone] {
    TONES
}

impl Tone {
    /// All its lines.
    pub fn lines(&self) -> [&'static [&'static str]; 6] {
        [self.remarks, self.nothing_new, self.greetings, self.agreeing, self.doubting, self.closing]
    }
}

static TONES: &[&Tone] = &[&PRECISE, &DRY, &WARM, &CURIOUS, &BLUNT, &CHEERFUL, &CALM, &BRISK];

static PRECISE: Tone = Tone {
    style_words: " precise exact careful accurate meticulous factual ",
    remarks: &[
        "The part that matters is {q}.",
        "I take one thing from {l}: {q}.",
        "Two readings of {q} are possible, and I would rather have one.",
        "{q} is specific enough to work with.",
    ],
    nothing_new: &["{l} says what it said before.", "No change on {l} since I last looked."],
    greetings: &[
        "{o}, one question about {t}.",
        "{o}, let us be exact about {t}.",
        "{o}, a point on {t} before it is lost.",
    ],
    agreeing: &["{q}: agreed, as far as it goes.", "You are right about {q}.", "I can sign {q}."],
    doubting: &[
        "{q} is close, but not quite it.",
        "I would put {q} more narrowly.",
        "What exactly do you mean by {q}?",
    ],
    closing: &["That is complete as far as I can tell.", "Nothing in it is guessed."],
};

static DRY: Tone = Tone {
    style_words: " dry wry laconic ironic deadpan sober ",
    remarks: &[
        "So it says {q}. I have read worse.",
        "{q}. Somebody had to write it down, and somebody did.",
        "I note {q}, without surprise.",
        "{l} now claims {q}, and I am prepared to believe it.",
    ],
    nothing_new: &["{l} has not changed, and neither have I.", "Nothing new on {l}. The walk was pleasant."],
    greetings: &[
        "{o}, a word about {t}, which will not go away by itself.",
        "{o}, you look like someone with a view on {t}.",
    ],
    agreeing: &["I find nothing wrong with {q}, and I looked.", "{q} will do.", "For once I agree entirely: {q}."],
    doubting: &["{q} is a brave thing to say.", "{q}, you say. I would not bet the shelf on it."],
    closing: &["It is done, and quietly.", "There it is. No applause needed."],
};

static WARM: Tone = Tone {
    style_words: " warm kind gentle friendly caring patient encouraging ",
    remarks: &[
        "It does me good to read {q}.",
        "Somebody took care over {q}, and it shows.",
        "{q} is the line I would read aloud to a guest.",
        "I can hear a person behind {q}.",
    ],
    nothing_new: &["{l} is as we left it, which is fine.", "Nothing has moved on {l}, so I leave it in peace."],
    greetings: &["{o}, how good to meet you here. I was thinking about {t}.", "{o}, do you have a moment for {t}?"],
    agreeing: &[
        "I am glad you said {q}.",
        "Yes, {q}: that is how I feel about it too.",
        "{q} helps me a lot, thank you.",
    ],
    doubting: &["I hear you on {q}, and still I hesitate.", "May I turn {q} around for a moment?"],
    closing: &["I hope it helps whoever picks it up next.", "Tell me if it should be kinder, or shorter."],
};

static CURIOUS: Tone = Tone {
    style_words: " curious inquisitive questioning wondering probing inquiring ",
    remarks: &[
        "{q} makes me wonder what lies behind it.",
        "I had not looked at it that way: {q}.",
        "There is a whole afternoon of questions in {q}.",
        "I stopped at {q}, because I want to know how we know.",
    ],
    nothing_new: &["Nothing new on {l}, so my old questions still stand.", "{l} has no fresh answer for me yet."],
    greetings: &[
        "{o}, what do you make of {t}?",
        "{o}, I cannot stop turning {t} over.",
        "{o}, help me understand {t}.",
    ],
    agreeing: &["{q}: yes, and that opens the next door.", "I like {q}, because it can be tested.", "That fits: {q}."],
    doubting: &["{q} surprises me.", "What would we see if {q} were wrong?", "Do we know {q}, or do we only hope it?"],
    closing: &[
        "One question stays open, and I will keep it.",
        "I learnt something on the way, which is the best part.",
    ],
};

static BLUNT: Tone = Tone {
    style_words: " blunt direct plainspoken frank sharp stern terse ",
    remarks: &[
        "{q}. Good. That is clear enough to act on.",
        "Skip the rest: {q} is what counts.",
        "{q} is either a promise or a decoration. I take it as a promise.",
        "I would have cut everything on {l} but {q}.",
    ],
    nothing_new: &["Nothing new on {l}. Moving on.", "Same text on {l}. I will not read it a third time."],
    greetings: &["{o}. About {t}: yes or no?", "{o}, we should stop circling {t}.", "{o}, straight to it: {t}."],
    agreeing: &["{q}. Correct.", "Yes. {q}, and no more words about it.", "You are right, {o}: {q}."],
    doubting: &["{q}? No. Not like that.", "I do not buy {q}.", "{q} sounds nice and settles nothing."],
    closing: &["Done. Say so if it is not good enough.", "That is the answer. The rest is upholstery."],
};

static CHEERFUL: Tone = Tone {
    style_words: " cheerful bright playful lively funny enthusiastic sunny ",
    remarks: &[
        "Oh, {q}! I like where this is going.",
        "{q} just made my day busier, and I do not mind at all.",
        "I walked over for a quick look and got {q}. Worth the walk!",
        "{q}: now that is something to make things with.",
    ],
    nothing_new: &["{l} is just as I left it. Back to my bench!", "No surprises on {l} today, so I will make my own."],
    greetings: &["{o}! Just the one I wanted to ask about {t}.", "{o}, quick, before I forget: {t}!"],
    agreeing: &["{q}, yes! Let us do it.", "I am all for {q}.", "{q}: you took the words out of my mouth."],
    doubting: &["Hm, {q}? My hands say it is harder than that.", "{q} is fun, but will it hold?"],
    closing: &["There, it stands on its own feet!", "That was a good one. Next!"],
};

static CALM: Tone = Tone {
    style_words: " calm thoughtful quiet slow reflective patiently unhurried old-fashioned ",
    remarks: &[
        "I read {q} twice, slowly.",
        "{q} will outlast most of what stands here.",
        "We had something like {q} before, and it is worth remembering how it went.",
        "I leave {l} with one sentence in mind: {q}.",
    ],
    nothing_new: &["{l} rests, and so may I.", "Nothing was added to {l}; what stands there still stands."],
    greetings: &[
        "{o}, sit with me for a while; I would like to talk about {t}.",
        "{o}, I have been thinking about {t}.",
    ],
    agreeing: &[
        "{q} sounds right, and it sounded right before.",
        "I have nothing to set against {q}.",
        "{q}. Let us keep that.",
    ],
    doubting: &["We should sleep over {q}.", "I remember the last time somebody said {q}."],
    closing: &["I will put it where it can be found again.", "It can rest now."],
};

static BRISK: Tone = Tone {
    style_words: " brisk organised organized efficient practical punctual energetic businesslike ",
    remarks: &[
        "Right: {q}. That goes on the list.",
        "{q}. Noted, and it needs a name and a date.",
        "From {l} I take {q}, and everything else follows from that.",
        "{q} changes the order of the day.",
    ],
    nothing_new: &["No change on {l}, so the plan holds.", "{l} is unchanged. On with the list."],
    greetings: &["{o}, two minutes on {t}?", "{o}, where do we stand with {t}?", "{o}, I need your half of {t}."],
    agreeing: &["{q}: good, that is settled.", "Fine, {q}. Who does it by when?", "{q} works for me."],
    doubting: &["{q} has no date on it yet.", "Who has the time for {q}?", "{q} costs us a day, and we have none."],
    closing: &["Ticked off.", "Next on the list, please."],
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn style_words_choose_the_tone() {
        assert!(std::ptr::eq(tone_of("You speak in a dry, wry way."), &DRY));
        assert!(std::ptr::eq(tone_of("Warm and patient."), &WARM));
        assert!(std::ptr::eq(tone_of(""), &PRECISE), "without style words an agent is matter-of-fact");
    }

    #[test]
    fn dice_throw_the_same_for_the_same_seed() {
        let throws = |seed| (0..8).scan(Dice::new(seed), |dice, _| Some(dice.throw())).collect::<Vec<_>>();
        assert_eq!(throws(7), throws(7));
        assert_ne!(throws(7), throws(8));
        assert_eq!(Dice::new(1).line(&[]), "");
    }
}
