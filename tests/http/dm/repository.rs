//! The recorded exchanges with GitHub, by three generations of clients and by a manager, sent to our server in its place.

use std::collections::BTreeSet;

use serde_json::Value;

use super::replay::{recordings, serving};
use super::wire;

/// What recordings and we say of a directory, without what ours has beyond it, and addresses of raw files alike.
fn listing(text: &str, base: &str) -> Value {
    let text = text.replace(
        &format!("{base}/raw/acme/templates/HEAD/"),
        "https://raw.githubusercontent.com/acme/templates/master/",
    );
    serde_json::from_str(&text).unwrap_or(Value::String(text))
}

#[test]
fn every_recorded_exchange_with_github_is_answered_alike() {
    let root = tempfile::tempdir().unwrap();
    let server = serving(root.path(), &[]);
    let (mut compared, mut targets) = (0, BTreeSet::new());
    for (name, recording) in recordings() {
        for exchange in &recording.exchanges {
            let (target, is_raw) = match exchange.to.as_str() {
                "api.github.com" => (exchange.request.target.clone(), false),
                "raw.githubusercontent.com" => (format!("/raw{}", exchange.request.target), true),
                _ => continue,
            };
            let headers =
                exchange.request.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
            // Not ours: what is behind a credential at GitHub is not what is behind one here.
            let headers = headers.filter(|(name, _)| !["Accept-Encoding", "Authorization"].contains(name));
            let answer = wire::send(
                server.url(),
                &exchange.request.method,
                &target,
                &headers.collect::<Vec<_>>(),
                b"",
            );
            assert_eq!(answer.status, exchange.response.status, "{name}: {target}");
            if is_raw {
                assert_eq!(answer.text(), exchange.response.body, "{name}: {target}");
                assert_eq!(answer.header("content-type"), "text/plain; charset=utf-8", "{target}");
            } else {
                let [theirs, ours] =
                    [&exchange.response.body, &answer.text()].map(|text| listing(text, server.url()));
                assert_eq!(ours, theirs, "{name}: {target}");
            }
            targets.insert(target);
            compared += 1;
        }
    }
    assert!(compared > 100 && targets.len() > 15, "{compared} exchanges of {} targets", targets.len());
}

#[test]
fn files_are_given_by_branch_and_path_and_by_version() {
    let root = tempfile::tempdir().unwrap();
    let server = serving(root.path(), &[]);
    let get = |path: &str| wire::send(server.url(), "GET", path, &[], b"");
    for (path, says) in [
        ("/raw/acme/templates/master/web/frontend/v1/frontend.jinja", "version: v1\n"),
        ("/raw/acme/templates/main//web/frontend/v1.0.2/frontend.jinja", "version: v1.0.2\n"),
        ("/raw/acme/templates/web/frontend/v1/frontend.jinja", "version: v1.0.2\n"),
        ("/raw/acme/templates/web/frontend/v1/frontend.jinja.schema", "version: 1.0.2\n"),
        ("/raw/github.com/acme/templates/web/frontend/v1.1/frontend.jinja", "version: v1.1\n"),
        (
            "/repos/acme/templates/contents/web/frontend/v1/frontend.jinja?ref=master",
            r#""encoding":"base64""#,
        ),
        ("/repos/acme/templates/contents//web//frontend/", r#""name":"v1.0.2""#),
    ] {
        let answer = get(path);
        assert_eq!(answer.status, 200, "{path}");
        assert!(answer.text().contains(says), "{path}: {}", answer.text());
    }
    for path in [
        "/raw/acme/templates/master/web/frontend/v1/none.jinja",
        "/raw/acme/templates/web/frontend/v9/frontend.jinja",
        "/raw/acme/templates/master/web/frontend/v1/../../../../../etc/passwd",
        "/raw/acme/templates/master/%2e%2e/%2e%2e/registry.json",
        "/raw/acme/none/master/x",
        "/raw/acme",
        "/raw/%ff/x/y",
    ] {
        let answer = get(path);
        assert_eq!((answer.status, answer.text().as_str()), (404, "404: Not Found"), "{path}");
    }
    for path in [
        "/repos/acme/templates/contents/none",
        "/repos/acme/templates/contents/web/frontend:v1/",
        "/repos/acme/templates/contents/?ref=other",
        "/repos/acme/templates",
        "/repos/acme/none/contents/",
    ] {
        let answer = get(path);
        assert_eq!((answer.status, answer.text().as_str()), (404, r#"{"message":"Not Found"}"#), "{path}");
    }
}
