//! The one exception to "no token in an address": `/dm/t/<token>/…`, for clients of Deployment Manager, which can send
//! no header but keep the path they are given.
//!
//! The token is taken out before anything else sees the request: handlers, errors, the log and metrics know the address
//! without it. What stands between a client and this server may still log it; that is said where it is documented.

use http::uri::PathAndQuery;
use http::{Request, Uri};

/// What such addresses begin with.
const PREFIX: &str = "/dm/t/";
/// What the log shows in place of the token.
const SHOWN: &str = "/dm/t/[token]";

/// A token that stood in an address.
#[derive(Debug)]
pub(crate) struct InAddress {
    /// The token as it was written, good or not.
    pub(crate) secret: String,
    /// The address as it may be shown.
    pub(crate) shown: Uri,
}

/// Takes the token out of the address of a request, if it is where it may be.
pub(crate) fn take<B>(request: &mut Request<B>) -> Option<InAddress> {
    let target = request.uri().path_and_query()?.as_str();
    let rest = target.strip_prefix(PREFIX)?;
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (secret, rest) = (rest[..end].to_owned(), &rest[end..]);
    let uri = |before: &str| {
        let mut parts = request.uri().clone().into_parts();
        // A part of a target is one, whatever stands before it.
        parts.path_and_query = format!("{before}{rest}").parse::<PathAndQuery>().ok();
        Uri::from_parts(parts).ok()
    };
    let (inner, shown) = (uri("/dm")?, uri(SHOWN)?);
    *request.uri_mut() = inner;
    Some(InAddress { secret, shown })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(target: &str) -> Option<(String, String, String)> {
        let mut request = Request::builder().uri(target).body(()).unwrap();
        let taken = take(&mut request)?;
        Some((taken.secret, request.uri().to_string(), taken.shown.to_string()))
    }

    #[test]
    fn the_token_leaves_the_address() {
        let of = |a: &str, b: &str, c: &str| Some((a.to_owned(), b.to_owned(), c.to_owned()));
        assert_eq!(
            taken("/dm/t/fwk_1/r/a/b/types%3Fx?regex=y"),
            of("fwk_1", "/dm/r/a/b/types%3Fx?regex=y", "/dm/t/[token]/r/a/b/types%3Fx?regex=y")
        );
        assert_eq!(taken("/dm/t/fwk_1"), of("fwk_1", "/dm", "/dm/t/[token]"));
        assert_eq!(taken("/dm/t//list"), of("", "/dm/list", "/dm/t/[token]/list"));
        assert_eq!(taken("http://h:1/dm/t/x?a"), of("x", "http://h:1/dm?a", "http://h:1/dm/t/[token]?a"));
        assert_eq!(taken("/api/v1/t/fwk_1"), None);
        assert_eq!(taken("/dm/list"), None);
    }
}
