//! `formwork-bench`: figures of the release binary beside the peers it is compared to, in the same run.
//!
//! It drives programs from outside (formwork, git, nginx, wrk) and must not know any crate of the product. Every part is
//! bounded in time, stays on the loopback interface and ends what it started. Ratios decide, for absolute times say
//! as much about the machine; kept figures are in `benches/README.md`.

mod docker_registry;
mod generate;
#[expect(dead_code, reason = "shared with the end-to-end tests, which use the rest")]
#[path = "../../tests/kit/git_http.rs"]
mod git_http;
mod http;
mod index;
mod kubernetes;
#[expect(dead_code, reason = "shared with the end-to-end tests, which use the rest")]
#[path = "../../tests/kit/process.rs"]
mod process;
mod push;
mod python;
mod report;
#[expect(dead_code, reason = "shared with the end-to-end tests, which use the rest")]
#[path = "../../tests/kit/repository.rs"]
mod repository;
mod search;
mod server;
mod start;
mod statistics;
mod syncing;
mod versions;
mod wrk;

use std::path::PathBuf;

use anyhow::{Context, bail};
use clap::{Args, Parser, Subcommand};

use report::{Section, say};

/// Versions a template of a catalogue has at the most.
const CATALOGUE_VERSIONS: usize = 4;

/// Measures formwork beside its peers
#[derive(Debug, Parser)]
#[command(name = "formwork-bench", max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Make Git repositories of templates: same numbers, same commits
    #[command(
        after_help = "With --templates a catalogue of several registries is made, and `formwork serve` is told of each:\n\n  formwork-bench generate --templates 5000 /tmp/catalogue | xargs formwork serve"
    )]
    Generate {
        /// One registry of so many versions
        #[arg(long, default_value_t = 1_000)]
        versions: usize,
        /// A catalogue of so many templates over several registries, in place of one registry
        #[arg(long, conflicts_with = "versions")]
        templates: Option<usize>,
        /// What decides everything else
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// The bare repository to make, or the directory for those of a catalogue
        directory: PathBuf,
    },
    /// Time to index, beside `git clone --bare` and reading the same blobs
    Index {
        #[command(flatten)]
        under_test: UnderTest,
        /// How many versions
        #[arg(long, default_value_t = 1_000)]
        versions: usize,
        /// How often
        #[arg(long, default_value_t = 3)]
        rounds: usize,
    },
    /// Requests a second and p99 beside nginx serving the same bytes, with a sync running
    Http {
        #[command(flatten)]
        under_test: UnderTest,
        /// Seconds of load in each run
        #[arg(long, default_value_t = 4)]
        seconds: u64,
        /// How many pairs of runs of each kind
        #[arg(long, default_value_t = 3)]
        rounds: usize,
    },
    /// Start to ready with an index on disk, and the memory it takes
    Start {
        #[command(flatten)]
        under_test: UnderTest,
        /// How many versions
        #[arg(long, default_value_t = 10_000)]
        versions: usize,
        /// How often
        #[arg(long, default_value_t = 3)]
        rounds: usize,
    },
    /// Time from a push of one file to its being served, for registries of several sizes
    Push {
        #[command(flatten)]
        under_test: UnderTest,
        /// How many versions; may be given again
        #[arg(long, default_values_t = [1_000, 10_000])]
        versions: Vec<usize>,
        /// How many pushes to each
        #[arg(long, default_value_t = 50)]
        rounds: usize,
    },
    /// Kubernetes Templates beside `oc process --local` and OpenShift's library; needs Go and cargo
    Kubernetes {
        #[command(flatten)]
        under_test: UnderTest,
        /// The `oc` program; without it the library's own program stands in
        #[arg(long)]
        oc: Option<PathBuf>,
        /// How often
        #[arg(long, default_value_t = 21)]
        rounds: usize,
    },
    /// Searching a large catalogue, alone and while it is being written to; memory, and start to ready
    Search {
        #[command(flatten)]
        under_test: UnderTest,
        /// How many templates
        #[arg(long, default_value_t = 100_000)]
        count: usize,
        /// How often each query is asked
        #[arg(long, default_value_t = 50)]
        rounds: usize,
    },
    /// Resolving a template of few versions and of very many
    Versions {
        #[command(flatten)]
        under_test: UnderTest,
        /// How many versions; may be given again
        #[arg(long, default_values_t = [10, 100, 1_000, 10_000])]
        count: Vec<usize>,
        /// Seconds of load in each run
        #[arg(long, default_value_t = 4)]
        seconds: u64,
        /// How many runs of each
        #[arg(long, default_value_t = 3)]
        rounds: usize,
    },
    /// Deployment Manager templates, beside one python3 process an expansion
    Python {
        #[command(flatten)]
        under_test: UnderTest,
        #[command(flatten)]
        counts: python::Counts,
    },
    /// Everything, into benches/README.md
    All {
        #[command(flatten)]
        under_test: UnderTest,
        /// The page to write the figures into
        #[arg(long, default_value = "benches/README.md")]
        page: PathBuf,
    },
}

