//! What a person allowed a workspace, in small files in their config folder and never in the workspace: addresses
//! ([`consent`]), and widenings and runs ([`trusted_workspaces`]), as an open room follows them (`followed_trust`). All
//! these files are read and written in one way (`personal_files`).

pub mod consent;
pub(super) mod followed_trust;
pub(super) mod personal_files;
pub mod trusted_workspaces;
