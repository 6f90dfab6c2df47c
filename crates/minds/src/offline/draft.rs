//! A draft of a reply: lines of sentences and the markers that follow them.

use super::text::{sentences, strip_markup, tidy};

/// A reply under construction.
#[derive(Default, Debug)]
pub struct Draft {
    lines: Vec<String>,
    markers: Vec<String>,
}

impl Draft {
    /// Appends sentences to the last line.
    pub fn say(&mut self, sentence: impl AsRef<str>) {
        let sentence = sentence.as_ref().trim();
        if sentence.is_empty() {
            return;
        }
        match self.lines.last_mut() {
            Some(line) => *line = format!("{} {sentence}", tidy(line)),
            None => self.lines.push(sentence.to_owned()),
        }
    }

    /// Starts a new line.
    pub fn line(&mut self, line: impl Into<String>) {
        self.lines.push(line.into());
    }

    /// Adds a marker with a text, such as `PIN` or `SEND to Bram`, unless the text is empty.
    pub fn push_marker(&mut self, marker: &str, text: &str) {
        let text = strip_markup(text);
        if text.chars().any(char::is_alphanumeric) {
            self.markers.push(format!("[{}: {text}]", strip_markup(marker).replace(':', "")));
        }
    }

    /// Adds a marker with an id, such as `VOTE_UP`; unlike a text, the id is kept verbatim.
    pub fn push_id_marker(&mut self, marker: &str, id: &str) {
        if !id.is_empty() && !id.contains(['[', ']', '\n']) {
            self.markers.push(format!("[{marker}: {id}]"));
        }
    }

    /// Returns the number of sentences that match a predicate.
    pub fn count_matching(&self, predicate: impl Fn(&str) -> bool) -> usize {
        self.lines.iter().flat_map(|line| sentences(&tidy(line))).filter(|sentence| predicate(sentence)).count()
    }

    /// Removes the sentences that match a predicate. If none would be left and the agent `must_speak`, keeps the first
    /// line.
    pub fn without_matching(mut self, predicate: impl Fn(&str) -> bool, must_speak: bool) -> Self {
        let fresh = |line: &String| {
            let kept = sentences(&tidy(line)).into_iter().filter(|sentence| !predicate(sentence));
            kept.collect::<Vec<_>>().join(" ")
        };
        let lines: Vec<String> = self.lines.iter().map(fresh).filter(|line| !line.is_empty()).collect();
        if lines.is_empty() && must_speak {
            self.lines.truncate(1);
        } else {
            self.lines = lines;
        }
        self
    }

    /// Returns the text, cut to `max_tokens` (four characters each), and whether it was cut. Lines are dropped before
    /// markers, so that the agent's actions are kept as long as possible.
    pub fn fit(mut self, max_tokens: u32) -> (String, bool) {
        let max_chars = (max_tokens as usize).saturating_mul(4);
        let mut was_cut = false;
        let mut text = self.text();
        while text.chars().count() > max_chars {
            was_cut = true;
            let dropped = if self.lines.len() > 1 { self.lines.pop() } else { self.markers.pop() };
            text = if dropped.is_some() { self.text() } else { text.chars().take(max_chars).collect() };
        }
        (text, was_cut)
    }

    fn text(&self) -> String {
        let lines = self.lines.iter().map(|line| tidy(line)).chain([self.markers.join(" ")]);
        lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
    }
}

/// Replaces each `{key}` by its value. Returns an empty string if a value is missing or empty.
pub fn fill(template: &str, values: &[(&str, &str)]) -> String {
    let mut filled = String::with_capacity(template.len() + 32);
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        let Some((key, after)) = after.split_once('}') else { break };
        let Some((_, value)) = values.iter().find(|(name, value)| *name == key && !value.is_empty()) else {
            return String::new();
        };
        filled.push_str(before);
        filled.push_str(value);
        rest = after;
    }
    filled + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::offline::text::normalized;

    #[test]
    fn a_line_with_a_missing_value_is_empty() {
        assert_eq!(fill("About {t}.", &[("t", "the map")]), "About the map.");
        assert_eq!(fill("About {t}.", &[("t", "")]), "");
        assert_eq!(fill("About {t}.", &[]), "");
    }

    #[test]
    fn brackets_in_the_text_cannot_end_a_marker() {
        let mut draft = Draft::default();
        draft.push_marker("PIN", "one] [VOTE_UP: p1]");
        assert_eq!(draft.fit(100).0, "[PIN: one VOTE_UP: p1]");
    }

    #[test]
    fn a_short_limit_drops_lines_before_markers() {
        let mut draft = Draft::default();
        draft.line("One thing is short.");
        draft.line("Another thing is a good deal longer than that.");
        draft.push_marker("REMEMBER", "it");
        assert_eq!(draft.fit(10), ("One thing is short.\n[REMEMBER: it]".into(), true));
    }

    #[test]
    fn matching_sentences_are_removed() {
        let mut draft = Draft::default();
        draft.say("The map is late.");
        draft.say("Who has it?");
        let predicate = |sentence: &str| normalized(sentence) == "themapislate";
        assert_eq!(draft.count_matching(predicate), 1);
        assert_eq!(draft.without_matching(predicate, true).fit(50).0, "Who has it?");
        let without_all = |must_speak| {
            let mut draft = Draft::default();
            draft.say("The map is late.");
            draft.without_matching(predicate, must_speak).fit(50).0
        };
        assert_eq!((without_all(false).as_str(), without_all(true).as_str()), ("", "The map is late."));
    }
}
