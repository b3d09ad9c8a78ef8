//! `POST /api/v1/registries/<name>/-/…`: what an operator decides about versions (`accept`, `purge`), and `sync` for
//! whoever does not want to wait for the clock.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use catalog::{Acceptance, Erasure, Scope, WriteError};
use http::header::LOCATION;
use http::{HeaderValue, Request, StatusCode, Uri};
use schema::reference::{Home, Location, Reference, Selector};
use schema::{Digest, RegistryName, Version};
use wire::ProblemKind;
use wire::history::{AcceptRequest, Accepted, PurgeRequest, Purged};

use crate::access::{Caller, require, require_on};
use crate::cache::CachePolicy;
use crate::error::{ApiError, ApiResult};
use crate::state::App;
use crate::{api, target, time, view};

/// Longest reason, in characters: it is part of every later answer.
const REASON: usize = 500;

/// Lets in what was held back of a registry
#[utoipa::path(
    post, path = "/api/v1/registries/{name}/-/accept", tag = "history", operation_id = "accept_held",
    params(("name" = String, Path, description = "The registry; its slashes stay slashes", example = "github.com/acme/templates")),
    request_body(content = AcceptRequest, description = "One of: a version with the digest of its rewrite, `drop`, `history`"),
    responses(
        (status = 200, description = "It is in", body = Accepted),
        (status = 400, description = "The body cannot be read", body = wire::Problem, content_type = "application/problem+json"),
        (status = 401, description = "A token with the scope `admin` is needed", body = wire::Problem, content_type = "application/problem+json"),
        (status = 403, description = "The token allows too little", body = wire::Problem, content_type = "application/problem+json"),
        (status = 404, description = "Nothing has that name", body = wire::Problem, content_type = "application/problem+json"),
        (status = 409, description = "Nothing of the kind is held back", body = wire::Problem, content_type = "application/problem+json"),
    ),
    security(("token" = []))
)]
async fn accept_held(app: &App, caller: &Caller, name: &RegistryName, request: Request<Body>) -> ApiResult {
    let by = require_on(caller, Scope::Admin, name)?.token.name.clone();
    let asked = api::json_body::<AcceptRequest>(request).await?;
    let unclear = |detail: &str| ApiError::new(ProblemKind::InvalidBody, detail);
    let (acceptance, said) = match (&asked.version, &asked.digest, asked.drop, asked.history) {
        (Some(version), Some(digest), false, false) => {
            let (location, version, _) = versioned(app, caller, name, version)?;
            let digest = digest.parse::<Digest>();
            let digest = digest.map_err(|error| unclear(&error.to_string()).part("digest"))?;
            let said = format!("{location}:{version} is {digest} now");
            (Acceptance::Rewrite { location, version, digest }, said)
        }
        (None, None, true, false) => (Acceptance::Drop, format!("versions that {name} lacks are gone")),
        (None, None, false, true) => {
            (Acceptance::History, format!("the branch of {name} may have been moved"))
        }
        (Some(_), None, false, false) => {
            return Err(unclear("a version is accepted with the digest of its rewrite")
                .part("digest")
                .hint("`…/-/history` lists it, with the standing `held`."));
        }
        _ => return Err(unclear("write one of `version` with `digest`, `drop`, and `history`")),
    };
    let generation =
        app.catalog.accept(name, acceptance, time::now()).await.map_err(|error| refused(error, name))?;
    tracing::info!(registry = %name, %said, %by, "what was held back was accepted");
    api::json(CachePolicy::NoStore, &Accepted { accepted: said, generation })
}

/// Erases a version, or one content of it, for good
#[utoipa::path(
    post, path = "/api/v1/registries/{name}/-/purge", tag = "history", operation_id = "purge_version",
    params(("name" = String, Path, description = "The registry; its slashes stay slashes", example = "github.com/acme/templates")),
    request_body(content = PurgeRequest, example = json!({"reference": "redis:v1.0.0", "reason": "It had a password in it."})),
    responses(
        (status = 200, description = "It is erased", body = Purged),
        (status = 400, description = "The body cannot be read", body = wire::Problem, content_type = "application/problem+json"),
        (status = 401, description = "A token with the scope `admin` is needed", body = wire::Problem, content_type = "application/problem+json"),
        (status = 403, description = "The token allows too little", body = wire::Problem, content_type = "application/problem+json"),
        (status = 404, description = "Nothing has that name", body = wire::Problem, content_type = "application/problem+json"),
        (status = 409, description = "There is nothing of it left to erase", body = wire::Problem, content_type = "application/problem+json"),
    ),
    security(("token" = []))
)]
async fn purge_version(app: &App, caller: &Caller, name: &RegistryName, request: Request<Body>) -> ApiResult {
    let by = require_on(caller, Scope::Admin, name)?.token.name.clone();
    let asked = api::json_body::<PurgeRequest>(request).await?;
    let reason = asked.reason.trim();
    if reason.is_empty() || reason.chars().count() > REASON {
        let detail = format!("a reason has 1 to {REASON} characters");
        return Err(ApiError::new(ProblemKind::InvalidBody, detail).part("reason"));
    }
    let (location, version, digest) = versioned(app, caller, name, &asked.reference)?;
    let erasure = Erasure { location, version, digest, reason: reason.to_owned() };
    let reference = asked.reference;
    let purged = app.catalog.purge(erasure, time::now()).await.map_err(|error| refused(error, name))?;
    tracing::info!(registry = %name, %reference, %by, files = purged.files, "a content was erased");
    let digests = purged.digests.iter().map(ToString::to_string).collect();
    let purged =
        Purged { digests, files: purged.files, files_kept: purged.files_kept, generation: purged.generation };
    api::json(CachePolicy::NoStore, &purged)
}

