//! The rules of the source's structure that the compiler cannot check.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use libtest_mimic::Trial;

use crate::cases;

/// The packages and the layers in each, lowest first: a layer may use only layers before it. Everything else about the
/// order follows from this list, including the description in `src/lib.rs`.
const HOUSE: [(&str, &[&str]); 9] = [
    ("crates/foundation", &["base", "log", "safe_fs", "schedule"]),
    ("crates/mdx", &["source", "document", "skills", "heartbeat", "engine", "modules"]),
    ("crates/knowledge", &["knowledge"]),
    ("crates/files", &["store", "workspace"]),
    ("crates/room", &["agent", "element", "navigation", "simulation"]),
    ("crates/minds", &["memory", "mind", "gateway", "offline"]),
    ("crates/work", &["gate", "tools", "kernel", "orchestration", "desk", "learning"]),
    ("crates/window", &["view", "ui"]),
    ("", &["app", "cli"]),
];

/// Layers that a layer must not use although they are below it: the room runs without a model and a database.
const WITHOUT: [(&str, &[&str]); 1] = [("simulation", &["store", "knowledge", "memory", "mind", "gateway", "kernel"])];

/// Words that only these layers may contain.
const ONLY_IN: [(&str, &[&str]); 14] = [
    ("tokio", &["gateway"]),
    ("reqwest", &["gateway"]),
    ("genai", &["gateway"]),
    ("rmcp", &["gateway"]),
    ("agent_client_protocol", &["gateway"]),
    ("landlock", &["gateway"]),
    ("rusqlite", &["store", "knowledge"]),
    ("notify", &["workspace"]),
    ("git2", &["workspace"]),
    ("rquickjs", &["engine"]),
    ("swc_ts_fast_strip", &["engine"]),
    ("croner", &["heartbeat"]),
    ("nucleo_matcher", &["ui"]),
    // `app` assembles the window.
    ("egui", &["view", "ui", "app"]),
];

/// Words with which something is printed, and the only file that may contain them: all output must be safe for a
/// terminal.
const PRINTING: [&str; 7] = ["println!", "eprintln!", "print!(", "dbg!(", "io::stdout", "io::stderr", "ProgressBar"];
const PRINTER: &str = "src/cli/output.rs";

/// Words that handle the text of an event, the places where they may occur, and whether tests may contain them.
const KEPT_EVENTS: [(&str, &[&str], bool); 4] = [
    ("EventJson::kept(", &["crates/files/src/store/"], false),
    ("EventDraft::kept(", &["crates/files/src/store/", "crates/window/src/view/event_list.rs"], false),
    (".as_kept()", &["crates/files/src/store/", "crates/window/src/ui/panes/event_log/filter"], false),
    // Events that another version may have written.
    ("UnknownEvent::new(", &[], true),
];

/// The maximum number of lines per file.
const LINES_AT_MOST: usize = 800;

/// Libraries that comments may name although no code does: their packages have other names here, or are not used.
const OUTSIDE_NAMES: [&str; 2] = ["bevy_pancam", "yaml_serde"];

pub fn trials() -> Vec<Trial> {
    cases![
        floors_use_only_floors_below,
        every_package_and_every_floor_has_its_place,
        a_floor_does_without_what_it_is_to_do_without,
        no_files_of_a_folder_use_each_other_in_a_circle,
        the_library_says_how_its_floors_stand,
        outside_crates_have_one_home,
        one_file_prints,
        events_are_written_and_read_as_types,
        colours_are_made_in_the_theme,
        sizes_of_type_and_the_frame_of_dialogs_have_one_home,
        corners_and_widths_of_lines_stand_in_the_theme,
        what_menus_can_do_is_a_command_of_the_table,
        every_file_says_what_it_is_for_and_is_of_readable_length,
        the_comments_that_open_files_name_what_exists
    ]
}

