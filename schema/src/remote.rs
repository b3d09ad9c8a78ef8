//! Templates behind URLs: from where an operator allows them to be fetched. Nowhere, unless prefixes are listed.
//!
//! It must not know how anything is fetched.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The beginning of URLs: a host, or a directory on it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct UrlPrefix(String);

/// A text that is no prefix of URLs.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no beginning of URLs: write https://HOST/ or https://HOST/DIRECTORY/, without user, `?` or `#`"
)]
pub struct UrlPrefixError(String);

/// Where templates may be fetched from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct AllowedUrls(Vec<UrlPrefix>);

/// Whether a URL says what it means: no dots that lead elsewhere, nothing escaped, no user, query or fragment.
fn is_plain(url: &str) -> bool {
    let Some(rest) = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://")) else {
        return false;
    };
    let plain =
        |c: char| c.is_ascii_graphic() && !matches!(c, '@' | '?' | '#' | '%' | '\\' | '<' | '>' | '"');
    rest.chars().all(plain)
        && !rest.starts_with('/')
        && rest.split('/').all(|segment| !matches!(segment, "." | ".."))
        && !rest.trim_end_matches('/').contains("//")
}

impl FromStr for UrlPrefix {
    type Err = UrlPrefixError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let directory = text.trim_end_matches('/');
        let has_host = directory.split_once("://").is_some_and(|(_, rest)| !rest.is_empty());
        if has_host && is_plain(directory) {
            Ok(UrlPrefix(format!("{directory}/")))
        } else {
            Err(UrlPrefixError(text.escape_debug().to_string()))
        }
    }
}

impl TryFrom<String> for UrlPrefix {
    type Error = UrlPrefixError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<UrlPrefix> for String {
    fn from(prefix: UrlPrefix) -> String {
        prefix.0
    }
}

impl fmt::Display for UrlPrefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl AllowedUrls {
    /// Those that begin so.
    pub fn new(prefixes: impl IntoIterator<Item = UrlPrefix>) -> AllowedUrls {
        AllowedUrls(prefixes.into_iter().collect())
    }

    /// Whether a URL may be fetched.
    pub fn allows(&self, url: &str) -> bool {
        is_plain(url) && self.0.iter().any(|prefix| url.starts_with(&prefix.0))
    }

    /// The prefixes.
    pub fn iter(&self) -> impl Iterator<Item = &UrlPrefix> {
        self.0.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_end_at_segments_and_urls_must_be_plain() {
        let allowed =
            AllowedUrls::new(["https://a.example/t".parse().unwrap(), "http://b.example".parse().unwrap()]);
        for url in ["https://a.example/t/x.jinja", "http://b.example/x.py", "http://b.example/d/x.py"] {
            assert!(allowed.allows(url), "{url}");
        }
        for url in [
            "https://a.example/tx.jinja",
            "https://a.example/t/../x.jinja",
            "https://a.example/t/%2e%2e/x.jinja",
            "https://a.example/t/x.jinja?y",
            "http://b.example.evil/x.py",
            "http://b.example@evil/x.py",
            "http://b.example:81/x.py",
            "ftp://b.example/x.py",
            "http://b.example/a\\..\\x.py",
        ] {
            assert!(!allowed.allows(url), "{url}");
        }
        assert!(!AllowedUrls::default().allows("https://a.example/t/x.jinja"));
        for text in ["a.example", "https://", "https://u@h/", "file:///etc", "https://h/../x", "https://h/?q"]
        {
            assert!(text.parse::<UrlPrefix>().is_err(), "{text}");
        }
    }
}
