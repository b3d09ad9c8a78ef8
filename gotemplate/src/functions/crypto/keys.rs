//! Private keys: made, written and read as Go's x509 package does.

use num_bigint::BigUint;
use rsa::pkcs1::{DecodeRsaPrivateKey, EncodeRsaPrivateKey};
use rsa::pkcs8::DecodePrivateKey;
use rsa::signature::{SignatureEncoding, Signer};
use rsa::traits::PublicKeyParts;
use sha2::Sha256;

use crate::context::{Context, Failure};
use crate::value::Value;

use super::super::text;
use super::der;

type Answer<'a> = Result<Value<'a>, Failure>;

/// The caller's source of chance, in the form the key generators ask for.
struct Chance<'c, 'r, 'a>(&'c mut Context<'r, 'a>);

impl rsa::rand_core::TryRng for Chance<'_, '_, '_> {
    type Error = std::convert::Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Self::Error> {
        let mut bytes = [0; 4];
        self.0.random(&mut bytes);
        Ok(u32::from_le_bytes(bytes))
    }

    fn try_next_u64(&mut self) -> Result<u64, Self::Error> {
        let mut bytes = [0; 8];
        self.0.random(&mut bytes);
        Ok(u64::from_le_bytes(bytes))
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Self::Error> {
        self.0.random(bytes);
        Ok(())
    }
}

impl rsa::rand_core::TryCryptoRng for Chance<'_, '_, '_> {}

/// A private key.
pub(super) enum Key {
    Rsa(Box<rsa::RsaPrivateKey>),
    Ecdsa(Box<p256::ecdsa::SigningKey>),
    Ed25519(Box<ed25519_dalek::SigningKey>),
}

const RSA_ENCRYPTION: &[u32] = &[1, 2, 840, 113_549, 1, 1, 1];
const SHA256_WITH_RSA: &[u32] = &[1, 2, 840, 113_549, 1, 1, 11];
const EC_PUBLIC_KEY: &[u32] = &[1, 2, 840, 10_045, 2, 1];
const P256: &[u32] = &[1, 2, 840, 10_045, 3, 1, 7];
const ECDSA_WITH_SHA256: &[u32] = &[1, 2, 840, 10_045, 4, 3, 2];
const ED25519: &[u32] = &[1, 3, 101, 112];
const NULL: &[u8] = &[5, 0];

pub(super) fn new_rsa(context: &mut Context<'_, '_>, bits: usize) -> Result<Key, Failure> {
    rsa::RsaPrivateKey::new(&mut Chance(context), bits)
        .map(|key| Key::Rsa(Box::new(key)))
        .map_err(|error| Failure::message(format!("error generating rsa key: {error}")))
}

fn new_ecdsa(context: &mut Context<'_, '_>) -> Key {
    loop {
        let mut bytes = [0; 32];
        context.random(&mut bytes);
        // All but one in 2^32 are below the group's order.
        if let Ok(key) = p256::ecdsa::SigningKey::from_slice(&bytes) {
            return Key::Ecdsa(Box::new(key));
        }
    }
}

fn new_ed25519(context: &mut Context<'_, '_>) -> Key {
    let mut bytes = [0; 32];
    context.random(&mut bytes);
    Key::Ed25519(Box::new(ed25519_dalek::SigningKey::from_bytes(&bytes)))
}

fn ec_point(key: &p256::ecdsa::SigningKey) -> Vec<u8> {
    key.verifying_key().to_sec1_point(false).as_bytes().to_vec()
}

