//! Storing templates: create, update, patch and delete, as changes of the hosted registry.
//!
//! One change after the other: between looking at what there is and publishing what becomes of it nothing else is
//! stored, so of two who change the same object the second is told. A change that was begun is finished though its
//! client goes away.

use std::sync::Arc;

use axum::body::Body;
use catalog::{RegistrySnapshot, Scope as TokenScope, Snapshot, TemplateSnapshot, next_version};
use http::{Request, StatusCode, Uri};
use indexer::Submission;
use schema::{RegistryName, Version};
use serde_json::{Value, json};
use wire::kubernetes::{Status, StatusCause};

use super::object::{self, json_answer, resource_version, undressed};
use super::path::Face;
use super::refusal::{Answer, Refusal};
use super::scope::{Entry, Scope};
use super::submitted::{self, Submitted};
use super::{body, merge};
use crate::access::{Caller, require_on};
use crate::api;
use crate::body::media_type;
use crate::error::ApiError;
use crate::state::App;

/// What a client says of a removal.
#[derive(Debug, Default)]
struct Preconditions {
    resource_version: Option<String>,
    uid: Option<String>,
}

/// How an object is changed.
enum Change {
    /// It becomes this.
    Whole(Box<Submitted>),
    /// This is put into it.
    Merge(Value),
}

/// Somebody who may store, at a place.
#[derive(Clone)]
pub(super) struct Writer {
    app: Arc<App>,
    caller: Caller,
    scope: Scope,
    face: Face,
    namespace: String,
    registry: RegistryName,
    author: String,
    dry: bool,
}

impl Writer {
    /// # Errors
    /// When nothing is stored there, or not by this caller.
    pub(super) fn new(
        app: &Arc<App>,
        caller: &Caller,
        scope: &Scope,
        face: Face,
        namespace: &str,
        uri: &Uri,
    ) -> Result<Writer, Refusal> {
        let Some(registry) = scope.stored() else {
            // Of a registry that is hidden the same is said as of one that is not.
            return Err(Refusal::method("GET: what this registry has is kept elsewhere"));
        };
        let grant = require_on(caller, TokenScope::Write, registry)?;
        let author = grant.token.name.to_string();
        let dry = match api::parameters(uri, "dryRun").as_slice() {
            [] => false,
            all if all.iter().all(|one| one == "All") => true,
            _ => return Err(Refusal::bad_request("dryRun is All, or not there")),
        };
        Ok(Writer {
            app: app.clone(),
            caller: caller.clone(),
            scope: scope.clone(),
            face,
            namespace: namespace.to_owned(),
            registry: registry.clone(),
            author,
            dry,
        })
    }

    pub(super) async fn create(self, request: Request<Body>) -> Answer {
        let (parts, sent) = request.into_parts();
        let (sent, format) = body::read(sent, &parts.headers).await?;
        let submitted = submitted::check(body::parse(&sent, format)?, &self.namespace, None, suffix)?;
        if submitted.resource_version.is_some() {
            return Err(Refusal::bad_request("resourceVersion should not be set on objects to be created"));
        }
        self.alone(move |writer| async move { writer.add(submitted).await }).await
    }

    pub(super) async fn replace(self, name: &str, request: Request<Body>) -> Answer {
        let name = plain(name)?;
        let (parts, sent) = request.into_parts();
        let (sent, format) = body::read(sent, &parts.headers).await?;
        let object = body::parse(&sent, format)?;
        let submitted = submitted::check(object, &self.namespace, Some(&name), suffix)?;
        let change = Change::Whole(Box::new(submitted));
        self.alone(move |writer| async move { writer.change(&name, change).await }).await
    }

    pub(super) async fn patch(self, name: &str, request: Request<Body>) -> Answer {
        let name = plain(name)?;
        let (parts, sent) = request.into_parts();
        let media_type = media_type(&parts.headers).unwrap_or_default();
        if media_type != "application/merge-patch+json" {
            let shown = schema::finding::shown(media_type.as_bytes());
            return Err(Refusal::media_type(format!(
                "the body of the request was in an unknown format ({shown}); patches are taken as application/merge-patch+json"
            )));
        }
        let sent = body::whole(sent, &parts.headers).await?;
        let patch = body::parse(&sent, body::Format::Json)?;
        self.alone(move |writer| async move { writer.change(&name, Change::Merge(patch)).await }).await
    }

