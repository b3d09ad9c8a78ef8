//! What the examples of versions make, kept for their pages.
//!
//! Reports put it here as they are made; what was made before the server started, or fell out, is made again when its
//! page is asked for: a few at a time, in the background, and the page waits only a moment. One is kept under the
//! registry and the version's digest, with what every reference got: if one of them gets other content it does not
//! count. A new build of the engine is a new process, which begins with nothing.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use catalog::{NeededReference, Snapshot};
use moka::sync::Cache;
use tokio::sync::{Semaphore, watch};

use crate::examples::{self, Made, Subject, Tried, reader};
use crate::state::App;

/// Memory for previews, in bytes as they are weighed.
const CAPACITY: u64 = 32 << 20;

/// How long a page waits for a preview that is being made.
const PATIENCE: Duration = Duration::from_millis(400);

/// Who shares the workers, on behalf of everybody who reads pages.
const CALLER: &str = "previews";

/// What a page can show of what a version makes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Preview {
    /// This.
    Made(Arc<Made>),
    /// Its example could not be processed; findings say why.
    Failed,
    /// It is being made, or too many others are.
    Pending,
    /// Nothing: it has no example, or nothing here processes its kind.
    None,
}

/// A preview and what it stands on.
#[derive(Debug)]
struct Kept {
    made: Option<Arc<Made>>,
    needed: Vec<NeededReference>,
}

impl Kept {
    fn weight(&self) -> u32 {
        let sketch = self.made.as_ref().map(|made| &made.sketch);
        let objects = sketch.map_or(0, |sketch| sketch.objects.len() * 200 + sketch.edges.len() * 24);
        let needed = self.needed.iter().map(|needed| needed.reference.len() + 64).sum::<usize>();
        u32::try_from(objects + needed + 512).unwrap_or(u32::MAX)
    }
}

/// The previews.
pub(crate) struct Previews {
    kept: Cache<String, Arc<Kept>>,
    /// Those being made: whoever waits is told when the sender is dropped.
    under_way: Mutex<HashMap<String, watch::Receiver<()>>>,
    turns: Arc<Semaphore>,
}

impl Previews {
    /// None yet. `workers` is how many there are to make them in: half of them, so that those who process have the rest.
    pub(crate) fn new(workers: usize) -> Previews {
        let weigh = |key: &String, kept: &Arc<Kept>| kept.weight().saturating_add(key.len() as u32);
        Previews {
            kept: Cache::builder().max_capacity(CAPACITY).weigher(weigh).build(),
            under_way: Mutex::default(),
            turns: Arc::new(Semaphore::new((workers / 2).max(1))),
        }
    }

    /// Keeps what an example gave.
    pub(crate) fn keep(&self, subject: &Subject, tried: &Tried) {
        let made = tried.made.clone().map(Arc::new);
        self.kept.insert(key(subject), Arc::new(Kept { made, needed: tried.needed.clone() }));
    }

    /// What is kept and still holds.
    fn get(&self, app: &App, snapshot: &Snapshot, subject: &Subject) -> Option<Preview> {
        let kept = self.kept.get(&key(subject))?;
        let holds = examples::gets_the_same(app, snapshot, &reader(&subject.registry), &kept.needed);
        holds.then(|| kept.made.clone().map_or(Preview::Failed, Preview::Made))
    }
}

/// The registry is part of it because its readers are, whose rights decide what references get.
fn key(subject: &Subject) -> String {
    format!("{} {} {}", subject.registry.name, subject.registry.visibility, subject.version.digest)
}

/// The preview of a version: from memory, or after a moment, or not yet.
pub(crate) async fn of(app: &Arc<App>, snapshot: &Arc<Snapshot>, subject: Subject) -> Preview {
    let version = &subject.version;
    if version.file("example.yaml").is_none() || !app.processor.can_process(version.kind) {
        return Preview::None;
    }
    if let Some(preview) = app.previews.get(app, snapshot, &subject) {
        return preview;
    }
    let Some(mut done) = begin(app, snapshot, &subject) else { return Preview::Pending };
    // The sender says nothing; it is dropped when the work has ended.
    let _ = tokio::time::timeout(PATIENCE, done.changed()).await;
    app.previews.get(app, snapshot, &subject).unwrap_or(Preview::Pending)
}

/// Has a preview made, unless it is being made already; nothing if there is no turn for it now.
fn begin(app: &Arc<App>, snapshot: &Arc<Snapshot>, subject: &Subject) -> Option<watch::Receiver<()>> {
    let key = key(subject);
    let mut under_way = app.previews.under_way.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(receiver) = under_way.get(&key) {
        return Some(receiver.clone());
    }
    let turn = app.previews.turns.clone().try_acquire_owned().ok()?;
    let (sender, receiver) = watch::channel(());
    under_way.insert(key.clone(), receiver.clone());
    drop(under_way);
    let (app, snapshot, subject) = (app.clone(), snapshot.clone(), subject.clone());
    tokio::spawn(async move {
        match examples::try_example(&app, &snapshot, &subject, CALLER).await {
            Ok(tried) => app.previews.keep(&subject, &tried),
            Err(why) => {
                tracing::warn!(place = %subject.place, version = %subject.version.version, why, "no preview");
            }
        }
        app.previews.under_way.lock().unwrap_or_else(PoisonError::into_inner).remove(&key);
        drop((sender, turn));
    });
    Some(receiver)
}
