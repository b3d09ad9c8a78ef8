//! News of pushes: deliveries as GitHub, GitLab, Gitea and Forgejo send them, and as strangers would.
//!
//! Rows 13 and 14 of the attack table, through the port of the real program. Bodies are files in `tests/webhooks`.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use hmac::{Hmac, KeyInit, Mac};
use serde_json::Value;
use sha2::Sha256;

use crate::kit::registries::{EXAMPLE, kubernetes_template};
use crate::kit::{
    Answer, Commit, GitRemote, PATIENCE, Repository, Server, git_or_skip, post_with, process, wait_for,
    workspace,
};

const SECRET: &str = "a secret of thirty-one letters.";

/// GitHub's example is of this repository.
const NAME: &str = "github.com/Codertocat/Hello-World";

/// A repository, its remote and a server that follows it under a name and looks again only in an hour.
struct Followed {
    repository: Repository,
    remote: GitRemote,
    server: Server,
    secret_file: std::path::PathBuf,
    data: tempfile::TempDir,
    directory: tempfile::TempDir,
}

impl Followed {
    fn start(name: &str, arguments: &[&str]) -> Followed {
        let directory = tempfile::tempdir().unwrap();
        let mut repository = Repository::create(&directory.path().join("templates.git")).unwrap();
        repository.commit(version("v1.0.0")).unwrap();
        let remote = GitRemote::serve(directory.path()).unwrap();
        let secret_file = directory.path().join("secret");
        std::fs::write(&secret_file, format!("{SECRET}\n")).unwrap();
        let data = tempfile::tempdir().unwrap();
        let source = format!("{name}={}", remote.url("templates.git"));
        let secret = secret_file.display().to_string();
        let common = ["--registry", &source, "--poll", "1h", "--webhook-secret-file", &secret];
        let server = Server::launch_on(data.path(), &[&common, arguments].concat());
        server.wait_version(&format!("{name}/redis:v1"), "v1.0.0");
        Followed { repository, remote, server, secret_file, data, directory }
    }

    /// The requests the remote has answered, once nothing is under way.
    fn requests(&self) -> u64 {
        let mut before = self.remote.requests();
        loop {
            std::thread::sleep(Duration::from_millis(300));
            match self.remote.requests() {
                same if same == before => return same,
                more => before = more,
            }
        }
    }

    fn deliver(&self, host: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        post_with(&format!("{}/webhooks/{host}", self.server.url()), headers, body).unwrap()
    }

    /// GitHub's push, signed, under a fresh id.
    fn github(&self, event: &str, body: &[u8]) -> Answer {
        self.deliver(
            "github",
            &[
                ("content-type", "application/json"),
                ("x-github-event", event),
                ("x-github-delivery", &fresh_id()),
                ("x-hub-signature-256", &format!("sha256={}", sign(SECRET, body))),
            ],
            body,
        )
    }

    fn deliveries(&self, host: &str, outcome: &str) -> u64 {
        let text = self.server.get("/metrics").text();
        let name = format!("formwork_webhook_deliveries_total{{host=\"{host}\",outcome=\"{outcome}\"}} ");
        text.lines().find_map(|line| line.strip_prefix(&name)?.parse().ok()).unwrap_or_default()
    }
}

fn version(version: &str) -> Commit {
    Commit::default()
        .file(&format!("redis/{version}/redis.yaml"), kubernetes_template("redis", version))
        .file(&format!("redis/{version}/example.yaml"), EXAMPLE)
}

fn payload(path: &str) -> Vec<u8> {
    std::fs::read(workspace().join("tests/webhooks").join(path)).unwrap()
}

/// GitHub's push to a branch, with this repository's default branch, and other changes.
fn push(change: impl FnOnce(&mut Value)) -> Vec<u8> {
    let mut body = serde_json::from_slice(&payload("github/push-branch.json")).unwrap();
    change(&mut body);
    serde_json::to_vec(&body).unwrap()
}

fn sign(secret: &str, body: &[u8]) -> String {
    let mut mac = <Hmac<Sha256> as KeyInit>::new_from_slice(secret.as_bytes()).unwrap();
    mac.update(body);
    mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn fresh_id() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    format!("00000000-0000-4000-8000-{:012x}", NEXT.fetch_add(1, Ordering::Relaxed))
}

