//! What was filled in: from the pairs of a form or a link to the request to process, and back to a link.
//!
//! A field is named `p` and the JSON pointer of its parameter (`p/NAME`, `p/storage/size`), so that no parameter can
//! be mistaken for a field of our own. This module must not know how a form looks.

use std::collections::BTreeMap;

use schema::Kind;
use serde_json::{Map, Value};
use wire::process::ProcessRequest;

use super::fields::{Field, Form};
use crate::target::encode_query;

/// What every field of a parameter is called first.
pub(super) const PREFIX: &str = "p";

/// The most pairs that are looked at: more than any form of ours has.
const MOST_PAIRS: usize = 2_000;

/// What somebody filled in.
#[derive(Debug, Default)]
pub(super) struct Filled {
    /// The texts of fields, by the pointer of their parameter.
    values: BTreeMap<String, String>,
    pub(super) namespace: String,
    pub(super) seed: String,
    /// Whether all fields of the form are here, so that a box without a text is one that is not ticked.
    pub(super) whole: bool,
    /// Whether the objects are wanted as a file.
    pub(super) download: bool,
}

impl Filled {
    /// Reads the body of a form, or the query of a link.
    pub(super) fn parse(pairs: &[u8]) -> Filled {
        let mut filled = Filled::default();
        for (name, value) in form_urlencoded::parse(pairs).take(MOST_PAIRS) {
            match &*name {
                "namespace" => filled.namespace = value.trim().to_owned(),
                "seed" => filled.seed = value.into_owned(),
                "whole" => filled.whole = true,
                "download" => filled.download = true,
                other => {
                    if let Some(pointer) = other.strip_prefix(PREFIX).filter(|rest| rest.starts_with('/')) {
                        filled.values.insert(pointer.to_owned(), value.into_owned());
                    }
                }
            }
        }
        filled
    }

    /// What an example gives, as if it had been filled in.
    pub(super) fn of_example(kind: Kind, example: &Value, form: &Form) -> Filled {
        let mut filled = Filled { whole: true, ..Filled::default() };
        let text = |key: &str| example.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        (filled.namespace, filled.seed) = (text("namespace"), text("seed"));
        let given = parameters_of(kind, example);
        for field in form.fields() {
            let value = given.and_then(|given| given.pointer(&field.pointer)).or(field.default.as_ref());
            if let Some(value) = value {
                filled.values.insert(field.pointer.clone(), field.written(value));
            }
        }
        filled
    }

    /// Whether anything at all was filled in.
    pub(super) fn is_empty(&self) -> bool {
        self.values.is_empty() && !self.whole
    }

    /// The text that stands in a field.
    pub(super) fn text(&self, field: &Field) -> String {
        match self.values.get(&field.pointer) {
            Some(text) => text.clone(),
            None if self.whole => String::new(),
            None => field.default.as_ref().map(|value| field.written(value)).unwrap_or_default(),
        }
    }

    /// The values that differ from what the template takes by itself, by field.
    pub(super) fn changed<'f>(&self, form: &'f Form) -> Vec<(&'f Field, Value)> {
        let changed = |field: &'f Field| {
            let value = field.value(&self.text(field))?;
            (field.default.as_ref() != Some(&value)).then_some((field, value))
        };
        form.fields().filter_map(changed).collect()
    }

    /// The request that was filled in. What the template takes by itself is left to the template.
    pub(super) fn request(&self, kind: Kind, form: &Form) -> ProcessRequest {
        let mut parameters = Value::Object(Map::new());
        for (field, value) in self.changed(form) {
            put(&mut parameters, &field.pointer, value);
        }
        let is_empty = parameters.as_object().is_none_or(Map::is_empty);
        let values = match (kind, is_empty) {
            (_, true) => None,
            (Kind::Template, false) => Some(serde_json::json!({ "parameters": parameters })),
            (Kind::DmJinja | Kind::DmPython, false) => Some(serde_json::json!({ "properties": parameters })),
            (_, false) => Some(parameters),
        };
        let given = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        ProcessRequest {
            values,
            namespace: given(&self.namespace),
            seed: given(&self.seed),
            ..ProcessRequest::default()
        }
    }

    /// The query of a link that brings these values back, and the names of those it leaves out: secrets never stand
    /// in an address.
    pub(super) fn link(&self, form: &Form) -> (String, usize, Vec<String>) {
        let (mut query, mut carried, mut left_out) = (Vec::new(), 0, Vec::new());
        for (field, value) in self.changed(form) {
            if field.secret {
                left_out.push(field.name());
                continue;
            }
            carried += 1;
            let name = encode_query(&format!("{PREFIX}{}", field.pointer));
            query.push(format!("{name}={}", encode_query(&field.written(&value))));
        }
        for (name, value) in [("namespace", &self.namespace), ("seed", &self.seed)] {
            if !value.is_empty() {
                carried += 1;
                query.push(format!("{name}={}", encode_query(value)));
            }
        }
        (query.join("&"), carried, left_out)
    }
}

