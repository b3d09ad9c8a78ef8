//! What must hold for every value and every text.

use proptest::{prelude::*, test_runner::RngSeed};
use yaml::{DuplicateKeys, ErrorKind, LimitKind, Limits, Map, Options, Position, Rules, Value};

/// Pieces that mean something to YAML, alone or within a text.
const PIECES: &[&str] = &[
    "a",
    "b c",
    "true",
    "no",
    "y",
    "null",
    "~",
    "1",
    "0o17",
    "0x1F",
    "1_000",
    "12:30",
    "1:2:3.5",
    "2001-01-01",
    ".5",
    "1e3",
    ".inf",
    ".nan",
    "<<",
    "=",
    "-",
    "- ",
    "? ",
    ": ",
    ":",
    " #",
    "#",
    ",",
    "[",
    "]",
    "{",
    "}",
    "&",
    "*",
    "!",
    "|",
    ">",
    "'",
    "\"",
    "%",
    "@",
    "`",
    "\\",
    "\n",
    "\n\n",
    " ",
    "  ",
    "\t",
    "\r",
    "\r\n",
    "\u{85}",
    "\u{A0}",
    "\u{2028}",
    "\u{2029}",
    "\u{FEFF}",
    "\u{FFFE}",
    "\0",
    "\x1B",
    "\x7F",
    "\u{9F}",
    "é",
    "日本",
    "😀",
    "---",
    "...",
    "--- ",
    "\n---\n",
    "\n...\n",
    "word word word word word word word word word word word",
];

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => prop::collection::vec(prop::sample::select(PIECES), 0..8).prop_map(|pieces| pieces.concat()),
        1 => prop::collection::vec(prop::sample::select(PIECES), 8..40).prop_map(|pieces| pieces.join(" ")),
        1 => any::<String>(),
    ]
}

/// go-yaml writes a key `<<` plain and then reads it as a merge: a flaw we share on purpose.
fn key() -> impl Strategy<Value = String> {
    text().prop_filter("no merge key", |text| text != "<<")
}

fn value() -> impl Strategy<Value = Value> {
    let scalar = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_filter("JSON has no such number", |float| float.is_finite()).prop_map(Value::Float),
        (-1e7_f64..1e7).prop_map(|float| Value::Float((float * 8.0).round() / 8.0)),
        text().prop_map(Value::String),
        text().prop_map(Value::String),
    ];
    scalar.prop_recursive(5, 60, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::List),
            prop::collection::vec((key(), inner), 0..6)
                .prop_map(|members| Value::Map(Map::from_iter(members))),
        ]
    })
}

/// The value as JSON's one kind of number leaves it: what is whole and fits is an integer.
fn as_json_has_it(value: &Value) -> Value {
    match value {
        Value::Float(float) => {
            let written = yaml::to_json(value);
            let whole = written.parse().map(Value::Int).or_else(|_| written.parse().map(Value::Uint));
            whole.unwrap_or(Value::Float(*float))
        }
        Value::List(items) => Value::List(items.iter().map(as_json_has_it).collect()),
        Value::Map(map) => map.iter().map(|(key, value)| (key.clone(), as_json_has_it(value))).collect(),
        other => other.clone(),
    }
}

fn without_floats(value: &Value) -> Value {
    match value {
        Value::Float(_) => Value::Null,
        Value::List(items) => Value::List(items.iter().map(without_floats).collect()),
        Value::Map(map) => map.iter().map(|(key, value)| (key.clone(), without_floats(value))).collect(),
        other => other.clone(),
    }
}

fn read(text: &str, options: &Options) -> Value {
    match yaml::load(text, options) {
        Ok(document) => document.unwrap_or_default().value,
        Err(error) => panic!("{error}\n{text:?}"),
    }
}

