//! What people type, and what they get.

use std::collections::HashSet;

use proptest::prelude::*;
use schema::Kind;

use super::*;
use crate::Health;

fn shop() -> Registry {
    let entry = |registry: Registry, place: &str, description: &str, kinds: &[&str]| {
        let name = place.rsplit('/').next().unwrap();
        let file = format!("{name}.yaml");
        registry.version(&format!("{place}:v1.0.0"), &[(&file, place)]).about(|inspection| {
            inspection.description = Some(description.to_owned());
            inspection.object_kinds = kinds.iter().map(|kind| (*kind).to_owned()).collect();
        })
    };
    let mut registry = Registry::new("github.com/acme/templates");
    for (place, description, kinds) in [
        ("redis", "A store in memory, for caches and queues", &["Deployment", "Service"][..]),
        ("redis-cluster", "Several stores in memory that fail over", &["StatefulSet", "Service"]),
        ("db/postgresql", "A relational database with backups", &["StatefulSet", "Secret"]),
        ("db/mysql", "A relational database", &["StatefulSet"]),
        ("db/mongodb", "A database of documents", &["StatefulSet"]),
        (
            "web/nginx",
            "Serves web pages and passes requests on to redis or others",
            &["Deployment", "ConfigMap"],
        ),
        ("web/webhook-receiver", "Receives what GitHub sends", &["Deployment"]),
        ("web/WordPress", "A blog on MySQL", &["Deployment", "PersistentVolumeClaim"]),
        ("monitoring", "Collects metrics of everything that runs", &["DaemonSet"]),
    ] {
        registry = entry(registry, place, description, kinds);
    }
    registry
        .version(
            "db/backup:v1.0.0",
            &[
                ("backup.jinja", "b"),
                ("README.md", "# Backup\n\nCopies a *database* to an object storage\nevery night."),
            ],
        )
        .about(|inspection| {
            inspection.title = Some("Nightly backups".to_owned());
            inspection.tags = vec!["disaster-recovery".to_owned()];
            inspection.parameters =
                serde_json::json!({"properties": {"bucketName": {"description": "Where the archives go"}}});
        })
}

async fn catalogue() -> (tempfile::TempDir, Catalog) {
    let (directory, catalog) = fresh().await;
    shop().publish(&catalog).await;
    Registry::new("gitlab.example/tools/kit")
        .version("redis:v1.0.0", &[("redis.py", "r")])
        .publish(&catalog)
        .await;
    (directory, catalog)
}

fn names(answer: &crate::SearchAnswer) -> Vec<String> {
    let place = |hit: &crate::Hit| {
        hit.location
            .to_string()
            .split_once("/templates/")
            .map_or_else(|| hit.location.to_string(), |(_, rest)| rest.to_owned())
    };
    answer.hits.iter().map(place).collect()
}

#[tokio::test]
async fn the_right_one_comes_first() {
    let (_directory, catalog) = catalogue().await;
    for (text, first) in [
        ("postgresql", "db/postgresql"),
        ("postgres", "db/postgresql"),
        ("postgresq", "db/postgresql"),
        ("postgersql", "db/postgresql"),
        ("PostgreSQL database", "db/postgresql"),
        ("redis cluster", "redis-cluster"),
        ("rediscluster", "redis-cluster"),
        ("Redis_Cluster", "redis-cluster"),
        ("redis-clusters", "redis-cluster"),
        ("web hook", "web/webhook-receiver"),
        ("web-hook", "web/webhook-receiver"),
        ("webhooks", "web/webhook-receiver"),
        ("word press", "web/WordPress"),
        ("wordpress", "web/WordPress"),
        ("monitor", "monitoring"),
        ("metric", "monitoring"),
        ("a blog", "web/WordPress"),
        ("blogs", "web/WordPress"),
        ("github", "web/webhook-receiver"),
        ("caches", "redis"),
        ("bucket name", "db/backup"),
        ("disaster recovery", "db/backup"),
        ("every night", "db/backup"),
        ("archive", "db/backup"),
        ("documents database", "db/mongodb"),
        ("daemonset", "monitoring"),
        ("datbase documents", "db/mongodb"),
        ("nginx", "web/nginx"),
        ("ngnix", "web/nginx"),
        ("mysql", "db/mysql"),
        ("my sql", "db/mysql"),
    ] {
        let answer = catalog.search(ANYBODY, &Query::text(text));
        assert_eq!(names(&answer).first().map(String::as_str), Some(first), "{text}: {:?}", names(&answer));
    }
}

