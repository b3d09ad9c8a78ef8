//! Any texts, at several depths and as keys: what is written reads back as it was, under the rules it was written for,
//! and what `marshal` takes reads back under Kubernetes' rules unless a next line was folded.

#![no_main]

use libfuzzer_sys::fuzz_target;
use yaml::{Map, Options, Value};

fuzz_target!(|texts: Vec<String>| {
    // A key `<<` is written plain by go-yaml and read as a merge.
    let texts: Vec<&str> = texts.iter().map(String::as_str).filter(|text| *text != "<<").collect();
    let mut value = Value::Null;
    for (index, text) in texts.iter().enumerate().take(80) {
        let text = Value::from(*text);
        value = match index % 4 {
            0 => Value::List(vec![text, value]),
            1 => Value::List(vec![value, text]),
            2 => Map::from_iter([("k".to_owned(), text), (texts[index / 2].to_owned(), value)]).into(),
            _ => Map::from_iter([(texts[index].to_owned(), value), (texts[index - 1].to_owned(), text)]).into(),
        };
    }
    let kubernetes = yaml::to_yaml(&value);
    assert_eq!(read(&kubernetes, &Options::kubernetes()), value, "{kubernetes}");
    let python = yaml::to_pyyaml(&value);
    // Where the indentation alone reaches the width, PyYAML breaks some texts so that they do not read back.
    if !python.lines().any(|line| line.starts_with(&" ".repeat(50))) {
        assert_eq!(read(&python, &Options::pyyaml()), value, "{python}");
    }
    if let Ok(marshalled) = yaml::marshal(&value)
        && !marshalled.contains('\u{85}')
        && !texts.iter().any(|text| text.contains('\u{85}'))
    {
        assert_eq!(marshalled, kubernetes);
    }
    let json = yaml::to_json(&value);
    assert!(!json.contains('\n'));
});

fn read(text: &str, options: &Options) -> Value {
    yaml::load_value(text, options).expect("what is written can be read").unwrap_or_default()
}
