//! Importing agents in various formats, and what is not imported.

use std::collections::BTreeSet;
use std::fs;
use std::io;

use super::*;

fn outside(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    for (path, text) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().expect("it has a folder")).expect("folders can be made");
        fs::write(path, text).expect("files can be written");
    }
    folder
}

fn import(workspace: &Path, paths: &[PathBuf], folder: Option<&str>) -> Imported {
    let destination = folder.map_or(Destination::ByKind, Destination::Folder);
    import_files(workspace, &workspace.to_owned(), &plan(workspace, paths, destination), &JobControl::default())
}

fn planned(to: &Path, path: PathBuf) -> Vec<(Kind, String)> {
    plan(to, &[path], Destination::ByKind).items.into_iter().map(|item| (item.kind, item.to)).collect()
}

const ZOE: &str = "---\nname: zoe\ndescription: Zoe reviews\ntools: Read, Bash(git:*), WebFetch\n---\nYou are Zoe.";

#[test]
fn files_are_sorted_by_kind_and_folders_keep_their_structure() {
    let from = outside(&[
        ("zoe.md", "---\nname: Zoe\n---\nYou are Zoe."),
        ("notes.md", "# Notes"),
        ("night.yaml", "agents: []\n"),
        ("pack/a/b.txt", "b"),
        ("pack/.hidden", "x"),
    ]);
    let to = outside(&[]);
    let paths = ["zoe.md", "notes.md", "night.yaml", "pack"].map(|name| from.path().join(name));
    let imported = import(to.path(), &paths, None);
    assert_eq!(imported.problems, []);
    assert_eq!(
        imported.paths(),
        ["agents/zoe.md", "scenes/night.yaml", "artifacts/notes.md", "artifacts/pack/a/b.txt"]
    );
    let into = import(to.path(), &paths[..1], Some("memory"));
    assert_eq!(into.paths(), ["memory/zoe.md"]);
}

#[test]
fn nothing_is_overwritten_and_duplicates_are_not_copied() {
    let from = outside(&[("notes.md", "new")]);
    let to = outside(&[("artifacts/notes.md", "old")]);
    let paths = [from.path().join("notes.md")];
    assert_eq!(import(to.path(), &paths, None).paths(), ["artifacts/notes-2.md"]);
    assert!(plan(to.path(), &paths, Destination::ByKind).is_empty(), "the same is there");
    assert_eq!(import(to.path(), &paths, None).paths(), ["artifacts/notes-2.md"]);
    assert_eq!(fs::read_to_string(to.path().join("artifacts/notes.md")).expect("it should exist"), "old");
}

#[test]
fn files_that_may_contain_secrets_are_left_out() {
    let key = format!("use sk-{}", "a1B2c3D4e5F6g7H8i9J0k");
    let from = outside(&[
        ("keys.env", "x"),
        ("pack/id_rsa", "x"),
        ("pack/passwords.txt", "x"),
        ("pack/how.md", &key),
        ("pack/fine.md", "x"),
    ]);
    let to = outside(&[]);
    let imported = import(to.path(), &["keys.env", "pack"].map(|name| from.path().join(name)), None);
    assert_eq!(imported.paths(), ["artifacts/pack/fine.md"]);
    assert_eq!(imported.problems.len(), 4, "{:?}", imported.problems);
}

#[test]
fn unusable_files_are_reported_and_paths_stay_in_the_workspace() {
    let from = outside(&[("x.md", "x")]);
    let to = outside(&[]);
    let imported = import(to.path(), &[from.path().join("gone.md")], None);
    assert!(imported.paths().is_empty() && imported.problems.len() == 1, "{:?}", imported.problems);
    for folder in ["../elsewhere", ".workshop", "sessions"] {
        let imported = import(to.path(), &[from.path().join("x.md")], Some(folder));
        assert!(imported.paths().is_empty(), "{folder}");
        assert_eq!(imported.problems.len(), 1, "{folder}");
    }
}

