//! Choosing the notation of a Template: asked for, stated, or told from the references it makes.
//!
//! `apiVersion: template.openshift.io/v1` is OpenShift's, always. `v1` was both, and real templates of that
//! version are all OpenShift's; so references that name declared parameters decide, and where both notations name
//! some, nobody guesses. Source: the project's reading, recorded in docs/compatibility/openshift.md.

use std::collections::HashSet;

use schema::processing::{Dialect, Problem};
use yaml::Value;

use crate::document::{DIALECT_ANNOTATION, Document};
use crate::notation::{Notation, Piece, pieces};

/// A choice, and why.
pub(crate) struct Choice {
    pub(crate) notation: Notation,
    pub(crate) chosen: &'static str,
}

impl Choice {
    pub(crate) fn dialect(&self) -> Dialect {
        Dialect { name: self.notation.as_str().to_owned(), chosen: self.chosen.to_owned() }
    }
}

/// Chooses. `asked` comes from the request, the values, or nowhere.
pub(crate) fn choose(document: &Document, asked: Option<&str>) -> Result<Choice, Problem> {
    if let Some(word) = asked {
        return named(word, "asked for in the request");
    }
    if let Some(word) = document.annotation(DIALECT_ANNOTATION) {
        return named(word, "stated by the template's annotation")
            .map_err(|problem| document.place(problem, "/metadata/annotations"));
    }
    if document.is_grouped() {
        return Ok(Choice { notation: Notation::OpenShift, chosen: "the apiVersion is OpenShift's" });
    }
    let used = |notation| refers_to_parameters(document, notation);
    match (used(Notation::OpenShift), used(Notation::Kubernetes)) {
        (true, false) => {
            Ok(Choice { notation: Notation::OpenShift, chosen: "only ${…} names declared parameters" })
        }
        (false, true) => {
            Ok(Choice { notation: Notation::Kubernetes, chosen: "only $(…) names declared parameters" })
        }
        (false, false) => Ok(without_references(document)),
        (true, true) => {
            let message = "both ${…} and $(…) name declared parameters, so the notation cannot be told";
            let hint = format!(
                "ask for `dialect: openshift` or `kubernetes`, or state it in the annotation `{DIALECT_ANNOTATION}`"
            );
            Err(document.place(Problem::error(message).hint(hint), ""))
        }
    }
}

fn named(word: &str, chosen: &'static str) -> Result<Choice, Problem> {
    let problem =
        || Problem::error(format!("`{word}` is not a dialect")).hint("dialects are openshift and kubernetes");
    Notation::from_word(word).map(|notation| Choice { notation, chosen }).ok_or_else(problem)
}

fn without_references(document: &Document) -> Choice {
    let generates =
        |parameter: &crate::document::Parameter| !parameter.generate.is_empty() || !parameter.from.is_empty();
    if document.message.is_some() || document.parameters.iter().any(generates) {
        Choice {
            notation: Notation::OpenShift,
            chosen: "it has a message or a generator, which are OpenShift's",
        }
    } else if document.parameters.iter().any(|parameter| parameter.kind.is_some()) {
        Choice {
            notation: Notation::Kubernetes,
            chosen: "its parameters have types, which are the proposal's",
        }
    } else {
        Choice { notation: Notation::Kubernetes, chosen: "it makes no references, so it does not matter" }
    }
}

/// Whether the objects, labels or message name a declared parameter in that notation.
pub(crate) fn refers_to_parameters(document: &Document, notation: Notation) -> bool {
    let names = document.parameters.iter().map(|parameter| parameter.name.as_str()).collect::<HashSet<_>>();
    let refers = |text: &str| {
        text.contains('$')
            && pieces(notation, text, false)
                .iter()
                .any(|piece| matches!(piece, Piece::Reference { name, .. } if names.contains(name)))
    };
    document.message.as_deref().is_some_and(refers)
        || document.labels.iter().any(|(key, value)| refers(key) || refers(value))
        || document.objects.iter().any(|object| any_text(object, &refers))
}

/// Whether any text in a value, keys included, is such.
pub(crate) fn any_text(value: &Value, such: &impl Fn(&str) -> bool) -> bool {
    match value {
        Value::String(text) => such(text),
        Value::List(items) => items.iter().any(|item| any_text(item, such)),
        Value::Map(map) => map.iter().any(|(key, value)| such(key) || any_text(value, such)),
        _ => false,
    }
}
