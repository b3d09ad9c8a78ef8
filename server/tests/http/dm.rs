//! The manager's API: who may, with which token, how much is kept, and what becomes of bad input.

use std::time::Duration;

use catalog::{DeploymentLimits, Scope};
use http::Method;
use serde_json::{Value, json};

use crate::access::{SECRET, both};
use crate::kit::{Answer, App, InProcess, acme, inspected};

const JSON: (&str, &str) = ("content-type", "application/json");

fn configuration(name: &str) -> Value {
    let content = "resources:\n- name: shop\n  type: web/nginx:v1\n  properties: {name: shop}\n";
    json!({"name": name, "content": content, "imports": []})
}

async fn deploy(app: &App, base: &str, name: &str) -> Answer {
    app.post(&format!("{base}/deployments"), &configuration(name)).await
}

fn text(answer: &Answer) -> (u16, String) {
    assert!(answer.status.is_success() || answer.header("content-type") == "text/plain; charset=utf-8");
    (answer.status.as_u16(), answer.text())
}

#[tokio::test]
async fn deployments_are_recorded_for_whoever_is_on_this_machine() {
    let app = App::new().await;
    assert_eq!(text(&app.get("/dm/deployments").await), (200, "null".to_owned()));
    let made = deploy(&app, "/dm", "shop").await;
    assert_eq!(made.status, 201, "{}", made.text());
    assert_eq!(made.json()["state"], json!({"status": "Created"}));
    assert_eq!(
        (&made.json()["deployedAt"], made.header("cache-control")),
        (&json!("0001-01-01T00:00:00Z"), "no-store")
    );
    assert_eq!(
        text(&deploy(&app, "/dm", "shop").await),
        (400, "Deployment shop already exists\n".to_owned())
    );
    let latest = made.json()["latestManifest"].as_str().unwrap().to_owned();
    let manifest = app.get(&format!("/dm/deployments/shop/manifests/{latest}")).await.json();
    assert_eq!(manifest["expandedConfig"]["resources"][0]["type"], "Service");
    assert_eq!(manifest["inputConfig"]["imports"][0]["name"], "web/nginx:v1");
    assert!(manifest["inputConfig"]["imports"][0]["path"].as_str().unwrap().contains("/sha256:"));
    let objects = app.get(&format!("/dm/deployments/shop/manifests/{latest}/objects")).await.json();
    assert_eq!(objects[0]["kind"], "Service");
    let instances = app.get("/dm/types/Service/instances").await.json();
    assert_eq!(instances[0]["path"], "$.resources[0].resources[0]");
    let again =
        app.send(Method::PUT, "/dm/deployments/shop", &[JSON], configuration("shop").to_string()).await;
    assert_eq!((again.status.as_u16(), &again.json()["state"]), (201, &json!({"status": "Modified"})));
    assert_eq!(app.get("/dm/deployments/shop/manifests").await.json().as_array().unwrap().len(), 2);
    let gone = app.send(Method::DELETE, "/dm/deployments/shop", &[], "").await.json();
    assert_eq!((&gone["state"]["status"], &gone["latestManifest"]), (&json!("Deleted"), &json!("")));
    assert_eq!(text(&app.get("/dm/deployments/shop").await), (400, "deployment shop not found\n".to_owned()));
}

#[tokio::test]
async fn a_server_that_others_reach_needs_a_token_to_record_with() {
    let public = Some("https://templates.example");
    let app = App::with(vec![inspected(acme())], Box::new(InProcess), public).await;
    for (method, path) in [
        (Method::POST, "/dm/deployments"),
        (Method::PUT, "/dm/deployments/shop"),
        (Method::DELETE, "/dm/deployments/shop"),
        (Method::POST, "/dm/credentials/mine"),
        (Method::POST, "/dm/registries/acme"),
    ] {
        let answer = app.send(method, path, &[JSON], "no body is read").await;
        let (status, said) = text(&answer);
        assert!(status == 401 && said.contains("dm --service URL/dm/t/TOKEN"), "{path}: {status} {said}");
    }
    assert_eq!(app.post("/dm/expand", &configuration("x")).await.status, 201, "expanding is processing");
    assert_eq!(text(&app.get("/dm/deployments").await), (200, "null".to_owned()));

    let (read, write) = (app.token(Scope::Read, &[]).await, app.token(Scope::Write, &[]).await);
    let (status, said) = text(&deploy(&app, &format!("/dm/t/{read}"), "shop").await);
    assert!(status == 403 && said.contains("scope `write`") && !said.contains("fwk_"), "{said}");
    assert_eq!(deploy(&app, &format!("/dm/t/{write}/r/acme/templates"), "shop").await.status, 201);
    // Theirs alone, whatever the base path and however the token travels.
    let other = app.token(Scope::Write, &[]).await;
    assert_eq!(app.get(&format!("/dm/t/{write}/deployments")).await.json(), json!(["shop"]));
    assert_eq!(app.get_as(&write, "/dm/deployments").await.json(), json!(["shop"]));
    for other in [format!("/dm/t/{other}"), "/dm".to_owned()] {
        assert_eq!(app.get(&format!("{other}/deployments")).await.text(), "null");
        assert_eq!(app.get(&format!("{other}/deployments/shop")).await.status, 400);
        assert_eq!(app.get(&format!("{other}/types")).await.text(), "null");
    }
}

