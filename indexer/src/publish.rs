//! From what a scan found to what is published.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use catalog::{
    FileEntry, Introduced, Part, Publication, PublishedCollection, PublishedVersion, RegistrySnapshot,
    VersionSnapshot,
};
use schema::registry_file::{Notice, RegistryFile};
use schema::{CollectionName, Digest, TemplateName, Version};

use crate::history::Bringer;
use crate::scan::parent::Tree;
use crate::scan::protocol::{Known, Scanned, TreeId, Walked, short_name};
use crate::schedule::{RegistryConfig, SyncError};

/// The version directories of a registry whose content need not be read again, by path; of some templates alone, if
/// only those are walked.
pub(crate) fn known(registry: Option<&RegistrySnapshot>, walked: Option<&[Walked]>) -> Known {
    let known = upstream(registry, walked).filter_map(|version| {
        let id = version.tree_id.clone().filter(|id| TreeId::is_ours(id))?;
        Some((version.path.clone(), TreeId(id)))
    });
    known.collect()
}

/// What a registry has upstream, as far as it is known: all of it, or some templates.
fn upstream<'a>(
    registry: Option<&'a RegistrySnapshot>,
    walked: Option<&'a [Walked]>,
) -> impl Iterator<Item = &'a Arc<VersionSnapshot>> {
    let all = registry.filter(|_| walked.is_none()).into_iter().flat_map(RegistrySnapshot::templates);
    let some = walked
        .unwrap_or_default()
        .iter()
        .filter_map(move |walked| registry?.template(walked.collection.as_ref(), &name(walked)?));
    all.chain(some).flat_map(|template| template.upstream())
}

/// The name of the template of a directory, if it is one.
fn name(walked: &Walked) -> Option<TemplateName> {
    walked.path.rsplit('/').next()?.parse().ok()
}

/// What a publication is about, by what was walked.
fn part(walked: &[Walked]) -> Part {
    Part {
        templates: walked.iter().filter_map(|one| Some((one.collection.clone(), name(one)?))).collect(),
        paths: walked.iter().map(|one| one.path.clone()).collect(),
    }
}

/// Whether all of a registry was scanned by this code, so that an unmoved head means that nothing changed.
pub(crate) fn is_current(registry: &RegistrySnapshot) -> bool {
    let mut versions = registry.templates().flat_map(|template| template.upstream());
    versions.all(|version| version.tree_id.as_deref().is_some_and(TreeId::is_ours))
}

/// Everything a scan found, as the catalogue takes it.
pub(crate) fn publication(
    config: &RegistryConfig,
    before: Option<&RegistrySnapshot>,
    tree: Tree,
    now: i64,
) -> Result<Publication, SyncError> {
    let Tree { commit, registry_file, collections, versions, known, findings, walked, brought, rewritten } =
        tree;
    let introduced = introduced(brought);
    let notice =
        |notices, collection: Option<&CollectionName>, template: &str, version: &Version| -> Option<Notice> {
            RegistryFile::notice(notices, collection, template, version).cloned()
        };
    let (withdrawn, deprecated) = (&registry_file.withdrawn, &registry_file.deprecated);
    let mut published = Vec::with_capacity(versions.len() + known.len());
    for scanned in versions {
        let (collection, template) = (scanned.collection.as_ref(), scanned.template.as_str());
        let withdrawn = notice(withdrawn, collection, template, &scanned.version);
        let deprecated = notice(deprecated, collection, template, &scanned.version);
        let introduced = introduced.get(&scanned.path).cloned();
        published.push(PublishedVersion { withdrawn, deprecated, introduced, ..version(scanned) });
    }
    if !known.is_empty() {
        let by_path = upstream(before, walked.as_deref())
            .map(|version| (version.path.as_str(), version))
            .collect::<HashMap<_, _>>();
        for known in known {
            let snapshot = by_path
                .get(known.path.as_str())
                .ok_or_else(|| SyncError::new("the scan knows a version we do not"))?;
            let withdrawn =
                notice(withdrawn, known.collection.as_ref(), known.template.as_str(), &known.version);
            let deprecated =
                notice(deprecated, known.collection.as_ref(), known.template.as_str(), &known.version);
            let unchanged = PublishedVersion::unchanged(known.collection, known.template, snapshot);
            published.push(PublishedVersion { version: known.version, withdrawn, deprecated, ..unchanged });
        }
    }
    Ok(Publication {
        commit,
        branch: config.revision.name().map(str::to_owned),
        title: registry_file.title,
        description: registry_file.description,
        maintainers: registry_file.maintainers,
        links: registry_file.links,
        collections: collections.iter().map(PublishedCollection::from).collect(),
        versions: published,
        findings,
        history_rewritten: rewritten,
        part: walked.as_deref().map(part),
        ..Publication::of(config.name.clone(), config.source.to_string(), now)
    })
}

/// The commits that brought what was read, by path.
fn introduced(brought: Vec<Bringer>) -> HashMap<String, Arc<Introduced>> {
    let mut by_path = HashMap::new();
    for Bringer { commit, at, author, paths } in brought {
        let introduced = Arc::new(Introduced { commit: Some(commit), at, author });
        by_path.extend(paths.into_iter().map(|path| (path, introduced.clone())));
    }
    by_path
}

/// What an operator erased of a registry: contents, and versions as a whole.
pub(crate) fn erased(registry: Option<&RegistrySnapshot>) -> (HashSet<Digest>, HashSet<String>) {
    let (mut contents, mut closed) = (HashSet::new(), HashSet::new());
    for template in
        registry.into_iter().flat_map(|registry| registry.templates().chain(registry.gone.values()))
    {
        for ((version, digest), purge) in &template.purged {
            contents.insert(*digest);
            if purge.whole {
                let collection = template.location.collection.as_ref();
                closed.insert(short_name(collection, &template.name, version));
            }
        }
    }
    // What another version of equal content still has is not erased.
    contents.retain(|digest| registry.is_some_and(|registry| registry.content(digest).is_none()));
    (contents, closed)
}

pub(crate) fn version(scanned: Scanned) -> PublishedVersion {
    let files = scanned.files.into_iter().map(|file| FileEntry {
        path: file.path,
        size: file.size,
        executable: file.executable,
        digest: file.digest,
        documentation: file.documentation,
    });
    PublishedVersion {
        collection: scanned.collection,
        template: scanned.template,
        version: scanned.version,
        path: scanned.path,
        kind: scanned.kind,
        entry: scanned.entry,
        digest: scanned.digest,
        files: files.collect(),
        inspection: scanned.inspection.into(),
        findings: scanned.findings,
        withdrawn: None,
        deprecated: None,
        tree_id: scanned.tree_id.map(|id| id.0),
        introduced: None,
    }
}
