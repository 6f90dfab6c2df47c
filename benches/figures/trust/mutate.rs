//! Ways to corrupt a file: its bytes, lines and values, or what is in its place.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use super::chance::Chance;

/// The maximum size of a corrupted file, in bytes.
const MAX_BYTES: usize = 3 << 20;

/// The bytes of a file, corrupted in one or a few places.
pub fn spoiled(chance: &mut Chance, mut bytes: Vec<u8>, is_text: bool) -> Vec<u8> {
    for _ in 0..chance.between(1, 3) {
        bytes = if is_text && chance.percent(65) {
            lines_spoiled(chance, &String::from_utf8_lossy(&bytes)).into_bytes()
        } else {
            bytes_spoiled(chance, bytes)
        };
        bytes.truncate(MAX_BYTES);
    }
    bytes
}

fn bytes_spoiled(chance: &mut Chance, mut bytes: Vec<u8>) -> Vec<u8> {
    let at = chance.below(bytes.len().max(1)).min(bytes.len());
    let end = (at + chance.between(1, 200)).min(bytes.len());
    match chance.below(14) {
        0 => {
            for _ in 0..chance.between(1, 200) {
                let at = chance.below(bytes.len());
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= 1 << chance.below(8);
                }
            }
        }
        1 => {
            let noise = chance.bytes(end - at);
            bytes[at..end].copy_from_slice(&noise);
        }
        2 => {
            let count = chance.between(1, 400);
            bytes.splice(at..at, chance.bytes(count));
        }
        3 => drop(bytes.drain(at..end)),
        4 => bytes.truncate(at),
        5 => {
            let piece = bytes[at..].to_vec();
            bytes.extend(piece);
        }
        6 => bytes[at..end].fill(0),
        7 => bytes.rotate_left(at),
        8 => drop(bytes.splice(at..at, *b"\x00")),
        9 => drop(bytes.splice(at..at, *b"\xff\xfe\xc3\x28")),
        10 => drop(bytes.splice(0..0, *b"\xef\xbb\xbf")),
        11 => bytes = bytes.iter().flat_map(|byte| [*byte, 0]).collect(),
        12 => bytes.clear(),
        _ => bytes = bytes.repeat(chance.between(2, 400)),
    }
    bytes
}

/// Values that are rarely intended.
const VALUES: [&str; 34] = [
    "-1",
    "0",
    "1e308",
    "-1e308",
    ".nan",
    ".inf",
    "18446744073709551616",
    "9223372036854775807",
    "0x7fffffffffffffff",
    "１２",
    "null",
    "~",
    "true",
    "[]",
    "{}",
    "\"\"",
    "\"\u{1b}]0;x\u{7}\u{202e}\"",
    "[[[[[[[[]]]]]]]]",
    "*nowhere",
    "!!binary Kio=",
    "!!python/object:os.system x",
    "|",
    ">-",
    "2026-13-45",
    "'",
    "\"",
    "- -",
    "? :",
    "<<",
    "&a",
    "%",
    "@",
    "`",
    "\t",
];
/// Lines that are rarely intended.
const LINES: [&str; 16] = [
    "---",
    "...",
    "- ",
    "  - ",
    ":",
    "<<: *x",
    "elements:",
    "agents:",
    "id: user",
    "id: room",
    "seed: -5",
    "settings: { simulation: { speed_units: -50 } }",
    "\u{0}",
    "\u{1b}[2J",
    "key without a colon",
    "\tindented: by a tab",
];

fn lines_spoiled(chance: &mut Chance, text: &str) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    if lines.is_empty() {
        lines.push(String::new());
    }
    let (at, other) = (chance.below(lines.len()), chance.below(lines.len()));
    match chance.below(16) {
        0 => drop(lines.remove(at)),
        1 => lines.insert(other, lines[at].clone()),
        2 => lines.swap(at, other),
        3 => lines[at] = format!("{}{}", " ".repeat(chance.between(1, 9)), lines[at]),
        4 => lines[at] = lines[at].trim_start().to_owned(),
        5 | 6 => lines[at] = with_value(chance, &lines[at]),
        7 => lines[at] = lines[at].replace(':', ""),
        8 => lines[at] = with_typo(chance, &lines[at]),
        9 => lines.insert(at, (*chance.one_of(&LINES)).to_owned()),
        10 => lines.insert(at, aliases(chance)),
        11 => lines.insert(at, format!("deep: {}", "[".repeat(chance.between(10, 20_000)))),
        12 => lines[at].push_str(&"long ".repeat(chance.between(100, 60_000))),
        13 => return lines.join("\r\n"),
        14 => lines.truncate(at),
        _ => lines[at] = lines[at].replace([' ', '-'], "\u{a0}"),
    }
    let mut text = lines.join("\n");
    text.push('\n');
    text
}

fn with_value(chance: &mut Chance, line: &str) -> String {
    let value = *chance.one_of(&VALUES);
    match line.split_once(':') {
        Some((key, _)) => format!("{key}: {value}"),
        None => value.to_owned(),
    }
}

fn with_typo(chance: &mut Chance, line: &str) -> String {
    let mut letters: Vec<char> = line.chars().collect();
    let at = chance.below(letters.len());
    if letters.len() > 1 {
        match chance.below(3) {
            0 => drop(letters.remove(at)),
            1 => letters.insert(at, letters[at]),
            _ => letters[at] = 'q',
        }
    }
    letters.into_iter().collect()
}

/// A few lines that would expand to many.
fn aliases(chance: &mut Chance) -> String {
    let mut many = |name: &str| vec![format!("*{name}"); chance.between(2, 12)].join(", ");
    let names = ["a", "b", "c", "d", "e", "f", "g", "h", "i"];
    let mut lines = vec!["x-a: &a [\"some text that is not short at all\"]".to_owned()];
    for pair in names.windows(2) {
        lines.push(format!("x-{}: &{} [{}]", pair[1], pair[1], many(pair[0])));
    }
    lines.join("\n")
}

/// Replaces a file with something else. Returns a description.
pub fn replaced(chance: &mut Chance, path: &Path, outside: &Path) -> &'static str {
    let removed = fs::remove_file(path);
    if removed.is_err() {
        return "nothing";
    }
    let canary = outside.join("canary.md");
    let done = match chance.below(6) {
        0 => ("a folder", fs::create_dir(path).is_ok()),
        1 => ("a link to outside", symlink(&canary, path).is_ok()),
        2 => ("a link to nowhere", symlink(outside.join("nowhere.md"), path).is_ok()),
        3 => ("a link to itself", symlink(path, path).is_ok()),
        4 => ("a link to an endless file", symlink("/dev/zero", path).is_ok()),
        _ => ("a pipe", std::process::Command::new("mkfifo").arg(path).status().is_ok_and(|status| status.success())),
    };
    if done.1 { done.0 } else { "nothing" }
}
