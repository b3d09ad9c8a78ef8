//! What an upstream does to versions after they were published, seen through the HTTP port: rewritten, removed, moved,
//! put back, and their branch with them.

use serde_json::{Value, json};

use crate::kit::registries::{EXAMPLE, kubernetes_template};
use crate::kit::{Commit, GitRemote, Repository, Server, formwork, git_or_skip, wait_for};

const REGISTRY: &str = "git.example/acme/templates";

/// A repository, a remote that serves it, and a server that follows it.
struct Upstream {
    repository: Repository,
    server: Server,
    _remote: GitRemote,
    _directory: tempfile::TempDir,
}

impl Upstream {
    /// Starts with one commit. Versions settle at once unless `arguments` say otherwise.
    fn start(first: Commit, arguments: &[&str]) -> (Upstream, String) {
        let directory = tempfile::tempdir().unwrap();
        let mut repository = Repository::create(&directory.path().join("templates.git")).unwrap();
        let commit = repository.commit(first).unwrap();
        let remote = GitRemote::serve(directory.path()).unwrap();
        let source = format!("{REGISTRY}={}", remote.url("templates.git"));
        let common = ["--registry", &source, "--poll", "1s"];
        let server = Server::start(&[&common, arguments].concat());
        (Upstream { repository, server, _remote: remote, _directory: directory }, commit)
    }

    /// The same with an admin token, made before the server was started.
    fn administered(first: Commit, arguments: &[&str]) -> (Upstream, String) {
        let directory = tempfile::tempdir().unwrap();
        let mut repository = Repository::create(&directory.path().join("templates.git")).unwrap();
        repository.commit(first).unwrap();
        let remote = GitRemote::serve(directory.path()).unwrap();
        let source = format!("{REGISTRY}={}", remote.url("templates.git"));
        let data = directory.path().join("data");
        std::fs::create_dir(&data).unwrap();
        let created = formwork()
            .args(["token", "create", "me", "--scope", "admin"])
            .env("FORMWORK_DATA", &data)
            .current_dir(&data)
            .output()
            .unwrap();
        assert!(created.status.success(), "{}", String::from_utf8_lossy(&created.stderr));
        let token = String::from_utf8(created.stdout).unwrap().trim().to_owned();
        let common = ["--registry", &source, "--poll", "1s"];
        let server = Server::launch_on(&data, &[&common, arguments].concat());
        server.wait_ready();
        (Upstream { repository, server, _remote: remote, _directory: directory }, token)
    }

    /// Runs the program against the server; its exit status and everything it said.
    fn run(&self, token: &str, arguments: &[&str]) -> (Option<i32>, String) {
        let mut command = formwork();
        command.args(arguments).args(["--server", self.server.url()]).env("FORMWORK_TOKEN", token);
        let output = command.output().unwrap();
        let said = [output.stdout, output.stderr].concat();
        (output.status.code(), String::from_utf8_lossy(&said).into_owned())
    }

    /// Pushes a commit and waits until it is what is published.
    fn push(&mut self, commit: Commit) -> String {
        let commit = self.repository.commit(commit).unwrap();
        self.wait_commit(&commit);
        commit
    }

    /// Moves the branch to a commit and waits until that is what is published.
    fn force(&self, commit: &str) {
        self.repository.force(commit).unwrap();
        self.wait_commit(commit);
    }

    fn wait_commit(&self, commit: &str) {
        wait_for(&format!("{commit} to be published"), || {
            (self.registry()["commit"] == commit).then_some(())
        });
    }

    fn registry(&self) -> Value {
        self.server.get(&format!("/api/v1/registries/{REGISTRY}")).expect_status(200).json()
    }

    fn resolve(&self, reference: &str) -> Value {
        self.server.resolve(&format!("{REGISTRY}/{reference}")).expect_status(200).json()
    }

    fn status(&self, reference: &str) -> u16 {
        self.server.resolve(&format!("{REGISTRY}/{reference}")).status
    }

