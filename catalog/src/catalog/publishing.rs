//! Publications, reports on them, and what an operator decides: each a generation, in the order of the steps
//! that the crate's head names.

use std::collections::BTreeSet;
use std::sync::Arc;

use schema::reference::Location;
use schema::{Digest, RegistryName};

use super::{Catalog, Inner, Published, Purged};
use crate::apply::verdict::{Acceptance, Erased, Erasure};
use crate::apply::{Applied, What, apply, verdict};
use crate::error::WriteError;
use crate::faults::Point;
use crate::publication::Publication;
use crate::report::{ReportedVersion, attach};
use crate::snapshot::RegistrySnapshot;

impl Catalog {
    /// Makes a publication what readers see. All or nothing; what it replaces stays reachable by digest.
    pub async fn publish(&self, publication: Publication) -> Result<Published, WriteError> {
        self.write(move |inner| async move { inner.publish(publication).await }).await
    }

    /// Shows reports on versions of a registry to readers, some at a time: each call is a generation. Those whose
    /// version is gone, or has other bytes by now, are dropped; how many were kept is returned. `at` is the time it
    /// is, in seconds since 1970, UTC.
    pub async fn publish_reports(
        &self,
        registry: &RegistryName,
        reports: Vec<ReportedVersion>,
        at: i64,
    ) -> Result<usize, WriteError> {
        let name = registry.clone();
        self.write(move |inner| async move { inner.publish_reports(name, reports, at).await }).await
    }

    /// Lets in what was held back of a registry. `at` is the time it is, in seconds since 1970, UTC. Answers the
    /// generation in which readers see it.
    ///
    /// # Errors
    /// [`WriteError::Nothing`] if nothing of the kind is held back: somebody else decided, or upstream changed.
    pub async fn accept(
        &self,
        registry: &RegistryName,
        acceptance: Acceptance,
        at: i64,
    ) -> Result<u64, WriteError> {
        let name = registry.clone();
        self.write(move |inner| async move { inner.accept(name, acceptance, at).await }).await
    }

    /// Erases a content or all contents of a version: rows, bytes that no other version has, what is in memory and in
    /// the search index. Whoever asks for it afterwards is told the reason. Mirrors of Git repositories are not this
    /// crate's.
    ///
    /// # Errors
    /// [`WriteError::Nothing`] if there is no such content.
    pub async fn purge(&self, erasure: Erasure, at: i64) -> Result<Purged, WriteError> {
        self.write(move |inner| async move { inner.purge(erasure, at).await }).await
    }
}

impl Inner {
    pub(super) async fn accept(
        self: Arc<Self>,
        name: RegistryName,
        acceptance: Acceptance,
        at: i64,
    ) -> Result<u64, WriteError> {
        let mut behind = self.writing.lock().await;
        self.check_open()?;
        let old = self.registry(&name).ok_or_else(|| WriteError::UnknownRegistry(name.clone()))?;
        let mut applied = verdict::accept(&old, &acceptance, at).ok_or_else(|| {
            WriteError::Nothing(match acceptance {
                Acceptance::Rewrite { location, version, digest } => {
                    format!("no rewrite of {location}:{version} to {digest} is held back")
                }
                Acceptance::Drop => format!("no versions of {name} are held as missing"),
                Acceptance::History => {
                    format!("the branch of {name} was not moved since the last acceptance")
                }
            })
        })?;
        let generation = self.flip(&mut applied, "accepted", at).await?;
        behind.templates.extend(applied.templates());
        self.swap(generation, &name, Some(applied.registry));
        self.clone().follow(&mut behind).await?;
        Ok(generation)
    }

    pub(super) async fn purge(self: Arc<Self>, erasure: Erasure, at: i64) -> Result<Purged, WriteError> {
        let mut behind = self.writing.lock().await;
        self.check_open()?;
        let name = erasure.location.registry.clone();
        let old = self.registry(&name).ok_or_else(|| WriteError::UnknownRegistry(name.clone()))?;
        let mut erased = verdict::erase(&old, &erasure, at).ok_or_else(|| {
            let digest = erasure.digest.map(|digest| format!("@{digest}")).unwrap_or_default();
            WriteError::Nothing(format!(
                "there is nothing to erase at {}:{}{digest}",
                erasure.location, erasure.version
            ))
        })?;
        let Erased { applied, digests, blobs, files, .. } = &erased;
        let snapshot = self.snapshot.load_full();
        let others = || snapshot.registries.values().filter(|other| other.id != old.id);
        let is_elsewhere = |digest: &Digest| others().any(|other| other.has_blob(digest));
        let blobs = blobs.iter().copied().filter(|digest| !is_elsewhere(digest)).collect::<Vec<_>>();
        let mut connection = self.store.writer().await;
        let mut transaction = self.store.begin(&mut connection).await?;
        let generation = transaction.generation(&name, "purged", at).await?;
        transaction.erase(&erased, &blobs, generation, at).await?;
        transaction.commit().await?;
        drop(connection);
        let templates = applied.templates();
        let purged = Purged {
            digests: digests.iter().copied().collect(),
            files: blobs.len(),
            files_kept: files - blobs.len(),
            generation,
        };
        erased.applied.registry.stamp(&templates, generation);
        behind.templates.extend(templates);
        self.swap(generation, &name, Some(erased.applied.registry));
        blobs.iter().for_each(|digest| self.blobs.forget(digest));
        self.store.fold().await;
        if self.clone().follow(&mut behind).await? {
            let inner = self.clone();
            let compacted = tokio::task::spawn_blocking(move || inner.index.compact()).await;
            if !matches!(compacted, Ok(Ok(()))) {
                tracing::warn!(
                    "the search index still holds words of what was erased; it gives them up when it merges"
                );
            }
        }
        Ok(purged)
    }

