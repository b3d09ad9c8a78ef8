//! What hosts say of registries that were found there: read from memory, like everything readers see.

use std::sync::Arc;

use schema::RegistryName;

use super::Catalog;
use crate::error::WriteError;
use crate::snapshot::Viewer;
use crate::store::Discovered;

impl Catalog {
    /// What a host says of a registry; `None` if it was not found at one, or the viewer may not see it.
    pub fn discovered(&self, viewer: &Viewer, name: &RegistryName) -> Option<Discovered> {
        self.snapshot().registry(viewer, name)?;
        self.0.discovered.load().iter().find(|one| one.name == *name).cloned()
    }

    /// Everything hosts said at the last listing, by name: for whoever lists.
    pub fn all_discovered(&self) -> Arc<Vec<Discovered>> {
        self.0.discovered.load_full()
    }

    /// Replaces everything hosts said. The same again writes nothing.
    ///
    /// # Errors
    /// When the store does not take it; what was known before stays.
    pub async fn set_discovered(&self, mut all: Vec<Discovered>) -> Result<(), WriteError> {
        all.sort_by(|one, other| one.name.canonical().cmp(other.name.canonical()));
        all.dedup_by(|one, other| one.name == other.name);
        if *self.all_discovered() == all {
            return Ok(());
        }
        self.write(move |inner| async move {
            inner.check_open()?;
            inner.store.set_discovered(&all).await?;
            inner.discovered.store(Arc::new(all));
            Ok(())
        })
        .await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Options;

    #[tokio::test]
    async fn what_hosts_say_outlives_the_process_and_is_seen_with_the_registry() {
        let directory = tempfile::tempdir().unwrap();
        let discovered = |name: &str, stars| Discovered {
            name: name.parse().unwrap(),
            default_branch: "main".to_owned(),
            description: Some("Templates.".to_owned()),
            stars,
            missing_since: None,
        };
        let (catalog, _) = Catalog::open(directory.path(), Options::default()).await.unwrap();
        let name = "github.com/Acme/Templates".parse::<RegistryName>().unwrap();
        let all = vec![discovered("github.com/acme/b", 0), discovered("github.com/Acme/Templates", 7)];
        catalog.set_discovered(all.clone()).await.unwrap();
        assert_eq!(catalog.discovered(&Viewer::Operator, &name), None, "there is no such registry yet");
        catalog.add_registry(&name, "https://github.com/Acme/Templates.git", 1).await.unwrap();
        let statements = catalog.statements();
        catalog.set_discovered(all).await.unwrap();
        assert_eq!(catalog.statements(), statements, "the same again writes nothing");
        catalog.close().await;
        drop(catalog);
        let (catalog, _) = Catalog::open(directory.path(), Options::default()).await.unwrap();
        let statements = catalog.statements();
        let lower = "github.com/acme/templates".parse().unwrap();
        assert_eq!(catalog.discovered(&Viewer::Anonymous, &lower).unwrap().stars, 7);
        assert_eq!(catalog.statements(), statements, "reading runs no SQL");
    }
}
