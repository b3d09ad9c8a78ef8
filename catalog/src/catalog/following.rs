//! The search index follows the snapshot: after each write, and when the catalogue is opened.

use std::sync::Arc;

use super::{Behind, Inner, Opened};
use crate::error::{StoreError, WriteError};
use crate::search;
use crate::search::document::{README, beginning};
use crate::search::{Found, Update, UpdateError};
use crate::snapshot::{Snapshot, TemplateSnapshot};

/// Templates handed to the index at once when it is built anew.
const REBUILT_AT_ONCE: usize = 500;

impl Inner {
    /// Brings the search index to the snapshot's generation; `false` if it could not, which is logged and tried
    /// again with the next write.
    pub(super) async fn follow(self: Arc<Self>, behind: &mut Behind) -> Result<bool, WriteError> {
        let snapshot = self.snapshot.load_full();
        if self.index.generation() == snapshot.generation {
            return Ok(true);
        }
        let updates = match self.updates(&snapshot, behind).await {
            Ok(updates) => updates,
            Err(error) => {
                tracing::error!(%error, "the search index cannot follow");
                return Ok(false);
            }
        };
        let inner = self.clone();
        let generation = snapshot.generation;
        let task = tokio::task::spawn_blocking(move || {
            inner.index.add(&updates)?;
            inner.index.commit(generation, &inner.faults)
        });
        match task.await.map_err(|_| WriteError::Closed)? {
            Ok(()) => {
                *behind = Behind::default();
                Ok(true)
            }
            Err(UpdateError::Stopped(error)) => Err(error),
            Err(error) => {
                tracing::error!(%error, "the search index stays behind; the next write or start brings it up to date");
                Ok(false)
            }
        }
    }

    /// What to do about everything the index does not know yet, by the snapshot.
    pub(super) async fn updates(
        &self,
        snapshot: &Snapshot,
        behind: &Behind,
    ) -> Result<Vec<Update>, StoreError> {
        let mut updates = behind.registries.iter().cloned().map(Update::RemoveRegistry).collect::<Vec<_>>();
        for location in &behind.templates {
            let listed = snapshot.registries.get(&location.registry).and_then(|registry| {
                registry.collections.get(&location.collection)?.templates.get(&location.template)
            });
            updates.push(match listed {
                Some(template) => self.put(template).await?,
                None => Update::Remove(location.clone()),
            });
        }
        Ok(updates)
    }

    pub(super) async fn put(&self, template: &Arc<TemplateSnapshot>) -> Result<Update, StoreError> {
        let readme = template.latest().and_then(|version| version.readme()).map(|file| file.digest);
        let text = match readme {
            Some(digest) => self.blobs.get_or_load(&self.store, &digest).await?,
            None => None,
        };
        let text = text.map(|bytes| {
            let bytes = &bytes[..bytes.len().min(README)];
            beginning(&String::from_utf8_lossy(bytes), README).to_owned()
        });
        Ok(Update::Put(template.clone(), text))
    }

    /// Brings an index that was just opened to the store's generation. What fails here is tried again with the next
    /// write: a catalogue that cannot search is better than none.
    pub(super) async fn catch_up(self: Arc<Self>, found: Found) -> Result<Opened, StoreError> {
        let snapshot = self.snapshot.load_full();
        let mut behind = self.writing.lock().await;
        match found {
            Found::At(generation) if generation == snapshot.generation => Ok(Opened::default()),
            Found::At(generation) => {
                for [registry, collection, template] in self.store.touched_since(generation).await? {
                    if template.is_empty() {
                        behind.registries.insert(registry);
                    } else if let Some(location) = search::from_spelled(&registry, &collection, &template) {
                        behind.templates.insert(location);
                    }
                }
                let replayed = behind.templates.len();
                let followed = self.clone().follow(&mut behind).await;
                Ok(Opened { replayed, search_behind: !followed.unwrap_or(false), ..Opened::default() })
            }
            Found::Empty(why) => {
                let templates = snapshot.registries.values().flat_map(|registry| registry.templates());
                let templates = templates.cloned().collect::<Vec<_>>();
                let rebuilt = self.clone().rebuild(&templates, snapshot.generation).await;
                if let Err(error) = &rebuilt {
                    tracing::error!(%error, "the search index was not built; the next write tries again");
                    behind.templates.extend(templates.iter().map(|template| template.location.clone()));
                }
                Ok(Opened { rebuilt: Some(why), search_behind: rebuilt.is_err(), ..Opened::default() })
            }
        }
    }

    /// Fills an empty index, some templates at a time, so that not all READMEs are in memory at once.
    pub(super) async fn rebuild(
        self: Arc<Self>,
        templates: &[Arc<TemplateSnapshot>],
        generation: u64,
    ) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        for some in templates.chunks(REBUILT_AT_ONCE) {
            let mut updates = Vec::with_capacity(some.len());
            for template in some {
                updates.push(self.put(template).await?);
            }
            let inner = self.clone();
            tokio::task::spawn_blocking(move || inner.index.add(&updates)).await??;
        }
        let inner = self.clone();
        tokio::task::spawn_blocking(move || inner.index.commit(generation, &inner.faults)).await??;
        Ok(())
    }
}
