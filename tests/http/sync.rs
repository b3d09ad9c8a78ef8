//! When registries are brought up to date: a directory as it is saved, a slow server beside quick ones, what is not
//! named any more.

use std::io::Read;
use std::net::TcpListener;
use std::time::{Duration, Instant};

use crate::kit::registries::{EXAMPLE, kubernetes_template};
use crate::kit::{Commit, GitRemote, Repository, Server, formwork, git_or_skip, post_with, wait_for};

/// A server that takes connections and never says a word.
fn silent_server() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            // Reads until the other side gives up.
            std::thread::spawn(move || while matches!(stream.read(&mut [0; 512]), Ok(1..)) {});
        }
    });
    format!("http://{address}/silent.git")
}

/// A template with one version below a directory, as an editor saves it.
fn save(root: &std::path::Path, template: &str, version: &str, text: &str) {
    let directory = root.join(template).join(version);
    std::fs::create_dir_all(&directory).unwrap();
    std::fs::write(directory.join(format!("{template}.yaml")), kubernetes_template(template, text)).unwrap();
    std::fs::write(directory.join("example.yaml"), EXAMPLE).unwrap();
}

#[test]
fn a_directory_is_indexed_again_within_a_second_of_a_save() {
    let root = tempfile::tempdir().unwrap();
    save(root.path(), "redis", "v1.0.0", "first");
    let server =
        Server::start(&[&format!("git.example/acme/edited={}", root.path().display()), "--poll", "1h"]);
    let reference = "git.example/acme/edited/redis:v1";
    let file = "/api/v1/templates/git.example/acme/edited/redis:=v1.0.0/-/files/redis.yaml";
    assert_eq!(server.resolve(reference).expect_status(200).json()["resolved"], "v1.0.0");

    let mut took = Vec::new();
    for round in 0..5 {
        // A file is saved over, in place, and a version is added beside it.
        let text = kubernetes_template("redis", &format!("edit {round}"));
        std::fs::write(root.path().join("redis/v1.0.0/redis.yaml"), &text).unwrap();
        let saved = Instant::now();
        wait_for("the edit to be served", || (server.get(file).text() == text).then_some(()));
        took.push(saved.elapsed());
        let version = format!("v1.0.{}", round + 1);
        save(root.path(), "redis", &version, "added");
        let saved = Instant::now();
        server.wait_version(reference, &version);
        took.push(saved.elapsed());
    }
    took.sort();
    let _ = std::io::Write::write_all(
        &mut std::io::stderr(),
        format!("save to served: median {:?}, slowest {:?}\n", took[took.len() / 2], took[took.len() - 1])
            .as_bytes(),
    );
    // Half a second is usual. The machine of a test may be busy, so the median decides.
    assert!(took[took.len() / 2] < Duration::from_secs(2), "{took:?}");
}

/// Attack row 16, its share of scheduling: servers that never answer keep nobody waiting but themselves, though
/// there are more of them than there are turns.
#[test]
fn servers_that_never_answer_do_not_delay_other_registries() {
    if !git_or_skip() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let mut repository = Repository::create(&directory.path().join("good.git")).unwrap();
    let version = |number: u32| {
        Commit::default()
            .file(&format!("redis/v1.0.{number}/redis.yaml"), kubernetes_template("redis", "x"))
            .file(&format!("redis/v1.0.{number}/example.yaml"), EXAMPLE)
    };
    repository.commit(version(0)).unwrap();
    let remote = GitRemote::serve(directory.path()).unwrap();
    let silent = (0..4).map(|number| format!("a.example/silent/r{number}={}", silent_server()));
    let good = format!("b.example/acme/good={}", remote.url("good.git"));
    let registries = silent.chain([good]).collect::<Vec<_>>();
    let arguments = registries.iter().flat_map(|registry| ["--registry", registry.as_str()]);
    let server = Server::launch(&arguments.chain(["--poll", "1s"]).collect::<Vec<_>>());

    let started = Instant::now();
    server.wait_version("b.example/acme/good/redis:v1", "v1.0.0");
    let first = started.elapsed();
    assert!(first < Duration::from_secs(20), "the first look took {first:?}");
    // While they hang, news of the others comes as ever.
    repository.commit(version(1)).unwrap();
    let pushed = Instant::now();
    server.wait_version("b.example/acme/good/redis:v1", "v1.0.1");
    assert!(pushed.elapsed() < Duration::from_secs(10), "the next one took {:?}", pushed.elapsed());
    let hanging =
        (0..4).filter(|number| server.sync(&format!("a.example/silent/r{number}"))["state"] == "fetching");
    assert!(hanging.count() >= 2, "the silent servers are not being waited for: the test shows nothing");
}

