//! placeholder
pub(crate) struct Regex;
