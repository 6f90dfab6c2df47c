//! Parsing of text files: lines, Markdown outline, front matter, and problems.

mod front_matter;
mod lines;
pub(crate) mod outline;
mod problem;

pub use front_matter::{FrontMatter, FrontMatterError, MAX_FRONT_MATTER_BYTES, split_front_matter};
pub use lines::{LineIndex, Position};
pub use outline::first_heading;
pub use problem::{SourceProblem, SourceSeverity};

/// A byte range of the text; the end is exclusive.
pub type ByteRange = std::ops::Range<usize>;
