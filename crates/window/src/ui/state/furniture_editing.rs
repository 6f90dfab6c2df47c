//! The state of the window while the furniture is arranged.

use crate::view::model::{DecorView, RoomModel};

/// The room while its furniture is arranged: nobody in it is selected or carried.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Arranging {
    /// The piece that was chosen last, as it was then.
    pub chosen: Option<DecorView>,
}

impl Arranging {
    /// The chosen piece, if it is still there.
    pub fn chosen_in<'a>(&self, room: &'a RoomModel) -> Option<&'a DecorView> {
        let chosen = self.chosen.as_ref()?;
        room.decor.iter().find(|decor| *decor == chosen)
    }
}
