//! The parameters of a Template that is being made: names nobody else uses, and each value once.

use std::collections::HashSet;

use yaml::{Map, Value};

use crate::notation::{Notation, Piece, pieces};

/// What a parameter is made of.
pub(super) struct Made<'a> {
    /// The name it would like.
    pub(super) name: &'a str,
    /// What goes before the name if it is taken.
    pub(super) owner: &'a str,
    pub(super) description: String,
    /// Its default; none makes it required without one.
    pub(super) value: Option<&'a str>,
    /// The proposal's type.
    pub(super) kind: Option<&'static str>,
}

/// Parameters so far.
pub(super) struct Vocabulary {
    notation: Notation,
    taken: HashSet<String>,
    parameters: Vec<Value>,
}

impl Vocabulary {
    /// Names that objects refer to already are not for parameters, for they would be replaced; nor, in the proposal's
    /// notation, those of environment variables, for they would have two meanings.
    pub(super) fn new(notation: Notation, objects: &[Value]) -> Vocabulary {
        let mut taken = HashSet::new();
        for object in objects {
            collect(object, notation, &mut taken);
        }
        Vocabulary { notation, taken, parameters: Vec::new() }
    }

    /// Declares a parameter and gives its name.
    pub(super) fn declare(&mut self, made: Made<'_>) -> String {
        let wanted = word(made.name);
        let longer = format!("{}_{wanted}", word(made.owner));
        let numbered = (2..).map(|number| format!("{longer}_{number}"));
        let mut candidates = [wanted, longer.clone()].into_iter().chain(numbered);
        let name = candidates.find(|name| !self.taken.contains(name)).unwrap_or(longer);
        self.taken.insert(name.clone());
        let mut map = Map::new();
        map.insert("name".to_owned(), Value::from(name.as_str()));
        map.insert("description".to_owned(), Value::from(made.description));
        if let Some(value) = made.value {
            map.insert("value".to_owned(), Value::from(value));
        }
        map.insert("required".to_owned(), Value::Bool(true));
        if let Some(kind) = made.kind.filter(|_| self.notation == Notation::Kubernetes) {
            map.insert("type".to_owned(), Value::from(kind));
        }
        self.parameters.push(Value::Map(map));
        name
    }

    /// A reference that keeps its quotes.
    pub(super) fn reference(&self, name: &str) -> String {
        self.notation.reference(name)
    }

    /// A reference that stands for a number.
    pub(super) fn number(&self, name: &str) -> Value {
        Value::from(self.notation.unquoted_reference(name))
    }

    pub(super) fn into_parameters(self) -> Vec<Value> {
        self.parameters
    }
}

/// A text as a word of a parameter's name.
pub(crate) fn word(text: &str) -> String {
    let mapped = text.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' });
    mapped.collect::<String>().trim_matches('_').to_owned()
}

/// Names in references and, in the proposal's notation, of what may be environment variables.
fn collect(value: &Value, notation: Notation, taken: &mut HashSet<String>) {
    let mut text = |text: &str| {
        for piece in pieces(notation, text, false) {
            if let Piece::Reference { name, .. } = piece {
                taken.insert(name.to_owned());
            }
        }
    };
    match value {
        Value::String(one) => text(one),
        Value::List(items) => items.iter().for_each(|item| collect(item, notation, taken)),
        Value::Map(map) => {
            map.keys().for_each(|key| text(key));
            if notation == Notation::Kubernetes {
                let is_variable = map.contains_key("value") || map.contains_key("valueFrom");
                let named = map.get("name").and_then(Value::as_str).filter(|_| is_variable);
                taken.extend(named.map(str::to_owned));
                // What a ConfigMap or a Secret holds may become variables.
                for held in ["data", "stringData"].iter().filter_map(|part| map.get(*part)) {
                    taken.extend(held.as_map().into_iter().flat_map(Map::keys).cloned());
                }
            }
            map.values().for_each(|value| collect(value, notation, taken));
        }
        _ => {}
    }
}
