//! Errors: which type, in which layer, and what the client sees.
//!
//! - **Below the server** every crate has its own typed error (`schema::reference::ReferenceError`,
//!   `catalog::Missing`, `schema::processing::Failure`, `worker::WorkerError`). They know nothing of HTTP.
//! - **Handlers of the API** return [`ApiError`]: a [`ProblemKind`] from the closed list in `wire`, what happened, and
//!   the way out. The `From` impls in this module are the only place where an error of another crate becomes a kind
//!   and so a status: who adds a kind adds it to the list, here, and to `docs/api.md`.
//! - **The client** sees `application/problem+json`, written in one place (`front`), where the request id is known.
//!   On pages the same error becomes a page with the same ways out.
//! - **What is our own fault** ([`ApiError::internal`]) has two messages: the client's says that the server failed and
//!   gives the request id; the cause goes to the log and nowhere else.
//!
//! A limit hit by a template is its caller's affair (422), a full queue is ours (503 with `Retry-After`), and a panic
//! is caught at the front and becomes an internal error.

use std::time::Duration;

use axum::response::{IntoResponse, Response};
use catalog::Missing;
use http::{HeaderName, HeaderValue, StatusCode};
use schema::processing::{Cause, Failure};
use schema::reference::{LocateError, ReferenceError};
use wire::problem::Detail;
use wire::{Problem, ProblemKind};
use worker::WorkerError;

/// Most near names and versions in one answer; lists have their own routes.
const MOST: usize = 50;

/// An error on its way out of a handler of the API.
#[derive(Debug, Clone)]
pub(crate) struct ApiError {
    pub(crate) kind: ProblemKind,
    pub(crate) detail: String,
    pub(crate) hint: Option<String>,
    pub(crate) part: Option<&'static str>,
    pub(crate) near: Vec<String>,
    pub(crate) versions: Vec<String>,
    pub(crate) errors: Vec<Detail>,
    pub(crate) retry_after: Option<Duration>,
    /// Headers that belong to this error.
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
    /// For the log only.
    pub(crate) cause: Option<String>,
}

/// What handlers of the API return.
pub(crate) type ApiResult = Result<Response, ApiError>;

impl ApiError {
    /// A problem of a kind, with what happened here.
    pub(crate) fn new(kind: ProblemKind, detail: impl Into<String>) -> ApiError {
        ApiError {
            kind,
            detail: detail.into(),
            hint: None,
            part: None,
            near: Vec::new(),
            versions: Vec::new(),
            errors: Vec::new(),
            retry_after: None,
            headers: Vec::new(),
            cause: None,
        }
    }

    /// Our own fault. `cause` is logged, not sent.
    pub(crate) fn internal(cause: impl ToString) -> ApiError {
        let error = ApiError::new(
            ProblemKind::Internal,
            "something that should work did not; the server's log says what",
        );
        ApiError { cause: Some(cause.to_string()), ..error }
            .hint("Try again; if it stays, report the request id.")
    }

    /// The same, with what to do about it.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> ApiError {
        self.hint = Some(hint.into());
        self
    }

    /// The same, with a header.
    pub(crate) fn header(mut self, name: HeaderName, value: HeaderValue) -> ApiError {
        self.headers.push((name, value));
        self
    }

    /// The same, with which part is wrong.
    pub(crate) fn part(mut self, part: &'static str) -> ApiError {
        self.part = Some(part);
        self
    }

    /// The same, with names like it.
    pub(crate) fn near(mut self, near: impl IntoIterator<Item = String>) -> ApiError {
        self.near = near.into_iter().take(MOST).collect();
        self
    }

    /// The same, with the versions that exist.
    pub(crate) fn versions(mut self, versions: impl IntoIterator<Item = String>) -> ApiError {
        self.versions = versions.into_iter().take(MOST).collect();
        self
    }

    /// The document the client sees.
    pub(crate) fn document(self, base: &str, request_id: Option<&str>) -> Problem {
        Problem {
            hint: self.hint,
            part: self.part.map(str::to_owned),
            near: self.near,
            versions: self.versions,
            errors: self.errors,
            request_id: request_id.map(str::to_owned),
            ..Problem::new(base, self.kind, self.detail)
        }
    }

    /// The status the client sees.
    pub(crate) fn status(&self) -> StatusCode {
        StatusCode::from_u16(self.kind.status()).expect("the list of kinds holds valid statuses")
    }
}

/// Carries the error to the front, which knows the request id and writes the body.
impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut response = self.status().into_response();
        response.extensions_mut().insert(Carried(Box::new(self)));
        response
    }
}

/// An error in the extensions of a response.
#[derive(Debug, Clone)]
pub(crate) struct Carried(pub(crate) Box<ApiError>);

impl From<ReferenceError> for ApiError {
    fn from(error: ReferenceError) -> ApiError {
        ApiError::new(ProblemKind::InvalidReference, error.to_string())
            .part(error.part())
            .hint("A reference is `[registry/][collection/]template[:version][@sha256:digest]`, like `redis:v1` or `github.com/acme/templates/redis:=v1.0.4`.")
    }
}

