//! The parts of a path of the workspace, whose folders are separated by slashes.

/// Returns the file name: the last part of a path.
pub fn file_name(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

/// Returns the folder of a file; empty at the top of the workspace.
pub fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_its_folder_and_its_file_name() {
        for (path, folder, name) in [
            ("", "", ""),
            ("a.md", "", "a.md"),
            ("agents/a.md", "agents", "a.md"),
            ("agents/team/a.md", "agents/team", "a.md"),
            ("agents/", "agents", ""),
        ] {
            assert_eq!((folder_of(path), file_name(path)), (folder, name), "{path}");
        }
    }
}
