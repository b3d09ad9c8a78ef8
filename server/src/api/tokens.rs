//! `/api/v1/tokens`: giving out tokens and taking them back. What `formwork token` asks while a server runs.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use catalog::{Scope, TokenName};
use http::{HeaderValue, Request, StatusCode, Uri};
use wire::ProblemKind;
use wire::tokens::{CreatedToken, NewToken, TokenList};

use crate::access::{Caller, require};
use crate::api;
use crate::api::paging::{self, Page};
use crate::cache::CachePolicy;
use crate::error::{ApiError, ApiResult};
use crate::state::App;
use crate::target;
use crate::time::now;
use crate::tokens;

/// The tokens there are, without their secrets
#[utoipa::path(
    get, path = "/api/v1/tokens", tag = "tokens", operation_id = "list_tokens",
    params(
        ("limit" = Option<usize>, Query, description = "How many; 100 if not given, 1,000 at most", minimum = 1),
        ("cursor" = Option<String>, Query, description = "`next` of the answer before"),
    ),
    responses(
        (status = 200, description = "The tokens, sorted by name", body = TokenList),
        (status = 401, description = "A token with the scope `admin` is needed", body = wire::Problem, content_type = "application/problem+json"),
        (status = 403, description = "The token allows too little", body = wire::Problem, content_type = "application/problem+json"),
    ),
    security(("token" = []))
)]
pub(crate) async fn list_tokens(State(app): State<Arc<App>>, caller: Caller, uri: Uri) -> ApiResult {
    require(&caller, Scope::Admin)?;
    let page = Page::asked(&uri)?;
    let after = page.after(|cursor| cursor.parse::<TokenName>().ok())?;
    let after = after.map(|name| name.to_string());
    let grants = app.catalog.grants();
    let all = grants.list().into_iter().map(|grant| tokens::said(&grant));
    let rest = all.filter(|token| after.as_ref().is_none_or(|after| token.name > *after));
    let (tokens, next) = page.cut(rest, |token| token.name.clone());
    let list = TokenList { tokens, next };
    let next = list.next.as_deref().map(|next| ("cursor", next));
    paging::answer(&app.base, &uri, CachePolicy::NoStore, &list, next)
}

/// Makes a token; its secret is in the answer and nowhere else
#[utoipa::path(
    post, path = "/api/v1/tokens", tag = "tokens", operation_id = "create_token",
    request_body(content = NewToken, example = json!({"name": "ci", "scope": "read", "lifetime": 86400})),
    responses(
        (status = 201, description = "The token, and its secret this once", body = CreatedToken),
        (status = 400, description = "The body cannot be read", body = wire::Problem, content_type = "application/problem+json"),
        (status = 401, description = "A token with the scope `admin` is needed", body = wire::Problem, content_type = "application/problem+json"),
        (status = 403, description = "The token allows too little", body = wire::Problem, content_type = "application/problem+json"),
        (status = 409, description = "There is a token of that name", body = wire::Problem, content_type = "application/problem+json"),
    ),
    security(("token" = []))
)]
pub(crate) async fn create_token(
    State(app): State<Arc<App>>,
    caller: Caller,
    request: Request<Body>,
) -> ApiResult {
    let by = require(&caller, Scope::Admin)?.token.name.clone();
    let asked = api::json_body::<NewToken>(request).await?;
    let token = tokens::read(asked, now())
        .map_err(|(part, detail)| ApiError::new(ProblemKind::InvalidBody, detail).part(part))?;
    let name = token.name.clone();
    let Some(secret) = app.catalog.create_token(token, now()).await.map_err(ApiError::internal)? else {
        let detail = format!("there is a token called `{name}`");
        return Err(ApiError::new(ProblemKind::AlreadyExists, detail)
            .part("name")
            .hint("Choose another name, or revoke that one first."));
    };
    tracing::info!(token = %name, %by, "a token was made");
    let grants = app.catalog.grants();
    let grant =
        grants.named(&name).ok_or_else(|| ApiError::internal("a token was revoked while it was made"))?;
    let answer = CreatedToken { token: tokens::said(grant), secret: secret.reveal().to_owned() };
    let mut response = api::json(CachePolicy::NoStore, &answer)?;
    *response.status_mut() = StatusCode::CREATED;
    if let Ok(location) = HeaderValue::from_str(&format!("{}/api/v1/tokens/{name}", app.base)) {
        response.headers_mut().insert(http::header::LOCATION, location);
    }
    Ok(response)
}

/// Revokes a token, for every request from now on
#[utoipa::path(
    delete, path = "/api/v1/tokens/{name}", tag = "tokens", operation_id = "revoke_token",
    params(("name" = String, Path, description = "Its name", example = "ci")),
    responses(
        (status = 204, description = "It is revoked"),
        (status = 401, description = "A token with the scope `admin` is needed", body = wire::Problem, content_type = "application/problem+json"),
        (status = 403, description = "The token allows too little", body = wire::Problem, content_type = "application/problem+json"),
        (status = 404, description = "There is no token of that name", body = wire::Problem, content_type = "application/problem+json"),
    ),
    security(("token" = []))
)]
pub(crate) async fn revoke_token(
    State(app): State<Arc<App>>,
    caller: Caller,
    uri: Uri,
) -> Result<Response, ApiError> {
    let by = require(&caller, Scope::Admin)?.token.name.clone();
    let raw = uri.path().strip_prefix("/api/v1/tokens/").unwrap_or_default();
    let text = target::decode(raw).ok_or_else(api::templates::not_text)?;
    let revoked = match text.parse::<TokenName>() {
        Ok(name) => app.catalog.revoke_token(&name).await.map_err(ApiError::internal)?,
        Err(_) => false,
    };
    if !revoked {
        let detail = format!("there is no token called `{}`", schema::finding::shown(text.as_bytes()));
        return Err(ApiError::new(ProblemKind::UnknownToken, detail).part("name"));
    }
    tracing::info!(token = %text, %by, "a token was revoked");
    Ok(StatusCode::NO_CONTENT.into_response())
}
