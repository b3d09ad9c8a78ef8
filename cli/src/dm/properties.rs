//! `--properties k=v,k=v`: as the original types them, and nested. Pure.

use anyhow::bail;
use serde_json::{Map, Value};

/// How deep a property may nest.
const DEEPEST: usize = 64;

/// Reads the flag. Whole numbers are numbers, everything else is text.
pub(super) fn parse(text: &str) -> anyhow::Result<Map<String, Value>> {
    let mut properties = Map::new();
    for pair in pairs(text) {
        let Some((name, value)) = pair.split_once('=').filter(|(name, _)| !name.is_empty()) else {
            bail!(
                "bad property `{pair}`: properties are written k=v,k=v, and a comma within a value as `\\,`"
            );
        };
        set(&mut properties, name, typed(value))?;
    }
    Ok(properties)
}

/// Splits at commas that have no backslash before them.
fn pairs(text: &str) -> Vec<String> {
    let mut pairs = vec![String::new()];
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match (character, characters.peek()) {
            ('\\', Some(',')) => pairs.last_mut().into_iter().for_each(|pair| pair.push(',')),
            (',', _) => pairs.push(String::new()),
            _ => pairs.last_mut().into_iter().for_each(|pair| pair.push(character)),
        }
        if character == '\\' && characters.peek() == Some(&',') {
            characters.next();
        }
    }
    pairs
}

fn typed(text: &str) -> Value {
    text.parse::<i64>().map_or_else(|_| Value::from(text), Value::from)
}

fn set(properties: &mut Map<String, Value>, name: &str, value: Value) -> anyhow::Result<()> {
    if name.split('.').count() > DEEPEST || name.split('.').any(str::is_empty) {
        bail!("`{name}` is not the name of a property");
    }
    let mut here = properties;
    let mut segments = name.split('.').peekable();
    while let Some(segment) = segments.next() {
        if segments.peek().is_none() {
            here.insert(segment.to_owned(), value);
            return Ok(());
        }
        let inner = here.entry(segment).or_insert_with(|| Value::Object(Map::new()));
        let Value::Object(map) = inner else {
            bail!("`{name}` cannot be set: `{segment}` has a value already");
        };
        here = map;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_are_typed_as_the_original_types_them() {
        let read = |text: &str| Value::Object(parse(text).unwrap());
        assert_eq!(
            read("image=acme/front,port=8080,flag=true,ratio=1.5,empty="),
            json!({"image": "acme/front", "port": 8080, "flag": "true", "ratio": "1.5", "empty": ""})
        );
        assert_eq!(read("a.b=1,a.c=x=y"), json!({"a": {"b": 1, "c": "x=y"}}));
        assert_eq!(read("list=a\\,b,path=c:\\d"), json!({"list": "a,b", "path": "c:\\d"}));
        for bad in ["a", "=1", "a=1,,b=2", "a=1,a.b=2", "a..b=1"] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }
}
