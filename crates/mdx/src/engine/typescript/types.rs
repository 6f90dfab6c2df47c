//! Removes the types from TypeScript: the resulting JavaScript has the same lines, or a table of their original
//! numbers.

use std::sync::{Arc, Mutex};

use swc_common::errors::{DiagnosticBuilder, Emitter, HANDLER, Handler, Level};
use swc_common::sync::Lrc;
use swc_common::{GLOBALS, Globals, SourceMap};
use swc_ts_fast_strip::{Mode, Options, TransformOutput, operate};

use crate::engine::program::{Program, StripError};

/// Types, interfaces and casts are blanked, so that every line keeps its number; if that is not enough (enums, properties
/// in constructors), the code is generated again and its source lines are recorded.
pub(super) fn strip(code: &str) -> Result<Program, StripError> {
    match operate_on(code, Mode::StripOnly) {
        Ok(output) => Ok(Program { code: output.code, lines: None }),
        Err(Refused { is_syntax: true, error }) => Err(error),
        Err(_) => {
            let output = operate_on(code, Mode::Transform).map_err(|refused| refused.error)?;
            let lines = output.map.as_deref().and_then(|map| written_lines(map, output.code.lines().count()));
            Ok(Program { code: output.code, lines })
        }
    }
}

struct Refused {
    is_syntax: bool,
    error: StripError,
}

fn operate_on(code: &str, mode: Mode) -> Result<TransformOutput, Refused> {
    let map: Lrc<SourceMap> = Lrc::default();
    let found = Arc::new(Mutex::new(None));
    let emitter = FirstError { map: map.clone(), found: found.clone() };
    let handler = Handler::with_emitter(true, false, Box::new(emitter));
    let source_map = matches!(mode, Mode::Transform);
    let options = Options { module: Some(true), mode, source_map, ..options() };
    let result =
        GLOBALS.set(&Globals::new(), || HANDLER.set(&handler, || operate(&map, &handler, code.to_owned(), options)));
    result.map_err(|error| {
        let is_syntax = matches!(error.code, swc_ts_fast_strip::ErrorCode::InvalidSyntax);
        let found = found.lock().ok().and_then(|mut found| found.take());
        Refused { is_syntax, error: found.unwrap_or_else(|| StripError::new(error.message, None)) }
    })
}

fn options() -> Options {
    Options {
        module: None,
        filename: None,
        parser: Default::default(),
        mode: Mode::StripOnly,
        transform: None,
        deprecated_ts_module_as_error: None,
        source_map: false,
    }
}

/// Keeps the first error with its line.
struct FirstError {
    map: Lrc<SourceMap>,
    found: Arc<Mutex<Option<StripError>>>,
}

impl Emitter for FirstError {
    fn emit(&mut self, diagnostic: &mut DiagnosticBuilder<'_>) {
        if matches!(diagnostic.level, Level::Warning | Level::Note | Level::Help) {
            return;
        }
        let span = diagnostic.span.primary_span().filter(|span| !span.is_dummy());
        let line = span.map(|span| self.map.lookup_char_pos(span.lo()).line);
        let what = diagnostic.message().trim_end_matches('.').to_owned();
        if let Ok(mut found) = self.found.lock() {
            found.get_or_insert(StripError::new(what, line));
        }
    }
}

/// Returns the source line of each generated line. A line without a source has that of the line before it.
fn written_lines(map: &str, count: usize) -> Option<Vec<u32>> {
    let map = swc_sourcemap::SourceMap::from_slice(map.as_bytes()).ok()?;
    let mut lines = vec![0u32; count];
    for token in map.tokens() {
        if let Some(line) = lines.get_mut(token.get_dst_line() as usize)
            && *line == 0
        {
            *line = token.get_src_line() + 1;
        }
    }
    let mut before = 1;
    for line in &mut lines {
        before = if *line == 0 { before } else { *line };
        *line = before;
    }
    Some(lines)
}