    fn text(&self, reference: &str, file: &str) -> String {
        let path = format!("/api/v1/templates/{REGISTRY}/{reference}/-/files/{file}");
        self.server.get(&path).expect_status(200).text()
    }

    /// The ids of the rules of a version's findings, of those about history.
    fn rules(&self, reference: &str) -> Vec<String> {
        let path = format!("/api/v1/templates/{REGISTRY}/{reference}");
        let mut rules = rules(&self.server.get(&path).expect_status(200).json());
        rules.retain(|rule| rule != "parameter-description");
        rules
    }

    fn revisions(&self, reference: &str) -> Vec<Value> {
        let path = format!("/api/v1/templates/{REGISTRY}/{reference}/-/history");
        self.server.get(&path).expect_status(200).json()["revisions"].as_array().cloned().unwrap()
    }

    /// The change log, all of it; sequences are held to what they promise.
    fn changes(&self) -> Vec<Value> {
        let (mut since, mut all) = (0, Vec::<Value>::new());
        loop {
            let page = self.server.get(&format!("/api/v1/changes?since={since}&limit=7"));
            let page = page.expect_status(200).json();
            all.extend(page["changes"].as_array().cloned().unwrap());
            since = page["next"].as_u64().unwrap();
            if page["more"] == false {
                break;
            }
        }
        assert!(all.is_sorted_by(|one, other| one["sequence"].as_u64() < other["sequence"].as_u64()));
        all
    }

    fn words(&self) -> Vec<String> {
        self.changes().iter().map(|change| change["what"].as_str().unwrap_or_default().to_owned()).collect()
    }
}

fn rules(document: &Value) -> Vec<String> {
    let findings = document["findings"].as_array().cloned().unwrap_or_default();
    findings.iter().map(|finding| finding["rule"].as_str().unwrap_or_default().to_owned()).collect()
}

trait With {
    fn version(self, path: &str, name: &str, text: &str) -> Self;
}

impl With for Commit {
    /// A version of a template that holds `text`.
    fn version(self, path: &str, name: &str, text: &str) -> Commit {
        self.file(&format!("{path}/{name}.yaml"), kubernetes_template(name, text))
            .file(&format!("{path}/example.yaml"), EXAMPLE)
    }
}

fn redis(version: &str, text: &str) -> Commit {
    Commit::default().version(&format!("redis/{version}"), "redis", text)
}

