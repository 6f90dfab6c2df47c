//! How the offline brain works on a task with tools: one step at a time, each decided by the history alone, so that the
//! same history leads to the same step and every task ends.
//!
//! A leading agent starts two specialists, waits for their signals, reads what they wrote, summarises it and concludes.
//! All others read what the task names, write a piece, tell their parent and conclude. A refused call is not repeated,
//! but mentioned.

use serde_json::{Value, json};

use super::artifacts::{Thing, asked, gist, inner, is_work, piece, summary, team};
use super::collaboration::{Wanted, in_form};
use super::current_request::Moment;
use super::history::{Deed, History, Pending, known_as, paths_in};
use super::outputs;
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
/// Characters of a call beside the text that it writes.
const AROUND_CALL: usize = 200;
/// A text that is written has at least so many characters, however few tokens are allowed.
const LEAST_CHARS: usize = 200;
/// Words at the start of a profile, or in its id, of one whose work is to have others work.
const LEADING: [&str; 3] = ["orchestrat", "coordinat", "delegat"];
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
    let offers = |tool: &str| request.tools.iter().any(|offered| known_as(&offered.name) == tool);
    if request.kind != CallKind::Task {
        return None;
    }
    let history = History::of(&request.prompt.history);
    let must_give = !outputs::asked(&history.task).is_empty();
    if !(must_give || offers("vfs_write") || offers("spawn_agent")) {
        return None;
    }
    let is_underway = !history.deeds.is_empty() || !history.signals.is_empty();
    if !is_underway && !must_give && !is_work(&history.task) {
        return None;
    }
    let reading = Reading {
        moment: Moment::Task(history.task.clone()),
        said: Vec::new(),
        asked: Vec::new(),
        ..Reading::of(request)
    };
    // The task and not the turn decides, so that what was begun is gone on with in the same words.
    let seed = content_hash(request.agent.as_bytes()) ^ content_hash(history.task.as_bytes());
    let mut worker = Worker { request, history: &history, speaker: Speaker::new(&reading, seed) };
    if must_give {
        return Some(worker.give());
    }
    let step = match worker.with_others() {
        Some(step) => step,
        None if worker.leads() => worker.lead(),
        None => worker.work_alone(),
    };
    Some(worker.in_form(step))
}

struct Worker<'a> {
    request: &'a ProviderRequest,
    history: &'a History,
    speaker: Speaker<'a>,
}

