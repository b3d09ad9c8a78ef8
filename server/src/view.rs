//! From what the catalogue holds to what is said of it: URLs, and the wire forms both the API and the pages use.

use std::sync::Arc;

use catalog::{CollectionSnapshot, RegistrySnapshot, TemplateSnapshot, VersionSnapshot};
use indexer::{RegistryStatus, State};
use schema::reference::{Location, Reference, Selector};
use schema::resolve::Rule;
use schema::{CollectionName, Digest, RegistryName};
use wire::history::{Introduced, Revision, Seen, Standing};
use wire::registries::{
    Collection, Counts, Discovered, HealthCounts, RegistrySummary, Sync, TemplateSummary,
};
use wire::{Finding, Health, Notice, files, resolve, templates};

use crate::state::App;
use crate::target::encode_path;
use crate::time::rfc3339;

/// The health of a version.
pub(crate) fn health(version: &VersionSnapshot) -> Health {
    Health::of(version.all_findings())
}

/// The reference to exactly one version.
pub(crate) fn exact(location: &Location, version: &VersionSnapshot) -> Reference {
    Reference::to(location, Selector::Exactly(version.version.clone()))
}

/// The reference to exactly one version and its bytes.
pub(crate) fn pinned(location: &Location, version: &VersionSnapshot) -> Reference {
    let mut reference = exact(location, version);
    reference.digest = Some(version.digest);
    reference
}

/// URLs of things, relative to the root of the server or behind its public URL.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Urls<'a> {
    /// The public URL without its last slash, or nothing.
    pub(crate) base: &'a str,
}

impl Urls<'_> {
    pub(crate) fn template(self, reference: &Reference) -> String {
        format!("{}/api/v1/templates/{}", self.base, encode_path(&reference.to_string()))
    }

    pub(crate) fn aspect(self, reference: &Reference, aspect: &str) -> String {
        format!("{}/-/{aspect}", self.template(reference))
    }

    pub(crate) fn content(self, registry: &RegistryName, digest: &Digest, path: &str) -> String {
        format!("{}/api/v1/content/{registry}/{digest}/{}", self.base, encode_path(path))
    }

    pub(crate) fn archive(self, registry: &RegistryName, digest: &Digest) -> String {
        format!("{}/api/v1/content/{registry}/{digest}.tar.gz", self.base)
    }

    pub(crate) fn collection(self, registry: &RegistryName, collection: Option<&CollectionName>) -> String {
        let below = collection.map(|name| format!("/{name}")).unwrap_or_default();
        format!("{}/api/v1/collections/{registry}{below}", self.base)
    }

    pub(crate) fn templates(self, registry: &RegistryName) -> String {
        format!("{}/api/v1/templates?registry={registry}", self.base)
    }

    pub(crate) fn registry(self, registry: &RegistryName) -> String {
        format!("{}/api/v1/registries/{registry}", self.base)
    }

    pub(crate) fn page(self, reference: &Reference) -> String {
        format!("{}/{}", self.base, encode_path(&reference.to_string()))
    }
}

/// The files of a version.
pub(crate) fn file_list(
    urls: Urls<'_>,
    registry: &RegistryName,
    version: &VersionSnapshot,
) -> Vec<files::File> {
    let file = |entry: &catalog::FileEntry| files::File {
        path: entry.path.clone(),
        size: entry.size,
        executable: entry.executable,
        digest: entry.digest.to_string(),
        url: urls.content(registry, &version.digest, &entry.path),
    };
    version.files.iter().map(file).collect()
}

/// What a reference got.
pub(crate) fn resolved(app: &App, requested: &str, found: &catalog::Resolved<'_>) -> resolve::Resolved {
    let (urls, template, version) = (app.urls(), found.template, found.version);
    let location = &template.location;
    let exact = exact(location, version);
    let pinned = pinned(location, version);
    let newer = |version: Option<&schema::Version>| version.map(ToString::to_string);
    resolve::Resolved {
        requested: requested.to_owned(),
        resolved: version.version.to_string(),
        pinned: pinned.to_string(),
        reference: Reference::to(location, Selector::HighestPatch(version.version.clone())).to_string(),
        registry: location.registry.to_string(),
        collection: location.collection.as_ref().map(ToString::to_string),
        template: location.template.to_string(),
        version: version.directory().to_owned(),
        rule: rule(found).to_owned(),
        why: why(found),
        commit: version.commit.clone(),
        digest: version.digest.to_string(),
        kind: version.kind,
        health: health(version),
        entry: version.entry.clone(),
        files: file_list(urls, &location.registry, version),
        newer: resolve::Newer {
            minor: newer(found.resolution.newer_minor),
            major: newer(found.resolution.newer_major),
        },
        withdrawn: version.withdrawn.as_ref().map(Notice::from),
        deprecated: version.deprecated.as_ref().map(Notice::from),
        links: resolve::Links {
            template: urls.template(&exact),
            files: urls.aspect(&exact, "files/"),
            content: urls.content(&location.registry, &version.digest, ""),
            archive: urls.archive(&location.registry, &version.digest),
            parameters: urls.aspect(&exact, "parameters"),
            process: app.processor.can_process(version.kind).then(|| urls.aspect(&exact, "process")),
            page: urls.page(&exact),
        },
    }
}

