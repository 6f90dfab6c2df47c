//! What a workflow costs beyond the work of its steps: a thousand steps, ten in parallel, compared with the same work
//! given one piece at a time.

use std::fmt::Write;
use std::time::{Duration, Instant};

use agent_workshop::kernel::Kernel;
use agent_workshop::log::EventKind;
use agent_workshop::orchestration::workflow::{WorkflowCommand, WorkflowRuns};
use agent_workshop::schedule::InputQueue;

use super::measure::{Figure, Times, digits};
use super::work::{Studio, file};

const STEPS: usize = 1_000;
/// The steps of the long workflow, and how many of its ticks are measured.
const LONG_STEPS: usize = 10_000;
const LONG_TICKS: usize = 2_000;
/// The target for its longest tick: a frame at 30 per second.
const MAX_TICK_MS: f64 = 33.0;
const WIDE: usize = 10;
const MAX_MS: f64 = 1.0;
/// The time limit of every wait.
const TIMEOUT: Duration = Duration::from_secs(300);

fn files(steps: usize) -> Vec<(String, String)> {
    let settings = format!(
        "kernel: {{ max_concurrent_activations: {WIDE} }}\nworkflow: {{ max_parallel_steps: {WIDE} }}\ngateway: {{ max_concurrent_requests: {WIDE} }}\nbudget: {{ calls_per_run: 100000, tokens_per_run: 1000000000 }}\n"
    );
    let mut files = vec![file("settings.yaml", &settings)];
    let mut scene = "name: Test\nagents:\n".to_owned();
    for number in 0..WIDE {
        let agent = format!("worker-{number}");
        files.push(file(&format!("agents/{agent}.md"), "You work.\n"));
        let _ = writeln!(scene, "  - {{ id: {agent}, profile: {agent}, position: [0, 0], behaviour: stationary }}");
    }
    files.push(file("scenes/test.yaml", &scene));
    let mut workflow = "---\nname: Many\nsteps:\n".to_owned();
    for step in 0..steps {
        let before = if step < WIDE { String::new() } else { format!(", depends_on: [s{}]", step - WIDE) };
        let agent = step % WIDE;
        let _ = writeln!(workflow, "  - {{ id: s{step}, agent: worker-{agent}, prompt: Piece {step}.{before} }}");
    }
    workflow.push_str("---\n");
    files.push(file("workflows/many.md", &workflow));
    files
}

const SCRIPT: &str = "latency: 0\ndefault: [ { text: Done. } ]\n";

fn start(studio: &mut Studio) {
    let command = WorkflowCommand::Start { workflow: "many".into(), variables: Default::default() };
    studio.room.app.world_mut().resource_mut::<InputQueue<WorkflowCommand>>().push(command);
}

/// The real time until a room has finished the work, and the number of finished pieces of work.
fn timed(begin: impl FnOnce(&mut Studio), is_over: impl Fn(&Studio) -> bool) -> (Duration, usize) {
    let mut studio = Studio::open(&files(STEPS), SCRIPT);
    studio.tick();
    let began = Instant::now();
    begin(&mut studio);
    studio.tick();
    studio.tick();
    while !is_over(&studio) && began.elapsed() < TIMEOUT {
        studio.tick();
    }
    (began.elapsed(), studio.count(EventKind::Complete))
}

/// Measures a thousand steps, ten in parallel, and the same work without a workflow.
pub fn thousand_steps() -> Vec<Figure> {
    let (took, done) = timed(start, |studio| !studio.room.app.world().resource::<WorkflowRuns>().is_running());
    let tasks = |studio: &mut Studio| {
        (0..STEPS).for_each(|step| studio.task(&format!("worker-{}", step % WIDE), format!("Piece {step}.")));
    };
    let (bare, bare_done) = timed(tasks, |studio| studio.room.app.world().resource::<Kernel>().is_idle());
    let ms = |took: Duration| took.as_secs_f64() * 1e3 / STEPS as f64;
    let over = ms(took) - ms(bare);
    vec![Figure {
        what: "a workflow of 1,000 steps, 10 in parallel: overhead per step".into(),
        limit: format!("{} ms", digits(MAX_MS)),
        measured: format!("{} ms", digits(over)),
        against: format!(
            "{} ms per step, {} ms per piece of work; {done} and {bare_done} done",
            digits(ms(took)),
            digits(ms(bare))
        ),
        holds: Some(over <= MAX_MS && done == STEPS && bare_done == STEPS),
    }]
}

/// Measures the ticks at the start of a run with ten thousand steps.
pub fn ten_thousand_steps() -> Vec<Figure> {
    let mut studio = Studio::open(&files(LONG_STEPS), SCRIPT);
    let opened = Times::from_each((0..10).map(|_| studio.tick()));
    start(&mut studio);
    let ticks = Times::from_each((0..LONG_TICKS).map(|_| studio.tick()));
    let done = studio.count(EventKind::Complete);
    let longest = ticks.longest();
    vec![Figure {
        what: "a workflow of 10,000 steps: longest tick, without waiting for the disk".into(),
        limit: format!("{} ms", digits(MAX_TICK_MS)),
        measured: format!("{} ms", digits(longest)),
        against: format!(
            "{ticks} for {LONG_TICKS} ticks, {done} steps done; {} ms the longest when the room opens",
            digits(opened.longest())
        ),
        holds: Some(longest <= MAX_TICK_MS && done > 0),
    }]
}
