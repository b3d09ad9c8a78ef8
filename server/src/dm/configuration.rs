//! What clients send: a configuration with the files it imports, as JSON or YAML whatever its type says; and how it is
//! handed to the engine.
//!
//! It must not know what becomes of it.

use axum::body::Body;
use schema::Kind;
use schema::finding::shown;
use schema::limits::{REQUEST_BYTES, TreeLimits};
use schema::processing::Template;
use schema::tree::Files;
use serde_json::Value;
use wire::ProblemKind;
use wire::dm::{Configuration, Import};

use super::{Asking, path, wrong};
use crate::body;
use crate::error::ApiError;

/// What the configuration is called among its files.
const ENTRY: &str = "configuration.yaml";

/// Reads the body of a request as a document: JSON, or else YAML. `what` it should be is for the message.
pub(super) async fn document(asking: &Asking<'_>, body: Body, what: &str) -> Result<Value, ApiError> {
    let too_large = || {
        let detail = format!("the body is above {} MiB", REQUEST_BYTES >> 20);
        ApiError::new(ProblemKind::TooLarge, detail)
    };
    let sent = body::read(body, asking.headers, REQUEST_BYTES, too_large).await?;
    let text = std::str::from_utf8(&sent).map_err(|_| wrong("the body is not UTF-8"))?;
    if text.trim().is_empty() {
        return Err(wrong(format!("the body is empty; {what} is expected")));
    }
    // JSON first: its texts may hold what YAML's may not, such as pairs of surrogates.
    if let Ok(value) = serde_json::from_str::<Value>(text) {
        return object(value, what);
    }
    let value = wire::text::from_yaml(text).map_err(|error| {
        let place = error.line.map(|line| format!(" at line {line}")).unwrap_or_default();
        wrong(format!("the body is neither JSON nor YAML{place}: {error}"))
    })?;
    object(value, what)
}

fn object(value: Value, what: &str) -> Result<Value, ApiError> {
    match value {
        Value::Object(_) => Ok(value),
        other => Err(wrong(format!("the body is {}; {what} is expected", kind_of(&other)))),
    }
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "a map",
    }
}

/// Reads a configuration.
pub(super) async fn read(asking: &Asking<'_>, body: Body) -> Result<Configuration, ApiError> {
    let what = "a map with `name`, `content` and `imports`";
    let value = document(asking, body, what).await?;
    for (member, expected) in
        [("name", Value::is_string as fn(&Value) -> bool), ("content", Value::is_string)]
    {
        if let Some(given) = value.get(member).filter(|given| !given.is_null() && !expected(given)) {
            return Err(wrong(format!("`{member}` is {}; it must be a text", kind_of(given))));
        }
    }
    let mut value = value;
    if let Some(map) = value.as_object_mut() {
        // Null is nothing, as in Go.
        map.retain(|_, value| !value.is_null());
    }
    let configuration = serde_json::from_value::<Configuration>(value)
        .map_err(|error| wrong(format!("the body is no configuration: {error}; {what} is expected")))?;
    let imports = configuration.imports.as_deref().unwrap_or_default();
    if imports.len() > TreeLimits::default().version_files {
        return Err(wrong(format!(
            "there are {} imports; at most {} may be",
            imports.len(),
            TreeLimits::default().version_files
        )));
    }
    for import in imports {
        if !path::is_name(&import.name) {
            return Err(wrong(format!("`{}` is no name of an import", shown(import.name.as_bytes()))));
        }
    }
    Ok(configuration)
}

/// Whether a text may name a deployment.
pub(super) fn check_name(name: &str) -> Result<(), ApiError> {
    if name.is_empty() {
        return Err(wrong("a deployment needs a name"));
    }
    if !path::is_name(name) || name.len() > 256 || catalog::find_secret(name).is_some() {
        return Err(wrong(format!(
            "`{}` is no name of a deployment: at most 256 bytes without controls, and no token",
            shown(name.as_bytes())
        )));
    }
    Ok(())
}

