//! A template's properties against its schema: defaults first, then every violation at once.

use schema::processing::Problem;
use serde_json::Value as Json;
use yaml::{Map, Value};

use crate::python::repr;
use crate::schema_file::{SchemaFile, message, resolve};

/// How deep defaults may bring in defaults, and references lead to references.
const DEEPEST: usize = 32;
/// How many values and schemas are looked at for defaults: a schema that refers to itself may bring in any number.
const MOST_VISITS: usize = 100_000;
/// The most violations that are listed.
const MOST_PROBLEMS: usize = 100;

/// Properties as the template will see them: with defaults, and checked. Problems come all at once.
pub(crate) fn checked(
    template_type: &str,
    schema: &SchemaFile,
    given: Option<&Value>,
) -> Result<Value, Vec<Problem>> {
    let mut properties = given.cloned().unwrap_or_else(|| Value::Map(Map::new()));
    let invalid = |text: String| Problem::error(format!("Invalid properties for '{template_type}': {text}"));
    let mut problems = Vec::new();
    for (name, path) in &schema.imports {
        if path.is_none() {
            let message =
                format!("File '{name}' requested in schema '{}' but not included with imports", schema.file);
            problems.push(invalid(message).in_file(schema.file.as_str()).hint("add the file to the version"));
        }
    }
    let Some(root) = &schema.schema else {
        return if problems.is_empty() { Ok(properties) } else { Err(problems) };
    };
    let mut left = MOST_VISITS;
    Defaults { root, left: &mut left }.set(&mut properties, root, 0);
    if left == 0 {
        let text = format!("Invalid schema '{}': its defaults bring in defaults without end", schema.file);
        return Err(vec![
            Problem::error(text)
                .in_file(schema.file.as_str())
                .hint("look for a $ref that leads back to itself"),
        ]);
    }
    // No references are followed out of the file: without a retriever jsonschema has none to ask.
    let validator = jsonschema::options()
        .with_draft(jsonschema::Draft::Draft4)
        .with_pattern_options(jsonschema::PatternOptions::regex())
        .build(root);
    let validator = match validator {
        Ok(validator) => validator,
        Err(error) => {
            let text = format!("Invalid schema '{}': {}", schema.file, message(&error));
            return Err(vec![Problem::error(text).in_file(schema.file.as_str())]);
        }
    };
    let json = properties.to_json();
    for error in validator.iter_errors(&json).take(MOST_PROBLEMS) {
        let pointer = format!("/properties{}", error.instance_path().as_str());
        problems.push(invalid(message(&error)).pointing(pointer));
    }
    if problems.is_empty() { Ok(properties) } else { Err(problems) }
}

struct Defaults<'d> {
    root: &'d Json,
    /// Values that may still be looked at; none left means without end.
    left: &'d mut usize,
}

impl Defaults<'_> {
    /// Sets what is absent to its default, at every depth of what is there or has a default itself. `brought` says how
    /// many defaults within defaults led here.
    ///
    /// As the original does: behind a `$ref` the definition's default counts and one beside it does not, and a
    /// definition without a default makes the property null, which its type then refuses.
    fn set(&mut self, value: &mut Value, schema: &Json, brought: usize) {
        *self.left = self.left.saturating_sub(1);
        if brought > DEEPEST {
            *self.left = 0;
        }
        let Some(schema) = followed(schema, self.root).filter(|_| *self.left > 0) else { return };
        match value {
            Value::Map(map) => {
                for (name, subschema) in
                    schema.get("properties").and_then(Json::as_object).into_iter().flatten()
                {
                    let mut brought = brought;
                    if !map.contains_key(name) {
                        brought += 1;
                        match default_of(subschema, self.root) {
                            Some(default) => map.insert(name.clone(), default),
                            None => continue,
                        };
                    }
                    if let Some(member) = map.get_mut(name) {
                        self.set(member, subschema, brought);
                    }
                }
            }
            Value::List(items) => {
                if let Some(subschema) = schema.get("items").filter(|items| items.is_object()) {
                    items.iter_mut().for_each(|item| self.set(item, subschema, brought));
                }
            }
            _ => {}
        }
        // A part that leads back to the whole is one that defaults may bring in, too.
        for part in schema.get("allOf").and_then(Json::as_array).into_iter().flatten() {
            self.set(value, part, brought + 1);
        }
    }
}

/// The schema itself, or what its references lead to; nothing if they lead nowhere or in a circle.
fn followed<'s>(schema: &'s Json, root: &'s Json) -> Option<&'s Json> {
    let mut here = schema;
    for _ in 0..DEEPEST {
        match here.get("$ref").and_then(Json::as_str) {
            Some(reference) => here = resolve(reference, root)?,
            None => return Some(here),
        }
    }
    None
}

fn default_of(subschema: &Json, root: &Json) -> Option<Value> {
    let schema = followed(subschema, root)?;
    let behind = !std::ptr::eq(schema, subschema);
    let default = schema.get("default").map(|default| Value::from_json(default.clone()));
    default.or(behind.then_some(Value::Null))
}

/// Properties that a schema does not name, where it names any: allowed, and often a slip.
pub(crate) fn unknown(schema: &SchemaFile, given: Option<&Value>) -> Vec<String> {
    let Some(known) =
        schema.schema.as_ref().and_then(|schema| schema.get("properties")).and_then(Json::as_object)
    else {
        return Vec::new();
    };
    let patterned = schema.schema.as_ref().is_some_and(|schema| {
        schema.get("patternProperties").is_some() || schema.get("additionalProperties").is_some()
    });
    let given = given.and_then(Value::as_map).filter(|_| !patterned);
    given
        .into_iter()
        .flat_map(|map| map.keys())
        .filter(|name| !known.contains_key(*name))
        .map(|name| repr(&Value::from(name.as_str())))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::imports::Imports;

    fn run(schema: &str, properties: &str) -> Result<Value, Vec<Problem>> {
        let files = [("t.jinja.schema", schema.as_bytes().to_vec())].into_iter().collect();
        let schema = crate::schema_file::read("t.jinja", &Imports::of(&files))?.unwrap();
        let given = yaml::load(properties, &yaml::Options::pyyaml()).unwrap().map(|document| document.value);
        checked("t.jinja", &schema, given.as_ref())
    }

    #[test]
    fn schemas_that_refer_to_themselves_end() {
        let schema = "properties: {a: {$ref: '#/definitions/n'}}\ndefinitions:\n  n:\n    default: {}\n    properties: {a: {$ref: '#/definitions/n'}, b: {$ref: '#/definitions/n'}}\n";
        assert!(run(schema, "{}").unwrap_err()[0].message.contains("without end"));
        assert!(
            run("properties: {a: {$ref: 'https://example.com/x'}}\n", "{}").unwrap_err()[0]
                .message
                .contains("Unresolvable")
        );
    }

    #[test]
    fn violations_come_all_at_once_and_patterns_do_not_backtrack() {
        let schema = "properties:\n  a: {type: string, pattern: '^(a+)+$'}\n  b: {type: int, minimum: 3}\n  c: {enum: [x]}\n";
        let properties = format!("{{a: {}b, b: 1, c: y}}", "a".repeat(60));
        let messages = run(schema, &properties)
            .unwrap_err()
            .into_iter()
            .map(|problem| problem.message)
            .collect::<Vec<_>>();
        assert_eq!(messages.len(), 3, "{messages:?}");
        assert!(
            messages.iter().any(|message| message.ends_with("1 is less than the minimum of 3 at ['b']")),
            "{messages:?}"
        );
    }
}
