//! Checks that `docs/keys.md` matches the command table, which also defines the keys, the menus and the palette.
//! `WORKSHOP_WRITE_DOCS=1 cargo test --test it keys_reference` writes it.

use std::fs;
use std::path::Path;

use agent_workshop::ui::commands::listing;
use agent_workshop::ui::commands::table::CommandTable;
use libtest_mimic::Trial;
use serde_json::Value;

use crate::cases;
use crate::program;

const HEAD: &str = "# Keys

Every key of the window; Ctrl is Cmd on a Mac. The palette (Ctrl + K) finds every command by name, and
`workshop --help-keys` prints all of them, `--json` for programs.

";

const FOOT: &str = "
This page is generated from the code: `WORKSHOP_WRITE_DOCS=1 cargo test --test it keys_reference`.
";

pub fn trials() -> Vec<Trial> {
    cases![the_keys_reference_matches_the_code, the_program_prints_the_table]
}

fn the_keys_reference_matches_the_code() {
    let generated = format!("{HEAD}{}{FOOT}", listing::as_markdown(CommandTable::standard()));
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/keys.md");
    if std::env::var_os("WORKSHOP_WRITE_DOCS").is_some() {
        fs::write(&path, &generated).expect("the docs folder is writable");
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == generated,
        "docs/keys.md is outdated; run WORKSHOP_WRITE_DOCS=1 cargo test --test it keys_reference"
    );
}

fn the_program_prints_the_table() {
    let folder = program::folder();
    let printed = |arguments: &[&str]| program::succeed(folder.path(), arguments);
    assert_eq!(printed(&["--help-keys"]), listing::as_text(CommandTable::standard()));
    let json: Value = serde_json::from_str(&printed(&["--help-keys", "--json"])).expect("it is JSON");
    let palette = json.as_array().and_then(|all| all.iter().find(|one| one["id"] == "window.palette"));
    assert_eq!(palette.expect("the command is listed")["keys"][0], "Ctrl+K");
}
