//! Parses the identity of an agent: its name, and the sections by their headings.

use super::model::{AgentDocument, Section};
use crate::source::outline::{Heading, Outline};
use crate::source::{ByteRange, LineIndex, SourceProblem};

/// The text before the name in the heading that contains it.
const NAME_MARK: &str = "agent:";

/// Adds the name and the sections to the document. `tools` are the ranges of tools, in order.
pub(super) fn read(
    document: &mut AgentDocument,
    text: &str,
    lines: &LineIndex,
    (outline, tools, body): (&Outline, &[ByteRange], ByteRange),
) {
    let headings: Vec<&Heading> =
        outline.headings.iter().filter(|heading| !tools.iter().any(|tool| holds(tool, &heading.range))).collect();
    let cut = cuts(outline, tools);
    let mut reader = Reader { document, text, lines, outline, cut };
    let name = reader.name(&headings);
    let sections = sections(&headings, name);
    let first = sections.first().map_or(body.end, |heading| heading.range.start);
    let above = match name {
        Some(name) if name.range.start < first => {
            let before = reader.text_in(body.start..name.range.start);
            let after = reader.text_in(name.range.end..first);
            [before, after].into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n\n")
        }
        _ => reader.text_in(body.start..first),
    };
    reader.document.introduction = above;
    for (index, heading) in sections.iter().enumerate() {
        let end = sections.get(index + 1).map_or(body.end, |next| next.range.start);
        reader.section(heading, end, name);
    }
    if reader.document.purpose.as_ref().is_none_or(|purpose| purpose.text.is_empty()) {
        let at = lines.position(text, name.map_or(body.start, |name| name.range.start));
        let what = "the document has no Purpose section";
        let remedy = "add a section ## Purpose with a sentence or two";
        reader.document.problems.push(SourceProblem::warning(at, what, remedy));
    }
}

fn holds(outer: &ByteRange, inner: &ByteRange) -> bool {
    outer.start <= inner.start && inner.end <= outer.end
}

/// Returns the ranges that no model reads (tools and comments), in order and without overlaps.
fn cuts(outline: &Outline, tools: &[ByteRange]) -> Vec<ByteRange> {
    let mut all: Vec<ByteRange> = tools.iter().chain(&outline.comments).cloned().collect();
    all.sort_by_key(|range| range.start);
    let mut cuts: Vec<ByteRange> = Vec::with_capacity(all.len());
    for range in all {
        match cuts.last_mut() {
            Some(last) if range.start < last.end => last.end = last.end.max(range.end),
            _ => cuts.push(range),
        }
    }
    cuts
}

/// Returns the headings that begin a section: those of the first two levels, and deeper ones with a known name that are
/// not inside another section.
fn sections<'a>(headings: &[&'a Heading], name: Option<&Heading>) -> Vec<&'a Heading> {
    let mut open = usize::MAX;
    let mut sections = Vec::new();
    for heading in headings.iter().filter(|heading| name.is_none_or(|name| name.range != heading.range)) {
        if heading.level <= 2 || (known(&heading.text).is_some() && heading.level <= open) {
            open = heading.level;
            sections.push(*heading);
        }
    }
    sections
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Known {
    Purpose,
    Capabilities,
    Constraints,
    Personality,
}

fn known(title: &str) -> Option<Known> {
    match title.trim().trim_end_matches(':').to_lowercase().as_str() {
        "purpose" => Some(Known::Purpose),
        "capabilities" => Some(Known::Capabilities),
        "constraints" => Some(Known::Constraints),
        "personality" => Some(Known::Personality),
        _ => None,
    }
}

struct Reader<'a> {
    document: &'a mut AgentDocument,
    text: &'a str,
    lines: &'a LineIndex,
    outline: &'a Outline,
    cut: Vec<ByteRange>,
}

impl<'a> Reader<'a> {
    fn warning(&mut self, at: usize, what: impl Into<String>, remedy: impl Into<String>) {
        let at = self.lines.position(self.text, at);
        self.document.problems.push(SourceProblem::warning(at, what, remedy));
    }

