//! Tokens, between scanner and parser.

use std::borrow::Cow;

use super::{Mark, ScalarStyle};

#[derive(Clone, Debug)]
pub(super) struct Token<'text> {
    pub(super) kind: TokenKind<'text>,
    pub(super) start: Mark,
    pub(super) end: Mark,
}

#[derive(Clone, Debug)]
pub(super) enum TokenKind<'text> {
    StreamEnd,
    VersionDirective {
        major: u32,
        minor: u32,
    },
    TagDirective {
        handle: &'text str,
        prefix: Cow<'text, str>,
    },
    /// A directive that is skipped.
    OtherDirective,
    DocumentStart,
    DocumentEnd,
    BlockListStart,
    BlockMapStart,
    BlockEnd,
    FlowListStart,
    FlowListEnd,
    FlowMapStart,
    FlowMapEnd,
    BlockEntry,
    FlowEntry,
    Key,
    Value,
    Alias(&'text str),
    Anchor(&'text str),
    /// A tag; without a handle the suffix is all of it.
    Tag {
        handle: &'text str,
        suffix: Cow<'text, str>,
    },
    Scalar {
        text: Cow<'text, str>,
        style: ScalarStyle,
    },
}
