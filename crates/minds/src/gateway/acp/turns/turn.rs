//! One turn of an agent, from a prompt to the end of the answer: collects its text, reports and requests. Everything is
//! bounded, so that reading from the agent never blocks.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agent_client_protocol::v1::schema::{ContentBlock, PlanEntryStatus, PromptResponse, SessionUpdate, ToolCallUpdate};
use tokio::sync::Notify;
use tokio::time::Instant;

use super::agent_tool_calls::apply;
use super::requests::{OpenRequest, Request};
use super::room_tools::OfferedTools;
use super::terminals::Terminals;
use crate::gateway::acp::options::Offer;
use crate::gateway::mcp::is_kept;
use crate::gateway::peers::plain;
use crate::mind::{AgentImage, AgentOption, AgentOptionValue, AgentReport, AgentToolCall, OwnCommand, PlanStep};

/// The maximum length of an answer in characters.
const MAX_ANSWER_CHARS: usize = 1_000_000;
/// The maximum length of the thoughts that are kept of one answer, in characters.
const MAX_THOUGHT_CHARS: usize = 20_000;
/// The maximum number of the agent's own tool uses that are reported per turn.
const MAX_CALLS: usize = 500;
/// The maximum length of the title of a tool call, in characters.
const TITLE_CHARS: usize = 200;
/// The maximum number of steps in a plan.
const MAX_STEPS: usize = 60;
/// The maximum number of an agent's commands.
const MAX_COMMANDS: usize = 200;
/// The maximum number of the agent's pending requests.
const MAX_ASKED: usize = 64;

/// Why a turn ended irregularly.
#[derive(Clone, PartialEq, Debug)]
pub(in crate::gateway::acp) enum TurnError {
    /// The agent answered with an error: its code and message.
    Refused(i32, String),
    /// The connection was closed.
    Gone,
}

/// The current turn of a session; idle while the agent has nothing to answer.
#[derive(Default)]
pub(in crate::gateway::acp) struct Turn {
    state: Mutex<State>,
    /// Notified when something is new.
    pub(in crate::gateway::acp) changed: Notify,
    /// The programs that run for the agent, which end with the turn.
    pub(in crate::gateway) terminals: Terminals,
    /// The room's tools that are offered to the agent.
    offered: Option<Arc<OfferedTools>>,
    chosen: Mutex<SessionChoices>,
}

/// The options in a session and their values.
#[derive(Default)]
struct SessionChoices {
    offer: Offer,
    /// The id of the mode that a person allowed although the agent asks less often in it.
    allowed: Option<String>,
    /// The options that were last logged.
    logged: Vec<AgentOption>,
    /// The commands of the agent, and whether they were logged.
    commands: (Vec<OwnCommand>, bool),
    /// Whether the agent is in a mode that no person allowed.
    is_beyond: bool,
}

#[derive(Default)]
struct State {
    phase: Phase,
    /// The number of prompts so far.
    number: u64,
    /// The text that was not taken yet.
    words: String,
    said_chars: usize,
    thought: String,
    /// The thoughts since the last log record, and the number of characters that were dropped from them.
    thoughts: (String, usize),
    /// The images of the answer since the last log record.
    images: Vec<AgentImage>,
    calls: Vec<ShownCall>,
    plan: Option<Vec<PlanStep>>,
    cost_usd: Option<f64>,
    /// The requests that were not taken yet.
    asked: VecDeque<OpenRequest>,
    end: Option<Result<PromptResponse, TurnError>>,
    active_at: Option<Instant>,
    is_too_much: bool,
    /// Whether the answer to the prompt has arrived: later updates belong to no turn.
    is_sealed: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Default)]
enum Phase {
    /// No prompt is being answered.
    #[default]
    Idle,
    /// The agent is answering.
    Running,
    /// The agent is answering a prompt outside of the room's work: its requests are refused.
    OutsideWork,
    /// The agent was told to stop.
    Stopping,
}

/// A call of one of the agent's own tools.
struct ShownCall {
    call: AgentToolCall,
    /// Whether the screen shows its current state.
    is_shown: bool,
    /// Whether its end was logged.
    is_logged: bool,
}

