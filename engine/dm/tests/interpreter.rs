//! What an interpreter is asked and what is made of its answers, with one that answers by rote. With real Python the
//! recordings are replayed where there is one.

use std::cell::RefCell;
use std::collections::BTreeMap;

use engine_dm::{Call, Interpreter, InterpreterError, Language, Made, Returned};
use schema::limits::Budget;
use schema::processing::{Cause, Failure, Outcome, Provided, Request, Step, Template};
use schema::{Digest, Kind};
use serde_json::{Value, json};

type Answer = Result<Returned, InterpreterError>;

/// Answers by the template's name, and keeps what it was asked.
#[derive(Default)]
struct Rote {
    answers: BTreeMap<&'static str, Answer>,
    asked: RefCell<Vec<Value>>,
}

impl Rote {
    fn answering(mut self, file: &'static str, answer: impl Into<Returned>) -> Rote {
        self.answers.insert(file, Ok(answer.into()));
        self
    }

    fn failing(mut self, file: &'static str, error: InterpreterError) -> Rote {
        self.answers.insert(file, Err(error));
        self
    }
}

impl Interpreter for Rote {
    fn call(&self, call: &Call<'_>) -> Answer {
        self.asked.borrow_mut().push(json!({
            "file": call.file,
            "jinja": call.language == Language::Jinja,
            "source": call.source,
            "properties": call.properties,
            "env": call.env,
            "imports": call.imports.keys().collect::<Vec<_>>(),
        }));
        self.answers.get(call.file).cloned().expect("the test has an answer for every template")
    }
}

fn text(text: &str) -> Made {
    Made::Text(text.to_owned())
}

fn template(kind: Kind, entry: &str, files: &[(&str, &str)]) -> Template {
    let files = files.iter().map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec())).collect();
    Template { name: "t".to_owned(), kind, entry: entry.to_owned(), files, jinja2: false }
}

fn run(template: &Template, provided: &[Provided], rote: &Rote) -> Step {
    let request = Request::default();
    engine_dm::process(template, &request, provided, &Budget::default(), rote, &engine_dm::no_others)
}

fn done(step: Step) -> Outcome {
    match step {
        Step::Done(outcome) => *outcome,
        other => panic!("{other:?}"),
    }
}

fn failed(step: Step) -> Failure {
    match step {
        Step::Failed(failure) => failure,
        other => panic!("{other:?}"),
    }
}

#[test]
fn python_and_jinja_nest_in_both_directions() {
    let files = [
        ("t.py", "python"),
        (
            "t.py.schema",
            "imports: [{path: lib/help.py, name: help.py}]\nproperties: {n: {type: integer, default: 3}}",
        ),
        ("lib/help.py", ""),
        (
            "mid.jinja",
            "resources: [{name: '{{ env.name }}-x', type: leaf.py, properties: {n: {{ properties.n }}}}]",
        ),
        ("leaf.py", "leaf"),
    ];
    let made = json!({"resources": [{"name": "mid", "type": "mid.jinja", "properties": {"n": 4}}]});
    let rote = Rote::default()
        .answering("t.py", Made::Value(made))
        .answering("leaf.py", text("resources:\n- {name: yes, type: vm}\noutputs:\n- {name: o, value: 1}\n"));
    let outcome = done(run(&template(Kind::DmPython, "t.py", &files), &[], &rote));
    // What was text is read by the rules of PyYAML: a name that says yes is true.
    assert_eq!(outcome.original, json!({"resources": [{"name": true, "type": "vm"}]}));
    assert_eq!(outcome.layout.unwrap()["resources"][0]["properties"], json!({"n": 3}));
    let asked = rote.asked.borrow();
    assert_eq!(asked[0]["properties"], json!({"n": 3}), "with defaults");
    assert_eq!(
        asked[0]["imports"],
        json!(["help.py", "leaf.py", "lib/help.py", "mid.jinja", "t.py", "t.py.schema"])
    );
    assert_eq!(
        asked[1]["env"],
        json!({"deployment": "t", "project": "t", "name": "mid-x", "type": "leaf.py"})
    );
    assert_eq!(asked[1]["properties"], json!({"n": 4}));
}

#[test]
fn absent_properties_are_none_and_empty_ones_are_not() {
    let config = "resources: [{name: a, type: t.py}, {name: b, type: t.py, properties: {}}]";
    let files = [("c.yaml", config), ("t.py", "")];
    let rote = Rote::default().answering("t.py", text("resources: []"));
    done(run(&template(Kind::DmConfiguration, "c.yaml", &files), &[], &rote));
    let asked = rote.asked.borrow();
    assert_eq!((&asked[0]["properties"], &asked[1]["properties"]), (&Value::Null, &json!({})));
}

