//! Which objects a client wants: label selectors and field selectors, as their texts in a query have them. Pure.
//!
//! Grammar of label selectors: requirements joined by `,`; `key`, `!key`, `key=value`, `key==value`, `key!=value`,
//! `key in (a,b)`, `key notin (a,b)`. `!=` and `notin` take objects without the label too. Field selectors know
//! `metadata.name` and `metadata.namespace`, with `=`, `==` and `!=`.

use std::collections::BTreeSet;

use serde_json::Value;

/// Longest text of a selector that is read.
const LONGEST: usize = 4 << 10;

/// What a client wants of all there is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Selector {
    labels: Vec<Requirement>,
    fields: Vec<FieldRequirement>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Requirement {
    key: String,
    rule: Rule,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Rule {
    There,
    NotThere,
    In(BTreeSet<String>),
    NotIn(BTreeSet<String>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct FieldRequirement {
    field: Field,
    value: String,
    equal: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Field {
    Name,
    Namespace,
}

impl Selector {
    /// Reads both texts; empty ones select everything.
    ///
    /// # Errors
    /// What is wrong with them, in a sentence.
    pub(super) fn parse(labels: &str, fields: &str) -> Result<Selector, String> {
        if labels.len().max(fields.len()) > LONGEST {
            return Err(format!("the selector is longer than {LONGEST} bytes"));
        }
        Ok(Selector { labels: parse_labels(labels)?, fields: parse_fields(fields)? })
    }

    /// Whether it takes everything.
    pub(super) fn is_everything(&self) -> bool {
        self.labels.is_empty() && self.fields.is_empty()
    }

    /// Whether it takes an object of that place, as far as that says.
    pub(super) fn takes_place(&self, namespace: &str, name: &str) -> bool {
        self.fields.iter().all(|required| {
            let value = match required.field {
                Field::Name => name,
                Field::Namespace => namespace,
            };
            (value == required.value) == required.equal
        })
    }

    /// Whether it takes an object, as far as its labels say.
    pub(super) fn takes_labels(&self, object: &Value) -> bool {
        let labels = object.pointer("/metadata/labels");
        self.labels.iter().all(|required| {
            let value = labels.and_then(|labels| labels.get(&required.key)).and_then(Value::as_str);
            match &required.rule {
                Rule::There => value.is_some(),
                Rule::NotThere => value.is_none(),
                Rule::In(values) => value.is_some_and(|value| values.contains(value)),
                Rule::NotIn(values) => value.is_none_or(|value| !values.contains(value)),
            }
        })
    }
}

fn parse_labels(text: &str) -> Result<Vec<Requirement>, String> {
    let mut rest = text.trim();
    let mut all = Vec::new();
    while !rest.is_empty() {
        // A comma within parentheses belongs to its requirement.
        let mut depth = 0usize;
        let end = rest.find(|character| {
            match character {
                '(' => depth += 1,
                ')' => depth = depth.saturating_sub(1),
                _ => {}
            }
            character == ',' && depth == 0
        });
        let (one, behind) = match end {
            Some(end) => (&rest[..end], Some(rest[end + 1..].trim())),
            None => (rest, None),
        };
        all.push(requirement(one.trim())?);
        match behind {
            Some("") => {
                return Err(format!(
                    "nothing follows the last comma of the label selector `{}`",
                    shown(text)
                ));
            }
            Some(behind) => rest = behind,
            None => break,
        }
    }
    Ok(all)
}

fn requirement(text: &str) -> Result<Requirement, String> {
    let one = |value: &str| BTreeSet::from([value.trim().to_owned()]);
    let (key, rule) = if let Some(key) = text.strip_prefix('!') {
        (key, Rule::NotThere)
    } else if let Some((key, value)) = text.split_once("!=") {
        (key, Rule::NotIn(one(value)))
    } else if let Some((key, value)) = text.split_once("==").or_else(|| text.split_once('=')) {
        (key, Rule::In(one(value)))
    } else if let Some((key, operator, values)) = set(text) {
        let values = values.split(',').map(|value| value.trim().to_owned()).collect();
        let rule = if operator == "in" { Rule::In(values) } else { Rule::NotIn(values) };
        (key, rule)
    } else {
        (text, Rule::There)
    };
    let key = key.trim();
    let is_key = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./".contains(&byte);
    if key.is_empty() || !key.bytes().all(is_key) {
        return Err(format!(
            "`{}` is no requirement on a label; write key, !key, key=value, key!=value, key in (a,b) or key notin (a,b)",
            shown(text)
        ));
    }
    let values = match &rule {
        Rule::In(values) | Rule::NotIn(values) => values.iter().map(String::as_str).collect(),
        Rule::There | Rule::NotThere => Vec::new(),
    };
    let is_value = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    match values.into_iter().find(|value| value.len() > 63 || !value.bytes().all(is_value)) {
        Some(value) => Err(format!("`{}` is not the value of any label", shown(value))),
        None => Ok(Requirement { key: key.to_owned(), rule }),
    }
}

/// `key in (…)`, apart.
fn set(text: &str) -> Option<(&str, &str, &str)> {
    let (key, rest) = text.split_once(char::is_whitespace)?;
    let (operator, values) = rest.trim_start().split_once('(')?;
    let operator = operator.trim();
    let values = values.trim_end().strip_suffix(')')?;
    matches!(operator, "in" | "notin").then_some((key, operator, values))
}

fn parse_fields(text: &str) -> Result<Vec<FieldRequirement>, String> {
    let requirements = text.split(',').map(str::trim).filter(|one| !one.is_empty());
    let read = |one: &str| {
        let (field, value, equal) = if let Some((field, value)) = one.split_once("!=") {
            (field, value, false)
        } else {
            let (field, value) = one
                .split_once("==")
                .or_else(|| one.split_once('='))
                .ok_or_else(|| format!("`{}` is no field selector", shown(one)))?;
            (field, value, true)
        };
        let field = match field.trim() {
            "metadata.name" => Field::Name,
            "metadata.namespace" => Field::Namespace,
            other => return Err(format!("field label not supported: {}", shown(other))),
        };
        Ok(FieldRequirement { field, value: value.trim().to_owned(), equal })
    };
    requirements.map(read).collect()
}

fn shown(text: &str) -> String {
    schema::finding::shown(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn takes(labels: &str) -> bool {
        let object = json!({ "metadata": { "labels": { "app": "redis", "tier": "db", "n": 5 } } });
        Selector::parse(labels, "").unwrap().takes_labels(&object)
    }

    #[test]
    fn labels_are_required_in_every_way() {
        for taken in [
            "",
            "app",
            "app=redis",
            "app==redis",
            "!other",
            "other!=x",
            "app!=x",
            "app in (redis, x)",
            "app notin (x,y)",
            "other notin (x)",
            "app=redis,tier=db",
            "tier in (a,db),app",
            " app = redis ",
        ] {
            assert!(takes(taken), "{taken}");
        }
        for refused in
            ["!app", "app=x", "app!=redis", "app in (x)", "app notin (redis)", "other", "app,other", "n=5"]
        {
            assert!(!takes(refused), "{refused}");
        }
        for wrong in
            ["=", "a b", "app in redis", "app,", "a=b=c", "app=(x)", "!", "a in (x", &"a".repeat(5_000)]
        {
            assert!(Selector::parse(wrong, "").is_err(), "{wrong}");
        }
    }

    #[test]
    fn fields_are_the_place() {
        let selector = Selector::parse("", "metadata.name=redis,metadata.namespace!=x").unwrap();
        assert!(selector.takes_place("databases", "redis") && !selector.takes_place("x", "redis"));
        assert!(Selector::parse("", "").unwrap().is_everything());
        assert_eq!(Selector::parse("", "spec.x=1").unwrap_err(), "field label not supported: spec.x");
        assert!(Selector::parse("", "name").is_err());
    }
}
