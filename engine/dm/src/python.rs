//! Values as Python prints them: messages of the original quote values that way.

use serde_json::Value as Json;
use yaml::Value;

/// The longest representation that goes into a message, in characters.
const LONGEST: usize = 400;

/// `repr(value)`, cut to what a message can hold.
pub(crate) fn repr(value: &Value) -> String {
    let mut out = String::new();
    write(value, &mut out);
    if out.chars().count() > LONGEST {
        out = out.chars().take(LONGEST).chain(['…']).collect();
    }
    out
}

/// The same for a JSON value.
pub(crate) fn repr_json(value: &Json) -> String {
    repr(&Value::from_json(value.clone()))
}

/// `str(value)`: a text is itself.
pub(crate) fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => repr(other),
    }
}

/// A float as Python prints it: PyYAML's form, without the `.0` it puts before an exponent.
pub(crate) fn float(number: f64) -> String {
    let mut text = String::new();
    yaml::emit::write_python_float(&mut text, number);
    text.replace(".0e", "e")
}

fn write(value: &Value, out: &mut String) {
    // What will be cut off is not written.
    if out.len() > 4 * LONGEST {
        return;
    }
    match value {
        Value::Null => out.push_str("None"),
        Value::Bool(true) => out.push_str("True"),
        Value::Bool(false) => out.push_str("False"),
        Value::Int(number) => out.push_str(&number.to_string()),
        Value::Uint(number) => out.push_str(&number.to_string()),
        Value::Float(number) => out.push_str(&float(*number)),
        Value::String(text) => quoted(text, out),
        Value::List(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push_str(", ");
                }
                write(item, out);
            }
            out.push(']');
        }
        Value::Map(map) => {
            out.push('{');
            for (index, (key, value)) in map.iter().enumerate() {
                if index > 0 {
                    out.push_str(", ");
                }
                quoted(key, out);
                out.push_str(": ");
                write(value, out);
            }
            out.push('}');
        }
    }
}

/// `repr(text)`, however long.
pub(crate) fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    quoted(text, &mut out);
    out
}

fn quoted(text: &str, out: &mut String) {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    out.push(quote);
    for character in text.chars() {
        match character {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            other if other == quote => {
                out.push('\\');
                out.push(other);
            }
            other if other.is_control() => out.push_str(&format!("\\x{:02x}", u32::from(other))),
            other => out.push(other),
        }
    }
    out.push(quote);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_python_prints() {
        let value = yaml::load("{a: [1, 1.5, null, true, \"it's\"], b: 'x'}", &yaml::Options::pyyaml())
            .unwrap()
            .unwrap()
            .value;
        assert_eq!(repr(&value), r#"{'a': [1, 1.5, None, True, "it's"], 'b': 'x'}"#);
        assert_eq!(text(&Value::from("x")), "x");
        assert!(repr(&Value::from("x".repeat(10_000))).chars().count() <= LONGEST + 1);
    }
}
