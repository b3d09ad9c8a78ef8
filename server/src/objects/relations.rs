//! Where Kubernetes objects name others: in pod specs, selectors, backends, targets and roles.
//!
//! Read leniently: what has not the shape it should have refers to nothing. Names are followed within one namespace;
//! an object without one is in whichever the others are in. What is optional, or part of every cluster, is not
//! expected of it.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::{Edge, How, LONGEST_NAME, MOST_OBJECTS, Object, Origin, Sketch};

/// References from one object that are looked at.
const MOST_REFERENCES: usize = 100;

/// Kinds whose objects clusters bring along: naming one expects nothing.
const OF_THE_CLUSTER: [&str; 8] = [
    "IngressClass",
    "StorageClass",
    "PriorityClass",
    "ClusterRole",
    "RuntimeClass",
    "GatewayClass",
    "ImageStream",
    "PersistentVolume",
];

/// An object while its relations are looked for.
struct Looked<'a> {
    value: &'a Value,
    /// Labels that a selector is held against: a workload's pods', and the object's own.
    pods: Option<&'a Map<String, Value>>,
    own: Option<&'a Map<String, Value>>,
}

/// A name that an object says.
struct Named<'a> {
    kind: &'a str,
    name: &'a str,
    optional: bool,
}

impl<'a> Named<'a> {
    fn new(kind: &'a str, name: Option<&'a Value>) -> Option<Named<'a>> {
        let name = name?.as_str().filter(|name| !name.is_empty())?;
        Some(Named { kind, name, optional: OF_THE_CLUSTER.contains(&kind) })
    }

    fn optional(mut self, by: Option<&Value>) -> Named<'a> {
        self.optional |= by.and_then(Value::as_bool).unwrap_or(false);
        self
    }
}

/// Which labels of others a selector is held against.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Against {
    Pods,
    Services,
}

/// Finds out who refers to whom.
pub(super) fn relate(objects: &[Value]) -> Sketch {
    let mut sketch = Sketch { made: objects.len(), ..Sketch::default() };
    let mut looked = Vec::new();
    for value in objects.iter().take(MOST_OBJECTS) {
        let text = |pointer: &str| value.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        sketch.objects.push(Object {
            kind: shortened(text("/kind")),
            name: shortened(match text("/metadata/name") {
                "" => text("/metadata/generateName"),
                name => name,
            }),
            namespace: Some(text("/metadata/namespace")).filter(|it| !it.is_empty()).map(shortened),
            origin: Origin::Made,
        });
        let labels = |pointer: &str| value.pointer(pointer).and_then(Value::as_object);
        looked.push(Looked {
            value,
            pods: pod_template(value)
                .and_then(|pod| pod.pointer("/metadata/labels"))
                .and_then(Value::as_object),
            own: labels("/metadata/labels"),
        });
    }
    for (from, object) in looked.iter().enumerate() {
        for named in names(object.value).into_iter().take(MOST_REFERENCES) {
            sketch.follow(from, &named);
        }
        let claims = array(object.value.pointer("/spec/volumeClaimTemplates"));
        for claim in claims.filter_map(|claim| claim.pointer("/metadata/name")?.as_str()).take(20) {
            let to = sketch.add(Object {
                kind: "PersistentVolumeClaim".to_owned(),
                name: shortened(claim),
                namespace: sketch.objects[from].namespace.clone(),
                origin: Origin::Implied,
            });
            sketch.edges.push(Edge { from, to, how: How::Name });
        }
    }
    for (from, object) in looked.iter().enumerate() {
        let Some((selector, against)) = selector(object.value) else { continue };
        for (to, other) in looked.iter().enumerate().filter(|(to, _)| *to != from) {
            let labels = match against {
                Against::Pods => other.pods,
                Against::Services if sketch.objects[to].kind == "Service" => other.own,
                Against::Services => None,
            };
            let near = sketch.near(from, to);
            if near && labels.is_some_and(|labels| selects(&selector, labels)) {
                sketch.edges.push(Edge { from, to, how: How::Labels });
            }
        }
    }
    sketch.edges.sort_unstable();
    sketch.edges.dedup();
    // A set names the Service that selects it: one line says it.
    let labelled = sketch.edges.iter().filter(|edge| edge.how == How::Labels).copied().collect::<Vec<_>>();
    sketch.edges.retain(|edge| {
        edge.how == How::Labels
            || !labelled.iter().any(|other| (other.from, other.to) == (edge.to, edge.from))
                && !labelled.iter().any(|other| (other.from, other.to) == (edge.from, edge.to))
    });
    sketch
}

