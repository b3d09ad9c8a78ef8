//! Reports: after a version is published its example is processed by the real engine, and what went wrong is shown
//! with the version.
//!
//! What is due is read off the catalogue itself: versions whose report is pending, was made by another build of the
//! engine, or followed a reference that now gets other content. There is no queue to lose: a server that was killed
//! goes on where the catalogue says. One report is made at a time for every two workers, so that people who wait for
//! an answer have the rest; registries take turns, and the highest version of each template comes first.
//!
//! A report sees what its readers may see: references are followed with the rights of [`reader`], so that a report
//! on a public template says of a private one what it says of one that does not exist.

use std::collections::{BTreeMap, HashMap};
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use catalog::{
    NeededReference, RegistrySnapshot, Report, ReportedVersion, Snapshot, VersionSnapshot, Viewer, Visibility,
};
use check::{Engine, check_example};
use schema::processing::{Request, Step, Template};
use schema::reference::Location;
use schema::{Digest, Inspection, Reference, RegistryName};
use tokio::runtime::Handle;
use tokio::task::JoinSet;
use worker::WorkerError;

use crate::processing::{Host, Stop};
use crate::state::App;
use crate::time;

/// Reports shown at once, at most: each showing is a generation of the catalogue.
const BATCH: usize = 256;

/// And at least this often while reports are being made.
const SHOWN_EVERY: Duration = Duration::from_secs(1);

/// How long a version is left alone on which no report could be made for a reason that is not its own.
const RETRY: Duration = Duration::from_secs(60);

/// Who shares the workers, on behalf of everybody who will read a report.
const CALLER: &str = "reports";

/// Makes reports for as long as it is polled.
pub(crate) async fn keep_reporting(app: Arc<App>) {
    let mut generations = app.catalog.generations();
    let mut put_off = HashMap::<Digest, Instant>::new();
    loop {
        generations.mark_unchanged();
        let snapshot = app.catalog.snapshot();
        put_off.retain(|_, until| *until > Instant::now());
        let due = {
            let (snapshot, put_off, app) = (snapshot.clone(), put_off.clone(), app.clone());
            // Looking through 100,000 versions takes tens of milliseconds: not on a thread that answers requests.
            tokio::task::spawn_blocking(move || due(&app, &snapshot, &put_off)).await.unwrap_or_default()
        };
        app.metrics.reports_pending.set(due.len() as i64);
        if due.is_empty() {
            let wait = if put_off.is_empty() { Duration::MAX } else { RETRY };
            // An error means that the catalogue is closed: nothing will be due any more.
            match tokio::time::timeout(wait, generations.changed()).await {
                Ok(Err(_)) => return,
                Ok(Ok(())) | Err(_) => continue,
            }
        }
        make(&app, &snapshot, due, &mut put_off).await;
    }
}

/// A version to report on.
#[derive(Debug, Clone)]
struct Due {
    registry: Arc<RegistrySnapshot>,
    place: Location,
    version: Arc<VersionSnapshot>,
}

/// What is due, in the order in which it is made.
fn due(app: &App, snapshot: &Snapshot, put_off: &HashMap<Digest, Instant>) -> Vec<Due> {
    let mut lanes = Vec::new();
    for registry in snapshot.visible(&Viewer::Operator) {
        let reader = reader(registry);
        let (mut first, mut later) = (Vec::new(), Vec::new());
        for template in registry.templates() {
            let latest = template.latest();
            for version in template.versions.values() {
                if put_off.contains_key(&version.digest) || is_current(app, snapshot, &reader, version) {
                    continue;
                }
                let due = Due {
                    registry: registry.clone(),
                    place: template.location.clone(),
                    version: version.clone(),
                };
                let lane = if latest.is_some_and(|latest| Arc::ptr_eq(latest, version)) {
                    &mut first
                } else {
                    &mut later
                };
                lane.push(due);
            }
        }
        first.extend(later);
        lanes.push(first.into_iter());
    }
    let mut due = Vec::with_capacity(lanes.iter().map(ExactSizeIterator::len).sum());
    while !lanes.is_empty() {
        lanes.retain_mut(|lane| {
            lane.next().is_some_and(|next| {
                due.push(next);
                true
            })
        });
    }
    due
}

/// Whether the report that is there is the one that would be made now.
fn is_current(app: &App, snapshot: &Snapshot, reader: &Viewer, version: &VersionSnapshot) -> bool {
    let Some(report) = version.report.made() else { return false };
    *report.engine == *worker::build_id()
        && report.needed.iter().all(|needed| {
            let reference = needed.reference.parse::<Reference>().ok();
            let found = reference.and_then(|it| snapshot.resolve(reader, &it, app.home.as_ref()).ok());
            found.map(|found| found.version.digest) == needed.digest
        })
}

