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
//! Nothing at all is `properties` with nothing in it. A text is a configuration as YAML. A configuration that is sent
//! by itself, with its files, has that form too, and its values may only add to the environment.

use schema::Kind;
use schema::processing::{Problem, Request, Template};
use serde_json::Value as Json;
use yaml::{Map, Spans, Value};

use crate::imports::{Imports, matching, relative};
use crate::resource::is_url;
use crate::settings;

/// The most problems that are listed.
const MOST_PROBLEMS: usize = 100;

/// What is expanded.
pub(crate) struct Configuration {
    pub(crate) document: Map,
    pub(crate) imports: Imports,
    /// What templates see as `env`, besides the name and type of their resource.
    pub(crate) env: Map,
    origin: Origin,
}

/// Where a document came from, for places.
struct Origin {
    /// Its file, or `values`.
    file: String,
    /// Where things stand, when it came as text.
    spans: Option<Spans>,
    /// What pointers into the document begin with where the document was made of what was written: written was
    /// only what is behind that.
    made: &'static str,
}

impl Origin {
    fn place(&self, problem: Problem, pointer: &str) -> Problem {
        let pointer = pointer.strip_prefix(self.made).unwrap_or(pointer);
        let problem = problem.in_file(self.file.as_str()).pointing(pointer);
        match self.spans.as_ref().and_then(|spans| spans.nearest(pointer)) {
            Some(span) => problem.at(span.start.line, span.start.column),
            None => problem,
        }
    }
}

impl Configuration {
    /// A problem, placed at a JSON pointer of the document.
    pub(crate) fn place(&self, problem: Problem, pointer: &str) -> Problem {
        self.origin.place(problem, pointer)
    }
}

/// Reads a request for a template, or a configuration with the files sent with it.
pub(crate) fn read(template: &Template, request: &Request) -> Result<Configuration, Vec<Problem>> {
    let name = request.name.clone().unwrap_or_else(|| template.name.clone());
    let mut configuration = match template.kind {
        Kind::DmConfiguration => from_file(template, request)?,
        _ => from_values(template, request, &name)?,
    };
    for key in ["deployment", "project"] {
        configuration.env.entry(key.to_owned()).or_insert_with(|| Value::from(name.as_str()));
    }
    settings::apply(template, &request.set, &mut configuration)?;
    Ok(configuration)
}

/// A configuration that was sent: its text is the entry file, and values may only add to the environment.
fn from_file(template: &Template, request: &Request) -> Result<Configuration, Vec<Problem>> {
    let file = template.entry.as_str();
    let Some(text) = template.files.text(file) else {
        let problem = Problem::error(format!("{file} is not UTF-8 text")).in_file(file);
        return Err(vec![problem.hint("save the configuration as UTF-8")]);
    };
    let (value, spans) = from_text(text, file)?;
    let origin = Origin { file: file.to_owned(), spans, made: "" };
    let document = document(value, &origin, "the configuration is", "it must be a map with `resources`")?;
    let mut configuration = from_configuration(template, document, origin)?;
    let origin = Origin { file: "values".to_owned(), spans: None, made: "" };
    let values = Value::from_json(request.values.clone());
    let values = document_of_values(values, &origin)?;
    for (key, value) in values {
        if key != "env" {
            let problem = Problem::error(format!("`{key}` is not known here"));
            let hint =
                "beside a configuration only `env:` can be given; properties stand in the configuration";
            return Err(vec![origin.place(problem.hint(hint), &format!("/{key}"))]);
        }
        configuration.env.extend(env_of(value, &origin)?);
    }
    Ok(configuration)
}

/// What the values of a request for a version say.
fn from_values(template: &Template, request: &Request, name: &str) -> Result<Configuration, Vec<Problem>> {
    let (value, spans) = match &request.values {
        Json::String(text) => from_text(text, "values")?,
        other => (Value::from_json(other.clone()), None),
    };
    let mut origin = Origin { file: "values".to_owned(), spans, made: "" };
    let map = document_of_values(value, &origin)?;
    if map.contains_key("resources") || map.contains_key("imports") {
        return from_configuration(template, map, origin);
    }
    origin.made = "/resources/0";
    from_properties(template, map, name, origin)
}

fn document_of_values(value: Value, origin: &Origin) -> Result<Map, Vec<Problem>> {
    document(value, origin, "the values are", "a configuration or properties are expected")
}

/// The map a document is; nothing at all is an empty one.
fn document(value: Value, origin: &Origin, it_is: &str, expected: &str) -> Result<Map, Vec<Problem>> {
    match value {
        Value::Map(map) => Ok(map),
        Value::Null => Ok(Map::new()),
        other => {
            let message = format!("{it_is} of type {}; {expected}", other.kind_name());
            Err(vec![origin.place(Problem::error(message), "")])
        }
    }
}

fn env_of(value: Value, origin: &Origin) -> Result<Map, Vec<Problem>> {
    document(value, origin, "`env` is", "it must be a map")
        .map_err(|problems| problems.into_iter().map(|problem| problem.pointing("/env")).collect())
}

