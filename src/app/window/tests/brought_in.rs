//! What a person brings into a trusted workspace permits nothing until they have seen it, in whichever way it comes in or
//! comes back. What they write in the window permits it at once.

use std::collections::BTreeSet;

use super::*;
use crate::desk::seen_changes::widenings_of_file;
use crate::gate::commands::{ALLOWLIST_FILE, CommandRules};
use crate::schedule::advance;
use crate::ui::state::ImportQuestion;
use crate::workspace::{KnownFiles, WorkspaceTrust};

const REACHING: &str = "---\nname: Zoe\ndescription: Helps\ntools: [execute_command]\n---\nYou are Zoe.";
const HEARTBEAT: &str = "## Schedule\n\n- @every: 15m\n\n## On Wake\n\n- Look around\n";

impl PausedRoom {
    /// A workspace in which the person trusts what is there and nothing that comes in later.
    fn trusting_what_is_there() -> Self {
        let mut fixture = Self::new();
        let world = fixture.room.world().expect("it is open");
        world.insert_resource(WorkspaceTrust::Parts { parts: BTreeSet::new() });
        advance(world);
        fixture
    }

    /// Whether everything that a file wants to be allowed is trusted.
    fn permits(&mut self, path: &str) -> bool {
        let world = self.room.world().expect("it is open");
        // What is trusted because of a change counts from the next tick on.
        advance(world);
        advance(world);
        let text = world.resource::<KnownFiles>().text(path).unwrap_or_else(|| panic!("there is no {path}")).to_owned();
        let found = match path {
            ALLOWLIST_FILE => CommandRules::parse(&text).0.widenings().collect(),
            _ => widenings_of_file(path, &text),
        };
        assert!(!found.is_empty(), "{path} wants nothing");
        let trust = world.resource::<WorkspaceTrust>();
        found.iter().all(|widening| trust.allows(widening))
    }

    /// Drops the file of an agent that reaches outside onto the room.
    fn drop_reaching(&mut self) {
        let zoe = self.desktop("zoe.md", REACHING);
        self.perform(Command::Import { paths: vec![zoe], place: at(0.0, 900.0) });
        self.frames();
    }

    fn import(&mut self, name: &str, text: &str, folder: Option<&str>) {
        let paths = vec![self.desktop(name, text)];
        self.perform(Command::ImportFiles { paths, folder: folder.map(str::to_owned) });
        self.frames();
    }

    fn rename_file(&mut self, from: &str, to: &str) {
        let rename = |from: &str, to: &str| FileOperation::Rename { from: from.into(), to: to.into() };
        let (forth, back) = (self.order(rename(from, to)), self.order(rename(to, from)));
        self.act_and_wait(Command::Act(forth, Some(back)));
    }

    fn save(&mut self, path: &str, before: Option<&str>, text: &str) {
        let hash = |text: &str| crate::base::hash::content_hash(text.as_bytes());
        let save = |base: Option<&str>, text: &str| FileOperation::Save {
            path: path.to_owned(),
            base: base.map(hash),
            content: text.to_owned(),
        };
        let back = match before {
            Some(before) => save(Some(text), before),
            None => FileOperation::Delete { path: path.to_owned() },
        };
        let (forth, back) = (self.order(save(before, text)), self.order(back));
        self.act_and_wait(Command::Act(forth, Some(back)));
    }
}

#[test]
fn what_is_imported_permits_nothing_in_whichever_way_it_comes_in() {
    let mut fixture = PausedRoom::trusting_what_is_there();
    fixture.drop_reaching();
    assert!(!fixture.permits("agents/zoe.md"), "dropped onto the room");
    fixture.import("zia.md", REACHING, None);
    assert!(!fixture.permits("agents/zia.md"), "imported by its kind");
    fixture.import("zac.md", REACHING, Some("agents"));
    assert!(!fixture.permits("agents/zac.md"), "imported into a folder");
    fixture.import("beat.md", HEARTBEAT, Some("notes"));
    fixture.rename_file("notes/beat.md", "agents/ada/heartbeat.md");
    assert!(!fixture.permits("agents/ada/heartbeat.md"), "moved to where it counts");
    fixture.import("rules.yaml", "curl: true\n", Some("notes"));
    fixture.rename_file("notes/rules.yaml", ALLOWLIST_FILE);
    assert!(!fixture.permits(ALLOWLIST_FILE), "a list of rules for commands");
}

