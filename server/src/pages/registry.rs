//! `/<registry>` and `/<registry>/<collection>/`: what is in them, and how they are.
//!
//! A registry of several collections shows the beginning of each; a collection shows its templates page by page. What
//! takes going through every version is kept for as long as the catalogue stays the same.

use std::collections::BTreeMap;
use std::sync::Arc;

use askama::Template;
use catalog::{CollectionSnapshot, RegistrySnapshot, Snapshot, TemplateSnapshot};
use http::Uri;
use schema::reference::{Location, Reference, Selector};
use schema::{Kind, Severity};
use wire::Health;
use wire::registries::{HealthCounts, Sync};

use crate::access::Caller;
use crate::api;
use crate::error::ApiResult;
use crate::pages::{self, Frame};
use crate::state::App;
use crate::target::{encode_path, encode_query};
use crate::view;

/// Templates of a collection on the page of its registry.
const OF_EACH: usize = 12;
/// Templates on a page of one collection.
const ON_A_PAGE: usize = 100;
/// Collections on a page of a registry.
const COLLECTIONS: usize = 25;
/// Rules in the summary of findings.
const RULES: usize = 12;
/// Rewrites that are held back that are named.
const HELD: usize = 5;

#[derive(Template)]
#[template(path = "registry.html")]
struct Registry {
    frame: Frame,
    name: String,
    host: String,
    rest: String,
    collection: Option<String>,
    heading: String,
    description: Option<String>,
    sync: Sync,
    private: bool,
    next: Option<i64>,
    trouble: Option<String>,
    trouble_hint: Option<String>,
    overview: Arc<(u64, Overview)>,
    groups: Vec<Group>,
    more: Option<String>,
    findings: Vec<FindingRow>,
    maintainers: Vec<String>,
    source: String,
    branch: Option<String>,
    commit: Option<String>,
    indexed: Option<i64>,
    links: Vec<(String, String)>,
    discovered: Option<catalog::Discovered>,
    curl: String,
}

/// What is found by going through every version of a registry or a collection.
#[derive(Default)]
pub(crate) struct Overview {
    health: HealthCounts,
    templates: usize,
    collections: usize,
    versions: usize,
    withdrawn: usize,
    /// What its newest versions suffer from, the worst first.
    rules: Vec<RuleRow>,
    /// Rewrites of settled versions that are held back: what they are of, and its history.
    held: Vec<(String, String)>,
    held_in_all: usize,
}

struct RuleRow {
    rule: String,
    severity: Severity,
    /// What one of its findings says, and where.
    message: String,
    at: String,
    page: String,
    count: usize,
}

/// The templates of one collection.
pub(crate) struct Group {
    heading: Option<String>,
    link: Option<String>,
    place: String,
    description: Option<String>,
    rows: Vec<Row>,
    /// All of them, and where they are, if these are not all.
    all: Option<(usize, String)>,
}

struct Row {
    name: String,
    page: String,
    kind: Kind,
    versions: usize,
    version: String,
    health: Health,
    published: i64,
    withdrawn: bool,
    deprecated: bool,
}

/// A finding, and where to look at it.
pub(crate) struct FindingRow {
    pub(crate) severity: Severity,
    pub(crate) message: String,
    pub(crate) rule: String,
    pub(crate) fix: String,
    pub(crate) path: String,
    pub(crate) line: Option<u32>,
    pub(crate) link: Option<String>,
}

impl FindingRow {
    /// A row for a finding; `link` gives the page of its path and line, if there is one.
    pub(crate) fn of(finding: &schema::Finding, link: Option<String>) -> FindingRow {
        FindingRow {
            severity: finding.severity,
            message: finding.message.clone(),
            rule: finding.rule.to_string(),
            fix: finding.fix.clone(),
            path: finding.path.clone(),
            line: finding.place.map(|place| place.line),
            link,
        }
    }
}

/// The first digits of a commit.
pub(crate) fn short_commit(commit: &str) -> &str {
    commit.get(..10).unwrap_or(commit)
}

