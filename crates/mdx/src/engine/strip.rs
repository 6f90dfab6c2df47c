//! Removes the types from TypeScript.

use super::program::{Program, StripError};
use super::typescript;

/// Removes the types: the resulting JavaScript has the same lines, or a table of their original numbers.
pub fn strip(code: &str, bytes_at_most: usize) -> Result<Program, StripError> {
    if code.len() > bytes_at_most {
        let what = format!("the code is {} bytes long; at most {bytes_at_most} are allowed", code.len());
        return Err(StripError::new(what, None));
    }
    typescript::without_types(code)
}