#[test]
fn a_confirmed_folder_permits_nothing_either() {
    let mut fixture = PausedRoom::trusting_what_is_there();
    let elsewhere = tempfile::tempdir().expect("a temporary folder can be made");
    let kit = elsewhere.path().join("kit");
    let module = "export default {};\n";
    for (path, text) in
        [("agent.mdx", "---\nid: kit\n---\n\n# Kit\n"), ("heartbeat.md", HEARTBEAT), ("modules/clock.ts", module)]
    {
        let path = kit.join(path);
        fs::create_dir_all(path.parent().expect("it is in a folder")).expect("folders can be made");
        fs::write(path, text).expect("files can be written");
    }
    let question = ImportQuestion { paths: vec![kit], folder: None, place: None, summary: Vec::new() };
    fixture.perform(Command::ImportSeen(question));
    fixture.frames();
    assert!(!fixture.permits("agents/kit/heartbeat.md") && !fixture.permits("agents/kit/modules/clock.ts"));
}

#[test]
fn what_was_imported_goes_on_waiting_when_it_comes_back_or_is_copied() {
    let mut fixture = PausedRoom::trusting_what_is_there();
    fixture.drop_reaching();
    fixture.act(Command::Undo);
    fixture.frames();
    fixture.act(Command::Redo);
    fixture.frames();
    assert!(!fixture.permits("agents/zoe.md"), "the import was undone and redone");
    let path = "agents/zoe.md";
    let delete = fixture.order(FileOperation::Delete { path: path.into() });
    let restore = fixture.order(FileOperation::Restore { path: path.into(), version: 1 });
    fixture.act_and_wait(Command::Act(delete, Some(restore)));
    fixture.press_undo();
    assert!(!fixture.permits(path), "it was deleted and restored");
    fixture.save(path, Some(REACHING), "You are Zoe.");
    fixture.press_undo();
    assert!(!fixture.permits(path), "an edit of it was undone");
    fixture.save("agents/zoe-2.md", None, REACHING);
    assert!(!fixture.permits("agents/zoe-2.md"), "it was duplicated");
    fixture.rename_file(path, "agents/zora.md");
    assert!(!fixture.permits("agents/zora.md"), "it was renamed");
}

#[test]
fn what_the_person_writes_in_the_window_permits_it_at_once_and_wherever_it_goes() {
    let mut fixture = PausedRoom::trusting_what_is_there();
    let own = REACHING.replace("You are Zoe.", "You are mine.");
    fixture.save("agents/own.md", None, &own);
    assert!(fixture.permits("agents/own.md"), "it was written in the editor");
    fixture.rename_file("agents/own.md", "agents/mine.md");
    assert!(fixture.permits("agents/mine.md"), "it was renamed");
    fixture.save("agents/copy.md", None, &own);
    assert!(fixture.permits("agents/copy.md"), "it was duplicated");
    let delete = fixture.order(FileOperation::Delete { path: "agents/copy.md".into() });
    let restore = fixture.order(FileOperation::Restore { path: "agents/copy.md".into(), version: 1 });
    fixture.act_and_wait(Command::Act(delete, Some(restore)));
    fixture.press_undo();
    assert!(fixture.permits("agents/copy.md"), "it was deleted and restored");
    let place = at(0.0, 900.0);
    fixture.perform(Command::AddCodingAgent { name: "Coder".into(), model: "acp:claude".into(), place });
    fixture.frames();
    assert!(fixture.permits("agents/coder.md"), "it was chosen in a dialog");
}

#[test]
fn undoing_an_import_keeps_files_changed_since() {
    let mut fixture = PausedRoom::new();
    let paths = ["plan.md", "tea.md", "cup.png"].map(|name| fixture.desktop(name, name)).to_vec();
    fs::write(&paths[2], [0xff, 0]).expect("files can be written");
    fixture.perform(Command::ImportFiles { paths, folder: Some("artifacts".into()) });
    fixture.frames();
    let there = |fixture: &PausedRoom| {
        ["plan.md", "tea.md", "cup.png"].map(|name| fixture.folder.path().join("artifacts").join(name).exists())
    };
    assert_eq!(there(&fixture), [true, true, true]);
    fs::write(fixture.folder.path().join("artifacts/tea.md"), "mine").expect("files can be written");
    fixture.act(Command::Undo);
    fixture.frames();
    assert_eq!(there(&fixture), [false, true, true]);
    let is_reported = |fixture: &PausedRoom, words: &str| {
        fixture.state.notices.outcomes().iter().any(|notice| notice.text.contains(words))
    };
    assert!(
        is_reported(&fixture, "'artifacts/tea.md' was changed in the meantime"),
        "{:?}",
        fixture.state.notices.outcomes()
    );
    assert!(is_reported(&fixture, "'artifacts/cup.png' was kept"), "{:?}", fixture.state.notices.outcomes());
    fixture.act(Command::Redo);
    fixture.frames();
    assert_eq!(there(&fixture), [true, true, true]);
    let text = |name: &str| fs::read_to_string(fixture.folder.path().join("artifacts").join(name));
    assert_eq!(text("plan.md").expect("it should exist"), "plan.md");
    assert_eq!(text("tea.md").expect("it should exist"), "mine", "nothing is written over");
    fixture.act(Command::Undo);
    fixture.frames();
    assert_eq!(there(&fixture), [false, true, true]);
}
