//! Texts with placeholders whose values are filled in when they are used: `Research {topic}`,
//! `Review {research.findings}`.
//!
//! Anything else is literal text: `{ "a": 1 }` is unchanged, and `{{topic}}` is the literal text `{topic}`.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A placeholder in a text.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Token {
    /// A variable of the workflow: `{topic}`.
    Variable(String),
    /// An output of a step: `{research.findings}`.
    Output {
        /// The id of the step.
        step: String,
        /// The name of the output.
        output: String,
    },
    /// The current list entry, in a step with `for_each`.
    Item,
    /// The number of that entry, from 1.
    Index,
    /// The round of a repeated step, from 1.
    Round,
}

/// Whether a text is a name made of letters, digits, `_`, `-` and the characters in `more`.
fn is_name(text: &str, more: &[char]) -> bool {
    let is_first = |letter: char| letter.is_alphabetic() || letter == '_';
    text.starts_with(is_first) && text.chars().all(|c| c.is_alphanumeric() || "_-".contains(c) || more.contains(&c))
}

/// What a person is told about a name that [`is_identifier`] does not accept.
pub const NAME_RULE: &str = "begin with a letter, and use letters, digits, - and _";

/// Whether this can be the name of a variable, a step or an output.
pub fn is_identifier(text: &str) -> bool {
    is_name(text, &[])
}

impl Token {
    /// Parses the text between the braces; `None` if it is not a placeholder.
    pub fn parse(inside: &str) -> Option<Self> {
        match (inside, inside.split_once('.')) {
            ("item", _) => Some(Self::Item),
            ("index", _) => Some(Self::Index),
            ("round", _) => Some(Self::Round),
            // Steps of a nested workflow have the id of the outer step as a prefix.
            (_, Some((step, output))) if is_name(step, &['/']) && is_identifier(output) => {
                Some(Self::Output { step: step.to_owned(), output: output.to_owned() })
            }
            (word, None) if is_identifier(word) => Some(Self::Variable(word.to_owned())),
            _ => None,
        }
    }

    /// Creates the placeholder of a step's output.
    pub fn output(step: &str, output: &str) -> Self {
        Self::Output { step: step.to_owned(), output: output.to_owned() }
    }
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Variable(name) => write!(f, "{{{name}}}"),
            Self::Output { step, output } => write!(f, "{{{step}.{output}}}"),
            Self::Item => f.write_str("{item}"),
            Self::Index => f.write_str("{index}"),
            Self::Round => f.write_str("{round}"),
        }
    }
}

/// A segment of a template.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Piece {
    Text(String),
    Token(Token),
}

/// A text with placeholders.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct Template(Vec<Piece>);

impl Template {
    /// Parses a text; every text is a valid template.
    pub fn parse(text: &str) -> Self {
        let mut pieces = Vec::new();
        let mut literal = String::new();
        let mut rest = text;
        while let Some(at) = rest.find('{') {
            literal.push_str(&rest[..at]);
            rest = &rest[at..];
            let inside = |from: &str| from.split_once('}').map(|(inside, _)| inside.to_owned());
            let kept = rest.strip_prefix("{{").and_then(inside).filter(|word| Token::parse(word).is_some());
            let kept = kept.filter(|word| rest[2 + word.len()..].starts_with("}}"));
            if let Some(word) = kept {
                literal.push_str(&format!("{{{word}}}"));
                rest = &rest[word.len() + 4..];
                continue;
            }
            let found = inside(&rest[1..]).and_then(|word| Some((Token::parse(&word)?, word.len())));
            match found {
                Some((token, length)) => {
                    if !literal.is_empty() {
                        pieces.push(Piece::Text(std::mem::take(&mut literal)));
                    }
                    pieces.push(Piece::Token(token));
                    rest = &rest[length + 2..];
                }
                None => {
                    literal.push('{');
                    rest = &rest[1..];
                }
            }
        }
        literal.push_str(rest);
        if !literal.is_empty() {
            pieces.push(Piece::Text(literal));
        }
        Self(pieces)
    }

    /// The placeholders in order, with repetitions.
    pub fn tokens(&self) -> impl Iterator<Item = &Token> {
        self.0.iter().filter_map(|piece| match piece {
            Piece::Token(token) => Some(token),
            Piece::Text(_) => None,
        })
    }

