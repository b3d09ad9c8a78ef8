//! `<template>.schema`: a JSON Schema of draft 4, with `info` and `imports` beside it.
//!
//! Read once per template of an expansion. What is wrong with a schema is said in the words of the original
//! (`Invalid schema 'S': …`), with paths as Python prints them.

use std::collections::BTreeSet;

use schema::Severity;
use schema::processing::Problem;
use serde_json::Value as Json;
use yaml::{Spans, Value};

use crate::imports::{Imports, relative};
use crate::python::{repr, repr_json};

/// A schema that may be used.
pub(crate) struct SchemaFile {
    /// Its path.
    pub(crate) file: String,
    /// The schema, with what is ours to check taken out, and `int` made `integer`; `None` for an empty file.
    pub(crate) schema: Option<Json>,
    /// Imports: the name they are known by, and their path in the version if it is there.
    pub(crate) imports: Vec<(String, Option<String>)>,
    /// `info`, as it is written.
    pub(crate) info: Value,
    /// What is worth saying although it can be used.
    pub(crate) notes: Vec<Problem>,
}

/// Reads the schema of a template file, if it has one. Its problems come at once.
pub(crate) fn read(template_file: &str, imports: &Imports) -> Result<Option<SchemaFile>, Vec<Problem>> {
    let file = format!("{template_file}.schema");
    let Some(bytes) = imports.files().get(&file) else { return Ok(None) };
    let Ok(text) = std::str::from_utf8(bytes) else {
        return Err(vec![Problem::error(format!("Invalid schema '{file}': it is not UTF-8")).in_file(file)]);
    };
    let document = match yaml::load(text, &yaml::Options::pyyaml()) {
        Ok(document) => document,
        Err(error) => return Err(vec![crate::configuration::yaml_problem(&error, &file)]),
    };
    let none = |notes| SchemaFile {
        file: file.clone(),
        schema: None,
        imports: Vec::new(),
        info: Value::Null,
        notes,
    };
    let Some(document) = document else { return Ok(Some(none(Vec::new()))) };
    let (value, spans) = (document.value, document.spans);
    let place = |problem: Problem, pointer: &str| at(problem, &file, &spans, pointer);
    let invalid = |message: String, pointer: &str| {
        place(Problem::error(format!("Invalid schema '{file}': {message}")), pointer)
    };
    let map = match value {
        Value::Map(map) => map,
        Value::Null => return Ok(Some(none(Vec::new()))),
        other => return Err(vec![invalid(format!("{} is not of type 'object'", repr(&other)), "")]),
    };
    let mut problems = Vec::new();
    let listed = listed_imports(map.get("imports"), template_file, imports, &mut |message, pointer| {
        problems.push(invalid(message, pointer));
    });
    let info = map.get("info").cloned().unwrap_or_default();
    let mut schema = Value::Map(map).to_json();
    if let Some(object) = schema.as_object_mut() {
        for ours in ["imports", "info", "metadata"] {
            object.shift_remove(ours);
        }
    }
    let mut notes = Vec::new();
    mend_int(&mut schema, &mut String::new(), 0, &mut |pointer| {
        let note =
            Problem::new(Severity::Warning, "`int` is not a type of JSON Schema; it is read as `integer`");
        notes.push(place(note.hint("write `type: integer`"), pointer));
    });
    for error in jsonschema::draft4::meta::validator().iter_errors(&schema) {
        let pointer = error.instance_path().as_str().to_owned();
        problems.push(invalid(message(&error), &pointer));
    }
    unresolvable(&schema, &schema, 0, &mut BTreeSet::new(), &mut |pointer| {
        problems.push(invalid(format!("Unresolvable JSON pointer: '{pointer}'"), ""));
    });
    if !problems.is_empty() {
        problems.truncate(100);
        return Err(problems);
    }
    notes.truncate(20);
    Ok(Some(SchemaFile { file, schema: Some(schema), imports: listed, info, notes }))
}

