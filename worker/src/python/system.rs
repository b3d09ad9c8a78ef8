//! The system as the guest sees it: WASI with one input, one output, a clock and randomness; nothing else.
//!
//! There are no files beside those within the guest's own memory, no sockets, no processes, no threads: every such
//! call fails with the error a program knows. The same stubs serve while the snapshot is baked and when it runs, so
//! what was tried there holds here.

use std::time::Instant;

use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};
use schema::digest::Digest;
use wasmtime::{Caller, Engine, Linker, Module, StoreLimits, Val};

/// The module every import is of.
const WASI: &str = "wasi_snapshot_preview1";

/// Error numbers of WASI preview 1.
const BAD_DESCRIPTOR: i32 = 8;
const FAULT: i32 = 21;
const NO_ENTRY: i32 = 44;
const NO_SYSTEM_CALL: i32 = 52;

/// What one instance has instead of a system.
#[derive(Debug)]
pub(super) struct System {
    /// What the guest reads from descriptor 0.
    input: Vec<u8>,
    read: usize,
    /// What it wrote to descriptor 1, at most so much.
    output: Vec<u8>,
    most_output: usize,
    clock: Clock,
    random: ChaCha20Rng,
    /// How far its memory may grow.
    pub(super) limits: StoreLimits,
    /// When it is to stop.
    pub(super) deadline: Option<Instant>,
    /// What it is called with; only while a snapshot is baked.
    pub(super) arguments: Vec<String>,
    pub(super) environment: Vec<String>,
    /// Whether what is written to standard error is taken for output; only while a snapshot is baked.
    hears_errors: bool,
}

/// What time it is there.
#[derive(Debug, Clone, Copy)]
pub(super) enum Clock {
    /// Always the same: nanoseconds since the epoch.
    Stopped(u64),
    /// It goes on from there.
    From(u64, Instant),
}

impl Clock {
    fn real(self) -> u64 {
        match self {
            Clock::Stopped(at) => at,
            Clock::From(at, _) => at.saturating_add(self.elapsed()),
        }
    }

    fn elapsed(self) -> u64 {
        match self {
            Clock::Stopped(_) => 0,
            Clock::From(_, since) => u64::try_from(since.elapsed().as_nanos()).unwrap_or(u64::MAX),
        }
    }
}

/// Why a call of the guest was ended by a stub.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum Ended {
    /// It asked the system to end it.
    #[error("the template ended its interpreter with status {0}")]
    Exit(i32),
    /// It wrote more than it may.
    #[error("the template wrote more than it may")]
    Output,
}

impl System {
    pub(super) fn new(clock: Clock, limits: StoreLimits) -> System {
        System {
            input: Vec::new(),
            read: 0,
            output: Vec::new(),
            most_output: usize::MAX,
            clock,
            random: ChaCha20Rng::from_seed([0; 32]),
            limits,
            deadline: None,
            arguments: Vec::new(),
            environment: Vec::new(),
            hears_errors: false,
        }
    }

    /// Takes what is written to standard error for output, too.
    #[cfg(feature = "bake")]
    pub(super) fn hears_errors(&mut self) {
        self.hears_errors = true;
    }

    /// What the guest finds in the next call.
    pub(super) fn begin(&mut self, input: Vec<u8>, random: &Digest, most_output: usize) {
        self.input = input;
        self.read = 0;
        self.output.clear();
        self.most_output = most_output;
        self.random = ChaCha20Rng::from_seed(*random.as_bytes());
    }

    /// What it wrote.
    pub(super) fn take_output(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.output)
    }
}

/// The guest's memory was named outside its bounds: answered as a system does, with a fault.
struct OutOfBounds;

type Done = Result<(), OutOfBounds>;

