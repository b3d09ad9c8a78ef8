//! `GET /api/v1/resolve?ref=…`: from a reference to the version it gets. Hot.

use http::Uri;
use http::header::{CONTENT_TYPE, HeaderMap, HeaderValue, X_CONTENT_TYPE_OPTIONS};
use wire::ProblemKind;

use crate::access::Caller;
use crate::api;
use crate::cache::{self, CachePolicy};
use crate::error::ApiError;
use crate::ready::ReadyAnswer;
use crate::state::App;
use crate::view;

/// Which version a reference gets, and why
#[utoipa::path(
    get, path = "/api/v1/resolve", tag = "resolve", operation_id = "resolve",
    params(("ref" = String, Query, description = "The reference: `redis:v1`, `github.com/acme/templates/redis:=v1.0.4`", example = "redis:v1")),
    responses(
        (status = 200, description = "The version, its files and where to get them", body = wire::resolve::Resolved),
        (status = 304, description = "The client has this answer already"),
        (status = 400, description = "The reference cannot be read; `part` says where", body = wire::Problem, content_type = "application/problem+json"),
        (status = 404, description = "Nothing has that name; `near` and `versions` say what exists", body = wire::Problem, content_type = "application/problem+json"),
    )
)]
pub(crate) fn make(app: &App, caller: &Caller, uri: &Uri) -> Result<ReadyAnswer, ApiError> {
    let requested = api::parameter(uri, "ref").ok_or_else(|| {
        ApiError::new(ProblemKind::InvalidQuery, "the parameter `ref` is missing")
            .hint("Ask for /api/v1/resolve?ref=redis:v1.")
    })?;
    let reference = api::reference(&requested)?;
    let snapshot = app.catalog.snapshot();
    let found = snapshot.resolve(caller.viewer(), &reference, app.home.as_ref())?;
    let body = serde_json::to_vec(&view::resolved(app, &requested, &found)).map_err(ApiError::internal)?;
    let mut headers = HeaderMap::with_capacity(8);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    let tag = cache::entity_tag(&body);
    cache::apply(&mut headers, CachePolicy::pointer(caller), Some(tag.clone()));
    Ok(ReadyAnswer::new(headers, tag, body.into(), snapshot.generation))
}
