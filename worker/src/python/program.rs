//! The interpreter as code: how its WebAssembly is compiled, under which name compiled code is kept, and what is
//! ready to be instantiated.

use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;

use schema::digest::Digest;
use serde::Deserialize;
use wasmtime::{Config, Engine, InstancePre, Module, OptLevel};

use super::alarm::Alarm;
use super::system::{self, System};

/// CPython frozen after its imports, compressed; `cargo xtask bake-python` makes it.
const ARTEFACT: &[u8] = include_bytes!("../../assets/dmpy.wasm.zst");

/// What must be known of it.
const ABOUT: &str = include_str!("../../assets/dmpy.json");

/// Bytes the artefact has unpacked, at most: a mistake in it must not take all memory.
const LARGEST: usize = 64 << 20;

/// What `dmpy.json` says of the artefact.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct About {
    /// The version of Python.
    pub(super) python: String,
    /// sha256 of the module.
    pub(super) wasm: String,
    /// Where the frozen function `serve` lies in the guest's memory.
    pub(super) serve: i32,
    /// Where in the guest's table the code lies that calls a function of Python.
    pub(super) entry: u64,
}

pub(super) fn about() -> About {
    serde_json::from_str(ABOUT).expect("dmpy.json is our own, and a test reads it")
}

/// The version of Python that templates get.
pub fn python_version() -> String {
    about().python
}

/// Settings of the engine. Code compiled under others is not taken, so they are the same wherever it is made or used.
pub(super) fn config() -> Config {
    let mut config = Config::new();
    config
        .cranelift_opt_level(OptLevel::Speed)
        // A loop without an end is stopped by the alarm.
        .epoch_interruption(true)
        // An instance begins as a copy-on-write view of the compiled file.
        .memory_init_cow(true)
        // Python's own limit of recursion comes first; a test shows it.
        .max_wasm_stack(1 << 20)
        // Traces of WebAssembly say nothing to a template's author.
        .wasm_backtrace_max_frames(None)
        .generate_address_map(false);
    config
}

/// The name compiled code is kept under: what it was made of, by which engine, for which processor.
pub(super) fn compiled_name() -> Result<String, String> {
    let engine = Engine::new(&config()).map_err(|error| error.to_string())?;
    let mut hasher = DefaultHasher::new();
    engine.precompile_compatibility_hash().hash(&mut hasher);
    let about = about();
    let made_of = Digest::of(format!("{}\n{}", about.wasm, env!("CARGO_PKG_VERSION")).as_bytes()).hex();
    Ok(format!("python-{}-{:016x}.cwasm", &made_of[..16], hasher.finish()))
}

/// Compiles the interpreter, some seconds of work on all processors, and tries what came out.
pub(super) fn compile() -> Result<Vec<u8>, String> {
    let wasm = zstd::bulk::decompress(ARTEFACT, LARGEST)
        .map_err(|error| format!("the interpreter cannot be unpacked: {error}"))?;
    let found = Digest::of(&wasm).hex();
    if found != about().wasm {
        return Err("the interpreter is not the one dmpy.json describes".to_owned());
    }
    let engine = Engine::new(&config()).map_err(|error| error.to_string())?;
    engine.precompile_module(&wasm).map_err(|error| format!("the interpreter cannot be compiled: {error:#}"))
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Program").field("python", &self.about.python).finish_non_exhaustive()
    }
}

/// Compiled code, mapped and ready to be instantiated.
pub(crate) struct Program {
    pub(super) about: About,
    pub(super) engine: Engine,
    pub(super) instance: InstancePre<System>,
    pub(super) alarm: Alarm,
}

impl Program {
    /// Maps compiled code, a millisecond of work.
    ///
    /// # Safety
    /// The file was made by [`compile`], and nobody but the user this runs as can write to it.
    pub(crate) unsafe fn map(path: &Path) -> Result<Program, String> {
        let engine = Engine::new(&config()).map_err(|error| error.to_string())?;
        // SAFETY: the caller's promise is what the function asks for: the file holds what `Engine::precompile_module`
        // made, unaltered. Code of another engine or processor is recognised by the function itself and refused.
        let module = unsafe { Module::deserialize_file(&engine, path) };
        let module = module.map_err(|error| format!("{} cannot be used: {error:#}", path.display()))?;
        Program::link(engine, &module)
    }

    /// The same from memory.
    ///
    /// # Safety
    /// The bytes were made by [`compile`].
    pub(super) unsafe fn from_memory(compiled: &[u8]) -> Result<Program, String> {
        let engine = Engine::new(&config()).map_err(|error| error.to_string())?;
        // SAFETY: the caller's promise is what the function asks for.
        let module =
            unsafe { Module::deserialize(&engine, compiled) }.map_err(|error| format!("{error:#}"))?;
        Program::link(engine, &module)
    }

    fn link(engine: Engine, module: &Module) -> Result<Program, String> {
        let text = |error: wasmtime::Error| format!("{error:#}");
        let linker = system::link(&engine, module).map_err(text)?;
        let instance = linker.instantiate_pre(module).map_err(text)?;
        let alarm =
            Alarm::start(engine.clone()).map_err(|error| format!("no thread for the alarm: {error}"))?;
        Ok(Program { about: about(), engine, instance, alarm })
    }
}
