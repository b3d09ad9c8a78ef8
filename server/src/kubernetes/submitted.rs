//! What a client wants stored, checked as the original checks it: its name and namespace, and the members a Template
//! must have. What else may be wrong with it is told by its findings, once it is there. Pure.

use schema::{CollectionName, TemplateName, Version};
use serde_json::{Value, json};
use wire::kubernetes::StatusCause;

use super::object;
use super::path::DEFAULT_NAMESPACE;
use super::refusal::Refusal;

/// Longest name of an object; a template's is shorter.
const LONGEST_NAME: usize = 100;
/// Longest name of a namespace.
const LONGEST_NAMESPACE: usize = 63;
/// Most that is told at once.
const MOST_CAUSES: usize = 50;

/// A Template to be stored.
#[derive(Debug, Clone)]
pub(super) struct Submitted {
    pub(super) name: TemplateName,
    pub(super) collection: Option<CollectionName>,
    /// As its author would have written it.
    pub(super) object: Value,
    /// The version its annotation asks for.
    pub(super) version: Option<Version>,
    /// What it says it changes: the object of this generation, the object of this uid.
    pub(super) resource_version: Option<String>,
    pub(super) uid: Option<String>,
}

/// Reads what was sent to a namespace. `name` is the one of the address, if there is one; `suffix` is put behind a
/// `generateName`.
///
/// # Errors
/// Everything that is wrong, at once.
pub(super) fn check(
    sent: Value,
    namespace: &str,
    name: Option<&str>,
    suffix: impl FnOnce() -> Result<String, Refusal>,
) -> Result<Submitted, Refusal> {
    super::process::check_kind(&sent)?;
    let text = |pointer: &str| {
        sent.pointer(pointer).and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned)
    };
    if let Some(said) = text("/metadata/namespace").filter(|said| said != namespace) {
        let said = schema::finding::shown(said.as_bytes());
        return Err(Refusal::bad_request(format!(
            "the namespace of the provided object does not match the namespace sent on the request: it says {said}"
        )));
    }
    let own = match (text("/metadata/name"), text("/metadata/generateName")) {
        (Some(own), _) => own,
        (None, _) if name.is_some() => name.unwrap_or_default().to_owned(),
        (None, Some(beginning)) => format!("{beginning}{}", suffix()?),
        (None, None) => String::new(),
    };
    if name.is_some_and(|name| name != own) {
        return Err(Refusal::bad_request("the name of the object does not match the name on the URL"));
    }
    let mut causes = Vec::new();
    let mut wrong = |field: String, message: String| {
        if causes.len() < MOST_CAUSES {
            causes.push(StatusCause { reason: "FieldValueInvalid".to_owned(), message, field: Some(field) });
        }
    };
    if own.is_empty() {
        wrong("metadata.name".to_owned(), "Required value: name or generateName is required".to_owned());
    } else if let Err(why) = check_subdomain(&own) {
        wrong("metadata.name".to_owned(), format!("Invalid value: {}: {why}", json!(own)));
    }
    let collection = match namespace {
        DEFAULT_NAMESPACE => None,
        other => {
            if let Err(why) = check_label(other) {
                wrong("metadata.namespace".to_owned(), format!("Invalid value: {}: {why}", json!(other)));
            }
            other.parse().ok()
        }
    };
    check_members(&sent, &mut wrong);
    let resource_version = text("/metadata/resourceVersion");
    let uid = text("/metadata/uid");
    let (object, version) = object::undressed(sent, &own);
    let version = version.map(|text| text.parse::<Version>());
    if let Some(Err(error)) = &version {
        let field = format!("metadata.annotations[{}]", object::VERSION);
        wrong(field, format!("Invalid value: {error}"));
    }
    let shown = schema::finding::shown(own.as_bytes());
    match own.parse() {
        Ok(name) if causes.is_empty() => Ok(Submitted {
            name,
            collection,
            object,
            version: version.and_then(Result::ok),
            resource_version,
            uid,
        }),
        _ => Err(Refusal::invalid(&shown, causes)),
    }
}

/// The members that make it a Template, and those that would keep it from ever being processed.
fn check_members(sent: &Value, wrong: &mut impl FnMut(String, String)) {
    let list = |member: &str| match &sent[member] {
        Value::Null => Ok(&[][..]),
        Value::Array(items) => Ok(items.as_slice()),
        _ => Err(()),
    };
    match list("objects") {
        Err(()) => wrong("objects".to_owned(), "Invalid value: it is a list of objects".to_owned()),
        Ok(objects) => {
            for (index, _) in objects.iter().enumerate().filter(|(_, object)| !object.is_object()) {
                wrong(format!("objects[{index}]"), "Invalid value: it is no object".to_owned());
            }
        }
    }
    match list("parameters") {
        Err(()) => wrong("parameters".to_owned(), "Invalid value: it is a list of parameters".to_owned()),
        Ok(parameters) => {
            for (index, parameter) in parameters.iter().enumerate() {
                let field = format!("parameters[{index}].name");
                let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
                match parameter["name"].as_str() {
                    None | Some("") => wrong(field, "Required value".to_owned()),
                    Some(name) if !name.bytes().all(is_name) => wrong(
                        field,
                        format!(
                            "Invalid value: {}: does not match ^[a-zA-Z0-9_]+$",
                            json!(schema::finding::shown(name.as_bytes()))
                        ),
                    ),
                    Some(_) => {}
                }
            }
        }
    }
    for pointer in ["/metadata/labels", "/metadata/annotations", "/labels"] {
        let field = pointer[1..].replace('/', ".");
        match sent.pointer(pointer) {
            None | Some(Value::Null) => {}
            Some(Value::Object(map)) => {
                for (key, _) in map.iter().filter(|(_, value)| !value.is_string()) {
                    wrong(
                        format!("{field}[{}]", schema::finding::shown(key.as_bytes())),
                        "Invalid value: it is a text".to_owned(),
                    );
                }
            }
            Some(_) => wrong(field, "Invalid value: it is a map of texts".to_owned()),
        }
    }
}