impl Sketch {
    /// Whether two objects are, or may be, in one namespace.
    fn near(&self, one: usize, other: usize) -> bool {
        let (one, other) = (&self.objects[one].namespace, &self.objects[other].namespace);
        one == other || one.is_none() || other.is_none()
    }

    /// Adds an object that no one makes, once.
    fn add(&mut self, object: Object) -> usize {
        let known = self.objects.iter().position(|known| {
            known.origin == object.origin && known.kind == object.kind && known.name == object.name
        });
        known.unwrap_or_else(|| {
            self.objects.push(object);
            self.objects.len() - 1
        })
    }

    fn follow(&mut self, from: usize, named: &Named<'_>) {
        let made = (0..self.objects.len()).find(|to| {
            let object = &self.objects[*to];
            object.origin == Origin::Made
                && object.kind == named.kind
                && object.name == named.name
                && self.near(from, *to)
        });
        let to = match made {
            Some(to) if to == from => return,
            Some(to) => to,
            // Not all that was made was looked at, or it need not be there.
            None if named.optional || self.made > MOST_OBJECTS => return,
            None => self.add(Object {
                kind: shortened(named.kind),
                name: shortened(named.name),
                namespace: None,
                origin: Origin::Expected,
            }),
        };
        self.edges.push(Edge { from, to, how: How::Name });
    }
}

/// A name from a stranger's object, cut where no name of a cluster goes on.
fn shortened(text: &str) -> String {
    let mut end = text.len().min(LONGEST_NAME);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    schema::finding::shown(&text.as_bytes()[..end])
}

fn array(value: Option<&Value>) -> impl Iterator<Item = &Value> {
    value.and_then(Value::as_array).into_iter().flatten()
}

/// The pod template of a workload, or the pod.
fn pod_template(value: &Value) -> Option<&Value> {
    match value.get("kind")?.as_str()? {
        "Pod" => Some(value),
        "CronJob" => value.pointer("/spec/jobTemplate/spec/template"),
        "Deployment"
        | "StatefulSet"
        | "DaemonSet"
        | "ReplicaSet"
        | "ReplicationController"
        | "Job"
        | "DeploymentConfig"
        | "Rollout" => value.pointer("/spec/template"),
        _ => None,
    }
}

