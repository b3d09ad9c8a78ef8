//! Files of versions, raw: by reference, which must be asked about again, and by digest, which never changes. Hot.

use bytes::Bytes;
use catalog::{FileEntry, VersionSnapshot};
use http::Uri;
use http::header::HeaderMap;
use schema::RegistryName;
use wire::ProblemKind;

use crate::access::Caller;
use crate::api;
use crate::cache::{self, CachePolicy};
use crate::content_type;
use crate::error::ApiError;
use crate::ready::ReadyAnswer;
use crate::state::App;
use crate::target::{self, Aspect};
use crate::view;

/// A file of the version that a reference gets
#[utoipa::path(
    get, path = "/api/v1/templates/{reference}/-/files/{path}", tag = "files", operation_id = "get_file",
    params(
        ("reference" = String, Path, description = "The reference; its slashes stay slashes", example = "redis:v1"),
        ("path" = String, Path, description = "The path of the file inside the version; its slashes stay slashes", example = "redis.yaml"),
    ),
    responses(
        (status = 200, description = "The bytes as they are in the repository", content_type = "application/octet-stream"),
        (status = 304, description = "The client has these bytes already"),
        (status = 400, description = "The reference cannot be read", body = wire::Problem, content_type = "application/problem+json"),
        (status = 404, description = "No such version or file", body = wire::Problem, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn make_by_reference(
    app: &App,
    caller: &Caller,
    uri: &Uri,
) -> Result<ReadyAnswer, ApiError> {
    let raw = uri.path().strip_prefix("/api/v1/templates/").unwrap_or_default();
    let target = target::split(raw).ok_or_else(api::templates::not_text)?;
    let Some(Aspect::File(path)) = &target.aspect else { return Err(api::unknown_path(uri.clone()).await) };
    let reference = api::reference(&target.reference)?;
    let snapshot = app.catalog.snapshot();
    let found = snapshot.resolve(caller.viewer(), &reference, app.home.as_ref())?;
    let entry = entry(found.version, path)?;
    let body = bytes(app, caller, &found.template.location.registry, entry).await?;
    Ok(raw_file(path, entry, body, CachePolicy::pointer(caller), snapshot.generation))
}

/// A file of a version by the version's digest: these bytes for ever
#[utoipa::path(
    get, path = "/api/v1/content/{registry}/{digest}/{path}", tag = "files", operation_id = "get_content",
    params(
        ("registry" = String, Path, description = "The registry; its slashes stay slashes", example = "github.com/acme/templates"),
        ("digest" = String, Path, description = "The digest of the version"),
        ("path" = String, Path, description = "The path of the file inside the version; nothing for the listing"),
    ),
    responses(
        (status = 200, description = "The bytes; may be kept for ever", content_type = "application/octet-stream"),
        (status = 304, description = "The client has these bytes already"),
        (status = 404, description = "No such digest in that registry, or no such file", body = wire::Problem, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn make_by_digest(app: &App, caller: &Caller, uri: &Uri) -> Result<ReadyAnswer, ApiError> {
    let raw = uri.path().strip_prefix("/api/v1/content/").unwrap_or_default();
    let (registry, digest, path) = target::split_content(raw).ok_or_else(|| {
        ApiError::new(ProblemKind::UnknownPath, "this is no address of content")
            .hint("Content is at /api/v1/content/<registry>/sha256:<64 digits>/<path>; `resolve` gives the address of each file.")
    })?;
    let snapshot = app.catalog.snapshot();
    let unknown = || {
        ApiError::new(ProblemKind::UnknownDigest, format!("no version in {registry} has the digest {digest}"))
            .part("digest")
    };
    let found = snapshot.registry(caller.viewer(), &registry).ok_or_else(unknown)?;
    let version = found.content(&digest).or_else(|| found.held(caller.viewer(), &digest));
    let version = version.ok_or_else(|| match found.purged(&digest) {
        Some(purge) => {
            catalog::Missing::Purged { reference: format!("{registry}@{digest}"), purge: purge.clone() }
                .into()
        }
        None => unknown(),
    })?;
    if path.is_empty() {
        return listing(app, caller, &found.name, version, snapshot.generation);
    }
    let entry = entry(version, &path)?;
    let body = bytes(app, caller, &found.name, entry).await?;
    Ok(raw_file(&path, entry, body, CachePolicy::content(found.visibility), snapshot.generation))
}

fn listing(
    app: &App,
    caller: &Caller,
    registry: &RegistryName,
    version: &VersionSnapshot,
    generation: u64,
) -> Result<ReadyAnswer, ApiError> {
    let list = wire::files::FileList {
        reference: format!("{registry}@{}", version.digest),
        digest: version.digest.to_string(),
        files: view::file_list(app.urls(), registry, version),
    };
    let body = serde_json::to_vec(&list).map_err(ApiError::internal)?;
    let mut headers = HeaderMap::with_capacity(8);
    headers.insert(http::header::CONTENT_TYPE, http::HeaderValue::from_static("application/json"));
    headers.insert(http::header::X_CONTENT_TYPE_OPTIONS, http::HeaderValue::from_static("nosniff"));
    let tag = cache::entity_tag(&body);
    // Not immutable: it names URLs, which change with the public URL.
    cache::apply(&mut headers, CachePolicy::pointer(caller), Some(tag.clone()));
    Ok(ReadyAnswer::new(headers, tag, body.into(), generation))
}

/// The entry of a path. Paths are looked up among those of the version, never joined to anything.
pub(crate) fn entry<'a>(version: &'a VersionSnapshot, path: &str) -> Result<&'a FileEntry, ApiError> {
    version.file(path).ok_or_else(|| {
        let detail = format!("{} has no file `{}`", version.version, schema::finding::shown(path.as_bytes()));
        ApiError::new(ProblemKind::UnknownFile, detail)
            .part("file")
            .near(version.files.iter().map(|file| file.path.clone()))
    })
}

/// The bytes of a file, from memory if they are there.
pub(crate) async fn bytes(
    app: &App,
    caller: &Caller,
    registry: &RegistryName,
    entry: &FileEntry,
) -> Result<Bytes, ApiError> {
    let found = app
        .catalog
        .blob_or_load(caller.viewer(), registry, &entry.digest)
        .await
        .map_err(ApiError::internal)?;
    found.ok_or_else(|| {
        ApiError::internal(format!("the content {} of `{}` is not in the store", entry.digest, entry.path))
    })
}

fn raw_file(path: &str, entry: &FileEntry, body: Bytes, policy: CachePolicy, generation: u64) -> ReadyAnswer {
    let mut headers = HeaderMap::with_capacity(10);
    content_type::describe(&mut headers, path, &body);
    let tag = cache::tag_of(&entry.digest, "");
    cache::apply(&mut headers, policy, Some(tag.clone()));
    ReadyAnswer::new(headers, tag, body, generation)
}
