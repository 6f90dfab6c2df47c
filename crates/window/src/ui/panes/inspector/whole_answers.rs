//! The whole answers of finished work. What an agent remembers of its work is shortened, for its prompts; the person sees
//! the answer as the session file has it.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::log_index::AgentLog;
use crate::base::Id;
use crate::log::events::WorkOutcome;
use crate::ui::context::ViewerContext;
use crate::view::chat::{ChatLine, parse_session};

/// The number of pieces of work, from the newest, whose sessions are searched.
const WORKS_SEARCHED: usize = 40;
/// The number of characters of a shortened answer by which its work is found in the log.
const BEGINNING_CHARS: usize = 300;

/// The answers that were read from session files.
#[derive(Clone, Debug, Default)]
pub(super) struct WholeAnswers {
    /// The last answer of each session, and the text of the file that it was read from.
    read: BTreeMap<Id, (Arc<str>, Option<Arc<str>>)>,
    /// The lines that were completed last: as they were, and with whole answers.
    completed: Option<(Arc<Vec<ChatLine>>, usize, Arc<Vec<ChatLine>>)>,
}

impl WholeAnswers {
    /// Returns the lines with whole answers, as far as their sessions have been read.
    pub(super) fn complete(
        &mut self,
        lines: &Arc<Vec<ChatLine>>,
        agent_log: Option<&AgentLog>,
        cx: &ViewerContext<'_>,
    ) -> Arc<Vec<ChatLine>> {
        let Some(agent_log) = agent_log else { return lines.clone() };
        let shortened: Vec<(usize, &str)> = lines.iter().enumerate().filter_map(shortened).collect();
        if shortened.is_empty() {
            return lines.clone();
        }
        let answers: Vec<(usize, Arc<str>)> = shortened
            .iter()
            .filter_map(|(index, beginning)| Some((*index, self.find(beginning, agent_log, cx)?)))
            .collect();
        if let Some((of, count, completed)) = &self.completed
            && Arc::ptr_eq(of, lines)
            && *count == answers.len()
        {
            return completed.clone();
        }
        let mut whole = lines.to_vec();
        for (index, answer) in &answers {
            whole[*index] = ChatLine::Agent(answer.to_string());
        }
        let whole = Arc::new(whole);
        self.completed = Some((lines.clone(), answers.len(), whole.clone()));
        whole
    }

    /// Finds the whole answer that begins like this among the sessions of finished work.
    fn find(&mut self, beginning: &str, agent_log: &AgentLog, cx: &ViewerContext<'_>) -> Option<Arc<str>> {
        let start: String = beginning.chars().take(BEGINNING_CHARS).collect();
        let answers_so = |work: &&super::log_index::PastWork| {
            let ended = work.ended.as_ref().filter(|ended| ended.outcome == WorkOutcome::Completed);
            ended.is_some_and(|ended| ended.said.starts_with(&start))
        };
        let candidates = agent_log.works.iter().rev().take(WORKS_SEARCHED).filter(answers_so);
        for work in candidates {
            let Some(Ok(Some(text))) = cx.ui.texts.session(&work.activation) else { continue };
            let answer = match self.read.get(&work.activation) {
                Some((known, answer)) if Arc::ptr_eq(known, text) => answer.clone(),
                _ => {
                    let answer = last_answer(text);
                    self.read.insert(work.activation.clone(), (text.clone(), answer.clone()));
                    answer
                }
            };
            if let Some(answer) = answer.filter(|answer| answer.starts_with(beginning)) {
                return Some(answer);
            }
        }
        None
    }
}

/// The index and the beginning of an answer that was shortened.
fn shortened((index, line): (usize, &ChatLine)) -> Option<(usize, &str)> {
    match line {
        ChatLine::Agent(text) => Some((index, text.strip_suffix('…')?)),
        _ => None,
    }
}

/// Returns the last answer in a session file.
fn last_answer(text: &str) -> Option<Arc<str>> {
    let session = parse_session(text).ok()?;
    session.lines.into_iter().rev().find_map(|line| match line {
        ChatLine::Agent(answer) => Some(answer.into()),
        _ => None,
    })
}
