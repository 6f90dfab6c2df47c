//! The preview of a document that defines an agent: its prompt, and each of its tools with its description. A tool can
//! be tried: its code runs as in a call, and its requests to the outside are only listed.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use egui::{CollapsingHeader, Grid, RichText, ScrollArea, Ui};
use serde_json::Value;

use super::texts;
use crate::document::{self, Parameter, ToolDefinition};
use crate::engine::{CallEvent, HostAnswer, HostRequest, LogLine, ProgramCache, RunningCall, ToolCall, ToolCode};
use crate::tools::document_runtime::DocumentRunner;
use crate::tools::schema::Checker;
use crate::ui::Command;
use crate::ui::commands::markdown;
use crate::ui::context::ViewerContext;
use crate::ui::widgets;
use crate::view::theme::Theme;

/// How soon a try that runs is looked at again.
const LOOK_SECS: f32 = 0.05;

/// The document that was read last, and what was tried of it.
#[derive(Clone, Debug, Default)]
pub(super) struct DocumentPreview {
    /// The text that was read, by its generation.
    read: Option<u64>,
    identity: String,
    tools: Vec<ToolDefinition>,
    tries: BTreeMap<String, Try>,
    programs: Arc<ProgramCache>,
}

/// One tool that is tried.
#[derive(Clone, Debug, Default)]
struct Try {
    /// What was written for its parameters, by name.
    given: BTreeMap<String, String>,
    /// What runs.
    running: Arc<Mutex<Option<RunningCall>>>,
    /// Its result: whether it succeeded, and the text.
    result: Option<(bool, String)>,
    /// What it logged, and what it would have accessed.
    told: Vec<String>,
    /// How many of these lines it logged.
    logged: usize,
}

/// What tools are tried with.
#[derive(Clone, Copy)]
struct Trying<'a> {
    /// What runs calls in this room.
    runner: &'a DocumentRunner,
    programs: &'a Arc<ProgramCache>,
    /// The time on the person's clock, in milliseconds since 1970.
    now_unix_ms: i64,
}

impl DocumentPreview {
    /// Reads a text, where it is another than before.
    pub(super) fn look(&mut self, text: &str, generation: u64) {
        if self.read == Some(generation) {
            return;
        }
        self.read = Some(generation);
        let document = document::parse(text);
        self.identity = document::identity(&document);
        self.tools = document.tools;
        self.tries.retain(|name, _| self.tools.iter().any(|tool| tool.name == *name));
    }

    /// Draws it.
    pub(super) fn show(&mut self, ui: &mut Ui, path: &str, cx: &ViewerContext<'_>, commands: &mut Vec<Command>) {
        let (theme, runner) = (cx.theme, &cx.room.settings.document_runner);
        ScrollArea::vertical().id_salt(("document", path)).auto_shrink(false).show(ui, |ui| {
            markdown(ui, &self.identity, theme, commands);
            for tool in &self.tools {
                ui.separator();
                let tried = self.tries.entry(tool.name.clone()).or_default();
                let trying = Trying { runner, programs: &self.programs, now_unix_ms: now_unix_ms() };
                tool_ui(ui, path, tool, tried, (trying, theme));
            }
            if self.tools.is_empty() {
                ui.separator();
                ui.label(widgets::soft(texts::NO_TOOLS, theme));
            }
        });
    }
}