/// Attack row 10: a forced push rewrites a published version. The first bytes stay served, the version is flagged, the
/// new bytes are refused, and the change log and the feeds say so.
#[test]
fn rewriting_a_settled_version_in_place_leaves_the_first_bytes_served() {
    if !git_or_skip() {
        return;
    }
    let readme = Commit::default().file("README.md", "# Templates\n");
    let (mut upstream, root) = Upstream::start(readme, &["--settle", "0s"]);
    let first = upstream.push(redis("v1.0.0", "first").file("redis/v1.0.0/README.md", "# Redis\n"));
    let before = upstream.resolve("redis:v1.0.0");
    let (digest, sequence) = (before["digest"].as_str().unwrap(), upstream.changes().len());

    upstream.force(&root);
    let rewriting = upstream.push(redis("v1.0.0", "malicious"));
    // Served and chosen, by every kind of reference, is what was.
    for reference in ["redis", "redis:v1", "redis:=v1.0.0", &format!("redis@{digest}")] {
        assert_eq!(upstream.resolve(reference)["digest"], digest, "{reference}");
        assert!(upstream.text(reference, "redis.yaml").contains("text: first"), "{reference}");
    }
    // The finding has both digests, the commit, and what to do.
    let template = upstream.server.get(&format!("/api/v1/templates/{REGISTRY}/redis:v1")).json();
    let findings = template["findings"].as_array().unwrap();
    let finding = findings.iter().find(|finding| finding["rule"] == "version-mutated").unwrap();
    assert_eq!((finding["severity"].as_str(), template["health"].as_str()), (Some("error"), Some("errors")));
    let held = upstream.revisions("redis").into_iter().find(|one| one["standing"] == "held").unwrap();
    let held = held["digest"].as_str().unwrap();
    let message = finding["message"].as_str().unwrap();
    assert!([digest, held, &rewriting].iter().all(|part| message.contains(*part)), "{message}");
    assert!(finding["fix"].as_str().unwrap().contains("formwork accept"), "{finding}");
    // What is held is nobody's.
    assert_eq!(upstream.status(&format!("redis@{held}")), 404);
    let content = format!("/api/v1/content/{REGISTRY}/{held}/redis.yaml");
    assert_eq!(upstream.server.get(&content).status, 404);
    // The log and both feeds have it; the branch that was moved is reported.
    let changes = upstream.changes();
    let entry = changes[sequence..].iter().find(|change| change["what"] == "held").expect("an entry");
    assert_eq!((entry["digest"].as_str(), entry["version"].as_str()), (Some(held), Some("v1.0.0")));
    assert_eq!(entry["reference"], format!("{REGISTRY}/redis:=v1.0.0"));
    for of in [REGISTRY.to_owned(), format!("{REGISTRY}/redis")] {
        let feed = upstream.server.get(&format!("/{of}/-/feed.atom")).expect_status(200);
        assert_eq!(feed.header("content-type"), "application/atom+xml; charset=utf-8");
        let text = feed.text();
        assert!(text.contains("redis v1.0.0 was rewritten upstream, which is held back"), "{text}");
        assert!(text.contains(held), "{text}");
    }
    assert!(rules(&upstream.registry()).contains(&"history-rewritten".to_owned()), "{}", upstream.registry());

    // Put back upstream, it clears itself.
    upstream.force(&first);
    assert_eq!(upstream.rules("redis:v1"), Vec::<String>::new());
    assert!(upstream.revisions("redis").iter().all(|revision| revision["standing"] != "held"));
    assert!(upstream.words().contains(&"cleared".to_owned()));
    // Documentation may change.
    upstream.push(Commit::default().file("redis/v1.0.0/README.md", "# Redis, explained\n"));
    assert_eq!(upstream.rules("redis:v1"), ["documentation-revised"]);
    assert_ne!(upstream.resolve("redis:v1")["digest"], digest);
    assert_eq!(upstream.resolve(&format!("redis@{digest}"))["digest"], digest);
}

#[test]
fn a_rewrite_before_the_version_settled_is_served_and_the_first_bytes_stay_by_digest() {
    if !git_or_skip() {
        return;
    }
    let (mut upstream, first) = Upstream::start(redis("v1.0.0", "first"), &[]);
    let before = upstream.resolve("redis:v1");
    let second = upstream.push(redis("v1.0.0", "second"));
    assert!(upstream.text("redis:v1", "redis.yaml").contains("text: second"));
    let digest = before["digest"].as_str().unwrap();
    assert!(upstream.text(&format!("redis@{digest}"), "redis.yaml").contains("text: first"));
    assert_eq!(upstream.words(), ["registry-added", "added", "changed"]);

    // Who brought what, and what became of it.
    let revisions = upstream.revisions("redis:v1.0.0");
    let standing = |index: usize| revisions[index]["standing"].as_str().unwrap();
    assert_eq!((standing(0), standing(1), revisions.len()), ("served", "former", 2));
    for (revision, commit) in revisions.iter().zip([&second, &first]) {
        assert_eq!(revision["introduced"]["commit"], commit.as_str());
        assert_eq!(revision["introduced"]["author"], "Somebody");
        assert_eq!(revision["seen"]["commit"], commit.as_str());
        assert!(revision["settled_at"].is_string(), "{revision}");
    }
    assert_eq!(revisions[1]["introduced"]["time"], "2026-01-01T00:00:00Z");
    let page = upstream.server.get(&format!("/{REGISTRY}/redis")).expect_status(200).text();
    assert!(page.contains("History") && page.contains(&second[..10]) && page.contains("feed.atom"), "{page}");
    // Asked again with its tag, an answer costs nothing.
    for path in [format!("/api/v1/templates/{REGISTRY}/redis/-/history"), "/api/v1/changes".to_owned()] {
        let tag = upstream.server.get(&path).expect_status(200).header("etag").to_owned();
        assert_eq!(upstream.server.get_with(&path, &[("if-none-match", &tag)]).status, 304, "{path}");
    }
}

