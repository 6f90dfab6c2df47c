//! Splits a command line into words as a POSIX shell would, or says why only a shell could. Pure. The gate checks these
//! words, and a program for a coding agent is started with exactly them.

/// A command line as written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Command {
    /// A program and its arguments: nothing in the line has a special meaning to a shell.
    Plain(Vec<String>),
    /// Only a shell can interpret the line, with the reason.
    NeedsShell(&'static str),
}

/// Words that have a special meaning to a shell in the position of a program.
const RESERVED: [&str; 22] = [
    "if", "then", "else", "elif", "fi", "do", "done", "case", "esac", "while", "until", "for", "in", "{", "}", "!",
    "[[", "function", "select", "time", "coproc", "cd",
];

impl Command {
    /// Parses a line.
    pub fn parse(line: &str) -> Self {
        match scan(line) {
            Err(why) => Self::NeedsShell(why),
            Ok(words) if words.is_empty() => Self::NeedsShell("it is empty"),
            Ok(words) => match words[0].as_str() {
                "" => Self::NeedsShell("its first word is empty"),
                first if RESERVED.contains(&first) => Self::NeedsShell("its first word is a command of the shell"),
                first if is_assignment(first) => Self::NeedsShell("it sets a variable first"),
                _ => Self::Plain(words),
            },
        }
    }

    /// Returns the words to start: those of the line, or a shell that interprets it.
    pub fn started_as(&self, line: &str) -> Vec<String> {
        match self {
            Self::Plain(words) => words.clone(),
            Self::NeedsShell(_) => ["sh", "-c", line].map(str::to_owned).to_vec(),
        }
    }
}

fn is_assignment(word: &str) -> bool {
    let name = word.split(['=', '+', '[']).next().unwrap_or_default();
    let is_name = !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    is_name && word.len() > name.len() && word.contains('=')
}

/// Splits a line that needs no shell into words. The error says why it does.
fn scan(line: &str) -> Result<Vec<String>, &'static str> {
    let (mut words, mut word): (Vec<String>, Option<String>) = (Vec::new(), None);
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\n' | '\r' => return Err("it has several lines"),
            '\0' => return Err("it has an invisible character"),
            ' ' | '\t' => words.extend(word.take()),
            '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next() {
                        Some('\'') => break,
                        Some('\n' | '\r') => return Err("it has several lines"),
                        Some(c) => word.push(c),
                        None => return Err("a quote is not closed"),
                    }
                }
            }
            '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next() {
                        Some('"') => break,
                        Some('$' | '`') => return Err("it substitutes something"),
                        Some('!') => return Err("it may refer to the shell's history"),
                        Some('\n' | '\r') => return Err("it has several lines"),
                        Some('\\') => match chars.next() {
                            Some(c @ ('"' | '\\' | '$' | '`')) => word.push(c),
                            Some('\n') | None => return Err("it has several lines"),
                            Some(c) => word.extend(['\\', c]),
                        },
                        Some(c) => word.push(c),
                        None => return Err("a quote is not closed"),
                    }
                }
            }
            '\\' => match chars.next() {
                None | Some('\n' | '\r') => return Err("it has several lines"),
                Some(c) => word.get_or_insert_default().push(c),
            },
            ';' | '&' | '|' => return Err("it joins several commands"),
            '<' | '>' => return Err("it redirects input or output"),
            '(' | ')' => return Err("it has brackets"),
            '$' | '`' => return Err("it substitutes something"),
            '*' | '?' | '[' | ']' => return Err("it uses a file name pattern"),
            '{' | '}' => return Err("it has braces"),
            '~' if word.is_none() => return Err("it names a home folder"),
            '#' if word.is_none() => return Err("it has a comment"),
            '!' => return Err("it may refer to the shell's history"),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    Ok(words)
}

/// Returns everything in a line that could be a separate command, with quotes removed. Errs on the side of too many,
/// because it is used to find forbidden commands.
pub fn parts(line: &str) -> Vec<Vec<String>> {
    let breaks = [';', '&', '|', '\n', '\r', '(', ')', '`', '{', '}', '<', '>'];
    let as_written = line.split(breaks).map(bare_words);
    // In quotes, such a character has no special meaning, but the quoted text may still be a command.
    let without_quotes: String = line.chars().map(|c| if matches!(c, '"' | '\'') { ' ' } else { c }).collect();
    let all: Vec<Vec<String>> = as_written.chain(without_quotes.split(breaks).map(bare_words)).collect();
    all.into_iter().filter(|words| !words.is_empty()).collect()
}

