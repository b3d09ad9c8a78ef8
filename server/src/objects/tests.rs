//! Who refers to whom, and what the picture shows of it.

use serde_json::{Value, json};

use super::*;

fn sketch(objects: &[Value]) -> Sketch {
    Sketch::of(objects)
}

fn said(sketch: &Sketch) -> Vec<String> {
    let objects = sketch.objects.iter().enumerate();
    objects
        .flat_map(|(at, object)| {
            sketch.says(at).into_iter().map(move |text| format!("{} {} {text}", object.kind, object.name))
        })
        .collect()
}

fn workload(kind: &str, name: &str, pod: Value) -> Value {
    json!({
        "kind": kind,
        "metadata": {"name": name},
        "spec": {"template": {"metadata": {"labels": {"app": name, "tier": "web"}}, "spec": pod}},
    })
}

#[test]
fn pods_use_what_their_specs_name() {
    let pod = json!({
        "serviceAccountName": "runner",
        "imagePullSecrets": [{"name": "pull"}],
        "volumes": [
            {"name": "a", "configMap": {"name": "settings"}},
            {"name": "b", "secret": {"secretName": "keys"}},
            {"name": "c", "persistentVolumeClaim": {"claimName": "data"}},
            {"name": "d", "projected": {"sources": [{"secret": {"name": "projected"}}]}},
        ],
        "initContainers": [{"envFrom": [{"configMapRef": {"name": "env"}}]}],
        "containers": [{"env": [
            {"name": "X", "valueFrom": {"secretKeyRef": {"name": "keys", "key": "x"}}},
            {"name": "Y", "valueFrom": {"configMapKeyRef": {"name": "maybe", "key": "y", "optional": true}}},
        ]}],
    });
    let made = [workload("Deployment", "shop", pod), json!({"kind": "Secret", "metadata": {"name": "keys"}})];
    assert_eq!(
        said(&sketch(&made)),
        [
            "Deployment shop uses Secret keys",
            "Deployment shop uses ServiceAccount runner, which must be there already",
            "Deployment shop uses Secret pull, which must be there already",
            "Deployment shop uses ConfigMap settings, which must be there already",
            "Deployment shop uses PersistentVolumeClaim data, which must be there already",
            "Deployment shop uses Secret projected, which must be there already",
            "Deployment shop uses ConfigMap env, which must be there already",
        ]
    );
}

#[test]
fn selectors_select_by_labels() {
    let service = |name: &str, selector: Value| json!({"kind": "Service", "metadata": {"name": name, "labels": {"app": name}}, "spec": {"selector": selector}});
    let made = [
        service("shop", json!({"app": "shop"})),
        service("tier", json!({"tier": "web", "app": "shop"})),
        service("other", json!({"app": "nobody"})),
        service("outside", json!({})),
        workload("Deployment", "shop", json!({})),
        json!({"kind": "NetworkPolicy", "metadata": {"name": "all"}, "spec": {"podSelector": {}}}),
        json!({"kind": "PodDisruptionBudget", "metadata": {"name": "some"}, "spec": {"selector": {"matchExpressions": [
            {"key": "app", "operator": "In", "values": ["shop", "x"]}, {"key": "gone", "operator": "DoesNotExist"},
        ]}}}),
        json!({"kind": "ServiceMonitor", "metadata": {"name": "watch"}, "spec": {"selector": {"matchLabels": {"app": "tier"}}}}),
    ];
    assert_eq!(
        said(&sketch(&made)),
        [
            "Service shop selects Deployment shop",
            "Service tier selects Deployment shop",
            "NetworkPolicy all selects Deployment shop",
            "PodDisruptionBudget some selects Deployment shop",
            "ServiceMonitor watch selects Service tier",
        ]
    );
}

#[test]
fn ways_in_lead_to_services() {
    let made = [
        json!({"kind": "Service", "metadata": {"name": "shop"}}),
        json!({"kind": "Ingress", "metadata": {"name": "new"}, "spec": {
            "ingressClassName": "nginx", "tls": [{"secretName": "issued"}],
            "rules": [{"http": {"paths": [{"backend": {"service": {"name": "shop"}}}]}}],
        }}),
        json!({"kind": "Ingress", "metadata": {"name": "old"}, "spec": {"backend": {"serviceName": "shop"}}}),
        json!({"kind": "Route", "metadata": {"name": "route"}, "spec": {"to": {"kind": "Service", "name": "shop"}}}),
        json!({"kind": "HTTPRoute", "metadata": {"name": "http"}, "spec": {
            "parentRefs": [{"name": "theirs"}], "rules": [{"backendRefs": [{"name": "shop"}, {"name": "gone"}]}],
        }}),
    ];
    assert_eq!(
        said(&sketch(&made)),
        [
            "Ingress new uses Service shop",
            "Ingress old uses Service shop",
            "Route route uses Service shop",
            "HTTPRoute http uses Service shop",
            "HTTPRoute http uses Service gone, which must be there already",
        ]
    );
}

