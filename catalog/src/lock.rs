//! One process at a time: the lock on the data directory.
//!
//! An advisory lock on the file `lock`, which the system gives back when the process ends, however it ends. The
//! file holds the number of the process, for people; nothing trusts it.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::Path;
use std::time::Duration;

use crate::error::OpenError;

/// A lock that was given back may be held for another moment by a child that is just being started: it has what it
/// inherited until it becomes another program.
const TRIES: u32 = 10;
const PAUSE: Duration = Duration::from_millis(20);

/// Holds the directory for as long as it lives.
#[derive(Debug)]
pub(crate) struct Lock(
    #[expect(dead_code, reason = "dropping it closes the file, which gives the lock back")] File,
);

impl Lock {
    /// Takes the directory, which must exist.
    pub(crate) fn take(directory: &Path) -> Result<Lock, OpenError> {
        let path = directory.join("lock");
        let failed = |cause| OpenError::Directory { path: path.clone(), cause };
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(failed)?;
        let mut tries = 0;
        let locked = loop {
            match file.try_lock() {
                Err(TryLockError::WouldBlock) if tries < TRIES => tries += 1,
                locked => break locked,
            }
            std::thread::sleep(PAUSE);
        };
        match locked {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut text = String::new();
                let read = (&mut file).take(32).read_to_string(&mut text);
                let pid = read.ok().and_then(|_| text.trim().parse().ok());
                return Err(OpenError::InUse { directory: directory.to_owned(), pid });
            }
            Err(TryLockError::Error(cause)) => return Err(failed(cause)),
        }
        let written = file
            .set_len(0)
            .and_then(|()| file.rewind())
            .and_then(|()| writeln!(file, "{}", std::process::id()));
        written.map_err(failed)?;
        Ok(Lock(file))
    }
}
