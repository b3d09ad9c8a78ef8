//! From a request to the configuration that is expanded.
//!
//! The values document has one of these forms:
//!
//! ```yaml
//! resources: [{name, type, properties}]   # a configuration; imports: [{path, name}] are files of the version
//! ---
//! properties: {…}                         # one resource of the template's type
//! env: {deployment: …, project: …}
//! ```
//! Nothing at all is `properties` with nothing in it. A text is a configuration as YAML. `set` pairs go to the
//! properties of the resource whose type is the template itself; `a.b=c` nests; whole numbers, `true` and `false`
//! are what they look like, and anything else is text.

use schema::processing::{Problem, Request, Template};
use serde_json::Value as Json;
use yaml::{Map, Spans, Value};

use crate::imports::{Imports, matching, relative};

/// How deep a `set` pair may nest.
const DEEPEST_SET: usize = 64;

/// What is expanded.
pub(crate) struct Configuration {
    pub(crate) document: Map,
    pub(crate) imports: Imports,
    /// What templates see as `env`, besides the name and type of their resource.
    pub(crate) env: Map,
    /// Where things stand, when it came as text.
    pub(crate) spans: Option<Spans>,
}

impl Configuration {
    /// A problem, placed at a JSON pointer of the values.
    pub(crate) fn place(&self, problem: Problem, pointer: &str) -> Problem {
        let problem = problem.in_file("values").pointing(pointer);
        match self.spans.as_ref().and_then(|spans| spans.nearest(pointer)) {
            Some(span) => problem.at(span.start.line, span.start.column),
            None => problem,
        }
    }
}

/// Reads a request for a template.
pub(crate) fn read(template: &Template, request: &Request) -> Result<Configuration, Vec<Problem>> {
    let (value, spans) = match &request.values {
        Json::String(text) => from_text(text)?,
        other => (Value::from_json(other.clone()), None),
    };
    let map = match value {
        Value::Map(map) => map,
        Value::Null => Map::new(),
        other => {
            let message = format!(
                "the values are of type {}; a configuration or properties are expected",
                other.kind_name()
            );
            return Err(vec![Problem::error(message).in_file("values")]);
        }
    };
    let name = request.name.clone().unwrap_or_else(|| template.name.clone());
    let is_configuration = map.contains_key("resources") || map.contains_key("imports");
    let mut configuration = if is_configuration {
        from_configuration(template, map, spans)?
    } else {
        from_properties(template, map, &name)?
    };
    for key in ["deployment", "project"] {
        configuration.env.entry(key.to_owned()).or_insert_with(|| Value::from(name.as_str()));
    }
    set(template, request, &mut configuration)?;
    Ok(configuration)
}

fn from_text(text: &str) -> Result<(Value, Option<Spans>), Vec<Problem>> {
    match yaml::load(text, &yaml::Options::pyyaml()) {
        Ok(Some(document)) => Ok((document.value, Some(document.spans))),
        Ok(None) => Ok((Value::Null, None)),
        Err(error) => Err(vec![yaml_problem(&error, "values")]),
    }
}

/// A problem for a text that is not YAML.
pub(crate) fn yaml_problem(error: &yaml::Error, file: &str) -> Problem {
    let problem = Problem::error(error.message.clone()).in_file(file);
    match error.position {
        Some(position) => problem.at(position.line, position.column),
        None => problem,
    }
}

fn from_configuration(
    template: &Template,
    map: Map,
    spans: Option<Spans>,
) -> Result<Configuration, Vec<Problem>> {
    let mut configuration =
        Configuration { document: map, imports: Imports::of(&template.files), env: Map::new(), spans };
    let mut listed = Vec::new();
    let mut problems = Vec::new();
    let imports = match configuration.document.get("imports") {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::List(items)) => items.clone(),
        Some(other) => {
            let message = format!("`imports` is of type {}; it must be a list", other.kind_name());
            return Err(vec![configuration.place(Problem::error(message), "/imports")]);
        }
    };
    for (index, import) in imports.iter().enumerate() {
        let pointer = format!("/imports/{index}");
        let Some(path) = import.get("path").and_then(Value::as_str) else {
            problems.push(configuration.place(Problem::error("an import needs a `path`"), &pointer));
            continue;
        };
        let name = import.get("name").and_then(Value::as_str);
        let found = relative("", path).map(|path| matching(&template.files, &path)).unwrap_or_default();
        match (found.as_slice(), name) {
            ([], _) => {
                let hint = "imports are files of the version, by their path in its directory";
                problems.push(configuration.place(
                    Problem::error(format!("there is no file `{path}` to import")).hint(hint),
                    &pointer,
                ));
            }
            ([file], Some(name)) => listed.push((name.to_owned(), file.clone())),
            (files, _) => {
                let plain = files.len() == 1;
                listed.extend(files.iter().map(|file| {
                    let name = if plain { path.trim_start_matches("./").to_owned() } else { file.clone() };
                    (name, file.clone())
                }));
            }
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    configuration.imports = configuration.imports.with(listed);
    if let Some(Value::Map(env)) = configuration.document.get("env") {
        configuration.env = env.clone();
    }
    Ok(configuration)
}

fn from_properties(template: &Template, mut map: Map, name: &str) -> Result<Configuration, Vec<Problem>> {
    let properties = map.swap_remove("properties");
    let env = match map.swap_remove("env") {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Map(env)) => env,
        Some(other) => {
            let message = format!("`env` is of type {}; it must be a map", other.kind_name());
            return Err(vec![Problem::error(message).in_file("values").pointing("/env")]);
        }
    };
    // A values file may name its template; which one it is was settled before.
    map.swap_remove("template");
    if let Some(key) = map.keys().next() {
        let problem = Problem::error(format!("`{key}` is not known here"))
            .in_file("values")
            .pointing(format!("/{key}"));
        return Err(vec![
            problem.hint("write `properties:` (and `env:`), or a configuration with `resources:`"),
        ]);
    }
    let mut resource = Map::new();
    resource.insert("name".to_owned(), Value::from(name));
    resource.insert("type".to_owned(), Value::from(template.entry.as_str()));
    if let Some(properties) = properties {
        resource.insert("properties".to_owned(), properties);
    }
    let document = Map::from_iter([("resources".to_owned(), Value::List(vec![Value::Map(resource)]))]);
    Ok(Configuration { document, imports: Imports::of(&template.files), env, spans: None })
}