#[test]
fn sets_imply_claims_and_name_the_service_that_selects_them_once() {
    let mut set = workload("StatefulSet", "db", json!({"serviceAccountName": "default"}));
    set["spec"]["serviceName"] = json!("db");
    set["spec"]["volumeClaimTemplates"] = json!([{"metadata": {"name": "data"}}]);
    let made =
        [json!({"kind": "Service", "metadata": {"name": "db"}, "spec": {"selector": {"app": "db"}}}), set];
    let sketch = sketch(&made);
    assert_eq!(
        said(&sketch),
        [
            "Service db selects StatefulSet db",
            "StatefulSet db uses PersistentVolumeClaim data, one for each member",
        ]
    );
    assert_eq!(sketch.made, 2);
}

#[test]
fn namespaces_keep_equal_names_apart() {
    let secret =
        |namespace: &str| json!({"kind": "Secret", "metadata": {"name": "keys", "namespace": namespace}});
    let mut user = workload("Deployment", "shop", json!({"imagePullSecrets": [{"name": "keys"}]}));
    user["metadata"]["namespace"] = json!("two");
    let sketch = sketch(&[secret("one"), secret("two"), user]);
    assert_eq!(sketch.edges, [Edge { from: 2, to: 1, how: How::Name }]);
}

#[test]
fn nothing_a_stranger_writes_breaks_it() {
    for odd in [
        Value::Null,
        json!([]),
        json!({"kind": 3, "metadata": []}),
        json!({"kind": "Deployment", "spec": {"template": {"spec": {"containers": {"env": 1}, "volumes": [[], 3]}}}}),
        json!({"kind": "Service", "metadata": {"name": "é".repeat(300)}, "spec": {"selector": "app"}}),
        json!({"kind": "Ingress", "spec": {"rules": [{"http": {"paths": "x"}}, 1]}}),
        json!({"kind": "StatefulSet", "metadata": {"name": "a"}, "spec": {"serviceName": "a", "template": {"spec": {"serviceAccountName": "a"}}}}),
    ] {
        let sketch = sketch(&[odd.clone(), odd]);
        let _ = draw(&sketch);
    }
    let many = (0..10_000)
        .map(|number| json!({"kind": "Service", "metadata": {"name": format!("s{number}")}, "spec": {"selector": {"a": "b"}}}))
        .collect::<Vec<_>>();
    let sketch = sketch(&many);
    assert_eq!((sketch.made, sketch.objects.len(), draw(&sketch)), (10_000, MOST_OBJECTS, None));
}

#[test]
fn names_are_text_in_the_picture() {
    let attack = "</text></svg><script>alert(1)</script>";
    let pod = json!({"imagePullSecrets": [{"name": attack}]});
    let picture = draw(&sketch(&[workload("Deployment", attack, pod)])).unwrap();
    assert!(!picture.contains("<script"), "{picture}");
    assert!(picture.contains("&lt;/text&gt;"), "{picture}");
}

#[test]
fn arrows_go_right_and_circles_are_drawn() {
    let stands = layout::layout(4, &[(0, 1), (1, 2), (0, 2), (2, 0), (3, 2)]);
    let column = |node: usize| stands.boxes[node].0;
    assert!(column(0) < column(1) && column(1) < column(2));
    // What nothing points to stands beside what it points to.
    assert_eq!(column(3), column(1));
    // The arrow past a layer has a lane of its own; the one that closes the circle is drawn backwards.
    assert_eq!(stands.arrows[2].len(), 4);
    assert!(stands.arrows[3].first().unwrap().0 > stands.arrows[3].last().unwrap().0);
    // No two boxes overlap.
    for one in 0..4 {
        for other in 0..one {
            let (a, b) = (stands.boxes[one], stands.boxes[other]);
            assert!(a.0 != b.0 || a.1.abs_diff(b.1) > layout::BOX_HEIGHT, "{a:?} {b:?}");
        }
    }
}

#[test]
fn long_names_keep_both_ends() {
    let name = "orders-frontend-production-config";
    let pod = json!({"volumes": [{"configMap": {"name": name}}]});
    let picture = draw(&sketch(&[workload("Deployment", "orders", pod)])).unwrap();
    assert!(picture.contains("orders-fro…on-config"), "{picture}");
    assert!(
        picture.contains(&format!("<title>ConfigMap {name}</title>")),
        "the whole name is there to be read"
    );
}