/// The word for the rule that chose a version.
fn rule(found: &catalog::Resolved<'_>) -> &'static str {
    found.resolution.rule.as_str()
}

/// Why a reference got this version, in a sentence that names what was passed over.
pub(crate) fn why(found: &catalog::Resolved<'_>) -> String {
    let version = &found.version.version;
    let minor = format!("v{}.{}", version.major(), version.minor());
    match found.resolution.rule {
        Rule::Exact => format!("{version} was asked for exactly"),
        Rule::Highest => format!("{version} is the highest version that may be chosen"),
        Rule::HighestPatch => {
            format!("{version} is the highest patch of {minor}; use :={version} for exactly that")
        }
        Rule::HighestMinor => format!("{version} is the highest minor of v{}", version.major()),
    }
}

/// Every version of a template, newest first.
pub(crate) fn versions(
    urls: Urls<'_>,
    template: &TemplateSnapshot,
) -> impl Iterator<Item = templates::Version> {
    template.versions.values().rev().map(move |one| version(urls, &template.location, one))
}

/// A version in a list.
pub(crate) fn version(urls: Urls<'_>, location: &Location, version: &VersionSnapshot) -> templates::Version {
    templates::Version {
        version: version.version.to_string(),
        pinned: pinned(location, version).to_string(),
        digest: version.digest.to_string(),
        kind: version.kind,
        health: health(version),
        published: rfc3339(version.published_at),
        introduced: version.introduced.as_ref().map(|introduced| rfc3339(introduced.at)),
        commit: version.commit.clone(),
        withdrawn: version.withdrawn.as_ref().map(Notice::from),
        deprecated: version.deprecated.as_ref().map(Notice::from),
        url: urls.template(&exact(location, version)),
    }
}

/// Every content of a template, or of one of its versions: the highest version first, of each what is served first,
/// then what is held, then the newest.
pub(crate) fn revisions(template: &TemplateSnapshot, only: Option<&schema::Version>) -> Vec<Revision> {
    let mut revisions = Vec::new();
    let standing = |version: &VersionSnapshot| match version.standing {
        catalog::Standing::Listed => Standing::Served,
        catalog::Standing::Gone { .. } => Standing::Gone,
        catalog::Standing::Replaced => Standing::Former,
        catalog::Standing::Held => Standing::Held,
    };
    let all = template.versions.values().chain(template.gone.values());
    let all = all.chain(template.former.values()).chain(template.held.values());
    for version in all.filter(|version| only.is_none_or(|only| version.version == *only)) {
        let rank = match standing(version) {
            Standing::Served | Standing::Gone => 0,
            Standing::Held => 1,
            Standing::Former | Standing::Purged => 2,
        };
        let order = (std::cmp::Reverse(version.version.clone()), rank, -version.seen_at);
        let revision = Revision {
            version: version.version.to_string(),
            digest: version.digest.to_string(),
            standing: standing(version),
            since: match version.standing {
                catalog::Standing::Gone { at } => Some(rfc3339(at)),
                _ => None,
            },
            reason: None,
            introduced: version.introduced.as_ref().map(|introduced| Introduced {
                commit: introduced.commit.clone(),
                time: rfc3339(introduced.at),
                author: introduced.author.clone(),
            }),
            seen: Some(Seen { commit: version.commit.clone(), time: rfc3339(version.seen_at) }),
            published: Some(rfc3339(version.published_at)),
            // Settling is the version's, whatever content it has.
            settled_at: version
                .settles_at
                .or_else(|| template.version(&version.version)?.settles_at)
                .map(rfc3339),
            withdrawn: version.withdrawn.as_ref().map(Notice::from),
            deprecated: version.deprecated.as_ref().map(Notice::from),
        };
        revisions.push((order, revision));
    }
    for ((version, digest), purge) in &template.purged {
        if only.is_some_and(|only| only != version) {
            continue;
        }
        let order = (std::cmp::Reverse(version.clone()), 2, -purge.at);
        let revision = Revision {
            version: version.to_string(),
            digest: digest.to_string(),
            standing: Standing::Purged,
            since: Some(rfc3339(purge.at)),
            reason: Some(purge.reason.clone()),
            introduced: None,
            seen: None,
            published: None,
            settled_at: None,
            withdrawn: None,
            deprecated: None,
        };
        revisions.push((order, revision));
    }
    revisions.sort_by(|(one, _), (other, _)| one.cmp(other));
    revisions.into_iter().map(|(_, revision)| revision).collect()
}

/// Findings, as they are said.
pub(crate) fn findings<'a>(findings: impl IntoIterator<Item = &'a schema::Finding>) -> Vec<Finding> {
    findings.into_iter().map(Finding::from).collect()
}

/// Whether the example of a version has been processed.
pub(crate) fn report(version: &VersionSnapshot) -> templates::Report {
    use templates::{Report, ReportState};
    match version.report.made() {
        Some(report) => Report { state: ReportState::Made, made: Some(rfc3339(report.at)) },
        None => Report { state: ReportState::Pending, made: None },
    }
}

