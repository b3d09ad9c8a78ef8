//! Rows 17, 19 and 21 of the attack table, and other bad input: each is answered with what is wrong, at once, and what
//! follows is unharmed. What goes through the binary is in `tests/cli/cases/expand.toml`.

use std::time::{Duration, Instant};

use schema::Kind;
use schema::limits::Budget;
use schema::processing::{Cause, Failure, Outcome, Request, Step, Template};
use serde_json::{Value, json};

fn run_with(entry: &str, files: &[(&str, &[u8])], values: Value) -> Step {
    let files = files.iter().map(|(path, bytes)| ((*path).to_owned(), bytes.to_vec())).collect();
    let kind = if entry.ends_with(".jinja") { Kind::DmJinja } else { Kind::DmConfiguration };
    let template = Template { name: "t".to_owned(), kind, entry: entry.to_owned(), files, jinja2: false };
    let request = Request { values, ..Request::default() };
    let before = Instant::now();
    let budget = Budget::default();
    let step = engine_dm::process(
        &template,
        &request,
        &[],
        &budget,
        &engine_dm::NoInterpreter,
        &engine_dm::no_others,
    );
    // The worker's own deadline is two seconds of an optimised build; nothing here may come near it.
    assert!(before.elapsed() < Duration::from_secs(20), "{:?}", before.elapsed());
    step
}

fn run(entry: &str, files: &[(&str, &str)]) -> Step {
    let files = files.iter().map(|(path, text)| (*path, text.as_bytes())).collect::<Vec<_>>();
    run_with(entry, &files, Value::Null)
}

fn failed(step: Step) -> Failure {
    match step {
        Step::Failed(failure) => failure,
        other => panic!("{other:?}"),
    }
}

