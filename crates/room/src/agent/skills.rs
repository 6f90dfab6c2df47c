//! The skills of agents: those in the workspace's `skills/`, and those next to the document of an agent in a folder.
//! They are indexed when the room is opened and when one of their files changes.

use std::collections::{BTreeMap, BTreeSet};

use bevy::ecs::prelude::*;

use super::agent_file::folder_of_agent;
use super::mdx_file::problem_of;
use super::profile::AgentProfile;
use crate::base::Problem;
use crate::skills::{ExpandError, Skill, SkillFile, SkillIndex, expand, index, listing};
use crate::workspace::{FileChanged, KnownFiles, ProblemReport};

/// The folder of skills, each in a folder of its own.
const SKILLS: &str = "skills";

/// All skills of the room, by the folder that contains their `skills/`; the workspace's own under an empty path.
#[derive(Resource, Clone, Debug, Default)]
pub struct KnownSkills(BTreeMap<String, SkillIndex>);

impl KnownSkills {
    /// Indexes the skills in these files.
    pub fn of_files<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let mut homes: BTreeMap<&str, Vec<SkillFile>> = BTreeMap::new();
        for (path, text) in files {
            if let Some(home) = home(path) {
                homes.entry(home).or_default().push(SkillFile { path, text: Some(text) });
            }
        }
        Self(homes.into_iter().map(|(home, files)| (home.to_owned(), index(files))).collect())
    }

    /// The skills of an agent whose file has this path: its own, and those of the workspace, limited to the ones that
    /// its file names, if any. Its own take precedence over those with the same name.
    pub fn of_agent(&self, path: &str, profile: &AgentProfile) -> SkillIndex {
        let own = folder_of_agent(path).and_then(|folder| self.0.get(folder));
        let mut skills: Vec<Skill> = own.into_iter().flat_map(|own| own.skills.iter().cloned()).collect();
        let is_wanted = |skill: &&Skill| profile.skills.is_empty() || profile.skills.contains(&skill.name);
        for skill in self.0.get("").into_iter().flat_map(|shared| &shared.skills).filter(is_wanted) {
            if !skills.iter().any(|own| own.name == skill.name) {
                skills.push(skill.clone());
            }
        }
        SkillIndex { skills, problems: Vec::new() }
    }

    /// The section of an agent's prompt that lists its skills, which it reads with this tool; empty if it has none. The
    /// agent's paths start at `folder`; empty for the workspace.
    pub fn listing(&self, path: &str, profile: &AgentProfile, (tool, folder): (&str, &str)) -> String {
        listing(&self.of_agent(path, profile).seen_from(folder), tool)
    }

    /// Expands a person's message to an agent: `/skill:name words` becomes the skill followed by the words; `None` for
    /// anything else. The agent's paths start at `folder`; empty for the workspace.
    pub fn expand(
        &self,
        path: &str,
        profile: &AgentProfile,
        (said, folder): (&str, &str),
    ) -> Option<Result<String, ExpandError>> {
        expand(&self.of_agent(path, profile).seen_from(folder), said)
    }

    /// The problems of the skills in the `skills/` of this folder.
    fn problems(&self, home: &str) -> Vec<Problem> {
        let told = self.0.get(home).into_iter().flat_map(|index| &index.problems);
        told.map(|told| problem_of(&told.path, &told.problem)).collect()
    }
}

/// The owner of the `skills/` folder that contains a file: an agent's folder, or the workspace.
fn home(path: &str) -> Option<&str> {
    let begins = if path.strip_prefix(SKILLS).is_some_and(|rest| rest.starts_with('/')) {
        0
    } else {
        path.starts_with("agents/").then(|| path.find("/skills/"))?? + 1
    };
    Some(path[..begins].trim_end_matches('/'))
}

