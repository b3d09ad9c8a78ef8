//! Git, by gix: a bare mirror that is fetched into, and the tree at its head. The only module that knows gix.
//!
//! `file` and `ssh` URLs make us run the `git` and `ssh` programs; `http` and `https` need nothing installed. How a
//! server is talked to is in [`http`] and [`program`]: under limits, and without asking anybody anything.
//! The mirror is a cache: it may be deleted at any time.

mod budget;
mod http;
mod program;

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use gix::ObjectId;
use gix::objs::tree::EntryKind as GitKind;
use gix::protocol::transport::Protocol;
use gix::protocol::transport::client::blocking_io::{Transport, http::Transport as HttpTransport};
use schema::finding::shown;
use schema::tree::{Entry, EntryKind, Tree, TreeError};

use self::budget::Budget;
use self::http::GuardedHttp;
use crate::connection::ReadyConnection;
use crate::history::{Commit, Commits, Id};
use crate::source::{GitUrl, Revision, Scheme};

/// Where the fetched head is kept in the mirror.
const HEAD: &str = "refs/formwork/head";

/// Bytes of decoded objects kept while walking: version directories share most of their trees with neighbours.
const OBJECT_CACHE: usize = 32 << 20;

/// Largest single object, in bytes, by what it claims before anything is read of it: well below the memory of a scan,
/// well above the largest version.
const LARGEST_OBJECT: usize = 256 << 20;

/// What went wrong with Git, in its words, credentials left out.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{doing}: {error}")]
pub(crate) struct GitError {
    doing: &'static str,
    error: String,
}

fn git_error(doing: &'static str) -> impl Fn(gix::Error) -> GitError {
    move |error| {
        // The chain says which layers it went through; the last cause says why, which is what an operator needs.
        let mut cause: &dyn std::error::Error = &error;
        while let Some(source) = cause.source() {
            cause = source;
        }
        GitError { doing, error: cause.to_string() }
    }
}

/// Why a server that asks who we are gets no answer.
#[derive(Debug, thiserror::Error)]
enum LoginError {
    #[error(
        "the server asks for a user name and password: give `username`, and `password-file` or `password-env`"
    )]
    Missing,
    #[error("the server does not accept the user name and password that are configured")]
    Refused,
}

/// Fetches a revision of `url` into the bare mirror at `path`, making it if need be. Returns the commit that is now
/// its head.
pub(crate) fn fetch(
    path: &Path,
    url: &GitUrl,
    revision: &Revision,
    connection: &ReadyConnection,
) -> Result<String, GitError> {
    let fetched = fetch_into(path, url, revision, connection);
    if fetched.is_err() && open(path).and_then(|repository| head(&repository)).is_err() {
        // What a server said its head is may not have come, and would be missing for ever. The mirror is a cache.
        let _ = std::fs::remove_dir_all(path);
    }
    fetched.map_err(|error| GitError { error: connection.redact(&error.error), ..error })
}

fn fetch_into(
    path: &Path,
    url: &GitUrl,
    revision: &Revision,
    connection: &ReadyConnection,
) -> Result<String, GitError> {
    // A mirror that cannot be opened (its last fetch was killed, a disk was full) is made anew: it is a cache.
    let repository = open(path).or_else(|_| create(path))?;
    let specification = format!("+{}:{HEAD}", revision.reference());
    let remote = repository
        .remote_at(url.to_string().as_str())
        .and_then(|remote| remote.with_refspecs([specification.as_str()], gix::remote::Direction::Fetch))
        .map_err(git_error("the URL is wrong"))?
        .with_fetch_tags(gix::remote::fetch::Tags::None);
    let budget = Arc::new(Budget::new(connection.limits));
    let unreachable =
        |error: &dyn std::fmt::Display| GitError { doing: UNREACHABLE, error: error.to_string() };
    match url.scheme() {
        Scheme::Http | Scheme::Https => {
            let http = GuardedHttp::new(url, connection, budget).map_err(|error| unreachable(&error))?;
            let parsed =
                gix::Url::try_from(url.to_string().as_str()).map_err(git_error("the URL is wrong"))?;
            let transport = HttpTransport::new_http(http, parsed, Protocol::V2, false);
            receive(&remote, transport, revision, connection)?;
        }
        Scheme::Ssh => {
            let (transport, _running) =
                program::ssh(url, connection, budget).map_err(|error| unreachable(&error))?;
            receive(&remote, transport, revision, connection)?;
        }
        Scheme::File => {
            let local = url.local_path().unwrap_or_default();
            let (transport, _running) =
                program::local(&local, budget).map_err(|error| unreachable(&error))?;
            receive(&remote, transport, revision, connection)?;
        }
    }
    head(&repository)
}

