//! The recorded expansions through confined workers with Python: all of them, those in Python included.

use schema::digest::Digest;
use schema::kind::Kind;
use schema::limits::Budget;
use schema::processing::{Outcome, Request, Step, Template};
use serde_json::json;
use worker::{Job, Pool, PoolConfig};

use crate::kit::{budget, done, run};
use crate::python::python;
use crate::replay;

fn pool() -> Pool {
    let config = PoolConfig { arguments: vec!["__engine".into()], ..PoolConfig::own(1) };
    Pool::start(
        PoolConfig { budget: Budget { memory: 256 << 20, ..budget() }, ..config }.with_python(python()),
    )
    .unwrap()
}

fn job(template: &Template, request: &Request) -> Job {
    Job {
        digest: None,
        template: template.clone(),
        request: request.clone(),
        provided: Vec::new(),
        budget: Budget { python_wall: budget().wall, ..budget() },
        caller: "somebody".to_owned(),
    }
}

pub(crate) fn every_recorded_expansion_is_answered_alike() {
    run(async {
        let pool = pool();
        let handle = tokio::runtime::Handle::current();
        let (pool, report) = tokio::task::spawn_blocking(move || {
            let step = |template: &Template, request: &Request| {
                handle.block_on(pool.process(job(template, request))).unwrap()
            };
            let report = replay::replay(step);
            (pool, report)
        })
        .await
        .unwrap();
        assert_eq!(report.python, Vec::<String>::new(), "nothing was left out for Python");
        assert_eq!(report.alike + replay::DIFFERENT.len(), replay::RECORDED);
        assert_eq!((pool.stats().died, pool.stats().killed), (0, 0));
    });
}

const RANDOM: &str = "
import random, string
def generate_config(context):
  password = ''.join(random.choice(string.ascii_letters) for _ in range(12))
  return {'resources': [{'name': context.env['name'], 'type': 'vm', 'properties': {'password': password}}]}
";

async fn rendered(pool: &Pool, entry: &str, text: &str, request: Request, jinja2: bool) -> Outcome {
    let kind = if entry.ends_with(".py") { Kind::DmPython } else { Kind::DmJinja };
    let files = [(entry.to_owned(), text.as_bytes().to_vec())].into_iter().collect();
    let template = Template { name: "sample".to_owned(), kind, entry: entry.to_owned(), files, jinja2 };
    done(pool.process(job(&template, &request)).await)
}

pub(crate) fn what_differs_between_seeds_differs_between_renders() {
    run(async {
        let pool = pool();
        let password = async |seed: Option<&str>, entropy: &str| {
            let request = Request {
                seed: seed.map(str::to_owned),
                entropy: Digest::of(entropy.as_bytes()).hex(),
                ..Request::default()
            };
            rendered(&pool, "sample.py", RANDOM, request, false).await.objects.remove(0)
        };
        assert_eq!(password(Some("a"), "1").await, password(Some("a"), "2").await);
        assert_ne!(password(Some("a"), "1").await, password(Some("b"), "1").await);
        assert_ne!(password(None, "1").await, password(None, "2").await);
    });
}

pub(crate) fn a_version_marked_so_is_rendered_by_jinja2() {
    run(async {
        let pool = pool();
        // What only Jinja2 itself can do: Python is around it.
        let text = "resources:\n- {name: {{ 'x'.__class__.__name__ }}, type: vm}\n";
        let outcome = rendered(&pool, "sample.jinja", text, Request::default(), true).await;
        assert_eq!(outcome.objects, [json!({ "name": "str", "type": "vm" })]);
        let files = [("sample.jinja".to_owned(), text.as_bytes().to_vec())].into_iter().collect();
        let template = Template {
            name: "s".into(),
            kind: Kind::DmJinja,
            entry: "sample.jinja".into(),
            files,
            jinja2: false,
        };
        let step = pool.process(job(&template, &Request::default())).await.unwrap();
        assert!(matches!(step, Step::Failed(_)), "{step:?}");
    });
}
