//! Errors, as clients of the Kubernetes API read them: which status, reason and words.
//!
//! What other parts of this crate find wrong is an [`ApiError`], and keeps being logged in one place (`front`); it
//! becomes a `Status` there, by [`status_of`]. What only this interface knows of is a [`Refusal`].

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use http::header::{CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use indexer::StoreError;
use wire::ProblemKind;
use wire::kubernetes::{QUALIFIED, Status, StatusCause, StatusDetails};
use wire::problem::Detail;

use crate::error::ApiError;

/// Why there is no other answer.
#[derive(Debug)]
pub(super) enum Refusal {
    /// In the words of this interface.
    Said(Box<Status>),
    /// In those of the rest of this server.
    Other(Box<ApiError>),
}

/// What handlers of this interface return.
pub(super) type Answer = Result<Response, Refusal>;

impl Refusal {
    fn said(status: Status) -> Refusal {
        Refusal::Said(Box::new(status))
    }

    /// The request makes no sense.
    pub(super) fn bad_request(message: impl Into<String>) -> Refusal {
        Refusal::said(Status::failure(400, "BadRequest", message))
    }

    /// There is no template of that name, which anybody may have written.
    pub(super) fn not_found(name: &str, why: &str) -> Refusal {
        let name = schema::finding::shown(name.as_bytes());
        let why = if why.is_empty() { String::new() } else { format!(": {why}") };
        let message = format!("{QUALIFIED} \"{name}\" not found{why}");
        Refusal::said(Status::failure(404, "NotFound", message).about(&name))
    }

    /// There is no namespace of that name.
    pub(super) fn no_namespace(name: &str) -> Refusal {
        Refusal::said(Status::failure(404, "NotFound", format!("namespaces \"{name}\" not found")))
    }

    /// Nothing is served there.
    pub(super) fn no_path() -> Refusal {
        Refusal::said(Status::failure(404, "NotFound", "the server could not find the requested resource"))
    }

    /// There is such a template.
    pub(super) fn already_exists(name: &str, why: &str) -> Refusal {
        let message = format!("{QUALIFIED} \"{name}\" already exists{why}");
        Refusal::said(Status::failure(409, "AlreadyExists", message).about(name))
    }

    /// Somebody else was faster.
    pub(super) fn conflict(name: &str, why: &str) -> Refusal {
        let message = format!("Operation cannot be fulfilled on {QUALIFIED} \"{name}\": {why}");
        Refusal::said(Status::failure(409, "Conflict", message).about(name))
    }

    /// It is not changed here.
    pub(super) fn forbidden(name: &str, why: &str) -> Refusal {
        let message = format!("{QUALIFIED} \"{name}\" is forbidden: {why}");
        Refusal::said(Status::failure(403, "Forbidden", message).about(name))
    }

    /// Nothing that changes anything is answered there.
    pub(super) fn method(allowed: &str) -> Refusal {
        Refusal::said(Status::failure(
            405,
            "MethodNotAllowed",
            format!("the server does not allow this method on the requested resource; it allows {allowed}"),
        ))
    }

    /// What was sent is no Template.
    pub(super) fn invalid(name: &str, causes: Vec<StatusCause>) -> Refusal {
        let said = causes.iter().map(|cause| match &cause.field {
            Some(field) => format!("{field}: {}", cause.message),
            None => cause.message.clone(),
        });
        let said = match said.collect::<Vec<_>>().as_slice() {
            [one] => one.clone(),
            several => format!("[{}]", several.join(", ")),
        };
        let kind = format!("Template.{}", wire::kubernetes::GROUP);
        let mut status =
            Status::failure(422, "Invalid", format!("{kind} \"{name}\" is invalid: {said}")).about(name);
        if let Some(details) = &mut status.details {
            details.kind = Some("Template".to_owned());
            details.causes = causes;
        }
        Refusal::said(status)
    }

    /// What was asked to go on from is not remembered.
    pub(super) fn expired(message: impl Into<String>) -> Refusal {
        Refusal::said(Status::failure(410, "Expired", message))
    }

    /// The object was erased.
    pub(super) fn gone(name: &str, why: &str) -> Refusal {
        Refusal::said(
            Status::failure(410, "Gone", format!("{QUALIFIED} \"{name}\" is gone: {why}")).about(name),
        )
    }

    /// None of the forms a client takes is one we have.
    pub(super) fn not_acceptable() -> Refusal {
        let message =
            "only application/json is served, also as=Table and as=PartialObjectMetadata of meta.k8s.io/v1";
        Refusal::said(Status::failure(406, "NotAcceptable", message))
    }

    /// A body of a kind nobody here reads.
    pub(super) fn media_type(message: impl Into<String>) -> Refusal {
        Refusal::said(Status::failure(415, "UnsupportedMediaType", message))
    }

    /// More than is answered at once.
    pub(super) fn too_large(message: impl Into<String>) -> Refusal {
        Refusal::said(Status::failure(413, "RequestEntityTooLarge", message))
    }

    /// Too many of a kind at a time.
    pub(super) fn too_many(message: impl Into<String>, seconds: u64) -> Refusal {
        let mut status = Status::failure(429, "TooManyRequests", message);
        status.details =
            Some(StatusDetails { retry_after_seconds: Some(seconds), ..StatusDetails::default() });
        Refusal::said(status)
    }
}

impl From<ApiError> for Refusal {
    fn from(error: ApiError) -> Refusal {
        Refusal::Other(Box::new(error))
    }
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Refusal {
        match error {
            StoreError::Withheld(_) => {
                Refusal::Said(Box::new(Status::failure(422, "Invalid", error.to_string())))
            }
            StoreError::Erased => Refusal::Said(Box::new(Status::failure(410, "Gone", error.to_string()))),
            StoreError::Failed(error) => ApiError::internal(error).into(),
        }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        match self {
            Refusal::Said(status) => response(&status),
            Refusal::Other(error) => error.into_response(),
        }
    }
}

impl Refusal {
    /// The document, where it is part of an answer that began well.
    pub(super) fn into_status(self) -> Status {
        match self {
            Refusal::Said(status) => *status,
            Refusal::Other(error) => status_of(&error),
        }
    }
}

fn response(status: &Status) -> Response {
    let body = serde_json::to_vec(status).unwrap_or_default();
    let mut response = Body::from(body).into_response();
    *response.status_mut() = status
        .code
        .and_then(|code| StatusCode::from_u16(code).ok())
        .unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    let wait = status.details.as_ref().and_then(|details| details.retry_after_seconds);
    if let Some(wait) = wait {
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(wait));
    }
    response
}

