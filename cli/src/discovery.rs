//! Registries that are found at GitHub: looked for now and then, kept up to date like any other, and left as they are
//! when they are found no longer.
//!
//! Every round starts from a listing that is whole. What is new in it is added; what is missing from it is detached,
//! which keeps what was published; what somebody gave by hand is not touched, whatever GitHub says of it.

use std::path::Path;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::Context;
use catalog::{Catalog, Discovered, Origin, Viewer};
use github::{Found, Github};
use indexer::{Indexer, RegistryConfig, Source, State};
use schema::RegistryName;

use crate::settings::Discovery;

/// Looks for registries until it is dropped. `given` are those of the settings.
pub(crate) async fn keep_looking(
    discovery: Discovery,
    given: Vec<RegistryName>,
    catalog: Catalog,
    indexer: Arc<Indexer>,
) {
    let round = Round { given, catalog, indexer };
    let mut github = None;
    loop {
        // Made where it may fail again and again: a machine without certificates gets some one day.
        if github.is_none() {
            match Github::new(discovery.config.clone()) {
                Ok(made) => github = Some(made),
                Err(error) => tracing::warn!(%error, "registries cannot be looked for"),
            }
        }
        if let Some(github) = &github
            && let Err(error) = round.look(github).await
        {
            tracing::warn!(
                error = format!("{error:#}"),
                "registries were not looked for; those that were found before stay"
            );
        }
        tokio::time::sleep(discovery.interval).await;
    }
}

struct Round {
    given: Vec<RegistryName>,
    catalog: Catalog,
    indexer: Arc<Indexer>,
}

impl Round {
    async fn look(&self, github: &Github) -> anyhow::Result<()> {
        let found = github.discover().await?;
        let known = self.catalog.all_discovered();
        let is_known = |name: &RegistryName| known.iter().any(|one| one.name == *name);
        let found = found
            .into_iter()
            .filter(|one| !one.private && self.may_be_ours(&one.name, is_known(&one.name)))
            .collect::<Vec<_>>();
        let missing = known
            .iter()
            .filter(|one| !self.given.contains(&one.name))
            .filter(|one| !found.iter().any(|other| other.name == one.name))
            .map(|one| Discovered { missing_since: one.missing_since.or(Some(now())), ..one.clone() })
            .collect::<Vec<_>>();
        // Said first: a crash between here and there leaves names that the next round knows to be its own.
        let said = found.iter().map(said).chain(missing.iter().cloned()).collect();
        self.catalog.set_discovered(said).await.context("what GitHub says could not be stored")?;
        for one in &found {
            self.keep(one).await?;
        }
        for one in &missing {
            if self.is_kept(&one.name) {
                tracing::warn!(registry = %one.name, "is not found at GitHub any more: served as it was, and not brought up to date");
                self.indexer.detach(&one.name).await?;
            }
        }
        tracing::debug!(found = found.len(), missing = missing.len(), "looked for registries");
        Ok(())
    }

    /// Whether a name may be taken: nobody gave it, and no administrator added it.
    fn may_be_ours(&self, name: &RegistryName, known: bool) -> bool {
        !self.given.contains(name) && (known || !self.is_kept(name))
    }

    /// Whether a registry is being brought up to date.
    fn is_kept(&self, name: &RegistryName) -> bool {
        let status = self.indexer.status();
        status.iter().any(|status| status.name == *name && status.state != State::Detached)
    }

    /// Adds a registry, unless it is kept from that very source already.
    async fn keep(&self, found: &Found) -> anyhow::Result<()> {
        let source = Source::parse(&found.clone_url, Path::new("/"))
            .with_context(|| format!("{} is no source of {}", found.clone_url, found.name))?;
        let snapshot = self.catalog.snapshot();
        let before = snapshot.registry(&Viewer::Operator, &found.name);
        if self.is_kept(&found.name) && before.is_some_and(|before| before.source == source.to_string()) {
            return Ok(());
        }
        // Of no branch: the default one is followed even when it becomes another. Who may see it stays as it is.
        let registry = RegistryConfig::new(found.name.clone(), source);
        self.indexer.add_from(registry, Origin::Discovered).await?;
        tracing::info!(registry = %found.name, "found at GitHub");
        Ok(())
    }
}

fn said(found: &Found) -> Discovered {
    Discovered {
        name: found.name.clone(),
        default_branch: found.default_branch.clone(),
        description: found.description.clone(),
        stars: found.stars,
        missing_since: None,
    }
}

fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() as i64)
}
