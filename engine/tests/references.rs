//! Templates that refer to templates: asked for, nested, of other kinds, in circles.

use schema::limits::Budget;
use schema::processing::{Cause, Outcome, Provided, Request, Step, Template};
use schema::{Digest, Kind};
use serde_json::json;

fn template(name: &str, kind: Kind, text: &str) -> Template {
    let extension = match kind {
        Kind::DmJinja => "jinja",
        Kind::DmPython => "py",
        _ => "yaml",
    };
    let entry = format!("{name}.{extension}");
    let files = [(entry.clone(), text.as_bytes().to_vec())].into_iter().collect();
    Template { name: name.to_owned(), kind, entry, files, jinja2: false }
}

fn provided(asked: &str, template: Template) -> Provided {
    Provided {
        asked: asked.to_owned(),
        version: "v1.0.0".to_owned(),
        digest: Digest::of(asked.as_bytes()),
        template,
    }
}

fn run(template: &Template, request: &Request, provided: &[Provided]) -> Step {
    engine::process(template, request, provided, &Budget::default(), &engine::NoInterpreter)
}

fn done(step: Step) -> Outcome {
    match step {
        Step::Done(outcome) => *outcome,
        other => panic!("{other:?}"),
    }
}

#[test]
fn references_are_asked_for_together_and_named_in_the_answer() {
    let text = "resources:\n- {name: a, type: 'redis:v1'}\n- {name: b, type: 'github.com/o/r/c/web:v1.1'}\n- {name: c, type: 'redis:v1'}\n- {name: d, type: v1/Pod}\n";
    let outer = template("outer", Kind::DmJinja, text);
    let request = Request::default();
    assert_eq!(
        run(&outer, &request, &[]),
        Step::Needs(vec!["redis:v1".to_owned(), "github.com/o/r/c/web:v1.1".to_owned()])
    );
    let redis = provided(
        "redis:v1",
        template("redis", Kind::DmJinja, "resources:\n- {name: '{{ env.name }}-x', type: 'base:v2'}\n"),
    );
    let web = provided(
        "github.com/o/r/c/web:v1.1",
        template("web", Kind::DmJinja, "resources: [{name: web, type: vm}]\n"),
    );
    assert_eq!(run(&outer, &request, &[redis.clone(), web.clone()]), Step::Needs(vec!["base:v2".to_owned()]));
    let base = provided(
        "base:v2",
        template("base", Kind::DmJinja, "resources: [{name: '{{ env.name }}-y', type: vm}]\n"),
    );
    let outcome = done(run(&outer, &request, &[redis, web, base]));
    let names = outcome.objects.iter().map(|object| object["name"].as_str().unwrap()).collect::<Vec<_>>();
    assert_eq!(names, ["a-x-y", "web", "c-x-y", "d"]);
    assert_eq!(
        outcome.resolved.iter().map(|one| one.asked.as_str()).collect::<Vec<_>>(),
        ["redis:v1", "base:v2", "github.com/o/r/c/web:v1.1"]
    );
    let layout = outcome.layout.unwrap();
    assert_eq!(layout["resources"][0]["resources"][0]["resources"][0]["resources"][0]["name"], "a-x-y");
}

#[test]
fn circles_are_named() {
    let a = template("a", Kind::DmJinja, "resources: [{name: x, type: 'b:v1'}]\n");
    let b = provided("b:v1", template("b", Kind::DmJinja, "resources: [{name: x, type: 'a:v1'}]\n"));
    let again = provided("a:v1", a.clone());
    let Step::Failed(failure) = run(&a, &Request::default(), &[b, again]) else { panic!("it ends") };
    assert!(
        failure.message.contains("without end") && failure.message.contains("x (b:v1) > x (a:v1)"),
        "{}",
        failure.message
    );
    // One that changes its properties each time is stopped by depth.
    let text = "resources: [{name: '{{ env.name }}x', type: grow.jinja, properties: {n: {{ (properties.n or 0) + 1 }} }}]\n";
    let Step::Failed(failure) = run(
        &template("grow", Kind::DmJinja, text),
        &Request { values: json!({"properties": {"n": 0}}), ..Request::default() },
        &[],
    ) else {
        panic!("it ends")
    };
    assert!(failure.message.contains("nested more than"), "{}", failure.message);
}

