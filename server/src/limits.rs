//! How much one client may ask for: budgets that refill evenly, by token wherever it is used, else by address.
//!
//! A budget is so many requests at once, refilled over a time ([`Rate`]); what is dear has one of its own. Answers that
//! are ready in memory are not counted: counting them would cost more than giving them. An address is that of the
//! connection and never one a header names, so behind a reverse proxy all clients share one budget, and the proxy is
//! where to limit them.
//!
//! Clients are told apart up to a number; further addresses share one budget until some have rested, so that memory
//! stays, whoever comes from however many addresses.

use std::fmt;
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use governor::clock::{Clock, DefaultClock};
use governor::middleware::StateInformationMiddleware;
use governor::state::keyed::DefaultKeyedStateStore;
use governor::{Quota, RateLimiter};
use http::header::{HeaderMap, HeaderName, HeaderValue};

use crate::access::Caller;

/// Clients that are told apart.
const CLIENTS: usize = 65_536;
/// Requests between two looks at how many clients there are.
const SWEEP: u32 = 4_096;

/// So many requests at once, refilled evenly over a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    count: NonZeroU32,
    window: Duration,
}

impl Rate {
    /// So many requests over so many seconds.
    const fn of(count: u32, seconds: u64) -> Rate {
        Rate {
            count: NonZeroU32::new(count).expect("the rates of this module are above zero"),
            window: Duration::from_secs(seconds),
        }
    }
}

/// As it is written in settings: `1200/60s`.
impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}s", self.count, self.window.as_secs())
    }
}

impl FromStr for Rate {
    type Err = RateError;

    fn from_str(text: &str) -> Result<Rate, RateError> {
        let error = || RateError(text.to_owned());
        let (count, window) = text.split_once('/').ok_or_else(error)?;
        let split = window.find(|c: char| !c.is_ascii_digit()).unwrap_or(window.len());
        let factor = match &window[split..] {
            "s" => 1,
            "m" => 60,
            "h" => 3_600,
            _ => return Err(error()),
        };
        let number = if split == 0 { 1 } else { window[..split].parse::<u64>().map_err(|_| error())? };
        let seconds = number.checked_mul(factor).filter(|seconds| (1..=86_400).contains(seconds));
        Ok(Rate {
            count: count.trim().parse().map_err(|_| error())?,
            window: Duration::from_secs(seconds.ok_or_else(error)?),
        })
    }
}

/// A text that is no rate.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no rate, like 1200/60s or 100/s: a number of requests, and a time from 1s to 24h")]
pub struct RateError(String);

/// The budgets of each client; `None` is without end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateLimits {
    /// For everything that has no budget of its own.
    pub requests: Option<Rate>,
    /// For searches.
    pub search: Option<Rate>,
    /// For processing templates.
    pub process: Option<Rate>,
}

impl Default for RateLimits {
    fn default() -> RateLimits {
        RateLimits {
            requests: Some(Rate::of(600_000, 60)),
            search: Some(Rate::of(60_000, 60)),
            process: Some(Rate::of(60_000, 60)),
        }
    }
}

/// Which budget a request is counted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Budget {
    Requests,
    Search,
    Process,
    /// Deliveries of webhooks. Not for settings: no host sends more.
    Webhook,
}

impl Budget {
    pub(crate) const ALL: [Budget; 4] = [Budget::Requests, Budget::Search, Budget::Process, Budget::Webhook];

    /// The name in headers and metrics.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Budget::Requests => "requests",
            Budget::Search => "search",
            Budget::Process => "process",
            Budget::Webhook => "webhook",
        }
    }
}

/// Deliveries of webhooks at once from one address, and from then on ten a second.
pub(crate) const DELIVERIES: Rate = Rate::of(60, 6);

/// Who has a budget.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Client {
    /// Whoever holds a token, by its id.
    Token(Arc<str>),
    /// An address, or the network of one customer.
    Address(IpAddr),
    /// Addresses beyond those that are told apart, and requests without one.
    Others,
}

