//! What caches may do, and what they get when they ask again.

use std::io::Read;

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

/// Made anew, from memory, by reference and by digest: each coding is a representation with a tag of its own.
#[tokio::test]
async fn representations_have_their_own_tags() {
    let app = App::new().await;
    let resolved = app.get("/api/v1/resolve?ref=web/frontend:v1").await.json();
    let file = "/api/v1/templates/web/large:v1/-/files/large.yaml";
    let large =
        acme().version("web/large:v1.0.0", &[("large.yaml", &"a: some text that is long\n".repeat(200))]);
    inspected(large).publish(&app.catalog).await;
    let content = app.get("/api/v1/resolve?ref=web/large:v1").await.json();
    let content = content["files"][0]["url"].as_str().unwrap();
    assert!(resolved["files"].is_array());
    for path in ["/api/v1/templates", "/api/v1/resolve?ref=web/frontend:v1", file, content, "/docs/api"] {
        let plain = app.get(path).await;
        let varies = |answer: &crate::kit::Answer| {
            let values =
                answer.headers.get_all("vary").iter().map(|value| value.to_str().unwrap().to_owned());
            values.collect::<std::collections::BTreeSet<_>>()
        };
        assert!(varies(&plain).contains("accept-encoding"), "{path}: {:?}", varies(&plain));
        let mut tags = vec![plain.header("etag").to_owned()];
        for coding in ["zstd", "br", "gzip"] {
            // Twice: made, and from memory.
            for _ in 0..2 {
                let packed = app.send(Method::GET, path, &[("accept-encoding", coding)], "").await;
                assert_eq!(packed.header("content-encoding"), coding, "{path}");
                assert!(packed.body.len() < plain.body.len(), "{path}");
                assert_eq!(packed.header("content-length"), packed.body.len().to_string(), "{path}");
                assert_eq!(varies(&packed), varies(&plain), "{path}");
                let unpacked = match coding {
                    "zstd" => zstd::decode_all(&*packed.body).unwrap(),
                    "br" => {
                        let mut out = Vec::new();
                        brotli::BrotliDecompress(&mut &*packed.body, &mut out).unwrap();
                        out
                    }
                    _ => {
                        let mut out = Vec::new();
                        flate2::read::GzDecoder::new(&*packed.body).read_to_end(&mut out).unwrap();
                        out
                    }
                };
                assert_eq!(unpacked, plain.body, "{path} in {coding}");
                let tag = packed.header("etag");
                let asked = [("accept-encoding", coding), ("if-none-match", tag)];
                assert_eq!(app.send(Method::GET, path, &asked, "").await.status, 304, "{path}");
                let head = app.send(Method::HEAD, path, &[("accept-encoding", coding)], "").await;
                assert_eq!((head.header("etag"), head.body.len()), (tag, 0), "{path}");
                tags.push(tag.to_owned());
            }
        }
        tags.sort();
        tags.dedup();
        assert_eq!(tags.len(), 4, "{path}");
    }
}