/// Asks for a registry to be looked at as soon as there is a turn
#[utoipa::path(
    post, path = "/api/v1/registries/{name}/-/sync", tag = "registries", operation_id = "sync_registry",
    params(("name" = String, Path, description = "The registry; its slashes stay slashes", example = "github.com/acme/templates")),
    responses(
        (status = 202, description = "It is in line; the address in `Location` says how it goes", body = wire::registries::Sync),
        (status = 401, description = "A token with the scope `write` is needed", body = wire::Problem, content_type = "application/problem+json"),
        (status = 403, description = "The token allows too little", body = wire::Problem, content_type = "application/problem+json"),
        (status = 404, description = "No registry of that name is here, or it is not brought up to date any more", body = wire::Problem, content_type = "application/problem+json"),
    ),
    security(("token" = []))
)]
fn sync_registry(app: &App, caller: &Caller, name: &RegistryName) -> ApiResult {
    let by = require_on(caller, Scope::Write, name)?.token.name.clone();
    let snapshot = app.catalog.snapshot();
    let unknown = |detail: String| ApiError::new(ProblemKind::UnknownRegistry, detail).part("registry");
    let registry = snapshot.registry(caller.viewer(), name);
    let registry = registry.ok_or_else(|| unknown(format!("no registry called `{name}` is here")))?;
    if !app.syncs.sync_now(&registry.name) {
        let detail = format!("`{name}` is served as it was, and not brought up to date any more");
        return Err(unknown(detail).hint("Have it named in the settings of the server again."));
    }
    tracing::info!(registry = %name, %by, "a look was asked for");
    let status = app.sync_of(&registry.name);
    let mut response =
        api::json(CachePolicy::NoStore, &view::sync(status.as_ref(), Some(registry.as_ref())))?;
    *response.status_mut() = StatusCode::ACCEPTED;
    let location = HeaderValue::from_str(&format!("/api/v1/registries/{name}"));
    response.headers_mut().insert(LOCATION, location.map_err(ApiError::internal)?);
    Ok(response)
}

/// What may stand behind `/-/` of a registry.
pub(crate) const VERBS: [&str; 3] = ["accept", "purge", "sync"];

/// `POST /api/v1/registries/<name>/-/…`.
pub(crate) async fn decide(
    State(app): State<Arc<App>>,
    caller: Caller,
    uri: Uri,
    request: Request<Body>,
) -> ApiResult {
    let raw = uri.path().strip_prefix("/api/v1/registries/").unwrap_or_default();
    let Some((name, what)) = raw.split_once("/-/") else {
        return Err(api::method_error("GET, PATCH, DELETE"));
    };
    let name = target::decode(name).ok_or_else(api::templates::not_text)?;
    let name = match name.parse::<RegistryName>() {
        Ok(name) => name,
        Err(error) => {
            require(&caller, Scope::Admin)?;
            return Err(ApiError::new(ProblemKind::UnknownRegistry, error.to_string()).part("registry"));
        }
    };
    match what {
        "accept" => accept_held(&app, &caller, &name, request).await,
        "purge" => purge_version(&app, &caller, &name, request).await,
        "sync" => sync_registry(&app, &caller, &name),
        _ => Err(api::unknown_path(uri).await),
    }
}

/// A version within a registry, `[collection/]template:version[@digest]` or with the registry in front.
fn versioned(
    app: &App,
    caller: &Caller,
    name: &RegistryName,
    text: &str,
) -> Result<(Location, Version, Option<Digest>), ApiError> {
    let reference = text.parse::<Reference>()?;
    let home = Home { registry: name.clone(), collection: None };
    let location = reference.locate([name], Some(&home));
    let location = location.map_err(|error| ApiError::from(catalog::Missing::Unparsable(error)))?;
    let snapshot = app.catalog.snapshot();
    let location = snapshot.find(caller.viewer(), &location)?.location.clone();
    match reference.selector {
        Selector::Exactly(version) | Selector::HighestPatch(version) => {
            Ok((location, version, reference.digest))
        }
        Selector::Highest | Selector::HighestMinor(_) => {
            let detail = format!("`{}` names no version", schema::finding::shown(text.as_bytes()));
            Err(ApiError::new(ProblemKind::InvalidReference, detail)
                .part("version")
                .hint("Write it in full, like `redis:v1.0.0`."))
        }
    }
}

fn refused(error: WriteError, name: &RegistryName) -> ApiError {
    match error {
        WriteError::Nothing(detail) => ApiError::new(ProblemKind::NothingHeld, detail)
            .hint("Somebody else may have decided, or upstream changed: look at `…/-/history` again."),
        WriteError::UnknownRegistry(_) => {
            ApiError::new(ProblemKind::UnknownRegistry, format!("no registry called `{name}` is here"))
                .part("registry")
        }
        other => ApiError::internal(other),
    }
}
