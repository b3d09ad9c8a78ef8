//! Where a registry comes from makes no difference to what is served; and what it takes to get there stays secret.

use serde_json::{Value, json};

use crate::kit::registries::{EXAMPLE, kubernetes_template};
use crate::kit::sshd::Sshd;
use crate::kit::tls::Authority;
use crate::kit::{Commit, GitRemote, Repository, Server, git_or_skip, skipped, wait_for};

/// The password of the tests: long, so that it is found wherever it went.
const PASSWORD: &str = "correct-horse-battery-staple-4711";

/// What `Authorization` says with it and the user `reader`.
const AUTHORIZATION: &str = "Basic cmVhZGVyOmNvcnJlY3QtaG9yc2UtYmF0dGVyeS1zdGFwbGUtNDcxMQ==";

/// A registry whose collections are mapped, with a version of each kind of trouble.
fn registry() -> Commit {
    Commit::default()
        .file(
            "registry.yaml",
            "apiVersion: formwork/v1\nkind: TemplateRegistry\ntitle: Everywhere the same\ncollections:\n  caches: services/caches\n  databases: {path: services/sql, title: Databases}\n",
        )
        .file("services/caches/redis/v1.0.0/redis.yaml", kubernetes_template("redis", "one"))
        .file("services/caches/redis/v1.0.0/example.yaml", EXAMPLE)
        .file("services/caches/redis/v1.1/redis.yaml", kubernetes_template("redis", "two"))
        .executable("services/caches/redis/v1.1/run.sh", "#!/bin/sh\n")
        .file("services/sql/postgres/v2/postgres.yaml", kubernetes_template("postgres", "three"))
        .file("services/sql/postgres/v2/files/a b.txt", "spaces\n")
        .file("services/sql/broken/v1/other.yaml", "a: b\n")
        .file("top/v3.0.1/top.yaml", kubernetes_template("top", "four"))
}

/// Everything there is to know of a registry that does not say where it came from.
fn catalogue(server: &Server, name: &str) -> Value {
    let whole = server.get(&format!("/api/v1/registries/{name}")).expect_status(200).json();
    let pick = |value: &Value, keys: &[&str]| {
        keys.iter().map(|key| ((*key).to_owned(), value[*key].clone())).collect::<serde_json::Map<_, _>>()
    };
    let mut versions = Vec::new();
    for reference in
        ["caches/redis:=v1.0.0", "caches/redis:=v1.1.0", "databases/postgres:=v2.0.0", "top:=v3.0.1"]
    {
        let version = server.get(&format!("/api/v1/templates/{name}/{reference}")).expect_status(200).json();
        versions.push(pick(&version, &["resolved", "digest", "kind", "title", "findings", "parameters"]));
        let files = server
            .get(&format!("/api/v1/templates/{name}/{reference}/-/files/"))
            .expect_status(200)
            .text()
            .replace(name, "NAME");
        versions.push(pick(&json!({ "files": files }), &["files"]));
    }
    let whole = pick(&whole, &["title", "collections", "counts", "findings"]);
    let listed = server.get(&format!("/api/v1/templates?registry={name}")).expect_status(200).json();
    let text = json!({ "registry": whole, "templates": listed, "versions": versions })
        .to_string()
        .replace(name, "NAME");
    serde_json::from_str(&text).unwrap()
}

/// Fails if the text is in any file below a directory.
fn assert_nowhere(directory: &std::path::Path, text: &str) {
    for entry in std::fs::read_dir(directory).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if entry.file_type().unwrap().is_dir() {
            assert_nowhere(&path, text);
        } else if let Ok(bytes) = std::fs::read(&path) {
            let found = bytes.windows(text.len()).any(|window| window == text.as_bytes());
            assert!(!found, "{} holds `{text}`", path.display());
        }
    }
}

