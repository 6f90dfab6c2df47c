//! Counts in words, as the whole window shows them.

/// How many need the person who looks at the window: “1 needs you”, “3 need you”.
pub fn need_you(count: usize) -> String {
    if count == 1 { "1 needs you".to_owned() } else { format!("{count} need you") }
}