#[test]
fn a_type_may_be_a_template_of_another_kind() {
    let outer = template(
        "outer",
        Kind::DmJinja,
        "resources:\n- name: cache\n  type: redis:v1\n  properties: {NAME: '{{ env.name }}', PORT: 6379}\n",
    );
    let text = "apiVersion: template.openshift.io/v1\nkind: Template\nmetadata: {name: redis}\nparameters: [{name: NAME, required: true}, {name: PORT}]\n\
                objects:\n- apiVersion: v1\n  kind: Service\n  metadata: {name: '${NAME}'}\n  spec: {ports: [{port: '${{PORT}}'}]}\n";
    let redis = provided("redis:v1", template("redis", Kind::Template, text));
    let request = Request {
        labels: vec![("l".to_owned(), "v".to_owned())],
        namespace: Some("n".to_owned()),
        ..Request::default()
    };
    let outcome = done(run(&outer, &request, std::slice::from_ref(&redis)));
    let expected = json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "outer", "labels": {"l": "v"}, "namespace": "n"}, "spec": {"ports": [{"port": 6379}]}});
    assert_eq!(outcome.objects, [expected]);
    assert_eq!(outcome.original["resources"][0]["type"], "Service");
    let broken = template(
        "outer",
        Kind::DmJinja,
        "resources:\n- {name: cache, type: 'redis:v1', properties: {NOME: x}}\n",
    );
    let Step::Failed(failure) = run(&broken, &Request::default(), &[redis]) else { panic!("it fails") };
    assert_eq!(failure.problems.len(), 2, "{failure:?}");
    assert!(
        failure
            .problems
            .iter()
            .any(|problem| problem.message.starts_with("redis:v1: unknown parameter name \"NOME\""))
    );
}

#[test]
fn what_cannot_be_processed_says_so() {
    for kind in [Kind::DmPython, Kind::Chart, Kind::ServiceBroker, Kind::InteroperatorPlan] {
        let Step::Failed(failure) = run(&template("x", kind, ""), &Request::default(), &[]) else {
            panic!("{kind:?}")
        };
        assert_eq!(failure.cause, Cause::Unsupported);
        assert!(!engine::can_process(kind, false));
    }
}

#[test]
fn urls_are_asked_for_like_references() {
    let text = "resources: [{name: a, type: 'https://h.example/t/y.jinja'}, {name: b, type: 'https://h.example/u/y.jinja'}]";
    let outer = template("u", Kind::DmJinja, text);
    let needed = ["t", "u"].map(|directory| format!("https://h.example/{directory}/y.jinja"));
    assert_eq!(run(&outer, &Request::default(), &[]), Step::Needs(needed.to_vec()));
    let inner = "resources: [{name: '{{ env.name }}-y', type: vm}]";
    let found = needed.map(|url| provided(&url, template("y", Kind::DmJinja, inner)));
    let outcome = done(run(&outer, &Request::default(), &found));
    assert_eq!(outcome.original["resources"][1]["name"], "b-y");
    assert_eq!(outcome.resolved.len(), 2);
}

#[test]
fn outputs_are_returned_and_references_checked() {
    let text = "resources:\n- {name: inner, type: in.jinja}\n- {name: z, type: vm, properties: {x: $(ref.nope.y)}}\noutputs:\n- {name: port, value: $(ref.inner.port)}\n";
    let files = [
        ("out.jinja", text),
        ("in.jinja", "resources: [{name: i, type: vm}]\noutputs: [{name: port, value: 80}]\n"),
    ];
    let files = files.into_iter().map(|(name, text)| (name, text.as_bytes().to_vec())).collect();
    let template = Template {
        name: "out".to_owned(),
        kind: Kind::DmJinja,
        entry: "out.jinja".to_owned(),
        files,
        jinja2: false,
    };
    let outcome = done(run(&template, &Request::default(), &[]));
    assert_eq!(outcome.outputs, Some(json!({"port": 80})));
    assert!(outcome.diagnostics[0].message.contains("Invalid resource name in reference: nope"));
}
