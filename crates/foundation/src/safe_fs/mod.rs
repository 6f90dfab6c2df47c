//! Opens and replaces files safely: relative to an open folder handle and without following links, so that nothing
//! outside the folder is reached; with exclusive creation, and only replacing content that was checked, so that no
//! other program's data is lost. This program writes all of its files with this module.

mod atomic_replace;
#[cfg(unix)]
mod folder;
mod folder_by_path;
mod metadata;
mod own_files;

#[cfg(unix)]
pub use folder::Folder;
#[cfg(not(unix))]
pub use folder_by_path::Folder;
// Compiled everywhere, so that the implementation for other systems is tested on every system.
pub use atomic_replace::{
    Replacement, atomic_replace, atomic_replace_keeping, hash_of, is_incomplete_temporary, original_of_placing,
    placing_name, temporary_name, write_temporary,
};
pub use folder_by_path::Folder as FolderByPath;
pub use metadata::{EntryKind, EntryMetadata};
pub use own_files::{
    check_own, create_new, move_below, open_own, open_own_folder, open_regular, read_bytes, read_text, replace_bytes,
    replace_text, write_new,
};
