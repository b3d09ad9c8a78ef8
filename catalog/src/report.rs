//! Reports on versions: what processing the example of each gave, beside what its text alone told.
//!
//! A report belongs to a content, not to a moment: the same bytes processed by the same engine, with the same content
//! behind every reference, give the same report. It is made after a version is published and shown as soon as it is
//! there; until then the version's report is pending.
//!
//! This module must not know how a report is made.

use std::sync::Arc;

use schema::processing::RENDERED_BY_JINJA2;
use schema::{CollectionName, Digest, Finding, TemplateName, Version};
use serde::{Deserialize, Serialize};

use crate::apply::{Change, What};
use crate::snapshot::{CollectionSnapshot, RegistrySnapshot, TemplateSnapshot, VersionSnapshot};

/// What processing the example of a version gave.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// The build of the engine that made it: another one makes it again.
    pub engine: Arc<str>,
    /// When it was made: seconds since 1970, UTC.
    pub at: i64,
    /// What is wrong, with paths from the version's directory.
    pub findings: Vec<Finding>,
    /// What the template referred to while its example was processed. If one of these gets other content, the report
    /// is made again.
    pub needed: Vec<NeededReference>,
}

impl Report {
    /// Whether the version is to be rendered by Jinja2 itself.
    pub fn is_rendered_by_jinja2(&self) -> bool {
        self.findings.iter().any(|finding| finding.rule == RENDERED_BY_JINJA2)
    }
}

/// A reference that was followed for a report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NeededReference {
    /// As the template writes it.
    pub reference: String,
    /// The content it got; none if it led nowhere.
    pub digest: Option<Digest>,
}

/// Whether the report on a version has been made. What a version's text alone tells is in its findings.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum ReportState {
    /// Not yet.
    #[default]
    Pending,
    /// Here it is.
    Made(Arc<Report>),
}

impl ReportState {
    /// The report, if it has been made.
    pub fn made(&self) -> Option<&Arc<Report>> {
        match self {
            ReportState::Pending => None,
            ReportState::Made(report) => Some(report),
        }
    }
}

/// A report and the version it is on.
#[derive(Debug, Clone, PartialEq)]
pub struct ReportedVersion {
    /// The collection; `None` is the root.
    pub collection: Option<CollectionName>,
    /// The template.
    pub template: TemplateName,
    /// The version.
    pub version: Version,
    /// The content that was reported on.
    pub digest: Digest,
    /// What was found.
    pub report: Arc<Report>,
}

/// A registry with reports attached.
#[derive(Debug)]
pub(crate) struct Attached {
    pub(crate) registry: RegistrySnapshot,
    /// The reports that had a version to belong to.
    pub(crate) reports: Vec<ReportedVersion>,
    /// Versions whose health is another one than before: worth a line in the change log.
    pub(crate) changes: Vec<Change>,
}

/// Attaches reports to the versions they are on. One whose version is gone, or has other bytes by now, is dropped.
pub(crate) fn attach(old: &RegistrySnapshot, reports: Vec<ReportedVersion>) -> Attached {
    let mut attached = Attached { registry: old.clone(), reports: Vec::new(), changes: Vec::new() };
    for reported in reports {
        let Some((collection, template, version)) = place(&attached.registry, &reported) else { continue };
        let now = Arc::new(VersionSnapshot {
            report: ReportState::Made(reported.report.clone()),
            ..VersionSnapshot::clone(version)
        });
        if now.health() != version.health() {
            attached.changes.push(Change {
                collection: reported.collection.clone(),
                template: reported.template.clone(),
                what: What::Reported,
                now: now.clone(),
                held: None,
            });
        }
        let template = TemplateSnapshot {
            versions: template.versions.update(now.version.clone(), now.clone()),
            ..TemplateSnapshot::clone(template)
        };
        let templates = collection.templates.update(template.name.clone(), Arc::new(template));
        let collection = CollectionSnapshot { templates, ..CollectionSnapshot::clone(collection) };
        let registry = &mut attached.registry;
        registry.collections.insert(collection.name.clone(), Arc::new(collection));
        if registry
            .contents
            .get(&now.digest)
            .is_some_and(|known| known.version == now.version && known.path == now.path)
        {
            registry.contents.insert(now.digest, now);
        }
        attached.reports.push(reported);
    }
    attached
}

fn place<'a>(
    registry: &'a RegistrySnapshot,
    reported: &ReportedVersion,
) -> Option<(&'a CollectionSnapshot, &'a TemplateSnapshot, &'a VersionSnapshot)> {
    let collection = registry.collections.get(&reported.collection)?;
    let template = collection.templates.get(&reported.template)?;
    let version = template.versions.get(&reported.version)?;
    (version.digest == reported.digest).then_some((&**collection, &**template, &**version))
}
