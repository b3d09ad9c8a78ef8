//! The child's side: fetch, walk, stream. Plain synchronous code; it holds one version at a time.

use std::collections::HashSet;
use std::process::ExitCode;

use schema::Digest;
use schema::finding::Finding;
use schema::layout::{Collection, Found, ScannedVersion, Sink, scan};
use schema::limits::TreeLimits;
use schema::processing::Template;
use schema::tree::Tree;
use worker::frames::FrameError;
use worker::inside::{self, Entered};

use super::protocol::{Job, LARGEST_FRAME, Message, Scanned, ScannedFile, TreeId, encode};
use crate::directory::DirectoryTree;
use crate::git::{self, GitTree};
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
    let job = match frame.map(|frame| frame.map(|frame| serde_json::from_slice::<Job>(&frame))) {
        Ok(Some(Ok(job))) => job,
        _ => return inside::refuse("no job came"),
    };
    let mut stream = Stream { parent, sent: HashSet::new(), job: &job, broken: None };
    if let Err(message) = run(&job, &mut stream) {
        stream.tell(&Message::Failed(message));
    }
    match stream.broken {
        None => ExitCode::SUCCESS,
        Some(error) => inside::refuse(&error.to_string()),
    }
}

fn run(job: &Job, stream: &mut Stream<'_>) -> Result<(), String> {
    let tree: Box<dyn Tree> = match &job.source {
        Source::Directory(path) => {
            stream.tell(&Message::Fetched { commit: None });
            Box::new(DirectoryTree::new(path))
        }
        Source::Git(url) => {
            let commit =
                git::fetch(&job.mirror, url, job.branch.as_deref()).map_err(|error| error.to_string())?;
            stream.tell(&Message::Fetched { commit: Some(commit.clone()) });
            if job.published.as_ref() == Some(&commit) {
                stream.tell(&Message::Unchanged);
                return Ok(());
            }
            Box::new(GitTree::open(&job.mirror, &commit).map_err(|error| error.to_string())?)
        }
    };
    let registry_file = scan(&*tree, &TreeLimits::default(), stream).map_err(|error| error.to_string())?;
    stream.tell(&Message::Done(Box::new(registry_file)));
    Ok(())
}

/// Tells the parent what the walk meets.
struct Stream<'a> {
    parent: Entered,
    /// Contents that were sent: the same helper file is in many versions.
    sent: HashSet<Digest>,
    job: &'a Job,
    /// The first write that failed; nothing is written after it.
    broken: Option<FrameError>,
}

impl Stream<'_> {
    fn tell(&mut self, message: &Message) {
        self.send(message, std::iter::empty());
    }

    fn send<'c>(&mut self, message: &Message, contents: impl Iterator<Item = &'c [u8]>) {
        if self.broken.is_none() {
            self.broken = self.parent.send(&encode(message, contents)).err();
        }
    }
}

impl Sink for Stream<'_> {
    fn collection(&mut self, collection: &Collection) {
        self.tell(&Message::Collection(collection.clone()));
    }

    fn wants(&mut self, found: &Found<'_>) -> bool {
        let id = found.id.as_deref().map(TreeId::of);
        if id.is_none() || self.job.known.get(&found.path) != id.as_ref() {
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
        let name = found.template.to_string();
        let template = Template { name, kind, entry: entry.clone(), files: version.contents() };
        let inspection = worker::inspect(&template);
        let files = version
            .files
            .iter()
            .map(|file| ScannedFile {
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
