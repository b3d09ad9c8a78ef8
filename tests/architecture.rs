//! The edges between crates, all of them: any other is a defect, or a decision to write down first.
//!
//! The table is the one in `docs/architecture.md`.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test that uses them")]

use std::collections::BTreeSet;
use std::process::Command;

use serde_json::Value;

/// Who may depend on whom. `cli` may depend on any.
const EDGES: &[(&str, &[&str])] = &[
    ("yaml", &[]),
    ("gotemplate", &["yaml"]),
    ("schema", &["yaml"]),
    ("engine-kubernetes", &["schema", "yaml"]),
    ("engine-dm", &["schema", "yaml"]),
    ("engine", &["engine-kubernetes", "engine-dm", "schema", "yaml"]),
    ("worker", &["engine", "schema"]),
    ("check", &["schema", "yaml"]),
    ("catalog", &["schema"]),
    ("wire", &["schema", "yaml"]),
    ("indexer", &["schema", "check", "catalog", "worker"]),
    ("github", &["schema"]),
    ("server", &["schema", "wire", "check", "catalog", "indexer", "worker"]),
    ("samples", &[]),
    // They drive programs from outside and know none of the product's crates; but xtask has the worker bake the
    // interpreter that the worker runs.
    ("benches", &["samples"]),
    ("xtask", &["worker"]),
];

/// Crates that only one of ours may name, with why.
const ONLY: &[(&str, &str)] = &[
    ("axum", "server"),
    ("gix", "indexer"),
    ("octocrab", "github"),
    ("landlock", "worker"),
    ("seccompiler", "worker"),
    ("sqlx", "catalog"),
    ("tantivy", "catalog"),
    ("wasmtime", "worker"),
    ("minijinja", "engine-dm"),
];

/// What the pure crates must not name: I/O, clocks and randomness come in through arguments.
const IMPURE: &[&str] = &["tokio", "reqwest", "getrandom", "rand", "rustix", "libc", "tempfile"];
const PURE: &[&str] = &["yaml", "gotemplate", "schema", "engine", "engine-dm", "engine-kubernetes", "check"];

/// What cargo knows of the workspace, dependencies of dependencies left out.
fn packages() -> Vec<Value> {
    let arguments = ["metadata", "--format-version", "1", "--no-deps", "--offline"];
    let output =
        Command::new(env!("CARGO")).args(arguments).current_dir(env!("CARGO_MANIFEST_DIR")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata = serde_json::from_slice::<Value>(&output.stdout).unwrap();
    metadata["packages"].as_array().unwrap().clone()
}

#[test]
fn crates_depend_only_along_the_edges() {
    let packages = packages();
    let name = |value: &Value| value["name"].as_str().unwrap().to_owned();
    let ours = packages.iter().map(name).collect::<BTreeSet<_>>();
    let mut wrong = Vec::new();
    for package in &packages {
        let from = name(package);
        let allowed = EDGES.iter().find(|(crate_, _)| *crate_ == from).map(|(_, to)| *to);
        if allowed.is_none() && from != "cli" {
            wrong.push(format!("{from} is in no row of the table"));
        }
        // A kind is given for dev- and build-dependencies only.
        let dependencies = package["dependencies"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|dependency| dependency["kind"].is_null());
        for to in dependencies.map(name) {
            if ours.contains(&to) && allowed.is_some_and(|allowed| !allowed.contains(&to.as_str())) {
                wrong.push(format!("{from} -> {to}"));
            }
            if let Some((_, only)) = ONLY.iter().find(|(library, _)| *library == to)
                && *only != from
            {
                wrong.push(format!("{from} -> {to}, which only {only} may know"));
            }
            if PURE.contains(&from.as_str()) && IMPURE.contains(&to.as_str()) {
                wrong.push(format!("{from} -> {to}, but {from} is pure"));
            }
        }
    }
    assert!(wrong.is_empty(), "edges that are not in docs/architecture.md:\n  {}", wrong.join("\n  "));
}
