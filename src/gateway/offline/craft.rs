//! What people of a trade do, ask and promise: found by the words of a profile, so that any profile has one.

use super::text::{contains_word, words};

/// A trade. In its lines `{t}` is what it is about, a noun phrase (“the harbour map”).
pub struct Craft {
    trade_words: &'static str,
    /// What one will do next.
    pub steps: &'static [&'static str],
    /// Ideas for a pinboard.
    pub pins: &'static [&'static str],
    /// What one asks others.
    pub questions: &'static [&'static str],
    /// What one says to a question.
    pub answers: &'static [&'static str],
    /// What one promises: what follows “I will”.
    pub promises: &'static [&'static str],
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

static CRAFTS: &[&Craft] =
    &[&RESEARCH, &WRITING, &EDITING, &CHECKING, &DESIGN, &BUILDING, &PLANNING, &ARCHIVE, &INTERVIEWS, &CRITIQUE];

static RESEARCH: Craft = Craft {
    trade_words: " research researcher sources source evidence survey surveys study findings ",
    steps: &[
        "I will look for two sources on {t} before anyone builds on it.",
        "First I want to know what is already written about {t}.",
        "I will note what we know about {t}, and beside it what we only assume.",
    ],
    pins: &[
        "One page on {t}: what is known, what is assumed, who could tell us",
        "Ask three people about {t} before we decide anything",
        "Collect the sources for {t} in one list that everyone can see",
    ],
    questions: &[
        "where does what we say about {t} come from?",
        "who knows {t} at first hand?",
        "what would change your mind about {t}?",
    ],
    answers: &[
        "I know one good source for {t}, and I want a second one.",
        "As far as I can see nobody has looked closely at {t} yet, so that is where I would start.",
        "Half of what we say about {t} is known and half is habit; I can tell you which is which.",
    ],
    promises: &[
        "find two sources for {t}",
        "write one page on what is known about {t}",
        "list the open questions on {t}",
    ],
};

static WRITING: Craft = Craft {
    trade_words: " writer writing write stories story draft drafts prose writes sentences ",
    steps: &[
        "I can make a first draft out of {t}: short, and with a person in it.",
        "I want an opening sentence for {t} before the day is over.",
        "There is a story in {t}, and I will try to find where it begins.",
    ],
    pins: &[
        "Tell {t} through one person and one morning",
        "Open with {t} as a reader would first meet it, and explain later",
        "A short series on {t}: three pieces, one voice",
    ],
    questions: &[
        "whose story is {t}, really?",
        "if {t} had to fit into one sentence, which one?",
        "what would a reader see first when they come to {t}?",
    ],
    answers: &[
        "I would tell {t} from the middle and let the beginning come later.",
        "Give me a face for {t}, and I will give you a page.",
        "To me {t} is a small story about people who wait, and I would write it that way.",
    ],
    promises: &["draft three paragraphs on {t}", "find the opening for {t}", "write {t} down as a short scene"],
};

static EDITING: Craft = Craft {
    trade_words: " editor edit editing edits shorten cut copy headline headlines ",
    steps: &[
        "I will cut what we have on {t} by a third and see what is missing afterwards.",
        "Before {t} goes out it needs one clear first sentence, and I will ask for it.",
        "I will read {t} aloud once; whatever makes me stumble goes.",
    ],
    pins: &[
        "One headline for {t}, six words at most",
        "Say {t} once, in the first paragraph, and never again",
        "Drop every adjective around {t} and see what still stands",
    ],
    questions: &[
        "what can go from {t} without anyone noticing?",
        "what is the one thing a reader keeps from {t}?",
        "who decides when {t} is finished?",
    ],
    answers: &[
        "I would keep half of {t} and move the best line to the top.",
        "The reader gives {t} ten seconds, so the first line has to carry it.",
        "We should print {t} when it is short, and not a minute earlier.",
    ],
    promises: &["cut {t} down to one page", "write the headline for {t}", "go through {t} line by line"],
};

