//! A registry cloned over http from the real `git http-backend`, from the first fetch to the next commit.

use serde_json::json;

use crate::kit::registries::{EXAMPLE, kubernetes_template};
use crate::kit::{Commit, GitRemote, Repository, Server, example_registry, git_or_skip, wait_for};

#[test]
fn a_repository_over_http_is_resolved_searched_processed_and_followed() {
    if !git_or_skip() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let mut repository = Repository::create(&directory.path().join("templates.git")).unwrap();
    let first = repository.commit(Commit::default().directory("", &example_registry()).unwrap()).unwrap();
    // In one pack, as hosts of repositories keep them; what is committed later comes on its own.
    repository.repack().unwrap();
    let remote = GitRemote::serve(directory.path()).unwrap();
    let source = format!("git.example/acme/templates={}", remote.url("templates.git"));
    let server = Server::start(&["--registry", &source, "--poll", "1s"]);

    // Resolve: the commit and every file are named.
    let resolved = server.resolve("git.example/acme/templates/web/nginx:v1").expect_status(200).json();
    assert_eq!(resolved["resolved"], "v1.0.1");
    assert_eq!(resolved["commit"], first.as_str());
    // The pin asks for the same bytes.
    let pinned = resolved["pinned"].as_str().unwrap();
    assert_eq!(server.resolve(pinned).expect_status(200).json()["digest"], resolved["digest"]);

    // Files by reference and by digest are the bytes of the repository.
    for file in resolved["files"].as_array().unwrap() {
        let path = file["path"].as_str().unwrap();
        let bytes = std::fs::read(example_registry().join("web/nginx/v1.0.1").join(path)).unwrap();
        let by_reference =
            server.get(&format!("/api/v1/templates/web/nginx:v1/-/files/{path}")).expect_status(200);
        assert_eq!(by_reference.body, bytes, "{path} by reference");
        assert_eq!(by_reference.header("cache-control"), "no-cache");
        let by_digest = server.get(file["url"].as_str().unwrap()).expect_status(200);
        assert_eq!(by_digest.body, bytes, "{path} by digest");
        assert!(
            by_digest.header("cache-control").contains("immutable"),
            "{}",
            by_digest.header("cache-control")
        );
        let tag = by_digest.header("etag").to_owned();
        let unchanged = server.get_with(file["url"].as_str().unwrap(), &[("if-none-match", &tag)]);
        assert_eq!((unchanged.status, unchanged.body.len()), (304, 0));
    }

    // Search and process.
    let found = server.get("/api/v1/search?q=postgresql").expect_status(200).json();
    assert_eq!(found["hits"][0]["reference"], "git.example/acme/templates/databases/postgresql");
    let made =
        server.process("databases/redis:v1", &json!({"parameters": {"NAME": "sessions", "PASSWORD": "p"}}));
    assert_eq!(made.expect_status(200).json()["objects"][0]["metadata"]["name"], "sessions");

    // A further commit shows by itself; what did not change keeps its digest.
    let commit = Commit::default()
        .file("databases/redis/v1.0.3/redis.yaml", kubernetes_template("redis", "third"))
        .file("databases/redis/v1.0.3/example.yaml", EXAMPLE)
        .executable("databases/redis/v1.0.3/run.sh", "#!/bin/sh\n");
    let second = repository.commit(commit).unwrap();
    let newer = server.wait_version("databases/redis:v1", "v1.0.3");
    assert_eq!(newer["commit"], second.as_str());
    let executable = newer["files"].as_array().unwrap().iter().find(|file| file["path"] == "run.sh").unwrap();
    assert_eq!(executable["executable"], true);
    assert_eq!(server.resolve("web/nginx:v1").json()["digest"], resolved["digest"]);
}

#[test]
fn file_urls_and_bare_directories_are_registries_too() {
    if !git_or_skip() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let mut repository = Repository::create(&directory.path().join("templates.git")).unwrap();
    let head = repository.commit(Commit::default().directory("", &example_registry()).unwrap()).unwrap();
    assert_eq!(repository.head().unwrap(), head);
    let source = format!("git.example/acme/templates={}", repository.file_url());
    let server = Server::start(&[
        "--registry",
        &source,
        "--registry",
        "examples/registry",
        "--default-registry",
        "git.example/acme/templates/web",
    ]);
    // A single segment is in the default collection.
    let short = server.resolve("nginx:v1").expect_status(200).json();
    assert_eq!(
        short["pinned"].as_str().unwrap().split(':').next(),
        Some("git.example/acme/templates/web/nginx")
    );
    // The same bytes, by Git and as a directory, are the same version.
    let directory = server.resolve("localhost/examples/registry/web/nginx:v1").expect_status(200).json();
    assert_eq!(directory["digest"], short["digest"]);
    assert!(directory.get("commit").is_none(), "a directory has no commit");
}

#[test]
fn a_repository_that_fails_to_clone_leaves_what_was_published() {
    if !git_or_skip() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let mut repository = Repository::create(&directory.path().join("a.git")).unwrap();
    repository.commit(Commit::default().directory("", &example_registry()).unwrap()).unwrap();
    let remote = GitRemote::serve(directory.path()).unwrap();
    let good = format!("git.example/acme/a={}", remote.url("a.git"));
    let missing = format!("git.example/acme/missing={}", remote.url("missing.git"));
    let server = Server::launch(&["--registry", &good, "--registry", &missing, "--poll", "1s"]);

    // One registry that is not there does not keep the other from being served.
    let before = server.wait_version("git.example/acme/a/web/nginx:v1", "v1.0.1");
    let failed = wait_for("the missing repository to be reported", || {
        Some(server.sync("git.example/acme/missing")).filter(|sync| sync["state"] == "failed")
    });
    assert!(failed["message"].as_str().is_some_and(|message| !message.is_empty()), "{failed}");

    // The remote breaks; more than one attempt is made, and nothing that was published goes.
    remote.fail(true);
    let asked = remote.requests();
    wait_for("the breakdown to be noticed", || {
        Some(server.sync("git.example/acme/a"))
            .filter(|sync| sync["state"] == "failed" && remote.requests() > asked)
    });
    assert_eq!(
        server.resolve("git.example/acme/a/web/nginx:v1").expect_status(200).json()["digest"],
        before["digest"]
    );
    let made = server.process("git.example/acme/a/web/nginx:v1", &json!({"properties": {"name": "shop"}}));
    assert_eq!(made.status, 200);

    // It is mended, and news arrives.
    remote.fail(false);
    let commit = Commit::default()
        .file("web/nginx/v1.0.2/nginx.yaml", kubernetes_template("nginx", "new"))
        .file("web/nginx/v1.0.2/example.yaml", EXAMPLE);
    repository.commit(commit).unwrap();
    server.wait_version("git.example/acme/a/web/nginx:v1", "v1.0.2");
    wait_for("the registry to be healthy again", || {
        Some(server.sync("git.example/acme/a")).filter(|sync| sync["state"] == "ready")
    });
}
