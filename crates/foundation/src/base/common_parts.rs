//! The common beginning and end of two lists or texts. For the bytes of texts, a part may end inside a character; the
//! beginning and the end may overlap.

/// Returns how many items two lists begin with in common.
pub fn common_prefix<T: PartialEq>(a: &[T], b: &[T]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

/// Returns how many items two lists end with in common.
pub fn common_suffix<T: PartialEq>(a: &[T], b: &[T]) -> usize {
    a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_common_beginning_and_end_are_counted() {
        for (one, other, begin, end) in [
            ("", "", 0, 0),
            ("", "abc", 0, 0),
            ("abc", "abc", 3, 3),
            ("abc", "abxc", 2, 1),
            ("abc", "xyz", 0, 0),
            ("aa", "aaa", 2, 2),
        ] {
            let (left, right) = (one.as_bytes(), other.as_bytes());
            assert_eq!((common_prefix(left, right), common_suffix(left, right)), (begin, end), "{one} {other}");
            assert_eq!((common_prefix(right, left), common_suffix(right, left)), (begin, end), "{other} {one}");
        }
    }
}
