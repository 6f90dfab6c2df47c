//! Skills: documents that teach an agent something, each in its own folder with the files that it needs.
//!
//! Files are read elsewhere; here, their texts become an index, a listing for the prompt, and the text that replaces
//! `/skill:name`. Folders for other products (Agent Skills) work unchanged.

mod index;
mod lenient_front_matter;
mod prompt;

pub use index::{Skill, SkillFile, SkillIndex, SkillProblem, index};
pub use prompt::{ExpandError, expand, listing};
