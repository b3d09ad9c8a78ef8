//! Pages: whole, linked, and made of what is real.

use std::collections::BTreeSet;

use crate::kit::App;

const PAGES: [&str; 15] = [
    "/",
    "/search",
    "/search?q=frontend&kind=template",
    "/registries",
    "/github.com/acme/templates",
    "/github.com/acme/templates/web/",
    "/github.com/acme/templates/web",
    "/github.com/acme/templates/redis",
    "/github.com/acme/templates/redis:v1",
    "/github.com/acme/templates/web/frontend:v1",
    "/github.com/acme/templates/web/frontend:v1/-/files/",
    "/github.com/acme/templates/web/frontend:v1/-/files/frontend.yaml",
    "/github.com/acme/templates/web/frontend:v1/-/try",
    "/status",
    "/docs",
];

#[tokio::test]
async fn every_page_answers_and_every_link_leads_somewhere() {
    let app = App::new().await;
    let mut links = BTreeSet::new();
    for path in PAGES {
        let answer = app.get(path).await;
        assert_eq!(answer.status, 200, "{path}");
        assert_eq!(answer.header("content-type"), "text/html; charset=utf-8");
        let html = answer.text();
        assert_eq!(html.matches("<h1").count(), 1, "{path}");
        assert!(html.trim_end().ends_with("</html>"), "{path}");
        assert!(!html.contains(" style="), "{path} has an inline style");
        assert!(html.len() < 100 << 10, "{path} has {} bytes", html.len());
        for attribute in ["href=\"", "src=\"", "action=\""] {
            let targets = html.split(attribute).skip(1).filter_map(|rest| rest.split(['"', '#']).next());
            links.extend(
                targets
                    .filter(|link| link.starts_with('/'))
                    .map(|link| link.replace("&#38;", "&").replace("&amp;", "&")),
            );
        }
    }
    for link in links {
        let answer = app.get(&link).await;
        assert!(answer.status.is_success(), "{link}: {}", answer.status);
    }
}

#[tokio::test]
async fn a_template_page_shows_what_one_needs() {
    let app = App::new().await;
    let html = app.get("/github.com/acme/templates/web/frontend:v1").await.text();
    for expected in [
        "frontend",
        "Serves the shop.",
        "v1.0.0",
        "sha256:",
        "NAME",
        "What it is called.",
        "required",
        "formwork process",
        "curl",
        "follow patches",
        "shop, web",
        "README",
    ] {
        assert!(html.contains(expected), "{expected} is not on the page");
    }
    // Links in the README lead into the version; those that lead nowhere are text.
    assert!(html.contains("href=\"/github.com/acme/templates/web/frontend:v1.0.0/-/files/example.yaml\""));
    assert!(html.contains("logo.svg\" alt=\"logo\""));
    assert!(!html.contains("missing.md"));
}

#[tokio::test]
async fn a_page_that_is_not_there_leads_on() {
    let app = App::new().await;
    for (path, expected) in [
        (
            "/github.com/acme/templates/redis:v1.9",
            vec!["There is a redis, but no v1.9", "redis:v1.1.0", "application/problem+json"],
        ),
        (
            "/github.com/acme/templates/reddis",
            vec!["There is no reddis here", "/github.com/acme/templates/redis"],
        ),
        ("/github.com/acme/template", vec!["No such registry"]),
        ("/github.com/acme/template/redis", vec!["No such registry", "github.com/acme/templates"]),
        ("/nothing", vec!["Nothing is served here"]),
        ("/docs/nothing", vec!["Nothing is served here"]),
        ("/github.com/acme/templates/web/frontend:v1/-/files/nothing", vec!["No such file"]),
    ] {
        let answer = app.get(path).await;
        assert_eq!(answer.status, 404, "{path}");
        let html = answer.text();
        for expected in expected {
            assert!(html.contains(expected), "{path}: {expected} is not in\n{html}");
        }
    }
    let bad = app.get("/github.com/acme/templates/redis:latest").await;
    assert_eq!(bad.status, 400);
    assert!(bad.text().contains("is not a version"));
}
