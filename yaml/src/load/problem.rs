//! Telling of mistakes the parser found, in our words and in go-yaml's.

use crate::{
    emit::write_go_float,
    error::{Error, ErrorKind},
    position::Position,
    syntax::SyntaxError,
};

/// A number that go-yaml reads and JSON does not have.
pub(super) fn no_json_number(number: f64, at: Position) -> Error {
    let mut go_text = "json: unsupported value: ".to_owned();
    write_go_float(&mut go_text, number);
    let message = "JSON has no number that is infinite or none; quote it if text is meant";
    Error::new(ErrorKind::Number, at, message).with_go_text(go_text)
}

/// How go-yaml begins to tell of an alias without its anchor.
pub(super) const UNKNOWN_ANCHOR: &str = "yaml: unknown anchor";

pub(super) fn unknown_anchor(name: &str) -> String {
    format!("{UNKNOWN_ANCHOR} '{name}' referenced")
}

/// The words of the parser, with where what it was reading began.
pub(super) fn syntax_error(error: &SyntaxError) -> Error {
    let at = error.at.position();
    let message = match error.context {
        Some((what, began)) if began.position() != at => {
            format!("{}, {what} that begins on {}", error.problem, began.position())
        }
        Some((what, _)) => format!("{}, {what}", error.problem),
        None => error.problem.to_owned(),
    };
    // go-yaml counts lines from 0 in its parser and from 1 in its scanner, and leaves out line 0.
    let line = match (error.at.line, error.context) {
        (0, Some((_, began))) => began.line,
        (0, None) => 0,
        (line, _) => line + u32::from(error.in_scanner),
    };
    let go_text = match line {
        0 => format!("yaml: {}", error.problem),
        line => format!("yaml: line {line}: {}", error.problem),
    };
    Error::new(ErrorKind::Syntax, at, message).with_go_text(go_text)
}
