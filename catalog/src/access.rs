//! Who may see and do what: the visibility of registries, and the tokens that are given out.
//!
//! A [`Viewer`] says what may be seen and is part of every question to the catalogue. A [`Grant`] is what a token
//! stands for: a scope, perhaps limited to some registries, and the viewer that follows. Secrets are kept as their
//! SHA-256 alone: they have 256 random bits, so nobody can go through them, and a slow hash would only slow requests.
//! All grants are in memory ([`Grants`]), found by hash and compared in constant time; looking one up runs no SQL.
//!
//! This module must not know how a token travels (headers, cookies), nor what each scope is needed for.

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use schema::{Digest, RegistryName};
use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq;

use crate::snapshot::Viewer;

/// What every secret begins with, so that scanners of code and logs know one when they see it.
pub const SECRET_PREFIX: &str = "fwk_";
/// Hexadecimal digits behind the prefix: 256 bits.
const SECRET_DIGITS: usize = 64;
/// Longest name of a token, in bytes.
const LONGEST_NAME: usize = 100;

/// Who sees a registry. The operator's setting, never the registry's own.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Visibility {
    /// Anybody.
    #[default]
    Public,
    /// Whoever has a token for it. For everybody else it does not exist.
    Private,
}

impl Visibility {
    /// The lower-case word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Visibility::Public => "public",
            Visibility::Private => "private",
        }
    }
}

impl fmt::Display for Visibility {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What a token lets its holder do. Each includes those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// See private registries, and process their templates.
    Read,
    /// Have registries brought up to date.
    Write,
    /// Add, hide and remove registries, accept what was held back, purge, and give out tokens.
    Admin,
}

impl Scope {
    /// Every scope, the least first.
    pub const ALL: [Scope; 3] = [Scope::Read, Scope::Write, Scope::Admin];

