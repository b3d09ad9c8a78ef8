//! The recorded expansions against this crate, without Python: where there is an interpreter, its tests replay all.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod replay;

use engine_dm::NoInterpreter;
use schema::limits::Budget;
use schema::processing::{Request, Step, Template};
use serde_json::json;

fn run(template: &Template, request: &Request) -> Step {
    engine_dm::process(template, request, &[], &Budget::default(), &NoInterpreter, &engine_dm::no_others)
}

#[test]
fn every_recorded_expansion_is_answered_alike() {
    let report = replay::replay(run);
    eprintln!("{} alike, SKIPPED for Python: {}", report.alike, report.python.join(", "));
    assert_eq!(report.python.len(), 30);
    let different = replay::DIFFERENT
        .iter()
        .filter(|(name, _)| !report.python.iter().any(|python| python == name))
        .count();
    assert_eq!(report.alike + report.python.len() + different, replay::RECORDED);
}

/// Printed as PyYAML prints, ours is the recorded text too. Left out are texts with aliases (a node that is shared is
/// written once there) and values JSON does not have (dates, binary, keys that are no texts, infinity).
#[test]
fn printed_it_is_the_recorded_text() {
    const TYPED: [&str; 4] =
        ["yaml-tags-and-binary", "yaml11-keys", "yaml11-scalars-plain", "yaml11-through-jinja"];
    let mut compared = 0;
    for (name, case) in replay::cases() {
        let (template, request) = replay::sent(&case);
        let (Step::Done(outcome), Some(expected)) = (run(&template, &request), case["text"].as_str()) else {
            continue;
        };
        if expected.contains("&id0")
            || TYPED.contains(&name.as_str())
            || replay::DIFFERENT.iter().any(|(other, _)| *other == name)
        {
            continue;
        }
        let value = json!({"config": outcome.original, "layout": outcome.layout});
        assert_eq!(yaml::to_pyyaml(&yaml::Value::from_json(value)), expected, "{name}");
        compared += 1;
    }
    assert_eq!(compared, 40);
}
