//! The child's side: fetch, walk, stream. Plain synchronous code; it holds one version at a time.

use std::collections::HashSet;
use std::process::ExitCode;

use schema::Digest;
use schema::finding::Finding;
use schema::layout::{Collection, Found, ScannedVersion, Sink, TemplateDirectory, scan, scan_some};
use schema::limits::TreeLimits;
use schema::processing::Template;
use schema::registry_file::RegistryFile;
use schema::tree::{MemoryTree, Tree};
use worker::frames::FrameError;
use worker::inside::{self, Entered};

use super::delta;
use super::protocol::{
    Frame, Job, Known, LARGEST_FRAME, Message, Scanned, ScannedFile, Submission, Task, TreeId, Walked,
    short_name,
};
use crate::directory::DirectoryTree;
use crate::git::{self, GitTree};
use crate::history;
use crate::source::Source;

/// Runs one job of the parent's, then ends: the binary's hidden command.
pub fn run_scan_child() -> ExitCode {
    let mut parent = match inside::enter() {
        Ok(parent) => parent,
        Err(error) => return inside::refuse(&error.to_string()),
    };
    // Only the transport of https needs it; a second installation is refused and harmless.
    drop(rustls::crypto::ring::default_provider().install_default());
    let frame = parent.receive(LARGEST_FRAME);
    let task = match frame.map(|frame| frame.map(|frame| serde_json::from_slice::<Task>(&frame))) {
        Ok(Some(Ok(task))) => task,
        _ => return inside::refuse("no task came"),
    };
    let mut stream = Stream {
        parent,
        frame: Frame::default(),
        sent: HashSet::new(),
        read: Vec::new(),
        known: Known::new(),
        erased: HashSet::new(),
        closed: HashSet::new(),
        broken: None,
    };
    let done = match task {
        Task::Scan(job) => scan_registry(*job, &mut stream),
        Task::Read(submission, erased) => {
            stream.erased = erased;
            read_submission(&submission, &mut stream)
        }
    };
    if let Err(message) = done {
        stream.tell(&Message::Failed(message));
    }
    stream.flush();
    match stream.broken {
        None => ExitCode::SUCCESS,
        Some(error) => inside::refuse(&error.to_string()),
    }
}

/// One version, read as the same files would be in a repository.
fn read_submission(submission: &Submission, stream: &mut Stream) -> Result<(), String> {
    let name = submission.collection.clone();
    let path = name.as_ref().map_or_else(String::new, ToString::to_string);
    let collection = Collection { name, path, title: None, description: None, alias: None };
    let path = match &submission.collection {
        Some(collection) => format!("{collection}/{}", submission.template),
        None => submission.template.to_string(),
    };
    let version = format!("{path}/{}", submission.version);
    let add =
        |tree: MemoryTree, (file, text): &(String, String)| tree.file(format!("{version}/{file}"), text);
    let tree = submission.files.iter().fold(MemoryTree::new(), add);
    let directory = TemplateDirectory { collection, path };
    scan_some(&tree, &TreeLimits::default(), &[directory], stream).map_err(|error| error.to_string())?;
    stream.tell(&Message::Done(Box::default()));
    Ok(())
}

fn scan_registry(mut job: Job, stream: &mut Stream) -> Result<(), String> {
    stream.erased = std::mem::take(&mut job.erased);
    stream.closed = std::mem::take(&mut job.closed);
    let job = &job;
    let (tree, head) = match &job.source {
        Source::Directory(path) => {
            stream.tell(&Message::Fetched { commit: None });
            let tree = DirectoryTree::new(path);
            let registry_file = read(&tree, stream)?;
            stream.tell(&Message::Done(Box::new(registry_file)));
            return Ok(());
        }
        Source::Git(url) => {
            let commit = git::fetch(&job.mirror, url, &job.revision, &job.connection)
                .map_err(|error| error.to_string())?;
            stream.tell(&Message::Fetched { commit: Some(commit.clone()) });
            // The parent is waiting to know.
            stream.flush();
            if job.published.as_ref() == Some(&commit) {
                stream.tell(&Message::Unchanged);
                return Ok(());
            }
            (GitTree::open(&job.mirror, &commit).map_err(|error| error.to_string())?, git::parse_id(&commit))
        }
    };
    let registry_file = match touched(job, &tree) {
        Some((registry_file, templates)) => {
            let walked = templates.iter().map(|template| Walked {
                collection: template.collection.name.clone(),
                path: template.path.clone(),
            });
            stream.ask(Some(walked.collect()))?;
            scan_some(&tree, &TreeLimits::default(), &templates, stream)
                .map_err(|error| error.to_string())?;
            registry_file
        }
        None => {
            stream.ask(None)?;
            read(&tree, stream)?
        }
    };
    if let Some(head) = head {
        if !stream.read.is_empty() {
            let paths = std::mem::take(&mut stream.read);
            stream.tell(&Message::Brought(history::brought(&tree, head, &paths)));
        }
        let before = job.before.as_deref().and_then(git::parse_id);
        if before.is_some_and(|before| history::is_ancestor(&tree, head, before) == Some(false)) {
            stream.tell(&Message::Rewritten);
        }
    }
    stream.tell(&Message::Done(Box::new(registry_file)));
    Ok(())
}

