//! Descriptions of a file for tooltips and screen readers, including who deleted it.

use super::icons::{kind_name, kind_of_file};
use super::status::ProfileStatus;
use super::{Explorer, texts};
use crate::base::Severity;
use crate::ui::context::ViewerContext;
use crate::view::model::RoomModel;
use crate::workspace::vfs::{FileInfo, OUTSIDE, ROOM};

/// What an author of a version is called.
pub(super) fn author(room: &RoomModel, by: &str) -> String {
    match by {
        "" => texts::BY_SOMEBODY.to_owned(),
        OUTSIDE => texts::BY_ANOTHER_PROGRAM.to_owned(),
        ROOM => texts::BY_THE_ROOM.to_owned(),
        by => room.called(by).to_owned(),
    }
}

impl Explorer {
    /// The status of the agents that a file defines.
    pub(super) fn profile_status(&self, path: &str) -> Option<ProfileStatus> {
        self.watch.profile_status(self.watch.profile_of_file(path)?)
    }

    /// Whether a file has a version that the person has not seen.
    pub(super) fn is_changed(&self, file: &FileInfo) -> bool {
        let Some(seen) = &self.remembered.seen else { return false };
        file.version > seen.get(&file.path).copied().unwrap_or(0)
    }

    /// The name of a file's row: its path and its marks.
    pub(super) fn row_name(&self, file: &FileInfo, cx: &ViewerContext<'_>) -> String {
        let mut name = file.path.clone();
        let wrong = self.watch.wrong(&file.path).map(|wrong| match wrong.severity {
            Severity::Error => texts::ERROR,
            Severity::Warning => texts::SAID_TO_CHECK,
        });
        let words = [
            self.profile_status(&file.path).map(ProfileStatus::word),
            wrong,
            self.is_changed(file).then_some(texts::SAID_CHANGED),
            cx.is_unsaved(&file.path).then_some(texts::SAID_UNSAVED),
        ];
        for word in words.into_iter().flatten() {
            name.push_str(", ");
            name.push_str(word);
        }
        name
    }

    /// Everything there is to say about a file, a line each.
    pub(super) fn tip(&self, file: &FileInfo, cx: &ViewerContext<'_>) -> Vec<String> {
        let path = &file.path;
        let mut lines = vec![path.clone()];
        let (kind, size) = (kind_name(kind_of_file(path, file.kind)), texts::size(file.size));
        lines.push(texts::about_file(kind, &size, file.version, &cx.when(file.modified_ms)));
        if let Some(profile) = self.watch.profile_of_file(path) {
            let why = self.watch.why_ended(profile).filter(|why| !why.is_empty());
            match self.watch.profile_status(profile) {
                None => lines.push(texts::NOT_IN_THE_ROOM.to_owned()),
                Some(standing @ (ProfileStatus::Failed | ProfileStatus::Aborted)) => {
                    lines.push(
                        why.map_or(standing.sentence().to_owned(), |why| format!("{} {why}", standing.sentence())),
                    );
                }
                Some(standing) => lines.push(standing.sentence().to_owned()),
            }
        }
        lines.extend(self.watch.wrong(path).map(|wrong| wrong.words.clone()));
        if cx.is_unsaved(path) {
            lines.push(texts::UNSAVED_CHANGES.to_owned());
        }
        if self.is_changed(file) {
            lines.push(texts::CHANGED_SINCE.to_owned());
        }
        lines
    }

    /// Who took a file away and when, as far as that is known; else who wrote it last.
    pub(super) fn gone_words(&self, file: &FileInfo, cx: &ViewerContext<'_>) -> String {
        if let Some(taken) = self.watch.taken(&file.path) {
            return texts::deleted_by(&author(cx.room, &taken.by), &cx.when(taken.time_ms));
        }
        let newest = match cx.ui.texts.versions(&file.path) {
            Some(Ok(versions)) => versions.first().map(|newest| (newest.author.clone(), newest.time_ms)),
            _ => None,
        };
        match newest {
            Some((by, time_ms)) => texts::last_written_by(&author(cx.room, &by), &cx.when(time_ms)),
            None => texts::last_written(&cx.when(file.modified_ms)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::base::Seq;
    use crate::log::events::FileChange;
    use crate::log::{EventDraft, EventRecord};
    use crate::store::FileVersion;
    use crate::ui::UiState;
    use crate::ui::panes::explorer::tree::tests::gone;
    use crate::ui::state::file_texts::Want;
    use crate::ui::testing::{Stage, sample_room};

    #[test]
    fn who_took_a_file_away_is_told_before_who_wrote_it_last() {
        let mut stage = Stage::new(sample_room(), UiState::default());
        stage.state.time.born_ms = 100_000_000;
        let file = gone("old.md", 3);
        let said = |stage: &mut Stage| stage.look(|cx, panes| panes.explorer.gone_words(&file, cx));
        assert_eq!(said(&mut stage), "last written yesterday, 00:16");
        assert!(stage.state.texts.is_wanted(&Want::Versions("old.md".into())));
        let version = |author: &str, number| FileVersion {
            number,
            time_ms: 100_000_000 - 60_000,
            author: author.into(),
            activation: None,
            order_key: None,
            chars: 1,
        };
        let versions = Arc::new(vec![version(OUTSIDE, 3), version("user", 2)]);
        stage.state.texts.versions.insert("old.md".into(), Ok(versions));
        assert_eq!(said(&mut stage), "last written by another program, today, 03:45");
        let draft = EventDraft::of(&FileChange { gone: true, ..FileChange::new("old.md", "ada-1") });
        let time_ms = 100_000_000 - 7_200_000;
        stage.recent.book.push(&EventRecord { seq: Seq(1), tick: 1, time_ms, run: "r".into(), draft });
        let Stage { room, recent, panes, .. } = &mut stage;
        panes.explorer.watch.follow(room, recent);
        assert_eq!(said(&mut stage), "by Ada, today, 01:46");
    }

    #[test]
    fn sizes_are_short() {
        let said: Vec<String> = [0, 1, 999, 1_000, 12_345, 5_000_000].map(texts::size).into();
        assert_eq!(said, ["0 bytes", "1 byte", "999 bytes", "1.0 kB", "12.3 kB", "5.0 MB"]);
    }
}