struct Source {
    path: PathBuf,
    floor: String,
    text: String,
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every source file with its layer; `None` for the `lib.rs` of a package and for `main.rs`.
fn sources() -> Vec<Source> {
    let mut sources = Vec::new();
    for (package, _) in HOUSE {
        let top = root().join(package).join("src");
        let mut folders = vec![top.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|extension| extension == "rs") {
                    let inside = path.strip_prefix(&top).unwrap();
                    let floor = inside.components().next().unwrap().as_os_str().to_string_lossy();
                    let floor = floor.trim_end_matches(".rs").to_owned();
                    sources.push(Source { text: fs::read_to_string(&path).unwrap(), path, floor });
                }
            }
        }
    }
    assert!(sources.len() > 20, "the source was not found");
    sources
}

fn code_lines(source: &Source) -> impl Iterator<Item = (usize, &str)> {
    let lines = source.text.lines().enumerate();
    lines.map(|(number, line)| (number + 1, line)).filter(|(_, line)| !line.trim_start().starts_with("//"))
}

fn floors() -> Vec<&'static str> {
    HOUSE.iter().flat_map(|(_, floors)| floors.iter().copied()).collect()
}

fn rank(floor: &str) -> Option<usize> {
    floors().iter().position(|name| *name == floor)
}

/// The names that follow `crate::`, single or in a list.
fn named(line: &str) -> impl Iterator<Item = &str> {
    line.split("crate::").skip(1).flat_map(|rest| match rest.strip_prefix('{') {
        Some(list) => list.split(',').map(str::trim).collect(),
        None => vec![rest],
    })
}

fn word(text: &str) -> &str {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default()
}

fn floors_use_only_floors_below() {
    let mut wrong = Vec::new();
    for source in sources() {
        let Some(own) = rank(&source.floor) else { continue };
        for (number, line) in code_lines(&source) {
            for word in named(line).map(word).filter(|word| rank(word).is_some_and(|other| other > own)) {
                wrong.push(format!("{}:{number}: {} names {word}", source.path.display(), source.floor));
            }
        }
    }
    assert!(wrong.is_empty(), "a floor names a floor above it:\n{}", wrong.join("\n"));
}

fn every_package_and_every_floor_has_its_place() {
    for source in sources() {
        let is_known = rank(&source.floor).is_some() || ["lib", "main"].contains(&&*source.floor);
        assert!(is_known, "{}: the floor {} stands in no list", source.path.display(), source.floor);
    }
    for entry in fs::read_dir(root().join("crates")).unwrap() {
        let name = format!("crates/{}", entry.unwrap().file_name().to_string_lossy());
        assert!(HOUSE.iter().any(|(package, _)| *package == name), "{name} stands in no list");
    }
    let package_name = |package: &str| package.replace("crates/", "workshop-");
    for (index, (package, floors)) in HOUSE.iter().enumerate() {
        let manifest = fs::read_to_string(root().join(package).join("Cargo.toml")).unwrap();
        for (above, _) in HOUSE[index + 1..].iter().filter(|(above, _)| !above.is_empty()) {
            let line = format!("\n{} = ", package_name(above));
            assert!(!manifest.contains(&line), "{package} uses {above}, which stands above it");
        }
        for floor in *floors {
            let source = root().join(package).join("src").join(floor);
            assert!(source.is_dir(), "{package} has no floor {floor}");
        }
    }
}

fn a_floor_does_without_what_it_is_to_do_without() {
    for (floor, forbidden) in WITHOUT {
        for source in sources().iter().filter(|source| source.floor == floor) {
            for (number, line) in code_lines(source) {
                for word in named(line).map(word) {
                    assert!(!forbidden.contains(&word), "{}:{number} names {word}", source.path.display());
                }
            }
        }
    }
}

