//! Decides whether an agent acts by calling functions or by writing markers, by what is known about its model.

use std::collections::BTreeMap;

use bevy::ecs::prelude::*;
use serde::{Deserialize, Serialize};

use super::request::{FailureKind, ModelFailure};
use super::settings::ActMode;
use crate::schedule::ticks;

/// For how long a model that refused functions is not offered any, in simulated seconds: its server may change.
const REFUSED_SECS: f32 = 86_400.0;
/// Maximum number of models whose refusals are kept.
const MAX_REFUSED: usize = 64;

/// Whether a model can call functions.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolSupport {
    /// It cannot, or calls only its own: the offline brain and coding agents.
    #[default]
    Never,
    /// It does what a script says, which calls functions only if it was written for them.
    Scripted,
    /// It is not known: a model at another address than its vendor's, such as a local one.
    Unknown,
    /// It can: a model at the address of its vendor.
    Known,
}

/// A model as far as calls of functions are concerned.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ToolModel {
    /// The provider and model: `openai:gpt-4o-mini`.
    pub name: String,
    /// Whether it can call functions.
    pub support: ToolSupport,
}

/// The models of the agents' profiles, by the name in the profile; the name is empty for those that name none. Not
/// saved: the layer that calls models derives it from settings, profiles and the person's choices.
#[derive(Resource, Clone, PartialEq, Eq, Debug, Default)]
pub struct ToolModels(BTreeMap<String, ToolModel>);

impl ToolModels {
    /// Creates the list of models by the names in profiles.
    pub fn new(models: BTreeMap<String, ToolModel>) -> Self {
        Self(models)
    }

    /// Returns the model for this name in a profile; one that calls nothing if it is not known.
    pub(super) fn of(&self, wanted: Option<&str>) -> ToolModel {
        self.0.get(wanted.unwrap_or_default()).cloned().unwrap_or_default()
    }
}

/// The models that refused functions, with the tick of the refusal.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct RefusedTools(BTreeMap<String, u64>);

impl RefusedTools {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Notes that a model refused functions; returns false if that was known. The oldest refusals are forgotten if there
    /// are too many.
    pub(super) fn note(&mut self, model: &str, now: u64) -> bool {
        let is_new = !self.contains(model, now);
        self.0.insert(model.to_owned(), now);
        while self.0.len() > MAX_REFUSED {
            let Some((oldest, _)) = self.0.iter().min_by_key(|(_, tick)| **tick) else { break };
            let oldest = oldest.clone();
            self.0.remove(&oldest);
        }
        is_new
    }

    fn contains(&self, model: &str, now: u64) -> bool {
        self.0.get(model).is_some_and(|tick| now < tick.saturating_add(ticks(REFUSED_SECS)))
    }

    /// Whether an agent with this model acts by calling functions. At work, a model of unknown abilities has other tools
    /// anyway.
    pub(super) fn calls_acts(&self, mode: ActMode, model: &ToolModel, is_work: bool, now: u64) -> bool {
        let may_call = match (mode, model.support) {
            (ActMode::Markers, _) | (_, ToolSupport::Never) => false,
            (ActMode::Tools, _) | (ActMode::Auto, ToolSupport::Known) => true,
            (ActMode::Auto, ToolSupport::Unknown) => is_work,
            (ActMode::Auto, ToolSupport::Scripted) => false,
        };
        may_call && !self.contains(&model.name, now)
    }
}

/// Whether a server refused a request because its model cannot call functions; the wording differs between servers.
pub(super) fn refuses_tools(failure: &ModelFailure) -> bool {
    let said = failure.what.to_lowercase();
    failure.kind == FailureKind::Rejected
        && !failure.is_too_long
        && matches!(failure.status, Some(400 | 404 | 422))
        && ["tool", "function"].iter().any(|word| said.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(support: ToolSupport) -> ToolModel {
        ToolModel { name: "p:m".into(), support }
    }

    #[test]
    fn only_models_known_to_call_functions_are_offered_some_unless_a_setting_says_so() {
        use ToolSupport::{Known, Never, Scripted, Unknown};
        let none = RefusedTools::default();
        let in_room = |mode, support| none.calls_acts(mode, &model(support), false, 0);
        assert_eq!([Never, Scripted, Unknown, Known].map(|of| in_room(ActMode::Auto, of)), [false, false, false, true]);
        assert_eq!([Never, Scripted, Unknown, Known].map(|of| in_room(ActMode::Markers, of)), [false; 4]);
        assert_eq!([Never, Scripted, Unknown, Known].map(|of| in_room(ActMode::Tools, of)), [false, true, true, true]);
        let at_work = |support| none.calls_acts(ActMode::Auto, &model(support), true, 0);
        assert_eq!([Never, Scripted, Unknown, Known].map(at_work), [false, false, true, true]);
    }

    #[test]
    fn a_model_that_refused_functions_is_offered_none_for_a_day() {
        let mut refused = RefusedTools::default();
        assert!(refused.note("p:m", 100) && !refused.note("p:m", 100), "it is told once");
        let is_offered = |now| refused.calls_acts(ActMode::Tools, &model(ToolSupport::Known), false, now);
        assert!(!is_offered(100) && !is_offered(99 + ticks(REFUSED_SECS)) && is_offered(100 + ticks(REFUSED_SECS)));
        let other = ToolModel { name: "p:other".into(), support: ToolSupport::Known };
        assert!(refused.calls_acts(ActMode::Auto, &other, false, 100));
        assert!((0..200).all(|number| refused.note(&format!("p:{number}"), 200 + number)));
        assert_eq!(refused.0.len(), MAX_REFUSED);
        assert!(!refused.0.contains_key("p:m") && refused.0.contains_key("p:199"));
    }

    #[test]
    fn a_refusal_of_functions_is_told_from_other_refusals() {
        let failure = |kind, status, what: &str| ModelFailure {
            status: Some(status),
            ..ModelFailure::new(kind, what, "choose another model")
        };
        for (kind, status, what, refuses) in [
            (FailureKind::Rejected, 400, "ollama answered 400: \"gemma\" does not support tools", true),
            (FailureKind::Rejected, 400, "gemini answered 400: Function calling is not enabled for this model", true),
            (FailureKind::Rejected, 404, "answered 404: No endpoints found that support tool use", true),
            (FailureKind::Rejected, 422, "answered 422: unknown field `tools`", true),
            (FailureKind::Rejected, 400, "answered 400: content policy", false),
            (FailureKind::Unauthorised, 401, "no key for tools", false),
            (FailureKind::Unavailable, 500, "the tool server broke", false),
        ] {
            assert_eq!(refuses_tools(&failure(kind, status, what)), refuses, "{what}");
        }
        let long = failure(FailureKind::Rejected, 400, "the prompt with its tools is too long");
        assert!(!refuses_tools(&ModelFailure { is_too_long: true, ..long }));
    }
}
