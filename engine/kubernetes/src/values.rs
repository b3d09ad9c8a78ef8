//! The values document of a Template, with what the request says beside it.
//!
//! ```yaml
//! parameters: {NAME: value}     # or a list of {name, value}; numbers and booleans are taken as their text
//! labels: {app: x}
//! namespace: prod               # for objects that have none
//! dialect: openshift            # or kubernetes, where it cannot be told
//! output: List                  # or Template
//! strict: false                 # undefined references are errors
//! ignoreUnknown: false          # unknown parameters are warnings
//! groupify: true                # v1 objects of OpenShift's kinds move to their groups
//! seed: text                    # makes generated values repeatable
//! instance: name                # a label of that value on every object, so that several live side by side;
//!                               # true makes a name that is unique to this processing
//! ```
//! What the request says in fields of its own goes before the document, `set` pairs before its parameters.

use std::collections::{BTreeSet, HashSet};

use indexmap::IndexMap;
use schema::processing::{Problem, Request};
use serde_json::Value as Json;

/// In which form the result comes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Output {
    /// A `v1 List` of the objects, as `oc process` prints.
    #[default]
    List,
    /// The Template with objects and values filled in, as the proposal's endpoint answers.
    Template,
}

/// The name of one processing among several of the same template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Instance {
    /// Given: the value of a label.
    Named(String),
    /// To be made, unlike any other.
    Unique,
}

/// A value given for a parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Given {
    pub(crate) value: String,
    /// Where it stands in the values document; `None` for a `set` pair.
    pub(crate) pointer: Option<String>,
}

/// Everything the caller said.
#[derive(Debug, Default)]
pub(crate) struct Values {
    /// By name; a `set` pair has replaced the document's.
    pub(crate) given: IndexMap<String, Given>,
    /// Later ones win.
    pub(crate) labels: Vec<(String, String)>,
    pub(crate) namespace: Option<String>,
    pub(crate) dialect: Option<String>,
    pub(crate) output: Output,
    pub(crate) strict: bool,
    pub(crate) ignore_unknown: bool,
    pub(crate) groupify: bool,
    pub(crate) seed: Option<String>,
    pub(crate) instance: Option<Instance>,
    /// What is wrong with it.
    pub(crate) problems: Vec<Problem>,
}

impl Values {
    fn error(&mut self, pointer: &str, message: impl Into<String>) -> &mut Problem {
        self.problems.push(Problem::error(message).in_file("values").pointing(pointer));
        let last = self.problems.len() - 1;
        &mut self.problems[last]
    }

    fn text(&mut self, key: &str, value: &Json) -> Option<String> {
        match value {
            Json::Null => None,
            Json::String(text) => Some(text.clone()),
            other => {
                self.error(&format!("/{key}"), format!("`{key}` must be a text, not {}", kind(other)));
                None
            }
        }
    }

    fn flag(&mut self, key: &str, value: &Json, default: bool) -> bool {
        match value {
            Json::Null => default,
            Json::Bool(flag) => *flag,
            other => {
                self.error(&format!("/{key}"), format!("`{key}` must be true or false, not {}", kind(other)));
                default
            }
        }
    }

    fn instance(&mut self, value: &Json) {
        match value {
            Json::Bool(true) => self.instance = Some(Instance::Unique),
            Json::Bool(false) => self.instance = None,
            _ => {
                let Some(name) = self.text("instance", value) else { return };
                if is_label_value(&name) && !name.is_empty() {
                    self.instance = Some(Instance::Named(name));
                } else {
                    let shown = schema::finding::shown(name.as_bytes());
                    self.error("/instance", format!("`{shown}` cannot be the value of a label")).hint = Some(
                        "use at most 63 letters, digits, -, _ and ., the first and last a letter or digit"
                            .to_owned(),
                    );
                }
            }
        }
    }

    fn give(&mut self, name: &str, value: &Json, pointer: String) {
        let value = match value {
            // Nothing is given: the template's own value stands.
            Json::Null => return,
            Json::String(text) => text.clone(),
            other => other.to_string(),
        };
        if self.given.contains_key(name) {
            self.error(&pointer, format!("the parameter `{name}` is given twice"));
            return;
        }
        self.given.insert(name.to_owned(), Given { value, pointer: Some(pointer) });
    }

