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

fn quote(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./:=,+@%^".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}
