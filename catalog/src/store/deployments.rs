//! The rows of deployments, their manifests, and names of registries. What is over is never given, whether it was
//! cleaned up already or not.

use sqlx::sqlite::SqliteRow;

use super::write::Transaction;
use super::{Store, queries};
use crate::deployments::{Deployment, DeploymentLimits, NamedRegistry, Owner, Refusal};
use crate::error::StoreError;

/// Nanoseconds in a second.
const SECOND: i64 = 1_000_000_000;

/// Whether a deployment is recorded for the first time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Recording {
    /// There must be none of that name.
    New,
    /// There must be one.
    Again,
}

impl Store {
    /// Records a deployment with a further manifest. One transaction; what is over goes first, so that it takes no
    /// room. `now` is in nanoseconds and becomes the manifest's number.
    pub(crate) async fn record(
        &self,
        owner: &Owner,
        name: &str,
        recording: Recording,
        manifest: Vec<u8>,
        limits: &DeploymentLimits,
        now: i64,
    ) -> Result<Result<Deployment, Refusal>, StoreError> {
        let mut connection = self.writer.lock().await;
        let mut transaction = self.begin(&mut connection).await?;
        transaction.run(self.query(&queries::FORGET_DEPLOYMENTS).bind(now / SECOND)).await?;
        let size = manifest.len() as u64;
        let expires = now / SECOND + i64::from(limits.lifetime);
        let statement = match recording {
            Recording::New => &queries::ADD_DEPLOYMENT,
            Recording::Again => &queries::CHANGE_DEPLOYMENT,
        };
        let query = self.query(statement).bind(owner.as_str().to_owned()).bind(name.to_owned());
        let Some(row) = transaction.row(query.bind(now).bind(expires)).await? else {
            let name = name.to_owned();
            return Ok(Err(match recording {
                Recording::New => Refusal::Exists(name),
                Recording::Again => Refusal::Unknown(name),
            }));
        };
        let id = self.get::<i64>(&row, 0)?;
        let add = self.query(&queries::ADD_MANIFEST).bind(id).bind(now).bind(size as i64);
        transaction.run(add.bind(manifest)).await?;
        let keep = self.query(&queries::KEEP_MANIFESTS).bind(id).bind(i64::from(limits.manifests.max(1)));
        transaction.run(keep).await?;
        // Measured with it, and taken back if that is too much: dropping the transaction undoes everything.
        if let Some(full) = self.full(&mut transaction, owner, limits).await? {
            return Ok(Err(Refusal::Full(full)));
        }
        let query = self.query(&queries::FIND_DEPLOYMENT).bind(owner.as_str().to_owned());
        let row = transaction.row(query.bind(now / SECOND).bind(name.to_owned())).await?;
        let deployment = row.as_ref().map(|row| self.deployment_of(row)).transpose()?;
        transaction.commit().await?;
        Ok(deployment.ok_or_else(|| Refusal::Unknown(name.to_owned())))
    }

    /// What is too much now, if anything is.
    async fn full(
        &self,
        transaction: &mut Transaction<'_>,
        owner: &Owner,
        limits: &DeploymentLimits,
    ) -> Result<Option<String>, StoreError> {
        let counts = self.query(&queries::COUNT_DEPLOYMENTS).bind(owner.as_str().to_owned());
        let (all, own) = self.two_numbers(transaction.row(counts).await?)?;
        let sizes = self.query(&queries::MEASURE_MANIFESTS).bind(owner.as_str().to_owned());
        let (all_bytes, own_bytes) = self.two_numbers(transaction.row(sizes).await?)?;
        let mib = |bytes: u64| bytes >> 20;
        Ok(if own > u64::from(limits.each) {
            Some(format!("there are {} deployments of yours already; delete one first", limits.each))
        } else if own_bytes > limits.each_bytes {
            Some(format!(
                "your deployments would take more than {} MiB; delete one first",
                mib(limits.each_bytes)
            ))
        } else if all > limits.all() || all_bytes > limits.all_bytes() {
            Some("there is no room for further deployments on this server; try again later".to_owned())
        } else {
            None
        })
    }

    fn two_numbers(&self, row: Option<SqliteRow>) -> Result<(u64, u64), StoreError> {
        let row = row.ok_or_else(|| self.damaged("a count gave no row"))?;
        Ok((self.get::<i64>(&row, 0)? as u64, self.get::<i64>(&row, 1)? as u64))
    }

    fn deployment_of(&self, row: &SqliteRow) -> Result<Deployment, StoreError> {
        Ok(Deployment {
            name: self.get(row, 0)?,
            created_at: self.get(row, 1)?,
            modified_at: self.get(row, 2)?,
            latest: self.get::<Option<i64>>(row, 3)?.unwrap_or_default(),
        })
    }

