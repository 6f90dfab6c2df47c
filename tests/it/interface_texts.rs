//! The texts of the window are in `texts` files, one per pane, so that they can be read as a whole and translated:
//! other source files contain no sentences. They keep the rules of `docs/interface-texts.md`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use libtest_mimic::Trial;

use crate::cases;

/// The folder of the window's source.
const INTERFACE: &str = "crates/window/src/ui";
/// The folder of the command tables, which are lists of texts themselves.
const TABLES: &str = "commands/table";
/// Calls whose texts are only for programmers or the program's own log.
const UNSHOWN: [&str; 11] = [
    "expect",
    "panic!",
    "unreachable!",
    "assert!",
    "assert_eq!",
    "assert_ne!",
    "debug_assert!",
    "debug!",
    "info!",
    "warn!",
    "error!",
];
/// The minimum number of words of a sentence.
const MIN_SENTENCE_WORDS: usize = 3;
/// The maximum number of words of a text that has no full stop although nothing follows.
const MAX_WORDS_WITHOUT_STOP: usize = 2;
/// The page with the rules of texts.
const PAGE: &str = "docs/interface-texts.md";
/// Words with a capital letter inside a text: names of products, keys, panes, fields and buttons.
const NAMES: [&str; 22] = [
    "Add",
    "Agent",
    "Alt",
    "Check",
    "Claude",
    "Client",
    "Code",
    "Codex",
    "Ctrl",
    "Delete",
    "Enter",
    "Escape",
    "Files",
    "Gemini",
    "Knowledge",
    "Markdown",
    "Protocol",
    "Run",
    "Settings",
    "Shift",
    "Slack",
    "Title",
];
/// American spellings, as beginnings of words.
const AMERICAN: [&str; 9] =
    ["analyz", "behavior", "canceled", "catalog ", "center", "color", "favorite", "gray", "organiz"];
const UNITS: [&str; 9] = ["ms", "s", "min", "h", "KB", "MB", "GB", "%", "px"];

pub fn trials() -> Vec<Trial> {
    cases![
        sentences_are_only_in_files_of_texts,
        sentences_are_distinguished_from_other_literals,
        texts_keep_the_rules_of_their_page,
        the_same_words_stand_with_or_without_a_full_stop,
        broken_rules_are_found,
        the_page_says_which_rules_are_checked,
    ]
}

/// A string literal.
struct Literal {
    /// The first line, counted from 1.
    line: usize,
    text: String,
    /// Whether it is an argument of a call in [`UNSHOWN`].
    is_unshown: bool,
}

/// Finds the string literals of source code.
struct Scanner {
    code: Vec<char>,
    at: usize,
    line: usize,
    /// The called functions of the open parentheses.
    calls: Vec<String>,
    found: Vec<Literal>,
}

impl Scanner {
    fn literals(code: &str) -> Vec<Literal> {
        let code = code.chars().collect();
        let mut scanner = Self { code, at: 0, line: 1, calls: Vec::new(), found: Vec::new() };
        while let Some(letter) = scanner.peek(0) {
            scanner.step(letter);
        }
        scanner.found
    }

    fn peek(&self, count: usize) -> Option<char> {
        self.code.get(self.at + count).copied()
    }

    /// Returns the next character and advances.
    fn next_char(&mut self) -> Option<char> {
        let letter = self.peek(0)?;
        self.at += 1;
        self.line += usize::from(letter == '\n');
        Some(letter)
    }

    fn step(&mut self, letter: char) {
        match (letter, self.peek(1), self.peek(2)) {
            // Comments and attributes, to the end of their lines.
            ('/', Some('/'), _) | ('#', Some('['), _) | ('#', Some('!'), Some('[')) => {
                while self.peek(0).is_some_and(|letter| letter != '\n') {
                    self.at += 1;
                }
            }
            // A character literal; any other apostrophe starts a lifetime.
            ('\'', Some('\\'), _) => {
                self.at += 3;
                while self.next_char().is_some_and(|letter| letter != '\'') {}
            }
            ('\'', Some(_), Some('\'')) => self.at += 3,
            ('"', ..) => self.quoted(),
            ('r', Some('"' | '#'), _) if !self.is_in_a_word() => self.raw(),
            ('(', ..) => {
                let call = self.word_before();
                self.calls.push(call);
                self.at += 1;
            }
            (')', ..) => {
                self.calls.pop();
                self.at += 1;
            }
            _ => {
                self.next_char();
            }
        }
    }

