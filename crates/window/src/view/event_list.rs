//! The event log as the window shows it: records of this run and earlier ones, newest last, each as a row with the
//! fields that lists, filters and graphs need. Bounded, and only for display.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::base::{Id, Seq, Severity};
use crate::log::events::{Error, FileChange, ToolCall, ToolResult, Warning};
use crate::log::{Event, EventData, EventDraft, EventJson, EventKind, EventRecord};

/// Maximum number of rows in memory; older ones are in the log on disk.
pub const ROWS_KEPT: usize = 200_000;

/// A log record as a list row.
#[derive(Clone, PartialEq, Debug)]
pub struct EventRow {
    /// Sequence number in the log.
    pub seq: Seq,
    /// The simulation tick.
    pub tick: u64,
    /// Wall-clock time, in milliseconds since 1970.
    pub time_ms: u64,
    /// The id of the run.
    pub run: Id,
    /// The event kind.
    pub kind: EventKind,
    /// `None` for events that are no problem.
    pub severity: Option<Severity>,
    /// The agent concerned.
    pub agent: Option<Id>,
    /// The activation it belongs to.
    pub activation: Option<Id>,
    /// The session or conversation it belongs to.
    pub session: Option<Id>,
    /// The record that caused it.
    pub cause: Option<Seq>,
    /// The tool concerned.
    pub tool: Option<Id>,
    /// The path of the file concerned.
    pub path: Option<Id>,
    /// The event data as in the log.
    pub data: EventJson,
}

impl EventRow {
    /// The row of a record.
    pub fn of(record: &EventRecord) -> Self {
        let draft = &record.draft;
        let (tool, path) = about(draft);
        let some = |id: Option<Id>| id.filter(|id| !id.is_empty());
        Self {
            seq: record.seq,
            tick: record.tick,
            time_ms: record.time_ms,
            run: record.run.clone(),
            kind: draft.kind.clone(),
            severity: severity(&draft.kind),
            agent: draft.agent.clone(),
            activation: draft.activation.clone(),
            session: draft.session.clone(),
            cause: draft.cause,
            path: some(path),
            tool: some(tool),
            data: draft.data().clone(),
        }
    }

    /// The record, without the fields that were derived from it.
    pub fn record(&self) -> EventRecord {
        let mut draft = EventDraft::from_stored(self.kind.clone(), self.data.clone());
        (draft.agent, draft.activation) = (self.agent.clone(), self.activation.clone());
        (draft.session, draft.cause) = (self.session.clone(), self.cause);
        EventRecord { seq: self.seq, tick: self.tick, time_ms: self.time_ms, run: self.run.clone(), draft }
    }

    /// The parsed event.
    pub fn event(&self) -> Event {
        Event::parse(&self.kind, &self.data)
    }

    /// The event data as `E`, if the row is of that kind.
    pub fn read<E: EventData>(&self) -> Option<E> {
        self.data.read(&self.kind)
    }
}

/// The tool and the file that a record concerns. Parses only the kinds that can have either.
fn about(draft: &EventDraft) -> (Option<Id>, Option<Id>) {
    match &draft.kind {
        EventKind::ToolCall => draft.read::<ToolCall>().map(|call| (Some(call.tool.clone()), call.file())),
        EventKind::ToolResult => draft.read::<ToolResult>().map(|result| (Some(result.tool), None)),
        EventKind::FileChange => draft.read::<FileChange>().map(|change| (None, Some(change.path))),
        EventKind::Warning => draft.read::<Warning>().map(|warning| (None, warning.path)),
        EventKind::Error => draft.read::<Error>().map(|error| match error {
            Error::Problem(problem) => (None, problem.path),
            Error::Work(_) | Error::Request(_) => (None, None),
        }),
        _ => None,
    }
    .unwrap_or_default()
}

fn severity(kind: &EventKind) -> Option<Severity> {
    match kind {
        EventKind::Error => Some(Severity::Error),
        EventKind::Warning | EventKind::Abort => Some(Severity::Warning),
        _ => None,
    }
}

/// The rows, oldest first.
#[derive(Clone, Debug, Default)]
pub struct EventList {
    rows: VecDeque<Arc<EventRow>>,
    /// Number of older rows that are not in memory.
    dropped: u64,
    generation: u64,
}

impl EventList {
    /// Appends a record that just happened.
    pub fn push(&mut self, record: &EventRecord) {
        self.push_row(Arc::new(EventRow::of(record)));
    }

    /// Appends a row that comes after all others.
    pub fn push_row(&mut self, row: Arc<EventRow>) {
        if self.rows.len() >= ROWS_KEPT {
            self.rows.pop_front();
            self.dropped += 1;
        }
        self.rows.push_back(row);
    }

    /// Prepends earlier rows, in order. This starts a new generation: row numbers change.
    pub fn put_before(&mut self, earlier: Vec<Arc<EventRow>>) {
        let first = self.rows.front().map_or(Seq(u64::MAX), |row| row.seq);
        let room = ROWS_KEPT.saturating_sub(self.rows.len());
        let fitting: Vec<_> = earlier.into_iter().filter(|row| row.seq < first).collect();
        let skipped = fitting.len().saturating_sub(room);
        for row in fitting.into_iter().skip(skipped).rev() {
            self.rows.push_front(row);
        }
        self.generation += 1;
        self.dropped = 0;
    }

    /// Removes all rows and starts a new generation.
    pub fn clear(&mut self) {
        self.rows.clear();
        self.generation += 1;
        self.dropped = 0;
    }

    /// Changes whenever row numbers change.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// Total number of rows in this generation, including dropped ones. The newest row has this number minus one.
    pub fn count(&self) -> u64 {
        self.dropped + self.rows.len() as u64
    }

