//! The standard spacing of a task file: single spaces between the words of a task's first line and after colons, no
//! trailing spaces, one line break at the end. Nothing else is changed.

use super::model::{Span, Task, TaskFile};
use super::splice::Splices;

/// A file with standard spacing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Spaced {
    /// The text.
    pub text: String,
    /// The numbers of the changed lines, counted from 1.
    pub lines: Vec<usize>,
}

/// Normalises the spacing of all tasks without errors.
pub fn normalise(file: &TaskFile) -> Spaced {
    let mut stretches: Vec<(Span, &str)> = Vec::new();
    for task in file.tasks.iter().filter(|task| !task.has_errors) {
        first_line(file, task, &mut stretches);
        for field in task.fields.iter().filter(|field| !field.is_inline) {
            let line_start = field.value_span.start;
            let line = file.text[line_start..field.span.end].split('\n').next().unwrap_or_default();
            let line = line.strip_suffix('\r').unwrap_or(line);
            let (words, behind) = (line.trim_end_matches([' ', '\t']), line_start + line.len());
            let lead = words.len() - words.trim_start_matches([' ', '\t']).len();
            if words.len() > lead {
                stretches.push((line_start..line_start + lead, " "));
            }
            stretches.push((line_start + words.len()..behind, ""));
        }
    }
    if !file.tasks.is_empty() && !file.text.ends_with('\n') {
        stretches.push((file.text.len()..file.text.len(), file.line_end));
    }
    stretches.retain(|(span, text)| file.text[span.clone()] != **text);
    let mut lines: Vec<usize> = stretches.iter().map(|(span, _)| file.position(span.start).0).collect();
    lines.sort_unstable();
    lines.dedup();
    let mut splices = Splices::default();
    stretches.into_iter().for_each(|(span, text)| splices.replace(span, text));
    Spaced { text: splices.apply(&file.text), lines }
}

/// Collects the spaces between the words of the first line, and those after the last word.
fn first_line(file: &TaskFile, task: &Task, stretches: &mut Vec<(Span, &str)>) {
    let marks = task.status_span.iter().chain(task.priority.iter().map(|(_, span)| span));
    let names = task.stakeholders.iter().chain(&task.tags).map(|name| &name.span);
    let mut words: Vec<Span> = marks.chain(names).chain([&task.title.span]).cloned().collect();
    for field in task.fields.iter().filter(|field| field.is_inline) {
        let value = &file.text[field.value_span.clone()];
        let value_start = field.value_span.end - value.trim_start_matches([' ', '\t']).len();
        words.push(field.span.start..field.value_span.start);
        if value_start < field.value_span.end {
            words.push(value_start..field.value_span.end);
        }
    }
    words.sort_by_key(|span| span.start);
    // The dash is followed by a space or a tab.
    let mut at = task.words_start - 1;
    for word in &words {
        stretches.push((at..word.start, " "));
        at = word.end;
    }
    stretches.push((at..task.head.end, ""));
}
