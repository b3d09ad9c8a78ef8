//! A process may end at any point of a write. Whatever was begun, opening again shows one state or the other, whole,
//! and the same publication can be given again.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::Duration;

use super::*;
use crate::{Point, WriteError};

fn next() -> Registry {
    let mut next = acme()
        .version("redis:v1.1.0", &[("redis.yaml", "three"), ("README.md", "new words: zeppelin")])
        .version("nginx:v1.0.0", &[("nginx.yaml", "n")])
        .at(2_000, "2");
    next.publication.versions.retain(|version| version.template.as_str() != "postgres");
    next
}

#[tokio::test]
async fn a_crash_behind_any_step_leaves_one_state_or_the_other() {
    for point in Point::ALL {
        let directory = tempfile::tempdir().unwrap();
        let faults = Faults::default();
        let catalog = open_with(directory.path(), &faults).await;
        acme().publish(&catalog).await;
        let before = seen(&catalog.snapshot());
        faults.stop_at(point);
        let stopped = next().try_publish(&catalog).await;
        assert!(matches!(stopped, Err(WriteError::Closed)), "{point:?}: {stopped:?}");
        drop(catalog);

        let (catalog, opened) = open(directory.path()).await;
        assert_eq!(opened.rebuilt, None, "{point:?}");
        check(&catalog);
        let published = point >= Point::Committed;
        assert_eq!(opened.replayed > 0, published && point < Point::SearchCommitted, "{point:?}: {opened:?}");
        if published {
            assert_eq!(catalog.search(ANYBODY, &Query::text("zeppelin")).total, 1, "{point:?}");
        } else {
            assert_eq!(seen(&catalog.snapshot()), before, "{point:?}");
        }
        let again = next().publish(&catalog).await;
        assert_eq!(again.added + again.gone, if published { 0 } else { 3 }, "{point:?}");
        assert_eq!(check(&catalog).len(), 4);
    }
}

#[tokio::test]
async fn a_crash_while_removing_leaves_no_hits() {
    for point in [Point::Indexed, Point::SearchCommitted] {
        let directory = tempfile::tempdir().unwrap();
        let faults = Faults::default();
        let catalog = open_with(directory.path(), &faults).await;
        acme().publish(&catalog).await;
        faults.stop_at(point);
        assert!(catalog.remove_registry(acme().name(), 2_000).await.is_err());
        drop(catalog);
        let (catalog, _) = open(directory.path()).await;
        assert_eq!(check(&catalog).len(), 0, "{point:?}");
    }
}

/// A step that failed without the process ending is made good by the next write.
#[tokio::test]
async fn the_index_catches_up_with_the_next_write() {
    let directory = tempfile::tempdir().unwrap();
    let faults = Faults::default();
    let catalog = open_with(directory.path(), &faults).await;
    acme().publish(&catalog).await;
    faults.stop_at(Point::Indexed);
    assert!(next().try_publish(&catalog).await.is_err());
    assert_eq!(catalog.search(ANYBODY, &Query::text("zeppelin")).total, 0);
    next().version("late:v1.0.0", &[("late.yaml", "l")]).at(3_000, "3").publish(&catalog).await;
    assert_eq!(catalog.search(ANYBODY, &Query::text("zeppelin")).total, 1);
    check(&catalog);
}

const VICTIM: &str = "CATALOG_TEST_VICTIM";
/// The step at which it dies, if it does by itself.
const DIES_AT: &str = "CATALOG_TEST_DIES_AT";
const PUBLISHED: &str = "published another generation";

/// Not a test of its own: what the process does that the next test kills.
#[test]
fn victim() {
    let Some(directory) = std::env::var_os(VICTIM) else { return };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let faults = Faults::default();
        let catalog = open_with(Path::new(&directory), &faults).await;
        let dies_at = std::env::var(DIES_AT).ok().and_then(|index| index.parse::<usize>().ok());
        if let Some(index) = dies_at {
            generation(0).publish(&catalog).await;
            faults.die_at(Point::ALL[index]);
        }
        for at in 1.. {
            generation(at).publish(&catalog).await;
            println!("{PUBLISHED}");
        }
    });
}