#[test]
fn what_a_template_changes_stays_changed() {
    let config = "resources: [{name: a, type: t.py, properties: {x: 1}}, {name: b, type: u.jinja}]";
    let show = "resources: [{name: '{{ env.deployment }}', type: vm}]";
    let files = [("c.yaml", config), ("t.py", ""), ("u.jinja", show)];
    let rote = Rote::default().answering(
        "t.py",
        Returned {
            made: text("resources: []"),
            properties: Some(json!({"x": 1, "added": [1]})),
            env: Some(json!({"deployment": "changed", "project": "t", "name": "a", "type": "t.py"})),
        },
    );
    let outcome = done(run(&template(Kind::DmConfiguration, "c.yaml", &files), &[], &rote));
    assert_eq!(outcome.original["resources"][0]["name"], "changed");
}

#[test]
fn provided_templates_run_too_and_jinja2_renders_where_it_must() {
    let outer = template(
        Kind::DmJinja,
        "t.jinja",
        &[("t.jinja", "resources: [{name: a, type: 'p:v1'}, {name: b, type: 'j:v1'}]")],
    );
    let provided = |asked: &str, template: Template| Provided {
        asked: asked.to_owned(),
        version: "v1".to_owned(),
        digest: Digest::of(asked.as_bytes()),
        template,
    };
    let python = template(
        Kind::DmPython,
        "p.py",
        &[("p.py", ""), ("sub.jinja", "resources: [{name: own, type: vm}]")],
    );
    let files = [("j.jinja", "{{ hard }}"), ("sub.jinja", "{{ hard }}")];
    let jinja = Template { jinja2: true, ..template(Kind::DmJinja, "j.jinja", &files) };
    let rote = Rote::default()
        .answering("p.py", text("resources: [{name: s, type: sub.jinja}]"))
        .answering("j.jinja", text("resources: [{name: s, type: sub.jinja}]"))
        .answering("sub.jinja", text("resources: [{name: theirs, type: vm}]"));
    let outcome = done(run(&outer, &[provided("p:v1", python), provided("j:v1", jinja)], &rote));
    assert_eq!(
        outcome.original,
        json!({"resources": [{"name": "own", "type": "vm"}, {"name": "theirs", "type": "vm"}]})
    );
    let jinja = rote.asked.borrow().iter().map(|call| call["jinja"].as_bool().unwrap()).collect::<Vec<_>>();
    assert_eq!(jinja, [false, true, true], "the other version's Jinja was rendered here");
}

#[test]
fn errors_have_file_line_chain_and_cause() {
    let config = "resources: [{name: a, type: t.jinja}]";
    let files = [
        ("c.yaml", config),
        ("t.jinja", "resources: [{name: b, type: t.py}]"),
        ("t.py", ""),
        ("help.py", ""),
    ];
    let sent = template(Kind::DmConfiguration, "c.yaml", &files);
    let error = InterpreterError::Template {
        message: "KeyError: 'zone'".to_owned(),
        file: Some("help.py".to_owned()),
        line: Some(7),
        trace: vec!["t.py, line 3, in GenerateConfig".to_owned(), "help.py, line 7, in zone".to_owned()],
    };
    let failure = failed(run(&sent, &[], &Rote::default().failing("t.py", error)));
    let [problem] = failure.problems.as_slice() else { panic!("{failure:?}") };
    assert_eq!(problem.message, "Exception in t.py: KeyError: 'zone' (in resource a (t.jinja) > b (t.py))");
    assert_eq!((problem.file.as_deref(), problem.line), (Some("help.py"), Some(7)));
    assert!(problem.hint.as_deref().unwrap().contains("t.py, line 3"));
    assert_eq!(failure.cause, Cause::Template);
    for (error, cause) in [
        (InterpreterError::Limit { message: "too slow".to_owned() }, Cause::Limit),
        (InterpreterError::Unavailable { message: "no Python".to_owned() }, Cause::Unsupported),
    ] {
        assert_eq!(failed(run(&sent, &[], &Rote::default().failing("t.py", error))).cause, cause);
    }
}

#[test]
fn results_that_are_no_resources_are_refused() {
    let sent = template(Kind::DmPython, "t.py", &[("t.py", "")]);
    for made in [Made::Value(json!(null)), Made::Value(json!([{"name": "a"}])), text("outputs: []"), text("")]
    {
        let failure = failed(run(&sent, &[], &Rote::default().answering("t.py", made)));
        assert!(failure.message.starts_with("Template did not return a 'resources:' field"), "{failure:?}");
    }
    let long = text(&"x".repeat(9 << 20));
    assert_eq!(failed(run(&sent, &[], &Rote::default().answering("t.py", long))).cause, Cause::Limit);
    let failure = failed(run(&sent, &[], &Rote::default().answering("t.py", text("a: [b"))));
    assert!(failure.message.contains("is not YAML"), "{failure:?}");
}
