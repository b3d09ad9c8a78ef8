//! What many clients have in common: archives, scripts of other sites, limits of rate, request ids.

use std::collections::BTreeMap;
use std::io::Read;

use catalog::Scope;
use http::Method;
use http_body_util::{BodyExt, Full};
use server::{AccessLog, Front, Rate, RateLimits};

use crate::access::{SECRET, both};
use crate::kit::{Answer, App};

/// The paths, modes and contents of an archive.
fn unpacked(archive: &[u8]) -> BTreeMap<String, (u32, Vec<u8>)> {
    let mut tar = tar::Archive::new(flate2::read::GzDecoder::new(archive));
    let entries = tar.entries().unwrap().map(|entry| {
        let mut entry = entry.unwrap();
        let mut body = Vec::new();
        entry.read_to_end(&mut body).unwrap();
        (entry.path().unwrap().display().to_string(), (entry.header().mode().unwrap(), body))
    });
    entries.collect()
}

#[tokio::test]
async fn archives_hold_the_files_and_are_one_for_a_digest() {
    let app = App::new().await;
    let resolved = app.get("/api/v1/resolve?ref=web/frontend:v1").await.json();
    let by_reference = app.get("/api/v1/templates/web/frontend:v1/-/archive.tar.gz").await;
    assert_eq!(by_reference.header("content-type"), "application/gzip");
    assert_eq!(by_reference.header("content-disposition"), "attachment; filename=\"frontend-v1.0.0.tar.gz\"");
    assert_eq!(by_reference.header("formwork-digest"), resolved["digest"].as_str().unwrap());
    assert_eq!(by_reference.header("cache-control"), "no-cache");
    let by_digest = app.get(resolved["links"]["archive"].as_str().unwrap()).await;
    assert_eq!(by_digest.header("cache-control"), "public, max-age=31536000, immutable");
    assert_eq!(by_digest.body, by_reference.body);
    // Another server, another day: the same bytes.
    let other = App::new().await.get("/api/v1/templates/web/frontend/-/archive.tar.gz").await;
    assert_eq!(other.body, by_reference.body);
    let files = unpacked(&by_reference.body);
    let listed = resolved["files"].as_array().unwrap();
    assert_eq!(files.len(), listed.len());
    for file in listed {
        let (mode, body) = &files[file["path"].as_str().unwrap()];
        assert_eq!(*mode, 0o644);
        assert_eq!(app.get(file["url"].as_str().unwrap()).await.body, *body);
    }
    let head = app.send(Method::HEAD, "/api/v1/templates/web/frontend:v1/-/archive.tar.gz", &[], "").await;
    assert_eq!(head.header("content-length"), by_reference.body.len().to_string());
    let unknown = app.get("/api/v1/templates/web/frontend:v9/-/archive.tar.gz").await;
    assert_eq!((unknown.status.as_u16(), unknown.json()["part"].as_str()), (404, Some("version")));
}

#[tokio::test]
async fn archives_of_private_registries_are_for_who_may_see_them() {
    let app = both().await;
    let reader = app.token(Scope::Read, &[SECRET]).await;
    let by_reference = format!("/api/v1/templates/{SECRET}/vault:v1/-/archive.tar.gz");
    let archive = app.get_as(&reader, &by_reference).await;
    assert_eq!((archive.status.as_u16(), archive.header("cache-control")), (200, "private, no-cache"));
    let by_digest = format!("/api/v1/content/{SECRET}/{}.tar.gz", archive.header("formwork-digest"));
    let content = app.get_as(&reader, &by_digest).await;
    assert_eq!(content.header("cache-control"), "private, max-age=31536000, immutable");
    assert!(content.header("vary").contains("authorization"));
    for path in [by_reference, by_digest] {
        assert_eq!(app.get(&path).await.status, 404, "{path}");
    }
}

async fn preflight(app: &App, path: &str, method: &str) -> Answer {
    let headers = [
        ("origin", "https://console.example"),
        ("access-control-request-method", method),
        ("access-control-request-headers", "content-type"),
    ];
    app.send(Method::OPTIONS, path, &headers, "").await
}

