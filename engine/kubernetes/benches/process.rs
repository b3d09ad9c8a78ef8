//! Processing Templates: from YAML text to the JSON text of a List, and the cost beside objects and references.
//!
//! `cargo bench -p engine-kubernetes --bench process -- FILE…` prints a line of JSON for each file, as
//! `tests/oracles/openshift` does for OpenShift's library; `formwork-bench kubernetes` runs both.

use std::fmt::Write as _;
use std::hint::black_box;
use std::time::{Duration, Instant};

use schema::Kind;
use schema::limits::Budget;
use schema::processing::{Request, Step, Template};

/// How long one figure is measured.
const MEASURED: Duration = Duration::from_secs(1);

fn main() {
    let arguments = std::env::args().skip(1).filter(|argument| !argument.starts_with("--"));
    let files = arguments.collect::<Vec<_>>();
    for path in &files {
        let text = std::fs::read(path).unwrap_or_else(|error| panic!("{path}: {error}"));
        say(path, nanoseconds(&text));
    }
    if files.is_empty() {
        for (objects, references) in [(100, 10), (1_000, 10), (10_000, 10), (100, 100), (1_000, 100)] {
            let nanoseconds = nanoseconds(template(objects, references).as_bytes());
            say(&format!("{objects} objects with {references} references"), nanoseconds);
        }
    }
}

fn say(what: &str, nanoseconds: f64) {
    use std::io::Write as _;
    let what = serde_json::Value::from(what);
    let _ = writeln!(std::io::stdout(), "{{\"file\": {what}, \"nanoseconds\": {nanoseconds:.0}}}");
}

/// The mean time of one processing, as Go counts it.
fn nanoseconds(text: &[u8]) -> f64 {
    let files = [("template.yaml", text.to_vec())].into_iter().collect();
    let entry = "template.yaml".to_owned();
    let template = Template { name: "t".to_owned(), kind: Kind::Template, entry, files, jinja2: false };
    let request = Request { entropy: "5a".repeat(32), ..Request::default() };
    let budget = Budget { output: u64::MAX, ..Budget::default() };
    let started = Instant::now();
    let mut times = Vec::new();
    while started.elapsed() < MEASURED || times.len() < 3 {
        let begin = Instant::now();
        let step = engine_kubernetes::process(&template, &request, &[], &budget);
        let Step::Done(outcome) = step else { panic!("the template of a bench processes") };
        let options = yaml::JsonOptions {
            key_order: yaml::KeyOrder::AsGiven,
            indent: Some("    "),
            ..yaml::JsonOptions::default()
        };
        black_box(yaml::to_json_with(&yaml::Value::from_json(outcome.original), &options));
        times.push(begin.elapsed());
    }
    let total = times.iter().map(Duration::as_secs_f64).sum::<f64>();
    total / times.len() as f64 * 1e9
}

fn template(objects: usize, references: usize) -> String {
    let mut text =
        "apiVersion: template.openshift.io/v1\nkind: Template\nparameters:\n- {name: NAME, value: shop}\nobjects:\n".to_owned();
    for object in 0..objects {
        let _ =
            write!(text, "- apiVersion: v1\n  kind: ConfigMap\n  metadata:\n    name: c{object}\n  data:\n");
        for reference in 0..references {
            let _ = writeln!(text, "    key-{reference}: before ${{NAME}} after");
        }
    }
    text
}
