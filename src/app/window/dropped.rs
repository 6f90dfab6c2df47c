//! Files that a person drops from the desktop: what each is, and copying what can be used into the workspace.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::agent::formats::format_of;
use crate::app::importing::{self, NewFiles};
use crate::base::{Problem, text::slug};
use crate::workspace::layout::{MAX_FILE_BYTES, MAX_SCENE_BYTES};
use crate::workspace::yaml;

/// One drop brings in so many files at most.
const FILES_AT_MOST: usize = 200;
/// Folders are looked through so far down, and so many entries of them.
const DEPTH_AT_MOST: usize = 4;
const ENTRIES_AT_MOST: usize = 5_000;
/// So many files that cannot be used are named; the rest is counted.
const NAMED_AT_MOST: usize = 3;

/// A file of the workspace that a dropped one became.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TakenFile {
    /// Relative to the workspace.
    pub path: String,
    /// What stands in it.
    pub text: String,
}

/// What was among the things that were dropped.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Dropped {
    /// Agent files, in the workspace now.
    pub agents: Vec<TakenFile>,
    /// Scenes, in the workspace now.
    pub scenes: Vec<TakenFile>,
    /// What could not be used, and what to do.
    pub problems: Vec<Problem>,
}

/// Looks through what was dropped and copies agents and scenes into the workspace, never over what is there.
pub(super) fn take_in(workspace: &Path, files: &dyn NewFiles, paths: &[PathBuf]) -> Dropped {
    let mut walk = Walk::default();
    let mut collected = Dropped::default();
    for path in paths {
        if !collected.take_collection(workspace, files, path) {
            walk.visit(path, 0);
        }
    }
    let mut dropped = collected;
    dropped.problems.append(&mut walk.problems);
    if walk.files.len() > FILES_AT_MOST {
        dropped.problems.push(Problem::warning(
            "files",
            format!("{} files were dropped; the first {FILES_AT_MOST} were taken", walk.files.len()),
            "drop the others after these",
        ));
        walk.files.truncate(FILES_AT_MOST);
    }
    let mut unusable = Vec::new();
    for (file, chosen) in walk.files {
        match kind_of(&file) {
            Ok(kind) => dropped.take(workspace, files, &file, kind),
            // What merely lies in a folder beside agents is nobody's mistake, unless it was meant as one.
            Err(refusal) if chosen || refusal.meant => unusable.push(refusal.problem),
            Err(_) => {}
        }
    }
    let more = unusable.len().saturating_sub(NAMED_AT_MOST);
    dropped.problems.extend(unusable.into_iter().take(NAMED_AT_MOST));
    if more > 0 {
        let what = format!("{more} more of the files that were dropped cannot be used");
        dropped.problems.push(Problem::warning("files", what, "drop Markdown files (.md), one agent in each"));
    }
    dropped
}

/// What a file can become.
enum Kind {
    Agent,
    Scene(String),
}

struct Refusal {
    problem: Problem,
    /// Whether it looks as if it were to be an agent or a scene.
    meant: bool,
}

