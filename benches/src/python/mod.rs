//! Deployment Manager templates beside the original's way: one `python3` process with PyYAML and Jinja2 an expansion.
//!
//! Ours is asked over HTTP, so confinement, hand-over and the answer are in its figures; the peer is started, imports
//! and prints. The peer script is ours and does less than the original did.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use serde_json::{Value, json};

use crate::process;
use crate::report::{Goal, Section, progress};
use crate::server::{PATIENCE, Server, get, post};
use crate::statistics::{median_seconds, percentile};

const REGISTRY: &str = "localhost/bench/templates";
const PEER: &str = include_str!("peer.py");

/// How often, each way.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Counts {
    /// Expansions by ours, of each kind
    #[arg(long, default_value_t = 500)]
    ours: usize,
    /// Expansions by the peer, of each kind
    #[arg(long, default_value_t = 30)]
    peers: usize,
    /// The peer's interpreter; it needs PyYAML and Jinja2
    #[arg(long, default_value = "python3")]
    python: PathBuf,
}

impl Default for Counts {
    fn default() -> Self {
        Counts { ours: 500, peers: 30, python: "python3".into() }
    }
}

/// A template to expand, with what it uses.
struct Kind {
    name: &'static str,
    about: &'static str,
    entry: &'static str,
    files: &'static [(&'static str, &'static str)],
    /// How many times faster than the peer it is to be, if that was aimed at.
    aim: Option<f64>,
}

const JINJA: &str = "resources:
{% for i in range(properties['count']) %}
- name: {{ env['name'] }}-{{ i }}
  type: vm
  properties:
    zone: {{ properties['zone'] }}
    disks: [{name: boot-{{ i }}, size: {{ 10 + i }}}]
    metadata: {% if properties['labels'] %}{{ properties['labels'] }}{% else %}{}{% endif %}
{% endfor %}
";

const PYTHON: &str = "import yaml

def GenerateConfig(context):
  p = context.properties
  resources = []
  for i in range(p['count']):
    resources.append({
        'name': '%s-%d' % (context.env['name'], i),
        'type': 'vm',
        'properties': {'zone': p['zone'], 'disks': [{'name': 'boot-%d' % i, 'size': 10 + i}], 'metadata': p['labels']},
    })
  return yaml.dump({'resources': resources})
";

const PYTHON_DICT: &str = "def GenerateConfig(context):
  p = context.properties
  return {'resources': [{
      'name': '%s-%d' % (context.env['name'], i), 'type': 'vm', 'properties': {'zone': p['zone'], 'metadata': p['labels']},
  } for i in range(p['count'])]}
";

const NESTED: &str = "def GenerateConfig(context):
  p = context.properties
  return {'resources': [
      {'name': 'part-%d' % i, 'type': 'part.py', 'properties': p} for i in range(10)
  ]}
";

const KINDS: &[Kind] = &[
    Kind {
        name: "jinja",
        about: "a template in Jinja",
        entry: "jinja.jinja",
        files: &[("jinja.jinja", JINJA)],
        aim: Some(100.0),
    },
    Kind {
        name: "py",
        about: "a template in Python that returns a map",
        entry: "py.py",
        files: &[("py.py", PYTHON_DICT)],
        aim: Some(25.0),
    },
    Kind {
        name: "py-yaml",
        about: "the same with PyYAML's dump",
        entry: "py-yaml.py",
        files: &[("py-yaml.py", PYTHON)],
        aim: None,
    },
    Kind {
        name: "nested",
        about: "eleven templates in Python in one expansion",
        entry: "nested.py",
        files: &[("nested.py", NESTED), ("part.py", PYTHON_DICT)],
        aim: None,
    },
];

fn properties() -> Value {
    json!({ "count": 5, "zone": "east", "labels": { "app": "bench", "tier": "front" } })
}

