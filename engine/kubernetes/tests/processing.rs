//! What the recorded runs cannot show: the proposal's notation and its own example, the choice of the notation, places
//! and hints of problems, budgets, seeds, instances.

use schema::Kind;
use schema::limits::Budget;
use schema::processing::{Cause, Failure, Outcome, Request, Step, Template};
use serde_json::{Value, json};

fn run(text: &str, request: &Request, budget: &Budget) -> Step {
    let files = [("t.yaml", text.as_bytes().to_vec())].into_iter().collect();
    let template = Template {
        name: "t".to_owned(),
        kind: Kind::Template,
        entry: "t.yaml".to_owned(),
        files,
        jinja2: false,
    };
    engine_kubernetes::process(&template, request, &[], budget)
}

fn request(values: Value) -> Request {
    Request { values, entropy: "00".repeat(32), ..Request::default() }
}

fn done(text: &str, values: Value) -> Outcome {
    match run(text, &request(values), &Budget::default()) {
        Step::Done(outcome) => *outcome,
        other => panic!("{other:?}"),
    }
}

fn failed(text: &str, values: Value) -> Failure {
    match run(text, &request(values), &Budget::default()) {
        Step::Failed(failure) => failure,
        other => panic!("{other:?}"),
    }
}

/// The proposal's example, with the brackets it leaves out.
const MONGODB: &str = r#"
kind: Template
apiVersion: v1
metadata: {name: mongodb-ephemeral, annotations: {description: Provides a MongoDB database service}}
labels: {template: mongodb-ephemeral-template}
objects:
- kind: Service
  apiVersion: v1
  metadata: {name: $(DATABASE_SERVICE_NAME)}
  spec:
    ports: [{name: mongo, protocol: TCP, targetPort: 27017}]
    selector: {name: $(DATABASE_SERVICE_NAME)}
- kind: ReplicationController
  apiVersion: v1
  metadata: {name: $(DATABASE_SERVICE_NAME)}
  spec:
    replicas: $((REPLICA_COUNT))
    selector: {name: $(DATABASE_SERVICE_NAME)}
    template:
      metadata: {creationTimestamp: null, labels: {name: $(DATABASE_SERVICE_NAME)}}
      spec:
        containers:
        - name: mongodb
          image: docker.io/centos/mongodb-26-centos7
          ports: [{containerPort: 27017, protocol: TCP}]
          env:
          - {name: MONGODB_USER, value: $(MONGODB_USER)}
          - {name: MONGODB_PASSWORD, value: $(MONGODB_PASSWORD)}
          - {name: MONGODB_DATABASE, value: $(MONGODB_DATABASE)}
parameters:
- {name: DATABASE_SERVICE_NAME, description: Database service name, value: mongodb, required: true}
- {name: MONGODB_USER, description: Username, value: username, required: true}
- {name: MONGODB_PASSWORD, description: Password for the MongoDB user, required: true}
- {name: MONGODB_DATABASE, description: Database name, value: sampledb, required: true}
- {name: REPLICA_COUNT, description: Number of mongo replicas to run, value: '1', required: true}
"#;

#[test]
fn the_proposals_example() {
    let outcome = done(MONGODB, json!({"parameters": {"MONGODB_PASSWORD": "p", "REPLICA_COUNT": 3}}));
    let dialect = outcome.dialect.unwrap();
    assert_eq!((&*dialect.name, &*dialect.chosen), ("kubernetes", "only $(…) names declared parameters"));
    let [service, controller] = outcome.objects.as_slice() else { panic!("two objects") };
    let labels = json!({"name": "mongodb", "template": "mongodb-ephemeral-template"});
    assert_eq!(service["spec"]["selector"], labels);
    assert_eq!(controller["spec"]["selector"], labels);
    assert_eq!(controller["spec"]["template"]["metadata"]["labels"], labels);
    assert_eq!(controller["spec"]["replicas"], 3);
    let env = &controller["spec"]["template"]["spec"]["containers"][0]["env"];
    assert_eq!(env[1], json!({"name": "MONGODB_PASSWORD", "value": "p"}));
    assert!(outcome.diagnostics.is_empty(), "{:?}", outcome.diagnostics);
}

#[test]
fn what_is_missing_is_named_with_its_place_and_what_to_do() {
    let failure = failed(MONGODB, json!({"parameters": {"MONGODB_PASWORD": "p", "REPLICA_COUNT": {"a": 1}}}));
    assert_eq!(failure.cause, Cause::Values);
    let [unknown, missing] = failure.problems.as_slice() else { panic!("{failure:?}") };
    assert_eq!(unknown.message, "unknown parameter name \"MONGODB_PASWORD\"");
    assert_eq!(unknown.hint.as_deref(), Some("did you mean MONGODB_PASSWORD?"));
    assert_eq!(
        (unknown.file.as_deref(), unknown.pointer.as_deref()),
        (Some("values"), Some("/parameters/MONGODB_PASWORD"))
    );
    assert_eq!(
        missing.message,
        "template.parameters[2]: parameter MONGODB_PASSWORD is required and must be specified"
    );
    assert_eq!((missing.file.as_deref(), missing.line, missing.column), (Some("t.yaml"), Some(33), Some(3)));
}

