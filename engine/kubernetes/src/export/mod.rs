//! Objects of a cluster into a Template: the way back.
//!
//! ```text
//! texts ─ read ─ select ─ clean ─┬─ parameters (names, images, replicas, resources, secrets) ─ Template
//!                                └─ as they are ─────────────────────────────────────────────┘
//! ```
//! The rule that everything here keeps: processing the Template with its defaults gives the cleaned objects back.
//! So a value is replaced by a reference only where the reference stands for exactly that value, and parameters take
//! no name that the objects themselves refer to.
//!
//! # What it must not know
//! Where objects come from, and how a Template is printed.

mod clean;
mod fields;
mod names;
mod selection;
mod vocabulary;

pub use selection::{Selection, Selector, SelectorError};

use std::collections::HashMap;

use schema::Severity;
use schema::processing::Problem;
use yaml::{Map, Value};

use crate::group;
use crate::notation::Notation;
use vocabulary::Vocabulary;
pub(crate) use vocabulary::word;

/// A group of fields that is understood well enough to be made parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Parameterised {
    /// Names of objects, in references to them, labels and selectors as well.
    Names,
    /// Images of containers.
    Images,
    /// How many pods there are.
    Replicas,
    /// What containers and claims request.
    Resources,
    /// What secrets hold.
    Secrets,
}

impl Parameterised {
    /// All of them.
    pub const ALL: [Parameterised; 5] = [
        Parameterised::Names,
        Parameterised::Images,
        Parameterised::Replicas,
        Parameterised::Resources,
        Parameterised::Secrets,
    ];

    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Parameterised::Names => "names",
            Parameterised::Images => "images",
            Parameterised::Replicas => "replicas",
            Parameterised::Resources => "resources",
            Parameterised::Secrets => "secrets",
        }
    }

    /// The group a word names.
    pub fn from_word(word: &str) -> Option<Parameterised> {
        Self::ALL.into_iter().find(|group| group.as_str() == word)
    }
}

/// What is to be made.
#[derive(Debug, Clone)]
pub struct ExportOptions {
    /// The Template's name.
    pub name: String,
    /// The notation of its references.
    pub notation: Notation,
    /// Which objects go into it.
    pub selection: Selection,
    /// What becomes a parameter.
    pub parameterised: Vec<Parameterised>,
    /// Parameters for secrets have no default: whoever processes the Template gives the values.
    pub blank_secrets: bool,
}

/// One text of objects, and what it is called in problems.
#[derive(Debug, Clone, Copy)]
pub struct Source<'t> {
    /// The file's name.
    pub name: &'t str,
    /// YAML or JSON: one object or several, Lists too.
    pub text: &'t str,
}

