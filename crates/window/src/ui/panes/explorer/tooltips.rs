//! Descriptions of a file for tooltips and screen readers, including who deleted it.

use super::icons::{kind_name, kind_of_file};
use super::status::ProfileStatus;
use super::{Explorer, texts};
use crate::base::Severity;
use crate::ui::context::ViewerContext;
use crate::ui::widgets::text_format;
use crate::view::model::RoomModel;
use crate::workspace::vfs::{FileInfo, OUTSIDE, ROOM};

/// Returns the display name of a version's author.
pub(super) fn author_name(room: &RoomModel, by: &str) -> String {
    match by {
        "" => texts::BY_SOMEBODY.to_owned(),
        OUTSIDE => texts::BY_ANOTHER_PROGRAM.to_owned(),
        ROOM => texts::BY_THE_ROOM.to_owned(),
        by => room.called(by).to_owned(),
    }
}

impl Explorer {
    /// Returns the status of the agents that a file defines.
    pub(super) fn profile_status(&self, path: &str) -> Option<ProfileStatus> {
        self.tracker.profile_status(self.tracker.profile_of_file(path)?)
    }

    /// Whether a file has a version that the user has not seen.
    pub(super) fn is_changed(&self, file: &FileInfo) -> bool {
        let Some(seen) = &self.remembered.seen else { return false };
        file.version > seen.get(&file.path).copied().unwrap_or(0)
    }

    /// Returns a row's name for screen readers: its path and status marks.
    pub(super) fn accessible_row_name(&self, file: &FileInfo, cx: &ViewerContext<'_>) -> String {
        let mut name = file.path.clone();
        let problems = self.tracker.problems_of(&file.path).map(|problems| match problems.severity {
            Severity::Error => texts::ERROR,
            Severity::Warning => texts::SAID_TO_CHECK,
        });
        let words = [
            self.profile_status(&file.path).map(ProfileStatus::label),
            problems,
            self.is_changed(file).then_some(texts::SAID_CHANGED),
            cx.is_unsaved(&file.path).then_some(texts::SAID_UNSAVED),
        ];
        for word in words.into_iter().flatten() {
            name.push_str(", ");
            name.push_str(word);
        }
        name
    }

    /// Returns the lines of a file's tooltip.
    pub(super) fn tooltip_lines(&self, file: &FileInfo, cx: &ViewerContext<'_>) -> Vec<String> {
        let path = &file.path;
        let mut lines = vec![path.clone()];
        let (kind, size) = (kind_name(kind_of_file(path, file.kind)), text_format::size(file.size));
        lines.push(texts::about_file(kind, &size, file.version, &cx.when(file.modified_ms)));
        if let Some(profile) = self.tracker.profile_of_file(path) {
            let why = self.tracker.failure_reason(profile).filter(|why| !why.is_empty());
            match self.tracker.profile_status(profile) {
                None => lines.push(texts::NOT_IN_THE_ROOM.to_owned()),
                Some(status @ (ProfileStatus::Failed | ProfileStatus::Aborted)) => {
                    lines.push(why.map_or(status.sentence().to_owned(), |why| format!("{} {why}", status.sentence())));
                }
                Some(status) => lines.push(status.sentence().to_owned()),
            }
        }
        lines.extend(self.tracker.problems_of(path).map(|problems| problems.words.clone()));
        if cx.is_unsaved(path) {
            lines.push(texts::UNSAVED_CHANGES.to_owned());
        }
        if self.is_changed(file) {
            lines.push(texts::CHANGED_SINCE.to_owned());
        }
        lines
    }

    /// Returns who deleted a file and when if that is known, otherwise who wrote it last.
    pub(super) fn deletion_text(&self, file: &FileInfo, cx: &ViewerContext<'_>) -> String {
        if let Some(deletion) = self.tracker.deletion(&file.path) {
            return texts::deleted_by(&author_name(cx.room, &deletion.by), &cx.when(deletion.time_ms));
        }
        let newest = match cx.ui.texts.versions(&file.path) {
            Some(Ok(versions)) => versions.first().map(|newest| (newest.author.clone(), newest.time_ms)),
            _ => None,
        };
        match newest {
            Some((by, time_ms)) => texts::last_written_by(&author_name(cx.room, &by), &cx.when(time_ms)),
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
    use crate::ui::panes::explorer::tree::tests::deleted_file;
    use crate::ui::state::file_texts::FileTextRequest;
    use crate::ui::testing::{PaneHarness, sample_room};

    #[test]
    fn a_known_deletion_is_shown_instead_of_the_last_author() {
        let mut stage = PaneHarness::new(sample_room(), UiState::default());
        stage.state.time.born_ms = 100_000_000;
        let file = deleted_file("old.md", 3);
        let text = |stage: &mut PaneHarness| {
            stage.with_context(|cx, panes| panes.pane_mut::<Explorer>().deletion_text(&file, cx))
        };
        assert_eq!(text(&mut stage), "last written yesterday, 00:16");
        assert!(stage.state.texts.has_requests(&FileTextRequest::Versions("old.md".into())));
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
        assert_eq!(text(&mut stage), "last written by another program, today, 03:45");
        let draft = EventDraft::of(&FileChange { gone: true, ..FileChange::new("old.md", "ada-1") });
        let time_ms = 100_000_000 - 7_200_000;
        stage.recent.book.push(&EventRecord { seq: Seq(1), tick: 1, time_ms, run: "r".into(), draft });
        let PaneHarness { room, recent, parts, .. } = &mut stage;
        parts.pane_mut::<Explorer>().tracker.update(room, recent);
        assert_eq!(text(&mut stage), "by Ada, today, 01:46");
    }
}
