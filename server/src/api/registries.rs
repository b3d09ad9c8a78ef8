//! `/api/v1/registries` and `/api/v1/registries/<name>`: what this server holds, and who may see it.

use std::ops::Bound;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use catalog::{RegistrySnapshot, Scope, Snapshot, TokenName, Visibility};
use http::header::LOCATION;
use http::{HeaderValue, Request, StatusCode, Uri};
use indexer::{RegistryConfig, Revision};
use schema::RegistryName;
use wire::ProblemKind;
use wire::registries::{NewRegistry, RegistryChange};

use crate::access::{Caller, require_on, require_somewhere};
use crate::api;
use crate::api::decisions;
use crate::api::paging::{self, Page};
use crate::cache::CachePolicy;
use crate::error::{ApiError, ApiResult};
use crate::state::App;
use crate::target;
use crate::time::now;
use crate::view;

/// The registries of this server
#[utoipa::path(
    get, path = "/api/v1/registries", tag = "registries", operation_id = "list_registries",
    params(
        ("limit" = Option<usize>, Query, description = "How many; 100 if not given, 1,000 at most", minimum = 1),
        ("cursor" = Option<String>, Query, description = "`next` of the answer before"),
    ),
    responses(
        (status = 200, description = "The registries, sorted by name", body = wire::registries::RegistryList),
        (status = 304, description = "The client has this answer already"),
    )
)]
pub(crate) async fn list_registries(State(app): State<Arc<App>>, caller: Caller, uri: Uri) -> ApiResult {
    let page = Page::asked(&uri)?;
    let after = page.after(|cursor| cursor.parse::<RegistryName>().ok())?;
    let snapshot = app.catalog.snapshot();
    let viewer = caller.viewer();
    let statuses = app.syncs_for(&snapshot, viewer);
    let summary = |registry: &Arc<RegistrySnapshot>| {
        let status = statuses.iter().find(|status| status.name == registry.name);
        view::registry_summary(app.urls(), registry, status)
    };
    let default = app.home_for(&snapshot, viewer).map(|home| match &home.collection {
        Some(collection) => format!("{}/{collection}", home.registry),
        None => home.registry.to_string(),
    });
    let first = after.as_ref().map_or(Bound::Unbounded, Bound::Excluded);
    let rest =
        snapshot.registries.range::<_, RegistryName>((first, Bound::Unbounded)).map(|(_, registry)| registry);
    let (found, next) =
        page.cut(rest.filter(|one| one.visible_to(viewer)), |registry| registry.name.to_string());
    let registries = found.into_iter().map(summary).collect();
    let list = wire::registries::RegistryList { default, registries, next };
    paging::answer(
        &app.base,
        &uri,
        CachePolicy::Revalidate,
        &list,
        list.next.as_deref().map(|next| ("cursor", next)),
    )
}

