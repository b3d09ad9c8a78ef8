//! Processing on this machine: a worker of our own, and what a template refers to found in the registry it stands
//! in, asked of a server, or fetched where that is allowed.

use anyhow::{Context, anyhow, bail};
use indexer::Remote;
use schema::Digest;
use schema::limits::{REFERENCE_DEPTH, REFERENCES};
use schema::processing::{Problem, Provided, Request, Step, Template};

use crate::client::Client;
use crate::own_tree::OwnTree;
use crate::process::{job, python};

/// Where references go.
pub(crate) struct Host<'h> {
    /// The registry around the template, if there is one.
    pub(crate) tree: Option<OwnTree>,
    /// The server that is asked for others.
    pub(crate) server: &'h str,
    /// What fetches templates behind URLs.
    pub(crate) remote: Remote,
}

/// What processing came to: how far it got, and with what.
pub(crate) struct Processed {
    pub(crate) step: Step,
    pub(crate) provided: Vec<Provided>,
    /// Why references were not found; then `step` still needs them.
    pub(crate) missing: Vec<Problem>,
}

impl Host<'_> {
    /// Processes a template, with what it refers to.
    pub(crate) fn process(&self, template: &Template, request: &Request) -> anyhow::Result<Processed> {
        let mut provided = Vec::<Provided>::new();
        for _ in 0..=REFERENCE_DEPTH {
            let mut job = job(template.clone(), request.clone());
            job.provided.clone_from(&provided);
            let step = worker::run_once(job, python())
                .map_err(|error| anyhow!("{} could not be processed: {error}", template.entry))?;
            let Step::Needs(needed) = &step else {
                return Ok(Processed { step, provided, missing: Vec::new() });
            };
            if provided.len() + needed.len() > REFERENCES {
                bail!("the template refers to more than {REFERENCES} others");
            }
            let mut missing = Vec::new();
            for asked in needed {
                match self.find(asked) {
                    Ok(found) => provided.push(found),
                    Err(problem) => missing.push(problem),
                }
            }
            if !missing.is_empty() {
                return Ok(Processed { step, provided, missing });
            }
        }
        bail!("templates refer to templates more than {REFERENCE_DEPTH} deep")
    }

    fn find(&self, asked: &str) -> Result<Provided, Problem> {
        if self.remote.allowed().allows(asked) {
            return self.remote.fetch(asked).map_err(|error| Problem::error(error.to_string()));
        }
        if asked.contains("://") {
            let message = format!("the type `{asked}` is a URL that templates are not fetched from");
            let hint =
                "refer to a version in a registry, import the template, or allow the URL with --allow-url";
            return Err(Problem::error(message).hint(hint));
        }
        let tree = self.tree.as_ref();
        if let Some(found) = tree.and_then(|tree| tree.find(asked)) {
            return Ok(found);
        }
        from_server(self.server, asked).map_err(|error| {
            let here =
                tree.map(|tree| format!("not in this tree, {}, and ", tree.name())).unwrap_or_default();
            let error = format!("{error:#}");
            let (message, hint) = error.split_once("\n  hint: ").unwrap_or((&error, ""));
            let problem = Problem::error(format!("`{asked}` is {here}not found: {message}"));
            let hint = hint.lines().next().unwrap_or_default();
            if hint.is_empty() { problem } else { problem.hint(hint) }
        })
    }
}

/// A version from a server, its files checked against the digests it states.
fn from_server(server: &str, asked: &str) -> anyhow::Result<Provided> {
    let client = Client::new(server)?;
    let resolved = client.resolve(asked)?;
    let mut files = Vec::with_capacity(resolved.files.len());
    for file in &resolved.files {
        let bytes = client.content(&resolved.registry, &resolved.digest, &file.path)?;
        if Digest::of(&bytes).to_string() != file.digest {
            bail!("{server} sent other bytes for {} than it said", file.path);
        }
        files.push((file.path.clone(), bytes));
    }
    Ok(Provided {
        asked: asked.to_owned(),
        version: resolved.version,
        digest: resolved.digest.parse().context("the server states a digest that is none")?,
        template: Template {
            name: resolved.template,
            kind: resolved.kind,
            entry: resolved.entry,
            files: files.into_iter().collect(),
            jinja2: false,
        },
    })
}