    /// The number of the oldest row in memory.
    pub fn first(&self) -> u64 {
        self.dropped
    }

    /// The row with this number, if it is in memory.
    pub fn row(&self, number: u64) -> Option<&Arc<EventRow>> {
        self.rows.get(usize::try_from(number.checked_sub(self.dropped)?).ok()?)
    }

    /// The rows from this number on, oldest first, each with its number.
    pub fn since(&self, number: u64) -> impl DoubleEndedIterator<Item = (u64, &Arc<EventRow>)> {
        let skipped = usize::try_from(number.saturating_sub(self.dropped)).unwrap_or(usize::MAX);
        let first = self.dropped + skipped as u64;
        let rows = self.rows.range(skipped.min(self.rows.len())..);
        rows.enumerate().map(move |(index, row)| (first + index as u64, row))
    }

    /// The row number of the record with this sequence number.
    pub fn number_of(&self, seq: Seq) -> Option<u64> {
        let index = self.rows.binary_search_by_key(&seq, |row| row.seq).ok()?;
        Some(self.dropped + index as u64)
    }

    /// The row of the record with this sequence number.
    pub fn find(&self, seq: Seq) -> Option<&Arc<EventRow>> {
        self.row(self.number_of(seq)?)
    }

    /// The records that were caused by a record, oldest first. Scans all later rows: use it on a click, not every
    /// frame.
    pub fn effects(&self, seq: Seq) -> Vec<Arc<EventRow>> {
        let after = self.number_of(seq).map_or(self.first(), |number| number + 1);
        self.since(after).filter(|(_, row)| row.cause == Some(seq)).map(|(_, row)| row.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::events::Touch;

    fn row(seq: u64, cause: Option<u64>) -> Arc<EventRow> {
        let call = ToolCall { tool: "vfs_read".into(), ..ToolCall::default() };
        Arc::new(EventRow::of(&record(seq, EventDraft::of(&call).cause(cause.map(Seq)))))
    }

    fn record(seq: u64, draft: EventDraft) -> EventRecord {
        EventRecord { seq: Seq(seq), tick: seq, time_ms: 0, run: "r".into(), draft }
    }

    #[test]
    fn rows_keep_their_numbers_and_link_to_their_effects() {
        let mut book = EventList::default();
        for seq in [10, 11, 13] {
            book.push_row(row(seq, Some(10).filter(|cause| *cause < seq)));
        }
        assert_eq!((book.first(), book.count()), (0, 3));
        assert_eq!(book.number_of(Seq(13)), Some(2));
        assert_eq!(book.find(Seq(12)), None);
        let effects: Vec<u64> = book.effects(Seq(10)).iter().map(|row| row.seq.0).collect();
        assert_eq!(effects, [11, 13]);
        assert_eq!(book.row(0).and_then(|row| row.tool.clone()).as_deref(), Some("vfs_read"));
    }

    #[test]
    fn a_row_has_the_tool_and_file_of_its_record() {
        let about = |draft: EventDraft| {
            let row = EventRow::of(&record(1, draft));
            let word = |id: Option<Id>| id.map(|id| id.to_string());
            (word(row.tool), word(row.path))
        };
        let some = |word: &str| Some(word.to_owned());
        let touches = vec![Touch::new("file.read", "artifacts/plan.md")];
        let call = ToolCall { tool: "open".into(), touches, ..ToolCall::default() };
        assert_eq!(about(EventDraft::of(&call)), (some("open"), some("artifacts/plan.md")));
        let call = ToolCall { tool: "signal_parent".into(), target: some("done.md"), ..ToolCall::default() };
        assert_eq!(about(EventDraft::of(&call)), (some("signal_parent"), None));
        assert_eq!(about(EventDraft::of(&FileChange::new("a.md", "ada"))), (None, some("a.md")));
        let warning = Warning { path: Some("b.md".into()), ..Warning::new("it was changed") };
        assert_eq!(about(EventDraft::of(&Error::Problem(warning.clone().into()))), (None, some("b.md")));
        assert_eq!(about(EventDraft::of(&warning)), (None, some("b.md")));
    }

    #[test]
    fn a_row_converts_back_to_its_record() {
        let draft = EventDraft::of(&FileChange::new("a.md", "ada")).agent(&"ada".into()).session("s").cause(Seq(3));
        let record = record(4, draft.attach("beside it"));
        let text = |record: &EventRecord| serde_json::to_string(record).expect("a record is plain data");
        let back = EventRow::of(&record).record();
        assert_eq!((text(&back), &back.draft.enclosure), (text(&record), &None));
    }

    #[test]
    fn earlier_rows_are_prepended_without_duplicates() {
        let mut book = EventList::default();
        book.push_row(row(5, None));
        let before = book.generation();
        book.put_before(vec![row(3, None), row(4, None), row(5, None)]);
        assert_ne!(book.generation(), before);
        let seqs: Vec<u64> = book.since(0).map(|(_, row)| row.seq.0).collect();
        assert_eq!(seqs, [3, 4, 5]);
        assert_eq!(book.since(2).count(), 1);
    }

    #[test]
    fn the_oldest_rows_are_dropped_and_numbers_stay() {
        let mut book = EventList::default();
        let shared = row(1, None);
        for seq in 0..ROWS_KEPT as u64 + 10 {
            book.push_row(Arc::new(EventRow { seq: Seq(seq), ..(*shared).clone() }));
        }
        assert_eq!((book.first(), book.count()), (10, ROWS_KEPT as u64 + 10));
        assert_eq!(book.row(9), None);
        assert_eq!(book.row(10).map(|row| row.seq), Some(Seq(10)));
        assert_eq!(book.number_of(Seq(ROWS_KEPT as u64)), Some(ROWS_KEPT as u64));
    }
}
