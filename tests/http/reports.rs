//! Reports: after a version is published its example is processed, and whoever looks at the version sees what came of
//! it; the same as its maintainer sees with `formwork check`.

use std::path::Path;

use serde_json::Value;

use crate::kit::registries::{EXAMPLE, kubernetes_template};
use crate::kit::{Server, formwork, run_with, wait_for};

const REGISTRY: &str = "localhost/acme/templates";

fn write(root: &Path, path: &str, text: &str) {
    let path = root.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// A template as the API tells it, once its report is made.
fn reported(server: &Server, reference: &str) -> Value {
    wait_for(&format!("the report on {reference}"), || {
        let answer = server.get(&format!("/api/v1/templates/{reference}"));
        let answer = Some(answer).filter(|answer| answer.status == 200)?.json();
        (answer["report"]["state"] == "made").then_some(answer)
    })
}

/// Rules that are more than a remark.
fn rules(version: &Value) -> Vec<&str> {
    let findings = version["findings"].as_array().unwrap();
    let wrong = findings.iter().filter(|finding| finding["severity"] != "info");
    wrong.map(|finding| finding["rule"].as_str().unwrap()).collect()
}

fn registry(root: &Path) -> String {
    write(root, "good/v1.0.0/good.yaml", &kubernetes_template("good", "text"));
    write(root, "good/v1.0.0/example.yaml", EXAMPLE);
    // Its example sets what is no parameter of it.
    write(root, "bad/v1.0.0/bad.yaml", &kubernetes_template("bad", "text"));
    write(root, "bad/v1.0.0/example.yaml", "parameters:\n  NO_SUCH: example\n");
    write(
        root,
        "endless/v1.0.0/endless.jinja",
        "{% for a in range(100000) %}{% for b in range(100000) %}{% for c in range(100000) %}{% endfor %}{% endfor %}{% endfor %}\nresources: []\n",
    );
    write(root, "endless/v1.0.0/example.yaml", "properties: {}\n");
    write(root, "broken/v1.0.0/broken.yaml", &kubernetes_template("broken", "text"));
    write(root, "broken/v1.0.0/example.yaml", "parameters: [\n");
    format!("{REGISTRY}={}", root.display())
}

#[test]
fn examples_are_processed_after_publishing() {
    let directory = tempfile::tempdir().unwrap();
    let source = registry(directory.path());
    let server = Server::start(&[&source]);
    let good = reported(&server, "good");
    assert_eq!((rules(&good), &good["health"]), (vec![], &Value::from("healthy")));
    let bad = reported(&server, "bad");
    assert_eq!(rules(&bad), ["example-fails"]);
    let fails = bad["findings"].as_array().unwrap().iter().find(|finding| finding["rule"] == "example-fails");
    let fails = fails.unwrap();
    assert_eq!(fails["path"], "example.yaml");
    assert_eq!(rules(&reported(&server, "endless")), ["example-fails"]);
    assert_eq!(rules(&reported(&server, "broken")), ["example-unreadable"]);
    // One bad version never hides a good one: each of them is served.
    for template in ["good", "bad", "endless", "broken"] {
        server.resolve(&format!("{template}:v1")).expect_status(200);
    }
    let page = server.get(&format!("/{REGISTRY}/bad")).expect_status(200).text();
    assert!(page.contains("example-fails") && page.contains("NO_SUCH"), "{page}");

    // The same rules at the same places as on the maintainer's machine.
    let mut command = formwork();
    command.args(["check", "--json"]).arg(directory.path());
    let checked: Value = serde_json::from_slice(&run_with(command, b"").stdout).unwrap();
    for version in checked["versions"].as_array().unwrap() {
        let reference = version["reference"].as_str().unwrap();
        let name = reference.split(':').next().unwrap();
        let told = reported(&server, name);
        let here = told["findings"].as_array().unwrap();
        let there = version["findings"].as_array().unwrap();
        assert_eq!(here.len(), there.len(), "{reference}: {here:?} {there:?}");
        for (here, there) in here.iter().zip(there) {
            assert_eq!(here["rule"], there["rule"], "{reference}");
            assert_eq!(here["line"], there["line"], "{reference}");
            assert_eq!(here["message"], there["message"], "{reference}");
        }
    }
}

#[test]
fn a_report_outlives_the_server_and_is_not_made_twice() {
    let (directory, data) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let source = registry(directory.path());
    let server = Server::launch_on(data.path(), &[&source]);
    server.wait_ready();
    let made = reported(&server, "bad")["report"].clone();
    for name in ["good", "endless", "broken"] {
        reported(&server, name);
    }
    let (status, log) = server.stop();
    assert!(status.success(), "{log}");
    let server = Server::launch_on(data.path(), &[&source]);
    server.wait_ready();
    assert_eq!(reported(&server, "bad")["report"], made);
    assert_eq!(server.metric("formwork_reports_made_total"), 0);
    // A change is reported on, and nothing else is.
    write(directory.path(), "bad/v1.0.0/example.yaml", EXAMPLE);
    let mended = wait_for("the mended example to be reported on", || {
        let bad = reported(&server, "bad");
        rules(&bad).is_empty().then_some(bad)
    });
    assert_eq!(mended["health"], "healthy");
    assert_eq!(server.metric("formwork_reports_made_total"), 1);
}

/// A report that followed a reference is made again when the reference gets something else.
#[test]
fn a_report_follows_what_it_refers_to() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path();
    let uses = "resources:\n- name: inner\n  type: REGISTRY/inner:v1\n  properties: {}\n";
    write(root, "outer/v1.0.0/outer.jinja", &uses.replace("REGISTRY", REGISTRY));
    write(root, "outer/v1.0.0/example.yaml", "properties: {}\n");
    let server = Server::start(&[&format!("{REGISTRY}={}", root.display())]);
    let outer = reported(&server, "outer");
    assert_eq!(rules(&outer), ["example-fails"], "{outer}");
    let object = "resources:\n- name: one\n  type: ConfigMap\n  properties:\n    apiVersion: v1\n    kind: ConfigMap\n    metadata: {name: one}\n";
    write(root, "inner/v1.0.0/inner.jinja", object);
    write(root, "inner/v1.0.0/example.yaml", "properties: {}\n");
    wait_for("the report to be made again", || rules(&reported(&server, "outer")).is_empty().then_some(()));
}
