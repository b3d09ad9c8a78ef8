//! Somebody who knows what they need and no name: six commands from a described need to a fetched template, on a
//! catalogue of 5,000. Each command is made from what the one before printed, by eye, as a person would.

use std::process::Output;

use crate::kit::{Server, catalogue, formwork};

const TEMPLATES: usize = 5_000;

/// Runs a command in a directory of the newcomer's own.
#[track_caller]
fn run(server: &Server, directory: &std::path::Path, arguments: &[&str]) -> String {
    let mut command = formwork();
    let command = command.args(arguments).env("FORMWORK_SERVER", server.url()).current_dir(directory);
    let Output { status, stdout, stderr } = command.output().unwrap();
    let (stdout, stderr) = (String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
    assert!(status.success(), "formwork {}: {status}\n{stdout}{stderr}", arguments.join(" "));
    stdout.into_owned()
}

/// The first word of a row of a table.
#[track_caller]
fn row(table: &str, number: usize) -> &str {
    table.lines().nth(number).and_then(|line| line.split_whitespace().next()).expect("the table has that row")
}

#[test]
fn from_a_described_need_to_a_fetched_template_in_six_commands() {
    let files = tempfile::tempdir().unwrap();
    let server = catalogue::serve(files.path(), TEMPLATES);
    let home = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| run(&server, home.path(), arguments);

    // 1. A need, in words, with a typing error and an unfinished one.
    let found = run(&["search", "queue", "for", "mesages", "with", "nightly", "backups"]);
    assert!(found.lines().count() > 1, "{found}");
    // 2. Too much at once; the need itself.
    let found = run(&["search", "broker", "of", "message", "queues", "--kind", "template"]);
    let reference = row(&found, 1).to_owned();
    assert!(reference.ends_with("/rabbitmq"), "{found}");
    // 3. Is it that?
    let shown = run(&["show", &reference]);
    for part in [
        "A broker of message queues",
        "handing tasks to workers",
        "ERLANG_COOKIE",
        "StatefulSet",
        "formwork pull",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    // 4. Which versions are there, and which one would it be?
    let versions = run(&["versions", &reference]);
    let newest = row(&versions, 1).to_owned();
    // 5. Here it comes.
    let pinned = format!("{reference}:{newest}");
    let pulled = run(&["pull", &pinned]);
    assert_eq!(pulled.trim(), format!("rabbitmq/{newest}"));
    // 6. And it works.
    let objects = run(&["process", pulled.trim(), "-p", "NAME=orders"]);
    assert!(objects.contains("kind: StatefulSet") && objects.contains("name: orders"), "{objects}");

    // What was fetched is what was listed.
    let resolved = server.resolve(&pinned).expect_status(200).json();
    assert_eq!(run(&["digest", pulled.trim()]).trim(), resolved["digest"].as_str().unwrap());
    // On a catalogue of this size, nothing a person types is out of bounds.
    for letter in ["a", "re", "database", "*", "e"] {
        let answer = server.get(&format!("/api/v1/search?q={letter}&limit=100")).expect_status(200);
        assert!(answer.body.len() < 1 << 20, "{letter}: {} bytes", answer.body.len());
    }
}
