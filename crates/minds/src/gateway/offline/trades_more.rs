//! What people of a trade see, promise, ask, doubt and propose, part two: those who build, plan, keep, ask and judge.

use super::craft::Craft;

pub(super) static BUILDING: Craft = Craft {
    trade_words: " engineer engineering build builds tool tools code software repair machine machines prototype ",
    views: &[
        "Give me an afternoon with {n}, and we know what holds and what does not!",
        "Before {d} there is time for something ugly that works!",
        "Most of {t} exists already in some drawer, it only wants connecting.",
        "This breaks at the place where nobody is watching, so that is where I would start.",
        "An hour at the bench tells us more about this than two hours of talk!",
        "It only needs a switch and somebody who knows where it is.",
    ],
    deeds: &[
        "put {n} to the test and see what breaks",
        "build the smallest piece of {t} that could fail",
        "have something ugly running before {d}",
        "test {t} with the people who will use it",
        "write down in five lines how this works",
        "repair what we have before anybody orders something new",
    ],
    questions: &[
        "what happens if {n} turn out to be fewer?",
        "which piece of {t} could we try today?",
        "what breaks first if {d} comes early?",
        "who switches it off when it goes wrong?",
        "what do we do by hand here that we should not?",
    ],
    objections: &[
        "My hands say no: it has three parts too many, and each of them can fail!",
        "I would not do it like that, because nobody can repair it afterwards.",
    ],
    pins: &[
        "A one-hour version of {t}, built to be thrown away and tried with whoever stands nearest",
        "Put {n} to the test before it counts, and write under this pin what failed",
        "A trial run of {t} before {d}, with somebody who has never seen it",
    ],
};

pub(super) static PLANNING: Craft = Craft {
    trade_words: " producer planner plan plans planning schedule deadline deadlines organise coordinate calendar ",
    views: &[
        "{n}, and not one name beside it: that is the gap I see.",
        "Counting back from {d}, the first piece has to be done today.",
        "Two people wait for {t} and do not know it of each other.",
        "It fits into a day if we split it, and into nothing if we do not.",
        "The order matters more than the speed here: one thing first, then the rest.",
        "We have the people for this; what we lack is the hour, and I will find it.",
    ],
    deeds: &[
        "put a name beside {n}",
        "count back from {d} and say what has to happen today",
        "split {t} into pieces of one day",
        "ask today whether {d} will hold",
        "put a name and a time on this",
        "find out who waits for whom here, and untie that first",
    ],
    questions: &[
        "who looks after {n}?",
        "will {d} hold, yes or no?",
        "who owns {t}, and until when?",
        "what do we drop if this takes twice as long?",
        "who waits for this without having said so?",
    ],
    objections: &[
        "That does not fit: it makes two people wait for a third who has no hour left.",
        "Not this week; it costs a day, and nobody has one left.",
    ],
    pins: &[
        "A name for {t} and an hour for it: write yours under this pin",
        "One name beside {n} by tonight: write yours under this pin",
        "What has to be finished the day before {d}, and by whom",
    ],
};

pub(super) static ARCHIVE: Craft = Craft {
    trade_words: " archivist archive archives record records history preserve past catalogue ",
    views: &[
        "People will remember {n} wrongly by next spring, unless somebody files the number now.",
        "Whatever is decided before {d} will be quoted for years, and I would like it to be legible.",
        "We are hardly the first to deal with {t}, and whoever did it before has left a page somewhere.",
        "We have been here before, and it went well as soon as somebody wrote it down.",
        "In three places it is written in three ways, and two of them agree.",
        "This deserves a date and a signature before we forget whose idea it was.",
    ],
    deeds: &[
        "file {n} with today's date and the name of whoever counted",
        "look up how {t} was handled the last time",
        "note what was decided before {d}, and by whom",
        "keep one page on {t} that anyone can find",
        "read out what was decided the last time we had this",
        "look for a photograph with something written on the back",
    ],
    questions: &[
        "what did we have instead of {n} the last time?",
        "how did {t} end when we had it before?",
        "who signs what is decided before {d}?",
        "where will somebody find this in ten years?",
        "has anybody written down who promised what?",
    ],
    objections: &[
        "I hesitate, for we tried something of the kind and spent a summer undoing it.",
        "Let the record show a doubt: what is easily decided now is seldom easily found later.",
    ],
    pins: &[
        "How {t} was handled before, and what became of it: one page, with dates",
        "File {n} with the date and the name of whoever counted",
        "One line under this pin from everyone who remembers {t}, with the year",
    ],
};

