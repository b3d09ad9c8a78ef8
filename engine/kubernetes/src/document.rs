//! Reading the Template itself: parsed at the edge once, into what the other steps work on.
//!
//! Lenient where OpenShift's reader is (unknown fields, odd names), strict where it is (a value that is no text).
//! It must not know notations or values.

use schema::Severity;
use schema::processing::{Problem, Template};
use yaml::{Map, Spans, Value};

/// The annotation that names the notation, for a template that can be read either way.
pub(crate) const DIALECT_ANNOTATION: &str = "formwork/dialect";
/// The annotation that turns `$${P}` into a way to write `${P}`.
pub(crate) const ESCAPE_ANNOTATION: &str = "formwork/escape";
/// The annotation that allows what the proposal leaves out: `generate`.
pub(crate) const EXTENSIONS_ANNOTATION: &str = "formwork/extensions";

/// What a value of a parameter must look like; the proposal's `type`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ParameterType {
    String,
    Int,
    Bool,
    Base64,
}

/// A declared parameter.
#[derive(Debug, Clone)]
pub(crate) struct Parameter {
    pub(crate) name: String,
    pub(crate) display_name: Option<String>,
    pub(crate) description: Option<String>,
    pub(crate) value: String,
    pub(crate) generate: String,
    pub(crate) from: String,
    pub(crate) required: bool,
    pub(crate) kind: Option<ParameterType>,
}

/// A Template, read.
#[derive(Debug)]
pub(crate) struct Document {
    pub(crate) file: String,
    pub(crate) name: String,
    pub(crate) api_version: String,
    pub(crate) annotations: Vec<(String, String)>,
    pub(crate) message: Option<String>,
    pub(crate) labels: Vec<(String, String)>,
    pub(crate) objects: Vec<Value>,
    pub(crate) parameters: Vec<Parameter>,
    /// Everything else it says, for handing it back as a Template.
    pub(crate) rest: Map,
    pub(crate) spans: Spans,
    /// What is worth saying although it could be read.
    pub(crate) notes: Vec<Problem>,
}

impl Document {
    /// Whether it is of OpenShift's API group.
    pub(crate) fn is_grouped(&self) -> bool {
        self.api_version.starts_with("template.openshift.io/")
    }

    /// The text of an annotation.
    pub(crate) fn annotation(&self, name: &str) -> Option<&str> {
        self.annotations.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// Whether `$${P}` is an escape here.
    pub(crate) fn has_escapes(&self) -> bool {
        self.annotation(ESCAPE_ANNOTATION) == Some("true")
    }

    /// A problem, placed at a JSON pointer of this document.
    pub(crate) fn place(&self, problem: Problem, pointer: &str) -> Problem {
        place(problem, &self.file, &self.spans, pointer)
    }
}

fn place(problem: Problem, file: &str, spans: &Spans, pointer: &str) -> Problem {
    let problem = problem.in_file(file).pointing(pointer);
    match spans.nearest(pointer) {
        Some(span) => problem.at(span.start.line, span.start.column),
        None => problem,
    }
}

/// Collects what is wrong with the shape, with its place.
struct Reader<'a> {
    file: &'a str,
    spans: &'a Spans,
    problems: Vec<Problem>,
    notes: Vec<Problem>,
}

impl Reader<'_> {
    fn error(&mut self, pointer: &str, message: String) {
        self.problems.push(place(Problem::error(message), self.file, self.spans, pointer));
    }

    fn note(&mut self, pointer: &str, problem: Problem) {
        self.notes.push(place(problem, self.file, self.spans, pointer));
    }

    /// A text; null and nothing are the empty text.
    fn text(&mut self, map: &Map, key: &str, pointer: &str) -> String {
        match map.get(key) {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => text.clone(),
            Some(other) => {
                let pointer = format!("{pointer}/{key}");
                self.error(&pointer, format!("`{key}` is of type {}; it must be a text", other.kind_name()));
                if let Some(problem) = self.problems.last_mut() {
                    problem.hint = Some("put it in quotes".to_owned());
                }
                String::new()
            }
        }
    }

    fn optional_text(&mut self, map: &Map, key: &str, pointer: &str) -> Option<String> {
        let text = self.text(map, key, pointer);
        (!text.is_empty()).then_some(text)
    }

    fn list<'v>(&mut self, map: &'v Map, key: &str) -> &'v [Value] {
        match map.get(key) {
            None | Some(Value::Null) => &[],
            Some(Value::List(items)) => items,
            Some(other) => {
                self.error(
                    &format!("/{key}"),
                    format!("`{key}` is of type {}; it must be a list", other.kind_name()),
                );
                &[]
            }
        }
    }

    /// A map of texts. A number or boolean there is taken as the text it is written as, and noted.
    fn texts(&mut self, map: &Map, key: &str, pointer: &str) -> Vec<(String, String)> {
        let members = match map.get(key) {
            None | Some(Value::Null) => return Vec::new(),
            Some(Value::Map(members)) => members,
            Some(other) => {
                let pointer = format!("{pointer}/{key}");
                self.error(&pointer, format!("`{key}` is of type {}; it must be a map", other.kind_name()));
                return Vec::new();
            }
        };
        let mut texts = Vec::new();
        for (name, value) in members {
            match value {
                Value::Null => texts.push((name.clone(), String::new())),
                Value::String(text) => texts.push((name.clone(), text.clone())),
                other => {
                    let pointer = format!("{pointer}/{key}/{}", pointer_segment(name));
                    self.error(
                        &pointer,
                        format!("`{key}` holds texts only, and `{name}` is of type {}", other.kind_name()),
                    );
                }
            }
        }
        texts
    }

    fn parameter(&mut self, value: &Value, index: usize) -> Option<Parameter> {
        let pointer = format!("/parameters/{index}");
        let Value::Map(map) = value else {
            self.error(
                &pointer,
                format!("a parameter is of type {}; it must be a map with a `name`", value.kind_name()),
            );
            return None;
        };
        let required = match map.get("required") {
            None | Some(Value::Null) => false,
            Some(Value::Bool(required)) => *required,
            Some(other) => {
                let message =
                    format!("`required` is of type {}; it must be true or false", other.kind_name());
                self.error(&format!("{pointer}/required"), message);
                false
            }
        };
        let kind = match self.text(map, "type", &pointer).as_str() {
            "" => None,
            "string" => Some(ParameterType::String),
            "int" => Some(ParameterType::Int),
            "bool" => Some(ParameterType::Bool),
            "base64" => Some(ParameterType::Base64),
            other => {
                let message = format!("`{other}` is not a type of parameters");
                let note =
                    Problem::new(Severity::Warning, message).hint("types are string, int, bool and base64");
                self.note(&format!("{pointer}/type"), note);
                None
            }
        };
        Some(Parameter {
            name: self.text(map, "name", &pointer),
            display_name: self.optional_text(map, "displayName", &pointer),
            description: self.optional_text(map, "description", &pointer),
            value: self.text(map, "value", &pointer),
            generate: self.text(map, "generate", &pointer),
            from: self.text(map, "from", &pointer),
            required,
            kind,
        })
    }
}

