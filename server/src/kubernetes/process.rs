//! Processing: what is sent, or a version that is here with parameters that are sent. A Template is answered with, or a
//! List if that is asked for.

use std::net::IpAddr;

use axum::body::Body;
use http::{Request, StatusCode, Uri};
use schema::Kind;
use schema::processing::{Outcome, Template};
use schema::tree::Files;
use serde_json::{Map, Value, json};
use wire::kubernetes::GROUP_VERSION;

use super::body::{self, Format};
use super::object::{as_written, is_known, json_answer};
use super::path::Face;
use super::refusal::{Answer, Refusal};
use super::scope::Scope;
use crate::access::Caller;
use crate::api::process::{entropy, share};
use crate::error::ApiError;
use crate::processing::Host;
use crate::state::App;
use crate::{api, time};

/// Processes a Template that is sent, with the values it has.
pub(super) async fn posted(
    app: &App,
    peer: Option<IpAddr>,
    caller: &Caller,
    face: Face,
    request: Request<Body>,
) -> Answer {
    let (parts, sent) = request.into_parts();
    let (sent, format) = body::read(sent, &parts.headers).await?;
    let object = body::parse(&sent, format)?;
    check_kind(&object)?;
    let name = object.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default().to_owned();
    // What was sent goes on as it is, so that what is wrong with it is told with its line; unless it was given out here
    // under another `apiVersion`.
    let restored = as_written(object.clone());
    let (text, format) = match restored == object {
        true => (sent.to_vec(), format),
        false => (serde_json::to_vec(&restored).map_err(ApiError::internal)?, Format::Json),
    };
    let entry = format!("template.{}", format.extension());
    let template = Template {
        name: if name.is_empty() { "template".to_owned() } else { name },
        kind: Kind::Template,
        entry: entry.clone(),
        files: Files::from_iter([(entry, text)]),
        jinja2: false,
    };
    let values = values(Map::new(), &parts.uri)?;
    let outcome = run(app, peer, caller, &template, None, values).await;
    said(app, face, outcome)
}

/// Processes a version that is here, with the parameters that are sent.
pub(super) async fn named(
    app: &App,
    peer: Option<IpAddr>,
    caller: &Caller,
    scope: &Scope,
    (face, namespace, name): (Face, &str, &str),
    request: Request<Body>,
) -> Answer {
    let (parts, sent) = request.into_parts();
    let (sent, format) = body::read(sent, &parts.headers).await?;
    let snapshot = app.catalog.snapshot();
    let viewer = caller.viewer();
    let entry = scope.find(&snapshot, viewer, namespace, name)?;
    let sent = match sent.is_empty() {
        true => Map::new(),
        false => match body::parse(&sent, format)? {
            Value::Object(members) => members,
            Value::Null => Map::new(),
            _ => return Err(Refusal::bad_request("send an object: {\"parameters\": {\"NAME\": \"value\"}}")),
        },
    };
    let values = values(sent, &parts.uri)?;
    let host = Host { app, snapshot: &snapshot, viewer, home: app.home.as_ref(), caller: "" };
    let template = host.load(&entry.template.location, &entry.version).await.map_err(ApiError::from)?;
    let digest = Some(entry.version.digest);
    let outcome = run(app, peer, caller, &template, digest, values).await;
    said(app, face, outcome)
}

/// The values document: what was sent, without what makes it an object of the API, and what the query says.
fn values(mut sent: Map<String, Value>, uri: &Uri) -> Result<Value, Refusal> {
    ["kind", "apiVersion", "metadata"].iter().for_each(|member| drop(sent.remove(*member)));
    for member in ["dialect", "seed", "instance"] {
        if let Some(word) = api::parameter(uri, member) {
            sent.insert(member.to_owned(), Value::String(word));
        }
    }
    match api::parameter(uri, "strict").as_deref() {
        None => {}
        Some(word @ ("true" | "false")) => drop(sent.insert("strict".to_owned(), json!(word == "true"))),
        Some(_) => return Err(Refusal::bad_request("strict is true or false")),
    }
    if let Some(word) = api::parameter(uri, "output") {
        sent.insert("output".to_owned(), Value::String(word));
    }
    // A Template, as the original answers; its List where that is asked for.
    sent.entry("output").or_insert_with(|| json!("Template"));
    Ok(Value::Object(sent))
}

async fn run(
    app: &App,
    peer: Option<IpAddr>,
    caller: &Caller,
    template: &Template,
    digest: Option<schema::Digest>,
    values: Value,
) -> Result<Outcome, ApiError> {
    let request = schema::processing::Request {
        values,
        now: time::now(),
        entropy: entropy()?,
        ..schema::processing::Request::default()
    };
    let snapshot = app.catalog.snapshot();
    let share = share(caller, peer);
    let host =
        Host { app, snapshot: &snapshot, viewer: caller.viewer(), home: app.home.as_ref(), caller: &share };
    Ok(host.process(template, digest, request, &mut Vec::new()).await?)
}

fn said(app: &App, face: Face, outcome: Result<Outcome, ApiError>) -> Answer {
    let ended = outcome.as_ref().map_or_else(|error| error.kind.id(), |_| "done");
    app.metrics.processed.get_or_create_owned(&[("outcome", ended.to_owned())]).inc();
    let mut answer = outcome?.original;
    if face == Face::OpenShift && answer["kind"] == "Template" {
        answer["apiVersion"] = json!(GROUP_VERSION);
    }
    json_answer(StatusCode::CREATED, &answer)
}

/// That an object is a Template, before a worker looks at it.
pub(super) fn check_kind(object: &Value) -> Result<(), Refusal> {
    let shown = |value: &Value| match value {
        Value::String(text) => schema::finding::shown(text.as_bytes()),
        other => schema::finding::shown(other.to_string().as_bytes()),
    };
    if !object.is_object() {
        return Err(Refusal::bad_request("the body is no object"));
    }
    if object["kind"] != "Template" {
        let message = format!("the object is of kind `{}`; send a Template", shown(&object["kind"]));
        return Err(Refusal::bad_request(message));
    }
    match object["apiVersion"].as_str() {
        Some(api_version) if is_known(api_version) => Ok(()),
        _ => {
            let message = format!(
                "no kind \"Template\" is registered for version \"{}\"; it is {GROUP_VERSION}, or v1",
                shown(&object["apiVersion"])
            );
            Err(Refusal::bad_request(message))
        }
    }
}