fn name_of(file: &Path) -> String {
    file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

fn kind_of(file: &Path) -> Result<Kind, Refusal> {
    let name = name_of(file);
    if format_of(&format!("agents/{name}")).is_some() {
        return Ok(Kind::Agent);
    }
    let refusal = |what: &str, remedy: &str, meant| Refusal { problem: Problem::warning(&*name, what, remedy), meant };
    let lower = name.to_lowercase();
    if lower.ends_with(".mdx") {
        let remedy = "save what it says as a Markdown file (.md) and drop that";
        return Err(refusal("agents in MDX files cannot be read yet", remedy, true));
    }
    if lower.ends_with(".agent.yaml") || lower.ends_with(".agent.yml") {
        let remedy = "write a Markdown file (.md) with the same keys between two lines of --- and drop that";
        return Err(refusal("agents in YAML files cannot be read yet", remedy, true));
    }
    if !lower.ends_with(".yaml") && !lower.ends_with(".yml") {
        return Err(refusal("it is no agent file", "drop Markdown files (.md), one agent in each", false));
    }
    let text = read(file, MAX_SCENE_BYTES).map_err(|problem| Refusal { problem, meant: true })?;
    let data = yaml::parse(&text).unwrap_or_default();
    if ["elements", "agents"].iter().any(|list| data.get(list).is_some_and(serde_json::Value::is_array)) {
        return Ok(Kind::Scene(text));
    }
    let remedy = "a scene lists its elements: and agents:; an agent is a Markdown file (.md)";
    Err(refusal("it is neither an agent nor a scene", remedy, false))
}

/// The text of a file, if it is one and not too large.
fn read(file: &Path, most: usize) -> Result<String, Problem> {
    let place = name_of(file);
    let problem = |what: String, remedy: &str| Problem::error(&*place, what, remedy);
    let metadata = fs::metadata(file).map_err(|error| {
        problem(format!("it cannot be read: {error}"), "see that it is there and that you may read it")
    })?;
    if metadata.len() > most as u64 {
        let what = format!("it has {} KB; files of {} KB can be used", metadata.len() >> 10, most >> 10);
        return Err(problem(what, "make it shorter"));
    }
    fs::read_to_string(file).map_err(|error| match error.kind() {
        ErrorKind::InvalidData => problem("it is no text in UTF-8".into(), "save it as UTF-8"),
        _ => problem(format!("it cannot be read: {error}"), "see that you may read it"),
    })
}

impl Dropped {
    /// Imports a folder that holds agents which say who they are, with its skills and rules; whether it is such a one.
    /// The first of them come into the room.
    fn take_collection(&mut self, workspace: &Path, files: &dyn NewFiles, path: &Path) -> bool {
        if !path.is_dir() {
            return false;
        }
        let plan = importing::plan(workspace, &[path.to_owned()], None);
        if !plan.items.iter().any(|item| item.kind == importing::Kind::Agent) {
            return false;
        }
        let importing::Imported { paths, problems } = importing::carry_out(workspace, files, &plan);
        self.problems.extend(problems);
        let agents: Vec<String> = paths.into_iter().filter(|path| format_of(path).is_some()).collect();
        if agents.len() > FILES_AT_MOST {
            let what = format!("{} agents were imported; the first {FILES_AT_MOST} come into the room", agents.len());
            self.problems.push(Problem::warning("agents", what, "drag the others from the shelf"));
        }
        for path in agents.into_iter().take(FILES_AT_MOST) {
            match read(&workspace.join(&path), MAX_FILE_BYTES) {
                Ok(text) => self.agents.push(TakenFile { path, text }),
                Err(problem) => self.problems.push(problem),
            }
        }
        true
    }

    fn take(&mut self, workspace: &Path, files: &dyn NewFiles, file: &Path, kind: Kind) {
        let name = name_of(file);
        let (path, text) = match kind {
            Kind::Agent => (format!("agents/{name}"), read(file, MAX_FILE_BYTES)),
            Kind::Scene(text) => {
                let stem = slug(name.rsplit_once('.').map_or(&*name, |(stem, _)| stem));
                let stem = if stem.is_empty() { "scene" } else { stem.as_str() };
                (format!("scenes/{stem}.yaml"), Ok(text))
            }
        };
        let text = match text {
            Ok(text) => text,
            Err(problem) => return self.problems.push(problem),
        };
        let is_scene = path.starts_with("scenes/");
        match files.create(&path, text.as_bytes()) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                let is_same = read(&workspace.join(&path), MAX_SCENE_BYTES).is_ok_and(|there| there == text);
                if !is_same {
                    let what = if is_scene { "a scene of that name" } else { "an agent file of that name" };
                    return self.problems.push(Problem::warning(
                        path,
                        format!("{what} is there already, and says something else"),
                        "rename the file and drop it again",
                    ));
                }
            }
            Err(error) => {
                let folder = if is_scene { "scenes" } else { "agents" };
                return self.problems.push(Problem::error(
                    path,
                    format!("it could not be copied: {error}"),
                    format!("copy the file into the folder {folder} yourself"),
                ));
            }
        }
        let list = if is_scene { &mut self.scenes } else { &mut self.agents };
        list.push(TakenFile { path, text });
    }
}

/// Goes through folders.
#[derive(Default)]
struct Walk {
    /// Each file, and whether it was itself dropped.
    files: Vec<(PathBuf, bool)>,
    seen: usize,
    problems: Vec<Problem>,
}