/// Keeps the skills in sync with their files.
pub(super) fn follow(
    mut changes: MessageReader<FileChanged>,
    known: Option<Res<KnownFiles>>,
    mut skills: ResMut<KnownSkills>,
    mut reports: MessageWriter<ProblemReport>,
    mut has_looked: Local<bool>,
) {
    let is_first = !std::mem::replace(&mut *has_looked, true);
    let mut homes: BTreeSet<String> =
        changes.read().filter_map(|change| home(&change.path).map(str::to_owned)).collect();
    let Some(known) = known else { return };
    let files = || known.all().iter().map(|(path, text)| (path.as_str(), text.as_str()));
    if is_first {
        homes.extend(files().filter_map(|(path, _)| home(path).map(str::to_owned)));
    }
    if homes.is_empty() {
        return;
    }
    let changed = files().filter(|(path, _)| home(path).is_some_and(|home| homes.contains(home)));
    let made = KnownSkills::of_files(changed);
    for home in homes {
        match made.0.get(&home) {
            Some(index) => drop(skills.0.insert(home.clone(), index.clone())),
            None => drop(skills.0.remove(&home)),
        }
        let problems = skills.problems(&home);
        reports.write(ProblemReport { source: format!("skills of {home:?}"), problems });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skill(name: &str) -> String {
        format!("---\nname: {name}\ndescription: How to {name}\n---\nDo it.")
    }

    #[test]
    fn an_agent_has_its_own_skills_and_the_workspaces() {
        let files = [
            ("skills/cook/SKILL.md", skill("cook")),
            ("skills/bake/SKILL.md", skill("bake")),
            ("agents/ada/skills/cook/SKILL.md", skill("cook")),
            ("agents/bram/skills/sew/SKILL.md", skill("sew")),
            ("artifacts/skills/no/SKILL.md", skill("no")),
        ];
        let known = KnownSkills::of_files(files.iter().map(|(path, text)| (*path, text.as_str())));
        let paths = |path: &str, profile: &AgentProfile| {
            let skills = known.of_agent(path, profile).skills;
            skills.into_iter().map(|skill| skill.path).collect::<Vec<_>>()
        };
        let mut ada = AgentProfile::default();
        let own = "agents/ada/skills/cook/SKILL.md";
        assert_eq!(paths("agents/ada/agent.mdx", &ada), [own, "skills/bake/SKILL.md"]);
        assert_eq!(paths("agents/ada.md", &ada), ["skills/bake/SKILL.md", "skills/cook/SKILL.md"]);
        ada.skills = vec!["cook".into()];
        assert_eq!(paths("agents/ada/agent.mdx", &ada), [own], "its file names those of the workspace that it has");
    }

    #[test]
    fn an_agent_reads_paths_that_it_can_use_as_they_are() {
        let body = "---\nname: cook\ndescription: How to cook\n---\nRun {baseDir}/run.sh.";
        let bake = body.replace("cook", "bake");
        let files = [("agents/ada/skills/cook/SKILL.md", body), ("skills/bake/SKILL.md", &bake)];
        let (known, ada) = (KnownSkills::of_files(files), AgentProfile::default());
        let expanded = |said: &str, folder: &str| {
            known.expand("agents/ada/agent.mdx", &ada, (said, folder)).expect("it is a skill").expect("it is known")
        };
        // An agent that is a folder, and one whose tools know the whole workspace.
        for (folder, cook, bake) in
            [("agents/ada", "skills/cook", "../../skills/bake"), ("", "agents/ada/skills/cook", "skills/bake")]
        {
            let listed = known.listing("agents/ada/agent.mdx", &ada, ("read_file", folder));
            for path in [cook, bake] {
                assert!(listed.contains(&format!("<location>{path}/SKILL.md</location>")), "{path}: {listed}");
            }
            assert!(expanded("/skill:cook", folder).contains(&format!("Run {cook}/run.sh.")));
            assert!(expanded("/skill:bake", folder).contains(&format!("Run {bake}/run.sh.")));
        }
        let of_file = known.expand("agents/bo.md", &ada, ("/skill:bake soda", "")).expect("a skill").expect("known");
        assert!(of_file.contains("Run skills/bake/run.sh.") && of_file.ends_with("soda"), "{of_file}");
    }

    #[test]
    fn problems_of_skills_name_their_file() {
        let known = KnownSkills::of_files([("skills/cook/SKILL.md", "No front matter.")]);
        let problems = known.problems("");
        assert!(problems.iter().any(|problem| problem.what.contains("has no description")), "{problems:?}");
        assert!(problems.iter().all(|problem| problem.place == "skills/cook/SKILL.md"));
    }
}