    fn is_in_a_word(&self) -> bool {
        self.at.checked_sub(1).is_some_and(|before| self.code[before].is_alphanumeric() || self.code[before] == '_')
    }

    /// Returns the name before the current parenthesis, with the `!` of a macro.
    fn word_before(&self) -> String {
        let is_part = |letter: &&char| letter.is_alphanumeric() || ['_', '!'].contains(*letter);
        let letters: Vec<char> = self.code[..self.at].iter().rev().take_while(is_part).copied().collect();
        letters.into_iter().rev().collect()
    }

    fn quoted(&mut self) {
        let (line, mut text) = (self.line, String::new());
        self.at += 1;
        while let Some(letter) = self.next_char() {
            match letter {
                '"' => break,
                // A line continuation, or an escaped character.
                '\\' => match self.next_char() {
                    Some('\n') => {
                        while self.peek(0).is_some_and(char::is_whitespace) {
                            self.next_char();
                        }
                    }
                    Some('n' | 'r' | 't') => text.push(' '),
                    other => text.extend(other),
                },
                letter => text.push(letter),
            }
        }
        self.keep(line, text);
    }

    /// Reads a raw string with any number of `#` signs.
    fn raw(&mut self) {
        let line = self.line;
        self.at += 1;
        let signs = self.code[self.at..].iter().take_while(|letter| **letter == '#').count();
        self.at += signs;
        // A raw identifier.
        if self.peek(0) != Some('"') {
            return;
        }
        self.at += 1;
        let mut text = String::new();
        while let Some(letter) = self.next_char() {
            if letter == '"' && self.code[self.at..].iter().take(signs).filter(|sign| **sign == '#').count() == signs {
                self.at += signs;
                break;
            }
            text.push(letter);
        }
        self.keep(line, text);
    }

    fn keep(&mut self, line: usize, text: String) {
        let is_unshown = self.calls.iter().any(|call| UNSHOWN.contains(&call.as_str()));
        self.found.push(Literal { line, text, is_unshown });
    }
}

/// Returns whether a text starts with a capital letter and has enough words for a sentence. A placeholder counts as a
/// word.
fn is_sentence(text: &str) -> bool {
    let words = text.split_whitespace().filter(|word| word.contains(char::is_alphabetic)).count();
    text.starts_with(char::is_uppercase) && words >= MIN_SENTENCE_WORDS
}

/// Returns the sentences in source code that may be shown in the window, with their lines.
fn sentences(code: &str) -> Vec<(usize, String)> {
    let code = code.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let shown = Scanner::literals(code).into_iter().filter(|literal| !literal.is_unshown && is_sentence(&literal.text));
    shown.map(|literal| (literal.line, literal.text)).collect()
}

/// Returns whether a file of the window contains texts or tests.
fn is_elsewhere(file: &Path) -> bool {
    let stem = |name: &str| name.trim_end_matches(".rs").to_owned();
    let mut names = file.iter().map(|part| stem(&part.to_string_lossy()));
    let is_one =
        |name: String| name == "texts" || name.split('_').any(|word| ["test", "tests", "testing"].contains(&word));
    file.starts_with(TABLES) || names.any(is_one)
}

/// Lists the source files below a folder, by relative path.
fn files(top: &Path) -> Vec<PathBuf> {
    let (mut files, mut folders) = (Vec::new(), vec![top.to_path_buf()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.push(path.strip_prefix(top).unwrap().to_path_buf());
            }
        }
    }
    files.sort();
    files
}

fn sentences_are_only_in_files_of_texts() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join(INTERFACE);
    let files = files(&top);
    let of_texts = files.iter().filter(|file| file.ends_with("texts.rs")).count();
    assert!(of_texts > 10, "the files of texts were not found");
    let mut wrong = Vec::new();
    for file in files.iter().filter(|file| !is_elsewhere(file)) {
        let code = fs::read_to_string(top.join(file)).unwrap();
        let describe = |(line, text): (usize, String)| format!("{INTERFACE}/{}:{line}: {text}", file.display());
        wrong.extend(sentences(&code).into_iter().map(describe));
    }
    assert!(wrong.is_empty(), "these belong in the texts.rs beside them:\n{}", wrong.join("\n"));
}