#[test]
fn a_push_is_visible_as_soon_as_its_delivery_came() {
    if !git_or_skip() {
        return;
    }
    let mut followed = Followed::start(NAME, &[]);
    let mut took = Vec::new();
    for patch in 1..=10 {
        let version_name = format!("v1.0.{patch}");
        followed.repository.commit(version(&version_name)).unwrap();
        let body = payload("github/push-branch.json");
        let started = Instant::now();
        let answer = followed.github("push", &body).expect_status(202).json();
        let answered = started.elapsed();
        assert_eq!(answer["queued"], serde_json::json!([NAME]), "{answer}");
        assert!(answer.get("note").is_none(), "{answer}");
        followed.server.wait_version(&format!("{NAME}/redis:v1"), &version_name);
        took.push((started.elapsed(), answered));
    }
    took.sort();
    let (median, worst) = (took[took.len() / 2].0, took[took.len() - 1].0);
    let answered = took.iter().map(|(_, answered)| *answered).max().unwrap();
    println!(
        "hook to visible: median {median:?}, worst of {} {worst:?}; answered within {answered:?}",
        took.len()
    );
    assert!(worst < PATIENCE / 4, "{took:?}");
    assert_eq!(followed.deliveries("github", "queued"), 10);
}

#[test]
fn pings_are_answered_and_other_events_move_nothing() {
    if !git_or_skip() {
        return;
    }
    let followed = Followed::start(NAME, &[]);
    let before = followed.requests();
    for ping in ["github/ping-repository.json", "github/ping-organization.json"] {
        let answer = followed.github("ping", &payload(ping)).expect_status(200).json();
        assert_eq!((&answer["event"], &answer["note"]), (&"ping".into(), &"The hook works.".into()));
    }
    for (event, body, note) in [
        ("issues", payload("github/push-branch.json"), "Only pushes"),
        ("push", payload("github/push-tag.json"), "another branch"),
        ("push", push(|body| body["ref"] = "refs/heads/feature".into()), "another branch"),
        ("push", b"{}".to_vec(), "Only pushes"),
    ] {
        let answer = followed.github(event, &body).expect_status(202).json();
        assert_eq!(answer["queued"], serde_json::json!([]), "{answer}");
        assert!(answer["note"].as_str().unwrap().contains(note), "{answer}");
    }
    assert_eq!(followed.requests(), before, "nothing was fetched");
    assert_eq!(followed.deliveries("github", "ping"), 2);
    assert_eq!(followed.deliveries("github", "ignored"), 4);
}

#[test]
fn gitlab_gitea_and_forgejo_deliver_too() {
    if !git_or_skip() {
        return;
    }
    for (host, name, headers) in [
        (
            "gitlab",
            "gitlab.example/acme/platform/templates",
            ["x-gitlab-token", "x-gitlab-event", "x-gitlab-event-uuid"],
        ),
        ("gitea", "gitea.example/acme/templates", ["x-gitea-signature", "x-gitea-event", "x-gitea-delivery"]),
        (
            "gitea",
            "gitea.example/acme/templates",
            ["x-forgejo-signature", "x-forgejo-event", "x-forgejo-delivery"],
        ),
    ] {
        let mut followed = Followed::start(name, &[]);
        let body = payload(&format!("{host}/push.json"));
        let proof = if host == "gitlab" { SECRET.to_owned() } else { sign(SECRET, &body) };
        let event = if host == "gitlab" { "Push Hook" } else { "push" };
        followed.repository.commit(version("v1.0.1")).unwrap();
        let id = fresh_id();
        let of = |proof: &str, id: &str| {
            let values = [proof, event, id];
            let all = [("content-type", "application/json")]
                .into_iter()
                .chain(headers.into_iter().zip(values))
                .map(|(name, value)| (name.to_owned(), value.to_owned()));
            let all = all.collect::<Vec<_>>();
            let all = all.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect::<Vec<_>>();
            followed.deliver(host, &all, &body)
        };
        assert_eq!(of("0000", &fresh_id()).status, 401, "{name}");
        assert_eq!(of(&sign("another secret entirely", &body), &fresh_id()).status, 401, "{name}");
        let answer = of(&proof, &id).expect_status(202).json();
        assert_eq!(answer["queued"], serde_json::json!([name]), "{answer}");
        assert_eq!(of(&proof, &id).status, 409, "{name}");
        followed.server.wait_version(&format!("{name}/redis:v1"), "v1.0.1");
    }
}

