//! News without end: a repository that gets a commit every second, so that publishing goes on while something else is
//! measured.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::repository::{Commit, Repository};

/// A repository that gets a commit every second, until this is dropped.
pub(crate) struct Syncing {
    state: Arc<SyncState>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct SyncState {
    stop: AtomicBool,
    commits: AtomicU64,
}

impl Syncing {
    pub(crate) fn start(mut repository: Repository) -> anyhow::Result<Syncing> {
        let commit = |number: u64| {
            let text = format!(
                "apiVersion: v1\nkind: Template\nmetadata: {{name: app}}\nobjects:\n- {{apiVersion: v1, kind: ConfigMap, metadata: {{name: app}}, data: {{number: \"{number}\"}}}}\n"
            );
            let directory = format!("app/v1.0.{number}");
            Commit::default()
                .file(&format!("{directory}/app.yaml"), text)
                .file(&format!("{directory}/example.yaml"), "parameters: {}\n")
        };
        repository.commit(commit(0))?;
        let state = Arc::new(SyncState::default());
        let thread = std::thread::spawn({
            let state = state.clone();
            move || {
                // Bounded, whatever happens to whoever started it.
                for number in 1..1_800 {
                    std::thread::sleep(Duration::from_secs(1));
                    if state.stop.load(Ordering::SeqCst) || repository.commit(commit(number)).is_err() {
                        return;
                    }
                    state.commits.store(number, Ordering::SeqCst);
                }
            }
        });
        Ok(Syncing { state, thread: Some(thread) })
    }

    pub(crate) fn commits(&self) -> u64 {
        self.state.commits.load(Ordering::SeqCst)
    }
}

impl Drop for Syncing {
    fn drop(&mut self) {
        self.state.stop.store(true, Ordering::SeqCst);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