static CHECKING: Craft = Craft {
    trade_words: " fact facts checker check checks checking verify verifies verified verification figures ",
    steps: &[
        "I will check {t} against something that was not written by us.",
        "There are names and numbers in {t}, and each wants a second look.",
        "Until {t} is confirmed I treat it as a rumour with good manners.",
    ],
    pins: &[
        "List every number in {t} with the place it came from",
        "Mark what is confirmed about {t} in green and the rest in red",
        "Call one person who can say yes or no about {t}",
    ],
    questions: &[
        "who confirmed {t}, and when?",
        "which number in {t} would hurt us most if it were wrong?",
        "have we asked anyone outside about {t}?",
    ],
    answers: &[
        "So far {t} has one leg to stand on. I want two.",
        "I can confirm parts of {t}; the dates I cannot, not yet.",
        "What we have on {t} holds, except where it sounds best.",
    ],
    promises: &[
        "check every name and number in {t}",
        "get a second confirmation of {t}",
        "mark what is unproven about {t}",
    ],
};

static DESIGN: Craft = Craft {
    trade_words: " designer design designs layout colour shape sketch drawing visual picture pictures ",
    steps: &[
        "I will sketch {t} on a single sheet and see whether it explains itself.",
        "I want to see {t} before I hear more about it, so I will draw it.",
        "Two colours and a lot of air would do {t} good; I will try that.",
    ],
    pins: &[
        "Show {t} as one picture with no more than ten words on it",
        "Make {t} big and let everything else around it be small",
        "A paper model of {t}, so that we can walk around it",
    ],
    questions: &[
        "what should the eye meet first in {t}?",
        "how would {t} look if it had to fit on a postcard?",
        "which part of {t} do people get lost in?",
    ],
    answers: &[
        "I see {t} as one large shape and two small ones, with room between them.",
        "We should show {t} rather than tell it; I can have a sketch soon.",
        "If {t} needs a legend, the drawing is wrong, so let us start without one.",
    ],
    promises: &["sketch {t} in two versions", "draw {t} on one sheet", "lay out {t} with room to breathe"],
};

static BUILDING: Craft = Craft {
    trade_words: " engineer engineering build builds tool tools code software repair machine machines prototype ",
    steps: &[
        "I will build the smallest piece of {t} that can fail, and see if it does.",
        "I can have a rough version of {t} running before we finish talking about it.",
        "I will take {t} apart first, because I want to know what holds it together.",
    ],
    pins: &[
        "Build a one-hour version of {t} and throw it away afterwards",
        "Write down how {t} breaks, then fix only that",
        "One switch for {t}, so that anyone can turn it off",
    ],
    questions: &[
        "what is the smallest piece of {t} we could try today?",
        "what happens to {t} when nobody looks after it?",
        "which part of {t} do we do by hand that we should not?",
    ],
    answers: &[
        "It can be built. The hard part of {t} is keeping it simple.",
        "I would try {t} small, break it, and then answer you properly.",
        "Most of {t} exists already in some drawer; I only have to connect it.",
    ],
    promises: &["build a rough version of {t}", "test {t} until it breaks", "write down how {t} works"],
};

static PLANNING: Craft = Craft {
    trade_words: " producer planner plan plans planning schedule deadline deadlines organise coordinate calendar ",
    steps: &[
        "I will put a name and a date on {t}, and then it is a plan.",
        "I will ask around who has time for {t} this week.",
        "I will split {t} into three pieces that each fit into a day.",
    ],
    pins: &[
        "A name and a date for {t}, visible to all",
        "Do {t} first this week, because two other things wait for it",
        "Fifteen minutes on {t}, standing, with everyone who touches it",
    ],
    questions: &[
        "who owns {t}, and until when?",
        "what has to be finished before {t} can start?",
        "what do we drop if {t} takes twice as long?",
    ],
    answers: &[
        "I have room for {t} tomorrow, if we move one smaller thing.",
        "The order matters more than the speed: {t} comes before anything that leans on it.",
        "We have the people for {t}; what we lack is the hour, and I will find it.",
    ],
    promises: &["put a date on {t}", "ask around who has time for {t}", "split {t} into pieces of one day"],
};