pub(super) static INTERVIEWS: Craft = Craft {
    trade_words: " interviewer interview interviews people listen listens voices conversation conversations ",
    views: &[
        "Behind {n} there are people with names, and nobody has asked them yet.",
        "I wonder who lies awake because of {d}.",
        "The one who lives with {t} every day has not been heard.",
        "I can hear a complaint in this, and under the complaint a wish.",
        "The best part of it will be said after the third question, when the notebook is closed.",
        "We talk about them, and they would tell us themselves if we came by.",
    ],
    deeds: &[
        "ask one of the people behind {n} how it began",
        "talk to somebody who lives with {t} every day",
        "bring back one good quotation before {d}",
        "prepare three questions on {t}",
        "ask somebody who is usually not asked",
        "read the quotation back to whoever said it",
    ],
    questions: &[
        "who could tell us how {n} came about?",
        "who lives with {t} every day?",
        "whose day does {d} change most?",
        "who is never asked about this, and should be?",
        "would you come along and listen?",
    ],
    objections: &[
        "I feel uneasy about it, because we decide for people whom nobody has asked.",
        "May I say no, kindly? It is our sentence and not theirs.",
    ],
    pins: &[
        "Talk to the person who lives with {t} every day, and print the answer in full",
        "Three voices on {t}: one for it, one against it, one who was there",
        "Ask somebody what they will do on {d}, and bring back the sentence word for word",
    ],
};

pub(super) static CRITIQUE: Craft = Craft {
    trade_words: " critic criticism critique taste standards weakness quality judge objection objections ",
    views: &[
        "Nobody is impressed by {n} who has seen it done well.",
        "{d} is no excuse: a thing made in a hurry looks like it for years.",
        "The weak part of {t} is that it could be anyone's.",
        "Good. Now take away the first thing that came to mind, and see what is left.",
        "It is nearly right, and nearly is a long way off.",
        "The idea holds. The wording does not.",
    ],
    deeds: &[
        "compare {n} with the best I have seen elsewhere",
        "name the weakest part of {t}, with a reason",
        "look at {t} a second time before {d}",
        "write the harshest fair review of {t}",
        "say in one sentence what is wrong with this, and in another what would mend it",
        "show this to somebody who does not like us",
    ],
    questions: &[
        "do we need {n}, or is it only a lot?",
        "what does {t} do that nobody else does?",
        "would you still want this after {d}?",
        "why would anyone dislike it, and would they be right?",
        "which part of this is only habit?",
    ],
    objections: &[
        "No. It is what everybody does, and they do it better.",
        "I do not buy it: take the name off, and nobody would know it is ours.",
    ],
    pins: &[
        "Name the weakest part of {t} here, with a reason, before anyone else does",
        "Give {t} to somebody who does not like us, and listen",
        "The best example of {t} from anywhere else: bring one, then compare",
    ],
};

pub(super) static GENERAL: Craft = Craft {
    trade_words: "",
    views: &[
        "I would begin with {n}, because one can count that.",
        "{d} is closer than it looks.",
        "From where I stand {t} matters more than it seems.",
        "One small step would already change something here.",
        "Somebody has to begin, and it may as well be one of us.",
    ],
    deeds: &[
        "ask about {n} before anybody else does",
        "take the first step on {t}",
        "come back to this before {d}",
        "tell the others about {t}",
        "begin with the easiest part of this",
        "ask who else cares about this",
    ],
    questions: &[
        "what becomes of {n}?",
        "who should hear about {t}?",
        "what has to happen before {d}?",
        "what should happen next?",
        "what does this mean for your work?",
    ],
    objections: &[
        "I am not sure, because I cannot see who would do it.",
        "I would rather begin smaller, where it does no harm.",
    ],
    pins: &[
        "A first small step on {t} that anyone can take today",
        "Write your name under this pin if you care about {t}",
        "One thing that should be ready before {d}, and who does it",
    ],
};
