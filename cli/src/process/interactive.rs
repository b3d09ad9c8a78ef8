//! `formwork process --interactive`: asks for the parameters that were not given, by their JSON Schema.
//!
//! Questions go to standard error, so that objects can be piped. What is typed for a secret is not shown. Answers are
//! checked at once as far as the schema tells; the engine checks them all again.

use std::collections::HashSet;
use std::io::{BufRead, IsTerminal};

use anyhow::{Context, bail};
use schema::processing::Request;
use serde_json::Value;

use crate::output::{self, BOLD, DIM};

/// How often a required value may be left empty.
const PATIENCE: usize = 3;

/// One parameter to ask for.
struct Question<'s> {
    /// As `-p` names it.
    name: String,
    schema: &'s Value,
    required: bool,
}

/// Asks for all that is not given yet.
pub(super) fn ask(schema: &Value, request: &mut Request) -> anyhow::Result<()> {
    if !std::io::stdin().is_terminal() {
        bail!("--interactive asks on a terminal, and standard input is none: give parameters with -p");
    }
    let given = given(request);
    let mut questions = Vec::new();
    collect(schema, "", &given, &mut questions);
    for question in &questions {
        if let Some(answer) = question.ask()? {
            request.set.push((question.name.clone(), answer));
        }
    }
    Ok(())
}

/// Names that have a value: from the command line, and of the members values stand under in any kind.
fn given(request: &Request) -> HashSet<String> {
    let mut names = request.set.iter().map(|(name, _)| name.clone()).collect::<HashSet<_>>();
    for member in ["parameters", "properties"] {
        match request.values.get(member) {
            Some(Value::Object(map)) => names.extend(map.keys().cloned()),
            Some(Value::Array(list)) => {
                let listed = list.iter().filter_map(|one| one.get("name")?.as_str());
                names.extend(listed.map(str::to_owned));
            }
            _ => {}
        }
    }
    names
}

/// Questions in the order of the schema; members of maps by their path.
fn collect<'s>(schema: &'s Value, prefix: &str, given: &HashSet<String>, questions: &mut Vec<Question<'s>>) {
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    let required = required.filter_map(Value::as_str).collect::<HashSet<_>>();
    for (name, schema) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        let path = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
        if given.contains(&path) {
            continue;
        }
        if schema.get("properties").is_some_and(Value::is_object) {
            collect(schema, &path, given, questions);
        } else {
            questions.push(Question { name: path, schema, required: required.contains(name.as_str()) });
        }
    }
}

impl Question<'_> {
    fn text(&self, key: &str) -> Option<&str> {
        self.schema.get(key).and_then(Value::as_str).filter(|text| !text.is_empty())
    }

    fn is_secret(&self) -> bool {
        self.schema.get("writeOnly") == Some(&Value::Bool(true))
            || schema::inspection::looks_secret(&self.name)
    }

    /// What an empty answer stands for.
    fn default(&self) -> Option<String> {
        if self.schema.get("x-generated").is_some() {
            return Some("generated".to_owned());
        }
        self.schema.get("default").map(|default| match default {
            // A default that is a secret is known to all, but not shown over a shoulder.
            _ if self.is_secret() => "the default".to_owned(),
            Value::String(text) => text.clone(),
            other => other.to_string(),
        })
    }

    fn choices(&self) -> Vec<String> {
        let choices = self.schema.get("enum").and_then(Value::as_array).into_iter().flatten();
        choices.map(|choice| choice.as_str().map_or_else(|| choice.to_string(), str::to_owned)).collect()
    }

    /// The answer; nothing where the template's own value stands.
    fn ask(&self) -> anyhow::Result<Option<String>> {
        let title = self.text("title").unwrap_or(&self.name);
        let must = if self.required { ", required" } else { "" };
        output::note(format_args!("{BOLD}{title}{BOLD:#}{DIM}{must}{DIM:#}"));
        for line in self.text("description").into_iter().flat_map(str::lines) {
            output::note(format_args!("  {line}"));
        }
        let choices = self.choices();
        if !choices.is_empty() {
            output::note(format_args!("  {DIM}one of{DIM:#} {}", choices.join(", ")));
        }
        let default = self.default();
        let shown = default.map(|default| format!(" [{default}]")).unwrap_or_default();
        let hidden = if self.is_secret() { " (hidden)" } else { "" };
        for _ in 0..PATIENCE {
            output::prompt(format_args!("{}{shown}{hidden}: ", self.name));
            let answer = self.read()?;
            if answer.is_empty() {
                if !self.required {
                    return Ok(None);
                }
                output::note("  a value is needed");
                continue;
            }
            match self.wrong(&answer, &choices) {
                Some(wrong) => output::note(format_args!("  {wrong}")),
                None => return Ok(Some(answer)),
            }
        }
        bail!("{} is required, and no value was given", self.name)
    }

    fn read(&self) -> anyhow::Result<String> {
        if self.is_secret() {
            // On the terminal itself, without echo; the line break that was typed is not seen either.
            return console::Term::stderr().read_secure_line().context("the terminal cannot be read");
        }
        let mut line = String::new();
        let count = std::io::stdin().lock().read_line(&mut line).context("the terminal cannot be read")?;
        if count == 0 {
            bail!("the input ended before {} was given", self.name);
        }
        Ok(line.trim_end_matches(['\n', '\r']).to_owned())
    }

    /// Why an answer cannot be, as far as the schema tells without knowing the template.
    fn wrong(&self, answer: &str, choices: &[String]) -> Option<String> {
        if !choices.is_empty() && !choices.iter().any(|choice| choice == answer) {
            return Some(format!("it must be one of {}", choices.join(", ")));
        }
        let fits = match self.text("type") {
            Some("integer") => answer.parse::<i128>().is_ok(),
            Some("number") => answer.parse::<f64>().is_ok_and(f64::is_finite),
            Some("boolean") => matches!(answer, "true" | "false"),
            _ => true,
        };
        (!fits).then(|| match self.text("type") {
            Some("boolean") => "it must be true or false".to_owned(),
            Some("integer") => "it must be a whole number".to_owned(),
            _ => "it must be a number".to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_given_is_not_asked_for_and_maps_are_asked_for_by_member() {
        let schema = json!({
            "required": ["A", "deep"],
            "properties": {"A": {}, "B": {"default": 5}, "C": {},
                "deep": {"properties": {"x": {"type": "integer"}, "y": {}}, "required": ["x"]}},
        });
        let request = Request {
            values: json!({"parameters": {"C": "c"}}),
            set: vec![("deep.y".to_owned(), String::new())],
            ..Request::default()
        };
        let mut questions = Vec::new();
        collect(&schema, "", &given(&request), &mut questions);
        let asked = questions.iter().map(|one| (one.name.as_str(), one.required)).collect::<Vec<_>>();
        assert_eq!(asked, [("A", true), ("B", false), ("deep.x", true)]);
        assert_eq!(questions[1].default().as_deref(), Some("5"));
        assert_eq!(questions[2].wrong("x", &[]).as_deref(), Some("it must be a whole number"));
        assert_eq!(questions[2].wrong("-5", &[]), None);
    }

    #[test]
    fn secrets_are_told_and_their_defaults_are_not_shown() {
        let schema = json!({"default": "hunter2", "writeOnly": true});
        let question = Question { name: "A".to_owned(), schema: &schema, required: false };
        assert!(question.is_secret());
        assert_eq!(question.default().as_deref(), Some("the default"));
    }
}