fn sentences_are_distinguished_from_other_literals() {
    let code = r##"
        // Says "This is a remark."
        #[expect(missing_docs, reason = "The names say it")]
        fn one<'a>(quote: char) -> &'a str {
            assert!(quote != '"' && quote != '\'', "This tells a programmer {quote} more");
            let id = "the id of a widget";
            ui.label("Two words");
            ui.label(format!("Drop {quote} here"));
            note("A text that goes \
                on below");
            known.expect("There is always one");
            Problem::error(r#"It is "raw" text"#)
        }
    "##;
    let found = sentences(code);
    let expected = [(8, "Drop {quote} here"), (9, "A text that goes on below"), (12, "It is \"raw\" text")];
    assert_eq!(found, expected.map(|(line, text)| (line, text.to_owned())));
    assert_eq!(sentences("#[cfg(test)]\nmod tests {\n    const A: &str = \"A text of tests\";\n}"), []);
    for (file, elsewhere) in [
        ("panes/story/texts.rs", true),
        ("shell/texts/dialogs.rs", true),
        ("panes/explorer/tree_tests.rs", true),
        ("commands/table/files.rs", true),
        ("panes/editor/field.rs", false),
        ("state/file_texts.rs", false),
    ] {
        assert_eq!(is_elsewhere(Path::new(file)), elsewhere, "{file}");
    }
}

/// Returns the texts that the window may show, each with its place.
fn shown_texts() -> Vec<(String, String)> {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join(INTERFACE);
    let is_test = |file: &Path| file.to_string_lossy().contains("test");
    let mut texts = Vec::new();
    for file in files(&top).iter().filter(|file| is_elsewhere(file) && !is_test(file)) {
        let code = fs::read_to_string(top.join(file)).unwrap();
        let code = code.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        let shown = Scanner::literals(code).into_iter().filter(|literal| !literal.is_unshown);
        texts.extend(shown.map(|literal| (format!("{INTERFACE}/{}:{}", file.display(), literal.line), literal.text)));
    }
    assert!(texts.len() > 1_000, "the texts were not found");
    texts
}

/// Whether a text is not prose: an id, a path, the beginning of a file, or code that is shown.
fn is_code(text: &str) -> bool {
    let is_id = !text.contains([' ', '{']) && text.trim_end_matches('.').contains(['.', '_', '/']);
    is_id || text.starts_with("---") || text.contains('<') || text.contains("# ")
}

/// Returns the words of a text with what separates sentences. Placeholders count as words.
fn words(text: &str) -> Vec<&str> {
    text.split_whitespace()
        .filter(|word| word.contains(|letter: char| letter.is_alphanumeric() || letter == '{'))
        .collect()
}

/// Whether a sentence ends with this word, or something is listed after it.
fn ends_sentence(word: &str) -> bool {
    word.trim_end_matches(['”', '"', ')']).ends_with(['.', '?', ':'])
}

/// Returns whether one sentence ends inside of the text and another begins.
fn has_two_sentences(text: &str) -> bool {
    let words = words(text);
    words.windows(2).any(|pair| {
        let ends = pair[0].trim_end_matches(['”', ')']).ends_with(['.', '?']);
        ends && pair[1].trim_start_matches('“').starts_with(|letter: char| letter.is_uppercase() || letter == '{')
    })
}

fn has_capital_inside(text: &str) -> bool {
    let words = words(text);
    words.windows(2).any(|pair| {
        let word = pair[1].trim_matches(|letter: char| !letter.is_alphabetic());
        let mut letters = word.chars();
        let is_capitalised = letters.next().is_some_and(char::is_uppercase)
            && letters.clone().count() > 0
            && letters.all(char::is_lowercase);
        // What follows is a name or a whole text, or the beginning of a sentence.
        is_capitalised && !ends_sentence(pair[0]) && !pair[1].contains('{') && !NAMES.contains(&word)
    })
}

fn has_unit_without_space(text: &str) -> bool {
    let numbers = text.match_indices(|letter: char| letter.is_ascii_digit() || letter == '}');
    numbers.map(|(at, number)| &text[at + number.len()..]).any(|rest| {
        UNITS.iter().any(|unit| {
            let after = rest.strip_prefix(unit);
            after.is_some_and(|after| !after.starts_with(|letter: char| letter.is_alphanumeric() || letter == '{'))
        })
    })
}

/// Returns the rules of the page that a text breaks.
fn broken_rules(text: &str) -> Vec<&'static str> {
    if is_code(text) || !text.contains(char::is_alphabetic) {
        return Vec::new();
    }
    let lower = text.to_lowercase();
    let count = words(text).len();
    let is_american = |start: &&str| lower.split(' ').any(|word| format!("{word} ").starts_with(*start));
    let is_plain = !text.contains('{') && !text.starts_with(' ');
    let has_stop = text.ends_with('.') && !text.ends_with("..");
    // What a placeholder stands for may have its own full stop.
    let has_end =
        text.ends_with('…') || words(text).last().is_none_or(|last| ends_sentence(last) || last.contains('{'));
    let rules = [
        ("a capital letter inside", text.starts_with(char::is_uppercase) && has_capital_inside(text)),
        ("a full stop after so few words", is_plain && has_stop && count <= MAX_WORDS_WITHOUT_STOP),
        ("no full stop after several sentences", has_two_sentences(text) && !has_end),
        ("three full stops", text.contains("...")),
        ("a space before the ellipsis", text.ends_with(" …")),
        ("an exclamation mark", text.contains('!')),
        ("a plea", lower.split(' ').any(|word| ["please", "sorry", "oops"].contains(&word.trim_matches([',', '.'])))),
        ("straight quotes", text.contains('"')),
        ("a curved apostrophe", text.contains(['‘', '’'])),
        ("no space before the unit", has_unit_without_space(text)),
        ("American spelling", AMERICAN.iter().any(is_american)),
        ("an abbreviation", ["e.g.", "i.e.", "etc."].iter().any(|short| lower.contains(short))),
    ];
    rules.into_iter().filter(|(_, is_broken)| *is_broken).map(|(rule, _)| rule).collect()
}

