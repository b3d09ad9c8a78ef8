//! The programs a soak drives: where they come from, and running one over a batch of lines.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};

/// How long a program may take for one batch before it is ended.
const PATIENCE: Duration = Duration::from_secs(120);

/// The root of the workspace.
pub(crate) fn workspace() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().map_or_else(|| here.to_path_buf(), Path::to_path_buf)
}

/// The cargo that runs this.
pub(crate) fn cargo() -> OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

/// Where soaks keep what they make: below cargo's own directory for what is built.
pub(crate) fn scratch() -> anyhow::Result<PathBuf> {
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| workspace().join("target"), PathBuf::from);
    let scratch = target.join("soak");
    std::fs::create_dir_all(&scratch).with_context(|| format!("{} cannot be made", scratch.display()))?;
    Ok(scratch)
}

/// Builds one of the Go programs in `tests/oracles`.
pub(crate) fn build_oracle(name: &str) -> anyhow::Result<PathBuf> {
    let program = scratch()?.join(format!("oracle-{name}"));
    let status = Command::new("go")
        .arg("build")
        .arg("-o")
        .arg(&program)
        .arg(".")
        .current_dir(workspace().join("tests/oracles").join(name))
        .status()
        .context("the originals are Go programs; `go` does not start: install Go 1.24 or newer")?;
    if !status.success() {
        bail!("the originals in tests/oracles/{name} do not build");
    }
    Ok(program)
}

/// Builds the server and gives where it is.
pub(crate) fn build_formwork() -> anyhow::Result<PathBuf> {
    let status = Command::new(cargo())
        .args(["build", "--quiet", "-p", "cli"])
        .status()
        .context("cargo does not start")?;
    if !status.success() {
        bail!("formwork does not build");
    }
    Ok(scratch()?.with_file_name("debug").join("formwork"))
}

/// Builds examples of one of our crates and gives where they are.
pub(crate) fn build_examples<const N: usize>(
    package: &str,
    features: &[&str],
    examples: [&str; N],
) -> anyhow::Result<[PathBuf; N]> {
    let mut command = Command::new(cargo());
    command
        .args(["build", "--message-format=json-render-diagnostics", "-p", package])
        .current_dir(workspace());
    command.args(["--features", &features.join(",")]);
    command.args(examples.iter().flat_map(|example| ["--example", example]));
    let output = command.stderr(Stdio::inherit()).output().context("cargo does not start")?;
    if !output.status.success() {
        bail!("the examples of {package} do not build");
    }
    let made = output.stdout.split(|byte| *byte == b'\n').filter_map(|line| {
        let message = serde_json::from_slice::<serde_json::Value>(line).ok()?;
        let executable = message["executable"].as_str()?;
        Some((message["target"]["name"].as_str()?.to_owned(), PathBuf::from(executable)))
    });
    let made = made.collect::<Vec<_>>();
    let mut found = examples.map(|_| PathBuf::new());
    for (place, example) in found.iter_mut().zip(examples) {
        let program = made.iter().find(|(name, _)| name == example);
        *place = program.with_context(|| format!("cargo did not say where {example} is"))?.1.clone();
    }
    Ok(found)
}

/// Lines that a program writes, as they come. The program ends when this is dropped.
pub(crate) struct Lines {
    child: Child,
    lines: std::io::Lines<BufReader<std::process::ChildStdout>>,
}

impl Lines {
    pub(crate) fn of(program: &Path, arguments: &[String]) -> anyhow::Result<Self> {
        let mut child = Command::new(program)
            .args(arguments)
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("{} does not start", program.display()))?;
        let stdout = child.stdout.take().context("its output was to be piped")?;
        Ok(Self { child, lines: BufReader::new(stdout).lines() })
    }

    /// At most so many of the next lines; none at the end.
    pub(crate) fn batch(&mut self, most: usize) -> anyhow::Result<Vec<String>> {
        self.lines.by_ref().take(most).map(|line| line.context("a line cannot be read")).collect()
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What a program answered to a line.
pub(crate) enum Answer {
    Line(String),
    /// It ended, or had to be ended, instead of answering.
    Died,
}

/// Gives a program lines on its standard input and takes one answer for each. A program that dies on one is started
/// again with the next.
pub(crate) fn answers(program: &Path, arguments: &[&str], asked: &[String]) -> anyhow::Result<Vec<Answer>> {
    let mut answers = Vec::with_capacity(asked.len());
    while answers.len() < asked.len() {
        let left = &asked[answers.len()..];
        let given = once(program, arguments, left)?;
        let count = given.len();
        answers.extend(given.into_iter().map(Answer::Line));
        if count < left.len() {
            answers.push(Answer::Died);
        }
    }
    Ok(answers)
}

/// The answers until the program ends.
fn once(program: &Path, arguments: &[&str], asked: &[String]) -> anyhow::Result<Vec<String>> {
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        // What a dying program says of its stack is long, and no use here.
        .stderr(Stdio::null())
        .spawn()
        .with_context(|| format!("{} does not start", program.display()))?;
    let mut stdin = child.stdin.take().context("its input was to be piped")?;
    let stdout = child.stdout.take().context("its output was to be piped")?;
    let done = AtomicBool::new(false);
    let answers = std::thread::scope(|scope| {
        scope.spawn(move || {
            for line in asked {
                // It may have ended; then there is nobody to tell.
                if writeln!(stdin, "{line}").is_err() {
                    break;
                }
            }
        });
        scope.spawn(|| {
            let began = Instant::now();
            while !done.load(Ordering::Relaxed) {
                if began.elapsed() > PATIENCE {
                    let _ = child.kill();
                }
                std::thread::sleep(Duration::from_millis(10));
            }
            let _ = child.wait();
        });
        let read = BufReader::new(stdout).lines().collect::<Result<Vec<_>, _>>();
        done.store(true, Ordering::Relaxed);
        read
    });
    let mut answers = answers.context("an answer cannot be read")?;
    answers.truncate(asked.len());
    Ok(answers)
}
