//! Times as answers and pages say them. The only clock of the server's answers is here.

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

/// Seconds since the epoch, now.
pub(crate) fn now() -> i64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| i64::try_from(since.as_secs()).unwrap_or(i64::MAX))
}

/// Nanoseconds since the epoch, now.
pub(crate) fn now_exactly() -> i64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| i64::try_from(since.as_nanos()).unwrap_or(i64::MAX))
}

/// Nanoseconds since the epoch as RFC 3339 in UTC.
pub(crate) fn rfc3339_exactly(nanoseconds: i64) -> String {
    jiff::Timestamp::from_nanosecond(nanoseconds.into()).unwrap_or_default().to_string()
}

/// Seconds since the epoch as RFC 3339 in UTC.
pub(crate) fn rfc3339(seconds: i64) -> String {
    jiff::Timestamp::from_second(seconds).unwrap_or_default().to_string()
}

/// A moment, for a page: relative text with the exact time beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Moment {
    at: i64,
    now: i64,
}

impl Moment {
    /// A moment as seen now.
    pub(crate) fn of(at: i64) -> Moment {
        Moment { at, now: now() }
    }

    /// The exact time.
    pub(crate) fn exact(self) -> String {
        rfc3339(self.at)
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let distance = self.now.saturating_sub(self.at);
        let (count, unit) = match distance.unsigned_abs() {
            0..10 => return f.write_str(if distance >= 0 { "just now" } else { "now" }),
            seconds @ 10..60 => (seconds, "second"),
            seconds @ 60..3_600 => (seconds / 60, "minute"),
            seconds @ 3_600..86_400 => (seconds / 3_600, "hour"),
            seconds @ 86_400..1_209_600 => (seconds / 86_400, "day"),
            seconds @ 1_209_600..5_184_000 => (seconds / 604_800, "week"),
            seconds @ 5_184_000..63_072_000 => (seconds / 2_592_000, "month"),
            seconds => (seconds / 31_536_000, "year"),
        };
        let plural = if count == 1 { "" } else { "s" };
        if distance >= 0 {
            write!(f, "{count} {unit}{plural} ago")
        } else {
            write!(f, "in {count} {unit}{plural}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_read_as_people_say_them() {
        let said = |ago: i64| Moment { at: 1_000_000_000 - ago, now: 1_000_000_000 }.to_string();
        assert_eq!(said(3), "just now");
        assert_eq!(said(60), "1 minute ago");
        assert_eq!(said(7_300), "2 hours ago");
        assert_eq!(said(86_400 * 3), "3 days ago");
        assert_eq!(said(86_400 * 800), "2 years ago");
        assert_eq!(said(-700), "in 11 minutes");
        assert_eq!(rfc3339(0), "1970-01-01T00:00:00Z");
    }
}
