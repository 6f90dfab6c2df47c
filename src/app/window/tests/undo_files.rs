//! Undo over random acts on files and in the room: every file is again what it was, byte by byte, and a step that cannot
//! be undone stops the undo.

use super::*;
use crate::simulation::TaskCommand;
use crate::ui::state::Dialog;
use crate::view::work::PieceView;

/// Files that exist when the room opens and have no version yet.
const SHIPPED: [(&str, &str); 6] = [
    ("agents/critic.md", "---\nname: Jun\n---\nYou are Jun.\r\nBe strict."),
    ("notes/plan.md", "# Plan\n\nOne  \n"),
    ("notes/empty.md", ""),
    ("memory/knowledge/ada-1.md", "- Port 8080 is taken. <!-- k-1 kind=fact created=2026-11-20T10:00:00 -->\n"),
    ("boards/ideas.md", "# Ideas\r\n\r\n- A kettle  \n"),
    ("tasks/garden.task.md", "# Garden\n\n- [ ] Water the plants\n- [x] Buy seeds\r\n"),
];

/// The board that the room itself writes, when something is pinned to it.
const ROOMS_OWN: &str = "boards/news.md";

#[derive(Clone, Debug)]
enum Act {
    /// Saves another text in a file.
    Save(usize, String),
    /// Creates a file.
    Create(usize, String),
    /// Deletes a file, without knowing its version.
    Delete(usize),
    /// Deletes several files as one.
    DeleteAll,
    /// Renames a file.
    Rename(usize, usize),
    /// Writes the first version of a file again.
    Restore(usize),
    /// Changes something in the room.
    InRoom(Deed),
    /// Gives a task, which cannot be undone.
    Task,
    /// One of two agents writes a file of its own, which is no step of the person.
    ByAgent(usize, String),
}

fn act() -> impl Strategy<Value = Act> {
    let word = || "[a-zäß ]{0,12}\r?\n?";
    prop_oneof![
        4 => (0..13_usize, word()).prop_map(|(index, text)| Act::Save(index, text)),
        2 => (0..3_usize, word()).prop_map(|(index, text)| Act::Create(index, text)),
        3 => (0..13_usize).prop_map(Act::Delete),
        1 => Just(Act::DeleteAll),
        2 => (0..13_usize, 0..3_usize).prop_map(|(index, to)| Act::Rename(index, to)),
        2 => (0..13_usize).prop_map(Act::Restore),
        3 => "[a-z]{1,6}".prop_map(|text| Act::InRoom(Deed::Pin(text))),
        1 => any::<bool>().prop_map(|up| Act::InRoom(Deed::Vote(up))),
        1 => (0..3_usize).prop_map(|index| Act::InRoom(Deed::Nudge(index))),
        1 => Just(Act::Task),
        2 => (0..2_usize, word()).prop_map(|(agent, text)| Act::ByAgent(agent, text)),
    ]
}

/// The bytes of every file that the acts are about, by path.
type Snapshot = BTreeMap<String, Vec<u8>>;

impl PausedRoom {
    fn with_shipped_files() -> Self {
        let mut fixture = Self::new();
        for (path, text) in SHIPPED {
            let path = fixture.folder.path().join(path);
            fs::create_dir_all(path.parent().expect("it is in a folder")).expect("folders can be made");
            fs::write(path, text).expect("files can be written");
        }
        fixture.settle();
        fixture
    }

    fn snapshot(&self) -> Snapshot {
        let mut files = Snapshot::new();
        for folder in ["", "agents", "boards", "memory/knowledge", "notes", "tasks"] {
            let Ok(entries) = fs::read_dir(self.folder.path().join(folder)) else { continue };
            for entry in entries {
                let entry = entry.expect("the folder can be read");
                let path = format!("{folder}/{}", entry.file_name().to_string_lossy());
                let path = path.trim_start_matches('/').to_owned();
                // Of the files at the top only the settings, and not the board that an element of the scene shows.
                let is_meant = path.contains('/') || path == "settings.yaml";
                if is_meant && path != ROOMS_OWN && entry.path().is_file() {
                    files.insert(path, fs::read(entry.path()).expect("files can be read"));
                }
            }
        }
        files
    }

