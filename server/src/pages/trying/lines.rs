//! The same request as lines for a terminal. A secret is no part of any: the line takes it from the environment.

use schema::reference::{Location, Reference, Selector};
use schema::{CollectionName, Kind, Version};
use serde_json::Value;
use wire::process::ProcessRequest;

use super::fields::{Field, bare};
use crate::pages::template::shell_quoted;
use crate::target::encode_path;

/// What a line is for.
pub(super) struct Subject<'a> {
    /// The address of the server.
    pub(super) base: &'a str,
    /// Where the template is.
    pub(super) location: &'a Location,
    /// The exact version.
    pub(super) version: &'a Version,
    pub(super) kind: Kind,
}

/// Lines that do what the form does, and the names of the secrets they take from the environment.
pub(super) struct Lines {
    pub(super) formwork: String,
    pub(super) curl: String,
    /// Where the template is an object to `kubectl`.
    pub(super) kubectl: Option<String>,
    pub(super) secrets: Vec<String>,
}

impl Lines {
    /// The lines for a request about a version.
    pub(super) fn new(subject: &Subject<'_>, request: &ProcessRequest, changed: &[(&Field, Value)]) -> Lines {
        let base = subject.base;
        let exact = Selector::Exactly(subject.version.clone());
        let reference = &Reference::to(subject.location, exact).to_string();
        let secrets = changed.iter().filter(|(field, _)| field.secret);
        let secrets = secrets.map(|(field, _)| variable(&field.name())).collect::<Vec<_>>();
        let body = body(request, changed);
        let simple = changed.iter().all(|(_, value)| !value.is_array() && !value.is_object());
        let mut formwork =
            format!("formwork process --server {} {}", shell_quoted(base), shell_quoted(reference));
        if let Some(namespace) = &request.namespace {
            formwork.push_str(&format!(" --namespace {}", shell_quoted(namespace)));
        }
        if let Some(seed) = &request.seed {
            formwork.push_str(&format!(" --seed {}", shell_quoted(seed)));
        }
        if simple {
            for (field, value) in changed {
                let name = field.name();
                if field.secret {
                    formwork.push_str(&format!(" -p {}=\"${}\"", shell_quoted(&name), variable(&name)));
                } else {
                    formwork.push_str(&format!(" -p {}", shell_quoted(&format!("{name}={}", bare(value)))));
                }
            }
        } else {
            formwork = format!("echo {} | {formwork} --values -", values_of(request, changed));
        }
        let url = format!("{base}/api/v1/templates/{}/-/process?output=yaml", encode_path(reference));
        Lines {
            formwork: format!("{formwork} | kubectl apply -f -"),
            curl: format!("curl -fsS '{url}' --json {body} | kubectl apply -f -"),
            kubectl: (subject.kind == Kind::Template).then(|| kubectl(subject, request, changed)),
            secrets,
        }
    }
}

/// The proposal's own way, with the client that is at hand: parameters are posted to the template.
fn kubectl(subject: &Subject<'_>, request: &ProcessRequest, changed: &[(&Field, Value)]) -> String {
    let mut values = request.clone();
    let document = values.values.take().and_then(|values| match values {
        Value::Object(map) => Some(map),
        _ => None,
    });
    values.rest = document.unwrap_or_default();
    let Location { registry, collection, template } = subject.location;
    let namespace = collection.as_ref().map_or("default", CollectionName::as_str);
    let raw =
        format!("/namespaces/{namespace}/templates/{template}:{}/processed?output=List", subject.version);
    let server = shell_quoted(&format!("{}/k8s/r/{registry}", subject.base));
    let mut values = serde_json::to_value(values).unwrap_or_default();
    hide(&mut values, changed);
    let sent = opened(&values.to_string(), changed);
    format!("echo {sent} | kubectl --server {server} create --raw '{raw}' -f - | kubectl apply -f -")
}

/// The body of the request as a word of a shell.
fn body(request: &ProcessRequest, changed: &[(&Field, Value)]) -> String {
    let mut body = serde_json::to_value(request).unwrap_or_default();
    hide(&mut body["values"], changed);
    if body["values"].is_null()
        && let Some(map) = body.as_object_mut()
    {
        map.remove("values");
    }
    opened(&body.to_string(), changed)
}

