//! Watching: what changes, as it changes, one line an event.
//!
//! A watch begins where a list ended, by its generation: what changed since has a later one of its own, and what
//! happened to a registry as a whole since, which no template tells, is in the log; then the client is sent back to
//! list anew (410). From there on each generation of the catalogue is compared with the one before, in memory.
//!
//! So that nobody is swamped there are at most so many watches at a time, and for each client fewer. One ends when its
//! time is over, its client is gone or takes nothing, its token is not good any more, or the server stops.

use std::collections::{BTreeSet, HashMap};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use catalog::{RegistrySnapshot, Snapshot};
use http::header::{CONTENT_TYPE, HeaderValue};
use http_body::Frame;
use serde_json::{Value, json};
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;
use wire::kubernetes::table::RowObject;
use wire::kubernetes::{GROUP_VERSION, event};

use super::form::Form;
use super::list::formed;
use super::object::{listed, tombstone};
use super::path::Face;
use super::refusal::{Answer, Refusal};
use super::scope::{Entry, Scope};
use super::selector::Selector;
use crate::access::Caller;
use crate::error::ApiError;
use crate::front::Streamed;
use crate::state::App;
use crate::time;

/// Watches at a time.
pub(crate) const MOST: usize = 256;
/// Of one token or address.
pub(crate) const MOST_OF_ONE: usize = 32;
/// How long one goes on, if its client does not say.
const USUALLY: Duration = Duration::from_secs(30 * 60);
/// How long one goes on at the most.
const LONGEST: Duration = Duration::from_secs(60 * 60);
/// Time between two bookmarks, and between two looks at whether the token is still good.
const BEAT: Duration = Duration::from_secs(30);
/// Lines that wait for a client to take them.
const WAITING: usize = 16;

/// What is asked.
#[derive(Debug, Clone)]
pub(super) struct Asked {
    pub(super) face: Face,
    pub(super) namespace: Option<String>,
    pub(super) form: Form,
    pub(super) with: RowObject,
    pub(super) selector: Selector,
    /// The generation to go on from; `None` begins with everything there is.
    pub(super) since: Option<u64>,
    pub(super) bookmarks: bool,
    /// Whether the end of what there is at the beginning is told.
    pub(super) tells_beginning: bool,
    pub(super) lasts: Option<Duration>,
}

/// Who watches, and whether the server goes on.
#[derive(Debug)]
pub(crate) struct Watchers {
    counts: Mutex<HashMap<String, usize>>,
    stopping: watch::Sender<bool>,
}

impl Watchers {
    pub(super) fn new() -> Watchers {
        Watchers { counts: Mutex::default(), stopping: watch::Sender::new(false) }
    }

    /// Ends every watch.
    pub(crate) fn stop(&self) {
        self.stopping.send_replace(true);
    }

    /// Lets somebody watch, or says that it is too much.
    fn admit(self: &Arc<Self>, client: &str) -> Result<Admitted, Refusal> {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let all = counts.values().sum::<usize>();
        let own = counts.entry(client.to_owned()).or_default();
        if all >= MOST || *own >= MOST_OF_ONE {
            if *own == 0 {
                counts.remove(client);
            }
            let message =
                format!("too many watches: at most {MOST}, and {MOST_OF_ONE} of one client; end some");
            return Err(Refusal::too_many(message, 5));
        }
        *own += 1;
        Ok(Admitted { watchers: self.clone(), client: client.to_owned() })
    }
}

/// The right to watch, given back when it is dropped.
#[derive(Debug)]
struct Admitted {
    watchers: Arc<Watchers>,
    client: String,
}

impl Drop for Admitted {
    fn drop(&mut self) {
        let mut counts = self.watchers.counts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = counts.get_mut(&self.client) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.client);
            }
        }
    }
}

