//! References: how people and tools name a version.
//!
//! ```text
//! <registry>[/<collection>]/<template>[:<selector>][@sha256:<digest>]
//! ```
//!
//! The selector is a version (`v1.1`, the `v` may be missing), `=v1.1.0` for exactly that, `^v1.1` for the
//! highest MINOR, or absent for the highest version. A digest pins content. A reference of one or two segments is
//! in the default registry. Parsing keeps segments; [`Reference::locate`] splits them against the registries
//! there are, longest name first, because nothing in the text says where a registry name ends.
//! Source: the convention document, "Registry based template references"; selectors beyond it are ours.

use std::fmt;
use std::str::FromStr;

use crate::digest::{Digest, DigestError};
use crate::name::{self, CollectionName, NameError, RegistryName, TemplateName};
use crate::version::{Version, VersionError};

/// Longest reference, in bytes.
pub const LONGEST: usize = 1_024;

/// Which version of a template is meant.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub enum Selector {
    /// The highest there is.
    #[default]
    Highest,
    /// The highest PATCH of the same MAJOR and MINOR, at least this.
    HighestPatch(Version),
    /// The highest MINOR of the same MAJOR, at least this.
    HighestMinor(Version),
    /// This one.
    Exactly(Version),
}

/// A parsed reference. Printing and parsing are inverse, up to the spelling of the version.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Reference {
    segments: Vec<String>,
    /// Which version.
    pub selector: Selector,
    /// Which bytes, if pinned.
    pub digest: Option<Digest>,
}

/// Which part of a reference is wrong, and how.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReferenceError {
    /// No text at all.
    #[error("the reference is empty: write a template and a version, like `redis:v1`")]
    Empty,
    /// More than [`LONGEST`] bytes.
    #[error("the reference is {0} bytes long; at most {LONGEST} make sense")]
    TooLong(usize),
    /// A scheme: a URL was given.
    #[error("`{0}` is a URL; leave out the scheme and the file name, and write the version after a colon")]
    Url(String),
    /// A segment of the path.
    #[error("the path is wrong: {0}")]
    Path(#[from] NameError),
    /// The version behind the colon.
    #[error("the version is wrong: {0}")]
    Version(#[from] VersionError),
    /// The digest behind the `@`.
    #[error("the digest is wrong: {0}")]
    Digest(#[from] DigestError),
}

impl ReferenceError {
    /// Which part is wrong, in a word: `reference`, `path`, `version` or `digest`.
    pub const fn part(&self) -> &'static str {
        match self {
            ReferenceError::Empty | ReferenceError::TooLong(_) | ReferenceError::Url(_) => "reference",
            ReferenceError::Path(_) => "path",
            ReferenceError::Version(_) => "version",
            ReferenceError::Digest(_) => "digest",
        }
    }
}

/// A template, with its registry and collection told apart.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Location {
    /// The registry.
    pub registry: RegistryName,
    /// The collection; `None` is the root.
    pub collection: Option<CollectionName>,
    /// The template.
    pub template: TemplateName,
}

/// Where short references go: a registry, and perhaps a collection of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Home {
    /// The registry.
    pub registry: RegistryName,
    /// The collection a single segment is looked up in.
    pub collection: Option<CollectionName>,
}

/// Why a reference names no template among the registries there are.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LocateError {
    /// A short reference without a default registry.
    #[error("`{0}` is a short reference, and there is no default registry here; write the registry in front")]
    NoDefault(String),
    /// No registry here has a name that the path begins with.
    #[error("no registry here is named like the beginning of `{0}`")]
    UnknownRegistry(String),
    /// The path is a registry's name and no more.
    #[error("`{0}` names a registry; add a template")]
    RegistryOnly(RegistryName),
    /// More than a collection between registry and template.
    #[error(
        "`{rest}` has {count} segments behind the registry `{registry}`; only a collection and a template may stand there"
    )]
    TooDeep {
        /// The registry the path begins with.
        registry: RegistryName,
        /// What follows it.
        rest: String,
        /// How many segments that is.
        count: usize,
    },
}

