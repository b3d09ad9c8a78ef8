//! Any text, under both rules: reading never panics, places are in the text, and what was read can be written and read
//! again as the same value.

#![no_main]

use libfuzzer_sys::fuzz_target;
use yaml::{Document, Options, Rules, Value};

fuzz_target!(|bytes: &[u8]| {
    let Some((&choice, bytes)) = bytes.split_first() else { return };
    let rules = if choice & 1 == 0 { Rules::Kubernetes } else { Rules::PyYaml };
    let options = Options { rules, ..Options::default() };
    let result = yaml::load_stream_bytes(bytes, &options);
    let Ok(text) = std::str::from_utf8(bytes) else {
        assert!(result.is_err());
        return;
    };
    let mut last = 0;
    for part in yaml::split::parts(text) {
        assert!(part.start.offset >= last);
        last = part.start.offset + part.text.len();
    }
    match result {
        Err(error) => {
            assert!(!error.message.is_empty());
            assert!(error.position.is_none_or(|position| position.offset <= text.len()));
        }
        Ok(documents) => documents.iter().for_each(|document| check(document, text, &options)),
    }
});

fn check(document: &Document, text: &str, options: &Options) {
    let span = document.spans.span_of_value("").expect("a document has a place");
    assert!(span.start.offset <= span.end.offset && span.end.offset <= text.len());
    check_places(&document.value, "", document);
    // go-yaml and PyYAML both cannot read back a key `<<` that go-yaml wrote.
    if has_merge_key(&document.value) {
        return;
    }
    let (written, expected) = match options.rules {
        Rules::Kubernetes => (yaml::to_yaml(&document.value), without_whole_floats(&document.value)),
        Rules::PyYaml => (yaml::to_pyyaml(&document.value), document.value.clone()),
    };
    // Where the indentation alone reaches the width, PyYAML breaks some texts so that they do not read back.
    if options.rules == Rules::PyYaml && written.lines().any(|line| line.starts_with(&" ".repeat(50))) {
        return;
    }
    let again = yaml::load_value(&written, &wide(options)).expect("what is written can be read").unwrap_or_default();
    assert!(equal(&again, &expected), "{written}");
}

/// What was repeated by aliases is written out, and may then be larger than what may be read.
fn wide(options: &Options) -> Options {
    let limits = yaml::Limits { bytes: usize::MAX, nodes: usize::MAX, scalar_bytes: usize::MAX, ..options.limits };
    options.with_limits(limits)
}

fn check_places(value: &Value, pointer: &str, document: &Document) {
    // Deep documents would make this quadratic.
    if pointer.len() > 60 {
        return;
    }
    assert!(document.spans.span_of_value(pointer).is_some(), "{pointer}");
    match value {
        Value::List(items) => {
            for (index, item) in items.iter().enumerate().take(20) {
                check_places(item, &format!("{pointer}/{index}"), document);
            }
        }
        Value::Map(map) => {
            for (key, member) in map.iter().take(20) {
                let key = key.replace('~', "~0").replace('/', "~1");
                check_places(member, &format!("{pointer}/{key}"), document);
                assert!(document.spans.span_of_key(&format!("{pointer}/{key}")).is_some());
            }
        }
        _ => {}
    }
}

fn has_merge_key(value: &Value) -> bool {
    match value {
        Value::List(items) => items.iter().any(has_merge_key),
        Value::Map(map) => map.iter().any(|(key, member)| key == "<<" || has_merge_key(member)),
        _ => false,
    }
}

fn without_whole_floats(value: &Value) -> Value {
    match value {
        Value::Float(float) => {
            let written = yaml::to_json(value);
            let whole = written.parse().map(Value::Int).or_else(|_| written.parse().map(Value::Uint));
            whole.unwrap_or(Value::Float(*float))
        }
        Value::List(items) => Value::List(items.iter().map(without_whole_floats).collect()),
        Value::Map(map) => map.iter().map(|(key, member)| (key.clone(), without_whole_floats(member))).collect(),
        other => other.clone(),
    }
}

/// Equal, with not-a-number equal to itself.
fn equal(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Float(one), Value::Float(other)) => one == other || (one.is_nan() && other.is_nan()),
        (Value::List(one), Value::List(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| equal(one, other))
        }
        (Value::Map(one), Value::Map(other)) => {
            one.len() == other.len()
                && one.iter().all(|(key, value)| other.get(key).is_some_and(|other| equal(value, other)))
        }
        _ => one == other,
    }
}
