//! Registries found at GitHub: a listing of a GitHub of our own, and repositories over http beside it.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::kit::registries::{EXAMPLE, kubernetes_template};
use crate::kit::{Commit, GitRemote, Repository, Server, git_or_skip, wait_for};

/// Answers the listing of one organisation with what it is told, and everything else with 404.
fn listing(repositories: Arc<Mutex<Vec<Value>>>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut lines = BufReader::new(&stream).lines().map_while(Result::ok);
            let asked = lines.next().unwrap_or_default();
            lines.take_while(|line| !line.is_empty()).for_each(drop);
            let (status, body) = match asked.starts_with("GET /orgs/acme/repos?") {
                true => ("200 OK", Value::from(repositories.lock().unwrap().clone()).to_string()),
                false => ("404 Not Found", "{}".to_owned()),
            };
            let length = body.len();
            let head = format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n");
            // Who goes away before the answer has its reasons.
            let _ = (&stream).write_all(format!("{head}{body}").as_bytes());
        }
    });
    format!("http://{address}")
}

#[test]
fn registries_of_an_organisation_are_found_followed_and_kept_when_they_go() {
    if !git_or_skip() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let commit = || {
        Commit::default()
            .file("redis/v1.0.0/redis.yaml", kubernetes_template("redis", "first"))
            .file("redis/v1.0.0/example.yaml", EXAMPLE)
    };
    for name in ["one.git", "given.git"] {
        Repository::create(&directory.path().join(name)).unwrap().commit(commit()).unwrap();
    }
    let remote = GitRemote::serve(directory.path()).unwrap();
    let repository = |name: &str, topics: &[&str]| {
        json!({
            "full_name": format!("acme/{name}"), "clone_url": remote.url(&format!("{name}.git")),
            "default_branch": "main", "description": "What the platform team keeps.", "stargazers_count": 12,
            "topics": topics,
        })
    };
    let repositories = Arc::new(Mutex::new(vec![
        repository("one", &["formwork-registry"]),
        repository("other", &["unrelated"]),
        repository("given", &["formwork-registry"]),
    ]));
    let settings = directory.path().join("formwork.toml");
    let text = format!(
        "poll = '1h'\n[registries]\n'127.0.0.1/acme/given' = '{}'\n[github]\norganisation = 'acme'\napi-url = '{}'\ninterval = '1s'\n",
        remote.url("given.git"),
        listing(repositories.clone())
    );
    std::fs::write(&settings, text).unwrap();
    let data = tempfile::tempdir().unwrap();
    let server = Server::launch_on(data.path(), &["--config", settings.to_str().unwrap()]);
    let reference = "127.0.0.1/acme/one/redis:v1";
    server.wait_version(reference, "v1.0.0");
    server.wait_version("127.0.0.1/acme/given/redis:v1", "v1.0.0");
    let said = |server: &Server, name: &str| {
        server.get(&format!("/api/v1/registries/127.0.0.1/acme/{name}")).expect_status(200).json()["discovered"].clone()
    };
    let expected =
        json!({"default_branch": "main", "description": "What the platform team keeps.", "stars": 12});
    assert_eq!(said(&server, "one"), expected);
    // What was given by hand is not taken over, and what has another topic is none.
    assert_eq!(said(&server, "given"), Value::Null);
    assert_eq!(server.get("/api/v1/registries/127.0.0.1/acme/other").status, 404);
    let page = server.get("/127.0.0.1/acme/one").expect_status(200).text();
    assert!(page.contains("What the platform team keeps.") && page.contains("<dt>Stars</dt>"), "{page}");

    // It loses its topic: no longer followed, and still served, after a restart too.
    repositories.lock().unwrap()[0] = repository("one", &[]);
    wait_for("the registry to be missed", || said(&server, "one")["missing_since"].as_str().map(drop));
    wait_for("it to be detached", || {
        (server.sync("127.0.0.1/acme/one")["state"] == "detached").then_some(())
    });
    server.resolve(reference).expect_status(200);
    server.stop();
    let server = Server::launch_on(data.path(), &["--config", settings.to_str().unwrap()]);
    server.resolve(reference).expect_status(200);
    wait_for("it to be detached again", || {
        (server.sync("127.0.0.1/acme/one")["state"] == "detached").then_some(())
    });

    // It comes back.
    repositories.lock().unwrap()[0] = repository("one", &["formwork-registry"]);
    wait_for("the registry to be found again", || {
        (server.sync("127.0.0.1/acme/one")["state"] == "ready").then_some(())
    });
    assert_eq!(said(&server, "one"), expected);
}
