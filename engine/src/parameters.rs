//! Parameters in one form whatever the kind: a JSON Schema of 2020-12, of type `object`.
//!
//! Deployment Manager's schemas and many charts' are of draft 4 and older, where some keywords meant something else;
//! they are said here as the draft of today says them, so that a form or a check reads one language. What is secret is
//! marked with `writeOnly`, by what the schema says or else by names.

use schema::inspection::looks_secret;
use serde_json::{Map, Value, json};

/// The draft all schemas are of.
const DRAFT: &str = "https://json-schema.org/draft/2020-12/schema";
/// Deeper schemas are left as they are.
const DEPTH: usize = 64;

/// The schema of parameters in its one form.
pub(crate) fn canonical(schema: Value) -> Value {
    let mut rest = match schema {
        Value::Object(map) => map,
        _ => Map::new(),
    };
    // Where it came from would be taken for where its references lead.
    for keyword in ["$schema", "id", "$id"] {
        rest.shift_remove(keyword);
    }
    modern(&mut rest, 0);
    let mut whole = Map::new();
    whole.insert("$schema".to_owned(), json!(DRAFT));
    whole.insert("type".to_owned(), json!("object"));
    rest.shift_remove("type");
    let properties = rest.shift_remove("properties").filter(Value::is_object).unwrap_or_else(|| json!({}));
    let required = rest.shift_remove("required").filter(Value::is_array).unwrap_or_else(|| json!([]));
    whole.insert("properties".to_owned(), properties);
    whole.insert("required".to_owned(), required);
    whole.extend(rest);
    Value::Object(whole)
}

/// Says what older drafts said in the words of today's, here and below.
fn modern(schema: &mut Map<String, Value>, depth: usize) {
    if depth > DEPTH {
        return;
    }
    bounds(schema);
    tuples(schema);
    dependencies(schema);
    required(schema);
    for keyword in ["properties", "patternProperties", "definitions", "$defs", "dependentSchemas"] {
        let Some(Value::Object(schemas)) = schema.get_mut(keyword) else { continue };
        for (name, below) in schemas {
            let Value::Object(below) = below else { continue };
            modern(below, depth + 1);
            if keyword == "properties" {
                secret(name, below);
            }
        }
    }
    for keyword in ["items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames"]
    {
        if let Some(Value::Object(below)) = schema.get_mut(keyword) {
            modern(below, depth + 1);
        }
    }
    for keyword in ["allOf", "anyOf", "oneOf", "prefixItems"] {
        let Some(Value::Array(schemas)) = schema.get_mut(keyword) else { continue };
        for below in schemas {
            if let Value::Object(below) = below {
                modern(below, depth + 1);
            }
        }
    }
}

/// Draft 4: `exclusiveMinimum: true` beside `minimum`.
fn bounds(schema: &mut Map<String, Value>) {
    for (bound, exclusive) in [("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")] {
        let Some(Value::Bool(excluded)) = schema.get(exclusive) else { continue };
        let excluded = *excluded;
        schema.shift_remove(exclusive);
        if excluded && let Some(number) = schema.shift_remove(bound) {
            schema.insert(exclusive.to_owned(), number);
        }
    }
}

/// Before 2020-12: a list of schemas in `items`, and `additionalItems` for those behind it.
fn tuples(schema: &mut Map<String, Value>) {
    if schema.get("items").is_some_and(Value::is_array)
        && let Some(items) = schema.shift_remove("items")
    {
        schema.insert("prefixItems".to_owned(), items);
        if let Some(others) = schema.shift_remove("additionalItems") {
            schema.insert("items".to_owned(), others);
        }
    }
}

/// Before 2019-09: `dependencies` of names and of schemas in one.
fn dependencies(schema: &mut Map<String, Value>) {
    let Some(Value::Object(dependencies)) = schema.shift_remove("dependencies") else { return };
    let (names, schemas) = dependencies.into_iter().partition::<Map<_, _>, _>(|(_, on)| on.is_array());
    for (keyword, part) in [("dependentRequired", names), ("dependentSchemas", schemas)] {
        if !part.is_empty() {
            schema.insert(keyword.to_owned(), Value::Object(part));
        }
    }
}

/// Draft 3: `required: true` in the property itself.
fn required(schema: &mut Map<String, Value>) {
    let Some(Value::Object(properties)) = schema.get_mut("properties") else { return };
    let mut names = Vec::new();
    for (name, property) in properties {
        let Value::Object(property) = property else { continue };
        if let Some(Value::Bool(required)) = property.get("required") {
            if *required {
                names.push(json!(name));
            }
            property.shift_remove("required");
        }
    }
    if names.is_empty() {
        return;
    }
    let listed = schema.entry("required").or_insert_with(|| json!([]));
    if let Value::Array(listed) = listed {
        names.retain(|name| !listed.contains(name));
        listed.extend(names);
    }
}

/// Marks a parameter that holds a secret, so that forms hide what is typed.
fn secret(name: &str, property: &mut Map<String, Value>) {
    let is_text = matches!(property.get("type").and_then(Value::as_str), None | Some("string"));
    let said = property.get("format").is_some_and(|format| format == "password")
        || ["x-secret", "secret", "sensitive"].iter().any(|word| property.get(*word) == Some(&json!(true)));
    if said || is_text && looks_secret(name) {
        property.insert("writeOnly".to_owned(), json!(true));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn older_drafts_are_said_in_the_words_of_today() {
        let old = json!({
            "$schema": "http://json-schema.org/draft-04/schema#",
            "id": "https://elsewhere.example/x",
            "title": "Redis",
            "required": ["size"],
            "properties": {
                "size": {"type": "integer", "minimum": 0, "exclusiveMinimum": true, "maximum": 9, "exclusiveMaximum": false},
                "name": {"type": "string", "required": true, "pattern": "^[a-z]+$"},
                "pair": {"type": "array", "items": [{"type": "string"}, {"enum": [1, 2]}], "additionalItems": false},
                "auth": {
                    "type": "object",
                    "dependencies": {"user": ["password"], "tls": {"required": ["cert"]}},
                    "properties": {"password": {"type": "string"}, "pin": {"type": "string", "format": "password"}}
                }
            }
        });
        let found = canonical(old);
        assert_eq!(
            found,
            json!({
                "$schema": DRAFT,
                "type": "object",
                "title": "Redis",
                "required": ["size", "name"],
                "properties": {
                    "size": {"type": "integer", "exclusiveMinimum": 0, "maximum": 9},
                    "name": {"type": "string", "pattern": "^[a-z]+$"},
                    "pair": {"type": "array", "prefixItems": [{"type": "string"}, {"enum": [1, 2]}], "items": false},
                    "auth": {
                        "type": "object",
                        "dependentRequired": {"user": ["password"]},
                        "dependentSchemas": {"tls": {"required": ["cert"]}},
                        "properties": {
                            "password": {"type": "string", "writeOnly": true},
                            "pin": {"type": "string", "format": "password", "writeOnly": true}
                        }
                    }
                }
            })
        );
        // In its one form already: nothing changes.
        assert_eq!(canonical(found.clone()), found);
    }

    #[test]
    fn whatever_comes_is_a_schema_of_an_object() {
        for nonsense in
            [json!(null), json!(5), json!([]), json!({"properties": 5, "required": "x", "type": "array"})]
        {
            let found = canonical(nonsense);
            assert_eq!(
                (&found["type"], &found["properties"], &found["required"]),
                (&json!("object"), &json!({}), &json!([]))
            );
        }
    }
}