/// How healthy the versions of a registry are. Reads every version's findings: for one registry at a time.
pub(crate) fn health_counts<'a>(
    templates: impl IntoIterator<Item = &'a Arc<TemplateSnapshot>>,
) -> HealthCounts {
    let mut counts = HealthCounts::default();
    for version in templates.into_iter().flat_map(|template| template.versions.values()) {
        counts.add(health(version));
    }
    counts
}

/// How bringing a registry up to date goes.
pub(crate) fn sync(status: Option<&RegistryStatus>, registry: Option<&RegistrySnapshot>) -> Sync {
    let failure = registry.and_then(|registry| registry.failure.as_ref());
    let Some(status) = status else {
        // Not synced by this server: what the catalogue remembers is all there is.
        return Sync {
            state: if failure.is_some() { "failed" } else { "waiting" }.to_owned(),
            message: failure.map(|failure| failure.message.clone()),
            last_success: registry.and_then(|registry| registry.indexed_at).map(rfc3339),
            next: None,
        };
    };
    let (state, message) = match &status.state {
        State::Waiting => ("waiting", None),
        State::Scanning { versions: 0 } => ("fetching", None),
        State::Scanning { versions } => ("scanning", Some(format!("{versions} versions so far"))),
        State::Publishing => ("publishing", None),
        State::Ready => ("ready", None),
        State::Failed { message } => ("failed", Some(message.clone())),
        State::Detached => (
            "detached",
            Some(
                "not among this server's registries any more: served as it was, and not brought up to date"
                    .to_owned(),
            ),
        ),
    };
    Sync {
        state: state.to_owned(),
        message,
        last_success: status
            .last_success
            .or_else(|| registry.and_then(|registry| registry.indexed_at))
            .map(rfc3339),
        next: status.next.map(rfc3339),
    }
}

/// Where a registry comes from, as strangers may know it: not where things are on this machine.
pub(crate) fn shown_source(source: &str) -> &str {
    if source.starts_with('/') || source.starts_with("file:") { "a directory of this server" } else { source }
}

/// A registry in a list.
pub(crate) fn registry_summary(
    urls: Urls<'_>,
    registry: &RegistrySnapshot,
    status: Option<&RegistryStatus>,
) -> RegistrySummary {
    RegistrySummary {
        name: registry.name.to_string(),
        title: registry.title.clone(),
        description: registry.description.clone(),
        visibility: registry.visibility.to_string(),
        counts: Counts {
            collections: registry.counts.collections,
            templates: registry.counts.templates,
            versions: registry.counts.versions,
        },
        sync: sync(status, Some(registry)),
        url: urls.registry(&registry.name),
    }
}

/// A registry and everything in it.
pub(crate) fn registry(
    urls: Urls<'_>,
    registry: &RegistrySnapshot,
    status: Option<&RegistryStatus>,
    discovered: Option<catalog::Discovered>,
) -> wire::registries::Registry {
    wire::registries::Registry {
        summary: registry_summary(urls, registry, status),
        health: health_counts(registry.templates()),
        source: shown_source(&registry.source).to_owned(),
        commit: registry.commit.clone(),
        indexed: registry.indexed_at.map(rfc3339),
        maintainers: registry.maintainers.clone(),
        links: registry.links.clone(),
        collections: registry.collections.values().map(|one| collection(urls, &registry.name, one)).collect(),
        templates_url: urls.templates(&registry.name),
        findings: findings(registry.findings.iter()),
        discovered: discovered.map(|said| Discovered {
            default_branch: said.default_branch,
            description: said.description,
            stars: said.stars,
            missing_since: said.missing_since.map(rfc3339),
        }),
    }
}

/// A collection, without its templates.
pub(crate) fn collection(
    urls: Urls<'_>,
    registry: &RegistryName,
    collection: &CollectionSnapshot,
) -> Collection {
    let name = collection.name.as_ref();
    let narrowed = name.map_or("/".to_owned(), ToString::to_string);
    Collection {
        registry: registry.to_string(),
        name: name.map(ToString::to_string),
        path: collection.path.clone(),
        title: collection.title.clone(),
        description: collection.description.clone(),
        templates: collection.templates.len(),
        url: urls.collection(registry, name),
        templates_url: format!("{}&collection={narrowed}", urls.templates(registry)),
    }
}

/// A template in a list; none for one without listed versions.
pub(crate) fn template_summary(urls: Urls<'_>, template: &TemplateSnapshot) -> Option<TemplateSummary> {
    let latest = template.latest()?;
    let reference = Reference::to(&template.location, Selector::Highest);
    Some(TemplateSummary {
        name: template.name.to_string(),
        registry: template.location.registry.to_string(),
        collection: template.location.collection.as_ref().map(ToString::to_string),
        latest: latest.version.to_string(),
        kind: latest.kind,
        title: latest.inspection.title.clone(),
        description: latest.inspection.description.clone(),
        health: health(latest),
        versions: template.versions.len(),
        url: urls.template(&reference),
        reference: reference.to_string(),
    })
}
