//! Which files an expansion may read, beyond those at hand: for hosts that do not have a whole version, but a
//! configuration on disk or a template behind a URL.

use std::collections::BTreeSet;

use schema::Kind;
use schema::processing::Template;
use yaml::Value;

use crate::expansion::is_template;
use crate::imports::{matches, relative};

/// The most files that are asked for.
const MOST: usize = 4_000;

/// A file, or all files of a directory whose names fit a pattern. Paths have no `.` and `..`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Wanted(String);

impl Wanted {
    /// The path, or the pattern.
    pub fn path(&self) -> &str {
        &self.0
    }

    /// Whether it may mean several files of its directory.
    pub fn is_pattern(&self) -> bool {
        self.0.contains(['*', '?'])
    }

    /// The directory it is in; empty is the root. A pattern in a directory's name matches none.
    pub fn directory(&self) -> &str {
        self.0.rsplit_once('/').map_or("", |(directory, _)| directory)
    }

    /// Whether a path is meant.
    pub fn means(&self, path: &str) -> bool {
        matches(self.0.as_bytes(), path.as_bytes())
    }
}

/// What a configuration imports, the schemas of those templates, and what they import in turn, as far as what is at
/// hand tells. Ask again with more files until nothing new is wanted. What cannot be read wants nothing: expansion
/// will say so.
pub fn wanted(template: &Template) -> Vec<Wanted> {
    let mut search = Search { template, wanted: BTreeSet::new(), left: Vec::new() };
    match template.kind {
        Kind::DmConfiguration => search.imports_of(&template.entry, &template.entry),
        Kind::DmJinja | Kind::DmPython => search.left.push(template.entry.clone()),
        _ => {}
    }
    let mut seen = BTreeSet::new();
    while let Some(file) = search.left.pop() {
        if is_template(&file) && seen.insert(file.clone()) {
            let schema = format!("{file}.schema");
            search.imports_of(&schema, &file);
            search.wanted.insert(Wanted(schema));
        }
    }
    search.wanted.into_iter().take(MOST).collect()
}

struct Search<'t> {
    template: &'t Template,
    wanted: BTreeSet<Wanted>,
    /// Files that are wanted and at hand.
    left: Vec<String>,
}

impl Search<'_> {
    /// Takes what the `imports` of a file list, relative to another.
    fn imports_of(&mut self, file: &str, base: &str) {
        let Some(text) = self.template.files.text(file) else { return };
        let Ok(Some(document)) = yaml::load_value(text, &yaml::Options::pyyaml()) else { return };
        let imports = document.get("imports").and_then(Value::as_list).unwrap_or_default();
        let paths = imports.iter().filter_map(|import| import.get("path").and_then(Value::as_str));
        for path in paths.filter_map(|path| relative(base, path)).take(MOST) {
            let wanted = Wanted(path);
            if self.wanted.contains(&wanted) {
                continue;
            }
            match wanted.is_pattern() {
                true => {
                    let files = self.template.files.iter().map(|(path, _)| path);
                    self.left.extend(files.filter(|path| wanted.means(path)).map(str::to_owned));
                }
                false => self.left.push(wanted.0.clone()),
            }
            self.wanted.insert(wanted);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imports_are_followed_through_schemas() {
        let files = [
            (
                "env/c.yaml",
                "imports: [{path: ../t/*.jinja}, {path: v.py}, {path: ../../out.py}, {path: 7}]\n",
            ),
            ("t/a.jinja", ""),
            ("t/a.jinja.schema", "imports: [{path: help.py}]\n"),
        ];
        let files =
            files.into_iter().map(|(path, text)| (path.to_owned(), text.as_bytes().to_vec())).collect();
        let template = Template {
            name: "c".to_owned(),
            kind: Kind::DmConfiguration,
            entry: "env/c.yaml".to_owned(),
            files,
            jinja2: false,
        };
        let paths = wanted(&template).iter().map(|wanted| wanted.path().to_owned()).collect::<Vec<_>>();
        assert_eq!(
            paths,
            ["env/v.py", "env/v.py.schema", "t/*.jinja", "t/a.jinja.schema", "t/help.py", "t/help.py.schema"]
        );
    }
}
