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

use std::net::TcpListener;
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

/// A command line of `dm`: the binary takes it as it is written, with a name and version where the document leaves them
/// open, and gets as far as asking its server. What the server makes of it is tested with one, in `http/dm`.
fn command(case: &Case) -> Result<(), String> {
    if case.facts.verdict != Verdict::Works {
        return Err(
            "the binary takes commands of `dm`: the verdict is `works`, or the reason a new one".to_owned()
        );
    }
    let block = String::from_utf8_lossy(&case.block.1);
    let line = block.trim().strip_prefix("$ dm ").ok_or("the block is no command line of `dm`")?;
    let line = line.replace("<template-name>:<version>", "redis:v1.0");
    // A port of this machine that nobody listens at.
    let held = TcpListener::bind("127.0.0.1:0").map_err(|error| error.to_string())?;
    let port = held.local_addr().map_err(|error| error.to_string())?.port();
    drop(held);
    let service = format!("http://127.0.0.1:{port}");
    let output = Command::new(env!("CARGO_BIN_EXE_formwork"))
        .arg("dm")
        .args(line.split_whitespace())
        .env("FORMWORK_SERVER", &service)
        .output()
        .map_err(|error| format!("the binary cannot be started: {error}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    match said.contains(&format!("no answer from {service}")) {
        true => Ok(()),
        false => Err(format!("`dm {line}` is not taken: {said}")),
    }
}
