//! The access log: one JSON line a request, written by a thread of its own.
//!
//! A request never waits for the log. Records go into a bounded queue; the writer takes what has gathered, formats
//! it, and writes it in one go every few milliseconds, so that a busy server pays neither a wake-up nor a system
//! call a request. What does not fit the queue is counted and said in the next batch: a log that drops silently is
//! worse than none. Bodies, header values and values of templates are never logged, nor a token that somebody put into
//! an address.

use std::borrow::Cow;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use http::{HeaderValue, Method, Uri};

use crate::request_id::Trace;

/// Records that wait for the writer; some seconds of a busy server.
const QUEUE: usize = 65_536;
/// How long records gather before they are written.
const GATHER: Duration = Duration::from_millis(20);
/// How much is formatted before it is written.
const BATCH_BYTES: usize = 256 << 10;
/// Longest path and query in the log, in bytes.
const LONGEST_TARGET: usize = 2_048;

/// Where the access log goes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum AccessLog {
    /// Nowhere.
    #[default]
    Off,
    /// To standard output, for a supervisor to collect.
    StandardOutput,
    /// To the end of a file.
    File(PathBuf),
}

/// What is said of one request.
#[derive(Debug)]
pub(crate) struct Record {
    pub(crate) at: SystemTime,
    pub(crate) peer: Option<IpAddr>,
    pub(crate) method: Method,
    pub(crate) target: Uri,
    pub(crate) status: u16,
    pub(crate) bytes: u64,
    pub(crate) took: Duration,
    pub(crate) request_id: HeaderValue,
    pub(crate) trace: Option<Trace>,
}

/// The sending side. Dropping it lets the writer finish what is queued and end.
#[derive(Debug)]
pub(crate) struct AccessLogger {
    queue: Option<SyncSender<Record>>,
    dropped: Arc<AtomicU64>,
    writer: Option<JoinHandle<()>>,
}

impl AccessLogger {
    /// Starts the writer.
    pub(crate) fn start(log: &AccessLog) -> io::Result<AccessLogger> {
        match log {
            AccessLog::Off => Ok(AccessLogger { queue: None, dropped: Arc::default(), writer: None }),
            AccessLog::StandardOutput => Self::writing_to(Box::new(io::stdout())),
            AccessLog::File(path) => {
                Self::writing_to(Box::new(OpenOptions::new().create(true).append(true).open(path)?))
            }
        }
    }

    fn writing_to(out: Box<dyn Write + Send>) -> io::Result<AccessLogger> {
        let (sender, receiver) = sync_channel(QUEUE);
        let dropped = Arc::new(AtomicU64::new(0));
        let counter = Arc::clone(&dropped);
        let writer = std::thread::Builder::new()
            .name("access-log".into())
            .spawn(move || write_all(&receiver, out, &counter))?;
        Ok(AccessLogger { queue: Some(sender), dropped, writer: Some(writer) })
    }

    /// Whether records are wanted at all.
    pub(crate) const fn is_on(&self) -> bool {
        self.queue.is_some()
    }

