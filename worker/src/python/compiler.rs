//! The child that compiles the interpreter, so that what the compiler takes is given back, and a processor that is
//! short of memory loses a child and no server.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use schema::digest::Digest;
use schema::limits::Budget;

use super::instance::Instance;
use super::program::{self, Program};
use super::system::Clock;
use crate::child::{Child, ChildConfig};
use crate::inside;

/// The longest compiled interpreter taken from the child.
const LONGEST: u64 = 256 << 20;

/// Memory of the compiling child.
const MEMORY: u64 = 3 << 30;

/// How long it may take on a slow and busy machine.
const WALL: Duration = Duration::from_secs(300);

/// The hidden command that compiles.
pub(super) const COMMAND: &str = "__python";

/// Compiles the interpreter and hands it to the parent: the binary's hidden command.
pub fn run_compiler() -> ExitCode {
    // Shown by ps and top. A process without a name works as well.
    let _ = rustix::thread::set_name(c"formwork-python");
    // Others may be waiting for this machine's processors, nobody is for this in milliseconds.
    let _ = rustix::process::nice(5);
    let done = inside::enter().map_err(|error| error.to_string()).and_then(|mut entered| {
        let compiled = program::compile()?;
        try_out(&compiled)?;
        entered.send(&compiled).map_err(|error| error.to_string())
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => inside::refuse(&message),
    }
}

/// Has the compiled interpreter answer once.
fn try_out(compiled: &[u8]) -> Result<(), String> {
    // SAFETY: `compiled` was made just now, in this process, by `program::compile`.
    let program = unsafe { Program::from_memory(compiled) }?;
    let budget = Budget::default();
    let deadline = Instant::now() + WALL;
    let failed = |what: &str| format!("the interpreter does not work on this machine: {what}");
    let mut instance = Instance::start(&program, Clock::Stopped(0), &budget, deadline)
        .map_err(|stopped| failed(&format!("{stopped:?}")))?;
    let job = r#"{"language": "python", "file": "t.py", "properties": null, "env": {}, "imports": {}, "output": 1000,
        "source": "import yaml\ndef GenerateConfig(context):\n  return yaml.dump({'six': 6 * len(context.env) + 6})\n"}"#;
    let said = instance
        .call(job.as_bytes().to_vec(), &Digest::of(b"a trial"))
        .map_err(|stopped| failed(&format!("{stopped:?}")))?;
    let said = String::from_utf8_lossy(&said);
    if said == r#"{"text": "six: 6\n"}"# { Ok(()) } else { Err(failed(&said)) }
}

/// Has a child of this program compile it.
pub(super) async fn compile_in_child(program: &std::path::Path) -> Result<Vec<u8>, String> {
    let config = ChildConfig {
        program: program.to_owned(),
        memory: Some(MEMORY),
        wall: WALL,
        ..ChildConfig::own([COMMAND])
    };
    let text = |error: crate::ChildError| error.to_string();
    let mut child = Child::start(config).await.map_err(text)?;
    let compiled = child.receive(LONGEST).await.map_err(text)?;
    let compiled = compiled.ok_or("the compiling process ended without a word")?;
    child.finish().await.map_err(text)?;
    Ok(compiled)
}
