//! Where agents can be: their width, the area of furniture and elements, paths around them, and the places for
//! standing, waiting, talking and resting.
//!
//! Pure: takes and returns positions, and knows neither agents nor the ECS. Units are those of the canvas, with y up;
//! the room is seen from below, so the front of a thing is its lower side.

pub mod footprint;
pub mod furniture;
pub mod obstacles;
pub mod route;
pub mod slot_claims;
pub mod slots;

pub use footprint::Footprint;
pub use furniture::{Seat, Use};
pub use obstacles::Obstacles;
pub use route::route;
pub use slot_claims::{Claims, Destination};

/// The width of a figure: the smallest distance between two agents.
pub const BODY_UNITS: f32 = 44.0;
/// The distance that routes and standing places keep from furniture and elements.
pub const CLEARANCE_UNITS: f32 = 14.0;
/// The smallest distance to furniture and elements for an agent that is pushed.
pub const TOUCH_UNITS: f32 = 8.0;
