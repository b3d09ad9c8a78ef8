//! What readers see: the whole catalogue as one immutable value in memory.
//!
//! A reader takes the snapshot once ([`crate::Catalog::snapshot`] is one atomic load) and answers a whole request
//! from it: no lock, no SQL, no waiting, and no half of one generation with half of the next. Maps are persistent:
//! a new generation shares with the one before everything that did not change, down to the single version, so a
//! publish costs what changed and two generations cost little more memory than one.
//!
//! A version is *listed* while its registry has it. One that is gone upstream leaves `versions` for `gone`, where
//! only an exact reference or its digest reaches it; bytes that were replaced in place leave for `former`, where
//! only their digest does. Bytes that upstream put in place of a settled version wait in `held`, where only an
//! operator reaches them. Nothing published leaves the snapshot any other way than with its registry, or by a purge,
//! which leaves the reason in `purged`.
//!
//! Who may see a registry is decided in [`RegistrySnapshot::visible_to`] and nowhere else. This module must not know how
//! snapshots come about ([`crate::apply`]), how they are stored, or what a URL is.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use imbl::{HashMap, HashSet, OrdMap};
use schema::confusable;
use schema::reference::Location;
use schema::registry_file::Notice;
use schema::{CollectionName, Digest, Finding, Kind, RegistryName, Severity, TemplateName, Version};

use crate::access::Visibility;
use crate::publication::{Facts, FileEntry, Introduced, SyncFailure};
use crate::report::ReportState;

/// For whom something is read. There is no way to ask without saying.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Viewer {
    /// Anybody: sees public registries.
    Anonymous,
    /// Whoever has a token for some registries: sees those and public ones.
    Granted(Arc<BTreeSet<RegistryName>>),
    /// Whoever runs the server, or has a token for everything: sees everything.
    Operator,
}

impl Viewer {
    /// Whether rewrites that are held back may be read: by who decides about them.
    pub fn sees_held(&self) -> bool {
        matches!(self, Viewer::Operator)
    }
}

/// The catalogue at one generation.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Snapshot {
    /// Rises by one or more with every change that readers can see.
    pub generation: u64,
    /// The registries. Ask [`Snapshot::visible`] and [`Snapshot::registry`], which know who may see which.
    pub registries: OrdMap<RegistryName, Arc<RegistrySnapshot>>,
}

impl Snapshot {
    /// The registries a viewer may see, by name.
    pub fn visible(&self, viewer: &Viewer) -> impl Iterator<Item = &Arc<RegistrySnapshot>> {
        self.registries.values().filter(move |registry| registry.visible_to(viewer))
    }

    /// A registry, if there is one of that name that the viewer may see.
    pub fn registry(&self, viewer: &Viewer, name: &RegistryName) -> Option<&Arc<RegistrySnapshot>> {
        self.registries.get(name).filter(|registry| registry.visible_to(viewer))
    }

    /// A template by its exact place, listed or gone, if the viewer may see it.
    pub fn template(&self, viewer: &Viewer, location: &Location) -> Option<&Arc<TemplateSnapshot>> {
        self.registry(viewer, &location.registry)?.template(location.collection.as_ref(), &location.template)
    }

    /// Templates elsewhere whose names are easily taken for this one's, but are not it, among those a viewer may see.
    pub fn lookalikes(&self, viewer: &Viewer, of: &Location) -> Vec<&Location> {
        let skeleton = confusable::skeleton(of.template.as_str());
        let places = self.visible(viewer).flat_map(|registry| registry.alike(&skeleton));
        // A template of the very name elsewhere is another's of the kind, and no look-alike.
        places.filter(|place| place.template != of.template).take(5).collect()
    }

    /// How much there is for a viewer.
    pub fn counts(&self, viewer: &Viewer) -> Counts {
        self.visible(viewer).fold(Counts::default(), |sum, registry| sum.plus(registry.counts))
    }
}