#[tokio::test]
async fn the_exact_name_comes_before_names_that_begin_so_and_those_before_texts() {
    let (_directory, catalog) = catalogue().await;
    let found = names(&catalog.search(ANYBODY, &Query::text("redis")));
    assert_eq!(
        found[..2].iter().cloned().collect::<BTreeSet<_>>(),
        ["gitlab.example/tools/kit/redis", "redis"].map(str::to_owned).into()
    );
    assert_eq!(found[2..], ["redis-cluster", "web/nginx"]);
}

#[tokio::test]
async fn what_was_mistyped_is_corrected_and_said() {
    let (_directory, catalog) = catalogue().await;
    let answer = catalog.search(ANYBODY, &Query::text("relatoinal database"));
    assert_eq!(answer.corrected.as_deref(), Some("relational database"));
    let snippet = answer.hits[0].snippet.as_ref().unwrap();
    let marked = snippet.matched.iter().map(|range| &snippet.text[range.clone()]).collect::<Vec<_>>();
    assert_eq!(marked, ["relational", "database"]);
    assert_eq!(catalog.search(ANYBODY, &Query::text("redis")).corrected, None);
    let nothing = catalog.search(ANYBODY, &Query::text("xylophone"));
    assert_eq!((nothing.total, nothing.corrected), (0, None));
}

#[tokio::test]
async fn some_words_will_do_if_no_template_has_all() {
    let (_directory, catalog) = catalogue().await;
    let answer = catalog.search(ANYBODY, &Query::text("nginx xylophone"));
    assert_eq!(names(&answer), ["web/nginx"]);
    assert_eq!(answer.notes.len(), 1);
}

#[tokio::test]
async fn filters_narrow_and_facets_count_what_lifting_them_would_give() {
    let (_directory, catalog) = catalogue().await;
    let search = |text: &str| catalog.search(ANYBODY, &Query::text(text));
    assert_eq!(search("").total, 11);
    assert_eq!(search("collection:db").total, 4);
    assert_eq!(search("COLLECTION:DB database").total, 4);
    assert_eq!(search("collection:/").total, 4, "the root");
    assert_eq!(search("registry:tools/kit").total, 1);
    assert_eq!(search("registry:gitlab.example/tools/kit redis").total, 1);
    assert_eq!(search("registry:kit/tools").total, 0);
    assert_eq!(search("kind:dm").total, 2);
    assert_eq!(search("kind:dm-python").hits[0].kind, Kind::DmPython);
    assert_eq!(search("has:StatefulSet").total, 4);
    assert_eq!(search("has:statefulset has:Secret").total, 1);
    assert_eq!(search("kind:spaceship").total, 11);
    let filtered = catalog.search(
        ANYBODY,
        &Query { collections: vec!["db".into()], kinds: vec!["template".into()], ..Query::default() },
    );
    assert_eq!(filtered.total, 3);
    let count = |facet: &[crate::FacetCount], value: &str| {
        facet.iter().find(|count| count.value == value).map_or(0, |count| count.count)
    };
    assert_eq!(count(&filtered.facets.collections, "web"), 3, "with the filter on collections lifted");
    assert_eq!(count(&filtered.facets.collections, "db"), 3);
    assert_eq!(count(&filtered.facets.kinds, "dm-jinja"), 1, "with the filter on kinds lifted");
    assert_eq!(count(&filtered.facets.registries, "github.com/acme/templates"), 3);
    assert_eq!(count(&filtered.facets.registries, "gitlab.example/tools/kit"), 0);
}

