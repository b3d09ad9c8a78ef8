//! Processing a Template: the steps, in order, and the outcome.

use std::collections::{BTreeMap, HashSet};

use indexmap::IndexMap;
use schema::Severity;
use schema::limits::Budget;
use schema::processing::{Cause, Failure, Outcome, Problem, Provided, Request, Step, Template};
use serde_json::{Value as Json, json};
use yaml::{Map, Value};

use crate::document::Document;
use crate::notation::Notation;
use crate::parameters::{Assigned, near};
use crate::substitute::{Path, Pointed, Substituter};
use crate::values::{Output, Values};
use crate::{conflict, dialect, document, group, labels, namespace, parameters, values};

/// The most remarks beside a result.
const MOST_DIAGNOSTICS: usize = 300;
/// The most undefined references that are listed.
const MOST_UNDEFINED: usize = 100;
/// The label `instance` puts on every object.
const INSTANCE_LABEL: &str = "formwork/instance";

/// Processes a Template. It refers to no other templates, so what is provided does not matter.
///
/// The outcome's `original` is the processed form: a `v1 List` as `oc process` prints it, or the Template where
/// the values ask for that. Members of objects are in the order of their names, as the original prints them.
pub fn process(template: &Template, request: &Request, _provided: &[Provided], budget: &Budget) -> Step {
    match run(template, request, budget) {
        Ok(outcome) => Step::Done(Box::new(outcome)),
        Err(failure) => Step::Failed(failure),
    }
}

fn run(template: &Template, request: &Request, budget: &Budget) -> Result<Outcome, Failure> {
    let mut document =
        document::read(template).map_err(|problems| Failure::several(Cause::Template, problems))?;
    let mut values = values::read(request);
    let choice = match dialect::choose(&document, values.dialect.as_deref()) {
        Ok(choice) => choice,
        Err(problem) => {
            let mut problems = std::mem::take(&mut values.problems);
            problems.push(problem);
            return Err(Failure::several(Cause::Values, problems));
        }
    };
    if document.objects.len() > budget.objects {
        let message = format!(
            "the template has {} objects; at most {} are processed",
            document.objects.len(),
            budget.objects
        );
        return Err(Failure::one(Cause::Limit, document.place(Problem::error(message), "/objects")));
    }
    let assigned = parameters::assign(&document, choice.notation, &values, request, budget);
    let instance = parameters::instance(&document, &values, request);
    let conflicts = match choice.notation {
        Notation::Kubernetes => conflict::find(&document, &assigned.values),
        Notation::OpenShift => conflict::Conflicts::default(),
    };
    let objects = std::mem::take(&mut document.objects);
    let mut faults = Faults::new(&document);
    faults.values.append(&mut values.problems);
    faults.values.extend(assigned.value_problems.iter().cloned());
    faults.template.extend(assigned.template_problems.iter().cloned());
    let instance = instance.unwrap_or_else(|problem| {
        faults.values.push(problem);
        None
    });
    faults.errors(conflicts.errors);
    faults.notes(conflicts.notes);
    faults.errors(objects.iter().enumerate().filter_map(|(index, one)| not_an_object(one, index)).collect());
    let environment = conflicts.environment;

    let substituter =
        || Substituter::new(choice.notation, document.has_escapes(), &assigned.values, budget.output);
    if faults.any() && values.strict {
        // What is undefined does not depend on values, so it is said along with what is wrong with those.
        let mut walk = substituter();
        let root = Path::root("objects");
        for (index, object) in objects.iter().enumerate() {
            walk.value(object.clone(), &root.index(index));
        }
        faults.all_undefined(walk.undefined, &environment, true);
    }
    faults.stop()?;

    let mut substituter = substituter();
    let message =
        document.message.as_deref().map(|message| substituter.text(message, &Path::root("message")));
    let labels = labels_of(&document, &values, instance.as_deref(), &mut substituter);
    let mut made = Vec::with_capacity(objects.len());
    for (index, object) in objects.into_iter().enumerate() {
        made.push(process_object(
            object,
            index,
            choice.notation,
            &values,
            &labels,
            &mut substituter,
            &mut faults,
        ));
        if substituter.exhausted {
            let message = format!("the objects are larger than {} bytes together", budget.output);
            return Err(Failure::one(Cause::Limit, Problem::error(message).hint("give shorter values")));
        }
    }
    let Substituter { errors, notes, undefined, .. } = substituter;
    faults.errors(errors);
    faults.notes(notes);
    faults.all_undefined(undefined, &environment, values.strict);
    report_duplicates(&made, &mut faults);
    faults.stop()?;

    let items = made.into_iter().map(sorted).collect::<Vec<_>>();
    let original = match values.output {
        Output::List => json!({"kind": "List", "apiVersion": "v1", "metadata": {}, "items": items}),
        Output::Template => {
            as_template(&document, &values, &assigned, &labels, message.as_deref(), items.clone())
        }
    };
    let mut diagnostics = document.notes.clone();
    diagnostics.extend(assigned.diagnostics.iter().cloned());
    diagnostics.append(&mut faults.diagnostics);
    diagnostics.truncate(MOST_DIAGNOSTICS);
    Ok(Outcome {
        objects: items,
        original,
        outputs: outputs(message, instance.as_deref()),
        dialect: Some(choice.dialect()),
        generated: assigned.generated,
        diagnostics,
        ..Outcome::default()
    })
}

