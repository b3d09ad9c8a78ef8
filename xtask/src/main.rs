//! `cargo xtask`: the jobs of a developer that take long or need programs beyond a compiler.
//!
//! It drives programs from outside (our own examples and benches, the originals in `tests/oracles`) and must not know
//! any crate of ours, but for `bake-python`, which has `worker` bake the interpreter that `worker` runs. CI runs none of it; what it found is kept in `benches/README.md`.

mod bake_python;
mod figures;
mod programs;
mod soak;
mod terminal;

use std::process::{Command, ExitCode};

use anyhow::Context;
use clap::{Args, Parser, Subcommand};

/// Jobs of a developer that take long or need other programs
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    job: Job,
}

#[derive(Debug, Subcommand)]
enum Job {
    /// Make a Git repository of templates: same numbers, same commit
    ///
    /// Hands its arguments to `formwork-bench generate`, built with optimisation:
    /// `cargo xtask generate --versions 10000 --seed 7 /tmp/templates.git`.
    #[command(disable_help_flag = true)]
    Generate {
        /// What `formwork-bench generate --help` lists
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Make the interpreter that Python templates run in (needs npm, pip and tar; same inputs, same bytes)
    BakePython(bake_python::BakeArguments),
    /// Compare with the originals over many generated cases, or run something for long
    Soak(SoakArguments),
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
struct SoakArguments {
    /// Without one: every soak there is, one after the other
    #[command(subcommand)]
    which: Option<Soak>,
    #[command(flatten)]
    size: Size,
}

#[derive(Debug, Clone, Subcommand)]
enum Soak {
    /// Generated Go templates, rendered by ours and by Go with sprig (needs Go)
    Gotemplate(Size),
    /// Generated texts, values and documents, written and read by ours and by sigs.k8s.io/yaml (needs Go)
    Yaml(Size),
    /// A server that is killed at random while a repository changes, compared with git after each restart (needs git)
    Kill(soak::kill::Rounds),
}

/// How much, and which.
#[derive(Debug, Clone, Copy, Args)]
struct Size {
    /// How many cases
    #[arg(long, default_value_t = 100_000)]
    cases: u64,
    /// What decides the cases: same seed, same cases
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

fn main() -> anyhow::Result<ExitCode> {
    match Arguments::parse().job {
        Job::Generate { arguments } => generate(&arguments),
        Job::BakePython(arguments) => bake_python::run(&arguments),
        Job::Soak(SoakArguments { which: Some(Soak::Gotemplate(size)), .. }) => soak::gotemplate::run(size),
        Job::Soak(SoakArguments { which: Some(Soak::Yaml(size)), .. }) => soak::yaml::run(size),
        Job::Soak(SoakArguments { which: Some(Soak::Kill(rounds)), .. }) => soak::kill::run(&rounds),
        Job::Soak(SoakArguments { which: None, size }) => {
            let ended = [
                soak::gotemplate::run(size)?,
                soak::yaml::run(size)?,
                soak::kill::run(&soak::kill::Rounds::default())?,
            ];
            let failed = ended.iter().any(|code| *code != ExitCode::SUCCESS);
            Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
        }
    }
}

fn generate(arguments: &[String]) -> anyhow::Result<ExitCode> {
    let status = Command::new(programs::cargo())
        .args(["run", "--quiet", "--release", "-p", "benches", "--bin", "formwork-bench", "--", "generate"])
        .args(arguments)
        .status()
        .context("cargo does not start")?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