/// The template directories that differ from what is published, if that is all that does.
fn touched(job: &Job, tree: &GitTree) -> Option<(RegistryFile, Vec<TemplateDirectory>)> {
    // A mirror that was deleted and fetched again may not have the commit any more.
    let old = GitTree::open(&job.mirror, job.published.as_ref()?).ok()?;
    let limits = TreeLimits::default();
    let (entries, _) = tree.entries("", limits.directory_entries).ok()?;
    let registry_file = if entries.iter().any(|entry| entry.name == delta::REGISTRY_FILE.as_bytes()) {
        // What is wrong with it was said when it was new.
        RegistryFile::parse(&tree.read(delta::REGISTRY_FILE, limits.registry_file_bytes).ok()?).0
    } else {
        RegistryFile::default()
    };
    let templates = delta::touched(&old, tree, &registry_file, &limits)?;
    Some((registry_file, templates))
}

fn read(tree: &dyn Tree, stream: &mut Stream) -> Result<RegistryFile, String> {
    scan(tree, &TreeLimits::default(), stream).map_err(|error| error.to_string())
}

/// Tells the parent what the walk meets.
struct Stream {
    parent: Entered,
    /// What was told and not sent yet.
    frame: Frame,
    /// Contents that were sent: the same helper file is in many versions.
    sent: HashSet<Digest>,
    /// Directories of the versions that were read.
    read: Vec<String>,
    /// What the parent knows of what is walked.
    known: Known,
    /// Contents that were erased, and versions that were as a whole: neither is handed over.
    erased: HashSet<Digest>,
    closed: HashSet<String>,
    /// The first write that failed; nothing is written after it.
    broken: Option<FrameError>,
}

impl Stream {
    fn tell(&mut self, message: &Message) {
        self.send(message, std::iter::empty());
    }

    fn send<'c>(&mut self, message: &Message, contents: impl Iterator<Item = &'c [u8]>) {
        self.frame.add(message, contents);
        if self.frame.is_full() {
            self.flush();
        }
    }

    /// Says what will be walked, and hears what is known of it.
    fn ask(&mut self, walks: Option<Vec<Walked>>) -> Result<(), String> {
        self.tell(&Message::Walks(walks));
        self.flush();
        let answer = self.parent.receive(LARGEST_FRAME).map_err(|error| error.to_string())?;
        let answer = answer.ok_or("the parent does not say what it knows")?;
        self.known = serde_json::from_slice(&answer).map_err(|error| error.to_string())?;
        Ok(())
    }

    fn flush(&mut self) {
        if let Some(bytes) = self.frame.take()
            && self.broken.is_none()
        {
            self.broken = self.parent.send(&bytes).err();
        }
    }
}

impl Sink for Stream {
    fn collection(&mut self, collection: &Collection) {
        self.tell(&Message::Collection(collection.clone()));
    }

    fn wants(&mut self, found: &Found<'_>) -> bool {
        if !self.closed.is_empty() {
            let name = short_name(found.collection.name.as_ref(), &found.template, &found.version);
            if self.closed.contains(&name) {
                return false;
            }
        }
        let id = found.id.as_deref().map(TreeId::of);
        if id.is_none() || self.known.get(&found.path) != id.as_ref() {
            return true;
        }
        self.tell(&Message::Known {
            collection: found.collection.name.clone(),
            template: found.template.clone(),
            version: found.version.clone(),
            path: found.path.clone(),
        });
        false
    }

    fn version(&mut self, found: &Found<'_>, version: ScannedVersion) {
        let Some((kind, entry)) = version.template.clone() else {
            // Withheld: what is wrong with it is all there is to say.
            version.findings.into_iter().for_each(|finding| self.finding(finding));
            return;
        };
        if self.erased.contains(&version.digest) {
            // Its bytes go no further than this process.
            return;
        }
        self.read.push(found.path.clone());
        let name = found.template.to_string();
        let template =
            Template { name, kind, entry: entry.clone(), files: version.contents(), jinja2: false };
        let inspection = worker::inspect(&template);
        let contents = version.files.iter().map(|file| (&*file.path, &*file.content));
        let documentation = schema::documentation::of(kind, contents);
        let files = version
            .files
            .iter()
            .zip(documentation)
            .map(|(file, documentation)| ScannedFile {
                documentation,
                path: file.path.clone(),
                executable: file.executable,
                size: file.content.len() as u64,
                digest: file.digest,
                follows: self.sent.insert(file.digest),
            })
            .collect::<Vec<_>>();
        let follows = files.iter().map(|file| file.follows).collect::<Vec<_>>();
        let message = Message::Version(Box::new(Scanned {
            collection: found.collection.name.clone(),
            template: found.template.clone(),
            version: found.version.clone(),
            path: found.path.clone(),
            tree_id: found.id.as_deref().map(TreeId::of),
            kind,
            entry,
            digest: version.digest,
            files,
            inspection,
            findings: version.findings,
        }));
        let contents =
            version.files.iter().zip(follows).filter(|(_, follows)| *follows).map(|(file, _)| &*file.content);
        self.send(&message, contents);
    }

    fn finding(&mut self, finding: Finding) {
        self.tell(&Message::Finding(finding));
    }
}
