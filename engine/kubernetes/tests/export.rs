//! Export: what a cluster printed becomes a Template, and the Template with its defaults gives the objects back.
//!
//! A folder of `tests/export/` is a case: `objects.yaml` as `kubectl get -o yaml` prints them, and `template.yaml`,
//! what comes of it with everything parameterised. `FORMWORK_ACCEPT=1` writes the latter anew.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test that uses them")]

use std::path::PathBuf;

use engine_kubernetes::{ExportOptions, Notation, Parameterised, Selection, Source, export, process};
use proptest::prelude::*;
use schema::Kind;
use schema::limits::Budget;
use schema::processing::{Problem, Request, Step, Template};
use yaml::Value;

fn options(notation: Notation, parameterised: &[Parameterised]) -> ExportOptions {
    ExportOptions {
        name: "shop".to_owned(),
        notation,
        selection: Selection::default(),
        parameterised: parameterised.to_vec(),
        blank_secrets: false,
    }
}

fn exported(text: &str, options: &ExportOptions) -> (Value, Vec<Problem>) {
    export(&[Source { name: "objects.yaml", text }], options)
        .unwrap_or_else(|problems| panic!("{problems:?}"))
}

/// In the order a reader wants.
fn written(template: &Value) -> String {
    let options = yaml::EmitOptions { key_order: yaml::KeyOrder::AsGiven, ..yaml::EmitOptions::default() };
    yaml::emit(template, &options).unwrap()
}

/// The objects a Template makes with its defaults, strictly but for references that were texts of objects before.
fn processed(template: &Value) -> Vec<serde_json::Value> {
    let text = written(template);
    let files = [("t.yaml", text.clone().into_bytes())].into_iter().collect();
    let template = Template {
        name: "t".to_owned(),
        kind: Kind::Template,
        entry: "t.yaml".to_owned(),
        files,
        jinja2: false,
    };
    match process(&template, &Request::default(), &[], &Budget::default()) {
        Step::Done(outcome) => outcome.objects,
        other => panic!("{other:?}\n{text}"),
    }
}

/// The cleaned objects, as they are without any parameter.
fn cleaned(text: &str, notation: Notation) -> Vec<serde_json::Value> {
    let (template, _) = exported(text, &options(notation, &[]));
    assert_eq!(template.get("parameters"), None);
    let mut objects = template.get("objects").unwrap().to_json();
    objects.sort_all_objects();
    objects.as_array().unwrap().clone()
}

#[test]
fn objects_of_a_cluster_become_the_template_of_the_case() {
    let directory = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/export");
    let mut cases = 0;
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(path.join("objects.yaml")).unwrap();
        for notation in [Notation::OpenShift, Notation::Kubernetes] {
            let (template, notes) = exported(&text, &options(notation, &Parameterised::ALL));
            let (made, file) = (written(&template), path.join(format!("{}.yaml", notation.as_str())));
            if std::env::var_os("FORMWORK_ACCEPT").is_some() {
                std::fs::write(&file, &made).unwrap();
            }
            assert_eq!(made, std::fs::read_to_string(&file).unwrap(), "{}", file.display());
            assert!(
                notes.iter().any(|note| note.message == "the Template holds what 1 secrets hold"),
                "{notes:?}"
            );
            assert_eq!(processed(&template), cleaned(&text, notation), "{}", file.display());
        }
        cases += 1;
    }
    assert!(cases > 0, "a test without a case tests nothing");
}

#[test]
fn what_a_server_set_is_gone_and_what_others_make_is_left_out() {
    let text = std::fs::read_to_string(
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/export/shop/objects.yaml"),
    );
    let text = text.unwrap();
    let (template, notes) = exported(&text, &options(Notation::OpenShift, &[]));
    let made = written(&template);
    for gone in [
        "uid:",
        "resourceVersion",
        "creationTimestamp",
        "last-applied",
        "status:",
        "clusterIP: 10",
        "nodePort",
        "volumeName",
        "dockercfg",
        "ReplicaSet",
        "kube-root-ca",
        "bind-completed",
        "pvc-protection",
        "namespace: prod",
        "deployment.kubernetes.io/revision",
    ] {
        assert!(!made.contains(gone), "{gone} is still there:\n{made}");
    }
    for kept in ["clusterIP: None", "team: blue", "type: NodePort", "serviceAccountName: shop"] {
        assert!(made.contains(kept), "{kept} is gone:\n{made}");
    }
    let said = notes.iter().map(|note| note.message.as_str()).collect::<Vec<_>>();
    assert!(said.contains(&"ReplicaSet `shop-5d8f7c` is left out: its owner makes it"), "{said:?}");
}

#[test]
fn filters_choose_by_label_kind_and_name() {
    let text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, labels: {app: x}}\n---\napiVersion: v1\nkind: Secret\nmetadata: {name: b, labels: {app: x}}\n";
    let names = |selection: Selection| {
        let options = ExportOptions { selection, ..options(Notation::OpenShift, &[]) };
        export(&[Source { name: "o", text }], &options)
            .map(|(template, _)| template.get("objects").unwrap().to_json())
    };
    let selection = Selection { labels: Some("app=x".parse().unwrap()), ..Selection::default() };
    assert_eq!(names(selection).unwrap().as_array().unwrap().len(), 2);
    let selection = Selection { kinds: vec!["secrets".to_owned()], ..Selection::default() };
    assert_eq!(names(selection).unwrap()[0]["metadata"]["name"], "b");
    let selection = Selection { names: vec!["z*".to_owned()], ..Selection::default() };
    assert_eq!(names(selection).unwrap_err()[0].message, "no object is left to export");
}