/// The configuration as the engine takes it: the text is the entry, and each import a file under the name it is
/// imported by.
///
/// Managers send what they resolved under the text of the type, with the file's own name in `path`. Such a file is
/// put under that name, and listed in the configuration.
pub(super) fn template(configuration: &Configuration) -> Result<Template, ApiError> {
    let imports = configuration.imports.as_deref().unwrap_or_default();
    let mut files = Vec::<(String, Vec<u8>)>::new();
    let mut listed = Vec::new();
    for (index, import) in imports.iter().enumerate() {
        let file = match renamed(imports, index) {
            Some((file, is_listed)) => {
                if is_listed {
                    listed.push((import.name.clone(), file.clone()));
                }
                file
            }
            None => import.name.clone(),
        };
        files.push((file, import.content.clone().into_bytes()));
    }
    let mut entry = ENTRY.to_owned();
    while files.iter().any(|(name, _)| *name == entry) {
        entry.insert(0, '_');
    }
    let content =
        if listed.is_empty() { configuration.content.clone() } else { with_imports(configuration, &listed)? };
    files.push((entry.clone(), content.into_bytes()));
    Ok(Template {
        name: configuration.name.clone(),
        kind: Kind::DmConfiguration,
        entry,
        files: files.into_iter().collect::<Files>(),
        jinja2: false,
    })
}

/// The file an import is put under if its name does not say what it is, and whether it is listed; a schema goes with
/// its template.
fn renamed(imports: &[Import], index: usize) -> Option<(String, bool)> {
    let import = &imports[index];
    if let Some(of) = import.name.strip_suffix(".schema")
        && let Some(template) = imports.iter().position(|other| other.name == of)
    {
        return renamed(imports, template).map(|(file, _)| (format!("{file}.schema"), false));
    }
    let is_template = |name: &str| name.ends_with(".py") || name.ends_with(".jinja");
    let own = import.path.as_deref()?.rsplit('/').next()?;
    (is_template(own) && !is_template(&import.name)).then(|| (format!("resolved-{index}/{own}"), true))
}

/// The configuration with further imports in it, as JSON, which is YAML.
fn with_imports(configuration: &Configuration, listed: &[(String, String)]) -> Result<String, ApiError> {
    let mut document = wire::text::from_yaml(&configuration.content)
        .map_err(|error| wrong(format!("the configuration is not YAML: {error}")))?;
    let more = listed.iter().map(|(name, path)| serde_json::json!({ "name": name, "path": path }));
    let Some(map) = document.as_object_mut() else {
        return Err(wrong(format!("the configuration is {}; it must be a map", kind_of(&document))));
    };
    match map.entry("imports").or_insert_with(|| Value::Array(Vec::new())) {
        Value::Array(imports) => imports.extend(more),
        imports => *imports = Value::Array(more.collect()),
    }
    Ok(document.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn import(name: &str, path: Option<&str>) -> Import {
        Import { name: name.into(), path: path.map(str::to_owned), content: "x".into() }
    }

    #[test]
    fn files_are_found_under_the_names_they_are_imported_by() {
        let imports = vec![
            import("box.jinja", None),
            import("a/b:v1.schema", None),
            import("a/b:v1", Some("https://x.example/b.jinja")),
            import("configuration.yaml", None),
        ];
        let content = "resources: [{name: x, type: 'a/b:v1'}]\n".to_owned();
        let configuration = Configuration { name: "n".into(), content, imports: Some(imports) };
        let template = template(&configuration).unwrap();
        let files = template.files.iter().map(|(path, _)| path).collect::<Vec<_>>();
        assert_eq!(
            files,
            [
                "_configuration.yaml",
                "box.jinja",
                "configuration.yaml",
                "resolved-2/b.jinja",
                "resolved-2/b.jinja.schema"
            ]
        );
        let entry = template.files.text(&template.entry).unwrap();
        assert!(entry.contains(r#""imports":[{"name":"a/b:v1","path":"resolved-2/b.jinja"}]"#), "{entry}");
    }
}