impl Key {
    /// In PEM: RSA as PKCS #1, EC as SEC 1, Ed25519 as PKCS #8.
    pub(super) fn pem(&self) -> Result<String, Failure> {
        Ok(match self {
            Self::Rsa(key) => {
                let der = key.to_pkcs1_der().map_err(|error| Failure::message(error.to_string()))?;
                der::pem("RSA PRIVATE KEY", der.as_bytes())
            }
            Self::Ecdsa(key) => {
                let body = der::sequence(&[
                    &der::integer(&[1]),
                    &der::element(der::OCTET_STRING, &key.to_bytes()),
                    &der::element(0xA0, &der::oid(P256)),
                    &der::element(0xA1, &der::bits(&ec_point(key))),
                ]);
                der::pem("EC PRIVATE KEY", &body)
            }
            Self::Ed25519(key) => {
                let inner = der::element(der::OCTET_STRING, &key.to_bytes());
                let body = der::sequence(&[
                    &der::integer(&[]),
                    &der::sequence(&[&der::oid(ED25519)]),
                    &der::element(der::OCTET_STRING, &inner),
                ]);
                der::pem("PRIVATE KEY", &body)
            }
        })
    }

    /// Reads a key in PEM, with sprig's complaints.
    pub(super) fn from_pem(text: &[u8]) -> Result<Self, String> {
        let (label, bytes) = der::unpem(text).ok_or("no PEM data in input")?;
        if label == "PRIVATE KEY" {
            if let Ok(key) = rsa::RsaPrivateKey::from_pkcs8_der(&bytes) {
                return Ok(Self::Rsa(Box::new(key)));
            }
            if let Ok(key) = p256::SecretKey::from_pkcs8_der(&bytes) {
                return Ok(Self::Ecdsa(Box::new(key.into())));
            }
            return ed25519_from_pkcs8(&bytes)
                .map(|key| Self::Ed25519(Box::new(key)))
                .ok_or_else(|| "decoding PEM as PKCS#8: the key is of no known kind".to_owned());
        }
        let Some(kind) = label.strip_suffix(" PRIVATE KEY") else {
            return Err(format!("no private key data in PEM block of type {label}"));
        };
        match kind {
            "RSA" => rsa::RsaPrivateKey::from_pkcs1_der(&bytes)
                .map(|key| Self::Rsa(Box::new(key)))
                .map_err(|error| format!("parsing RSA private key from PEM: {error}")),
            "EC" => p256::SecretKey::from_sec1_der(&bytes)
                .map(|key| Self::Ecdsa(Box::new(key.into())))
                .map_err(|error| format!("parsing EC private key from PEM: {error}")),
            _ => Err(format!("invalid private key type {label}")),
        }
    }

    /// The public key as certificates hold it, and its bits alone.
    pub(super) fn public(&self) -> (Vec<u8>, Vec<u8>) {
        let (algorithm, bits) = match self {
            Self::Rsa(key) => {
                let public = key.to_public_key();
                let bits =
                    der::sequence(&[&der::integer(&public.n_bytes()), &der::integer(&public.e_bytes())]);
                (der::sequence(&[&der::oid(RSA_ENCRYPTION), NULL]), bits)
            }
            Self::Ecdsa(key) => (der::sequence(&[&der::oid(EC_PUBLIC_KEY), &der::oid(P256)]), ec_point(key)),
            Self::Ed25519(key) => {
                (der::sequence(&[&der::oid(ED25519)]), key.verifying_key().to_bytes().to_vec())
            }
        };
        (der::sequence(&[&algorithm, &der::bits(&bits)]), bits)
    }

    /// The name of the algorithm this key signs with.
    pub(super) fn algorithm(&self) -> Vec<u8> {
        match self {
            Self::Rsa(_) => der::sequence(&[&der::oid(SHA256_WITH_RSA), NULL]),
            Self::Ecdsa(_) => der::sequence(&[&der::oid(ECDSA_WITH_SHA256)]),
            Self::Ed25519(_) => der::sequence(&[&der::oid(ED25519)]),
        }
    }

