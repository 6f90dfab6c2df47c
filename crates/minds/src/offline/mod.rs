//! The offline brain: a provider that needs no network and no model. It reads its prompt, answers in character about
//! its content, and uses markers in moderation, so that a first run is lively.
//!
//! An answer is a pure function of the request, which includes the earlier statements in the room. In reading order:
//! [`prompt_reader`] extracts data from the parts of the prompt, [`speaker`] holds the agent's role and tone, one of
//! [`remark`], [`talk`], [`task`] and [`summary`] drafts a reply, [`markers`] chooses its markers, and [`draft`]
//! formats the text. [`text`], [`phrases`], [`facts`] and [`topic`] analyze texts. A task with tools takes another path:
//! [`history`] parses the earlier calls, [`work`] chooses the next step, [`collaboration`] finds requests that involve
//! other agents, [`artifacts`] writes documents, and [`outputs`] fills in named outputs. Lines and vocabulary are in
//! the YAML files of this folder ([`data`]).
//!
//! So that a room becomes idle without new input, pins are only added to a nearly empty pinboard, and a reply to mail
//! is never answered.

pub mod artifacts;
pub mod collaboration;
mod data;
pub mod draft;
pub mod facts;
pub mod filler;
pub mod history;
pub mod markers;
pub mod memory_extraction;
pub mod outputs;
pub mod phrases;
pub mod prompt_reader;
pub mod remark;
pub mod speaker;
pub mod summary;
pub mod talk;
pub mod task;
pub mod text;
pub mod topic;
pub mod work;

#[cfg(test)]
mod examples;
#[cfg(test)]
mod kit_tests;
#[cfg(test)]
mod talk_tests;
#[cfg(test)]
mod tests;

use self::draft::Draft;
use self::prompt_reader::ParsedPrompt;
use self::speaker::Speaker;
use self::text::{normalized, sentences};
use crate::base::hash::content_hash;
use crate::base::text::tokens_of_chars;
use crate::gateway::provider::{ProviderRequest, SimulatedAnswer, SimulatedProvider};
use crate::mind::context::CurrentRequest;
use crate::mind::{CallKind, Completion, Finish, ToolCall, Usage};

/// Number of drafts to try before accepting one that repeats an earlier sentence.
const MAX_DRAFTS: u64 = 6;
/// Simulated latency of an empty reply, in seconds.
const SHORTEST_LATENCY_SECS: f32 = 0.5;
/// Upper limit of the simulated latency, in seconds.
const LONGEST_LATENCY_SECS: f32 = 2.5;
/// The answer to a sampling request of a tool server.
const NO_MODEL: &str = "There is no model here that could answer this: the room runs on its offline brain.";
/// Simulated latency per character of a reply, in seconds.
const LATENCY_SECS_PER_CHAR: f32 = 0.004;

/// The built-in default provider.
#[derive(Clone, Copy, Default, Debug)]
pub struct OfflineProvider;

impl SimulatedProvider for OfflineProvider {
    fn answer(&mut self, request: &ProviderRequest) -> SimulatedAnswer {
        if request.kind == CallKind::Sampling {
            return timed_answer(request, NO_MODEL.to_owned(), Vec::new(), Finish::Stop);
        }
        if let Some(text) = memory_extraction::answer(request) {
            return timed_answer(request, text, Vec::new(), Finish::Stop);
        }
        let (text, tool_calls, finish) = match work::next_step(request) {
            Some(step) if step.calls.is_empty() => (step.text, Vec::new(), Finish::Stop),
            Some(step) => (step.text, step.calls, Finish::ToolCalls),
            None => {
                let (text, was_cut) = reply(request).fit(request.max_output_tokens);
                (text, Vec::new(), if was_cut { Finish::Length } else { Finish::Stop })
            }
        };
        timed_answer(request, text, tool_calls, finish)
    }
}

/// Builds an answer whose usage and simulated latency follow from its length.
fn timed_answer(request: &ProviderRequest, text: String, tool_calls: Vec<ToolCall>, finish: Finish) -> SimulatedAnswer {
    let chars = text.chars().count() + tool_calls.iter().map(ToolCall::chars).sum::<usize>();
    let input_tokens = request.estimated_input_tokens();
    let usage = Usage { input_tokens, output_tokens: tokens_of_chars(chars), ..Usage::default() };
    SimulatedAnswer {
        outcome: Ok(Completion { text, tool_calls, usage, finish, told: None }),
        script: None,
        latency_secs: (SHORTEST_LATENCY_SECS + chars as f32 * LATENCY_SECS_PER_CHAR).min(LONGEST_LATENCY_SECS),
    }
}

/// Returns the first draft without a repeated sentence. If every draft has some, returns the one with the fewest and
/// removes them, even if that leaves an empty reply.
fn reply(request: &ProviderRequest) -> Draft {
    let prompt = ParsedPrompt::of(request);
    let seed = request.seed ^ content_hash(request.agent.as_bytes()) ^ content_hash(prompt.request_text.as_bytes());
    let own_sentences = own_sentences(&prompt);
    // A conclusion may use the words of the conversation again.
    let is_concluding = matches!(prompt.request, CurrentRequest::Talk { turn, turns, .. } if turn >= turns);
    let is_repeated = |sentence: &str| {
        own_sentences.contains(&normalized(sentence))
            || request.said_before.has_from(&request.agent, sentence)
            || !is_concluding && request.said_before.has_similar(sentence)
    };
    let mut best: Option<(usize, Draft)> = None;
    for attempt in 0..MAX_DRAFTS {
        let draft = compose(&mut Speaker::new(&prompt, seed.wrapping_add(attempt)));
        let repeats = draft.count_matching(is_repeated);
        if prompt.request.is_retrospective() || repeats == 0 {
            return draft;
        }
        if best.as_ref().is_none_or(|(least, _)| repeats < *least) {
            best = Some((repeats, draft));
        }
    }
    let (_, draft) = best.unwrap_or_default();
    // A task or a wake-up call always gets an answer.
    let must_speak = matches!(prompt.request, CurrentRequest::Work | CurrentRequest::Woken { .. });
    draft.without_matching(is_repeated, must_speak)
}

/// Returns the normalized sentences that this agent has said in the session and in the conversation.
fn own_sentences(prompt: &ParsedPrompt) -> Vec<String> {
    let mut texts: Vec<&str> = prompt.own_replies.iter().map(String::as_str).collect();
    if let CurrentRequest::Talk { said, earlier, .. } = &prompt.request {
        let own = earlier.iter().chain(said).filter(|line| *line.by == *prompt.name);
        texts.extend(own.map(|line| line.text.as_str()));
    }
    texts.into_iter().flat_map(sentences).map(|sentence| normalized(&sentence)).collect()
}

fn compose(speaker: &mut Speaker) -> Draft {
    let prompt = speaker.prompt;
    match &prompt.request {
        CurrentRequest::Read { label, kind, text, pins, .. } => remark::on_element(speaker, label, kind, text, pins),
        CurrentRequest::ReadMail { label, mail, .. } => remark::on_mail(speaker, label, mail),
        CurrentRequest::Talk { with, topic, said, turn, turns, .. } => {
            talk::turn(speaker, with, topic.as_deref(), said, turn >= turns)
        }
        CurrentRequest::Woken { why, quotes, .. } => remark::on_wake(speaker, why, quotes),
        CurrentRequest::Work => task::answer(speaker, prompt.task()),
        CurrentRequest::Compact | CurrentRequest::Learn { .. } | CurrentRequest::Weigh { .. } => {
            summary::of_session(prompt)
        }
    }
}
