//! `formwork process --interactive` on a terminal, which the program `script` makes.

use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};

use crate::kit::{formwork, run_with, skipped, workspace};

/// A program on a terminal of its own: what it shows, and what is typed.
struct Terminal {
    child: Child,
    shown: String,
}

impl Terminal {
    fn start(arguments: &str) -> Option<Terminal> {
        let line = format!("{} {arguments}", env!("CARGO_BIN_EXE_formwork"));
        let child = Command::new("script")
            .args(["-qec", &line, "/dev/null"])
            .current_dir(workspace())
            .env("NO_COLOR", "1")
            .env("TERM", "dumb")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        match child {
            Ok(child) => Some(Terminal { child, shown: String::new() }),
            Err(error) => {
                skipped(&format!("the program `script`, which makes a terminal, cannot be started: {error}"));
                None
            }
        }
    }

    /// Waits for a question, and types the answer.
    fn answer(&mut self, question: &str, answer: &str) {
        let from = self.shown.len();
        let stdout = self.child.stdout.as_mut().expect("standard output is piped");
        while !self.shown[from..].ends_with(question) {
            let mut byte = [0; 1];
            let read = stdout.read(&mut byte).expect("the terminal can be read");
            assert_eq!(read, 1, "it ended before {question:?} was asked:\n{}", self.shown);
            self.shown.push(char::from(byte[0]));
        }
        // A terminal's echo is switched off after the question is written, and what came before is lost.
        std::thread::sleep(std::time::Duration::from_millis(200));
        let stdin = self.child.stdin.as_mut().expect("standard input is piped");
        writeln!(stdin, "{answer}").expect("it still listens");
    }

    /// Everything that was shown until it ended, and how it ended.
    fn end(mut self) -> (String, bool) {
        let stdout = self.child.stdout.as_mut().expect("standard output is piped");
        let mut rest = Vec::new();
        stdout.read_to_end(&mut rest).expect("the terminal can be read");
        self.shown.push_str(&String::from_utf8_lossy(&rest));
        let status = self.child.wait().expect("it ends");
        (self.shown, status.success())
    }
}

#[test]
fn what_is_missing_is_asked_for_and_secrets_are_not_shown() {
    let arguments = "process examples/registry/databases/postgresql/v1.0.0 -p NAME=shop --interactive -o 'jsonpath={\"made \"}{.items[0].stringData.password} {.items[2].spec.replicas}'";
    let Some(mut terminal) = Terminal::start(arguments) else { return };
    terminal.answer("REPLICAS [1]: ", "many");
    terminal.answer("REPLICAS [1]: ", "3");
    terminal.answer("PASSWORD (hidden): ", "");
    terminal.answer("PASSWORD (hidden): ", "hunter2");
    terminal.answer("VOLUME_SIZE [5Gi]: ", "");
    let (shown, well) = terminal.end();
    assert!(well, "{shown}");
    for said in
        ["it must be a whole number", "a value is needed", "The superuser's password.", "Password, required"]
    {
        assert!(shown.contains(said), "{said}: {shown}");
    }
    // Once, in the objects that were asked for, and not where it was typed.
    assert!(shown.contains("made hunter2 3") && shown.matches("hunter2").count() == 1, "{shown}");
    assert!(!shown.contains("Names every object"), "a parameter that is given is not asked for: {shown}");
}

#[test]
fn without_a_terminal_nobody_is_asked() {
    let mut program = formwork();
    program.current_dir(workspace()).args(["process", "examples/registry/databases/redis/v1.0.0", "-i"]);
    let output = run_with(program, b"secret\n");
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("--interactive asks on a terminal"), "{said}");
}
