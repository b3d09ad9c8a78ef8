//! The value a document stands for: JSON's model with exact 64-bit integers.
//!
//! It must not know how it was written; where it was written is [`Spans`](crate::Spans)' business.

use indexmap::IndexMap;

/// A mapping: keys are text (the rule of Kubernetes, and of JSON) and stay in the order of the document.
///
/// Two maps are equal when they hold the same pairs, whatever the order.
pub type Map = IndexMap<String, Value>;

/// A YAML value after its scalars were resolved.
///
/// Values made by this crate are at most [`Limits::MAX_DEPTH`](crate::Limits::MAX_DEPTH) levels deep, so dropping,
/// cloning and comparing them, which recurse, stay within a small part of any stack. Whoever builds values by hand
/// keeps to the same depth.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Value {
    /// `null`, `~` or nothing at all.
    #[default]
    Null,
    /// A boolean.
    Bool(bool),
    /// A whole number that fits 64 signed bits.
    Int(i64),
    /// A whole number above [`i64::MAX`]; smaller ones are always [`Value::Int`].
    Uint(u64),
    /// Any other number.
    Float(f64),
    /// Text. Dates and times are text too.
    String(String),
    /// A sequence.
    List(Vec<Value>),
    /// A mapping.
    Map(Map),
}

impl Value {
    /// The text, if this is a string.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// The mapping, if this is one.
    #[must_use]
    pub fn as_map(&self) -> Option<&Map> {
        match self {
            Self::Map(map) => Some(map),
            _ => None,
        }
    }

    /// The mapping to change, if this is one.
    pub fn as_map_mut(&mut self) -> Option<&mut Map> {
        match self {
            Self::Map(map) => Some(map),
            _ => None,
        }
    }

    /// The mapping itself, if this is one; otherwise the value comes back.
    ///
    /// # Errors
    /// The value, when it is no mapping.
    pub fn into_map(self) -> Result<Map, Self> {
        match self {
            Self::Map(map) => Ok(map),
            other => Err(other),
        }
    }

    /// The sequence, if this is one.
    #[must_use]
    pub fn as_list(&self) -> Option<&[Value]> {
        match self {
            Self::List(items) => Some(items),
            _ => None,
        }
    }

    /// The sequence to change, if this is one.
    pub fn as_list_mut(&mut self) -> Option<&mut Vec<Value>> {
        match self {
            Self::List(items) => Some(items),
            _ => None,
        }
    }

    /// The sequence itself, if this is one; otherwise the value comes back.
    ///
    /// # Errors
    /// The value, when it is no sequence.
    pub fn into_list(self) -> Result<Vec<Value>, Self> {
        match self {
            Self::List(items) => Ok(items),
            other => Err(other),
        }
    }

    /// The boolean, if this is one.
    #[must_use]
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// The whole number, if this is one that fits; a float is never rounded.
    #[must_use]
    pub fn as_i64(&self) -> Option<i64> {
        match self {
            Self::Int(value) => Some(*value),
            Self::Uint(value) => i64::try_from(*value).ok(),
            _ => None,
        }
    }

    /// The whole number, if this is one from zero up; a float is never rounded.
    #[must_use]
    pub fn as_u64(&self) -> Option<u64> {
        match self {
            Self::Int(value) => u64::try_from(*value).ok(),
            Self::Uint(value) => Some(*value),
            _ => None,
        }
    }

