//! Requests over keep-alive HTTP, beside nginx serving the same bytes from disk.
//!
//! The server, its access log on, follows two repositories: the large one that is asked for, and one that gets a commit
//! every second and is looked at every second, so that publishing goes on all the time, in nginx's turns too. nginx
//! runs as Debian ships it (sendfile, tcp_nopush), with as many workers as there are cores, keep-alive without end,
//! and an access log that is written in batches, as ours is.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use serde_json::{Value, json};

use samples::Template;

use crate::docker_registry::{self, DockerRegistry};
use crate::generate;
use crate::git_http::GitRemote;
use crate::index::REGISTRY;
use crate::process;
use crate::report::{Goal, Section, progress, ratio};
use crate::repository::Repository;
use crate::server::{PATIENCE, Server, get};
use crate::statistics::median;
use crate::syncing::Syncing;
use crate::wrk::{self, Load};

/// Versions of the registry that is asked for.
const VERSIONS: usize = 1_000;

/// Different requests of each kind.
const PATHS: usize = 200;

/// The least share of nginx's rate, and the most times its p99.
const RATE_GOAL: f64 = 0.7;
const P99_GOAL: f64 = 1.5;

/// The least times of docker-registry's rate.
const DOCKER_GOAL: f64 = 20.0;

/// One kind of request: what is asked of each side.
struct Kind {
    name: &'static str,
    ours: Vec<String>,
    theirs: Vec<String>,
}

