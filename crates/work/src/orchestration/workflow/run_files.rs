//! What the file orders of runs are for.

use serde::{Deserialize, Serialize};

use super::run_key::RunKey;
use crate::base::Id;

/// The beginning of the keys of orders that read output files of steps.
const READS: &str = "workflow-read/";
/// The beginning of the keys of orders that write the results of runs.
const RESULTS: &str = "workflow-result/";

/// What a file order is for.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum RunFile {
    /// Reading the file that contains an output of a step.
    Output {
        /// The run.
        run: RunKey,
        /// The number of the attempt at the part of the step.
        attempt: u64,
        /// The name of the output.
        output: String,
    },
    /// Writing the result of a run.
    Result {
        /// The run.
        run: RunKey,
    },
}

impl RunFile {
    /// The key of the order that reads an output, from that of the attempt at it.
    pub(super) fn read_key(order: &Id) -> Id {
        format!("{READS}{order}").into()
    }

    /// The key of the order that writes the result of a run that ended in this tick.
    pub(super) fn result_key(run: RunKey, ended_tick: u64) -> Id {
        format!("{RESULTS}{run}/{ended_tick}").into()
    }

    /// Reads what an order is for from its key, for rooms that were saved without it.
    pub(super) fn of_key(key: &str) -> Option<Self> {
        if let Some(order) = key.strip_prefix(READS) {
            let mut parts = order.split('/');
            let (run, attempt) = (RunKey::parse(parts.next()?)?, parts.next()?.parse().ok()?);
            return Some(Self::Output { run, attempt, output: parts.next()?.to_owned() });
        }
        let run = RunKey::parse(key.strip_prefix(RESULTS)?.split('/').next()?)?;
        Some(Self::Result { run })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::RunTag;

    #[test]
    fn orders_under_way_in_older_rooms_are_known_by_their_keys() {
        let run = RunKey::new(7, RunTag::of("r-1"));
        for again in ["", "/again"] {
            let key = RunFile::read_key(&format!("{run}/3/summary{again}").into());
            assert_eq!(RunFile::of_key(&key), Some(RunFile::Output { run, attempt: 3, output: "summary".to_owned() }));
        }
        assert_eq!(RunFile::of_key(&RunFile::result_key(run, 900)), Some(RunFile::Result { run }));
        for odd in ["", "workflow-read/", "workflow-read/wf-7/3/x", "workflow-state/x/1", "act-7/1/0/0123456789abcdef"]
        {
            assert_eq!(RunFile::of_key(odd), None, "{odd}");
        }
    }
}