impl Walk {
    fn visit(&mut self, path: &Path, depth: usize) {
        self.seen += 1;
        if self.seen > ENTRIES_AT_MOST {
            if self.seen == ENTRIES_AT_MOST + 1 {
                let what = format!("there are more than {ENTRIES_AT_MOST} files in what was dropped");
                self.problems.push(Problem::warning("files", what, "drop a folder with agents alone"));
            }
            return;
        }
        let name = name_of(path);
        if depth > 0 && (name.starts_with('.') || name.eq_ignore_ascii_case("readme.md")) {
            return;
        }
        if !path.is_dir() {
            self.files.push((path.to_owned(), depth == 0));
            return;
        }
        // A link within a folder may lead back up.
        if depth > 0 && (depth > DEPTH_AT_MOST || path.is_symlink()) {
            return;
        }
        match fs::read_dir(path) {
            Ok(entries) => {
                let mut entries: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
                entries.sort();
                for entry in entries {
                    self.visit(&entry, depth + 1);
                }
            }
            Err(error) => {
                let what = format!("this folder cannot be read: {error}");
                self.problems.push(Problem::warning(name, what, "see that you may read it"));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> tempfile::TempDir {
        tempfile::tempdir().expect("a temporary folder can be made")
    }

    fn put(folder: &Path, name: &str, text: &str) -> PathBuf {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().expect("it lies in a folder")).expect("folders can be made");
        fs::write(&path, text).expect("files can be written");
        path
    }

    fn paths(files: &[TakenFile]) -> Vec<&str> {
        files.iter().map(|file| file.path.as_str()).collect()
    }

    #[test]
    fn agents_and_scenes_are_copied_and_a_folder_is_looked_through() {
        let (workspace, desktop) = (folder(), folder());
        let agent = put(desktop.path(), "Zoe.md", "You are Zoe.");
        put(desktop.path(), "team/deep/ann.md", "You are Ann.");
        put(desktop.path(), "team/README.md", "About the team.");
        put(desktop.path(), "team/photo.png", "no text");
        let scene = put(desktop.path(), "My Room.yaml", "elements: []\n");
        let dropped =
            take_in(workspace.path(), &workspace.path().to_owned(), &[agent, desktop.path().join("team"), scene]);
        assert_eq!(paths(&dropped.agents), ["agents/Zoe.md", "agents/ann.md"]);
        assert_eq!(paths(&dropped.scenes), ["scenes/my-room.yaml"]);
        assert_eq!(dropped.problems, [], "what lies beside agents in a folder is left alone");
        let copied = fs::read_to_string(workspace.path().join("agents/Zoe.md")).expect("it was copied");
        assert_eq!(copied, "You are Zoe.");
    }

    #[test]
    fn a_collection_keeps_its_folders_so_that_agents_of_one_name_both_come_in() {
        let (workspace, desktop) = (folder(), folder());
        for part in ["web", "data"] {
            let text = format!("---\nname: zoe\ndescription: Reviews {part}\n---\nYou are Zoe of {part}.");
            put(desktop.path(), &format!("pack/{part}/zoe.md"), &text);
        }
        let dropped = take_in(workspace.path(), &workspace.path().to_owned(), &[desktop.path().join("pack")]);
        assert_eq!(paths(&dropped.agents), ["agents/pack/data/zoe.md", "agents/pack/web/zoe.md"]);
        assert_eq!(dropped.problems, []);
    }

    #[test]
    fn what_cannot_be_used_is_named_with_what_to_do() {
        let (workspace, desktop) = (folder(), folder());
        for (name, text, what) in [
            ("one.mdx", "# One", "agents in MDX files cannot be read yet"),
            ("two.agent.yaml", "id: two", "agents in YAML files cannot be read yet"),
            ("three.yaml", "colour: red", "neither an agent nor a scene"),
            ("four.png", "x", "no agent file"),
        ] {
            let dropped = take_in(workspace.path(), &workspace.path().to_owned(), &[put(desktop.path(), name, text)]);
            let [problem] = &dropped.problems[..] else { panic!("{name}: {:?}", dropped.problems) };
            assert!(problem.place == name && problem.what.contains(what) && !problem.remedy.is_empty(), "{problem}");
            assert!(dropped.agents.is_empty() && dropped.scenes.is_empty());
        }
        let many: Vec<PathBuf> = (0..9).map(|number| put(desktop.path(), &format!("{number}.png"), "x")).collect();
        assert_eq!(
            take_in(workspace.path(), &workspace.path().to_owned(), &many).problems.len(),
            NAMED_AT_MOST + 1,
            "the rest is counted"
        );
    }

    #[test]
    fn nothing_is_written_over_what_is_there() {
        let (workspace, desktop) = (folder(), folder());
        let there = put(workspace.path(), "agents/zoe.md", "You are the first Zoe.");
        let dropped = take_in(
            workspace.path(),
            &workspace.path().to_owned(),
            &[put(desktop.path(), "zoe.md", "You are another.")],
        );
        assert!(dropped.agents.is_empty() && dropped.problems[0].what.contains("says something else"));
        assert_eq!(fs::read_to_string(&there).expect("it is there"), "You are the first Zoe.");
        let again = take_in(workspace.path(), &workspace.path().to_owned(), &[there]);
        assert_eq!(paths(&again.agents), ["agents/zoe.md"], "the workspace's own file is as good as a new one");
    }
}