    pub(super) fn sign(&self, message: &[u8]) -> Vec<u8> {
        match self {
            Self::Rsa(key) => {
                rsa::pkcs1v15::SigningKey::<Sha256>::new((**key).clone()).sign(message).to_vec()
            }
            Self::Ecdsa(key) => {
                let signature: p256::ecdsa::Signature = key.sign(message);
                signature.to_der().as_bytes().to_vec()
            }
            Self::Ed25519(key) => key.sign(message).to_bytes().to_vec(),
        }
    }
}

fn ed25519_from_pkcs8(bytes: &[u8]) -> Option<ed25519_dalek::SigningKey> {
    let (body, _) = der::expect(bytes, der::SEQUENCE)?;
    let (_, rest) = der::expect(body, der::INTEGER)?;
    let (algorithm, rest) = der::expect(rest, der::SEQUENCE)?;
    if algorithm != der::oid(ED25519) {
        return None;
    }
    let (outer, _) = der::expect(rest, der::OCTET_STRING)?;
    let (seed, _) = der::expect(outer, der::OCTET_STRING)?;
    Some(ed25519_dalek::SigningKey::from_bytes(seed.try_into().ok()?))
}

fn random_number(context: &mut Context<'_, '_>, bits: usize) -> BigUint {
    let mut bytes = vec![0; bits / 8];
    context.random(&mut bytes);
    bytes[0] |= 0x80;
    BigUint::from_bytes_be(&bytes)
}

/// Miller and Rabin's test with random bases.
fn is_prime(number: &BigUint, context: &mut Context<'_, '_>) -> bool {
    let one = BigUint::from(1u32);
    for small in (3..2000u32).step_by(2) {
        if number % small == BigUint::ZERO {
            return *number == BigUint::from(small);
        }
    }
    let less = number - &one;
    let twos = less.trailing_zeros().unwrap_or(0);
    let odd = &less >> twos;
    'bases: for _ in 0..24 {
        let mut bytes = vec![0; 16];
        context.random(&mut bytes);
        let base = BigUint::from_bytes_be(&bytes) + 2u32;
        let mut power = base.modpow(&odd, number);
        if power == one || power == less {
            continue;
        }
        for _ in 1..twos {
            power = power.modpow(&BigUint::from(2u32), number);
            if power == less {
                continue 'bases;
            }
        }
        return false;
    }
    true
}

/// A DSA key with a modulus of 2048 and a group of 256 bits.
fn dsa_pem(context: &mut Context<'_, '_>) -> String {
    let one = BigUint::from(1u32);
    let q = loop {
        let candidate = random_number(context, 256) | &one;
        if is_prime(&candidate, context) {
            break candidate;
        }
    };
    let p = loop {
        let random = random_number(context, 2048);
        let candidate = &random - (&random % (&q * 2u32)) + &one;
        if candidate.bits() == 2048 && is_prime(&candidate, context) {
            break candidate;
        }
    };
    let exponent = (&p - &one) / &q;
    let mut base = BigUint::from(2u32);
    let g = loop {
        let g = base.modpow(&exponent, &p);
        if g > one {
            break g;
        }
        base += 1u32;
    };
    let x = random_number(context, 256) % (&q - &one) + &one;
    let y = g.modpow(&x, &p);
    let numbers = [BigUint::ZERO, p, q, g, y, x].map(|number| der::integer(&number.to_bytes_be()));
    let parts: Vec<&[u8]> = numbers.iter().map(Vec::as_slice).collect();
    der::pem("DSA PRIVATE KEY", &der::sequence(&parts))
}

pub(super) fn gen_private_key<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let pem = match text(arguments, 0) {
        b"" | b"rsa" => new_rsa(context, 4096)?.pem()?,
        b"dsa" => dsa_pem(context),
        b"ecdsa" => new_ecdsa(context).pem()?,
        b"ed25519" if context.sprig == crate::profile::Sprig::V3 => new_ed25519(context).pem()?,
        other => format!("Unknown type {}", String::from_utf8_lossy(other)),
    };
    context.text(pem)
}
