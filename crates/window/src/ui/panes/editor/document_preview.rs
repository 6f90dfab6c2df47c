//! The preview of an agent document: its prompt, and its tools with their descriptions. A tool can be tested: its code
//! runs as in a call, but its requests to files and servers are only listed.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use egui::{CollapsingHeader, Grid, RichText, ScrollArea, Ui};
use serde_json::Value;

use super::texts;
use crate::base::paths::folder_of;
use crate::document::{self, Parameter, ToolDefinition};
use crate::engine::{CallEvent, HostAnswer, HostRequest, LogLine, ProgramCache, RunningCall, ToolCall, ToolCode};
use crate::tools::document_runtime::DocumentRunner;
use crate::tools::schema::Checker;
use crate::ui::Command;
use crate::ui::commands::markdown;
use crate::ui::context::ViewerContext;
use crate::ui::widgets;
use crate::view::theme::Theme;

/// Interval in seconds at which a running test is polled.
const POLL_SECS: f32 = 0.05;

/// The parsed document and the test runs of its tools.
#[derive(Clone, Debug, Default)]
pub(super) struct DocumentPreview {
    /// The generation of the parsed text.
    parsed_generation: Option<u64>,
    identity: String,
    tools: Vec<ToolDefinition>,
    test_runs: BTreeMap<String, TestRun>,
    programs: Arc<ProgramCache>,
}

/// A test run of one tool.
#[derive(Clone, Debug, Default)]
struct TestRun {
    /// The entered values, by parameter name.
    inputs: BTreeMap<String, String>,
    /// The running call.
    running: Arc<Mutex<Option<RunningCall>>>,
    /// The result: whether the run succeeded, and its text.
    result: Option<(bool, String)>,
    /// Lines that it logged, and the accesses that it requested.
    log_lines: Vec<String>,
    /// How many of these lines were logged.
    logged: usize,
}

/// The input of a test run.
#[derive(Clone, Copy)]
struct RunContext<'a> {
    /// Starts calls in this room.
    runner: &'a DocumentRunner,
    programs: &'a Arc<ProgramCache>,
    /// The current time in milliseconds since 1970.
    now_unix_ms: i64,
}

impl DocumentPreview {
    /// Parses the text if it has changed.
    pub(super) fn update(&mut self, text: &str, generation: u64) {
        if self.parsed_generation == Some(generation) {
            return;
        }
        self.parsed_generation = Some(generation);
        let document = document::parse(text);
        self.identity = document::identity(&document);
        self.tools = document.tools;
        self.test_runs.retain(|name, _| self.tools.iter().any(|tool| tool.name == *name));
    }

    /// Draws the preview.
    pub(super) fn show(&mut self, ui: &mut Ui, path: &str, cx: &ViewerContext<'_>, commands: &mut Vec<Command>) {
        let (theme, runner) = (cx.theme, &cx.room.settings.document_runner);
        ScrollArea::vertical().id_salt(("document", path)).auto_shrink(false).show(ui, |ui| {
            markdown(ui, &self.identity, theme, commands);
            for tool in &self.tools {
                ui.separator();
                let test_run = self.test_runs.entry(tool.name.clone()).or_default();
                let context = RunContext { runner, programs: &self.programs, now_unix_ms: now_unix_ms() };
                tool_ui(ui, path, tool, test_run, (context, theme));
            }
            if self.tools.is_empty() {
                ui.separator();
                ui.label(widgets::secondary_text(texts::NO_TOOLS, theme));
            }
        });
    }
}