    /// Queues a record; never waits.
    pub(crate) fn write(&self, record: Record) {
        if let Some(queue) = &self.queue
            && queue.try_send(record).is_err()
        {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl Drop for AccessLogger {
    fn drop(&mut self) {
        self.queue = None;
        if let Some(writer) = self.writer.take() {
            // A writer that panicked has nothing more to say.
            let _ = writer.join();
        }
    }
}

fn write_all(queue: &Receiver<Record>, mut out: Box<dyn Write + Send>, dropped: &AtomicU64) {
    let mut batch = Vec::with_capacity(BATCH_BYTES + LONGEST_TARGET);
    loop {
        let ended = match queue.recv_timeout(Duration::from_secs(1)) {
            Ok(record) => {
                format_record(&mut batch, &record);
                false
            }
            Err(RecvTimeoutError::Timeout) => false,
            Err(RecvTimeoutError::Disconnected) => true,
        };
        if !ended && !batch.is_empty() {
            std::thread::sleep(GATHER);
        }
        while batch.len() < BATCH_BYTES
            && let Ok(record) = queue.try_recv()
        {
            format_record(&mut batch, &record);
        }
        let lost = dropped.swap(0, Ordering::Relaxed);
        if lost > 0 {
            let _ = writeln!(batch, r#"{{"dropped":{lost},"message":"the access log could not keep up"}}"#);
        }
        // A full disk must not stop the server: the lines are lost, the requests are not.
        let _ = out.write_all(&batch).and_then(|()| out.flush());
        batch.clear();
        if ended {
            return;
        }
    }
}

fn format_record(out: &mut Vec<u8>, record: &Record) {
    let since = record.at.duration_since(UNIX_EPOCH).unwrap_or_default();
    let at = jiff::Timestamp::from_millisecond(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
        .unwrap_or_default();
    let target = without_secrets(record.target.path_and_query().map_or("/", |target| target.as_str()));
    let mut end = target.len().min(LONGEST_TARGET);
    while !target.is_char_boundary(end) {
        end -= 1;
    }
    let target = serde_json::Value::from(&target[..end]);
    let id = serde_json::Value::from(record.request_id.to_str().unwrap_or_default());
    let _ = write!(out, r#"{{"time":"{at:.3}","peer":"#);
    let _ = match record.peer {
        Some(peer) => write!(out, "\"{peer}\""),
        None => write!(out, "null"),
    };
    let _ = write!(
        out,
        r#","method":"{}","target":{target},"status":{},"bytes":{},"micros":{},"request_id":{id}"#,
        record.method,
        record.status,
        record.bytes,
        record.took.as_micros(),
    );
    let _ = match &record.trace {
        // Hexadecimal digits both.
        Some(trace) => writeln!(out, r#","trace_id":"{}","parent_id":"{}"}}"#, trace.id(), trace.parent()),
        None => writeln!(out, "}}"),
    };
}

/// A target without what looks like a token in it. Such a request is refused; its line must not keep what it held.
fn without_secrets(target: &str) -> Cow<'_, str> {
    let mut target = Cow::Borrowed(target);
    while let Some(range) = catalog::find_secret(&target) {
        target.to_mut().replace_range(range, "[token]");
    }
    target
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    #[derive(Clone, Default)]
    struct Shared(Arc<Mutex<Vec<u8>>>);

    impl Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn record(target: &str) -> Record {
        Record {
            at: UNIX_EPOCH + Duration::from_millis(1_500),
            peer: Some([127, 0, 0, 1].into()),
            method: Method::GET,
            target: target.parse().unwrap(),
            status: 200,
            bytes: 7,
            took: Duration::from_micros(42),
            request_id: HeaderValue::from_static("a1"),
            trace: None,
        }
    }

    #[test]
    fn every_line_is_json_and_everything_queued_is_written_before_the_end() {
        let out = Shared::default();
        let logger = AccessLogger::writing_to(Box::new(out.clone())).unwrap();
        logger.write(record("/a?q=%22x"));
        logger.write(record(&format!("/{}", "x".repeat(4_000))));
        let secret = format!("fwk_{}", "0a".repeat(32));
        logger.write(record(&format!("/a?token={secret}&also={secret}")));
        drop(logger);
        let bytes = out.0.lock().unwrap().clone();
        let lines = String::from_utf8(bytes).unwrap();
        let lines = lines
            .lines()
            .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
            .collect::<Vec<_>>();
        assert_eq!(lines.len(), 3);
        assert_eq!(lines[2]["target"], "/a?token=[token]&also=[token]");
        assert_eq!(lines[0]["time"], "1970-01-01T00:00:01.500Z");
        assert_eq!(lines[0]["target"], "/a?q=%22x");
        assert_eq!(lines[1]["target"].as_str().unwrap().len(), LONGEST_TARGET);
    }

    #[test]
    fn what_is_dropped_is_said() {
        let (sender, receiver) = sync_channel(1);
        let dropped = Arc::new(AtomicU64::new(0));
        let logger = AccessLogger { queue: Some(sender), dropped: Arc::clone(&dropped), writer: None };
        logger.write(record("/1"));
        logger.write(record("/2"));
        logger.write(record("/3"));
        drop(logger);
        let out = Shared::default();
        write_all(&receiver, Box::new(out.clone()), &dropped);
        let text = String::from_utf8(out.0.lock().unwrap().clone()).unwrap();
        assert!(text.contains("\"/1\"") && text.contains("\"dropped\":2"), "{text}");
    }
}
