//! `GET /api/v1/templates/<reference>/-/history` and `GET /api/v1/changes`: what became of versions.

use std::sync::Arc;

use axum::extract::State;
use catalog::{LogEntry, TemplateSnapshot};
use http::Uri;
use schema::Version;
use schema::reference::{Reference, Selector};
use wire::ProblemKind;
use wire::history::{Change, Changes, History, Revision};

use crate::access::Caller;
use crate::api;
use crate::api::paging::{self, Page};
use crate::cache::CachePolicy;
use crate::error::{ApiError, ApiResult};
use crate::state::App;
use crate::time::rfc3339;
use crate::view;

/// Entries of the change log in one answer, if nothing else is asked for, and at most.
const USUAL: usize = 100;
const MOST: usize = 1_000;

/// What became of every version of a template, or of one
#[utoipa::path(
    get, path = "/api/v1/templates/{reference}/-/history", tag = "history", operation_id = "get_history",
    params(
        ("reference" = String, Path, description = "The template; with a version, only what became of that one. Its slashes stay slashes", example = "redis"),
        ("limit" = Option<usize>, Query, description = "How many contents, and then those of the version that is reached; 100 if not given, 1,000 at most", minimum = 1),
        ("cursor" = Option<String>, Query, description = "`next` of the answer before"),
    ),
    responses(
        (status = 200, description = "Every content there ever was, what brought it, and what became of it", body = History),
        (status = 304, description = "The client has this answer already"),
        (status = 400, description = "The reference cannot be read", body = wire::Problem, content_type = "application/problem+json"),
        (status = 404, description = "Nothing has that name", body = wire::Problem, content_type = "application/problem+json"),
        (status = 410, description = "The version was erased; `detail` says why", body = wire::Problem, content_type = "application/problem+json"),
    )
)]
pub(crate) fn get_history(app: &App, caller: &Caller, requested: &str, uri: &Uri) -> ApiResult {
    let reference = api::reference(requested)?;
    let page = Page::asked(uri)?;
    let after = page.after(|cursor| cursor.parse::<Version>().ok())?;
    let (snapshot, viewer) = (app.catalog.snapshot(), caller.viewer());
    let mut answer = if reference.selector == Selector::Highest && reference.digest.is_none() {
        history(snapshot.locate(viewer, &reference, app.home.as_ref())?, None)
    } else {
        let found = snapshot.resolve(viewer, &reference, app.home.as_ref())?;
        history(found.template, Some(&found.version.version))
    };
    let version = |revision: &Revision| revision.version.parse::<Version>().ok();
    if let Some(after) = &after {
        answer.revisions.retain(|revision| version(revision).is_some_and(|version| version < *after));
    }
    // A page ends between versions, so that the place of its last one says where the next begins.
    if let Some(last) = answer.revisions.get(page.limit - 1).map(|last| last.version.clone()) {
        let end =
            answer.revisions.iter().rposition(|revision| revision.version == last).map_or(0, |at| at + 1);
        if end < answer.revisions.len() {
            answer.revisions.truncate(end);
            answer.next = Some(last);
        }
    }
    paging::answer(
        &app.base,
        uri,
        CachePolicy::Revalidate,
        &answer,
        answer.next.as_deref().map(|next| ("cursor", next)),
    )
}

fn history(template: &TemplateSnapshot, only: Option<&Version>) -> History {
    let selector = only.map_or(Selector::Highest, |version| Selector::Exactly(version.clone()));
    History {
        reference: Reference::to(&template.location, selector).to_string(),
        revisions: view::revisions(template, only),
        next: None,
    }
}

/// What happened, in order, to everything there is
#[utoipa::path(
    get, path = "/api/v1/changes", tag = "history", operation_id = "list_changes",
    params(
        ("since" = Option<u64>, Query, description = "`next` of the answer before; everything if not given"),
        ("limit" = Option<usize>, Query, description = "How many; 100 if not given, 1,000 at most"),
    ),
    responses(
        (status = 200, description = "What happened, oldest first", body = Changes),
        (status = 304, description = "The client has this answer already: nothing happened"),
        (status = 400, description = "`since` or `limit` is no number", body = wire::Problem, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn list_changes(State(app): State<Arc<App>>, caller: Caller, uri: Uri) -> ApiResult {
    let since = number(&uri, "since")?.unwrap_or(0);
    let limit = number(&uri, "limit")?.map_or(USUAL, |limit| usize::try_from(limit).unwrap_or(MOST));
    let page = app.catalog.changes(caller.viewer(), since, limit.clamp(1, MOST)).await;
    let page = page.map_err(ApiError::internal)?;
    let changes = page.entries.into_iter().map(change).collect();
    let answer = Changes { changes, next: page.next, more: page.more };
    let next = answer.next.to_string();
    let next = answer.more.then_some(("since", next.as_str()));
    paging::answer(&app.base, &uri, CachePolicy::Revalidate, &answer, next)
}

fn number(uri: &Uri, name: &'static str) -> Result<Option<u64>, ApiError> {
    let Some(text) = api::parameter(uri, name) else { return Ok(None) };
    text.parse().map(Some).map_err(|_| {
        let shown = schema::finding::shown(text.as_bytes());
        ApiError::new(
            ProblemKind::InvalidQuery,
            format!("`{name}` is `{shown}`, which is no number from 0 on"),
        )
        .part(name)
    })
}

fn change(entry: LogEntry) -> Change {
    let reference = entry.location.as_ref().zip(entry.version.as_ref());
    let reference = reference
        .map(|(location, version)| Reference::to(location, Selector::Exactly(version.clone())).to_string());
    Change {
        sequence: entry.sequence,
        at: rfc3339(entry.at),
        what: entry.what,
        registry: entry.registry.to_string(),
        collection: entry
            .location
            .as_ref()
            .and_then(|location| location.collection.as_ref().map(ToString::to_string)),
        template: entry.location.as_ref().map(|location| location.template.to_string()),
        version: entry.version.map(|version| version.to_string()),
        reference,
        digest: entry.digest.map(|digest| digest.to_string()),
        detail: entry.detail,
    }
}