/// The names an object says.
fn names(value: &Value) -> Vec<Named<'_>> {
    let mut out = Vec::new();
    let at = |pointer: &str| value.pointer(pointer);
    let kind = value.get("kind").and_then(Value::as_str).unwrap_or_default();
    if let Some(pod) = pod_template(value).and_then(|pod| pod.get("spec")) {
        pod_names(pod, &mut out);
    }
    match kind {
        "StatefulSet" => out.extend(Named::new("Service", at("/spec/serviceName"))),
        "Ingress" => {
            out.extend(backend(at("/spec/defaultBackend").or_else(|| at("/spec/backend"))));
            for rule in array(at("/spec/rules")) {
                out.extend(
                    array(rule.pointer("/http/paths")).filter_map(|path| backend(path.get("backend"))),
                );
            }
            out.extend(array(at("/spec/tls")).filter_map(|tls| {
                // Whoever issues certificates makes these.
                Named::new("Secret", tls.get("secretName")).map(|named| Named { optional: true, ..named })
            }));
            out.extend(Named::new("IngressClass", at("/spec/ingressClassName")));
        }
        "Route" => {
            out.extend(target(at("/spec/to"), "Service"));
            out.extend(array(at("/spec/alternateBackends")).filter_map(|to| target(Some(to), "Service")));
        }
        "HTTPRoute" | "GRPCRoute" | "TCPRoute" | "TLSRoute" => {
            for rule in array(at("/spec/rules")) {
                out.extend(array(rule.get("backendRefs")).filter_map(|to| target(Some(to), "Service")));
            }
            out.extend(array(at("/spec/parentRefs")).filter_map(|to| {
                // A gateway is shared: it is often another team's.
                target(Some(to), "Gateway").map(|named| Named { optional: true, ..named })
            }));
        }
        "HorizontalPodAutoscaler" | "VerticalPodAutoscaler" | "ScaledObject" => {
            out.extend(target(at("/spec/scaleTargetRef").or_else(|| at("/spec/targetRef")), "Deployment"));
        }
        "RoleBinding" | "ClusterRoleBinding" => {
            out.extend(target(at("/roleRef"), "Role"));
            let accounts = array(at("/subjects"))
                .filter(|subject| subject.get("kind").and_then(Value::as_str) == Some("ServiceAccount"));
            out.extend(accounts.filter_map(|subject| target(Some(subject), "ServiceAccount")));
        }
        "ServiceAccount" => {
            for list in ["/secrets", "/imagePullSecrets"] {
                out.extend(array(at(list)).filter_map(|secret| Named::new("Secret", secret.get("name"))));
            }
        }
        "PersistentVolumeClaim" => {
            out.extend(Named::new("StorageClass", at("/spec/storageClassName")));
            out.extend(Named::new("PersistentVolume", at("/spec/volumeName")));
        }
        "DeploymentConfig" => {
            for trigger in array(at("/spec/triggers")) {
                out.extend(image_stream(trigger.pointer("/imageChangeParams/from")));
            }
        }
        "BuildConfig" => {
            out.extend(image_stream(at("/spec/output/to")));
            for strategy in ["sourceStrategy", "dockerStrategy", "customStrategy"] {
                out.extend(image_stream(at(&format!("/spec/strategy/{strategy}/from"))));
            }
        }
        "ValidatingWebhookConfiguration" | "MutatingWebhookConfiguration" => {
            let hooks = array(at("/webhooks"));
            out.extend(
                hooks.filter_map(|hook| Named::new("Service", hook.pointer("/clientConfig/service/name"))),
            );
        }
        "APIService" => out.extend(Named::new("Service", at("/spec/service/name"))),
        _ => {}
    }
    out
}

/// What a pod uses.
fn pod_names<'a>(pod: &'a Value, out: &mut Vec<Named<'a>>) {
    let account = pod.get("serviceAccountName").or_else(|| pod.get("serviceAccount"));
    // Every namespace has an account of that name.
    out.extend(
        Named::new("ServiceAccount", account)
            .map(|named| Named { optional: named.name == "default", ..named }),
    );
    for secret in array(pod.get("imagePullSecrets")) {
        out.extend(Named::new("Secret", secret.get("name")));
    }
    let source = |volume: &'a Value, out: &mut Vec<Named<'a>>| {
        for (kind, member, name) in [
            ("ConfigMap", "configMap", "name"),
            ("Secret", "secret", "secretName"),
            ("Secret", "secret", "name"),
            ("PersistentVolumeClaim", "persistentVolumeClaim", "claimName"),
        ] {
            let Some(source) = volume.get(member) else { continue };
            out.extend(
                Named::new(kind, source.get(name)).map(|named| named.optional(source.get("optional"))),
            );
        }
    };
    for volume in array(pod.get("volumes")) {
        source(volume, out);
        for projected in array(volume.pointer("/projected/sources")) {
            source(projected, out);
        }
    }
    for containers in ["containers", "initContainers"] {
        for container in array(pod.get(containers)) {
            let of_env = array(container.get("env")).filter_map(|variable| variable.get("valueFrom"));
            let sources = of_env.chain(array(container.get("envFrom")));
            for source in sources {
                for (kind, member) in [
                    ("ConfigMap", "configMapKeyRef"),
                    ("Secret", "secretKeyRef"),
                    ("ConfigMap", "configMapRef"),
                    ("Secret", "secretRef"),
                ] {
                    let Some(to) = source.get(member) else { continue };
                    out.extend(
                        Named::new(kind, to.get("name")).map(|named| named.optional(to.get("optional"))),
                    );
                }
            }
        }
    }
}

