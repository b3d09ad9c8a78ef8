//! Labels and namespace of a request on objects that other kinds of templates made.

use serde_json::{Map, Value, json};

use crate::scope::is_cluster_wide;

/// Puts a request's labels on a Kubernetes object, and the object into the request's namespace if it has none and
/// can have one. What is no Kubernetes object (it says neither `apiVersion` nor `kind`) stays as it is.
pub fn adopt(object: &mut Value, labels: &[(String, String)], namespace: Option<&str>) {
    let text = |key: &str| object.get(key).and_then(Value::as_str).map(str::to_owned);
    let (Some(api_version), Some(kind)) = (text("apiVersion"), text("kind")) else { return };
    if object.get("items").is_some() {
        return;
    }
    let namespace = namespace.filter(|_| !is_cluster_wide(&api_version, &kind));
    if labels.is_empty() && namespace.is_none() {
        return;
    }
    let Some(map) = object.as_object_mut() else { return };
    let metadata = map.entry("metadata").or_insert_with(|| Value::Object(Map::new()));
    let Some(metadata) = metadata.as_object_mut() else { return };
    if let Some(namespace) = namespace
        && metadata.get("namespace").and_then(Value::as_str).unwrap_or_default().is_empty()
    {
        metadata.insert("namespace".to_owned(), json!(namespace));
    }
    if labels.is_empty() {
        return;
    }
    let own = metadata.entry("labels").or_insert_with(|| Value::Object(Map::new()));
    if let Some(own) = own.as_object_mut() {
        own.extend(labels.iter().map(|(name, value)| (name.clone(), json!(value))));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_labelled_and_placed() {
        let labels = [("l".to_owned(), "v".to_owned())];
        let mut object = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"labels": {"a": "b"}}});
        adopt(&mut object, &labels, Some("n"));
        assert_eq!(object["metadata"], json!({"labels": {"a": "b", "l": "v"}, "namespace": "n"}));
        let mut role = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole"});
        adopt(&mut role, &[], Some("n"));
        assert_eq!(role, json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole"}));
        let mut resource = json!({"name": "a", "type": "vm"});
        adopt(&mut resource, &labels, Some("n"));
        assert_eq!(resource, json!({"name": "a", "type": "vm"}));
    }
}
