//! Models that reason before they answer: their reasoning counts toward the same output limit, so a short limit would
//! leave no tokens for the answer.

use super::vendor::WireFormat;

/// The number of tokens for reasoning, in addition to those of the answer.
const ROOM_TO_THINK_TOKENS: u32 = 4_096;

/// The beginnings of the last part of such models' names.
const THINKING: [&str; 13] = [
    "o1",
    "o3",
    "o4",
    "gpt-5",
    "gpt-oss",
    "gemini-2.5",
    "gemini-3",
    "deepseek-r",
    "deepseek-reasoner",
    "qwq",
    "qwen3",
    "magistral",
    "grok-3-mini",
];

/// Whether a model reasons before it answers, judging by its name.
pub fn is_reasoning_model(model: &str) -> bool {
    let name = model.rsplit('/').next().unwrap_or(model).to_lowercase();
    let begins = |start: &&str| name.strip_prefix(*start).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric));
    let numbered = ["deepseek-r", "gemini-3", "qwen3"].iter().any(|start| name.starts_with(start));
    (numbered || THINKING.iter().any(begins)) && !name.contains("-chat") && !name.contains("instruct")
}

/// Returns the limit of output tokens that leaves a model this many for its answer.
pub fn output_limit_with_reasoning(model: &str, answer_tokens: u32) -> u32 {
    if is_reasoning_model(model) { answer_tokens.saturating_add(ROOM_TO_THINK_TOKENS) } else { answer_tokens }
}

/// Whether requests to this model include the reasoning effort: only OpenAI's own models accept it everywhere.
pub fn takes_effort(wire: WireFormat, model: &str) -> bool {
    let name = model.rsplit('/').next().unwrap_or(model).to_lowercase();
    wire == WireFormat::OpenAi
        && is_reasoning_model(model)
        && ["o1", "o3", "o4", "gpt-5"].iter().any(|own| name.starts_with(own))
}

/// Whether this model accepts stop sequences: OpenAI rejects them for models that reason.
pub fn accepts_stop_sequences(wire: WireFormat, model: &str) -> bool {
    !(wire == WireFormat::OpenAi && is_reasoning_model(model))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasoning_models_are_recognised_by_name() {
        for model in [
            "o1",
            "o3-mini",
            "o4-mini",
            "gpt-5",
            "gpt-5-mini",
            "openai/gpt-5.1",
            "gemini-2.5-flash",
            "QwQ-32B",
            "deepseek/deepseek-r1",
            "deepseek-r1:8b",
            "qwen3-8b",
            "qwen3:4b",
            "gpt-oss:20b",
        ] {
            assert!(is_reasoning_model(model), "{model}");
            assert_eq!(output_limit_with_reasoning(model, 400), 4_496);
        }
        for model in [
            "gpt-4o-mini",
            "gpt-4.1",
            "gpt-5-chat-latest",
            "claude-sonnet-4",
            "llama3.2",
            "smollm2:135m",
            "qwen2.5-7b-instruct",
            "qwen3-4b-instruct-2507",
            "o123",
            "offline",
            "",
        ] {
            assert!(!is_reasoning_model(model), "{model}");
            assert_eq!(output_limit_with_reasoning(model, 400), 400);
        }
        assert!(
            takes_effort(WireFormat::OpenAi, "gpt-5-mini") && !takes_effort(WireFormat::Gemini, "gemini-2.5-flash")
        );
        assert!(
            !accepts_stop_sequences(WireFormat::OpenAi, "o3") && accepts_stop_sequences(WireFormat::OpenAi, "gpt-4o")
        );
        assert!(accepts_stop_sequences(WireFormat::Gemini, "gemini-2.5-pro"));
    }
}
