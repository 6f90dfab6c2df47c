//! The namespaces in which a program runs under Landlock, where the system permits them. Landlock cannot prevent a program
//! from changing rights, times and attributes of files, or from sending datagrams: here, everything that it may not
//! write is mounted read-only, and there is no network device.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use caps::{CapSet, Capability};
use nix::errno::Errno;
use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};
use rustix::process::{getgid, getuid};

/// Stands for a missing argument of `mount`.
const NONE: Option<&str> = None;
/// The folder with the system's view of processes, in which only Landlock decides about writing.
const PROCESSES: &str = "/proc";

/// Moves this process, which must have a single thread, into namespaces of its own in which only these paths can be
/// written. Landlock prevents programs from undoing that.
pub(in crate::gateway) fn enter(writable: &[PathBuf], has_network: bool) -> io::Result<()> {
    let here = std::env::current_dir()?;
    let (user, group) = (getuid().as_raw(), getgid().as_raw());
    let is_privileged = caps::has_cap(None, CapSet::Effective, Capability::CAP_SYS_ADMIN).is_ok_and(|has| has);
    let mut flags = CloneFlags::CLONE_NEWNS | CloneFlags::CLONE_NEWIPC;
    flags.set(CloneFlags::CLONE_NEWNET, !has_network);
    flags.set(CloneFlags::CLONE_NEWUSER, !is_privileged);
    unshare(flags)?;
    if !is_privileged {
        fs::write("/proc/self/setgroups", "deny")?;
        fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
        fs::write("/proc/self/gid_map", format!("{group} {group} 1"))?;
    }
    mount(NONE, "/", NONE, MsFlags::MS_PRIVATE | MsFlags::MS_REC, NONE)?;
    let writable: Vec<PathBuf> = writable.iter().filter_map(|path| path.canonicalize().ok()).collect();
    for path in &writable {
        mount(Some(path), path, NONE, MsFlags::MS_BIND | MsFlags::MS_REC, NONE)?;
    }
    for point in mount_points(&fs::read("/proc/self/mountinfo")?) {
        if !point.path.starts_with(PROCESSES) && !writable.iter().any(|path| point.path.starts_with(path)) {
            make_read_only(&point)?;
        }
    }
    // Otherwise, relative paths would lead to what is mounted below.
    std::env::set_current_dir(here)
}

fn make_read_only(point: &MountPoint) -> io::Result<()> {
    let flags = point.flags | MsFlags::MS_BIND | MsFlags::MS_REMOUNT | MsFlags::MS_RDONLY;
    match mount(NONE, &point.path, NONE, flags, NONE) {
        // Something else is mounted over it, or nobody but its owner can reach it: then the program cannot, either.
        Ok(()) | Err(Errno::EACCES | Errno::ENOENT | Errno::EINVAL) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Something that is mounted.
#[derive(Clone, PartialEq, Eq, Debug)]
struct MountPoint {
    path: PathBuf,
    /// The options that must be kept.
    flags: MsFlags,
}

/// Reads the list of what is mounted.
fn mount_points(mounts: &[u8]) -> Vec<MountPoint> {
    let parsed = |line: &[u8]| {
        let mut fields = line.split(|byte| *byte == b' ');
        let path = PathBuf::from(unescaped(fields.nth(4)?));
        let mut flags = MsFlags::empty();
        for option in fields.next()?.split(|byte| *byte == b',') {
            flags |= match option {
                b"nosuid" => MsFlags::MS_NOSUID,
                b"nodev" => MsFlags::MS_NODEV,
                b"noexec" => MsFlags::MS_NOEXEC,
                _ => MsFlags::empty(),
            };
        }
        Some(MountPoint { path, flags })
    };
    mounts.split(|byte| *byte == b'\n').filter_map(parsed).collect()
}

/// Replaces escapes of three octal digits.
fn unescaped(field: &[u8]) -> OsString {
    let mut bytes = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((first, more)) = rest.split_first() {
        let digits = more.get(..3).filter(|_| *first == b'\\').and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &more[3..];
            }
            None => {
                bytes.push(*first);
                rest = more;
            }
        }
    }
    OsString::from_vec(bytes)
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStrExt;

    use super::*;

    #[test]
    fn mount_points_are_read_with_their_options() {
        let mounts = b"22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n\
            30 22 0:5 / /mnt/my\\040disk rw,nosuid,nodev,noexec,relatime - tmpfs tmpfs rw\nodd\n";
        let hardened = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
        assert_eq!(
            mount_points(mounts),
            [
                MountPoint { path: "/".into(), flags: MsFlags::empty() },
                MountPoint { path: "/mnt/my disk".into(), flags: hardened },
            ]
        );
        assert_eq!(unescaped(b"a\\134b\\").as_bytes(), b"a\\b\\");
    }
}
