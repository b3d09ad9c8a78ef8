//! The recorded answers of sigs.k8s.io/yaml, compared one by one.
//!
//! The data in `tests/data` is our own: texts and values of our making with the original's output, recorded by the
//! program in `tests/oracles/yaml` of the repository. Set `YAML_CASES` to a folder of more recordings (the same file
//! names) to compare those too.

use std::{fs, path::PathBuf};

use serde_json::Value as Json;
use yaml::{DuplicateKeys, ErrorKind, Limits, Options, Rules, Value, emit};

/// Cases of one file, from the recorded corpus and any further folder.
fn cases(name: &str) -> Vec<Json> {
    let recorded = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let further = std::env::var_os("YAML_CASES").map(PathBuf::from);
    let mut cases = Vec::new();
    for folder in std::iter::once(recorded).chain(further) {
        let Ok(text) = fs::read_to_string(folder.join(name)) else { continue };
        cases.extend(
            text.lines().map(|line| serde_json::from_str::<Json>(line).expect("recordings are JSON lines")),
        );
    }
    assert!(!cases.is_empty(), "no recordings of {name}");
    cases
}

/// Collects what differs and fails with the first of it.
struct Differences {
    name: &'static str,
    compared: usize,
    found: Vec<String>,
}

impl Differences {
    fn new(name: &'static str) -> Self {
        Self { name, compared: 0, found: Vec::new() }
    }

    fn compare(&mut self, about: &dyn std::fmt::Debug, ours: &str, theirs: &str) {
        self.compared += 1;
        if ours != theirs {
            self.found.push(format!("{about:?}\n   ours: {ours:?}\n theirs: {theirs:?}"));
        }
    }

    /// The recorded corpus must agree; among further recordings one in 400 may be an exception of the kinds the README
    /// names.
    fn finish(self) {
        self.finish_but_for(0);
    }

    #[expect(clippy::print_stderr, reason = "how much was compared is what one runs this for")]
    fn finish_but_for(self, exceptions: usize) {
        let (name, compared, found) = (self.name, self.compared, self.found.len());
        let further = std::env::var_os("YAML_CASES").map_or(0, |_| compared / 400);
        let shown = std::env::var("YAML_SHOW").ok().and_then(|shown| shown.parse().ok()).unwrap_or(20);
        eprintln!("{name}: {compared} compared, {found} differ");
        for difference in self.found.iter().take(shown) {
            eprintln!("{difference}");
        }
        assert!(found <= exceptions + further, "{name}: {found} of {compared} differ");
    }
}

fn map<const N: usize>(members: [(&str, Value); N]) -> Value {
    members.into_iter().collect()
}

fn written(value: &Value) -> String {
    emit::marshal(value).unwrap_or_else(|_| "refused".to_owned())
}

#[test]
fn strings_are_written_as_marshal_writes_them() {
    let mut differences = Differences::new("strings");
    for case in cases("strings.jsonl") {
        let text = case["text"].as_str().expect("a text");
        let list = Value::List(vec![Value::List(vec![text.into()])]);
        let inner = Value::List(vec![1.into()]);
        for (name, value) in [
            ("value", map([("k", text.into()), ("l", list)])),
            ("key", map([(text, map([(text, inner)]))])),
            ("root", text.into()),
        ] {
            let theirs = case[name].as_str().unwrap_or("refused");
            differences.compare(&text, &written(&value), theirs);
        }
    }
    differences.finish();
}

#[test]
fn structures_are_written_as_marshal_and_json_write_them() {
    let mut differences = Differences::new("structures");
    for case in cases("structures.jsonl") {
        let value = Value::from_json(case["value"].clone());
        let theirs =
            if case["refused"].is_string() { "refused" } else { case["yaml"].as_str().expect("a text") };
        differences.compare(&case["value"], &written(&value), theirs);
        differences.compare(&case["value"], &yaml::to_json(&value), case["json"].as_str().expect("a text"));
        if let Some(indented) = case["indented"].as_str() {
            differences.compare(&case["value"], &yaml::to_json_pretty(&value, "  "), indented);
        }
    }
    differences.finish();
}

#[test]
fn floats_are_written_as_go_writes_them() {
    let mut differences = Differences::new("floats");
    for case in cases("floats.jsonl") {
        let bits = u64::from_str_radix(case["bits"].as_str().expect("bits"), 16).expect("hexadecimal");
        let float = f64::from_bits(bits);
        differences.compare(
            &float,
            &yaml::to_json(&Value::Float(float)),
            case["json"].as_str().expect("a text"),
        );
        differences.compare(
            &float,
            &yaml::to_yaml(&map([("f", Value::Float(float))])),
            case["yaml"].as_str().expect("a text"),
        );
        let mut go = String::new();
        emit::write_go_float(&mut go, float);
        differences.compare(&float, &go, case["go"].as_str().expect("a text"));
    }
    differences.finish();
}

