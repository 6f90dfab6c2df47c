//! The texts of files before anybody in this room changed them. A person can get back what stood in an agent, a scene, a
//! board, a task or the settings before the first edit by another program, as after a change by an agent.

use super::super::layout;
use super::OUTSIDE;
use super::executor::{Executor, IdleTask};
use super::path::{FileKind, PathAccess, WorkspacePath};
use crate::store::{Durability, FileHead, VersionDraft};

/// The maximum number of files whose first text is kept when a workspace is opened.
const MAX_FILES: usize = 5_000;
/// The maximum total size of these texts, in bytes.
const MAX_TOTAL_BYTES: u64 = 64 * 1024 * 1024;
/// The maximum size of one of them.
const MAX_BYTES: u64 = 1024 * 1024;

impl Executor {
    /// Keeps the texts of the files that make up the workspace and have no history yet. Those that the room uses are
    /// kept at once, before another program can change them unnoticed; the documents beside them in idle moments.
    pub(super) fn keep_first_versions(&mut self) {
        let (mut count, mut bytes) = (0, 0);
        let is_new = |path: &&str| !self.heads.contains_key(*path) && !self.ignored.contains(*path);
        let found = self.index.files().filter(|(path, entry)| entry.size <= MAX_BYTES && is_new(path));
        let mut wanted: Vec<(String, bool)> = Vec::new();
        for (path, entry) in found {
            let is_used = layout::is_used_by_room(path);
            if !(is_used || is_document(path)) || is_transient(path) {
                continue;
            }
            (count, bytes) = (count + 1, bytes + entry.size);
            if count > MAX_FILES || bytes > MAX_TOTAL_BYTES {
                tracing::info!("the first texts of {MAX_FILES} files are kept, not of more");
                break;
            }
            wanted.push((path.to_owned(), is_used));
        }
        let (used, beside): (Vec<_>, Vec<_>) = wanted.into_iter().partition(|(_, is_used)| *is_used);
        let used: Vec<String> = used.into_iter().map(|(path, _)| path).collect();
        self.keep_texts(&used);
        beside.into_iter().for_each(|(path, _)| self.push_idle_task(IdleTask::KeepFirst(path)));
    }

    /// Keeps the text of one file, unless it has a history by now.
    pub(super) fn keep_first_version(&mut self, path: &str) {
        if !self.heads.contains_key(path) {
            self.keep_texts(&[path.to_owned()]);
        }
    }

    /// Keeps these texts in one transaction. A file that cannot be read is reported elsewhere, and has nothing to keep.
    fn keep_texts(&mut self, paths: &[String]) {
        let mut texts = Vec::new();
        for path in paths {
            let Ok(normal) = WorkspacePath::new(path) else { continue };
            let most = self.limits.bytes_at_most(&normal).min(MAX_BYTES);
            if let Ok((text, found)) = self.index.read(&self.root, &normal, most) {
                texts.push((path, text, found));
            }
        }
        if texts.is_empty() {
            return;
        }
        let kept = self.versions.change(Durability::Process, |changes| {
            let mut heads = Vec::with_capacity(texts.len());
            for (path, text, found) in &texts {
                let draft = VersionDraft { author: OUTSIDE, activation: None, order_key: None, text };
                let file = changes.add_file(path)?;
                let head = FileHead {
                    file,
                    path: (*path).clone(),
                    is_there: true,
                    version: changes.add_version(file, &draft)?,
                    hash: crate::base::hash::content_hash(text.as_bytes()),
                    size: found.size,
                    modified_ns: found.modified_ns,
                };
                changes.set_head(&head)?;
                heads.push(head);
            }
            Ok(heads)
        });
        match kept {
            Ok(heads) => {
                for head in heads {
                    self.note_changed(&head.path);
                    self.heads.insert(head.path.clone(), head);
                }
            }
            Err(error) => tracing::warn!("the first texts of {} files could not be kept: {error}", texts.len()),
        }
    }
}

/// Whether a file is a document that agents or people work with: a skill, a routine, a rule, a page of a workspace.
fn is_document(path: &str) -> bool {
    let Some((folder, name)) = path.split_once('/') else {
        let name = path.to_ascii_lowercase();
        return name.ends_with(".md") || name.ends_with(".mdx");
    };
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending).to_ascii_lowercase();
    let is_text = matches!(ending.as_str(), "md" | "markdown" | "mdx" | "yaml" | "yml");
    is_text && matches!(folder, "agents" | "skills" | "boards" | "documents" | "templates" | "workflows" | "storage")
}