#[test]
fn a_collection_is_imported_without_unrelated_files() {
    let from = outside(&[
        ("pack/README.md", "# A pack"),
        ("pack/LICENSE", "x"),
        ("pack/categories/01-core/README.md", "# Core"),
        ("pack/categories/01-core/zoe.md", ZOE),
        ("pack/categories/02-data/zoe.md", &ZOE.replace("reviews", "counts")),
        ("pack/plugins/web/agents/ann.md", &ZOE.replace("zoe", "ann")),
        ("pack/plugins/web/commands/deploy.md", "---\nname: x\ndescription: deploys\n---\nDeploy."),
        ("pack/plugins/web/skills/pdf/SKILL.md", "---\nname: pdf\ndescription: PDF\n---\nRead."),
        ("pack/plugins/web/skills/pdf/scripts/read.py", "print(1)"),
        ("pack/docs/how.md", "# How"),
        ("pack/node_modules/x/y.md", ZOE),
    ]);
    let to = outside(&[]);
    let plan = plan(to.path(), &[from.path().join("pack")], Destination::ByKind);
    let items: Vec<_> = plan.items.iter().map(|item| (item.kind, item.to.as_str())).collect();
    assert_eq!(
        items,
        [
            (Kind::Agent, "agents/pack/categories/01-core/zoe.md"),
            (Kind::Agent, "agents/pack/categories/02-data/zoe.md"),
            (Kind::Agent, "agents/pack/plugins/web/ann.md"),
            (Kind::Skill, "skills/pdf/SKILL.md"),
            (Kind::Skill, "skills/pdf/scripts/read.py"),
        ]
    );
    assert_eq!((plan.beside, plan.left_out.len()), (5, 0), "{:?}", plan.left_out);
    let summary = plan.summary().join("\n");
    for line in [
        "3 agents into agents/pack/",
        "1 skill into skills/",
        "3 agents list tools that are not available: Bash (3)",
        "left out: 5 other files",
    ] {
        assert!(summary.contains(line), "{line} is not in:\n{summary}");
    }
    assert!(fs::read_dir(to.path()).expect("it should exist").next().is_none(), "a plan writes nothing");
    assert_eq!(import_files(to.path(), &to.path().to_owned(), &plan, &JobControl::default()).paths().len(), 5);
}

#[test]
fn a_repository_yields_only_agents_skills_and_rules() {
    let from = outside(&[
        ("shop/.git/config", "x"),
        ("shop/.claude/agents/zoe.md", ZOE),
        ("shop/.claude/settings.local.json", "{}"),
        ("shop/.claude/skills/pdf/SKILL.md", "---\nname: pdf\ndescription: x\n---\nRead."),
        ("shop/.cursor/rules/style.mdc", "---\nglobs: '*.rs'\nalwaysApply: true\n---\n# Style\n\nBe brief.\n"),
        ("shop/.github/ISSUE_TEMPLATE/bug.md", "---\nname: Bug\ndescription: A bug\n---\n"),
        ("shop/AGENTS.md", "# How we work\n"),
        ("shop/skills/csv/SKILL.md", "---\nname: csv\ndescription: x\n---\nCount."),
        ("shop/src/main.rs", "fn main() {}"),
        ("shop/README.md", "# Shop"),
        ("shop/.env", "TOKEN=x"),
    ]);
    let to = outside(&[]);
    let planned = planned(to.path(), from.path().join("shop"));
    let planned: Vec<_> = planned.iter().map(|(kind, to)| (*kind, to.as_str())).collect();
    assert_eq!(
        planned,
        [
            (Kind::Agent, "agents/shop/zoe.md"),
            (Kind::Skill, "skills/csv/SKILL.md"),
            (Kind::Skill, "skills/pdf/SKILL.md"),
            (Kind::Rules, "boards/AGENTS.md"),
            (Kind::Rules, "boards/style.md"),
        ]
    );
    import(to.path(), &[from.path().join("shop")], None);
    let rules = fs::read_to_string(to.path().join("boards/style.md")).expect("it came in");
    assert_eq!(rules, "# Style\n\nBe brief.\n", "what is meant for the other product stays there");
    let agents = self::planned(to.path(), from.path().join("shop/.claude/agents"));
    assert_eq!(agents, [(Kind::Agent, "agents/zoe.md".to_owned())]);
    let plain = outside(&[("code/.git/config", "x"), ("code/src/main.rs", "x")]);
    assert_eq!(self::planned(to.path(), plain.path().join("code")), [], "a repository is no pile of files");
}

