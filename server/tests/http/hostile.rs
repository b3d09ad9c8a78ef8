//! Hostile input: rows 26 to 31 and 38 of the attack table, as far as they concern HTTP.

use bytes::Bytes;
use http::Method;
use serde_json::json;

use crate::kit::App;

#[tokio::test]
async fn stored_scripts_are_text() {
    let app = App::new().await;
    for path in [
        "/github.com/acme/templates/web/nginx:v1",
        "/github.com/acme/templates/web/nginx:v1/-/files/README.md",
        "/search?q=%3Cscript%3Ealert(1)%3C/script%3E",
    ] {
        let answer = app.get(path).await;
        let text = answer.text();
        for harmful in ["<script>alert", "<img src=x", "href=\"javascript:", "href=javascript"] {
            assert!(!text.contains(harmful), "{path} contains {harmful}");
        }
        let policy = answer.header("content-security-policy");
        assert!(
            policy.contains("default-src 'none'")
                && policy.contains("script-src 'self'")
                && !policy.contains("unsafe"),
            "{policy}"
        );
    }
}

#[tokio::test]
async fn raw_files_cannot_run() {
    let app = App::new().await;
    for (file, content_type, disposition) in [
        ("docs/page.html", "text/plain; charset=utf-8", ""),
        ("logo.svg", "image/svg+xml", "attachment"),
        ("README.md", "text/markdown; charset=utf-8", ""),
    ] {
        let answer = app.get(&format!("/api/v1/templates/web/frontend:v1/-/files/{file}")).await;
        assert_eq!(
            (answer.header("content-type"), answer.header("content-disposition")),
            (content_type, disposition),
            "{file}"
        );
        assert_eq!(answer.header("x-content-type-options"), "nosniff");
        assert!(answer.header("content-security-policy").contains("sandbox"), "{file}");
    }
}

#[tokio::test]
async fn the_host_header_gets_into_no_answer() {
    let app = App::new().await;
    let spoofed = [
        ("host", "evil.example"),
        ("x-forwarded-host", "evil.example"),
        ("x-forwarded-proto", "gopher"),
        ("forwarded", "host=evil.example"),
    ];
    for path in [
        "/",
        "/api/v1/resolve?ref=redis:v1",
        "/api/v1/registries",
        "/github.com/acme/templates/web/frontend:v1",
        "/nothing",
        "/api/v1/openapi.json",
    ] {
        for _ in 0..2 {
            let answer = app.send(Method::GET, path, &spoofed, "").await;
            assert!(!answer.text().contains("evil.example"), "{path}");
            assert!(!format!("{:?}", answer.headers).contains("evil.example"), "{path}");
        }
    }
}

#[tokio::test]
async fn paths_do_not_leave_the_version() {
    let app = App::new().await;
    for path in [
        "..%2f..%2fregistry.yaml",
        "../frontend.yaml",
        "%2e%2e/%2e%2e/etc/passwd",
        "%2fetc%2fpasswd",
        "docs/../frontend.yaml",
        "docs//page.html",
        "frontend.yaml%00",
        "FRONTEND.YAML",
        ".",
        "docs",
    ] {
        let answer = app.get(&format!("/api/v1/templates/web/frontend:v1/-/files/{path}")).await;
        assert_eq!(
            (answer.status.as_u16(), answer.json()["type"].as_str()),
            (404, Some("/docs/errors/unknown-file")),
            "{path}"
        );
        let page = app.get(&format!("/github.com/acme/templates/web/frontend:v1/-/files/{path}")).await;
        assert_eq!(page.status, 404, "{path}");
    }
    for reference in ["..%2f..:v1", "a/../b:v1", "%00", "%ff", "https://github.com/a/b", &"x".repeat(2_000)] {
        let answer = app.get(&format!("/api/v1/templates/{reference}")).await;
        assert_eq!(answer.status, 400, "{reference}");
        assert!(answer.json()["part"].is_string(), "{reference}");
    }
}

#[tokio::test]
async fn nothing_makes_a_search_fail_or_dear() {
    let app = App::new().await;
    let long = "x".repeat(7_000);
    let many = (0..1_000).map(|number| format!("w{number}")).collect::<Vec<_>>().join("+");
    for query in [
        "*",
        "%22",
        "a%20AND%20(",
        "kind:",
        "kind:nothing",
        "registry:nowhere",
        "has:",
        "%00%ff",
        "%F0%9F%92%A9",
        "+-&&||!(){}[]^~*?:\\/",
        &long,
        &many,
    ] {
        let started = std::time::Instant::now();
        for path in ["/api/v1/search?q=", "/search?q="] {
            let answer = app
                .get(&format!("{path}{}", query.replace(['^', '\\', '{', '}', '[', ']', '|'], "%20")))
                .await;
            assert_eq!(answer.status, 200, "{query:.40}");
        }
        assert!(started.elapsed().as_secs() < 5, "{query:.40}");
    }
    let endless = app.get(&format!("/api/v1/search?q={}", "x".repeat(9_000))).await;
    assert_eq!(endless.status, 400);
    for bad in ["limit=many", "limit=-1", "cursor=nonsense"] {
        assert_eq!(app.get(&format!("/api/v1/search?{bad}")).await.status, 400, "{bad}");
    }
    assert_eq!(app.get("/search?cursor=nonsense").await.status, 400);
}

#[tokio::test]
async fn bodies_are_bounded() {
    let app = App::new().await;
    let path = "/api/v1/templates/web/frontend:v1/-/process";
    let json = [("content-type", "application/json")];
    let large = app.send(Method::POST, path, &json, Bytes::from(vec![b' '; (4 << 20) + 1])).await;
    assert_eq!((large.status.as_u16(), large.json()["type"].as_str()), (413, Some("/docs/errors/too-large")));
    for body in [
        "[".repeat(1_000_000),
        "{\"values\":".repeat(500),
        "{\"a\": NaN}".to_owned(),
        "{".to_owned(),
        "\u{0}".to_owned(),
    ] {
        let answer = app.send(Method::POST, path, &json, body).await;
        assert_eq!(
            (answer.status.as_u16(), answer.json()["type"].as_str()),
            (400, Some("/docs/errors/invalid-body"))
        );
    }
    let bomb = "a: &a [x,x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e,*e]\n";
    let answer = app.send(Method::POST, path, &[("content-type", "application/yaml")], bomb).await;
    assert_eq!(answer.status, 400, "{}", answer.text());
    let form = app
        .send(Method::POST, path, &[("content-type", "application/x-www-form-urlencoded")], "NAME=x")
        .await;
    assert_eq!(form.status, 415);
    assert!(form.json()["hint"].as_str().unwrap().contains("--json"));
    let parameters =
        (0..100_000).map(|number| (format!("P{number}"), json!("x"))).collect::<serde_json::Map<_, _>>();
    let answer = app.post(path, &json!({"parameters": parameters})).await;
    assert_eq!(answer.status, 422);
}
