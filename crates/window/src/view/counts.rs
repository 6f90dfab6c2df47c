//! Counts in words, as shown throughout the window.

/// The number of agents that do something: “3 active”.
pub fn active(count: usize) -> String {
    format!("{count} active")
}

/// The number of agents that need the person: “1 needs you”, “3 need you”.
pub fn need_you(count: usize) -> String {
    if count == 1 { "1 needs you".to_owned() } else { format!("{count} need you") }
}
