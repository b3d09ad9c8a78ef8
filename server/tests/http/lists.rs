//! Lists: every page, the links between them, and what stays true while things are published.

use std::collections::BTreeSet;

use catalog::Scope;
use catalog::testing::Registry;
use insta::assert_json_snapshot;
use serde_json::Value;

use crate::access::both;
use crate::kit::{App, InProcess, REGISTRY, acme, inspected};

/// What stands at `name` on every page of a list, by its links, some items at a time.
async fn all(app: &App, path: &str, name: &str, limit: usize) -> Vec<Value> {
    let joint = if path.contains('?') { '&' } else { '?' };
    let mut next = Some(format!("{path}{joint}limit={limit}"));
    let (mut items, mut pages) = (Vec::new(), 0);
    while let Some(path) = next {
        let answer = app.get(&path).await;
        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
        let page = answer.json();
        let found = page[name].as_array().unwrap();
        assert!(found.len() <= limit || name == "revisions", "{path}: {page}");
        items.extend(found.iter().cloned());
        let link = answer.header("link");
        next = link.strip_prefix('<').map(|link| link.split_once(">; rel=\"next\"").unwrap().0.to_owned());
        if name != "changes" {
            assert_eq!(next.is_some(), page["next"].is_string(), "{path}");
        }
        pages += 1;
        assert!(pages < 100, "{path} never ends");
    }
    items
}

fn many() -> Vec<Registry> {
    let plain = "apiVersion: v1\nkind: Template\nobjects: []\n";
    let mut more = Registry::new("git.example/team/more");
    for number in 0..23 {
        let collection = ["", "caches/", "queues/"][number % 3];
        for version in 0..3 {
            let name = format!("t{number:02}");
            let text = format!("{plain}# {number} {version}\n");
            more = more
                .version(&format!("{collection}{name}:v1.{version}.0"), &[(&format!("{name}.yaml"), &text)]);
        }
    }
    let other = Registry::new("git.example/team/other").version("alone:v1.0.0", &[("alone.yaml", plain)]);
    vec![inspected(acme()), inspected(more), inspected(other)]
}

#[tokio::test]
async fn every_list_is_the_same_whatever_the_size_of_its_pages() {
    let app = App::with(many(), Box::new(InProcess), None).await;
    for (path, name, count) in [
        ("/api/v1/registries", "registries", 3),
        ("/api/v1/collections", "collections", 6),
        ("/api/v1/collections?registry=git.example/team/more", "collections", 3),
        ("/api/v1/templates", "templates", 27),
        ("/api/v1/templates?registry=git.example/team/more", "templates", 23),
        ("/api/v1/templates?collection=/", "templates", 10),
        ("/api/v1/templates?registry=git.example/team/more&collection=caches", "templates", 8),
        ("/api/v1/templates?collection=nowhere", "templates", 0),
        ("/api/v1/templates/redis/-/versions", "versions", 5),
        ("/api/v1/templates/redis/-/history", "revisions", 5),
        ("/api/v1/changes", "changes", 80),
        ("/api/v1/search", "hits", 27),
    ] {
        let whole = all(&app, path, name, 1_000).await;
        assert_eq!(whole.len(), count, "{path}");
        for limit in [1, 2, 7] {
            assert_eq!(all(&app, path, name, limit).await, whole, "{path} by {limit}");
        }
        let distinct = whole.iter().map(ToString::to_string).collect::<BTreeSet<_>>();
        assert_eq!(distinct.len(), whole.len(), "{path}");
    }
}

#[tokio::test]
async fn a_cursor_outlives_what_is_published() {
    let app = App::with(many(), Box::new(InProcess), None).await;
    let first = app.get("/api/v1/templates?limit=10").await.json();
    let seen = first["templates"].as_array().unwrap().iter().map(|one| one["reference"].clone());
    let mut seen = seen.collect::<Vec<_>>();
    // The registry the cursor is in goes, another comes: what is behind it is still found, once.
    app.catalog.remove_registry(&"git.example/team/other".parse().unwrap(), 2_000).await.unwrap();
    let cursor = first["next"].as_str().unwrap();
    let rest = all(&app, &format!("/api/v1/templates?cursor={cursor}"), "templates", 5).await;
    seen.extend(rest.iter().map(|one| one["reference"].clone()));
    let distinct = seen.iter().map(ToString::to_string).collect::<BTreeSet<_>>();
    assert_eq!((seen.len(), distinct.len()), (26, 26));
}

