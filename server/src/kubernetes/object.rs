//! From a version to the object a client sees, and from what a client sends to the text that is stored.
//!
//! What a version's file says is read once and kept by its digest. The object has that, and on top of it what a server
//! of the Kubernetes API says of every object: where it is, since when, and which generation it is of. Which version
//! and bytes it is, is in annotations.

use std::sync::Arc;

use axum::http::StatusCode;
use bytes::Bytes;
use catalog::Viewer;
use moka::sync::Cache;
use schema::Digest;
use schema::limits::REQUEST_BYTES;
use serde_json::{Map, Value, json};
use wire::kubernetes::GROUP_VERSION;
use wire::text;

use super::path::Face;
use super::scope::Entry;
use crate::error::ApiError;
use crate::state::App;
use crate::time::rfc3339;

/// The version the name got.
pub(super) const VERSION: &str = "formwork/version";
/// The digest of its files.
const DIGEST: &str = "formwork/digest";
/// The registry it is in.
const REGISTRY: &str = "formwork/registry";
/// What its author wrote as `apiVersion`, where that is another one than is said here: which notation a template is in
/// may follow from it.
const API_VERSION: &str = "formwork/api-version";
/// Why what it holds is not there, where a list has it all the same.
const UNREADABLE: &str = "formwork/unreadable";

/// Bytes of files of which objects are kept.
const KEPT_BYTES: u64 = 64 << 20;
/// Bytes of a file from which on reading it is not done on a thread that answers requests.
const LONG: usize = 64 << 10;

/// The core version, which the proposal has its Templates in.
const CORE: &str = "v1";

/// What a file says, or why that cannot be told.
type Read = Arc<Result<Value, String>>;

/// What files say, by the digest of the file.
#[derive(Debug)]
pub(crate) struct Objects(Cache<Digest, (Read, u64)>);

impl Objects {
    pub(super) fn new() -> Objects {
        let weigh = |_: &Digest, (_, size): &(Read, u64)| u32::try_from(*size).unwrap_or(u32::MAX);
        Objects(Cache::builder().max_capacity(KEPT_BYTES).weigher(weigh).build())
    }
}

/// What the file of a version says.
///
/// # Errors
/// When its bytes cannot be had.
pub(super) async fn read(app: &App, viewer: &Viewer, entry: &Entry) -> Result<Read, ApiError> {
    let file = entry.version.file(&entry.version.entry);
    let Some(file) = file else { return Ok(Arc::new(Err("its file is not there".to_owned()))) };
    if let Some((read, _)) = app.kubernetes.objects.0.get(&file.digest) {
        return Ok(read);
    }
    if file.size > REQUEST_BYTES as u64 {
        let why = format!("it is larger than the {} MiB that are served as an object", REQUEST_BYTES >> 20);
        return Ok(Arc::new(Err(why)));
    }
    let bytes = app.catalog.blob_or_load(viewer, &entry.registry.name, &file.digest).await;
    let bytes = bytes
        .map_err(ApiError::internal)?
        .ok_or_else(|| ApiError::internal(format!("{} was removed meanwhile", entry.template.location)))?;
    let read = Arc::new(match bytes.len() < LONG {
        true => parse(&bytes),
        false => tokio::task::spawn_blocking(move || parse(&bytes)).await.map_err(ApiError::internal)?,
    });
    app.kubernetes.objects.0.insert(file.digest, (read.clone(), file.size.max(1 << 10)));
    Ok(read)
}

fn parse(bytes: &Bytes) -> Result<Value, String> {
    let text = std::str::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())?;
    match text::from_yaml(text) {
        Ok(value @ Value::Object(_)) => Ok(value),
        Ok(_) => Err("it is no object".to_owned()),
        Err(error) => Err(match error.line {
            Some(line) => format!("line {line}: {error}"),
            None => error.to_string(),
        }),
    }
}

/// The object of an entry, as a client gets it by its name.
///
/// # Errors
/// When its file cannot be read as one.
pub(super) async fn whole(app: &App, viewer: &Viewer, face: Face, entry: &Entry) -> Result<Value, ApiError> {
    match &*read(app, viewer, entry).await? {
        Ok(written) => Ok(dressed(app, face, entry, written)),
        Err(why) => Err(ApiError::new(
            wire::ProblemKind::TemplateBroken,
            format!(
                "`{}` of {} cannot be given as an object: {why}",
                entry.version.entry, entry.template.location
            ),
        )
        .hint("The file itself is under its page; the registry's findings say where it is wrong.")),
    }
}

/// The same as lists have it: one that cannot be read is there by its name, and says why.
pub(super) async fn listed(app: &App, viewer: &Viewer, face: Face, entry: &Entry) -> Result<Value, ApiError> {
    Ok(match &*read(app, viewer, entry).await? {
        Ok(written) => dressed(app, face, entry, written),
        Err(why) => dressed(app, face, entry, &json!({ "metadata": { "annotations": { UNREADABLE: why } } })),
    })
}

/// What a watch says of an object that is no more: where it was.
pub(super) fn tombstone(app: &App, face: Face, entry: &Entry, generation: u64) -> Value {
    let mut object = dressed(app, face, entry, &json!({}));
    object["metadata"]["resourceVersion"] = json!(generation.to_string());
    object
}