impl Reference {
    /// The full reference to a template of a known place.
    pub fn to(location: &Location, selector: Selector) -> Reference {
        let collection = location.collection.iter().map(CollectionName::as_str);
        let segments =
            location.registry.as_str().split('/').chain(collection).chain([location.template.as_str()]);
        Reference { segments: segments.map(str::to_owned).collect(), selector, digest: None }
    }

    /// The path as written.
    pub fn path(&self) -> String {
        self.segments.join("/")
    }

    /// Whether the default registry is meant.
    pub fn is_short(&self) -> bool {
        self.segments.len() <= 2
    }

    /// The last segment, which names the template.
    pub fn template(&self) -> &str {
        self.segments.last().map_or("", String::as_str)
    }

    /// Splits the path against the registries there are, the longest matching name first.
    pub fn locate<'a>(
        &self,
        registries: impl IntoIterator<Item = &'a RegistryName>,
        home: Option<&Home>,
    ) -> Result<Location, LocateError> {
        let template = |index: usize| {
            TemplateName::try_from(self.segments[index].clone()).expect("segments are checked when parsed")
        };
        let collection = |index: usize| {
            CollectionName::try_from(self.segments[index].clone()).expect("segments are checked when parsed")
        };
        if self.is_short() {
            let home = home.ok_or_else(|| LocateError::NoDefault(self.to_string()))?;
            let last = self.segments.len() - 1;
            let named = (last == 1).then(|| collection(0));
            return Ok(Location {
                registry: home.registry.clone(),
                collection: named.or_else(|| home.collection.clone()),
                template: template(last),
            });
        }
        let (count, registry) = registries
            .into_iter()
            .filter_map(|registry| Some((registry.prefix_of(&self.segments)?, registry)))
            .max_by_key(|(count, _)| *count)
            .ok_or_else(|| LocateError::UnknownRegistry(self.path()))?;
        let registry = registry.clone();
        match self.segments.len() - count {
            0 => Err(LocateError::RegistryOnly(registry)),
            1 => Ok(Location { registry, collection: None, template: template(count) }),
            2 => {
                Ok(Location { registry, collection: Some(collection(count)), template: template(count + 1) })
            }
            more => {
                Err(LocateError::TooDeep { registry, rest: self.segments[count..].join("/"), count: more })
            }
        }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/", self.registry)?;
        if let Some(collection) = &self.collection {
            write!(f, "{collection}/")?;
        }
        write!(f, "{}", self.template)
    }
}

impl FromStr for Selector {
    type Err = VersionError;

    fn from_str(text: &str) -> Result<Self, VersionError> {
        match text.as_bytes().first() {
            Some(b'=') => Ok(Selector::Exactly(text[1..].parse()?)),
            Some(b'^') => Ok(Selector::HighestMinor(text[1..].parse()?)),
            _ => Ok(Selector::HighestPatch(text.parse()?)),
        }
    }
}

impl fmt::Display for Selector {
    /// With its colon, ready to stand behind a path; nothing for the highest version.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Selector::Highest => Ok(()),
            Selector::HighestPatch(version) => write!(f, ":{version}"),
            Selector::HighestMinor(version) => write!(f, ":^{version}"),
            Selector::Exactly(version) => write!(f, ":={version}"),
        }
    }
}

impl FromStr for Reference {
    type Err = ReferenceError;

