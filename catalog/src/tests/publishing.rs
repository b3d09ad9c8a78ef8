//! What a publication makes of what was there.

use proptest::prelude::*;

use super::*;
use crate::{Standing, SyncFailure, WriteError};

fn template(catalog: &Catalog, place: &str) -> Arc<crate::TemplateSnapshot> {
    let snapshot = catalog.snapshot();
    snapshot.locate(ANYBODY, &place.parse().unwrap(), None).unwrap().clone()
}

#[tokio::test]
async fn what_is_published_is_seen_and_remembered() {
    let (directory, catalog) = fresh().await;
    let published = acme().publish(&catalog).await;
    assert_eq!((published.added, published.changed, published.gone), (3, 0, 0));
    assert_eq!(check(&catalog).len(), 3);
    let before = catalog.snapshot();
    let registry = before.registry(ANYBODY, acme().name()).unwrap();
    assert_eq!((registry.counts.collections, registry.counts.templates, registry.counts.versions), (2, 2, 3));
    assert_eq!(before.generation, published.generation);
    catalog.close().await;
    drop(catalog);

    let (catalog, opened) = open(directory.path()).await;
    assert_eq!((opened.registries, opened.versions, opened.replayed, opened.rebuilt), (1, 3, 0, None));
    assert_eq!(seen(&catalog.snapshot()), seen(&before));
    check(&catalog);
}

#[tokio::test]
async fn what_did_not_change_is_the_same_value() {
    let (_directory, catalog) = fresh().await;
    let first = acme().publish(&catalog).await;
    let (redis, postgres) = (
        template(&catalog, "github.com/acme/templates/redis"),
        template(&catalog, "github.com/acme/templates/db/postgres"),
    );

    let again = acme().at(2_000, &"1".repeat(40)).publish(&catalog).await;
    assert_eq!(again.generation, first.generation, "nothing different, no generation");
    assert!(Arc::ptr_eq(&redis, &template(&catalog, "github.com/acme/templates/redis")));
    let registry = catalog.snapshot().registry(ANYBODY, acme().name()).unwrap().clone();
    assert_eq!(registry.indexed_at, Some(2_000));

    let more = acme().version("redis:v1.1.0", &[("redis.yaml", "three")]).at(3_000, &"2".repeat(40));
    let third = more.publish(&catalog).await;
    assert_eq!((third.added, third.changed, third.updated), (1, 0, 0));
    assert!(third.generation > first.generation);
    let redis_now = template(&catalog, "github.com/acme/templates/redis");
    assert!(Arc::ptr_eq(&postgres, &template(&catalog, "github.com/acme/templates/db/postgres")));
    assert!(!Arc::ptr_eq(&redis, &redis_now));
    let version = "v1.0.0".parse::<schema::Version>().unwrap();
    assert!(Arc::ptr_eq(&redis.versions[&version], &redis_now.versions[&version]));
}

/// A publication of some templates leaves the registry as one of everything would, and looks at nothing else.
#[tokio::test]
async fn a_part_of_a_registry_is_published_as_the_whole_would_be() {
    static LINK: schema::Rule =
        schema::Rule { id: "link", severity: schema::Severity::Warning, why: "", fix: "", withholds: false };
    let finding = |path: &str| schema::Finding::new(&LINK, path, "a link");
    let with = |mut registry: Registry, findings: &[schema::Finding]| {
        registry.publication.findings = findings.to_vec();
        registry
    };
    let before = with(acme(), &[finding("db/postgres/v1.0.0/x"), finding("redis/v1.0.0/x")]);
    // One version of redis is gone, one is changed, one is new; what was wrong with it is mended.
    let changed = |with_the_rest: bool| {
        let mut registry = Registry::new("github.com/acme/templates").at(1_500, &"2".repeat(40));
        if with_the_rest {
            registry = registry
                .version("db/postgres:v1.0.0", &[("postgres.jinja", "p")])
                .described("A relational database");
        }
        registry = registry.version("redis:v1.0.1", &[("redis.yaml", "other")]);
        registry.version("redis:v1.1.0", &[("redis.yaml", "three")])
    };
    let whole = with(changed(true), &[finding("db/postgres/v1.0.0/x")]);
    let mut part = changed(false);
    part.publication.part = Some(crate::Part {
        templates: [(None, "redis".parse().unwrap())].into(),
        paths: vec!["redis".to_owned()],
    });
    let mut left = Vec::new();
    for next in [whole, part] {
        let (directory, catalog) = fresh().await;
        before.publish(&catalog).await;
        let postgres = template(&catalog, "github.com/acme/templates/db/postgres");
        let done = next.publish(&catalog).await;
        assert_eq!((done.added, done.changed, done.gone), (1, 1, 1));
        assert!(Arc::ptr_eq(&postgres, &template(&catalog, "github.com/acme/templates/db/postgres")));
        let now = seen(&catalog.snapshot());
        catalog.close().await;
        drop(catalog);
        assert_eq!(seen(&open(directory.path()).await.0.snapshot()), now, "and so it is after a restart");
        left.push(now);
    }
    assert_eq!(left[0], left[1]);
}

