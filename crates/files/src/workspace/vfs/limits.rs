//! How much a workspace may contain, and how long an answer may be.

use bevy::ecs::resource::Resource;
use serde::{Deserialize, Serialize};

use super::super::layout::MAX_SCENE_BYTES;
use super::super::settings::SettingsSection;
use super::path::{FileKind, WorkspacePath};

/// The maximum size in bytes of the record of a conversation with a model, whatever the limit for other files.
const MAX_SESSION_BYTES: u64 = 16 * 1024 * 1024;

/// Limits of files.
#[derive(Resource, Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct FileLimits {
    /// The maximum size of a file in KiB; scenes may be larger.
    pub file_kib_at_most: u64,
    /// The maximum number of files, not counting sessions.
    pub count_at_most: usize,
    /// The maximum total size of files in MiB, not counting sessions.
    pub total_mib_at_most: u64,
    /// The number of session files that are kept. The oldest of finished work are removed first, those of unfinished
    /// work never.
    pub sessions_at_most: usize,
    /// The number of versions that are kept of each file.
    pub versions_kept: u64,
    /// Saves of a file by the room within this many seconds share one version, unless someone else changes it in
    /// between; 0: every save is a version.
    pub save_version_secs: u64,
    /// The maximum number of files in a listing; an error lists at most a tenth of that.
    pub listed_at_most: usize,
    /// The maximum number of lines in a search result.
    pub matches_at_most: usize,
    /// The maximum number of characters of a line in a search result.
    pub line_chars_at_most: usize,
    /// The maximum total size of cached texts in memory, in MiB.
    pub memory_mib_at_most: u64,
}

impl Default for FileLimits {
    fn default() -> Self {
        Self {
            file_kib_at_most: 1024,
            count_at_most: 20_000,
            total_mib_at_most: 1024,
            sessions_at_most: 2_000,
            versions_kept: 100,
            save_version_secs: 30,
            listed_at_most: 200,
            matches_at_most: 100,
            line_chars_at_most: 200,
            memory_mib_at_most: 64,
        }
    }
}

impl SettingsSection for FileLimits {
    const NAME: &'static str = "files";
}

impl FileLimits {
    /// Returns the maximum size in bytes of this file, for reading and writing.
    pub(super) fn bytes_at_most(&self, path: &WorkspacePath) -> u64 {
        let most = self.file_kib_at_most.saturating_mul(1024);
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
                "'{path}' would be {} KiB, but the limit is {}; split it, or raise files.file_kib_at_most in \
                    settings.yaml.",
                bytes.div_ceil(1024),
                most / 1024
            ));
        }
        if old.is_none() && count >= self.count_at_most {
            return Err(format!(
                "the workspace already has {} files; delete some or raise files.count_at_most in settings.yaml.",
                thousands(count)
            ));
        }
        let after = total.saturating_sub(old.unwrap_or(0)).saturating_add(bytes);
        if after > self.total_mib_at_most.saturating_mul(1024 * 1024) && bytes > old.unwrap_or(0) {
            return Err(format!(
                "the workspace already has {} MiB; delete some files or raise files.total_mib_at_most in \
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
        let limits = FileLimits { file_kib_at_most: 1, total_mib_at_most: 1, ..FileLimits::default() };
        let path = WorkspacePath::new("artifacts/a.md").expect("it is a path");
        let allow = |bytes, old, count, total| limits.allow(&path, bytes, old, count, total);
        assert_eq!(allow(1024, None, 19_999, 0), Ok(()));
        assert!(allow(1025, None, 0, 0).expect_err("it is too large").contains("files.file_kib_at_most"));
        let full = allow(1, None, 20_000, 0).expect_err("there are too many");
        let words =
            "the workspace already has 20,000 files; delete some or raise files.count_at_most in settings.yaml.";
        assert_eq!(full, words);
        assert_eq!(allow(1, Some(1), 20_000, 0), Ok(()), "a file that is there may change");
        assert!(allow(1024, None, 0, 1 << 20).expect_err("it is full").contains("files.total_mib_at_most"));
        assert_eq!(allow(10, Some(20), 0, 2 << 20), Ok(()), "what makes it smaller is allowed");
        let scene = WorkspacePath::new("scenes/s.yaml").expect("it is a path");
        assert_eq!(limits.allow(&scene, 1 << 20, Some(1 << 20), 0, 1 << 20), Ok(()));
    }
}
