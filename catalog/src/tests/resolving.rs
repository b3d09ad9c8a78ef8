//! References that lead somewhere, and the way out for those that do not.

use schema::reference::Home;
use schema::resolve::Rule;

use super::*;
use crate::Missing;

async fn catalogue() -> (tempfile::TempDir, Catalog) {
    let (directory, catalog) = fresh().await;
    let full = acme()
        .version("redis:v1.1.0", &[("redis.yaml", "three")])
        .version("redis:v2.0.0", &[("redis.yaml", "four")])
        .withdrawn("it loses what it stores")
        .version("redis:v3.0.0-rc.1", &[("redis.yaml", "five")]);
    full.publish(&catalog).await;
    (directory, catalog)
}

fn resolve(snapshot: &Snapshot, reference: &str) -> Result<(String, Rule), Missing> {
    let home = Home { registry: acme().name().clone(), collection: None };
    let resolved = snapshot.resolve(ANYBODY, &reference.parse().unwrap(), Some(&home))?;
    assert_eq!(&resolved.version.version, resolved.resolution.version);
    Ok((resolved.version.version.to_string(), resolved.resolution.rule))
}

#[tokio::test]
async fn references_get_the_version_the_rules_say() {
    let (_directory, catalog) = catalogue().await;
    let snapshot = catalog.snapshot();
    let redis = snapshot.locate(ANYBODY, &"github.com/acme/templates/redis".parse().unwrap(), None).unwrap();
    let rc = redis.versions.values().next_back().unwrap().digest;
    for (reference, version, rule) in [
        ("redis", "v1.1.0", Rule::Highest),
        ("redis:v1.0", "v1.0.1", Rule::HighestPatch),
        ("github.com/ACME/templates/redis:^1.0", "v1.1.0", Rule::HighestMinor),
        ("redis:=v1.0.0", "v1.0.0", Rule::Exact),
        ("redis:=v2", "v2.0.0", Rule::Exact),
        ("redis:v3.0.0-rc.1", "v3.0.0-rc.1", Rule::Exact),
        ("db/postgres:v1", "v1.0.0", Rule::HighestPatch),
        (&format!("redis@{rc}"), "v3.0.0-rc.1", Rule::Exact),
    ] {
        assert_eq!(resolve(&snapshot, reference), Ok((version.to_owned(), rule)), "{reference}");
    }
    assert_eq!(redis.latest().unwrap().version.to_string(), "v1.1.0");
}

#[tokio::test]
async fn what_leads_nowhere_says_what_is_near() {
    let (_directory, catalog) = catalogue().await;
    let snapshot = catalog.snapshot();
    let suggestions = |reference: &str| {
        let missing = resolve(&snapshot, reference).unwrap_err();
        assert!(!missing.to_string().is_empty());
        missing.suggestions()
    };
    assert_eq!(suggestions("redsi:v1"), ["github.com/acme/templates/redis"]);
    assert_eq!(
        suggestions("postgres:v1"),
        ["github.com/acme/templates/db/postgres"],
        "the same name elsewhere"
    );
    assert_eq!(
        suggestions("dbs/postgres"),
        ["github.com/acme/templates/db/postgres", "github.com/acme/templates/db"]
    );
    assert_eq!(suggestions("github.com/acme/template/redis"), ["github.com/acme/templates"]);
    assert_eq!(suggestions("nothing-like-it"), Vec::<String>::new());
    assert_eq!(suggestions("redis:v1.0.5")[0], "github.com/acme/templates/redis:v3.0.0-rc.1");
    let missing = resolve(&snapshot, "redis:v1.0.5").unwrap_err();
    assert_eq!(
        missing.to_string(),
        "`github.com/acme/templates/redis` has no v1.0 at v1.0.5 or above; its highest is v1.0.1"
    );
    assert!(
        matches!(resolve(&snapshot, "redis:v2"), Err(Missing::Version { .. })),
        "withdrawn is not chosen"
    );
    assert!(matches!(resolve(&snapshot, "github.com/acme/templates"), Err(Missing::Unparsable(_))));
    let pinned = format!("redis:v9@{}", schema::Digest::of(b"nothing"));
    assert!(matches!(resolve(&snapshot, &pinned), Err(Missing::Digest { .. })));
}

#[tokio::test]
async fn a_digest_must_be_of_a_version_the_selector_accepts() {
    let (_directory, catalog) = catalogue().await;
    let snapshot = catalog.snapshot();
    let redis = snapshot.locate(ANYBODY, &"github.com/acme/templates/redis".parse().unwrap(), None).unwrap();
    let digest = redis.versions[&"v1.0.0".parse::<schema::Version>().unwrap()].digest;
    assert_eq!(resolve(&snapshot, &format!("redis:v1.0@{digest}")).unwrap().0, "v1.0.0");
    assert!(matches!(resolve(&snapshot, &format!("redis:v1.1@{digest}")), Err(Missing::Digest { .. })));
}

#[tokio::test]
async fn a_mapped_directory_resolves_by_both_names() {
    let (directory, catalog) = fresh().await;
    acme().publish(&catalog).await;
    let mut mapped = acme().at(2_000, "2");
    for collection in mapped.publication.collections.iter_mut().filter(|collection| collection.name.is_some())
    {
        collection.directory_name_alias = collection.name.replace("databases".parse().unwrap());
    }
    for version in mapped.publication.versions.iter_mut().filter(|version| version.collection.is_some()) {
        version.collection = Some("databases".parse().unwrap());
    }
    mapped.publish(&catalog).await;
    for round in 0..2 {
        let snapshot = catalog.snapshot();
        for reference in ["db/postgres:v1", "databases/postgres:v1"] {
            let resolved = resolve(&snapshot, reference);
            assert!(resolved.is_ok(), "{reference} in round {round}");
        }
        let registry = snapshot.registry(ANYBODY, acme().name()).unwrap();
        let listed = registry.collections.keys().flatten().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(listed, ["databases"], "listed once");
        catalog.close().await;
        let (again, _) = open(directory.path()).await;
        assert_eq!(seen(&again.snapshot()), seen(&snapshot));
        again.close().await;
    }
}
