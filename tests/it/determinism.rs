//! The same start and the same inputs produce the same world, tick by tick.

use agent_workshop::app;
use agent_workshop::base::{JobControl, Seq};
use agent_workshop::gateway::{self, ProviderOverride};
use agent_workshop::schedule::{InputJournal, Tick};
use agent_workshop::workspace::SettingsEdit;
use bevy::ecs::schedule::{LogLevel, ScheduleBuildSettings};
use libtest_mimic::Trial;
use serde_json::json;

use crate::cases;
use crate::workshop::{Setup, Workshop, script_file};

const TEN_MINUTES_TICKS: u64 = 10 * 60 * 30;

const SCRIPT: &str = r#"
latency: 0.7
agents:
  researcher:
    - text: "Noted.\n[REMEMBER: cite two sources] [PIN: start with the survey]"
    - error: { status: 429, retry_after: 2 }
default:
  - text: "I see.\n[REMEMBER: this matters]"
  - text: "Understood.\n[VOTE_UP: p1]"
  - text: "Let us go on."
"#;

pub fn trials() -> Vec<Trial> {
    cases![
        two_newsrooms_with_the_offline_brain_stay_equal_for_ten_minutes,
        two_newsrooms_with_a_script_stay_equal_for_ten_minutes,
        a_recorded_run_replays_without_a_model,
        a_run_with_input_of_a_person_replays_and_survives_a_restart,
        a_saved_room_continues_like_one_that_was_never_saved,
        a_room_can_be_saved_after_any_tick,
        another_seed_produces_another_world,
        the_order_of_systems_in_a_tick_is_unambiguous,
    ]
}

fn side_by_side(mut one: Workshop, mut other: Workshop) {
    for tick in 0..TEN_MINUTES_TICKS {
        if tick == 900 {
            for room in [&mut one, &mut other] {
                room.edit("agents/zoe.md", "---\nname: Zoe\n---\nYou are new here.\n");
            }
        }
        one.tick();
        other.tick();
        one.assert_same_world(&mut other);
    }
    assert!(!one.events("read").is_empty(), "nobody read anything");
    assert!(!one.events("message").is_empty(), "nobody said anything");
    assert!(!one.events("memory").is_empty(), "nobody remembered anything");
}

fn two_newsrooms_with_the_offline_brain_stay_equal_for_ten_minutes() {
    let newsroom = || Setup::starter_kit().provider("offline").open_scene("newsroom");
    side_by_side(newsroom(), newsroom());
}

fn two_newsrooms_with_a_script_stay_equal_for_ten_minutes() {
    let newsroom = || Setup::starter_kit().script(SCRIPT).open_scene("newsroom");
    side_by_side(newsroom(), newsroom());
}

fn a_run_with_input_of_a_person_replays_and_survives_a_restart() {
    let mut live = Setup::starter_kit().provider("offline").open_scene("newsroom");
    live.advance(20.0);
    live.push(ProviderOverride { provider: Some(format!("scripted:{}", script_file(SCRIPT).display())) });
    live.advance(40.0);
    let tried = gateway::ProviderTrial::of(live.world(), "offline").unwrap_or_else(|problem| panic!("{problem}"));
    tried.run(&JobControl::default()).book(live.world());
    live.push(SettingsEdit::set("budget", "tokens_per_agent_per_run", json!(4_000)));
    live.push(SettingsEdit::set("gateway", "max_concurrent_requests", json!(1)));
    // A script would start over after the restart; the offline brain has no position.
    live.push(ProviderOverride { provider: Some("offline".into()) });
    live.advance(20.0);
    let mut restarted = live.reopened();
    live.push(ProviderOverride { provider: None });
    restarted.push(ProviderOverride { provider: None });
    live.advance(40.0);
    restarted.advance(40.0);
    restarted.assert_same_world(&mut live);
    assert!(live.events("model_call").iter().any(|call| call["data"]["provider"] == "scripted"));
    assert!(live.events("model_call").iter().any(|call| call["data"]["kind"] == "trial"));
    let mut again = Workshop::begin(live.start.clone(), Seq(1));
    again.world().resource_mut::<InputJournal>().replay(live.inputs.clone());
    again.advance(120.0);
    again.assert_same_world(&mut live);
}

fn a_recorded_run_replays_without_a_model() {
    let mut live = Setup::starter_kit().provider("offline").open_scene("newsroom");
    live.advance(120.0);
    let mut again = Workshop::begin(live.start.clone(), Seq(1));
    again.world().resource_mut::<InputJournal>().replay(live.inputs.clone());
    again.advance(120.0);
    again.assert_same_world(&mut live);
    assert_eq!(again.log().len(), live.log().len(), "the replay logged different events");
}

fn a_saved_room_continues_like_one_that_was_never_saved() {
    let mut whole = Setup::starter_kit().provider("offline").open_scene("newsroom");
    whole.advance(100.0);
    // Saved at busy moments, too: during reads, conversations and open requests.
    for _ in 0..20 {
        whole.advance(3.7);
        let mut reopened = whole.reopened();
        reopened.assert_same_world(&mut whole);
        for _ in 0..60 {
            whole.tick();
            reopened.tick();
            reopened.assert_same_world(&mut whole);
        }
    }
}

/// Nothing may be kept between two ticks except what is saved.
fn a_room_can_be_saved_after_any_tick() {
    let mut whole = Setup::starter_kit().provider("offline").open_scene("newsroom");
    whole.advance(60.0);
    for _ in 0..900 {
        let mut reopened = whole.reopened();
        whole.tick();
        reopened.tick();
        reopened.assert_same_world(&mut whole);
    }
    assert!(!whole.events("conversation_end").is_empty(), "no conversation ended in that time");
}

fn another_seed_produces_another_world() {
    let mut one = Setup::starter_kit().provider("offline").open_scene("studio");
    let mut start = one.start.clone();
    start.seed = Some(987_654_321);
    let mut other = Workshop::begin(start, Seq(1));
    one.advance(20.0);
    other.advance(20.0);
    assert_ne!(one.hash(), other.hash());
}

fn the_order_of_systems_in_a_tick_is_unambiguous() {
    let mut room = app::headless();
    let settings = ScheduleBuildSettings { ambiguity_detection: LogLevel::Error, ..Default::default() };
    room.edit_schedule(Tick, |schedule| {
        schedule.set_build_settings(settings.clone());
    });
    room.world_mut().schedule_scope(Tick, |world, schedule| {
        if let Err(error) = schedule.initialize(world) {
            panic!("ambiguous order of systems: {}", error.to_string(schedule.graph(), world));
        }
        assert!(schedule.systems_len() > 30, "only {} systems", schedule.systems_len());
    });
}
