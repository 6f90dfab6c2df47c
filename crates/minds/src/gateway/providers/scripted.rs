//! The scripted provider: plays the turns of a YAML script, for demonstrations and tests.
//!
//! Turns are used in order per agent, then `default` repeats. A turn with `when` waits, without blocking later ones,
//! until a request matches; it is used once unless it has `repeat: true`. It is matched against the last message of any
//! role, together with the messages of the same role directly before it: for example, all results of parallel tool
//! calls.
//!
//! The position of an agent in its script is sent with each request and returned with the answer: the world stores it,
//! so that a room that was stopped at any moment continues where it was.
//!
//! `tools` plays calls; arguments given as text are parsed like a model's, so `"{oops"` is kept as text.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Map, Value};

use super::provider::{ProviderRequest, SimulatedAnswer, SimulatedError, SimulatedProvider};
use super::tool_call_assembly::parse;
use crate::base::Problem;
use crate::base::hash::content_hash;
use crate::base::text::{estimate_tokens, nearest, tokens_of_chars};
use crate::mind::{CallKind, Completion, Finish, Prompt, PromptMessage, Role, ScriptPlace, ToolCall, Usage};
use crate::safe_fs;
use crate::workspace::yaml;

/// The default duration of a reply, in simulated seconds.
const DEFAULT_LATENCY_SECS: f32 = 0.4;
/// The longest latency that a script may set, in simulated seconds.
const LONGEST_LATENCY_SECS: f32 = 3_600.0;

const SCRIPT_KEYS: [&str; 3] = ["latency", "agents", "default"];
const TURN_KEYS: [&str; 6] = ["text", "tools", "error", "latency", "when", "repeat"];
const TOOL_KEYS: [&str; 2] = ["name", "arguments"];
const ERROR_KEYS: [&str; 3] = ["status", "retry_after", "message"];
const WHEN_KEYS: [&str; 2] = ["kind", "contains"];

/// One turn of a script.
#[derive(Clone, Default, Debug)]
struct Turn {
    text: String,
    tools: Vec<(String, Value)>,
    error: Option<SimulatedError>,
    latency_secs: Option<f32>,
    kind: Option<CallKind>,
    contains: Option<String>,
    repeat: bool,
}

impl Turn {
    fn fits(&self, request: &ProviderRequest, moment: &str) -> bool {
        // Requests for memories and of servers are only answered by turns that are meant for them.
        let is_usual = !matches!(request.kind, CallKind::Learning | CallKind::Sampling);
        let kind_fits = self.kind.map_or(is_usual, |kind| kind == request.kind);
        kind_fits && self.contains.as_ref().is_none_or(|wanted| moment.contains(&wanted.to_lowercase()))
    }
}

/// The turns of one agent or profile.
#[derive(Clone, Default, Debug)]
struct Part {
    turns: Vec<Turn>,
}

/// Marks a turn of its part as used by an agent. All turns before `before` are used, so that a long script is not
/// searched from its start each time.
fn mark(place: &mut ScriptPlace, at: usize) {
    if let Err(index) = place.used.binary_search(&at) {
        place.used.insert(index, at);
    }
    while place.used.first() == Some(&place.before) {
        place.used.remove(0);
        place.before += 1;
    }
}

/// A provider that plays a script.
#[derive(Clone, Debug)]
pub struct ScriptedProvider {
    latency_secs: f32,
    agents: BTreeMap<String, Part>,
    default: Vec<Turn>,
    /// The hash of the script.
    script: u64,
    /// The positions of agents whose requests contain none.
    places: BTreeMap<String, ScriptPlace>,
}

/// The maximum size of a script in bytes.
const MAX_SCRIPT_BYTES: u64 = 16 << 20;

