//! The parameters of a version as rows of a table, and as options of a command.

use serde_json::Value;

/// A row of the table.
pub(super) struct Parameter {
    pub(super) name: String,
    pub(super) kind: String,
    pub(super) required: bool,
    pub(super) secret: bool,
    pub(super) default: Option<String>,
    pub(super) title: Option<String>,
    pub(super) description: Option<String>,
    pub(super) choices: Vec<String>,
    pub(super) limits: Option<String>,
}

/// The options of a command that give the parameters one must give.
pub(crate) fn options(schema: &Value) -> String {
    let required = parameters(schema).into_iter().filter(|parameter| parameter.required).take(3);
    required.map(|parameter| format!(" -p {}", shell_quoted(&format!("{}=…", parameter.name)))).collect()
}

/// A word as a shell reads it back.
pub(crate) fn shell_quoted(word: &str) -> String {
    let plain = word.chars().all(|character| character.is_alphanumeric() || "._-=…/:".contains(character));
    if plain { word.to_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

/// The rows of the parameters table, from the JSON Schema every kind is told in.
pub(super) fn parameters(schema: &Value) -> Vec<Parameter> {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return Vec::new() };
    let required = schema.get("required").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let parameter = |(name, property): (&String, &Value)| {
        let text = |key: &str| property.get(key).and_then(Value::as_str).map(str::to_owned);
        let limit = |key: &str, words: &str| property.get(key).map(|value| format!("{words} {value}"));
        let limits = [
            text("pattern"),
            limit("minimum", "from"),
            limit("maximum", "up to"),
            limit("minLength", "at least, in characters,"),
            limit("maxLength", "at most, in characters,"),
        ];
        let limits = limits.into_iter().flatten().collect::<Vec<_>>().join(" ");
        let secret = property.get("writeOnly").and_then(Value::as_bool).unwrap_or(false);
        Parameter {
            name: name.clone(),
            kind: kind_of(property),
            required: required.iter().any(|required| required.as_str() == Some(name))
                && property.get("default").is_none(),
            // A default that looks secret is in the file; the page does not repeat it.
            default: property.get("default").filter(|_| !secret).map(plain),
            secret,
            // A title beside a description says little more than the name does.
            title: text("title").filter(|title| title != name && property.get("description").is_none()),
            description: text("description"),
            choices: property
                .get("enum")
                .and_then(Value::as_array)
                .map(|choices| choices.iter().map(plain).collect())
                .unwrap_or_default(),
            limits: Some(limits).filter(|limits| !limits.is_empty()),
        }
    };
    properties.iter().map(parameter).collect()
}

fn kind_of(property: &Value) -> String {
    if property.get("enum").is_some() {
        return "one of".to_owned();
    }
    match property.get("type") {
        Some(Value::String(kind)) => kind.clone(),
        Some(Value::Array(kinds)) => kinds.iter().map(plain).collect::<Vec<_>>().join(" or "),
        _ => "any".to_owned(),
    }
}

/// A JSON value as a person would write it, cut where it is long.
fn plain(value: &Value) -> String {
    let text = match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let mut short = text.chars().take(120).collect::<String>();
    if text.chars().nth(120).is_some() {
        short.push('…');
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn parameters_are_read_from_the_schema() {
        let schema = json!({
            "type": "object",
            "required": ["NAME", "SIZE"],
            "properties": {
                "NAME": {"type": "string", "pattern": "^[a-z]+$", "description": "What it is called"},
                "SIZE": {"type": ["integer", "string"], "default": 3, "minimum": 1, "maximum": 7},
                "PASSWORD": {"type": "string", "writeOnly": true, "default": "changeme"},
                "MODE": {"enum": ["a", 2]},
            },
        });
        let rows = parameters(&schema);
        let said = rows
            .iter()
            .map(|row| {
                format!("{} {} {} {:?} {:?}", row.name, row.kind, row.required, row.default, row.limits)
            })
            .collect::<Vec<_>>();
        assert_eq!(
            said,
            [
                "NAME string true None Some(\"^[a-z]+$\")",
                "SIZE integer or string false Some(\"3\") Some(\"from 1 up to 7\")",
                "PASSWORD string false None None",
                "MODE one of false None None",
            ]
        );
        assert!(parameters(&Value::Null).is_empty());
    }

    #[test]
    fn words_survive_a_shell() {
        assert_eq!(shell_quoted("NAME=…"), "NAME=…");
        assert_eq!(shell_quoted("a b"), "'a b'");
        assert_eq!(shell_quoted("$(x)'"), r"'$(x)'\'''");
    }
}
