//! Errors thrown by code, as text with lines of the document.

use rquickjs::{Array, Ctx, Function, Object, Value};

use super::outcome::{FailureKind, ToolFailure};
use super::strip::Program;

/// A failure is read by a model: more than this helps nobody.
const MAX_TEXT_CHARS: usize = 4000;

/// Frames of the stack that are shown.
const FRAMES_SHOWN: usize = 6;

/// The lines of code in a document.
#[derive(Clone, Debug)]
pub(super) struct CodePlace {
    /// What the document is called in messages.
    pub(super) file: String,
    /// The line of the document where the code begins, counted from 1.
    pub(super) first_line: usize,
}

impl CodePlace {
    fn line(&self, program: &Program, line: usize) -> usize {
        self.first_line + program.written_line(line).saturating_sub(1)
    }
}

/// What was thrown and is now pending in the context.
pub(super) fn caught<'js>(ctx: &Ctx<'js>, world: &Object<'js>, code: (&Program, &CodePlace)) -> ToolFailure {
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
    script_failure(&message, &stack, code)
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

/// The message, and the frames of the stack that lie in the document.
pub(super) fn script_failure(message: &str, stack: &str, (program, place): (&Program, &CodePlace)) -> ToolFailure {
    let frames: Vec<(String, usize)> = stack.lines().filter_map(|line| frame(line, program, place)).collect();
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

/// A frame of the stack, as `at execute (agent.mdx:12:5)`, with the line of the document; `None` for frames of our own
/// code.
fn frame(line: &str, program: &Program, place: &CodePlace) -> Option<(String, usize)> {
    let line = line.trim();
    let start = line.rfind(&place.file)?;
    let mut numbers = line[start + place.file.len()..].trim_end_matches(')').split(':').skip(1);
    let row: usize = numbers.next()?.parse().ok()?;
    let row = place.line(program, row);
    let column = numbers.next().filter(|column| column.parse::<usize>().is_ok());
    let column = column.map(|column| format!(":{column}")).unwrap_or_default();
    let end = if line.ends_with(')') { ")" } else { "" };
    Some((format!("{}{}:{row}{column}{end}", &line[..start], place.file), row))
}

/// What helps where something is missed that other runtimes have.
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
    use crate::engine::strip::strip;

    fn place() -> CodePlace {
        CodePlace { file: "agent.mdx".to_owned(), first_line: 40 }
    }

    #[test]
    fn frames_are_shown_with_the_lines_of_the_document() {
        let program = strip("1", 10).unwrap();
        let stack = "    at inner (agent.mdx:2:5)\n    at native (native:1:1)\n    at agent.mdx:3:1\n";
        let failure = script_failure("TypeError: no", stack, (&program, &place()));
        assert_eq!(failure.text, "TypeError: no\n    at inner (agent.mdx:41:5)\n    at agent.mdx:42:1");
        assert_eq!(failure.line, Some(41));
    }

    #[test]
    fn what_is_missed_of_other_runtimes_is_explained() {
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
