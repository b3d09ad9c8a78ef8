//! Attack row 30: two servers, one with a private registry and one without it, asked for everything there is to ask.
//!
//! Every route of the description of the API with every parameter filled in, and every page: whoever may not see the
//! registry gets the same status, headers and bytes from both. A parameter that is new to this test fails it: say
//! below what to fill it with.

use std::collections::BTreeSet;

use catalog::Scope;
use catalog::testing::Registry;
use http::Method;

use crate::access::{SECRET, secret};
use crate::kit::{Answer, App, InProcess, REGISTRY, acme, inspected};

/// A public registry whose templates import: from what is there, what is hidden and what is nowhere.
fn importing() -> Registry {
    let import = |what: &str| format!("resources:\n- name: x\n  type: {what}\n");
    let (hidden, nowhere) = (format!("{SECRET}/vault:v1"), "github.com/acme/nowhere/vault:v1");
    let (hidden, nowhere) = (import(&hidden), import(nowhere));
    Registry::new("github.com/acme/importing")
        .version("hidden:v1.0.0", &[("hidden.jinja", &hidden)])
        .version("nowhere:v1.0.0", &[("nowhere.jinja", &nowhere)])
}

/// With one public URL, for pages say the port otherwise.
async fn server(registries: &[Registry]) -> App {
    App::with(
        registries.iter().cloned().map(inspected).collect(),
        Box::new(InProcess),
        Some("https://templates.example"),
    )
    .await
}

/// What is asked for: what is public, what is hidden, and what is nearly either.
const REFERENCES: &[&str] = &[
    "redis",
    "redis:v1",
    "web/frontend:v1",
    "web/frontend:v7",
    "vault:v1",
    "zanzibar",
    "github.com/acme/templates/redis:=v1.0.0",
    "github.com/acme/templates/vault:v1",
    "github.com/acme/secret",
    "github.com/acme/secret/vault",
    "github.com/acme/secret/vault:v1",
    "github.com/acme/secret/vault:v9",
    "github.com/acme/secret/volt:v1",
    "github.com/acme/secret/web/frontend:v7",
    "github.com/acme/secret/none/frontend:v7",
    "github.com/acme/secrat/vault:v1",
    "github.com/acme/importing/hidden:v1",
    "github.com/acme/importing/nowhere:v1",
];
const REGISTRIES: &[&str] = &[REGISTRY, SECRET, "github.com/acme/secrets", "github.com/acme", "x"];
const COLLECTIONS: &[&str] = &[
    REGISTRY,
    SECRET,
    "github.com/acme/templates/web",
    "github.com/acme/templates/none",
    "github.com/acme/secret/web",
    "github.com/acme/secret/none",
    "github.com/acme/secrets/web",
    "x",
];
const WORDS: &[&str] = &[
    "",
    "redis",
    "vault",
    "zanzibar",
    "zanzibat",
    "valut",
    "frontend",
    "serves shop",
    "registry:secret",
    "collection:web",
    "registry:acme",
];

/// What clients of the Kubernetes API ask, below the address of a registry and below that of the server.
const KUBERNETES: &[&str] = &[
    "/api",
    "/apis",
    "/api/v1",
    "/api/v1/namespaces",
    "/api/v1/namespaces/web",
    "/apis/template.openshift.io/v1",
    "/apis/template.openshift.io/v1/templates",
    "/apis/template.openshift.io/v1/templates?limit=1",
    "/apis/template.openshift.io/v1/templates?labelSelector=a",
    "/apis/template.openshift.io/v1/templates?watch=1&timeoutSeconds=1&resourceVersion=1",
    "/apis/template.openshift.io/v1/namespaces/web/templates",
    "/apis/template.openshift.io/v1/namespaces/web/templates/frontend",
    "/apis/template.openshift.io/v1/namespaces/web/templates/frontend:v7",
    "/apis/template.openshift.io/v1/namespaces/default/templates/vault",
    "/apis/template.openshift.io/v1/namespaces/none/templates/frontend",
    "/templates",
    "/templates/vault",
    "/templates/vault:v1",
    "/templates/volt",
    "/namespaces/web/templates",
    "/openapi/v2",
    "/version",
    "/nothing",
];