#[tokio::test]
async fn what_is_gone_upstream_is_not_listed_and_not_lost() {
    let (directory, catalog) = fresh().await;
    acme().publish(&catalog).await;
    let mut without = acme().at(2_000, "2");
    without
        .publication
        .versions
        .retain(|version| version.template.as_str() != "postgres" && version.version.patch() == 0);
    let published = without.publish(&catalog).await;
    assert_eq!((published.gone, published.added), (2, 0));
    assert_eq!(check(&catalog).len(), 1);
    let redis = template(&catalog, "github.com/acme/templates/redis");
    assert_eq!((redis.versions.len(), redis.gone.len()), (1, 1));
    let postgres = template(&catalog, "github.com/acme/templates/db/postgres");
    assert_eq!(postgres.gone.values().next().unwrap().standing, Standing::Gone { at: 2_000 });
    let before = catalog.snapshot();
    drop(catalog);

    let (catalog, _) = open(directory.path()).await;
    assert_eq!(seen(&catalog.snapshot()), seen(&before));
    let back = acme().at(3_000, "3").publish(&catalog).await;
    assert_eq!((back.added, back.gone), (2, 0));
    let postgres = template(&catalog, "github.com/acme/templates/db/postgres");
    let version = postgres.latest().unwrap();
    assert_eq!(version.published_at, 1_000, "it was first published then");
    assert_eq!(version.commit, Some("1".repeat(40)), "its content came with that commit");
    assert!(catalog.snapshot().registry(ANYBODY, acme().name()).unwrap().gone.is_empty());
}

#[tokio::test]
async fn bytes_that_were_replaced_stay_reachable_by_digest() {
    let (directory, catalog) = fresh().await;
    acme().publish(&catalog).await;
    let first = template(&catalog, "github.com/acme/templates/db/postgres").latest().unwrap().clone();
    let changed = Registry::new("github.com/acme/templates")
        .version("db/postgres:v1.0.0", &[("postgres.jinja", "q")])
        .at(2_000, "2");
    assert_eq!(changed.publish(&catalog).await.changed, 1);
    let now = template(&catalog, "github.com/acme/templates/db/postgres");
    assert_ne!(now.latest().unwrap().digest, first.digest);
    assert_eq!(now.content(&first.digest).unwrap().standing, Standing::Replaced);
    let before = catalog.snapshot();
    drop(catalog);
    let (catalog, _) = open(directory.path()).await;
    assert_eq!(seen(&catalog.snapshot()), seen(&before));
    let bytes = catalog.blob_or_load(ANYBODY, acme().name(), &schema::Digest::of(b"p")).await.unwrap();
    assert_eq!(bytes.as_deref(), Some(&b"p"[..]));
    acme().at(3_000, "3").publish(&catalog).await;
    let back = template(&catalog, "github.com/acme/templates/db/postgres");
    assert_eq!(back.latest().unwrap().commit, first.commit);
    assert_eq!(back.former.len(), 1);
}