fn tool_ui(
    ui: &mut Ui,
    path: &str,
    tool: &ToolDefinition,
    test_run: &mut TestRun,
    (context, theme): (RunContext<'_>, &Theme),
) {
    ui.horizontal_wrapped(|ui| {
        ui.label(RichText::new(&tool.name).monospace().strong());
        ui.label(widgets::secondary_text(&tool.description, theme));
    });
    if !tool.parameters.is_empty() {
        Grid::new(("parameters", path, &tool.name)).num_columns(3).striped(false).show(ui, |ui| {
            for parameter in &tool.parameters {
                parameter_ui(ui, parameter, test_run.inputs.entry(parameter.name.clone()).or_default(), theme);
                ui.end_row();
            }
        });
    }
    CollapsingHeader::new(texts::SCHEMA).id_salt(("schema", path, &tool.name)).show(ui, |ui| {
        ui.label(RichText::new(schema_text(tool)).monospace().small());
    });
    let is_running = test_run.poll();
    ui.horizontal(|ui| {
        let button = ui.add_enabled(!is_running, egui::Button::new(texts::TRY));
        widgets::name(&button, texts::try_tool(&tool.name));
        if button.on_hover_text(texts::TRY_TIP).clicked() {
            test_run.start(path, tool, context);
        }
        if is_running {
            ui.spinner();
            if ui.button(texts::STOP).clicked() {
                test_run.stop();
            }
        }
    });
    if is_running || test_run.is_running() {
        ui.ctx().request_repaint_after_secs(POLL_SECS);
    }
    for line in &test_run.log_lines {
        ui.label(widgets::small(line, theme));
    }
    if let Some((is_ok, text)) = &test_run.result {
        let colour = if *is_ok { theme.text } else { theme.bad };
        ui.label(RichText::new(text).monospace().color(colour));
    }
}

fn parameter_ui(ui: &mut Ui, parameter: &Parameter, input: &mut String, theme: &Theme) {
    let kind = texts::parameter_kind(parameter.kind.name(), parameter.is_required);
    ui.label(RichText::new(&parameter.name).monospace());
    ui.label(widgets::small(kind, theme));
    ui.vertical(|ui| {
        widgets::field(ui, input, &texts::value_of(&parameter.name), "");
        if !parameter.description.is_empty() {
            ui.label(widgets::small(&parameter.description, theme));
        }
    });
}

/// Returns the schema of the parameters that a model receives.
fn schema_text(tool: &ToolDefinition) -> String {
    serde_json::to_string_pretty(&tool.schema()).unwrap_or_default()
}

fn now_unix_ms() -> i64 {
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since_1970.as_millis()).unwrap_or(i64::MAX)
}

