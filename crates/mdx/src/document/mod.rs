//! The document that defines an agent: its identity in Markdown, with tools in `<Tool>` elements.
//!
//! The text is parsed as Markdown, so that an element in a code block, in `code` or in a comment is an example and
//! never a tool. Parsing a document never fails: everything invalid is a problem with its position and a remedy, and
//! the rest works. Everything has its byte range in the original text, so that an editor only changes the bytes that it
//! needs to.

mod builtin;
mod mask;
mod model;
mod parameter;
mod parse;
mod prompt;
mod sections;
mod tag;
mod tools;

#[cfg(test)]
mod tests;

pub use builtin::BUILTIN_TOOLS;
pub use model::{AgentDocument, Section, ToolCode, ToolDefinition, UNNAMED};
pub use parameter::{Parameter, ParameterType};
pub use parse::parse;
pub use prompt::identity;
