//! The arguments with which bubblewrap starts a program. They define which parts of this computer, the person's home
//! and the workspace the program can see, and which it can write. Pure, except for checking whether paths exist.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use super::hidden_paths::SETTINGS_SHOWN;
use super::program_access::{EntryKind, ProgramAccess, WorkspaceEntry};

/// Folders that contain the sockets of other programs: desktop sessions, containers, databases, key agents.
const SOCKET_FOLDERS: [&str; 6] = ["/run", "/var/run", "/var/lib/lxd", "/var/lib/incus", "/var/snap/lxd", "/mnt/wslg"];
/// Entries of those folders that programs need to run at all, on systems that have them.
const NEEDED_OF_RUN: [&str; 3] = ["/run/current-system", "/run/opengl-driver", "/run/wrappers"];
/// The configuration of name servers, which may be a link into one of those folders.
const NAME_SERVERS: &str = "/etc/resolv.conf";

/// The options with which a program is started.
pub(super) struct Sandbox<'a> {
    /// The path of bubblewrap.
    pub(in crate::gateway) program: &'a Path,
    /// The canonical path of the workspace.
    pub(in crate::gateway) workspace: &'a Path,
    /// The entries of the workspace, with their access.
    pub(in crate::gateway) entries: &'a [WorkspaceEntry],
    /// The folder that replaces the workspace's own folder, so that the program can create new entries in it.
    pub(super) stage: Option<&'a Path>,
    /// A worktree in which the program works, although it is in a folder that programs cannot see.
    pub(in crate::gateway::programs) worktree: Option<&'a Path>,
    /// Folders and files with read and write access.
    pub(in crate::gateway) own: &'a [PathBuf],
    /// Files and folders that the program cannot see.
    pub(in crate::gateway) hidden: &'a [PathBuf],
    /// The empty file that hides files. It is only readable in the sandbox, so that a program cannot change anything of
    /// this computer by it.
    pub(in crate::gateway) empty: &'a Path,
    /// The person's home.
    pub(in crate::gateway) home: Option<&'a Path>,
    /// Whether the program can use the network.
    pub(in crate::gateway) network: bool,
    /// The size limit of each temporary file system in bytes.
    pub(super) temporary_bytes: Option<u64>,
}

/// A list of arguments that is being built.
#[derive(Default)]
struct Words(Vec<OsString>);

impl Words {
    fn add(&mut self, words: &[&dyn AsRef<OsStr>]) {
        self.0.extend(words.iter().map(|word| word.as_ref().to_owned()));
    }

    /// Hides a path by an empty folder or file.
    fn hide(&mut self, path: &Path, empty: &Path) {
        match path.symlink_metadata() {
            Ok(found) if found.is_dir() => self.add(&[&"--tmpfs", &path]),
            Ok(found) if found.is_file() => self.add(&[&"--ro-bind", &empty, &path]),
            // A link is not hidden itself; its target is, if it is among the hidden files.
            _ => {}
        }
    }

    fn temporary(&mut self, path: &dyn AsRef<OsStr>, bytes: Option<u64>) {
        if let Some(bytes) = bytes {
            self.add(&[&"--size", &bytes.to_string()]);
        }
        self.add(&[&"--tmpfs", path]);
    }
}

