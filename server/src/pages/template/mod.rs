//! `/<reference>` and what is below it: what a version is, how to use it, what is in it, what came before it.
//!
//! Here is what all of these pages share: where they are, and what stands above them.

mod clients;
mod files;
mod overview;
mod parameters;
mod versions;

use catalog::{Resolved, Snapshot, Viewer};
use schema::reference::{Location, Reference, Selector};
use schema::{Kind, RegistryName, registry_file};
use wire::Health;

use crate::pages::not_found::Crumb;
use crate::target::encode_path;
use crate::view::{self, Urls};

pub(crate) use files::{file, files};
pub(crate) use overview::overview;
pub(crate) use parameters::options;
pub(super) use parameters::shell_quoted;
pub(crate) use versions::{history, versions};

/// Where pages of one version are.
pub(super) struct Place<'a> {
    pub(super) found: &'a Resolved<'a>,
    /// The page of the version, as it was asked for: a floating reference shows what it gets today.
    pub(super) page: String,
}

/// What stands above every page of a version.
pub(super) struct Head {
    pub(super) crumbs: Vec<Crumb>,
    pub(super) name: String,
    pub(super) version: String,
    pub(super) health: Health,
    pub(super) kind: Kind,
    pub(super) newest: bool,
    pub(super) newer: Option<(String, String)>,
    pub(super) lede: Option<String>,
    pub(super) page: String,
    /// The address that shows these bytes for as long as they exist.
    pub(super) permanent: String,
    pub(super) tab: &'static str,
    pub(super) files: usize,
    pub(super) versions: usize,
    pub(super) findings: usize,
}

/// Why a version is withdrawn or deprecated, and what to use instead.
struct NoticeRow {
    reason: String,
    instead: Option<Instead>,
}

/// What to use instead, with its page if it has one.
struct Instead {
    text: String,
    page: Option<String>,
}

impl<'a> Place<'a> {
    pub(super) fn new(reference: &Reference, found: &'a Resolved<'a>) -> Place<'a> {
        let mut full = Reference::to(&found.template.location, reference.selector.clone());
        full.digest = reference.digest;
        Place { found, page: page_of(&full) }
    }

    fn file_page(&self, path: &str) -> String {
        format!("{}/-/files/{}", self.page, encode_path(path))
    }

    fn raw(&self, path: &str) -> String {
        Urls { base: "" }.content(self.registry(), &self.found.version.digest, path)
    }

    pub(super) fn registry(&self) -> &RegistryName {
        &self.found.template.location.registry
    }

    fn location(&self) -> &Location {
        &self.found.template.location
    }

    /// What stands above the page called `tab`; `below` is behind the permanent address of the version.
    pub(super) fn head(&self, tab: &'static str, below: &str) -> Head {
        let found = self.found;
        let location = self.location();
        let registry = location.registry.to_string();
        let (host, rest) = registry.split_once('/').unwrap_or((&registry, ""));
        let mut crumbs = vec![
            Crumb { text: host.to_owned(), url: None },
            Crumb { text: rest.to_owned(), url: Some(format!("/{registry}")) },
        ];
        if let Some(collection) = &location.collection {
            crumbs.push(Crumb {
                text: collection.to_string(),
                url: Some(format!("/{registry}/{collection}/")),
            });
        }
        crumbs.push(Crumb { text: location.template.to_string(), url: None });
        let newer = found.resolution.newer_major.or(found.resolution.newer_minor).map(|version| {
            let reference = Reference::to(location, Selector::HighestPatch(version.clone()));
            (version.to_string(), page_of(&reference))
        });
        let inspection = &found.version.inspection;
        Head {
            crumbs,
            name: location.template.to_string(),
            version: found.version.version.to_string(),
            health: view::health(found.version),
            kind: found.version.kind,
            newest: found.template.latest().is_some_and(|latest| latest.version == found.version.version),
            newer,
            lede: inspection.description.clone().or_else(|| inspection.title.clone()),
            permanent: format!("{}{below}", page_of(&view::pinned(location, found.version))),
            page: self.page.clone(),
            tab,
            files: found.version.files.len(),
            versions: found.template.versions.len(),
            findings: found.version.all_findings().count(),
        }
    }
}

impl NoticeRow {
    /// A notice in the registry of `location`: what it names is there, if it is anywhere.
    fn of(
        notice: &registry_file::Notice,
        snapshot: &Snapshot,
        viewer: &Viewer,
        location: &Location,
    ) -> NoticeRow {
        let notice = wire::Notice::from(notice);
        let instead = notice.instead.map(|text| {
            let reference = format!("{}/{text}", location.registry).parse::<Reference>().ok();
            let found = reference.filter(|it| snapshot.resolve(viewer, it, None).is_ok());
            Instead { page: found.map(|reference| page_of(&reference)), text }
        });
        NoticeRow { reason: notice.reason, instead }
    }
}

/// The page of a reference.
fn page_of(reference: &Reference) -> String {
    format!("/{}", encode_path(&reference.to_string()))
}

/// The first digits of a digest, with its algorithm.
pub(crate) fn short_digest(digest: &str) -> &str {
    digest.get(..19).unwrap_or(digest)
}

/// Whether an address from a stranger may be linked to.
fn is_web(url: &str) -> bool {
    url.starts_with("https://") || url.starts_with("http://")
}
