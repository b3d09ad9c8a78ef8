//! `POST /expand`: a configuration into resources, as a manager says it and as the expander behind one does.

use axum::body::Body;
use http::StatusCode;
use schema::processing::{Outcome, Request};
use serde_json::{Value, json};
use wire::dm::{Configuration, Expanded, ExpandedText};

use super::{Asking, configuration, said};
use crate::api::process::{entropy, share};
use crate::cache::CachePolicy;
use crate::error::{ApiError, ApiResult};
use crate::processing::Host;
use crate::time;

pub(super) async fn expand(asking: &Asking<'_>, body: Body) -> ApiResult {
    let configuration = configuration::read(asking, body).await?;
    let outcome = outcome(asking, &configuration).await?;
    said(StatusCode::CREATED, CachePolicy::NoStore, &expanded(&outcome))
}

pub(super) async fn expand_as_text(asking: &Asking<'_>, body: Body) -> ApiResult {
    let configuration = configuration::read(asking, body).await?;
    let outcome = outcome(asking, &configuration).await?;
    let text = ExpandedText {
        config: wire::text::yaml(&outcome.original),
        layout: wire::text::yaml(&outcome.layout.unwrap_or_default()),
    };
    said(StatusCode::OK, CachePolicy::NoStore, &text)
}

/// What a configuration comes to, with the caller's rights.
pub(super) async fn outcome(asking: &Asking<'_>, configuration: &Configuration) -> Result<Outcome, ApiError> {
    let outcome = processed(asking, configuration).await;
    let ended = match &outcome {
        Ok(_) => "done",
        Err(error) => error.kind.id(),
    };
    asking.app.metrics.processed.get_or_create_owned(&[("outcome", ended.to_owned())]).inc();
    outcome.map_err(|mut error| {
        let name = schema::finding::shown(configuration.name.as_bytes());
        error.detail = format!("cannot expand template named {name}: {}", error.detail);
        error
    })
}

async fn processed(asking: &Asking<'_>, configuration: &Configuration) -> Result<Outcome, ApiError> {
    let template = configuration::template(configuration)?;
    let request = Request {
        name: Some(configuration.name.clone()),
        now: time::now(),
        entropy: entropy()?,
        ..Request::default()
    };
    let share = share(asking.caller, asking.peer);
    let host = Host {
        app: asking.app,
        snapshot: asking.snapshot,
        viewer: asking.caller.viewer(),
        home: asking.home.as_ref(),
        caller: &share,
    };
    Ok(host.process(&template, None, request, &mut Vec::new()).await?)
}

/// An outcome in the original's form: a layout without resources is nothing.
pub(super) fn expanded(outcome: &Outcome) -> Expanded {
    let has_resources =
        |layout: &&Value| layout["resources"].as_array().is_some_and(|resources| !resources.is_empty());
    let layout = outcome.layout.as_ref().filter(has_resources).cloned();
    Expanded { expanded_config: outcome.original.clone(), layout: layout.unwrap_or_else(|| json!({})) }
}
