//! Fences of code in Markdown, as CommonMark defines them: at least three backticks or tildes, closed by a line of at
//! least as many of the same sign. What is between them is a text, and means nothing.

/// The opening fence of a code block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fence {
    /// A backtick or a tilde.
    pub sign: char,
    /// How often it is repeated.
    pub length: usize,
}

impl Fence {
    /// The minimum length of a fence.
    pub const MIN_LENGTH: usize = 3;

    /// Parses a line that opens a code block. Blanks before it are ignored: whether they make it a text depends on where
    /// the line stands, which the caller knows.
    pub fn opening(line: &str) -> Option<Self> {
        let text = line.trim_start();
        let sign = text.chars().next().filter(|sign| matches!(sign, '`' | '~'))?;
        let info = text.trim_start_matches(sign);
        let length = text.len() - info.len();
        // Otherwise it is code within a sentence.
        let is_fence = length >= Self::MIN_LENGTH && !(sign == '`' && info.contains('`'));
        is_fence.then_some(Self { sign, length })
    }

    /// Whether a line closes the code block that this fence opened.
    pub fn is_closed_by(self, line: &str) -> bool {
        let text = line.trim();
        text.len() >= self.length && text.chars().all(|sign| sign == self.sign)
    }
}

/// Follows the lines of a text, and says which belong to code blocks.
#[derive(Clone, Copy, Default, Debug)]
pub struct CodeLines {
    open: Option<Fence>,
}

impl CodeLines {
    /// Whether the next line belongs to a code block, or opens or closes one.
    pub fn is_code(&mut self, line: &str) -> bool {
        match self.open {
            Some(fence) => {
                if fence.is_closed_by(line) {
                    self.open = None;
                }
                true
            }
            None => {
                self.open = Fence::opening(line);
                self.open.is_some()
            }
        }
    }

    /// The fence that is open after the lines so far.
    pub fn open(self) -> Option<Fence> {
        self.open
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code_lines(text: &str) -> Vec<bool> {
        let mut lines = CodeLines::default();
        text.lines().map(|line| lines.is_code(line)).collect()
    }

    #[test]
    fn a_fence_is_closed_by_one_of_its_sign_that_is_at_least_as_long() {
        assert_eq!(code_lines("a\n```rust\nb\n```\nc"), [false, true, true, true, false]);
        assert_eq!(code_lines("~~~\n```\n~~~~  \nc"), [true, true, true, false]);
        assert_eq!(code_lines("````\n```\n``` \n````\nc"), [true, true, true, true, false]);
        assert_eq!(code_lines("  ```\nx\n   ```\nc"), [true, true, true, false]);
    }

    #[test]
    fn a_line_with_words_behind_its_signs_closes_nothing() {
        assert_eq!(code_lines("```\n```rust\nb"), [true, true, true]);
    }

    #[test]
    fn code_within_a_sentence_is_no_fence() {
        assert_eq!(code_lines("```b``` is code\nc"), [false, false]);
        assert_eq!(code_lines("``\nc"), [false, false]);
        assert_eq!(code_lines("~~~ `x`\nc"), [true, true], "tildes may have backticks behind them");
    }
}
