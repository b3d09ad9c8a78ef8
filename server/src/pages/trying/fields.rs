//! A form from the JSON Schema that every kind tells its parameters in: which fields there are, how each is filled
//! in, and what the texts in them mean.
//!
//! Maps with members of their own become groups; lists and free maps are written as YAML. This module must not know
//! where values come from.

use schema::Severity;
use schema::processing::Problem;
use serde_json::Value;

use super::filled::Filled;

/// The most fields of a form. A template with more is processed with a values document.
const MOST_FIELDS: usize = 300;

/// How deep maps become groups; below that they are written as YAML.
const DEEPEST: usize = 4;

/// Words that make a text a long one, to be written over several lines.
const LONG_TEXT: usize = 80;

/// What is said of a required field in which nothing stands.
const REQUIRED: &str = "This is required.";

/// The fields of a form, in groups.
#[derive(Debug, Default)]
pub(super) struct Form {
    pub(super) groups: Vec<Group>,
    /// Whether there are parameters that no field is for.
    pub(super) cut: bool,
    count: usize,
}

/// Fields that belong together.
#[derive(Debug)]
pub(super) struct Group {
    /// What the group is called; the first one has no name.
    pub(super) legend: Option<String>,
    pub(super) fields: Vec<Field>,
}

/// One field.
#[derive(Debug)]
pub(super) struct Field {
    /// The parameter, as a JSON pointer into the parameters.
    pub(super) pointer: String,
    pub(super) title: Option<String>,
    pub(super) description: Option<String>,
    pub(super) required: bool,
    pub(super) secret: bool,
    pub(super) default: Option<Value>,
    pub(super) input: Input,
}

/// How a field is filled in.
#[derive(Debug, PartialEq)]
pub(super) enum Input {
    /// A line of text.
    Text { pattern: Option<String>, shortest: Option<u64>, longest: Option<u64> },
    /// A number, whole or not, within limits.
    Number { whole: bool, least: Option<String>, most: Option<String>, text_too: bool },
    /// One of several values.
    Choice(Vec<Value>),
    /// Yes or no.
    Tick,
    /// Several lines: a long text.
    Long,
    /// A value of any shape, as YAML.
    Yaml,
}

impl Form {
    /// The form for a schema.
    pub(super) fn of(schema: &Value) -> Form {
        let mut form = Form { groups: vec![Group { legend: None, fields: Vec::new() }], ..Form::default() };
        form.take(schema, "", 0, 0);
        form.groups.retain(|group| !group.fields.is_empty());
        form
    }

    /// Every field.
    pub(super) fn fields(&self) -> impl Iterator<Item = &Field> {
        self.groups.iter().flat_map(|group| &group.fields)
    }

    fn take(&mut self, schema: &Value, pointer: &str, group: usize, depth: usize) {
        let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return };
        let required =
            schema.get("required").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        for (name, property) in properties {
            if self.count >= MOST_FIELDS {
                self.cut = true;
                return;
            }
            let pointer = format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1"));
            let is_group =
                property.get("properties").and_then(Value::as_object).is_some_and(|it| !it.is_empty());
            if is_group && depth < DEEPEST {
                let legend = text(property, "title").unwrap_or_else(|| name_of(&pointer));
                self.groups.push(Group { legend: Some(legend), fields: Vec::new() });
                let inner = self.groups.len() - 1;
                self.take(property, &pointer, inner, depth + 1);
                continue;
            }
            let is_required = required.iter().any(|required| required.as_str() == Some(name));
            self.count += 1;
            self.groups[group].fields.push(Field::of(property, pointer, is_required));
        }
    }
}

fn text(property: &Value, key: &str) -> Option<String> {
    property.get(key).and_then(Value::as_str).filter(|text| !text.trim().is_empty()).map(str::to_owned)
}