/// What is said beside the objects: the message, and the selector that lists and deletes all that was made.
fn outputs(message: Option<String>, instance: Option<&str>) -> Option<Json> {
    let mut outputs = serde_json::Map::new();
    outputs.extend(message.map(|message| ("message".to_owned(), json!(message))));
    outputs.extend(
        instance.map(|instance| ("selector".to_owned(), json!(format!("{INSTANCE_LABEL}={instance}")))),
    );
    (!outputs.is_empty()).then(|| Json::Object(outputs))
}

/// What is wrong so far, by whose fault it is, and what is worth saying.
struct Faults<'d> {
    document: &'d Document,
    values: Vec<Problem>,
    template: Vec<Problem>,
    diagnostics: Vec<Problem>,
}

impl<'d> Faults<'d> {
    fn new(document: &'d Document) -> Self {
        Faults { document, values: Vec::new(), template: Vec::new(), diagnostics: Vec::new() }
    }

    fn errors(&mut self, pointed: Vec<Pointed>) {
        self.template.extend(pointed.into_iter().map(|one| self.document.place(one.problem, &one.pointer)));
    }

    fn notes(&mut self, pointed: Vec<Pointed>) {
        self.diagnostics
            .extend(pointed.into_iter().map(|one| self.document.place(one.problem, &one.pointer)));
    }

    fn any(&self) -> bool {
        !self.values.is_empty() || !self.template.is_empty()
    }

    /// References to names nobody declared; what the kubelet knows is not undefined.
    fn all_undefined(
        &mut self,
        undefined: BTreeMap<String, (String, String)>,
        environment: &HashSet<String>,
        strict: bool,
    ) {
        let undefined = undefined.into_iter().filter(|(_, (name, _))| !environment.contains(name));
        for (written, (name, pointer)) in undefined.take(MOST_UNDEFINED) {
            self.undefined(&written, &name, pointer, strict);
        }
    }

    fn undefined(&mut self, written: &str, name: &str, pointer: String, strict: bool) {
        let near = near(name, self.document.parameters.iter().map(|parameter| parameter.name.as_str()));
        let message = format!("{written} names no declared parameter");
        let severity = if strict {
            Severity::Error
        } else if near.is_some() {
            Severity::Warning
        } else {
            Severity::Info
        };
        let mut problem = Problem::new(severity, message);
        problem.hint = Some(match near {
            Some(near) => format!("did you mean {near}?"),
            None => "it stays as it is written; declare the parameter if it is meant as one".to_owned(),
        });
        let problem = self.document.place(problem, &pointer);
        if strict { self.template.push(problem) } else { self.diagnostics.push(problem) }
    }

    /// Fails with everything found, if anything was.
    fn stop(&mut self) -> Result<(), Failure> {
        let cause = if self.template.is_empty() { Cause::Values } else { Cause::Template };
        let mut problems = std::mem::take(&mut self.values);
        problems.append(&mut self.template);
        problems.truncate(MOST_DIAGNOSTICS);
        if problems.is_empty() {
            return Ok(());
        }
        // In the order of the template, as the original lists them; what is about the request comes first.
        problems.sort_by_key(|problem| {
            (problem.file.as_deref() == Some(&*self.document.file), problem.line, problem.column)
        });
        Err(Failure::several(cause, problems))
    }
}

/// The template's labels with the caller's on top, substituted; of equal names the last counts.
fn labels_of(
    document: &Document,
    values: &Values,
    instance: Option<&str>,
    substituter: &mut Substituter<'_>,
) -> Vec<(String, String)> {
    let mut labels = IndexMap::new();
    for (name, value) in document.labels.iter().chain(&values.labels) {
        let path = Path::root("labels");
        let path = path.key(name);
        labels.insert(substituter.text(name, &path), substituter.text(value, &path));
    }
    if let Some(instance) = instance {
        labels.insert(INSTANCE_LABEL.to_owned(), instance.to_owned());
    }
    labels.into_iter().collect()
}