#[tokio::test]
async fn collections_templates_and_versions() {
    let app = App::new().await;
    assert_json_snapshot!("collections", app.get("/api/v1/collections").await.json());
    assert_json_snapshot!("templates", app.get("/api/v1/templates").await.json());
    assert_json_snapshot!("versions", app.get("/api/v1/templates/redis/-/versions").await.json());
    let root = app.get(&format!("/api/v1/collections/{REGISTRY}")).await.json();
    assert_eq!((&root["name"], &root["templates"]), (&Value::Null, &1.into()));
    let web = app.get(&format!("/api/v1/collections/{REGISTRY}/web")).await.json();
    assert_eq!((&web["name"], &web["templates"]), (&"web".into(), &2.into()));
    // Where an answer leads, something is.
    for url in [&root["url"], &root["templates_url"], &web["url"], &web["templates_url"]] {
        assert_eq!(app.get(url.as_str().unwrap()).await.status, 200, "{url}");
    }
    for (path, kind) in [
        (format!("/api/v1/collections/{REGISTRY}/wep"), "unknown-collection"),
        ("/api/v1/collections/github.com/acme/none/web".to_owned(), "unknown-registry"),
        ("/api/v1/templates?registry=github.com/acme/none".to_owned(), "unknown-registry"),
        ("/api/v1/templates?collection=..".to_owned(), "invalid-query"),
        ("/api/v1/templates?limit=0".to_owned(), "invalid-query"),
        ("/api/v1/templates?cursor=nonsense".to_owned(), "invalid-query"),
        ("/api/v1/registries?cursor=x".to_owned(), "invalid-query"),
        ("/api/v1/templates/redis/-/versions?cursor=latest".to_owned(), "invalid-query"),
        ("/api/v1/templates/redis:v1/-/versions".to_owned(), "invalid-reference"),
        ("/api/v1/templates/redis:v1/-/renovate".to_owned(), "invalid-reference"),
    ] {
        let problem = app.get(&path).await.json();
        assert_eq!(problem["type"], format!("/docs/errors/{kind}"), "{path}: {problem}");
    }
}

#[tokio::test]
async fn tokens_come_in_pages_too() {
    let app = both().await;
    let admin = app.token(Scope::Admin, &[]).await;
    for _ in 0..4 {
        app.token(Scope::Read, &[]).await;
    }
    let first = app.get_as(&admin, "/api/v1/tokens?limit=3").await;
    assert_eq!(first.header("cache-control"), "no-store");
    let next = first.json()["next"].as_str().unwrap().to_owned();
    let rest = app.get_as(&admin, &format!("/api/v1/tokens?limit=3&cursor={next}")).await.json();
    assert_eq!(
        (first.json()["tokens"].as_array().unwrap().len(), rest["tokens"].as_array().unwrap().len()),
        (3, 2)
    );
    assert_eq!(rest.get("next"), None);
}

/// What Renovate's custom datasources read: members and forms as its own documentation has them.
#[tokio::test]
async fn versions_as_renovate_reads_them() {
    let app =
        App::with(vec![inspected(acme())], Box::new(InProcess), Some("https://templates.example")).await;
    let answer = app.get("/api/v1/templates/redis/-/renovate").await;
    assert_eq!(answer.header("content-type"), "application/json");
    let body = answer.json();
    assert_json_snapshot!("renovate", body);
    let releases = body["releases"].as_array().unwrap();
    for release in releases {
        let version = release["version"].as_str().unwrap();
        assert!(version.starts_with('v') && version.split('.').count() == 3, "{version}");
        let at = release["releaseTimestamp"].as_str().unwrap();
        assert!(at.len() == 20 && at.ends_with('Z'), "{at}");
        // The digest pins the version, and the page is there.
        let pinned = format!("/api/v1/resolve?ref=redis:={version}@{}", release["digest"].as_str().unwrap());
        assert_eq!(app.get(&pinned).await.status, 200, "{pinned}");
        let page =
            release["changelogUrl"].as_str().unwrap().strip_prefix("https://templates.example").unwrap();
        assert_eq!(app.get(page).await.status, 200, "{page}");
    }
    let withdrawn = releases.iter().find(|release| release["version"] == "v2.0.1").unwrap();
    assert_eq!(withdrawn["isDeprecated"], true);
    assert_eq!(body["tags"]["latest"], "v2.0.0");
    // Without a public URL there is nothing that Renovate could open.
    let plain = App::new().await.get("/api/v1/templates/redis/-/renovate").await.json();
    assert_eq!((plain.get("homepage"), plain["releases"][0].get("changelogUrl")), (None, None));
}