/// The page of a registry, or of one of its collections.
pub(crate) fn registry(
    app: &App,
    snapshot: &Snapshot,
    caller: &Caller,
    registry: &RegistrySnapshot,
    only: Option<&CollectionSnapshot>,
    uri: &Uri,
) -> ApiResult {
    let status = app.sync_of(&registry.name);
    let name = registry.name.to_string();
    let (host, rest) = name.split_once('/').unwrap_or((&name, ""));
    let collection = only.and_then(|collection| collection.name.as_ref().map(ToString::to_string));
    let subject =
        collection.as_ref().map_or_else(|| name.clone(), |collection| format!("{name}/{collection}"));
    let overview = app.registry_pages.get(caller, &subject, snapshot.generation, || overview(registry, only));
    let (groups, more) = groups(registry, only, &subject, api::parameter(uri, "after").as_deref());
    let failure = registry.failure.as_ref();
    let discovered = app.catalog.discovered(caller.viewer(), &registry.name);
    let said = discovered.as_ref().and_then(|said| said.description.clone());
    let heading = match only {
        Some(only) => only.title.clone().or_else(|| collection.clone()).unwrap_or_default(),
        None => registry.title.clone().unwrap_or_else(|| rest.to_owned()),
    };
    let findings = if only.is_none() {
        registry.findings.iter().take(50).map(|finding| FindingRow::of(finding, None)).collect()
    } else {
        Vec::new()
    };
    let safe = |url: &&String| url.starts_with("https://") || url.starts_with("http://");
    pages::page(&Registry {
        frame: Frame::new(app, caller, subject).at("/registries"),
        host: host.to_owned(),
        rest: rest.to_owned(),
        description: match only {
            Some(only) => only.description.clone(),
            None => registry.description.clone().or(said),
        },
        sync: view::sync(status.as_ref(), Some(registry)),
        private: registry.visibility == catalog::Visibility::Private,
        next: status.as_ref().and_then(|status| status.next),
        trouble: failure.map(|failure| failure.message.trim_end_matches('.').to_owned()),
        trouble_hint: failure.and_then(|failure| failure.hint.clone()),
        overview,
        groups,
        more,
        findings,
        maintainers: registry.maintainers.clone(),
        source: view::shown_source(&registry.source).to_owned(),
        branch: registry.branch.clone(),
        commit: registry.commit.clone(),
        indexed: registry.indexed_at,
        links: registry
            .links
            .iter()
            .filter(|(_, url)| safe(url))
            .map(|(label, url)| (label.clone(), url.clone()))
            .collect(),
        curl: format!("curl -fsS {}/api/v1/registries/{name}", app.shown_base),
        discovered,
        heading,
        collection,
        name,
    })
}

fn overview(registry: &RegistrySnapshot, only: Option<&CollectionSnapshot>) -> Overview {
    let templates = match only {
        Some(only) => only.templates.values().collect::<Vec<_>>(),
        None => registry.templates().collect(),
    };
    let mut out = Overview {
        health: view::health_counts(templates.iter().copied()),
        templates: templates.len(),
        collections: match only {
            Some(_) => 1,
            None => registry.collections.values().filter(|one| !one.templates.is_empty()).count(),
        },
        ..Overview::default()
    };
    let mut rules = BTreeMap::<String, RuleRow>::new();
    for template in templates {
        out.versions += template.versions.len();
        out.withdrawn += template.versions.values().filter(|version| version.withdrawn.is_some()).count();
        out.held_in_all += template.held.len();
        let room = HELD.saturating_sub(out.held.len());
        out.held.extend(template.held.keys().take(room).map(|version| {
            let place = within(&template.location);
            (format!("{place} {version}"), format!("{}/-/history", page_of(&template.location)))
        }));
        let Some(latest) = template.latest() else { continue };
        for finding in latest.all_findings() {
            let row = rules.entry(finding.rule.to_string()).or_insert_with(|| RuleRow {
                rule: finding.rule.to_string(),
                severity: finding.severity,
                message: finding.message.clone(),
                at: within(&template.location),
                page: format!("{}#report", page_of(&template.location)),
                count: 0,
            });
            row.count += 1;
        }
    }
    out.rules = rules.into_values().collect();
    // Severities rise; errors first.
    out.rules.sort_by(|a, b| b.severity.cmp(&a.severity).then(b.count.cmp(&a.count)));
    out.rules.truncate(RULES);
    out
}