    pub(super) async fn publish(self: Arc<Self>, publication: Publication) -> Result<Published, WriteError> {
        let mut behind = self.writing.lock().await;
        self.check_open()?;
        let name = publication.registry.clone();
        let at = publication.indexed_at;
        let old = self.registry(&name).ok_or_else(|| WriteError::UnknownRegistry(name.clone()))?;
        // Comparing 100,000 versions takes tens of milliseconds: not on a thread that answers requests.
        let comparing = {
            let old = old.clone();
            let policy = self.policy;
            tokio::task::spawn_blocking(move || apply(&old, &publication, &policy))
        };
        let mut applied = comparing.await.map_err(|_| WriteError::Closed)?;
        let mut published = summary(&applied);
        published.generation = self.snapshot.load().generation;
        if applied.visible {
            self.check_contents(&old, &applied).await?;
            self.store.write_revisions(applied.registry.id, &applied.changes).await?;
            self.faults.reached(Point::FactsWritten)?;
            published.generation = self.flip(&mut applied, "published", at).await?;
            behind.templates.extend(applied.templates());
            self.faults.reached(Point::Committed)?;
        } else {
            self.store.looked_at(old.id, at).await?;
        }
        self.swap(published.generation, &name, Some(applied.registry));
        self.faults.reached(Point::Swapped)?;
        published.search_behind = !self.clone().follow(&mut behind).await?;
        Ok(published)
    }

    pub(super) async fn publish_reports(
        self: Arc<Self>,
        name: RegistryName,
        reports: Vec<ReportedVersion>,
        at: i64,
    ) -> Result<usize, WriteError> {
        let mut behind = self.writing.lock().await;
        self.check_open()?;
        let Some(old) = self.registry(&name) else { return Ok(0) };
        let attached = attach(&old, reports);
        if attached.reports.is_empty() {
            return Ok(0);
        }
        let mut connection = self.store.writer().await;
        let mut transaction = self.store.begin(&mut connection).await?;
        let generation = transaction.generation(&name, "reported", at).await?;
        transaction.write_reports(&attached, generation, at).await?;
        transaction.commit().await?;
        drop(connection);
        // Searches tell of health, so the index takes up what has another one.
        behind.templates.extend(attached.changes.iter().map(|change| Location {
            registry: name.clone(),
            collection: change.collection.clone(),
            template: change.template.clone(),
        }));
        self.swap(generation, &name, Some(attached.registry));
        self.clone().follow(&mut behind).await?;
        Ok(attached.reports.len())
    }

    /// The one short transaction; the generation it made, with which the templates are marked.
    pub(super) async fn flip(&self, applied: &mut Applied, cause: &str, at: i64) -> Result<u64, WriteError> {
        let mut connection = self.store.writer().await;
        let mut transaction = self.store.begin(&mut connection).await?;
        let generation = transaction.generation(&applied.registry.name, cause, at).await?;
        transaction.publish(applied, generation, at).await?;
        self.faults.reached(Point::Flipped)?;
        transaction.commit().await?;
        let templates = applied.templates();
        applied.registry.stamp(&templates, generation);
        Ok(generation)
    }

    /// What is published is what its digests say, and all of it is stored. A publication was put together from what
    /// a child said that read a stranger's repository: it is checked here, where it becomes true.
    pub(super) async fn check_contents(
        &self,
        old: &RegistrySnapshot,
        applied: &Applied,
    ) -> Result<(), WriteError> {
        let mut needed = BTreeSet::new();
        for version in applied
            .changes
            .iter()
            .filter(|change| change.what.brings_bytes())
            .flat_map(|change| [Some(&change.now), change.held.as_ref()])
            .flatten()
        {
            let entries = version.files.iter().map(|file| schema::digest::DigestEntry {
                path: &file.path,
                executable: file.executable,
                content: file.digest,
            });
            let found = Digest::of_version(entries);
            if found != version.digest {
                return Err(WriteError::Digest { named: version.digest, found });
            }
            let unknown = version.files.iter().filter(|file| !old.has_blob(&file.digest));
            needed.extend(unknown.map(|file| file.digest));
        }
        let needed = needed.into_iter().collect::<Vec<_>>();
        let has = self.store.has_blobs(&needed).await?;
        let Some((digest, _)) = needed.iter().zip(has).find(|(_, has)| !has) else { return Ok(()) };
        let named =
            applied.changes.iter().flat_map(|change| change.now.files.iter().map(move |file| (change, file)));
        let path = named
            .filter(|(_, file)| file.digest == *digest)
            .map(|(change, file)| format!("{}/{}", change.now.path, file.path));
        let path = path.into_iter().next().unwrap_or_default();
        Err(WriteError::BlobMissing { path, digest: *digest })
    }
}

fn summary(applied: &Applied) -> Published {
    let mut published = Published::default();
    for change in &applied.changes {
        match change.what {
            What::Added | What::Returned => published.added += 1,
            What::Changed | What::Revised | What::Accepted => published.changed += 1,
            What::Updated | What::Withdrawn | What::Deprecated | What::Cleared | What::Missing => {
                published.updated += 1;
            }
            What::Held => published.held += 1,
            What::Gone | What::Purged => published.gone += 1,
            What::Reported => {}
        }
    }
    published
}
