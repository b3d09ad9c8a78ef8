//! What is stored here, in place of being fetched: one version at a time, read in a confined child like any other,
//! published like any other.
//!
//! Who may store, and which version a change becomes, was decided before. The registry comes to be with the first
//! version. Callers change one template after the other.

use std::sync::Arc;

use catalog::{
    HOSTED, Introduced, Origin, Part, Publication, PublishedVersion, RegistrySnapshot, TemplateSnapshot,
};
use schema::{CollectionName, Finding, RegistryName, TemplateName};

use super::{Indexer, SyncError, now};
use crate::publish;
use crate::scan::parent;
use crate::scan::protocol::Submission;

/// A title for people.
const TITLE: &str = "Stored on this server";

/// What became of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    /// The generation in which readers see it.
    pub generation: u64,
}

/// Why nothing was stored.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The files are no version of a template.
    #[error("{}", summary(.0))]
    Withheld(Vec<Finding>),
    /// An operator erased this very content, or nothing may be published as this version.
    #[error("the operator of this server erased this content, and it does not come back")]
    Erased,
    /// Something of ours.
    #[error(transparent)]
    Failed(#[from] SyncError),
}

fn summary(findings: &[Finding]) -> String {
    match findings {
        [] => "this is no version of a template".to_owned(),
        findings => findings.iter().map(|finding| &*finding.message).collect::<Vec<_>>().join("; "),
    }
}

impl From<catalog::WriteError> for StoreError {
    fn from(error: catalog::WriteError) -> StoreError {
        StoreError::Failed(error.into())
    }
}

impl Indexer {
    /// Stores a version in a hosted registry, beside those the template has. `author` is whose it is.
    ///
    /// # Errors
    /// When the files are no version, or the catalogue does not take it.
    pub async fn store(
        &self,
        registry: &RegistryName,
        submission: Submission,
        author: &str,
    ) -> Result<Stored, StoreError> {
        let catalog = &self.shared.catalog;
        if !catalog.snapshot().registries.contains_key(registry) {
            let origin = Origin::Hosted;
            catalog.add_registry_from(registry, HOSTED, None, origin, None, now()).await?;
        }
        let snapshot = catalog.snapshot();
        let before = snapshot.registries.get(registry);
        let (erased, _) = publish::erased(before.map(|registry| &**registry));
        let place = (submission.collection.clone(), submission.template.clone());
        let tree = parent::read(&self.shared.scan_config(), catalog, submission, erased).await?;
        let at = now();
        let mut versions = listed(before.and_then(|before| template(before, &place)));
        let Some(scanned) = tree.versions.into_iter().next() else {
            return Err(match tree.findings.is_empty() {
                true => StoreError::Erased,
                false => StoreError::Withheld(tree.findings),
            });
        };
        let introduced = Some(Arc::new(Introduced { commit: None, at, author: author.to_owned() }));
        let version = scanned.version.clone();
        versions.push(PublishedVersion { introduced, ..publish::version(scanned) });
        let published = catalog.publish(publication(registry, place.clone(), versions, at)).await?;
        let snapshot = catalog.snapshot();
        let now = snapshot.registries.get(registry).and_then(|registry| template(registry, &place));
        match now.is_some_and(|template| template.versions.contains_key(&version)) {
            true => Ok(Stored { generation: published.generation }),
            false => Err(StoreError::Erased),
        }
    }

    /// Lets all versions of a template of a hosted registry go; they stay what they were for whoever names them
    /// exactly.
    ///
    /// # Errors
    /// When the catalogue does not take it.
    pub async fn let_go(
        &self,
        registry: &RegistryName,
        collection: Option<&CollectionName>,
        template: &TemplateName,
    ) -> Result<Stored, StoreError> {
        let place = (collection.cloned(), template.clone());
        let publication = publication(registry, place, Vec::new(), now());
        let published = self.shared.catalog.publish(publication).await?;
        Ok(Stored { generation: published.generation })
    }
}

type Place = (Option<CollectionName>, TemplateName);

fn template<'a>(registry: &'a RegistrySnapshot, (collection, name): &Place) -> Option<&'a TemplateSnapshot> {
    registry.template(collection.as_ref(), name).map(|template| &**template)
}

/// The versions a template has, to be published again as they are.
fn listed(template: Option<&TemplateSnapshot>) -> Vec<PublishedVersion> {
    let versions = template.into_iter().flat_map(|template| {
        let place = &template.location;
        template.versions.values().map(|version| {
            PublishedVersion::unchanged(place.collection.clone(), place.template.clone(), version)
        })
    });
    versions.collect()
}

fn publication(
    registry: &RegistryName,
    (collection, template): Place,
    versions: Vec<PublishedVersion>,
    at: i64,
) -> Publication {
    let path = match &collection {
        Some(collection) => format!("{collection}/{template}"),
        None => template.to_string(),
    };
    Publication {
        title: Some(TITLE.to_owned()),
        versions,
        part: Some(Part { templates: [(collection, template)].into(), paths: vec![path] }),
        ..Publication::of(registry.clone(), HOSTED, at)
    }
}
