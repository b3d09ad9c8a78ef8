//! The functions, by subject. Each module ends in a table of what it offers.

pub(crate) mod builtin;
mod convert;
pub(crate) mod crypto;
pub(crate) mod data;
pub(crate) mod dates;
pub(crate) mod encoding;
mod letter_case;
pub(crate) mod numbers;
pub(crate) mod paths;
pub(crate) mod regexes;
pub(crate) mod semver;
pub(crate) mod strings;

use crate::value::Value;

/// The text of an argument that the signature says is one.
pub(crate) fn text<'a>(arguments: &[Value<'a>], at: usize) -> &'a [u8] {
    match arguments.get(at) {
        Some(Value::String(text) | Value::Bytes(text)) => text,
        _ => b"",
    }
}

/// The `int` of an argument that the signature says is one.
pub(crate) fn int(arguments: &[Value<'_>], at: usize) -> i64 {
    match arguments.get(at) {
        Some(Value::Int(_, number)) => *number,
        _ => 0,
    }
}
