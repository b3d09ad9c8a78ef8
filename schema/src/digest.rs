//! Content digests: how one version's bytes are named.
//!
//! The exact form is in `docs/digest.md`, so that a shell can compute it. In short: SHA-256 of a listing, one
//! line a file, sorted by path.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// A SHA-256 digest, written `sha256:` and 64 lower-case hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Digest([u8; 32]);

/// A text that is no digest.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a digest: write `sha256:` and 64 hexadecimal digits")]
pub struct DigestError(String);

/// One file of a version, as far as the digest cares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct DigestEntry<'a> {
    /// The path inside the version directory, segments joined by `/`.
    pub path: &'a str,
    /// Whether Git marks it executable.
    pub executable: bool,
    /// The digest of its bytes.
    pub content: Digest,
}

impl Digest {
    /// The digest of some bytes.
    pub fn of(bytes: &[u8]) -> Digest {
        Digest(Sha256::digest(bytes).into())
    }

    /// The digest of a version: over the listing of its files, in any order given, sorted here by path bytes.
    pub fn of_version<'a>(entries: impl IntoIterator<Item = DigestEntry<'a>>) -> Digest {
        let mut entries = entries.into_iter().collect::<Vec<_>>();
        entries.sort_by(|a, b| a.path.as_bytes().cmp(b.path.as_bytes()));
        let mut hash = Sha256::new();
        hash.update(b"formwork version 1\n");
        for DigestEntry { path, executable, content } in entries {
            hash.update(if executable { b"x " } else { b"- " });
            hash.update(hex::encode(content.0));
            hash.update(b"  ");
            hash.update(path.as_bytes());
            hash.update(b"\n");
        }
        Digest(hash.finalize().into())
    }

    /// The 64 digits without the prefix.
    pub fn hex(&self) -> String {
        hex::encode(self.0)
    }

    /// The raw bytes, for stores.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// From raw bytes, as a store kept them.
    pub const fn from_bytes(bytes: [u8; 32]) -> Digest {
        Digest(bytes)
    }

    /// `sha256:1f2e3d4c5b6a`, for people; never for look-ups.
    pub fn short(&self) -> String {
        format!("sha256:{}", &self.hex()[..12])
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sha256:{}", self.hex())
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Digest {
    type Err = DigestError;

    fn from_str(text: &str) -> Result<Self, DigestError> {
        let error = || DigestError(text.chars().take(80).flat_map(char::escape_debug).collect());
        let digits = text.strip_prefix("sha256:").ok_or_else(error)?;
        let mut bytes = [0; 32];
        if digits.bytes().any(|b| b.is_ascii_uppercase()) {
            return Err(error());
        }
        hex::decode_to_slice(digits, &mut bytes).map_err(|_| error())?;
        Ok(Digest(bytes))
    }
}

impl TryFrom<String> for Digest {
    type Error = DigestError;

    fn try_from(text: String) -> Result<Self, DigestError> {
        text.parse()
    }
}

impl From<Digest> for String {
    fn from(digest: Digest) -> String {
        digest.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_form_in_the_document_is_the_form_we_compute() {
        // printf '%s\n' 'formwork version 1' "- $(printf hi | sha256sum | cut -c1-64)  a" … | sha256sum
        let content = Digest::of(b"hi");
        let listing = format!("formwork version 1\n- {0}  a\nx {0}  b/c\n", content.hex());
        let entry = |path, executable| DigestEntry { path, executable, content };
        assert_eq!(
            Digest::of_version([entry("b/c", true), entry("a", false)]),
            Digest::of(listing.as_bytes())
        );
    }

    #[test]
    fn printing_and_parsing_are_inverse() {
        let digest = Digest::of(b"");
        assert_eq!(digest.to_string().parse(), Ok(digest));
        assert!(digest.to_string().to_uppercase().parse::<Digest>().is_err());
        assert!("sha256:12".parse::<Digest>().is_err());
    }
}
