//! Secrets of webhooks, and whether a delivery was made with one. Comparisons take the same time wherever they differ.

use std::fmt;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// The shortest secret that is taken, in bytes: a host's form takes anything, and what is short is guessed offline from
/// one delivery.
const SHORTEST: usize = 16;

/// A secret shared with a host of repositories. Never shown or logged.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Vec<u8>);

/// Why a text is no secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SecretError {
    /// Nothing.
    #[error("the secret is empty")]
    Empty,
    /// Fewer than 16 bytes.
    #[error(
        "the secret is shorter than {SHORTEST} bytes and could be guessed; make one with `openssl rand -hex 32`"
    )]
    Short,
}

impl Secret {
    /// A secret as a file or a variable holds it; a line break at its end does not belong to it.
    ///
    /// # Errors
    /// See [`SecretError`].
    pub fn new(text: &str) -> Result<Secret, SecretError> {
        match text.trim_end_matches(['\r', '\n']) {
            "" => Err(SecretError::Empty),
            text if text.len() < SHORTEST => Err(SecretError::Short),
            text => Ok(Secret(text.as_bytes().to_vec())),
        }
    }

    /// Whether `tag` is the HMAC-SHA256 of `body` under this secret.
    pub(super) fn signed(&self, body: &[u8], tag: &[u8; 32]) -> bool {
        mac(&self.0, body).verify_slice(tag).is_ok()
    }

    /// Whether `token` is this secret. Both are hashed first, so that not even the length shows in the time.
    pub(super) fn is(&self, token: &[u8]) -> bool {
        const PURPOSE: &[u8] = b"formwork webhook token";
        let expected = mac(PURPOSE, &self.0).finalize().into_bytes();
        mac(PURPOSE, token).verify_slice(&expected).is_ok()
    }
}

fn mac(key: &[u8], text: &[u8]) -> Hmac<Sha256> {
    let mut mac = <Hmac<Sha256> as KeyInit>::new_from_slice(key).expect("HMAC takes keys of any length");
    mac.update(text);
    mac
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of GitHub's page on validating deliveries.
    #[test]
    fn the_documented_signature_is_taken() {
        let secret = Secret::new("It's a Secret to Everybody\n").unwrap();
        let mut tag = [0; 32];
        hex::decode_to_slice("757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17", &mut tag)
            .unwrap();
        assert!(secret.signed(b"Hello, World!", &tag));
        assert!(!secret.signed(b"Hello, World?", &tag));
        tag[31] ^= 1;
        assert!(!secret.signed(b"Hello, World!", &tag));
    }

    #[test]
    fn tokens_are_whole() {
        let secret = Secret::new("0123456789abcdef").unwrap();
        assert!(secret.is(b"0123456789abcdef"));
        for other in ["", "0123456789abcde", "0123456789abcdefg", "0123456789abcdeF"] {
            assert!(!secret.is(other.as_bytes()), "{other}");
        }
        assert_eq!(Secret::new("short"), Err(SecretError::Short));
        assert_eq!(Secret::new("\n"), Err(SecretError::Empty));
        assert_eq!(format!("{secret:?}"), "Secret(…)");
    }
}
