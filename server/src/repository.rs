//! A registry as the repository it came from: GitHub's listing of contents, raw files by branch and path, and raw files
//! by version. For clients and managers of Deployment Manager that know nothing else, and for whatever takes an URL.
//!
//! ```text
//! /repos/<owner>/<repository>/contents/<path>           what is in a directory
//! /raw/<owner>/<repository>/<branch>/<path>             a file where the repository has it
//! /raw/<owner>/<repository>/[<collection>/]<template>/<version>/<file>     of the highest patch
//! ```
//!
//! `<owner>/<repository>` is at GitHub; the full name of a registry may stand in its place. Only what is published is
//! there: the directories of versions, and what is above them. What is not there is answered from memory alone, for old
//! clients ask four times.
//!
//! This module must not know who asks for what: the viewer's registries are all there are.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use base64::Engine as _;
use catalog::{RegistrySnapshot, Snapshot, TemplateSnapshot, VersionSnapshot, Viewer};
use http::header::CONTENT_TYPE;
use http::{HeaderValue, StatusCode, Uri};
use schema::reference::{Location, Reference, Selector};
use schema::{CollectionName, RegistryName, TemplateName, Version};
use serde::Serialize;

use crate::access::Caller;
use crate::api;
use crate::cache::{self, CachePolicy};
use crate::content_type;
use crate::error::{ApiError, ApiResult};
use crate::state::App;
use crate::target::encode_path;
use crate::view;

/// Where GitHub's raw files are.
const RAW_HOST: &str = "https://raw.githubusercontent.com/";
/// What a branch may be called where the registry has none: it is a directory.
const ANY_BRANCH: [&str; 2] = ["master", "main"];

pub(crate) fn routes() -> Router<Arc<App>> {
    let not_get = || async { Err::<(), ApiError>(api::method_error("GET")) };
    Router::new()
        .route("/repos/{*rest}", get(contents).fallback(not_get))
        .route("/raw/{*rest}", get(raw).fallback(not_get))
}

/// A file of a version, as a path or URL names it.
pub(crate) struct RepositoryFile<'s> {
    registry: &'s RegistrySnapshot,
    template: &'s TemplateSnapshot,
    version: &'s VersionSnapshot,
    /// The path inside the version.
    path: String,
}

impl RepositoryFile<'_> {
    /// The reference to exactly its version.
    pub(crate) fn version_reference(&self) -> Reference {
        view::exact(&self.template.location, self.version)
    }

    /// Its bytes, if the version has it.
    pub(crate) async fn bytes(&self, app: &App, caller: &Caller) -> Result<Option<bytes::Bytes>, ApiError> {
        let Some(entry) = self.version.file(&self.path) else { return Ok(None) };
        api::files::bytes(app, caller, &self.registry.name, entry).await.map(Some)
    }

    /// Whether it is in this registry.
    pub(crate) fn is_of(&self, registry: &RegistryName) -> bool {
        self.registry.name == *registry
    }

    /// Whether it is the template of its version.
    pub(crate) fn is_entry(&self) -> bool {
        self.version.entry == self.path
    }

    /// Whether its version has it.
    pub(crate) fn exists(&self) -> bool {
        self.version.file(&self.path).is_some()
    }
}

/// The file that an URL names: one of GitHub's raw files, or one of ours.
pub(crate) fn of_url<'s>(
    app: &App,
    snapshot: &'s Snapshot,
    viewer: &Viewer,
    url: &str,
) -> Option<RepositoryFile<'s>> {
    let own = format!("{}/raw/", app.shown_base);
    let path = url.strip_prefix(&own).or_else(|| url.strip_prefix(RAW_HOST))?;
    file(snapshot, viewer, &segments(path)?).filter(RepositoryFile::exists)
}

/// The URL of a file of a version, where the repository has it.
pub(crate) fn url_of(
    app: &App,
    registry: &RegistrySnapshot,
    version: &VersionSnapshot,
    path: &str,
) -> String {
    raw_url(app, registry, &format!("{}/{path}", version.path))
}

fn raw_url(app: &App, registry: &RegistrySnapshot, path: &str) -> String {
    let name = registry.name.as_str();
    let name = name.strip_prefix("github.com/").filter(|rest| rest.split('/').count() == 2).unwrap_or(name);
    let branch = registry.branch.as_deref().unwrap_or("HEAD");
    format!("{}/raw/{name}/{}", app.shown_base, encode_path(&format!("{branch}/{path}")))
}

