//! Every rule has a page under `docs/rules`, every page has a rule, and what a page says holds: its severity, its
//! reason, and that its example fires it.
//!
//! A page's example is a tree of files, in fences whose info string is a language and a path. What is no plain file
//! stands in a fence `text entries`, a line each: a path and, in brackets, what it is.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use check::{Engine, check_tree};
use schema::limits::Budget;
use schema::processing::{Request, Step, Template};
use schema::tree::{Entry, EntryKind, MemoryTree, Tree, TreeError};
use schema::{Inspection, Rule};

/// Every rule of every table.
fn rules() -> Vec<&'static Rule> {
    rules_of_trees().into_iter().chain(catalog::rules::ALL.iter().copied()).collect()
}

/// The rules that a tree alone can fire; those of the catalogue are about what trees were before.
fn rules_of_trees() -> Vec<&'static Rule> {
    let layout = schema::layout::rules::ALL.iter().copied();
    let checks = check::rules::ALL.iter().copied();
    layout.chain(checks).chain(engine::RULES.iter().copied().flatten()).collect()
}

/// Pages by the name of their file, the overview among them.
fn pages() -> BTreeMap<String, String> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../docs/rules");
    let entries = fs::read_dir(&folder).expect("docs/rules is there");
    let paths = entries.map(|entry| entry.expect("docs/rules can be listed").path());
    paths
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .map(|path| {
            let page = fs::read_to_string(&path).expect("a page is text");
            (path.file_stem().unwrap_or_default().to_string_lossy().into_owned(), page)
        })
        .collect()
}

#[test]
fn ids_are_unique_over_all_tables() {
    let mut seen = BTreeSet::new();
    for rule in rules() {
        assert!(seen.insert(rule.id), "{} is the id of two rules", rule.id);
        let plain =
            rule.id.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
        assert!(plain, "{} is not lower-case words and digits joined by dashes", rule.id);
    }
}

