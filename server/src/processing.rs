//! Reference in, objects out: the host of the engine.
//!
//! The engine is resumable and reaches nothing. When a template refers to others it answers what it needs; the host
//! resolves those with the rights of whoever asked, adds their files, and asks again, within limits on how many, how
//! deep and how large. What every reference got is part of the answer, so that it can be had again.

use catalog::{NeededReference, Resolved, Snapshot, VersionSnapshot, Viewer};
use schema::limits::{Budget, REFERENCE_DEPTH, REFERENCES};
use schema::processing::{Cause, Failure, Outcome, Problem, Provided, Request, Step, Template};
use schema::reference::{Home, Location};
use schema::{Digest, Reference};
use worker::{Job, WorkerError};

use crate::error::ApiError;
use crate::repository;
use crate::state::App;

/// Bytes of all templates that one request may bring together.
const PROVIDED_BYTES: u64 = 64 << 20;

/// Why there are no objects.
#[derive(Debug)]
pub(crate) enum Stop {
    /// The template or its values; with names near a reference that leads nowhere.
    Failed(Failure, Vec<String>),
    /// The process that worked on it.
    Worker(WorkerError),
    /// Something of ours.
    Internal(String),
}

impl From<WorkerError> for Stop {
    fn from(error: WorkerError) -> Stop {
        Stop::Worker(error)
    }
}

impl From<Stop> for ApiError {
    fn from(stop: Stop) -> ApiError {
        match stop {
            Stop::Failed(failure, near) => ApiError::from(failure).near(near),
            Stop::Worker(error) => error.into(),
            Stop::Internal(cause) => ApiError::internal(cause),
        }
    }
}

/// Where templates are processed for somebody: one catalogue at one generation, with the rights of one viewer.
pub(crate) struct Host<'a> {
    pub(crate) app: &'a App,
    pub(crate) snapshot: &'a Snapshot,
    pub(crate) viewer: &'a Viewer,
    /// Where short references go.
    pub(crate) home: Option<&'a Home>,
    /// Who shares the workers with others.
    pub(crate) caller: &'a str,
}

impl Host<'_> {
    /// Processes a version, whose files were [loaded](Host::load) and have this digest, or what somebody sent, which
    /// has none. What its references got is added to `followed`, whatever becomes of the rest.
    pub(crate) async fn process(
        &self,
        template: &Template,
        digest: Option<Digest>,
        request: Request,
        followed: &mut Vec<NeededReference>,
    ) -> Result<Outcome, Stop> {
        let mut provided = Vec::<Provided>::new();
        let mut bytes = template.files.iter().map(|(_, content)| content.len() as u64).sum::<u64>();
        for _ in 0..=REFERENCE_DEPTH {
            let job = Job {
                digest,
                template: template.clone(),
                request: request.clone(),
                provided: provided.clone(),
                budget: Budget::default(),
                caller: self.caller.to_owned(),
            };
            let needed = match self.app.processor.process(job).await? {
                Step::Done(outcome) => return Ok(*outcome),
                Step::Failed(failure) => return Err(Stop::Failed(failure, Vec::new())),
                Step::Needs(needed) => needed,
            };
            let fresh = needed
                .iter()
                .filter(|asked| provided.iter().all(|known| known.asked != **asked))
                .collect::<Vec<_>>();
            if fresh.is_empty() {
                return Err(Stop::Internal("the engine asks for references it was given".into()));
            }
            if provided.len() + fresh.len() > REFERENCES {
                return Err(limit(format!(
                    "the template and those it refers to make more than {REFERENCES} references"
                )));
            }
            for asked in fresh {
                if self.app.remote.allowed().allows(asked) && self.at_url(asked).is_none() {
                    let found = self.fetch(asked).await?;
                    bytes +=
                        found.template.files.iter().map(|(_, content)| content.len() as u64).sum::<u64>();
                    provided.push(found);
                    continue;
                }
                let other = self.resolve(asked);
                let digest = other.as_ref().ok().map(|other| other.version.digest);
                followed.push(NeededReference { reference: asked.clone(), digest });
                let other = other?;
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
                    template: self.load(&other.template.location, other.version).await?,
                });
            }
        }
        Err(limit(format!("templates refer to templates more than {REFERENCE_DEPTH} deep")))
    }

    /// The template behind a URL that the operator allows.
    async fn fetch(&self, url: &str) -> Result<Provided, Stop> {
        let (remote, url) = (self.app.remote.clone(), url.to_owned());
        let fetched = tokio::task::spawn_blocking(move || remote.fetch(&url)).await;
        let fetched = fetched.map_err(|error| Stop::Internal(error.to_string()))?;
        fetched.map_err(|error| {
            let problem = Problem::error(error.to_string());
            Stop::Failed(Failure::one(Cause::Reference, problem), Vec::new())
        })
    }

    /// What a reference made by a template gets, or a URL it uses.
    pub(crate) fn resolve(&self, asked: &str) -> Result<Resolved<'_>, Stop> {
        let failed = |message: String, near: Vec<String>| {
            let problem = Problem::error(message);
            let problem = match near.is_empty() {
                true => problem,
                false => problem.hint(format!("There is {}.", near.join(", "))),
            };
            Stop::Failed(Failure::one(Cause::Reference, problem), near)
        };
        let shown = schema::finding::shown(asked.as_bytes());
        if asked.contains("://") {
            return self.at_url(asked).ok_or_else(|| {
                let problem =
                    Problem::error(format!("the type `{shown}` is a URL that templates are not fetched from"));
                let hint = "refer to a version in a registry, put the template beside the configuration, or have the operator allow it with --allow-url";
                Stop::Failed(Failure::one(Cause::Reference, problem.hint(hint)), Vec::new())
            });
        }
        let reference = asked
            .parse::<Reference>()
            .map_err(|error| failed(format!("`{shown}` is no reference: {error}"), Vec::new()))?;
        self.snapshot
            .resolve(self.viewer, &reference, self.home)
            .map_err(|missing| failed(format!("`{shown}` leads nowhere: {missing}"), missing.suggestions()))
    }

    /// The version whose template is at a URL: where GitHub has it raw, or where this server does. Nothing is fetched.
    fn at_url(&self, url: &str) -> Option<Resolved<'_>> {
        let file = repository::of_url(self.app, self.snapshot, self.viewer, url)?;
        let reference = file.version_reference();
        let found = self.snapshot.resolve(self.viewer, &reference, None).ok()?;
        file.is_entry().then_some(found)
    }

    /// A version with its files, ready for the engine.
    pub(crate) async fn load(&self, place: &Location, version: &VersionSnapshot) -> Result<Template, Stop> {
        let loaded = self.app.catalog.template(self.viewer, &place.registry, &place.template, version).await;
        loaded
            .map_err(|error| Stop::Internal(error.to_string()))?
            .ok_or_else(|| Stop::Internal(format!("{place} was removed meanwhile")))
    }
}

fn limit(message: String) -> Stop {
    Stop::Failed(Failure::one(Cause::Limit, Problem::error(message)), Vec::new())
}
