//! `dm` of our own: the command lines of the convention document, through the program and the port.

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Output};

use super::replay::serving;
use super::transcripts;
use crate::kit::{Server, formwork};

/// Runs `dm`, as the program is called so.
fn dm(server: &Server, directory: &Path, arguments: &[&str]) -> Output {
    let mut command: Command = formwork();
    command.arg0("dm").args(arguments).env("FORMWORK_SERVER", server.url()).current_dir(directory);
    command.output().unwrap()
}

#[track_caller]
fn said(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[track_caller]
fn refused(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(output.stdout.is_empty(), "what is for the next program is nothing");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The convention document: "dm deploy <template>:<version>", "dm --registry …", "dm deploy github.com/…",
/// "dm --properties …".
#[test]
fn the_command_lines_of_the_convention_document_work() {
    let root = tempfile::tempdir().unwrap();
    let server = serving(root.path(), &[]);
    let properties = "image=acme/front,port=8080";
    for (name, arguments) in [
        ("collection", vec!["deploy", "web/frontend:v1", "--properties", properties]),
        (
            "registry",
            vec!["--registry", "acme/templates/web", "--properties", properties, "deploy", "frontend:v1"],
        ),
        ("full", vec!["--properties", properties, "deploy", "github.com/acme/templates/web/frontend:v1"]),
        (
            "one-dash",
            vec!["-registry=acme/templates", "-properties", properties, "deploy", "web/frontend:v1.0"],
        ),
    ] {
        let arguments = ["--name", name].into_iter().chain(arguments).collect::<Vec<_>>();
        let output = dm(&server, root.path(), &arguments);
        let objects = said(&output);
        assert!(
            objects.starts_with("---\n") && objects.contains(&format!("name: {name}-service")),
            "{objects}"
        );
        assert!(objects.contains("port: 8080") && objects.contains("version: v1.0.2"), "{objects}");
        let note = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            note.contains(&format!("recorded {name} at ")) && note.contains("kubectl apply -f -"),
            "{note}"
        );
    }
    assert_eq!(said(&dm(&server, root.path(), &["list"])), "collection\nregistry\nfull\none-dash\n");
    let missing = refused(&dm(&server, root.path(), &["deploy", "web/frontend:v1"]));
    assert!(missing.contains("'image' is a required property"), "{missing}");
    let unknown = refused(&dm(&server, root.path(), &["deploy", "frontend:v1"]));
    assert!(unknown.contains("did you mean: github.com/acme/templates/web/frontend"), "{unknown}");
}

#[test]
fn a_deployment_is_followed_from_its_first_manifest_to_its_end() {
    let root = tempfile::tempdir().unwrap();
    let server = serving(root.path(), &[]);
    let directory = root.path().join("own");
    std::fs::create_dir_all(directory.join("lib")).unwrap();
    let write = |size: u32| {
        let text = format!(
            "imports:\n- path: lib/box.jinja\nresources:\n- name: b1\n  type: box.jinja\n  properties: {{size: {size}}}\n- name: b2\n  type: lib/box.jinja\n  properties: {{size: 1}}\n"
        );
        std::fs::write(directory.join("app.yaml"), text).unwrap();
    };
    write(3);
    let template = "resources:\n- name: {{ env['name'] }}-box\n  type: Box\n  properties: {apiVersion: v1, kind: Box, size: {{ properties['size'] }}}\n";
    std::fs::write(directory.join("lib/box.jinja"), template).unwrap();
    let run = |arguments: &[&str]| dm(&server, &directory, arguments);
    let expanded = said(&run(&["expand", "app.yaml"]));
    assert!(expanded.contains("expandedConfig:") && expanded.contains("name: b1-box"), "{expanded}");
    let objects = said(&run(&["deploy", "app.yaml"]));
    assert_eq!(objects, "---\napiVersion: v1\nkind: Box\nsize: 3\n---\napiVersion: v1\nkind: Box\nsize: 1\n");
    write(5);
    assert!(said(&run(&["update", "app.yaml"])).contains("size: 5"));
    let manifests = said(&run(&["manifest", "app"]));
    let names = manifests.lines().collect::<Vec<_>>();
    assert_eq!(names.len(), 2, "{manifests}");
    let first = said(&run(&["manifest", "app", names[0]]));
    assert!(
        first.contains("size: 3") && first == said(&run(&["manifest", &format!("app/{}", names[0])])),
        "{first}"
    );
    assert!(said(&run(&["get", "app"])).contains("status: Modified"));
    assert_eq!(said(&run(&["deployed-types"])), "Box\nbox.jinja\nlib/box.jinja\n");
    let instances = said(&run(&["deployed-instances", "Box"]));
    assert!(instances.contains("$.resources[1].resources[0]"), "{instances}");
    assert!(said(&run(&["delete", "app"])).is_empty());
    assert!(refused(&run(&["get", "app"])).contains("deployment app not found"));
    let gone = run(&["deploy", "none.yaml"]);
    assert_eq!(gone.status.code(), Some(2), "it could not be tried");
}

/// The transcripts of our own client in `docs/clients.md`.
#[test]
fn the_transcripts_of_the_page_are_what_the_program_says() {
    let directory = tempfile::tempdir().unwrap();
    let server = Server::start(transcripts::REGISTRY);
    let all = transcripts::of_page(|command| !command.contains("--service"));
    transcripts::replay(&server, &all, |arguments| dm(&server, directory.path(), arguments));
}
