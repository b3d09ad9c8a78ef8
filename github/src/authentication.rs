//! Who asks: nobody, the owner of a token, or a GitHub App, whose tokens are good for an hour.

use std::fmt;
use std::sync::Arc;

use ring::signature::RsaKeyPair;
use rustls_pki_types::PrivateKeyDer;
use rustls_pki_types::pem::PemObject;

use crate::jwt;

/// A token of GitHub's. Never shown or logged.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl Token {
    /// A token as a file or a variable holds it.
    pub fn new(text: impl Into<String>) -> Token {
        Token(text.into())
    }

    /// The token, for the header of a request or the password of a fetch.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

/// The private key of a GitHub App. Never shown or logged.
#[derive(Clone)]
pub struct PrivateKey(Arc<RsaKeyPair>);

/// Why a text is no private key of a GitHub App.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PrivateKeyError {
    /// No PEM with a private key in it.
    #[error("no private key in PEM can be read: {0}; download one from the settings of the GitHub App")]
    Pem(String),
    /// A key of another kind, or of another size.
    #[error("the key is no RSA key that can sign ({0}); GitHub Apps have RSA keys of 2048 bits")]
    Rsa(String),
}

impl PrivateKey {
    /// Reads a key in PEM: PKCS#1, as GitHub gives it, or PKCS#8.
    ///
    /// # Errors
    /// See [`PrivateKeyError`].
    pub fn from_pem(pem: &str) -> Result<PrivateKey, PrivateKeyError> {
        let key = PrivateKeyDer::from_pem_slice(pem.as_bytes());
        let pair = match key.map_err(|error| PrivateKeyError::Pem(error.to_string()))? {
            PrivateKeyDer::Pkcs1(der) => RsaKeyPair::from_der(der.secret_pkcs1_der()),
            PrivateKeyDer::Pkcs8(der) => RsaKeyPair::from_pkcs8(der.secret_pkcs8_der()),
            _ => return Err(PrivateKeyError::Rsa("it is an elliptic curve key".to_owned())),
        };
        Ok(PrivateKey(Arc::new(pair.map_err(|error| PrivateKeyError::Rsa(error.to_string()))?)))
    }
}

impl fmt::Debug for PrivateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PrivateKey(…)")
    }
}

/// A GitHub App, installed once.
#[derive(Debug, Clone)]
pub struct App {
    /// Its client id, or its number.
    pub id: String,
    /// What it signs with.
    pub key: PrivateKey,
    /// The number of its installation at an organisation or a user.
    pub installation: u64,
}

impl App {
    /// What it shows to be given a token, at a time (seconds since 1970).
    pub(crate) fn jwt(&self, now: i64) -> Option<Token> {
        // It fails for keys too small to sign, which are refused when they are read.
        jwt::sign(&self.key.0, &self.id, now).ok().map(Token)
    }
}

/// Who asks.
#[derive(Debug, Clone, Default)]
pub enum Credentials {
    /// Anybody: public repositories, 60 requests an hour.
    #[default]
    None,
    /// The owner of a token.
    Token(Token),
    /// A GitHub App.
    App(App),
}

/// A token that was given for a while.
#[derive(Debug, Clone)]
pub(crate) struct Lent {
    pub(crate) token: Token,
    /// When it ends, in seconds since 1970.
    pub(crate) until: i64,
}

/// How long before its end a token is no longer used, in seconds: a listing and a fetch should get to their end with it.
const MARGIN: i64 = 5 * 60;

impl Lent {
    /// Whether it may be used at `now`.
    pub(crate) fn is_good(&self, now: i64) -> bool {
        now + MARGIN < self.until
    }
}