/// Applies `set` pairs to the one resource that is of the template's own type.
fn set(
    template: &Template,
    request: &Request,
    configuration: &mut Configuration,
) -> Result<(), Vec<Problem>> {
    if request.set.is_empty() {
        return Ok(());
    }
    let imports = configuration.imports.clone();
    let resources = configuration.document.get_mut("resources").and_then(Value::as_list_mut);
    let mut own = resources
        .into_iter()
        .flatten()
        .filter(|resource| {
            resource
                .get("type")
                .and_then(Value::as_str)
                .is_some_and(|name| imports.path(name) == Some(&template.entry))
        })
        .collect::<Vec<_>>();
    let [resource] = own.as_mut_slice() else {
        let message = format!(
            "the configuration has {} resources of the template's type, so it cannot be told whose properties are set",
            own.len()
        );
        return Err(vec![Problem::error(message).hint("set them in the configuration itself")]);
    };
    let Some(resource) = resource.as_map_mut() else { return Ok(()) };
    let properties = resource.entry("properties".to_owned()).or_insert_with(|| Value::Map(Map::new()));
    let mut problems = Vec::new();
    for (name, text) in &request.set {
        if let Err(message) = set_one(properties, name, typed(text)) {
            problems.push(Problem::error(message).hint("nest with dots, as in disk.size=10"));
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

fn set_one(properties: &mut Value, name: &str, value: Value) -> Result<(), String> {
    if name.split('.').count() > DEEPEST_SET {
        return Err(format!("a property that is set is nested more than {DEEPEST_SET} levels deep"));
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
        let Some(map) = here.as_map_mut() else {
            return Err(format!(
                "`{name}` cannot be set: `{segment}` would be inside a value that is no map"
            ));
        };
        if segments.peek().is_none() {
            map.insert(segment.to_owned(), value);
            return Ok(());
        }
        here = map.entry(segment.to_owned()).or_insert(Value::Null);
    }
    Ok(())
}

/// The value a `set` text stands for: `dm` made numbers of whole numbers; true and false are ours.
fn typed(text: &str) -> Value {
    match text {
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        _ => text.parse::<i64>().map_or_else(|_| Value::from(text), Value::Int),
    }
}

#[cfg(test)]
mod tests {
    use schema::Kind;
    use serde_json::json;

    use super::*;

    fn read_with(values: Json, set: &[(&str, &str)]) -> Result<Map, String> {
        let files = [("t.jinja", b"x".to_vec()), ("lib/a.py", b"x".to_vec())].into_iter().collect();
        let template =
            Template { name: "t".to_owned(), kind: Kind::DmJinja, entry: "t.jinja".to_owned(), files };
        let set = set.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let request = Request { values, set, ..Request::default() };
        read(&template, &request).map(|c| c.document).map_err(|problems| problems[0].message.clone())
    }

    #[test]
    fn nothing_and_properties_make_one_resource() {
        let expected = |properties: Json| {
            Value::from_json(json!({"name": "t", "type": "t.jinja", "properties": properties}))
        };
        let document =
            read_with(Json::Null, &[("a.b", "1"), ("a.c", "true"), ("d", "1.5"), ("e", "")]).unwrap();
        assert_eq!(
            document["resources"].as_list().unwrap()[0],
            expected(json!({"a": {"b": 1, "c": true}, "d": "1.5", "e": ""}))
        );
        let document = read_with(json!({"properties": {"x": 1}}), &[("x", "2")]).unwrap();
        assert_eq!(document["resources"].as_list().unwrap()[0], expected(json!({"x": 2})));
    }

    #[test]
    fn configurations_import_files_of_the_version() {
        let resources = json!([{"name": "a", "type": "t.jinja"}]);
        assert!(
            read_with(
                json!({"imports": [{"path": "lib/*.py"}, {"path": "./t.jinja"}], "resources": resources}),
                &[]
            )
            .is_ok()
        );
        let error =
            read_with(json!({"imports": [{"path": "../up.py"}], "resources": resources}), &[]).unwrap_err();
        assert_eq!(error, "there is no file `../up.py` to import");
        assert!(read_with(json!({"resources": []}), &[("a", "1")]).unwrap_err().contains("0 resources"));
        assert!(read_with(json!({"propertys": {}}), &[]).unwrap_err().contains("`propertys` is not known"));
        assert!(
            read_with(json!("resources:\n- {name: a, type: yes}\n"), &[]).unwrap()["resources"]
                .as_list()
                .unwrap()[0]
                .get("type")
                .unwrap()
                .as_bool()
                .unwrap()
        );
    }
}
