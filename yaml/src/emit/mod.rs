//! Writing: YAML as `sigs.k8s.io/yaml` and PyYAML print it, JSON as Go's `encoding/json` does.
//!
//! Writers are [`Sink`]s: they take one value after the other and append to one `String`. Whatever can walk itself
//! into a sink is a [`Node`]; [`Value`] is one, and other value types can be, without converting
//! anything first. It must not know how values are read.

mod json;
mod number;
mod order;
mod scalar;
mod yaml;

pub use json::{JsonOptions, JsonWriter, to_json, to_json_pretty, to_json_with};
pub(crate) use number::write_go_narrow_float;
pub use number::{write_go_float, write_go_json_float, write_python_float};
pub use order::{natural_order, sort_naturally};
pub use yaml::Emitter;

use crate::{Limits, Map, Value};

/// Takes a value piece by piece and writes it.
///
/// The calls follow the shape of the value: a scalar is one call; a list is [`begin_list`](Sink::begin_list), its
/// items, [`end_list`](Sink::end_list); a mapping is [`begin_map`](Sink::begin_map), then for each member
/// [`key`](Sink::key) and its value, then [`end_map`](Sink::end_map). Members are written in the order they come:
/// sort before ([`sort_naturally`]).
pub trait Sink {
    /// Writes null.
    fn null(&mut self);
    /// Writes a boolean.
    fn bool(&mut self, value: bool);
    /// Writes a whole number.
    fn int(&mut self, value: i64);
    /// Writes a whole number, perhaps above [`i64::MAX`].
    fn uint(&mut self, value: u64);
    /// Writes a float.
    fn float(&mut self, value: f64);
    /// Writes text.
    fn string(&mut self, text: &str);
    /// Opens a list of `length` items.
    ///
    /// # Errors
    /// [`EmitError::TooDeep`]: the caller stops there. A walk over values that may contain themselves ends by it.
    fn begin_list(&mut self, length: usize) -> Result<(), EmitError>;
    /// Closes the innermost list.
    fn end_list(&mut self);
    /// Opens a mapping of `length` members.
    ///
    /// # Errors
    /// [`EmitError::TooDeep`], as for a list.
    fn begin_map(&mut self, length: usize) -> Result<(), EmitError>;
    /// Writes the key of the next value.
    fn key(&mut self, key: &str);
    /// Closes the innermost mapping.
    fn end_map(&mut self);
}

/// A value that can walk itself into a [`Sink`].
///
/// ```
/// use yaml::{EmitError, KeyOrder, Node, Sink};
///
/// struct Labels<'a>(Vec<(&'a str, &'a str)>);
///
/// impl Node for Labels<'_> {
///     fn write_to<S: Sink>(&self, sink: &mut S, order: KeyOrder) -> Result<(), EmitError> {
///         let mut members = self.0.clone();
///         order.sort(&mut members);
///         sink.begin_map(members.len())?;
///         for (key, value) in members {
///             sink.key(key);
///             sink.string(value);
///         }
///         sink.end_map();
///         Ok(())
///     }
/// }
///
/// let labels = Labels(vec![("a10", "yes"), ("a2", "no way")]);
/// assert_eq!(yaml::marshal(&labels)?, "a2: no way\na10: \"yes\"\n");
/// # Ok::<(), EmitError>(())
/// ```
pub trait Node {
    /// Writes the whole value, with the members of mappings in the given order.
    ///
    /// # Errors
    /// Those of the sink.
    fn write_to<S: Sink>(&self, sink: &mut S, order: KeyOrder) -> Result<(), EmitError>;
}

impl Node for Value {
    fn write_to<S: Sink>(&self, sink: &mut S, order: KeyOrder) -> Result<(), EmitError> {
        match self {
            Self::Null => sink.null(),
            Self::Bool(value) => sink.bool(*value),
            Self::Int(value) => sink.int(*value),
            Self::Uint(value) => sink.uint(*value),
            Self::Float(value) => sink.float(*value),
            Self::String(text) => sink.string(text),
            Self::List(items) => {
                sink.begin_list(items.len())?;
                for item in items {
                    item.write_to(sink, order)?;
                }
                sink.end_list();
            }
            Self::Map(map) => map.write_to(sink, order)?,
        }
        Ok(())
    }
}

