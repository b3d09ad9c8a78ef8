//! The description of the API and the API: each is what the other says.

use std::collections::BTreeMap;

use catalog::Scope;
use http::Method;
use serde_json::{Value, json};

use crate::kit::{Answer, App};

const METHODS: [&str; 4] = ["get", "post", "patch", "delete"];

/// Operations whose examples cannot be run here, with why.
const NOT_RUN: &[(&str, &str)] = &[
    ("receive_github", "a delivery is signed with a secret that only its sender and the server know"),
    ("receive_gitlab", "the same"),
    ("receive_gitea", "the same"),
    ("accept_held", "nothing is held back in the registry of this test; tests of history accept"),
];

/// A path with the examples of its parameters, and those of the query that have one.
pub(crate) fn example(path: &str, parameters: &Value) -> String {
    let (mut path, mut query) = (path.to_owned(), Vec::new());
    for parameter in parameters.as_array().into_iter().flatten() {
        let name = parameter["name"].as_str().unwrap();
        let value =
            parameter.get("example").map(|value| value.as_str().map_or(value.to_string(), str::to_owned));
        match (parameter["in"].as_str().unwrap(), value) {
            ("path", Some(value)) => path = path.replace(&format!("{{{name}}}"), &value),
            ("query", Some(value)) if !value.starts_with('[') => query.push(format!("{name}={value}")),
            ("path", None) => panic!("{path}: `{name}` has no example"),
            ("query", None) if parameter["required"] == true => panic!("{path}: `{name}` has no example"),
            _ => {}
        }
    }
    if query.is_empty() { path } else { format!("{path}?{}", query.join("&")) }
}

/// What is wrong with an answer by the description of its operation.
fn wrong(document: &Value, operation: &Value, answer: &Answer) -> Option<String> {
    let status = answer.status.as_u16().to_string();
    let described = &operation["responses"][&status];
    if described.is_null() {
        return Some(format!("the status {status} is not described: {}", answer.text()));
    }
    let Some(contents) = described["content"].as_object() else {
        return (!answer.body.is_empty()).then(|| format!("a body is not described: {}", answer.text()));
    };
    let sent = answer.header("content-type").split(';').next().unwrap_or_default().trim();
    let content = contents.get(sent).or_else(|| contents.get("*/*"));
    let Some(content) = content else {
        return Some(format!("the type {sent} is not described for {status}"));
    };
    let schema = content.get("schema")?;
    let schema = json!({"allOf": [schema], "components": document["components"]});
    let validator = jsonschema::validator_for(&schema).unwrap();
    let instance = answer.json();
    let errors =
        validator.iter_errors(&instance).map(|error| format!("{error} at {}", error.instance_path()));
    let errors = errors.collect::<Vec<_>>();
    (!errors.is_empty()).then(|| errors.join("; "))
}

/// Every example of the description is asked for, and every answer is one that is described, to its last member.
#[tokio::test]
async fn examples_do_what_is_described() {
    let app = App::new().await;
    let admin = format!("Bearer {}", app.token(Scope::Admin, &[]).await);
    let document = app.get("/api/v1/openapi.json").await.json();
    let (mut failures, mut ran) = (Vec::new(), 0);
    // What only reads first, what erases last.
    for method in METHODS {
        for (path, item) in document["paths"].as_object().unwrap() {
            let Some(operation) = item.get(method) else { continue };
            let id = operation["operationId"].as_str().unwrap();
            if NOT_RUN.iter().any(|(skipped, _)| *skipped == id) {
                continue;
            }
            let target = example(path, &operation["parameters"]);
            let body = operation.pointer("/requestBody/content/application~1json/example");
            let body = match (operation.get("requestBody"), body) {
                (None, _) => String::new(),
                (Some(_), Some(body)) => body.to_string(),
                (Some(_), None) => panic!("{method} {path} has no example of a body"),
            };
            let headers = [("authorization", admin.as_str()), ("content-type", "application/json")];
            let headers = &headers[..if body.is_empty() { 1 } else { 2 }];
            let sent = method.to_uppercase().parse::<Method>().unwrap();
            let answer = app.send(sent, &target, headers, body).await;
            if !answer.status.is_success() {
                failures.push(format!("{method} {target}: {} {}", answer.status, answer.text()));
            }
            failures.extend(
                wrong(&document, operation, &answer).map(|what| format!("{method} {target}: {what}")),
            );
            ran += 1;
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(ran >= 25, "only {ran} examples were run");
}

/// Errors are described too: of every operation, what comes of a bad token, of nonsense and of an endless address.
#[tokio::test]
async fn errors_are_described() {
    let app = App::new().await;
    let document = app.get("/api/v1/openapi.json").await.json();
    let secret = format!("fwk_{}", "0a".repeat(32));
    let bad = format!("Bearer {secret}");
    let mut failures = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let method = method.to_uppercase().parse::<Method>().unwrap();
            let target = example(path, &operation["parameters"]);
            let joint = if target.contains('?') { '&' } else { '?' };
            let nonsense = path.replace('{', "~").replace('}', "");
            let plain = ("content-type", "application/json");
            for (target, headers, body) in [
                (target.clone(), vec![("authorization", bad.as_str()), plain], "{}"),
                (format!("{target}{joint}limit=x&cursor=%00&since=-1&output=x"), vec![plain], "["),
                (format!("{target}{joint}x={}", "y".repeat(9_000)), vec![plain], ""),
                (format!("{target}{joint}token={secret}"), vec![plain], ""),
                (nonsense, vec![("content-type", "text/html")], "<p>"),
            ] {
                let answer = app.send(method.clone(), &target, &headers, body).await;
                let what = wrong(&document, operation, &answer);
                failures.extend(what.map(|what| format!("{method} {target:.80}: {what}")));
                if answer.status.is_client_error() || answer.status.is_server_error() {
                    assert_eq!(
                        answer.header("content-type"),
                        "application/problem+json",
                        "{method} {target:.80}"
                    );
                    assert_eq!(answer.json()["request_id"], "test-1");
                }
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// No method is answered that is not described, and no other is described.
#[tokio::test]
async fn no_method_is_answered_that_is_not_described() {
    let app = App::new().await;
    let document = app.get("/api/v1/openapi.json").await.json();
    let mut by_path = BTreeMap::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        let parameters = item.as_object().unwrap().values().next().unwrap()["parameters"].clone();
        by_path.insert(path, (example(path, &parameters), item));
    }
    for (path, (target, item)) in by_path {
        for method in ["get", "post", "put", "patch", "delete", "options", "trace"] {
            let sent = method.to_uppercase().parse::<Method>().unwrap();
            let status = app.send(sent, &target, &[("content-type", "application/json")], "").await.status;
            match item.get(method) {
                Some(_) => assert_ne!(status, 405, "{method} {path}"),
                None => assert_eq!(status, 405, "{method} {path} ({target})"),
            }
        }
    }
}
