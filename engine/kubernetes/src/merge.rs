//! Several Templates into one, for what belongs together and is processed at once.
//!
//! The rule that is kept: processing the merged Template makes, with equal values, the objects the Templates make one
//! after the other. So labels that are not common to all are written into the objects they would have reached, and
//! what would change its meaning (a parameter of the same name, the same object, a text that would become a
//! reference) is named, and nothing is made. Parameters may be renamed out of each other's way.
//!
//! # What it must not know
//! Where Templates come from, and how one is printed.

use std::collections::{BTreeMap, HashMap, HashSet};

use schema::Severity;
use schema::processing::{Problem, Template};
use yaml::{Map, Value};

use crate::dialect;
use crate::document::{self, DIALECT_ANNOTATION, Document, ESCAPE_ANNOTATION, EXTENSIONS_ANNOTATION};
use crate::export::word;
use crate::labels;
use crate::notation::{Notation, Piece, pieces};

/// What is to be made.
#[derive(Debug, Clone, Default)]
pub struct MergeOptions {
    /// The name of the merged Template; those of its parts, joined, if not given.
    pub name: Option<String>,
    /// Rename parameters that collide: the Template's name goes before the parameter's.
    pub rename: bool,
}

/// One of the Templates, read.
struct Part {
    document: Document,
    /// New names of parameters, by old ones.
    renamed: HashMap<String, String>,
}

impl Part {
    fn title(&self) -> String {
        format!("`{}` ({})", self.document.name, self.document.file)
    }
}

