//! `fsck`: walks the store for invariants that do not hold, and mends what is derived.
//!
//! What the catalogue promises is written down here as checks, each with an id, so that trust in a store that went
//! through a full disk, a bad cable or a restored copy is a matter of asking. Three kinds of thing can be wrong:
//!
//! - **Derived**: the search index, rows that were written ahead of a publication that never came, bytes that nothing
//!   names any more. Repairing makes or removes them.
//! - **Had from upstream**: bytes that are damaged or missing. Repairing forgets them, so that the next sync reads the
//!   version again; if its registry does not have it any more, the digest is lost and the problem stays.
//! - **Facts of ours**: anything else. Only a copy can bring those back.
//!
//! It holds the lock of the data directory: nobody writes meanwhile.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt;
use std::path::Path;

use schema::Digest;
use schema::digest::DigestEntry;

use crate::blobs;
use crate::catalog::{Catalog, Options};
use crate::error::{OpenError, StoreError};
use crate::lock::Lock;
use crate::publication::FileEntry;
use crate::search::Query;
use crate::snapshot::{Snapshot, Viewer};
use crate::store::Store;

/// An invariant of the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Invariant {
    /// The database's pages and foreign keys are whole.
    Database,
    /// Bytes are what their digest says.
    BlobDigest,
    /// Every file of a published version has its bytes.
    BlobStored,
    /// Every content is named by a version.
    BlobNamed,
    /// A version's digest is that of its files.
    RevisionDigest,
    /// What was written ahead of a publication was published.
    RevisionPublished,
    /// A version points at a content of its own.
    VersionPointer,
    /// The change log goes up, without a generation that does not exist.
    ChangeOrder,
    /// Everything that is stored can be read.
    Readable,
    /// The search index has every template that is listed, and no other.
    SearchIndex,
}

/// What there is to do about a broken invariant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remedy {
    /// It is derived: `--repair` puts it right.
    Repair,
    /// `--repair` forgets it, and the next sync reads it again if its registry still has it.
    ReadAgain,
    /// Only a copy of the store has it.
    Restore,
    /// It was put right.
    Repaired,
    /// It was forgotten: the next sync reads it again.
    Forgotten,
}

/// A broken invariant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken {
    /// Which.
    pub invariant: Invariant,
    /// Where, and what was found.
    pub what: String,
    /// What there is to do.
    pub remedy: Remedy,
}

/// What was looked at, and what is wrong with it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Checked {
    /// Contents.
    pub blobs: usize,
    /// Versions, in all their contents.
    pub revisions: usize,
    /// Lines of the change log.
    pub changes: usize,
    /// Templates in the search index.
    pub templates: usize,
    /// What is wrong.
    pub broken: Vec<Broken>,
}

impl Invariant {
    /// The stable word for it.
    pub const fn id(self) -> &'static str {
        match self {
            Invariant::Database => "database",
            Invariant::BlobDigest => "blob-digest",
            Invariant::BlobStored => "blob-stored",
            Invariant::BlobNamed => "blob-named",
            Invariant::RevisionDigest => "revision-digest",
            Invariant::RevisionPublished => "revision-published",
            Invariant::VersionPointer => "version-pointer",
            Invariant::ChangeOrder => "change-order",
            Invariant::Readable => "readable",
            Invariant::SearchIndex => "search-index",
        }
    }
}

impl fmt::Display for Remedy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Remedy::Repair => "derived; --repair puts it right",
            Remedy::ReadAgain => "--repair forgets it, and the next sync reads it again",
            Remedy::Restore => "restore a copy of the data directory",
            Remedy::Repaired => "repaired",
            Remedy::Forgotten => "forgotten; the next sync reads it again",
        })
    }
}

/// A version's content, as its row has it.
#[derive(Debug)]
pub(crate) struct RevisionRow {
    pub(crate) id: i64,
    /// `registry/collection/template:version`.
    pub(crate) place: String,
    pub(crate) digest: Digest,
    pub(crate) files: Vec<FileEntry>,
    pub(crate) published: bool,
}

