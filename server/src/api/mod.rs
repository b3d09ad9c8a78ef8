//! The API for tools: one module a resource, handlers named for what they answer.

pub(crate) mod collections;
pub(crate) mod decisions;
pub(crate) mod files;
pub(crate) mod history;
pub(crate) mod openapi;
pub(crate) mod operations;
pub(crate) mod paging;
pub(crate) mod process;
pub(crate) mod registries;
pub(crate) mod renovate;
pub(crate) mod resolve;
pub(crate) mod search;
pub(crate) mod templates;
pub(crate) mod tokens;

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use http::header::{CONTENT_TYPE, HeaderValue};
use http::{Request, Uri};
use schema::Reference;
use serde::Serialize;
use serde::de::DeserializeOwned;
use wire::ProblemKind;

use crate::access::forgery;
use crate::body;
use crate::cache::CachePolicy;
use crate::error::ApiError;
use crate::state::App;
use crate::view::Urls;

impl App {
    /// URLs as answers of the API give them.
    pub(crate) fn urls(&self) -> Urls<'_> {
        Urls { base: &self.base }
    }
}

/// An answer in JSON.
pub(crate) fn json(policy: CachePolicy, value: &impl Serialize) -> Result<Response, ApiError> {
    let body = serde_json::to_vec(value).map_err(ApiError::internal)?;
    Ok(typed(policy, HeaderValue::from_static("application/json"), body))
}

/// An answer of a type.
pub(crate) fn typed(policy: CachePolicy, content_type: HeaderValue, body: impl Into<Body>) -> Response {
    let mut response = body.into().into_response();
    response.headers_mut().insert(CONTENT_TYPE, content_type);
    response.extensions_mut().insert(policy);
    response
}

/// What a request sends as JSON: small documents, as the routes for operators take them.
pub(crate) async fn json_body<T: DeserializeOwned>(request: Request<Body>) -> Result<T, ApiError> {
    let (parts, sent) = request.into_parts();
    let essence = body::media_type(&parts.headers).unwrap_or_default();
    if essence != "application/json" {
        let detail =
            format!("the body is `{}`; send application/json", schema::finding::shown(essence.as_bytes()));
        return Err(
            ApiError::new(ProblemKind::UnsupportedMediaType, detail).hint("With curl, write --json '…'.")
        );
    }
    let sent = forgery::read(sent, &parts.headers).await?;
    serde_json::from_slice(&sent).map_err(|error| {
        ApiError::new(ProblemKind::InvalidBody, format!("the body is not what is asked for: {error}"))
            .hint("The forms of bodies are in /api/v1/openapi.json.")
    })
}

/// Parses a reference from a path or query.
fn reference(text: &str) -> Result<Reference, ApiError> {
    Ok(text.parse::<Reference>()?)
}

/// The value of a query parameter, decoded; the first one if it is given twice.
pub(crate) fn parameter(uri: &Uri, name: &str) -> Option<String> {
    values(uri, name).next()
}

/// The values of a query parameter that may be given several times; empty ones do not count.
pub(crate) fn parameters(uri: &Uri, name: &str) -> Vec<String> {
    values(uri, name).filter(|value| !value.is_empty()).collect()
}

fn values<'a>(uri: &'a Uri, name: &'a str) -> impl Iterator<Item = String> + 'a {
    let pairs =
        uri.query().unwrap_or_default().split('&').map(|pair| pair.split_once('=').unwrap_or((pair, "")));
    pairs.filter(move |(key, _)| *key == name).map(|(_, value)| {
        let spaced = value.replace('+', " ");
        percent_encoding::percent_decode_str(&spaced).decode_utf8_lossy().into_owned()
    })
}

/// The error for a path below `/api` that is none of ours.
pub(crate) async fn unknown_path(uri: Uri) -> ApiError {
    ApiError::new(
        ProblemKind::UnknownPath,
        format!("nothing is served at `{}`", schema::finding::shown(uri.path().as_bytes())),
    )
    .hint("The routes are listed in /api/v1/openapi.json.")
}

/// The error for a method that a path does not answer. `allowed` becomes the `Allow` header.
pub(crate) fn method_error(allowed: &'static str) -> ApiError {
    ApiError::new(ProblemKind::MethodNotAllowed, format!("this path answers {allowed}")).part(allowed)
}

/// The fallback of the route that answers GET and POST.
pub(crate) async fn method_not_allowed() -> ApiError {
    method_error("GET, POST")
}