    fn from_str(text: &str) -> Result<Self, ReferenceError> {
        if text.is_empty() {
            return Err(ReferenceError::Empty);
        }
        if text.len() > LONGEST {
            return Err(ReferenceError::TooLong(text.len()));
        }
        if text.contains("://") {
            return Err(ReferenceError::Url(text.chars().take(120).flat_map(char::escape_debug).collect()));
        }
        let (rest, digest) = match text.split_once('@') {
            Some((rest, digest)) => (rest, Some(digest.parse()?)),
            None => (text, None),
        };
        let (path, selector) = match rest.split_once(':') {
            Some((path, selector)) => (path, selector.parse()?),
            None => (rest, Selector::Highest),
        };
        let segments = path.split('/').map(str::to_owned).collect::<Vec<_>>();
        segments.iter().try_for_each(|segment| name::check(segment))?;
        Ok(Reference { segments, selector, digest })
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.segments.join("/"), self.selector)?;
        match &self.digest {
            Some(digest) => write!(f, "@{digest}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn reference(text: &str) -> Reference {
        text.parse().unwrap()
    }

    fn registries() -> Vec<RegistryName> {
        ["github.com/acme/templates", "github.com/acme/templates/deep", "gitlab.example/a/b/c"]
            .map(|name| name.parse().unwrap())
            .to_vec()
    }

    fn located(text: &str) -> Result<String, LocateError> {
        let home = Home { registry: registries()[0].clone(), collection: None };
        reference(text).locate(&registries(), Some(&home)).map(|location| location.to_string())
    }

    #[test]
    fn full_references_split_against_the_longest_registry() {
        assert_eq!(located("github.com/acme/templates/redis:v1").unwrap(), "github.com/acme/templates/redis");
        assert_eq!(
            located("GitHub.com/ACME/templates/db/redis").unwrap(),
            "github.com/acme/templates/db/redis"
        );
        assert_eq!(
            located("github.com/acme/templates/deep/redis").unwrap(),
            "github.com/acme/templates/deep/redis"
        );
        assert_eq!(located("gitlab.example/a/b/c/x/y:1.0").unwrap(), "gitlab.example/a/b/c/x/y");
    }

    #[test]
    fn short_references_are_in_the_default_registry() {
        assert_eq!(located("redis").unwrap(), "github.com/acme/templates/redis");
        assert_eq!(located("db/redis:v1").unwrap(), "github.com/acme/templates/db/redis");
        assert!(matches!(reference("redis").locate(&registries(), None), Err(LocateError::NoDefault(_))));
    }

    /// The convention document: "multiple path segments are not allowed".
    #[test]
    fn only_a_collection_may_stand_between() {
        assert!(matches!(
            located("github.com/acme/templates/multiple/path/redis:v1"),
            Err(LocateError::TooDeep { count: 3, .. })
        ));
        assert!(matches!(located("github.com/acme/templates"), Err(LocateError::RegistryOnly(_))));
        assert!(matches!(located("github.com/other/repo/redis:v1"), Err(LocateError::UnknownRegistry(_))));
    }

    #[test]
    fn errors_say_which_part() {
        for (text, part) in [
            ("", "reference"),
            ("https://github.com/a/b", "reference"),
            ("a//b", "path"),
            ("../x:v1", "path"),
            ("redis:", "version"),
            ("redis:latest", "version"),
            ("redis:v1@sha256:12", "digest"),
        ] {
            assert_eq!(text.parse::<Reference>().unwrap_err().part(), part, "{text}");
        }
    }

    proptest! {
        #[test]
        fn parsing_and_printing_are_inverse(
            segments in prop::collection::vec("[A-Za-z0-9_][A-Za-z0-9._-]{0,12}", 1..7),
            version in prop::option::of((0..2u8, 0..9u64, 0..9u64, 0..9u64)),
            pinned in any::<bool>(),
        ) {
            let selector = match version {
                None => Selector::Highest,
                Some((0, a, b, c)) => Selector::HighestPatch(Version::new(a, b, c)),
                Some((1, a, b, c)) => Selector::Exactly(Version::new(a, b, c)),
                Some((_, a, b, c)) => Selector::HighestMinor(Version::new(a, b, c)),
            };
            let reference = Reference { segments, selector, digest: pinned.then(|| Digest::of(b"x")) };
            prop_assert_eq!(reference.to_string().parse::<Reference>(), Ok(reference));
        }

        #[test]
        fn no_text_makes_the_parser_panic(text in ".{0,60}") {
            let _ = text.parse::<Reference>();
        }
    }
}
