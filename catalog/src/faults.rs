//! Points at which a test may stop a write, as a crash would: nothing behind the point happens.
//!
//! In the product there is nothing to stop and [`Faults::reached`] is empty.

use crate::error::WriteError;

/// The steps of a write, in order. A crash may fall behind each of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Point {
    /// The bytes of files are stored.
    BlobsWritten,
    /// The facts of new versions are stored, and nothing points at them.
    FactsWritten,
    /// Every pointer is flipped inside the transaction.
    Flipped,
    /// The transaction is committed; readers see the generation before.
    Committed,
    /// Readers see the new generation; the search index does not know it.
    Swapped,
    /// Documents are handed to the index and not committed.
    Indexed,
    /// The index is committed with the new generation.
    SearchCommitted,
}

impl Point {
    /// All of them, in order.
    pub const ALL: [Point; 7] = [
        Point::BlobsWritten,
        Point::FactsWritten,
        Point::Flipped,
        Point::Committed,
        Point::Swapped,
        Point::Indexed,
        Point::SearchCommitted,
    ];
}

/// Where to stop. The default stops nowhere.
#[derive(Debug, Clone, Default)]
pub struct Faults {
    #[cfg(any(test, feature = "testing"))]
    armed: std::sync::Arc<std::sync::Mutex<Option<(Point, Manner)>>>,
}

/// How a write is stopped.
#[cfg(any(test, feature = "testing"))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Manner {
    /// It returns an error, and the process lives.
    Error,
    /// The process ends on the spot: nothing is flushed, nothing is closed.
    Abort,
}

impl Faults {
    /// Stops the next write that reaches `point`, once.
    #[cfg(any(test, feature = "testing"))]
    pub fn stop_at(&self, point: Point) {
        *self.armed.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some((point, Manner::Error));
    }

    /// Ends the process when a write reaches `point`.
    #[cfg(any(test, feature = "testing"))]
    pub fn die_at(&self, point: Point) {
        *self.armed.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some((point, Manner::Abort));
    }

    #[cfg(any(test, feature = "testing"))]
    pub(crate) fn reached(&self, point: Point) -> Result<(), WriteError> {
        let mut armed = self.armed.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        match *armed {
            Some((at, Manner::Abort)) if at == point => std::process::abort(),
            Some((at, Manner::Error)) if at == point => {
                *armed = None;
                Err(WriteError::Closed)
            }
            _ => Ok(()),
        }
    }

    #[cfg(not(any(test, feature = "testing")))]
    #[expect(clippy::unused_self, reason = "the same shape as where tests stop writes")]
    pub(crate) fn reached(&self, _: Point) -> Result<(), WriteError> {
        Ok(())
    }
}
