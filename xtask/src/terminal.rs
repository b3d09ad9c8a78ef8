//! What a person at a terminal sees: results on standard output, progress on standard error, and the latter only where
//! somebody looks.

use std::fmt::Display;
use std::io::{IsTerminal, Write};

/// Prints a line; a closed pipe is no error of a job.
pub(crate) fn say(text: impl Display) {
    let _ = writeln!(std::io::stdout(), "{text}");
}

/// A line that is written over; nothing where standard error is no terminal.
pub(crate) struct Progress {
    shown: bool,
}

impl Progress {
    pub(crate) fn new() -> Self {
        Self { shown: std::io::stderr().is_terminal() }
    }

    pub(crate) fn show(&self, text: impl Display) {
        if self.shown {
            let mut error = std::io::stderr();
            let _ = write!(error, "\r\x1b[2K{text}");
            let _ = error.flush();
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.shown {
            let _ = write!(std::io::stderr(), "\r\x1b[2K");
        }
    }
}

/// 100,000 as people write it.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}
