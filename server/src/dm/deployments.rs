//! Deployments and their manifests: recorded for whoever sent them, and never sent to a cluster.

use axum::body::Body;
use catalog::{Deployment, Owner, Refusal};
use http::StatusCode;
use schema::Digest;
use schema::finding::shown;
use schema::processing::Outcome;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use wire::ProblemKind;
use wire::dm::{Configuration, Import, Manifest, NEVER, State};

use super::{Asking, configuration, expand, list_or_null, said, wrong};
use crate::cache::CachePolicy;
use crate::error::{ApiError, ApiResult};
use crate::processing::Host;
use crate::time;

/// What names of manifests begin with; their number follows.
const MANIFEST: &str = "manifest-";

/// A manifest as it is stored, the objects beside it.
#[derive(Debug, Serialize, Deserialize)]
struct Stored {
    #[serde(flatten)]
    manifest: Manifest,
    /// What `kubectl` takes.
    objects: Vec<Value>,
}

/// A manifest as lists of types read it: the rest is passed over.
#[derive(Debug, Deserialize)]
pub(super) struct StoredLayout {
    pub(super) layout: Value,
}

/// What became of a deployment, by what was done.
#[derive(Debug, Clone, Copy)]
enum Status {
    Created,
    Modified,
    Deleted,
}

impl Status {
    /// Of one that is there: whether it was recorded more than once.
    fn of(deployment: &Deployment) -> Status {
        if deployment.created_at == deployment.modified_at { Status::Created } else { Status::Modified }
    }
}

fn shown_as(deployment: &Deployment, status: Status) -> wire::dm::Deployment {
    wire::dm::Deployment {
        name: deployment.name.clone(),
        created_at: time::rfc3339_exactly(deployment.created_at),
        deployed_at: NEVER.to_owned(),
        modified_at: time::rfc3339_exactly(deployment.modified_at),
        deleted_at: NEVER.to_owned(),
        state: State {
            status: match status {
                Status::Created => "Created",
                Status::Modified => "Modified",
                Status::Deleted => "Deleted",
            }
            .to_owned(),
        },
        latest_manifest: match status {
            Status::Deleted => String::new(),
            Status::Created | Status::Modified => manifest_name(deployment.latest),
        },
    }
}

/// The name of a manifest.
pub(super) fn manifest_name(number: i64) -> String {
    format!("{MANIFEST}{number}")
}

pub(super) async fn list(asking: &Asking<'_>) -> ApiResult {
    let names = all(asking).await?.into_iter().map(|deployment| deployment.name).collect();
    said(StatusCode::OK, CachePolicy::NoStore, &list_or_null::<String>(names))
}

/// Every deployment of whoever asks.
pub(super) async fn all(asking: &Asking<'_>) -> Result<Vec<Deployment>, ApiError> {
    match asking.reader() {
        Some(owner) => asking.app.catalog.deployments(&owner, asking.now).await.map_err(ApiError::internal),
        None => Ok(Vec::new()),
    }
}

pub(super) async fn get(asking: &Asking<'_>, name: &str) -> ApiResult {
    let (_, deployment) = find(asking, name).await?;
    said(StatusCode::OK, CachePolicy::NoStore, &shown_as(&deployment, Status::of(&deployment)))
}

async fn find(asking: &Asking<'_>, name: &str) -> Result<(Owner, Deployment), ApiError> {
    let owner = asking.reader().ok_or_else(|| unknown(name))?;
    let found = asking.app.catalog.deployment(&owner, name, asking.now).await.map_err(ApiError::internal)?;
    found.map(|deployment| (owner, deployment)).ok_or_else(|| unknown(name))
}

fn unknown(name: &str) -> ApiError {
    refused(Refusal::Unknown(shown(name.as_bytes()).to_string()))
}

/// The error for what the store would not take. Its words are the original's.
fn refused(refusal: Refusal) -> ApiError {
    let kind = match refusal {
        Refusal::Exists(_) => ProblemKind::AlreadyExists,
        Refusal::Unknown(_) => ProblemKind::UnknownTemplate,
        Refusal::Full(_) => ProblemKind::LimitExceeded,
    };
    ApiError::new(kind, refusal.to_string())
}

pub(super) async fn create(asking: &Asking<'_>, body: Body) -> ApiResult {
    let owner = asking.writer()?;
    let configuration = configuration::read(asking, body).await?;
    let name = configuration.name.clone();
    configuration::check_name(&name)?;
    // Known before anything is expanded; the store decides.
    if asking.app.catalog.deployment(&owner, &name, asking.now).await.map_err(ApiError::internal)?.is_some() {
        return Err(refused(Refusal::Exists(name)));
    }
    let manifest = manifest_of(asking, configuration).await?;
    let limits = asking.app.dm.limits;
    let done = asking.app.catalog.deploy(&owner, &name, manifest, limits, time::now_exactly()).await;
    let deployment = done.map_err(ApiError::internal)?.map_err(refused)?;
    said(StatusCode::CREATED, CachePolicy::NoStore, &shown_as(&deployment, Status::Created))
}

