//! `/registries`: what this server holds.

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use catalog::Counts;

use crate::access::Caller;
use crate::error::ApiResult;
use crate::pages::{self, Frame};
use crate::state::App;
use crate::view;

#[derive(Template)]
#[template(path = "registries.html")]
struct Registries {
    frame: Frame,
    counts: Counts,
    home: Option<String>,
    rows: Vec<Row>,
}

struct Row {
    name: String,
    description: Option<String>,
    state: String,
    templates: usize,
    versions: usize,
    indexed: Option<i64>,
}

pub(crate) async fn registries(State(app): State<Arc<App>>, caller: Caller) -> ApiResult {
    let (snapshot, viewer) = (app.catalog.snapshot(), caller.viewer());
    let statuses = app.syncs_for(&snapshot, viewer);
    let row = |registry: &Arc<catalog::RegistrySnapshot>| {
        let status = statuses.iter().find(|status| status.name == registry.name);
        Row {
            name: registry.name.to_string(),
            description: registry.title.clone().or_else(|| registry.description.clone()),
            state: view::sync(status, Some(registry)).state,
            templates: registry.counts.templates,
            versions: registry.counts.versions,
            indexed: registry.indexed_at,
        }
    };
    pages::page(&Registries {
        frame: Frame::new(&app, &caller, "Registries").at("/registries"),
        counts: snapshot.counts(viewer),
        home: app.home_for(&snapshot, viewer).map(|home| match &home.collection {
            Some(collection) => format!("{}/{collection}", home.registry),
            None => home.registry.to_string(),
        }),
        rows: snapshot.visible(viewer).map(row).collect(),
    })
}
