//! Ends what runs for too long: a thread that waits for the deadline and then moves the engine's epoch on.
//!
//! Compiled code looks at the epoch wherever it may loop. The thread is started before system calls are taken away.

use std::io;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::Instant;

use wasmtime::Engine;

/// The thread's stack: it calls two functions.
const STACK: usize = 64 << 10;

/// The waiting thread; it ends when this is dropped.
#[derive(Debug)]
pub(super) struct Alarm {
    deadlines: Sender<Instant>,
}

impl Alarm {
    pub(super) fn start(engine: Engine) -> io::Result<Alarm> {
        let (deadlines, received) = mpsc::channel::<Instant>();
        let (running, is_running) = mpsc::channel::<()>();
        let thread = thread::Builder::new().name("formwork-alarm".to_owned()).stack_size(STACK);
        thread.spawn(move || {
            let _ = running.send(());
            let mut deadline = None::<Instant>;
            loop {
                let next = match deadline {
                    None => received.recv().map_err(|_| RecvTimeoutError::Disconnected),
                    Some(at) => received.recv_timeout(at.saturating_duration_since(Instant::now())),
                };
                match next {
                    Ok(next) => deadline = Some(next),
                    Err(RecvTimeoutError::Timeout) => {
                        engine.increment_epoch();
                        deadline = None;
                    }
                    Err(RecvTimeoutError::Disconnected) => return,
                }
            }
        })?;
        // A thread that is only starting makes system calls that are about to be taken away.
        is_running.recv().map_err(io::Error::other)?;
        Ok(Alarm { deadlines })
    }

    /// Moves the epoch on at this moment, in place of any moment set before. Who is interrupted looks at the clock,
    /// for an older alarm may just have gone off.
    pub(super) fn set(&self, deadline: Instant) {
        // The thread is there for as long as this is.
        let _ = self.deadlines.send(deadline);
    }
}
