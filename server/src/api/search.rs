//! `GET /api/v1/search`.

use std::sync::{Arc, LazyLock};

use axum::extract::State;
use http::Uri;
use schema::reference::{Reference, Selector};
use tokio::sync::Semaphore;
use wire::search::{Facet, Facets, Hit, Marked, SearchAnswer};
use wire::{Health, ProblemKind};

use crate::access::Caller;
use crate::api;
use crate::cache::CachePolicy;
use crate::error::{ApiError, ApiResult};
use crate::state::App;

/// Finds templates by words
#[utoipa::path(
    get, path = "/api/v1/search", tag = "search", operation_id = "search_templates",
    params(
        ("q" = Option<String>, Query, description = "Words; `registry:`, `collection:`, `kind:`, `health:`, `has:` and `tag:` narrow. Nothing finds everything", example = "redis"),
        ("collection" = Option<Vec<String>>, Query, description = "Only these collections; `/` is the root"),
        ("registry" = Option<Vec<String>>, Query, description = "Only these registries"),
        ("kind" = Option<Vec<String>>, Query, description = "Only these kinds: `template`, `chart`, `dm`, `broker`, `plan`", example = json!(["template"])),
        ("health" = Option<Vec<String>>, Query, description = "Only templates whose newest version is `healthy`, or has `warnings`, or `errors`"),
        ("has" = Option<Vec<String>>, Query, description = "Only templates that make objects of all these kinds"),
        ("tag" = Option<Vec<String>>, Query, description = "Only templates with all these tags"),
        ("limit" = Option<usize>, Query, description = "How many hits; 20 if not given, 100 at most"),
        ("cursor" = Option<String>, Query, description = "`next` of the answer before"),
    ),
    responses(
        (status = 200, description = "The hits, best first", body = SearchAnswer),
        (status = 304, description = "The client has this answer already"),
        (status = 400, description = "The cursor or limit cannot be read", body = wire::Problem, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn search_templates(State(app): State<Arc<App>>, caller: Caller, uri: Uri) -> ApiResult {
    let answer = search(&app, &caller, &uri).await?;
    let next = answer.next.as_deref().map(|next| ("cursor", next));
    api::paging::answer(&app.base, &uri, CachePolicy::Revalidate, &answer, next)
}

/// The answer for the query of a URL; the page asks the same.
pub(crate) async fn search(app: &App, caller: &Caller, uri: &Uri) -> Result<SearchAnswer, ApiError> {
    let text = api::parameter(uri, "q").unwrap_or_default();
    let limit = match api::parameter(uri, "limit") {
        None => 0,
        Some(limit) => limit.parse::<usize>().map_err(|_| {
            ApiError::new(
                ProblemKind::InvalidQuery,
                format!(
                    "`{}` is no limit; write a number up to 100",
                    schema::finding::shown(limit.as_bytes())
                ),
            )
            .part("limit")
        })?,
    };
    let after = match api::parameter(uri, "cursor") {
        None => None,
        Some(cursor) => {
            let cursor = cursor.parse::<catalog::Cursor>();
            Some(cursor.map_err(|error| {
                ApiError::new(ProblemKind::InvalidQuery, error.to_string()).part("cursor")
            })?)
        }
    };
    let query = catalog::Query {
        text: text.clone(),
        registries: api::parameters(uri, "registry"),
        collections: api::parameters(uri, "collection"),
        kinds: api::parameters(uri, "kind"),
        healths: api::parameters(uri, "health"),
        has: api::parameters(uri, "has"),
        tags: api::parameters(uri, "tag"),
        limit,
        after,
    };
    let (catalog, viewer) = (app.catalog.clone(), caller.viewer().clone());
    let answer = searching(move || catalog.search(&viewer, &query)).await?;
    let facets = |counts: Vec<catalog::FacetCount>| {
        counts.into_iter().map(|one| Facet { value: one.value, count: one.count }).collect()
    };
    Ok(SearchAnswer {
        query: text.clone(),
        total: answer.total,
        hits: answer.hits.into_iter().map(|one| hit(app, one, &text)).collect(),
        next: answer.next.map(|cursor| cursor.to_string()),
        facets: Facets {
            kind: facets(answer.facets.kinds),
            registry: facets(answer.facets.registries),
            collection: facets(answer.facets.collections),
            health: facets(answer.facets.healths),
            has: facets(answer.facets.objects),
            tag: facets(answer.facets.tags),
        },
        corrected: answer.corrected,
        notices: answer.notes,
    })
}

/// Runs a search where it holds up nobody else: as many at a time as there are cores, on threads of their own. What is
/// hot is answered from memory on the threads that wait for nothing.
async fn searching<T: Send + 'static>(search: impl FnOnce() -> T + Send + 'static) -> Result<T, ApiError> {
    static TURNS: LazyLock<Semaphore> =
        LazyLock::new(|| Semaphore::new(std::thread::available_parallelism().map_or(1, usize::from)));
    let _turn = TURNS.acquire().await;
    tokio::task::spawn_blocking(search).await.map_err(|error| {
        tracing::error!(%error, "a search ended early");
        ApiError::new(ProblemKind::Internal, "the search ended early".to_owned())
    })
}

fn hit(app: &App, hit: catalog::Hit, text: &str) -> Hit {
    let reference = Reference::to(&hit.location, Selector::Highest);
    Hit {
        url: app.urls().template(&reference),
        reference: reference.to_string(),
        registry: hit.location.registry.to_string(),
        collection: hit.location.collection.as_ref().map(ToString::to_string),
        exact: hit.location.template.as_str().eq_ignore_ascii_case(text.trim()),
        template: hit.location.template.to_string(),
        version: hit.latest.to_string(),
        kind: hit.kind,
        title: hit.title,
        description: hit.description,
        object_kinds: hit.object_kinds,
        health: match hit.health {
            catalog::Health::Healthy => Health::Healthy,
            catalog::Health::Warnings => Health::Warnings,
            catalog::Health::Broken => Health::Errors,
        },
        snippet: hit.snippet.map(|snippet| pieces(&snippet)).unwrap_or_default(),
        withdrawn: hit.withdrawn,
        deprecated: hit.deprecated,
    }
}

/// A snippet in pieces, so that nobody has to count bytes, and nobody is tempted to send HTML.
fn pieces(snippet: &catalog::Snippet) -> Vec<Marked> {
    let mut pieces = Vec::with_capacity(snippet.matched.len() * 2 + 1);
    let mut at = 0;
    let mut push = |text: Option<&str>, marked| {
        if let Some(text) = text.filter(|text| !text.is_empty()) {
            pieces.push(Marked { text: text.to_owned(), marked });
        }
    };
    for range in &snippet.matched {
        push(snippet.text.get(at..range.start), false);
        push(snippet.text.get(range.clone()), true);
        at = range.end;
    }
    push(snippet.text.get(at..), false);
    pieces
}
