//! Jobs and origins as rows. Each call is one statement, so that two askers cannot tread on each other.

use schema::RegistryName;

use super::{Store, queries};
use crate::error::StoreError;
use crate::jobs::{JobKind, Milliseconds, Origin, Remembered};

/// A job that was taken, by the key of its registry.
#[derive(Debug)]
pub(crate) struct TakenRow {
    pub(crate) registry: i64,
    pub(crate) cause: String,
    pub(crate) attempts: u32,
    pub(crate) due_at: Milliseconds,
}

impl Store {
    pub(crate) async fn ask_job(
        &self,
        name: &RegistryName,
        kind: JobKind,
        cause: &str,
        now: Milliseconds,
    ) -> Result<bool, StoreError> {
        let query = self.query(&queries::ASK_JOB).bind(name.canonical().to_owned()).bind(kind.as_str());
        Ok(self.changed(query.bind(now).bind(cause.to_owned())).await? > 0)
    }

    pub(crate) async fn take_job(
        &self,
        kind: JobKind,
        owner: &str,
        now: Milliseconds,
        until: Milliseconds,
    ) -> Result<Option<TakenRow>, StoreError> {
        let query = self.query(&queries::TAKE_JOB).bind(kind.as_str()).bind(now);
        let query = query.bind(owner.to_owned()).bind(until);
        let mut connection = self.writer.lock().await;
        let row = query.fetch_optional(&mut *connection).await.map_err(|e| self.error(e))?;
        row.map(|row| {
            Ok(TakenRow {
                registry: self.get(&row, 0)?,
                cause: self.get(&row, 1)?,
                attempts: self.get(&row, 2)?,
                due_at: self.get(&row, 3)?,
            })
        })
        .transpose()
    }

    pub(crate) async fn next_job(
        &self,
        kind: JobKind,
        owner: &str,
    ) -> Result<Option<Milliseconds>, StoreError> {
        let query = self.query(&queries::NEXT_JOB).bind(kind.as_str()).bind(owner.to_owned());
        let mut connection = self.writer.lock().await;
        let row = query.fetch_one(&mut *connection).await.map_err(|e| self.error(e))?;
        self.get(&row, 0)
    }

    pub(crate) async fn renew_jobs(
        &self,
        kind: JobKind,
        owner: &str,
        until: Milliseconds,
    ) -> Result<(), StoreError> {
        let query = self.query(&queries::RENEW_JOBS).bind(kind.as_str()).bind(owner.to_owned()).bind(until);
        self.changed(query).await.map(|_| ())
    }

    pub(crate) async fn finish_job(
        &self,
        registry: i64,
        kind: JobKind,
        owner: &str,
        attempts: u32,
        next: Milliseconds,
    ) -> Result<Option<Milliseconds>, StoreError> {
        let query = self.query(&queries::FINISH_JOB).bind(registry).bind(kind.as_str());
        let query = query.bind(owner.to_owned()).bind(i64::from(attempts)).bind(next);
        let mut connection = self.writer.lock().await;
        let row = query.fetch_optional(&mut *connection).await.map_err(|e| self.error(e))?;
        row.map(|row| self.get(&row, 0)).transpose()
    }

    pub(crate) async fn release_jobs(&self, kind: JobKind, owner: &str) -> Result<u64, StoreError> {
        self.changed(self.query(&queries::RELEASE_JOBS).bind(kind.as_str()).bind(owner.to_owned())).await
    }

    pub(crate) async fn drop_job(&self, name: &RegistryName, kind: JobKind) -> Result<(), StoreError> {
        let query = self.query(&queries::DROP_JOB).bind(name.canonical().to_owned()).bind(kind.as_str());
        self.changed(query).await.map(|_| ())
    }

    /// Who asked for each registry, by name.
    pub(crate) async fn origins(&self) -> Result<Vec<Remembered>, StoreError> {
        let mut connection = self.writer.lock().await;
        let query = self.query(&queries::ORIGINS);
        let rows = query.fetch_all(&mut *connection).await.map_err(|e| self.error(e))?;
        let read = |row| {
            let (name, origin) = (self.get::<String>(row, 0)?, self.get::<String>(row, 1)?);
            Ok(Remembered {
                name: name.parse().map_err(|error| self.damaged(format!("{error}")))?,
                origin: Origin::from_stored(&origin)
                    .ok_or_else(|| self.damaged(format!("`{origin}` is no origin of a registry")))?,
                config: self.get(row, 2)?,
            })
        };
        rows.iter().map(read).collect()
    }

    /// Runs a statement of its own; how many rows it changed.
    pub(super) async fn changed(&self, query: super::Query) -> Result<u64, StoreError> {
        let mut connection = self.writer.lock().await;
        let done = query.execute(&mut *connection).await.map_err(|e| self.error(e))?;
        Ok(done.rows_affected())
    }
}
