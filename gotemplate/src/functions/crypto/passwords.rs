//! Passwords: derived ones, hashes, and AES with a password.

use aes::Aes256;
use aes::cipher::{BlockCipherDecrypt, BlockCipherEncrypt, KeyInit};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::Mac;

use crate::context::{Context, Failure};
use crate::value::Value;

use super::super::text;

type Answer<'a> = Result<Value<'a>, Failure>;

const SEED: &[u8] = b"com.lyndir.masterpassword";

/// The patterns of the Master Password algorithm, by kind.
fn patterns(kind: &[u8]) -> Option<&'static [&'static str]> {
    Some(match kind {
        b"maximum" => &["anoxxxxxxxxxxxxxxxxx", "axxxxxxxxxxxxxxxxxno"],
        b"long" => &[
            "CvcvnoCvcvCvcv",
            "CvcvCvcvnoCvcv",
            "CvcvCvcvCvcvno",
            "CvccnoCvcvCvcv",
            "CvccCvcvnoCvcv",
            "CvccCvcvCvcvno",
            "CvcvnoCvccCvcv",
            "CvcvCvccnoCvcv",
            "CvcvCvccCvcvno",
            "CvcvnoCvcvCvcc",
            "CvcvCvcvnoCvcc",
            "CvcvCvcvCvccno",
            "CvccnoCvccCvcv",
            "CvccCvccnoCvcv",
            "CvccCvccCvcvno",
            "CvcvnoCvccCvcc",
            "CvcvCvccnoCvcc",
            "CvcvCvccCvccno",
            "CvccnoCvcvCvcc",
            "CvccCvcvnoCvcc",
            "CvccCvcvCvccno",
        ],
        b"medium" => &["CvcnoCvc", "CvcCvcno"],
        b"short" => &["Cvcn"],
        b"basic" => &["aaanaaan", "aannaaan", "aaannaaa"],
        b"pin" => &["nnnn"],
        _ => return None,
    })
}

fn characters(class: u8) -> &'static [u8] {
    match class {
        b'V' => b"AEIOU",
        b'C' => b"BCDFGHJKLMNPQRSTVWXYZ",
        b'v' => b"aeiou",
        b'c' => b"bcdfghjklmnpqrstvwxyz",
        b'a' => b"AEIOUaeiouBCDFGHJKLMNPQRSTVWXYZbcdfghjklmnpqrstvwxyz",
        b'n' => b"0123456789",
        b'o' => b"@&%?,=[]_:-+*$#!'^~;()/.",
        _ => b"AEIOUaeiouBCDFGHJKLMNPQRSTVWXYZbcdfghjklmnpqrstvwxyz0123456789!@#$%^&*()",
    }
}

fn with_length(out: &mut Vec<u8>, part: &[u8]) {
    out.extend_from_slice(&u32::try_from(part.len()).unwrap_or(u32::MAX).to_be_bytes());
    out.extend_from_slice(part);
}

pub(super) fn derive_password<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let counter = match arguments[0] {
        Value::Uint(_, counter) => counter as u32,
        _ => 0,
    };
    let (kind, password, user, site) =
        (text(arguments, 1), text(arguments, 2), text(arguments, 3), text(arguments, 4));
    let Some(patterns) = patterns(kind) else {
        return context.text(format!("cannot find password template {}", String::from_utf8_lossy(kind)));
    };
    let mut salt = SEED.to_vec();
    with_length(&mut salt, user);
    let failed = |why: String| Failure::message(format!("failed to derive password: {why}"));
    // 2^15 rounds of 8 blocks twice over: 32 MiB, and a good part of a second.
    let parameters = scrypt::Params::new(15, 8, 2).map_err(|error| failed(error.to_string()))?;
    let mut key = [0; 64];
    scrypt::scrypt(password, &salt, &parameters, &mut key).map_err(|error| failed(error.to_string()))?;
    let mut message = SEED.to_vec();
    with_length(&mut message, site);
    message.extend_from_slice(&counter.to_be_bytes());
    let mut mac =
        hmac::Hmac::<sha2::Sha256>::new_from_slice(&key).map_err(|error| failed(error.to_string()))?;
    mac.update(&message);
    let seed = mac.finalize().into_bytes();
    let pattern = patterns[usize::from(seed[0]) % patterns.len()];
    let out: Vec<u8> = pattern
        .bytes()
        .zip(&seed[1..])
        .map(|(class, byte)| {
            let characters = characters(class);
            characters[usize::from(*byte) % characters.len()]
        })
        .collect();
    context.text(out)
}