fn from_text(text: &str, file: &str) -> Result<(Value, Option<Spans>), Vec<Problem>> {
    match yaml::load(text, &yaml::Options::pyyaml()) {
        Ok(Some(document)) => Ok((document.value, Some(document.spans))),
        Ok(None) => Ok((Value::Null, None)),
        Err(error) => Err(vec![yaml_problem(&error, file)]),
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
    mut document: Map,
    origin: Origin,
) -> Result<Configuration, Vec<Problem>> {
    let env = env_of(document.shift_remove("env").unwrap_or_default(), &origin)?;
    let imports = listed_imports(template, &document, &origin)?;
    let imports = Imports::of(&template.files).with(imports);
    Ok(Configuration { document, imports, env, origin })
}

/// The names and paths that a configuration's `imports` list.
fn listed_imports(
    template: &Template,
    document: &Map,
    origin: &Origin,
) -> Result<Vec<(String, String)>, Vec<Problem>> {
    let items = match document.get("imports") {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::List(items)) => items,
        Some(other) => {
            let message = format!("`imports` is of type {}; it must be a list", other.kind_name());
            return Err(vec![origin.place(Problem::error(message), "/imports")]);
        }
    };
    let is_sent = template.kind == Kind::DmConfiguration;
    let base = if is_sent { template.entry.as_str() } else { "" };
    let mut listed = Vec::new();
    let mut problems = Vec::new();
    for (index, import) in items.iter().enumerate() {
        if problems.len() >= MOST_PROBLEMS {
            break;
        }
        let pointer = format!("/imports/{index}");
        let Some(path) = import.get("path").and_then(Value::as_str) else {
            problems.push(origin.place(Problem::error("an import needs a `path`"), &pointer));
            continue;
        };
        let name = import.get("name").and_then(Value::as_str);
        let mut found = relative(base, path).map(|path| matching(&template.files, &path)).unwrap_or_default();
        if found.is_empty() && is_sent {
            // Clients of the original send what a path means under its last part alone, or under its name.
            let sent = [name, path.rsplit('/').next()].into_iter().flatten();
            found.extend(sent.filter(|sent| template.files.get(sent).is_some()).take(1).map(str::to_owned));
        }
        match (found.as_slice(), name) {
            ([], _) => problems.push(origin.place(not_there(path, base), &pointer)),
            ([file], Some(name)) if !path.contains(['*', '?']) => {
                listed.push((name.to_owned(), file.clone()));
            }
            ([file], None) if !path.contains(['*', '?']) => {
                listed.push((path.to_owned(), file.clone()));
                listed.push((path.trim_start_matches("./").to_owned(), file.clone()));
            }
            // Each is known by the pattern's directory as it is written, and its own name.
            (files, _) => listed.extend(files.iter().map(|file| {
                let directory = path.rfind('/').map_or("", |end| &path[..=end]);
                let own = file.rsplit('/').next().unwrap_or(file);
                (format!("{}{own}", directory.trim_start_matches("./")), file.clone())
            })),
        }
    }
    if problems.is_empty() { Ok(listed) } else { Err(problems) }
}

/// An import that leads to no file: what is wrong with it.
fn not_there(path: &str, base: &str) -> Problem {
    if is_url(path) {
        return Problem::error(format!("the import `{path}` is a URL, and URLs are not imported"))
            .hint("put the file beside the configuration, or use a type that is a reference to a registry");
    }
    if relative(base, path).is_none() || path.starts_with('/') {
        return Problem::error(format!("the import `{path}` leads out of the directory"))
            .hint("imports are files below the directory of the configuration or version (`formwork process --root` names another)");
    }
    Problem::error(format!("there is no file `{path}` to import"))
        .hint("imports are files of the version or beside the configuration, by their path from there")
}

fn from_properties(
    template: &Template,
    mut map: Map,
    name: &str,
    origin: Origin,
) -> Result<Configuration, Vec<Problem>> {
    let properties = map.swap_remove("properties");
    let env = env_of(map.swap_remove("env").unwrap_or_default(), &origin)?;
    // A values file may name its template; which one it is was settled before.
    map.swap_remove("template");
    if let Some(key) = map.keys().next() {
        let problem = Problem::error(format!("`{key}` is not known here"));
        let problem = problem.hint("write `properties:` (and `env:`), or a configuration with `resources:`");
        return Err(vec![origin.place(problem, &format!("/{key}"))]);
    }
    let mut resource = Map::new();
    resource.insert("name".to_owned(), Value::from(name));
    resource.insert("type".to_owned(), Value::from(template.entry.as_str()));
    if let Some(properties) = properties {
        resource.insert("properties".to_owned(), properties);
    }
    let document = Map::from_iter([("resources".to_owned(), Value::List(vec![Value::Map(resource)]))]);
    Ok(Configuration { document, imports: Imports::of(&template.files), env, origin })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read_with(values: Json, set: &[(&str, &str)]) -> Result<Map, String> {
        let files = [("t.jinja", b"x".to_vec()), ("lib/a.py", b"x".to_vec())].into_iter().collect();
        let template = Template {
            name: "t".to_owned(),
            kind: Kind::DmJinja,
            entry: "t.jinja".to_owned(),
            files,
            jinja2: false,
        };
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
        assert_eq!(error, "the import `../up.py` leads out of the directory");
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