/// A name as a segment of a JSON pointer.
pub(crate) fn pointer_segment(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// Reads the template of a version. All that is wrong with its shape comes at once.
pub(crate) fn read(template: &Template) -> Result<Document, Vec<Problem>> {
    let file = template.entry.as_str();
    let Some(bytes) = template.files.get(file) else {
        return Err(vec![Problem::error(format!("there is no file `{file}`"))]);
    };
    let Ok(text) = std::str::from_utf8(bytes) else {
        return Err(vec![Problem::error("the file is not UTF-8").in_file(file)]);
    };
    let mut documents = yaml::load_stream(text, &yaml::Options::kubernetes()).map_err(|error| {
        let problem = Problem::error(error.message).in_file(file);
        vec![match error.position {
            Some(position) => problem.at(position.line, position.column),
            None => problem,
        }]
    })?;
    let more = documents.len() > 1;
    if documents.is_empty() {
        return Err(vec![Problem::error("the file is empty; a Template is expected").in_file(file)]);
    }
    let yaml::Document { value, spans } = documents.swap_remove(0);
    let mut reader = Reader { file, spans: &spans, problems: Vec::new(), notes: Vec::new() };
    if more {
        let message = "the file holds more than one document; only the first is processed";
        reader.notes.push(Problem::new(Severity::Warning, message).in_file(file));
    }
    let mut map = match value {
        Value::Map(map) => map,
        other => {
            reader.error("", format!("the file holds a {}; a Template is expected", other.kind_name()));
            return Err(reader.problems);
        }
    };
    match map.get("kind") {
        Some(Value::String(kind)) if kind == "Template" => {}
        Some(Value::String(kind)) => {
            reader.error("/kind", format!("the kind is `{kind}`; a Template is expected"));
        }
        _ => reader.error("", "Object 'Kind' is missing; `kind: Template` is expected".to_owned()),
    }
    let api_version = reader.text(&map, "apiVersion", "");
    let metadata = match map.get("metadata") {
        Some(Value::Map(metadata)) => metadata.clone(),
        None | Some(Value::Null) => Map::new(),
        Some(other) => {
            reader
                .error("/metadata", format!("`metadata` is of type {}; it must be a map", other.kind_name()));
            Map::new()
        }
    };
    let name = match reader.text(&metadata, "name", "/metadata") {
        name if name.is_empty() => template.name.clone(),
        name => name,
    };
    let annotations = reader.texts(&metadata, "annotations", "/metadata");
    let message = reader.optional_text(&map, "message", "");
    let labels = reader.texts(&map, "labels", "");
    let listed = reader.list(&map, "parameters").to_vec();
    let parameters = listed
        .iter()
        .enumerate()
        .filter_map(|(index, value)| reader.parameter(value, index))
        .collect::<Vec<_>>();
    reader.list(&map, "objects");
    let (problems, notes) = (reader.problems, reader.notes);
    if !problems.is_empty() {
        return Err(problems);
    }
    let objects = match map.swap_remove("objects") {
        Some(Value::List(objects)) => objects,
        _ => Vec::new(),
    };
    let file = file.to_owned();
    Ok(Document {
        file,
        name,
        api_version,
        annotations,
        message,
        labels,
        objects,
        parameters,
        rest: map,
        spans,
        notes,
    })
}
