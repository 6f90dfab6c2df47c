//! Ends code reliably when it must stop.
//!
//! The engine checks between steps whether it must stop, and then throws an error that no `catch` of a script can
//! catch. Two cases in the engine need care: without free memory, the error thrown is an out-of-memory error, which
//! scripts may catch; and a promise under construction turns any thrown error into its rejection. To prevent a script
//! from continuing in these cases, its memory limit is raised, so that the error can be thrown, and its stack limit is
//! set to zero, so that no further function can start. Functions that have started end at their next step, from the
//! innermost to the outermost.

use std::cell::Cell;
use std::ptr::NonNull;
use std::rc::Rc;

use rquickjs::{Context, qjs};

/// The additional memory for throwing, beyond the script's limit.
const SPARE_BYTES: usize = 8 << 20;

/// The runtime of a context, once it exists.
#[derive(Clone, Default)]
pub(super) struct Halt(Rc<Cell<Option<NonNull<qjs::JSRuntime>>>>);

impl Halt {
    /// Sets the runtime, which owns the function that holds this, and so outlives it.
    pub(super) fn set(&self, context: &Context) {
        self.0.set(NonNull::new(context.get_runtime_ptr()));
    }

    /// Removes the stack and adds memory. Called by the engine, between two steps of a script, on its own thread.
    #[expect(unsafe_code, reason = "rquickjs cannot change limits while a context is entered; the engine can")]
    pub(super) fn apply(&self, memory_bytes: usize) {
        let Some(runtime) = self.0.get() else { return };
        // SAFETY: the pointer is that of the runtime whose interrupt handler calls this, so it is alive and on this
        // thread, and no Rust code holds a reference into it: both functions only store a number in it.
        unsafe {
            qjs::JS_SetMemoryLimit(runtime.as_ptr(), (memory_bytes + SPARE_BYTES) as _);
            qjs::JS_SetMaxStackSize(runtime.as_ptr(), 1);
        }
    }
}
