//! Whole walks through the catalogue: publishing, reading, crashing, opening again, searching.

mod checking;
mod crashes;
mod history;
mod jobs;
mod opening;
mod publishing;
mod relevance;
mod reporting;
mod resolving;
mod searching;
mod seeing;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use crate::testing::Registry;
use crate::{Blob, Catalog, Faults, Opened, Options, Policy, Query, Snapshot, Viewer};

const ANYBODY: &Viewer = &Viewer::Anonymous;

async fn open(directory: &Path) -> (Catalog, Opened) {
    Catalog::open(directory, Options::default()).await.unwrap()
}

/// A fresh catalogue in which versions settle at once or never, and go in any number.
async fn fresh_with(policy: Policy) -> (tempfile::TempDir, Catalog) {
    let directory = tempfile::tempdir().unwrap();
    let options = Options { policy, ..Options::default() };
    let (catalog, _) = Catalog::open(directory.path(), options).await.unwrap();
    (directory, catalog)
}

async fn open_with(directory: &Path, faults: &Faults) -> Catalog {
    let options = Options { faults: faults.clone(), ..Options::default() };
    Catalog::open(directory, options).await.unwrap().0
}

async fn fresh() -> (tempfile::TempDir, Catalog) {
    let directory = tempfile::tempdir().unwrap();
    let (catalog, _) = open(directory.path()).await;
    (directory, catalog)
}

/// A small registry in two collections.
fn acme() -> Registry {
    Registry::new("github.com/acme/templates")
        .version(
            "redis:v1.0.0",
            &[
                ("redis.yaml", "one"),
                ("README.md", "# Redis\n\nA store for things that are looked up often."),
            ],
        )
        .described("An in-memory store")
        .version(
            "redis:v1.0.1",
            &[
                ("redis.yaml", "two"),
                ("README.md", "# Redis\n\nA store for things that are looked up often."),
            ],
        )
        .described("An in-memory store")
        .version("db/postgres:v1.0.0", &[("postgres.jinja", "p")])
        .described("A relational database")
}

/// Everything readers see, and nothing of how it is shared: what must be equal before and after a restart.
fn seen(snapshot: &Snapshot) -> Snapshot {
    let mut snapshot = snapshot.clone();
    for registry in snapshot.registries.clone().values() {
        let mut plain = crate::RegistrySnapshot::clone(registry);
        // Of several versions of one content either may stand for it.
        plain.contents =
            plain.contents.keys().copied().map(|digest| (digest, any_of(registry, &digest))).collect();
        snapshot.registries.insert(registry.name.clone(), Arc::new(plain));
    }
    snapshot
}

/// The first version of a content, in the order of names.
fn any_of(registry: &crate::RegistrySnapshot, digest: &schema::Digest) -> Arc<crate::VersionSnapshot> {
    let templates = registry.templates().chain(registry.gone.values());
    let mut versions = templates.flat_map(|template| template.everything());
    versions.find(|version| version.digest == *digest).expect("a content belongs to a version").clone()
}

/// Holds what must hold of any catalogue at rest, and says what it has, by names.
fn check(catalog: &Catalog) -> BTreeSet<String> {
    let snapshot = catalog.snapshot();
    assert_eq!(catalog.search_generation(), snapshot.generation, "the index is of the snapshot's generation");
    let mut listed = BTreeSet::new();
    for registry in snapshot.registries.values() {
        for template in registry.templates() {
            assert!(!template.versions.is_empty(), "{} is listed without versions", template.location);
            for version in template.versions.values() {
                listed.insert(format!("{}:{}@{}", template.location, version.version, version.digest));
                for file in version.files.iter() {
                    assert_ne!(catalog.blob(ANYBODY, &registry.name, &file.digest), Blob::Absent);
                }
            }
        }
        for template in registry.gone.values() {
            assert!(template.versions.is_empty());
        }
    }
    let everything = catalog.search(ANYBODY, &Query { limit: 100, ..Query::default() });
    let found = everything.hits.iter().map(|hit| hit.location.to_string()).collect::<BTreeSet<_>>();
    let templates = snapshot.registries.values().flat_map(|registry| {
        registry.templates().map(|template| template.location.to_string()).collect::<Vec<_>>()
    });
    assert_eq!(found, templates.collect(), "the index has what is listed");
    assert_eq!(everything.total as usize, found.len());
    listed
}
