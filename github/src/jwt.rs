//! The token a GitHub App shows to say who it is: a JWT signed with RS256, good for some minutes.
//!
//! Signed with ring, which TLS has brought along: octocrab would take aws-lc, or an RSA with an open timing advisory.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::rand::SystemRandom;
use ring::signature::{RSA_PKCS1_SHA256, RsaKeyPair};
use serde::Serialize;

/// How long a token says it is good for, in seconds. GitHub takes ten minutes at most, by its own clock.
const LIFE: i64 = 9 * 60;

/// How far back a token says it was made, in seconds: GitHub's clock may be behind ours.
const DRIFT: i64 = 60;

#[derive(Serialize)]
struct Claims<'a> {
    iat: i64,
    exp: i64,
    iss: &'a str,
}

/// A token of the app `issuer`, made at `now` (seconds since 1970).
pub(crate) fn sign(key: &RsaKeyPair, issuer: &str, now: i64) -> Result<String, ring::error::Unspecified> {
    let claims = Claims { iat: now - DRIFT, exp: now + LIFE, iss: issuer };
    let claims = serde_json::to_vec(&claims).expect("claims are plain data");
    let header = URL_SAFE_NO_PAD.encode(br#"{"alg":"RS256","typ":"JWT"}"#);
    let signed = format!("{header}.{}", URL_SAFE_NO_PAD.encode(claims));
    let mut signature = vec![0; key.public().modulus_len()];
    key.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), signed.as_bytes(), &mut signature)?;
    Ok(format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature)))
}