    /// Finds the heading with the name, and sets the name.
    fn name<'h>(&mut self, headings: &[&'h Heading]) -> Option<&'h Heading> {
        let name_in = |heading: &Heading| {
            let title = heading.text.trim();
            let mark = title.get(..NAME_MARK.len()).filter(|mark| mark.eq_ignore_ascii_case(NAME_MARK))?;
            let name = one_line(&title[mark.len()..]);
            (heading.level == 1 && !name.is_empty()).then_some(name)
        };
        let found = headings.iter().find_map(|heading| Some((*heading, name_in(heading)?)));
        let in_front = self.document.front_matter.get("name").and_then(|name| name.as_str());
        let in_front = in_front.map(one_line).filter(|name| !name.is_empty());
        let is_in_front = in_front.is_some();
        let title = headings.iter().copied().find(|heading| heading.level == 1);
        match (&found, in_front) {
            (Some((_, name)), _) => self.document.name.clone_from(name),
            (None, Some(name)) => self.document.name = name,
            (None, None) => {
                let (at, remedy) = match title {
                    Some(title) => (title.range.start, format!("write # Agent: {}", title.text.trim())),
                    None => (0, "add a heading # Agent: Name".to_owned()),
                };
                self.warning(at, "the document does not name the agent", remedy);
            }
        }
        self.document.is_named = found.is_some() || is_in_front;
        // A title that equals the name in the front matter is not repeated in the prompt.
        let repeats = |title: &&Heading| is_in_front && one_line(&title.text) == self.document.name;
        found.map(|(heading, _)| heading).or(title.filter(repeats))
    }

    fn section(&mut self, heading: &Heading, end: usize, name: Option<&Heading>) {
        // The heading with the name may be below a section, but it is not part of it.
        let ends = name.map(|name| name.range.start).filter(|at| heading.range.end <= *at && *at < end);
        let body = heading.range.end..end;
        let text = match (ends, name) {
            (Some(at), Some(name)) => {
                let parts = [self.text_in(body.start..at), self.text_in(name.range.end..end)];
                parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n")
            }
            _ => self.text_in(body.clone()),
        };
        let title = one_line(&heading.text);
        let section = Section { title, text, items: self.items(&body), range: heading.range.start..end, body };
        let Some(kind) = known(&heading.text) else { return self.document.other_sections.push(section) };
        if matches!(kind, Known::Capabilities | Known::Constraints)
            && section.items.is_empty()
            && !section.text.is_empty()
        {
            let what = format!("the section {} is not a list", section.title);
            self.warning(heading.range.start, what, "write one line for each, starting with -");
        }
        let place = match kind {
            Known::Purpose => &mut self.document.purpose,
            Known::Capabilities => &mut self.document.capabilities,
            Known::Constraints => &mut self.document.constraints,
            Known::Personality => &mut self.document.personality,
        };
        match place {
            None => *place = Some(section),
            Some(first) => {
                let what = format!("the section {} appears twice; both are used", section.title);
                first.text = format!("{}\n\n{}", first.text, section.text).trim().to_owned();
                first.items.extend(section.items);
                self.warning(heading.range.start, what, "merge the two sections");
            }
        }
    }

    /// Returns the text of a range without the parts that no model reads.
    fn text_in(&self, range: ByteRange) -> String {
        let mut kept = String::new();
        let mut at = range.start;
        let first = self.cut.partition_point(|cut| cut.end <= range.start);
        for cut in self.cut[first..].iter().take_while(|cut| cut.start < range.end) {
            kept.push_str(self.text.get(at..cut.start.max(at)).unwrap_or_default());
            at = cut.end.max(at);
        }
        kept.push_str(self.text.get(at..range.end.max(at)).unwrap_or_default());
        tidy(&kept)
    }

    fn items(&self, body: &ByteRange) -> Vec<String> {
        let first = self.outline.items.partition_point(|item| item.start < body.start);
        let inside = self.outline.items[first..].iter().take_while(|item| item.start < body.end);
        let items = inside.map(|item| item_text(&self.text_in(item.clone())));
        items.filter(|item| !item.is_empty()).collect()
    }
}

/// Trims a text, unifies its line breaks, and removes repeated empty lines.
fn tidy(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let mut tidy = String::with_capacity(text.len());
    let mut blank = 0;
    for line in text.lines() {
        blank = if line.trim().is_empty() { blank + 1 } else { 0 };
        if blank < 2 {
            tidy.push_str(line.trim_end());
            tidy.push('\n');
        }
    }
    tidy.trim_matches('\n').trim_end().to_owned()
}

/// Returns a list entry without its bullet, and with the common indentation of its further lines removed.
fn item_text(item: &str) -> String {
    let item = item.trim_start();
    let digits = item.len() - item.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let mark = item[digits..].chars().next().filter(|mark| matches!(mark, '-' | '*' | '+' | '.' | ')'));
    let rest = mark.map_or(item, |mark| &item[digits + mark.len_utf8()..]);
    let mut lines = rest.lines();
    let first = lines.next().unwrap_or_default().trim().to_owned();
    let below: Vec<&str> = lines.collect();
    let indent = |line: &&&str| line.len() - line.trim_start().len();
    let margin = below.iter().filter(|line| !line.trim().is_empty()).map(|line| indent(&line)).min().unwrap_or(0);
    let below = below.iter().map(|line| line.get(margin..).unwrap_or_default());
    std::iter::once(&*first).chain(below).collect::<Vec<_>>().join("\n").trim().to_owned()
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
