//! Fields with a value of their own as parameters: images, replicas, requests, secrets.

use std::collections::HashMap;

use base64::Engine as _;
use yaml::{Map, Value};

use super::clean::pod_specs;
use super::vocabulary::{Made, Vocabulary, word};

/// The containers of all pods of an object.
fn containers(object: &mut Value, change: &mut impl FnMut(&mut Map)) {
    pod_specs(object, &mut |spec| {
        for list in ["initContainers", "containers"] {
            let items = spec.get_mut(list).and_then(Value::as_list_mut);
            items.into_iter().flatten().filter_map(Value::as_map_mut).for_each(&mut *change);
        }
    });
}

fn count_containers(objects: &mut [Value]) -> usize {
    let mut count = 0;
    objects.iter_mut().for_each(|object| containers(object, &mut |_| count += 1));
    count
}

fn text<'m>(map: &'m Map, key: &str) -> &'m str {
    map.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// The name of an object as it was before anything became a reference.
fn plain_name(object: &Value) -> String {
    let name = object.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default();
    name.rsplit(['}', ')']).next().unwrap_or_default().to_owned()
}

/// A parameter for each image; equal images share one.
pub(super) fn images(objects: &mut [Value], vocabulary: &mut Vocabulary) {
    let single = count_containers(objects) == 1;
    let mut known = HashMap::<String, String>::new();
    for object in objects {
        containers(object, &mut |container| {
            let (name, image) = (text(container, "name").to_owned(), text(container, "image").to_owned());
            if image.is_empty() {
                return;
            }
            let parameter = known.entry(image.clone()).or_insert_with(|| {
                let wanted = if single { "IMAGE".to_owned() } else { format!("{name}_IMAGE") };
                let description = format!("The image that {name} runs.");
                let made = Made {
                    name: &wanted,
                    owner: "CONTAINER",
                    description,
                    value: Some(&image),
                    kind: Some("string"),
                };
                vocabulary.declare(made)
            });
            container.insert("image".to_owned(), Value::from(vocabulary.reference(parameter)));
        });
    }
}

/// A parameter for the number of pods of each workload.
pub(super) fn replicas(objects: &mut [Value], vocabulary: &mut Vocabulary) {
    let has = |object: &Value| object.pointer("/spec/replicas").and_then(Value::as_u64).is_some();
    let single = objects.iter().filter(|object| has(object)).count() == 1;
    for object in objects {
        let name = plain_name(object);
        let kind = object.get("kind").and_then(Value::as_str).unwrap_or_default().to_owned();
        let Some(value) = object.pointer_mut("/spec/replicas") else { continue };
        let Some(number) = value.as_u64() else { continue };
        let wanted = if single { "REPLICAS".to_owned() } else { format!("{}_REPLICAS", word(&name)) };
        let made = Made {
            name: wanted.trim_start_matches('_'),
            owner: &kind,
            description: format!("How many pods the {kind} has."),
            value: Some(&number.to_string()),
            kind: Some("int"),
        };
        let parameter = vocabulary.declare(made);
        *value = vocabulary.number(&parameter);
    }
}

/// Parameters for what containers request, and how large claims are.
pub(super) fn resources(objects: &mut [Value], vocabulary: &mut Vocabulary) {
    let single = count_containers(objects) == 1;
    for object in objects.iter_mut() {
        containers(object, &mut |container| {
            let name = text(container, "name").to_owned();
            let Some(requests) = container.get_mut("resources").and_then(|all| all.get_mut("requests"))
            else {
                return;
            };
            for (resource, value) in requests.as_map_mut().into_iter().flatten() {
                let wanted =
                    if single { format!("{resource}_REQUEST") } else { format!("{name}_{resource}_REQUEST") };
                let description = format!("How much {resource} {name} requests.");
                quantity(value, &wanted, &name, description, vocabulary);
            }
        });
    }
    let mut sizes = Vec::new();
    for object in objects {
        let name = plain_name(object);
        if object.get("kind").and_then(Value::as_str) == Some("PersistentVolumeClaim") {
            sizes.extend(object.pointer_mut("/spec/resources/requests/storage").map(|size| (name, size)));
        } else {
            let claims = object.pointer_mut("/spec/volumeClaimTemplates").and_then(Value::as_list_mut);
            for claim in claims.into_iter().flatten() {
                let name = plain_name(claim);
                sizes.extend(claim.pointer_mut("/spec/resources/requests/storage").map(|size| (name, size)));
            }
        }
    }
    let single = sizes.len() == 1;
    for (name, size) in sizes {
        let wanted = if single { "VOLUME_SIZE".to_owned() } else { format!("{name}_VOLUME_SIZE") };
        let description = "How much the volume holds.".to_owned();
        quantity(size, wanted.trim_start_matches(['-', '_']), "CLAIM", description, vocabulary);
    }
}

/// A quantity is a text, or a whole number.
fn quantity(value: &mut Value, name: &str, owner: &str, description: String, vocabulary: &mut Vocabulary) {
    let (default, number) = match &*value {
        Value::String(text) if !text.is_empty() => (text.clone(), false),
        Value::Int(number) => (number.to_string(), true),
        _ => return,
    };
    let kind = Some(if number { "int" } else { "string" });
    let made = Made { name, owner, description, value: Some(&default), kind };
    let parameter = vocabulary.declare(made);
    *value =
        if number { vocabulary.number(&parameter) } else { Value::from(vocabulary.reference(&parameter)) };
}

/// A parameter for each value of a secret: base64 where it was, plain where it was.
pub(super) fn secrets(objects: &mut [Value], vocabulary: &mut Vocabulary, blank: bool) {
    for object in objects {
        if object.get("kind").and_then(Value::as_str) != Some("Secret") {
            continue;
        }
        let owner = plain_name(object);
        for (part, how) in [("data", ", in base64"), ("stringData", "")] {
            let Some(map) = object.get_mut(part).and_then(Value::as_map_mut) else { continue };
            for (key, value) in map {
                let Value::String(text) = value else { continue };
                if text.is_empty() {
                    continue;
                }
                let decodes = base64::engine::general_purpose::STANDARD.decode(text.as_str()).is_ok();
                let kind = if part == "data" && decodes { "base64" } else { "string" };
                let made = Made {
                    name: key,
                    owner: if word(&owner).is_empty() { "SECRET" } else { &owner },
                    description: format!("What the secret holds as {key}{how}."),
                    value: (!blank).then_some(text.as_str()),
                    kind: Some(kind),
                };
                let parameter = vocabulary.declare(made);
                *text = vocabulary.reference(&parameter);
            }
        }
    }
}
