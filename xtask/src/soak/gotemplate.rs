//! Go templates grown by `gotemplate/examples/generate.rs`, answered by `examples/answer.rs` and by Go, text/template and
//! sprig themselves (`tests/oracles/gotemplate`). Output and error text must be the same, byte for byte.

use std::collections::BTreeMap;
use std::process::ExitCode;

use anyhow::Context;
use serde_json::Value;

use crate::Size;
use crate::figures::Run;
use crate::programs::{self, Answer};
use crate::terminal::{Progress, grouped, say};

/// Cases in one batch: many enough that starting programs costs nothing, few enough to see where one is.
const BATCH: usize = 2_000;

/// How many unexplained differences are shown in full.
const SHOWN: u64 = 50;

/// One case with both answers.
struct Compared<'a> {
    case: &'a Value,
    ours: &'a Value,
    /// Nothing if the original died on it.
    theirs: Option<&'a Value>,
}

/// A kind of difference that is known: what `docs/compatibility/gotemplate.md` says of it, and how it is told.
struct Known {
    why: &'static str,
    is: fn(&Compared<'_>) -> bool,
}

const KNOWN: &[Known] = &[Known {
    why: "the original's process dies of a value that contains itself",
    is: |compared| compared.theirs.is_none(),
}];

pub(crate) fn run(size: Size) -> anyhow::Result<ExitCode> {
    let [generate, answer] =
        programs::build_examples("gotemplate", &["gotemplate/crypto"], ["generate", "answer"])?;
    let oracle = programs::build_oracle("gotemplate")?;
    let arguments = [size.cases.to_string(), size.seed.to_string()];
    let mut generated = programs::Lines::of(&generate, &arguments)?;
    let progress = Progress::new();
    let (mut compared, mut unexplained) = (0, 0);
    let mut explained = BTreeMap::<&str, u64>::new();
    loop {
        let batch = generated.batch(BATCH)?;
        if batch.is_empty() {
            break;
        }
        let (ours, theirs) = std::thread::scope(|scope| {
            let theirs = scope.spawn(|| programs::answers(&oracle, &["answer"], &batch));
            (programs::answers(&answer, &[], &batch), theirs.join())
        });
        let theirs = theirs.map_err(|_| anyhow::anyhow!("comparing was interrupted"))??;
        for ((case, ours), theirs) in batch.iter().zip(ours?).zip(theirs) {
            compared += 1;
            let Answer::Line(ours) = ours else {
                unexplained += 1;
                say(format_args!("ours died on {case}"));
                continue;
            };
            if matches!(&theirs, Answer::Line(theirs) if *theirs == ours) {
                continue;
            }
            let case = parsed(case)?;
            let ours = parsed(&ours)?;
            let theirs = match &theirs {
                Answer::Line(line) => Some(parsed(line)?),
                Answer::Died => None,
            };
            let found = Compared { case: &case, ours: &ours, theirs: theirs.as_ref() };
            // The same may be written in two ways, as JSON has it.
            if theirs.as_ref() == Some(&ours) {
                continue;
            }
            if let Some(known) = KNOWN.iter().find(|known| (known.is)(&found)) {
                *explained.entry(known.why).or_default() += 1;
                continue;
            }
            unexplained += 1;
            if unexplained <= SHOWN {
                show(&found);
            }
        }
        progress.show(format_args!(
            "gotemplate: {} of about {} compared, {} differ without explanation",
            grouped(compared),
            grouped(size.cases),
            grouped(unexplained)
        ));
    }
    drop(progress);
    say(format_args!("gotemplate, seed {}: {} cases compared", size.seed, grouped(compared)));
    for (why, count) in &explained {
        say(format_args!("{:>9} differ: {why}", grouped(*count)));
    }
    let run = Run {
        soak: "gotemplate",
        seed: size.seed,
        cases: compared,
        explained: explained.into_iter().map(|(why, count)| (why.to_owned(), count)).collect(),
        unexplained,
    };
    run.keep()?;
    say(format_args!("{:>9} differ without explanation", grouped(unexplained)));
    Ok(if unexplained == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn parsed(line: &str) -> anyhow::Result<Value> {
    serde_json::from_str(line).with_context(|| format!("this is no JSON: {line}"))
}

fn show(found: &Compared<'_>) {
    // What is long is long by repetition: its beginning and its end say enough.
    let field = |value: &Value, name: &str| {
        let letters = value[name].as_str().unwrap_or_default().chars().collect::<Vec<_>>();
        match letters.len() {
            0..=600 => letters.iter().collect::<String>(),
            length => letters[..400].iter().chain(&['…']).chain(&letters[length - 200..]).collect(),
        }
    };
    say(format_args!(
        "{} numbers={} missing={} {}",
        field(found.case, "profile"),
        field(found.case, "numbers"),
        field(found.case, "missing"),
        field(found.case, "template"),
    ));
    say(format_args!("    ours {:?} {:?}", field(found.ours, "output"), field(found.ours, "error")));
    match found.theirs {
        Some(theirs) => {
            say(format_args!("  theirs {:?} {:?}", field(theirs, "output"), field(theirs, "error")));
        }
        None => say("  theirs: it died"),
    }
}
