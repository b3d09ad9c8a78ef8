//! Layouts: which resources a deployment has, and where in the tree. Pure.

use std::collections::BTreeSet;

use serde_json::Value;
use wire::dm::Instance;

/// The resources of a layout of some type, `all` for every type, in the order of the tree.
pub(super) fn instances(layout: &Value, of: &str, deployment: &str, manifest: &str) -> Vec<Instance> {
    let mut found = Vec::new();
    walk(layout, "$", &mut |name, resource_type, path| {
        if of == "all" || of == resource_type {
            found.push(Instance {
                name: name.to_owned(),
                resource_type: resource_type.to_owned(),
                deployment: deployment.to_owned(),
                manifest: manifest.to_owned(),
                path: path.to_owned(),
            });
        }
    });
    found
}

/// Adds the types of a layout.
pub(super) fn types(layout: &Value, found: &mut BTreeSet<String>) {
    walk(layout, "$", &mut |_, resource_type, _| {
        found.insert(resource_type.to_owned());
    });
}

/// Calls for every resource below a node. Not deeper than what made the layout went.
fn walk(node: &Value, path: &str, call: &mut dyn FnMut(&str, &str, &str)) {
    for (index, resource) in node["resources"].as_array().into_iter().flatten().enumerate() {
        let path = format!("{path}.resources[{index}]");
        let name = match &resource["name"] {
            Value::String(name) => name.clone(),
            other => other.to_string(),
        };
        call(&name, resource["type"].as_str().unwrap_or_default(), &path);
        walk(resource, &path, call);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn resources_are_found_with_their_places() {
        let layout = json!({"resources": [
            {"name": "a", "type": "T", "resources": [{"name": "b", "type": "Pod"}, {"name": 1, "type": "Pod"}]},
            {"name": "c", "type": "Pod"},
        ]});
        let pods = instances(&layout, "Pod", "d", "m");
        let places = pods.iter().map(|one| (one.name.as_str(), one.path.as_str())).collect::<Vec<_>>();
        assert_eq!(
            places,
            [
                ("b", "$.resources[0].resources[0]"),
                ("1", "$.resources[0].resources[1]"),
                ("c", "$.resources[1]")
            ]
        );
        assert_eq!(instances(&layout, "all", "d", "m").len(), 4);
        assert!(instances(&json!({}), "all", "d", "m").is_empty());
        let mut found = BTreeSet::new();
        types(&layout, &mut found);
        assert_eq!(found.into_iter().collect::<Vec<_>>(), ["Pod", "T"]);
    }
}