/// Issue 3, "Shown by": over http with a password, over https with a certificate of one's own, over ssh from a real
/// sshd, over file, and as a watched directory.
#[test]
fn every_way_to_a_registry_gives_the_same_catalogue() {
    if !git_or_skip() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path();
    let mut repository = Repository::create(&root.join("a.git")).unwrap();
    repository.commit(registry()).unwrap();
    let work = root.join("work");
    let archive = crate::kit::repository::git()
        .arg("clone")
        .args(["--quiet", &repository.file_url()])
        .arg(&work)
        .status();
    assert!(archive.unwrap().success(), "git clones what it made");

    let http = GitRemote::serve_with(root, Some(AUTHORIZATION), None).unwrap();
    let password = root.join("password");
    std::fs::write(&password, format!("{PASSWORD}\n")).unwrap();
    std::fs::set_permissions(&password, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    let mut arguments = Vec::new();
    let mut names = Vec::new();
    let mut add = |name: &str, source: &str, options: &[String]| {
        let name = format!("git.example/all/{name}");
        arguments.extend(["--registry".to_owned(), format!("{name}={source}")]);
        options.iter().for_each(|o| arguments.extend(["--option".to_owned(), format!("{name}:{o}")]));
        names.push(name);
    };
    add("file", &repository.file_url(), &[]);
    add("directory", &work.display().to_string(), &[]);
    let file = format!("password-file={}", password.display());
    add("http", &http.url("a.git"), &["username=reader".to_owned(), file.clone()]);
    let in_url = http.url("a.git").replace("://", &format!("://reader:{PASSWORD}@"));
    add("url", &in_url, &[]);
    let authority = Authority::create(&root.join("tls"));
    let https = authority
        .as_ref()
        .map(|authority| GitRemote::serve_with(root, Some(AUTHORIZATION), Some(authority.wrap())).unwrap());
    match (&authority, &https) {
        (Some(authority), Some(https)) => {
            let url = https.url("a.git").replace("http://127.0.0.1", "https://localhost");
            let ca = format!("ca-file={}", authority.certificate().display());
            add("https", &url, &["username=reader".to_owned(), file, ca]);
        }
        _ => skipped("https: the openssl program is not installed"),
    }
    let sshd = Sshd::start(&root.join("ssh"));
    match &sshd {
        Some(sshd) => {
            let options = [
                format!("ssh-key={}", sshd.file("user")),
                format!("known-hosts={}", sshd.file("known_hosts")),
            ];
            add("ssh", &sshd.url(repository.path()), &options);
        }
        None => skipped("ssh: sshd, ssh or git-shell is not installed"),
    }
    let mut arguments = arguments.iter().map(String::as_str).collect::<Vec<_>>();
    arguments.extend(["--poll", "1s"]);
    let server = Server::start(&arguments);

    for name in &names {
        // It is looked at again every second, so it may be at that just now.
        wait_for(&format!("{name} to be ready"), || (server.sync(name)["state"] == "ready").then_some(()));
    }
    let first = catalogue(&server, &names[0]);
    assert!(first.to_string().contains("no-template"), "the broken version is a finding: {first:#}");
    for name in &names[1..] {
        assert_eq!(catalogue(&server, name), first, "{name} differs from {}", names[0]);
    }

    // A push and a save arrive everywhere.
    repository
        .commit(Commit::default().file("top/v3.0.2/top.yaml", kubernetes_template("top", "five")))
        .unwrap();
    std::fs::create_dir(work.join("top/v3.0.2")).unwrap();
    std::fs::write(work.join("top/v3.0.2/top.yaml"), kubernetes_template("top", "five")).unwrap();
    let digests = names
        .iter()
        .map(|name| server.wait_version(&format!("{name}/top:v3"), "v3.0.2")["digest"].clone())
        .collect::<Vec<_>>();
    assert!(digests.iter().all(|digest| *digest == digests[0]), "{digests:?}");

    // Attack row 31, the share of sources: the password is in no file, no log, no answer, no argument, no environment.
    let answers = ["/api/v1/status", "/api/v1/registries", "/status", "/metrics", "/readyz"];
    let mut said = answers.map(|path| server.get(path).text()).concat();
    names.iter().for_each(|name| said.push_str(&server.get(&format!("/api/v1/registries/{name}")).text()));
    said.push_str(&server.log());
    for scanner in server.scanners() {
        said.push_str(&String::from_utf8_lossy(
            &std::fs::read(format!("/proc/{scanner}/cmdline")).unwrap_or_default(),
        ));
        said.push_str(&String::from_utf8_lossy(
            &std::fs::read(format!("/proc/{scanner}/environ")).unwrap_or_default(),
        ));
    }
    for secret in [PASSWORD, AUTHORIZATION.trim_start_matches("Basic ")] {
        assert!(!said.contains(secret), "somebody was told {secret}:\n{said}");
        assert_nowhere(server.data(), secret);
    }
}

/// Nobody is asked for anything: a server that wants what we do not have is a failure with the way out, and what is
/// secret is not in it.
#[test]
fn what_a_server_wants_and_does_not_get_is_said_without_secrets() {
    if !git_or_skip() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let mut repository = Repository::create(&directory.path().join("a.git")).unwrap();
    repository.commit(registry()).unwrap();
    let remote = GitRemote::serve_with(directory.path(), Some(AUTHORIZATION), None).unwrap();
    let wrong = remote.url("a.git").replace("://", "://reader:hunter2-is-wrong@");
    let plain = format!("git.example/no/none={}", remote.url("a.git"));
    let wrong = format!("git.example/no/wrong={wrong}");
    let good = format!("git.example/yes/file={}", repository.file_url());
    let branch = format!("git.example/no/branch={}", repository.file_url());
    let mut arguments =
        vec!["--registry", &good, "--registry", &plain, "--registry", &wrong, "--registry", &branch];
    arguments.extend(["--branch", "git.example/no/branch=never"]);
    let mut expected = vec![
        ("git.example/no/none", "give `username`, and `password-file` or `password-env`"),
        ("git.example/no/wrong", "does not accept the user name and password"),
        ("git.example/no/branch", "is empty or has no branch never"),
    ];
    let authority = Authority::create(&directory.path().join("tls"));
    let https = authority
        .as_ref()
        .map(|authority| GitRemote::serve_with(directory.path(), None, Some(authority.wrap())).unwrap());
    let unknown = https.as_ref().map(|https| {
        format!("git.example/no/tls={}", https.url("a.git").replace("http://127.0.0.1", "https://localhost"))
    });
    match &unknown {
        Some(unknown) => {
            arguments.extend(["--registry", unknown]);
            expected.push(("git.example/no/tls", "certificate"));
        }
        None => skipped("https: the openssl program is not installed"),
    }
    let sshd = Sshd::start(&directory.path().join("ssh"));
    let ssh = sshd.as_ref().map(|sshd| {
        let url = sshd.url(repository.path());
        let named = |name: &str| format!("git.example/no/{name}={url}");
        let option =
            |name: &str, key: &str, file: &str| format!("git.example/no/{name}:{key}={}", sshd.file(file));
        (
            [named("host"), named("key"), named("unknown")],
            [
                option("host", "known-hosts", "other_hosts"),
                option("host", "ssh-key", "user"),
                option("key", "known-hosts", "known_hosts"),
                option("key", "ssh-key", "stranger"),
                option("unknown", "ssh-key", "user"),
            ],
        )
    });
    match &ssh {
        Some((registries, options)) => {
            registries.iter().for_each(|registry| arguments.extend(["--registry", registry]));
            options.iter().for_each(|option| arguments.extend(["--option", option]));
            expected.push(("git.example/no/host", "Host key verification failed"));
            expected.push(("git.example/no/key", "Permission denied (publickey)"));
            expected.push(("git.example/no/unknown", "no `known-hosts` file is given"));
        }
        None => skipped("ssh: sshd, ssh or git-shell is not installed"),
    }
    let server = Server::launch(&arguments);
    for (name, said) in expected {
        let state = wait_for(&format!("{name} to fail"), || {
            Some(server.sync(name)).filter(|state| state["state"] == "failed")
        });
        let message = state["message"].as_str().unwrap_or_default();
        assert!(message.contains(said), "{name}: {message}");
    }
    server.wait_version("git.example/yes/file/top:v3", "v3.0.1");
    let said = format!("{}{}", server.log(), server.get("/api/v1/status").text());
    assert!(!said.contains("hunter2"), "{said}");
    assert_nowhere(server.data(), "hunter2");
}

/// A branch and a tag of one repository are two registries.
#[test]
fn branches_and_tags_can_be_chosen() {
    if !git_or_skip() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let mut repository = Repository::create(&directory.path().join("a.git")).unwrap();
    repository.commit(registry()).unwrap();
    let git = |arguments: &[&str]| {
        let mut command = crate::kit::repository::git();
        command.arg("--git-dir").arg(repository.path()).args(arguments);
        command.envs([("GIT_COMMITTER_NAME", "a"), ("GIT_COMMITTER_EMAIL", "a@example.com")]);
        assert!(command.status().unwrap().success(), "{arguments:?}");
    };
    git(&["tag", "-a", "-m", "annotated", "v1", "main"]);
    git(&["branch", "stable", "main"]);
    let new = Commit::default().file("top/v4.0.0/top.yaml", kubernetes_template("top", "new"));
    let head = repository.commit(new).unwrap();
    let remote = GitRemote::serve(directory.path()).unwrap();
    let settings = directory.path().join("formwork.toml");
    let url = remote.url("a.git");
    let text = format!(
        "[registries]\n'git.example/a/head' = '{url}'\n[registries.'git.example/a/tag']\nsource = '{url}'\ntag = 'v1'\n[registries.'git.example/a/branch']\nsource = '{url}'\nbranch = 'stable'\n"
    );
    std::fs::write(&settings, text).unwrap();
    let server = Server::start(&["--config", settings.to_str().unwrap()]);
    let newest = server.resolve("git.example/a/head/top").expect_status(200).json();
    assert_eq!((&newest["resolved"], &newest["commit"]), (&json!("v4.0.0"), &json!(head)));
    for name in ["tag", "branch"] {
        let old = server.resolve(&format!("git.example/a/{name}/top")).expect_status(200).json();
        assert_eq!(old["resolved"], "v3.0.1", "{name}: {old}");
    }
}
