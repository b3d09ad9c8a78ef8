//! Attack rows 24 and 25, and other input that is meant to break: the outcome is an error that names what is wrong, or
//! a result that is no more than was asked for, and it comes soon.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test that uses them")]

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use proptest::prelude::*;
use schema::Kind;
use schema::limits::Budget;
use schema::processing::{Cause, Failure, Outcome, Request, Step, Template};
use serde_json::{Value, json};

/// Far more than any of these takes, even on a busy machine and without optimisation.
const PATIENCE: Duration = Duration::from_secs(20);

fn run(text: &str, values: Value) -> Step {
    let files = [("t.yaml", text.as_bytes().to_vec())].into_iter().collect();
    let template = Template {
        name: "t".to_owned(),
        kind: Kind::Template,
        entry: "t.yaml".to_owned(),
        files,
        jinja2: false,
    };
    let request = Request { values, entropy: "5a".repeat(32), ..Request::default() };
    let started = Instant::now();
    let step = engine_kubernetes::process(&template, &request, &[], &Budget::default());
    assert!(started.elapsed() < PATIENCE, "it took {:?}", started.elapsed());
    step
}

fn done(text: &str, values: Value) -> Outcome {
    match run(text, values) {
        Step::Done(outcome) => *outcome,
        Step::Failed(failure) => panic!("{}", failure.message),
        Step::Needs(_) => unreachable!("a Template refers to no other"),
    }
}

fn failed(text: &str, values: Value) -> Failure {
    match run(text, values) {
        Step::Failed(failure) => failure,
        Step::Done(outcome) => panic!("{} objects", outcome.objects.len()),
        Step::Needs(_) => unreachable!("a Template refers to no other"),
    }
}

fn said(failure: &Failure) -> Vec<&str> {
    failure.problems.iter().map(|problem| problem.message.as_str()).collect()
}

/// An OpenShift Template with one ConfigMap.
fn template(parameters: &str, data: &str) -> String {
    format!(
        "apiVersion: template.openshift.io/v1\nkind: Template\nmetadata: {{name: t}}\nparameters: {parameters}\nobjects:\n- {{apiVersion: v1, kind: ConfigMap, metadata: {{name: c}}, data: {data}}}\n"
    )
}

fn generated(from: &str) -> String {
    template(&format!("[{{name: P, generate: expression, from: {}}}]", json!(from)), "{x: '${P}'}")
}

#[test]
fn attack_row_24_generators_that_ask_for_millions_of_characters() {
    for (from, words) in [
        ("[a]{1000000}".to_owned(), "malformed expresion syntax: [a]"),
        ("[a-z]{1000000}".to_owned(), "range must be within [1-255] characters (1000000)"),
        ("[a-z]{99999999999999999999999999}".to_owned(), "range must be within [1-255]"),
        ("[a-z]{255}".repeat(100_000), "more than"),
        ("x".repeat(2 << 20), "more than"),
        ("[".repeat(1 << 20), "more than"),
    ] {
        let failure = failed(&generated(&from), Value::Null);
        assert!(
            failure.message.contains(words) && failure.message.contains("parameter P"),
            "{}",
            failure.message
        );
        assert!(failure.message.len() < 500, "the message repeats what it is about");
    }
    // An open range, and one that is no range, are text, and that is said.
    for from in ["[a-z]{1,}", "[a-z]{,9}", "[a-z]{", "[a-z]+"] {
        let outcome = done(&generated(from), Value::Null);
        assert_eq!(outcome.objects[0]["data"]["x"], from);
        assert!(outcome.diagnostics[0].message.contains("is a constant"), "{:?}", outcome.diagnostics);
    }
}

#[test]
fn attack_row_24_many_generators_are_bounded_together() {
    let mut parameters = String::from("[");
    for number in 0..2_000 {
        let _ = write!(
            parameters,
            "{{name: P{number}, generate: expression, from: '{}'}}, ",
            "[a-z]{255}".repeat(200)
        );
    }
    parameters.push(']');
    let failure = failed(&template(&parameters, "{x: y}"), Value::Null);
    assert!(
        failure.message.starts_with("the generated values are larger than 8388608 bytes together"),
        "{}",
        failure.message
    );
}

