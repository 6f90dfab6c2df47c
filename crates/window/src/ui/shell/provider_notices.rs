//! Notices about failing providers: one for each, with the number of failures.

use egui::Ui;

use crate::gateway::ProviderFault;
use crate::mind::FailureKind;
use crate::ui::commands::{NoticeCommand, WindowCommand};
use crate::ui::shell::notice_card::card;
use crate::ui::shell::texts::provider as texts;
use crate::ui::widgets::provider_health::{long, summary};
use crate::ui::widgets::{self, text_format};
use crate::ui::{Command, ViewerContext};
use crate::view::model::RoomModel;

/// Returns the key of a series of failures, so that a dismissed notice stays away until the provider fails again.
fn fault_key(fault: &ProviderFault) -> String {
    format!("{} {:?} {}", fault.provider, fault.kind, fault.since_tick)
}

/// Returns the keys of all current series of failures.
pub fn fault_keys(room: &RoomModel) -> impl Iterator<Item = String> {
    room.provider_faults.iter().map(fault_key)
}

/// Whether there is a notice about a failing provider. A reached limit has its own card.
pub fn has_notice(cx: &ViewerContext<'_>) -> bool {
    notices(cx).next().is_some()
}

fn notices<'a>(cx: &ViewerContext<'a>) -> impl Iterator<Item = &'a ProviderFault> {
    let notices = &cx.ui.notices;
    let is_open = |fault: &&ProviderFault| {
        fault.kind != FailureKind::OverBudget && !notices.is_fault_dismissed(&fault_key(fault))
    };
    cx.room.provider_faults.iter().filter(is_open)
}

/// Draws one card for each failing provider, however often it failed.
pub fn notices_ui(ui: &mut Ui, cx: &ViewerContext<'_>, commands: &mut Vec<Command>) {
    let ViewerContext { room, theme, .. } = *cx;
    for fault in notices(cx) {
        let title = text_format::capitalised(&summary(fault));
        let label = texts::dismiss_fault(&summary(fault));
        let closed = card(ui, (&title, &long(fault, room)), theme.bad, theme, &label, |ui| {
            let affected =
                room.failing_agents.values().filter(|index| room.provider_faults.get(**index) == Some(fault));
            let note = texts::agents_concerned(affected.count());
            ui.add(egui::Label::new(widgets::secondary_text(note, theme)).wrap());
            if ui.button(texts::CHANGE_PROVIDER).clicked() {
                commands.push(WindowCommand::ShowSettings(Some("gateway.provider".to_owned())).into());
            }
        });
        if closed {
            commands.push(WindowCommand::Notice(NoticeCommand::PutFaultAside(fault_key(fault))).into());
        }
    }
}

#[cfg(test)]
mod tests {
    use egui_kittest::kittest::Queryable;

    use super::*;
    use crate::schedule::TICKS_PER_SEC;
    use crate::ui::UiState;
    use crate::ui::testing::{sample_room, stage_pane};
    use crate::ui::widgets::room_status;

    /// The sample room with a provider that cannot be reached.
    fn room_with_a_fault() -> RoomModel {
        let mut room = sample_room();
        let fault = ProviderFault {
            provider: "openai".into(),
            models: vec!["gpt-x".into()],
            kind: FailureKind::Unavailable,
            what: "openai could not be reached at http://127.0.0.1:9".into(),
            remedy: "start the server".into(),
            since_tick: room.tick - 12 * TICKS_PER_SEC,
            since_ms: None,
            failures: 3,
        };
        room.provider = "openai · gpt-x".into();
        room.failing_agents = room.agents.iter().map(|agent| (agent.key, 0)).collect();
        room.provider_faults = vec![fault].into();
        room
    }

    #[test]
    fn a_failing_provider_is_never_called_quiet() {
        let room = room_with_a_fault();
        let status = room_status::status(&room);
        assert!(!status.to_lowercase().contains("quiet"), "{status}");
        assert!(status.contains("openai cannot be reached"), "{status}");
        let why = room_status::quiet_reason(&room).expect("the provider fails");
        assert_eq!(
            why.long,
            "Openai could not be reached at http://127.0.0.1:9. For 12 s, 3 failures in a row. Start the server."
        );
    }

    #[test]
    fn repeated_failures_are_one_notice_with_a_count_that_stays_dismissed() {
        let mut state = UiState::default();
        state.notices.is_hint_closed = true;
        let mut window = stage_pane(state, |ui, cx, _| crate::ui::shell::notices::notices_ui(ui, cx));
        window.state_mut().room = room_with_a_fault();
        window.run_steps(3);
        assert!(window.query_by_label_contains("3 failures in a row").is_some());
        let set_failures = |window: &mut egui_kittest::Harness<'static, crate::ui::testing::PaneHarness>, failures| {
            let mut faults = (*window.state().room.provider_faults).clone();
            faults[0].failures = failures;
            window.state_mut().room.provider_faults = faults.into();
            window.run_steps(3);
        };
        set_failures(&mut window, 40);
        assert_eq!(window.query_all_by_label_contains("failures in a row").count(), 1);
        window.get_by_label("Dismiss: openai cannot be reached").click();
        window.run_steps(3);
        set_failures(&mut window, 41);
        assert_eq!(window.query_all_by_label_contains("failures in a row").count(), 0, "it was dismissed");
        let mut faults = (*window.state().room.provider_faults).clone();
        faults[0].since_tick += 9;
        window.state_mut().room.provider_faults = faults.into();
        window.run_steps(3);
        assert_eq!(window.query_all_by_label_contains("failures in a row").count(), 1, "it failed again");
    }
}