/// A registry at one generation.
#[derive(Debug, Clone, PartialEq)]
pub struct RegistrySnapshot {
    /// Its key in the store.
    pub(crate) id: i64,
    /// Its name, as it was written when it was added.
    pub name: RegistryName,
    /// Where it comes from, without credentials.
    pub source: String,
    /// Who may see it.
    pub visibility: Visibility,
    /// The branch or tag that is read.
    pub branch: Option<String>,
    /// The commit that is published; `None` before the first publication and for plain directories.
    pub commit: Option<String>,
    /// When it was last brought up to date (seconds since 1970, UTC); `None`: never yet.
    pub indexed_at: Option<i64>,
    /// A title for people.
    pub title: Option<String>,
    /// What it is for.
    pub description: Option<String>,
    /// Who keeps it.
    pub maintainers: Vec<String>,
    /// Links, by label.
    pub links: BTreeMap<String, String>,
    /// Its collections, the root first. Only those its source has.
    pub collections: OrdMap<Option<CollectionName>, Arc<CollectionSnapshot>>,
    /// Directory names that stand for a collection mapped under another name.
    pub aliases: OrdMap<CollectionName, CollectionName>,
    /// Templates none of whose versions is left upstream. Not listed; exact references still reach their versions.
    pub gone: OrdMap<(Option<CollectionName>, TemplateName), Arc<TemplateSnapshot>>,
    /// What is wrong with the registry, or with what did not become a version.
    pub findings: Arc<[Finding]>,
    /// Why the last attempt to bring it up to date failed, if it did.
    pub failure: Option<SyncFailure>,
    /// How much is in it.
    pub counts: Counts,
    /// Versions by digest, whatever became of them.
    pub(crate) contents: HashMap<Digest, Arc<VersionSnapshot>>,
    /// Digests of all files of all versions: bytes are only given out under a registry that has them.
    pub(crate) blobs: HashSet<Digest>,
    /// Contents that were erased, by digest.
    pub(crate) purged: HashMap<Digest, Arc<Purge>>,
    /// Listed templates by what their names look like; made when it is first asked for.
    pub(crate) alike: Alike,
}

impl RegistrySnapshot {
    /// A registry of which nothing is known yet.
    pub(crate) fn new(id: i64, name: RegistryName, source: String) -> RegistrySnapshot {
        RegistrySnapshot {
            id,
            name,
            source,
            visibility: Visibility::Public,
            branch: None,
            commit: None,
            indexed_at: None,
            title: None,
            description: None,
            maintainers: Vec::new(),
            links: BTreeMap::new(),
            collections: OrdMap::new(),
            aliases: OrdMap::new(),
            gone: OrdMap::new(),
            findings: Arc::from([]),
            failure: None,
            counts: Counts::default(),
            contents: HashMap::new(),
            blobs: HashSet::new(),
            purged: HashMap::new(),
            alike: Alike::default(),
        }
    }

    /// Whether a viewer may see it: the one place that decides.
    pub fn visible_to(&self, viewer: &Viewer) -> bool {
        match (self.visibility, viewer) {
            (Visibility::Public, _) | (Visibility::Private, Viewer::Operator) => true,
            (Visibility::Private, Viewer::Granted(registries)) => registries.contains(&self.name),
            (Visibility::Private, Viewer::Anonymous) => false,
        }
    }

    /// A listed collection, by its name or by the directory name it replaced.
    pub fn collection(&self, name: Option<&CollectionName>) -> Option<&Arc<CollectionSnapshot>> {
        self.collections.get(&name.cloned()).or_else(|| {
            let real = self.aliases.get(name?)?;
            self.collections.get(&Some(real.clone()))
        })
    }

    /// A template, listed or gone.
    pub fn template(
        &self,
        collection: Option<&CollectionName>,
        name: &TemplateName,
    ) -> Option<&Arc<TemplateSnapshot>> {
        let listed = self.collection(collection).and_then(|collection| collection.templates.get(name));
        let gone = |collection: Option<&CollectionName>| self.gone.get(&(collection.cloned(), name.clone()));
        listed.or_else(|| gone(Some(self.aliases.get(collection?)?))).or_else(|| gone(collection))
    }

    /// The listed templates, collection by collection.
    pub fn templates(&self) -> impl Iterator<Item = &Arc<TemplateSnapshot>> {
        self.collections.values().flat_map(|collection| collection.templates.values())
    }

    /// A version with this content, listed or not. Two versions of equal content are as good as each other here.
    pub fn content(&self, digest: &Digest) -> Option<&Arc<VersionSnapshot>> {
        self.contents.get(digest)
    }