#[test]
fn attack_row_24_generated_values_are_secret_and_differ() {
    let text = generated("[a-zA-Z0-9]{32}");
    let outcome = done(&text, json!({"seed": "a"}));
    let value = outcome.objects[0]["data"]["x"].as_str().unwrap().to_owned();
    assert_eq!(outcome.generated, ["P"]);
    // Not in what is said about it, which is logged and shown.
    assert!(
        !format!("{:?}{:?}{:?}", outcome.diagnostics, outcome.outputs, outcome.generated).contains(&value)
    );
    assert_ne!(value, done(&text, json!({"seed": "b"})).objects[0]["data"]["x"]);
}

/// Objects as a stream for kubectl, and what is read of it.
fn round_trip(objects: &[Value]) -> Vec<Value> {
    let stream = objects.iter().fold(String::new(), |mut stream, object| {
        let _ = write!(stream, "---\n{}", yaml::to_yaml(&yaml::Value::from_json(object.clone())));
        stream
    });
    let documents = yaml::load_stream(&stream, &yaml::Options::kubernetes()).unwrap();
    documents.into_iter().map(|document| document.value.to_json()).collect()
}

const INJECTIONS: &[&str] = &[
    "x\n---\napiVersion: v1\nkind: Secret\nmetadata: {name: evil}\n",
    "\"\nkind: Secret\n\"",
    "'}, kind: Secret, x: {y: '",
    "&anchor x",
    "*anchor",
    "<<: *all",
    "!!python/object/apply:os.system [id]",
    "x # comment",
    "{\"a\": 1}",
    "| \n  block",
    "\u{feff}---\n",
    "...\n--- ",
    "${P}$(P)${{P}}$((P))",
    "%YAML 1.1\n---",
    "\u{2028}\u{85}\n",
];

#[test]
fn attack_row_25_values_stay_values_in_both_notations() {
    for value in INJECTIONS {
        for (api_version, quoted, unquoted) in
            [("template.openshift.io/v1", "${P}", "${{P}}"), ("v1", "$(P)", "$((P))")]
        {
            let object = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"},
                "data": {"a": quoted, "b": format!("x {quoted} y"), "c": unquoted, quoted: "key"}});
            let text = json!({"apiVersion": api_version, "kind": "Template", "objects": [object],
                "parameters": [{"name": "P"}]})
            .to_string();
            let outcome = done(&text, json!({"parameters": {"P": value}}));
            let [object] = outcome.objects.as_slice() else { panic!("{value:?} made objects") };
            assert_eq!(object["data"]["a"], *value);
            assert_eq!(object["data"]["b"], format!("x {value} y"));
            assert_eq!(object["data"][value], "key");
            assert_eq!(object["kind"], "ConfigMap");
            assert_eq!(object.as_object().unwrap().len(), 4);
            // A value without quotes is JSON of OpenShift's, a number or boolean of the proposal's, or text.
            let c = &object["data"]["c"];
            assert!(c == value || (api_version != "v1" && *value == "{\"a\": 1}" && c["a"] == 1), "{c}");
            assert_eq!(round_trip(&outcome.objects), outcome.objects, "{value:?}");
        }
    }
}

