//! The values both benches work on: the same as in `tests/oracles/yaml/bench.go`.

use yaml::{Map, Value};

/// The names of the workloads.
pub(crate) const WORKLOADS: [&str; 3] = ["small", "deployment", "list"];

fn map<const N: usize>(members: [(&str, Value); N]) -> Value {
    members.into_iter().collect()
}

fn list<const N: usize>(items: [Value; N]) -> Value {
    Value::List(items.into())
}

fn container(index: usize) -> Value {
    let env = |name: &str, value: &str| map([("name", name.into()), ("value", value.into())]);
    let amounts = |cpu: &str, memory: &str| map([("cpu", cpu.into()), ("memory", memory.into())]);
    map([
        ("name", format!("container-{index}").into()),
        ("image", "registry.example.com/team/app:1.25.3".into()),
        ("imagePullPolicy", "IfNotPresent".into()),
        ("args", vec!["--port=8080", "--verbose", "yes"].into()),
        (
            "ports",
            list([map([
                ("containerPort", 8080.into()),
                ("name", "http".into()),
                ("protocol", "TCP".into()),
            ])]),
        ),
        ("env", list([env("MODE", "production"), env("DEBUG", "false"), env("RATIO", "0.5")])),
        ("resources", map([("limits", amounts("500m", "128Mi")), ("requests", amounts("250m", "64Mi"))])),
    ])
}

fn deployment(index: usize, containers: usize) -> Value {
    let labels = map([
        ("app.kubernetes.io/name", "web".into()),
        ("app.kubernetes.io/instance", format!("web-{index}").into()),
        ("tier", "frontend".into()),
    ]);
    let annotations = map([
        (
            "description",
            "A deployment whose annotation is long enough that the writer has to fold it at column eighty, as people \
             see it in every cluster."
                .into(),
        ),
        ("checksum", "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08".into()),
    ]);
    let template = map([
        ("metadata", map([("labels", labels.clone())])),
        ("spec", map([("containers", (0..containers).map(container).collect())])),
    ]);
    map([
        ("apiVersion", "apps/v1".into()),
        ("kind", "Deployment".into()),
        (
            "metadata",
            map([
                ("name", format!("web-{index}").into()),
                ("labels", labels.clone()),
                ("annotations", annotations),
            ]),
        ),
        (
            "spec",
            map([
                ("replicas", 3.into()),
                ("selector", map([("matchLabels", labels)])),
                ("template", template),
            ]),
        ),
    ])
}

/// The value of that name.
pub(crate) fn workload(name: &str) -> Value {
    match name {
        "small" => map([
            ("app", "web".into()),
            ("tier", "frontend".into()),
            ("release", "v1.2.3".into()),
            ("ports", list([80.into(), 443.into()])),
        ]),
        "deployment" => deployment(0, 1),
        _ => {
            let items = (0..200).map(|index| deployment(index, 3)).collect();
            Value::Map(Map::from_iter([
                ("apiVersion".to_owned(), "v1".into()),
                ("kind".to_owned(), "List".into()),
                ("items".to_owned(), items),
            ]))
        }
    }
}