/// The name of a source file in a folder above it: its own, or that of the folder that contains it there. Tests and the
/// module file of a folder do not count.
fn name_in(folder: &Path, source: &Path) -> Option<String> {
    let inside = source.strip_prefix(folder).ok()?;
    let stem = source.file_stem()?.to_str()?;
    let is_test = inside.iter().any(|part| part == "tests") || stem.ends_with("tests");
    let name = inside.iter().next()?.to_str()?.trim_end_matches(".rs").to_owned();
    (!is_test && !["mod", "lib", "main"].contains(&&*name)).then_some(name)
}

/// The names of a folder that one of its source files uses, except for its own.
fn used_in(folder: &Path, source: &Source, names: &BTreeSet<String>) -> BTreeSet<String> {
    let depth = source.path.strip_prefix(folder).map_or(0, |inside| inside.iter().count());
    let up = "super::".repeat(depth);
    let place =
        folder.to_str().and_then(|folder| folder.split_once("/src/")).map(|(_, place)| place.replace('/', "::"));
    let down = place.map(|place| format!("crate::{place}::"));
    let code = source.text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let code: Vec<&str> = code.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    let code = code.join("\n");
    let mut used = BTreeSet::new();
    for way in [Some(up.as_str()), down.as_deref()].into_iter().flatten() {
        for (at, _) in code.match_indices(way) {
            let rest = &code[at + way.len()..];
            if code[..at].ends_with("super::") || rest.starts_with("super::") {
                continue;
            }
            let named = match rest.strip_prefix('{').and_then(|list| list.split('}').next()) {
                Some(list) => list.split(',').map(str::trim).collect(),
                None => vec![rest],
            };
            used.extend(named.into_iter().map(|name| word(name).to_owned()).filter(|name| names.contains(name)));
        }
    }
    used
}

/// Every group of names that depend on each other in a cycle.
fn circles(uses: &BTreeMap<String, BTreeSet<String>>) -> BTreeSet<BTreeSet<String>> {
    let reached = |from: &String| {
        let (mut reached, mut due) = (BTreeSet::new(), vec![from.clone()]);
        while let Some(name) = due.pop() {
            let next = uses.get(&name).into_iter().flatten();
            due.extend(next.filter(|next| reached.insert((*next).clone())).cloned());
        }
        reached
    };
    let all: BTreeMap<&String, BTreeSet<String>> = uses.keys().map(|name| (name, reached(name))).collect();
    let group = |name: &String| -> BTreeSet<String> {
        let others = all[name].iter().filter(|other| all.get(other).is_some_and(|back| back.contains(name)));
        others.cloned().chain([name.clone()]).collect()
    };
    uses.keys().map(group).filter(|group| group.len() > 1).collect()
}

fn no_files_of_a_folder_use_each_other_in_a_circle() {
    let sources = sources();
    let folders: BTreeSet<&Path> = sources.iter().filter_map(|source| source.path.parent()).collect();
    let mut wrong = Vec::new();
    for folder in folders {
        let own: Vec<(String, &Source)> =
            sources.iter().filter_map(|source| Some((name_in(folder, &source.path)?, source))).collect();
        let names: BTreeSet<String> = own.iter().map(|(name, _)| name.clone()).collect();
        let mut uses: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (name, source) in &own {
            let used = used_in(folder, source, &names).into_iter().filter(|other| other != name);
            uses.entry(name.clone()).or_default().extend(used);
        }
        let told = |circle| format!("{}: {}", folder.display(), Vec::from_iter(circle).join(", "));
        wrong.extend(circles(&uses).into_iter().map(told));
    }
    assert!(wrong.is_empty(), "these use each other:\n{}", wrong.join("\n"));
}

/// The table in the library's description lists every package with its layers, in order.
fn the_library_says_how_its_floors_stand() {
    let text = fs::read_to_string(root().join("src/lib.rs")).unwrap();
    let rows: Vec<Vec<&str>> = text
        .lines()
        .filter_map(|line| line.strip_prefix("//! | `"))
        .map(|row| row.split('`').filter(|part| !part.contains([' ', '|'])).collect())
        .collect();
    let house: Vec<Vec<&str>> = HOUSE
        .iter()
        .map(|(package, floors)| {
            let package = if package.is_empty() { "src" } else { *package };
            std::iter::once(package).chain(floors.iter().copied()).collect()
        })
        .collect();
    assert_eq!(rows, house);
}

