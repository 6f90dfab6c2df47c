//! The services of a window in a real workspace: choosing and testing providers, screenshots, refusals, and what is
//! written to disk.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::json;

use super::*;
use crate::app::room::OpenOptions;
use crate::app::window::drafts;
use crate::base::Id;
use crate::element::ElementCommand;
use crate::gateway::trusted_workspaces::{self, TrustFile};
use crate::gateway::{Environment, RequestQueue};
use crate::schedule::InputQueue;
use crate::simulation::TaskCommand;
use crate::ui::panes::editor::Draft;
use crate::ui::state::Dialog;
use crate::view::extract::DetailRequest;
use crate::workspace::{SettingsEdit, WorkspaceTrust, starter};

/// A window's services and its open room, in a workspace with the starter kit.
struct ServedWindow {
    folder: tempfile::TempDir,
    room: OpenRoom,
    state: UiState,
    parts: WindowParts,
    services: WindowServices,
    context: Context,
}

impl ServedWindow {
    fn new(provider: Option<&str>) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        starter::init(folder.path()).expect("the starter kit can be written");
        let provider = provider.map(str::to_owned);
        let options = OpenOptions { folder: folder.path().to_owned(), provider, ..OpenOptions::trusted() };
        let room = OpenRoom::open(options).expect("the starter kit opens");
        let context = Context::default();
        // The output is discarded.
        let screen_rect = Some(egui::Rect::from_min_size(egui::Pos2::ZERO, egui::vec2(640.0, 400.0)));
        let input = egui::RawInput { screen_rect, ..egui::RawInput::default() };
        context.run_ui(input, |_| {}).textures_delta.clear();
        Self {
            folder,
            room,
            state: UiState::default(),
            parts: WindowParts::default(),
            services: WindowServices::default(),
            context,
        }
    }

    fn model(&mut self) -> RoomModel {
        let looked_at = self.state.detail_targets();
        let camera = self.state.view.camera;
        self.room.model(&DetailRequest { camera: &camera, things: &looked_at, overlay: false, share: 1.0 })
    }

    fn perform(&mut self, command: Command) {
        let model = self.model();
        self.services.perform(&self.context, &mut self.room, &model, (&mut self.state, &self.parts), command);
    }

    /// Runs one tick and one frame.
    fn pass(&mut self) -> RoomModel {
        self.room.run_ticks(1);
        let model = self.model();
        self.state.time.now_secs = self.room.now_secs();
        self.services.before_frame(&mut self.room, &model, &mut self.state, &mut self.parts);
        self.services.after_frame(&model, &self.state, &self.parts);
        model
    }

    fn until(&mut self, what: &str, is_so: impl Fn(&Self) -> bool) {
        let began = Instant::now();
        while !is_so(self) {
            assert!(began.elapsed() < Duration::from_secs(30), "{what} never came");
            self.pass();
            std::thread::yield_now();
        }
    }

    fn settings(&mut self) -> String {
        self.room.close("to look at the files");
        fs::read_to_string(self.folder.path().join("settings.yaml")).expect("it should exist")
    }
}

#[test]
fn choosing_a_provider_sets_the_workspace_default_immediately() {
    let mut window = ServedWindow::new(None);
    let run = window.room.world().map(|world| world.resource::<crate::log::EventLog>().run().clone());
    window.perform(Command::SetProvider("ollama:llama3:8b".into()));
    let model = window.pass();
    assert_eq!(model.provider, "ollama · llama3:8b");
    assert_eq!((model.settings.provider.as_str(), model.settings.model.as_deref()), ("ollama", Some("llama3:8b")));
    assert_eq!(window.room.world().map(|world| world.resource::<crate::log::EventLog>().run().clone()), run);
    assert!(window.state.notices.outcomes()[0].good, "{:?}", window.state.notices.outcomes());
    window.perform(Command::SetProvider("offline".into()));
    assert_eq!(window.pass().provider, "offline");
    window.perform(Command::SetProvider("nobody:x".into()));
    assert!(window.state.notices.outcomes().iter().any(|outcome| !outcome.good && outcome.text.contains("nobody")));
    let text = window.settings();
    assert!(text.contains("provider: offline") && !text.contains("llama3"), "{text}");
    assert!(text.contains('#'), "comments stay: {text}");
}

#[test]
fn an_override_is_replaced_for_this_run_only() {
    let mut window = ServedWindow::new(Some("offline"));
    let before = fs::read_to_string(window.folder.path().join("settings.yaml")).expect("it is there");
    assert_eq!(window.pass().settings.provider_override.as_deref(), Some("offline"));
    window.perform(Command::SetProvider("ollama:x".into()));
    let model = window.pass();
    assert_eq!(
        (model.provider.as_str(), model.settings.provider_override.as_deref()),
        ("ollama · x", Some("ollama:x"))
    );
    assert_eq!(window.room.options.provider.as_deref(), Some("ollama:x"), "the next scene begins with it");
    window.perform(Command::EndProviderOverride);
    assert_eq!(window.pass().settings.provider_override, None);
    assert_eq!(window.settings(), before);
}