/// Every template of one generation has the same content, so that half a publication shows.
fn generation(at: i64) -> Registry {
    let mut registry = Registry::new("github.com/acme/templates").at(1_000 + at, &at.to_string());
    for template in ["a", "b", "x/c", "x/d"] {
        let file = format!("{}.yaml", template.rsplit('/').next().unwrap());
        registry = registry.version(&format!("{template}:v1.0.0"), &[(&file, &format!("content {at}"))]);
    }
    registry
}

#[tokio::test]
async fn killed_at_any_time_it_shows_a_whole_generation() {
    let directory = tempfile::tempdir().unwrap();
    let mut last = 0;
    for round in 0..6u32 {
        let mut victim = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "tests::crashes::victim", "--nocapture"])
            .env(VICTIM, directory.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // It is publishing again by the time it is killed, each round at another point.
        let said = BufReader::new(victim.stdout.take().unwrap()).lines();
        let published = said
            .map_while(Result::ok)
            .filter(|line| line.contains(PUBLISHED))
            .take(1 + round as usize % 3)
            .count();
        assert_eq!(published, 1 + round as usize % 3, "the victim ended by itself");
        std::thread::sleep(Duration::from_micros(700) * round);
        victim.kill().unwrap();
        victim.wait().unwrap();
        let (catalog, _) = open(directory.path()).await;
        check(&catalog);
        let snapshot = catalog.snapshot();
        let contents = contents(&catalog).await;
        assert!(contents.len() <= 1, "half a publication shows: {contents:?}");
        assert!(snapshot.generation > last, "what was published before the kill is there");
        last = snapshot.generation;
        catalog.close().await;
    }
}

/// What the templates hold; one text, if no half of a publication shows.
async fn contents(catalog: &Catalog) -> BTreeSet<String> {
    let snapshot = catalog.snapshot();
    let mut contents = BTreeSet::new();
    for registry in snapshot.registries.values() {
        for template in registry.templates() {
            let file = &template.latest().unwrap().files[0];
            let bytes = catalog.blob_or_load(ANYBODY, &registry.name, &file.digest).await.unwrap().unwrap();
            contents.insert(String::from_utf8(bytes.to_vec()).unwrap());
        }
    }
    contents
}

/// Attack row 32: the process dies at each step of a write, with nothing flushed and nothing closed.
#[tokio::test]
async fn dead_at_each_step_it_shows_a_whole_generation() {
    for (index, point) in Point::ALL.into_iter().enumerate() {
        let directory = tempfile::tempdir().unwrap();
        let died = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "tests::crashes::victim", "--nocapture"])
            .env(VICTIM, directory.path())
            .env(DIES_AT, index.to_string())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .unwrap();
        assert!(!died.success(), "{point:?}: it did not die");
        let (catalog, opened) = open(directory.path()).await;
        check(&catalog);
        let expected = if point >= Point::Committed { "content 1" } else { "content 0" };
        assert_eq!(contents(&catalog).await, BTreeSet::from([expected.to_owned()]), "{point:?}");
        assert_eq!(opened.rebuilt, None, "{point:?}");
        // It goes on from there, and no change is lost or told twice.
        generation(2).publish(&catalog).await;
        assert_eq!(contents(&catalog).await, BTreeSet::from(["content 2".to_owned()]), "{point:?}");
        catalog.close().await;
        drop(catalog);
        let checked = crate::fsck::fsck(directory.path(), true, &mut |_| {}).await.unwrap();
        assert!(
            checked.broken.iter().all(|broken| broken.remedy == crate::fsck::Remedy::Repaired),
            "{checked:?}"
        );
    }
}

/// Attack row 32: a clock that jumps back changes times that are shown, and neither order nor what is published.
#[tokio::test]
async fn a_clock_that_jumps_back_changes_no_order() {
    let (directory, catalog) = fresh().await;
    generation(9_000).publish(&catalog).await;
    let before = catalog.snapshot().generation;
    generation(1).publish(&catalog).await;
    assert!(catalog.snapshot().generation > before);
    assert_eq!(contents(&catalog).await, BTreeSet::from(["content 1".to_owned()]));
    catalog.close().await;
    drop(catalog);
    assert_eq!(crate::fsck::fsck(directory.path(), false, &mut |_| {}).await.unwrap().broken, []);
}