#[test]
fn documents_are_read_as_the_original_reads_them() {
    let limits = Limits { depth: 200, ..Limits::default() };
    let lenient = Options { rules: Rules::Kubernetes, duplicate_keys: DuplicateKeys::LastWins, limits };
    let mut differences = Differences::new("documents");
    for case in cases("documents.jsonl") {
        let text = case["text"].as_str().expect("a text");
        // Go spells the replacement of what is no UTF-8 (from `!!binary`) otherwise than the character itself.
        let theirs = case["json"].as_str().unwrap_or("refused").replace("\\ufffd", "\u{FFFD}");
        let ours = match yaml::load_first(text, &lenient) {
            Ok(Some(document)) => yaml::to_json(&document.value),
            Ok(None) => "null".to_owned(),
            Err(error) if theirs == "refused" => {
                assert!(!error.message.is_empty());
                "refused".to_owned()
            }
            Err(error) => format!("refused: {error}"),
        };
        differences.compare(&(text, case["error"].as_str().unwrap_or_default()), &ours, &theirs);
    }
    differences.finish();
}

#[test]
fn duplicate_keys_are_refused_as_the_strict_reader_refuses_them() {
    let limits = Limits { depth: 200, ..Limits::default() };
    let strict = Options { rules: Rules::Kubernetes, duplicate_keys: DuplicateKeys::Error, limits };
    let mut differences = Differences::new("duplicate keys");
    for case in cases("documents.jsonl") {
        let text = case["text"].as_str().expect("a text");
        // The strict original also refuses to override what a merge brought in, which is what merging is for; and to
        // it a key that is a number is not the same as its text.
        if !case["json"].is_string() || case["several"] == true || text.contains("<<") || text.contains('1') {
            continue;
        }
        let ours = match yaml::load(text, &strict) {
            Ok(_) => "taken".to_owned(),
            Err(error) => match error.kind {
                ErrorKind::DuplicateKey { first } if Some(first) < error.position => "duplicate".to_owned(),
                _ => error.to_string(),
            },
        };
        differences.compare(&text, &ours, if case["duplicate"] == true { "duplicate" } else { "taken" });
    }
    differences.finish();
}

#[test]
fn errors_can_be_told_in_the_original_words() {
    let limits = Limits { depth: 200, ..Limits::default() };
    let lenient = Options { rules: Rules::Kubernetes, duplicate_keys: DuplicateKeys::LastWins, limits };
    let mut differences = Differences::new("error texts");
    for case in cases("documents.jsonl") {
        let text = case["text"].as_str().expect("a text");
        let Some(theirs) = case["error"].as_str() else { continue };
        if let Err(error) = yaml::load_first(text, &lenient)
            && let Some(ours) = error.go_text()
        {
            differences.compare(&text, ours, theirs);
        }
    }
    // Three documents with a mistake within what is merged, which go-yaml looks at only after the merge; one with a
    // control character after a mistake in syntax, which we see first.
    differences.finish_but_for(4);
}

#[test]
fn values_are_written_as_safe_dump_writes_them() {
    let mut differences = Differences::new("PyYAML's dumps");
    for case in cases("pyyaml-strings.jsonl").into_iter().chain(cases("pyyaml-structures.jsonl")) {
        let value = Value::from_json(case["value"].clone());
        differences.compare(&case["value"], &yaml::to_pyyaml(&value), case["text"].as_str().expect("a text"));
    }
    differences.finish();
}

/// Where we do not follow PyYAML, and why.
const PYYAML_EXCEPTIONS: [&str; 4] = [
    // A mapping merged into itself: Python can hold a value within itself, we cannot.
    "a: &a\n  b: 1\n  <<: *a",
    // Integers beyond 64 bits are floats here.
    "-9223372036854775809: a\n",
    "18446744073709551616: a\n",
    "99999999999999999999: a\n",
];

/// What is no JSON is told apart by a text no document has; members of sets have no order.
fn comparable(value: &Value) -> Json {
    match value {
        Value::Float(float) if float.is_nan() => "<nan>".into(),
        Value::Float(float) if float.is_infinite() => if *float > 0.0 { "<inf>" } else { "<-inf>" }.into(),
        Value::List(items) => items.iter().map(comparable).collect(),
        Value::Map(map) => {
            Json::Object(map.iter().map(|(key, value)| (key.clone(), comparable(value))).collect())
        }
        other => other.to_json(),
    }
}

#[test]
fn documents_are_read_as_pyyaml_reads_them() {
    let limits = Limits { depth: 200, ..Limits::default() };
    let options = Options::pyyaml().with_limits(limits);
    let mut differences = Differences::new("documents under PyYAML's rules");
    for case in cases("pyyaml-documents.jsonl") {
        let text = case["text"].as_str().expect("a text");
        if PYYAML_EXCEPTIONS.contains(&text) {
            continue;
        }
        let theirs = if case["error"].is_string() { "refused".to_owned() } else { case["json"].to_string() };
        let ours = match yaml::load(text, &options) {
            Ok(document) => comparable(&document.unwrap_or_default().value).to_string(),
            Err(_) if theirs == "refused" => "refused".to_owned(),
            Err(error) => format!("refused: {error}"),
        };
        differences.compare(&(text, &case["error"], &case["message"]), &ours, &theirs);
    }
    differences.finish();
}