    /// A rewrite with this content that is held back, for who may decide about it.
    pub fn held(&self, viewer: &Viewer, digest: &Digest) -> Option<&Arc<VersionSnapshot>> {
        let templates = self.templates().filter(|_| viewer.sees_held());
        templates.flat_map(|template| template.held.values()).find(|held| held.digest == *digest)
    }

    /// Why a content is not given out any more, if it was erased and no version has it.
    pub fn purged(&self, digest: &Digest) -> Option<&Arc<Purge>> {
        self.purged.get(digest).filter(|_| !self.contents.contains_key(digest))
    }

    /// Whether a file with this content belongs to any version.
    pub fn has_blob(&self, digest: &Digest) -> bool {
        self.blobs.contains(digest)
    }

    /// Marks templates as changed in a generation.
    pub(crate) fn stamp(&mut self, templates: &BTreeSet<Location>, generation: u64) {
        for location in templates {
            let (collection, name) = (&location.collection, &location.template);
            let listed = self.collections.get_mut(collection);
            let listed = listed.and_then(|collection| Arc::make_mut(collection).templates.get_mut(name));
            let template = match listed {
                Some(template) => Some(template),
                None => self.gone.get_mut(&(collection.clone(), name.clone())),
            };
            if let Some(template) = template.filter(|template| template.everything().next().is_some()) {
                Arc::make_mut(template).generation = generation;
            }
        }
    }

    /// Takes contents, files and purges together anew, from the templates.
    pub(crate) fn gather(&mut self) {
        let mut contents = HashMap::<Digest, Arc<VersionSnapshot>>::new();
        let mut blobs = HashSet::new();
        let mut purged = HashMap::new();
        for template in self.templates().chain(self.gone.values()) {
            for version in template.everything() {
                let better = |known: &Arc<VersionSnapshot>| known.standing > version.standing;
                if contents.get(&version.digest).is_none_or(better) {
                    contents.insert(version.digest, version.clone());
                }
            }
            for version in template.everything().chain(template.held.values()) {
                blobs.extend(version.files.iter().map(|file| file.digest));
            }
            purged.extend(template.purged.iter().map(|((_, digest), purge)| (*digest, purge.clone())));
        }
        (self.contents, self.blobs, self.purged) = (contents, blobs, purged);
    }

    pub(crate) fn count(&mut self) {
        let mut counts = Counts { registries: 1, collections: self.collections.len(), ..Counts::default() };
        for template in self.templates() {
            counts.templates += 1;
            counts.versions += template.versions.len();
        }
        self.counts = counts;
        self.alike = Alike::default();
    }

    /// Listed templates whose names have this skeleton, one of each name and a few at most.
    fn alike(&self, skeleton: &str) -> &[Location] {
        let made = self.alike.0.get_or_init(|| {
            let mut alike = std::collections::HashMap::<String, Vec<Location>>::new();
            for template in self.templates() {
                let places = alike.entry(confusable::skeleton(template.name.as_str())).or_default();
                if places.len() < 4 && places.iter().all(|place| place.template != template.name) {
                    places.push(template.location.clone());
                }
            }
            alike
        });
        made.get(skeleton).map_or(&[], Vec::as_slice)
    }
}

/// Templates by what their names look like. It follows from the rest, and so says nothing about two being equal.
#[derive(Debug, Clone, Default)]
pub(crate) struct Alike(OnceLock<std::collections::HashMap<String, Vec<Location>>>);

impl PartialEq for Alike {
    fn eq(&self, _: &Alike) -> bool {
        true
    }
}

/// How much there is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Registries.
    pub registries: usize,
    /// Listed collections, the root among them where it holds something.
    pub collections: usize,
    /// Listed templates.
    pub templates: usize,
    /// Listed versions.
    pub versions: usize,
}

impl Counts {
    fn plus(self, other: Counts) -> Counts {
        Counts {
            registries: self.registries + other.registries,
            collections: self.collections + other.collections,
            templates: self.templates + other.templates,
            versions: self.versions + other.versions,
        }
    }
}

/// A collection at one generation.
#[derive(Debug, Clone, PartialEq)]
pub struct CollectionSnapshot {
    /// Its name; `None` is the root.
    pub name: Option<CollectionName>,
    /// Its directory; empty is the root.
    pub path: String,
    /// A title for people.
    pub title: Option<String>,
    /// What is in it.
    pub description: Option<String>,
    /// Its templates that have at least one listed version.
    pub templates: OrdMap<TemplateName, Arc<TemplateSnapshot>>,
}

