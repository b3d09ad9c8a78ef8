//! Processing the example of a version on behalf of everybody who may read it: what reports and previews share.
//!
//! What is found is seen by all readers of the version, so references are followed with the rights of [`reader`]: an
//! example of a public template says of a private one what it says of one that does not exist. This module must not
//! know what becomes of it: a report, or a picture on a page.

use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};

use catalog::{NeededReference, RegistrySnapshot, Snapshot, VersionSnapshot, Viewer, Visibility};
use check::{Engine, check_example};
use schema::processing::{Cause, Failure, Outcome, Problem, Request, Step, Template};
use schema::reference::Location;
use schema::{Finding, Inspection, Reference};
use tokio::runtime::Handle;
use worker::WorkerError;

use crate::objects::Sketch;
use crate::processing::{Host, Stop};
use crate::state::App;

/// A version, where it is.
#[derive(Debug, Clone)]
pub(crate) struct Subject {
    pub(crate) registry: Arc<RegistrySnapshot>,
    pub(crate) place: Location,
    pub(crate) version: Arc<VersionSnapshot>,
}

/// What an example gave.
#[derive(Debug)]
pub(crate) struct Tried {
    /// What is wrong, with paths from the version's directory.
    pub(crate) findings: Vec<Finding>,
    /// What was referred to on the way.
    pub(crate) needed: Vec<NeededReference>,
    /// What it makes; nothing if it has no example, or the example fails.
    pub(crate) made: Option<Made>,
}

/// What an example makes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Made {
    /// The objects.
    pub(crate) sketch: Sketch,
    /// Kubernetes Templates: the notation.
    pub(crate) dialect: Option<String>,
}

impl Made {
    fn of(outcome: &Outcome) -> Made {
        Made {
            sketch: Sketch::of(&outcome.objects),
            dialect: outcome.dialect.as_ref().map(|dialect| dialect.name.clone()),
        }
    }
}

/// With whose rights the examples of a registry are processed: never more than every reader of it has.
/// Whoever sees a private registry sees it and what is public, and perhaps nothing else.
pub(crate) fn reader(registry: &RegistrySnapshot) -> Viewer {
    match registry.visibility {
        Visibility::Public => Viewer::Anonymous,
        Visibility::Private => Viewer::Granted(Arc::new([registry.name.clone()].into())),
    }
}

/// Whether references still get what they got.
pub(crate) fn gets_the_same(
    app: &App,
    snapshot: &Snapshot,
    reader: &Viewer,
    needed: &[NeededReference],
) -> bool {
    needed.iter().all(|needed| {
        let reference = needed.reference.parse::<Reference>().ok();
        let found = reference.and_then(|it| snapshot.resolve(reader, &it, app.home.as_ref()).ok());
        found.map(|found| found.version.digest) == needed.digest
    })
}

/// Processes the example of a version; `caller` is who shares the workers. The error is ours, never the template's.
pub(crate) async fn try_example(
    app: &Arc<App>,
    snapshot: &Arc<Snapshot>,
    subject: &Subject,
    caller: &'static str,
) -> Result<Tried, String> {
    let viewer = reader(&subject.registry);
    let host = Host { app, snapshot, viewer: &viewer, home: app.home.as_ref(), caller };
    let template = host.load(&subject.place, &subject.version).await.map_err(|stop| format!("{stop:?}"))?;
    let (app, snapshot, version) = (app.clone(), snapshot.clone(), subject.version.clone());
    let work = move || {
        let home = app.home.as_ref();
        let host = Host { app: &app, snapshot: &snapshot, viewer: &viewer, home, caller };
        try_on_this_thread(host, &template, &version)
    };
    // A panic has said what it is by its hook; here it is one more reason that is ours.
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| Err(error.to_string()))
}

fn try_on_this_thread(
    host: Host<'_>,
    template: &Template,
    version: &VersionSnapshot,
) -> Result<Tried, String> {
    let engine = OnTheServer {
        host,
        version,
        followed: Mutex::default(),
        made: Mutex::default(),
        unanswered: Mutex::default(),
    };
    let findings = check_example(template, &engine, base(version));
    match engine.unanswered.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some(why) => Err(why),
        None => Ok(Tried {
            findings,
            needed: engine.followed.into_inner().unwrap_or_else(PoisonError::into_inner),
            made: engine.made.into_inner().unwrap_or_else(PoisonError::into_inner),
        }),
    }
}

/// What the engine has not of its own. An example gives the same whenever it is processed: its clock stands at the
/// moment the version was published, and what a template generates comes from the version's digest. Nothing generated
/// is kept.
fn base(version: &VersionSnapshot) -> Request {
    Request { now: version.published_at, entropy: version.digest.hex(), ..Request::default() }
}

/// The engine as the server has it: in its workers, with references followed.
struct OnTheServer<'a> {
    host: Host<'a>,
    version: &'a VersionSnapshot,
    followed: Mutex<Vec<NeededReference>>,
    made: Mutex<Option<Made>>,
    /// Why the example could not be tried, if that is no fault of its own.
    unanswered: Mutex<Option<String>>,
}

impl OnTheServer<'_> {
    /// On a thread that may block.
    fn wait<T>(work: impl Future<Output = T>) -> T {
        Handle::current().block_on(work)
    }

    fn try_once(&self, template: &Template, request: Request) -> Result<Step, Stop> {
        let mut followed = Vec::new();
        let outcome =
            Self::wait(self.host.process(template, Some(self.version.digest), request, &mut followed));
        *self.followed.lock().unwrap_or_else(PoisonError::into_inner) = followed;
        let outcome = outcome?;
        *self.made.lock().unwrap_or_else(PoisonError::into_inner) = Some(Made::of(&outcome));
        Ok(Step::Done(Box::new(outcome)))
    }

    fn not_its_fault(&self, why: String) -> Result<Step, String> {
        *self.unanswered.lock().unwrap_or_else(PoisonError::into_inner) = Some(why.clone());
        Err(why)
    }
}

impl Engine for OnTheServer<'_> {
    fn inspect(&self, _: &Template) -> Inspection {
        // The scan has done it, and its findings are with the version already.
        Inspection::default()
    }

    fn process(&self, template: &Template, request: Request) -> Result<Step, String> {
        loop {
            return match self.try_once(template, request.clone()) {
                Ok(step) => Ok(step),
                Err(Stop::Failed(failure, _)) => Ok(Step::Failed(failure)),
                Err(Stop::Worker(WorkerError::NoPython { message })) => {
                    Ok(Step::Failed(Failure::one(Cause::Unsupported, Problem::error(message))))
                }
                Err(Stop::Worker(
                    WorkerError::Busy { retry_after } | WorkerError::Preparing { retry_after },
                )) => {
                    // This thread is for waiting, and a timer of the runtime would not outlive it.
                    std::thread::sleep(retry_after);
                    continue;
                }
                Err(Stop::Worker(error @ (WorkerError::Limit { .. } | WorkerError::Died { .. }))) => {
                    Err(error.to_string())
                }
                Err(Stop::Worker(error)) => self.not_its_fault(error.to_string()),
                Err(Stop::Internal(cause)) => self.not_its_fault(cause),
            };
        }
    }
}
