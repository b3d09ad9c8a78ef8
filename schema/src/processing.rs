//! The request and the outcome of processing a template: what goes into the engine and what comes out.
//!
//! These cross the pipe between server and worker, so they carry serde; over HTTP they are said by `wire`.

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::finding::{Severity, showable};
use crate::kind::Kind;
use crate::tree::Files;

/// One version of a template, ready to be processed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    /// The template's name.
    pub name: String,
    /// What it is.
    pub kind: Kind,
    /// The path of its top-level file among `files`.
    pub entry: String,
    /// Every file of the version.
    pub files: Files,
    /// Its Jinja files are rendered by Jinja2 itself, through the host's interpreter, instead of by what the engine
    /// has in its place: for a version whose example came out differently.
    pub jinja2: bool,
}

/// The rule by which a report says that a version is to be rendered by Jinja2 itself: see [`Template::jinja2`].
pub const RENDERED_BY_JINJA2: &str = "rendered-by-jinja2";

/// What the caller wants made of it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Request {
    /// The values document, in the form the kind documents (what `example.yaml` holds and `--values` reads).
    pub values: serde_json::Value,
    /// `-p NAME=VALUE` settings, applied on top of `values`, in order; what a name means is the kind's business.
    pub set: Vec<(String, String)>,
    /// The name of the deployment or release; the template's name if not given.
    pub name: Option<String>,
    /// The namespace objects are for.
    pub namespace: Option<String>,
    /// Labels to add to every object, on top of the template's.
    pub labels: Vec<(String, String)>,
    /// Kubernetes Templates: the notation, if it must not be told from the template.
    pub dialect: Option<String>,
    /// Undefined references are errors.
    pub strict: bool,
    /// Unknown parameters are diagnostics, not errors.
    pub ignore_unknown: bool,
    /// Makes generated values repeatable.
    pub seed: Option<String>,
    /// The time it is, as the caller sees it: seconds since the epoch. The engine has no clock.
    pub now: i64,
    /// 32 fresh random bytes in hexadecimal from the caller's secure generator; the engine has none of its own.
    pub entropy: String,
}

/// A template another one refers to, as the host resolved it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Provided {
    /// The reference or URL as the template wrote it.
    pub asked: String,
    /// The exact version it got; of a URL the short form of its digest.
    pub version: String,
    /// The digest of that version.
    pub digest: Digest,
    /// The template.
    pub template: Template,
}

/// How far processing got. The engine is resumable: on [`Step::Needs`] the host resolves with the caller's
/// rights and asks again with everything provided so far.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Step {
    /// It is done.
    Done(Box<Outcome>),
    /// Other templates are needed, by these references or URLs.
    Needs(Vec<String>),
    /// It failed.
    Failed(Failure),
}

/// What processing made.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// The objects, in order.
    pub objects: Vec<serde_json::Value>,
    /// The same in the original's own form: a `v1 List` for Templates, `{resources}` for Deployment Manager.
    pub original: serde_json::Value,
    /// Deployment Manager: the nested layout.
    pub layout: Option<serde_json::Value>,
    /// Named outputs, if the kind has them.
    pub outputs: Option<serde_json::Value>,
    /// Kubernetes Templates: the notation that was used, and how it was chosen.
    pub dialect: Option<Dialect>,
    /// Values that were generated, by parameter name; shown as such, never logged.
    pub generated: Vec<String>,
    /// What is worth saying about it although it worked.
    pub diagnostics: Vec<Problem>,
    /// References the template made, with what they resolved to.
    pub resolved: Vec<ResolvedReference>,
}

/// The notation of a Kubernetes Template.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dialect {
    /// `kubernetes` for `$(P)`, `openshift` for `${P}`.
    pub name: String,
    /// How it was chosen, in a phrase.
    pub chosen: String,
}

/// One reference that was resolved on the way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResolvedReference {
    /// As the template wrote it.
    pub asked: String,
    /// The exact version it got.
    pub version: String,
    /// The digest of that version.
    pub digest: Digest,
}

/// Why processing failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    /// Whose fault it is, and so which status it becomes.
    pub cause: Cause,
    /// One line that sums it up.
    pub message: String,
    /// Everything that is wrong, all at once.
    pub problems: Vec<Problem>,
}

/// Whose fault a failure is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// The values given do not fit.
    Values,
    /// The template itself is broken.
    Template,
    /// A limit was hit.
    Limit,
    /// A reference the template makes names nothing here.
    Reference,
    /// This build cannot process this kind.
    Unsupported,
}

/// One thing that is wrong, or worth saying, about a processing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// How bad.
    pub severity: Severity,
    /// What, in one sentence without a full stop. May quote what is wrong; escaped, so that it can be shown.
    pub message: String,
    /// The file it is in, if it is in one: a path in the version, or `values` for the request's document.
    pub file: Option<String>,
    /// The line in that file, from 1.
    pub line: Option<u32>,
    /// The column, from 1, in characters.
    pub column: Option<u32>,
    /// A JSON pointer into the document, where there is one.
    pub pointer: Option<String>,
    /// What to do about it.
    pub hint: Option<String>,
}

impl Problem {
    /// An error with nothing but its message.
    pub fn error(message: impl Into<String>) -> Problem {
        Problem::new(Severity::Error, message)
    }

    /// A problem of the given severity.
    pub fn new(severity: Severity, message: impl Into<String>) -> Problem {
        Problem {
            severity,
            message: showable(message.into()),
            file: None,
            line: None,
            column: None,
            pointer: None,
            hint: None,
        }
    }

    /// The same, in a file.
    pub fn in_file(mut self, file: impl Into<String>) -> Problem {
        self.file = Some(file.into());
        self
    }

    /// The same, at a line and column from 1.
    pub fn at(mut self, line: u32, column: u32) -> Problem {
        (self.line, self.column) = (Some(line), Some(column));
        self
    }

    /// The same, at a JSON pointer.
    pub fn pointing(mut self, pointer: impl Into<String>) -> Problem {
        self.pointer = Some(pointer.into());
        self
    }

    /// The same, with what to do.
    pub fn hint(mut self, hint: impl Into<String>) -> Problem {
        self.hint = Some(showable(hint.into()));
        self
    }
}

impl Failure {
    /// A failure for one problem, which sums it up itself.
    pub fn one(cause: Cause, problem: Problem) -> Failure {
        Failure { cause, message: problem.message.clone(), problems: vec![problem] }
    }

    /// A failure for several problems; the first sums it up.
    pub fn several(cause: Cause, problems: Vec<Problem>) -> Failure {
        let message = match problems.as_slice() {
            [] => "processing failed".to_owned(),
            [one] => one.message.clone(),
            [first, rest @ ..] => format!("{} (and {} more)", first.message, rest.len()),
        };
        Failure { cause, message, problems }
    }
}