/// Where an example of a kind holds the parameters.
fn parameters_of(kind: Kind, example: &Value) -> Option<&Value> {
    match kind {
        Kind::Template => example.get("parameters"),
        Kind::DmJinja | Kind::DmPython => {
            // Either the properties, or a configuration whose first resource deploys the template.
            example.get("properties").or_else(|| example.pointer("/resources/0/properties"))
        }
        _ => Some(example),
    }
}

/// Puts a value where a pointer leads, through maps that come into being on the way.
fn put(document: &mut Value, pointer: &str, value: Value) {
    let mut at = document;
    for segment in pointer.split('/').skip(1) {
        let segment = segment.replace("~1", "/").replace("~0", "~");
        if !at.is_object() {
            *at = Value::Object(Map::new());
        }
        let Value::Object(map) = at else { return };
        at = map.entry(segment).or_insert(Value::Null);
    }
    *at = value;
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn form() -> Form {
        Form::of(&json!({
            "type": "object",
            "required": ["NAME"],
            "properties": {
                "NAME": {"type": "string"},
                "REPLICAS": {"type": "integer", "default": 3},
                "DEBUG": {"type": "boolean", "default": true},
                "PASSWORD": {"type": "string", "writeOnly": true},
                "storage": {"type": "object", "properties": {"size/class": {"type": "string"}}},
            },
        }))
    }

    #[test]
    fn a_form_becomes_a_request_with_what_differs() {
        let filled = Filled::parse(
            b"whole=1&p/NAME=orders&p/REPLICAS=3&p/PASSWORD=s%26cret&p/storage/size~1class=a+b&namespace=shop&x=1",
        );
        let request = filled.request(Kind::Template, &form());
        assert_eq!(
            request.values,
            Some(json!({"parameters": {
                "NAME": "orders", "DEBUG": false, "PASSWORD": "s&cret", "storage": {"size/class": "a b"},
            }}))
        );
        assert_eq!(request.namespace.as_deref(), Some("shop"));
        let properties = filled.request(Kind::DmJinja, &form()).values.unwrap();
        assert_eq!(properties["properties"]["NAME"], "orders");
    }

    #[test]
    fn a_link_carries_the_values_and_never_a_secret() {
        let filled = Filled::parse(b"whole=1&p/NAME=a%26b&p/REPLICAS=5&p/DEBUG=on&p/PASSWORD=hunter2");
        let (query, carried, left_out) = filled.link(&form());
        assert_eq!(query, "p/NAME=a%26b&p/REPLICAS=5");
        assert_eq!((carried, left_out), (2, vec!["PASSWORD".to_owned()]));
        let again = Filled::parse(query.as_bytes());
        assert_eq!(again.request(Kind::Chart, &form()).values, Some(json!({"NAME": "a&b", "REPLICAS": 5})));
    }

    #[test]
    fn a_link_without_values_takes_the_defaults() {
        let filled = Filled::parse(b"");
        assert!(filled.is_empty());
        assert_eq!(filled.request(Kind::Template, &form()).values, None);
    }

    #[test]
    fn examples_fill_the_form() {
        let example = json!({"resources": [{"name": "x", "type": "t.jinja", "properties": {"NAME": "n", "DEBUG": false}}]});
        let filled = Filled::of_example(Kind::DmJinja, &example, &form());
        let values = filled.request(Kind::DmJinja, &form()).values.unwrap();
        assert_eq!(values, json!({"properties": {"NAME": "n", "DEBUG": false}}));
    }
}