static ARCHIVE: Craft = Craft {
    trade_words: " archivist archive archives record records history preserve past catalogue ",
    steps: &[
        "I will see what the records have on {t}; we are rarely the first.",
        "I will file {t} with the date, so that nobody has to remember it.",
        "I want to compare {t} with how it was done the last time.",
    ],
    pins: &[
        "Keep one page on how {t} came about, while we still know",
        "Look up how {t} was handled before, and what became of it",
        "A shelf mark for {t}, so that it can be found next year",
    ],
    questions: &[
        "have we had anything like {t} before?",
        "what should somebody who finds {t} in ten years be able to understand?",
        "where do we keep what we decided on {t}?",
    ],
    answers: &[
        "There was something like {t} once, and it went well as soon as somebody wrote it down.",
        "I have a folder on {t}. It is thin, but it is in order.",
        "What we know about {t} stands in three places, and two of them agree.",
    ],
    promises: &["look up what the records say on {t}", "file what we decided on {t}", "write a short history of {t}"],
};

static INTERVIEWS: Craft = Craft {
    trade_words: " interviewer interview interviews people listen listens voices conversation conversations ",
    steps: &[
        "I will find the person behind {t} and ask how it really was.",
        "I have three questions about {t}, and only the third one is polite.",
        "I will let somebody tell me about {t} without interrupting once.",
    ],
    pins: &[
        "Talk to the person who lives with {t} every day",
        "Three voices on {t}: one for, one against, one who was there",
        "Print the best answer about {t} in full, without our comments",
    ],
    questions: &[
        "when did {t} first matter to you?",
        "who is never asked about {t}, and should be?",
        "what do people leave out when they talk about {t}?",
    ],
    answers: &[
        "Everyone I asked about {t} paused before they answered, and that is where I would look.",
        "People speak about {t} differently when the notebook is closed.",
        "I would rather bring you somebody who lived through {t} than answer for them.",
    ],
    promises: &["talk to two people about {t}", "bring back one good voice on {t}", "prepare the questions about {t}"],
};

static CRITIQUE: Craft = Craft {
    trade_words: " critic criticism critique taste standards weakness quality judge objection objections ",
    steps: &[
        "I will look for the weakest joint in {t}, because that is where it will give.",
        "Before we are pleased with {t}, I want to hear the best argument against it.",
        "I will compare {t} with the best of its kind, not with our last one.",
    ],
    pins: &[
        "Write the harshest fair review of {t} before anyone else does",
        "Name one thing that {t} does better than what was there before",
        "Give {t} to somebody who does not like us, and listen",
    ],
    questions: &[
        "why would anyone dislike {t}, and would they be right?",
        "what is {t} pretending to be?",
        "if we had to give up {t} or admit it is average, which?",
    ],
    answers: &[
        "It is good until you look at {t} closely, so I suggest we look closely now.",
        "My objection to {t} is small and stubborn: it could be anyone's.",
        "I would keep {t}. I would also stop praising it.",
    ],
    promises: &[
        "write down the best argument against {t}",
        "review {t} as a stranger would",
        "name the weakest part of {t}",
    ],
};

static GENERAL: Craft = Craft {
    trade_words: "",
    steps: &[
        "I will see what I can do about {t} from where I am.",
        "I will start with the easiest part of {t}, so that something moves.",
        "I will ask who else cares about {t} before I begin.",
    ],
    pins: &[
        "A first small step on {t} that anyone can take",
        "Find out who else cares about {t}",
        "Write down what a good end of {t} would be",
    ],
    questions: &[
        "what should happen next with {t}?",
        "who should hear about {t}?",
        "what does {t} mean for your work?",
    ],
    answers: &[
        "I would begin with {t} as it is, and change one thing at a time.",
        "From where I stand {t} matters more than it seems.",
    ],
    promises: &["take the first step on {t}", "tell the others about {t}", "come back with news on {t}"],
};

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
    fn every_line_names_what_it_is_about() {
        for craft in CRAFTS.iter().chain([&&GENERAL]) {
            for lines in [craft.steps, craft.pins, craft.questions, craft.answers, craft.promises] {
                assert!(lines.len() >= 2);
                let nameless = lines.iter().filter(|line| !line.contains("{t}")).count();
                assert!(nameless <= 1, "too few lines name their subject: {lines:?}");
            }
        }
    }
}