/// Which commit brought a version is found although it is far back.
#[test]
fn the_commit_that_brought_a_version_is_found_in_a_long_history() {
    if !git_or_skip() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let mut repository = Repository::create(&directory.path().join("templates.git")).unwrap();
    let mut commits = Vec::new();
    for number in 0..40 {
        commits.push(repository.commit(redis(&format!("v1.0.{number}"), &number.to_string())).unwrap());
    }
    repository.repack().unwrap();
    let source = format!("{REGISTRY}={}", repository.file_url());
    let server = Server::start(&["--registry", &source]);
    let history = server.get(&format!("/api/v1/templates/{REGISTRY}/redis/-/history")).json();
    for revision in history["revisions"].as_array().unwrap() {
        let number =
            revision["version"].as_str().unwrap().trim_start_matches("v1.0.").parse::<usize>().unwrap();
        assert_eq!(revision["introduced"]["commit"], commits[number].as_str(), "{revision}");
        assert_eq!(revision["seen"]["commit"], commits[39].as_str(), "the head it was first indexed at");
    }
}

/// Attack row 11: versions, the branch and its history are taken away. A single version becomes a tombstone, many at
/// once are held, and an upstream that is gone takes nothing with it.
#[test]
fn what_is_deleted_upstream_becomes_a_tombstone_and_many_at_once_are_held() {
    if !git_or_skip() {
        return;
    }
    let all = (0..20).fold(Commit::default(), |commit, number| {
        commit.version(&format!("redis/v1.0.{number}"), "redis", &number.to_string())
    });
    let (mut upstream, _) = Upstream::start(all, &[]);
    let digest = upstream.resolve("redis:=v1.0.19")["digest"].as_str().unwrap().to_owned();
    upstream.push(Commit::default().without("redis/v1.0.19"));
    assert_eq!(upstream.resolve("redis:v1")["resolved"], "v1.0.18", "a tombstone is not chosen");
    assert_eq!(upstream.resolve("redis:=v1.0.19")["digest"], digest.as_str());
    assert_eq!(upstream.resolve(&format!("redis@{digest}"))["resolved"], "v1.0.19");
    assert!(upstream.text("redis:=v1.0.19", "redis.yaml").contains("text: 19"));
    let template = upstream.server.get(&format!("/api/v1/templates/{REGISTRY}/redis:=v1.0.19")).json();
    let listed = template["versions"].as_array().unwrap();
    assert!(listed.iter().all(|version| version["version"] != "v1.0.19"), "it is not listed");
    let page = upstream.server.get(&format!("/{REGISTRY}/redis:=v1.0.19")).expect_status(200).text();
    assert!(page.contains("Not in its registry any more"), "{page}");
    assert_eq!(upstream.revisions("redis:=v1.0.19")[0]["standing"], "gone");

    // Most of what is left, at once, and something new with it.
    let most =
        (5..19).fold(Commit::default(), |commit, number| commit.without(&format!("redis/v1.0.{number}")));
    upstream.push(most.version("redis/v2.0.0", "redis", "new"));
    assert_eq!(upstream.resolve("redis:v1")["resolved"], "v1.0.18");
    assert_eq!(upstream.resolve("redis")["resolved"], "v2.0.0", "what is new goes in");
    let registry = upstream.registry();
    let finding = registry["findings"].as_array().unwrap().iter().find(|one| one["rule"] == "mass-drop");
    let finding = finding.unwrap_or_else(|| panic!("{registry}"));
    assert!(finding["message"].as_str().unwrap().starts_with("14 versions are missing"), "{finding}");
    assert_eq!(upstream.words().iter().filter(|word| *word == "gone").count(), 1);
    assert!(upstream.words().contains(&"drop-held".to_owned()));

    // The history is cut off: what is there is as it was.
    upstream.repository.begin_anew().unwrap();
    let kept = (0..5).fold(Commit::default(), |commit, number| {
        commit.version(&format!("redis/v1.0.{number}"), "redis", &number.to_string())
    });
    upstream.push(kept.version("redis/v2.0.0", "redis", "new"));
    assert!(rules(&upstream.registry()).contains(&"history-rewritten".to_owned()));
    assert!(
        !upstream.words().contains(&"held".to_owned()),
        "the same bytes in another history are no rewrite"
    );
    assert_eq!(upstream.resolve("redis:v1")["resolved"], "v1.0.18");

    // The branch is gone altogether.
    upstream.repository.begin_anew().unwrap();
    wait_for("the missing branch to be noticed", || {
        Some(upstream.server.sync(REGISTRY)).filter(|sync| sync["state"] == "failed")
    });
    assert_eq!(upstream.resolve("redis:v1")["resolved"], "v1.0.18");
    assert_eq!(upstream.resolve("redis")["resolved"], "v2.0.0");
}

