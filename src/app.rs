//! Assembles the floors.