#[tokio::test]
async fn a_page_cannot_have_a_browser_record_anything() {
    let app = App::new().await;
    for header in [("origin", "https://evil.example"), ("sec-fetch-site", "same-origin")] {
        let body = configuration("shop").to_string();
        let answer =
            app.send(Method::POST, "/dm/deployments", &[("content-type", "text/plain"), header], body).await;
        assert_eq!(text(&answer).0, 401, "{header:?}");
    }
    assert_eq!(app.get("/dm/deployments").await.text(), "null");
}

/// Attack row 31, and its one exception: the token is where it may be, and nothing repeats it.
#[tokio::test]
async fn a_token_may_stand_in_an_address_of_dm_and_nowhere_else() {
    let app = both().await;
    let token = app.token(Scope::Write, &[]).await;
    let describe = format!("/dm/t/{token}/registries/{SECRET}/types");
    assert!(app.get(&describe).await.text().contains("vault"), "it shows what its holder may see");
    assert_eq!(app.get(&format!("/dm/registries/{SECRET}/types")).await.status, 400);
    for path in [
        format!("/dm/{token}/deployments"),
        format!("/dm/deployments/{token}"),
        format!("/dm/t/{token}/deployments/{token}"),
        format!("/dm/registries/acme/types?regex={token}"),
        format!("/api/v1/t/{token}/registries"),
        format!("/repos/t/{token}"),
    ] {
        let answer = app.get(&path).await;
        assert_eq!(answer.status, 400, "{path}");
        assert!(!answer.text().contains(&token), "{}", answer.text());
    }
    let revoked = app.catalog.grants().find(&token, 1).unwrap().token.name.clone();
    app.catalog.revoke_token(&revoked).await.unwrap();
    for path in [
        describe,
        "/dm/t/nonsense/deployments".to_owned(),
        "/dm/t//deployments".to_owned(),
        "/dm/t/x".to_owned(),
    ] {
        let (status, said) = text(&app.get(&path).await);
        assert!(
            status == 401 && said.contains("unknown, was revoked, or is over") && !said.contains("fwk_"),
            "{said}"
        );
    }
}

#[tokio::test]
async fn quotas_hold_and_deployments_end() {
    let mut app = App::new().await;
    let limits = DeploymentLimits { each: 2, each_bytes: 1 << 20, manifests: 2, lifetime: 2 };
    let server = app.listening(|config| config.deployments = limits).await;
    app.front = server.front();
    for name in ["a", "b"] {
        assert_eq!(deploy(&app, "/dm", name).await.status, 201);
    }
    let (status, said) = text(&deploy(&app, "/dm", "c").await);
    assert!(status == 400 && said.starts_with("there are 2 deployments of yours already"), "{said}");
    tokio::time::sleep(Duration::from_secs(3)).await;
    assert_eq!(app.get("/dm/deployments").await.text(), "null");
    assert_eq!(deploy(&app, "/dm", "c").await.status, 201, "what is over takes no room");
}

#[tokio::test]
async fn registries_are_the_operators() {
    let app = both().await;
    let ask =
        |url: &str| json!({"name": "mine", "type": "github", "url": url, "format": "versioned;collection"});
    let (status, said) = text(&app.post("/dm/registries/mine", &ask("github.com/acme/new")).await);
    assert!(status == 401 && said.contains("registries are the operator's"), "{said}");
    // What is hidden is refused in the same words as what is not there.
    let (_, hidden) = text(&app.post("/dm/registries/mine", &ask(SECRET)).await);
    assert_eq!(hidden.replace(SECRET, "github.com/acme/new"), said);
    assert_eq!(
        app.post("/dm/registries/mine", &ask("https://github.com/Acme/Templates.git")).await.status,
        200
    );
    assert_eq!(app.get("/dm/registries/mine/types?regex=^web/").await.json().as_array().unwrap().len(), 2);
    assert_eq!(app.get("/dm/registries/mine/web/types").await.json().as_array().unwrap().len(), 2);
    assert_eq!(app.get("/dm/types/web%2Fnginx:v1/registry").await.json(), "mine");
    let admin = app.token(Scope::Admin, &["github.com/acme/new"]).await;
    let added = app.post(&format!("/dm/t/{admin}/registries/mine"), &ask("github.com/acme/new")).await;
    assert_eq!(added.status, 200, "{}", added.text());
    assert!(
        app.catalog
            .snapshot()
            .registries
            .contains_key(&"github.com/acme/new".parse::<schema::RegistryName>().unwrap())
    );
    let elsewhere = app.post(&format!("/dm/t/{admin}/registries/mine"), &ask("github.com/acme/other")).await;
    assert_eq!(text(&elsewhere).0, 403);
}

