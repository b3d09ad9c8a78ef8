//! What a server set, or made by itself, goes: it would be refused, ignored, or wrong in another cluster.
//!
//! Sources: the fields the API marks as read-only or set by the system, and what the old `kubectl get --export`
//! removed. Defaults a server filled in stay: they are what the objects mean.

use yaml::{Map, Value};

/// Members of metadata that only a server writes; a namespace is where the objects were, not what they are.
const METADATA: &[&str] = &[
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "generation",
    "managedFields",
    "namespace",
    "ownerReferences",
    "resourceVersion",
    "selfLink",
    "uid",
];

/// Annotations that controllers and clients keep their books in.
const ANNOTATIONS: &[&str] = &[
    "autoscaling.alpha.kubernetes.io/conditions",
    "autoscaling.alpha.kubernetes.io/current-metrics",
    "control-plane.alpha.kubernetes.io/leader",
    "deployment.kubernetes.io/desired-replicas",
    "deployment.kubernetes.io/max-replicas",
    "deployment.kubernetes.io/revision",
    "deprecated.daemonset.template.generation",
    "endpoints.kubernetes.io/last-change-trigger-time",
    "kubectl.kubernetes.io/last-applied-configuration",
    "kubectl.kubernetes.io/restartedAt",
    "openshift.io/generated-by",
    "openshift.io/host.generated",
    "openshift.io/image.dockerRepositoryCheck",
    "openshift.io/internal-registry-pull-secret-ref",
    "pv.kubernetes.io/bind-completed",
    "pv.kubernetes.io/bound-by-controller",
    "pv.kubernetes.io/provisioned-by",
    "volume.beta.kubernetes.io/storage-provisioner",
    "volume.kubernetes.io/selected-node",
    "volume.kubernetes.io/storage-provisioner",
];

/// Finalizers the control plane adds by itself.
const FINALIZERS: &[&str] = &["kubernetes.io/pvc-protection", "kubernetes.io/pv-protection"];

/// Labels the controller of jobs gives.
const JOB_LABELS: &[&str] =
    &["batch.kubernetes.io/controller-uid", "batch.kubernetes.io/job-name", "controller-uid", "job-name"];

/// Why an object is made by others and does not belong in a Template; nothing if it does.
pub(super) fn left_out(object: &Value) -> Option<&'static str> {
    let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let owners = object.pointer("/metadata/ownerReferences").and_then(Value::as_list).unwrap_or_default();
    if owners.iter().any(|owner| owner.get("controller").and_then(Value::as_bool) == Some(true)) {
        return Some("its owner makes it");
    }
    match (text("/kind"), text("/metadata/name")) {
        ("Event" | "Endpoints" | "EndpointSlice" | "Node" | "ComponentStatus" | "Lease", _) => {
            Some("the cluster makes it")
        }
        ("ServiceAccount", "default" | "builder" | "deployer") => Some("every namespace has it"),
        ("ConfigMap", "kube-root-ca.crt" | "openshift-service-ca.crt") => Some("every namespace has it"),
        ("Service", "kubernetes") if text("/metadata/namespace") == "default" => Some("every cluster has it"),
        ("Secret", _) => match text("/type") {
            "kubernetes.io/service-account-token" => Some("the service account's controller makes it"),
            "kubernetes.io/dockercfg" if has_annotation(object, "kubernetes.io/service-account.name") => {
                Some("the service account's controller makes it")
            }
            "helm.sh/release.v1" => Some("Helm keeps its books in it"),
            _ => None,
        },
        _ => None,
    }
}

fn has_annotation(object: &Value, name: &str) -> bool {
    object.pointer("/metadata/annotations").and_then(|map| map.get(name)).is_some()
}

/// Removes what a server set.
pub(super) fn clean(object: &mut Value) {
    let generated_host = has_annotation(object, "openshift.io/host.generated");
    let kind = object.get("kind").and_then(Value::as_str).unwrap_or_default().to_owned();
    remove(object, "", &["status"]);
    by_kind(object, &kind, generated_host);
    metadata(object);
    inner_metadata(object);
    pod_specs(object, &mut pod_spec);
}

/// Removes members of the map at a pointer.
fn remove(object: &mut Value, pointer: &str, keys: &[&str]) {
    if let Some(map) = object.pointer_mut(pointer).and_then(Value::as_map_mut) {
        map.retain(|key, _| !keys.contains(&key.as_str()));
    }
}

/// Removes the map or list at the pointer's last segment, if nothing is left in it.
fn remove_if_empty(object: &mut Value, parent: &str, key: &str) {
    let Some(map) = object.pointer_mut(parent).and_then(Value::as_map_mut) else { return };
    let empty = map.get(key).is_some_and(|value| match value {
        Value::Map(map) => map.is_empty(),
        Value::List(items) => items.is_empty(),
        other => other.is_null(),
    });
    if empty {
        map.shift_remove(key);
    }
}

fn metadata(object: &mut Value) {
    remove(object, "/metadata", METADATA);
    remove(object, "/metadata/annotations", ANNOTATIONS);
    remove_if_empty(object, "/metadata", "annotations");
    if let Some(finalizers) = object.pointer_mut("/metadata/finalizers").and_then(Value::as_list_mut) {
        finalizers.retain(|name| !name.as_str().is_some_and(|name| FINALIZERS.contains(&name)));
    }
    remove_if_empty(object, "/metadata", "finalizers");
}

