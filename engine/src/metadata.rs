//! What charts, broker configurations and plans say about themselves, read from their metadata alone. Nothing here
//! is processed; that is for dialect crates of their own.

use std::collections::BTreeSet;

use schema::finding::{Finding, Place};
use schema::processing::Template;
use schema::{Inspection, Severity};
use serde_json::{Value as Json, json};
use yaml::{Options, Value};

use crate::rules::UNREADABLE;

/// The first document of a file, or why it cannot be read.
fn first_document(template: &Template, path: &str) -> Result<Value, Box<Finding>> {
    let unreadable = |message: String| Finding::new(&UNREADABLE, path, message);
    let Some(bytes) = template.files.get(path) else {
        return Err(Box::new(unreadable(format!("there is no file `{path}`"))));
    };
    match yaml::load_stream_bytes(bytes, &Options::kubernetes()) {
        Ok(documents) => Ok(documents.into_iter().next().map(|document| document.value).unwrap_or_default()),
        Err(error) => Err(Box::new(unreadable(error.message.clone()).at(error.position.map(Place::from)))),
    }
}

fn unread(finding: Finding) -> Inspection {
    debug_assert_eq!(finding.severity, Severity::Error);
    Inspection { findings: vec![finding], ..Inspection::default() }
}

fn text(value: &Value, pointer: &str) -> Option<String> {
    value.pointer(pointer).and_then(Value::as_str).map(str::to_owned)
}

