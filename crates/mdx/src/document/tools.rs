//! Assembles the tools of a document from its tags and code blocks.

use std::collections::BTreeSet;

use serde_json::Value;

use super::mask::Candidate;
use super::model::{ToolCode, ToolDefinition};
use super::parameter::{Parameter, ParameterType};
use super::tag::{Attribute, Tag, TagKind};
use crate::source::outline::{CodeBlock, Outline, is_in};
use crate::source::{ByteRange, LineIndex, SourceProblem};

/// The languages of code blocks that contain the code of a tool.
const LANGUAGES: [&str; 2] = ["typescript", "ts"];

/// Further languages that the engine runs, though other programs for such documents may not.
const ALSO_RUN: [&str; 4] = ["javascript", "js", "mjs", "mts"];

/// The maximum length of a tool's name, as model providers allow.
const MAX_NAME_CHARS: usize = 64;

/// The tools and problems of the document.
pub(super) struct Found {
    pub(super) tools: Vec<ToolDefinition>,
    /// The ranges of all tools, usable or not.
    pub(super) ranges: Vec<ByteRange>,
    pub(super) problems: Vec<SourceProblem>,
}

/// Parses the tools from the possible tags and the outline of the text.
pub(super) fn read(text: &str, lines: &LineIndex, candidates: &[Candidate], outline: &Outline) -> Found {
    let mut reader = Reader {
        text,
        lines,
        open: None,
        names: BTreeSet::new(),
        found: Found { tools: Vec::new(), ranges: Vec::new(), problems: Vec::new() },
    };
    for part in parts(candidates, outline) {
        match part {
            Part::Candidate(candidate) => reader.candidate(candidate),
            Part::Indented(candidate) => reader.indented(candidate),
            Part::Code(block) => reader.code(block),
            Part::Heading(at) => reader.finish(Some(at)),
        }
    }
    reader.finish(Some(text.len()));
    reader.found
}

enum Part<'a> {
    Candidate(&'a Candidate),
    /// A tag that is code in Markdown because it is indented.
    Indented(&'a Candidate),
    Code(&'a CodeBlock),
    Heading(usize),
}

impl Part<'_> {
    fn start(&self) -> usize {
        match self {
            Self::Candidate(candidate) | Self::Indented(candidate) => candidate.start(),
            Self::Code(block) => block.range.start,
            Self::Heading(at) => *at,
        }
    }
}

/// Returns everything that is relevant to tools, in text order.
fn parts<'a>(candidates: &'a [Candidate], outline: &'a Outline) -> Vec<Part<'a>> {
    let indented: Vec<ByteRange> =
        outline.code_blocks.iter().filter(|block| block.language.is_none()).map(|block| block.range.clone()).collect();
    let code = outline.code_blocks.iter().filter(|block| block.language.is_some()).map(Part::Code);
    let headings = outline.headings.iter().filter(|heading| heading.level <= 2);
    let tags = candidates.iter().filter_map(|candidate| {
        let at = candidate.start();
        let is_shown = is_in(&outline.shown, at);
        match is_shown {
            false => Some(Part::Candidate(candidate)),
            true => is_in(&indented, at).then_some(Part::Indented(candidate)),
        }
    });
    let mut parts: Vec<Part<'a>> =
        tags.chain(code).chain(headings.map(|heading| Part::Heading(heading.range.start))).collect();
    parts.sort_by_key(Part::start);
    parts
}

struct OpenTool {
    name: Option<(String, usize)>,
    description: Option<String>,
    parameters: Vec<Parameter>,
    code: Option<ToolCode>,
    has_code_block: bool,
    range: ByteRange,
}

struct Reader<'a> {
    text: &'a str,
    lines: &'a LineIndex,
    open: Option<OpenTool>,
    names: BTreeSet<String>,
    found: Found,
}