impl Client {
    /// Who a request is counted for.
    pub(crate) fn of(caller: Option<&Caller>, peer: Option<IpAddr>) -> Client {
        match caller.and_then(Caller::grant) {
            Some(grant) => Client::Token(grant.id().into()),
            None => Client::at(peer),
        }
    }

    /// Who is at an address: of IPv6, a customer has a whole /64.
    pub(crate) fn at(peer: Option<IpAddr>) -> Client {
        match peer {
            None => Client::Others,
            Some(IpAddr::V6(address)) => Client::Address(match address.to_ipv4_mapped() {
                Some(address) => address.into(),
                None => IpAddr::V6((address.to_bits() & !u128::from(u64::MAX)).into()),
            }),
            Some(address) => Client::Address(address),
        }
    }
}

/// How a budget stands after a request was counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Standing {
    budget: Budget,
    rate: Rate,
    /// Requests that are left.
    left: u32,
    /// How long to wait for the next one, if none is left.
    pub(crate) wait: Option<Duration>,
}

impl Standing {
    /// In words, for who is refused.
    pub(crate) fn said(&self) -> String {
        let seconds = self.rate.window.as_secs();
        format!("{} at once, refilled over {seconds} s", self.rate.count)
    }

    /// Writes `RateLimit` and `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers-10), and the older headers that
    /// clients still read.
    pub(crate) fn write(&self, headers: &mut HeaderMap) {
        let (name, count, window) = (self.budget.as_str(), self.rate.count.get(), self.rate.window.as_secs());
        let missing = u64::from(count - self.left.min(count));
        let full_in = (missing * window).div_ceil(u64::from(count));
        let reset = self.wait.map_or(full_in, |wait| wait.as_secs_f64().ceil() as u64);
        let text = |text: String| HeaderValue::from_str(&text).expect("words and digits are header text");
        let mut put = |name: &'static str, value| headers.insert(HeaderName::from_static(name), value);
        put("ratelimit-policy", text(format!("\"{name}\";q={count};w={window}")));
        put("ratelimit", text(format!("\"{name}\";r={};t={reset}", self.left)));
        put("x-ratelimit-limit", HeaderValue::from(count));
        put("x-ratelimit-remaining", HeaderValue::from(self.left));
        put("x-ratelimit-reset", HeaderValue::from(reset));
    }
}

type Limiter = RateLimiter<Client, DefaultKeyedStateStore<Client>, DefaultClock, StateInformationMiddleware>;

/// One budget of every client.
struct Counter {
    rate: Rate,
    limiter: Limiter,
    until_sweep: AtomicU32,
    crowded: AtomicBool,
}

impl Counter {
    fn new(rate: Rate) -> Counter {
        let period = rate.window / rate.count.get();
        let quota = Quota::with_period(period.max(Duration::from_nanos(1)))
            .expect("the period is above zero")
            .allow_burst(rate.count);
        Counter {
            rate,
            limiter: RateLimiter::keyed(quota).with_middleware(),
            until_sweep: AtomicU32::new(0),
            crowded: AtomicBool::new(false),
        }
    }

    fn count(&self, budget: Budget, client: Client) -> Standing {
        if self.until_sweep.fetch_add(1, Ordering::Relaxed) % SWEEP == SWEEP - 1 {
            self.sweep();
        }
        let client = match client {
            Client::Address(_) if self.crowded.load(Ordering::Relaxed) => Client::Others,
            client => client,
        };
        let (left, wait) = match self.limiter.check_key(&client) {
            Ok(state) => (state.remaining_burst_capacity(), None),
            Err(until) => (0, Some(until.wait_time_from(DefaultClock::default().now()))),
        };
        Standing { budget, rate: self.rate, left, wait }
    }

    /// Forgets who has rested for long enough to have all of it again.
    fn sweep(&self) {
        if self.limiter.len() > CLIENTS {
            self.limiter.retain_recent();
        }
        self.crowded.store(self.limiter.len() > CLIENTS, Ordering::Relaxed);
    }
}

