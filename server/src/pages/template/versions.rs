//! The versions of a template, and every content there ever was of them.

use std::sync::Arc;

use askama::Template;
use catalog::{Resolved, Snapshot, TemplateSnapshot, VersionSnapshot, Viewer};
use http::Uri;
use schema::Version;
use schema::reference::{Location, Reference, Selector};
use wire::Health;
use wire::history::{Revision, Standing};

use super::{Head, NoticeRow, Place, page_of};
use crate::access::Caller;
use crate::api;
use crate::error::{ApiError, ApiResult};
use crate::pages::{self, Frame};
use crate::state::App;
use crate::view::{self, Urls};

/// Versions, or contents, on one page.
const ON_A_PAGE: usize = 100;

#[derive(Template)]
#[template(path = "versions.html")]
struct Versions {
    frame: Frame,
    head: Head,
    versions: Vec<VersionRow>,
    total: usize,
    /// The address of those that come after.
    more: Option<String>,
    json: String,
}

#[derive(Template)]
#[template(path = "history.html")]
struct History {
    frame: Frame,
    head: Head,
    history: Vec<HistoryRow>,
    more: Option<String>,
    feed: String,
    json: String,
}

/// A version in a list.
pub(super) struct VersionRow {
    pub(super) version: String,
    pub(super) page: String,
    pub(super) current: bool,
    pub(super) newest: bool,
    pub(super) published: i64,
    pub(super) health: Health,
    pub(super) withdrawn: Option<NoticeRow>,
    pub(super) deprecated: Option<NoticeRow>,
}

/// One content of one version, and what became of it.
pub(super) struct HistoryRow {
    pub(super) version: String,
    pub(super) standing: Standing,
    pub(super) digest: String,
    pub(super) page: Option<String>,
    /// Commit, author and time.
    pub(super) introduced: Option<(Option<String>, String, i64)>,
    pub(super) seen: Option<i64>,
    pub(super) reason: Option<String>,
}

/// Makes the rows of one page.
pub(super) struct Rows<'a> {
    pub(super) snapshot: &'a Snapshot,
    pub(super) viewer: &'a Viewer,
    pub(super) found: &'a Resolved<'a>,
}

impl Rows<'_> {
    /// The listed versions below `before`, newest first.
    pub(super) fn versions(&self, before: Option<&Version>, most: usize) -> Vec<VersionRow> {
        let template = self.found.template;
        let newest = template.latest().map(|latest| &latest.version);
        let all = template.versions.values().rev();
        let wanted = all.filter(|version| before.is_none_or(|before| version.version < *before));
        wanted.take(most).map(|version| self.version(version, newest)).collect()
    }

    /// The newest versions, and the one the page is about wherever it is.
    pub(super) fn newest(&self, most: usize) -> Vec<VersionRow> {
        let mut rows = self.versions(None, most);
        let own = self.found.template.versions.get(&self.found.version.version);
        if let Some(own) = own.filter(|_| rows.iter().all(|row| !row.current)) {
            rows.push(self.version(own, None));
        }
        rows
    }

    fn version(&self, version: &Arc<VersionSnapshot>, newest: Option<&Version>) -> VersionRow {
        let location = &self.found.template.location;
        let notice = |notice| NoticeRow::of(notice, self.snapshot, self.viewer, location);
        VersionRow {
            version: version.version.to_string(),
            page: page_of(&view::exact(location, version)),
            current: version.version == self.found.version.version,
            newest: Some(&version.version) == newest,
            published: version.published_at,
            health: view::health(version),
            withdrawn: version.withdrawn.as_ref().map(notice),
            deprecated: version.deprecated.as_ref().map(notice),
        }
    }

    /// Every content of versions below `before`, newest version first, until there are `most` and a version ends;
    /// and the version to go on from.
    pub(super) fn history(&self, before: Option<&Version>, most: usize) -> (Vec<HistoryRow>, Option<String>) {
        let template = self.found.template;
        let below = |revision: &Revision| {
            before.is_none_or(|before| {
                revision.version.parse::<Version>().is_ok_and(|version| version < *before)
            })
        };
        let mut revisions = view::revisions(template, None).into_iter().filter(below).peekable();
        let mut rows = Vec::<HistoryRow>::new();
        while let Some(next) = revisions.peek() {
            let goes_on = rows.last().is_some_and(|last| last.version == next.version);
            if rows.len() >= most && !goes_on {
                let last = rows.last().map(|row| row.version.clone());
                return (rows, last);
            }
            rows.extend(revisions.next().map(|revision| history_row(template, revision)));
        }
        (rows, None)
    }
}

