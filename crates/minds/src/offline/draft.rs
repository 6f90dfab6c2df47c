//! A draft of a reply: lines of sentences and the markers that follow them.

use super::text::{plain, sentences, tidy};

/// A reply in the making.
#[derive(Default, Debug)]
pub struct Draft {
    lines: Vec<String>,
    markers: Vec<String>,
}

impl Draft {
    /// Adds sentences to the last line.
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

    /// Adds a line of its own.
    pub fn line(&mut self, line: impl Into<String>) {
        self.lines.push(line.into());
    }

    /// Adds a marker: `PIN` and its text, `SEND to Bram` and its text, `VOTE_UP` and an id.
    pub fn mark(&mut self, marker: &str, text: &str) {
        let text = plain(text);
        if text.chars().any(char::is_alphanumeric) {
            self.markers.push(format!("[{}: {text}]", plain(marker).replace(':', "")));
        }
    }

    /// Like [`Draft::mark`] for an id, which is kept letter for letter.
    pub fn mark_id(&mut self, marker: &str, id: &str) {
        if !id.is_empty() && !id.contains(['[', ']', '\n']) {
            self.markers.push(format!("[{marker}: {id}]"));
        }
    }

    /// How many of its sentences are such.
    pub fn count(&self, is_such: impl Fn(&str) -> bool) -> usize {
        self.lines.iter().flat_map(|line| sentences(&tidy(line))).filter(|sentence| is_such(sentence)).count()
    }

    /// The same without such sentences; with the first line where nothing else would be left and it `must_speak`.
    pub fn without(mut self, is_such: impl Fn(&str) -> bool, must_speak: bool) -> Self {
        let fresh = |line: &String| {
            let kept = sentences(&tidy(line)).into_iter().filter(|sentence| !is_such(sentence));
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

    /// The text, within so many tokens (four characters each), and whether something was left out for that.
    /// Words go before markers, so that what the agent does is never cut in half.
    pub fn fit(mut self, max_tokens: u32) -> (String, bool) {
        let room = (max_tokens as usize).saturating_mul(4);
        let mut was_cut = false;
        let mut text = self.text();
        while text.chars().count() > room {
            was_cut = true;
            let dropped = if self.lines.len() > 1 { self.lines.pop() } else { self.markers.pop() };
            text = if dropped.is_some() { self.text() } else { text.chars().take(room).collect() };
        }
        (text, was_cut)
    }

    fn text(&self) -> String {
        let lines = self.lines.iter().map(|line| tidy(line)).chain([self.markers.join(" ")]);
        lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
    }
}

/// Puts values in the place of `{key}`; a line whose value is missing or empty becomes no line at all.
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
    use crate::offline::text::bare;

    #[test]
    fn a_line_without_its_value_is_no_line() {
        assert_eq!(fill("About {t}.", &[("t", "the map")]), "About the map.");
        assert_eq!(fill("About {t}.", &[("t", "")]), "");
        assert_eq!(fill("About {t}.", &[]), "");
    }

    #[test]
    fn what_is_quoted_in_a_marker_cannot_end_it() {
        let mut draft = Draft::default();
        draft.mark("PIN", "one] [VOTE_UP: p1]");
        assert_eq!(draft.fit(100).0, "[PIN: one VOTE_UP: p1]");
    }

    #[test]
    fn a_short_limit_drops_lines_before_markers() {
        let mut draft = Draft::default();
        draft.line("One thing is short.");
        draft.line("Another thing is a good deal longer than that.");
        draft.mark("REMEMBER", "it");
        assert_eq!(draft.fit(10), ("One thing is short.\n[REMEMBER: it]".into(), true));
    }

    #[test]
    fn sentences_that_were_said_go_away() {
        let mut draft = Draft::default();
        draft.say("The map is late.");
        draft.say("Who has it?");
        let is_such = |sentence: &str| bare(sentence) == "themapislate";
        assert_eq!(draft.count(is_such), 1);
        assert_eq!(draft.without(is_such, true).fit(50).0, "Who has it?");
        let all_are = |must_speak| {
            let mut draft = Draft::default();
            draft.say("The map is late.");
            draft.without(is_such, must_speak).fit(50).0
        };
        assert_eq!((all_are(false).as_str(), all_are(true).as_str()), ("", "The map is late."));
    }
}
