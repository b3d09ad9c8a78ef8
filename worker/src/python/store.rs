//! Where compiled code is kept, and how far it is: compiled once for a machine, by whoever needs it first.
//!
//! The directory belongs to the user this runs as and nobody else can write to it; workers cannot, for they open no
//! file at all. A file appears under its name only when it is whole.

use std::fs::{self, DirBuilder, File};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::watch;

use super::{compiler, program};

/// Compiled files that are kept: this build's, and those of builds used by turns.
const MOST_FILES: usize = 4;

/// When to come back while it is being compiled, at first; and at least.
const USUAL: Duration = Duration::from_secs(15);

/// Python for a pool: where compiled code is kept, and when it is made.
#[derive(Debug, Clone)]
pub struct Python {
    /// The directory. It is made if it is not there, for this user alone.
    pub cache: PathBuf,
    /// When it is compiled, if it is not there already.
    pub preparation: Preparation,
    /// Called when it begins to be compiled: somebody may wait, and should know for what.
    pub announce: Option<fn()>,
}

/// When Python is made ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Preparation {
    /// When the pool starts; jobs that come too early are told when to come back.
    AtStart,
    /// When the first job needs it; that job waits.
    WhenNeeded,
}

/// How far Python is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PythonState {
    /// Nobody has needed it yet.
    Idle,
    /// It is being compiled, since then.
    Compiling(Instant),
    /// It can be used; the compiled code is in this file.
    Ready(Arc<Path>),
    /// It cannot be used, for this reason.
    Failed(String),
}

impl PythonState {
    /// The word for it in metrics and reports.
    pub const fn as_str(&self) -> &'static str {
        match self {
            PythonState::Idle => "idle",
            PythonState::Compiling(_) => "compiling",
            PythonState::Ready(_) => "ready",
            PythonState::Failed(_) => "failed",
        }
    }

    /// When to come back, while it is being compiled: whole seconds, at least one.
    pub(crate) fn retry_after(&self) -> Duration {
        match self {
            PythonState::Compiling(since) => {
                Duration::from_secs(USUAL.saturating_sub(since.elapsed()).as_secs().max(1))
            }
            _ => Duration::from_secs(1),
        }
    }
}

/// The cache of the user this runs as: `$XDG_CACHE_HOME/formwork`, `~/.cache/formwork`, or a directory among the
/// temporary ones with the user's number in its name.
pub fn user_cache() -> PathBuf {
    let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    absolute("XDG_CACHE_HOME")
        .or_else(|| absolute("HOME").map(|home| home.join(".cache")))
        .map(|caches| caches.join("formwork"))
        .unwrap_or_else(|| std::env::temp_dir().join(format!("formwork-{}", user())))
}

fn user() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Makes Python ready and tells how far it is; to its end, whoever asked.
pub(crate) async fn prepare(python: Python, executable: PathBuf, state: watch::Sender<PythonState>) {
    let ended = match ready_path(&python, &executable, &state).await {
        Ok(path) => PythonState::Ready(path.into()),
        Err(message) => {
            tracing::error!(%message, "Python templates cannot be processed");
            PythonState::Failed(message)
        }
    };
    state.send_replace(ended);
}

async fn ready_path(
    python: &Python,
    executable: &Path,
    state: &watch::Sender<PythonState>,
) -> Result<PathBuf, String> {
    let cache = python.cache.clone();
    let found = blocking(move || {
        let directory = own_directory(&cache)?;
        let path = directory.join(program::compiled_name()?);
        Ok((is_ours(&path)?, path))
    });
    let (is_there, path) = found.await?;
    if is_there {
        return Ok(path);
    }
    state.send_replace(PythonState::Compiling(Instant::now()));
    if let Some(announce) = python.announce {
        announce();
    }
    // Another process may be at it already; then this one waits for it and finds the file.
    let lock = python.cache.join("lock");
    let lock = blocking(move || {
        let file = File::options().create(true).truncate(false).write(true).mode(0o600).open(&lock);
        let file = file.map_err(|error| unusable(&lock, &error))?;
        file.lock().map_err(|error| unusable(&lock, &error))?;
        Ok(file)
    });
    let _lock = lock.await?;
    if is_ours(&path)? {
        return Ok(path);
    }
    let began = Instant::now();
    let compiled = compiler::compile_in_child(executable).await?;
    tracing::info!(
        took_ms = began.elapsed().as_millis() as u64,
        bytes = compiled.len(),
        "Python was compiled for this machine"
    );
    let written = path.clone();
    blocking(move || write(&written, &compiled)).await?;
    Ok(path)
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, String> + Send + 'static,
) -> Result<T, String> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| Err(error.to_string()))
}

