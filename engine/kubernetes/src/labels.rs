//! Labels of a Template on its objects.
//!
//! OpenShift puts them into `metadata.labels` and nowhere else. The proposal wants them in selectors too, so that
//! two instances of a template live side by side; there a table says where that is safe. Never touched: what
//! selects things a template does not make (`nodeSelector`, affinities, a claim's selector), a Service without a
//! selector, and kinds the table does not know.

use schema::Severity;
use schema::processing::Problem;
use yaml::{Map, Value};

use crate::document::pointer_segment;
use crate::notation::Notation;
use crate::substitute::Pointed;

/// A place that labels go to, as the keys that lead there from the object, and when they do.
struct Target {
    path: &'static [&'static str],
    when: When,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum When {
    /// If the map that would hold it is there: pod templates.
    HolderExists,
    /// If the map itself is there: selectors that may be left out.
    Exists,
    /// If the map itself is there and not empty: an empty selector of a Service selects nothing.
    NotEmpty,
}

const POD_LABELS: Target =
    Target { path: &["spec", "template", "metadata", "labels"], when: When::HolderExists };
const SELECTOR: Target = Target { path: &["spec", "selector"], when: When::Exists };
const MATCH_LABELS: Target = Target { path: &["spec", "selector", "matchLabels"], when: When::HolderExists };

/// Where the labels of the proposal go besides `metadata.labels`; `None` for kinds the table does not know.
fn targets(kind: &str, object: &Value) -> Option<&'static [Target]> {
    Some(match kind {
        "ReplicationController" | "DeploymentConfig" => const { &[POD_LABELS, SELECTOR] },
        "Deployment" | "ReplicaSet" | "DaemonSet" | "StatefulSet" => const { &[POD_LABELS, MATCH_LABELS] },
        "Job" if object.pointer("/spec/manualSelector").and_then(Value::as_bool) == Some(true) => {
            const { &[POD_LABELS, MATCH_LABELS] }
        }
        "Job" => const { &[POD_LABELS] },
        "CronJob" => {
            const {
                &[
                    Target { path: &["spec", "jobTemplate", "metadata", "labels"], when: When::HolderExists },
                    Target {
                        path: &["spec", "jobTemplate", "spec", "template", "metadata", "labels"],
                        when: When::HolderExists,
                    },
                ]
            }
        }
        "Service" => const { &[Target { path: &["spec", "selector"], when: When::NotEmpty }] },
        "PodDisruptionBudget" | "ServiceMonitor" => const { &[MATCH_LABELS] },
        "NetworkPolicy" => {
            const { &[Target { path: &["spec", "podSelector", "matchLabels"], when: When::HolderExists }] }
        }
        "PodTemplate" => {
            const { &[Target { path: &["template", "metadata", "labels"], when: When::HolderExists }] }
        }
        "Pod"
        | "ConfigMap"
        | "Secret"
        | "ServiceAccount"
        | "PersistentVolumeClaim"
        | "PersistentVolume"
        | "Role"
        | "RoleBinding"
        | "ClusterRole"
        | "ClusterRoleBinding"
        | "Ingress"
        | "Route"
        | "ImageStream"
        | "BuildConfig"
        | "HorizontalPodAutoscaler"
        | "Namespace"
        | "ResourceQuota"
        | "LimitRange"
        | "Endpoints"
        | "CustomResourceDefinition"
        | "StorageClass" => &[],
        _ => return None,
    })
}

/// Adds labels to an object; `pointer` is where it stands. Errors and notes go to the lists.
pub(crate) fn add(
    object: &mut Value,
    labels: &[(String, String)],
    notation: Notation,
    pointer: &str,
    errors: &mut Vec<Pointed>,
    notes: &mut Vec<Pointed>,
) {
    if labels.is_empty() || !object.is_map() {
        return;
    }
    if let Some(items) = object.get_mut("items").and_then(Value::as_list_mut) {
        if notation == Notation::Kubernetes {
            for (index, item) in items.iter_mut().enumerate() {
                add(item, labels, notation, &format!("{pointer}/items/{index}"), errors, notes);
            }
        } else {
            let message = "label could not be applied: object does not implement the Object interfaces";
            let problem = Problem::error(message)
                .hint("a List has no labels: put its items into the template one by one");
            errors.push(Pointed { pointer: pointer.to_owned(), problem });
        }
        return;
    }
    own_labels_as_text(object, pointer, notes);
    put(object, &["metadata", "labels"], labels);
    if notation == Notation::OpenShift {
        return;
    }
    let kind = object.get("kind").and_then(Value::as_str).unwrap_or_default().to_owned();
    match targets(&kind, object) {
        Some(targets) => {
            for target in targets {
                if applies(object, target) {
                    put(object, target.path, labels);
                }
            }
        }
        None if object.pointer("/spec/selector").is_some() || object.pointer("/spec/template").is_some() => {
            let message = format!(
                "labels were added to this {kind} but not to what it selects, for its kind is not known here"
            );
            notes.push(Pointed {
                pointer: pointer.to_owned(),
                problem: Problem::new(Severity::Info, message),
            });
        }
        None => {}
    }
}

