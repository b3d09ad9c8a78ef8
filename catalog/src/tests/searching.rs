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

/// Everything on all pages, beginning behind a cursor.
fn rest(catalog: &Catalog, text: &str, mut after: Option<crate::Cursor>) -> Vec<String> {
    let mut found = Vec::new();
    while let Some(cursor) = after {
        let page = catalog.search(ANYBODY, &Query { limit: 3, after: Some(cursor), ..Query::text(text) });
        found.extend(names(&page));
        after = page.next.map(|next| next.to_string().parse().unwrap());
    }
    found
}

#[tokio::test]
async fn a_cursor_goes_on_where_it_was_whatever_is_published_meanwhile() {
    let databases = (0..40).fold(shop(), |registry, number| {
        let name = format!("store-{number}");
        let sentence = ["A relational database", "A database of documents and more", "Databases, backups"];
        registry
            .version(&format!("more/{name}:v1.0.0"), &[(&format!("{name}.yaml"), &name)])
            .described(sentence[number % 3])
    });
    for text in ["database", "relatoinal database", "database nowhereatall", ""] {
        let (_directory, catalog) = fresh().await;
        databases.publish(&catalog).await;
        let before = names(&catalog.search(ANYBODY, &Query { limit: 100, ..Query::text(text) }));
        let first = catalog.search(ANYBODY, &Query { limit: 3, ..Query::text(text) });
        let read = names(&first);
        // How rare each word is changes by a lot, and words are in the index that were mistyped before.
        let others = (0..60).fold(Registry::new("gitlab.example/tools/kit"), |registry, number| {
            let name = format!("z{number}");
            registry
                .version(&format!("{name}:v1.0.0"), &[(&format!("{name}.yaml"), &format!("{name}{text}"))])
                .described("relatoinal things nowhereatall, relational or not")
        });
        others.at(5_000, "7").publish(&catalog).await;
        let cursor = first.next.map(|next| next.to_string().parse().unwrap());
        let after = rest(&catalog, text, cursor);
        let known = |name: &&String| !name.contains("/kit/");
        let paged = read.iter().chain(after.iter().filter(known)).cloned().collect::<Vec<_>>();
        let before = before.into_iter().filter(|name| known(&name)).collect::<Vec<_>>();
        let paged = paged.into_iter().filter(|name| known(&name)).collect::<Vec<_>>();
        assert_eq!(paged, before, "{text}: none is skipped, none comes twice");
    }
}

#[tokio::test]
async fn what_is_on_its_way_out_stands_behind() {
    let (_directory, catalog) = fresh().await;
    let same = |registry: Registry, name: &str| {
        registry.version(&format!("{name}:v1.0.0"), &[(&format!("{name}.yaml"), name)]).described("A queue")
    };
    let registry =
        same(same(Registry::new("github.com/acme/templates"), "aaa").withdrawn("it loses data"), "bbb");
    let mut registry = same(registry, "ccc");
    let last = registry.publication.versions.len() - 2;
    registry.publication.versions[last].deprecated =
        Some(schema::registry_file::Notice { reason: "Old.".to_owned(), instead: None });
    registry.publish(&catalog).await;
    assert_eq!(names(&catalog.search(ANYBODY, &Query::text("queue"))), ["ccc", "bbb", "aaa"]);
    assert_eq!(names(&catalog.search(ANYBODY, &Query::text("aaa"))), ["aaa"]);
}

#[tokio::test]
async fn every_facet_counts_and_filters() {
    let (_directory, catalog) = fresh().await;
    let broken = schema::Finding::new(&schema::layout::rules::FORBIDDEN_PATH, "x", "broken");
    shop()
        .version("mail/postfix:v1.0.0", &[("postfix.yaml", "p")])
        .about(|inspection| {
            inspection.tags = vec!["mail".to_owned(), "disaster-recovery".to_owned()];
            inspection.object_kinds = vec!["Service".to_owned()];
        })
        .finding(broken)
        .publish(&catalog)
        .await;
    let search = |text: &str| catalog.search(ANYBODY, &Query::text(text));
    let count = |facet: &[crate::FacetCount], value: &str| {
        facet.iter().find(|count| count.value == value).map_or(0, |count| count.count)
    };
    let all = search("");
    assert_eq!(count(&all.facets.tags, "disaster-recovery"), 2);
    assert_eq!(count(&all.facets.objects, "Service"), 3, "as it is written");
    assert_eq!((count(&all.facets.healths, "healthy"), count(&all.facets.healths, "errors")), (10, 1));
    assert_eq!(search("health:errors").hits[0].location.template.as_str(), "postfix");
    assert_eq!(count(&search("health:errors").facets.healths, "healthy"), 10, "with its own filter lifted");
    assert_eq!(count(&search("health:errors").facets.tags, "mail"), 1);
    assert_eq!(search("tag:Disaster-Recovery").total, 2);
    assert_eq!(search("tag:disaster-recovery tag:mail").total, 1);
    assert_eq!(count(&search("tag:mail").facets.tags, "disaster-recovery"), 1, "among the hits");
    assert_eq!(search("object:service has:deployment").total, 1);
    // What a report says of a version's health is found at once.
    let failing = schema::Finding::new(&schema::layout::rules::FORBIDDEN_PATH, "x", "fails");
    let report = crate::Report { engine: "test".into(), at: 9, findings: vec![failing], needed: Vec::new() };
    let location = catalog.search(ANYBODY, &Query::text("redis")).hits[0].location.clone();
    let template = catalog.snapshot().template(ANYBODY, &location).unwrap().clone();
    let redis = template.latest().unwrap();
    let reported = crate::ReportedVersion {
        collection: None,
        template: location.template.clone(),
        version: redis.version.clone(),
        digest: redis.digest,
        report: Arc::new(report),
    };
    assert_eq!(catalog.publish_reports(&location.registry, vec![reported], 9).await.unwrap(), 1);
    assert_eq!(search("health:errors redis").hits[0].location.template.as_str(), "redis");
}

#[tokio::test]
async fn what_is_hidden_is_in_no_hit_count_facet_or_correction() {
    let open_registry = shop();
    let (_one, with) = fresh().await;
    let (_two, without) = fresh().await;
    open_registry.publish(&with).await;
    open_registry.publish(&without).await;
    let hidden = (0..30).fold(Registry::new("github.com/acme/secret").private(), |registry, number| {
        let name = format!("redis-{number}");
        registry.version(&format!("hidden/{name}:v1.0.0"), &[(&format!("{name}.py"), "x")]).about(
            |inspection| {
                inspection.title = Some("Postgresqa, relatoinal database zanzibar".to_owned());
                inspection.tags = vec!["hidden-tag".to_owned()];
                inspection.object_kinds = vec!["Vault".to_owned()];
            },
        )
    });
    hidden.publish(&with).await;
    for text in [
        "",
        "redis",
        "redi",
        "rediss",
        "relatoinal",
        "postgresqa",
        "zanzibar",
        "zanzibr",
        "database",
        "has:vault",
        "tag:hidden-tag",
        "collection:hidden",
        "registry:secret",
        "kind:dm-python",
        "database zanzibar",
        "hidden tag",
    ] {
        let [a, b] = [&with, &without].map(|catalog| {
            let answer = catalog.search(ANYBODY, &Query { limit: 3, ..Query::text(text) });
            // The generation counts publications, not what is in them; the cursor carries nothing else of the index.
            crate::SearchAnswer { generation: 0, ..answer }
        });
        assert_eq!(a, b, "{text}");
    }
    assert_eq!(with.search(&Viewer::Operator, &Query::text("zanzibar")).total, 30);
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
