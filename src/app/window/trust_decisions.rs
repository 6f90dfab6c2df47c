//! A person's decisions in the window about what a workspace wants: when the page is shown, and what follows from a
//! decision. The files are read and written on the thread of window jobs; an open room follows the person's file.

use std::path::PathBuf;
use std::sync::Arc;

use super::open_room::OpenRoom;
use super::window_jobs::{TrustDecision, WindowJob};
use crate::base::Problem;
use crate::desk::trust_page::TrustPage;
use crate::gateway::GatewayEnvironment;
use crate::gateway::trusted_workspaces::TrustFile;
use crate::schedule::InputQueue;
use crate::ui::UiState;
use crate::ui::state::{Dialog, TrustNote, TrustView};
use crate::ui::widgets::text_format::{count, sentence};
use crate::view::model::RoomModel;
use crate::workspace::WorkspaceTrust;
use crate::workspace::trust::TrustChanged;

/// Why there is nothing to decide.
const EVERYTHING_IS_TRUSTED: &str = "Everything in this workspace is trusted for this run, so there is nothing to \
    decide. Open it without --trust and WORKSHOP_TRUST to decide.";
/// Why a job was not started.
const TOO_MUCH_IS_RUNNING: &str = "This was not done: too much is running. Try again.";

/// The jobs about trust that are under way, and whether the page was offered for the open workspace.
#[derive(Debug, Default)]
pub(super) struct TrustDecisions {
    under_way: usize,
    has_offered: bool,
}

impl TrustDecisions {
    /// Whether a job is under way.
    pub(super) fn is_waiting(&self) -> bool {
        self.under_way > 0
    }

    /// Once for a workspace that is restricted, and for one that could not be opened because it is, returns the job that
    /// reads its page. Another dialog is not replaced.
    pub(super) fn offer(&mut self, room: &mut OpenRoom, model: &RoomModel, state: &mut UiState) -> Option<WindowJob> {
        if state.front.dialog().is_some() {
            return None;
        }
        if let Some(folder) = state.trust.refused.take() {
            return self.show(room, state, Some(folder));
        }
        if !model.is_restricted || self.has_offered {
            return None;
        }
        self.has_offered = true;
        self.show(room, state, None)
    }

    /// Opens the page, and returns the job that reads it: of the open workspace, or of the one in this folder.
    pub(super) fn show(
        &mut self,
        room: &mut OpenRoom,
        state: &mut UiState,
        folder: Option<PathBuf>,
    ) -> Option<WindowJob> {
        let world = room.world()?;
        let environment = world.resource::<GatewayEnvironment>().0.clone();
        let of_room = world.get_resource::<TrustFile>().map(|file| file.workspace().to_owned());
        let Some(read) = folder.clone().or(of_room) else {
            // Nothing that the person decides now would count.
            state.hint(EVERYTHING_IS_TRUSTED);
            return None;
        };
        state.front.ask(Dialog::Trust);
        state.trust = TrustView { folder, ..TrustView::default() };
        self.under_way += 1;
        Some(WindowJob::TrustPage { folder: read, environment })
    }

    /// Returns the job that stores a decision. Another one waits until it is stored.
    pub(super) fn decide(
        &mut self,
        room: &mut OpenRoom,
        state: &mut UiState,
        decision: TrustDecision,
    ) -> Option<WindowJob> {
        if state.trust.is_saving {
            return None;
        }
        let environment = room.world()?.resource::<GatewayEnvironment>().0.clone();
        state.trust.is_saving = true;
        self.under_way += 1;
        Some(WindowJob::Trust { decision, environment })
    }

    /// Says that a job could not be started.
    pub(super) fn give_up(&mut self, state: &mut UiState) {
        self.under_way = self.under_way.saturating_sub(1);
        state.trust.is_saving = false;
        state.trust.note = Some(TrustNote { text: TOO_MUCH_IS_RUNNING.to_owned(), is_good: false });
    }

    /// Shows the page that was read.
    pub(super) fn show_page(&mut self, state: &mut UiState, page: Result<TrustPage, Problem>) {
        self.under_way = self.under_way.saturating_sub(1);
        match page {
            Ok(page) => state.trust.page = Some(Arc::new(page)),
            Err(problem) => state.trust.note = Some(note_of(&problem)),
        }
    }

    /// Reports what became of a decision, and shows what the workspace wants after it. Returns the folder of another
    /// workspace that can be opened now.
    pub(super) fn report(
        &mut self,
        room: &mut OpenRoom,
        state: &mut UiState,
        decision: &TrustDecision,
        kept: Result<PathBuf, Problem>,
        now: Result<TrustPage, Problem>,
    ) -> Option<PathBuf> {
        self.under_way = self.under_way.saturating_sub(1);
        state.trust.is_saving = false;
        let file = match kept {
            Ok(file) => file.display().to_string(),
            Err(problem) => {
                state.trust.note = Some(note_of(&problem));
                return None;
            }
        };
        state.trust.note = None;
        tell_room(room, decision);
        match (decision, now) {
            (_, Err(problem)) => {
                state.trust.page = None;
                state.trust.note = Some(note_of(&problem));
            }
            (TrustDecision::Trust(_), Ok(page)) if !page.is_settled() => {
                let text = changed_meanwhile(&page);
                if state.front.dialog() != Some(&Dialog::Trust) {
                    state.notify(&text, false);
                }
                state.trust.note = Some(TrustNote { text, is_good: false });
                state.trust.page = Some(Arc::new(page));
            }
            (TrustDecision::Trust(shown), Ok(_)) => {
                close_page(state);
                state.notify(format!("The workspace is trusted with exactly what was shown. Kept in {file}."), true);
                // The page was about a workspace that could not be opened before.
                let is_other = state.trust.folder.as_ref() == Some(&shown.folder) && shown.folder != *room.folder();
                return is_other.then(|| shown.folder.clone());
            }
            (TrustDecision::Revoke(_), Ok(_)) => {
                close_page(state);
                state.notify(format!("The workspace is restricted again. Kept in {file}."), true);
            }
        }
        None
    }
}

/// Passes a decision about the open workspace to its room, also while it is paused and so does not look at the file.
fn tell_room(room: &mut OpenRoom, decision: &TrustDecision) {
    let Some(world) = room.world() else { return };
    if world.get_resource::<TrustFile>().is_none_or(|file| file.workspace() != decision.folder()) {
        return;
    }
    let trust = match decision {
        TrustDecision::Trust(page) => {
            WorkspaceTrust::Parts { parts: page.wants.iter().map(|widening| widening.hash()).collect() }
        }
        TrustDecision::Revoke(_) => WorkspaceTrust::Nothing,
    };
    world.resource_mut::<InputQueue<TrustChanged>>().push(TrustChanged(trust));
    room.is_active = true;
}

fn close_page(state: &mut UiState) {
    if state.front.dialog() == Some(&Dialog::Trust) {
        state.front.close_dialog();
    }
}

fn changed_meanwhile(page: &TrustPage) -> String {
    let wishes = (!page.new.is_empty()).then(|| count(page.new.len(), "wish", "wishes"));
    let room = page.has_unknown_room.then(|| "a saved room".to_owned());
    let came_in: Vec<String> = wishes.into_iter().chain(room).collect();
    format!(
        "You trusted exactly what was shown. The files changed in the meantime: {} came in, without effect until you \
         trust this, too.",
        came_in.join(" and ")
    )
}

fn note_of(problem: &Problem) -> TrustNote {
    TrustNote { text: format!("{} {}", sentence(&problem.what), sentence(&problem.remedy)), is_good: false }
}