/// Everything new since it was last taken.
#[derive(Default)]
pub(in crate::gateway::acp) struct TurnNews {
    /// The new text of the answer.
    pub(in crate::gateway::acp) words: String,
    /// The new thoughts.
    pub(in crate::gateway::acp) thought: String,
    /// The agent's own tool calls that have changed, each with its index in the turn.
    pub(in crate::gateway::acp) calls: Vec<(usize, AgentToolCall)>,
    /// The new requests to the room.
    pub(in crate::gateway) asked: Vec<OpenRequest>,
    /// How the turn ended, if it has.
    pub(in crate::gateway::acp) end: Option<Result<PromptResponse, TurnError>>,
    /// Whether the answer exceeded its maximum length.
    pub(in crate::gateway::acp) is_too_much: bool,
    /// A mode in which the agent asks less often and to which it switched on its own.
    pub(in crate::gateway::acp) beyond: Option<AgentOptionValue>,
}

impl Turn {
    /// Creates an idle turn for an agent that is offered these tools of the room.
    pub(in crate::gateway::acp) fn offering(offered: Option<Arc<OfferedTools>>) -> Self {
        Self { offered, ..Self::default() }
    }

    /// Begins a turn when a prompt is sent. `apart`: the agent's requests cannot be passed on.
    pub(in crate::gateway::acp) fn begin(&self, apart: bool) {
        let mut state = self.state();
        let (cost_usd, number) = (state.cost_usd, state.number + 1);
        let phase = if apart { Phase::OutsideWork } else { Phase::Running };
        *state = State { phase, cost_usd, number, active_at: Some(Instant::now()), ..State::default() };
    }

    /// Records that the agent was told to stop: its current and further requests are refused. Returns the number of the
    /// turn.
    pub(in crate::gateway::acp) fn stop(&self) -> u64 {
        let mut state = self.state();
        let number = state.number;
        if matches!(state.phase, Phase::Running | Phase::OutsideWork) {
            state.phase = Phase::Stopping;
        }
        let asked: Vec<OpenRequest> = state.asked.drain(..).collect();
        drop(state);
        asked.into_iter().for_each(OpenRequest::withdraw);
        self.terminals.end_all();
        number
    }

    /// Records that the answer to the prompt has arrived, which is processed in order.
    pub(in crate::gateway::acp) fn note_answered(&self) {
        self.state().is_sealed = true;
    }

    /// Ends the turn: the prompt was answered, or never will be.
    pub(in crate::gateway::acp) fn end(&self, end: Result<PromptResponse, TurnError>) {
        let mut state = self.state();
        if state.phase != Phase::Idle && state.end.is_none() {
            state.end = Some(end);
        }
        drop(state);
        self.terminals.end_all();
        self.changed.notify_one();
    }

    /// Makes the session idle: no answer is expected from the agent any more.
    pub(in crate::gateway::acp) fn go_idle(&self) {
        self.state().phase = Phase::Idle;
    }

    /// Whether the agent is still answering.
    pub(in crate::gateway::acp) fn is_open(&self) -> bool {
        let state = self.state();
        state.phase != Phase::Idle && state.end.is_none()
    }

    /// Whether the agent is still answering in this turn.
    pub(in crate::gateway::acp) fn is_open_in(&self, number: u64) -> bool {
        let state = self.state();
        state.number == number && state.phase != Phase::Idle && state.end.is_none()
    }

    /// Returns when the agent last sent something.
    pub(in crate::gateway::acp) fn last_activity(&self) -> Option<Instant> {
        self.state().active_at
    }

    /// Restarts the silence timeout, because the time that a person took is not the agent's.
    pub(in crate::gateway::acp) fn reset_silence_timeout(&self) {
        self.state().active_at = Some(Instant::now());
    }

    /// Records a request of the protocol.
    pub(in crate::gateway) fn request(&self, request: Box<Request>) {
        let left = match &self.offered {
            Some(offered) if self.is_open() => request.let_call(offered),
            _ => Err(request),
        };
        if let Err(request) = left {
            self.ask(OpenRequest::Request(request));
        }
    }

    /// Records a request of the agent to the room.
    pub(in crate::gateway::acp) fn ask(&self, asked: OpenRequest) {
        let mut state = self.state();
        state.active_at = Some(Instant::now());
        let takes = state.phase == Phase::Running && state.end.is_none() && !state.is_sealed;
        if takes && state.asked.len() < MAX_ASKED {
            state.asked.push_back(asked);
            drop(state);
            self.changed.notify_one();
            return;
        }
        let is_apart = state.phase == Phase::OutsideWork;
        drop(state);
        if is_apart {
            asked.refuse("the room only provides files and permissions for a task; answer in words");
        } else if takes {
            asked.refuse("too many requests at once");
        } else {
            asked.withdraw();
        }
    }