impl ScriptedProvider {
    /// Reads a script from a file; all its problems are reported at once. Anything but a regular file is a problem,
    /// too: reading a pipe could block forever, and a device has no end.
    pub fn from_file(file: &str) -> Result<Self, Vec<Problem>> {
        let problem = |what: String| vec![Problem::error(file, what, "name a script that can be read: scripted:FILE")];
        let text = safe_fs::read_text(Path::new(file), MAX_SCRIPT_BYTES).map_err(|error| problem(error.to_string()))?;
        Self::from_yaml(&text.ok_or_else(|| problem("there is no such file".to_owned()))?, file)
    }

    /// Parses a script. `place` is its path, for the problems; all of them are reported at once.
    pub fn from_yaml(text: &str, place: &str) -> Result<Self, Vec<Problem>> {
        let value = yaml::parse(text).map_err(|error| {
            let problem = Problem::error(
                place,
                format!("is invalid YAML: {}", error.what),
                "fix this line, or start from the example in docs/agents.md",
            );
            vec![problem.at_line(error.line)]
        })?;
        let mut script = Self {
            latency_secs: DEFAULT_LATENCY_SECS,
            agents: BTreeMap::new(),
            default: Vec::new(),
            script: content_hash(text.as_bytes()),
            places: BTreeMap::new(),
        };
        let mut parser = Parser { text, place, problems: Vec::new() };
        parser.script(&value, &mut script);
        if parser.problems.is_empty() { Ok(script) } else { Err(parser.problems) }
    }

    fn turn_for(&self, request: &ProviderRequest, place: &mut ScriptPlace) -> Option<Turn> {
        let moment = moment_of(&request.prompt);
        if let Some(part) = self.agents.get(&request.agent).or_else(|| self.agents.get(&request.profile)) {
            let is_left = |at: &usize| place.used.binary_search(at).is_err();
            let mut left = place.before..part.turns.len();
            if let Some(at) = left.find(|at| is_left(at) && part.turns[*at].fits(request, &moment)) {
                if !part.turns[at].repeat {
                    mark(place, at);
                }
                return Some(part.turns[at].clone());
            }
        }
        let count = self.default.len();
        let next = place.next_default;
        let at = (0..count).map(|step| (next + step) % count).find(|at| self.default[*at].fits(request, &moment))?;
        place.next_default = at + 1;
        Some(self.default[at].clone())
    }

    /// Returns the position of an agent in this script; the start if its position belongs to another script.
    fn place_of(&self, request: &ProviderRequest) -> ScriptPlace {
        let known = request.script.as_ref().or_else(|| self.places.get(&request.agent));
        let known = known.filter(|place| place.script == self.script).cloned();
        known.unwrap_or(ScriptPlace { script: self.script, ..ScriptPlace::default() })
    }
}

/// Returns the text that conditions are matched against: the last message, and those of the same role directly before
/// it, in lower case, without the room's further context.
fn moment_of(prompt: &Prompt) -> String {
    let moment = Some(&prompt.moment).filter(|moment| !moment.is_empty());
    let moment = moment.map(|moment| PromptMessage::plain(Role::User, moment));
    let messages: Vec<PromptMessage> = prompt.history.iter().cloned().chain(moment).collect();
    let last_role = messages.last().map(|message| message.role);
    let first = messages.iter().rposition(|message| Some(message.role) != last_role).map_or(0, |before| before + 1);
    messages[first..].iter().map(|message| message.text.to_lowercase()).collect::<Vec<_>>().join("\n")
}

impl SimulatedProvider for ScriptedProvider {
    fn answer(&mut self, request: &ProviderRequest) -> SimulatedAnswer {
        let mut place = self.place_of(request);
        let turn = self.turn_for(request, &mut place).unwrap_or_else(|| silence(request));
        let latency_secs = turn.latency_secs.unwrap_or(self.latency_secs);
        let mut tool_calls = Vec::new();
        for (name, arguments) in turn.tools {
            place.calls += 1;
            tool_calls.push(ToolCall::new(format!("call-{}", place.calls), name, arguments));
        }
        if request.script.is_none() {
            self.places.insert(request.agent.clone(), place.clone());
        }
        let script = Some(place);
        if let Some(error) = turn.error {
            return SimulatedAnswer { outcome: Err(error), latency_secs, script };
        }
        let called = tool_calls.iter().map(ToolCall::chars).sum();
        let output_tokens = estimate_tokens(&turn.text).saturating_add(tokens_of_chars(called));
        let usage = Usage { input_tokens: request.estimated_input_tokens(), output_tokens, ..Usage::default() };
        let finish = if tool_calls.is_empty() { Finish::Stop } else { Finish::ToolCalls };
        let completion = Completion { text: turn.text, tool_calls, usage, finish, told: None };
        SimulatedAnswer { outcome: Ok(completion), latency_secs, script }
    }
}