/// Merges Templates, in order. The Template comes with remarks.
///
/// # Errors
/// Everything that cannot be read, and every collision, each with its place.
pub fn merge(templates: &[Template], options: &MergeOptions) -> Result<(Value, Vec<Problem>), Vec<Problem>> {
    let mut problems = Vec::new();
    let mut parts = Vec::new();
    for template in templates {
        match document::read(template) {
            Ok(document) => parts.push(Part { document, renamed: HashMap::new() }),
            Err(found) => problems.extend(found),
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let notation = notation(&parts)?;
    problems.extend(settings_differ(&parts));
    rename_parameters(&mut parts, notation, options.rename, &mut problems);
    let (common, labelled) = label_objects(&parts, notation, &mut problems);
    same_objects(&parts, notation, &mut problems);
    if !problems.is_empty() {
        return Err(problems);
    }
    let mut notes = parts.iter().flat_map(|part| part.document.notes.iter().cloned()).collect::<Vec<_>>();
    notes.extend(shared(&parts));
    Ok((assemble(&parts, notation, common, labelled, options), notes))
}

/// The one notation all parts are in. A part without references is in any.
fn notation(parts: &[Part]) -> Result<Notation, Vec<Problem>> {
    let (mut chosen, mut problems) = (None::<(Notation, &Part)>, Vec::new());
    for part in parts {
        let document = &part.document;
        let decided = document.is_grouped()
            || document.annotation(DIALECT_ANNOTATION).is_some()
            || document
                .parameters
                .iter()
                .any(|parameter| parameter.kind.is_some() || !parameter.generate.is_empty())
            || [Notation::OpenShift, Notation::Kubernetes]
                .iter()
                .any(|notation| dialect::refers_to_parameters(document, *notation));
        match dialect::choose(document, None) {
            Err(problem) => problems.push(problem),
            Ok(_) if !decided => {}
            Ok(choice) => match chosen {
                Some((notation, first)) if notation != choice.notation => {
                    let message = format!(
                        "{} is in the notation of {}, and {} in that of {}",
                        part.title(),
                        choice.notation.as_str(),
                        first.title(),
                        notation.as_str()
                    );
                    problems.push(
                        Problem::error(message).in_file(document.file.as_str()).hint("use one notation"),
                    );
                }
                Some(_) => {}
                None => chosen = Some((choice.notation, part)),
            },
        }
    }
    if problems.is_empty() {
        Ok(chosen.map_or(Notation::Kubernetes, |(notation, _)| notation))
    } else {
        Err(problems)
    }
}

/// Annotations that change how a Template is processed must be the same in all.
fn settings_differ(parts: &[Part]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for name in [ESCAPE_ANNOTATION, EXTENSIONS_ANNOTATION] {
        let Some((first, rest)) = parts.split_first() else { continue };
        for part in rest {
            if part.document.annotation(name) != first.document.annotation(name) {
                let message =
                    format!("{} and {} differ in the annotation `{name}`", first.title(), part.title());
                let problem = Problem::error(message).hint("write the same into all, or into none");
                problems.push(part.document.place(problem, "/metadata/annotations"));
            }
        }
    }
    problems
}

/// Finds parameters that mean something else in an earlier part, and references that a parameter of another part
/// would capture. Renames the former, or says so.
fn rename_parameters(parts: &mut [Part], notation: Notation, rename: bool, problems: &mut Vec<Problem>) {
    let mut all = parts
        .iter()
        .flat_map(|part| part.document.parameters.iter().map(|parameter| parameter.name.clone()))
        .collect::<HashSet<_>>();
    let referred = parts.iter().map(|part| references(&part.document, notation)).collect::<Vec<_>>();
    all.extend(referred.iter().flatten().cloned());
    for index in 0..parts.len() {
        let (before, rest) = parts.split_at_mut(index);
        let Some((part, after)) = rest.split_first_mut() else { continue };
        let mut renamed = HashMap::new();
        for (position, parameter) in part.document.parameters.iter().enumerate() {
            let name = &parameter.name;
            let declared = |other: &&Part| {
                other.document.parameters.iter().any(|one| one.name == *name)
                    && !other.renamed.contains_key(name)
            };
            // Equal declarations are one parameter that both share.
            let different = before.iter().filter(declared).find(|other| {
                other.document.parameters.iter().any(|one| {
                    one.name == *name
                        && (&one.value, &one.generate, &one.from, one.required, one.kind)
                            != (
                                &parameter.value,
                                &parameter.generate,
                                &parameter.from,
                                parameter.required,
                                parameter.kind,
                            )
                })
            });
            let others = before.iter().chain(after.iter());
            let texts = referred[..index].iter().chain(&referred[index + 1..]);
            let captured = others.zip(texts).find(|(other, names)| {
                names.contains(name) && !declared(other) && !other.renamed.contains_key(name)
            });
            let why = match (different, captured) {
                (Some(other), _) => format!("is another one in {}", other.title()),
                (None, Some((other, _))) => {
                    format!(
                        "would replace {} of {}, which is a text there",
                        notation.reference(name),
                        other.title()
                    )
                }
                (None, None) => continue,
            };
            if rename {
                let stem = format!("{}_{name}", word(&part.document.name));
                let mut candidates =
                    std::iter::once(stem.clone()).chain((2..).map(|n| format!("{stem}_{n}")));
                let new = candidates.find(|new| !all.contains(new)).unwrap_or(stem);
                all.insert(new.clone());
                renamed.insert(name.clone(), new);
            } else {
                let message = format!("parameter {name} of {} {why}", part.title());
                let problem = Problem::error(message).hint(
                    "declare it alike in both if it is meant to be shared, rename it, or merge with --rename",
                );
                problems.push(part.document.place(problem, &format!("/parameters/{position}")));
            }
        }
        part.renamed = renamed;
    }
}

/// Every name a document refers to.
fn references(document: &Document, notation: Notation) -> HashSet<String> {
    let mut names = HashSet::new();
    let mut text = |text: &str| {
        for piece in pieces(notation, text, document.has_escapes()) {
            if let Piece::Reference { name, .. } = piece {
                names.insert(name.to_owned());
            }
        }
    };
    document.message.iter().for_each(|message| text(message));
    document.labels.iter().for_each(|(name, value)| {
        text(name);
        text(value);
    });
    document.objects.iter().for_each(|object| each_text(object, &mut text));
    names
}

fn each_text(value: &Value, found: &mut impl FnMut(&str)) {
    match value {
        Value::String(text) => found(text),
        Value::List(items) => items.iter().for_each(|item| each_text(item, found)),
        Value::Map(map) => map.iter().for_each(|(key, value)| {
            found(key);
            each_text(value, found);
        }),
        _ => {}
    }
}

impl Part {
    /// A text with its references to renamed parameters written anew.
    fn text(&self, text: &str, notation: Notation) -> String {
        if self.renamed.is_empty() || !text.contains('$') {
            return text.to_owned();
        }
        // Without escapes the pieces joined are the text; an escape must stay one.
        let mut out = String::with_capacity(text.len());
        for piece in pieces(notation, text, false) {
            match piece {
                Piece::Text(text) => out.push_str(text),
                Piece::Reference { written, name, unquoted } => match self.renamed.get(name) {
                    Some(new) if unquoted => out.push_str(&notation.unquoted_reference(new)),
                    Some(new) => out.push_str(&notation.reference(new)),
                    None => out.push_str(written),
                },
            }
        }
        out
    }

    fn value(&self, value: &Value, notation: Notation) -> Value {
        match value {
            Value::String(text) => Value::from(self.text(text, notation)),
            Value::List(items) => Value::List(items.iter().map(|item| self.value(item, notation)).collect()),
            Value::Map(map) => Value::Map(
                map.iter()
                    .map(|(key, value)| (self.text(key, notation), self.value(value, notation)))
                    .collect(),
            ),
            other => other.clone(),
        }
    }

    /// The names its parameters have now.
    fn declared(&self) -> HashSet<&str> {
        let names = self.document.parameters.iter().map(|parameter| &parameter.name);
        names.map(|name| self.renamed.get(name).unwrap_or(name).as_str()).collect()
    }

    fn labels(&self, notation: Notation) -> Vec<(String, String)> {
        let text = |text: &String| self.text(text, notation);
        self.document.labels.iter().map(|(name, value)| (text(name), text(value))).collect()
    }
}

/// The labels all parts have, and all objects, with the labels only their part has written into them.
fn label_objects(
    parts: &[Part],
    notation: Notation,
    problems: &mut Vec<Problem>,
) -> (Vec<(String, String)>, Vec<Value>) {
    let all = parts.iter().map(|part| part.labels(notation)).collect::<Vec<_>>();
    let common = all.first().cloned().unwrap_or_default();
    let common = common
        .into_iter()
        .filter(|label| all.iter().all(|labels| labels.contains(label)))
        .collect::<Vec<_>>();
    let mut objects = Vec::new();
    for (part, labels) in parts.iter().zip(all) {
        let own = labels.into_iter().filter(|label| !common.contains(label));
        // A label of a Template is a text whatever the form of a reference in it; in an object the form counts.
        let declared = part.declared();
        let own = own.map(|(name, value)| (name, quoted(&value, notation, &declared))).collect::<Vec<_>>();
        for (index, object) in part.document.objects.iter().enumerate() {
            let mut object = part.value(object, notation);
            let (mut errors, mut notes) = (Vec::new(), Vec::new());
            let pointer = format!("/objects/{index}");
            labels::add(&mut object, &own, notation, &pointer, &mut errors, &mut notes);
            problems.extend(errors.into_iter().map(|one| part.document.place(one.problem, &one.pointer)));
            objects.push(object);
        }
    }
    (common, objects)
}

/// A text whose references to declared parameters keep their quotes.
fn quoted(text: &str, notation: Notation, declared: &HashSet<&str>) -> String {
    let texts = pieces(notation, text, false).into_iter().map(|piece| match piece {
        Piece::Reference { name, unquoted: true, .. } if declared.contains(name) => notation.reference(name),
        Piece::Text(text) | Piece::Reference { written: text, .. } => text.to_owned(),
    });
    texts.collect()
}

/// Objects that would be one: the same kind and name, as written or with defaults in place of references.
fn same_objects(parts: &[Part], notation: Notation, problems: &mut Vec<Problem>) {
    let mut seen = BTreeMap::<[String; 4], (usize, usize)>::new();
    for (number, part) in parts.iter().enumerate() {
        let defaults = part.document.parameters.iter();
        let defaults = defaults.map(|one| (one.name.as_str(), one.value.as_str())).collect::<HashMap<_, _>>();
        for (index, object) in part.document.objects.iter().enumerate() {
            let resolved = |pointer: &str| {
                let text = object.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
                let pieces = pieces(notation, text, part.document.has_escapes()).into_iter();
                let texts = pieces.map(|piece| match piece {
                    Piece::Text(text) => text,
                    Piece::Reference { name, written, .. } => {
                        defaults.get(name).copied().filter(|value| !value.is_empty()).unwrap_or(written)
                    }
                });
                texts.collect::<String>()
            };
            let key = ["/apiVersion", "/kind", "/metadata/namespace", "/metadata/name"].map(resolved);
            if key[3].is_empty() {
                continue;
            }
            match seen.get(&key) {
                Some((other, place)) if *other != number => {
                    let message = format!(
                        "{} `{}` is in {} (objects[{place}]) and in {} (objects[{index}])",
                        key[1],
                        key[3],
                        parts[*other].title(),
                        part.title()
                    );
                    let problem =
                        Problem::error(message).hint("rename one of them, or make its name a parameter");
                    problems.push(part.document.place(problem, &format!("/objects/{index}/metadata/name")));
                }
                Some(_) => {}
                None => {
                    seen.insert(key, (number, index));
                }
            }
        }
    }
}

fn assemble(
    parts: &[Part],
    notation: Notation,
    common: Vec<(String, String)>,
    objects: Vec<Value>,
    options: &MergeOptions,
) -> Value {
    let names = parts.iter().map(|part| part.document.name.as_str()).collect::<Vec<_>>();
    let name = options.name.clone().unwrap_or_else(|| names.join("-"));
    let mut annotations = Map::new();
    for part in parts {
        for (key, text) in &part.document.annotations {
            match annotations.get_mut(key) {
                None => {
                    annotations.insert(key.clone(), Value::from(text.as_str()));
                }
                Some(Value::String(known)) if key == "tags" => {
                    let mut tags = known.split(',').map(str::trim).map(str::to_owned).collect::<Vec<_>>();
                    let more =
                        text.split(',').map(str::trim).filter(|tag| !tags.iter().any(|known| known == tag));
                    let more = more.map(str::to_owned).collect::<Vec<_>>();
                    tags.extend(more);
                    *known = tags.join(",");
                }
                Some(Value::String(known)) if key == "description" && known != text => {
                    *known = format!("{known}\n\n{text}");
                }
                // Of other annotations the first part's count.
                Some(_) => {}
            }
        }
    }
    if notation == Notation::Kubernetes {
        annotations.insert(DIALECT_ANNOTATION.to_owned(), Value::from(notation.as_str()));
    }
    let mut metadata = Map::new();
    metadata.insert("name".to_owned(), Value::from(name));
    if !annotations.is_empty() {
        metadata.insert("annotations".to_owned(), Value::Map(annotations));
    }
    let api_version = match notation {
        Notation::OpenShift => "template.openshift.io/v1",
        Notation::Kubernetes => "v1",
    };
    let mut map = Map::new();
    map.insert("apiVersion".to_owned(), Value::from(api_version));
    map.insert("kind".to_owned(), Value::from("Template"));
    map.insert("metadata".to_owned(), Value::Map(metadata));
    let messages =
        parts.iter().filter_map(|part| Some(part.text(part.document.message.as_deref()?, notation)));
    let message = messages.collect::<Vec<_>>().join("\n\n");
    if !message.is_empty() {
        map.insert("message".to_owned(), Value::from(message));
    }
    if !common.is_empty() {
        map.insert("labels".to_owned(), Value::from_iter(common));
    }
    map.insert("parameters".to_owned(), Value::List(parameters(parts)));
    map.insert("objects".to_owned(), Value::List(objects));
    Value::Map(map)
}

/// Parameters that several parts declare alike are one afterwards: a value that is generated is then the same in all.
fn shared(parts: &[Part]) -> Vec<Problem> {
    let mut owners = BTreeMap::<&str, Vec<String>>::new();
    for part in parts {
        let mut own = HashSet::new();
        for parameter in &part.document.parameters {
            if !part.renamed.contains_key(&parameter.name) && own.insert(&parameter.name) {
                owners.entry(&parameter.name).or_default().push(part.title());
            }
        }
    }
    owners.retain(|_, titles| titles.len() > 1);
    let note = |(name, titles): (&str, Vec<String>)| {
        Problem::new(Severity::Info, format!("parameter {name} is shared by {}", titles.join(" and ")))
    };
    owners.into_iter().map(note).collect()
}

/// Every parameter once, under its new name.
fn parameters(parts: &[Part]) -> Vec<Value> {
    let (mut seen, mut all) = (HashSet::new(), Vec::new());
    for part in parts {
        let listed = part.document.rest.get("parameters").and_then(Value::as_list).unwrap_or_default();
        for parameter in listed {
            let mut parameter = parameter.clone();
            let Some(map) = parameter.as_map_mut() else { continue };
            let name = map.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
            let new = part.renamed.get(&name).unwrap_or(&name).clone();
            if seen.insert(new.clone()) {
                map.insert("name".to_owned(), Value::from(new));
                all.push(parameter);
            }
        }
    }
    all
}
