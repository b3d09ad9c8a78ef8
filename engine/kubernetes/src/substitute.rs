//! Putting values in the place of references: every text of an object, keys too, once.
//!
//! A single pass: what a value brings in is never looked at again, whatever it looks like. (The original replaces
//! in the text it has already changed, so that one value can reach into another; ours cannot.) Numbers keep all
//! their digits up to 64 bits. The cost is linear in what is written.

use std::collections::{BTreeMap, HashMap};

use schema::Severity;
use schema::processing::Problem;
use yaml::{Map, Value};

use crate::document::pointer_segment;
use crate::notation::{Notation, Piece, pieces};

/// The most problems that are listed.
const MOST_PROBLEMS: usize = 100;
/// The most different undefined references that are remembered.
const MOST_UNDEFINED: usize = 10_000;
/// The deepest a value may be nested after substitution.
const DEEPEST: usize = 200;

/// Where the walk is: a list on the stack, written out only for a problem.
pub(crate) struct Path<'a> {
    parent: Option<&'a Path<'a>>,
    segment: Segment<'a>,
    depth: usize,
}

enum Segment<'a> {
    Key(&'a str),
    Index(usize),
}

impl<'a> Path<'a> {
    pub(crate) fn root(key: &'a str) -> Path<'a> {
        Path { parent: None, segment: Segment::Key(key), depth: 1 }
    }

    pub(crate) fn key<'b>(&'b self, key: &'b str) -> Path<'b> {
        Path { parent: Some(self), segment: Segment::Key(key), depth: self.depth + 1 }
    }

    pub(crate) fn index<'b>(&'b self, index: usize) -> Path<'b> {
        Path { parent: Some(self), segment: Segment::Index(index), depth: self.depth + 1 }
    }

    /// The JSON pointer of the place in the template.
    pub(crate) fn pointer(&self) -> String {
        let mut pointer = self.parent.map(Path::pointer).unwrap_or_default();
        pointer.push('/');
        match self.segment {
            Segment::Key(key) => pointer.push_str(&pointer_segment(key)),
            Segment::Index(index) => pointer.push_str(&index.to_string()),
        }
        pointer
    }
}

/// A problem and the JSON pointer it is at, before it has a place in the file.
pub(crate) struct Pointed {
    pub(crate) pointer: String,
    pub(crate) problem: Problem,
}

/// Replaces references by values.
pub(crate) struct Substituter<'a> {
    notation: Notation,
    escapes: bool,
    values: &'a HashMap<String, String>,
    /// Bytes that may still be written.
    left: u64,
    /// Whether more was to be written than may be.
    pub(crate) exhausted: bool,
    pub(crate) errors: Vec<Pointed>,
    pub(crate) notes: Vec<Pointed>,
    /// References to names nobody declared, as written, with the first place of each.
    pub(crate) undefined: BTreeMap<String, (String, String)>,
}

enum Replaced {
    Unchanged,
    Text(String),
    /// A reference without quotes made up the text; this is what it came to.
    Unquoted(String),
}

impl<'a> Substituter<'a> {
    pub(crate) fn new(
        notation: Notation,
        escapes: bool,
        values: &'a HashMap<String, String>,
        output: u64,
    ) -> Self {
        let (errors, notes, undefined) = (Vec::new(), Vec::new(), BTreeMap::new());
        Substituter { notation, escapes, values, left: output, exhausted: false, errors, notes, undefined }
    }

    fn error(&mut self, path: &Path<'_>, message: String, hint: &str) {
        if self.errors.len() < MOST_PROBLEMS {
            let problem = Problem::error(message).hint(hint);
            self.errors.push(Pointed { pointer: path.pointer(), problem });
        }
    }

    fn note(&mut self, path: &Path<'_>, message: String) {
        if self.notes.len() < MOST_PROBLEMS {
            self.notes
                .push(Pointed { pointer: path.pointer(), problem: Problem::new(Severity::Info, message) });
        }
    }

    /// Counts bytes that are written, with a little for the syntax around them.
    fn spend(&mut self, bytes: usize) {
        match self.left.checked_sub(bytes as u64 + 4) {
            Some(left) => self.left = left,
            None => self.exhausted = true,
        }
    }

    fn replace(&mut self, text: &str, path: &Path<'_>) -> Replaced {
        if !text.contains('$') {
            return Replaced::Unchanged;
        }
        let (mut out, mut quoted, mut unquoted, mut changed) = (String::new(), false, false, false);
        for piece in pieces(self.notation, text, self.escapes) {
            match piece {
                Piece::Text(text) => out.push_str(text),
                Piece::Reference { written, name, unquoted: bare } => match self.values.get(name) {
                    Some(value) => {
                        out.push_str(value);
                        *(if bare { &mut unquoted } else { &mut quoted }) = true;
                        changed = true;
                        if out.len() as u64 > self.left {
                            self.exhausted = true;
                            return Replaced::Unchanged;
                        }
                    }
                    None => {
                        out.push_str(written);
                        if !self.undefined.contains_key(written) && self.undefined.len() < MOST_UNDEFINED {
                            self.undefined.insert(written.to_owned(), (name.to_owned(), path.pointer()));
                        }
                    }
                },
            }
        }
        match (changed || self.escapes, unquoted && !quoted) {
            (false, _) => Replaced::Unchanged,
            (true, true) => Replaced::Unquoted(out),
            (true, false) => Replaced::Text(out),
        }
    }

