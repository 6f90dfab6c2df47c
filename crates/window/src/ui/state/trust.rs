//! The page on which a person decides whether they trust a workspace, as far as it was read.

use std::path::PathBuf;
use std::sync::Arc;

use crate::desk::trust_page::TrustPage;

/// The state of the page.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct TrustView {
    /// The workspace, if it is another one than the open one.
    pub folder: Option<PathBuf>,
    /// The page; absent while it is read, and if it could not be.
    pub page: Option<Arc<TrustPage>>,
    /// Whether a decision is being saved.
    pub is_saving: bool,
    /// What became of the last decision, or why there is no page.
    pub note: Option<TrustNote>,
    /// A workspace that could not be opened because it is not trusted, for which the page is to be shown.
    pub refused: Option<PathBuf>,
}

/// A note above the page.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TrustNote {
    /// The sentences.
    pub text: String,
    /// Whether it reports a success.
    pub is_good: bool,
}