/// The stubs for everything a module imports.
pub(super) fn link(engine: &Engine, module: &Module) -> wasmtime::Result<Linker<System>> {
    let mut linker = Linker::<System>::new(engine);
    linker.allow_shadowing(true);
    for import in module.imports() {
        let Some(kind) = import.ty().func().cloned() else {
            return Err(wasmtime::Error::msg(format!("{} is imported and is no function", import.name())));
        };
        let error = match import.name() {
            name if name.starts_with("path_") => NO_ENTRY,
            name if name.starts_with("fd_") => BAD_DESCRIPTOR,
            _ => NO_SYSTEM_CALL,
        };
        linker.func_new(import.module(), import.name(), kind, move |_, _, results| {
            if let Some(result) = results.first_mut() {
                *result = Val::I32(error);
            }
            Ok(())
        })?;
    }

    linker.func_wrap(
        WASI,
        "fd_read",
        |mut caller: Caller<'_, System>, fd: i32, vectors: i32, count: i32, read: i32| {
            if fd != 0 {
                return BAD_DESCRIPTOR;
            }
            with_memory(&mut caller, |memory, system| {
                let mut total = 0;
                for (at, length) in buffers(memory, vectors, count)? {
                    let rest = system.input.get(system.read..).unwrap_or_default();
                    let taken = rest.len().min(length);
                    slice(memory, at, taken)?.copy_from_slice(&rest[..taken]);
                    system.read += taken;
                    total += taken;
                }
                write_word(memory, read, total as u32)
            })
        },
    )?;
    linker.func_wrap(
        WASI,
        "fd_write",
        |mut caller: Caller<'_, System>,
         fd: i32,
         vectors: i32,
         count: i32,
         written: i32|
         -> wasmtime::Result<i32> {
            let mut too_much = false;
            let result = with_memory(&mut caller, |memory, system| {
                let mut total = 0;
                for (at, length) in buffers(memory, vectors, count)? {
                    let bytes = slice(memory, at, length)?;
                    // What goes to standard error goes nowhere.
                    if fd == 1 || system.hears_errors {
                        too_much |= system.output.len() + bytes.len() > system.most_output;
                        if !too_much {
                            system.output.extend_from_slice(bytes);
                        }
                    }
                    total += length;
                }
                write_word(memory, written, total as u32)
            });
            if too_much { Err(Ended::Output.into()) } else { Ok(result) }
        },
    )?;
    linker.func_wrap(
        WASI,
        "clock_time_get",
        |mut caller: Caller<'_, System>, clock: i32, _precision: i64, at: i32| {
            with_memory(&mut caller, |memory, system| {
                const REALTIME: i32 = 0;
                let time = if clock == REALTIME { system.clock.real() } else { system.clock.elapsed() };
                slice(memory, at.cast_unsigned() as usize, 8)?.copy_from_slice(&time.to_le_bytes());
                Ok(())
            })
        },
    )?;
    linker.func_wrap(WASI, "random_get", |mut caller: Caller<'_, System>, at: i32, length: i32| {
        with_memory(&mut caller, |memory, system| {
            let bytes = slice(memory, at.cast_unsigned() as usize, length.cast_unsigned() as usize)?;
            system.random.fill_bytes(bytes);
            Ok(())
        })
    })?;
    linker.func_wrap(WASI, "fd_fdstat_get", |mut caller: Caller<'_, System>, fd: i32, at: i32| {
        if !(0..=2).contains(&fd) {
            return BAD_DESCRIPTOR;
        }
        with_memory(&mut caller, |memory, _| {
            const CHARACTER_DEVICE: u8 = 2;
            let status = slice(memory, at.cast_unsigned() as usize, 24)?;
            status.fill(0);
            status[0] = CHARACTER_DEVICE;
            // Every right; there is nothing to use them on.
            status[8..].fill(0xff);
            Ok(())
        })
    })?;
    linker.func_wrap(WASI, "fd_filestat_get", |mut caller: Caller<'_, System>, fd: i32, at: i32| {
        if !(0..=2).contains(&fd) {
            return BAD_DESCRIPTOR;
        }
        with_memory(&mut caller, |memory, _| {
            slice(memory, at.cast_unsigned() as usize, 64)?.fill(0);
            Ok(())
        })
    })?;
    linker.func_wrap(WASI, "proc_exit", |status: i32| -> wasmtime::Result<()> {
        Err(Ended::Exit(status).into())
    })?;
    linker.func_wrap(WASI, "args_sizes_get", |mut caller: Caller<'_, System>, count: i32, bytes: i32| {
        with_memory(&mut caller, |memory, system| write_sizes(memory, &system.arguments, count, bytes))
    })?;
    linker.func_wrap(WASI, "args_get", |mut caller: Caller<'_, System>, pointers: i32, text: i32| {
        with_memory(&mut caller, |memory, system| write_texts(memory, &system.arguments, pointers, text))
    })?;
    linker.func_wrap(
        WASI,
        "environ_sizes_get",
        |mut caller: Caller<'_, System>, count: i32, bytes: i32| {
            with_memory(&mut caller, |memory, system| write_sizes(memory, &system.environment, count, bytes))
        },
    )?;
    linker.func_wrap(WASI, "environ_get", |mut caller: Caller<'_, System>, pointers: i32, text: i32| {
        with_memory(&mut caller, |memory, system| write_texts(memory, &system.environment, pointers, text))
    })?;
    Ok(linker)
}