    pub(super) fn order(&self, operation: FileOperation) -> RoomAct {
        RoomAct::File(self.state.file_command(operation))
    }

    /// Performs a command, and waits until all its file operations are answered.
    pub(super) fn act_and_wait(&mut self, command: Command) {
        let acts: Vec<RoomAct> = match &command {
            Command::Act(act, _) => vec![act.clone()],
            Command::Acts(acts) => acts.iter().map(|(act, _)| act.clone()).collect(),
            _ => Vec::new(),
        };
        let mut keys: Vec<Id> = Vec::new();
        for act in acts {
            if let RoomAct::File(command) = act {
                keys.push(command.key);
            }
        }
        self.act(command);
        let began = Instant::now();
        loop {
            self.room.live();
            continue_pending(&mut self.room, &mut self.state, &mut self.shell.parts);
            let is_answered = keys.iter().all(|key| self.room.recent.order(key).is_some());
            if is_answered && self.room.history.is_idle() {
                break;
            }
            assert!(began.elapsed() < Duration::from_secs(20), "nobody answers {keys:?}");
            std::thread::yield_now();
        }
        self.settle();
    }

    /// Lets an agent write a file of its own, and waits until the room knows of it.
    fn write_as_agent(&mut self, agent: usize, content: &str) {
        let path = format!("artifacts/by-{agent}.md");
        let file = self.folder.path().join(&path);
        let world = self.room.world().expect("it is open");
        let files =
            world.resource::<crate::workspace::vfs::FileBridge>().service().and_then(|service| service.handle());
        let author = Author::agent(&format!("ada-{agent}").into());
        let write = FileOperation::Write { path, content: content.to_owned() };
        files.expect("it is open").change_as(author, write).expect("it can be written");
        let began = Instant::now();
        while fs::read(&file).ok().as_deref() != Some(content.as_bytes()) {
            assert!(began.elapsed() < Duration::from_secs(20), "nobody writes {}", file.display());
            std::thread::yield_now();
        }
        self.settle();
    }

    /// The bytes of the agents' own files, which no step of the person is about.
    fn files_of_agents(&self) -> Vec<Option<Vec<u8>>> {
        let path = |agent: usize| self.folder.path().join(format!("artifacts/by-{agent}.md"));
        (0..2).map(|agent| fs::read(path(agent)).ok()).collect()
    }

    pub(super) fn press_undo(&mut self) {
        self.state.time.now_secs += 5.0;
        self.act_and_wait(Command::Undo);
    }

    fn last_notice(&self) -> String {
        self.state.notices.outcomes().last().map(|outcome| outcome.text.clone()).unwrap_or_default()
    }
}