/// What is said before the reason why a server could not be talked to.
const UNREACHABLE: &str = "the repository could not be reached";

fn receive(
    remote: &gix::Remote<'_>,
    transport: impl Transport,
    revision: &Revision,
    connection: &ReadyConnection,
) -> Result<(), GitError> {
    // gix asks here when a server wants to know who we are; what is configured was said already. No program and no
    // person is asked.
    let login = |action: gix::credentials::helper::Action| match action {
        gix::credentials::helper::Action::Get(_) => Err(gix::Error::from_error(match connection.login() {
            None => LoginError::Missing,
            Some(_) => LoginError::Refused,
        })),
        gix::credentials::helper::Action::Store(_) | gix::credentials::helper::Action::Erase(_) => Ok(None),
    };
    let prepared = remote
        .to_connection_with_transport(transport)
        .with_credentials(login)
        .prepare_fetch(gix::progress::Discard, gix::remote::ref_map::Options::default())
        .map_err(git_error(UNREACHABLE))?;
    if prepared.ref_map().mappings.is_empty() {
        return Err(GitError {
            doing: "there is nothing to fetch",
            error: format!("the repository is empty or has no {revision}"),
        });
    }
    let announced = prepared.ref_map().mappings.first().and_then(|mapping| mapping.remote.as_id());
    let announced = announced.map(ToOwned::to_owned);
    prepared
        .receive(gix::progress::Discard, &AtomicBool::new(false))
        .map_err(git_error("the repository could not be fetched"))?;
    // A head that did not come leaves the old one in place; that must not pass for being up to date.
    let arrived = remote.repo().find_reference(HEAD).ok();
    let arrived = arrived.and_then(|reference| reference.try_id().map(gix::Id::detach));
    if arrived != announced {
        return Err(GitError {
            doing: "the repository could not be fetched",
            error: format!("the server did not send what it says its {revision} is"),
        });
    }
    Ok(())
}

fn open(path: &Path) -> Result<gix::Repository, GitError> {
    let options = gix::open::Options::isolated()
        .config_overrides([format!("gitoxide.objects.allocLimit={LARGEST_OBJECT}")]);
    gix::open_opts(path, options).map_err(git_error("the mirror could not be opened"))
}

fn create(path: &Path) -> Result<gix::Repository, GitError> {
    // A half-made mirror is of no use to anybody.
    let _ = std::fs::remove_dir_all(path);
    let made = std::fs::create_dir_all(path)
        .map_err(|error| GitError { doing: "the mirror could not be made", error: error.to_string() });
    made.and_then(|()| gix::init_bare(path).map_err(git_error("the mirror could not be made")))?;
    open(path)
}

fn head(repository: &gix::Repository) -> Result<String, GitError> {
    let mut reference = repository
        .find_reference(HEAD)
        .map_err(git_error("the branch is not there, or the repository is empty"))?;
    let id = reference.peel_to_id().map_err(git_error("the branch could not be read"))?;
    Ok(id.to_string())
}

/// An id from its digits.
pub(crate) fn parse_id(text: &str) -> Option<Id> {
    ObjectId::from_hex(text.as_bytes()).ok()?.as_slice().try_into().ok()
}

impl Commits for GitTree {
    fn commit(&self, id: Id) -> Option<Commit> {
        let object = self.repository.find_object(ObjectId::from_bytes_or_panic(&id)).ok()?;
        let commit = object.try_into_commit().ok()?;
        let decoded = commit.decode().ok()?;
        let parents = decoded.parents().filter_map(|parent| parent.as_slice().try_into().ok()).collect();
        let author = decoded.author().map(|author| shown(author.name)).unwrap_or_default();
        let at = decoded.time().map(|time| time.seconds).unwrap_or_default();
        Some(Commit { tree: decoded.tree().as_slice().try_into().ok()?, parents, at, author })
    }

    fn directories(&self, tree: Id, entry: &mut dyn FnMut(&[u8], Id)) -> bool {
        let Ok(tree) = self.repository.find_tree(ObjectId::from_bytes_or_panic(&tree)) else { return false };
        let Ok(decoded) = tree.decode() else { return false };
        for found in decoded.entries.iter().filter(|entry| entry.mode.kind() == GitKind::Tree) {
            if let Ok(id) = found.oid.as_bytes().try_into() {
                entry(found.filename, id);
            }
        }
        true
    }
}