/// Attack row 12: the branch is moved backwards. The change log goes on where it was, and the registry says so.
#[test]
fn a_branch_moved_backwards_is_reported_and_the_change_log_goes_on() {
    if !git_or_skip() {
        return;
    }
    let (mut upstream, first) = Upstream::start(redis("v1.0.0", "one"), &[]);
    upstream.push(redis("v1.0.1", "two"));
    let before = upstream.changes();
    upstream.force(&first);
    let after = upstream.changes();
    assert_eq!(after[..before.len()], before, "what was logged stays as it is");
    let words = after[before.len()..].iter().map(|change| change["what"].as_str().unwrap());
    assert_eq!(words.collect::<Vec<_>>(), ["gone", "history-rewritten"]);
    assert_eq!(rules(&upstream.registry()), ["history-rewritten"]);
    assert!(upstream.text("redis:=v1.0.1", "redis.yaml").contains("text: two"));
    // A push on top of that is an ordinary one; the report stays until somebody accepts it.
    upstream.push(redis("v1.0.2", "three"));
    assert_eq!(rules(&upstream.registry()), ["history-rewritten"]);
    assert_eq!(upstream.words().iter().filter(|word| *word == "history-rewritten").count(), 1);
    assert_eq!(upstream.resolve("redis:v1")["resolved"], "v1.0.2");
}

/// Attack row 7: `v1`, `v1.0` and `v1.0.0` are one version. The fullest spelling is served, the others are findings.
#[test]
fn one_version_in_several_spellings_is_served_once() {
    if !git_or_skip() {
        return;
    }
    let commit = redis("v1", "short").version("redis/v1.0.0", "redis", "full");
    let commit = commit.version("redis/v1.0", "redis", "middle").version("redis/v01", "redis", "zero");
    let (upstream, _) = Upstream::start(commit.version("nginx/v1", "nginx", "sibling"), &[]);
    for reference in ["redis:v1", "redis:=v1", "redis:=v1.0.0", "redis"] {
        assert!(upstream.text(reference, "redis.yaml").contains("text: full"), "{reference}");
    }
    let registry = upstream.registry();
    let template = upstream.server.get(&format!("/api/v1/templates/{REGISTRY}/redis")).json();
    let duplicates = rules(&registry).into_iter().chain(rules(&template));
    assert_eq!(duplicates.filter(|rule| rule == "duplicate-version").count(), 2, "{registry} {template}");
    assert!(rules(&registry).contains(&"version-name".to_owned()), "v01 is no version: {registry}");
    assert_eq!(upstream.resolve("nginx:v1")["resolved"], "v1.0.0");
}

