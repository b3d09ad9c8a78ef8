//! What happens to versions after they were published: settling, rewrites, disappearances, purges, and the log of it.

use proptest::prelude::*;
use schema::reference::Location;
use schema::{Digest, Reference, Version};

use super::*;
use crate::{Acceptance, Erasure, Health, LogEntry, Missing, TemplateSnapshot, WriteError};

const HOUR: i64 = 3_600;
const OPERATOR: &Viewer = &Viewer::Operator;

/// One version of one template, with this in its template file and this in its README.
fn redis(content: &str, readme: &str) -> Registry {
    Registry::new("github.com/acme/templates")
        .version("redis:v1.0.0", &[("redis.yaml", content), ("README.md", readme)])
}

fn many(numbers: impl Iterator<Item = u64>) -> Registry {
    numbers.fold(Registry::new("github.com/acme/templates"), |registry, number| {
        let content = format!("number {number}");
        registry.version(&format!("redis:v1.0.{number}"), &[("redis.yaml", &content)])
    })
}

fn template(catalog: &Catalog) -> Arc<TemplateSnapshot> {
    let place = location();
    let snapshot = catalog.snapshot();
    snapshot.template(OPERATOR, &place).unwrap().clone()
}

fn location() -> Location {
    Location {
        registry: "github.com/acme/templates".parse().unwrap(),
        collection: None,
        template: "redis".parse().unwrap(),
    }
}

fn version(text: &str) -> Version {
    text.parse().unwrap()
}

fn digest_of(registry: &Registry) -> Digest {
    registry.publication.versions[0].digest
}

fn resolves(catalog: &Catalog, viewer: &Viewer, reference: &str) -> Result<Digest, Missing> {
    let reference = format!("github.com/acme/templates/{reference}").parse::<Reference>().unwrap();
    catalog.snapshot().resolve(viewer, &reference, None).map(|found| found.version.digest)
}

fn rules(version: &crate::VersionSnapshot) -> Vec<&str> {
    version.notes.iter().map(|finding| &*finding.rule).collect()
}

async fn log(catalog: &Catalog) -> Vec<LogEntry> {
    catalog.changes(ANYBODY, 0, 10_000).await.unwrap().entries
}

async fn words(catalog: &Catalog) -> Vec<String> {
    log(catalog).await.into_iter().map(|entry| entry.what).collect()
}

/// What readers see is what a restart shows.
async fn restart(directory: &Path, catalog: Catalog) -> Catalog {
    let before = seen(&catalog.snapshot());
    catalog.close().await;
    drop(catalog);
    let (catalog, _) = open(directory).await;
    assert_eq!(seen(&catalog.snapshot()), before);
    check(&catalog);
    catalog
}

#[tokio::test]
async fn a_rewrite_before_settling_is_served_and_one_after_is_held() {
    let (directory, catalog) = fresh().await;
    let (first, second, third) = (redis("one", "r"), redis("two", "r"), redis("three", "r"));
    first.publish(&catalog).await;
    second.clone().at(1_000 + HOUR - 1, &"2".repeat(40)).publish(&catalog).await;
    let now = template(&catalog).latest().unwrap().clone();
    assert_eq!((now.digest, now.settles_at), (digest_of(&second), Some(1_000 + HOUR)));

    // The clock runs from the first publication, not from the last one.
    let published = third.clone().at(1_000 + HOUR, &"3".repeat(40)).publish(&catalog).await;
    assert_eq!((published.held, published.changed), (1, 0));
    let catalog = restart(directory.path(), catalog).await;
    let redis = template(&catalog);
    let (served, held) = (redis.latest().unwrap(), &redis.held[&version("v1.0.0")]);
    assert_eq!((served.digest, held.digest), (digest_of(&second), digest_of(&third)));
    assert_eq!((rules(served), served.health()), (vec!["version-mutated"], Health::Broken));
    let finding = &served.notes[0];
    for part in [&digest_of(&second).to_string(), &digest_of(&third).to_string(), &"3".repeat(40)] {
        assert!(finding.message.contains(part), "{finding:?}");
    }
    assert!(finding.fix.contains("formwork accept"), "{finding:?}");

    // Held bytes are there for the operator, by digest, and for nobody else.
    let pinned = format!("redis@{}", digest_of(&third));
    assert_eq!(resolves(&catalog, OPERATOR, &pinned).unwrap(), digest_of(&third));
    assert!(matches!(resolves(&catalog, ANYBODY, &pinned), Err(Missing::Digest { .. })));
    assert_eq!(resolves(&catalog, OPERATOR, "redis:v1").unwrap(), digest_of(&second));
    let snapshot = catalog.snapshot();
    let registry = snapshot.registry(ANYBODY, first.name()).unwrap();
    assert!(
        registry.content(&digest_of(&third)).is_none()
            && registry.held(ANYBODY, &digest_of(&third)).is_none()
    );
    assert!(registry.held(OPERATOR, &digest_of(&third)).is_some());
    assert_eq!(words(&catalog).await, ["registry-added", "added", "changed", "held"]);
    assert_eq!(log(&catalog).await[3].digest, Some(digest_of(&third)));

    // The same again is no news; undone upstream, it clears itself.
    let again = third.clone().at(9_000, &"3".repeat(40)).publish(&catalog).await;
    assert_eq!((again.held, again.updated, again.generation), (0, 0, snapshot.generation));
    second.clone().at(9_100, &"4".repeat(40)).publish(&catalog).await;
    let catalog = restart(directory.path(), catalog).await;
    let redis = template(&catalog);
    assert!(redis.held.is_empty() && redis.latest().unwrap().notes.is_empty());
    assert_eq!(words(&catalog).await.last().unwrap(), "cleared");
    assert!(resolves(&catalog, OPERATOR, &pinned).is_err(), "what was held was never published");
}

