//! Reference in, objects out: the host of the engine.
//!
//! The engine is resumable and reaches nothing. When a template refers to others it answers what it needs; the host
//! resolves those with the rights of whoever asked, adds their files, and asks again, within limits on how many, how
//! deep and how large. What every reference got is part of the answer, so that it can be had again.

use catalog::{Catalog, Resolved, Snapshot, TemplateSnapshot, VersionSnapshot};
use schema::Reference;
use schema::limits::{Budget, REFERENCE_DEPTH, REFERENCES};
use schema::processing::{Cause, Failure, Outcome, Problem, Provided, Request, Step, Template};
use worker::Job;

use crate::api;
use crate::error::ApiError;
use crate::state::App;

/// Bytes of all templates that one request may bring together.
const PROVIDED_BYTES: u64 = 64 << 20;

/// Processes the version that was found. `caller` is who shares the workers with others.
pub(crate) async fn process(
    app: &App,
    snapshot: &Snapshot,
    found: &Resolved<'_>,
    request: Request,
    caller: &str,
) -> Result<Outcome, ApiError> {
    let template = load(&app.catalog, found.template, found.version).await?;
    let mut provided = Vec::<Provided>::new();
    let mut bytes = found.version.size();
    for _ in 0..=REFERENCE_DEPTH {
        let job = Job {
            digest: Some(found.version.digest),
            template: template.clone(),
            request: request.clone(),
            provided: provided.clone(),
            budget: Budget::default(),
            caller: caller.to_owned(),
        };
        let needed = match app.processor.process(job).await? {
            Step::Done(outcome) => return Ok(*outcome),
            Step::Failed(failure) => return Err(failure.into()),
            Step::Needs(needed) => needed,
        };
        let fresh = needed
            .iter()
            .filter(|asked| provided.iter().all(|known| known.asked != **asked))
            .collect::<Vec<_>>();
        if fresh.is_empty() {
            return Err(ApiError::internal("the engine asks for references it was given"));
        }
        if provided.len() + fresh.len() > REFERENCES {
            return Err(limit(format!(
                "the template and those it refers to make more than {REFERENCES} references"
            )));
        }
        for asked in fresh {
            let other = resolve(app, snapshot, asked)?;
            bytes += other.version.size();
            if bytes > PROVIDED_BYTES {
                return Err(limit(format!(
                    "the template and those it refers to have more than {} MiB of files",
                    PROVIDED_BYTES >> 20
                )));
            }
            provided.push(Provided {
                asked: asked.clone(),
                version: other.version.version.to_string(),
                digest: other.version.digest,
                template: load(&app.catalog, other.template, other.version).await?,
            });
        }
    }
    Err(limit(format!("templates refer to templates more than {REFERENCE_DEPTH} deep")))
}

/// What a reference made by a template gets, with the rights of whoever asked.
fn resolve<'a>(app: &App, snapshot: &'a Snapshot, asked: &str) -> Result<Resolved<'a>, ApiError> {
    let failed = |message: String, hint: Option<String>| {
        let problem = Problem::error(message);
        ApiError::from(Failure::one(
            Cause::Reference,
            match hint {
                Some(hint) => problem.hint(hint),
                None => problem,
            },
        ))
    };
    let shown = schema::finding::shown(asked.as_bytes());
    let reference = asked
        .parse::<Reference>()
        .map_err(|error| failed(format!("`{shown}` is no reference: {error}"), None))?;
    snapshot.resolve(&api::VIEWER, &reference, app.home.as_ref()).map_err(|missing| {
        let near = missing.suggestions();
        let hint = (!near.is_empty()).then(|| format!("There is {}.", near.join(", ")));
        failed(format!("`{shown}` leads nowhere: {missing}"), hint).near(near)
    })
}

fn limit(message: String) -> ApiError {
    Failure::one(Cause::Limit, Problem::error(message)).into()
}

/// A version with its files, ready for the engine.
async fn load(
    catalog: &Catalog,
    template: &TemplateSnapshot,
    version: &VersionSnapshot,
) -> Result<Template, ApiError> {
    let loaded = catalog.template(&api::VIEWER, &template.location.registry, &template.name, version).await;
    loaded
        .map_err(ApiError::internal)?
        .ok_or_else(|| ApiError::internal(format!("{} was removed meanwhile", template.location)))
}
