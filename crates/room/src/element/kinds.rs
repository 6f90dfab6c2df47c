//! The kinds of elements. A new built-in kind adds one line to [`KINDS`]; higher floors and other programs [`register`]
//! theirs before a room is opened.

use std::sync::{PoisonError, RwLock};

use thiserror::Error;

use super::act::Marker;
use super::kind::Kind;
use super::{inbox, messageboard, pinboard, rulebook, taskboard};

/// Every kind of the house.
pub static KINDS: &[&Kind] = &[&pinboard::KIND, &messageboard::KIND, &inbox::KIND, &rulebook::KIND, &taskboard::KIND];

/// Those that were registered while the program runs. A kind is code and no state of a room: what it decides follows
/// from the acts and entries alone, so that a run with it replays wherever it is registered.
static REGISTERED: RwLock<Vec<&'static Kind>> = RwLock::new(Vec::new());

/// Why a kind was not registered.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum KindRefusal {
    /// Another kind has the word.
    #[error("there is already a kind of element {0:?}")]
    Taken(&'static str),
    /// Another kind has the marker.
    #[error("there is already a marker [{0}: …]")]
    MarkerTaken(&'static str),
}

/// Adds a kind, for every room of this program. The same one again changes nothing.
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

/// Every kind there is: those of the house first.
pub fn kinds() -> Vec<&'static Kind> {
    let registered = REGISTERED.read().unwrap_or_else(PoisonError::into_inner);
    KINDS.iter().chain(registered.iter()).copied().collect()
}

/// The kind of this word.
pub fn kind(word: &str) -> Option<&'static Kind> {
    let of_house = KINDS.iter().copied().find(|kind| kind.word == word);
    let registered = || REGISTERED.read().unwrap_or_else(PoisonError::into_inner);
    of_house.or_else(|| registered().iter().copied().find(|kind| kind.word == word))
}

/// The marker of this word, in whatever case, the act that agents do by it, and the kind that it is done to.
pub fn marker(word: &str) -> Option<(&'static Kind, &'static str, Marker)> {
    let of = |kind: &'static Kind| {
        let mut markers = kind.markers();
        markers.find(|(_, marker)| marker.word.eq_ignore_ascii_case(word)).map(|(act, marker)| (kind, act, marker))
    };
    let registered = || REGISTERED.read().unwrap_or_else(PoisonError::into_inner);
    KINDS.iter().copied().find_map(of).or_else(|| registered().iter().copied().find_map(of))
}
