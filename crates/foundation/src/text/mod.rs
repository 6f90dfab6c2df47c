//! How files that people write are read: YAML, front matter, fences of code, and words of a command line. Each has one
//! reader here, so that every part of the program understands a file in the same way. Pure.

pub mod fence;
pub mod front_matter;
pub mod shell_words;
pub mod yaml;
mod yaml_depth;
pub mod yaml_syntax;
mod yaml_value;
