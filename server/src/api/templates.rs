//! `GET /api/v1/templates/<reference>` and, below it, `/-/files/` and `/-/parameters` (and `/-/history`, by its own module).

use std::sync::Arc;

use axum::extract::State;
use http::{HeaderValue, Uri};
use wire::ProblemKind;

use crate::access::Caller;
use crate::api;
use crate::cache::CachePolicy;
use crate::error::{ApiError, ApiResult};
use crate::state::App;
use crate::target::{self, Aspect};
use crate::time::rfc3339;
use crate::view;

/// The error for a path that is not UTF-8 once decoded.
pub(crate) fn not_text() -> ApiError {
    ApiError::new(ProblemKind::InvalidReference, "the path is not UTF-8").part("path")
}

/// A version and everything known of it
#[utoipa::path(
    get, path = "/api/v1/templates/{reference}", tag = "templates", operation_id = "get_template",
    params(("reference" = String, Path, description = "The reference; its slashes stay slashes", example = "redis:v1")),
    responses(
        (status = 200, description = "The version, its findings, and the versions beside it", body = wire::templates::Template),
        (status = 304, description = "The client has this answer already"),
        (status = 400, description = "The reference cannot be read", body = wire::Problem, content_type = "application/problem+json"),
        (status = 404, description = "Nothing has that name", body = wire::Problem, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn get_template(State(app): State<Arc<App>>, caller: Caller, uri: Uri) -> ApiResult {
    let raw = uri.path().strip_prefix("/api/v1/templates/").unwrap_or_default();
    let target = target::split(raw).ok_or_else(not_text)?;
    match target.aspect {
        None => whole(&app, &caller, &target.reference),
        Some(Aspect::FileList) => list_files(&app, &caller, &target.reference),
        Some(Aspect::Parameters) => get_parameters(&app, &caller, &target.reference),
        Some(Aspect::History) => api::history::get_history(&app, caller.viewer(), &target.reference),
        Some(Aspect::Process) => Err(api::method_error("POST")),
        Some(Aspect::File(_) | Aspect::Try | Aspect::Feed | Aspect::Unknown) => {
            Err(api::unknown_path(uri).await)
        }
    }
}

fn whole(app: &App, caller: &Caller, requested: &str) -> ApiResult {
    let reference = api::reference(requested)?;
    let snapshot = app.catalog.snapshot();
    let found = snapshot.resolve(caller.viewer(), &reference, app.home.as_ref())?;
    let inspection = &found.version.inspection;
    api::json(
        CachePolicy::Revalidate,
        &wire::templates::Template {
            resolved: view::resolved(app, requested, &found),
            title: inspection.title.clone(),
            description: inspection.description.clone(),
            tags: inspection.tags.clone(),
            documentation: inspection.documentation.clone(),
            support: inspection.support.clone(),
            object_kinds: inspection.object_kinds.clone(),
            published: rfc3339(found.version.published_at),
            findings: view::findings(found.version.all_findings()),
            report: view::report(found.version),
            versions: view::versions(found.template),
        },
    )
}

/// The files of the version that a reference gets
#[utoipa::path(
    get, path = "/api/v1/templates/{reference}/-/files/", tag = "files", operation_id = "list_files",
    params(("reference" = String, Path, description = "The reference; its slashes stay slashes", example = "redis:v1")),
    responses(
        (status = 200, description = "The files, sorted by path", body = wire::files::FileList),
        (status = 304, description = "The client has this answer already"),
        (status = 400, description = "The reference cannot be read", body = wire::Problem, content_type = "application/problem+json"),
        (status = 404, description = "Nothing has that name", body = wire::Problem, content_type = "application/problem+json"),
    )
)]
pub(crate) fn list_files(app: &App, caller: &Caller, requested: &str) -> ApiResult {
    let reference = api::reference(requested)?;
    let snapshot = app.catalog.snapshot();
    let found = snapshot.resolve(caller.viewer(), &reference, app.home.as_ref())?;
    let location = &found.template.location;
    let list = wire::files::FileList {
        reference: view::exact(location, found.version).to_string(),
        digest: found.version.digest.to_string(),
        files: view::file_list(app.urls(), &location.registry, found.version),
    };
    api::json(CachePolicy::Revalidate, &list)
}

/// The parameters of the version that a reference gets, as a JSON Schema whatever its kind
#[utoipa::path(
    get, path = "/api/v1/templates/{reference}/-/parameters", tag = "templates", operation_id = "get_parameters",
    params(("reference" = String, Path, description = "The reference; its slashes stay slashes", example = "redis:v1")),
    responses(
        (status = 200, description = "A JSON Schema of type object", content_type = "application/schema+json"),
        (status = 304, description = "The client has this answer already"),
        (status = 400, description = "The reference cannot be read", body = wire::Problem, content_type = "application/problem+json"),
        (status = 404, description = "Nothing has that name", body = wire::Problem, content_type = "application/problem+json"),
    )
)]
pub(crate) fn get_parameters(app: &App, caller: &Caller, requested: &str) -> ApiResult {
    let reference = api::reference(requested)?;
    let snapshot = app.catalog.snapshot();
    let found = snapshot.resolve(caller.viewer(), &reference, app.home.as_ref())?;
    let mut schema = found.version.inspection.parameters.clone();
    if schema.is_null() {
        schema = serde_json::json!({"type": "object", "properties": {}});
    }
    let body = serde_json::to_vec(&schema).map_err(ApiError::internal)?;
    Ok(api::typed(CachePolicy::Revalidate, HeaderValue::from_static("application/schema+json"), body))
}
