//! The places that sandboxed programs can neither see nor read: what begins with a dot in a person's home, except what
//! compilers and interpreters need, and files with keys within that. Every kind of sandbox uses this list.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Hidden entries of a home that compilers, interpreters and the like need. All other hidden entries are not visible.
const TOOLS_OF_HOME: [&str; 38] = [
    ".asdf",
    ".bun",
    ".cabal",
    ".cache",
    ".cargo",
    ".conda",
    ".deno",
    ".dotnet",
    ".elan",
    ".gem",
    ".ghcup",
    ".gitconfig",
    ".gitignore",
    ".gitignore_global",
    ".go",
    ".gradle",
    ".jenv",
    ".julia",
    ".juliaup",
    ".linuxbrew",
    ".local",
    ".m2",
    ".nix-profile",
    ".npm",
    ".nuget",
    ".nvm",
    ".opam",
    ".pixi",
    ".pnpm-store",
    ".pyenv",
    ".rbenv",
    ".rustup",
    ".sdkman",
    ".stack",
    ".tool-versions",
    ".virtualenvs",
    ".volta",
    ".yarn",
];
/// Files with keys in the entries that are visible.
const SECRETS_WITHIN: [&str; 14] = [
    ".cache/huggingface/token",
    ".cache/huggingface/stored_tokens",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".conda/token",
    ".gem/credentials",
    ".gradle/gradle.properties",
    ".local/share/keyrings",
    ".local/share/kwalletd",
    ".local/share/gnupg",
    ".local/share/containers/auth.json",
    ".m2/settings.xml",
    ".m2/settings-security.xml",
    ".nuget/NuGet/NuGet.Config",
];
/// A folder with harmless settings inside a folder that is not visible.
pub(super) const SETTINGS_SHOWN: &str = ".config/git";

/// Returns the paths in a home that programs cannot read. `programs` are the folders in which programs are found, which
/// stay visible.
pub(super) fn of_home(home: &Path, programs: &[PathBuf]) -> Vec<PathBuf> {
    if home.parent().is_none() {
        return Vec::new();
    }
    let is_needed = |name: &OsStr| {
        let holds_programs = |place: &PathBuf| {
            place
                .strip_prefix(home)
                .is_ok_and(|below| below.components().next().is_some_and(|first| first.as_os_str() == name))
        };
        TOOLS_OF_HOME.iter().any(|tool| name == *tool) || programs.iter().any(holds_programs)
    };
    let entries = std::fs::read_dir(home).into_iter().flatten().flatten().map(|entry| entry.file_name());
    let secret = entries.filter(|name| name.to_string_lossy().starts_with('.') && !is_needed(name));
    let mut paths: BTreeSet<PathBuf> = secret.map(|name| home.join(name)).collect();
    paths.extend(SECRETS_WITHIN.iter().map(|path| home.join(path)));
    let targets: Vec<PathBuf> = paths.iter().filter_map(|path| target_in_home(path, home)).collect();
    paths.extend(targets);
    paths.into_iter().collect()
}

/// Returns the target of a link if it is in the same home, such as in a folder of settings that a person keeps under
/// version control. A target that contains the home itself is left out.
fn target_in_home(path: &Path, home: &Path) -> Option<PathBuf> {
    if !path.symlink_metadata().is_ok_and(|found| found.is_symlink()) {
        return None;
    }
    let (target, home) = (path.canonicalize().ok()?, home.canonicalize().ok()?);
    (target.starts_with(&home) && target != home).then_some(target)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn only_hidden_files_that_tools_need_can_be_read_in_a_home() {
        let home = tempfile::tempdir().expect("a temporary folder can be made");
        let home = home.path().canonicalize().expect("it should exist");
        let at = |name: &str| home.join(name);
        for folder in [".ssh", ".config/git", ".cargo", ".own/bin", "Documents", "dotfiles/aws"] {
            std::fs::create_dir_all(at(folder)).expect("folders can be made");
        }
        for file in [".netrc", ".gitconfig", ".cargo/credentials.toml"] {
            std::fs::write(at(file), "secret").expect("files can be written");
        }
        std::os::unix::fs::symlink(at("dotfiles/aws"), at(".aws")).expect("links can be made");
        std::os::unix::fs::symlink(&home, at(".me")).expect("links can be made");
        let hidden = of_home(&home, &[at(".own/bin")]);
        for name in [".ssh", ".config", ".netrc", ".cargo/credentials.toml", ".aws", "dotfiles/aws"] {
            assert!(hidden.contains(&at(name)), "{name} in {hidden:?}");
        }
        for name in [".gitconfig", ".own", "Documents", ".cargo", "dotfiles", ""] {
            assert!(!hidden.contains(&at(name)), "{name} in {hidden:?}");
        }
        assert!(of_home(Path::new("/"), &[]).is_empty());
    }
}