/// A template of one ConfigMap, `head` before it.
fn small(head: &str, data: &str) -> String {
    format!(
        "kind: Template\n{head}\nobjects:\n- {{apiVersion: v1, kind: ConfigMap, metadata: {{name: c}}, data: {data}}}\n"
    )
}

#[test]
fn the_notation_is_told_or_asked_for() {
    let parameters = "parameters: [{name: A, value: a}]";
    let chosen = |text: &str, values: Value| done(text, values).dialect.unwrap().name;
    assert_eq!(
        chosen(&small(&format!("apiVersion: v1\n{parameters}"), "{x: '${A} $(B)'}"), Value::Null),
        "openshift"
    );
    assert_eq!(
        chosen(&small(&format!("apiVersion: v1\n{parameters}"), "{x: '$(A) ${B}'}"), Value::Null),
        "kubernetes"
    );
    let grouped = small(&format!("apiVersion: template.openshift.io/v1\n{parameters}"), "{x: '$(A) ${A}'}");
    assert_eq!(chosen(&grouped, Value::Null), "openshift");
    assert_eq!(chosen(&grouped, json!({"dialect": "kubernetes"})), "kubernetes");
    let both = small(&format!("apiVersion: v1\n{parameters}"), "{x: '$(A) ${A}'}");
    let failure = failed(&both, Value::Null);
    assert!(failure.cause == Cause::Values && failure.message.contains("cannot be told"), "{failure:?}");
    assert_eq!(chosen(&both, json!({"dialect": "openshift"})), "openshift");
    let annotated = small(
        &format!("apiVersion: v1\nmetadata: {{annotations: {{formwork/dialect: kubernetes}}}}\n{parameters}"),
        "{x: '$(A) ${A}'}",
    );
    assert_eq!(done(&annotated, Value::Null).objects[0]["data"]["x"], "a ${A}");
    assert_eq!(failed(&both, json!({"dialect": "x"})).message, "`x` is not a dialect");
}

#[test]
fn types_of_the_proposal_are_checked() {
    let head =
        "apiVersion: v1\nparameters: [{name: I, type: int}, {name: B, type: bool}, {name: S, type: base64}]";
    let text = small(head, "{i: $((I)), b: $((B)), s: $(S)}");
    let outcome =
        done(&text, json!({"parameters": {"I": 9_007_199_254_740_993_i64, "B": true, "S": "aGk="}}));
    assert_eq!(outcome.objects[0]["data"], json!({"b": true, "i": 9_007_199_254_740_993_i64, "s": "aGk="}));
    let failure = failed(&text, json!({"parameters": {"I": "1.5", "B": "yes", "S": "h"}}));
    assert_eq!(failure.problems.len(), 3, "{failure:?}");
}

#[test]
fn undefined_references_are_listed_or_refused() {
    let text = small(
        "apiVersion: template.openshift.io/v1\nparameters: [{name: NAME, value: a}]",
        "{x: '${NAMME} ${HOME}'}",
    );
    let outcome = done(&text, Value::Null);
    let said = outcome
        .diagnostics
        .iter()
        .map(|d| (d.message.as_str(), d.hint.as_deref().unwrap()))
        .collect::<Vec<_>>();
    assert_eq!(said[1], ("${NAMME} names no declared parameter", "did you mean NAME?"));
    assert_eq!(outcome.diagnostics[1].line, Some(5));
    let failure = failed(&text, json!({"strict": true}));
    assert_eq!((failure.cause, failure.problems.len()), (Cause::Template, 2));
}

#[test]
fn what_is_wrong_with_values_objects_and_references_is_said_in_one_go() {
    let text = "apiVersion: template.openshift.io/v1\nkind: Template\nparameters: [{name: NEEDED, required: true}]\nobjects:\n- {apiVersion: v1, metadata: {name: '${NEEDED}'}}\n- 5\n- {apiVersion: v1, kind: Secret, metadata: {name: '${NEDED}'}}\n";
    let failure = failed(text, json!({"strict": true, "parameters": {"OTHER": "x"}}));
    let said = failure.problems.iter().map(|one| (one.message.as_str(), one.line)).collect::<Vec<_>>();
    assert_eq!(
        said,
        [
            ("unknown parameter name \"OTHER\"", None),
            ("template.parameters[0]: parameter NEEDED is required and must be specified", Some(3)),
            ("unable to handle object: Object 'Kind' is missing", Some(5)),
            ("unable to handle object: it is of type integer, not a map", Some(6)),
            ("${NEDED} names no declared parameter", Some(7)),
        ]
    );
}