/// With whose rights a registry's reports are made: never more than every reader of the report has.
/// Whoever sees a private registry sees it and what is public, and perhaps nothing else.
fn reader(registry: &RegistrySnapshot) -> Viewer {
    match registry.visibility {
        Visibility::Public => Viewer::Anonymous,
        Visibility::Private => Viewer::Granted(Arc::new([registry.name.clone()].into())),
    }
}

/// Makes reports for a while and shows them.
async fn make(
    app: &Arc<App>,
    snapshot: &Arc<Snapshot>,
    due: Vec<Due>,
    put_off: &mut HashMap<Digest, Instant>,
) {
    let at_once = (app.processor.load().0.workers / 2).max(1);
    let began = Instant::now();
    let mut due = due.into_iter().take(BATCH);
    let mut under_way = JoinSet::new();
    let mut made = BTreeMap::<RegistryName, Vec<ReportedVersion>>::new();
    loop {
        while under_way.len() < at_once && began.elapsed() < SHOWN_EVERY {
            let Some(next) = due.next() else { break };
            under_way.spawn(report_on(app.clone(), snapshot.clone(), next));
        }
        let Some(ended) = under_way.join_next().await else { break };
        let Ok((due, report)) = ended else { continue };
        let Some(report) = report else {
            put_off.insert(due.version.digest, Instant::now() + RETRY);
            continue;
        };
        app.metrics.reports_made.inc();
        made.entry(due.registry.name.clone()).or_default().push(ReportedVersion {
            collection: due.place.collection,
            template: due.place.template,
            version: due.version.version.clone(),
            digest: due.version.digest,
            report: Arc::new(report),
        });
    }
    for (registry, reports) in made {
        let digests = reports.iter().map(|report| report.digest).collect::<Vec<_>>();
        if let Err(error) = app.catalog.publish_reports(&registry, reports, time::now()).await {
            tracing::warn!(%registry, %error, "reports could not be stored; they are made again later");
            put_off.extend(digests.into_iter().map(|digest| (digest, Instant::now() + RETRY)));
        }
    }
}

/// The report on one version; `None` if none could be made for a reason that is ours.
async fn report_on(app: Arc<App>, snapshot: Arc<Snapshot>, due: Due) -> (Due, Option<Report>) {
    let version = due.version.clone();
    let viewer = reader(&due.registry);
    let host = Host { app: &app, snapshot: &snapshot, viewer: &viewer, caller: CALLER };
    let loaded = host.load(&due.place, &version).await;
    let made = match loaded {
        Ok(template) => {
            let (app, snapshot, viewer) = (app.clone(), snapshot.clone(), viewer.clone());
            let work = move || make_one(&app, &snapshot, &viewer, &template, &version);
            // A panic has said what it is by its hook; here it is one more reason that is ours.
            tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| Err(error.to_string()))
        }
        Err(stop) => Err(format!("{stop:?}")),
    };
    let report = made.inspect_err(|why| {
        tracing::warn!(place = %due.place, version = %due.version.version, why, "no report");
    });
    (due, report.ok())
}

/// Makes a report, on a thread that may block.
fn make_one(
    app: &App,
    snapshot: &Snapshot,
    viewer: &Viewer,
    template: &Template,
    version: &VersionSnapshot,
) -> Result<Report, String> {
    let engine = OnTheServer {
        host: Host { app, snapshot, viewer, caller: CALLER },
        version,
        followed: Mutex::default(),
        unanswered: Mutex::default(),
    };
    let findings = check_example(template, &engine, base(version));
    match engine.unanswered.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some(why) => Err(why),
        None => Ok(Report {
            engine: worker::build_id().into(),
            at: time::now(),
            findings,
            needed: engine.followed.into_inner().unwrap_or_else(PoisonError::into_inner),
        }),
    }
}

/// What the engine has not of its own. A report is the same whenever it is made: its clock stands at the moment the
/// version was published, and what a template generates comes from the version's digest. Nothing generated is kept.
fn base(version: &VersionSnapshot) -> Request {
    Request { now: version.published_at, entropy: version.digest.hex(), ..Request::default() }
}

/// The engine as the server has it: in its workers, with references followed.
struct OnTheServer<'a> {
    host: Host<'a>,
    version: &'a VersionSnapshot,
    followed: Mutex<Vec<NeededReference>>,
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
        let outcome = Self::wait(self.host.process(template, self.version, request, &mut followed));
        *self.followed.lock().unwrap_or_else(PoisonError::into_inner) = followed;
        outcome.map(|outcome| Step::Done(Box::new(outcome)))
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
                Err(Stop::Worker(WorkerError::Busy { retry_after })) => {
                    Self::wait(tokio::time::sleep(retry_after));
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
