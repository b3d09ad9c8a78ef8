//! A server without sockets or child processes: a catalogue from a few lines, the engine in this process.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use catalog::testing::Registry;
use catalog::{Catalog, Options};
use http::{HeaderMap, Method, Request, StatusCode};
use http_body_util::{BodyExt, Full};
use indexer::{
    RegistryConfig, RegistryStatus, State, StoreError, Stored, Submission, SyncError, SyncStatistics,
};
use schema::processing::{Step, Template};
use schema::reference::Home;
use schema::tree::Files;
use schema::{Kind, RegistryName};
use serde_json::Value;
use server::{AccessLog, BoxFuture, Front, Processor, RateLimits, Server, ServerConfig, Syncs};
use wire::operations::Workers;
use worker::python::PythonState;
use worker::{Job, WorkerError};

pub(crate) const REGISTRY: &str = "github.com/acme/templates";

pub(crate) const FRONTEND: &str = r#"apiVersion: v1
kind: Template
metadata:
  name: frontend
  annotations:
    description: Serves the shop.
    tags: web,shop
objects:
- apiVersion: v1
  kind: Service
  metadata:
    name: ${NAME}
  spec:
    ports:
    - port: ${{PORT}}
parameters:
- name: NAME
  description: What it is called.
  required: true
- name: PORT
  value: "80"
"#;

/// The engine, in this process.
pub(crate) struct InProcess;

impl Processor for InProcess {
    fn process(&self, job: Job) -> BoxFuture<'_, Result<Step, WorkerError>> {
        Box::pin(async move {
            let python = engine::NoInterpreter;
            Ok(engine::process(&job.template, &job.request, &job.provided, &job.budget, &python))
        })
    }

    fn can_process(&self, kind: Kind) -> bool {
        engine::can_process(kind, false)
    }

    fn load(&self) -> (Workers, u64) {
        (Workers { workers: 2, busy: 0, queued: 0 }, 0)
    }

    fn confinement(&self) -> (String, bool) {
        ("everything asked for is in force".to_owned(), true)
    }

    fn python(&self) -> Option<PythonState> {
        None
    }
}

/// Answers every job with what a function gives; counts them.
#[derive(Clone)]
pub(crate) struct Scripted {
    pub answer: fn(usize, &Job) -> Result<Step, WorkerError>,
    pub asked: Arc<AtomicUsize>,
}

impl Processor for Scripted {
    fn process(&self, job: Job) -> BoxFuture<'_, Result<Step, WorkerError>> {
        let answer = (self.answer)(self.asked.fetch_add(1, Ordering::Relaxed), &job);
        Box::pin(async move { answer })
    }

    fn can_process(&self, _: Kind) -> bool {
        true
    }

    fn load(&self) -> (Workers, u64) {
        (Workers::default(), 0)
    }

    fn confinement(&self) -> (String, bool) {
        ("files: missing".to_owned(), false)
    }

    fn python(&self) -> Option<PythonState> {
        None
    }
}

/// Every registry of the catalogue is up to date, and what somebody would store was erased: storing needs children.
struct UpToDate(Catalog);

impl Syncs for UpToDate {
    fn status(&self) -> Vec<RegistryStatus> {
        let names = self.0.snapshot().registries.keys().cloned().collect::<Vec<_>>();
        let ready =
            |name| RegistryStatus { name, state: State::Ready, last_success: Some(1_000), next: None };
        names.into_iter().map(ready).collect()
    }

    fn admit(
        &self,
        name: RegistryName,
        source: &str,
        revision: indexer::Revision,
    ) -> Result<RegistryConfig, indexer::SourceError> {
        let source = indexer::Source::parse_for_admin(source, indexer::Addresses::Public)?;
        Ok(RegistryConfig { revision, ..RegistryConfig::new(name, source) })
    }

    fn add(&self, registry: RegistryConfig) -> BoxFuture<'_, Result<(), SyncError>> {
        Box::pin(async move {
            let (source, visibility) = (registry.source.to_string(), registry.visibility);
            let origin = catalog::Origin::Admin;
            let added =
                self.0.add_registry_from(&registry.name, &source, visibility, origin, None, 1_000).await;
            added.unwrap();
            Ok(())
        })
    }

    fn remove(&self, name: RegistryName) -> BoxFuture<'_, Result<bool, SyncError>> {
        Box::pin(async move { Ok(self.0.remove_registry(&name, 2_000).await.unwrap()) })
    }

    fn statistics(&self) -> SyncStatistics {
        SyncStatistics::default()
    }

    fn sync_now(&self, name: &RegistryName) -> bool {
        name.as_str() == REGISTRY
    }

    fn store(&self, _: RegistryName, _: Submission, _: String) -> BoxFuture<'_, Result<Stored, StoreError>> {
        Box::pin(async { Err(StoreError::Erased) })
    }

    fn let_go(
        &self,
        _: RegistryName,
        _: Option<schema::CollectionName>,
        _: schema::TemplateName,
    ) -> BoxFuture<'_, Result<Stored, StoreError>> {
        Box::pin(async { Err(StoreError::Erased) })
    }
}

