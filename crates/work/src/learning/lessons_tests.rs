//! A lesson goes through its steps, once each, and reports how it ended.

use super::*;
use crate::knowledge::Memory;
use crate::knowledge::consolidation::Similar;

fn lesson(agent: u32) -> Lesson {
    Lesson {
        number: 0,
        agent: AgentKey(agent),
        id: format!("agent-{agent}").into(),
        lines: vec![Line { by: "Ada".into(), text: "Port 8080 is taken.".into(), by_person: false }],
        source: Source::default(),
        at_secs: 0,
        cause: Seq(7),
        stage: Stage::Extracting,
        left_out: None,
    }
}

fn begun() -> Lessons {
    let mut lessons = Lessons::default();
    assert!(lessons.add(lesson(1)).is_none());
    let asked = lessons.question("today").expect("the model is asked what is worth remembering");
    assert_eq!((&*asked.key, asked.cause), ("lesson-1-extract", Seq(7)));
    assert!(lessons.question("today").is_none(), "once");
    lessons
}

fn failure(kind: FailureKind) -> Result<String, ModelFailure> {
    Err(ModelFailure::new(kind, "nobody answered", "wait"))
}

fn compared(lessons: &mut Lessons, similar: Vec<Similar>) {
    let candidate = Candidate::new("Port 8080 is taken.");
    let cases = vec![Case { candidate, similar }];
    let answer = LessonAnswer::Compared { cases };
    assert!(lessons.answered(&LessonAnswered { number: 1, answer }).is_none());
}

fn known() -> Vec<Similar> {
    vec![Similar { memory: Memory::new(&"agent-1".into(), "Port 8080 is free.", None), similarity: 0.9 }]
}

const CANDIDATES: &str = "[{\"content\": \"Port 8080 is taken.\"}]";

fn extracted() -> Lessons {
    let mut lessons = begun();
    assert!(lessons.replied("lesson-1-extract", &Ok(CANDIDATES.into())).is_none());
    lessons
}

#[test]
fn candidates_are_compared_weighed_and_applied() {
    let mut lessons = extracted();
    compared(&mut lessons, known());
    assert_eq!(&*lessons.question("today").expect("it is weighed").key, "lesson-1-weigh");
    let id = known()[0].memory.id.clone();
    let weighed =
        format!("[{{\"candidate\": 1, \"act\": \"UPDATE\", \"id\": \"{id}\", \"content\": \"Port 8080 is taken.\"}}]");
    assert!(lessons.replied("lesson-1-weigh", &Ok(weighed)).is_none());
    let Some(Lesson { stage: Stage::TakingIn { decisions, but: None }, .. }) = lessons.first() else {
        panic!("{lessons:?}")
    };
    assert!(matches!(&decisions[0].act, CandidateAction::Update { id: updated, .. } if *updated == id));
    let told = vec![Knowledge::Updated { id, text: "Port 8080 is taken.".into(), before: "Port 8080 is free.".into() }];
    let answer = LessonAnswer::TakenIn { told, contradictions: Vec::new() };
    let over = lessons.answered(&LessonAnswered { number: 1, answer }).expect("it is over");
    assert!(matches!(over.told.last(), Some(Knowledge::Learned { added: 0, updated: 1, passed_over: 0, .. })));
    assert!(lessons.is_empty());
}

#[test]
fn without_similar_memories_the_model_is_not_asked_again() {
    let mut lessons = extracted();
    compared(&mut lessons, Vec::new());
    assert!(lessons.question("today").is_none());
    assert!(matches!(lessons.first().map(|lesson| &lesson.stage), Some(Stage::TakingIn { .. })));
}

#[test]
fn if_extraction_fails_nothing_is_learned_and_it_is_reported() {
    for outcome in [failure(FailureKind::TimedOut), Ok("I remember nothing".to_owned())] {
        let over = begun().replied("lesson-1-extract", &outcome).expect("it is over");
        assert!(matches!(over.told.as_slice(), [Knowledge::Failed { .. }]), "{over:?}");
    }
    let over = begun().replied("lesson-1-extract", &Ok("[]".to_owned())).expect("it is over");
    assert!(over.told.is_empty(), "that there was nothing is no news");
}

#[test]
fn if_weighing_fails_all_candidates_are_added_and_it_is_reported() {
    let mut lessons = extracted();
    compared(&mut lessons, known());
    lessons.question("today");
    assert!(lessons.replied("lesson-1-weigh", &failure(FailureKind::OverBudget)).is_none());
    let Some(Lesson { stage: Stage::TakingIn { decisions, but: Some(but) }, .. }) = lessons.first() else {
        panic!("{lessons:?}")
    };
    assert!(matches!(&decisions[0].act, CandidateAction::Add { .. }) && but.contains("nobody answered"));
}

#[test]
fn postponed_requests_are_made_again_and_late_answers_are_ignored() {
    let mut lessons = begun();
    assert!(lessons.replied("lesson-1-extract", &failure(FailureKind::PutOff)).is_none());
    assert!(lessons.question("today").is_some());
    assert!(lessons.replied("lesson-9-extract", &Ok(CANDIDATES.into())).is_none());
    assert!(lessons.replied("lesson-1-weigh", &Ok("[]".into())).is_none());
    let answer = LessonAnswer::Failed { why: "late".into() };
    assert!(lessons.answered(&LessonAnswered { number: 3, answer }).is_none());
    assert_eq!(lessons.iter().count(), 1);
}

#[test]
fn beyond_the_limit_the_oldest_waiting_lesson_is_dropped_and_removed_agents_learn_nothing() {
    let mut lessons = begun();
    for agent in 2..=MAX_WAITING as u32 {
        assert!(lessons.add(lesson(agent)).is_none());
    }
    assert_eq!(lessons.add(lesson(99)).map(|given_up| given_up.number), Some(2), "the first is under way");
    lessons.drop_of(|agent| agent == AgentKey(1));
    assert!(lessons.question("today").is_some(), "the next begins");
    assert_eq!(lessons.first().map(|lesson| lesson.number), Some(3));
}

#[test]
fn what_could_not_be_used_of_an_answer_is_reported_with_the_result() {
    let learn = |answer: &str| {
        let mut lessons = begun();
        let over = lessons.replied("lesson-1-extract", &Ok(answer.to_owned()));
        (lessons, over)
    };
    let (mut lessons, over) = learn("[{\"content\": \"Port 8080 is taken.\"}, {\"content\": \"The off");
    assert!(over.is_none(), "the complete memory is compared");
    compared(&mut lessons, Vec::new());
    let told = vec![Knowledge::Added { id: "k-1".into(), kind: "fact".into(), text: String::new(), shared: false }];
    let answer = LessonAnswer::TakenIn { told, contradictions: Vec::new() };
    let over = lessons.answered(&LessonAnswered { number: 1, answer }).expect("it is finished");
    let Some(Knowledge::Learned { added: 1, but: Some(but), .. }) = over.told.last() else {
        panic!("{:?}", over.told);
    };
    assert!(but.contains("one memory") && but.contains("cut off"), "{but}");
    let (_, over) = learn("[{\"content\": \"Port 80");
    let told = over.expect("it is finished").told;
    assert!(matches!(&told[..], [Knowledge::Failed { why }] if why.contains("cut off")), "{told:?}");
    let (_, over) = learn("[]");
    assert!(over.expect("it is finished").told.is_empty(), "an empty list is a good answer");
}
