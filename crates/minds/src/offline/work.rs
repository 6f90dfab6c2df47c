//! Works on a task with tools, one step at a time. Each step depends on the history alone, so that the same history
//! leads to the same step and every task ends.
//!
//! A lead starts two specialists, waits for their signals, reads their documents, writes a summary and concludes. Every
//! other agent reads the files that the task names, writes a document, signals its parent and concludes. A failed call
//! is not repeated but mentioned.

use serde_json::{Value, json};

use super::artifacts::{
    TaskTopic, document, key_sentences, needs_document, quoted_task, restate_task, summary_document, team,
};
use super::collaboration::{Collaboration, formatted_result};
use super::data::{at_work, fragments};
use super::draft::fill;
use super::history::{History, PastCall, canonical_tool_name, paths_in};
use super::outputs::{self, GIVE_OUTPUT, RequestedOutput};
use super::prompt_reader::ParsedPrompt;
use super::speaker::{MAX_QUOTED_WORDS, Speaker};
use super::text::{clause, quoted};
use crate::base::hash::content_hash;
use crate::base::text::truncate;
use crate::gateway::provider::ProviderRequest;
use crate::mind::{CallKind, ToolCall};

/// The extension of task files.
const TASK_FILE: &str = ".task.md";
/// Turns after which the agent concludes in any case.
const MAX_TURNS: usize = 8;
/// Number of earlier messages requested when subscribing to a channel.
const EARLIER_MESSAGES: usize = 20;
/// Maximum number of files read for one task.
const MAX_FILES: usize = 6;
/// Maximum number of words of a task in its quoted title.
const TITLE_WORDS: usize = 14;
/// Maximum number of words of the first point in a signal.
const SIGNAL_POINT_WORDS: usize = 24;
/// Maximum number of words of a point in a conclusion or a message.
const POINT_WORDS: usize = MAX_QUOTED_WORDS * 2;
/// Characters of a write call besides the written text.
const CALL_OVERHEAD_CHARS: usize = 200;
/// Characters that a written text may have, however few tokens are allowed.
const MIN_TEXT_CHARS: usize = 200;
/// Characters at the start of a profile that describe the agent; the rest describes how it works.
const DESCRIPTION_CHARS: usize = 300;

/// A step of a task: text and tool calls. A step without calls ends the turn.
pub struct Step {
    /// The text of the reply.
    pub text: String,
    /// The tool calls of the reply.
    pub calls: Vec<ToolCall>,
}

/// Returns the next step of a task, or `None` if the available tools are no help and a text has to do.
pub fn next_step(request: &ProviderRequest) -> Option<Step> {
    if request.kind != CallKind::Task {
        return None;
    }
    let history = History::of(&request.prompt.history);
    let prompt = ParsedPrompt { own_replies: Vec::new(), earlier_requests: Vec::new(), ..ParsedPrompt::of(request) };
    // The seed depends on the task and not on the turn, so that every step chooses the same words.
    let seed = content_hash(request.agent.as_bytes()) ^ content_hash(history.task.as_bytes());
    let mut worker = Worker { request, history: &history, speaker: Speaker::new(&prompt, seed) };
    let wanted = outputs::requested_outputs(history.task);
    if !wanted.is_empty() {
        return Some(worker.give_outputs(wanted));
    }
    let is_underway = !history.past_calls.is_empty() || !history.signals.is_empty();
    let has_tools = worker.offers("vfs_write") || worker.offers("spawn_agent");
    if !has_tools || !is_underway && !needs_document(history.task) {
        return None;
    }
    if let Some(step) = worker.collaborate() {
        return Some(step);
    }
    let step = if worker.is_lead() { worker.lead() } else { worker.work_alone() };
    // The final answer has the format that the task asks for.
    let formatted = formatted_result(history.task, &step.text).filter(|_| step.calls.is_empty());
    Some(Step { text: formatted.unwrap_or(step.text), ..step })
}

struct Worker<'a> {
    request: &'a ProviderRequest,
    history: &'a History<'a>,
    speaker: Speaker<'a>,
}

