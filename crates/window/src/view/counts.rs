//! Counts in words, as the whole window shows them.

/// How many do something: “3 active”.
pub fn active(count: usize) -> String {
    format!("{count} active")
}

/// How many need the person who looks at the window: “1 needs you”, “3 need you”.
pub fn need_you(count: usize) -> String {
    if count == 1 { "1 needs you".to_owned() } else { format!("{count} need you") }
}
