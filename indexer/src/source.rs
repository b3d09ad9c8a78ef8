//! Where a registry comes from: a Git URL, or a directory; and which branch or tag of it is read.
//!
//! A source is parsed once, at the edge, and holds no secret: credentials that were written into a URL are taken out
//! of it at once and handed to the caller beside it. This module must not know how a repository is fetched.

pub mod address;
mod url;

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::connection::{Credentials, Secret};
pub use address::Addresses;
pub use url::{GitUrl, Scheme};

/// A place registries are read from.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Source {
    /// A Git repository.
    Git(GitUrl),
    /// A directory on this machine, read as it is.
    Directory(PathBuf),
}

/// Why a text is not a source, or not one that is allowed here.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SourceError {
    /// No text.
    #[error("the source is empty: give a Git URL or a directory")]
    Empty,
    /// A scheme that is not fetched, such as `ext::`, which runs commands.
    #[error("`{0}` is not a scheme registries are fetched by; use https, http, ssh or file, or a directory")]
    Scheme(String),
    /// A URL that the transport could read as an option.
    #[error("the user, host or path of the URL begins with a dash, which a program could take for an option")]
    Dash,
    /// Control characters, white space, backslashes: what different readers of URLs read differently.
    #[error("the source contains white space, a backslash or control characters")]
    Character,
    /// No host, or one that is none.
    #[error("`{0}` is not a host name or address")]
    Host(String),
    /// A port that is none.
    #[error("`{0}` is not a port")]
    Port(String),
    /// A user name with characters that have a meaning to programs.
    #[error("the user name of the URL has characters other than letters, digits, `.`, `_`, `+` and `-`")]
    User,
    /// No path.
    #[error("the URL has no path to a repository")]
    Path,
    /// `?` or `#`.
    #[error("a repository's URL has no `?` or `#`")]
    Query,
    /// A password in an ssh URL.
    #[error("ssh takes a key, not a password: remove it from the URL and give `ssh-key`")]
    SshPassword,
    /// A password where none may be written.
    #[error(
        "the URL holds credentials; they do not belong in it: give `username`, and `password-file` or `password-env`"
    )]
    Credentials,
    /// A directory that is not there.
    #[error("`{0}` is not a directory")]
    NoDirectory(String),
    /// A scheme, or a directory, that only who starts the server may give.
    #[error(
        "only https and ssh URLs can be registered over the API; `{0}` is for the server's own configuration"
    )]
    NotForApi(String),
    /// An address that is not public.
    #[error("{0}")]
    Address(#[from] address::Forbidden),
    /// A branch or tag name that Git does not allow.
    #[error("`{0}` is not the name of a branch or tag")]
    Revision(String),
}

impl Source {
    /// Reads a source that holds no credentials; directories are made absolute against `base`.
    ///
    /// # Errors
    /// See [`SourceError`].
    pub fn parse(text: &str, base: &Path) -> Result<Source, SourceError> {
        match Source::parse_with_credentials(text, base)? {
            (source, None) => Ok(source),
            (_, Some(_)) => Err(SourceError::Credentials),
        }
    }

    /// Reads a source as flags and files write it: what a URL holds before its `@` comes back as credentials.
    ///
    /// # Errors
    /// See [`SourceError`].
    pub fn parse_with_credentials(
        text: &str,
        base: &Path,
    ) -> Result<(Source, Option<Credentials>), SourceError> {
        if text.is_empty() {
            return Err(SourceError::Empty);
        }
        if text.contains("://") || text.contains("::") || url::is_scp_like(text) {
            let (url, credentials) = GitUrl::parse(text)?;
            return Ok((Source::Git(url), credentials));
        }
        if text.chars().any(char::is_control) {
            return Err(SourceError::Character);
        }
        let path = base.join(text);
        match path.canonicalize() {
            Ok(path) if path.is_dir() => Ok((Source::Directory(path), None)),
            _ => Err(SourceError::NoDirectory(text.to_owned())),
        }
    }