/// An error of the rest of this server, as a `Status`.
pub(crate) fn status_of(error: &ApiError) -> Status {
    let code = error.kind.status();
    let reason = match error.kind {
        ProblemKind::Unauthenticated => "Unauthorized",
        ProblemKind::Forbidden => "Forbidden",
        ProblemKind::TooLarge => "RequestEntityTooLarge",
        ProblemKind::UnsupportedMediaType => "UnsupportedMediaType",
        ProblemKind::Busy => "ServiceUnavailable",
        ProblemKind::Internal => "InternalError",
        ProblemKind::SlowRequest => "Timeout",
        _ => match code {
            404 => "NotFound",
            405 => "MethodNotAllowed",
            409 => "Conflict",
            410 => "Gone",
            422 => "Invalid",
            429 => "TooManyRequests",
            503 => "ServiceUnavailable",
            _ => "BadRequest",
        },
    };
    // What is wrong, all of it, for a client that shows the message alone.
    let mut message = match error.errors.as_slice() {
        [] | [_] => error.detail.clone(),
        several => several.iter().map(|one| one.message.as_str()).collect::<Vec<_>>().join("; "),
    };
    if let Some(hint) = &error.hint {
        message = format!("{message} ({})", hint.trim_end_matches('.'));
    }
    let mut status = Status::failure(code, reason, message);
    let causes = error.errors.iter().map(cause).collect::<Vec<_>>();
    let wait = error.retry_after.map(|wait| wait.as_secs().max(1));
    if !causes.is_empty() || wait.is_some() {
        status.details =
            Some(StatusDetails { causes, retry_after_seconds: wait, ..StatusDetails::default() });
    }
    status
}

fn cause(detail: &Detail) -> StatusCause {
    let message = match &detail.hint {
        Some(hint) => format!("{} ({hint})", detail.message),
        None => detail.message.clone(),
    };
    let field = detail.pointer.as_deref().map(field_of).filter(|field| !field.is_empty());
    StatusCause { reason: "FieldValueInvalid".to_owned(), message, field }
}

/// A JSON pointer as a path of members: `objects[3].metadata.name`.
fn field_of(pointer: &str) -> String {
    let mut field = String::new();
    for segment in pointer.split('/').skip(1) {
        if !segment.is_empty() && segment.bytes().all(|byte| byte.is_ascii_digit()) {
            field.push_str(&format!("[{segment}]"));
        } else {
            if !field.is_empty() {
                field.push('.');
            }
            field.push_str(&segment.replace("~1", "/").replace("~0", "~"));
        }
    }
    field
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pointers_become_paths_of_members() {
        assert_eq!(field_of("/objects/3/metadata/name"), "objects[3].metadata.name");
        assert_eq!(field_of("/metadata/annotations/a~1b"), "metadata.annotations.a/b");
        assert_eq!(field_of(""), "");
    }

    #[test]
    fn every_problem_has_a_reason_and_its_own_status() {
        for kind in ProblemKind::ALL {
            let status = status_of(&ApiError::new(*kind, "x"));
            assert_eq!(status.code, Some(kind.status()));
            assert_ne!(status.reason.as_deref(), Some(""), "{kind:?}");
        }
        let internal = status_of(&ApiError::internal("password=hunter2"));
        assert!(!serde_json::to_string(&internal).unwrap().contains("hunter2"));
    }
}
