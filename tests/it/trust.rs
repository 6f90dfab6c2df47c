//! A few cases of every stress-test loop; `cargo bench --bench figures -- trust` runs all of them.

use libtest_mimic::Trial;

use crate::cases;
use crate::sandbox_modes::with_python;
use crate::trust_loops::LOOPS;
use crate::trust_loops::plan::Plan;

pub fn trials() -> Vec<Trial> {
    let processes =
        with_python("the test of servers that outlive a room", cases![killing_a_room_leaves_no_server_process]);
    let others = cases![
        kills_lose_and_repeat_nothing,
        kills_of_collaborating_agents_lose_and_repeat_nothing,
        corrupted_files_are_reported_and_left_as_they_are,
        hostile_calls_stay_within_the_agents_rights,
        hostile_servers_are_reported,
        no_spelling_of_a_path_gets_past_the_gate,
        concurrent_edits_of_a_person_are_kept,
        kills_of_workflows_memory_and_copies_lose_and_repeat_nothing,
        killing_a_cleaning_loses_nothing,
        nothing_of_a_hostile_text_is_hidden,
        workspaces_from_elsewhere_start_and_send_nothing,
        no_hostile_command_line_runs_unasked,
    ];
    others.into_iter().chain(processes).collect()
}

/// Runs these cases of a stress-test loop, which must find no problem.
fn assert_clean_loop(name: &str, cases: impl IntoIterator<Item = u64>) {
    let (_, run) = LOOPS.into_iter().find(|(known, _)| *known == name).expect("the loop exists");
    run(&Plan::quick(cases)).assert_clean();
}

fn kills_lose_and_repeat_nothing() {
    assert_clean_loop("kills", 0..2);
}

fn kills_of_collaborating_agents_lose_and_repeat_nothing() {
    assert_clean_loop("together", 0..2);
}

fn corrupted_files_are_reported_and_left_as_they_are() {
    assert_clean_loop("mutations", 0..14);
}

fn hostile_calls_stay_within_the_agents_rights() {
    assert_clean_loop("calls", 0..2);
}

fn hostile_servers_are_reported() {
    assert_clean_loop("servers", [4, 21, 26, 29]);
}

fn killing_a_room_leaves_no_server_process() {
    assert_clean_loop("processes", 0..1);
}

fn no_spelling_of_a_path_gets_past_the_gate() {
    assert_clean_loop("paths", 0..2);
}

fn kills_of_workflows_memory_and_copies_lose_and_repeat_nothing() {
    assert_clean_loop("work", 0..3);
}

fn killing_a_cleaning_loses_nothing() {
    assert_clean_loop("cleaning", 0..3);
}

fn nothing_of_a_hostile_text_is_hidden() {
    assert_clean_loop("sights", 0..3);
}

fn concurrent_edits_of_a_person_are_kept() {
    assert_clean_loop("races", 0..1);
}

fn workspaces_from_elsewhere_start_and_send_nothing() {
    assert_clean_loop("restricted", [0, 9, 18, 29, 36, 45, 54, 71, 98, 134, 170, 206]);
}

fn no_hostile_command_line_runs_unasked() {
    assert_clean_loop("commands", [2, 4, 6]);
}
