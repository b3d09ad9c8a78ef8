//! From a push to its being served: a registry of many versions, of which one file is changed.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{bail, ensure};
use serde_json::json;

use crate::generate;
use crate::git_http::GitRemote;
use crate::index::REGISTRY;
use crate::report::{Goal, Section, progress, ratio};
use crate::repository::Commit;
use crate::server::{Answer, PATIENCE, Server, get, post};
use crate::statistics::percentile;

/// What the goal is: visible well under this.
const AIM: Duration = Duration::from_secs(2);

/// What hooks are told by; no secret of anybody.
const SECRET: &str = "of the bench alone, on the loopback interface";

/// For registries of several sizes: changes one file, pushes it, delivers the hook as GitLab does, and waits until the
/// file is served.
pub(crate) fn run(program: &Path, sizes: &[usize], rounds: usize) -> anyhow::Result<Section> {
    let (mut rows, mut figures, mut medians) = (Vec::new(), Vec::new(), Vec::new());
    let mut worst = Duration::ZERO;
    for &versions in sizes {
        let took = pushes(program, versions, rounds)?;
        let (half, most) = (percentile(&took, 50), percentile(&took, 99));
        let milliseconds = |took: Duration| format!("{:.1} ms", took.as_secs_f64() * 1e3);
        rows.push(vec![versions.to_string(), milliseconds(half), milliseconds(most)]);
        figures.push(json!({ "versions": versions, "p50_seconds": half.as_secs_f64(), "p99_seconds": most.as_secs_f64() }));
        medians.push(half.as_secs_f64());
        worst = worst.max(most);
    }
    let grows = medians.last().zip(medians.first()).map_or(1.0, |(last, first)| last / first);
    let share = sizes.last().zip(sizes.first()).map_or(1.0, |(last, first)| *last as f64 / *first as f64);
    Ok(Section {
        name: "push",
        about: format!(
            "One file changed and pushed to an http remote; from the delivery of the push hook until the new bytes are served. {rounds} pushes each."
        ),
        header: &["versions", "p50", "p99"],
        rows,
        figures: json!({ "by_size": figures }),
        goals: vec![
            Goal {
                aim: format!("p99 well under {} s", AIM.as_secs()),
                found: format!("{:.3} s at the most", worst.as_secs_f64()),
                met: worst < AIM / 2,
            },
            Goal {
                aim: "independent of the registry's size".to_owned(),
                found: format!(
                    "p50 grows {} times from the smallest to one {share:.0} times as large",
                    ratio(grows)
                ),
                met: grows < 2.0,
            },
        ],
    })
}

fn pushes(program: &Path, versions: usize, rounds: usize) -> anyhow::Result<Vec<Duration>> {
    let directory = tempfile::tempdir()?;
    progress(format_args!("making and indexing a registry of {versions} versions"));
    let mut generated = generate::generate(&directory.path().join("templates.git"), versions, 1)?;
    let remote = GitRemote::serve(directory.path())?;
    let data = directory.path().join("data");
    let secret = directory.path().join("secret");
    std::fs::write(&secret, SECRET)?;
    let secret = secret.display().to_string();
    let registry = format!("{REGISTRY}={}", remote.url("templates.git"));
    let arguments = ["--registry", &registry, "--poll", "24h", "--webhook-secret-file", &secret];
    let server = Server::start(program, &data, &arguments)?;
    server.wait_versions(REGISTRY, versions)?;
    // The examples are processed behind the publishing; a push is measured on a server at rest.
    std::thread::sleep(Duration::from_secs(2 + versions as u64 / 2_000));
    let places = generated.templates.iter().map(|template| {
        let version = template.versions.first().cloned().unwrap_or_default();
        (template.directory(), template.name.clone(), version)
    });
    let places = places.collect::<Vec<_>>();
    let mut took = Vec::with_capacity(rounds);
    for round in 0..rounds {
        // All over the registry, never twice the same.
        let (place, name, version) = &places[(round * 7919 + 3) % places.len()];
        let text = format!("# {name}\n\nPush {round}.\n");
        let directory = format!("{place}/{version}");
        generated
            .repository
            .commit(Commit::default().file(&format!("{directory}/README.md"), text.clone()))?;
        let file = format!("/api/v1/templates/{REGISTRY}/{place}:={version}/-/files/README.md");
        let pushed = Instant::now();
        let told = deliver(&server.address, round)?;
        let said = String::from_utf8_lossy(&told.body);
        ensure!(told.status == 202, "the hook gives {}: {said}", told.status);
        while get(&server.address, &file)?.body != text.as_bytes() {
            if pushed.elapsed() > PATIENCE {
                bail!("after {PATIENCE:?} {file} is not what was pushed");
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        took.push(pushed.elapsed());
    }
    server.stop()?;
    Ok(took)
}

/// Tells of a push, as GitLab does.
fn deliver(address: &str, round: usize) -> anyhow::Result<Answer> {
    let page = format!("https://{REGISTRY}");
    let payload = json!({
        "object_kind": "push",
        "ref": "refs/heads/main",
        "project": { "web_url": page, "git_http_url": format!("{page}.git"), "default_branch": "main" },
    });
    let headers = format!(
        "X-Gitlab-Event: Push Hook\r\nX-Gitlab-Token: {SECRET}\r\nX-Gitlab-Event-UUID: {:08}-0000-4000-8000-{round:012}\r\n",
        std::process::id()
    );
    post(address, "/webhooks/gitlab", &headers, &payload.to_string())
}
