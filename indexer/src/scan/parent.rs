//! The parent's side: starts the child, stores contents ahead in small batches, gathers what is to be published.

use std::collections::HashSet;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use catalog::{Catalog, RegistrySnapshot, WriteError};
use schema::Digest;
use schema::layout::Collection;
use schema::registry_file::RegistryFile;
use schema::{CollectionName, Finding, TemplateName, Version};
use tokio::task::JoinHandle;
use worker::confine::{NETWORK_READABLE, PROGRAMS_READABLE};
use worker::{Child, ChildConfig, Reach};

use super::protocol::{Job, LARGEST_FRAME, Message, Scanned, Submission, Task, Walked, decode};
use crate::history::Bringer;
use crate::publish;
use crate::schedule::{SyncError, Turn};
use crate::source::{Scheme, Source};

/// Contents are stored when this many bytes have come together: small enough for a short transaction.
const BATCH_BYTES: usize = 4 << 20;

/// Or this many contents.
const BATCH_COUNT: usize = 512;

/// A fetch of which nothing is heard for this long waits for its server: somebody else may have its turn.
const PATIENCE: Duration = Duration::from_secs(3);

/// How to start a scan child.
#[derive(Debug, Clone)]
pub(crate) struct ScanConfig {
    pub(crate) program: PathBuf,
    pub(crate) arguments: Vec<OsString>,
    pub(crate) memory: u64,
    pub(crate) wall: Duration,
    /// Bytes of any file it writes into the mirror.
    pub(crate) file_size: u64,
}

/// What a scan gave.
pub(crate) enum Scan {
    /// The commit that is published is still the head.
    Unchanged,
    /// Everything there is at a commit; contents are in the store.
    Found(Box<Tree>),
}

/// Everything a scan found.
#[derive(Default)]
pub(crate) struct Tree {
    pub(crate) commit: Option<String>,
    pub(crate) registry_file: RegistryFile,
    pub(crate) collections: Vec<Collection>,
    pub(crate) versions: Vec<Scanned>,
    /// Versions whose content was known by tree id.
    pub(crate) known: Vec<KnownVersion>,
    pub(crate) findings: Vec<Finding>,
    /// The template directories that were walked; `None`: all there is.
    pub(crate) walked: Option<Vec<Walked>>,
    pub(crate) brought: Vec<Bringer>,
    /// Whether the branch does not follow from what was published last.
    pub(crate) rewritten: bool,
}

/// A version that was not read again.
pub(crate) struct KnownVersion {
    pub(crate) collection: Option<CollectionName>,
    pub(crate) template: TemplateName,
    pub(crate) version: Version,
    pub(crate) path: String,
}

/// Runs a job in a child. `turn` is given back while the child waits for a server that is slow to answer, and taken
/// again before anything is scanned. `count` is told how many versions have come in so far.
pub(crate) async fn scan(
    config: &ScanConfig,
    catalog: &Catalog,
    job: Job,
    before: Option<&RegistrySnapshot>,
    turn: &mut Turn,
    count: impl Fn(usize),
) -> Result<Scan, SyncError> {
    let mut child = start(child_config(config, &job), &Task::Scan(Box::new(job))).await?;
    let first = fetched(&mut child, turn).await?;
    gather(child, first, catalog, before, count).await
}

/// Reads one version that somebody stores here, in a child that reaches nothing.
pub(crate) async fn read(
    config: &ScanConfig,
    catalog: &Catalog,
    submission: Submission,
    erased: HashSet<Digest>,
) -> Result<Tree, SyncError> {
    let mut child = start(confined(config), &Task::Read(submission, erased)).await?;
    let first = child.receive(LARGEST_FRAME).await?;
    match gather(child, first, catalog, None, |_| ()).await? {
        Scan::Found(tree) => Ok(*tree),
        Scan::Unchanged => Err(SyncError::new("the child says that what is new is unchanged")),
    }
}

/// A child that knows what to do.
async fn start(config: ChildConfig, task: &Task) -> Result<Child, SyncError> {
    let task = serde_json::to_vec(task)
        .map_err(|error| SyncError::new(format!("the task could not be written: {error}")))?;
    let mut child = Child::start(config).await?;
    child.send(&task).await?;
    Ok(child)
}

/// Takes what a child tells until it is done.
async fn gather(
    mut child: Child,
    first: Option<Vec<u8>>,
    catalog: &Catalog,
    before: Option<&RegistrySnapshot>,
    count: impl Fn(usize),
) -> Result<Scan, SyncError> {
    let mut tree = Tree::default();
    let mut batch = Batch { catalog, contents: Vec::new(), bytes: 0, storing: None };
    let mut seen = 0;
    let mut first = Some(first);
    while let Some(frame) = match first.take() {
        Some(frame) => frame,
        None => child.receive(LARGEST_FRAME).await?,
    } {
        for message in decode(&frame) {
            let (message, contents) = message.map_err(SyncError::new)?;
            match message {
                Message::Fetched { commit } => tree.commit = commit,
                Message::Unchanged => return Ok(Scan::Unchanged),
                Message::Walks(walked) => {
                    let known = publish::known(before, walked.as_deref());
                    let known = serde_json::to_vec(&known).map_err(|error| {
                        SyncError::new(format!("what is known could not be written: {error}"))
                    })?;
                    child.send(&known).await?;
                    child.close_input();
                    tree.walked = walked;
                }
                Message::Collection(collection) => tree.collections.push(collection),
                Message::Known { collection, template, version, path } => {
                    tree.known.push(KnownVersion { collection, template, version, path });
                    seen += 1;
                    count(seen);
                }
                Message::Version(version) => {
                    batch.add(&version, contents).await?;
                    tree.versions.push(*version);
                    seen += 1;
                    count(seen);
                }
                Message::Finding(finding) => tree.findings.push(finding),
                Message::Brought(bringers) => tree.brought = bringers,
                Message::Rewritten => tree.rewritten = true,
                Message::Failed(message) => return Err(SyncError::new(message)),
                Message::Done(registry_file) => {
                    tree.registry_file = *registry_file;
                    batch.finish().await?;
                    child.finish().await?;
                    return Ok(Scan::Found(Box::new(tree)));
                }
            }
        }
    }
    Err(SyncError::new("the scan ended before it was done"))
}

