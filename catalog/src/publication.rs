//! What the indexer hands over: everything a registry holds at one commit.
//!
//! A publication is the whole of a registry, or of some of its templates ([`Part`]), not a difference: what it does not
//! name is gone upstream. The
//! catalogue finds the difference itself, so that an indexer cannot get it wrong. A version whose content the
//! indexer did not have to read again is handed over as it stands, with [`PublishedVersion::unchanged`], which
//! costs a few reference counts.
//!
//! This module must not know how anything is stored.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use schema::registry_file::Notice;
use schema::{CollectionName, Digest, Finding, Inspection, Kind, RegistryName, TemplateName, Version};
use serde::{Deserialize, Serialize};

use crate::snapshot::VersionSnapshot;

/// One file of a version: what is known of it without its bytes.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct FileEntry {
    /// The path inside the version directory, segments joined by `/`.
    pub path: String,
    /// Bytes.
    pub size: u64,
    /// Whether Git marks it executable.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub executable: bool,
    /// The digest of its bytes.
    pub digest: Digest,
    /// Whether it only explains: what the version makes does not follow from it ([`schema::documentation`]).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub documentation: bool,
}

/// What brought a content: the commit on the first-parent history of its branch since which the directory has been as
/// it is, or whoever stored it here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Introduced {
    /// The commit; `None` for what was stored here.
    pub commit: Option<String>,
    /// When it was committed, as Git says, or stored: seconds since 1970, UTC.
    pub at: i64,
    /// The name of its author, as Git says; of what was stored here the name of the token.
    pub author: String,
}

/// What a publication is about, when it is not about all of its registry: the rest is as it was at the commit before.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Part {
    /// The templates it is about. Each has the versions that are published of it, and no others.
    pub templates: BTreeSet<(Option<CollectionName>, TemplateName)>,
    /// Directories that were looked at: what was found wrong below them before is told again, or is over.
    pub paths: Vec<String>,
}

