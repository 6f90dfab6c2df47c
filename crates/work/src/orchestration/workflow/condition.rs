//! Conditions on outputs of steps: `{review.approved}`, `not {plan.short} and {count.words} > 200`.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::template::Token;
use super::value::{is_truthy, text};

/// The maximum number of lexemes in a condition.
const MAX_PARTS: usize = 200;

/// A condition on outputs of steps.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Condition(Node);

#[derive(Clone, PartialEq, Debug)]
enum Node {
    Value(Operand),
    Compare(Operand, Comparison, Operand),
    Not(Box<Node>),
    Both(Box<Node>, Box<Node>),
    Either(Box<Node>, Box<Node>),
}

#[derive(Clone, PartialEq, Debug)]
enum Operand {
    Token(Token),
    Text(String),
    Number(f64),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Comparison {
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Contains,
}

impl Comparison {
    const WORDS: [(&'static str, Self); 7] = [
        ("==", Self::Equal),
        ("!=", Self::Unequal),
        ("<=", Self::LessOrEqual),
        (">=", Self::GreaterOrEqual),
        ("<", Self::Less),
        (">", Self::Greater),
        ("contains", Self::Contains),
    ];

    fn as_str(self) -> &'static str {
        Self::WORDS.iter().find(|(_, one)| *one == self).map_or("==", |(word, _)| word)
    }

    fn of(word: &str) -> Option<Self> {
        Self::WORDS.iter().find(|(known, _)| *known == word).map(|(_, one)| *one)
    }
}

impl Condition {
    /// Parses a condition; the error says what is wrong with it.
    pub fn parse(given: &str) -> Result<Self, String> {
        let lexemes = lexemes(given)?;
        if lexemes.len() > MAX_PARTS {
            return Err(format!("it has more than {MAX_PARTS} parts"));
        }
        let mut reader = Reader { lexemes: &lexemes, at: 0 };
        let node = reader.either()?;
        match reader.lexemes.get(reader.at) {
            None => Ok(Self(node)),
            Some(more) => Err(format!("unexpected {more}")),
        }
    }

    /// Both conditions combined.
    pub fn and(self, other: Self) -> Self {
        Self(Node::Both(Box::new(self.0), Box::new(other.0)))
    }

    /// All placeholders, with repetitions.
    pub fn tokens(&self) -> Vec<&Token> {
        let mut tokens = Vec::new();
        self.0.visit(&mut |operand| {
            if let Operand::Token(token) = operand {
                tokens.push(token);
            }
        });
        tokens
    }

    /// The placeholders that are used as booleans, without a comparison.
    pub fn boolean_tokens(&self) -> Vec<&Token> {
        let mut tokens = Vec::new();
        self.0.visit_asked(&mut |token| tokens.push(token));
        tokens
    }

    /// The condition with other placeholders, or with literal text if `replaced` returns an error.
    pub fn with(&self, mut replaced: impl FnMut(&Token) -> Result<Token, String>) -> Self {
        let mut node = self.0.clone();
        node.visit_mut(&mut |operand| {
            if let Operand::Token(token) = operand {
                *operand = match replaced(token) {
                    Ok(token) => Operand::Token(token),
                    Err(words) => Operand::Text(words.replace('"', "'")),
                };
            }
        });
        Self(node)
    }

    /// Evaluates the condition.
    pub fn holds(&self, mut value: impl FnMut(&Token) -> Value) -> bool {
        self.0.holds(&mut value)
    }
}

impl Node {
    fn visit<'a>(&'a self, look: &mut impl FnMut(&'a Operand)) {
        match self {
            Self::Value(operand) => look(operand),
            Self::Compare(one, _, other) => {
                look(one);
                look(other);
            }
            Self::Not(inner) => inner.visit(look),
            Self::Both(one, other) | Self::Either(one, other) => {
                one.visit(look);
                other.visit(look);
            }
        }
    }

    fn visit_asked<'a>(&'a self, look: &mut impl FnMut(&'a Token)) {
        match self {
            Self::Value(Operand::Token(token)) => look(token),
            Self::Value(_) | Self::Compare(..) => {}
            Self::Not(inner) => inner.visit_asked(look),
            Self::Both(one, other) | Self::Either(one, other) => {
                one.visit_asked(look);
                other.visit_asked(look);
            }
        }
    }

    fn visit_mut(&mut self, change: &mut impl FnMut(&mut Operand)) {
        match self {
            Self::Value(operand) => change(operand),
            Self::Compare(one, _, other) => {
                change(one);
                change(other);
            }
            Self::Not(inner) => inner.visit_mut(change),
            Self::Both(one, other) | Self::Either(one, other) => {
                one.visit_mut(change);
                other.visit_mut(change);
            }
        }
    }

