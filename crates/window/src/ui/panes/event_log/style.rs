//! The colours and icons of records.

use egui::Color32;

use super::texts;
use crate::base::Severity;
use crate::log::EventKind;
use crate::simulation::State;
use crate::ui::widgets::icons::Icon;
use crate::view::theme::{Theme, state_colour};

/// Returns the colour of a kind of record. Related kinds share one.
pub fn kind_colour(kind: &EventKind, theme: &Theme) -> Color32 {
    match kind {
        EventKind::RunStart | EventKind::RunEnd | EventKind::AgentAdded | EventKind::AgentRemoved => theme.text_soft,
        EventKind::State | EventKind::ActionQueued | EventKind::ActionDropped | EventKind::Reaction => {
            state_colour(State::Wandering)
        }
        EventKind::ElementChanged | EventKind::Read => state_colour(State::Reading),
        EventKind::ConversationStart
        | EventKind::Message
        | EventKind::ConversationEnd
        | EventKind::Publish
        | EventKind::Subscribe
        | EventKind::Deliver
        | EventKind::Blackboard => state_colour(State::Conversing),
        EventKind::Memory | EventKind::Compaction | EventKind::Knowledge | EventKind::Acted => {
            state_colour(State::Patrolling)
        }
        EventKind::Activation
        | EventKind::Spawn
        | EventKind::Signal
        | EventKind::HandOver
        | EventKind::TaskResultReturned
        | EventKind::Complete
        | EventKind::WorkflowStep => state_colour(State::Working),
        EventKind::ToolCall | EventKind::ToolResult => state_colour(State::Heartbeat),
        EventKind::FileChange => state_colour(State::Cooldown),
        EventKind::ApprovalRequested | EventKind::ApprovalDecided => state_colour(State::Waiting),
        EventKind::Budget | EventKind::ModelCall => state_colour(State::Idle),
        EventKind::Provider | EventKind::Warning | EventKind::Abort => theme.warn,
        EventKind::Error => theme.bad,
        EventKind::Input => theme.accent,
        EventKind::Other(_) => theme.text_soft,
    }
}

/// Returns the icon, colour and label of a severity.
pub fn severity_icon(severity: Severity, theme: &Theme) -> (Icon, Color32, &'static str) {
    match severity {
        Severity::Warning => (Icon::Warning, theme.warn, texts::IS_A_WARNING),
        Severity::Error => (Icon::Failure, theme.bad, texts::IS_AN_ERROR),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::widgets::mix;
    use crate::view::theme::{DARK, LIGHT, contrast};

    #[test]
    fn badges_and_icons_have_enough_contrast() {
        for theme in [LIGHT, DARK] {
            for kind in EventKind::ALL {
                let background = mix(theme.card, kind_colour(kind, &theme), 0.22);
                assert!(contrast(theme.text, background) >= 4.5, "{kind:?}, dark={}", theme.dark);
            }
            for severity in [Severity::Warning, Severity::Error] {
                let (_, colour, _) = severity_icon(severity, &theme);
                for background in [theme.panel, mix(theme.panel, theme.accent, 0.18)] {
                    assert!(contrast(colour, background) >= 3.0, "{severity:?}, dark={}", theme.dark);
                }
            }
            for (text_colour, share) in [(theme.text_soft, 0.07), (theme.text, 0.18)] {
                let background = mix(theme.panel, theme.accent, share);
                assert!(contrast(text_colour, background) >= 4.5, "{share}, dark={}", theme.dark);
            }
        }
    }
}
