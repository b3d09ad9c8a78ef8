//! From what a registry was and what is published to what it is now, and what changed: pure.
//!
//! The difference is found here, once, and drives everything that follows: the rows written, the change log, the
//! templates the search index takes up again. What did not change is taken over by reference.
//!
//! The rules. A published version that was listed and is equal in everything stays the same value. One with other
//! bytes takes the place of the old ones, which stay reachable by digest. One that was gone is back. A version that
//! is not published is gone. A template without listed versions leaves its collection; a collection stays as long
//! as it is published or holds a template.
//!
//! This module must not know how anything is stored or searched.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use imbl::OrdMap;
use schema::reference::Location;
use schema::{CollectionName, Digest, TemplateName, Version};

use crate::publication::{Publication, PublishedCollection, PublishedVersion};
use crate::report::ReportState;
use crate::snapshot::{CollectionSnapshot, RegistrySnapshot, Standing, TemplateSnapshot, VersionSnapshot};

/// What happened to a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum What {
    /// It is new.
    Added,
    /// It has other bytes.
    Changed,
    /// It has the same bytes; what is known or said of it is different.
    Updated,
    /// It is not upstream any more.
    Gone,
    /// It was gone and is back.
    Returned,
    /// Its report has been made, and its health is another one.
    Reported,
}

impl What {
    /// The word kept in the change log.
    pub const fn as_str(self) -> &'static str {
        match self {
            What::Added => "added",
            What::Changed => "changed",
            What::Updated => "updated",
            What::Gone => "gone",
            What::Returned => "returned",
            What::Reported => "reported",
        }
    }
}

/// One version that is not as it was.
#[derive(Debug, Clone)]
pub(crate) struct Change {
    pub(crate) collection: Option<CollectionName>,
    pub(crate) template: TemplateName,
    pub(crate) what: What,
    /// The version as it is now.
    pub(crate) now: Arc<VersionSnapshot>,
}

/// A registry after a publication.
#[derive(Debug)]
pub(crate) struct Applied {
    pub(crate) registry: RegistrySnapshot,
    pub(crate) changes: Vec<Change>,
    /// Whether the rows of collections must be written again.
    pub(crate) collections_changed: bool,
    /// Whether readers can see any difference but the time of the last look.
    pub(crate) visible: bool,
}

impl Applied {
    /// The templates of which something changed.
    pub(crate) fn templates(&self) -> BTreeSet<Location> {
        let location = |change: &Change| Location {
            registry: self.registry.name.clone(),
            collection: change.collection.clone(),
            template: change.template.clone(),
        };
        self.changes.iter().map(location).collect()
    }
}

type Key = (Option<CollectionName>, TemplateName);

/// The registry `old` after `publication`.
pub(crate) fn apply(old: &RegistrySnapshot, publication: &Publication) -> Applied {
    let mut wanted: BTreeMap<Key, BTreeMap<&Version, &PublishedVersion>> = BTreeMap::new();
    for version in &publication.versions {
        let key = (version.collection.clone(), version.template.clone());
        wanted.entry(key).or_default().entry(&version.version).or_insert(version);
    }
    let mut registry = old.clone();
    let mut changes = Vec::new();

    let listed =
        old.templates().map(|template| (template.location.collection.clone(), template.name.clone()));
    let keys = listed.chain(wanted.keys().cloned()).collect::<BTreeSet<_>>();
    let mut templates: BTreeMap<Option<CollectionName>, OrdMap<TemplateName, Arc<TemplateSnapshot>>> = old
        .collections
        .iter()
        .map(|(name, collection)| (name.clone(), collection.templates.clone()))
        .collect();
    let nothing = BTreeMap::new();
    for key in keys {
        let before = known(old, &key);
        let published = wanted.get(&key).unwrap_or(&nothing);
        let at = changes.len();
        let Some(after) = apply_template(old, &key, before, published, publication, &mut changes) else {
            continue;
        };
        for version in changes[at..].iter().map(|change: &Change| &change.now) {
            registry.contents.insert(version.digest, version.clone());
            version.files.iter().for_each(|file| {
                registry.blobs.insert(file.digest);
            });
        }
        let (collection, name) = key;
        if after.versions.is_empty() {
            templates.entry(collection.clone()).or_default().remove(&name);
            registry.gone.insert((collection, name), Arc::new(after));
        } else {
            registry.gone.remove(&(collection.clone(), name.clone()));
            templates.entry(collection).or_default().insert(name, Arc::new(after));
        }
    }

    apply_collections(&mut registry, publication, templates);
    registry.source.clone_from(&publication.source);
    registry.branch.clone_from(&publication.branch);
    registry.commit.clone_from(&publication.commit);
    registry.title.clone_from(&publication.title);
    registry.description.clone_from(&publication.description);
    registry.maintainers.clone_from(&publication.maintainers);
    registry.links.clone_from(&publication.links);
    if *registry.findings != *publication.findings {
        registry.findings = publication.findings.as_slice().into();
    }
    registry.failure = None;
    registry.count();
    let collections_changed = !same_rows(old, &registry);
    let visible = !changes.is_empty()
        || collections_changed
        || old.indexed_at.is_none()
        || facts_differ(old, &registry);
    registry.indexed_at = Some(publication.indexed_at);
    Applied { registry, changes, collections_changed, visible }
}