fn bare_words(part: &str) -> Vec<String> {
    let joined = part.replace("\\\n", "").replace(['"', '\'', '\\'], "").replace("$IFS", " ").replace("${IFS", " ");
    joined
        .split_whitespace()
        .map(|word| word.trim_start_matches('$').to_owned())
        .filter(|word| !word.is_empty())
        .collect()
}

/// Joins words to a line that is parsed into the same words.
pub fn join(words: &[String]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| quote(word)).collect();
    quoted.join(" ")
}

/// Returns a word as it is written in a line: in quotes, if it contains anything but letters, digits and harmless signs.
pub fn quote(word: &str) -> String {
    quote_beside(word, "-_./:=,+@%^")
}

fn quote_beside(word: &str, plain_signs: &str) -> String {
    let is_plain = |sign: char| sign.is_alphanumeric() || plain_signs.contains(sign);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// Characters that no line of [`split_template`] may contain, because they have a meaning to a shell.
const OF_SHELLS: &[char] = &[';', '|', '&', '<', '>', '`', '\n', '\r'];

/// Splits a line of a settings file into words, in which `${NAME}` is a variable that is put in later. Patterns and
/// braces are letters there, because no shell reads the line; what needs one is refused. Quotes keep words together, and
/// a backslash outside of single quotes escapes the next character.
pub fn split_template(line: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut signs = line.trim().chars().peekable();
    while let Some(sign) = signs.next() {
        match (quote, sign) {
            (Some(open), sign) if sign == open => quote = None,
            (Some('"') | None, '\\') => {
                let Some(next) = signs.next() else { return Err("ends with a backslash".to_owned()) };
                word.get_or_insert_default().push(next);
            }
            (None, '"' | '\'') => {
                quote = Some(sign);
                word.get_or_insert_default();
            }
            (None, sign) if OF_SHELLS.contains(&sign) => {
                return Err(format!("contains {sign:?}, which needs a shell"));
            }
            (None | Some('"'), '$') if signs.peek() == Some(&'(') => {
                return Err("contains \"$(\", which needs a shell".to_owned());
            }
            (None, sign) if sign.is_whitespace() => words.extend(word.take()),
            (_, sign) => word.get_or_insert_default().push(sign),
        }
    }
    if quote.is_some() {
        return Err("has a quote that is not closed".to_owned());
    }
    words.extend(word);
    Ok(words)
}

/// Joins words to a line that [`split_template`] splits into the same words.
pub fn join_template<'a>(words: impl Iterator<Item = &'a str>) -> String {
    words.map(|word| quote_beside(word, "-_./:=@%+,{}$~")).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_template_is_words_and_never_a_shells() {
        let words = |line: &str| split_template(line).map(|words| words.join("|"));
        assert_eq!(words(" npx  -y 'a b' \"c d\" e\\ f '' ").as_deref(), Ok("npx|-y|a b|c d|e f|"));
        assert_eq!(words("serve --token ${TOKEN}").as_deref(), Ok("serve|--token|${TOKEN}"));
        for odd in ["a; b", "a | b", "a > b", "a `b`", "a $(b)", "a \"$(b)\"", "a && b", "a\nb", "a 'b", "a \\"] {
            assert!(split_template(odd).is_err(), "{odd:?}");
        }
    }

    proptest! {
        #[test]
        fn joined_words_split_into_the_same_words(words in proptest::collection::vec("[ -~]{0,12}", 1..6)) {
            let line = join_template(words.iter().map(String::as_str));
            prop_assert_eq!(split_template(&line), Ok(words.clone()));
            let is_program = |words: &Vec<String>| matches!(Command::parse(&join(words)), Command::Plain(read) if read == *words);
            let first = &words[0];
            // What a shell reads as its own word in the first place is no program.
            let is_plain = first.chars().all(|sign| sign.is_ascii_alphanumeric()) && first.len() > 8;
            prop_assert!(!is_plain || is_program(&words), "{:?}", words);
        }
    }
}
