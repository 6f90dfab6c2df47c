//! Where a pane stands before a person moves it, and when it is shown. Each pane says it for itself.

/// A part of the window.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DockArea {
    /// The upper half of the left column.
    LeftTop,
    /// The lower half of the left column.
    LeftBottom,
    /// The middle column.
    Middle,
    /// The middle column, below the others there.
    Below,
    /// The right column.
    Right,
}

impl DockArea {
    /// All areas.
    pub const ALL: [Self; 5] = [Self::LeftTop, Self::LeftBottom, Self::Middle, Self::Below, Self::Right];
}

/// Where a pane stands before a person moves it, and when it is shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct DockPlace {
    /// The area in which the pane always has its tab. `None` for panes that have tabs only while these are open, beside
    /// the pane that cannot be closed.
    pub area: Option<DockArea>,
    /// Whether the pane is closed until the person opens it.
    pub is_closed_at_first: bool,
    /// Whether the pane cannot be closed. Narrow windows show it first.
    pub is_permanent: bool,
    /// Whether windows that are not wide show the pane only while something is selected.
    pub follows_selection: bool,
}

impl DockPlace {
    /// A pane that has tabs only while these are open.
    pub const WHILE_OPEN: Self =
        Self { area: None, is_closed_at_first: false, is_permanent: false, follows_selection: false };

    /// A pane that always has its tab in this area.
    pub const fn always_in(area: DockArea) -> Self {
        Self { area: Some(area), ..Self::WHILE_OPEN }
    }
}

/// A pane that always has its tab, and its place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DockedPane {
    /// The name of the pane.
    pub id: &'static str,
    /// Its place.
    pub place: DockPlace,
}
