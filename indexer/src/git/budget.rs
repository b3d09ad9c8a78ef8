//! What a fetch may cost: bytes and time, counted where bytes come in, whatever the transport.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::connection::FetchLimits;

/// Counts one fetch.
pub(super) struct Budget {
    limits: FetchLimits,
    started: Instant,
    received: AtomicU64,
}

/// The limit that ended a fetch.
#[derive(Debug, thiserror::Error)]
pub(super) enum Spent {
    #[error("the server sent more than {} MiB; `fetch-limit` allows more", .0 >> 20)]
    Bytes(u64),
    #[error("the server was silent for {}", seconds(*.0))]
    Idle(Duration),
    #[error("the fetch took longer than {}; `fetch-time` allows more", seconds(*.0))]
    Time(Duration),
}

fn seconds(duration: Duration) -> String {
    match duration.as_millis() {
        milliseconds if milliseconds < 10_000 => format!("{:.1} s", duration.as_secs_f64()),
        _ => format!("{} s", duration.as_secs()),
    }
}

impl Budget {
    pub(super) fn new(limits: FetchLimits) -> Budget {
        Budget { limits, started: Instant::now(), received: AtomicU64::new(0) }
    }

    /// Notes that bytes have come in.
    pub(super) fn take(&self, bytes: usize) -> io::Result<()> {
        let received = self.received.fetch_add(bytes as u64, Ordering::Relaxed) + bytes as u64;
        if received > self.limits.bytes {
            return Err(io::Error::other(Spent::Bytes(self.limits.bytes)));
        }
        if self.started.elapsed() > self.limits.total {
            return Err(io::Error::other(Spent::Time(self.limits.total)));
        }
        Ok(())
    }

    /// How long the next wait for the server may be.
    pub(super) fn patience(&self) -> Duration {
        let left = self.limits.total.saturating_sub(self.started.elapsed());
        self.limits.idle.min(left).max(Duration::from_millis(100))
    }

    /// Why a wait of [`Budget::patience`] was in vain.
    pub(super) fn in_vain(&self) -> io::Error {
        io::Error::other(if self.started.elapsed() >= self.limits.total {
            Spent::Time(self.limits.total)
        } else {
            Spent::Idle(self.limits.idle)
        })
    }
}