pub(super) async fn answer(
    app: &Arc<App>,
    caller: &Caller,
    client: &str,
    scope: &Scope,
    asked: Asked,
) -> Answer {
    let admitted = app.kubernetes.watchers.admit(client)?;
    // Before the snapshot is taken, so that nothing is missed in between.
    let mut generations = app.catalog.generations();
    generations.mark_unchanged();
    let snapshot = app.catalog.snapshot();
    let since = match asked.since {
        None => None,
        Some(generation) => Some(Since { generation, at: begins(app, scope, &snapshot, generation).await? }),
    };
    let (lines, receiver) = mpsc::channel(WAITING);
    let watch = Watch {
        app: app.clone(),
        caller: caller.clone(),
        scope: scope.clone(),
        asked,
        seen: snapshot,
        lines,
        _admitted: admitted,
    };
    tokio::spawn(watch.run(since, generations));
    let mut response = Response::new(Body::new(Lines(receiver)));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json;stream=watch"));
    response.extensions_mut().insert(Streamed);
    Ok(response)
}

/// When the generation to go on from was made.
async fn begins(app: &App, scope: &Scope, snapshot: &Snapshot, generation: u64) -> Result<i64, Refusal> {
    if generation > snapshot.generation {
        let message = format!(
            "resource version {generation} is of no list of this server: it is at {}",
            snapshot.generation
        );
        return Err(Refusal::expired(message));
    }
    let made = app.catalog.followed_from(generation, scope.registries()).await.map_err(ApiError::internal)?;
    // An empty catalogue is of no generation, and nothing happened before it.
    let empty = (generation == snapshot.generation).then_some(0);
    made.or(empty).ok_or_else(|| {
        Refusal::expired(format!(
            "too old resource version: {generation} ({}); list anew",
            snapshot.generation
        ))
    })
}

/// Where a watch goes on from.
#[derive(Debug, Clone, Copy)]
struct Since {
    generation: u64,
    at: i64,
}

/// Its client is gone, or it is over.
struct Over;

struct Watch {
    app: Arc<App>,
    caller: Caller,
    scope: Scope,
    asked: Asked,
    seen: Arc<Snapshot>,
    lines: mpsc::Sender<Bytes>,
    _admitted: Admitted,
}

impl Watch {
    async fn run(mut self, since: Option<Since>, generations: watch::Receiver<u64>) {
        // Whatever ends it, the connection says so.
        let _: Result<(), Over> = self.follow(since, generations).await;
    }

    async fn follow(
        &mut self,
        since: Option<Since>,
        mut generations: watch::Receiver<u64>,
    ) -> Result<(), Over> {
        let app = self.app.clone();
        let mut stopping = app.kubernetes.watchers.stopping.subscribe();
        let end = Instant::now() + self.asked.lasts.unwrap_or(USUALLY).min(LONGEST);
        let mut beat = tokio::time::interval(BEAT);
        beat.tick().await;
        match since {
            None => self.tell_everything().await?,
            Some(since) if since.generation < self.seen.generation => self.catch_up(since).await?,
            Some(_) => {}
        }
        loop {
            let lines = self.lines.clone();
            tokio::select! {
                biased;
                () = lines.closed() => return Err(Over),
                () = stopped(&mut stopping) => return Ok(()),
                () = tokio::time::sleep_until(end) => {
                    return self.bookmark(false).await;
                }
                _ = beat.tick() => {
                    self.check().await?;
                    self.bookmark(false).await?;
                }
                changed = generations.changed() => {
                    changed.map_err(|_| Over)?;
                    self.check().await?;
                    self.compare().await?;
                }
            }
        }
    }

    /// That the token is still good, and shows what it showed.
    async fn check(&self) -> Result<(), Over> {
        let good = self
            .caller
            .grant()
            .is_none_or(|grant| self.app.catalog.grants().by_id(&grant.id(), time::now()).is_some());
        let now = self.app.catalog.snapshot();
        let viewer = self.caller.viewer();
        let names = |snapshot| {
            self.scope.visible(snapshot, viewer).map(|one| one.name.clone()).collect::<BTreeSet<_>>()
        };
        if good && names(&*self.seen).is_subset(&names(&*now)) {
            return Ok(());
        }
        let why = if good {
            "a registry is not here any more; list anew"
        } else {
            "the token is not good any more"
        };
        let _ = self.send("ERROR", &Refusal::expired(why).into_status()).await;
        Err(Over)
    }