#[test]
fn attack_row_25_types_are_checked_before_anything_is_replaced() {
    let text = "apiVersion: v1\nkind: Template\nparameters: [{name: COUNT, type: int}, {name: B, type: bool}]\nobjects: [{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {n: $((COUNT)), b: $((B))}}]\n";
    for value in INJECTIONS {
        let failure = failed(text, json!({"parameters": {"COUNT": value, "B": value}}));
        assert_eq!((failure.cause, failure.problems.len()), (Cause::Values, 2), "{value:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever a value is: as many documents as objects, and they are read as what they are.
    #[test]
    fn attack_row_25_no_value_makes_a_document(value in "(\\PC|[\n\t:#&*!|>'\"%@`{}\\[\\],-]){0,40}") {
        let text = template("[{name: P}]", "{a: '${P}', b: 'x${P}', '${P}k': z}");
        let outcome = done(&text, json!({"parameters": {"P": value}}));
        prop_assert_eq!(round_trip(&outcome.objects), outcome.objects);
    }
}

#[test]
fn what_crashes_the_original_is_an_error_with_its_place() {
    let failure = failed(&template("[{name: P, value: '{\"a\": 1}'}]", "{'${{P}}': x}"), Value::Null);
    assert!(failure.message.contains("a key must be a text"), "{}", failure.message);
    let failure = failed(&template("[{name: P, value: 'null'}]", "[a, '${{P}}']"), Value::Null);
    assert!(failure.message.contains("a reference in a list has the value null"), "{}", failure.message);
    let failure = failed(&template("[{name: A, value: x}]", "{'${A}': 1, x: 2}"), Value::Null);
    assert!(failure.message.contains("two keys are `x`"), "{}", failure.message);
    assert!(failure.problems.iter().all(|problem| problem.line == Some(6)), "{failure:?}");
    let failure = failed(&generated("[z-a]{3}"), Value::Null);
    assert!(failure.message.contains("invalid range specified: z-a"), "{}", failure.message);
    assert_eq!(done(&generated("[a-a]{3}"), Value::Null).objects[0]["data"]["x"], "aaa");
}

#[test]
fn parameters_with_bad_names_and_declared_twice_are_named() {
    let text = template(
        "[{name: A-B, value: x}, {name: '', value: x}, {name: C, value: x}, {name: C, value: z}]",
        "{x: '${C}'}",
    );
    let outcome = done(&text, Value::Null);
    let said = outcome.diagnostics.iter().map(|problem| problem.message.as_str()).collect::<Vec<_>>();
    assert_eq!(
        said,
        [
            "parameter C is declared twice; the last declaration counts",
            "no reference can name the parameter `A-B`, so its value goes nowhere",
            "no reference can name the parameter ``, so its value goes nowhere",
        ]
    );
}

#[test]
fn ten_thousand_objects_are_processed_and_one_more_is_named() {
    let many = |count: usize| {
        let mut text =
            "apiVersion: template.openshift.io/v1\nkind: Template\nparameters: [{name: P, value: v}]\nobjects:\n".to_owned();
        for number in 0..count {
            let _ =
                writeln!(text, "- {{apiVersion: v1, kind: Secret, metadata: {{name: 's{number}-${{P}}'}}}}");
        }
        text
    };
    let outcome = done(&many(10_000), Value::Null);
    assert_eq!(
        (outcome.objects.len(), &outcome.objects[9_999]["metadata"]["name"]),
        (10_000, &json!("s9999-v"))
    );
    let failure = failed(&many(10_001), Value::Null);
    assert_eq!(failure.cause, Cause::Limit);
    assert_eq!(said(&failure), ["the template has 10001 objects; at most 10000 are processed"]);
}

#[test]
fn large_templates_values_and_outputs_are_named() {
    let failure = failed(&template("[]", &format!("{{x: {}}}", "y".repeat(10 << 20))), Value::Null);
    assert!(failure.message.contains("bytes"), "{}", failure.message);
    let references = "'${P}', ".repeat(10_000);
    let text =
        template(&format!("[{{name: P, value: {}}}]", "x".repeat(100_000)), &format!("[{references}]"));
    let failure = failed(&text, Value::Null);
    assert_eq!(failure.cause, Cause::Limit);
    assert_eq!(said(&failure), ["the objects are larger than 8388608 bytes together"]);
}

#[test]
fn deep_nesting_is_named_in_templates_and_in_values() {
    let deep = |count: usize| format!("{}{}", "[".repeat(count), "]".repeat(count));
    let failure = failed(&template("[]", &deep(5_000)), Value::Null);
    assert!(failure.message.contains("deep") || failure.message.contains("level"), "{}", failure.message);
    // JSON in a value is read to a depth of its own; deeper it is text, as anything that is no JSON.
    let text = template(&format!("[{{name: P, value: '{}'}}]", deep(5_000)), "{x: '${{P}}'}");
    assert!(done(&text, Value::Null).objects[0]["data"]["x"].is_string());
}

#[test]
fn thousands_of_undefined_references_are_listed_up_to_a_number() {
    let mut data = "{".to_owned();
    for number in 0..20_000 {
        let _ = write!(data, "k{number}: '${{NAME_{number}}}', ");
    }
    data.push('}');
    let text = template("[{name: NAME_X, value: x}]", &data);
    let outcome = done(&text, Value::Null);
    assert_eq!(outcome.objects[0]["data"]["k7"], "${NAME_7}");
    assert!(outcome.diagnostics.len() <= 300, "{}", outcome.diagnostics.len());
    let failure = failed(&text, json!({"strict": true}));
    assert!(failure.problems.len() <= 300 && failure.cause == Cause::Template);
}
