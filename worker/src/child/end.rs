//! Why a child ended: which limit, or what it said last.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::Duration;

use crate::tail::Tail;

/// A limit that stopped a child.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Limit {
    /// Time since it was asked.
    Wall,
    /// Memory.
    Memory,
    /// What it gave back.
    Output,
    /// How deep it nested.
    Stack,
    /// What it was given.
    Input,
}

impl Limit {
    /// The word for it in metrics.
    pub const fn as_str(self) -> &'static str {
        match self {
            Limit::Wall => "wall",
            Limit::Memory => "memory",
            Limit::Output => "output",
            Limit::Stack => "stack",
            Limit::Input => "input",
        }
    }
}

/// Why a child did not do what it was asked. It has ended, whichever it is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChildError {
    /// It did not come up.
    #[error("{message}")]
    Start {
        /// Why.
        message: String,
    },
    /// The program that came up is another build.
    #[error("the child is build {theirs}, not {ours}: the program was replaced, restart it")]
    Stranger {
        /// This program.
        ours: String,
        /// What answered.
        theirs: String,
    },
    /// It hit a limit.
    #[error("{message}")]
    Limit {
        /// Which.
        what: Limit,
        /// The limit in words.
        message: String,
    },
    /// It ended by itself: a panic, a signal, a bad status.
    #[error("the process ended: {message}")]
    Died {
        /// What it said last, or how it ended.
        message: String,
    },
    /// What it said made no sense.
    #[error("the process said something unexpected: {message}")]
    Protocol {
        /// What was wrong with it.
        message: String,
    },
}

pub(super) fn overdue(wall: Duration) -> ChildError {
    let message = format!("stopped at the time limit of {wall:?}");
    ChildError::Limit { what: Limit::Wall, message }
}

pub(super) fn too_long(limit: u64) -> ChildError {
    let message = format!("stopped: an answer was longer than {}", in_words(limit));
    ChildError::Limit { what: Limit::Output, message }
}

fn out_of_memory(memory: Option<u64>) -> ChildError {
    let limit = memory
        .map_or("its memory limit".to_owned(), |memory| format!("the memory limit of {}", in_words(memory)));
    let message = format!("stopped at {limit}");
    ChildError::Limit { what: Limit::Memory, message }
}

/// What an exit status and the last lines of standard error mean. A good end is no error.
///
/// Rust's library says on standard error when an allocation fails or the stack overflows, and then aborts; a
/// template cannot write there.
pub(super) fn explain(status: ExitStatus, tail: &Tail, memory: Option<u64>) -> Result<(), ChildError> {
    if status.success() {
        return Ok(());
    }
    let text = tail.text();
    if text.contains("memory allocation of ") && text.contains(" failed") {
        return Err(out_of_memory(memory));
    }
    if text.contains("has overflowed its stack") {
        let message = "stopped: nested too deep for the stack".to_owned();
        return Err(ChildError::Limit { what: Limit::Stack, message });
    }
    if status.signal() == Some(libc::SIGXCPU) {
        let message = "stopped at the limit of processor time".to_owned();
        return Err(ChildError::Limit { what: Limit::Wall, message });
    }
    if status.signal() == Some(libc::SIGXFSZ) {
        let message = "stopped: it wrote a file larger than it may".to_owned();
        return Err(ChildError::Limit { what: Limit::Output, message });
    }
    // How a panic ends is known from its message.
    const PANICKED: Option<i32> = Some(101);
    let how = match (status.code(), status.signal()) {
        (_, Some(libc::SIGKILL)) => "it was killed from outside".to_owned(),
        (_, Some(signal)) => format!("signal {signal}"),
        (Some(code), _) => format!("status {code}"),
        (None, None) => status.to_string(),
    };
    let message = match tail.last_words() {
        Some(words) if status.code() == PANICKED => words,
        Some(words) => format!("{words} ({how})"),
        None => how,
    };
    Err(ChildError::Died { message })
}

/// Bytes for people: whole binary units where they fit.
pub(crate) fn in_words(bytes: u64) -> String {
    match bytes {
        _ if bytes >= 1 << 30 && bytes.is_multiple_of(1 << 30) => format!("{} GiB", bytes >> 30),
        _ if bytes >= 1 << 20 => format!("{} MiB", bytes >> 20),
        _ if bytes >= 1 << 10 => format!("{} KiB", bytes >> 10),
        _ => format!("{bytes} bytes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn explained(wait_status: i32, said: &str) -> Result<(), ChildError> {
        let mut tail = Tail::default();
        tail.push(said.as_bytes());
        explain(ExitStatus::from_raw(wait_status), &tail, Some(256 << 20))
    }

    #[test]
    fn each_end_has_its_reason() {
        assert_eq!(explained(0, "a warning"), Ok(()));
        let limit = |result| match result {
            Err(ChildError::Limit { what, message }) => (what, message),
            other => panic!("{other:?}"),
        };
        let (what, message) = limit(explained(libc::SIGABRT, "memory allocation of 4096 bytes failed\n"));
        assert_eq!(what, Limit::Memory);
        assert!(message.contains("memory limit of 256 MiB"), "{message}");
        let overflow =
            "\nthread 'main' has overflowed its stack\nfatal runtime error: stack overflow, aborting\n";
        assert_eq!(limit(explained(libc::SIGABRT, overflow)).0, Limit::Stack);
        assert_eq!(limit(explained(libc::SIGXCPU, "")).0, Limit::Wall);
        assert_eq!(limit(explained(libc::SIGXFSZ, "")).0, Limit::Output);
        let died = |message: &str| Err(ChildError::Died { message: message.to_owned() });
        assert_eq!(explained(libc::SIGKILL, ""), died("it was killed from outside"));
        assert_eq!(
            explained(101 << 8, "thread 'main' (7) panicked at x.rs:1:2:\nboom\n"),
            died("boom (a panic at x.rs:1:2)")
        );
    }

    #[test]
    fn sizes_are_said_in_the_unit_that_fits() {
        assert_eq!(in_words(256 << 20), "256 MiB");
        assert_eq!(in_words(1 << 30), "1 GiB");
        assert_eq!(in_words(1000), "1000 bytes");
    }
}