/// The tree of a commit.
pub(crate) struct GitTree {
    repository: gix::Repository,
    /// Directories and files that were listed, by path: what is read next was listed just before.
    listed: RefCell<HashMap<String, Listed>>,
}

/// What a listing tells of an entry.
#[derive(Debug, Clone, Copy)]
struct Listed {
    id: ObjectId,
    /// Of a file, if it was asked for.
    size: Option<u64>,
}

impl GitTree {
    /// Opens the tree at `commit` of the mirror at `path`.
    pub(crate) fn open(path: &Path, commit: &str) -> Result<GitTree, GitError> {
        let mut repository = open(path)?;
        repository.object_cache_size_if_unset(OBJECT_CACHE);
        let id = ObjectId::from_hex(commit.as_bytes())
            .map_err(|error| GitError { doing: "the commit is not there", error: error.to_string() })?;
        let tree = repository
            .find_object(id)
            .and_then(|object| Ok(object.try_into_commit()?.tree_id()?.detach()))
            .map_err(git_error("the commit could not be read"))?;
        Ok(GitTree {
            repository,
            listed: RefCell::new(HashMap::from([(String::new(), Listed { id: tree, size: None })])),
        })
    }

    /// The id of what is at `path`, from listings or by walking from the root.
    fn find(&self, path: &str) -> Result<Listed, TreeError> {
        if let Some(listed) = self.listed.borrow().get(path) {
            return Ok(*listed);
        }
        let (directory, name) = path.rsplit_once('/').unwrap_or(("", path));
        // The root is always in the map, so this ends.
        let tree = self.find(directory)?.id;
        let tree = self.repository.find_tree(tree).map_err(|error| TreeError(error.to_string()))?;
        let decoded = tree.decode().map_err(|error| TreeError(error.to_string()))?;
        let entry = decoded.entries.iter().find(|entry| entry.filename == name.as_bytes());
        let id = entry
            .map(|entry| entry.oid.to_owned())
            .ok_or_else(|| TreeError(format!("{path} is not there")))?;
        let listed = Listed { id, size: None };
        self.listed.borrow_mut().insert(path.to_owned(), listed);
        Ok(listed)
    }
}

impl Tree for GitTree {
    fn entries(&self, directory: &str, limit: usize) -> Result<(Vec<Entry>, bool), TreeError> {
        let failed = |error: &dyn std::fmt::Display| TreeError(format!("{directory}: {error}"));
        let id = self.find(directory)?.id;
        let tree = self.repository.find_tree(id).map_err(|error| failed(&error))?;
        let decoded = tree.decode().map_err(|error| failed(&error))?;
        let more = decoded.entries.len() > limit;
        let mut entries = Vec::with_capacity(decoded.entries.len().min(limit));
        for entry in decoded.entries.iter().take(limit) {
            let kind = match entry.mode.kind() {
                GitKind::Tree => EntryKind::Directory,
                GitKind::Link => EntryKind::Link,
                GitKind::Commit => EntryKind::Submodule,
                mode @ (GitKind::Blob | GitKind::BlobExecutable) => {
                    let header = self.repository.find_header(entry.oid).map_err(|error| failed(&error))?;
                    EntryKind::File { size: header.size(), executable: mode == GitKind::BlobExecutable }
                }
            };
            if let (Ok(name), EntryKind::Directory | EntryKind::File { .. }) =
                (std::str::from_utf8(entry.filename), kind)
            {
                let path = if directory.is_empty() { name.to_owned() } else { format!("{directory}/{name}") };
                let size = match kind {
                    EntryKind::File { size, .. } => Some(size),
                    _ => None,
                };
                self.listed.borrow_mut().insert(path, Listed { id: entry.oid.to_owned(), size });
            }
            entries.push(Entry { name: entry.filename.to_vec(), kind, id: Some(entry.oid.to_string()) });
        }
        Ok((entries, more))
    }

    fn read(&self, file: &str, limit: u64) -> Result<Vec<u8>, TreeError> {
        let failed = |error: &dyn std::fmt::Display| TreeError(format!("{file}: {error}"));
        let Listed { id, size } = self.find(file)?;
        // Known from the listing, as a rule: asking costs as much as reading a small file.
        let size = match size {
            Some(size) => size,
            None => self.repository.find_header(id).map_err(|error| failed(&error))?.size(),
        };
        if size > limit {
            return Err(TreeError(format!("{file} has {size} bytes, above the limit of {limit}")));
        }
        let mut blob = self.repository.find_blob(id).map_err(|error| failed(&error))?;
        // Files are read once; directories stay, for they are come back to.
        self.listed.borrow_mut().remove(file);
        Ok(blob.take_data())
    }
}
