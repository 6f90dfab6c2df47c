//! What a program can read and write under Landlock. Landlock only has rules that allow: what is to be unreadable is left
//! out by allowing everything beside it. Computing the places is separate from applying them.

use std::collections::BTreeSet;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreatedAttr, RulesetError, RulesetStatus, Scope,
};

use super::program_access::{EntryKind, ProgramAccess, WorkspaceEntry};

/// The newest version of Landlock of which rights are handled, as far as the system supports them.
const NEWEST: ABI = ABI::V10;
/// The devices that a program can use. All others, such as disks, can neither be read nor written.
const DEVICES: [&str; 7] =
    ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/ptmx"];
/// The folder with pseudo-terminals.
const TERMINALS: &str = "/dev/pts";
/// The folder of devices.
const DEVICE_FOLDER: &str = "/dev";
/// The folder of memory that processes share by name.
const SHARED_MEMORY: &str = "/dev/shm";

/// The folders and files that determine the access of one program.
pub(super) struct ProgramPlaces<'a> {
    /// The canonical path of the workspace.
    pub(in crate::gateway) workspace: &'a Path,
    /// The entries of the workspace, with their access.
    pub(in crate::gateway) entries: &'a [WorkspaceEntry],
    /// Folders and files outside of it that the program can read and write.
    pub(in crate::gateway) own: &'a [PathBuf],
    /// Folders and files that it cannot read.
    pub(in crate::gateway) hidden: &'a [PathBuf],
    /// Folders and files that it can read although they are in hidden ones.
    pub(in crate::gateway) shown: &'a [PathBuf],
    /// Whether it can use the network.
    pub(in crate::gateway) network: bool,
}

/// The rights to a place: to everything below a folder, or to a file.
type Grant = (PathBuf, BitFlags<AccessFs>);

/// Returns the rights to change everything except to create devices.
fn all_rights() -> BitFlags<AccessFs> {
    AccessFs::from_all(NEWEST) & !(AccessFs::MakeChar | AccessFs::MakeBlock)
}

impl ProgramPlaces<'_> {
    /// Returns every right that the program gets.
    fn grants(&self) -> Vec<Grant> {
        let (all, read) = (all_rights(), AccessFs::from_read(NEWEST));
        let of_file = AccessFs::from_file(NEWEST);
        let device = of_file & !BitFlags::from(AccessFs::Execute);
        let writable = self.writable().into_iter().chain([PathBuf::from("/proc/self")]);
        let writable = writable.map(|path| if path.is_file() { (path, of_file) } else { (path, all) });
        let devices = DEVICES.map(|path| (PathBuf::from(path), device)).into_iter();
        let terminals = (PathBuf::from(TERMINALS), device | AccessFs::ReadDir);
        // The names in these folders can be listed; Landlock extends this right to folders in them, whose files stay
        // unreadable.
        let listed = [self.workspace.to_owned(), DEVICE_FOLDER.into()].map(|path| (path, AccessFs::ReadDir.into()));
        let readable = self.readable().into_iter().map(|path| (path, read));
        readable.chain(listed).chain(devices).chain([terminals]).chain(writable).collect()
    }

    /// Returns the folders and files that the program can write. Rights to a folder extend to everything in it, so the
    /// workspace itself is not among them.
    pub(in crate::gateway) fn writable(&self) -> Vec<PathBuf> {
        let is_writable =
            |entry: &&WorkspaceEntry| entry.access == ProgramAccess::Write && !matches!(entry.kind, EntryKind::Link(_));
        let entries = self.entries.iter().filter(is_writable).map(|entry| self.workspace.join(&entry.name));
        entries.chain(self.own.iter().cloned()).chain([SHARED_MEMORY.into()]).collect()
    }

    /// Returns the places that together contain everything that the program can read.
    fn readable(&self) -> Vec<PathBuf> {
        let closed = self.entries.iter().filter(|entry| entry.access == ProgramAccess::Hidden);
        let closed = closed.map(|entry| self.workspace.join(&entry.name));
        let mut hidden: BTreeSet<PathBuf> = self.hidden.iter().cloned().chain(closed).collect();
        let real: Vec<PathBuf> = hidden
            .iter()
            .filter_map(|path| path.parent()?.canonicalize().ok()?.join(path.file_name()?).into())
            .collect();
        hidden.extend(real);
        hidden.insert(DEVICE_FOLDER.into());
        let mut places = Vec::new();
        add_all_except(Path::new("/"), &hidden, &mut places);
        // The workspace may be in a hidden folder, such as the worktree of an agent.
        if hidden.iter().any(|path| self.workspace.starts_with(path)) {
            add_all_except(self.workspace, &hidden, &mut places);
        }
        places.extend(self.shown.iter().cloned());
        places
    }
}

/// Adds the places that contain everything in `root` except the hidden paths. Links are left out: what they lead to is
/// readable by its own path or not at all.
fn add_all_except(root: &Path, hidden: &BTreeSet<PathBuf>, places: &mut Vec<PathBuf>) {
    // All paths below a path directly follow it in the set.
    if !hidden.range(root.to_owned()..).next().is_some_and(|path| path.starts_with(root)) {
        places.push(root.to_owned());
        return;
    }
    for entry in std::fs::read_dir(root).into_iter().flatten().flatten() {
        let path = entry.path();
        if !hidden.contains(&path) && entry.file_type().is_ok_and(|kind| !kind.is_symlink()) {
            add_all_except(&path, hidden, places);
        }
    }
}