    /// Whether it has only whitespace.
    pub fn is_blank(&self) -> bool {
        self.0.iter().all(|piece| matches!(piece, Piece::Text(text) if text.trim().is_empty()))
    }

    /// Renders the text with the values of the placeholders.
    pub fn render(&self, mut value: impl FnMut(&Token) -> String) -> String {
        self.render_with(|text, token| text.push_str(&value(token)))
    }

    /// Renders the text; `push` appends the value of a placeholder to the text before it.
    pub fn render_with(&self, mut push: impl FnMut(&mut String, &Token)) -> String {
        let mut text = String::new();
        for piece in &self.0 {
            match piece {
                Piece::Text(piece) => text.push_str(piece),
                Piece::Token(token) => push(&mut text, token),
            }
        }
        text
    }

    /// The template with some placeholders replaced by other templates.
    pub fn with(&self, mut replaced: impl FnMut(&Token) -> Option<Self>) -> Self {
        let mut pieces = Vec::with_capacity(self.0.len());
        for piece in &self.0 {
            match piece {
                Piece::Token(token) => match replaced(token) {
                    Some(Self(others)) => pieces.extend(others),
                    None => pieces.push(piece.clone()),
                },
                Piece::Text(_) => pieces.push(piece.clone()),
            }
        }
        Self(pieces)
    }
}

/// Renames a step in all placeholders of a text; `None` if the text does not use the step.
pub fn with_step_renamed(text: &str, from: &str, to: &str) -> Option<String> {
    let is_meant = |token: &Token| matches!(token, Token::Output { step, .. } if step == from);
    let template = Template::parse(text);
    template.tokens().any(is_meant).then(|| {
        let renamed = template.with(|token| match token {
            Token::Output { step, output } if step == from => Some(Token::output(to, output).into()),
            _ => None,
        });
        renamed.to_string()
    })
}

impl From<Token> for Template {
    fn from(token: Token) -> Self {
        Self(vec![Piece::Token(token)])
    }
}

impl From<String> for Template {
    fn from(text: String) -> Self {
        Self::parse(&text)
    }
}

/// Writes the template in its source form.
impl fmt::Display for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for piece in &self.0 {
            match piece {
                Piece::Token(token) => write!(f, "{token}")?,
                Piece::Text(text) => {
                    let parsed = Self::parse(text);
                    for piece in &parsed.0 {
                        match piece {
                            Piece::Text(text) => f.write_str(text)?,
                            // Literal braces, not a placeholder.
                            Piece::Token(token) => write!(f, "{{{token}}}")?,
                        }
                    }
                }
            }
        }
        Ok(())
    }
}

impl From<Template> for String {
    fn from(template: Template) -> Self {
        template.to_string()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn tokens(text: &str) -> Vec<String> {
        Template::parse(text).tokens().map(ToString::to_string).collect()
    }

    #[test]
    fn placeholders_are_found_and_everything_else_is_text() {
        assert_eq!(
            tokens("Review {research.findings} of {topic} in {round}"),
            ["{research.findings}", "{topic}", "{round}"]
        );
        for text in ["{ \"a\": 1 }", "{}", "{a b}", "{1}", "{a.b.c}", "{", "}}", "{{topic}}", "a {{x.y}} b"] {
            assert!(tokens(text).is_empty(), "{text}");
        }
        let template = Template::parse("{{topic}} is {topic} in {\"k\": {\"n\": 1}}");
        assert_eq!(template.render(|_| "tea".into()), "{topic} is tea in {\"k\": {\"n\": 1}}");
        assert_eq!(template.to_string(), "{{topic}} is {topic} in {\"k\": {\"n\": 1}}");
        assert_eq!(tokens("{{a} {b}"), ["{a}", "{b}"]);
    }

    #[test]
    fn inserted_values_are_not_parsed_again() {
        let template = Template::parse("{a} and {b}");
        assert_eq!(template.render(|_| "{b}".into()), "{b} and {b}");
        let with = template.with(|token| (*token == Token::Variable("a".into())).then(|| Template::parse("{x.y}!")));
        assert_eq!(with.to_string(), "{x.y}! and {b}");
        assert!(Template::parse(" \n").is_blank() && !Template::parse("{a}").is_blank());
    }

    proptest! {
        #[test]
        fn templates_round_trip(text in "[{}a.b \"\n]{0,40}") {
            let template = Template::parse(&text);
            prop_assert_eq!(Template::parse(&template.to_string()), template);
        }
    }
}