fn outside_crates_have_one_home() {
    for source in sources() {
        for (number, line) in code_lines(&source) {
            for (word, homes) in ONLY_IN {
                let named = line.contains(&format!("{word}::")) || line.contains(&format!("use {word}"));
                assert!(
                    !named || homes.contains(&&*source.floor),
                    "{}:{number} names {word}, at home in {}",
                    source.path.display(),
                    homes.join(", ")
                );
            }
        }
    }
}

fn one_file_prints() {
    let is_test = |path: &Path| path.file_stem().is_some_and(|stem| stem.to_string_lossy().ends_with("tests"));
    for source in sources().iter().filter(|source| !source.path.ends_with(PRINTER) && !is_test(&source.path)) {
        for (number, line) in code_lines(source) {
            for word in PRINTING {
                assert!(
                    !line.contains(word),
                    "{}:{number} prints ({word}), which is {PRINTER}'s",
                    source.path.display()
                );
            }
        }
    }
}

/// Colours are defined by name in the theme alone; the looks of figures are data of the drawings.
fn colours_are_made_in_the_theme() {
    const MAKING: [&str; 6] = [
        "Color32::from_rgb(",
        "Color32::from_gray(",
        "Color32::from_black_",
        "Color32::from_white_",
        "from_hex(",
        " rgb(0x",
    ];
    const HOMES: [&str; 2] = ["src/view/theme.rs", "src/view/paint/appearance.rs"];
    for source in sources().iter().filter(|source| ["view", "ui"].contains(&&*source.floor)) {
        let is_test = source.path.iter().any(|part| part == "tests" || part.to_string_lossy().ends_with("tests.rs"));
        if is_test || HOMES.iter().any(|home| source.path.ends_with(home)) {
            continue;
        }
        let code = source.text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        for word in MAKING {
            assert!(!code.contains(word), "{} makes a colour of its own ({word})", source.path.display());
        }
    }
}

/// Text sizes are defined in the theme alone, and every dialog uses the shared frame.
fn sizes_of_type_and_the_frame_of_dialogs_have_one_home() {
    const DIALOG: &str = "src/ui/widgets/dialog.rs";
    let number = |rest: &str| rest.starts_with(|letter: char| letter.is_ascii_digit());
    for source in sources().iter().filter(|source| source.floor == "ui") {
        let code = source.text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        for word in [".size(", "FontId::proportional(", "FontId::monospace("] {
            let own = code.split(word).skip(1).any(number);
            assert!(!own, "{} has a size of type of its own ({word})", source.path.display());
        }
        let is_frame = source.path.ends_with(DIALOG);
        assert!(is_frame || !code.contains("Modal::new("), "{} frames a dialog itself", source.path.display());
    }
}

/// Corner radii and line widths are defined in the theme alone; icons scale with their size.
fn corners_and_widths_of_lines_stand_in_the_theme() {
    let number = |text: &str| text.trim_start().starts_with(|letter: char| letter.is_ascii_digit());
    // The second argument of a call.
    let second = |rest: &str| {
        let mut depth = 0;
        let comma = rest.find(|letter: char| {
            depth += i32::from(letter == '(') - i32::from(letter == ')');
            letter == ',' && depth == 0
        });
        comma.map_or_else(String::new, |comma| rest[comma + 1..].to_owned())
    };
    for source in sources().iter().filter(|source| source.floor == "ui" && !source.path.ends_with("icons.rs")) {
        let code = source.text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        for word in ["CornerRadius::same(", "Stroke::new(", ".corner_radius("] {
            let own = code.split(word).skip(1).any(number);
            assert!(!own, "{} has a corner or a width of its own ({word})", source.path.display());
        }
        for word in ["rect_filled(", "rect_stroke(", "painter.rect(", "painter().rect("] {
            let own = code.split(word).skip(1).any(|rest| number(&second(rest)));
            assert!(!own, "{} has a corner of its own ({word})", source.path.display());
        }
    }
}

