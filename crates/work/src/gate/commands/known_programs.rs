//! The programs of `known_programs.txt`: the options and further words of each that are known to be harmless. Pure.
//!
//! A rule for commands covers exactly its own words and what is known to be harmless here. An option that is not listed
//! needs approval in every form: abbreviated, with a value, among other letters, with one dash or two.

use std::sync::LazyLock;

/// The table, in the order of the file.
static KNOWN: LazyLock<Vec<KnownProgram>> = LazyLock::new(|| {
    let lines = include_str!("known_programs.txt").lines();
    lines.filter(|line| !line.starts_with('#') && !line.trim().is_empty()).map(KnownProgram::parse).collect()
});

/// A program, or one of its subcommands, with what is harmless for it.
pub(super) struct KnownProgram {
    /// The alternative words at each position: the program, and the subcommand if there is one.
    path: Vec<Vec<&'static str>>,
    /// Whether it only reads, so that a rule for it may be offered.
    pub(super) is_read_only: bool,
    operands: OperandKind,
    /// Whether each option is a whole word with one dash, as for `find` and `go`.
    is_single: bool,
    options: Vec<KnownOption>,
    /// The options after `--`; `None` if words after it are like those before.
    trailing: Option<Vec<KnownOption>>,
}

/// A harmless option with its dashes, or a harmless word.
struct KnownOption {
    name: &'static str,
    value: OptionValue,
}

/// The value of an option.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum OptionValue {
    Nothing,
    Text,
    /// A text that is only a value after an equals sign.
    OptionalText,
    /// Digits that follow at once.
    OptionalNumber,
    File,
    /// A text that replaces the first further word.
    Pattern,
}

/// The meaning of further words.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum OperandKind {
    Nothing,
    /// Only words that the rule names, at least as a pattern.
    Named,
    Text,
    Names,
    Files,
    OneFile,
    PatternAndFiles,
    ModeAndFiles,
    Urls,
    Refs,
    Branches,
    Format,
}

/// The name of a program without its folder and without the extension `.exe`.
pub fn name_of(program: &str) -> &str {
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program);
    name.strip_suffix(".exe").unwrap_or(name)
}

impl KnownProgram {
    fn parse(line: &'static str) -> Self {
        let mut parts = line.splitn(3, " : ").map(|part| part.trim_end_matches(':').trim());
        let (names, operands) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        let options = parts.next().unwrap_or_default();
        let (operands, is_single) = match operands.strip_suffix(" single") {
            Some(operands) => (operands, true),
            None => (operands, false),
        };
        let operands = match operands {
            "none" => OperandKind::Nothing,
            "named" => OperandKind::Named,
            "text" => OperandKind::Text,
            "names" => OperandKind::Names,
            "files" => OperandKind::Files,
            "one-file" => OperandKind::OneFile,
            "pattern-files" => OperandKind::PatternAndFiles,
            "mode-files" => OperandKind::ModeAndFiles,
            "urls" => OperandKind::Urls,
            "refs" => OperandKind::Refs,
            "branches" => OperandKind::Branches,
            "format" => OperandKind::Format,
            other => unreachable!("{other:?} in {line:?} is no kind of word"),
        };
        let read_only = names.strip_prefix('+');
        let path = read_only.unwrap_or(names).split(' ').map(|names| names.split(',').collect()).collect();
        let (options, trailing) = match options.split_once(" -- ") {
            Some((options, trailing)) => (options, Some(options_of(trailing, is_single))),
            None => (options, None),
        };
        let options = options_of(options, is_single);
        Self { path, is_read_only: read_only.is_some(), operands, is_single, options, trailing }
    }

    /// The number of words that name the program and its subcommand.
    pub(super) fn length(&self) -> usize {
        self.path.len()
    }

    /// Whether this is the program's name itself, without a version at its end.
    pub(super) fn is_exactly(&self, program: &str) -> bool {
        self.path[0].contains(&program)
    }

    /// Whether any word is an option that is not listed.
    pub(super) fn has_unknown_option(&self, words: &[String]) -> bool {
        let options = words.iter().skip(self.length()).filter(|word| word.len() > 1 && word.starts_with('-'));
        options.filter(|word| *word != "--").any(|word| {
            let mut lists = std::iter::once(&self.options).chain(&self.trailing);
            lists.all(|options| self.read_option(options, word).is_none())
        })
    }

    fn is_named_by(&self, words: &[String]) -> bool {
        words.len() >= self.path.len()
            && self.path.iter().enumerate().all(|(at, names)| {
                let word = if at == 0 { name_of(&words[0]) } else { words[at].as_str() };
                names.contains(&word)
            })
    }

