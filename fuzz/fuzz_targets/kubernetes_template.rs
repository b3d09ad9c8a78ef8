//! Any text as a Template, with values from the same bytes: inspecting and processing never panic, what comes out keeps
//! to its budget, problems have places in the file, and processing twice gives the same.

#![no_main]

use libfuzzer_sys::fuzz_target;
use schema::Kind;
use schema::limits::Budget;
use schema::processing::{Request, Step, Template};

fuzz_target!(|bytes: &[u8]| {
    let cut = bytes.iter().position(|byte| *byte == 0).unwrap_or(0);
    let (values, text) = bytes.split_at(cut);
    let lines = text.iter().filter(|byte| **byte == b'\n').count() + 1;
    let files = [("t.yaml", text.to_vec())].into_iter().collect();
    let template = Template { name: "t".to_owned(), kind: Kind::Template, entry: "t.yaml".to_owned(), files, jinja2: false };
    for finding in engine_kubernetes::inspect(&template).findings {
        assert!(finding.place.is_none_or(|place| place.line as usize <= lines + 1));
    }
    let values = std::str::from_utf8(values).unwrap_or_default();
    let set = values.split(',').filter_map(|pair| pair.split_once('=')).map(|(n, v)| (n.to_owned(), v.to_owned()));
    let request = Request { set: set.collect(), seed: Some("s".to_owned()), ignore_unknown: true, ..Request::default() };
    let budget = Budget { output: 1 << 20, objects: 1_000, ..Budget::default() };
    let first = engine_kubernetes::process(&template, &request, &[], &budget);
    match &first {
        Step::Done(outcome) => assert!(outcome.objects.len() <= budget.objects),
        Step::Failed(failure) => assert!(!failure.problems.is_empty()),
        Step::Needs(_) => unreachable!("a Template refers to no other"),
    }
    assert_eq!(first, engine_kubernetes::process(&template, &request, &[], &budget));
});
