//! The unmodified client: `kubectl`, over TLS with a token, as it is installed. Skipped, loudly, without it.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use super::kit::token;
use crate::kit::tls::Authority;
use crate::kit::{Server, example_registry, run_with, skipped};

/// A server with a certificate, and how `kubectl` is told of it.
struct Session {
    server: Server,
    directory: tempfile::TempDir,
    token: String,
}

impl Session {
    /// Nothing, with the reason on standard error, if a program is missing.
    fn start() -> Option<Session> {
        if Command::new("kubectl").args(["version", "--client"]).output().is_err() {
            skipped("kubectl is not installed (Debian: kubernetes-client)");
            return None;
        }
        let directory = tempfile::tempdir().unwrap();
        if Authority::create(&directory.path().join("tls")).is_none() {
            skipped("openssl is not installed");
            return None;
        }
        let data = directory.path().join("data");
        std::fs::create_dir(&data).unwrap();
        let token = token(&data, "kubectl", &["--scope", "write"]);
        let file = |name: &str| directory.path().join("tls").join(name).to_str().unwrap().to_owned();
        let (cert, key) = (file("server.pem"), file("server.key"));
        let registry = example_registry();
        let server =
            Server::launch_on(&data, &[registry.to_str().unwrap(), "--tls-cert", &cert, "--tls-key", &key]);
        server.wait_ready();
        Some(Session { server, directory, token })
    }

    fn command(&self, base: &str) -> Command {
        let mut command = Command::new("kubectl");
        command.env_clear().env("HOME", self.directory.path());
        if let Some(path) = std::env::var_os("PATH") {
            command.env("PATH", path);
        }
        let port = self.server.url().rsplit(':').next().unwrap();
        command.arg(format!("--server=https://localhost:{port}{base}"));
        let authority = self.directory.path().join("tls/ca.pem");
        command.arg(format!("--certificate-authority={}", authority.display()));
        command.arg(format!("--token={}", self.token)).arg("--request-timeout=60s");
        command
    }

    /// What `kubectl` prints, which has to go well.
    #[track_caller]
    fn run(&self, arguments: &[&str]) -> String {
        self.run_with(arguments, "")
    }

    #[track_caller]
    fn run_with(&self, arguments: &[&str], input: &str) -> String {
        let mut command = self.command("");
        command.args(arguments);
        let output = run_with(command, input.as_bytes());
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "kubectl {}: {error}\n{}", arguments.join(" "), self.server.log());
        String::from_utf8(output.stdout).unwrap()
    }

    /// What `kubectl` says when it fails.
    #[track_caller]
    fn fails(&self, arguments: &[&str], input: &str) -> String {
        let mut command = self.command("");
        command.args(arguments);
        let output = run_with(command, input.as_bytes());
        assert!(
            !output.status.success(),
            "kubectl {}: {}",
            arguments.join(" "),
            String::from_utf8_lossy(&output.stdout)
        );
        String::from_utf8_lossy(&output.stderr).into_owned()
    }
}

fn template(description: &str) -> String {
    format!(
        "apiVersion: template.openshift.io/v1\nkind: Template\nmetadata:\n  name: shop\n  labels:\n    tier: web\n  annotations:\n    description: {description}\n\
         parameters:\n- name: NAME\n  required: true\nobjects:\n- apiVersion: v1\n  kind: ConfigMap\n  metadata:\n    name: ${{NAME}}\n"
    )
}

#[test]
fn kubectl_lists_gets_and_shows() {
    let Some(session) = Session::start() else { return };
    let table = session.run(&["get", "templates", "-n", "databases"]);
    let mut lines = table.lines();
    let head = lines.next().unwrap().split_whitespace().collect::<Vec<_>>();
    assert_eq!(head, ["NAME", "VERSION", "DESCRIPTION", "PARAMETERS", "OBJECTS"]);
    let rows = lines.map(|line| line.split_whitespace().take(2).collect::<Vec<_>>()).collect::<Vec<_>>();
    assert_eq!(rows, [["postgresql", "v1.0.0"], ["redis", "v2.0.0"]]);
    let all = session.run(&["get", "templates", "-A", "-o", "name", "--chunk-size=1"]);
    assert_eq!(all.lines().count(), 3, "{all}");
    let yaml = session.run(&["get", "-o", "yaml", "-n", "databases", "template", "redis:v1.0"]);
    assert!(yaml.contains("formwork/version: v1.0.2") && yaml.contains("kind: Template"), "{yaml}");
    // Whatever it lists, it gets.
    for name in ["postgresql", "redis"] {
        session.run(&["get", "template", name, "-n", "databases", "-o", "json"]);
    }
    assert_eq!(session.run(&["get", "namespaces", "-o", "name"]).lines().count(), 4);
    assert!(session.run(&["api-resources"]).contains("template.openshift.io"));
    assert!(session.run(&["explain", "template.parameters"]).contains("What may be set"));
    assert!(session.run(&["describe", "template", "redis", "-n", "databases"]).contains("formwork/digest"));
    let missing = session.fails(&["get", "template", "nothing"], "");
    assert!(missing.contains("Error from server (NotFound)"), "{missing}");
    let unsupported = session.fails(&["get", "pods"], "");
    assert!(unsupported.contains("the server doesn't have a resource type"), "{unsupported}");
    // Another registry, by its base path.
    let mut command = session.command("/k8s/r/localhost/examples/registry");
    let output = command.args(["get", "templates", "-n", "web", "-o", "name"]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "template.template.openshift.io/frontend\n");
}

