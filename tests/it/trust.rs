//! A few cases of every stress-test loop; `cargo bench --bench figures -- trust` runs them all.

use libtest_mimic::Trial;

use crate::cases;
use crate::trust_loops::LOOPS;
use crate::trust_loops::plan::Plan;

pub fn trials() -> Vec<Trial> {
    cases![
        killed_at_any_moment_nothing_is_lost_and_nothing_is_done_twice,
        agents_that_work_together_and_are_killed_lose_and_repeat_nothing,
        corrupted_files_are_reported_and_left_as_they_are,
        hostile_calls_reach_nothing_beyond_the_rights_of_their_agent,
        hostile_servers_end_in_words,
        nothing_of_a_server_is_left_when_its_room_is_killed,
        no_spelling_of_a_path_gets_past_the_gate,
        what_a_person_saves_and_takes_away_while_the_room_writes_is_as_they_left_it,
    ]
}

/// These cases of this loop find nothing.
fn clean(name: &str, cases: impl IntoIterator<Item = u64>) {
    let (_, run) = LOOPS.into_iter().find(|(known, _)| *known == name).expect("there is such a loop");
    run(&Plan::quick(cases)).assert_clean();
}

fn killed_at_any_moment_nothing_is_lost_and_nothing_is_done_twice() {
    clean("kills", 0..2);
}

fn agents_that_work_together_and_are_killed_lose_and_repeat_nothing() {
    clean("together", 0..2);
}

fn corrupted_files_are_reported_and_left_as_they_are() {
    clean("mutations", 0..14);
}

fn hostile_calls_reach_nothing_beyond_the_rights_of_their_agent() {
    clean("calls", 0..2);
}

fn hostile_servers_end_in_words() {
    clean("servers", [4, 21, 26, 29]);
}

fn nothing_of_a_server_is_left_when_its_room_is_killed() {
    clean("processes", 0..1);
}

fn no_spelling_of_a_path_gets_past_the_gate() {
    clean("paths", 0..2);
}

fn what_a_person_saves_and_takes_away_while_the_room_writes_is_as_they_left_it() {
    clean("races", 0..1);
}
