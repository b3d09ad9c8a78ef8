//! `/`: what this is, what is in it, and the way in.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use catalog::{Counts, Snapshot, TemplateSnapshot, Viewer};
use schema::Kind;
use schema::reference::{Reference, Selector};
use wire::Health;

use crate::access::Caller;
use crate::error::ApiResult;
use crate::pages::{self, Frame};
use crate::state::App;
use crate::target::encode_path;
use crate::view;

/// Templates shown as recently updated.
const RECENT: usize = 6;
/// Registries shown.
const REGISTRIES: usize = 6;

#[derive(Template)]
#[template(path = "home.html")]
struct Home {
    frame: Frame,
    counts: Counts,
    last_indexed: Option<i64>,
    placeholder: String,
    tries: Vec<String>,
    recent: Vec<Recent>,
    registries: Vec<Registry>,
    kinds: Vec<(Kind, usize)>,
    find: String,
    look: String,
    apply: String,
    curl: String,
}

struct Recent {
    name: String,
    place: String,
    page: String,
    description: Option<String>,
    kind: Kind,
    version: String,
    health: Health,
    published: i64,
}

#[derive(Clone)]
struct Registry {
    name: String,
    templates: usize,
    versions: usize,
}

/// What is found by going through the whole catalogue.
pub(crate) struct Summary {
    kinds: Vec<(Kind, usize)>,
    /// The templates that were published last.
    recent: Vec<Arc<TemplateSnapshot>>,
    /// The newest of those this server processes: commands on the page are to work.
    example: Option<Arc<TemplateSnapshot>>,
    registries: Vec<Registry>,
}

pub(crate) async fn home(State(app): State<Arc<App>>, caller: Caller) -> ApiResult {
    let (snapshot, viewer) = (app.catalog.snapshot(), caller.viewer());
    let summary =
        app.home_page.get(&caller, "home", snapshot.generation, || summary(&app, &snapshot, viewer));
    let summary = &summary.1;
    let example = summary.example.as_ref();
    let options = example
        .and_then(|template| template.latest())
        .map(|latest| pages::template::options(&latest.inspection.parameters))
        .unwrap_or_default();
    let name = example.map_or("redis", |template| template.name.as_str()).to_owned();
    let reference = example.map_or_else(
        || "github.com/acme/templates/redis".to_owned(),
        |template| Reference::to(&template.location, Selector::Highest).to_string(),
    );
    let collection = summary.recent.iter().find_map(|template| template.location.collection.as_ref());
    let made = summary
        .recent
        .iter()
        .find_map(|template| template.latest()?.inspection.object_kinds.first().cloned());
    let tries = [
        Some(name.clone()),
        collection.map(|collection| format!("collection:{collection}")),
        made.map(|kind| format!("has:{kind}")),
    ];
    pages::page(&Home {
        frame: Frame::new(&app, &caller, "Templates for Kubernetes, straight from Git"),
        counts: snapshot.counts(viewer),
        last_indexed: snapshot.visible(viewer).filter_map(|registry| registry.indexed_at).max(),
        placeholder: format!("{name}, kind:template, has:Ingress"),
        tries: tries.into_iter().flatten().filter(|_| example.is_some()).collect(),
        find: format!("formwork search --server {} {name}", app.shown_base),
        look: format!("formwork process --server {} {reference}{options}", app.shown_base),
        apply: format!(
            "formwork process --server {} {reference}{options} | kubectl apply -f -",
            app.shown_base
        ),
        curl: format!("curl -fsS '{}/api/v1/resolve?ref={reference}'", app.shown_base),
        recent: summary.recent.iter().filter_map(|template| recent(template)).collect(),
        registries: summary.registries.clone(),
        kinds: summary.kinds.clone(),
    })
}

fn summary(app: &App, snapshot: &Snapshot, viewer: &Viewer) -> Summary {
    let mut kinds = BTreeMap::<Kind, usize>::new();
    let mut newest = Vec::<(i64, &Arc<TemplateSnapshot>)>::new();
    let mut example = None::<(i64, &Arc<TemplateSnapshot>)>;
    for template in snapshot.visible(viewer).flat_map(|registry| registry.templates()) {
        let Some(latest) = template.latest() else { continue };
        *kinds.entry(latest.kind).or_default() += 1;
        newest.push((latest.published_at, template));
        if app.processor.can_process(latest.kind)
            && example.is_none_or(|(at, known)| order((latest.published_at, template), (at, known)).is_lt())
        {
            example = Some((latest.published_at, template));
        }
    }
    if newest.len() > RECENT {
        newest.select_nth_unstable_by(RECENT, |a, b| order(*a, *b));
        newest.truncate(RECENT);
    }
    newest.sort_by(|a, b| order(*a, *b));
    let mut registries = snapshot
        .visible(viewer)
        .map(|registry| Registry {
            name: registry.name.to_string(),
            templates: registry.counts.templates,
            versions: registry.counts.versions,
        })
        .collect::<Vec<_>>();
    registries.sort_by(|a, b| b.templates.cmp(&a.templates).then_with(|| a.name.cmp(&b.name)));
    registries.truncate(REGISTRIES);
    Summary {
        kinds: Kind::ALL.into_iter().filter_map(|kind| Some((kind, *kinds.get(&kind)?))).collect(),
        recent: newest.into_iter().map(|(_, template)| Arc::clone(template)).collect(),
        example: example.map(|(_, template)| Arc::clone(template)),
        registries,
    }
}

/// The newest first, and those of one moment by their place.
fn order(a: (i64, &Arc<TemplateSnapshot>), b: (i64, &Arc<TemplateSnapshot>)) -> Ordering {
    b.0.cmp(&a.0).then_with(|| a.1.location.cmp(&b.1.location))
}

fn recent(template: &TemplateSnapshot) -> Option<Recent> {
    let latest = template.latest()?;
    let location = &template.location;
    let place = match &location.collection {
        Some(collection) => format!("{}/{collection}", location.registry),
        None => location.registry.to_string(),
    };
    Some(Recent {
        name: template.name.to_string(),
        place,
        page: format!("/{}", encode_path(&location.to_string())),
        description: latest.inspection.description.clone().or_else(|| latest.inspection.title.clone()),
        kind: latest.kind,
        version: latest.version.to_string(),
        health: view::health(latest),
        published: latest.published_at,
    })
}
