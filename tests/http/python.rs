//! Templates in Python through the port and the command line: they are processed, without any Python of this machine, and
//! a hostile one harms only itself. What each attack comes to is tried in `worker`; here it is that callers are told.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::kit::{Server, example_registry, formwork, run_with, wait_for};

const REGISTRY: &str = "localhost/acme/templates";

fn write(root: &Path, name: &str, file: &str, text: &str) {
    let directory = root.join(name).join("v1.0.0");
    std::fs::create_dir_all(&directory).unwrap();
    std::fs::write(directory.join(file), text).unwrap();
}

/// A server whose Python has been compiled.
fn server(root: &Path) -> Server {
    let server = Server::start(&[&format!("{REGISTRY}={}", root.display())]);
    wait_for("Python", || {
        let ready = server.get("/readyz").json();
        let checks = ready["checks"].as_array().unwrap();
        let python = checks.iter().find(|check| check["name"] == "python").unwrap();
        assert_eq!(python["required"], false, "the server is ready without it");
        (python["ok"] == true).then_some(())
    });
    server
}

const PLAIN: &str = "def GenerateConfig(context):
  return {'resources': [{'name': context.env['name'], 'type': 'vm', 'properties': context.properties}]}
";

#[test]
fn python_is_processed_with_an_empty_path() {
    let example = example_registry().join("web/canary/v1.0.0");
    let mut command = formwork();
    command.env("PATH", "").arg("process").arg(&example);
    command.arg("--values").arg(example.join("example.yaml"));
    let output = run_with(command, b"");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(said.matches("kind: Deployment").count(), 2, "{said}");
    assert!(said.contains("replicas: 17") && said.contains("replicas: 3"), "{said}");
}

#[test]
fn attack_row_22_through_the_port() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path();
    write(root, "plain", "plain.py", PLAIN);
    for (name, body) in [
        ("loop", "while True: pass"),
        ("memory", "return 'x' * (1 << 30)"),
        ("passwd", "return open('/etc/passwd').read()"),
        ("exit", "import os; os._exit(0)"),
        ("deep", "f = lambda: f(); f()"),
    ] {
        write(root, name, &format!("{name}.py"), &format!("def GenerateConfig(context):\n  {body}\n"));
    }
    let server = server(root);
    let values = json!({ "properties": { "a": 1 } });
    let plain = || server.process("plain:v1", &values).expect_status(200).json();
    assert_eq!(plain()["original"]["resources"][0]["properties"], json!({ "a": 1 }));
    for (name, kind, words) in [
        (
            "loop",
            "limit-exceeded",
            "loop.py was stopped at the time limit of 5s: look for a loop that does not end",
        ),
        ("memory", "limit-exceeded", "memory.py was stopped at the memory limit of 192 MiB"),
        ("passwd", "template-broken", "FileNotFoundError"),
        ("exit", "template-broken", "ended its interpreter with status 0"),
        ("deep", "template-broken", "RecursionError"),
    ] {
        let began = Instant::now();
        let answer = server.process(&format!("{name}:v1"), &values).expect_status(422).json();
        assert!(began.elapsed() < Duration::from_secs(20), "{name}: {:?}", began.elapsed());
        assert!(answer["type"].as_str().unwrap().ends_with(kind), "{name}: {answer}");
        assert!(answer.to_string().contains(words), "{name}: {answer}");
        plain();
    }
    assert_eq!(server.metric("formwork_workers_killed"), 0, "no worker had to be stopped");
    let metrics = server.get("/metrics").text();
    assert!(metrics.contains("formwork_python{state=\"ready\"} 1"), "{metrics}");
}

#[test]
fn an_example_that_comes_out_differently_is_rendered_by_jinja2_from_then_on() {
    let directory = tempfile::tempdir().unwrap();
    let text = "resources:\n- name: {{ 'x'.__class__.__name__ }}\n  type: vm\n";
    write(directory.path(), "odd", "odd.jinja", text);
    write(directory.path(), "odd", "example.yaml", "properties: {}\n");
    let server = server(directory.path());
    let findings = wait_for("the report on odd", || {
        let version = server.get("/api/v1/templates/odd").json();
        (version["report"]["state"] == "made").then(|| version["findings"].clone())
    });
    let findings = findings.as_array().unwrap();
    let rule = |finding: &&Value| finding["rule"] == "rendered-by-jinja2";
    let finding = findings.iter().find(rule).unwrap_or_else(|| panic!("{findings:?}"));
    assert_eq!(finding["severity"], "info");
    let made = server.process("odd", &json!({ "properties": {} })).expect_status(200).json();
    assert_eq!(made["original"]["resources"][0]["name"], "str");
}
