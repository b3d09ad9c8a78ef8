//! Requests that another site had a browser send: refused before any handler sees them.
//!
//! A browser sends the session cookie by itself. So a request that may change something and is known by its cookie
//! alone must carry the session's word: in the header `X-CSRF-Token`, or in the field `csrf` of a form. Requests with a
//! token in `Authorization` need none: no browser adds that by itself.

use axum::body::Body;
use bytes::Bytes;
use http::Method;
use http::header::HeaderMap;
use subtle::ConstantTimeEq;
use wire::ProblemKind;

use crate::access::Caller;
use crate::body;
use crate::error::ApiError;

/// Where scripts put the word.
const HEADER: &str = "x-csrf-token";
/// The field of forms.
pub(crate) const FIELD: &str = "csrf";
/// The largest form there is, in bytes.
pub(crate) const FORM_BYTES: usize = 64 << 10;

/// Whether a method only reads.
const fn only_reads(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS)
}

/// Lets a request through, with its body, or refuses it.
pub(crate) async fn check(
    caller: &Caller,
    method: &Method,
    headers: &HeaderMap,
    body: Body,
) -> Result<Body, ApiError> {
    let Some(session) = caller.session().filter(|_| !only_reads(method)) else { return Ok(body) };
    let is_word = |given: &[u8]| bool::from(given.ct_eq(session.word.as_bytes()));
    if let Some(given) = headers.get(HEADER) {
        return if is_word(given.as_bytes()) { Ok(body) } else { Err(refused()) };
    }
    if !is_form(headers) {
        return Err(refused());
    }
    let body = read(body, headers).await?;
    match field(&body, FIELD) {
        Some(given) if is_word(given.as_bytes()) => Ok(Body::from(body)),
        _ => Err(refused()),
    }
}

/// Whether a body is a form.
pub(crate) fn is_form(headers: &HeaderMap) -> bool {
    body::media_type(headers).is_some_and(|media_type| media_type == "application/x-www-form-urlencoded")
}

/// A form or another small document, whole.
pub(crate) async fn read(body: Body, headers: &HeaderMap) -> Result<Bytes, ApiError> {
    body::read(body, headers, FORM_BYTES, || {
        ApiError::new(ProblemKind::TooLarge, format!("the body is above {} KiB", FORM_BYTES >> 10))
    })
    .await
}

/// A field of a form, decoded; the first one if it is given twice.
pub(crate) fn field(form: &[u8], name: &str) -> Option<String> {
    let text = std::str::from_utf8(form).ok()?;
    let mut pairs = text.split('&').map(|pair| pair.split_once('=').unwrap_or((pair, "")));
    let (_, value) = pairs.find(|(key, _)| *key == name)?;
    let spaced = value.replace('+', " ");
    Some(percent_encoding::percent_decode_str(&spaced).decode_utf8_lossy().into_owned())
}

fn refused() -> ApiError {
    ApiError::new(
        ProblemKind::Forbidden,
        "the request is signed in by a cookie and does not carry the word that shows it comes from our own pages",
    )
    .part("csrf")
    .hint("Reload the page and try again. Programs send `Authorization: Bearer …` and need no cookie.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_read() {
        let form = b"csrf=a%20b+c&next=%2Fx&csrf=second";
        assert_eq!(field(form, "csrf").as_deref(), Some("a b c"));
        assert_eq!(field(form, "next").as_deref(), Some("/x"));
        assert_eq!(field(form, "token"), None);
        assert_eq!(field(b"\xff=1", "csrf"), None);
    }
}
