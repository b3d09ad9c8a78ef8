//! `/status`: how bringing registries up to date goes, and where templates run.

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use wire::operations::Workers;

use crate::access::Caller;
use crate::api;
use crate::error::ApiResult;
use crate::pages::{self, Frame};
use crate::state::App;
use crate::view;

#[derive(Template)]
#[template(path = "status.html")]
struct Status {
    frame: Frame,
    troubled: usize,
    rows: Vec<Row>,
    workers: Workers,
    /// Versions whose example is still to be processed, or to be processed again.
    reports: u64,
    confinement: String,
}

struct Row {
    name: String,
    state: String,
    message: Option<String>,
    last_success: Option<i64>,
    next: Option<i64>,
}

pub(crate) async fn status(State(app): State<Arc<App>>, caller: Caller) -> ApiResult {
    let snapshot = app.catalog.snapshot();
    let statuses = app.syncs_for(&snapshot, caller.viewer());
    // The order is that of the API: troubled first.
    let rows = api::operations::status(&app, &caller).registries.into_iter().map(|row| {
        let status = statuses.iter().find(|status| status.name.as_str() == row.name);
        let registry = status.and_then(|status| snapshot.registry(caller.viewer(), &status.name));
        let sync = view::sync(status, registry.map(AsRef::as_ref));
        Row {
            state: sync.state,
            message: sync.message,
            last_success: status
                .and_then(|status| status.last_success)
                .or_else(|| registry.and_then(|registry| registry.indexed_at)),
            next: status.and_then(|status| status.next),
            name: row.name,
        }
    });
    let rows = rows.collect::<Vec<_>>();
    pages::page(&Status {
        frame: Frame::new(&app, &caller, "Status").at("/status"),
        troubled: rows.iter().filter(|row| row.state != "ready").count(),
        rows,
        workers: app.processor.load().0,
        reports: app.metrics.reports_pending.get().try_into().unwrap_or_default(),
        confinement: app.processor.confinement().0,
    })
}