/// The segments of a path, decoded; empty ones do not count.
fn segments(raw: &str) -> Option<Vec<Cow<'_, str>>> {
    raw.split('/').filter(|segment| !segment.is_empty()).map(crate::target::decode).collect()
}

/// The registry that segments begin with, and the rest of them.
fn registry<'s, 'p>(
    snapshot: &'s Snapshot,
    viewer: &Viewer,
    segments: &'p [Cow<'p, str>],
) -> Option<(&'s RegistrySnapshot, &'p [Cow<'p, str>])> {
    let named = |host: Option<&str>, count: usize| {
        let (name, rest) = segments.split_at_checked(count)?;
        let name =
            host.into_iter().chain(name.iter().map(|segment| &**segment)).collect::<Vec<_>>().join("/");
        let found = snapshot.registry(viewer, &name.parse::<RegistryName>().ok()?)?;
        Some((&**found, rest))
    };
    let full = (3..=segments.len()).rev().find_map(|count| named(None, count));
    full.or_else(|| named(Some("github.com"), 2))
}

/// The file that the segments of a raw path name: by branch and path, else by version.
fn file<'s>(snapshot: &'s Snapshot, viewer: &Viewer, all: &[Cow<'_, str>]) -> Option<RepositoryFile<'s>> {
    let (registry, rest) = registry(snapshot, viewer, all)?;
    let (branch, path) = rest.split_first()?;
    let by_path = is_served(registry, branch).then(|| at(registry, path)).flatten();
    by_path.or_else(|| by_version(snapshot, viewer, registry, rest))
}

/// Whether a branch, tag or commit is the one that is published.
fn is_served(registry: &RegistrySnapshot, branch: &str) -> bool {
    let of_directory = registry.branch.is_none() && ANY_BRANCH.contains(&branch);
    branch == "HEAD"
        || registry.branch.as_deref() == Some(branch)
        || registry.commit.as_deref() == Some(branch)
        || of_directory
}

/// What a path from the root of a repository is of a version that is listed; the version's directory has an empty path.
fn at<'s>(registry: &'s RegistrySnapshot, path: &[Cow<'_, str>]) -> Option<RepositoryFile<'s>> {
    // A version is two segments, behind the path of its collection, which has none for the root.
    (0..path.len().checked_sub(1)?).find_map(|count| {
        let (above, below) = path.split_at(count);
        let above = above.join("/");
        let mut collections = registry.collections.values().filter(|collection| collection.path == above);
        let template = collections
            .find_map(|collection| collection.templates.get(&below[0].parse::<TemplateName>().ok()?))?;
        let version = template.versions.values().find(|version| version.directory() == below[1])?;
        Some(RepositoryFile { registry, template, version, path: below[2..].join("/") })
    })
}

/// `[<collection>/]<template>/<version>/<file>`, with the highest patch of the version.
fn by_version<'s>(
    snapshot: &'s Snapshot,
    viewer: &Viewer,
    registry: &'s RegistrySnapshot,
    path: &[Cow<'_, str>],
) -> Option<RepositoryFile<'s>> {
    [0, 1].into_iter().find_map(|count| {
        let (collection, below) = path.split_at_checked(count)?;
        let [template, version, file @ ..] = below else { return None };
        if file.is_empty() {
            return None;
        }
        let location = Location {
            registry: registry.name.clone(),
            collection: collection.first().map(|name| name.parse::<CollectionName>()).transpose().ok()?,
            template: template.parse().ok()?,
        };
        let selector = Selector::HighestPatch(version.parse::<Version>().ok()?);
        let found = snapshot.resolve(viewer, &Reference::to(&location, selector), None).ok()?;
        let file = RepositoryFile {
            registry,
            template: found.template,
            version: found.version,
            path: file.join("/"),
        };
        file.exists().then_some(file)
    })
}

/// What is in a directory, as GitHub lists it.
#[derive(Debug, Serialize)]
struct Entry {
    #[serde(rename = "type")]
    entry_type: &'static str,
    name: String,
    path: String,
    size: u64,
    download_url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    encoding: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<String>,
}

impl Entry {
    fn directory(name: &str, path: String) -> Entry {
        Entry {
            entry_type: "dir",
            name: name.to_owned(),
            path,
            size: 0,
            download_url: None,
            encoding: None,
            content: None,
        }
    }
}

async fn contents(State(app): State<Arc<App>>, caller: Caller, uri: Uri) -> ApiResult {
    let raw = uri.path().strip_prefix("/repos/").unwrap_or_default();
    let snapshot = app.catalog.snapshot();
    let found = async {
        let all = segments(raw)?;
        let (registry, rest) = registry(&snapshot, caller.viewer(), &all)?;
        let (first, path) = rest.split_first()?;
        let branch = api::parameter(&uri, "ref").filter(|branch| !branch.is_empty());
        if first != "contents" || branch.is_some_and(|branch| !is_served(registry, &branch)) {
            return None;
        }
        if let Some(file) = at(registry, path).filter(RepositoryFile::exists) {
            return Some(one(&app, &caller, &file).await);
        }
        directory(&app, registry, path).map(|entries| said(&entries))
    };
    found.await.unwrap_or_else(|| {
        Ok(typed(StatusCode::NOT_FOUND, "application/json; charset=utf-8", r#"{"message":"Not Found"}"#))
    })
}

fn said(value: &impl Serialize) -> ApiResult {
    let body = serde_json::to_vec(value).map_err(ApiError::internal)?;
    let json = HeaderValue::from_static("application/json; charset=utf-8");
    Ok(api::typed(CachePolicy::Revalidate, json, body))
}

/// A file, with its bytes.
async fn one(app: &App, caller: &Caller, file: &RepositoryFile<'_>) -> ApiResult {
    let bytes = file.bytes(app, caller).await?.unwrap_or_default();
    let path = format!("{}/{}", file.version.path, file.path);
    said(&Entry {
        entry_type: "file",
        name: file.path.rsplit('/').next().unwrap_or_default().to_owned(),
        size: bytes.len() as u64,
        download_url: Some(raw_url(app, file.registry, &path)),
        path,
        encoding: Some("base64"),
        content: Some(base64::engine::general_purpose::STANDARD.encode(&bytes)),
    })
}

/// What is directly below a path: files and directories of a version, or what leads to versions.
fn directory(app: &App, registry: &RegistrySnapshot, path: &[Cow<'_, str>]) -> Option<Vec<Entry>> {
    let mut entries = BTreeMap::<String, Entry>::new();
    let here = path.join("/");
    let child = |name: &str| if here.is_empty() { name.to_owned() } else { format!("{here}/{name}") };
    if let Some(within) = at(registry, path) {
        for file in within.version.files.iter() {
            let Some(rest) = below(&within.path, &file.path) else { continue };
            let (name, is_file) = match rest.split_once('/') {
                Some((name, _)) => (name, false),
                None => (rest, true),
            };
            let mut entry = Entry::directory(name, child(name));
            if is_file {
                (entry.entry_type, entry.size) = ("file", file.size);
                entry.download_url = Some(url_of(app, registry, within.version, &file.path));
            }
            entries.insert(name.to_owned(), entry);
        }
    } else {
        for version in registry.templates().flat_map(|template| template.versions.values()) {
            if let Some(rest) = below(&here, &version.path) {
                let name = rest.split('/').next().unwrap_or(rest);
                entries.entry(name.to_owned()).or_insert_with(|| Entry::directory(name, child(name)));
            }
        }
    }
    (here.is_empty() || !entries.is_empty()).then(|| entries.into_values().collect())
}

/// What of a path is below a directory; the root is empty.
fn below<'p>(directory: &str, path: &'p str) -> Option<&'p str> {
    if directory.is_empty() {
        return Some(path);
    }
    path.strip_prefix(directory)?.strip_prefix('/')
}

async fn raw(State(app): State<Arc<App>>, caller: Caller, uri: Uri) -> ApiResult {
    let raw = uri.path().strip_prefix("/raw/").unwrap_or_default();
    let snapshot = app.catalog.snapshot();
    let found = segments(raw).and_then(|all| file(&snapshot, caller.viewer(), &all));
    let Some(found) = found.filter(RepositoryFile::exists) else {
        return Ok(typed(StatusCode::NOT_FOUND, "text/plain; charset=utf-8", "404: Not Found"));
    };
    let bytes = found.bytes(&app, &caller).await?.unwrap_or_default();
    let tag = cache::entity_tag(&bytes);
    let mut response = Body::from(bytes.clone()).into_response();
    content_type::describe(response.headers_mut(), &found.path, &bytes);
    response.headers_mut().insert(http::header::ETAG, tag);
    response.extensions_mut().insert(CachePolicy::Revalidate);
    Ok(response)
}

/// What is not there, in the words of the host that is stood in for.
fn typed(status: StatusCode, content_type: &'static str, body: &'static str) -> Response {
    (status, [(CONTENT_TYPE, HeaderValue::from_static(content_type))], body).into_response()
}
