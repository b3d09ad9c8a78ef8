//! The `dm` of v1.2.1 itself, built from its module where Go has it, against the served example registry.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use super::transcripts;
use crate::kit::{Server, workspace};

/// The program, if it can be built here; it is built once.
fn program() -> Result<&'static Path, &'static str> {
    static BUILT: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    let built = BUILT.get_or_init(|| {
        let target = std::env::temp_dir().join(format!("dm-v1.2.1-{}", std::process::id()));
        let output = Command::new("go")
            .args(["build", "-o"])
            .arg(&target)
            .arg("github.com/kubernetes/deployment-manager/dm")
            .current_dir(workspace().join("tests/oracles/dm"))
            // What is not in the module cache yet is not fetched by a test.
            .env("GOPROXY", "off")
            .output();
        match output {
            Ok(output) if output.status.success() => Ok(target),
            Ok(output) => Err(format!("dm cannot be built: {}", String::from_utf8_lossy(&output.stderr))),
            Err(error) => Err(format!("there is no Go: {error}")),
        }
    });
    built.as_deref().map_err(String::as_str)
}

/// Runs it, and gives its exit code and what it said.
fn dm(program: &Path, directory: &Path, arguments: &[&str]) -> (i32, String) {
    let output = Command::new(program).args(arguments).current_dir(directory).env_clear().output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap();
    (output.status.code().unwrap_or(-1), said)
}

/// The transcripts of the original client in `docs/clients.md`.
#[test]
fn the_transcripts_of_the_page_are_what_the_original_says() {
    let Ok(program) = program() else {
        println!("SKIPPED: dm v1.2.1 cannot be built here");
        return;
    };
    let server = Server::start(transcripts::REGISTRY);
    let all = transcripts::of_page(|command| command.contains("--service"));
    transcripts::replay(&server, &all, |arguments| {
        Command::new(program).args(arguments).env_clear().output().unwrap()
    });
}

#[test]
fn an_unmodified_dm_lists_describes_expands_deploys_and_deletes() {
    let program = match program() {
        Ok(program) => program,
        Err(why) => {
            println!("SKIPPED: {why}");
            return;
        }
    };
    let server = Server::start(&["examples/registry"]);
    let registry =
        server.get("/api/v1/registries").json()["registries"][0]["name"].as_str().unwrap().to_owned();
    let directory = tempfile::tempdir().unwrap();
    std::fs::create_dir(directory.path().join("lib")).unwrap();
    let configuration = "imports:\n- path: lib/box.jinja\nresources:\n- name: b1\n  type: box.jinja\n  properties:\n    size: 3\n- name: web\n  type: web/nginx:v1\n  properties:\n    name: web\n";
    std::fs::write(directory.path().join("app.yaml"), configuration).unwrap();
    let template = "resources:\n- name: {{ env['name'] }}-box\n  type: Box\n  properties:\n    size: {{ properties['size'] }}\n";
    std::fs::write(directory.path().join("lib/box.jinja"), template).unwrap();
    let run = |base: &str, arguments: &[&str]| {
        let service = format!("{}/dm{base}", server.url());
        let all =
            ["--service", service.as_str()].into_iter().chain(arguments.iter().copied()).collect::<Vec<_>>();
        dm(program, directory.path(), &all)
    };
    let ok = |base: &str, arguments: &[&str], says: &[&str]| {
        let (code, said) = run(base, arguments);
        assert_eq!(code, 0, "{arguments:?}: {said}");
        for says in says {
            assert!(said.contains(says), "{arguments:?} does not say {says:?}: {said}");
        }
        said
    };
    let web = format!("/r/{registry}/web");
    ok("", &["list"], &["null"]);
    ok("", &["registries"], &[&registry, "versioned;collection"]);
    ok("", &["templates"], &["Name: nginx", "Collection: scheduled"]);
    let filtered = ok(&web, &["--regex", "nginx", "templates"], &["Name: nginx"]);
    assert!(!filtered.contains("Collection: scheduled"), "{filtered}");
    ok("", &["describe", "web/nginx:v1.0"], &["properties:"]);
    ok("", &["describe", &format!("{registry}/web/nginx:v1")], &["properties:"]);
    ok("", &["describe", "Pod"], &["\"\""]);
    let properties = ["--properties", "name=shop", "expand", "nginx:v1"];
    ok(&web, &properties, &["expandedConfig:", "layout:", "type: nginx:v1"]);
    ok("", &["expand", "app.yaml"], &["name: b1-box", "size: 3", "type: web/nginx:v1"]);
    ok(&web, &["--name", "shop", "--properties", "name=shop", "deploy", "nginx:v1"], &["status: Created"]);
    ok("", &["deploy", "app.yaml"], &["name: app.yaml", "status: Created"]);
    ok("", &["list"], &["- shop", "- app.yaml"]);
    let got = ok("", &["get", "shop"], &["latestManifest: manifest-", "deployedAt: \"0001-01-01"]);
    let manifest = got.lines().find_map(|line| line.strip_prefix("latestManifest: ")).unwrap().to_owned();
    ok("", &["manifest", "shop"], &[&manifest]);
    ok("", &["manifest", "shop", &manifest], &["inputConfig:", "expandedConfig:", "/sha256:"]);
    ok("", &["manifest", &format!("shop/{manifest}")], &["inputConfig:"]);
    ok("", &["deployed-types"], &["- box.jinja", "- Box"]);
    ok("", &["deployed-instances", "Box"], &["name: b1-box", "deployment: app.yaml"]);
    ok(&web, &["--name", "shop", "--properties", "name=other", "update", "nginx:v1"], &["status: Modified"]);
    ok("", &["delete", "shop"], &["status: Deleted"]);
    for (arguments, says) in [
        (vec!["get", "shop"], "deployment shop not found"),
        (vec!["describe", "web/nginx:v9"], "versions: "),
        (vec!["expand", "web/nginx:v1"], "is a required property"),
        (vec!["expand", "web/ngins:v1"], "did you mean: "),
        (vec!["--registry", "nope", "templates"], "Failed to find registry named nope"),
    ] {
        let (code, said) = run("", &arguments);
        assert!(
            code == 1 && said.contains("status code: 400") && said.contains(says),
            "{arguments:?}: {said}"
        );
    }
}
