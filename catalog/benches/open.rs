//! What a start and a publication cost with 10,000 versions remembered, and what reading costs then.
//!
//! `cargo bench -p catalog --features testing`. Times are this machine's; what matters is that opening stays well
//! under a second and that a publication of one change does not grow with the registry.

use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI64, Ordering};

use catalog::testing::Registry;
use catalog::{Catalog, Options, Query, Viewer};
use divan::Bencher;
use tempfile::TempDir;
use tokio::runtime::Runtime;

const TEMPLATES: usize = 1_000;
const VERSIONS: usize = 10;

fn main() {
    divan::main();
}

fn runtime() -> &'static Runtime {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    RUNTIME.get_or_init(|| Runtime::new().expect("a runtime starts"))
}

fn open(directory: &Path) -> Catalog {
    let opening = Catalog::open(directory, Options::default());
    runtime().block_on(opening).expect("the bench made it").0
}

/// A registry of 10,000 versions with four files and a dozen parameters each.
fn registry() -> Registry {
    let topics =
        ["redis", "nginx", "postgres", "kafka", "queue", "backup", "monitor", "gateway", "cache", "search"];
    let mut registry = Registry::new("github.com/acme/templates");
    for template in 0..TEMPLATES {
        let (first, second) = (topics[template % 10], topics[template / 10 % 10]);
        let name = format!("{first}-{second}-{template}");
        for version in 0..VERSIONS {
            let body = format!("kind: Template # {template} {version}\n{}", "parameters: []\n".repeat(40));
            let readme = format!(
                "# {name}\n\nA {first} for {second}, number {template}.\n{}",
                "It does what it says. ".repeat(40)
            );
            let schema = format!("{{\"of\": \"{template}\"}}");
            let (file, example) = (format!("{name}.yaml"), format!("values: {{size: {version}}}"));
            let files = [
                (&*file, &*body),
                ("README.md", &*readme),
                ("schema.json", &*schema),
                ("example.yaml", &*example),
            ];
            registry = registry.version(&format!("c{}/{name}:v1.0.{version}", template % 20), &files).about(|inspection| {
                inspection.title = Some(format!("{first} with {second}"));
                inspection.description = Some(format!("A {first} for {second}, as it is used for {template}"));
                inspection.object_kinds = vec!["Deployment".to_owned(), "Service".to_owned()];
                let parameter = |at| (format!("parameter{at}"), serde_json::json!({"type": "string", "description": format!("What {first} does at {at}")}));
                inspection.parameters = serde_json::json!({"type": "object", "properties": serde_json::Map::from_iter((0..12).map(parameter))});
            });
        }
    }
    registry
}

/// The data directory, made once.
fn data() -> &'static (TempDir, Registry) {
    static DATA: OnceLock<(TempDir, Registry)> = OnceLock::new();
    DATA.get_or_init(|| {
        let directory = tempfile::tempdir().expect("there is room for temporary files");
        let catalog = open(directory.path());
        let registry = registry();
        let published = runtime().block_on(registry.publish(&catalog));
        assert_eq!(published.added, TEMPLATES * VERSIONS);
        runtime().block_on(catalog.close());
        (directory, registry)
    })
}

/// Store, snapshots and index; bytes are read in the background and are not waited for.
#[divan::bench(sample_count = 10)]
fn open_10_000_versions(bencher: Bencher<'_, '_>) {
    let (directory, _) = data();
    bencher.bench_local(|| {
        let catalog = open(directory.path());
        runtime().block_on(catalog.close());
        assert_eq!(catalog.snapshot().counts(&Viewer::Operator).versions, TEMPLATES * VERSIONS);
    });
}

/// 10,000 versions from nothing: bytes, facts, pointers, index.
#[divan::bench(sample_count = 2)]
fn publish_10_000_versions(bencher: Bencher<'_, '_>) {
    let registry = registry();
    bencher.bench_local(|| {
        let directory = tempfile::tempdir().expect("there is room for temporary files");
        let catalog = open(directory.path());
        runtime().block_on(registry.publish(&catalog));
    });
}

/// One version more in a registry of 10,000, until the search finds it.
#[divan::bench(sample_count = 20)]
fn publish_one_change_among_10_000(bencher: Bencher<'_, '_>) {
    static AT: AtomicI64 = AtomicI64::new(1);
    let (_, registry) = data();
    let directory = tempfile::tempdir().expect("there is room for temporary files");
    let catalog = open(directory.path());
    runtime().block_on(registry.publish(&catalog));
    bencher
        .with_inputs(|| {
            let at = AT.fetch_add(1, Ordering::Relaxed);
            let mut next = registry.clone();
            next.blobs.clear();
            next.version(&format!("new:v1.0.{at}"), &[("new.yaml", &format!("new {at}"))])
                .at(1_000 + at, &at.to_string())
        })
        .bench_local_refs(|next| runtime().block_on(next.publish(&catalog)));
}

/// One reference.
#[divan::bench]
fn resolve(bencher: Bencher<'_, '_>) {
    let (directory, _) = data();
    let catalog = open(directory.path());
    let reference = "github.com/acme/templates/c0/redis-redis-0:v1.0".parse().expect("this is a reference");
    bencher.bench_local(|| {
        let snapshot = catalog.snapshot();
        snapshot.resolve(&Viewer::Anonymous, &reference, None).expect("it is there").version.digest
    });
    runtime().block_on(catalog.close());
}

/// One word, three words, a typo, the beginning of a word, everything.
#[divan::bench(args = ["redis", "cache gateway deployment", "postgers", "moni", ""])]
fn search(bencher: Bencher<'_, '_>, text: &str) {
    let (directory, _) = data();
    let catalog = open(directory.path());
    let query = Query::text(text);
    bencher.bench_local(|| catalog.search(&Viewer::Anonymous, &query).total);
    runtime().block_on(catalog.close());
}