/// What is served.
pub(crate) struct App {
    pub front: Front,
    pub catalog: Catalog,
    _directory: tempfile::TempDir,
}

/// An answer, whole.
pub(crate) struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.body.to_vec()).unwrap()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {:?}", self.text()))
    }
}

/// The registry most tests read.
pub(crate) fn acme() -> Registry {
    let readme = "# Frontend\n\nSee [values](example.yaml), [gone](missing.md) and ![logo](logo.svg).\n";
    let hostile =
        "# Bad\n\n<script>alert(1)</script>\n\n[x](javascript:alert(1)) <img src=x onerror=alert(1)>\n";
    Registry::new(REGISTRY)
        .version("redis:v1.0.0", &[("redis.yaml", "apiVersion: v1\nkind: Template\nobjects: []\n")])
        .described("Keeps things in memory")
        .version("redis:v1.0.4", &[("redis.yaml", "apiVersion: v1\nkind: Template\nobjects: []\n# patched\n")])
        .described("Keeps things in memory, better")
        .version("redis:v1.1.0", &[("redis.yaml", "apiVersion: v1\nkind: Template\nobjects: []\n# more\n")])
        .version("redis:v2.0.0", &[("redis.yaml", "apiVersion: v1\nkind: Template\nobjects: []\n# most\n")])
        .version("redis:v2.0.1", &[("redis.yaml", "apiVersion: v1\nkind: Template\nobjects: []\n# wrong\n")])
        .withdrawn("It loses data.")
        .version(
            "web/frontend:v1.0.0",
            &[
                ("frontend.yaml", FRONTEND),
                ("README.md", readme),
                ("example.yaml", "parameters:\n  NAME: shop\n"),
                ("logo.svg", "<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>"),
                ("docs/page.html", "<script>alert(1)</script>"),
            ],
        )
        .version(
            "web/nginx:v1.0.0",
            &[
                ("nginx.jinja", "resources:\n- name: {{ env['name'] }}\n  type: Service\n  properties:\n    apiVersion: v1\n    kind: Service\n    metadata:\n      name: {{ properties['name'] }}\n"),
                ("README.md", hostile),
            ],
        )
}

/// The same inspections a scan would make.
pub(crate) fn inspected(mut registry: Registry) -> Registry {
    for version in &mut registry.publication.versions {
        let files = version
            .files
            .iter()
            .map(|file| (file.path.clone(), registry.blobs[&file.digest].clone()))
            .collect::<Files>();
        let template = Template {
            name: version.template.to_string(),
            kind: version.kind,
            entry: version.entry.clone(),
            files,
            jinja2: false,
        };
        let described = version.inspection.description.clone();
        let mut inspection = engine::inspect(&template);
        inspection.description = inspection.description.or(described);
        version.inspection = inspection.into();
    }
    registry
}

impl App {
    /// A server of the registry [`acme`].
    pub(crate) async fn new() -> App {
        App::with(vec![inspected(acme())], Box::new(InProcess), None).await
    }

    pub(crate) async fn with(
        registries: Vec<Registry>,
        processor: Box<dyn Processor>,
        public_url: Option<&str>,
    ) -> App {
        let directory = tempfile::tempdir().unwrap();
        let (catalog, _) = Catalog::open(directory.path(), Options::default()).await.unwrap();
        for registry in registries {
            registry.publish(&catalog).await;
        }
        let syncs = Box::new(UpToDate(catalog.clone()));
        let server = Server::bind(config(public_url), catalog.clone(), processor, syncs).await.unwrap();
        App { front: server.front(), catalog, _directory: directory }
    }

    /// The same catalogue behind a socket.
    pub(crate) async fn listening(&self, change: impl FnOnce(&mut ServerConfig)) -> Server {
        let mut config = config(None);
        change(&mut config);
        Server::bind(
            config,
            self.catalog.clone(),
            Box::new(InProcess),
            Box::new(UpToDate(self.catalog.clone())),
        )
        .await
        .unwrap()
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.send(Method::GET, path, &[], "").await
    }

    pub(crate) async fn post(&self, path: &str, json: &Value) -> Answer {
        self.send(Method::POST, path, &[("content-type", "application/json")], json.to_string()).await
    }

    pub(crate) async fn send(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<Bytes>,
    ) -> Answer {
        let mut request = Request::builder().method(method).uri(path).header("x-request-id", "test-1");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Full::new(body.into())).unwrap();
        let (parts, body) = self.front.answer(request, Some([127, 0, 0, 1].into())).await.into_parts();
        Answer {
            status: parts.status,
            headers: parts.headers,
            body: body.collect().await.unwrap().to_bytes(),
        }
    }
}

fn config(public_url: Option<&str>) -> ServerConfig {
    let home = Home { registry: REGISTRY.parse().unwrap(), collection: None };
    ServerConfig {
        public_url: public_url.map(str::to_owned),
        home: Some(home),
        access_log: AccessLog::Off,
        // Tests are many requests of one client; the one about limits sets them.
        limits: RateLimits { requests: None, search: None, process: None },
        ..ServerConfig::new(([127, 0, 0, 1], 0).into())
    }
}