/// A fixed seed and a size for every day; `YAML_CASES_COUNT` asks for more cases, each time others.
fn config() -> ProptestConfig {
    let more = std::env::var("YAML_CASES_COUNT").ok().and_then(|count| count.parse().ok());
    let rng_seed = if more.is_some() { RngSeed::Random } else { RngSeed::Fixed(7) };
    ProptestConfig {
        cases: more.unwrap_or(1500),
        rng_seed,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config())]

    /// What is written for Kubernetes reads back as it was, there and in PyYAML.
    #[test]
    fn kubernetes_text_reads_back(value in value()) {
        let text = yaml::to_yaml(&value);
        prop_assert_eq!(read(&text, &Options::kubernetes()), as_json_has_it(&value), "{}", text);
    }

    #[test]
    fn pyyaml_text_reads_back(value in value()) {
        let text = yaml::to_pyyaml(&value);
        prop_assert_eq!(read(&text, &Options::pyyaml()), value, "{}", text);
    }

    #[test]
    fn json_reads_back(value in value()) {
        // serde_json does not read every float to its last bit; the recorded floats are the test of those.
        let value = without_floats(&value);
        let json = yaml::to_json_pretty(&value, "  ");
        let read = Value::from_json(serde_json::from_str(&json).expect("JSON"));
        prop_assert_eq!(read, value);
    }

    /// Text written for Kubernetes is the same text to YAML 1.1 as PyYAML has it.
    #[test]
    fn texts_survive_the_other_rules(text in text()) {
        // Tabs, NEL and the like are in double quotes; go-yaml alone knows `\'` but never writes it.
        let written = yaml::to_yaml(&Value::String(text.clone()));
        // PyYAML makes a kind of its own of these two, which go-yaml leaves plain.
        prop_assume!(text != "=" && text != "<<");
        prop_assert_eq!(read(&written, &Options::pyyaml()), Value::String(text), "{}", written);
    }

    /// No text makes the reader panic, and what it says of a place is in the text.
    #[test]
    fn places_are_in_the_text(text in text(), python in any::<bool>()) {
        let rules = if python { Rules::PyYaml } else { Rules::Kubernetes };
        let options = Options { rules, ..Options::default() };
        match yaml::load_stream(&text, &options) {
            Ok(documents) => for document in documents {
                let span = document.spans.span_of_value("").expect("the document's own");
                prop_assert!(span.start.offset <= span.end.offset && span.end.offset <= text.len());
            },
            Err(error) => if let Some(Position { offset, line, column }) = error.position {
                prop_assert!(offset <= text.len() && line > 0 && column > 0);
            }
        }
    }

    #[test]
    fn parts_make_up_the_stream(text in text()) {
        let mut last = 0;
        for part in yaml::split::parts(&text) {
            let start = part.start.offset;
            prop_assert!(last <= start);
            prop_assert_eq!(&text[start..start + part.text.len()], part.text);
            last = start + part.text.len();
        }
    }

    #[test]
    fn natural_order_sorts_without_losing_anything(mut keys in prop::collection::vec("[a-c0-3_é]{0,4}", 0..80)) {
        let members: Vec<String> = keys.clone();
        let mut sorted: Vec<(&str, usize)> = members.iter().map(String::as_str).zip(0..).collect();
        yaml::sort_naturally(&mut sorted);
        let mut found: Vec<String> = sorted.iter().map(|(key, _)| (*key).to_owned()).collect();
        prop_assert!(sorted.iter().all(|(key, index)| members[*index] == *key));
        found.sort();
        keys.sort();
        prop_assert_eq!(found, keys);
    }
}

fn limited(change: impl FnOnce(&mut Limits)) -> Options {
    let mut limits = Limits::default();
    change(&mut limits);
    Options::default().with_limits(limits)
}

