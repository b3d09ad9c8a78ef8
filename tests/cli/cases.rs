//! Commands, as the files in `cases/` write them, run in the root of the workspace.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::kit::{Expectation, Server, case_files, formwork, run_with, workspace};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    command: Vec<Command>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Command {
    /// What it shows.
    name: String,
    /// The arguments; `{server}` is the URL of a server of the example registry.
    arguments: Vec<String>,
    #[serde(default)]
    environment: BTreeMap<String, String>,
    /// A file, from the root of the workspace, on standard input.
    input: Option<String>,
    status: i32,
    #[serde(default)]
    stdout: Expectation,
    #[serde(default)]
    stderr: Expectation,
}

#[test]
fn commands_do_as_the_cases_say() {
    let server = Server::start(&["examples/registry"]);
    let (mut wrong, mut commands) = (Vec::new(), 0);
    for (file, case) in case_files::<Case>("cli/cases") {
        for command in case.command {
            commands += 1;
            wrong.extend(
                run(&server, &command)
                    .into_iter()
                    .map(|failure| format!("{file}: {}: {failure}", command.name)),
            );
        }
    }
    assert!(wrong.is_empty(), "{} complaints about {commands} commands:\n{}", wrong.len(), wrong.join("\n"));
}

fn run(server: &Server, command: &Command) -> Vec<String> {
    let place = |text: &String| text.replace("{server}", server.url());
    let input = command
        .input
        .as_ref()
        .map(|path| std::fs::read(workspace().join(path)).unwrap_or_else(|error| panic!("{path}: {error}")));
    let mut program = formwork();
    program.current_dir(workspace()).args(command.arguments.iter().map(place));
    program.envs(command.environment.iter().map(|(name, value)| (name, place(value))));
    let output = run_with(program, &input.unwrap_or_default());
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let mut wrong = Vec::new();
    if output.status.code() != Some(command.status) {
        wrong.push(format!("ended with {}, not {}", output.status, command.status));
    }
    wrong.extend(
        command.stdout.failures(&stdout).into_iter().map(|failure| format!("standard output {failure}")),
    );
    wrong.extend(
        command.stderr.failures(&stderr).into_iter().map(|failure| format!("standard error {failure}")),
    );
    if !wrong.is_empty() {
        wrong.push(format!("it printed:\n{stdout}---\n{stderr}"));
    }
    wrong
}
