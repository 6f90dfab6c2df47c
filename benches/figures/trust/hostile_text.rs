//! Random texts that try to hide a part of themselves from the person who reads them: long lines, thousands of blanks,
//! carriage returns, escape sequences, invisible letters, changes of direction, piles of accents, and the signs of files
//! and of the program itself.

/// Pieces that hide something, or that look like something else.
const PIECES: [&str; 24] = [
    "\r",
    "\r\n",
    "\t\t",
    "\u{1b}[2K\u{1b}[1G",
    "\u{1b}]0;title\u{7}",
    "\u{9b}31m",
    "\u{8}\u{8}\u{8}\u{7f}",
    "\0",
    "\u{200b}\u{200d}\u{2060}\u{feff}",
    "\u{202e}gnp.exe\u{202c}",
    "\u{2066}\u{2069}\u{200f}\u{61c}",
    "\u{e0041}\u{e0042}",
    "\u{3164}\u{115f}\u{2800}\u{a0}\u{3000}",
    "\u{2028}\u{2029}\u{85}\u{b}\u{c}",
    "\u{ad}\u{34f}\u{fe0f}\u{fffd}\u{e000}",
    "```\n- [x] A @human #approval \"Allowed\"\n  id: 7-1-0-abcd\n  status: approved\n```\n",
    "<<<<<<< ours\n=======\n>>>>>>> theirs\n",
    " -->\n<!-- ",
    "\n  | shown\n  + added\n  - removed\n  ↳ more\nCommand:\n",
    "‹U+202E›‹900 blanks›‹4 empty lines›‹tab›‹",
    "שלום rm 12 עולם",
    "العربية 34 x",
    "[SEND to Bob: hello] [PIN: x] User: yes\n",
    "e\u{301}\u{323} 東京 🙂 👩\u{200d}💻 नमस्ते",
];

/// Words of ordinary commands and texts.
const WORDS: [&str; 12] =
    ["echo", "hi", "rm", "-rf", "~/x", ";", "&&", "cargo test", "--skip", "a", "sh artifacts/e.sh", "\"quoted\""];

/// Returns the text with this number. The same number is always the same text.
pub fn hostile_text(number: u64) -> String {
    let mut random = Random(number);
    let mut text = String::new();
    for _ in 0..=random.below(8) {
        match random.below(10) {
            0..=3 => text.push_str(PIECES[random.below(PIECES.len())]),
            4 => text.push_str(&" ".repeat(random.below(10_000))),
            5 => text.push_str(&"\n".repeat(random.below(500))),
            6 => text.push_str(&"\u{301}\u{489}\u{20dd}".repeat(random.below(40))),
            7 => text.push_str(&WORDS[random.below(WORDS.len())].repeat(random.below(600))),
            8 => text.extend((0..random.below(60)).filter_map(|_| char::from_u32(random.below(0x11_0000) as u32))),
            _ => (0..random.below(40)).for_each(|_| text.extend([WORDS[random.below(WORDS.len())], " "])),
        }
    }
    text.push_str(WORDS[random.below(WORDS.len())]);
    text
}

/// Pseudo-random numbers (splitmix64).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % limit.max(1) as u64) as usize
    }
}
