//! The skills in the folder of an agent: read when a talk begins, listed for a person, and put into what is asked.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::super::Complaint;
use crate::safe_fs;
use workshop_mdx::skills::{SkillFile, SkillIndex, expand, index};

/// Folders within the folder of the skills are looked into so far down.
const DEPTH_AT_MOST: usize = 4;
/// So many files are looked at.
const FILES_AT_MOST: usize = 2_000;
/// No skill is longer, in bytes.
const BYTES_AT_MOST: u64 = 1024 * 1024;
/// Descriptions are listed up to so many characters.
const DESCRIPTION_CHARS: usize = 160;

/// The skills below a folder of the workspace, named by paths of the workspace; with what is wrong with others.
pub(super) fn skills(workspace: &Path, folder: &str) -> (SkillIndex, Vec<String>) {
    let mut files = BTreeMap::new();
    gather(&workspace.join(folder), folder, DEPTH_AT_MOST, &mut files);
    let files = files.iter().map(|(path, text)| SkillFile { path, text: text.as_deref() });
    let found = index(files);
    let problems = found.problems.iter().map(|one| format!("{}:{}", one.path, one.problem)).collect();
    (found, problems)
}

/// The files below a folder; of those that are skills the text. No link is followed.
fn gather(folder: &Path, path: &str, depth: usize, files: &mut BTreeMap<String, Option<String>>) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries {
        let Ok(name) = entry.file_name().into_string() else { continue };
        let (full, path) = (entry.path(), format!("{path}/{name}"));
        if name.starts_with('.') || files.len() >= FILES_AT_MOST {
            continue;
        }
        match entry.file_type() {
            Ok(kind) if kind.is_dir() && depth > 0 => gather(&full, &path, depth - 1, files),
            Ok(kind) if kind.is_file() => {
                let is_skill = name.eq_ignore_ascii_case("skill.md");
                let text = is_skill.then(|| safe_fs::read_text(&full, BYTES_AT_MOST).ok().flatten()).flatten();
                files.insert(path, text);
            }
            _ => {}
        }
    }
}

/// What is asked where a person says this: a skill in place of `/skill:NAME`.
pub(super) fn asked(skills: &SkillIndex, said: &str) -> Result<String, Complaint> {
    match expand(skills, said) {
        None => Ok(said.to_owned()),
        Some(Ok(text)) => Ok(text),
        Some(Err(error)) => Err(Complaint::usage(error).hint("list them with /skills")),
    }
}

/// All of them, one a line.
pub(super) fn listed(skills: &SkillIndex) -> String {
    let line = |skill: &workshop_mdx::skills::Skill| {
        let description = crate::base::text::truncate(&skill.description, DESCRIPTION_CHARS);
        format!("/skill:{}  {description}", skill.name)
    };
    match skills.skills.as_slice() {
        [] => "There are no skills. One is a folder with a SKILL.md, in skills/ beside the agent's file.".to_owned(),
        skills => skills.iter().map(line).collect::<Vec<_>>().join("\n"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_skill_is_found_listed_and_put_into_what_is_asked() {
        let folder = tempfile::tempdir().expect("there is room");
        let skill = folder.path().join("skills/cook");
        fs::create_dir_all(&skill).expect("there is room");
        let text = "---\nname: cook\ndescription: How to cook\n---\n\nRead {baseDir}/recipes.md first.\n";
        fs::write(skill.join("SKILL.md"), text).expect("there is room");
        let (found, problems) = skills(folder.path(), "skills");
        assert_eq!(problems, [] as [String; 0]);
        assert_eq!(listed(&found), "/skill:cook  How to cook");
        let asked_for = asked(&found, "/skill:cook soup").expect("there is one");
        assert!(asked_for.contains("Read skills/cook/recipes.md first.") && asked_for.contains("soup"), "{asked_for}");
        assert_eq!(asked(&found, "Hello").expect("it is no skill"), "Hello");
        assert!(asked(&found, "/skill:bake").is_err());
    }
}
