//! Starting with an index on disk.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, ensure};
use serde_json::json;

use crate::generate;
use crate::git_http::GitRemote;
use crate::index::REGISTRY;
use crate::process;
use crate::report::{Section, progress, seconds};
use crate::server::{Server, get};
use crate::statistics::median_seconds;

/// Indexes once, stops, and starts again: the time until `/readyz` says so and a reference resolves, and the memory.
pub(crate) fn run(program: &Path, versions: usize, rounds: usize) -> anyhow::Result<Section> {
    let directory = tempfile::tempdir()?;
    progress(format_args!("making and indexing a registry of {versions} versions"));
    let generated = generate::generate(&directory.path().join("templates.git"), versions, 1)?;
    let remote = GitRemote::serve(directory.path())?;
    let data = directory.path().join("data");
    let registry = format!("{REGISTRY}={}", remote.url("templates.git"));
    let arguments = ["--registry", registry.as_str()];
    let server = Server::start(program, &data, &arguments)?;
    let indexed = server.wait_versions(REGISTRY, versions)?;
    let peak = process::memory(server.pid(), "VmHWM").context("the server's memory is not told")?;
    server.stop()?;

    let first = generated.templates.first().context("a registry without a template")?;
    let resolve = format!("/api/v1/resolve?ref={REGISTRY}/{}", first.directory());
    let (mut ready, mut resolved, mut memory) = (Vec::new(), Vec::new(), Vec::new());
    for round in 1..=rounds {
        progress(format_args!("start {round} of {rounds}"));
        let server = Server::start(program, &data, &arguments)?;
        ready.push(server.wait_ready()?);
        let status = get(&server.address, &resolve)?.status;
        resolved.push(server.started.elapsed());
        ensure!(status == 200, "ready, and a reference that was indexed gives {status}");
        // After the first look at the repository, which finds nothing new.
        std::thread::sleep(Duration::from_secs(2));
        memory
            .push(process::memory(server.pid(), "VmRSS").context("the server's memory is not told")? as f64);
        server.stop()?;
    }
    let (ready, resolved) = (median_seconds(&ready), median_seconds(&resolved));
    let memory = crate::statistics::median(memory);
    let megabytes = |bytes: f64| format!("{:.0} MiB", bytes / f64::from(1 << 20));
    Ok(Section {
        name: "start",
        about: format!("Start to ready with {versions} versions indexed before. Median of {rounds}."),
        header: &["what", "figure"],
        rows: vec![
            vec!["start until /readyz is 200".to_owned(), seconds(ready)],
            vec!["start until the first reference is resolved".to_owned(), seconds(resolved)],
            vec!["memory two seconds later".to_owned(), megabytes(memory)],
            vec![
                format!("for comparison: indexing all {versions} from nothing"),
                seconds(indexed.as_secs_f64()),
            ],
            vec!["most memory while indexing".to_owned(), megabytes(peak as f64)],
        ],
        figures: json!({
            "versions": versions, "ready_seconds": ready, "resolved_seconds": resolved, "memory_bytes": memory,
            "index_seconds": indexed.as_secs_f64(), "index_peak_bytes": peak,
        }),
        goals: Vec::new(),
    })
}
