//! The result's two forms: the flat list of resources, and the tree that shows which template made what.

use yaml::{Map, Value};

/// What one resource came to.
#[derive(Debug, Default)]
pub(crate) struct Expanded {
    /// Plain resources, depth first.
    pub(crate) resources: Vec<Value>,
    /// The node of the tree.
    pub(crate) layout: Map,
    /// What the template calls its outputs, by name.
    pub(crate) outputs: Map,
}

/// A plain resource: it stands for itself, and the tree keeps its name and type.
pub(crate) fn plain(resource: &Map) -> Expanded {
    Expanded { resources: vec![Value::Map(resource.clone())], layout: node(resource), outputs: Map::new() }
}

/// A resource that a template made others of. Properties are shown only where it made some, and had some.
pub(crate) fn expanded(
    resource: &Map,
    properties: Option<&Value>,
    children: Vec<Expanded>,
    outputs: Map,
) -> Expanded {
    let mut layout = node(resource);
    let mut resources = Vec::new();
    let mut nodes = Vec::new();
    for child in children {
        resources.extend(child.resources);
        nodes.push(Value::Map(child.layout));
    }
    if !nodes.is_empty() {
        if let Some(properties) = properties {
            layout.insert("properties".to_owned(), properties.clone());
        }
        layout.insert("resources".to_owned(), Value::List(nodes));
    }
    Expanded { resources, layout, outputs }
}

fn node(resource: &Map) -> Map {
    let members = ["name", "type"]
        .iter()
        .filter_map(|key| resource.get(*key).map(|value| ((*key).to_owned(), value.clone())));
    members.collect()
}

/// What goes to a cluster: the Kubernetes object in a resource's properties, if that is what they are (they say
/// `apiVersion` and `kind`), else the resource itself.
///
/// Deployment Manager handed the properties of a resource whose type names a Kubernetes kind to `kubectl`; those
/// of its other types went to services that do not exist here, so they are shown as they are.
pub(crate) fn object(resource: &Value) -> &Value {
    match resource.get("properties") {
        Some(properties)
            if properties.get("apiVersion").is_some_and(Value::is_string)
                && properties.get("kind").is_some_and(Value::is_string) =>
        {
            properties
        }
        _ => resource,
    }
}

/// The value for an answer, with members in the order of their names, as the original prints.
pub(crate) fn sorted(value: &Value) -> serde_json::Value {
    let mut json = value.to_json();
    json.sort_all_objects();
    json
}
