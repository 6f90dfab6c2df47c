//! Errors thrown by code, as text with lines of the document.

use std::sync::Arc;

use rquickjs::{Array, Ctx, Function, Object, Value};

use super::outcome::{FailureKind, ToolFailure};
use super::program::Program;

/// The maximum length of a failure in characters: a longer one does not help the model that reads it.
const MAX_TEXT_CHARS: usize = 4000;

/// The maximum number of stack frames that are shown.
const FRAMES_SHOWN: usize = 6;

/// A file whose code runs, or the document that contains the code.
#[derive(Clone, Debug)]
pub(super) struct Source {
    /// The name in messages.
    pub(super) file: String,
    /// The line at which the code begins, counted from 1.
    pub(super) first_line: usize,
    /// The code.
    pub(super) program: Arc<Program>,
}

impl Source {
    fn line(&self, line: usize) -> usize {
        self.first_line + self.program.written_line(line).saturating_sub(1)
    }
}

/// Describes the pending exception of the context.
pub(super) fn caught<'js>(ctx: &Ctx<'js>, world: &Object<'js>, sources: &[Source]) -> ToolFailure {
    let thrown = ctx.catch();
    if thrown.is_null() {
        let text = "the tool needs more memory than it may use, or it threw null";
        return ToolFailure::new(FailureKind::Memory, text);
    }
    let (message, stack) = describe(ctx, world, thrown)
        .unwrap_or_else(|| ("the tool threw something that cannot be shown".to_owned(), String::new()));
    let message = match hint(&message) {
        Some(hint) => format!("{message} ({hint})"),
        None => message,
    };
    script_failure(&message, &stack, sources)
}

fn describe<'js>(ctx: &Ctx<'js>, world: &Object<'js>, thrown: Value<'js>) -> Option<(String, String)> {
    let describe: Function<'js> = world.get("describe").ok()?;
    let both: Option<Array<'js>> = describe.call((thrown,)).ok();
    if both.is_none() {
        drop(ctx.catch());
    }
    let both = both?;
    let text = |at| both.get::<rquickjs::String<'js>>(at).ok()?.to_string().ok();
    Some((text(0)?, text(1).unwrap_or_default()))
}

/// Returns the message, and the stack frames in these files.
pub(super) fn script_failure(message: &str, stack: &str, sources: &[Source]) -> ToolFailure {
    let frames: Vec<(String, usize)> = stack.lines().filter_map(|line| frame(line, sources)).collect();
    let line = frames.first().map(|(_, line)| *line);
    let mut text = message.to_owned();
    for (shown, _) in frames.iter().take(FRAMES_SHOWN) {
        text.push_str("\n    ");
        text.push_str(shown);
    }
    if text.chars().count() > MAX_TEXT_CHARS {
        text = text.chars().take(MAX_TEXT_CHARS).chain(['…']).collect();
    }
    ToolFailure { kind: FailureKind::Threw, text, line }
}

/// Formats a stack frame, such as `at execute (agent.mdx:12:5)`, with its source line; `None` for frames of the
/// prelude.
fn frame(line: &str, sources: &[Source]) -> Option<(String, usize)> {
    let line = line.trim();
    // If one path is a suffix of another, the longer one is meant.
    let found = sources.iter().filter_map(|source| Some((source, line.rfind(&format!("{}:", source.file))?)));
    let (source, start) = found.max_by_key(|(source, _)| source.file.len())?;
    let mut numbers = line[start + source.file.len()..].trim_end_matches(')').split(':').skip(1);
    let row: usize = numbers.next()?.parse().ok()?;
    let row = source.line(row);
    let column = numbers.next().filter(|column| column.parse::<usize>().is_ok());
    let column = column.map(|column| format!(":{column}")).unwrap_or_default();
    let end = if line.ends_with(')') { ")" } else { "" };
    Some((format!("{}{}:{row}{column}{end}", &line[..start], source.file), row))
}

/// Returns a hint for code that uses something that only other runtimes have.
fn hint(message: &str) -> Option<&'static str> {
    let missed =
        |name: &str| message.contains(&format!("{name} is not defined")) || message.contains(&format!("'{name}'"));
    if ["process", "require", "module", "Buffer", "__dirname"].into_iter().any(missed) {
        return Some("Node is not available; use ctx.agentDir, ctx.readFile, ctx.writeFile and fetch");
    }
    if ["Bun", "Deno"].into_iter().any(missed) {
        return Some("this runtime is not available; use ctx.readFile, ctx.writeFile and fetch");
    }
    if ["window", "document", "localStorage"].into_iter().any(missed) {
        return Some("there is no browser");
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(file: &str, first_line: usize) -> Source {
        Source { file: file.to_owned(), first_line, program: Arc::new(Program::default()) }
    }

    #[test]
    fn frames_are_shown_with_the_lines_of_the_document() {
        let stack = "    at inner (agent.mdx:2:5)\n    at native (native:1:1)\n    at agent.mdx:3:1\n";
        let failure = script_failure("TypeError: no", stack, &[source("agent.mdx", 40)]);
        assert_eq!(failure.text, "TypeError: no\n    at inner (agent.mdx:41:5)\n    at agent.mdx:42:1");
        assert_eq!(failure.line, Some(41));
    }

    #[test]
    fn each_frame_belongs_to_its_own_file() {
        let sources = [source("a.ts", 1), source("lib/a.ts", 10), source("b.ts", 1)];
        let stack = "    at deep (lib/a.ts:2:5)\n    at <anonymous> (a.ts:7:1)\n    at other (c.ts:1:1)\n";
        let failure = script_failure("Error: no", stack, &sources);
        assert_eq!(failure.text, "Error: no\n    at deep (lib/a.ts:11:5)\n    at <anonymous> (a.ts:7:1)");
    }

    #[test]
    fn missing_features_of_other_runtimes_are_explained() {
        for (message, words) in [
            ("ReferenceError: process is not defined", "Node is not available"),
            ("ReferenceError: 'Bun' is not defined", "this runtime is not available"),
            ("ReferenceError: document is not defined", "there is no browser"),
        ] {
            assert!(hint(message).is_some_and(|hint| hint.contains(words)), "{message}");
        }
        assert_eq!(hint("Error: x"), None);
    }
}
