//! Kubernetes Templates beside what they come from: `oc process --local` as a whole process, OpenShift's processing
//! library within one, and the cost by objects and references.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use serde_json::{Value, json};

use crate::report::{Goal, Section, progress, ratio};
use crate::statistics::median_seconds;

/// Templates measured: a name, objects, references in each.
const TEMPLATES: [(&str, usize, usize); 3] = [("small", 3, 8), ("middling", 20, 20), ("large", 500, 20)];

/// For the cost of one reference: objects, references in each.
const GROWTH: [(usize, usize); 4] = [(100, 10), (1_000, 10), (100, 100), (1_000, 100)];

/// Measures `program` beside `oc`, or the library's program in its place where there is no `oc`.
pub(crate) fn run(program: &Path, oc: Option<&Path>, rounds: usize) -> anyhow::Result<Section> {
    let directory = tempfile::tempdir()?;
    let library = library(directory.path())?;
    let (peer, peer_name) = match oc {
        Some(oc) => (Peer::Oc(oc.to_owned()), "oc"),
        None => (Peer::Library(library.clone()), "library"),
    };
    let mut files = Vec::new();
    for (name, objects, references) in TEMPLATES {
        files.push(written(directory.path(), name, objects, references)?);
    }
    let mut grown = Vec::new();
    for (objects, references) in GROWTH {
        let path = written(directory.path(), &format!("{objects}x{references}"), objects, references)?;
        grown.push((path, (objects * references) as f64));
    }

    let (mut rows, mut figures, mut least) = (Vec::new(), Vec::new(), [f64::INFINITY; 2]);
    let ours = in_process(
        Command::new("cargo").args(["bench", "-q", "-p", "engine-kubernetes", "--bench", "process", "--"]),
        files.iter().chain(grown.iter().map(|(path, _)| path)),
    )?;
    let theirs = in_process(Command::new(&library).arg("bench"), files.iter())?;
    for ((name, ..), path) in TEMPLATES.iter().zip(&files) {
        progress(format_args!("the {name} template as a whole process"));
        let (mut whole, mut peers) = (Vec::new(), Vec::new());
        let expected = peer.run(path)?.0;
        for _ in 0..rounds {
            let (made, time) = Peer::Formwork(program.to_owned()).run(path)?;
            ensure!(made == expected, "the {name} template is processed differently");
            whole.push(time);
            peers.push(peer.run(path)?.1);
        }
        let (whole, peers) = (median_seconds(&whole), median_seconds(&peers));
        let (inside, library) = (of(&ours, path)?, of(&theirs, path)?);
        least = [least[0].min(peers / whole), least[1].min(library / inside)];
        rows.push(vec![
            (*name).to_owned(),
            format!("{:.2} ms", whole * 1e3),
            format!("{:.2} ms", peers * 1e3),
            ratio(peers / whole),
            format!("{:.1} µs", inside / 1e3),
            format!("{:.1} µs", library / 1e3),
            ratio(library / inside),
        ]);
        figures.push(json!({"template": name, "whole_seconds": whole, "peer_seconds": peers,
            "inside_nanoseconds": inside, "library_nanoseconds": library}));
    }
    let mut costs = Vec::new();
    for (path, references) in &grown {
        costs.push(of(&ours, path)? / references);
    }
    let (low, high) =
        costs.iter().fold((f64::INFINITY, 0.0), |(low, high), cost| (cost.min(low), cost.max(high)));
    let goal = |aim: &str, found: String, met: bool| Goal { aim: aim.to_owned(), found, met };
    Ok(Section {
        name: "kubernetes",
        about: format!(
            "Kubernetes Templates, from text to the List as JSON. Whole processes: median of {rounds} by turns beside {peer_name}; the library (library-go) and the engine in-process: mean over a second. Equal output is checked. A reference among 1,000 to 100,000 costs {low:.0} to {high:.0} ns."
        ),
        header: &["template", "formwork", "peer", "ratio", "engine", "library", "ratio"],
        rows,
        figures: json!({"peer": peer_name, "templates": figures, "nanoseconds_a_reference": costs}),
        goals: vec![
            goal(
                "20 times as fast as `oc process --local`, as a whole process",
                format!("{} at the least, beside {peer_name}", ratio(least[0])),
                least[0] >= 20.0,
            ),
            goal(
                "3 times as fast as OpenShift's library",
                format!("{} at the least", ratio(least[1])),
                least[1] >= 3.0,
            ),
            goal(
                "cost linear in objects times references (dearest reference within 2 times the cheapest)",
                ratio(high / low),
                high / low <= 2.0,
            ),
        ],
    })
}

