//! Deployments and names for registries: readers of registries see nothing of them, so they make no generation.

use super::Catalog;
use crate::deployments::{Deployment, DeploymentLimits, NamedRegistry, Owner, Refusal};
use crate::error::{ReadError, WriteError};
use crate::store::Recording;

impl Catalog {
    /// Records a deployment that is new, with its first manifest. `now` is in nanoseconds since 1970, UTC, and is the
    /// manifest's number.
    ///
    /// # Errors
    /// When the store does not take it. A [`Refusal`] is no error of the store.
    pub async fn deploy(
        &self,
        owner: &Owner,
        name: &str,
        manifest: Vec<u8>,
        limits: DeploymentLimits,
        now: i64,
    ) -> Result<Result<Deployment, Refusal>, WriteError> {
        self.record(owner, name, Recording::New, manifest, limits, now).await
    }

    /// Records a deployment that is there once more, with a further manifest; it lives on from now.
    ///
    /// # Errors
    /// When the store does not take it.
    pub async fn redeploy(
        &self,
        owner: &Owner,
        name: &str,
        manifest: Vec<u8>,
        limits: DeploymentLimits,
        now: i64,
    ) -> Result<Result<Deployment, Refusal>, WriteError> {
        self.record(owner, name, Recording::Again, manifest, limits, now).await
    }

    async fn record(
        &self,
        owner: &Owner,
        name: &str,
        recording: Recording,
        manifest: Vec<u8>,
        limits: DeploymentLimits,
        now: i64,
    ) -> Result<Result<Deployment, Refusal>, WriteError> {
        let (owner, name) = (owner.clone(), name.to_owned());
        self.write(move |inner| async move {
            inner.check_open()?;
            Ok(inner.store.record(&owner, &name, recording, manifest, &limits, now).await?)
        })
        .await
    }

    /// Forgets a deployment with its manifests; what it was, if there was one.
    ///
    /// # Errors
    /// When the store does not take it.
    pub async fn undeploy(
        &self,
        owner: &Owner,
        name: &str,
        now: i64,
    ) -> Result<Option<Deployment>, WriteError> {
        let (owner, name) = (owner.clone(), name.to_owned());
        self.write(move |inner| async move {
            inner.check_open()?;
            Ok(inner.store.remove_deployment(&owner, &name, now).await?)
        })
        .await
    }

    /// Forgets whatever is over, and says how many deployments that were.
    ///
    /// # Errors
    /// When the store does not take it.
    pub async fn forget_deployments(&self, now: i64) -> Result<u64, WriteError> {
        self.write(move |inner| async move {
            inner.check_open()?;
            Ok(inner.store.forget_deployments(now).await?)
        })
        .await
    }