    /// Processes an update of the agent. Updates outside of a turn are ignored.
    pub(in crate::gateway::acp) fn update(&self, update: SessionUpdate, workspace: &Path) {
        if matches!(
            update,
            SessionUpdate::CurrentModeUpdate(_)
                | SessionUpdate::ConfigOptionUpdate(_)
                | SessionUpdate::AvailableCommandsUpdate(_)
        ) {
            // Processed at any time, because it applies to later turns.
            self.choose(update);
            return;
        }
        let mut state = self.state();
        if let SessionUpdate::UsageUpdate(usage) = &update {
            let logged = usage.cost.as_ref().filter(|cost| cost.currency.eq_ignore_ascii_case("usd"));
            if let Some(cost) = logged.filter(|cost| cost.amount.is_finite() && cost.amount >= 0.0) {
                state.cost_usd = Some(cost.amount);
            }
            return;
        }
        if !matches!(state.phase, Phase::Running | Phase::OutsideWork) || state.end.is_some() || state.is_sealed {
            return;
        }
        state.active_at = Some(Instant::now());
        match update {
            SessionUpdate::AgentMessageChunk(chunk) => {
                let words = state.text_of(chunk.content);
                state.push_text(&words);
            }
            SessionUpdate::AgentThoughtChunk(chunk) => {
                let words = state.text_of(chunk.content);
                state.think(&words);
            }
            SessionUpdate::ToolCall(call) => {
                state.apply_tool_update(&ToolCallUpdate::from(call), workspace, self.offered.as_deref())
            }
            SessionUpdate::ToolCallUpdate(update) => {
                state.apply_tool_update(&update, workspace, self.offered.as_deref())
            }
            SessionUpdate::Plan(plan) => {
                let step = |entry: agent_client_protocol::v1::schema::PlanEntry| PlanStep {
                    text: plain(&entry.content, TITLE_CHARS),
                    status: match entry.status {
                        PlanEntryStatus::InProgress => "in_progress",
                        PlanEntryStatus::Completed => "completed",
                        _ => "pending",
                    }
                    .to_owned(),
                };
                state.plan = Some(plan.entries.into_iter().take(MAX_STEPS).map(step).collect());
            }
            _ => {}
        }
        drop(state);
        self.changed.notify_one();
    }

    /// Returns and clears everything new.
    pub(in crate::gateway) fn take(&self) -> TurnNews {
        let mut state = self.state();
        let mut calls = Vec::new();
        for (at, known) in state.calls.iter_mut().enumerate().filter(|(_, known)| !known.is_shown) {
            known.is_shown = true;
            calls.push((at, known.call.clone()));
        }
        TurnNews {
            words: std::mem::take(&mut state.words),
            thought: std::mem::take(&mut state.thought),
            calls,
            asked: state.asked.drain(..).collect(),
            end: state.end.take(),
            is_too_much: state.is_too_much,
            beyond: self.beyond(),
        }
    }

    /// Sets the options of this session.
    pub(in crate::gateway::acp) fn offered(&self, offer: Offer) {
        self.chosen().offer = offer;
    }

    /// Returns the options.
    pub(in crate::gateway::acp) fn offer(&self) -> Offer {
        self.chosen().offer.clone()
    }

    /// Records that the room put the agent into this mode; if it asks less often in it, a person allowed that.
    pub(in crate::gateway::acp) fn put_in_mode(&self, mode: &AgentOptionValue) {
        let mut chosen = self.chosen();
        chosen.offer.set_mode(&mode.id);
        chosen.allowed = mode.asks_less.then(|| mode.id.clone());
        chosen.is_beyond = false;
    }

    /// Returns the present mode if the agent switched to it on its own and no person allowed it.
    fn beyond(&self) -> Option<AgentOptionValue> {
        let chosen = self.chosen();
        chosen.offer.mode().filter(|_| chosen.is_beyond)
    }

    /// Processes a reported mode or reported options.
    fn choose(&self, update: SessionUpdate) {
        let mut chosen = self.chosen();
        match update {
            SessionUpdate::CurrentModeUpdate(update) => chosen.offer.set_mode(&update.current_mode_id.0),
            SessionUpdate::ConfigOptionUpdate(update) => chosen.offer.set_options(update.config_options),
            SessionUpdate::AvailableCommandsUpdate(update) => {
                let known = update.available_commands.iter().take(MAX_COMMANDS).map(|command| OwnCommand {
                    name: plain(&command.name, TITLE_CHARS),
                    about: plain(&command.description, TITLE_CHARS),
                });
                let known: Vec<OwnCommand> = known.collect();
                if known != chosen.commands.0 {
                    chosen.commands = (known, false);
                }
                return;
            }
            _ => return,
        }
        let mode = chosen.offer.mode().filter(|mode| mode.asks_less);
        chosen.is_beyond = mode.is_some_and(|mode| chosen.allowed.as_deref() != Some(mode.id.as_str()));
        drop(chosen);
        self.changed.notify_one();
    }

