//! `GET /api/v1/templates`, `/api/v1/templates/<reference>` and, below it, `/-/versions`, `/-/files/` and `/-/parameters`
//! (and others, each by its own module).

use std::ops::Bound;
use std::sync::Arc;

use axum::extract::State;
use catalog::{Resolved, Snapshot};
use http::{HeaderValue, Uri};
use schema::layout::rules::NAME_CONFUSABLE;
use schema::reference::{Location, Reference, Selector};
use schema::{Finding, TemplateName, Version};
use wire::ProblemKind;

use crate::access::Caller;
use crate::api;
use crate::api::collections::{self, Narrowed};
use crate::api::paging::{self, Page};
use crate::cache::CachePolicy;
use crate::error::{ApiError, ApiResult};
use crate::state::App;
use crate::target::{self, Aspect};
use crate::time::rfc3339;
use crate::view;

/// Versions in the answer about one of them; there are lists for more.
const VERSIONS: usize = 100;

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
        Some(Aspect::History) => api::history::get_history(&app, &caller, &target.reference, &uri),
        Some(Aspect::Versions) => list_versions(&app, &caller, &target.reference, &uri),
        Some(Aspect::Renovate) => api::renovate::get_renovate(&app, &caller, &target.reference),
        Some(Aspect::Process) => Err(api::method_error("POST")),
        Some(Aspect::File(_) | Aspect::Archive | Aspect::Try | Aspect::Feed | Aspect::Unknown) => {
            Err(api::unknown_path(uri).await)
        }
    }
}

/// The error for a method that a path below a reference does not answer.
pub(crate) async fn other_method(uri: Uri) -> ApiError {
    let raw = uri.path().strip_prefix("/api/v1/templates/").unwrap_or_default();
    match target::split(raw).and_then(|target| target.aspect) {
        Some(Aspect::Process) => api::method_error("POST"),
        _ => api::method_error("GET"),
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
            findings: view::findings(
                found.version.all_findings().chain(&lookalikes(&snapshot, caller, &found)),
            ),
            report: view::report(found.version),
            versions: view::versions(app.urls(), found.template).take(VERSIONS).collect(),
            versions_url: app
                .urls()
                .aspect(&Reference::to(&found.template.location, Selector::Highest), "versions"),
        },
    )
}

/// What is said of templates elsewhere that are called almost like this one, and that the caller may see.
fn lookalikes(snapshot: &Snapshot, caller: &Caller, found: &Resolved<'_>) -> Option<Finding> {
    let place = &found.template.location;
    let others = snapshot.lookalikes(caller.viewer(), place);
    // Those beside it are found when its registry is read.
    let beside = |other: &&Location| other.registry == place.registry && other.collection == place.collection;
    let others = others.into_iter().filter(|other| !beside(other)).map(|other| format!("`{other}`"));
    let others = others.collect::<Vec<_>>();
    (!others.is_empty()).then(|| {
        let message = format!("`{}` is easily taken for {}", place.template, others.join(", "));
        Finding::new(&NAME_CONFUSABLE, found.version.path.as_str(), message)
    })
}

/// The templates of the registries of this server
#[utoipa::path(
    get, path = "/api/v1/templates", tag = "templates", operation_id = "list_templates",
    params(
        ("registry" = Option<String>, Query, description = "Only those of this registry", example = "github.com/acme/templates"),
        ("collection" = Option<String>, Query, description = "Only those of collections of this name; `/` is the root", example = "web"),
        ("limit" = Option<usize>, Query, description = "How many; 100 if not given, 1,000 at most", minimum = 1),
        ("cursor" = Option<String>, Query, description = "`next` of the answer before"),
    ),
    responses(
        (status = 200, description = "The templates, sorted by registry, collection and name", body = wire::registries::TemplateList),
        (status = 404, description = "No registry of that name is here", body = wire::Problem, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn list_templates(State(app): State<Arc<App>>, caller: Caller, uri: Uri) -> ApiResult {
    let snapshot = app.catalog.snapshot();
    let page = Page::asked(&uri)?;
    let narrowed = Narrowed::asked(&uri, &snapshot, &caller)?;
    let after = page.after(|cursor| {
        let (place, template) = collections::read_place(cursor)?;
        Some((place, template?.parse::<TemplateName>().ok()?))
    })?;
    let all = collections::templates(&snapshot, caller.viewer(), &narrowed, after.as_ref());
    // A template without listed versions is in no list; none such is in a collection.
    let all = all.filter_map(|template| Some((template, view::template_summary(app.urls(), template)?)));
    let (found, next) = page.cut(all, |(template, _)| {
        let Location { registry, collection, template } = &template.location;
        format!("{}:{template}", collections::said_place(registry, collection.as_ref()))
    });
    let templates = found.into_iter().map(|(_, said)| said).collect();
    let list = wire::registries::TemplateList { templates, next };
    paging::answer(
        &app.base,
        &uri,
        CachePolicy::Revalidate,
        &list,
        list.next.as_deref().map(|next| ("cursor", next)),
    )
}

/// A reference to a template, which has no version: what is asked about is not one of them.
pub(crate) fn without_version(requested: &str) -> Result<Reference, ApiError> {
    let reference = api::reference(requested)?;
    if reference.selector == Selector::Highest && reference.digest.is_none() {
        return Ok(reference);
    }
    Err(ApiError::new(ProblemKind::InvalidReference, "this is about all versions of a template")
        .part("version")
        .hint(format!("Leave the version out: `{}`.", reference.path())))
}

/// The versions of a template
#[utoipa::path(
    get, path = "/api/v1/templates/{reference}/-/versions", tag = "templates", operation_id = "list_versions",
    params(
        ("reference" = String, Path, description = "The template, without a version; its slashes stay slashes", example = "redis"),
        ("limit" = Option<usize>, Query, description = "How many; 100 if not given, 1,000 at most", minimum = 1),
        ("cursor" = Option<String>, Query, description = "`next` of the answer before"),
    ),
    responses(
        (status = 200, description = "The versions, newest first", body = wire::templates::VersionList),
        (status = 404, description = "Nothing has that name", body = wire::Problem, content_type = "application/problem+json"),
    )
)]
pub(crate) fn list_versions(app: &App, caller: &Caller, requested: &str, uri: &Uri) -> ApiResult {
    let reference = without_version(requested)?;
    let page = Page::asked(uri)?;
    let after = page.after(|cursor| cursor.parse::<Version>().ok())?;
    let snapshot = app.catalog.snapshot();
    let template = snapshot.locate(caller.viewer(), &reference, app.home.as_ref())?;
    let below = after.as_ref().map_or(Bound::Unbounded, Bound::Excluded);
    let versions =
        template.versions.range::<_, Version>((Bound::Unbounded, below)).rev().map(|(_, version)| version);
    let (found, next) = page.cut(versions, |version| version.version.to_string());
    let list = wire::templates::VersionList {
        reference: Reference::to(&template.location, Selector::Highest).to_string(),
        versions: found.into_iter().map(|one| view::version(app.urls(), &template.location, one)).collect(),
        next,
    };
    paging::answer(
        &app.base,
        uri,
        CachePolicy::Revalidate,
        &list,
        list.next.as_deref().map(|next| ("cursor", next)),
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