    /// The lower-case word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Scope::Read => "read",
            Scope::Write => "write",
            Scope::Admin => "admin",
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A text that is none of the words expected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{given}` is not {expected}")]
pub struct WordError {
    given: String,
    expected: &'static str,
}

impl FromStr for Visibility {
    type Err = WordError;

    fn from_str(text: &str) -> Result<Self, WordError> {
        let all = [Visibility::Public, Visibility::Private];
        all.into_iter()
            .find(|one| one.as_str() == text)
            .ok_or_else(|| WordError { given: text.to_owned(), expected: "`public` or `private`" })
    }
}

impl FromStr for Scope {
    type Err = WordError;

    fn from_str(text: &str) -> Result<Self, WordError> {
        let found = Scope::ALL.into_iter().find(|one| one.as_str() == text);
        found.ok_or_else(|| WordError { given: text.to_owned(), expected: "`read`, `write` or `admin`" })
    }
}

/// The secret of a token, in clear. Shown once, to whoever asked for the token; never stored or logged.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// A new one, from the system's generator.
    ///
    /// # Errors
    /// When the system has no randomness to give.
    pub fn fresh() -> Result<Secret, getrandom::Error> {
        let mut bytes = [0; SECRET_DIGITS / 2];
        getrandom::fill(&mut bytes)?;
        Ok(Secret(format!("{SECRET_PREFIX}{}", hex::encode(bytes))))
    }

    /// The text, to be shown to whoever it is for.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{SECRET_PREFIX}…")
    }
}

/// Where a text holds what looks like a secret of ours, as a byte range: for whatever must not show one.
pub fn find_secret(text: &str) -> Option<std::ops::Range<usize>> {
    let mut from = 0;
    while let Some(at) = text[from..].find(SECRET_PREFIX) {
        let start = from + at;
        let digits = &text.as_bytes()[start + SECRET_PREFIX.len()..];
        if digits.len() >= SECRET_DIGITS && digits[..SECRET_DIGITS].iter().all(u8::is_ascii_hexdigit) {
            return Some(start..start + SECRET_PREFIX.len() + SECRET_DIGITS);
        }
        from = start + SECRET_PREFIX.len();
    }
    None
}

/// The name of a token, for people: letters, digits and signs, no controls, at most 100 bytes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TokenName(String);

impl TokenName {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for TokenName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A text that is no name of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "a token's name says what it is for: letters, digits, `-`, `_`, `.`, `@` and `/`, at most {LONGEST_NAME} of them, and not the secret"
)]
pub struct TokenNameError;

impl FromStr for TokenName {
    type Err = TokenNameError;

    fn from_str(text: &str) -> Result<Self, TokenNameError> {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.@/".contains(&byte);
        let fits = (1..=LONGEST_NAME).contains(&text.len()) && text.bytes().all(plain);
        if fits && find_secret(text).is_none() { Ok(TokenName(text.to_owned())) } else { Err(TokenNameError) }
    }
}

/// What is asked for when a token is made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewToken {
    /// What it is for. No two tokens have one name.
    pub name: TokenName,
    /// What it lets its holder do.
    pub scope: Scope,
    /// With which registries; `None`: all, and everything that is not about one registry.
    pub registries: Option<BTreeSet<RegistryName>>,
    /// Until when, in seconds since 1970, UTC; `None`: until it is revoked.
    pub expires_at: Option<i64>,
}

/// What a token stands for.
#[derive(Debug)]
pub struct Grant {
    /// The token.
    pub token: NewToken,
    /// When it was made: seconds since 1970, UTC.
    pub created_at: i64,
    hash: Digest,
    viewer: Viewer,
    /// When it was last used; 0: never. Written to the store now and then.
    last_used: AtomicI64,
    /// What of that is in the store.
    saved: AtomicI64,
}

impl Grant {
    pub(crate) fn new(token: NewToken, hash: Digest, created_at: i64, last_used: Option<i64>) -> Grant {
        let viewer = match &token.registries {
            None => Viewer::Operator,
            Some(registries) => Viewer::Granted(Arc::new(registries.clone())),
        };
        let last_used = last_used.unwrap_or(0);
        let (saved, last_used) = (AtomicI64::new(last_used), AtomicI64::new(last_used));
        Grant { token, created_at, hash, viewer, last_used, saved }
    }

    /// What its holder may see.
    pub fn viewer(&self) -> &Viewer {
        &self.viewer
    }

    /// Whether it is about this registry, whatever its scope.
    pub fn covers(&self, registry: &RegistryName) -> bool {
        self.token.registries.as_ref().is_none_or(|registries| registries.contains(registry))
    }

    /// When it was last used: seconds since 1970, UTC.
    pub fn last_used_at(&self) -> Option<i64> {
        Some(self.last_used.load(Ordering::Relaxed)).filter(|at| *at > 0)
    }

    /// A word that tells it from every other there ever was, and from which nothing follows.
    pub fn id(&self) -> String {
        self.hash.hex()[..16].to_owned()
    }

    /// Whether it is over at a time.
    pub fn is_expired(&self, now: i64) -> bool {
        self.token.expires_at.is_some_and(|end| end <= now)
    }

    /// When it was last used, if the store does not know yet.
    pub(crate) fn unsaved(&self) -> Option<i64> {
        let at = self.last_used.load(Ordering::Relaxed);
        (self.saved.load(Ordering::Relaxed) != at).then_some(at)
    }

    /// The store knows.
    pub(crate) fn saved(&self, at: i64) {
        self.saved.store(at, Ordering::Relaxed);
    }
}

/// Every token there is, in memory.
#[derive(Debug, Clone, Default)]
pub struct Grants {
    /// By the beginning of the hash. What an attacker could learn from the time a look-up takes is about the hash,
    /// and from that no secret follows.
    by_hash: HashMap<[u8; 8], Arc<Grant>>,
}

impl Grants {
    pub(crate) fn of(grants: impl IntoIterator<Item = Arc<Grant>>) -> Grants {
        Grants { by_hash: grants.into_iter().map(|grant| (beginning(&grant.hash), grant)).collect() }
    }

    /// The grant of a secret, unless it is unknown, revoked or over; notes that it was used. `now` is in seconds
    /// since 1970, UTC.
    pub fn find(&self, secret: &str, now: i64) -> Option<Arc<Grant>> {
        let hash = Digest::of(secret.as_bytes());
        let grant = self.by_hash.get(&beginning(&hash))?;
        let same = bool::from(grant.hash.as_bytes().ct_eq(hash.as_bytes()));
        (same && !grant.is_expired(now)).then(|| {
            grant.last_used.fetch_max(now, Ordering::Relaxed);
            Arc::clone(grant)
        })
    }

    /// The grant with this id ([`Grant::id`]), unless it is over.
    pub fn by_id(&self, id: &str, now: i64) -> Option<&Arc<Grant>> {
        self.iter().find(|grant| grant.id() == id && !grant.is_expired(now))
    }

    /// The grant of a name, over or not.
    pub fn named(&self, name: &TokenName) -> Option<&Arc<Grant>> {
        self.iter().find(|grant| grant.token.name == *name)
    }

    /// Every grant, by name.
    pub fn list(&self) -> Vec<Arc<Grant>> {
        let mut all = self.iter().cloned().collect::<Vec<_>>();
        all.sort_by(|a, b| a.token.name.cmp(&b.token.name));
        all
    }

    fn iter(&self) -> impl Iterator<Item = &Arc<Grant>> {
        self.by_hash.values()
    }
}

fn beginning(hash: &Digest) -> [u8; 8] {
    let mut first = [0; 8];
    first.copy_from_slice(&hash.as_bytes()[..8]);
    first
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(name: &str, expires_at: Option<i64>) -> NewToken {
        NewToken { name: name.parse().unwrap(), scope: Scope::Read, registries: None, expires_at }
    }

    #[test]
    fn secrets_are_found_by_their_hash_until_they_are_over() {
        let (first, second) = (Secret::fresh().unwrap(), Secret::fresh().unwrap());
        assert_ne!(first, second);
        let hash = Digest::of(first.reveal().as_bytes());
        let grants = Grants::of([Arc::new(Grant::new(token("ci", Some(100)), hash, 1, None))]);
        assert!(grants.find(first.reveal(), 99).is_some());
        assert!(grants.find(first.reveal(), 100).is_none(), "it ends when it says");
        assert!(grants.find(second.reveal(), 99).is_none());
        assert!(grants.find("", 99).is_none());
        assert_eq!(grants.list()[0].last_used_at(), Some(99));
    }

    #[test]
    fn secrets_are_told_from_other_texts_and_never_shown() {
        let secret = Secret::fresh().unwrap();
        assert_eq!(format!("{secret:?}"), "fwk_…");
        let text = format!("/search?q=fwk_x&token={}#", secret.reveal());
        assert_eq!(&text[find_secret(&text).unwrap()], secret.reveal());
        assert_eq!(find_secret("fwk_ is what they begin with"), None);
        assert!(secret.reveal().parse::<TokenName>().is_err(), "a secret is no name");
    }

    #[test]
    fn scopes_include_those_before_them() {
        assert!(Scope::Admin > Scope::Write && Scope::Write > Scope::Read);
        assert_eq!("admin".parse(), Ok(Scope::Admin));
        assert!("root".parse::<Scope>().is_err());
        assert_eq!("private".parse(), Ok(Visibility::Private));
    }
}