/// A registry with its collections
#[utoipa::path(
    get, path = "/api/v1/registries/{name}", tag = "registries", operation_id = "get_registry",
    params(("name" = String, Path, description = "The name; its slashes stay slashes", example = "github.com/acme/templates")),
    responses(
        (status = 200, description = "The registry", body = wire::registries::Registry),
        (status = 304, description = "The client has this answer already"),
        (status = 404, description = "No registry of that name is here", body = wire::Problem, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn get_registry(State(app): State<Arc<App>>, caller: Caller, uri: Uri) -> ApiResult {
    let snapshot = app.catalog.snapshot();
    let registry = find(&snapshot, &caller, &name_of(&uri)?)?;
    api::json(CachePolicy::Revalidate, &said(&app, &caller, registry))
}

fn said(app: &App, caller: &Caller, registry: &RegistrySnapshot) -> wire::registries::Registry {
    let status = app.sync_of(&registry.name);
    let discovered = app.catalog.discovered(caller.viewer(), &registry.name);
    view::registry(app.urls(), registry, status.as_ref(), discovered)
}

/// Changes who may see a registry, for every answer from now on
#[utoipa::path(
    patch, path = "/api/v1/registries/{name}", tag = "registries", operation_id = "change_registry",
    params(("name" = String, Path, description = "The name; its slashes stay slashes", example = "github.com/acme/templates")),
    request_body(content = RegistryChange, example = json!({"visibility": "private"})),
    responses(
        (status = 200, description = "The registry as it is now", body = wire::registries::Registry),
        (status = 400, description = "The body cannot be read", body = wire::Problem, content_type = "application/problem+json"),
        (status = 401, description = "A token with the scope `admin` is needed", body = wire::Problem, content_type = "application/problem+json"),
        (status = 403, description = "The token allows too little", body = wire::Problem, content_type = "application/problem+json"),
        (status = 404, description = "No registry of that name is here", body = wire::Problem, content_type = "application/problem+json"),
    ),
    security(("token" = []))
)]
pub(crate) async fn change_registry(
    State(app): State<Arc<App>>,
    caller: Caller,
    request: Request<Body>,
) -> ApiResult {
    let asked = name_of(request.uri())?;
    let (name, by) = allowed(&app, &caller, &asked)?;
    let change = api::json_body::<RegistryChange>(request).await?;
    let visibility = change
        .visibility
        .parse::<Visibility>()
        .map_err(|error| ApiError::new(ProblemKind::InvalidBody, error.to_string()).part("visibility"))?;
    if !app.catalog.set_visibility(&name, visibility, now()).await.map_err(ApiError::internal)? {
        return Err(unknown(&app.catalog.snapshot(), &caller, &asked));
    }
    tracing::info!(registry = %name, %visibility, %by, "who sees a registry was changed");
    let snapshot = app.catalog.snapshot();
    let registry = find(&snapshot, &caller, &asked)?;
    api::json(CachePolicy::NoStore, &said(&app, &caller, registry))
}

/// The name in the path, decoded and not parsed yet.
fn name_of(uri: &Uri) -> Result<String, ApiError> {
    let raw = uri.path().strip_prefix("/api/v1/registries/").unwrap_or_default();
    if raw.split_once("/-/").is_some_and(|(_, verb)| decisions::VERBS.contains(&verb)) {
        return Err(api::method_error("POST"));
    }
    Ok(target::decode(raw).ok_or_else(api::templates::not_text)?.into_owned())
}

/// The error for a method that a registry, or what is asked of one, does not answer.
pub(crate) async fn other_method(uri: Uri) -> ApiError {
    match name_of(&uri) {
        Ok(_) => api::method_error("GET, PATCH, DELETE"),
        Err(error) => error,
    }
}

/// A registry by a name that is not parsed yet, if the caller may see it.
pub(crate) fn find<'a>(
    snapshot: &'a Snapshot,
    caller: &Caller,
    asked: &str,
) -> Result<&'a Arc<RegistrySnapshot>, ApiError> {
    let name = asked.parse::<RegistryName>().ok();
    name.and_then(|name| snapshot.registry(caller.viewer(), &name))
        .ok_or_else(|| unknown(snapshot, caller, asked))
}

/// The error for a registry that is not here, or not for the caller.
pub(crate) fn unknown(snapshot: &Snapshot, caller: &Caller, asked: &str) -> ApiError {
    let detail = format!("no registry called `{}` is here", schema::finding::shown(asked.as_bytes()));
    ApiError::new(ProblemKind::UnknownRegistry, detail)
        .part("registry")
        .near(snapshot.visible(caller.viewer()).map(|registry| registry.name.to_string()))
}