    pub(super) async fn delete(mut self, name: &str, request: Request<Body>) -> Answer {
        let name = plain(name)?;
        let (parts, sent) = request.into_parts();
        let (sent, format) = body::read(sent, &parts.headers).await?;
        let options = if sent.is_empty() { Value::Null } else { body::parse(&sent, format)? };
        let text = |pointer: &str| options.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
        let required = Preconditions {
            resource_version: text("/preconditions/resourceVersion"),
            uid: text("/preconditions/uid"),
        };
        self.dry |= options["dryRun"].as_array().is_some_and(|all| all.iter().any(|one| one == "All"));
        self.alone(move |writer| async move { writer.remove(&name, required).await }).await
    }

    /// Does something while nobody else stores, to its end.
    async fn alone<F>(self, work: impl FnOnce(Writer) -> F + Send + 'static) -> Answer
    where
        F: Future<Output = Answer> + Send + 'static,
    {
        let task = tokio::spawn(async move {
            let app = self.app.clone();
            let _storing = app.kubernetes.storing.lock().await;
            work(self).await
        });
        task.await.map_err(ApiError::internal)?
    }

    async fn add(self, submitted: Submitted) -> Answer {
        let snapshot = self.app.catalog.snapshot();
        let name = submitted.name.to_string();
        let holder = self.scope.holder(&snapshot, self.caller.viewer(), &self.namespace, &name);
        if let Some((registry, _)) = holder {
            let whose = if registry.is_hosted() { String::new() } else { format!(", in {}", registry.name) };
            return Err(Refusal::already_exists(&name, &whose));
        }
        self.check_hosted(&snapshot, &name)?;
        let before = snapshot.registries.get(&self.registry);
        let before =
            before.and_then(|before| before.template(submitted.collection.as_ref(), &submitted.name));
        self.store(submitted, before.map(|before| &**before), StatusCode::CREATED).await
    }

    async fn change(self, name: &str, change: Change) -> Answer {
        let snapshot = self.app.catalog.snapshot();
        let (viewer, namespace) = (self.caller.viewer(), self.namespace.as_str());
        let current = self.hosted(&snapshot, name)?;
        let object = object::whole(&self.app, viewer, self.face, &current).await?;
        let mut submitted = match change {
            Change::Whole(submitted) => *submitted,
            Change::Merge(patch) => {
                let patched = merge::patched(object.clone(), patch);
                submitted::check(patched, namespace, Some(name), suffix)?
            }
        };
        check_unchanged(&current, &object, submitted.resource_version.as_deref(), submitted.uid.as_deref())?;
        // It stays where it is: the root, or a collection that is called like the root's namespace.
        submitted.collection.clone_from(&current.template.location.collection);
        let asks_for_more = submitted.version.as_ref().is_some_and(|asked| *asked != current.version.version);
        if !asks_for_more && undressed(object.clone(), name).0 == submitted.object {
            return json_answer(StatusCode::OK, &object);
        }
        let before = current.template.clone();
        self.store(submitted, Some(&before), StatusCode::OK).await
    }

    async fn remove(self, name: &str, required: Preconditions) -> Answer {
        let snapshot = self.app.catalog.snapshot();
        let current = self.hosted(&snapshot, name)?;
        let object = object::listed(&self.app, self.caller.viewer(), self.face, &current).await?;
        check_unchanged(&current, &object, required.resource_version.as_deref(), required.uid.as_deref())?;
        if !self.dry {
            let place = &current.template.location;
            let (collection, template) = (place.collection.clone(), place.template.clone());
            self.app.syncs.let_go(self.registry.clone(), collection, template).await?;
            tracing::info!(template = %place, by = %self.author, "a stored template was removed");
        }
        let uid = object.pointer("/metadata/uid").and_then(Value::as_str).unwrap_or_default();
        json_answer(StatusCode::OK, &Status::removed(name, uid))
    }

    /// Publishes the next version of a template.
    async fn store(
        self,
        submitted: Submitted,
        before: Option<&TemplateSnapshot>,
        status: StatusCode,
    ) -> Answer {
        let name = submitted.name.to_string();
        let version = next_version(before, submitted.version.as_ref()).map_err(|refused| {
            let field = Some(format!("metadata.annotations[{}]", object::VERSION));
            let message = format!("Invalid value: {refused}");
            Refusal::invalid(
                &name,
                vec![StatusCause { reason: "FieldValueInvalid".to_owned(), message, field }],
            )
        })?;
        if self.dry {
            return json_answer(status, &self.imagined(submitted.object, &version));
        }
        let files = vec![(format!("{name}.yaml"), wire::text::yaml(&submitted.object))];
        let submission = Submission {
            collection: submitted.collection,
            template: submitted.name,
            version: version.clone(),
            files,
        };
        self.app.syncs.store(self.registry.clone(), submission, self.author.clone()).await?;
        tracing::info!(registry = %self.registry, namespace = %self.namespace, template = %name, %version, by = %self.author, "a template was stored");
        let snapshot = self.app.catalog.snapshot();
        let viewer = self.caller.viewer();
        let entry = self.scope.current(&snapshot, viewer, &self.namespace, &name);
        let entry = entry.ok_or_else(|| ApiError::internal(format!("{name} was removed meanwhile")))?;
        json_answer(status, &object::whole(&self.app, viewer, self.face, &entry).await?)
    }

    /// What would be stored.
    fn imagined(&self, mut object: Value, version: &Version) -> Value {
        object["metadata"]["namespace"] = json!(self.namespace);
        match object["metadata"].get_mut("annotations").and_then(Value::as_object_mut) {
            Some(annotations) => {
                annotations.insert(object::VERSION.to_owned(), json!(version.to_string()));
            }
            None => object["metadata"]["annotations"] = json!({ object::VERSION: version.to_string() }),
        }
        object
    }

    /// What is stored here under a name.
    fn hosted(&self, snapshot: &Snapshot, name: &str) -> Result<Entry, Refusal> {
        let viewer = self.caller.viewer();
        let entry = self.scope.current(snapshot, viewer, &self.namespace, name);
        let entry = entry.ok_or_else(|| Refusal::not_found(name, ""))?;
        if entry.registry.is_hosted() {
            return Ok(entry);
        }
        let why = format!("it is kept in {} and changes there", entry.registry.name);
        Err(Refusal::forbidden(name, &why))
    }

    /// That the registry that takes what is stored is not somebody else's of the same name.
    fn check_hosted(&self, snapshot: &Snapshot, name: &str) -> Result<(), Refusal> {
        match snapshot.registries.get(&self.registry).map(Arc::as_ref).is_none_or(RegistrySnapshot::is_hosted)
        {
            true => Ok(()),
            false => Err(Refusal::forbidden(
                name,
                "this server stores nothing: the name of the registry it would store in is another registry's",
            )),
        }
    }
}

/// That an object is what a client believes it to be.
fn check_unchanged(
    current: &Entry,
    object: &Value,
    resource_version_given: Option<&str>,
    uid_given: Option<&str>,
) -> Result<(), Refusal> {
    let uid = object.pointer("/metadata/uid").and_then(Value::as_str);
    if uid_given.is_some_and(|given| Some(given) != uid) {
        return Err(Refusal::conflict(
            &current.name,
            "the UID in the precondition does not match the UID of the object: it was removed and made again",
        ));
    }
    if resource_version_given.is_some_and(|given| given != resource_version(current)) {
        return Err(Refusal::conflict(
            &current.name,
            "the object has been modified; please apply your changes to the latest version and try again",
        ));
    }
    Ok(())
}

/// A name without a version.
fn plain(name: &str) -> Result<String, Refusal> {
    if name.contains([':', '@']) {
        return Err(Refusal::bad_request(
            "a version never changes: write to the template, and its next version is made",
        ));
    }
    Ok(name.to_owned())
}

/// What is put behind a `generateName`: five characters nobody takes for a word.
fn suffix() -> Result<String, Refusal> {
    const CHARACTERS: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
    let mut bytes = [0; 5];
    getrandom::fill(&mut bytes).map_err(ApiError::internal)?;
    Ok(bytes.iter().map(|byte| char::from(CHARACTERS[usize::from(*byte) % CHARACTERS.len()])).collect())
}