    fn holds(&self, value: &mut impl FnMut(&Token) -> Value) -> bool {
        match self {
            Self::Value(operand) => is_truthy(&operand.value(value)),
            Self::Compare(one, comparison, other) => compare(&one.value(value), *comparison, &other.value(value)),
            Self::Not(inner) => !inner.holds(value),
            Self::Both(one, other) => one.holds(value) && other.holds(value),
            Self::Either(one, other) => one.holds(value) || other.holds(value),
        }
    }
}

impl Operand {
    fn value(&self, value: &mut impl FnMut(&Token) -> Value) -> Value {
        match self {
            Self::Token(token) => value(token),
            Self::Text(text) => Value::from(text.as_str()),
            Self::Number(number) => Value::from(*number),
        }
    }
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        // The length of a list.
        Value::Array(entries) => Some(entries.len() as f64),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

fn compare(one: &Value, comparison: Comparison, other: &Value) -> bool {
    let words = |value: &Value| text(value).to_lowercase();
    let by_number = number(one).zip(number(other));
    let is_equal = || match by_number {
        Some((one, other)) => one == other,
        None => words(one) == words(other),
    };
    match comparison {
        Comparison::Equal => is_equal(),
        Comparison::Unequal => !is_equal(),
        Comparison::Contains => words(one).contains(&words(other)),
        Comparison::Less => by_number.is_some_and(|(one, other)| one < other),
        Comparison::LessOrEqual => by_number.is_some_and(|(one, other)| one <= other),
        Comparison::Greater => by_number.is_some_and(|(one, other)| one > other),
        Comparison::GreaterOrEqual => by_number.is_some_and(|(one, other)| one >= other),
    }
}

#[derive(Clone, PartialEq, Debug)]
enum Lexeme {
    Operand(Operand),
    Word(String),
}

impl fmt::Display for Lexeme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Operand(operand) => operand.fmt(f),
            Self::Word(word) => write!(f, "\"{word}\""),
        }
    }
}

fn lexemes(given: &str) -> Result<Vec<Lexeme>, String> {
    let mut found = Vec::new();
    let mut rest = given.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '{' => {
                let (inside, _) = rest[1..].split_once('}').ok_or("a { is not closed")?;
                let token = Token::parse(inside).ok_or_else(|| format!("{{{inside}}} is not a valid name"))?;
                found.push(Lexeme::Operand(Operand::Token(token)));
                inside.len() + 2
            }
            quote @ ('"' | '\'') => {
                let (inside, _) = rest[1..].split_once(quote).ok_or_else(|| format!("a {quote} is not closed"))?;
                found.push(Lexeme::Operand(Operand::Text(inside.to_owned())));
                inside.len() + 2
            }
            '(' | ')' => {
                found.push(Lexeme::Word(first.to_string()));
                1
            }
            '=' | '!' | '<' | '>' => {
                let length = rest.bytes().take_while(|byte| b"=!<>".contains(byte)).count();
                found.push(Lexeme::Word(rest[..length].to_owned()));
                length
            }
            _ => {
                let is_end = |c: char| c.is_whitespace() || "(){}\"'=!<>".contains(c);
                let length = rest.find(is_end).unwrap_or(rest.len()).max(first.len_utf8());
                let word = &rest[..length];
                found.push(match (word.to_lowercase().as_str(), word.parse::<f64>()) {
                    (known @ ("not" | "and" | "or" | "contains"), _) => Lexeme::Word(known.to_owned()),
                    (_, Ok(number)) if number.is_finite() => Lexeme::Operand(Operand::Number(number)),
                    _ => Lexeme::Operand(Operand::Text(word.to_owned())),
                });
                length
            }
        };
        rest = rest[length..].trim_start();
    }
    Ok(found)
}

struct Reader<'a> {
    lexemes: &'a [Lexeme],
    at: usize,
}

