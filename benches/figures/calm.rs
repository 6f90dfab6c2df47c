//! What a room costs while people work in it, and while they leave it alone.

use std::collections::BTreeMap;
use std::fmt::Write;

use agent_workshop::app;
use agent_workshop::base::{Author, Id, Seq};
use agent_workshop::element::{ElementEdit, MailAct, PinAct, TextAct};
use agent_workshop::log::EventLog;
use agent_workshop::log::events::ModelCall;
use agent_workshop::mind::ModelRequest;
use agent_workshop::schedule::{InputQueue, SimClock, TICKS_PER_SEC};
use agent_workshop::simulation::Reacted;
use agent_workshop::workspace::{RoomStart, starter};
use bevy::app::App;
use bevy::ecs::message::{MessageCursor, Messages};

use super::measure::{Figure, digits};
use super::rooms;

/// The number of agents in the newsroom.
const AGENTS: f64 = 10.0;
/// The number of different scripted answers per agent, given in turn.
const ANSWERS: usize = 600;
/// The shortest time for which a provider keeps a prompt in its cache: Anthropic five minutes, OpenAI five to ten.
const CACHE_SECS: u64 = 300;

/// The activity of a room in one hour.
#[derive(Clone, Copy, Default)]
struct Hour {
    calls: usize,
    tokens: u64,
    /// Minutes in which nothing visible happened.
    quiet_minutes: usize,
}

impl Hour {
    fn add(self, other: Self) -> Self {
        Self {
            calls: self.calls + other.calls,
            tokens: self.tokens + other.tokens,
            quiet_minutes: self.quiet_minutes + other.quiet_minutes,
        }
    }
}

/// The newsroom while people work in it, and while it is left alone.
pub fn newsroom() -> Vec<Figure> {
    let mut figures = at_work();
    figures.extend(alone());
    figures
}

/// Measures one hour in which a person does something every ten minutes, and two hours without a person.
fn at_work() -> Vec<Figure> {
    let mut room = open(rooms::scripted("calm", &script()));
    let mut watch = Counters::default();
    let mut hours = Vec::new();
    let mut work = Hour::default();
    for act in 0..6 {
        person_acts(&mut room, act);
        work = work.add(watch.minutes(&mut room, 10));
    }
    hours.push(work);
    let cached_percent = watch.cache.percent(watch.cache.hit_bytes);
    let soon_percent = watch.cache.percent(watch.cache.short_hit_bytes);
    hours.push(watch.minutes(&mut room, 60));
    hours.push(watch.minutes(&mut room, 60));
    let each = |value: f64| digits(value / AGENTS);
    let told = |hour: &Hour| format!("{} calls, {} tokens", hour.calls, hour.tokens);
    vec![
        figure("model calls per agent and hour, at work", "30", work.calls as f64 / AGENTS, 30.0)
            .against("2.5 s per answer, all different, 1 in 5 pins something; a person acts every 10 minutes"),
        figure("tokens per agent and hour, at work", "30,000", work.tokens as f64 / AGENTS, 30_000.0)
            .against(format!("{} tokens per call", work.tokens / work.calls.max(1) as u64)),
        Figure {
            what: "share of these prompts that a provider can serve from its cache".to_owned(),
            limit: "at least 60 %".to_owned(),
            measured: format!("{cached_percent:.0} %"),
            against: format!("{soon_percent:.0} % if it is requests for only {CACHE_SECS} s"),
            holds: Some(cached_percent >= 60.0),
        },
        figure("calls in the third hour, without anything from outside", "0", hours[2].calls as f64, 0.0).against(
            format!("second hour: {}; calls per agent and hour: {}", told(&hours[1]), each(hours[1].calls as f64)),
        ),
    ]
}

/// Measures four hours with the offline brain and no outside input.
fn alone() -> Vec<Figure> {
    let mut room = open("offline".to_owned());
    let mut watch = Counters::default();
    let hours: Vec<Hour> = (0..4).map(|_| watch.minutes(&mut room, 60)).collect();
    let all = hours.iter().copied().fold(Hour::default(), Hour::add);
    let calls: Vec<String> = hours.iter().map(|hour| hour.calls.to_string()).collect();
    vec![
        figure("newsroom offline for four hours, calls per agent and hour", "5", all.calls as f64 / AGENTS / 4.0, 5.0)
            .against(format!("{} calls in each of the hours, {} tokens", calls.join(", "), all.tokens)),
        figure("minutes of these in which nothing is to be seen", "0", all.quiet_minutes as f64, 0.0),
    ]
}

fn figure(what: &str, limit: &str, measured: f64, at_most: f64) -> Figure {
    Figure {
        what: what.to_owned(),
        limit: limit.to_owned(),
        measured: digits(measured),
        against: String::new(),
        holds: Some(measured <= at_most),
    }
}

fn open(provider: String) -> App {
    let files: BTreeMap<String, String> =
        starter::files().into_iter().map(|(path, bytes)| (path, String::from_utf8_lossy(bytes).into_owned())).collect();
    let scene = "scenes/newsroom.yaml".to_owned();
    let start = RoomStart { scene, files, provider: Some(provider), ..RoomStart::default() };
    app::begin(start, "r-figures".into(), Seq(1)).expect("a fresh room begins")
}