/// Waits for the first frame: that the fetch is over.
async fn fetched(child: &mut Child, turn: &mut Turn) -> Result<Option<Vec<u8>>, SyncError> {
    // Receiving must not be given up half-way, so it goes on while the turn is given back.
    let mut receiving = std::pin::pin!(child.receive(LARGEST_FRAME));
    let frame = tokio::select! {
        frame = &mut receiving => frame,
        () = tokio::time::sleep(PATIENCE) => {
            turn.give_back();
            let frame = receiving.await;
            turn.take_again().await?;
            frame
        }
    };
    Ok(frame?)
}

/// What a child gets: for each way to reach a source, the files and calls that way needs and no more.
fn child_config(config: &ScanConfig, job: &Job) -> ChildConfig {
    let mut child = confined(config);
    let url = match &job.source {
        Source::Directory(path) => {
            child.readable.push(path.clone());
            return child;
        }
        Source::Git(url) => url,
    };
    let mut pass = |name: &str| {
        let value = std::env::var_os(name)?;
        child.environment.push((name.into(), value.clone()));
        Some(PathBuf::from(value))
    };
    child.file_size = Some(config.file_size);
    child.writable.push(job.mirror.clone());
    match url.scheme() {
        Scheme::Https | Scheme::Http => {
            child.reach = Reach::Network;
            child.readable.extend(paths(NETWORK_READABLE));
            child.readable.extend(["SSL_CERT_FILE", "SSL_CERT_DIR"].iter().filter_map(|name| pass(name)));
        }
        Scheme::Ssh => {
            child.reach = Reach::NetworkAndPrograms;
            child.readable.extend(paths(NETWORK_READABLE));
            child.readable.extend(paths(PROGRAMS_READABLE));
            let ssh = &job.connection.ssh;
            child.readable.extend(ssh.key.iter().chain(&ssh.known_hosts).cloned());
            pass("PATH");
            if ssh.agent {
                child.readable.extend(pass("SSH_AUTH_SOCK"));
            }
        }
        Scheme::File => {
            child.reach = Reach::Programs;
            child.readable.extend(paths(PROGRAMS_READABLE));
            child.readable.extend(url.local_path());
            pass("PATH");
        }
    }
    child
}

/// A child that reaches nothing.
fn confined(config: &ScanConfig) -> ChildConfig {
    ChildConfig {
        program: config.program.clone(),
        arguments: config.arguments.clone(),
        environment: Vec::new(),
        memory: Some(config.memory),
        wall: config.wall,
        file_size: None,
        reach: Reach::Nothing,
        readable: Vec::new(),
        writable: Vec::new(),
    }
}

fn paths(list: &[&str]) -> impl Iterator<Item = PathBuf> {
    list.iter().map(PathBuf::from)
}

/// Contents on their way into the store. One batch is stored while the next one comes together.
struct Batch<'a> {
    catalog: &'a Catalog,
    contents: Vec<(Digest, Vec<u8>)>,
    bytes: usize,
    storing: Option<JoinHandle<Result<(), WriteError>>>,
}

impl Batch<'_> {
    /// Takes the contents that follow a version's message. The catalogue checks them against their digests: the child
    /// is not trusted.
    async fn add(&mut self, version: &Scanned, mut contents: &[u8]) -> Result<(), SyncError> {
        for file in version.files.iter().filter(|file| file.follows) {
            let size = usize::try_from(file.size).unwrap_or(usize::MAX);
            let (content, rest) = contents
                .split_at_checked(size)
                .ok_or_else(|| SyncError::new("the scan sent less than it said"))?;
            contents = rest;
            self.bytes += content.len();
            self.contents.push((file.digest, content.to_vec()));
        }
        if self.bytes >= BATCH_BYTES || self.contents.len() >= BATCH_COUNT {
            self.store().await?;
        }
        Ok(())
    }

    /// Begins to store what has come together, when the batch before is stored.
    async fn store(&mut self) -> Result<(), SyncError> {
        self.stored().await?;
        let contents = std::mem::take(&mut self.contents);
        self.bytes = 0;
        if !contents.is_empty() {
            self.storing = Some(tokio::spawn(store(self.catalog.clone(), contents)));
        }
        Ok(())
    }

    async fn stored(&mut self) -> Result<(), SyncError> {
        match self.storing.take() {
            Some(storing) => storing
                .await
                .map_err(|_| SyncError::new("contents could not be stored"))?
                .map_err(SyncError::from),
            None => Ok(()),
        }
    }

    /// Stores what is left and waits for all of it.
    async fn finish(mut self) -> Result<(), SyncError> {
        self.store().await?;
        self.stored().await
    }
}

async fn store(catalog: Catalog, mut contents: Vec<(Digest, Vec<u8>)>) -> Result<(), WriteError> {
    let digests = contents.iter().map(|(digest, _)| *digest).collect::<Vec<_>>();
    let stored = catalog.has_blobs(&digests).await?;
    let mut stored = stored.into_iter();
    contents.retain(|_| !stored.next().unwrap_or(false));
    if contents.is_empty() { Ok(()) } else { catalog.put_blobs(contents).await }
}
