//! Registries as clients know them: by their full names, by `owner/repository` at GitHub, or by a name of the client's
//! own.
//!
//! Registries are the operator's. `createregistry` of one that is served here gives it a name for the caller's further
//! requests; of any other it adds the registry if the caller's token has the scope `admin` for it, as
//! `POST /api/v1/registries` does, and is refused otherwise.

use axum::body::Body;
use catalog::{NamedRegistry, RegistrySnapshot, Scope};
use http::StatusCode;
use indexer::{RegistryConfig, Revision};
use regex::RegexBuilder;
use schema::finding::shown;
use schema::reference::{Home, Location};
use schema::{CollectionName, Reference, RegistryName};
use wire::ProblemKind;
use wire::dm::{Registry, RegistryType, TypeVersion};

use super::{Asking, base, configuration, list_or_null, path, said, wrong};
use crate::access::require_on;
use crate::cache::CachePolicy;
use crate::error::{ApiError, ApiResult};
use crate::repository;

/// The name a client sends if it is given none: where short references go.
const DEFAULT_NAME: &str = "application-dm-templates";
/// Memory an expression may take once compiled.
const EXPRESSION_BYTES: usize = 1 << 20;

/// A registry that is meant, and perhaps a collection of it.
struct Meant<'s> {
    registry: &'s RegistrySnapshot,
    collection: Option<CollectionName>,
}

impl Meant<'_> {
    fn home(&self) -> Home {
        Home { registry: self.registry.name.clone(), collection: self.collection.clone() }
    }
}

/// The names the caller gave to registries.
async fn own_names(asking: &Asking<'_>) -> Result<Vec<Registry>, ApiError> {
    let Some(owner) = asking.reader() else { return Ok(Vec::new()) };
    let names = asking.app.catalog.registry_names(&owner, asking.now).await.map_err(ApiError::internal)?;
    names.into_iter().map(|named| serde_json::from_str(&named.content).map_err(ApiError::internal)).collect()
}

/// The registry behind a place without a scheme, `github.com/owner/repository[/collection]`, if the caller may see it.
fn at_place<'s>(asking: &Asking<'s>, place: &str) -> Option<Meant<'s>> {
    let viewer = asking.caller.viewer();
    if let Some(registry) = base::find(asking.snapshot, viewer, place) {
        return Some(Meant { registry, collection: None });
    }
    let (name, collection) = place.rsplit_once('/')?;
    let registry = base::find(asking.snapshot, viewer, name)?;
    let collection = collection.parse::<CollectionName>().ok()?;
    registry.collection(Some(&collection))?;
    Some(Meant { registry, collection: Some(collection) })
}

/// The registry a name means.
async fn meant<'s>(asking: &Asking<'s>, name: &str) -> Result<Meant<'s>, ApiError> {
    let own = own_names(asking).await?;
    if let Some(meant) = own.iter().find(|own| own.name == name).and_then(|own| at_place(asking, &own.url)) {
        return Ok(meant);
    }
    // A collection behind a name of the caller's own, too.
    if let Some((first, collection)) = name.split_once('/')
        && let Some(own) = own.iter().find(|own| own.name == first)
        && let Some(meant) = at_place(asking, &format!("{}/{collection}", own.url))
    {
        return Ok(meant);
    }
    if let Some(meant) = at_place(asking, name) {
        return Ok(meant);
    }
    if name == DEFAULT_NAME
        && let Some(home) = &asking.home
        && let Some(registry) = asking.snapshot.registry(asking.caller.viewer(), &home.registry)
    {
        return Ok(Meant { registry, collection: home.collection.clone() });
    }
    let detail = format!("Failed to find registry named {}", shown(name.as_bytes()));
    Err(ApiError::new(ProblemKind::UnknownRegistry, detail))
}

/// A registry by its own name.
fn told(registry: &RegistrySnapshot) -> Registry {
    let name = registry.name.to_string();
    let registry_type = if name.starts_with("github.com/") { "github" } else { "git" }.to_owned();
    let format = "versioned;collection".to_owned();
    Registry { url: name.clone(), name, registry_type, format, credential_name: String::new() }
}

pub(super) async fn list(asking: &Asking<'_>) -> ApiResult {
    let mut all = own_names(asking).await?;
    all.retain(|own| at_place(asking, &own.url).is_some());
    all.extend(asking.snapshot.visible(asking.caller.viewer()).map(|registry| told(registry)));
    said(StatusCode::OK, CachePolicy::NoStore, &list_or_null(all))
}

pub(super) async fn get(asking: &Asking<'_>, name: &str) -> ApiResult {
    let own = own_names(asking).await?;
    let meant = meant(asking, name).await?;
    let own = own.into_iter().find(|own| own.name == name);
    said(StatusCode::OK, CachePolicy::NoStore, &own.unwrap_or_else(|| told(meant.registry)))
}

/// What the caller calls the registry of a place.
pub(super) async fn name_for(asking: &Asking<'_>, place: &Location) -> Result<String, ApiError> {
    let is_it = |own: &Registry| {
        at_place(asking, &own.url).is_some_and(|meant| {
            let inside = meant.collection.is_none() || meant.collection == place.collection;
            meant.registry.name == place.registry && inside
        })
    };
    let own = own_names(asking).await?.into_iter().find(is_it);
    Ok(own.map_or_else(|| place.registry.to_string(), |own| own.name))
}

