//! A server with the example registry, tokens made before it was started, and short ways to ask it.

use std::path::Path;

use serde_json::{Value, json};

use crate::kit::{Answer, Server, example_registry, formwork, send};

/// Where OpenShift's face is.
pub(super) const GROUP: &str = "/apis/template.openshift.io/v1";
/// Where what is stored is kept.
pub(super) const HOSTED: &str = "localhost/hosted/templates";

/// A running server and a token that may write.
pub(super) struct Setting {
    pub(super) server: Server,
    pub(super) token: String,
    _data: tempfile::TempDir,
}

/// A token of a data directory that no server has open.
pub(super) fn token(data: &Path, name: &str, arguments: &[&str]) -> String {
    let mut command = formwork();
    let made =
        command.args(["token", "create", name]).args(arguments).arg("--data").arg(data).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    String::from_utf8(made.stdout).unwrap().trim().to_owned()
}

impl Setting {
    pub(super) fn new() -> Setting {
        Setting::with(&[])
    }

    pub(super) fn with(arguments: &[&str]) -> Setting {
        let data = tempfile::tempdir().unwrap();
        let token = token(data.path(), "writer", &["--scope", "write"]);
        let registry = example_registry();
        let arguments = [&[registry.to_str().unwrap()], arguments].concat();
        let server = Server::launch_on(data.path(), &arguments);
        server.wait_ready();
        Setting { server, token, _data: data }
    }

    pub(super) fn get(&self, path: &str) -> Answer {
        self.server.get(path)
    }

    /// Sends JSON with the token that may write.
    pub(super) fn send(&self, method: &str, path: &str, body: &Value) -> Answer {
        self.send_as(&self.token, method, path, body)
    }

    pub(super) fn send_as(&self, token: &str, method: &str, path: &str, body: &Value) -> Answer {
        let bearer = format!("Bearer {token}");
        let mut headers = vec![("authorization", bearer.as_str())];
        if method == "PATCH" {
            headers.push(("content-type", "application/merge-patch+json"));
        }
        let body = if body.is_null() { String::new() } else { body.to_string() };
        send(method, &format!("{}{path}", self.server.url()), &headers, &body).unwrap()
    }

    /// Stores a template in the namespace `shop`.
    pub(super) fn create(&self, name: &str) -> Value {
        self.send("POST", &format!("{GROUP}/namespaces/shop/templates"), &template(name))
            .expect_status(201)
            .json()
    }
}

/// A Template in OpenShift's notation.
pub(super) fn template(name: &str) -> Value {
    json!({
        "apiVersion": "template.openshift.io/v1",
        "kind": "Template",
        "metadata": {
            "name": name,
            "labels": { "tier": "web", "app": name },
            "annotations": { "description": "Sells things.", "tags": "shop,zebra" },
        },
        "objects": [{
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": { "name": "${NAME}" },
            "spec": { "ports": [{ "port": "${{PORT}}" }] },
        }],
        "parameters": [
            { "name": "NAME", "required": true },
            { "name": "PORT", "value": "80" },
            { "name": "BIG", "value": "12345678901234567890" },
        ],
    })
}

/// The names of a list's items.
pub(super) fn names(list: &Value) -> Vec<String> {
    let items = list["items"].as_array().unwrap_or_else(|| panic!("it is no list: {list}"));
    items.iter().map(|item| item["metadata"]["name"].as_str().unwrap().to_owned()).collect()
}

/// What every error is.
#[track_caller]
pub(super) fn expect_failure(answer: Answer, code: u16, reason: &str) -> Value {
    let status = answer.expect_status(code).json();
    let said =
        (&status["kind"], &status["apiVersion"], &status["status"], &status["reason"], &status["code"]);
    assert_eq!(
        said,
        (&json!("Status"), &json!("v1"), &json!("Failure"), &json!(reason), &json!(code)),
        "{status}"
    );
    assert!(status["message"].as_str().is_some_and(|message| !message.is_empty()), "{status}");
    status
}