#[test]
fn a_cap_is_set_immediately_and_reported() {
    let mut window = ServedWindow::new(None);
    window.perform(Command::SetSettings(SettingsEdit::set("budget", "calls_per_run", json!(7))));
    assert_eq!(window.pass().settings.budget.calls_per_run, Some(7));
    assert_eq!(window.state.notices.outcomes()[0].text, "budget.calls_per_run is 7 now.");
    assert!(window.settings().contains("calls_per_run: 7"));
}

#[test]
fn testing_the_offline_provider_records_its_usage() {
    let mut window = ServedWindow::new(None);
    let calls = |window: &mut ServedWindow| {
        window.room.world().map(|world| world.resource::<RequestQueue>().ledger().run().calls)
    };
    window.perform(Command::SetSettings(SettingsEdit::set("conversations", "enabled", json!(false))));
    window.perform(Command::TestProvider("offline".into()));
    assert!(window.services.is_busy());
    window.until("an answer", |window| {
        window.state.providers.trial.as_ref().is_some_and(|trial| trial.outcome.is_some())
    });
    let outcome = window.state.providers.trial.clone().and_then(|trial| trial.outcome).expect("it came");
    assert!(outcome.good && outcome.text.contains("tokens, at no cost"), "{outcome:?}");
    assert!(!window.services.is_busy());
    window.pass();
    assert!(calls(&mut window) >= Some(1));
}

#[test]
fn refusals_are_reported_with_a_link() {
    let mut window = ServedWindow::new(None);
    window.pass();
    let world = window.room.world().expect("it is open");
    let gone: Id = "nobody-9".into();
    world.resource_mut::<InputQueue<ElementCommand>>().push(ElementCommand::Remove { element: gone.clone() });
    let task = TaskCommand { agent: gone, text: "work".into() };
    world.resource_mut::<InputQueue<TaskCommand>>().push(task);
    window.pass();
    window.pass();
    let told: Vec<&str> = window.state.notices.outcomes().iter().map(|outcome| outcome.text.as_str()).collect();
    assert_eq!(told.iter().filter(|text| text.contains("nobody-9")).count(), 2, "{told:?}");
    assert!(window.state.notices.outcomes().iter().all(|outcome| !outcome.good));
}

#[test]
fn screenshots_are_drawn_in_the_background_and_never_overwrite() {
    let mut window = ServedWindow::new(None);
    window.pass();
    window.perform(Command::Screenshot(None));
    window.perform(Command::Screenshot(Some("pictures/asked.png".into())));
    window.until("two pictures", |window| !window.services.is_busy());
    let mut files: Vec<String> = fs::read_dir(window.folder.path().join("pictures"))
        .expect("the folder was made")
        .map(|entry| entry.expect("it can be read").file_name().to_string_lossy().into_owned())
        .collect();
    files.sort();
    let scene = window.model().scene;
    assert_eq!(files, ["asked.png".to_owned(), format!("{scene}-1.png")]);
    let next = window_jobs::picture_file(&window.folder.path().join("pictures"), &scene);
    assert!(next.ends_with(format!("{scene}-2.png")));
    assert!(
        window.state.notices.outcomes().iter().any(|outcome| outcome.text == "A picture was saved: pictures/asked.png")
    );
}

#[test]
fn window_state_is_saved_when_stable_and_on_close() {
    let config = tempfile::tempdir().expect("a temporary folder can be made");
    let mut window = ServedWindow::new(None);
    let open = |window: &ServedWindow| WindowStateFile::open(config.path(), window.folder.path());
    let (file, remembered, _) = open(&window);
    window.services = WindowServices::remembering(file, remembered);
    (window.state.view.debug_overlay, window.state.view.is_framed) = (true, true);
    let model = window.model();
    for now_secs in [0.0, 0.5, 1.6] {
        window.state.time.now_secs = now_secs;
        window.services.after_frame(&model, &window.state, &window.parts);
    }
    window.until("the file", |window| open(window).1.overlay);
    assert_eq!(open(&window).1.views[0].0, model.scene);
    window.state.dock.show(&crate::ui::state::dock::Tab::TALKS, |_| true);
    window.state.time.now_secs = 2.0;
    window.services.after_frame(&model, &window.state, &window.parts);
    window.services.close();
    assert!(
        open(&window).1.dock.is_in_front(&crate::ui::state::dock::Tab::TALKS),
        "closing does not wait for it to settle"
    );
}

