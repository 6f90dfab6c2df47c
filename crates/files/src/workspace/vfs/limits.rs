//! How much a workspace may contain, and how long an answer may be.

use super::super::layout::MAX_SCENE_BYTES;
use super::super::settings::SettingsSection;
use super::path::{FileKind, WorkspacePath};

/// The maximum size in bytes of the record of a conversation with a model, whatever the limit for other files.
const MAX_SESSION_BYTES: u64 = 16 * BYTES_PER_MIB;
/// The bytes in a MiB.
const BYTES_PER_MIB: u64 = 1024 * 1024;

settings! {
    /// Limits of files.
    pub struct FileLimits {
        /// The maximum size of a file in MiB; scenes may be larger.
        pub max_file_mib: f64 = 1.0, in 0.0..=1_000_000_000.0, once "file_kib_at_most" * 0.0009765625;
        /// The maximum number of files, not counting sessions.
        pub max_files: usize = 20_000, in 0.0..=1_000_000_000_000.0, once "count_at_most";
        /// The maximum total size of files in MiB, not counting sessions.
        pub max_total_mib: u64 = 1024, in 0.0..=1_000_000_000_000.0, once "total_mib_at_most";
        /// The number of session files that are kept. The oldest of finished work are removed first, those of
        /// unfinished work never.
        pub max_sessions: usize = 2_000, in 0.0..=1_000_000_000_000.0, once "sessions_at_most";
        /// The number of versions that are kept of each file.
        pub max_versions: u64 = 100, in 0.0..=1_000_000_000_000.0, once "versions_kept";
        /// Saves of a file by the room within this many seconds share one version, unless someone else changes it in
        /// between; 0: every save is a version.
        pub save_version_secs: u64 = 30, in 0.0..=604_800.0;
        /// The maximum number of files in a listing; an error lists at most a tenth of that.
        pub max_listed_files: usize = 200, in 0.0..=1_000_000.0, once "listed_at_most";
        /// The maximum number of lines in a search result.
        pub max_matches: usize = 100, in 0.0..=1_000_000.0, once "matches_at_most";
        /// The maximum number of characters of a line in a search result.
        pub max_line_chars: usize = 200, in 0.0..=1_000_000_000.0, once "line_chars_at_most";
        /// The maximum total size of cached texts in memory, in MiB.
        pub max_memory_mib: u64 = 64, in 0.0..=1_000_000_000_000.0, once "memory_mib_at_most";
    }
}

impl SettingsSection for FileLimits {
    const NAME: &'static str = "files";
}

impl FileLimits {
    /// Returns the maximum size in bytes of this file, for reading and writing.
    pub(super) fn bytes_at_most(&self, path: &WorkspacePath) -> u64 {
        // A negative number or one that is too large is clamped to the nearest possible size.
        let most = (self.max_file_mib * BYTES_PER_MIB as f64) as u64;
        match path.kind() {
            FileKind::Scene => most.max(MAX_SCENE_BYTES as u64),
            FileKind::Session => most.max(MAX_SESSION_BYTES),
            _ => most,
        }
    }

    /// Whether a text of `bytes` bytes may replace one of `old` bytes (`None`: a new file), given the present number of
    /// files and their total size. The error is the reason why not.
    pub(super) fn allow(
        &self,
        path: &WorkspacePath,
        bytes: u64,
        old: Option<u64>,
        count: usize,
        total: u64,
    ) -> Result<(), String> {
        let most = self.bytes_at_most(path);
        if bytes > most {
            return Err(format!(
                "'{path}' would be {} KiB, but the limit is {} KiB; split it, or raise files.max_file_mib in \
                    settings.yaml.",
                bytes.div_ceil(1024),
                most / 1024
            ));
        }
        if old.is_none() && count >= self.max_files {
            return Err(format!(
                "the workspace already has {} files; delete some or raise files.max_files in settings.yaml.",
                thousands(count)
            ));
        }
        let after = total.saturating_sub(old.unwrap_or(0)).saturating_add(bytes);
        if after > self.max_total_mib.saturating_mul(BYTES_PER_MIB) && bytes > old.unwrap_or(0) {
            return Err(format!(
                "the workspace already has {} MiB; delete some files or raise files.max_total_mib in \
                    settings.yaml.",
                total / (1024 * 1024)
            ));
        }
        Ok(())
    }
}

fn thousands(count: usize) -> String {
    if count < 1000 { count.to_string() } else { format!("{},{:03}", count / 1000, count % 1000) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_limit_is_reported_with_a_remedy() {
        let limits = FileLimits { max_file_mib: 1.0 / 1024.0, max_total_mib: 1, ..FileLimits::default() };
        let path = WorkspacePath::new("artifacts/a.md").expect("it is a path");
        let allow = |bytes, old, count, total| limits.allow(&path, bytes, old, count, total);
        assert_eq!(allow(1024, None, 19_999, 0), Ok(()));
        assert!(allow(1025, None, 0, 0).expect_err("it is too large").contains("files.max_file_mib"));
        let full = allow(1, None, 20_000, 0).expect_err("there are too many");
        let words = "the workspace already has 20,000 files; delete some or raise files.max_files in settings.yaml.";
        assert_eq!(full, words);
        assert_eq!(allow(1, Some(1), 20_000, 0), Ok(()), "a file that is there may change");
        assert!(allow(1024, None, 0, 1 << 20).expect_err("it is full").contains("files.max_total_mib"));
        assert_eq!(allow(10, Some(20), 0, 2 << 20), Ok(()), "what makes it smaller is allowed");
        let scene = WorkspacePath::new("scenes/s.yaml").expect("it is a path");
        assert_eq!(limits.allow(&scene, 1 << 20, Some(1 << 20), 0, 1 << 20), Ok(()));
    }
}