/// `None` when a tool is missing, after saying so.
pub(crate) fn run(program: &Path, seconds: u64, rounds: usize) -> anyhow::Result<Option<Section>> {
    let missing = ["nginx", "wrk", "git"].into_iter().filter(|tool| !installed(tool)).collect::<Vec<_>>();
    if !missing.is_empty() {
        progress(format_args!("SKIPPED: http: {} not installed", missing.join(" and ")));
        return Ok(None);
    }
    let directory = tempfile::tempdir()?;
    progress(format_args!("making a registry of {VERSIONS} versions"));
    let generated = generate::generate(&directory.path().join("templates.git"), VERSIONS, 1)?;
    let busy = Repository::create(&directory.path().join("busy.git"))?;
    let remote = GitRemote::serve(directory.path())?;
    let syncing = Syncing::start(busy)?;
    let log = directory.path().join("formwork.log");
    let registries = [("templates", REGISTRY), ("busy", "git.example/acme/busy")];
    let registries =
        registries.map(|(repository, name)| format!("{name}={}", remote.url(&format!("{repository}.git"))));
    let log_argument = log.display().to_string();
    let arguments = [
        "--registry",
        &registries[0],
        "--registry",
        &registries[1],
        "--poll",
        "1s",
        "--access-log",
        &log_argument,
    ];
    let server = Server::start(program, &directory.path().join("data"), &arguments)?;
    server.wait_versions(REGISTRY, VERSIONS)?;

    let files = directory.path().join("files");
    let kinds = kinds(&server, &files, &generated.templates)?;
    let nginx = Nginx::start(directory.path(), &files)?;
    let commits_before = syncing.commits();
    let docker = DockerRegistry::start(directory.path())?;
    let (mut rows, mut figures, mut rates, mut tails) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for kind in &kinds {
        same_bytes(kind, &server, &nginx)?;
        let scripts = [("ours", &kind.ours), ("theirs", &kind.theirs)].map(|(side, paths)| {
            let path = directory.path().join(format!("{side}.lua"));
            std::fs::write(&path, wrk::gets(paths)).map(|()| path)
        });
        let [ours, theirs] = scripts;
        let (ours, theirs) = (ours?, theirs?);
        // Warm: the first answers are made, the files are in the page cache.
        wrk::run(&ours, &server.address, 1, None)?;
        wrk::run(&theirs, &nginx.address, 1, None)?;
        let mut pairs = Vec::new();
        for round in 1..=rounds {
            progress(format_args!("{}: round {round} of {rounds}", kind.name));
            pairs.push((
                wrk::run(&ours, &server.address, seconds, None)?,
                wrk::run(&theirs, &nginx.address, seconds, None)?,
            ));
        }
        let middle = |of: fn(&(Load, Load)) -> f64| median(pairs.iter().map(of).collect());
        let by_rate = middle(|(ours, theirs)| ours.rate / theirs.rate);
        let by_tail = middle(|(ours, theirs)| ours.p99 / theirs.p99);
        rows.push(vec![
            kind.name.to_owned(),
            format!("{:.0}/s", middle(|(ours, _)| ours.rate)),
            format!("{:.0}/s", middle(|(_, theirs)| theirs.rate)),
            ratio(by_rate),
            format!("{:.2} ms", middle(|(ours, _)| ours.p99)),
            format!("{:.2} ms", middle(|(_, theirs)| theirs.p99)),
            ratio(by_tail),
        ]);
        let pairs = pairs.iter().map(|(ours, theirs)| json!({
            "formwork": { "rate": ours.rate, "p99_ms": ours.p99 }, "nginx": { "rate": theirs.rate, "p99_ms": theirs.p99 },
            "rate_ratio": ours.rate / theirs.rate, "p99_ratio": ours.p99 / theirs.p99,
        }));
        figures.push(json!({ "kind": kind.name, "rate_ratio": by_rate, "p99_ratio": by_tail, "pairs": pairs.collect::<Vec<_>>() }));
        rates.push((kind.name, by_rate));
        tails.push((kind.name, by_tail));
    }
    let manifest = directory.path().join("manifest.lua");
    std::fs::write(&manifest, wrk::get_with(docker_registry::PATH, &docker_registry::headers()))?;
    let mut times_docker = None;
    if let Some(docker) = &docker {
        let resolve = directory.path().join("resolve.lua");
        std::fs::write(&resolve, wrk::gets(&kinds[0].ours))?;
        let mut pairs = Vec::new();
        for round in 1..=rounds {
            progress(format_args!("docker-registry: round {round} of {rounds}"));
            pairs.push((
                wrk::run(&resolve, &server.address, seconds, None)?,
                wrk::run(&manifest, &docker.address, seconds, None)?,
            ));
        }
        let middle = |of: fn(&(Load, Load)) -> f64| median(pairs.iter().map(of).collect());
        let times = middle(|(ours, theirs)| ours.rate / theirs.rate);
        rows.push(vec![
            "resolve, beside docker-registry's manifest by tag".to_owned(),
            format!("{:.0}/s", middle(|(ours, _)| ours.rate)),
            format!("{:.0}/s", middle(|(_, theirs)| theirs.rate)),
            ratio(times),
            format!("{:.2} ms", middle(|(ours, _)| ours.p99)),
            format!("{:.2} ms", middle(|(_, theirs)| theirs.p99)),
            ratio(middle(|(ours, theirs)| ours.p99 / theirs.p99)),
        ]);
        times_docker = Some(times);
    } else {
        progress("SKIPPED: docker-registry is not installed");
    }
    let processed = processing(&server, directory.path(), &generated.templates, seconds)?;
    rows.push(vec![
        "process (one caller)".to_owned(),
        format!("{:.0}/s", processed.rate),
        "-".to_owned(),
        "-".to_owned(),
        format!("{:.2} ms", processed.p99),
        "-".to_owned(),
        "-".to_owned(),
    ]);
    let commits = syncing.commits() - commits_before;
    ensure!(commits > 0, "no commit was made meanwhile: the sync did not run");
    let logged = std::fs::metadata(&log).map_or(0, |metadata| metadata.len());
    ensure!(logged > 0, "the access log is empty");
    server.stop()?;
    let worst = |list: &[(&'static str, f64)], worse: fn(f64, f64) -> bool| {
        list.iter().copied().reduce(|a, b| if worse(b.1, a.1) { b } else { a }).unwrap_or(("", f64::NAN))
    };
    let (slowest, latest) = (worst(&rates, |a, b| a < b), worst(&tails, |a, b| a > b));
    Ok(Some(Section {
        name: "http",
        about: format!(
            "32 keep-alive connections, {PATHS} different requests in turn, {seconds} s a run, formwork and nginx by turns, median of {rounds} pairs; \
             access logs on; {commits} commits were fetched and published meanwhile."
        ),
        header: &["request", "formwork", "nginx", "ratio", "p99 formwork", "p99 nginx", "ratio"],
        rows,
        figures: json!({ "kinds": figures, "times_docker_registry": times_docker, "process": { "rate": processed.rate, "p99_ms": processed.p99 }, "commits": commits }),
        goals: times_docker
            .map(|times| Goal {
                aim: format!("resolving at least {DOCKER_GOAL} times as fast as docker-registry answers a manifest by tag"),
                found: ratio(times),
                met: times >= DOCKER_GOAL,
            })
            .into_iter()
            .chain([
            Goal {
                aim: format!("at least {RATE_GOAL} of nginx's rate"),
                found: format!("{:.2} at the least ({})", slowest.1, slowest.0),
                met: slowest.1 >= RATE_GOAL,
            },
            Goal {
                aim: format!("p99 within {P99_GOAL} of nginx's"),
                found: format!("{:.2} at the most ({})", latest.1, latest.0),
                met: latest.1 <= P99_GOAL,
            },
        ]).collect(),
    }))
}

fn installed(tool: &str) -> bool {
    Command::new(tool)
        .arg("-v")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok()
}

/// Asks for everything once and writes the answers where nginx finds them.
fn kinds(server: &Server, files: &Path, templates: &[Template]) -> anyhow::Result<Vec<Kind>> {
    let (mut resolve, mut by_reference, mut by_digest) = (Vec::new(), Vec::new(), Vec::new());
    for template in templates.iter().cycle().take(PATHS) {
        let reference = format!("{REGISTRY}/{}:v1", template.directory());
        let path = format!("/api/v1/resolve?ref={reference}");
        let answer = serde_json::from_slice::<Value>(&fetch(&server.address, &path)?)?;
        let file =
            answer["files"].as_array().into_iter().flatten().find(|file| file["path"] == template.entry);
        let url = file
            .and_then(|file| file["url"].as_str())
            .with_context(|| format!("{path} does not list {}", template.entry))?;
        resolve.push(path);
        by_reference.push(format!("/api/v1/templates/{reference}/-/files/{}", template.entry));
        by_digest.push(url.to_owned());
    }
    [("resolve", resolve), ("file by reference", by_reference), ("file by digest", by_digest)]
        .into_iter()
        .map(|(name, ours)| {
            let folder = name.replace(' ', "-");
            std::fs::create_dir_all(files.join(&folder))?;
            let theirs = ours.iter().enumerate().map(|(number, path)| {
                let theirs = format!("/{folder}/{number}");
                std::fs::write(files.join(&theirs[1..]), fetch(&server.address, path)?)?;
                Ok(theirs)
            });
            let theirs = theirs.collect::<anyhow::Result<_>>()?;
            Ok(Kind { name, ours, theirs })
        })
        .collect()
}

fn fetch(address: &str, path: &str) -> anyhow::Result<Vec<u8>> {
    let answer = get(address, path)?;
    ensure!(answer.status == 200, "{path}: {}", answer.status);
    Ok(answer.body)
}

fn same_bytes(kind: &Kind, server: &Server, nginx: &Nginx) -> anyhow::Result<()> {
    for (ours, theirs) in kind.ours.iter().zip(&kind.theirs) {
        ensure!(
            fetch(&server.address, ours)? == fetch(&nginx.address, theirs)?,
            "{ours} and {theirs} differ"
        );
    }
    Ok(())
}

/// Processing by one caller: the way to a worker and back, and the work. Reported only; nginx does nothing like it.
fn processing(
    server: &Server,
    directory: &Path,
    templates: &[Template],
    seconds: u64,
) -> anyhow::Result<Load> {
    progress("process");
    let template = templates
        .iter()
        .find(|template| template.kind == samples::Kind::Kubernetes)
        .context("no Kubernetes Template")?;
    let path = format!("/api/v1/templates/{REGISTRY}/{}:v1/-/process", template.directory());
    let script = directory.join("process.lua");
    std::fs::write(&script, wrk::posts(&path, "{\"parameters\":{\"NAME\":\"bench\"}}"))?;
    wrk::run(&script, &server.address, 1, Some(1))?;
    wrk::run(&script, &server.address, seconds, Some(1))
}

/// nginx with a directory of its own.
struct Nginx {
    child: Child,
    address: String,
}

impl Nginx {
    fn start(directory: &Path, files: &Path) -> anyhow::Result<Nginx> {
        let prefix = directory.join("nginx");
        std::fs::create_dir_all(&prefix)?;
        // The files belong to whoever runs this; workers of a root's nginx run as somebody else.
        let user = if writable_by_root_only() { "user root;\n" } else { "" };
        let port = std::net::TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port();
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let (prefix_text, files) = (prefix.display(), files.display());
        let configuration = format!(
            "{user}worker_processes {cores};\npid {prefix_text}/nginx.pid;\nerror_log {prefix_text}/error.log;\n\
             events {{ worker_connections 1024; }}\n\
             http {{\n  sendfile on;\n  tcp_nopush on;\n  keepalive_requests 1000000000;\n  default_type application/json;\n\
             \x20 access_log {prefix_text}/access.log combined buffer=256k flush=1s;\n\
             \x20 client_body_temp_path {prefix_text}/body;\n  proxy_temp_path {prefix_text}/proxy;\n  fastcgi_temp_path {prefix_text}/fastcgi;\n\
             \x20 uwsgi_temp_path {prefix_text}/uwsgi;\n  scgi_temp_path {prefix_text}/scgi;\n\
             \x20 server {{ listen 127.0.0.1:{port}; root {files}; }}\n}}\n"
        );
        let path = prefix.join("nginx.conf");
        std::fs::write(&path, configuration)?;
        let child = Command::new("nginx")
            .arg("-p")
            .arg(&prefix)
            .arg("-c")
            .arg(&path)
            .args(["-g", "daemon off;"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .context("nginx does not start")?;
        let nginx = Nginx { child, address: format!("127.0.0.1:{port}") };
        let started = std::time::Instant::now();
        while get(&nginx.address, "/").is_err() {
            if started.elapsed() > PATIENCE / 10 {
                let log = std::fs::read_to_string(prefix.join("error.log")).unwrap_or_default();
                bail!("nginx does not answer:\n{log}");
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        Ok(nginx)
    }
}

fn writable_by_root_only() -> bool {
    std::fs::read_to_string("/proc/self/status")
        .is_ok_and(|status| status.lines().any(|line| line.starts_with("Uid:\t0\t")))
}

impl Drop for Nginx {
    fn drop(&mut self) {
        // The master must end its workers itself.
        process::signal(self.child.id(), "TERM");
        let _ = self.child.wait();
    }
}
