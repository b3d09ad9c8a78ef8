//! Resolving a reference to templates of few and of very many versions: it should make no difference.

use std::path::Path;

use anyhow::ensure;
use serde_json::json;

use crate::report::{Goal, Section, progress, ratio};
use crate::repository::{Commit, Repository};
use crate::server::{Server, get};
use crate::wrk;

const REGISTRY: &str = "git.example/bench/versions";

/// The least share of the rate with few versions that the rate with many should have.
const GOAL: f64 = 0.8;

/// Versions in one commit.
const STEP: usize = 1_000;

/// A template for each of these numbers of versions, in one registry; each is loaded for some seconds by turns.
pub(crate) fn run(program: &Path, counts: &[usize], seconds: u64, rounds: usize) -> anyhow::Result<Section> {
    let directory = tempfile::tempdir()?;
    progress(format_args!("making templates of {counts:?} versions"));
    let mut repository = Repository::create(&directory.path().join("versions.git"))?;
    for count in counts {
        for from in (0..*count).step_by(STEP) {
            let commit = (from..(from + STEP).min(*count)).fold(Commit::default(), |commit, number| {
                let place = format!("app-{count}/v1.{}.{}", number / 100, number % 100);
                let text = format!(
                    "apiVersion: v1\nkind: Template\nmetadata: {{name: app-{count}}}\nobjects:\n- {{apiVersion: v1, kind: ConfigMap, metadata: {{name: app}}, data: {{number: \"{number}\"}}}}\n"
                );
                commit
                    .file(&format!("{place}/app-{count}.yaml"), text)
                    .file(&format!("{place}/example.yaml"), "parameters: {}\n")
            });
            repository.commit(commit)?;
        }
    }
    repository.repack()?;
    let registry = format!("{REGISTRY}={}", repository.file_url());
    let server =
        Server::start(program, &directory.path().join("data"), &["--registry", &registry, "--poll", "24h"])?;
    server.wait_versions(REGISTRY, counts.iter().sum())?;
    let path = |count: usize| format!("/api/v1/resolve?ref={REGISTRY}/app-{count}:v1");
    let mut loads = vec![Vec::new(); counts.len()];
    for round in 1..=rounds {
        for (count, loads) in counts.iter().zip(&mut loads) {
            progress(format_args!("{count} versions: round {round} of {rounds}"));
            ensure!(get(&server.address, &path(*count))?.status == 200, "{} is not resolved", path(*count));
            let script = directory.path().join("resolve.lua");
            std::fs::write(&script, wrk::gets(&[path(*count)]))?;
            loads.push(wrk::run(&script, &server.address, seconds, None)?);
        }
    }
    server.stop()?;
    let middle = |loads: &[wrk::Load], of: fn(&wrk::Load) -> f64| {
        crate::statistics::median(loads.iter().map(of).collect())
    };
    let figures = counts
        .iter()
        .zip(&loads)
        .map(|(count, loads)| (*count, middle(loads, |load| load.rate), middle(loads, |load| load.p99)));
    let figures = figures.collect::<Vec<_>>();
    let first = figures.first().map_or(f64::NAN, |(_, rate, _)| *rate);
    let least = figures.iter().map(|(_, rate, _)| rate / first).fold(f64::INFINITY, f64::min);
    Ok(Section {
        name: "versions",
        about: format!(
            "`:v1` of templates with as many versions, 32 keep-alive connections, {seconds} s a run, by turns, median of {rounds}."
        ),
        header: &["versions", "rate", "p99", "rate / first"],
        rows: figures
            .iter()
            .map(|(count, rate, p99)| {
                vec![count.to_string(), format!("{rate:.0}/s"), format!("{p99:.2} ms"), ratio(rate / first)]
            })
            .collect(),
        figures: json!(
            figures
                .iter()
                .map(|(count, rate, p99)| json!({ "versions": count, "rate": rate, "p99_ms": p99 }))
                .collect::<Vec<_>>()
        ),
        goals: vec![Goal {
            aim: format!("at least {GOAL} of the rate, however many versions"),
            found: format!("{least:.2} at the least"),
            met: least >= GOAL,
        }],
    })
}
