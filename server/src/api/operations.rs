//! `/healthz`, `/readyz`, `/metrics` and `GET /api/v1/status`: for whoever runs the server.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use http::{HeaderValue, StatusCode};
use indexer::State as Sync;
use wire::operations::{Check, Ready, RegistryStatus, Status};
use worker::python::PythonState;

use crate::access::Caller;
use crate::api;
use crate::cache::CachePolicy;
use crate::error::ApiResult;
use crate::metrics::{self, Observed};
use crate::state::App;
use crate::{time, view};

/// The process runs
#[utoipa::path(get, path = "/healthz", tag = "operations", operation_id = "healthz", responses((status = 200, description = "It runs", content_type = "text/plain")))]
pub(crate) async fn healthz() -> Response {
    api::typed(CachePolicy::NoStore, HeaderValue::from_static("text/plain; charset=utf-8"), "ok\n")
}

/// Requests should be sent here: the catalogue is loaded and workers can be had
#[utoipa::path(
    get, path = "/readyz", tag = "operations", operation_id = "readyz",
    responses(
        (status = 200, description = "Ready", body = Ready),
        (status = 503, description = "Not ready; `checks` says why", body = Ready),
    )
)]
pub(crate) async fn readyz(State(app): State<Arc<App>>, caller: Caller) -> ApiResult {
    let snapshot = app.catalog.snapshot();
    let (workers, _) = app.processor.load();
    let (confinement, complete) = app.processor.confinement();
    let mut statuses = app.syncs_for(&snapshot, caller.viewer());
    statuses.retain(|status| status.state != Sync::Detached);
    let generation = caller.sees_everything().then_some(snapshot.generation);
    let waiting = statuses.iter().filter(|status| status.last_success.is_none()).count();
    let check =
        |name: &str, ok, required, detail: String| Check { name: name.to_owned(), ok, required, detail };
    let writable = app.catalog.check_writable().await;
    let found = app.catalog.search_generation() >= snapshot.generation;
    let checks = vec![
        // The catalogue was opened and its snapshot loaded before the first connection was taken.
        check("catalogue", true, true, "it is open".to_owned()),
        check(
            "workers",
            workers.workers > 0,
            true,
            format!("{} workers, {} busy, {} waiting", workers.workers, workers.busy, workers.queued),
        ),
        check("confinement", complete, false, confinement),
        python_check(app.processor.python()),
        check(
            "disk",
            writable.is_ok(),
            // What is there is served all the same.
            false,
            match writable {
                Ok(()) => "the data directory can be written to".to_owned(),
                Err(error) => format!("the data directory cannot be written to: {}", error.kind()),
            },
        ),
        check(
            "search",
            found,
            false,
            if found { "it knows everything that is published" } else { "it is being brought up to date" }
                .to_owned(),
        ),
        check(
            "registries",
            waiting == 0,
            false,
            format!("{} of {} have been indexed", statuses.len() - waiting, statuses.len()),
        ),
    ];
    let ready = checks.iter().all(|check| check.ok || !check.required);
    let mut response = api::json(CachePolicy::NoStore, &Ready { ready, generation, checks })?;
    if !ready {
        *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
    }
    Ok(response)
}

/// How far Python is. Templates of other kinds do not need it, so the server is ready without.
fn python_check(state: Option<PythonState>) -> Check {
    let version = worker::python::python_version();
    let (ok, detail) = match state {
        Some(PythonState::Ready(_)) => (true, format!("Python {version}, compiled for this machine")),
        Some(PythonState::Idle) => (true, format!("Python {version}, not needed so far")),
        Some(PythonState::Compiling(since)) => {
            let seconds = since.elapsed().as_secs();
            (false, format!("Python {version} has been being compiled for {seconds} s; its templates wait"))
        }
        Some(PythonState::Failed(message)) => (false, format!("Python templates are refused: {message}")),
        None => (false, "there is none: Python templates are refused".to_owned()),
    };
    Check { name: "python".to_owned(), ok, required: false, detail }
}

/// Metrics, as OpenMetrics has them
#[utoipa::path(get, path = "/metrics", tag = "operations", operation_id = "metrics", responses((status = 200, description = "OpenMetrics text", content_type = "application/openmetrics-text")))]
pub(crate) async fn metrics(State(app): State<Arc<App>>, caller: Caller) -> Response {
    let (workers, killed) = app.processor.load();
    let now = time::now();
    let snapshot = app.catalog.snapshot();
    let ages = app
        .syncs_for(&snapshot, caller.viewer())
        .into_iter()
        .filter_map(|status| Some((status.name.to_string(), now - status.last_success?)));
    let observed = Observed {
        generation: snapshot.generation,
        search_generation: app.catalog.search_generation(),
        cached: [
            ("files", app.catalog.cache_size().bytes),
            ("ready", app.ready.bytes()),
            ("packed", app.packed.bytes()),
        ],
        statements: app.catalog.statements(),
        workers,
        killed,
        python: app.processor.python(),
        ages: ages.collect(),
        syncs: app.syncs.statistics(),
    };
    api::typed(
        CachePolicy::NoStore,
        HeaderValue::from_static(metrics::CONTENT_TYPE),
        app.metrics.text(&observed),
    )
}

/// How bringing registries up to date goes, troubled ones first
#[utoipa::path(get, path = "/api/v1/status", tag = "operations", operation_id = "get_status", responses((status = 200, description = "The state of this server", body = Status)))]
pub(crate) async fn get_status(State(app): State<Arc<App>>, caller: Caller) -> ApiResult {
    api::json(CachePolicy::NoStore, &status(&app, &caller))
}

/// What the status page and its JSON show.
pub(crate) fn status(app: &App, caller: &Caller) -> Status {
    let snapshot = app.catalog.snapshot();
    let mut registries = app
        .syncs_for(&snapshot, caller.viewer())
        .iter()
        .map(|status| RegistryStatus {
            name: status.name.to_string(),
            sync: view::sync(
                Some(status),
                snapshot.registry(caller.viewer(), &status.name).map(AsRef::as_ref),
            ),
        })
        .collect::<Vec<_>>();
    let rank = |status: &RegistryStatus| match status.sync.state.as_str() {
        "failed" => 0,
        "ready" => 3,
        "detached" => 1,
        _ => 2,
    };
    registries.sort_by(|a, b| rank(a).cmp(&rank(b)).then_with(|| a.name.cmp(&b.name)));
    Status {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        generation: caller.sees_everything().then_some(snapshot.generation),
        registries,
        workers: app.processor.load().0,
    }
}
