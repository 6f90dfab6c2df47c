//! The kinds of elements. A new built-in kind adds one line to [`KINDS`]; higher layers and other programs [`register`]
//! theirs before a room is opened.

use std::sync::{PoisonError, RwLock};

use thiserror::Error;

use super::act::Marker;
use super::kind::Kind;
use super::{inbox, messageboard, pinboard, rulebook, taskboard};

/// All built-in kinds.
pub static KINDS: &[&Kind] = &[&pinboard::KIND, &messageboard::KIND, &inbox::KIND, &rulebook::KIND, &taskboard::KIND];

/// Kinds registered at run time. A kind is code and not state of a room: its decisions depend only on acts and entries,
/// so a run with it can be replayed wherever it is registered.
static REGISTERED: RwLock<Vec<&'static Kind>> = RwLock::new(Vec::new());

/// Why a kind was not registered.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum KindRefusal {
    /// Another kind has the same word.
    #[error("there is already a kind of element {0:?}")]
    Taken(&'static str),
    /// Another kind has the same marker.
    #[error("there is already a marker [{0}: …]")]
    MarkerTaken(&'static str),
}

/// Registers a kind for every room of this program. Registering the same kind again has no effect.
pub fn register(kind: &'static Kind) -> Result<(), KindRefusal> {
    let mut registered = REGISTERED.write().unwrap_or_else(PoisonError::into_inner);
    let known = || KINDS.iter().chain(registered.iter()).copied();
    if known().any(|other| std::ptr::eq(other, kind)) {
        return Ok(());
    }
    if known().any(|other| other.word == kind.word) {
        return Err(KindRefusal::Taken(kind.word));
    }
    let has = |word: &str| known().flat_map(Kind::markers).any(|(_, marker)| marker.word == word);
    if let Some((_, marker)) = kind.markers().find(|(_, marker)| has(marker.word)) {
        return Err(KindRefusal::MarkerTaken(marker.word));
    }
    registered.push(kind);
    Ok(())
}

/// All kinds, built-in ones first.
pub fn kinds() -> Vec<&'static Kind> {
    let registered = REGISTERED.read().unwrap_or_else(PoisonError::into_inner);
    KINDS.iter().chain(registered.iter()).copied().collect()
}

/// The kind with this word.
pub fn kind(word: &str) -> Option<&'static Kind> {
    let of_house = KINDS.iter().copied().find(|kind| kind.word == word);
    let registered = || REGISTERED.read().unwrap_or_else(PoisonError::into_inner);
    of_house.or_else(|| registered().iter().copied().find(|kind| kind.word == word))
}

/// The kind, act and marker for a marker's word, ignoring case.
pub fn marker(word: &str) -> Option<(&'static Kind, &'static str, Marker)> {
    let of = |kind: &'static Kind| {
        let mut markers = kind.markers();
        markers.find(|(_, marker)| marker.word.eq_ignore_ascii_case(word)).map(|(act, marker)| (kind, act, marker))
    };
    let registered = || REGISTERED.read().unwrap_or_else(PoisonError::into_inner);
    KINDS.iter().copied().find_map(of).or_else(|| registered().iter().copied().find_map(of))
}
