//! Searching a large catalogue: alone, and while it is being written to.
//!
//! One caller asks one thing after the other, so a time is that of the work and not of a queue. Every query of a kind is
//! another one; each is asked as often as it takes to have a 99th percentile.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use serde_json::{Value, json};

use crate::generate;
use crate::git_http::GitRemote;
use crate::process;
use crate::report::{Goal, Section, progress};
use crate::repository::Repository;
use crate::server::{Server, get};
use crate::statistics::percentile;
use crate::syncing::Syncing;

/// The longest a catalogue may take to be indexed, and its reports to be made.
const PATIENCE: Duration = Duration::from_secs(45 * 60);

/// What three terms with facets should take at the 99th percentile.
const GOAL: Duration = Duration::from_millis(50);

/// Kinds of queries, each with several that are alike.
const KINDS: &[(&str, &[&str])] = &[
    (
        "one term",
        &[
            "redis",
            "postgresql",
            "database",
            "queue",
            "grafana",
            "backup",
            "monitoring",
            "kafka",
            "login",
            "wiki",
        ],
    ),
    (
        "three terms, facets",
        &[
            "relational+database+backup",
            "message+queue+workers",
            "metrics+exporter+prometheus",
            "object+storage+bucket",
            "single+sign+identity",
            "web+server+tls&kind=template",
            "cache+memory+sessions&tag=cache",
            "search+engine+cluster&has=StatefulSet",
            "mail+relay+applications&health=healthy",
            "graph+database+connected",
        ],
    ),
    (
        "a typo",
        &[
            "redsi",
            "postgersql",
            "grafanna",
            "prometeus",
            "rabitmq",
            "elasticserach",
            "wordpess",
            "jenkis",
            "kafak",
            "mongdob",
        ],
    ),
    ("a prefix", &["re", "post", "ela", "gra", "pro", "ka", "mo", "wo", "ng", "je"]),
];

/// Serves so many templates and asks `rounds` times for each query of each kind.
pub(crate) fn run(program: &Path, templates: usize, rounds: usize) -> anyhow::Result<Section> {
    let directory = tempfile::tempdir()?;
    progress(format_args!("making a catalogue of {templates} templates"));
    let catalogue = generate::catalogue(&directory.path().join("catalogue"), templates, 1, 1)?;
    let busy = Repository::create(&directory.path().join("busy.git"))?;
    let remote = GitRemote::serve(directory.path())?;
    let syncing = Syncing::start(busy)?;
    let mut registries = catalogue
        .iter()
        .map(|(name, generated)| format!("{name}={}", generated.repository.file_url()))
        .collect::<Vec<_>>();
    registries.push(format!("git.example/bench/busy={}", remote.url("busy.git")));
    let mut arguments = vec!["--poll", "24h"];
    registries.iter().for_each(|registry| arguments.extend(["--registry", registry]));
    let data = directory.path().join("data");
    let server = Server::start(program, &data, &arguments)?;
    progress("indexing it");
    // One template of the repository that gets commits is found too.
    wait(&server, "the catalogue to be indexed", |server| Ok(total(server)? > templates as u64))?;
    let indexed = server.started.elapsed();
    progress("waiting for its reports");
    wait(&server, "reports to be made", |server| Ok(metric(server, "formwork_reports_pending")? == 0.0))?;
    let reported = server.started.elapsed();
    let peak = process::memory(server.pid(), "VmHWM").context("the server's memory is not told")?;

    let alone = times(&server, rounds)?;
    server.stop()?;
    let mut polled = arguments.clone();
    polled[1] = "1s";
    let server = Server::start(program, &data, &polled)?;
    let ready = server.wait_ready()?;
    wait(&server, "the index to be open", |server| Ok(total(server)? > templates as u64))?;
    let commits = syncing.commits();
    let (publications, writing) = (generation(&server)?, times(&server, rounds)?);
    let (commits, publications) = (syncing.commits() - commits, generation(&server)? - publications);
    ensure!(publications > 0, "nothing was published while the catalogue was searched");
    let memory = process::memory(server.pid(), "VmRSS").context("the server's memory is not told")?;
    server.stop()?;

    let milliseconds = |time: Duration| format!("{:.2} ms", time.as_secs_f64() * 1e3);
    let (mut rows, mut figures) = (Vec::new(), Vec::new());
    for ((kind, alone), (_, writing)) in alone.iter().zip(&writing) {
        let four =
            [percentile(alone, 50), percentile(alone, 99), percentile(writing, 50), percentile(writing, 99)];
        rows.push(std::iter::once((*kind).to_owned()).chain(four.map(milliseconds)).collect());
        figures.push(json!({ "kind": kind, "milliseconds": four.map(|time| time.as_secs_f64() * 1e3) }));
    }
    let mebibytes = |bytes: u64| bytes / (1 << 20);
    let three = percentile(&alone[1].1, 99);
    Ok(Section {
        name: "search",
        about: format!(
            "{templates} templates in {} registries; each kind is 10 queries, {rounds} times each, one after the other, on a connection of its own; \
             while indexing: {commits} commits and {publications} publications meanwhile. Indexed in {:.0} s, reported on in {:.0} s; \
             {} MiB after a restart, {} MiB at the most; ready {:.2} s after a start.",
            catalogue.len(),
            indexed.as_secs_f64(),
            reported.as_secs_f64(),
            mebibytes(memory),
            mebibytes(peak),
            ready.as_secs_f64(),
        ),
        header: &["query", "p50", "p99", "p50 while indexing", "p99 while indexing"],
        rows,
        figures: json!({
            "templates": templates, "queries": figures, "commits": commits, "publications": publications,
            "indexed_seconds": indexed.as_secs_f64(), "reported_seconds": reported.as_secs_f64(),
            "ready_seconds": ready.as_secs_f64(), "memory_bytes": memory, "peak_bytes": peak,
        }),
        goals: vec![Goal {
            aim: format!("three terms with facets within {} ms at the 99th percentile", GOAL.as_millis()),
            found: milliseconds(three),
            met: three <= GOAL,
        }],
    })
}

