//! Keys: every key of a mapping as text, the way each original turns it into text.

use crate::{
    emit::{write_go_narrow_float, write_python_float},
    options::Rules,
    value::Value,
};

/// The text of a key; none if a value of that kind cannot be a key.
///
/// `sigs.k8s.io/yaml` prints integers and booleans as JSON would, floats with the precision of 32 bits, and refuses
/// null and integers above [`i64::MAX`]. PyYAML keeps keys as they are; as text they are what JSON calls them.
pub(super) fn key_text(value: Value, rules: Rules) -> Option<String> {
    Some(match value {
        Value::String(text) => text,
        Value::Bool(value) => value.to_string(),
        Value::Int(value) => value.to_string(),
        Value::Uint(value) if rules == Rules::PyYaml => value.to_string(),
        Value::Null if rules == Rules::PyYaml => "null".to_owned(),
        Value::Float(value) => match rules {
            Rules::Kubernetes => single_precision(value),
            Rules::PyYaml => {
                let mut text = String::new();
                write_python_float(&mut text, value);
                text
            }
        },
        Value::Null | Value::Uint(_) | Value::List(_) | Value::Map(_) => return None,
    })
}

/// Go's `FormatFloat(value, 'g', -1, 32)`, with YAML's names for what is not finite.
fn single_precision(value: f64) -> String {
    if value.is_nan() {
        return ".nan".to_owned();
    }
    let narrow = value as f32;
    if narrow.is_infinite() {
        return if narrow > 0.0 { ".inf" } else { "-.inf" }.to_owned();
    }
    let mut text = String::new();
    write_go_narrow_float(&mut text, narrow);
    text
}

/// A key that is a number to Python, by its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct NumberKey(u64);

impl NumberKey {
    /// Integers too large for a float to hold exactly are left out: nothing else equals them.
    pub(super) fn of(value: &Value) -> Option<Self> {
        const EXACT: i64 = 1 << f64::MANTISSA_DIGITS;
        let number = match *value {
            Value::Bool(value) => f64::from(u8::from(value)),
            Value::Int(value) if (-EXACT..=EXACT).contains(&value) => value as f64,
            Value::Float(value) if !value.is_nan() => value,
            _ => return None,
        };
        // Zero has one sign here.
        Some(Self((number + 0.0).to_bits()))
    }
}
