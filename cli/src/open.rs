//! `formwork open`: the page of a template, in the browser; its address where there is none.

use std::io::IsTerminal;
use std::process::ExitCode;

use anyhow::ensure;
use schema::Reference;

use crate::arguments::OpenArguments;
use crate::client::Client;
use crate::output;

pub(crate) fn run(arguments: &OpenArguments) -> anyhow::Result<ExitCode> {
    let client = Client::new(&arguments.server.server)?;
    let url = match &arguments.reference {
        None => client.url("/"),
        Some(reference) => {
            reference.parse::<Reference>()?;
            client.url(&client.resolve(reference)?.links.page)
        }
    };
    // What is opened is handed to other programs; only addresses of pages are.
    ensure!(url.starts_with("http://") || url.starts_with("https://"), "`{url}` is no address of a page");
    output::line(&url);
    if !arguments.print
        && std::io::stdout().is_terminal()
        && let Err(error) = opener::open(&url)
    {
        output::note(format_args!("no browser was found ({error}); open the address above"));
    }
    Ok(ExitCode::SUCCESS)
}