#[tokio::test]
async fn a_publication_that_is_not_true_changes_nothing() {
    let (_directory, catalog) = fresh().await;
    let unknown = catalog.publish(acme().publication).await;
    assert!(matches!(unknown, Err(WriteError::UnknownRegistry(_))));
    acme().publish(&catalog).await;
    let before = catalog.snapshot();

    let mut lying = acme().version("liar:v1.0.0", &[("liar.yaml", "x")]);
    lying.publication.versions.last_mut().unwrap().digest = schema::Digest::of(b"something else");
    assert!(matches!(lying.try_publish(&catalog).await, Err(WriteError::Digest { .. })));
    let mut lacking = acme().version("hollow:v1.0.0", &[("hollow.yaml", "never stored")]);
    lacking.blobs.remove(&schema::Digest::of(b"never stored"));
    let error = lacking.try_publish(&catalog).await.unwrap_err();
    assert!(
        matches!(&error, WriteError::BlobMissing { path, .. } if path == "hollow/v1.0.0/hollow.yaml"),
        "{error}"
    );
    let wrong = catalog.put_blobs(vec![(schema::Digest::of(b"a"), b"b".to_vec())]).await;
    assert!(matches!(wrong, Err(WriteError::Digest { .. })));
    assert_eq!(seen(&catalog.snapshot()), seen(&before));
    check(&catalog);
}

#[tokio::test]
async fn a_failure_leaves_what_was_published() {
    let (directory, catalog) = fresh().await;
    acme().publish(&catalog).await;
    let failure = |at| SyncFailure { message: "the server does not answer".to_owned(), hint: None, at };
    let generation = catalog.snapshot().generation;
    catalog.record_failure(acme().name(), failure(2_000)).await.unwrap();
    assert_eq!(catalog.snapshot().generation, generation + 1);
    catalog.record_failure(acme().name(), failure(3_000)).await.unwrap();
    assert_eq!(catalog.snapshot().generation, generation + 1, "the same failure is no news");
    let before = catalog.snapshot();
    drop(catalog);
    let (catalog, opened) = open(directory.path()).await;
    assert_eq!(opened.versions, 3);
    assert_eq!(seen(&catalog.snapshot()), seen(&before));
    assert_eq!(catalog.snapshot().registry(ANYBODY, acme().name()).unwrap().failure, Some(failure(3_000)));
    acme().at(4_000, &"1".repeat(40)).publish(&catalog).await;
    assert_eq!(catalog.snapshot().registry(ANYBODY, acme().name()).unwrap().failure, None);
    check(&catalog);
}

#[tokio::test]
async fn a_removed_registry_is_gone_everywhere_at_once() {
    let (directory, catalog) = fresh().await;
    acme().publish(&catalog).await;
    let other = Registry::new("gitlab.example/a/b").version("redis:v1.0.0", &[("redis.yaml", "other")]);
    other.publish(&catalog).await;
    assert!(catalog.remove_registry(acme().name(), 2_000).await.unwrap());
    assert!(!catalog.remove_registry(acme().name(), 2_000).await.unwrap());
    assert_eq!(catalog.blob(ANYBODY, acme().name(), &schema::Digest::of(b"one")), Blob::Absent);
    assert_eq!(check(&catalog).len(), 1);
    assert!(catalog.search(ANYBODY, &Query::text("postgres")).hits.is_empty());
    let before = catalog.snapshot();
    drop(catalog);
    let (catalog, _) = open(directory.path()).await;
    assert_eq!(seen(&catalog.snapshot()), seen(&before));
    acme().publish(&catalog).await;
    assert_eq!(check(&catalog).len(), 4);
}

#[tokio::test]
async fn a_registry_is_one_however_it_is_spelled() {
    let (_directory, catalog) = fresh().await;
    acme().publish(&catalog).await;
    catalog
        .add_registry(&"GitHub.com/Acme/Templates".parse().unwrap(), "https://elsewhere", 2_000)
        .await
        .unwrap();
    let snapshot = catalog.snapshot();
    assert_eq!(snapshot.registries.len(), 1);
    let registry = snapshot.registry(ANYBODY, acme().name()).unwrap();
    assert_eq!(
        (registry.name.as_str(), registry.source.as_str()),
        ("GitHub.com/Acme/Templates", "https://elsewhere")
    );
    assert_eq!(registry.counts.versions, 3);
}

