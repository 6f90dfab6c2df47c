//! The document that defines an agent: identity in Markdown, tools in `<Tool>` elements between the text.
//!
//! The text is read by a Markdown parser, so that what is shown in a code block, in `code` or in a comment is an
//! example and never a tool. A document is never an error: what cannot be understood is a problem with its place and a
//! remedy, and the rest works. Everything carries its range in bytes of the text as it stands, so that an editor
//! changes no byte that it need not.

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