#[tokio::test]
async fn documentation_may_be_revised_after_settling() {
    let (directory, catalog) = fresh().await;
    redis("one", "r").publish(&catalog).await;
    let revised = redis("one", "better words: zeppelin");
    revised.clone().at(9_000, &"2".repeat(40)).publish(&catalog).await;
    let catalog = restart(directory.path(), catalog).await;
    let served = template(&catalog).latest().unwrap().clone();
    assert_eq!((served.digest, rules(&served)), (digest_of(&revised), vec!["documentation-revised"]));
    assert_eq!(served.health(), Health::Healthy, "an info finding");
    assert!(resolves(&catalog, ANYBODY, &format!("redis@{}", digest_of(&redis("one", "r")))).is_ok());
    assert_eq!(catalog.search(ANYBODY, &Query::text("zeppelin")).total, 1);
    // Documentation and template together are a rewrite.
    redis("two", "r2").at(9_100, &"3".repeat(40)).publish(&catalog).await;
    assert_eq!(words(&catalog).await[2..], ["revised", "held"]);
}

#[tokio::test]
async fn an_edited_directory_is_never_held() {
    let (directory, catalog) = fresh().await;
    for (at, content) in [(1_000, "one"), (9_000, "two"), (90_000, "three")] {
        let mut registry = redis(content, "r").at(at, "");
        registry.publication.commit = None;
        registry.publish(&catalog).await;
        assert_eq!(template(&catalog).latest().unwrap().digest, digest_of(&registry));
    }
    // From then on it comes from Git, and begins to settle.
    redis("three", "r").at(100_000, &"1".repeat(40)).publish(&catalog).await;
    assert_eq!(template(&catalog).latest().unwrap().settles_at, Some(100_000 + HOUR));
    redis("four", "r").at(200_000, &"2".repeat(40)).publish(&catalog).await;
    let catalog = restart(directory.path(), catalog).await;
    assert_eq!(template(&catalog).held.len(), 1);
}