/// Attack row 13: who does not know the secret moves nothing, and neither does a delivery that comes again, even
/// after a restart.
#[test]
fn attack_row_13_deliveries_without_proof_and_replays_are_refused() {
    if !git_or_skip() {
        return;
    }
    let followed = Followed::start(NAME, &[]);
    let before = followed.requests();
    let body = payload("github/push-branch.json");
    let good = format!("sha256={}", sign(SECRET, &body));
    let send = |signature: (&str, &str), id: &str, body: &[u8]| {
        let headers = [
            ("content-type", "application/json"),
            ("x-github-event", "push"),
            ("x-github-delivery", id),
            signature,
        ];
        followed.deliver("github", &headers, body)
    };
    let mut one_bit = good.clone().into_bytes();
    let last = one_bit.len() - 1;
    one_bit[last] = if one_bit[last] == b'0' { b'1' } else { b'0' };
    let one_bit = String::from_utf8(one_bit).unwrap();
    let (of_another, of_nothing) = (
        format!("sha256={}", sign("another secret entirely", &body)),
        format!("sha256={}", sign(SECRET, b"")),
    );
    for signature in [
        ("x-none", ""),
        ("x-hub-signature", "sha1=7d38cdd689735b008b3c702edd92eea23791c5f6"),
        ("x-hub-signature-256", ""),
        ("x-hub-signature-256", "sha256="),
        ("x-hub-signature-256", "sha1=7d38cdd689735b008b3c702edd92eea23791c5f6"),
        ("x-hub-signature-256", &one_bit),
        ("x-hub-signature-256", &of_another),
        ("x-hub-signature-256", &of_nothing),
        ("x-gitlab-token", SECRET),
    ] {
        let answer = send(signature, "refused-1", &body).expect_status(401);
        assert_eq!(answer.header("content-type"), "application/problem+json");
        assert_eq!(answer.json()["type"], "/docs/errors/webhook-signature", "{signature:?}");
        assert!(!answer.text().contains(SECRET));
    }
    // A signature of other bytes, though they mean the same.
    let spaced = serde_json::to_vec_pretty(&serde_json::from_slice::<Value>(&body).unwrap()).unwrap();
    assert_eq!(send(("x-hub-signature-256", &good), "refused-1", &spaced).status, 401);
    assert_eq!(followed.requests(), before, "nothing was fetched");

    // What was refused may come with proof under the same id; what was taken may not come again.
    assert_eq!(send(("x-hub-signature-256", &good), "refused-1", &body).status, 202);
    let replay = send(("x-hub-signature-256", &good), "refused-1", &body).expect_status(409).json();
    assert_eq!(replay["type"], "/docs/errors/delivery-seen");
    let after = followed.requests();
    assert!(after > before, "the genuine one was acted on");
    assert_eq!(send(("x-hub-signature-256", &good), "refused-1", &body).status, 409);
    assert_eq!(followed.requests(), after, "the replay was not");

    // The next server on the same data knows it too.
    let log = followed.server.log();
    let Followed { server, remote, secret_file, data, directory, repository: _ } = followed;
    server.stop();
    let source = format!("{NAME}={}", remote.url("templates.git"));
    let secret = secret_file.display().to_string();
    let server = Server::launch_on(
        data.path(),
        &["--registry", &source, "--poll", "1h", "--webhook-secret-file", &secret],
    );
    let headers = [
        ("content-type", "application/json"),
        ("x-github-event", "push"),
        ("x-github-delivery", "refused-1"),
        ("x-hub-signature-256", good.as_str()),
    ];
    assert_eq!(post_with(&format!("{}/webhooks/github", server.url()), &headers, &body).unwrap().status, 409);
    for (what, text) in [("the first log", &log), ("the second log", &server.log())] {
        assert!(!text.contains(SECRET), "the secret is in {what}");
    }
    drop(directory);
}

