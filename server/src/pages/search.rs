//! `/search`: the same answer as the API's, for people. The address holds the whole state.

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use http::Uri;
use schema::Kind;
use wire::search::{Facet, SearchAnswer};

use crate::access::Caller;
use crate::api;
use crate::error::ApiResult;
use crate::pages::{self, Frame};
use crate::state::App;
use crate::target::encode_query;

/// Parameters that narrow, in the order they are shown.
const FILTERS: [(&str, &str); 6] = [
    ("kind", "Kind"),
    ("registry", "Registry"),
    ("collection", "Collection"),
    ("has", "Makes"),
    ("tag", "Tag"),
    ("health", "Health"),
];
/// Values of a facet that are shown.
const VALUES: usize = 12;

#[derive(Template)]
#[template(path = "search.html")]
struct Search {
    frame: Frame,
    answer: SearchAnswer,
    facets: Vec<FacetList>,
    chips: Vec<Chip>,
    next: Option<String>,
}

struct FacetList {
    title: &'static str,
    values: Vec<FacetValue>,
}

struct FacetValue {
    text: String,
    count: String,
    url: String,
    current: bool,
}

struct Chip {
    text: String,
    url: String,
}

pub(crate) async fn search(State(app): State<Arc<App>>, caller: Caller, uri: Uri) -> ApiResult {
    let answer = match api::search::search(&app, &caller, &uri).await {
        Ok(answer) => answer,
        Err(error) => return pages::not_found::error(&app, &caller, uri.path(), error),
    };
    let state = Asked::of(&uri);
    let facets = [
        ("kind", &answer.facets.kind),
        ("registry", &answer.facets.registry),
        ("collection", &answer.facets.collection),
        ("has", &answer.facets.has),
        ("tag", &answer.facets.tag),
        ("health", &answer.facets.health),
    ];
    let facets = facets.into_iter().map(|(name, values)| facet(&state, name, values)).collect();
    let chips = state
        .filters
        .iter()
        .map(|(name, value)| Chip {
            text: format!("{name}: {}", shown(name, value)),
            url: state.without(name, value),
        })
        .collect();
    let next = answer
        .next
        .as_ref()
        .map(|cursor| format!("{}&cursor={}", state.url(&state.filters), encode_query(cursor)));
    let title =
        if state.text.is_empty() { "All templates".to_owned() } else { format!("{} · Search", state.text) };
    pages::page(&Search {
        frame: Frame { query: state.text.clone(), ..Frame::new(&app, &caller, title) },
        answer,
        facets,
        chips,
        next,
    })
}

/// What the URL asks for.
struct Asked {
    text: String,
    filters: Vec<(&'static str, String)>,
}

impl Asked {
    fn of(uri: &Uri) -> Asked {
        let filters = FILTERS
            .iter()
            .flat_map(|(name, _)| api::parameters(uri, name).into_iter().map(move |value| (*name, value)));
        Asked { text: api::parameter(uri, "q").unwrap_or_default(), filters: filters.take(20).collect() }
    }

    fn url(&self, filters: &[(&'static str, String)]) -> String {
        let filters = filters.iter().map(|(name, value)| format!("&{name}={}", encode_query(value)));
        format!("/search?q={}{}", encode_query(&self.text), filters.collect::<String>())
    }

    fn has(&self, name: &str, value: &str) -> bool {
        self.filters.iter().any(|(known, given)| *known == name && given == value)
    }

    fn without(&self, name: &str, value: &str) -> String {
        let rest = self
            .filters
            .iter()
            .filter(|(known, given)| !(*known == name && given == value))
            .cloned()
            .collect::<Vec<_>>();
        self.url(&rest)
    }

    fn with(&self, name: &'static str, value: &str) -> String {
        let mut filters = self.filters.clone();
        filters.push((name, value.to_owned()));
        self.url(&filters)
    }
}

fn facet(state: &Asked, name: &'static str, values: &[Facet]) -> FacetList {
    let value = |facet: &Facet| {
        let current = state.has(name, &facet.value);
        FacetValue {
            text: shown(name, &facet.value),
            count: crate::ui::number(facet.count),
            url: if current { state.without(name, &facet.value) } else { state.with(name, &facet.value) },
            current,
        }
    };
    let title = FILTERS.iter().find(|(known, _)| *known == name).map_or("", |(_, title)| title);
    FacetList { title, values: values.iter().take(VALUES).map(value).collect() }
}

/// A value as people read it.
fn shown(name: &str, value: &str) -> String {
    match name {
        "kind" => Kind::ALL
            .into_iter()
            .find(|kind| kind.as_str() == value)
            .map_or(value, |kind| kind.title())
            .to_owned(),
        "collection" if value == "/" => "no collection".to_owned(),
        _ => value.to_owned(),
    }
}
