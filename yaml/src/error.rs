//! What can go wrong while reading, and where.

use std::fmt;

use crate::position::Position;

/// Why a text could not be read, where, and in words a person can act on.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub struct Error {
    /// What is wrong and what to do about it, without the place.
    pub message: String,
    /// Where it is wrong; none when the whole text is meant.
    pub position: Option<Position>,
    /// The kind of mistake, for programs.
    pub kind: ErrorKind,
    /// What go-yaml says, where that is known.
    go_text: Option<Box<str>>,
}

/// The kinds of mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The text is not YAML.
    Syntax,
    /// The bytes are not UTF-8.
    Encoding,
    /// A mapping has the same key twice.
    DuplicateKey {
        /// Where the key stands first; the error's own position is the second place.
        first: Position,
    },
    /// The document is larger than the caller allows.
    Limit(LimitKind),
    /// A tag is unknown, or does not fit its value.
    Tag,
    /// Something that cannot be a key: a mapping, a list, and under Kubernetes' rules null.
    Key,
    /// `<<` with something else than a mapping or a list of mappings.
    Merge,
    /// An alias without its anchor, or one inside its own anchor.
    Alias,
    /// A number that cannot be kept: infinite or not a number under Kubernetes' rules, or malformed under PyYAML's.
    Number,
    /// More than one document where one was expected.
    SecondDocument,
}

/// Which limit was reached; each names a field of [`Limits`](crate::Limits).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LimitKind {
    /// [`Limits::bytes`](crate::Limits::bytes).
    Bytes,
    /// [`Limits::depth`](crate::Limits::depth).
    Depth,
    /// [`Limits::nodes`](crate::Limits::nodes).
    Nodes,
    /// [`Limits::alias_nodes`](crate::Limits::alias_nodes).
    AliasNodes,
    /// [`Limits::alias_bytes`](crate::Limits::alias_bytes).
    AliasBytes,
    /// [`Limits::scalar_bytes`](crate::Limits::scalar_bytes).
    ScalarBytes,
    /// [`Limits::documents`](crate::Limits::documents).
    Documents,
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(position) = self.position {
            write!(formatter, "{position}: ")?;
        }
        formatter.write_str(&self.message)
    }
}

impl Error {
    pub(crate) fn new(
        kind: ErrorKind,
        position: impl Into<Option<Position>>,
        message: impl Into<String>,
    ) -> Self {
        Self { message: message.into(), position: position.into(), kind, go_text: None }
    }

    /// What go-yaml v2 says of the same mistake, such as `yaml: line 3: could not find expected ':'` (its line numbers
    /// are not always right). Known for syntax, tags, aliases and merge keys.
    #[must_use]
    pub fn go_text(&self) -> Option<&str> {
        self.go_text.as_deref()
    }

    pub(crate) fn with_go_text(self, text: impl Into<Box<str>>) -> Self {
        Self { go_text: Some(text.into()), ..self }
    }

    pub(crate) fn limit(limit: LimitKind, position: impl Into<Option<Position>>, message: String) -> Self {
        Self::new(ErrorKind::Limit(limit), position, message)
    }
}
