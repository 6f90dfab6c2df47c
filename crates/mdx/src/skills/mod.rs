//! Skills: documents with instructions for a certain kind of task, each in its own folder with the files that it needs.
//!
//! The caller reads the files; this module builds an index from their texts, a listing for the prompt, and the text
//! that replaces `/skill:name`. Folders for other products (Agent Skills) work unchanged.

mod index;
mod lenient_front_matter;
mod prompt;

pub use index::{Skill, SkillFile, SkillIndex, SkillProblem, index};
pub use prompt::{ExpandError, expand, listing};
