//! The pending orders. They are saved with the world, so that each is sent again after a restart until it is answered.

use std::collections::VecDeque;

use bevy::ecs::prelude::*;
use serde::{Deserialize, Serialize};

use super::order::FileOrder;
use crate::schedule::Section;

/// Pending orders, oldest first.
#[derive(Resource, Clone, Default, Debug)]
pub struct PendingFileOrders(pub(super) VecDeque<FileOrder>);

impl PendingFileOrders {
    /// Removes an order and returns it with its index.
    pub(in crate::workspace) fn remove(&mut self, key: &str) -> Option<(usize, FileOrder)> {
        let at = self.0.iter().position(|order| &*order.key == key)?;
        Some((at, self.0.remove(at)?))
    }

    /// Iterates over the orders, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = &FileOrder> {
        self.0.iter()
    }
}

#[derive(Serialize, Deserialize)]
pub(in crate::workspace) struct FilesSaved {
    #[serde(default)]
    under_way: VecDeque<FileOrder>,
}

impl Section for FilesSaved {
    const NAME: &'static str = "files";

    fn save(world: &mut World) -> Self {
        Self { under_way: world.resource::<PendingFileOrders>().0.clone() }
    }

    fn load(self, world: &mut World) {
        world.resource_mut::<PendingFileOrders>().0 = self.under_way;
    }
}