/// Attack row 9: huge numbers, pre-releases and build metadata. Findings, no panic, and nothing sorted wrongly.
#[test]
fn tricks_with_version_numbers_are_findings() {
    if !git_or_skip() {
        return;
    }
    let huge = format!("v1.0.{}", "9".repeat(240));
    let names = ["v18446744073709551616", "v1.0.0+build", "v1-rc.1", "v1.2.3.4", "v1.-1", &huge];
    let commit = names
        .iter()
        .fold(Commit::default(), |commit, name| commit.version(&format!("redis/{name}"), "redis", "trick"));
    let fine = ["v18446744073709551615.0.0", "v1.0.9", "v1.0.10", "v2.0.0-rc.1", "v2.0.0-rc.1.a"];
    let commit = fine.iter().fold(commit, |commit, name| {
        commit.version(&format!("redis/{name}"), "redis", &format!("is {name}"))
    });
    let (upstream, _) = Upstream::start(commit, &[]);
    assert_eq!(upstream.resolve("redis:v1")["resolved"], "v1.0.10");
    assert_eq!(upstream.resolve("redis")["resolved"], "v18446744073709551615.0.0");
    assert_eq!(upstream.status("redis:v2"), 404, "pre-releases are exact only");
    assert_eq!(upstream.resolve("redis:v2.0.0-rc.1")["resolved"], "v2.0.0-rc.1");
    let registry = upstream.registry();
    let found = rules(&registry).iter().filter(|rule| *rule == "version-name").count();
    assert_eq!(found, names.len(), "{registry}");
    for name in names {
        let answer = upstream.server.resolve(&format!("{REGISTRY}/redis:={}", name.replace('+', "%2B")));
        assert!((400..500).contains(&answer.status), "{name}: {}", answer.text());
    }
    assert!(!upstream.server.log().contains("panicked"));
}

/// A collection's directory is moved and the mapping follows: every reference means what it meant.
#[test]
fn moving_a_collections_directory_and_its_mapping_breaks_no_reference() {
    if !git_or_skip() {
        return;
    }
    let mapping = |path: &str| {
        format!("apiVersion: formwork/v1\nkind: TemplateRegistry\ncollections:\n  databases: {path}\n")
    };
    let versions = |commit: Commit, path: &str| {
        (0..8).fold(commit, |commit, number| {
            commit.version(&format!("{path}/redis/v1.0.{number}"), "redis", &number.to_string())
        })
    };
    let commit = Commit::default().file("registry.yaml", mapping("services/databases"));
    let (mut upstream, first) = Upstream::start(versions(commit, "services/databases"), &["--settle", "0s"]);
    let references = ["databases/redis:v1", "databases/redis:=v1.0.0", "databases/redis"];
    let before = references.map(|reference| upstream.resolve(reference)["digest"].clone());

    let commit = Commit::default().without("services").file("registry.yaml", mapping("stores/all"));
    upstream.push(versions(commit, "stores/all"));
    let after = references.map(|reference| upstream.resolve(reference)["digest"].clone());
    assert_eq!(before, after);
    assert_eq!(upstream.rules("databases/redis:v1"), Vec::<String>::new());
    let words = upstream.words();
    for word in ["held", "gone", "changed", "drop-held"] {
        assert!(!words.contains(&word.to_owned()), "{words:?}");
    }
    // It was not brought by who moved it.
    assert_eq!(upstream.revisions("databases/redis:=v1.0.0")[0]["introduced"]["commit"], first.as_str());
}

