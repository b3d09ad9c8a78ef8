//! Names of registries, collections and templates.
//!
//! Names become path segments of URLs and of Git trees, so one narrow alphabet serves all of them: ASCII
//! letters, digits, `.`, `_` and `-`, beginning with a letter, digit or `_`, at most 100 bytes. ASCII only, so
//! that two names that look alike are alike.

use std::borrow::Borrow;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Longest name in bytes.
pub const LONGEST: usize = 100;

/// Why a text is not a name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// Nothing between two separators.
    #[error("a name is empty")]
    Empty,
    /// More than [`LONGEST`] bytes.
    #[error("`{}…` is {length} bytes long; a name has at most {LONGEST}", .start)]
    TooLong {
        /// The first characters, for the message.
        start: String,
        /// How long it was, in bytes.
        length: usize,
    },
    /// A first character that names do not have: a dot would hide it, a dash would make it a flag.
    #[error("`{name}` begins with `{found}`; names begin with a letter, a digit or `_`")]
    Start {
        /// The text.
        name: String,
        /// Its first character.
        found: char,
    },
    /// A character outside the alphabet.
    #[error("`{name}` contains `{}`; names are made of letters, digits, `.`, `_` and `-`", .found.escape_debug())]
    Character {
        /// The text.
        name: String,
        /// The first offending character.
        found: char,
    },
    /// A registry needs a host and two or more segments.
    #[error(
        "`{0}` is not a registry name: write a host and at least two segments, like `github.com/acme/templates`"
    )]
    Registry(String),
}

/// Checks one segment against the alphabet above.
pub fn check(text: &str) -> Result<(), NameError> {
    let Some(first) = text.chars().next() else { return Err(NameError::Empty) };
    if text.len() > LONGEST {
        let start = text.chars().take(24).flat_map(char::escape_debug).collect();
        return Err(NameError::TooLong { start, length: text.len() });
    }
    let name = || text.escape_debug().to_string();
    if let Some(found) = text.chars().find(|c| !c.is_ascii_alphanumeric() && !matches!(c, '.' | '_' | '-')) {
        return Err(NameError::Character { name: name(), found });
    }
    if !first.is_ascii_alphanumeric() && first != '_' {
        return Err(NameError::Start { name: name(), found: first });
    }
    Ok(())
}

macro_rules! segment {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);

        impl $name {
            /// The name as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl FromStr for $name {
            type Err = NameError;

            fn from_str(text: &str) -> Result<Self, NameError> {
                check(text)?;
                Ok($name(text.to_owned()))
            }
        }

        impl TryFrom<String> for $name {
            type Error = NameError;

            fn try_from(text: String) -> Result<Self, NameError> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(name: $name) -> String {
                name.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }
    };
}

segment! {
    /// The name of a template: that of the directory that holds its versions.
    TemplateName
}

segment! {
    /// The name of a collection. The unnamed root collection is `None` of an `Option<CollectionName>`.
    CollectionName
}

/// A host and two or more segments: `github.com/acme/templates`, `gitlab.example/a/b/c`.
///
/// Hosts compare without case, and so do owner and repository on `github.com`; what was written is kept for
/// printing. Ports belong to a source URL, never to a name.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RegistryName {
    written: String,
    /// The form that is compared and stored.
    canonical: String,
}

impl RegistryName {
    /// The name as it was written.
    pub fn as_str(&self) -> &str {
        &self.written
    }

    /// The form in which two spellings of one registry are equal.
    pub fn canonical(&self) -> &str {
        &self.canonical
    }

    /// The canonical segments, host first.
    pub fn segments(&self) -> impl Iterator<Item = &str> {
        self.canonical.split('/')
    }

    /// How many leading `segments` spell this registry, if they do.
    pub(crate) fn prefix_of(&self, segments: &[String]) -> Option<usize> {
        let count = self.segments().count();
        if segments.len() < count {
            return None;
        }
        (canonical(&segments[..count].join("/")) == self.canonical).then_some(count)
    }
}

fn canonical(name: &str) -> String {
    let mut segments = name.split('/').map(str::to_owned).collect::<Vec<_>>();
    segments[0].make_ascii_lowercase();
    if segments[0] == "github.com" {
        segments.iter_mut().skip(1).take(2).for_each(|segment| segment.make_ascii_lowercase());
    }
    segments.join("/")
}

impl FromStr for RegistryName {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        let segments = text.split('/').collect::<Vec<_>>();
        if segments.len() < 3 {
            return Err(NameError::Registry(text.escape_debug().to_string()));
        }
        segments.into_iter().try_for_each(check)?;
        Ok(RegistryName { written: text.to_owned(), canonical: canonical(text) })
    }
}

impl TryFrom<String> for RegistryName {
    type Error = NameError;

    fn try_from(text: String) -> Result<Self, NameError> {
        text.parse()
    }
}

impl From<RegistryName> for String {
    fn from(name: RegistryName) -> String {
        name.written
    }
}

impl fmt::Display for RegistryName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.written)
    }
}

impl PartialEq for RegistryName {
    fn eq(&self, other: &Self) -> bool {
        self.canonical == other.canonical
    }
}

impl Eq for RegistryName {}

impl std::hash::Hash for RegistryName {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.canonical.hash(state);
    }
}

impl PartialOrd for RegistryName {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for RegistryName {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.canonical.cmp(&other.canonical)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_are_held_to_the_alphabet() {
        for good in ["redis", "dot.delimited.strings", "_x", "0", "A-b_c.d"] {
            assert!(good.parse::<TemplateName>().is_ok(), "{good}");
        }
        for bad in ["", ".", "..", ".git", "-x", "a/b", "a b", "a\\b", "a\u{202e}b", "é", "a:b", "a\0b"] {
            assert!(bad.parse::<TemplateName>().is_err(), "{bad:?}");
        }
        assert!("x".repeat(100).parse::<TemplateName>().is_ok());
        assert!("x".repeat(101).parse::<TemplateName>().is_err());
    }

    #[test]
    fn hosts_compare_without_case_and_github_owners_too() {
        let name = |text: &str| text.parse::<RegistryName>().unwrap();
        assert_eq!(name("GitHub.com/Acme/Templates"), name("github.com/acme/templates"));
        assert_eq!(name("GitLab.example/a/b"), name("gitlab.example/a/b"));
        assert_ne!(name("gitlab.example/A/b"), name("gitlab.example/a/b"));
        assert_eq!(name("GitHub.com/Acme/T").to_string(), "GitHub.com/Acme/T");
        assert!("github.com/acme".parse::<RegistryName>().is_err());
        assert!("github.com:8080/a/b".parse::<RegistryName>().is_err());
    }
}
