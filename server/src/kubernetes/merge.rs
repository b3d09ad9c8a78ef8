//! JSON merge patches, by RFC 7386: pure.

use serde_json::{Map, Value};

/// A value with a patch put into it.
pub(super) fn patched(value: Value, patch: Value) -> Value {
    let Value::Object(members) = patch else { return patch };
    let mut map = match value {
        Value::Object(map) => map,
        _ => Map::new(),
    };
    for (name, patch) in members {
        match patch {
            Value::Null => drop(map.remove(&name)),
            patch => {
                let old = map.remove(&name).unwrap_or_default();
                map.insert(name, patched(old, patch));
            }
        }
    }
    Value::Object(map)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// The examples of the RFC's appendix that tell rules apart.
    #[test]
    fn patches_do_what_the_rfc_says() {
        for (value, patch, result) in [
            (json!({"a": "b"}), json!({"a": "c"}), json!({"a": "c"})),
            (json!({"a": "b"}), json!({"b": "c"}), json!({"a": "b", "b": "c"})),
            (json!({"a": "b", "b": "c"}), json!({"a": null}), json!({"b": "c"})),
            (json!({"a": ["b"]}), json!({"a": "c"}), json!({"a": "c"})),
            (json!({"a": {"b": "c"}}), json!({"a": {"b": "d", "c": null}}), json!({"a": {"b": "d"}})),
            (json!({"a": [{"b": "c"}]}), json!({"a": [1]}), json!({"a": [1]})),
            (json!(["a", "b"]), json!(["c", "d"]), json!(["c", "d"])),
            (json!({"a": "foo"}), json!(null), json!(null)),
            (json!([1, 2]), json!({"a": "b", "c": null}), json!({"a": "b"})),
            (json!({}), json!({"a": {"bb": {"ccc": null}}}), json!({"a": {"bb": {}}})),
        ] {
            assert_eq!(patched(value, patch), result);
        }
    }
}