/// Restricts this thread, and every process that it starts, to these places.
pub(super) fn restrict(places: &ProgramPlaces<'_>) -> io::Result<()> {
    let grants = places.grants();
    let restricted = || -> Result<RulesetStatus, RulesetError> {
        let all = AccessFs::from_all(NEWEST);
        let mut ruleset = Ruleset::default().set_compatibility(CompatLevel::BestEffort).handle_access(all)?;
        ruleset = ruleset.scope(Scope::from_all(NEWEST))?;
        if !places.network {
            ruleset = ruleset.handle_access(AccessNet::from_all(NEWEST))?;
        }
        let mut ruleset = ruleset.create()?;
        for (place, access) in grants {
            // A place that does not exist, or that this user cannot open, grants nothing.
            if let Ok(place) = PathFd::new(place) {
                ruleset = ruleset.add_rule(PathBeneath::new(place, access))?;
            }
        }
        Ok(ruleset.restrict_self()?.ruleset)
    };
    match restricted() {
        Ok(RulesetStatus::FullyEnforced | RulesetStatus::PartiallyEnforced) => Ok(()),
        Ok(RulesetStatus::NotEnforced) => Err(ErrorKind::Unsupported.into()),
        Err(error) => Err(io::Error::other(error)),
    }
}

/// Whether Landlock can be used on this system.
pub(super) fn is_supported() -> bool {
    let created = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(ABI::V1))
        .and_then(Ruleset::create);
    created.is_ok()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::program_access::entries;
    use super::*;

    fn folder(files: &[&str]) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let root = folder.path().canonicalize().expect("it should exist");
        for file in files {
            let file = root.join(file);
            fs::create_dir_all(file.parent().expect("it has one")).expect("folders can be made");
            fs::write(file, "").expect("files can be written");
        }
        (folder, root)
    }

    /// Whether a path is in one of these places.
    fn is_in(path: &Path, places: &[PathBuf]) -> bool {
        places.iter().any(|place| path.starts_with(place))
    }

    #[test]
    fn everything_except_hidden_paths_is_readable() {
        let (_folder, root) = folder(&["a/one", "a/.key/two", "a/b/three", "a/b.c", "a/b-", "d/four", ".key"]);
        fs::create_dir(root.join("a/bc")).expect("folders can be made");
        let hidden = ["a/.key", "a/b", ".key", "nowhere/at/all"].map(|path| root.join(path));
        let mut places = Vec::new();
        add_all_except(&root, &hidden.iter().cloned().collect(), &mut places);
        for path in ["a/one", "a/b.c", "a/b-", "a/bc", "d/four"] {
            assert!(is_in(&root.join(path), &places), "{path} in {places:?}");
        }
        for path in ["a/.key/two", "a/b/three", ".key", "new", "a/new"] {
            assert!(!is_in(&root.join(path), &places), "{path} in {places:?}");
        }
    }

    #[test]
    fn a_worktree_in_a_hidden_folder_is_readable_and_keys_in_it_are_not() {
        let (_folder, root) =
            folder(&[".workshop/worktrees/ada/src/a.rs", ".workshop/worktrees/ada/.env", ".env", "b.rs"]);
        let workspace = root.join(".workshop/worktrees/ada");
        let entries = entries(&workspace).expect("it can be listed");
        let hidden = [root.join(".workshop"), root.join(".env")];
        let places = ProgramPlaces {
            workspace: &workspace,
            entries: &entries,
            own: &[],
            hidden: &hidden,
            shown: &[],
            network: false,
        };
        let readable = places.readable();
        for (path, is_readable) in [
            (".workshop/worktrees/ada/src/a.rs", true),
            ("b.rs", true),
            (".workshop/worktrees/ada/.env", false),
            (".workshop/workshop.db", false),
            (".env", false),
        ] {
            assert_eq!(is_in(&root.join(path), &readable), is_readable, "{path} in {readable:?}");
        }
        assert!(!is_in(Path::new("/dev/sda"), &readable), "{readable:?}");
    }

    #[test]
    fn no_place_may_hold_new_devices() {
        let (_folder, root) = folder(&["artifacts/a"]);
        let entries = entries(&root).expect("it can be listed");
        let own = [root.join("own")];
        let places =
            ProgramPlaces { workspace: &root, entries: &entries, own: &own, hidden: &[], shown: &[], network: true };
        let grants = places.grants();
        assert!(
            grants.iter().any(|(place, access)| *place == root.join("artifacts") && access.contains(AccessFs::MakeReg))
        );
        assert!(grants.iter().all(|(_, access)| !access.intersects(AccessFs::MakeChar | AccessFs::MakeBlock)));
        let of_devices = grants.iter().filter(|(place, _)| place.starts_with(DEVICE_FOLDER));
        let mut written = of_devices.filter(|(_, access)| access.contains(AccessFs::WriteFile)).map(|(place, _)| place);
        let allowed = |place: &PathBuf| DEVICES.iter().any(|device| place == Path::new(device));
        assert!(written.all(|place| allowed(place) || place.ends_with("pts") || place.ends_with("shm")));
    }
}