/// Every way to fill the parameters of a path in.
fn filled(path: &str, digests: &[String]) -> Vec<String> {
    let Some((before, rest)) = path.split_once('{') else { return vec![path.to_owned()] };
    let (name, after) = rest.split_once('}').unwrap();
    let values = match name {
        "reference" => REFERENCES.to_vec(),
        "name" if path.starts_with("/api/v1/collections") => COLLECTIONS.to_vec(),
        "name" | "registry" => REGISTRIES.to_vec(),
        "digest" => digests.iter().map(String::as_str).collect(),
        "path" => vec!["", "redis.yaml", "vault.yaml", "frontend.yaml"],
        other => panic!("{path}: nobody said what to fill `{other}` with"),
    };
    let each = values.into_iter().map(|value| format!("{before}{value}{after}"));
    each.flat_map(|path| filled(&path, digests)).collect()
}

/// Every query of a route.
fn queries(parameters: &serde_json::Value) -> Vec<String> {
    let mut all = vec![String::new()];
    let escaped = |text: &str| text.replace(' ', "+");
    for parameter in
        parameters.as_array().into_iter().flatten().filter(|parameter| parameter["in"] == "query")
    {
        let values = match parameter["name"].as_str().unwrap() {
            "ref" => REFERENCES,
            "q" => WORDS,
            "registry" => REGISTRIES,
            "collection" => &["web", "none"],
            "kind" => &["template", "dm"],
            "has" => &["Service"],
            "tag" => &["shop", "secret"],
            "health" => &["healthy", "errors"],
            "limit" => &["1", "2"],
            "since" | "after" => &["0", "1"],
            // Behind each of these, what is hidden begins or ends.
            "cursor" => &[
                "github.com/acme/secret",
                "github.com/acme/secret:web",
                "github.com/acme/secret::vault",
                "v9.0.0",
            ],
            // Nothing of what is seen depends on it.
            "output" => &[],
            other => panic!("nobody said what to fill the query's `{other}` with"),
        };
        let name = parameter["name"].as_str().unwrap();
        all.extend(values.iter().map(|value| format!("?{name}={}", escaped(value))));
    }
    all
}

/// Everything there is to ask for.
async fn requests(app: &App, digests: &[String]) -> Vec<(Method, String)> {
    let description = app.get("/api/v1/openapi.json").await.json();
    let mut all = BTreeSet::new();
    for (path, methods) in description["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let paths = filled(path, digests);
            let queries = queries(&operation["parameters"]);
            for path in paths {
                all.extend(queries.iter().map(|query| (method.to_uppercase(), format!("{path}{query}"))));
            }
        }
    }
    let pages =
        ["/", "/registries", "/status", "/docs", "/docs/errors", "/docs/api", "/login", "/robots.txt"];
    let references = REFERENCES.iter().flat_map(|reference| {
        let below = ["", "/", "/-/files/", "/-/files/vault.yaml", "/-/history", "/-/nothing"];
        below.map(|below| format!("/{reference}{below}"))
    });
    let kubernetes = KUBERNETES.iter().flat_map(|path| {
        let bases = ["", "/k8s/r/github.com/acme/templates", "/k8s/r/github.com/acme/secret"];
        bases.map(|base| format!("{base}{path}"))
    });
    all.extend(kubernetes.map(|path| ("GET".to_owned(), path)));
    let group = "/apis/template.openshift.io/v1/namespaces";
    for (method, path) in [
        ("POST", "/processedtemplates".to_owned()),
        ("POST", "/templates".to_owned()),
        ("POST", "/k8s/r/github.com/acme/secret/templates".to_owned()),
        ("POST", format!("{group}/default/templates/vault:v1/processed")),
        ("POST", "/k8s/r/github.com/acme/secret/templates/vault/processed".to_owned()),
        ("PUT", "/k8s/r/github.com/acme/secret/templates/vault".to_owned()),
        ("PATCH", format!("{group}/web/templates/frontend")),
        ("DELETE", "/k8s/r/github.com/acme/secret/templates/vault".to_owned()),
    ] {
        all.insert((method.to_owned(), path));
    }
    let searches = WORDS.iter().map(|words| format!("/search?q={}", words.replace(' ', "+")));
    let pages = pages.into_iter().map(str::to_owned).chain(references).chain(searches).chain(of_clients());
    all.extend(pages.map(|page| ("GET".to_owned(), page)));
    all.into_iter().map(|(method, path)| (method.parse().unwrap(), path)).collect()
}