fn tool_ui(ui: &mut Ui, path: &str, tool: &ToolDefinition, tried: &mut Try, (trying, theme): (Trying<'_>, &Theme)) {
    ui.horizontal_wrapped(|ui| {
        ui.label(RichText::new(&tool.name).monospace().strong());
        ui.label(widgets::soft(&tool.description, theme));
    });
    if !tool.parameters.is_empty() {
        Grid::new(("parameters", path, &tool.name)).num_columns(3).striped(false).show(ui, |ui| {
            for parameter in &tool.parameters {
                parameter_ui(ui, parameter, tried.given.entry(parameter.name.clone()).or_default(), theme);
                ui.end_row();
            }
        });
    }
    CollapsingHeader::new(texts::SCHEMA).id_salt(("schema", path, &tool.name)).show(ui, |ui| {
        ui.label(RichText::new(schema_text(tool)).monospace().small());
    });
    let is_running = tried.look();
    ui.horizontal(|ui| {
        let button = ui.add_enabled(!is_running, egui::Button::new(texts::TRY));
        widgets::name(&button, texts::try_tool(&tool.name));
        if button.on_hover_text(texts::TRY_TIP).clicked() {
            tried.start(path, tool, trying);
        }
        if is_running {
            ui.spinner();
            if ui.button(texts::STOP).clicked() {
                tried.stop();
            }
        }
    });
    if is_running || tried.is_running() {
        ui.ctx().request_repaint_after_secs(LOOK_SECS);
    }
    for line in &tried.told {
        ui.label(widgets::small(line, theme));
    }
    if let Some((is_good, words)) = &tried.result {
        let colour = if *is_good { theme.text } else { theme.bad };
        ui.label(RichText::new(words).monospace().color(colour));
    }
}

fn parameter_ui(ui: &mut Ui, parameter: &Parameter, given: &mut String, theme: &Theme) {
    let kind = texts::parameter_kind(parameter.kind.name(), parameter.is_required);
    ui.label(RichText::new(&parameter.name).monospace());
    ui.label(widgets::small(kind, theme));
    ui.vertical(|ui| {
        widgets::field(ui, given, &texts::value_of(&parameter.name), "");
        if !parameter.description.is_empty() {
            ui.label(widgets::small(&parameter.description, theme));
        }
    });
}

/// What a model is told of the parameters of a tool.
fn schema_text(tool: &ToolDefinition) -> String {
    serde_json::to_string_pretty(&tool.schema()).unwrap_or_default()
}

fn now_unix_ms() -> i64 {
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since_1970.as_millis()).unwrap_or(i64::MAX)
}

impl Try {
    fn running(&self) -> std::sync::MutexGuard<'_, Option<RunningCall>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_running(&self) -> bool {
        self.running().is_some()
    }

    fn stop(&mut self) {
        // Dropping it stops it.
        self.running().take();
        self.result = Some((false, texts::STOPPED.to_owned()));
    }

    /// Runs the code as a call of its agent would: in the runtime that the settings name, with the same limits. Whatever
    /// a call would ask the gate for is refused.
    fn start(&mut self, path: &str, tool: &ToolDefinition, trying: Trying<'_>) {
        self.told.clear();
        self.logged = 0;
        self.result = None;
        let given = given(&tool.parameters, &self.given);
        let checked = Checker::new(tool.schema()).and_then(|checker| checker.check(&given, &[]));
        let arguments = match checked {
            Ok(arguments) => arguments,
            Err(why) => {
                self.result = Some((false, why));
                return;
            }
        };
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned();
        let call = ToolCall {
            code: ToolCode::Written { text: tool.code.text.as_str().into(), programs: trying.programs.clone() },
            file: path.to_owned(),
            first_line: tool.code.first_line,
            arguments,
            agent_dir: folder.clone(),
            cwd: folder,
            seed: 1,
            now_unix_ms: trying.now_unix_ms,
            limits: DocumentRunner::limits(),
        };
        *self.running() = Some(trying.runner.start(call));
    }

    /// Receives the events of a test run; returns whether it is still running.
    fn look(&mut self) -> bool {
        let (mut told, mut result) = (Vec::new(), None);
        let line = |line: LogLine| format!("{}: {}", line.level, line.text);
        let mut logged = self.logged;
        {
            let mut running = self.running();
            let Some(call) = running.as_mut() else { return false };
            while let Some(news) = call.poll() {
                match news {
                    CallEvent::Asks(asked) => {
                        told.push(wish(&asked.request));
                        call.answer(asked.id, HostAnswer::Refused { reason: texts::NOTHING_IS_REACHED.to_owned() });
                    }
                    CallEvent::Logged(logged_line) => {
                        told.push(line(logged_line));
                        logged += 1;
                    }
                    CallEvent::Finished(outcome) => {
                        told.extend(outcome.log.into_iter().skip(logged).map(line));
                        result = Some(match outcome.result {
                            Ok(text) => (true, text),
                            Err(failure) => (false, failure.text),
                        });
                        break;
                    }
                }
            }
            if result.is_some() {
                running.take();
            }
        }
        self.told.extend(told);
        self.logged = logged;
        let is_over = result.is_some();
        if is_over {
            self.result = result;
        }
        !is_over
    }
}

