//! The read path runs no SQL.

use crate::kit::App;

#[tokio::test]
async fn a_thousand_resolves_and_file_reads_run_no_sql() {
    let app = App::new().await;
    app.catalog.warmed().await;
    let content = app.get("/api/v1/resolve?ref=web/frontend:v1").await.json()["files"][0]["url"]
        .as_str()
        .unwrap()
        .to_owned();
    let before = app.catalog.statements();
    for number in 0..1_000 {
        // Different addresses, so that what is kept ready cannot answer for what is made.
        for path in [
            format!("/api/v1/resolve?ref=redis:v1&n={number}"),
            format!("/api/v1/templates/web/frontend:v1/-/files/example.yaml?n={number}"),
            format!("{content}?n={number}"),
        ] {
            assert_eq!(app.get(&path).await.status, 200, "{path}");
        }
    }
    for path in [
        "/",
        "/registries",
        "/search?q=redis",
        "/github.com/acme/templates",
        "/github.com/acme/templates/web/frontend:v1",
        "/api/v1/search?q=redis",
        "/api/v1/registries",
    ] {
        assert_eq!(app.get(path).await.status, 200, "{path}");
    }
    assert_eq!(app.catalog.statements(), before);
}