#[tokio::test]
async fn a_write_runs_to_its_end_though_its_caller_goes_away() {
    let (_directory, catalog) = fresh().await;
    acme().publish(&catalog).await;
    let more = acme().version("late:v1.0.0", &[("late.yaml", "late")]).at(2_000, "2");
    catalog.put_blobs(more.blobs.clone().into_iter().collect()).await.unwrap();
    {
        let mut publishing = Box::pin(catalog.publish(more.publication.clone()));
        // Polled once, so that it begins, and dropped.
        let waker = std::task::Waker::noop();
        assert!(publishing.as_mut().poll(&mut std::task::Context::from_waker(waker)).is_pending());
    }
    // The next write waits for that one.
    catalog.add_registry(&"gitlab.example/a/b".parse().unwrap(), "x", 3_000).await.unwrap();
    let listed = check_but_search(&catalog);
    assert_eq!(listed, 4);
}

fn check_but_search(catalog: &Catalog) -> usize {
    catalog.snapshot().counts(ANYBODY).versions
}

#[tokio::test]
async fn reading_runs_no_sql() {
    let (_directory, catalog) = fresh().await;
    acme().publish(&catalog).await;
    catalog.warmed().await;
    let statements = catalog.statements();
    assert!(statements > 10, "writing is counted");
    let reference = "github.com/acme/templates/redis:v1.0".parse().unwrap();
    for _ in 0..1_000 {
        let snapshot = catalog.snapshot();
        let resolved = snapshot.resolve(ANYBODY, &reference, None).unwrap();
        let file = resolved.version.file("redis.yaml").unwrap();
        assert!(matches!(catalog.blob(ANYBODY, &resolved.registry.name, &file.digest), Blob::Here(_)));
        let template = catalog
            .template(ANYBODY, &resolved.registry.name, &resolved.template.name, resolved.version)
            .await
            .unwrap();
        assert_eq!(template.unwrap().files.text("redis.yaml"), Some("two"));
    }
    assert_eq!(catalog.search(ANYBODY, &Query::text("redis")).total, 1);
    assert_eq!(catalog.statements(), statements);
}

/// A registry of few names, so that publications meet.
fn any_registry() -> impl Strategy<Value = Registry> {
    let place = prop::sample::select(vec!["a", "b", "x/a", "x/b", "y/a"]);
    let version = (place, 0..2u64, 0..3u8, any::<bool>());
    prop::collection::vec(version, 0..8).prop_map(|versions| {
        let mut registry = Registry::new("github.com/acme/templates");
        let mut seen = BTreeSet::new();
        for (place, patch, content, withdrawn) in versions {
            if !seen.insert((place, patch)) {
                continue;
            }
            let name = place.rsplit('/').next().unwrap();
            let (file, content) = (format!("{name}.yaml"), format!("content {content}"));
            registry = registry.version(&format!("{place}:v1.0.{patch}"), &[(&file, &content)]);
            if withdrawn {
                registry = registry.withdrawn("for the test");
            }
        }
        registry
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, rng_seed: prop::test_runner::RngSeed::Fixed(7), ..ProptestConfig::default() })]

    /// Whatever is published in whatever order: readers see exactly that, nothing that was is lost, and a restart
    /// shows the same.
    #[test]
    fn memory_and_store_agree(publications in prop::collection::vec(any_registry(), 1..5)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let (directory, catalog) = fresh_with(Policy { drop_share: 100, ..Policy::default() }).await;
            let mut ever = BTreeSet::new();
            for (at, registry) in publications.into_iter().enumerate() {
                let registry = registry.at(1_000 + at as i64, &at.to_string());
                registry.publish(&catalog).await;
                let wanted = registry.publication.versions.iter().map(|version| {
                    let collection = version.collection.iter().map(|collection| format!("{collection}/")).collect::<String>();
                    format!("github.com/acme/templates/{collection}{}:{}@{}", version.template, version.version, version.digest)
                });
                let wanted = wanted.collect::<BTreeSet<_>>();
                assert_eq!(check(&catalog), wanted);
                ever.extend(wanted);
            }
            let before = catalog.snapshot();
            for reference in &ever {
                let (path, digest) = reference.split_once('@').unwrap();
                let path = path.rsplit_once(':').unwrap().0;
                let pinned = format!("{path}@{digest}").parse().unwrap();
                assert!(before.resolve(ANYBODY, &pinned, None).is_ok(), "{reference} was published");
            }
            catalog.close().await;
            drop(catalog);
            let (catalog, opened) = open(directory.path()).await;
            assert_eq!((opened.replayed, opened.rebuilt), (0, None));
            assert_eq!(seen(&catalog.snapshot()), seen(&before));
            check(&catalog);
        });
    }
}
