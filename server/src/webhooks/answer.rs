//! The routes: from a request to what was queued.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use axum::body::Body;
use axum::extract::State;
use bytes::Bytes;
use catalog::WebhookDelivery;
use http::header::HeaderMap;
use http::{Request, StatusCode};
use schema::RegistryName;
use tokio::sync::SemaphorePermit;
use tokio::task::spawn_blocking;
use wire::ProblemKind;
use wire::webhooks::Delivery;

use super::envelope::{Envelope, Event, Host, refused};
use super::payload::Push;
use super::registered::{Meant, meant};
use super::{BODY_BYTES, Receiver, Secret};
use crate::cache::CachePolicy;
use crate::error::{ApiError, ApiResult};
use crate::front::Peer;
use crate::limits::{Budget, Client};
use crate::state::App;
use crate::{api, body, time};

/// Bodies above this many bytes are hashed and parsed where waiting does no harm.
const LARGE: usize = 256 << 10;

/// A push to GitHub happened
///
/// Signed with HMAC-SHA256 in `X-Hub-Signature-256`; `X-GitHub-Delivery` is taken once. The registries that come from
/// the repository are looked at soon; nothing a payload names is fetched.
#[utoipa::path(
    post, path = "/webhooks/github", tag = "webhooks", operation_id = "receive_github",
    request_body(content = serde_json::Value, description = "A delivery, as GitHub sends it with the content type application/json"),
    responses(
        (status = 200, description = "A ping: the hook works", body = Delivery),
        (status = 202, description = "Taken; `queued` lists what is looked at", body = Delivery),
        (status = 400, description = "No delivery: no id, or a payload that cannot be read", body = wire::Problem, content_type = "application/problem+json"),
        (status = 401, description = "Not signed with the secret of this server", body = wire::Problem, content_type = "application/problem+json"),
        (status = 404, description = "This server was started without a secret for webhooks", body = wire::Problem, content_type = "application/problem+json"),
        (status = 409, description = "The delivery was taken before", body = wire::Problem, content_type = "application/problem+json"),
        (status = 413, description = "The body is above 25 MiB", body = wire::Problem, content_type = "application/problem+json"),
        (status = 415, description = "The body is not JSON", body = wire::Problem, content_type = "application/problem+json"),
        (status = 429, description = "Too many deliveries from one address; `Retry-After` says when", body = wire::Problem, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn receive_github(
    app: State<Arc<App>>,
    peer: Extension<Peer>,
    request: Request<Body>,
) -> ApiResult {
    receive(Host::Github, app, peer, request).await
}

/// A push to GitLab happened
///
/// With the secret token in `X-Gitlab-Token`; `X-Gitlab-Event-UUID` is taken once. Answers as `/webhooks/github` does.
#[utoipa::path(
    post, path = "/webhooks/gitlab", tag = "webhooks", operation_id = "receive_gitlab",
    request_body(content = serde_json::Value, description = "A push or tag event, as GitLab sends it"),
    responses(
        (status = 202, description = "Taken; `queued` lists what is looked at", body = Delivery),
        (status = 401, description = "Without the secret token of this server", body = wire::Problem, content_type = "application/problem+json"),
        (status = 409, description = "The delivery was taken before", body = wire::Problem, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn receive_gitlab(
    app: State<Arc<App>>,
    peer: Extension<Peer>,
    request: Request<Body>,
) -> ApiResult {
    receive(Host::Gitlab, app, peer, request).await
}

/// A push to Gitea or Forgejo happened
///
/// Signed with HMAC-SHA256 in `X-Gitea-Signature` or `X-Forgejo-Signature`; the delivery's id is taken once. Answers as
/// `/webhooks/github` does.
#[utoipa::path(
    post, path = "/webhooks/gitea", tag = "webhooks", operation_id = "receive_gitea",
    request_body(content = serde_json::Value, description = "A push, as Gitea and Forgejo send it"),
    responses(
        (status = 202, description = "Taken; `queued` lists what is looked at", body = Delivery),
        (status = 401, description = "Not signed with the secret of this server", body = wire::Problem, content_type = "application/problem+json"),
        (status = 409, description = "The delivery was taken before", body = wire::Problem, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn receive_gitea(
    app: State<Arc<App>>,
    peer: Extension<Peer>,
    request: Request<Body>,
) -> ApiResult {
    receive(Host::Gitea, app, peer, request).await
}

async fn receive(
    host: Host,
    State(app): State<Arc<App>>,
    Extension(Peer(peer)): Extension<Peer>,
    request: Request<Body>,
) -> ApiResult {
    let taken = take(host, &app, peer, request).await;
    let outcome = match &taken {
        Ok(delivery) if delivery.event == "ping" => "ping",
        Ok(delivery) if delivery.queued.is_empty() => "ignored",
        Ok(_) => "queued",
        Err(error) => error.kind.id(),
    };
    app.metrics.webhooks.get_or_create_owned(&[("host", host.as_str()), ("outcome", outcome)]).inc();
    let delivery = taken?;
    let mut response = api::json(CachePolicy::NoStore, &delivery)?;
    if delivery.event != "ping" {
        *response.status_mut() = StatusCode::ACCEPTED;
    }
    Ok(response)
}

async fn take(
    host: Host,
    app: &App,
    peer: Option<IpAddr>,
    request: Request<Body>,
) -> Result<Delivery, ApiError> {
    let receiver = &app.webhooks;
    if !receiver.secrets.is_set_up() {
        return Err(ApiError::new(
            ProblemKind::UnknownPath,
            "this server was started without a secret for webhooks",
        )
        .hint(
            "An operator sets webhook-secret-file or webhook-secret-env; see Webhooks in docs/operations.md.",
        ));
    }
    if let Some(standing) = app.limits.count(Budget::Webhook, Client::at(peer))
        && let Some(wait) = standing.wait
    {
        return Err(too_many(app, wait));
    }
    let (parts, sent) = request.into_parts();
    let envelope = Envelope::read(host, &parts.headers)?;
    let _room = receiver.room(body::announced(&parts.headers))?;
    let sent = body::read(sent, &parts.headers, BODY_BYTES, too_large).await?;
    let shown = receiver.shown(&envelope, &sent).await;
    if shown.is_empty() {
        return Err(refused("the delivery was not made with a secret of this server"));
    }
    if !is_json(&parts.headers) {
        return Err(ApiError::new(
            ProblemKind::UnsupportedMediaType,
            "the delivery is not JSON by its content type",
        )
        .hint("Choose application/json as the content type of the hook."));
    }
    let push = payload(sent).await?;
    if !receiver.seen.claim(host, &envelope.id) {
        let detail = format!("the delivery {} was taken before", envelope.id);
        return Err(ApiError::new(ProblemKind::DeliverySeen, detail).hint(
            "Nothing needs to be done: what it was about was looked at then. A new push is a new delivery.",
        ));
    }
    let delivery = act(app, &envelope, push.as_ref(), &shown);
    remember(app, host, &envelope);
    tracing::info!(
        host = host.as_str(),
        delivery = envelope.id,
        queued = delivery.queued.join(" "),
        note = delivery.note,
        "webhook"
    );
    Ok(delivery)
}

/// Does what a delivery asks for, and says what that was.
fn act(app: &App, envelope: &Envelope, push: Option<&Push>, shown: &[Secret]) -> Delivery {
    let delivery = |event: &str, queued: Vec<String>, note: Option<String>| Delivery {
        delivery: envelope.id.clone(),
        event: event.to_owned(),
        queued,
        note,
    };
    let push = match (&envelope.event, push) {
        (Event::Ping, _) => return delivery("ping", Vec::new(), Some("The hook works.".to_owned())),
        (Event::Push, Some(push)) => push,
        _ => {
            let note = "Only pushes move anything here; leave the others out.";
            return delivery("other", Vec::new(), Some(note.to_owned()));
        }
    };
    let counts = |registry: &RegistryName| {
        app.webhooks.secrets.of(registry).is_some_and(|secret| shown.contains(secret))
    };
    let (followed, note) = match meant(&app.catalog.snapshot(), push, counts) {
        Meant::Unclear => (Vec::new(), Some("The payload names no repository, or more than one.")),
        Meant::Registries { followed, others: 0 } if followed.is_empty() => {
            (followed, Some("No registry of this server comes from that repository."))
        }
        Meant::Registries { followed, .. } if followed.is_empty() => {
            (followed, Some("The registries from that repository follow another branch."))
        }
        Meant::Registries { followed, .. } => (followed, None),
    };
    // One that was removed just now is no longer known; asking twice is asking once.
    let queued = followed.iter().filter(|name| app.syncs.sync_now(name)).map(ToString::to_string);
    delivery("push", queued.collect(), note.map(str::to_owned))
}

/// Puts a delivery into the store, behind the answer's back: should that fail, a replay after a restart brings one look
/// forward.
fn remember(app: &App, host: Host, envelope: &Envelope) {
    let catalog = app.catalog.clone();
    let delivery = WebhookDelivery { host: host.as_str().to_owned(), id: envelope.id.clone() };
    tokio::spawn(async move {
        if let Err(error) = catalog.remember_webhook_delivery(&delivery, time::now()).await {
            tracing::warn!(%error, delivery = delivery.id, "the delivery was taken but is not remembered");
        }
    });
}

impl Receiver {
    /// Room in memory for a body of so many bytes.
    fn room(&self, announced: Option<u64>) -> Result<SemaphorePermit<'_>, ApiError> {
        if announced.is_some_and(|length| length > BODY_BYTES as u64) {
            return Err(too_large());
        }
        let bytes = announced.map_or(BODY_BYTES, |length| length as usize);
        let mebibytes = (bytes >> 20) as u32 + 1;
        self.reading.try_acquire_many(mebibytes).map_err(|_| {
            let detail = "deliveries are being read that take all the memory set aside for them";
            ApiError { retry_after: Some(Duration::from_secs(5)), ..ApiError::new(ProblemKind::Busy, detail) }
        })
    }

    /// The secrets a delivery was made with: one, or none if it is not genuine.
    async fn shown(&self, envelope: &Envelope, body: &Bytes) -> Vec<Secret> {
        let secrets = self.secrets.secrets().into_iter().cloned().collect::<Vec<_>>();
        let (proof, bytes) = (envelope.proof.clone(), body.clone());
        // Each is tried, so that the time does not tell which it was.
        let shown = move || {
            let mut secrets = secrets;
            secrets.retain(|secret| proof.shows(secret, &bytes));
            secrets
        };
        if body.len() <= LARGE {
            return shown();
        }
        // Only a panic ends it early, and then nothing was shown.
        spawn_blocking(shown).await.unwrap_or_default()
    }
}

fn too_many(app: &App, wait: Duration) -> ApiError {
    app.metrics.refused(Budget::Webhook);
    let detail =
        "more deliveries come from this address than are taken: 60 at once, and 10 a second from then on";
    ApiError { retry_after: Some(wait), ..ApiError::new(ProblemKind::TooManyRequests, detail) }
        .hint("Come back after Retry-After. What was missed is found by polling.")
}

fn too_large() -> ApiError {
    ApiError::new(ProblemKind::TooLarge, format!("the body is above {} MiB", BODY_BYTES >> 20))
        .hint("No host sends deliveries that large.")
}

fn is_json(headers: &HeaderMap) -> bool {
    body::media_type(headers).is_none_or(|media_type| media_type == "application/json")
}

async fn payload(body: Bytes) -> Result<Option<Push>, ApiError> {
    let read = if body.len() <= LARGE {
        Push::read(&body)
    } else {
        spawn_blocking(move || Push::read(&body)).await.map_err(ApiError::internal)?
    };
    read.map_err(|error| {
        ApiError::new(ProblemKind::InvalidBody, format!("the payload is not one of a push: {error}"))
    })
}