/// Menus list commands of the command table. Other entries are lists of things, which come from data and not from the
/// source.
fn what_menus_can_do_is_a_command_of_the_table() {
    const ROWS: &str = "src/ui/widgets/menu.rs";
    const COMMANDS: &str = "src/ui/menus.rs";
    for source in sources().iter().filter(|source| source.floor == "ui") {
        let code = source.text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        if source.path.ends_with(ROWS) || source.path.ends_with(COMMANDS) {
            continue;
        }
        let own_row = ["menu::entry(", "menu::{choice, entry}"].into_iter().find(|word| code.contains(word));
        assert_eq!(own_row, None, "{} has an entry that is no command of the table", source.path.display());
        let named = ["menu::listed(ui, \"", "menu::choice(ui, false, \"", "menu::choice(ui, true, \""];
        let named = named.into_iter().find(|word| code.contains(word));
        assert_eq!(named, None, "{} names a thing of a list itself", source.path.display());
    }
}

/// The text of an event is derived from its type and parsed as one: only the log and whatever shows or searches its
/// text handle the text itself.
fn events_are_written_and_read_as_types() {
    let mut wrong = Vec::new();
    for source in sources().iter().filter(|source| source.floor != "log") {
        let is_test_file = source.path.file_stem().is_some_and(|stem| stem.to_string_lossy().ends_with("tests"));
        let path = source.path.strip_prefix(root()).unwrap().to_string_lossy().into_owned();
        let mut is_test = is_test_file || path.contains("/tests/");
        for (number, line) in code_lines(source) {
            is_test |= line.trim() == "#[cfg(test)]";
            for (word, homes, in_tests) in KEPT_EVENTS {
                let is_at_home = homes.iter().any(|home| path.starts_with(home)) || (in_tests && is_test);
                if line.contains(word) && !is_at_home {
                    wrong.push(format!("{path}:{number} names {word}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "an event is handled as text:\n{}", wrong.join("\n"));
}

fn every_file_says_what_it_is_for_and_is_of_readable_length() {
    for source in sources() {
        let opening: Vec<&str> = opening(&source).take_while(|line| !line.trim().is_empty()).collect();
        let is_sentence = opening.last().is_some_and(|line| line.ends_with(['.', ':']));
        assert!(is_sentence, "{} does not open with a sentence on what it is for", source.path.display());
        let lines = source.text.lines().count();
        assert!(lines <= LINES_AT_MOST, "{} has {lines} lines", source.path.display());
    }
}

/// The lines of the comment that opens a file.
fn opening(source: &Source) -> impl Iterator<Item = &str> {
    source.text.lines().map_while(|line| line.strip_prefix("//!"))
}

fn is_part(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_'
}

/// Renamed files, types and functions are easily missed in comments, where no compiler looks.
fn the_comments_that_open_files_name_what_exists() {
    let sources = sources();
    let mut known: BTreeSet<&str> = OUTSIDE_NAMES.into_iter().collect();
    for source in &sources {
        known.extend(source.path.file_stem().and_then(|stem| stem.to_str()));
        known.extend(code_lines(source).flat_map(|(_, line)| line.split(|letter: char| !is_part(letter))));
    }
    let mut wrong = Vec::new();
    for source in &sources {
        for name in opening(source).flat_map(|line| line.split('`').skip(1).step_by(2)) {
            if name.contains('_') && name.chars().all(is_part) && !known.contains(name) {
                wrong.push(format!("{} names `{name}`", source.path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "comments name what does not exist:\n{}", wrong.join("\n"));
}
