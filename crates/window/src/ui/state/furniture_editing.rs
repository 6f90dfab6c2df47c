//! The state of the window while furniture is being arranged.

use crate::view::model::{DecorView, RoomModel};

/// The state while furniture is being arranged: agents and elements cannot be selected or moved then.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct FurnitureEditing {
    /// The selected piece of furniture, as it was when it was selected.
    pub chosen: Option<DecorView>,
}

impl FurnitureEditing {
    /// Returns the selected piece if it is unchanged.
    pub fn chosen_in<'a>(&self, room: &'a RoomModel) -> Option<&'a DecorView> {
        let chosen = self.chosen.as_ref()?;
        room.decor.iter().find(|decor| *decor == chosen)
    }
}