#[tokio::test]
async fn an_operator_accepts_what_is_held() {
    let (directory, catalog) = fresh().await;
    redis("one", "r").publish(&catalog).await;
    let rewritten = redis("two", "words: zeppelin").at(9_000, &"2".repeat(40));
    rewritten.publish(&catalog).await;
    let acceptance =
        |digest| Acceptance::Rewrite { location: location(), version: version("v1.0.0"), digest };
    let other = catalog.accept(rewritten.name(), acceptance(Digest::of(b"x")), 9_100).await;
    assert!(matches!(other, Err(WriteError::Nothing(_))), "{other:?}");
    catalog.accept(rewritten.name(), acceptance(digest_of(&rewritten)), 9_100).await.unwrap();
    let catalog = restart(directory.path(), catalog).await;
    let redis_now = template(&catalog);
    let served = redis_now.latest().unwrap();
    assert_eq!((served.digest, served.notes.len()), (digest_of(&rewritten), 0));
    assert_eq!((served.seen_at, served.commit.clone()), (9_000, Some("2".repeat(40))));
    assert!(resolves(&catalog, ANYBODY, &format!("redis@{}", digest_of(&redis("one", "r")))).is_ok());
    assert_eq!(catalog.search(ANYBODY, &Query::text("zeppelin")).total, 1);
    // The next publication of the same has nothing to add.
    let again = rewritten.publish(&catalog).await;
    assert_eq!((again.held, again.changed, again.updated), (0, 0, 0));
    assert_eq!(words(&catalog).await.last().unwrap(), "accepted");
    let twice = catalog.accept(rewritten.name(), acceptance(digest_of(&rewritten)), 9_200).await;
    assert!(matches!(twice, Err(WriteError::Nothing(_))));
}

#[tokio::test]
async fn what_comes_back_is_held_to_the_bytes_it_had() {
    let (directory, catalog) = fresh().await;
    redis("one", "r").publish(&catalog).await;
    many(7..8).at(9_000, &"2".repeat(40)).publish(&catalog).await;
    assert!(template(&catalog).gone.contains_key(&version("v1.0.0")));
    redis("two", "r").at(9_100, &"3".repeat(40)).publish(&catalog).await;
    let catalog = restart(directory.path(), catalog).await;
    assert_eq!(resolves(&catalog, ANYBODY, "redis:=v1.0.0").unwrap(), digest_of(&redis("one", "r")));
    assert_eq!(template(&catalog).held[&version("v1.0.0")].digest, digest_of(&redis("two", "r")));
    let words = words(&catalog).await;
    assert_eq!(words[words.len() - 3..], ["returned", "held", "gone"], "{words:?}");
}

#[tokio::test]
async fn many_versions_do_not_go_at_once() {
    let (directory, catalog) = fresh().await;
    many(0..20).publish(&catalog).await;
    // Four of twenty may go, and so may any four.
    many(0..16).at(2_000, &"2".repeat(40)).publish(&catalog).await;
    assert_eq!(template(&catalog).versions.len(), 16);
    let published = many((0..10).chain(30..31)).at(3_000, &"3".repeat(40)).publish(&catalog).await;
    assert_eq!((published.gone, published.added), (0, 1), "what is new goes in");
    let catalog = restart(directory.path(), catalog).await;
    assert_eq!(template(&catalog).versions.len(), 17);
    assert!(resolves(&catalog, ANYBODY, "redis:v1.0.15").is_ok());
    let registry = catalog.snapshot().registry(ANYBODY, many(0..1).name()).unwrap().clone();
    let finding = registry.findings.iter().find(|finding| finding.rule == "mass-drop").unwrap();
    assert!(finding.message.starts_with("6 versions are missing"), "{finding:?}");
    assert_eq!(words(&catalog).await.last().unwrap(), "drop-held");

    // They stay until they are back or somebody decides, whatever else happens meanwhile.
    many((0..11).chain(30..31)).at(4_000, &"4".repeat(40)).publish(&catalog).await;
    let registry = catalog.snapshot().registry(ANYBODY, many(0..1).name()).unwrap().clone();
    assert!(registry.findings[0].message.starts_with("5 versions"), "{:?}", registry.findings);
    catalog.accept(&registry.name, Acceptance::Drop, 5_000).await.unwrap();
    let catalog = restart(directory.path(), catalog).await;
    let redis = template(&catalog);
    assert_eq!((redis.versions.len(), redis.gone.len()), (12, 9));
    assert!(resolves(&catalog, ANYBODY, "redis:=v1.0.15").is_ok(), "a tombstone is served exactly");
    assert!(catalog.snapshot().registry(ANYBODY, &registry.name).unwrap().findings.is_empty());
    let twice = catalog.accept(&registry.name, Acceptance::Drop, 5_000).await;
    assert!(matches!(twice, Err(WriteError::Nothing(_))));
}