/// What clients of Deployment Manager ask, and whoever takes a registry for its repository.
fn of_clients() -> impl Iterator<Item = String> {
    let types = REFERENCES.iter().flat_map(|reference| {
        ["metadata", "registry", "instances"].map(|about| format!("/dm/types/{reference}/{about}"))
    });
    let registries = REGISTRIES.iter().flat_map(|name| {
        [
            format!("/dm/registries/{name}"),
            format!("/dm/registries/{name}/types"),
            format!("/dm/registries/{name}/types?regex=v"),
            format!("/dm/registries/{name}/types/vault%3Av1"),
            format!("/dm/registries/{name}/download?file=https://raw.githubusercontent.com/acme/secret/HEAD/vault/v1.0.0/vault.yaml"),
            format!("/dm/r/{name}/types/vault%3Av1/metadata"),
            format!("/dm/r/{name}/web/deployments"),
            format!("/repos/{name}/contents/"),
            format!("/raw/{name}/HEAD/vault/v1.0.0/vault.yaml"),
            format!("/raw/{name}/vault/v1/vault.yaml"),
        ]
    });
    let repositories = ["templates", "secret", "secrets"].into_iter().flat_map(|name| {
        ["", "vault", "vault/v1.0.0", "web//frontend/"]
            .map(|path| format!("/repos/acme/{name}/contents/{path}"))
    });
    types.chain(registries).chain(repositories).chain(["/dm/registries".to_owned()])
}

/// An object or list of the Kubernetes API without what is of one catalogue alone.
fn without_generations(value: &mut serde_json::Value) {
    match value {
        serde_json::Value::Object(members) => {
            for name in ["resourceVersion", "uid", "continue"] {
                members.remove(name);
            }
            members.values_mut().for_each(without_generations);
        }
        serde_json::Value::Array(items) => items.iter_mut().for_each(without_generations),
        serde_json::Value::String(text) if text.contains("resource version") => {
            *text = text.chars().filter(|character| !character.is_ascii_digit()).collect();
        }
        _ => {}
    }
}

/// An answer, without what differs from one second or one count to the next.
fn compared(path: &str, answer: &Answer) -> (u16, Vec<(String, String)>, String) {
    let mut headers = answer
        .headers
        .iter()
        .map(|(name, value)| (name.to_string(), String::from_utf8_lossy(value.as_bytes()).into_owned()))
        .collect::<Vec<_>>();
    headers.sort();
    let mut body = String::from_utf8_lossy(&answer.body).into_owned();
    if path == "/metrics" {
        // Names and labels: figures are of requests and of time.
        let names = body.lines().filter_map(|line| line.rsplit_once(' ')).map(|(name, _)| name);
        // In no order.
        let names = names.filter(|name| !name.contains("_bucket")).collect::<BTreeSet<_>>();
        body = names.into_iter().collect::<Vec<_>>().join("\n");
        headers.retain(|(name, _)| name != "content-length");
    }
    if path.starts_with("/api/v1/namespaces") || !path.starts_with("/api/v1/") {
        // Generations count what happens to hidden registries too, as sequences do; and what tells one server's objects
        // from another's is its own.
        let objects =
            body.lines().map(serde_json::from_str::<serde_json::Value>).collect::<Result<Vec<_>, _>>();
        if let Ok(mut objects) = objects {
            objects.iter_mut().for_each(without_generations);
            body = serde_json::Value::Array(objects).to_string();
            headers.retain(|(name, _)| name != "content-length");
        }
    }
    if path.starts_with("/api/v1/changes") && answer.status == 200 {
        // The log has one row of numbers for all registries: where to go on is behind hidden entries too.
        let mut changes = answer.json();
        changes.as_object_mut().unwrap().retain(|name, _| name != "next" && name != "more");
        body = changes.to_string();
        headers.retain(|(name, _)| name != "content-length" && name != "etag");
    }
    (answer.status.as_u16(), headers, body)
}

