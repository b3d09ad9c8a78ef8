//! What caches may do, and what they get when they ask again.

use http::Method;

use crate::kit::{App, REGISTRY, acme, inspected};

async fn content_path(app: &App) -> String {
    let body = app.get("/api/v1/resolve?ref=web/frontend:v1").await.json();
    body["files"][0]["url"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn only_addresses_with_a_digest_are_immutable() {
    let app = App::new().await;
    let content = content_path(&app).await;
    assert_eq!(app.get(&content).await.header("cache-control"), "public, max-age=31536000, immutable");
    for path in [
        "/api/v1/resolve?ref=redis:v1",
        "/api/v1/resolve?ref=redis:=v1.0.0",
        "/api/v1/templates/redis:v1",
        "/api/v1/templates/redis:=v1.0.0/-/files/redis.yaml",
        "/api/v1/templates/redis/-/files/",
        "/api/v1/templates/redis/-/parameters",
        "/api/v1/registries",
        "/api/v1/search?q=redis",
        "/api/v1/openapi.json",
        "/",
        "/registries",
        "/search?q=redis",
        "/github.com/acme/templates/redis",
    ] {
        let answer = app.get(path).await;
        assert_eq!(answer.header("cache-control"), "no-cache", "{path}");
        assert!(answer.header("etag").starts_with('"'), "{path}");
    }
    for path in ["/healthz", "/readyz", "/metrics", "/api/v1/status", "/api/v1/resolve?ref=nothing"] {
        assert_eq!(app.get(path).await.header("cache-control"), "no-store", "{path}");
    }
}

#[tokio::test]
async fn asking_again_costs_no_body() {
    let app = App::new().await;
    let content = content_path(&app).await;
    for path in [
        "/api/v1/resolve?ref=redis:v1",
        "/api/v1/templates/redis:v1/-/files/redis.yaml",
        &content,
        "/api/v1/registries",
        "/registries",
    ] {
        // Twice: made, and from memory.
        for _ in 0..2 {
            let first = app.get(path).await;
            let again = app.send(Method::GET, path, &[("if-none-match", first.header("etag"))], "").await;
            assert_eq!((again.status.as_u16(), again.body.len()), (304, 0), "{path}");
            assert_eq!(again.header("etag"), first.header("etag"), "{path}");
            assert_eq!(again.header("cache-control"), first.header("cache-control"), "{path}");
            let other = app.send(Method::GET, path, &[("if-none-match", "\"other\"")], "").await;
            assert_eq!((other.status.as_u16(), &other.body), (200, &first.body), "{path}");
        }
    }
}

#[tokio::test]
async fn head_is_get_without_the_body() {
    let app = App::new().await;
    let content = content_path(&app).await;
    for path in [
        "/api/v1/resolve?ref=redis:v1",
        "/api/v1/templates/redis:v1/-/files/redis.yaml",
        &content,
        "/api/v1/registries",
        "/",
        "/healthz",
        "/api/v1/resolve?ref=nothing",
    ] {
        for _ in 0..2 {
            let head = app.send(Method::HEAD, path, &[], "").await;
            let get = app.get(path).await;
            assert_eq!(head.status, get.status, "{path}");
            assert!(head.body.is_empty(), "{path}");
            for name in ["content-type", "etag", "cache-control"] {
                assert_eq!(head.header(name), get.header(name), "{path}: {name}");
            }
            assert_eq!(head.header("content-length"), get.body.len().to_string(), "{path}");
        }
    }
}

#[tokio::test]
async fn representations_have_their_own_tags() {
    let app = App::new().await;
    let path = format!("/api/v1/registries/{REGISTRY}");
    let plain = app.get(&path).await;
    let packed = app.send(Method::GET, &path, &[("accept-encoding", "gzip")], "").await;
    assert_eq!(packed.header("content-encoding"), "gzip");
    assert_ne!(packed.header("etag"), plain.header("etag"));
    assert!(packed.body.len() < plain.body.len());
    assert_eq!(packed.header("vary"), "accept-encoding");
    assert_eq!(plain.header("vary"), "accept-encoding");
    let again = app
        .send(
            Method::GET,
            &path,
            &[("accept-encoding", "gzip"), ("if-none-match", packed.header("etag"))],
            "",
        )
        .await;
    assert_eq!(again.status, 304);
}

#[tokio::test]
async fn what_is_published_or_removed_shows_at_once() {
    let app = App::new().await;
    let path = "/api/v1/resolve?ref=redis:v1";
    let content = content_path(&app).await;
    assert_eq!(app.get(path).await.json()["resolved"], "v1.0.4");
    assert_eq!(app.get(&content).await.status, 200);
    let more = acme()
        .version("redis:v1.0.5", &[("redis.yaml", "apiVersion: v1\nkind: Template\nobjects: []\n# five\n")]);
    inspected(more).publish(&app.catalog).await;
    assert_eq!(app.get(path).await.json()["resolved"], "v1.0.5");
    app.catalog.remove_registry(&REGISTRY.parse().unwrap(), 2_000).await.unwrap();
    assert_eq!(app.get(path).await.status, 404);
    assert_eq!(app.get(&content).await.status, 404, "a digest is no way around");
}
