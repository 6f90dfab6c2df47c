//! Loads the room's own texts in prompts from the Markdown files in this folder.
//!
//! A file starts with a sentence about itself, followed by blocks, each under a comment with its name. A
//! `{placeholder}` in a block is replaced in one pass: inserted text is never scanned again.

use std::sync::LazyLock;

/// The files, compiled in.
const FILES: [&str; 9] = [
    include_str!("orders.md"),
    include_str!("room.md"),
    include_str!("read.md"),
    include_str!("talk.md"),
    include_str!("wake.md"),
    include_str!("compaction.md"),
    include_str!("learning.md"),
    include_str!("work.md"),
    include_str!("functions.md"),
];

/// The start and the end of the line above a block, with the block's name between them.
const NAME: (&str, &str) = ("<!-- ", " -->");

macro_rules! blocks {
    ($($(#[$doc:meta])* $block:ident = $name:literal,)*) => {
        /// The blocks by purpose.
        #[derive(Debug)]
        pub(super) struct Blocks {
            $($(#[$doc])* pub(super) $block: &'static str,)*
        }

        impl Blocks {
            fn of(found: &[(&str, &'static str)]) -> Self {
                Self { $($block: block(found, $name),)* }
            }

            /// Returns the names of all blocks that the code uses.
            #[cfg(test)]
            fn names() -> Vec<&'static str> {
                vec![$($name),*]
            }
        }
    };
}

blocks! {
    /// Which text in a prompt is to be followed and which is information.
    guide = "guide",
    who = "who",
    person = "who.person",
    manners = "manners",
    markers = "markers",
    markers_pins = "markers.pins",
    markers_mail = "markers.mail",
    markers_inbox = "markers.inbox",
    markers_talk = "markers.talk",
    markers_once = "markers.once",
    place = "where",
    place_at = "where.at",
    things = "where.things",
    nobody = "where.nobody",
    near = "where.near",
    time = "where.time",
    nearest = "board.nearest",
    read = "read",
    read_empty = "read.empty",
    read_new = "read.new",
    read_ask = "read.ask",
    mail_none = "mail.none",
    mail_ask = "mail.ask",
    mail_more = "mail.more",
    talk = "talk",
    talk_about = "talk.about",
    talk_earlier = "talk.earlier",
    talk_begin = "talk.begin",
    talk_turn = "talk.turn",
    talk_last = "talk.last",
    talk_person = "talk.person",
    wake = "wake",
    wake_ask = "wake.ask",
    compaction_system = "compaction.system",
    compaction = "compaction",
    compaction_again = "compaction.again",
    learning_system = "learning.system",
    work = "work",
    work_files = "work.files",
    work_no_tools = "work.no_tools",
    work_own_tools = "work.own_tools",
    work_spawn = "work.spawn",
    work_parent = "work.parent",
    work_markers = "work.markers",
    work_finish = "work.finish",
    here = "work.here",
    folders = "work.folders",
    people = "work.people",
    alone = "work.alone",
    functions = "functions",
    functions_once = "functions.once",
    functions_mail = "functions.mail",
    functions_talk = "functions.talk",
    functions_work = "functions.work",
    function_remember = "function.remember",
    function_pin = "function.pin",
    function_vote_up = "function.vote_up",
    function_vote_down = "function.vote_down",
    function_remove_pin = "function.remove_pin",
    function_keep_pin = "function.keep_pin",
    function_release_pin = "function.release_pin",
    function_send = "function.send",
    function_done = "function.done",
    function_bye = "function.bye",
}

/// The blocks of all files.
pub(super) static TEXTS: LazyLock<Blocks> = LazyLock::new(|| Blocks::of(&parse_files()));

/// Returns name and text of every block in the files. The text above the first block is for readers of the file.
fn parse_files() -> Vec<(&'static str, &'static str)> {
    let mut found = Vec::new();
    for file in FILES {
        for piece in file.split("\n<!-- ").skip(1) {
            if let Some((name, text)) = piece.split_once(NAME.1) {
                found.push((name, text.trim_matches('\n')));
            }
        }
    }
    found
}

fn block(found: &[(&str, &'static str)], name: &str) -> &'static str {
    // A missing block is found by the test below, not by users.
    found.iter().find(|(of, _)| *of == name).map_or("", |(_, text)| text)
}

/// Appends a block with its placeholders filled in. A placeholder without a value stays as it is.
pub(super) fn push(out: &mut String, block: &str, values: &[(&str, &str)]) {
    let mut rest = block;
    while let Some((before, after)) = rest.split_once('{') {
        out.push_str(before);
        let value = after.split_once('}').and_then(|(place, behind)| {
            let (_, value) = values.iter().find(|(name, _)| *name == place)?;
            Some((*value, behind))
        });
        rest = match value {
            Some((value, behind)) => {
                out.push_str(value);
                behind
            }
            None => {
                out.push('{');
                after
            }
        };
    }
    out.push_str(rest);
}

/// Returns a block with its placeholders filled in.
pub(super) fn filled(block: &str, values: &[(&str, &str)]) -> String {
    let mut text = String::with_capacity(block.len() + values.iter().map(|(_, value)| value.len()).sum::<usize>());
    push(&mut text, block, values);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_contain_exactly_the_blocks_that_the_code_uses() {
        let found = parse_files();
        let mut names: Vec<&str> = found.iter().map(|(name, _)| *name).collect();
        let mut known = Blocks::names();
        names.sort_unstable();
        known.sort_unstable();
        assert_eq!(names, known);
        for (name, text) in found {
            assert!(!text.trim().is_empty(), "{name} says nothing");
            assert!(!text.contains(NAME.0) && !text.contains('\r'), "{name}");
        }
    }

    #[test]
    fn placeholders_are_replaced_in_one_pass() {
        assert_eq!(filled("{a} and {b}, {c}", &[("a", "{b}"), ("b", "x{a}")]), "{b} and x{a}, {c}");
        assert_eq!(filled("{ no {a", &[("a", "x")]), "{ no {a");
    }
}