/// The first place where two answers differ.
fn difference<T: std::fmt::Debug>(with: &T, without: &T) -> String {
    let (with, without) = (format!("{with:?}"), format!("{without:?}"));
    let same = with.bytes().zip(without.bytes()).take_while(|(a, b)| a == b).count();
    let around = |text: &str| {
        let part =
            text.as_bytes().iter().skip(same.saturating_sub(60)).take(160).copied().collect::<Vec<_>>();
        String::from_utf8_lossy(&part).into_owned()
    };
    format!("\n  with    …{}\n  without …{}", around(&with), around(&without))
}

async fn digests(app: &App) -> Vec<String> {
    let operator = app.token(Scope::Read, &[]).await;
    let mut digests = vec![format!("sha256:{}", "0".repeat(64))];
    for reference in [format!("{SECRET}/vault:v1"), "redis:=v1.0.0".to_owned()] {
        let answer = app.get_as(&operator, &format!("/api/v1/resolve?ref={reference}")).await;
        digests.push(answer.json()["digest"].as_str().unwrap().to_owned());
    }
    digests
}

/// Attack row 30: lists, searches, counts, near names, errors, pages, content, processing: nothing tells a private
/// registry from none, to anybody and to whoever has a token for something else.
#[tokio::test]
async fn attack_row_30_a_private_registry_is_like_none_to_whoever_may_not_see_it() {
    let present = server(&[acme(), importing(), secret()]).await;
    let absent = server(&[acme(), importing()]).await;
    let digests = digests(&present).await;
    let elsewhere = ["git.example/some/where"];
    let tokens =
        [present.token(Scope::Write, &elsewhere).await, absent.token(Scope::Write, &elsewhere).await];
    let bearer = tokens.each_ref().map(|token| format!("Bearer {token}"));
    let all = requests(&present, &digests).await;
    assert!(all.len() > 300, "only {} requests were found", all.len());
    let (mut wrong, mut found) = (Vec::new(), 0);
    for (method, path) in &all {
        let json = ("content-type", "application/json");
        for known in [false, true] {
            let header = |at: usize| {
                if known { vec![json, ("authorization", bearer[at].as_str())] } else { vec![json] }
            };
            let with = present.send(method.clone(), path, &header(0), "{}").await;
            let without = absent.send(method.clone(), path, &header(1), "{}").await;
            found += usize::from(without.status.is_success());
            let (with, without) = (compared(path, &with), compared(path, &without));
            if with != without {
                wrong.push(format!("{method} {path} (token: {known}): {}", difference(&with, &without)));
            }
        }
    }
    assert!(found > 100, "most was not found: the comparison says little ({found})");
    let shown = wrong.iter().take(5).cloned().collect::<Vec<_>>().join("\n");
    assert!(wrong.is_empty(), "{} of {} requests tell the difference:\n{shown}", wrong.len(), all.len());
}

/// A token for the registry shows what the operator sees of it.
#[tokio::test]
async fn a_token_shows_what_the_operator_sees() {
    let app = server(&[acme(), importing(), secret()]).await;
    let digests = digests(&app).await;
    let (operator, reader) = (app.token(Scope::Admin, &[]).await, app.token(Scope::Read, &[]).await);
    let limited = app.token(Scope::Read, &[SECRET]).await;
    let mut seen = 0;
    for (method, path) in requests(&app, &digests).await {
        // What needs a scope differs by scope, and what shows the generation by sight; the rest is for all alike.
        if method != Method::GET || path.starts_with("/api/v1/tokens") || path == "/login" {
            continue;
        }
        let [operator, reader, limited] = [
            app.get_as(&operator, &path).await,
            app.get_as(&reader, &path).await,
            app.get_as(&limited, &path).await,
        ];
        assert_eq!(compared(&path, &reader), compared(&path, &operator), "{path}");
        assert_eq!(limited.status, operator.status, "{path}");
        if path.starts_with("/api/v1/") && path != "/api/v1/status" {
            assert_eq!(compared(&path, &limited), compared(&path, &operator), "{path}");
        }
        seen += usize::from(operator.status == 200 && path.contains("secret"));
    }
    assert!(seen > 20, "the private registry was seen {seen} times");
}
