//! Data directories as they are found: in use, damaged, from another time.

use std::fs;

use super::*;
use crate::{OpenError, StoreError};

#[tokio::test]
async fn a_directory_is_opened_once() {
    let (directory, catalog) = fresh().await;
    let second = Catalog::open(directory.path(), Options::default()).await;
    match second {
        Err(OpenError::InUse { pid, .. }) => assert_eq!(pid, Some(std::process::id())),
        other => panic!("{other:?}"),
    }
    catalog.close().await;
    let (_again, _) = open(directory.path()).await;
    assert!(catalog.publish(acme().publication).await.is_err(), "a closed catalogue takes nothing");
}

#[tokio::test]
async fn a_directory_that_cannot_be_made_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("file");
    fs::write(&file, "").unwrap();
    let error = Catalog::open(&file.join("data"), Options::default()).await.unwrap_err();
    assert!(matches!(&error, OpenError::Directory { path, .. } if *path == file.join("data")), "{error}");
    assert!(error.to_string().contains("writable"));
}

/// Attack row 33: a search index with files missing or damaged is found when opening, and built anew.
#[tokio::test]
async fn an_index_that_is_lost_or_damaged_is_built_anew() {
    let (directory, catalog) = fresh().await;
    acme().publish(&catalog).await;
    catalog.close().await;
    drop(catalog);
    let search = directory.path().join("search");

    fs::remove_dir_all(&search).unwrap();
    let (catalog, opened) = open(directory.path()).await;
    assert_eq!(opened.rebuilt, Some("there was none of this format"));
    check(&catalog);
    assert_eq!(
        catalog.search(ANYBODY, &Query::text("looked up often")).total,
        1,
        "the README is indexed again"
    );
    catalog.close().await;
    drop(catalog);

    let ours = fs::read_dir(&search).unwrap().next().unwrap().unwrap().path();
    let segment = fs::read_dir(&ours).unwrap().flatten().map(|entry| entry.path());
    let segment =
        segment.filter(|path| path.extension().is_some_and(|extension| extension == "idx")).max().unwrap();
    let mut bytes = fs::read(&segment).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0xff;
    fs::write(&segment, bytes).unwrap();
    let (catalog, opened) = open(directory.path()).await;
    assert_eq!(opened.rebuilt, Some("the index was damaged"));
    check(&catalog);
    catalog.close().await;
    drop(catalog);

    fs::write(ours.join("meta.json"), "{").unwrap();
    let (catalog, opened) = open(directory.path()).await;
    assert_eq!(opened.rebuilt, Some("the index was damaged"));
    check(&catalog);
}

#[tokio::test]
async fn an_index_of_another_store_is_not_believed() {
    let (directory, catalog) = fresh().await;
    acme().publish(&catalog).await;
    catalog.close().await;
    drop(catalog);
    for file in ["formwork.db", "formwork.db-wal", "formwork.db-shm"] {
        let _ = fs::remove_file(directory.path().join(file));
    }
    fs::create_dir_all(directory.path().join("search/0123456789abcdef")).unwrap();
    let (catalog, opened) = open(directory.path()).await;
    assert_eq!(opened.rebuilt, Some("the index is of another store or from its future"));
    assert!(
        !directory.path().join("search/0123456789abcdef").exists(),
        "indexes of other formats are removed"
    );
    assert_eq!(check(&catalog).len(), 0);
}

#[tokio::test]
async fn bytes_are_in_memory_after_opening_as_far_as_they_fit() {
    let (directory, catalog) = fresh().await;
    let mut registry = Registry::new("github.com/acme/templates");
    for at in 0..40 {
        registry = registry.version(
            &format!("t{at:02}:v1.0.0"),
            &[(&format!("t{at:02}.yaml"), &format!("{at} {}", "x".repeat(5_000)))],
        );
    }
    registry.publish(&catalog).await;
    catalog.close().await;
    drop(catalog);
    let (catalog, _) = open(directory.path()).await;
    catalog.warmed().await;
    for digest in registry.blobs.keys() {
        assert!(matches!(catalog.blob(ANYBODY, registry.name(), digest), Blob::Here(_)));
    }
    catalog.close().await;
    drop(catalog);

    let options = Options { cache_bytes: 50_000, ..Options::default() };
    let (catalog, _) = Catalog::open(directory.path(), options).await.unwrap();
    catalog.warmed().await;
    let cold =
        registry.blobs.keys().filter(|digest| catalog.blob(ANYBODY, registry.name(), digest) == Blob::Cold);
    assert!(cold.count() >= 30, "no more is in memory than fits");
    for (digest, content) in &registry.blobs {
        let bytes = catalog.blob_or_load(ANYBODY, registry.name(), digest).await.unwrap();
        assert_eq!(bytes.as_deref(), Some(&content[..]));
    }
}

/// Attack row 33: bytes that are not those of their digest are an error, never an answer.
#[tokio::test]
async fn bytes_that_rotted_are_not_served() {
    let (directory, catalog) = fresh().await;
    let content = "some content that is long enough to be compressed, to be compressed, to be compressed";
    let registry = Registry::new("github.com/acme/templates").version("a:v1.0.0", &[("a.yaml", content)]);
    registry.publish(&catalog).await;
    catalog.close().await;
    drop(catalog);
    let path = directory.path().join("formwork.db");
    let stored = zstd::bulk::compress(content.as_bytes(), 3).unwrap();
    let mut bytes = fs::read(&path).unwrap();
    let at = bytes.windows(stored.len()).position(|window| window == stored).unwrap();
    bytes[at + stored.len() - 3] ^= 1;
    fs::write(&path, bytes).unwrap();
    let (catalog, _) = open(directory.path()).await;
    catalog.warmed().await;
    let digest = schema::Digest::of(content.as_bytes());
    let error = catalog.blob_or_load(ANYBODY, registry.name(), &digest).await.unwrap_err();
    assert!(matches!(error.0, StoreError::Damaged { .. }), "{error}");
    assert_eq!(catalog.snapshot().counts(ANYBODY).versions, 1, "everything else is as it was");
}