/// A backend of an Ingress, in the form of today or of `v1beta1`.
fn backend(value: Option<&Value>) -> Option<Named<'_>> {
    let value = value?;
    Named::new("Service", value.pointer("/service/name").or_else(|| value.get("serviceName")))
        .or_else(|| target(value.get("resource"), ""))
}

/// `{kind, name}`.
fn target<'a>(value: Option<&'a Value>, default: &'a str) -> Option<Named<'a>> {
    let value = value?;
    Named::new(value.get("kind").and_then(Value::as_str).unwrap_or(default), value.get("name"))
}

/// `{kind: ImageStreamTag, name: stream:tag}`.
fn image_stream(value: Option<&Value>) -> Option<Named<'_>> {
    let value = value.filter(|value| {
        matches!(value.get("kind").and_then(Value::as_str), Some("ImageStreamTag" | "ImageStream"))
    })?;
    let name = value.get("name")?.as_str()?.split(':').next()?;
    Some(Named { kind: "ImageStream", name, optional: true })
}

/// What an object selects by labels.
fn selector(value: &Value) -> Option<(Selector<'_>, Against)> {
    let (at, against) = match value.get("kind")?.as_str()? {
        "Service" | "ReplicationController" => {
            // Without one a Service has its endpoints from elsewhere.
            let labels = value.pointer("/spec/selector")?.as_object().filter(|labels| !labels.is_empty())?;
            let own = value.get("kind")?.as_str()? == "Service";
            return own.then_some((Selector { labels: Some(labels), conditions: None }, Against::Pods));
        }
        "NetworkPolicy" => ("/spec/podSelector", Against::Pods),
        "PodDisruptionBudget" | "PodMonitor" => ("/spec/selector", Against::Pods),
        "ServiceMonitor" => ("/spec/selector", Against::Services),
        _ => return None,
    };
    let selector = value.pointer(at)?;
    let labels = selector.get("matchLabels").and_then(Value::as_object);
    let conditions = selector.get("matchExpressions").and_then(Value::as_array);
    Some((Selector { labels, conditions }, against))
}

/// A selector of labels; an empty one selects everything.
struct Selector<'a> {
    labels: Option<&'a Map<String, Value>>,
    conditions: Option<&'a Vec<Value>>,
}

fn selects(selector: &Selector<'_>, labels: &Map<String, Value>) -> bool {
    let labels = labels.iter().map(|(name, value)| (name.as_str(), value)).collect::<BTreeMap<_, _>>();
    let same = selector
        .labels
        .is_none_or(|wanted| wanted.iter().all(|(name, value)| labels.get(name.as_str()) == Some(&value)));
    let holds = |condition: &Value| {
        let name = condition.get("key").and_then(Value::as_str).unwrap_or_default();
        let value = labels.get(name);
        let listed = value.is_some_and(|value| array(condition.get("values")).any(|one| one == *value));
        match condition.get("operator").and_then(Value::as_str) {
            Some("In") => listed,
            Some("NotIn") => !listed,
            Some("Exists") => value.is_some(),
            Some("DoesNotExist") => value.is_none(),
            _ => false,
        }
    };
    same && selector.conditions.is_none_or(|conditions| conditions.iter().all(holds))
}
