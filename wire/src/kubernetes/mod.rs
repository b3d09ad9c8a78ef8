//! How answers are said to clients of the Kubernetes API: errors as `Status`, lists, tables, events, and what a client
//! asks first (discovery and OpenAPI).
//!
//! Objects themselves are whatever their template says, so they are JSON values here. Sources: the API concepts and
//! API conventions of Kubernetes; the order of members is that of its own answers.

pub mod discovery;
pub mod openapi;
pub mod table;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The group of the objects.
pub const GROUP: &str = "template.openshift.io";
/// The group and its version, as objects say it.
pub const GROUP_VERSION: &str = "template.openshift.io/v1";
/// The resource, with its group, as messages say it.
pub const QUALIFIED: &str = "templates.template.openshift.io";

/// What an error, and a removal, is answered with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Status {
    kind: String,
    api_version: String,
    metadata: Empty,
    /// `Success` or `Failure`.
    pub status: String,
    /// What happened, for people.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// What happened, in one word for programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What it is about, and every place that is wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<StatusDetails>,
    /// The HTTP status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<u16>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Empty {}

/// What a [`Status`] is about.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StatusDetails {
    /// The name of the object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The group of the resource.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// The resource, or the kind where an object was sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// What tells the object from another of the same name at another time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uid: Option<String>,
    /// Every place that is wrong.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<StatusCause>,
    /// How long to wait before asking again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_seconds: Option<u64>,
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatusCause {
    /// In one word for programs.
    pub reason: String,
    /// For people.
    pub message: String,
    /// Where, as a path of members.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
}

impl Status {
    /// A failure with its HTTP status.
    pub fn failure(code: u16, reason: &str, message: impl Into<String>) -> Status {
        Status {
            kind: "Status".to_owned(),
            api_version: "v1".to_owned(),
            metadata: Empty {},
            status: "Failure".to_owned(),
            message: message.into(),
            reason: Some(reason.to_owned()),
            details: None,
            code: Some(code),
        }
    }

    /// That an object was removed.
    pub fn removed(name: &str, uid: &str) -> Status {
        let details = StatusDetails {
            name: Some(name.to_owned()),
            group: Some(GROUP.to_owned()),
            kind: Some("templates".to_owned()),
            uid: Some(uid.to_owned()),
            ..StatusDetails::default()
        };
        Status {
            status: "Success".to_owned(),
            message: String::new(),
            reason: None,
            details: Some(details),
            code: None,
            ..Status::failure(200, "", "")
        }
    }

    /// The same, about the object of a name.
    pub fn about(mut self, name: &str) -> Status {
        let details = self.details.get_or_insert_default();
        details.name = Some(name.to_owned()).filter(|name| !name.is_empty());
        details.group = Some(GROUP.to_owned());
        details.kind = Some("templates".to_owned());
        self
    }
}

/// Part of a list, with where it goes on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ListMeta {
    /// What was current when the first part was made: where a watch goes on.
    pub resource_version: String,
    /// Sent back, it brings the next part.
    #[serde(rename = "continue", skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// How many objects are in later parts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remaining_item_count: Option<usize>,
}

/// A list of objects.
pub fn list(kind: &str, api_version: &str, metadata: &ListMeta, items: Vec<Value>) -> Value {
    json!({ "kind": kind, "apiVersion": api_version, "metadata": metadata, "items": items })
}

/// What an object is apart from what it holds.
pub fn partial(object: &Value) -> Value {
    json!({
        "kind": "PartialObjectMetadata",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": object.get("metadata").cloned().unwrap_or_default(),
    })
}

/// One line of a watch.
pub fn event(what: &str, object: &impl Serialize) -> Vec<u8> {
    let mut line = serde_json::to_vec(&json!({ "type": what, "object": object })).unwrap_or_default();
    line.push(b'\n');
    line
}
