//! A stream of lines that ends at a line that is too long, so that endless lines are never collected.

use std::io::{Error, ErrorKind, Result};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, ReadBuf};

/// A reader that fails at a line that is too long.
pub(in crate::gateway) struct LimitedLines<R> {
    inner: R,
    bytes_at_most: usize,
    in_line: usize,
    is_over: Arc<AtomicBool>,
}

impl<R> LimitedLines<R> {
    /// Creates a reader for lines of at most this many bytes; `is_over` is set if a line is longer.
    pub(in crate::gateway) fn new(inner: R, bytes_at_most: usize, is_over: Arc<AtomicBool>) -> Self {
        Self { inner, bytes_at_most, in_line: 0, is_over }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for LimitedLines<R> {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.inner).poll_read(context, buffer))?;
        let new = &buffer.filled()[before..];
        self.in_line = match new.iter().rposition(|byte| *byte == b'\n') {
            Some(last) => new.len() - last - 1,
            None => self.in_line + new.len(),
        };
        if self.in_line > self.bytes_at_most {
            self.is_over.store(true, Ordering::Relaxed);
            // A reader gets either an error or bytes, never both.
            buffer.set_filled(before);
            return Poll::Ready(Err(Error::new(ErrorKind::FileTooLarge, "a message is too long")));
        }
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt;

    use super::*;

    fn read(text: &[u8]) -> (Result<usize>, bool) {
        let is_over = Arc::new(AtomicBool::new(false));
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime can be made");
        let mut lines = LimitedLines::new(text, 100, is_over.clone());
        let read = runtime.block_on(async { lines.read_to_end(&mut Vec::new()).await });
        (read, is_over.load(Ordering::Relaxed))
    }

    #[test]
    fn many_lines_are_accepted_and_an_endless_one_is_not() {
        let many = "short\n".repeat(10_000);
        assert!(matches!(read(many.as_bytes()), (Ok(60_000), false)));
        let endless = "x".repeat(10_000);
        assert!(matches!(read(endless.as_bytes()), (Err(_), true)));
    }
}