    /// A text whose references keep their quotes whatever they are: labels and the message.
    pub(crate) fn text(&mut self, text: &str, path: &Path<'_>) -> String {
        let out = match self.replace(text, path) {
            Replaced::Unchanged => text.to_owned(),
            Replaced::Text(out) | Replaced::Unquoted(out) => out,
        };
        self.spend(out.len());
        out
    }

    /// The value a text without quotes stands for.
    fn unquoted(&mut self, text: String, path: &Path<'_>) -> Value {
        let json = serde_json::from_str::<serde_json::Value>(&text);
        match (self.notation, json) {
            (Notation::OpenShift, Ok(json)) => Value::from_json(json),
            (Notation::Kubernetes, Ok(json)) if json.is_number() || json.is_boolean() => {
                Value::from_json(json)
            }
            (Notation::OpenShift, Err(_)) => Value::String(text),
            (Notation::Kubernetes, _) => {
                let shown = schema::finding::shown(text.as_bytes());
                self.note(path, format!("`{shown}` is neither a number nor a boolean, so it stays a text"));
                Value::String(text)
            }
        }
    }

    /// A value with its references replaced; `None` for a member that goes away.
    ///
    /// The original drops a member whose value became null through a reference without quotes.
    pub(crate) fn value(&mut self, value: Value, path: &Path<'_>) -> Option<Value> {
        if self.exhausted {
            return Some(Value::Null);
        }
        if path.depth > DEEPEST {
            self.error(path, format!("the value is nested more than {DEEPEST} levels deep"), "flatten it");
            return Some(Value::Null);
        }
        match value {
            Value::String(text) => match self.replace(&text, path) {
                Replaced::Unchanged => {
                    self.spend(text.len());
                    Some(Value::String(text))
                }
                Replaced::Text(out) => {
                    self.spend(out.len());
                    Some(Value::String(out))
                }
                Replaced::Unquoted(out) => {
                    self.spend(out.len());
                    let value = self.unquoted(out, path);
                    (!value.is_null()).then_some(value)
                }
            },
            Value::List(items) => {
                let mut out = Vec::with_capacity(items.len());
                for (index, item) in items.into_iter().enumerate() {
                    let path = path.index(index);
                    match self.value(item, &path) {
                        Some(item) => out.push(item),
                        None => self.error(
                            &path,
                            "a reference in a list has the value null".to_owned(),
                            "give the parameter another value, or leave the item out of the template",
                        ),
                    }
                }
                Some(Value::List(out))
            }
            Value::Map(map) => Some(Value::Map(self.map(map, path))),
            other => {
                self.spend(8);
                Some(other)
            }
        }
    }

