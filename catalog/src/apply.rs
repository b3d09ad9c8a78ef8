//! From what a registry was and what is published to what it is now, and what changed: pure.
//!
//! The difference is found here, once, and drives everything that follows: the rows written, the change log, the
//! templates the search index takes up again. What did not change is taken over by reference.
//!
//! The rules. What becomes of one version is decided in [`fate`]: a version that was listed and is equal in everything
//! stays the same value; other bytes take the place of the old ones while the version has not settled, and are held
//! back afterwards. What becomes of versions that are missing is decided in [`drops`], over the whole registry. A
//! template without listed versions leaves its collection; a collection stays as long as it is published or holds a
//! template. What an operator decides about what was held back, and what is erased, is in [`verdict`].
//!
//! This module must not know how anything is stored or searched.

mod drops;
mod fate;
pub(crate) mod verdict;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use imbl::OrdMap;
use schema::reference::Location;
use schema::{CollectionName, Digest, Finding, TemplateName, Version};

use crate::publication::{Publication, PublishedCollection, PublishedVersion};
use crate::rules;
use crate::snapshot::{
    CollectionSnapshot, Purge, RegistrySnapshot, Standing, TemplateSnapshot, VersionSnapshot,
};

/// What the operator decided for all registries. Registries can neither see nor change it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Policy {
    /// Seconds after which a version from Git stays as it is, counted from when it was first published.
    pub settle: i64,
    /// Percent of a registry's listed versions above which versions do not go all at once. 100 lets any number go.
    pub drop_share: u8,
}

impl Policy {
    /// Versions that may go at once from a registry of any size.
    pub const DROPS: usize = 4;
}

impl Default for Policy {
    fn default() -> Self {
        Policy { settle: 3_600, drop_share: 20 }
    }
}

/// What happened to a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum What {
    /// It is new.
    Added,
    /// It has other bytes.
    Changed,
    /// It has other documentation, after it had settled.
    Revised,
    /// It has the same bytes; what is known or said of it is different.
    Updated,
    /// Its registry says that it must not be chosen any more.
    Withdrawn,
    /// Its registry says that it is on its way out.
    Deprecated,
    /// Its registry has other bytes, which are held back.
    Held,
    /// Bytes that were held back are not upstream any more.
    Cleared,
    /// An operator let bytes that were held back take its place.
    Accepted,
    /// It is not upstream any more.
    Gone,
    /// It was gone and is back.
    Returned,
    /// Its report has been made, and its health is another one.
    Reported,
    /// It is not upstream any more, and is listed until somebody accepts that.
    Missing,
    /// Bytes of it were erased.
    Purged,
}

impl What {
    /// The word kept in the change log.
    pub const fn as_str(self) -> &'static str {
        match self {
            What::Added => "added",
            What::Changed => "changed",
            What::Revised => "revised",
            What::Updated => "updated",
            What::Withdrawn => "withdrawn",
            What::Deprecated => "deprecated",
            What::Held => "held",
            What::Cleared => "cleared",
            What::Accepted => "accepted",
            What::Gone => "gone",
            What::Returned => "returned",
            What::Reported => "reported",
            What::Missing => "missing",
            What::Purged => "purged",
        }
    }

    /// Whether there is an entry for it in the change log. Thousands of versions go missing at once, and for all of
    /// them together there is one.
    pub(crate) const fn is_logged(self) -> bool {
        !matches!(self, What::Missing)
    }

    /// Whether the version may have bytes now that it had not before.
    pub(crate) const fn brings_bytes(self) -> bool {
        matches!(
            self,
            What::Added | What::Changed | What::Revised | What::Returned | What::Held | What::Accepted
        )
    }
}

/// One version that is not as it was.
#[derive(Debug, Clone)]
pub(crate) struct Change {
    pub(crate) collection: Option<CollectionName>,
    pub(crate) template: TemplateName,
    pub(crate) what: What,
    /// The version as it is now: what is served as it.
    pub(crate) now: Arc<VersionSnapshot>,
    /// What is held back in its place.
    pub(crate) held: Option<Arc<VersionSnapshot>>,
}

impl Change {
    /// The content the change log names: what is news.
    pub(crate) fn digest(&self) -> Digest {
        match (&self.held, self.what) {
            (Some(held), What::Held) => held.digest,
            _ => self.now.digest,
        }
    }
}

/// Something that happened to a registry as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Event {
    /// The word kept in the change log.
    pub(crate) what: &'static str,
    pub(crate) detail: String,
}