impl Act {
    /// The command of this act, as the panes give it.
    fn command(&self, fixture: &mut PausedRoom) -> Option<Command> {
        let files = fixture.snapshot();
        let text = |path: &str| String::from_utf8(files[path].clone()).expect("it is text");
        let nth = |index: usize| files.keys().nth(index % files.len().max(1)).cloned();
        let hash = |text: &str| crate::base::hash::content_hash(text.as_bytes());
        let delete = |fixture: &PausedRoom, path: String| fixture.order(FileOperation::Delete { path });
        match self.clone() {
            Self::Save(index, content) => {
                let path = nth(index)?;
                let before = text(&path);
                let save = |base: &str, content: &str| FileOperation::Save {
                    path: path.clone(),
                    base: Some(hash(base)),
                    content: content.to_owned(),
                };
                let back = fixture.order(save(&content, &before));
                Some(Command::Act(fixture.order(save(&before, &content)), Some(back)))
            }
            Self::Create(index, content) => {
                let path = format!("notes/new-{index}.md");
                if files.contains_key(&path) {
                    return None;
                }
                let back = delete(fixture, path.clone());
                Some(Command::Act(fixture.order(FileOperation::Save { path, base: None, content }), Some(back)))
            }
            Self::Delete(index) => Some(Command::Act(delete(fixture, nth(index)?), None)),
            Self::DeleteAll => {
                let paths: Vec<String> = files.keys().filter(|path| path.starts_with("notes/")).cloned().collect();
                let acts = paths.into_iter().map(|path| (delete(fixture, path), None)).collect::<Vec<_>>();
                (!acts.is_empty()).then_some(Command::Acts(acts))
            }
            Self::Rename(index, to) => {
                let (from, to) = (nth(index)?, format!("notes/moved-{to}.md"));
                if files.contains_key(&to) {
                    return None;
                }
                let rename = |from: &str, to: &str| FileOperation::Rename { from: from.into(), to: to.into() };
                let back = fixture.order(rename(&to, &from));
                Some(Command::Act(fixture.order(rename(&from, &to)), Some(back)))
            }
            Self::Restore(index) => {
                let restore = FileOperation::Restore { path: nth(index)?, version: 1 };
                Some(Command::Act(fixture.order(restore), None))
            }
            Self::InRoom(deed) => {
                let model = fixture.model();
                deed.command(&model)
            }
            Self::ByAgent(..) => None,
            Self::Task => {
                let task = TaskCommand { agent: "ada-1".into(), text: "Water the plants".into() };
                Some(Command::Act(RoomAct::Task(task), None))
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, max_shrink_iters: 40, ..ProptestConfig::default() })]
    #[test]
    fn undoing_every_act_restores_every_file_and_passes_over_none(
        acts in proptest::collection::vec(act(), 1..12),
    ) {
        let mut fixture = PausedRoom::with_shipped_files();
        // Before each step: the files, the scene, and whether the step can be undone.
        let mut steps: Vec<(Snapshot, Value, bool)> = Vec::new();
        let mut done = Vec::new();
        for act in &acts {
            if let Act::ByAgent(agent, text) = act {
                fixture.write_as_agent(*agent, text);
                continue;
            }
            let before = (fixture.snapshot(), fixture.scene());
            let Some(command) = act.command(&mut fixture) else { continue };
            fixture.act_and_wait(command);
            if fixture.room.history.len().0 > steps.len() {
                done.push(format!("{act:?}"));
                steps.push((before.0, before.1, !matches!(act, Act::Task)));
            }
        }
        prop_assert_eq!(fixture.room.history.len().0, steps.len());
        let of_agents = fixture.files_of_agents();
        while let Some((files, scene, can_be_undone)) = steps.pop() {
            let now = (fixture.snapshot(), fixture.scene());
            fixture.press_undo();
            prop_assert_eq!(fixture.files_of_agents(), of_agents.clone(), "what agents did in between stays");
            if can_be_undone {
                prop_assert_eq!(fixture.snapshot(), files, "step {} of {:#?}", steps.len(), &done);
                prop_assert_eq!(fixture.scene(), scene, "step {} of {:#?}", steps.len(), &done);
                prop_assert!(fixture.last_notice().starts_with("Undone: "), "{}", fixture.last_notice());
                continue;
            }
            let notice = fixture.last_notice();
            prop_assert!(notice.contains("a task") && notice.contains("cannot be undone"), "{}", notice);
            prop_assert_eq!(&(fixture.snapshot(), fixture.scene()), &now, "nothing else was undone");
            // The next press passes over this one and those directly before it that cannot be undone either.
            while steps.last().is_some_and(|(_, _, can_be_undone)| !can_be_undone) {
                steps.pop();
            }
        }
    }
}

