//! What a Template says about itself, and what is wrong with it that can be seen without values.

use std::collections::{BTreeSet, HashMap, HashSet};

use schema::processing::{Problem, Template};
use schema::{Finding, Inspection, Place, Rule};
use serde_json::{Map as JsonMap, Value as Json, json};
use yaml::Value;

use crate::conflict;
use crate::dialect::{self, any_text};
use crate::document::{self, Document, Parameter, ParameterType};
use crate::generate::{Generator, entropy_bits, is_literal};
use crate::notation::{Notation, is_name};
use crate::parameters::{mismatch, near};
use crate::rules;
use crate::substitute::{Path, Substituter};

/// Reads what can be known of a Template. Never fails: what cannot be read is a finding.
pub fn inspect(template: &Template) -> Inspection {
    let document = match document::read(template) {
        Ok(document) => document,
        Err(problems) => {
            let findings = problems.into_iter().map(|problem| finding(&rules::UNREADABLE, template, problem));
            let parameters = json!({"type": "object", "properties": {}});
            return Inspection { parameters, findings: findings.collect(), ..Inspection::default() };
        }
    };
    let annotation = |names: &[&str]| {
        names
            .iter()
            .find_map(|name| document.annotation(name))
            .map(str::trim)
            .filter(|text| !text.is_empty())
            .map(str::to_owned)
    };
    Inspection {
        title: annotation(&["openshift.io/display-name"]),
        description: annotation(&[
            "openshift.io/long-description",
            "template.openshift.io/long-description",
            "description",
        ]),
        tags: document
            .annotation("tags")
            .map(|tags| {
                tags.split(',').map(str::trim).filter(|tag| !tag.is_empty()).map(str::to_owned).collect()
            })
            .unwrap_or_default(),
        documentation: annotation(&[
            "openshift.io/documentation-url",
            "template.openshift.io/documentation-url",
        ]),
        support: annotation(&["openshift.io/support-url", "template.openshift.io/support-url"]),
        parameters: schema_of(&document),
        object_kinds: kinds(&document),
        findings: Inspector { document: &document, findings: Vec::new() }.all(),
    }
}

fn finding(rule: &'static Rule, template: &Template, problem: Problem) -> Finding {
    let place = problem.line.map(|line| Place { line, column: problem.column.unwrap_or(1) });
    let finding = Finding::new(rule, template.entry.as_str(), problem.message).at(place);
    match problem.hint {
        Some(hint) => finding.fixed_by(hint),
        None => finding,
    }
}

/// The parameters as a JSON Schema. Values are texts, unless the proposal's `type` says otherwise.
fn schema_of(document: &Document) -> Json {
    let mut properties = JsonMap::new();
    let mut required = Vec::new();
    for parameter in &document.parameters {
        let mut property = JsonMap::new();
        let kind = match parameter.kind {
            Some(ParameterType::Int) => "integer",
            Some(ParameterType::Bool) => "boolean",
            _ => "string",
        };
        property.insert("type".to_owned(), json!(kind));
        if let Some(title) = &parameter.display_name {
            property.insert("title".to_owned(), json!(title));
        }
        if let Some(description) = &parameter.description {
            property.insert("description".to_owned(), json!(description));
        }
        if !parameter.value.is_empty() {
            property.insert("default".to_owned(), default_of(parameter));
        }
        if parameter.kind == Some(ParameterType::Base64) {
            property.insert("contentEncoding".to_owned(), json!("base64"));
        }
        if !parameter.generate.is_empty() {
            // Left empty it is generated, and what is generated is secret.
            property.insert("writeOnly".to_owned(), json!(true));
            property.insert("x-generated".to_owned(), json!(parameter.from));
        }
        if parameter.required && parameter.value.is_empty() && parameter.generate.is_empty() {
            required.push(json!(parameter.name));
        }
        properties.insert(parameter.name.clone(), Json::Object(property));
    }
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

fn default_of(parameter: &Parameter) -> Json {
    match parameter.kind {
        Some(ParameterType::Int | ParameterType::Bool) => {
            serde_json::from_str(&parameter.value).unwrap_or_else(|_| json!(parameter.value))
        }
        _ => json!(parameter.value),
    }
}

fn kinds(document: &Document) -> Vec<String> {
    let kinds = document.objects.iter().filter_map(|object| object.get("kind")).filter_map(Value::as_str);
    kinds
        .filter(|kind| !kind.is_empty() && !kind.contains('$'))
        .map(str::to_owned)
        .collect::<BTreeSet<_>>()
        .into_iter()
        .collect()
}

struct Inspector<'d> {
    document: &'d Document,
    findings: Vec<Finding>,
}