fn texts(value: &Value, pointer: &str) -> Vec<String> {
    let items = value.pointer(pointer).and_then(Value::as_list).unwrap_or_default();
    items.iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// A chart: `Chart.yaml`, the schema of its values or else its values themselves, kinds from its templates' text.
pub(crate) fn chart(template: &Template) -> Inspection {
    let chart = match first_document(template, &template.entry) {
        Ok(chart) => chart,
        Err(finding) => return unread(*finding),
    };
    let root = template.entry.strip_suffix("Chart.yaml").unwrap_or_default();
    let mut findings = Vec::new();
    let schema = template.files.get(&format!("{root}values.schema.json"));
    let schema = schema.and_then(|bytes| serde_json::from_slice::<Json>(bytes).ok()).filter(Json::is_object);
    let parameters = schema.unwrap_or_else(|| {
        let path = format!("{root}values.yaml");
        if template.files.get(&path).is_none() {
            return Json::Null;
        }
        match first_document(template, &path) {
            Ok(values) => schema_of_defaults(&values, 0),
            Err(finding) => {
                findings.push(*finding);
                Json::Null
            }
        }
    });
    let mut kinds = BTreeSet::new();
    for (path, bytes) in template.files.iter() {
        if path.strip_prefix(root).is_some_and(|path| path.starts_with("templates/"))
            && let Ok(source) = std::str::from_utf8(bytes)
        {
            kinds.extend(kinds_in_text(source));
        }
    }
    Inspection {
        title: text(&chart, "/name"),
        description: text(&chart, "/description"),
        tags: texts(&chart, "/keywords"),
        documentation: text(&chart, "/home"),
        support: texts(&chart, "/sources").into_iter().next(),
        parameters,
        object_kinds: kinds.into_iter().collect(),
        findings,
    }
}

/// A schema that says what values look like by default: types and defaults, maps as nested properties.
fn schema_of_defaults(value: &Value, depth: usize) -> Json {
    match value {
        Value::Map(map) if depth < 8 => {
            let properties =
                map.iter().map(|(name, value)| (name.clone(), schema_of_defaults(value, depth + 1)));
            json!({"type": "object", "properties": properties.collect::<serde_json::Map<_, _>>()})
        }
        Value::Null => json!({}),
        Value::Map(_) => json!({"type": "object"}),
        Value::List(_) => json!({"type": "array", "default": value.to_json()}),
        Value::String(text) => json!({"type": "string", "default": text}),
        Value::Bool(flag) => json!({"type": "boolean", "default": flag}),
        Value::Int(_) | Value::Uint(_) => json!({"type": "integer", "default": value.to_json()}),
        Value::Float(_) => json!({"type": "number", "default": value.to_json()}),
    }
}

/// A service broker configuration: its catalogue's services. A bare list of templates has only names.
pub(crate) fn service_broker(template: &Template) -> Inspection {
    let document = match first_document(template, &template.entry) {
        Ok(document) => document,
        Err(finding) => return unread(*finding),
    };
    let service = document.pointer("/spec/catalog/services/0").cloned().unwrap_or_default();
    let services = document.pointer("/spec/catalog/services").and_then(Value::as_list).unwrap_or_default();
    let mut tags = texts(&service, "/tags");
    tags.extend(services.iter().filter_map(|service| text(service, "/name")));
    Inspection {
        title: text(&service, "/metadata/displayName").or_else(|| text(&service, "/name")),
        description: text(&service, "/metadata/longDescription").or_else(|| text(&service, "/description")),
        tags,
        documentation: text(&service, "/metadata/documentationUrl"),
        support: text(&service, "/metadata/supportUrl"),
        parameters: service
            .pointer("/plans/0/schemas/serviceInstance/create/parameters")
            .map(Value::to_json)
            .unwrap_or_default(),
        object_kinds: kinds_in_values(&document),
        findings: Vec::new(),
    }
}

/// An Interoperator plan: its own metadata, the schema of its instances, kinds from its templates' text.
pub(crate) fn plan(template: &Template) -> Inspection {
    let plan = match first_document(template, &template.entry) {
        Ok(plan) => plan,
        Err(finding) => return unread(*finding),
    };
    let templates = plan.pointer("/spec/templates").and_then(Value::as_list).unwrap_or_default();
    let mut kinds = BTreeSet::new();
    for entry in templates {
        kinds.extend(text(entry, "/content").iter().flat_map(|content| kinds_in_text(content)));
        let file = text(entry, "/url")
            .and_then(|url| template.files.text(url.trim_start_matches("./")).map(str::to_owned));
        kinds.extend(file.iter().flat_map(|content| kinds_in_text(content)));
    }
    Inspection {
        title: text(&plan, "/spec/metadata/displayName").or_else(|| text(&plan, "/spec/name")),
        description: text(&plan, "/spec/description"),
        tags: texts(&plan, "/spec/metadata/tags"),
        documentation: text(&plan, "/spec/metadata/documentationUrl"),
        support: text(&plan, "/spec/metadata/supportUrl"),
        parameters: plan
            .pointer("/spec/schemas/service_instance/create/parameters")
            .map(Value::to_json)
            .unwrap_or_default(),
        object_kinds: kinds.into_iter().collect(),
        findings: Vec::new(),
    }
}

/// Words behind `kind:` at the start of a line, where they are words and no template expressions.
fn kinds_in_text(source: &str) -> BTreeSet<String> {
    let words =
        source.lines().filter_map(|line| line.trim_start().trim_start_matches("- ").strip_prefix("kind:"));
    words
        .map(|word| word.trim().trim_matches(['"', '\'']))
        .filter(|word| is_kind(word))
        .map(str::to_owned)
        .collect()
}

fn is_kind(word: &str) -> bool {
    word.len() <= 63
        && word.starts_with(|c: char| c.is_ascii_uppercase())
        && word.bytes().all(|b| b.is_ascii_alphanumeric())
}

/// Values of members called `kind`, wherever they are below the document itself.
fn kinds_in_values(document: &Value) -> Vec<String> {
    fn walk(value: &Value, kinds: &mut BTreeSet<String>) {
        match value {
            Value::List(items) => items.iter().for_each(|item| walk(item, kinds)),
            Value::Map(map) => {
                let kind = map.get("kind").and_then(Value::as_str).filter(|kind| is_kind(kind));
                kinds.extend(kind.filter(|_| map.contains_key("apiVersion")).map(str::to_owned));
                map.values().for_each(|value| walk(value, kinds));
            }
            _ => {}
        }
    }
    let mut kinds = BTreeSet::new();
    walk(document, &mut kinds);
    kinds.remove("ServiceBrokerConfig");
    kinds.into_iter().collect()
}
