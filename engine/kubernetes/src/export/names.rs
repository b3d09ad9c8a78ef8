//! Names of objects as parameters, kept in step wherever they are meant: in references from one object to another, in
//! labels and in selectors.
//!
//! Names with a common beginning (`shop`, `shop-db`) share a parameter: it holds the beginning. A text is replaced
//! only where its place says that it names an object of this Template, or where it is a label's value.

use std::collections::{BTreeMap, BTreeSet};

use yaml::Value;

use super::vocabulary::{Made, Vocabulary};

/// Places whose text names an object: the member's own key, the key of the map it stands in (any, if empty), and the
/// kind it names (that of the `kind` beside it, if empty).
const REFERENCES: &[(&str, &str, &str)] = &[
    ("name", "configMapRef", "ConfigMap"),
    ("name", "configMapKeyRef", "ConfigMap"),
    ("name", "configMap", "ConfigMap"),
    ("name", "secretRef", "Secret"),
    ("name", "secretKeyRef", "Secret"),
    ("name", "secret", "Secret"),
    ("name", "imagePullSecrets", "Secret"),
    ("name", "secrets", "Secret"),
    ("secretName", "", "Secret"),
    ("claimName", "", "PersistentVolumeClaim"),
    ("serviceAccountName", "", "ServiceAccount"),
    ("serviceAccount", "", "ServiceAccount"),
    ("serviceName", "", "Service"),
    ("name", "service", "Service"),
    ("storageClassName", "", "StorageClass"),
    ("priorityClassName", "", "PriorityClass"),
    ("name", "scaleTargetRef", ""),
    ("name", "targetRef", ""),
    ("name", "roleRef", ""),
    ("name", "subjects", ""),
    ("name", "to", ""),
    ("name", "alternateBackends", ""),
];

/// Words in the names of environment variables whose value is where a service is.
const SERVICE_WORDS: &[&str] = &["HOST", "HOSTNAME", "SERVICE", "SERVER", "ADDRESS", "ADDR", "ENDPOINT"];

/// What stands for each name.
struct Renaming {
    /// By name: the text with a reference in the place of the beginning.
    written: BTreeMap<String, String>,
    /// The kinds of objects each name is of.
    kinds: BTreeMap<String, BTreeSet<String>>,
}

/// Makes the names of objects parameters.
pub(super) fn parameterise(objects: &mut [Value], vocabulary: &mut Vocabulary) {
    let mut kinds = BTreeMap::<String, BTreeSet<String>>::new();
    for object in objects.iter() {
        let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        let name = text("/metadata/name");
        // Anything else is no name a cluster takes, and may look like a reference.
        if name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b':')) {
            kinds.entry(name.to_owned()).or_default().insert(text("/kind").to_owned());
        }
    }
    let mut stems = BTreeMap::<String, Vec<String>>::new();
    let mut names = kinds.keys().cloned().collect::<Vec<_>>();
    names.sort_by_key(String::len);
    for name in names {
        let begins = |stem: &&String| {
            name.strip_prefix(stem.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
        };
        let stem = stems.keys().find(begins).cloned().unwrap_or_else(|| name.clone());
        stems.entry(stem).or_default().push(name);
    }
    let single = stems.len() == 1;
    let mut renaming = Renaming { written: BTreeMap::new(), kinds };
    for (stem, names) in &stems {
        let description = match names.len() {
            1 => format!("The name of what is called {stem}."),
            count => format!("The beginning of the names of {count} objects."),
        };
        let wanted = if single { "NAME".to_owned() } else { format!("{stem}_NAME") };
        let made = Made { name: &wanted, owner: stem, description, value: Some(stem), kind: Some("string") };
        let parameter = vocabulary.declare(made);
        for name in names {
            let text = format!("{}{}", vocabulary.reference(&parameter), &name[stem.len()..]);
            renaming.written.insert(name.clone(), text);
        }
    }
    for object in objects {
        let claim = object.get("kind").and_then(Value::as_str) == Some("PersistentVolumeClaim");
        if let Some(Value::String(name)) = object.pointer_mut("/metadata/name")
            && let Some(text) = renaming.written.get(name)
        {
            *name = text.clone();
        }
        if let Some(map) = object.as_map_mut() {
            for (key, value) in map.iter_mut() {
                // A claim selects volumes, which a Template does not make.
                if claim && key == "spec" {
                    continue;
                }
                renaming.walk(value, key);
            }
        }
    }
}

impl Renaming {
    /// Replaces what names objects in a value that stands under a key.
    fn walk(&self, value: &mut Value, key: &str) {
        match value {
            Value::List(items) => items.iter_mut().for_each(|item| self.walk(item, key)),
            Value::Map(map) => {
                if matches!(key, "labels" | "matchLabels")
                    || (key == "selector" && map.values().all(Value::is_string))
                {
                    map.values_mut().for_each(|value| self.label(value));
                    return;
                }
                if key == "matchExpressions" {
                    for value in map.get_mut("values").and_then(Value::as_list_mut).into_iter().flatten() {
                        self.label(value);
                    }
                    return;
                }
                let text = |key: &str| map.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
                let (kind, variable) = (text("kind"), text("name"));
                for (inner, value) in map.iter_mut() {
                    match value {
                        Value::String(text) => self.reference(text, inner, key, &kind, &variable),
                        // Nodes are not of the Template.
                        _ if matches!(inner.as_str(), "nodeSelector" | "nodeAffinity") => {}
                        _ => self.walk(value, inner),
                    }
                }
            }
            _ => {}
        }
    }

    fn label(&self, value: &mut Value) {
        if let Value::String(text) = value
            && let Some(written) = self.written.get(text.as_str())
        {
            *text = written.clone();
        }
    }

    fn reference(&self, text: &mut String, key: &str, within: &str, kind_beside: &str, variable: &str) {
        let Some(written) = self.written.get(text.as_str()) else { return };
        let is_of = |kind: &str| self.kinds.get(text.as_str()).is_some_and(|kinds| kinds.contains(kind));
        let named = REFERENCES.iter().any(|(own, around, kind)| {
            *own == key
                && (around.is_empty() || *around == within)
                && is_of(if kind.is_empty() { kind_beside } else { kind })
        });
        let variable = variable.to_uppercase();
        let of_service = key == "value"
            && within == "env"
            && is_of("Service")
            && variable.split('_').any(|word| SERVICE_WORDS.contains(&word));
        if named || of_service {
            *text = written.clone();
        }
    }
}
