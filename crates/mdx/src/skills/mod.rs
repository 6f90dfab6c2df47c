//! Skills: documents that teach an agent something, in folders of their own with what they need beside them.
//!
//! Files are read elsewhere; here their texts become an index, a listing for the prompt, and the text that
//! `/skill:name` stands for. Folders that were written for other products (Agent Skills) work as they are.

mod index;
mod lenient_front_matter;
mod prompt;

pub use index::{Skill, SkillFile, SkillIndex, SkillProblem, index};
pub use prompt::{ExpandError, expand, listing};