fn with_memory(caller: &mut Caller<'_, System>, work: impl FnOnce(&mut [u8], &mut System) -> Done) -> i32 {
    let Some(memory) = caller.get_export("memory").and_then(wasmtime::Extern::into_memory) else {
        return FAULT;
    };
    let (memory, system) = memory.data_and_store_mut(caller);
    match work(memory, system) {
        Ok(()) => 0,
        Err(OutOfBounds) => FAULT,
    }
}

fn slice(memory: &mut [u8], at: usize, length: usize) -> Result<&mut [u8], OutOfBounds> {
    memory.get_mut(at..).and_then(|rest| rest.get_mut(..length)).ok_or(OutOfBounds)
}

fn word(memory: &[u8], at: usize) -> Result<usize, OutOfBounds> {
    let bytes = memory.get(at..).and_then(|rest| rest.first_chunk::<4>()).ok_or(OutOfBounds)?;
    Ok(u32::from_le_bytes(*bytes) as usize)
}

fn write_word(memory: &mut [u8], at: i32, word: u32) -> Done {
    slice(memory, at.cast_unsigned() as usize, 4)?.copy_from_slice(&word.to_le_bytes());
    Ok(())
}

/// Where the buffers of a scattered read or write lie, and how long they are.
fn buffers(memory: &[u8], vectors: i32, count: i32) -> Result<Vec<(usize, usize)>, OutOfBounds> {
    let (vectors, count) = (vectors.cast_unsigned() as usize, count.cast_unsigned() as usize);
    // Each takes eight bytes of the memory, so there are not more than fit.
    if count > memory.len() / 8 {
        return Err(OutOfBounds);
    }
    (0..count)
        .map(|one| Ok((word(memory, vectors + 8 * one)?, word(memory, vectors + 8 * one + 4)?)))
        .collect()
}

fn write_sizes(memory: &mut [u8], texts: &[String], count: i32, bytes: i32) -> Done {
    write_word(memory, count, texts.len() as u32)?;
    write_word(memory, bytes, texts.iter().map(|text| text.len() as u32 + 1).sum())
}

fn write_texts(memory: &mut [u8], texts: &[String], pointers: i32, at: i32) -> Done {
    let mut at = at;
    for (index, text) in texts.iter().enumerate() {
        write_word(memory, pointers + 4 * index as i32, at.cast_unsigned())?;
        let place = slice(memory, at.cast_unsigned() as usize, text.len() + 1)?;
        place[..text.len()].copy_from_slice(text.as_bytes());
        place[text.len()] = 0;
        at += text.len() as i32 + 1;
    }
    Ok(())
}