    /// Removes a deployment; what it was, if there was one.
    pub(crate) async fn remove_deployment(
        &self,
        owner: &Owner,
        name: &str,
        now: i64,
    ) -> Result<Option<Deployment>, StoreError> {
        let mut connection = self.writer.lock().await;
        let mut transaction = self.begin(&mut connection).await?;
        let find = self.query(&queries::FIND_DEPLOYMENT).bind(owner.as_str().to_owned());
        let row = transaction.row(find.bind(now / SECOND).bind(name.to_owned())).await?;
        let found = row.as_ref().map(|row| self.deployment_of(row)).transpose()?;
        let remove = self.query(&queries::REMOVE_DEPLOYMENT).bind(owner.as_str().to_owned());
        transaction.run(remove.bind(name.to_owned())).await?;
        transaction.commit().await?;
        Ok(found)
    }

    /// Every deployment of an owner, oldest first.
    pub(crate) async fn deployments(&self, owner: &Owner, now: i64) -> Result<Vec<Deployment>, StoreError> {
        let query = self.query(&queries::LIST_DEPLOYMENTS).bind(owner.as_str().to_owned()).bind(now / SECOND);
        let rows = query.fetch_all(&self.readers).await.map_err(|error| self.error(error))?;
        rows.iter().map(|row| self.deployment_of(row)).collect()
    }

    pub(crate) async fn deployment(
        &self,
        owner: &Owner,
        name: &str,
        now: i64,
    ) -> Result<Option<Deployment>, StoreError> {
        let query = self.query(&queries::FIND_DEPLOYMENT).bind(owner.as_str().to_owned()).bind(now / SECOND);
        let query = query.bind(name.to_owned());
        let row = query.fetch_optional(&self.readers).await.map_err(|error| self.error(error))?;
        row.as_ref().map(|row| self.deployment_of(row)).transpose()
    }

    /// The numbers of a deployment's manifests, oldest first; none for a deployment that is not there.
    pub(crate) async fn manifests(
        &self,
        owner: &Owner,
        name: &str,
        now: i64,
    ) -> Result<Vec<i64>, StoreError> {
        let query = self.query(&queries::LIST_MANIFESTS).bind(owner.as_str().to_owned()).bind(now / SECOND);
        let query = query.bind(name.to_owned());
        let rows = query.fetch_all(&self.readers).await.map_err(|error| self.error(error))?;
        rows.iter().map(|row| self.get(row, 0)).collect()
    }

    pub(crate) async fn manifest(
        &self,
        owner: &Owner,
        name: &str,
        number: i64,
        now: i64,
    ) -> Result<Option<Vec<u8>>, StoreError> {
        let query = self.query(&queries::LOAD_MANIFEST).bind(owner.as_str().to_owned()).bind(now / SECOND);
        let query = query.bind(name.to_owned()).bind(number);
        let row = query.fetch_optional(&self.readers).await.map_err(|error| self.error(error))?;
        row.as_ref().map(|row| self.get(row, 0)).transpose()
    }

    /// Removes everything that is over.
    pub(crate) async fn forget_deployments(&self, now: i64) -> Result<u64, StoreError> {
        let gone = self.changed(self.query(&queries::FORGET_DEPLOYMENTS).bind(now / SECOND)).await?;
        self.changed(self.query(&queries::FORGET_REGISTRY_NAMES).bind(now / SECOND)).await?;
        Ok(gone)
    }

    /// Gives a registry a name, or says something else of one that has it. One transaction.
    pub(crate) async fn name_registry(
        &self,
        owner: &Owner,
        named: &NamedRegistry,
        limits: &DeploymentLimits,
        now: i64,
    ) -> Result<Result<(), Refusal>, StoreError> {
        let mut connection = self.writer.lock().await;
        let mut transaction = self.begin(&mut connection).await?;
        transaction.run(self.query(&queries::FORGET_REGISTRY_NAMES).bind(now / SECOND)).await?;
        let owner = owner.as_str().to_owned();
        let count = self.query(&queries::COUNT_REGISTRY_NAMES).bind(owner.clone()).bind(named.name.clone());
        let (all, own) = self.two_numbers(transaction.row(count).await?)?;
        if own >= u64::from(limits.each) || all >= limits.all() {
            let full = "there are as many names for registries as may be; they end by themselves";
            return Ok(Err(Refusal::Full(full.to_owned())));
        }
        let add = self.query(&queries::NAME_REGISTRY).bind(owner).bind(named.name.clone());
        let expires = now / SECOND + i64::from(limits.lifetime);
        transaction.run(add.bind(named.content.clone()).bind(expires)).await?;
        transaction.commit().await?;
        Ok(Ok(()))
    }

    /// The names an owner gave to registries, in order.
    pub(crate) async fn registry_names(
        &self,
        owner: &Owner,
        now: i64,
    ) -> Result<Vec<NamedRegistry>, StoreError> {
        let query =
            self.query(&queries::LIST_REGISTRY_NAMES).bind(owner.as_str().to_owned()).bind(now / SECOND);
        let rows = query.fetch_all(&self.readers).await.map_err(|error| self.error(error))?;
        rows.iter()
            .map(|row| Ok(NamedRegistry { name: self.get(row, 0)?, content: self.get(row, 1)? }))
            .collect()
    }
}