#[test]
fn everything_wrong_with_the_inputs_is_said_at_once() {
    let one = Source { name: "one.yaml", text: "kind: ConfigMap\n---\n- 5\n" };
    let two = Source { name: "two.yaml", text: "a: [" };
    let problems = export(&[one, two], &options(Notation::OpenShift, &[])).unwrap_err();
    let said = problems.iter().map(|p| (p.file.as_deref().unwrap(), p.line)).collect::<Vec<_>>();
    assert_eq!(said.len(), 3, "{problems:?}");
    assert!(said.iter().all(|(_, line)| line.is_some()), "{problems:?}");
    let twice = "apiVersion: v1\nkind: Secret\nmetadata: {name: a, namespace: x}\n---\napiVersion: v1\nkind: Secret\nmetadata: {name: a, namespace: y}\ntype: T\n";
    let problems =
        export(&[Source { name: "t", text: twice }], &options(Notation::OpenShift, &[])).unwrap_err();
    assert!(problems[0].message.contains("Secret `a` is there twice, and not the same"), "{problems:?}");
}

#[test]
fn secrets_may_be_left_blank() {
    let text = "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\ndata: {password: aHVudGVyMg==}\nstringData: {token: t}\n";
    let options =
        ExportOptions { blank_secrets: true, ..options(Notation::OpenShift, &[Parameterised::Secrets]) };
    let (template, notes) = exported(text, &options);
    let made = written(&template);
    assert!(!made.contains("aHVudGVyMg") && made.contains("required: true") && notes.is_empty(), "{made}");
}

/// Names, texts and kinds that have to do with each other, put together at random.
fn object() -> impl Strategy<Value = String> {
    let name = || prop::sample::select(vec!["a", "a-b", "a-b-c", "b", "NAME", "x.y", "a-data"]);
    let text = || {
        prop::sample::select(vec![
            "a",
            "a-b",
            "${NAME}",
            "$(NAME)",
            "$((REPLICAS))",
            "${{A_NAME}}",
            "$$(IMAGE)",
            "5",
            "",
            "é: x",
            "b",
            "${IMAGE} ${a}",
            "yes",
            "a\nb",
        ])
    };
    let kind = prop::sample::select(vec![
        ("v1", "ConfigMap"),
        ("v1", "Secret"),
        ("v1", "Service"),
        ("apps/v1", "Deployment"),
        ("apps/v1", "StatefulSet"),
        ("v1", "PersistentVolumeClaim"),
        ("v1", "ServiceAccount"),
        ("example.com/v1", "Thing"),
        ("v1", "Pod"),
        ("v1", "Route"),
        ("batch/v1", "CronJob"),
    ]);
    (kind, name(), name(), prop::collection::vec(text(), 6), 0u64..3).prop_map(|((version, kind), name, other, texts, number)| {
        let t = |index: usize| serde_json::json!(texts[index]);
        let pod = serde_json::json!({
            "metadata": {"labels": {"app": other, "x": t(0)}},
            "spec": {
                "containers": [{
                    "name": "main", "image": t(1), "args": [t(2)],
                    "env": [{"name": "A_HOST", "value": t(3)}, {"name": other, "value": t(4)},
                            {"name": "S", "valueFrom": {"secretKeyRef": {"name": other, "key": "k"}}}],
                    "envFrom": [{"configMapRef": {"name": other}}],
                    "resources": {"requests": {"cpu": number, "memory": t(5)}},
                }],
                "serviceAccountName": other,
                "volumes": [{"name": "v", "secret": {"secretName": other}}, {"name": "w", "persistentVolumeClaim": {"claimName": other}}],
            },
        });
        let spec = match kind {
            "Pod" => pod["spec"].clone(),
            "CronJob" => serde_json::json!({"jobTemplate": {"spec": {"template": pod}}}),
            "Service" => serde_json::json!({"selector": {"app": other, "x": t(0)}, "ports": [{"port": number}]}),
            "PersistentVolumeClaim" => serde_json::json!({"resources": {"requests": {"storage": t(1)}}, "selector": {"matchLabels": {"app": other}}}),
            "ConfigMap" | "Secret" | "ServiceAccount" => serde_json::Value::Null,
            _ => serde_json::json!({
                "replicas": number, "serviceName": other, "template": pod,
                "selector": {"matchLabels": {"app": other, "x": t(0)}, "matchExpressions": [{"key": "app", "operator": "In", "values": [other]}]},
                "to": {"kind": "Service", "name": other},
            }),
        };
        let mut object = serde_json::json!({"apiVersion": version, "kind": kind, "metadata": {"name": name, "labels": {"app": other, "y": t(1)}}});
        if !spec.is_null() {
            object["spec"] = spec;
        }
        if matches!(kind, "ConfigMap" | "Secret") {
            object["data"] = serde_json::json!({"k": t(2), other: t(3)});
        }
        object.to_string()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever is parameterised, in whichever notation: processing with the defaults gives the objects back.
    #[test]
    fn processing_with_defaults_gives_the_objects_back(
        objects in prop::collection::vec(object(), 1..6),
        parameterised in prop::sample::subsequence(Parameterised::ALL.to_vec(), 0..=5),
        notation in prop::sample::select(vec![Notation::OpenShift, Notation::Kubernetes]),
    ) {
        let text = objects.join("\n---\n");
        // The same object twice with different contents is refused, and that is another test's.
        let Ok((template, _)) = export(&[Source { name: "o", text: &text }], &options(notation, &parameterised)) else {
            return Ok(());
        };
        // A text of an object that the kubelet would expand, and that names a parameter, cannot be there: names of
        // parameters keep out of the way of everything that objects refer to.
        prop_assert_eq!(processed(&template), cleaned(&text, notation));
    }
}
