//! `formwork sync NAME`: has a server look at a registry now, and waits for how it goes.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::bail;

use crate::arguments::SyncArguments;
use crate::client::Client;
use crate::output;

/// Between two questions how it goes.
const PAUSE: Duration = Duration::from_millis(200);

pub(crate) fn run(arguments: &SyncArguments) -> anyhow::Result<ExitCode> {
    let (name, client) = (&arguments.registry, Client::new(&arguments.server.server)?);
    client.sync(name)?;
    if arguments.no_wait {
        output::line(format!("{name} is in line"));
        return Ok(ExitCode::SUCCESS);
    }
    loop {
        // From being asked for until its turn ends it is neither.
        let registry = client.registry(name)?;
        let sync = registry.summary.sync;
        match sync.state.as_str() {
            "failed" => bail!("{name}: {}", sync.message.as_deref().unwrap_or("it failed")),
            "ready" => {
                let at = registry.commit.map(|commit| format!(" at {commit}")).unwrap_or_default();
                output::line(format!("{name} is in step{at}"));
                return Ok(ExitCode::SUCCESS);
            }
            _ => std::thread::sleep(PAUSE),
        }
    }
}
