//! Cases as files: what is expected of some text or JSON, in the words of a TOML table.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

/// What a text must be like. Everything that is given must hold.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Expectation {
    /// The text is this.
    is: Option<String>,
    /// The text has no line.
    empty: bool,
    /// The text has so many lines.
    lines: Option<usize>,
    /// The text contains each of these.
    contains: Vec<String>,
    /// The text contains none of these.
    lacks: Vec<String>,
    /// The text is JSON with these values at these pointers.
    json: BTreeMap<String, toml::Value>,
    /// The text is JSON without anything at these pointers.
    absent: Vec<String>,
    /// The text is JSON in which the text at each pointer contains the other.
    json_contains: BTreeMap<String, String>,
    /// The text is JSON in which the list at each pointer has so many items.
    json_length: BTreeMap<String, usize>,
}

impl Expectation {
    /// Everything that does not hold, in words.
    pub(crate) fn failures(&self, text: &str) -> Vec<String> {
        let mut wrong = Vec::new();
        let mut check = |holds: bool, what: String| {
            if !holds {
                wrong.push(what);
            }
        };
        if let Some(is) = &self.is {
            check(is == text, format!("is not {is:?}"));
        }
        check(!self.empty || text.trim().is_empty(), "is not empty".to_owned());
        if let Some(lines) = self.lines {
            check(text.lines().count() == lines, format!("has {} lines, not {lines}", text.lines().count()));
        }
        for part in &self.contains {
            check(text.contains(part.as_str()), format!("does not contain {part:?}"));
        }
        for part in &self.lacks {
            check(!text.contains(part.as_str()), format!("contains {part:?}"));
        }
        let needs_json = !(self.json.is_empty()
            && self.absent.is_empty()
            && self.json_contains.is_empty()
            && self.json_length.is_empty());
        if needs_json {
            match serde_json::from_str::<Value>(text) {
                Err(error) => check(false, format!("is not JSON: {error}")),
                Ok(value) => {
                    for (pointer, wanted) in &self.json {
                        let wanted = serde_json::to_value(wanted).expect("TOML without dates is JSON");
                        let found = value.pointer(pointer).unwrap_or(&Value::Null);
                        check(*found == wanted, format!("has {found} at {pointer}, not {wanted}"));
                    }
                    for pointer in &self.absent {
                        let found = value.pointer(pointer);
                        check(found.is_none(), format!("has {found:?} at {pointer}"));
                    }
                    for (pointer, part) in &self.json_contains {
                        let found = value.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
                        check(
                            found.contains(part.as_str()),
                            format!("has {found:?} at {pointer}, without {part:?}"),
                        );
                    }
                    for (pointer, length) in &self.json_length {
                        let found = value.pointer(pointer).and_then(Value::as_array).map(Vec::len);
                        check(
                            found == Some(*length),
                            format!("has {found:?} items at {pointer}, not {length}"),
                        );
                    }
                }
            }
        }
        wrong
    }
}

/// The cases of a directory below `tests/`, by name.
///
/// # Panics
/// When one cannot be read, or there is none: a test without a case tests nothing.
pub(crate) fn case_files<T: serde::de::DeserializeOwned>(directory: &str) -> Vec<(String, T)> {
    let directory = super::workspace().join("tests").join(directory);
    let entries =
        std::fs::read_dir(&directory).unwrap_or_else(|error| panic!("{}: {error}", directory.display()));
    let mut paths =
        entries.map(|entry| entry.expect("the entry can be read").path()).collect::<Vec<PathBuf>>();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    paths.sort();
    assert!(!paths.is_empty(), "no case in {}", directory.display());
    paths.into_iter().map(|path| (name(&path), read(&path))).collect()
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn read<T: serde::de::DeserializeOwned>(path: &Path) -> T {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
