//! kill -9 at any moment: afterwards the log contains everything up to some tick and nothing of later ones.

use std::fs;

use proptest::prelude::*;

use super::super::opening;
use super::super::writer::{Entry, Writer};
use super::*;
use crate::store::ReopenFrom;

#[test]
fn an_interrupted_run_is_found_with_its_inputs_and_last_tick() {
    let dir = tempfile::tempdir().unwrap();
    let mut first = store(dir.path());
    first.start_run(run_start("r-1", 1, 0)).unwrap();
    for n in 1..=9 {
        first.send_tick(tick("r-1", n, n)).unwrap();
        if n == 4 {
            assert!(first.save_snapshot(move || Ok(snapshot("r-1", 4, 5))));
        }
    }
    drop(first);
    let second = store(dir.path());
    assert!(second.last_seq_at_open() > Seq(9), "numbers that may have been shown are not used again");
    let found = Reader::open(dir.path()).unwrap().reopen("studio").unwrap().unwrap();
    assert_eq!((&*found.run.id, found.run.last_tick, &found.run.end), ("r-1", 9, &None));
    assert_eq!(found.from, ReopenFrom::Snapshot(snapshot("r-1", 4, 5)));
    assert_eq!(found.inputs.iter().map(|input| input.tick).collect::<Vec<_>>(), [5, 6, 7, 8, 9]);
    assert_eq!(found.inputs[0].data, "\"reply 5\"");
}

#[derive(Clone, Debug)]
enum Act {
    Tick {
        events: u64,
        inputs: usize,
    },
    Snapshot,
    /// Commits everything that was sent.
    Commit,
    End,
    /// Kills the process with everything that was not committed; a new one opens the rest.
    Crash,
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let act = prop_oneof![
        6 => (0..4_u64, 0..3_usize).prop_map(|(events, inputs)| Act::Tick { events, inputs }),
        1 => Just(Act::Snapshot),
        3 => Just(Act::Commit),
        1 => Just(Act::End),
        1 => Just(Act::Crash),
    ];
    proptest::collection::vec(act, 1..40)
}

/// The expected content of a run.
#[derive(Clone, PartialEq, Debug)]
struct Expected {
    id: String,
    first_tick: u64,
    last_tick: u64,
    seqs: Vec<u64>,
    inputs: Vec<RecordedInput>,
    snapshot: Option<u64>,
    has_ended: bool,
}

/// A log that is written and killed, and its expected content.
struct Trial {
    dir: tempfile::TempDir,
    writer: Option<Writer>,
    waiting: Vec<Entry>,
    committed: Vec<Expected>,
    handed_over: Vec<Expected>,
    next_seq: u64,
}

impl Trial {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let writer = Some(Writer::new(opening::open(dir.path(), None).unwrap()));
        Self { dir, writer, waiting: Vec::new(), committed: Vec::new(), handed_over: Vec::new(), next_seq: 1 }
    }

    /// Returns the open run; begins one if there is none.
    fn run(&mut self) -> &mut Expected {
        if self.handed_over.last().is_none_or(|run| run.has_ended) {
            let first_tick = self.handed_over.last().map_or(0, |run| run.last_tick);
            let id = format!("r-{}", self.handed_over.len());
            let start = run_start(&id, self.next_seq, first_tick);
            self.waiting.push(Entry::RunStart { start, time_ms: 1 });
            self.handed_over.push(Expected {
                id,
                first_tick,
                last_tick: first_tick,
                seqs: Vec::new(),
                inputs: Vec::new(),
                snapshot: None,
                has_ended: false,
            });
        }
        self.handed_over.last_mut().unwrap()
    }

    fn act(&mut self, act: &Act) {
        let next_seq = self.next_seq;
        match *act {
            Act::Tick { events, inputs } => {
                let run = self.run();
                run.last_tick += 1;
                let now = run.last_tick;
                let seqs = next_seq..next_seq + events;
                let inputs = vec![input(now, "{}"); inputs];
                run.seqs.extend(seqs.clone());
                run.inputs.extend(inputs.clone());
                let events = seqs.map(|seq| event(&run.id, seq, now)).collect::<Vec<_>>();
                self.next_seq += events.len() as u64;
                self.waiting.push(Entry::Tick(TickRecord { tick: now, events, inputs }));
            }
            Act::Snapshot => {
                let run = self.run();
                run.snapshot = Some(run.last_tick);
                let snapshot = snapshot(&run.id, run.last_tick, next_seq);
                self.waiting.push(Entry::Snapshot(Box::new(snapshot)));
            }
            Act::End => {
                self.run().has_ended = true;
                self.waiting.push(Entry::RunEnd { reason: "done".into(), time_ms: 2 });
            }
            Act::Commit => {
                self.writer.as_mut().unwrap().write(&std::mem::take(&mut self.waiting)).unwrap();
                self.committed.clone_from(&self.handed_over);
            }
            Act::Crash => self.crash(),
        }
    }

    /// Copies the files as a kill would leave them, with the connection still open, and continues in the copy.
    fn crash(&mut self) {
        let left = tempfile::tempdir().unwrap();
        for name in ["workshop.db", "workshop.db-wal"] {
            let from = self.dir.path().join(name);
            if from.exists() {
                fs::copy(from, left.path().join(name)).unwrap();
            }
        }
        self.writer = None;
        self.dir = left;
        self.waiting.clear();
        let was_handed_over = self.handed_over.len();
        self.handed_over.clone_from(&self.committed);
        // The interrupted run is not continued: the next one follows it.
        let opened = opening::open(self.dir.path(), None).unwrap();
        assert_eq!(opened.problems, []);
        // If the database knows a run, a number that was shown in it never belongs to another record, written or not.
        let is_known = was_handed_over == self.committed.len();
        if is_known && self.committed.last().is_some_and(|run| !run.has_ended) {
            assert!(opened.last_seq.0 + 1 >= self.next_seq, "{} after {}", opened.last_seq.0, self.next_seq);
        }
        self.next_seq = opened.last_seq.0 + 1;
        self.writer = Some(Writer::new(opened));
        self.check();
        if let Some(run) = self.handed_over.last_mut() {
            run.has_ended = true;
        }
        self.committed.clone_from(&self.handed_over);
    }

    fn check(&self) {
        let reader = Reader::open(self.dir.path()).unwrap();
        let found: Vec<_> = reader.runs().unwrap().into_iter().rev().collect();
        assert_eq!(found.len(), self.committed.len());
        for (found, expected) in found.iter().zip(&self.committed) {
            assert_eq!((&*found.id, found.last_tick), (expected.id.as_str(), expected.last_tick));
            assert_eq!(seqs(&reader, Some(&found.id)), expected.seqs);
            assert_eq!(reader.inputs(&found.id, 0).unwrap(), expected.inputs);
        }
        let Some(last) = self.committed.last() else { return };
        let reopening = reader.reopen("studio").unwrap().unwrap();
        let from = match &reopening.from {
            ReopenFrom::Snapshot(snapshot) => Some(snapshot.tick),
            ReopenFrom::Start(start) => {
                assert_eq!(*start, json!({ "from": last.first_tick }));
                None
            }
        };
        let later = |input: &&RecordedInput| last.snapshot.is_none_or(|snapshot| input.tick > snapshot);
        assert_eq!(from, last.snapshot);
        assert_eq!(reopening.inputs, last.inputs.iter().filter(later).cloned().collect::<Vec<_>>());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_interleaving_of_ticks_snapshots_and_kills_leaves_a_consistent_prefix(acts in acts()) {
        let mut trial = Trial::new();
        for act in &acts {
            trial.act(act);
        }
        trial.crash();
    }
}