/// A template at one generation.
#[derive(Debug, Clone, PartialEq)]
pub struct TemplateSnapshot {
    /// Its name.
    pub name: TemplateName,
    /// Its place.
    pub location: Location,
    /// The generation in which what is served of it, or said of it, last changed; 0 if nothing of it is left.
    pub generation: u64,
    /// Its listed versions, lowest first.
    pub versions: OrdMap<Version, Arc<VersionSnapshot>>,
    /// Versions that are gone upstream: given when asked for exactly.
    pub gone: OrdMap<Version, Arc<VersionSnapshot>>,
    /// Contents that were replaced in place: given by digest only.
    pub former: OrdMap<(Version, Digest), Arc<VersionSnapshot>>,
    /// What upstream has in place of settled versions: not given until an operator accepts it.
    pub held: OrdMap<Version, Arc<VersionSnapshot>>,
    /// Contents that were erased, and why.
    pub purged: OrdMap<(Version, Digest), Arc<Purge>>,
}

impl TemplateSnapshot {
    pub(crate) fn new(location: Location) -> TemplateSnapshot {
        TemplateSnapshot {
            name: location.template.clone(),
            location,
            generation: 0,
            versions: OrdMap::new(),
            gone: OrdMap::new(),
            former: OrdMap::new(),
            held: OrdMap::new(),
            purged: OrdMap::new(),
        }
    }

    /// Why nothing is published under a version any more, if an operator erased all of it.
    pub fn closed(&self, version: &Version) -> Option<&Arc<Purge>> {
        let mut purges = self.purged.iter().filter(|((of, _), purge)| of == version && purge.whole);
        purges.next().map(|(_, purge)| purge)
    }

    /// What was erased of a version, by digest.
    pub fn purges<'a>(&'a self, version: &'a Version) -> impl Iterator<Item = (&'a Digest, &'a Arc<Purge>)> {
        let of_it = self.purged.iter().filter(move |((of, _), _)| of == version);
        of_it.map(|((_, digest), purge)| (digest, purge))
    }

    /// The versions as their registry has them now: a rewrite that is held stands for its version, and what is only
    /// listed until somebody accepts that it is gone does not count.
    pub fn upstream(&self) -> impl Iterator<Item = &Arc<VersionSnapshot>> {
        let there = self.versions.values().filter(|version| version.missing_since.is_none());
        there.map(|version| self.held.get(&version.version).unwrap_or(version))
    }

    /// The version that stands for the template in lists: the highest that would be chosen, else the highest
    /// pre-release, else the highest at all. `None` only for a template that is gone.
    pub fn latest(&self) -> Option<&Arc<VersionSnapshot>> {
        let highest = |accepts: &dyn Fn(&VersionSnapshot) -> bool| {
            self.versions.values().rev().find(|version| accepts(version))
        };
        highest(&|version| version.is_choosable() && !version.version.is_pre_release())
            .or_else(|| highest(&VersionSnapshot::is_choosable))
            .or_else(|| highest(&|_| true))
    }

    /// A version whatever became of it: listed, or gone.
    pub fn version(&self, version: &Version) -> Option<&Arc<VersionSnapshot>> {
        self.versions.get(version).or_else(|| self.gone.get(version))
    }

    /// The version with this content: listed, gone or replaced; of several the highest.
    pub fn content(&self, digest: &Digest) -> Option<&Arc<VersionSnapshot>> {
        let all =
            self.versions.values().rev().chain(self.gone.values().rev()).chain(self.former.values().rev());
        all.into_iter().find(|version| version.digest == *digest)
    }

    /// Every version there ever was, with its standing told by the version itself; but not what is held.
    pub(crate) fn everything(&self) -> impl Iterator<Item = &Arc<VersionSnapshot>> {
        self.versions.values().chain(self.gone.values()).chain(self.former.values())
    }
}

/// What became of a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Standing {
    /// Its registry has it.
    Listed,
    /// Its registry does not have it any more.
    Gone {
        /// Since when: seconds since 1970, UTC.
        at: i64,
    },
    /// Its registry has other bytes under the same version.
    Replaced,
    /// Its registry has it in place of a version that had settled; it is not served as that version.
    Held,
}

