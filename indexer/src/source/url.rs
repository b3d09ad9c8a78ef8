//! Git URLs, taken apart so strictly that every later reader takes them apart the same way.
//!
//! A host that one reader sees and another connects to is how address checks are passed by; so what readers are known
//! to differ about (white space, backslashes, percent signs in hosts) is refused, not interpreted.

use std::fmt;
use std::net::IpAddr;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::address::literal_address_of;
use super::{Credentials, Secret, SourceError};

/// How a repository is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Scheme {
    /// HTTP over TLS.
    Https,
    /// HTTP in the clear.
    Http,
    /// The ssh program.
    Ssh,
    /// A repository on this machine, read by the git program.
    File,
}

impl fmt::Display for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Scheme::Https => "https",
            Scheme::Http => "http",
            Scheme::Ssh => "ssh",
            Scheme::File => "file",
        })
    }
}

/// A Git URL of an allowed scheme, without credentials: it can be shown, logged and stored.
///
/// The user of an ssh URL is part of it (`git@`), for it says which service is meant, not who asks.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GitUrl {
    scheme: Scheme,
    user: Option<String>,
    /// A name, an IPv4 address, or an IPv6 address in brackets; in lower case. Empty for `file`.
    host: String,
    port: Option<u16>,
    /// As written. For `user@host:path`, which is relative to the user's home, it has no slash in front.
    path: String,
}

/// `git@host:path`, which Git reads as ssh.
pub(super) fn is_scp_like(text: &str) -> bool {
    let Some((host, path)) = text.split_once(':') else { return false };
    host.contains('@') && !host.contains('/') && !path.is_empty()
}

impl GitUrl {
    /// Takes a URL apart; what it holds before the `@` of an http URL comes back beside it.
    pub(super) fn parse(text: &str) -> Result<(GitUrl, Option<Credentials>), SourceError> {
        if text.chars().any(char::is_control) {
            return Err(SourceError::Character);
        }
        let (scheme, rest) = match text.split_once("://") {
            Some((scheme, rest)) => (scheme_of(scheme)?, rest),
            None if text.contains("::") => {
                return Err(SourceError::Scheme(text.split("::").next().unwrap_or_default().to_owned()));
            }
            None if differs(text) => return Err(SourceError::Character),
            None => return Ok((parse_scp(text)?, None)),
        };
        if differs(rest) {
            return Err(SourceError::Character);
        }
        if rest.contains(['?', '#']) {
            return Err(SourceError::Query);
        }
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let (user, host) = match authority.rsplit_once('@') {
            Some((user, host)) => (Some(user), host),
            None => (None, authority),
        };
        if path.trim_matches('/').is_empty() {
            return Err(SourceError::Path);
        }
        let path = path.to_owned();
        if scheme == Scheme::File {
            return match (user, host) {
                (None, "" | "localhost") => {
                    Ok((GitUrl { scheme, user: None, host: String::new(), port: None, path }, None))
                }
                _ => Err(SourceError::Host(host.to_owned())),
            };
        }
        let (host, port) = host_and_port(host)?;
        let (user, credentials) = match (scheme, user) {
            (_, None) => (None, None),
            (Scheme::Ssh, Some(user)) => (Some(ssh_user(user)?), None),
            (_, Some(user)) => (None, Some(credentials(user))),
        };
        Ok((GitUrl { scheme, user, host, port, path }, credentials))
    }

    /// How it is reached.
    pub fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// The host, an IPv6 address in brackets; empty for `file`.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The host without brackets, as resolvers and the ssh program take it.
    pub(crate) fn bare_host(&self) -> &str {
        self.host.trim_start_matches('[').trim_end_matches(']')
    }

    /// The port, if it is not the scheme's own.
    pub fn port(&self) -> Option<u16> {
        self.port
    }

    /// Who to be on the other side, for ssh.
    pub(crate) fn user(&self) -> Option<&str> {
        self.user.as_deref()
    }

    /// The path as written.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The directory a `file` URL names.
    pub(crate) fn local_path(&self) -> Option<PathBuf> {
        (self.scheme == Scheme::File).then(|| PathBuf::from(&self.path))
    }

