//! What a plain scalar means: the tables and patterns of YAML 1.1 as each original has them.
//!
//! Two things need them: reading, and writing (text that would be read as something else must be quoted). It must
//! not know documents, tags or positions.

mod go;
mod python;

pub(crate) use python::{
    parse_float as python_float, parse_int as python_int, parse_timestamp as python_timestamp,
};

use crate::options::Rules;

/// The reading of a plain (unquoted, untagged) scalar.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Scalar {
    /// Nothing.
    Null,
    /// A boolean.
    Bool(bool),
    /// A whole number that fits 64 signed bits.
    Int(i64),
    /// A whole number above [`i64::MAX`] that fits 64 bits.
    Uint(u64),
    /// Any other number, infinite and not-a-number included.
    Float(f64),
    /// A date or a time; its value stays text.
    Timestamp,
    /// `<<`, where the rules make that a kind of its own.
    Merge,
    /// `=`, where the rules make that a kind of its own.
    DefaultValue,
    /// A number that the rules recognise by its form but cannot read, such as PyYAML's `0b_` or `0000-00-00`.
    Malformed,
    /// Text.
    String,
}

/// Reads a plain scalar under the given rules.
#[must_use]
pub fn resolve_plain(text: &str, rules: Rules) -> Scalar {
    match rules {
        Rules::Kubernetes => go::resolve(text),
        Rules::PyYaml => python::resolve(text),
    }
}

/// Whether the writer of `sigs.k8s.io/yaml` must quote this text so that it stays text.
pub(crate) fn go_must_quote(text: &str) -> bool {
    go::must_quote(text)
}

/// Whether PyYAML's writer must quote this text so that it stays text.
pub(crate) fn python_must_quote(text: &str) -> bool {
    python::recognise(text) != python::Kind::String
}