#[derive(Debug, Clone, Args)]
struct UnderTest {
    /// The release binary
    #[arg(long, default_value = "target/release/formwork")]
    program: PathBuf,
}

impl UnderTest {
    fn program(&self) -> anyhow::Result<PathBuf> {
        let path = self.program.canonicalize();
        path.with_context(|| format!("{} is not there: cargo build --release -p cli", self.program.display()))
    }
}

fn main() -> anyhow::Result<()> {
    match Arguments::parse().command {
        Command::Generate { templates: Some(templates), seed, directory, .. } => {
            for (name, generated) in generate::catalogue(&directory, templates, CATALOGUE_VERSIONS, seed)? {
                let path = generated.repository.path().canonicalize()?;
                say(format_args!("--registry {name}=file://{}", path.display()));
            }
            Ok(())
        }
        Command::Generate { versions, seed, directory, .. } => {
            let generated = generate::generate(&directory, versions, seed)?;
            say(format_args!(
                "{} {} versions of {} templates",
                generated.commit,
                versions,
                generated.templates.len()
            ));
            Ok(())
        }
        Command::Index { under_test, versions, rounds } => {
            index::run(&under_test.program()?, versions, rounds)?.print()
        }
        Command::Http { under_test, seconds, rounds } => {
            match http::run(&under_test.program()?, seconds, rounds)? {
                Some(section) => section.print(),
                None => Ok(()),
            }
        }
        Command::Start { under_test, versions, rounds } => {
            start::run(&under_test.program()?, versions, rounds)?.print()
        }
        Command::Push { under_test, versions, rounds } => {
            push::run(&under_test.program()?, &versions, rounds)?.print()
        }
        Command::Kubernetes { under_test, oc, rounds } => {
            kubernetes::run(&under_test.program()?, oc.as_deref(), rounds)?.print()
        }
        Command::Search { under_test, count, rounds } => {
            search::run(&under_test.program()?, count, rounds)?.print()
        }
        Command::Versions { under_test, count, seconds, rounds } => {
            versions::run(&under_test.program()?, &count, seconds, rounds)?.print()
        }
        Command::Python { under_test, counts } => match python::run(&under_test.program()?, &counts)? {
            Some(section) => section.print(),
            None => Ok(()),
        },
        Command::All { under_test, page } => all(&under_test, &page),
    }
}

fn all(under_test: &UnderTest, page: &std::path::Path) -> anyhow::Result<()> {
    let program = under_test.program()?;
    if !page.exists() {
        bail!("{} is not there: run this from the root of the workspace", page.display());
    }
    let mut sections = vec![index::run(&program, 1_000, 3)?, index::run(&program, 10_000, 3)?];
    sections.push(push::run(&program, &[1_000, 10_000], 50)?);
    sections.extend(http::run(&program, 4, 3)?);
    sections.push(versions::run(&program, &[10, 100, 1_000, 10_000], 4, 3)?);
    sections.push(start::run(&program, 10_000, 3)?);
    sections.push(search::run(&program, 100_000, 50)?);
    sections.extend(python::run(&program, &python::Counts::default())?);
    sections.iter().try_for_each(Section::print)?;
    report::write(page, &sections)
}