    /// The index of the first word that is not known to be harmless, among those that are open. `is_open` says whether
    /// a rule leaves the word at an index to be judged, `rule_length` how many words the rule has.
    pub(super) fn first_unknown(
        &self,
        words: &[String],
        rule_length: usize,
        is_open: impl Fn(usize) -> bool,
    ) -> Option<usize> {
        let (mut pending, mut operands) = (None, 0);
        let (mut after_unknown, mut options) = (false, Some(&self.options));
        for (at, word) in words.iter().enumerate().skip(self.length()) {
            let is_open = is_open(at);
            let is_value_of_unknown = std::mem::take(&mut after_unknown);
            if let Some(value) = pending.take() {
                if is_open && !accepts_value(value, word) {
                    return Some(at);
                }
                continue;
            }
            if word == "--" && options.is_some() {
                options = self.trailing.as_ref();
                continue;
            }
            let is_literal = self.options.iter().any(|option| option.name == word && !word.starts_with('-'));
            let is_option = word.len() > 1 && word.starts_with('-') && options.is_some();
            let known = options.filter(|_| is_option).and_then(|options| self.read_option(options, word));
            let is_harmless = match known {
                Some(ReadOption::Flag) => true,
                Some(ReadOption::WithValue(value, text)) => !is_open || accepts_value(value, text),
                Some(ReadOption::ValueFollows(value)) => {
                    pending = Some(value);
                    true
                }
                // The next word may be the value of an option that only the rule knows.
                None if is_option => {
                    after_unknown = true;
                    false
                }
                None if is_literal => true,
                None => {
                    operands += 1;
                    !is_value_of_unknown && self.accepts_operand(operands - 1, word, at < rule_length)
                }
            };
            let gives_pattern = matches!(
                known,
                Some(ReadOption::WithValue(OptionValue::Pattern, _) | ReadOption::ValueFollows(OptionValue::Pattern))
            );
            operands += usize::from(gives_pattern && operands == 0);
            if is_open && !is_harmless {
                return Some(at);
            }
        }
        None
    }

    /// Reads a word as options: one long option, or several letters. `None` if any of them is not listed.
    fn read_option<'a>(&self, options: &[KnownOption], word: &'a str) -> Option<ReadOption<'a>> {
        let find = |name: &str| options.iter().find(|option| option.name == name).map(|option| option.value);
        if word[1..].bytes().all(|byte| byte.is_ascii_digit()) && find("-#").is_some() {
            return Some(ReadOption::Flag);
        }
        match find(word) {
            Some(OptionValue::Nothing | OptionValue::OptionalText | OptionValue::OptionalNumber) => {
                return Some(ReadOption::Flag);
            }
            Some(value) => return Some(ReadOption::ValueFollows(value)),
            None => {}
        }
        if self.is_single || word.starts_with("--") {
            let (name, given) = word.split_once('=')?;
            let value = find(name).filter(|value| *value != OptionValue::Nothing)?;
            return Some(ReadOption::WithValue(value, given));
        }
        let letters = word.char_indices().skip(1);
        for (at, letter) in letters {
            let rest = &word[at + letter.len_utf8()..];
            match find(&format!("-{letter}"))? {
                OptionValue::Nothing | OptionValue::OptionalText => {}
                OptionValue::OptionalNumber => {
                    return rest.bytes().all(|byte| byte.is_ascii_digit()).then_some(ReadOption::Flag);
                }
                value if rest.is_empty() => return Some(ReadOption::ValueFollows(value)),
                value => return Some(ReadOption::WithValue(value, rest)),
            }
        }
        Some(ReadOption::Flag)
    }

    fn accepts_operand(&self, index: usize, word: &str, is_in_rule: bool) -> bool {
        match self.operands {
            OperandKind::Nothing => false,
            OperandKind::Named => is_in_rule && is_name(word),
            OperandKind::Text => true,
            OperandKind::Names => is_name(word),
            OperandKind::PatternAndFiles if index == 0 => true,
            OperandKind::ModeAndFiles if index == 0 => is_plain_mode(word),
            OperandKind::Files | OperandKind::PatternAndFiles | OperandKind::ModeAndFiles => is_file_inside(word),
            OperandKind::OneFile => index == 0 && is_file_inside(word),
            OperandKind::Urls => ["http://", "https://"].iter().any(|scheme| word.starts_with(scheme)),
            OperandKind::Refs => is_ref(word),
            OperandKind::Branches => is_name(word) && !word.contains(':'),
            OperandKind::Format => word.starts_with('+'),
        }
    }
}

/// An option as it occurs in a command.
#[derive(Clone, Copy)]
enum ReadOption<'a> {
    Flag,
    WithValue(OptionValue, &'a str),
    ValueFollows(OptionValue),
}

fn options_of(text: &'static str, is_single: bool) -> Vec<KnownOption> {
    let mut options = Vec::new();
    for token in text.split_whitespace() {
        let (name, value) = match token.chars().last() {
            Some('=') => (&token[..token.len() - 1], OptionValue::Text),
            Some('?') => (&token[..token.len() - 1], OptionValue::OptionalText),
            Some('@') => (&token[..token.len() - 1], OptionValue::File),
            Some('^') => (&token[..token.len() - 1], OptionValue::Pattern),
            Some('#') if token != "-#" => (&token[..token.len() - 1], OptionValue::OptionalNumber),
            _ => (token, OptionValue::Nothing),
        };
        let letters = name.strip_prefix('-').filter(|letters| !letters.starts_with('-'));
        match letters {
            Some(letters) if !is_single && letters.chars().count() > 1 => {
                let letters = letters.char_indices().map(|(at, letter)| &letters[at..at + letter.len_utf8()]);
                options.extend(letters.filter_map(|letter| {
                    SINGLE_LETTERS
                        .iter()
                        .copied()
                        .find(|name| name[1..] == *letter)
                        .map(|name| KnownOption { name, value })
                }));
            }
            _ => options.push(KnownOption { name, value }),
        }
    }
    options
}