    /// Reads a source that somebody registers over the API: https and ssh only, without credentials, and no address
    /// that `addresses` forbids. A host that is a name is looked up and checked when it is connected to.
    ///
    /// # Errors
    /// See [`SourceError`].
    pub fn parse_for_admin(text: &str, addresses: Addresses) -> Result<Source, SourceError> {
        if !text.contains("://") && !text.contains("::") && !url::is_scp_like(text) {
            return Err(SourceError::NotForApi("a directory".to_owned()));
        }
        let (url, credentials) = GitUrl::parse(text)?;
        if credentials.is_some() {
            return Err(SourceError::Credentials);
        }
        match url.scheme() {
            Scheme::Https | Scheme::Ssh => {}
            // On a machine of one's own, as tests are, there is no certificate either.
            Scheme::Http if addresses == Addresses::Any => {}
            scheme @ (Scheme::Http | Scheme::File) => {
                return Err(SourceError::NotForApi(format!("{scheme}://")));
            }
        }
        if let Some(address) = url.literal_address() {
            addresses.check(address)?;
        }
        Ok(Source::Git(url))
    }
}

impl Source {
    /// Whether what is sent to it can be read on the way.
    pub fn is_in_the_clear(&self) -> bool {
        matches!(self, Source::Git(url) if url.scheme() == Scheme::Http)
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

/// The branch or tag of a repository that is read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Revision {
    /// Whatever the repository's `HEAD` names: its default branch.
    #[default]
    Default,
    /// A branch.
    Branch(RevisionName),
    /// A tag.
    Tag(RevisionName),
}

/// The name of a branch or tag, by the rules of git-check-ref-format(1).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RevisionName(String);

impl Revision {
    /// A branch by its name.
    ///
    /// # Errors
    /// When Git would not allow the name.
    pub fn branch(name: &str) -> Result<Revision, SourceError> {
        name.parse().map(Revision::Branch)
    }

    /// A tag by its name.
    ///
    /// # Errors
    /// When Git would not allow the name.
    pub fn tag(name: &str) -> Result<Revision, SourceError> {
        name.parse().map(Revision::Tag)
    }

    /// The name, if one was asked for.
    pub fn name(&self) -> Option<&str> {
        match self {
            Revision::Default => None,
            Revision::Branch(name) | Revision::Tag(name) => Some(&name.0),
        }
    }

    /// The reference of the remote repository that it is.
    pub(crate) fn reference(&self) -> String {
        match self {
            Revision::Default => "HEAD".to_owned(),
            Revision::Branch(name) => format!("refs/heads/{}", name.0),
            Revision::Tag(name) => format!("refs/tags/{}", name.0),
        }
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Revision::Default => f.write_str("default branch"),
            Revision::Branch(name) => write!(f, "branch {}", name.0),
            Revision::Tag(name) => write!(f, "tag {}", name.0),
        }
    }
}

impl FromStr for RevisionName {
    type Err = SourceError;

    fn from_str(text: &str) -> Result<Self, SourceError> {
        let segment = |part: &str| !part.is_empty() && !part.starts_with('.') && !part.ends_with(".lock");
        let fine = text.len() <= 250
            && text.split('/').all(segment)
            && !text.starts_with('-')
            && !text.ends_with('.')
            && text != "@"
            && !text.contains("..")
            && !text.contains("@{")
            && !text.contains(|c: char| c.is_control() || " ~^:?*[\\".contains(c));
        if fine { Ok(RevisionName(text.to_owned())) } else { Err(SourceError::Revision(text.to_owned())) }
    }
}

impl TryFrom<String> for RevisionName {
    type Error = SourceError;

    fn try_from(text: String) -> Result<Self, SourceError> {
        text.parse()
    }
}

impl From<RevisionName> for String {
    fn from(name: RevisionName) -> String {
        name.0
    }
}

#[cfg(test)]
mod tests;
