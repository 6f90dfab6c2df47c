//! How the offline brain works on a task with tools: one step at a time, each decided by the history alone, so that the
//! same history leads to the same step and every task ends.
//!
//! A leading agent starts two specialists, waits for their signals, reads what they wrote, summarises it and concludes.
//! All others read what the task names, write a piece, tell their parent and conclude. A refused call is not repeated,
//! but mentioned.

use serde_json::{Value, json};

use super::artifacts::{Thing, asked, gist, inner, is_work, piece, summary, team};
use super::collaboration::{Wanted, in_form};
use super::data::{at_work, phrases};
use super::draft::fill;
use super::history::{Deed, History, known_as, paths_in};
use super::outputs::{self, Asked, GIVE_OUTPUT};
use super::prompt_reader::Reading;
use super::speaker::{QUOTED_WORDS, Speaker};
use super::text::{clause, quoted};
use crate::base::hash::content_hash;
use crate::base::text::truncate;
use crate::gateway::provider::ProviderRequest;
use crate::mind::{CallKind, ToolCall};

/// What the names of files with tasks end in.
const TASK_FILE: &str = ".task.md";
/// Own turns after which it concludes, whatever the tools say.
const MOST_TURNS: usize = 8;
/// So many of the messages that are there already are wanted of a channel.
const EARLIER_WANTED: usize = 20;
/// Files that are read for one task.
const MOST_READ: usize = 6;
/// Words of a task that name it.
const TITLE_WORDS: usize = 14;
/// Words of a point in a message to a parent.
const SIGNALLED_WORDS: usize = 24;
/// Words of a point in what is said to others.
const POINT_WORDS: usize = QUOTED_WORDS * 2;
/// Characters of a call beside the text that it writes.
const AROUND_CALL: usize = 200;
/// A text that is written has at least so many characters, however few tokens are allowed.
const LEAST_CHARS: usize = 200;
/// So much of a profile says who somebody is; what comes later says how and with what.
const WHO_CHARS: usize = 300;

/// A step of the work: text, and the tool calls that go with it. A step without calls is the last.
pub struct Step {
    /// What is said.
    pub text: String,
    /// What is called.
    pub calls: Vec<ToolCall>,
}

/// The next step of a task; `None` where nothing can be done with the tools at hand, so that words must do.
pub fn next_step(request: &ProviderRequest) -> Option<Step> {
    if request.kind != CallKind::Task {
        return None;
    }
    let history = History::of(&request.prompt.history);
    let reading = Reading { said: Vec::new(), asked: Vec::new(), ..Reading::of(request) };
    // The task and not the turn decides, so that what was begun is gone on with in the same words.
    let seed = content_hash(request.agent.as_bytes()) ^ content_hash(history.task.as_bytes());
    let mut worker = Worker { request, history: &history, speaker: Speaker::new(&reading, seed) };
    let wanted = outputs::asked(history.task);
    if !wanted.is_empty() {
        return Some(worker.give(wanted));
    }
    let is_underway = !history.deeds.is_empty() || !history.signals.is_empty();
    let has_tools = worker.offers("vfs_write") || worker.offers("spawn_agent");
    if !has_tools || !is_underway && !is_work(history.task) {
        return None;
    }
    if let Some(step) = worker.with_others() {
        return Some(step);
    }
    let step = if worker.leads() { worker.lead() } else { worker.work_alone() };
    // Last words have the form that the task asks for.
    let formed = in_form(history.task, &step.text).filter(|_| step.calls.is_empty());
    Some(Step { text: formed.unwrap_or(step.text), ..step })
}

struct Worker<'a> {
    request: &'a ProviderRequest,
    history: &'a History<'a>,
    speaker: Speaker<'a>,
}