/// A value without the quotes a text would have.
pub(super) fn bare(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// A pointer as people write it: `storage.size`.
fn name_of(pointer: &str) -> String {
    let segments = pointer.split('/').skip(1).map(|segment| segment.replace("~1", "/").replace("~0", "~"));
    segments.collect::<Vec<_>>().join(".")
}

impl Field {
    fn of(property: &Value, pointer: String, required: bool) -> Field {
        let secret = property.get("writeOnly").and_then(Value::as_bool).unwrap_or(false);
        // A default that looks secret is in the file; the page does not repeat it.
        let default = property.get("default").filter(|value| !secret && !value.is_null()).cloned();
        Field {
            title: text(property, "title"),
            description: text(property, "description"),
            required: required && property.get("default").is_none(),
            input: input(property, default.as_ref()),
            pointer,
            secret,
            default,
        }
    }

    /// What the parameter is called, in commands and messages.
    pub(super) fn name(&self) -> String {
        name_of(&self.pointer)
    }

    /// The name of the element in the page.
    pub(super) fn id(&self) -> String {
        let mut id = String::from("f");
        for character in self.pointer.chars() {
            id.push(if character.is_ascii_alphanumeric() || character == '_' { character } else { '-' });
        }
        id
    }

    /// A value as it stands in the field.
    pub(super) fn written(&self, value: &Value) -> String {
        match (&self.input, value) {
            (Input::Tick, Value::Bool(ticked)) => if *ticked { "on" } else { "" }.to_owned(),
            (Input::Tick, other) => bare(other),
            (_, Value::String(text)) => text.clone(),
            (Input::Yaml, value @ (Value::Array(_) | Value::Object(_))) => {
                wire::text::yaml_stream(std::slice::from_ref(value))
                    .trim_start_matches("---\n")
                    .trim_end()
                    .to_owned()
            }
            (_, other) => other.to_string(),
        }
    }

    /// What a text in the field means; nothing if the template is to take what it takes by itself. A text that does
    /// not fit is handed on as it is: the engine says why it does not.
    pub(super) fn value(&self, text: &str) -> Option<Value> {
        if text.is_empty() && self.input != Input::Tick {
            // Emptied on purpose, where something would stand otherwise.
            let was_text = matches!(&self.default, Some(Value::String(default)) if !default.is_empty());
            let is_text = matches!(self.input, Input::Text { .. } | Input::Long);
            return (was_text && is_text).then(|| Value::String(String::new()));
        }
        let value = match &self.input {
            Input::Tick => match text {
                "" => return self.default.is_some().then_some(Value::Bool(false)),
                "on" | "true" => Value::Bool(true),
                "false" => Value::Bool(false),
                other => Value::String(other.to_owned()),
            },
            Input::Number { whole, .. } => number(text.trim(), *whole).unwrap_or_else(|| text.into()),
            Input::Choice(choices) => choices
                .iter()
                .find(|choice| bare(choice) == text)
                .cloned()
                .unwrap_or_else(|| Value::String(text.to_owned())),
            Input::Yaml => wire::text::from_yaml(text).unwrap_or_else(|_| text.into()),
            Input::Text { .. } | Input::Long => Value::String(text.to_owned()),
        };
        Some(value)
    }

    /// Whether a problem of processing is one of this field.
    fn is_meant(&self, problem: &Problem) -> bool {
        let of_values = problem.file.as_deref().is_none_or(|file| file == "values");
        let pointed = problem.pointer.as_deref().filter(|_| of_values).is_some_and(|pointer| {
            ["", "/parameters", "/properties"].iter().any(|place| {
                let rest = pointer.strip_prefix(place).and_then(|rest| rest.strip_prefix(&self.pointer));
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            })
        });
        let name = self.name();
        pointed
            || problem.message.contains(&format!("`{name}`"))
            || problem.message.contains(&format!("parameter {name} "))
    }
}

fn number(text: &str, whole: bool) -> Option<Value> {
    if let Ok(number) = text.parse::<i64>() {
        return Some(number.into());
    }
    if whole {
        return text.parse::<u64>().ok().map(Into::into);
    }
    text.parse::<f64>().ok().and_then(serde_json::Number::from_f64).map(Value::Number)
}

fn input(property: &Value, default: Option<&Value>) -> Input {
    if let Some(choices) =
        property.get("enum").and_then(Value::as_array).filter(|choices| !choices.is_empty())
    {
        return Input::Choice(choices.clone());
    }
    let kinds = match property.get("type") {
        Some(Value::String(kind)) => vec![kind.as_str()],
        Some(Value::Array(kinds)) => {
            kinds.iter().filter_map(Value::as_str).filter(|kind| *kind != "null").collect()
        }
        _ => Vec::new(),
    };
    let limit = |key: &str| property.get(key).filter(|limit| limit.is_number()).map(Value::to_string);
    let numeric = |whole: bool, text_too: bool| Input::Number {
        whole,
        least: limit("minimum"),
        most: limit("maximum"),
        text_too,
    };
    let is_long =
        matches!(default, Some(Value::String(text)) if text.len() > LONG_TEXT || text.contains('\n'));
    match kinds.as_slice() {
        ["boolean"] => Input::Tick,
        ["integer"] => numeric(true, false),
        ["number"] => numeric(false, false),
        [one, other] if [one, other].iter().all(|kind| ["integer", "number", "string"].contains(kind)) => {
            numeric(!kinds.contains(&"number"), true)
        }
        ["string"] if is_long => Input::Long,
        ["string"] => Input::Text {
            pattern: text(property, "pattern"),
            shortest: property.get("minLength").and_then(Value::as_u64),
            longest: property.get("maxLength").and_then(Value::as_u64),
        },
        _ => Input::Yaml,
    }
}

/// Problems by the field they are of, and those of none.
pub(super) struct Sorted {
    of_fields: Vec<(String, String)>,
    pub(super) others: Vec<String>,
}

impl Sorted {
    /// Sorts problems. What is wrong is said first, then what to do.
    pub(super) fn new(form: &Form, problems: &[Problem]) -> Sorted {
        let mut sorted = Sorted { of_fields: Vec::new(), others: Vec::new() };
        for problem in problems.iter().filter(|problem| problem.severity == Severity::Error) {
            match form.fields().find(|field| field.is_meant(problem)) {
                // Beside the field its place goes without saying.
                Some(field) => {
                    let said = problem.message.rsplit_once("]: ").map_or(&*problem.message, |(_, said)| said);
                    let said =
                        if said.ends_with("is required and must be specified") { REQUIRED } else { said };
                    sorted.of_fields.push((field.pointer.clone(), said.to_owned()));
                }
                None => {
                    let place = match (&problem.file, problem.line) {
                        (Some(file), Some(line)) => format!(" ({file}, line {line})"),
                        _ => String::new(),
                    };
                    let hint = problem.hint.as_ref().map(|hint| format!(": {hint}")).unwrap_or_default();
                    let said = format!("{}{hint}", problem.message);
                    sorted.others.push(format!("{said}{place}"));
                }
            }
        }
        sorted
    }

    /// Required fields in which nothing stands.
    pub(super) fn missing(form: &Form, filled: &Filled) -> Sorted {
        let missing = form.fields().filter(|field| field.required && filled.text(field).is_empty());
        let of_fields = missing.map(|field| (field.pointer.clone(), REQUIRED.to_owned())).collect();
        Sorted { of_fields, others: Vec::new() }
    }

    /// What is wrong with a field.
    pub(super) fn of(&self, field: &Field) -> Vec<&str> {
        self.of_fields
            .iter()
            .filter(|(pointer, _)| *pointer == field.pointer)
            .map(|(_, said)| said.as_str())
            .collect()
    }

    /// How many fields something is wrong with.
    pub(super) fn fields(&self, form: &Form) -> usize {
        form.fields().filter(|field| !self.of(field).is_empty()).count()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.of_fields.is_empty() && self.others.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn field(property: Value) -> Field {
        Field::of(&property, "/X".into(), false)
    }

    #[test]
    fn schemas_become_inputs() {
        let whole = |text_too| Input::Number { whole: true, least: None, most: None, text_too };
        for (property, expected) in [
            (json!({"type": "integer"}), whole(false)),
            (json!({"type": ["integer", "string"]}), whole(true)),
            (json!({"type": ["integer", "null"]}), whole(false)),
            (json!({"type": "boolean"}), Input::Tick),
            (json!({"enum": ["a", 2]}), Input::Choice(vec![json!("a"), json!(2)])),
            (json!({"type": "array"}), Input::Yaml),
            (json!({}), Input::Yaml),
            (json!({"type": "string", "default": "a\nb"}), Input::Long),
        ] {
            assert_eq!(field(property.clone()).input, expected, "{property}");
        }
    }

    #[test]
    fn texts_become_values() {
        for (property, text, expected) in [
            (json!({"type": "integer"}), "5", Some(json!(5))),
            (json!({"type": "integer"}), "five", Some(json!("five"))),
            (json!({"type": "number"}), "0.5", Some(json!(0.5))),
            (json!({"type": "string"}), "5", Some(json!("5"))),
            (json!({"type": "string"}), "", None),
            (json!({"type": "string", "default": "x"}), "", Some(json!(""))),
            (json!({"type": "integer", "default": 5}), "", None),
            (json!({"enum": ["a", 2]}), "2", Some(json!(2))),
            (json!({"type": "array"}), "- 1\n- b", Some(json!([1, "b"]))),
            (json!({"type": "boolean", "default": true}), "", Some(json!(false))),
            (json!({"type": "boolean"}), "on", Some(json!(true))),
        ] {
            assert_eq!(field(property.clone()).value(text), expected, "{property} {text:?}");
        }
    }

    #[test]
    fn what_is_written_is_read_back() {
        for (property, value) in [
            (json!({"type": "array"}), json!([1, {"a": "b"}])),
            (json!({"type": "object"}), json!({"a": [true, null]})),
            (json!({"type": "integer"}), json!(7)),
            (json!({"type": "boolean"}), json!(true)),
            (json!({"type": "string"}), json!("yes")),
        ] {
            let field = field(property);
            assert_eq!(field.value(&field.written(&value)), Some(value));
        }
    }

    #[test]
    fn maps_are_groups_and_forms_end() {
        let form = Form::of(&json!({"properties": {
            "a": {"type": "string"},
            "b": {"title": "Storage", "properties": {"c": {"type": "string"}}},
        }}));
        let groups = form.groups.iter().map(|group| (group.legend.as_deref(), group.fields[0].name()));
        assert_eq!(groups.collect::<Vec<_>>(), [(None, "a".to_owned()), (Some("Storage"), "b.c".to_owned())]);
        let many =
            (0..1_000).map(|number| (format!("P{number}"), json!({}))).collect::<serde_json::Map<_, _>>();
        let form = Form::of(&json!({ "properties": many }));
        assert_eq!((form.fields().count(), form.cut), (MOST_FIELDS, true));
    }

    #[test]
    fn problems_find_their_field() {
        let form = Form::of(&json!({"properties": {"NAME": {}, "storage": {"properties": {"size": {}}}}}));
        let problems = [
            Problem::error("too short").in_file("values").pointing("/parameters/NAME"),
            Problem::error("no quantity").in_file("values").pointing("/properties/storage/size"),
            Problem::error("no such file").in_file("x.jinja").at(3, 1),
        ];
        let sorted = Sorted::new(&form, &problems);
        assert_eq!(sorted.fields(&form), 2);
        assert_eq!(sorted.others, ["no such file (x.jinja, line 3)"]);
    }
}
