//! Files of versions, raw, and archives of all of them: by reference, which must be asked about again, and by digest,
//! which never changes. Hot.

use bytes::Bytes;
use catalog::{FileEntry, VersionSnapshot};
use http::Uri;
use http::header::{
    CONTENT_DISPOSITION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, X_CONTENT_TYPE_OPTIONS,
};
use schema::{Digest, RegistryName};
use wire::ProblemKind;

use crate::access::Caller;
use crate::api;
use crate::archive::{self, Entry};
use crate::cache::{self, CachePolicy};
use crate::content_type;
use crate::error::ApiError;
use crate::ready::ReadyAnswer;
use crate::state::App;
use crate::target::{self, Aspect, Content};
use crate::view;

/// A file of the version that a reference gets
#[utoipa::path(
    get, path = "/api/v1/templates/{reference}/-/files/{path}", tag = "files", operation_id = "get_file",
    params(
        ("reference" = String, Path, description = "The reference; its slashes stay slashes", example = "redis:v1"),
        ("path" = String, Path, description = "The path of the file inside the version; its slashes stay slashes", example = "redis.yaml"),
    ),
    responses(
        (status = 200, description = "The bytes as they are in the repository", content_type = "*/*"),
        (status = 206, description = "The range that was asked for", content_type = "*/*"),
        (status = 416, description = "The range is behind the end", body = wire::Problem, content_type = "application/problem+json"),
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
    let reference = api::reference(&target.reference)?;
    let snapshot = app.catalog.snapshot();
    let resolve = || snapshot.resolve(caller.viewer(), &reference, app.home.as_ref());
    let policy = CachePolicy::pointer(caller);
    match &target.aspect {
        Some(Aspect::File(path)) => {
            let found = resolve()?;
            let entry = entry(found.version, path)?;
            let body = bytes(app, caller, &found.template.location.registry, entry).await?;
            Ok(raw_file(found.version, path, entry, body, policy, snapshot.generation))
        }
        Some(Aspect::Archive) => {
            let found = resolve()?;
            let location = &found.template.location;
            let name = format!("{}-{}", location.template, found.version.version);
            archive(app, caller, &location.registry, found.version, &name, policy, snapshot.generation).await
        }
        _ => Err(api::unknown_path(uri.clone()).await),
    }
}

/// All files of the version that a reference gets, in an archive
#[utoipa::path(
    get, path = "/api/v1/templates/{reference}/-/archive.tar.gz", tag = "files", operation_id = "get_archive",
    params(
        ("reference" = String, Path, description = "The reference; its slashes stay slashes", example = "redis:v1"),
    ),
    responses(
        (status = 200, description = "The archive: for one digest always the same bytes. `Formwork-Digest` is the digest of the version", content_type = "application/gzip"),
        (status = 206, description = "The range that was asked for", content_type = "application/gzip"),
        (status = 404, description = "No such version", body = wire::Problem, content_type = "application/problem+json"),
        (status = 416, description = "The range is behind the end", body = wire::Problem, content_type = "application/problem+json"),
    )
)]
#[expect(dead_code, reason = "the description of a route that `make_by_reference` answers")]
fn describe_archive() {}

/// All files of a version by its digest, in an archive: these bytes for ever
#[utoipa::path(
    get, path = "/api/v1/content/{registry}/{digest}.tar.gz", tag = "files", operation_id = "get_content_archive",
    params(
        ("registry" = String, Path, description = "The registry; its slashes stay slashes", example = "github.com/acme/templates"),
        ("digest" = String, Path, description = "The digest of the version", example = "sha256:e47cad77e09ee1279cde04a933395c1d6996d6015e4af0d23e1c21d18997774e"),
    ),
    responses(
        (status = 200, description = "The archive; may be kept for ever", content_type = "application/gzip"),
        (status = 206, description = "The range that was asked for", content_type = "application/gzip"),
        (status = 404, description = "No such digest in that registry", body = wire::Problem, content_type = "application/problem+json"),
        (status = 416, description = "The range is behind the end", body = wire::Problem, content_type = "application/problem+json"),
    )
)]
#[expect(dead_code, reason = "the description of a route that `make_by_digest` answers")]
fn describe_content_archive() {}