/// A registry after a publication.
#[derive(Debug)]
pub(crate) struct Applied {
    pub(crate) registry: RegistrySnapshot,
    pub(crate) changes: Vec<Change>,
    pub(crate) events: Vec<Event>,
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

/// Takes note of a change: what, the version as it is now, and what is held in its place.
type Tell<'a> = dyn FnMut(What, &Arc<VersionSnapshot>, Option<&Arc<VersionSnapshot>>) + 'a;

/// What is published, by template.
type Wanted<'a> = BTreeMap<Key, BTreeMap<&'a Version, &'a PublishedVersion>>;

/// The registry `old` after `publication`.
pub(crate) fn apply(old: &RegistrySnapshot, publication: &Publication, policy: &Policy) -> Applied {
    let mut wanted = Wanted::new();
    for version in &publication.versions {
        let key = (version.collection.clone(), version.template.clone());
        wanted.entry(key).or_default().entry(&version.version).or_insert(version);
    }
    let mut events = Vec::new();
    let drops = drops::judge(old, &wanted, publication, policy);
    if drops.held > 0 {
        let commit = publication.commit.as_deref().unwrap_or_default();
        let detail = format!("{} of {} versions are missing at commit {commit}", drops.held, drops.listed);
        events.push(Event { what: "drop-held", detail });
    }
    let mut editor = Editor::new(old);
    let concerned = concerned(old, publication);
    let keys = concerned.map(|template| (template.location.collection.clone(), template.name.clone()));
    let keys = keys.chain(wanted.keys().cloned()).collect::<BTreeSet<_>>();
    let nothing = BTreeMap::new();
    for key in keys {
        let before = known(old, &key);
        let published = wanted.get(&key).unwrap_or(&nothing);
        editor.template(key, before, |after, changed| {
            let context = fate::Context { location: after.location.clone(), publication, policy };
            fate::of_published(after, published, &context, changed);
            drops::of_missing(after, published, &drops, publication.indexed_at, changed);
        });
    }
    let Editor { mut registry, changes, forgets, templates } = editor;

    apply_collections(&mut registry, publication, templates);
    if forgets {
        registry.gather();
    }
    registry.source.clone_from(&publication.source);
    registry.branch.clone_from(&publication.branch);
    registry.commit.clone_from(&publication.commit);
    registry.title.clone_from(&publication.title);
    registry.description.clone_from(&publication.description);
    registry.maintainers.clone_from(&publication.maintainers);
    registry.links.clone_from(&publication.links);
    let mut findings = old_findings(old, publication);
    findings.extend(publication.findings.iter().cloned());
    findings.extend(drops::finding(&registry, &drops));
    let moved = history_rewritten(old, publication);
    if let Some(finding) = &moved {
        events.push(Event { what: "history-rewritten", detail: finding.message.clone() });
    }
    let reported = || old.findings.iter().find(|finding| is(finding, &rules::HISTORY_REWRITTEN)).cloned();
    findings.extend(moved.or_else(reported));
    if *registry.findings != *findings {
        registry.findings = findings.into();
    }
    registry.failure = None;
    registry.count();
    let collections_changed = !same_rows(old, &registry);
    let visible = !changes.is_empty()
        || collections_changed
        || old.indexed_at.is_none()
        || facts_differ(old, &registry);
    registry.indexed_at = Some(publication.indexed_at);
    Applied { registry, changes, events, collections_changed, visible }
}

/// The listed templates that a publication is about.
fn concerned<'a>(
    old: &'a RegistrySnapshot,
    publication: &'a Publication,
) -> Box<dyn Iterator<Item = &'a Arc<TemplateSnapshot>> + 'a> {
    match &publication.part {
        None => Box::new(old.templates()),
        Some(part) => Box::new(part.templates.iter().filter_map(|(collection, name)| {
            old.collections.get(collection).and_then(|collection| collection.templates.get(name))
        })),
    }
}

/// What was found wrong before and was not looked at again. What is found by comparing is found anew every time.
fn old_findings(old: &RegistrySnapshot, publication: &Publication) -> Vec<Finding> {
    let Some(part) = &publication.part else { return Vec::new() };
    let compared = |finding: &Finding| rules::ALL.iter().any(|rule| is(finding, rule));
    let kept = old.findings.iter().filter(|finding| !compared(finding) && !part.covers(&finding.path));
    kept.cloned().collect()
}

/// A registry on its way from one state to the next, a template at a time.
struct Editor {
    registry: RegistrySnapshot,
    changes: Vec<Change>,
    /// Whether a rewrite that was held is not remembered any more, so that its files may be nobody's.
    forgets: bool,
    /// Listed templates by collection, to be put into collections when all is known.
    templates: BTreeMap<Option<CollectionName>, OrdMap<TemplateName, Arc<TemplateSnapshot>>>,
}

impl Editor {
    fn new(old: &RegistrySnapshot) -> Editor {
        let templates = old.collections.iter();
        let templates = templates.map(|(name, collection)| (name.clone(), collection.templates.clone()));
        Editor { registry: old.clone(), changes: Vec::new(), forgets: false, templates: templates.collect() }
    }