/// Checks the store in a data directory and, if told to, repairs what can be. `progress` is told what is looked at.
///
/// # Errors
/// When the directory cannot be opened at all: it is in use, or of a newer version.
pub async fn fsck(
    data: &Path,
    repair: bool,
    progress: &mut dyn FnMut(&'static str),
) -> Result<Checked, OpenError> {
    let mut checked = Checked::default();
    {
        let _lock = Lock::take(data)?;
        let store = Store::open(&data.join("formwork.db")).await?;
        let mut walk = Walk { store: &store, repair, checked: &mut checked };
        walk.all(progress).await?;
        store.close().await;
    }
    let unreadable = checked
        .broken
        .iter()
        .any(|broken| matches!(broken.invariant, Invariant::Readable | Invariant::Database));
    if !unreadable {
        progress("search index");
        search(data, repair, &mut checked).await?;
    }
    Ok(checked)
}

struct Walk<'a> {
    store: &'a Store,
    repair: bool,
    checked: &'a mut Checked,
}

impl Walk<'_> {
    async fn all(&mut self, progress: &mut dyn FnMut(&'static str)) -> Result<(), StoreError> {
        progress("database");
        for what in self.store.integrity().await? {
            self.broken(Invariant::Database, what, Remedy::Restore);
        }
        progress("versions");
        let revisions = self.store.all_revisions().await?;
        self.checked.revisions = revisions.len();
        self.revisions(&revisions).await?;
        progress("files");
        self.blobs(&revisions).await?;
        progress("change log");
        self.changes().await?;
        if let Err(error) = self.store.load().await {
            self.broken(Invariant::Readable, error.to_string(), Remedy::Restore);
        }
        Ok(())
    }

    fn broken(&mut self, invariant: Invariant, what: String, remedy: Remedy) {
        self.checked.broken.push(Broken { invariant, what, remedy });
    }

    async fn revisions(&mut self, revisions: &[RevisionRow]) -> Result<(), StoreError> {
        for revision in revisions.iter().filter(|revision| revision.published) {
            let entries = revision.files.iter().map(|file| DigestEntry {
                path: &file.path,
                executable: file.executable,
                content: file.digest,
            });
            let found = Digest::of_version(entries);
            if found != revision.digest {
                let what =
                    format!("{} is kept as {}, its files make {found}", revision.place, revision.digest);
                self.broken(Invariant::RevisionDigest, what, Remedy::Restore);
            }
        }
        for place in self.store.misplaced_versions().await? {
            let what = format!("{place} points at the content of another version");
            self.broken(Invariant::VersionPointer, what, Remedy::Restore);
        }
        let ahead = revisions.iter().filter(|revision| !revision.published).count();
        if ahead > 0 {
            let remedy = if self.repair { Remedy::Repaired } else { Remedy::Repair };
            if self.repair {
                self.store.forget_unpublished().await?;
            }
            let what = format!("{ahead} contents were written ahead of a publication that did not come");
            self.broken(Invariant::RevisionPublished, what, remedy);
        }
        Ok(())
    }

    async fn blobs(&mut self, revisions: &[RevisionRow]) -> Result<(), StoreError> {
        let mut named = HashMap::<Digest, &RevisionRow>::new();
        for revision in revisions.iter().filter(|revision| revision.published) {
            for file in &revision.files {
                named.entry(file.digest).or_insert(revision);
            }
        }
        let (mut stored, mut damaged, mut orphaned) = (HashSet::new(), Vec::new(), Vec::new());
        let mut after = 0;
        loop {
            let rows = self.store.blobs_after(after).await?;
            let Some(last) = rows.last() else { break };
            after = last.0;
            for (id, (digest, size, encoding, content)) in rows {
                self.checked.blobs += 1;
                stored.insert(digest);
                if !named.contains_key(&digest) {
                    orphaned.push(id);
                } else if blobs::decode(self.store, &digest, size, encoding, content).is_err() {
                    damaged.push((id, digest));
                }
            }
        }
        let again = if self.repair { Remedy::Forgotten } else { Remedy::ReadAgain };
        let mut unread = BTreeSet::new();
        for (id, digest) in &damaged {
            let place = named.get(digest).map_or("", |revision| &revision.place);
            let what = format!("{digest}, a file of {place}, has other bytes");
            self.broken(Invariant::BlobDigest, what, again);
            unread.insert(*digest);
            if self.repair {
                self.store.forget_blobs(&[*id]).await?;
            }
        }
        let mut missing = BTreeMap::<&str, usize>::new();
        for (digest, revision) in &named {
            if !stored.contains(digest) {
                *missing.entry(&revision.place).or_default() += 1;
                unread.insert(*digest);
            }
        }
        for (place, count) in missing {
            self.broken(
                Invariant::BlobStored,
                format!("{place} lacks the bytes of {count} of its files"),
                again,
            );
        }
        if self.repair && !unread.is_empty() {
            let touched = revisions
                .iter()
                .filter(|revision| revision.files.iter().any(|file| unread.contains(&file.digest)));
            self.store.read_again(&touched.map(|revision| revision.id).collect::<Vec<_>>()).await?;
        }
        if !orphaned.is_empty() {
            let remedy = if self.repair { Remedy::Repaired } else { Remedy::Repair };
            if self.repair {
                self.store.forget_blobs(&orphaned).await?;
            }
            let what = format!("{} contents are named by no version", orphaned.len());
            self.broken(Invariant::BlobNamed, what, remedy);
        }
        Ok(())
    }

    async fn changes(&mut self) -> Result<(), StoreError> {
        let changes = self.store.change_order().await?;
        self.checked.changes = changes.len();
        let mut last = 0;
        for (sequence, generation, exists) in changes {
            if !exists {
                let what = format!("change {sequence} is of generation {generation}, which there is not");
                self.broken(Invariant::ChangeOrder, what, Remedy::Restore);
            } else if generation < last {
                let what = format!("change {sequence} is of generation {generation}, after one of {last}");
                self.broken(Invariant::ChangeOrder, what, Remedy::Restore);
            }
            last = last.max(generation);
        }
        Ok(())
    }
}

