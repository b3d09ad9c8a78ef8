//! What is known of each kind of template without processing it, and that nothing makes inspection fail.

use schema::processing::Template;
use schema::{Inspection, Kind};
use serde_json::json;

fn inspect(kind: Kind, entry: &str, files: &[(&str, &str)]) -> Inspection {
    let files = files.iter().map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec())).collect();
    engine::inspect(&Template { name: "t".to_owned(), kind, entry: entry.to_owned(), files, jinja2: false })
}

fn rules(inspection: &Inspection) -> Vec<&str> {
    inspection.findings.iter().map(|finding| &*finding.rule).collect()
}

#[test]
fn a_template_object() {
    let text = r#"
apiVersion: template.openshift.io/v1
kind: Template
metadata:
  name: shop
  annotations:
    openshift.io/display-name: Shop
    description: Sells things.
    tags: Quickstart, web
    openshift.io/documentation-url: https://docs.example/shop
    openshift.io/support-url: "javascript:alert(1)"
parameters:
- {name: NAME, displayName: Name, description: What it is called., value: shop, required: true}
- {name: DB_PASSWORD, description: d, generate: expression, from: "[a-z]"}
- {name: API_KEY, description: d, value: abc}
- {name: UNUSED, description: d}
- {name: MUST, description: d, required: true}
objects:
- apiVersion: v1
  kind: Service
  metadata: {name: "${NAME}", namespace: prod}
  data: {a: "${NAM}", b: "${DB_PASSWORD}${API_KEY}${MUST}", c: "x${{NAME}}"}
- apiVersion: v1
  kind: "${NAME}"
"#;
    let found = inspect(Kind::Template, "shop.yaml", &[("shop.yaml", text)]);
    assert_eq!(found.title.as_deref(), Some("Shop"));
    assert_eq!(found.description.as_deref(), Some("Sells things."));
    assert_eq!(found.tags, ["quickstart", "web"]);
    assert_eq!((found.documentation.as_deref(), found.support), (Some("https://docs.example/shop"), None));
    assert_eq!(found.object_kinds, ["Service"]);
    assert_eq!(found.parameters["required"], json!(["MUST"]));
    let properties = &found.parameters["properties"];
    assert_eq!(
        properties["NAME"],
        json!({"type": "string", "title": "Name", "description": "What it is called.", "default": "shop"})
    );
    assert_eq!(properties["DB_PASSWORD"]["writeOnly"], true);
    assert_eq!(properties["API_KEY"]["writeOnly"], true);
    assert_eq!(properties["UNUSED"].get("writeOnly"), None);
    let places = found.findings.iter().map(|f| (&*f.rule, f.place.map(|p| p.line))).collect::<Vec<_>>();
    for expected in [
        ("generator-constant", Some(14)),
        ("parameter-secret-default", Some(15)),
        ("object-incomplete", Some(23)),
        ("object-namespace", Some(21)),
        ("reference-unquoted-within", Some(19)),
        ("reference-undefined", Some(22)),
        ("parameter-unused", Some(16)),
    ] {
        assert!(places.contains(&expected), "{expected:?} is not in {places:?}");
    }
    let undefined = found.findings.iter().find(|finding| finding.rule == "reference-undefined").unwrap();
    assert_eq!(undefined.fix, "did you mean NAME?");
}

#[test]
fn a_deployment_manager_template() {
    let schema = "info: {title: Redis, description: A cache., author: x}\nimports: [{path: gone.py}]\nrequired: [size]\nproperties:\n  size: {type: int, default: 3}\n  adminPassword: {type: string}\n";
    let found = inspect(
        Kind::DmJinja,
        "redis.jinja",
        &[("redis.jinja", "resources:\n- name: a\n  type: Service\n"), ("redis.jinja.schema", schema)],
    );
    assert_eq!((found.title.as_deref(), found.description.as_deref()), (Some("Redis"), Some("A cache.")));
    assert_eq!(found.object_kinds, ["Service"]);
    assert_eq!(found.parameters["properties"]["size"], json!({"type": "integer", "default": 3}));
    assert_eq!(found.parameters["properties"]["adminPassword"]["writeOnly"], true);
    assert_eq!(rules(&found), ["dm-import-missing", "dm-schema-int"]);
    assert_eq!(found.findings[1].place.map(|place| place.line), Some(5));
    let found = inspect(Kind::DmJinja, "t.jinja", &[("t.jinja", "resources:\n{% if %}\n")]);
    assert_eq!(rules(&found), ["dm-schema-missing", "dm-jinja-syntax"]);
    let found = inspect(Kind::DmPython, "t.py", &[("t.py", "print('resources')")]);
    assert_eq!(rules(&found), ["dm-schema-missing", "dm-python-entry"]);
}

#[test]
fn charts_brokers_and_plans() {
    let chart = [
        (
            "Chart.yaml",
            "name: shop\ndescription: Sells.\nversion: 1.0.0\nkeywords: [web]\nhome: https://x.example\n",
        ),
        ("values.yaml", "replicas: 2\nauth: {password: x}\n"),
        ("templates/a.yaml", "kind: Deployment\nkind: {{ .Values.kind }}\n"),
    ];
    let found = inspect(Kind::Chart, "Chart.yaml", &chart);
    assert_eq!(found.object_kinds, ["Deployment"]);
    assert_eq!(found.parameters["properties"]["auth"]["properties"]["password"]["writeOnly"], true);
    assert_eq!(found.tags, ["web"]);
    let broker = "kind: ServiceBrokerConfig\nspec:\n  catalog:\n    services:\n    - {name: db, description: A database., tags: [sql], metadata: {displayName: DB}, plans: [{name: s, schemas: {serviceInstance: {create: {parameters: {type: object, properties: {size: {type: integer}}}}}}}]}\n";
    let found = inspect(Kind::ServiceBroker, "b.yaml", &[("b.yaml", broker)]);
    assert_eq!(
        (found.title.as_deref(), found.tags.as_slice()),
        (Some("DB"), &["db".to_owned(), "sql".to_owned()][..])
    );
    assert_eq!(found.parameters["properties"]["size"]["type"], "integer");
    let plan = "kind: SFPlan\nspec: {name: small, description: A plan., templates: [{action: provision, content: 'kind: Postgres'}]}\n";
    let found = inspect(Kind::InteroperatorPlan, "p.yaml", &[("p.yaml", plan)]);
    assert_eq!(
        (found.title.as_deref(), found.object_kinds.as_slice()),
        (Some("small"), &["Postgres".to_owned()][..])
    );
}

#[test]
fn nothing_makes_inspection_fail() {
    let deep = format!("{}{}", "[".repeat(5_000), "]".repeat(5_000));
    for kind in Kind::ALL {
        for text in [
            "",
            "{",
            "\0",
            "- a\n",
            "kind: Template",
            "a: &a [*a]",
            "5",
            "{% raw %}",
            "kind: Template\nobjects: 5\nparameters: [1, {name: 5}]\n",
            &deep,
        ] {
            let found = inspect(kind, "t.x", &[("t.x", text), ("t.x.schema", text), ("values.yaml", text)]);
            assert!(found.parameters.is_object(), "{kind:?} {text}");
        }
        let missing = inspect(kind, "gone", &[]);
        assert!(!missing.findings.is_empty(), "{kind:?}");
    }
}
