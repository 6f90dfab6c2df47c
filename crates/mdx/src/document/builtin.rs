//! The tools that every agent with a document has, according to the specification of the format.

/// The names, in the order of the specification.
pub const BUILTIN_TOOLS: [&str; 3] = ["bash", "read_file", "write_file"];