#[test]
fn what_is_not_named_any_more_is_served_as_it_was_unless_removal_is_asked_for() {
    let root = tempfile::tempdir().unwrap();
    save(root.path(), "redis", "v1.0.0", "first");
    let data = tempfile::tempdir().unwrap();
    let edited = format!("git.example/acme/edited={}", root.path().display());
    let reference = "git.example/acme/edited/redis:v1";
    let server = Server::launch_on(data.path(), &[&edited, "examples/registry"]);
    server.wait_ready();
    assert!(server.stop().0.success());

    // Its line in the settings is gone: nothing that was published goes with it, and it says how it stands.
    let server = Server::launch_on(data.path(), &["examples/registry"]);
    server.wait_ready();
    server.resolve(reference).expect_status(200);
    let sync = server.sync("git.example/acme/edited");
    assert_eq!(sync["state"], "detached", "{sync}");
    save(root.path(), "redis", "v1.0.1", "unseen");
    let page = server.get("/git.example/acme/edited").expect_status(200).text();
    assert!(page.contains("detached"), "{page}");
    assert!(server.stop().0.success());

    // Named again, it goes on from where it was.
    let server = Server::launch_on(data.path(), &[&edited, "examples/registry"]);
    server.wait_version(reference, "v1.0.1");
    assert!(server.stop().0.success());

    // Removed on request.
    let server = Server::launch_on(data.path(), &["examples/registry", "--remove-unlisted"]);
    server.wait_ready();
    server.resolve(reference).expect_status(404);
    assert_eq!(server.get("/api/v1/registries/git.example/acme/edited").status, 404);
    let found = server.get("/api/v1/search?q=redis&registry=git.example/acme/edited").json();
    assert_eq!(found["total"], 0, "{found}");
}

/// Whoever has a token to write has a registry looked at now, over the API and from the command line; nobody else has.
#[test]
fn a_registry_is_looked_at_when_somebody_asks() {
    if !git_or_skip() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let mut repository = Repository::create(&directory.path().join("asked.git")).unwrap();
    let version = |number: u32| {
        let path = format!("redis/v1.0.{number}");
        Commit::default()
            .file(&format!("{path}/redis.yaml"), kubernetes_template("redis", "text"))
            .file(&format!("{path}/example.yaml"), EXAMPLE)
    };
    repository.commit(version(0)).unwrap();
    let remote = GitRemote::serve(directory.path()).unwrap();
    let data = directory.path().join("data");
    std::fs::create_dir(&data).unwrap();
    let token = |scope: &str| {
        let mut command = formwork();
        command.args(["token", "create", scope, "--scope", scope]).env("FORMWORK_DATA", &data);
        let output = command.current_dir(&data).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    let (read, write) = (token("read"), token("write"));
    const NAME: &str = "git.example/acme/asked";
    let source = format!("{NAME}={}", remote.url("asked.git"));
    let server = Server::launch_on(&data, &["--registry", &source, "--poll", "1h"]);
    server.wait_ready();
    server.wait_version("redis", "v1.0.0");
    let ask = |token: Option<&str>| {
        let bearer = token.map(|token| format!("Bearer {token}"));
        let headers = bearer.as_deref().map(|bearer| ("authorization", bearer));
        let url = format!("{}/api/v1/registries/{NAME}/-/sync", server.url());
        post_with(&url, headers.as_slice(), b"").unwrap()
    };
    repository.commit(version(1)).unwrap();
    assert_eq!((ask(None).status, ask(Some(&read)).status), (401, 403));
    let taken = ask(Some(&write));
    assert_eq!(taken.status, 202, "{}", taken.text());
    assert!(taken.headers.contains_key("location"));
    server.wait_version("redis", "v1.0.1");

    repository.commit(version(2)).unwrap();
    let sync = |token: &str| {
        let mut command = formwork();
        command.args(["sync", NAME, "--server", server.url()]).env("FORMWORK_TOKEN", token);
        command.output().unwrap()
    };
    let refused = sync(&read);
    assert!(!refused.status.success(), "{}", String::from_utf8_lossy(&refused.stdout));
    let done = sync(&write);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    server.wait_version("redis", "v1.0.2");
}