    fn parameters(&mut self, value: &Json) {
        match value {
            Json::Null => {}
            Json::Object(map) => {
                for (name, value) in map {
                    self.give(name, value, format!("/parameters/{}", crate::document::pointer_segment(name)));
                }
            }
            Json::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    let pointer = format!("/parameters/{index}");
                    match item.get("name").and_then(Json::as_str) {
                        Some(name) => self.give(name, item.get("value").unwrap_or(&Json::Null), pointer),
                        None => {
                            self.error(&pointer, "a listed parameter needs a `name` that is a text");
                        }
                    }
                }
            }
            other => {
                let message =
                    format!("`parameters` must be a map, or a list of name and value, not {}", kind(other));
                self.error("/parameters", message);
            }
        }
    }

    fn labels(&mut self, value: &Json) {
        let Json::Object(map) = value else {
            if !value.is_null() {
                self.error("/labels", format!("`labels` must be a map of texts, not {}", kind(value)));
            }
            return;
        };
        for (name, value) in map {
            match value {
                Json::String(text) => self.labels.push((name.clone(), text.clone())),
                Json::Number(_) | Json::Bool(_) => self.labels.push((name.clone(), value.to_string())),
                other => {
                    self.error("/labels", format!("the label `{name}` must be a text, not {}", kind(other)));
                }
            }
        }
    }

    fn document(&mut self, values: &Json) {
        let map = match values {
            Json::Null => return,
            Json::Object(map) => map,
            other => {
                self.error("", format!("the values must be a map, not {}", kind(other)));
                return;
            }
        };
        for (key, value) in map {
            match key.as_str() {
                "parameters" => self.parameters(value),
                "labels" => self.labels(value),
                "namespace" => self.namespace = self.text(key, value),
                "dialect" => self.dialect = self.text(key, value),
                "seed" => self.seed = self.text(key, value),
                "instance" => self.instance(value),
                "strict" => self.strict = self.flag(key, value, false),
                "ignoreUnknown" => self.ignore_unknown = self.flag(key, value, false),
                "groupify" => self.groupify = self.flag(key, value, true),
                "output" => match self.text(key, value).as_deref() {
                    None | Some("List") => self.output = Output::List,
                    Some("Template") => self.output = Output::Template,
                    Some(other) => {
                        self.error("/output", format!("`{other}` is not a form of output")).hint =
                            Some("write List or Template".to_owned());
                    }
                },
                // A values file may name its template; which one it is was settled before.
                "template" => {}
                other => {
                    let hint = "known are parameters, labels, namespace, dialect, output, strict, ignoreUnknown, \
                                groupify, seed and instance; parameters go under `parameters:`";
                    self.error(
                        &format!("/{}", crate::document::pointer_segment(other)),
                        format!("`{other}` is not known here"),
                    )
                    .hint = Some(hint.to_owned());
                }
            }
        }
    }
}

/// Whether Kubernetes takes a text as the value of a label.
pub(crate) fn is_label_value(text: &str) -> bool {
    let ends = |byte: Option<&u8>| byte.is_none_or(u8::is_ascii_alphanumeric);
    let inner = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    let bytes = text.as_bytes();
    bytes.len() <= 63 && ends(bytes.first()) && ends(bytes.last()) && bytes.iter().copied().all(inner)
}

fn kind(value: &Json) -> &'static str {
    match value {
        Json::Null => "null",
        Json::Bool(_) => "a boolean",
        Json::Number(_) => "a number",
        Json::String(_) => "a text",
        Json::Array(_) => "a list",
        Json::Object(_) => "a map",
    }
}

/// Reads all of a request.
pub(crate) fn read(request: &Request) -> Values {
    let mut values = Values { groupify: true, ..Values::default() };
    values.document(&request.values);
    let (mut once, mut twice) = (HashSet::new(), BTreeSet::new());
    for (name, value) in &request.set {
        if once.insert(name.as_str()) {
            values.given.insert(name.clone(), Given { value: value.clone(), pointer: None });
        } else {
            twice.insert(name.as_str());
        }
    }
    if !twice.is_empty() {
        let message = format!(
            "The following parameters were provided more than once: {}",
            twice.into_iter().collect::<Vec<_>>().join(", ")
        );
        values.problems.push(Problem::error(message).hint("give each parameter once"));
    }
    values.labels.extend(request.labels.iter().cloned());
    values.namespace = request.namespace.clone().or(values.namespace);
    values.dialect = request.dialect.clone().or(values.dialect);
    values.seed = request.seed.clone().or(values.seed);
    values.strict |= request.strict;
    values.ignore_unknown |= request.ignore_unknown;
    values
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn request(values: Json, set: &[(&str, &str)]) -> Request {
        let set = set.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Request { values, set, ..Request::default() }
    }

    #[test]
    fn parameters_as_a_map_or_a_list_with_scalars_as_text() {
        let map = read(&request(json!({"parameters": {"A": 1, "B": true, "C": "x", "D": null}}), &[]));
        let list = read(&request(
            json!({"parameters": [{"name": "A", "value": 1}, {"name": "B", "value": true}, {"name": "C", "value": "x"}]}),
            &[],
        ));
        let plain = |values: &Values| {
            values.given.iter().map(|(name, g)| (name.clone(), g.value.clone())).collect::<Vec<_>>()
        };
        assert_eq!(plain(&map), plain(&list));
        assert_eq!(plain(&map)[1], ("B".to_owned(), "true".to_owned()));
        assert!(map.problems.is_empty() && list.problems.is_empty());
    }

    #[test]
    fn pairs_go_before_the_document_and_fields_before_it_too() {
        let mut request = request(
            json!({"parameters": {"A": "document"}, "seed": "a", "namespace": "n"}),
            &[("A", "pair")],
        );
        request.seed = Some("b".to_owned());
        let values = read(&request);
        assert_eq!(values.given["A"], Given { value: "pair".to_owned(), pointer: None });
        assert_eq!((values.seed.as_deref(), values.namespace.as_deref()), (Some("b"), Some("n")));
    }

    #[test]
    fn everything_wrong_is_said_at_once() {
        let values = read(&request(
            json!({"parameter": {}, "strict": "yes", "output": "Config"}),
            &[("A", "1"), ("A", "2")],
        ));
        let messages = values.problems.iter().map(|problem| problem.message.as_str()).collect::<Vec<_>>();
        assert_eq!(messages.len(), 4, "{messages:?}");
        assert_eq!(messages[3], "The following parameters were provided more than once: A");
    }
}
