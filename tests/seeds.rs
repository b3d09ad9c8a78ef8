//! Every code block of the documents the project comes from, as a case with its verdict: what works as written, what
//! works once completed, what is defective, and what is not processed yet.
//!
//! A case is a folder under `seeds/<document>/`; adding one is adding a folder. `seeds/README.md` says what is in it.
//! Blocks that can be processed go through the real engine, layouts through the real walk, references through the
//! real parser. Where the documents themselves are at hand, each block and the sentence before it are compared with
//! them, and no line of code in them may be without a case.

#[path = "seeds/runner/case.rs"]
mod case;
#[path = "seeds/runner/conventions.rs"]
mod conventions;
#[path = "seeds/runner/documents.rs"]
mod documents;
#[path = "seeds/runner/templates.rs"]
mod templates;

use std::path::PathBuf;
use std::process::{Command, ExitCode};

use libtest_mimic::{Arguments, Failed, Trial};

use crate::case::{Case, Kind, Verdict};

/// What is said where a verdict is out of date, which is a failure: whoever makes something work gives it a verdict.
const OUT_OF_DATE: &str = "this case can be processed now: give it a verdict (`promised` becomes `runs`)";

#[expect(clippy::print_stderr, reason = "without cases there is no test that could fail")]
fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/seeds");
    let cases = match case::read_all(&folder) {
        Ok(cases) => cases,
        Err(message) => {
            eprintln!("the cases cannot be read: {message}");
            return ExitCode::FAILURE;
        }
    };
    let mut trials = documents::trials(&cases);
    trials.extend(cases.into_iter().map(|case| {
        let name = case.name.clone();
        Trial::test(name, move || {
            let in_full =
                |wrong| format!("{wrong}\n\nthe verdict was {:?}: {}", case.facts.verdict, case.facts.why);
            judge(&case).map_err(|wrong| Failed::from(in_full(wrong)))
        })
    }));
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// Holds a case to its verdict.
fn judge(case: &Case) -> Result<(), String> {
    conventions::check(case)?;
    match case.facts.kind {
        Kind::Layout | Kind::Reference | Kind::Version => match case.facts.verdict {
            Verdict::NotProcessedYet | Verdict::NotATemplate => {
                Err("layouts and references are read today".to_owned())
            }
            Verdict::Works | Verdict::WorksWhenCompleted | Verdict::Defective
                if case.facts.states_a_convention() =>
            {
                Ok(())
            }
            _ => Err("the case checks nothing: add layouts, references, versions or resolves".to_owned()),
        },
        Kind::Command => command(case),
        Kind::Text | Kind::Template(_) => templates::check(case),
    }
}

/// A command line of `dm`: until the binary answers to that name, it is not processed.
fn command(case: &Case) -> Result<(), String> {
    let answers = Command::new(env!("CARGO_BIN_EXE_formwork"))
        .args(["dm", "--help"])
        .output()
        .map_err(|error| format!("the binary cannot be started: {error}"))?
        .status
        .success();
    match (case.facts.verdict, answers) {
        (Verdict::NotProcessedYet, false) => Ok(()),
        (Verdict::NotProcessedYet, true) => Err(OUT_OF_DATE.to_owned()),
        (verdict, _) => Err(format!("a command cannot have the verdict {verdict:?} here")),
    }
}
