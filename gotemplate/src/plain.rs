//! Data from outside into an arena.

use crate::functions::encoding::from_yaml_value;
use crate::profile::Numbers;
use crate::value::{Arena, Value};

/// Reads a YAML (or JSON) document as `sigs.k8s.io/yaml` does; an empty one is null.
///
/// # Errors
/// When it is not YAML, or larger than that crate's default limits allow.
pub fn from_yaml<'a>(text: &str, numbers: Numbers, arena: &'a Arena) -> Result<Value<'a>, yaml::Error> {
    let options = yaml::Options::kubernetes().with_duplicate_keys(yaml::DuplicateKeys::LastWins);
    let value = yaml::load_value(text, &options)?;
    Ok(value.map_or(Value::Nil, |value| from_yaml_value(&value, arena, numbers)))
}

/// Takes over a value the yaml crate has loaded.
#[must_use]
pub fn from_yaml_data<'a>(value: &yaml::Value, numbers: Numbers, arena: &'a Arena) -> Value<'a> {
    from_yaml_value(value, arena, numbers)
}