impl Reader<'_> {
    fn error(&mut self, at: usize, what: impl Into<String>, remedy: impl Into<String>) {
        let at = self.lines.position(self.text, at);
        self.found.problems.push(SourceProblem::error(at, what, remedy));
    }

    fn warning(&mut self, at: usize, what: impl Into<String>, remedy: impl Into<String>) {
        let at = self.lines.position(self.text, at);
        self.found.problems.push(SourceProblem::warning(at, what, remedy));
    }

    fn candidate(&mut self, candidate: &Candidate) {
        match candidate {
            Candidate::Tag(tag) => match (&*tag.name, tag.kind) {
                ("Tool", TagKind::Open) => self.open(tag),
                ("Tool", TagKind::SelfClosing) => {
                    self.open(tag);
                    self.finish(None);
                }
                ("Tool", TagKind::Close) => self.close(tag),
                (_, TagKind::Close) => {}
                _ => self.parameter(tag),
            },
            Candidate::Fault(fault) => self.error(fault.at, fault.what, fault.remedy),
            Candidate::Unknown(name, at) => {
                let what = format!("there is no component <{name}>; it is read as text");
                self.warning(*at, what, "write <Tool> and <Param>, or put it in a code block if it is an example");
            }
        }
    }

    /// Handles an indented tag. Tools never contain indented code, so their parameters may be indented in any way.
    fn indented(&mut self, candidate: &Candidate) {
        if self.open.is_some() {
            return self.candidate(candidate);
        }
        if let Candidate::Tag(tag) = candidate
            && tag.name == "Tool"
            && tag.kind != TagKind::Close
        {
            let what = "this <Tool> is indented by four columns or more, which makes it an example";
            self.warning(tag.range.start, what, "unindent it if the agent should have it");
        }
    }

    fn open(&mut self, tag: &Tag) {
        self.finish(Some(tag.range.start));
        let mut tool = OpenTool {
            name: None,
            description: None,
            parameters: Vec::new(),
            code: None,
            has_code_block: false,
            range: tag.range.clone(),
        };
        for attribute in self.known(tag, &["name", "description"]) {
            let value = self.text_of(attribute);
            match &*attribute.name {
                "name" => tool.name = value.map(|value| (value, attribute.at)),
                _ => tool.description = value,
            }
        }
        self.open = Some(tool);
    }

    fn close(&mut self, tag: &Tag) {
        match &mut self.open {
            Some(tool) => {
                tool.range.end = tag.range.end;
                self.finish(None);
            }
            None => self.warning(
                tag.range.start,
                "this </Tool> has no matching <Tool>",
                "remove it, or add the <Tool> \
                    above",
            ),
        }
    }

    /// Returns the known attributes, each once; adds a problem for each other one.
    fn known<'t>(&mut self, tag: &'t Tag, known: &[&str]) -> Vec<&'t Attribute> {
        let mut attributes: Vec<&Attribute> = Vec::new();
        for attribute in &tag.attributes {
            let name = &attribute.name;
            if !known.contains(&&**name) {
                let what = format!("<{}> has no attribute \"{name}\"; it is ignored", tag.name);
                self.warning(attribute.at, what, format!("the attributes are: {}", known.join(", ")));
            } else if attributes.iter().any(|other| other.name == *name) {
                let what = format!("the attribute \"{name}\" appears twice; the first one is used");
                self.warning(attribute.at, what, "remove one of them");
            } else {
                attributes.push(attribute);
            }
        }
        attributes
    }

    fn text_of(&mut self, attribute: &Attribute) -> Option<String> {
        match &attribute.value {
            Some(Value::String(text)) => Some(text.clone()),
            Some(Value::Bool(_)) | None => {
                let what = format!("the value of \"{}\" is not a text", attribute.name);
                self.error(attribute.at, what, format!("write {}=\"…\"", attribute.name));
                None
            }
            Some(other) => Some(other.to_string()),
        }
    }

    fn parameter(&mut self, tag: &Tag) {
        if self.open.is_none() {
            let what = "this <Param> is not inside a tool";
            return self.error(tag.range.start, what, "move it between <Tool …> and </Tool>");
        }
        let at = tag.range.start;
        let mut name = None;
        let mut parameter = Parameter {
            name: String::new(),
            kind: ParameterType::String,
            description: String::new(),
            is_required: true,
        };
        for attribute in self.known(tag, &["name", "type", "description", "required"]) {
            match &*attribute.name {
                "name" => name = self.text_of(attribute),
                "type" => parameter.kind = self.kind_of(attribute),
                "description" => parameter.description = self.text_of(attribute).unwrap_or_default(),
                _ => parameter.is_required = self.required_of(attribute),
            }
        }
        match name {
            Some(name) if is_name(&name) => parameter.name = name,
            Some(name) => {
                let what = format!("\"{name}\" is not a valid parameter name; the parameter is ignored");
                return self.error(at, what, "use letters, digits and _, at most 64");
            }
            None => return self.error(at, "this <Param> has no name", "add name=\"…\""),
        }
        let Some(tool) = &mut self.open else { return };
        tool.range.end = tool.range.end.max(tag.range.end);
        if tool.parameters.iter().any(|other| other.name == parameter.name) {
            let what = format!("the parameter \"{}\" appears twice; the first one is used", parameter.name);
            return self.warning(at, what, "rename or remove one of them");
        }
        tool.parameters.push(parameter);
    }

    fn kind_of(&mut self, attribute: &Attribute) -> ParameterType {
        let written = self.text_of(attribute).unwrap_or_default();
        ParameterType::of_name(&written).unwrap_or_else(|| {
            let what = format!("unknown type \"{written}\"; the parameter is treated as a string");
            self.warning(attribute.at, what, "write type=\"string\", type=\"number\" or type=\"boolean\"");
            ParameterType::String
        })
    }

    fn required_of(&mut self, attribute: &Attribute) -> bool {
        match &attribute.value {
            Some(Value::Bool(is_required)) => *is_required,
            Some(Value::String(text)) if text == "true" || text == "false" => text == "true",
            _ => {
                let what = "the value of \"required\" is neither true nor false; the parameter is required";
                self.warning(attribute.at, what, "write required=\"false\" if it is optional");
                true
            }
        }
    }

    fn code(&mut self, block: &CodeBlock) {
        let Some(tool) = &mut self.open else { return };
        tool.range.end = tool.range.end.max(block.range.end);
        let info = block.language.as_deref().unwrap_or_default();
        let language = info.split([' ', ',', '{']).next().unwrap_or_default().to_lowercase();
        let at = block.range.start;
        let is_first = tool.code.is_none();
        tool.has_code_block = true;
        if !LANGUAGES.contains(&&*language) && !ALSO_RUN.contains(&&*language) {
            let what = format!("the code block of a tool must be TypeScript, not \"{language}\"; it is ignored");
            return self.warning(at, what, "write ```ts above the code");
        }
        if !is_first {
            return self.warning(at, "the tool has more than one code block; the first one is used", "keep one");
        }
        let first_line = self.lines.line(block.content.start.min(self.text.len()));
        tool.code = Some(ToolCode { text: block.text.clone(), first_line, range: block.content.clone() });
        if !block.is_closed {
            self.warning(at, "the code block is not closed", "close it with the same fence that opens it");
        }
        if ALSO_RUN.contains(&&*language) {
            let what = format!(
                "the code block is marked \"{language}\"; other programs that read this format expect \
                ts"
            );
            self.warning(at, what, "write ```ts above the code");
        }
    }

    /// Ends the open tool; `forgotten` is the offset at which its missing end was noticed.
    fn finish(&mut self, forgotten: Option<usize>) {
        let Some(tool) = self.open.take() else { return };
        let at = tool.range.start;
        self.found.ranges.push(tool.range.clone());
        if forgotten.is_some() {
            self.warning(at, "this <Tool> is not closed", "write </Tool> below its code");
        }
        let Some((name, name_at)) = tool.name else {
            return self.error(at, "this <Tool> has no name", "add name=\"…\"");
        };
        if !is_tool_name(&name) {
            let what = format!("\"{name}\" is not a valid tool name");
            return self.error(name_at, what, "use letters, digits, _ and -, at most 64");
        }
        if tool.description.as_ref().is_none_or(|description| description.trim().is_empty()) {
            let what = format!("the tool \"{name}\" has no description, so a model cannot tell when to use it");
            self.warning(at, what, "add description=\"…\"");
        }
        let Some(code) = tool.code else {
            let what = format!("the tool \"{name}\" has no code");
            let remedy = if tool.has_code_block {
                "write ```ts above its code"
            } else {
                "add a ```ts block with async function execute(params, ctx) between <Tool …> and </Tool>"
            };
            return self.error(at, what, remedy);
        };
        if !defines_execute(&code.text) {
            let what = format!("the code of the tool \"{name}\" defines no function execute");
            let remedy = "write async function execute(params, ctx) { … }";
            let line = self.lines.start_of(code.first_line).unwrap_or(at);
            return self.error(line, what, remedy);
        }
        if !self.names.insert(name.clone()) {
            let what = format!("there is already a tool \"{name}\"; the first one is used");
            return self.error(name_at, what, "rename one of them");
        }
        let description = tool.description.unwrap_or_default();
        self.found.tools.push(ToolDefinition {
            name,
            description,
            parameters: tool.parameters,
            code,
            range: tool.range,
        });
    }
}

fn is_tool_name(name: &str) -> bool {
    let is_fit = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    !name.is_empty() && name.len() <= MAX_NAME_CHARS && name.chars().all(is_fit)
}

fn is_name(name: &str) -> bool {
    is_tool_name(name) && !name.starts_with(|c: char| c.is_ascii_digit() || c == '-')
}

/// Whether the code seems to define a function `execute`, judging without running it: by a definition of that name, or
/// a default export.
fn defines_execute(code: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$');
    let is_definition = |(at, word): (usize, &str)| {
        let before = code[..at].trim_end_matches(|c: char| c.is_whitespace() || c == '*');
        let start = before.rfind(|c| !is_part(c)).map_or(0, |end| end + 1);
        let is_whole = before.len() < at && !code[at + word.len()..].starts_with(is_part);
        let keyword = before.get(start..).unwrap_or_default();
        is_whole && ["function", "const", "let", "var", "as"].contains(&keyword)
    };
    code.match_indices("execute").any(is_definition) || code.contains("export default")
}