/// The template as it was, listed or gone; never through an alias.
fn known<'a>(registry: &'a RegistrySnapshot, (collection, name): &Key) -> Option<&'a Arc<TemplateSnapshot>> {
    let listed = registry.collections.get(collection).and_then(|collection| collection.templates.get(name));
    listed.or_else(|| registry.gone.get(&(collection.clone(), name.clone())))
}

/// The template after the publication, or `None` if nothing about it changed.
fn apply_template(
    registry: &RegistrySnapshot,
    key: &Key,
    before: Option<&Arc<TemplateSnapshot>>,
    published: &BTreeMap<&Version, &PublishedVersion>,
    publication: &Publication,
    changes: &mut Vec<Change>,
) -> Option<TemplateSnapshot> {
    let (collection, template) = key;
    let location = || Location {
        registry: registry.name.clone(),
        collection: collection.clone(),
        template: template.clone(),
    };
    let mut after =
        before.map_or_else(|| TemplateSnapshot::new(location()), |before| TemplateSnapshot::clone(before));
    let at = changes.len();
    let mut changed = |what, now: &Arc<VersionSnapshot>| {
        changes.push(Change {
            collection: collection.clone(),
            template: template.clone(),
            what,
            now: now.clone(),
        });
    };
    for (version, published) in published {
        let listed = after.versions.get(*version);
        if listed.is_some_and(|listed| is_same(listed, published)) {
            continue;
        }
        let was_gone = after.gone.remove(*version);
        let old = listed.cloned().or_else(|| was_gone.clone());
        let former = after.former.remove(&((*version).clone(), published.digest));
        let same_bytes = old.as_ref().filter(|old| old.digest == published.digest);
        let now = Arc::new(VersionSnapshot {
            version: published.version.clone(),
            path: published.path.clone(),
            tree_id: published.tree_id.clone(),
            kind: published.kind,
            entry: published.entry.clone(),
            digest: published.digest,
            commit: match same_bytes.or(former.as_ref()) {
                Some(known) => known.commit.clone(),
                None => publication.commit.clone(),
            },
            files: published.files.clone(),
            inspection: published.inspection.clone(),
            findings: published.findings.clone(),
            withdrawn: published.withdrawn.clone(),
            deprecated: published.deprecated.clone(),
            published_at: old.as_ref().map_or(publication.indexed_at, |old| old.published_at),
            standing: Standing::Listed,
            // A report is on bytes: it comes and goes with them.
            report: same_bytes.or(former.as_ref()).map_or(ReportState::Pending, |known| known.report.clone()),
        });
        let what = match (&old, &was_gone, same_bytes) {
            (None, ..) => What::Added,
            (Some(_), Some(_), _) => What::Returned,
            (Some(_), None, Some(_)) => What::Updated,
            (Some(_), None, None) => What::Changed,
        };
        if let Some(old) = old.filter(|old| old.digest != published.digest) {
            after.former.insert((old.version.clone(), old.digest), Arc::new(replaced(&old)));
        }
        changed(what, &now);
        after.versions.insert((*version).clone(), now);
    }
    let missing =
        after.versions.keys().filter(|version| !published.contains_key(version)).cloned().collect::<Vec<_>>();
    for version in missing {
        if let Some(old) = after.versions.remove(&version) {
            let standing = Standing::Gone { at: publication.indexed_at };
            let now = Arc::new(VersionSnapshot { standing, ..VersionSnapshot::clone(&old) });
            changed(What::Gone, &now);
            after.gone.insert(version, now);
        }
    }
    (changes.len() > at).then_some(after)
}