/// A program that processes a template.
enum Peer {
    Formwork(PathBuf),
    Oc(PathBuf),
    Library(PathBuf),
}

impl Peer {
    /// The List, as values, and how long it took.
    fn run(&self, template: &Path) -> anyhow::Result<(Value, Duration)> {
        let mut command = match self {
            Peer::Formwork(program) => {
                let mut command = Command::new(program);
                command.args(["process", "-o", "json"]).arg(template);
                command
            }
            Peer::Oc(program) => {
                let mut command = Command::new(program);
                command.args(["process", "--local", "-o", "json", "-f"]).arg(template);
                command
            }
            Peer::Library(program) => {
                let mut command = Command::new(program);
                command.arg("process");
                command
            }
        };
        command.stdin(std::fs::File::open(template)?).stderr(Stdio::inherit());
        let started = Instant::now();
        let output =
            command.output().with_context(|| format!("{:?} cannot be started", command.get_program()))?;
        let time = started.elapsed();
        ensure!(output.status.success(), "{:?} failed: {}", command.get_program(), output.status);
        Ok((serde_json::from_slice(&output.stdout)?, time))
    }
}

/// The library's program, built.
fn library(directory: &Path) -> anyhow::Result<PathBuf> {
    progress("building tests/oracles/openshift");
    let program = directory.join("library");
    let status = Command::new("go")
        .args(["build", "-o"])
        .arg(&program)
        .arg(".")
        .current_dir("tests/oracles/openshift")
        .status()
        .context("Go is not installed")?;
    ensure!(status.success(), "tests/oracles/openshift does not build");
    Ok(program)
}

/// The lines of a program that measures itself: nanoseconds by file.
fn in_process<'p>(
    command: &mut Command,
    files: impl Iterator<Item = &'p PathBuf>,
) -> anyhow::Result<Vec<(String, f64)>> {
    progress(format_args!("{:?}, in-process", command.get_program()));
    let output = command.args(files).stderr(Stdio::inherit()).output()?;
    ensure!(output.status.success(), "{:?} failed: {}", command.get_program(), output.status);
    let lines = String::from_utf8_lossy(&output.stdout).into_owned();
    let lines = lines.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    Ok(lines
        .filter_map(|line| Some((line["file"].as_str()?.to_owned(), line["nanoseconds"].as_f64()?)))
        .collect())
}

fn of(figures: &[(String, f64)], path: &Path) -> anyhow::Result<f64> {
    match figures.iter().find(|(file, _)| Path::new(file) == path) {
        Some((_, nanoseconds)) => Ok(*nanoseconds),
        None => bail!("{} was not measured", path.display()),
    }
}

/// A Template of Deployments and their Services, with so many references in each object.
fn written(directory: &Path, name: &str, objects: usize, references: usize) -> anyhow::Result<PathBuf> {
    let mut text = String::from(
        "apiVersion: template.openshift.io/v1\nkind: Template\nmetadata: {name: bench}\nlabels: {app: bench}\nparameters:\n- {name: NAME, value: shop}\n- {name: IMAGE, value: 'registry.example/shop:1.2'}\n- {name: REPLICAS, value: '3'}\nobjects:\n",
    );
    for object in 0..objects {
        let _ = write!(
            text,
            "- apiVersion: apps/v1\n  kind: Deployment\n  metadata:\n    name: ${{NAME}}-{object}\n  spec:\n    replicas: ${{{{REPLICAS}}}}\n    selector:\n      matchLabels:\n        app: ${{NAME}}-{object}\n    template:\n      metadata:\n        labels:\n          app: ${{NAME}}-{object}\n      spec:\n        containers:\n        - name: main\n          image: ${{IMAGE}}\n          env:\n"
        );
        for reference in 5..references.max(6) {
            let _ = write!(
                text,
                "          - name: VARIABLE_{reference}\n            value: before ${{NAME}} after\n"
            );
        }
    }
    let path = directory.join(format!("{name}.yaml"));
    std::fs::write(&path, text)?;
    Ok(path)
}