/// Compares the index with what is listed. Opening replays what it lacked, as any start does.
async fn search(data: &Path, repair: bool, checked: &mut Checked) -> Result<(), OpenError> {
    let options = || Options { cache_bytes: 0, ..Options::default() };
    let (catalog, _) = Catalog::open(data, options()).await?;
    let differences = differences(&catalog, &mut checked.templates);
    catalog.close().await;
    drop(catalog);
    if differences.is_empty() {
        return Ok(());
    }
    let remedy = if repair {
        let path = data.join("search");
        std::fs::remove_dir_all(&path).map_err(|cause| OpenError::Directory { path, cause })?;
        let (catalog, _) = Catalog::open(data, options()).await?;
        catalog.close().await;
        Remedy::Repaired
    } else {
        Remedy::Repair
    };
    let broken = |what| Broken { invariant: Invariant::SearchIndex, what, remedy };
    checked.broken.extend(differences.into_iter().map(broken));
    Ok(())
}

fn differences(catalog: &Catalog, templates: &mut usize) -> Vec<String> {
    let snapshot: std::sync::Arc<Snapshot> = catalog.snapshot();
    let listed = snapshot
        .visible(&Viewer::Operator)
        .flat_map(|registry| registry.templates().map(|template| template.location.to_string()))
        .collect::<BTreeSet<_>>();
    let (mut found, mut after) = (BTreeSet::new(), None);
    loop {
        let answer = catalog.search(&Viewer::Operator, &Query { limit: 100, after, ..Query::default() });
        found.extend(answer.hits.iter().map(|hit| hit.location.to_string()));
        after = answer.next;
        if after.is_none() || answer.hits.is_empty() {
            break;
        }
    }
    *templates = found.len();
    let mut differences = Vec::new();
    let missing = listed.difference(&found).collect::<Vec<_>>();
    if let Some(first) = missing.first() {
        differences.push(format!("{} listed templates are not found, {first} among them", missing.len()));
    }
    let strangers = found.difference(&listed).collect::<Vec<_>>();
    if let Some(first) = strangers.first() {
        differences
            .push(format!("{} templates are found that are not listed, {first} among them", strangers.len()));
    }
    differences
}
