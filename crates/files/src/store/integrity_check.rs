//! Checks whether a history is intact without changing it: with SQLite's own checks, and by reading it.

use std::collections::BTreeSet;

use super::error::{PLACE, StoreError};
use super::reader::{Reader, event};
use crate::base::Problem;

impl Reader {
    /// Returns everything that is wrong with the history, with remedies; empty if it is intact. Reads all of it.
    pub fn examine(&self) -> Result<Vec<Problem>, StoreError> {
        if let Some(what) = self.integrity()?.into_iter().next() {
            return Ok(vec![StoreError::Damaged { path: self.path.clone(), what }.problem()]);
        }
        let scenes: BTreeSet<String> = self.runs()?.into_iter().map(|run| run.scene).collect();
        let mut problems: Vec<Problem> = Vec::new();
        for scene in scenes {
            problems.extend(self.examine_scene(&scene)?);
        }
        let damaged = self.unreadable_events()?;
        if damaged > 0 {
            let what = format!("{damaged} records of the event log are damaged and cannot be read");
            let remedy = "nothing to do: the room continues without them, and exports leave them out";
            problems.push(Problem::warning(PLACE, what, remedy));
        }
        Ok(problems)
    }

    /// Checks whether a scene's room can continue from its last state: the first restore point must be usable.
    fn examine_scene(&self, scene: &str) -> Result<Option<Problem>, StoreError> {
        let Some(newest) = self.recovery_points(scene)?.into_iter().next() else { return Ok(None) };
        match self.restore(&newest) {
            Ok(reopening) if reopening.last_tick < reopening.run.last_tick => {
                let what = format!("{scene}: inputs after tick {} are damaged and cannot be read", reopening.last_tick);
                let remedy = "open the scene: the room continues from there; workspace files are not affected";
                Ok(Some(Problem::error(PLACE, what, remedy)))
            }
            Ok(_) | Err(StoreError::Thinned(_)) => Ok(None),
            Err(error) if error.is_damage() => {
                let what = format!("{scene}: the newest saved state of the room is damaged ({error})");
                let remedy = "open the scene: an older readable state is used; then check what agents did last";
                Ok(Some(Problem::error(PLACE, what, remedy)))
            }
            Err(error) => Err(error),
        }
    }

    fn unreadable_events(&self) -> Result<usize, StoreError> {
        let failed = StoreError::while_doing;
        let sql = "SELECT seq, events.tick, time_ms, runs.id, type, agent, activation, session, cause, data \
                   FROM events JOIN runs ON run = runs.number ORDER BY seq";
        let mut statement = self.connection.prepare_cached(sql).map_err(failed("read the events"))?;
        let mut rows = statement.query([]).map_err(failed("read the events"))?;
        let mut damaged = 0;
        while let Some(row) = rows.next().map_err(failed("read the events"))? {
            damaged += usize::from(event(row).is_err());
        }
        Ok(damaged)
    }
}
