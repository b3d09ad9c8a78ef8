//! What `POST …/-/process` takes and answers.
//!
//! A body is an envelope around a values document: `{"values": …, "name": …}`. As the values document of most
//! kinds is an object itself, it may also stand in the envelope directly: `{"parameters": {"NAME": "orders"}}`. So
//! whatever an `example.yaml` holds can be sent as it is.

use std::collections::BTreeMap;

use schema::processing::{self, Outcome};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::problem::Detail;

/// The body of a request to process.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct ProcessRequest {
    /// The values document, in the form the kind documents: what an `example.yaml` holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub values: Option<Value>,
    /// `NAME=VALUE` settings on top of the values, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(example = json!(["NAME=orders"]))]
    pub set: Vec<String>,
    /// The name of the deployment or release; the template's name if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The namespace the objects are for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// Labels to add to every object.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// Kubernetes Templates: `kubernetes` for `$(P)`, `openshift` for `${P}`; told from the template if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dialect: Option<String>,
    /// The form of the answer: `json` (this envelope), `objects`, `original` or `yaml`. The query parameter goes first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<Output>,
    /// References to parameters that do not exist are errors.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub strict: bool,
    /// Values for parameters that do not exist are diagnostics, not errors.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub ignore_unknown: bool,
    /// Makes generated values repeatable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<String>,
    /// Every other member: the values document without its envelope, such as `parameters` or `properties`.
    #[serde(flatten)]
    #[schema(value_type = Object)]
    pub rest: Map<String, Value>,
}

/// The form an answer to a request to process takes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Output {
    /// [`ProcessAnswer`].
    #[default]
    Json,
    /// The objects alone, as a JSON array.
    Objects,
    /// The original's own form: a `v1 List`, or `{resources}`.
    Original,
    /// The objects as a stream of YAML documents, for `kubectl apply -f -`.
    Yaml,
}

impl Output {
    /// The form a word names.
    pub fn from_word(word: &str) -> Option<Output> {
        match word {
            "json" | "full" => Some(Output::Json),
            "objects" => Some(Output::Objects),
            "original" => Some(Output::Original),
            "yaml" => Some(Output::Yaml),
            _ => None,
        }
    }
}

/// A body that is no request to process.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// Both the envelope's `values` and members beside it.
    #[error("`values` and `{0}` are both given; put everything into one of them")]
    TwoDocuments(String),
    /// A setting without `=`.
    #[error("`{0}` in `set` is no setting; write NAME=VALUE")]
    Setting(String),
}

impl ProcessRequest {
    /// The request as the engine takes it. `now` is seconds since the epoch, `entropy` 32 random bytes in
    /// hexadecimal: the engine has neither a clock nor a generator.
    ///
    /// # Errors
    /// When the values are given twice or a setting has no `=`.
    pub fn into_request(self, now: i64, entropy: String) -> Result<processing::Request, RequestError> {
        let values = match (self.values, self.rest.keys().next()) {
            (Some(_), Some(other)) => {
                return Err(RequestError::TwoDocuments(schema::finding::shown(other.as_bytes())));
            }
            (Some(values), None) => values,
            (None, Some(_)) => Value::Object(self.rest),
            (None, None) => Value::Null,
        };
        let set = self.set.into_iter().map(|setting| match setting.split_once('=') {
            Some((name, value)) => Ok((name.to_owned(), value.to_owned())),
            None => Err(RequestError::Setting(schema::finding::shown(setting.as_bytes()))),
        });
        Ok(processing::Request {
            values,
            set: set.collect::<Result<_, _>>()?,
            name: self.name,
            namespace: self.namespace,
            labels: self.labels.into_iter().collect(),
            dialect: self.dialect,
            strict: self.strict,
            ignore_unknown: self.ignore_unknown,
            seed: self.seed,
            now,
            entropy,
        })
    }
}

/// What processing made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ProcessAnswer {
    /// The reference as it was asked.
    pub requested: String,
    /// Every reference that was resolved, the one asked for first, then what the template refers to.
    pub resolved: Vec<Pin>,
    /// The objects, in order.
    #[schema(value_type = Vec<Object>)]
    pub objects: Vec<Value>,
    /// The same in the original's own form, if it has one.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    #[schema(value_type = Object)]
    pub original: Value,
    /// Deployment Manager: the nested layout.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub layout: Option<Value>,
    /// Named outputs, if the kind has them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub outputs: Option<Value>,
    /// Kubernetes Templates: the notation, and how it was told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dialect: Option<Dialect>,
    /// Names of parameters whose values were generated.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub generated: Vec<String>,
    /// What is worth saying although it worked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub diagnostics: Vec<Detail>,
}

/// A reference and what it got.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Pin {
    /// As it was asked.
    pub asked: String,
    /// The exact version.
    pub version: String,
    /// Its digest.
    pub digest: String,
}

/// The notation of a Kubernetes Template.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Dialect {
    /// `kubernetes` or `openshift`.
    pub name: String,
    /// How it was chosen.
    pub chosen: String,
}

impl ProcessAnswer {
    /// The answer for an outcome. `own` is the version that was asked for.
    pub fn new(requested: String, own: Pin, outcome: Outcome) -> ProcessAnswer {
        let others = outcome.resolved.into_iter().map(|reference| Pin {
            asked: reference.asked,
            version: reference.version,
            digest: reference.digest.to_string(),
        });
        ProcessAnswer {
            requested,
            resolved: std::iter::once(own).chain(others).collect(),
            objects: outcome.objects,
            original: outcome.original,
            layout: outcome.layout,
            outputs: outcome.outputs,
            dialect: outcome.dialect.map(|dialect| Dialect { name: dialect.name, chosen: dialect.chosen }),
            generated: outcome.generated,
            diagnostics: outcome.diagnostics.into_iter().map(Detail::from).collect(),
        }
    }
}
