//! What `/metrics` says: requests by route and status class, time taken, caches, processing, budgets
//! that were used up, the age of each registry's news.
//!
//! Everything a request touches is looked up once, at start: counting one is an addition, not a look-up by label.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use indexer::SyncStatistics;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;
use worker::python::PythonState;

use crate::limits::Budget;
use crate::router::Route;

/// The media type of the answer, as OpenMetrics has it.
pub(crate) const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

type Labels = [(&'static str, &'static str); 2];
type Labels1 = [(&'static str, &'static str); 1];
type Named = [(&'static str, String); 1];

/// Status classes, by the first digit less one.
const CLASSES: [&str; 5] = ["1xx", "2xx", "3xx", "4xx", "5xx"];

struct RouteMetrics {
    by_class: [Counter; CLASSES.len()],
    seconds: Histogram,
}

/// All metrics of the server.
pub(crate) struct Metrics {
    registry: Registry,
    routes: Vec<RouteMetrics>,
    /// Answers that were ready.
    pub(crate) ready_hits: Counter,
    /// Answers that had to be made first.
    pub(crate) ready_misses: Counter,
    /// Requests to process, by how they ended.
    pub(crate) processed: Family<Named, Counter>,
    /// Versions whose report is due.
    pub(crate) reports_pending: Gauge,
    /// Reports made.
    pub(crate) reports_made: Counter,
    /// Deliveries of webhooks, by kind of host and what became of them.
    pub(crate) webhooks: Family<Labels, Counter>,
    /// Requests refused because a budget was used up, by budget.
    refused: [Counter; Budget::ALL.len()],
    /// Open connections.
    pub(crate) connections: Gauge,
    /// Connections refused because there were too many.
    pub(crate) connections_refused: Counter,
    generation: Gauge<u64, AtomicU64>,
    search_generation: Gauge<u64, AtomicU64>,
    cached: Family<Labels1, Gauge<u64, AtomicU64>>,
    statements: Counter,
    workers: Family<Named, Gauge>,
    workers_killed: Gauge,
    python: Family<Named, Gauge>,
    registry_age: Family<Named, Gauge>,
    syncs_queued: Gauge,
    syncs_running: Gauge,
    sync_lag: Gauge<f64, AtomicU64>,
    sync_seconds: Family<Named, Histogram>,
}

/// What is read when somebody asks.
pub(crate) struct Observed {
    pub(crate) generation: u64,
    /// The generation the search index is at: behind by what was published and cannot be found yet.
    pub(crate) search_generation: u64,
    /// Bytes that caches hold, by what they are of.
    pub(crate) cached: [(&'static str, u64); 3],
    /// SQL statements the catalogue has run. Reading runs none: a test holds this still over a thousand requests.
    pub(crate) statements: u64,
    pub(crate) workers: wire::operations::Workers,
    pub(crate) killed: u64,
    pub(crate) python: Option<PythonState>,
    /// Each registry and the seconds since it last succeeded.
    pub(crate) ages: Vec<(String, i64)>,
    pub(crate) syncs: SyncStatistics,
}

fn sync_buckets() -> Histogram {
    // From a look that finds nothing new to the first look at a large registry: 5 milliseconds to 15 minutes.
    Histogram::new([0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 15.0, 60.0, 300.0, 900.0])
}

fn buckets() -> Histogram {
    // From an answer out of memory to a slow template: 50 microseconds to 10 seconds.
    Histogram::new([
        0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 2.5, 10.0,
    ])
}

impl Metrics {
    /// Metrics at zero.
    pub(crate) fn new() -> Metrics {
        let mut registry = Registry::with_prefix("formwork");
        let requests = Family::<Labels, Counter>::default();
        let seconds = Family::<Labels1, Histogram>::new_with_constructor(buckets);
        let routes = Route::ALL.iter().map(|route| RouteMetrics {
            by_class: CLASSES
                .map(|class| requests.get_or_create_owned(&[("route", route.as_str()), ("status", class)])),
            seconds: seconds.get_or_create_owned(&[("route", route.as_str())]),
        });
        let routes = routes.collect();
        registry.register("http_requests", "Requests answered, by route and class of status", requests);
        registry.register("http_request_seconds", "Time from head read to answer made, by route", seconds);
        let refusals = Family::<Labels1, Counter>::default();
        let refused = Budget::ALL.map(|budget| refusals.get_or_create_owned(&[("budget", budget.as_str())]));
        registry.register(
            "rate_limited",
            "Requests refused because their client's budget was used up, by budget",
            refusals,
        );
        let build = Family::<Labels1, Gauge>::default();
        build.get_or_create_owned(&[("version", env!("CARGO_PKG_VERSION"))]).set(1);
        registry.register("build", "One, with the version of the program", build);
        let started = Gauge::<i64>::default();
        started.set(crate::time::now());
        registry.register("start_time_seconds", "When the server was started, since 1970", started);
        let metrics = Metrics {
            routes,
            refused,
            ready_hits: Counter::default(),
            ready_misses: Counter::default(),
            processed: Family::default(),
            reports_pending: Gauge::default(),
            reports_made: Counter::default(),
            webhooks: Family::default(),
            connections: Gauge::default(),
            connections_refused: Counter::default(),
            generation: Gauge::default(),
            search_generation: Gauge::default(),
            cached: Family::default(),
            statements: Counter::default(),
            workers: Family::default(),
            workers_killed: Gauge::default(),
            python: Family::default(),
            registry_age: Family::default(),
            syncs_queued: Gauge::default(),
            syncs_running: Gauge::default(),
            sync_lag: Gauge::default(),
            sync_seconds: Family::new_with_constructor(sync_buckets),
            registry: Registry::default(),
        };
        registry.register(
            "ready_answers_hits",
            "Answers that were ready in memory",
            metrics.ready_hits.clone(),
        );
        registry.register(
            "ready_answers_misses",
            "Answers that had to be made",
            metrics.ready_misses.clone(),
        );
        registry.register("processed", "Requests to process, by how they ended", metrics.processed.clone());
        registry.register("reports_pending", "Versions whose report is due", metrics.reports_pending.clone());
        registry.register("reports_made", "Reports made since the start", metrics.reports_made.clone());
        registry.register(
            "webhook_deliveries",
            "Deliveries of webhooks, by kind of host and what became of them",
            metrics.webhooks.clone(),
        );
        registry.register("connections", "Open connections", metrics.connections.clone());
        registry.register(
            "connections_refused",
            "Connections refused at the limit",
            metrics.connections_refused.clone(),
        );
        registry.register(
            "catalogue_generation",
            "Generation of the catalogue that is served",
            metrics.generation.clone(),
        );
        registry.register(
            "search_generation",
            "Generation of the catalogue that search knows",
            metrics.search_generation.clone(),
        );
        registry.register("cached_bytes", "Bytes that caches hold, by what of", metrics.cached.clone());
        registry.register(
            "sql_statements",
            "SQL statements run, none of them for reading",
            metrics.statements.clone(),
        );
        registry.register(
            "workers",
            "Processes that templates are processed in, by state",
            metrics.workers.clone(),
        );
        registry.register(
            "workers_killed",
            "Worker processes stopped at a limit since the start",
            metrics.workers_killed.clone(),
        );
        registry.register(
            "python",
            "How far Python for templates is: 1 for the state it is in",
            metrics.python.clone(),
        );
        registry.register(
            "registry_age_seconds",
            "Seconds since each registry was last brought up to date",
            metrics.registry_age.clone(),
        );
        registry.register(
            "sync_queue_depth",
            "Registries that are due and wait for a turn",
            metrics.syncs_queued.clone(),
        );
        registry.register(
            "sync_running",
            "Registries that are being fetched, scanned or published",
            metrics.syncs_running.clone(),
        );
        registry.register(
            "sync_lag_seconds",
            "How long the registry that waits for the longest has waited",
            metrics.sync_lag.clone(),
        );
        registry.register(
            "sync_seconds",
            "Time from a registry's turn to its end, by how it ended",
            metrics.sync_seconds.clone(),
        );
        Metrics { registry, ..metrics }
    }

    /// Counts an answer.
    pub(crate) fn count(&self, route: Route, status: u16, took: Duration) {
        let metrics = &self.routes[route as usize];
        let class = usize::from(status / 100).clamp(1, CLASSES.len()) - 1;
        metrics.by_class[class].inc();
        metrics.seconds.observe(took.as_secs_f64());
    }

    /// Counts a request that was refused because a budget was used up.
    pub(crate) fn refused(&self, budget: Budget) {
        self.refused[budget as usize].inc();
    }

    /// The text of `/metrics`.
    pub(crate) fn text(&self, observed: &Observed) -> String {
        self.generation.set(observed.generation);
        self.search_generation.set(observed.search_generation);
        for (cache, bytes) in observed.cached {
            self.cached.get_or_create_owned(&[("cache", cache)]).set(bytes);
        }
        // The catalogue counts; two readers at once must not add twice.
        self.statements.inner().fetch_max(observed.statements, Ordering::Relaxed);
        let clamp = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
        for (state, count) in [
            ("started", observed.workers.workers),
            ("busy", observed.workers.busy),
            ("queued", observed.workers.queued),
        ] {
            self.workers.get_or_create_owned(&[("state", state.to_owned())]).set(clamp(count));
        }
        self.workers_killed.set(i64::try_from(observed.killed).unwrap_or(i64::MAX));
        let python = observed.python.as_ref().map(PythonState::as_str);
        for state in ["idle", "compiling", "ready", "failed"] {
            let gauge = self.python.get_or_create_owned(&[("state", state.to_owned())]);
            gauge.set(i64::from(python == Some(state)));
        }
        // A registry that was removed must not live on with its last age.
        self.registry_age.clear();
        for (name, age) in &observed.ages {
            self.registry_age.get_or_create_owned(&[("registry", name.clone())]).set(*age);
        }
        self.syncs_queued.set(clamp(observed.syncs.queued));
        self.syncs_running.set(clamp(observed.syncs.running));
        self.sync_lag.set(observed.syncs.lag.as_secs_f64());
        for (outcome, took) in &observed.syncs.ended {
            let named = [("outcome", outcome.as_str().to_owned())];
            self.sync_seconds.get_or_create_owned(&named).observe(took.as_secs_f64());
        }
        let mut text = String::new();
        encode(&mut text, &self.registry).expect("writing to a string does not fail");
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use indexer::Outcome;

    #[test]
    fn counts_are_said_by_route_and_class() {
        let metrics = Metrics::new();
        metrics.count(Route::Resolve, 200, Duration::from_micros(80));
        metrics.count(Route::Resolve, 404, Duration::from_micros(80));
        metrics.refused(Budget::Search);
        let text = metrics.text(&Observed {
            generation: 7,
            search_generation: 6,
            cached: [("files", 1), ("ready", 2), ("packed", 3)],
            statements: 3,
            workers: wire::operations::Workers::default(),
            killed: 0,
            python: None,
            ages: vec![("localhost/a/b".into(), 3)],
            syncs: SyncStatistics {
                queued: 2,
                running: 1,
                lag: Duration::from_millis(1_500),
                ended: vec![(Outcome::Published, Duration::from_millis(200))],
            },
        });
        for line in [
            r#"formwork_http_requests_total{route="resolve",status="2xx"} 1"#,
            r#"formwork_http_requests_total{route="resolve",status="4xx"} 1"#,
            "formwork_catalogue_generation 7",
            "formwork_search_generation 6",
            r#"formwork_cached_bytes{cache="ready"} 2"#,
            r#"formwork_rate_limited_total{budget="search"} 1"#,
            r#"formwork_build{version=""#,
            "formwork_sql_statements_total 3",
            r#"formwork_registry_age_seconds{registry="localhost/a/b"} 3"#,
            "formwork_sync_queue_depth 2",
            "formwork_sync_running 1",
            "formwork_sync_lag_seconds 1.5",
            r#"formwork_sync_seconds_count{outcome="published"} 1"#,
        ] {
            assert!(text.contains(line), "{line} is not in\n{text}");
        }
    }
}