#[test]
fn feeds_are_atom() {
    if !git_or_skip() {
        return;
    }
    let withdrawn = "apiVersion: formwork/v1\nkind: TemplateRegistry\nwithdrawn:\n  redis:v1.0.0: {reason: 'Loses <data> & \"more\"'}\n";
    let public = ["--public-url", "https://templates.example"];
    let (mut upstream, _) = Upstream::start(redis("v1.0.0", "one"), &public);
    upstream.push(redis("v1.0.1", "two").file("registry.yaml", withdrawn));
    let feed = upstream.server.get(&format!("/{REGISTRY}/redis/-/feed.atom")).expect_status(200);
    let text = feed.text();
    assert!(text.starts_with(
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<feed xmlns=\"http://www.w3.org/2005/Atom\">"
    ));
    let here = format!("https://templates.example/{REGISTRY}/redis");
    assert!(text.contains(&format!(
        "<link rel=\"self\" type=\"application/atom+xml\" href=\"{here}/-/feed.atom\"/>"
    )));
    let count = |needle: &str| text.matches(needle).count();
    assert_eq!((count("<entry>"), count("</entry>")), (3, 3), "{text}");
    // Every entry and the feed itself: an id of its own, and when.
    assert_eq!((count("<id>urn:uuid:"), count("<updated>2"), count("<title>")), (4, 4, 4), "{text}");
    let mut ids =
        text.split("<id>").skip(1).map(|rest| rest.split("</id>").next().unwrap()).collect::<Vec<_>>();
    let stays = ids.clone();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 4);
    assert!(text.contains("Loses &lt;data&gt; &amp; &quot;more&quot;"), "{text}");
    assert!(text.contains("redis v1.0.0 was withdrawn"), "{text}");
    // The newest first; ids stay what they are as more comes.
    upstream.push(redis("v1.0.2", "three"));
    let later = upstream.server.get(&format!("/{REGISTRY}/redis/-/feed.atom")).text();
    assert!(stays[1..].iter().all(|id| later.contains(id)));
    assert!(later.find("v1.0.2").unwrap() < later.find("v1.0.1").unwrap());
    let tag = upstream.server.get(&format!("/{REGISTRY}/-/feed.atom")).header("etag").to_owned();
    let again = upstream.server.get_with(&format!("/{REGISTRY}/-/feed.atom"), &[("if-none-match", &tag)]);
    assert_eq!(again.status, 304);
    assert_eq!(upstream.server.get(&format!("/{REGISTRY}/nothing/-/feed.atom")).status, 404);
}

/// What an operator decides about what was held back, through the program and its token.
#[test]
fn an_operator_accepts_what_was_held_back() {
    if !git_or_skip() {
        return;
    }
    let nginx = (0..8).fold(redis("v1.0.0", "first"), |commit, number| {
        commit.version(&format!("nginx/v1.0.{number}"), "nginx", &number.to_string())
    });
    let (mut upstream, token) = Upstream::administered(nginx, &["--settle", "0s"]);
    let first = upstream.resolve("redis:v1")["digest"].clone();
    let rewrite = (0..6)
        .fold(redis("v1.0.0", "second"), |commit, number| commit.without(&format!("nginx/v1.0.{number}")));
    upstream.push(rewrite);
    assert_eq!(upstream.resolve("redis:v1")["digest"], first);
    assert_eq!(rules(&upstream.registry()), ["mass-drop"]);

    // Not without a token, and not with a digest nobody looked at.
    let held = upstream.revisions("redis")[1]["digest"].as_str().unwrap().to_owned();
    let path = format!("/api/v1/registries/{REGISTRY}/-/accept");
    let asked = json!({"version": "redis:v1.0.0", "digest": held});
    assert_eq!(upstream.server.post(&path, &asked).expect_status(401).json()["status"], 401);
    let other = format!("{REGISTRY}/redis:v1.0.0@{}", first.as_str().unwrap());
    let (status, said) = upstream.run(&token, &["accept", &other]);
    assert!(status == Some(2) && said.contains("is held back"), "{said}");
    assert_eq!(upstream.resolve("redis:v1")["digest"], first);

    let reference = format!("{REGISTRY}/redis:v1.0.0");
    let (status, said) = upstream.run(&token, &["accept", &reference]);
    assert_eq!((status, said.starts_with("accepted: ")), (Some(0), true), "{said}");
    assert_eq!(upstream.resolve("redis:v1")["digest"], held.as_str());
    assert_eq!(upstream.rules("redis:v1"), Vec::<String>::new());
    assert!(
        upstream.text(&format!("redis@{}", first.as_str().unwrap()), "redis.yaml").contains("text: first")
    );
    let (status, said) = upstream.run(&token, &["accept", REGISTRY, "--drop"]);
    assert_eq!(status, Some(0), "{said}");
    assert_eq!(rules(&upstream.registry()), Vec::<String>::new());
    assert_eq!(upstream.status("nginx:=v1.0.0"), 200, "a tombstone is served exactly");
    let (status, said) = upstream.run(&token, &["accept", REGISTRY, "--drop"]);
    assert!(status == Some(2) && said.contains("no versions"), "{said}");
    let words = upstream.words();
    assert!(
        words.contains(&"accepted".to_owned()) && words.contains(&"drop-accepted".to_owned()),
        "{words:?}"
    );
}