#[test]
fn kubectl_stores_changes_and_removes() {
    let Some(session) = Session::start() else { return };
    let file = session.directory.path().join("template.yaml");
    std::fs::write(&file, template("A shop")).unwrap();
    let file = file.to_str().unwrap();
    let version = || {
        session.run(&["get", "template", "shop", "-o", "jsonpath={.metadata.annotations.formwork/version}"])
    };
    assert_eq!(session.run(&["create", "-f", file]), "template.template.openshift.io/shop created\n");
    assert_eq!(version(), "v1.0.0");
    let again = session.fails(&["create", "-f", file], "");
    assert!(again.contains("(AlreadyExists)"), "{again}");
    session.run(&["label", "template", "shop", "team=a"]);
    assert_eq!(version(), "v1.0.1");
    assert_eq!(
        session.run(&["get", "templates", "-l", "team in (a,b),tier=web", "-o", "name"]).lines().count(),
        1
    );
    session.run_with(&["apply", "-f", "-"], &template("A bigger shop"));
    session.run_with(&["apply", "-f", "-"], &template("The biggest shop"));
    assert_eq!(version(), "v1.0.3");
    assert!(session.run_with(&["apply", "-f", "-"], &template("The biggest shop")).contains("unchanged"));
    // Read, changed, put back; and put back once more, when it has changed meanwhile.
    let read = session.run(&["get", "template", "shop", "-o", "yaml"]);
    let changed = read.replace("The biggest shop", "Another shop");
    session.run_with(&["replace", "-f", "-"], &changed);
    assert_eq!(version(), "v1.0.4");
    let late = session.fails(&["replace", "-f", "-"], &changed.replace("Another", "Yet another"));
    assert!(late.contains("(Conflict)") && late.contains("the object has been modified"), "{late}");
    let forbidden = session.fails(&["delete", "template", "redis", "-n", "databases"], "");
    assert!(forbidden.contains("(Forbidden)"), "{forbidden}");
    // It waits until it is gone.
    assert!(session.run(&["delete", "-f", file]).contains("deleted"));
    assert!(session.fails(&["get", "template", "shop"], "").contains("(NotFound)"));
    assert_eq!(
        session.run(&["get", "template", "shop:=v1.0.2", "-o", "name"]),
        "template.template.openshift.io/shop:=v1.0.2\n"
    );
    // What others see of all that.
    assert!(
        session
            .server
            .get("/api/v1/templates/localhost/hosted/templates/shop/-/history")
            .expect_status(200)
            .text()
            .contains("kubectl")
    );
}

#[test]
fn kubectl_watches() {
    let Some(session) = Session::start() else { return };
    let output = session.directory.path().join("watched");
    let mut command = session.command("");
    command.args(["get", "templates", "--watch-only", "--output-watch-events"]);
    let file = std::fs::File::create(&output).unwrap();
    let mut watching = command.stdin(Stdio::null()).stdout(file).stderr(Stdio::null()).spawn().unwrap();
    std::thread::sleep(Duration::from_secs(2));
    session.run_with(&["create", "-f", "-"], &template("A shop"));
    session.run(&["annotate", "template", "shop", "own=x"]);
    session.run(&["delete", "template", "shop"]);
    let told = |output: &Path| std::fs::read_to_string(output).unwrap();
    let told = crate::kit::wait_for("kubectl to tell what it saw", || {
        let told = told(&output);
        told.contains("DELETED").then_some(told)
    });
    watching.kill().unwrap();
    watching.wait().unwrap();
    let events = told
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        .filter(|word| *word != "EVENT")
        .collect::<Vec<_>>();
    assert_eq!(events, ["ADDED", "MODIFIED", "DELETED"], "{told}");
}