pub(super) async fn update(asking: &Asking<'_>, name: &str, body: Body) -> ApiResult {
    let owner = asking.writer()?;
    find(asking, name).await?;
    let configuration = configuration::read(asking, body).await?;
    if configuration.name != name {
        return Err(wrong(format!(
            "the body is for the deployment `{}`, the address for `{}`",
            shown(configuration.name.as_bytes()),
            shown(name.as_bytes())
        )));
    }
    let manifest = manifest_of(asking, configuration).await?;
    let limits = asking.app.dm.limits;
    let done = asking.app.catalog.redeploy(&owner, name, manifest, limits, time::now_exactly()).await;
    let deployment = done.map_err(ApiError::internal)?.map_err(refused)?;
    said(StatusCode::CREATED, CachePolicy::NoStore, &shown_as(&deployment, Status::Modified))
}

pub(super) async fn delete(asking: &Asking<'_>, name: &str) -> ApiResult {
    let owner = asking.writer()?;
    let gone = asking.app.catalog.undeploy(&owner, name, asking.now).await.map_err(ApiError::internal)?;
    let gone = gone.ok_or_else(|| unknown(name))?;
    said(StatusCode::OK, CachePolicy::NoStore, &shown_as(&gone, Status::Deleted))
}

pub(super) async fn manifests(asking: &Asking<'_>, name: &str) -> ApiResult {
    let (owner, _) = find(asking, name).await?;
    let numbers = asking.app.catalog.manifests(&owner, name, asking.now).await.map_err(ApiError::internal)?;
    let names = numbers.into_iter().map(manifest_name).collect();
    said(StatusCode::OK, CachePolicy::NoStore, &list_or_null::<String>(names))
}

pub(super) async fn manifest(asking: &Asking<'_>, name: &str, manifest: &str) -> ApiResult {
    let stored = load::<Stored>(asking, name, manifest).await?;
    let named = Manifest { name: manifest.to_owned(), ..stored.manifest };
    said(StatusCode::OK, CachePolicy::NoStore, &named)
}

pub(super) async fn objects(asking: &Asking<'_>, name: &str, manifest: &str) -> ApiResult {
    let stored = load::<Stored>(asking, name, manifest).await?;
    said(StatusCode::OK, CachePolicy::NoStore, &stored.objects)
}

/// A stored manifest, or what of it is wanted.
pub(super) async fn load<T: for<'d> Deserialize<'d>>(
    asking: &Asking<'_>,
    name: &str,
    manifest: &str,
) -> Result<T, ApiError> {
    let (owner, _) = find(asking, name).await?;
    let number = manifest.strip_prefix(MANIFEST).and_then(|number| number.parse::<i64>().ok());
    let found = match number {
        Some(number) => asking.app.catalog.manifest(&owner, name, number, asking.now).await,
        None => Ok(None),
    };
    let content = found.map_err(ApiError::internal)?.ok_or_else(|| {
        let detail = format!(
            "manifest {} not found in deployment {}",
            shown(manifest.as_bytes()),
            shown(name.as_bytes())
        );
        ApiError::new(ProblemKind::UnknownTemplate, detail)
    })?;
    serde_json::from_slice(&content).map_err(ApiError::internal)
}

/// What is stored of a configuration: itself with what was resolved on the way, what it came to, and the objects.
async fn manifest_of(asking: &Asking<'_>, mut configuration: Configuration) -> Result<Vec<u8>, ApiError> {
    let outcome = expand::outcome(asking, &configuration).await?;
    if outcome.original["resources"].as_array().is_none_or(Vec::is_empty) {
        return Err(wrong("configuration is empty: it makes no resource, so there is nothing to deploy"));
    }
    let expanded = expand::expanded(&outcome);
    let resolved = resolved(asking, &outcome).await?;
    configuration.imports.get_or_insert_default().extend(resolved);
    let manifest = Manifest {
        deployment: configuration.name.clone(),
        // Its number is known once it is stored.
        name: String::new(),
        input_config: configuration,
        expanded_config: expanded.expanded_config,
        layout: expanded.layout,
    };
    serde_json::to_vec(&Stored { manifest, objects: outcome.objects }).map_err(ApiError::internal)
}

/// The templates that were resolved on the way, with their schemas, as imports: which bytes a manifest was made of stays
/// known whatever becomes of their registries.
async fn resolved(asking: &Asking<'_>, outcome: &Outcome) -> Result<Vec<Import>, ApiError> {
    let viewer = asking.caller.viewer();
    let host =
        Host { app: asking.app, snapshot: asking.snapshot, viewer, home: asking.home.as_ref(), caller: "" };
    let mut imports = Vec::new();
    for reference in &outcome.resolved {
        let Ok(found) = host.resolve(&reference.asked) else { continue };
        if found.version.digest != reference.digest {
            continue;
        }
        let place = &found.template.location;
        let template = host.load(place, found.version).await?;
        let url = |digest: &Digest, path: &str| {
            let urls = crate::view::Urls { base: &asking.app.shown_base };
            urls.content(&place.registry, digest, path)
        };
        let schema = format!("{}.schema", template.entry);
        for (name, path) in
            [(reference.asked.clone(), &template.entry), (format!("{}.schema", reference.asked), &schema)]
        {
            if let Some(content) = template.files.text(path) {
                imports.push(Import {
                    name,
                    path: Some(url(&reference.digest, path)),
                    content: content.to_owned(),
                });
            }
        }
    }
    Ok(imports)
}