/// All budgets of all clients.
pub(crate) struct Limits([Option<Counter>; Budget::ALL.len()]);

impl Limits {
    pub(crate) fn new(limits: &RateLimits) -> Limits {
        Limits(Budget::ALL.map(|budget| {
            let rate = match budget {
                Budget::Requests => limits.requests,
                Budget::Search => limits.search,
                Budget::Process => limits.process,
                Budget::Webhook => Some(DELIVERIES),
            };
            rate.map(Counter::new)
        }))
    }

    /// Counts a request of a client, and says how its budget stands; nothing if it has no end.
    pub(crate) fn count(&self, budget: Budget, client: Client) -> Option<Standing> {
        Some(self.0[budget as usize].as_ref()?.count(budget, client))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(last: u8) -> Client {
        Client::at(Some([192, 0, 2, last].into()))
    }

    #[test]
    fn a_flood_is_held_to_the_rate_and_hurts_nobody_else() {
        let counter = Counter::new(Rate::of(60, 6_000));
        let admitted = |client: u8| {
            let standings = (0..10_000).map(|_| counter.count(Budget::Webhook, address(client)));
            standings.filter(|standing| standing.wait.is_none()).count()
        };
        assert_eq!(admitted(1), 60);
        let refused = counter.count(Budget::Webhook, address(1)).wait.unwrap();
        assert!(refused <= Duration::from_secs(100) && refused > Duration::from_secs(90), "{refused:?}");
        assert_eq!(admitted(2), 60);
    }

    #[test]
    fn clients_without_number_share_a_budget_and_memory_stays() {
        let counter = Counter::new(Rate::of(1, 3_600));
        let at = |number: u32| Client::at(Some(IpAddr::from(number.to_be_bytes())));
        let admitted =
            (0..200_000).filter(|number| counter.count(Budget::Requests, at(*number)).wait.is_none());
        let admitted = admitted.count();
        assert!((CLIENTS..=CLIENTS + SWEEP as usize + 1).contains(&admitted), "{admitted}");
        assert!(counter.limiter.len() <= CLIENTS + SWEEP as usize + 1);
        // Who has a token is told apart all the same.
        assert_eq!(counter.count(Budget::Requests, Client::Token("a".into())).wait, None);
    }

    #[test]
    fn addresses_of_one_customer_are_one_client() {
        let [one, other] = ["2001:db8::1", "2001:db8::2"].map(|text| Client::at(text.parse().ok()));
        assert_eq!(one, other);
        assert_eq!(Client::at("::ffff:192.0.2.1".parse().ok()), address(1));
    }

    #[test]
    fn headers_say_how_a_budget_stands() {
        let counter = Counter::new(Rate::of(2, 60));
        let said = || {
            let mut headers = HeaderMap::new();
            counter.count(Budget::Search, address(1)).write(&mut headers);
            let of = |name: &str| headers[name].to_str().unwrap().to_owned();
            (of("ratelimit-policy"), of("ratelimit"), of("x-ratelimit-remaining"))
        };
        assert_eq!(said(), ("\"search\";q=2;w=60".into(), "\"search\";r=1;t=30".into(), "1".into()));
        assert_eq!(said().1, "\"search\";r=0;t=60");
        assert_eq!(said().1, "\"search\";r=0;t=30");
    }

    #[test]
    fn rates_are_read_as_they_are_written() {
        for text in ["1200/60s", "1/1s"] {
            assert_eq!(text.parse::<Rate>().unwrap().to_string(), text);
        }
        assert_eq!("100/s".parse(), Ok(Rate::of(100, 1)));
        assert_eq!("5/2m".parse(), Ok(Rate::of(5, 120)));
        for bad in ["", "0/s", "5", "5/", "5/d", "-1/s", "1/0s", "1/99999999h", "1/25h"] {
            assert!(bad.parse::<Rate>().is_err(), "{bad}");
        }
    }
}