    /// Any number as a float: whole numbers beyond 2^53 lose digits here.
    #[must_use]
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            Self::Int(value) => Some(*value as f64),
            Self::Uint(value) => Some(*value as f64),
            Self::Float(value) => Some(*value),
            _ => None,
        }
    }

    /// Whether this is null.
    #[must_use]
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// Whether this is text.
    #[must_use]
    pub fn is_string(&self) -> bool {
        matches!(self, Self::String(_))
    }

    /// Whether this is a mapping.
    #[must_use]
    pub fn is_map(&self) -> bool {
        matches!(self, Self::Map(_))
    }

    /// Whether this is a sequence.
    #[must_use]
    pub fn is_list(&self) -> bool {
        matches!(self, Self::List(_))
    }

    /// Whether this is a number of any kind.
    #[must_use]
    pub fn is_number(&self) -> bool {
        matches!(self, Self::Int(_) | Self::Uint(_) | Self::Float(_))
    }

    /// The member of that name, if this is a mapping that has it.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.as_map()?.get(key)
    }

    /// The member of that name to change, if this is a mapping that has it.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Value> {
        self.as_map_mut()?.get_mut(key)
    }

    /// The value at a JSON pointer (RFC 6901): `""` is the whole, `/spec/containers/0/image` one inside it,
    /// `~1` stands for `/` and `~0` for `~` in a name.
    #[must_use]
    pub fn pointer(&self, pointer: &str) -> Option<&Value> {
        let mut value = self;
        for token in pointer_tokens(pointer)? {
            value = match value {
                Self::Map(map) => map.get(token.as_ref())?,
                Self::List(items) => items.get(pointer_index(&token)?)?,
                _ => return None,
            };
        }
        Some(value)
    }

    /// The value at a JSON pointer, to change.
    pub fn pointer_mut(&mut self, pointer: &str) -> Option<&mut Value> {
        let mut value = self;
        for token in pointer_tokens(pointer)? {
            value = match value {
                Self::Map(map) => map.get_mut(token.as_ref())?,
                Self::List(items) => items.get_mut(pointer_index(&token)?)?,
                _ => return None,
            };
        }
        Some(value)
    }

    /// What kind of value this is, as one says it in a message: `null`, `boolean`, `integer`, `number`, `string`,
    /// `list` or `map`.
    #[must_use]
    pub fn kind_name(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "boolean",
            Self::Int(_) | Self::Uint(_) => "integer",
            Self::Float(_) => "number",
            Self::String(_) => "string",
            Self::List(_) => "list",
            Self::Map(_) => "map",
        }
    }

    /// The same value for `serde_json`. A float JSON cannot say (infinite, not a number) becomes null; under
    /// [`Rules::Kubernetes`](crate::Rules::Kubernetes) such a value is never loaded.
    #[must_use]
    pub fn to_json(&self) -> serde_json::Value {
        use serde_json::Value as Json;
        match self {
            Self::Null => Json::Null,
            Self::Bool(value) => Json::Bool(*value),
            Self::Int(value) => Json::from(*value),
            Self::Uint(value) => Json::from(*value),
            Self::Float(value) => Json::from(*value),
            Self::String(text) => Json::String(text.clone()),
            Self::List(items) => Json::Array(items.iter().map(Self::to_json).collect()),
            Self::Map(map) => {
                Json::Object(map.iter().map(|(key, value)| (key.clone(), value.to_json())).collect())
            }
        }
    }

    /// The value of a `serde_json` one; whole numbers stay whole, members keep their order.
    #[must_use]
    pub fn from_json(json: serde_json::Value) -> Self {
        use serde_json::Value as Json;
        match json {
            Json::Null => Self::Null,
            Json::Bool(value) => Self::Bool(value),
            Json::Number(number) => number
                .as_i64()
                .map(Self::Int)
                .or_else(|| number.as_u64().map(Self::Uint))
                .or_else(|| number.as_f64().map(Self::Float))
                .unwrap_or_default(),
            Json::String(text) => Self::String(text),
            Json::Array(items) => Self::List(items.into_iter().map(Self::from_json).collect()),
            Json::Object(map) => {
                Self::Map(map.into_iter().map(|(key, value)| (key, Self::from_json(value))).collect())
            }
        }
    }
}

/// The parts of a JSON pointer, unescaped; none when it does not begin with a slash.
pub(crate) fn pointer_tokens(pointer: &str) -> Option<impl Iterator<Item = std::borrow::Cow<'_, str>>> {
    let rest = match pointer.strip_prefix('/') {
        Some(rest) => Some(rest),
        None if pointer.is_empty() => None,
        None => return None,
    };
    Some(rest.into_iter().flat_map(|rest| rest.split('/')).map(|token| {
        if token.contains('~') { token.replace("~1", "/").replace("~0", "~").into() } else { token.into() }
    }))
}

/// A list index as RFC 6901 allows it: decimal digits without a leading zero.
pub(crate) fn pointer_index(token: &str) -> Option<usize> {
    let plain = token == "0" || !token.starts_with('0');
    (plain && token.bytes().all(|byte| byte.is_ascii_digit())).then(|| token.parse().ok()).flatten()
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

macro_rules! from_small_integers {
    ($($integer:ty),*) => {$(
        impl From<$integer> for Value {
            fn from(value: $integer) -> Self {
                Self::Int(i64::from(value))
            }
        }
    )*};
}
from_small_integers!(i8, i16, i32, i64, u8, u16, u32);

impl From<u64> for Value {
    fn from(value: u64) -> Self {
        i64::try_from(value).map_or(Self::Uint(value), Self::Int)
    }
}

impl From<usize> for Value {
    fn from(value: usize) -> Self {
        Self::from(value as u64)
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Self {
        Self::Float(value)
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Self::String(value.to_owned())
    }
}

impl From<String> for Value {
    fn from(value: String) -> Self {
        Self::String(value)
    }
}

impl From<std::borrow::Cow<'_, str>> for Value {
    fn from(value: std::borrow::Cow<'_, str>) -> Self {
        Self::String(value.into_owned())
    }
}

impl From<Map> for Value {
    fn from(value: Map) -> Self {
        Self::Map(value)
    }
}

impl<T: Into<Value>> From<Vec<T>> for Value {
    fn from(items: Vec<T>) -> Self {
        Self::List(items.into_iter().map(Into::into).collect())
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

impl From<serde_json::Value> for Value {
    fn from(json: serde_json::Value) -> Self {
        Self::from_json(json)
    }
}

impl<K: Into<String>, V: Into<Value>> FromIterator<(K, V)> for Value {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(pairs: I) -> Self {
        Self::Map(pairs.into_iter().map(|(key, value)| (key.into(), value.into())).collect())
    }
}

impl<V: Into<Value>> FromIterator<V> for Value {
    fn from_iter<I: IntoIterator<Item = V>>(items: I) -> Self {
        Self::List(items.into_iter().map(Into::into).collect())
    }
}
