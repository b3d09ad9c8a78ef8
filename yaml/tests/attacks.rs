//! YAML that means harm: refused by a limit or a rule before anything large is built, and the place is named.

use std::time::{Duration, Instant};

use yaml::{DuplicateKeys, ErrorKind, LimitKind, Options, Rules, Value};

/// Both rules, as strangers' input is read.
fn both() -> [Options; 2] {
    [Options::kubernetes(), Options::pyyaml()]
}

/// What is said of a text, which must be said soon: each attack is far beyond what could be built in this time.
#[track_caller]
fn refused(text: &str, options: &Options) -> ErrorKind {
    let began = Instant::now();
    let error = yaml::load_stream(text, options).expect_err("it must be refused");
    assert!(began.elapsed() < Duration::from_secs(10), "{error} took {:?}", began.elapsed());
    assert!(!error.message.is_empty());
    // A limit on the text as a whole has no place; everything else has.
    let whole = matches!(error.kind, ErrorKind::Limit(LimitKind::Bytes));
    assert_eq!(error.position.is_none(), whole, "{error}");
    error.kind
}

/// Attack row 18: aliases of aliases, by number and by length, as values and as keys of a merge.
#[test]
fn row_18_alias_bombs() {
    let bomb = |first: &str, open: &str, close: &str| {
        let mut text = format!("a0: &a0 {first}\n");
        for level in 1..30 {
            let aliases = vec![format!("*a{}", level - 1); 10].join(", ");
            text += &format!("a{level}: &a{level} {open}{aliases}{close}\n");
        }
        text
    };
    for options in both() {
        let limits = [LimitKind::AliasNodes, LimitKind::AliasBytes, LimitKind::Depth].map(ErrorKind::Limit);
        assert!(limits.contains(&refused(&bomb("[x, x]", "[", "]"), &options)));
        assert!(limits.contains(&refused(&bomb("lol", "[", "]"), &options)));
        let long = format!("a: &a {}\nb: [{}]\n", "x".repeat(1 << 20), ["*a"; 5_000].join(", "));
        assert_eq!(refused(&long, &options), ErrorKind::Limit(LimitKind::AliasBytes));
        assert_eq!(refused("a: &a [*a]\n", &options), ErrorKind::Alias);
    }
}

/// Attack row 18: ten thousand levels, written in every way there is.
#[test]
fn row_18_deep_nesting() {
    for options in both() {
        let deep = [
            "[".repeat(10_000),
            "{a: ".repeat(10_000),
            "- ".repeat(10_000),
            "? ".repeat(10_000),
            (0..2_000).map(|level| format!("{}a:\n", " ".repeat(level))).collect::<String>(),
            format!("{}x{}", "[".repeat(10_000), "]".repeat(10_000)),
        ];
        for text in deep {
            let kind = refused(&text, &options);
            let known = matches!(kind, ErrorKind::Limit(LimitKind::Depth) | ErrorKind::Key);
            assert!(known || kind == ErrorKind::Syntax, "{kind:?}");
        }
    }
}

/// Attack row 18: a key twice is an error with both places, however it is written; by choice the last counts, and a
/// hundred thousand times the same key stay one member.
#[test]
fn row_18_duplicate_keys() {
    for text in ["a: 1\na: 2\n", "{a: 1, \"a\": 2}", "a: 1\n? a\n: 2\n", "'1': 1\n1: 2\n"] {
        let kind = refused(text, &Options::kubernetes());
        assert!(matches!(kind, ErrorKind::DuplicateKey { first } if first.line == 1), "{text}: {kind:?}");
    }
    let lenient = Options::kubernetes().with_duplicate_keys(DuplicateKeys::LastWins);
    let flood = "a: 1\n".repeat(100_000) + "a: 2\n";
    let value = yaml::load_value(&flood, &lenient).expect("allowed").expect("one document");
    assert_eq!(yaml::to_json(&value), "{\"a\":2}");
}

/// Attack row 18: merges that multiply, that merge themselves, and that merge what cannot be merged.
#[test]
fn row_18_merge_keys() {
    for options in both() {
        let members = (0..1_000).map(|at| format!("k{at}: x, ")).collect::<String>();
        let wide = format!("a: &a {{{members}}}\nb:\n{}", "- {<<: *a}\n".repeat(1_000));
        assert_eq!(refused(&wide, &options), ErrorKind::Limit(LimitKind::AliasNodes));
        let many = format!("a: &a {{{members}}}\nb: {{<<: [{}]}}\n", ["*a"; 10_000].join(", "));
        assert_eq!(refused(&many, &options), ErrorKind::Limit(LimitKind::AliasNodes));
        assert_eq!(refused("a: &a\n  <<: *a\n", &options), ErrorKind::Alias);
        assert_eq!(refused("a: {<<: 1}\n", &options), ErrorKind::Merge);
        assert_eq!(refused("a: {<<: [1]}\n", &options), ErrorKind::Merge);
    }
}

/// Attack row 18: one huge scalar in each style, as a key too, and a text beyond any limit.
#[test]
fn row_18_huge_scalars() {
    let huge = "x".repeat((4 << 20) + 1);
    for options in both() {
        for text in [
            huge.clone(),
            format!("a: {huge}\n"),
            format!("a: '{huge}'\n"),
            format!("a: \"{huge}\"\n"),
            format!("a: |\n  {huge}\n"),
            format!("a: >\n  {huge}\n"),
        ] {
            assert_eq!(refused(&text, &options), ErrorKind::Limit(LimitKind::ScalarBytes));
        }
        let text = format!("? {huge}\n: 1\n");
        assert_eq!(refused(&text, &options), ErrorKind::Limit(LimitKind::ScalarBytes));
        assert_eq!(refused(&"- x\n".repeat(3 << 20), &options), ErrorKind::Limit(LimitKind::Bytes));
        assert_eq!(refused(&"- x\n".repeat(1 << 20), &options), ErrorKind::Limit(LimitKind::Nodes));
        // A number of a megabyte is a text, a float or refused, but is not computed with.
        let digits = format!("a: {}\n", "9".repeat(1 << 20));
        drop(yaml::load(&digits, &options));
    }
}

/// Attack row 18: more documents than anyone needs, empty ones too.
#[test]
fn row_18_floods_of_documents() {
    for options in both() {
        for text in ["---\n".repeat(100_000), "--- a\n".repeat(20_000), "--- a\n...\n".repeat(20_000)] {
            assert_eq!(refused(&text, &options), ErrorKind::Limit(LimitKind::Documents));
        }
    }
}

/// Attack row 18: tags that make Python objects make nothing: dropped under Kubernetes' rules, as go-yaml does, and
/// refused under PyYAML's safe ones.
#[test]
fn row_18_python_tags() {
    for text in [
        "!!python/object/apply:os.system ['id']\n",
        "a: !!python/object:os.system {}\n",
        "a: !!python/name:os.system ''\n",
        "a: !<tag:yaml.org,2002:python/object/new:subprocess.Popen> [id]\n",
        "!!python/tuple [1, 2]\n",
    ] {
        assert_eq!(refused(text, &Options { rules: Rules::PyYaml, ..Options::default() }), ErrorKind::Tag);
        if let Ok(Some(document)) = yaml::load(text, &Options::kubernetes()) {
            let plain = document.value.get("a").cloned().unwrap_or(document.value);
            assert!(matches!(plain, Value::List(_) | Value::Map(_) | Value::String(_)), "{text}");
        }
    }
}
