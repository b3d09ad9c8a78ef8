//! `GET /api/v1/registries` and `GET /api/v1/registries/<name>`.

use std::sync::Arc;

use axum::extract::State;
use http::Uri;
use schema::RegistryName;
use wire::ProblemKind;

use crate::api;
use crate::cache::CachePolicy;
use crate::error::{ApiError, ApiResult};
use crate::state::App;
use crate::target;
use crate::view;

/// The registries of this server
#[utoipa::path(
    get, path = "/api/v1/registries", tag = "registries", operation_id = "list_registries",
    responses(
        (status = 200, description = "The registries, sorted by name", body = wire::registries::RegistryList),
        (status = 304, description = "The client has this answer already"),
    )
)]
pub(crate) async fn list_registries(State(app): State<Arc<App>>) -> ApiResult {
    let snapshot = app.catalog.snapshot();
    let statuses = app.syncs.status();
    let summary = |registry: &Arc<catalog::RegistrySnapshot>| {
        let status = statuses.iter().find(|status| status.name == registry.name);
        view::registry_summary(app.urls(), registry, status)
    };
    let default = app.home.as_ref().map(|home| match &home.collection {
        Some(collection) => format!("{}/{collection}", home.registry),
        None => home.registry.to_string(),
    });
    let registries = snapshot.visible(&api::VIEWER).map(summary).collect();
    api::json(CachePolicy::Revalidate, &wire::registries::RegistryList { default, registries })
}

/// A registry with its collections and templates
#[utoipa::path(
    get, path = "/api/v1/registries/{name}", tag = "registries", operation_id = "get_registry",
    params(("name" = String, Path, description = "The name; its slashes stay slashes", example = "github.com/acme/templates")),
    responses(
        (status = 200, description = "The registry", body = wire::registries::Registry),
        (status = 304, description = "The client has this answer already"),
        (status = 404, description = "No registry of that name is here", body = wire::Problem, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn get_registry(State(app): State<Arc<App>>, uri: Uri) -> ApiResult {
    let raw = uri.path().strip_prefix("/api/v1/registries/").unwrap_or_default();
    let text = target::decode(raw).ok_or_else(api::templates::not_text)?;
    let snapshot = app.catalog.snapshot();
    let name = text.parse::<RegistryName>().ok();
    let Some(registry) = name.and_then(|name| snapshot.registry(&api::VIEWER, &name)) else {
        let detail = format!("no registry called `{}` is here", schema::finding::shown(text.as_bytes()));
        return Err(ApiError::new(ProblemKind::UnknownRegistry, detail)
            .part("registry")
            .near(snapshot.visible(&api::VIEWER).map(|registry| registry.name.to_string())));
    };
    let status = app.sync_of(&registry.name);
    let discovered = app.catalog.discovered(&api::VIEWER, &registry.name);
    api::json(CachePolicy::Revalidate, &view::registry(app.urls(), registry, status.as_ref(), discovered))
}
