//! Limits the kernel counts for a process.

use std::fs::File;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::fs::FileExt;
use std::time::Duration;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde::{Deserialize, Serialize};

use super::Guard;

/// Limits to set; what is `None` stays as it was inherited. Core files are always off.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Bytes of data: heap and private writable mappings. Not address space, of which a WebAssembly engine
    /// reserves far more than it uses.
    pub data: Option<u64>,
    /// Processor time of the whole process; whole seconds, rounded up.
    pub processor_time: Option<Duration>,
    /// Open descriptors.
    pub descriptors: Option<u64>,
    /// Bytes of any file written; pipes are no files.
    pub file_size: Option<u64>,
}

pub(super) fn set(limits: &Limits) -> Guard {
    let wanted = [
        ("core files", Resource::Core, Some(0)),
        ("data", Resource::Data, limits.data),
        ("processor time", Resource::Cpu, limits.processor_time.map(whole_seconds)),
        ("descriptors", Resource::Nofile, limits.descriptors),
        ("file size", Resource::Fsize, limits.file_size),
    ];
    let mut failed = Vec::new();
    for (name, resource, value) in wanted {
        let Some(value) = value else { continue };
        // A limit that was stricter before us stays.
        let value = getrlimit(resource).maximum.map_or(value, |before| before.min(value));
        if let Err(error) = setrlimit(resource, Rlimit { current: Some(value), maximum: Some(value) }) {
            failed.push(format!("{name}: {error}"));
        }
    }
    if failed.is_empty() { Guard::Full } else { Guard::Partial(failed.join(", ")) }
}

/// Allows this process `bytes` of data from now on, within its hard limit; `None`: all of the hard limit.
pub(crate) fn allow_data(bytes: Option<u64>) {
    let maximum = getrlimit(Resource::Data).maximum;
    let current = match (bytes, maximum) {
        (Some(bytes), Some(maximum)) => Some(bytes.min(maximum)),
        (bytes, maximum) => bytes.or(maximum),
    };
    // Lowering, or raising up to the hard limit, is always allowed; where it fails the hard limit still holds.
    let _ = setrlimit(Resource::Data, Rlimit { current, maximum });
}

/// Allows this process `time` of processor time from now on, and a little.
pub(crate) fn allow_processor_time(time: Duration) {
    let maximum = getrlimit(Resource::Cpu).maximum;
    let wanted = whole_seconds(processor_time_used() + time) + 1;
    let current = Some(maximum.map_or(wanted, |maximum| maximum.min(wanted)));
    let _ = setrlimit(Resource::Cpu, Rlimit { current, maximum });
}

fn processor_time_used() -> Duration {
    let used = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::try_from(used).unwrap_or_default()
}

fn whole_seconds(time: Duration) -> u64 {
    time.as_secs() + u64::from(time.subsec_nanos() > 0)
}

/// Reads how much data this process holds. Opened before files are out of reach.
#[derive(Debug)]
pub(crate) struct Meter {
    file: Option<File>,
    page: u64,
}

impl Meter {
    pub(crate) fn open() -> Meter {
        // The library reads files the first time it is asked for a clock or the size of a page; later it could not.
        processor_time_used();
        Meter { file: File::open("/proc/self/statm").ok(), page: rustix::param::page_size() as u64 }
    }

    pub(crate) fn descriptor(&self) -> Option<RawFd> {
        self.file.as_ref().map(AsRawFd::as_raw_fd)
    }

    /// Bytes of data and stack held now, as RLIMIT_DATA counts them; 0 where the system does not tell.
    pub(crate) fn held(&self) -> u64 {
        let mut text = [0; 128];
        let length = self.file.as_ref().and_then(|file| file.read_at(&mut text, 0).ok()).unwrap_or(0);
        // proc(5): size resident shared text lib data dt, in pages.
        let pages = std::str::from_utf8(&text[..length])
            .ok()
            .and_then(|text| text.split_ascii_whitespace().nth(5)?.parse::<u64>().ok());
        pages.unwrap_or(0) * self.page
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_meter_sees_memory_that_is_held() {
        let meter = Meter::open();
        let before = meter.held();
        let held = vec![1_u8; 64 << 20];
        assert!(meter.held() >= before + (60 << 20), "{before} then {}", meter.held());
        drop(held);
    }

    #[test]
    fn seconds_are_rounded_up() {
        assert_eq!(whole_seconds(Duration::from_millis(1)), 1);
        assert_eq!(whole_seconds(Duration::from_secs(2)), 2);
    }
}