/// `creationTimestamp: null` and books of controllers in templates of pods, jobs and claims.
fn inner_metadata(value: &mut Value) {
    match value {
        Value::Map(map) => {
            for (key, value) in map.iter_mut() {
                if key == "metadata" && value.is_map() {
                    if value.get("creationTimestamp").is_some_and(Value::is_null) {
                        remove(value, "", &["creationTimestamp"]);
                    }
                    if value.get("annotations").is_some() {
                        remove(value, "/annotations", ANNOTATIONS);
                        remove_if_empty(value, "", "annotations");
                    }
                } else {
                    inner_metadata(value);
                }
            }
        }
        Value::List(items) => items.iter_mut().for_each(inner_metadata),
        _ => {}
    }
}

fn by_kind(object: &mut Value, kind: &str, generated_host: bool) {
    match kind {
        "Service" => {
            let headless = object.pointer("/spec/clusterIP").and_then(Value::as_str) == Some("None");
            let assigned: &[&str] = if headless {
                &["healthCheckNodePort"]
            } else {
                &["clusterIP", "clusterIPs", "healthCheckNodePort", "ipFamilies"]
            };
            remove(object, "/spec", assigned);
            each(object, "/spec/ports", |port| remove(port, "", &["nodePort"]));
        }
        "PersistentVolumeClaim" => remove(object, "/spec", &["volumeName"]),
        "PersistentVolume" => remove(object, "/spec", &["claimRef"]),
        "Namespace" => remove(object, "/spec", &["finalizers"]),
        "DaemonSet" => remove(object, "/spec", &["templateGeneration"]),
        "StatefulSet" => each(object, "/spec/volumeClaimTemplates", |claim| remove(claim, "", &["status"])),
        "Job" if object.pointer("/spec/manualSelector").and_then(Value::as_bool) != Some(true) => {
            remove(object, "/spec", &["selector"]);
            for parent in ["/metadata", "/spec/template/metadata"] {
                remove(object, &format!("{parent}/labels"), JOB_LABELS);
                remove_if_empty(object, parent, "labels");
            }
        }
        "ClusterRole" if object.get("aggregationRule").is_some() => remove(object, "", &["rules"]),
        "ServiceAccount" => service_account(object),
        "Route" if generated_host => remove(object, "/spec", &["host"]),
        "BuildConfig" => each(object, "/spec/triggers", |trigger| {
            remove(trigger, "/imageChange", &["lastTriggeredImageID"]);
        }),
        "DeploymentConfig" => each(object, "/spec/triggers", |trigger| {
            remove(trigger, "/imageChangeParams", &["lastTriggeredImage"]);
        }),
        "ImageStream" => each(object, "/spec/tags", |tag| remove(tag, "", &["generation"])),
        _ => {}
    }
    remove_if_empty(object, "", "spec");
}

fn each(object: &mut Value, pointer: &str, change: impl Fn(&mut Value)) {
    if let Some(items) = object.pointer_mut(pointer).and_then(Value::as_list_mut) {
        items.iter_mut().for_each(change);
    }
}

/// Tokens and pull secrets that are made for an account are named `ACCOUNT-token-…` and `ACCOUNT-dockercfg-…`.
fn service_account(object: &mut Value) {
    let name = object.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default();
    let made = ["token", "dockercfg"].map(|word| format!("{name}-{word}-"));
    for key in ["secrets", "imagePullSecrets"] {
        if let Some(list) = object.get_mut(key).and_then(Value::as_list_mut) {
            let is_made = |one: &Value| {
                let name = one.get("name").and_then(Value::as_str).unwrap_or_default();
                made.iter().any(|prefix| name.starts_with(prefix.as_str()))
            };
            list.retain(|one| !is_made(one));
        }
        remove_if_empty(object, "", key);
    }
}

/// Calls for every pod spec in a value: a map with a list of containers.
pub(super) fn pod_specs(value: &mut Value, change: &mut impl FnMut(&mut Map)) {
    match value {
        Value::Map(map) if matches!(map.get("containers"), Some(Value::List(_))) => change(map),
        Value::Map(map) => map.values_mut().for_each(|value| pod_specs(value, change)),
        Value::List(items) => items.iter_mut().for_each(|item| pod_specs(item, change)),
        _ => {}
    }
}

/// What schedulers and admission add to pods.
fn pod_spec(spec: &mut Map) {
    for key in ["nodeName", "priority"] {
        spec.shift_remove(key);
    }
    if spec.get("serviceAccount") == spec.get("serviceAccountName") {
        spec.shift_remove("serviceAccount");
    }
    let is_token = |name: &str| name.starts_with("kube-api-access-") || name.starts_with("default-token-");
    let named = |value: &Value| value.get("name").and_then(Value::as_str).is_some_and(is_token);
    for list in ["containers", "initContainers", "ephemeralContainers"] {
        for container in spec.get_mut(list).and_then(Value::as_list_mut).into_iter().flatten() {
            if let Some(mounts) = container.get_mut("volumeMounts").and_then(Value::as_list_mut) {
                mounts.retain(|mount| !named(mount));
                remove_if_empty(container, "", "volumeMounts");
            }
        }
    }
    if let Some(volumes) = spec.get_mut("volumes").and_then(Value::as_list_mut) {
        volumes.retain(|volume| !named(volume));
        if volumes.is_empty() {
            spec.shift_remove("volumes");
        }
    }
    let added = |toleration: &Value| {
        let text = |key: &str| toleration.get(key).and_then(Value::as_str).unwrap_or_default();
        toleration.get("tolerationSeconds").and_then(Value::as_i64) == Some(300)
            && matches!(text("key"), "node.kubernetes.io/not-ready" | "node.kubernetes.io/unreachable")
            && text("effect") == "NoExecute"
    };
    if let Some(tolerations) = spec.get_mut("tolerations").and_then(Value::as_list_mut) {
        tolerations.retain(|toleration| !added(toleration));
        if tolerations.is_empty() {
            spec.shift_remove("tolerations");
        }
    }
}