fn at(problem: Problem, file: &str, spans: &Spans, pointer: &str) -> Problem {
    let problem = problem.in_file(file).pointing(pointer);
    match spans.nearest(pointer) {
        Some(span) => problem.at(span.start.line, span.start.column),
        None => problem,
    }
}

/// The imports a schema lists: each a map of `path` and perhaps `name`, all different. Paths are relative to the
/// template; a name that is already known stands for what it is known for.
fn listed_imports(
    value: Option<&Value>,
    template_file: &str,
    imports: &Imports,
    invalid: &mut impl FnMut(String, &str),
) -> Vec<(String, Option<String>)> {
    let items = match value {
        None | Some(Value::Null) => return Vec::new(),
        Some(Value::List(items)) => items,
        Some(other) => {
            invalid(format!("{} is not of type 'array' at ['imports']", repr(other)), "/imports");
            return Vec::new();
        }
    };
    let mut listed = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let pointer = format!("/imports/{index}");
        let Some(map) = item.as_map() else {
            invalid(format!("{} is not of type 'object' at ['imports', {index}]", repr(item)), &pointer);
            continue;
        };
        let other =
            map.keys().filter(|key| !matches!(key.as_str(), "path" | "name")).cloned().collect::<Vec<_>>();
        if !other.is_empty() {
            invalid(format!("{} at ['imports', {index}]", unexpected(&other)), &pointer);
        }
        let Some(path) = map.get("path").and_then(Value::as_str) else {
            invalid(format!("'path' is a required property at ['imports', {index}]"), &pointer);
            continue;
        };
        let name = map.get("name").and_then(Value::as_str).unwrap_or(path).to_owned();
        let found = match imports.path(&name) {
            Some(known) => Some(known.to_owned()),
            None => relative(template_file, path).filter(|path| imports.files().get(path).is_some()),
        };
        listed.push((name, found));
    }
    if items.iter().enumerate().any(|(index, item)| items[..index].contains(item)) {
        invalid(
            format!("{} has non-unique elements at ['imports']", repr(&Value::List(items.clone()))),
            "/imports",
        );
    }
    listed
}

/// `type: int` is what the original registry's templates say throughout; it means `integer`.
fn mend_int(schema: &mut Json, pointer: &mut String, depth: usize, mended: &mut impl FnMut(&str)) {
    if depth > yaml::Limits::MAX_DEPTH {
        return;
    }
    let Json::Object(map) = schema else { return };
    if map.get("type").and_then(Json::as_str) == Some("int") {
        map.insert("type".to_owned(), Json::from("integer"));
        mended(&format!("{pointer}/type"));
    }
    if let Some(Json::Array(kinds)) = map.get_mut("type") {
        for kind in kinds.iter_mut().filter(|kind| kind.as_str() == Some("int")) {
            *kind = Json::from("integer");
            mended(&format!("{pointer}/type"));
        }
    }
    // Where schemas stand: not in enums, defaults or examples, whose content is data.
    for (key, value) in map.iter_mut() {
        let length = pointer.len();
        pointer.push('/');
        pointer.push_str(&key.replace('~', "~0").replace('/', "~1"));
        match (key.as_str(), value) {
            ("properties" | "patternProperties" | "definitions" | "dependencies", Json::Object(members)) => {
                for (name, member) in members {
                    let length = pointer.len();
                    pointer.push('/');
                    pointer.push_str(&name.replace('~', "~0").replace('/', "~1"));
                    mend_int(member, pointer, depth + 1, mended);
                    pointer.truncate(length);
                }
            }
            ("items" | "allOf" | "anyOf" | "oneOf", Json::Array(members)) => {
                for (index, member) in members.iter_mut().enumerate() {
                    let length = pointer.len();
                    pointer.push_str(&format!("/{index}"));
                    mend_int(member, pointer, depth + 1, mended);
                    pointer.truncate(length);
                }
            }
            ("items" | "additionalProperties" | "additionalItems" | "not", member) => {
                mend_int(member, pointer, depth + 1, mended);
            }
            _ => {}
        }
        pointer.truncate(length);
    }
}