/// The password cut or filled up with zeros to a key's length, as sprig does.
fn aes(password: &[u8]) -> Aes256 {
    let mut key = [0; 32];
    let length = password.len().min(32);
    key[..length].copy_from_slice(&password[..length]);
    Aes256::new(&key.into())
}

pub(super) fn encrypt_aes<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let plain = text(arguments, 1);
    if plain.is_empty() {
        return Ok(Value::EMPTY);
    }
    context.charge(plain.len().saturating_mul(4))?;
    let cipher = aes(text(arguments, 0));
    let mut previous = [0; 16];
    context.random(&mut previous);
    let mut out = previous.to_vec();
    let padding = 16 - plain.len() % 16;
    let padded: Vec<u8> = plain.iter().copied().chain(std::iter::repeat_n(padding as u8, padding)).collect();
    for chunk in padded.chunks_exact(16) {
        let mut block = [0; 16];
        for (at, byte) in block.iter_mut().enumerate() {
            *byte = chunk[at] ^ previous[at];
        }
        let mut block = block.into();
        cipher.encrypt_block(&mut block);
        previous = block.into();
        out.extend_from_slice(&previous);
    }
    context.text(STANDARD.encode(out))
}

pub(super) fn decrypt_aes<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let coded = text(arguments, 1);
    if coded.is_empty() {
        return Ok(Value::EMPTY);
    }
    context.charge(coded.len().saturating_mul(2))?;
    let bytes = crate::functions::encoding::base64_decode(coded).map_err(Failure::Message)?;
    let Some((vector, body)) = bytes.split_first_chunk::<16>() else {
        let capacity = bytes.len();
        return Err(Failure::message(format!(
            "runtime error: slice bounds out of range [:16] with capacity {capacity}"
        )));
    };
    if body.len() % 16 != 0 {
        return Err(Failure::message("crypto/cipher: input not full blocks"));
    }
    let cipher = aes(text(arguments, 0));
    let mut previous = *vector;
    let mut out = Vec::with_capacity(body.len());
    for chunk in body.chunks_exact(16) {
        let coded: [u8; 16] = chunk.try_into().unwrap_or_default();
        let mut block = coded.into();
        cipher.decrypt_block(&mut block);
        let block: [u8; 16] = block.into();
        out.extend(block.iter().zip(previous).map(|(byte, mask)| byte ^ mask));
        previous = coded;
    }
    let Some(padding) = out.last().copied().map(usize::from) else {
        return Err(Failure::message("runtime error: index out of range [-1]"));
    };
    match out.len().checked_sub(padding) {
        Some(end) => context.text(&out[..end]),
        None => {
            let end = out.len() as i64 - padding as i64;
            Err(Failure::message(format!("runtime error: slice bounds out of range [:{end}]")))
        }
    }
}

/// bcrypt at Go's default cost; what it refuses is returned as text, as sprig does.
fn hash(context: &mut Context<'_, '_>, password: &[u8]) -> String {
    if password.len() > 72 {
        return "failed to encrypt string with bcrypt: bcrypt: password length exceeds 72 bytes".to_owned();
    }
    let mut salt = [0; 16];
    context.random(&mut salt);
    match bcrypt::hash_with_salt(password, 10, salt) {
        Ok(parts) => parts.format_for_version(bcrypt::Version::TwoA),
        Err(error) => format!("failed to encrypt string with bcrypt: {error}"),
    }
}

pub(super) fn bcrypt_hash<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let hash = hash(context, text(arguments, 0));
    context.text(hash)
}

pub(super) fn htpasswd<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let user = String::from_utf8_lossy(text(arguments, 0)).into_owned();
    if user.contains(':') {
        return context.text(format!("invalid username: {user}"));
    }
    let hash = hash(context, text(arguments, 1));
    context.text(format!("{user}:{hash}"))
}
