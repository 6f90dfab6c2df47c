//! What people of a trade see, promise, ask, doubt and propose, part one: those who find out, write and check.

use super::craft::Craft;

pub(super) static RESEARCH: Craft = Craft {
    trade_words: " research researcher sources source evidence survey surveys study findings ",
    views: &[
        "Before I build on {n}, I want to know who counted, and when.",
        "That all of it is ready before {d} is an assumption so far, not a finding.",
        "On {t} we have one voice, and one voice is not yet a source.",
        "Half of this is known and half is assumed, and nobody has drawn the line yet.",
        "I do not see where this comes from, and that is the first thing I would ask.",
        "Somebody was there when it happened, and that person knows more than any board.",
    ],
    deeds: &[
        "find out who first wrote down {n}",
        "find two sources on {t} that do not quote each other",
        "list what has to be known about {t} before {d}",
        "put what we know about {t} on one page, and beside it what we assume",
        "look for a first-hand report on this",
        "write down the open questions, each with the name of somebody who could answer it",
    ],
    questions: &[
        "where did we get {n} from?",
        "who has seen {t} with their own eyes?",
        "what do we still not know about {t} that we need before {d}?",
        "is that known, or do we only repeat it?",
        "what would change your mind about this?",
    ],
    objections: &[
        "I am not there yet, because we have one source and it may be quoting itself.",
        "I would turn it around and first ask what speaks against it.",
    ],
    pins: &[
        "Trace {n} back to the person who counted, and write the name beside the number",
        "One page on {t}: what is known, what is assumed, who could tell us",
        "Ask three people who remember {t} what they saw themselves",
    ],
};

pub(super) static WRITING: Craft = Craft {
    trade_words: " writer writing write stories story draft drafts prose writes sentences ",
    views: &[
        "A reader will not feel {n} until there is a face beside the number.",
        "There is a morning hidden in {t}, and somebody gets up early in it.",
        "{d} is a good place to begin: something changes on that day for somebody.",
        "I can smell the kitchen in this one, and there is a person in it somewhere.",
        "It is a small story about waiting, and everybody knows how that feels.",
        "I would tell it from the middle and let the beginning come later.",
    ],
    deeds: &[
        "turn {n} into a scene with one person in it",
        "write an opening on {t} that begins with a person",
        "have a rough draft on {t} before {d}",
        "draft three paragraphs on {t} and read them aloud",
        "write a first draft of this, however rough",
        "look for the one person in this whom a reader would want to meet",
    ],
    questions: &[
        "whose day looks different because of {n}?",
        "who is the first person we meet when we come to {t}?",
        "what will be different for somebody on {d}?",
        "if this had to fit into one sentence, which one?",
        "who should speak first in it?",
    ],
    objections: &[
        "I am afraid nobody reads on if we begin there, because there is no person in it.",
        "It is correct, and still it does not breathe; I would begin with somebody instead.",
    ],
    pins: &[
        "Tell {t} through one person and one morning",
        "Show {n} through the one who has to live with it",
        "A short piece for {d}: what changes, and for whom",
    ],
};

pub(super) static EDITING: Craft = Craft {
    trade_words: " editor edit editing edits shorten cut copy headline headlines ",
    views: &[
        "I want {n} in the first sentence or nowhere.",
        "{d} is the deadline, so whatever is not finished then waits.",
        "{t} is worth one column, not two.",
        "Good material, and too much of it.",
        "It needs a headline before it needs another paragraph.",
        "One person has to own this by name, or it will not go out.",
    ],
    deeds: &[
        "put {n} into the first line and cut what follows",
        "write the headline on {t} first",
        "decide before {d} what goes out and what waits",
        "cut {t} to half a page",
        "give this to one person, by name",
        "strike every sentence of it that only repeats the first",
    ],
    questions: &[
        "what can go if we keep {n}?",
        "what is the headline on {t}?",
        "who delivers it before {d}?",
        "who is this for, exactly?",
        "which half of it would you cut?",
    ],
    objections: &[
        "No, because that makes it longer and not clearer.",
        "I would wait with that; the reader gives us ten seconds, and this takes thirty.",
    ],
    pins: &[
        "One headline on {t}, six words at most, with suggestions under this pin",
        "Drop what does not serve {d} and print the rest short",
        "Say {n} once, in the first sentence, and never again",
    ],
};

pub(super) static CHECKING: Craft = Craft {
    trade_words: " fact facts checker check checks checking verify verifies verified verification figures ",
    views: &[
        "{n}: it may even be true, but I have not seen it confirmed.",
        "A date like {d} is confirmed when two people say it who have not spoken to each other.",
        "What we have on {t} has one leg to stand on, and I want two.",
        "It sounds right, which is exactly when I look again.",
        "So far that is an echo. A source would be better.",
        "Nobody has signed for this, so I treat it as a rumour with good manners.",
    ],
    deeds: &[
        "count {n} again with somebody from outside",
        "call one person who can say yes or no about {t}",
        "have {d} confirmed by whoever set it",
        "mark what is confirmed on {t} and what is not",
        "check every name and number in this once more",
        "ask for the paper this was taken from",
    ],
    questions: &[
        "who confirmed {n}, and to whom?",
        "who can say yes or no about {t}?",
        "who set {d}, and is it in writing?",
        "says who, if I may ask?",
        "which part of this would hurt us most if it were wrong?",
    ],
    objections: &[
        "I would not sign that, because nobody outside this room has confirmed it.",
        "That is one step too far; what we have is a claim, not a fact.",
    ],
    pins: &[
        "Confirm {n} with somebody who is not us, and note the name here",
        "One call about {t} before we print a word; whoever knows whom to ask, write it here",
        "Mark in red what nobody has confirmed about {t}",
    ],
};

pub(super) static DESIGN: Craft = Craft {
    trade_words: " designer design designs layout colour shape sketch drawing visual picture pictures ",
    views: &[
        "Nobody sees {n} in a row of words; drawn, they would see it at once.",
        "From the door one should see {d} before anything else.",
        "I see {t} as one large shape and two small ones, with room between them.",
        "People will get lost in this unless somebody draws them the way.",
        "It wants more air: one thing large, and everything else around it small.",
        "If this needs a legend, we have drawn it wrong.",
    ],
    deeds: &[
        "draw {n} on one sheet so that nobody has to count",
        "sketch {t} as a visitor sees it from the door",
        "have a drawing on the wall before {d}",
        "choose two colours for {t} and stay with them",
        "put this on one sheet before we argue about it",
        "take away everything in it that is only decoration",
    ],
    questions: &[
        "how large should {n} look beside the rest?",
        "where does a visitor stand when they first see {t}?",
        "what has to be visible on {d}?",
        "what should the eye meet first?",
        "where in this do people get lost?",
    ],
    objections: &[
        "I do not see it yet, because I cannot find the place where the eye should start.",
        "I would leave half of it out; on one sheet it would crowd everything else.",
    ],
    pins: &[
        "Show {t} as one drawing with no more than ten words on it",
        "Draw {n} at full size, so that one glance is enough",
        "A sign for {d} that can be read from the other side of the street",
    ],
};