/// The options of a single letter or digit.
const SINGLE_LETTERS: [&str; 62] = [
    "-a", "-b", "-c", "-d", "-e", "-f", "-g", "-h", "-i", "-j", "-k", "-l", "-m", "-n", "-o", "-p", "-q", "-r", "-s",
    "-t", "-u", "-v", "-w", "-x", "-y", "-z", "-A", "-B", "-C", "-D", "-E", "-F", "-G", "-H", "-I", "-J", "-K", "-L",
    "-M", "-N", "-O", "-P", "-Q", "-R", "-S", "-T", "-U", "-V", "-W", "-X", "-Y", "-Z", "-0", "-1", "-2", "-3", "-4",
    "-5", "-6", "-7", "-8", "-9",
];

/// The entry for a command: the one that names the most of its words. A program with a version in its name, such as
/// `python3.11`, is the program without it.
pub(super) fn find(words: &[String]) -> Option<&'static KnownProgram> {
    let longest = |words: &[String]| {
        let known = KNOWN.iter().filter(|known| known.is_named_by(words));
        known.max_by_key(|known| known.length())
    };
    longest(words).or_else(|| {
        let name = name_of(words.first()?);
        let versionless = versionless(name);
        let mut renamed = words.to_vec();
        renamed[0] = versionless.to_owned();
        (versionless != name && !versionless.is_empty()).then(|| longest(&renamed))?
    })
}

/// Whether a program is only known with subcommands.
pub(super) fn has_subcommands(program: &str) -> bool {
    let name = name_of(program);
    let is_it = |known: &&KnownProgram| known.path[0].contains(&name) || known.path[0].contains(&versionless(name));
    let mut entries = KNOWN.iter().filter(is_it).peekable();
    entries.peek().is_some() && entries.all(|known| known.length() > 1)
}

/// The name of a program without a version at its end.
pub(super) fn versionless(name: &str) -> &str {
    name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-')
}

/// The words of a command in the style of old `tar`, whose first word is letters of options without a dash, and whose
/// values follow in their order.
pub(super) fn with_dashes(words: &[String]) -> Option<Vec<String>> {
    let is_tar = matches!(name_of(words.first()?), "tar" | "bsdtar" | "gtar");
    let letters = words.get(1).filter(|word| is_tar && !word.starts_with('-'))?;
    let mut dashed = words.to_vec();
    dashed[1] = format!("-{letters}");
    Some(dashed)
}

fn accepts_value(value: OptionValue, text: &str) -> bool {
    match value {
        OptionValue::File => is_file_inside(text),
        OptionValue::Pattern => true,
        _ => text == "/" || !text.starts_with(['/', '~', '@']) && !leaves_folder(text),
    }
}

fn leaves_folder(word: &str) -> bool {
    word.split(['/', '\\']).any(|part| part == "..")
}

/// Whether a word can only name a file inside the folder in which the command runs.
fn is_file_inside(word: &str) -> bool {
    // A host, a scheme or a drive comes before a colon, and a variable before an equals sign.
    let is_plain = !word.starts_with(['/', '\\', '~', '@', '+']) && !word.contains([':', '=']);
    word == "/dev/null" || is_plain && !leaves_folder(word)
}

/// Whether a word only grants or takes the rights to read, write and execute (`u+x`, `644`).
fn is_plain_mode(word: &str) -> bool {
    let is_octal = matches!(word.len(), 3 | 4) && word.bytes().all(|byte| matches!(byte, b'0'..=b'7'));
    let is_symbolic = |part: &str| {
        let rights = part.trim_start_matches(['u', 'g', 'o', 'a']);
        rights.starts_with(['+', '-', '=']) && rights[1..].chars().all(|right| "rwxX".contains(right))
    };
    is_octal && (word.len() == 3 || word.starts_with('0')) || word.split(',').all(is_symbolic)
}

/// Whether a word is a name, a path inside or a list of them.
fn is_name(word: &str) -> bool {
    let is_plain = word.starts_with(|c: char| c.is_alphanumeric() || c == '_' || c == '.');
    is_plain && !word.contains(['=', '\\']) && !word.contains("://") && !leaves_folder(word)
}

/// Whether a word can only be a revision, a range of them, a remote or a path inside.
fn is_ref(word: &str) -> bool {
    let is_plain = word.starts_with(|c: char| c.is_alphanumeric() || "_.@^:".contains(c));
    is_plain && !word.starts_with("@/") && !word.contains("::") && !word.contains("://") && !leaves_folder(word)
}
