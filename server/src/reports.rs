//! Reports: after a version is published its example is processed by the real engine, and what went wrong is shown
//! with the version.
//!
//! What is due is read off the catalogue itself: versions whose report is pending, was made by another build of the
//! engine, or followed a reference that now gets other content. There is no queue to lose: a server that was killed
//! goes on where the catalogue says. One report is made at a time for every two workers, so that people who wait for
//! an answer have the rest; registries take turns, and the highest version of each template comes first.
//!
//! How an example is processed, and with whose rights, is `examples`' business.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};

use catalog::{RegistrySnapshot, Report, ReportedVersion, Snapshot, VersionSnapshot, Viewer};
use schema::reference::Location;
use schema::{Digest, RegistryName};
use tokio::task::JoinSet;

use crate::examples::{self, Subject, Tried, reader};
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
    let made = version.report.made();
    made.is_some_and(|report| {
        *report.engine == *worker::build_id()
            && examples::gets_the_same(app, snapshot, reader, &report.needed)
    })
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

/// The report on one version; `None` if none could be made for a reason that is ours. What the example makes is shown
/// on the version's page, so it is kept for that.
async fn report_on(app: Arc<App>, snapshot: Arc<Snapshot>, due: Due) -> (Due, Option<Report>) {
    let subject =
        Subject { registry: due.registry.clone(), place: due.place.clone(), version: due.version.clone() };
    match examples::try_example(&app, &snapshot, &subject, CALLER).await {
        Ok(tried) => {
            app.previews.keep(&subject, &tried);
            let Tried { findings, needed, .. } = tried;
            (due, Some(Report { engine: worker::build_id().into(), at: time::now(), findings, needed }))
        }
        Err(why) => {
            tracing::warn!(place = %due.place, version = %due.version.version, why, "no report");
            (due, None)
        }
    }
}