/// A version whose bytes were replaced: what was said of the version does not go with them.
pub(crate) fn replaced(version: &VersionSnapshot) -> VersionSnapshot {
    VersionSnapshot {
        standing: Standing::Replaced,
        findings: Vec::new(),
        withdrawn: None,
        deprecated: None,
        ..version.clone()
    }
}

fn is_same(listed: &VersionSnapshot, published: &PublishedVersion) -> bool {
    listed.digest == published.digest
        && listed.path == published.path
        && listed.tree_id == published.tree_id
        && listed.kind == published.kind
        && listed.entry == published.entry
        && listed.inspection == published.inspection
        && listed.findings == published.findings
        && listed.withdrawn == published.withdrawn
        && listed.deprecated == published.deprecated
}

fn apply_collections(
    registry: &mut RegistrySnapshot,
    publication: &Publication,
    mut templates: BTreeMap<Option<CollectionName>, OrdMap<TemplateName, Arc<TemplateSnapshot>>>,
) {
    let mut published = BTreeMap::<_, PublishedCollection>::new();
    for collection in &publication.collections {
        published.entry(collection.name.clone()).or_insert_with(|| collection.clone());
    }
    for name in templates.iter().filter(|(_, templates)| !templates.is_empty()).map(|(name, _)| name) {
        published.entry(name.clone()).or_insert_with(|| PublishedCollection {
            name: name.clone(),
            path: name.as_ref().map_or_else(String::new, ToString::to_string),
            title: None,
            description: None,
            directory_name_alias: None,
        });
    }
    let old = std::mem::take(&mut registry.collections);
    registry.aliases = OrdMap::new();
    for (name, collection) in published {
        if let (Some(alias), Some(name)) = (&collection.directory_name_alias, &name) {
            registry.aliases.insert(alias.clone(), name.clone());
        }
        let new = CollectionSnapshot {
            name: name.clone(),
            path: collection.path,
            title: collection.title,
            description: collection.description,
            templates: templates.remove(&name).unwrap_or_default(),
        };
        let kept = old.get(&name).filter(|old| {
            old.templates.ptr_eq(&new.templates)
                && (&old.path, &old.title, &old.description) == (&new.path, &new.title, &new.description)
        });
        let snapshot = kept.cloned().unwrap_or_else(|| Arc::new(new));
        registry.collections.insert(name, snapshot);
    }
}

fn same_rows(old: &RegistrySnapshot, new: &RegistrySnapshot) -> bool {
    let row = |collection: &Arc<CollectionSnapshot>| {
        (
            collection.name.clone(),
            collection.path.clone(),
            collection.title.clone(),
            collection.description.clone(),
        )
    };
    old.aliases == new.aliases
        && old.collections.len() == new.collections.len()
        && old.collections.values().map(row).eq(new.collections.values().map(row))
}

fn facts_differ(old: &RegistrySnapshot, new: &RegistrySnapshot) -> bool {
    (&old.source, &old.branch, &old.commit, &old.title, &old.description, &old.maintainers, &old.links)
        != (&new.source, &new.branch, &new.commit, &new.title, &new.description, &new.maintainers, &new.links)
        || old.failure != new.failure
        || *old.findings != *new.findings
}

/// Puts a version read from the store where it belongs. `contents` and `blobs` come with it.
pub(crate) fn restore(
    registry: &mut RegistrySnapshot,
    templates: &mut BTreeMap<(Option<CollectionName>, TemplateName), TemplateSnapshot>,
    (collection, template): (Option<CollectionName>, TemplateName),
    version: VersionSnapshot,
) {
    let version = Arc::new(version);
    for file in version.files.iter() {
        registry.blobs.insert(file.digest);
    }
    let better =
        |digest: &Digest| registry.contents.get(digest).is_none_or(|known| known.standing > version.standing);
    if better(&version.digest) {
        registry.contents.insert(version.digest, version.clone());
    }
    let location = || Location {
        registry: registry.name.clone(),
        collection: collection.clone(),
        template: template.clone(),
    };
    let into = templates
        .entry((collection.clone(), template.clone()))
        .or_insert_with(|| TemplateSnapshot::new(location()));
    match version.standing {
        Standing::Listed => into.versions.insert(version.version.clone(), version),
        Standing::Gone { .. } => into.gone.insert(version.version.clone(), version),
        Standing::Replaced => {
            into.former.insert((version.version.clone(), version.digest), version);
            None
        }
    };
}