/// A template by its name within its registry.
fn within(location: &Location) -> String {
    let collection = location.collection.iter().map(|collection| format!("{collection}/"));
    format!("{}{}", collection.collect::<String>(), location.template)
}

fn page_of(location: &Location) -> String {
    format!("/{}", encode_path(&Reference::to(location, Selector::Highest).to_string()))
}

/// The groups of a page, and the address of the page after it. `after` is the last name of the page before.
fn groups(
    registry: &RegistrySnapshot,
    only: Option<&CollectionSnapshot>,
    subject: &str,
    after: Option<&str>,
) -> (Vec<Group>, Option<String>) {
    let further = |last: &str| {
        let slash = if only.is_some() { "/" } else { "" };
        format!("/{subject}{slash}?after={}", encode_query(last))
    };
    let full = registry.collections.values().filter(|one| !one.templates.is_empty()).collect::<Vec<_>>();
    let single = match (only, full.as_slice()) {
        (Some(only), _) => Some(only),
        (None, [one]) => Some(one.as_ref()),
        _ => None,
    };
    if let Some(single) = single {
        let rest =
            single.templates.values().filter(|one| after.is_none_or(|after| one.name.as_str() > after));
        let mut shown = rest.take(ON_A_PAGE + 1).collect::<Vec<_>>();
        let goes_on = shown.len() > ON_A_PAGE;
        shown.truncate(ON_A_PAGE);
        let more = shown.last().filter(|_| goes_on).map(|last| further(last.name.as_str()));
        let rows = shown.into_iter().filter_map(row).collect();
        let heading = only.is_none() && single.name.is_some();
        return (vec![group(registry, single, heading, rows, None)], more);
    }
    let name = |one: &CollectionSnapshot| one.name.as_ref().map(ToString::to_string).unwrap_or_default();
    let rest = full.iter().filter(|one| after.is_none_or(|after| name(one).as_str() > after));
    let rest = rest.collect::<Vec<_>>();
    let last = rest.get(COLLECTIONS - 1).filter(|_| rest.len() > COLLECTIONS);
    let more = last.map(|last| further(&name(last)));
    let shown = rest.iter().take(COLLECTIONS).map(|one| {
        let rows = one.templates.values().take(OF_EACH).filter_map(row).collect();
        let all = match &one.name {
            _ if one.templates.len() <= OF_EACH => None,
            Some(name) => Some(format!("/{}/{name}/", registry.name)),
            None => Some(format!("/search?registry={}&collection=/", encode_query(registry.name.as_str()))),
        };
        group(registry, one, true, rows, all.map(|url| (one.templates.len(), url)))
    });
    (shown.collect(), more)
}

fn group(
    registry: &RegistrySnapshot,
    collection: &CollectionSnapshot,
    headed: bool,
    rows: Vec<Row>,
    all: Option<(usize, String)>,
) -> Group {
    let name = collection.name.as_ref().map(ToString::to_string);
    let heading =
        collection.title.clone().or_else(|| name.clone()).unwrap_or_else(|| "No collection".to_owned());
    Group {
        heading: headed.then_some(heading),
        link: name.as_ref().map(|name| format!("/{}/{name}/", registry.name)),
        place: match &name {
            None => "root of the repository".to_owned(),
            Some(name) if *name == collection.path => format!("{}/", collection.path),
            Some(name) => format!("{name} → {}/", collection.path),
        },
        description: collection.description.clone(),
        rows,
        all,
    }
}

fn row(template: &Arc<TemplateSnapshot>) -> Option<Row> {
    let latest = template.latest()?;
    Some(Row {
        name: template.name.to_string(),
        page: page_of(&template.location),
        kind: latest.kind,
        versions: template.versions.len(),
        version: latest.version.to_string(),
        health: view::health(latest),
        published: latest.published_at,
        withdrawn: latest.withdrawn.is_some(),
        deprecated: latest.deprecated.is_some(),
    })
}
