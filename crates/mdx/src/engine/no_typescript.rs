//! Stands in for the parser of TypeScript in a program that was built without it.

use super::links::FileLinks;
use super::program::{Program, StripError};

/// Says that code cannot run in this program.
pub(super) fn without_types(_code: &str) -> Result<Program, StripError> {
    let what = "this program was built without TypeScript, so code in documents and modules cannot run in it";
    Err(StripError { what: what.to_owned(), line: None, is_left_out: true })
}

/// Returns nothing, because no file can be parsed.
pub fn links_of(_code: &str) -> FileLinks {
    FileLinks::default()
}

#[cfg(test)]
mod tests {
    use crate::engine::{strip, unreadable};

    #[test]
    fn code_in_a_program_without_typescript_says_what_is_missing_and_what_to_do() {
        let error = strip("export const a = 1;", 100).unwrap_err();
        assert!(error.what.starts_with("this program was built without TypeScript"), "{error}");
        assert!(error.remedy().contains("`typescript`"), "{}", error.remedy());
        let failure = unreadable(&error, "agents/ada/agent.mdx", 4);
        assert!(failure.text.starts_with("this program was built without TypeScript"), "{}", failure.text);
        assert!(strip(&"a".repeat(101), 100).unwrap_err().what.contains("at most 100"), "that comes first");
    }
}
