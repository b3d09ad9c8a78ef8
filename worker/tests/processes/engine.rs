//! The engine itself in a worker: confinement takes nothing away that it needs.

use schema::kind::Kind;
use schema::processing::{Request, Template};
use serde_json::{Value, json};
use worker::Job;

use crate::kit::{done, job, pool_of, run};

fn process(kind: Kind, entry: &str, text: &str, values: Value) -> Job {
    let files = [(entry.to_owned(), text.as_bytes().to_vec())];
    let template = Template {
        name: "sample".to_owned(),
        kind,
        entry: entry.to_owned(),
        files: files.into_iter().collect(),
        jinja2: false,
    };
    let entropy = "5a".repeat(32);
    Job {
        digest: None,
        template,
        request: Request { values, entropy, ..Request::default() },
        ..job("", json!({}))
    }
}

pub(crate) fn both_kinds_are_processed_in_a_confined_worker() {
    run(async {
        let pool = pool_of("", "__engine");
        let template = "
apiVersion: template.openshift.io/v1
kind: Template
metadata: {name: sample}
parameters:
- {name: NAME, required: true}
- {name: PASSWORD, generate: expression, from: '[a-z0-9]{12}'}
objects:
- {apiVersion: v1, kind: Secret, metadata: {name: '${NAME}'}, stringData: {password: '${PASSWORD}'}}
";
        let values = json!({ "parameters": { "NAME": "hello" } });
        let outcome = done(pool.process(process(Kind::Template, "sample.yaml", template, values)).await);
        assert_eq!(outcome.objects[0]["metadata"]["name"], "hello");
        assert_eq!(outcome.objects[0]["stringData"]["password"].as_str().map(str::len), Some(12));

        let jinja = "
resources:
{% for number in range(properties['count']) %}
- {name: vm-{{ number }}, type: compute.v1.instance, properties: {zone: {{ properties['zone'] }}}}
{% endfor %}
";
        let values = json!({ "properties": { "count": 3, "zone": "a" } });
        let outcome = done(pool.process(process(Kind::DmJinja, "sample.jinja", jinja, values)).await);
        assert_eq!(outcome.objects.len(), 3, "{outcome:?}");
        assert_eq!((pool.stats().died, pool.stats().killed), (0, 0));
    });
}