/// An empty list.
const NOTHING_LEARNED: &str = "[]";

/// Returns the reply if the script has none: for memories, that there is nothing worth remembering.
fn silence(request: &ProviderRequest) -> Turn {
    let text = if request.kind == CallKind::Learning { NOTHING_LEARNED.to_owned() } else { String::new() };
    Turn { text, ..Turn::default() }
}

/// Parses a script's values and collects the problems.
struct Parser<'t> {
    text: &'t str,
    place: &'t str,
    problems: Vec<Problem>,
}

impl Parser<'_> {
    fn script(&mut self, value: &Value, script: &mut ScriptedProvider) {
        let Some(keys) = self.map(value, "the script", &SCRIPT_KEYS) else { return };
        if let Some(latency) = keys.get("latency") {
            script.latency_secs = self.latency(latency).unwrap_or(DEFAULT_LATENCY_SECS);
        }
        if let Some(turns) = keys.get("default") {
            script.default = self.turns(turns, "default");
        }
        match keys.get("agents") {
            None => {}
            Some(Value::Object(agents)) => {
                for (agent, turns) in agents {
                    let turns = self.turns(turns, agent);
                    script.agents.insert(agent.clone(), Part { turns });
                }
            }
            Some(_) => self.wrong(
                "agents",
                "`agents` is not a map",
                "write the id of an agent or profile, a colon, and its turns below",
            ),
        }
    }

    fn turns(&mut self, value: &Value, whose: &str) -> Vec<Turn> {
        match value {
            Value::Array(turns) => turns.iter().filter_map(|turn| self.turn(turn, whose)).collect(),
            _ => {
                self.wrong(whose, &format!("the turns of `{whose}` are not a list"), "start each turn with `- `");
                Vec::new()
            }
        }
    }

    fn turn(&mut self, value: &Value, whose: &str) -> Option<Turn> {
        if let Value::String(text) = value {
            return Some(Turn { text: text.clone(), ..Turn::default() });
        }
        let keys = self.map(value, &format!("a turn of `{whose}`"), &TURN_KEYS)?;
        let mut turn = Turn::default();
        if let Some(text) = keys.get("text") {
            turn.text = self.string(text, "text").unwrap_or_default();
        }
        if let Some(tools) = keys.get("tools") {
            turn.tools = self.tools(tools);
        }
        if let Some(error) = keys.get("error") {
            turn.error = self.error(error);
        }
        if let Some(latency) = keys.get("latency") {
            turn.latency_secs = self.latency(latency);
        }
        if let Some(when) = keys.get("when") {
            self.when(when, &mut turn);
        }
        match keys.get("repeat") {
            None => {}
            Some(Value::Bool(repeat)) => turn.repeat = *repeat,
            Some(_) => self.wrong("repeat", "`repeat` is not true or false", "write `repeat: true`"),
        }
        if !["text", "tools", "error"].iter().any(|key| keys.contains_key(*key)) {
            self.wrong(whose, &format!("a turn of `{whose}` is empty"), "give it `text`, `tools` or `error`");
        }
        Some(turn)
    }

    fn tools(&mut self, value: &Value) -> Vec<(String, Value)> {
        let Value::Array(tools) = value else {
            self.wrong("tools", "`tools` is not a list", "write `tools: [ { name: …, arguments: { … } } ]`");
            return Vec::new();
        };
        let mut found = Vec::new();
        for tool in tools {
            let Some(keys) = self.map(tool, "a tool call", &TOOL_KEYS) else { continue };
            let arguments = match keys.get("arguments") {
                None => Value::Object(Map::new()),
                Some(Value::String(text)) => parse(text.clone()),
                Some(arguments) => arguments.clone(),
            };
            match keys.get("name") {
                Some(Value::String(name)) => found.push((name.clone(), arguments)),
                _ => self.wrong("tools", "a tool call has no name", "add `name: ` and the name of the tool"),
            }
        }
        found
    }

    fn error(&mut self, value: &Value) -> Option<SimulatedError> {
        let keys = self.map(value, "an error", &ERROR_KEYS)?;
        let status = keys.get("status").and_then(Value::as_u64).and_then(|status| u16::try_from(status).ok());
        let Some(status) = status.filter(|status| (400..600).contains(status)) else {
            self.wrong("error", "an error has no status between 400 and 599", "write `error: { status: 429 }`");
            return None;
        };
        let retry_after_secs = keys.get("retry_after").and_then(|value| self.latency(value));
        let message = keys.get("message").and_then(|value| self.string(value, "message"));
        let message = message.unwrap_or_else(|| format!("the script answers with status {status}"));
        Some(SimulatedError { status, retry_after_secs, message })
    }

    fn when(&mut self, value: &Value, turn: &mut Turn) {
        let Some(keys) = self.map(value, "`when`", &WHEN_KEYS) else { return };
        turn.contains = keys.get("contains").and_then(|value| self.string(value, "contains"));
        let Some(kind) = keys.get("kind").and_then(|value| self.string(value, "kind")) else { return };
        turn.kind = CallKind::ALL.into_iter().find(|known| known.as_str() == kind);
        if turn.kind.is_none() {
            let words = CallKind::ALL.map(CallKind::as_str);
            let remedy = suggestion(&kind, &words);
            self.wrong(&kind, &format!("there is no kind of call `{kind}`"), &remedy);
        }
    }

    fn map<'v>(&mut self, value: &'v Value, what: &str, known: &[&str]) -> Option<&'v Map<String, Value>> {
        let Value::Object(keys) = value else {
            self.wrong("", &format!("{what} is not a map"), &format!("use the keys {}", known.join(", ")));
            return None;
        };
        for key in keys.keys().filter(|key| !known.contains(&key.as_str())) {
            self.wrong(key, &format!("unknown key `{key}` in {what}"), &suggestion(key, known));
        }
        Some(keys)
    }

    fn string(&mut self, value: &Value, key: &str) -> Option<String> {
        let text = value.as_str().map(str::to_owned);
        if text.is_none() {
            self.wrong(key, &format!("`{key}` is not text"), "put it in quotation marks");
        }
        text
    }

    fn latency(&mut self, value: &Value) -> Option<f32> {
        let secs = value.as_f64().map(|secs| secs as f32).filter(|secs| (0.0..=LONGEST_LATENCY_SECS).contains(secs));
        if secs.is_none() {
            self.wrong(
                "latency",
                &format!("`{value}` is not a number of seconds"),
                "write a number between 0 and 3600",
            );
        }
        secs
    }

    /// Adds a problem at the first line that begins with this key.
    fn wrong(&mut self, key: &str, what: &str, remedy: &str) {
        let begins = |line: &str| {
            let line = line.trim_start().trim_start_matches(['-', '{', ' ']);
            line.strip_prefix(key).is_some_and(|rest| rest.trim_start().starts_with(':'))
                || line.contains(&format!(" {key}:"))
        };
        let line = self.text.lines().position(|line| !key.is_empty() && begins(line)).map(|index| index + 1);
        self.problems.push(Problem::error(self.place, what, remedy).at_line(line));
    }
}

fn suggestion(word: &str, known: &[&str]) -> String {
    match nearest(word, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("use one of {}", known.join(", ")),
    }
}

#[cfg(test)]
#[path = "scripted_tests.rs"]
mod tests;
