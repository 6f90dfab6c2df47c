//! Carries out an order that describes an edit: reads the file, edits its text and writes it, as one step. If someone
//! else changes the file meanwhile, the edit is applied to the new text.

use super::executor::{Executor, invalid_request};
use super::order::{FileAnswer, FileFailure, FileOrder};
use super::path::WorkspacePath;
use super::rights::Rights;
use super::text_edit::TextEdit;
use crate::base::hash::content_hash;

impl Executor {
    /// Edits a file. An edit that does not fit the text of the file changes nothing, and is not a failure of the file.
    pub(super) fn edit_with(
        &mut self,
        order: &FileOrder,
        what: u64,
        path: &WorkspacePath,
        edit: &TextEdit,
        rights: &Rights,
    ) -> Result<FileAnswer, FileFailure> {
        let mut unfit = None;
        let written = self.write_text(order, what, path, |files, now| {
            if now.is_none() && edit.needs_file() {
                let failure = files.missing(path.as_str(), rights);
                unfit = Some((failure.what.clone(), None));
                return Err(failure);
            }
            edit.apply(now).map_err(|why| {
                let why = format!("{path}: {why}");
                unfit = Some((why.clone(), now.map(|text| content_hash(text.as_bytes()))));
                invalid_request(why)
            })
        });
        match unfit {
            Some((why, seen)) => Ok(FileAnswer::NotEdited { why, seen }),
            None => written,
        }
    }
}

#[cfg(test)]
#[path = "edit_orders_tests.rs"]
mod tests;
