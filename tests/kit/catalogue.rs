//! A large catalogue, served from directories: thousands of templates in registries of several owners.

use std::path::Path;
use std::time::{Duration, Instant};

use super::Server;

/// The longest that indexing a large catalogue may take: minutes, on a machine that does other things too.
const PATIENCE: Duration = Duration::from_secs(300);

/// Writes a catalogue of so many templates below a directory and serves it; returns when all of it is found.
///
/// # Panics
/// When it is not indexed in five minutes.
pub(crate) fn serve(directory: &Path, templates: usize) -> Server {
    let mut arguments = Vec::new();
    for registry in samples::catalogue(templates, 3, 1) {
        let root = directory.join(registry.name.replace('/', "-"));
        for template in &registry.templates {
            for version in &template.versions {
                let place = root.join(template.directory()).join(version);
                for (path, text) in template.files(version) {
                    let path = place.join(path);
                    std::fs::create_dir_all(path.parent().expect("files are in a version")).unwrap();
                    std::fs::write(path, text).unwrap();
                }
            }
        }
        std::fs::write(root.join("registry.yaml"), registry.file()).unwrap();
        arguments.extend(["--registry".to_owned(), format!("{}={}", registry.name, root.display())]);
    }
    let arguments = arguments.iter().map(String::as_str).collect::<Vec<_>>();
    let server = Server::launch(&arguments);
    let started = Instant::now();
    loop {
        let found = server.try_get("/api/v1/search?q=&limit=1").ok().filter(|answer| answer.status == 200);
        let found = found.and_then(|answer| answer.json()["total"].as_u64()).unwrap_or_default();
        if found == templates as u64 {
            return server;
        }
        assert!(
            started.elapsed() < PATIENCE,
            "after {PATIENCE:?} only {found} templates of {templates} are found"
        );
        std::thread::sleep(Duration::from_millis(200));
    }
}