/// Why something in the list of objects is none.
fn not_an_object(object: &Value, index: usize) -> Option<Pointed> {
    let pointer = format!("/objects/{index}");
    match object {
        // The original lets a null pass.
        Value::Null => None,
        Value::Map(map) => match map.get("kind") {
            Some(Value::String(kind)) if !kind.is_empty() => None,
            Some(Value::String(_) | Value::Null) | None => {
                let problem = Problem::error("unable to handle object: Object 'Kind' is missing")
                    .hint("every object needs a `kind` and an `apiVersion`");
                Some(Pointed { pointer, problem })
            }
            Some(other) => {
                let message = format!("unable to handle object: its kind is of type {}", other.kind_name());
                Some(Pointed { pointer: format!("{pointer}/kind"), problem: Problem::error(message) })
            }
        },
        other => {
            let message = format!("unable to handle object: it is of type {}, not a map", other.kind_name());
            Some(Pointed { pointer, problem: Problem::error(message) })
        }
    }
}

fn process_object(
    mut object: Value,
    index: usize,
    notation: Notation,
    values: &Values,
    labels: &[(String, String)],
    substituter: &mut Substituter<'_>,
    faults: &mut Faults<'_>,
) -> Value {
    if object.is_null() {
        return object;
    }
    let pointer = format!("/objects/{index}");
    if notation == Notation::OpenShift {
        namespace::strip(&mut object);
    }
    let root = Path::root("objects");
    let mut object = substituter.value(object, &root.index(index)).unwrap_or_default();
    if let Some(map) = object.as_map_mut() {
        map.entry("apiVersion".to_owned()).or_insert_with(|| Value::from(""));
    }
    if notation == Notation::OpenShift && values.groupify {
        group::move_to_group(&mut object);
    }
    let (mut errors, mut notes) = (Vec::new(), Vec::new());
    labels::add(&mut object, labels, notation, &pointer, &mut errors, &mut notes);
    faults.errors(errors);
    faults.notes(notes);
    if let Some(namespace) = &values.namespace {
        namespace::assign(&mut object, namespace);
    }
    object
}

/// Two objects that would be one in a cluster: the second would replace the first.
fn report_duplicates(objects: &[Value], faults: &mut Faults<'_>) {
    let mut seen = BTreeMap::new();
    for (index, object) in objects.iter().enumerate() {
        let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        let name = text("/metadata/name");
        if name.is_empty() {
            continue;
        }
        let key = (text("/apiVersion"), text("/kind"), text("/metadata/namespace"), name);
        if let Some(first) = seen.insert(key, index) {
            let message =
                format!("objects[{first}] and objects[{index}] are both {} `{name}`", text("/kind"));
            let problem = Problem::new(Severity::Warning, message).hint("rename one of them");
            faults.notes(vec![Pointed { pointer: format!("/objects/{index}/metadata/name"), problem }]);
        }
    }
}

/// The Template with its objects and values filled in, as the original's service answers.
fn as_template(
    document: &Document,
    values: &Values,
    assigned: &Assigned,
    labels: &[(String, String)],
    message: Option<&str>,
    items: Vec<Json>,
) -> Json {
    let mut map: Map = document.rest.clone();
    if let Some(parameters) = map.get_mut("parameters").and_then(Value::as_list_mut) {
        for (parameter, value) in parameters.iter_mut().zip(&assigned.by_position) {
            if let Some(parameter) = parameter.as_map_mut() {
                // A value that is given takes the generator's place.
                let name = parameter.get("name").and_then(Value::as_str).unwrap_or_default();
                if values.given.contains_key(name) {
                    parameter.shift_remove("generate");
                }
                parameter.insert("value".to_owned(), Value::from(value.as_str()));
            }
        }
    }
    if !labels.is_empty() {
        map.insert("labels".to_owned(), Value::from_iter(labels.iter().cloned()));
    }
    if let Some(message) = message {
        map.insert("message".to_owned(), Value::from(message));
    }
    let mut json = sorted(Value::Map(map));
    json["objects"] = Json::Array(items);
    json
}

/// The value for an answer, with members in the order of their names.
fn sorted(value: Value) -> Json {
    match value {
        Value::String(text) => Json::String(text),
        Value::List(items) => Json::Array(items.into_iter().map(sorted).collect()),
        Value::Map(mut map) => {
            map.sort_unstable_keys();
            Json::Object(map.into_iter().map(|(key, value)| (key, sorted(value))).collect())
        }
        scalar => scalar.to_json(),
    }
}