impl<'a> Worker<'a> {
    /// Returns the name under which a tool is offered, if it is.
    fn offered_name(&self, tool: &str) -> Option<&'a str> {
        let mut offered = self.request.tools.iter().map(|offered| offered.name.as_str());
        offered.find(|name| canonical_tool_name(name) == tool)
    }

    fn offers(&self, tool: &str) -> bool {
        self.offered_name(tool).is_some()
    }

    /// Whether a tool is offered and was not called for this task yet.
    fn is_unused(&self, tool: &str) -> bool {
        self.offers(tool) && self.history.calls(tool).next().is_none()
    }

    fn has_turns_left(&self) -> bool {
        self.history.turns < MAX_TURNS
    }

    /// Returns the quoted task, shortened for use in a sentence.
    fn title(&self) -> String {
        quoted(quoted_task(self.history.task), TITLE_WORDS)
    }

    /// Whether the agent delegates the work: it is a lead and may start agents.
    fn is_lead(&self) -> bool {
        let profile: String =
            self.speaker.prompt.profile.chars().take(DESCRIPTION_CHARS).flat_map(char::to_lowercase).collect();
        let names = [self.request.agent.to_lowercase(), self.request.profile.to_lowercase(), profile];
        let has_lead_role = fragments().leading.iter().any(|word| names.iter().any(|name| name.contains(word)));
        let mut spawns = self.history.calls("spawn_agent").peekable();
        let was_refused = spawns.peek().is_some() && spawns.all(|call| !call.succeeded());
        has_lead_role && !was_refused && (self.offers("spawn_agent") || !self.history.signals.is_empty())
    }

    /// Returns the step before the work, if the task asks to subscribe to a channel or to delegate something.
    fn collaborate(&self) -> Option<Step> {
        let wanted = Collaboration::of(self.history.task);
        let subscribing = wanted.subscribe_to.and_then(|channel| {
            let call = ("subscribe", json!({ "channel": channel, "earlier": EARLIER_MESSAGES }));
            let texts = [&at_work().subscribes, &at_work().listens].map(|text| fill(text, &[("c", &channel)]));
            self.call_and_wait(call, texts, self.history.channel_messages.is_empty())
        });
        subscribing.or_else(|| {
            let (agent, task) = wanted.delegate?;
            let call = ("delegate", json!({ "agent": agent, "task": task }));
            let texts = [&at_work().hands_over, &at_work().handed_over].map(|text| fill(text, &[("a", &agent)]));
            self.call_and_wait(call, texts, self.history.signals.is_empty())
        })
    }

    /// Calls a tool once, then waits for a message until one arrives or a progress check asks.
    fn call_and_wait(
        &self,
        call: (&str, Value),
        [begin_text, wait_text]: [String; 2],
        is_waiting: bool,
    ) -> Option<Step> {
        if self.is_unused(call.0) {
            return Some(self.step(begin_text, vec![call]));
        }
        let was_done = self.history.calls(call.0).any(PastCall::succeeded);
        (was_done && is_waiting && !self.history.is_nudged).then(|| self.step(wait_text, Vec::new()))
    }

    /// Returns the step after the work, if the task asks to publish the result in a channel or on the blackboard.
    fn publish_result(&self) -> Option<Step> {
        let wanted = Collaboration::of(self.history.task);
        let point = self.own_point(POINT_WORDS).unwrap_or_else(|| self.title());
        if let Some(channel) = wanted.publish_to.filter(|_| self.is_unused("publish")) {
            let place = fill(&at_work().place, &[("p", self.written_path().unwrap_or_default())]);
            let message = format!("{point}. {place}");
            let call = ("publish", json!({ "channel": channel, "message": message.trim_end() }));
            return Some(self.step(fill(&at_work().publishes, &[("c", &channel)]), vec![call]));
        }
        let key = wanted.blackboard_key.filter(|_| self.is_unused("blackboard_write"))?;
        let call = ("blackboard_write", json!({ "key": key, "value": point }));
        Some(self.step(fill(&at_work().notes, &[("e", &key)]), vec![call]))
    }

    /// Gives the outputs that the task asks for, then concludes.
    fn give_outputs(&mut self, wanted: Vec<RequestedOutput<'_>>) -> Step {
        let history = self.history;
        if !self.offers(GIVE_OUTPUT) {
            let text = outputs::outputs_block(&mut self.speaker, history.task, &wanted);
            return self.step(text, Vec::new());
        }
        let has_turns_left = self.has_turns_left();
        let mut calls = Vec::new();
        for output in outputs::missing(history, wanted).iter().filter(|_| has_turns_left) {
            let value = outputs::output_value(&mut self.speaker, history.task, output);
            match output.file {
                None => calls.push((GIVE_OUTPUT, json!({ "name": output.name, "value": value }))),
                Some(file) if self.offers("vfs_write") => {
                    calls.push(("vfs_write", json!({ "path": file, "content": value })));
                }
                Some(_) => {}
            }
        }
        if !calls.is_empty() {
            return self.step(at_work().gives.clone(), calls);
        }
        self.conclude(outputs::done_sentence(history.task))
    }

    fn lead(&mut self) -> Step {
        let children = self.spawned().count();
        if children == 0 && self.history.signals.is_empty() {
            return self.start_specialists();
        }
        let is_asked = self.history.is_nudged && !self.history.signals.is_empty();
        if self.history.signal_sender_count() < children && !is_asked && self.written_path().is_none() {
            return self.wait_for_signals(children);
        }
        let wanted = self.children_documents();
        if let Some(step) = self.read(&wanted) {
            return step;
        }
        let read = self.contents_of(&wanted);
        if self.may_write() {
            let path = format!("artifacts/{}-summary.md", self.slug());
            let text = summary_document(&mut self.speaker, self.history.task, &read);
            return self.write(&path, text, &at_work().sums_up);
        }
        self.conclude_lead(&read)
    }

    /// Starts two specialists, each with an agent file, a task and a target file.
    fn start_specialists(&mut self) -> Step {
        let task = self.history.task;
        let topic = TaskTopic::of(&self.speaker, task);
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
        self.step(format!("{} {calls_in}", restate_task(task)), calls)
    }

    fn wait_for_signals(&mut self, children: usize) -> Step {
        let spawned: Vec<String> = self.spawned().map(|call| role_in(call.argument("filename"))).collect();
        let mut text = match self.history.signal_sender_count() {
            0 => fill(&at_work().called_in, &[("r", &spawned.join(" and "))]),
            senders => fill(&at_work().waits, &[("n", &senders.to_string()), ("m", &children.to_string())]),
        };
        if let Some(failed) = self.failed_call("spawn_agent") {
            text = format!("{text} {}", fill(&at_work().missing, &[("w", failed.first_sentence())]));
        }
        self.step(text, Vec::new())
    }

    fn conclude_lead(&mut self, read: &[(String, String)]) -> Step {
        let mut text = fill(&at_work().done, &[("t", &quoted(self.history.task, MAX_QUOTED_WORDS))]);
        for point in read.iter().filter_map(|(_, piece)| self.point(piece, POINT_WORDS)) {
            text.push_str(&format!("\n- {point}."));
        }
        match self.written_path() {
            Some(path) => text.push_str(&format!("\n{}", fill(&at_work().summed_up, &[("p", path)]))),
            None => text.push_str(&format!(" {}", self.failure_sentence())),
        }
        self.conclude(text)
    }

    fn work_alone(&mut self) -> Step {
        let task = self.history.task;
        let (targets, sources): (Vec<_>, Vec<_>) =
            paths_in(task).into_iter().partition(|(before, _)| ["to", "into", "in", "as"].contains(&before.as_str()));
        let sources: Vec<String> = sources.into_iter().map(|(_, path)| path).take(MAX_FILES).collect();
        if let Some(step) = self.read(&sources) {
            return step;
        }
        if self.may_write() {
            let messages = self.history.channel_messages.iter().map(|text| ("the channel", *text));
            let messages = messages.chain(self.history.signals.iter().copied());
            let mut read = self.contents_of(&sources);
            read.extend(messages.map(|(from, text)| (from.to_owned(), text.to_owned())));
            // Task files are only changed task by task, never overwritten.
            let target = targets.into_iter().map(|(_, path)| path).find(|path| !path.ends_with(TASK_FILE));
            let path = target.unwrap_or_else(|| format!("artifacts/{}.md", self.slug()));
            let text = document(&mut self.speaker, task, &read);
            return self.write(&path, text, &at_work().writes);
        }
        if let Some(step) = self.publish_result().filter(|_| self.has_turns_left()) {
            return step;
        }
        let is_lead = self.history.calls("spawn_agent").next().is_some();
        let may_signal = self.is_unused("signal_parent") && !is_lead && self.has_turns_left();
        if let Some(path) = self.written_path().filter(|_| may_signal) {
            let point = self.own_point(SIGNAL_POINT_WORDS).unwrap_or_default();
            let summary = fill(&at_work().told, &[("t", &self.title()), ("p", path)]);
            let message = format!("{summary} {}", fill(&at_work().first_point, &[("q", &point)]));
            let call = ("signal_parent", json!({ "message": message.trim_end() }));
            return self.step(at_work().tells.clone(), vec![call]);
        }
        self.conclude_alone()
    }

    fn conclude_alone(&mut self) -> Step {
        let (sentences, title) = (at_work(), self.title());
        let point = self.own_point(POINT_WORDS).unwrap_or_default();
        let why_alone = self.failed_call("spawn_agent").map_or("", PastCall::first_sentence);
        let (written, failure) = match self.written_path() {
            Some(path) => (fill(&sentences.written, &[("t", &title), ("p", path)]), String::new()),
            None => (fill(&sentences.unwritten, &[("t", &title)]), self.failure_sentence()),
        };
        let (point, alone) = (fill(&sentences.in_short, &[("q", &point)]), fill(&sentences.alone, &[("w", why_alone)]));
        let all = [written, point, alone, failure].into_iter().filter(|sentence| !sentence.is_empty());
        self.conclude(all.collect::<Vec<_>>().join(" "))
    }

    /// Ends the task with a text and a closing line in the agent's tone.
    fn conclude(&mut self, text: String) -> Step {
        let closing = self.speaker.line(&self.speaker.tone.closing, &[]);
        self.step(format!("{text} {closing}"), Vec::new())
    }

    /// Returns the step that reads the wanted files not tried yet, or the paths suggested for missing ones.
    fn read(&self, wanted: &[String]) -> Option<Step> {
        if !self.offers("vfs_read") || !self.has_turns_left() {
            return None;
        }
        let was_tried = |path: &str| self.history.calls("vfs_read").any(|call| call.argument("path") == path);
        let mut paths: Vec<String> = Vec::new();
        for path in wanted {
            let next = match self.history.read_attempt(path) {
                None => Some(path.clone()),
                Some(call) if call.succeeded() => None,
                Some(call) => call.suggested_path().filter(|suggested| !was_tried(suggested)),
            };
            paths.extend(next.filter(|next| !paths.contains(next)));
        }
        if paths.is_empty() {
            return None;
        }
        let text = fill(&at_work().reads, &[("p", &paths.join(" and "))]);
        Some(self.step(text, paths.into_iter().map(|path| ("vfs_read", json!({ "path": path }))).collect()))
    }

    /// Returns path and content of each wanted file that was read, under the path at which it was found.
    fn contents_of(&self, wanted: &[String]) -> Vec<(String, String)> {
        let found = wanted.iter().filter_map(|path| self.history.read_attempt(path)).filter(|call| call.succeeded());
        let mut read: Vec<(String, String)> = Vec::new();
        for call in found {
            if read.iter().all(|(path, _)| path != call.argument("path")) {
                read.push((call.argument("path").to_owned(), call.result_text().to_owned()));
            }
        }
        read
    }

    /// Returns the paths of the documents that the children signalled or were asked to write.
    fn children_documents(&self) -> Vec<String> {
        let signalled = self.history.signals.iter().flat_map(|(_, text)| paths_in(text));
        let asked_for = self.spawned().flat_map(|call| paths_in(call.argument("task")));
        let mut paths: Vec<String> = Vec::new();
        for (_, path) in signalled.chain(asked_for) {
            if path.starts_with("artifacts/") && !paths.contains(&path) && paths.len() < MAX_FILES {
                paths.push(path);
            }
        }
        paths
    }

    /// Returns the calls that started an agent.
    fn spawned(&self) -> impl Iterator<Item = &PastCall<'a>> {
        self.history.calls("spawn_agent").filter(|call| call.succeeded())
    }

    /// Returns the first failed call of a tool.
    fn failed_call(&self, tool: &str) -> Option<&PastCall<'a>> {
        self.history.calls(tool).find(|call| !call.succeeded())
    }

    /// Whether the agent may write its document: it has not tried to yet.
    fn may_write(&self) -> bool {
        self.is_unused("vfs_write") && self.has_turns_left()
    }

    /// Returns the path of the last file that the agent wrote.
    fn written_path(&self) -> Option<&'a str> {
        let written = self.history.calls("vfs_write").rfind(|call| call.succeeded())?;
        Some(written.argument("path"))
    }

    /// Returns the first key sentence of a text, at most `max_words` long.
    fn point(&self, text: &str, max_words: usize) -> Option<String> {
        key_sentences(&self.speaker, text).first().map(|point| clause(point, max_words))
    }

    /// Returns the first key sentence of the text that the agent wrote last.
    fn own_point(&self, max_words: usize) -> Option<String> {
        self.point(self.history.calls("vfs_write").next_back()?.argument("content"), max_words)
    }

    /// Returns a sentence on why nothing was written.
    fn failure_sentence(&self) -> String {
        match self.history.calls("vfs_write").rfind(|call| !call.succeeded()) {
            Some(call) => fill(&at_work().refused, &[("p", call.argument("path")), ("w", call.first_sentence())]),
            None => at_work().toolless.clone(),
        }
    }

    /// Returns the step that writes a text, shortened to the output limit; `{p}` in `template` becomes the path.
    fn write(&self, path: &str, text: String, template: &str) -> Step {
        let max_chars = (self.request.max_output_tokens as usize).saturating_mul(4);
        let text = keep_whole_lines(&text, max_chars.saturating_sub(CALL_OVERHEAD_CHARS).max(MIN_TEXT_CHARS));
        self.step(fill(template, &[("p", path)]), vec![("vfs_write", json!({ "path": path, "content": text }))])
    }

    fn slug(&self) -> String {
        TaskTopic::of(&self.speaker, quoted_task(self.history.task)).slug()
    }

    /// Builds a step whose call ids continue the numbering of the earlier calls.
    fn step(&self, text: String, calls: Vec<(&str, Value)>) -> Step {
        let before = self.history.past_calls.len();
        let calls = calls.into_iter().enumerate().map(|(index, (tool, arguments))| {
            ToolCall::new(format!("call-{}", before + index + 1), self.offered_name(tool).unwrap_or(tool), arguments)
        });
        Step { text, calls: calls.collect() }
    }
}

/// Returns the role in an agent's file name: “the researcher” for `launch-party-researcher.md`.
fn role_in(filename: &str) -> String {
    let stem = filename.rsplit('/').next().unwrap_or(filename).trim_end_matches(".md");
    format!("the {}", stem.rsplit('-').next().unwrap_or(stem))
}

/// Returns the first lines of a text, at most `max_chars` characters; part of the first line if that is longer.
fn keep_whole_lines(text: &str, max_chars: usize) -> String {
    let mut chars = 0;
    let fits = |line: &&str| {
        chars += line.chars().count();
        chars <= max_chars
    };
    let kept: String = text.split_inclusive('\n').take_while(fits).collect();
    if kept.is_empty() { truncate(text, max_chars) } else { kept }
}

#[cfg(test)]
#[path = "work_tests.rs"]
mod tests;
