//! Jobs with leases: what is to be done for registries, by whom and when.

use schema::RegistryName;

use super::Catalog;
use crate::error::WriteError;
use crate::jobs::{Job, JobKind, Milliseconds};

impl Catalog {
    /// Asks for a job of a registry: it becomes due at `now` if it was not due before. However often somebody asks,
    /// there is one job; asked for while it runs, it is due again when it ends. `false`: there is no such registry.
    pub async fn ask_job(
        &self,
        name: &RegistryName,
        kind: JobKind,
        cause: &str,
        now: Milliseconds,
    ) -> Result<bool, WriteError> {
        self.check_open()?;
        Ok(self.0.store.ask_job(name, kind, cause, now).await?)
    }

    /// Takes the job that has been due for the longest, if one is, until `until`: nobody else gets it before.
    pub async fn take_job(
        &self,
        kind: JobKind,
        owner: &str,
        now: Milliseconds,
        until: Milliseconds,
    ) -> Result<Option<Job>, WriteError> {
        self.check_open()?;
        let Some(row) = self.0.store.take_job(kind, owner, now, until).await? else { return Ok(None) };
        let snapshot = self.0.snapshot.load();
        let registry = snapshot.registries.values().find(|registry| registry.id == row.registry);
        // Removed between the two: its row went with it.
        Ok(registry.map(|registry| Job {
            registry: registry.name.clone(),
            cause: row.cause,
            attempts: row.attempts,
            due_at: row.due_at,
        }))
    }

    /// When the next job can be taken: when one is due, or the lease of another owner runs out.
    pub async fn next_job(&self, kind: JobKind, owner: &str) -> Result<Option<Milliseconds>, WriteError> {
        self.check_open()?;
        Ok(self.0.store.next_job(kind, owner).await?)
    }

    /// Keeps the jobs of an owner from being taken by others for longer.
    pub async fn renew_jobs(
        &self,
        kind: JobKind,
        owner: &str,
        until: Milliseconds,
    ) -> Result<(), WriteError> {
        self.check_open()?;
        Ok(self.0.store.renew_jobs(kind, owner, until).await?)
    }

    /// Gives a job back that is done for now, due again at `next`, or at once if it was asked for meanwhile. Tells
    /// when it is due; `None` if the job was not this owner's any more.
    pub async fn finish_job(
        &self,
        name: &RegistryName,
        kind: JobKind,
        owner: &str,
        attempts: u32,
        next: Milliseconds,
    ) -> Result<Option<Milliseconds>, WriteError> {
        self.check_open()?;
        let Some(registry) = self.0.registry(name) else { return Ok(None) };
        Ok(self.0.store.finish_job(registry.id, kind, owner, attempts, next).await?)
    }

    /// Frees the jobs of every owner but this one: for whoever knows that the others are dead, as the holder of the
    /// data directory does when it starts.
    pub async fn release_jobs(&self, kind: JobKind, owner: &str) -> Result<u64, WriteError> {
        self.check_open()?;
        Ok(self.0.store.release_jobs(kind, owner).await?)
    }

    /// There is nothing to do for a registry any more.
    pub async fn drop_job(&self, name: &RegistryName, kind: JobKind) -> Result<(), WriteError> {
        self.check_open()?;
        Ok(self.0.store.drop_job(name, kind).await?)
    }
}