impl Sandbox<'_> {
    /// Returns the arguments before the program's own command line.
    pub(in crate::gateway) fn arguments(&self) -> Vec<OsString> {
        let mut words = Words(vec![self.program.into()]);
        words.add(&[&"--ro-bind", &"/", &"/", &"--dev", &"/dev", &"--proc", &"/proc"]);
        words.temporary(&"/tmp", self.temporary_bytes);
        words.temporary(&"/dev/shm", self.temporary_bytes);
        self.hide_sockets(&mut words);
        let (within, beside): (Vec<PathBuf>, Vec<PathBuf>) =
            self.hidden.iter().cloned().partition(|path| path.starts_with(self.workspace));
        beside.iter().for_each(|path| words.hide(path, self.empty));
        if let Some(settings) = self.home.map(|home| home.join(SETTINGS_SHOWN)).filter(|path| path.is_dir()) {
            words.add(&[&"--ro-bind", &settings, &settings]);
        }
        for own in self.own {
            words.add(&[&"--bind-try", own, own]);
        }
        self.mount_workspace(&mut words);
        within.iter().for_each(|path| words.hide(path, self.empty));
        // Otherwise, root could undo the mounts.
        words.add(&[&"--cap-drop", &"ALL", &"--unshare-all", &"--die-with-parent", &"--new-session"]);
        if self.network {
            words.add(&[&"--share-net"]);
        }
        words.add(&[&"--setenv", &"TMPDIR", &"/tmp", &"--"]);
        words.0
    }

    /// Hides the sockets of other programs on this computer.
    fn hide_sockets(&self, words: &mut Words) {
        let is_folder = |path: &Path| path.symlink_metadata().is_ok_and(|found| found.is_dir());
        for folder in SOCKET_FOLDERS.map(Path::new).into_iter().filter(|path| is_folder(path)) {
            words.add(&[&"--tmpfs", &folder]);
        }
        for needed in NEEDED_OF_RUN.map(Path::new).into_iter().filter(|path| path.exists()) {
            words.add(&[&"--ro-bind", &needed, &needed]);
        }
        let servers = self.network.then(|| Path::new(NAME_SERVERS).canonicalize().ok()).flatten();
        if let Some(servers) = servers.filter(|file| SOCKET_FOLDERS.iter().any(|folder| file.starts_with(folder))) {
            words.add(&[&"--ro-bind", &servers, &servers]);
        }
    }

    fn mount_workspace(&self, words: &mut Words) {
        match self.stage {
            Some(stage) => words.add(&[&"--bind", &stage, &self.workspace]),
            None => words.add(&[&"--ro-bind", &self.workspace, &self.workspace]),
        }
        // Entries that were deleted meanwhile are left out: if they are created again, they are checked as new ones.
        for entry in self.entries {
            let path = self.workspace.join(&entry.name);
            match (&entry.kind, entry.access) {
                (EntryKind::Link(target), ProgramAccess::Read | ProgramAccess::Write) if self.stage.is_some() => {
                    words.add(&[&"--symlink", target, &path])
                }
                (EntryKind::Link(_), _) => {}
                (EntryKind::Folder, ProgramAccess::Hidden) => words.add(&[&"--tmpfs", &path]),
                (EntryKind::File, ProgramAccess::Hidden) => words.add(&[&"--ro-bind", &self.empty, &path]),
                (_, ProgramAccess::Read) if self.stage.is_none() => {}
                (_, ProgramAccess::Read) => words.add(&[&"--ro-bind-try", &path, &path]),
                (_, ProgramAccess::Write) => words.add(&[&"--bind-try", &path, &path]),
            }
        }
        if let Some(worktree) = self.worktree {
            words.add(&[&"--bind", &worktree, &worktree]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(name: &str, kind: EntryKind, access: ProgramAccess) -> WorkspaceEntry {
        WorkspaceEntry { name: name.into(), kind, access }
    }

    fn words(stage: Option<&Path>, network: bool, home: &Path) -> String {
        let entries = [
            entry(".env", EntryKind::File, ProgramAccess::Hidden),
            entry(".workshop", EntryKind::Folder, ProgramAccess::Hidden),
            entry("artifacts", EntryKind::Folder, ProgramAccess::Write),
            entry("link", EntryKind::Link("artifacts".into()), ProgramAccess::Write),
            entry("storage", EntryKind::Folder, ProgramAccess::Read),
        ];
        let hidden = [".ssh", ".netrc", ".config", "missing"].map(|name| home.join(name));
        let sandbox = Sandbox {
            program: Path::new("/bwrap"),
            workspace: Path::new("/w"),
            entries: &entries,
            stage,
            worktree: None,
            own: &[],
            hidden: &hidden,
            empty: Path::new("/empty"),
            home: Some(home),
            network,
            temporary_bytes: Some(1_024),
        };
        let words: Vec<String> =
            sandbox.arguments().into_iter().map(|word| word.to_string_lossy().into_owned()).collect();
        words.join(" ")
    }

    #[test]
    fn a_program_writes_unprotected_entries_and_creates_new_ones_separately() {
        let home = tempfile::tempdir().expect("a temporary folder can be made");
        let staged = words(Some(Path::new("/w/.workshop/programs/1-0")), false, home.path());
        for part in [
            "/bwrap --ro-bind / /",
            "--size 1024 --tmpfs /tmp",
            "--bind /w/.workshop/programs/1-0 /w --ro-bind /empty /w/.env --tmpfs /w/.workshop",
            "--bind-try /w/artifacts /w/artifacts",
            "--symlink artifacts /w/link",
            "--ro-bind-try /w/storage /w/storage",
            "--cap-drop ALL --unshare-all",
        ] {
            assert!(staged.contains(part), "{part} in {staged}");
        }
        assert!(!staged.contains("--share-net"));
        let fixed = words(None, true, home.path());
        assert!(fixed.contains("--ro-bind /w /w --ro-bind /empty /w/.env") && !fixed.contains("--symlink"), "{fixed}");
        assert!(fixed.contains("--bind-try /w/artifacts /w/artifacts") && !fixed.contains("/w/storage"), "{fixed}");
        assert!(fixed.contains("--share-net"), "{fixed}");
    }

    #[test]
    fn hidden_paths_are_covered_by_empty_ones_and_never_by_a_device() {
        let home = tempfile::tempdir().expect("a temporary folder can be made");
        let at = |name: &str| home.path().join(name);
        for folder in [".ssh", ".config/git"] {
            std::fs::create_dir_all(at(folder)).expect("folders can be made");
        }
        std::fs::write(at(".netrc"), "secret").expect("files can be written");
        let words = words(None, false, home.path());
        assert!(words.contains(&format!("--tmpfs {}", at(".ssh").display())), "{words}");
        assert!(words.contains(&format!("--ro-bind /empty {}", at(".netrc").display())), "{words}");
        assert!(words.contains(&format!("--ro-bind {0} {0}", at(".config/git").display())), "{words}");
        assert!(!words.contains("/dev/null") && !words.contains("missing"), "{words}");
    }
}