impl<'a> Worker<'a> {
    /// The name under which a tool is offered.
    fn offered(&self, tool: &str) -> Option<&'a str> {
        let mut offered = self.request.tools.iter().map(|offered| offered.name.as_str());
        offered.find(|name| known_as(name) == tool)
    }

    fn offers(&self, tool: &str) -> bool {
        self.offered(tool).is_some()
    }

    /// Whether a tool is offered that was not called for this task.
    fn is_new(&self, tool: &str) -> bool {
        self.offers(tool) && self.history.calls(tool).next().is_none()
    }

    fn has_turns(&self) -> bool {
        self.history.turns < MOST_TURNS
    }

    /// What a task is called in a sentence.
    fn title(&self) -> String {
        quoted(inner(self.history.task), TITLE_WORDS)
    }

    /// Whether others are to do the work: one who leads, and whom nobody has refused that.
    fn leads(&self) -> bool {
        let profile: String =
            self.speaker.reading.profile.chars().take(WHO_CHARS).flat_map(char::to_lowercase).collect();
        let names = [self.request.agent.to_lowercase(), self.request.profile.to_lowercase(), profile];
        let is_lead = phrases().leading.iter().any(|word| names.iter().any(|name| name.contains(word)));
        let mut spawns = self.history.calls("spawn_agent").peekable();
        let was_refused = spawns.peek().is_some() && spawns.all(|deed| !deed.worked());
        is_lead && !was_refused && (self.offers("spawn_agent") || !self.history.signals.is_empty())
    }

    /// What the task asks for that concerns others, and that comes before the work: to listen, and to hand something over.
    fn with_others(&self) -> Option<Step> {
        let wanted = Wanted::of(self.history.task);
        let listening = wanted.listen.and_then(|channel| {
            let call = ("subscribe", json!({ "channel": channel, "earlier": EARLIER_WANTED }));
            let texts = [&at_work().subscribes, &at_work().listens].map(|text| fill(text, &[("c", &channel)]));
            self.call_and_wait(call, texts, self.history.news.is_empty())
        });
        listening.or_else(|| {
            let (agent, task) = wanted.hand_over?;
            let call = ("delegate", json!({ "agent": agent, "task": task }));
            let texts = [&at_work().hands_over, &at_work().handed_over].map(|text| fill(text, &[("a", &agent)]));
            self.call_and_wait(call, texts, self.history.signals.is_empty())
        })
    }

    /// Calls a tool once, and then waits for what comes of it, unless somebody asks how it goes.
    fn call_and_wait(&self, call: (&str, Value), [begins, waits]: [String; 2], nothing_came: bool) -> Option<Step> {
        if self.is_new(call.0) {
            return Some(self.step(begins, vec![call]));
        }
        let was_done = self.history.calls(call.0).any(Deed::worked);
        (was_done && nothing_came && !self.history.is_nudged).then(|| self.step(waits, Vec::new()))
    }

    /// What the task asks for once the work is done: to say it in a channel, and to write it on the blackboard.
    fn tell_others(&self) -> Option<Step> {
        let wanted = Wanted::of(self.history.task);
        let point = self.own_point(POINT_WORDS).unwrap_or_else(|| self.title());
        if let Some(channel) = wanted.publish.filter(|_| self.is_new("publish")) {
            let place = fill(&at_work().place, &[("p", self.written().unwrap_or_default())]);
            let message = format!("{point}. {place}");
            let call = ("publish", json!({ "channel": channel, "message": message.trim_end() }));
            return Some(self.step(fill(&at_work().publishes, &[("c", &channel)]), vec![call]));
        }
        let entry = wanted.entry.filter(|_| self.is_new("blackboard_write"))?;
        let call = ("blackboard_write", json!({ "key": entry, "value": point }));
        Some(self.step(fill(&at_work().notes, &[("e", &entry)]), vec![call]))
    }

    /// Gives what is asked for by name, and concludes.
    fn give(&mut self, wanted: Vec<Asked<'_>>) -> Step {
        let history = self.history;
        if !self.offers(GIVE_OUTPUT) {
            let text = outputs::block(&mut self.speaker, history.task, &wanted);
            return self.step(text, Vec::new());
        }
        let has_turns = self.has_turns();
        let mut calls = Vec::new();
        for asked in outputs::left(history, wanted).iter().filter(|_| has_turns) {
            let value = outputs::value(&mut self.speaker, history.task, asked);
            match asked.file {
                None => calls.push((GIVE_OUTPUT, json!({ "name": asked.name, "value": value }))),
                Some(file) if self.offers("vfs_write") => {
                    calls.push(("vfs_write", json!({ "path": file, "content": value })));
                }
                Some(_) => {}
            }
        }
        if !calls.is_empty() {
            return self.step(at_work().gives.clone(), calls);
        }
        self.conclude(outputs::is_done(history.task))
    }

    fn lead(&mut self) -> Step {
        let children = self.spawned().count();
        if children == 0 && self.history.signals.is_empty() {
            return self.call_in();
        }
        let is_asked = self.history.is_nudged && !self.history.signals.is_empty();
        if self.history.heard_from() < children && !is_asked && self.written().is_none() {
            return self.wait(children);
        }
        let wanted = self.pieces();
        if let Some(step) = self.read(&wanted) {
            return step;
        }
        let read = self.was_read(&wanted);
        if self.may_write() {
            let path = format!("artifacts/{}-summary.md", self.slug());
            let text = summary(&mut self.speaker, self.history.task, &read);
            return self.write(&path, text, &at_work().sums_up);
        }
        self.conclude_lead(&read)
    }

    /// Two specialists, each with a file, a task and a place for what it writes.
    fn call_in(&mut self) -> Step {
        let task = self.history.task;
        let topic = Thing::of(&self.speaker, task);
        let team = team(task);
        let calls = team.iter().map(|specialist| {
            let stem = format!("{}-{}", topic.slug(), specialist.role);
            let target = format!("artifacts/{stem}.md");
            let arguments = json!({
                "filename": format!("{stem}.md"),
                "content": specialist.file(&topic, &target),
                "task": specialist.task(task, &target),
            });
            ("spawn_agent", arguments)
        });
        let calls = calls.collect();
        let roles: Vec<String> = team.iter().map(|specialist| format!("a {}", specialist.role)).collect();
        let calls_in = fill(&at_work().calls_in, &[("r", &roles.join(" and "))]);
        self.step(format!("{} {calls_in}", asked(task)), calls)
    }

    fn wait(&mut self, children: usize) -> Step {
        let spawned: Vec<String> = self.spawned().map(|deed| role_in(deed.argument("filename"))).collect();
        let mut text = match self.history.heard_from() {
            0 => fill(&at_work().called_in, &[("r", &spawned.join(" and "))]),
            heard => fill(&at_work().waits, &[("n", &heard.to_string()), ("m", &children.to_string())]),
        };
        if let Some(refused) = self.refused("spawn_agent") {
            text = format!("{text} {}", fill(&at_work().missing, &[("w", refused.first_sentence())]));
        }
        self.step(text, Vec::new())
    }

    fn conclude_lead(&mut self, read: &[(String, String)]) -> Step {
        let mut text = fill(&at_work().done, &[("t", &quoted(self.history.task, QUOTED_WORDS))]);
        for point in read.iter().filter_map(|(_, piece)| self.point(piece, POINT_WORDS)) {
            text.push_str(&format!("\n- {point}."));
        }
        match self.written() {
            Some(path) => text.push_str(&format!("\n{}", fill(&at_work().summed_up, &[("p", path)]))),
            None => text.push_str(&format!(" {}", self.regret())),
        }
        self.conclude(text)
    }

    fn work_alone(&mut self) -> Step {
        let task = self.history.task;
        let (targets, sources): (Vec<_>, Vec<_>) =
            paths_in(task).into_iter().partition(|(before, _)| ["to", "into", "in", "as"].contains(&before.as_str()));
        let sources: Vec<String> = sources.into_iter().map(|(_, path)| path).take(MOST_READ).collect();
        if let Some(step) = self.read(&sources) {
            return step;
        }
        if self.may_write() {
            let heard = self.history.news.iter().map(|news| ("the channel", *news));
            let heard = heard.chain(self.history.signals.iter().copied());
            let mut read = self.was_read(&sources);
            read.extend(heard.map(|(from, words)| (from.to_owned(), words.to_owned())));
            // Tasks are changed one by one, and never by writing over their file.
            let target = targets.into_iter().map(|(_, path)| path).find(|path| !path.ends_with(TASK_FILE));
            let path = target.unwrap_or_else(|| format!("artifacts/{}.md", self.slug()));
            let text = piece(&mut self.speaker, task, &read);
            return self.write(&path, text, &at_work().writes);
        }
        if let Some(step) = self.tell_others().filter(|_| self.has_turns()) {
            return step;
        }
        let is_lead = self.history.calls("spawn_agent").next().is_some();
        let may_signal = self.is_new("signal_parent") && !is_lead && self.has_turns();
        if let Some(path) = self.written().filter(|_| may_signal) {
            let point = self.own_point(SIGNALLED_WORDS).unwrap_or_default();
            let told = fill(&at_work().told, &[("t", &self.title()), ("p", path)]);
            let message = format!("{told} {}", fill(&at_work().first_point, &[("q", &point)]));
            let call = ("signal_parent", json!({ "message": message.trim_end() }));
            return self.step(at_work().tells.clone(), vec![call]);
        }
        self.conclude_alone()
    }

    fn conclude_alone(&mut self) -> Step {
        let (said, title) = (at_work(), self.title());
        let point = self.own_point(POINT_WORDS).unwrap_or_default();
        let why_alone = self.refused("spawn_agent").map_or("", Deed::first_sentence);
        let (written, regret) = match self.written() {
            Some(path) => (fill(&said.written, &[("t", &title), ("p", path)]), String::new()),
            None => (fill(&said.unwritten, &[("t", &title)]), self.regret()),
        };
        let (point, alone) = (fill(&said.in_short, &[("q", &point)]), fill(&said.alone, &[("w", why_alone)]));
        let all = [written, point, alone, regret].into_iter().filter(|sentence| !sentence.is_empty());
        self.conclude(all.collect::<Vec<_>>().join(" "))
    }

    /// Last words, with what somebody of this tone says at the end.
    fn conclude(&mut self, text: String) -> Step {
        let closing = self.speaker.line(&self.speaker.tone.closing, &[]);
        self.step(format!("{text} {closing}"), Vec::new())
    }

    /// Reads what was not read yet, or what a tool offered in place of what is not there.
    fn read(&self, wanted: &[String]) -> Option<Step> {
        if !self.offers("vfs_read") || !self.has_turns() {
            return None;
        }
        let was_tried = |path: &str| self.history.calls("vfs_read").any(|deed| deed.argument("path") == path);
        let mut paths: Vec<String> = Vec::new();
        for path in wanted {
            let next = match self.history.read_as(path) {
                None => Some(path.clone()),
                Some(deed) if deed.worked() => None,
                Some(deed) => deed.similar().filter(|similar| !was_tried(similar)),
            };
            paths.extend(next.filter(|next| !paths.contains(next)));
        }
        if paths.is_empty() {
            return None;
        }
        let text = fill(&at_work().reads, &[("p", &paths.join(" and "))]);
        Some(self.step(text, paths.into_iter().map(|path| ("vfs_read", json!({ "path": path }))).collect()))
    }

    /// What was read of this, under the path that it was found at.
    fn was_read(&self, wanted: &[String]) -> Vec<(String, String)> {
        let found = wanted.iter().filter_map(|path| self.history.read_as(path)).filter(|deed| deed.worked());
        let mut read: Vec<(String, String)> = Vec::new();
        for deed in found {
            if read.iter().all(|(path, _)| path != deed.argument("path")) {
                read.push((deed.argument("path").to_owned(), deed.result().to_owned()));
            }
        }
        read
    }

    /// The pieces that children signalled, or were asked for.
    fn pieces(&self) -> Vec<String> {
        let signalled = self.history.signals.iter().flat_map(|(_, text)| paths_in(text));
        let asked_for = self.spawned().flat_map(|deed| paths_in(deed.argument("task")));
        let mut paths: Vec<String> = Vec::new();
        for (_, path) in signalled.chain(asked_for) {
            if path.starts_with("artifacts/") && !paths.contains(&path) && paths.len() < MOST_READ {
                paths.push(path);
            }
        }
        paths
    }

    fn spawned(&self) -> impl Iterator<Item = &Deed<'a>> {
        self.history.calls("spawn_agent").filter(|deed| deed.worked())
    }

    /// The first call of a tool that was not done.
    fn refused(&self, tool: &str) -> Option<&Deed<'a>> {
        self.history.calls(tool).find(|deed| !deed.worked())
    }

    /// Whether it is time to write: nothing was written and nothing was refused.
    fn may_write(&self) -> bool {
        self.is_new("vfs_write") && self.has_turns()
    }

    /// Where the own text was written to.
    fn written(&self) -> Option<&'a str> {
        let written = self.history.calls("vfs_write").rfind(|deed| deed.worked())?;
        Some(written.argument("path"))
    }

    /// The first point of a text, in so many words.
    fn point(&self, text: &str, words: usize) -> Option<String> {
        gist(&self.speaker, text).first().map(|point| clause(point, words))
    }

    /// The first point of what was written last.
    fn own_point(&self, words: usize) -> Option<String> {
        self.point(self.history.calls("vfs_write").next_back()?.argument("content"), words)
    }

    /// Why nothing was written.
    fn regret(&self) -> String {
        match self.history.calls("vfs_write").rfind(|deed| !deed.worked()) {
            Some(deed) => fill(&at_work().refused, &[("p", deed.argument("path")), ("w", deed.first_sentence())]),
            None => at_work().toolless.clone(),
        }
    }

    fn write(&self, path: &str, text: String, said: &str) -> Step {
        let room = (self.request.max_output_tokens as usize).saturating_mul(4);
        let text = shortened(&text, room.saturating_sub(AROUND_CALL).max(LEAST_CHARS));
        self.step(fill(said, &[("p", path)]), vec![("vfs_write", json!({ "path": path, "content": text }))])
    }

    fn slug(&self) -> String {
        Thing::of(&self.speaker, inner(self.history.task)).slug()
    }

    /// A step, its calls numbered on from those that were made.
    fn step(&self, text: String, calls: Vec<(&str, Value)>) -> Step {
        let before = self.history.deeds.len();
        let named = calls.into_iter().enumerate().map(|(index, (tool, arguments))| {
            ToolCall::new(format!("call-{}", before + index + 1), self.offered(tool).unwrap_or(tool), arguments)
        });
        Step { text, calls: named.collect() }
    }
}

/// “the researcher” of `launch-party-researcher.md`.
fn role_in(filename: &str) -> String {
    let stem = filename.rsplit('/').next().unwrap_or(filename).trim_end_matches(".md");
    format!("the {}", stem.rsplit('-').next().unwrap_or(stem))
}

/// Whole lines of a text, at most so many characters.
fn shortened(text: &str, most: usize) -> String {
    let mut chars = 0;
    let fits = |line: &&str| {
        chars += line.chars().count();
        chars <= most
    };
    let kept: String = text.split_inclusive('\n').take_while(fits).collect();
    if kept.is_empty() { truncate(text, most) } else { kept }
}

#[cfg(test)]
#[path = "work_tests.rs"]
mod tests;
