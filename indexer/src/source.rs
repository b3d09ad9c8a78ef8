//! Where a registry comes from: a Git URL, or a directory.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A place registries are read from.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Source {
    /// A Git repository, by any URL Git knows of the allowed schemes.
    Git(GitUrl),
    /// A directory on this machine, read as it is.
    Directory(PathBuf),
}

/// A Git URL of an allowed scheme. Its credentials are never shown or logged.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GitUrl(String);

/// Why a text is not a source.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SourceError {
    /// No text.
    #[error("the source is empty: give a Git URL or a directory")]
    Empty,
    /// A scheme that is not fetched, such as `ext::`, which runs commands.
    #[error("`{0}` is not a scheme registries are fetched by; use https, http, ssh or file, or a directory")]
    Scheme(String),
    /// A URL that the transport could read as an option.
    #[error("the host or path of the URL begins with a dash")]
    Dash,
    /// Control characters.
    #[error("the source contains control characters")]
    Control,
    /// A directory that is not there.
    #[error("`{0}` is not a directory")]
    NoDirectory(String),
}

/// Schemes that are fetched. Not `git` (no integrity) and nothing that runs a helper program.
const SCHEMES: [&str; 4] = ["https", "http", "ssh", "file"];

impl Source {
    /// Reads a source as flags and files write it; directories are made absolute against `base`.
    ///
    /// # Errors
    /// See [`SourceError`].
    pub fn parse(text: &str, base: &Path) -> Result<Source, SourceError> {
        if text.is_empty() {
            return Err(SourceError::Empty);
        }
        if text.chars().any(char::is_control) {
            return Err(SourceError::Control);
        }
        if text.contains("://") || text.contains("::") || looks_like_scp(text) {
            return Ok(Source::Git(text.parse()?));
        }
        let path = base.join(text);
        match path.canonicalize() {
            Ok(path) if path.is_dir() => Ok(Source::Directory(path)),
            _ => Err(SourceError::NoDirectory(text.to_owned())),
        }
    }
}

/// `git@host:path`, which Git reads as ssh.
fn looks_like_scp(text: &str) -> bool {
    let Some((host, path)) = text.split_once(':') else { return false };
    host.contains('@') && !host.contains('/') && !path.is_empty()
}

impl GitUrl {
    /// The URL as Git takes it, credentials included. For the transport only.
    pub(crate) fn as_written(&self) -> &str {
        &self.0
    }

    /// A text about this URL, such as a transport's error, without the URL's credentials.
    pub(crate) fn redact(&self, text: &str) -> String {
        let rest = self.0.split_once("://").map_or("", |(_, rest)| rest);
        let authority = &rest[..rest.find('/').unwrap_or(rest.len())];
        match authority.rsplit_once('@') {
            Some((credentials, _)) => text.replace(&format!("{credentials}@"), ""),
            None => text.to_owned(),
        }
    }

    /// The directory a `file` URL names.
    pub(crate) fn local_path(&self) -> Option<PathBuf> {
        self.0.strip_prefix("file://").map(PathBuf::from)
    }
}

impl FromStr for GitUrl {
    type Err = SourceError;

    fn from_str(text: &str) -> Result<Self, SourceError> {
        let rest = match text.split_once("://") {
            Some((scheme, rest)) if SCHEMES.contains(&scheme.to_ascii_lowercase().as_str()) => rest,
            Some((scheme, _)) => return Err(SourceError::Scheme(scheme.to_owned())),
            None if text.contains("::") => {
                return Err(SourceError::Scheme(text.split("::").next().unwrap_or_default().to_owned()));
            }
            None => text,
        };
        let host = rest.rsplit_once('@').map_or(rest, |(_, host)| host);
        if rest.starts_with('-')
            || host.starts_with('-')
            || host.split_once(':').is_some_and(|(_, path)| path.starts_with('-'))
        {
            return Err(SourceError::Dash);
        }
        Ok(GitUrl(text.to_owned()))
    }
}

impl fmt::Display for GitUrl {
    /// Without credentials, so that it can be shown and logged.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.split_once("://") {
            Some((scheme, rest)) => {
                let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
                let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
                write!(f, "{scheme}://{host}{path}")
            }
            None => f.write_str(&self.0),
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Git(url) => fmt::Display::fmt(url, f),
            Source::Directory(path) => fmt::Display::fmt(&path.display(), f),
        }
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Debug for GitUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Attack row 15: nothing that runs a program or reads as an option gets to the transport.
    #[test]
    fn only_known_schemes_are_fetched() {
        let parse = |text: &str| Source::parse(text, Path::new("/"));
        for good in [
            "https://example.org/a.git",
            "http://[::1]:80/a",
            "ssh://git@host/a",
            "file:///tmp/a.git",
            "git@host:a/b.git",
        ] {
            assert!(matches!(parse(good), Ok(Source::Git(_))), "{good}");
        }
        for bad in [
            "ext::sh -c id",
            "git://host/a",
            "https+x://a",
            "ssh://-oProxyCommand=x/a",
            "git@-oProxyCommand=x:a",
            "git@host:-x",
            "a\nb",
            "",
        ] {
            assert!(parse(bad).is_err(), "{bad}");
        }
        assert!(matches!(parse("tmp"), Ok(Source::Directory(_))));
        assert!(matches!(parse("no/such/place"), Err(SourceError::NoDirectory(_))));
    }

    #[test]
    fn credentials_are_never_shown() {
        let source = Source::parse("https://me:secret@example.org/a.git", Path::new("/")).unwrap();
        assert_eq!(source.to_string(), "https://example.org/a.git");
        assert!(!format!("{source:?}").contains("secret"));
        let Source::Git(url) = source else { unreachable!("it is a URL") };
        let said = url.redact("no answer from https://me:secret@example.org/a.git/info/refs");
        assert_eq!(said, "no answer from https://example.org/a.git/info/refs");
    }
}
