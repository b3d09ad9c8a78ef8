//! Templates in the manner of charts, with the answers Go gave: output and error text, byte for byte.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gotemplate::profile::{HELM, Numbers};
use gotemplate::{
    Arena, Budget, Environment, FixedClock, MissingKey, Options, Program, SeededRandom, json, render,
};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/charts")
}

fn read(name: &str) -> String {
    std::fs::read_to_string(folder().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn answer(text: &str, data: &str, missing_key: MissingKey) -> (String, String) {
    let mut program = Program::empty("t", &HELM, Options { missing_key, ..Options::default() });
    if let Err(error) = program.add("t", text) {
        return (String::new(), error.to_go_string());
    }
    let program = Arc::new(program);
    let arena = Arena::new();
    let data = json::decode(data.as_bytes(), Numbers::Float, &arena).expect("the data is JSON");
    let mut environment = Environment {
        budget: Budget::default(),
        clock: &FixedClock(1_700_000_000),
        random: &mut SeededRandom(1),
    };
    let mut out = Vec::new();
    let result = render(&program, "t", data, &arena, &mut environment, &mut out);
    let error = result.err().map(|error| error.to_go_string()).unwrap_or_default();
    (String::from_utf8_lossy(&out).into_owned(), error)
}

#[test]
#[cfg_attr(not(feature = "crypto"), ignore = "one of the templates makes a key")]
fn templates_of_charts_render_as_in_go() {
    let helpers = read("_helpers.tpl");
    let (mut wrong, mut seen, mut count) = (Vec::new(), BTreeSet::new(), 0);
    for line in read("answers.jsonl").lines() {
        let want: serde_json::Value = serde_json::from_str(line).expect("each line is JSON");
        let field = |name: &str| want[name].as_str().unwrap_or_default();
        let template = helpers.clone() + &read(field("template"));
        let data = read(&format!("data-{}.json", field("data")));
        let missing = if field("missing") == "zero" { MissingKey::Zero } else { MissingKey::Invalid };
        let (output, error) = answer(&template, &data, missing);
        count += 1;
        seen.insert(field("template").to_owned());
        if output != field("output") || error != field("error") {
            wrong.push(format!(
                "{} on {}\n   got {output:?} {error:?}\n  want {:?} {:?}",
                field("template"),
                field("data"),
                field("output"),
                field("error")
            ));
        }
    }
    assert!(count >= 240, "{count} answers");
    let files = std::fs::read_dir(folder()).expect("it is there").filter_map(|entry| {
        let name = entry.ok()?.file_name().into_string().ok()?;
        (name.ends_with(".tpl") && !name.starts_with('_')).then_some(name)
    });
    let without: Vec<String> = files.filter(|name| !seen.contains(name)).collect();
    assert!(without.is_empty(), "no answers are recorded for {}", without.join(", "));
    assert!(wrong.is_empty(), "{} of {count} differ:\n{}", wrong.len(), wrong.join("\n"));
}
