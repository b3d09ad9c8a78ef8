//! YAML's syntax: text becomes events (scalars, collections, aliases, documents).
//!
//! This is the syntax of YAML 1.1 as libyaml's family understands it: go-yaml v2 and PyYAML are its ports, differ
//! from each other in a handful of places ([`Rules`] says whose reading applies), and differ from every parser of
//! YAML 1.2 in many. Characters are checked first, the scanner makes tokens of them, the parser events of those. It
//! must not know what a scalar means or what a document costs.

mod cursor;
mod parser;
mod scalar;
mod scanner;
mod token;

use std::borrow::Cow;

pub(crate) use cursor::Mark;
pub(crate) use parser::Parser;
pub(crate) use scalar::ScalarStyle;

use crate::options::Rules;

/// Something that stands in the text.
#[derive(Clone, Debug)]
pub(crate) struct Event<'text> {
    pub(crate) kind: EventKind<'text>,
    pub(crate) start: Mark,
    pub(crate) end: Mark,
}

#[derive(Clone, Debug)]
pub(crate) enum EventKind<'text> {
    DocumentStart,
    DocumentEnd,
    Alias(&'text str),
    Scalar { text: Cow<'text, str>, style: ScalarStyle, properties: Properties<'text> },
    ListStart(Properties<'text>),
    ListEnd,
    MapStart(Properties<'text>),
    MapEnd,
}

/// What may stand before a node.
#[derive(Clone, Debug, Default)]
pub(crate) struct Properties<'text> {
    pub(crate) anchor: Option<&'text str>,
    /// The whole tag: `tag:yaml.org,2002:int`, `!local`, or `!` alone.
    pub(crate) tag: Option<Cow<'text, str>>,
}

/// Why a text is not YAML: the words are the originals', for people look them up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SyntaxError {
    pub(crate) problem: &'static str,
    pub(crate) at: Mark,
    /// What was being read, and where that began.
    pub(crate) context: Option<(&'static str, Mark)>,
    /// Found by the scanner rather than the parser.
    pub(crate) in_scanner: bool,
}

/// Boxed, for it is rare and what carries it is passed about for every token.
pub(crate) type Problem = Box<SyntaxError>;

/// Checks that a text has only characters YAML allows.
pub(crate) fn check_characters(text: &str) -> Result<(), (char, usize)> {
    let bytes = text.as_bytes();
    let mut offset = 0;
    while offset < bytes.len() {
        let byte = bytes[offset];
        if matches!(byte, b' '..=b'~' | b'\n' | b'\t' | b'\r') {
            offset += 1;
            continue;
        }
        let Some(character) = text[offset..].chars().next() else { break };
        let allowed = !matches!(
            character,
            '\0'..='\x1F' | '\x7F'..='\u{84}' | '\u{86}'..='\u{9F}' | '\u{FFFE}' | '\u{FFFF}'
        );
        if !allowed {
            return Err((character, offset));
        }
        offset += character.len_utf8();
    }
    Ok(())
}

/// Where the two originals read differently.
#[derive(Clone, Copy, Debug)]
struct Dialect(Rules);

impl Dialect {
    fn is_python(self) -> bool {
        self.0 == Rules::PyYaml
    }

    /// PyYAML takes no tab between tokens, go-yaml does within a line.
    fn takes_tabs(self) -> bool {
        !self.is_python()
    }

    /// In flow collections PyYAML ends a plain scalar before `:` followed by one of `,[]{}`.
    fn ends_at_colon_before_flow_indicator(self) -> bool {
        self.is_python()
    }

    /// go-yaml refuses directives it does not know; PyYAML skips them.
    fn skips_unknown_directives(self) -> bool {
        self.is_python()
    }

    /// go-yaml reads version 1.1 only; PyYAML any 1.x.
    fn takes_version(self, major: u32, minor: u32) -> bool {
        major == 1 && (minor == 1 || self.is_python())
    }

    /// go-yaml drops the `:` of `[? : a]`.
    fn drops_value_after_empty_key_in_list(self) -> bool {
        !self.is_python()
    }

    /// A tab where a block scalar's indentation is expected: an error to go-yaml, text to PyYAML.
    fn refuses_tabs_as_indentation(self) -> bool {
        !self.is_python()
    }
}