#[tokio::test]
async fn a_branch_that_was_moved_is_reported_until_somebody_accepts_it() {
    let (directory, catalog) = fresh().await;
    redis("one", "r").publish(&catalog).await;
    let mut moved = redis("one", "r").at(2_000, &"2".repeat(40));
    moved.publication.history_rewritten = true;
    moved.publish(&catalog).await;
    redis("one", "r").at(3_000, &"3".repeat(40)).publish(&catalog).await;
    let catalog = restart(directory.path(), catalog).await;
    let findings =
        |catalog: &Catalog| catalog.snapshot().registry(ANYBODY, moved.name()).unwrap().findings.clone();
    assert_eq!(findings(&catalog)[0].rule, "history-rewritten");
    catalog.accept(moved.name(), Acceptance::History, 4_000).await.unwrap();
    let catalog = restart(directory.path(), catalog).await;
    assert!(findings(&catalog).is_empty());
    let entries = log(&catalog).await;
    assert!(entries.is_sorted_by(|one, other| one.sequence < other.sequence));
    assert_eq!(entries.last().unwrap().what, "history-accepted");
}

#[tokio::test]
async fn what_is_purged_is_erased_everywhere_and_says_why() {
    let (directory, catalog) = fresh().await;
    let shared =
        redis("one", "shared").version("redis:v1.0.1", &[("redis.yaml", "other"), ("README.md", "shared")]);
    shared.publish(&catalog).await;
    let secret = redis("hunter2 zeppelin", "shared zeppelin");
    secret
        .clone()
        .version("redis:v1.0.1", &[("redis.yaml", "other"), ("README.md", "shared")])
        .at(2_000, "2")
        .publish(&catalog)
        .await;
    let erasure = |digest| Erasure {
        location: location(),
        version: version("v1.0.0"),
        digest,
        reason: "It held a password.".to_owned(),
    };
    let nothing = catalog.purge(erasure(Some(Digest::of(b"x"))), 3_000).await;
    assert!(matches!(nothing, Err(WriteError::Nothing(_))));
    let purged = catalog.purge(erasure(None), 3_000).await.unwrap();
    assert_eq!((purged.digests.len(), purged.files, purged.files_kept), (2, 3, 1));
    let catalog = restart(directory.path(), catalog).await;
    for reference in ["redis:=v1.0.0".to_owned(), format!("redis@{}", digest_of(&secret))] {
        let missing = resolves(&catalog, OPERATOR, &reference).unwrap_err();
        assert!(missing.to_string().contains("It held a password."), "{missing}");
    }
    assert!(resolves(&catalog, ANYBODY, "redis:v1").is_ok(), "v1.0.1 is left");
    let blob = |content: &[u8]| catalog.blob(OPERATOR, secret.name(), &Digest::of(content));
    assert_eq!(blob(b"hunter2 zeppelin"), Blob::Absent);
    assert_ne!(blob(b"shared"), Blob::Absent);
    assert_eq!(words(&catalog).await.last().unwrap(), "purged");
    // Not a byte of it is left on the disk.
    for file in ["formwork.db", "formwork.db-wal"] {
        let bytes = std::fs::read(directory.path().join(file)).unwrap_or_default();
        assert!(!bytes.windows(7).any(|window| window == b"hunter2"), "{file}");
    }

    // It stays closed, whatever upstream and whoever adds registries does.
    secret.clone().at(4_000, "3").publish(&catalog).await;
    assert!(!template(&catalog).versions.contains_key(&version("v1.0.0")));
    catalog.remove_registry(secret.name(), 5_000).await.unwrap();
    secret.clone().at(6_000, "4").publish(&catalog).await;
    let missing = resolves(&catalog, ANYBODY, "redis:=v1.0.0").unwrap_err();
    assert!(matches!(missing, Missing::Purged { .. }), "{missing:?}");
}

