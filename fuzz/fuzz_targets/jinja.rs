//! Any text as a Jinja template, under a small budget: compiling and rendering never panic and always end, and what is
//! rewritten before compiling stays what it was where it has no `%`.

#![no_main]

use libfuzzer_sys::fuzz_target;
use schema::Kind;
use schema::limits::Budget;
use schema::processing::{Request, Step, Template};
use yaml::Value;

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let properties = Value::from_iter([("a", Value::from(1)), ("b", Value::from(vec!["x", "y"])), ("c", Value::from("é%s"))]);
    match engine_dm::render_alone(text, &properties, 20_000, 100_000) {
        Ok(rendered) => assert!(rendered.len() <= 100_000),
        Err(message) => assert!(!message.is_empty()),
    }
    let files = [("t.jinja", bytes.to_vec()), ("t.jinja.schema", bytes.to_vec())].into_iter().collect();
    let template = Template { name: "t".to_owned(), kind: Kind::DmJinja, entry: "t.jinja".to_owned(), files, jinja2: false };
    let _ = engine_dm::inspect(&template);
    let budget = Budget { steps: 20_000, output: 100_000, objects: 100, ..Budget::default() };
    if let Step::Done(outcome) = engine_dm::process(&template, &Request::default(), &[], &budget) {
        assert!(outcome.objects.len() <= budget.objects);
    }
});