fn values_of(request: &ProcessRequest, changed: &[(&Field, Value)]) -> String {
    let mut values = request.values.clone().unwrap_or_default();
    hide(&mut values, changed);
    opened(&values.to_string(), changed)
}

/// What stands for a secret until the shell puts it in: no JSON text has this character as it is.
fn marker(name: &str) -> String {
    format!("\u{e000}{}\u{e001}", variable(name))
}

fn hide(values: &mut Value, changed: &[(&Field, Value)]) {
    for (field, _) in changed.iter().filter(|(field, _)| field.secret) {
        for place in ["/parameters", "/properties", ""] {
            if let Some(value) = values.pointer_mut(&format!("{place}{}", field.pointer)) {
                *value = Value::String(marker(&field.name()));
                break;
            }
        }
    }
}

/// A JSON text in single quotes, which end where a secret of the environment stands.
fn opened(json: &str, changed: &[(&Field, Value)]) -> String {
    let mut quoted = format!("'{}'", json.replace('\'', r"'\''"));
    for (field, _) in changed.iter().filter(|(field, _)| field.secret) {
        let name = field.name();
        quoted = quoted.replace(&marker(&name), &format!("'\"${}\"'", variable(&name)));
    }
    quoted
}

/// The variable of the environment that a secret is taken from.
fn variable(name: &str) -> String {
    let word = |character: char| {
        if character.is_ascii_alphanumeric() { character.to_ascii_uppercase() } else { '_' }
    };
    let name = name.chars().map(word).collect::<String>();
    if name.starts_with(|first: char| first.is_ascii_digit()) { format!("_{name}") } else { name }
}

#[cfg(test)]
mod tests {
    use super::super::fields::Form;
    use super::super::filled::Filled;
    use super::*;
    use serde_json::json;

    fn lines(schema: Value, form: &str) -> Lines {
        let fields = Form::of(&schema);
        let filled = Filled::parse(form.as_bytes());
        let request = filled.request(Kind::Template, &fields);
        let location = Location {
            registry: "host/a/b".parse().unwrap(),
            collection: Some("c".parse().unwrap()),
            template: "t".parse().unwrap(),
        };
        let version = &"v1.0.0".parse().unwrap();
        let subject = Subject { base: "http://here", location: &location, version, kind: Kind::Template };
        Lines::new(&subject, &request, &filled.changed(&fields))
    }

    #[test]
    fn lines_say_the_request_and_no_secret() {
        let schema = json!({"properties": {
            "NAME": {"type": "string"}, "db-password": {"type": "string", "writeOnly": true},
        }});
        let lines = lines(schema, "p/NAME=it's&p/db-password=hunter2&namespace=shop");
        assert_eq!(
            lines.formwork,
            r#"formwork process --server http://here host/a/b/c/t:=v1.0.0 --namespace shop -p 'NAME=it'\''s' -p db-password="$DB_PASSWORD" | kubectl apply -f -"#
        );
        assert_eq!(
            lines.curl,
            r#"curl -fsS 'http://here/api/v1/templates/host/a/b/c/t:=v1.0.0/-/process?output=yaml' --json '{"values":{"parameters":{"NAME":"it'\''s","db-password":"'"$DB_PASSWORD"'"}},"namespace":"shop"}' | kubectl apply -f -"#
        );
        assert_eq!(
            lines.kubectl.as_deref(),
            Some(
                r#"echo '{"namespace":"shop","parameters":{"NAME":"it'\''s","db-password":"'"$DB_PASSWORD"'"}}' | kubectl --server http://here/k8s/r/host/a/b create --raw '/namespaces/c/templates/t:v1.0.0/processed?output=List' -f - | kubectl apply -f -"#
            )
        );
        assert_eq!(lines.secrets, ["DB_PASSWORD"]);
    }

    #[test]
    fn values_that_are_no_words_go_in_as_a_document() {
        let lines = lines(json!({"properties": {"ports": {"type": "array"}}}), "p/ports=[80]");
        assert!(
            lines.formwork.starts_with(r#"echo '{"parameters":{"ports":[80]}}' | formwork process"#),
            "{}",
            lines.formwork
        );
        assert!(lines.formwork.ends_with("--values - | kubectl apply -f -"), "{}", lines.formwork);
    }
}
