//! Registries come and go, are hidden and shown, and fail: what is remembered of each beside its versions.

use std::sync::Arc;

use schema::RegistryName;

use super::{Catalog, Inner};
use crate::access::Visibility;
use crate::apply::Event;
use crate::error::WriteError;
use crate::jobs::{Origin, Remembered};
use crate::publication::SyncFailure;
use crate::snapshot::RegistrySnapshot;

impl Catalog {
    /// Adds a registry of which nothing is known yet, or changes where one comes from. `at` is the time it is, in
    /// seconds since 1970, UTC. Its origin and who sees it stay what they were; a new one is of the
    /// settings, and public.
    pub async fn add_registry(&self, name: &RegistryName, source: &str, at: i64) -> Result<(), WriteError> {
        let (name, source) = (name.clone(), source.to_owned());
        self.write(move |inner| async move { inner.add_registry(name, source, None, None, at).await }).await
    }

    /// [`Catalog::add_registry`], with who may see it (`None` leaves that as it is, and a new one is
    /// public), who asked for it, and what it takes to ask again after a restart.
    pub async fn add_registry_from(
        &self,
        name: &RegistryName,
        source: &str,
        visibility: Option<Visibility>,
        origin: Origin,
        config: Option<String>,
        at: i64,
    ) -> Result<(), WriteError> {
        let (name, source) = (name.clone(), source.to_owned());
        let from = Some((origin, config));
        self.write(move |inner| async move { inner.add_registry(name, source, visibility, from, at).await })
            .await
    }

    /// Who asked for each registry that is remembered.
    pub async fn origins(&self) -> Result<Vec<Remembered>, WriteError> {
        Ok(self.0.store.origins().await?)
    }

    /// Changes who may see a registry, for every answer from now on; `false` if there is none of that name.
    pub async fn set_visibility(
        &self,
        name: &RegistryName,
        visibility: Visibility,
        at: i64,
    ) -> Result<bool, WriteError> {
        let name = name.clone();
        self.write(move |inner| async move { inner.set_visibility(name, visibility, at).await }).await
    }

    /// Removes a registry with everything that was published from it; `false` if there is none.
    pub async fn remove_registry(&self, name: &RegistryName, at: i64) -> Result<bool, WriteError> {
        let name = name.clone();
        self.write(move |inner| async move { inner.remove_registry(name, at).await }).await
    }

    /// Remembers that a registry could not be brought up to date. What was published stays.
    pub async fn record_failure(&self, name: &RegistryName, failure: SyncFailure) -> Result<(), WriteError> {
        let name = name.clone();
        self.write(move |inner| async move { inner.record_failure(name, failure).await }).await
    }
}

impl Inner {
    pub(super) async fn add_registry(
        self: Arc<Self>,
        name: RegistryName,
        source: String,
        visibility: Option<Visibility>,
        from: Option<(Origin, Option<String>)>,
        at: i64,
    ) -> Result<(), WriteError> {
        let _writing = self.writing.lock().await;
        self.check_open()?;
        let old = self.registry(&name);
        let before = old.as_ref().map(|old| old.visibility);
        let visibility = visibility.or(before).unwrap_or_default();
        let same = |old: &&Arc<RegistrySnapshot>| {
            old.source == source && old.name.as_str() == name.as_str() && old.visibility == visibility
        };
        let known = old.as_ref().filter(same);
        let mut connection = self.store.writer().await;
        let mut transaction = self.store.begin(&mut connection).await?;
        if let Some(known) = known {
            if let Some((origin, config)) = from {
                transaction.set_origin(known.id, origin, config).await?;
                transaction.commit().await?;
            }
            return Ok(());
        }
        let id = transaction.add_registry(&name, &source, visibility).await?;
        if let Some((origin, config)) = from {
            transaction.set_origin(id, origin, config).await?;
        }
        let cause = if old.is_none() { "registry-added" } else { "registry-changed" };
        let generation = transaction.generation(&name, cause, at).await?;
        if old.is_none() {
            let event = Event { what: "registry-added", detail: String::new() };
            transaction.log_event(&name, &event, generation, at).await?;
        }
        transaction.commit().await?;
        drop(connection);
        let mut registry = match old {
            Some(old) => {
                let old = RegistrySnapshot::clone(&old);
                RegistrySnapshot { name: name.clone(), source, visibility, ..old }
            }
            None => {
                let new = RegistrySnapshot::new(id, name.clone(), source);
                let mut registry = RegistrySnapshot { visibility, ..new };
                self.store.purges_of(&mut registry).await?;
                registry
            }
        };
        registry.count();
        // A key compares without case: taken out first, so that the new spelling is what is listed.
        self.swap(generation, &name, None);
        self.swap(generation, &name, Some(registry));
        Ok(())
    }

    pub(super) async fn set_visibility(
        self: Arc<Self>,
        name: RegistryName,
        visibility: Visibility,
        at: i64,
    ) -> Result<bool, WriteError> {
        let _writing = self.writing.lock().await;
        self.check_open()?;
        let Some(old) = self.registry(&name) else { return Ok(false) };
        if old.visibility == visibility {
            return Ok(true);
        }
        let mut connection = self.store.writer().await;
        let mut transaction = self.store.begin(&mut connection).await?;
        transaction.add_registry(&old.name, &old.source, visibility).await?;
        let generation = transaction.generation(&name, "visibility-changed", at).await?;
        transaction.commit().await?;
        let registry = RegistrySnapshot { visibility, ..RegistrySnapshot::clone(&old) };
        self.swap(generation, &name, Some(registry));
        Ok(true)
    }

    pub(super) async fn remove_registry(
        self: Arc<Self>,
        name: RegistryName,
        at: i64,
    ) -> Result<bool, WriteError> {
        let mut behind = self.writing.lock().await;
        self.check_open()?;
        let Some(old) = self.registry(&name) else { return Ok(false) };
        let mut connection = self.store.writer().await;
        let mut transaction = self.store.begin(&mut connection).await?;
        let generation = transaction.generation(&name, "registry-removed", at).await?;
        transaction.remove_registry(&old, generation, at).await?;
        transaction.commit().await?;
        drop(connection);
        self.swap(generation, &name, None);
        behind.registries.insert(name.canonical().to_owned());
        behind.templates.retain(|location| location.registry != name);
        self.clone().follow(&mut behind).await?;
        Ok(true)
    }

    pub(super) async fn record_failure(
        self: Arc<Self>,
        name: RegistryName,
        failure: SyncFailure,
    ) -> Result<(), WriteError> {
        let _writing = self.writing.lock().await;
        self.check_open()?;
        let old = self.registry(&name).ok_or_else(|| WriteError::UnknownRegistry(name.clone()))?;
        let same = |old: &SyncFailure| old.message == failure.message && old.hint == failure.hint;
        let mut connection = self.store.writer().await;
        let mut transaction = self.store.begin(&mut connection).await?;
        transaction.set_failure(old.id, &failure).await?;
        // The same failure again is no news: whoever has the page need not fetch it.
        let generation = match old.failure.as_ref().is_some_and(same) {
            true => self.snapshot.load().generation,
            false => transaction.generation(&name, "sync-failed", failure.at).await?,
        };
        transaction.commit().await?;
        let registry = RegistrySnapshot { failure: Some(failure), ..RegistrySnapshot::clone(&old) };
        self.swap(generation, &name, Some(registry));
        Ok(())
    }
}