/// A file of a version by the version's digest: these bytes for ever
#[utoipa::path(
    get, path = "/api/v1/content/{registry}/{digest}/{path}", tag = "files", operation_id = "get_content",
    params(
        ("registry" = String, Path, description = "The registry; its slashes stay slashes", example = "github.com/acme/templates"),
        ("digest" = String, Path, description = "The digest of the version", example = "sha256:e47cad77e09ee1279cde04a933395c1d6996d6015e4af0d23e1c21d18997774e"),
        ("path" = String, Path, description = "The path of the file inside the version; nothing for the listing", example = "redis.yaml"),
    ),
    responses(
        (status = 200, description = "The bytes; may be kept for ever", content_type = "*/*"),
        (status = 206, description = "The range that was asked for", content_type = "*/*"),
        (status = 416, description = "The range is behind the end", body = wire::Problem, content_type = "application/problem+json"),
        (status = 304, description = "The client has these bytes already"),
        (status = 404, description = "No such digest in that registry, or no such file", body = wire::Problem, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn make_by_digest(app: &App, caller: &Caller, uri: &Uri) -> Result<ReadyAnswer, ApiError> {
    let raw = uri.path().strip_prefix("/api/v1/content/").unwrap_or_default();
    let (registry, digest, content) = target::split_content(raw).ok_or_else(|| {
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
    let policy = CachePolicy::content(found.visibility);
    match content {
        Content::Listing => listing(app, caller, &found.name, version, snapshot.generation),
        Content::File(path) => {
            let entry = entry(version, &path)?;
            let body = bytes(app, caller, &found.name, entry).await?;
            Ok(raw_file(version, &path, entry, body, policy, snapshot.generation))
        }
        Content::Archive => {
            // Of two versions with one content neither is meant more than the other.
            let name = &digest.hex()[..12];
            archive(app, caller, &found.name, version, name, policy, snapshot.generation).await
        }
    }
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
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
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

fn raw_file(
    version: &VersionSnapshot,
    path: &str,
    entry: &FileEntry,
    body: Bytes,
    policy: CachePolicy,
    generation: u64,
) -> ReadyAnswer {
    let mut headers = HeaderMap::with_capacity(14);
    content_type::describe(&mut headers, path, &body);
    headers.insert(&VERSION_DIGEST, digest_header(version));
    let tag = cache::tag_of(&entry.digest);
    cache::apply(&mut headers, policy, Some(tag.clone()));
    ReadyAnswer::new(headers, tag, body, generation).of_content(entry.digest)
}

/// The digest of the version that bytes are of, so that whoever follows a version can say which they got.
static VERSION_DIGEST: HeaderName = HeaderName::from_static("formwork-digest");

fn digest_header(version: &VersionSnapshot) -> HeaderValue {
    HeaderValue::from_str(&version.digest.to_string()).expect("a digest is header text")
}

/// The archive of a version, as it is kept or made now.
async fn archive(
    app: &App,
    caller: &Caller,
    registry: &RegistryName,
    version: &VersionSnapshot,
    name: &str,
    policy: CachePolicy,
    generation: u64,
) -> Result<ReadyAnswer, ApiError> {
    let body = match app.packed.archive(&version.digest) {
        Some(archive) => archive,
        None => {
            let mut entries = Vec::with_capacity(version.files.len());
            for file in version.files.iter() {
                let body = bytes(app, caller, registry, file).await?;
                entries.push(Entry { path: file.path.clone(), executable: file.executable, body });
            }
            let made = tokio::task::spawn_blocking(move || archive::archive(entries)).await;
            let made = made.map_err(ApiError::internal)?.map_err(ApiError::internal)?;
            app.packed.keep_archive(version.digest, made.clone());
            made
        }
    };
    let mut headers = HeaderMap::with_capacity(14);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/gzip"));
    let disposition = format!("attachment; filename=\"{name}.tar.gz\"");
    let disposition = HeaderValue::from_str(&disposition).map_err(ApiError::internal)?;
    headers.insert(CONTENT_DISPOSITION, disposition);
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(&VERSION_DIGEST, digest_header(version));
    let digest = Digest::of(&body);
    let tag = cache::tag_of(&digest);
    cache::apply(&mut headers, policy, Some(tag.clone()));
    Ok(ReadyAnswer::new(headers, tag, body, generation).of_content(digest))
}