pub(super) async fn create(asking: &Asking<'_>, name: &str, body: Body) -> ApiResult {
    let owner = asking.writer()?;
    let value = configuration::document(asking, body, "a registry with `name` and `url`").await?;
    let mut asked = serde_json::from_value::<Registry>(value)
        .map_err(|error| wrong(format!("the body is no registry: {error}")))?;
    if asked.name != name {
        let (asked, name) = (shown(asked.name.as_bytes()), shown(name.as_bytes()));
        return Err(wrong(format!("Registry name does not match {asked} != {name}")));
    }
    if !path::is_name(&asked.url) || catalog::find_secret(&asked.url).is_some() {
        return Err(wrong("a registry needs an `url`, like github.com/owner/repository"));
    }
    let place = asked.url.strip_prefix("https://").unwrap_or(&asked.url).trim_end_matches('/');
    asked.url = place.strip_suffix(".git").unwrap_or(place).to_owned();
    if at_place(asking, &asked.url).is_none() {
        add(asking, &asked.url).await?;
    }
    let content = serde_json::to_string(&asked).map_err(ApiError::internal)?;
    let named = NamedRegistry { name: asked.name.clone(), content };
    let done = asking.app.catalog.name_registry(&owner, &named, asking.app.dm.limits, asking.now).await;
    done.map_err(ApiError::internal)?
        .map_err(|refusal| ApiError::new(ProblemKind::LimitExceeded, refusal.to_string()))?;
    said(StatusCode::OK, CachePolicy::NoStore, &asked)
}

/// Adds a registry that is not here, for whoever may.
async fn add(asking: &Asking<'_>, url: &str) -> Result<(), ApiError> {
    let place = shown(url.as_bytes());
    let refused = |kind| {
        ApiError::new(
            kind,
            format!("the registry {place} is not served here, and registries are the operator's"),
        )
        .hint("ask for it to be added, or use a token with the scope `admin`: dm --service URL/dm/t/TOKEN")
    };
    let name = url.parse::<RegistryName>().map_err(|_| refused(ProblemKind::Forbidden))?;
    let by = match require_on(asking.caller, Scope::Admin, &name) {
        Ok(grant) => grant.token.name.clone(),
        Err(error) => return Err(refused(error.kind)),
    };
    let source = format!("https://{url}");
    let admitted = asking
        .app
        .syncs
        .admit(name.clone(), &source, Revision::Default)
        .map_err(|error| wrong(error.to_string()))?;
    let config = RegistryConfig { visibility: Some(catalog::Visibility::default()), ..admitted };
    asking.app.syncs.add(config).await.map_err(ApiError::internal)?;
    tracing::info!(registry = %name, %by, "a registry was added");
    Ok(())
}

pub(super) async fn types(asking: &Asking<'_>, name: &str, regex: Option<&str>) -> ApiResult {
    let meant = meant(asking, name).await?;
    let expression = regex.map(|text| {
        RegexBuilder::new(text).size_limit(EXPRESSION_BYTES).dfa_size_limit(EXPRESSION_BYTES).build()
    });
    let expression = expression.transpose().map_err(|error| {
        let error = error.to_string();
        let reason = error.lines().last().unwrap_or_default().trim_start_matches("error: ");
        wrong(format!("error parsing regexp: {reason}"))
    })?;
    let mut found = Vec::new();
    for template in meant.registry.templates() {
        let place = &template.location;
        if meant.collection.is_some() && meant.collection != place.collection {
            continue;
        }
        for version in template.versions.values().filter(|version| version.is_choosable()) {
            let version = &version.version;
            if version.is_pre_release() {
                continue;
            }
            let version =
                TypeVersion { major: version.major(), minor: version.minor(), patch: version.patch() };
            let collection = place.collection.as_ref().map(ToString::to_string).unwrap_or_default();
            let listed = RegistryType { collection, name: place.template.to_string(), version };
            if expression.as_ref().is_none_or(|expression| expression.is_match(&listed.path())) {
                found.push(listed);
            }
        }
    }
    said(StatusCode::OK, CachePolicy::Revalidate, &list_or_null(found))
}

/// Where the files of a type are.
pub(super) async fn locations(asking: &Asking<'_>, name: &str, of: &str) -> ApiResult {
    let meant = meant(asking, name).await?;
    let reference = of.parse::<Reference>()?;
    let found = asking.snapshot.resolve(asking.caller.viewer(), &reference, Some(&meant.home()))?;
    let url = repository::url_of(asking.app, meant.registry, found.version, &found.version.entry);
    said(StatusCode::OK, CachePolicy::Revalidate, &[url])
}

/// A file of a registry as text.
pub(super) async fn download(asking: &Asking<'_>, name: &str, file: Option<&str>) -> ApiResult {
    let meant = meant(asking, name).await?;
    let url = file.filter(|url| !url.is_empty()).ok_or_else(|| wrong("`file` says no URL"))?;
    let viewer = asking.caller.viewer();
    let found = repository::of_url(asking.app, asking.snapshot, viewer, url);
    let found = found.filter(|file| file.is_of(&meant.registry.name)).ok_or_else(|| {
        let detail =
            format!("404: Not Found: {} is no file of {}", shown(url.as_bytes()), meant.registry.name);
        ApiError::new(ProblemKind::UnknownFile, detail)
    })?;
    let bytes = found.bytes(asking.app, asking.caller).await?.unwrap_or_default();
    said(StatusCode::OK, CachePolicy::Revalidate, &String::from_utf8_lossy(&bytes))
}
