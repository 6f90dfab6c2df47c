//! Checks that `docs/settings.md` matches the code: every section, and every key with its default and its
//! documentation. `WORKSHOP_WRITE_DOCS=1 cargo test --test it settings_reference` writes it.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use agent_workshop::app::headless;
use agent_workshop::base::settings::joined;
use agent_workshop::workspace::SettingsSections;
use agent_workshop::workspace::trust::settings_keys::widens;
use libtest_mimic::Trial;
use serde_json::Value;

use crate::cases;

const HEAD: &str = "# Settings

Every section and key of `settings.yaml`, with its default. A scene can override any of them under `settings:`.
Changes apply while the room runs. An unknown key or invalid value is reported with its line; the last good value
stays in use, and a limit stays as strict as it could have been meant. Limits are called `max_…` and `min_…`, and a
number's unit ends its name where it is not obvious: `_secs`, `_units` (of the room), `_chars`, `_tokens`, `_mib`
(1,048,576 bytes), `_usd`. [Former names](#former-names) are still read.

```yaml
gateway: { provider: openai, model: gpt-4o-mini }
budget: { cost_per_run_usd: 2 }
gate: { deny: ['secret/**'], file_delete: ask }
```

This page is generated from the code: `WORKSHOP_WRITE_DOCS=1 cargo test --test it settings_reference`.
";

const FORMER_NAMES: &str = "
## Former names

Names that settings had in earlier versions. They are read for ever, and files that have them need no change; where both
names are set, the present one counts. The program replaces one only when you change that very setting in it.

| section | former name | name |
|---|---|---|
";

pub fn trials() -> Vec<Trial> {
    cases![the_settings_reference_matches_the_code, it_is_decided_of_every_setting_whether_it_widens]
}

fn it_is_decided_of_every_setting_whether_it_widens() {
    let (_, unknown) = widens("no section", "no key");
    let app = headless();
    for (section, keys) in app.world().resource::<SettingsSections>().defaults() {
        let keys = keys.as_object().map(|keys| keys.keys().cloned().collect::<Vec<_>>()).unwrap_or_default();
        // A section without fixed keys has any names.
        let keys = if keys.is_empty() { vec!["any name".to_owned()] } else { keys };
        for key in keys {
            assert_ne!(widens(section, &key).1, unknown, "{section}.{key} is missing in settings_keys.rs");
        }
    }
}

fn the_settings_reference_matches_the_code() {
    let generated = reference();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/settings.md");
    if std::env::var_os("WORKSHOP_WRITE_DOCS").is_some() {
        fs::write(&path, &generated).expect("the docs folder is writable");
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == generated,
        "docs/settings.md is outdated; run WORKSHOP_WRITE_DOCS=1 cargo test --test it settings_reference"
    );
}

fn reference() -> String {
    let app = headless();
    let sections = app.world().resource::<SettingsSections>().described();
    let mut page = HEAD.to_owned();
    for section in &sections {
        let _ = write!(page, "\n## `{}`\n", section.name);
        if section.keys.is_empty() {
            let about = match section.name {
                "mcp_servers" => "[MCP servers](agents.md#mcp-servers)",
                _ => "[what it costs](trust.md#what-it-costs)",
            };
            let _ = writeln!(page, "\nAny name is allowed here; see {about}.");
            continue;
        }
        let head = "| key | default | range | description |\n|---|---|---|---|";
        let _ = writeln!(page, "\n{}\n\n{head}", section.doc);
        for key in section.keys {
            let (default, doc) = (format_default(&section.defaults[key.name]), joined(key.doc));
            let range = key.range.map_or_else(String::new, |range| format!("{} to {}", range.min, range.max));
            let _ = writeln!(page, "| `{}` | {default} | {range} | {} |", key.name, doc.replace('|', "\\|"));
        }
    }
    page.push_str(FORMER_NAMES);
    for section in &sections {
        for (key, former) in section.keys.iter().flat_map(|key| key.former.iter().map(move |former| (key, former))) {
            let times = former.factor.map_or_else(String::new, |factor| format!(", the number times {factor}"));
            let _ = writeln!(page, "| `{}` | `{}` | `{}`{times} |", section.name, former.name, key.name);
        }
    }
    page
}

fn format_default(default: &Value) -> String {
    match default {
        Value::Null => "none".to_owned(),
        Value::String(text) => format!("`{text}`"),
        // An f32 is shown as 0.6 and not as 0.6000000238418579.
        Value::Number(number) if number.is_f64() => {
            let number = number.as_f64().expect("the number is an f64");
            let short = (number as f32).to_string();
            if short.parse::<f32>().is_ok_and(|same| f64::from(same) == number) { short } else { number.to_string() }
        }
        Value::Number(number) => number.to_string(),
        other => format!("`{other}`"),
    }
}

/// Returns the source files of all packages, in order.
pub fn source_files() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders = vec![root.join("src")];
    folders.extend(fs::read_dir(root.join("crates")).unwrap().map(|entry| entry.unwrap().path().join("src")));
    folders.sort();
    folders.iter().flat_map(|folder| sources(folder)).collect()
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<PathBuf> = fs::read_dir(folder)
        .expect("the source can be read")
        .map(|entry| entry.expect("the source can be read").path())
        .collect();
    entries.sort();
    let (folders, files): (Vec<_>, Vec<_>) = entries.into_iter().partition(|path| path.is_dir());
    files
        .into_iter()
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .chain(folders.iter().flat_map(|folder| sources(folder)))
        .collect()
}
