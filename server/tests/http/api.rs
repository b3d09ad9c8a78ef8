//! Bodies, held by snapshots.

use http::Method;
use insta::assert_json_snapshot;
use serde_json::json;

use crate::kit::{App, InProcess, REGISTRY, acme, inspected};

#[tokio::test]
async fn resolving() {
    let app = App::new().await;
    assert_json_snapshot!("resolve", app.get("/api/v1/resolve?ref=redis:v1").await.json());
    for (reference, resolved, rule) in [
        ("redis:1.0.2", "v1.0.4", "highest-patch"),
        ("redis:=v1.0.0", "v1.0.0", "exact"),
        ("redis:^v1", "v1.1.0", "highest-minor"),
        ("redis", "v2.0.0", "highest"),
        ("redis:v2", "v2.0.0", "highest-patch"),
        ("redis:=v2.0.1", "v2.0.1", "exact"),
        ("web/frontend:v1", "v1.0.0", "highest-patch"),
        ("GitHub.com/ACME/templates/redis:v1", "v1.0.4", "highest-patch"),
    ] {
        let answer = app.get(&format!("/api/v1/resolve?ref={}", reference.replace('^', "%5E"))).await;
        let body = answer.json();
        assert_eq!((&body["resolved"], &body["rule"]), (&json!(resolved), &json!(rule)), "{reference}");
        // What is pinned gets the same bytes again.
        let pinned = body["pinned"].as_str().unwrap();
        let again = app.get(&format!("/api/v1/resolve?ref={pinned}")).await.json();
        assert_eq!(again["digest"], body["digest"], "{pinned}");
    }
}

#[tokio::test]
async fn templates_files_and_parameters() {
    let app = App::new().await;
    assert_json_snapshot!("template", app.get("/api/v1/templates/web/frontend:v1").await.json());
    assert_json_snapshot!("files", app.get("/api/v1/templates/web/frontend:v1/-/files/").await.json());
    assert_json_snapshot!(
        "parameters",
        app.get("/api/v1/templates/web/frontend:v1/-/parameters").await.json()
    );
    let file = app.get("/api/v1/templates/web/frontend:v1/-/files/example.yaml").await;
    assert_eq!((file.status.as_u16(), file.text().as_str()), (200, "parameters:\n  NAME: shop\n"));
    assert_eq!(file.header("content-type"), "application/yaml");
    // Every address in an answer answers.
    let links = app.get("/api/v1/templates/web/frontend:v1").await.json();
    for (name, link) in links["links"].as_object().unwrap() {
        let method = if name == "process" { Method::POST } else { Method::GET };
        let answer = app.send(method, link.as_str().unwrap(), &[], "").await;
        assert!(
            answer.status.is_success() || name == "process" && answer.status == 422,
            "{name} {link}: {}",
            answer.status
        );
    }
    for file in links["files"].as_array().unwrap() {
        assert_eq!(app.get(file["url"].as_str().unwrap()).await.status, 200, "{file}");
    }
}

#[tokio::test]
async fn registries_and_search() {
    let app = App::new().await;
    assert_json_snapshot!("registries", app.get("/api/v1/registries").await.json());
    assert_json_snapshot!("registry", app.get(&format!("/api/v1/registries/{REGISTRY}")).await.json());
    assert_json_snapshot!("search", app.get("/api/v1/search?q=frontend&kind=template").await.json());
    let all = app.get("/api/v1/search?limit=1").await.json();
    assert_eq!(all["total"], 3);
    let next =
        app.get(&format!("/api/v1/search?limit=1&cursor={}", all["next"].as_str().unwrap())).await.json();
    assert_ne!(next["hits"][0]["reference"], all["hits"][0]["reference"]);
    assert_json_snapshot!("status", app.get("/api/v1/status").await.json());
    assert_json_snapshot!("readyz", app.get("/readyz").await.json());
}

#[tokio::test]
async fn errors_lead_on() {
    let app = App::new().await;
    for (name, path) in [
        ("unknown_version", "/api/v1/resolve?ref=redis:v1.9"),
        ("unknown_template", "/api/v1/resolve?ref=reddis:v1"),
        ("unknown_collection", "/api/v1/resolve?ref=wep/frontend:v1"),
        ("unknown_registry", "/api/v1/resolve?ref=github.com/acme/template/redis:v1"),
        (
            "unknown_digest",
            "/api/v1/resolve?ref=redis@sha256:0000000000000000000000000000000000000000000000000000000000000000",
        ),
        ("unknown_file", "/api/v1/templates/redis:v1/-/files/nothing.yaml"),
        ("invalid_version", "/api/v1/resolve?ref=redis:latest"),
        ("missing_parameter", "/api/v1/resolve"),
        ("unknown_path", "/api/v1/nothing"),
    ] {
        let answer = app.get(path).await;
        assert_eq!(answer.header("content-type"), "application/problem+json", "{path}");
        assert_eq!(answer.header("cache-control"), "no-store", "{path}");
        assert_eq!(answer.header("x-request-id"), "test-1");
        let body = answer.json();
        assert_eq!(body["status"], answer.status.as_u16(), "{path}");
        assert_json_snapshot!(name, body);
        // The type leads to its description.
        assert_eq!(app.get(body["type"].as_str().unwrap()).await.status, 200, "{body}");
    }
}

#[tokio::test]
async fn methods_that_are_not_answered() {
    let app = App::new().await;
    for (method, path, allow) in [
        (Method::POST, "/api/v1/resolve?ref=redis", "GET"),
        (Method::DELETE, "/api/v1/templates/redis", "GET"),
        (Method::GET, "/api/v1/templates/redis/-/process", "POST"),
        (Method::POST, "/api/v1/templates/redis", "GET"),
        (Method::PUT, "/api/v1/search", "GET"),
        (Method::POST, "/healthz", "GET"),
    ] {
        let answer = app.send(method.clone(), path, &[], "").await;
        assert_eq!((answer.status.as_u16(), answer.header("allow")), (405, allow), "{method} {path}");
        assert_eq!(answer.header("content-type"), "application/problem+json");
    }
}

#[tokio::test]
async fn urls_are_absolute_only_with_a_public_url() {
    let app =
        App::with(vec![inspected(acme())], Box::new(InProcess), Some("https://templates.example/")).await;
    let body = app.get("/api/v1/resolve?ref=redis:v1").await.json();
    assert!(
        body["links"]["page"].as_str().unwrap().starts_with("https://templates.example/github.com/"),
        "{body}"
    );
    let problem = app.get("/api/v1/resolve?ref=nothing").await.json();
    assert_eq!(problem["type"], "https://templates.example/docs/errors/unknown-template");
}

#[tokio::test]
async fn the_description_of_the_api() {
    let app = App::new().await;
    let document = app.get("/api/v1/openapi.json").await.json();
    assert!(document["openapi"].as_str().unwrap().starts_with("3.1"));
    assert_json_snapshot!("openapi", document);
}

#[tokio::test]
async fn metrics_count_what_was_answered() {
    let app = App::new().await;
    app.get("/api/v1/resolve?ref=redis:v1").await;
    app.get("/api/v1/resolve?ref=redis:v1").await;
    app.get("/api/v1/resolve?ref=nothing").await;
    let text = app.get("/metrics").await.text();
    for line in [
        r#"formwork_http_requests_total{route="resolve",status="2xx"} 2"#,
        r#"formwork_http_requests_total{route="resolve",status="4xx"} 1"#,
        "formwork_ready_answers_hits_total 1",
    ] {
        assert!(text.contains(line), "{line} is not in\n{text}");
    }
    assert!(text.ends_with("# EOF\n"));
}
