//! Tests providers with a small request outside the room, and shows the result.

use crossbeam_channel::{Receiver, TryRecvError, bounded};
use serde_json::Value;

use super::open_room::OpenRoom;
use super::settings_commands::named;
use crate::base::{JobControl, text};
use crate::gateway::ProviderTrial;
use crate::gateway::provider_trial::TrialResult;
use crate::ui::UiState;
use crate::ui::commands::job::{Job, WINDOW};
use crate::ui::state::file_texts::FileTextRequest;
use crate::ui::state::notice_board::place_of;
use crate::ui::state::{TrialOutcome, TrialView};
use crate::ui::widgets::text_format;
use crate::ui::widgets::text_format::sentence;

/// A running provider test.
pub(super) struct RunningTrial {
    control: JobControl,
    done: Receiver<TrialResult>,
}

impl RunningTrial {
    /// Stops the test; it still ends with a result.
    pub(super) fn stop(&self) {
        self.control.cancel();
    }

    /// The result, once the test has ended; the inner `None` means that it was stopped before it began.
    pub(super) fn poll(&self) -> Option<Option<TrialResult>> {
        match self.done.try_recv() {
            Ok(tried) => Some(Some(tried)),
            Err(TryRecvError::Disconnected) => Some(None),
            Err(TryRecvError::Empty) => None,
        }
    }
}

/// Starts a job that sends a short request to a provider, if permitted, to check that it answers.
pub(super) fn start(room: &mut OpenRoom, state: &mut UiState, spec: &str) -> Option<(Job, RunningTrial)> {
    let world = room.world()?;
    match ProviderTrial::of(world, spec) {
        Ok(trial) => {
            let choice = trial.choice();
            let of = named(&choice.provider, &choice.model);
            state.providers.trial = Some(TrialView { of: of.clone(), since_secs: state.time.now_secs, outcome: None });
            let (tell, done) = bounded(1);
            let job = Job::new(WINDOW, format!("Testing {of}"), move |control| {
                // If this fails, nobody waits for the result.
                let _ = tell.try_send(trial.run(control));
                Ok(Value::Null)
            });
            let control = job.control.clone();
            Some((job, RunningTrial { control, done }))
        }
        Err(problem) => {
            let text = sentence(&problem.what);
            let outcome = TrialOutcome { good: false, text: text.clone(), remedy: sentence(&problem.remedy) };
            state.providers.trial =
                Some(TrialView { of: spec.to_owned(), since_secs: state.time.now_secs, outcome: Some(outcome) });
            state.notify_at(format!("{text} {}", sentence(&problem.remedy)), false, place_of(&problem));
            None
        }
    }
}

/// Records the usage of a test, and reports its result.
pub(super) fn finish(room: &mut OpenRoom, state: &mut UiState, tried: &TrialResult) {
    if let Some(world) = room.world() {
        tried.book(world);
    }
    room.is_active = true;
    let outcome = outcome_of(tried);
    let is_watched = state.texts.has_requests(&FileTextRequest::Providers);
    if !is_watched {
        // The person has switched to something else in the meantime.
        state.notify_at(format!("{} {}", outcome.text, outcome.remedy).trim(), outcome.good, None);
    }
    let since_secs = state.providers.trial.as_ref().map_or(state.time.now_secs, |trial| trial.since_secs);
    let of = named(&tried.choice.provider, &tried.choice.model);
    state.providers.trial = Some(TrialView { of, since_secs, outcome: Some(outcome) });
}

/// The result of a test, in words.
fn outcome_of(tried: &TrialResult) -> TrialOutcome {
    let who = named(&tried.choice.provider, &tried.choice.model);
    let took = match tried.duration.as_millis() {
        millis @ 0..10_000 => format!("{millis} ms"),
        millis => text_format::duration(millis as f64 / 1e3),
    };
    match &tried.outcome {
        Ok(reply) => {
            let answer = text::truncate(&text::one_line(&reply.text), 100);
            let answer = if answer.is_empty() { "(no words)".to_owned() } else { format!("“{answer}”") };
            let cost = match tried.used.cost().known() {
                Some(usd) if usd <= 0.0 => "at no cost".to_owned(),
                _ => text_format::cost(&tried.used),
            };
            let tokens = text_format::compact(tried.used.tokens);
            let text = format!("{who} answered after {took}: {answer} {tokens} tokens, {cost}.");
            TrialOutcome { good: true, text, remedy: String::new() }
        }
        Err(failure) => {
            let text = format!("{} After {took}.", sentence(&failure.what));
            TrialOutcome {
                good: false,
                text,
                remedy: format!("What to do: {}", failure.remedy.trim_end_matches('.')) + ".",
            }
        }
    }
}
