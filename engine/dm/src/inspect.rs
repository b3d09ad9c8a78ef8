//! What a Deployment Manager template says about itself, and what is wrong with it that can be seen unexpanded.

use std::collections::BTreeSet;

use minijinja::Environment;
use schema::processing::{Problem, Template};
use schema::{Finding, Inspection, Kind, Place, Rule};
use serde_json::{Value as Json, json};
use yaml::Value;

use crate::imports::Imports;
use crate::{rules, schema_file};

/// Reads what can be known of a template. Never fails: what cannot be read is a finding.
pub fn inspect(template: &Template) -> Inspection {
    let mut findings = Vec::new();
    let imports = Imports::of(&template.files);
    let entry = template.entry.as_str();
    let mut inspection =
        Inspection { parameters: json!({"type": "object", "properties": {}}), ..Inspection::default() };
    match schema_file::read(entry, &imports) {
        Ok(None) => findings.push(Finding::new(&rules::NO_SCHEMA, entry, "the template has no schema")),
        Ok(Some(schema)) => {
            let text =
                |key: &str| schema.info.get(key).and_then(Value::as_str).map(|text| text.trim().to_owned());
            inspection.title = text("title");
            inspection.description = text("description");
            inspection.documentation = text("documentation").or_else(|| text("documentation_link"));
            inspection.support = text("support");
            inspection.tags = schema
                .info
                .get("tags")
                .and_then(Value::as_list)
                .map(|tags| tags.iter().filter_map(Value::as_str).map(str::to_owned).collect())
                .unwrap_or_default();
            for (name, path) in &schema.imports {
                if path.is_none() {
                    let message = format!("the schema imports `{name}`, which is not in the version");
                    findings.push(Finding::new(&rules::MISSING_IMPORT, schema.file.as_str(), message));
                }
            }
            findings.extend(schema.notes.iter().map(|note| finding(&rules::INT_TYPE, note)));
            if let Some(parameters) = schema.schema {
                inspection.parameters = as_parameters(parameters);
            }
        }
        Err(problems) => {
            findings.extend(problems.iter().map(|problem| finding(&rules::BROKEN_SCHEMA, problem)));
        }
    }
    match imports.text(entry) {
        None => findings.push(Finding::new(&rules::NOT_TEXT, entry, "the template is not UTF-8")),
        Some(text) => {
            inspection.object_kinds = kinds(text);
            if !text.contains("resources") {
                findings.push(Finding::new(
                    &rules::NO_RESOURCES,
                    entry,
                    "the template never writes `resources`",
                ));
            }
            let entries = ["GenerateConfig", "generate_config"];
            if template.kind == Kind::DmPython && !entries.iter().any(|name| text.contains(name)) {
                findings.push(Finding::new(
                    &rules::PYTHON_ENTRY,
                    entry,
                    "the template does not define GenerateConfig",
                ));
            }
        }
    }
    if template.kind == Kind::DmJinja {
        findings.extend(syntax(template));
    }
    inspection.findings = findings;
    inspection
}

fn finding(rule: &'static Rule, problem: &Problem) -> Finding {
    let place = problem.line.map(|line| Place { line, column: problem.column.unwrap_or(1) });
    Finding::new(rule, problem.file.clone().unwrap_or_default(), problem.message.clone()).at(place)
}

/// A schema file is a JSON Schema already; what makes it one for forms is its type.
fn as_parameters(mut schema: Json) -> Json {
    if let Some(map) = schema.as_object_mut() {
        map.entry("type").or_insert_with(|| json!("object"));
        map.entry("properties").or_insert_with(|| json!({}));
    }
    schema
}

/// Syntax errors of the template and of the Jinja files beside it.
fn syntax(template: &Template) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, bytes) in template.files.iter().filter(|(path, _)| path.ends_with(".jinja")) {
        let Ok(source) = std::str::from_utf8(bytes) else { continue };
        if let Err(error) = Environment::empty().template_from_named_str(path, source) {
            let message =
                format!("the template cannot be compiled: {}", error.detail().unwrap_or("syntax error"));
            let line = error.line().and_then(|line| u32::try_from(line).ok());
            findings.push(
                Finding::new(&rules::SYNTAX, path, message).at(line.map(|line| Place { line, column: 1 })),
            );
        }
    }
    findings
}

/// Words behind `type:` (or Python's `'type':`) and `kind:` that look like kinds, as far as the text tells.
fn kinds(text: &str) -> Vec<String> {
    let mut kinds = BTreeSet::new();
    for line in text.lines() {
        let line = line.trim_start().trim_start_matches("- ");
        for key in ["type:", "kind:", "'type':", "\"type\":", "'kind':", "\"kind\":"] {
            let Some(rest) = line.strip_prefix(key) else { continue };
            let word = rest.trim().trim_end_matches(',').trim_matches(['"', '\'']);
            let plain = word.chars().all(|c| c.is_ascii_alphanumeric())
                && word.starts_with(|c: char| c.is_ascii_uppercase());
            if plain && word.len() <= 63 {
                kinds.insert(word.to_owned());
            }
        }
    }
    kinds.into_iter().collect()
}
