//! What scripts of other sites may read: what anybody may read, and nothing that somebody is known for.
//!
//! Consoles and editors call the API from pages of their own. Whatever is public under `/api` is open to any origin,
//! for `GET`, `HEAD` and `POST …/-/process`, without credentials: an answer to a token or a session is never open, so
//! that nothing private and nothing that changes anything is within reach of a page somebody happens to visit. Since
//! the header is the same whatever the origin, no answer varies by it.

use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_METHOD, HeaderMap,
    HeaderValue, ORIGIN,
};
use http::{Method, Response, StatusCode};

use crate::access::Caller;
use crate::router::Route;

/// What a script may send besides what it always may. No `Authorization`: with a token an answer is not open.
const ALLOWED: HeaderValue = HeaderValue::from_static(
    "accept, content-type, if-none-match, if-range, range, traceparent, x-request-id",
);
/// How long a browser may remember what it was allowed, in seconds; none remembers it for longer.
const REMEMBERED: HeaderValue = HeaderValue::from_static("7200");

/// What scripts of other sites may do with a group of routes, as a browser is told.
const fn methods(route: Route) -> Option<&'static str> {
    match route {
        Route::Resolve
        | Route::File
        | Route::Content
        | Route::Template
        | Route::Search
        | Route::Registries
        | Route::Repository
        | Route::Describe => Some("GET, HEAD"),
        Route::Process => Some("POST"),
        Route::Tokens
        | Route::Operations
        | Route::Webhook
        | Route::Dm
        | Route::Kubernetes
        | Route::Asset
        | Route::Page => None,
    }
}

/// Whether an answer is open to scripts of other sites.
pub(crate) fn is_open(route: Route, method: &Method, caller: &Caller) -> bool {
    caller.is_anybody() && methods(route).is_some_and(|methods| methods.split(", ").any(|one| one == method))
}

/// Opens an answer. `*` for what may be read of its headers: all of them, as without credentials it may.
pub(crate) fn open(headers: &mut HeaderMap) {
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static("*"));
}

/// The answer to a browser that asks beforehand whether a script may send something; none if it may not, or nothing
/// of the kind is asked.
pub(crate) fn preflight<B: Default>(
    route: Route,
    method: &Method,
    request: &HeaderMap,
) -> Option<Response<B>> {
    if *method != Method::OPTIONS || !request.contains_key(ORIGIN) {
        return None;
    }
    let asked = request.get(ACCESS_CONTROL_REQUEST_METHOD)?.to_str().ok()?;
    let methods = methods(route).filter(|methods| methods.split(", ").any(|one| one == asked))?;
    let mut response = Response::new(B::default());
    *response.status_mut() = StatusCode::NO_CONTENT;
    let headers = response.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static(methods));
    headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, ALLOWED);
    headers.insert(ACCESS_CONTROL_MAX_AGE, REMEMBERED);
    Some(response)
}