/// An access that the code requests, as text.
fn wish(request: &HostRequest) -> String {
    match request {
        HostRequest::Fetch { method, url, .. } => texts::would_ask_url(url, method),
        HostRequest::ReadFile { path } => texts::would_read(path),
        HostRequest::WriteFile { path, content } => texts::would_write(content.chars().count(), path),
        HostRequest::Prompt { message } => texts::would_prompt(message),
    }
}

/// The inputs for parameters as a call gives them: empty optional ones are left out. Texts become numbers and flags
/// where calls are checked.
fn given(parameters: &[Parameter], written: &BTreeMap<String, String>) -> Value {
    let value = |parameter: &Parameter| {
        let text = written.get(&parameter.name).map(String::as_str).unwrap_or_default();
        (parameter.is_required || !text.is_empty()).then(|| (parameter.name.clone(), Value::from(text)))
    };
    Value::Object(parameters.iter().filter_map(value).collect())
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;
    use crate::tools::document_runtime::{DocumentSettings, Runtime};

    const DOCUMENT: &str = "# Agent: Ada\n\n## Purpose\n\nCounts.\n\n<Tool name=\"add\" description=\"Adds\">\n  <Param name=\"a\" \
        type=\"number\" />\n  <Param name=\"b\" type=\"number\" required=\"false\" />\n\n```ts\nasync function execute(params: { a: \
        number; b?: number }, ctx: any) {\n  await ctx.log('adds');\n  try { await fetch('https://example.org/x'); } catch (error) { \
        return `${params.a + (params.b ?? 1)}: ${error.message}`; }\n}\n```\n</Tool>\n";

    fn tried(given: &[(&str, &str)]) -> Try {
        let mut preview = DocumentPreview::default();
        preview.look(DOCUMENT, 1);
        assert!(preview.identity.contains("Counts."));
        let mut tried = Try {
            given: given.iter().map(|(name, text)| ((*name).into(), (*text).into())).collect(),
            ..Try::default()
        };
        let runner = DocumentRunner::default();
        let trying = Trying { runner: &runner, programs: &preview.programs, now_unix_ms: 0 };
        tried.start("agents/ada/agent.mdx", &preview.tools[0], trying);
        let begun = Instant::now();
        while tried.look() {
            assert!(begun.elapsed() < Duration::from_secs(20), "it never ended");
            std::thread::yield_now();
        }
        tried
    }

    #[test]
    fn a_try_runs_the_code_and_reaches_nothing() {
        let good = tried(&[("a", "2")]);
        assert_eq!(good.result, Some((true, format!("3: {}", texts::NOTHING_IS_REACHED))));
        assert_eq!(good.told, ["info: adds", "It would request https://example.org/x (GET)"]);
        assert_eq!(
            tried(&[("a", "2"), ("b", "5")]).result.map(|result| result.1),
            Some(format!("7: {}", texts::NOTHING_IS_REACHED))
        );
    }

    #[test]
    fn the_schema_says_what_each_parameter_is_for() {
        let mut preview = DocumentPreview::default();
        let described = DOCUMENT.replace("<Param name=\"a\"", "<Param name=\"a\" description=\"The first number\"");
        preview.look(&described, 1);
        let schema = schema_text(&preview.tools[0]);
        assert!(
            schema.contains("\"description\": \"The first number\"") && schema.contains("\"required\""),
            "{schema}"
        );
    }

    #[test]
    fn a_try_runs_in_the_runtime_of_the_settings() {
        let mut preview = DocumentPreview::default();
        preview.look(DOCUMENT, 1);
        let settings = |runtime| DocumentSettings { runtime };
        let runner = DocumentRunner::new(&settings(Runtime::Node), None);
        assert_ne!(runner, DocumentRunner::new(&settings(Runtime::BuiltIn), None));
        let mut tried = Try::default();
        tried.start(
            "agents/ada/agent.mdx",
            &preview.tools[0],
            Trying { runner: &runner, programs: &preview.programs, now_unix_ms: 0 },
        );
        assert!(!tried.is_running() && tried.result.is_some(), "values are checked before anything is started");
    }

    #[test]
    fn values_that_do_not_fit_are_told_and_nothing_runs() {
        let bad = tried(&[("a", "two")]);
        assert!(bad.result.is_some_and(|(is_good, words)| !is_good && words.contains('a')));
    }
}
