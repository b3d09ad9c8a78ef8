//! Versions as the registry convention has them: `v1`, `v1.1`, `v1.1.0`; omitted parts are zero.
//!
//! Source: the convention document, "Template Versions". Ours beyond it: no leading zeros, numeric order, and
//! pre-releases (charts have them), which must be written with all three parts and are only ever asked for
//! exactly. Build metadata is refused, for it would give two versions of equal precedence.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A MAJOR.MINOR.PATCH version, ordered by precedence and printed in full: `v1.1.0`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Version(semver::Version);

/// Why a text is not a version.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VersionError {
    /// No digit where one must stand.
    #[error("`{0}` is not a version: write v1, v1.1 or v1.1.0")]
    Shape(String),
    /// Four or more parts.
    #[error("`{0}` has more than three parts: write v1, v1.1 or v1.1.0")]
    TooManyParts(String),
    /// `v01`.
    #[error("`{0}` has a part with a leading zero")]
    LeadingZero(String),
    /// A part above 2^64 - 1.
    #[error("`{0}` has a part that is too large")]
    TooLarge(String),
    /// `v1-rc.1`.
    #[error("`{0}` is a pre-release with parts left out; write all three, like v1.0.0-rc.1")]
    ShortPreRelease(String),
    /// `v1.0.0+build`.
    #[error("`{0}` carries build metadata, which versions here do not have")]
    Build(String),
}

/// How many of the three parts a spelling gave: the fullest of two spellings of one version is served.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fullness(u8);

impl Version {
    /// A release version.
    pub const fn new(major: u64, minor: u64, patch: u64) -> Self {
        Version(semver::Version::new(major, minor, patch))
    }

    /// The MAJOR part.
    pub const fn major(&self) -> u64 {
        self.0.major
    }

    /// The MINOR part.
    pub const fn minor(&self) -> u64 {
        self.0.minor
    }

    /// The PATCH part.
    pub const fn patch(&self) -> u64 {
        self.0.patch
    }

    /// Whether this is a pre-release, which is never chosen, only asked for.
    pub fn is_pre_release(&self) -> bool {
        !self.0.pre.is_empty()
    }

    /// Whether `other` is of the same MAJOR and MINOR: then one may stand in for the other by the PATCH rule.
    pub const fn same_minor(&self, other: &Version) -> bool {
        self.major() == other.major() && self.minor() == other.minor()
    }

    /// Reads a version *directory*: the `v` is needed.
    pub fn from_directory(name: &str) -> Result<(Version, Fullness), VersionError> {
        match name.strip_prefix('v') {
            Some(parts) => parse(parts, name),
            None => Err(VersionError::Shape(shown(name))),
        }
    }

    /// Whether a directory name was meant as a version (`v` and a digit), so that a malformed one is worth a
    /// finding and does not pass for a template or a group.
    pub fn looks_like_directory(name: &str) -> bool {
        name.strip_prefix(['v', 'V']).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    }

    /// `v1.1`, the shortest spelling that says the same.
    pub fn shortest(&self) -> String {
        match (self.minor(), self.patch()) {
            _ if self.is_pre_release() => self.to_string(),
            (0, 0) => format!("v{}", self.major()),
            (minor, 0) => format!("v{}.{minor}", self.major()),
            _ => self.to_string(),
        }
    }
}

fn shown(text: &str) -> String {
    let mut shown = text.chars().take(40).flat_map(char::escape_debug).collect::<String>();
    if text.chars().nth(40).is_some() {
        shown.push('…');
    }
    shown
}

fn parse(parts: &str, whole: &str) -> Result<(Version, Fullness), VersionError> {
    let error = |make: fn(String) -> VersionError| Err(make(shown(whole)));
    if parts.contains('+') {
        return error(VersionError::Build);
    }
    let (numbers, pre_release) = match parts.split_once('-') {
        Some((numbers, pre_release)) => (numbers, Some(pre_release)),
        None => (parts, None),
    };
    let mut values = [0u64; 3];
    let mut count = 0;
    for part in numbers.split('.') {
        if count == 3 {
            return error(VersionError::TooManyParts);
        }
        if part.is_empty() || !part.bytes().all(|b| b.is_ascii_digit()) {
            return error(VersionError::Shape);
        }
        if part.len() > 1 && part.starts_with('0') {
            return error(VersionError::LeadingZero);
        }
        let Ok(value) = part.parse() else { return error(VersionError::TooLarge) };
        values[count] = value;
        count += 1;
    }
    let mut version = semver::Version::new(values[0], values[1], values[2]);
    if let Some(text) = pre_release {
        if count < 3 {
            return error(VersionError::ShortPreRelease);
        }
        match semver::Prerelease::new(text) {
            Ok(pre_release) if !pre_release.is_empty() => version.pre = pre_release,
            _ => return error(VersionError::Shape),
        }
    }
    Ok((Version(version), Fullness(count as u8)))
}

impl FromStr for Version {
    type Err = VersionError;

    /// Reads a version as references write it: the `v` may be missing.
    fn from_str(text: &str) -> Result<Self, VersionError> {
        parse(text.strip_prefix('v').unwrap_or(text), text).map(|(version, _)| version)
    }
}

impl TryFrom<String> for Version {
    type Error = VersionError;

    fn try_from(text: String) -> Result<Self, VersionError> {
        text.parse()
    }
}

impl From<Version> for String {
    fn from(version: Version) -> String {
        version.to_string()
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "v{}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(text: &str) -> Version {
        text.parse().unwrap()
    }

    #[test]
    fn omitted_parts_are_zero() {
        assert_eq!(version("v1"), version("v1.0.0"));
        assert_eq!(version("1.1"), version("v1.1.0"));
        assert_eq!(version("v1.1").to_string(), "v1.1.0");
        assert_eq!(version("v1.0.0").shortest(), "v1");
    }

    #[test]
    fn order_is_numeric() {
        assert!(version("v1.0.10") > version("v1.0.9"));
        assert!(version("v1.0.0-rc.1") < version("v1.0.0"));
    }

    #[test]
    fn directories_need_their_v_and_no_tricks() {
        assert!(Version::from_directory("v1.0").unwrap().1 < Version::from_directory("v1.0.0").unwrap().1);
        let huge = format!("v{}", "9".repeat(10_000));
        for bad in [
            "1.0",
            "v",
            "v1.",
            "v.1",
            "v1.2.3.4",
            "v01",
            "v1.-1",
            "v1-rc",
            "v1.0.0+b",
            "V1",
            "v18446744073709551616",
            &huge,
        ] {
            assert!(Version::from_directory(bad).is_err(), "{bad}");
        }
        assert!(Version::looks_like_directory("v01") && !Version::looks_like_directory("varnish"));
    }
}