impl Part {
    /// Whether a path is one of the directories that were looked at, or below one.
    pub(crate) fn covers(&self, path: &str) -> bool {
        self.paths.iter().any(|looked_at| {
            path.strip_prefix(looked_at.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    }
}

/// Everything a registry holds at one commit.
#[derive(Debug, Clone, PartialEq)]
pub struct Publication {
    /// Which registry. It must have been added before.
    pub registry: RegistryName,
    /// Where it came from, as people may see it: without credentials.
    pub source: String,
    /// The commit; `None` for a directory that is no Git repository.
    pub commit: Option<String>,
    /// The branch or tag that was read.
    pub branch: Option<String>,
    /// When it was read: seconds since 1970, UTC.
    pub indexed_at: i64,
    /// A title for people, from `registry.yaml`.
    pub title: Option<String>,
    /// What the registry is for, from `registry.yaml`.
    pub description: Option<String>,
    /// Who keeps it, from `registry.yaml`.
    pub maintainers: Vec<String>,
    /// Links by label, from `registry.yaml`.
    pub links: BTreeMap<String, String>,
    /// Its collections. One that a version names and this list does not is added with its name as its path.
    pub collections: Vec<PublishedCollection>,
    /// Its versions, in any order; of two for one version the first counts.
    pub versions: Vec<PublishedVersion>,
    /// What is wrong with the registry, or with what did not become a version.
    pub findings: Vec<Finding>,
    /// Whether the commit that was published before is known not to be among the ancestors of this one.
    pub history_rewritten: bool,
    /// What of the registry it is about; `None`: all of it. With a part, `collections` is not looked at.
    pub part: Option<Part>,
}

impl Publication {
    /// An empty publication: nothing is in the registry.
    pub fn of(registry: RegistryName, source: impl Into<String>, indexed_at: i64) -> Publication {
        Publication {
            registry,
            source: source.into(),
            commit: None,
            branch: None,
            indexed_at,
            title: None,
            description: None,
            maintainers: Vec::new(),
            links: BTreeMap::new(),
            collections: Vec::new(),
            versions: Vec::new(),
            findings: Vec::new(),
            history_rewritten: false,
            part: None,
        }
    }
}

/// A collection of a publication.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublishedCollection {
    /// Its name; `None` is the root.
    pub name: Option<CollectionName>,
    /// Its directory; empty is the root.
    pub path: String,
    /// A title for people.
    pub title: Option<String>,
    /// What is in it.
    pub description: Option<String>,
    /// The directory's own name where it is mapped under another one: it still resolves.
    pub directory_name_alias: Option<CollectionName>,
}

impl From<&schema::layout::Collection> for PublishedCollection {
    fn from(collection: &schema::layout::Collection) -> Self {
        PublishedCollection {
            name: collection.name.clone(),
            path: collection.path.clone(),
            title: collection.title.clone(),
            description: collection.description.clone(),
            directory_name_alias: collection.alias.clone(),
        }
    }
}

/// A version of a publication.
#[derive(Debug, Clone, PartialEq)]
pub struct PublishedVersion {
    /// The collection it is in; `None` is the root.
    pub collection: Option<CollectionName>,
    /// The template it belongs to.
    pub template: TemplateName,
    /// Which version it is.
    pub version: Version,
    /// Its directory, from the root of the registry.
    pub path: String,
    /// What its top-level file is.
    pub kind: Kind,
    /// The path of that file, inside the version.
    pub entry: String,
    /// The digest over its files.
    pub digest: Digest,
    /// Its files, sorted by path. Their bytes must have been stored before.
    pub files: Arc<[FileEntry]>,
    /// What was read from it without processing it.
    pub inspection: Facts,
    /// What is wrong with its structure.
    pub findings: Vec<Finding>,
    /// Why it is not chosen any more, if the registry says so.
    pub withdrawn: Option<Notice>,
    /// Why it is on its way out, if the registry says so.
    pub deprecated: Option<Notice>,
    /// A name for the directory's content, if its source has one (a Git tree id): equal ids, equal content.
    pub tree_id: Option<String>,
    /// What brought the content, if that was found out now.
    pub introduced: Option<Arc<Introduced>>,
}

impl PublishedVersion {
    /// A version as the catalogue has it, to be published again as it is. Set `path`, `findings` and the notices
    /// where those may have changed: they do not follow from the content.
    pub fn unchanged(
        collection: Option<CollectionName>,
        template: TemplateName,
        known: &VersionSnapshot,
    ) -> PublishedVersion {
        PublishedVersion {
            collection,
            template,
            version: known.version.clone(),
            path: known.path.clone(),
            kind: known.kind,
            entry: known.entry.clone(),
            digest: known.digest,
            files: known.files.clone(),
            inspection: known.inspection.clone(),
            findings: known.findings.clone(),
            withdrawn: known.withdrawn.clone(),
            deprecated: known.deprecated.clone(),
            tree_id: known.tree_id.clone(),
            introduced: None,
        }
    }
}

/// Why a registry could not be brought up to date. What was published stays.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SyncFailure {
    /// What went wrong, in one sentence without credentials.
    pub message: String,
    /// What to do about it, if that is known.
    pub hint: Option<String>,
    /// When: seconds since 1970, UTC.
    pub at: i64,
}

/// What was read from a version, kept as text until somebody asks.
///
/// A catalogue of 100,000 versions holds as many inspections, of which a day's requests look at a few hundred:
/// parsing all of them at every start would be most of the start. Dereferences to [`Inspection`]. Cheap to clone;
/// equal if the texts are.
#[derive(Clone)]
pub struct Facts(Arc<Inner>);

struct Inner {
    text: Box<str>,
    read: OnceLock<Inspection>,
}

impl Facts {
    /// Facts from what the store kept. A text that is no inspection reads as an empty one, and says so in the log:
    /// the facts are derived, and the next sync reads them anew.
    pub(crate) fn from_stored(text: String) -> Facts {
        Facts(Arc::new(Inner { text: text.into_boxed_str(), read: OnceLock::new() }))
    }

    /// The text the store keeps.
    pub(crate) fn text(&self) -> &str {
        &self.0.text
    }
}

impl Deref for Facts {
    type Target = Inspection;

    fn deref(&self) -> &Inspection {
        self.0.read.get_or_init(|| {
            serde_json::from_str(&self.0.text).unwrap_or_else(|error| {
                tracing::error!(%error, "an inspection in the store cannot be read; it counts as empty");
                Inspection::default()
            })
        })
    }
}

impl From<Inspection> for Facts {
    fn from(inspection: Inspection) -> Facts {
        let text = serde_json::to_string(&inspection).expect("an inspection is plain data with text keys");
        // Not kept parsed: most are never looked at again before they are replaced.
        Facts::from_stored(text)
    }
}

impl Default for Facts {
    fn default() -> Facts {
        Facts::from(Inspection::default())
    }
}

impl PartialEq for Facts {
    fn eq(&self, other: &Facts) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0.text == other.0.text
    }
}

impl fmt::Debug for Facts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}