type Times = Vec<(&'static str, Vec<Duration>)>;

/// The time of each request, by kind. The first round is not counted: it opens what the rest finds open.
fn times(server: &Server, rounds: usize) -> anyhow::Result<Times> {
    let mut all = Vec::new();
    for (kind, queries) in KINDS {
        progress(format_args!("{kind}"));
        let mut times = Vec::with_capacity(rounds * queries.len());
        for round in 0..=rounds {
            for query in *queries {
                let path = format!("/api/v1/search?q={query}");
                let started = Instant::now();
                let answer = get(&server.address, &path)?;
                let took = started.elapsed();
                ensure!(answer.status == 200, "{path}: {}", answer.status);
                if round > 0 {
                    times.push(took);
                } else {
                    let value = serde_json::from_slice::<Value>(&answer.body)?;
                    ensure!(value["total"].as_u64() > Some(0), "{path} finds nothing: it measures nothing");
                }
            }
        }
        all.push((*kind, times));
    }
    Ok(all)
}

fn total(server: &Server) -> anyhow::Result<u64> {
    let answer = get(&server.address, "/api/v1/search?q=&limit=1")?;
    let value = serde_json::from_slice::<Value>(&answer.body).unwrap_or_default();
    Ok(value["total"].as_u64().unwrap_or_default())
}

/// How many things were published.
fn generation(server: &Server) -> anyhow::Result<u64> {
    let answer = get(&server.address, "/api/v1/resolve?ref=git.example/bench/busy/app")?;
    let value = serde_json::from_slice::<Value>(&answer.body)?;
    let version = value["version"].as_str().and_then(|version| version.rsplit('.').next()?.parse().ok());
    version.context("the repository that gets commits has no version")
}

fn metric(server: &Server, name: &str) -> anyhow::Result<f64> {
    let text = String::from_utf8(get(&server.address, "/metrics")?.body)?;
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.parse().ok());
    line.with_context(|| format!("{name} is not among the metrics"))
}

fn wait(server: &Server, what: &str, done: impl Fn(&Server) -> anyhow::Result<bool>) -> anyhow::Result<()> {
    let started = Instant::now();
    while !done(server)? {
        if started.elapsed() > PATIENCE {
            bail!("waited {PATIENCE:?} in vain for {what}");
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    Ok(())
}
