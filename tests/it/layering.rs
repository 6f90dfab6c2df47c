//! Rules of the source's structure that the compiler cannot check.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use libtest_mimic::Trial;

use crate::cases;

/// The packages and the layers in each, lowest first: a layer may use only layers before it. The table in `src/lib.rs`
/// must match this list.
const PACKAGES: [(&str, &[&str]); 9] = [
    ("crates/foundation", &["base", "text", "log", "safe_fs", "schedule"]),
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
const FORBIDDEN_LAYERS: [(&str, &[&str]); 1] =
    [("simulation", &["store", "knowledge", "memory", "mind", "gateway", "kernel"])];

/// Crates that only these layers may use.
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

/// Code that prints, and the only file that may contain it: all output must be safe for a terminal.
const PRINTING_CODE: [&str; 7] =
    ["println!", "eprintln!", "print!(", "dbg!(", "io::stdout", "io::stderr", "ProgressBar"];
const PRINTER: &str = "src/cli/output.rs";

/// Code that handles the text of an event, the paths where it may occur, and whether tests may contain it.
const RAW_EVENTS: [(&str, &[&str], bool); 4] = [
    ("EventJson::kept(", &["crates/files/src/store/"], false),
    ("EventDraft::kept(", &["crates/files/src/store/", "crates/window/src/view/event_list.rs"], false),
    (".as_kept()", &["crates/files/src/store/", "crates/window/src/ui/panes/event_log/filter"], false),
    // Events that another version may have written.
    ("UnknownEvent::new(", &[], true),
];

/// Code that calls the parser of YAML, which needs limits around it, and the only files that may contain it.
const YAML_PARSER_CALLS: [&str; 4] = ["serde_yaml::from_", "serde_yaml::Deserializer", "serde_yaml::{", "yaml_serde::"];
const YAML_READERS: [&str; 2] = ["crates/foundation/src/text/yaml.rs", "crates/foundation/src/text/yaml_value.rs"];

/// The maximum number of lines per file.
const MAX_LINES: usize = 800;

/// Libraries that comments may name although the code does not: they are not used, or have other names in the code.
const OUTSIDE_NAMES: [&str; 2] = ["bevy_pancam", "yaml_serde"];

pub fn trials() -> Vec<Trial> {
    cases![
        layers_use_only_layers_below,
        every_package_and_layer_is_listed,
        only_the_program_chooses_features,
        a_layer_does_not_use_its_forbidden_layers,
        files_of_a_folder_have_no_cyclic_dependencies,
        the_shell_of_the_window_names_no_pane,
        the_library_documentation_lists_the_layers,
        dependencies_are_used_only_in_their_layers,
        only_one_file_prints,
        events_are_handled_as_types,
        yaml_is_read_in_one_place,
        colours_are_defined_in_the_theme,
        text_sizes_and_the_dialog_frame_are_shared,
        corner_radii_and_line_widths_are_defined_in_the_theme,
        menu_entries_are_commands_of_the_table,
        every_file_opens_with_its_purpose_and_has_readable_length,
        file_headers_name_only_what_exists
    ]
}

struct Source {
    path: PathBuf,
    layer: String,
    text: String,
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Reads every source file with its layer; the layer of `lib.rs` and `main.rs` is their own name.
fn sources() -> Vec<Source> {
    let mut sources = Vec::new();
    for (package, _) in PACKAGES {
        let top = root().join(package).join("src");
        let mut folders = vec![top.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|extension| extension == "rs") {
                    let inside = path.strip_prefix(&top).unwrap();
                    let layer = inside.components().next().unwrap().as_os_str().to_string_lossy();
                    let layer = layer.trim_end_matches(".rs").to_owned();
                    sources.push(Source { text: fs::read_to_string(&path).unwrap(), path, layer });
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

fn layers() -> Vec<&'static str> {
    PACKAGES.iter().flat_map(|(_, layers)| layers.iter().copied()).collect()
}

fn rank(layer: &str) -> Option<usize> {
    layers().iter().position(|name| *name == layer)
}

/// Returns the paths that follow `crate::`, single or in a list.
fn crate_paths(line: &str) -> impl Iterator<Item = &str> {
    line.split("crate::").skip(1).flat_map(|rest| match rest.strip_prefix('{') {
        Some(list) => list.split(',').map(str::trim).collect(),
        None => vec![rest],
    })
}

fn word(text: &str) -> &str {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default()
}

fn layers_use_only_layers_below() {
    let mut wrong = Vec::new();
    for source in sources() {
        let Some(own) = rank(&source.layer) else { continue };
        for (number, line) in code_lines(&source) {
            for word in crate_paths(line).map(word).filter(|word| rank(word).is_some_and(|other| other > own)) {
                wrong.push(format!("{}:{number}: {} names {word}", source.path.display(), source.layer));
            }
        }
    }
    assert!(wrong.is_empty(), "a layer uses a layer above it:\n{}", wrong.join("\n"));
}

fn every_package_and_layer_is_listed() {
    for source in sources() {
        let is_known = rank(&source.layer).is_some() || ["lib", "main"].contains(&&*source.layer);
        assert!(is_known, "{}: the layer {} is not listed", source.path.display(), source.layer);
    }
    for entry in fs::read_dir(root().join("crates")).unwrap() {
        let name = format!("crates/{}", entry.unwrap().file_name().to_string_lossy());
        assert!(PACKAGES.iter().any(|(package, _)| *package == name), "{name} is not listed");
    }
    let package_name = |package: &str| package.replace("crates/", "workshop-");
    for (index, (package, layers)) in PACKAGES.iter().enumerate() {
        let manifest = fs::read_to_string(root().join(package).join("Cargo.toml")).unwrap();
        for (above, _) in PACKAGES[index + 1..].iter().filter(|(above, _)| !above.is_empty()) {
            let line = format!("\n{} = ", package_name(above));
            assert!(!manifest.contains(&line), "{package} uses {above}, which is above it");
        }
        for layer in *layers {
            let source = root().join(package).join("src").join(layer);
            assert!(source.is_dir(), "{package} has no layer {layer}");
        }
    }
}

/// Features of a package are on by default, so that its tests have them. A package that used it with them would bring them
/// into a program that is built without.
fn only_the_program_chooses_features() {
    let examples = fs::read_dir(root().join("examples")).unwrap().map(|entry| entry.unwrap().path());
    let folders = PACKAGES.iter().map(|(package, _)| root().join(package)).chain(examples);
    let manifests: Vec<String> =
        folders.filter_map(|folder| fs::read_to_string(folder.join("Cargo.toml")).ok()).collect();
    let name = |manifest: &str| {
        let line = manifest.lines().find(|line| line.starts_with("name = ")).expect("a package has a name");
        line.trim_start_matches("name = ").trim_matches('"').to_owned()
    };
    let with_features: Vec<String> =
        manifests.iter().filter(|manifest| manifest.contains("\ndefault = [")).map(|manifest| name(manifest)).collect();
    assert!(with_features.len() > 3, "the features were not found");
    for user in &manifests {
        for used in &with_features {
            let line = user.lines().find(|line| line.starts_with(&format!("{used} = ")));
            let is_chosen = line.is_none_or(|line| line.contains("default-features = false"));
            assert!(is_chosen, "{} uses {used} with its default features", name(user));
        }
    }
}

fn a_layer_does_not_use_its_forbidden_layers() {
    for (layer, forbidden) in FORBIDDEN_LAYERS {
        for source in sources().iter().filter(|source| source.layer == layer) {
            for (number, line) in code_lines(source) {
                for word in crate_paths(line).map(word) {
                    assert!(!forbidden.contains(&word), "{}:{number} names {word}", source.path.display());
                }
            }
        }
    }
}

/// Returns the name of the module directly in `folder` that contains the source file; `None` for tests and for the
/// module file of the folder itself.
fn name_in(folder: &Path, source: &Path) -> Option<String> {
    let inside = source.strip_prefix(folder).ok()?;
    let stem = source.file_stem()?.to_str()?;
    let is_test = inside.iter().any(|part| part == "tests") || stem.ends_with("tests");
    let name = inside.iter().next()?.to_str()?.trim_end_matches(".rs").to_owned();
    (!is_test && !["mod", "lib", "main"].contains(&&*name)).then_some(name)
}

/// Returns which of the modules `names` of a folder a source file uses.
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

/// Returns every group of names that depend on each other in a cycle.
fn cycles(uses: &BTreeMap<String, BTreeSet<String>>) -> BTreeSet<BTreeSet<String>> {
    let reached = |from: &String| {
        let (mut reached, mut pending) = (BTreeSet::new(), vec![from.clone()]);
        while let Some(name) = pending.pop() {
            let next = uses.get(&name).into_iter().flatten();
            pending.extend(next.filter(|next| reached.insert((*next).clone())).cloned());
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

fn files_of_a_folder_have_no_cyclic_dependencies() {
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
        let describe = |circle| format!("{}: {}", folder.display(), Vec::from_iter(circle).join(", "));
        wrong.extend(cycles(&uses).into_iter().map(describe));
    }
    assert!(wrong.is_empty(), "cyclic dependencies:\n{}", wrong.join("\n"));
}

/// The shell draws registered panes; only what it draws itself in front of them, or within them, has a name there.
fn the_shell_of_the_window_names_no_pane() {
    const SHELL: &str = "crates/window/src/ui/shell/";
    // The interface, the windows in front of panes, the comparison of two texts, and the rule when an approval is shown.
    const ALLOWED: [&str; 4] = ["pane", "overlays", "diff", "canvas::shows_preview"];
    let mut is_any_checked = false;
    for source in sources() {
        let path = source.path.strip_prefix(root()).unwrap().to_string_lossy().replace('\\', "/");
        let is_test = path.contains("tests");
        if !path.starts_with(SHELL) || is_test {
            continue;
        }
        for (number, line) in code_lines(&source) {
            for named in line.split("ui::panes::").skip(1) {
                is_any_checked = true;
                let is_allowed = |allowed: &&str| {
                    named == *allowed
                        || named.starts_with(&format!("{allowed}:"))
                        || named.starts_with(&format!("{allowed};"))
                };
                assert!(ALLOWED.iter().any(is_allowed), "{path}:{number} names {named}");
            }
        }
    }
    assert!(is_any_checked, "the shell was not found");
}

/// The table in the library's description lists every package with its layers, in order.
fn the_library_documentation_lists_the_layers() {
    let text = fs::read_to_string(root().join("src/lib.rs")).unwrap();
    let rows: Vec<Vec<&str>> = text
        .lines()
        .filter_map(|line| line.strip_prefix("//! | `"))
        .map(|row| row.split('`').filter(|part| !part.contains([' ', '|'])).collect())
        .collect();
    let packages: Vec<Vec<&str>> = PACKAGES
        .iter()
        .map(|(package, layers)| {
            let package = if package.is_empty() { "src" } else { *package };
            std::iter::once(package).chain(layers.iter().copied()).collect()
        })
        .collect();
    assert_eq!(rows, packages);
}

fn dependencies_are_used_only_in_their_layers() {
    for source in sources() {
        for (number, line) in code_lines(&source) {
            for (word, homes) in ONLY_IN {
                let named = line.contains(&format!("{word}::")) || line.contains(&format!("use {word}"));
                assert!(
                    !named || homes.contains(&&*source.layer),
                    "{}:{number} uses {word}, which is reserved for {}",
                    source.path.display(),
                    homes.join(", ")
                );
            }
        }
    }
}

fn only_one_file_prints() {
    let is_test = |path: &Path| path.file_stem().is_some_and(|stem| stem.to_string_lossy().ends_with("tests"));
    for source in sources().iter().filter(|source| !source.path.ends_with(PRINTER) && !is_test(&source.path)) {
        for (number, line) in code_lines(source) {
            for word in PRINTING_CODE {
                assert!(
                    !line.contains(word),
                    "{}:{number} prints ({word}), which only {PRINTER} may do",
                    source.path.display()
                );
            }
        }
    }
}

/// Colours are defined by name only in the theme; the appearances of figures are data of the drawings.
fn colours_are_defined_in_the_theme() {
    const CONSTRUCTORS: [&str; 6] = [
        "Color32::from_rgb(",
        "Color32::from_gray(",
        "Color32::from_black_",
        "Color32::from_white_",
        "from_hex(",
        " rgb(0x",
    ];
    const HOMES: [&str; 2] = ["src/view/theme.rs", "src/view/paint/appearance.rs"];
    for source in sources().iter().filter(|source| ["view", "ui"].contains(&&*source.layer)) {
        let is_test = source.path.iter().any(|part| part == "tests" || part.to_string_lossy().ends_with("tests.rs"));
        if is_test || HOMES.iter().any(|home| source.path.ends_with(home)) {
            continue;
        }
        let code = source.text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        for word in CONSTRUCTORS {
            assert!(!code.contains(word), "{} defines a colour ({word})", source.path.display());
        }
    }
}

/// Text sizes are defined only in the theme, and every dialog uses the shared frame.
fn text_sizes_and_the_dialog_frame_are_shared() {
    const DIALOG: &str = "src/ui/widgets/dialog.rs";
    let number = |rest: &str| rest.starts_with(|letter: char| letter.is_ascii_digit());
    for source in sources().iter().filter(|source| source.layer == "ui") {
        let code = source.text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        for word in [".size(", "FontId::proportional(", "FontId::monospace("] {
            let own = code.split(word).skip(1).any(number);
            assert!(!own, "{} defines a text size ({word})", source.path.display());
        }
        let is_frame = source.path.ends_with(DIALOG);
        assert!(
            is_frame || !code.contains("Modal::new("),
            "{} does not use the shared dialog frame",
            source.path.display()
        );
    }
}

/// Corner radii and line widths are defined only in the theme; icons scale with their size.
fn corner_radii_and_line_widths_are_defined_in_the_theme() {
    let number = |text: &str| text.trim_start().starts_with(|letter: char| letter.is_ascii_digit());
    // Returns the text from the second argument of a call on.
    let second = |rest: &str| {
        let mut depth = 0;
        let comma = rest.find(|letter: char| {
            depth += i32::from(letter == '(') - i32::from(letter == ')');
            letter == ',' && depth == 0
        });
        comma.map_or_else(String::new, |comma| rest[comma + 1..].to_owned())
    };
    for source in sources().iter().filter(|source| source.layer == "ui" && !source.path.ends_with("icons.rs")) {
        let code = source.text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        for word in ["CornerRadius::same(", "Stroke::new(", ".corner_radius("] {
            let own = code.split(word).skip(1).any(number);
            assert!(!own, "{} defines a corner radius or a line width ({word})", source.path.display());
        }
        for word in ["rect_filled(", "rect_stroke(", "painter.rect(", "painter().rect("] {
            let own = code.split(word).skip(1).any(|rest| number(&second(rest)));
            assert!(!own, "{} defines a corner radius ({word})", source.path.display());
        }
    }
}

/// Menus list commands of the command table, or items that come from data and not from the source.
fn menu_entries_are_commands_of_the_table() {
    const ROWS: &str = "src/ui/widgets/menu.rs";
    const COMMANDS: &str = "src/ui/menus.rs";
    for source in sources().iter().filter(|source| source.layer == "ui") {
        let code = source.text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        if source.path.ends_with(ROWS) || source.path.ends_with(COMMANDS) {
            continue;
        }
        let own_row = ["menu::entry(", "menu::{choice, entry}"].into_iter().find(|word| code.contains(word));
        assert_eq!(own_row, None, "{} has a menu entry that is not a command of the table", source.path.display());
        let named = ["menu::listed(ui, \"", "menu::choice(ui, false, \"", "menu::choice(ui, true, \""];
        let named = named.into_iter().find(|word| code.contains(word));
        assert_eq!(named, None, "{} has a hard-coded list item", source.path.display());
    }
}

/// The text of an event is written from and parsed into its type: only the log and code that shows or searches the text
/// handle it directly.
fn events_are_handled_as_types() {
    let mut wrong = Vec::new();
    for source in sources().iter().filter(|source| source.layer != "log") {
        let is_test_file = source.path.file_stem().is_some_and(|stem| stem.to_string_lossy().ends_with("tests"));
        let path = source.path.strip_prefix(root()).unwrap().to_string_lossy().into_owned();
        let mut is_test = is_test_file || path.contains("/tests/");
        for (number, line) in code_lines(source) {
            is_test |= line.trim() == "#[cfg(test)]";
            for (word, homes, in_tests) in RAW_EVENTS {
                let is_at_home = homes.iter().any(|home| path.starts_with(home)) || (in_tests && is_test);
                if line.contains(word) && !is_at_home {
                    wrong.push(format!("{path}:{number} names {word}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "an event is handled as text:\n{}", wrong.join("\n"));
}

fn yaml_is_read_in_one_place() {
    let mut wrong = Vec::new();
    for source in sources() {
        let path = source.path.strip_prefix(root()).unwrap().to_string_lossy().into_owned();
        let is_test_file = path.ends_with("tests.rs") || path.contains("/tests/");
        if is_test_file || YAML_READERS.contains(&&*path) {
            continue;
        }
        let first_test = source.text.find("#[cfg(test)]\nmod tests {").unwrap_or(source.text.len());
        let lines = source.text[..first_test].lines().count();
        for (number, line) in code_lines(&source).filter(|(number, _)| *number <= lines) {
            if YAML_PARSER_CALLS.iter().any(|call| line.contains(call)) {
                wrong.push(format!("{path}:{number}: {}", line.trim()));
            }
        }
    }
    assert!(wrong.is_empty(), "YAML is read without limits; use text::yaml:\n{}", wrong.join("\n"));
}

fn every_file_opens_with_its_purpose_and_has_readable_length() {
    for source in sources() {
        let header: Vec<&str> = header(&source).take_while(|line| !line.trim().is_empty()).collect();
        let is_sentence = header.last().is_some_and(|line| line.ends_with(['.', ':']));
        assert!(is_sentence, "{} does not open with a sentence about its purpose", source.path.display());
        let lines = source.text.lines().count();
        assert!(lines <= MAX_LINES, "{} has {lines} lines", source.path.display());
    }
}

/// Returns the lines of the comment that opens a file.
fn header(source: &Source) -> impl Iterator<Item = &str> {
    source.text.lines().map_while(|line| line.strip_prefix("//!"))
}

fn is_part(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_'
}

/// Renamed files, types and functions are easily missed in comments, which the compiler does not check.
fn file_headers_name_only_what_exists() {
    let sources = sources();
    let mut known: BTreeSet<&str> = OUTSIDE_NAMES.into_iter().collect();
    for source in &sources {
        known.extend(source.path.file_stem().and_then(|stem| stem.to_str()));
        known.extend(code_lines(source).flat_map(|(_, line)| line.split(|letter: char| !is_part(letter))));
    }
    let mut wrong = Vec::new();
    for source in &sources {
        for name in header(source).flat_map(|line| line.split('`').skip(1).step_by(2)) {
            if name.contains('_') && name.chars().all(is_part) && !known.contains(name) {
                wrong.push(format!("{} names `{name}`", source.path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "file headers name what does not exist:\n{}", wrong.join("\n"));
}