    /// The address the host is, if it is one in any of the forms programs read: `127.0.0.1`, `2130706433`,
    /// `0x7f.1`, `[::1]`.
    pub(crate) fn literal_address(&self) -> Option<IpAddr> {
        // The WHATWG's reading of a host, which is what our client does with an http URL.
        let url = reqwest::Url::parse(&format!("http://{}/", self.host)).ok()?;
        literal_address_of(&url)
    }
}

/// Whether readers of URLs are known to differ about a text.
fn differs(text: &str) -> bool {
    text.contains(|c: char| c.is_whitespace() || c == '\\')
}

fn scheme_of(text: &str) -> Result<Scheme, SourceError> {
    match text.to_ascii_lowercase().as_str() {
        "https" => Ok(Scheme::Https),
        "http" => Ok(Scheme::Http),
        "ssh" => Ok(Scheme::Ssh),
        "file" => Ok(Scheme::File),
        _ => Err(SourceError::Scheme(text.to_owned())),
    }
}

/// `user@host:path`.
fn parse_scp(text: &str) -> Result<GitUrl, SourceError> {
    let (authority, path) = text.split_once(':').ok_or(SourceError::Path)?;
    let (user, host) = authority.rsplit_once('@').ok_or_else(|| SourceError::Host(authority.to_owned()))?;
    if path.starts_with('-') {
        return Err(SourceError::Dash);
    }
    if path.is_empty() {
        return Err(SourceError::Path);
    }
    let (host, port) = host_and_port(host)?;
    Ok(GitUrl { scheme: Scheme::Ssh, user: Some(ssh_user(user)?), host, port, path: path.to_owned() })
}

fn ssh_user(user: &str) -> Result<String, SourceError> {
    match user {
        _ if user.contains(':') => Err(SourceError::SshPassword),
        _ if user.starts_with('-') => Err(SourceError::Dash),
        _ if user.is_empty() || !user.bytes().all(|b| b.is_ascii_alphanumeric() || b"._+-".contains(&b)) => {
            Err(SourceError::User)
        }
        _ => Ok(user.to_owned()),
    }
}

/// `name:password`, or a token in place of a name, percent-encoded.
fn credentials(user: &str) -> Credentials {
    let decode = |text: &str| percent_encoding::percent_decode_str(text).decode_utf8_lossy().into_owned();
    let (name, password) = user.split_once(':').unwrap_or((user, ""));
    Credentials { username: decode(name), password: Secret::new(decode(password)) }
}

fn host_and_port(text: &str) -> Result<(String, Option<u16>), SourceError> {
    if text.starts_with('-') {
        return Err(SourceError::Dash);
    }
    let wrong = || SourceError::Host(text.to_owned());
    let (host, port) = if let Some(rest) = text.strip_prefix('[') {
        let (address, port) = rest.split_once(']').ok_or_else(wrong)?;
        let address = address.parse::<std::net::Ipv6Addr>().map_err(|_| wrong())?;
        let port = match port {
            "" => None,
            port => Some(port.strip_prefix(':').ok_or_else(wrong)?),
        };
        (format!("[{address}]"), port)
    } else {
        let (host, port) = text.split_once(':').map_or((text, None), |(host, port)| (host, Some(port)));
        let fine = |b: u8| b.is_ascii_alphanumeric() || b"._-".contains(&b);
        // One dot at the end is the root of names; it is the same host without it.
        let host = host.strip_suffix('.').unwrap_or(host);
        let labels = !host.is_empty() && host.len() <= 253 && host.split('.').all(|label| !label.is_empty());
        if !labels || !host.bytes().all(fine) {
            return Err(wrong());
        }
        (host.to_ascii_lowercase(), port)
    };
    let port = match port {
        None | Some("") => None,
        Some(port) => match port.parse::<u16>() {
            Ok(number @ 1..) if port.bytes().all(|b| b.is_ascii_digit()) => Some(number),
            _ => return Err(SourceError::Port(port.to_owned())),
        },
    };
    Ok((host, port))
}

impl fmt::Display for GitUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let user = self.user.as_ref().map(|user| format!("{user}@")).unwrap_or_default();
        if self.scheme == Scheme::Ssh && !self.path.starts_with('/') {
            return write!(f, "{user}{}:{}", self.host, self.path);
        }
        let port = self.port.map(|port| format!(":{port}")).unwrap_or_default();
        write!(f, "{}://{user}{}{port}{}", self.scheme, self.host, self.path)
    }
}

impl fmt::Debug for GitUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