#[tokio::test]
async fn scripts_of_other_sites_read_what_anybody_may() {
    let app = both().await;
    let process = "/api/v1/templates/web/frontend:v1/-/process";
    let origin = ("origin", "https://console.example");
    for path in [
        "/api/v1/resolve?ref=redis:v1",
        "/api/v1/resolve?ref=nothing",
        "/api/v1/templates/redis:v1/-/files/redis.yaml",
        "/api/v1/templates/redis:v1/-/archive.tar.gz",
        "/api/v1/templates",
        "/api/v1/search?q=redis",
        "/api/v1/registries",
        "/api/v1/openapi.json",
    ] {
        for method in [Method::GET, Method::HEAD, Method::GET] {
            let answer = app.send(method, path, &[origin], "").await;
            assert_eq!(answer.header("access-control-allow-origin"), "*", "{path}");
            assert_eq!(answer.header("access-control-expose-headers"), "*", "{path}");
            assert_eq!(answer.header("access-control-allow-credentials"), "", "{path}");
        }
        let asked = preflight(&app, path, "GET").await;
        assert_eq!(
            (asked.status.as_u16(), asked.header("access-control-allow-methods")),
            (204, "GET, HEAD"),
            "{path}"
        );
        assert!(asked.header("access-control-allow-headers").contains("content-type"));
        assert!(!asked.header("access-control-allow-headers").contains("authorization"));
    }
    let headers = [origin, ("content-type", "application/json")];
    let made = app.send(Method::POST, process, &headers, "{\"parameters\": {\"NAME\": \"x\"}}").await;
    assert_eq!((made.status.as_u16(), made.header("access-control-allow-origin")), (200, "*"));
    assert_eq!(preflight(&app, process, "POST").await.header("access-control-allow-methods"), "POST");
}

#[tokio::test]
async fn scripts_of_other_sites_reach_nothing_that_changes_or_is_for_somebody() {
    let app = both().await;
    let reader = app.token(Scope::Read, &[]).await;
    for (path, method) in [
        ("/api/v1/registries", "POST"),
        ("/api/v1/registries/github.com/acme/templates", "DELETE"),
        ("/api/v1/registries/github.com/acme/templates/-/sync", "POST"),
        ("/api/v1/tokens", "GET"),
        ("/api/v1/tokens", "POST"),
        ("/login", "POST"),
        ("/", "GET"),
        ("/webhooks/github", "POST"),
        ("/metrics", "GET"),
    ] {
        let asked = preflight(&app, path, method).await;
        assert_eq!(asked.header("access-control-allow-origin"), "", "{method} {path}");
        assert!(!asked.status.is_success(), "{method} {path}");
    }
    for path in ["/", "/healthz", "/metrics", "/api/v1/tokens"] {
        assert_eq!(app.get(path).await.header("access-control-allow-origin"), "", "{path}");
    }
    for path in [format!("/api/v1/resolve?ref={SECRET}/vault:v1"), "/api/v1/templates".to_owned()] {
        for _ in 0..2 {
            let answer = app.get_as(&reader, &path).await;
            assert_eq!(
                (answer.status.as_u16(), answer.header("access-control-allow-origin")),
                (200, ""),
                "{path}"
            );
        }
    }
}

/// A server with these limits, over the same catalogue.
async fn limited(app: &App, limits: RateLimits) -> Front {
    app.listening(|config| config.limits = limits).await.front()
}

async fn from(front: &Front, address: [u8; 4], path: &str, token: Option<&str>) -> Answer {
    let mut request = http::Request::builder().uri(path);
    if let Some(token) = token {
        request = request.header("authorization", format!("Bearer {token}"));
    }
    // What a client claims about where it is counts for nothing.
    let request = request.header("x-forwarded-for", "203.0.113.7").header("forwarded", "for=203.0.113.8");
    let request = request.body(Full::new(bytes::Bytes::new())).unwrap();
    let (parts, body) = front.answer(request, Some(address.into())).await.into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    Answer { status: parts.status, headers: parts.headers, body }
}