impl TestRun {
    fn running(&self) -> std::sync::MutexGuard<'_, Option<RunningCall>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_running(&self) -> bool {
        self.running().is_some()
    }

    fn stop(&mut self) {
        // Dropping the call stops it.
        self.running().take();
        self.result = Some((false, texts::STOPPED.to_owned()));
    }

    /// Runs the code as a call of its agent would: in the configured runtime and with the same limits. Every access to
    /// files or servers is refused.
    fn start(&mut self, path: &str, tool: &ToolDefinition, context: RunContext<'_>) {
        self.log_lines.clear();
        self.logged = 0;
        self.result = None;
        let inputs = inputs(&tool.parameters, &self.inputs);
        let checked = Checker::new(tool.schema()).and_then(|checker| checker.check(&inputs, &[]));
        let arguments = match checked {
            Ok(arguments) => arguments,
            Err(why) => {
                self.result = Some((false, why));
                return;
            }
        };
        let folder = folder_of(path).to_owned();
        let call = ToolCall {
            code: ToolCode::Written { text: tool.code.text.as_str().into(), programs: context.programs.clone() },
            file: path.to_owned(),
            first_line: tool.code.first_line,
            arguments,
            agent_dir: folder.clone(),
            cwd: folder,
            seed: 1,
            now_unix_ms: context.now_unix_ms,
            limits: DocumentRunner::limits(),
        };
        *self.running() = Some(context.runner.start(call));
    }

    /// Processes the events of a test run, and returns whether it is still running.
    fn poll(&mut self) -> bool {
        let (mut log_lines, mut result) = (Vec::new(), None);
        let line = |line: LogLine| format!("{}: {}", line.level, line.text);
        let mut logged = self.logged;
        {
            let mut running = self.running();
            let Some(call) = running.as_mut() else { return false };
            while let Some(event) = call.poll() {
                match event {
                    CallEvent::Asks(host_call) => {
                        log_lines.push(describe_request(&host_call.request));
                        call.answer(host_call.id, HostAnswer::Refused { reason: texts::ACCESS_REFUSED.to_owned() });
                    }
                    CallEvent::Logged(logged_line) => {
                        log_lines.push(line(logged_line));
                        logged += 1;
                    }
                    CallEvent::Finished(outcome) => {
                        log_lines.extend(outcome.log.into_iter().skip(logged).map(line));
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
        self.log_lines.extend(log_lines);
        self.logged = logged;
        let is_finished = result.is_some();
        if is_finished {
            self.result = result;
        }
        !is_finished
    }
}

/// Describes an access that the code requests.
fn describe_request(request: &HostRequest) -> String {
    match request {
        HostRequest::Fetch { method, url, .. } => texts::would_request(url, method),
        HostRequest::ReadFile { path } => texts::would_read(path),
        HostRequest::WriteFile { path, content } => texts::would_write(content.chars().count(), path),
        HostRequest::Prompt { message } => texts::would_prompt(message),
    }
}

/// Returns the entered values as a call passes them, without empty optional ones. They are all texts; checking the call
/// converts them to numbers and flags.
fn inputs(parameters: &[Parameter], values: &BTreeMap<String, String>) -> Value {
    let value = |parameter: &Parameter| {
        let text = values.get(&parameter.name).map(String::as_str).unwrap_or_default();
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

    fn test_run(inputs: &[(&str, &str)]) -> TestRun {
        let mut preview = DocumentPreview::default();
        preview.update(DOCUMENT, 1);
        assert!(preview.identity.contains("Counts."));
        let mut test_run = TestRun {
            inputs: inputs.iter().map(|(name, text)| ((*name).into(), (*text).into())).collect(),
            ..TestRun::default()
        };
        let runner = DocumentRunner::default();
        let context = RunContext { runner: &runner, programs: &preview.programs, now_unix_ms: 0 };
        test_run.start("agents/ada/agent.mdx", &preview.tools[0], context);
        let started = Instant::now();
        while test_run.poll() {
            assert!(started.elapsed() < Duration::from_secs(20), "it never ended");
            std::thread::yield_now();
        }
        test_run
    }

    #[cfg(feature = "typescript")]
    #[test]
    fn a_test_run_executes_the_code_without_access_to_anything() {
        let good = test_run(&[("a", "2")]);
        assert_eq!(good.result, Some((true, format!("3: {}", texts::ACCESS_REFUSED))));
        assert_eq!(good.log_lines, ["info: adds", "It would request https://example.org/x (GET)"]);
        assert_eq!(
            test_run(&[("a", "2"), ("b", "5")]).result.map(|result| result.1),
            Some(format!("7: {}", texts::ACCESS_REFUSED))
        );
    }

    #[test]
    fn the_schema_contains_the_parameter_descriptions() {
        let mut preview = DocumentPreview::default();
        let described = DOCUMENT.replace("<Param name=\"a\"", "<Param name=\"a\" description=\"The first number\"");
        preview.update(&described, 1);
        let schema = schema_text(&preview.tools[0]);
        assert!(
            schema.contains("\"description\": \"The first number\"") && schema.contains("\"required\""),
            "{schema}"
        );
    }

    #[test]
    fn a_test_run_uses_the_configured_runtime() {
        let mut preview = DocumentPreview::default();
        preview.update(DOCUMENT, 1);
        let settings = |runtime| DocumentSettings { runtime };
        let runner = DocumentRunner::new(&settings(Runtime::Node), None);
        assert_ne!(runner, DocumentRunner::new(&settings(Runtime::BuiltIn), None));
        let mut test_run = TestRun::default();
        test_run.start(
            "agents/ada/agent.mdx",
            &preview.tools[0],
            RunContext { runner: &runner, programs: &preview.programs, now_unix_ms: 0 },
        );
        assert!(!test_run.is_running() && test_run.result.is_some(), "values are checked before anything is started");
    }

    #[test]
    fn invalid_values_are_reported_and_nothing_runs() {
        let bad = test_run(&[("a", "two")]);
        assert!(bad.result.is_some_and(|(is_ok, text)| !is_ok && text.contains('a')));
    }
}
