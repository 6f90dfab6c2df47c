//! Orders to the knowledge service are answered once: by the service, by its end, or because there is none.

use bevy::app::App;
use serde_json::json;

use super::*;
use crate::base::{ActivationKey, AgentKey, RunTag, Seq};
use crate::gateway::embedding::EmbeddingUsed;
use crate::knowledge::MemoryKind;
use crate::learning::{EmbedderInUse, KnowledgeNotices, KnowledgeService, KnowledgeServiceOptions};
use crate::memory::{MemoriesCounted, MemoryCounts};
use crate::mind::ToolCall;
use crate::schedule::outside::{self, NoticesExt, OutsideExt};
use crate::schedule::{self, InPhase, Layer, Tick, WorkshopSystems};
use crate::tools::executor::ToolOutside;
use crate::tools::{OrderOutcome, PendingToolOrders, Planned};
use crate::workspace::vfs::{FileRights, FileService, FileServiceOptions};

/// What entered the world, each with its tick.
#[derive(Resource, Default)]
struct Admitted {
    outcomes: Vec<(u64, OrderOutcome)>,
    lessons: Vec<(u64, LessonAnswered)>,
    counts: Vec<(u64, MemoryCounts)>,
    embedders: Vec<(u64, EmbedderInUse)>,
}

fn note(
    mut outcomes: MessageReader<OrderOutcome>,
    mut lessons: MessageReader<LessonAnswered>,
    mut counts: MessageReader<MemoriesCounted>,
    mut embedders: MessageReader<EmbedderInUse>,
    (clock, mut admitted): (Res<SimClock>, ResMut<Admitted>),
) {
    let tick = clock.tick();
    admitted.outcomes.extend(outcomes.read().map(|outcome| (tick, outcome.clone())));
    admitted.lessons.extend(lessons.read().map(|answer| (tick, answer.clone())));
    admitted.counts.extend(counts.read().map(|MemoriesCounted(counts)| (tick, counts.clone())));
    admitted.embedders.extend(embedders.read().map(|in_use| (tick, in_use.clone())));
}

/// A world with these orders and this lesson, in which nothing else happens. In the order in which it is dropped.
struct MemoryWorld {
    app: App,
    _files: Option<FileService>,
    _folder: Option<tempfile::TempDir>,
}

impl MemoryWorld {
    fn new(orders: &[ToolOrder], lesson: Option<Lesson>) -> Self {
        let mut app = App::new();
        app.add_plugins(schedule::plugin).init_resource::<Admitted>().init_resource::<KnowledgeBridge>();
        app.insert_resource(EventLog::new("r-1".into(), Seq(1)));
        let pending = serde_json::from_value::<PendingToolOrders>(json!(orders)).expect("they were just written");
        let mut lessons = Lessons::default();
        lesson.into_iter().for_each(|lesson| drop(lessons.add(lesson)));
        app.insert_resource(pending).insert_resource(lessons);
        app.add_outside(ToolOutside(MemoryCalls)).add_outside(LessonSteps);
        app.add_notices::<MemoriesCounted>().add_notices::<EmbedderInUse>().add_notices::<EmbeddingUsed>();
        app.add_systems(Tick, note.in_set(InPhase(WorkshopSystems::Simulate, Layer::Learning)));
        Self { app, _files: None, _folder: None }
    }

    fn with_service(mut self) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let files = FileService::open(FileServiceOptions::new(folder.path())).expect("the folder can be opened");
        let service = KnowledgeService::start(KnowledgeServiceOptions {
            workspace: folder.path().to_owned(),
            state_folder: folder.path().join(".workshop"),
            files: files.handle().expect("the files are open"),
            counted: MemoryCounts::default(),
            notices: KnowledgeNotices::of(self.app.world()),
        });
        self.app.insert_resource(KnowledgeBridge::new(service.expect("a thread can be started")));
        (self._files, self._folder) = (Some(files), Some(folder));
        self
    }

    /// Lets ticks pass, as the driver of the clock does, until there are so many answers.
    fn run_until_answered(&mut self, answers: usize) {
        for _ in 0..100_000 {
            while outside::must_wait(self.app.world_mut(), true) {
                outside::wait(self.app.world(), Duration::from_millis(50));
            }
            schedule::advance(self.app.world_mut());
            let admitted = self.admitted();
            if admitted.outcomes.len() + admitted.lessons.len() >= answers {
                return;
            }
            outside::wait(self.app.world(), Duration::from_millis(1));
        }
        panic!("there is no answer");
    }

    fn admitted(&self) -> &Admitted {
        self.app.world().resource::<Admitted>()
    }
}

fn order(number: u32, content: serde_json::Value) -> ToolOrder {
    let call = ToolCall::new("c", "knowledge_contribute", json!({}));
    ToolOrder {
        key: OrderKey::new(RunTag::default(), (ActivationKey::numbered(7), number, 0), &call),
        agent: "ada".into(),
        profile: "ada".into(),
        plan: Planned::order(KNOWLEDGE, content, Vec::new(), ("remembering", "it")).of("knowledge_contribute"),
        rights: FileRights::default(),
        cause: Seq(1),
        worktree: None,
    }
}

