//! `GET /api/v1/templates/<reference>/-/renovate`: the versions of a template, as bots read them that raise pull requests.

use std::collections::BTreeMap;

use catalog::{TemplateSnapshot, VersionSnapshot};
use schema::reference::{Reference, Selector};
use wire::renovate::{Datasource, Release};

use crate::access::Caller;
use crate::api;
use crate::cache::CachePolicy;
use crate::error::ApiResult;
use crate::state::App;
use crate::time::rfc3339;
use crate::view;

/// The versions of a template, as a custom datasource of Renovate
#[utoipa::path(
    get, path = "/api/v1/templates/{reference}/-/renovate", tag = "templates", operation_id = "get_renovate",
    params(("reference" = String, Path, description = "The template, without a version; its slashes stay slashes", example = "redis")),
    responses(
        (status = 200, description = "Every version that can be asked for, newest first", body = Datasource),
        (status = 404, description = "Nothing has that name", body = wire::Problem, content_type = "application/problem+json"),
    )
)]
pub(crate) fn get_renovate(app: &App, caller: &Caller, requested: &str) -> ApiResult {
    let reference = api::templates::without_version(requested)?;
    let snapshot = app.catalog.snapshot();
    let template = snapshot.locate(caller.viewer(), &reference, app.home.as_ref())?;
    let registry = snapshot.registry(caller.viewer(), &template.location.registry);
    let source = registry.map(|registry| registry.source.as_str());
    let source = source.filter(|source| source.starts_with("https://") || source.starts_with("http://"));
    // Renovate opens these by themselves, so an address from the root of this server is none to it.
    let page = |reference: &Reference| (!app.base.is_empty()).then(|| app.urls().page(reference));
    let release = |version: &VersionSnapshot| Release {
        version: version.version.to_string(),
        is_deprecated: version.withdrawn.is_some() || version.deprecated.is_some(),
        release_timestamp: rfc3339(
            version.introduced.as_ref().map_or(version.published_at, |introduced| introduced.at),
        ),
        digest: version.digest.to_string(),
        changelog_url: page(&view::exact(&template.location, version)),
    };
    let latest = template.latest().filter(|latest| latest.is_choosable());
    let answer = Datasource {
        releases: template.versions.values().rev().map(|version| release(version)).collect(),
        source_url: source.map(|source| source.strip_suffix(".git").unwrap_or(source).to_owned()),
        source_directory: source.and_then(|_| directory(template)),
        homepage: page(&Reference::to(&template.location, Selector::Highest)),
        tags: latest
            .map(|latest| ("latest".to_owned(), latest.version.to_string()))
            .into_iter()
            .collect::<BTreeMap<_, _>>(),
    };
    api::json(CachePolicy::Revalidate, &answer)
}

/// The directory that the versions of a template are in.
fn directory(template: &TemplateSnapshot) -> Option<String> {
    let (directory, _) = template.latest()?.path.rsplit_once('/')?;
    Some(directory.to_owned())
}
