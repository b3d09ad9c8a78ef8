//! What was published is never lost: not by a power cut in the middle of indexing, not by a second server, not by a
//! clean stop.

use std::path::Path;
use std::time::{Duration, Instant};

use crate::kit::registries::{EXAMPLE, kubernetes_template};
use crate::kit::{
    Commit, GitRemote, Repository, Server, formwork, git_or_skip, process, wait_for, workspace,
};

const REGISTRY: &str = "git.example/acme/growing";

/// Templates in the repository, each of which gets a version in every round.
const TEMPLATES: u64 = 60;

fn round(number: u64) -> Commit {
    (0..TEMPLATES).fold(Commit::default(), |commit, template| {
        let directory = format!("template-{template}/v1.0.{number}");
        commit
            .file(
                &format!("{directory}/template-{template}.yaml"),
                kubernetes_template("t", &format!("{template} in {number}")),
            )
            .file(&format!("{directory}/example.yaml"), EXAMPLE)
    })
}

/// Every version of every round up to this one is there, whole: found, and its bytes are those of its digest.
fn assert_whole(server: &Server, newest: u64) {
    for template in 0..TEMPLATES {
        let name = format!("{REGISTRY}/template-{template}");
        let versions = server.get(&format!("/api/v1/templates/{name}")).expect_status(200).json();
        assert!(versions["versions"].as_array().map_or(0, Vec::len) as u64 > newest, "{name}: {versions}");
        // One old and the newest version of each, byte by byte.
        for number in [template % (newest + 1), newest] {
            let file = format!("/api/v1/templates/{name}:=v1.0.{number}/-/files/template-{template}.yaml");
            let text = server.get(&file).expect_status(200).text();
            assert_eq!(text, kubernetes_template("t", &format!("{template} in {number}")), "{file}");
        }
        let found = server.get(&format!("/api/v1/search?q=template-{template}")).expect_status(200).json();
        assert_eq!(found["hits"][0]["template"], format!("template-{template}"), "{found}");
    }
}

#[test]
fn kill_9_in_the_middle_of_indexing_and_a_restart_lose_nothing() {
    if !git_or_skip() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let mut repository = Repository::create(&directory.path().join("growing.git")).unwrap();
    repository.commit(round(0)).unwrap();
    let remote = GitRemote::serve(directory.path()).unwrap();
    let source = format!("{REGISTRY}={}", remote.url("growing.git"));
    let data = directory.path().join("data");
    let arguments = ["--registry", source.as_str(), "--poll", "1s"];

    let server = Server::launch_on(&data, &arguments);
    server.wait_ready();
    server.wait_version(&format!("{REGISTRY}/template-0:v1"), "v1.0.0");
    server.kill();

    let mut interrupted = 0;
    for number in 1..=5 {
        repository.commit(round(number)).unwrap();
        let server = Server::launch_on(&data, &arguments);
        // What was published before is there at once, before any look at the repository has ended.
        let before = server.resolve(&format!("{REGISTRY}/template-{}:=v1.0.0", TEMPLATES - 1));
        assert_eq!(before.status, 200, "round {number}: {}", before.text());
        // Killed some way into the fetch, the scan or the publishing: further in each round.
        let scanners =
            wait_for("indexing to begin", || Some(server.scanners()).filter(|found| !found.is_empty()));
        let workers = server.workers();
        std::thread::sleep(Duration::from_millis(40 * (number - 1)));
        let newest = format!("{REGISTRY}/template-{}:=v1.0.{number}", TEMPLATES - 1);
        interrupted += u32::from(server.resolve(&newest).status == 404);
        server.kill();
        // Nothing it started outlives it.
        wait_for("the children to end with their parent", || {
            scanners.iter().chain(&workers).all(|pid| !process::is_alive(*pid)).then_some(())
        });
    }
    assert!(interrupted > 0, "no round was interrupted before it was published: the test shows nothing");

    let server = Server::launch_on(&data, &arguments);
    server.wait_version(&format!("{REGISTRY}/template-0:v1"), "v1.0.5");
    assert_whole(&server, 5);

    // And once more from what is on disk alone.
    remote.fail(true);
    let (status, log) = server.stop();
    assert!(status.success(), "{status}\n{log}");
    assert_whole(&Server::launch_on(&data, &arguments), 5);
}

#[test]
fn a_second_server_on_the_same_data_is_refused() {
    let server = Server::start(&["examples/registry"]);
    let output = formwork()
        .args(["serve", "examples/registry", "--listen", "127.0.0.1:0", "--data"])
        .arg(server.data())
        .current_dir(workspace())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains(&server.pid().to_string()), "the holder is not named: {said}");
    let errors = said.lines().filter(|line| line.contains("error")).count();
    assert_eq!(errors, 1, "{said}");
    // The first one does not mind.
    assert_eq!(server.resolve("web/nginx:v1").status, 200);
    // Once it has gone, the directory is free.
    let data = server.data().to_owned();
    let kept = tempfile::tempdir().unwrap();
    copy(&data, kept.path());
    drop(server);
    Server::launch_on(kept.path(), &["examples/registry"]).wait_ready();
}

/// A copy taken while the server runs is what a backup by file system snapshot sees.
fn copy(from: &Path, to: &Path) {
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            std::fs::create_dir_all(&target).unwrap();
            copy(&entry.path(), &target);
        } else {
            // A search index may drop a file between the listing and the copy.
            let _ = std::fs::copy(entry.path(), target);
        }
    }
}

/// Reports on templates in Python wait for the interpreter meanwhile.
#[test]
fn a_server_that_is_stopped_while_python_is_compiled_ends_at_once() {
    let server = Server::start(&["examples/registry"]);
    let stopping = Instant::now();
    let (status, log) = server.stop();
    assert_eq!(status.code(), Some(0), "{log}");
    assert!(!log.contains("was compiled") && !log.contains("panicked"), "{log}");
    assert!(stopping.elapsed() < Duration::from_secs(10), "it took {:?}", stopping.elapsed());
}

#[test]
fn sigterm_stops_it_cleanly() {
    let server = Server::start(&["examples/registry"]);
    let workers = server.workers();
    assert!(!workers.is_empty());
    let (status, log) = server.stop();
    assert_eq!(status.code(), Some(0), "{log}");
    assert!(log.contains("stopped"), "{log}");
    assert!(!log.contains("ERROR") && !log.contains("panicked"), "{log}");
    assert!(workers.iter().all(|pid| !process::is_alive(*pid)), "workers outlive their server");
}
