//! What `oc process` says about a Template in place of objects: `-o describe` and `--parameters`.

use serde_json::Value;

use super::tabs::Tabs;

/// A processed Template as `oc describe` shows it, but that objects are named where `oc` says `<unknown>`.
pub(super) fn template(template: &Value) -> String {
    let text = |pointer: &str| template.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let mut out = format!("Name:\t{}\n", text("/metadata/name"));
    if !text("/metadata/namespace").is_empty() {
        out.push_str(&format!("Namespace:\t{}\n", text("/metadata/namespace")));
    }
    let labels = joined(&pairs(template.pointer("/metadata/labels")));
    out.push_str(&format!("Labels:\t{labels}\n"));
    let annotations = pairs(template.pointer("/metadata/annotations"));
    match annotations.split_first() {
        None => out.push_str("Annotations:\t<none>\n"),
        Some((first, rest)) => {
            out.push_str(&format!("Annotations:\t{first}\n"));
            rest.iter().for_each(|one| out.push_str(&format!("\t{one}\n")));
        }
    }
    out.push_str("\nParameters:\t \n");
    for parameter in template.get("parameters").and_then(Value::as_array).into_iter().flatten() {
        describe_parameter(parameter, &mut out);
    }
    let object_labels = joined(&pairs(template.get("labels")));
    let message = Some(text("/message")).filter(|message| !message.is_empty()).unwrap_or("<none>");
    out.push_str(&format!("\nObject Labels:\t{object_labels}\n\nMessage:\t{message}\n\nObjects:\t \n"));
    for object in template.get("objects").and_then(Value::as_array).into_iter().flatten() {
        let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        let (kind, group) = (text("/kind"), group(text("/apiVersion")));
        let kind = if group.is_empty() { kind.to_owned() } else { format!("{kind}.{group}") };
        out.push_str(&format!("    {kind}\t{}\n", text("/metadata/name")));
    }
    Tabs { least: 0, padding: 1, with_tabs: true }.align(&out)
}

fn describe_parameter(parameter: &Value, out: &mut String) {
    let text = |key: &str| parameter.get(key).and_then(Value::as_str).unwrap_or_default();
    let mut line = |title: &str, value: &str| out.push_str(&format!("    {title}:\t{value}\n"));
    line("Name", text("name"));
    for (title, key) in [("Display Name", "displayName"), ("Description", "description")] {
        if !text(key).is_empty() {
            line(title, text(key));
        }
    }
    let required = parameter.get("required") == Some(&Value::Bool(true));
    line("Required", if required { "true" } else { "false" });
    let (value, generate) = (text("value"), text("generate"));
    if generate.is_empty() || !value.is_empty() {
        line("Value", value);
    }
    if !generate.is_empty() {
        line(if value.is_empty() { "Generated" } else { "Generated (ignored)" }, generate);
        line("From", text("from"));
    }
    out.push('\n');
}

/// The texts of a map as `name=value`, by name.
fn pairs(map: Option<&Value>) -> Vec<String> {
    let mut pairs = map
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
        .map(|(name, value)| format!("{name}={}", value.as_str().unwrap_or_default()))
        .collect::<Vec<_>>();
    pairs.sort();
    pairs
}

fn joined(pairs: &[String]) -> String {
    if pairs.is_empty() { "<none>".to_owned() } else { pairs.join(",") }
}

/// The group of an `apiVersion`; the core group's name is empty.
pub(super) fn group(api_version: &str) -> &str {
    api_version.split_once('/').map_or("", |(group, _)| group)
}

/// Parameters as `oc process --parameters` lists them, from their JSON Schema.
pub(super) fn parameters(schema: &Value) -> String {
    let mut out = "NAME\tDESCRIPTION\tGENERATOR\tVALUE\n".to_owned();
    for (name, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        let text = |key: &str| match property.get(key) {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
        };
        let from = text("x-generated");
        let (generator, value) = if from.is_empty() { ("", text("default")) } else { ("expression", from) };
        let description = text("description");
        // A line break or tab would break the table.
        let flat = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        out.push_str(&format!("{name}\t{}\t{generator}\t{}\n", flat(&description), flat(&value)));
    }
    Tabs { least: 20, padding: 3, with_tabs: false }.align(&out)
}