/// Attack row 13: garbage, giants and floods are answered for what they are, and cost one look at the repository
/// at most.
#[test]
fn attack_row_13_garbage_giants_and_floods_do_no_harm() {
    if !git_or_skip() {
        return;
    }
    let followed = Followed::start(NAME, &[]);
    for garbage in
        [&b"not JSON"[..], b"", b"[]", b"{\"ref\": 3}", "[".repeat(50_000).as_bytes(), b"\xff\xfe\x00"]
    {
        let answer = followed.github("push", garbage).expect_status(400);
        assert_eq!(answer.json()["type"], "/docs/errors/invalid-body");
    }
    let form = b"payload=%7B%7D";
    let headers = [
        ("content-type", "application/x-www-form-urlencoded"),
        ("x-github-event", "push"),
        ("x-github-delivery", "form-1"),
        ("x-hub-signature-256", &format!("sha256={}", sign(SECRET, form))),
    ];
    assert_eq!(followed.deliver("github", &headers, form).status, 415);

    // 100 MB are refused by what is announced, before any of it is sent.
    let head = format!(
        "POST /webhooks/github HTTP/1.1\r\nHost: x\r\nX-GitHub-Delivery: giant\r\nX-Hub-Signature-256: sha256={}\r\nContent-Length: 104857600\r\nConnection: close\r\n\r\n",
        "00".repeat(32)
    );
    let started = Instant::now();
    assert_eq!(raw(&followed.server, head.as_bytes()), "HTTP/1.1 413 Payload Too Large");
    assert!(started.elapsed() < Duration::from_secs(5));
    // And what is not announced is read to the limit and no further.
    let memory = most(&followed.server);
    let mut stream = format!(
        "POST /webhooks/github HTTP/1.1\r\nHost: x\r\nX-GitHub-Delivery: giant\r\nX-Hub-Signature-256: sha256={}\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n",
        "00".repeat(32)
    )
    .into_bytes();
    for _ in 0..40 {
        stream.extend_from_slice(b"100000\r\n");
        stream.resize(stream.len() + (1 << 20), b' ');
        stream.extend_from_slice(b"\r\n");
    }
    assert_eq!(raw(&followed.server, &stream), "HTTP/1.1 413 Payload Too Large");
    let grown = most(&followed.server).saturating_sub(memory);
    assert!(grown < 100 << 20, "{grown} bytes more");

    // A flood of genuine deliveries: the first ones are taken, the others told when to come back.
    let before = followed.requests();
    let body = payload("github/push-branch.json");
    let (mut taken, mut refused) = (0, 0);
    for _ in 0..300 {
        let answer = followed.github("push", &body);
        match answer.status {
            202 => taken += 1,
            429 => {
                refused += 1;
                assert_eq!(answer.json()["type"], "/docs/errors/too-many-requests");
                assert!(answer.header("retry-after").parse::<u64>().is_ok_and(|wait| wait >= 1));
            }
            other => panic!("{other}: {}", answer.text()),
        }
    }
    assert!(taken >= 30 && refused >= 30, "{taken} taken, {refused} refused");
    // One look costs two or three requests; looks do not pile up behind the one under way.
    let looks = followed.requests() - before;
    println!("{taken} deliveries taken at once cost {looks} requests to the remote; {refused} were refused");
    assert!(looks > 0 && looks < taken, "{looks} requests for {taken} deliveries");
    // The rest of the server has not noticed.
    followed.server.resolve(&format!("{NAME}/redis:v1")).expect_status(200);
    wait_for("the sender to be let in again", || {
        (followed.github("ping", b"{}").status == 200).then_some(())
    });
}

/// Attack row 14: whatever a payload says, only a registered repository is fetched, from where it was registered.
#[test]
fn attack_row_14_only_the_registered_source_is_fetched() {
    if !git_or_skip() {
        return;
    }
    let followed = Followed::start(NAME, &[]);
    // A remote that would notice being asked.
    let elsewhere = tempfile::tempdir().unwrap();
    let mut other = Repository::create(&elsewhere.path().join("templates.git")).unwrap();
    other.commit(version("v9.9.9")).unwrap();
    let bait = GitRemote::serve(elsewhere.path()).unwrap();
    let before = followed.requests();
    let bait_url = bait.url("templates.git");
    let (host, rest) = ("https://github.com", "Codertocat/Hello-World");
    for address in [
        bait_url.clone(),
        format!("{host}.evil.example/{rest}"),
        format!("{host}@evil.example/{rest}"),
        format!("{host}/{rest}-evil"),
        format!("{host}/{rest}.git.git"),
        format!("{host}/{rest}/../evil"),
        format!("{host}/{rest}?.git"),
        format!("{host}/Codert\u{043e}cat/Hello-World"),
        format!("https://evil.example/github.com/{rest}"),
        format!("ext::sh -c id {rest}"),
        "file:///etc/passwd".to_owned(),
        "http://169.254.169.254/latest/meta-data".to_owned(),
        String::new(),
    ] {
        // All addresses alike, and one alone: neither is believed.
        let all = push(|body| {
            for member in ["html_url", "clone_url", "ssh_url", "git_url", "url", "svn_url"] {
                body["repository"][member] = address.clone().into();
            }
        });
        let one = push(|body| body["repository"]["clone_url"] = address.clone().into());
        for body in [all, one] {
            let answer = followed.github("push", &body).expect_status(202).json();
            assert_eq!(answer["queued"], serde_json::json!([]), "{address}: {answer}");
        }
    }
    assert_eq!(followed.requests(), before, "the registered repository was not fetched");
    assert_eq!(bait.requests(), 0, "nothing a payload names was fetched");

    // The true name in another spelling is the registered repository, and what is fetched is the registered source.
    let spelled = push(|body| {
        body["repository"]["html_url"] = "https://GitHub.com/codertocat/hello-world".into();
        body["repository"]["clone_url"] = "https://github.com/CODERTOCAT/HELLO-WORLD.git".into();
        body["repository"]["ssh_url"] = bait_url.into();
    });
    let answer = followed.github("push", &spelled).expect_status(202).json();
    assert_eq!(answer["queued"], serde_json::json!([NAME]), "{answer}");
    wait_for("the registered source to be asked", || (followed.remote.requests() > before).then_some(()));
    assert_eq!(bait.requests(), 0);
}

