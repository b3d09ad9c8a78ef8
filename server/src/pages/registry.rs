//! `/<registry>` and `/<registry>/<collection>/`: what is in them, and how they are.

use std::sync::Arc;

use askama::Template;
use catalog::{CollectionSnapshot, RegistrySnapshot, TemplateSnapshot};
use schema::reference::{Reference, Selector};
use schema::{Kind, Severity};
use wire::Health;
use wire::registries::{HealthCounts, Sync};

use crate::access::Caller;
use crate::error::ApiResult;
use crate::pages::{self, Frame};
use crate::state::App;
use crate::target::encode_path;
use crate::view;

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
    next: Option<i64>,
    trouble: Option<String>,
    trouble_hint: Option<String>,
    health: HealthCounts,
    templates: usize,
    versions: usize,
    groups: Vec<Group>,
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

/// The templates of one collection.
pub(crate) struct Group {
    heading: Option<String>,
    link: Option<String>,
    place: String,
    description: Option<String>,
    rows: Vec<Row>,
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
    caller: &Caller,
    registry: &RegistrySnapshot,
    only: Option<&CollectionSnapshot>,
) -> ApiResult {
    let status = app.sync_of(&registry.name);
    let name = registry.name.to_string();
    let (host, rest) = name.split_once('/').unwrap_or((&name, ""));
    let collection = only.and_then(|collection| collection.name.as_ref().map(ToString::to_string));
    let several = only.is_none() && registry.collections.len() > 1;
    let shown = registry.collections.values().filter(|one| only.is_none_or(|only| only.name == one.name));
    let groups = shown
        .filter(|one| !one.templates.is_empty())
        .map(|one| group(&name, one, several || one.name.is_some() && only.is_none()))
        .collect::<Vec<_>>();
    let templates = groups.iter().map(|group| group.rows.len()).sum();
    let versions = groups.iter().flat_map(|group| &group.rows).map(|row| row.versions).sum();
    let health = match only {
        Some(only) => view::health_counts(only.templates.values()),
        None => view::health_counts(registry.templates()),
    };
    let failure = registry.failure.as_ref();
    let discovered = app.catalog.discovered(caller.viewer(), &registry.name);
    let said = discovered.as_ref().and_then(|said| said.description.clone());
    let heading = match only {
        Some(only) => only.title.clone().or_else(|| collection.clone()).unwrap_or_default(),
        None => registry.title.clone().unwrap_or_else(|| rest.to_owned()),
    };
    let findings = if only.is_none() {
        registry.findings.iter().map(|finding| FindingRow::of(finding, None)).collect()
    } else {
        Vec::new()
    };
    let safe = |url: &&String| url.starts_with("https://") || url.starts_with("http://");
    pages::page(&Registry {
        frame: Frame::new(
            app,
            caller,
            collection.as_ref().map_or_else(|| name.clone(), |collection| format!("{name}/{collection}")),
        )
        .at("/registries"),
        host: host.to_owned(),
        rest: rest.to_owned(),
        description: match only {
            Some(only) => only.description.clone(),
            None => registry.description.clone().or(said),
        },
        sync: view::sync(status.as_ref(), Some(registry)),
        next: status.as_ref().and_then(|status| status.next),
        trouble: failure.map(|failure| failure.message.trim_end_matches('.').to_owned()),
        trouble_hint: failure.and_then(|failure| failure.hint.clone()),
        health,
        templates,
        versions,
        groups,
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

fn group(registry: &str, collection: &CollectionSnapshot, headed: bool) -> Group {
    let name = collection.name.as_ref().map(ToString::to_string);
    let heading =
        collection.title.clone().or_else(|| name.clone()).unwrap_or_else(|| "No collection".to_owned());
    Group {
        heading: headed.then_some(heading),
        link: name.as_ref().map(|name| format!("/{registry}/{name}/")),
        place: match &name {
            None => "root of the repository".to_owned(),
            Some(name) if *name == collection.path => format!("{}/", collection.path),
            Some(name) => format!("{name} → {}/", collection.path),
        },
        description: collection.description.clone(),
        rows: collection.templates.values().filter_map(row).collect(),
    }
}

fn row(template: &Arc<TemplateSnapshot>) -> Option<Row> {
    let latest = template.latest()?;
    Some(Row {
        name: template.name.to_string(),
        page: format!("/{}", encode_path(&Reference::to(&template.location, Selector::Highest).to_string())),
        kind: latest.kind,
        versions: template.versions.len(),
        version: latest.version.to_string(),
        health: view::health(latest),
        published: latest.published_at,
        withdrawn: latest.withdrawn.is_some(),
        deprecated: latest.deprecated.is_some(),
    })
}