#[cfg(unix)]
#[test]
fn links_are_not_followed() {
    let from = outside(&[("pack/zoe.md", ZOE), ("secret.md", ZOE)]);
    std::os::unix::fs::symlink(from.path().join("secret.md"), from.path().join("pack/link.md"))
        .expect("links can be made");
    std::os::unix::fs::symlink(from.path(), from.path().join("pack/loop")).expect("links can be made");
    let to = outside(&[]);
    let plan = plan(to.path(), &[from.path().join("pack")], Destination::ByKind);
    assert_eq!((plan.items.len(), plan.left_out.len()), (1, 2));
    std::os::unix::fs::symlink(from.path(), to.path().join("agents")).expect("links can be made");
    let imported = import_files(to.path(), &to.path().to_owned(), &plan, &JobControl::default());
    assert!(imported.paths().is_empty() && !from.path().join("pack-2").exists(), "{imported:?}");
}

fn drop_into_room(workspace: &Path, paths: &[PathBuf]) -> Imported {
    import_files(workspace, &workspace.to_owned(), &plan(workspace, paths, Destination::Room), &JobControl::default())
}

fn files_of(imported: &Imported, kind: Kind) -> Vec<&str> {
    imported.files.iter().filter(|file| file.kind == kind).map(|file| file.path.as_str()).collect()
}

#[test]
fn a_drop_into_a_room_imports_agents_and_scenes() {
    let from = outside(&[
        ("Zoe.md", "You are Zoe."),
        ("team/deep/ann.md", "You are Ann."),
        ("team/README.md", "About the team."),
        ("team/photo.png", "no text"),
        ("My Room.yaml", "elements: []\n"),
    ]);
    let to = outside(&[]);
    let dropped = drop_into_room(to.path(), &["Zoe.md", "team", "My Room.yaml"].map(|name| from.path().join(name)));
    assert_eq!(files_of(&dropped, Kind::Agent), ["agents/Zoe.md", "agents/ann.md"]);
    assert_eq!(files_of(&dropped, Kind::Scene), ["scenes/my-room.yaml"]);
    assert_eq!(dropped.problems, [], "what lies beside agents in a folder is left alone");
    assert_eq!(dropped.made().len(), 3);
    assert_eq!(fs::read_to_string(to.path().join("agents/Zoe.md")).expect("it was copied"), "You are Zoe.");
}

#[test]
fn agents_with_the_same_name_are_kept_apart_by_folders() {
    let web = ZOE.replace("reviews", "reviews web");
    let from = outside(&[("pack/web/zoe.md", &web), ("pack/data/zoe.md", ZOE), ("pack/notes.md", "# Notes")]);
    let to = outside(&[]);
    let dropped = drop_into_room(to.path(), &[from.path().join("pack")]);
    assert_eq!(dropped.paths(), ["agents/pack/data/zoe.md", "agents/pack/web/zoe.md"]);
    assert_eq!(dropped.problems, []);
}

#[test]
fn files_unusable_in_a_room_are_named_with_a_remedy() {
    let from = outside(&[("three.yaml", "colour: red"), ("four.png", "x"), ("many/a.yaml", "colour: red")]);
    let to = outside(&[]);
    for (name, what) in [
        ("three.yaml", "neither an agent nor a scene"),
        ("four.png", "not an agent file"),
        ("many", "neither an agent nor a scene"),
    ] {
        let dropped = drop_into_room(to.path(), &[from.path().join(name)]);
        let [problem] = &dropped.problems[..] else { panic!("{name}: {:?}", dropped.problems) };
        assert!(problem.place.contains(name) && problem.what.contains(what), "{problem}");
        assert!(!problem.remedy.is_empty() && dropped.files.is_empty());
    }
    let many: Vec<PathBuf> = (0..9).map(|number| from.path().join(format!("{number}.png"))).collect();
    many.iter().for_each(|path| fs::write(path, "x").expect("files can be written"));
    assert_eq!(drop_into_room(to.path(), &many).problems.len(), MAX_NAMED + 1, "the rest is counted");
}