#[test]
fn undoing_the_deletion_of_a_shipped_file_restores_it_and_touches_no_other_file() {
    let mut fixture = PausedRoom::with_shipped_files();
    let before = fixture.snapshot();
    let index = before.keys().position(|path| path == "notes/empty.md").expect("it is there");
    let plan = Act::Save(index, "One line more".into()).command(&mut fixture).expect("there is a file");
    fixture.act_and_wait(plan);
    let edited = fixture.snapshot();
    assert_ne!(edited, before);
    for path in [
        "agents/critic.md",
        "agents/bram.md",
        "notes/empty.md",
        "boards/ideas.md",
        "tasks/garden.task.md",
        "settings.yaml",
    ] {
        let delete = fixture.order(FileOperation::Delete { path: path.into() });
        fixture.act_and_wait(Command::Act(delete, None));
        assert!(!fixture.snapshot().contains_key(path), "{path} is deleted");
        fixture.press_undo();
        assert_eq!(fixture.snapshot(), edited, "{path} is back, and nothing else has changed");
        assert_eq!(fixture.last_notice(), format!("Undone: Delete {path}"));
    }
    fixture.press_undo();
    assert_eq!(fixture.snapshot(), before);
    fixture.press_undo();
    assert_eq!(fixture.last_notice(), "There is nothing to undo.");
}

#[test]
fn a_restored_version_is_not_undone_over_the_change_of_someone_else() {
    let mut fixture = PausedRoom::with_shipped_files();
    let save = |fixture: &mut PausedRoom, index: usize, text: &str| {
        let command = Act::Save(index, text.into()).command(fixture).expect("there is a file");
        fixture.act_and_wait(command);
    };
    let index = fixture.snapshot().keys().position(|path| path == "notes/plan.md").expect("it is there");
    save(&mut fixture, index, "Two\n");
    let restore = fixture.order(FileOperation::Restore { path: "notes/plan.md".into(), version: 1 });
    fixture.act_and_wait(Command::Act(restore, None));
    assert_eq!(fixture.snapshot()["notes/plan.md"], SHIPPED[1].1.as_bytes());
    let world = fixture.room.world().expect("it is open");
    let files = world.resource::<crate::workspace::vfs::FileBridge>().service().and_then(|service| service.handle());
    let write = FileOperation::Write { path: "notes/plan.md".into(), content: "Three\n".into() };
    files.expect("it is open").change_as(Author::agent(&"ada-1".into()), write).expect("it can be written");
    let began = Instant::now();
    let is_known = |fixture: &PausedRoom| {
        fixture.state.texts.files().iter().any(|file| file.path == "notes/plan.md" && file.version >= 4)
    };
    while !is_known(&fixture) && began.elapsed() < Duration::from_secs(20) {
        fixture.read_files();
        fixture.settle();
    }
    fixture.press_undo();
    assert_eq!(fixture.snapshot()["notes/plan.md"], b"Three\n");
    assert!(fixture.last_notice().contains("has changed since"), "{}", fixture.last_notice());
}

#[test]
fn removing_everything_while_an_agent_works_is_asked_and_undone_whole() {
    let mut fixture = PausedRoom::new();
    let before = fixture.scene();
    let mut model = fixture.model();
    model.work.pieces = vec![PieceView {
        activation: crate::base::ActivationKey::numbered(7),
        agent: "ada-1".into(),
        task: "count".into(),
        stage: "thinking",
        turn: 1,
        depth: 0,
        tokens: 0,
        question: None,
    }];
    let agents = model.agents.iter().map(|agent| RoomObject::Agent(agent.id.clone()));
    let elements = model.elements.iter().map(|element| RoomObject::Element(element.id.clone()));
    let things: Vec<RoomObject> = agents.chain(elements).collect();
    let delete = Command::Delete(things.clone());
    handle_command(&mut fixture.room, &model, &mut fixture.state, &mut fixture.shell, delete);
    fixture.settle();
    assert_eq!(fixture.scene(), before, "it is asked first");
    assert_eq!(fixture.state.front.dialog(), Some(&Dialog::DeleteWorking(things.clone())));
    fixture.act(Command::DeleteSurely(things));
    assert!(fixture.model().agents.is_empty() && fixture.model().elements.is_empty(), "everything is removed");
    fixture.act(Command::Undo);
    assert_eq!(fixture.scene(), before, "one undo brings back everything");
}
