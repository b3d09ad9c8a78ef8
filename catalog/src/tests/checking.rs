//! `fsck` finds what does not hold, and mends what is derived; a healthy store is left as it is.

use sqlx::{Connection, SqliteConnection};

use super::*;
use crate::fsck::{Checked, Invariant, Remedy, fsck};

async fn checked(directory: &Path, repair: bool) -> Checked {
    fsck(directory, repair, &mut |_| {}).await.unwrap()
}

fn found(checked: &Checked) -> Vec<(Invariant, Remedy)> {
    checked.broken.iter().map(|broken| (broken.invariant, broken.remedy)).collect()
}

/// A store with the small registry in it, and then whatever a test does to its rows.
async fn broken_by(statements: &[&'static str]) -> tempfile::TempDir {
    let (directory, catalog) = fresh().await;
    acme().publish(&catalog).await;
    catalog.close().await;
    drop(catalog);
    let url = format!("sqlite://{}", directory.path().join("formwork.db").display());
    let mut connection = SqliteConnection::connect(&url).await.unwrap();
    for statement in statements {
        sqlx::query(*statement).execute(&mut connection).await.unwrap();
    }
    connection.close().await.unwrap();
    directory
}

#[tokio::test]
async fn a_healthy_store_has_nothing_wrong() {
    let directory = broken_by(&[]).await;
    let checked = checked(directory.path(), false).await;
    assert_eq!(checked.broken, []);
    let found = (checked.revisions, checked.blobs, checked.changes, checked.templates);
    assert_eq!(found, (3, 4, 4, 2), "adding the registry is a change too");
}

#[tokio::test]
async fn orphaned_bytes_and_rows_ahead_are_collected() {
    let directory = broken_by(&[
        "INSERT INTO blobs (digest, size, encoding, content) VALUES (zeroblob(32), 1, 0, x'00')",
        "INSERT INTO revisions (registry, collection, template, version, digest, kind, entry, files, inspection, path)
         SELECT registry, collection, template, 'v9.0.0', zeroblob(32), kind, entry, '[]', inspection, path FROM revisions LIMIT 1",
    ])
    .await;
    let left = [(Invariant::RevisionPublished, Remedy::Repair), (Invariant::BlobNamed, Remedy::Repair)];
    assert_eq!(found(&checked(directory.path(), false).await), left);
    let mended = left.map(|(invariant, _)| (invariant, Remedy::Repaired));
    assert_eq!(found(&checked(directory.path(), true).await), mended);
    assert_eq!(found(&checked(directory.path(), false).await), []);
}

#[tokio::test]
async fn damaged_and_missing_bytes_are_read_again() {
    let directory = broken_by(&[
        "UPDATE blobs SET content = x'00', encoding = 0 WHERE id = (SELECT MIN(id) FROM blobs)",
        "DELETE FROM blobs WHERE id = (SELECT MAX(id) FROM blobs)",
        "UPDATE revisions SET tree_id = 'known'",
    ])
    .await;
    let checked_once = checked(directory.path(), false).await;
    let invariants =
        found(&checked_once).into_iter().map(|(invariant, _)| invariant).collect::<BTreeSet<_>>();
    assert_eq!(invariants, BTreeSet::from([Invariant::BlobDigest, Invariant::BlobStored]));
    assert!(
        found(&checked(directory.path(), true).await).iter().all(|(_, remedy)| *remedy == Remedy::Forgotten)
    );
    let (catalog, _) = open(directory.path()).await;
    let snapshot = catalog.snapshot();
    let registry = snapshot.registry(ANYBODY, acme().name()).unwrap();
    let again = registry.templates().flat_map(|template| template.versions.values());
    assert!(again.filter(|version| version.tree_id.is_none()).count() >= 1, "the next sync reads it again");
    // Which brings the bytes back.
    acme().publish(&catalog).await;
    catalog.close().await;
    drop(catalog);
    assert_eq!(found(&checked(directory.path(), false).await), []);
}

#[tokio::test]
async fn facts_that_do_not_hold_are_told_and_left() {
    let cases: [(&'static str, Invariant); 3] = [
        ("UPDATE revisions SET digest = zeroblob(32) WHERE id = 1", Invariant::RevisionDigest),
        ("UPDATE versions SET revision = (SELECT MAX(id) FROM revisions)", Invariant::VersionPointer),
        (
            "UPDATE changes SET generation = 1 WHERE sequence = (SELECT MAX(sequence) FROM changes)",
            Invariant::ChangeOrder,
        ),
    ];
    for (statement, invariant) in cases {
        let directory = broken_by(&[statement]).await;
        for repair in [true, false] {
            let found = found(&checked(directory.path(), repair).await);
            assert!(found.contains(&(invariant, Remedy::Restore)), "{statement}: {found:?}");
        }
    }
}

/// Attack row 33: an index that does not match the store is found and built anew; resolving never needed it.
#[tokio::test]
async fn a_search_index_that_lost_a_template_is_built_anew() {
    let directory = broken_by(&[]).await;
    // Another store's index, of the same generation and pretending to be this one's, as a restored copy may have it.
    let (elsewhere, catalog) = fresh().await;
    let mut less = acme();
    less.publication.versions.retain(|version| version.template.as_str() != "postgres");
    less.publish(&catalog).await;
    catalog.close().await;
    drop(catalog);
    let copy = |from: &Path, to: &Path| {
        for entry in std::fs::read_dir(from).unwrap().flatten() {
            std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
        }
    };
    let inside =
        |data: &Path| std::fs::read_dir(data.join("search")).unwrap().next().unwrap().unwrap().path();
    let identity = {
        let url = format!("sqlite://{}", elsewhere.path().join("formwork.db").display());
        let mut connection = SqliteConnection::connect(&url).await.unwrap();
        sqlx::query_scalar::<_, String>("SELECT identity FROM store")
            .fetch_one(&mut connection)
            .await
            .unwrap()
    };
    let url = format!("sqlite://{}", directory.path().join("formwork.db").display());
    let mut connection = SqliteConnection::connect(&url).await.unwrap();
    sqlx::query("UPDATE store SET identity = $1").bind(identity).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
    let target = inside(directory.path());
    std::fs::remove_dir_all(&target).unwrap();
    std::fs::create_dir_all(&target).unwrap();
    copy(&inside(elsewhere.path()), &target);
    assert_eq!(found(&checked(directory.path(), false).await), [(Invariant::SearchIndex, Remedy::Repair)]);
    assert_eq!(found(&checked(directory.path(), true).await), [(Invariant::SearchIndex, Remedy::Repaired)]);
    assert_eq!(found(&checked(directory.path(), false).await), []);
}

/// Attack row 33: a page of the database that is not what was written is told, at the start or by `fsck`, and nothing
/// panics or is served from it.
#[tokio::test]
async fn a_damaged_page_is_told() {
    let directory = broken_by(&["PRAGMA wal_checkpoint(TRUNCATE)"]).await;
    let path = directory.path().join("formwork.db");
    let whole = std::fs::read(&path).unwrap();
    let pages = whole.len() / 4096;
    assert!(pages > 10);
    let mut told = 0;
    for page in 1..pages {
        let mut damaged = whole.clone();
        damaged[page * 4096..(page + 1) * 4096].fill(0xa5);
        std::fs::write(&path, &damaged).unwrap();
        for beside in ["formwork.db-wal", "formwork.db-shm"] {
            drop(std::fs::remove_file(directory.path().join(beside)));
        }
        match fsck(directory.path(), false, &mut |_| {}).await {
            Ok(checked) => told += usize::from(!checked.broken.is_empty()),
            Err(error) => {
                assert!(error.to_string().contains("formwork.db"), "{error}");
                told += 1;
            }
        }
    }
    // Free pages hold nothing; every other one is missed.
    assert!(told >= pages - 3, "{told} of {pages} damaged pages were told");
}
