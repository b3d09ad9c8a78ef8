//! `NAME=VALUE` settings on top of a configuration.
//!
//! - `size=10`, `disk.size=10`, `disks.0.size=10`: a property, by its path. Whole numbers, `true` and `false` are what
//!   they look like, and anything else is text: a version `1.10` or a time `22:30` stays what was written.
//! - `zones:=[a, b]`: the value is YAML (so JSON too) under PyYAML's rules.
//!
//! They go to the resource of the template's own type; of a configuration that is sent by itself to its only
//! resource, or to the one the first step names.

use schema::Kind;
use schema::processing::{Problem, Template};
use yaml::{Map, Value};

use crate::configuration::Configuration;
use crate::python::text;

/// How deep a setting may nest.
const DEEPEST: usize = 64;

/// Applies settings, in order; what is wrong with them comes at once.
pub(crate) fn apply(
    template: &Template,
    settings: &[(String, String)],
    configuration: &mut Configuration,
) -> Result<(), Vec<Problem>> {
    let mut problems = Vec::new();
    for (name, value) in settings {
        if let Err(problem) = one(template, name, value, configuration) {
            problems.push(problem);
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

fn one(
    template: &Template,
    name: &str,
    value: &str,
    configuration: &mut Configuration,
) -> Result<(), Problem> {
    let (name, value) = match name.strip_suffix(':') {
        Some(name) => (name, from_yaml(name, value)?),
        None => (name, typed(value)),
    };
    let (resource, path) = match template.kind {
        Kind::DmConfiguration => named(configuration, name)?,
        _ => (own(template, configuration)?, name),
    };
    let properties = resource.entry("properties".to_owned()).or_insert_with(|| Value::Map(Map::new()));
    set(properties, path, value)
        .map_err(|message| Problem::error(message).hint("nest with dots, as in disk.size=10"))
}

fn resources(configuration: &mut Configuration) -> impl Iterator<Item = &mut Map> {
    let resources = configuration.document.get_mut("resources").and_then(Value::as_list_mut);
    resources.into_iter().flatten().filter_map(Value::as_map_mut)
}

/// The one resource that is of the template's own type.
fn own<'c>(template: &Template, configuration: &'c mut Configuration) -> Result<&'c mut Map, Problem> {
    let imports = configuration.imports.clone();
    let is_own = |resource: &Map| {
        let own = resource.get("type").and_then(Value::as_str);
        own.is_some_and(|name| imports.path(name) == Some(&template.entry))
    };
    let mut own = resources(configuration).filter(|resource| is_own(resource)).collect::<Vec<_>>();
    match (own.len(), own.pop()) {
        (1, Some(only)) => Ok(only),
        (count, _) => {
            let message = format!(
                "the configuration has {count} resources of the template's type, so it cannot be told whose properties are set"
            );
            Err(Problem::error(message).hint("set them in the configuration itself"))
        }
    }
}

/// The only resource of a configuration, or the one that a path begins with; and the path from there.
fn named<'c, 'n>(
    configuration: &'c mut Configuration,
    path: &'n str,
) -> Result<(&'c mut Map, &'n str), Problem> {
    let mut all = resources(configuration).collect::<Vec<_>>();
    if all.len() == 1
        && let Some(only) = all.pop()
    {
        return Ok((only, path));
    }
    let names =
        all.iter().map(|resource| text(resource.get("name").unwrap_or(&Value::Null))).collect::<Vec<_>>();
    let found = names.iter().zip(all).find_map(|(name, resource)| {
        let rest = path.strip_prefix(name.as_str())?.strip_prefix('.')?;
        Some((resource, rest))
    });
    found.ok_or_else(|| {
        let message = format!("`{path}` names no resource of the configuration");
        let hint = match names.first() {
            Some(first) => format!("begin with a resource's name, as in {first}.size=10"),
            None => "the configuration has no resources".to_owned(),
        };
        Problem::error(message).hint(hint)
    })
}

fn set(properties: &mut Value, name: &str, value: Value) -> Result<(), String> {
    if name.split('.').count() > DEEPEST {
        return Err(format!("a property that is set is nested more than {DEEPEST} levels deep"));
    }
    let mut here = properties;
    let mut segments = name.split('.').peekable();
    while let Some(segment) = segments.next() {
        if segment.is_empty() {
            return Err(format!("`{name}` is not the name of a property"));
        }
        if here.is_null() {
            *here = Value::Map(Map::new());
        }
        let next = match here {
            Value::Map(map) => map.entry(segment.to_owned()).or_insert(Value::Null),
            Value::List(items) => {
                let count = items.len();
                let item = segment.parse::<usize>().ok().and_then(|index| items.get_mut(index));
                item.ok_or_else(|| {
                    format!("`{name}` cannot be set: `{segment}` is no item of a list of {count}")
                })?
            }
            _ => {
                return Err(format!(
                    "`{name}` cannot be set: `{segment}` would be inside a value that is no map"
                ));
            }
        };
        if segments.peek().is_none() {
            *next = value;
            return Ok(());
        }
        here = next;
    }
    Ok(())
}

/// The value that what follows `=` stands for: `dm` made numbers of whole numbers; true and false are ours.
fn typed(text: &str) -> Value {
    match text {
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        _ => text.parse::<i64>().map_or_else(|_| Value::from(text), Value::Int),
    }
}

/// The value that what follows `:=` stands for.
fn from_yaml(name: &str, text: &str) -> Result<Value, Problem> {
    match yaml::load_value(text, &yaml::Options::pyyaml()) {
        Ok(value) => Ok(value.unwrap_or_default()),
        Err(error) => {
            let message = format!("the value of `{name}` is not YAML: {}", error.message);
            Err(Problem::error(message).hint("what follows `:=` is YAML; write `=` for a text"))
        }
    }
}

#[cfg(test)]
mod tests {
    use schema::processing::Request;
    use serde_json::json;

    use super::*;

    fn run(config: &str, settings: &[&str]) -> Result<serde_json::Value, String> {
        let files = [("c.yaml".to_owned(), config.as_bytes().to_vec())].into_iter().collect();
        let (name, entry) = ("c".to_owned(), "c.yaml".to_owned());
        let template = Template { name, kind: Kind::DmConfiguration, entry, files, jinja2: false };
        let set = settings.iter().map(|setting| setting.split_once('=').unwrap());
        let set = set.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        let request = Request { set, ..Request::default() };
        match crate::configuration::read(&template, &request) {
            Ok(configuration) => Ok(Value::Map(configuration.document).to_json()["resources"].clone()),
            Err(problems) => Err(problems[0].message.clone()),
        }
    }

    #[test]
    fn values_are_typed_and_paths_lead_through_maps_and_lists() {
        let one = "resources: [{name: a, type: vm, properties: {d: [{s: 1}]}}]";
        let settings = ["d.0.s=10", "x.y=1.10", "t=true", "z:=[a, 1.5, null]", "q:='5'", "e="];
        let properties = json!({"d": [{"s": 10}], "x": {"y": "1.10"}, "t": true, "z": ["a", 1.5, null], "q": "5", "e": ""});
        assert_eq!(run(one, &settings).unwrap()[0]["properties"], properties);
        assert!(run(one, &["d.7.s=1"]).unwrap_err().contains("no item of a list of 1"));
        assert!(run(one, &["a:=[b"]).unwrap_err().contains("not YAML"));
    }

    #[test]
    fn of_several_resources_the_first_step_names_one() {
        let two = "resources: [{name: a, type: vm}, {name: b.c, type: vm}]";
        let set = run(two, &["b.c.size=3", "a.x=1"]).unwrap();
        assert_eq!((&set[0]["properties"]["x"], &set[1]["properties"]["size"]), (&json!(1), &json!(3)));
        assert!(run(two, &["size=3"]).unwrap_err().contains("names no resource"));
    }
}
