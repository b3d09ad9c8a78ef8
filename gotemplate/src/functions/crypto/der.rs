//! The little of ASN.1 DER and PEM that keys and certificates need.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

pub(super) const INTEGER: u8 = 0x02;
pub(super) const BIT_STRING: u8 = 0x03;
pub(super) const OCTET_STRING: u8 = 0x04;
pub(super) const SEQUENCE: u8 = 0x30;
pub(super) const SET: u8 = 0x31;

/// One element: tag, length, content.
pub(super) fn element(tag: u8, content: &[u8]) -> Vec<u8> {
    let mut out = vec![tag];
    let length = content.len();
    if length < 0x80 {
        out.push(length as u8);
    } else {
        let bytes = length.to_be_bytes();
        let bytes = &bytes[bytes.iter().position(|byte| *byte != 0).unwrap_or(7)..];
        out.push(0x80 | bytes.len() as u8);
        out.extend_from_slice(bytes);
    }
    out.extend_from_slice(content);
    out
}

pub(super) fn sequence(parts: &[&[u8]]) -> Vec<u8> {
    element(SEQUENCE, &parts.concat())
}

/// A whole number that is not negative, from its big-endian bytes.
pub(super) fn integer(bytes: &[u8]) -> Vec<u8> {
    let start = bytes.iter().position(|byte| *byte != 0).unwrap_or(bytes.len());
    let mut content = bytes[start..].to_vec();
    if content.first().is_none_or(|byte| byte & 0x80 != 0) {
        content.insert(0, 0);
    }
    element(INTEGER, &content)
}

/// A bit string of whole bytes.
pub(super) fn bits(bytes: &[u8]) -> Vec<u8> {
    element(BIT_STRING, &[&[0], bytes].concat())
}

/// An object identifier.
pub(super) fn oid(parts: &[u32]) -> Vec<u8> {
    let mut content = vec![(parts[0] * 40 + parts[1]) as u8];
    for part in &parts[2..] {
        let mut groups = vec![(part & 0x7f) as u8];
        let mut rest = part >> 7;
        while rest > 0 {
            groups.push((rest & 0x7f) as u8 | 0x80);
            rest >>= 7;
        }
        groups.reverse();
        content.extend_from_slice(&groups);
    }
    element(0x06, &content)
}

/// The next element of `bytes`: its tag, its content, all of it, and what follows.
#[expect(clippy::type_complexity, reason = "four parts of one slice, taken apart where they are read")]
pub(super) fn read(bytes: &[u8]) -> Option<(u8, &[u8], &[u8], &[u8])> {
    let tag = *bytes.first()?;
    let first = *bytes.get(1)?;
    let (length, head) = if first < 0x80 {
        (usize::from(first), 2)
    } else {
        let count = usize::from(first & 0x7f);
        if count == 0 || count > 4 {
            return None;
        }
        let digits = bytes.get(2..2 + count)?;
        (digits.iter().fold(0, |length, byte| length << 8 | usize::from(*byte)), 2 + count)
    };
    let end = head.checked_add(length)?;
    Some((tag, bytes.get(head..end)?, &bytes[..end], &bytes[end..]))
}

/// Content of the next element if it has this tag, and what follows.
pub(super) fn expect(bytes: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    let (found, content, _, rest) = read(bytes)?;
    (found == tag).then_some((content, rest))
}

/// A PEM block.
pub(super) fn pem(label: &str, bytes: &[u8]) -> String {
    let body = STANDARD.encode(bytes);
    let mut out = format!("-----BEGIN {label}-----\n");
    for line in body.as_bytes().chunks(64) {
        out.push_str(&String::from_utf8_lossy(line));
        out.push('\n');
    }
    out.push_str(&format!("-----END {label}-----\n"));
    out
}

/// The first PEM block of a text: its label and bytes.
pub(super) fn unpem(text: &[u8]) -> Option<(String, Vec<u8>)> {
    let text = std::str::from_utf8(text).ok()?;
    let (_, rest) = text.split_once("-----BEGIN ")?;
    let (label, rest) = rest.split_once("-----")?;
    let (body, _) = rest.split_once(&format!("-----END {label}-----"))?;
    // Headers, if any, end with an empty line.
    let body = body
        .trim_start()
        .rsplit_once("\n\n")
        .filter(|(head, _)| head.contains(':'))
        .map_or(body, |(_, body)| body);
    let clean: String = body.chars().filter(|c| !c.is_whitespace()).collect();
    Some((label.to_owned(), STANDARD.decode(clean).ok()?))
}