#[test]
fn a_registry_may_have_a_secret_of_its_own() {
    if !git_or_skip() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    for name in ["a.git", "b.git"] {
        Repository::create(&directory.path().join(name)).unwrap().commit(version("v1.0.0")).unwrap();
    }
    let remote = GitRemote::serve(directory.path()).unwrap();
    let (own, shared) = (directory.path().join("own"), directory.path().join("shared"));
    std::fs::write(&own, "the secret of registry a alone").unwrap();
    std::fs::write(&shared, SECRET).unwrap();
    let settings = directory.path().join("formwork.toml");
    let text = format!(
        "poll = '1h'\nwebhook-secret-file = '{}'\n[registries.'github.com/acme/a']\nsource = '{}'\nwebhook-secret-file = '{}'\n[registries]\n'github.com/acme/b' = '{}'\n",
        shared.display(),
        remote.url("a.git"),
        own.display(),
        remote.url("b.git")
    );
    std::fs::write(&settings, text).unwrap();
    let server = Server::start(&["--config", settings.to_str().unwrap()]);
    let queued = |repository: &str, secret: &str| {
        let body = push(|body| {
            body["repository"]["html_url"] = format!("https://github.com/acme/{repository}").into();
            body["repository"]["clone_url"] = format!("https://github.com/acme/{repository}.git").into();
        });
        let headers = [
            ("x-github-event", "push"),
            ("x-github-delivery", &fresh_id()),
            ("x-hub-signature-256", &format!("sha256={}", sign(secret, &body))),
        ];
        let answer = post_with(&format!("{}/webhooks/github", server.url()), &headers, &body).unwrap();
        answer.expect_status(202).json()["queued"].clone()
    };
    assert_eq!(queued("a", "the secret of registry a alone"), serde_json::json!(["github.com/acme/a"]));
    assert_eq!(queued("b", SECRET), serde_json::json!(["github.com/acme/b"]));
    // A secret moves its own registries only.
    assert_eq!(queued("a", SECRET), serde_json::json!([]));
    assert_eq!(queued("b", "the secret of registry a alone"), serde_json::json!([]));
}

#[test]
fn without_a_secret_there_are_no_webhooks() {
    let server = Server::start(&["examples/registry"]);
    let body = payload("github/push-branch.json");
    let headers = [
        ("x-github-event", "push"),
        ("x-github-delivery", "1"),
        ("x-hub-signature-256", &format!("sha256={}", sign("", &body))),
    ];
    for host in ["github", "gitlab", "gitea"] {
        let url = format!("{}/webhooks/{host}", server.url());
        let answer = post_with(&url, &headers, &body).unwrap().expect_status(404).json();
        assert_eq!(answer["type"], "/docs/errors/unknown-path");
        assert!(answer["hint"].as_str().unwrap().contains("webhook-secret-file"), "{answer}");
    }
    assert_eq!(server.get("/webhooks/github").status, 405);
    assert_eq!(server.get("/webhooks/bitbucket").status, 404);
}

/// The most memory a server has ever held, in bytes.
fn most(server: &Server) -> u64 {
    process::memory(server.pid(), "VmHWM").unwrap()
}

/// The first line of the answer to bytes on the wire; the server may hang up while they are sent.
fn raw(server: &Server, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(server.url().trim_start_matches("http://")).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut sending = stream.try_clone().unwrap();
    let bytes = bytes.to_vec();
    let sender = std::thread::spawn(move || {
        // Refused half way, as it should be.
        let _ = sending.write_all(&bytes);
    });
    let mut answer = Vec::new();
    let mut some = [0; 1024];
    while !answer.contains(&b'\r') {
        match stream.read(&mut some) {
            Ok(read) if read > 0 => answer.extend_from_slice(&some[..read]),
            _ => break,
        }
    }
    drop(stream);
    let _ = sender.join();
    String::from_utf8_lossy(&answer).lines().next().unwrap_or_default().to_owned()
}