/// Measures everything; nothing where the peer cannot be run.
pub(crate) fn run(program: &Path, counts: &Counts) -> anyhow::Result<Option<Section>> {
    let can = Command::new(&counts.python).args(["-c", "import yaml, jinja2"]).stderr(Stdio::null()).status();
    if !can.is_ok_and(|status| status.success()) {
        progress(format_args!("SKIPPED python: {} has no PyYAML and Jinja2", counts.python.display()));
        return Ok(None);
    }
    let directory = tempfile::tempdir()?;
    let root = directory.path().join("templates");
    for kind in KINDS {
        let version = root.join(kind.name).join("v1.0.0");
        std::fs::create_dir_all(&version)?;
        for (name, text) in kind.files {
            std::fs::write(version.join(name), text)?;
        }
        let resource =
            json!({ "resources": [{ "name": "it", "type": kind.entry, "properties": properties() }] });
        std::fs::write(directory.path().join(format!("{}.yaml", kind.name)), resource.to_string())?;
    }
    let peer = directory.path().join("peer.py");
    std::fs::write(&peer, PEER)?;

    let cores = std::thread::available_parallelism()?.get();
    // Nobody has more than half of the workers.
    let workers = (2 * cores).to_string();
    let registry = format!("{REGISTRY}={}", root.display());
    let arguments = ["--workers", workers.as_str(), "--registry", registry.as_str()];
    let data = directory.path().join("data");
    let server = Server::start(program, &data, &arguments)?;
    server.wait_versions(REGISTRY, KINDS.len())?;
    let compiled = python_ready(&server)?;
    server.stop()?;
    let server = Server::start(program, &data, &arguments)?;
    server.wait_versions(REGISTRY, KINDS.len())?;
    python_ready(&server)?;

    let (mut rows, mut figures, mut goals) = (Vec::new(), Vec::new(), Vec::new());
    for kind in KINDS {
        progress(format_args!("{}: {}", kind.name, kind.about));
        let body = json!({ "values": { "properties": properties() } }).to_string();
        let path = format!("/api/v1/templates/{REGISTRY}/{}:v1.0.0/-/process", kind.name);
        let ask = || {
            let began = Instant::now();
            let answer = post(&server.address, &path, "", &body)?;
            ensure!(answer.status == 200, "{}: {}", kind.name, String::from_utf8_lossy(&answer.body));
            Ok(began.elapsed())
        };
        let cold = ask()?;
        let warm = (0..counts.ours).map(|_| ask()).collect::<anyhow::Result<Vec<_>>>()?;
        let all = throughput(cores, counts.ours * cores, &ask)?;
        let expand = || expand_by_peer(&counts.python, &peer, directory.path(), &root, kind);
        let theirs = (0..counts.peers).map(|_| expand()).collect::<anyhow::Result<Vec<_>>>()?;
        let theirs_all = throughput(cores, counts.peers * cores, &expand)?;
        let (ours, peer) = (median_seconds(&warm), median_seconds(&theirs));
        let (times, times_all) = (peer / ours, all / theirs_all);
        rows.push(vec![
            kind.name.to_owned(),
            milliseconds(cold.as_secs_f64()),
            milliseconds(ours),
            milliseconds(percentile(&warm, 90).as_secs_f64()),
            milliseconds(peer),
            format!("{times:.0}x"),
            format!("{all:.0}/s"),
            format!("{theirs_all:.0}/s"),
            format!("{times_all:.0}x"),
        ]);
        figures.push(json!({
            "kind": kind.name, "cold_seconds": cold.as_secs_f64(), "warm_seconds": ours, "peer_seconds": peer,
            "per_second": all, "peer_per_second": theirs_all,
        }));
        if let Some(aim) = kind.aim {
            goals.push(Goal {
                aim: format!("warm {} end to end at least {aim:.0} times the original's way", kind.name),
                found: format!("{times:.0} times, {times_all:.0} over all cores"),
                met: times >= aim,
            });
        }
    }
    let memory = worker_memory(server.pid());
    server.stop()?;
    rows.push(note(format!("compiled once for a machine: {:.1} s after the start", compiled.as_secs_f64())));
    rows.push(note(format!(
        "a worker with Python: {:.0} MiB resident, most of it shared",
        memory / f64::from(1 << 20)
    )));
    Ok(Some(Section {
        name: "python",
        about: format!(
            "Expansions over HTTP, beside one python3 process each with PyYAML and Jinja2; {cores} cores. Medians of {} and {}.",
            counts.ours, counts.peers
        ),
        header: &["kind", "first", "warm", "p90", "peer", "ratio", "all cores", "peer", "ratio"],
        rows,
        figures: json!({ "kinds": figures, "compile_seconds": compiled.as_secs_f64(), "worker_bytes": memory }),
        goals,
    }))
}

fn note(text: String) -> Vec<String> {
    let mut row = vec![String::new(); 9];
    row[0] = text;
    row
}

fn milliseconds(seconds: f64) -> String {
    format!("{:.2} ms", seconds * 1e3)
}

/// Waits until the server says that Python can be used.
fn python_ready(server: &Server) -> anyhow::Result<Duration> {
    loop {
        let answer = serde_json::from_slice::<Value>(&get(&server.address, "/readyz")?.body)?;
        let checks = answer["checks"].as_array().context("/readyz has no checks")?;
        let python = checks
            .iter()
            .find(|check| check["name"] == "python")
            .context("/readyz says nothing of Python")?;
        if python["ok"] == true && python["detail"].as_str().is_some_and(|detail| detail.contains("compiled"))
        {
            return Ok(server.started.elapsed());
        }
        if server.started.elapsed() > PATIENCE {
            bail!("Python does not become ready: {python}");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// So many in all from so many threads: how many a second.
fn throughput(
    threads: usize,
    total: usize,
    once: &(impl Fn() -> anyhow::Result<Duration> + Sync),
) -> anyhow::Result<f64> {
    let next = AtomicUsize::new(0);
    let began = Instant::now();
    std::thread::scope(|scope| {
        let work = || {
            while next.fetch_add(1, Ordering::Relaxed) < total {
                once()?;
            }
            Ok(())
        };
        let threads = (0..threads).map(|_| scope.spawn(work)).collect::<Vec<_>>();
        threads
            .into_iter()
            .try_for_each(|thread| thread.join().unwrap_or_else(|_| bail!("a thread panicked")))
    })?;
    Ok(total as f64 / began.elapsed().as_secs_f64())
}

fn expand_by_peer(
    python: &Path,
    peer: &Path,
    directory: &Path,
    root: &Path,
    kind: &Kind,
) -> anyhow::Result<Duration> {
    let version = root.join(kind.name).join("v1.0.0");
    let began = Instant::now();
    let output = Command::new(python)
        .arg(peer)
        .arg(directory.join(format!("{}.yaml", kind.name)))
        .args(kind.files.iter().map(|(name, _)| version.join(name)))
        .output()
        .with_context(|| format!("{} does not start", python.display()))?;
    let took = began.elapsed();
    ensure!(output.status.success(), "the peer fails: {}", String::from_utf8_lossy(&output.stderr));
    ensure!(output.stdout.starts_with(b"resources:"), "the peer printed something else");
    Ok(took)
}

/// The largest worker there is, in bytes: one with Python.
fn worker_memory(server: u32) -> f64 {
    let workers = process::children(server, "__worker");
    let resident = workers.into_iter().filter_map(|pid| process::memory(pid, "VmRSS"));
    resident.max().unwrap_or_default() as f64
}