#[test]
fn every_rule_has_a_page_that_says_the_same_and_every_page_a_rule() {
    let mut pages = pages();
    let overview = pages.remove("README").expect("docs/rules/README.md lists the rules");
    let mut wrong = Vec::new();
    for rule in rules() {
        let Some(page) = pages.remove(rule.id) else {
            wrong.push(format!("{}: there is no page", rule.id));
            continue;
        };
        let lines = page.lines().collect::<BTreeSet<_>>();
        let expected = [
            format!("# `{}`", rule.id),
            format!("- Severity: {}", rule.severity.as_str()),
            format!("- Keeps a version from being published: {}", if rule.withholds { "yes" } else { "no" }),
            format!("- Why: {}", rule.why),
            format!("- What to do: {}", rule.fix),
        ];
        wrong.extend(
            expected
                .iter()
                .filter(|line| !lines.contains(line.as_str()))
                .map(|line| format!("{}: the page lacks the line `{line}`", rule.id)),
        );
        let row = format!("| [`{0}`]({0}.md) | {1} |", rule.id, rule.severity.as_str());
        if !overview.lines().any(|line| line.starts_with(&row)) {
            wrong.push(format!("{}: the overview lacks a row that begins `{row}`", rule.id));
        }
    }
    wrong.extend(pages.keys().map(|page| format!("{page}: there is no such rule")));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_pages_example_fires_its_rule() {
    let pages = pages();
    let request = Request { entropy: "00".repeat(32), ..Request::default() };
    let mut wrong = Vec::new();
    for rule in rules_of_trees() {
        let Some(page) = pages.get(rule.id) else { continue };
        let report = check_tree(&Example::of(page), &Real, Some(&request), &mut |_| {}).unwrap();
        let found = report.all_findings();
        if !found.iter().any(|finding| finding.rule == rule.id && finding.severity == rule.severity) {
            let found = found.iter().map(|finding| format!("{} {}", finding.rule, finding.message));
            wrong.push(format!("{}: its example gives {:?}", rule.id, found.collect::<Vec<_>>()));
        }
        let served = report.versions.iter().filter(|version| version.kind.is_some());
        let fired = served.flat_map(|version| &version.findings).any(|finding| finding.rule == rule.id);
        if rule.withholds && fired {
            wrong.push(format!("{}: the version is published all the same", rule.id));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The real engine, in this process.
struct Real;

impl Engine for Real {
    fn inspect(&self, template: &Template) -> Inspection {
        engine::inspect(template)
    }

    fn process(&self, template: &Template, request: Request) -> Result<Step, String> {
        Ok(engine::process(template, &request, &[], &Budget::default(), &SaysStr))
    }
}

/// Jinja2 for the one example that only Jinja2 renders, by heart; nothing here compares with the real one, the tests of
/// workers do.
struct SaysStr;

impl engine::Interpreter for SaysStr {
    fn call(&self, call: &engine::Call<'_>) -> Result<engine::Returned, engine::InterpreterError> {
        match call.source.contains("'x'.__class__.__name__") {
            true => Ok(engine::Made::Text("resources:\n- {name: str, type: vm}\n".to_owned()).into()),
            false => engine::NoInterpreter.call(call),
        }
    }
}

/// The tree of a page's example.
#[derive(Default)]
struct Example {
    files: MemoryTree,
    unreadable: BTreeSet<String>,
    /// Directories with more entries than are read.
    crowded: BTreeSet<String>,
}

impl Example {
    fn of(page: &str) -> Example {
        let mut example = Example::default();
        let mut lines = page.lines();
        while let Some(line) = lines.next() {
            let Some((language, path)) = line.strip_prefix("```").and_then(|info| info.split_once(' '))
            else {
                continue;
            };
            let body = lines.by_ref().take_while(|line| *line != "```").collect::<Vec<_>>();
            if (language, path) == ("text", "entries") {
                body.iter().for_each(|line| example.entry(line));
            } else {
                example.files = std::mem::take(&mut example.files).file(path, body.join("\n") + "\n");
            }
        }
        example
    }

    fn entry(&mut self, line: &str) {
        let (path, what) = line
            .trim_end_matches(')')
            .rsplit_once(" (")
            .unwrap_or_else(|| panic!("`{line}` has no brackets"));
        let files = std::mem::take(&mut self.files);
        self.files = match what {
            "symbolic link" => files.special(path, EntryKind::Link),
            "submodule" => files.special(path, EntryKind::Submodule),
            "empty file" => files.file(path, ""),
            "not UTF-8" => files.file(path, [0xff, 0xfe]),
            "unreadable file" => {
                self.unreadable.insert(path.to_owned());
                files.file(path, "")
            }
            "unreadable directory" => {
                self.unreadable.insert(path.to_owned());
                files.file(format!("{path}/x"), "")
            }
            "more entries than are read" => {
                self.crowded.insert(path.to_owned());
                files.file(format!("{path}/x"), "")
            }
            size => {
                let mebibytes = size.strip_suffix(" MiB").and_then(|number| number.parse::<u64>().ok());
                let size = mebibytes.unwrap_or_else(|| panic!("`{line}`: nothing is known as {size}")) << 20;
                files.special(path, EntryKind::File { size, executable: false })
            }
        };
    }

    fn readable(&self, path: &str) -> Result<(), TreeError> {
        match self.unreadable.contains(path) {
            true => Err(TreeError(format!("{path}: the object is missing"))),
            false => Ok(()),
        }
    }
}

impl Tree for Example {
    fn entries(&self, directory: &str, limit: usize) -> Result<(Vec<Entry>, bool), TreeError> {
        self.readable(directory)?;
        let (entries, more) = self.files.entries(directory, limit)?;
        Ok((entries, more || self.crowded.contains(directory)))
    }

    fn read(&self, file: &str, limit: u64) -> Result<Vec<u8>, TreeError> {
        self.readable(file)?;
        self.files.read(file, limit)
    }
}
