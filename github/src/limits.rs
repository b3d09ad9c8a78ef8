//! GitHub's limits: how long an answer says to wait. Pure: the time comes in.
//!
//! The primary limit is so many requests an hour, told in `x-ratelimit-*` of every answer; the secondary one is on how
//! they come, told by a 403 or 429 with `retry-after`. Who goes on asking at a limit is banned, so nothing is sent before
//! the time is over. See "Rate limits for the REST API" and "Best practices for using the REST API" in GitHub's docs.

use std::time::Duration;

use http::{HeaderMap, StatusCode};

/// The wait after a secondary limit that does not say how long: "at least one minute".
const UNSAID: Duration = Duration::from_secs(60);

/// What an answer says about going on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Limit {
    /// Nothing.
    None,
    /// It was answered, and it was the last one for so long.
    Spent(Duration),
    /// It was not answered: ask again after so long.
    Hit(Duration),
}

/// Reads an answer got at `now` (seconds since 1970).
pub(crate) fn of(status: StatusCode, headers: &HeaderMap, body: &[u8], now: i64) -> Limit {
    let number = |name: &str| headers.get(name)?.to_str().ok()?.trim().parse::<i64>().ok();
    let spent = number("x-ratelimit-remaining") == Some(0);
    // Its clock and ours differ, and it counts in whole seconds: one more.
    let until_reset = number("x-ratelimit-reset").map(|reset| seconds(reset - now + 1));
    if status != StatusCode::FORBIDDEN && status != StatusCode::TOO_MANY_REQUESTS {
        return match until_reset {
            Some(wait) if spent && !wait.is_zero() => Limit::Spent(wait),
            _ => Limit::None,
        };
    }
    // "If the retry-after header is present", it goes before the reset.
    if let Some(wait) = number("retry-after") {
        return Limit::Hit(seconds(wait));
    }
    if spent {
        return Limit::Hit(until_reset.unwrap_or(UNSAID));
    }
    let says_so = || String::from_utf8_lossy(body).to_lowercase().contains("rate limit");
    if status == StatusCode::TOO_MANY_REQUESTS || says_so() { Limit::Hit(UNSAID) } else { Limit::None }
}

fn seconds(seconds: i64) -> Duration {
    Duration::from_secs(u64::try_from(seconds).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limit(status: u16, headers: &[(&'static str, &'static str)], body: &str) -> Limit {
        let headers = headers
            .iter()
            .map(|(name, value)| (name.parse::<http::HeaderName>().unwrap(), value.parse().unwrap()));
        of(StatusCode::from_u16(status).unwrap(), &headers.collect(), body.as_bytes(), 1_000)
    }

    #[test]
    fn an_answer_says_how_long_to_wait() {
        let seconds = Duration::from_secs;
        let spent = [("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "1030")];
        for (status, headers, body, expected) in [
            (200, &[][..], "", Limit::None),
            (200, &[("x-ratelimit-remaining", "4999"), ("x-ratelimit-reset", "1030")], "", Limit::None),
            (200, &spent, "", Limit::Spent(seconds(31))),
            (403, &spent, "", Limit::Hit(seconds(31))),
            (429, &spent, "", Limit::Hit(seconds(31))),
            (
                403,
                &[("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "900")],
                "",
                Limit::Hit(seconds(0)),
            ),
            (403, &[("retry-after", "7"), ("x-ratelimit-remaining", "0")], "", Limit::Hit(seconds(7))),
            (403, &[], "You have exceeded a secondary rate limit.", Limit::Hit(seconds(60))),
            (403, &[], "Resource not accessible by integration", Limit::None),
            (429, &[("retry-after", "soon")], "", Limit::Hit(seconds(60))),
            (429, &[("retry-after", "-5")], "", Limit::Hit(seconds(0))),
            (404, &[("x-ratelimit-remaining", "x")], "", Limit::None),
        ] {
            assert_eq!(limit(status, headers, body), expected, "{status} {headers:?}");
        }
    }
}
