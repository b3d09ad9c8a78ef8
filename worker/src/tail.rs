//! The last lines of a stream that may be endless: what a child wrote to its standard error before it died.

use std::collections::VecDeque;

/// The newest bytes of a stream, at most [`Tail::BYTES`].
#[derive(Debug, Default)]
pub(crate) struct Tail {
    bytes: VecDeque<u8>,
}

impl Tail {
    /// How much is kept.
    pub(crate) const BYTES: usize = 4096;

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        let newest = &bytes[bytes.len().saturating_sub(Tail::BYTES)..];
        let surplus = (self.bytes.len() + newest.len()).saturating_sub(Tail::BYTES);
        self.bytes.drain(..surplus);
        self.bytes.extend(newest);
    }

    /// What is kept, as text; anything that could act on a terminal is escaped.
    pub(crate) fn text(&self) -> String {
        let bytes = self.bytes.iter().copied().collect::<Vec<_>>();
        let mut text = String::new();
        for character in String::from_utf8_lossy(&bytes).chars() {
            if character.is_control() && character != '\n' {
                text.extend(character.escape_default());
            } else {
                text.push(character);
            }
        }
        text
    }

    /// The last lines that say anything, joined into one; at most three.
    pub(crate) fn last_words(&self) -> Option<String> {
        let text = self.text();
        if let Some(panic) = panic(&text) {
            return Some(panic);
        }
        let mut lines = text
            .lines()
            .map(str::trim)
            // Rust's own advice to a programmer at a terminal, which the caller of a server is not.
            .filter(|line| !line.is_empty() && !line.starts_with("note: run with `RUST_BACKTRACE"))
            .rev()
            .take(3)
            .collect::<Vec<_>>();
        lines.reverse();
        (!lines.is_empty()).then(|| lines.join("; "))
    }
}

/// The message of the last panic, put before its place: Rust's library prints `thread 'main' (7) panicked at
/// src/a.rs:1:2:` and the message on the lines after it.
fn panic(text: &str) -> Option<String> {
    let (_, last) = text.rsplit_once(" panicked at ")?;
    let (place, message) = last.split_once(":\n")?;
    let lines = message.lines().map(str::trim);
    let message = lines.take_while(|line| !line.starts_with("note: ") && *line != "stack backtrace:");
    let message = message.filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ");
    let file = place.rsplit('/').next().unwrap_or(place);
    Some(format!("{message} (a panic at {file})"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_newest_bytes_are_kept_and_the_last_lines_told() {
        let mut tail = Tail::default();
        for line in 0..10_000 {
            tail.push(format!("line {line}\n").as_bytes());
        }
        assert!(tail.bytes.len() <= Tail::BYTES);
        assert_eq!(tail.last_words().as_deref(), Some("line 9997; line 9998; line 9999"));
        tail.push(&[b'x'; 3 * Tail::BYTES]);
        assert_eq!(tail.bytes.len(), Tail::BYTES);
        tail.push(b"\n\x1b[31mred\n\n");
        assert!(tail.last_words().unwrap().ends_with("\\u{1b}[31mred"));
        assert_eq!(Tail::default().last_words(), None);
    }

    #[test]
    fn a_panic_is_told_by_its_message() {
        let mut tail = Tail::default();
        tail.push(b"starting\n\nthread 'main' (12) panicked at a/src/b.rs:3:4:\nindex out of bounds:\n  7\n");
        tail.push(b"note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace\n");
        assert_eq!(tail.last_words().as_deref(), Some("index out of bounds: 7 (a panic at b.rs:3:4)"));
    }
}