#[test]
fn tabs_of_deleted_files_return_only_with_unsaved_text() {
    let config = tempfile::tempdir().expect("a temporary folder can be made");
    let mut window = ServedWindow::new(None);
    let folder = window.folder.path().to_owned();
    let (there, gone, begun) = ("settings.yaml", "artifacts/gone.md", "artifacts/begun.md");
    let (mut file, mut remembered, _) = WindowStateFile::open(config.path(), &folder);
    for path in [there, gone, begun] {
        remembered.dock.show(&Tab::file(path), |_| false);
    }
    file.write(&remembered).expect("it can be written");
    let draft = Draft { path: begun.into(), base: None, text: "mine".into(), applies_when_idle: false };
    drafts::write(&folder.join(".workshop/drafts.json"), &[draft]).expect("it can be written");
    let services = WindowServices::of(&mut window.room, Some(config.path().to_owned()));
    services.restore(&mut window.state, &mut window.parts);
    assert_eq!(window.state.dock.files(), [there, begun]);
}

#[test]
fn a_per_agent_cap_is_reported_once() {
    let mut state = UiState::default();
    let refused = Refused {
        what: "the cap of 2 calls a run for ada-1 is reached".into(),
        remedy: "raise it".into(),
        agent: Some("ada-1".into()),
        element: None,
        cap: Some("calls_per_agent_per_run".into()),
    };
    for _ in 0..5 {
        report_refused(refused.clone(), &RoomModel::default(), &mut state);
        if let Some(told) = state.notices.outcomes().first().cloned() {
            state.notices.dismiss_outcome(&told);
        }
    }
    assert_eq!(state.notices.recent().len(), 1);
    assert_eq!(state.notices.recent()[0].place, Some(NoticeTarget::Setting("budget.calls_per_agent_per_run".into())));
}

/// Makes the open workspace a restricted one, about which the person decides in this config folder.
fn restrict(window: &mut ServedWindow) -> tempfile::TempDir {
    let config = tempfile::tempdir().expect("a temporary folder can be made");
    let file = TrustFile::of(Some(config.path()), window.folder.path());
    let world = window.room.world().expect("it is open");
    world.insert_resource(WorkspaceTrust::Nothing);
    world.insert_resource(file);
    world.insert_resource(GatewayEnvironment(Environment::new([], Some(config.path().to_owned()))));
    config
}

fn until_restricted_is(window: &mut ServedWindow, expected: bool) {
    let began = Instant::now();
    while window.pass().is_restricted != expected {
        assert!(began.elapsed() < Duration::from_secs(30), "the room does not follow the decision");
    }
}

#[test]
fn a_restricted_workspace_offers_its_page_once_and_follows_the_decision() {
    let mut window = ServedWindow::new(None);
    let config = restrict(&mut window);
    window.until("the page", |window| window.state.trust.page.is_some());
    assert_eq!(window.state.front.dialog(), Some(&Dialog::Trust));
    let page = window.state.trust.page.clone().expect("it was read");
    assert!(!page.trusted && page.new == page.wants);
    window.state.front.close_dialog();
    for _ in 0..5 {
        window.pass();
    }
    assert_eq!(window.state.front.dialog(), None, "it is offered once");
    assert!(window.model().is_restricted, "closing the page trusts nothing");
    window.perform(Command::ShowTrust(None));
    window.perform(Command::TrustWorkspace(page));
    window.until("the end of the page", |window| window.state.front.dialog().is_none());
    until_restricted_is(&mut window, false);
    let known = trusted_workspaces::load(Some(config.path()), window.folder.path()).expect("it can be read");
    assert!(known.is_trusted);
    window.perform(Command::RevokeTrust(window.folder.path().to_owned()));
    until_restricted_is(&mut window, true);
}

#[test]
fn what_comes_in_while_the_page_is_read_is_not_trusted_and_the_page_says_so() {
    let mut window = ServedWindow::new(None);
    let config = restrict(&mut window);
    window.until("the page", |window| window.state.trust.page.is_some());
    let page = window.state.trust.page.clone().expect("it was read");
    let pulled = window.folder.path().join("agents/pulled.md");
    fs::write(pulled, "---\ntools: [execute_command]\n---\nYou help.\n").expect("it can be written");
    window.perform(Command::TrustWorkspace(page));
    window.until("a note", |window| window.state.trust.note.is_some());
    assert_eq!(window.state.front.dialog(), Some(&Dialog::Trust), "the page stays open");
    let note = window.state.trust.note.clone().expect("it is there").text;
    assert!(note.contains("changed in the meantime") && note.contains("1 wish"), "{note}");
    let page = window.state.trust.page.clone().expect("it was read again");
    let places: Vec<&str> = page.new.iter().map(|widening| widening.place.as_str()).collect();
    assert_eq!((page.trusted, places), (true, vec!["agents/pulled.md"]));
    let known = trusted_workspaces::load(Some(config.path()), window.folder.path()).expect("it can be read");
    assert!(!known.trust().allows(&page.new[0]));
    window.perform(Command::TrustWorkspace(page));
    window.until("the end of the page", |window| window.state.front.dialog().is_none());
}

#[test]
fn where_everything_is_trusted_for_this_run_there_is_nothing_to_decide() {
    let mut window = ServedWindow::new(None);
    window.pass();
    window.perform(Command::ShowTrust(None));
    assert_eq!(window.state.front.dialog(), None);
    assert!(window.state.notices.outcomes()[0].text.contains("nothing to decide"));
}