    fn chosen(&self) -> MutexGuard<'_, SessionChoices> {
        self.chosen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the report to log now: finished tool calls, and at the end of the turn also those that never finished.
    /// The reported cost is that of the whole session.
    pub(in crate::gateway::acp) fn take_report(&self, is_end: bool) -> (AgentReport, Option<f64>) {
        let mut state = self.state();
        let (mut thought, cut) = std::mem::take(&mut state.thoughts);
        if cut > 0 {
            thought.push_str(&format!("\n[… cut, {cut} more characters]"));
        }
        let mut logged = AgentReport {
            plan: state.plan.take().unwrap_or_default(),
            thought,
            images: std::mem::take(&mut state.images),
            ..AgentReport::default()
        };
        for known in state.calls.iter_mut().filter(|known| !known.is_logged && (is_end || known.call.has_ended())) {
            known.is_logged = true;
            logged.calls.push(known.call.clone());
        }
        logged.ran = self.terminals.take_ended(is_end);
        let mut chosen = self.chosen();
        let options = chosen.offer.own_options();
        if chosen.logged != options {
            chosen.logged.clone_from(&options);
            logged.options = options;
        }
        if !std::mem::replace(&mut chosen.commands.1, true) {
            logged.commands.clone_from(&chosen.commands.0);
        }
        drop(chosen);
        (logged, state.cost_usd)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn count(&mut self, chars: usize) {
        self.said_chars = self.said_chars.saturating_add(chars);
        self.is_too_much |= self.said_chars > MAX_ANSWER_CHARS;
    }

    fn push_text(&mut self, words: &str) {
        self.count(words.chars().count());
        if !self.is_too_much {
            self.words.push_str(words);
        }
    }

    fn think(&mut self, words: &str) {
        self.count(words.chars().count());
        if self.is_too_much {
            return;
        }
        self.thought.push_str(words);
        let (kept, cut) = &mut self.thoughts;
        let room = MAX_THOUGHT_CHARS.saturating_sub(kept.chars().count());
        let more = words.char_indices().nth(room).map_or("", |(end, _)| &words[end..]);
        *cut += more.chars().count();
        kept.push_str(&words[..words.len() - more.len()]);
    }

    /// Returns the text of a piece of an answer; for other content, a note. An image is stored like that of any tool.
    fn text_of(&mut self, content: ContentBlock) -> String {
        match content {
            ContentBlock::Text(text) => text.text,
            ContentBlock::Image(image) if is_kept(&image.mime_type, &image.data, self.images.len()) => {
                let kind = plain(&image.mime_type, TITLE_CHARS);
                // Four characters of base64 are three bytes.
                let words = format!("[an image ({kind}), {} KB]", image.data.len().div_ceil(1366));
                self.images.push(AgentImage { media_type: image.mime_type, base64: image.data });
                words
            }
            ContentBlock::Image(_) => "[an image was left out: it cannot be kept]".to_owned(),
            ContentBlock::Audio(_) => "[audio, which cannot be played here]".to_owned(),
            ContentBlock::ResourceLink(link) => plain(&link.uri, TITLE_CHARS),
            _ => "[content of an unsupported kind]".to_owned(),
        }
    }

    /// Applies an update of one of the agent's own tool calls.
    fn apply_tool_update(&mut self, update: &ToolCallUpdate, workspace: &Path, offered: Option<&OfferedTools>) {
        let id = plain(&update.tool_call_id.0, TITLE_CHARS);
        let at = match self.calls.iter().position(|known| known.call.id == id) {
            Some(at) => at,
            None if self.calls.len() < MAX_CALLS => {
                let call = AgentToolCall {
                    id,
                    kind: "other".to_owned(),
                    status: "pending".to_owned(),
                    ..AgentToolCall::default()
                };
                self.calls.push(ShownCall { call, is_shown: false, is_logged: false });
                self.calls.len() - 1
            }
            None => return,
        };
        let known = &mut self.calls[at];
        apply(&mut known.call, update, workspace);
        known.is_shown = false;
        // Calls of the room's own tools are logged elsewhere.
        known.is_logged |= offered.is_some_and(|offered| offered.is_named(&known.call.title));
    }
}

#[cfg(test)]
mod tests {
    use agent_client_protocol::v1::schema::{
        ContentChunk, ImageContent, StopReason, TextContent, ToolCall, ToolCallStatus, ToolCallUpdateFields, ToolKind,
    };