/// Why a content was erased.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Purge {
    /// The operator's reason, for everybody who asks.
    pub reason: String,
    /// When: seconds since 1970, UTC.
    pub at: i64,
    /// Whether the version was erased as a whole: then nothing is published under it any more.
    pub whole: bool,
}

/// How a version is, in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Health {
    /// Nothing worth a warning.
    Healthy,
    /// Works, with surprises.
    Warnings,
    /// Something is broken.
    Broken,
}

impl Health {
    /// Every health, best first.
    pub const ALL: [Health; 3] = [Health::Healthy, Health::Warnings, Health::Broken];

    /// The word in queries and answers: what the worst findings are.
    pub const fn as_str(self) -> &'static str {
        match self {
            Health::Healthy => "healthy",
            Health::Warnings => "warnings",
            Health::Broken => "errors",
        }
    }
}

/// A version at one generation.
#[derive(Debug, Clone, PartialEq)]
pub struct VersionSnapshot {
    /// Which version.
    pub version: Version,
    /// Its directory, from the root of the registry.
    pub path: String,
    /// A name for the directory's content, if its source has one.
    pub tree_id: Option<String>,
    /// What its top-level file is.
    pub kind: Kind,
    /// The path of that file.
    pub entry: String,
    /// The digest over its files.
    pub digest: Digest,
    /// The commit this content was first seen at by this catalogue: the head of its branch at that time.
    pub commit: Option<String>,
    /// When this catalogue first saw this content: seconds since 1970, UTC.
    pub seen_at: i64,
    /// Which commit of its branch or whose token brought this content; `None` for a plain directory, or beyond what of
    /// Git's history was walked.
    pub introduced: Option<Arc<Introduced>>,
    /// Its files, sorted by path.
    pub files: Arc<[FileEntry]>,
    /// What was read from it without processing it.
    pub inspection: Facts,
    /// What is wrong with its structure. What is wrong with its text is in the inspection.
    pub findings: Vec<Finding>,
    /// Why it is not chosen any more, if the registry says so.
    pub withdrawn: Option<Notice>,
    /// Why it is on its way out, if the registry says so.
    pub deprecated: Option<Notice>,
    /// What became of it that its registry does not say: held rewrites, revised documentation.
    pub notes: Vec<Finding>,
    /// When this version was first published, with whatever content: seconds since 1970, UTC.
    pub published_at: i64,
    /// From when on its bytes stay as they are, whatever upstream does; `None` for a plain directory, which may
    /// always change.
    pub settles_at: Option<i64>,
    /// Since when its registry lacks it, if it is only listed because too many went at once.
    pub missing_since: Option<i64>,
    /// What became of it.
    pub standing: Standing,
    /// Whether the full report has been made.
    pub report: ReportState,
}

impl VersionSnapshot {
    /// Whether a reference may choose it without naming it exactly.
    pub fn is_choosable(&self) -> bool {
        self.withdrawn.is_none() && self.standing == Standing::Listed
    }

    /// All findings: on what became of it, on structure, then on text, then on what becomes of the example.
    pub fn all_findings(&self) -> impl Iterator<Item = &Finding> {
        let reported = self.report.made().into_iter().flat_map(|report| &report.findings);
        self.notes.iter().chain(&self.findings).chain(&self.inspection.findings).chain(reported)
    }

    /// Its worst finding, in one word. Reads the inspection.
    pub fn health(&self) -> Health {
        match schema::finding::worst(self.all_findings()) {
            Some(Severity::Error) => Health::Broken,
            Some(_) => Health::Warnings,
            None => Health::Healthy,
        }
    }

    /// The spelling of the version's directory: `v1.1` where the version is `v1.1.0`.
    pub fn directory(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }

    /// A file by its path.
    pub fn file(&self, path: &str) -> Option<&FileEntry> {
        let at = self.files.binary_search_by(|file| file.path.as_str().cmp(path)).ok()?;
        self.files.get(at)
    }

    /// The README at the top level, however it is spelled.
    pub fn readme(&self) -> Option<&FileEntry> {
        let is_readme = |file: &&FileEntry| {
            let name = file.path.to_ascii_lowercase();
            matches!(name.as_str(), "readme.md" | "readme" | "readme.txt" | "readme.markdown")
        };
        self.files.iter().find(is_readme)
    }

    /// Bytes of all files.
    pub fn size(&self) -> u64 {
        self.files.iter().map(|file| file.size).sum()
    }
}