fn applies(object: &Value, target: &Target) -> bool {
    let at =
        |path: &[&str]| path.iter().try_fold(object, |value, key| value.get(key)).and_then(Value::as_map);
    // Labels of a pod stand in the metadata of its template, which may be missing; a selector's matchLabels too.
    let holder = target.path.len() - if target.path.ends_with(&["metadata", "labels"]) { 2 } else { 1 };
    match target.when {
        When::HolderExists => at(&target.path[..holder]).is_some(),
        When::Exists => at(target.path).is_some(),
        When::NotEmpty => at(target.path).is_some_and(|map| !map.is_empty()),
    }
}

/// Sets labels in the map at a path, making maps on the way. Something else than a map on the way stops it.
fn put(object: &mut Value, path: &[&str], labels: &[(String, String)]) {
    let mut map = object.as_map_mut();
    for key in path {
        let Some(here) = map else { return };
        let next = here.entry((*key).to_owned()).or_insert_with(|| Value::Map(Map::new()));
        if next.is_null() {
            *next = Value::Map(Map::new());
        }
        map = next.as_map_mut();
    }
    let Some(map) = map else { return };
    for (name, value) in labels {
        map.insert(name.clone(), Value::from(value.as_str()));
    }
}

/// Labels are texts. The original loses all labels of an object when one of them is not; here it becomes its text.
fn own_labels_as_text(object: &mut Value, pointer: &str, notes: &mut Vec<Pointed>) {
    let Some(labels) = object.pointer_mut("/metadata/labels").and_then(Value::as_map_mut) else { return };
    for (name, value) in labels.iter_mut() {
        if value.is_string() {
            continue;
        }
        let message = format!("the label `{name}` is of type {} and was made a text", value.kind_name());
        let text = match &*value {
            Value::Null => String::new(),
            other => yaml::to_json(other),
        };
        *value = Value::String(text);
        let pointer = format!("{pointer}/metadata/labels/{}", pointer_segment(name));
        notes.push(Pointed {
            pointer,
            problem: Problem::new(Severity::Warning, message).hint("put it in quotes"),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labelled(notation: Notation, text: &str) -> (String, usize, usize) {
        let mut object = yaml::load(text, &yaml::Options::default()).unwrap().unwrap().value;
        let (mut errors, mut notes) = (Vec::new(), Vec::new());
        add(
            &mut object,
            &[("l".to_owned(), "v".to_owned())],
            notation,
            "/objects/0",
            &mut errors,
            &mut notes,
        );
        (yaml::to_yaml(&object), errors.len(), notes.len())
    }

    fn proposal(text: &str) -> String {
        labelled(Notation::Kubernetes, text).0
    }

    #[test]
    fn openshift_labels_the_object_alone() {
        let text = "kind: Service\nmetadata:\n  labels:\n    l: v\nspec:\n  selector:\n    a: b\n";
        assert_eq!(labelled(Notation::OpenShift, "kind: Service\nspec: {selector: {a: b}}").0, text);
    }

    #[test]
    fn the_proposal_labels_selectors_and_pods() {
        let made =
            proposal("kind: Deployment\nspec: {selector: {matchLabels: {a: b}}, template: {spec: {}}}");
        assert!(made.contains("    matchLabels:\n      a: b\n      l: v\n"), "{made}");
        assert!(made.contains("  template:\n    metadata:\n      labels:\n        l: v\n"), "{made}");
        let made = proposal("kind: ReplicationController\nspec: {template: {metadata: {labels: {a: b}}}}");
        assert!(!made.contains("selector"), "{made}");
        let made = proposal("kind: CronJob\nspec: {jobTemplate: {spec: {template: {spec: {}}}}}");
        assert_eq!(made.matches("l: v").count(), 3, "{made}");
        assert_eq!(proposal("kind: NetworkPolicy\nspec: {podSelector: {}}").matches("l: v").count(), 2);
    }

    #[test]
    fn what_would_break_is_left_alone() {
        for text in [
            "kind: Service\nspec: {ports: []}",
            "kind: Service\nspec: {selector: {}}",
            "kind: PersistentVolumeClaim\nspec: {selector: {matchLabels: {a: b}}}",
            "kind: Pod\nspec: {nodeSelector: {a: b}}",
            "kind: Job\nspec: {selector: {matchLabels: {a: b}}}",
        ] {
            assert_eq!(proposal(text).matches("l: v").count(), 1, "{text}");
        }
        assert_eq!(
            labelled(Notation::Kubernetes, "kind: Rollout\nspec: {selector: {matchLabels: {a: b}}}").2,
            1
        );
        assert_eq!(
            proposal("kind: Job\nspec: {manualSelector: true, selector: {matchLabels: {a: b}}}")
                .matches("l: v")
                .count(),
            2
        );
    }

    #[test]
    fn lists_and_labels_that_are_no_texts() {
        assert_eq!(labelled(Notation::OpenShift, "kind: List\nitems: []").1, 1);
        assert_eq!(proposal("kind: List\nitems: [{kind: Secret}, {kind: Pod}]").matches("l: v").count(), 2);
        let (made, _, notes) =
            labelled(Notation::OpenShift, "kind: Pod\nmetadata: {labels: {num: 5, own: x}}");
        assert!(made.contains("num: \"5\"") && made.contains("own: x") && notes == 1, "{made}");
    }
}
