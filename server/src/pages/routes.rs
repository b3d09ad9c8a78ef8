//! `/docs/openapi`: the API, route by route, from the very document that machines read.

use std::sync::LazyLock;

use askama::Template;
use serde_json::{Map, Value};

use crate::access::Caller;
use crate::api;
use crate::error::ApiResult;
use crate::pages::{self, Frame};
use crate::state::App;

/// Methods a path of the document may have, in the order they are shown.
const METHODS: [&str; 5] = ["get", "post", "put", "patch", "delete"];

#[derive(Template)]
#[template(path = "routes.html")]
struct Routes {
    frame: Frame,
    groups: &'static [Group],
    example: String,
}

/// Operations of one tag.
struct Group {
    name: String,
    description: String,
    operations: Vec<Operation>,
}

struct Operation {
    id: String,
    method: String,
    path: String,
    summary: String,
    description: String,
    parameters: Vec<Parameter>,
    body: Option<String>,
    answers: Vec<(String, String)>,
    /// Whether it needs a token.
    token: bool,
}

struct Parameter {
    name: String,
    place: String,
    required: bool,
    description: String,
}

static GROUPS: LazyLock<Vec<Group>> = LazyLock::new(|| groups(api::openapi::document()));

/// The page.
pub(crate) fn routes(app: &App, caller: &Caller) -> ApiResult {
    pages::page(&Routes {
        frame: Frame::new(app, caller, "API").at("/docs"),
        groups: &GROUPS,
        example: format!("curl -fsS '{}/api/v1/search?q=redis&limit=3'", app.shown_base),
    })
}

fn groups(document: &Value) -> Vec<Group> {
    let tags = document.get("tags").and_then(Value::as_array).into_iter().flatten();
    let mut groups = tags
        .map(|tag| Group {
            name: text(tag, "name"),
            description: text(tag, "description"),
            operations: Vec::new(),
        })
        .collect::<Vec<_>>();
    let paths = document.get("paths").and_then(Value::as_object).into_iter().flatten();
    for (path, item) in paths {
        for method in METHODS {
            let Some(operation) = item.get(method) else { continue };
            let tag = operation.pointer("/tags/0").and_then(Value::as_str).unwrap_or_default();
            let read = read(path, method, operation);
            match groups.iter_mut().find(|group| group.name == tag) {
                Some(group) => group.operations.push(read),
                None => groups.push(Group {
                    name: tag.to_owned(),
                    description: String::new(),
                    operations: vec![read],
                }),
            }
        }
    }
    groups.retain(|group| !group.operations.is_empty());
    groups
}

fn read(path: &str, method: &str, operation: &Value) -> Operation {
    let parameters = operation.get("parameters").and_then(Value::as_array).into_iter().flatten();
    let parameter = |parameter: &Value| Parameter {
        name: text(parameter, "name"),
        place: text(parameter, "in"),
        required: parameter.get("required").and_then(Value::as_bool).unwrap_or(false),
        description: text(parameter, "description"),
    };
    let empty = Map::new();
    let answers = operation.get("responses").and_then(Value::as_object).unwrap_or(&empty);
    Operation {
        id: text(operation, "operationId"),
        method: method.to_ascii_uppercase(),
        path: path.to_owned(),
        summary: text(operation, "summary"),
        description: text(operation, "description"),
        parameters: parameters.map(parameter).collect(),
        body: operation.get("requestBody").map(|body| text(body, "description")),
        answers: answers
            .iter()
            .map(|(status, answer)| (status.clone(), text(answer, "description")))
            .collect(),
        token: operation
            .get("security")
            .and_then(Value::as_array)
            .is_some_and(|security| !security.is_empty()),
    }
}

fn text(value: &Value, key: &str) -> String {
    value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
}
