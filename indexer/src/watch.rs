//! Noticing that a directory changes: by the kernel's notifications, and by looking now and then.
//!
//! Notifications (inotify) come within milliseconds, and may be missed: there may be too many directories to watch,
//! a network file system tells nothing, and files may appear in a new directory before it is watched. So names, sizes
//! and times are compared besides, seldom where notifications work and every second where they do not. Either way a
//! change is told when the directory has stood still for a moment: half a save is not published.
//!
//! This module must not know what is done about a change.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use notify::event::{AccessKind, AccessMode};
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, sleep, timeout_at};

use crate::directory::DirectoryTree;

/// A directory that has not changed for this long stands still.
const SETTLE: Duration = Duration::from_millis(150);

/// A directory that never stands still is looked at all the same.
const LONGEST_SETTLE: Duration = Duration::from_secs(3);

/// How often names, sizes and times are compared where notifications work.
const WATCHED_POLL: Duration = Duration::from_secs(10);

/// And where they do not.
const UNWATCHED_POLL: Duration = Duration::from_secs(1);

/// Calls `changed` whenever the directory at `path` has changed and stands still, until `gone` says so.
pub(crate) async fn watch_directory(
    path: PathBuf,
    mut gone: watch::Receiver<bool>,
    changed: impl Fn() + Send,
) {
    tokio::select! {
        () = follow(path, changed) => {}
        _ = gone.wait_for(|gone| *gone) => {}
    }
}

async fn follow(path: PathBuf, changed: impl Fn() + Send) {
    let mut last = fingerprint(&path).await;
    let events = Arc::new(Notify::new());
    // Kept for as long as the directory is watched.
    let watcher = start(path.clone(), events.clone()).await;
    let poll = if watcher.is_some() { WATCHED_POLL } else { UNWATCHED_POLL };
    loop {
        let noticed = tokio::select! {
            () = events.notified() => true,
            () = sleep(poll) => fingerprint(&path).await != last,
        };
        if !noticed {
            continue;
        }
        settle(&path, &events, watcher.is_some()).await;
        let now = fingerprint(&path).await;
        if now != last {
            last = now;
            changed();
        }
    }
}

/// Waits until nothing has changed for a moment.
async fn settle(path: &Path, events: &Notify, watched: bool) {
    let latest = Instant::now() + LONGEST_SETTLE;
    let mut last = None;
    while Instant::now() < latest {
        if watched {
            let quiet = Instant::now() + SETTLE;
            if timeout_at(quiet, events.notified()).await.is_err() {
                return;
            }
        } else {
            let now = fingerprint(path).await;
            if last == Some(now) {
                return;
            }
            last = Some(now);
            sleep(SETTLE).await;
        }
    }
}

async fn fingerprint(path: &Path) -> Option<u64> {
    let tree = DirectoryTree::new(path);
    tokio::task::spawn_blocking(move || tree.fingerprint()).await.ok()
}

/// Asks for notifications of everything below a directory; `None`, and why in the log, if there will be none.
async fn start(path: PathBuf, events: Arc<Notify>) -> Option<RecommendedWatcher> {
    let root = path.clone();
    let watching = move || -> notify::Result<RecommendedWatcher> {
        let below = root.clone();
        let mut watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
            // What was missed is a change for all we know.
            if event.as_ref().map_or(true, |event| matters(&below, event)) {
                events.notify_one();
            }
        })?;
        watcher.watch(&root, RecursiveMode::Recursive)?;
        Ok(watcher)
    };
    // Every directory below is visited once.
    match tokio::task::spawn_blocking(watching).await {
        Ok(Ok(watcher)) => Some(watcher),
        Ok(Err(error)) => {
            let path = path.display();
            tracing::warn!(%path, %error, "cannot be watched; it is looked at every second");
            None
        }
        Err(_) => None,
    }
}

/// Whether an event may change what is published: not our own reading, and nothing Git does for itself.
fn matters(root: &Path, event: &Event) -> bool {
    let read = matches!(event.kind, EventKind::Access(kind) if kind != AccessKind::Close(AccessMode::Write));
    let of_git = |path: &PathBuf| {
        let inside = path.strip_prefix(root).unwrap_or(path);
        inside.components().any(|part| part == Component::Normal(".git".as_ref()))
    };
    !read && (event.paths.is_empty() || !event.paths.iter().all(of_git))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    /// Watches a directory while `work` is done in it; how often it changed.
    async fn changes<F: Future<Output = ()>>(work: impl FnOnce(PathBuf, Arc<AtomicU32>) -> F) -> u32 {
        let directory = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(directory.path().join(".git")).unwrap();
        let count = Arc::new(AtomicU32::new(0));
        let counted = count.clone();
        let (gone, heard) = watch::channel(false);
        let task = tokio::spawn(watch_directory(directory.path().to_owned(), heard, move || {
            counted.fetch_add(1, Ordering::SeqCst);
        }));
        // Until it is watched.
        sleep(Duration::from_millis(200)).await;
        work(directory.path().to_owned(), count.clone()).await;
        gone.send(true).unwrap();
        task.await.unwrap();
        count.load(Ordering::SeqCst)
    }

    async fn until(count: &AtomicU32, wanted: u32) {
        let started = Instant::now();
        while count.load(Ordering::SeqCst) < wanted && started.elapsed() < Duration::from_secs(20) {
            sleep(Duration::from_millis(5)).await;
        }
    }

    #[tokio::test]
    async fn a_save_is_told_once_and_a_new_directory_is_watched_too() {
        let told = changes(async |root, count| {
            for part in 0..5 {
                std::fs::write(root.join("a.yaml"), format!("part {part}")).unwrap();
                sleep(Duration::from_millis(20)).await;
            }
            until(&count, 1).await;
            std::fs::create_dir_all(root.join("x/v1.0.0")).unwrap();
            until(&count, 2).await;
            std::fs::write(root.join("x/v1.0.0/x.yaml"), "kind: Template").unwrap();
            until(&count, 3).await;
        });
        assert_eq!(told.await, 3);
    }

    #[tokio::test]
    async fn reading_and_what_git_does_are_no_changes() {
        let told = changes(async |root, _| {
            std::fs::write(root.join(".git/index"), "x").unwrap();
            drop(std::fs::read_dir(&root).unwrap().collect::<Vec<_>>());
            sleep(Duration::from_millis(600)).await;
        });
        assert_eq!(told.await, 0);
    }
}