/// Adds a registry, which is looked at as soon as there is a turn, and again after every restart
#[utoipa::path(
    post, path = "/api/v1/registries", tag = "registries", operation_id = "add_registry",
    request_body(content = NewRegistry, example = json!({"name": "github.com/acme/more", "source": "https://github.com/acme/more.git"})),
    responses(
        (status = 201, description = "It is added; `sync` says how reading it goes", body = wire::registries::Registry),
        (status = 400, description = "The body cannot be read, or the source is not allowed", body = wire::Problem, content_type = "application/problem+json"),
        (status = 401, description = "A token with the scope `admin` is needed", body = wire::Problem, content_type = "application/problem+json"),
        (status = 403, description = "The token allows too little", body = wire::Problem, content_type = "application/problem+json"),
        (status = 409, description = "There is a registry of that name", body = wire::Problem, content_type = "application/problem+json"),
    ),
    security(("token" = []))
)]
pub(crate) async fn add_registry(
    State(app): State<Arc<App>>,
    caller: Caller,
    request: Request<Body>,
) -> ApiResult {
    require_somewhere(&caller, Scope::Admin)?;
    let asked = api::json_body::<NewRegistry>(request).await?;
    let wrong = |part, detail: String| ApiError::new(ProblemKind::InvalidBody, detail).part(part);
    let name = asked.name.parse::<RegistryName>().map_err(|error| wrong("name", error.to_string()))?;
    let by = require_on(&caller, Scope::Admin, &name)?.token.name.clone();
    let visibility = asked.visibility.map(|visibility| visibility.parse::<Visibility>()).transpose();
    let visibility = visibility.map_err(|error| wrong("visibility", error.to_string()))?;
    let revision = asked.branch.as_deref().map_or(Ok(Revision::Default), Revision::branch);
    let revision = revision.map_err(|error| wrong("branch", error.to_string()))?;
    let admitted = app.syncs.admit(name.clone(), &asked.source, revision).map_err(|error| {
        wrong("source", error.to_string())
            .hint("Directories and other schemes are for the settings of the server.")
    })?;
    if app.catalog.snapshot().registries.contains_key(&name) {
        return Err(ApiError::new(
            ProblemKind::AlreadyExists,
            format!("there is a registry called `{name}`"),
        )
        .part("name")
        .hint("PATCH changes who sees it; DELETE removes it."));
    }
    // Said, for `None` would leave it as it was for a registry of the settings that is added at the same moment.
    let visibility = Some(visibility.unwrap_or_default());
    let config = RegistryConfig { visibility, ..admitted };
    app.syncs.add(config).await.map_err(ApiError::internal)?;
    tracing::info!(registry = %name, %by, "a registry was added");
    let snapshot = app.catalog.snapshot();
    let registry = find(&snapshot, &caller, name.as_str())?;
    let answer = said(&app, &caller, registry);
    let mut response = api::json(CachePolicy::NoStore, &answer)?;
    *response.status_mut() = StatusCode::CREATED;
    if let Ok(location) = HeaderValue::from_str(&answer.summary.url) {
        response.headers_mut().insert(LOCATION, location);
    }
    Ok(response)
}

/// Removes a registry with everything that was published from it, from every answer from now on
#[utoipa::path(
    delete, path = "/api/v1/registries/{name}", tag = "registries", operation_id = "remove_registry",
    params(("name" = String, Path, description = "The name; its slashes stay slashes", example = "github.com/acme/templates")),
    responses(
        (status = 204, description = "It is removed"),
        (status = 401, description = "A token with the scope `admin` is needed", body = wire::Problem, content_type = "application/problem+json"),
        (status = 403, description = "The token allows too little", body = wire::Problem, content_type = "application/problem+json"),
        (status = 404, description = "No registry of that name is here", body = wire::Problem, content_type = "application/problem+json"),
    ),
    security(("token" = []))
)]
pub(crate) async fn remove_registry(
    State(app): State<Arc<App>>,
    caller: Caller,
    uri: Uri,
) -> Result<Response, ApiError> {
    let asked = name_of(&uri)?;
    let (name, by) = allowed(&app, &caller, &asked)?;
    if !app.syncs.remove(name.clone()).await.map_err(ApiError::internal)? {
        return Err(unknown(&app.catalog.snapshot(), &caller, &asked));
    }
    tracing::info!(registry = %name, %by, "a registry was removed");
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// The registry a path names, if the caller may change it, and by whose token.
fn allowed(app: &App, caller: &Caller, asked: &str) -> Result<(RegistryName, TokenName), ApiError> {
    let Ok(name) = asked.parse::<RegistryName>() else {
        require_somewhere(caller, Scope::Admin)?;
        return Err(unknown(&app.catalog.snapshot(), caller, asked));
    };
    let by = require_on(caller, Scope::Admin, &name)?.token.name.clone();
    Ok((name, by))
}
