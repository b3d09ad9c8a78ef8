//! Values as YAML text: the one place where an answer is not JSON.

use serde_json::Value;

/// Objects as a stream of YAML documents, each with its `---`, as `kubectl` reads them. Nothing for no object.
pub fn yaml_stream(objects: &[Value]) -> String {
    objects
        .iter()
        .map(|object| format!("---\n{}", yaml::to_yaml(&yaml::Value::from_json(object.clone()))))
        .collect()
}

/// A value as one YAML document.
pub fn yaml(value: &Value) -> String {
    yaml::to_yaml(&yaml::Value::from_json(value.clone()))
}

/// Reads one YAML document under Kubernetes' rules and limits, as JSON; nothing is null.
///
/// # Errors
/// What is wrong, with line and column where they are known.
pub fn from_yaml(text: &str) -> Result<Value, YamlError> {
    match yaml::load(text, &yaml::Options::default()) {
        Ok(document) => Ok(document.map_or(Value::Null, |document| document.value.to_json())),
        Err(error) => Err(YamlError {
            message: error.message.clone(),
            line: error.position.map(|position| position.line),
            column: error.position.map(|position| position.column),
        }),
    }
}

/// A text that is not YAML.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct YamlError {
    /// What is wrong.
    pub message: String,
    /// The line, from 1.
    pub line: Option<u32>,
    /// The column, from 1.
    pub column: Option<u32>,
}
