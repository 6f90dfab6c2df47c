//! The offline brain: a provider that needs no network and no model. It reads its prompt, answers in character about
//! its content, and uses markers in moderation, so that a first run is lively.
//!
//! An answer is a pure function of the request, which includes what was said in the room before. In reading order:
//! [`prompt_reader`] takes what it needs from the parts of the prompt, [`speaker`] holds who speaks, one of [`remark`],
//! [`talk`], [`task`] and [`summary`] drafts a reply, [`markers`] decides what it does in the room, and [`draft`] formats
//! the text. What a text is about is found by [`text`], [`phrases`], [`facts`] and [`topic`]. A task with tools is handled
//! differently: [`history`] says what was done, [`work`] takes the next step, [`collaboration`] handles other agents,
//! [`artifacts`] writes, [`outputs`] gives named outputs. Its lines and vocabulary are in the YAML files of this folder
//! ([`data`]).
//!
//! So that a room comes to rest without new input, pins are only added to a nearly empty pinboard, and an answer to
//! mail is never answered.

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
use self::prompt_reader::Reading;
use self::speaker::Speaker;
use self::text::{bare, sentences};
use crate::base::hash::content_hash;
use crate::base::text::tokens_of_chars;
use crate::gateway::provider::{ProviderRequest, SimulatedAnswer, SimulatedProvider};
use crate::mind::context::CurrentRequest;
use crate::mind::{CallKind, Completion, Finish, ToolCall, Usage};

/// Drafts that are tried until one says nothing that was said before.
const TRIES: u64 = 6;
/// Simulated seconds that the shortest reply takes.
const SHORTEST_LATENCY_SECS: f32 = 0.5;
/// Simulated seconds that no reply exceeds.
const LONGEST_LATENCY_SECS: f32 = 2.5;
/// What a server is answered that asks a model: there is none.
const NO_MODEL: &str = "There is no model here that could answer this: the room runs on its offline brain.";
/// Simulated seconds for each character of a reply.
const LATENCY_SECS_PER_CHAR: f32 = 0.004;

/// The embedded default provider.
#[derive(Clone, Copy, Default, Debug)]
pub struct OfflineProvider;

impl SimulatedProvider for OfflineProvider {
    fn answer(&mut self, request: &ProviderRequest) -> SimulatedAnswer {
        if request.kind == CallKind::Sampling {
            return said(request, NO_MODEL.to_owned(), Vec::new(), Finish::Stop);
        }
        if let Some(text) = memory_extraction::answer(request) {
            return said(request, text, Vec::new(), Finish::Stop);
        }
        let (text, tool_calls, finish) = match work::next_step(request) {
            Some(step) if step.calls.is_empty() => (step.text, Vec::new(), Finish::Stop),
            Some(step) => (step.text, step.calls, Finish::ToolCalls),
            None => {
                let (text, was_cut) = reply(request).fit(request.max_output_tokens);
                (text, Vec::new(), if was_cut { Finish::Length } else { Finish::Stop })
            }
        };
        said(request, text, tool_calls, finish)
    }
}

/// An answer, with the time that it takes to say it.
fn said(request: &ProviderRequest, text: String, tool_calls: Vec<ToolCall>, finish: Finish) -> SimulatedAnswer {
    let chars = text.chars().count() + tool_calls.iter().map(ToolCall::chars).sum::<usize>();
    let input_tokens = request.estimated_input_tokens();
    let usage = Usage { input_tokens, output_tokens: tokens_of_chars(chars), ..Usage::default() };
    SimulatedAnswer {
        outcome: Ok(Completion { text, tool_calls, usage, finish, told: None }),
        script: None,
        latency_secs: (SHORTEST_LATENCY_SECS + chars as f32 * LATENCY_SECS_PER_CHAR).min(LONGEST_LATENCY_SECS),
    }
}

/// The first draft that says nothing again, or the one that does so least, without what it says again. Better silent than
/// heard before.
fn reply(request: &ProviderRequest) -> Draft {
    let reading = Reading::of(request);
    let seed = request.seed ^ content_hash(request.agent.as_bytes()) ^ content_hash(reading.moment_text.as_bytes());
    let own = own_sentences(&reading);
    // What a conversation comes to takes up words of it.
    let concludes = matches!(reading.moment, CurrentRequest::Talk { turn, turns, .. } if turn >= turns);
    let was_heard = |sentence: &str| {
        own.contains(&bare(sentence))
            || request.said_before.has_of(&request.agent, sentence)
            || !concludes && request.said_before.has_like(sentence)
    };
    let mut best: Option<(usize, Draft)> = None;
    for attempt in 0..TRIES {
        let draft = compose(&mut Speaker::new(&reading, seed.wrapping_add(attempt)));
        let again = draft.count(was_heard);
        if reading.moment.looks_back() || again == 0 {
            return draft;
        }
        if best.as_ref().is_none_or(|(least, _)| again < *least) {
            best = Some((again, draft));
        }
    }
    let (_, draft) = best.unwrap_or_default();
    // A task and a call are answered in any case.
    let must_speak = matches!(reading.moment, CurrentRequest::Work | CurrentRequest::Woken { .. });
    draft.without(was_heard, must_speak)
}

/// What this agent said in the session and in the conversation so far, by letters and digits alone.
fn own_sentences(reading: &Reading) -> Vec<String> {
    let mut texts: Vec<&str> = reading.said.iter().map(String::as_str).collect();
    if let CurrentRequest::Talk { said, earlier, .. } = &reading.moment {
        let own = earlier.iter().chain(said).filter(|line| *line.by == *reading.name);
        texts.extend(own.map(|line| line.text.as_str()));
    }
    texts.into_iter().flat_map(sentences).map(|sentence| bare(&sentence)).collect()
}

fn compose(speaker: &mut Speaker) -> Draft {
    let reading = speaker.reading;
    match &reading.moment {
        CurrentRequest::Read { label, kind, text, pins, .. } => remark::on_element(speaker, label, kind, text, pins),
        CurrentRequest::ReadMail { label, mail, .. } => remark::on_mail(speaker, label, mail),
        CurrentRequest::Talk { with, topic, said, turn, turns, .. } => {
            talk::turn(speaker, with, topic.as_deref(), said, turn >= turns)
        }
        CurrentRequest::Woken { why, quotes, .. } => remark::on_call(speaker, why, quotes),
        CurrentRequest::Work => task::work_on(speaker, reading.task()),
        CurrentRequest::Compact | CurrentRequest::Learn { .. } | CurrentRequest::Weigh { .. } => {
            summary::of_session(reading)
        }
    }
}