#[tokio::test]
async fn words_of_what_is_purged_leave_the_index() {
    let (directory, catalog) = fresh().await;
    redis("one", "unmistakable").publish(&catalog).await;
    let erasure =
        Erasure { location: location(), version: version("v1.0.0"), digest: None, reason: "r".to_owned() };
    catalog.purge(erasure, 2_000).await.unwrap();
    catalog.close().await;
    let mut stack = vec![directory.path().join("search")];
    while let Some(path) = stack.pop() {
        if path.is_dir() {
            stack.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else {
            let bytes = std::fs::read(&path).unwrap();
            assert!(!bytes.windows(7).any(|window| window == b"unmista"), "{}", path.display());
        }
    }
}

#[tokio::test]
async fn the_log_is_read_in_parts_and_only_by_who_may_see_it() {
    let (_directory, catalog) = fresh().await;
    many(0..10).publish(&catalog).await;
    let (mut since, mut seen) = (0, Vec::new());
    loop {
        let page = catalog.changes(ANYBODY, since, 3).await.unwrap();
        seen.extend(page.entries.iter().map(|entry| entry.sequence));
        assert!(page.next >= since);
        since = page.next;
        if !page.more {
            break;
        }
    }
    assert_eq!(seen.len(), 11);
    assert!(seen.is_sorted_by(|one, other| one < other));
    let nothing = catalog.changes(ANYBODY, since, 3).await.unwrap();
    assert_eq!((nothing.entries.len(), nothing.next), (0, since));
    let newest = catalog.changes_of(ANYBODY, many(0..1).name(), Some(&location()), 2).await.unwrap().unwrap();
    assert_eq!(newest.iter().map(|entry| entry.sequence).collect::<Vec<_>>(), [since, since - 1]);
    catalog.remove_registry(many(0..1).name(), 2_000).await.unwrap();
    assert!(log(&catalog).await.is_empty(), "a registry that is removed takes its entries with it");
    assert!(catalog.changes_of(ANYBODY, many(0..1).name(), None, 2).await.unwrap().is_none());
}

/// A few versions, each with one of a few contents.
fn any_registry() -> impl Strategy<Value = Vec<(u64, u8)>> {
    prop::collection::btree_map(0..6u64, 0..3u8, 0..6).prop_map(|versions| versions.into_iter().collect())
}

fn of(versions: &[(u64, u8)]) -> Registry {
    versions.iter().fold(Registry::new("github.com/acme/templates"), |registry, (patch, content)| {
        let content = format!("content {content}");
        registry.version(&format!("redis:v1.0.{patch}"), &[("redis.yaml", &content)])
    })
}

fn listed(catalog: &Catalog) -> Vec<(String, Digest)> {
    let snapshot = catalog.snapshot();
    let versions = snapshot.registries.values().flat_map(|registry| registry.templates());
    let versions = versions.flat_map(|template| template.versions.values());
    versions.map(|version| (version.version.to_string(), version.digest)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, rng_seed: prop::test_runner::RngSeed::Fixed(7), ..ProptestConfig::default() })]

    /// While nothing has settled, publishing step by step comes to what publishing the last state at once gives.
    #[test]
    fn publishing_step_by_step_is_publishing_at_once(steps in prop::collection::vec(any_registry(), 1..5)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let (_one, stepwise) = fresh_with(Policy { drop_share: 100, ..Policy::default() }).await;
            for (at, step) in steps.iter().enumerate() {
                of(step).at(1_000 + at as i64, &format!("{at:040}")).publish(&stepwise).await;
            }
            let (_other, at_once) = fresh_with(Policy::default()).await;
            of(steps.last().unwrap()).publish(&at_once).await;
            assert_eq!(listed(&stepwise), listed(&at_once));
        });
    }

    /// However versions are rewritten, removed and put back once they settled: each keeps the bytes it had first,
    /// the log only grows, and a restart shows the same.
    #[test]
    fn settled_versions_never_move(steps in prop::collection::vec(any_registry(), 1..6), share in 0..=100u8) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let (directory, catalog) = fresh_with(Policy { settle: 0, drop_share: share }).await;
            let mut first = std::collections::BTreeMap::new();
            let mut sequence = 0;
            for (at, step) in steps.iter().enumerate() {
                let registry = of(step).at(1_000 + at as i64, &format!("{at:040}"));
                registry.publish(&catalog).await;
                for version in &registry.publication.versions {
                    first.entry(version.version.clone()).or_insert(version.digest);
                }
                for (version, digest) in &first {
                    assert_eq!(resolves(&catalog, ANYBODY, &format!("redis:={version}")).unwrap(), *digest);
                }
                let wanted = registry.publication.versions.len();
                assert!(listed(&catalog).len() >= wanted, "what is upstream is listed");
                let entries = catalog.changes(ANYBODY, sequence, 1_000).await.unwrap();
                assert!(entries.entries.iter().all(|entry| entry.sequence > sequence));
                sequence = entries.next;
            }
            restart(directory.path(), catalog).await;
        });
    }
}
