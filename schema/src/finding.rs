//! Findings: what is wrong with something, where, why, and what to do.
//!
//! Plain data. Rendering (code frames, SARIF, pages) is the business of who shows them. Each crate that finds
//! things exports a table of [`Rule`]s; ids never change meaning.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

/// How bad a finding is. The health of a version is its worst finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing; nothing to mend.
    Info,
    /// Works, but will surprise somebody.
    Warning,
    /// Something is broken.
    Error,
}

impl Severity {
    /// The lower-case word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Severity::Info => "info",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

/// A rule: what is looked for, and what its finding means. Tables of these are `static`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rule {
    /// Stable, lower-case, words joined by dashes: `duplicate-version`.
    pub id: &'static str,
    /// How bad it is where the rule fires.
    pub severity: Severity,
    /// One line: why this matters.
    pub why: &'static str,
    /// One line: what to do about it.
    pub fix: &'static str,
    /// Whether it keeps a version from being published. Only structure may.
    pub withholds: bool,
}

/// A dialect's table of rules: a static for each, and all of them as `RULES`. None withholds a version, for only
/// structure may.
#[macro_export]
macro_rules! dialect_rules {
    ($($(#[$doc:meta])* $name:ident = $id:literal, $severity:ident, $why:literal, $fix:literal;)*) => {
        $($(#[$doc])* pub(crate) static $name: $crate::Rule = $crate::Rule {
            id: $id,
            severity: $crate::Severity::$severity,
            why: $why,
            fix: $fix,
            withholds: false,
        };)*
        /// Every rule of this crate.
        pub static RULES: &[$crate::Rule] = &[$($crate::Rule {
            id: $id,
            severity: $crate::Severity::$severity,
            why: $why,
            fix: $fix,
            withholds: false,
        },)*];
    };
}

/// Where in a file a finding points: lines and columns from 1, columns in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Place {
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1, in characters.
    pub column: u32,
}

impl From<yaml::Position> for Place {
    fn from(position: yaml::Position) -> Place {
        Place { line: position.line, column: position.column }
    }
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Finding {
    /// The path it concerns, relative to what was looked at; escaped, so that it can be shown. Empty: the whole.
    pub path: String,
    /// Where in the file, if it is about a place in a file.
    pub place: Option<Place>,
    /// The id of the rule.
    pub rule: Cow<'static, str>,
    /// How bad.
    pub severity: Severity,
    /// What is wrong here, in one sentence without a full stop. May quote what is wrong; escaped like the path.
    pub message: String,
    /// What to do about it here.
    pub fix: String,
}

impl Finding {
    /// A finding of `rule` about `path`.
    pub fn new(rule: &'static Rule, path: impl Into<String>, message: impl Into<String>) -> Finding {
        Finding {
            path: path.into(),
            place: None,
            rule: Cow::Borrowed(rule.id),
            severity: rule.severity,
            message: showable(message.into()),
            fix: rule.fix.to_owned(),
        }
    }

    /// The same, pointing at a place in the file.
    pub fn at(mut self, place: impl Into<Option<Place>>) -> Finding {
        self.place = place.into();
        self
    }

    /// The same, with advice for this very case in place of the rule's.
    pub fn fixed_by(mut self, fix: impl Into<String>) -> Finding {
        self.fix = showable(fix.into());
        self
    }
}

/// The worst severity among findings, if there are any above info.
pub fn worst<'a>(findings: impl IntoIterator<Item = &'a Finding>) -> Option<Severity> {
    findings.into_iter().map(|finding| finding.severity).max().filter(|severity| *severity > Severity::Info)
}

/// Bytes of a name or path that may be hostile, made safe to show: control characters, bidirectional marks and
/// invalid UTF-8 are escaped, and 120 characters are the most.
pub fn shown(bytes: &[u8]) -> String {
    let mut out = String::new();
    for (count, character) in String::from_utf8_lossy(bytes).chars().enumerate() {
        if count == 120 {
            out.push('…');
            break;
        }
        if character.is_control() || is_invisible(character) {
            out.extend(character.escape_unicode());
        } else {
            out.push(character);
        }
    }
    out
}

/// A message that may quote something hostile, made safe to show: as [`shown`], but line breaks and tabs stay, and
/// nothing is cut off.
pub(crate) fn showable(text: String) -> String {
    let is_hostile = |character: char| {
        (character.is_control() && !matches!(character, '\n' | '\t')) || is_invisible(character)
    };
    if !text.contains(is_hostile) {
        return text;
    }
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        if is_hostile(character) {
            out.extend(character.escape_unicode());
        } else {
            out.push(character);
        }
    }
    out
}

fn is_invisible(character: char) -> bool {
    matches!(character, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}
