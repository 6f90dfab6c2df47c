//! Failing providers as text: for the status line, the provider button, and the agents that use them.

use egui::{RichText, Ui};

use super::texts;
use crate::gateway::ProviderFault;
use crate::mind::FailureKind;
use crate::ui::widgets::text_format;
use crate::view::model::RoomModel;
use crate::view::theme::Theme;

/// Returns the fault of a provider in a few words: “openai has no valid key”.
pub fn summary(fault: &ProviderFault) -> String {
    let what = match fault.kind {
        FailureKind::Unauthorised => texts::NO_VALID_KEY,
        FailureKind::RateLimited => texts::RATE_LIMITING,
        FailureKind::Unavailable => texts::NOT_REACHED,
        FailureKind::TimedOut => texts::NO_ANSWER_IN_TIME,
        FailureKind::Malformed => texts::UNUSABLE_ANSWERS,
        FailureKind::Rejected => texts::REFUSES_REQUESTS,
        FailureKind::OverBudget => texts::STOPPED_BY_LIMIT,
        FailureKind::Cancelled | FailureKind::PutOff => texts::INTERRUPTED,
    };
    texts::fault(&fault.provider, what)
}

/// Returns two or three sentences: what failed, for how long, how often, and what to do.
pub fn long(fault: &ProviderFault, room: &RoomModel) -> String {
    let since = text_format::since(room, fault.since_tick);
    let what = text_format::capitalised(fault.what.trim_end_matches('.'));
    let remedy = text_format::capitalised(fault.remedy.trim_end_matches('.'));
    texts::fault_in_full(&what, &since, fault.failures, &remedy)
}

/// Returns the most important fault: of a provider that one of the agents uses, otherwise of the room's provider.
pub fn most_important(room: &RoomModel) -> Option<&ProviderFault> {
    let of_agents = room.failing_agents.values().min().and_then(|index| room.provider_faults.get(*index));
    of_agents.or_else(|| of_room(room))
}

/// Returns the fault of the room's default provider.
pub fn of_room(room: &RoomModel) -> Option<&ProviderFault> {
    let provider = room.provider.split(" · ").next().unwrap_or_default();
    room.provider_faults.iter().find(|fault| fault.provider == provider)
}

/// Draws a line about the failing provider of an agent.
pub fn agent_ui(ui: &mut Ui, fault: &ProviderFault, room: &RoomModel, theme: &Theme) {
    let text = RichText::new(text_format::capitalised(&summary(fault))).color(theme.bad);
    ui.add(egui::Label::new(text).wrap()).on_hover_text(long(fault, room));
}
