//! Makes the snapshot: starts CPython, lets it import what templates use, and freezes its memory into a module.
//!
//! The same inputs give the same bytes: the clock stands, and randomness is of one seed. It is a developer's job
//! (`cargo xtask bake-python`), and no part of the product.

mod rewrite;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use schema::digest::Digest;
use serde::{Deserialize, Serialize};
use wasmtime::{Caller, Engine, Module, Store, StoreLimits};

use super::program;
use super::system::{self, Clock, System};
use rewrite::{Frozen, rewrite};

const PRELUDE: &str = include_str!("guest/prelude.py");
const DRIVER: &str = include_str!("guest/driver.py");

/// What the clock shows while it is baked: 2026-01-01T00:00:00Z.
const BAKED_AT: u64 = 1_767_225_600_000_000_000;

/// Where a function of CPython 3.12, built for 32 bits, keeps the code that calls it (`vectorcall` in
/// `PyFunctionObject`). What it points to is tried by `compile` and by every render.
const VECTORCALL_OFFSET: usize = 64;

/// What was baked.
#[derive(Debug)]
pub struct Baked {
    /// The module.
    pub wasm: Vec<u8>,
    /// The version of Python it says it is.
    pub python: String,
    /// Where the frozen function lies in its memory.
    pub serve: u32,
    /// Where in its table the code lies that calls a function of Python.
    pub entry: u32,
}

/// Why nothing was baked.
#[derive(Debug, thiserror::Error)]
pub enum BakeError {
    /// The input is no module, or not one of the form expected.
    #[error("{0}")]
    Module(String),
    /// It did not come as far as the snapshot.
    #[error("the interpreter ended before it could be frozen: {why}\n{said}")]
    Prelude {
        /// How it ended.
        why: String,
        /// What it wrote.
        said: String,
    },
}

impl From<wasmparser::BinaryReaderError> for BakeError {
    fn from(error: wasmparser::BinaryReaderError) -> BakeError {
        BakeError::Module(format!("the interpreter is not the WebAssembly expected: {error}"))
    }
}

impl From<wasmtime::Error> for BakeError {
    fn from(error: wasmtime::Error) -> BakeError {
        BakeError::Module(format!("{error:#}"))
    }
}

/// What the prelude reads.
#[derive(Serialize)]
struct Given<'a> {
    modules: BTreeMap<String, (&'a str, &'a str, bool)>,
    driver: &'a str,
}

/// What the prelude writes.
#[derive(Deserialize)]
struct Said {
    serve: u32,
    version: String,
}

/// Bakes CPython for WASI with these packages: paths like `yaml/loader.py`, with their texts.
///
/// # Errors
/// When the interpreter is not of the form expected, or the packages cannot be imported.
pub fn bake(python: &[u8], packages: &BTreeMap<String, String>) -> Result<Baked, BakeError> {
    let mut config = program::config();
    // Nobody moves the epoch on here, and the code is run once.
    config.epoch_interruption(false);
    let engine = Engine::new(&config)?;
    let module = Module::new(&engine, rewrite(python, None)?)?;
    let mut linker = system::link(&engine, &module)?;

    // The prelude asks for the clock's resolution when it is done: a call in which Python keeps its lock, so that its
    // state is whole. There it is frozen, and it never returns.
    let frozen = Arc::new(Mutex::new(None));
    let taken = Arc::clone(&frozen);
    let freeze = move |mut caller: Caller<'_, System>, _: i32, _: i32| -> wasmtime::Result<i32> {
        let memory = caller.get_export("memory").and_then(wasmtime::Extern::into_memory);
        let pointer = caller.get_export(rewrite::STACK_POINTER).and_then(wasmtime::Extern::into_global);
        let (Some(memory), Some(pointer)) = (memory, pointer) else {
            return Err(wasmtime::Error::msg("the interpreter exports no memory"));
        };
        let stack_pointer = pointer.get(&mut caller).i32().unwrap_or_default();
        let memory = memory.data(&caller).to_vec();
        *taken.lock().unwrap_or_else(PoisonError::into_inner) = Some(Frozen { memory, stack_pointer });
        Err(wasmtime::Error::msg("frozen"))
    };
    linker.func_wrap("wasi_snapshot_preview1", "clock_res_get", freeze)?;

    let mut system = System::new(Clock::Stopped(BAKED_AT), StoreLimits::default());
    system.arguments = ["python", "-B", "-c", PRELUDE].map(str::to_owned).to_vec();
    // Hashes of texts are the same in every instance: what a template makes may depend on the order of a set.
    system.environment = vec!["PYTHONHASHSEED=0".to_owned()];
    system.hears_errors();
    let given = serde_json::to_vec(&Given { modules: modules(packages), driver: DRIVER })
        .map_err(|error| BakeError::Module(error.to_string()))?;
    system.begin(given, &Digest::of(b"formwork bake-python"), usize::MAX);
    let mut store = Store::new(&engine, system);
    let instance = linker.instantiate(&mut store, &module)?;
    let ended = instance.get_typed_func::<(), ()>(&mut store, "_start")?.call(&mut store, ());

    let said = String::from_utf8_lossy(&store.data_mut().take_output()).into_owned();
    let failed = |why: String| BakeError::Prelude { why, said: said.clone() };
    let Some(frozen) = frozen.lock().unwrap_or_else(PoisonError::into_inner).take() else {
        return Err(failed(
            ended.map_or_else(|error| format!("{error:#}"), |()| "it came to its end".to_owned()),
        ));
    };
    let told = serde_json::from_str::<Said>(said.trim()).map_err(|error| failed(error.to_string()))?;
    let slot = told.serve as usize + VECTORCALL_OFFSET;
    let entry = frozen.memory.get(slot..).and_then(|rest| rest.first_chunk::<4>());
    let entry = entry.ok_or_else(|| failed("the frozen function lies outside its memory".to_owned()))?;
    let entry = u32::from_le_bytes(*entry);
    Ok(Baked { wasm: rewrite(python, Some(&frozen))?, python: told.version, serve: told.serve, entry })
}

/// The hash that `dmpy.json` names things by.
pub fn sha256(bytes: &[u8]) -> String {
    Digest::of(bytes).hex()
}

/// Names of modules for paths: `yaml/__init__.py` is `yaml`.
fn modules(packages: &BTreeMap<String, String>) -> BTreeMap<String, (&str, &str, bool)> {
    let named = packages.iter().filter_map(|(path, source)| {
        let name = path.strip_suffix(".py")?;
        let package = name.strip_suffix("/__init__");
        let module = package.unwrap_or(name).replace('/', ".");
        Some((module, (path.as_str(), source.as_str(), package.is_some())))
    });
    named.collect()
}
