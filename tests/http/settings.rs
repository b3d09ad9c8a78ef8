//! What settings of `serve` change, seen from outside.

use std::process::Command;

use serde_json::Value;

use crate::kit::{Server, skipped, wait_for};

#[test]
fn tls_serves_https_and_nothing_else() {
    if Command::new("openssl").arg("version").output().is_err() {
        return skipped("openssl, which makes the certificate, is not installed");
    }
    let directory = tempfile::tempdir().unwrap();
    let (certificate, key) = (directory.path().join("cert.pem"), directory.path().join("key.pem"));
    let made = Command::new("openssl")
        .args([
            "req",
            "-x509",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:P-256",
            "-nodes",
            "-days",
            "2",
        ])
        .args(["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout"])
        .arg(&key)
        .arg("-out")
        .arg(&certificate)
        .output()
        .unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let (certificate, key) = (certificate.to_str().unwrap(), key.to_str().unwrap());
    let server = Server::start(&["examples/registry", "--tls-cert", certificate, "--tls-key", key]);
    assert!(server.url().starts_with("https://"), "{}", server.url());
    assert_eq!(server.resolve("web/nginx:v1").expect_status(200).json()["resolved"], "v1.0.1");
    let plain = crate::kit::get(&server.url().replace("https://", "http://"));
    assert!(plain.map_or(true, |answer| answer.status >= 400), "plain HTTP is answered on the port of TLS");
}

#[test]
fn links_are_absolute_only_by_the_public_url() {
    let links = |arguments: &[&str]| {
        let server = Server::start(arguments);
        server.resolve("web/nginx:v1").expect_status(200).json()["links"].clone()
    };
    let all = |links: &Value, start: &str| {
        let links = links.as_object().unwrap();
        assert!(
            !links.is_empty() && links.values().all(|link| link.as_str().unwrap().starts_with(start)),
            "{links:?}"
        );
    };
    all(&links(&["examples/registry"]), "/");
    all(
        &links(&["examples/registry", "--public-url", "https://templates.example/"]),
        "https://templates.example/",
    );
}

#[test]
fn the_access_log_has_a_line_for_every_request() {
    let directory = tempfile::tempdir().unwrap();
    let log = directory.path().join("access.log");
    let server = Server::start(&["examples/registry", "--access-log", log.to_str().unwrap()]);
    let answer = server.get_with("/api/v1/resolve?ref=web/nginx:v1", &[("x-request-id", "from-a-test")]);
    assert_eq!(answer.status, 200);
    server.resolve("web/nginx:v9").expect_status(404);
    let lines = wait_for("both requests to be in the log", || {
        let text = std::fs::read_to_string(&log).unwrap_or_default();
        // A line that is being written is not looked at yet.
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        let lines = whole.lines().map(|line| {
            serde_json::from_str::<Value>(line).unwrap_or_else(|error| panic!("{error}: {line}"))
        });
        let lines = lines.filter(|line| line.to_string().contains("/api/v1/resolve")).collect::<Vec<_>>();
        (lines.len() >= 2).then_some(lines)
    });
    assert_eq!((&lines[0]["status"], &lines[1]["status"]), (&Value::from(200), &Value::from(404)));
    // What is in the answer is in the log, so that the two can be brought together.
    assert!(lines[0].to_string().contains(answer.header("x-request-id")), "{}", lines[0]);
}
