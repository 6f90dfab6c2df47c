//! Which addresses a person allowed a workspace to call: a small file in the config folder, never in the workspace.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::personal_files::{Turn, read_small};
use crate::base::Problem;
use crate::gateway::web::origin::Origin;
use crate::text::yaml;

/// The name of the file in the config folder.
const FILE: &str = "allowed-addresses.yaml";
/// The comment at the beginning of the file.
const HEAD: &str = "# Addresses that you allowed a workspace to ask, with your keys where they are encrypted.\n";

/// The allowed addresses by the path of the workspace.
type Allowed = BTreeMap<String, Vec<String>>;

/// Returns the addresses that are allowed for this workspace, and the problem if the file cannot be read.
pub(in crate::gateway) fn load(config_folder: &Path, workspace: &Path) -> (Vec<Origin>, Option<Problem>) {
    match read(&config_folder.join(FILE)) {
        Ok(allowed) => {
            let of_workspace = allowed.get(&name_of(workspace)).into_iter().flatten();
            (of_workspace.filter_map(|url| Origin::of(url)).collect(), None)
        }
        Err(problem) => (Vec::new(), Some(problem)),
    }
}

/// Allows a workspace to call an address. Returns the address and the path of the file.
pub fn allow(config_folder: Option<&Path>, workspace: &Path, url: &str) -> Result<(Origin, PathBuf), Problem> {
    let Some(origin) = Origin::of(url) else {
        let what = format!("{url:?} is not a server address");
        return Err(Problem::error("allow-address", what, "write it like https://models.example.com"));
    };
    let Some(file) = config_folder.map(|folder| folder.join(FILE)) else {
        let remedy = "set WORKSHOP_CONFIG_DIR to a folder that you own";
        return Err(Problem::error(FILE, "no folder for personal files was found on this computer", remedy));
    };
    let unkept = |error: &dyn std::fmt::Display| {
        let what = format!("cannot be written: {error}");
        Problem::error(file.display().to_string(), what, "check that the folder is writable")
    };
    let turn = Turn::take(&file).map_err(|error| unkept(&error))?;
    let mut allowed = read(&file)?;
    let of_workspace = allowed.entry(name_of(workspace)).or_default();
    if !of_workspace.iter().any(|known| Origin::of(known).as_ref() == Some(&origin)) {
        of_workspace.push(origin.to_string());
    }
    let text = serde_yaml::to_string(&allowed).map_err(|error| unkept(&error))?;
    turn.write(&format!("{HEAD}{text}")).map_err(|error| unkept(&error))?;
    Ok((origin, file))
}

fn read(file: &Path) -> Result<Allowed, Problem> {
    let Some(text) = read_small(file)? else { return Ok(Allowed::new()) };
    let parsed: Result<Option<Allowed>, _> = yaml::from_str(&text);
    parsed.map(Option::unwrap_or_default).map_err(|error| {
        let what = format!("is not a list of addresses by workspace: {error}");
        Problem::error(file.display().to_string(), what, "fix it, or delete it and allow the addresses again")
    })
}

/// Returns the canonical path of a workspace, independent of the current directory and of the spelling.
pub(in crate::gateway) fn name_of(workspace: &Path) -> String {
    std::fs::canonicalize(workspace).unwrap_or_else(|_| workspace.to_owned()).display().to_string()
}

/// Returns the path of the file, for checking whether a person has changed it.
pub(in crate::gateway) fn file(config_folder: &Path) -> PathBuf {
    config_folder.join(FILE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gateway::keys::Environment;
    use crate::gateway::providers::address::{Address, Permission};
    use crate::gateway::vendors::openai::OPENAI;

    #[test]
    fn an_address_is_allowed_for_one_workspace_only() {
        let config = tempfile::tempdir().expect("a temporary folder can be made");
        let (mine, other) = (config.path().join("mine"), config.path().join("other"));
        let environment =
            |workspace: &Path| Environment::new([], Some(config.path().to_owned())).in_workspace(workspace);
        let permission = |workspace: &Path, url: &str| {
            let environment = environment(workspace);
            Address::of(&OPENAI, Some(url), &environment).permission(&OPENAI, &environment)
        };
        let url = "https://router.example/v1";
        assert_eq!(permission(&mine, url), Permission::Refused);
        for _ in 0..2 {
            let (origin, _) = allow(Some(config.path()), &mine, url).expect("it can be kept");
            assert_eq!(origin.to_string(), "https://router.example");
        }
        allow(Some(config.path()), &mine, "http://10.0.0.7:8000/v1").expect("it can be kept");
        assert_eq!(permission(&mine, url), Permission::WithKey);
        assert_eq!(permission(&mine, "https://router.example:8443/v1"), Permission::Refused, "another port");
        assert_eq!(permission(&mine, "http://10.0.0.7:8000/v1"), Permission::WithoutKey, "never in the clear");
        assert_eq!(permission(&other, url), Permission::Refused);
        let text = std::fs::read_to_string(file(config.path())).expect("it should exist");
        assert_eq!(text.matches("router.example").count(), 1);
    }

    #[test]
    fn an_unreadable_file_allows_nothing_and_is_not_overwritten() {
        let config = tempfile::tempdir().expect("a temporary folder can be made");
        std::fs::write(file(config.path()), "[ broken").expect("it can be written");
        let (allowed, problem) = load(config.path(), Path::new("w"));
        assert!(allowed.is_empty() && problem.is_some());
        assert!(allow(Some(config.path()), Path::new("w"), "https://router.example").is_err());
        assert_eq!(std::fs::read_to_string(file(config.path())).expect("it should exist"), "[ broken");
    }
}