/// Makes a Template of objects. The first of the pair is the Template; problems that are errors come in its place.
///
/// # Errors
/// Everything that is wrong with the sources, at once.
pub fn export(
    sources: &[Source<'_>],
    options: &ExportOptions,
) -> Result<(Value, Vec<Problem>), Vec<Problem>> {
    let (mut errors, mut notes) = (Vec::new(), Vec::new());
    let mut objects = Vec::new();
    for source in sources {
        match read(*source) {
            Ok(read) => objects.extend(read),
            Err(problems) => errors.extend(problems),
        }
    }
    objects.retain(|object| options.selection.takes(&object.value));
    objects.retain(|object| match clean::left_out(&object.value) {
        Some(why) => {
            let message = format!("{} is left out: {why}", object.title());
            notes.push(Problem::new(Severity::Info, message).in_file(object.source.as_str()));
            false
        }
        None => true,
    });
    objects.iter_mut().for_each(|object| clean::clean(&mut object.value));
    let objects = without_repetitions(objects, &mut errors, &mut notes);
    if errors.is_empty() && objects.is_empty() {
        let problem = Problem::error("no object is left to export");
        errors.push(problem.hint("the filters take none of them, or there were none"));
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    let mut values = objects.into_iter().map(|object| object.value).collect::<Vec<_>>();
    if options.notation == Notation::OpenShift {
        values.iter_mut().for_each(group::move_to_group);
    }
    let mut vocabulary = Vocabulary::new(options.notation, &values);
    for group in Parameterised::ALL.iter().filter(|group| options.parameterised.contains(group)) {
        match group {
            Parameterised::Names => names::parameterise(&mut values, &mut vocabulary),
            Parameterised::Images => fields::images(&mut values, &mut vocabulary),
            Parameterised::Replicas => fields::replicas(&mut values, &mut vocabulary),
            Parameterised::Resources => fields::resources(&mut values, &mut vocabulary),
            Parameterised::Secrets => fields::secrets(&mut values, &mut vocabulary, options.blank_secrets),
        }
    }
    notes.extend(warn_of_secrets(&values, options));
    Ok((template(options, vocabulary.into_parameters(), values), notes))
}

/// An object, and where it came from.
struct Exported {
    value: Value,
    source: String,
}

impl Exported {
    fn text(&self, pointer: &str) -> &str {
        self.value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
    }

    fn title(&self) -> String {
        format!("{} `{}`", self.text("/kind"), self.text("/metadata/name"))
    }
}

/// The objects of a text, with Lists taken apart.
fn read(source: Source<'_>) -> Result<Vec<Exported>, Vec<Problem>> {
    let documents = yaml::load_stream(source.text, &yaml::Options::kubernetes()).map_err(|error| {
        let problem = Problem::error(error.message).in_file(source.name);
        vec![match error.position {
            Some(position) => problem.at(position.line, position.column),
            None => problem,
        }]
    })?;
    let (mut objects, mut problems) = (Vec::new(), Vec::new());
    for yaml::Document { value, spans } in documents {
        take_apart(value, "", &mut |value, pointer| {
            let text = |pointer: &str| value.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
            let wanted =
                [("apiVersion", "/apiVersion"), ("kind", "/kind"), ("metadata.name", "/metadata/name")];
            let missing = wanted.iter().filter(|(_, at)| text(at).is_empty()).map(|(name, _)| *name);
            let missing = missing.collect::<Vec<_>>();
            if missing.is_empty() {
                objects.push(Exported { value, source: source.name.to_owned() });
                return;
            }
            let message = format!("an object has no {}", missing.join(" and no "));
            let problem = Problem::error(message).in_file(source.name).pointing(pointer);
            let problem = problem.hint("objects come as `kubectl get -o yaml` prints them");
            problems.push(match spans.nearest(pointer) {
                Some(span) => problem.at(span.start.line, span.start.column),
                None => problem,
            });
        });
    }
    if problems.is_empty() { Ok(objects) } else { Err(problems) }
}

fn take_apart(value: Value, pointer: &str, found: &mut impl FnMut(Value, &str)) {
    let is_list = value.get("kind").and_then(Value::as_str).is_some_and(|kind| kind.ends_with("List"));
    match value {
        // What `kubectl` prints between documents, or an empty file.
        Value::Null => {}
        Value::Map(mut map) if is_list && matches!(map.get("items"), Some(Value::List(_) | Value::Null)) => {
            let items = map.swap_remove("items").and_then(|items| items.into_list().ok()).unwrap_or_default();
            for (index, item) in items.into_iter().enumerate() {
                take_apart(item, &format!("{pointer}/items/{index}"), found);
            }
        }
        other => found(other, pointer),
    }
}

/// Objects that are there twice: once is enough if they are equal, and an error if not.
fn without_repetitions(
    objects: Vec<Exported>,
    errors: &mut Vec<Problem>,
    notes: &mut Vec<Problem>,
) -> Vec<Exported> {
    let mut seen = HashMap::<[String; 3], usize>::new();
    let mut kept: Vec<Exported> = Vec::with_capacity(objects.len());
    for object in objects {
        let key = ["/apiVersion", "/kind", "/metadata/name"].map(|pointer| object.text(pointer).to_owned());
        match seen.get(&key) {
            None => {
                seen.insert(key, kept.len());
                kept.push(object);
            }
            Some(first) if kept[*first].value == object.value => {
                let message = format!("{} is there twice, and taken once", object.title());
                notes.push(Problem::new(Severity::Info, message).in_file(object.source.as_str()));
            }
            Some(first) => {
                let other = &kept[*first].source;
                let message = format!(
                    "{} is there twice, and not the same, without its namespace: here and in {other}",
                    object.title()
                );
                let problem = Problem::error(message).in_file(object.source.as_str());
                errors.push(
                    problem.hint("export each namespace for itself, or choose with --name, --kind or -l"),
                );
            }
        }
    }
    kept
}

fn warn_of_secrets(objects: &[Value], options: &ExportOptions) -> Option<Problem> {
    let blank = options.blank_secrets && options.parameterised.contains(&Parameterised::Secrets);
    let holds = |object: &Value| {
        object.get("kind").and_then(Value::as_str) == Some("Secret")
            && ["data", "stringData"]
                .iter()
                .any(|key| object.get(key).and_then(Value::as_map).is_some_and(|map| !map.is_empty()))
    };
    let secrets = objects.iter().filter(|object| holds(object)).count();
    (secrets > 0 && !blank).then(|| {
        let message = format!("the Template holds what {secrets} secrets hold");
        Problem::new(Severity::Warning, message)
            .hint("parameterise secrets and leave their values out before it goes to others")
    })
}

fn template(options: &ExportOptions, parameters: Vec<Value>, objects: Vec<Value>) -> Value {
    let api_version = match options.notation {
        Notation::OpenShift => "template.openshift.io/v1",
        Notation::Kubernetes => "v1",
    };
    let mut metadata = Map::from_iter([("name".to_owned(), Value::from(options.name.as_str()))]);
    if options.notation == Notation::Kubernetes {
        // Texts of objects may look like the other notation; nobody shall have to guess.
        let annotations =
            Value::from_iter([(crate::document::DIALECT_ANNOTATION, options.notation.as_str())]);
        metadata.insert("annotations".to_owned(), annotations);
    }
    let mut map = Map::new();
    map.insert("apiVersion".to_owned(), Value::from(api_version));
    map.insert("kind".to_owned(), Value::from("Template"));
    map.insert("metadata".to_owned(), Value::Map(metadata));
    if !parameters.is_empty() {
        map.insert("parameters".to_owned(), Value::List(parameters));
    }
    map.insert("objects".to_owned(), Value::List(objects));
    Value::Map(map)
}