/// References within the schema that lead nowhere, and those that lead out of it.
fn unresolvable(
    value: &Json,
    root: &Json,
    depth: usize,
    seen: &mut BTreeSet<String>,
    found: &mut impl FnMut(&str),
) {
    if depth > yaml::Limits::MAX_DEPTH {
        return;
    }
    match value {
        Json::Object(map) => {
            if let Some(reference) = map.get("$ref").and_then(Json::as_str)
                && resolve(reference, root).is_none()
                && seen.insert(reference.to_owned())
            {
                found(reference.strip_prefix("#/").unwrap_or(reference));
            }
            for (key, member) in map {
                if !matches!(key.as_str(), "enum" | "default" | "example" | "examples") {
                    unresolvable(member, root, depth + 1, seen, found);
                }
            }
        }
        Json::Array(items) => items.iter().for_each(|item| unresolvable(item, root, depth + 1, seen, found)),
        _ => {}
    }
}

/// What a `$ref` within the schema leads to. Others are never followed.
pub(crate) fn resolve<'s>(reference: &str, root: &'s Json) -> Option<&'s Json> {
    root.pointer(reference.strip_prefix('#')?)
}

/// An error in the words of Python's `jsonschema`, with the path as a Python list.
pub(crate) fn message(error: &jsonschema::ValidationError<'_>) -> String {
    use jsonschema::error::ValidationErrorKind as Kind;
    let instance = || repr_json(error.instance());
    let text = match error.kind() {
        Kind::Required { property } => format!("{} is a required property", repr_json(property)),
        Kind::Type { kind } => {
            let names = match kind {
                jsonschema::error::TypeKind::Single(one) => format!("'{one}'"),
                jsonschema::error::TypeKind::Multiple(many) => {
                    many.iter().map(|one| format!("'{one}'")).collect::<Vec<_>>().join(", ")
                }
            };
            format!("{} is not of type {names}", instance())
        }
        Kind::Enum { options } => format!("{} is not one of {}", instance(), repr_json(options)),
        Kind::Pattern { pattern } => format!("{} does not match '{pattern}'", instance()),
        Kind::Minimum { limit } => format!("{} is less than the minimum of {}", instance(), repr_json(limit)),
        Kind::Maximum { limit } => {
            format!("{} is greater than the maximum of {}", instance(), repr_json(limit))
        }
        Kind::MinLength { .. } | Kind::MinItems { .. } => format!("{} is too short", instance()),
        Kind::MaxLength { .. } | Kind::MaxItems { .. } => format!("{} is too long", instance()),
        Kind::MinProperties { .. } => format!("{} does not have enough properties", instance()),
        Kind::MaxProperties { .. } => format!("{} has too many properties", instance()),
        Kind::MultipleOf { multiple_of } => format!("{} is not a multiple of {multiple_of}", instance()),
        Kind::AdditionalProperties { unexpected: names } => unexpected(names),
        Kind::AnyOf { .. } | Kind::OneOfNotValid { .. } => {
            format!("{} is not valid under any of the given schemas", instance())
        }
        Kind::UniqueItems => format!("{} has non-unique elements", instance()),
        Kind::Format { format } => format!("{} is not a '{format}'", instance()),
        Kind::Not { schema } => format!("{} should not be valid under {}", instance(), repr_json(schema)),
        _ => error.to_string(),
    };
    let path = error.instance_path().segments().map(|segment| match segment {
        jsonschema::paths::LocationSegment::Property(name) => repr(&Value::from(name.as_ref())),
        jsonschema::paths::LocationSegment::Index(index) => index.to_string(),
    });
    match path.collect::<Vec<_>>() {
        path if path.is_empty() => text,
        path => format!("{text} at [{}]", path.join(", ")),
    }
}

fn unexpected(names: &[String]) -> String {
    let quoted = names.iter().map(|name| repr(&Value::from(name.as_str()))).collect::<Vec<_>>().join(", ");
    let verb = if names.len() == 1 { "was" } else { "were" };
    format!("Additional properties are not allowed ({quoted} {verb} unexpected)")
}
