//! Private registries and tokens, through the program: made before the server runs, used, given out and taken back
//! while it does.

use std::path::{Path, PathBuf};
use std::process::Output;

use serde_json::json;

use crate::kit::registries::{EXAMPLE, kubernetes_template};
use crate::kit::{Server, formwork, wait_for};

const PRIVATE: &str = "git.example/acme/private";

/// A registry with one template.
fn registry(root: &Path, template: &str) -> PathBuf {
    let version = root.join(template).join("v1.0.0");
    std::fs::create_dir_all(&version).unwrap();
    std::fs::write(version.join(format!("{template}.yaml")), kubernetes_template(template, "hidden"))
        .unwrap();
    std::fs::write(version.join("example.yaml"), EXAMPLE).unwrap();
    root.to_owned()
}

/// `formwork token …` on a data directory.
fn token(data: &Path, arguments: &[&str], environment: &[(&str, &str)]) -> Output {
    let mut command = formwork();
    command.arg("token").args(arguments).env("FORMWORK_DATA", data).current_dir(data);
    environment.iter().fold(&mut command, |command, (name, value)| command.env(name, value)).output().unwrap()
}

#[track_caller]
fn secret(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    assert!(
        text.starts_with("fwk_") && text.lines().count() == 1,
        "the secret is all there is to capture: {text}"
    );
    text.trim().to_owned()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

struct Setting {
    directory: tempfile::TempDir,
    data: PathBuf,
    access_log: PathBuf,
    server: Server,
    admin: String,
}

/// A server with a public and a private registry, and an admin token made before it was started.
fn serving() -> Setting {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    std::fs::create_dir(&data).unwrap();
    let admin = secret(&token(&data, &["create", "me", "--scope", "admin"], &[]));
    let [open, hidden] = ["open", "vault"].map(|name| registry(&directory.path().join(name), name));
    let file = directory.path().join("formwork.toml");
    let text = format!(
        "[registries]\n'git.example/acme/open' = '{}'\n[registries.'{PRIVATE}']\nsource = '{}'\nvisibility = 'private'\n",
        open.display(),
        hidden.display()
    );
    std::fs::write(&file, text).unwrap();
    let access_log = directory.path().join("access.log");
    let arguments = ["--config", file.to_str().unwrap(), "--access-log", access_log.to_str().unwrap()];
    let server = Server::launch_on(&data, &arguments);
    server.wait_ready();
    let bearer = format!("Bearer {admin}");
    wait_for("the private registry to be indexed", || {
        let answer =
            server.get_with(&format!("/api/v1/resolve?ref={PRIVATE}/vault"), &[("authorization", &bearer)]);
        (answer.status == 200).then_some(())
    });
    Setting { directory, data, access_log, server, admin }
}

impl Setting {
    fn get_as(&self, secret: &str, path: &str) -> crate::kit::Answer {
        self.server.get_with(path, &[("authorization", &format!("Bearer {secret}"))])
    }

    /// `formwork token …`, asking the server.
    fn ask(&self, arguments: &[&str], secret: &str) -> Output {
        token(&self.data, arguments, &[("FORMWORK_SERVER", self.server.url()), ("FORMWORK_TOKEN", secret)])
    }
}

#[test]
fn a_private_registry_is_seen_with_a_token_and_the_command_line_has_one() {
    let setting = serving();
    let resolve = format!("/api/v1/resolve?ref={PRIVATE}/vault");
    setting.server.get(&resolve).expect_status(404);
    assert_eq!(setting.server.get("/api/v1/search?q=vault").json()["total"], 0);
    assert!(!setting.server.get("/").text().contains("private"));
    setting.get_as(&setting.admin, &resolve).expect_status(200);

    // While the server holds the directory, it is asked; without a token one is told what to do.
    let refused = token(&setting.data, &["list"], &[]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(
        said(&refused).contains("FORMWORK_TOKEN") && said(&refused).contains("first one"),
        "{}",
        said(&refused)
    );

    let create = ["create", "ci", "--scope", "read", "--registry", PRIVATE, "--expires", "90d"];
    let reader = secret(&setting.ask(&create, &setting.admin));
    setting.get_as(&reader, &resolve).expect_status(200);
    let again = setting.ask(&create, &setting.admin);
    assert!(
        !again.status.success() && said(&again).contains("there is a token called `ci`"),
        "{}",
        said(&again)
    );
    let small = setting.ask(&["create", "more", "--scope", "admin"], &reader);
    assert!(!small.status.success() && said(&small).contains("scope `admin`"), "{}", said(&small));

    // Any command takes it.
    let process = |secret: &str| {
        let mut command = formwork();
        command.args(["process", &format!("{PRIVATE}/vault:v1"), "--server", setting.server.url()]);
        command.env("FORMWORK_TOKEN", secret).output().unwrap()
    };
    assert!(
        String::from_utf8_lossy(&process(&reader).stdout).contains("hidden"),
        "{}",
        said(&process(&reader))
    );
    assert!(!process("").status.success(), "without a token there is no such template");

    let list = setting.ask(&["list"], &setting.admin);
    let table = String::from_utf8(list.stdout).unwrap();
    assert!(table.contains("NAME") && table.contains(PRIVATE) && table.contains("LAST USED"), "{table}");
    assert!(setting.ask(&["revoke", "ci"], &setting.admin).status.success());
    setting.get_as(&reader, &resolve).expect_status(401);
    let gone = setting.ask(&["revoke", "ci"], &setting.admin);
    assert!(!gone.status.success() && said(&gone).contains("no token called `ci`"), "{}", said(&gone));

    // What was given out is there when the server is not, and says when it was used.
    let Setting { directory: _directory, data, server, .. } = setting;
    server.stop();
    let list = token(&data, &["list", "--json"], &[]);
    let list = serde_json::from_slice::<serde_json::Value>(&list.stdout).unwrap();
    assert_eq!((&list["tokens"][0]["name"], &list["tokens"][0]["scope"]), (&json!("me"), &json!("admin")));
    assert!(list["tokens"][0]["last_used"].is_string(), "{list}");
    assert!(token(&data, &["revoke", "me"], &[]).status.success());
}

#[test]
fn hiding_and_showing_a_registry_takes_effect_on_every_answer_at_once() {
    let setting = serving();
    let path = format!("/api/v1/registries/{PRIVATE}");
    let change = |visibility: &str, headers: &[(&str, &str)]| {
        let url = format!("{}{path}", setting.server.url());
        crate::kit::send("PATCH", &url, headers, &json!({ "visibility": visibility }).to_string()).unwrap()
    };
    let bearer = format!("Bearer {}", setting.admin);
    change("public", &[]).expect_status(401);
    let public = change("public", &[("authorization", &bearer)]).expect_status(200);
    assert_eq!(public.json()["visibility"], "public");
    let found = setting.server.resolve(&format!("{PRIVATE}/vault")).expect_status(200).json();
    let content = found["files"][0]["url"].as_str().unwrap().to_owned();
    setting.server.get(&content).expect_status(200);
    assert_eq!(setting.server.get("/api/v1/search?q=vault").json()["total"], 1);
    change("hidden", &[("authorization", &bearer)]).expect_status(400);
    change("private", &[("authorization", &bearer)]).expect_status(200);
    setting.server.resolve(&format!("{PRIVATE}/vault")).expect_status(404);
    setting.server.get(&content).expect_status(404);
    setting.server.get(&path).expect_status(404);
    assert_eq!(setting.server.get("/api/v1/search?q=vault").json()["total"], 0);
    assert!(!setting.server.get("/registries").text().contains(PRIVATE));
}

/// Attack row 31: a token that was used, and misused, is in no log, no answer and no file of the server.
#[test]
fn attack_row_31_a_token_is_written_nowhere() {
    let setting = serving();
    let secret = setting.admin.clone();
    let bearer = format!("Bearer {secret}");
    let mut answers = vec![
        setting.get_as(&secret, &format!("/api/v1/resolve?ref={PRIVATE}/vault")),
        setting.get_as(&secret, &format!("/api/v1/resolve?ref={PRIVATE}/nothing")),
        setting.get_as(&secret, "/api/v1/tokens"),
        setting.get_as(&secret, "/status"),
        setting.get_as(&secret, "/metrics"),
        setting.get_as(&secret, "/readyz"),
        setting.get_as(&secret, "/api/v1/templates?limit=1"),
        setting.get_as(&secret, &format!("/api/v1/templates/{PRIVATE}/vault/-/renovate")),
        setting.get_as(&secret, &format!("/api/v1/templates/{PRIVATE}/vault/-/archive.tar.gz")),
        setting.server.get(&format!("/api/v1/templates?cursor={secret}")),
        setting
            .server
            .get_with("/api/v1/templates", &[("traceparent", secret.as_str()), ("range", secret.as_str())]),
        setting.get_as(&format!("{secret}0"), "/api/v1/registries"),
        setting.server.get(&format!("/api/v1/resolve?ref=redis&token={secret}")),
        setting.server.get(&format!("/search?q={secret}")),
        setting.server.get(&format!("/api/v1/templates/{secret}/-/files/{secret}")),
        setting
            .server
            .get_with("/", &[("x-request-id", secret.as_str()), ("referer", &format!("http://x/{secret}"))]),
        setting.server.get_with("/login", &[("cookie", &format!("formwork-session={secret}"))]),
    ];
    let form = [("content-type", "application/x-www-form-urlencoded")];
    let login = format!("{}/login", setting.server.url());
    answers.push(crate::kit::send("POST", &login, &form, &format!("token={secret}&next=/{secret}")).unwrap());
    let values = json!({ "parameters": { "NAME": "x" } }).to_string();
    let process = format!("{}/api/v1/templates/{PRIVATE}/vault/-/process", setting.server.url());
    let headers = [("authorization", bearer.as_str()), ("content-type", "application/json")];
    answers.push(crate::kit::send("POST", &process, &headers, &values).unwrap());
    assert_eq!(answers.last().unwrap().status, 200);
    for answer in &answers {
        assert!(!answer.text().contains(&secret), "{}", answer.text());
        let headers = format!("{:?}", answer.headers);
        // Where a browser is sent back to is its own affair, and its own address.
        assert!(!headers.contains(&secret) || headers.contains("location"), "{headers}");
    }
    assert!(!setting.server.log().contains(&secret), "{}", setting.server.log());
    let Setting { directory, server, access_log, .. } = setting;
    server.stop();
    let log = std::fs::read_to_string(&access_log).unwrap();
    assert!(log.contains("[token]"), "the misuse is in the log, without the token");
    let mut looked = 0;
    let mut waiting = vec![directory.path().to_owned()];
    while let Some(next) = waiting.pop() {
        for entry in std::fs::read_dir(&next).unwrap().flatten() {
            if entry.path().is_dir() {
                waiting.push(entry.path());
            } else {
                let bytes = std::fs::read(entry.path()).unwrap();
                let found = bytes.windows(secret.len()).any(|part| part == secret.as_bytes());
                assert!(!found, "{}", entry.path().display());
                looked += 1;
            }
        }
    }
    assert!(looked > 5, "only {looked} files were looked at");
}

#[test]
fn a_registry_is_added_and_removed_while_the_server_runs_and_a_restart_remembers() {
    let setting = serving();
    let name = "git.example/team/added";
    let send = |method: &str, path: &str, body: &str| {
        let url = format!("{}{path}", setting.server.url());
        let bearer = format!("Bearer {}", setting.admin);
        crate::kit::send(method, &url, &[("authorization", &bearer)], body).unwrap()
    };
    // Nothing answers there; what is shown is that it is kept and tried, not that it is reached.
    let body =
        json!({ "name": name, "source": "https://git.invalid.example/added.git", "visibility": "private" });
    let added = send("POST", "/api/v1/registries", &body.to_string()).expect_status(201);
    let path = format!("/api/v1/registries/{name}");
    assert_eq!((added.header("location"), &added.json()["visibility"]), (path.as_str(), &json!("private")));
    send("POST", "/api/v1/registries", &body.to_string()).expect_status(409);
    setting.server.get(&path).expect_status(404);
    setting.get_as(&setting.admin, &path).expect_status(200);
    assert!(!setting.server.get("/status").text().contains(name));
    assert!(setting.get_as(&setting.admin, "/status").text().contains(name));

    let Setting { directory, data, server, admin, .. } = setting;
    server.stop();
    let file = directory.path().join("formwork.toml");
    let server = Server::launch_on(&data, &["--config", file.to_str().unwrap()]);
    let bearer = format!("Bearer {admin}");
    let headers = [("authorization", bearer.as_str())];
    assert_eq!(server.get_with(&path, &headers).expect_status(200).json()["visibility"], "private");
    server.get(&path).expect_status(404);
    let url = format!("{}{path}", server.url());
    crate::kit::send("DELETE", &url, &headers, "").unwrap().expect_status(204);
    crate::kit::send("DELETE", &url, &headers, "").unwrap().expect_status(404);
    server.get_with(&path, &headers).expect_status(404);
    server.stop();
    let server = Server::launch_on(&data, &["--config", file.to_str().unwrap()]);
    server.get_with(&path, &headers).expect_status(404);
}
