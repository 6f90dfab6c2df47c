//! Parses a document.

use super::mask::{self, Candidate};
use super::model::{AgentDocument, UNNAMED};
use super::{sections, tools};
use crate::source::{LineIndex, Position, SourceProblem, outline, split_front_matter};

/// Parses a document. Parsing never fails: see [`AgentDocument::problems`].
pub fn parse(text: &str) -> AgentDocument {
    let lines = LineIndex::new(text);
    let mut document = AgentDocument { name: UNNAMED.to_owned(), ..AgentDocument::default() };
    let body = match split_front_matter(text) {
        Ok(front) => {
            document.front_matter = front.keys;
            front.body
        }
        Err(error) => {
            let at = Position { line: error.line, column: 1 };
            let remedy = "fix the lines between the two ---; until then they are ignored";
            document.problems.push(SourceProblem::error(at, error.what, remedy));
            error.body
        }
    };
    let candidates = mask::candidates(text, body.clone());
    let tag_ranges = || {
        candidates.iter().filter_map(|candidate| match candidate {
            Candidate::Tag(tag) => Some(tag.range.clone()),
            _ => None,
        })
    };
    let masked = mask::hide(text, tag_ranges());
    let mut outline = outline::read(text, &masked, body.clone(), Vec::new());
    // A comment may contain an unpaired fence: if there are comments, the text is parsed again without them.
    let mut comments = mask::comments(text, body.clone());
    comments.retain(|comment| !outline::is_in(&outline.shown, comment.start));
    if !comments.is_empty() {
        let mut hidden: Vec<_> = tag_ranges().chain(comments.iter().cloned()).collect();
        hidden.sort_by_key(|range| (range.start, usize::MAX - range.end));
        let masked = mask::hide(text, hidden.into_iter());
        outline = outline::read(text, &masked, body.clone(), comments);
    }
    let found = tools::read(text, &lines, &candidates, &outline);
    document.problems.extend(found.problems);
    document.tools = found.tools;
    sections::read(&mut document, text, &lines, (&outline, &found.ranges, body));
    document.problems.sort_by_key(|problem| problem.at);
    document
}
