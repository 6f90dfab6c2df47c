//! Reads TypeScript with a parser, on a thread of its own.

mod exports;
mod types;

use std::thread;

use crate::engine::links::FileLinks;
use crate::engine::program::{Program, StripError};

/// The stack size of the parser's thread. The parser recurses once per bracket, and this suffices for the deepest code
/// of the maximum length; a page of the stack is only allocated when it is used.
const STACK_BYTES: usize = 1 << 30;

/// Removes the types from code.
pub(super) fn without_types(code: &str) -> Result<Program, StripError> {
    let code = code.to_owned();
    let running = on_thread(move || types::strip(&code))
        .map_err(|error| StripError::new(format!("no thread could be started to parse it: {error}"), None))?;
    running.join().unwrap_or_else(|_| Err(StripError::new("the TypeScript could not be parsed", None)))
}

/// Returns the imports of a file, and whether it has a default export, without running it; nothing if it cannot be parsed.
pub fn links_of(code: &str) -> FileLinks {
    let code = code.to_owned();
    let running = on_thread(move || exports::links(code));
    running.ok().and_then(|running| running.join().ok()).unwrap_or_default()
}

fn on_thread<T: Send + 'static>(parse: impl FnOnce() -> T + Send + 'static) -> std::io::Result<thread::JoinHandle<T>> {
    thread::Builder::new().name("typescript".to_owned()).stack_size(STACK_BYTES).spawn(parse)
}