fn texts_keep_the_rules_of_their_page() {
    let mut wrong = Vec::new();
    for (place, text) in shown_texts() {
        wrong.extend(broken_rules(&text).into_iter().map(|rule| format!("{place}: {rule}: {text}")));
    }
    assert!(wrong.is_empty(), "these break a rule of {PAGE}:\n{}", wrong.join("\n"));
}

fn the_same_words_stand_with_or_without_a_full_stop() {
    let mut spellings: BTreeMap<String, BTreeSet<bool>> = BTreeMap::new();
    for (_, text) in shown_texts().iter().filter(|(_, text)| !is_code(text)) {
        let words = text.strip_suffix('.').unwrap_or(text).to_owned();
        spellings.entry(words).or_default().insert(text.ends_with('.'));
    }
    let wrong: Vec<String> =
        spellings.into_iter().filter(|(_, stops)| stops.len() > 1).map(|(words, _)| words).collect();
    assert!(wrong.is_empty(), "these stand with and without a full stop: {wrong:#?}");
}

fn broken_rules_are_found() {
    for (text, rule) in [
        ("Open in Another program", "a capital letter inside"),
        ("No results.", "a full stop after so few words"),
        ("It failed. Try again", "no full stop after several sentences"),
        ("Import files...", "three full stops"),
        ("Loading files …", "a space before the ellipsis"),
        ("It failed!", "an exclamation mark"),
        ("Choose a file, please.", "a plea"),
        ("A scene \"{name}\" already exists.", "straight quotes"),
        ("The agent’s file", "a curved apostrophe"),
        ("{count}s so far", "no space before the unit"),
        ("Wait 5min now", "no space before the unit"),
        ("{percent:.0}%", "no space before the unit"),
        ("Change the color", "American spelling"),
        ("A key, e.g. enter", "an abbreviation"),
    ] {
        assert_eq!(broken_rules(text), [rule], "{text}");
    }
    for text in [
        "Open in another program",
        "No results",
        "No exact matches. Showing similar paths.",
        "Import files…",
        "… and {count} more",
        "{path} already exists. Rename one of the two first.",
        "A scene “{name}” already exists.",
        "{hours} h {minutes} min",
        "{percent:.0} %",
        "{count} files",
        "Press Enter in Files",
        "files.open_here",
        "By key: A allows",
        "{count} messages",
    ] {
        assert_eq!(broken_rules(text), [] as [&str; 0], "{text}");
    }
}

fn the_page_says_which_rules_are_checked() {
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(PAGE)).unwrap();
    let row = |name: &str| page.lines().find(|line| line.starts_with(&format!("| {name} |"))).unwrap_or_default();
    for name in ["Case", "Full stop", "Ellipsis", "Errors", "Quotes", "Apostrophe", "Units", "Words", "Abbreviations"] {
        assert!(row(name).to_lowercase().contains("**checked**"), "{PAGE} does not say that {name} is checked");
    }
    for unit in UNITS {
        assert!(row("Units").contains(&format!("`{unit}`")), "{PAGE} does not name the unit {unit}");
    }
}