    /// Everything there is, as if it were new.
    async fn tell_everything(&self) -> Result<(), Over> {
        let all = self.scope.list(&self.seen, self.caller.viewer(), self.asked.namespace.as_deref());
        for entry in all.into_values() {
            if let Some(object) = self.taken(&entry).await {
                self.tell("ADDED", object).await?;
            }
        }
        if self.asked.tells_beginning { self.bookmark(true).await } else { Ok(()) }
    }

    /// What changed since a generation of which nothing else is remembered.
    async fn catch_up(&self, since: Since) -> Result<(), Over> {
        let viewer = self.caller.viewer();
        let mut changed = BTreeSet::new();
        for registry in self.scope.visible(&self.seen, viewer) {
            self.touched(registry, since.generation, &mut changed);
        }
        for (generation, namespace, name) in changed {
            let Some(entry) = self.scope.current(&self.seen, viewer, &namespace, &name) else {
                if let Some(gone) = self.gone(&namespace, &name) {
                    self.tell("DELETED", tombstone(&self.app, self.asked.face, &gone, generation)).await?;
                }
                continue;
            };
            let is_new = entry.template.versions.values().all(|version| version.published_at >= since.at);
            let (what, object) = match self.taken(&entry).await {
                Some(object) => (if is_new { "ADDED" } else { "MODIFIED" }, object),
                None if is_new => continue,
                // Whether it was taken before, nobody knows.
                None => ("DELETED", tombstone(&self.app, self.asked.face, &entry, generation)),
            };
            self.tell(what, object).await?;
        }
        Ok(())
    }

    /// What changed since the generation that was seen last.
    async fn compare(&mut self) -> Result<(), Over> {
        let now = self.app.catalog.snapshot();
        let viewer = self.caller.viewer();
        let mut changed = BTreeSet::new();
        for registry in self.scope.visible(&now, viewer) {
            let before = self.seen.registries.get(&registry.name);
            if before.is_some_and(|before| Arc::ptr_eq(before, registry)) {
                continue;
            }
            self.touched(registry, self.seen.generation, &mut changed);
            // What was erased as a whole is of no generation any more.
            if let Some(before) = before.filter(|before| !before.gone.ptr_eq(&registry.gone)) {
                for template in before.templates() {
                    let place = &template.location;
                    let listed = registry.collections.get(&place.collection);
                    if listed.is_none_or(|listed| !listed.templates.contains_key(&place.template)) {
                        self.note(template, now.generation, &mut changed);
                    }
                }
            }
        }
        for (_, namespace, name) in changed {
            let before = self.scope.current(&self.seen, viewer, &namespace, &name);
            let after = self.scope.current(&now, viewer, &namespace, &name);
            let taken_before = match &before {
                Some(before) => self.taken(before).await,
                None => None,
            };
            let taken = match &after {
                Some(after) => self.taken(after).await,
                None => None,
            };
            match (taken_before, taken) {
                (None, Some(object)) => self.tell("ADDED", object).await?,
                (Some(old), Some(object)) if old != object => self.tell("MODIFIED", object).await?,
                (Some(mut old), None) => {
                    old["metadata"]["resourceVersion"] = json!(now.generation.to_string());
                    self.tell("DELETED", old).await?;
                }
                (Some(_), Some(_)) | (None, None) => {}
            }
        }
        self.seen = now;
        Ok(())
    }

    /// The places of templates of which something changed after a generation, by when it did.
    fn touched(&self, registry: &RegistrySnapshot, after: u64, into: &mut BTreeSet<(u64, String, String)>) {
        for template in registry.templates().chain(registry.gone.values()) {
            if template.generation > after {
                self.note(template, template.generation, into);
            }
        }
    }

    fn note(
        &self,
        template: &catalog::TemplateSnapshot,
        generation: u64,
        into: &mut BTreeSet<(u64, String, String)>,
    ) {
        let namespace = super::scope::namespace_of(template.location.collection.as_ref());
        let name = template.name.as_str();
        let wanted = self.asked.namespace.as_deref().is_none_or(|wanted| wanted == namespace);
        if wanted && self.asked.selector.takes_place(namespace, name) {
            into.insert((generation, namespace.to_owned(), name.to_owned()));
        }
    }

