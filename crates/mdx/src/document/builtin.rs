//! The tools that every agent with a document has, as the reference of the format lists them.

/// Their names, in the reference's order.
pub const BUILTIN_TOOLS: [&str; 3] = ["bash", "read_file", "write_file"];