fn contribution(number: u32) -> ToolOrder {
    let order_content = KnowledgeOrder::Contribute {
        content: format!("Port {number} of the preview is taken by service {number}."),
        kind: MemoryKind::default(),
        tags: Vec::new(),
        importance: None,
        is_private: true,
        relations: Vec::new(),
    };
    order(number, json!(order_content))
}

fn comparing() -> Lesson {
    Lesson {
        number: 0,
        agent: AgentKey(1),
        id: "ada".into(),
        lines: Vec::new(),
        source: Source::default(),
        at_secs: 0,
        cause: Seq(7),
        stage: Stage::Comparing { candidates: vec![Candidate::new("Port 8080 is taken.")] },
        left_out: None,
    }
}

#[test]
fn without_a_service_everything_that_is_asked_fails_with_the_reason_in_the_next_tick() {
    let mut world = MemoryWorld::new(&[contribution(1)], Some(comparing()));
    assert!(!outside::must_wait(world.app.world_mut(), true), "nothing is awaited");
    for _ in 0..3 {
        schedule::advance(world.app.world_mut());
    }
    let admitted = world.admitted();
    let [(1, outcome)] = &admitted.outcomes[..] else { panic!("{:?}", admitted.outcomes) };
    assert!(
        matches!(&outcome.news, OrderReport::Failed { why } if why.contains("reopen the workspace")),
        "{outcome:?}"
    );
    let [(1, answered)] = &admitted.lessons[..] else { panic!("{:?}", admitted.lessons) };
    assert!(matches!(&answered.answer, LessonAnswer::Failed { why } if why == NO_SERVICE), "{answered:?}");
}

#[test]
fn an_order_that_cannot_be_read_is_answered_and_no_other_one_waits_for_it() {
    let mut world = MemoryWorld::new(&[order(1, json!({ "do": "dream" })), contribution(2)], None).with_service();
    world.run_until_answered(2);
    let outcomes = &world.admitted().outcomes;
    assert_eq!((outcomes.len(), outcomes[0].1.key.turn, outcomes[1].1.key.turn), (2, 1, 2));
    assert!(matches!(outcomes[0].1.news, OrderReport::Failed { .. }), "{outcomes:?}");
    assert!(matches!(outcomes[1].1.news, OrderReport::Done { .. }), "{outcomes:?}");
}

#[test]
fn the_tick_with_an_answer_has_the_new_number_of_memories_and_the_model_in_use() {
    let mut world = MemoryWorld::new(&[contribution(1)], None).with_service();
    world.run_until_answered(1);
    let admitted = world.admitted();
    let answered_in = admitted.outcomes[0].0;
    assert!(matches!(admitted.outcomes[0].1.news, OrderReport::Done { .. }), "{:?}", admitted.outcomes);
    let [(counted_in, counts)] = &admitted.counts[..] else { panic!("{:?}", admitted.counts) };
    assert!(*counted_in <= answered_in && counts.of("ada") == 1, "{counts:?}");
    let [(reported_in, _)] = &admitted.embedders[..] else { panic!("{:?}", admitted.embedders) };
    assert!(*reported_in <= answered_in);
}

#[test]
fn a_lesson_is_compared_once_and_its_next_step_is_another_order() {
    let mut world = MemoryWorld::new(&[], Some(comparing())).with_service();
    world.run_until_answered(1);
    for _ in 0..3 {
        schedule::advance(world.app.world_mut());
    }
    let lessons = &world.admitted().lessons;
    let [(_, LessonAnswered { number: 1, answer: LessonAnswer::Compared { cases } })] = &lessons[..] else {
        panic!("{lessons:?}")
    };
    assert_eq!(cases.len(), 1);
    let answered = lessons[0].1.clone();
    let mut lessons = world.app.world_mut().resource_mut::<Lessons>();
    assert!(lessons.answered(&answered).is_none(), "the decisions are to be applied");
    world.run_until_answered(2);
    let lessons = &world.admitted().lessons;
    assert!(matches!(&lessons[1].1.answer, LessonAnswer::TakenIn { .. }), "{lessons:?}");
}

#[test]
fn what_a_service_has_not_done_when_it_ends_is_answered_too() {
    let orders: Vec<ToolOrder> = (0..50).map(contribution).collect();
    let mut world = MemoryWorld::new(&orders, None).with_service();
    outside::must_wait(world.app.world_mut(), true);
    world.app.insert_resource(KnowledgeBridge::default());
    world.run_until_answered(orders.len());
    let mut answered: Vec<u32> = world.admitted().outcomes.iter().map(|(_, outcome)| outcome.key.turn).collect();
    answered.sort_unstable();
    assert_eq!(answered, (0..50).collect::<Vec<u32>>());
}
