//! Namespaces of objects. OpenShift removes one that is written out and keeps one that holds `${NAME}`, so that a
//! template lands where it is sent; the proposal says nothing, so there they stay.

use yaml::{Map, Value};

use crate::notation::{Notation, has_quoted_reference};
use crate::scope::is_cluster_wide;

/// What OpenShift does before substitution. Whether a name is declared does not matter; a namespace that is no
/// text becomes the empty one, and an empty one stays.
pub(crate) fn strip(object: &mut Value) {
    let Some(metadata) = object.get_mut("metadata").and_then(Value::as_map_mut) else { return };
    let keeps =
        |namespace: &str| namespace.is_empty() || has_quoted_reference(Notation::OpenShift, namespace);
    match metadata.get("namespace") {
        None => {}
        Some(Value::String(namespace)) if keeps(namespace) => {}
        Some(Value::String(_)) => {
            metadata.shift_remove("namespace");
        }
        Some(_) => {
            metadata.insert("namespace".to_owned(), Value::from(""));
        }
    }
}

/// Puts an object that has no namespace, and can have one, into the caller's.
pub(crate) fn assign(object: &mut Value, namespace: &str) {
    let Some(map) = object.as_map_mut() else { return };
    let text = |key: &str| map.get(key).and_then(Value::as_str).unwrap_or_default();
    if map.contains_key("items") || is_cluster_wide(text("apiVersion"), text("kind")) {
        return;
    }
    let metadata = map.entry("metadata".to_owned()).or_insert_with(|| Value::Map(Map::new()));
    if let Some(metadata) = metadata.as_map_mut()
        && metadata.get("namespace").and_then(Value::as_str).unwrap_or_default().is_empty()
    {
        metadata.insert("namespace".to_owned(), Value::from(namespace));
    }
}
