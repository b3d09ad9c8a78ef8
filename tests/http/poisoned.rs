//! Versions that are meant to do harm are findings; the versions beside them are served as if nothing were there.

use serde_json::{Value, json};

use crate::kit::registries::{EXAMPLE, kubernetes_template, yaml_bomb};
use crate::kit::{Commit, GitRemote, Repository, Server, git_or_skip};

const REGISTRY: &str = "git.example/acme/poisoned";

/// What is wrong with version v1.0.0 of the template of that name.
struct Poison {
    template: &'static str,
    /// The rule whose finding says so.
    rule: &'static str,
    /// Whether the version is served all the same, without what is wrong in it.
    served: bool,
}

const POISONS: &[Poison] = &[
    Poison { template: "bomb", rule: "unreadable-template", served: false },
    Poison { template: "large", rule: "version-too-large", served: false },
    Poison { template: "many", rule: "version-too-large", served: false },
    Poison { template: "deep", rule: "version-too-large", served: false },
    Poison { template: "bytes", rule: "forbidden-path", served: false },
    Poison { template: "twins", rule: "several-templates", served: false },
    Poison { template: "link", rule: "link", served: true },
    Poison { template: "outside", rule: "link", served: true },
    Poison { template: "module", rule: "submodule", served: true },
];

fn repository(path: &std::path::Path) -> Repository {
    let mut repository = Repository::create(path).unwrap();
    let mut commit = Commit::default();
    for poison in POISONS {
        let name = poison.template;
        for version in ["v1.0.0", "v1.0.1"] {
            let template = if (name, version) == ("bomb", "v1.0.0") {
                yaml_bomb()
            } else {
                kubernetes_template(name, version)
            };
            commit = commit
                .file(&format!("{name}/{version}/{name}.yaml"), template)
                .file(&format!("{name}/{version}/example.yaml"), EXAMPLE);
        }
    }
    commit = commit.file("large/v1.0.0/disk.img", vec![b'0'; 100 << 20]);
    for number in 0..2_100 {
        commit = commit.file(&format!("many/v1.0.0/files/{number}"), "");
    }
    commit = commit
        .file(&format!("deep/v1.0.0/{}file", "d/".repeat(40)), "")
        .file_named(b"bytes/v1.0.0/caf\xe9.txt", "not UTF-8")
        .file("twins/v1.0.0/twins.jinja", "resources: []\n")
        .link("link/v1.0.0/passwd", "/etc/passwd")
        .link("outside/v1.0.0/notes", "../../../../../../etc")
        .submodule("module/v1.0.0/library")
        // The same poisons where a registry keeps its own things.
        .file_named(b"caf\xe9/v1.0.0/x", "not UTF-8")
        .link("shortcut", "bomb")
        .submodule("vendor");
    repository.commit(commit).unwrap();
    repository
}

/// Every finding there is, of the registry and of the versions that are served.
fn findings(server: &Server) -> Vec<Value> {
    let registry = server.get(&format!("/api/v1/registries/{REGISTRY}")).expect_status(200).json();
    let mut findings = registry["findings"].as_array().cloned().unwrap_or_default();
    for poison in POISONS.iter().filter(|poison| poison.served) {
        let path = format!("/api/v1/templates/{REGISTRY}/{}:=v1.0.0", poison.template);
        let template = server.get(&path).expect_status(200).json();
        findings.extend(template["findings"].as_array().cloned().unwrap_or_default().into_iter().map(
            |mut finding| {
                finding["of"] = json!(format!("{}/v1.0.0", poison.template));
                finding
            },
        ));
    }
    findings
}

/// Attack rows 2, 4, 5, 6 and 8, each in a version beside a good one.
#[test]
fn a_poisoned_version_does_not_hide_its_siblings() {
    if !git_or_skip() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let repository = repository(&directory.path().join("poisoned.git"));
    assert!(repository.path().exists());
    let remote = GitRemote::serve(directory.path()).unwrap();
    let source = format!("{REGISTRY}={}", remote.url("poisoned.git"));
    let server = Server::start(&["--registry", &source]);
    let findings = findings(&server);

    for Poison { template, rule, served } in POISONS {
        // The sibling.
        let sibling = server.resolve(&format!("{REGISTRY}/{template}:v1")).expect_status(200).json();
        assert_eq!(sibling["resolved"], "v1.0.1", "{template}");
        let made =
            server.process(&format!("{REGISTRY}/{template}:v1"), &json!({"parameters": {"NAME": "a"}}));
        assert_eq!(made.expect_status(200).json()["objects"][0]["data"]["text"], "v1.0.1", "{template}");
        // The version itself.
        let poisoned = server.resolve(&format!("{REGISTRY}/{template}:=v1.0.0"));
        assert_eq!(poisoned.status, if *served { 200 } else { 404 }, "{template}: {}", poisoned.text());
        // The finding, with its place.
        let path = format!("{template}/v1.0.0");
        let found = findings.iter().any(|finding| {
            let at = finding["path"].as_str().unwrap_or_default();
            finding["rule"] == *rule && (at.starts_with(&path) || finding["of"] == path.as_str())
        });
        assert!(found, "no finding {rule} about {path} among {findings:#?}");
    }

    // Nothing outside the version is reached through what is served.
    for file in [
        "link:=v1.0.0/-/files/passwd",
        "outside:=v1.0.0/-/files/notes/passwd",
        "module:=v1.0.0/-/files/library",
    ] {
        let answer = server.get(&format!("/api/v1/templates/{REGISTRY}/{file}"));
        assert_eq!(answer.status, 404, "{file}: {}", answer.text());
    }
}