fn unusable(path: &Path, error: &io::Error) -> String {
    format!("compiled Python is to be kept in {}, but: {error}", path.display())
}

/// The directory, made if need be; refused if anybody else could write to it.
fn own_directory(path: &Path) -> Result<PathBuf, String> {
    let path = std::path::absolute(path).map_err(|error| unusable(path, &error))?;
    DirBuilder::new().recursive(true).mode(0o700).create(&path).map_err(|error| unusable(&path, &error))?;
    let about = fs::symlink_metadata(&path).map_err(|error| unusable(&path, &error))?;
    if !about.is_dir() {
        return Err(format!("{} is no directory: compiled Python is kept in a directory", path.display()));
    }
    only_ours(&path, &about)?;
    Ok(path)
}

/// Whether a whole file is there that nobody else could have written.
fn is_ours(path: &Path) -> Result<bool, String> {
    match fs::symlink_metadata(path) {
        Ok(about) if about.is_file() => only_ours(path, &about).map(|()| true),
        Ok(_) => Err(format!("{} is no file: remove it", path.display())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(unusable(path, &error)),
    }
}

fn only_ours(path: &Path, about: &fs::Metadata) -> Result<(), String> {
    if about.uid() != user() {
        return Err(format!(
            "{} belongs to user {}, but this runs as user {}: code is only taken from one's own files",
            path.display(),
            about.uid(),
            user()
        ));
    }
    if about.permissions().mode() & 0o022 != 0 {
        return Err(format!("{0} can be written by others: chmod go-w {0}", path.display()));
    }
    Ok(())
}

/// Writes the file under its name once it is whole, and drops the oldest of others.
fn write(path: &Path, bytes: &[u8]) -> Result<(), String> {
    let half = path.with_extension(format!("{}.part", std::process::id()));
    let result = (|| {
        let mut file = File::options().create(true).truncate(true).write(true).mode(0o600).open(&half)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&half, path)
    })();
    if let Err(error) = result {
        drop(fs::remove_file(&half));
        return Err(unusable(path, &error));
    }
    let mut others = path.parent().map(compiled_files).unwrap_or_default();
    others.sort_by_key(|(changed, _)| std::cmp::Reverse(*changed));
    for (_, old) in others.into_iter().skip(MOST_FILES) {
        // It may be in use: a file that is mapped stays until the last process lets go.
        drop(fs::remove_file(old));
    }
    Ok(())
}

fn compiled_files(directory: &Path) -> Vec<(std::time::SystemTime, PathBuf)> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let compiled = entries.filter(|entry| {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        name.starts_with("python-") && (name.ends_with(".cwasm") || name.ends_with(".part"))
    });
    compiled.filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path()))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_others_can_write_to_is_refused() {
        let root = tempfile::tempdir().unwrap();
        let made = own_directory(&root.path().join("a/b")).unwrap();
        assert_eq!(fs::metadata(&made).unwrap().permissions().mode() & 0o777, 0o700);
        fs::set_permissions(&made, fs::Permissions::from_mode(0o770)).unwrap();
        let refused = own_directory(&made).unwrap_err();
        assert!(refused.contains("chmod go-w"), "{refused}");
        let link = root.path().join("link");
        std::os::unix::fs::symlink(&made, &link).unwrap();
        assert!(own_directory(&link).unwrap_err().contains("no directory"));
    }

    #[test]
    fn a_file_appears_whole_and_the_oldest_go() {
        let root = tempfile::tempdir().unwrap();
        for number in 0..6 {
            let path = root.path().join(format!("python-{number}.cwasm"));
            write(&path, b"code").unwrap();
            assert!(is_ours(&path).unwrap());
            let at = std::time::SystemTime::UNIX_EPOCH + Duration::from_secs(number);
            File::options().write(true).open(&path).unwrap().set_modified(at).unwrap();
        }
        assert_eq!(compiled_files(root.path()).len(), MOST_FILES);
        let file = root.path().join("python-5.cwasm");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).unwrap();
        assert!(is_ours(&file).is_err());
    }
}
