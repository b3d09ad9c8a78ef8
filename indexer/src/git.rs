//! Git, by gix: a bare mirror that is fetched into, and the tree at its head. The only module that knows gix.
//!
//! `file` and `ssh` URLs make gix run the `git` and `ssh` programs; `http` and `https` need nothing installed.
//! The mirror is a cache: it may be deleted at any time.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use gix::ObjectId;
use gix::objs::tree::EntryKind as GitKind;
use schema::finding::shown;
use schema::tree::{Entry, EntryKind, Tree, TreeError};

use crate::history::{Commit, Commits, Id};
use crate::source::GitUrl;

/// Where the fetched head is kept in the mirror.
const HEAD: &str = "refs/formwork/head";

/// Bytes of decoded objects kept while walking: version directories share most of their trees with neighbours.
const OBJECT_CACHE: usize = 32 << 20;

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

/// Fetches the branch (or the default one) of `url` into the bare mirror at `path`, making it if need be.
/// Returns the commit that is now its head.
pub(crate) fn fetch(path: &Path, url: &GitUrl, branch: Option<&str>) -> Result<String, GitError> {
    fetch_into(path, url, branch).map_err(|error| GitError { error: url.redact(&error.error), ..error })
}

fn fetch_into(path: &Path, url: &GitUrl, branch: Option<&str>) -> Result<String, GitError> {
    // A mirror that cannot be opened (its last fetch was killed, a disk was full) is made anew: it is a cache.
    let repository = open(path).or_else(|_| create(path))?;
    let from = branch.map_or_else(|| "HEAD".to_owned(), |branch| format!("refs/heads/{branch}"));
    let specification = format!("+{from}:{HEAD}");
    let remote = repository
        .remote_at(url.as_written())
        .and_then(|remote| remote.with_refspecs([specification.as_str()], gix::remote::Direction::Fetch))
        .map_err(git_error("the URL is wrong"))?
        .with_fetch_tags(gix::remote::fetch::Tags::None);
    let outcome = remote
        .connect(gix::remote::Direction::Fetch)
        .map_err(git_error("the repository could not be reached"))?
        .prepare_fetch(gix::progress::Discard, gix::remote::ref_map::Options::default())
        .map_err(git_error("the repository could not be reached"))?
        .receive(gix::progress::Discard, &AtomicBool::new(false))
        .map_err(git_error("the repository could not be fetched"))?;
    // An empty repository names a HEAD that points at nothing.
    if outcome.ref_map.mappings.iter().all(|mapping| mapping.remote.as_id().is_none()) {
        // The head fetched before is still in the mirror: it must not pass for one that is there.
        let error = format!("{from} is not in the repository");
        return Err(GitError { doing: "the branch is not there, or the repository is empty", error });
    }
    head(&repository)
}

fn open(path: &Path) -> Result<gix::Repository, GitError> {
    gix::open_opts(path, gix::open::Options::isolated()).map_err(git_error("the mirror could not be opened"))
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