#[test]
fn what_an_operator_purges_is_gone_everywhere_and_says_why() {
    if !git_or_skip() {
        return;
    }
    let (mut upstream, token) = Upstream::administered(redis("v1.0.0", "hunter2"), &[]);
    upstream.push(redis("v1.0.1", "fine"));
    let digest = upstream.resolve("redis:=v1.0.0")["digest"].as_str().unwrap().to_owned();
    let path = format!("/api/v1/registries/{REGISTRY}/-/purge");
    let asked = json!({"reference": "redis:v1.0.0", "reason": "It held a password."});
    assert_eq!(upstream.server.post(&path, &asked).status, 401);
    assert_eq!(upstream.status("redis:=v1.0.0"), 200);

    let reference = format!("{REGISTRY}/redis:v1.0.0");
    let (status, said) = upstream.run(&token, &["purge", &reference, "--reason", "It held a password."]);
    assert!(status == Some(0) && said.contains(&digest), "{said}");
    let gone = |upstream: &Upstream| {
        for path in [
            format!("/api/v1/resolve?ref={REGISTRY}/redis:=v1.0.0"),
            format!("/api/v1/resolve?ref={REGISTRY}/redis@{digest}"),
            format!("/api/v1/templates/{REGISTRY}/redis:=v1.0.0/-/files/redis.yaml"),
            format!("/api/v1/content/{REGISTRY}/{digest}/redis.yaml"),
        ] {
            let problem = upstream.server.get(&path).expect_status(410).json();
            assert!(problem["type"].as_str().unwrap().ends_with("/purged"), "{problem}");
            assert!(problem["detail"].as_str().unwrap().contains("It held a password."), "{problem}");
        }
        assert_eq!(upstream.server.get(&format!("/{REGISTRY}/redis:=v1.0.0")).status, 410);
        assert_eq!(upstream.resolve("redis:v1")["resolved"], "v1.0.1");
    };
    gone(&upstream);
    let purged = upstream.revisions("redis").into_iter().find(|one| one["standing"] == "purged").unwrap();
    assert_eq!(
        (purged["digest"].as_str(), purged["reason"].as_str()),
        (Some(&*digest), Some("It held a password."))
    );
    assert_eq!(upstream.words().last().unwrap(), "purged");
    // Upstream has it still; it does not come back.
    upstream.push(redis("v1.0.2", "fine too").without("redis/v1.0.2/example.yaml"));
    assert_eq!(upstream.status("redis:=v1.0.2"), 200);
    assert_eq!(upstream.status("redis:=v1.0.0"), 410);
}