fn limit_of(text: &str, options: &Options) -> LimitKind {
    match yaml::load_stream(text, options).map_err(|error| error.kind) {
        Err(ErrorKind::Limit(limit)) => limit,
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_limit_is_kept() {
    assert_eq!(limit_of("a: 1234567", &limited(|limits| limits.bytes = 9)), LimitKind::Bytes);
    assert_eq!(limit_of("[[[1]]]", &limited(|limits| limits.depth = 2)), LimitKind::Depth);
    assert_eq!(limit_of("- - - 1", &limited(|limits| limits.depth = 2)), LimitKind::Depth);
    assert_eq!(limit_of("[1, 2, 3]", &limited(|limits| limits.nodes = 3)), LimitKind::Nodes);
    assert_eq!(limit_of("[&a [1, 2], *a]", &limited(|limits| limits.alias_nodes = 2)), LimitKind::AliasNodes);
    assert_eq!(
        limit_of("[&a 12345, *a, *a]", &limited(|limits| limits.alias_bytes = 9)),
        LimitKind::AliasBytes
    );
    assert_eq!(limit_of("[&a [[1]], [[*a]]]", &limited(|limits| limits.depth = 4)), LimitKind::Depth);
    assert_eq!(limit_of("a: 1234567", &limited(|limits| limits.scalar_bytes = 6)), LimitKind::ScalarBytes);
    assert_eq!(limit_of("--- 1\n--- 2\n", &limited(|limits| limits.documents = 1)), LimitKind::Documents);
    let deepest = limited(|limits| limits.depth = usize::MAX);
    assert_eq!(limit_of(&"[".repeat(200_000), &deepest), LimitKind::Depth);
    assert_eq!(limit_of(&"- ".repeat(200_000), &deepest), LimitKind::Depth);
    assert_eq!(limit_of(&"{a: ".repeat(200_000), &deepest), LimitKind::Depth);
}

#[test]
fn bombs_cost_nothing() {
    let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..20 {
        let alias = format!("*a{}", level - 1);
        bomb += &format!("a{level}: &a{level} [{}]\n", [alias.as_str(); 9].join(", "));
    }
    assert_eq!(limit_of(&bomb, &Options::default()), LimitKind::AliasNodes);
    let long = format!("a: &a {}\nb: [{}]", "x".repeat(100_000), ["*a"; 1000].join(", "));
    assert_eq!(limit_of(&long, &Options::default()), LimitKind::AliasBytes);
    // Anchors within anchors are copied at every level.
    let anchors: String = (0..90).map(|level| format!("{}- &a{level}\n", " ".repeat(level))).collect();
    let many = format!("{anchors}{}[{}]\n", " ".repeat(91), ["x"; 20_000].join(", "));
    assert_eq!(limit_of(&many, &Options::default()), LimitKind::AliasNodes);
}

#[test]
fn directives_and_messages_are_bounded() {
    let message = |text: &str, options: &Options| yaml::load(text, options).expect_err("too much").message;
    let directives: String = (0..65).map(|tag| format!("%TAG !{tag}! x\n")).collect();
    let text = format!("{directives}---\na");
    assert_eq!(message(&text, &Options::default()), "found too many %TAG directives");
    let text = format!("%TAG ! {}\n---\n!a b", "x".repeat(1025));
    assert!(message(&text, &Options::default()).starts_with("found extremely long tag prefix"));
    // A mistake is found at once; what follows it is read on only for what go-yaml would say of it.
    let error = yaml::load(&"? ".repeat(1_000_000), &Options::default()).expect_err("a mapping as a key");
    assert_eq!((error.kind, error.go_text()), (ErrorKind::Key, None));
    // Each merge costs what it brings, not what is there already.
    let merges = format!("a: &a {{k: 1}}\nb:\n{}", "  <<: *a\n".repeat(45_000));
    let value = read(&merges, &Options::pyyaml());
    assert_eq!(value.pointer("/b/k"), Some(&Value::Int(1)));
}

#[test]
fn a_deep_value_is_written_and_dropped() {
    let mut value = Value::Null;
    for _ in 0..Limits::MAX_DEPTH {
        value = Value::List(vec![value]);
    }
    let text = yaml::marshal(&value).expect("deep, but not too deep");
    let options = limited(|limits| limits.depth = Limits::MAX_DEPTH);
    assert_eq!(read(&text, &options), value);
    assert_eq!(yaml::marshal(&Value::List(vec![value])), Err(yaml::EmitError::TooDeep));
}

#[test]
fn every_value_knows_its_place() {
    let text = "# c\na: &x\n  b: [1, 'two']\nc:\n- *x\n- <<: *x\n  d: |\n    text\n\ne/f~: {}\n";
    let document = yaml::load(text, &Options::default()).expect("right").expect("one");
    let place = |pointer: &str| {
        let spans = &document.spans;
        let shown = spans.span_of_value(pointer).and_then(|span| span.slice(text)).map(str::to_owned);
        let key = spans.span_of_key(pointer).and_then(|span| span.slice(text)).map(str::to_owned);
        (shown.unwrap_or_default(), key.unwrap_or_default())
    };
    let own = |value: &str, key: &str| (value.to_owned(), key.to_owned());
    assert_eq!(place("/a"), own("b: [1, 'two']", "a"));
    assert_eq!(place("/a/b"), own("[1, 'two']", "b"));
    assert_eq!(place("/a/b/1"), own("'two'", ""));
    assert_eq!(place("/c/0"), own("*x", ""));
    assert_eq!(place("/c/0/b/0"), own("1", ""));
    assert_eq!(place("/c/1/b"), own("[1, 'two']", "b"));
    assert_eq!(place("/c/1/d"), own("|\n    text\n\n", "d"));
    assert_eq!(place("/e~1f~0"), own("{}", "e/f~"));
    assert_eq!(place("/nowhere"), own("", ""));
    assert_eq!(document.spans.nearest("/a/b/7/x").and_then(|span| span.slice(text)), Some("[1, 'two']"));
    assert_eq!(document.value.pointer("/c/1/b/1").and_then(Value::as_str), Some("two"));
}

#[test]
fn a_duplicate_names_both_places() {
    let text = "a:\n  x: 1\n  'x': 2\n";
    let error = yaml::load(text, &Options::default()).expect_err("x twice");
    assert_eq!(
        error.to_string(),
        "line 3, column 3: the key `x` stands here a second time, first on line 2, column 3; keep one of them"
    );
    let first = Position { line: 2, column: 3, offset: 5 };
    assert_eq!(error.kind, ErrorKind::DuplicateKey { first });
    let lenient = Options::default().with_duplicate_keys(DuplicateKeys::LastWins);
    let document = yaml::load(text, &lenient).expect("the last wins").expect("one");
    assert_eq!(document.value.pointer("/a/x"), Some(&Value::Int(2)));
    assert_eq!(document.spans.span_of_value("/a/x").and_then(|span| span.slice(text)), Some("2"));
}

#[test]
fn bytes_must_be_utf_8() {
    let error =
        |bytes: &[u8]| yaml::load_bytes(bytes, &Options::default()).expect_err("no UTF-8").to_string();
    assert_eq!(error(b"\xFF\xFEa\0"), "line 1, column 1: the text is in UTF-16; save it as UTF-8");
    assert_eq!(
        error(b"a: \xC3\xA9\n\xC3b"),
        "line 2, column 1: the text is not UTF-8 from here on; save it as UTF-8"
    );
    let document = yaml::load_bytes(b"\xEF\xBB\xBFa: 1", &Options::default()).expect("a mark").expect("one");
    assert_eq!(document.value.get("a"), Some(&Value::Int(1)));
    assert_eq!(
        document.spans.span_of_key("/a").expect("a key").start,
        Position { line: 1, column: 1, offset: 3 }
    );
}

#[test]
fn a_second_document_is_named() {
    let error = yaml::load("a: 1\n---\nb: 2\n", &Options::default()).expect_err("two");
    assert_eq!(error.to_string(), "line 2, column 1: a second document begins here; only one is expected");
    assert!(yaml::load("# nothing\n", &Options::default()).expect("nothing is right").is_none());
    assert_eq!(yaml::load_stream("a\n---\n---\nb\n", &Options::default()).expect("three").len(), 3);
}