impl From<Failure> for ApiError {
    fn from(failure: Failure) -> ApiError {
        let kind = match failure.cause {
            Cause::Values => ProblemKind::ValuesRejected,
            Cause::Template => ProblemKind::TemplateBroken,
            Cause::Limit => ProblemKind::LimitExceeded,
            Cause::Reference => ProblemKind::ReferenceUnresolved,
            Cause::Unsupported => ProblemKind::KindUnsupported,
        };
        ApiError {
            errors: failure.problems.into_iter().map(Detail::from).collect(),
            ..ApiError::new(kind, failure.message)
        }
    }
}

impl From<Missing> for ApiError {
    fn from(missing: Missing) -> ApiError {
        let detail = missing.to_string();
        let versions =
            |versions: &[schema::Version]| versions.iter().map(ToString::to_string).collect::<Vec<_>>();
        let near = missing.suggestions();
        let error = |kind, part| ApiError::new(kind, detail.clone()).part(part).near(near.clone());
        match &missing {
            Missing::Registry { .. } => error(ProblemKind::UnknownRegistry, "registry").hint("The registries of this server are at /api/v1/registries."),
            Missing::Collection { .. } => error(ProblemKind::UnknownCollection, "collection"),
            Missing::Template { asked, .. } => {
                let hint = format!("What there is in `{0}` is at /api/v1/registries/{0}.", asked.registry);
                error(ProblemKind::UnknownTemplate, "template").hint(hint)
            }
            Missing::Version { existing, .. } => error(ProblemKind::UnknownVersion, "version")
                .versions(versions(existing))
                .hint("A reference takes the highest patch of the minor it names, never another minor; `:^v1` takes the highest minor."),
            Missing::Digest { existing, .. } => error(ProblemKind::UnknownDigest, "digest").versions(versions(existing)),
            Missing::Purged { .. } => ApiError::new(ProblemKind::Purged, detail.clone()).hint("It does not come back; use another version."),
            Missing::Unparsable(locate) => {
                let part = match locate {
                    LocateError::NoDefault(_) | LocateError::UnknownRegistry(_) => "registry",
                    LocateError::RegistryOnly(_) => "template",
                    LocateError::TooDeep { .. } => "path",
                };
                error(ProblemKind::InvalidReference, part)
            }
        }
    }
}

impl From<WorkerError> for ApiError {
    fn from(error: WorkerError) -> ApiError {
        match error {
            WorkerError::Busy { retry_after } => {
                let detail = "more requests to process are waiting than will be worked off soon";
                ApiError { retry_after: Some(retry_after), ..ApiError::new(ProblemKind::Busy, detail) }
            }
            WorkerError::Preparing { retry_after } => {
                let detail = "Python, which this template needs, is being compiled for this machine";
                ApiError { retry_after: Some(retry_after), ..ApiError::new(ProblemKind::Busy, detail) }
            }
            WorkerError::NoPython { message } => {
                let detail = "this server cannot run Python at present, and the template needs it";
                ApiError::new(ProblemKind::KindUnsupported, detail)
                    .hint("The server's operator finds the reason in its log and under /readyz.")
                    .caused_by(message)
            }
            WorkerError::Stopping => ApiError {
                retry_after: Some(Duration::from_secs(5)),
                ..ApiError::new(ProblemKind::Busy, "the server is stopping")
            },
            WorkerError::Limit { message, .. } => ApiError::new(ProblemKind::LimitExceeded, message)
                .hint("Each template has a budget of time, memory and output; make it do less, or split it."),
            WorkerError::Died { message } => ApiError::new(
                ProblemKind::WorkerDied,
                "the process that worked on this template ended before it was done",
            )
            .hint("Try again; if it stays, the template brings its process down.")
            .caused_by(message),
            WorkerError::Protocol { message } | WorkerError::Start { message } => ApiError::internal(message),
        }
    }
}

impl ApiError {
    /// The same, with a cause for the log.
    fn caused_by(mut self, cause: impl Into<String>) -> ApiError {
        self.cause = Some(cause.into());
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_internal_is_not_sent() {
        let document = ApiError::internal("password=hunter2").document("", Some("a1"));
        let text = serde_json::to_string(&document).unwrap();
        assert!(!text.contains("hunter2"), "{text}");
        assert_eq!((document.status, document.request_id.as_deref()), (500, Some("a1")));
    }

    #[test]
    fn limits_are_their_callers_affair_and_a_full_queue_is_ours() {
        let busy = ApiError::from(WorkerError::Busy { retry_after: Duration::from_secs(2) });
        assert_eq!((busy.kind.status(), busy.retry_after), (503, Some(Duration::from_secs(2))));
        let died = ApiError::from(WorkerError::Died { message: "signal 9".into() });
        assert_eq!(died.kind.status(), 422);
        assert!(!died.detail.contains("signal"));
    }
}
