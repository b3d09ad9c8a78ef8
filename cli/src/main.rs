//! `formwork`: the composition root. Reads arguments, builds what a command needs, says how it went.
//!
//! The hidden child commands come first, before arguments are parsed or a runtime starts, so that a worker is
//! ready in milliseconds. This crate must not hold rules of the convention or of a dialect.

mod arguments;
mod check;
mod client;
mod configuration;
mod decide;
mod digest;
#[cfg(feature = "github")]
mod discovery;
mod dm;
mod export;
mod fsck;
mod host;
mod list;
mod merge;
mod open;
mod output;
mod own_tree;
mod process;
mod pull;
mod registries;
mod resolve;
mod search;
mod secret;
mod serve;
mod settings;
mod show;
mod sync;
mod target;
mod template;
mod token;

use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use arguments::{Arguments, Command};

fn main() -> ExitCode {
    match std::env::args_os().nth(1).as_deref().and_then(|argument| argument.to_str()) {
        Some("__worker") => return worker::run_worker(),
        Some("__python") => return worker::python::run_compiler(),
        Some("__scan") => return indexer::run_scan_child(),
        _ => {}
    }
    let command = dm::called(std::env::args_os()).unwrap_or_else(|| Arguments::parse().command);
    let outcome = match command {
        Command::Serve(arguments) => serve::run(&arguments),
        Command::Config(arguments) => serve::config(&arguments),
        Command::Check(arguments) => check::run(&arguments),
        Command::Search(arguments) => search::run(&arguments),
        Command::List(arguments) => list::run(&arguments),
        Command::Show(arguments) => show::run(&arguments),
        Command::Versions(arguments) => show::versions(&arguments),
        Command::Resolve(arguments) => resolve::run(&arguments),
        Command::Pull(arguments) => pull::run(&arguments),
        Command::Open(arguments) => open::run(&arguments),
        Command::Digest(arguments) => digest::run(&arguments),
        Command::Process(arguments) => process::run(&arguments),
        Command::Export(arguments) => export::run(&arguments),
        Command::Merge(arguments) => merge::run(&arguments),
        Command::Token(command) => token::run(&command),
        Command::Template(arguments) => template::run(&arguments),
        Command::Accept(arguments) => decide::accept(&arguments),
        Command::Purge(arguments) => decide::purge(&arguments),
        Command::Sync(arguments) => sync::run(&arguments),
        Command::Fsck(arguments) => fsck::run(&arguments),
        Command::Completions(arguments) => {
            clap_complete::generate(
                arguments.shell,
                &mut Arguments::command(),
                "formwork",
                &mut std::io::stdout(),
            );
            Ok(ExitCode::SUCCESS)
        }
        Command::Dm(arguments) => dm::run(&arguments),
    };
    outcome.unwrap_or_else(|error| {
        output::error(&error);
        ExitCode::from(2)
    })
}
