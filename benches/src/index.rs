//! Indexing, beside what Git itself needs to bring the same bytes.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use serde_json::json;

use crate::generate::{self, Generated};
use crate::git_http::GitRemote;
use crate::report::{Section, progress, ratio, seconds};
use crate::repository::git;
use crate::server::{Server, get};
use crate::statistics::{median, median_seconds};

pub(crate) const REGISTRY: &str = "git.example/acme/templates";

/// From the start of `formwork serve` on an empty data directory until every version is served; and Git's clone plus
/// the reading of every blob, by the same transport, in turn.
pub(crate) fn run(program: &Path, versions: usize, rounds: usize) -> anyhow::Result<Section> {
    let directory = tempfile::tempdir()?;
    progress(format_args!("making a registry of {versions} versions"));
    let generated = generate::generate(&directory.path().join("templates.git"), versions, 1)?;
    let remote = GitRemote::serve(directory.path())?;
    let (mut rows, mut figures) = (Vec::new(), Vec::new());
    for (transport, url) in [("file", generated.repository.file_url()), ("http", remote.url("templates.git"))]
    {
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for round in 1..=rounds {
            progress(format_args!("{transport}: round {round} of {rounds}"));
            theirs.push(clone_and_read(&url)?);
            ours.push(index(program, &url, &generated, versions, round == 1)?);
        }
        let pairs = ours.iter().zip(&theirs).map(|(ours, theirs)| ours.as_secs_f64() / theirs.as_secs_f64());
        let by = median(pairs.collect());
        let (ours, theirs) = (median_seconds(&ours), median_seconds(&theirs));
        rows.push(vec![transport.to_owned(), seconds(ours), seconds(theirs), ratio(by)]);
        figures.push(
            json!({ "transport": transport, "formwork_seconds": ours, "git_seconds": theirs, "ratio": by }),
        );
    }
    Ok(Section {
        name: "index",
        about: format!(
            "Start on an empty directory until all {versions} versions are served; git: `clone --bare`, then every blob by `cat-file --batch`. Median of {rounds}."
        ),
        header: &["source", "formwork", "git", "formwork / git"],
        rows,
        figures: json!({ "versions": versions, "by_transport": figures }),
        goals: Vec::new(),
    })
}

fn index(
    program: &Path,
    url: &str,
    generated: &Generated,
    versions: usize,
    verify: bool,
) -> anyhow::Result<Duration> {
    let data = tempfile::tempdir()?;
    let server = Server::start(program, data.path(), &["--registry", &format!("{REGISTRY}={url}")])?;
    let took = server.wait_versions(REGISTRY, versions)?;
    // "Served" must be true of each; once is enough, and outside the time.
    if verify {
        for template in &generated.templates {
            for version in &template.versions {
                let reference = format!("{REGISTRY}/{}:={version}", template.directory());
                let status = get(&server.address, &format!("/api/v1/resolve?ref={reference}"))?.status;
                ensure!(status == 200, "{reference} is not served: {status}");
            }
        }
    }
    server.stop()?;
    Ok(took)
}

fn clone_and_read(url: &str) -> anyhow::Result<Duration> {
    let directory = tempfile::tempdir()?;
    let clone = directory.path().join("clone.git");
    let started = Instant::now();
    let status =
        git().args(["clone", "--bare", "--quiet", url]).arg(&clone).status().context("git does not start")?;
    ensure!(status.success(), "git clone ended with {status}");
    let listing = git().arg("--git-dir").arg(&clone).args(["ls-tree", "-r", "HEAD"]).output()?;
    let ids = String::from_utf8_lossy(&listing.stdout);
    let ids =
        ids.lines().filter_map(|line| line.split_whitespace().nth(2)).map(str::to_owned).collect::<Vec<_>>();
    let mut batch = git()
        .arg("--git-dir")
        .arg(&clone)
        .args(["cat-file", "--batch", "--buffer"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut input = batch.stdin.take().context("standard input is piped")?;
    let asked = ids.clone();
    let asker = std::thread::spawn(move || asked.iter().try_for_each(|id| writeln!(input, "{id}")));
    let mut output = BufReader::new(batch.stdout.take().context("standard output is piped")?);
    let mut content = Vec::new();
    for id in &ids {
        let mut head = String::new();
        output.read_line(&mut head)?;
        let size = head.split_whitespace().nth(2).and_then(|size| size.parse::<u64>().ok());
        let size = size.with_context(|| format!("git has no blob {id}: {head}"))?;
        content.clear();
        ensure!(
            (&mut output).take(size + 1).read_to_end(&mut content)? as u64 == size + 1,
            "the blob {id} is cut off"
        );
    }
    asker.join().ok().context("the asking thread ended")??;
    ensure!(batch.wait()?.success(), "git cat-file failed");
    Ok(started.elapsed())
}