fn dressed(app: &App, face: Face, entry: &Entry, written: &Value) -> Value {
    let mut object = written.as_object().cloned().unwrap_or_default();
    let version = &entry.version;
    let said = object.get("apiVersion").and_then(Value::as_str).unwrap_or(GROUP_VERSION).to_owned();
    let mut metadata = match object.remove("metadata") {
        Some(Value::Object(metadata)) => metadata,
        _ => Map::new(),
    };
    SET_BY_SERVERS.iter().for_each(|member| drop(metadata.remove(*member)));
    let labels = texts(metadata.remove("labels"));
    let mut annotations = texts(metadata.remove("annotations"));
    annotations.insert(REGISTRY.to_owned(), json!(entry.registry.name.as_str()));
    annotations.insert(VERSION.to_owned(), json!(version.version.to_string()));
    annotations.insert(DIGEST.to_owned(), json!(version.digest.to_string()));
    if face == Face::OpenShift && said != GROUP_VERSION {
        annotations.insert(API_VERSION.to_owned(), json!(said));
    }
    let first = entry.template.versions.values().map(|version| version.published_at).min();
    let mut told = Map::new();
    told.insert("name".to_owned(), json!(entry.name));
    told.insert("namespace".to_owned(), json!(entry.namespace));
    told.insert("uid".to_owned(), json!(uid(app, entry, first.unwrap_or_default())));
    told.insert("resourceVersion".to_owned(), json!(resource_version(entry)));
    told.insert("creationTimestamp".to_owned(), json!(rfc3339(first.unwrap_or(version.published_at))));
    if !labels.is_empty() {
        told.insert("labels".to_owned(), Value::Object(labels));
    }
    told.insert("annotations".to_owned(), Value::Object(annotations));
    let mut whole = Map::new();
    whole.insert("kind".to_owned(), json!("Template"));
    let api_version = if face == Face::OpenShift { GROUP_VERSION } else { said.as_str() };
    whole.insert("apiVersion".to_owned(), json!(api_version));
    whole.insert("metadata".to_owned(), Value::Object(told));
    object.remove("kind");
    object.remove("apiVersion");
    let objects = object.remove("objects").filter(Value::is_array).unwrap_or_else(|| json!([]));
    if let Some(Value::Array(parameters)) = object.get_mut("parameters") {
        parameters.iter_mut().for_each(texts_of_parameter);
    }
    if object.contains_key("labels") {
        let labels = texts(object.remove("labels"));
        object.insert("labels".to_owned(), Value::Object(labels));
    }
    whole.insert("objects".to_owned(), objects);
    whole.extend(object);
    Value::Object(whole)
}

/// What only a server says of an object; whatever a file or a client says of it does not count.
const SET_BY_SERVERS: [&str; 9] = [
    "name",
    "namespace",
    "uid",
    "resourceVersion",
    "creationTimestamp",
    "generation",
    "selfLink",
    "managedFields",
    "generateName",
];

/// A map of texts. Clients with types give up on a whole list for one number among labels.
fn texts(value: Option<Value>) -> Map<String, Value> {
    let Some(Value::Object(map)) = value else { return Map::new() };
    map.into_iter().filter_map(|(key, value)| Some((key, Value::String(text_of(value)?)))).collect()
}

fn text_of(value: Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// The same for the members of a parameter that are texts in the schema.
fn texts_of_parameter(parameter: &mut Value) {
    let Some(members) = parameter.as_object_mut() else { return };
    for name in ["name", "displayName", "description", "value", "generate", "from"] {
        if let Some(value @ (Value::Number(_) | Value::Bool(_))) = members.get_mut(name) {
            *value = Value::String(value.to_string());
        }
    }
}

/// What an update must name to be sure that nothing happened in between.
pub(super) fn resource_version(entry: &Entry) -> String {
    entry.template.generation.max(1).to_string()
}

/// Tells an object from every other one, also from one of the same name at another time.
fn uid(app: &App, entry: &Entry, first: i64) -> String {
    let location = &entry.template.location;
    let collection = location.collection.as_ref().map_or("", |name| name.as_str());
    let of =
        [app.catalog.identity(), location.registry.canonical(), collection, &entry.name, &first.to_string()];
    let hex = Digest::of(of.join("\n").as_bytes()).hex();
    // RFC 9562, version 8: made from what its maker chose.
    format!("{}-{}-8{}-a{}-{}", &hex[..8], &hex[8..12], &hex[13..16], &hex[17..20], &hex[20..32])
}

/// What a client sent, without what only a server says, as its author would have written it; and the version its
/// annotation asks for.
pub(super) fn undressed(mut object: Value, name: &str) -> (Value, Option<String>) {
    let mut asked = None;
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        SET_BY_SERVERS.iter().for_each(|member| drop(metadata.remove(*member)));
        if let Some(annotations) = metadata.get_mut("annotations").and_then(Value::as_object_mut) {
            asked = annotations.remove(VERSION).and_then(text_of);
            [DIGEST, REGISTRY, UNREADABLE].iter().for_each(|name| drop(annotations.remove(*name)));
            if annotations.is_empty() {
                metadata.remove("annotations");
            }
        }
        metadata.insert("name".to_owned(), json!(name));
    }
    (as_written(object), asked)
}

/// With the `apiVersion` its author wrote, if an object was given out under another.
pub(super) fn as_written(mut object: Value) -> Value {
    let annotations = object.pointer_mut("/metadata/annotations").and_then(Value::as_object_mut);
    let written = annotations.and_then(|annotations| annotations.remove(API_VERSION)).and_then(text_of);
    if written.as_deref() == Some(CORE) {
        object["apiVersion"] = json!(CORE);
    }
    object
}

/// Whether an `apiVersion` is a Template's.
pub(super) fn is_known(api_version: &str) -> bool {
    matches!(api_version, CORE | GROUP_VERSION)
}

/// An answer in JSON that nobody keeps.
pub(super) fn json_answer(status: StatusCode, value: &impl serde::Serialize) -> super::refusal::Answer {
    let mut response = crate::api::json(crate::cache::CachePolicy::NoStore, value)?;
    *response.status_mut() = status;
    Ok(response)
}