impl Node for Map {
    fn write_to<S: Sink>(&self, sink: &mut S, order: KeyOrder) -> Result<(), EmitError> {
        sink.begin_map(self.len())?;
        if order == KeyOrder::AsGiven || self.len() < 2 {
            for (key, value) in self {
                sink.key(key);
                value.write_to(sink, order)?;
            }
        } else {
            let mut members: Vec<(&str, &Value)> =
                self.iter().map(|(key, value)| (key.as_str(), value)).collect();
            order.sort(&mut members);
            for (key, value) in members {
                sink.key(key);
                value.write_to(sink, order)?;
            }
        }
        sink.end_map();
        Ok(())
    }
}

/// In which order the members of a mapping are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum KeyOrder {
    /// go-yaml's natural order: `a2` before `a10`. See [`natural_order`].
    #[default]
    Natural,
    /// By code point, as Go's `encoding/json` and Python's `sorted` do.
    Sorted,
    /// As the mapping has them: for showing a document in its own order.
    AsGiven,
}

impl KeyOrder {
    /// Sorts members into this order.
    pub fn sort<T>(self, members: &mut [(&str, T)]) {
        match self {
            Self::Natural => sort_naturally(members),
            Self::Sorted => members.sort_unstable_by_key(|(key, _)| *key),
            Self::AsGiven => {}
        }
    }
}

/// Whose style of YAML is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Style {
    /// `sigs.k8s.io/yaml`: literal blocks for text of many lines, numbers as JSON has them.
    #[default]
    Kubernetes,
    /// `yaml.safe_dump(…, default_flow_style=False)`: ASCII only, single quotes before double ones.
    PyYaml,
}

/// How to write YAML.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct EmitOptions {
    /// Whose style.
    pub style: Style,
    /// The order of members.
    pub key_order: KeyOrder,
    /// Refuse what `sigs.k8s.io/yaml` refuses to write (see [`EmitError`]) instead of writing it as go-yaml alone would.
    pub strict: bool,
}

/// Why a value could not be written.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum EmitError {
    /// Lists and mappings are nested deeper than [`Limits::MAX_DEPTH`], or a value contains itself.
    #[error("the value is nested more than {} levels deep, or contains itself", Limits::MAX_DEPTH)]
    TooDeep,
    /// Infinite or not a number, which JSON and so Kubernetes cannot say.
    #[error("the number {0} cannot be written as JSON")]
    NonFinite(f64),
    /// A character YAML does not allow in a text, such as DEL.
    #[error("the character U+{:04X} is not allowed in YAML", u32::from(*.0))]
    Character(char),
    /// A key go-yaml cannot read in JSON: longer than 1024 characters with its quotes, or with a next line (U+0085).
    #[error("a key is longer than the 1024 characters YAML allows, or has a line break in it")]
    LongKey,
}

/// Writes a value as YAML.
///
/// # Errors
/// [`EmitError::TooDeep`], and with [`EmitOptions::strict`] the others.
pub fn emit(node: &impl Node, options: &EmitOptions) -> Result<String, EmitError> {
    let mut text = String::new();
    emit_into(&mut text, node, options)?;
    Ok(text)
}

/// Appends a value as YAML to a text. After an error the text ends somewhere within the value.
///
/// # Errors
/// As [`emit`].
pub fn emit_into(text: &mut String, node: &impl Node, options: &EmitOptions) -> Result<(), EmitError> {
    let mut emitter = Emitter::new(text, options.style);
    if options.strict {
        emitter = emitter.strict();
    }
    node.write_to(&mut emitter, options.key_order)?;
    emitter.finish()
}

/// `sigs.k8s.io/yaml`'s `Marshal`, byte for byte, refusals included.
///
/// # Errors
/// What Marshal refuses: see [`EmitError`].
pub fn marshal(node: &impl Node) -> Result<String, EmitError> {
    emit(node, &EmitOptions { strict: true, ..EmitOptions::default() })
}

/// The value as `sigs.k8s.io/yaml` writes it, with members in natural order.
///
/// What `Marshal` refuses ([`marshal`] tells) is written as go-yaml alone would write it, so that nothing is lost.
#[must_use]
pub fn to_yaml(value: &Value) -> String {
    written_whole(value, Style::Kubernetes, KeyOrder::Natural)
}

/// The value as PyYAML's `safe_dump(value, default_flow_style=False)` writes it.
#[must_use]
pub fn to_pyyaml(value: &Value) -> String {
    written_whole(value, Style::PyYaml, KeyOrder::Sorted)
}

fn written_whole(value: &Value, style: Style, order: KeyOrder) -> String {
    let mut text = String::new();
    let mut emitter = Emitter::new(&mut text, style).of_any_depth();
    value.write_to(&mut emitter, order).expect("a writer without limits refuses nothing");
    emitter.finish().expect("a writer without limits refuses nothing");
    text
}
