//! The skills of an agent in a chat: listed for a person, and inserted into prompts.

use super::super::Complaint;
use crate::base::text::truncate;
use crate::skills::{Skill, SkillIndex, expand};

/// The maximum length of a listed description, in characters.
const DESCRIPTION_CHARS: usize = 160;

/// The message for a person's input, with a skill in place of `/skill:NAME`.
pub(super) fn asked(skills: &SkillIndex, said: &str) -> Result<String, Complaint> {
    match expand(skills, said) {
        None => Ok(said.to_owned()),
        Some(Ok(text)) => Ok(text),
        Some(Err(error)) => Err(Complaint::usage(error).hint("list them with /skills")),
    }
}

/// All of them, one a line.
pub(super) fn listed(skills: &SkillIndex) -> String {
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
    fn a_skill_is_listed_and_put_into_what_is_asked() {
        let text = "---\nname: cook\ndescription: How to cook\n---\n\nRead {baseDir}/recipes.md first.\n";
        let found = index([SkillFile { path: "skills/cook/SKILL.md", text: Some(text) }]);
        assert_eq!(listed(&found), "/skill:cook  How to cook");
        let asked_for = asked(&found, "/skill:cook soup").expect("there should be one");
        assert!(asked_for.contains("Read skills/cook/recipes.md first.") && asked_for.contains("soup"), "{asked_for}");
        assert_eq!(asked(&found, "Hello").expect("it is no skill"), "Hello");
        assert!(asked(&found, "/skill:bake").is_err());
    }
}