fn history_row(template: &TemplateSnapshot, revision: Revision) -> HistoryRow {
    let seconds = |time: &str| time.parse::<jiff::Timestamp>().map_or(0, jiff::Timestamp::as_second);
    let page = match revision.standing {
        Standing::Held | Standing::Purged => None,
        _ => revision.digest.parse().ok().map(|digest| {
            let mut reference = Reference::to(&template.location, Selector::Highest);
            reference.digest = Some(digest);
            page_of(&reference)
        }),
    };
    HistoryRow {
        page,
        introduced: revision
            .introduced
            .map(|introduced| (introduced.commit, introduced.author, seconds(&introduced.time))),
        seen: revision.seen.map(|seen| seconds(&seen.time)),
        version: revision.version,
        standing: revision.standing,
        digest: revision.digest,
        reason: revision.reason,
    }
}

/// The feed of a template.
pub(super) fn feed_of(location: &Location) -> String {
    format!("{}/-/feed.atom", page_of(&Reference::to(location, Selector::Highest)))
}

/// The version behind which a page begins: `?before=v1.2.3`.
fn before(uri: &Uri) -> Result<Option<Version>, ApiError> {
    let Some(text) = api::parameter(uri, "before") else { return Ok(None) };
    text.parse().map(Some).map_err(|_| {
        let shown = schema::finding::shown(text.as_bytes());
        ApiError::new(wire::ProblemKind::InvalidQuery, format!("`{shown}` is not a version")).part("before")
    })
}

/// Every version of a template.
pub(crate) fn versions(
    app: &App,
    snapshot: &Snapshot,
    caller: &Caller,
    reference: &Reference,
    found: &Resolved<'_>,
    uri: &Uri,
) -> ApiResult {
    let place = Place::new(reference, found);
    let rows = Rows { snapshot, viewer: caller.viewer(), found };
    let versions = rows.versions(before(uri)?.as_ref(), ON_A_PAGE);
    let lowest = found.template.versions.values().next().map(|version| version.version.to_string());
    let last = versions.last().map(|row| row.version.clone()).filter(|last| Some(last) != lowest.as_ref());
    pages::page(&Versions {
        frame: Frame::new(app, caller, format!("Versions of {}", found.template.name)),
        head: place.head("versions", "/-/versions"),
        versions,
        total: found.template.versions.len(),
        more: last.map(|last| format!("{}/-/versions?before={last}", place.page)),
        json: Urls { base: "" }.template(&Reference::to(place.location(), Selector::Highest)),
    })
}

/// Every content there ever was of a template.
pub(crate) fn history(
    app: &App,
    snapshot: &Snapshot,
    caller: &Caller,
    reference: &Reference,
    found: &Resolved<'_>,
    uri: &Uri,
) -> ApiResult {
    let place = Place::new(reference, found);
    let rows = Rows { snapshot, viewer: caller.viewer(), found };
    let (history, last) = rows.history(before(uri)?.as_ref(), ON_A_PAGE);
    pages::page(&History {
        frame: Frame::new(app, caller, format!("History of {}", found.template.name)),
        head: place.head("history", "/-/history"),
        history,
        more: last.map(|last| format!("{}/-/history?before={last}", place.page)),
        feed: feed_of(place.location()),
        json: Urls { base: "" }.aspect(&Reference::to(place.location(), Selector::Highest), "history"),
    })
}