impl Worker<'_> {
    fn offers(&self, tool: &str) -> bool {
        self.request.tools.iter().any(|offered| known_as(&offered.name) == tool)
    }

    /// The name under which a tool is offered.
    fn offered_as<'a>(&'a self, tool: &'a str) -> &'a str {
        let mut offered = self.request.tools.iter().map(|offered| offered.name.as_str());
        offered.find(|name| known_as(name) == tool).unwrap_or(tool)
    }

    /// Whether others are to do the work: one who leads, and whom nobody has refused that.
    fn leads(&self) -> bool {
        let profile: String =
            self.speaker.reading.profile.chars().take(WHO_CHARS).flat_map(char::to_lowercase).collect();
        let names = [self.request.agent.to_lowercase(), self.request.profile.to_lowercase()];
        let is_lead = LEADING.iter().any(|word| profile.contains(word) || names.iter().any(|name| name.contains(word)));
        let mut spawns = self.history.calls("spawn_agent").peekable();
        let was_refused = spawns.peek().is_some() && spawns.all(|deed| !deed.worked());
        is_lead && !was_refused && (self.offers("spawn_agent") || !self.history.signals.is_empty())
    }

    /// What the task asks for that concerns others, and that comes before the work: to listen, and to hand something over.
    fn with_others(&self) -> Option<Step> {
        let wanted = Wanted::of(&self.history.task);
        let is_new = |tool: &str| self.offers(tool) && self.history.calls(tool).next().is_none();
        if let Some(channel) = &wanted.listen {
            if is_new("subscribe") {
                let call = ("subscribe", json!({ "channel": channel, "earlier": EARLIER_WANTED }));
                return Some(self.step(format!("I subscribe to channel {channel}."), vec![call]));
            }
            let listens = self.history.calls("subscribe").any(Deed::worked);
            if listens && self.history.news.is_empty() && self.history.pending != Pending::Nudge {
                return Some(self.step(
                    format!("I am subscribed to channel {channel}, and continue when there is a message."),
                    vec![],
                ));
            }
        }
        if let Some((agent, task)) = &wanted.hand_over {
            if is_new("delegate") {
                let call = ("delegate", json!({ "agent": agent, "task": task }));
                return Some(self.step(format!("I hand it over to {agent}."), vec![call]));
            }
            let is_with_it = self.history.calls("delegate").any(Deed::worked);
            if is_with_it && self.history.signals.is_empty() && self.history.pending != Pending::Nudge {
                return Some(self.step(format!("It is with {agent} now. I continue when the result is here."), vec![]));
            }
        }
        None
    }

    /// What the task asks for once the work is done: to say it in a channel, and to write it on the blackboard.
    fn tell_others(&self) -> Option<Step> {
        let wanted = Wanted::of(&self.history.task);
        let is_new = |tool: &str| self.offers(tool) && self.history.calls(tool).next().is_none();
        let point = self.written_text().and_then(|text| gist(&self.speaker, &text).into_iter().next());
        let point =
            point.map_or_else(|| quoted(inner(&self.history.task), 14), |point| clause(&point, QUOTED_WORDS * 2));
        let place = self.summary_path().map(|path| format!(" It is in {path}.")).unwrap_or_default();
        if let Some(channel) = wanted.publish.filter(|_| is_new("publish")) {
            let call = ("publish", json!({ "channel": channel, "message": format!("{point}.{place}") }));
            return Some(self.step(format!("I announce it in channel {channel}."), vec![call]));
        }
        let entry = wanted.entry.filter(|_| is_new("blackboard_write"))?;
        let call = ("blackboard_write", json!({ "key": entry, "value": point }));
        Some(self.step(format!("I write {entry} on the blackboard."), vec![call]))
    }

    /// Last words in the form that the task asks for.
    fn in_form(&self, step: Step) -> Step {
        if !step.calls.is_empty() || self.with_others().is_some() {
            return step;
        }
        let text = in_form(&self.history.task, &step.text).unwrap_or(step.text);
        Step { text, calls: Vec::new() }
    }

    /// Gives what is asked for by name, and concludes.
    fn give(&mut self) -> Step {
        let history = self.history;
        let asked = outputs::asked(&history.task);
        if !self.offers(outputs::GIVE_OUTPUT) {
            let text = outputs::block(&mut self.speaker, &history.task, &asked);
            return self.step(text, Vec::new());
        }
        let left = outputs::left(history, asked);
        let mut calls = Vec::new();
        for asked in left.iter().filter(|_| history.turns < MOST_TURNS) {
            let value = outputs::value(&mut self.speaker, &history.task, asked);
            match asked.file {
                None => calls.push((outputs::GIVE_OUTPUT, json!({ "name": asked.name, "value": value }))),
                Some(file) if self.offers("vfs_write") => {
                    calls.push(("vfs_write", json!({ "path": file, "content": value })));
                }
                Some(_) => {}
            }
        }
        if !calls.is_empty() {
            return self.step("I give what I have.".to_owned(), calls);
        }
        let closing = self.speaker.line(&self.speaker.tone.closing, &[]);
        let text = format!("{} is done. {closing}", quoted(outputs::bare(&history.task), QUOTED_WORDS));
        self.step(text, Vec::new())
    }

    fn lead(&mut self) -> Step {
        let children = self.history.calls("spawn_agent").filter(|deed| deed.worked()).count();
        if children == 0 && self.history.signals.is_empty() {
            return self.call_in();
        }
        let is_asked = self.history.pending == Pending::Nudge && !self.history.signals.is_empty();
        if self.history.heard_from() < children && !is_asked && self.summary_path().is_none() {
            return self.wait(children);
        }
        let wanted = self.pieces();
        if let Some(step) = self.read(&wanted) {
            return step;
        }
        let read = self.was_read(&wanted);
        if self.may_write() {
            let path = format!("artifacts/{}-summary.md", self.slug());
            let text = summary(&mut self.speaker, &self.history.task, &read);
            return self.write(&path, text, "I put the pieces together");
        }
        self.conclude_lead(&read)
    }

    /// Two specialists, each with a file, a task and a place for what it writes.
    fn call_in(&mut self) -> Step {
        let task = self.history.task.clone();
        let topic = Thing::of(&self.speaker, &task);
        let team = team(&task);
        let folder = if self.declares("spawn_agent", "agents/") { "agents/" } else { "" };
        let calls = team.iter().map(|specialist| {
            let stem = format!("{}-{}", topic.slug(), specialist.role);
            let target = format!("artifacts/{stem}.md");
            let arguments = json!({
                "filename": format!("{folder}{stem}.md"),
                "content": specialist.file(&topic, &target),
                "task": specialist.task(&task, &target),
            });
            ("spawn_agent", arguments)
        });
        let calls = calls.collect();
        let text = format!(
            "{} I call in a {} and a {}, and put together what they write.",
            asked(&task),
            team[0].role,
            team[1].role
        );
        self.step(text, calls)
    }

    fn wait(&mut self, children: usize) -> Step {
        let spawned: Vec<String> = self.spawned().map(|deed| role_in(deed.argument("filename"))).collect();
        let heard = self.history.heard_from();
        let refused = self.history.calls("spawn_agent").find(|deed| !deed.worked());
        let mut text = if heard == 0 {
            format!("It is with {} now. I continue when they signal.", spawned.join(" and "))
        } else {
            format!("{heard} of {children} have signalled; I wait for the rest before I put it together.")
        };
        if let Some(refused) = refused {
            text.push_str(&format!(" One could not be called in: {}.", refused.words()));
        }
        self.step(text, Vec::new())
    }

    fn conclude_lead(&mut self, read: &[(String, String)]) -> Step {
        let mut text = format!("Done: {}.", quoted(&self.history.task, QUOTED_WORDS));
        let points: Vec<String> =
            read.iter().filter_map(|(_, piece)| gist(&self.speaker, piece).into_iter().next()).collect();
        for point in &points {
            text.push_str(&format!("\n- {}.", clause(point, QUOTED_WORDS * 2)));
        }
        match self.summary_path() {
            Some(path) => text.push_str(&format!("\nThe summary of {} is in {path}.", pieces_in_words(read.len()))),
            None => text.push_str(&self.regret()),
        }
        let closing = self.speaker.line(&self.speaker.tone.closing, &[]);
        text.push_str(&format!(" {closing}"));
        self.step(text, Vec::new())
    }

    fn work_alone(&mut self) -> Step {
        let task = self.history.task.clone();
        let (targets, sources): (Vec<_>, Vec<_>) =
            paths_in(&task).into_iter().partition(|(before, _)| ["to", "into", "in", "as"].contains(&before.as_str()));
        let sources: Vec<String> = sources.into_iter().map(|(_, path)| path).take(MOST_READ).collect();
        if let Some(step) = self.read(&sources) {
            return step;
        }
        let mut read = self.was_read(&sources);
        read.extend(self.history.news.iter().map(|news| ("the channel".to_owned(), news.clone())));
        read.extend(self.history.signals.iter().map(|(from, words)| (from.clone(), words.clone())));
        if self.may_write() {
            // Tasks are changed one by one, and never by writing over their file.
            let target = targets.into_iter().map(|(_, path)| path).find(|path| !path.ends_with(TASK_FILE));
            let path = target.unwrap_or_else(|| format!("artifacts/{}.md", self.slug()));
            let text = piece(&mut self.speaker, &task, &read);
            return self.write(&path, text, "I write down what I have");
        }
        if let Some(step) = self.tell_others().filter(|_| self.history.turns < MOST_TURNS) {
            return step;
        }
        let written = self.summary_path();
        if let (Some(path), true) = (&written, self.may_signal()) {
            let point = self.written_text().and_then(|text| gist(&self.speaker, &text).into_iter().next());
            let point = point.map_or_else(String::new, |point| format!(" Its first point: {}.", clause(&point, 24)));
            let message = format!("The work on {} is in {path}.{point}", quoted(inner(&task), 14));
            return self.step("I tell my parent.".into(), vec![("signal_parent", json!({ "message": message }))]);
        }
        self.conclude_alone(written.as_deref())
    }

    fn conclude_alone(&mut self, written: Option<&str>) -> Step {
        let mut text = match written {
            Some(path) => format!("{} is done and saved in {path}.", quoted(inner(&self.history.task), 14)),
            None => format!("{}: I could not write it down.", quoted(inner(&self.history.task), 14)),
        };
        if let Some(point) = self.written_text().and_then(|text| gist(&self.speaker, &text).into_iter().next()) {
            text.push_str(&format!(" In short: {}.", clause(&point, QUOTED_WORDS * 2)));
        }
        if let Some(refused) = self.history.calls("spawn_agent").find(|deed| !deed.worked()) {
            text.push_str(&format!(" I did it alone, because nobody could be called in: {}.", refused.words()));
        }
        if written.is_none() {
            text.push_str(&self.regret());
        }
        let closing = self.speaker.line(&self.speaker.tone.closing, &[]);
        text.push_str(&format!(" {closing}"));
        self.step(text, Vec::new())
    }

    /// Reads what was not read yet, or what a tool offered in place of what is not there.
    fn read(&self, wanted: &[String]) -> Option<Step> {
        if !self.offers("vfs_read") || self.history.turns >= MOST_TURNS {
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
        let text = format!("I read {}.", paths.join(" and "));
        Some(self.step(text, paths.into_iter().map(|path| ("vfs_read", json!({ "path": path }))).collect()))
    }

    /// What was read of this, under the path that it was found at.
    fn was_read(&self, wanted: &[String]) -> Vec<(String, String)> {
        let found = wanted.iter().filter_map(|path| self.history.read_as(path)).filter(|deed| deed.worked());
        let mut read: Vec<(String, String)> = Vec::new();
        for deed in found {
            if read.iter().all(|(path, _)| path != deed.argument("path")) {
                read.push((deed.argument("path").to_owned(), deed.result.clone()));
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

    fn spawned(&self) -> impl Iterator<Item = &Deed> {
        self.history.calls("spawn_agent").filter(|deed| deed.worked())
    }

    /// Whether it is time to write: nothing was written and nothing was refused.
    fn may_write(&self) -> bool {
        let was_tried = self.history.calls("vfs_write").next().is_some();
        self.offers("vfs_write") && !was_tried && self.history.turns < MOST_TURNS
    }

    fn may_signal(&self) -> bool {
        let was_tried = self.history.calls("signal_parent").next().is_some();
        let is_lead = self.history.calls("spawn_agent").next().is_some();
        self.offers("signal_parent") && !was_tried && !is_lead && self.history.turns < MOST_TURNS
    }

    /// Where the own text was written to.
    fn summary_path(&self) -> Option<String> {
        let written = self.history.calls("vfs_write").rfind(|deed| deed.worked())?;
        Some(written.argument("path").to_owned())
    }

    fn written_text(&self) -> Option<String> {
        let written = self.history.calls("vfs_write").next_back()?;
        Some(written.argument("content").to_owned()).filter(|text| !text.is_empty())
    }

    /// Why nothing was written.
    fn regret(&self) -> String {
        match self.history.calls("vfs_write").rfind(|deed| !deed.worked()) {
            Some(deed) => format!(" I was not able to write {}: {}.", deed.argument("path"), deed.words()),
            None => " There was nothing to write with.".to_owned(),
        }
    }

    fn write(&self, path: &str, text: String, why: &str) -> Step {
        let room = (self.request.max_output_tokens as usize).saturating_mul(4);
        let text = shortened(text, room.saturating_sub(AROUND_CALL).max(LEAST_CHARS));
        self.step(format!("{why}, in {path}."), vec![("vfs_write", json!({ "path": path, "content": text }))])
    }

    fn slug(&self) -> String {
        Thing::of(&self.speaker, inner(&self.history.task)).slug()
    }

    /// Whether the declaration of a tool speaks of something.
    fn declares(&self, tool: &str, words: &str) -> bool {
        let declared = self.request.tools.iter().filter(|offered| offered.name == tool);
        declared.map(|tool| format!("{} {}", tool.description, tool.parameters)).any(|text| text.contains(words))
    }

    /// A step, its calls numbered on from those that were made.
    fn step(&self, text: String, calls: Vec<(&str, Value)>) -> Step {
        let before = self.history.deeds.len();
        let named = calls.into_iter().enumerate().map(|(index, (tool, arguments))| {
            ToolCall::new(format!("call-{}", before + index + 1), self.offered_as(tool), arguments)
        });
        Step { text, calls: named.collect() }
    }
}

/// “the researcher” of `launch-party-researcher.md`.
fn role_in(filename: &str) -> String {
    let stem = filename.rsplit('/').next().unwrap_or(filename).trim_end_matches(".md");
    format!("the {}", stem.rsplit('-').next().unwrap_or(stem))
}

fn pieces_in_words(count: usize) -> String {
    match count {
        0 => "it".to_owned(),
        1 => "the one piece".to_owned(),
        count => format!("{count} pieces"),
    }
}

/// Whole lines of a text, at most so many characters.
fn shortened(text: String, most: usize) -> String {
    if text.chars().count() <= most {
        return text;
    }
    let mut kept = String::new();
    let mut left = most;
    for line in text.split_inclusive('\n') {
        let chars = line.chars().count();
        if chars > left {
            break;
        }
        left -= chars;
        kept.push_str(line);
    }
    if kept.is_empty() { truncate(&text, most) } else { kept }
}

#[cfg(test)]
#[path = "work_tests.rs"]
mod tests;
