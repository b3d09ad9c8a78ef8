//! One resource of a list: its name and type, whether the type is a reference, and what objects and outputs become.

use std::collections::BTreeMap;

use schema::reference::{Reference, Selector};
use yaml::{Map, Value};

use crate::layout::Expanded;
use crate::python::{repr, text};
use crate::references;

/// A resource's map, name and type, if it has them and its name is new in its list. The words are the original's.
pub(crate) fn checked<'v>(
    item: &'v Value,
    names: &mut Vec<&'v Value>,
    title: &str,
) -> Result<(&'v Map, &'v Value, &'v str), String> {
    let Some(map) = item.as_map() else {
        return Err(format!(
            "a resource is of type {}; it must be a map with a name and a type: {}",
            item.kind_name(),
            repr(item)
        ));
    };
    let Some(name) = map.get("name").filter(|name| !name.is_null()) else {
        return Err(format!("Resource does not have a name. Resource: {}", repr(item)));
    };
    let resource_type = match map.get("type") {
        None | Some(Value::Null) => {
            return Err(format!("Resource does not have type defined. Resource: {}", repr(item)));
        }
        Some(Value::String(resource_type)) => resource_type,
        Some(other) => {
            return Err(format!(
                "the type of a resource is of type {}; it must be a text. Resource: {}",
                other.kind_name(),
                repr(item)
            ));
        }
    };
    if names.contains(&name) {
        return Err(format!(
            "Resource name '{}' is not unique in {title}. Resource: {}",
            text(name),
            repr(item)
        ));
    }
    names.push(name);
    Ok((map, name, resource_type))
}

/// Whether a type refers to a version in a registry: it parses as a reference, and says which version. What begins as a
/// template at GitHub does is always one, as in the original: whoever resolves it says what is wrong with it.
///
/// Types of services (`v1/Pod`, `gcp-types/compute-v1:instances`) and file names are none.
pub(crate) fn is_reference(resource_type: &str) -> bool {
    let at_github =
        resource_type.strip_prefix("github.com/").is_some_and(|rest| rest.split('/').count() >= 3);
    at_github
        || resource_type
            .parse::<Reference>()
            .is_ok_and(|reference| reference.selector != Selector::Highest || reference.digest.is_some())
}

/// Whether a type is a URL to fetch a template from.
pub(crate) fn is_url(resource_type: &str) -> bool {
    resource_type.starts_with("http://") || resource_type.starts_with("https://")
}

/// Outputs by name, with references to the outputs of the templates they come from resolved.
pub(crate) fn outputs_of(listed: Option<&Value>, children: &[Expanded]) -> Map {
    let mut known = BTreeMap::new();
    for child in children.iter().filter(|child| !child.outputs.is_empty()) {
        known.insert(text(child.layout.get("name").unwrap_or(&Value::Null)), child.outputs.clone());
    }
    let mut outputs = Map::new();
    for output in listed.and_then(Value::as_list).unwrap_or_default() {
        if let (Some(name), Some(value)) = (output.get("name"), output.get("value")) {
            outputs.insert(text(name), references::resolve(value, &known));
        }
    }
    outputs
}

/// The resource an object of another kind of template becomes.
pub(crate) fn object_as_resource(object: serde_json::Value) -> Map {
    let object = Value::from_json(object);
    let kind = object.get("kind").and_then(Value::as_str).unwrap_or("object").to_owned();
    let name = object.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default();
    let name = format!("{}-{name}", kind.to_lowercase());
    Map::from_iter([
        ("name".to_owned(), Value::from(name)),
        ("type".to_owned(), Value::from(kind)),
        ("properties".to_owned(), object),
    ])
}