/// RFC 1123, as Kubernetes has it for names of objects.
fn check_subdomain(text: &str) -> Result<(), String> {
    if text.len() > LONGEST_NAME {
        return Err(format!("must be no more than {LONGEST_NAME} characters"));
    }
    match text.split('.').all(is_label) {
        true => Ok(()),
        false => Err("a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character".to_owned()),
    }
}

/// RFC 1123, as Kubernetes has it for names of namespaces.
fn check_label(text: &str) -> Result<(), String> {
    match text.len() <= LONGEST_NAMESPACE && is_label(text) {
        true => Ok(()),
        false => Err(format!(
            "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', must start and end with an alphanumeric character, and has at most {LONGEST_NAMESPACE} of them"
        )),
    }
}

fn is_label(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let (first, last) = (text.bytes().next(), text.bytes().last());
    first.is_some_and(plain)
        && last.is_some_and(plain)
        && text.bytes().all(|byte| plain(byte) || byte == b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(sent: Value, namespace: &str, name: Option<&str>) -> Result<Submitted, String> {
        check(sent, namespace, name, || Ok("x7kq2".to_owned()))
            .map_err(|refusal| refusal.into_status().message)
    }

    fn template(metadata: Value) -> Value {
        json!({ "kind": "Template", "apiVersion": "template.openshift.io/v1", "metadata": metadata, "objects": [] })
    }

    #[test]
    fn what_only_servers_say_is_left_out() {
        let sent = template(json!({
            "name": "redis", "namespace": "databases", "uid": "u", "resourceVersion": "7", "managedFields": [],
            "creationTimestamp": null,
            "annotations": { "formwork/version": "v2.0.0", "formwork/digest": "x", "formwork/registry": "y", "own": "z" },
        }));
        let read = read(sent, "databases", Some("redis")).unwrap();
        assert_eq!(read.object["metadata"], json!({ "name": "redis", "annotations": { "own": "z" } }));
        assert_eq!(read.version, Some("v2".parse().unwrap()));
        assert_eq!((read.resource_version.as_deref(), read.uid.as_deref()), (Some("7"), Some("u")));
        assert_eq!(read.collection, Some("databases".parse().unwrap()));
    }

    #[test]
    fn what_was_given_out_in_its_group_goes_back_as_it_was_written() {
        let sent = template(json!({ "name": "a", "annotations": { "formwork/api-version": "v1" } }));
        assert_eq!(read(sent, "default", None).unwrap().object["apiVersion"], "v1");
        let sent = template(json!({ "name": "a", "annotations": { "formwork/api-version": "evil/v9" } }));
        assert_eq!(read(sent, "default", None).unwrap().object["apiVersion"], "template.openshift.io/v1");
    }

    #[test]
    fn a_name_may_be_made_and_must_be_one() {
        assert_eq!(
            read(template(json!({ "generateName": "a-" })), "default", None).unwrap().name.as_str(),
            "a-x7kq2"
        );
        for name in ["Redis", "a_b", "a/b", "..", "a..b", "-a", "a:v1", "é", "a b", &"a".repeat(101)] {
            let refused = read(template(json!({ "name": name })), "default", None).unwrap_err();
            assert!(refused.contains("metadata.name: Invalid value"), "{name}: {refused}");
        }
        assert!(read(template(json!({})), "default", None).unwrap_err().contains("generateName is required"));
        assert!(read(template(json!({ "name": "a" })), "default", Some("b")).unwrap_err().contains("URL"));
        assert!(
            read(template(json!({ "name": "a", "namespace": "b" })), "c", None)
                .unwrap_err()
                .contains("namespace")
        );
        assert!(read(template(json!({ "name": "a" })), "Upper.Case", None).unwrap_err().contains("label"));
    }

    #[test]
    fn everything_wrong_is_said_at_once_and_not_without_end() {
        let mut sent = template(json!({ "name": "A", "labels": { "a": 1 } }));
        sent["objects"] = json!({});
        sent["parameters"] = json!([{ "name": "A-B" }, {}]);
        let refused = read(sent, "default", None).unwrap_err();
        for part in [
            "metadata.name",
            "objects: ",
            "parameters[0].name",
            "parameters[1].name: Required",
            "metadata.labels[a]",
        ] {
            assert!(refused.contains(part), "{part}: {refused}");
        }
        let mut sent = template(json!({ "name": "a" }));
        sent["objects"] = json!(vec![1; 100_000]);
        let Err(refusal) = check(sent, "default", None, || Ok(String::new())) else { panic!("it was taken") };
        assert_eq!(refusal.into_status().details.unwrap().causes.len(), MOST_CAUSES);
    }
}
