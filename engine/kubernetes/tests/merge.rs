//! Merging: one Template that makes what several made, or every collision named.

use engine_kubernetes::{MergeOptions, merge, process};
use proptest::prelude::*;
use schema::Kind;
use schema::limits::Budget;
use schema::processing::{Problem, Request, Step, Template};
use serde_json::{Value, json};

fn template(name: &str, text: String) -> Template {
    let entry = format!("{name}.yaml");
    let files = [(entry.clone(), text.into_bytes())].into_iter().collect();
    Template { name: name.to_owned(), kind: Kind::Template, entry, files, jinja2: false }
}

fn processed(template: &Template) -> Vec<Value> {
    match process(template, &Request::default(), &[], &Budget::default()) {
        Step::Done(outcome) => outcome.objects,
        other => panic!("{other:?}"),
    }
}

fn merged(templates: &[Template], rename: bool) -> Result<(Template, Vec<Problem>), Vec<Problem>> {
    let options = MergeOptions { name: None, rename };
    merge(templates, &options).map(|(value, notes)| (template("merged", yaml::to_yaml(&value)), notes))
}

fn grouped(name: &str, rest: &str) -> Template {
    template(
        name,
        format!("apiVersion: template.openshift.io/v1\nkind: Template\nmetadata: {{name: {name}}}\n{rest}"),
    )
}

fn web() -> Template {
    grouped(
        "web",
        "labels: {part: web, app: shop}\nmessage: See ${HOST}.\nparameters:\n- {name: HOST, value: h}\n- {name: SIZE, value: '1'}\nobjects:\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: web}, data: {x: '${HOST}', n: '${{SIZE}}', keep: '${TAG}'}}\n",
    )
}

fn db(parameters: &str, name: &str) -> Template {
    grouped(
        "db",
        &format!(
            "labels: {{part: '${{{{SIZE}}}}', app: shop}}\nparameters: {parameters}\nobjects:\n- {{apiVersion: v1, kind: ConfigMap, metadata: {{name: {name}}}, data: {{x: '${{SIZE}}', h: '${{HOST}}', n: '${{{{SIZE}}}}'}}}}\n"
        ),
    )
}

#[test]
fn equal_parameters_are_shared_and_labels_stay_with_their_objects() {
    let parts = [web(), db("[{name: SIZE, value: '1'}, {name: HOST, value: h}]", "db")];
    let (made, notes) = merged(&parts, false).unwrap();
    let said = notes.iter().map(|note| note.message.as_str()).collect::<Vec<_>>();
    assert_eq!(said[0], "parameter HOST is shared by `web` (web.yaml) and `db` (db.yaml)");
    let text = made.files.text("merged.yaml").unwrap();
    assert!(text.contains("labels:\n  app: shop\n") && text.contains("message: See ${HOST}."), "{text}");
    assert!(text.contains("name: web-db"), "{text}");
    assert_eq!(processed(&made), [processed(&parts[0]), processed(&parts[1])].concat());
    assert_eq!(processed(&made)[1]["metadata"]["labels"], json!({"app": "shop", "part": "1"}));
}

#[test]
fn colliding_parameters_and_objects_are_named() {
    let parts = [web(), db("[{name: SIZE, value: '2'}, {name: TAG, value: t}]", "web")];
    let problems = merged(&parts, false).unwrap_err();
    let said = problems.iter().map(|problem| problem.message.as_str()).collect::<Vec<_>>();
    assert_eq!(
        said,
        [
            "parameter HOST of `web` (web.yaml) would replace ${HOST} of `db` (db.yaml), which is a text there",
            "parameter SIZE of `db` (db.yaml) is another one in `web` (web.yaml)",
            "parameter TAG of `db` (db.yaml) would replace ${TAG} of `web` (web.yaml), which is a text there",
            "ConfigMap `web` is in `web` (web.yaml) (objects[0]) and in `db` (db.yaml) (objects[0])",
        ]
    );
    assert!(problems.iter().all(|problem| problem.line.is_some() && problem.hint.is_some()));
}

#[test]
fn parameters_that_collide_can_be_renamed() {
    let parts = [web(), db("[{name: SIZE, value: '2'}, {name: TAG, value: t}]", "db")];
    let (made, _) = merged(&parts, true).unwrap();
    let text = made.files.text("merged.yaml").unwrap();
    assert!(text.contains("name: DB_SIZE") && text.contains("${{DB_SIZE}}"), "{text}");
    assert_eq!(processed(&made), [processed(&parts[0]), processed(&parts[1])].concat());
}

#[test]
fn notations_do_not_mix() {
    let other = template(
        "other",
        "apiVersion: v1\nkind: Template\nparameters: [{name: A, value: a}]\nobjects: [{apiVersion: v1, kind: Secret, metadata: {name: $(A)}}]\n".to_owned(),
    );
    let problems = merged(&[web(), other], true).unwrap_err();
    assert!(problems[0].message.contains("in the notation of kubernetes"), "{problems:?}");
    let broken = template("broken", "kind: Template\nparameters: 5\n".to_owned());
    assert!(merged(&[web(), broken], false).unwrap_err()[0].file.as_deref() == Some("broken.yaml"));
}

/// A Template of either notation, with few names, so that they collide.
fn part(name: &'static str, proposal: bool) -> impl Strategy<Value = Template> {
    let texts: &'static [&'static str] = if proposal {
        &["$(A)", "$((A))", "$(B)x", "plain", "$$(A)", "$(C)"]
    } else {
        &["${A}", "${{A}}", "${B}x", "plain", "$${A}", "${C}"]
    };
    let text = move || prop::sample::select(texts);
    let parameters = prop::collection::btree_map(
        prop::sample::select(vec!["A", "B", "C"]),
        prop::sample::select(vec!["1", "b", "${A}"]),
        0..3,
    );
    let labels = prop::collection::btree_map(prop::sample::select(vec!["l", "m"]), text(), 0..3);
    (parameters, labels, prop::collection::vec((text(), text()), 0..3)).prop_map(move |(parameters, labels, data)| {
        let parameters =
            parameters.iter().map(|(name, value)| json!({"name": name, "value": value})).collect::<Vec<_>>();
        let objects = data.iter().enumerate().map(|(index, (one, two))| {
            json!({
                "apiVersion": "apps/v1", "kind": "Deployment",
                "metadata": {"name": format!("{name}-{index}"), "labels": {"l": "own"}},
                "spec": {"x": one, "selector": {"matchLabels": {"a": two}}, "template": {"spec": {}}},
            })
        });
        let version = if proposal { "v1" } else { "template.openshift.io/v1" };
        let annotations = if proposal { json!({"formwork/dialect": "kubernetes"}) } else { json!({}) };
        let all = json!({
            "apiVersion": version, "kind": "Template", "metadata": {"name": name, "annotations": annotations},
            "labels": labels, "parameters": parameters, "objects": objects.collect::<Vec<_>>(),
        });
        template(name, all.to_string())
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    /// With defaults, the merged Template makes what its parts make one after the other.
    #[test]
    fn merged_templates_make_what_their_parts_make(
        (one, two, three) in any::<bool>().prop_flat_map(|proposal| (part("one", proposal), part("two", proposal), part("three", proposal)))
    ) {
        let parts = [one, two, three];
        let (made, _) = merged(&parts, true).unwrap_or_else(|problems| panic!("{problems:?}"));
        let apart = parts.iter().flat_map(processed).collect::<Vec<_>>();
        prop_assert_eq!(processed(&made), apart);
    }
}