impl Inspector<'_> {
    fn add(&mut self, rule: &'static Rule, pointer: &str, message: String) -> &mut Finding {
        let place = self.document.spans.nearest(pointer).map(|span| span.start.into());
        self.findings.push(Finding::new(rule, self.document.file.as_str(), message).at(place));
        let last = self.findings.len() - 1;
        &mut self.findings[last]
    }

    fn all(mut self) -> Vec<Finding> {
        let document = self.document;
        if document.annotation("description").is_none() {
            self.add(&rules::UNDESCRIBED, "/metadata", "the template has no description".to_owned());
        }
        if document.api_version == "v1" && dialect::refers_to_parameters(document, Notation::OpenShift) {
            self.add(
                &rules::OLD_API_VERSION,
                "/apiVersion",
                "the template is OpenShift's, and of apiVersion v1".to_owned(),
            );
        }
        self.parameters();
        self.objects();
        match dialect::choose(document, None) {
            Ok(choice) => self.references(choice.notation),
            Err(problem) => {
                self.add(&rules::AMBIGUOUS, "", problem.message);
            }
        }
        self.findings
    }

    fn parameters(&mut self) {
        let mut seen = HashSet::new();
        for (index, parameter) in self.document.parameters.iter().enumerate() {
            let (name, pointer) = (&parameter.name, format!("/parameters/{index}"));
            if !is_name(name) {
                let shown = schema::finding::shown(name.as_bytes());
                self.add(
                    &rules::PARAMETER_NAME,
                    &pointer,
                    format!("no reference can name the parameter `{shown}`"),
                );
                continue;
            }
            if !seen.insert(name) {
                self.add(&rules::PARAMETER_TWICE, &pointer, format!("parameter {name} is declared twice"));
            }
            if parameter.description.is_none() && parameter.display_name.is_none() {
                self.add(
                    &rules::PARAMETER_UNDESCRIBED,
                    &pointer,
                    format!("parameter {name} is not described"),
                );
            }
            if let Some(message) = mismatch(parameter, &parameter.value) {
                self.add(&rules::TYPE_MISMATCH, &format!("{pointer}/value"), message);
            }
            let secret = schema::inspection::looks_secret(name);
            if secret && !parameter.value.is_empty() && !parameter.value.contains('$') {
                self.add(
                    &rules::SECRET_DEFAULT,
                    &format!("{pointer}/value"),
                    format!("the secret {name} has a default that is written out"),
                );
            }
            self.generator(parameter, secret, &pointer);
        }
    }

    fn generator(&mut self, parameter: &Parameter, secret: bool, pointer: &str) {
        let name = &parameter.name;
        if parameter.generate.is_empty() || !parameter.value.is_empty() {
            return;
        }
        let place = format!("{pointer}/from");
        if parameter.generate != "expression" {
            let message = format!("Unknown generator name '{}' for parameter {name}", parameter.generate);
            self.add(&rules::GENERATOR_BROKEN, &format!("{pointer}/generate"), message).fix =
                "the only generator is `expression`".to_owned();
        } else if parameter.from.is_empty() {
            self.add(
                &rules::GENERATOR_BROKEN,
                pointer,
                format!("parameter {name} has a generator but no `from`"),
            );
        } else if let Err(error) = Generator::new(b"inspection", &[name]).value(&parameter.from) {
            self.add(&rules::GENERATOR_BROKEN, &place, format!("parameter {name}: {error}"));
        } else if is_literal(&parameter.from) {
            self.add(
                &rules::GENERATOR_CONSTANT,
                &place,
                format!(
                    "the generator of {name} is the constant `{}`",
                    schema::finding::shown(parameter.from.as_bytes())
                ),
            );
        } else if secret && entropy_bits(&parameter.from).is_some_and(|bits| bits < 64.0) {
            self.add(
                &rules::GENERATOR_WEAK,
                &place,
                format!("the generator of the secret {name} holds less than 64 bits of chance"),
            );
        }
    }

    fn objects(&mut self) {
        for (index, object) in self.document.objects.iter().enumerate() {
            let pointer = format!("/objects/{index}");
            if object.get("items").is_some() {
                continue;
            }
            let has = |pointer: &str| {
                object
                    .pointer(pointer)
                    .is_some_and(|value| value.as_str().is_some_and(|text| !text.is_empty()))
            };
            let named = has("/metadata/name") || has("/metadata/generateName");
            let missing =
                [("apiVersion", has("/apiVersion")), ("kind", has("/kind")), ("metadata.name", named)];
            let missing =
                missing.iter().filter(|(_, there)| !there).map(|(name, _)| *name).collect::<Vec<_>>();
            if !missing.is_empty() {
                self.add(
                    &rules::OBJECT_INCOMPLETE,
                    &pointer,
                    format!("objects[{index}] has no {}", missing.join(" and no ")),
                );
            }
        }
    }

    fn references(&mut self, notation: Notation) {
        let document = self.document;
        let values: HashMap<String, String> = document
            .parameters
            .iter()
            .map(|parameter| (parameter.name.clone(), parameter.value.clone()))
            .collect();
        let mut environment = HashSet::new();
        if notation == Notation::Kubernetes {
            let found = conflict::find(document, &values);
            environment = found.environment;
            for one in found.errors {
                self.add(&rules::CONFLICT, &one.pointer, one.problem.message);
            }
        } else {
            self.openshift_only();
        }
        // Names that are used, and those that are not declared, from one walk that changes nothing.
        let none = HashMap::new();
        let mut walk = Substituter::new(notation, document.has_escapes(), &none, u64::MAX);
        if let Some(message) = &document.message {
            walk.text(message, &Path::root("message"));
        }
        let labels = Path::root("labels");
        for (name, value) in &document.labels {
            walk.text(name, &labels.key(name));
            walk.text(value, &labels.key(name));
        }
        let root = Path::root("objects");
        for (index, object) in document.objects.iter().enumerate() {
            walk.value(object.clone(), &root.index(index));
        }
        let mut used = HashSet::new();
        for (written, (name, pointer)) in walk.undefined {
            if values.contains_key(&name) {
                used.insert(name);
            } else if !environment.contains(&name) {
                let near = near(&name, values.keys().map(String::as_str)).map(str::to_owned);
                // A shell script is full of ${…} of its own: there only what looks like a slip is worth saying.
                let script =
                    pointer.contains("/data/") || pointer.contains("/command/") || pointer.contains("/args/");
                if script && near.is_none() {
                    continue;
                }
                let finding =
                    self.add(&rules::UNDEFINED, &pointer, format!("{written} names no declared parameter"));
                if let Some(near) = near {
                    finding.fix = format!("did you mean {near}?");
                }
            }
        }
        for (index, parameter) in document.parameters.iter().enumerate() {
            if is_name(&parameter.name) && !used.contains(&parameter.name) {
                let message = format!("nothing refers to parameter {}", parameter.name);
                self.add(&rules::PARAMETER_UNUSED, &format!("/parameters/{index}"), message);
            }
        }
    }

    fn openshift_only(&mut self) {
        let document = self.document;
        for (index, object) in document.objects.iter().enumerate() {
            let pointer = format!("/objects/{index}");
            if let Some(namespace) = object.pointer("/metadata/namespace").and_then(Value::as_str)
                && !namespace.is_empty()
                && !crate::notation::has_quoted_reference(Notation::OpenShift, namespace)
            {
                let message = format!(
                    "the namespace `{}` will be removed",
                    schema::finding::shown(namespace.as_bytes())
                );
                self.add(&rules::FIXED_NAMESPACE, &format!("{pointer}/metadata/namespace"), message);
            }
            let within = |text: &str| {
                text.match_indices("${{").any(|(at, _)| {
                    text[at + 3..]
                        .split_once("}}")
                        .is_some_and(|(name, rest)| is_name(name) && (at > 0 || !rest.is_empty()))
                })
            };
            if any_text(object, &within) {
                self.add(
                    &rules::UNQUOTED_WITHIN,
                    &pointer,
                    format!("objects[{index}] has a ${{{{…}}}} within a longer text"),
                );
            }
        }
    }
}
