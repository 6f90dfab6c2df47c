//! Checks that `docs/settings.md` matches the code: every section, and every key with its default and its
//! documentation. `WORKSHOP_WRITE_DOCS=1 cargo test --test it settings_reference` writes it.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use agent_workshop::app::headless;
use agent_workshop::workspace::SettingsSections;
use agent_workshop::workspace::trust::settings_keys::widens;
use libtest_mimic::Trial;
use serde_json::Value;

use crate::cases;

const HEAD: &str = "# Settings

Every section and key of `settings.yaml`, with its default. A scene can override any of them under `settings:`.
Changes apply while the room runs. An unknown key or invalid value is reported with its line; the last good value
stays in use, and a limit stays as strict as it could have been meant.

```yaml
gateway: { provider: openai, model: gpt-4o-mini }
budget: { cost_per_run_usd: 2 }
gate: { deny: ['secret/**'], file_delete: ask }
```

This page is generated from the code: `WORKSHOP_WRITE_DOCS=1 cargo test --test it settings_reference`.
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
    let generated = reference(&structs(&source_files()));
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

/// A struct of the source with its documentation and that of its fields.
struct Described {
    doc: String,
    fields: Vec<(String, String)>,
}

fn reference(structs: &[Described]) -> String {
    let app = headless();
    let mut page = HEAD.to_owned();
    for (section, defaults) in app.world().resource::<SettingsSections>().defaults() {
        let _ = write!(page, "\n## `{section}`\n");
        let Value::Object(defaults) = defaults else { panic!("{section} is not a mapping") };
        if defaults.is_empty() {
            let about = match section {
                "mcp_servers" => "[MCP servers](agents.md#mcp-servers)",
                _ => "[what it costs](trust.md#what-it-costs)",
            };
            let _ = writeln!(page, "\nAny name is allowed here; see {about}.");
            continue;
        }
        let described = structs
            .iter()
            .find(|one| defaults.keys().all(|key| one.fields.iter().any(|(field, _)| field == key)))
            .unwrap_or_else(|| panic!("no struct in the source has all keys of {section}: {:?}", defaults.keys()));
        let _ = write!(page, "\n{}\n\n| key | default | description |\n|---|---|---|\n", described.doc);
        for (key, default) in &defaults {
            let (_, doc) = described.fields.iter().find(|(field, _)| field == key).expect("the struct has all keys");
            assert!(!doc.is_empty(), "{section}.{key} has no description");
            let _ = writeln!(page, "| `{key}` | {} | {} |", format_default(default), doc.replace('|', "\\|"));
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

/// Finds all structs with documented fields, including those in the macro of the simulation's settings.
fn structs(files: &[PathBuf]) -> Vec<Described> {
    let mut found: Vec<Described> = Vec::new();
    for file in files {
        let text = fs::read_to_string(file).expect("the source can be read");
        let mut doc = Vec::new();
        for line in text.lines().map(str::trim) {
            let is_head = line.ends_with('{') && (line.starts_with("pub struct ") || line.contains(" in \""))
                || line.contains(" in \"") && line.contains("within");
            if let Some(words) = line.strip_prefix("///") {
                doc.push(words.trim().to_owned());
            } else if line.starts_with("#[") {
            } else if is_head {
                found.push(Described { doc: doc.join(" "), fields: Vec::new() });
                doc.clear();
            } else {
                let field = line.strip_prefix("pub ").unwrap_or(line).split_once(": ").map(|(name, _)| name);
                let is_name = |name: &str| {
                    !name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
                };
                if let (Some(name), Some(last)) = (field.filter(|name| is_name(name)), found.last_mut())
                    && !doc.is_empty()
                {
                    last.fields.push((name.to_owned(), doc.join(" ")));
                }
                doc.clear();
            }
        }
    }
    found
}