#[tokio::test]
async fn credentials_are_taken_and_never_said() {
    let app = App::new().await;
    let secrets = json!({"apitoken": "s-1", "basicauth": {"username": "ann", "password": "s-2"}, "serviceaccount": "s-3"});
    let said = app.post("/dm/credentials/mine", &secrets).await;
    let asked = app.get("/dm/credentials/mine").await;
    for answer in [said, asked] {
        assert!(answer.status == 200 && !answer.text().contains("s-"), "{}", answer.text());
        assert_eq!(answer.json()["basicauth"]["username"], "ann");
    }
    let wrong = app.post("/dm/credentials/mine", &json!({"apitoken": ["s-4"]})).await;
    assert!(text(&wrong).0 == 400 && !wrong.text().contains("s-4"), "{}", wrong.text());
    assert_eq!(text(&app.get("/dm/credentials/other").await).1, "no such credential : other\n");
}

#[tokio::test]
async fn bad_input_is_a_short_text() {
    let app = App::new().await;
    let post = async |body: &str| app.send(Method::POST, "/dm/expand", &[JSON], body.to_owned()).await;
    let deep = format!("{{\"name\": \"x\", \"content\": \"{}\"}}", "[".repeat(100_000));
    for (body, says) in [
        ("", "the body is empty"),
        ("[1]", "the body is a list"),
        ("7", "the body is a number"),
        ("{\"name\": ", "neither JSON nor YAML"),
        ("\u{0}", "neither JSON nor YAML"),
        ("{\"name\": {}, \"content\": \"\"}", "`name` is a map; it must be a text"),
        ("{\"name\": \"x\", \"content\": 1}", "`content` is a number"),
        ("{\"name\": \"x\", \"imports\": {}}", "the body is no configuration"),
        ("{\"name\": \"x\", \"imports\": [{\"name\": \"a\\u0000b\"}]}", "is no name of an import"),
        ("{\"name\": \"x\", \"content\": \"resources: [{name: a}]\"}", "does not have type defined"),
        ("{\"name\": \"x\", \"content\": \"resources: 7\"}", "must be a list"),
        ("{\"name\": \"x\", \"content\": \"a: [\"}", "cannot expand template named x"),
        (&deep, "cannot expand template named x"),
        (
            "{\"name\": \"x\", \"content\": \"resources: [{name: a, type: 'github.com/acme/none/x:v1'}]\"}",
            "leads nowhere",
        ),
        (
            "{\"name\": \"x\", \"content\": \"resources: [{name: a, type: 'http://127.0.0.1/x.jinja'}]\"}",
            "is a URL that templates are not fetched from",
        ),
    ] {
        let (status, said) = text(&post(body).await);
        assert!(status == 400 && said.contains(says), "{body:.60}: {status} {said}");
        assert!(said.len() < 2_000 && said.ends_with('\n'), "{said}");
    }
    let headers = [JSON, ("content-length", "100000000")];
    let large = app.send(Method::POST, "/dm/expand", &headers, "{}").await;
    assert_eq!(text(&large), (413, "the body is above 4 MiB\n".to_owned()));
    for name in ["", "a\u{7}b", &"x".repeat(300)] {
        let answer = deploy(&app, "/dm", name).await;
        assert_eq!(text(&answer).0, 400, "{name:?}: {}", answer.text());
    }
    for (method, path, allowed) in [
        (Method::PATCH, "/dm/deployments", "GET, POST"),
        (Method::GET, "/dm/expand", "POST"),
        (Method::POST, "/dm/deployments/shop", "GET, PUT, DELETE"),
    ] {
        let answer = app.send(method, path, &[], "").await;
        assert_eq!((text(&answer).0, answer.header("allow")), (405, allowed), "{path}");
    }
    for path in
        ["/dm", "/dm/", "/dm/nothing", "/dm/r/acme/templates/nothing/at/all", "/dm/types/%00/metadata"]
    {
        assert!((400..405).contains(&text(&app.get(path).await).0), "{path}");
    }
    let slow = app.get(&format!("/dm/registries/acme/templates/types?regex={}", "(a*)*".repeat(200))).await;
    assert!(slow.status == 200 || slow.status == 400, "{}", slow.text());
}