    use super::*;

    fn said(words: &str) -> SessionUpdate {
        SessionUpdate::AgentMessageChunk(ContentChunk::new(ContentBlock::Text(TextContent::new(words))))
    }

    #[test]
    fn updates_outside_of_a_turn_are_ignored() {
        let (turn, here) = (Turn::default(), Path::new("/w"));
        turn.update(said("too early"), here);
        turn.begin(false);
        turn.update(said("in time"), here);
        turn.note_answered();
        turn.update(said("too late"), here);
        turn.end(Ok(PromptResponse::new(StopReason::EndTurn)));
        turn.update(said("later still"), here);
        let news = turn.take();
        assert_eq!((news.words.as_str(), news.end.is_some()), ("in time", true));
        turn.go_idle();
        turn.update(said("much too late"), here);
        assert_eq!(turn.take().words, "");
    }

    #[test]
    fn a_tool_call_is_logged_when_it_ends_or_the_turn_ends() {
        let (turn, here) = (Turn::default(), Path::new("/w"));
        turn.begin(false);
        for id in ["a", "b"] {
            turn.update(
                SessionUpdate::ToolCall(ToolCall::new(id, format!("Read {id}\u{7}")).kind(ToolKind::Read)),
                here,
            );
        }
        assert_eq!(turn.take().calls.len(), 2);
        assert_eq!(turn.take_report(false).0.calls, []);
        let over = ToolCallUpdateFields::new().status(ToolCallStatus::Completed);
        turn.update(SessionUpdate::ToolCallUpdate(ToolCallUpdate::new("a", over)), here);
        let titles =
            |logged: AgentReport| logged.calls.into_iter().map(|call| (call.title, call.status)).collect::<Vec<_>>();
        assert_eq!(titles(turn.take_report(false).0), [("Read a".to_owned(), "completed".to_owned())]);
        assert_eq!(titles(turn.take_report(true).0), [("Read b".to_owned(), "pending".to_owned())]);
        assert_eq!(titles(turn.take_report(true).0), []);
    }

    #[test]
    fn thoughts_are_separate_from_the_answer_and_reported_once() {
        let (turn, here) = (Turn::default(), Path::new("/w"));
        turn.begin(false);
        let thinks = |words: &str| {
            let chunk = ContentChunk::new(ContentBlock::Text(TextContent::new(words)));
            turn.update(SessionUpdate::AgentThoughtChunk(chunk), here);
        };
        thinks("Where is ");
        turn.update(said("Here."), here);
        thinks("it?");
        let news = turn.take();
        assert_eq!((news.words.as_str(), news.thought.as_str()), ("Here.", "Where is it?"));
        assert_eq!(turn.take_report(false).0.thought, "Where is it?");
        thinks(&"ü".repeat(MAX_THOUGHT_CHARS + 5));
        let kept = turn.take_report(true).0.thought;
        assert!(kept.starts_with("üü") && kept.ends_with("[… cut, 5 more characters]"), "{}", kept.len());
        assert_eq!(turn.take_report(true).0.thought, "");
    }

    #[test]
    fn an_image_is_mentioned_in_place_and_kept() {
        let (turn, here) = (Turn::default(), Path::new("/w"));
        turn.begin(false);
        let shows = |media_type: &str| {
            let image = ContentBlock::Image(ImageContent::new("aGk=", media_type));
            turn.update(SessionUpdate::AgentMessageChunk(ContentChunk::new(image)), here);
        };
        turn.update(said("See "), here);
        shows("image/png");
        shows("text/html");
        assert_eq!(turn.take().words, "See [an image (image/png), 1 KB][an image was left out: it cannot be kept]");
        let images = turn.take_report(true).0.images;
        assert_eq!(images, [AgentImage { media_type: "image/png".into(), base64: "aGk=".into() }]);
    }

    #[test]
    fn an_endless_answer_is_too_long() {
        let (turn, here) = (Turn::default(), Path::new("/w"));
        turn.begin(false);
        for _ in 0..20 {
            turn.update(said(&"x".repeat(100_000)), here);
        }
        let news = turn.take();
        assert!(news.is_too_much && news.words.len() <= MAX_ANSWER_CHARS);
    }
}
