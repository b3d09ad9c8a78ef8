//! Errors as RFC 9457 has them, with the way out.
//!
//! Every `type` is one of [`ProblemKind`]; `docs/api.md` has a section for each. The document is the same whoever
//! reads it: `detail` says what happened here, `near` and `versions` what exists instead, `errors` every place that
//! is wrong.

use std::fmt;

use schema::Severity;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// An error answer: `application/problem+json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Problem {
    /// What kind of problem, as a URI reference to its description.
    #[serde(rename = "type")]
    #[schema(example = "/docs/errors/unknown-version")]
    pub kind: String,
    /// The kind in words; the same for every problem of the kind.
    pub title: String,
    /// The HTTP status.
    pub status: u16,
    /// What happened here.
    pub detail: String,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// Which part of a reference is wrong: `reference`, `path`, `version` or `digest`; or which name is unknown:
    /// `registry`, `collection`, `template`, `version`, `digest` or `file`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<String>,
    /// Names like the one that is not there, nearest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub near: Vec<String>,
    /// The versions that do exist, newest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub versions: Vec<String>,
    /// Every place that is wrong.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<Detail>,
    /// The request, as in `X-Request-Id` and the server's log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

/// One thing that is wrong, or worth saying.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Detail {
    /// `info`, `warning` or `error`.
    #[schema(value_type = String, example = "error")]
    pub severity: Severity,
    /// What, in one sentence.
    pub message: String,
    /// The file: a path in the version, or `values` for what was sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The column, from 1, in characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// A JSON pointer into what was sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pointer: Option<String>,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl From<schema::processing::Problem> for Detail {
    fn from(problem: schema::processing::Problem) -> Detail {
        let schema::processing::Problem { severity, message, file, line, column, pointer, hint } = problem;
        Detail { severity, message, file, line, column, pointer, hint }
    }
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident = $id:literal, $status:literal, $title:literal;)*) => {
        /// Every kind of problem the API answers with. Ids never change meaning.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum ProblemKind { $($(#[$doc])* $kind,)* }

        impl ProblemKind {
            /// Every kind, in the order of the documentation.
            pub const ALL: &'static [ProblemKind] = &[$(ProblemKind::$kind,)*];

            /// The stable id, the last segment of `type`.
            pub const fn id(self) -> &'static str {
                match self { $(ProblemKind::$kind => $id,)* }
            }

            /// The HTTP status.
            pub const fn status(self) -> u16 {
                match self { $(ProblemKind::$kind => $status,)* }
            }

            /// The kind in words.
            pub const fn title(self) -> &'static str {
                match self { $(ProblemKind::$kind => $title,)* }
            }
        }
    };
}

kinds! {
    /// The text is no reference.
    InvalidReference = "invalid-reference", 400, "The reference cannot be read";
    /// A query parameter is missing or malformed.
    InvalidQuery = "invalid-query", 400, "The query cannot be read";
    /// The body of a request is not what is asked for.
    InvalidBody = "invalid-body", 400, "The body cannot be read";
    /// A delivery of a webhook without proof of its sender.
    WebhookSignature = "webhook-signature", 401, "The delivery does not show where it is from";
    /// There is no token, or no good one.
    Unauthenticated = "unauthenticated", 401, "A token is needed";
    /// The token allows too little.
    Forbidden = "forbidden", 403, "The token does not allow this";
    /// A reference to a registry that is not here.
    UnknownRegistry = "unknown-registry", 404, "No such registry";
    /// A reference to a collection that is not there.
    UnknownCollection = "unknown-collection", 404, "No such collection";
    /// A reference to a template that is not there.
    UnknownTemplate = "unknown-template", 404, "No such template";
    /// The template is there, the version is not.
    UnknownVersion = "unknown-version", 404, "No such version";
    /// No version has that digest.
    UnknownDigest = "unknown-digest", 404, "No such digest";
    /// The version is there, the file is not.
    UnknownFile = "unknown-file", 404, "No such file";
    /// No token has that name.
    UnknownToken = "unknown-token", 404, "No such token";
    /// Nothing is served at the path.
    UnknownPath = "unknown-path", 404, "Nothing is served here";
    /// The path does not answer this method.
    MethodNotAllowed = "method-not-allowed", 405, "The method is not answered here";
    /// What was asked for was erased.
    Purged = "purged", 410, "It was erased";
    /// What was asked for is not as whoever asks believes.
    NothingHeld = "nothing-held", 409, "There is nothing of the kind to decide";
    /// The body did not arrive in time.
    SlowRequest = "slow-request", 408, "The request did not arrive in time";
    /// A delivery of a webhook that was taken before.
    DeliverySeen = "delivery-seen", 409, "The delivery was taken before";
    /// What is to be made is there already.
    AlreadyExists = "already-exists", 409, "It exists already";
    /// More bytes than are read.
    TooLarge = "too-large", 413, "The request is too large";
    /// A body in a form that is not read.
    UnsupportedMediaType = "unsupported-media-type", 415, "The form of the body is not understood";
    /// A range behind the end of the bytes.
    RangeNotSatisfiable = "range-not-satisfiable", 416, "The range is behind the end";
    /// The values do not fit the template.
    ValuesRejected = "values-rejected", 422, "The values do not fit the template";
    /// The template is broken.
    TemplateBroken = "template-broken", 422, "The template is broken";
    /// Processing hit a limit.
    LimitExceeded = "limit-exceeded", 422, "Processing went over a limit";
    /// The template refers to something that is not here.
    ReferenceUnresolved = "reference-unresolved", 422, "A reference of the template leads nowhere";
    /// This build cannot process the kind.
    KindUnsupported = "kind-unsupported", 422, "This kind is not processed here";
    /// The process that worked on it ended.
    WorkerDied = "worker-died", 422, "The process that worked on it ended";
    /// More requests than one client may make.
    TooManyRequests = "too-many-requests", 429, "Too many requests";
    /// A fault of the server.
    Internal = "internal", 500, "The server failed";
    /// Too much to do.
    Busy = "busy", 503, "The server is busy";
}

impl fmt::Display for ProblemKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}

impl Problem {
    /// A problem of a kind, with what happened. `base` stands in front of the path of its description: the public
    /// URL of the server, or nothing.
    pub fn new(base: &str, kind: ProblemKind, detail: impl Into<String>) -> Problem {
        Problem {
            kind: format!("{base}/docs/errors/{}", kind.id()),
            title: kind.title().to_owned(),
            status: kind.status(),
            detail: detail.into(),
            hint: None,
            part: None,
            near: Vec::new(),
            versions: Vec::new(),
            errors: Vec::new(),
            request_id: None,
        }
    }

    /// The id of its kind: the last segment of `type`.
    pub fn id(&self) -> &str {
        self.kind.rsplit('/').next().unwrap_or_default()
    }
}
