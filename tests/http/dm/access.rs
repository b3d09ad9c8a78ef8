//! Tokens in addresses, through the program: used by a client, and in none of what is written down.

use super::wire;
use crate::kit::{Server, formwork};

#[test]
fn a_token_in_an_address_is_in_no_log_no_metric_and_no_answer() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    std::fs::create_dir(&data).unwrap();
    let made = formwork()
        .args(["token", "create", "me", "--scope", "write"])
        .env("FORMWORK_DATA", &data)
        .current_dir(directory.path())
        .output()
        .unwrap();
    let token = String::from_utf8(made.stdout).unwrap().trim().to_owned();
    assert!(token.starts_with("fwk_"), "{}", String::from_utf8_lossy(&made.stderr));
    let log = directory.path().join("access.log");
    let arguments =
        ["examples/registry", "--access-log", log.to_str().unwrap(), "--public-url", "https://t.example"];
    let server = Server::launch_on(&data, &arguments);
    server.wait_ready();
    let content = "resources:\n- name: web\n  type: web/nginx:v1\n  properties: {name: web}\n";
    let body = serde_json::json!({"name": "web", "content": content, "imports": null}).to_string();
    let headers = [("Content-Type", "application/json"), ("Transfer-Encoding", "chunked")];
    let post = |base: &str| {
        wire::send(server.url(), "POST", &format!("{base}/deployments"), &headers, body.as_bytes())
    };
    assert_eq!(post("/dm").status, 401);
    let good = post(&format!("/dm/t/{token}"));
    assert_eq!(good.status, 201, "{}", good.text());
    // One that is not good any more is a secret still, and so is what is only meant to be one.
    let bad = token.replace("fwk_0", "fwk_1").replace('a', "b");
    let answers = [
        good,
        post(&format!("/dm/t/{bad}")),
        post("/dm/t/hunter2"),
        wire::send(server.url(), "GET", &format!("/dm/t/{token}/deployments/none"), &[], b""),
        wire::send(server.url(), "GET", &format!("/dm/t/{token}/r/none/here/list"), &[], b""),
        wire::send(server.url(), "GET", &format!("/dm/t/{token}/types/{token}/metadata"), &[], b""),
        wire::send(server.url(), "GET", "/metrics", &[], b""),
    ];
    let secrets = [token.as_str(), bad.as_str(), "hunter2"];
    for answer in &answers {
        assert!(secrets.iter().all(|secret| !answer.text().contains(secret)), "{}", answer.text());
    }
    let (_, standard_error) = server.stop();
    let log = std::fs::read_to_string(log).unwrap();
    assert!(log.matches("/dm/t/[token]/deployments").count() >= 4, "{log}");
    for secret in secrets {
        assert!(!log.contains(secret) && !standard_error.contains(secret));
    }
}
