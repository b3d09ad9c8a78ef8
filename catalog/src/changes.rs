//! The change log as readers see it: what happened, in order, to what they may see.
//!
//! Sequences rise and never repeat, whatever becomes of branches and registries; they have gaps. Entries of a registry
//! that is hidden from a viewer, or was removed, do not exist for that viewer.

use schema::reference::Location;
use schema::{Digest, RegistryName, Version};

use crate::catalog::Catalog;
use crate::error::ReadError;
use crate::search;
use crate::snapshot::{Snapshot, Viewer};
use crate::store::Logged;

/// Rows read at once.
const BATCH: usize = 512;
/// Rows passed over for one answer, at most, because the viewer may not see them.
const PASSED_OVER: usize = 64 * BATCH;

/// One thing that happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogEntry {
    /// Its place in the log.
    pub sequence: u64,
    /// The registry.
    pub registry: RegistryName,
    /// The template; `None` for what happened to the registry as a whole.
    pub location: Option<Location>,
    /// The version.
    pub version: Option<Version>,
    /// What happened, in a word: one of [`crate::What`], or of a registry as a whole `registry-added`, `drop-held`,
    /// `drop-accepted`, `history-rewritten`, `history-accepted`.
    pub what: String,
    /// The content that is news: what is served now, held now, gone or erased.
    pub digest: Option<Digest>,
    /// When: seconds since 1970, UTC.
    pub at: i64,
    /// Why, or how many, in words.
    pub detail: Option<String>,
}

/// A part of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogPage {
    /// What happened, oldest first.
    pub entries: Vec<LogEntry>,
    /// Where the next part begins; where this one began if nothing happened since.
    pub next: u64,
    /// Whether more is known to follow.
    pub more: bool,
}

impl Catalog {
    /// What happened after a place in the log, to what the viewer may see. Runs SQL.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn changes(&self, viewer: &Viewer, since: u64, limit: usize) -> Result<LogPage, ReadError> {
        let snapshot = self.snapshot();
        let mut page = LogPage { entries: Vec::new(), next: since, more: false };
        let (mut at, mut passed) = (since, 0);
        loop {
            let rows = self.store().changes_since(at, BATCH).await?;
            let is_last = rows.len() < BATCH;
            for row in rows {
                if page.entries.len() == limit {
                    page.more = true;
                    return Ok(page);
                }
                at = row.sequence;
                match entry(&snapshot, viewer, row) {
                    Some(entry) => {
                        page.next = entry.sequence;
                        page.entries.push(entry);
                    }
                    None => passed += 1,
                }
            }
            if is_last {
                return Ok(page);
            }
            if passed > PASSED_OVER {
                // Rather than read on for ever, the reader is sent on from here.
                return Ok(LogPage { next: at, more: true, ..page });
            }
        }
    }

    /// When a generation was made, for whoever saw these registries then and wants to know what changed since:
    /// everything of which a template's own generation is later. `None` if that would not be all: the generation is
    /// none of this catalogue, or a registry as a whole was removed, hidden or shown since. Runs SQL.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn followed_from(
        &self,
        generation: u64,
        registries: &[RegistryName],
    ) -> Result<Option<i64>, ReadError> {
        let names = registries.iter().map(|name| name.canonical().to_owned()).collect::<Vec<_>>();
        Ok(self.store().undisrupted_since(generation, &names).await?)
    }

    /// What happened to a registry or to one of its templates, newest first; `None` if the viewer may not see it.
    /// Runs SQL.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn changes_of(
        &self,
        viewer: &Viewer,
        registry: &RegistryName,
        template: Option<&Location>,
        limit: usize,
    ) -> Result<Option<Vec<LogEntry>>, ReadError> {
        let snapshot = self.snapshot();
        let Some(registry) = snapshot.registry(viewer, registry) else { return Ok(None) };
        let template = template.map(|location| {
            let [_, collection, template] = crate::store::spelled(location);
            [collection, template]
        });
        let rows = self.store().changes_of(registry.name.canonical(), template, limit).await?;
        Ok(Some(rows.into_iter().filter_map(|row| entry(&snapshot, viewer, row)).collect()))
    }
}

/// A row as a viewer sees it, if at all.
fn entry(snapshot: &Snapshot, viewer: &Viewer, row: Logged) -> Option<LogEntry> {
    let name = row.registry.parse::<RegistryName>().ok()?;
    let registry = snapshot.registry(viewer, &name)?.name.clone();
    let location = search::from_spelled(&row.registry, &row.collection, &row.template)
        .map(|location| Location { registry: registry.clone(), ..location });
    Some(LogEntry {
        sequence: row.sequence,
        registry,
        location,
        version: row.version.parse().ok(),
        what: row.what,
        digest: row.digest,
        at: row.at,
        detail: row.detail,
    })
}