impl Reader<'_> {
    fn takes(&mut self, word: &str) -> bool {
        let is_it = matches!(self.lexemes.get(self.at), Some(Lexeme::Word(found)) if found == word);
        self.at += usize::from(is_it);
        is_it
    }

    fn either(&mut self) -> Result<Node, String> {
        let mut node = self.both()?;
        while self.takes("or") {
            node = Node::Either(Box::new(node), Box::new(self.both()?));
        }
        Ok(node)
    }

    fn both(&mut self) -> Result<Node, String> {
        let mut node = self.single()?;
        while self.takes("and") {
            node = Node::Both(Box::new(node), Box::new(self.single()?));
        }
        Ok(node)
    }

    fn single(&mut self) -> Result<Node, String> {
        if self.takes("not") {
            return Ok(Node::Not(Box::new(self.single()?)));
        }
        if self.takes("(") {
            let node = self.either()?;
            return if self.takes(")") { Ok(node) } else { Err("a ( is not closed".to_owned()) };
        }
        let one = self.operand()?;
        let comparison = match self.lexemes.get(self.at) {
            Some(Lexeme::Word(word)) => Comparison::of(word),
            _ => None,
        };
        match comparison {
            None => Ok(Node::Value(one)),
            Some(comparison) => {
                self.at += 1;
                Ok(Node::Compare(one, comparison, self.operand()?))
            }
        }
    }

    fn operand(&mut self) -> Result<Operand, String> {
        match self.lexemes.get(self.at) {
            Some(Lexeme::Operand(operand)) => {
                self.at += 1;
                Ok(operand.clone())
            }
            Some(other) => Err(format!("unexpected {other}")),
            None => Err("it is incomplete".to_owned()),
        }
    }
}

impl fmt::Display for Operand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Token(token) => token.fmt(f),
            Self::Text(text) if text.contains('"') => write!(f, "'{}'", text.replace('\'', "’")),
            Self::Text(text) => write!(f, "\"{text}\""),
            Self::Number(number) => number.fmt(f),
        }
    }
}

impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Value(operand) => operand.fmt(f),
            Self::Compare(one, comparison, other) => write!(f, "{one} {} {other}", comparison.as_str()),
            Self::Not(inner) => write!(f, "not {}", Grouped(inner)),
            Self::Both(one, other) => write!(f, "{} and {}", Grouped(one), Grouped(other)),
            Self::Either(one, other) => write!(f, "{} or {}", Grouped(one), Grouped(other)),
        }
    }
}

/// Displays a condition, in parentheses if it is `and` or `or`.
struct Grouped<'a>(&'a Node);

impl fmt::Display for Grouped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Node::Both(..) | Node::Either(..) => write!(f, "({})", self.0),
            node => node.fmt(f),
        }
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl TryFrom<String> for Condition {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Self::parse(&text)
    }
}

impl From<Condition> for String {
    fn from(condition: Condition) -> Self {
        condition.to_string()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn holds(condition: &str) -> bool {
        let condition = Condition::parse(condition).unwrap_or_else(|why| panic!("{condition}: {why}"));
        let again = Condition::parse(&condition.to_string()).expect("it is written as it is read");
        assert_eq!(again, condition);
        condition.holds(|token| match token.to_string().as_str() {
            "{a.yes}" => json!("yes"),
            "{a.no}" => json!(false),
            "{a.list}" => json!(["x", "y"]),
            "{a.words}" => json!("Three things"),
            "{a.count}" => json!("7"),
            _ => json!(null),
        })
    }

    #[test]
    fn conditions_are_parsed_and_evaluated() {
        for yes in [
            "{a.yes}",
            "not {a.no}",
            "{a.yes} and not {a.no}",
            "{a.no} or {a.yes}",
            "not ({a.no} or {b.c}) and {a.yes}",
            "{a.words} contains \"THINGS\"",
            "{a.count} > 6 and {a.count} <= 7",
            "{a.list} == 2",
            "{a.words} == 'three things'",
            "{a.words} != done",
            "{a.no} == no",
        ] {
            assert!(holds(yes), "{yes}");
        }
        for no in ["{a.no}", "{b.c}", "{a.words} > 3", "{a.yes} and {a.no}", "{a.count} < 7", "{a.words} == done"] {
            assert!(!holds(no), "{no}");
        }
    }

    #[test]
    fn parse_errors_say_what_is_wrong() {
        for wrong in ["", "{a.b", "({a.b}", "{a.b} and", "{a.b} {c.d}", "== 3", "{a b}", "not", "'x"] {
            assert!(Condition::parse(wrong).is_err(), "{wrong}");
        }
        assert!(Condition::parse(&"not ".repeat(100_000)).is_err());
    }

    #[test]
    fn uncompared_placeholders_are_yes_or_no() {
        let condition = Condition::parse("{a.b} and {c.d} > 3 or not {e.f}").expect("it can be read");
        let asked: Vec<String> = condition.boolean_tokens().into_iter().map(ToString::to_string).collect();
        assert_eq!(asked, ["{a.b}", "{e.f}"]);
        assert_eq!(condition.tokens().len(), 3);
    }
}