fn done(step: Step) -> Outcome {
    match step {
        Step::Done(outcome) => *outcome,
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn says(failure: &Failure, words: &str) {
    assert!(failure.problems.iter().any(|problem| problem.message.contains(words)), "{words}: {failure:#?}");
}

#[test]
fn attack_row_17_imports_of_schemas_stay_in_the_version() {
    let schema =
        "imports:\n- path: ../../etc/passwd\n- path: https://example.com/x.py\n- path: /etc/passwd\n";
    let files = [("t.jinja", "resources: []"), ("t.jinja.schema", schema), ("etc/passwd", "ours")];
    let failure = failed(run("t.jinja", &files));
    for path in ["../../etc/passwd", "https://example.com/x.py"] {
        says(&failure, &format!("File '{path}' requested in schema 't.jinja.schema' but not included"));
    }
    let text = "resources: [{name: a, type: vm, properties: {x: \"{{ imports['../up'] }}{% include '../up' ignore missing %}\"}}]";
    assert_eq!(done(run("t.jinja", &[("t.jinja", text)])).original["resources"][0]["properties"]["x"], "");
}

#[test]
fn attack_row_17_cyclic_imports_end() {
    let files = [
        ("c.yaml", "imports: [{path: a.jinja}, {path: c.yaml}]\nresources: [{name: x, type: a.jinja}]"),
        ("a.jinja", "{% import 'b.jinja' as b %}resources: []"),
        ("b.jinja", "{% import 'a.jinja' as a %}"),
        ("a.jinja.schema", "imports: [{path: b.jinja}]"),
        ("b.jinja.schema", "imports: [{path: a.jinja}]"),
    ];
    let failure = failed(run("c.yaml", &files));
    assert_eq!(failure.problems.len(), 1, "{failure:#?}");
    let circle = [
        ("t.jinja", "resources: [{name: '{{ env.name }}a', type: u.jinja}]"),
        ("u.jinja", "resources: [{name: '{{ env.name }}b', type: t.jinja}]"),
    ];
    says(&failed(run("t.jinja", &circle)), "templates use each other in a circle");
}

#[test]
fn attack_row_17_ten_thousand_imports() {
    let there = (0..10_000).map(|n| format!("- {{path: a.jinja, name: n{n}.jinja}}\n")).collect::<String>();
    let config = format!("imports:\n{there}resources: [{{name: x, type: n9999.jinja}}]");
    let files = [("c.yaml", config.as_str()), ("a.jinja", "resources: [{name: y, type: vm}]")];
    assert_eq!(done(run("c.yaml", &files)).original["resources"][0]["name"], "y");
    let missing = (0..10_000).map(|n| format!("- path: n{n}.jinja\n")).collect::<String>();
    let failure = failed(run("c.yaml", &[("c.yaml", &format!("imports:\n{missing}resources: []"))]));
    assert_eq!(failure.problems.len(), 100, "the first hundred are said");
}

#[test]
fn attack_row_19_schemas() {
    let cases = [
        ("properties: {a: {$ref: 'https://example.com/s.json'}}", "Unresolvable JSON pointer"),
        ("properties: {a: {$ref: 'file:///etc/passwd'}}", "Unresolvable JSON pointer"),
        ("properties: {a: {pattern: '(['}}", "Invalid schema"),
        ("properties: {a: {type: string, pattern: '^(a|aa)+$'}}", "does not match"),
    ];
    let values = json!({"properties": {"a": format!("{}b", "a".repeat(5_000))}});
    for (schema, words) in cases {
        let files: [(&str, &[u8]); 2] =
            [("t.jinja", b"resources: []"), ("t.jinja.schema", schema.as_bytes())];
        match run_with("t.jinja", &files, values.clone()) {
            Step::Failed(failure) => says(&failure, words),
            other => panic!("{schema}: {other:?}"),
        }
    }
    let endless = "properties: {b: {$ref: '#/definitions/n'}}\ndefinitions: {n: {default: {}, properties: {b: {$ref: '#/definitions/n'}}}}";
    let files: [(&str, &[u8]); 2] = [("t.jinja", b"resources: []"), ("t.jinja.schema", endless.as_bytes())];
    says(&failed(run_with("t.jinja", &files, values.clone())), "without end");
    // A reference to itself alone is refused or ends.
    let looping = "properties: {a: {$ref: '#/properties/a'}}";
    let files: [(&str, &[u8]); 2] = [("t.jinja", b"resources: []"), ("t.jinja.schema", looping.as_bytes())];
    assert!(!matches!(run_with("t.jinja", &files, values.clone()), Step::Needs(_)));
    let schema = "properties: {a: {$ref: '#/definitions/n'}}\ndefinitions: {n: {properties: {a: {$ref: '#/definitions/n'}}}}";
    let deep = (0..100).fold(json!({}), |inner, _| json!({ "a": inner }));
    let files: [(&str, &[u8]); 2] = [("t.jinja", b"resources: []"), ("t.jinja.schema", schema.as_bytes())];
    done(run_with("t.jinja", &files, json!({ "properties": deep })));
}

#[test]
fn attack_row_19_an_enum_of_two_hundred_thousand() {
    let values = (0..200_000).map(|n| n.to_string()).collect::<Vec<_>>().join(",");
    let schema = format!("properties: {{a: {{enum: [{values}]}}}}");
    let files: [(&str, &[u8]); 2] = [("t.jinja", b"resources: []"), ("t.jinja.schema", schema.as_bytes())];
    let failure = failed(run_with("t.jinja", &files, json!({"properties": {"a": -1}})));
    assert!(failure.message.chars().count() < 2_000, "{} characters", failure.message.len());
    let problem = failure.problems.first();
    assert_eq!(problem.and_then(|problem| problem.pointer.as_deref()), Some("/properties/a"));
}

#[test]
fn attack_row_21_jinja() {
    for (text, cause, words) in [
        ("{% for a in range(99999999999) %}{% endfor %}", Cause::Template, "range"),
        (
            "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
            Cause::Limit,
            "steps",
        ),
        ("{{ ''.__class__.__mro__[1].__subclasses__() }}", Cause::Template, "no objects of Python"),
        ("{{ properties['__class__'].mro() }}", Cause::Template, ""),
        ("{{ self.__init__.__globals__ }}{{ cycler.__init__ }}", Cause::Template, "no objects of Python"),
        ("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", Cause::Template, "recursion"),
        ("{% include 't.jinja' %}", Cause::Template, "recursion"),
        (
            "{% set ns = namespace(s='aaaaaaaa') %}{% for i in range(99) %}{% set ns.s = ns.s ~ ns.s %}{% endfor %}{{ ns.s }}",
            Cause::Template,
            "too long",
        ),
        ("{{ 'a'|center(999999999999) }}", Cause::Template, "too long"),
        ("{{ 'a'|indent(999999999999, true) }}", Cause::Template, "too long"),
        ("{{ ('a'*99999)|replace('a', 'b'*99999) }}", Cause::Template, "too long"),
        ("{{ '%9999999999d' % 1 }}", Cause::Template, "too long"),
        (
            "{% set l = [1] %}{% for i in range(99) %}{% set _ = l.extend(l) %}{% endfor %}",
            Cause::Template,
            "items",
        ),
        ("{{ [0] * 99999999 }}", Cause::Template, "items"),
        ("{{ 2 ** 999999999 }}", Cause::Template, ""),
        ("{{ open('/etc/passwd') }}", Cause::Template, "open"),
        ("{% import 'os' as os %}", Cause::Template, ""),
    ] {
        let failure = failed(run("t.jinja", &[("t.jinja", text)]));
        says(&failure, words);
        if cause == Cause::Limit {
            assert_eq!(failure.cause, cause, "{text}: {failure:?}");
        }
        done(run("t.jinja", &[("t.jinja", "resources: []")]));
    }
}

#[test]
fn two_megabytes_of_properties() {
    let properties =
        json!({"list": (0..20_000).map(|n| json!({"n": n, "text": "x".repeat(80)})).collect::<Vec<_>>()});
    let template =
        "resources:\n{% for i in properties.list[:3] %}- {name: 'n{{ i.n }}', type: vm}\n{% endfor %}";
    let files: [(&str, &[u8]); 1] = [("t.jinja", template.as_bytes())];
    let outcome = done(run_with("t.jinja", &files, json!({ "properties": properties })));
    assert_eq!(outcome.original["resources"][2]["name"], "n2");
}

#[test]
fn files_that_are_not_utf_8_are_named() {
    let not_text: &[u8] = b"resources: \xff\xfe";
    for entry in ["t.jinja", "t.jinja.schema", "c.yaml"] {
        let mut files: Vec<(&str, &[u8])> =
            vec![("t.jinja", b"resources: []"), ("c.yaml", b"resources: [{name: a, type: t.jinja}]")];
        files.retain(|(path, _)| *path != entry);
        files.push((entry, not_text));
        let failure = failed(run_with("c.yaml", &files, Value::Null));
        let problem = failure.problems.first().filter(|problem| problem.file.as_deref() == Some(entry));
        assert!(problem.is_some_and(|problem| problem.message.contains("UTF-8")), "{entry}: {failure:#?}");
    }
}

#[test]
fn a_template_without_resources_and_names_twice() {
    says(
        &failed(run("t.jinja", &[("t.jinja", "outputs: []")])),
        "Template did not return a 'resources:' field",
    );
    says(
        &failed(run("t.jinja", &[("t.jinja", "just words")])),
        "Template did not return a 'resources:' field",
    );
    let twice = "resources:\n- {name: a, type: vm}\n- {name: a, type: disk}\n- 7\n";
    let failure = failed(run("t.jinja", &[("t.jinja", twice)]));
    says(&failure, "Resource name 'a' is not unique in t.jinja.");
    let lines =
        failure.problems.iter().map(|problem| (problem.line, problem.file.as_deref())).collect::<Vec<_>>();
    assert_eq!(
        lines,
        [(Some(3), Some("t.jinja")), (Some(4), Some("t.jinja"))],
        "lines of the template itself"
    );
}

#[test]
fn a_property_is_wrong_where_it_was_given() {
    let files = [
        (
            "c.yaml",
            "imports: [{path: out.jinja}, {path: in.jinja}]\nresources:\n- name: a\n  type: out.jinja\n- name: b\n  type: in.jinja\n  properties:\n    size: big\n    odd: 1\n",
        ),
        (
            "out.jinja",
            "{# first #}\nresources:\n- name: c\n  type: in.jinja\n  properties:\n    size: small\n",
        ),
        ("in.jinja", "resources: []"),
        ("in.jinja.schema", "properties: {size: {type: int}}\n"),
    ];
    let failure = failed(run("c.yaml", &files));
    let places =
        failure.problems.iter().map(|problem| (problem.file.as_deref().unwrap_or_default(), problem.line));
    assert_eq!(places.collect::<Vec<_>>(), [("out.jinja", Some(6)), ("c.yaml", Some(8))]);
    says(&failure, "'small' is not of type 'integer' at ['size'] (in resource a (out.jinja) > c (in.jinja))");
    let pointer = failure.problems.last().and_then(|problem| problem.pointer.as_deref());
    assert_eq!(pointer, Some("/resources/1/properties/size"));
}