#[tokio::test]
async fn pages_follow_each_other_without_gap_or_repetition() {
    let (_directory, catalog) = catalogue().await;
    for text in ["", "database", "a"] {
        let all = catalog.search(ANYBODY, &Query { limit: 100, ..Query::text(text) });
        assert_eq!(all.next, None);
        let mut paged = Vec::new();
        let mut after = None;
        loop {
            let page = catalog.search(ANYBODY, &Query { limit: 2, after, ..Query::text(text) });
            assert_eq!(page.total, all.total);
            paged.extend(names(&page));
            match page.next {
                Some(next) => after = Some(next.to_string().parse().unwrap()),
                None => break,
            }
        }
        assert_eq!(paged, names(&all), "{text}");
        assert_eq!(paged.iter().collect::<HashSet<_>>().len(), paged.len());
    }
    assert!("x".parse::<crate::Cursor>().is_err());
    let everything = names(&catalog.search(ANYBODY, &Query::default()));
    let last = |place: &String| place.rsplit('/').next().unwrap().to_lowercase();
    assert!(
        everything.windows(2).all(|pair| last(&pair[0])[..3] <= last(&pair[1])[..3]),
        "by name: {everything:?}"
    );
}

#[tokio::test]
async fn hits_are_told_from_the_latest_version() {
    let (_directory, catalog) = catalogue().await;
    let more = shop()
        .version("db/mysql:v1.1.0", &[("mysql.yaml", "newer")])
        .described("Now with replicas")
        .finding(schema::Finding::new(&schema::layout::rules::NO_EXAMPLE, "db/mysql/v1.1.0", "no example"))
        .version("db/mysql:v2.0.0", &[("mysql.yaml", "broken")])
        .described("Withdrawn unicorns")
        .withdrawn("it loses data")
        .at(2_000, "2");
    more.publish(&catalog).await;
    let answer = catalog.search(ANYBODY, &Query::text("replicas"));
    let hit = &answer.hits[0];
    assert_eq!(
        (hit.latest.to_string(), hit.health, hit.withdrawn),
        ("v1.1.0".to_owned(), Health::Warnings, false)
    );
    assert_eq!(hit.description.as_deref(), Some("Now with replicas"));
    assert_eq!(answer.generation, catalog.snapshot().generation);
    assert_eq!(catalog.search(ANYBODY, &Query::text("unicorns")).total, 0);
    let named = &catalog.search(ANYBODY, &Query::text("mysq")).hits[0];
    assert_eq!(named.matched_name.first(), Some(&(0..5)));
}

#[tokio::test]
async fn odd_queries_are_answered_like_others() {
    let (_directory, catalog) = catalogue().await;
    for text in [
        "*",
        "\"",
        "(",
        "AND OR NOT",
        "redis AND (",
        "a:b:c",
        "kind:",
        ":",
        "+-&&||!(){}[]^~?\\/",
        "\0",
        "redis~2",
        "/.*/",
        "\u{202e}sider",
        "registry:* collection:* kind:* has:*",
        "🦀 🦀",
        "İstanbul",
        "ß",
    ] {
        let answer = catalog.search(ANYBODY, &Query::text(text));
        assert!(answer.total <= 11, "{text}");
    }
    let long = "redis ".repeat(2_000);
    let answer = catalog.search(ANYBODY, &Query::text(long));
    assert_eq!(answer.hits[0].location.template.as_str(), "redis");
    let many = (0..1_000).map(|n| format!("has:k{n} ")).collect::<String>();
    assert!(!catalog.search(ANYBODY, &Query::text(many)).notes.is_empty());
}

#[test]
fn no_query_makes_searching_panic() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let (_directory, catalog) = runtime.block_on(catalogue());
    let config = ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() };
    proptest!(config, |(text in "([a-z]{1,8}|\\PC{1,6}|kind:|has:|\"| ){0,12}", limit in 0usize..200)| {
        let answer = catalog.search(ANYBODY, &Query { limit, ..Query::text(text) });
        for hit in &answer.hits {
            for range in hit.snippet.iter().flat_map(|snippet| &snippet.matched) {
                prop_assert!(hit.snippet.as_ref().unwrap().text.get(range.clone()).is_some());
            }
        }
    });
}