/// A folder agent, with files that belong to it and files that do not.
const FOLDER: [(&str, &str); 10] = [
    ("weather/agent.mdx", "# Agent: Weather\n\n## Purpose\n\nTells it.\n"),
    ("weather/heartbeat.md", "@every: 15m\n"),
    ("weather/skills/maps/SKILL.md", "---\nname: maps\ndescription: d\n---\nRead them."),
    ("weather/skills/maps/scripts/draw.py", "x"),
    ("weather/modules/custom.ts", "export default {};"),
    ("weather/lib/units.ts", "export const unit = 'K';"),
    ("weather/state/notes.ts", "x"),
    ("weather/sessions/main/history.json", "[]"),
    ("weather/logs/2026-02-08.md", "x"),
    ("weather/README.md", "# Weather"),
];

#[test]
fn a_folder_agent_is_imported_with_its_files() {
    let from = outside(&FOLDER);
    let whole = [
        "agents/weather/agent.mdx",
        "agents/weather/heartbeat.md",
        "agents/weather/lib/units.ts",
        "agents/weather/modules/custom.ts",
        "agents/weather/skills/maps/SKILL.md",
        "agents/weather/skills/maps/scripts/draw.py",
    ];
    let sorted = |paths: Vec<&str>| paths.into_iter().map(str::to_owned).collect::<BTreeSet<String>>();
    let to = outside(&[]);
    let dropped = drop_into_room(to.path(), &[from.path().join("weather")]);
    assert_eq!(files_of(&dropped, Kind::Agent), ["agents/weather/agent.mdx"]);
    assert_eq!(sorted(dropped.paths()), sorted(whole.to_vec()));
    assert_eq!(dropped.problems, []);
    let to = outside(&[]);
    let imported = import(to.path(), &[from.path().join("weather")], None);
    assert_eq!(sorted(imported.paths()), sorted(whole.to_vec()));
    // Its document alone also defines the folder's agent.
    let to = outside(&[]);
    let dropped = drop_into_room(to.path(), &[from.path().join("weather/agent.mdx")]);
    assert_eq!(dropped.paths(), ["agents/weather/agent.mdx"]);
    let one = outside(&[("one.mdx", "# Agent: One")]);
    assert_eq!(drop_into_room(to.path(), &[one.path().join("one.mdx")]).paths(), ["agents/one.mdx"]);
}

#[test]
fn dropped_agents_never_replace_existing_ones() {
    let from = outside(&[("zoe.md", "You are another.")]);
    let to = outside(&[("agents/zoe.md", "You are the first Zoe.")]);
    let dropped = drop_into_room(to.path(), &[from.path().join("zoe.md")]);
    assert!(dropped.files.is_empty() && dropped.problems[0].what.contains("already exists with different content"));
    let there = to.path().join("agents/zoe.md");
    assert_eq!(fs::read_to_string(&there).expect("it should exist"), "You are the first Zoe.");
    let again = drop_into_room(to.path(), &[there]);
    assert_eq!(again.paths(), ["agents/zoe.md"], "the workspace's own file is as good as a new one");
    assert_eq!(again.made(), []);
}

#[test]
fn a_cancelled_import_keeps_imported_files_and_counts_the_rest() {
    /// Cancels the import at its first file.
    struct Impatient<'a>(&'a Path, JobControl);

    impl NewFiles for Impatient<'_> {
        fn create(&self, path: &str, bytes: &[u8], origin: TextOrigin) -> io::Result<NewFile> {
            self.1.cancel();
            self.0.to_owned().create(path, bytes, origin)
        }

        fn take_back(&self, file: &NewFile) -> Result<(), String> {
            self.0.to_owned().take_back(file)
        }
    }

    let (from, to) = (outside(&[("pack/a.txt", "a"), ("pack/b.txt", "b"), ("pack/c.txt", "c")]), outside(&[]));
    let (control, paths) = (JobControl::default(), [from.path().join("pack")]);
    let plan = plan(to.path(), &paths, Destination::ByKind);
    let imported = import_files(to.path(), &Impatient(to.path(), control.clone()), &plan, &control);
    assert_eq!((imported.paths(), imported.not_reached), (vec!["artifacts/pack/a.txt"], 2));
    assert!(to.path().join("artifacts/pack/a.txt").exists() && !to.path().join("artifacts/pack/b.txt").exists());
    assert_eq!(control.progress(), Some(0.0), "it says how far it is");
}