#[test]
fn generated_values_are_named_and_repeat_with_a_seed() {
    let head = "apiVersion: template.openshift.io/v1\nparameters: [{name: P, generate: expression, from: '[a-z0-9]{20}'}, {name: Q, generate: expression, from: '[a-z0-9]{20}'}]";
    let text = small(head, "{p: '${P}', q: '${Q}'}");
    let one = done(&text, json!({"seed": "s"}));
    assert_eq!(one.generated, ["P", "Q"]);
    assert_eq!(one.objects, done(&text, json!({"seed": "s"})).objects);
    assert_ne!(one.objects[0]["data"]["p"], one.objects[0]["data"]["q"]);
    assert_ne!(one.objects, done(&text, json!({"seed": "other"})).objects);
    assert_ne!(one.objects, done(&text, Value::Null).objects);
    let without = Request { entropy: String::new(), ..Request::default() };
    assert!(matches!(run(&text, &without, &Budget::default()), Step::Failed(_)));
}

#[test]
fn budgets_hold() {
    let budget = Budget { output: 10_000, objects: 2, ..Budget::default() };
    let references = "'${A}', ".repeat(100);
    let head = format!(
        "apiVersion: template.openshift.io/v1\nparameters: [{{name: A, value: {}}}]",
        "x".repeat(1_000)
    );
    let Step::Failed(failure) = run(&small(&head, &format!("[{references}]")), &Request::default(), &budget)
    else {
        panic!("too large")
    };
    assert_eq!(failure.cause, Cause::Limit);
    let many = format!("kind: Template\napiVersion: v1\nobjects: [{}]\n", "{kind: A}, ".repeat(3));
    let Step::Failed(failure) = run(&many, &Request::default(), &budget) else { panic!("too many") };
    assert_eq!(failure.cause, Cause::Limit);
    let deep = format!(
        "apiVersion: template.openshift.io/v1\nparameters: [{{name: A, value: '{}{}'}}]",
        "[".repeat(120),
        "]".repeat(120)
    );
    assert!(matches!(
        run(&small(&deep, "{x: '${{A}}'}"), &Request::default(), &Budget::default()),
        Step::Done(_)
    ));
}

#[test]
fn an_instance_is_labelled_and_the_answer_names_its_selector() {
    let outcome =
        done(MONGODB, json!({"parameters": {"MONGODB_PASSWORD": "p"}, "instance": "one", "namespace": "n"}));
    assert_eq!(outcome.outputs, Some(json!({"selector": "formwork/instance=one"})));
    for object in &outcome.objects {
        assert_eq!(object["metadata"]["labels"]["formwork/instance"], "one");
        assert_eq!(object["metadata"]["namespace"], "n");
    }
    let template =
        done(MONGODB, json!({"parameters": {"MONGODB_PASSWORD": "p"}, "output": "Template"})).original;
    assert_eq!((&template["kind"], &template["parameters"][2]["value"]), (&json!("Template"), &json!("p")));
    assert_eq!(template["objects"][0]["metadata"]["name"], "mongodb");
}

/// Pieces of Templates in flow style, put together at random.
const PIECES: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ", ",
    ": ",
    "kind",
    "Template",
    "apiVersion",
    "v1",
    "template.openshift.io/v1",
    "objects",
    "parameters",
    "labels",
    "message",
    "metadata",
    "annotations",
    "name",
    "value",
    "generate",
    "expression",
    "from",
    "'[a-z]{3}'",
    "'[Z-A]{3}'",
    "required",
    "true",
    "'${A}'",
    "'${{A}}'",
    "$(A)",
    "$((A))",
    "'$$(A)'",
    "A",
    "5",
    "null",
    "spec",
    "containers",
    "env",
    "args",
    "selector",
    "namespace",
    "items",
];

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig { cases: 2_000, failure_persistence: None, ..Default::default() })]

    /// Whatever a Template is, processing and inspecting it ends, in a result or in problems that are said.
    #[test]
    fn any_template_is_answered(pieces in proptest::collection::vec(proptest::sample::select(PIECES), 0..24)) {
        let body = pieces.concat();
        for text in [body.clone(), format!("{{kind: Template, apiVersion: v1, parameters: [{{name: A, value: x}}], objects: [{{kind: Pod, spec: {body}}}]}}")] {
            match run(&text, &request(Value::Null), &Budget::default()) {
                Step::Failed(failure) => assert!(!failure.message.is_empty()),
                Step::Done(outcome) => assert!(outcome.dialect.is_some()),
                Step::Needs(_) => unreachable!("a Template refers to no other"),
            }
            let files = [("t.yaml", text.into_bytes())].into_iter().collect();
            let template = Template { name: "t".to_owned(), kind: Kind::Template, entry: "t.yaml".to_owned(), files, jinja2: false };
            assert!(engine_kubernetes::inspect(&template).parameters.is_object());
        }
    }
}