    /// Edits a template. Nothing is kept of it if `edit` told of no change.
    fn template(
        &mut self,
        key: Key,
        before: Option<&Arc<TemplateSnapshot>>,
        edit: impl FnOnce(&mut TemplateSnapshot, &mut Tell<'_>),
    ) {
        let (collection, template) = key;
        let location = || Location {
            registry: self.registry.name.clone(),
            collection: collection.clone(),
            template: template.clone(),
        };
        let mut after = before
            .map_or_else(|| TemplateSnapshot::new(location()), |before| TemplateSnapshot::clone(before));
        let at = self.changes.len();
        let changes = &mut self.changes;
        edit(&mut after, &mut |what, now, held| {
            changes.push(Change {
                collection: collection.clone(),
                template: template.clone(),
                what,
                now: now.clone(),
                held: held.cloned(),
            });
        });
        if changes.len() == at {
            return;
        }
        let held = before.into_iter().flat_map(|before| &before.held);
        let is_forgotten = |(version, held): (&Version, &Arc<VersionSnapshot>)| {
            after.held.get(version).is_none_or(|now| now.digest != held.digest)
        };
        self.forgets |= held.into_iter().any(is_forgotten);
        for change in &changes[at..] {
            self.registry.contents.insert(change.now.digest, change.now.clone());
            for file in change.now.files.iter().chain(change.held.iter().flat_map(|held| held.files.iter())) {
                self.registry.blobs.insert(file.digest);
            }
        }
        if after.versions.is_empty() {
            self.templates.entry(collection.clone()).or_default().remove(&template);
            self.registry.gone.insert((collection, template), Arc::new(after));
        } else {
            self.registry.gone.remove(&(collection.clone(), template.clone()));
            self.templates.entry(collection).or_default().insert(template, Arc::new(after));
        }
    }
}

fn is(finding: &Finding, rule: &schema::Rule) -> bool {
    finding.rule == rule.id
}

/// The finding about a branch that was moved, if it was moved now.
fn history_rewritten(old: &RegistrySnapshot, publication: &Publication) -> Option<Finding> {
    let (before, now) = (old.commit.as_ref()?, publication.commit.as_ref()?);
    if !publication.history_rewritten || before == now {
        return None;
    }
    let message = format!("the branch is at {now}, which does not follow from {before}, the commit before");
    Some(Finding::new(&rules::HISTORY_REWRITTEN, "", message))
}

/// The template as it was, listed or gone; never through an alias.
fn known<'a>(registry: &'a RegistrySnapshot, (collection, name): &Key) -> Option<&'a Arc<TemplateSnapshot>> {
    let listed = registry.collections.get(collection).and_then(|collection| collection.templates.get(name));
    listed.or_else(|| registry.gone.get(&(collection.clone(), name.clone())))
}

/// A version whose bytes were replaced: what was said of the version does not go with them.
pub(crate) fn replaced(version: &VersionSnapshot) -> VersionSnapshot {
    VersionSnapshot {
        standing: Standing::Replaced,
        findings: Vec::new(),
        notes: Vec::new(),
        missing_since: None,
        settles_at: None,
        withdrawn: None,
        deprecated: None,
        ..version.clone()
    }
}

fn apply_collections(
    registry: &mut RegistrySnapshot,
    publication: &Publication,
    mut templates: BTreeMap<Option<CollectionName>, OrdMap<TemplateName, Arc<TemplateSnapshot>>>,
) {
    let mut published = BTreeMap::<_, PublishedCollection>::new();
    let told = match publication.part {
        None => publication.collections.clone(),
        Some(_) => as_they_were(registry),
    };
    for collection in told {
        published.entry(collection.name.clone()).or_insert(collection);
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

/// The collections of a registry, as a publication tells them.
fn as_they_were(registry: &RegistrySnapshot) -> Vec<PublishedCollection> {
    let told = registry.collections.iter().map(|(name, collection)| PublishedCollection {
        name: name.clone(),
        path: collection.path.clone(),
        title: collection.title.clone(),
        description: collection.description.clone(),
        directory_name_alias: registry
            .aliases
            .iter()
            .find(|(_, real)| Some(*real) == name.as_ref())
            .map(|(alias, _)| alias.clone()),
    });
    told.collect()
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

/// Puts a purge read from the store where it belongs.
pub(crate) fn restore_purge(
    registry: &mut RegistrySnapshot,
    templates: &mut BTreeMap<Key, TemplateSnapshot>,
    (collection, template): Key,
    key: (Version, Digest),
    purge: Purge,
) {
    let location = Location {
        registry: registry.name.clone(),
        collection: collection.clone(),
        template: template.clone(),
    };
    let into = templates.entry((collection, template)).or_insert_with(|| TemplateSnapshot::new(location));
    let purge = Arc::new(purge);
    registry.purged.insert(key.1, purge.clone());
    into.purged.insert(key, purge);
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
    if version.standing != Standing::Held && better(&version.digest) {
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
        Standing::Held => into.held.insert(version.version.clone(), version),
    };
}
