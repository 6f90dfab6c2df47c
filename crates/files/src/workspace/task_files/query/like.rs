//! `LIKE` patterns: `%` matches any text, `_` any character, ignoring case.

/// A compiled pattern.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pattern(Vec<PatternPart>);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum PatternPart {
    Anything,
    Any,
    Letter(char),
}

impl Pattern {
    /// Parses a pattern; a backslash escapes the next character.
    pub fn new(text: &str) -> Self {
        let mut pieces = Vec::new();
        let mut letters = text.chars();
        while let Some(letter) = letters.next() {
            match letter {
                '%' => pieces.push(PatternPart::Anything),
                '_' => pieces.push(PatternPart::Any),
                '\\' => letter_pieces(letters.next().unwrap_or('\\'), &mut pieces),
                letter => letter_pieces(letter, &mut pieces),
            }
        }
        Self(pieces)
    }

    /// Whether the pattern matches a whole text. Takes at most time proportional to the product of both lengths.
    pub fn matches(&self, text: &str) -> bool {
        let letters: Vec<char> = text.chars().flat_map(char::to_lowercase).collect();
        let (mut piece, mut letter) = (0, 0);
        // Where to continue if the part after the last `%` does not match.
        let mut retry: Option<(usize, usize)> = None;
        while letter < letters.len() {
            match self.0.get(piece) {
                Some(PatternPart::Anything) => {
                    retry = Some((piece + 1, letter));
                    piece += 1;
                }
                Some(PatternPart::Any) => (piece, letter) = (piece + 1, letter + 1),
                Some(PatternPart::Letter(wanted)) if *wanted == letters[letter] => {
                    (piece, letter) = (piece + 1, letter + 1);
                }
                _ => match &mut retry {
                    Some((behind, from)) => {
                        *from += 1;
                        (piece, letter) = (*behind, *from);
                    }
                    None => return false,
                },
            }
        }
        self.0[piece..].iter().all(|piece| *piece == PatternPart::Anything)
    }
}

fn letter_pieces(letter: char, pieces: &mut Vec<PatternPart>) {
    pieces.extend(letter.to_lowercase().map(PatternPart::Letter));
}
