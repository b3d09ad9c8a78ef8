//! What a client asks before anything else: which versions, groups and resources there are.

use serde_json::{Value, json};

use super::{GROUP, GROUP_VERSION};

/// The Kubernetes version whose way of speaking this is. Clients compare it with their own.
const SPOKEN: &str = "v1.20.0+formwork";

/// `/version`
pub fn version() -> Value {
    json!({
        "major": "1",
        "minor": "20",
        "gitVersion": SPOKEN,
        "gitCommit": "",
        "gitTreeState": "",
        "buildDate": "",
        "goVersion": "",
        "compiler": "",
        "platform": "",
    })
}

/// `/api`
pub fn core_versions() -> Value {
    json!({ "kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": [] })
}

/// `/api/v1`
pub fn core_resources() -> Value {
    let namespaces = json!({
        "name": "namespaces",
        "singularName": "",
        "namespaced": false,
        "kind": "Namespace",
        "verbs": ["get", "list"],
        "shortNames": ["ns"],
    });
    json!({ "kind": "APIResourceList", "groupVersion": "v1", "resources": [namespaces] })
}

/// `/apis`
pub fn groups() -> Value {
    json!({ "kind": "APIGroupList", "apiVersion": "v1", "groups": [group_members()] })
}

/// `/apis/template.openshift.io`
pub fn group() -> Value {
    let mut group = group_members();
    group["kind"] = json!("APIGroup");
    group["apiVersion"] = json!("v1");
    group
}

fn group_members() -> Value {
    let version = json!({ "groupVersion": GROUP_VERSION, "version": "v1" });
    json!({ "name": GROUP, "versions": [version], "preferredVersion": version })
}

/// `/apis/template.openshift.io/v1`
pub fn resources() -> Value {
    let resource = |name: &str, kind: &str, verbs: &[&str]| json!({ "name": name, "singularName": "", "namespaced": true, "kind": kind, "verbs": verbs });
    let mut templates =
        resource("templates", "Template", &["create", "delete", "get", "list", "patch", "update", "watch"]);
    templates["singularName"] = json!("template");
    let mut processed = resource("processedtemplates", "Template", &["create"]);
    processed["singularName"] = json!("processedtemplate");
    let one_processed = resource("templates/processed", "Template", &["create"]);
    json!({
        "kind": "APIResourceList",
        "apiVersion": "v1",
        "groupVersion": GROUP_VERSION,
        // Of several resources of one kind clients take the last for what has objects of that kind.
        "resources": [processed, templates, one_processed],
    })
}

/// A namespace.
pub fn namespace(name: &str) -> Value {
    json!({
        "kind": "Namespace",
        "apiVersion": "v1",
        "metadata": { "name": name },
        "spec": {},
        "status": { "phase": "Active" },
    })
}
