//! Templates that run away are stopped by their own budgets, with a failure that says which; what follows is unharmed.

use schema::Kind;
use schema::limits::Budget;
use schema::processing::{Cause, Failure, Request, Step, Template};
use serde_json::json;

fn expand(template: &Template, request: &Request, budget: &Budget) -> Step {
    engine_dm::process(template, request, &[], budget, &engine_dm::NoInterpreter, &engine_dm::no_others)
}

fn run(files: &[(&str, &str)]) -> Step {
    let files = files.iter().map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec())).collect();
    let template = Template {
        name: "t".to_owned(),
        kind: Kind::DmJinja,
        entry: "t.jinja".to_owned(),
        files,
        jinja2: false,
    };
    let budget = Budget { steps: 1_000_000, output: 200_000, objects: 500, ..Budget::default() };
    expand(&template, &Request::default(), &budget)
}

fn failed(files: &[(&str, &str)]) -> Failure {
    match run(files) {
        Step::Failed(failure) => failure,
        other => panic!("{other:?}"),
    }
}

#[test]
fn steps_output_and_objects_are_bounded() {
    for (text, says) in [
        ("{% for a in range(9999) %}{% for b in range(9999) %}{% endfor %}{% endfor %}", "steps"),
        ("resources: {% for a in range(9999) %}aaaaaaaaaaaaaaaaaaaaaaaaaaaaa{% endfor %}", "bytes"),
        (
            "resources:\n{% for a in range(600) %}- {name: a{{ a }}, type: vm}\n{% endfor %}",
            "more than 500 resources",
        ),
    ] {
        let failure = failed(&[("t.jinja", text)]);
        assert_eq!(failure.cause, Cause::Limit, "{failure:?}");
        assert!(failure.message.contains(says), "{failure:?}");
        assert!(matches!(run(&[("t.jinja", "resources: []")]), Step::Done(_)));
    }
}

#[test]
fn templates_that_multiply_are_bounded_together() {
    // Each level uses the next ten times: 10^8 templates, if nobody counted.
    let level = |next: usize| {
        format!(
            "resources:\n{{% for a in range(10) %}}- {{name: r{{{{ a }}}}, type: l{next}.jinja}}\n{{% endfor %}}"
        )
    };
    let texts = (1..9).map(|next| (format!("l{}.jinja", next - 1), level(next))).collect::<Vec<_>>();
    let mut files = texts.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect::<Vec<_>>();
    files.extend([("l8.jinja", "resources: []"), ("t.jinja", "resources: [{name: x, type: l0.jinja}]")]);
    assert_eq!(failed(&files).cause, Cause::Limit);
}

#[test]
fn a_bomb_of_yaml_is_an_error_of_the_template() {
    let text = "resources: []\na: &a [x, x, x, x, x, x, x, x, x, x]\nb: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a, *a]\nc: &c [*b, *b, *b, *b, *b, *b, *b, *b, *b, *b]\n\
                d: &d [*c, *c, *c, *c, *c, *c, *c, *c, *c, *c]\ne: &e [*d, *d, *d, *d, *d, *d, *d, *d, *d, *d]\nf: &f [*e, *e, *e, *e, *e, *e, *e, *e, *e, *e]\n";
    let failure = failed(&[("t.jinja", text)]);
    assert!(failure.message.contains("is not YAML"), "{failure:?}");
}

#[test]
fn errors_have_file_line_and_chain() {
    let files = [
        ("t.jinja", "resources:\n- {name: in, type: inner.jinja}\n"),
        ("inner.jinja", "resources:\n- name: x\n  type: vm\n  properties:\n    a: {{ properties.a.b }}\n"),
    ];
    let failure = failed(&files);
    let [problem] = failure.problems.as_slice() else { panic!("{failure:?}") };
    assert_eq!((problem.file.as_deref(), problem.line), (Some("inner.jinja"), Some(5)));
    assert!(problem.message.ends_with("(in resource t (t.jinja) > in (inner.jinja))"), "{}", problem.message);
}

#[test]
fn deep_settings_are_refused() {
    let files = [("t.jinja", b"resources: []".to_vec())].into_iter().collect();
    let template = Template {
        name: "t".to_owned(),
        kind: Kind::DmJinja,
        entry: "t.jinja".to_owned(),
        files,
        jinja2: false,
    };
    let request = Request {
        set: vec![("a.".repeat(100_000) + "b", "1".to_owned())],
        values: json!(null),
        ..Request::default()
    };
    let Step::Failed(failure) = expand(&template, &request, &Budget::default()) else {
        panic!("it is refused")
    };
    assert!(failure.problems.first().unwrap().message.contains("64 levels"));
}

/// Pieces of templates, put together at random.
const PIECES: &[&str] = &[
    "{{ ",
    " }}",
    "{% ",
    " %}",
    "{# ",
    " #}",
    "for a in ",
    "if ",
    "endfor",
    "endif",
    "else",
    "set x = ",
    "macro m(a)",
    "endmacro",
    "import 't.jinja' as t",
    "include 't.jinja'",
    "from 't.jinja' import m",
    "properties",
    "env.name",
    ".a",
    "[0]",
    "['a']",
    "[1:]",
    "range(9)",
    "'%s' % ",
    "'%-99d'",
    "(1, 2)",
    "\"é\"",
    " ~ ",
    " + ",
    " * 99",
    " | ",
    "replace('a', 'b')",
    "join(',')",
    "indent(4)",
    "round(2)",
    "int",
    "tojson",
    ".split('')",
    ".zfill(9)",
    ".rsplit()",
    ".items()",
    ".center(9, 'é')",
    ".format(1)",
    "resources:\n",
    "- name: a\n",
    "  type: vm\n",
    "  type: t.jinja\n",
    "\n",
    "x",
    "{",
    "}",
    "%",
    "'",
    "\"",
    "\\",
    "raw",
    "endraw",
    "-",
    "é",
];

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig { cases: 1_000, failure_persistence: None, ..Default::default() })]

    /// Whatever a template is, expanding it ends, in a result or in problems that are said.
    #[test]
    fn any_template_is_answered(pieces in proptest::collection::vec(proptest::sample::select(PIECES), 0..16)) {
        let text = pieces.concat();
        match run(&[("t.jinja", &text), ("t.jinja.schema", &text)]) {
            Step::Failed(failure) => assert!(!failure.message.is_empty()),
            Step::Done(outcome) => assert!(outcome.layout.is_some()),
            Step::Needs(needs) => assert!(!needs.is_empty()),
        }
        match run(&[("t.jinja", &format!("resources:\n{text}"))]) {
            Step::Failed(failure) => assert!(!failure.problems.is_empty()),
            Step::Done(_) | Step::Needs(_) => {}
        }
    }
}
