//! Attack row 17: what a template refers to stays what it may reach. Nothing is fetched by URL, nothing outside the
//! version's directory is read, templates that lead to each other are found, and too many are refused.

use std::net::TcpListener;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::kit::Server;

const REGISTRY: &str = "localhost/acme/templates";
const RESOURCE: &str = "resources:\n- name: one\n  type: ConfigMap\n  properties:\n    apiVersion: v1\n    kind: ConfigMap\n    metadata: {name: one}\n";

fn write(root: &Path, path: &str, text: &str) {
    let path = root.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// A template with a schema that imports `path`, and uses it as a type and as text.
fn importing(root: &Path, name: &str, path: &str) {
    let jinja = format!(
        "resources:\n- name: inner\n  type: {path}\n  properties: {{text: \"{{{{ imports['{path}'] }}}}\"}}\n"
    );
    write(root, &format!("{name}/v1.0.0/{name}.jinja"), &jinja);
    let schema = format!("info:\n  title: {name}\nimports:\n- path: {path}\n");
    write(root, &format!("{name}/v1.0.0/{name}.jinja.schema"), &schema);
    write(root, &format!("{name}/v1.0.0/example.yaml"), "properties: {}\n");
}

/// The errors of a request that must be refused, in one text.
fn refused(server: &Server, template: &str) -> String {
    let began = Instant::now();
    let answer = server.process(template, &json!({"properties": {}}));
    assert_eq!(answer.status, 422, "{template}: {}", answer.text());
    assert!(began.elapsed() < Duration::from_secs(20), "{template} took {:?}", began.elapsed());
    let problem = answer.json();
    let errors = problem["errors"].as_array().cloned().unwrap_or_default();
    let said = errors.iter().filter_map(|error| error["message"].as_str().map(str::to_owned));
    said.chain([problem["detail"].as_str().unwrap_or_default().to_owned()]).collect::<Vec<_>>().join("\n")
}

#[test]
fn imports_reach_nothing_but_their_version() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path();
    // Somebody who would notice being asked.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/stolen.jinja", listener.local_addr().unwrap());
    let asked = Arc::new(AtomicUsize::new(0));
    std::thread::spawn({
        let asked = asked.clone();
        move || listener.incoming().for_each(|_| _ = asked.fetch_add(1, Ordering::SeqCst))
    });
    write(root, "secret/v1.0.0/secret.jinja", RESOURCE);
    write(root, "secret/v1.0.0/hidden.txt", "hunter2");
    write(root, "fine/v1.0.0/fine.jinja", RESOURCE);
    importing(root, "url", &url);
    importing(root, "github", "https://raw.githubusercontent.com/acme/templates/main/redis.jinja");
    importing(root, "above", "../../secret/v1.0.0/hidden.txt");
    importing(root, "absolute", "/etc/passwd");
    write(
        root,
        "itself/v1.0.0/itself.jinja",
        "resources:\n- name: inner\n  type: itself.jinja\n  properties: {}\n",
    );
    for (name, other) in [("ping", "pong"), ("pong", "ping")] {
        let text = format!("resources:\n- name: other\n  type: {REGISTRY}/{other}:v1\n  properties: {{}}\n");
        write(root, &format!("{name}/v1.0.0/{name}.jinja"), &text);
    }
    let many = (0..10_000)
        .map(|number| format!("- name: r{number}\n  type: {REGISTRY}/t{number}:v1\n  properties: {{}}\n"));
    write(root, "many/v1.0.0/many.jinja", &format!("resources:\n{}", many.collect::<String>()));
    let imports = (0..10_000).map(|number| format!("- path: missing-{number}.jinja\n")).collect::<String>();
    write(root, "listed/v1.0.0/listed.jinja", RESOURCE);
    write(root, "listed/v1.0.0/listed.jinja.schema", &format!("info:\n  title: x\nimports:\n{imports}"));

    let server = Server::start(&[&format!("{REGISTRY}={}", root.display())]);
    for template in ["url", "github", "above", "absolute"] {
        let said = refused(&server, template);
        assert!(!said.contains("hunter2") && !said.contains("root:"), "{template}: {said}");
    }
    for template in ["itself", "ping", "pong"] {
        let said = refused(&server, template);
        assert!(said.contains("itself without end") && said.contains(template), "{said}");
    }
    // By their number, or on a machine under load by the time they take.
    let said = refused(&server, "many");
    assert!(said.contains("references") || said.contains("limit"), "{said}");
    refused(&server, "listed");
    assert_eq!(asked.load(Ordering::SeqCst), 0, "a template made the server ask somebody");
    // The worker that refused them is there for the next, and the findings say the same.
    server.process("fine", &json!({"properties": {}})).expect_status(200);
    let findings = |template: &str| -> Value {
        server.get(&format!("/api/v1/templates/{template}")).expect_status(200).json()["findings"].clone()
    };
    for template in ["url", "above", "absolute"] {
        assert!(!findings(template).as_array().unwrap().is_empty());
    }
}