    fn map(&mut self, map: Map, path: &Path<'_>) -> Map {
        let mut out = Map::with_capacity(map.len());
        for (key, value) in map {
            let path = path.key(&key);
            let name = match self.replace(&key, &path) {
                Replaced::Unchanged => None,
                Replaced::Text(name) => Some(name),
                Replaced::Unquoted(name) => match self.unquoted(name, &path) {
                    Value::String(name) => Some(name),
                    other => {
                        let message = format!(
                            "the key `{key}` becomes a value of type {}; a key must be a text",
                            other.kind_name()
                        );
                        self.error(
                            &path,
                            message,
                            "refer to the parameter in the form that keeps its quotes",
                        );
                        None
                    }
                },
            };
            let Some(value) = self.value(value, &path) else { continue };
            let name = name.unwrap_or_else(|| key.clone());
            self.spend(name.len());
            if out.contains_key(&name) {
                let message =
                    format!("after substitution two keys are `{}`", schema::finding::shown(name.as_bytes()));
                self.error(&path, message, "give the parameters in them different values");
            } else {
                out.insert(name, value);
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn run(notation: Notation, values: &[(&str, &str)], value: Value) -> (Option<Value>, Vec<String>) {
        let values = values.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let mut substituter = Substituter::new(notation, false, &values, 1 << 20);
        let value = substituter.value(value, &Path::root("objects"));
        let errors = substituter.errors.iter().map(|e| format!("{} {}", e.pointer, e.problem.message));
        (value, errors.collect())
    }

    fn one(notation: Notation, values: &[(&str, &str)], text: &str) -> Value {
        run(notation, values, Value::from(text)).0.unwrap()
    }

    #[test]
    fn the_proposals_table() {
        let one = |value, text| one(Notation::Kubernetes, &[("FOO", value)], text);
        assert_eq!(one("BAR", "$(FOO)"), Value::from("BAR"));
        assert_eq!(one("BAR", "prefix_$((FOO))_suffix"), Value::from("prefix_BAR_suffix"));
        assert_eq!(one("5", "$((FOO))"), Value::Int(5));
        assert_eq!(one("5", "1$((FOO))"), Value::Int(15));
        assert_eq!(one("5", "$((FOO))$(FOO)"), Value::from("55"));
        assert_eq!(one("true", "$((FOO))"), Value::Bool(true));
        for text in ["null", "[1]", "{}", "\"a\"", "1e400"] {
            assert_eq!(one(text, "$((FOO))"), Value::from(text));
        }
        assert_eq!(one("x", "$$(FOO) $(NOPE)"), Value::from("$$(FOO) $(NOPE)"));
    }

    #[test]
    fn integers_are_exact_to_64_bits() {
        let one = |value| one(Notation::OpenShift, &[("N", value)], "${{N}}");
        assert_eq!(one("9007199254740993"), Value::Int(9_007_199_254_740_993));
        assert_eq!(one("12345678901234567890"), Value::Uint(12_345_678_901_234_567_890));
        assert_eq!(one("-9223372036854775808"), Value::Int(i64::MIN));
    }

    #[test]
    fn null_goes_from_a_map_and_is_an_error_in_a_list() {
        let map = Value::from_iter([("a", Value::from("${{N}}")), ("b", Value::from(1))]);
        assert_eq!(run(Notation::OpenShift, &[("N", "null")], map).0, Some(Value::from_iter([("b", 1)])));
        let (_, errors) = run(Notation::OpenShift, &[("N", "null")], Value::from(vec!["${{N}}"]));
        assert_eq!(errors, ["/objects/0 a reference in a list has the value null"]);
    }

    #[test]
    fn keys_must_be_texts_and_differ() {
        let map = |pairs: &[(&str, i32)]| Value::from_iter(pairs.iter().copied());
        let (_, errors) = run(Notation::OpenShift, &[("A", "x")], map(&[("${A}", 1), ("x", 2)]));
        assert_eq!(errors, ["/objects/x after substitution two keys are `x`"]);
        let (_, errors) = run(Notation::OpenShift, &[("A", "5")], map(&[("${{A}}", 1)]));
        assert_eq!(
            errors,
            ["/objects/${{A}} the key `${{A}}` becomes a value of type integer; a key must be a text"]
        );
        let (value, _) = run(Notation::OpenShift, &[("A", "x")], map(&[("${{A}}", 1)]));
        assert_eq!(value, Some(map(&[("x", 1)])));
    }

    #[test]
    fn what_is_written_is_bounded() {
        let values = HashMap::from([("A".to_owned(), "x".repeat(1000))]);
        let mut substituter = Substituter::new(Notation::OpenShift, false, &values, 10_000);
        substituter.value(Value::from("${A}".repeat(100)), &Path::root("objects"));
        assert!(substituter.exhausted);
    }

    fn text() -> impl Strategy<Value = String> {
        "(\\$\\{[AB]\\}|\\$\\(\\([AB]\\)\\)|\\$\\([AB]\\)|[a-c $(){}]){0,8}"
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

        /// Single pass: a text comes out as its pieces with values in the place of references, whatever they hold.
        #[test]
        fn output_is_never_expanded_again(text in text(), a in text(), b in text()) {
            let values = [("A", a.as_str()), ("B", b.as_str())];
            for notation in [Notation::Kubernetes, Notation::OpenShift] {
                let mut substituted = String::new();
                for piece in pieces(notation, &text, false) {
                    substituted.push_str(match piece {
                        Piece::Text(text) => text,
                        Piece::Reference { name: "A", .. } => &a,
                        Piece::Reference { .. } => &b,
                    });
                }
                let keyed = Value::from_iter([(text.clone(), 1)]);
                if let Some(Value::String(out)) = run(notation, &values, Value::from(text.clone())).0 {
                    prop_assert_eq!(&out, &substituted);
                    let (map, errors) = run(notation, &values, keyed);
                    prop_assert!(errors.is_empty());
                    prop_assert_eq!(map, Some(Value::from_iter([(substituted, 1)])));
                }
            }
        }

        /// Without references to declared names nothing changes.
        #[test]
        fn no_references_no_change(text in "[a-z$(){} é\\n]{0,20}") {
            for notation in [Notation::Kubernetes, Notation::OpenShift] {
                prop_assert_eq!(one(notation, &[("A", "x")], &text), Value::from(text.clone()));
            }
        }
    }
}