/// A script of different answers for each agent: one in five pins something, and a few write, note, vote or say
/// goodbye.
fn script() -> String {
    let agents = ["researcher", "fact-checker", "writer", "editor", "designer", "engineer", "producer", "archivist"];
    let names = ["Ada", "Dov", "Bram", "Cleo", "Esme", "Gita"];
    let mut yaml = String::from("latency: 2.5\nagents:\n");
    for agent in agents.into_iter().chain(["interviewer", "critic"]) {
        let _ = writeln!(yaml, "  {agent}:");
        for number in 0..ANSWERS {
            let marker = match number % 20 {
                0 | 5 | 10 | 15 => format!(" [PIN: The {agent} found out about house {number} by the harbour]"),
                3 => format!(" [SEND to {}: Can you look at page {number} for the {agent}?]", names[number / 20 % 6]),
                7 | 17 => format!(" [REMEMBER: page {number} waits for the {agent}]"),
                12 => format!(" [VOTE_UP: s{}]", number / 20 % 3 + 1),
                _ => String::new(),
            };
            let _ = writeln!(
                yaml,
                "    - {{ text: \"As {agent} I see in point {number} that the ferry carries more than we print, and I \
                 will ask the {number} people who take it whether they know.{marker}\" }}"
            );
        }
    }
    yaml
}

/// Performs one of the actions of a person in a newsroom.
fn person_acts(room: &mut App, number: usize) {
    let (element, act) = match number % 3 {
        0 => {
            let text = format!("# Today\n\nThe lead is the bridge. Copy closes at {}.", number + 6);
            ("assignments", TextAct::SetText { text }.into())
        }
        1 => (
            "story-ideas",
            PinAct::AddPin { id: None, text: format!("Story {number}: the shops on the far side") }.into(),
        ),
        _ => {
            let (from, to): (Id, Id) = ("user".into(), "fact-checker-1".into());
            let text = format!("A reader doubts figure {number}. Can you confirm it?");
            (
                "dov-mail",
                MailAct::AddMail { id: None, from, to, subject: "Figure".into(), text, attachments: vec![] }.into(),
            )
        }
    };
    let edit = ElementEdit { element: element.into(), act, by: Author::user(), cause: None };
    room.world_mut().resource_mut::<InputQueue<ElementEdit>>().push(edit);
}

/// Counts requests and visible events.
#[derive(Default)]
struct Counters {
    reactions: MessageCursor<Reacted>,
    asked: MessageCursor<ModelRequest>,
    cache: PrefixCache,
}

/// Measures how much of each new prompt a provider can serve from its cache: prefixes of prompts that it has seen.
#[derive(Default)]
struct PrefixCache {
    /// The time of each request, oldest first.
    requests: Vec<(u64, Vec<u8>)>,
    read_bytes: usize,
    hit_bytes: usize,
    /// The hits of a cache that keeps prompts only for [`CACHE_SECS`].
    short_hit_bytes: usize,
}

impl PrefixCache {
    fn ask(&mut self, now: u64, request: &ModelRequest) {
        let (system, messages) = (request.prompt.system_text(), request.prompt.messages());
        let text: Vec<u8> = std::iter::once(system.as_str())
            .chain(messages.iter().map(|message| message.text.as_str()))
            .flat_map(|part| part.bytes().chain([0]))
            .collect();
        let shared =
            |(_, other): &(u64, Vec<u8>)| text.iter().zip(other).take_while(|(one, other)| one == other).count();
        let most = |requests: &[(u64, Vec<u8>)]| requests.iter().map(shared).max().unwrap_or(0);
        let soon = self.requests.partition_point(|(asked, _)| asked + CACHE_SECS * TICKS_PER_SEC < now);
        self.hit_bytes += most(&self.requests);
        self.short_hit_bytes += most(&self.requests[soon..]);
        self.read_bytes += text.len();
        self.requests.push((now, text));
    }

    fn percent(&self, bytes: usize) -> f64 {
        100.0 * bytes as f64 / self.read_bytes.max(1) as f64
    }
}

impl Counters {
    fn minutes(&mut self, room: &mut App, minutes: usize) -> Hour {
        let mut hour = Hour::default();
        for _ in 0..minutes {
            let mut seen = 0;
            for _ in 0..60 * TICKS_PER_SEC {
                rooms::run(room.world_mut(), 1);
                let now = room.world().resource::<SimClock>().tick();
                for request in self.asked.read(room.world().resource::<Messages<ModelRequest>>()) {
                    self.cache.ask(now, request);
                }
                seen += self.reactions.read(room.world().resource::<Messages<Reacted>>()).count();
            }
            for event in room.world_mut().resource_mut::<EventLog>().take() {
                let word = event.draft.kind.as_str();
                seen += usize::from(["state", "message"].contains(&word));
                if let Some(call) = event.read::<ModelCall>() {
                    hour.calls += 1;
                    hour.tokens += call.tokens_in.unwrap_or(0) + call.tokens_out.unwrap_or(0);
                }
            }
            hour.quiet_minutes += usize::from(seen == 0);
        }
        hour
    }
}