    /// What is left of a template that is listed no more.
    fn gone(&self, namespace: &str, name: &str) -> Option<Entry> {
        let viewer = self.caller.viewer();
        self.scope.visible(&self.seen, viewer).find_map(|registry| {
            let is_it = |template: &&Arc<catalog::TemplateSnapshot>| {
                let of = super::scope::namespace_of(template.location.collection.as_ref());
                of == namespace && template.name.as_str() == name
            };
            let template = registry.templates().chain(registry.gone.values()).find(is_it)?;
            let version =
                template.gone.values().next_back().or_else(|| template.versions.values().next_back())?;
            Some(Entry {
                namespace: namespace.to_owned(),
                name: name.to_owned(),
                registry: registry.clone(),
                template: template.clone(),
                version: version.clone(),
            })
        })
    }

    /// The object of an entry, if the client wants it.
    async fn taken(&self, entry: &Entry) -> Option<Value> {
        if !self.asked.selector.takes_place(&entry.namespace, &entry.name) {
            return None;
        }
        // What cannot be read from disk just now is told with the next change.
        let object = listed(&self.app, self.caller.viewer(), self.asked.face, entry).await.ok()?;
        self.asked.selector.takes_labels(&object).then_some(object)
    }

    async fn tell(&self, what: &str, object: Value) -> Result<(), Over> {
        self.send(what, &formed(object, self.asked.form, self.asked.with)).await
    }

    /// Says up to where everything was told.
    async fn bookmark(&self, ends_beginning: bool) -> Result<(), Over> {
        if !self.asked.bookmarks {
            return Ok(());
        }
        let api_version = if self.asked.face == Face::OpenShift { GROUP_VERSION } else { "v1" };
        let mut metadata =
            json!({ "resourceVersion": self.seen.generation.max(1).to_string(), "creationTimestamp": null });
        if ends_beginning {
            metadata["annotations"] = json!({ "k8s.io/initial-events-end": "true" });
        }
        let object = json!({ "kind": "Template", "apiVersion": api_version, "metadata": metadata });
        self.send("BOOKMARK", &formed_bookmark(object, self.asked.form)).await
    }

    async fn send(&self, what: &str, object: &impl serde::Serialize) -> Result<(), Over> {
        self.lines.send(Bytes::from(event(what, object))).await.map_err(|_| Over)
    }
}

/// Waits until the server stops.
async fn stopped(stopping: &mut watch::Receiver<bool>) {
    // Nobody is left to say so only when everything is over.
    drop(stopping.wait_for(|stopping| *stopping).await);
}

/// A bookmark is no row, so a table of one has none.
fn formed_bookmark(object: Value, form: Form) -> Value {
    match form {
        Form::Table => {
            let mut table = formed(object, form, RowObject::None);
            table["rows"] = json!([]);
            table
        }
        form => formed(object, form, RowObject::None),
    }
}

/// A body of lines that come when they come.
struct Lines(mpsc::Receiver<Bytes>);

impl http_body::Body for Lines {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, std::convert::Infallible>>> {
        self.0.poll_recv(context).map(|line| line.map(|line| Ok(Frame::data(line))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Attack row 26: no client takes all the watches, and what it gives back others can have.
    #[test]
    fn attack_row_26_watches_are_counted_for_each_client_and_for_all() {
        let watchers = Arc::new(Watchers::new());
        let mut held = (0..MOST_OF_ONE).map(|_| watchers.admit("a").unwrap()).collect::<Vec<_>>();
        assert!(watchers.admit("a").is_err());
        for client in 0..MOST / MOST_OF_ONE - 1 {
            held.extend((0..MOST_OF_ONE).map(|_| watchers.admit(&client.to_string()).unwrap()));
        }
        let refused = watchers.admit("b").unwrap_err().into_status();
        assert_eq!((refused.code, refused.details.unwrap().retry_after_seconds), (Some(429), Some(5)));
        held.pop();
        assert!(watchers.admit("b").is_ok());
        held.clear();
        assert!(watchers.counts.lock().unwrap().is_empty());
    }
}