    /// The deployments of an owner, oldest first.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn deployments(&self, owner: &Owner, now: i64) -> Result<Vec<Deployment>, ReadError> {
        Ok(self.0.store.deployments(owner, now).await?)
    }

    /// A deployment of an owner.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn deployment(
        &self,
        owner: &Owner,
        name: &str,
        now: i64,
    ) -> Result<Option<Deployment>, ReadError> {
        Ok(self.0.store.deployment(owner, name, now).await?)
    }

    /// The numbers of a deployment's manifests, oldest first; none for one that is not there.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn manifests(&self, owner: &Owner, name: &str, now: i64) -> Result<Vec<i64>, ReadError> {
        Ok(self.0.store.manifests(owner, name, now).await?)
    }

    /// A manifest of a deployment.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn manifest(
        &self,
        owner: &Owner,
        name: &str,
        number: i64,
        now: i64,
    ) -> Result<Option<Vec<u8>>, ReadError> {
        Ok(self.0.store.manifest(owner, name, number, now).await?)
    }

    /// Gives a registry a name for its owner's requests.
    ///
    /// # Errors
    /// When the store does not take it.
    pub async fn name_registry(
        &self,
        owner: &Owner,
        named: &NamedRegistry,
        limits: DeploymentLimits,
        now: i64,
    ) -> Result<Result<(), Refusal>, WriteError> {
        let (owner, named) = (owner.clone(), named.clone());
        self.write(move |inner| async move {
            inner.check_open()?;
            Ok(inner.store.name_registry(&owner, &named, &limits, now).await?)
        })
        .await
    }

    /// The names an owner gave to registries.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn registry_names(&self, owner: &Owner, now: i64) -> Result<Vec<NamedRegistry>, ReadError> {
        Ok(self.0.store.registry_names(owner, now).await?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Options;

    const SECOND: i64 = 1_000_000_000;

    async fn fresh() -> (tempfile::TempDir, Catalog) {
        let directory = tempfile::tempdir().unwrap();
        let (catalog, _) = Catalog::open(directory.path(), Options::default()).await.unwrap();
        (directory, catalog)
    }

    fn limits() -> DeploymentLimits {
        DeploymentLimits { each: 2, each_bytes: 100, manifests: 2, lifetime: 60 }
    }

    #[tokio::test]
    async fn deployments_are_their_owners_and_outlive_the_process() {
        let (directory, catalog) = fresh().await;
        let (own, other) = (Owner::local(), Owner("a1".to_owned()));
        let first = catalog.deploy(&own, "shop", b"1".to_vec(), limits(), 5 * SECOND).await.unwrap().unwrap();
        assert_eq!((first.created_at, first.modified_at, first.latest), (5 * SECOND, 5 * SECOND, 5 * SECOND));
        let again = catalog.deploy(&own, "shop", b"1".to_vec(), limits(), 6 * SECOND).await.unwrap();
        assert_eq!(again, Err(Refusal::Exists("shop".to_owned())));
        assert!(catalog.deploy(&other, "shop", b"2".to_vec(), limits(), 6 * SECOND).await.unwrap().is_ok());
        let second = catalog.redeploy(&own, "shop", b"3".to_vec(), limits(), 7 * SECOND).await.unwrap();
        assert_eq!(second.unwrap().latest, 7 * SECOND);
        let unknown = catalog.redeploy(&own, "other", b"3".to_vec(), limits(), 7 * SECOND).await.unwrap();
        assert_eq!(unknown, Err(Refusal::Unknown("other".to_owned())));
        catalog.close().await;
        drop(catalog);
        let (catalog, _) = Catalog::open(directory.path(), Options::default()).await.unwrap();
        let names = |all: Vec<Deployment>| all.into_iter().map(|one| one.name).collect::<Vec<_>>();
        assert_eq!(names(catalog.deployments(&own, 8 * SECOND).await.unwrap()), ["shop"]);
        assert_eq!(catalog.manifests(&own, "shop", 8 * SECOND).await.unwrap(), [5 * SECOND, 7 * SECOND]);
        let manifest = catalog.manifest(&own, "shop", 7 * SECOND, 8 * SECOND).await.unwrap();
        assert_eq!(manifest.as_deref(), Some(&b"3"[..]));
        assert_eq!(catalog.manifest(&other, "shop", 7 * SECOND, 8 * SECOND).await.unwrap(), None);
        assert!(catalog.undeploy(&own, "shop", 8 * SECOND).await.unwrap().is_some());
        assert!(catalog.undeploy(&own, "shop", 8 * SECOND).await.unwrap().is_none());
        assert_eq!(catalog.manifests(&own, "shop", 8 * SECOND).await.unwrap(), [0_i64; 0]);
        assert_eq!(names(catalog.deployments(&other, 8 * SECOND).await.unwrap()), ["shop"]);
    }

    #[tokio::test]
    async fn quotas_hold_and_what_is_over_takes_no_room() {
        let (_directory, catalog) = fresh().await;
        let own = Owner::local();
        let record = async |name: &str, bytes: usize, at: i64| {
            catalog.deploy(&own, name, vec![0; bytes], limits(), at * SECOND).await.unwrap()
        };
        let full = |refused: Result<Deployment, Refusal>| matches!(refused, Err(Refusal::Full(_)));
        assert!(record("a", 60, 1).await.is_ok());
        assert!(full(record("b", 60, 2).await), "bytes");
        assert!(record("b", 10, 3).await.is_ok());
        assert!(full(record("c", 1, 4).await), "count");
        // Manifests of one deployment give way to newer ones, and their bytes with them.
        for at in 5..8 {
            let again = catalog.redeploy(&own, "b", vec![0; 20], limits(), at * SECOND).await.unwrap();
            assert!(again.is_ok(), "{again:?}");
        }
        assert_eq!(catalog.manifests(&own, "b", 8 * SECOND).await.unwrap(), [6 * SECOND, 7 * SECOND]);
        // `a` is over at 61, `b` lives on from when it was last recorded.
        assert!(catalog.deployment(&own, "a", 61 * SECOND).await.unwrap().is_none());
        assert!(record("c", 1, 61).await.is_ok());
        assert_eq!(catalog.forget_deployments(200 * SECOND).await.unwrap(), 2);
        // Others count for all.
        for owner in 0..10 {
            let owner = Owner(format!("t{owner}"));
            for name in ["x", "y"] {
                assert!(catalog.deploy(&owner, name, vec![0], limits(), 201 * SECOND).await.unwrap().is_ok());
            }
        }
        assert!(full(record("z", 1, 202).await), "in all");
    }

    #[tokio::test]
    async fn registries_have_names_for_a_while() {
        let (_directory, catalog) = fresh().await;
        let own = Owner::local();
        let named = |name: &str, content: &str| NamedRegistry { name: name.into(), content: content.into() };
        let give = async |name: &str, content: &str, at: i64| {
            catalog.name_registry(&own, &named(name, content), limits(), at * SECOND).await.unwrap()
        };
        assert!(give("acme", "1", 1).await.is_ok() && give("acme", "2", 2).await.is_ok());
        assert!(give("other", "3", 2).await.is_ok() && give("third", "4", 2).await.is_err());
        let all = catalog.registry_names(&own, 3 * SECOND).await.unwrap();
        assert_eq!(all, [named("acme", "2"), named("other", "3")]);
        assert!(catalog.registry_names(&Owner("a1".into()), 3 * SECOND).await.unwrap().is_empty());
        assert!(catalog.registry_names(&own, 63 * SECOND).await.unwrap().is_empty());
    }
}
