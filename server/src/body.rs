//! Bodies of requests: whole, within their limits of size and time, and what type they say they are.

use axum::body::Body;
use bytes::Bytes;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderMap};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use wire::ProblemKind;

use crate::error::ApiError;
use crate::front::BODY_DEADLINE;

/// A body of at most `limit` bytes. `too_large` is the error for one above that, which says what to do instead.
pub(crate) async fn read(
    body: Body,
    headers: &HeaderMap,
    limit: usize,
    too_large: impl Fn() -> ApiError,
) -> Result<Bytes, ApiError> {
    // Known to be too large before a byte of it arrives.
    if announced(headers).is_some_and(|length| length > limit as u64) {
        return Err(too_large());
    }
    match tokio::time::timeout(BODY_DEADLINE, Limited::new(body, limit).collect()).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.downcast_ref::<LengthLimitError>().is_some() => Err(too_large()),
        Ok(Err(error)) => {
            Err(ApiError::new(ProblemKind::InvalidBody, format!("the body broke off: {error}")))
        }
        Err(_) => {
            let detail = format!("the body took longer than {} s", BODY_DEADLINE.as_secs());
            Err(ApiError::new(ProblemKind::SlowRequest, detail))
        }
    }
}

/// How long a body will be, by what the client says.
pub(crate) fn announced(headers: &HeaderMap) -> Option<u64> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

/// The media type of a body in lower case, without parameters; `None` if the client says none.
pub(crate) fn media_type(headers: &HeaderMap) -> Option<String> {
    let content_type = headers.get(CONTENT_TYPE)?.to_str().unwrap_or_default();
    Some(content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase())
}