/// One range of a file or an archive, by reference and by digest.
#[tokio::test]
async fn parts_of_files_and_archives_can_be_asked_for() {
    let app = App::new().await;
    let resolved = app.get("/api/v1/resolve?ref=web/frontend:v1").await.json();
    for path in [
        "/api/v1/templates/web/frontend:v1/-/files/frontend.yaml",
        "/api/v1/templates/web/frontend:v1/-/archive.tar.gz",
        &content_path(&app).await,
        resolved["links"]["archive"].as_str().unwrap(),
    ] {
        let whole = app.get(path).await;
        let (length, tag) = (whole.body.len(), whole.header("etag"));
        assert_eq!(whole.header("accept-ranges"), "bytes", "{path}");
        for (range, part) in
            [("bytes=0-9", 0..10), ("bytes=10-", 10..length), ("bytes=-5", length - 5..length)]
        {
            let answer =
                app.send(Method::GET, path, &[("range", range), ("accept-encoding", "gzip")], "").await;
            assert_eq!(answer.status, 206, "{path} {range}");
            assert_eq!(answer.body, whole.body.slice(part.clone()), "{path} {range}");
            let said = format!("bytes {}-{}/{length}", part.start, part.end - 1);
            assert_eq!(answer.header("content-range"), said);
            assert_eq!(answer.header("content-length"), part.len().to_string());
            assert_eq!((answer.header("etag"), answer.header("content-encoding")), (tag, ""));
        }
        let asked = |condition: &'static str| [("range", "bytes=0-1"), ("if-range", condition)];
        assert_eq!(app.send(Method::GET, path, &asked("\"other\""), "").await.status, 200);
        let same = [("range", "bytes=0-1"), ("if-range", tag)];
        assert_eq!(app.send(Method::GET, path, &same, "").await.status, 206);
        let unchanged = [("range", "bytes=0-1"), ("if-none-match", tag)];
        assert_eq!(app.send(Method::GET, path, &unchanged, "").await.status, 304);
        assert_eq!(app.send(Method::HEAD, path, &[("range", "bytes=0-1")], "").await.status, 200);
        let behind = app.send(Method::GET, path, &[("range", "bytes=99999999-")], "").await;
        assert_eq!(
            (behind.status.as_u16(), behind.header("content-range")),
            (416, &*format!("bytes */{length}"))
        );
        assert_eq!(behind.json()["type"], "/docs/errors/range-not-satisfiable");
        assert_eq!(app.send(Method::GET, path, &[("range", "bytes=0-1,4-5")], "").await.status, 200);
    }
    let pointer = app.send(Method::GET, "/api/v1/resolve?ref=redis", &[("range", "bytes=0-1")], "").await;
    assert_eq!((pointer.status.as_u16(), pointer.header("accept-ranges")), (200, ""));
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

/// Every route of the description and every page has its policy, and says it in its headers: to anybody, and to somebody
/// who is known. A new route that says another thing fails here.
#[tokio::test]
async fn every_route_has_its_policy() {
    let app = App::new().await;
    let reader = app.token(catalog::Scope::Admin, &[]).await;
    let document = app.get("/api/v1/openapi.json").await.json();
    let content = content_path(&app).await;
    let mut paths = vec![content, "/".to_owned()];
    for (path, item) in document["paths"].as_object().unwrap() {
        if let Some(operation) = item.get("get") {
            paths.push(crate::openapi::example(path, &operation["parameters"]));
        }
    }
    for page in ["/search?q=redis", "/registries", "/docs/api", "/docs/errors/busy", "/robots.txt"] {
        paths.push(page.to_owned());
    }
    for below in ["", "/redis", "/redis:v1", "/redis:v1/-/files/", "/redis/-/feed.atom"] {
        paths.push(format!("/{REGISTRY}{below}"));
    }
    assert!(paths.len() > 30, "{paths:?}");
    for path in paths {
        let state = ["/healthz", "/readyz", "/metrics", "/api/v1/status", "/api/v1/tokens"];
        // The listing of a content names addresses, which change with the public URL.
        let immutable = path.contains("sha256:") && !path.ends_with('/');
        let expected = |known: bool| match (state.contains(&path.as_str()), immutable, known) {
            (true, ..) => "no-store",
            (_, true, _) => "public, max-age=31536000, immutable",
            (_, false, true) => "private, no-cache",
            (_, false, false) => "no-cache",
        };
        let anybody = app.get(&path).await;
        let known = app.get_as(&reader, &path).await;
        for (answer, somebody) in [(&anybody, false), (&known, true)] {
            if path == "/api/v1/tokens" && !somebody {
                assert_eq!((answer.status.as_u16(), answer.header("cache-control")), (401, "no-store"));
                continue;
            }
            assert_eq!(answer.status, 200, "{path}");
            assert_eq!(answer.header("cache-control"), expected(somebody), "{path}");
            let varies = answer.headers.get_all("vary").iter().any(|value| value == "authorization, cookie");
            let stored = answer.header("cache-control").contains("no-cache");
            assert_eq!(varies, stored, "{path}: {:?}", answer.headers);
            let tagged = answer.header("etag").starts_with('"');
            assert_eq!(tagged, answer.header("cache-control") != "no-store", "{path}");
            if tagged {
                let asked = [("if-none-match", answer.header("etag"))];
                let mut asked = asked.to_vec();
                let bearer = format!("Bearer {reader}");
                asked.extend(somebody.then_some(("authorization", bearer.as_str())));
                let again = app.send(Method::GET, &path, &asked, "").await;
                assert_eq!((again.status.as_u16(), again.body.len()), (304, 0), "{path}");
            }
        }
    }
}
