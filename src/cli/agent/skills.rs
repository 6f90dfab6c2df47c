//! The skills of an agent in a chat: listed for a person, and inserted into prompts.

use super::super::CliError;
use crate::base::text::truncate;
use crate::skills::{Skill, SkillIndex, expand};

/// The maximum length of a listed description, in characters.
const DESCRIPTION_CHARS: usize = 160;

/// Expands `/skill:NAME` at the start of a person's input to the skill's text.
pub(super) fn expand_skill(skills: &SkillIndex, input: &str) -> Result<String, CliError> {
    match expand(skills, input) {
        None => Ok(input.to_owned()),
        Some(Ok(text)) => Ok(text),
        Some(Err(error)) => Err(CliError::usage(error).hint("list all skills with /skills")),
    }
}

/// Lists skills, one per line.
pub(super) fn list(skills: &SkillIndex) -> String {
    let line = |skill: &Skill| format!("/skill:{}  {}", skill.name, truncate(&skill.description, DESCRIPTION_CHARS));
    match skills.skills.as_slice() {
        [] => "No skills. A skill is a folder with a SKILL.md, in skills/ next to the agent's file.".to_owned(),
        skills => skills.iter().map(line).collect::<Vec<_>>().join("\n"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::skills::{SkillFile, index};

    #[test]
    fn a_skill_is_listed_and_expanded_in_a_message() {
        let text = "---\nname: cook\ndescription: How to cook\n---\n\nRead {baseDir}/recipes.md first.\n";
        let found = index([SkillFile { path: "skills/cook/SKILL.md", text: Some(text) }]);
        assert_eq!(list(&found), "/skill:cook  How to cook");
        let asked_for = expand_skill(&found, "/skill:cook soup").expect("there should be one");
        assert!(asked_for.contains("Read skills/cook/recipes.md first.") && asked_for.contains("soup"), "{asked_for}");
        assert_eq!(expand_skill(&found, "Hello").expect("it is no skill"), "Hello");
        assert!(expand_skill(&found, "/skill:bake").is_err());
    }
}
