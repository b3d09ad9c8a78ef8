//! The documents themselves, where they are at hand: every case quotes one of them faithfully, and no code of theirs
//! is without a case.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use libtest_mimic::{Failed, Trial};

use crate::case::{Case, Verdict};

/// What a line of code in a document holds. Prose that quotes such a line is listed in [`PROSE`].
const CODE: [&str; 9] =
    ["{{", "somefield:", "\"kind\":", "apiVersion:", "- action:", "$ dm ", ".py.schema", "/ownerA/", "/v1"];

/// Lines of prose that look like code.
const PROSE: [&str; 0] = [];

/// One test that the completions complete, and one for each document.
pub(crate) fn trials(cases: &[Case]) -> Vec<Trial> {
    let mut by_document = BTreeMap::<String, Vec<Quoted>>::new();
    for case in cases {
        by_document.entry(case.facts.document.clone()).or_default().push(Quoted::of(case));
    }
    by_document
        .into_iter()
        .map(|(document, quoted)| {
            Trial::test(format!("{document} is quoted faithfully and whole"), move || {
                check(&document, &quoted).map_err(Failed::from)
            })
        })
        .chain([completions(cases)])
        .collect()
}

/// What a case takes from its document.
struct Quoted {
    name: String,
    quote: String,
    block: Vec<String>,
}

impl Quoted {
    fn of(case: &Case) -> Quoted {
        let lines = lines_of(&case.block.1);
        Quoted { name: case.name.clone(), quote: words(&case.facts.quote), block: lines }
    }
}

/// Lines that hold something, without the space around them.
fn lines_of(text: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(text);
    text.lines().map(|line| line.trim().to_owned()).filter(|line| !line.is_empty()).collect()
}

/// Text with every stretch of space as one.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[expect(clippy::print_stderr, reason = "what is skipped is said loudly")]
fn check(document: &str, cases: &[Quoted]) -> Result<(), String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/seeds");
    let Some(text) = read(&folder, document) else {
        eprintln!("SKIPPED: the quotes of document {document}, which is not at hand in {}", folder.display());
        return Ok(());
    };
    let (whole, lines) = (words(&text), lines_of(text.as_bytes()));
    let mut wrong = Vec::new();
    for case in cases {
        if !whole.contains(&case.quote) {
            wrong.push(format!("{}: the document does not say `{}`", case.name, case.quote));
        }
        let within =
            |at: &[String]| at.iter().zip(&case.block).all(|(line, block)| line.contains(block.as_str()));
        if !lines.windows(case.block.len()).any(within) {
            wrong.push(format!("{}: the document does not have the block", case.name));
        }
    }
    for line in &lines {
        let is_code = CODE.iter().any(|mark| line.contains(mark)) && !PROSE.contains(&line.as_str());
        let has_case =
            || cases.iter().any(|case| case.block.iter().any(|block| line.contains(block.as_str())));
        if is_code && !has_case() {
            wrong.push(format!("no case has the line `{line}`"));
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}

/// The text of the document whose file name begins with a number.
fn read(folder: &Path, document: &str) -> Option<String> {
    let mut entries = fs::read_dir(folder).ok()?.filter_map(Result::ok);
    let entry = entries.find(|entry| entry.file_name().to_string_lossy().starts_with(document))?;
    fs::read_to_string(entry.path()).ok()
}

/// A completion adds what was lost: it holds every line of its block, in order, unless the case says it was rewritten.
fn completions(cases: &[Case]) -> Trial {
    let pairs = cases
        .iter()
        .filter(|case| {
            !case.facts.rewritten && !matches!(case.facts.verdict, Verdict::Works | Verdict::Defective)
        })
        .flat_map(|case| {
            let block = Arc::new(lines_of(&case.block.1));
            case.completion.iter().map(move |(file, content)| {
                (format!("{}/{file}", case.name), Arc::clone(&block), lines_of(content))
            })
        })
        .collect::<Vec<_>>();
    Trial::test("completions hold the lines of their blocks", move || {
        let wrong = pairs.iter().filter_map(|(name, block, completed)| {
            let mut rest = completed.iter();
            let lost = block.iter().map(|line| essence(line)).filter(|line| *line != "...");
            let mut lost = lost.filter(|line| !rest.any(|completed| completed.contains(line)));
            lost.next().map(|line| format!("{name} does not hold `{line}` where the block has it"))
        });
        let wrong = wrong.collect::<Vec<_>>();
        if wrong.is_empty() { Ok(()) } else { Err(Failed::from(wrong.join("\n"))) }
    })
}

/// A line without what is no part of it: the result behind an arrow, the number of a remark, the slash of a directory.
fn essence(line: &str) -> &str {
    let line = line.split("  ->  ").next().unwrap_or(line);
    let line = line.strip_suffix(" (1)").or_else(|| line.strip_suffix(" (2)")).unwrap_or(line);
    line.trim_end_matches('/')
}
