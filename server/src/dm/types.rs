//! Types: the schemas of templates, and what of a type is deployed.

use std::collections::BTreeSet;

use http::StatusCode;
use schema::Reference;
use schema::finding::shown;
use schema::reference::Selector;
use wire::ProblemKind;

use super::deployments::{StoredLayout, all, load, manifest_name};
use super::{Asking, layout, list_or_null, registries, said};
use crate::api;
use crate::cache::CachePolicy;
use crate::error::{ApiError, ApiResult};
use crate::repository::{self, RepositoryFile};

pub(super) async fn list(asking: &Asking<'_>) -> ApiResult {
    let mut types = BTreeSet::new();
    for deployment in all(asking).await? {
        let stored =
            load::<StoredLayout>(asking, &deployment.name, &manifest_name(deployment.latest)).await?;
        layout::types(&stored.layout, &mut types);
    }
    said(StatusCode::OK, CachePolicy::NoStore, &list_or_null(types.into_iter().collect()))
}

pub(super) async fn instances(asking: &Asking<'_>, of: &str) -> ApiResult {
    let mut found = Vec::new();
    for deployment in all(asking).await? {
        let manifest = manifest_name(deployment.latest);
        let stored = load::<StoredLayout>(asking, &deployment.name, &manifest).await?;
        found.extend(layout::instances(&stored.layout, of, &deployment.name, &manifest));
    }
    said(StatusCode::OK, CachePolicy::NoStore, &list_or_null(found))
}

/// The version a type names; `None` for a type that is no template, like `Pod` or `v1/My Pod`.
///
/// # Errors
/// When it must be a reference (it says a version, a host, or a scheme) and leads nowhere.
fn resolve<'s>(asking: &'s Asking<'_>, of: &str) -> Result<Option<catalog::Resolved<'s>>, ApiError> {
    let viewer = asking.caller.viewer();
    if of.contains("://") {
        let found = repository::of_url(asking.app, asking.snapshot, viewer, of);
        let found = found.filter(RepositoryFile::is_entry).map(|file| file.version_reference());
        let found = found.and_then(|exact| asking.snapshot.resolve(viewer, &exact, None).ok());
        let detail = || format!("`{}` is at no registry of this server", shown(of.as_bytes()));
        return found.map(Some).ok_or_else(|| ApiError::new(ProblemKind::UnknownRegistry, detail()));
    }
    let has_host = of.split('/').next().is_some_and(|host| host.contains('.')) && of.contains('/');
    let reference = match of.parse::<Reference>() {
        Ok(reference) => reference,
        Err(error) if has_host => return Err(error.into()),
        Err(_) => return Ok(None),
    };
    let is_plain = !has_host && reference.selector == Selector::Highest && reference.digest.is_none();
    match asking.snapshot.resolve(viewer, &reference, asking.home.as_ref()) {
        Ok(found) => Ok(Some(found)),
        Err(_) if is_plain => Ok(None),
        Err(missing) => Err(missing.into()),
    }
}

/// The schema of a template as text: its own, or for a kind that has none its parameters as a JSON Schema in YAML.
pub(super) async fn metadata(asking: &Asking<'_>, of: &str) -> ApiResult {
    let Some(found) = resolve(asking, of)? else {
        return said(StatusCode::OK, CachePolicy::Revalidate, &"");
    };
    let version = found.version;
    let registry = &found.template.location.registry;
    let text = match version.file(&format!("{}.schema", version.entry)) {
        Some(entry) => {
            let bytes = api::files::bytes(asking.app, asking.caller, registry, entry).await?;
            String::from_utf8_lossy(&bytes).into_owned()
        }
        None if version.inspection.parameters.is_null() => String::new(),
        None => wire::text::yaml(&version.inspection.parameters),
    };
    said(StatusCode::OK, CachePolicy::Revalidate, &text)
}

/// The registry a type is in, by the name the caller gave it if they gave it one.
pub(super) async fn registry_of(asking: &Asking<'_>, of: &str) -> ApiResult {
    let Some(found) = resolve(asking, of)? else {
        let detail = format!("Failed to find registry for url: {}", shown(of.as_bytes()));
        return Err(ApiError::new(ProblemKind::UnknownRegistry, detail));
    };
    let name = registries::name_for(asking, &found.template.location).await?;
    said(StatusCode::OK, CachePolicy::NoStore, &name)
}