/// Whether a file is written by programs rather than by people: messages, records and results of work.
fn is_transient(path: &str) -> bool {
    let is_closed = |path: WorkspacePath| path.kind() == FileKind::Session || path.reach() == PathAccess::Closed;
    path.starts_with("inbox/") || WorkspacePath::new(path).map_or(true, is_closed)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::executor::tests::{FileWorkspace, delete, order, put_outside, restore, version, write};
    use super::super::order::FileAnswer;
    use super::*;

    const SETTINGS: &str = "settings.yaml";
    /// One file of each kind, by path.
    const FILES: &[(&str, &str)] = &[
        ("agents/ada.md", "You are Ada."),
        ("scenes/studio.yaml", "name: Studio"),
        ("boards/rules.md", "Be kind."),
        ("tasks/plan.task.md", "- [ ] think"),
        (SETTINGS, "seed: 3"),
        ("heartbeat.md", "each day"),
        ("AGENTS.md", "House rules."),
        ("skills/cook/SKILL.md", "Boil."),
        ("skills/cook/notes.md", "Salt."),
        ("agents/ada/guide.md", "A guide."),
        ("workflows/review.md", "# Review"),
    ];
    const OTHERS: &[(&str, &str)] =
        &[("artifacts/result.md", "a result"), ("inbox/mail.jsonl", "{}"), ("src/main.rs", "fn main() {}")];

    fn opened(fixture: &mut FileWorkspace) {
        fixture.files.keep_first_versions();
        while fixture.files.do_idle_task() {}
    }

    fn workspace() -> FileWorkspace {
        let files: Vec<_> = FILES.iter().chain(OTHERS).copied().collect();
        let mut fixture = FileWorkspace::new(&files);
        opened(&mut fixture);
        fixture
    }

    #[test]
    fn the_first_text_of_every_file_of_the_workspace_is_kept_once() {
        let mut fixture = workspace();
        for _ in 0..3 {
            for (path, text) in FILES {
                assert_eq!(fixture.history(path), [version(1, OUTSIDE, text)], "{path}");
            }
            for (path, _) in OTHERS {
                assert_eq!(fixture.history(path), [], "{path}");
            }
            assert!(fixture.outside_changes().is_empty(), "nobody changed anything");
            fixture = fixture.reopen();
            opened(&mut fixture);
        }
    }

    #[test]
    fn what_stood_before_the_first_edit_or_deletion_by_another_program_can_be_restored() {
        for (path, text) in FILES {
            let mut fixture = workspace();
            put_outside(&fixture.folder, path, "broken");
            fixture.files.examine(path);
            assert_eq!(fixture.history(path), [version(1, OUTSIDE, text), version(2, OUTSIDE, "broken")], "{path}");
            fs::remove_file(fixture.folder.path().join(path)).expect("it should exist");
            fixture.files.examine(path);
            fixture.run("user", restore(path, 1)).expect("it can be restored");
            assert_eq!(fixture.on_disk(path).as_deref(), Some(*text), "{path}");
        }
    }

    #[test]
    fn a_deletion_by_the_person_can_be_undone_for_a_file_that_came_with_the_workspace() {
        let mut fixture = workspace();
        let read = fixture.files.execute(&order("r", "user", super::super::executor::tests::read("agents/ada.md")));
        assert!(matches!(read.result, Ok(FileAnswer::Text { version: 1, .. })), "{read:?}");
        fixture.run("user", delete("agents/ada.md")).expect("it can be deleted");
        fixture.run("user", restore("agents/ada.md", 1)).expect("it can be restored");
        assert_eq!(fixture.on_disk("agents/ada.md").as_deref(), Some("You are Ada."));
    }

    #[test]
    fn the_first_version_is_the_last_to_be_pruned() {
        let mut fixture = workspace();
        fixture.files.limits.max_versions = 4;
        for number in 0..10 {
            fixture.run("ada", write("boards/rules.md", &format!("text {number}"))).expect("it can be written");
        }
        let kept: Vec<u64> = fixture.history("boards/rules.md").into_iter().map(|(number, _, _)| number).collect();
        assert_eq!(kept, [1, 9, 10, 11]);
    }

    #[test]
    fn too_many_files_are_kept_only_in_part() {
        let files: Vec<(String, String)> =
            (0..200).map(|number| (format!("agents/a{number}.md"), "x".repeat(500_000))).collect();
        let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        let mut fixture = FileWorkspace::new(&files);
        opened(&mut fixture);
        let kept = files.iter().filter(|(path, _)| !fixture.history(path).is_empty()).count();
        assert!((100..200).contains(&kept), "{kept}");
    }
}