#[tokio::test]
async fn budgets_are_said_and_held() {
    let app = both().await;
    let rate = |text: &str| Some(text.parse::<Rate>().unwrap());
    let limits = RateLimits { requests: rate("5/1h"), search: rate("2/1h"), process: rate("1/1h") };
    let front = limited(&app, limits).await;
    let (one, other) = ([192, 0, 2, 1], [192, 0, 2, 2]);
    let first = from(&front, one, "/api/v1/registries", None).await;
    assert_eq!(first.header("ratelimit-policy"), "\"requests\";q=5;w=3600");
    assert_eq!(first.header("ratelimit"), "\"requests\";r=4;t=720");
    assert_eq!((first.header("x-ratelimit-limit"), first.header("x-ratelimit-remaining")), ("5", "4"));
    for _ in 0..4 {
        assert_eq!(from(&front, one, "/", None).await.status, 200);
    }
    let refused = from(&front, one, "/api/v1/registries", None).await;
    assert_eq!(refused.status, 429);
    assert_eq!(refused.header("content-type"), "application/problem+json");
    let wait = refused.header("retry-after").parse::<u64>().unwrap();
    assert!((700..=720).contains(&wait), "{wait}");
    assert!(refused.header("ratelimit").starts_with("\"requests\";r=0;t="));
    let problem = refused.json();
    assert_eq!(problem["type"], "/docs/errors/too-many-requests");
    // Others, other budgets, and what operators need are not touched; a token is counted by itself.
    assert_eq!(from(&front, other, "/api/v1/registries", None).await.status, 200);
    assert_eq!(from(&front, one, "/api/v1/search?q=redis", None).await.status, 200);
    for path in ["/healthz", "/readyz", "/metrics"] {
        let answer = from(&front, one, path, None).await;
        assert_eq!((answer.status.as_u16(), answer.header("ratelimit")), (200, ""), "{path}");
    }
    let token = app.token(Scope::Read, &[]).await;
    for address in [one, other, one, other, one] {
        assert_eq!(from(&front, address, "/api/v1/registries", Some(&token)).await.status, 200);
    }
    assert_eq!(from(&front, [192, 0, 2, 3], "/api/v1/registries", Some(&token)).await.status, 429);
    // Searches, whether for tools or people, are counted in their own budget.
    assert_eq!(from(&front, one, "/search?q=redis", None).await.status, 200);
    assert_eq!(from(&front, one, "/api/v1/search?q=redis", None).await.status, 429);
    let metrics = from(&front, one, "/metrics", None).await.text();
    for line in [
        "formwork_rate_limited_total{budget=\"requests\"} 2",
        "formwork_rate_limited_total{budget=\"search\"} 1",
    ] {
        assert!(metrics.contains(line), "{line} is not in\n{metrics}");
    }
}

#[tokio::test]
async fn what_is_ready_in_memory_is_not_counted() {
    let app = both().await;
    let limits = RateLimits { requests: Some("2/1h".parse::<Rate>().unwrap()), search: None, process: None };
    let front = limited(&app, limits).await;
    let path = "/api/v1/resolve?ref=redis:v1";
    assert_eq!(from(&front, [192, 0, 2, 1], path, None).await.header("x-ratelimit-remaining"), "1");
    for _ in 0..50 {
        assert_eq!(from(&front, [192, 0, 2, 1], path, None).await.status, 200);
    }
    // Ever new names are counted, found or not.
    let asked = |number: usize| format!("/api/v1/resolve?ref=nothing{number}");
    assert_eq!(from(&front, [192, 0, 2, 1], &asked(1), None).await.status, 404);
    assert_eq!(from(&front, [192, 0, 2, 1], &asked(2), None).await.status, 429);
}

/// An id and a trace that come with a request are in the log, beside what was answered; what is no trace is not.
#[tokio::test]
async fn ids_and_traces_go_on_in_the_log() {
    let app = both().await;
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("access.log");
    let server = app.listening(|config| config.access_log = AccessLog::File(path.clone())).await;
    let front = server.front();
    let (trace, span) = ("0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331");
    // Made, from memory, by the router, and not at all.
    let asked = ["/api/v1/resolve?ref=redis", "/api/v1/resolve?ref=redis", "/api/v1/registries", "/nothing"];
    for (number, path) in asked.into_iter().enumerate() {
        let request = http::Request::builder().uri(path).header("x-request-id", format!("id-{number}"));
        let request = request.header("traceparent", format!("00-{trace}-{span}-01"));
        let answer = front.answer(request.body(Full::new(bytes::Bytes::new())).unwrap(), None).await;
        assert_eq!(answer.headers()["x-request-id"], format!("id-{number}").as_str());
    }
    let request = http::Request::builder().uri("/healthz").header("traceparent", "nonsense");
    front.answer(request.body(Full::new(bytes::Bytes::new())).unwrap(), None).await;
    let started = std::time::Instant::now();
    let lines = loop {
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        if text.lines().count() == 5 {
            break text;
        }
        assert!(started.elapsed().as_secs() < 20, "{text}");
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    };
    let lines = lines.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    for (number, line) in lines.enumerate() {
        if number < 4 {
            assert_eq!(line["request_id"], format!("id-{number}"));
            assert_eq!((&line["trace_id"], &line["parent_id"]), (&trace.into(), &span.into()), "{line}");
        } else {
            assert_eq!(line.get("trace_id"), None, "{line}");
        }
    }
}
